/* distance.h: maps the distance between two tokens to a row of a learned table. Distances in one bucket share a row:
 * each near distance has its own bucket, farther ones share logarithmic buckets. The buckets are computed once into a
 * lookup table for attention. Distances are clamped to -reach .. reach. */
#ifndef WT_NN_DISTANCE_H
#define WT_NN_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

/* A distance is the position of the query minus the position of the key. */
struct distances {
    const int32_t *bucket; /* [2 reach + 1] buckets of -reach .. reach, each 0 .. count - 1 */
    int32_t reach;
    int32_t count; /* rows of the learned table */
};

enum {
    DISTANCE_MPNET_BUCKETS = 32, /* fixed in the code of the model, not in its config */
    DISTANCE_MPNET_REACH = 128,
    DISTANCE_MAX_REACH = 1 << 20
};

/* Returns the index into `bucket` for the distance from row i (the query) to row j (the key). If positions is NULL, the
 * position of a row is its index. */
static inline size_t wt__distance_index(const int32_t *positions, size_t i, size_t j, int64_t reach)
{
    int64_t distance = positions ? (int64_t)positions[i] - positions[j] : (int64_t)i - (int64_t)j;

    return (size_t)((distance < -reach ? -reach : distance > reach ? reach : distance) + reach);
}

/* Fills the buckets of MPNet (as in T5): for keys before the query 8 near buckets and 8 logarithmic ones up to 128, and
 * 16 more for keys after the query. bucket [2 DISTANCE_MPNET_REACH + 1] belongs to the caller and must live as long as
 * `out`. */
void wt__distances_mpnet(struct distances *out, int32_t *bucket);

/* Fills the buckets of DeBERTa-v2 and v3. buckets is position_buckets, even and 4 to max; or 0 or less, then each
 * distance is its own bucket. max is max_relative_positions, or max_position_embeddings if that is below 1;
 * 0 < max <= DISTANCE_MAX_REACH. The learned table has 2 * span rows, where span is buckets if positive, else max.
 * bucket [2 max + 1] belongs to the caller and must live as long as `out`. */
void wt__distances_deberta(struct distances *out, int32_t *bucket, int32_t buckets, int32_t max);

#endif
