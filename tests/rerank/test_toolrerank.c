/* Tests ToolRerank after its first stage on small catalogues: the classification of a request, and the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rerank/toolrerank.h"

enum { A = 7, B = 8, NOBODY = 9 };

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-6)
        fail_msg("%.7f, not %.7f", got, wanted);
}

/* ---------------------------------------------------------------- lack of providers */

enum { MOST = 3 };

/* The three texts are the whole request and two sub-queries. The best scores of the sub-queries are .9 and .8.
 * Provider A has .9 and .6, so it lacks .2 in the second sub-query. Provider B has .5 and .8, so it lacks .4 in the
 * first.
 * The provider of row 3 has no matches, and row 4 has no provider. Both rows get the last score of each sub-query,
 * .5 and .6. */
static void computes_lack_of_providers(void **state)
{
    static const struct snapshot_key keys[] = {
        {.provider = A}, {.provider = A}, {.provider = B}, {.provider = B + 1}, {.provider = NOBODY}};
    static const struct scored nearest[] = {{.row = 0, .score = 0.7f}, {.row = 2, .score = 0.7f}, {.row = 0},
                                            {.row = 0, .score = 0.9f}, {.row = 2, .score = 0.5f}, {.row = 0},
                                            {.row = 2, .score = 0.8f}, {.row = 1, .score = 0.6f}, {.row = 0}};
    static const size_t counts[] = {2, 2, 2}, none[] = {0, 0, 0};
    static const double lacks[] = {0.2, 0.2, 0.4, 0.4 + 0.2, 0.4 + 0.2};
    struct request_texts texts = {3, nearest, counts, MOST, keys, NOBODY};
    struct candidate candidates[5] = {{.row = 0}, {.row = 1}, {.row = 2}, {.row = 3}, {.row = 4}};
    (void)state;
    assert_near((double)wt__request_lack(&texts, NULL, 0), 0.2 / 2);
    assert_near((double)wt__request_lack(&texts, candidates, 5), 0.2 / 2);
    for (size_t i = 0; i < 5; i++)
        assert_near((double)candidates[i].lack, (lacks[i] - 0.2) / 2);
    texts.counts = none;
    assert_true(wt__request_lack(&texts, candidates, 5) == 0);
    for (size_t i = 0; i < 5; i++)
        assert_true(candidates[i].lack == 0);
}

/* Rows 0 and 1 have no provider. As one provider they would cover both sub-queries. As separate tools, row 0 lacks
 * .7 in the second sub-query, and row 1 lacks .5 in the first. Row 2 lacks .4 and .2. Row 1 lacks the least. */
static void tools_without_provider_are_separate(void **state)
{
    static const struct snapshot_key keys[] = {{.provider = NOBODY}, {.provider = NOBODY}, {.provider = B}};
    static const struct scored nearest[] = {
        {.row = 0, .score = 0.7f}, {.row = 1, .score = 0.7f}, {.row = 2, .score = 0.7f},
        {.row = 0, .score = 0.9f}, {.row = 2, .score = 0.5f}, {.row = 1, .score = 0.4f},
        {.row = 1, .score = 0.8f}, {.row = 2, .score = 0.6f}, {.row = 0, .score = 0.1f}};
    static const size_t counts[] = {3, 3, 3};
    struct request_texts texts = {3, nearest, counts, MOST, keys, NOBODY};
    (void)state;
    assert_near((double)wt__request_lack(&texts, NULL, 0), 0.5 / 2);
    texts.no_provider = HIERARCHY_NO_PROVIDER;
    assert_near((double)wt__request_lack(&texts, NULL, 0), 0);
}

static void single_text_is_covered(void **state)
{
    static const struct snapshot_key keys[] = {{.provider = A}};
    static const struct scored nearest[] = {{.row = 0, .score = 0.7f}};
    static const size_t counts[] = {1}, none[] = {0};
    struct request_texts texts = {1, nearest, counts, 1, keys, HIERARCHY_NO_PROVIDER};
    (void)state;
    assert_true(wt__request_lack(&texts, NULL, 0) == 0);
    texts.counts = none;
    assert_true(wt__request_lack(&texts, NULL, 0) == 0);
}

static void classifies_uncertain_requests_as_unknown(void **state)
{
    static const float lack = 0.5f;
    struct request_classifier c = {.margin = 0.1f};
    (void)state;
    assert_int_equal(wt__request_kind(&(struct request_classifier){0}, lack), REQUEST_UNKNOWN);
    c.weight = 2; /* 1 / (1 + e^-1) = .731 */
    assert_near((double)wt__request_probability(&c, lack), 0.7310586);
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_MULTI);
    c.constant = -2; /* .269 */
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_SINGLE);
    c.margin = 0.24f;
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_UNKNOWN);
    c.constant = 1e30f;
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_MULTI);
}

/* ---------------------------------------------------------------- order */

/* Source of scores and tools. */
struct shop {
    const float *scores;              /* score of each row; NULL for .5 each */
    uint32_t provider;                /* the only provider whose tools can be fetched */
    const uint32_t *tools;            /* rows of its tools; NULL for 1000, 1001, ... */
    size_t tool_count, scored, asked; /* scored: number of scored tools; asked: number of fetches */
    int fail_score, fail_tools;       /* error codes; 0 to succeed */
};

static int score_in_shop(void *context, struct candidate *candidates, size_t count, wt_error *err)
{
    struct shop *shop = context;
    if (shop->fail_score)
        return wt__fail(err, shop->fail_score, "no score");
    shop->scored += count;
    for (size_t i = 0; i < count; i++)
        candidates[i].score = shop->scores ? shop->scores[candidates[i].row] : 0.5f;
    return 0;
}

static int tools_in_shop(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err)
{
    struct shop *shop = context;
    size_t n = 0;
    shop->asked++;
    if (shop->fail_tools)
        return wt__fail(err, shop->fail_tools, "no tools");
    for (; provider == shop->provider && n < shop->tool_count && n < most; n++)
        out[n] = (struct candidate){.row = shop->tools ? shop->tools[n] : (uint32_t)(1000 + n), .provider = provider};
    return (int)n;
}

static const char *ask_toolrerank(const struct hierarchy_settings *settings, enum request_kind kind, struct shop *shop,
                                  bool reads, const struct candidate *given, size_t count, size_t *first)
{
    static char rows[256];
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    const struct toolrerank_source source = {shop, 1, reads ? score_in_shop : NULL, tools_in_shop};
    memcpy(candidates, given, count * sizeof *given);
    assert_int_equal(wt__toolrerank(settings, kind, &source, candidates, &count, first, NULL), 0);
    rows[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%s%u", i ? " " : "", (unsigned)candidates[i].row);
    return rows;
}

/* The first stage found rows 0 to 5. Provider A has rows 0, 3 and 5, and also 6 and 7, which the first stage did not
 * find. Provider B has rows 1 and 4. Row 2 has no provider. */
static const float scores[] = {0.3f, 0.9f, 0.5f, 0.6f, 0.95f, 0.7f, 0.92f, 0.1f};
static const struct candidate found[] = {{.row = 0, .provider = A, .score = 1},
                                         {.row = 1, .provider = B, .seen = true, .score = 0.8f},
                                         {.row = 2, .provider = HIERARCHY_NO_PROVIDER, .score = 0.7f},
                                         {.row = 3, .provider = A, .score = 0.6f},
                                         {.row = 4, .provider = B, .seen = true, .score = 0.5f},
                                         {.row = 5, .provider = A, .score = 0.4f}};
enum { FOUND = sizeof found / sizeof *found };
static const uint32_t of_a[] = {0, 3, 5, 6, 7};

static struct hierarchy_settings hierarchy_settings_of(void)
{
    struct hierarchy_settings settings = wt__hierarchy_paper;
    settings.group_most = 1;
    return settings;
}

/* Row 4 is seen and beyond seen_depth, so it is dropped and not scored. The kind of request is unknown, so the
 * result is sorted by score only. */
static void does_not_score_dropped_tools(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.scores = scores};
    size_t first;
    (void)state;
    settings.seen_depth = 4;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_UNKNOWN, &shop, true, found, FOUND, &first), "1 5 3 2 0");
    assert_int_equal(shop.scored, 5);
    assert_int_equal(first, 5);
    assert_int_equal(shop.asked, 0);
}

/* The order by score is 4 (B), 1 (B), 5 (A), 3 (A), 2, 0 (A). Only B is above tau_s, and B is seen, so no tools are
 * fetched. With tau_s = .65, A is also chosen, because of row 5. A is unseen, so rows 6 and 7 are fetched and
 * inserted by score. Only these two are scored in addition. */
static void reranks_for_one_provider(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.scores = scores, .provider = A, .tools = of_a, .tool_count = 5};
    size_t first;
    (void)state;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first), "4 1 5 3 2 0");
    assert_int_equal(first, 2);
    assert_int_equal(shop.asked, 0);
    shop.scored = 0;
    settings.tau_s = 0.65f;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first),
                        "4 6 1 5 3 0 7 2");
    assert_int_equal(first, 7);
    assert_int_equal(shop.asked, 1);
    assert_int_equal(shop.scored, FOUND + 2);
    settings.expand_unseen = false;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first), "4 1 5 3 0 2");
}

/* Each score becomes logit + prior * (share - 1). With a prior of 5, rows 0 to 5 get -.85 + 0, 2.20 - 1, 0 - 1.5,
 * .41 - 2, 2.94 - 2.5 and .85 - 3. With tau_s = .2, B is chosen because of row 1, and A because of row 0, whose
 * probability is .3. A is unseen, so rows 6 and 7 are inserted. They get the lowest share: 2.44 - 3 and -2.20 - 3. */
static void prior_adds_first_stage_shares(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.scores = scores, .provider = A, .tools = of_a, .tool_count = 5};
    size_t first;
    (void)state;
    settings.prior = 5;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_UNKNOWN, &shop, true, found, FOUND, &first), "1 4 0 2 3 5");
    settings.tau_s = 0.2f;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first),
                        "1 4 6 0 3 5 7 2");
}

/* Each score becomes logit - cover * lack. The lack is .2 for A, .1 for B and 1 without a provider. With a cover of
 * 10, rows 0 to 5 get -.85 - 2, 2.20 - 1, 0 - 10, .41 - 2, 2.94 - 1 and .85 - 2. With tau_s = .2, A is chosen
 * because of row 5, whose probability is .24. Rows 6 and 7 are inserted with the lack of A: 2.44 - 2 and -2.20 - 2.
 * The cover only applies to requests for one provider. */
static void cover_subtracts_lack_of_provider(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.scores = scores, .provider = A, .tools = of_a, .tool_count = 5};
    struct candidate given[FOUND];
    size_t first;
    (void)state;
    memcpy(given, found, sizeof found);
    for (size_t i = 0; i < FOUND; i++)
        given[i].lack = given[i].provider == A ? 0.2f : given[i].provider == B ? 0.1f : 1;
    settings.cover = 10;
    settings.tau_s = 0.2f;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, true, given, FOUND, &first),
                        "4 1 6 5 3 0 7 2");
    assert_int_equal(first, 7);
    assert_string_equal(ask_toolrerank(&settings, REQUEST_UNKNOWN, &shop, true, given, FOUND, &first), "4 1 5 3 2 0");
}

/* Scores of 0 and 1 are treated as nearly certain, so that their logits are finite and the shares decide between equal
 * scores. */
static void scores_of_zero_and_one_have_finite_logits(void **state)
{
    static const float certain[] = {1, 1, 0, 1, 0, 0};
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.scores = certain};
    size_t first;
    (void)state;
    settings.prior = 100;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_UNKNOWN, &shop, true, found, FOUND, &first), "0 1 3 2 4 5");
}

static void reranks_for_several_providers(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.scores = scores};
    size_t first;
    (void)state;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_MULTI, &shop, true, found, FOUND, &first), "4 5 2 1 3 0");
    assert_int_equal(first, 3);
}

/* Without a cross-encoder the first stage's shares decide, and no tools are fetched, because they would have no
 * score. */
static void works_without_cross_encoder(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct shop shop = {.provider = A, .tools = of_a, .tool_count = 5};
    size_t first;
    (void)state;
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, false, found, FOUND, &first), "0 3 5 1 2 4");
    assert_string_equal(ask_toolrerank(&settings, REQUEST_MULTI, &shop, false, found, FOUND, &first), "0 1 2 3 4 5");
    assert_int_equal(shop.asked + shop.scored, 0);
    assert_string_equal(ask_toolrerank(&settings, REQUEST_SINGLE, &shop, true, found, 0, &first), "");
    assert_int_equal(first, 0);
}

static void limits_fetched_tools_to_the_list(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    struct shop shop = {.provider = A, .tool_count = 100000};
    const struct toolrerank_source source = {&shop, 1, score_in_shop, tools_in_shop};
    size_t count = FOUND, first;
    (void)state;
    memcpy(candidates, found, sizeof found);
    assert_int_equal(wt__toolrerank(&settings, REQUEST_SINGLE, &source, candidates, &count, &first, NULL), 0);
    assert_int_equal(count, HIERARCHY_MAX_CANDIDATES);
    assert_int_equal(first, HIERARCHY_MAX_CANDIDATES - 3); /* rows 1, 2 and 4 stay last */
    assert_int_equal(candidates[count - 1].row, 4);
}

static void returns_errors_of_callbacks(void **state)
{
    struct hierarchy_settings settings = hierarchy_settings_of();
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
        struct shop shop = {.fail_score = i ? 0 : WT_EMODEL, .fail_tools = i ? WT_ESTORE : 0};
        const struct toolrerank_source source = {&shop, 1, score_in_shop, tools_in_shop};
        size_t count = FOUND, first;
        wt_error err;
        memcpy(candidates, found, sizeof found);
        assert_int_equal(wt__toolrerank(&settings, REQUEST_SINGLE, &source, candidates, &count, &first, &err),
                         i ? WT_ESTORE : WT_EMODEL);
        assert_string_equal(err.message, i ? "no tools" : "no score");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_lack_of_providers),
        cmocka_unit_test(tools_without_provider_are_separate),
        cmocka_unit_test(single_text_is_covered),
        cmocka_unit_test(classifies_uncertain_requests_as_unknown),
        cmocka_unit_test(does_not_score_dropped_tools),
        cmocka_unit_test(reranks_for_one_provider),
        cmocka_unit_test(prior_adds_first_stage_shares),
        cmocka_unit_test(cover_subtracts_lack_of_provider),
        cmocka_unit_test(scores_of_zero_and_one_have_finite_logits),
        cmocka_unit_test(reranks_for_several_providers),
        cmocka_unit_test(works_without_cross_encoder),
        cmocka_unit_test(limits_fetched_tools_to_the_list),
        cmocka_unit_test(returns_errors_of_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
