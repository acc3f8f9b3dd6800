/* distance.h: distances between two tokens as rows of a learned table. A bucket holds the distances that share a row:
 * near ones have one each, farther ones share, by logarithm. The bucket of every distance is worked out once, into a
 * table that attention reads; beyond `reach` all count as that far. */
#ifndef WT_NN_DISTANCE_H
#define WT_NN_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

/* Distances are query's position - key's position. */
struct distances {
    const int32_t *bucket; /* [2 reach + 1], of -reach .. reach; each 0 .. count - 1 */
    int32_t reach;
    int32_t count; /* rows of the learned table */
};

enum {
    DISTANCE_MPNET_BUCKETS = 32, /* fixed in the model's code, not in its config */
    DISTANCE_MPNET_REACH = 128,
    DISTANCE_MAX_REACH = 1 << 20
};

/* The place in `bucket` of the distance from row i (the query) to row j; positions NULL: a row's place is its number.
 */
static inline size_t wt__distance_near(const int32_t *positions, size_t i, size_t j, int64_t reach)
{
    int64_t distance = positions ? (int64_t)positions[i] - positions[j] : (int64_t)i - (int64_t)j;

    return (size_t)((distance < -reach ? -reach : distance > reach ? reach : distance) + reach);
}

/* MPNet (as T5): 8 near buckets and 8 by logarithm up to 128, for keys before the query; 16 more for those after.
 * bucket: [2 DISTANCE_MPNET_REACH + 1], owned by the caller, who keeps it as long as `out`. */
void wt__distances_mpnet(struct distances *out, int32_t *bucket);

/* DeBERTa-v2, v3. buckets: position_buckets, or 0 or less for none, then a distance is its own bucket. max:
 * max_relative_positions, or max_position_embeddings where that is below 1. The learned table has 2 span rows, span =
 * buckets or else max. 0 < max <= DISTANCE_MAX_REACH; buckets
 * even, and 4 to max. bucket: [2 max + 1], owned by the caller. */
void wt__distances_deberta(struct distances *out, int32_t *bucket, int32_t buckets, int32_t max);

#endif
