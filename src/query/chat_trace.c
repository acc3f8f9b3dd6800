/* chat_trace.c: writes exchanges and costs as JSON. */
#include "query/chat_trace.h"

static void write_exchange(struct buffer *out, const struct chat_exchange *exchange)
{
    wt__buffer_text(out, "{\"task\":");
    wt__buffer_json(out, wt__str(exchange->task));
    wt__buffer_text(out, ",\"question\":");
    wt__buffer_json(out, exchange->question);
    wt__buffer_text(out, ",\"answer\":");
    wt__buffer_json(out, exchange->answer);
    if (exchange->unusable) {
        wt__buffer_text(out, ",\"unusable\":");
        wt__buffer_json(out, wt__str(exchange->unusable));
    }
    wt__buffer_char(out, '}');
}

void wt__write_exchanges(struct buffer *out, const struct chat_exchange *exchanges, size_t count)
{
    wt__buffer_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        write_exchange(out, &exchanges[i]);
    }
    wt__buffer_char(out, ']');
}

void wt__write_chat_cost(struct buffer *out, const struct chat_cost *cost)
{
    wt__buffer_printf(out,
                      "{\"questions\":%zu,\"requests\":%zu,\"repaired\":%zu,\"unusable\":%zu,\"prompt_tokens\":%llu,"
                      "\"completion_tokens\":%llu,\"ms\":%.1f}",
                      cost->questions, cost->requests, cost->repaired, cost->unusable,
                      (unsigned long long)cost->prompt_tokens, (unsigned long long)cost->completion_tokens, cost->ms);
}
