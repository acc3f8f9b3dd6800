/* http_stream.h: many HTTP transfers at once, on one thread of their own; what comes of a body is handed on piece by
 * piece. For answers that last: http_post.h is for those that are read whole.
 *
 * Redirects are not followed here, because they would carry the headers, and with them a key, to another server. The
 * caller gets their address. No sentence of an
 * error holds a header's value. What comes is not trusted; bounds are the caller's. */
#ifndef WT_NET_HTTP_STREAM_H
#define WT_NET_HTTP_STREAM_H

#include <stdint.h>

#include "net/http_post.h"

enum {
    HTTP_LINGER_MS = 200,       /* to end when its caller has enough: then the connection can be used again */
    HTTP_KEPT_BYTES = 512,      /* of the header that is kept, with a NUL */
    HTTP_LOCATION_BYTES = 2048, /* of Location, with a NUL; a longer one is ignored */
};

struct http_loop;

/* What is known of an answer before its body. */
struct http_head {
    int status; /* 0: none has come */
    char type[HTTP_TYPE_BYTES];
    char kept[HTTP_KEPT_BYTES];
    char location[HTTP_LOCATION_BYTES]; /* of a redirect, as the server wrote it; "" if there is none */
};

struct http_stream {
    const char *url;    /* http or https */
    const char *shown;  /* how errors name the server; NULL: the URL */
    const char *method; /* "POST" with a body, "GET", "DELETE" */
    const char *accept; /* NULL: application/json */
    const char *kept;   /* the name of a header of the answer that is kept; NULL: none */
    const struct http_header *headers;
    size_t header_count;
    struct str body;     /* lives until it has ended */
    unsigned connect_ms; /* until the connection stands */
    unsigned total_ms;   /* until the last byte; 0: no limit */
    unsigned delay_ms;   /* before it begins */
    /* All from the loop's thread; they may begin and cancel others. headed: the head has come; may be NULL. */
    void (*headed)(void *context, const struct http_head *head);
    bool (*took)(void *context, const struct http_head *head, struct str piece); /* false: that is enough */
    /* Once, and the last that is heard of it. rc as of wt__http_post, with *why. sent: the server may have got it. */
    void (*ended)(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent);
    void *context;
};

/* WT_ENETWORK (no libcurl), WT_ENOMEM, WT_EIO (no thread). */
int wt__http_loop_open(struct http_loop **out, wt_error *err);
/* All that goes on ends, with WT_ECANCELLED, before it returns. NULL is a no-op. */
void wt__http_loop_close(struct http_loop *loop);

/* Begins a transfer; the rest of stream is copied, but kept and context. *ticket names it. From any thread. WT_EINVAL
 * (the URL or a header), WT_ENOMEM. */
int wt__http_stream_begin(uint64_t *ticket, struct http_loop *loop, const struct http_stream *stream, wt_error *err);
/* Closes it at once: ended is told WT_ECANCELLED. From any thread; it does not wait; one that has ended is none. */
void wt__http_stream_cancel(struct http_loop *loop, uint64_t ticket);

#endif
