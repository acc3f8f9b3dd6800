/* Tests the ridge regression: at the optimum, the gradient of its loss is zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "learn/ridge.h"

enum { DIM = 16, REQUESTS = 40, LABELS = 3, PENALTY = 3 };

/* Request i needs tool 0 if its first component is positive, and tool 1 if the second is. No request needs tool 2. */
struct drawn_requests {
    float vectors[REQUESTS][DIM];
    uint32_t starts[REQUESTS + 1], labels[2 * REQUESTS];
};

static void draw_requests(struct drawn_requests *drawn)
{
    struct rng rng;
    uint32_t count = 0;
    wt__rng_seed(&rng, 1);
    for (size_t i = 0; i < REQUESTS; i++) {
        drawn->starts[i] = count;
        for (size_t d = 0; d < DIM; d++)
            drawn->vectors[i][d] = (float)(wt__rng_unit(&rng) - 0.5);
        for (uint32_t l = 0; l < 2; l++)
            if (drawn->vectors[i][l] > 0)
                drawn->labels[count++] = l;
    }
    drawn->starts[REQUESTS] = count;
}

static double residual_of(const struct drawn_requests *drawn, size_t i, uint32_t label, const float *row)
{
    double sum = (double)row[DIM];
    for (size_t d = 0; d < DIM; d++)
        sum += (double)row[d] * (double)drawn->vectors[i][d];
    return sum - (label < 2 && drawn->vectors[i][label] > 0);
}

static void minimises_the_penalised_squared_error(void **state)
{
    static struct drawn_requests drawn;
    float rows[LABELS][DIM + 1];
    wt_error err;
    (void)state;
    draw_requests(&drawn);
    const struct neighbours past = {.count = REQUESTS,
                                    .dim = DIM,
                                    .requests = &drawn.vectors[0][0],
                                    .starts = drawn.starts,
                                    .labels = drawn.labels};
    assert_int_equal(wt__ridge_fit(&past, LABELS, &rows[0][0], &err), 0);
    for (uint32_t l = 0; l < LABELS; l++) {
        double constant = 0, gradient[DIM];
        for (size_t d = 0; d < DIM; d++)
            gradient[d] = PENALTY * (double)rows[l][d];
        for (size_t i = 0; i < REQUESTS; i++) {
            double residual = residual_of(&drawn, i, l, rows[l]);
            constant += residual;
            for (size_t d = 0; d < DIM; d++)
                gradient[d] += residual * (double)drawn.vectors[i][d];
        }
        assert_float_equal(constant, 0, 1e-4);
        for (size_t d = 0; d < DIM; d++)
            assert_float_equal(gradient[d], 0, 1e-4);
    }
    assert_true(rows[0][0] > 0.1f && rows[1][1] > 0.1f);
    for (size_t d = 0; d <= DIM; d++)
        assert_float_equal(rows[2][d], 0, 0); /* no request needs tool 2 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimises_the_penalised_squared_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
