/* sort.h: plain values in ascending order. An empty list may be NULL. A list with a NaN keeps its values, in an order
 * that is left open. */
#ifndef WT_BASE_SORT_H
#define WT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Lists of whole numbers that are not longer take no memory but the stack's. */
enum { SORT_MERGED_MAX = 2048 };

void wt__sort_u32(uint32_t *values, size_t count);
void wt__sort_u64(uint64_t *values, size_t count);
void wt__sort_i64(int64_t *values, size_t count);
void wt__sort_sizes(size_t *values, size_t count);
void wt__sort_floats(float *values, size_t count);
void wt__sort_doubles(double *values, size_t count);
/* By bytes, as strcmp. */
void wt__sort_texts(char **texts, size_t count);

/* Sorts, and leaves each value once: how many. */
size_t wt__sort_unique_u32(uint32_t *values, size_t count);
size_t wt__sort_unique_u64(uint64_t *values, size_t count);

/* Where the first value of an ascending list lies that is not below this one; count: all are. */
size_t wt__lower_bound_u32(const uint32_t *sorted, size_t count, uint32_t value);
size_t wt__lower_bound_u64(const uint64_t *sorted, size_t count, uint64_t value);
size_t wt__lower_bound_i64(const int64_t *sorted, size_t count, int64_t value);

/* The smallest of the values that at least percent % of them do not exceed (nearest rank): always a value that was
 * measured. sorted: [count], ascending; 0 when there are none. 0 < percent <= 100. */
double wt__percentile(const double *sorted, size_t count, double percent);

#endif
