/* framing.h: finds the end of a request's body, and decides whether the connection persists. */
#ifndef WT_HTTP_FRAMING_H
#define WT_HTTP_FRAMING_H

#include <stdint.h>

#include "http/refusal.h"
#include "http/request.h"

struct http_framing {
    bool http_1_0;
    bool chunked;
    bool expects_continue; /* the client waits for 100 Continue before it sends the body */
    uint64_t length;       /* length of an unchunked body; 0 without a body */
};

/* Reads the framing from the fields and sets request->keep_alive. framing->http_1_0 must be set. */
enum http_refusal wt__http_read_framing(struct http_framing *framing, struct http_request *request);

#endif
