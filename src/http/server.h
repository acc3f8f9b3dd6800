/* server.h: an HTTP/1.1 server. One thread, the loop, reads, writes and handles timeouts. Handlers run on worker
 * threads, so that computation never delays I/O.
 *
 * If the queue is full, the loop answers 503 with Retry-After. Several limits are divided among holders, such as API
 * keys, so that one client cannot use up a limit (base/shares.h).
 *
 * A client that closes its sending side counts as gone, because a half-close cannot be distinguished from a disconnect.
 * TLS is left to a proxy. */
#ifndef WT_HTTP_SERVER_H
#define WT_HTTP_SERVER_H

#include <stdint.h>

#include "base/error.h"
#include "http/exchange.h"

enum { HTTP_COMMON_FIELDS_MAX = 5 };

/* Fields that are added to every answer to a request, also if the server answers by itself. Their views must outlive
 * the answer. */
struct http_fields {
    struct http_field items[HTTP_COMMON_FIELDS_MAX];
    size_t count;
};

enum {
    HTTP_QUEUE_MAX = 2048, /* default limit of queued requests, divided among holders */
    /* Default limit of open connections. The limit is also at most three quarters of the process's descriptors. At the
     * limit, the server closes a connection without a complete head to accept a new one. If every connection has a
     * complete head, it closes the new connection. As many connections may have a request in progress, divided among
     * holders. */
    HTTP_CONNECTIONS_MAX = 20000,
    HTTP_HEAD_MS = 10000,            /* from the first byte of a request, or from connecting, to the end of the head */
    HTTP_BODY_MS = 30000,            /* from the end of the head to the end of the body */
    HTTP_IDLE_MS = 75000,            /* between requests */
    HTTP_READER_MS = 30000,          /* maximum time without progress while output is unsent */
    HTTP_STOP_MS = 10000,            /* time for running requests after a stop */
    HTTP_DRAIN_MS_MAX = 3600000,     /* maximum duration of a drain */
    HTTP_HELD_BYTES_MAX = 512 << 20, /* default limit of memory for requests, divided among holders; 503 above it */
    HTTP_HOLDER_BYTES = 80,          /* holder's name with its NUL */
    HTTP_BODY_BYTES_MAX = 1 << 20,   /* default limit of a body */
    HTTP_ADDRESS_BYTES = 128,        /* address as text with its NUL */
};

/* Result of a request, for logs and statistics. Views are valid only during the call. */
struct http_record {
    const struct http_request *request; /* NULL if the input was not a request and was rejected */
    const char *peer;                   /* address of the client as text */
    int status;                         /* 0 if the client disconnected before the answer began */
    uint64_t bytes;                     /* bytes of the answer's body */
    double queue_ms, run_ms;            /* time in the queue; time from the handler's start to the last byte written */
    double end_ms;                      /* time of the last byte written, on the clock of wt__now_ms */
    const void *note;                   /* the handler's note (exchange.h), NULL if the input was not a request */
};

struct http_handler {
    /* Answers a request, on a worker. */
    void (*answer)(void *context, struct http_exchange *exchange);
    /* Returns the maximum bytes of this request's body. A longer body is answered with 413. Runs on the loop and should
     * only read the head. If NULL, the limit is HTTP_BODY_BYTES_MAX. */
    size_t (*body_max)(void *context, const struct http_request *head);
    /* Writes the name of the request's holder: the name of a key, or "" for anonymous clients. The request then uses
     * this holder's share of the limits. Returns false if clients are not distinguished. Runs on the loop and should
     * only read the head. May be NULL if clients are not distinguished. */
    bool (*holder)(void *context, const struct http_request *head, char out[HTTP_HOLDER_BYTES]);
    /* Returns 0 to accept the head, or the status (such as 403) with which the request is rejected before its body is
     * read. Runs on the loop. May be NULL. */
    int (*refuse)(void *context, const struct http_request *head);
    /* Adds the fields of every answer to this request to *out, which is empty at first, and fills the request's note.
     * Runs on the loop and should only read the head. The views must live as long as the handler or the note. Called
     * again, before any answer, if memory for the request runs out. May be NULL. */
    void (*fields)(void *context, const struct http_request *head, void *note, struct http_fields *out);
    /* Receives the result of a request. Runs on the loop and must not block. May be NULL. */
    void (*record)(void *context, const struct http_record *record);
    /* Called at the start of the shutdown, so that the handler can end long streams. Runs on the loop and must not
     * block. May be NULL. */
    void (*stopping)(void *context);
    void *context;
};

struct http_server_options {
    /* "HOST:PORT" with a numeric host or localhost, "[::1]:PORT", or "unix:PATH"; port 0 selects a free port */
    const char *listen;
    unsigned workers; /* 0 for one per processor */
    /* Limits and timeouts; 0 for the constants HTTP_QUEUE_MAX, HTTP_CONNECTIONS_MAX, HTTP_HELD_BYTES_MAX, HTTP_STOP_MS,
     * HTTP_HEAD_MS, HTTP_BODY_MS, HTTP_IDLE_MS and HTTP_READER_MS. held_max is in bytes. */
    size_t queue_max, connections_max, held_max;
    unsigned stop_ms, head_ms, body_ms, idle_ms, reader_ms;
    unsigned drain_ms; /* duration of a drain (wt__http_server_drain), at most HTTP_DRAIN_MS_MAX; 0 for none */
    struct http_handler handler;
};

struct http_server;

/* Limits at which requests are answered 503. */
enum http_overload {
    HTTP_OVERLOAD_QUEUE,       /* the queue is full, or the holder has used up its share */
    HTTP_OVERLOAD_CONNECTIONS, /* too many requests of the holder are in progress */
    HTTP_OVERLOAD_MEMORY,      /* the requests of the holder use too much memory */
    HTTP_OVERLOADS
};

struct http_figures {
    /* Current numbers. in_progress: requests that are queued, run by a worker, or answered later by another thread. */
    uint64_t connections, queued, running, in_progress;
    /* Counted since the server was opened. accepted: connections. refused: requests with an invalid head, and late
     * requests. overloaded: requests answered 503, by limit. requests: complete requests. */
    uint64_t accepted, refused, requests, overloaded[HTTP_OVERLOADS];
};

/* Checks a listen address. Returns 0, or WT_EINVAL with a message that names the valid forms. */
int wt__http_address_check(const char *listen, wt_error *err);
/* Binds and listens. Requests are answered only once wt__http_server_run is called. A unix socket has mode 0600. A
 * socket file without a listener is replaced. Errors: WT_EINVAL (invalid address), WT_EBUSY (address in use), WT_EIO,
 * WT_ENOMEM. */
int wt__http_server_open(struct http_server **out, const struct http_server_options *options, wt_error *err);
/* Returns the address with the actual port: "127.0.0.1:8080", "unix:/run/x". */
const char *wt__http_server_address(const struct http_server *server);
/* Serves until the server is stopped. Then running requests have stop_ms to end. After that, their clients count as
 * gone. */
int wt__http_server_run(struct http_server *server, wt_error *err);
/* Requests the shutdown, from any thread or a signal handler. Requests that have arrived by then are answered. */
void wt__http_server_stop(struct http_server *server);
/* Requests the shutdown after a drain of drain_ms, from any thread or a signal handler. During the drain, the server
 * accepts connections and answers all requests. Each answer closes its connection, so that clients connect to another
 * server. */
void wt__http_server_drain(struct http_server *server);
/* True once a drain or the shutdown was requested. Any thread. */
bool wt__http_server_is_draining(const struct http_server *server);
/* Returns the current figures, from any thread. */
void wt__http_server_figures(const struct http_server *server, struct http_figures *out);
/* Frees the server. Call it after wt__http_server_run has returned. Ignores NULL. */
void wt__http_server_close(struct http_server *server);

#endif
