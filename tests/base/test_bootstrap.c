/* Tests of the paired bootstrap on differences with known results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/rng.h"
#include "base/bootstrap.h"

enum { QUERIES = 400, RESAMPLES = 5000 };

static struct bootstrap resample_differences(const double *differences, size_t count, uint64_t seed)
{
    struct bootstrap out;
    assert_int_equal(wt__bootstrap(differences, count, RESAMPLES, seed, &out, NULL), 0);
    return out;
}

static void zero_differences_are_not_significant(void **state)
{
    (void)state;
    double same[QUERIES] = {0};
    struct bootstrap b = resample_differences(same, QUERIES, 1);
    assert_true(b.difference == 0 && b.low == 0 && b.high == 0 && b.p == 1);
    b = resample_differences(NULL, 0, 1);
    assert_true(b.difference == 0 && b.p == 1);
}

static void constant_gain_is_significant(void **state)
{
    (void)state;
    double better[QUERIES];
    for (size_t i = 0; i < QUERIES; i++)
        better[i] = .25;
    struct bootstrap b = resample_differences(better, QUERIES, 1);
    assert_true(fabs(b.difference - .25) < 1e-12 && fabs(b.low - .25) < 1e-12 && fabs(b.high - .25) < 1e-12);
    assert_true(b.p < .001);
}

/* The confidence interval and p-value of a mean are close to those of the normal distribution. */
static void noise_matches_the_normal_distribution(void **state)
{
    (void)state;
    double noise[QUERIES], sum = 0, squares = 0;
    struct rng rng;
    wt__rng_seed(&rng, 7);
    for (size_t i = 0; i < QUERIES; i++) {
        noise[i] = wt__rng_unit(&rng) - .5 + .02;
        sum += noise[i];
        squares += noise[i] * noise[i];
    }
    double mean = sum / QUERIES, error = sqrt((squares / QUERIES - mean * mean) / QUERIES);
    struct bootstrap b = resample_differences(noise, QUERIES, 3);
    assert_true(fabs(b.difference - mean) < 1e-12);
    assert_true(fabs(b.low - (mean - 1.96 * error)) < .2 * error);
    assert_true(fabs(b.high - (mean + 1.96 * error)) < .2 * error);
    assert_true(fabs(b.p - erfc(fabs(mean) / error / sqrt(2))) < .03);
}

static void same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    double values[] = {.1, -.2, .5, 0, .3, -.1, .2};
    struct bootstrap a = resample_differences(values, 7, 1), again = resample_differences(values, 7, 1),
                     other = resample_differences(values, 7, 2);
    assert_true(a.low == again.low && a.high == again.high && a.p == again.p);
    assert_true(a.p != other.p || a.low != other.low || a.high != other.high);
}

static void opposite_signs_give_the_same_p(void **state)
{
    (void)state;
    double up[] = {.1, .2, .5, 0, .3, -.1, .2}, down[7];
    for (size_t i = 0; i < 7; i++)
        down[i] = -up[i];
    struct bootstrap a = resample_differences(up, 7, 1), b = resample_differences(down, 7, 1);
    assert_true(a.p == b.p && a.difference == -b.difference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_differences_are_not_significant),  cmocka_unit_test(constant_gain_is_significant),
        cmocka_unit_test(noise_matches_the_normal_distribution), cmocka_unit_test(same_seed_gives_the_same_interval),
        cmocka_unit_test(opposite_signs_give_the_same_p),
    };
    return cmocka_run_group_tests_name("base/bootstrap", tests, NULL, NULL);
}
