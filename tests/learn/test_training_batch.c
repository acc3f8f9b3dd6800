/* Tests training batches: the number of workers may change vectors and gradients only by rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/memory.h"
#include "learn/support.h"
#include "learn/training_batch.h"

static const char *const texts[] = {
    "book a table in london",    "train", "the weather in paris and the news", "send mail",
    "play the music to a hotel", ""};
enum { TEXTS = sizeof texts / sizeof *texts, HIDDEN = 16, MOST_WORKERS = 9 };

struct batch_run {
    struct trainable *model;
    struct token_texts tokens;
    struct training_batch training_batch;
};

static void run_open(struct batch_run *run, struct learn_place *place, enum batch_output output, unsigned workers)
{
    struct str views[TEXTS];
    struct batch_limits limits = {.texts = TEXTS, .longest = 20, .external = 4};
    for (size_t i = 0; i < TEXTS; i++)
        views[i] = wt__str(texts[i]);
    assert_train_ok(place, wt__trainable_open(&run->model, place->model, &place->err));
    assert_train_ok(place,
                    wt__token_texts_read(&run->tokens, run->model, TEXT_REQUEST, views, TEXTS, 20, 1, &place->err));
    limits.rows = run->tokens.starts[TEXTS] + 12;
    assert_train_ok(place, wt__batch_open(&run->training_batch, run->model, output, workers, &limits, &place->err));
}

static void run_close(struct batch_run *run)
{
    wt__batch_dispose(&run->training_batch);
    wt__token_texts_dispose(&run->tokens);
    wt__trainable_close(run->model);
}

static void add_all(struct batch_run *run)
{
    wt__batch_begin(&run->training_batch);
    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(wt__batch_add(&run->training_batch, run->tokens.ids + run->tokens.starts[i],
                                       run->tokens.starts[i + 1] - run->tokens.starts[i]),
                         i);
    wt__batch_share(&run->training_batch);
}

static void forward_all(struct batch_run *run)
{
    for (unsigned w = 0; w < run->training_batch.workers; w++)
        wt__batch_forward(&run->training_batch, w);
}

static void backward_all(struct batch_run *run)
{
    for (unsigned w = 0; w < run->training_batch.workers; w++)
        wt__batch_backward(&run->training_batch, w);
    for (unsigned part = 0; part < 3; part++)
        wt__batch_reduce(&run->training_batch, part, 3);
}

/* Returns all gradients concatenated; the caller frees them. */
static float *gradients_of(struct trainable *model, size_t *count)
{
    struct model_parameter *list;
    size_t parameters, at = 0;
    *count = 0;
    wt__trainable_parameters(model, &list, &parameters);
    for (size_t i = 0; i < parameters; i++)
        *count += list[i].count;
    float *all = calloc(*count, sizeof *all);
    for (size_t i = 0; all && i < parameters; at += list[i].count, i++)
        memcpy(all + at, list[i].gradient, list[i].count * sizeof *all);
    return all;
}

static void assert_floats_near(const float *a, const float *b, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= tolerance * (1 + fabs((double)b[i]))))
            fail_msg("number %zu: %g, wanted %g", i, (double)a[i], (double)b[i]);
}

static void workers_only_change_rounding(void **state)
{
    static const unsigned workers[] = {1, 2, 3, MOST_WORKERS};
    struct learn_place *place = *state;
    float *want = NULL, vectors[TEXTS * HIDDEN];
    for (size_t n = 0; n < sizeof workers / sizeof *workers; n++) {
        struct batch_run run;
        size_t count;
        run_open(&run, place, BATCH_UNIT, workers[n]);
        add_all(&run);
        forward_all(&run);
        for (size_t i = 0; i < TEXTS * HIDDEN; i++)
            run.training_batch.dvectors[i] = sinf((float)i);
        if (n == 0)
            memcpy(vectors, run.training_batch.vectors, sizeof vectors);
        assert_floats_near(run.training_batch.vectors, vectors, TEXTS * HIDDEN, 1e-5);
        backward_all(&run);
        float *have = gradients_of(run.model, &count);
        if (n == 0)
            want = have;
        assert_floats_near(have, want, count, 1e-4);
        if (n > 0)
            free(have);
        run_close(&run);
    }
    free(want);
}

static void distributes_texts_evenly(void **state)
{
    struct learn_place *place = *state;
    struct batch_run run;
    size_t rows[2] = {0};
    run_open(&run, place, BATCH_UNIT, 2);
    add_all(&run);
    for (size_t i = 0; i < TEXTS; i++)
        rows[run.training_batch.texts[i].worker] += run.training_batch.texts[i].length;
    assert_in_range(rows[0] > rows[1] ? rows[0] - rows[1] : rows[1] - rows[0], 0, 4);
    run_close(&run);
}

static void encoding_equals_forward_step(void **state)
{
    struct learn_place *place = *state;
    float out[TEXTS * HIDDEN];
    static const uint32_t some[] = {4, 0, 0};
    struct batch_run run;
    run_open(&run, place, BATCH_UNIT, 2);
    add_all(&run);
    forward_all(&run);
    float *want = calloc(TEXTS * HIDDEN, sizeof *want);
    memcpy(want, run.training_batch.vectors, TEXTS * HIDDEN * sizeof *want);
    assert_train_ok(
        place, wt__batch_encode(&run.training_batch, BATCH_UNIT, &run.tokens, NULL, TEXTS, out, NULL, &place->err));
    assert_floats_near(out, want, TEXTS * HIDDEN, 1e-5);
    assert_train_ok(place,
                    wt__batch_encode(&run.training_batch, BATCH_UNIT, &run.tokens, some, 3, out, NULL, &place->err));
    assert_floats_near(out, want + (size_t)4 * HIDDEN, HIDDEN, 1e-5);
    assert_floats_near(out + HIDDEN, want, HIDDEN, 1e-5);
    assert_memory_equal(out + HIDDEN, out + (size_t)2 * HIDDEN, HIDDEN * sizeof *out);
    assert_train_ok(place,
                    wt__batch_encode(&run.training_batch, BATCH_UNIT, &run.tokens, some, 0, out, NULL, &place->err));
    free(want);
    run_close(&run);
}

/* Returns the loss: a weighted sum of the last states of a text with two external rows. dexternal: receives the
 * gradient of the external rows; may be NULL. */
static double mixed_loss(struct batch_run *run, const float *external, float *dexternal)
{
    int32_t ids[6] = {2, 7, 8, -1, -1, 3}, positions[6] = {0, 1, 2, 4, 4, 3};
    const float *last;
    float *dlast;
    size_t stride;
    double loss = 0;
    wt__batch_begin(&run->training_batch);
    wt__batch_add_mixed(&run->training_batch, ids, positions, 6, 2);
    wt__batch_add(&run->training_batch, run->tokens.ids, run->tokens.starts[1]);
    size_t second = wt__batch_add_mixed(&run->training_batch, ids, positions, 6, 2);
    wt__batch_share(&run->training_batch);
    memset(wt__batch_external(&run->training_batch, 0), 0, 2 * HIDDEN * sizeof *external);
    memcpy(wt__batch_external(&run->training_batch, second), external, 2 * HIDDEN * sizeof *external);
    forward_all(run);
    wt__batch_rows(&run->training_batch, second, &last, &dlast, &stride);
    for (size_t r = 0; r < 6; r++)
        for (size_t h = 0; h < HIDDEN; h++) {
            loss += (double)last[r * stride + h] * cos((double)(r * 7 + h));
            dlast[r * stride + h] = (float)cos((double)(r * 7 + h));
        }
    backward_all(run);
    const float *d = wt__batch_dexternal(&run->training_batch, second, &stride);
    for (size_t r = 0; r < 2 && dexternal; r++)
        memcpy(dexternal + r * HIDDEN, d + r * stride, HIDDEN * sizeof *d);
    return loss;
}

static void external_rows_have_gradients(void **state)
{
    struct learn_place *place = *state;
    float external[2 * HIDDEN], slope[2 * HIDDEN];
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct batch_run run;
        run_open(&run, place, BATCH_ROWS, workers);
        for (size_t i = 0; i < 2 * HIDDEN; i++)
            external[i] = .3f * sinf((float)i * 3);
        mixed_loss(&run, external, slope);
        for (size_t i = 0; i < 2 * HIDDEN; i += 5) {
            const float step = 1e-2f, at = external[i];
            external[i] = at + step;
            double above = mixed_loss(&run, external, NULL);
            external[i] = at - step;
            double below = mixed_loss(&run, external, NULL), want = (above - below) / (2 * (double)step);
            external[i] = at;
            if (fabs(want - (double)slope[i]) > 2e-2 * (1 + fabs(want)))
                fail_msg("number %zu: %g, wanted %g", i, (double)slope[i], want);
        }
        run_close(&run);
    }
}

static void counts_longest_texts(void **state)
{
    size_t starts[] = {0, 3, 5, 12, 12};
    struct token_texts tokens = {.count = 4, .starts = starts};
    (void)state;
    assert_int_equal(wt__token_texts_longest(&tokens, 0), 0);
    assert_int_equal(wt__token_texts_longest(&tokens, 1), 7);
    assert_int_equal(wt__token_texts_longest(&tokens, 2), 10);
    assert_int_equal(wt__token_texts_longest(&tokens, 9), 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workers_only_change_rounding, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(distributes_texts_evenly, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(encoding_equals_forward_step, place_set_up, place_tear_down),
        cmocka_unit_test_setup_teardown(external_rows_have_gradients, place_set_up, place_tear_down),
        cmocka_unit_test(counts_longest_texts),
    };
    return cmocka_run_group_tests_name("learn/training_batch", tests, NULL, NULL);
}
