/* http_stream.h: many concurrent HTTP transfers on one thread; bodies are delivered piece by piece. Meant for
 * long-lived answers; http_post.h returns complete ones.
 *
 * Redirects are not followed, because they would send the headers, including a key, to another server. The caller gets
 * the target address. Error messages never contain header values. Answers are untrusted; the caller must limit them. */
#ifndef WT_NET_HTTP_STREAM_H
#define WT_NET_HTTP_STREAM_H

#include <stdint.h>

#include "net/http_post.h"

enum {
    HTTP_LINGER_MS = 200,       /* time to end after the caller has enough, so that the connection can be reused */
    HTTP_KEPT_BYTES = 512,      /* stored bytes of the requested header, with a NUL */
    HTTP_LOCATION_BYTES = 2048, /* stored bytes of Location, with a NUL; longer values are ignored */
};

struct http_loop;

/* The head of an answer. */
struct http_head {
    int status; /* 0 without an answer */
    char type[HTTP_TYPE_BYTES];
    char kept[HTTP_KEPT_BYTES];
    char location[HTTP_LOCATION_BYTES]; /* target of a redirect as sent by the server; "" if missing */
};

struct http_stream {
    const char *url;    /* http or https */
    const char *shown;  /* name of the server in errors; NULL for the URL */
    const char *method; /* "POST" with a body, "GET" or "DELETE" */
    const char *accept; /* NULL for application/json */
    const char *kept;   /* name of a header to store; NULL for no header */
    const struct http_header *headers;
    size_t header_count;
    struct str body;     /* must stay valid until the end */
    unsigned connect_ms; /* timeout for connecting */
    unsigned total_ms;   /* timeout for the complete answer; 0 for no limit */
    unsigned delay_ms;   /* delay before the start */
    /* Callbacks on the loop's thread; they may start and cancel transfers. on_head: the head is complete; may be
     * NULL. */
    void (*on_head)(void *context, const struct http_head *head);
    bool (*on_piece)(void *context, const struct http_head *head, struct str piece); /* return false to stop */
    /* Called once, last. rc: as of wt__http_post, with *why. sent: the server may have received the request. */
    void (*on_end)(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent);
    void *context;
};

/* Opens a loop. Errors: WT_ENETWORK (no libcurl), WT_ENOMEM, WT_EIO (no thread). */
int wt__http_loop_open(struct http_loop **out, wt_error *err);
/* Ends all transfers with WT_ECANCELLED and closes the loop. Ignores NULL. */
void wt__http_loop_close(struct http_loop *loop);

/* Starts a transfer and sets its *ticket. Copies stream except body, kept and context. Any thread. Errors: WT_EINVAL
 * (URL or header), WT_ENOMEM. */
int wt__http_stream_begin(uint64_t *ticket, struct http_loop *loop, const struct http_stream *stream, wt_error *err);
/* Cancels a transfer; `on_end` receives WT_ECANCELLED. Any thread; does not block. Ignores ended transfers. */
void wt__http_stream_cancel(struct http_loop *loop, uint64_t ticket);

#endif
