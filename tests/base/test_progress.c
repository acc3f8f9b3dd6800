/* Progress reports: at most ten times a second, always for the last step, and never after a cancellation. Cancelling
 * works from another thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/pool.h"
#include "base/progress.h"

enum { STEPS = 1000, THREADS = 8 };

struct heard_progress {
    int calls, stop_at; /* calls so far; number of the call that cancels, 0 for never */
    uint64_t done;
};

static int hear_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct heard_progress *heard = context;
    (void)phase, (void)total;
    heard->done = done;
    return ++heard->calls == heard->stop_at;
}

static void reports_first_and_last_step(void **state)
{
    struct heard_progress heard = {0};
    struct progress progress;
    (void)state;
    wt__progress_init(&progress, hear_progress, &heard);
    assert_false(wt__progress_phase(&progress, "walking", STEPS));
    for (int i = 0; i < STEPS; i++)
        assert_false(wt__progress_step(&progress, 1));
    assert_true(heard.calls >= 2);
    assert_int_equal(heard.done, STEPS);
    wt__progress_dispose(&progress);
}

static int step_progress(void *context, size_t index, unsigned worker)
{
    (void)index, (void)worker;
    wt__progress_step(context, 1); /* does not stop at a cancellation */
    return 0;
}

static void no_report_after_cancellation(void **state)
{
    (void)state;
    for (int stop_at = 1; stop_at <= 2; stop_at++) {
        struct heard_progress heard = {.stop_at = stop_at};
        struct progress progress;
        wt__progress_init(&progress, hear_progress, &heard);
        wt__progress_phase(&progress, "walking", STEPS);
        assert_int_equal(wt__pool_run(THREADS, STEPS, step_progress, &progress), 0);
        wt__progress_phase(&progress, "running", 1);
        wt__progress_step(&progress, 1);
        assert_int_equal(heard.calls, stop_at);
        assert_true(wt__progress_step(&progress, 0));
        wt__progress_dispose(&progress);
    }
}

static void accepts_null_progress_and_callback(void **state)
{
    struct progress progress;
    (void)state;
    assert_false(wt__progress_phase(NULL, "walking", 1));
    assert_false(wt__progress_step(NULL, 1));
    wt__progress_init(&progress, NULL, NULL);
    assert_false(wt__progress_step(&progress, 1));
    wt__progress_dispose(&progress);
}

static void *cancel_operations(void *canceller)
{
    wt_canceller_cancel(canceller);
    return NULL;
}

static void another_thread_cancels(void **state)
{
    struct heard_progress heard = {0};
    struct progress progress;
    wt_canceller *canceller;
    wt_error err;
    pthread_t thread;
    (void)state;
    assert_int_equal(wt_canceller_new(&canceller, hear_progress, &heard, &err), 0);
    wt__progress_init(&progress, wt_canceller_progress, canceller);
    assert_false(wt__progress_phase(&progress, "walking", STEPS));
    assert_int_equal(heard.calls, 1);
    assert_int_equal(pthread_create(&thread, NULL, cancel_operations, canceller), 0);
    pthread_join(thread, NULL);
    assert_true(wt__progress_phase(&progress, "running", STEPS));
    assert_int_equal(heard.calls, 1);
    wt__progress_dispose(&progress);
    wt_canceller_free(canceller);
    wt_canceller_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_first_and_last_step),
        cmocka_unit_test(no_report_after_cancellation),
        cmocka_unit_test(accepts_null_progress_and_callback),
        cmocka_unit_test(another_thread_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
