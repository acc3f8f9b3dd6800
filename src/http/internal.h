/* internal.h: declarations shared by the files of this room. */
#ifndef WT_HTTP_INTERNAL_H
#define WT_HTTP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/shares.h"
#include "http/reader.h"
#include "http/server.h"

/* How an answer's body ends. */
enum http_answer_body {
    HTTP_BODY_NONE,    /* the status allows neither body nor length */
    HTTP_BODY_LENGTH,  /* body with Content-Length */
    HTTP_BODY_CHUNKED, /* chunked body */
    HTTP_BODY_CLOSE,   /* body ends with the connection */
};

/* The head of an answer. */
struct http_answer_head {
    int status;                       /* HTTP status */
    const char *type;                 /* Content-Type, or NULL */
    const struct http_fields *common; /* fields of every answer; may be NULL */
    const struct http_field *fields;
    size_t field_count;
    enum http_answer_body body;
    size_t length; /* for HTTP_BODY_LENGTH */
    bool close;    /* close the connection after this answer */
};

/* Appends the head, including the framing fields. Omits invalid fields and framing fields in head->fields. */
void wt__http_write_head(struct buffer *out, const struct http_answer_head *head);
/* Appends {"error":{"code":...,"message":...}}, the body of the server's own answers. If message is NULL, uses the
 * message of the status. */
void wt__http_write_error(struct buffer *out, int status, const char *message);

/* List link, embedded in the posted object. */
struct letter {
    struct letter *next;
};

/* Wakes the loop and passes it work from other threads: a list under a mutex, with an eventfd that is written when the
 * list was empty. So a busy loop is woken once for all letters posted meanwhile. A mailbox is reference-counted and may
 * outlive the loop; posts then fail. */
struct mailbox {
    atomic_uint holders;          /* number of references */
    atomic_bool stopping;         /* a stop was requested */
    int descriptor;               /* readable after a post or the request of a stop */
    pthread_mutex_t lock;         /* protects the fields below */
    struct letter *first, **last; /* posted letters, oldest first; last: where the next letter is linked */
    bool shut;                    /* posts fail */
};

/* Opens a mailbox with one reference. Returns NULL, with errno, if memory or descriptors are exhausted. */
struct mailbox *wt__mailbox_open(void);
/* Releases a reference. Ignores NULL. */
void wt__mailbox_release(struct mailbox *mailbox);

/* Returns the posted letters, oldest first, or NULL. */
struct letter *wt__mailbox_take(struct mailbox *mailbox);
/* Rejects further posts. Letters posted before can still be taken. */
void wt__mailbox_shut(struct mailbox *mailbox);

/* Requests the shutdown and wakes the loop. Safe in signal handlers. The flag is in the mailbox, because exchanges and
 * signal handlers have access to it. */
void wt__mailbox_request_stop(struct mailbox *mailbox);

/* The loop's side of an exchange; exchange.h is the handler's side.
 *
 * The loop, a posted letter, and holders each keep an exchange alive. Holders are the worker and callers of
 * wt__http_keep; the last release ends an unfinished answer. Output is collected in the exchange until the loop takes
 * it, so a stream of small pieces needs one letter for all pieces not yet taken. */

enum { HTTP_PEER_BYTES = 56 }; /* "[IPv6 address]:port" with its NUL */

struct connection;

/* Output since the loop last took it. */
struct exchange_output {
    struct buffer bytes; /* owned by the caller of wt__exchange_take_output */
    bool ended;          /* no more output follows */
    bool broken;         /* close the connection after the bytes, or immediately if too many bytes are unread */
    bool closes;         /* the answer announced that the connection closes */
};

struct http_exchange {
    struct letter letter; /* must be first: the mailbox casts it to the exchange */
    /* Used only by the loop after creation: the connection, NULL after it has left the exchange, and the time of
     * queueing. */
    struct connection *connection;
    double queued_ms;
    struct mailbox *mailbox;
    struct http_message *message;
    bool http_1_0;
    struct http_fields common; /* fields of every answer */
    atomic_uint references, holders;
    atomic_size_t unsent; /* bytes taken by the loop but not yet written */

    pthread_mutex_t lock;  /* protects the fields below */
    pthread_cond_t called; /* signals the end of `calling` */
    struct buffer bytes;   /* output that the loop has not taken */
    /* posted: the letter is in the mailbox. begun: the answer has begun. gone: the client is gone. The others are those
     * of struct exchange_output. */
    bool posted, begun, ended, broken, closes, gone;
    bool bodiless, chunked; /* stream without a body; stream in chunks */
    bool calling;           /* on_gone is running on thread `caller` */
    pthread_t caller;
    void (*on_gone)(void *context); /* callback of wt__http_on_gone; NULL if not set */
    void *gone_context;
    int status;          /* status of the answer; 0 without an answer */
    uint64_t body_bytes; /* bytes of the answer's body */
    double started_ms;   /* time when a worker started; 0 if never */
};

/* Creates an exchange, which owns the message. Returns NULL, without taking the message, if out of memory. common:
 * fields of every answer. The exchange has one reference, the loop's, and no holder. */
struct http_exchange *wt__exchange_new(struct mailbox *mailbox, struct http_message *message, bool http_1_0,
                                       const struct http_fields *common);
/* Releases a reference. */
void wt__exchange_drop(struct http_exchange *exchange);
/* Returns the exchange of a letter, with the letter's reference. From now on the exchange may post again. */
struct http_exchange *wt__exchange_from_letter(struct letter *letter);

/* Moves the output so far to *news. Its bytes belong to the caller. */
void wt__exchange_take_output(struct http_exchange *exchange, struct exchange_output *news);
/* Handles a client that is gone: calls on_gone unless the answer has ended. */
void wt__exchange_client_gone(struct http_exchange *exchange);
/* Answers 503 with Retry-After instead of a handler, which must not have answered. */
void wt__exchange_answer_overload(struct http_exchange *exchange, const char *message);

/* The queue of requests, and the workers.
 *
 * Each client (a holder, named by the handler) has its own line, and the lines take turns. So a client that sends a
 * thousand requests delays another client's request by only one of them. base/shares.h limits each client's places in
 * the queue. The queue starts one worker more than requested, and no client may use more than the requested number, so
 * slow requests of one client always leave a worker for others. */

struct http_queue;

/* Creates a queue of at most max requests, without workers. Returns NULL if out of memory. */
struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler);
/* Starts up to `workers` workers (0: one per processor) and one more. Fails with WT_ENOMEM if no worker can be
 * started. */
int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err);
/* Queues an exchange, which the worker releases. holder: at most HTTP_HOLDER_BYTES, or NULL. Returns false if the queue
 * is full or the holder has its share. */
bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange, const char *holder);
/* Waits until all queued requests are done and the workers have ended. */
void wt__http_queue_stop(struct http_queue *queue);
/* Returns the number of queued and of running requests. */
void wt__http_queue_count(struct http_queue *queue, uint64_t *waiting, uint64_t *running);
/* Ignores NULL. */
void wt__http_queue_free(struct http_queue *queue);

/* Kinds of waits of the loop, each with a timeout. All waits of a kind have the same duration, so each kind is a list
 * ordered by end time. Starting and ending a wait takes constant time. */
enum http_wait {
    HTTP_WAIT_NONE,
    HTTP_WAIT_IDLE,   /* another request */
    HTTP_WAIT_HEAD,   /* rest of a head */
    HTTP_WAIT_BODY,   /* rest of a body */
    HTTP_WAIT_READER, /* reading by the client */
    HTTP_WAIT_CLOSE,  /* closing by the client */
    HTTP_WAITS
};

struct wait {
    enum http_wait kind; /* HTTP_WAIT_NONE if in no list */
    double until_ms;     /* end time, on the clock of wt__now_ms */
    struct wait *before, *after;
};

struct event;
struct event_base;

struct waits {
    struct wait ends[HTTP_WAITS];     /* list heads; each list is a ring */
    unsigned duration_ms[HTTP_WAITS]; /* 0 for no timeout */
    struct event *timer;
    double due_ms; /* due time of the timer; 0 if it is not set */
    void (*expired)(void *context, struct wait *wait, enum http_wait kind);
    void *context;
};

/* Opens the lists. expired is called for each wait that times out, after its removal. Returns -1 if out of memory. */
int wt__waits_open(struct waits *waits, struct event_base *base,
                   void (*expired)(void *context, struct wait *wait, enum http_wait kind), void *context);
void wt__waits_close(struct waits *waits);

enum { HTTP_INPUT_BYTES = 16 << 10 }; /* maximum bytes per read, and so maximum input kept during an answer */

/* State shared by all connections of a server. Only the loop's thread uses it, except for the counters. */
struct server_loop {
    struct event_base *base;
    struct mailbox *mailbox;
    struct http_queue *queue;
    struct http_handler handler;
    struct waits waits;
    struct connection *connections; /* list of all connections */
    size_t connections_max;
    struct shares held;                    /* bytes held for requests, by holder */
    struct shares answering;               /* connections with a request in progress, by holder */
    bool stopping;                         /* close idle connections; the last one ends the loop */
    atomic_uint_fast64_t connection_count; /* current number */
    atomic_uint_fast64_t accepted, refused, overloaded, requests; /* since the server was opened */
    char input[HTTP_INPUT_BYTES];
};

/* Serves the descriptor and takes ownership of it. At the limit it first closes another connection without a complete
 * head, or else the descriptor. */
void wt__connection_open(struct server_loop *loop, int descriptor, const char *peer);
/* Handles all new output of handlers. Call it when the mailbox is readable. */
void wt__connections_take_output(struct server_loop *loop);
/* Handles the timeout of a wait. Callback of struct waits; context: the loop. */
void wt__connection_expire(void *context, struct wait *wait, enum http_wait kind);
/* Closes the connection that has been idle longest, or else the connection that has waited longest for its head.
 * Returns false if neither exists. */
bool wt__connections_close_idle(struct server_loop *loop);
/* Begins the shutdown: closes connections without a request. */
void wt__connections_stop(struct server_loop *loop);
/* Closes all connections. Handlers that still answer are notified that their client is gone. */
void wt__connections_close_all(struct server_loop *loop);

struct http_listener {
    int descriptor;                   /* -1 if not open */
    char address[HTTP_ADDRESS_BYTES]; /* address as text */
    bool is_unix;
    dev_t device; /* identity of a unix socket's file */
    ino_t inode;
};

/* Binds and listens. See server.h for the forms of addresses and the errors. */
int wt__http_listen(struct http_listener *out, const char *listen, wt_error *err);
/* Accepts a connection and writes its peer address. Returns -1 with errno if no connection can be accepted. */
int wt__http_accept(const struct http_listener *listener, char peer[HTTP_PEER_BYTES]);
/* Closes the socket and removes a unix socket's file, unless another process has replaced it. */
void wt__http_listener_close(struct http_listener *listener);

#endif
