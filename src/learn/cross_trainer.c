/* cross_trainer.c: the lesson "cross": trains a cross-encoder on pairs of a request and a tool (trainers.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/topk.h"
#include "encoder/encoder.h"
#include "learn/logistic.h"
#include "learn/ranking.h"
#include "learn/trainers.h"
#include "learn/training_batch.h"
#include "nn/layers.h"
#include "rerank/cross.h"

enum {
    REQUEST_TOKENS = 96, /* maximum tokens of a request */
    TOOL_TOKENS = 96,    /* maximum tokens of a tool */
    PAIR_TOKENS = 160,   /* maximum tokens of a pair, including special tokens */
    FRAME = 2,           /* number of special tokens around a single text; they are removed */
    ENOUGH = 8000,       /* number of requests to process */
    MOST = 3,            /* maximum epochs */
    CUTOFF = 5,          /* cutoff of recall on dev */
    GONE_IN = 6          /* with the loss "both", one group in six has no positives */
};
#define SHRINKAGE 1e-4 /* shrinkage of the fit of Platt scaling (wt__logistic_fit) */

/* Range of the pairs of one request in the step. */
struct pair_group {
    size_t first, count;
};

struct cross_training {
    struct training *training;
    const char *base, *out;
    json_t *about;
    struct trainable *model;
    struct training_batch training_batch;
    struct batch_limits limits;
    struct objective objective;
    refiner_loss loss;
    size_t batch, negatives;

    /* First stage. */
    struct encoder *encoder;
    struct mined_ranking ranking;
    float *vectors; /* [M, D] vectors of the tools */

    struct token_texts requests, dev_requests, tools;
    size_t pair_tokens; /* PAIR_TOKENS, or the model's limit if that is less */

    /* Current step. */
    struct pair_group *groups; /* [batch] */
    size_t group_count;
    uint8_t *gold;        /* [pairs] 1 if the tool is a label of the request, else 0 */
    int32_t *ids, *types; /* [pairs, PAIR_TOKENS] */
    struct head_rows head;
    struct str *texts; /* [batch] requests */
    float *asking;     /* [batch, D] vectors of the requests */
    uint32_t *parts;   /* [batch] data sets of the requests */
    uint32_t *best;    /* [batch, RANKING_DEPTH] nearest tools of the requests */

    /* Dev requests. */
    size_t dev_count;
    uint32_t *dev;      /* [dev_count] numbers of the dev requests */
    uint32_t *dev_best; /* [dev_count, CROSS_DEPTH] candidates: best tools of the first stage, padded with UINT32_MAX */
    double first;       /* figure of the first stage; NaN without dev requests */
    size_t pairs;       /* number of measured pairs, at most dev_count * CROSS_DEPTH */
    float *logits;      /* [pairs] */
    uint8_t *right;     /* [pairs] 1 if the tool is right, else 0 */
    float slope, constant; /* Platt scaling: logit * slope + constant is the log odds that the tool is right */
    float *score;          /* [H + 1] copy of the head's last weights and constant, while the scaled model is saved */
};

/* Returns the tokens of a text without the special tokens. */
static struct token_run get_token_run(const struct token_texts *texts, size_t number)
{
    size_t first = texts->starts[number], count = texts->starts[number + 1] - first;
    return (struct token_run){texts->ids + first + 1, count > FRAME ? count - FRAME : 0};
}

static void add_pair(struct cross_training *c, const struct token_texts *requests, size_t request, uint32_t row)
{
    size_t at = c->training_batch.count * PAIR_TOKENS;
    size_t length = wt__cross_pair(wt__trainable_tokenizer(c->model), get_token_run(requests, request),
                                   get_token_run(&c->tools, row), c->pair_tokens, c->ids + at, c->types + at);
    bool types = wt__trainable_config(c->model)->types > 1;
    wt__batch_add_pair(&c->training_batch, c->ids + at, types ? c->types + at : NULL, length);
}

/* Computes the logits of the pairs in the training batch, after wt__batch_forward. */
static void score_pairs_of_step(struct cross_training *c)
{
    size_t hidden = c->training_batch.hidden;
    for (size_t i = 0; i < c->training_batch.count; i++) {
        const float *last;
        float *dlast;
        size_t stride;
        wt__batch_rows(&c->training_batch, i, &last, &dlast, &stride);
        memcpy(c->head.x + i * hidden, last, hidden * sizeof *last);
    }
    c->head.count = c->training_batch.count;
    wt__trainable_head_forward(c->model, &c->head);
}

/* ---------------------------------------------------------------- first stage */

/* Computes the vector of every tool as in retrieval: the weighted sum of the vectors of its texts, normalised. */
static int sum_tool_vectors(struct cross_training *c, struct progress *progress, wt_error *err)
{
    const struct examples *e = &c->training->examples;
    size_t dim = wt__encoder_dim(c->encoder), floats = e->tools * dim;
    unsigned threads = c->training->threads;
    WT_AUTO_FREE float *other = wt__alloc_array(floats, sizeof *other);
    c->vectors = wt__alloc_zeros(floats + 1, sizeof *c->vectors);
    c->ranking.vectors = c->vectors;
    c->ranking.dim = dim;
    WT_CHECK_ALLOC(other && c->vectors, err);
    for (unsigned t = 0; t < DOCUMENT_TEXTS; t++) {
        if (wt__progress_phase(progress, "encoding tools", e->tools))
            return wt__fail_cancelled(err);
        WT_TRY(wt__encode_many(c->encoder, TEXT_TOOL, e->texts[t], e->tools, threads, other, progress, err));
        for (size_t i = 0; i < floats; i++)
            c->vectors[i] += wt__document_text_weights[t] * other[i];
    }
    for (size_t row = 0; row < e->tools; row++)
        wt__normalize(c->vectors + row * dim, dim);
    return 0;
}

/* Finds the k best tools of the first stage for some requests of a set. which: [count] numbers of the requests. best:
 * [count, k]. texts, vectors and parts are scratch for `count` requests. */
static int rank_first_stage(struct cross_training *c, const struct example_set *set, const uint32_t *which,
                            size_t count, size_t k, struct str *texts, float *vectors, uint32_t *parts, uint32_t *best,
                            wt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        texts[i] = set->texts[which[i]];
        parts[i] = wt__ranking_part(&c->ranking, set, which[i]);
    }
    WT_TRY(wt__encode_many(c->encoder, TEXT_REQUEST, texts, count, c->training->threads, vectors, NULL, err));
    return wt__ranking_best(&c->ranking, vectors, parts, count, k, best, err);
}

/* Returns the recall at CUTOFF of a request. order: [count] candidates, best first. */
static double measure_order(const struct example_set *set, size_t request, const uint32_t *order, size_t count)
{
    size_t labels = set->starts[request + 1] - set->starts[request], found = 0;
    for (size_t i = 0; i < count && i < CUTOFF; i++)
        for (size_t l = set->starts[request]; l < set->starts[request + 1]; l++)
            found += set->tools[l] == order[i];
    return labels ? (double)found / (double)labels : 0;
}

/* Returns the number of candidates of a dev request. */
static size_t count_dev_candidates(const struct cross_training *c, size_t d)
{
    size_t count = 0;
    while (count < CROSS_DEPTH && c->dev_best[d * CROSS_DEPTH + count] != UINT32_MAX)
        count++;
    return count;
}

static int open_cross_dev(struct cross_training *c, wt_error *err)
{
    const struct example_set *dev = &c->training->examples.dev;
    struct rng rng;
    size_t all = dev->count, count = c->dev_count = all < CROSS_DEV ? all : CROSS_DEV;
    c->first = NAN;
    if (count == 0)
        return 0;
    c->dev = wt__alloc_array(all, sizeof *c->dev);
    c->dev_best = wt__alloc_array(count * CROSS_DEPTH, sizeof *c->dev_best);
    c->logits = wt__alloc_array(count * CROSS_DEPTH, sizeof *c->logits);
    c->right = wt__alloc_array(count * CROSS_DEPTH, sizeof *c->right);
    WT_AUTO_FREE struct str *texts = wt__alloc_array(count, sizeof *texts);
    WT_AUTO_FREE uint32_t *parts = wt__alloc_array(count, sizeof *parts);
    WT_AUTO_FREE float *vectors = wt__alloc_array(count * c->ranking.dim, sizeof *vectors);
    bool whole = c->dev && c->dev_best && c->logits && c->right && texts && parts && vectors;
    WT_CHECK_ALLOC(whole, err);
    wt__rng_seed(&rng, c->training->seed);
    wt__rng_draw(&rng, c->dev, all, count);
    WT_TRY(rank_first_stage(c, dev, c->dev, count, CROSS_DEPTH, texts, vectors, parts, c->dev_best, err));
    for (size_t d = 0; d < count; d++) {
        double sum = d == 0 ? 0 : c->first;
        c->first = sum + measure_order(dev, c->dev[d], c->dev_best + d * CROSS_DEPTH, count_dev_candidates(c, d));
    }
    c->first /= (double)count;
    for (size_t d = 0; d < count; d++)
        texts[d] = dev->texts[c->dev[d]];
    return wt__token_texts_read(&c->dev_requests, c->model, TEXT_PLAIN, texts, count, REQUEST_TOKENS + FRAME,
                                c->training->threads, err);
}

/* ---------------------------------------------------------------- objective */

static size_t count_most_pairs(const struct cross_training *c)
{
    size_t step = c->batch * (CROSS_POSITIVES + c->negatives);
    return step > CROSS_DEPTH ? step : CROSS_DEPTH;
}

/* Sets the limits of the training batch. Estimates the memory of the training in bytes; SIZE_MAX on overflow. */
static size_t measure_cross_step(struct cross_training *c)
{
    const struct examples *e = &c->training->examples;
    const struct model_config *config = wt__trainable_config(c->model);
    size_t pairs = count_most_pairs(c), hidden = config->hidden;
    size_t request = wt__token_texts_longest(&c->requests, 1), dev = wt__token_texts_longest(&c->dev_requests, 1);
    size_t longest = (request > dev ? request : dev) + wt__token_texts_longest(&c->tools, 1);
    longest = longest < c->pair_tokens ? longest : c->pair_tokens;
    c->limits = (struct batch_limits){.texts = pairs, .rows = pairs * longest, .longest = longest};
    size_t training_batch = wt__batch_bytes(c->model, c->training->threads, &c->limits);
    return training_batch == SIZE_MAX ? SIZE_MAX
                                      : training_batch + e->tools * (hidden * sizeof(float) + 2 * sizeof(uint32_t)) +
                                            pairs * (5 * hidden * sizeof(float) + 2 * PAIR_TOKENS * sizeof(int32_t));
}

static int begin_cross(void *self, wt_error *err)
{
    struct cross_training *c = self;
    struct head_rows *head = &c->head;
    size_t pairs = count_most_pairs(c), hidden = wt__trainable_config(c->model)->hidden, floats = pairs * hidden;
    c->groups = wt__alloc_array(c->batch, sizeof *c->groups);
    c->gold = wt__alloc_array(pairs, sizeof *c->gold);
    c->ids = wt__alloc_array(pairs * PAIR_TOKENS, sizeof *c->ids);
    c->types = wt__alloc_array(pairs * PAIR_TOKENS, sizeof *c->types);
    c->texts = wt__alloc_array(c->batch, sizeof *c->texts);
    c->asking = wt__alloc_array(c->batch * c->ranking.dim, sizeof *c->asking);
    c->parts = wt__alloc_array(c->batch, sizeof *c->parts);
    c->best = wt__alloc_array(c->batch * RANKING_DEPTH, sizeof *c->best);
    c->score = wt__alloc_array(hidden + 1, sizeof *c->score);
    float **rows[] = {&head->x, &head->inner, &head->active, &head->dx};
    bool whole = c->groups && c->gold && c->ids && c->types && c->texts && c->asking && c->parts && c->best && c->score;
    for (size_t i = 0; i < 4; i++) {
        *rows[i] = wt__alloc_aligned(floats, sizeof(float));
        whole &= *rows[i] != NULL;
    }
    head->logits = wt__alloc_aligned(pairs, sizeof *head->logits);
    head->dlogits = wt__alloc_aligned(pairs, sizeof *head->dlogits);
    WT_CHECK_ALLOC(whole && head->logits && head->dlogits, err);
    return wt__batch_open(&c->training_batch, c->model, BATCH_ROWS, c->training->threads, &c->limits, err);
}

/* The loss "both": softmax orders the tools of a request, and the mean binary cross-entropy of its pairs gives the
 * logits an absolute scale. In a group without positives, which has one term, only the scale is learned. */
static double sum_losses(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms)
{
    float order[CROSS_POSITIVES + NEGATIVES_MAX];
    size_t pairs;
    if (n == 0) {
        *terms = 0;
        return 0;
    }
    memset(order, 0, sizeof order);
    double loss = wt__refiner_softmax(logits, gold, n, order, terms);
    loss += wt__refiner_bce(logits, gold, n, dlogits, &pairs) / (double)pairs;
    for (size_t i = 0; i < n; i++)
        dlogits[i] = order[i] + dlogits[i] / (float)pairs;
    *terms = *terms ? *terms : 1;
    return loss;
}

/* Moves a random sample of `wanted` values to the front of values, [count]. Returns the size of the sample. */
static size_t draw_to_front(uint32_t *values, size_t count, size_t wanted, struct rng *rng)
{
    for (size_t i = 0; i < wanted && i < count; i++) {
        size_t other = i + (size_t)wt__rng_below(rng, count - i);
        uint32_t moved = values[i];
        values[i] = values[other];
        values[other] = moved;
    }
    return count < wanted ? count : wanted;
}

/* Adds the pairs of a training request with the tools in rows, [count]. gold: true if the tools are labels. */
static void put_pair_tokens(struct cross_training *c, uint32_t example, const uint32_t *rows, size_t count, bool gold)
{
    for (size_t i = 0; i < count; i++) {
        c->gold[c->training_batch.count] = gold;
        add_pair(c, &c->requests, example, rows[i]);
    }
}

/* Adds the group of the i-th request of the step: pairs with some of its labels and with some negatives. */
static int add_group(struct cross_training *c, size_t i, uint32_t example, struct rng *rng, wt_error *err)
{
    const struct example_set *train = &c->training->examples.train;
    size_t labels = train->starts[example + 1] - train->starts[example];
    struct pair_group *group = &c->groups[c->group_count++];
    uint32_t wrong[CROSS_DEPTH];
    WT_AUTO_FREE uint32_t *right = wt__alloc_array(labels, sizeof *right);
    WT_CHECK_ALLOC(right, err);
    memcpy(right, train->tools + train->starts[example], labels * sizeof *right);
    bool gone = c->loss == sum_losses && wt__rng_below(rng, GONE_IN) == 0;
    size_t pool =
        wt__ranking_wrong(&c->ranking, example, NULL, c->best + i * RANKING_DEPTH, c->negatives, CROSS_DEPTH, wrong);
    group->first = c->training_batch.count;
    if (!gone)
        put_pair_tokens(c, example, right, draw_to_front(right, labels, CROSS_POSITIVES, rng), true);
    put_pair_tokens(c, example, wrong, draw_to_front(wrong, pool, c->negatives, rng), false);
    group->count = c->training_batch.count - group->first;
    return 0;
}

static int prepare_cross(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                         wt_error *err)
{
    struct cross_training *c = self;
    const struct example_set *train = &c->training->examples.train;
    WT_TRY(rank_first_stage(c, train, examples, count, RANKING_DEPTH, c->texts, c->asking, c->parts, c->best, err));
    wt__batch_begin(&c->training_batch);
    c->group_count = 0;
    for (size_t i = 0; i < count; i++)
        WT_TRY(add_group(c, i, examples[i], rng, err));
    *tokens += wt__batch_share(&c->training_batch);
    return 0;
}

static void forward_cross(void *self, unsigned worker)
{
    struct cross_training *c = self;
    wt__batch_forward(&c->training_batch, worker);
}

static double cross_loss(void *self)
{
    struct cross_training *c = self;
    size_t hidden = c->training_batch.hidden, terms = 0;
    double sum = 0;
    score_pairs_of_step(c);
    for (size_t g = 0; g < c->group_count; g++) {
        const struct pair_group *group = &c->groups[g];
        size_t own = 0;
        sum += c->loss(c->head.logits + group->first, c->gold + group->first, group->count,
                       c->head.dlogits + group->first, &own);
        terms += own;
    }
    float scale = terms ? 1.0f / (float)terms : 0;
    for (size_t i = 0; i < c->training_batch.count; i++)
        c->head.dlogits[i] *= scale;
    wt__trainable_head_backward(c->model, &c->head);
    for (size_t i = 0; i < c->training_batch.count; i++) {
        const float *last;
        float *dlast;
        size_t stride;
        wt__batch_rows(&c->training_batch, i, &last, &dlast, &stride);
        memcpy(dlast, c->head.dx + i * hidden, hidden * sizeof *dlast);
    }
    return sum * (double)scale;
}

static void backward_cross(void *self, unsigned worker)
{
    struct cross_training *c = self;
    wt__batch_backward(&c->training_batch, worker);
}

static void reduce_cross(void *self, unsigned part, unsigned parts)
{
    struct cross_training *c = self;
    wt__batch_reduce(&c->training_batch, part, parts);
}

static int score_cross_request(void *context, size_t index, unsigned thread)
{
    struct cross_training *c = context;
    (void)thread;
    wt__batch_forward(&c->training_batch, (unsigned)index);
    return 0;
}

/* Scores the candidates of dev request d and records their logits. Returns the recall in the order of the logits. */
static double measure_cross_request(struct cross_training *c, size_t d)
{
    struct scored order[CROSS_DEPTH];
    uint32_t rows[CROSS_DEPTH];
    const uint32_t *best = c->dev_best + d * CROSS_DEPTH;
    size_t count = count_dev_candidates(c, d);
    wt__batch_begin(&c->training_batch);
    for (size_t i = 0; i < count; i++)
        add_pair(c, &c->dev_requests, d, best[i]);
    wt__batch_share(&c->training_batch);
    wt__pool_run(c->training_batch.workers, c->training_batch.workers, score_cross_request, c);
    score_pairs_of_step(c);
    for (size_t i = 0; i < count; i++) {
        order[i] = (struct scored){c->head.logits[i], (uint32_t)i};
        c->logits[c->pairs] = c->head.logits[i];
        c->right[c->pairs++] = wt__ranking_right(&c->ranking, &c->training->examples.dev, c->dev[d], best[i]);
    }
    wt__scored_sort(order, count);
    for (size_t i = 0; i < count; i++)
        rows[i] = best[order[i].row];
    return measure_order(&c->training->examples.dev, c->dev[d], rows, count);
}

/* Fits Platt scaling on the measured pairs. Algorithm 1 of ToolRerank needs probabilities, so logits are scaled to log
 * odds. A slope that is not positive would change the order, so in this case the logits are not scaled. */
static void find_scale(struct cross_training *c)
{
    const struct logistic_samples pairs = {.count = c->pairs, .features = 1, .values = c->logits, .answers = c->right};
    wt__logistic_fit(&pairs, SHRINKAGE, &c->slope, &c->constant);
    if (c->slope > 0)
        return;
    c->slope = 1;
    c->constant = 0;
}

static int measure_cross(void *self, struct train_progress *progress, double *figure, wt_error *err)
{
    struct cross_training *c = self;
    double sum = 0;
    c->pairs = 0;
    if (wt__train_progress_phase(progress, "measuring", c->dev_count))
        return wt__fail_cancelled(err);
    for (size_t d = 0; d < c->dev_count; d++) {
        sum += measure_cross_request(c, d);
        if (wt__train_progress_step(progress, d + 1))
            return wt__fail_cancelled(err);
    }
    *figure = sum / (double)c->dev_count;
    find_scale(c);
    return 0;
}

/* Saves the model with the Platt scaling of the last measurement. Then restores the unscaled weights, because training
 * continues with them. */
static int save_scaled(struct cross_training *c, const json_t *members, wt_error *err)
{
    size_t hidden = wt__trainable_config(c->model)->hidden;
    float *weights, *constant;
    wt__trainable_score(c->model, &weights, &constant);
    memcpy(c->score, weights, hidden * sizeof *weights);
    c->score[hidden] = *constant;
    for (size_t i = 0; i < hidden; i++)
        weights[i] *= c->slope;
    *constant = c->slope * *constant + c->constant;
    int rc = wt__trainable_save(c->model, c->base, c->out, members, err);
    memcpy(weights, c->score, hidden * sizeof *weights);
    *constant = c->score[hidden];
    return rc;
}

/* Saves the model. The head of the initial model is new, so the figure `before` is that of the first stage. */
static int save_cross(void *self, const struct loop_state *state, wt_error *err)
{
    struct cross_training *c = self;
    struct loop_state from_first_stage = *state;
    from_first_stage.before = c->first;
    json_auto_t *members = wt__training_outcome(c->about, c->training->lesson->figure, &from_first_stage);
    WT_CHECK_ALLOC(members, err);
    wt__train_progress_phase(&c->training->progress, "saving", 0);
    return save_scaled(c, members, err);
}

/* ---------------------------------------------------------------- lesson */

static int open_first_stage(struct cross_training *c, wt_error *err)
{
    struct training *training = c->training;
    WT_CLEANUP(wt__progress_dispose) struct progress progress = {0};
    wt__progress_init(&progress, wt__train_progress_forward, &training->progress);
    WT_TRY(wt__ranking_open(&c->ranking, &training->examples, false, SIZE_MAX, training->seed, err));
    WT_TRY(wt__encoder_open(&c->encoder, c->base, err));
    return sum_tool_vectors(c, &progress, err);
}

static int open_cross_model(struct cross_training *c, wt_error *err)
{
    struct training *training = c->training;
    const struct examples *e = &training->examples;
    WT_TRY(wt__trainable_open_scorer(&c->model, c->base, training->seed, err));
    size_t most = wt__trainable_config(c->model)->max_tokens;
    size_t frame = wt__cross_frame(wt__trainable_tokenizer(c->model));
    c->pair_tokens = most < PAIR_TOKENS ? most : PAIR_TOKENS;
    if (c->pair_tokens < frame)
        return wt__fail(err, WT_EMODEL, "%s: a pair needs room for %zu tokens; the model has room for %zu", c->base,
                        frame, most);
    if (training->reduced)
        wt__trainable_allow_bfloat16(c->model);
    WT_TRY(wt__training_layers(training, c->model, err));
    WT_TRY(wt__token_texts_read(&c->requests, c->model, TEXT_PLAIN, e->train.texts, e->train.count,
                                REQUEST_TOKENS + FRAME, training->threads, err));
    return wt__token_texts_read(&c->tools, c->model, TEXT_PLAIN, e->pairs, e->tools, TOOL_TOKENS + FRAME,
                                training->threads, err);
}

static int run_cross_lesson(struct cross_training *c, const struct loop_options *options, struct loop_result *result,
                            wt_error *err)
{
    struct training *training = c->training;
    WT_TRY(open_cross_model(c, err));
    WT_TRY(open_first_stage(c, err));
    WT_TRY(open_cross_dev(c, err));
    c->objective = (struct objective){.self = c,
                                      .examples = training->examples.train.count,
                                      .bytes = measure_cross_step(c),
                                      .begin = begin_cross,
                                      .prepare = prepare_cross,
                                      .forward = forward_cross,
                                      .loss = cross_loss,
                                      .backward = backward_cross,
                                      .reduce = reduce_cross,
                                      .measure = c->dev_count > 0 ? measure_cross : NULL,
                                      .save = save_cross};
    wt__trainable_parameters(c->model, &c->objective.parameters, &c->objective.parameter_count);
    return wt__loop_run(&c->objective, options, &training->progress, result, err);
}

static void dispose_cross(struct cross_training *c)
{
    void *owned[] = {c->groups,      c->gold,         c->ids,      c->types,   c->texts,  c->asking,     c->parts,
                     c->best,        c->dev,          c->dev_best, c->vectors, c->head.x, c->head.inner, c->head.active,
                     c->head.logits, c->head.dlogits, c->head.dx,  c->logits,  c->right,  c->score};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    wt__batch_dispose(&c->training_batch);
    wt__token_texts_dispose(&c->requests);
    wt__token_texts_dispose(&c->dev_requests);
    wt__token_texts_dispose(&c->tools);
    wt__ranking_dispose(&c->ranking);
    wt__encoder_close(c->encoder);
    wt__trainable_close(c->model);
    json_decref(c->about);
}

int wt__lesson_cross(struct training *training, wt_trained *out, wt_error *err)
{
    static const refiner_loss losses[] = {wt__refiner_softmax, wt__refiner_bce, sum_losses};
    const struct lesson_plan plan = {.warmup = .1, .schedule = SCHEDULE_COSINE, .enough = ENOUGH, .most = MOST};
    WT_CLEANUP(dispose_cross) struct cross_training c = {.training = training, .out = out->path};
    struct training_base base;
    struct loop_options options;
    struct loop_result result;
    int chosen = wt__training_loss(training, err);
    WT_TRY(chosen < 0 ? chosen : wt__training_base(training, &base, err));
    WT_TRY(wt__training_plan(training, &plan, &base, &options, &c.about, err));
    c.base = base.folder;
    c.slope = 1;
    c.loss = losses[chosen];
    c.batch = options.batch;
    c.negatives = training->options->negatives ? training->options->negatives : CROSS_NEGATIVES;
    if (!wt__training_done(training, &options, out)) {
        WT_TRY(run_cross_lesson(&c, &options, &result, err));
        wt__training_result(&result, out);
        out->before = c.first;
        if (out->after < out->before)
            out->notice = "on dev the encoder's own order is better than that of the cross-encoder";
    }
    return 0;
}
