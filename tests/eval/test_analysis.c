/* Tests distributions, failures and vector rankings against figures worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/report.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static void deviation_is_of_the_population(void **state)
{
    (void)state;
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct mean_deviation s = wt__mean_deviation(values, 8);
    assert_true(s.count == 8 && is_near(s.mean, 5) && is_near(s.deviation, 2));
    s = wt__mean_deviation(values, 1);
    assert_true(is_near(s.mean, 2) && is_near(s.deviation, 0));
    s = wt__mean_deviation(NULL, 0);
    assert_true(s.count == 0 && s.mean == 0 && s.deviation == 0);
}

static void quantiles_are_interpolated(void **state)
{
    (void)state;
    const double sorted[] = {1, 2, 3, 10};
    static const struct {
        double share, value;
    } cases[] = {{0, 1}, {.25, 1.75}, {.5, 2.5}, {.75, 4.75}, {1, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(is_near(wt__quantile(sorted, 4, cases[i].share), cases[i].value));
    assert_true(wt__quantile(sorted, 1, .7) == 1 && wt__quantile(sorted, 0, .5) == 0);
}

static void whiskers_end_at_values(void **state)
{
    (void)state;
    double values[] = {30, 1, 2, 3, 4, 5, 6, 7, 8, -20};
    struct box_stats box =
        wt__box_stats(values, 10); /* quartiles 2.25 and 6.75: whiskers reach to -4.5 and 13.5 at most */
    assert_true(is_near(box.first, 2.25) && is_near(box.median, 4.5) && is_near(box.third, 6.75));
    assert_true(box.low == 1 && box.high == 8 && box.outliers == 2 && box.count == 10);
    double same[] = {3, 3, 3};
    box = wt__box_stats(same, 3);
    assert_true(box.low == 3 && box.high == 3 && box.outliers == 0);
    assert_true(wt__box_stats(NULL, 0).count == 0);
}

static struct dataset parse_data_set(const char *queries, const char *qrels)
{
    struct dataset set;
    assert_int_equal(wt__dataset_parse(&set, wt__str(queries), "q", wt__str(qrels), "r", NULL), 0);
    return set;
}

static void failures_are_counted_per_tool(void **state)
{
    (void)state;
    struct dataset set = parse_data_set("{\"_id\": \"a\", \"text\": \"x\"}\n{\"_id\": \"b\", \"text\": \"y\"}\n"
                                        "{\"_id\": \"c\", \"text\": \"z\"}\n",
                                        "a\tt1\t1\na\tt2\t1\na\tt9\t0\nb\tt1\t1\nc\tt3\t1\n");
    const bool missed[] = {true, false, false, true};
    const double lengths[] = {10, 4, 20};
    struct arena arena = {0};
    struct failures f;
    assert_int_equal(wt__count_failures(&f, &set, 3, missed, lengths, &arena, NULL), 0);
    assert_int_equal(f.tool_count, 3);
    assert_true(f.tools[0].wanted == 2 && f.tools[0].missed == 1);
    assert_true(is_near(f.share.mean, .5) && is_near(f.share.deviation, sqrt(1 / 6.)));
    assert_true(f.bins[0] == 1 && f.bins[5] == 1 && f.bins[10] == 1); /* missed in 0 %, 50 % and 100 % */
    assert_true(f.failed[0] && !f.failed[1] && f.failed[2]);
    assert_true(f.failed_length.count == 2 && is_near(f.failed_length.mean, 15) &&
                is_near(f.failed_length.deviation, 5));
    assert_true(f.found_length.count == 1 && is_near(f.found_length.mean, 4));
    wt__arena_dispose(&arena);
    wt__dataset_dispose(&set);
}

/* Request 0 lies along x and used tool 0. Request 1 lies along y and used tool 1 and a tool that is not in the
 * catalogue. The descriptions of tools 0 and 1 are swapped, so they mislead. Tool 2 was never used. */
enum { WIDE = 32 };
static float requests[2 * WIDE], descriptions[3 * WIDE], uses[3 * WIDE];
static uint32_t use_counts[] = {4, 2, 0}, gold[] = {0, 1, UINT32_MAX};
static size_t gold_starts[] = {0, 1, 3};
static struct str names[] = {{"t0", 2}, {"t1", 2}, {"t2", 2}};
static const struct query queries[] = {{.text = {"first", 5}}, {.text = {"second", 6}}};

static struct analysis_input make_input_by_hand(void)
{
    requests[0] = requests[WIDE + 1] = 1;
    descriptions[1] = descriptions[WIDE] = 1;
    descriptions[2 * WIDE] = .6f;
    descriptions[2 * WIDE + 1] = .8f;
    uses[0] = uses[WIDE + 1] = 1;
    return (struct analysis_input){.encoder = "hand",
                                   .dim = WIDE,
                                   .request_count = 2,
                                   .queries = queries,
                                   .requests = requests,
                                   .gold_starts = gold_starts,
                                   .gold = gold,
                                   .tool_count = 3,
                                   .names = names,
                                   .descriptions = descriptions,
                                   .uses = uses,
                                   .use_counts = use_counts};
}

static void vectors_are_judged_by_ranking_and_by_cosine(void **state)
{
    (void)state;
    struct analysis_input m = make_input_by_hand();
    struct vector_quality q;
    assert_int_equal(wt__judge_tool_vectors(&q, &m, BY_USE, 1, NULL), 0);
    assert_int_equal(q.tools, 2);
    assert_true(is_near(q.recall[0], (1 + .5) / 2)); /* a tool missing in the catalogue counts as missed */
    assert_true(is_near(q.ndcg[0], (1 + 1 / (1 + 1 / log2(3))) / 2));
    assert_true(q.used.count == 2 && is_near(q.used.median, 1) && q.unused.count == 2 && is_near(q.unused.median, 0));
    assert_int_equal(wt__judge_tool_vectors(&q, &m, BY_DESCRIPTION, 1, NULL), 0);
    assert_int_equal(q.tools, 3);
    assert_true(is_near(q.used.median, 0) && q.unused.count == 4 && is_near(q.unused.high, 1));
    assert_true(is_near(q.ndcg[0], (1 / log2(4) + 1 / log2(4) / (1 + 1 / log2(3))) / 2)); /* rank 3 of 3 */
    assert_int_equal(wt__judge_tool_vectors(&q, &m, BY_BOTH, 1, NULL), 0);
    assert_true(q.tools == 3 && is_near(q.used.median, sqrt(.5)));
}

static void map_has_shares_of_nearest_kinds(void **state)
{
    (void)state;
    struct analysis_input m = make_input_by_hand();
    struct scatter_map map;
    struct arena arena = {0};
    assert_int_equal(wt__scatter_map(&map, &m, 1, &arena, NULL, NULL), 0);
    assert_int_equal(map.count, 2 + 2 + 3);
    assert_true(map.of_kind[POINT_REQUEST] == 2 && map.of_kind[POINT_USE] == 2 && map.of_kind[POINT_DESCRIPTION] == 3);
    for (unsigned k = 0; k < POINT_KINDS; k++)
        assert_true(is_near(map.nearest[k][0] + map.nearest[k][1] + map.nearest[k][2], 1));
    assert_true(is_near(map.nearest[POINT_REQUEST][POINT_REQUEST], 0));
    for (size_t i = 0; i < map.count; i++)
        assert_true(isfinite(map.points[i].x) && isfinite(map.points[i].y) && map.points[i].text.len > 0);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviation_is_of_the_population),
        cmocka_unit_test(quantiles_are_interpolated),
        cmocka_unit_test(whiskers_end_at_values),
        cmocka_unit_test(failures_are_counted_per_tool),
        cmocka_unit_test(vectors_are_judged_by_ranking_and_by_cosine),
        cmocka_unit_test(map_has_shares_of_nearest_kinds),
    };
    return cmocka_run_group_tests_name("eval/analysis", tests, NULL, NULL);
}
