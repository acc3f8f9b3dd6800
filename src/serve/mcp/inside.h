/* inside.h: what the files of this folder share, and nobody else includes.
 *
 *   channel   the way of one request's messages to its client: an HTTP exchange, or lines of stdout
 *   peer      who is at the other end: a legacy session, the one client of stdio, or, for a modern request over HTTP,
 *             nobody but that request
 *   call      a request that is being answered
 *
 * A message comes in by wt__mcp_read_message, becomes a call by wt__mcp_begin, and is answered by wt__mcp_run, on the
 * same thread or another.
 *
 * Locks are taken in this order, and none is held while features run or a message is sent, but for send_lock:
 * service, peer, channel, call. send_lock stands for itself. */
#ifndef WT_SERVE_MCP_INSIDE_H
#define WT_SERVE_MCP_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/shares.h"
#include "mcp/message.h"
#include "serve/mcp/service.h"

#define MCP_META "io.modelcontextprotocol/"

enum {
    MCP_CLIENT_BYTES_MAX = 8 << 10, /* of what a legacy client says of itself, which a session keeps */
    MCP_PRINCIPAL_BYTES_MAX = 1024,
    MCP_VALUES_MAX = 100, /* of a completion, by the protocol */
    MCP_SESSION_ID_BYTES = 33,
};

/* ---------------------------------------------------------------- channels */

struct mcp_channel {
    atomic_uint refs;
    pthread_mutex_t send_lock; /* one message at a time */
    pthread_mutex_t lock;      /* call, gone */
    struct mcp_call *call;     /* whom it cancels when it is gone; NULL: nobody */
    bool gone;
    bool over;   /* the answer is given, or will never be; under send_lock */
    bool shared; /* with all other requests of the client */
    /* A message before the answer. False: it does not arrive. */
    bool (*send)(struct mcp_channel *channel, struct str message);
    /* The answer, with HTTP's status; once. Empty: there is none, and will be none. */
    void (*answer)(struct mcp_channel *channel, int status, struct str message);
    void (*keep_alive)(struct mcp_channel *channel);  /* NULL: it needs none */
    void (*close_early)(struct mcp_channel *channel); /* its client shall come back for the rest; NULL: it cannot */
    bool (*is_gone)(struct mcp_channel *channel);
    void (*dispose)(struct mcp_channel *channel); /* frees the rest, and itself */
};

void wt__mcp_channel_open(struct mcp_channel *channel); /* one reference */
void wt__mcp_channel_keep(struct mcp_channel *channel);
void wt__mcp_channel_release(struct mcp_channel *channel);
bool wt__mcp_channel_send(struct mcp_channel *channel, struct str message);
void wt__mcp_channel_answer(struct mcp_channel *channel, int status, struct str message);
void wt__mcp_channel_keep_alive(struct mcp_channel *channel);
void wt__mcp_channel_close_early(struct mcp_channel *channel);
/* The client has gone away and will not come back: cancels the call. */
void wt__mcp_channel_gone(struct mcp_channel *channel);
/* Appends the message without its line breaks, which JSON has only between its tokens. */
void wt__mcp_append_line(struct buffer *out, struct str message);

/* ---------------------------------------------------------------- peers */

/* A question that a legacy client was sent; on the stack of who waits for the answer. */
struct mcp_question {
    struct mcp_question *next;
    struct mcp_call *call;
    char id[32];
    bool answered; /* under the call's lock, as is the next */
    char *result;  /* JSON; NULL: the client refused */
};

struct mcp_peer {
    atomic_uint refs;
    struct mcp_service *service;
    struct mcp_peer *next, *before; /* of the service's peers, under its lock */
    char *principal;
    /* Whom shared pools count it as (base/shares.h): the principal, or without one the session. Never changes. */
    const char *holder;
    char session_holder[24];
    atomic_bool may_call; /* the principal may call what is behind this server, as of its last request */
    bool known;           /* of the service's peers: it hears notices */

    pthread_mutex_t lock; /* what follows */
    bool opened;          /* `initialize` was answered */
    bool closed;          /* the session is over */
    bool resumes;         /* its revision knows streams that are gone on with */
    unsigned stream_number;
    json_t *client, *capabilities; /* stay as they are once it is opened, so that calls borrow them */
    int level;                     /* least level of logs */
    struct mcp_call *running;
    size_t running_count;
    struct mcp_question *questions;
    unsigned question_number;
    char **watched; /* URIs [watched_count] */
    size_t watched_count, watched_capacity;
    struct mcp_channel *stream; /* for what belongs to no request; NULL: none is open */
};

/* known: it hears notices, and belongs to the service until it is closed. NULL: memory is out. */
struct mcp_peer *wt__mcp_peer_open(struct mcp_service *service, const char *principal, bool known);
void wt__mcp_peer_keep(struct mcp_peer *peer);
void wt__mcp_peer_release(struct mcp_peer *peer);
/* Cancels what it asked for, and forgets its stream. */
void wt__mcp_peer_close(struct mcp_peer *peer);
/* The stream of its own that takes the place of the one before, which ends. NULL: none. */
void wt__mcp_peer_stream(struct mcp_peer *peer, struct mcp_channel *stream);
/* Cancels the call with this id (JSON). */
void wt__mcp_peer_cancel(struct mcp_peer *peer, struct str id);
/* The answer to a question. Takes nothing. */
void wt__mcp_peer_answered(struct mcp_peer *peer, const json_t *message);
/* WT_ETOOLONG: too many. */
int wt__mcp_peer_watch(struct mcp_peer *peer, struct str uri);
void wt__mcp_peer_unwatch(struct mcp_peer *peer, struct str uri);

/* ---------------------------------------------------------------- messages */

enum mcp_incoming_kind { MCP_IN_BAD, MCP_IN_REQUEST, MCP_IN_NOTIFICATION, MCP_IN_RESPONSE };

/* What a client sent, taken apart. Dispose of it, unless a call took it. */
struct mcp_incoming {
    enum mcp_incoming_kind kind;
    json_t *message;      /* the whole; NULL: no JSON */
    const json_t *params; /* an object, or NULL */
    struct buffer id;     /* as JSON, also of a message that is bad; "null" when there is none */
    struct buffer text;   /* the message's bytes: arguments are handed on as they were written */
    struct buffer fault;  /* why params.arguments cannot be read, a sentence with a NUL; message then has {} for them */
    struct str method;
    int code; /* why it is bad: JSON-RPC's code, and words */
    const char *words;
};

/* Never fails: what is wrong is in it. */
void wt__mcp_read_message(struct mcp_incoming *in, struct str text);
void wt__mcp_incoming_dispose(struct mcp_incoming *in);
/* A member of the params of a message without faults, as the client wrote it, with every digit; empty if absent. */
struct str wt__mcp_incoming_text(const struct mcp_incoming *in, const char *member);
/* Appends an id as it is compared: a number digit by digit, a text with its escapes in one form; nothing for any other
 * value. */
void wt__mcp_write_id(struct buffer *out, struct str id);
/* _meta of its params, or NULL. */
const json_t *wt__mcp_incoming_meta(const struct mcp_incoming *in);
/* A response that says code and words, to the id (JSON, or "null": then the message has none). */
void wt__mcp_write_error(struct buffer *out, struct str id, int code, struct str words, struct str data);

/* ---------------------------------------------------------------- headers */

/* What HTTP says beside the body. */
struct mcp_headers {
    struct str version, method, name; /* empty: absent */
    /* The value of Mcp-Param-NAME; false: there is none. */
    bool (*param)(const struct mcp_headers *headers, struct str name, struct str *value);
    const char *const *passed; /* names of headers that go on to servers, ends in NULL; NULL if none */
    /* The value of a header that was sent once; false otherwise. */
    bool (*field)(const struct mcp_headers *headers, struct str name, struct str *value);
    const void *context;
};

/* Whether a header's value, with its base64 undone, is the value as text. */
bool wt__mcp_header_says(struct str header, const json_t *value);
/* Whether the standard headers say what the body says. name: what HTTP repeats beside the method, NULL for nothing.
 * False: words say what does not match. */
bool wt__mcp_headers_match(const struct mcp_headers *headers, struct str method, const json_t *name,
                           struct buffer *words);
/* Compiles a schema, or as much of it as compiles. text: appended the schema, with what "nullable" means. why: the first error, code
 * 0 if the whole schema compiles. *out is NULL if nothing compiles. Errors: WT_EFORMAT (not JSON), WT_ENOMEM. */
int wt__mcp_compile_input(wt_validator **out, struct buffer *text, struct str schema, wt_error *why, wt_error *err);
/* Whether what the tool wants repeated is repeated. */
bool wt__mcp_mirrors_match(const struct mcp_input *input, const struct mcp_headers *headers, const json_t *arguments,
                           struct buffer *words);

/* ---------------------------------------------------------------- calls */

struct mcp_method;

struct mcp_call {
    struct mcp_service *service;
    struct mcp_peer *peer;
    struct mcp_channel *channel;
    struct mcp_call *next, *before; /* of the peer's running ones */
    const struct mcp_method *method;
    struct mcp_incoming in;
    const struct mcp_headers *headers; /* NULL: not over HTTP. Only until `run` returns */
    struct http_header *passed;        /* [passed_count], in the arena */
    size_t passed_count;
    bool modern;
    struct str name, arguments;
    struct buffer repaired;              /* what arguments views, if they were repaired; and as a tree: */
    json_t *repaired_tree;               /* NULL if they are as the client wrote them */
    const json_t *client, *capabilities; /* of the message, or of the peer */
    int level;                           /* least level of logs; above the last one: none */
    double began;
    struct mcp_tool tool; /* tools/call, once it is found */
    bool has_tool;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t news;
    atomic_bool cancelled;
    void (*on_cancel)(void *context);
    void *cancel_context;

    /* Asking. */
    json_t *responses;         /* by key: what earlier rounds and this request brought */
    struct buffer kept, state; /* what wt__mcp_keep_state was given now, and earlier */
    struct buffer sealed;      /* requestState of the answer */
    struct buffer questions;   /* members of inputRequests */
    json_t *asked;             /* keys of the questions and responses that were looked at */
    int round;
    unsigned question_count;

    /* The answer. */
    bool refused, whole, is_error, has_structured, cached, cache_private;
    bool page_full;
    int status, code;
    unsigned ttl_ms;
    const char *role;
    struct buffer words, data;                 /* of the refusal */
    struct buffer items, structured, meta;     /* items: of content, messages, contents, a list or values */
    struct buffer description, cursor, result; /* result: whole, as given, or as members */
    size_t item_count;
    struct arena arena;
};

/* Frees it, or gives it back: its answer is given or not wanted. */
void wt__mcp_call_free(struct mcp_call *call);
void wt__mcp_call_cancel(struct mcp_call *call);
/* Tells the client, unless it has cancelled. */
bool wt__mcp_call_send(struct mcp_call *call, struct str message);
/* Its number, from enum mcp_level; -1: there is no such level. */
int wt__mcp_level(struct str name);
/* Takes what a modern client sends for an earlier question: false, and it is refused, where that is not in order. */
bool wt__mcp_take_responses(struct mcp_call *call);
/* Seals what goes along with the questions. */
void wt__mcp_seal_state(struct mcp_call *call);
/* Writes what was answered as a message; status: HTTP's. */
void wt__mcp_write_answer(struct mcp_call *call, struct buffer *out, int *status);

/* What a request is about, and how it is answered. */
enum mcp_eras { MCP_LEGACY_ERA = 1, MCP_MODERN_ERA = 2, MCP_BOTH_ERAS = 3 };

/* How the result's members are made of what was added. */
enum mcp_shape {
    MCP_SHAPE_EMPTY,
    MCP_SHAPE_TOOL,
    MCP_SHAPE_PROMPT,
    MCP_SHAPE_CONTENTS,
    MCP_SHAPE_LIST,
    MCP_SHAPE_COMPLETION,
    MCP_SHAPE_RAW /* result holds its members */
};

struct mcp_method {
    const char *name;
    enum mcp_eras eras;
    enum mcp_shape shape;
    const char *member;      /* MCP_SHAPE_LIST: the list's name */
    const char *name_member; /* of params, which names what is asked for; NULL: none */
    bool named;              /* HTTP repeats that name */
    bool asks;               /* it may answer input_required */
    bool at_once;            /* it needs no feature: it is answered where it is read */
    bool (*is_offered)(const struct mcp_features *features);
    /* Answers, or starts a thread that does (then true: the call is not ours any more). */
    bool (*run)(struct mcp_call *call);
    /* Where it was read, before that; false: it has been answered. NULL: nothing is to be prepared. */
    bool (*prepare)(struct mcp_call *call);
};

const struct mcp_method *wt__mcp_method(struct str name);

/* The request as a call, or NULL: it has been answered, or memory is out. Takes `in`, whatever happens. Modern or
 * legacy is decided before. */
struct mcp_call *wt__mcp_begin(struct mcp_service *service, struct mcp_peer *peer, struct mcp_channel *channel,
                               struct mcp_incoming *in, bool modern, const struct mcp_headers *headers);
/* Answers it, here or on a thread of its own, and frees it. */
void wt__mcp_run(struct mcp_call *call);
/* The end of a call that `run` has left to a thread. */
void wt__mcp_finish(struct mcp_call *call);
/* work(call) on a thread that may wait, which ends in wt__mcp_finish. False: there are too many, and it is refused. */
bool wt__mcp_start(struct mcp_call *call, void (*work)(struct mcp_call *call));

/* A notification of a legacy client, or a response. */
void wt__mcp_heard(struct mcp_service *service, struct mcp_peer *peer, const struct mcp_incoming *in);

/* Whether a request speaks the modern era; header: MCP-Protocol-Version, empty where there is none. */
bool wt__mcp_is_modern(const struct mcp_incoming *in, struct str header);
bool wt__mcp_is_legacy_version(struct str version);

/* The opening of both eras. */
bool wt__mcp_run_initialize(struct mcp_call *call);
bool wt__mcp_run_discover(struct mcp_call *call);
void wt__mcp_write_versions(struct buffer *out); /* of both eras, an array */
void wt__mcp_write_self(struct buffer *out, const struct mcp_features *features, bool with_title);

/* ---------------------------------------------------------------- notices */

struct mcp_listener {
    struct mcp_listener *next;
    struct mcp_channel *channel;
    struct mcp_peer *peer; /* on stdio, where a cancel names it */
    struct buffer id;
    bool changes[3]; /* by enum mcp_change */
    char **uris;
    size_t uri_count;
};

bool wt__mcp_run_listen(struct mcp_call *call);
/* Ends the one of this peer and id. True: there was one. */
bool wt__mcp_unlisten(struct mcp_service *service, const struct mcp_peer *peer, struct str id);
/* Ends all of the peer, or of everybody (NULL), with their final word. */
void wt__mcp_end_listeners(struct mcp_service *service, const struct mcp_peer *peer);
/* Every second or so: forgets listeners whose clients are gone. */
void wt__mcp_tend_listeners(struct mcp_service *service);

/* ---------------------------------------------------------------- the service */

struct mcp_service {
    struct mcp_features features;
    unsigned char key[32];
    double (*now_ms)(void); /* of a test; NULL: the machine's clocks */
    struct shares waiting;  /* calls that threads run, or are about to */
    size_t sessions_max, page_items;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t idle;
    struct mcp_peer *peers;
    unsigned peer_number; /* of the last peer that was opened */
    struct mcp_job *jobs; /* for threads that rest */
    pthread_cond_t job_came;
    unsigned job_count, resting, threads;
    atomic_bool stopping;
    pthread_mutex_t notice_lock; /* listeners; held while they are told, so that their messages have an order */
    struct mcp_listener *listeners;
    size_t listener_count;
    struct shares listening; /* listeners, by holder */
};

/* Monotonic: changes of the wall clock expire nothing. It stops while the machine sleeps, as its clients do. */
double wt__mcp_steady_ms(const struct mcp_service *service);

#endif
