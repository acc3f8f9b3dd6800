/* Tests logistic regression on cases with known solutions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "learn/logistic.h"

/* Samples with one feature. Of the 8 samples with value 0, 2 have answer 1. Of the 4 samples with value 1, 3 have
 * answer 1. Without shrinkage the model predicts these shares: constant = log(2/6), weight = log(3/1) - constant. */
enum { COUNT = 12 };
static const float values[COUNT] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
static const uint8_t answers[COUNT] = {1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0};

static const struct logistic_samples samples = {.count = COUNT, .features = 1, .values = values, .answers = answers};

static void fits_shares_without_shrinkage(void **state)
{
    float weight, constant;
    (void)state;
    wt__logistic_fit(&samples, 0, &weight, &constant);
    assert_float_equal(constant, log(2.0 / 6), 1e-4);
    assert_float_equal(weight, log(3.0) - log(2.0 / 6), 1e-4);
}

/* There are 5 answers 1 and 7 answers 0. Balancing multiplies the odds of both values by 7/5. */
static void balancing_only_changes_constant(void **state)
{
    struct logistic_samples balanced = samples;
    float weight, constant;
    (void)state;
    balanced.balanced = true;
    wt__logistic_fit(&balanced, 0, &weight, &constant);
    assert_float_equal(constant, log(2.0 / 6) + log(7.0 / 5), 1e-4);
    assert_float_equal(weight, log(3.0) - log(2.0 / 6), 1e-4);
}

/* A constant second feature gets weight 0, and shrinkage reduces weights. */
static void constant_features_have_no_weight(void **state)
{
    float two[COUNT][2], weights[2], constant, plain;
    struct logistic_samples wide = samples;
    (void)state;
    wt__logistic_fit(&samples, 0, &plain, &constant);
    wide.features = 2;
    wide.values = &two[0][0];
    for (size_t i = 0; i < COUNT; i++) {
        two[i][0] = values[i];
        two[i][1] = 5;
    }
    wt__logistic_fit(&wide, 0, weights, &constant);
    assert_float_equal(weights[0], plain, 1e-4);
    assert_float_equal(weights[1], 0, 0);
    wt__logistic_fit(&wide, 1, weights, &constant);
    assert_true(weights[0] > 0 && weights[0] < plain / 2);
}

/* Without shrinkage, a feature that separates the answers would get an infinite weight. */
static void separable_answers_converge(void **state)
{
    static const uint8_t separated[COUNT] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, alike[COUNT] = {0};
    struct logistic_samples s = samples;
    float weight, constant, again;
    (void)state;
    s.answers = separated;
    wt__logistic_fit(&s, 1e-3, &weight, &constant);
    wt__logistic_fit(&s, 1e-3, &again, &constant);
    assert_true(isfinite(weight) && weight > 4);
    assert_float_equal(weight, again, 0);
    s.answers = alike;
    wt__logistic_fit(&s, 1e-3, &weight, &constant);
    assert_float_equal(weight, 0, 0);
    assert_float_equal(constant, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_shares_without_shrinkage),
        cmocka_unit_test(balancing_only_changes_constant),
        cmocka_unit_test(constant_features_have_no_weight),
        cmocka_unit_test(separable_answers_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
