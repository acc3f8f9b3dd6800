#include "base/sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { INSERTED_MAX = 8 };

#define COMPARE(name, type)                                                                                            \
    static int compare_##name(const void *a, const void *b)                                                            \
    {                                                                                                                  \
        type x = *(const type *)a, y = *(const type *)b;                                                               \
        return (x > y) - (x < y);                                                                                      \
    }

#define SORT(name, type)                                                                                               \
    COMPARE(name, type)                                                                                                \
                                                                                                                       \
    void wt__sort_##name(type *values, size_t count)                                                                   \
    {                                                                                                                  \
        if (count > 1)                                                                                                 \
            qsort(values, count, sizeof *values, compare_##name);                                                      \
    }

/* Sorts lists of up to SORT_MERGED_MAX values by insertion sort in runs of INSERTED_MAX, followed by merge sort. Longer
 * lists are sorted by qsort. The lists that a search sorts are short. */
#define SORT_UNSIGNED(name, type)                                                                                      \
    COMPARE(name, type)                                                                                                \
                                                                                                                       \
    static void insert_##name(type *values, size_t count)                                                              \
    {                                                                                                                  \
        for (size_t i = 1; i < count; i++) {                                                                           \
            type value = values[i];                                                                                    \
            size_t at = i;                                                                                             \
            for (; at > 0 && values[at - 1] > value; at--)                                                             \
                values[at] = values[at - 1];                                                                           \
            values[at] = value;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* Merges two adjacent sorted lists into `to`. Comparing values needs no branch, which would be unpredictable. */  \
    static void merge_##name(const type *from, size_t first, size_t count, type *to)                                   \
    {                                                                                                                  \
        size_t a = 0, b = first;                                                                                       \
        for (size_t i = 0; i < count && a < first && b < count; i++) {                                                 \
            bool second = from[b] < from[a];                                                                           \
            to[a + b - first] = second ? from[b] : from[a];                                                            \
            b += second;                                                                                               \
            a += !second;                                                                                              \
        }                                                                                                              \
        size_t at = a + b - first, left = a < first ? first - a : count - b;                                           \
        memcpy(to + at, from + (a < first ? a : b), left * sizeof *to);                                                \
    }                                                                                                                  \
                                                                                                                       \
    static void merge_all_##name(type *values, size_t count)                                                           \
    {                                                                                                                  \
        type room[SORT_MERGED_MAX], *from = values, *to = room;                                                        \
        for (size_t first = 0; first < count; first += INSERTED_MAX)                                                   \
            insert_##name(values + first, count - first < INSERTED_MAX ? count - first : INSERTED_MAX);                \
        for (size_t len = INSERTED_MAX; len < count; len *= 2) {                                                       \
            for (size_t first = 0; first < count; first += 2 * len) {                                                  \
                size_t left = count - first;                                                                           \
                merge_##name(from + first, left < len ? left : len, left < 2 * len ? left : 2 * len, to + first);      \
            }                                                                                                          \
            type *merged = to;                                                                                         \
            to = from;                                                                                                 \
            from = merged;                                                                                             \
        }                                                                                                              \
        if (from != values)                                                                                            \
            memcpy(values, from, count * sizeof *values);                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void wt__sort_##name(type *values, size_t count)                                                                   \
    {                                                                                                                  \
        if (count <= SORT_MERGED_MAX)                                                                                  \
            merge_all_##name(values, count);                                                                           \
        else                                                                                                           \
            qsort(values, count, sizeof *values, compare_##name);                                                      \
    }

SORT_UNSIGNED(u32, uint32_t)
SORT_UNSIGNED(u64, uint64_t)
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

#define LOWER_BOUND(name, type)                                                                                        \
    size_t wt__lower_bound_##name(const type *sorted, size_t count, type value)                                        \
    {                                                                                                                  \
        size_t low = 0, high = count;                                                                                  \
        while (low < high) {                                                                                           \
            size_t middle = low + (high - low) / 2;                                                                    \
            if (sorted[middle] < value)                                                                                \
                low = middle + 1;                                                                                      \
            else                                                                                                       \
                high = middle;                                                                                         \
        }                                                                                                              \
        return low;                                                                                                    \
    }

LOWER_BOUND(u32, uint32_t)
LOWER_BOUND(u64, uint64_t)
LOWER_BOUND(i64, int64_t)

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
    /* Without 1e-9, rounding errors could raise the rank: in floating point, .07 * 100 is above 7. */
    double rank = ceil(percent / 100 * (double)count - 1e-9);
    size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[index < count ? index : count - 1];
}
