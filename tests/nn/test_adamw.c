/* Tests AdamW against its formula in doubles: decay, rates, clipping, frozen and sparse parameters, checkpoints,
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "gradient.h"
#include "nn/adamw.h"

enum { ROWS = 40, ROW = 24, TABLE = ROWS * ROW, DENSE = 70001, SMALL = 5, FROZEN = 3, PARAMETERS = 4, STEPS = 6 };

/* A model with four parameters: a table with few touched rows, a matrix of several chunks, a bias without decay, and a
 * frozen parameter. */
struct model {
    float table[TABLE], dtable[TABLE], dense[DENSE], ddense[DENSE], bias[SMALL], dbias[SMALL], kept[FROZEN],
        dkept[FROZEN];
    uint8_t touched[ROWS];
    struct model_parameter parameters[PARAMETERS];
};

static struct model *create_adamw_model(bool sparse)
{
    struct model *m = calloc(1, sizeof(*m));

    assert_non_null(m);
    m->parameters[0] = (struct model_parameter){.name = "table",
                                                .value = m->table,
                                                .gradient = m->dtable,
                                                .count = TABLE,
                                                .row = ROW,
                                                .touched = sparse ? m->touched : NULL,
                                                .decays = true,
                                                .rate = 1};
    m->parameters[1] = (struct model_parameter){
        .name = "dense", .value = m->dense, .gradient = m->ddense, .count = DENSE, .decays = true, .rate = 0.5f};
    m->parameters[2] =
        (struct model_parameter){.name = "bias", .value = m->bias, .gradient = m->dbias, .count = SMALL, .rate = 1};
    m->parameters[3] = (struct model_parameter){.name = "frozen",
                                                .value = m->kept,
                                                .gradient = m->dkept,
                                                .count = FROZEN,
                                                .decays = true,
                                                .frozen = true,
                                                .rate = 1};
    for (size_t p = 0; p < PARAMETERS; p++)
        for (size_t i = 0; i < m->parameters[p].count; i++)
            m->parameters[p].value[i] = sinf((float)(i + 7 * p));
    return m;
}

/* Sets the gradients of a step. Row r of the table has a gradient if step + 2 divides r. */
static void set_gradients(struct model *m, unsigned step)
{
    for (size_t i = 0; i < TABLE; i++) {
        bool touched = i / ROW % (step + 2) == 0;

        m->touched[i / ROW] = touched;
        m->dtable[i] = touched ? cosf((float)(i * (step + 1))) : 0;
    }
    for (size_t i = 0; i < DENSE; i++)
        m->ddense[i] = cosf((float)(i + step)) * 0.1f;
    for (size_t i = 0; i < SMALL; i++)
        m->dbias[i] = 1 + (float)i;
    for (size_t i = 0; i < FROZEN; i++)
        m->dkept[i] = 100;
}

static const struct adamw_options options = {0.9f, 0.99f, 1e-6f, 0.1f, 2.0f};

static float choose_rate(unsigned step)
{
    return step == 0 ? 0 : 0.01f * (float)step; /* With a rate of 0, only the moments change. */
}

static double twin_norm(const struct model *m, double scale)
{
    double sum = 0;

    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < m->parameters[p].count; i++)
            sum += pow(m->parameters[p].gradient[i] * scale, 2);
    return sqrt(sum);
}

/* Does one step by the formulas of the paper, in doubles. state has [count] first moments, then [count] second moments.
 */
static void twin_step(const struct model_parameter *p, double *value, double *state, unsigned step, double rate,
                      double scale)
{
    for (size_t i = 0; i < p->count; i++) {
        double g = p->gradient[i] * scale, *m = &state[i], *v = &state[p->count + i];

        *m = options.beta1 * *m + (1 - (double)options.beta1) * g;
        *v = options.beta2 * *v + (1 - (double)options.beta2) * g * g;
        double m_hat = *m / (1 - pow(options.beta1, step + 1)), v_hat = *v / (1 - pow(options.beta2, step + 1));
        if (p->decays)
            value[i] *= 1 - rate * p->rate * options.decay;
        value[i] -= rate * p->rate * m_hat / (sqrt(v_hat) + options.epsilon);
    }
}

static void step_matches_formula(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct model *m = create_adamw_model(sparse);
        struct adamw adamw;
        double *values[3], *means[3];

        for (size_t p = 0; p < 3; p++) {
            values[p] = doubles_of(m->parameters[p].value, m->parameters[p].count);
            means[p] = calloc(2 * m->parameters[p].count, sizeof(double));
            assert_non_null(means[p]);
        }
        assert_int_equal(wt__adamw_open(&adamw, m->parameters, PARAMETERS, &options, NULL), 0);
        assert_null(adamw.first[3]);
        for (unsigned step = 0; step < STEPS; step++) {
            const double scale = 0.5;

            set_gradients(m, step);
            double norm = twin_norm(m, scale), shrink = fmin(1, options.clip / (norm + 1e-6));
            double have = wt__adamw_step(&adamw, choose_rate(step), (float)scale, 2);
            assert_true(fabs(have - norm) < 1e-5 * norm);
            for (size_t p = 0; p < 3; p++) {
                twin_step(&m->parameters[p], values[p], means[p], step, choose_rate(step), scale * shrink);
                vectors_agree(m->parameters[p].name, m->parameters[p].value, values[p], m->parameters[p].count, 1e-6);
            }
        }
        assert_int_equal(adamw.step, STEPS);
        for (size_t i = 0; i < FROZEN; i++)
            assert_true(m->kept[i] == sinf((float)(i + 21)));
        wt__gradients_clear(m->parameters, PARAMETERS);
        for (size_t i = 0; i < TABLE; i++)
            assert_true(m->dtable[i] == 0 && !(sparse && m->touched[i / ROW]));
        assert_true(m->ddense[DENSE - 1] == 0);
        for (size_t p = 0; p < 3; p++)
            free(values[p]), free(means[p]);
        wt__adamw_dispose(&adamw);
        free(m);
    }
}

static void run_adamw_steps(struct model *m, struct adamw *adamw, unsigned from, unsigned to, unsigned threads)
{
    for (unsigned step = from; step < to; step++) {
        set_gradients(m, step);
        wt__adamw_step(adamw, choose_rate(step), 1, threads);
    }
}

static void same_result_for_any_thread_count(void **state)
{
    struct model *one = create_adamw_model(true), *three = create_adamw_model(true);
    struct adamw a, b;

    (void)state;
    assert_int_equal(wt__adamw_open(&a, one->parameters, PARAMETERS, &options, NULL), 0);
    assert_int_equal(wt__adamw_open(&b, three->parameters, PARAMETERS, &options, NULL), 0);
    run_adamw_steps(one, &a, 0, STEPS, 1);
    run_adamw_steps(three, &b, 0, STEPS, 3);
    assert_memory_equal(one->table, three->table, sizeof(one->table));
    assert_memory_equal(one->dense, three->dense, sizeof(one->dense));
    wt__adamw_dispose(&a), wt__adamw_dispose(&b);
    free(one), free(three);
}

static void resumes_checkpoint_bit_for_bit(void **state)
{
    struct model *whole = create_adamw_model(true), *resumed = create_adamw_model(true);
    struct adamw a, b, c;

    (void)state;
    assert_int_equal(wt__adamw_open(&a, whole->parameters, PARAMETERS, &options, NULL), 0);
    run_adamw_steps(whole, &a, 0, STEPS, 1);
    assert_int_equal(wt__adamw_open(&b, resumed->parameters, PARAMETERS, &options, NULL), 0);
    run_adamw_steps(resumed, &b, 0, 3, 1);
    assert_int_equal(wt__adamw_open(&c, resumed->parameters, PARAMETERS, &options, NULL), 0);
    for (size_t p = 0; p < PARAMETERS; p++)
        wt__adamw_restore(&c, p, b.first[p], b.second[p]);
    c.step = b.step;
    run_adamw_steps(resumed, &c, 3, STEPS, 1);
    assert_memory_equal(whole->table, resumed->table, sizeof(whole->table));
    assert_memory_equal(whole->dense, resumed->dense, sizeof(whole->dense));
    assert_memory_equal(whole->bias, resumed->bias, sizeof(whole->bias));
    wt__adamw_dispose(&a), wt__adamw_dispose(&b), wt__adamw_dispose(&c);
    free(whole), free(resumed);
}

static void ignores_nonfinite_gradient(void **state)
{
    struct model *m = create_adamw_model(false), *before = create_adamw_model(false);
    struct adamw adamw;

    (void)state;
    assert_int_equal(wt__adamw_open(&adamw, m->parameters, PARAMETERS, &options, NULL), 0);
    set_gradients(m, 1);
    m->ddense[DENSE - 3] = NAN;
    assert_true(isnan(wt__adamw_step(&adamw, 0.1f, 1, 2)));
    m->ddense[DENSE - 3] = INFINITY;
    assert_false(isfinite(wt__adamw_step(&adamw, 0.1f, 1, 2)));
    assert_int_equal(adamw.step, 0);
    assert_memory_equal(m->dense, before->dense, sizeof(m->dense));
    wt__adamw_dispose(&adamw);
    wt__adamw_dispose(&adamw);
    wt__adamw_dispose(NULL);
    free(m), free(before);
}

static void schedules_rise_and_fall(void **state)
{
    static const struct {
        enum schedule schedule;
        uint64_t step, warmup, total;
        float factor;
    } points[] = {
        {SCHEDULE_CONSTANT, 0, 0, 10, 1}, {SCHEDULE_CONSTANT, 1, 4, 10, 0.25f}, {SCHEDULE_CONSTANT, 99, 4, 10, 1},
        {SCHEDULE_LINEAR, 0, 2, 10, 0},   {SCHEDULE_LINEAR, 2, 2, 10, 1},       {SCHEDULE_LINEAR, 6, 2, 10, 0.5f},
        {SCHEDULE_LINEAR, 10, 2, 10, 0},  {SCHEDULE_LINEAR, 11, 2, 10, 0},      {SCHEDULE_COSINE, 6, 2, 10, 0.5f},
        {SCHEDULE_COSINE, 10, 2, 10, 0},  {SCHEDULE_COSINE, 0, 0, 0, 1},        {SCHEDULE_LINEAR, 3, 5, 5, 0.6f}};

    (void)state;
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        assert_true(fabsf(wt__schedule(points[i].schedule, points[i].step, points[i].warmup, points[i].total) -
                          points[i].factor) < 1e-6f);
}

static void schedule_matches_reference(void **state)
{
    json_t *file = golden_json("grads/bert.adamw.json"), *steps = file ? wt__json_array(file, "steps") : NULL;

    (void)state;
    if (!file)
        skip();
    assert_int_equal(json_array_size(steps), 10);
    for (size_t i = 0; i < 10; i++) {
        double want = wt__json_real(json_array_get(steps, i), "lr", -1);

        assert_true(fabs(1e-3 * (double)wt__schedule(SCHEDULE_COSINE, i, 3, 10) - want) < 1e-9);
    }
    json_decref(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_matches_formula),           cmocka_unit_test(same_result_for_any_thread_count),
        cmocka_unit_test(resumes_checkpoint_bit_for_bit), cmocka_unit_test(ignores_nonfinite_gradient),
        cmocka_unit_test(schedules_rise_and_fall),        cmocka_unit_test(schedule_matches_reference),
    };

    wt__rng_seed(&rng, 6);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
