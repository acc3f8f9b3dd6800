/* classify.c: trains the encoder with a head of one row per tool on the request's vector: a multi-label classifier
 * (Tool2Vec, section 4.2). The loss is the sum of log-softmax of the gold tools, as in the authors' code, or binary
 * cross-entropy, as in their text.
 *
 * Differences from the paper: the head reads the normalised pooled vector times 20 instead of the first token's state,
 * has no bias, and its rows start as the vectors of the tools' texts. The head is saved with the encoder (kept_head.h).
 * The lesson "mlc" with the loss "kept" turns it into the recipe "mlc", trained end to end as in the paper. With any
 * other loss that lesson trains a head of its own on the trained encoder. */
#include "learn/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/loss.h"

static const float SCALE = 20;     /* factor of the inner product */
static const float HEAD_RATE = 20; /* times the encoder's rate, because its rows have fewer steps to converge */

struct classify_step {
    float *head, *gradient; /* [M, H] */
    float *logits;          /* [batch, M], then their gradients */
    size_t *starts;         /* [batch + 1] */
    int32_t *labels;        /* [starts[batch]] */
    size_t label_capacity, count;
};

static size_t measure_classifier_step(const struct tuning *tuning, struct batch_limits *limits)
{
    size_t hidden = wt__trainable_config(tuning->model)->hidden, tools = tuning->training->examples.tools;
    limits->texts = tuning->batch;
    limits->rows = wt__token_texts_longest(&tuning->requests, tuning->batch);
    return (4 * tools * hidden + tuning->batch * tools) * sizeof(float); /* the head, its gradient and two moments */
}

static int begin_classifier(struct tuning *tuning, wt_error *err)
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

static void end_classifier(struct tuning *tuning)
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
        wt__tuning_add(tuning, &tuning->requests, examples[i]);
    }
    step->starts[count] = labels;
    return 0;
}

static double classifier_loss(struct tuning *tuning, bool bce)
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

#define KIND(kind_name, kind_loss)                                                                                     \
    {                                                                                                                  \
        .name = (kind_name), .output = BATCH_UNIT, .rate = 5e-5, .measure = measure_classifier_step,                   \
        .begin = begin_classifier, .end = end_classifier, .prepare = prepare_classifier, .loss = (kind_loss),          \
        .head = get_classifier_head                                                                                    \
    }
const struct tuning_kind wt__classify_softmax = KIND("softmax", compute_softmax_loss);
const struct tuning_kind wt__classify_bce = KIND("bce", compute_bce_loss);
