/* Tests the generation of RecTools data. A fake model (judge.h) writes the requests and gives the right verdicts. The
 * tests cover the selection of requests, the report, a stopped run, and verdicts on an existing data set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/dataset.h"
#include "generate/judge.h"
#include "generate/requests.h"
#include "generate/support.h"

enum { TOOLS = 12 };

static wt_engine *open_rectools_store(void)
{
    struct buffer lines = {0};
    wt_engine *engine = open_test_engine(&place, "");
    for (int i = 0; i < TOOLS; i++)
        wt__buffer_printf(&lines, "{\"name\": \"%s\", \"description\": \"%s %s of any kind %s\"}\n", writer_things[i],
                          writer_deeds[i], writer_things[(i * 5 + 3) % 16], writer_ways[i % WRITER_WAYS]);
    wt__buffer_text(&lines, "{\"name\": \"mute\"}\n");
    add(&place, engine, lines.ptr);
    wt__buffer_dispose(&lines);
    return engine;
}

static wt_rectools_options few_combinations(void)
{
    wt_rectools_options options;
    wt_rectools_options_init(&options);
    options.combinations = 6;
    options.requests = 3;
    options.largest = 4;
    options.duplicate = 0.9999;
    return options;
}

static int make_rectools_set(wt_engine *engine, struct fake_judge *judge, wt_rectools_options options,
                             const char *folder, wt_generated **out)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place.folder, folder);
    options.out = path;
    return wt__generate_rectools(engine, &judge->model, &options, out, &place.err);
}

static const json_t *find_stage(const json_t *report, const char *name)
{
    size_t index;
    json_t *stage;
    json_array_foreach(wt__json_array(report, "stages"), index,
                       stage) if (wt__str_equal(wt__json_str(stage, "stage"), wt__str(name))) return stage;
    fail_msg("no stage %s", name);
    return NULL;
}

/* Checks the report's counts. The counts by number of tools must add up to the total of the verdicts. In each stage,
 * the made and the refused texts must add up to the offered ones. The offered texts and the unusable answers must add
 * up to the questions. */
static void assert_rectools_report(const json_t *report)
{
    const json_t *verdicts = wt__json_object(report, "verdicts"), *sizes = wt__json_object(verdicts, "by_tools");
    const int64_t requests = wt__json_int(verdicts, "requests", -1);
    int64_t sum = 0, qualified = 0;
    const char *size;
    json_t *row;
    json_object_foreach((json_t *)sizes, size, row)
    {
        sum += wt__json_int(row, "requests", -1);
        qualified += wt__json_int(row, "qualified", -1);
        assert_int_equal(sum_json_members(wt__json_object(row, "first")), wt__json_int(row, "requests", -1));
    }
    assert_int_equal(sum, requests);
    assert_int_equal(qualified, wt__json_int(verdicts, "qualified", -1));
    assert_int_equal(sum_json_members(wt__json_object(verdicts, "first")), requests);
    assert_int_equal(sum_json_members(wt__json_object(verdicts, "one_removed")), requests);
    assert_true(wt__json_int(find_stage(report, "verdicts"), "questions", -1) <= requests);
    assert_true(wt__json_real(wt__json_object(wt__json_object(report, "paper"), "exact_solving_test"), "RecTools", 0) ==
                0.613);
    size_t index;
    json_array_foreach(wt__json_array(report, "stages"), index, row)
    {
        assert_int_equal(wt__json_int(row, "offered", -1),
                         wt__json_int(row, "made", -1) + sum_json_members(wt__json_object(row, "refused")));
        assert_int_equal(wt__json_int(row, "questions", -1),
                         wt__json_int(row, "offered", -1) + wt__json_int(row, "unusable", -1));
    }
}

static void test_all_requests_of_perfect_model_qualify(void **state)
{
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge judge = make_judge();
    wt_generated *made = NULL;
    assert_call_ok(&place, make_rectools_set(engine, &judge, few_combinations(), "all", &made));
    assert_int_equal(made->rows, 4 * 6 * 3);
    assert_int_equal(made->train + made->dev + made->test, made->rows);
    assert_non_null(strstr(made->summary, "Verdicts of judge:"));
    assert_null(made->notice);
    json_t *report = read_json_file("all", "report.json");
    assert_rectools_report(report);
    assert_int_equal(wt__json_int(report, "combinations", -1), 24);
    assert_int_equal(wt__json_int(wt__json_object(report, "verdicts"), "qualified", -1), made->rows);
    assert_int_equal(made->questions, 3 * made->rows);
    json_decref(report);
    wt_generated_free(made);
    wt_close(engine);
}

/* The verdict is "over" if the request does not need one of its tools. It is "partial" if the tools can fulfil only a
 * part of the request. Requests with these verdicts are left out unless keep_all is set. */
static void test_unqualified_requests_are_left_out(void **state)
{
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge judge = make_judge();
    wt_rectools_options options = few_combinations();
    wt_generated *made = NULL;
    size_t len;
    judge.over = judge.partial = 0.25;
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "some", &made));
    const size_t kept = made->rows;
    json_t *report = read_json_file("some", "report.json");
    assert_rectools_report(report);
    const json_t *verdicts = wt__json_object(report, "verdicts"), *first = wt__json_object(verdicts, "first");
    assert_int_equal(wt__json_int(verdicts, "qualified", -1), kept);
    assert_int_equal(wt__json_int(first, "exact", -1), kept);
    assert_true(wt__json_int(first, "over", -1) > 5 && wt__json_int(first, "partial", -1) > 5);
    const int64_t all = wt__json_int(verdicts, "requests", -1);
    assert_true((int64_t)kept < all);
    json_decref(report);
    char *queries = read_place_file("some", "queries.jsonl", &len);
    assert_null(strstr(queries, "\"qualified\": false"));
    free(queries);
    wt_generated_free(made);
    options.keep_all = 1; /* uses the recorded answers */
    judge.fail_after = 1;
    judge.failure = WT_ENETWORK;
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "some", &made));
    assert_int_equal(made->rows, all);
    queries = read_place_file("some", "queries.jsonl", &len);
    assert_non_null(strstr(queries, "\"verdict\": \"over\""));
    assert_non_null(strstr(queries, "\"qualified\": false"));
    free(queries);
    wt_generated_free(made);
    options.keep_all = 0; /* the rows of the earlier run are removed */
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "some", &made));
    assert_int_equal(made->rows, kept);
    struct dataset train;
    char path[256];
    snprintf(path, sizeof path, "%s/some", place.folder);
    assert_call_ok(&place, wt__dataset_read(&train, path, "train", &place.err));
    assert_int_equal(train.len, made->train);
    assert_int_equal(train.unknown_queries, 0);
    wt__dataset_dispose(&train);
    wt_generated_free(made);
    wt_close(engine);
}

/* A request qualifies only if its verdict is "partial" after one of its tools was removed. */
static void test_judge_that_always_says_exact_qualifies_no_request(void **state)
{
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge judge = make_judge();
    wt_generated *made = NULL;
    judge.says_exact = true;
    wt_rectools_options options = few_combinations();
    size_t len;
    options.keep_all = 1;
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "yes", &made));
    wt_generated_free(made);
    assert_call_refused(&place, make_rectools_set(engine, &judge, few_combinations(), "yes", &made), WT_EEMPTY,
                        "qualifies; see");
    assert_null(read_place_file("yes", "queries.jsonl", &len));
    assert_null(read_place_file("yes", "qrels/train.tsv", &len));
    json_t *report = read_json_file("yes", "report.json");
    assert_rectools_report(report);
    assert_true(wt__json_real(wt__json_object(report, "verdicts"), "exact_share", 0) == 1);
    assert_true(wt__json_real(wt__json_object(report, "verdicts"), "qualified_share", 1) == 0);
    json_decref(report);
    wt_close(engine);
}

static void test_duplicates_and_unusable_answers_are_refused(void **state)
{
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge judge = make_judge();
    wt_rectools_options options = few_combinations();
    wt_generated *made = NULL;
    judge.repeats_itself = true; /* the second and third request of a set are duplicates of its first */
    options.smallest = options.largest = 3;
    options.retries = 6; /* consecutive duplicates do not count towards STAGE_FRUITLESS_MAX */
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "same", &made));
    assert_int_equal(made->rows, 6);
    assert_non_null(strstr(made->notice, "6 of 18 requests were made"));
    json_t *report = read_json_file("same", "report.json");
    const json_t *stage = find_stage(report, "requests");
    assert_int_equal(wt__json_int(stage, "questions", -1), 6 + 2 * 6 * 7);
    assert_int_equal(sum_json_members(wt__json_object(stage, "refused")), 2 * 6 * 7);
    assert_false(wt__json_bool(stage, "gave_up", true));
    json_decref(report);
    wt_generated_free(made);

    judge = make_judge();
    judge.nonsense = 0.4;
    assert_call_ok(&place, make_rectools_set(engine, &judge, few_combinations(), "noise", &made));
    report = read_json_file("noise", "report.json");
    assert_rectools_report(report);
    assert_true(wt__json_int(wt__json_object(wt__json_object(report, "verdicts"), "first"), "none", -1) > 0);
    assert_int_equal(wt__json_int(wt__json_object(report, "verdicts"), "qualified", -1), made->rows);
    json_decref(report);
    wt_generated_free(made);

    judge.nonsense = 2;
    assert_call_refused(&place, make_rectools_set(engine, &judge, few_combinations(), "mad", &made), WT_EEMPTY,
                        "none of the 0 requests written by judge qualifies");
    report = read_json_file("mad", "report.json");
    /* The first request of each set is asked for twice. Then the run has more than STAGE_FRUITLESS_MAX useless
     * answers. */
    assert_int_equal(wt__json_int(find_stage(report, "requests"), "unusable", -1), 2 * 24);
    assert_true(wt__json_bool(find_stage(report, "requests"), "gave_up", false));
    json_decref(report);
    wt_close(engine);
}

static void test_stopped_rectools_continues_to_same_bytes(void **state)
{
    static const unsigned long stops[] = {1, 20, 50, 90};
    static const char *const files[] = {"corpus.jsonl", "queries.jsonl", "qrels/train.tsv", "report.json"};
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge whole = make_judge(), judge = make_judge();
    wt_generated *made = NULL;
    whole.partial = judge.partial = 0.2;
    whole.nonsense = judge.nonsense = 0.1;
    assert_call_ok(&place, make_rectools_set(engine, &whole, few_combinations(), "whole", &made));
    wt_generated_free(made);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        judge.fail_after = stops[i];
        judge.failure = i % 2 ? WT_ENETWORK : WT_ECANCELLED;
        atomic_store(&judge.asked, 0);
        int rc = make_rectools_set(engine, &judge, few_combinations(), "stopped", &made);
        if (rc == 0)
            wt_generated_free(made);
        else
            assert_call_refused(&place, rc, judge.failure, "it fails after");
    }
    judge.fail_after = 0;
    assert_call_ok(&place, make_rectools_set(engine, &judge, few_combinations(), "stopped", &made));
    wt_generated_free(made);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_same_file("whole", "stopped", files[i]);
    wt_rectools_options options = few_combinations();
    options.requests = 2;
    assert_call_refused(&place, make_rectools_set(engine, &judge, options, "stopped", &made), WT_EINVAL,
                        "begun with other options");
    wt_close(engine);
}

/* Verdicts on a finished data set equal the verdicts given while the data set was generated. */
static void test_verdicts_on_finished_data_set_are_the_same(void **state)
{
    char data[256], out[256];
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge judge = make_judge();
    wt_rectools_options options = few_combinations();
    wt_verdicts_options again;
    wt_generated *made = NULL;
    size_t len;
    judge.over = judge.partial = 0.25;
    options.keep_all = 1;
    options.dev = -1;
    options.test = 1;
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "kept", &made));
    const size_t rows = made->rows;
    assert_int_equal(made->test, rows);
    wt_generated_free(made);
    wt_verdicts_options_init(&again);
    snprintf(data, sizeof data, "%s/kept", place.folder);
    snprintf(out, sizeof out, "%s/again", place.folder);
    again.data = data;
    again.out = out;
    assert_call_ok(&place, wt__generate_verdicts(NULL, &judge.model, &again, &made, &place.err));
    assert_int_equal(made->rows, rows);
    json_t *first = read_json_file("kept", "report.json"), *second = read_json_file("again", "report.json");
    assert_rectools_report(second);
    const json_t *a = wt__json_object(wt__json_object(first, "verdicts"), "first"),
                 *b = wt__json_object(wt__json_object(second, "verdicts"), "first");
    assert_true(json_equal((json_t *)a, (json_t *)b));
    assert_true(wt__str_equal(wt__json_str(second, "model"), STR("judge")));
    json_decref(first);
    json_decref(second);
    char *lines = read_place_file("again", "verdicts.jsonl", &len);
    assert_non_null(strstr(lines, "\"one_removed\": \"partial\""));
    assert_null(strstr(lines, "I want"));
    free(lines);
    wt_generated_free(made);
    again.limit = 7;
    assert_call_refused(&place, wt__generate_verdicts(NULL, &judge.model, &again, &made, &place.err), WT_EINVAL,
                        "begun with other options");
    snprintf(out, sizeof out, "%s/seven", place.folder);
    assert_call_ok(&place, wt__generate_verdicts(NULL, &judge.model, &again, &made, &place.err));
    assert_int_equal(made->rows, 7);
    wt_generated_free(made);
    judge.nonsense = 2;
    snprintf(out, sizeof out, "%s/nothing", place.folder);
    assert_call_refused(&place, wt__generate_verdicts(NULL, &judge.model, &again, &made, &place.err), WT_EEMPTY,
                        "no verdict came from 14 questions to judge");
    again.split = "none";
    assert_call_refused(&place, wt__generate_verdicts(NULL, &judge.model, &again, &made, &place.err), WT_ENOTFOUND, "");
    wt_close(engine);
}

static void test_small_catalogue_and_invalid_options_are_reported(void **state)
{
    static const struct {
        wt_rectools_options options;
        const char *says;
    } rows[] = {
        {{.smallest = 11}, "tools of the smallest combination must be 1 to 10, not 11"},
        {{.smallest = 4, .largest = 3}, "tools of the largest combination must be 4 to 10, not 3"},
        {{.combinations = 1001}, "combinations of a size must be 1 to 1000, not 1001"},
        {{.requests = 21}, "requests of a combination must be 1 to 20, not 21"},
        {{.retries = 21}, "retries of a request must be 1 to 20, not 21"},
        {{.dev = 0.9, .test = 0.9}, "dev and test are 1.8"},
        {{.duplicate = 3}, "cosine of duplicates must be at most 2, not 3"},
        {{.temperature = -1}, "must not be negative"},
    };
    (void)state;
    wt_engine *engine = open_rectools_store();
    struct fake_judge judge = make_judge();
    wt_generated *made = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_rectools_options options = rows[i].options;
        options.size = sizeof options;
        assert_call_refused(&place, make_rectools_set(engine, &judge, options, "bad", &made), WT_EINVAL, rows[i].says);
    }
    wt_rectools_options options = few_combinations();
    assert_call_refused(&place, wt__generate_rectools(engine, &judge.model, &options, &made, &place.err), WT_EINVAL,
                        "name a folder");
    assert_call_refused(&place, make_rectools_set(NULL, &judge, options, "bad", &made), WT_EINVAL,
                        "an engine is needed");
    wt_close(engine);
    snprintf(place.store, sizeof place.store, "%s/two.wt", place.folder);
    engine = open_test_engine(&place, "");
    add(&place, engine,
        "{\"name\": \"a\", \"description\": \"Adds two numbers\"}\n"
        "{\"name\": \"b\", \"description\": \"Tells the weather of a city\"}\n"
        "{\"name\": \"c\", \"description\": \"Adds two numbers\"}\n");
    assert_call_ok(&place, make_rectools_set(engine, &judge, options, "two", &made));
    /* The sets are {a}, {b}, {c}, {a, b} and {b, c}. a and c are near-duplicates, so no set has both. */
    assert_non_null(strstr(made->notice, "5 of 24 combinations could be drawn"));
    wt_generated_free(made);
    options.smallest = 3;
    assert_call_refused(&place, make_rectools_set(engine, &judge, options, "three", &made), WT_EEMPTY, "no set of 3");
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_requests_of_perfect_model_qualify, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_unqualified_requests_are_left_out, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_judge_that_always_says_exact_qualifies_no_request, set_up_place,
                                        tear_down_place),
        cmocka_unit_test_setup_teardown(test_duplicates_and_unusable_answers_are_refused, set_up_place,
                                        tear_down_place),
        cmocka_unit_test_setup_teardown(test_stopped_rectools_continues_to_same_bytes, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_verdicts_on_finished_data_set_are_the_same, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_small_catalogue_and_invalid_options_are_reported, set_up_place,
                                        tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
