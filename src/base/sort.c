#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INSERTED_MAX = 32 };

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

/* What a request sorts is short: inserted, or dealt out byte by byte, the least significant first, without bytes that
 * all values share (radix sort). */
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
    static void deal_##name(type *values, size_t count)                                                                \
    {                                                                                                                  \
        type room[SORT_DEALT_MAX], *from = values, *to = room, differ = 0;                                             \
        for (size_t i = 1; i < count; i++)                                                                             \
            differ |= values[i] ^ values[0];                                                                           \
        for (unsigned shift = 0; shift < 8 * sizeof(type); shift += 8) {                                               \
            uint16_t places[256] = {0}, place = 0;                                                                     \
            if ((differ >> shift & 0xff) == 0)                                                                         \
                continue;                                                                                              \
            for (size_t i = 0; i < count; i++)                                                                         \
                places[from[i] >> shift & 0xff]++;                                                                     \
            for (size_t byte = 0; byte < 256; byte++) {                                                                \
                uint16_t many = places[byte];                                                                          \
                places[byte] = place;                                                                                  \
                place = (uint16_t)(place + many);                                                                      \
            }                                                                                                          \
            for (size_t i = 0; i < count; i++)                                                                         \
                to[places[from[i] >> shift & 0xff]++] = from[i];                                                       \
            type *dealt = to;                                                                                          \
            to = from;                                                                                                 \
            from = dealt;                                                                                              \
        }                                                                                                              \
        if (from != values)                                                                                            \
            memcpy(values, from, count * sizeof *values);                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void wt__sort_##name(type *values, size_t count)                                                                   \
    {                                                                                                                  \
        if (count <= INSERTED_MAX)                                                                                     \
            insert_##name(values, count);                                                                              \
        else if (count <= SORT_DEALT_MAX)                                                                              \
            deal_##name(values, count);                                                                                \
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
