/* refiner_trainer.c: trains a refiner. A candidate's logit is
 *
 *   PRIOR * (score / best score - 1) + v . features + a + s . state + w . features + b
 *
 * The scores are those of the first stage, and "state" is the candidate's last hidden state. The last three terms are
 * the correction.
 *
 * v and a are fitted first, without the layers. Then the candidate layer, s, w, b and a copy of the encoder's upper
 * layers are trained. s, w and b start at 0, so that the correction starts at 0.
 *
 * v and the correction each get a factor from `strengths`, which is chosen on dev. The factor 0 is among them, so a
 * refiner is never worse on dev than its first stage. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "encoder/packed.h"
#include "learn/loop.h"
#include "learn/trainers.h"
#include "learn/training_batch.h"
#include "nn/safetensors.h"

/* ---------------------------------------------------------------- losses, and the fit of v and a */

enum { FIT_STEPS = 200 };
static const double FIT_RATE = 0.2, FIT_DECAY = 1e-3;

/* Returns the logarithm of the sum of exp(logit) over the candidates that are not gold; -INFINITY if all are gold. */
static double sum_logits(const float *logits, const uint8_t *gold, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (!gold[i] && logits[i] > most)
            most = logits[i];
    for (size_t i = 0; i < n; i++)
        if (!gold[i])
            sum += exp(logits[i] - most);
    return sum > 0 ? most + log(sum) : -INFINITY;
}

static double softplus_of_logit(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms)
{
    double others = sum_logits(logits, gold, n), loss = 0, pushed = 0;
    *terms = 0;
    for (size_t i = 0; i < n; i++) {
        double against = others - logits[i];
        if (!gold[i])
            continue;
        double share = 1 / (1 + exp(-against));
        ++*terms;
        loss += isinf(against) ? 0 : softplus_of_logit(against);
        dlogits[i] = (float)-share;
        pushed += share;
    }
    for (size_t i = 0; i < n; i++)
        if (!gold[i])
            dlogits[i] = (float)(pushed * exp(logits[i] - others));
    return loss;
}

double wt__refiner_bce(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms)
{
    double loss = 0;
    *terms = n;
    for (size_t i = 0; i < n; i++) {
        loss += softplus_of_logit(gold[i] ? -(double)logits[i] : (double)logits[i]);
        dlogits[i] = (float)(1 / (1 + exp(-(double)logits[i])) - gold[i]);
    }
    return loss;
}

/* Computes the gradient of the mean loss over all samples with respect to the weights, including weight decay. The last
 * weight is the constant. */
static void compute_feature_gradient(const struct refiner_samples *samples, refiner_loss loss, float prior,
                                     const double *weights, double *gradient)
{
    size_t n = samples->candidates, all = 0;
    memset(gradient, 0, FIT_WEIGHTS * sizeof *gradient);
    for (size_t i = 0; i < samples->count; i++) {
        float logits[REFINER_MAX_CANDIDATES];
        size_t terms;
        for (size_t c = 0; c < samples->lengths[i]; c++) {
            const float *features = samples->features[i * n + c];
            double sum = prior * (features[FEATURE_SCORE] - 1) + weights[RETRIEVE_FEATURES];
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                sum += weights[f] * features[f];
            logits[c] = (float)sum;
        }
        loss(logits, samples->gold + i * n, samples->lengths[i], logits, &terms);
        all += terms;
        for (size_t c = 0; c < samples->lengths[i]; c++) {
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                gradient[f] += (double)logits[c] * samples->features[i * n + c][f];
            gradient[RETRIEVE_FEATURES] += (double)logits[c];
        }
    }
    for (size_t f = 0; f < FIT_WEIGHTS; f++)
        gradient[f] = gradient[f] / (double)(all ? all : 1) + FIT_DECAY * weights[f];
}

/* Runs Adam over all samples at once, with a rate that falls to 0. */
void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior, float weights[FIT_WEIGHTS])
{
    static const double keep = .9, keep_square = .99, least = 1e-9;
    double w[FIT_WEIGHTS] = {0}, mean[FIT_WEIGHTS] = {0}, square[FIT_WEIGHTS] = {0};
    for (int step = 1; step <= FIT_STEPS; step++) {
        double gradient[FIT_WEIGHTS], rate = FIT_RATE * (1 - (double)step / (FIT_STEPS + 1));
        compute_feature_gradient(samples, loss, prior, w, gradient);
        for (size_t f = 0; f < FIT_WEIGHTS; f++) {
            mean[f] = keep * mean[f] + (1 - keep) * gradient[f];
            square[f] = keep_square * square[f] + (1 - keep_square) * gradient[f] * gradient[f];
            w[f] -= rate * mean[f] / (1 - pow(keep, step)) / (sqrt(square[f] / (1 - pow(keep_square, step))) + least);
        }
    }
    for (size_t f = 0; f < FIT_WEIGHTS; f++)
        weights[f] = (float)w[f];
}

/* ---------------------------------------------------------------- the lesson */

static const float PRIOR = 12; /* a candidate with 0.9 times the best score gets about a third of the best one's odds */
static const float HEAD_RATE = 5; /* learning rate of the new parameters, relative to that of the layers */
/* The candidate layer starts as IDENTITY * sqrt(H) times the identity matrix, so that its rows are about as long as a
 * token's state. */
static const float IDENTITY = 0.4f;
static const double KEPT = 1; /* probability that a gold tool beyond the first N hits is kept as a candidate */
enum {
    OWN_LAYERS = 2, /* default of upper layers of the encoder that are trained */
    USUAL_TEXTS = 3 /* estimated texts of a request: itself and its sub-queries */
};

static const float strengths[] = {0, 0.25f, 0.5f, 0.75f, 1}; /* factors to try on dev, of v and of the correction */
enum { STRENGTHS = sizeof strengths / sizeof *strengths };

enum { SOFTMAX, BCE };

/* Parameters in addition to the layers', stored consecutively. */
enum head_part { CANDIDATE, CANDIDATE_BIAS, STATE, WEIGHTS, BIAS, HEAD_PARTS };

struct refiner_head {
    size_t counts[HEAD_PARTS]; /* floats of each part */
    float *at[HEAD_PARTS];     /* start of each part in a block of `count` floats */
    size_t count;
};

struct refiner_training {
    struct training *training;
    struct dev_evaluator *evaluator;
    const char *out;
    json_t *about;
    int loss; /* SOFTMAX or BCE */
    struct first_stage first;
    size_t join;            /* number of lower layers, which stay fixed */
    size_t candidates;      /* N */
    size_t hidden, dim, in; /* H, D, D + F */
    struct refiner_data data;
    struct trainable *model;
    struct training_batch training_batch;
    struct batch_limits limits;
    struct refiner_scratch **scratch; /* [workers] */
    struct model_parameter *parameters;
    size_t parameter_count, layer_parameters;
    struct refiner_head value, gradient, *sums; /* [workers] of gradients */
    float fitted[FIT_WEIGHTS];                  /* v and a */
    double alone;                               /* figure of the first stage alone; NaN without dev requests */
    float strength;                             /* factor of the correction, from the last measurement */

    /* The current batch. */
    const struct refiner_samples *samples;
    const uint32_t *chosen; /* [count] numbers of the batch's samples */
    size_t count, capacity;
    int32_t *ids;       /* [T + N] all -1, because every row is external */
    int32_t *positions; /* [capacity, T + N] */
    float *inputs;      /* [capacity, N, D + F] */
    float *logits;      /* [capacity, N]; the loss replaces them by their gradients */
    float *learned;     /* [capacity, N] corrections */
};

/* Lays the parts out in a block, each rounded up to 16 floats. block: NULL to compute only the counts. */
static void place_head_parameters(struct refiner_head *head, const struct refiner_training *r, float *block)
{
    const size_t counts[HEAD_PARTS] = {r->hidden * r->in, r->hidden, r->hidden, RETRIEVE_FEATURES, 1};
    head->count = 0;
    for (int part = 0; part < HEAD_PARTS; part++) {
        head->counts[part] = counts[part];
        head->at[part] = block ? block + head->count : NULL;
        head->count += (counts[part] + 15) / 16 * 16;
    }
}

/* Returns a candidate's logit without the correction. */
static float compute_prior(const struct refiner_training *r, const float *features)
{
    float sum = PRIOR * (features[FEATURE_SCORE] - 1) + r->fitted[RETRIEVE_FEATURES];
    for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
        sum += r->fitted[f] * features[f];
    return sum;
}

static struct linear get_candidate_layer(const struct refiner_training *r)
{
    return (struct linear){.in = r->in,
                           .out = r->hidden,
                           .weight = r->value.at[CANDIDATE],
                           .bias = r->value.at[CANDIDATE_BIAS],
                           .row_major = true};
}

/* Fills the training batch with these samples. chosen: [count] numbers of the samples. */
static void lay_out_batch(struct refiner_training *r, const struct refiner_samples *samples, const uint32_t *chosen,
                          size_t count)
{
    size_t row = REFINER_TOKENS + r->candidates;
    r->samples = samples;
    r->chosen = chosen;
    r->count = count;
    wt__batch_begin(&r->training_batch);
    for (size_t b = 0; b < count; b++) {
        size_t tokens = samples->tokens[chosen[b]], length = tokens + samples->lengths[chosen[b]];
        int32_t *positions = r->positions + b * row;
        for (size_t i = 0; i < length; i++)
            positions[i] = (int32_t)(i < tokens ? i : tokens);
        wt__batch_add_mixed(&r->training_batch, r->ids, positions, length, length);
    }
    wt__batch_share(&r->training_batch);
}

static int prepare_refiner(void *self, const uint32_t *examples, size_t count, struct rng *rng, size_t *tokens,
                           wt_error *err)
{
    struct refiner_training *r = self;
    (void)rng;
    (void)err;
    *tokens = 0;
    for (size_t b = 0; b < count; b++)
        *tokens += r->data.train.tokens[examples[b]];
    lay_out_batch(r, &r->data.train, examples, count);
    return 0;
}

/* Fills the external rows of text b: the request's rows from the encoder's lower layers, then the candidates' rows from
 * the candidate layer. */
static void fill_refiner_rows(struct refiner_training *r, size_t b, unsigned worker)
{
    const struct refiner_samples *samples = r->samples;
    const struct linear candidate = get_candidate_layer(r);
    uint32_t sample = r->chosen[b];
    size_t n = samples->candidates, length = samples->lengths[sample], stride;
    float *external = wt__batch_external(&r->training_batch, b), *inputs = r->inputs + b * n * r->in;
    const float *rows;
    size_t tokens = wt__refiner_request(r->evaluator->encoder, r->join, r->scratch[worker],
                                        samples->set->texts[samples->requests[sample]], &rows, &stride);
    for (size_t t = 0; t < tokens; t++)
        memcpy(external + t * r->hidden, rows + t * stride, r->hidden * sizeof(float));
    for (size_t c = 0; c < length; c++) {
        memcpy(inputs + c * r->in, wt__refiner_vector(&r->data, samples, sample, c), r->dim * sizeof(float));
        memcpy(inputs + c * r->in + r->dim, samples->features[sample * n + c], sizeof samples->features[0]);
    }
    wt__linear_forward(&candidate, inputs, r->in, ACTIVATION_NONE, NULL, external + tokens * r->hidden, r->hidden,
                       length);
}

static void forward_refiner(void *self, unsigned worker)
{
    struct refiner_training *r = self;
    const float *last;
    float *dlast;
    size_t stride, n = r->samples->candidates;
    for (size_t b = 0; b < r->count; b++)
        if (r->training_batch.texts[b].worker == worker)
            fill_refiner_rows(r, b, worker);
    wt__batch_forward(&r->training_batch, worker);
    for (size_t b = 0; b < r->count; b++) {
        uint32_t sample = r->chosen[b];
        if (r->training_batch.texts[b].worker != worker)
            continue;
        wt__batch_rows(&r->training_batch, b, &last, &dlast, &stride);
        for (size_t c = 0; c < r->samples->lengths[sample]; c++) {
            const float *state = last + (r->samples->tokens[sample] + c) * stride;
            const float *features = r->samples->features[sample * n + c];
            double sum = r->value.at[BIAS][0];
            for (size_t h = 0; h < r->hidden; h++)
                sum += (double)r->value.at[STATE][h] * state[h];
            for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
                sum += (double)r->value.at[WEIGHTS][f] * features[f];
            r->learned[b * n + c] = (float)sum;
            r->logits[b * n + c] = (float)sum + compute_prior(r, features);
        }
    }
}

static double refiner_step_loss(void *self)
{
    struct refiner_training *r = self;
    size_t n = r->samples->candidates, all = 0;
    double sum = 0;
    for (size_t b = 0; b < r->count; b++) {
        size_t terms, length = r->samples->lengths[r->chosen[b]];
        const uint8_t *gold = r->samples->gold + r->chosen[b] * n;
        float *logits = r->logits + b * n;
        sum += r->loss == BCE ? wt__refiner_bce(logits, gold, length, logits, &terms)
                              : wt__refiner_softmax(logits, gold, length, logits, &terms);
        all += terms;
    }
    for (size_t i = 0; i < r->count * n; i++)
        r->logits[i] /= (float)(all ? all : 1);
    return sum / (double)(all ? all : 1);
}

/* Propagates the gradients of text b's logits to sums and to the last hidden states of its candidates. */
static void score_backward(struct refiner_training *r, size_t b, struct refiner_head *sums)
{
    uint32_t sample = r->chosen[b];
    size_t stride, n = r->samples->candidates;
    const float *last;
    float *dlast;
    wt__batch_rows(&r->training_batch, b, &last, &dlast, &stride);
    for (size_t c = 0; c < r->samples->lengths[sample]; c++) {
        size_t at = (r->samples->tokens[sample] + c) * stride;
        const float *features = r->samples->features[sample * n + c];
        float d = r->logits[b * n + c];
        for (size_t h = 0; h < r->hidden; h++) {
            dlast[at + h] += d * r->value.at[STATE][h];
            sums->at[STATE][h] += d * last[at + h];
        }
        for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
            sums->at[WEIGHTS][f] += d * features[f];
        sums->at[BIAS][0] += d;
    }
}

static void backward_refiner(void *self, unsigned worker)
{
    struct refiner_training *r = self;
    struct refiner_head *sums = &r->sums[worker];
    const struct linear candidate = get_candidate_layer(r);
    size_t n = r->samples->candidates, stride;
    for (size_t b = 0; b < r->count; b++)
        if (r->training_batch.texts[b].worker == worker)
            score_backward(r, b, sums);
    wt__batch_backward(&r->training_batch, worker);
    for (size_t b = 0; b < r->count; b++) {
        uint32_t sample = r->chosen[b];
        if (r->training_batch.texts[b].worker != worker)
            continue;
        const float *external = wt__batch_dexternal(&r->training_batch, b, &stride);
        wt__linear_backward(&candidate, r->inputs + b * n * r->in, r->in,
                            external + r->samples->tokens[sample] * stride, stride, NULL, 0, sums->at[CANDIDATE],
                            sums->at[CANDIDATE_BIAS], r->samples->lengths[sample]);
    }
}

static void reduce_refiner(void *self, unsigned part, unsigned parts)
{
    struct refiner_training *r = self;
    wt__batch_reduce(&r->training_batch, part, parts);
    for (unsigned w = 0; part == 0 && w < r->training_batch.workers; w++) {
        for (size_t i = 0; i < r->gradient.count; i++)
            r->gradient.at[0][i] += r->sums[w].at[0][i];
        memset(r->sums[w].at[0], 0, r->gradient.count * sizeof(float));
    }
}

/* Returns the mean recall at 3, 5 and 7 of one dev sample with the correction scaled by `strength`. */
static double measure_sample_recall(const struct refiner_training *r, size_t b, float strength)
{
    enum { DEPTH = EVALUATOR_DEPTH };
    const struct refiner_samples *samples = r->samples;
    uint32_t sample = r->chosen[b], request = samples->requests[sample];
    size_t n = samples->candidates, length = samples->lengths[sample], found = 0;
    double gold = (double)(samples->set->starts[request + 1] - samples->set->starts[request]), sum = 0;
    float scores[REFINER_MAX_CANDIDATES];
    for (size_t c = 0; c < length; c++)
        scores[c] =
            compute_prior(r, samples->features[sample * n + c]) + (strength > 0 ? strength * r->learned[b * n + c] : 0);
    for (size_t rank = 1; rank <= DEPTH && rank <= length; rank++) {
        size_t best = 0;
        for (size_t c = 1; c < length; c++)
            if (scores[c] > scores[best])
                best = c;
        scores[best] = -INFINITY;
        found += samples->gold[sample * n + best];
        sum += (double)found * ((rank == 3 || rank == 5 || rank == 7) + 0.0);
    }
    for (size_t cut = 3; cut <= DEPTH; cut += 2)
        sum += length < cut ? (double)found : 0;
    return sum / 3 / gold;
}

/* Returns the figure on dev without the correction; NaN without dev requests. */
static double measure_without_layers(struct refiner_training *r)
{
    struct refiner_samples *dev = &r->data.dev;
    double sum = 0;
    for (uint32_t q = 0; q < dev->count; q++) {
        r->samples = dev;
        r->chosen = &q;
        sum += measure_sample_recall(r, 0, 0);
    }
    r->chosen = NULL;
    return dev->count ? sum / (double)dev->count : NAN;
}

/* Fits v and a, and scales v by the strength that is best on dev. */
static void fit_refiner(struct refiner_training *r)
{
    float all[FIT_WEIGHTS];
    size_t best = STRENGTHS - 1;
    double figure = NAN;
    memset(r->fitted, 0, sizeof r->fitted);
    r->alone = measure_without_layers(r);
    wt__refiner_fit(&r->data.train, r->loss == BCE ? wt__refiner_bce : wt__refiner_softmax, PRIOR, all);
    for (size_t s = 0; s < STRENGTHS && r->data.dev.count > 0; s++) {
        for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
            r->fitted[f] = strengths[s] * all[f];
        double here = measure_without_layers(r);
        if (s == 0 || here > figure + 1e-9) {
            best = s;
            figure = here;
        }
    }
    for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
        r->fitted[f] = strengths[best] * all[f];
    r->fitted[RETRIEVE_FEATURES] = all[RETRIEVE_FEATURES];
}

static int forward_refiner_item(void *context, size_t index, unsigned worker)
{
    (void)worker;
    forward_refiner(context, (unsigned)index);
    return 0;
}

/* Measures each factor of the correction on dev. Sets r->strength to the best factor, and *figure to its result. */
static int measure_refiner(void *self, struct train_progress *progress, double *figure, wt_error *err)
{
    struct refiner_training *r = self;
    size_t count = r->data.dev.count, best = 0;
    double sums[STRENGTHS] = {0};
    WT_AUTO_FREE uint32_t *chosen = wt__alloc_array(count, sizeof *chosen);
    WT_CHECK_ALLOC(chosen, err);
    for (size_t i = 0; i < count; i++)
        chosen[i] = (uint32_t)i;
    for (size_t first = 0; first < count; first += r->capacity) {
        lay_out_batch(r, &r->data.dev, chosen + first, count - first < r->capacity ? count - first : r->capacity);
        wt__pool_run(r->training_batch.workers, r->training_batch.workers, forward_refiner_item, r);
        for (size_t b = 0; b < r->count; b++)
            for (size_t s = 0; s < STRENGTHS; s++)
                sums[s] += measure_sample_recall(r, b, strengths[s]);
        if (wt__train_progress_step(progress, progress->state.done))
            return wt__fail_cancelled(err);
    }
    for (size_t s = 1; s < STRENGTHS; s++)
        if (sums[s] > sums[best] + 1e-9 * (double)count)
            best = s;
    r->strength = strengths[best];
    *figure = sums[best] / (double)count;
    return 0;
}

/* Writes the weights that a query uses: the layers, the candidate layer and the score layer. The score layer consists
 * of s, v + w and b, with s, w and b multiplied by the strength. It is divided by PRIOR, so that a query adds the first
 * stage's score without a factor. */
static int write_weights(struct refiner_training *r, const char *path, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    size_t width = r->hidden + RETRIEVE_FEATURES, count = 0;
    float *score = wt__arena_array(&arena, float, width + 1), scale = r->strength / PRIOR;
    struct tensor_source *tensors = wt__arena_array(&arena, struct tensor_source, r->layer_parameters + HEAD_PARTS);
    struct model_parameter *layers;
    size_t layer_count;
    WT_CHECK_ALLOC(score && tensors, err);
    for (size_t h = 0; h < r->hidden; h++)
        score[h] = scale * r->value.at[STATE][h];
    for (size_t f = 0; f < RETRIEVE_FEATURES; f++)
        score[r->hidden + f] = r->fitted[f] / PRIOR + scale * r->value.at[WEIGHTS][f];
    score[width] = scale * r->value.at[BIAS][0];
    wt__trainable_parameters(r->model, &layers, &layer_count);
    for (size_t i = 0; i < layer_count; i++)
        if (strncmp(layers[i].name, "embeddings.", 11) != 0)
            tensors[count++] = wt__trainable_tensor(r->model, i);
    tensors[count++] = (struct tensor_source){REFINER_CANDIDATE, r->value.at[CANDIDATE], 2, {r->hidden, r->in}};
    tensors[count++] = (struct tensor_source){REFINER_CANDIDATE_BIAS, r->value.at[CANDIDATE_BIAS], 1, {r->hidden}};
    tensors[count++] = (struct tensor_source){REFINER_SCORE, score, 2, {1, width}};
    tensors[count++] = (struct tensor_source){REFINER_SCORE_BIAS, score + width, 1, {1}};
    return wt__safetensors_write(path, tensors, count, NULL, err);
}

static json_t *describe_refiner(const struct refiner_training *r)
{
    const struct retriever *retriever = &r->first.retriever;
    json_auto_t *weights = wt__retriever_write(retriever);
    if (!weights || json_object_set_new(weights, r->first.name, json_real(1)) < 0)
        return NULL;
    return json_pack("{s:O, s:b, s:s, s:I, s:I, s:f, s:f}", "weights", weights, "votes", retriever->also != 0, "first",
                     r->first.identity, "join", (json_int_t)r->join, "candidates", (json_int_t)r->candidates,
                     "strength", (double)r->strength, "kept", KEPT);
}

static int save_refiner(void *self, const struct loop_state *state, wt_error *err)
{
    struct refiner_training *r = self;
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = wt__path_join(&arena, r->out, TRAINED_WEIGHTS);
    WT_CHECK_ALLOC(path, err);
    WT_TRY(write_weights(r, path, err));
    struct loop_state from_first_stage = *state;
    from_first_stage.before = r->alone;
    return wt__evaluator_save(r->evaluator, r->out, r->about, &from_first_stage, describe_refiner(r), err);
}

/* Saves the refiner with strength 0, because no step improved the figure on dev. Queries then skip the layers. */
static int revert_refiner(void *self, const struct loop_state *state, wt_error *err)
{
    struct refiner_training *r = self;
    r->strength = 0;
    return save_refiner(self, state, err);
}

static int open_heads(struct refiner_training *r, unsigned workers, wt_error *err)
{
    place_head_parameters(&r->value, r, NULL);
    float *block = calloc((2 + (size_t)workers) * r->value.count, sizeof *block);
    r->sums = calloc(workers, sizeof *r->sums);
    if (!block || !r->sums) {
        free(block);
        return wt__fail_nomem(err);
    }
    place_head_parameters(&r->value, r, block);
    place_head_parameters(&r->gradient, r, block + r->value.count);
    for (unsigned w = 0; w < workers; w++)
        place_head_parameters(&r->sums[w], r, block + (2 + (size_t)w) * r->value.count);
    for (size_t h = 0; h < r->hidden && h < r->dim; h++)
        r->value.at[CANDIDATE][h * r->in + h] = IDENTITY * sqrtf((float)r->hidden);
    return 0;
}

static int list_refiner_parameters(struct refiner_training *r, wt_error *err)
{
    static const char *const names[HEAD_PARTS] = {REFINER_CANDIDATE, REFINER_CANDIDATE_BIAS, "score.state",
                                                  "score.features", REFINER_SCORE_BIAS};
    struct model_parameter *layers;
    wt__trainable_parameters(r->model, &layers, &r->layer_parameters);
    r->parameters = wt__alloc_array(r->layer_parameters + HEAD_PARTS, sizeof *r->parameters);
    WT_CHECK_ALLOC(r->parameters, err);
    for (size_t i = 0; i < r->layer_parameters; i++)
        if (!layers[i].frozen)
            r->parameters[r->parameter_count++] = layers[i];
    for (int part = 0; part < HEAD_PARTS; part++)
        r->parameters[r->parameter_count++] = (struct model_parameter){.name = names[part],
                                                                       .value = r->value.at[part],
                                                                       .gradient = r->gradient.at[part],
                                                                       .count = r->value.counts[part],
                                                                       .decays = part != CANDIDATE_BIAS && part != BIAS,
                                                                       .rate = HEAD_RATE};
    return 0;
}

static void measure_refiner_step(struct refiner_training *r, size_t batch)
{
    size_t longest = 0;
    const struct refiner_samples *both[] = {&r->data.train, &r->data.dev};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < both[s]->count; i++)
            longest = both[s]->tokens[i] > longest ? both[s]->tokens[i] : longest;
    longest += r->candidates;
    r->limits =
        (struct batch_limits){.texts = batch, .rows = batch * longest, .longest = longest, .external = batch * longest};
}

/* Estimates the bytes that a training needs, including its data, which is allocated already. SIZE_MAX on overflow. */
static size_t bytes_of_refiner(const struct refiner_training *r, unsigned workers)
{
    size_t training_batch = wt__batch_bytes(r->model, workers, &r->limits), n = r->candidates;
    size_t sample = n * (sizeof(uint32_t) + 1 + RETRIEVE_FEATURES * sizeof(float)) + 16 +
                    USUAL_TEXTS * r->dim * sizeof(float); /* cached by the evaluator */
    size_t own = (r->data.train.count + r->data.dev.count) * sample +
                 (REFINER_FOLDS + 1) * r->data.tools * r->dim * sizeof(float) * 5 / 4 +
                 r->capacity * n * (r->in + 2) * sizeof(float);
    return training_batch == SIZE_MAX ? SIZE_MAX : training_batch + own;
}

static int begin_refiner(void *self, wt_error *err)
{
    struct refiner_training *r = self;
    size_t row = REFINER_TOKENS + r->candidates, batch = r->capacity;
    unsigned workers = r->training->threads;
    WT_TRY(wt__batch_open(&r->training_batch, r->model, BATCH_ROWS, workers, &r->limits, err));
    r->ids = wt__alloc_array(row, sizeof *r->ids);
    r->positions = wt__alloc_array(batch * row, sizeof *r->positions);
    r->inputs = wt__alloc_aligned(batch * r->candidates * r->in, sizeof *r->inputs);
    r->logits = calloc(batch * r->candidates, sizeof *r->logits);
    r->learned = calloc(batch * r->candidates, sizeof *r->learned);
    r->scratch = calloc(workers, sizeof(struct refiner_scratch *));
    WT_CHECK_ALLOC(r->ids && r->positions && r->inputs && r->logits && r->learned && r->scratch, err);
    for (size_t i = 0; i < row; i++)
        r->ids[i] = -1;
    for (unsigned w = 0; w < workers; w++)
        WT_TRY(wt__refiner_scratch_new(&r->scratch[w], r->evaluator->encoder, r->candidates, err));
    return 0;
}

static void dispose_refiner(struct refiner_training *r)
{
    for (unsigned w = 0; r->scratch && w < r->training->threads; w++)
        wt__refiner_scratch_free(r->scratch[w]);
    wt__batch_dispose(&r->training_batch);
    wt__trainable_close(r->model);
    wt__refiner_data_dispose(&r->data);
    free(r->value.at[0]);
    free(r->sums);
    free(r->parameters);
    free(r->scratch);
    free(r->ids);
    free(r->positions);
    free(r->inputs);
    free(r->logits);
    free(r->learned);
    json_decref(r->about);
}

static void close_trained(struct trained **trained)
{
    wt__trained_close(*trained);
}

/* Reads the trained recipe of the first stage. */
static int read_first_stage(struct refiner_training *r, wt_error *err)
{
    const char *name = r->training->lesson->public.name;
    WT_CLEANUP(close_trained) struct trained *trained = NULL;
    const struct recipe *before = &wt__recipes[wt__recipe_named(name)->first];
    r->first.classified = before->model == MODEL_MLC;
    r->first.name = before->public.name;
    WT_TRY(wt__trained_open(&trained, r->training->out, r->evaluator->encoder, NULL, err));
    const struct trained_recipe *first = wt__trained_recipe(trained, r->first.name);
    if (!first)
        return wt__fail(err, WT_EINVAL, "%s reranks the hits of %s; run `whichtool train %s` first", name,
                        r->first.name, r->first.name);
    r->first.retriever = first->retriever;
    r->first.retriever.also = wt__trained_recipe(trained, "neighbours") ? 1u << SOURCE_NEIGHBOURS : 0;
    r->first.identity = wt__arena_copy(&r->training->arena, wt__str(first->identity));
    WT_CHECK_ALLOC(r->first.identity, err);
    return 0;
}

/* Sets the layer where request and candidates meet. The convolution of DeBERTa v2 belongs to the first layer, so there
 * they meet in the second one at the earliest. */
static int choose_join(struct refiner_training *r, const struct model_config *config, wt_error *err)
{
    size_t given = r->training->options->layers, own = given ? given : OWN_LAYERS, lowest = config->convolution > 0;
    size_t most = config->layers - lowest;
    if (given > most)
        return wt__fail(err, WT_EINVAL, "a refiner of this model has at most %zu layers, not %zu", most, given);
    r->join = own < most ? config->layers - own : lowest;
    return 0;
}

static int open_refiner_model(struct refiner_training *r, size_t batch, wt_error *err)
{
    const struct model_config *config = &wt__encoder_packed(r->evaluator->encoder)->model.config;
    size_t wanted = r->training->options->candidates;
    r->hidden = config->hidden;
    r->dim = r->evaluator->dim;
    r->in = r->dim + RETRIEVE_FEATURES;
    WT_TRY(choose_join(r, config, err));
    r->candidates = wanted ? wanted : REFINER_CANDIDATES;
    r->capacity = batch;
    if (r->candidates < REFINER_MIN_CANDIDATES || r->candidates > REFINER_MAX_CANDIDATES)
        return wt__fail(err, WT_EINVAL, "a refiner takes %d to %d candidates, not %zu", REFINER_MIN_CANDIDATES,
                        REFINER_MAX_CANDIDATES, r->candidates);
    WT_TRY(wt__trainable_open_upper(&r->model, r->evaluator->base.folder, r->join, err));
    if (r->training->reduced)
        wt__trainable_allow_bfloat16(r->model);
    wt__trainable_freeze(r->model, 0);
    WT_TRY(open_heads(r, r->training->threads, err));
    return list_refiner_parameters(r, err);
}

static int train_refiner(struct refiner_training *r, const struct loop_options *options, struct loop_result *result,
                         wt_error *err)
{
    WT_TRY(open_refiner_model(r, options->batch, err));
    WT_TRY(wt__refiner_data_open(&r->data, r->evaluator, &r->first, r->candidates, KEPT, err));
    WT_TRY(wt__make_folders(r->out, err));
    fit_refiner(r);
    measure_refiner_step(r, options->batch);
    struct objective objective = {.self = r,
                                  .parameters = r->parameters,
                                  .parameter_count = r->parameter_count,
                                  .examples = r->data.train.count,
                                  .bytes = bytes_of_refiner(r, options->workers),
                                  .begin = begin_refiner,
                                  .prepare = prepare_refiner,
                                  .forward = forward_refiner,
                                  .loss = refiner_step_loss,
                                  .backward = backward_refiner,
                                  .reduce = reduce_refiner,
                                  .measure = r->data.dev.count ? measure_refiner : NULL,
                                  .save = save_refiner,
                                  .revert = revert_refiner};
    return wt__loop_run(&objective, options, &r->training->progress, result, err);
}

int wt__lesson_refiner(struct training *training, wt_trained *out, wt_error *err)
{
    const struct lesson_plan plan = {.warmup = .1, .schedule = SCHEDULE_COSINE, .enough = 8000, .most = 5};
    WT_CLEANUP(dispose_refiner)
    struct refiner_training r = {.training = training, .out = out->path, .strength = 1};
    struct loop_options options;
    struct loop_result result;
    r.loss = wt__training_loss(training, err);
    if (r.loss < 0)
        return r.loss;
    WT_TRY(wt__evaluator_open(&r.evaluator, training, err));
    WT_TRY(read_first_stage(&r, err));
    WT_TRY(wt__training_plan(training, &plan, &r.evaluator->base, &options, &r.about, err));
    if (wt__training_done(training, &options, out))
        return 0;
    WT_TRY(train_refiner(&r, &options, &result, err));
    wt__training_result(&result, out);
    out->before = r.alone;
    if (result.state.best_step == 0 && !isnan(r.alone))
        out->notice = result.state.best > r.alone
                          ? "the layers did not improve the figure on dev; only new weights of the features did"
                          : "no step improved the figure on dev, so the refiner keeps the order of its first stage";
    return 0;
}

int wt__refiner_measure(struct dev_evaluator *evaluator, const char *recipe, bool *there, struct dev_outcome *out,
                        wt_error *err)
{
    WT_CLEANUP(close_trained) struct trained *trained = NULL;
    WT_CLEANUP(wt__tool_vectors_dispose) struct tool_vectors searched = {0};
    *there = false;
    WT_TRY(wt__trained_open(&trained, evaluator->training->out, evaluator->encoder, NULL, err));
    const struct trained_recipe *found = wt__trained_recipe(trained, recipe);
    if (!found)
        return 0;
    *there = true;
    WT_AUTO_FREE float *vectors = wt__alloc_array(evaluator->tools * evaluator->dim, sizeof *vectors);
    WT_CHECK_ALLOC(vectors, err);
    const struct first_stage first = {recipe, found->identity, found->retriever, found->mlc > 0};
    WT_TRY(wt__refiner_vectors(evaluator, &first, REFINER_FOLDS, vectors, err));
    WT_TRY(wt__tool_vectors_open(&searched, vectors, evaluator->tools, evaluator->dim, err));
    return wt__evaluator_measure_refined(evaluator, &found->retriever, &searched, &found->reranker, out, err);
}
