/* contrast.c: trains the encoder to move a request's vector towards the texts of its tools and away from the batch's
 * other tools: in-batch contrast (van den Oord et al. 2018) with cosine times 20.
 *
 * A batch is requests and all their tools. The loss of a pair of a request and its tool contrasts the tool with the
 * batch's tools that are not the request's, and the request with the batch's requests that do not need the tool. The
 * batch's loss is the mean over pairs and both directions.
 *
 * Hard negatives are optional. After the first measurement, each batch also gets wrong tools that the model ranks high
 * for its requests. Tools are encoded at the beginning of each interval between measurements, and requests with the
 * model of the step. The mistakes are therefore current, and only requests of the batch are encoded. A tool with the
 * same text as one of the request's own is not a negative, and tools that are too near to those are not drawn
 * (learn/ranking.h). */
#include "learn/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "learn/ranking.h"
#include "nn/loss.h"

static const float SCALE = 20; /* factor of the cosine */
enum {
    NEGATIVE_POOL = 16,  /* best-ranked wrong tools of a request from which hard negatives are drawn */
    RANKED_TOOLS = 50000 /* maximum number of needed tools that are ranked; a seeded sample of more */
};

struct contrast_step {
    size_t requests;
    struct step_tools tools;
    uint8_t *pairs;            /* [requests, tools] of enum pair */
    float *scores, *gradients; /* [requests, tools] */

    struct mined_ranking ranking;
    size_t negatives; /* per request */
    float *asking;    /* [batch, H] requests, encoded by the model before the step */
    uint32_t *parts;  /* [batch] */
    uint32_t *best;   /* [batch, RANKING_DEPTH] */
};

static size_t count_most_tools(const struct tuning *tuning)
{
    return wt__tuning_most_tools(tuning) + tuning->batch * tuning->training->options->negatives;
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
    if (tuning->training->options->negatives > 0) /* the tools' vectors twice, and the scores */
        bytes = (count_ranked_tools(tuning) * (2 * hidden + tuning->batch) + tuning->batch * (hidden + RANKING_DEPTH)) *
                sizeof(float);
    return bytes + tuning->batch * tools * (2 * sizeof(float) + 1);
}

/* ---------------------------------------------------------------- memory */

static int begin_negatives(struct tuning *tuning, struct contrast_step *step, wt_error *err)
{
    struct train_buffers *buffers = &tuning->objective.buffers;
    size_t hidden = tuning->training_batch.hidden;
    step->asking = wt__alloc_aligned(tuning->batch * hidden, sizeof *step->asking);
    step->parts = wt__alloc_array(tuning->batch, sizeof *step->parts);
    step->best = wt__alloc_array(tuning->batch * RANKING_DEPTH, sizeof *step->best);
    /* The tools' vectors and a flag that is not 0 once they are computed. */
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
    if (!step)
        return wt__fail_nomem(err);
    step->negatives = training->options->negatives;
    step->pairs = wt__alloc_array(pairs, sizeof *step->pairs);
    step->scores = wt__alloc_aligned(pairs, sizeof *step->scores);
    step->gradients = wt__alloc_aligned(pairs, sizeof *step->gradients);
    int rc = step->pairs && step->scores && step->gradients ? 0 : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__ranking_open(&step->ranking, &training->examples, true, RANKED_TOOLS, training->seed, err);
    return rc == 0 && step->negatives > 0 ? begin_negatives(tuning, step, err) : rc;
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
    wt__ranking_dispose(&step->ranking);
    free(step);
}

/* ---------------------------------------------------------------- hard negatives */

/* Encodes the tools with the current model. */
static int renew_negatives(struct tuning *tuning, struct train_progress *progress, wt_error *err)
{
    struct contrast_step *step = tuning->own;
    struct train_buffers *buffers = &tuning->objective.buffers;
    if (step->negatives == 0)
        return 0;
    if (wt__train_progress_phase(progress, "looking for hard negatives", step->ranking.count))
        return wt__fail_cancelled(err);
    float *fresh = wt__alloc_aligned(buffers->count, sizeof *fresh);
    int rc = fresh ? wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->tools, step->ranking.rows,
                                      step->ranking.count, fresh, progress, err)
                   : wt__fail_nomem(err);
    if (rc == 0) { /* update all or nothing, because a checkpoint may follow a cancellation */
        fresh[buffers->count - 1] = 1;
        memcpy(buffers->values, fresh, buffers->count * sizeof *fresh);
    }
    free(fresh);
    return rc;
}

/* Adds tools to the batch that the model ranks high by mistake. Discards the current step. */
static int add_negatives(struct tuning *tuning, struct contrast_step *step, const uint32_t *examples, size_t count,
                         struct rng *rng, wt_error *err)
{
    const struct example_set *train = &tuning->training->examples.train;
    const struct train_buffers *buffers = &tuning->objective.buffers;
    size_t hidden = tuning->training_batch.hidden;
    if (step->negatives == 0 || buffers->values[buffers->count - 1] == 0)
        return 0;
    int rc = wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->requests, examples, count, step->asking,
                              NULL, err);
    for (size_t i = 0; i < count; i++)
        step->parts[i] = wt__ranking_part(&step->ranking, train, examples[i]);
    if (rc == 0)
        rc = wt__ranking_best(&step->ranking, step->asking, step->parts, count, RANKING_DEPTH, step->best, err);
    if (rc == 0 && wt__grow((void **)&step->tools.rows, &step->tools.capacity,
                            step->tools.count + count * step->negatives, sizeof *step->tools.rows) < 0)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint32_t wrong[NEGATIVE_POOL];
        size_t pool = wt__ranking_wrong(&step->ranking, examples[i], step->asking + i * hidden,
                                        step->best + i * RANKING_DEPTH, NEGATIVE_POOL, wrong);
        for (size_t n = 0; n < step->negatives && n < pool; n++) {
            size_t other = n + (size_t)wt__rng_below(rng, pool - n);
            uint32_t drawn = wrong[other];
            wrong[other] = wrong[n];
            step->tools.rows[step->tools.count++] = drawn;
        }
    }
    wt__batch_begin(&tuning->training_batch);
    return rc;
}

/* ---------------------------------------------------------------- a batch */

/* Returns the relation of a batch's tool to a request. A tool with the text of one of the request's own, perhaps from
 * another data set, is not a negative. */
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
    int rc = wt__tuning_tools(&step->tools, tuning, examples, count, rng, err);
    if (rc == 0)
        rc = add_negatives(tuning, step, examples, count, rng, err);
    if (rc < 0)
        return rc;
    step->tools.count = wt__sort_unique_u32(step->tools.rows, step->tools.count);
    step->requests = count;
    for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; t < step->tools.count; t++)
            step->pairs[i * step->tools.count + t] =
                (uint8_t)classify_pair(step, train, examples[i], step->tools.rows[t]);
        wt__tuning_add(tuning, &tuning->requests, examples[i]);
    }
    for (size_t t = 0; t < step->tools.count; t++)
        wt__tuning_add(tuning, &tuning->tools, step->tools.rows[t]);
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

const struct tuning_kind wt__contrast = {.name = "contrast",
                                         .output = BATCH_UNIT,
                                         .rate = 5e-5,
                                         .measure = measure_contrast_step,
                                         .begin = begin_tuning_contrast,
                                         .end = end_contrast,
                                         .prepare = prepare_tuning_contrast,
                                         .loss = compute_tuning_contrast,
                                         .renew = renew_negatives};
