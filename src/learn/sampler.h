/* sampler.h: selects the examples of each batch.
 *
 * Examples lie in consecutive parts, and a batch has examples of one part: contrast with a tool of another catalogue
 * would teach nothing. Parts take turns in proportion to the square root of their size, so that large parts do not
 * dominate and small ones do not repeat too often. Turns follow the Sainte-Lague method, which keeps these shares at
 * any time without random draws. Within a part, batches run through an endless sequence of epochs, each with an order
 * of its own.
 *
 * Batch number b depends only on (seed, b), not on earlier calls. A single part is one sequence of all examples. */
#ifndef WT_LEARN_SAMPLER_H
#define WT_LEARN_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"

/* Random streams of one seed. */
enum stream { STREAM_ORDER = 1, STREAM_STEP = 2 };
void wt__seed_stream(struct rng *rng, uint64_t seed, enum stream stream, uint64_t number);

struct sampled_part {
    size_t first, count; /* examples */
    uint64_t epoch;      /* epoch of the current order; UINT64_MAX before the first */
    uint64_t batches;    /* number of its batches before batch `next` */
};

struct sampler {
    uint64_t seed;
    size_t batch;
    struct sampled_part *parts; /* [part_count] */
    size_t part_count;
    uint32_t *order; /* [examples] order within an epoch, each part in its place */
    uint64_t next;   /* number of the next batch */
};

/* Opens a sampler. ends: [part_count] ends of the parts, the last equal to the number of examples. A batch has `batch`
 * examples, or all of a smaller part; an empty part has no batches. WT_ENOMEM. */
int wt__sampler_open(struct sampler *out, uint64_t seed, size_t batch, const size_t *ends, size_t part_count,
                     wt_error *err);
void wt__sampler_dispose(struct sampler *sampler);

/* Selects the examples of a batch into chosen [batch]. Returns their number. Consecutive batches take constant time. */
size_t wt__sampler_choose(struct sampler *sampler, uint64_t batch, uint32_t *chosen);

#endif
