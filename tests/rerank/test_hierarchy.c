/* Tests ToolRerank's rules (rerank/toolrerank.h) on lists of candidates, with results computed by hand.
 *
 * A list has one word per candidate, separated by blanks. A word is [ROW:]PROVIDER SCORE [@ANGLE] without blanks.
 *   ROW       the tool's row; if omitted, its index in the list
 *   PROVIDER  a letter, capital if training saw the tool; '.' for an unseen tool without a provider
 *   SCORE     two digits, percent; "??" for NaN
 *   ANGLE     direction of the tool's vector in degrees; if omitted, the tool has no vector. The paper's tau_m is .7.
 *             Cosines above: cos 40 = .77 and cos 45 = .71. Cosines below: cos 46 = .69 and cos 80 = .17.
 * A result has the rows in order, with "|" between F1 (the candidates that come first) and F2 (the rest). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "rerank/toolrerank.h"

enum { DIM = 2, MOST = 2 * HIERARCHY_MAX_CANDIDATES };

static float vectors[MOST][DIM];

/* Parses a list and returns its length. A candidate without ROW gets the row first_row + its index. */
static size_t read_test_list(const char *text, uint32_t first_row, struct candidate *out)
{
    size_t count = 0;
    while (*text) {
        struct candidate *c = &out[count];
        char *end = (char *)text;
        *c = (struct candidate){.row = first_row + (uint32_t)count};
        if (isdigit((unsigned char)*text)) {
            c->row = (uint32_t)strtoul(text, &end, 10);
            end++;
        }
        c->seen = isupper((unsigned char)*end);
        c->provider = *end == '.' ? HIERARCHY_NO_PROVIDER : (uint32_t)toupper((unsigned char)*end);
        end++;
        c->score = *end == '?' ? NAN : (float)((end[0] - '0') * 10 + end[1] - '0') / 100;
        end += 2;
        if (*end == '@') {
            double angle = strtod(end + 1, &end) * acos(-1) / 180;
            vectors[count][0] = (float)cos(angle);
            vectors[count][1] = (float)sin(angle);
            c->vector = vectors[count];
        }
        while (*end == ' ')
            end++;
        text = end;
        count++;
    }
    return count;
}

/* Compares the rows with `wanted`. first: number of rows before "|"; SIZE_MAX for no "|". */
static void assert_rows(const char *name, const struct candidate *list, size_t count, size_t first, const char *wanted)
{
    char text[MOST * 8] = "";
    size_t len = 0;
    for (size_t i = 0; i <= count; i++) {
        if (i == first)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s|", len ? " " : "");
        if (i < count)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%u", len ? " " : "", list[i].row);
    }
    if (strcmp(text, wanted) != 0)
        fail_msg("%s: wanted \"%s\", got \"%s\"", name, wanted, text);
}

/* Section 3.2 of the paper: the tool at position i, counted from 1, is kept if i <= seen_depth for a seen tool, or if i
 * <= unseen_depth for an unseen tool. */
static void truncation_has_a_depth_for_seen_and_one_for_unseen_tools(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t seen_depth, unseen_depth;
        bool off; /* settings.truncate is false */
        const char *list, *kept;
    } cases[] = {
        /* Positions 1 and 2 are within both depths. Of positions 3 and 4, only the unseen tool at 4 is kept. */
        {"seen and unseen tools", 2, 4, false, "A90 b80 A70 b60 b50", "0 1 3"},
        {"all tools unseen", 2, 4, false, "a90 b80 a70 b60 b50", "0 1 2 3"},
        {"all tools seen", 2, 4, false, "A90 B80 A70 B60 B50", "0 1"},
        {"seen_depth above unseen_depth", 4, 2, false, "A90 b80 A70 b60 B50", "0 1 2"},
        {"equal depths", 3, 3, false, "A90 b80 A70 b60", "0 1 2"},
        {"depths above the length of the list", 50, 256, false, "A90 b80 A70", "0 1 2"},
        {"scores are ignored", 2, 3, false, "A10 B90 c??", "0 1 2"},
        {"truncate is false: the greater depth for all tools", 2, 4, true, "A90 b80 A70 B60 b50", "0 1 2 3"},
        {"tools without a provider count as unseen", 1, 2, false, "A90 .80 .70", "0 1"},
        {"empty list", 2, 4, false, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hierarchy_settings settings = wt__hierarchy_paper;
        struct candidate list[16];
        settings.seen_depth = cases[i].seen_depth;
        settings.unseen_depth = cases[i].unseen_depth;
        settings.truncate = !cases[i].off;
        size_t count = wt__hierarchy_truncate(&settings, list, read_test_list(cases[i].list, 0, list));
        assert_rows(cases[i].name, list, count, SIZE_MAX, cases[i].kept);
        assert_true(count <= wt__hierarchy_depth(&settings));
    }
}

static void sorts_stably_with_nan_last(void **state)
{
    (void)state;
    static const struct {
        const char *name, *list, *sorted;
    } cases[] = {
        {"different scores", "A10 B90 C50", "1 2 0"},
        {"equal scores keep their order", "A50 B90 C50 D90", "1 3 0 2"},
        {"NaN scores come last and keep their order", "A?? B10 C?? D00", "1 3 0 2"},
        {"empty list", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct candidate list[16];
        size_t count = read_test_list(cases[i].list, 0, list);
        wt__hierarchy_sort(list, count);
        assert_rows(cases[i].name, list, count, SIZE_MAX, cases[i].sorted);
    }
    struct candidate extremes[] = {{.row = 0, .score = NAN}, {.row = 1, .score = -INFINITY}, {.row = 2, .score = 0}};
    wt__hierarchy_sort(extremes, 3);
    assert_rows("NaN comes after -INFINITY", extremes, 3, SIZE_MAX, "2 1 0");
}

/* Compares the chosen providers as text: their letters, capital if seen, with "+" if `expand` is set. */
static void assert_chosen(const char *name, const struct chosen_providers *chosen, const char *wanted)
{
    char text[MOST * 2] = "", *at = text;
    for (size_t i = 0; i < chosen->count; i++) {
        int letter = (int)chosen->items[i].provider;
        *at++ = (char)(chosen->items[i].seen ? letter : tolower(letter));
        if (chosen->items[i].expand)
            *at++ = '+';
    }
    if (strcmp(text, wanted) != 0)
        fail_msg("%s: wanted the providers \"%s\", got \"%s\"", name, wanted, text);
}

/* Algorithm 1 with tau_s = .85 chooses the first candidate's provider and every provider with a score above .85. */
static void algorithm1_puts_the_tools_of_chosen_providers_first(void **state)
{
    (void)state;
    static const struct {
        const char *name, *list, *rows, *chosen;
    } cases[] = {
        /* .95 (A) and .90 (b) are above tau_s, so the tools of C and D move behind the other tools of A and b. */
        {"two providers above tau_s", "A95 b90 C80 D70 b40 A30", "0 1 4 5 | 2 3", "Ab+"},
        {"a score equal to tau_s does not choose its provider", "A90 B85 C86 B20", "0 2 | 1 3", "AC"},
        {"no score above tau_s chooses only the first provider", "B60 A60 C50 B40", "0 3 | 1 2", "B"},
        {"equal scores keep their order", "A90 B70 A70 B70 A70", "0 2 4 | 1 3", "A"},
        {"a single provider", "a90 a50 a10", "0 1 2 |", "a+"},
        {"all tools unseen", "a90 b88 c50 b40", "0 1 3 | 2", "a+b+"},
        {"all tools seen", "A90 B88 C50 B40", "0 1 3 | 2", "AB"},
        {"a provider with seen and unseen tools is seen", "a90 B50 A40 a30", "0 2 3 | 1", "A"},
        {"providers are listed in the order of their best tool", "C99 A98 B97 A96", "0 1 2 3 |", "CAB"},
        {"a single candidate", "a10", "0 |", "a+"},
        {"empty list", "", "|", ""},
        {"a NaN score is not above tau_s", "A?? B?? A?? B50", "0 2 | 1 3", "A"},
        {"an unsorted list: the first provider and those above tau_s", "A10 B20 C90 B30", "0 2 | 1 3", "AC"},
        {"a tool without a provider is chosen alone and is not listed", ".95 .50 A90 .90 A20", "0 2 3 4 | 1", "A"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct candidate list[16];
        struct chosen_providers chosen;
        size_t count = read_test_list(cases[i].list, 0, list);
        wt__hierarchy_algorithm1(&wt__hierarchy_paper, list, count, &chosen);
        assert_rows(cases[i].name, list, count, chosen.first, cases[i].rows);
        assert_chosen(cases[i].name, &chosen, cases[i].chosen);
    }
}

/* Table 7 of the paper: expand_seen and expand_unseen, each on and off, with the chosen providers A (seen) and b
 * (unseen). */
static void expands_providers_by_settings(void **state)
{
    (void)state;
    static const struct {
        bool seen, unseen;
        const char *chosen;
    } cases[] = {{false, true, "Ab+"}, {false, false, "Ab"}, {true, true, "A+b+"}, {true, false, "A+b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hierarchy_settings settings = wt__hierarchy_paper;
        struct candidate list[4];
        struct chosen_providers chosen;
        settings.expand_seen = cases[i].seen;
        settings.expand_unseen = cases[i].unseen;
        wt__hierarchy_algorithm1(&settings, list, read_test_list("A95 b90 C10", 0, list), &chosen);
        assert_chosen("Table 7", &chosen, cases[i].chosen);
    }
}

/* Merges found tools, whose rows count from 100, into F1 (the first `first` candidates). */
static void merges_found_tools_by_score(void **state)
{
    (void)state;
    static const struct {
        const char *name, *list;
        size_t first, capacity;
        const char *found, *merged;
    } cases[] = {
        /* F1 has .90 and .40. The found tools have .70 and .30. F2 stays last, although its best score is .80. */
        {"found tools are merged by score, before F2", "a90 a40 B80 C60", 2, 16, "a70 a30", "0 100 1 101 2 3"},
        {"at equal scores, candidates precede found tools", "a90 a50 B80", 2, 16, "a50 a90 a50", "0 101 1 100 102 2"},
        {"an unsorted F1 is sorted", "a40 a90 B80", 2, 16, "a60", "1 100 0 2"},
        /* Rows 1 and 2 are candidates already; row 7 is found twice. */
        {"known and repeated tools are skipped", "a90 a40 B80", 2, 16, "1:a99 2:B99 7:a50 7:a60", "0 7 1 2"},
        {"no found tools", "a90 a40 B80", 2, 16, "", "0 1 2"},
        {"F2 is empty", "a90 a40", 2, 16, "a70", "0 100 1"},
        {"F1 is empty", "B80 C60", 0, 16, "a10 a20", "101 100 0 1"},
        {"all lists are empty", "", 0, 16, "", ""},
        {"NaN scores come last in F1, candidates first", "a90 a?? B80", 2, 16, "a?? a10", "0 101 1 100 2"},
        {"tools of F2 beyond the capacity are cut", "a90 a40 B80 C60", 2, 4, "a70 a30", "0 100 1 101"},
        {"tools of F1 beyond the capacity are cut", "a90 a40 B80", 2, 3, "a70 a60 a20", "0 100 101"},
        {"a full list keeps better candidates", "a90 a80", 2, 2, "a10 a20", "0 1"},
        {"in a full list, better found tools replace candidates", "a40 a30", 2, 2, "a60 a50 a70 a10", "102 100"},
        {"capacity 0", "", 0, 0, "a10", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct candidate given[16], found[16];
        size_t count = read_test_list(cases[i].list, 0, given),
               found_count = read_test_list(cases[i].found, 100, found);
        struct candidate *list = calloc(cases[i].capacity + 1, sizeof *list), *end = list + cases[i].capacity;
        assert_non_null(list);
        memcpy(list, given, count * sizeof *list);
        *end = (struct candidate){.row = 999};
        count = wt__hierarchy_merge(list, cases[i].first, count, cases[i].capacity, found, found_count);
        assert_int_equal(end->row, 999);
        assert_rows(cases[i].name, list, count, SIZE_MAX, cases[i].merged);
        free(list);
    }
}

/* Algorithm 2 with tau_m = .7. most: settings.group_most, the paper's n. */
static void algorithm2_limits_similar_tools(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t most;
        const char *list, *rows;
    } cases[] = {
        /* The paper's Figure 4: two SEO tools of provider A (0 and 7), and six QR code tools of six providers within 25
         * degrees (1 to 6). Of the six, the last three move back. */
        {"figure 4", 3, "A99@90 B95@0 C90@5 D85@10 E80@15 F75@20 G70@25 A65@95", "0 1 2 3 7 | 4 5 6"},
        {"tools of one provider are a group whatever their vectors", 1, "A90 A80 B70@0 B60@90", "0 2 | 1 3"},
        {"cosine .71 links two tools", 1, "A90@0 B80@45", "0 | 1"},
        {"cosine .69 does not link two tools", 1, "A90@0 B80@46", "0 1 |"},
        /* 0 and 40 degrees are linked, and 40 and 80 degrees, but not 0 and 80 degrees. */
        {"tools linked through a third tool are one group", 1, "A90@0 B80@40 C70@80", "0 | 1 2"},
        {"the tool that links two others comes last", 2, "A90@0 C80@80 B70@40", "0 1 | 2"},
        /* The provider links both tools of A. The cosine links A70 to B60. C is a group of its own. */
        {"links by provider and by cosine make one group", 1, "A90@0 C80@180 A70@100 B60@110", "0 1 | 2 3"},
        {"at equal scores the earlier tool comes first", 2, "A90 A50 A50 A50 B10", "0 1 4 | 2 3"},
        {"an unsorted group: its best scores come first", 2, "A10 A90 B50 A80", "1 2 3 | 0"},
        {"group_most above the size of the group", 4, "A90 A80 B70", "0 1 2 |"},
        {"group_most above the length of the list", 256, "A90 A80 B70", "0 1 2 |"},
        {"a single provider", 3, "A90 A80 A70 A60 A50", "0 1 2 | 3 4"},
        {"all tools unseen", 1, "a90 b80 a70", "0 1 | 2"},
        {"all tools seen", 1, "A90 B80 A70", "0 1 | 2"},
        {"tools of different providers without vectors", 1, "A90 B80 C70", "0 1 2 |"},
        {"tools without a provider are linked by cosine only", 1, ".90@0 .80@90 .70@10 .60", "0 1 3 | 2"},
        {"NaN is the lowest score of a group", 1, "A?? A10 B?? B??", "1 2 | 0 3"},
        {"a single candidate", 1, "A90@0", "0 |"},
        {"empty list", 3, "", "|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hierarchy_settings settings = wt__hierarchy_paper;
        struct candidate list[16];
        settings.group_most = cases[i].most;
        size_t count = read_test_list(cases[i].list, 0, list);
        size_t first = wt__hierarchy_algorithm2(&settings, list, count, DIM);
        assert_rows(cases[i].name, list, count, first, cases[i].rows);
    }
}

static void vectors_that_are_not_finite_link_no_tools(void **state)
{
    (void)state;
    const float damaged[DIM] = {NAN, INFINITY}, sound[DIM] = {1, 0};
    struct hierarchy_settings settings = wt__hierarchy_paper;
    struct candidate list[] = {{.row = 0, .provider = 1, .vector = damaged},
                               {.row = 1, .provider = 2, .vector = damaged},
                               {.row = 2, .provider = 3, .vector = sound},
                               {.row = 3, .provider = 4, .vector = sound}};
    settings.group_most = 1;
    size_t first = wt__hierarchy_algorithm2(&settings, list, 4, DIM);
    assert_rows("two vectors that are not finite, and two equal vectors", list, 4, first, "0 1 2 | 3");
}

/* The candidates at index 0, 255 and 256 have one provider, all others a provider each. Algorithm 1 moves the candidate
 * at 255 into F1, and algorithm 2 moves it into F2. The candidate at 256 is beyond the limit and keeps its place. */
static void rules_read_at_most_256_candidates(void **state)
{
    (void)state;
    enum { LAST = HIERARCHY_MAX_CANDIDATES - 1, COUNT = HIERARCHY_MAX_CANDIDATES + 1 };
    struct candidate list[COUNT], spread[COUNT];
    struct hierarchy_settings settings = wt__hierarchy_paper;
    struct chosen_providers chosen;
    for (uint32_t i = 0; i < COUNT; i++)
        list[i] = (struct candidate){.row = i, .provider = i >= LAST ? 0 : i};
    memcpy(spread, list, sizeof list);
    wt__hierarchy_algorithm1(&settings, list, COUNT, &chosen);
    assert_int_equal(chosen.first, 2);
    assert_int_equal(list[1].row, LAST);
    assert_int_equal(list[COUNT - 1].row, COUNT - 1);
    settings.group_most = 1;
    assert_int_equal(wt__hierarchy_algorithm2(&settings, spread, COUNT, DIM), LAST);
    assert_int_equal(spread[LAST].row, LAST);
}

/* On random lists of 512 candidates, runs algorithm 1 in round 0 and algorithm 2 in round 1. Candidates after the 256th
 * must keep their places, and no candidate may be lost or duplicated. */
static void rules_keep_the_tail_of_a_long_list(void **state)
{
    (void)state;
    struct candidate *list = calloc(MOST, sizeof *list);
    bool *met = calloc(MOST, sizeof *met);
    struct chosen_providers *chosen = malloc(sizeof *chosen);
    struct rng rng;
    assert_true(list && met && chosen);
    wt__rng_seed(&rng, 3);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < MOST; i++) {
            double angle = wt__rng_unit(&rng) * 3;
            vectors[i][0] = (float)cos(angle);
            vectors[i][1] = (float)sin(angle);
            list[i] = (struct candidate){.row = (uint32_t)i,
                                         .provider = (uint32_t)wt__rng_below(&rng, 60),
                                         .score = (float)wt__rng_unit(&rng),
                                         .vector = vectors[i]};
            met[i] = false;
        }
        if (round == 0)
            wt__hierarchy_algorithm1(&wt__hierarchy_paper, list, MOST, chosen);
        else
            assert_in_range(wt__hierarchy_algorithm2(&wt__hierarchy_paper, list, MOST, DIM), 1,
                            HIERARCHY_MAX_CANDIDATES);
        for (size_t i = 0; i < MOST; i++) {
            assert_false(met[list[i].row]);
            met[list[i].row] = true;
            assert_true(i < HIERARCHY_MAX_CANDIDATES || list[i].row == i);
        }
    }
    assert_in_range(chosen->first, 1, HIERARCHY_MAX_CANDIDATES);
    struct hierarchy_settings settings = wt__hierarchy_paper;
    settings.seen_depth = settings.unseen_depth = HIERARCHY_MAX_CANDIDATES;
    assert_int_equal(wt__hierarchy_truncate(&settings, list, MOST), HIERARCHY_MAX_CANDIDATES);
    free(list);
    free(met);
    free(chosen);
}

/* The first two rows have the extreme valid values. Each other row has a setting outside its range. */
static void validates_settings(void **state)
{
    (void)state;
    static const struct {
        struct hierarchy_settings settings;
        const char *sentence; /* part of the message; NULL if the settings are valid */
    } cases[] = {
        {{.seen_depth = 1, .unseen_depth = 1, .tau_s = 0, .tau_m = -1, .group_most = 1}, NULL},
        {{.seen_depth = 256, .unseen_depth = 256, .tau_s = 1, .tau_m = 1, .group_most = 256}, NULL},
        {{.seen_depth = 0}, "seen_depth is 0; it must be 1 to 256"},
        {{.seen_depth = 257}, "seen_depth is 257; it must be 1 to 256"},
        {{.seen_depth = 1}, "unseen_depth is 0; it must be 1 to 256"},
        {{.seen_depth = 1, .unseen_depth = UINT32_MAX}, "unseen_depth is 4294967295; it must be 1 to 256"},
        {{.seen_depth = 1, .unseen_depth = 1, .tau_s = 1.5f}, "tau_s is 1.5; it must be 0 to 1"},
        {{.seen_depth = 1, .unseen_depth = 1, .tau_s = -0.5f}, "tau_s is -0.5; it must be 0 to 1"},
        {{.seen_depth = 1, .unseen_depth = 1, .tau_s = NAN}, "it must be 0 to 1"},
        {{.seen_depth = 1, .unseen_depth = 1, .tau_m = -2}, "tau_m is -2; it must be -1 to 1"},
        {{.seen_depth = 1, .unseen_depth = 1, .tau_m = INFINITY}, "tau_m is inf; it must be -1 to 1"},
        {{.seen_depth = 1, .unseen_depth = 1, .group_most = 1, .prior = 101}, "prior is 101; it must be 0 to 100"},
        {{.seen_depth = 1, .unseen_depth = 1, .group_most = 1, .cover = NAN}, "it must be 0 to 100"},
        {{.seen_depth = 1, .unseen_depth = 1}, "group_most is 0; it must be 1 to 256"},
        {{.seen_depth = 1, .unseen_depth = 1, .group_most = 257}, "group_most is 257; it must be 1 to 256"},
        {{.seen_depth = 1, .unseen_depth = 1, .group_most = 1, .rule = {[REQUEST_MULTI] = HIERARCHY_RULES}},
         "rule[2] is 3; it must be 0 to 2"},
    };
    wt_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = wt__hierarchy_validate(&cases[i].settings, &err);
        assert_int_equal(rc, cases[i].sentence ? WT_EINVAL : 0);
        if (cases[i].sentence && !strstr(err.message, cases[i].sentence))
            fail_msg("wanted \"%s\", got \"%s\"", cases[i].sentence, err.message);
    }
    assert_int_equal(wt__hierarchy_validate(&wt__hierarchy_paper, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncation_has_a_depth_for_seen_and_one_for_unseen_tools),
        cmocka_unit_test(sorts_stably_with_nan_last),
        cmocka_unit_test(algorithm1_puts_the_tools_of_chosen_providers_first),
        cmocka_unit_test(expands_providers_by_settings),
        cmocka_unit_test(merges_found_tools_by_score),
        cmocka_unit_test(algorithm2_limits_similar_tools),
        cmocka_unit_test(vectors_that_are_not_finite_link_no_tools),
        cmocka_unit_test(rules_read_at_most_256_candidates),
        cmocka_unit_test(rules_keep_the_tail_of_a_long_list),
        cmocka_unit_test(validates_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
