/* Tests the relevance of a hit: which features it uses, and that more evidence raises it. */
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

static struct hit hit_with(float share, float meaning, float words)
{
    return (struct hit){
        .estimate = NAN,
        .features = {[FEATURE_SCORE] = share, [FEATURE_SUBQUERY_MEANING] = meaning, [FEATURE_SUBQUERY_WORDS] = words}};
}

static void more_evidence_raises_relevance(void **state)
{
    const struct {
        const struct retriever *retriever;
        const struct hit_list *hits;
        struct hit less, more;
    } rows[] = {{&wt__dense, &by_meaning, hit_with(0.9f, 0.3f, 0), hit_with(1, 0.3f, 0)},
                {&wt__dense, &by_meaning, hit_with(1, 0.3f, 0), hit_with(1, 0.5f, 0)},
                {&wt__bm25, &by_words, hit_with(1, 0, 0.1f), hit_with(1, 0, 0.8f)}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float less = wt__relevance(NULL, rows[i].retriever, rows[i].hits, &rows[i].less);
        float more = wt__relevance(NULL, rows[i].retriever, rows[i].hits, &rows[i].more);
        assert_true(less > 0 && less < more && more < 1);
    }
}

static void ignores_evidence_without_weight(void **state)
{
    const struct hit with = hit_with(1, 0.3f, 0.8f), without = hit_with(1, 0.3f, 0);
    struct hit voted = hit_with(1, 0.3f, 0.1f);
    struct retriever weighing = wt__dense;
    struct relevance_model relevance = {.weights = {[RELEVANCE_VOTES] = 1}};
    float values[RELEVANCE_FEATURES];
    (void)state;
    assert_true(wt__relevance(NULL, &wt__dense, &by_meaning, &with) ==
                wt__relevance(NULL, &wt__dense, &by_meaning, &without));
    voted.features[FEATURE_NEIGHBOUR_VOTES] = 0.99f; /* ignored, since SOURCE_NEIGHBOURS has weight 0 */
    assert_float_equal(wt__relevance(&relevance, &weighing, &by_meaning, &voted), 0.5, 1e-6);
    weighing.weights[SOURCE_NEIGHBOURS] = 1;
    wt__relevance_read(values, &weighing, &by_meaning, &voted);
    assert_float_equal(values[RELEVANCE_VOTES], 0, 1e-6);
    assert_float_equal(values[RELEVANCE_NEAREST], 0.6, 1e-6);
    assert_float_equal(values[RELEVANCE_LEAD], 0.5, 1e-6);
}

static void missing_tenth_tool_has_cosine_zero(void **state)
{
    static const size_t nine = 9;
    const struct hit_list few = {.nearest = cosines, .nearest_counts = &nine};
    const struct hit hit = hit_with(1, 0.6f, 0);
    float values[RELEVANCE_FEATURES];
    (void)state;
    wt__relevance_read(values, &wt__dense, &few, &hit);
    assert_float_equal(values[RELEVANCE_LEAD], 0.6, 1e-6);
}

/* The first stage has no features of a hit added by a reranker. */
static void hits_added_by_reranker_have_no_relevance(void **state)
{
    const struct hit hit = {.score = 0.5f, .brought = true};
    (void)state;
    assert_true(isnan(wt__relevance(NULL, &wt__hybrid, &by_meaning, &hit)));
}

static void scorer_estimates_relevance(void **state)
{
    struct hit hit = hit_with(1, 0.3f, 0.1f);
    struct relevance_model fitted = {.constant = 0};
    (void)state;
    hit.estimate = .7f;
    assert_float_equal(wt__relevance(NULL, &wt__hybrid, &by_meaning, &hit), .7, 1e-6);
    assert_float_equal(wt__relevance(&fitted, &wt__hybrid, &by_meaning, &hit), .5, 1e-6);
}

/* With a filter for few tools, distant tools stay in the result. */
static void distant_hits_have_low_relevance(void **state)
{
    const struct hit hit = hit_with(0, -0.1f, 0);
    (void)state;
    assert_in_range((int)(1000 * wt__relevance(NULL, &wt__dense, &by_meaning, &hit)), 0, 50);
}

static void limits_relevance_by_no_answer(void **state)
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
        cmocka_unit_test(more_evidence_raises_relevance),
        cmocka_unit_test(ignores_evidence_without_weight),
        cmocka_unit_test(missing_tenth_tool_has_cosine_zero),
        cmocka_unit_test(hits_added_by_reranker_have_no_relevance),
        cmocka_unit_test(scorer_estimates_relevance),
        cmocka_unit_test(distant_hits_have_low_relevance),
        cmocka_unit_test(limits_relevance_by_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
