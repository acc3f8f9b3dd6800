/* Tests weak hits of retrievers by words, by meaning, by both, by past requests only, and by the learned scorer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "choose/relevance.h"

static const struct retriever both = {.weights = {[SOURCE_BM25] = 1, [SOURCE_DENSE] = 1}};

static const struct {
    const char *name;
    const struct retriever *retriever;
    struct word_share words;
    float meaning, subquery; /* cosines */
    float score, votes;
    unsigned lead;
    bool brought, weak;
} rows[] = {
    {"one common word matches", &wt__bm25, {1, .4f}, 0, 0, 1, 0, 0, false, true},
    {"one word has half of the request's weight", &wt__bm25, {1, .5f}, 0, 0, 1, 0, 0, false, false},
    {"two common words match", &wt__bm25, {2, .4f}, 0, 0, 1, 0, 0, false, false},
    {"no word matches", &wt__bm25, {0, 0}, 0, 0, 1, 0, 0, false, true},
    {"near in meaning, but the retriever uses words only", &wt__bm25, {1, .4f}, .9f, .9f, 1, 0, 0, false, true},

    {"far in meaning", &wt__dense, {0, 0}, .29f, .1f, 1, 0, 0, false, true},
    {"near in meaning", &wt__dense, {0, 0}, .3f, .1f, 1, 0, 0, false, false},
    {"near to a sub-query", &wt__dense, {0, 0}, .1f, .3f, 1, 0, 0, false, false},
    {"many words match, but the retriever uses meaning only", &wt__dense, {5, .9f}, .1f, .1f, 1, 0, 0, false, true},

    {"one common word, far in meaning", &both, {1, .4f}, .34f, .34f, 1, 0, 0, false, true},
    {"one common word, near to a sub-query", &both, {1, .4f}, .1f, .35f, 1, 0, 0, false, false},
    {"two common words, far in meaning", &both, {2, .1f}, 0, 0, 1, 0, 0, false, false},
    {"no word, negative cosine", &both, {0, 0}, -.2f, -.2f, 1, 0, 0, false, true},

    {"the request names the tool", &both, {0, 0}, 0, 0, 1, 0, 1, false, false},
    {"past requests vote for the tool", &both, {0, 0}, 0, 0, 1, .1f, 0, false, false},
    {"a hit that a reranker added", &both, {0, 0}, 0, 0, 0, 0, 0, true, false},
    {"no evidence, listed because a filter admits few tools", &both, {0, 0}, -.1f, -.1f, 0, 0, 0, false, true},
};

static void detects_weak_hits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct hit_list hits = {.fits = NAN};
        struct hit hit = {.words = rows[i].words, .lead = rows[i].lead, .brought = rows[i].brought, .estimate = NAN};
        hit.features[FEATURE_MEANING] = rows[i].meaning;
        hit.features[FEATURE_SUBQUERY_MEANING] = rows[i].subquery;
        hit.features[FEATURE_SCORE] = rows[i].score;
        hit.features[FEATURE_NEIGHBOUR_VOTES] = rows[i].votes;
        if (wt__hit_is_weak(rows[i].retriever, &hits, &hit) != rows[i].weak)
            fail_msg("%s", rows[i].name);
    }
}

/* A retriever that uses only past requests has no evidence by which a hit could be weak. */
static void no_hit_is_weak_without_words_or_meaning(void **state)
{
    struct retriever votes = {.weights[SOURCE_NEIGHBOURS] = 1};
    const struct hit_list hits = {.fits = NAN};
    struct hit hit = {.score = 1, .estimate = NAN};
    (void)state;
    hit.features[FEATURE_SCORE] = 1;
    assert_false(wt__hit_is_weak(&votes, &hits, &hit));
}

static void scorer_decides_which_hits_are_weak(void **state)
{
    static const struct {
        const char *name;
        float fits_quantile, estimate;
        unsigned lead;
        size_t named;
        bool weak;
    } scored[] = {
        {"a likely hit", .5f, .4f, 0, 0, false},
        {"a very unlikely hit", .5f, .001f, 0, 0, true},
        {"probably no tool fits", 0, .4f, 0, 0, true},
        {"probably no tool fits, but the request names the tool", 0, .4f, 1, 1, false},
        {"the request names another tool", 0, .4f, 0, 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof scored / sizeof *scored; i++) {
        const struct hit_list hits = {.fits = .5f, .fits_quantile = scored[i].fits_quantile, .named = scored[i].named};
        struct hit hit = {.score = 1, .estimate = scored[i].estimate, .lead = scored[i].lead};
        hit.features[FEATURE_SCORE] = 1;
        if (wt__hit_is_weak(&wt__hybrid, &hits, &hit) != scored[i].weak)
            fail_msg("%s", scored[i].name);
    }
}

static void nothing_fits_below_the_share(void **state)
{
    const struct hit_list unknown = {.fits = NAN}, low = {.fits = .2f, .fits_quantile = .04f};
    (void)state;
    assert_false(wt__nothing_fits(&unknown, 1));
    assert_true(wt__nothing_fits(&low, .05));
    assert_false(wt__nothing_fits(&low, .03));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detects_weak_hits),
        cmocka_unit_test(no_hit_is_weak_without_words_or_meaning),
        cmocka_unit_test(scorer_decides_which_hits_are_weak),
        cmocka_unit_test(nothing_fits_below_the_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
