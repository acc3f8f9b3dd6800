/* tuning.c: the methods of training the encoder: contrast, triplets, a classifier, and a teacher's similarities. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/sort.h"
#include "base/topk.h"
#include "encoder/encoder.h"
#include "encoder/model_dir.h"
#include "learn/ranking.h"
#include "learn/siblings.h"
#include "learn/trainers.h"
#include "learn/tuning.h"
#include "nn/loss.h"
#include "nn/matrix.h"

/* Values in the order of struct tuning_kind. */
#define KIND(name, output, rate, measure, begin, end, prepare, loss, renew, head)                                      \
    {                                                                                                                  \
        name, output, rate, measure, begin, end, prepare, loss, renew, head                                            \
    }

enum { MOST_TOOLS = 48 }; /* lower bound of get_most_step_tools */

/* Returns the maximum number of tools of a step: 1.5 times its requests, and at least MOST_TOOLS. The number is limited
 * because tools take most of the time of a step. */
static size_t get_most_step_tools(const struct tuning *tuning)
{
    size_t most = tuning->batch + tuning->batch / 2;
    return most > MOST_TOOLS ? most : MOST_TOOLS;
}

int wt__tuning_tools(struct step_tools *out, const struct tuning *tuning, const uint32_t *examples, size_t count,
                     struct rng *rng, wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    size_t all = 0, most = get_most_step_tools(tuning);
    for (size_t i = 0; i < count; i++) {
        size_t first = train->starts[examples[i]], n = train->starts[examples[i] + 1] - first;
        if (wt__grow((void **)&out->rows, &out->capacity, all + n, sizeof *out->rows) < 0)
            return wt__fail_nomem(err);
        memcpy(out->rows + all, train->tools + first, n * sizeof *out->rows);
        all += n;
    }
    out->count = wt__sort_unique_u32(out->rows, all);
    if (out->count <= most)
        return 0;
    for (size_t i = 0; i < most; i++) {
        size_t other = i + (size_t)wt__rng_below(rng, out->count - i);
        uint32_t moved = out->rows[i];
        out->rows[i] = out->rows[other];
        out->rows[other] = moved;
    }
    out->count = wt__sort_unique_u32(out->rows, most);
    return 0;
}

/* Adds text `number` to the training batch. */
static void add_tuning_text(struct tuning *tuning, const struct token_texts *texts, size_t number)
{
    size_t first = texts->starts[number];
    wt__batch_add(&tuning->training_batch, texts->ids + first, texts->starts[number + 1] - first);
}

/* ---------------------------------------------------------------- contrast */

/* Moves a request's vector towards the texts of its tools and away from the other tools of the batch (in-batch
 * contrast, van den Oord et al. 2018).
 *
 * A batch has requests and their tools, at most get_most_step_tools. Each pair of a request and its tool has a loss in
 * two directions. One contrasts the tool with the batch's tools that the request does not need. The other contrasts the
 * request with the batch's requests that do not need the tool. The batch's loss is the mean over pairs and directions.
 *
 * Hard negatives are optional. After the first measurement interval, each batch also gets wrong tools that the model
 * ranks high for its requests (learn/ranking.h). For this ranking, the tools are encoded after each measurement
 * interval, and the requests of a batch before its step.
 *
 * Siblings are optional, too (learn/siblings.h). From the first step on, each batch also gets siblings of the requests'
 * tools. Unlike other hard negatives, siblings may be unused, and their cosine may be high, because these are the tools
 * that the encoder confuses. */

static const float SCALE = 20; /* factor of the cosine */
enum {
    NEGATIVE_POOL = 16,  /* number of best-ranked wrong tools of a request from which hard negatives are drawn */
    RANKED_TOOLS = 50000 /* maximum number of tools to rank; if more tools are used, a seeded sample is ranked */
};

struct contrast_step {
    size_t requests;
    struct step_tools tools;
    uint8_t *pairs;            /* [requests, tools] of enum pair */
    float *scores, *gradients; /* [requests, tools] */

    struct siblings siblings;
    size_t sibling_count; /* siblings per request; 0 for none */

    /* For hard negatives. `ranking` also serves classify_pair and the siblings. */
    struct mined_ranking ranking;
    size_t negatives; /* hard negatives per request; 0 for none */
    float *asking;    /* [batch, H] vectors of the requests before the step */
    uint32_t *parts;  /* [batch] data set of each request */
    uint32_t *best;   /* [batch, RANKING_DEPTH] nearest tools of each request */
};

static size_t count_most_tools(const struct tuning *tuning)
{
    const wt_train_options *options = tuning->training->options;
    return get_most_step_tools(tuning) + tuning->batch * (options->negatives + options->siblings);
}

static size_t count_ranked_tools(const struct tuning *tuning)
{
    size_t tools = tuning->training->examples.tools;
    return tools < RANKED_TOOLS ? tools : RANKED_TOOLS;
}

static size_t measure_contrast_step(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t hidden = wt__trainable_config(tuning->model)->hidden, tools = count_most_tools(tuning), bytes = 0;
    limits->texts = tuning->batch + tools;
    limits->rows =
        wt__token_texts_longest(&tuning->requests, tuning->batch) + wt__token_texts_longest(&tuning->tools, tools);
    if (tuning->training->options->negatives > 0) /* old and new vectors of the tools, and the scores */
        bytes = (count_ranked_tools(tuning) * (2 * hidden + tuning->batch) + tuning->batch * (hidden + RANKING_DEPTH)) *
                sizeof(float);
    if (tuning->training->options->siblings > 0)
        bytes += wt__siblings_bytes(&tuning->training->examples);
    return bytes + tuning->batch * tools * (2 * sizeof(float) + 1);
}

static int begin_negatives(struct tuning *tuning, struct contrast_step *step, wt_error *err)
{
    struct train_buffers *buffers = &tuning->objective.buffers;
    size_t hidden = tuning->training_batch.hidden;
    step->asking = wt__alloc_aligned(tuning->batch * hidden, sizeof *step->asking);
    step->parts = wt__alloc_array(tuning->batch, sizeof *step->parts);
    step->best = wt__alloc_array(tuning->batch * RANKING_DEPTH, sizeof *step->best);
    /* The buffers are the tools' vectors, followed by a flag that becomes 1 once they are computed. */
    buffers->count = step->ranking.count * hidden + 1;
    buffers->values = calloc(buffers->count, sizeof *buffers->values);
    step->ranking.vectors = buffers->values;
    step->ranking.dim = hidden;
    return step->asking && step->parts && step->best && buffers->values ? 0 : wt__fail_nomem(err);
}

static int begin_tuning_contrast(struct tuning *tuning, wt_error *err)
{
    size_t pairs = tuning->batch * count_most_tools(tuning);
    struct training *training = tuning->training;
    struct contrast_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    WT_CHECK_ALLOC(step, err);
    step->negatives = training->options->negatives;
    step->sibling_count = training->options->siblings;
    step->pairs = wt__alloc_array(pairs, sizeof *step->pairs);
    step->scores = wt__alloc_aligned(pairs, sizeof *step->scores);
    step->gradients = wt__alloc_aligned(pairs, sizeof *step->gradients);
    WT_CHECK_ALLOC(step->pairs && step->scores && step->gradients, err);
    WT_TRY(wt__ranking_open(&step->ranking, &training->examples, true, RANKED_TOOLS, training->seed, err));
    if (step->sibling_count > 0)
        WT_TRY(wt__siblings_find(&step->siblings, &step->ranking, err));
    return step->negatives > 0 ? begin_negatives(tuning, step, err) : 0;
}

static void end_contrast(struct tuning *tuning)
{
    struct contrast_step *step = tuning->own;
    if (!step)
        return;
    free(step->tools.rows);
    free(step->pairs);
    free(step->scores);
    free(step->gradients);
    free(step->asking);
    free(step->parts);
    free(step->best);
    free(tuning->objective.buffers.values);
    wt__siblings_dispose(&step->siblings);
    wt__ranking_dispose(&step->ranking);
    free(step);
}

/* Encodes the ranked tools with the current model. */
static int renew_negatives(struct tuning *tuning, struct train_progress *progress, wt_error *err)
{
    struct contrast_step *step = tuning->own;
    struct train_buffers *buffers = &tuning->objective.buffers;
    if (step->negatives == 0)
        return 0;
    if (wt__train_progress_phase(progress, "looking for hard negatives", step->ranking.count))
        return wt__fail_cancelled(err);
    WT_AUTO_FREE float *fresh = wt__alloc_aligned(buffers->count, sizeof *fresh);
    WT_CHECK_ALLOC(fresh, err);
    WT_TRY(wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->tools, step->ranking.rows,
                            step->ranking.count, fresh, progress, err));
    /* Update all or nothing, because a checkpoint may follow a cancellation. */
    fresh[buffers->count - 1] = 1;
    memcpy(buffers->values, fresh, buffers->count * sizeof *fresh);
    return 0;
}

/* Adds at most `most` random tools of a pool, [count], to the step's tools, which must have room. Reorders the pool. */
static void add_drawn_tools(struct step_tools *tools, uint32_t *pool, size_t count, size_t most, struct rng *rng)
{
    for (size_t n = 0; n < most && n < count; n++) {
        size_t other = n + (size_t)wt__rng_below(rng, count - n);
        uint32_t drawn = pool[other];
        pool[other] = pool[n];
        tools->rows[tools->count++] = drawn;
    }
}

/* Makes room for `count` more tools. */
static int reserve_step_tools(struct step_tools *tools, size_t count, wt_error *err)
{
    if (wt__grow((void **)&tools->rows, &tools->capacity, tools->count + count, sizeof *tools->rows) < 0)
        return wt__fail_nomem(err);
    return 0;
}

/* Adds hard negatives to the step's tools: wrong tools that the model ranks high. Encodes the requests with the
 * training batch, and leaves that batch empty. Does nothing before the tools have been encoded. */
static int add_negatives(struct tuning *tuning, struct contrast_step *step, const uint32_t *examples, size_t count,
                         struct rng *rng, wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    const struct train_buffers *buffers = &tuning->objective.buffers;
    size_t hidden = tuning->training_batch.hidden;
    if (step->negatives == 0 || buffers->values[buffers->count - 1] == 0)
        return 0;
    WT_TRY(wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->requests, examples, count, step->asking, NULL,
                            err));
    for (size_t i = 0; i < count; i++)
        step->parts[i] = wt__ranking_part(&step->ranking, train, examples[i]);
    WT_TRY(wt__ranking_best(&step->ranking, step->asking, step->parts, count, RANKING_DEPTH, step->best, err));
    WT_TRY(reserve_step_tools(&step->tools, count * step->negatives, err));
    for (size_t i = 0; i < count; i++) {
        uint32_t wrong[NEGATIVE_POOL];
        size_t pool = wt__ranking_wrong(&step->ranking, examples[i], step->asking + i * hidden,
                                        step->best + i * RANKING_DEPTH, step->negatives, NEGATIVE_POOL, wrong);
        add_drawn_tools(&step->tools, wrong, pool, step->negatives, rng);
    }
    wt__batch_begin(&tuning->training_batch);
    return 0;
}

/* Adds siblings to the step's tools. The siblings of a request are those of a random label of the request that has
 * wrong siblings. */
static int add_siblings(struct contrast_step *step, const struct example_set *train, const uint32_t *examples,
                        size_t count, struct rng *rng, wt_error *err)
{
    if (step->sibling_count == 0)
        return 0;
    WT_TRY(reserve_step_tools(&step->tools, count * step->sibling_count, err));
    for (size_t i = 0; i < count; i++) {
        const uint32_t *labels = train->tools + train->starts[examples[i]];
        size_t label_count = train->starts[examples[i] + 1] - train->starts[examples[i]], pool = 0;
        size_t first = (size_t)wt__rng_below(rng, label_count);
        uint32_t wrong[SIBLINGS_MOST];
        for (size_t l = 0; l < label_count && pool == 0; l++)
            pool = wt__siblings_wrong(&step->siblings, &step->ranking, examples[i], labels[(first + l) % label_count],
                                      wrong);
        add_drawn_tools(&step->tools, wrong, pool, step->sibling_count, rng);
    }
    return 0;
}

/* Returns the relation of a tool of the batch to a request. A tool with the same text as one of the request's tools is
 * ignored. */
static enum pair classify_pair(const struct contrast_step *step, const struct example_set *train, uint32_t request,
                               uint32_t row)
{
    for (size_t l = train->starts[request]; l < train->starts[request + 1]; l++)
        if (train->tools[l] == row)
            return PAIR_POSITIVE;
    return wt__ranking_right(&step->ranking, train, request, row) ? PAIR_IGNORED : PAIR_NEGATIVE;
}

static int prepare_tuning_contrast(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng,
                                   wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    struct contrast_step *step = tuning->own;
    WT_TRY(wt__tuning_tools(&step->tools, tuning, examples, count, rng, err));
    WT_TRY(add_negatives(tuning, step, examples, count, rng, err));
    WT_TRY(add_siblings(step, train, examples, count, rng, err));
    step->tools.count = wt__sort_unique_u32(step->tools.rows, step->tools.count);
    step->requests = count;
    for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; t < step->tools.count; t++)
            step->pairs[i * step->tools.count + t] =
                (uint8_t)classify_pair(step, train, examples[i], step->tools.rows[t]);
        add_tuning_text(tuning, &tuning->requests, examples[i]);
    }
    for (size_t t = 0; t < step->tools.count; t++)
        add_tuning_text(tuning, &tuning->tools, step->tools.rows[t]);
    return 0;
}

static double compute_tuning_contrast(struct tuning *tuning)
{
    const struct contrast_step *step = tuning->own;
    struct training_batch *batch = &tuning->training_batch;
    size_t tools_at = step->requests * batch->hidden;
    const struct contrast contrast = {.rows = step->requests,
                                      .columns = step->tools.count,
                                      .width = batch->hidden,
                                      .queries = batch->vectors,
                                      .documents = batch->vectors + tools_at,
                                      .pairs = step->pairs,
                                      .scale = SCALE,
                                      .scores = step->scores,
                                      .gradients = step->gradients};
    return wt__loss_contrast_both(&contrast, batch->dvectors, batch->dvectors + tools_at);
}

const struct tuning_kind wt__contrast =
    KIND("contrast", BATCH_UNIT, 5e-5, measure_contrast_step, begin_tuning_contrast, end_contrast,
         prepare_tuning_contrast, compute_tuning_contrast, renew_negatives, NULL);

/* ---------------------------------------------------------------- triplets */

/* Moves requests that share a tool closer to each other than requests that share none, by a triplet loss (Tool2Vec,
 * section 5.1.1) as in the authors' code: Euclidean distance, margin 1, on pooled vectors that are not normalised.
 *
 * The nearest requests of each request are mined once, with the initial encoder. The first NEAR of them that share a
 * tool are positives, and the first NEAR that share none are negatives. Each step draws one positive and one negative
 * for a request; the authors use every pair. */

enum {
    NEAR = 5,   /* maximum number of positives of a request, and of negatives */
    LOOK = 100, /* number of nearest requests that are searched for positives and negatives */
    BLOCK = 64, /* requests that one item of work mines */
    PART = 8192 /* requests that one matrix product compares a block with */
};
static const float MARGIN = 1;

/* Neighbours of one request. */
struct mined_neighbours {
    uint32_t positives[NEAR], negatives[NEAR];
    uint8_t positive_count, negative_count;
};

struct triplet_step {
    struct mined_neighbours *near; /* [examples] */
    size_t drawn;                  /* triplets of this step; triplet i has the texts 3 i, 3 i + 1 and 3 i + 2 */
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
        wt__multiply_dense(count, n, m->hidden, m->vectors + first * m->hidden, false, m->vectors + part * m->hidden,
                           true, scores);
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
    WT_AUTO_FREE float *vectors = wt__alloc_aligned(set->count * hidden, sizeof *vectors);
    WT_AUTO_FREE struct scored *best = wt__alloc_array(workers * BLOCK * (LOOK + 1), sizeof *best);
    WT_AUTO_FREE float *scores = wt__alloc_aligned(workers * BLOCK * PART, sizeof *scores);
    struct triplet_mining m = {
        .set = set, .vectors = vectors, .hidden = hidden, .near = step->near, .best = best, .scores = scores};
    WT_CHECK_ALLOC(vectors && best && scores, err);
    if (wt__train_progress_phase(progress, "mining", set->count))
        return wt__fail_cancelled(err);
    WT_TRY(wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->requests, NULL, set->count, vectors, progress,
                            err));
    WT_TRY(wt__pool_run(tuning->training_batch.workers, (set->count + BLOCK - 1) / BLOCK, mine_block, &m));
    for (size_t i = 0; i < set->count; i++)
        usable += step->near[i].positive_count > 0 && step->near[i].negative_count > 0;
    if (usable == 0)
        return wt__fail(err, WT_EEMPTY,
                        "no request of %s is near both a request that shares a tool and a request that shares none; "
                        "train with the contrast loss",
                        tuning->training->examples.source);
    return 0;
}

static int begin_triplets(struct tuning *tuning, wt_error *err)
{
    struct triplet_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    WT_CHECK_ALLOC(step, err);
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
        add_tuning_text(tuning, &tuning->requests, examples[i]);
        add_tuning_text(tuning, &tuning->requests, near->positives[wt__rng_below(rng, near->positive_count)]);
        add_tuning_text(tuning, &tuning->requests, near->negatives[wt__rng_below(rng, near->negative_count)]);
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

const struct tuning_kind wt__triplet = KIND("triplet", BATCH_POOLED, 1e-5, measure_triplets_step, begin_triplets,
                                            end_triplets, prepare_triplets, triplets_loss, NULL, NULL);

/* ---------------------------------------------------------------- classifier */

/* Trains the encoder together with a multi-label classifier: a head with one row per tool on the request's vector
 * (Tool2Vec, section 4.2). The loss is the sum of the gold tools' negative log-softmax, as in the authors' code, or the
 * binary cross-entropy, as in the paper's text.
 *
 * The head differs from the paper's head. It reads the normalised pooled vector times 20 instead of the first token's
 * state. Its rows start as the vectors of the tools' texts. With binary cross-entropy, each tool has a learned bias.
 *
 * The head is saved with the encoder (trainers.h). The lesson "mlc" with the loss "kept" turns the head into the recipe
 * "mlc". */

/* Learning rate of the head relative to the encoder's. It is high because a tool is a label in few steps. */
static const float HEAD_RATE = 20;

struct classify_step {
    float *head, *gradient;  /* [M, H] */
    float *shifts, *dshifts; /* [M] cosine at which a tool has even odds; NULL with softmax */
    float *logits;           /* [batch, M], then their gradients */
    size_t *starts;          /* [batch + 1] */
    int32_t *labels;         /* [starts[batch]] */
    size_t label_capacity, count;
};

static size_t measure_classifier_step(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t hidden = wt__trainable_config(tuning->model)->hidden, tools = tuning->training->examples.tools;
    limits->texts = tuning->batch;
    limits->rows = wt__token_texts_longest(&tuning->requests, tuning->batch);
    return (4 * tools * hidden + tuning->batch * tools) * sizeof(float); /* the head, its gradient and two moments */
}

/* Adds the shifts to the trained parameters. */
static int add_shifts(struct tuning *tuning, wt_error *err)
{
    size_t tools = tuning->training->examples.tools;
    struct classify_step *step = tuning->own;
    step->shifts = wt__alloc_array(tools, sizeof *step->shifts);
    step->dshifts = wt__alloc_zeros(tools, sizeof *step->dshifts);
    WT_CHECK_ALLOC(step->shifts && step->dshifts, err);
    for (size_t i = 0; i < tools; i++)
        step->shifts[i] = MLC_START_SHIFT;
    tuning->objective.parameters[tuning->objective.parameter_count++] = (struct model_parameter){
        .name = "shifts", .value = step->shifts, .gradient = step->dshifts, .count = tools, .rate = HEAD_RATE};
    return 0;
}

static int begin_classifier(struct tuning *tuning, wt_error *err)
{
    size_t tools = tuning->training->examples.tools, hidden = tuning->training_batch.hidden;
    struct train_progress *progress = &tuning->training->progress;
    struct classify_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    WT_CHECK_ALLOC(step, err);
    step->head = wt__alloc_aligned(tools * hidden, sizeof *step->head);
    step->gradient = wt__alloc_aligned(tools * hidden, sizeof *step->gradient);
    step->logits = wt__alloc_aligned(tuning->batch * tools, sizeof *step->logits);
    step->starts = wt__alloc_array(tuning->batch + 1, sizeof *step->starts);
    WT_CHECK_ALLOC(step->head && step->gradient && step->logits && step->starts, err);
    tuning->objective.parameters[tuning->objective.parameter_count++] =
        (struct model_parameter){.name = "head",
                                 .value = step->head,
                                 .gradient = step->gradient,
                                 .count = tools * hidden,
                                 .decays = true,
                                 .rate = HEAD_RATE};
    if (tuning->kind == &wt__classify_bce)
        WT_TRY(add_shifts(tuning, err));
    if (wt__train_progress_phase(progress, "encoding", tools))
        return wt__fail_cancelled(err);
    return wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->tools, NULL, tools, step->head, progress,
                            err);
}

static void end_classifier(struct tuning *tuning)
{
    struct classify_step *step = tuning->own;
    if (!step)
        return;
    free(step->head);
    free(step->gradient);
    free(step->shifts);
    free(step->dshifts);
    free(step->logits);
    free(step->starts);
    free(step->labels);
    free(step);
}

static int prepare_classifier(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng,
                              wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    struct classify_step *step = tuning->own;
    size_t labels = 0;
    (void)rng;
    step->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t first = train->starts[examples[i]], n = train->starts[examples[i] + 1] - first;
        if (wt__grow((void **)&step->labels, &step->label_capacity, labels + n, sizeof *step->labels) < 0)
            return wt__fail_nomem(err);
        step->starts[i] = labels;
        for (size_t j = 0; j < n; j++)
            step->labels[labels++] = (int32_t)train->tools[first + j];
        add_tuning_text(tuning, &tuning->requests, examples[i]);
    }
    step->starts[count] = labels;
    return 0;
}

static double classifier_loss(struct tuning *tuning, bool bce)
{
    struct classify_step *step = tuning->own;
    struct label_rows gold = {.start = step->starts, .label = step->labels};
    const struct multilabel head = {.rows = step->count,
                                    .labels = tuning->training->examples.tools,
                                    .width = tuning->training_batch.hidden,
                                    .vectors = tuning->training_batch.vectors,
                                    .head = step->head,
                                    .scale = SCALE,
                                    .shifts = step->shifts,
                                    .loss = bce ? wt__loss_multilabel_bce : wt__loss_multilabel_softmax,
                                    .logits = step->logits};
    return wt__loss_multilabel(&head, &gold, tuning->training_batch.dvectors, step->gradient, step->dshifts);
}

static double compute_softmax_loss(struct tuning *tuning)
{
    return classifier_loss(tuning, false);
}

static double compute_bce_loss(struct tuning *tuning)
{
    return classifier_loss(tuning, true);
}

static const float *get_classifier_head(const struct tuning *tuning)
{
    const struct classify_step *step = tuning->own;
    return step->head;
}

const struct tuning_kind wt__classify_softmax =
    KIND("softmax", BATCH_UNIT, 5e-5, measure_classifier_step, begin_classifier, end_classifier, prepare_classifier,
         compute_softmax_loss, NULL, get_classifier_head);
const struct tuning_kind wt__classify_bce =
    KIND("bce", BATCH_UNIT, 5e-5, measure_classifier_step, begin_classifier, end_classifier, prepare_classifier,
         compute_bce_loss, NULL, get_classifier_head);

/* ---------------------------------------------------------------- similarities of a teacher */

/* Trains the encoder to reproduce a teacher's similarities. The loss of a text is the Kullback-Leibler divergence
 * between the softmax of its similarities with the other texts of the batch and the teacher's softmax. The teacher's
 * vectors may have another width. A batch has requests and their tools. The teacher encodes both within the step, so a
 * resumed training has nothing to recompute. */

struct likeness_step {
    struct encoder *teacher;
    struct step_tools tools;
    struct str *texts; /* [count_most_texts] requests of the step, then its tools */
    float *wanted;     /* [count_most_texts, width of the teacher] the teacher's vectors */
    float *scratch;    /* [count_likeness_floats] */
};

static size_t count_most_texts(const struct tuning *tuning)
{
    return tuning->batch + get_most_step_tools(tuning);
}

/* Returns the number of floats that the loss needs. */
static size_t count_likeness_floats(size_t texts)
{
    return 2 * texts * texts;
}

static size_t measure_likeness_step(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t texts = limits->texts = count_most_texts(tuning);
    limits->rows = wt__token_texts_longest(&tuning->requests, tuning->batch) +
                   wt__token_texts_longest(&tuning->tools, get_most_step_tools(tuning));
    return texts * sizeof(struct str) +
           count_likeness_floats(texts) * sizeof(float); /* without the teacher, which is mapped, and its vectors */
}

static int open_likeness_teacher(struct tuning *tuning, struct likeness_step *step, wt_error *err)
{
    struct training *training = tuning->training;
    const wt_train_options *options = training->options;
    char *folder;
    WT_TRY(wt__model_find_installed(&folder, &training->arena, options->models_dir, options->teacher, err));
    return wt__encoder_open(&step->teacher, folder, err);
}

static int begin_likeness(struct tuning *tuning, wt_error *err)
{
    size_t texts = count_most_texts(tuning);
    struct likeness_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    WT_CHECK_ALLOC(step, err);
    WT_TRY(open_likeness_teacher(tuning, step, err));
    step->texts = wt__alloc_array(texts, sizeof *step->texts);
    step->wanted = wt__alloc_aligned(texts * wt__encoder_dim(step->teacher), sizeof *step->wanted);
    step->scratch = wt__alloc_aligned(count_likeness_floats(texts), sizeof *step->scratch);
    return step->texts && step->wanted && step->scratch ? 0 : wt__fail_nomem(err);
}

static void end_likeness(struct tuning *tuning)
{
    struct likeness_step *step = tuning->own;
    if (!step)
        return;
    wt__encoder_close(step->teacher);
    free(step->tools.rows);
    free(step->texts);
    free(step->wanted);
    free(step->scratch);
    free(step);
}

static int prepare_likeness(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng,
                            wt_error *err)
{
    const struct examples *all = &tuning->training->examples;
    struct likeness_step *step = tuning->own;
    size_t texts = 0, dim = wt__encoder_dim(step->teacher);
    unsigned threads = tuning->training->threads;
    WT_TRY(wt__tuning_tools(&step->tools, tuning, examples, count, rng, err));
    for (size_t i = 0; i < count; i++) {
        add_tuning_text(tuning, &tuning->requests, examples[i]);
        step->texts[texts++] = all->train.texts[examples[i]];
    }
    for (size_t t = 0; t < step->tools.count; t++) {
        add_tuning_text(tuning, &tuning->tools, step->tools.rows[t]);
        step->texts[texts++] = all->texts[0][step->tools.rows[t]];
    }
    WT_TRY(wt__encode_many(step->teacher, TEXT_REQUEST, step->texts, count, threads, step->wanted, NULL, err));
    return wt__encode_many(step->teacher, TEXT_TOOL, step->texts + count, texts - count, threads,
                           step->wanted + count * dim, NULL, err);
}

static double compute_likeness_loss(struct tuning *tuning)
{
    const struct likeness_step *step = tuning->own;
    struct training_batch *batch = &tuning->training_batch;
    const struct likeness likeness = {.rows = batch->count,
                                      .width = batch->hidden,
                                      .teacher_width = wt__encoder_dim(step->teacher),
                                      .vectors = batch->vectors,
                                      .teacher = step->wanted,
                                      .scale = SCALE,
                                      .scratch = step->scratch};
    return wt__loss_likeness(&likeness, batch->dvectors);
}

const struct tuning_kind wt__likeness = KIND("likeness", BATCH_UNIT, 5e-5, measure_likeness_step, begin_likeness,
                                             end_likeness, prepare_likeness, compute_likeness_loss, NULL, NULL);
