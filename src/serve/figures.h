/* figures.h: server metrics in the Prometheus text format 0.0.4. All counters are atomic, and counting never blocks.
 * Labels come from fixed lists, so clients cannot create new ones. */
#ifndef WT_SERVE_FIGURES_H
#define WT_SERVE_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    FIGURES_ROUTES = 48,   /* further routes, and unknown paths, count as "other" */
    FIGURES_STATUSES = 24, /* further statuses count as "other" */
    FIGURES_RECIPES = 64,
    FIGURES_BUCKETS = 13,
};

struct figures {
    const char *routes[FIGURES_ROUTES]; /* labels, set before the first request */
    size_t route_count;
    atomic_uint_fast64_t requests[FIGURES_ROUTES + 1][FIGURES_STATUSES + 1];
    atomic_uint_fast64_t buckets[FIGURES_ROUTES + 1][FIGURES_BUCKETS + 1]; /* the last is +Inf */
    atomic_uint_fast64_t microseconds[FIGURES_ROUTES + 1];
    atomic_uint_fast64_t finds[FIGURES_RECIPES + 1]; /* indexed like wt_recipe_at */
    atomic_uint_fast64_t imports;
};

void wt__figures_request(struct figures *figures, size_t route, int status,
                         double ms); /* route: index, or any larger value for "other" */
void wt__figures_find(struct figures *figures, const char *recipe);
/* Appends all counters. */
void wt__figures_write(struct figures *figures, struct buffer *out);
/* Appends one metric with its HELP and TYPE lines. kind: "gauge" or "counter". */
void wt__figure_write(struct buffer *out, const char *name, const char *kind, const char *help, double value);

#endif
