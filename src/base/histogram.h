/* histogram.h: a histogram of durations that any thread may add to without a lock. */
#ifndef WT_BASE_HISTOGRAM_H
#define WT_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 18 }; /* buckets with an upper bound */

/* Upper bounds of the buckets in seconds, ascending. A duration belongs to the first bucket whose bound it does not
 * exceed. */
extern const double wt__histogram_bounds[HISTOGRAM_BUCKETS];

/* A zeroed struct is empty. */
struct histogram {
    atomic_uint_fast64_t buckets[HISTOGRAM_BUCKETS + 1]; /* the last bucket has no upper bound */
    atomic_uint_fast64_t microseconds;                   /* sum of the durations */
};

/* Adds a duration in milliseconds. A negative duration counts as 0. */
void wt__histogram_add(struct histogram *histogram, double ms);

/* A copy at one moment. While other threads add, a bucket may include a duration that the sum lacks. */
struct histogram_counts {
    uint64_t buckets[HISTOGRAM_BUCKETS + 1];
    uint64_t count; /* sum of the buckets */
    double seconds;
};
void wt__histogram_read(const struct histogram *histogram, struct histogram_counts *out);

#endif
