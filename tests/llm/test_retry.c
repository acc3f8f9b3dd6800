/* Tests which failures are retried, and how long the client pauses before a retry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llm/internal.h"

static void retries_temporary_failures(void **state)
{
    (void)state;
    static const struct {
        int status, should_retry;
        bool again;
    } rows[] = {
        {400, -1, false}, {401, -1, false}, {404, -1, false}, {408, -1, true}, {409, -1, true},
        {422, -1, false}, {429, -1, true},  {500, -1, true},  {503, -1, true}, {599, -1, true},
        {302, -1, false}, {500, 0, false},  {429, 0, false},  {400, 1, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(wt__retry_status(rows[i].status, rows[i].should_retry), rows[i].again);
}

static void pauses_grow_up_to_a_limit(void **state)
{
    (void)state;
    static const struct {
        unsigned pauses;
        double asked, least, most; /* in ms; least and most: range of the pause */
    } rows[] = {
        {0, -1, 375, 500},
        {1, -1, 750, 1000},
        {2, -1, 1500, 2000},
        {4, -1, 6000, 8000},
        {5, -1, 6000, 8000},
        {4000000000u, -1, 6000, 8000},
        {0, 0, 0, 0},
        {0, 250, 250, 250},
        {9, 119999, 119999, 119999},
        {0, 120000, 120000, 120000},
        {0, 120001, -1, -1},
    };
    struct rng rng;
    wt__rng_seed(&rng, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int n = 0; n < 100; n++) {
            double ms = wt__retry_pause(rows[i].pauses, RETRY_FIRST_MS, rows[i].asked, &rng);
            assert_true(ms >= rows[i].least && ms <= rows[i].most);
        }
}

static void pauses_are_deterministic(void **state)
{
    (void)state;
    struct rng a, b;
    wt__rng_seed(&a, 1);
    wt__rng_seed(&b, 1);
    for (unsigned i = 0; i < 8; i++)
        assert_true(wt__retry_pause(i, RETRY_FIRST_MS, -1, &a) == wt__retry_pause(i, RETRY_FIRST_MS, -1, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_temporary_failures),
        cmocka_unit_test(pauses_grow_up_to_a_limit),
        cmocka_unit_test(pauses_are_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
