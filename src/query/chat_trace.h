/* chat_trace.h: writes the exchanges with a language model and their cost as JSON. */
#ifndef WT_QUERY_CHAT_TRACE_H
#define WT_QUERY_CHAT_TRACE_H

#include "base/buffer.h"
#include "llm/prompt.h"

/* Appends an array of the exchanges, word for word. */
void wt__write_exchanges(struct buffer *out, const struct chat_exchange *exchanges, size_t count);

/* Appends an object with the counts of questions and tokens, and the time. */
void wt__write_chat_cost(struct buffer *out, const struct chat_cost *cost);

#endif
