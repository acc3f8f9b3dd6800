/* Tests which tools a training step uses: those of its requests, or a random sample if they are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/rng.h"
#include "learn/tuning.h"

enum { REQUESTS = 200, TOOLS_EACH = 3, LEAST = 48 };

/* Request i uses the tools i, i + 1 and i + 2. */
static struct training training;
static struct tuning tuning = {.training = &training};

static int set_up_tuning(void **state)
{
    static size_t starts[REQUESTS + 1], no_wrong[REQUESTS + 1];
    static uint32_t tools[REQUESTS * TOOLS_EACH];
    (void)state;
    for (size_t i = 0; i < REQUESTS; i++)
        for (size_t t = 0; t < TOOLS_EACH; t++)
            tools[i * TOOLS_EACH + t] = (uint32_t)(i + t);
    for (size_t i = 0; i <= REQUESTS; i++)
        starts[i] = i * TOOLS_EACH;
    training.examples.train =
        (struct example_set){.count = REQUESTS, .starts = starts, .tools = tools, .wrong_starts = no_wrong};
    return 0;
}

/* Returns the tools of a step with the requests count - 1 down to 0. */
static struct step_tools tools_of_step(size_t count, uint64_t seed)
{
    uint32_t examples[REQUESTS];
    struct step_tools list = {0};
    struct rng rng;
    for (size_t i = 0; i < count; i++)
        examples[i] = (uint32_t)(count - 1 - i);
    wt__rng_seed(&rng, seed);
    assert_int_equal(wt__tuning_tools(&list, &tuning, examples, count, &rng, NULL), 0);
    for (size_t i = 0; i < list.count; i++) { /* tools are distinct, ascending, and of these requests */
        assert_true(i == 0 || list.rows[i - 1] < list.rows[i]);
        assert_in_range(list.rows[i], 0, count + TOOLS_EACH - 2);
    }
    return list;
}

static void step_has_tools_of_its_requests_up_to_limit(void **state)
{
    static const struct {
        size_t batch, requests, tools;
    } rows[] = {{8, 0, 0},    {8, 1, 3},    {8, 8, 10},    {8, LEAST - 2, LEAST}, {8, LEAST, LEAST}, {64, 64, 66},
                {64, 94, 96}, {64, 95, 96}, {64, 200, 96}, {32, 46, LEAST},       {32, 200, LEAST}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tuning.batch = rows[i].batch;
        struct step_tools list = tools_of_step(rows[i].requests, i);
        if (list.count != rows[i].tools)
            fail_msg("%zu requests of %zu: %zu tools, not %zu", rows[i].requests, rows[i].batch, list.count,
                     rows[i].tools);
        free(list.rows);
    }
}

/* Each step draws 48 of 202 tools, and each tool is equally likely. */
static void dropped_tools_are_random(void **state)
{
    enum { DRAWS = 400 };
    unsigned times[REQUESTS + TOOLS_EACH] = {0};
    (void)state;
    tuning.batch = 8;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        struct step_tools list = tools_of_step(REQUESTS, seed);
        for (size_t i = 0; i < list.count; i++)
            times[list.rows[i]]++;
        free(list.rows);
    }
    for (size_t i = 0; i < REQUESTS + TOOLS_EACH - 1; i++) /* 95 on average, with a standard deviation of 9 */
        assert_in_range(times[i], 45, 145);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_has_tools_of_its_requests_up_to_limit),
        cmocka_unit_test(dropped_tools_are_random),
    };
    return cmocka_run_group_tests(tests, set_up_tuning, NULL);
}
