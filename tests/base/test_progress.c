/* What is told of a long operation: at most ten times a second, the last step always, and nothing after a wish to stop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "base/progress.h"

enum { STEPS = 1000, THREADS = 8 };

struct heard {
    int calls, stop_at; /* 0: never */
    uint64_t done;
};

static int hear(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct heard *heard = context;
    (void)phase, (void)total;
    heard->done = done;
    return ++heard->calls == heard->stop_at;
}

static void the_first_and_the_last_are_told(void **state)
{
    struct heard heard = {0};
    struct progress progress;
    (void)state;
    wt__progress_init(&progress, hear, &heard);
    assert_false(wt__progress_phase(&progress, "walking", STEPS));
    for (int i = 0; i < STEPS; i++)
        assert_false(wt__progress_step(&progress, 1));
    assert_true(heard.calls >= 2);
    assert_int_equal(heard.done, STEPS);
    wt__progress_dispose(&progress);
}

static int step(void *context, size_t index, unsigned worker)
{
    (void)index, (void)worker;
    wt__progress_step(context, 1); /* on its way all the same */
    return 0;
}

static void who_said_to_stop_hears_nothing_more(void **state)
{
    (void)state;
    for (int stop_at = 1; stop_at <= 2; stop_at++) {
        struct heard heard = {.stop_at = stop_at};
        struct progress progress;
        wt__progress_init(&progress, hear, &heard);
        wt__progress_phase(&progress, "walking", STEPS);
        assert_int_equal(wt__pool_run(THREADS, STEPS, step, &progress), 0);
        wt__progress_phase(&progress, "running", 1);
        wt__progress_step(&progress, 1);
        assert_int_equal(heard.calls, stop_at);
        assert_true(wt__progress_step(&progress, 0));
        wt__progress_dispose(&progress);
    }
}

static void nobody_need_listen(void **state)
{
    struct progress progress;
    (void)state;
    assert_false(wt__progress_phase(NULL, "walking", 1));
    assert_false(wt__progress_step(NULL, 1));
    wt__progress_init(&progress, NULL, NULL);
    assert_false(wt__progress_step(&progress, 1));
    wt__progress_dispose(&progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_and_the_last_are_told),
        cmocka_unit_test(who_said_to_stop_hears_nothing_more),
        cmocka_unit_test(nobody_need_listen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
