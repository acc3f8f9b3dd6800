/* Numbers as text: the same bytes as printf's. */
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

static void is_printf(double value)
{
    char expected[NUMBER_BYTES], got[NUMBER_BYTES];
    int len = snprintf(expected, sizeof expected, "%.9g", value);
    if (wt__number_text(got, value) != (size_t)len || memcmp(got, expected, (size_t)len) != 0)
        fail_msg("%a: %s", value, expected);
}

static void edges_are_written_as_printf_does(void **state)
{
    (void)state;
    static const double values[] = {0,           0.5,          1,     9,     10, 0.1, 0.3, 1.0 / 3, 2.0 / 3,
                                    0.123456789, 0.1234567895, 1e300, 5e-324};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        is_printf(values[i]);
        is_printf(-values[i]);
    }
    for (int power = -6; power <= 11; power++)
        for (int ulps = -3; ulps <= 3; ulps++) {
            double value = pow(10, power);
            for (int i = 0; i < abs(ulps); i++)
                value = nextafter(value, ulps < 0 ? 0 : INFINITY);
            is_printf(value);
        }
    is_printf(999999999);
    is_printf(999999999.4);
    is_printf(999999999.5);
    is_printf(99999999.95); /* rounded up to one digit more */
    is_printf(INFINITY);
    is_printf(NAN);
}

/* Doubles of any digits, floats as scores are, and halves, which round to even. */
static void any_number_is_written_as_printf_does(void **state)
{
    (void)state;
    struct rng rng;
    wt__rng_seed(&rng, 24);
    for (size_t i = 0; i < TRIED; i++) {
        double unit = (double)(wt__rng_next(&rng) >> 11) * 0x1p-53, size = pow(10, (double)wt__rng_below(&rng, 16) - 5);
        is_printf(unit * size);
        is_printf(-(double)(float)(unit * size));
        is_printf(((double)wt__rng_below(&rng, 1 << 30) + 0.5) / (double)(1 << wt__rng_below(&rng, 20)));
    }
}

static void any_count_is_written_as_printf_does(void **state)
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
        cmocka_unit_test(edges_are_written_as_printf_does),
        cmocka_unit_test(any_number_is_written_as_printf_does),
        cmocka_unit_test(any_count_is_written_as_printf_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
