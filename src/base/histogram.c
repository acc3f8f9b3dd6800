#include "base/histogram.h"

#include <stddef.h>

const double wt__histogram_bounds[HISTOGRAM_BUCKETS] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

void wt__histogram_add(struct histogram *histogram, double ms)
{
    size_t bucket = 0;
    while (bucket < HISTOGRAM_BUCKETS && ms / 1000 > wt__histogram_bounds[bucket])
        bucket++;
    atomic_fetch_add_explicit(&histogram->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->microseconds, ms > 0 ? (uint_fast64_t)(ms * 1000) : 0, memory_order_relaxed);
}

void wt__histogram_read(const struct histogram *histogram, struct histogram_counts *out)
{
    out->count = 0;
    for (size_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
        out->buckets[i] = atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        out->count += out->buckets[i];
    }
    out->seconds = (double)atomic_load_explicit(&histogram->microseconds, memory_order_relaxed) / 1e6;
}
