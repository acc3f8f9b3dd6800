/* metrics.h: counts requests and their stages, and writes metrics in the Prometheus text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). docs/operations.md lists all metrics.
 *
 * All counters are atomic, and counting neither blocks nor allocates. Labels come from fixed lists or from the
 * operator's configuration, so clients cannot create new labels. */
#ifndef WT_SERVE_METRICS_H
#define WT_SERVE_METRICS_H

#include <stdatomic.h>

#include "base/buffer.h"
#include "base/histogram.h"
#include "http/server.h"
#include "serve/trace.h"

enum {
    METRICS_ROUTES = 48,   /* further routes, and unknown paths, count as "other" */
    METRICS_STATUSES = 25, /* further statuses count as "other" */
    METRICS_RECIPES = 64,  /* further recipes count as "mixture" */
};

struct metrics {
    const char *routes[METRICS_ROUTES]; /* labels, set before the first request */
    size_t route_count;
    atomic_uint_fast64_t requests[METRICS_ROUTES + 1][METRICS_STATUSES + 1];
    struct histogram durations[METRICS_ROUTES + 1];  /* by route */
    struct histogram stages[TRACE_UPSTREAM];         /* by enum trace_stage; the gateway counts requests to servers */
    atomic_uint_fast64_t finds[METRICS_RECIPES + 1]; /* indexed like wt_recipe_at */
    atomic_uint_fast64_t imports;                    /* number of imports */
    atomic_uint_fast64_t missed_spans;               /* spans beyond TRACE_SPANS_MAX of a request */
};

/* Counts a request. route: index in `routes`, or any larger value for "other". */
void wt__metrics_count_request(struct metrics *metrics, size_t route, int status);
/* Adds the duration of a request. */
void wt__metrics_time_request(struct metrics *metrics, size_t route, double ms);
/* Counts the stages among the spans of a request. */
void wt__metrics_count_spans(struct metrics *metrics, const struct trace_span *spans, size_t count, size_t missed);
void wt__metrics_count_find(struct metrics *metrics, const char *recipe);
/* Returns the label of a route. */
const char *wt__metrics_route(const struct metrics *metrics, size_t route);
/* Appends all counters. */
void wt__metrics_write(struct metrics *metrics, struct buffer *out);

/* The functions below write metrics of any module. A module with many values of a metric begins it once. */

/* Appends the HELP and TYPE lines. kind: "gauge", "counter" or "histogram". help: plain text on one line. */
void wt__metric_begin(struct buffer *out, const char *name, const char *kind, const char *help);
/* Appends one value. labels: as from wt__metric_label, or "". */
void wt__metric_value(struct buffer *out, const char *name, const char *labels, double value);
/* Appends a metric with one value. */
void wt__metric_write(struct buffer *out, const char *name, const char *kind, const char *help, double value);
/* Appends the buckets, sum and count of a histogram, unless it is empty. */
void wt__metric_histogram(struct buffer *out, const char *name, const char *labels, const struct histogram *histogram);
/* Appends a label, such as server="a", with its value escaped; after a comma unless it is the first. */
void wt__metric_label(struct buffer *labels, const char *name, const char *value);

/* Appends the figures of the process, under the names of Prometheus' client libraries: memory, processor time, open
 * files, threads and start time. Figures that the system does not provide are left out. started: Unix time in
 * seconds. */
void wt__metrics_write_process(struct buffer *out, double started);

#endif
