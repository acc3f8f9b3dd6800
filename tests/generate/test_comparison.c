/* Tests the comparison of two data sets by fake judges: a reliable judge, a judge with a position bias, and a judge
 * with unusable answers. Also tests the labels of a person and a stopped run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate/comparison.h"
#include "generate/judge.h"
#include "generate/support.h"

enum { REQUESTS = 60 };

static char paths[3][256]; /* of the good set, the plain set and the output */

static void write_set_file(const char *folder, const char *name, const char *bytes, size_t len)
{
    char path[512];
    assert_call_ok(&place, wt__make_folders(folder, &place.err));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_call_ok(&place, wt__file_replace(path, bytes, len, &place.err));
}

/* Writes a good and a plain set. In the good set, every well_every-th request begins with "Well", and each request has
 * a draft. */
static void write_compared_sets(size_t well_every)
{
    for (int set = 0; set < 2; set++) {
        struct buffer lines = {0};
        snprintf(paths[set], sizeof paths[set], "%s/%s-%zu", place.folder, set ? "plain" : "good", well_every);
        for (size_t i = 0; i < REQUESTS; i++)
            wt__buffer_printf(&lines,
                              "{\"_id\": \"%c%zu\", \"text\": \"%sthe parcel\\t%zu\\n goes\", \"metadata\": {%s}}\n",
                              set ? 'p' : 'g', i, set || i % well_every ? "" : "Well, ", i,
                              set ? "" : "\"draft\": \"First parcel, then go\"");
        write_set_file(paths[set], "queries.jsonl", lines.ptr, lines.len);
        wt__buffer_dispose(&lines);
    }
}

static wt_comparison_options options_for_both_sets(const char *folder)
{
    wt_comparison_options options;
    wt_comparison_options_init(&options);
    snprintf(paths[2], sizeof paths[2], "%s/%s", place.folder, folder);
    options.first = paths[0];
    options.second = paths[1];
    options.out = paths[2];
    return options;
}

static int run_judged_comparison(struct fake_judge *judge, const wt_comparison_options *options, wt_generated **out)
{
    return wt__generate_comparison(NULL, &judge->model, options, out, &place.err);
}

static int64_t get_criterion_count(const json_t *report, const char *criterion, const char *what)
{
    const json_t *row = wt__json_object(wt__json_object(report, "criteria"), criterion);
    const json_t *value = json_object_get(row, what);
    return json_is_object(value) ? wt__json_int(value, "count", -1) : json_integer_value(value);
}

static void assert_counts(const json_t *report, const char *criterion, int64_t wins, int64_t ties, int64_t losses)
{
    assert_int_equal(get_criterion_count(report, criterion, "wins"), wins);
    assert_int_equal(get_criterion_count(report, criterion, "ties"), ties);
    assert_int_equal(get_criterion_count(report, criterion, "losses"), losses);
}

static void test_reliable_judge_finds_better_texts(void **state)
{
    (void)state;
    write_compared_sets(3);
    struct fake_judge judge = make_judge();
    wt_comparison_options options = options_for_both_sets("judged");
    wt_generated *made = NULL;
    size_t len;
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    assert_int_equal(made->rows, REQUESTS);
    assert_int_equal(made->questions, 2 * REQUESTS);
    assert_non_null(strstr(made->summary, "Verdicts of judge on the first data set:"));
    json_t *report = read_json_file("judged", "report.json");
    assert_counts(report, "naturalness", REQUESTS / 3, REQUESTS * 2 / 3, 0);
    assert_counts(report, "coherence", 0, REQUESTS, 0);
    assert_counts(report, "overall", REQUESTS / 3, REQUESTS * 2 / 3, 0);
    assert_int_equal(get_criterion_count(report, "fluency", "changed_with_the_order"), 0);
    const json_t *wins = wt__json_object(wt__json_object(wt__json_object(report, "criteria"), "fluency"), "wins");
    assert_true(wt__json_real(wins, "low", 1) < 1 / 3.0 && wt__json_real(wins, "low", 0) > 0.15);
    assert_true(wt__json_real(wins, "high", 0) > 1 / 3.0 && wt__json_real(wins, "high", 1) < 0.5);
    assert_true(json_is_null(json_object_get(report, "agreement")));
    json_decref(report);
    wt_generated_free(made);
    /* Swapping the data sets turns every win into a loss. */
    options = options_for_both_sets("turned");
    options.first = paths[1];
    options.second = paths[0];
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    report = read_json_file("turned", "report.json");
    assert_counts(report, "naturalness", 0, REQUESTS * 2 / 3, REQUESTS / 3);
    json_decref(report);
    wt_generated_free(made);
    char *sheet = read_place_file("judged", "sheet.tsv", &len);
    assert_true(strncmp(sheet, "pair\tverdict\ta\tb\n1\t\t", 19) == 0);
    size_t tabs = 0;
    for (const char *at = sheet; (at = strchr(at, '\t')); at++)
        tabs++;
    assert_int_equal(tabs, 3 * (REQUESTS + 1));
    free(sheet);
}

/* A judge that always prefers the text shown first, or always the other, gives only ties. */
static void test_position_bias_gives_only_ties(void **state)
{
    static const char *const always[] = {"one", "other"};
    (void)state;
    write_compared_sets(1);
    for (int i = 0; i < 2; i++) {
        struct fake_judge judge = make_judge();
        wt_comparison_options options = options_for_both_sets(always[i]);
        wt_generated *made = NULL;
        judge.always = always[i];
        assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
        json_t *report = read_json_file(always[i], "report.json");
        assert_counts(report, "naturalness", 0, REQUESTS, 0);
        assert_counts(report, "overall", 0, REQUESTS, 0);
        assert_int_equal(get_criterion_count(report, "naturalness", "changed_with_the_order"), REQUESTS);
        json_decref(report);
        assert_non_null(strstr(made->summary, "60 verdicts changed with the order"));
        wt_generated_free(made);
    }
}

static void test_pairs_with_unusable_answers_have_no_verdict(void **state)
{
    (void)state;
    write_compared_sets(1);
    struct fake_judge judge = make_judge();
    wt_comparison_options options = options_for_both_sets("noise");
    wt_generated *made = NULL;
    judge.nonsense = 0.3;
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    json_t *report = read_json_file("noise", "report.json");
    const int64_t judged = wt__json_int(report, "judged", -1);
    assert_true(judged > 10 && judged < REQUESTS - 10);
    assert_counts(report, "naturalness", judged, 0, 0);
    assert_non_null(strstr(made->notice, "pairs have no verdict"));
    json_decref(report);
    wt_generated_free(made);
    judge.nonsense = 2;
    options = options_for_both_sets("mad");
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EEMPTY,
                        "no pair was judged after 64 questions to judge");
    report = read_json_file("mad", "report.json");
    assert_int_equal(wt__json_int(report, "judged", -1), 0);
    assert_counts(report, "overall", 0, 0, 0);
    json_decref(report);
}

static void test_requests_are_compared_with_their_drafts(void **state)
{
    (void)state;
    write_compared_sets(2);
    struct fake_judge judge = make_judge();
    wt_comparison_options options = options_for_both_sets("drafts");
    wt_generated *made = NULL;
    options.second = NULL;
    options.limit = 40;
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    assert_int_equal(made->rows, 40);
    json_t *report = read_json_file("drafts", "report.json");
    assert_int_equal(get_criterion_count(report, "fluency", "wins") + get_criterion_count(report, "fluency", "ties"),
                     40);
    assert_in_range(get_criterion_count(report, "fluency", "wins"), 10, 30);
    json_decref(report);
    wt_generated_free(made);
    options = options_for_both_sets("none");
    options.first = paths[1];
    options.second = NULL;
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EEMPTY,
                        "has no request with a draft");
}

/* One person agrees with the judge. Another prefers the opposite text in each pair that is not a tie. Adding labels
 * needs no new questions. */
static void test_report_has_agreement_with_labels(void **state)
{
    (void)state;
    write_compared_sets(2);
    struct fake_judge judge = make_judge();
    wt_comparison_options options = options_for_both_sets("labelled");
    wt_generated *made = NULL;
    char path[256];
    size_t len;
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    wt_generated_free(made);
    char *sheet = read_place_file("labelled", "sheet.tsv", &len);
    for (int contrary = 0; contrary < 2; contrary++) {
        struct buffer filled = {0};
        wt__buffer_text(&filled, "pair\tverdict\ta\tb\n");
        int number = 1;
        for (const char *at = strchr(sheet, '\n') + 1; *at; at = strchr(at, '\n') + 1, number++) {
            const char *a = strchr(strchr(at, '\t') + 1, '\t') + 1, *b = strchr(a, '\t') + 1;
            const bool first = strncmp(a, "Well", 4) == 0, second = strncmp(b, "Well", 4) == 0;
            wt__buffer_printf(&filled, "%d\t%s\n", number,
                              number == 3                ? "?"
                              : !first && !second        ? "tie"
                              : first == (contrary == 0) ? "A"
                                                         : "b");
        }
        snprintf(path, sizeof path, "%s/labels.tsv", place.folder);
        assert_call_ok(&place, wt__file_replace(path, filled.ptr, filled.len, &place.err));
        wt__buffer_dispose(&filled);
        options.labels = path;
        judge.fail_after = 1;
        judge.failure = WT_ENETWORK;
        assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
        json_t *report = read_json_file("labelled", "report.json");
        const json_t *agreement = wt__json_object(report, "agreement"),
                     *overall = wt__json_object(agreement, "overall");
        assert_int_equal(wt__json_int(agreement, "labels", -1), REQUESTS - 1);
        assert_int_equal(wt__json_int(overall, "pairs", -1), REQUESTS - 1);
        assert_true((wt__json_real(overall, "share", -1) == 1) == (contrary == 0));
        assert_true((wt__json_real(overall, "kappa", -1) == 1) == (contrary == 0));
        assert_true(json_is_number(json_object_get(overall, "kappa")));
        assert_non_null(strstr(made->summary, "Cohen's kappa"));
        json_decref(report);
        wt_generated_free(made);
    }
    free(sheet);
    assert_call_ok(&place, wt__file_replace(path, "61\ta\n", 5, &place.err));
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EFORMAT,
                        "a verdict on pair 61, but there are only 60 pairs");
}

static void test_stopped_comparison_continues_to_same_bytes(void **state)
{
    static const char *const files[] = {"report.json", "pairs.jsonl", "sheet.tsv"};
    (void)state;
    write_compared_sets(2);
    struct fake_judge judge = make_judge();
    wt_comparison_options options = options_for_both_sets("whole");
    wt_generated *made = NULL;
    judge.nonsense = 0.1;
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    wt_generated_free(made);
    options = options_for_both_sets("stopped");
    atomic_store(&judge.asked, 0);
    judge.fail_after = 70;
    judge.failure = WT_ENETWORK;
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_ENETWORK, "it fails after");
    judge.fail_after = 0;
    assert_call_ok(&place, run_judged_comparison(&judge, &options, &made));
    wt_generated_free(made);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_same_file("whole", "stopped", files[i]);
    options.seed = 2;
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EINVAL, "begun with other options");
}

static void test_invalid_comparison_input_is_refused(void **state)
{
    (void)state;
    write_compared_sets(2);
    struct fake_judge judge = make_judge();
    wt_generated *made = NULL;
    wt_comparison_options options = options_for_both_sets("x");
    options.first = NULL;
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EINVAL, "first data set");
    options = options_for_both_sets("x");
    options.out = "";
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EINVAL, "name a folder");
    options = options_for_both_sets("x");
    options.limit = 10001;
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EINVAL,
                        "pairs to compare must be 1 to 10000, not 10001");
    options = options_for_both_sets("x");
    assert_call_refused(&place, wt_generate_comparison(NULL, &options, &made, &place.err), WT_EINVAL,
                        "an engine is needed");
    options.second = "nowhere";
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_ENOTFOUND, "nowhere");
    write_set_file(paths[1], "queries.jsonl", "{\"_id\": \"1\"}\n{\"_id\": \"1\"}\n", 26);
    options = options_for_both_sets("x");
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EFORMAT,
                        "queries.jsonl:2: the _id \"1\" appears twice");
    write_set_file(paths[1], "queries.jsonl", "{\"_id\": \"1\"}\n", 13);
    assert_call_refused(&place, run_judged_comparison(&judge, &options, &made), WT_EEMPTY, "no requests to compare");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reliable_judge_finds_better_texts, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_position_bias_gives_only_ties, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_pairs_with_unusable_answers_have_no_verdict, set_up_place,
                                        tear_down_place),
        cmocka_unit_test_setup_teardown(test_requests_are_compared_with_their_drafts, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_report_has_agreement_with_labels, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_stopped_comparison_continues_to_same_bytes, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_invalid_comparison_input_is_refused, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
