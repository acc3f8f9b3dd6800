/* server.h: an HTTP/1.1 server for this machine: one loop reads, writes and keeps time; handlers run on workers, so
 * that nothing that thinks stands in the way of what only waits.
 *
 * Requests that find the queue full are answered 503 with Retry-After, by the loop. A client that closes its side is
 * gone, also when it would still read: nobody can tell the two apart. TLS is a proxy's job. */
#ifndef WT_HTTP_SERVER_H
#define WT_HTTP_SERVER_H

#include <stdint.h>

#include "base/error.h"
#include "http/answer.h"
#include "http/exchange.h"

enum {
    HTTP_QUEUE_MAX = 2048,        /* requests that wait for a worker, when none is said; shared by holders (shares.h) */
    HTTP_CONNECTIONS_MAX = 20000, /* at once, and no more than three quarters of the descriptors that the process may
                                     have; one without a whole head makes room, else a new one is closed. Those whose
                                     request is being answered are shared by holders */
    HTTP_HEAD_MS = 10000,         /* from a request's first byte, or the connection's begin, to the end of its head */
    HTTP_BODY_MS = 30000,         /* and of its body */
    HTTP_IDLE_MS = 75000,         /* of a connection between requests */
    HTTP_READER_MS = 30000,       /* that a client may read nothing of what is ready for it */
    HTTP_STOP_MS = 10000,         /* that running requests have to end when the server stops */
    HTTP_HELD_BYTES_MAX = 512 << 20, /* of requests that are read or answered, shared by holders; 503 beyond */
    HTTP_HOLDER_BYTES = 80,          /* of a holder's name, with a NUL */
    HTTP_BODY_BYTES_MAX = 1 << 20,   /* when the handler names no other limit */
    HTTP_ADDRESS_BYTES = 128,        /* of an address in words, with a NUL */
};

/* What became of a request, for logs and figures. Views live for the call. */
struct http_record {
    const struct http_request *request; /* NULL: it was none, and was refused */
    const char *peer;
    int status;              /* 0: the client went away before the answer began */
    uint64_t bytes;          /* of the answer's body */
    double queue_ms, run_ms; /* waiting for a worker; from there to the last byte written out by us */
};

struct http_handler {
    /* Answers, on a worker. */
    void (*answer)(void *context, struct http_exchange *exchange);
    /* Bytes that the body of this request may have; on the loop, so it only looks at the head. 413 beyond. NULL:
     * HTTP_BODY_BYTES_MAX. */
    size_t (*body_max)(void *context, const struct http_request *head);
    /* Writes whom the request counts as where clients share something: a key's name, "" for a stranger. False: clients
     * are not told apart, and nothing is shared. On the loop, so it only looks at the head. NULL: always false. */
    bool (*holder)(void *context, const struct http_request *head, char out[HTTP_HOLDER_BYTES]);
    /* 0, or the status to refuse the head with before its body is read (403, 421, ...); on the loop. NULL: none is. */
    int (*refuse)(void *context, const struct http_request *head);
    /* Adds fields to *out, which has none, that every answer to this request has: a handler's, whole or in pieces, and
     * the server's own refusals. On the loop, so it only looks at the head; what they view lives as long as the
     * handler. NULL: there are none. */
    void (*fields)(void *context, const struct http_request *head, struct http_fields *out);
    /* A request is over; on the loop, so it must not wait. NULL: nobody wants to know. */
    void (*record)(void *context, const struct http_record *record);
    /* The server begins to end; on the loop, so it must not wait. Long streams are to end now. NULL: none are. */
    void (*stopping)(void *context);
    void *context;
};

struct http_server_options {
    /* "HOST:PORT" with a numeric host or localhost, "[::1]:PORT", "unix:PATH"; port 0: any free one */
    const char *listen;
    unsigned workers; /* 0: one a processor */
    /* 0: the limit of the same name. */
    size_t queue_max, connections_max, held_max;
    unsigned stop_ms, head_ms, body_ms, idle_ms, reader_ms;
    unsigned answer_ms; /* that a request has until its answer begins; then it is gone, and answered 503. 0: for ever */
    struct http_handler handler;
};

struct http_server;

struct http_figures {
    uint64_t connections, queued, running;            /* now */
    uint64_t accepted, refused, overloaded, requests; /* since it was opened; refused: what was no request or came too
                                                         late; overloaded: what was answered 503 */
};

/* Whether that is an address to listen on, or WT_EINVAL with what is one. */
int wt__http_address_check(const char *listen, wt_error *err);
/* Binds and listens; nobody is answered yet. A unix socket has mode 0600, and takes the place of one that nobody
 * listens on. Errors: WT_EINVAL (the address makes no sense), WT_EBUSY (somebody listens there), WT_EIO, WT_ENOMEM. */
int wt__http_server_open(struct http_server **out, const struct http_server_options *options, wt_error *err);
/* Where it listens, with the port that it got: "127.0.0.1:8080", "unix:/run/x". */
const char *wt__http_server_address(const struct http_server *server);
/* Answers until it is stopped: no new requests then, running ones end within stop_ms, later they are gone. */
int wt__http_server_run(struct http_server *server, wt_error *err);
/* From any thread, and from a signal handler. */
void wt__http_server_stop(struct http_server *server);
/* True from the moment it is asked to stop: long streams end themselves. */
bool wt__http_server_is_stopping(const struct http_server *server);
void wt__http_server_figures(const struct http_server *server, struct http_figures *out);
/* After run has returned. NULL is a no-op. */
void wt__http_server_close(struct http_server *server);

#endif
