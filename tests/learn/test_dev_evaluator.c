/* Tests the comparison of outcomes on dev, and the validation of vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "learn/dev_evaluator.h"

/* For differences d of Q requests, the standard error of their sum is sqrt(sum of d^2 - (sum of d)^2 / Q). */
static void compares_by_standard_errors(void **state)
{
    enum { Q = 4 };
    static const struct {
        double before[Q], after[Q], errors; /* gain in standard errors; 0 for a loss */
    } cases[] = {
        {{.5, .5, .5, .5}, {.5, .5, .5, .5}, 0},
        {{.5, .5, .5, .5}, {1, .5, .5, .5}, .5 / 0.4330127018922193},
        {{.5, .5, .5, .5}, {1, 0, .5, .5}, 0},
        {{.5, .5, .5, .5}, {.5, 0, .5, .5}, 0},
        {{0, 0, 1, 0}, {1, 1, .5, 1}, 2.5 / 1.299038105676658},
        {{0, 0, 0, 0}, {1, 1, 1, 1}, INFINITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dev_evaluator evaluator = {.dev_count = Q};
        for (double errors = 0.5; errors < 4; errors += 0.5)
            if (wt__evaluator_is_better(&evaluator, cases[i].before, cases[i].after, errors) !=
                (cases[i].errors > errors))
                fail_msg("case %zu: %g standard errors", i, errors);
    }
}

static void no_choice_is_better_without_requests(void **state)
{
    const struct dev_evaluator evaluator = {.dev_count = 0};
    const double nothing = 0;
    (void)state;
    assert_false(wt__evaluator_is_better(&evaluator, &nothing, &nothing, 1));
}

/* Diverging training can produce vectors with NAN or INFINITY. */
static void rejects_invalid_vectors(void **state)
{
    enum { TOOLS = 3, DIM = 16 };
    static const struct {
        float number;
        int rc;
    } cases[] = {{.5f, 0}, {NAN, WT_EMODEL}, {INFINITY, WT_EMODEL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float vectors[TOOLS][DIM] = {{1}, {1}, {1}};
        struct tool_vectors searched;
        vectors[1][7] = cases[i].number;
        assert_int_equal(wt__tool_vectors_open(&searched, &vectors[0][0], TOOLS, DIM, NULL), cases[i].rc);
        assert_true((searched.chunks == NULL) == (cases[i].rc < 0));
        wt__tool_vectors_dispose(&searched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_by_standard_errors),
        cmocka_unit_test(no_choice_is_better_without_requests),
        cmocka_unit_test(rejects_invalid_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
