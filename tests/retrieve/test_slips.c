/* Tests the cost of a typed word with slips, and that the least cost of a prefix never exceeds that of the word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "retrieve/slips.h"

/* Adds all letters of the word meant and returns its cost, or a cost above slips->most. */
static unsigned spell_word(struct slips *slips, struct str meant)
{
    unsigned least = 0;
    for (size_t i = 0; i < meant.len; i++) {
        unsigned now = wt__slips_add(slips, i, meant.ptr[i]);
        assert_true(now >= least);
        least = now;
        if (now > slips->most)
            return now;
    }
    unsigned cost = wt__slips_cost(slips, meant.len);
    assert_true(cost >= least);
    return cost;
}

static void charges_each_slip(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *meant;
        unsigned cost; /* if above SLIPS_MOST, any cost above SLIPS_MOST is right */
    } cases[] = {
        {"issue", "issue", 0},
        {"isue", "issue", SLIP_DOUBLED},
        {"channnel", "channel", SLIP_DOUBLED},
        {"porject", "project", SLIP_SWAPPED},
        {"githbu", "github", SLIP_SWAPPED},
        {"ilst", "list", SLIP_SWAPPED},
        {"calender", "calendar", SLIP_VOWEL},
        {"evnt", "event", SLIP_LOST_VOWEL},
        {"slak", "slack", SLIP_LOST},
        {"trackr", "track", SLIP_ADDED},
        {"gitjub", "github", SLIP_ALIKE},
        {"subscribtion", "subscription", SLIP_ALIKE},
        {"quantify", "quantity", SLIP_ALIKE + SLIP_NEAR_END},
        {"mallet", "wallet", SLIP_UNLIKE + SLIP_AT_FRONT},
        {"gitqub", "github", SLIP_UNLIKE},
        {"oard", "board", SLIP_LOST + SLIP_AT_FRONT},
        {"xboard", "board", SLIP_ADDED + SLIP_AT_FRONT},
        {"tommorow", "tomorrow", SLIP_DOUBLED + SLIP_DOUBLED},
        {"calander", "calendar", SLIP_VOWEL + SLIP_VOWEL},
    };
    struct slips slips;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt__slips_begin(&slips, wt__str(cases[i].typed), SLIPS_MOST);
        unsigned cost = spell_word(&slips, wt__str(cases[i].meant));
        if (cases[i].cost <= SLIPS_MOST ? cost != cases[i].cost : cost <= SLIPS_MOST)
            fail_msg("%s for %s costs %u, not %u", cases[i].typed, cases[i].meant, cost, cases[i].cost);
    }
}

static void shares_work_for_common_prefixes(void **state)
{
    (void)state;
    struct slips slips, fresh;
    wt__slips_begin(&slips, STR("chanel"), SLIPS_MOST);
    assert_int_equal(spell_word(&slips, STR("channel")), SLIP_DOUBLED);
    for (size_t i = 4; i < 7; i++)
        wt__slips_add(&slips, i, "chancel"[i]);
    wt__slips_begin(&fresh, STR("chanel"), SLIPS_MOST);
    assert_int_equal(wt__slips_cost(&slips, 7), spell_word(&fresh, STR("chancel")));
}

/* Computes the cost from the table of all pairs of prefixes. Letters are a, b, q and v. */
static unsigned plain_cost(struct str typed, struct str meant)
{
    unsigned costs[SLIPS_LETTERS + 3][SLIPS_LETTERS + 1];
    for (size_t i = 0; i <= meant.len; i++)
        for (size_t j = 0; j <= typed.len; j++) {
            unsigned best = i + j > 0 ? UINT32_MAX : 0, ways[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
            char m = i > 0 ? meant.ptr[i - 1] : 0, t = j > 0 ? typed.ptr[j - 1] : 0;
            if (i > 0)
                ways[0] = costs[i - 1][j] + (i == 1                  ? SLIP_LOST + SLIP_AT_FRONT
                                             : m == meant.ptr[i - 2] ? SLIP_DOUBLED
                                             : m == 'a'              ? SLIP_LOST_VOWEL
                                                                     : SLIP_LOST);
            if (j > 0)
                ways[1] = costs[i][j - 1] + (j == 1                  ? SLIP_ADDED + SLIP_AT_FRONT
                                             : t == typed.ptr[j - 2] ? SLIP_DOUBLED
                                                                     : SLIP_ADDED);
            bool alike =
                (m == 'b' && t == 'v') || (m == 'v' && t == 'b') || (m == 'a' && t == 'q') || (m == 'q' && t == 'a');
            if (i > 0 && j > 0)
                ways[2] = costs[i - 1][j - 1] +
                          (m == t ? 0
                                  : (alike ? SLIP_ALIKE : SLIP_UNLIKE) + (i == 1 || j == 1 ? SLIP_AT_FRONT : 0) +
                                        (j + 1 >= typed.len ? SLIP_NEAR_END : 0));
            if (i > 1 && j > 1 && m == typed.ptr[j - 2] && t == meant.ptr[i - 2] && m != t)
                ways[3] = costs[i - 2][j - 2] + SLIP_SWAPPED;
            for (size_t way = 0; way < 4; way++)
                best = ways[way] < best ? ways[way] : best;
            costs[i][j] = best;
        }
    return costs[meant.len][typed.len];
}

static void cost_equals_plain_edit_distance(void **state)
{
    (void)state;
    struct rng rng;
    struct slips slips;
    char typed[SLIPS_LETTERS], meant[SLIPS_LETTERS + 2];
    unsigned cheap = 0;
    wt__rng_seed(&rng, 8);
    for (int i = 0; i < 20000; i++) {
        struct str t = {typed, 1 + wt__rng_below(&rng, SLIPS_LETTERS)}, m = {meant, 0};
        for (size_t j = 0; j < t.len; j++)
            typed[j] = "abqv"[wt__rng_below(&rng, 4)];
        for (size_t j = 0; j < t.len && m.len < sizeof meant && m.len < t.len + 1; j++) { /* make random slips */
            if (wt__rng_below(&rng, 8) > 0)
                meant[m.len++] = wt__rng_below(&rng, 10) > 0 ? typed[j] : "abqv"[wt__rng_below(&rng, 4)];
            if (m.len > 0 && wt__rng_below(&rng, 10) == 0)
                meant[m.len] = meant[m.len - 1], m.len++;
        }
        unsigned most = (unsigned[]){SLIP_SWAPPED, SLIP_LOST, SLIPS_MOST}[i % 3];
        wt__slips_begin(&slips, t, most);
        unsigned cost = spell_word(&slips, m), plain = plain_cost(t, m);
        assert_true(plain <= most ? cost == plain : cost > most);
        cheap += plain <= SLIPS_MOST;
    }
    assert_true(cheap > 1000);
}

static void only_equal_words_cost_nothing(void **state)
{
    (void)state;
    struct rng rng;
    struct slips slips;
    char typed[SLIPS_LETTERS], meant[SLIPS_LETTERS + 2];
    wt__rng_seed(&rng, 5);
    for (int i = 0; i < 5000; i++) {
        struct str t = {typed, 1 + wt__rng_below(&rng, SLIPS_LETTERS)}, m = {meant, wt__rng_below(&rng, t.len + 3)};
        for (size_t j = 0; j < t.len; j++)
            typed[j] = (char)('a' + wt__rng_below(&rng, i % 2 ? 2 : 26));
        for (size_t j = 0; j < m.len; j++)
            meant[j] = (char)('a' + wt__rng_below(&rng, i % 2 ? 2 : 26));
        wt__slips_begin(&slips, t, SLIPS_MOST);
        unsigned cost = spell_word(&slips, m);
        assert_true((cost == 0) == wt__str_equal(t, m));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charges_each_slip),
        cmocka_unit_test(shares_work_for_common_prefixes),
        cmocka_unit_test(cost_equals_plain_edit_distance),
        cmocka_unit_test(only_equal_words_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
