/* triplet.c: trains the encoder to move requests that share a tool closer to each other than requests that share none.
 * Uses triplets (Tool2Vec, section 5.1.1, which gives no details), mined as in the authors' code: Euclidean distance,
 * margin 1, on pooled vectors that are not normalised.
 *
 * The nearest requests of each request are mined once, with the initial encoder; a request is not its own positive. Of
 * these, the first few that share a tool are positives, and the first few that share none are negatives. An example is
 * one random pair of them in each step, while the authors take every pair. */
#include "learn/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/topk.h"
#include "nn/loss.h"
#include "nn/matmul.h"

enum {
    NEAR = 5,   /* positives, and negatives, per request */
    LOOK = 100, /* nearest requests that are searched for them */
    BLOCK = 64, /* requests per block */
    PART = 8192 /* requests that a block is compared with at once */
};
static const float MARGIN = 1;

/* Neighbours of one request. */
struct mined_neighbours {
    uint32_t positives[NEAR], negatives[NEAR];
    uint8_t positive_count, negative_count;
};

struct triplet_step {
    struct mined_neighbours *near; /* [examples] */
    size_t drawn;                  /* triplets of this step: texts 3 i, 3 i + 1, 3 i + 2 */
    float *side[3];                /* [batch, H] anchors, positives, negatives */
    float *dside[3];
};

static size_t measure_triplets_step(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t hidden = wt__trainable_config(tuning->model)->hidden, requests = tuning->requests.count;
    limits->texts = 3 * tuning->batch;
    limits->rows = 3 * wt__token_texts_longest(&tuning->requests, tuning->batch);
    return (6 * tuning->batch * hidden + requests * hidden + (size_t)BLOCK * PART) * sizeof(float) +
           requests * sizeof(struct mined_neighbours);
}

/* ---------------------------------------------------------------- mining */

static bool share_a_tool(const struct example_set *set, size_t a, size_t b)
{
    size_t i = set->starts[a], j = set->starts[b];
    while (i < set->starts[a + 1] && j < set->starts[b + 1]) {
        if (set->tools[i] == set->tools[j])
            return true;
        if (set->tools[i] < set->tools[j])
            i++;
        else
            j++;
    }
    return false;
}

struct triplet_mining {
    const struct example_set *set;
    const float *vectors; /* [examples, H] */
    size_t hidden;
    struct mined_neighbours *near;
    struct scored *best; /* [workers, BLOCK, LOOK + 1] */
    float *scores;       /* [workers, BLOCK, PART] */
};

static void choose_neighbours(const struct triplet_mining *m, size_t anchor, const struct scored *best, size_t count)
{
    struct mined_neighbours *near = &m->near[anchor];
    for (size_t i = 0; i < count; i++) {
        if (best[i].row == anchor)
            continue;
        bool positive = share_a_tool(m->set, anchor, best[i].row);
        if (positive && near->positive_count < NEAR)
            near->positives[near->positive_count++] = best[i].row;
        if (!positive && near->negative_count < NEAR)
            near->negatives[near->negative_count++] = best[i].row;
    }
}

/* Finds the neighbours of one block of requests. */
static int mine_block(void *context, size_t index, unsigned worker)
{
    const struct triplet_mining *m = context;
    struct scored *best = m->best + (size_t)worker * BLOCK * (LOOK + 1);
    float *scores = m->scores + (size_t)worker * BLOCK * PART;
    size_t first = index * BLOCK, count = m->set->count - first < BLOCK ? m->set->count - first : BLOCK;
    struct topk top[BLOCK];
    for (size_t i = 0; i < count; i++)
        top[i] = (struct topk){.items = best + i * (LOOK + 1), .k = LOOK + 1};
    for (size_t part = 0; part < m->set->count; part += PART) {
        size_t n = m->set->count - part < PART ? m->set->count - part : PART;
        wt__matmul(&(struct matmul){.m = count,
                                    .n = n,
                                    .k = m->hidden,
                                    .a = m->vectors + first * m->hidden,
                                    .a_stride = m->hidden,
                                    .b = m->vectors + part * m->hidden,
                                    .b_stride = m->hidden,
                                    .b_transposed = true,
                                    .c = scores,
                                    .c_stride = n});
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < n; j++)
                wt__topk_push(&top[i], (struct scored){scores[i * n + j], (uint32_t)(part + j)});
    }
    for (size_t i = 0; i < count; i++) {
        wt__topk_sort(&top[i]);
        choose_neighbours(m, first + i, top[i].items, top[i].len);
    }
    return 0;
}

static int mine_triplets(struct tuning *tuning, struct triplet_step *step, wt_error *err)
{
    const struct example_set *set = &tuning->training->examples.train;
    size_t hidden = tuning->training_batch.hidden, workers = tuning->training_batch.workers, usable = 0;
    struct train_progress *progress = &tuning->training->progress;
    float *vectors = wt__alloc_aligned(set->count * hidden, sizeof *vectors);
    struct triplet_mining m = {.set = set, .vectors = vectors, .hidden = hidden, .near = step->near};
    m.best = wt__alloc_array(workers * BLOCK * (LOOK + 1), sizeof *m.best);
    m.scores = wt__alloc_aligned(workers * BLOCK * PART, sizeof *m.scores);
    int rc = vectors && m.best && m.scores ? 0 : wt__fail_nomem(err);
    if (rc == 0 && wt__train_progress_phase(progress, "mining", set->count))
        rc = wt__fail_cancelled(err);
    if (rc == 0)
        rc = wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->requests, NULL, set->count, vectors,
                              progress, err);
    if (rc == 0)
        rc = wt__pool_run(tuning->training_batch.workers, (set->count + BLOCK - 1) / BLOCK, mine_block, &m);
    for (size_t i = 0; rc == 0 && i < set->count; i++)
        usable += step->near[i].positive_count > 0 && step->near[i].negative_count > 0;
    if (rc == 0 && usable == 0)
        rc = wt__fail(err, WT_EEMPTY,
                      "no request of %s has another one near it that shares a tool, and one that shares none; train "
                      "with the contrast loss",
                      tuning->training->examples.source);
    free(vectors);
    free(m.best);
    free(m.scores);
    return rc;
}

/* ---------------------------------------------------------------- steps */

static int begin_triplets(struct tuning *tuning, wt_error *err)
{
    struct triplet_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    if (!step)
        return wt__fail_nomem(err);
    bool whole = true;
    for (unsigned s = 0; s < 3; s++) {
        step->side[s] = wt__alloc_aligned(tuning->batch * tuning->training_batch.hidden, sizeof(float));
        step->dside[s] = wt__alloc_aligned(tuning->batch * tuning->training_batch.hidden, sizeof(float));
        whole &= step->side[s] && step->dside[s];
    }
    step->near = calloc(tuning->requests.count, sizeof *step->near);
    return whole && step->near ? mine_triplets(tuning, step, err) : wt__fail_nomem(err);
}

static void end_triplets(struct tuning *tuning)
{
    struct triplet_step *step = tuning->own;
    if (!step)
        return;
    for (unsigned s = 0; s < 3; s++) {
        free(step->side[s]);
        free(step->dside[s]);
    }
    free(step->near);
    free(step);
}

static int prepare_triplets(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng,
                            wt_error *err)
{
    struct triplet_step *step = tuning->own;
    (void)err;
    step->drawn = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mined_neighbours *near = &step->near[examples[i]];
        if (near->positive_count == 0 || near->negative_count == 0)
            continue;
        wt__tuning_add(tuning, &tuning->requests, examples[i]);
        wt__tuning_add(tuning, &tuning->requests, near->positives[wt__rng_below(rng, near->positive_count)]);
        wt__tuning_add(tuning, &tuning->requests, near->negatives[wt__rng_below(rng, near->negative_count)]);
        step->drawn++;
    }
    return 0;
}

static double triplets_loss(struct tuning *tuning)
{
    struct triplet_step *step = tuning->own;
    size_t hidden = tuning->training_batch.hidden, bytes = hidden * sizeof(float);
    for (size_t i = 0; i < 3 * step->drawn; i++)
        memcpy(step->side[i % 3] + i / 3 * hidden, tuning->training_batch.vectors + i * hidden, bytes);
    float result = wt__loss_triplet(step->side[0], step->side[1], step->side[2], step->drawn, hidden, MARGIN,
                                    step->dside[0], step->dside[1], step->dside[2]);
    for (size_t i = 0; i < 3 * step->drawn; i++)
        memcpy(tuning->training_batch.dvectors + i * hidden, step->dside[i % 3] + i / 3 * hidden, bytes);
    return result;
}

const struct tuning_kind wt__triplet = {.name = "triplet",
                                        .output = BATCH_POOLED,
                                        .rate = 1e-5,
                                        .measure = measure_triplets_step,
                                        .begin = begin_triplets,
                                        .end = end_triplets,
                                        .prepare = prepare_triplets,
                                        .loss = triplets_loss};
