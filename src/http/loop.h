/* loop.h: what all connections of a server share. Only the loop's thread touches it, but for the counts. */
#ifndef WT_HTTP_LOOP_H
#define WT_HTTP_LOOP_H

#include <stdatomic.h>

#include "base/shares.h"
#include "http/queue.h"
#include "http/waits.h"

enum { HTTP_INPUT_BYTES = 16 << 10 }; /* read at once, and so ahead of an answer, from one connection */

struct http_loop {
    struct event_base *base;
    struct mailbox *mailbox;
    struct http_queue *queue;
    struct http_handler handler;
    struct waits waits;
    struct connection *connections; /* a list of all */
    size_t connections_max;
    struct shares held;                    /* bytes of requests that connections hold, by holder */
    struct shares answering;               /* connections whose request is being answered, by holder */
    bool stopping;                         /* idle connections do not stay, and the last one ends the loop */
    atomic_uint_fast64_t connection_count; /* now */
    atomic_uint_fast64_t accepted, refused, overloaded, requests; /* since it was opened */
    char input[HTTP_INPUT_BYTES];
};

#endif
