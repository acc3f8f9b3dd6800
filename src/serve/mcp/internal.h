/* internal.h: internals shared by the files of this folder.
 *
 *   channel   carries the messages of one request to its client: an HTTP exchange, or lines on stdout
 *   peer      the other end: a legacy session, the one client of stdio, or just one modern HTTP request
 *   call      a request being answered
 *
 * wt__mcp_read_message parses a message. wt__mcp_call_begin creates a call from the message. wt__mcp_call_run answers
 * the call, on the same thread or on another thread.
 *
 * Lock order: service, peer, channel, call. Do not hold these locks while features run or a message is sent. send_lock
 * is not part of the order. */
#ifndef WT_SERVE_MCP_INTERNAL_H
#define WT_SERVE_MCP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/shares.h"
#include "http/exchange.h"
#include "mcp/message.h"
#include "serve/mcp/service.h"
#include "serve/trace.h"
#include "whichtool/tenants.h"

#define MCP_META "io.modelcontextprotocol/"

enum {
    MCP_CLIENT_BYTES_MAX = 8 << 10, /* maximum size of clientInfo and capabilities kept in a legacy session */
    MCP_PRINCIPAL_BYTES_MAX = 1024,
    MCP_VALUES_MAX = 100, /* maximum completions sent, from the protocol */
    MCP_SESSION_ID_BYTES = 33,
};

/* ---------------------------------------------------------------- channels */

/* Carries the messages of one request to its client. */
struct mcp_channel {
    atomic_uint refs;
    pthread_mutex_t send_lock;   /* serialises messages */
    pthread_mutex_t lock;        /* guards call and gone */
    struct mcp_call *call;       /* call to cancel on disconnect, or NULL */
    bool gone;                   /* the client has disconnected for good */
    bool is_finished;            /* answered, or closed without an answer; under send_lock */
    bool is_shared;              /* the client's requests share one stream */
    struct request_trace *trace; /* of the HTTP request that opened the channel; NULL over stdio. Constant */
    /* Sends a message before the answer. Returns false if it cannot be delivered. */
    bool (*send)(struct mcp_channel *channel, struct str message);
    /* Sends the answer with its HTTP status, once. An empty message ends the request without an answer. */
    void (*answer)(struct mcp_channel *channel, int status, struct str message);
    void (*keep_alive)(struct mcp_channel *channel);  /* may be NULL */
    void (*close_early)(struct mcp_channel *channel); /* closes a connection that the client can resume; may be NULL */
    bool (*is_gone)(struct mcp_channel *channel);
    void (*dispose)(struct mcp_channel *channel); /* frees the channel */
};

void wt__mcp_channel_open(struct mcp_channel *channel); /* starts with one reference */
void wt__mcp_channel_keep(struct mcp_channel *channel);
void wt__mcp_channel_release(struct mcp_channel *channel);
bool wt__mcp_channel_send(struct mcp_channel *channel, struct str message);
void wt__mcp_channel_answer(struct mcp_channel *channel, int status, struct str message);
void wt__mcp_channel_keep_alive(struct mcp_channel *channel);
void wt__mcp_channel_close_early(struct mcp_channel *channel);
/* Marks the client as gone for good and cancels the call. */
void wt__mcp_channel_gone(struct mcp_channel *channel);
/* Appends the message with line breaks replaced by blanks. JSON has line breaks only between tokens. */
void wt__mcp_append_line(struct buffer *out, struct str message);

/* ---------------------------------------------------------------- peers */

/* A question sent to a legacy client, on the stack of the waiting call. */
struct client_question {
    struct client_question *next;
    struct mcp_call *call;
    char id[32];
    bool is_answered; /* guarded by the call's lock, like result */
    char *result;     /* JSON, NULL if the client refused */
};

/* The client end of a session, of stdio, or of one modern HTTP request. */
struct mcp_peer {
    atomic_uint refs;
    struct mcp_service *service;
    struct mcp_peer *next, *before; /* list of the service's peers, under its lock */
    char *principal;
    char tenant[WT_MAX_TENANT_NAME_BYTES + 1]; /* tenant of the requests, "" without one; constant */
    /* Holder for shared pools (base/shares.h): the principal. Without keys, the session, or "" for a modern HTTP
     * request. Constant. */
    const char *holder;
    char session_holder[24];
    atomic_bool may_call; /* the last request's key has the scope to call upstream servers */
    bool is_listed;       /* is on the service's list, and so gets change notices */

    pthread_mutex_t lock; /* guards the fields below */
    bool is_open;         /* `initialize` was answered */
    bool is_closed;       /* the session has ended */
    bool can_resume;      /* its revision supports resumable streams */
    unsigned stream_number;
    json_t *client, *capabilities; /* constant once open, so calls borrow them */
    int level;                     /* minimum log level */
    struct mcp_call *running;      /* list of [running_count] calls */
    size_t running_count;
    struct client_question *questions;
    unsigned question_number;
    char **watched; /* [watched_count] URIs */
    size_t watched_count, watched_capacity;
    struct mcp_channel *stream; /* stream for messages outside of requests, or NULL */
};

/* Returns a new peer, or NULL if out of memory or the principal's name is too long. known: add the peer to the
 * service's list until it is closed, so that it gets change notices. */
struct mcp_peer *wt__mcp_peer_open(struct mcp_service *service, const char *principal, bool known);
void wt__mcp_peer_keep(struct mcp_peer *peer);
void wt__mcp_peer_release(struct mcp_peer *peer);
/* Cancels the peer's calls and closes its stream. */
void wt__mcp_peer_close(struct mcp_peer *peer);
/* Closes the peer's stream, and cancels the calls that wait for the client's answer to a question. Other calls may
 * end. */
void wt__mcp_peer_drain(struct mcp_peer *peer);
/* Ends the peer's general stream and replaces it. stream: NULL for none. */
void wt__mcp_peer_stream(struct mcp_peer *peer, struct mcp_channel *stream);
/* Cancels the call with this id (JSON). */
void wt__mcp_peer_cancel(struct mcp_peer *peer, struct str id);
/* Delivers a response to a question. Borrows message. */
void wt__mcp_peer_deliver_response(struct mcp_peer *peer, const json_t *message);
/* Subscribes the peer to a resource. Returns 0, WT_ETOOLONG (too many subscriptions) or WT_ENOMEM. */
int wt__mcp_peer_watch(struct mcp_peer *peer, struct str uri);
void wt__mcp_peer_unwatch(struct mcp_peer *peer, struct str uri);

/* ---------------------------------------------------------------- messages */

enum mcp_incoming_kind { MCP_IN_BAD, MCP_IN_REQUEST, MCP_IN_NOTIFICATION, MCP_IN_RESPONSE };

/* A parsed message. Dispose of it unless a call took it. */
struct mcp_incoming {
    enum mcp_incoming_kind kind;
    json_t *message;      /* the whole message, NULL if it is not JSON */
    const json_t *params; /* an object, or NULL */
    struct buffer id;     /* as JSON, also for bad messages; "null" if absent */
    struct buffer text;   /* original bytes, for relaying arguments unchanged */
    struct buffer fault;  /* error text if params.arguments is invalid and replaced by {} in `message`; else empty */
    struct str method;
    int code;          /* JSON-RPC error code of a bad message */
    const char *words; /* error text of a bad message */
};

/* Parses a message. Errors are stored in *in. */
void wt__mcp_read_message(struct mcp_incoming *in, struct str text);
void wt__mcp_incoming_dispose(struct mcp_incoming *in);
/* Returns a member of params as sent, with every digit; empty if absent. Only for messages without errors. */
struct str wt__mcp_incoming_text(const struct mcp_incoming *in, const char *member);
/* Appends the canonical form of an id for comparing: a number unchanged, a string with uniform escapes. Ignores other
 * values. */
void wt__mcp_write_id(struct buffer *out, struct str id);
/* Returns _meta of params, or NULL. */
const json_t *wt__mcp_incoming_meta(const struct mcp_incoming *in);
/* Appends an error response. id: JSON; "null" or empty omits it. */
void wt__mcp_write_error(struct buffer *out, struct str id, int code, struct str words, struct str data);

/* ---------------------------------------------------------------- headers */

/* HTTP headers of a request. */
struct mcp_headers {
    struct str version, method, name; /* empty if absent */
    /* Gets the value of Mcp-Param-NAME. Returns false if absent. */
    bool (*param)(const struct mcp_headers *headers, struct str name, struct str *value);
    const char *const *passed; /* names of headers to pass upstream, NULL-terminated; may be NULL */
    /* Gets the value of a header. Returns false if the header is absent or was sent more than once. */
    bool (*field)(const struct mcp_headers *headers, struct str name, struct str *value);
    const void *context;
};

/* True if the header, after base64 decoding, equals the value as text. */
bool wt__mcp_header_equals(struct str header, const json_t *value);
/* True if the standard headers match the body. name: the value repeated in Mcp-Name, or NULL. If false, appends the
 * difference to words. */
bool wt__mcp_headers_match(const struct mcp_headers *headers, struct str method, const json_t *name,
                           struct buffer *words);
/* True if the Mcp-Param headers match the arguments. If false, appends the difference to words. */
bool wt__mcp_mirrors_match(const struct mcp_input *input, const struct mcp_headers *headers, const json_t *arguments,
                           struct buffer *words);

/* ---------------------------------------------------------------- calls */

struct mcp_method;

struct mcp_call {
    struct mcp_service *service;
    struct mcp_peer *peer;
    struct mcp_channel *channel;
    struct mcp_call *next, *before; /* list of the peer's running calls */
    const struct mcp_method *method;
    struct mcp_incoming in;
    const struct mcp_headers *headers; /* NULL without HTTP; valid until `run` returns */
    struct http_header *passed;        /* [passed_count], in the arena */
    size_t passed_count;
    bool is_modern;
    struct str name, arguments;
    struct buffer repaired;              /* storage of repaired arguments */
    json_t *repaired_tree;               /* repaired arguments, NULL if unchanged */
    const json_t *client, *capabilities; /* borrowed from the message or the peer */
    int level;                           /* minimum enum mcp_level; above MCP_EMERGENCY for no logs */
    struct mcp_tool tool;                /* for tools/call, if has_tool */
    bool has_tool;

    pthread_mutex_t lock; /* guards on_cancel and cancel_context, and the answers to the call's questions */
    pthread_cond_t news;  /* signalled when a question is answered or the call is cancelled */
    atomic_bool cancelled;
    void (*on_cancel)(void *context);
    void *cancel_context;

    /* Questions. */
    json_t *responses;         /* responses by key, from earlier rounds and this request */
    struct buffer kept, state; /* state set in this run, and in earlier ones */
    struct buffer sealed;      /* requestState of the response */
    struct buffer questions;   /* members of inputRequests */
    json_t *asked;             /* keys of questions asked and responses used */
    int round;                 /* number of times that the client has answered questions of this call */
    unsigned question_count;   /* questions asked in this round */

    /* The response. */
    bool is_refused;                       /* the response is an error with code, words and data */
    bool is_whole;                         /* `result` is the whole result (wt__mcp_result) */
    bool is_error;                         /* the tool reported an error */
    bool has_structured;                   /* `structured` was set */
    bool is_page_full;                     /* the list continues on another page */
    int status;                            /* HTTP status of an error; 0 for the default of its code */
    int code;                              /* JSON-RPC error code */
    struct buffer words, data;             /* message and data of an error */
    struct buffer items, structured, meta; /* items: the items of content, contents, a list or values */
    struct buffer cursor, result;          /* result: the whole object, or its members */
    size_t item_count;
    struct arena arena;
};

/* Frees the call. */
void wt__mcp_call_free(struct mcp_call *call);
void wt__mcp_call_cancel(struct mcp_call *call);
/* Sends a message unless the client has cancelled. */
bool wt__mcp_call_send(struct mcp_call *call, struct str message);
/* Returns the enum mcp_level of a name, or -1 if unknown. */
int wt__mcp_level(struct str name);
/* Reads the responses of a modern client. Returns false, with an error set, if they are invalid. */
bool wt__mcp_read_responses(struct mcp_call *call);
/* Seals the state to send with the questions. */
void wt__mcp_seal_state(struct mcp_call *call);
/* Writes the response message to out, and its HTTP status to *status. */
void wt__mcp_write_answer(struct mcp_call *call, struct buffer *out, int *status);

/* Protocol eras of a method. */
enum mcp_eras { MCP_LEGACY_ERA = 1, MCP_MODERN_ERA = 2, MCP_BOTH_ERAS = 3 };

/* Layout of a result. */
enum mcp_shape {
    MCP_SHAPE_EMPTY,
    MCP_SHAPE_TOOL,
    MCP_SHAPE_CONTENTS,
    MCP_SHAPE_LIST,
    MCP_SHAPE_COMPLETION,
    MCP_SHAPE_RAW /* mcp_call.result contains the members */
};

/* Part of the features that a method belongs to. */
enum mcp_group { MCP_CORE, MCP_TOOLS, MCP_RESOURCES, MCP_SUBSCRIPTIONS, MCP_PROMPTS, MCP_COMPLETIONS, MCP_NOTICES };
/* True if the server offers this part. */
bool wt__mcp_is_offered(const struct mcp_features *features, enum mcp_group group);

struct mcp_method {
    const char *name;
    const char *member;      /* name of the list for MCP_SHAPE_LIST */
    const char *name_member; /* member of params naming the requested item, or NULL */
    /* Answers the call. Returns true if a thread has taken it over. NULL for an empty result. */
    bool (*run)(struct mcp_call *call);
    /* Prepares the call on the reading thread. Returns false if it has been answered. May be NULL. */
    bool (*prepare)(struct mcp_call *call);
    enum mcp_eras eras;
    enum mcp_shape shape;
    enum mcp_group group;
    bool may_ask;  /* may ask the client questions; modern HTTP requests repeat name_member in Mcp-Name */
    bool is_quick; /* stdio runs it on the reading thread instead of a worker */
};

const struct mcp_method *wt__mcp_find_method(struct str name);

/* Creates a call from a request. Always consumes *in. Returns NULL if the request is invalid, or if out of memory; the
 * request was then already answered. */
struct mcp_call *wt__mcp_call_begin(struct mcp_service *service, struct mcp_peer *peer, struct mcp_channel *channel,
                                    struct mcp_incoming *in, bool modern, const struct mcp_headers *headers);
/* Answers and frees the call, here or on another thread. */
void wt__mcp_call_run(struct mcp_call *call);
/* Ends a call whose `run` returned true: answers and frees it. */
void wt__mcp_call_finish(struct mcp_call *call);
/* Runs work(call), then wt__mcp_call_finish, on a thread that may wait. Returns false, with an error set, if too many
 * calls are running or no thread can be started. */
bool wt__mcp_call_start_thread(struct mcp_call *call, void (*work)(struct mcp_call *call));

/* Handles a notification or response. */
void wt__mcp_handle_other_message(struct mcp_service *service, struct mcp_peer *peer, const struct mcp_incoming *in);

/* True if a request belongs to the modern era. header: MCP-Protocol-Version, empty if absent. */
bool wt__mcp_is_modern(const struct mcp_incoming *in, struct str header);
bool wt__mcp_is_legacy_version(struct str version);

void wt__mcp_write_versions(struct buffer *out); /* array of all supported versions */
void wt__mcp_write_server_info(struct buffer *out, const struct mcp_features *features, bool with_title);

/* ---------------------------------------------------------------- notices */

/* An open request of a modern client for change notices (subscriptions/listen). */
struct mcp_listener {
    struct mcp_listener *next;
    struct mcp_channel *channel;
    struct mcp_peer *peer; /* the client */
    struct buffer id;      /* id of the request, as JSON */
    bool changes[3];       /* wanted list changes, indexed by enum mcp_change */
    char **uris;           /* [uri_count] watched resources */
    size_t uri_count;
};

bool wt__mcp_run_listen(struct mcp_call *call);
/* Ends the listener with this peer and id. Returns true if it existed. */
bool wt__mcp_unlisten(struct mcp_service *service, const struct mcp_peer *peer, struct str id);
/* Ends all listeners of the peer (NULL for all peers) with a final message. */
void wt__mcp_end_listeners(struct mcp_service *service, const struct mcp_peer *peer);
/* Removes listeners whose clients have disconnected. Call it about once a second. */
void wt__mcp_drop_gone_listeners(struct mcp_service *service);

/* ---------------------------------------------------------------- the service */

struct mcp_service {
    struct mcp_features features;
    unsigned char key[32];
    double (*now_ms)(void); /* replaces the clock in tests, else NULL */
    struct shares waiting;  /* shares of the calls of wt__mcp_call_start_thread, by holder */
    size_t sessions_max, page_items;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t idle;
    struct mcp_peer *peers;
    unsigned peer_number; /* number of the last peer opened */
    struct mcp_job *jobs; /* [job_count] jobs for idle threads */
    pthread_cond_t job_came;
    unsigned job_count, resting, threads; /* resting: idle threads; threads: all */
    atomic_bool stopping;
    pthread_mutex_t notice_lock; /* guards listeners; held while sending notices, to keep them in order */
    struct mcp_listener *listeners;
    size_t listener_count;
    struct shares listening; /* shares of listeners, by holder */
};

/* Returns monotonic time in ms, unaffected by changes to the wall clock. The clock stops while the machine sleeps. */
static inline double wt__mcp_steady_ms(const struct mcp_service *service)
{
    return service->now_ms ? service->now_ms() : wt__now_ms();
}

/* ---------------------------------------------------------------- sessions */

/* Legacy sessions of one path, created by `initialize` and identified by 128 random bits. A session is bound to its
 * principal. A session id does not authenticate a request: every request is authenticated separately. */
struct mcp_session;

struct mcp_sessions {
    struct mcp_service *service;
    pthread_mutex_t lock;
    struct mcp_session **buckets; /* NULL until the first session */
    size_t bucket_count, count;
    struct mcp_session *newest, *oldest; /* ordered by last use */
    struct shares shares;                /* shares of sessions, by principal */
};

void wt__mcp_sessions_open(struct mcp_sessions *sessions, struct mcp_service *service);
void wt__mcp_sessions_close(struct mcp_sessions *sessions);

/* Adds a session for the peer. If the principal has used up its share, ends one of its sessions that has neither
 * running calls nor an open stream. Prefers a session that was never used, else the least recently used session.
 * Errors: WT_EBUSY (all are in use), WT_EIO (no random numbers), WT_ENOMEM. */
int wt__mcp_session_add(struct mcp_sessions *sessions, struct mcp_peer *peer, char id[MCP_SESSION_ID_BYTES],
                        wt_error *err);
/* Returns the session's peer, with a reference, and updates the time of last use. NULL if the principal has no such
 * session. */
struct mcp_peer *wt__mcp_session_find(struct mcp_sessions *sessions, struct str id, const char *principal);
/* Ends a session. Returns false if the principal has no such session. */
bool wt__mcp_session_end(struct mcp_sessions *sessions, struct str id, const char *principal);
/* Ends sessions that were idle for MCP_SESSION_IDLE_MS and have neither running calls nor an open stream. */
void wt__mcp_sessions_expire(struct mcp_sessions *sessions);

/* ---------------------------------------------------------------- channels over HTTP */

/* A channel for the response to one HTTP request. The response is JSON, or an event stream if a message precedes the
 * answer.
 *
 * The stream is resumable for clients of the last legacy revision. Its events have ids. While the client is
 * disconnected, unsent events are kept within the limits below. The client resumes by GET with the id of the last event
 * received. */
enum {
    MCP_RESUME_BYTES_MAX = 1 << 20, /* maximum bytes kept per stream; older events are dropped, the newest is kept */
    MCP_RESUME_EVENTS_MAX = 64,     /* one more than the maximum events kept per stream */
    MCP_RESUME_STREAMS_MAX = 16,    /* streams kept per session; the oldest is dropped */
    MCP_RESUME_ALL_MAX = 512,       /* streams kept in all sessions; over its share, a holder loses its oldest stream */
    MCP_RESUME_MS = 60000,          /* time to keep an unread answer */
    MCP_RETRY_MS = 500,             /* retry delay suggested to clients */
    MCP_AWAY_MS = 10000,            /* maximum time without the client before its call is cancelled */
};

struct http_channel;

/* Open streams, for keep-alives, and resumable streams. */
struct mcp_streams {
    struct mcp_service *service;
    pthread_mutex_t lock;
    struct http_channel *open;
    size_t open_count;
    struct http_channel *resumable; /* list, newest first, with a reference to each stream */
    struct shares kept;             /* shares of resumable streams, by holder */
};

void wt__mcp_streams_open(struct mcp_streams *streams, struct mcp_service *service);
void wt__mcp_streams_close(struct mcp_streams *streams);
void wt__mcp_streams_keep_alive(struct mcp_streams *streams);
/* Drops expired answers, and cancels calls whose clients stay away too long. Call it about once a second. */
void wt__mcp_streams_expire(struct mcp_streams *streams);

/* Returns a channel that holds references to the exchange, or NULL if out of memory. trace: as in struct
 * mcp_channel. */
struct mcp_channel *wt__mcp_http_channel_open(struct mcp_streams *streams, struct http_exchange *exchange,
                                              struct request_trace *trace);
/* Cancels the call when the client disconnects: at once, or after MCP_AWAY_MS if it may resume. */
void wt__mcp_http_channel_cancel_on_disconnect(struct mcp_channel *channel);
/* Sets the legacy session of the request, which makes its stream resumable if the revision permits. */
void wt__mcp_http_channel_set_peer(struct mcp_channel *channel, struct mcp_peer *peer);
/* Adds the session id to the response if the peer is open when the response starts. */
void wt__mcp_http_channel_set_session(struct mcp_channel *channel, const struct mcp_peer *peer, const char *session);
/* Starts the event stream immediately. */
void wt__mcp_http_channel_start_stream(struct mcp_channel *channel);
/* Continues the stream that sent last_event on this exchange. Returns false if the stream is not kept. */
bool wt__mcp_http_channel_resume(struct mcp_streams *streams, const struct mcp_peer *peer, struct str last_event,
                                 struct http_exchange *exchange);

#endif
