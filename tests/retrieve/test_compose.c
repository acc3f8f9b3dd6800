/* Tests the order of candidates: a sort by value for one text, a shared list for several sub-queries, caps per
 * provider, and exact copies. Compares wt__compose with a literal implementation of its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "retrieve/compose.h"

enum { MOST = 60 }; /* maximum number of candidates */

static float values[TEXTS_MAX][MOST]; /* value of each candidate for each text */
static uint32_t providers[MOST];

static struct evidence evidence_of(size_t texts, size_t candidates)
{
    struct evidence evidence = {.texts = texts, .candidates = candidates, .provider = providers, .subquery_weight = 1};
    for (size_t t = 0; t < texts; t++)
        evidence.value[t] = values[t];
    return evidence;
}

static size_t compose_evidence(const struct evidence *evidence, size_t k, size_t cap, struct chosen_candidate *out)
{
    struct arena arena = {0};
    size_t count;
    assert_int_equal(wt__compose(evidence, k, cap, &arena, out, &count, NULL), 0);
    wt__arena_dispose(&arena);
    return count;
}

static void sorts_single_text_with_ties_by_row(void **state)
{
    (void)state;
    static const float scores[] = {.5f, .9f, .5f, .1f, .9f};
    static const uint32_t order[] = {1, 4, 0, 2, 3};
    struct chosen_candidate out[MOST];
    memcpy(values[0], scores, sizeof scores);
    struct evidence evidence = evidence_of(1, 5);
    assert_int_equal(compose_evidence(&evidence, 10, 0, out), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(out[i].candidate, order[i]);
        assert_int_equal(out[i].text, 0);
    }
}

static void served_subqueries_fade(void **state)
{
    (void)state;
    /* Candidates 0 and 1 answer the first sub-query; 2 answers the second, with a slightly lower value. */
    memset(values, 0, sizeof values);
    values[1][0] = 1.0f;
    values[1][1] = .95f;
    values[2][2] = .9f;
    struct chosen_candidate out[MOST];
    struct evidence evidence = evidence_of(3, 3);
    assert_int_equal(compose_evidence(&evidence, 3, 0, out), 3);
    assert_int_equal(out[0].candidate, 0);
    assert_int_equal(out[1].candidate, 2);
    assert_int_equal(out[1].text, 2);
    assert_int_equal(out[2].candidate, 1);
    assert_true(out[2].score < .95f);
}

static void caps_each_provider(void **state)
{
    (void)state;
    memset(values, 0, sizeof values);
    for (size_t c = 0; c < 6; c++) {
        values[0][c] = 1 - (float)c / 10;
        providers[c] = c < 4 ? 7 : 8;
    }
    struct chosen_candidate out[MOST];
    struct evidence evidence = evidence_of(1, 6);
    assert_int_equal(compose_evidence(&evidence, 6, 2, out), 4);
    static const uint32_t order[] = {0, 1, 4, 5};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(out[i].candidate, order[i]);
}

/* One letter per candidate, best first, in `says` and `providers`. says: group of exact copies, '-' without a group.
 * providers: provider of the candidate, a capital if the request names the provider. shown: providers of the
 * results, in order. given: number of copies that gave up their places. */
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

static void copies_share_one_place(void **state)
{
    (void)state;
    static const struct copies_case rows[] = {
        {"no copies", "----", "abcd", "abcd", 0, 0},
        {"the best copy gets the place", "aa-a", "abcd", "ac", 0, 2},
        {"two groups", "abab", "abcd", "ab", 0, 2},
        {"tools of one provider are not copies", "aa--", "aabc", "aabc", 0, 0},
        {"the copy of a named provider gets the place", "a-aa", "abCd", "Cb", 0, 2},
        {"the copy of a named provider is the best copy", "aa--", "Abcd", "Acd", 0, 1},
        {"copies of two named providers both get places", "aaa-", "aBCd", "BCd", 0, 1},
        {"a copy over the cap leaves its place to the next copy", "-aa-", "aabc", "abc", 1, 0},
        {"the cap holds for a named provider", "-a-a", "CabC", "Cab", 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct chosen_candidate out[MOST];
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
            fail_msg("%s: got %s, expected %s; %zu copies gave up their places", rows[i].name, shown, rows[i].shown,
                     copies.given_count);
        wt__arena_dispose(&arena);
    }
}

/* A negative value (a cosine below 0) must not grow when its sub-query fades. */
static void negative_values_do_not_fade(void **state)
{
    (void)state;
    static const float whole[] = {1.0f, .50f, .49f};
    static const float subqueries[][3] = {{.5f, -.10f, -.10f}, {.4f, -.50f, -.08f}};
    memcpy(values[0], whole, sizeof whole);
    memcpy(values[1], subqueries[0], sizeof subqueries[0]);
    memcpy(values[2], subqueries[1], sizeof subqueries[1]);
    struct chosen_candidate out[MOST];
    struct evidence evidence = evidence_of(3, 3);
    assert_int_equal(compose_evidence(&evidence, 3, 0, out), 3);
    assert_int_equal(out[0].candidate, 0);
    assert_int_equal(out[1].candidate, 2); /* .49 - .08 comes before .5 - .1 */
    assert_true(out[1].score == .49f + -.08f);
    assert_int_equal(out[2].candidate, 1);
    assert_int_equal(out[2].text, 1); /* candidate 0 already answered this sub-query, but -.1 does not fade */
    assert_true(out[2].score == .5f + -.1f);
}

static float fade_positive_value(float faded, float value)
{
    return value > 0 ? faded * value : value;
}

/* Implements the definition literally: looks at every candidate for every place. */
static size_t compose_plainly(const struct evidence *e, size_t k, struct chosen_candidate *out)
{
    bool taken[MOST] = {false};
    float faded[TEXTS_MAX];
    size_t count = 0;
    for (size_t t = 0; t < TEXTS_MAX; t++)
        faded[t] = 1;
    for (; count < k && count < e->candidates; count++) {
        struct chosen_candidate best = {.score = -1e9f};
        for (uint32_t c = 0; c < e->candidates; c++) {
            float subquery = 0;
            uint32_t text = 0;
            for (uint32_t t = 1; t < e->texts; t++)
                if (text == 0 || fade_positive_value(faded[t], e->value[t][c]) > subquery) {
                    subquery = fade_positive_value(faded[t], e->value[t][c]);
                    text = t;
                }
            if (!taken[c] && e->value[0][c] + subquery > best.score)
                best = (struct chosen_candidate){c, text, e->value[0][c] + subquery, subquery};
        }
        taken[best.candidate] = true;
        if (best.text)
            faded[best.text] *= .8f;
        out[count] = best;
    }
    return count;
}

static void composes_by_definition(void **state)
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
        struct chosen_candidate lazy[MOST], plain[MOST];
        struct evidence evidence = evidence_of(texts, n);
        size_t count = compose_evidence(&evidence, k, 0, lazy);
        assert_int_equal(count, compose_plainly(&evidence, k, plain));
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(lazy[i].candidate, plain[i].candidate);
            assert_true(lazy[i].score == plain[i].score);
            assert_true(i == 0 || lazy[i].score <= lazy[i - 1].score);
        }
        struct chosen_candidate shorter[MOST];
        size_t half = compose_evidence(&evidence, k / 2, 0, shorter);
        for (size_t i = 0; i < half; i++)
            assert_int_equal(shorter[i].candidate, lazy[i].candidate);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_single_text_with_ties_by_row),
        cmocka_unit_test(served_subqueries_fade),
        cmocka_unit_test(caps_each_provider),
        cmocka_unit_test(copies_share_one_place),
        cmocka_unit_test(negative_values_do_not_fade),
        cmocka_unit_test(composes_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
