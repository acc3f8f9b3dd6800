/* Tests the histogram of durations: bounds, sums, and adding from several threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/histogram.h"

static void durations_belong_to_the_first_bucket_that_bounds_them(void **state)
{
    (void)state;
    static const struct {
        double ms;
        size_t bucket;
    } rows[] = {{-1, 0},
                {0, 0},
                {0.1, 0},
                {0.11, 1},
                {0.25, 1},
                {1, 3},
                {1000, 12},
                {60000, 17},
                {60001, HISTOGRAM_BUCKETS},
                {1e12, HISTOGRAM_BUCKETS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct histogram histogram = {0};
        struct histogram_counts counts;
        wt__histogram_add(&histogram, rows[i].ms);
        wt__histogram_read(&histogram, &counts);
        assert_int_equal(counts.count, 1);
        assert_int_equal(counts.buckets[rows[i].bucket], 1);
    }
    for (size_t i = 1; i < HISTOGRAM_BUCKETS; i++)
        assert_true(wt__histogram_bounds[i - 1] < wt__histogram_bounds[i]);
}

static void sum_is_in_seconds(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    struct histogram_counts counts;
    wt__histogram_add(&histogram, 250);
    wt__histogram_add(&histogram, 1000.5);
    wt__histogram_add(&histogram, -7);
    wt__histogram_read(&histogram, &counts);
    assert_int_equal(counts.count, 3);
    assert_true(counts.seconds == 1.2505);
}

enum { THREADS = 4, ADDED = 10000 };

static void *add_many(void *histogram)
{
    for (int i = 0; i < ADDED; i++)
        wt__histogram_add(histogram, i % 3);
    return NULL;
}

static void threads_lose_no_duration(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    struct histogram_counts counts;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &histogram), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    wt__histogram_read(&histogram, &counts);
    assert_int_equal(counts.count, THREADS * ADDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_belong_to_the_first_bucket_that_bounds_them),
        cmocka_unit_test(sum_is_in_seconds),
        cmocka_unit_test(threads_lose_no_duration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
