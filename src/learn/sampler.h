/* sampler.h: which examples a batch has.
 *
 * The examples lie in parts, one behind the other, and a batch has examples of one part: what is learned by contrast
 * with the rest of the batch says nothing where that comes from another catalogue. Parts take turns in proportion to
 * the square root of their size, so that large ones do not drown the others nor small ones come too often: batch after
 * batch by the method of Sainte-Lague, which keeps the shares at any time and draws no lots. Within a part the batches
 * are one endless row of its epochs, each in an order of its own.
 *
 * Batch number b is the same whatever was asked before: of (seed, b) alone. One part is all examples in one row. */
#ifndef WT_LEARN_SAMPLER_H
#define WT_LEARN_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"

/* Different streams of one seed. */
enum stream { STREAM_ORDER = 1, STREAM_STEP = 2 };
void wt__seed_stream(struct rng *rng, uint64_t seed, enum stream stream, uint64_t number);

struct sampled_part {
    size_t first, count; /* examples */
    uint64_t epoch;      /* that the order is of; UINT64_MAX: of none */
    uint64_t batches;    /* that it had before batch `next` */
};

struct sampler {
    uint64_t seed;
    size_t batch;
    struct sampled_part *parts; /* [part_count] */
    size_t part_count;
    uint32_t *order; /* [examples] of an epoch, each part's in its place */
    uint64_t next;   /* batch */
};

/* ends: [part_count] where the examples of each part end, the last of them all. A batch has `batch` of them, or all of
 * a part that has fewer; a part without any has no batch. WT_ENOMEM. */
int wt__sampler_open(struct sampler *out, uint64_t seed, size_t batch, const size_t *ends, size_t part_count,
                     wt_error *err);
void wt__sampler_dispose(struct sampler *sampler);

/* The examples of a batch, chosen [batch]; returns how many. Batches one after the other are found at once. */
size_t wt__sampler_choose(struct sampler *sampler, uint64_t batch, uint32_t *chosen);

#endif
