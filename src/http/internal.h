/* internal.h: declarations shared by the files of src/http. */
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
    HTTP_BODY_CLOSE,   /* body that ends when the connection closes */
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

/* Appends the head, including the framing fields. Omits fields of the handler that are invalid, or that only the server
 * sets, such as Content-Length. */
void wt__http_write_head(struct buffer *out, const struct http_answer_head *head);
/* Appends {"error":{"code":...,"message":...}}, the body of the server's own answers. If message is NULL, uses the
 * message of the status. */
void wt__http_write_error(struct buffer *out, int status, const char *message);

/* List link, embedded in the posted object. */
struct letter {
    struct letter *next;
};

/* Passes letters from other threads to the loop, and wakes the loop. The letters are in a list under a mutex. Posting
 * to an empty list writes to an eventfd. While the loop is busy, further letters therefore cause no further writes. A
 * mailbox is reference-counted and may outlive the loop. Then posts fail. */
struct mailbox {
    atomic_uint holders;          /* number of references */
    atomic_bool draining;         /* a drain or a stop was requested: each answer closes its connection */
    atomic_bool stopping;         /* a stop was requested */
    int descriptor;               /* eventfd; readable after a post or a stop request */
    pthread_mutex_t lock;         /* protects the fields below */
    struct letter *first, **last; /* posted letters, oldest first; last: where the next letter is linked */
    bool shut;                    /* true if posts fail */
};

/* Opens a mailbox with one reference. Returns NULL, with errno, if memory or descriptors are exhausted. */
struct mailbox *wt__mailbox_open(void);
/* Releases a reference. Ignores NULL. */
void wt__mailbox_release(struct mailbox *mailbox);

/* Returns the posted letters, oldest first, or NULL. */
struct letter *wt__mailbox_take(struct mailbox *mailbox);
/* Rejects further posts. Letters posted before can still be taken. */
void wt__mailbox_shut(struct mailbox *mailbox);

/* Set `draining`, or both flags, and wake the loop. Safe in signal handlers. The flags are in the mailbox because
 * exchanges read them, too. */
void wt__mailbox_request_drain(struct mailbox *mailbox);
void wt__mailbox_request_stop(struct mailbox *mailbox);

/* The loop's side of an exchange. exchange.h is the handler's side.
 *
 * An exchange has up to three references: the loop's, that of a posted letter, and that of all holders together. Its
 * holders are the worker and the callers of wt__http_keep. The release by the last holder ends an unfinished answer.
 *
 * The exchange collects output until the loop takes it. A stream of small pieces therefore needs one letter for all
 * pieces that the loop has not taken. */

enum { HTTP_PEER_BYTES = 56 }; /* "[IPv6 address]:port" with its NUL */

struct connection;

/* Output that the loop takes from an exchange in one call. */
struct exchange_output {
    struct buffer bytes; /* owned by the caller of wt__exchange_take_output */
    bool ended;          /* no more output follows */
    bool broken;         /* the answer is incomplete and must be cut off with a reset */
    bool closes;         /* the answer announced that the connection closes */
};

struct http_exchange {
    struct letter letter; /* must be first: the mailbox casts it to the exchange */
    /* Only the loop uses these two fields. connection: the client's; NULL once the exchange is detached. queued_ms:
     * time of queueing, on the clock of wt__now_ms. */
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
    /* posted: the letter is in the mailbox. begun: the answer has begun. ended, broken, closes: as in struct
     * exchange_output. gone: the client is gone. */
    bool posted, begun, ended, broken, closes, gone;
    bool bodiless, chunked; /* stream without a body; stream in chunks */
    bool calling;           /* on_gone is running on thread `caller` */
    pthread_t caller;
    void (*on_gone)(void *context); /* callback of wt__http_on_gone; NULL if none is waiting to be called */
    void *gone_context;
    int status;          /* status of the answer; 0 without an answer */
    uint64_t body_bytes; /* bytes of the answer's body so far */
    double started_ms;   /* time when a worker took the request, on the clock of wt__now_ms; 0 if none has */
};

/* Creates an exchange with one reference, the loop's, and no holder. The exchange owns the message. common: fields of
 * every answer. Returns NULL if out of memory; then the caller keeps the message. */
struct http_exchange *wt__exchange_new(struct mailbox *mailbox, struct http_message *message, bool http_1_0,
                                       const struct http_fields *common);
/* Releases a reference. */
void wt__exchange_drop(struct http_exchange *exchange);
/* Returns the exchange of a letter that was taken from the mailbox. The caller gets the letter's reference. Afterwards
 * the exchange may be posted again. */
struct http_exchange *wt__exchange_from_letter(struct letter *letter);

/* Moves the collected output to *news. news->bytes belongs to the caller. */
void wt__exchange_take_output(struct http_exchange *exchange, struct exchange_output *news);
/* Marks the client as gone, and calls on_gone unless the answer has ended. */
void wt__exchange_client_gone(struct http_exchange *exchange);
/* Answers 503 with Retry-After. No answer may have begun. If message is NULL, uses the message of the status. */
void wt__exchange_answer_overload(struct http_exchange *exchange, const char *message);

/* The queue of requests, and the workers.
 *
 * The handler names a holder for each request, such as the client's key. Each holder has its own line in the queue, and
 * the lines take turns. A holder with a thousand queued requests therefore delays another holder's request by only one
 * of them. base/shares.h limits each holder's places in the queue. In a line, short requests come before long ones that
 * arrived at about the same time.
 *
 * The queue starts one worker more than requested. A holder may use only the requested number of workers. So one worker
 * is always left for other holders. */

struct http_queue;

/* Creates a queue of at most max requests, without workers. Returns NULL if out of memory. */
struct http_queue *wt__http_queue_new(size_t max, const struct http_handler *handler);
/* Starts up to `workers` workers (0: one per processor) and one more. Fails with WT_ENOMEM if no worker can be
 * started. */
int wt__http_queue_start(struct http_queue *queue, unsigned workers, wt_error *err);
/* Queues an exchange. The worker will release it. holder: at most HTTP_HOLDER_BYTES, with its NUL; NULL if clients are
 * not distinguished. Returns false if the queue is full or the holder has used up its share. */
bool wt__http_queue_push(struct http_queue *queue, struct http_exchange *exchange, const char *holder);
/* Waits until all queued requests are done and the workers have ended. */
void wt__http_queue_stop(struct http_queue *queue);
/* Returns the number of queued and of running requests. */
void wt__http_queue_count(struct http_queue *queue, uint64_t *waiting, uint64_t *running);
/* Ignores NULL. */
void wt__http_queue_free(struct http_queue *queue);

/* Timeouts of connections. A wait is the time until one connection's timeout. All waits of a kind have the same
 * duration. The waits of each kind are therefore in a list ordered by end time, and starting or ending a wait takes
 * constant time. */
enum http_wait {
    HTTP_WAIT_NONE,
    HTTP_WAIT_IDLE,   /* for the next request */
    HTTP_WAIT_HEAD,   /* for the rest of a head */
    HTTP_WAIT_BODY,   /* for the rest of a body */
    HTTP_WAIT_READER, /* for the client to read output */
    HTTP_WAIT_CLOSE,  /* for the client to close the connection */
    HTTP_WAITS
};

struct wait {
    enum http_wait kind;         /* HTTP_WAIT_NONE if the connection is not waiting */
    double until_ms;             /* end time, on the clock of wt__now_ms */
    struct wait *before, *after; /* neighbours in the list; NULL if in no list */
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

/* Opens empty lists and the timer. When a wait times out, it is removed from its list and passed to `expired`. Returns
 * -1 if out of memory. */
int wt__waits_open(struct waits *waits, struct event_base *base,
                   void (*expired)(void *context, struct wait *wait, enum http_wait kind), void *context);
void wt__waits_close(struct waits *waits);

enum { HTTP_INPUT_BYTES = 16 << 10 }; /* maximum bytes per read, and maximum input kept during an answer */

/* State shared by all connections of a server. Only the loop's thread changes it, except for the counters and objects
 * with their own lock. */
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
    bool stopping;                         /* shutdown has begun; the close of the last connection ends the loop */
    atomic_uint_fast64_t connection_count; /* open connections */
    atomic_uint_fast64_t in_progress;      /* exchanges of connections */
    atomic_uint_fast64_t accepted, refused, requests; /* since the server was opened, like overloaded */
    atomic_uint_fast64_t overloaded[HTTP_OVERLOADS];
    char input[HTTP_INPUT_BYTES];
};

/* Starts to serve a new connection, and takes ownership of its descriptor. At the limit, first calls
 * wt__connections_close_idle. If that closes no connection, closes the descriptor. */
void wt__connection_open(struct server_loop *loop, int descriptor, const char *peer);
/* Handles all new output of handlers. Call it when the mailbox is readable. */
void wt__connections_take_output(struct server_loop *loop);
/* Handles the timeout of a wait. Callback of struct waits; context: the loop. */
void wt__connection_expire(void *context, struct wait *wait, enum http_wait kind);
/* Closes the connection that has been idle longest, or else the connection that has waited longest for its head.
 * Returns false if neither exists. */
bool wt__connections_close_idle(struct server_loop *loop);
/* Begins the shutdown. Reads once from each connection without a request, and closes it if nothing came. A connection
 * that has not sent a request yet stays open for a second, because its first request may be on its way. */
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
