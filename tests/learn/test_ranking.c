/* Tests the ranking of tools in a request's own data set, and the selection of negatives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/ranking.h"

/* Two data sets. The first has the tools in rows 0 to 2, the second those in rows 3 and 4. Row 4 has the text of row 1.
 * Request 0 is in the first set and needs tools 0 and 1. Request 1 is in the second set and needs tool 3. */
static struct str texts[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"b", 1}};
static float vectors[][2] = {{1, 0}, {.9f, 0}, {.8f, 0}, {0, 1}, {.9f, .9f}};
static size_t starts[] = {0, 2, 3};
static uint32_t labels[] = {0, 1, 3};
static size_t no_wrong[3];
static struct example_part parts[] = {{3, 1, 1, 0, NULL}, {5, 2, 2, 0, NULL}};

static struct examples make_ranking_examples(void)
{
    struct example_set set = {.count = 2, .starts = starts, .tools = labels, .wrong_starts = no_wrong};
    return (struct examples){.part_count = 2, .parts = parts, .tools = 5, .texts = {texts}, .train = set, .dev = set};
}

static struct mined_ranking ranking_of(const struct examples *examples, size_t most)
{
    struct mined_ranking ranking;
    wt_error err;
    assert_int_equal(wt__ranking_open(&ranking, examples, false, most, 1, &err), 0);
    ranking.vectors = vectors[0];
    ranking.dim = 2;
    return ranking;
}

static void ranks_nearest_tools_of_own_set(void **state)
{
    static const float requests[][2] = {{1, 0}, {0, 1}, {-1, 0}};
    static const uint32_t of[] = {0, 1, 0};
    static const uint32_t want[][3] = {{0, 1, 2}, {3, 4, UINT32_MAX}, {2, 1, 0}};
    struct examples examples = make_ranking_examples();
    struct mined_ranking ranking = ranking_of(&examples, 100);
    uint32_t best[3][3];
    wt_error err;
    (void)state;
    assert_int_equal(ranking.count, 5);
    assert_int_equal(wt__ranking_best(&ranking, requests[0], of, 3, 3, best[0], &err), 0);
    assert_memory_equal(best, want, sizeof want);
    assert_int_equal(wt__ranking_part(&ranking, &examples.train, 0), 0);
    assert_int_equal(wt__ranking_part(&ranking, &examples.dev, 1), 1);
    wt__ranking_dispose(&ranking);
}

static void equal_scores_are_ordered_by_row(void **state)
{
    static const float request[2] = {0, 0};
    static const uint32_t of[] = {0};
    struct examples examples = make_ranking_examples();
    struct mined_ranking ranking = ranking_of(&examples, 100);
    uint32_t best[2];
    wt_error err;
    (void)state;
    assert_int_equal(wt__ranking_best(&ranking, request, of, 1, 2, best, &err), 0);
    assert_int_equal(best[0], 0);
    assert_int_equal(best[1], 1);
    wt__ranking_dispose(&ranking);
}

/* Row 4 has the text of row 1, so it is right for request 0 as well. */
static void labels_and_tools_of_equal_text_are_right(void **state)
{
    static const bool right[2][5] = {{true, true, false, false, true}, {false, false, false, true, false}};
    struct examples examples = make_ranking_examples();
    struct mined_ranking ranking = ranking_of(&examples, 100);
    (void)state;
    for (size_t request = 0; request < 2; request++)
        for (uint32_t row = 0; row < 5; row++)
            assert_int_equal(wt__ranking_right(&ranking, &examples.train, request, row), right[request][row]);
    wt__ranking_dispose(&ranking);
}

/* No request needs tool 2, so it is not a negative. */
static void only_needed_tools_are_negatives(void **state)
{
    static const uint32_t wanted[2][3] = {{3}, {4, 1, 0}};
    uint32_t best[RANKING_DEPTH] = {4, 3, 2, 1, 0, UINT32_MAX}, wrong[5];
    struct examples examples = make_ranking_examples();
    struct mined_ranking ranking = ranking_of(&examples, 100);
    (void)state;
    assert_int_equal(wt__ranking_wrong(&ranking, 0, NULL, best, 5, 5, wrong), 1);
    assert_memory_equal(wrong, wanted[0], sizeof *wrong);
    assert_int_equal(wt__ranking_wrong(&ranking, 1, NULL, best, 5, 5, wrong), 3);
    assert_memory_equal(wrong, wanted[1], sizeof wanted[1]);
    assert_int_equal(wt__ranking_wrong(&ranking, 1, NULL, best, 2, 2, wrong), 2);
    wt__ranking_dispose(&ranking);
}

/* The data set judges tools 2 and 4 wrong for request 1. Tool 2 is a negative although no request needs it. */
static void judged_tools_are_the_first_negatives(void **state)
{
    static uint32_t judged[] = {2, 4};
    static size_t judged_starts[] = {0, 0, 2};
    static const uint32_t wanted[] = {2, 4, 1, 0};
    uint32_t best[RANKING_DEPTH] = {4, 3, 1, 0, UINT32_MAX}, wrong[5];
    struct examples examples = make_ranking_examples();
    examples.train.wrong = judged;
    examples.train.wrong_starts = judged_starts;
    struct mined_ranking ranking = ranking_of(&examples, 100);
    (void)state;
    assert_int_equal(wt__ranking_wrong(&ranking, 1, NULL, best, 1, 5, wrong), 2);
    assert_memory_equal(wrong, wanted, 2 * sizeof *wrong);
    assert_int_equal(wt__ranking_wrong(&ranking, 1, NULL, best, 3, 5, wrong), 4);
    assert_memory_equal(wrong, wanted, sizeof wanted);
    assert_int_equal(wt__ranking_wrong(&ranking, 1, NULL, best, 3, 1, wrong), 1);
    assert_int_equal(wt__ranking_wrong(&ranking, 0, NULL, best, 1, 5, wrong), 1); /* tool 3 of best */
    wt__ranking_dispose(&ranking);
}

static void ranks_seeded_sample_of_many_tools(void **state)
{
    struct examples examples = make_ranking_examples();
    struct mined_ranking first = ranking_of(&examples, 3), second = ranking_of(&examples, 3);
    (void)state;
    assert_int_equal(first.count, 3);
    assert_memory_equal(first.rows, second.rows, 3 * sizeof *first.rows);
    assert_true(first.rows[0] < first.rows[1] && first.rows[1] < first.rows[2] && first.rows[2] < 5);
    wt__ranking_dispose(&first);
    wt__ranking_dispose(&second);
}

/* A tool may be right if its score exceeds .95 times the score of the needed tool. Here the needed tool is 3, with the
 * vector (0, 1). */
static void skips_tools_that_may_be_right(void **state)
{
    static const float doubtful[] = {.2f, 1}, clear[] = {0, 1};
    static const uint32_t wanted[2][3] = {{1, 0}, {4, 1, 0}};
    uint32_t best[RANKING_DEPTH] = {4, 3, 1, 0, UINT32_MAX}, wrong[5];
    struct examples examples = make_ranking_examples();
    struct mined_ranking ranking = ranking_of(&examples, 100);
    (void)state;
    assert_int_equal(wt__ranking_wrong(&ranking, 1, doubtful, best, 5, 5, wrong), 2);
    assert_memory_equal(wrong, wanted[0], 2 * sizeof *wrong);
    assert_int_equal(wt__ranking_wrong(&ranking, 1, clear, best, 5, 5, wrong), 3);
    assert_memory_equal(wrong, wanted[1], sizeof wanted[1]);
    ranking.count = 3; /* tool 3 is not ranked now, so its score is unknown */
    assert_int_equal(wt__ranking_wrong(&ranking, 1, clear, best + 2, 5, 5, wrong), 0);
    wt__ranking_dispose(&ranking);
}

static void ranks_only_needed_tools(void **state)
{
    static const uint32_t wanted[] = {0, 1, 3, 4};
    struct examples examples = make_ranking_examples();
    struct mined_ranking ranking;
    wt_error err;
    (void)state;
    assert_int_equal(wt__ranking_open(&ranking, &examples, true, 100, 1, &err), 0);
    assert_int_equal(ranking.count, 4);
    assert_memory_equal(ranking.rows, wanted, sizeof wanted);
    wt__ranking_dispose(&ranking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_nearest_tools_of_own_set),
        cmocka_unit_test(equal_scores_are_ordered_by_row),
        cmocka_unit_test(labels_and_tools_of_equal_text_are_right),
        cmocka_unit_test(only_needed_tools_are_negatives),
        cmocka_unit_test(judged_tools_are_the_first_negatives),
        cmocka_unit_test(skips_tools_that_may_be_right),
        cmocka_unit_test(ranks_only_needed_tools),
        cmocka_unit_test(ranks_seeded_sample_of_many_tools),
    };
    return cmocka_run_group_tests_name("learn/ranking", tests, NULL, NULL);
}
