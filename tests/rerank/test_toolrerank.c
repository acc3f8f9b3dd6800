/* ToolRerank behind its first stage, on made-up catalogues: what is known of a request, and the order. */
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

static void near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-6)
        fail_msg("%.7f, not %.7f", got, wanted);
}

/* ---------------------------------------------------------------- what providers lack */

enum { MOST = 3 };

/* The whole request and two parts, which find .9 and .8 at best. A's best are .9 and .6, B's .5 and .8: A lacks .2 at
 * the second part, B .4 at the first. Row 3 is of a provider that nobody found, and row 4 of none: both have the last
 * score of every part, .5 and .6. */
static void candidates_know_what_their_providers_lack(void **state)
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
    near((double)wt__request_lack(&texts, NULL, 0), 0.2 / 2);
    near((double)wt__request_lack(&texts, candidates, 5), 0.2 / 2);
    for (size_t i = 0; i < 5; i++)
        near((double)candidates[i].lack, (lacks[i] - 0.2) / 2);
    texts.counts = none;
    assert_true(wt__request_lack(&texts, candidates, 5) == 0);
    for (size_t i = 0; i < 5; i++)
        assert_true(candidates[i].lack == 0);
}

/* Rows 0 and 1 have no provider. As one they would cover both parts; each by itself lacks .7 at the second and .5 at
 * the first part, and row 2 .4 and .2: row 1 is best. */
static void tools_without_a_provider_are_each_their_own(void **state)
{
    static const struct snapshot_key keys[] = {{.provider = NOBODY}, {.provider = NOBODY}, {.provider = B}};
    static const struct scored nearest[] = {
        {.row = 0, .score = 0.7f}, {.row = 1, .score = 0.7f}, {.row = 2, .score = 0.7f},
        {.row = 0, .score = 0.9f}, {.row = 2, .score = 0.5f}, {.row = 1, .score = 0.4f},
        {.row = 1, .score = 0.8f}, {.row = 2, .score = 0.6f}, {.row = 0, .score = 0.1f}};
    static const size_t counts[] = {3, 3, 3};
    struct request_texts texts = {3, nearest, counts, MOST, keys, NOBODY};
    (void)state;
    near((double)wt__request_lack(&texts, NULL, 0), 0.5 / 2);
    texts.nobody = HIERARCHY_NO_PROVIDER;
    near((double)wt__request_lack(&texts, NULL, 0), 0);
}

static void a_request_of_one_part_is_covered(void **state)
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

static void a_classifier_may_not_know(void **state)
{
    static const float lack = 0.5f;
    struct request_classifier c = {.margin = 0.1f};
    (void)state;
    assert_int_equal(wt__request_kind(&(struct request_classifier){0}, lack), REQUEST_UNKNOWN);
    c.weight = 2; /* 1 / (1 + e^-1) = .731 */
    near((double)wt__request_probability(&c, lack), 0.7310586);
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_MULTI);
    c.constant = -2; /* .269 */
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_SINGLE);
    c.margin = 0.24f;
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_UNKNOWN);
    c.constant = 1e30f;
    assert_int_equal(wt__request_kind(&c, lack), REQUEST_MULTI);
}

/* ---------------------------------------------------------------- order */

/* Scores by row, and the tools of the one provider that can be asked for. */
struct shop {
    const float *scores;
    uint32_t provider;
    const uint32_t *tools;
    size_t tool_count, scored, asked;
    int fail_score, fail_tools;
};

static int score(void *context, struct candidate *candidates, size_t count, wt_error *err)
{
    struct shop *shop = context;
    if (shop->fail_score)
        return wt__fail(err, shop->fail_score, "no score");
    shop->scored += count;
    for (size_t i = 0; i < count; i++)
        candidates[i].score = shop->scores ? shop->scores[candidates[i].row] : 0.5f;
    return 0;
}

static int tools_of(void *context, uint32_t provider, struct candidate *out, size_t most, wt_error *err)
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

static const char *ask(const struct hierarchy_settings *settings, enum request_kind kind, struct shop *shop, bool reads,
                       const struct candidate *given, size_t count, size_t *first)
{
    static char rows[256];
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    const struct toolrerank_source source = {shop, 1, reads ? score : NULL, tools_of};
    memcpy(candidates, given, count * sizeof *given);
    assert_int_equal(wt__toolrerank(settings, kind, &source, candidates, &count, first, NULL), 0);
    rows[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%s%u", i ? " " : "", (unsigned)candidates[i].row);
    return rows;
}

/* Rows 0 to 5; A has 0, 3, 5 and, further down than anybody looked, 6 and 7; B has 1, 4; row 2 nobody. */
static const float scores[] = {0.3f, 0.9f, 0.5f, 0.6f, 0.95f, 0.7f, 0.92f, 0.1f};
static const struct candidate found[] = {{.row = 0, .provider = A, .score = 1},
                                         {.row = 1, .provider = B, .seen = true, .score = 0.8f},
                                         {.row = 2, .provider = HIERARCHY_NO_PROVIDER, .score = 0.7f},
                                         {.row = 3, .provider = A, .score = 0.6f},
                                         {.row = 4, .provider = B, .seen = true, .score = 0.5f},
                                         {.row = 5, .provider = A, .score = 0.4f}};
enum { FOUND = sizeof found / sizeof *found };
static const uint32_t of_a[] = {0, 3, 5, 6, 7};

static struct hierarchy_settings settings_of(void)
{
    struct hierarchy_settings settings = wt__hierarchy_paper;
    settings.group_most = 1;
    return settings;
}

/* Row 4 is seen and beyond seen_depth: dropped, and no score is made for it. Nobody knows what the request needs: by
 * score alone. */
static void what_is_dropped_costs_nothing(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.scores = scores};
    size_t first;
    (void)state;
    settings.seen_depth = 4;
    assert_string_equal(ask(&settings, REQUEST_UNKNOWN, &shop, true, found, FOUND, &first), "1 5 3 2 0");
    assert_int_equal(shop.scored, 5);
    assert_int_equal(first, 5);
    assert_int_equal(shop.asked, 0);
}

/* Sorted: 4 (B) 1 (B) 5 (A) 3 (A) 2 0 (A). B alone is chosen, and seen: nothing is fetched. with tau_s = .65 A is
 * chosen too, by row 5, and unseen: 6 and 7 come in, each in its place, and only they are scored anew. */
static void one_provider_answers(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.scores = scores, .provider = A, .tools = of_a, .tool_count = 5};
    size_t first;
    (void)state;
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first), "4 1 5 3 2 0");
    assert_int_equal(first, 2);
    assert_int_equal(shop.asked, 0);
    shop.scored = 0;
    settings.tau_s = 0.65f;
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first), "4 6 1 5 3 0 7 2");
    assert_int_equal(first, 7);
    assert_int_equal(shop.asked, 1);
    assert_int_equal(shop.scored, FOUND + 2);
    settings.expand_unseen = false;
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first), "4 1 5 3 0 2");
}

/* With a prior of 5, logit + 5 (share - 1) of the rows in order: -.85 + 0, 2.20 - 1, 0 - 1.5, .41 - 2, 2.94 - 2.5,
 * .85 - 3. B is chosen by row 1 and, with tau_s = .2, A by row 0 (.3), unseen: 6 and 7 come in with the least share
 * that there is, 2.44 - 3 and -2.20 - 3. */
static void scores_lean_on_the_first_stage(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.scores = scores, .provider = A, .tools = of_a, .tool_count = 5};
    size_t first;
    (void)state;
    settings.prior = 5;
    assert_string_equal(ask(&settings, REQUEST_UNKNOWN, &shop, true, found, FOUND, &first), "1 4 0 2 3 5");
    settings.tau_s = 0.2f;
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, true, found, FOUND, &first), "1 4 6 0 3 5 7 2");
}

/* With a cover of 10, and .2 that A lacks, .1 that B and 1 that nobody does: -.85 - 2, 2.20 - 1, 0 - 10, .41 - 2,
 * 2.94 - 1, .85 - 2. with tau_s = .2 A is chosen by row 5 (.24); 6 and 7 come in and lack what A lacks, 2.44 - 2 and
 * -2.20 - 2. It is for a single provider alone. */
static void scores_lean_on_the_provider(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.scores = scores, .provider = A, .tools = of_a, .tool_count = 5};
    struct candidate given[FOUND];
    size_t first;
    (void)state;
    memcpy(given, found, sizeof found);
    for (size_t i = 0; i < FOUND; i++)
        given[i].lack = given[i].provider == A ? 0.2f : given[i].provider == B ? 0.1f : 1;
    settings.cover = 10;
    settings.tau_s = 0.2f;
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, true, given, FOUND, &first), "4 1 6 5 3 0 7 2");
    assert_int_equal(first, 7);
    assert_string_equal(ask(&settings, REQUEST_UNKNOWN, &shop, true, given, FOUND, &first), "4 1 5 3 2 0");
}

/* Logits of certain scores are finite: the shares decide between them. */
static void certain_scores_lean_too(void **state)
{
    static const float certain[] = {1, 1, 0, 1, 0, 0};
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.scores = certain};
    size_t first;
    (void)state;
    settings.prior = 100;
    assert_string_equal(ask(&settings, REQUEST_UNKNOWN, &shop, true, found, FOUND, &first), "0 1 3 2 4 5");
}

static void several_providers_answer(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.scores = scores};
    size_t first;
    (void)state;
    assert_string_equal(ask(&settings, REQUEST_MULTI, &shop, true, found, FOUND, &first), "4 5 2 1 3 0");
    assert_int_equal(first, 3);
}

/* Without a cross-encoder the first stage's shares decide, and nothing is fetched that has none. */
static void the_first_stage_can_stand_in(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct shop shop = {.provider = A, .tools = of_a, .tool_count = 5};
    size_t first;
    (void)state;
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, false, found, FOUND, &first), "0 3 5 1 2 4");
    assert_string_equal(ask(&settings, REQUEST_MULTI, &shop, false, found, FOUND, &first), "0 1 2 3 4 5");
    assert_int_equal(shop.asked + shop.scored, 0);
    assert_string_equal(ask(&settings, REQUEST_SINGLE, &shop, true, found, 0, &first), "");
    assert_int_equal(first, 0);
}

static void a_provider_is_not_larger_than_the_list(void **state)
{
    struct hierarchy_settings settings = settings_of();
    struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
    struct shop shop = {.provider = A, .tool_count = 100000};
    const struct toolrerank_source source = {&shop, 1, score, tools_of};
    size_t count = FOUND, first;
    (void)state;
    memcpy(candidates, found, sizeof found);
    assert_int_equal(wt__toolrerank(&settings, REQUEST_SINGLE, &source, candidates, &count, &first, NULL), 0);
    assert_int_equal(count, HIERARCHY_MAX_CANDIDATES);
    assert_int_equal(first, HIERARCHY_MAX_CANDIDATES - 3); /* rows 1, 2 and 4 stay behind */
    assert_int_equal(candidates[count - 1].row, 4);
}

static void failures_are_passed_on(void **state)
{
    struct hierarchy_settings settings = settings_of();
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct candidate candidates[HIERARCHY_MAX_CANDIDATES];
        struct shop shop = {.fail_score = i ? 0 : WT_EMODEL, .fail_tools = i ? WT_ESTORE : 0};
        const struct toolrerank_source source = {&shop, 1, score, tools_of};
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
        cmocka_unit_test(candidates_know_what_their_providers_lack),
        cmocka_unit_test(tools_without_a_provider_are_each_their_own),
        cmocka_unit_test(a_request_of_one_part_is_covered),
        cmocka_unit_test(a_classifier_may_not_know),
        cmocka_unit_test(what_is_dropped_costs_nothing),
        cmocka_unit_test(one_provider_answers),
        cmocka_unit_test(scores_lean_on_the_first_stage),
        cmocka_unit_test(scores_lean_on_the_provider),
        cmocka_unit_test(certain_scores_lean_too),
        cmocka_unit_test(several_providers_answer),
        cmocka_unit_test(the_first_stage_can_stand_in),
        cmocka_unit_test(a_provider_is_not_larger_than_the_list),
        cmocka_unit_test(failures_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
