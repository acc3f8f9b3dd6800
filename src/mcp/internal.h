/* internal.h: structs and functions that connections and their transports share.
 *
 * A link is a transport in use: connection_stdio.c (lines of a program), connection_http.c (streamable HTTP) or
 * connection_sse.c (HTTP+SSE). A link refers to an exchange only by the id of its request, since the exchange may end
 * before the transfer. The connection drops answers to unknown ids. A link has one thread, which calls
 * wt__mcp_connection_dispatch and the other functions for links. It holds no lock of its own during these calls.
 *
 * The connection's lock guards its struct and its exchanges. It is not held while a function of the link is called.
 * Such calls are counted (wt__mcp_link_acquire), so that no link is closed during a call. */
#ifndef WT_MCP_INTERNAL_H
#define WT_MCP_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "mcp/connection.h"
#include "net/http_client.h"

enum {
    MCP_NO_STREAM = -1,                   /* stream id of the stream of notices, which belongs to no request */
    MCP_VERSION_BYTES = 32,               /* size of a revision's name, with the NUL */
    MCP_QUESTIONS_OPEN_MAX = 64,          /* open questions of an exchange; more are refused */
    MCP_STRAY_LINES_MAX = 1000,           /* bucket size for a server's lines that are not messages */
    MCP_STRAY_LINES_SECOND = 10,          /* refill per second */
    MCP_UNSOLICITED_MAX = 10000,          /* bucket size for messages that answer no request */
    MCP_UNSOLICITED_SECOND = 2000,        /* refill per second */
    MCP_UNSOLICITED_BYTES_MAX = 64 << 20, /* bucket size for the bytes of these messages */
    MCP_UNSOLICITED_BYTES_SECOND = 4 << 20,
};

/* A token bucket (connection_dispatch.c). A zeroed one is full. */
struct mcp_allowance {
    double left, at_ms; /* tokens left at this time, by wt__now_ms */
};

/* A serialised request, borrowed for the call. */
struct mcp_outgoing {
    int64_t id;
    const char *method;
    struct str text; /* the whole message as JSON */
    struct str name; /* see mcp_request, also for the members below */
    const struct http_header *headers, *passed;
    size_t header_count, passed_count;
};

struct mcp_link {
    /* Sends a request without waiting. The link's thread reports the answer. */
    int (*send_request)(struct mcp_link *link, const struct mcp_outgoing *outgoing, wt_error *err);
    /* Sends a notification or the answer to a question without waiting. Failures after the call are not reported. */
    int (*send_message)(struct mcp_link *link, struct str text, wt_error *err);
    /* Drops a request. notice: the notification to send; "" to send none. */
    void (*cancel_request)(struct mcp_link *link, int64_t id, struct str notice);
    /* May be NULL. Called when era and version are known. */
    void (*set_version)(struct mcp_link *link);
    /* May be NULL. Waits up to ms until all notifications were delivered and the stream of notices has opened, or these
     * attempts have failed. Returns false if the time is over first. */
    bool (*wait_delivered)(struct mcp_link *link, unsigned ms);
    /* May be NULL. Opens the stream of notices of an initialised legacy server. */
    void (*open_notices)(struct mcp_link *link);
    /* Closes and frees the link, and joins its thread. words: last output of a program on stderr; may be "". */
    void (*close)(struct mcp_link *link, bool hurry, char words[CHILD_TAIL_BYTES]);
};

struct mcp_event_item {
    struct mcp_event_item *next;
    struct mcp_event event; /* views of text */
    struct buffer text;
};

struct mcp_open_question {
    struct mcp_open_question *next;
    struct str id; /* raw JSON, stored after the struct */
};

struct mcp_exchange {
    struct mcp_connection *connection;
    struct mcp_exchange *newer, *older; /* neighbours in the connection's list of running exchanges */
    int64_t id;
    pthread_cond_t changed;                        /* signals a new event, or a change of the timeout */
    struct mcp_event_item *first, *last, *current; /* queued events; current: the event in use by the caller */
    size_t waiting_bytes;                          /* total size of the queued events */
    struct mcp_open_question *questions;           /* open questions */
    size_t question_count;
    bool is_running;     /* in the connection's list, awaiting its answer */
    bool was_sent;       /* the server may have received the request */
    bool wants_progress; /* the caller wants progress as events */
    int rc;              /* error code; 0 while running or if answered */
    wt_error why;
    int status;             /* HTTP status if the failure was an HTTP error, else 0 */
    double last_message_ms; /* time of the last message about the request, by wt__now_ms */
    unsigned timeout_ms;
    char *method, *principal; /* principal may be NULL */
};

struct mcp_connection {
    const struct mcp_server *server;
    struct mcp_connection_options options;
    struct arena arena;
    const char *shown; /* the server's name in error messages */
    pthread_mutex_t lock;
    pthread_cond_t left;   /* signalled when a call of the link returns */
    struct mcp_link *link; /* NULL if closed */
    unsigned users;        /* calls of the link in progress */
    unsigned references;   /* the owner and each exchange */
    bool is_open;          /* the opening has succeeded */
    bool is_lost;          /* the connection broke */
    bool is_closing;       /* no new calls of the link are allowed */
    bool program_ended;    /* lost because the program ended */
    wt_error why;          /* reason if lost */
    enum mcp_era era;
    char version[MCP_VERSION_BYTES]; /* for the HTTP header; "" before the opening */
    struct buffer self;              /* result of the opening */
    int64_t last_id;                 /* highest request id so far */
    struct mcp_exchange *newest;     /* head of the list of running exchanges */
    size_t running_count;
    struct mcp_allowance stray, unsolicited, unsolicited_bytes; /* used by the link's thread */
};

/* The caller of the functions below holds the connection's lock. */

/* Returns the running exchange whose request has this id, or NULL. */
struct mcp_exchange *wt__mcp_connection_find(struct mcp_connection *connection, int64_t id);
/* Removes an exchange from the list and wakes up its waiter. A no-op if it is not running. */
void wt__mcp_exchange_finish(struct mcp_exchange *exchange);
/* Finishes a running exchange with an error. */
void wt__mcp_exchange_fail(struct mcp_exchange *exchange, const wt_error *why);
/* Returns the link and counts a call of it; NULL if the connection is closing or lost. The caller must call
 * wt__mcp_link_release after the call, without the lock. */
struct mcp_link *wt__mcp_link_acquire(struct mcp_connection *connection);
/* Fills *err with the reason that the connection is lost. Returns its code. */
int wt__mcp_connection_fail_lost(const struct mcp_connection *connection, const char *method, wt_error *err);
/* Ends a call of the link. Unlike for the functions above, the caller does not hold the lock. */
void wt__mcp_link_release(struct mcp_connection *connection);

/* Open a link. The caller holds the connection's lock. */
int wt__mcp_open_stdio_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);
int wt__mcp_open_http_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);
int wt__mcp_open_sse_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);

/* Dispatches a message of the server. stream: id of the request whose stream carried the message, 0 for a transport
 * with one stream for all messages, or MCP_NO_STREAM. *answered: true if the message answers that request; answered may
 * be NULL. Fails if the server exceeded a limit, or if an invalid answer fits no exchange. The link then calls
 * wt__mcp_connection_mark_lost with *err. */
int wt__mcp_connection_dispatch(struct mcp_connection *connection, int64_t stream, struct str text, bool *answered,
                                wt_error *err);
/* Returns a new id, for a request of the link itself. */
int64_t wt__mcp_connection_next_id(struct mcp_connection *connection);
/* Fails a request. status: HTTP status, 0 if absent. sent: true if the server may have received the request. */
void wt__mcp_connection_fail_request(struct mcp_connection *connection, int64_t id, const wt_error *why, int status,
                                     bool sent);
/* Marks the connection as lost and fails its exchanges. why: NULL if the program ended. words: see mcp_link.close. */
void wt__mcp_connection_mark_lost(struct mcp_connection *connection, const wt_error *why, const char *words);

/* Works like wt__mcp_exchange_next, but `progress` can cancel it. patience_ms: after this time, returns WT_ETIMEOUT and
 * leaves the exchange running; 0 to wait for the exchange's own timeout. */
int wt__mcp_exchange_wait(struct mcp_exchange *exchange, struct mcp_event *out, struct progress *progress,
                          unsigned patience_ms, wt_error *err);
/* Fails all exchanges, prevents new ones, and waits until no call of the link is in progress. */
void wt__mcp_connection_fail_all(struct mcp_connection *connection);
/* Works like wt__mcp_disconnect. words: see mcp_link.close. */
void wt__mcp_disconnect_with_output(struct mcp_connection *connection, bool hurry, char words[CHILD_TAIL_BYTES]);
/* Drops a reference; the last one frees the connection. */
void wt__mcp_connection_release(struct mcp_connection *connection);

#define MCP_EVENT_STREAM "text/event-stream"

enum {
    STATUS_OK = 200,
    STATUS_TEMPORARY_REDIRECT = 307,
    STATUS_PERMANENT_REDIRECT = 308,
    STATUS_UNAUTHORISED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_NOT_FOUND = 404,
    STATUS_GONE = 410,
    STATUS_TOO_LARGE = 413,
    STATUS_TOO_MANY = 429,
    STATUS_SERVER_ERROR = 500,
};

/* True if the answer is an event stream. */
bool wt__mcp_http_is_stream(const struct http_head *head);
/* True for an error body that is not a JSON-RPC message, such as {"error":"invalid_token"} of OAuth. */
bool wt__mcp_http_is_error_page(const struct http_head *head, struct str body);
/* Fills *err with the meaning of a status without an answer to `method`. shown: the server's name. */
void wt__mcp_http_fail_status(const char *shown, const char *method, const struct http_head *head, struct str body,
                              wt_error *err);
/* Returns the target of a redirect from base, which the caller frees, or NULL if it must not be followed. Allowed
 * targets: the same path with or without a final slash, and, if the redirect keeps the method, any path of the same
 * origin. */
char *wt__mcp_http_redirect(const char *base, const struct http_head *head);

#endif
