#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SORT(name, type)                                                                                               \
    static int compare_##name(const void *a, const void *b)                                                            \
    {                                                                                                                  \
        type x = *(const type *)a, y = *(const type *)b;                                                               \
        return (x > y) - (x < y);                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    void wt__sort_##name(type *values, size_t count)                                                                   \
    {                                                                                                                  \
        if (count > 1)                                                                                                 \
            qsort(values, count, sizeof *values, compare_##name);                                                      \
    }

SORT(u32, uint32_t)
SORT(u64, uint64_t)
SORT(i64, int64_t)
SORT(sizes, size_t)
SORT(floats, float)
SORT(doubles, double)

#define SORT_UNIQUE(name, type)                                                                                        \
    size_t wt__sort_unique_##name(type *values, size_t count)                                                          \
    {                                                                                                                  \
        size_t kept = 0;                                                                                               \
        wt__sort_##name(values, count);                                                                                \
        for (size_t i = 0; i < count; i++)                                                                             \
            if (kept == 0 || values[i] != values[kept - 1])                                                            \
                values[kept++] = values[i];                                                                            \
        return kept;                                                                                                   \
    }

SORT_UNIQUE(u32, uint32_t)
SORT_UNIQUE(u64, uint64_t)

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void wt__sort_texts(char **texts, size_t count)
{
    if (count > 1)
        qsort(texts, count, sizeof *texts, compare_texts);
}

double wt__percentile(const double *sorted, size_t count, double percent)
{
    if (count == 0)
        return 0;
    /* The small step back keeps 95 % of 20 at 19, whatever the rounding of .95 * 20. */
    double rank = ceil(percent / 100 * (double)count - 1e-9);
    size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[index < count ? index : count - 1];
}
