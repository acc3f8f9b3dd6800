#include "serve/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "query/search.h"

/* ---------------------------------------------------------------- contexts */

/* Parses `count` lower-case hexadecimal digits, at most 16. */
static bool parse_hex_digits(const char *text, size_t count, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = wt__hex_digit(text[i]);
        if (digit < 0 || (text[i] >= 'A' && text[i] <= 'F'))
            return false;
        *out = *out << 4 | (unsigned)digit;
    }
    return true;
}

bool wt__trace_parse(struct str text, struct trace_context *out)
{
    enum { VERSION = 0, TRACE = 3, SPAN = 36, FLAGS = 53, END = 55, UNUSED_VERSION = 0xff, SAMPLED = 1 };
    uint64_t version, flags;
    if (text.len < END || text.ptr[TRACE - 1] != '-' || text.ptr[SPAN - 1] != '-' || text.ptr[FLAGS - 1] != '-' ||
        !parse_hex_digits(text.ptr + VERSION, 2, &version) || version == UNUSED_VERSION)
        return false;
    if (text.len > END && (version == 0 || text.ptr[END] != '-')) /* later versions may add parts */
        return false;
    if (!parse_hex_digits(text.ptr + TRACE, 16, &out->trace[0]) ||
        !parse_hex_digits(text.ptr + TRACE + 16, 16, &out->trace[1]) ||
        !parse_hex_digits(text.ptr + SPAN, 16, &out->parent) || !parse_hex_digits(text.ptr + FLAGS, 2, &flags))
        return false;
    out->is_sampled = flags & SAMPLED;
    return (out->trace[0] | out->trace[1]) != 0 && out->parent != 0;
}

void wt__trace_id_format(char out[TRACE_ID_BYTES], const struct trace_context *context)
{
    snprintf(out, TRACE_ID_BYTES, "%016llx%016llx", (unsigned long long)context->trace[0],
             (unsigned long long)context->trace[1]);
}

void wt__trace_format(char out[TRACE_PARENT_BYTES], const struct trace_context *context, uint64_t span)
{
    snprintf(out, TRACE_PARENT_BYTES, "00-%016llx%016llx-%016llx-%02d", (unsigned long long)context->trace[0],
             (unsigned long long)context->trace[1], (unsigned long long)span, context->is_sampled ? 1 : 0);
}

bool wt__trace_is_sampled(const struct trace_sampler *sampler, const struct trace_context *context)
{
    if (context->parent != 0 && !sampler->ignores_parent)
        return context->is_sampled;
    if (sampler->root != SAMPLE_SHARE)
        return sampler->root == SAMPLE_ALL;
    /* The same for all services with this share. A double cannot tell the largest ids from the bound of the share 1. */
    return sampler->share >= 1 || (double)(context->trace[1] >> 1) < sampler->share * 0x1p63;
}

/* ---------------------------------------------------------------- ids */

int wt__trace_source_open(struct trace_source *source, const struct trace_sampler *sampler, bool exports, wt_error *err)
{
    char digits[TRACE_ID_BYTES];
    source->sampler = *sampler;
    source->exports = exports;
    atomic_init(&source->next, 1);
    if (!wt__random_digits(digits, TRACE_ID_BYTES - 1))
        return wt__fail(err, WT_EIO, "the system has no random numbers");
    parse_hex_digits(digits, 16, &source->seeds[0]);
    parse_hex_digits(digits + 16, 16, &source->seeds[1]);
    return 0;
}

/* Maps numbers to numbers one to one (the finaliser of splitmix64), except that 0 becomes 1. */
static uint64_t mix_number(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    number ^= number >> 31;
    return number ? number : 1;
}

static uint64_t draw_id(struct trace_source *source, size_t seed)
{
    uint64_t number = atomic_fetch_add_explicit(&source->next, 1, memory_order_relaxed);
    return mix_number(source->seeds[seed] + number);
}

/* ---------------------------------------------------------------- requests */

/* Copies an X-Request-Id. Returns false if it is missing, too long, or has characters other than letters, digits and
 * "-_.:=+/@". */
static bool copy_request_id(char out[REQUEST_ID_BYTES_MAX + 1], struct str given)
{
    if (given.len == 0 || given.len > REQUEST_ID_BYTES_MAX)
        return false;
    for (size_t i = 0; i < given.len; i++) {
        char c = given.ptr[i];
        if (!wt__is_letter(c) && !wt__is_digit(c) && !(c && strchr("-_.:=+/@", c)))
            return false;
    }
    memcpy(out, given.ptr, given.len);
    out[given.len] = '\0';
    return true;
}

void wt__trace_begin(struct request_trace *trace, struct trace_source *source, const struct http_request *head)
{
    const struct http_field *parent = wt__http_find_field(head, "traceparent");
    trace->source = source;
    trace->head = head;
    trace->span = draw_id(source, 0);
    trace->has_parent = parent && wt__trace_parse(parent->value, &trace->context);
    if (!trace->has_parent)
        trace->context = (struct trace_context){.trace = {draw_id(source, 1), draw_id(source, 0)}};
    if (source->exports)
        trace->context.is_sampled = wt__trace_is_sampled(&source->sampler, &trace->context);
    if (!copy_request_id(trace->request_id, wt__http_field(head, "X-Request-Id")))
        wt__trace_id_format(trace->request_id, &trace->context);
}

void wt__trace_adopt(struct request_trace *trace, const char *method, struct str parent)
{
    if (!trace || !trace->source)
        return;
    atomic_store_explicit(&trace->method, method, memory_order_release);
    if (trace->has_parent || !wt__trace_parse(parent, &trace->adopted))
        return;
    if (trace->source->exports)
        trace->adopted.is_sampled = wt__trace_is_sampled(&trace->source->sampler, &trace->adopted);
    atomic_store_explicit(&trace->is_adopted, true, memory_order_release);
}

struct trace_context wt__trace_context(const struct request_trace *trace)
{
    if (!trace)
        return (struct trace_context){{0}, 0, false};
    return atomic_load_explicit(&trace->is_adopted, memory_order_acquire) ? trace->adopted : trace->context;
}

bool wt__trace_is_known(const struct request_trace *trace)
{
    return trace && trace->source && (trace->source->exports || wt__trace_context(trace).parent != 0);
}

const char *wt__trace_stage_word(enum trace_stage stage)
{
    static const char *const words[TRACE_STAGES] = {"encode", "retrieve", "rerank", "choose", "upstream"};
    return words[stage];
}

void wt__trace_add(struct request_trace *trace, const struct trace_span *span)
{
    if (!trace || !trace->source)
        return;
    unsigned place = atomic_fetch_add_explicit(&trace->claimed, 1, memory_order_relaxed);
    if (place >= TRACE_SPANS_MAX)
        return;
    trace->spans[place] = *span;
    atomic_store_explicit(&trace->complete[place], true, memory_order_release);
}

void wt__trace_add_stage(struct request_trace *trace, enum trace_stage stage, double begun_ms, double ended_ms)
{
    if (ended_ms > begun_ms)
        wt__trace_add(trace,
                      &(struct trace_span){
                          .stage = stage, .begun_ms = begun_ms, .ended_ms = ended_ms, .id = wt__trace_new_span(trace)});
}

void wt__trace_note_stream(struct request_trace *trace)
{
    if (trace)
        atomic_store_explicit(&trace->is_stream, true, memory_order_release);
}

/* Returns the constant name of a recipe; "mixture" for a name that training made. */
static const char *find_recipe_name(const char *recipe)
{
    const wt_recipe *known;
    for (size_t i = 0; (known = wt_recipe_at(i)); i++)
        if (strcmp(known->name, recipe) == 0)
            return known->name;
    return "mixture";
}

void wt__trace_add_search(struct request_trace *trace, const char *recipe, const struct search_times *times)
{
    if (trace && *recipe)
        atomic_store_explicit(&trace->recipe, find_recipe_name(recipe), memory_order_release);
    if (times->encoded > 0)
        wt__trace_add_stage(trace, TRACE_ENCODE, times->encoded - times->encode_ms, times->encoded);
    if (times->retrieved == 0)
        return;
    wt__trace_add_stage(trace, TRACE_RETRIEVE, times->begun, times->retrieved);
    if (times->reranked > 0)
        wt__trace_add_stage(trace, TRACE_RERANK, times->retrieved, times->reranked);
    wt__trace_add_stage(trace, TRACE_CHOOSE, fmax(times->retrieved, times->reranked), times->ended);
}

uint64_t wt__trace_new_span(struct request_trace *trace)
{
    return trace && trace->source ? draw_id(trace->source, 0) : 0;
}

size_t wt__trace_spans(const struct request_trace *trace, struct trace_span out[TRACE_SPANS_MAX], size_t *missed)
{
    unsigned claimed = atomic_load_explicit(&trace->claimed, memory_order_relaxed);
    size_t count = 0;
    *missed = claimed > TRACE_SPANS_MAX ? claimed - TRACE_SPANS_MAX : 0;
    for (size_t i = 0; i < TRACE_SPANS_MAX; i++)
        if (atomic_load_explicit(&trace->complete[i], memory_order_acquire))
            out[count++] = trace->spans[i];
    return count;
}
