/* sse.h: server-sent events (WHATWG HTML, section 9.2). */
#ifndef WT_MCP_SSE_H
#define WT_MCP_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* Views are of the text. Dispose of data; all zero is one to begin with. */
struct sse_event {
    struct buffer data;  /* the data lines, joined by newlines */
    struct str type, id; /* "" when it has none */
    bool has_id;         /* an empty one takes back the one before it */
    int64_t retry_ms;    /* -1 when it has none */
};

/* The next whole event of *text, which then stands behind it. False when no event is whole: out has what there is. */
bool wt__sse_next(struct str *text, struct sse_event *out);

/* Whether an event may end in bytes [from, end) of a text: a line does where another has just ended. So that what comes
 * in small pieces is not looked at from its beginning for each. */
bool wt__sse_may_end(struct str text, size_t from);

#endif
