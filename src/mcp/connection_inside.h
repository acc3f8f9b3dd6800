/* connection_inside.h: what connection.c, connection_open.c and the two links share.
 *
 * A link carries messages: connection_stdio.c (lines of a program), connection_http.c (streamable HTTP) and
 * connection_sse.c (the transport before it). It knows requests by their number alone, since who began one may have
 * left it; what comes for a number that is gone is dropped. A link calls wt__mcp_connection_heard and its kin from its
 * one thread, without a lock of its own held.
 *
 * Locks: the connection's guards what its struct says and its exchanges; a link is called without it. Whoever calls a
 * link is counted (wt__mcp_connection_enter), so that none is closed under a call. */
#ifndef WT_MCP_CONNECTION_INSIDE_H
#define WT_MCP_CONNECTION_INSIDE_H

#include <pthread.h>

#include "base/arena.h"
#include "mcp/connection.h"

enum {
    MCP_NO_STREAM = -1,
    MCP_VERSION_BYTES = 32,      /* of a revision's name, with a NUL */
    MCP_QUESTIONS_OPEN_MAX = 64, /* of one exchange; more are refused */
    MCP_STRAY_LINES_MAX = 1000,  /* of a server, that are no message */
    MCP_STRAY_LINES_SECOND = 10, /* that many more are allowed each second */
    MCP_UNASKED_MAX = 10000,     /* requests, notifications and stray answers of a server */
    MCP_UNASKED_SECOND = 2000,   /* likewise */
    MCP_UNASKED_BYTES_MAX = 64 << 20 /* of these */,
    MCP_UNASKED_BYTES_SECOND = 4 << 20,
};

/* What may come in a row, and what then comes back of it each second. */
struct mcp_allowance {
    double left, most, per_second, at_ms;
};

/* A request as it is sent: borrowed for the call. */
struct mcp_outgoing {
    int64_t id;
    const char *method;
    struct str text; /* the message */
    struct str name; /* as of mcp_request */
    const struct http_header *headers, *passed;
    size_t header_count, passed_count;
};

struct mcp_link {
    /* Sends it; what comes of it is told from the link's thread. Neither waits. */
    int (*ask)(struct mcp_link *link, const struct mcp_outgoing *outgoing, wt_error *err);
    /* A notification, or the answer to a question: nothing is heard of it. */
    int (*tell)(struct mcp_link *link, struct str text, wt_error *err);
    /* Nobody waits for the answer any more. notice: the notification that says so, where the era has one; "" where the
     * server need not know. */
    void (*cancel)(struct mcp_link *link, int64_t id, struct str notice);
    /* The rest may be NULL: there is nothing to do. Era and version stand. */
    void (*agreed)(struct mcp_link *link);
    /* Waits until what was told is taken and the stream of notices stands, at most so long; whether it is. */
    bool (*settle)(struct mcp_link *link, unsigned ms);
    /* A legacy server is initialized: what it notices is asked for. */
    void (*hear)(struct mcp_link *link);
    /* Ends it, and joins its thread. words: what a program said last on stderr; "" when nothing. */
    void (*close)(struct mcp_link *link, bool hurry, char words[CHILD_TAIL_BYTES]);
};

struct mcp_event_item {
    struct mcp_event_item *next;
    struct mcp_event event; /* views of text */
    struct buffer text;
};

struct mcp_question {
    struct mcp_question *next;
    struct str id; /* as the server wrote it; stands behind the struct */
};

struct mcp_exchange {
    struct mcp_connection *connection;
    struct mcp_exchange *newer, *older; /* of those that run */
    int64_t id;
    pthread_cond_t changed;
    struct mcp_event_item *first, *last, *current; /* current: the one that was handed out */
    size_t waiting_bytes;                          /* of those that wait */
    struct mcp_question *questions;                /* not answered yet */
    size_t question_count;
    bool running;  /* it stands in the connection's list: its answer is awaited */
    bool sent;     /* the server may have got it */
    bool progress; /* was asked for */
    int rc;        /* why it is over without an answer */
    wt_error why;
    int status; /* of HTTP, where that was why; else 0 */
    double heard_ms;
    unsigned timeout_ms;
    char *method, *principal; /* principal: NULL: nobody's */
};

struct mcp_connection {
    const struct mcp_server *server;
    struct mcp_connection_options options;
    struct arena arena;
    const char *shown; /* how errors name the server */
    pthread_mutex_t lock;
    pthread_cond_t left; /* somebody has left the link, or freed an exchange */
    struct mcp_link *link;
    unsigned users;      /* who call the link now */
    unsigned references; /* the owner, and each exchange that is not freed */
    bool opened, lost, closing;
    bool ended;   /* lost: the program has ended */
    wt_error why; /* lost otherwise */
    enum mcp_era era;
    char version[MCP_VERSION_BYTES]; /* that HTTP says with every request; "" when there is none */
    struct buffer self;
    int64_t last_id;
    struct mcp_exchange *newest; /* of those that run */
    size_t running_count;
    struct mcp_allowance stray, unasked, unasked_bytes; /* of the link's thread */
};

/* ---------------------------------------------------------------- under the lock */

struct mcp_exchange *wt__mcp_connection_find(struct mcp_connection *connection, int64_t id);
/* It leaves the list; no harm when it has. */
void wt__mcp_exchange_finish(struct mcp_exchange *exchange);
void wt__mcp_exchange_fail(struct mcp_exchange *exchange, const wt_error *why);
/* NULL when there is none, or none any more; else wt__mcp_connection_leave, without the lock, when it was called. */
struct mcp_link *wt__mcp_connection_enter(struct mcp_connection *connection);
/* Why a request cannot be answered: the connection is lost. */
int wt__mcp_connection_fail_lost(const struct mcp_connection *connection, const char *method, wt_error *err);
void wt__mcp_connection_leave(struct mcp_connection *connection);

/* ---------------------------------------------------------------- for links */

/* All three are called with the connection's lock held. */
int wt__mcp_open_stdio_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);
int wt__mcp_open_http_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);
int wt__mcp_open_sse_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);

/* A message of the server; stream: the request on whose stream it came, 0 where there is one stream for all,
 * MCP_NO_STREAM for one that is of no request. *answered: whether it answers that
 * one; may be NULL. Negative: it breaks a bound, and the link shall call wt__mcp_connection_broke with *err. */
int wt__mcp_connection_heard(struct mcp_connection *connection, int64_t stream, struct str text, bool *answered,
                             wt_error *err);
/* The number of a request that the link makes itself. */
int64_t wt__mcp_connection_number(struct mcp_connection *connection);
/* No answer to this request will come. status: of HTTP; 0 where there was none. sent: the server may have got it. */
void wt__mcp_connection_failed(struct mcp_connection *connection, int64_t id, const wt_error *why, int status,
                               bool sent);
/* Nothing will come any more. why NULL: a program has ended. words: as of close. */
void wt__mcp_connection_broke(struct mcp_connection *connection, const wt_error *why, const char *words);

/* ---------------------------------------------------------------- for the opening */

/* wt__mcp_exchange_next, which a wish to stop ends. patience_ms: WT_ETIMEOUT after so long, and the exchange goes on;
 * 0: as long as it runs. */
int wt__mcp_exchange_wait(struct mcp_exchange *exchange, struct mcp_event *out, struct progress *progress,
                          unsigned patience_ms, wt_error *err);
/* Ends all exchanges, lets none begin, and waits until nobody calls the link. */
void wt__mcp_connection_fail_all(struct mcp_connection *connection);
/* wt__mcp_disconnect; words: as of close. */
void wt__mcp_disconnect_hearing(struct mcp_connection *connection, bool hurry, char words[CHILD_TAIL_BYTES]);
void wt__mcp_connection_release(struct mcp_connection *connection);

#endif
