/* sort.h: sorts plain values in ascending order. An empty list may be NULL. A list with a NaN keeps its values in an
 * unspecified order. */
#ifndef WT_BASE_SORT_H
#define WT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Unsigned lists up to this length are sorted without allocating memory. */
enum { SORT_MERGED_MAX = 2048 };

void wt__sort_u32(uint32_t *values, size_t count);
void wt__sort_u64(uint64_t *values, size_t count);
void wt__sort_i64(int64_t *values, size_t count);
void wt__sort_sizes(size_t *values, size_t count);
void wt__sort_floats(float *values, size_t count);
void wt__sort_doubles(double *values, size_t count);
/* Sorts by bytes, like strcmp. */
void wt__sort_texts(char **texts, size_t count);

/* Sort and remove duplicates. Return the number of values left. */
size_t wt__sort_unique_u32(uint32_t *values, size_t count);
size_t wt__sort_unique_u64(uint64_t *values, size_t count);

/* Return the index of the first element that is not less than value, or count if all are less. */
size_t wt__lower_bound_u32(const uint32_t *sorted, size_t count, uint32_t value);
size_t wt__lower_bound_u64(const uint64_t *sorted, size_t count, uint64_t value);
size_t wt__lower_bound_i64(const int64_t *sorted, size_t count, int64_t value);

/* Returns the nearest-rank percentile: the smallest element with at least percent % of the elements not above it.
 * sorted: [count], ascending. 0 < percent <= 100. Returns 0 if count is 0. */
double wt__percentile(const double *sorted, size_t count, double percent);

#endif
