/* classify.c: an encoder is trained with a head of a row for each tool on the request's vector: a multi-label
 * classifier (Tool2Vec, section 4.2), by the sum of log-softmax of the gold tools, as the authors' code has it, or by
 * binary cross-entropy, as their text says.
 *
 * Departs from the paper: the head reads the pooled vector at length one, times 20, not the first token's state, has no
 * bias, and its rows begin as the vectors of the tools' texts. It is kept beside the encoder (kept_head.h), and the
 * lesson "mlc" with the loss "kept" makes it the recipe "mlc", which is then the paper's, trained end to end; with any
 * other loss that lesson makes a head of its own, on what the encoder has become. */
#include "learn/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/loss.h"

static const float SCALE = 20;     /* of the inner product */
static const float HEAD_RATE = 20; /* times the encoder's rate: its rows are fewer steps from where they end */

struct classify_step {
    float *head, *gradient; /* [M, H] */
    float *logits;          /* [batch, M], then their gradients */
    size_t *starts;         /* [batch + 1] */
    int32_t *labels;        /* [starts[batch]] */
    size_t label_capacity, count;
};

static size_t measure(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t hidden = wt__trainable_config(tuning->model)->hidden, tools = tuning->training->examples.tools;
    limits->texts = tuning->batch;
    limits->rows = wt__token_texts_longest(&tuning->requests, tuning->batch);
    return (4 * tools * hidden + tuning->batch * tools) * sizeof(float); /* the head, its gradient and two means */
}

static int begin(struct tuning *tuning, wt_error *err)
{
    size_t tools = tuning->training->examples.tools, hidden = tuning->training_batch.hidden;
    struct train_progress *progress = &tuning->training->progress;
    struct classify_step *step = calloc(1, sizeof *step);
    tuning->own = step;
    if (!step)
        return wt__fail_nomem(err);
    step->head = wt__alloc_aligned(tools * hidden, sizeof *step->head);
    step->gradient = wt__alloc_aligned(tools * hidden, sizeof *step->gradient);
    step->logits = wt__alloc_aligned(tuning->batch * tools, sizeof *step->logits);
    step->starts = wt__alloc_array(tuning->batch + 1, sizeof *step->starts);
    if (!step->head || !step->gradient || !step->logits || !step->starts)
        return wt__fail_nomem(err);
    tuning->objective.parameters[tuning->objective.parameter_count++] = (struct parameter){.name = "head",
                                                                                           .value = step->head,
                                                                                           .gradient = step->gradient,
                                                                                           .count = tools * hidden,
                                                                                           .decays = true,
                                                                                           .rate = HEAD_RATE};
    if (wt__train_progress_phase(progress, "encoding", tools))
        return wt__fail_cancelled(err);
    return wt__batch_encode(&tuning->training_batch, BATCH_UNIT, &tuning->tools, NULL, tools, step->head, progress,
                            err);
}

static void end(struct tuning *tuning)
{
    struct classify_step *step = tuning->own;
    if (!step)
        return;
    free(step->head);
    free(step->gradient);
    free(step->logits);
    free(step->starts);
    free(step->labels);
    free(step);
}

static int prepare(struct tuning *tuning, const uint32_t *examples, size_t count, struct rng *rng, wt_error *err)
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
        wt__tuning_add(tuning, &tuning->requests, examples[i]);
    }
    step->starts[count] = labels;
    return 0;
}

static double loss(struct tuning *tuning, bool bce)
{
    struct classify_step *step = tuning->own;
    struct labels gold = {.start = step->starts, .label = step->labels};
    const struct multilabel head = {.rows = step->count,
                                    .labels = tuning->training->examples.tools,
                                    .width = tuning->training_batch.hidden,
                                    .vectors = tuning->training_batch.vectors,
                                    .head = step->head,
                                    .scale = SCALE,
                                    .loss = bce ? wt__loss_multilabel_bce : wt__loss_multilabel_softmax,
                                    .logits = step->logits};
    return wt__loss_multilabel(&head, &gold, tuning->training_batch.dvectors, step->gradient);
}

static double softmax_loss(struct tuning *tuning)
{
    return loss(tuning, false);
}

static double bce_loss(struct tuning *tuning)
{
    return loss(tuning, true);
}

static const float *head_of(const struct tuning *tuning)
{
    const struct classify_step *step = tuning->own;
    return step->head;
}

#define KIND(kind_name, kind_loss)                                                                                     \
    {                                                                                                                  \
        .name = (kind_name), .output = BATCH_UNIT, .rate = 5e-5, .measure = measure, .begin = begin, .end = end,       \
        .prepare = prepare, .loss = (kind_loss), .head = head_of                                                       \
    }
const struct tuning_kind wt__classify_softmax = KIND("softmax", softmax_loss);
const struct tuning_kind wt__classify_bce = KIND("bce", bce_loss);
