/* framing.h: where a request's body ends, and whether another request follows on the connection. */
#ifndef WT_HTTP_FRAMING_H
#define WT_HTTP_FRAMING_H

#include <stdint.h>

#include "http/refusal.h"
#include "http/request.h"

struct http_framing {
    bool http_1_0;
    bool chunked;
    bool expects_continue; /* the client waits for 100 before it sends the body */
    uint64_t length;       /* of the body that is not chunked; 0: there is none */
};

/* Reads from the fields; framing->http_1_0 is set before. Sets request->keep_alive. */
enum http_refusal wt__http_read_framing(struct http_framing *framing, struct http_request *request);

#endif
