/* sse.h: parses server-sent events (WHATWG HTML, section 9.2). */
#ifndef WT_MCP_SSE_H
#define WT_MCP_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* type and id are views of the text. The caller disposes of data. Initialise with zeros. */
struct sse_event {
    struct buffer data;  /* the data lines, joined by newlines */
    struct str type, id; /* "" if absent */
    bool has_id;         /* an empty id resets the last one */
    int64_t retry_ms;    /* -1 if absent */
};

/* Parses the next complete event and moves *text past it. False if no event is complete; *out then holds the incomplete
 * one. */
bool wt__sse_next(struct str *text, struct sse_event *out);

/* True if an event may end in bytes [from, end) of the text, which is where an empty line is. Lets callers skip parsing
 * for pieces without an event end. */
bool wt__sse_may_end(struct str text, size_t from);

#endif
