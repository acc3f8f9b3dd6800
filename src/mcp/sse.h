/* sse.h: server-sent events (WHATWG HTML, section 9.2), as much of them as carries messages: their data. */
#ifndef WT_MCP_SSE_H
#define WT_MCP_SSE_H

#include <stdbool.h>

#include "base/buffer.h"

/* The next whole event of *text: its data lines, joined by newlines, replace what out holds ("" when it has none), and
 * *text moves behind it. False when no event is whole. */
bool wt__sse_next(struct str *text, struct buffer *out);

#endif
