/* Composition: one sub-query is a plain sort, several sub-queries share the list, and the lazy search equals the full
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "retrieve/compose.h"

enum { MOST = 60 };

static float values[TEXTS_MAX][MOST];
static uint32_t providers[MOST];

static struct evidence evidence_of(size_t texts, size_t candidates)
{
    struct evidence evidence = {.texts = texts, .candidates = candidates, .provider = providers, .subquery_weight = 1};
    for (size_t t = 0; t < texts; t++)
        evidence.value[t] = values[t];
    return evidence;
}

static size_t compose(const struct evidence *evidence, size_t k, size_t cap, struct choice *out)
{
    struct arena arena = {0};
    size_t count;
    assert_int_equal(wt__compose(evidence, k, cap, &arena, out, &count, NULL), 0);
    wt__arena_dispose(&arena);
    return count;
}

static void one_part_is_a_plain_sort_with_ties_by_row(void **state)
{
    (void)state;
    static const float scores[] = {.5f, .9f, .5f, .1f, .9f};
    static const uint32_t order[] = {1, 4, 0, 2, 3};
    struct choice out[MOST];
    memcpy(values[0], scores, sizeof scores);
    struct evidence evidence = evidence_of(1, 5);
    assert_int_equal(compose(&evidence, 10, 0, out), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(out[i].candidate, order[i]);
        assert_int_equal(out[i].text, 0);
    }
}

static void a_part_that_was_served_makes_way(void **state)
{
    (void)state;
    /* Candidates 0 and 1 answer the first sub-query, 2 the second, a little less well. */
    memset(values, 0, sizeof values);
    values[1][0] = 1.0f;
    values[1][1] = .95f;
    values[2][2] = .9f;
    struct choice out[MOST];
    struct evidence evidence = evidence_of(3, 3);
    assert_int_equal(compose(&evidence, 3, 0, out), 3);
    assert_int_equal(out[0].candidate, 0);
    assert_int_equal(out[1].candidate, 2);
    assert_int_equal(out[1].text, 2);
    assert_int_equal(out[2].candidate, 1);
    assert_true(out[2].score < .95f);
}

static void a_cap_bounds_each_provider(void **state)
{
    (void)state;
    memset(values, 0, sizeof values);
    for (size_t c = 0; c < 6; c++) {
        values[0][c] = 1 - (float)c / 10;
        providers[c] = c < 4 ? 7 : 8;
    }
    struct choice out[MOST];
    struct evidence evidence = evidence_of(1, 6);
    assert_int_equal(compose(&evidence, 6, 2, out), 4);
    static const uint32_t order[] = {0, 1, 4, 5};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(out[i].candidate, order[i]);
}

/* Candidates best first, a letter each: what its tool says ('-': no other says that), and its provider; capitals are
 * providers that the request names. Shown are the providers that have places, in order. */
struct copies_case {
    const char *name, *says, *providers, *shown;
    size_t cap, given;
};

static struct snapshot_key keys[MOST];
static uint32_t candidates[MOST];
static uint64_t named[MOST];

static size_t put_candidates(const struct copies_case *row, struct provider_names *asked)
{
    size_t n = strlen(row->says);
    *asked = (struct provider_names){named, 0};
    memset(values, 0, sizeof values);
    for (uint32_t c = 0; c < n; c++) {
        uint32_t provider = (unsigned char)row->providers[c];
        candidates[c] = c;
        providers[c] = provider;
        values[0][c] = 1 - (float)c / 10;
        keys[c] = (struct snapshot_key){.provider = provider,
                                        .provider_hash = provider,
                                        .provider_precision = 1,
                                        .group = row->says[c] == '-' ? 0 : (unsigned char)row->says[c]};
        if (provider <= 'Z' && (asked->count == 0 || named[asked->count - 1] < provider))
            named[asked->count++] = provider;
    }
    return n;
}

static void copies_share_a_place(void **state)
{
    (void)state;
    static const struct copies_case rows[] = {
        {"no copies", "----", "abcd", "abcd", 0, 0},
        {"the best has the place", "aa-a", "abcd", "ac", 0, 2},
        {"two groups", "abab", "abcd", "ab", 0, 2},
        {"a provider's own are none", "aa--", "aabc", "aabc", 0, 0},
        {"the one asked for", "a-aa", "abCd", "Cb", 0, 2},
        {"the one asked for is best", "aa--", "Abcd", "Acd", 0, 1},
        {"two are asked for", "aaa-", "aBCd", "BCd", 0, 1},
        {"a cap gives the place to the next", "-aa-", "aabc", "abc", 1, 0},
        {"a cap on the one asked for", "-a-a", "CabC", "Cab", 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct choice out[MOST];
        struct provider_names asked;
        char shown[MOST] = "";
        size_t n = put_candidates(&rows[i], &asked), count;
        struct copies copies = {.keys = keys, .candidates = n, .rows = candidates, .asked = &asked};
        struct evidence evidence = evidence_of(1, n);
        evidence.rows = candidates;
        evidence.copies = &copies;
        assert_int_equal(wt__copies_begin(&copies, &arena, NULL), 0);
        assert_int_equal(wt__compose(&evidence, n, rows[i].cap, &arena, out, &count, NULL), 0);
        for (size_t c = 0; c < count; c++) {
            shown[c] = rows[i].providers[out[c].candidate];
            assert_true(c == 0 || out[c].score <= out[c - 1].score);
        }
        if (strcmp(shown, rows[i].shown) != 0 || copies.given_count != rows[i].given)
            fail_msg("%s: %s and not %s, %zu gave their places", rows[i].name, shown, rows[i].shown,
                     copies.given_count);
        wt__arena_dispose(&arena);
    }
}

/* What is unlike the request (a cosine below 0) does not become liker by being asked for once already. */
static void a_part_that_speaks_against_a_tool_does_not_fade(void **state)
{
    (void)state;
    static const float whole[] = {1.0f, .50f, .49f};
    static const float subqueries[][3] = {{.5f, -.10f, -.10f}, {.4f, -.50f, -.08f}};
    memcpy(values[0], whole, sizeof whole);
    memcpy(values[1], subqueries[0], sizeof subqueries[0]);
    memcpy(values[2], subqueries[1], sizeof subqueries[1]);
    struct choice out[MOST];
    struct evidence evidence = evidence_of(3, 3);
    assert_int_equal(compose(&evidence, 3, 0, out), 3);
    assert_int_equal(out[0].candidate, 0);
    assert_int_equal(out[1].candidate, 2); /* .49 - .08, before .5 - .1 */
    assert_true(out[1].score == .49f + -.08f);
    assert_int_equal(out[2].candidate, 1);
    assert_int_equal(out[2].text, 1); /* which spoke for the first, and says -.1 as before */
    assert_true(out[2].score == .5f + -.1f);
}

static float fade(float faded, float value)
{
    return value > 0 ? faded * value : value;
}

/* The definition, word for word: every candidate looked at for every place. */
static size_t compose_plainly(const struct evidence *e, size_t k, struct choice *out)
{
    bool taken[MOST] = {false};
    float faded[TEXTS_MAX];
    size_t count = 0;
    for (size_t t = 0; t < TEXTS_MAX; t++)
        faded[t] = 1;
    for (; count < k && count < e->candidates; count++) {
        struct choice best = {.score = -1e9f};
        for (uint32_t c = 0; c < e->candidates; c++) {
            float subquery = 0;
            uint32_t text = 0;
            for (uint32_t t = 1; t < e->texts; t++)
                if (text == 0 || fade(faded[t], e->value[t][c]) > subquery) {
                    subquery = fade(faded[t], e->value[t][c]);
                    text = t;
                }
            if (!taken[c] && e->value[0][c] + subquery > best.score)
                best = (struct choice){c, text, e->value[0][c] + subquery, subquery};
        }
        taken[best.candidate] = true;
        if (best.text)
            faded[best.text] *= .8f;
        out[count] = best;
    }
    return count;
}

static void the_lazy_search_equals_the_definition(void **state)
{
    (void)state;
    static const float lowest[] = {0, -.25f, -1};
    struct rng rng;
    wt__rng_seed(&rng, 5);
    for (size_t round = 0; round < 2000; round++) {
        size_t texts = 1 + wt__rng_below(&rng, TEXTS_MAX), n = wt__rng_below(&rng, MOST), k = wt__rng_below(&rng, MOST);
        for (size_t t = 0; t < texts; t++)
            for (size_t c = 0; c < n; c++)
                values[t][c] = lowest[round % 3] + (float)wt__rng_below(&rng, 8) / 8;
        struct choice lazy[MOST], plain[MOST];
        struct evidence evidence = evidence_of(texts, n);
        size_t count = compose(&evidence, k, 0, lazy);
        assert_int_equal(count, compose_plainly(&evidence, k, plain));
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(lazy[i].candidate, plain[i].candidate);
            assert_true(lazy[i].score == plain[i].score);
            assert_true(i == 0 || lazy[i].score <= lazy[i - 1].score);
        }
        struct choice shorter[MOST];
        size_t half = compose(&evidence, k / 2, 0, shorter);
        for (size_t i = 0; i < half; i++)
            assert_int_equal(shorter[i].candidate, lazy[i].candidate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_part_is_a_plain_sort_with_ties_by_row),
        cmocka_unit_test(a_part_that_was_served_makes_way),
        cmocka_unit_test(a_cap_bounds_each_provider),
        cmocka_unit_test(copies_share_a_place),
        cmocka_unit_test(a_part_that_speaks_against_a_tool_does_not_fade),
        cmocka_unit_test(the_lazy_search_equals_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
