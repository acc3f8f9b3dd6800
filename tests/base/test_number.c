/* Tests that number.h formats numbers as printf does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/number.h"
#include "base/rng.h"

enum { TRIED = 300000 };

static void assert_same_as_printf(double value)
{
    char expected[NUMBER_BYTES], got[NUMBER_BYTES];
    int len = snprintf(expected, sizeof expected, "%.9g", value);
    if (wt__number_text(got, value) != (size_t)len || memcmp(got, expected, (size_t)len) != 0)
        fail_msg("%a: %s", value, expected);
}

static void edge_values_match_printf(void **state)
{
    (void)state;
    static const double values[] = {0,           0.5,          1,     9,     10, 0.1, 0.3, 1.0 / 3, 2.0 / 3,
                                    0.123456789, 0.1234567895, 1e300, 5e-324};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_same_as_printf(values[i]);
        assert_same_as_printf(-values[i]);
    }
    for (int power = -6; power <= 11; power++)
        for (int ulps = -3; ulps <= 3; ulps++) {
            double value = pow(10, power);
            for (int i = 0; i < abs(ulps); i++)
                value = nextafter(value, ulps < 0 ? 0 : INFINITY);
            assert_same_as_printf(value);
        }
    assert_same_as_printf(999999999);
    assert_same_as_printf(999999999.4);
    assert_same_as_printf(999999999.5);
    assert_same_as_printf(99999999.95); /* rounds up to one more digit */
    assert_same_as_printf(INFINITY);
    assert_same_as_printf(NAN);
}

/* Random doubles, random floats, and halves divided by a power of two. The halves include ties, which round to even. */
static void random_numbers_match_printf(void **state)
{
    (void)state;
    struct rng rng;
    wt__rng_seed(&rng, 24);
    for (size_t i = 0; i < TRIED; i++) {
        double unit = (double)(wt__rng_next(&rng) >> 11) * 0x1p-53, size = pow(10, (double)wt__rng_below(&rng, 16) - 5);
        assert_same_as_printf(unit * size);
        assert_same_as_printf(-(double)(float)(unit * size));
        assert_same_as_printf(((double)wt__rng_below(&rng, 1 << 30) + 0.5) / (double)(1 << wt__rng_below(&rng, 20)));
    }
}

static void counts_match_printf(void **state)
{
    (void)state;
    char expected[NUMBER_BYTES], got[NUMBER_BYTES];
    for (unsigned bit = 0; bit <= 64; bit++)
        for (uint64_t more = 0; more < 3; more++) {
            uint64_t value = (bit < 64 ? UINT64_C(1) << bit : 0) + more - 1;
            int len = snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
            assert_int_equal(wt__count_text(got, value), len);
            assert_memory_equal(got, expected, (size_t)len);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_values_match_printf),
        cmocka_unit_test(random_numbers_match_printf),
        cmocka_unit_test(counts_match_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
