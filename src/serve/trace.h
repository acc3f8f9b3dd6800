/* trace.h: the identity of a request for logs and traces, and the times of its stages.
 *
 * Each HTTP request has a struct request_trace in its note (http/exchange.h), so that recording a stage allocates
 * nothing. The loop fills it when the head has arrived. Workers add spans without a lock, and the loop reads the
 * complete spans once the answer is sent.
 *
 * The context of a trace comes from the client: from the header `traceparent`, or else from `_meta.traceparent` of
 * an MCP request (W3C Trace Context, https://www.w3.org/TR/trace-context/). Otherwise the request begins a trace. */
#ifndef WT_SERVE_TRACE_H
#define WT_SERVE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "http/exchange.h"

enum {
    TRACE_PARENT_BYTES = 56,    /* "00-TRACE-SPAN-01" with its NUL */
    TRACE_ID_BYTES = 33,        /* 32 hexadecimal digits with their NUL */
    TRACE_SPANS_MAX = 8,        /* spans within a request; further ones are counted, but not recorded */
    REQUEST_ID_BYTES_MAX = 128, /* maximum length of an X-Request-Id */
};

struct trace_context {
    uint64_t trace[2]; /* the trace's id: first and last eight bytes; not both 0 */
    uint64_t parent;   /* id of the caller's span; 0 if this request begins the trace */
    bool is_sampled;   /* the trace is exported */
};

/* Parses the value of a traceparent. Returns false if it is invalid; then it must be ignored. */
bool wt__trace_parse(struct str text, struct trace_context *out);
/* Writes the traceparent of a span of the trace. */
void wt__trace_format(char out[TRACE_PARENT_BYTES], const struct trace_context *context, uint64_t span);
void wt__trace_id_format(char out[TRACE_ID_BYTES], const struct trace_context *context);

/* Decides which traces are exported, as OTEL_TRACES_SAMPLER. */
struct trace_sampler {
    enum { SAMPLE_ALL, SAMPLE_NONE, SAMPLE_SHARE } root; /* for a trace that begins here, or if the parent is ignored */
    bool ignores_parent;                                 /* false: follow the caller's decision if there is a caller */
    double share;                                        /* 0 to 1, for SAMPLE_SHARE */
};
bool wt__trace_is_sampled(const struct trace_sampler *sampler, const struct trace_context *context);

/* Makes ids that are unique, but not secret. */
struct trace_source {
    struct trace_sampler sampler;
    bool exports; /* spans are exported; otherwise contexts are only passed on */
    uint64_t seeds[2];
    atomic_uint_fast64_t next;
};
/* Errors: WT_EIO (no random numbers). */
int wt__trace_source_open(struct trace_source *source, const struct trace_sampler *sampler, bool exports,
                          wt_error *err);

enum trace_stage { TRACE_ENCODE, TRACE_RETRIEVE, TRACE_RERANK, TRACE_CHOOSE, TRACE_UPSTREAM, TRACE_STAGES };
/* Returns "encode", ... */
const char *wt__trace_stage_word(enum trace_stage stage);

/* A part of a request. */
struct trace_span {
    enum trace_stage stage;
    bool failed;
    double begun_ms, ended_ms; /* on the clock of wt__now_ms */
    uint64_t id;
    const char *server; /* name of the upstream server, or NULL; outlives the HTTP server */
};

struct request_trace {
    struct trace_source *source;     /* NULL before wt__trace_begin */
    const struct http_request *head; /* the request with this note */
    char request_id[REQUEST_ID_BYTES_MAX + 1];
    bool has_parent; /* the header traceparent was valid */
    struct trace_context context;
    uint64_t span;                /* id of the request's own span */
    struct trace_context adopted; /* context of MCP; valid if is_adopted */
    atomic_bool is_adopted;
    _Atomic(const char *) method; /* method of an MCP request, a constant; NULL for other requests */
    _Atomic(const char *) recipe; /* recipe of the request's search, a constant; NULL without a search */
    atomic_bool is_stream;        /* the client decides how long the answer takes */
    atomic_uint claimed;          /* places of `spans` in use, or more if they did not suffice */
    atomic_bool complete[TRACE_SPANS_MAX];
    struct trace_span spans[TRACE_SPANS_MAX];
};

/* Fills the zeroed or used note of a request whose head has arrived. */
void wt__trace_begin(struct request_trace *trace, struct trace_source *source, const struct http_request *head);

/* The functions below do nothing for a trace that is NULL or not begun. Any thread. */

/* Notes the method of an MCP request. Takes the context from its traceparent unless the header had one. method: a
 * constant; parent: "" if absent. One call for a request. */
void wt__trace_adopt(struct request_trace *trace, const char *method, struct str parent);
/* Returns the context in force; all zeros without a trace. */
struct trace_context wt__trace_context(const struct request_trace *trace);
/* True if the request's trace id is of use to others: it came with the request, or its spans are exported. */
bool wt__trace_is_known(const struct request_trace *trace);

/* Adds a span. */
void wt__trace_add(struct request_trace *trace, const struct trace_span *span);
/* Adds the span of a stage that took time. */
void wt__trace_add_stage(struct request_trace *trace, enum trace_stage stage, double begun_ms, double ended_ms);
/* Notes that the answer is a stream of notices, which ends when the client closes it. */
void wt__trace_note_stream(struct request_trace *trace);
struct search_times;
/* Adds the stages of a search that ran (query/search.h). The retrieval includes the encoding. recipe: recipe that ran,
 * or "" if only texts were encoded. */
void wt__trace_add_search(struct request_trace *trace, const char *recipe, const struct search_times *times);
/* Returns an id for a span that will be added; 0 without a trace. */
uint64_t wt__trace_new_span(struct request_trace *trace);
/* Copies the complete spans to out. Returns their number. *missed: number of spans that found no place. */
size_t wt__trace_spans(const struct request_trace *trace, struct trace_span out[TRACE_SPANS_MAX], size_t *missed);

#endif
