/* Tests of shares of a pool: how many units a holder gets, alone and with other holders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/shares.h"

static size_t take_all(struct shares *shares, const char *holder)
{
    size_t count = 0;
    while (wt__shares_take(shares, holder, 1))
        count++;
    return count;
}

static void single_holder_gets_half(void **state)
{
    static const struct {
        size_t most, half;
    } pools[] = {{0, 0}, {1, 1}, {2, 1}, {3, 2}, {4, 2}, {256, 128}};
    (void)state;
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        struct shares shares;
        wt__shares_open(&shares, pools[i].most);
        assert_int_equal(take_all(&shares, "a"), pools[i].half);
        wt__shares_close(&shares);
    }
}

static void next_holder_finds_units_left(void **state)
{
    struct shares shares;
    char holder[16];
    (void)state;
    wt__shares_open(&shares, 256);
    for (int i = 0; i < 8; i++) {
        snprintf(holder, sizeof holder, "flood%d", i);
        assert_true(take_all(&shares, holder) > 0);
    }
    assert_true(wt__shares_take(&shares, "b", 1));
    wt__shares_close(&shares);
}

static void returned_units_can_be_taken_again(void **state)
{
    struct shares shares;
    (void)state;
    wt__shares_open(&shares, 100);
    assert_int_equal(take_all(&shares, "a"), 50);
    assert_int_equal(take_all(&shares, "b"), 25);
    assert_int_equal(wt__shares_of(&shares, "a"), 50);
    wt__shares_give(&shares, "a", 50);
    assert_int_equal(wt__shares_of(&shares, "a"), 0);
    assert_int_equal(take_all(&shares, "b"), 25);
    wt__shares_give(&shares, "b", 50);
    assert_int_equal(shares.used, 0);
    wt__shares_close(&shares);
}

static void change_is_counted_even_beyond_the_share(void **state)
{
    struct shares shares;
    (void)state;
    wt__shares_open(&shares, 100);
    assert_true(wt__shares_change(&shares, "a", 0, 40));
    assert_false(wt__shares_change(&shares, "a", 40, 90));
    assert_int_equal(wt__shares_of(&shares, "a"), 90);
    assert_true(wt__shares_change(&shares, "b", 0, 10));
    assert_false(wt__shares_change(&shares, "b", 10, 11));
    assert_true(wt__shares_change(&shares, "a", 90, 80));
    assert_true(wt__shares_change(&shares, "a", 80, 0));
    assert_true(wt__shares_change(&shares, "b", 11, 0));
    assert_int_equal(shares.used, 0);
    wt__shares_close(&shares);
}

static void unnamed_holder_may_use_the_whole_pool(void **state)
{
    struct shares shares;
    (void)state;
    wt__shares_open(&shares, 100);
    assert_int_equal(take_all(&shares, NULL), 100);
    wt__shares_give(&shares, NULL, 100);
    assert_true(wt__shares_change(&shares, NULL, 0, 100));
    assert_false(wt__shares_change(&shares, NULL, 100, 101));
    assert_true(wt__shares_change(&shares, NULL, 101, 0));
    assert_int_equal(shares.used, 0);
    wt__shares_close(&shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_holder_gets_half),
        cmocka_unit_test(next_holder_finds_units_left),
        cmocka_unit_test(returned_units_can_be_taken_again),
        cmocka_unit_test(unnamed_holder_may_use_the_whole_pool),
        cmocka_unit_test(change_is_counted_even_beyond_the_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
