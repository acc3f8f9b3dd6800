/* metrics.h: counts requests, and writes the metrics in the Prometheus text format 0.0.4. Also writes lines of the
 * access log.
 *
 * All counters are atomic, and counting never blocks. Labels come from fixed lists, so clients cannot create new
 * labels. */
#ifndef WT_SERVE_METRICS_H
#define WT_SERVE_METRICS_H

#include <stdatomic.h>

#include "base/buffer.h"
#include "http/server.h"

enum {
    METRICS_ROUTES = 48,   /* further routes, and unknown paths, count as "other" */
    METRICS_STATUSES = 24, /* further statuses count as "other" */
    METRICS_RECIPES = 64,  /* further recipes count as "mixture" */
    METRICS_BUCKETS = 13,  /* buckets of durations with an upper bound */
};

struct metrics {
    const char *routes[METRICS_ROUTES]; /* labels, set before the first request */
    size_t route_count;
    atomic_uint_fast64_t requests[METRICS_ROUTES + 1][METRICS_STATUSES + 1];
    atomic_uint_fast64_t buckets[METRICS_ROUTES + 1][METRICS_BUCKETS + 1]; /* the last bucket is +Inf */
    atomic_uint_fast64_t microseconds[METRICS_ROUTES + 1];                 /* sum of the durations */
    atomic_uint_fast64_t finds[METRICS_RECIPES + 1];                       /* indexed like wt_recipe_at */
    atomic_uint_fast64_t imports;                                          /* number of imports */
};

/* Counts a request. route: index in `routes`, or any larger value for "other". ms: duration of the request. */
void wt__metrics_count_request(struct metrics *metrics, size_t route, int status, double ms);
void wt__metrics_count_find(struct metrics *metrics, const char *recipe);
/* Appends all counters. */
void wt__metrics_write(struct metrics *metrics, struct buffer *out);
/* Appends one metric with its HELP and TYPE lines. kind: "gauge" or "counter". */
void wt__metric_write(struct buffer *out, const char *name, const char *kind, const char *help, double value);

/* Data for a line of the access log. Each request gets one line, as text or JSON. */
struct access {
    const struct http_record *record;
    const char *principal; /* name of the key, "" if unknown */
    struct str asked;      /* request body; empty to omit it from the line */
    long long seconds;     /* Unix time in seconds */
};

void wt__access_text(struct buffer *out, const struct access *access);
void wt__access_json(struct buffer *out, const struct access *access);

#endif
