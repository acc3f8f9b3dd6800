/* Tests choosing by needs: hits of one sub-query are alternatives; a need without a good hit gets no tool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "choose/relevance.h"

/* least: minimum probability of a need's best hit. picks: chosen hits as letters, most likely first. The letter a is
 * the first hit. */
static const struct {
    const char *name;
    struct {
        uint32_t need;
        float probability;
    } hits[6];
    size_t count;
    float least;
    const char *picks;
} choices[] = {
    {"one need, one tool", {{0, .8f}, {0, .7f}, {0, .6f}}, 3, .2f, "a"},
    {"the most likely hit is chosen, not the first", {{0, .5f}, {0, .7f}}, 2, .2f, "b"},
    {"a tool for each need", {{0, .6f}, {1, .9f}, {0, .5f}}, 3, .2f, "ba"},
    {"the best hit is unsure: the next hit is chosen too", {{0, .3f}, {0, .29f}, {0, .28f}}, 3, .2f, "ab"},
    {"both hits are unsure: a third hit is chosen too", {{0, .2f}, {0, .15f}, {0, .09f}, {0, .08f}}, 4, .2f, "abc"},
    {"an unlikely next hit is not chosen", {{0, .3f}, {0, .04f}}, 2, .2f, "a"},
    {"a need whose hits are below the minimum gets no tool", {{0, .1f}, {1, .9f}}, 2, .2f, "b"},
    {"no tool is chosen if all hits are below the minimum", {{0, .1f}, {1, .1f}}, 2, .2f, ""},
    {"without a minimum the best hit is always chosen", {{0, .01f}, {0, .001f}}, 2, -1, "a"},
    {"no tool is chosen without hits", {{0, 0}}, 0, .2f, ""},
};

static void chooses_one_tool_per_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct need_hit hits[6] = {{0}};
        struct need_set set;
        char picks[NEED_HITS + 1] = "";
        for (size_t h = 0; h < choices[i].count; h++) {
            hits[h].hit = (uint32_t)h;
            hits[h].need = choices[i].hits[h].need;
            hits[h].probability = choices[i].hits[h].probability;
        }
        wt__choose_by_needs(hits, choices[i].count, choices[i].least, &set);
        for (size_t p = 0; p < set.len; p++)
            picks[p] = (char)('a' + set.which[p]);
        picks[set.len] = '\0';
        if (strcmp(picks, choices[i].picks) != 0)
            fail_msg("%s: %s", choices[i].name, picks);
        assert_true(set.tracc <= 1 && (set.tracc > 0) == (set.len > 0) && set.complete <= 1);
    }
}

static struct hit hit_of(struct str subquery, float share, float probability)
{
    struct hit hit = {.score = 1 + share, .subquery = subquery, .probability = probability};
    hit.features[FEATURE_SUBQUERY_MEANING] = .5f;
    wt__hit_stage(&hit, SUBQUERY_STAGE)->share = share;
    return hit;
}

static void computes_features_within_need(void **state)
{
    static const char request[] = "fork it and star it";
    const struct str fork = {request, 7}, star = {request + 12, 7};
    struct hit items[] = {hit_of(fork, 1, .5f), hit_of(star, .8f, .5f), hit_of(fork, .75f, .5f), hit_of(star, .2f, NAN),
                          hit_of(fork, .5f, 0)};
    const struct hit_list hits = {.items = items, .len = 5};
    struct need_hit out[NEED_HITS];
    (void)state;
    assert_int_equal(wt__need_hits(&hits, out), 5);
    static const uint32_t needs[] = {0, 1, 0, 1, 0};
    static const float margins[] = {.25f, .75f, -.25f, -.75f, -.5f};
    static const float ranks[] = {0, 0, 1, 1, 2};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(out[i].hit, i);
        assert_int_equal(out[i].need, needs[i]);
        assert_float_equal(out[i].values[NEED_MARGIN], margins[i], 1e-6);
        assert_float_equal(out[i].values[NEED_RANK], logf(1 + ranks[i]), 1e-6);
        assert_true(out[i].probability > 0 && out[i].probability < 1);
    }
    assert_true(out[0].probability > out[2].probability && out[2].probability > out[4].probability);
    assert_true(out[3].probability < out[1].probability); /* hit 3 has no probability of its own (NAN) */
}

static void number_of_hits_per_need_is_limited(void **state)
{
    struct hit items[NEED_HITS + 10];
    struct need_hit out[NEED_HITS];
    (void)state;
    for (size_t i = 0; i < NEED_HITS + 10; i++)
        items[i] = hit_of(STR("one need"), 1, .5f);
    const struct hit_list hits = {.items = items, .len = NEED_HITS + 10};
    for (size_t i = 1; i < NEED_HITS + 10; i++)
        items[i].subquery = items[0].subquery;
    assert_int_equal(wt__need_hits(&hits, out), NEED_DEPTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_one_tool_per_need),
        cmocka_unit_test(computes_features_within_need),
        cmocka_unit_test(number_of_hits_per_need_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
