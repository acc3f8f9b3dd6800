#include "learn/sampler.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

void wt__seed_stream(struct rng *rng, uint64_t seed, enum stream stream, uint64_t number)
{
    wt__rng_seed(rng, seed);
    uint64_t mixed = wt__rng_next(rng) ^ (number * 4 + stream);
    wt__rng_seed(rng, mixed);
}

int wt__sampler_open(struct sampler *out, uint64_t seed, size_t batch, const size_t *ends, size_t part_count,
                     wt_error *err)
{
    *out = (struct sampler){.seed = seed, .batch = batch, .part_count = part_count};
    out->parts = wt__alloc_array(part_count, sizeof *out->parts);
    out->order = wt__alloc_array(ends[part_count - 1], sizeof *out->order);
    if (!out->parts || !out->order) {
        wt__sampler_dispose(out);
        return wt__fail_nomem(err);
    }
    for (size_t p = 0, first = 0; p < part_count; first = ends[p++])
        out->parts[p] = (struct sampled_part){.first = first, .count = ends[p] - first, .epoch = UINT64_MAX};
    return 0;
}

void wt__sampler_dispose(struct sampler *sampler)
{
    free(sampler->parts);
    free(sampler->order);
    *sampler = (struct sampler){0};
}

static void shuffle_part(struct sampler *sampler, struct sampled_part *part, uint64_t epoch)
{
    struct rng rng;
    uint32_t *order = sampler->order + part->first;
    if (part->epoch == epoch)
        return;
    wt__seed_stream(&rng, sampler->seed, STREAM_ORDER, (uint64_t)(part - sampler->parts) << 32 | epoch);
    for (size_t i = 0; i < part->count; i++)
        order[i] = (uint32_t)(part->first + i);
    for (size_t i = part->count; i > 1; i--) {
        size_t other = (size_t)wt__rng_below(&rng, i);
        uint32_t moved = order[i - 1];
        order[i - 1] = order[other];
        order[other] = moved;
    }
    part->epoch = epoch;
}

/* Returns the part whose turn it is: the highest quotient of weight and 2 batches + 1, the first one at a tie. */
static struct sampled_part *choose_next_part(const struct sampler *sampler)
{
    struct sampled_part *best = sampler->parts;
    double most = -1;
    for (size_t p = 0; p < sampler->part_count; p++) {
        struct sampled_part *part = &sampler->parts[p];
        double quotient = sqrt((double)part->count) / (2 * (double)part->batches + 1);
        if (part->count > 0 && quotient > most) {
            most = quotient;
            best = part;
        }
    }
    return best;
}

size_t wt__sampler_choose(struct sampler *sampler, uint64_t batch, uint32_t *chosen)
{
    if (batch < sampler->next) {
        sampler->next = 0;
        for (size_t p = 0; p < sampler->part_count; p++)
            sampler->parts[p].batches = 0;
    }
    for (; sampler->next < batch; sampler->next++)
        choose_next_part(sampler)->batches++;
    struct sampled_part *part = choose_next_part(sampler);
    size_t count = sampler->batch < part->count ? sampler->batch : part->count;
    for (size_t i = 0; i < count; i++) {
        uint64_t at = part->batches * count + i;
        shuffle_part(sampler, part, at / part->count);
        chosen[i] = sampler->order[part->first + at % part->count];
    }
    part->batches++;
    sampler->next++;
    return count;
}
