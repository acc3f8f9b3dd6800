/* Tests weak hits of retrievers by words, by meaning, by both, and by past requests only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "choose/relevance.h"

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

    {"one common word, far in meaning", &wt__hybrid, {1, .4f}, .34f, .34f, 1, 0, 0, false, true},
    {"one common word, near to a sub-query", &wt__hybrid, {1, .4f}, .1f, .35f, 1, 0, 0, false, false},
    {"two common words, far in meaning", &wt__hybrid, {2, .1f}, 0, 0, 1, 0, 0, false, false},
    {"no word, negative cosine", &wt__hybrid, {0, 0}, -.2f, -.2f, 1, 0, 0, false, true},

    {"the request names the tool", &wt__hybrid, {0, 0}, 0, 0, 1, 0, 1, false, false},
    {"past requests vote for the tool", &wt__hybrid, {0, 0}, 0, 0, 1, .1f, 0, false, false},
    {"a hit that a reranker added", &wt__hybrid, {0, 0}, 0, 0, 0, 0, 0, true, false},
    {"no evidence, listed because a filter admits few tools", &wt__hybrid, {0, 0}, -.1f, -.1f, 0, 0, 0, false, true},
};

static void detects_weak_hits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hit hit = {.words = rows[i].words, .lead = rows[i].lead, .brought = rows[i].brought};
        hit.features[FEATURE_MEANING] = rows[i].meaning;
        hit.features[FEATURE_SUBQUERY_MEANING] = rows[i].subquery;
        hit.features[FEATURE_SCORE] = rows[i].score;
        hit.features[FEATURE_NEIGHBOUR_VOTES] = rows[i].votes;
        if (wt__hit_is_weak(rows[i].retriever, &hit) != rows[i].weak)
            fail_msg("%s", rows[i].name);
    }
}

/* A retriever that uses only past requests has no evidence by which a hit could be weak. */
static void no_hit_is_weak_without_words_or_meaning(void **state)
{
    struct retriever votes = {.weights[SOURCE_NEIGHBOURS] = 1};
    struct hit hit = {.score = 1};
    (void)state;
    hit.features[FEATURE_SCORE] = 1;
    assert_false(wt__hit_is_weak(&votes, &hit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detects_weak_hits),
        cmocka_unit_test(no_hit_is_weak_without_words_or_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
