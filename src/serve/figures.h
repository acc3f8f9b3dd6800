/* figures.h: what the server counts, as Prometheus reads it (text format 0.0.4). All counters are atomic; nothing here
 * waits. Labels are from fixed lists, so that no client can make more of them. */
#ifndef WT_SERVE_FIGURES_H
#define WT_SERVE_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    FIGURES_ROUTES = 48,   /* beyond them, and for no route: "other" */
    FIGURES_STATUSES = 24, /* the same */
    FIGURES_RECIPES = 64,
    FIGURES_BUCKETS = 13,
};

struct figures {
    const char *routes[FIGURES_ROUTES]; /* labels, filled before anything is counted */
    size_t route_count;
    atomic_uint_fast64_t requests[FIGURES_ROUTES + 1][FIGURES_STATUSES + 1];
    atomic_uint_fast64_t buckets[FIGURES_ROUTES + 1][FIGURES_BUCKETS + 1]; /* the last: +Inf */
    atomic_uint_fast64_t microseconds[FIGURES_ROUTES + 1];
    atomic_uint_fast64_t finds[FIGURES_RECIPES + 1]; /* by wt_recipe_at's index */
    atomic_uint_fast64_t imports;
};

void wt__figures_request(struct figures *figures, size_t route, int status, double ms); /* route: an index, or over */
void wt__figures_find(struct figures *figures, const char *recipe);
/* Appends the counters. */
void wt__figures_write(struct figures *figures, struct buffer *out);
/* One more figure: "# HELP", "# TYPE" and the value. kind: "gauge", "counter". */
void wt__figure_write(struct buffer *out, const char *name, const char *kind, const char *help, double value);

#endif
