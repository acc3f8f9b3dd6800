/* The probability that a request needs a hit's tool, by itself: what it may depend on, and which way it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "choose/relevance.h"

enum { TEN = 10 };

static const struct scored cosines[TEN] = {{0.6f, 0}, {0.4f, 1}, {0.3f, 2}, {0.3f, 3}, {0.2f, 4},
                                           {0.2f, 5}, {0.2f, 6}, {0.1f, 7}, {0.1f, 8}, {0.1f, 9}};
static const size_t ten = TEN;
static const struct hit_list by_meaning = {.nearest = cosines, .nearest_counts = &ten}, by_words = {.len = 0};

static struct hit of(float share, float meaning, float words)
{
    return (struct hit){
        .features = {[FEATURE_SCORE] = share, [FEATURE_SUBQUERY_MEANING] = meaning, [FEATURE_SUBQUERY_WORDS] = words}};
}

static void more_evidence_makes_it_likelier(void **state)
{
    const struct {
        const struct retriever *retriever;
        const struct hit_list *hits;
        struct hit less, more;
    } rows[] = {{&wt__hybrid, &by_meaning, of(0.9f, 0.3f, 0.1f), of(1, 0.3f, 0.1f)},
                {&wt__hybrid, &by_meaning, of(1, 0.3f, 0.1f), of(1, 0.5f, 0.1f)},
                {&wt__hybrid, &by_meaning, of(1, 0.3f, 0.1f), of(1, 0.3f, 0.8f)},
                {&wt__dense, &by_meaning, of(1, 0.3f, 0), of(1, 0.5f, 0)},
                {&wt__bm25, &by_words, of(1, 0, 0.1f), of(1, 0, 0.8f)},
                {&wt__hybrid, &by_words, of(1, 0, 0.1f), of(1, 0, 0.8f)}}; /* no tool has a vector yet */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float less = wt__relevance(NULL, rows[i].retriever, rows[i].hits, &rows[i].less);
        float more = wt__relevance(NULL, rows[i].retriever, rows[i].hits, &rows[i].more);
        assert_true(less > 0 && less < more && more < 1);
    }
}

static void what_was_not_looked_at_does_not_count(void **state)
{
    const struct hit with = of(1, 0.3f, 0.8f), without = of(1, 0.3f, 0);
    struct hit voted = of(1, 0.3f, 0.1f);
    struct retriever weighing = wt__hybrid;
    struct relevance relevance = {.weights = {[RELEVANCE_VOTES] = 1}};
    float values[RELEVANCE_FEATURES];
    (void)state;
    assert_true(wt__relevance(NULL, &wt__dense, &by_meaning, &with) ==
                wt__relevance(NULL, &wt__dense, &by_meaning, &without));
    voted.features[FEATURE_NEIGHBOUR_VOTES] = 0.99f; /* asked for other features' sake */
    assert_float_equal(wt__relevance(&relevance, &weighing, &by_meaning, &voted), 0.5, 1e-6);
    weighing.weights[SOURCE_NEIGHBOURS] = 1;
    wt__relevance_read(values, &weighing, &by_meaning, &voted);
    assert_float_equal(values[RELEVANCE_VOTES], 0, 1e-6);
    assert_float_equal(values[RELEVANCE_NEAREST], 0.6, 1e-6);
    assert_float_equal(values[RELEVANCE_LEAD], 0.5, 1e-6);
}

static void of_few_tools_the_tenth_is_like_nothing(void **state)
{
    static const size_t nine = 9;
    const struct hit_list few = {.nearest = cosines, .nearest_counts = &nine};
    const struct hit hit = of(1, 0.6f, 0);
    float values[RELEVANCE_FEATURES];
    (void)state;
    wt__relevance_read(values, &wt__dense, &few, &hit);
    assert_float_equal(values[RELEVANCE_LEAD], 0.6, 1e-6);
}

/* A reranker brought it in: the first stage knows nothing of it. */
static void a_hit_without_evidence_has_none(void **state)
{
    const struct hit hit = {.score = 0.5f, .brought = true};
    (void)state;
    assert_true(isnan(wt__relevance(NULL, &wt__hybrid, &by_meaning, &hit)));
}

/* A filter that lets few through leaves tools that the first stage knows to be far. */
static void a_hit_against_which_all_speaks_is_hardly_needed(void **state)
{
    const struct hit hit = of(0, -0.1f, 0);
    (void)state;
    assert_in_range((int)(1000 * wt__relevance(NULL, &wt__hybrid, &by_meaning, &hit)), 0, 50);
}

static void it_goes_no_further_than_some_tool_fits(void **state)
{
    static const struct {
        float said;
        double none;
        float wanted;
    } rows[] = {{0.8f, 0.3, 0.7f}, {0.6f, 0.3, 0.6f}, {0.8f, NAN, 0.8f}, {0.8f, 1, 0}, {NAN, 0.3, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float got = wt__relevance_below(rows[i].said, rows[i].none);
        assert_true(isnan(rows[i].wanted) ? isnan(got) : got == rows[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_evidence_makes_it_likelier),
        cmocka_unit_test(what_was_not_looked_at_does_not_count),
        cmocka_unit_test(of_few_tools_the_tenth_is_like_nothing),
        cmocka_unit_test(a_hit_without_evidence_has_none),
        cmocka_unit_test(a_hit_against_which_all_speaks_is_hardly_needed),
        cmocka_unit_test(it_goes_no_further_than_some_tool_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
