/* Tests the training of tiny models of every architecture: gradients against finite differences, gradients of several
 * workers, frozen layers, the order of external rows, and saving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "encoder/encoder.h"
#include "encoder/tiny_model.h"
#include "encoder/trainable.h"
#include "encoder/transformer.h"
#include "nn/layers.h"
#include "nn/safetensors.h"

enum { SEQUENCES = 3, ROWS = 24, EXTERNAL = 4, HIDDEN = 16 };

/* Three sequences. The middle one includes four external rows (id -1), all at the same position. */
static const size_t starts[SEQUENCES + 1] = {0, 9, 20, 24};
static const int32_t ids[ROWS] = {2, 5, 30, 7, 7, 44, 8, 61, 3, 2, 9, 21, 10, 11, 12, -1, -1, -1, -1, 3, 2, 18, 19, 3};
static const int32_t types[ROWS] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
static const int32_t positions[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 7, 7, 7, 7, 6, 0, 1, 2, 3};

static const struct {
    const char *name, *config;
    bool types;
} models[] = {
    {"bert", TINY_BERT, true},
    {"bert with silu", TINY_BERT ", \"hidden_act\": \"silu\"", true},
    {"roberta", TINY_ROBERTA, false},
    {"xlm-roberta", TINY_XLM_ROBERTA, false},
    {"distilbert", TINY_DISTILBERT ", \"activation\": \"gelu_new\"", false},
    {"mpnet", TINY_MPNET, false},
    {"deberta v3", TINY_DEBERTA, false},
    {"deberta v2", TINY_DEBERTA_V2, true},
    {"deberta, only c2p", TINY_DEBERTA ", \"pos_att_type\": \"c2p\"", false},
    {"deberta, only p2c", TINY_DEBERTA_V2 ", \"pos_att_type\": \"p2c\", \"conv_kernel_size\": 5", true},
};
enum { MODELS = sizeof(models) / sizeof(models[0]) };

/* ---------------------------------------------------------------- one worker and its loss */

struct tiny_training {
    char folder[64], model[80];
    struct trainable *t;
    struct tape *tape;
    struct gradients *g;
    struct token_batch batch;
    float external[EXTERNAL * HIDDEN];
    float wanted[ROWS * HIDDEN]; /* weights of the loss, the sum of tape->last * wanted */
    struct model_parameter *list;
    size_t count;
};

static const struct tape_limits limits = {.rows = ROWS, .longest = 11, .external = EXTERNAL};

static void open_tiny_worker(struct tiny_training *run, const char *model)
{
    wt_error err = {0};

    if (wt__trainable_open(&run->t, model, &err) < 0 || wt__tape_new(&run->tape, run->t, &limits, &err) < 0 ||
        wt__gradients_new(&run->g, run->t, true, ROWS, &err) < 0)
        fail_msg("%s", err.message);
    wt__trainable_parameters(run->t, &run->list, &run->count);
}

static void close_tiny_worker(struct tiny_training *run)
{
    wt__gradients_free(run->g);
    wt__tape_free(run->tape);
    wt__trainable_close(run->t);
}

static void open_tiny_training(struct tiny_training *run, const char *config, bool with_types)
{
    struct rng rng;

    *run = (struct tiny_training){.batch = {.count = SEQUENCES, .starts = starts, .ids = ids, .positions = positions}};
    tiny_model_make(run->folder, run->model, config, 5);
    open_tiny_worker(run, run->model);
    wt__rng_seed(&rng, 6);
    for (size_t i = 0; i < EXTERNAL * HIDDEN; i++)
        run->external[i] = (float)(wt__rng_unit(&rng) * 4 - 2);
    for (size_t i = 0; i < ROWS * HIDDEN; i++)
        run->wanted[i] = (float)(wt__rng_unit(&rng) * 2 - 1);
    run->batch.external = run->external;
    run->batch.types = with_types ? types : NULL;
}

static void close_tiny_training(struct tiny_training *run)
{
    close_tiny_worker(run);
    remove_model_folder(run->folder);
}

static double compute_tiny_loss(struct tiny_training *run)
{
    double loss = 0;

    wt__trainable_forward(run->t, &run->batch, run->tape);
    for (size_t n = 0; n < run->batch.starts[run->batch.count]; n++)
        for (size_t h = 0; h < HIDDEN; h++)
            loss += (double)run->tape->last[n * run->tape->stride + h] * run->wanted[n * HIDDEN + h];
    return loss;
}

static void backpropagate_loss(struct tiny_training *run, struct tape *tape, struct gradients *g)
{
    for (size_t n = 0; n < run->batch.starts[run->batch.count]; n++)
        for (size_t h = 0; h < HIDDEN; h++)
            tape->dlast[n * tape->stride + h] += run->wanted[n * HIDDEN + h];
    wt__trainable_backward(run->t, &run->batch, tape, g);
}

/* ---------------------------------------------------------------- slopes */

/* Returns the slope of the loss along a direction. Computes the loss one step ahead of and one step behind `value`. */
static double slope_by_difference(struct tiny_training *run, float *value, const double *direction, size_t count,
                                  double step)
{
    float *before = malloc(count * sizeof(float));
    double side[2];

    assert_non_null(before);
    memcpy(before, value, count * sizeof(float));
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < count; i++)
            value[i] = (float)(before[i] + (s ? step : -step) * direction[i]);
        side[s] = compute_tiny_loss(run);
    }
    memcpy(value, before, count * sizeof(float));
    free(before);
    return (side[1] - side[0]) / (2 * step);
}

/* Compares slopes of the loss by finite difference with the dot product of the direction and the gradient. The
 * directions are the gradient itself and a random one. */
static void check_slopes(struct tiny_training *run, const char *model, const char *name, float *value,
                         const float *gradient, size_t count)
{
    double *direction = malloc(count * sizeof(double)), length = 0;
    struct rng rng;

    assert_non_null(direction);
    wt__rng_seed(&rng, count);
    for (size_t i = 0; i < count; i++)
        length += (double)gradient[i] * gradient[i];
    length = sqrt(length);
    for (int way = 0; way < 2; way++) {
        double size = 0, want = 0;

        for (size_t i = 0; i < count; i++) {
            direction[i] = way == 0 ? gradient[i] : wt__rng_unit(&rng) - 0.5;
            size += direction[i] * direction[i];
        }
        for (size_t i = 0; i < count; i++) {
            direction[i] /= size > 0 ? sqrt(size) : 1;
            want += direction[i] * gradient[i];
        }
        double have = slope_by_difference(run, value, direction, count, 4e-3);
        if (!(fabs(have - want) <= 2e-3 * length + 2e-3))
            fail_msg("%s: %s: slope %.6g, but %.6g by difference", model, name, want, have);
    }
    free(direction);
}

static void gradients_equal_finite_differences(void **state)
{
    static struct tiny_training run;

    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        float dexternal[EXTERNAL * HIDDEN];

        open_tiny_training(&run, models[m].config, models[m].types);
        compute_tiny_loss(&run);
        backpropagate_loss(&run, run.tape, run.g);
        for (size_t e = 0; e < EXTERNAL; e++)
            memcpy(dexternal + e * HIDDEN, run.tape->dexternal + e * run.tape->stride, HIDDEN * sizeof(float));
        for (size_t i = 0; i < run.count; i++)
            check_slopes(&run, models[m].name, run.list[i].name, run.list[i].value, run.list[i].gradient,
                         run.list[i].count);
        check_slopes(&run, models[m].name, "external", run.external, dexternal, EXTERNAL * HIDDEN);
        close_tiny_training(&run);
    }
}

/* ---------------------------------------------------------------- a head */

/* Buffers of a scorer's head for the three sequences. */
struct scorer_head {
    struct head_rows rows;
    float memory[5][SEQUENCES * HIDDEN], logits[SEQUENCES];
};

static void open_scorer_head(struct scorer_head *head)
{
    static float wanted[SEQUENCES] = {1, -2, .5f};

    head->rows = (struct head_rows){.count = SEQUENCES,
                                    .x = head->memory[0],
                                    .inner = head->memory[1],
                                    .active = head->memory[2],
                                    .logits = head->logits,
                                    .dlogits = wanted,
                                    .dx = head->memory[3]};
}

/* Returns the loss, the sum of logits * dlogits. layers: run the layers first, and copy the first row of each sequence
 * into the head. */
static double compute_head_loss(struct tiny_training *run, struct scorer_head *head, bool layers)
{
    double loss = 0;

    if (layers)
        wt__trainable_forward(run->t, &run->batch, run->tape);
    for (size_t b = 0; layers && b < SEQUENCES; b++)
        memcpy(head->rows.x + b * HIDDEN, run->tape->last + starts[b] * run->tape->stride, HIDDEN * sizeof(float));
    wt__trainable_head_forward(run->t, &head->rows);
    for (size_t b = 0; b < SEQUENCES; b++)
        loss += (double)head->logits[b] * head->rows.dlogits[b];
    return loss;
}

static void backpropagate_head(struct tiny_training *run, struct scorer_head *head)
{
    wt__trainable_head_backward(run->t, &head->rows);
    for (size_t b = 0; b < SEQUENCES; b++)
        memcpy(run->tape->dlast + starts[b] * run->tape->stride, head->rows.dx + b * HIDDEN, HIDDEN * sizeof(float));
    wt__trainable_backward(run->t, &run->batch, run->tape, run->g);
}

/* Works like check_slopes for the loss of the head. layers: as in compute_head_loss. */
static void check_head_slopes(struct tiny_training *run, struct scorer_head *head, bool layers, const char *name,
                              float *value, const float *gradient, size_t count)
{
    static float before[TINY_VOCABULARY * HIDDEN], direction[TINY_VOCABULARY * HIDDEN];
    struct rng rng;

    assert_true(count <= TINY_VOCABULARY * HIDDEN);
    wt__rng_seed(&rng, count);
    memcpy(before, value, count * sizeof(float));
    for (int way = 0; way < 2; way++) {
        double size = 0, want = 0, side[2], length = 0;

        for (size_t i = 0; i < count; i++) {
            direction[i] = way == 0 ? gradient[i] : (float)(wt__rng_unit(&rng) - 0.5);
            size += (double)direction[i] * direction[i];
            length += (double)gradient[i] * gradient[i];
        }
        for (size_t i = 0; i < count; i++) {
            direction[i] /= size > 0 ? (float)sqrt(size) : 1;
            want += (double)direction[i] * gradient[i];
        }
        for (int which = 0; which < 2; which++) {
            for (size_t i = 0; i < count; i++)
                value[i] = before[i] + (which ? 4e-3f : -4e-3f) * direction[i];
            side[which] = compute_head_loss(run, head, layers);
        }
        memcpy(value, before, count * sizeof(float));
        double have = (side[1] - side[0]) / 8e-3;
        if (!(fabs(have - want) <= 3e-3 * sqrt(length) + 1e-3))
            fail_msg("%s: slope %.6g, but %.6g by difference", name, want, have);
    }
}

static void head_gradients_equal_finite_differences(void **state)
{
    static struct tiny_training run;
    static struct scorer_head head;
    wt_error err = {0};

    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        static float dx[SEQUENCES * HIDDEN];
        char labelled[400];

        snprintf(labelled, sizeof(labelled), "%s%s", models[m].config, TINY_LABELS(1));
        open_tiny_training(&run, labelled, models[m].types);
        close_tiny_worker(&run);
        if (wt__trainable_open_scorer(&run.t, run.model, 1, &err) < 0 ||
            wt__tape_new(&run.tape, run.t, &limits, &err) < 0 || wt__gradients_new(&run.g, run.t, true, ROWS, &err) < 0)
            fail_msg("%s: %s", models[m].name, err.message);
        wt__trainable_parameters(run.t, &run.list, &run.count);
        open_scorer_head(&head);
        compute_head_loss(&run, &head, true);
        backpropagate_head(&run, &head);
        memcpy(dx, head.rows.dx, sizeof(dx));
        for (size_t i = 0; i < run.count; i++)
            check_head_slopes(&run, &head, true, run.list[i].name, run.list[i].value, run.list[i].gradient,
                              run.list[i].count);
        compute_head_loss(&run, &head, true);
        check_head_slopes(&run, &head, false, "first rows", head.rows.x, dx, SEQUENCES * HIDDEN);
        close_tiny_training(&run);
    }
}

static const struct model_parameter *find_parameter(const struct tiny_training *run, const char *name)
{
    for (size_t i = 0; i < run->count; i++)
        if (strcmp(run->list[i].name, name) == 0)
            return &run->list[i];
    fail_msg("no parameter \"%s\"", name);
    return NULL;
}

/* A head that is missing from the files gets small random weights, which depend on the seed. Freezing layers does not
 * freeze the head. */
static void missing_head_is_initialised(void **state)
{
    static struct tiny_training run;
    struct trainable *again, *other;
    struct model_parameter *list[2];
    size_t counts[2];
    wt_error err = {0};

    (void)state;
    open_tiny_training(&run, TINY_BERT, true);
    close_tiny_worker(&run);
    if (wt__trainable_open_scorer(&run.t, run.model, 1, &err) < 0 ||
        wt__trainable_open_scorer(&again, run.model, 1, &err) < 0 ||
        wt__trainable_open_scorer(&other, run.model, 2, &err) < 0)
        fail_msg("%s", err.message);
    wt__trainable_parameters(run.t, &run.list, &run.count);
    wt__trainable_parameters(again, &list[0], &counts[0]);
    wt__trainable_parameters(other, &list[1], &counts[1]);
    wt__trainable_freeze(run.t, 2);
    for (size_t i = 0; i < run.count; i++) {
        bool head = strstr(run.list[i].name, "pooler") || strstr(run.list[i].name, "classifier");

        assert_int_equal(run.list[i].frozen, !head);
        assert_memory_equal(run.list[i].value, list[0][i].value, run.list[i].count * sizeof(float));
        if (head && strstr(run.list[i].name, "weight"))
            assert_memory_not_equal(run.list[i].value, list[1][i].value, run.list[i].count * sizeof(float));
    }
    const struct model_parameter *weight = find_parameter(&run, "bert.pooler.dense.weight");
    double square = 0;
    for (size_t i = 0; i < weight->count; i++)
        square += (double)weight->value[i] * weight->value[i];
    assert_in_range((long)(1e4 * sqrt(square / (double)weight->count)), 150, 250); /* standard deviation .02 */
    assert_true(*find_parameter(&run, "classifier.bias")->value == 0);
    assert_int_equal(find_parameter(&run, "classifier.weight")->count, HIDDEN);
    wt__trainable_close(again);
    wt__trainable_close(other);
    wt__trainable_close(run.t);
    remove_model_folder(run.folder);
}

/* ---------------------------------------------------------------- workers */

static void only_batch_tokens_get_embedding_gradients(void **state)
{
    static struct tiny_training run;

    (void)state;
    open_tiny_training(&run, TINY_BERT, true);
    compute_tiny_loss(&run);
    backpropagate_loss(&run, run.tape, run.g);
    assert_int_equal(run.list[0].row, HIDDEN);
    for (int32_t id = 0; id < TINY_VOCABULARY; id++) {
        bool there = false, zero = true;

        for (size_t n = 0; n < ROWS; n++)
            there = there || ids[n] == id;
        for (size_t h = 0; h < HIDDEN; h++)
            zero = zero && run.list[0].gradient[(size_t)id * HIDDEN + h] == 0;
        assert_int_equal(run.list[0].touched[id], there);
        assert_int_equal(zero, !there);
    }
    wt__gradients_clear(run.list, run.count);
    for (size_t i = 0; i < run.count; i++)
        for (size_t j = 0; j < run.list[i].count; j++)
            assert_true(run.list[i].gradient[j] == 0);
    close_tiny_training(&run);
}

/* Computes the gradients twice with three workers, each on one sequence, and adds them up in `parts` slices. Writes the
 * second gradients of all parameters to `out`. */
static void train_with_workers(struct tiny_training *run, size_t parts, float *out)
{
    struct gradients *g[SEQUENCES] = {run->g};
    struct token_batch whole = run->batch;
    size_t at = 0;

    for (size_t w = 1; w < SEQUENCES; w++)
        assert_int_equal(wt__gradients_new(&g[w], run->t, false, ROWS, NULL), 0);
    for (int step = 0; step < 2; step++) {
        wt__gradients_clear(run->list, run->count);
        for (size_t w = 0; w < SEQUENCES; w++) {
            size_t first = starts[w], own[2] = {0, starts[w + 1] - first};

            run->batch = (struct token_batch){.count = 1,
                                              .starts = own,
                                              .ids = ids + first,
                                              .types = types + first,
                                              .positions = positions + first,
                                              .external = w == 1 ? run->external : NULL};
            wt__trainable_forward(run->t, &run->batch, run->tape);
            backpropagate_loss(run, run->tape, g[w]);
        }
        for (size_t part = 0; part < parts; part++)
            wt__gradients_reduce(run->t, g, SEQUENCES, part, parts);
    }
    run->batch = whole;
    for (size_t i = 0; i < run->count; i++) {
        memcpy(out + at, run->list[i].gradient, run->list[i].count * sizeof(float));
        at += run->list[i].count;
    }
    for (size_t w = 1; w < SEQUENCES; w++)
        wt__gradients_free(g[w]);
}

static void workers_add_up_to_gradients_of_one_pass(void **state)
{
    static struct tiny_training run;
    size_t all = 0, at = 0;

    (void)state;
    open_tiny_training(&run, TINY_BERT, true);
    for (size_t n = 0; n < ROWS; n++) /* use the weights of the first row for all rows */
        memcpy(run.wanted + n * HIDDEN, run.wanted, HIDDEN * sizeof(float));
    for (size_t i = 0; i < run.count; i++)
        all += run.list[i].count;
    float *first = malloc(all * sizeof(float)), *again = malloc(all * sizeof(float));
    train_with_workers(&run, 1, first);
    for (size_t parts = 1; parts < 6; parts++) {
        train_with_workers(&run, parts, again);
        assert_memory_equal(first, again, all * sizeof(float));
    }
    wt__gradients_clear(run.list, run.count);
    compute_tiny_loss(&run);
    backpropagate_loss(&run, run.tape, run.g);
    for (size_t i = 0; i < run.count; at += run.list[i].count, i++)
        for (size_t j = 0; j < run.list[i].count; j++)
            if (fabsf(run.list[i].gradient[j] - first[at + j]) > 2e-5f)
                fail_msg("%s[%zu]: %g with one worker, %g with three", run.list[i].name, j, run.list[i].gradient[j],
                         first[at + j]);
    free(first);
    free(again);
    close_tiny_training(&run);
}

static void frozen_layers_do_not_change_other_gradients(void **state)
{
    static struct tiny_training run;
    static float want[2][24 * HIDDEN], external[EXTERNAL * HIDDEN];

    (void)state;
    for (size_t m = 0; m < MODELS; m++)
        for (size_t layers = 0; layers <= 2; layers++) {
            open_tiny_training(&run, models[m].config, models[m].types);
            compute_tiny_loss(&run);
            backpropagate_loss(&run, run.tape, run.g);
            size_t kept[2] = {0}, found = 0;
            for (size_t i = 0; i < run.count; i++)
                if (strstr(run.list[i].name, layers < 2 ? "layer.1." : "none") && found < 2 &&
                    run.list[i].count <= 24 * HIDDEN) {
                    memcpy(want[found], run.list[i].gradient, run.list[i].count * sizeof(float));
                    kept[found++] = i;
                }
            for (size_t e = 0; e < EXTERNAL; e++)
                memcpy(external + e * HIDDEN, run.tape->dexternal + e * run.tape->stride, HIDDEN * sizeof(float));
            wt__gradients_clear(run.list, run.count);
            wt__trainable_freeze(run.t, layers);
            compute_tiny_loss(&run);
            backpropagate_loss(&run, run.tape, run.g);
            for (size_t i = 0; i < run.count; i++) {
                const char *layer = strstr(run.list[i].name, "layer.");
                bool frozen = !layer || (size_t)(layer[6] - '0') < layers;

                assert_int_equal(run.list[i].frozen, frozen);
                for (size_t j = 0; frozen && j < run.list[i].count; j++)
                    assert_true(run.list[i].gradient[j] == 0);
            }
            for (size_t k = 0; k < found; k++)
                assert_memory_equal(want[k], run.list[kept[k]].gradient, run.list[kept[k]].count * sizeof(float));
            for (size_t e = 0; e < EXTERNAL; e++)
                assert_memory_equal(external + e * HIDDEN, run.tape->dexternal + e * run.tape->stride,
                                    HIDDEN * sizeof(float));
            close_tiny_training(&run);
        }
}

/* ---------------------------------------------------------------- external rows */

static void order_of_external_rows_at_same_position_does_not_matter(void **state)
{
    static const size_t order[EXTERNAL] = {2, 0, 3, 1};
    static struct tiny_training run;

    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        float before[ROWS * HIDDEN], external[EXTERNAL * HIDDEN];

        open_tiny_training(&run, models[m].config, models[m].types);
        if (wt__trainable_config(run.t)->convolution >
            0) { /* the result of a convolution depends on the order of rows */
            close_tiny_training(&run);
            continue;
        }
        wt__trainable_forward(run.t, &run.batch, run.tape);
        for (size_t n = 0; n < ROWS; n++)
            memcpy(before + n * HIDDEN, run.tape->last + n * run.tape->stride, HIDDEN * sizeof(float));
        memcpy(external, run.external, sizeof(external));
        for (size_t e = 0; e < EXTERNAL; e++)
            memcpy(run.external + e * HIDDEN, external + order[e] * HIDDEN, HIDDEN * sizeof(float));
        wt__trainable_forward(run.t, &run.batch, run.tape);
        for (size_t n = 0; n < ROWS; n++) {
            size_t from = ids[n] < 0 ? 15 + order[n - 15] : n;

            for (size_t h = 0; h < HIDDEN; h++)
                if (!(fabsf(run.tape->last[n * run.tape->stride + h] - before[from * HIDDEN + h]) < 1e-5f))
                    fail_msg("%s: row %zu depends on the order", models[m].name, n);
        }
        close_tiny_training(&run);
    }
}

/* ---------------------------------------------------------------- memory */

static void memory_is_computed_before_allocating(void **state)
{
    static struct tiny_training run;
    struct tape_limits more = limits;
    struct tape *tape;
    wt_error err = {0};

    (void)state;
    open_tiny_training(&run, TINY_DEBERTA, false);
    size_t small = wt__tape_bytes(run.t, &limits);
    more.rows *= 100;
    assert_true(small > 24 * 10 * HIDDEN * sizeof(float));
    assert_true(wt__tape_bytes(run.t, &more) > 20 * small);
    more.rows = SIZE_MAX / 64;
    assert_true(wt__tape_bytes(run.t, &more) == SIZE_MAX);
    assert_int_equal(wt__tape_new(&tape, run.t, &more, &err), WT_ENOMEM);
    assert_null(tape);
    more = (struct tape_limits){.rows = 1, .longest = SIZE_MAX / 2};
    assert_true(wt__tape_bytes(run.t, &more) == SIZE_MAX);
    assert_true(wt__gradients_bytes(run.t, true, 100) < wt__gradients_bytes(run.t, false, 100));
    wt__tape_free(NULL);
    wt__gradients_free(NULL);
    wt__trainable_close(NULL);
    close_tiny_training(&run);
}

/* ---------------------------------------------------------------- saving */

static void encode_saved_model(const char *model, const char *text, float *out)
{
    struct encoder_scratch *scratch;
    struct encoder *encoder;
    struct str s = wt__str(text);
    wt_error err = {0};

    if (wt__encoder_open(&encoder, model, &err) < 0 || wt__encoder_scratch_new(&scratch, encoder, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(wt__encode(encoder, scratch, TEXT_REQUEST, &s, 1, out, NULL), 0);
    wt__encoder_scratch_free(scratch);
    wt__encoder_close(encoder);
}

static void encode_with_tape(struct tiny_training *run, const char *text, float *out)
{
    int32_t own[11];
    size_t own_starts[2] = {0, wt__trainable_tokenize(run->t, wt__str(text), 11, own)};
    struct token_batch batch = {.count = 1, .starts = own_starts, .ids = own};

    wt__trainable_forward(run->t, &batch, run->tape);
    wt__pool_forward(wt__trainable_config(run->t), run->tape->last, run->tape->stride, own_starts[1], out);
    wt__normalize(out, HIDDEN);
}

static void saved_model_equals_trained_model(void **state)
{
    static struct tiny_training run, again;
    const char *text = "Find a hotel in Paris.";

    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        char out[128], path[160];
        float here[HIDDEN], there[HIDDEN];
        wt_error err = {0};

        open_tiny_training(&run, models[m].config, models[m].types);
        put_text(run.model, "modules.json",
                 "[{\"type\": \"a.Transformer\", \"path\": \"\"}, {\"type\": \"a.Pooling\","
                 " \"path\": \"1_Pooling\"}]");
        put_text(run.model, "1_Pooling/config.json", "{\"pooling_mode\": \"mean\"}");
        for (size_t i = 0; i < run.count; i++)
            for (size_t j = 0; j < run.list[i].count; j++)
                run.list[i].value[j] += (float)(j % 7) * 0.01f;
        snprintf(out, sizeof(out), "%s/new/saved", run.folder);
        json_t *members = json_pack("{s:s, s:i}", "base", "tiny", "seed", 7);
        if (wt__trainable_save(run.t, run.model, out, members, &err) < 0)
            fail_msg("%s: %s", models[m].name, err.message);
        json_decref(members);
        encode_with_tape(&run, text, here);
        encode_saved_model(out, text, there);
        for (size_t h = 0; h < HIDDEN; h++)
            if (!(fabsf(here[h] - there[h]) < 2e-6f))
                fail_msg("%s: %g trained, %g saved", models[m].name, here[h], there[h]);
        snprintf(path, sizeof(path), "%s/1_Pooling/config.json", out);
        assert_true(wt__is_file(path));

        again = run;
        open_tiny_worker(&again, out);
        assert_int_equal(again.count, run.count);
        for (size_t i = 0; i < run.count; i++) {
            assert_string_equal(again.list[i].name, run.list[i].name);
            assert_memory_equal(again.list[i].value, run.list[i].value, run.list[i].count * sizeof(float));
        }
        close_tiny_worker(&again);
        close_tiny_training(&run);
    }
}

static json_t *read_saved_json(const char *folder, const char *name)
{
    char path[200], *text;
    size_t len;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, NULL), 0);
    json_t *out = json_loadb(text, len, 0, NULL);
    free(text);
    assert_non_null(out);
    return out;
}

/* Adds pooler.dense.weight, which is not trained without a head, to a model's weights. */
static void add_unknown_tensors(const char *model)
{
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    char path[128];
    struct safetensors file;
    struct mapping map;
    struct tensor_source tensors[64];
    float *copies[64];

    snprintf(path, sizeof(path), "%s/model.safetensors", model);
    assert_int_equal(wt__file_map(&map, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(&file, path, map.ptr, map.len, NULL), 0);
    size_t count = file.count;
    for (size_t i = 0; i < count; i++) {
        const struct tensor *t = &file.tensors[i];

        copies[i] = malloc(t->count * sizeof(float));
        assert_int_equal(wt__tensor_floats(t, copies[i], NULL), 0);
        tensors[i] = (struct tensor_source){t->name, copies[i], t->rank, {t->shape[0], t->shape[1], t->shape[2]}};
    }
    tensors[count] = (struct tensor_source){"pooler.dense.weight", numbers, 2, {2, 3}};
    assert_int_equal(wt__safetensors_write(path, tensors, count + 1, NULL, NULL), 0);
    for (size_t i = 0; i < count; i++)
        free(copies[i]);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
}

static void saving_keeps_untrained_tensors_and_members(void **state)
{
    static struct tiny_training run;
    char out[128], path[160];
    struct safetensors file;
    struct mapping map;

    (void)state;
    open_tiny_training(
        &run,
        TINY_BERT ", \"torch_dtype\": \"float16\", \"own\": [1, 2], \"whichtool\": {\"lesson\": \"dpr\", \"seed\": 1}",
        true);
    add_unknown_tensors(run.model);
    snprintf(out, sizeof(out), "%s/saved", run.folder);
    json_t *members = json_pack("{s:i}", "seed", 7);
    assert_int_equal(wt__trainable_save(run.t, run.model, out, members, NULL), 0);
    assert_int_equal(wt__trainable_save(run.t, out, out, NULL, NULL), 0); /* over itself */
    assert_int_equal(wt__trainable_save(run.t, run.model, out, members, NULL), 0);
    json_decref(members);

    json_t *config = read_saved_json(out, "config.json");
    assert_string_equal(json_string_value(json_object_get(config, "torch_dtype")), "float32");
    assert_int_equal(json_array_size(json_object_get(config, "own")), 2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(config, "whichtool"), "seed")), 7);
    assert_int_equal(json_object_size(json_object_get(config, "whichtool")), 1);
    json_decref(config);

    snprintf(path, sizeof(path), "%s/model.safetensors", out);
    assert_int_equal(wt__file_map(&map, path, NULL), 0);
    assert_int_equal(wt__safetensors_open(&file, path, map.ptr, map.len, NULL), 0);
    const struct tensor *pooler = wt__safetensors_find(&file, "pooler.dense.weight");
    float numbers[6];
    assert_non_null(pooler);
    assert_true(pooler->rank == 2 && pooler->shape[0] == 2 && pooler->shape[1] == 3);
    assert_int_equal(wt__tensor_floats(pooler, numbers, NULL), 0);
    assert_true(numbers[0] == 1 && numbers[5] == 6);
    assert_int_equal(file.count, run.count + 1);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
    close_tiny_training(&run);
}

/* A scorer that began as a sentence-transformers encoder is saved without the files of sentence-transformers. */
static void scorer_is_saved_as_classifier(void **state)
{
    static struct tiny_training run;
    char out[128], path[160];

    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        struct trainable *scorer, *again;
        struct model_parameter *first, *second;
        struct model_config config;
        size_t count, same;
        wt_error err = {0};

        open_tiny_training(&run, models[m].config, models[m].types);
        put_text(run.model, "modules.json", "[{\"type\": \"a.Transformer\", \"path\": \"\"}]");
        snprintf(out, sizeof(out), "%s/scorer", run.folder);
        if (wt__trainable_open_scorer(&scorer, run.model, 3, &err) < 0 ||
            wt__trainable_save(scorer, run.model, out, NULL, &err) < 0 ||
            wt__model_config_read(&config, out, &err) < 0 || wt__trainable_open_scorer(&again, out, 4, &err) < 0)
            fail_msg("%s: %s", models[m].name, err.message);
        assert_int_equal(config.labels, 1);
        snprintf(path, sizeof(path), "%s/modules.json", out);
        assert_false(wt__is_file(path));
        wt__trainable_parameters(scorer, &first, &count);
        wt__trainable_parameters(again, &second, &same);
        assert_int_equal(count, same);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(first[i].name, second[i].name);
            assert_memory_equal(first[i].value, second[i].value, first[i].count * sizeof(float));
        }
        wt__trainable_close(scorer);
        wt__trainable_close(again);
        close_tiny_training(&run);
    }
}

static void opening_and_saving_report_errors(void **state)
{
    static struct tiny_training run;
    struct trainable *t;
    char out[128];
    wt_error err = {0};

    (void)state;
    assert_int_equal(wt__trainable_open(&t, "/nowhere/at-all", &err), WT_EMODEL);
    assert_string_equal(err.message, "there is no model at /nowhere/at-all");
    assert_null(t);

    open_tiny_training(&run, TINY_BERT, true);
    put_text(run.folder, "file", "in the way");
    snprintf(out, sizeof(out), "%s/file", run.folder);
    assert_true(wt__trainable_save(run.t, run.model, out, NULL, &err) < 0);
    assert_non_null(strstr(err.message, "file"));
    snprintf(out, sizeof(out), "%s/saved", run.folder);
    assert_true(wt__trainable_save(run.t, run.folder, out, NULL, &err) < 0);
    assert_non_null(strstr(err.message, "model.safetensors"));

    put_text(run.model, "model.safetensors", "nonsense");
    assert_int_equal(wt__trainable_open(&t, run.model, &err), WT_EMODEL);
    assert_non_null(strstr(err.message, "model.safetensors"));
    put_text(run.model, "vocab.txt", "");
    assert_int_equal(wt__trainable_open(&t, run.model, &err), WT_EMODEL);
    close_tiny_training(&run);
}

/* ---------------------------------------------------------------- the reference libraries */

/* Writes the output of a Python program to `out`. Returns false if the program fails. */
static bool run_python_program(const char *program, const char *argument, char *out, size_t size)
{
    const char *interpreter = getenv("WT_PYTHON");
    char command[4096];

    snprintf(command, sizeof(command), "'%s' -c '%s' '%s' 2>/dev/null", interpreter, program, argument);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    size_t len = fread(out, 1, size - 1, pipe);
    out[len] = '\0';
    return pclose(pipe) == 0;
}

static void check_python_output(const char *name, const char *model, const char *text, const char *program)
{
    static char printed[4096];
    char *at = printed;
    float own[HIDDEN];

    if (!run_python_program(program, model, printed, sizeof(printed)))
        fail_msg("%s cannot be loaded", name);
    encode_saved_model(model, text, own);
    for (size_t h = 0; h < HIDDEN; h++) {
        float want = strtof(at, &at);

        if (!(fabsf(own[h] - want) < 2e-6f))
            fail_msg("%s: %g, but the reference library gives %g", name, own[h], want);
    }
}

static void reference_libraries_load_saved_model(void **state)
{
    static const char with_transformers[] =
        "import sys, torch, transformers as t\n"
        "m, info = t.AutoModel.from_pretrained(sys.argv[1], output_loading_info=True)\n"
        "assert not [k for k in info[\"missing_keys\"] if \"pooler\" not in k], info\n"
        "i = torch.tensor([[2, 5, 7, 24, 11, 3]])\n"
        "x = m.eval()(input_ids=i, attention_mask=torch.ones_like(i)).last_hidden_state[0].mean(0)\n"
        "print(*torch.nn.functional.normalize(x, dim=0).tolist())";
    static const char with_sentence_transformers[] =
        "import sys, sentence_transformers as s\n"
        "print(*s.SentenceTransformer(sys.argv[1], device=\"cpu\").encode(\"the book find in\","
        " normalize_embeddings=True).tolist())";
    static struct tiny_training run;
    char out[128], printed[256];

    (void)state;
    if (!getenv("WT_PYTHON")) {
        printf("skipped: no $WT_PYTHON with transformers and sentence-transformers\n");
        skip();
    }
    if (!run_python_program("import sys, transformers, sentence_transformers, torch", "", printed, sizeof(printed))) {
        printf("skipped: $WT_PYTHON has no transformers, sentence-transformers or torch\n");
        skip();
    }
    for (size_t m = 0; m < MODELS; m++) {
        open_tiny_training(&run, models[m].config, models[m].types);
        snprintf(out, sizeof(out), "%s/saved", run.folder);
        for (size_t i = 0; i < run.count; i++)
            for (size_t j = 0; j < run.list[i].count; j++)
                run.list[i].value[j] += (float)(j % 7) * 0.01f;
        assert_int_equal(wt__trainable_save(run.t, run.model, out, NULL, NULL), 0);
        check_python_output(models[m].name, out, "the book find in", with_transformers);
        if (m == 0)
            check_python_output("sentence-transformers", out, "the book find in", with_sentence_transformers);
        close_tiny_training(&run);
    }
}

/* Scores the middle sequence without its external rows with a saved scorer. The result of transformers must equal the
 * result of wt__trainable_head_forward. */
static void transformers_loads_saved_scorer(void **state)
{
    static const char code[] = "import sys, torch, transformers as t\n"
                               "m, info = t.AutoModelForSequenceClassification.from_pretrained(sys.argv[1],"
                               " output_loading_info=True)\n"
                               "assert not info[\"missing_keys\"] and not info[\"unexpected_keys\"], info\n"
                               "assert m.config.num_labels == 1\n"
                               "i = torch.tensor([[2, 9, 21, 10, 11, 12, 3]])\n"
                               "print(m.eval()(input_ids=i, attention_mask=torch.ones_like(i)).logits.item())";
    static const size_t one[2] = {0, 7};
    static const int32_t tokens[7] = {2, 9, 21, 10, 11, 12, 3};
    static struct tiny_training run;
    static struct scorer_head head;
    char out[128], printed[256];

    (void)state;
    if (!getenv("WT_PYTHON") || !run_python_program("import sys, transformers, torch", "", printed, sizeof(printed))) {
        printf("skipped: no $WT_PYTHON with transformers and torch\n");
        skip();
    }
    for (size_t m = 0; m < MODELS; m++) {
        struct token_batch batch = {.count = 1, .starts = one, .ids = tokens};
        struct trainable *scorer;
        wt_error err = {0};

        open_tiny_training(&run, models[m].config, models[m].types);
        snprintf(out, sizeof(out), "%s/scorer", run.folder);
        if (wt__trainable_open_scorer(&scorer, run.model, 3, &err) < 0)
            fail_msg("%s: %s", models[m].name, err.message);
        assert_int_equal(wt__trainable_save(scorer, run.model, out, NULL, &err), 0);
        wt__trainable_forward(scorer, &batch, run.tape);
        open_scorer_head(&head);
        head.rows.count = 1;
        memcpy(head.rows.x, run.tape->last, HIDDEN * sizeof(float));
        wt__trainable_head_forward(scorer, &head.rows);
        if (!run_python_program(code, out, printed, sizeof(printed)))
            fail_msg("%s: %s", models[m].name, printed);
        if (!(fabs(atof(printed) - (double)head.logits[0]) < 1e-5))
            fail_msg("%s: transformers gives %s, the head %.8g", models[m].name, printed, (double)head.logits[0]);
        wt__trainable_close(scorer);
        close_tiny_training(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_finite_differences),
        cmocka_unit_test(head_gradients_equal_finite_differences),
        cmocka_unit_test(missing_head_is_initialised),
        cmocka_unit_test(scorer_is_saved_as_classifier),
        cmocka_unit_test(transformers_loads_saved_scorer),
        cmocka_unit_test(only_batch_tokens_get_embedding_gradients),
        cmocka_unit_test(workers_add_up_to_gradients_of_one_pass),
        cmocka_unit_test(frozen_layers_do_not_change_other_gradients),
        cmocka_unit_test(order_of_external_rows_at_same_position_does_not_matter),
        cmocka_unit_test(memory_is_computed_before_allocating),
        cmocka_unit_test(saved_model_equals_trained_model),
        cmocka_unit_test(saving_keeps_untrained_tensors_and_members),
        cmocka_unit_test(opening_and_saving_report_errors),
        cmocka_unit_test(reference_libraries_load_saved_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
