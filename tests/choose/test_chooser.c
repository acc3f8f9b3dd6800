/* Tests the chooser against sums over all sets, and its guarantees against random requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "choose/chooser.h"
#include "choose/set_metrics.h"

/* Chooser for which the feature TOOL_SHARE of a tool is the logit of its probability. */
static const struct chooser plain = {.tool_weights = {[TOOL_SHARE] = 1}, .likelihood = 1};

static struct candidate_features of_logits(const float *logits, size_t count)
{
    struct candidate_features s = {.tools = count};
    for (size_t t = 0; t < count; t++) {
        s.hits[t] = (uint32_t)t;
        s.features[t][TOOL_SHARE] = logits[t];
    }
    return s;
}

/* Three tools have seven non-empty sets. The chooser considers all seven. */
enum { FEW = 3, ALL = 1 << FEW };

static double weight_of(const struct candidate_features *s, unsigned set)
{
    double sum = 0;
    for (size_t t = 0; t < FEW; t++)
        sum += set >> t & 1 ? (double)s->features[t][TOOL_SHARE] : 0;
    return exp(sum);
}

static struct overlap overlap_of(unsigned gold, unsigned picked)
{
    return (struct overlap){(size_t)__builtin_popcount(gold), (size_t)__builtin_popcount(picked),
                            (size_t)__builtin_popcount(gold & picked)};
}

static void chooses_greatest_expected_tracc(void **state)
{
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 1);
    for (int round = 0; round < 200; round++) {
        float logits[FEW];
        double all = 0, best = -1, complete = 0, needed[FEW] = {0};
        struct chosen chosen;
        for (size_t t = 0; t < FEW; t++)
            logits[t] = (float)(8 * wt__rng_unit(&rng) - 4);
        struct candidate_features s = of_logits(logits, FEW);
        wt__choose(&plain, &s, &chosen);
        for (unsigned gold = 1; gold < ALL; gold++)
            all += weight_of(&s, gold);
        for (unsigned picked = 1; picked < ALL; picked++) {
            double value = 0;
            for (unsigned gold = 1; gold < ALL; gold++)
                value += weight_of(&s, gold) / all * wt__tracc(overlap_of(gold, picked));
            best = fmax(best, value);
            if (picked == chosen.tools)
                assert_float_equal(value, chosen.tracc, 1e-5);
        }
        assert_float_equal(best, chosen.tracc, 1e-5);
        for (unsigned gold = 1; gold < ALL; gold++) {
            if ((gold & ~(unsigned)chosen.tools) == 0)
                complete += weight_of(&s, gold) / all;
            for (size_t t = 0; t < FEW; t++)
                needed[t] += gold >> t & 1 ? weight_of(&s, gold) / all : 0;
        }
        assert_float_equal(complete, chosen.complete, 1e-5);
        for (size_t t = 0; t < FEW; t++)
            assert_float_equal(needed[t], chosen.probability[t], 1e-5);
    }
}

/* Returns P(set) of chooser.h for a chooser with past sets and sizes, up to the constants of its two parts. */
static double past_weight(const struct chooser *c, const struct candidate_features *s, unsigned set)
{
    for (size_t i = 0; i < s->past_count; i++)
        if (s->past[i].tools == set)
            return pow((double)s->past[i].share, (double)c->past) * pow(weight_of(s, set), (double)c->likelihood);
    return 0;
}

static double new_weight(const struct chooser *c, const struct candidate_features *s, unsigned set)
{
    return weight_of(s, set) * exp((double)(c->size * c->sizes[__builtin_popcount(set) - 1]));
}

static void mixes_past_and_new_sets(void **state)
{
    const float logits[FEW] = {1, -0.5f, -1};
    struct candidate_features s = of_logits(logits, FEW);
    const struct chooser c = {.tool_weights = {[TOOL_SHARE] = 1},
                              .reuse_weights = {[REUSE_SHARE] = 1},
                              .reuse_constant = -0.6f,
                              .likelihood = 0.5f,
                              .past = 2,
                              .size = 0.5f,
                              .sizes = {-1, 0.5f, 0.25f}};
    double past = 0, new = 0, reuse = 1 / (1 + exp(-0.1)), tracc = 0, complete = 0, needed[FEW] = {0};
    struct chosen chosen;
    (void)state;
    s.past[0] = (struct past_set){5, 0.7f};
    s.past[1] = (struct past_set){2, 0.3f};
    s.past_count = 2;
    wt__choose(&c, &s, &chosen);
    for (unsigned gold = 1; gold < ALL; gold++) {
        past += past_weight(&c, &s, gold);
        new += new_weight(&c, &s, gold);
    }
    for (unsigned gold = 1; gold < ALL; gold++) {
        double p = reuse * past_weight(&c, &s, gold) / past + (1 - reuse) * new_weight(&c, &s, gold) / new;
        tracc += p * wt__tracc(overlap_of(gold, (unsigned)chosen.tools));
        complete += (gold & ~(unsigned)chosen.tools) == 0 ? p : 0;
        for (size_t t = 0; t < FEW; t++)
            needed[t] += gold >> t & 1 ? p : 0;
    }
    assert_int_equal(chosen.tools, 5);
    assert_float_equal(tracc, chosen.tracc, 1e-5);
    assert_float_equal(complete, chosen.complete, 1e-5);
    for (size_t t = 0; t < FEW; t++)
        assert_float_equal(needed[t], chosen.probability[t], 1e-5);
}

/* The tool weights expect one tool as often as two, but three of four requests need two. */
static void sizes_correct_the_shares(void **state)
{
    double given[2][CHOOSE_SIZES] = {{0.9, 0.1}, {0.1, 0.9}};
    const double shares[CHOOSE_SIZES] = {0.25, 0.75};
    float sizes[CHOOSE_SIZES];
    (void)state;
    wt__sizes_fit(given, 2, shares, sizes);
    assert_float_equal(sizes[0], log(0.26 / 0.51), 1e-6);
    assert_float_equal(sizes[1], log(0.76 / 0.51), 1e-6);
    assert_float_equal(sizes[2], 0, 1e-6); /* a size that neither expects keeps its probability */
}

/* Tools 0 to 3 have equal features; almost all past requests used 1 and 3 together. */
static void prefers_sets_of_past_requests(void **state)
{
    const float logits[] = {0, 0, 0, 0};
    struct candidate_features s = of_logits(logits, 4);
    struct chooser chooser = plain;
    struct chosen chosen;
    (void)state;
    s.past[0] = (struct past_set){1u << 1 | 1u << 3, 0.9f};
    s.past[1] = (struct past_set){1u << 0, 0.1f};
    s.past_count = 2;
    chooser.past = 1;
    chooser.reuse_constant = 2;
    wt__choose(&chooser, &s, &chosen);
    assert_int_equal(chosen.tools, 1u << 1 | 1u << 3);
}

/* Five tools are likely, and two of them more likely than the others. Requests need more than two tools less often than
 * these probabilities say. */
static void avoids_unused_set_sizes(void **state)
{
    const float logits[] = {4, 4, 1, 1, 1};
    struct candidate_features s = of_logits(logits, 5);
    struct chooser chooser = plain;
    struct chosen chosen;
    (void)state;
    wt__choose(&chooser, &s, &chosen);
    assert_int_equal(chosen.tools, 31);
    chooser.size = 1;
    for (size_t n = 0; n < CHOOSE_SIZES; n++)
        chooser.sizes[n] = n < 2 ? 0 : -20;
    wt__choose(&chooser, &s, &chosen);
    assert_int_equal(chosen.tools, 3);
}

static void handles_zero_and_64_tools(void **state)
{
    struct candidate_features s = {.tools = CHOOSE_TOOLS}, empty = {.tools = 0};
    struct chosen chosen;
    (void)state;
    for (size_t t = 0; t < CHOOSE_TOOLS; t++) {
        s.hits[t] = (uint32_t)t;
        s.features[t][TOOL_SHARE] = t == 63 || t == 5 ? 40 : -40; /* the probability rounds to 0 or 1 */
    }
    wt__choose(&plain, &s, &chosen);
    assert_int_equal(chosen.tools, (uint64_t)1 << 63 | 1u << 5);
    assert_float_equal(chosen.tracc, 1, 1e-3);
    wt__choose(&plain, &empty, &chosen);
    assert_int_equal(chosen.tools, 0);
    assert_float_equal(wt__no_answer_probability(&plain, &empty), 1, 0);
}

/* The candidates are hits 0, 2 and 5 of seven; 5 is the most likely. */
static void orders_each_hit_once_by_nonconformity(void **state)
{
    const float logits[] = {1, -1, 3};
    struct candidate_features s = of_logits(logits, 3);
    uint32_t order[7];
    static const uint32_t wanted[7] = {5, 0, 2, 1, 3, 4, 6};
    float nonconformity[7];
    (void)state;
    s.hits[1] = 2;
    s.hits[2] = 5;
    wt__set_order(&plain, &s, 7, order, nonconformity);
    assert_memory_equal(order, wanted, sizeof wanted);
    assert_float_equal(nonconformity[0], 0, 0);
    for (size_t i = 1; i < 7; i++)
        assert_true(nonconformity[i] > nonconformity[i - 1]);
}

static void guarantee_needs_enough_requests(void **state)
{
    static const float values[9] = {.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f, CHOOSE_NEVER};
    static const struct {
        size_t count;
        double probability;
        float threshold; /* 0 without a guarantee */
    } rows[] = {{9, .5, .5f}, {9, .8, .8f}, {9, .81, 0} /* the ninth value is CHOOSE_NEVER */,
                {9, .9, 0},   {9, .95, 0},  {8, .88, .8f} /* 9 * .88 = 7.92: the eighth */,
                {8, .9, 0},   {1, .5, .1f}, {0, .5, 0},
                {9, .1, .1f}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conformal_thresholds thresholds;
        const struct chooser chooser = {.nonconformity = {values, rows[i].count}};
        bool known = wt__conformal_thresholds(&chooser, rows[i].probability, &thresholds);
        assert_int_equal(known, rows[i].threshold > 0);
        if (known)
            assert_float_equal(thresholds.used, rows[i].threshold, 1e-6);
        if (known)
            assert_float_equal(thresholds.unused, rows[i].threshold, 1e-6);
    }
}

/* There is a guarantee only if both kinds of tools have a threshold. Without values for unused tools, the threshold of
 * used tools applies to both kinds. */
static void has_threshold_for_each_kind_of_tool(void **state)
{
    static const float used[] = {.1f, .2f, .3f, .4f}, unused[] = {.5f, .6f, .7f, CHOOSE_NEVER};
    static const struct {
        size_t unused_count;
        double probability;
        float used, unused; /* 0 without a guarantee */
    } rows[] = {{4, .5, .3f, .7f},  {4, .8, 0, 0}, {0, .8, .4f, .4f},
                {3, .75, .4f, .7f}, {3, .8, 0, 0}, {1, .5, .3f, .5f}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct conformal_thresholds thresholds;
        const struct chooser chooser = {.nonconformity = {used, 4}, .unused = {unused, rows[i].unused_count}};
        assert_int_equal(wt__conformal_thresholds(&chooser, rows[i].probability, &thresholds), rows[i].used > 0);
        if (rows[i].used > 0) {
            assert_float_equal(thresholds.used, rows[i].used, 1e-6);
            assert_float_equal(thresholds.unused, rows[i].unused, 1e-6);
        }
    }
}

static void false_alarm_rate_is_as_requested(void **state)
{
    static const float values[19] = {.01f, .02f, .03f, .04f, .05f, .06f, .07f, .08f, .09f, .1f,
                                     .51f, .52f, .53f, .54f, .55f, .56f, .57f, .58f, .59f};
    const struct calibration none = {values, 19}, few = {values, 18}, nobody = {values, 0};
    (void)state;
    assert_float_equal(wt__no_answer_threshold(&none, 0.05), .59f, 1e-6);
    assert_float_equal(wt__no_answer_threshold(&none, 0.45), .51f, 1e-6);
    assert_float_equal(wt__no_answer_threshold(&none, 0.5), .5f, 0); /* the threshold is never below one half */
    assert_true(isinf(wt__no_answer_threshold(&none, 0.04)));
    assert_true(isinf(wt__no_answer_threshold(&few, 0.05)));
    assert_true(isinf(wt__no_answer_threshold(&nobody, 0.5)));
    assert_float_equal(wt__no_answer_threshold(&none, 0.99), .5f, 0);
}

static void detects_unfamiliar_requests(void **state)
{
    static const float nearest[] = {.5f, .6f, .7f, .8f}, lengths[] = {40, 50, 60, 300};
    static float many[150];
    for (size_t i = 0; i < 150; i++)
        many[i] = (float)(i + 1);
    const struct chooser few = {.nearest = {nearest, 4}, .lengths = {lengths, 4}};
    const struct chooser more = {.nearest = {nearest, 4}, .lengths = {many, 150}}, nobody = {.nearest = {nearest, 0}};
    const struct {
        const struct chooser *chooser;
        float cosine;
        size_t bytes;
        enum familiarity is;
    } rows[] = {{&few, .6f, 30, FAMILIAR},
                {&few, .6f, 29, TOO_SHORT},
                {&few, .6f, 9999, FAMILIAR},
                {&few, .44f, 60, TOO_FAR},
                {&few, .46f, 60, FAMILIAR},
                {&few, .4f, 1, TOO_SHORT},
                {&few, 0, 1, FAMILIAR},
                {&more, .6f, 1, TOO_SHORT},
                {&more, .6f, 2, FAMILIAR},
                {&nobody, .1f, 1, FAMILIAR},
                {&wt__chooser_default, .1f, 1, FAMILIAR}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct candidate_features candidates = {.tools = 1};
        candidates.answerability[ANSWERABLE_NEAREST] = rows[i].cosine;
        if (wt__familiarity(rows[i].chooser, &candidates, rows[i].bytes) != rows[i].is)
            fail_msg("row %zu", i);
    }
}

static int is_ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Each request has six tools, needed with the chooser's own probabilities. 39 requests calibrate and the 40th is the
 * query. In 2,000 draws, the share of complete queries may be at most 3 points (2.7 standard errors or more) below the
 * guaranteed probability, and at most 8 points above it. */
enum { TOOLS = 6, CALIBRATING = 39, DRAWS = 2000 };

static float draw_nonconformity(struct rng *rng)
{
    float logits[TOOLS], nonconformity[TOOLS];
    uint32_t order[TOOLS], gold = 0;
    for (size_t t = 0; t < TOOLS; t++) {
        logits[t] = (float)(4 * wt__rng_unit(rng) - 3);
        gold |= (uint32_t)(wt__rng_unit(rng) < 1 / (1 + exp(-(double)logits[t]))) << t;
    }
    struct candidate_features s = of_logits(logits, TOOLS);
    float last = 0;
    wt__set_order(&plain, &s, TOOLS, order, nonconformity);
    for (size_t i = 0; i < TOOLS; i++)
        if (gold >> order[i] & 1)
            last = nonconformity[i];
    return last;
}

static void completeness_rate_meets_guarantee(void **state)
{
    static const double promises[] = {0.5, 0.8, 0.9, 0.95};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 7);
    for (size_t p = 0; p < sizeof promises / sizeof *promises; p++) {
        int complete = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            float values[CALIBRATING];
            struct conformal_thresholds thresholds;
            for (size_t i = 0; i < CALIBRATING; i++)
                values[i] = draw_nonconformity(&rng);
            qsort(values, CALIBRATING, sizeof *values, is_ascending);
            const struct chooser chooser = {.nonconformity = {values, CALIBRATING}};
            assert_true(wt__conformal_thresholds(&chooser, promises[p], &thresholds));
            complete += draw_nonconformity(&rng) <= thresholds.used;
        }
        assert_in_range(complete, (int)(DRAWS * (promises[p] - 0.03)), (int)(DRAWS * fmin(1, promises[p] + 0.08)));
    }
}

/* Draws a nonconformity score. Requests for unused tools have higher scores. */
static float draw_kind(struct rng *rng, bool unused)
{
    return (float)(wt__rng_unit(rng) + (unused ? 0.5 : 0));
}

/* One in two queries needs an unused tool. The guarantee holds if each kind of tool is calibrated on its own requests.
 * It fails with a common threshold, calibrated on requests of which one in 20 needs an unused tool. */
static void guarantee_holds_for_other_shares_of_unused_tools(void **state)
{
    int complete = 0, with_one_level = 0;
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 11);
    for (int draw = 0; draw < DRAWS; draw++) {
        float used[CALIBRATING], unused[CALIBRATING], mixed[CALIBRATING];
        struct conformal_thresholds thresholds, threshold;
        for (size_t i = 0; i < CALIBRATING; i++) {
            used[i] = draw_kind(&rng, false);
            unused[i] = draw_kind(&rng, true);
            mixed[i] = i % 20 == 0 ? unused[i] : used[i];
        }
        qsort(used, CALIBRATING, sizeof *used, is_ascending);
        qsort(unused, CALIBRATING, sizeof *unused, is_ascending);
        qsort(mixed, CALIBRATING, sizeof *mixed, is_ascending);
        const struct chooser apart = {.nonconformity = {used, CALIBRATING}, .unused = {unused, CALIBRATING}};
        const struct chooser together = {.nonconformity = {mixed, CALIBRATING}};
        assert_true(wt__conformal_thresholds(&apart, 0.8, &thresholds) &&
                    wt__conformal_thresholds(&together, 0.8, &threshold));
        float asked = draw_kind(&rng, draw % 2);
        complete += asked <= (draw % 2 ? thresholds.unused : thresholds.used);
        with_one_level += asked <= (draw % 2 ? threshold.unused : threshold.used);
    }
    assert_in_range(complete, (int)(DRAWS * 0.77), (int)(DRAWS * 0.88));
    assert_in_range(with_one_level, 0, (int)(DRAWS * 0.7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_greatest_expected_tracc),
        cmocka_unit_test(mixes_past_and_new_sets),
        cmocka_unit_test(sizes_correct_the_shares),
        cmocka_unit_test(prefers_sets_of_past_requests),
        cmocka_unit_test(avoids_unused_set_sizes),
        cmocka_unit_test(handles_zero_and_64_tools),
        cmocka_unit_test(orders_each_hit_once_by_nonconformity),
        cmocka_unit_test(guarantee_needs_enough_requests),
        cmocka_unit_test(has_threshold_for_each_kind_of_tool),
        cmocka_unit_test(false_alarm_rate_is_as_requested),
        cmocka_unit_test(detects_unfamiliar_requests),
        cmocka_unit_test(completeness_rate_meets_guarantee),
        cmocka_unit_test(guarantee_holds_for_other_shares_of_unused_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
