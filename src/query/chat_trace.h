/* chat_trace.h: what a language model was asked and said, as JSON, word for word, and what that cost. */
#ifndef WT_QUERY_CHAT_TRACE_H
#define WT_QUERY_CHAT_TRACE_H

#include "base/buffer.h"
#include "llm/prompt.h"

/* Appends an array. */
void wt__write_exchanges(struct buffer *out, const struct chat_exchange *exchanges, size_t count);

/* Appends an object. */
void wt__write_chat_cost(struct buffer *out, const struct chat_cost *cost);

#endif
