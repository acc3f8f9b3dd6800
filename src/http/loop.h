/* loop.h: state shared by all connections of a server. Only the loop's thread uses it, except for the counters. */
#ifndef WT_HTTP_LOOP_H
#define WT_HTTP_LOOP_H

#include <stdatomic.h>

#include "base/shares.h"
#include "http/queue.h"
#include "http/waits.h"

enum { HTTP_INPUT_BYTES = 16 << 10 }; /* maximum bytes per read, and so maximum input kept during an answer */

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

#endif
