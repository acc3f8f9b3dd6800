/* Tests metrics against figures worked out by hand, and against pytrec_eval (golden/eval_ranking.json, written by
 * make_golden.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "eval/internal.h"

static const double TOLERANCE = 1e-6;

static void assert_metric(const char *name, double have, double want)
{
    if (fabs(have - want) > TOLERANCE)
        fail_msg("%s: have %.9f, want %.9f", name, have, want);
}

static void metrics_match_hand_worked_figures(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int gains[6];
        size_t ranked;
        int ideal[4];
        size_t judged, k;
        double recall, ndcg, complete, mrr;
    } cases[] = {
        {"the only relevant tool at rank 1", {1, 0, 0}, 3, {1}, 1, 1, 1, 1, 1, 1},
        {"the only relevant tool at rank 2, cutoff 1", {0, 1}, 2, {1}, 1, 1, 0, 0, 0, .5},
        {"the only relevant tool at rank 2, cutoff 5", {0, 1}, 2, {1}, 1, 5, 1, 0.6309297535714575, 1, .5},
        {"one of two relevant tools", {1, 0, 0}, 3, {1, 1}, 2, 3, .5, 0.6131471927654584, 0, 1},
        {"both relevant tools, from rank 2", {0, 1, 1}, 3, {1, 1}, 2, 3, 1, 0.6934264036172708, 1, .5},
        {"two of three relevant tools in the best order, cutoff 2", {1, 1, 0}, 3, {1, 1, 1}, 3, 2, 2.0 / 3, 1, 0, 1},
        {"graded gains in reverse order", {1, 3}, 2, {3, 1}, 2, 2, 1, 0.7967075809905066, 1, 1},
        {"a negative gain counts as 0", {-1, 1}, 2, {1, -1}, 2, 2, 1, 0.6309297535714575, 1, .5},
        {"no results", {0}, 0, {1, 1}, 2, 5, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t relevant = 0;
        for (size_t j = 0; j < cases[i].judged; j++)
            relevant += cases[i].ideal[j] > 0;
        assert_metric(cases[i].name, wt__recall_at(cases[i].gains, cases[i].ranked, relevant, cases[i].k),
                      cases[i].recall);
        assert_metric(cases[i].name,
                      wt__ndcg_at(cases[i].gains, cases[i].ranked, cases[i].ideal, cases[i].judged, cases[i].k),
                      cases[i].ndcg);
        assert_metric(cases[i].name, wt__complete_at(cases[i].gains, cases[i].ranked, relevant, cases[i].k),
                      cases[i].complete);
        assert_metric(cases[i].name, wt__reciprocal_rank(cases[i].gains, cases[i].ranked), cases[i].mrr);
    }
}

static int compare_descending_ints(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

enum { MOST = 256 };

/* Checks one query of the golden file against all figures of pytrec_eval. */
static void check_golden(json_t *query)
{
    json_t *qrels = wt__json_object(query, "qrels"), *ranked = wt__json_array(query, "ranked"), *value;
    int ideal[MOST], gains[MOST];
    size_t judged = 0, relevant = 0, len = json_array_size(ranked);
    const char *name;
    json_object_foreach(qrels, name, value)
    {
        ideal[judged] = (int)json_integer_value(value);
        relevant += ideal[judged++] > 0;
    }
    qsort(ideal, judged, sizeof *ideal, compare_descending_ints);
    for (size_t i = 0; i < len; i++)
        gains[i] = (int)wt__json_int(qrels, json_string_value(json_array_get(ranked, i)), 0);
    json_object_foreach(wt__json_object(query, "expect"), name, value)
    {
        const char *under = strrchr(name, '_');
        size_t k = (size_t)strtoul(under + 1, NULL, 10);
        double have = strncmp(name, "recall", 6) == 0 ? wt__recall_at(gains, len, relevant, k)
                      : strncmp(name, "ndcg", 4) == 0 ? wt__ndcg_at(gains, len, ideal, judged, k)
                                                      : wt__reciprocal_rank(gains, len);
        char label[128];
        snprintf(label, sizeof label, "%s of %s", name, json_string_value(json_object_get(query, "id")));
        assert_metric(label, have, json_number_value(value));
    }
}

static void metrics_equal_pytrec_eval(void **state)
{
    (void)state;
    const char *source = getenv("WT_TEST_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/golden/eval_ranking.json", source ? source : ".");
    char *text = NULL;
    size_t len = 0;
    wt_error err;
    json_t *golden = NULL, *query;
    assert_int_equal(wt__file_read(&text, &len, path, 1 << 20, &err), 0);
    assert_int_equal(wt__json_parse(&golden, text, len, &err), 0);
    json_t *queries = wt__json_array(golden, "queries");
    assert_true(json_array_size(queries) > 50);
    size_t index;
    json_array_foreach(queries, index, query) check_golden(query);
    json_decref(golden);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_match_hand_worked_figures),
        cmocka_unit_test(metrics_equal_pytrec_eval),
    };
    return cmocka_run_group_tests_name("eval/metrics", tests, NULL, NULL);
}
