/* Tests the generation of ToolSelect data with a fake model (writer.h) at several error rates. Invalid answers are
 * refused, and the report's counts add up. A stopped run continues to the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate/support.h"

static const double rates[] = {0, 0.1, 0.5, 0.8};

static void test_toolselect_data_is_valid_at_any_error_rate(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct fake_writer writer = make_writer(rates[i]);
        wt_generated *made = NULL;
        char folder[16];
        snprintf(folder, sizeof folder, "set-%zu", i);
        assert_call_ok(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), folder, &made));
        json_t *report = read_json_file(folder, "report.json");
        assert_counts_add_up(report);
        assert_true(json_is_true(json_object_get(report, "complete")));
        assert_int_equal(assert_sound_samples(folder), made->rows);
        assert_int_equal(wt__json_int(report, "rows", -1), made->rows);
        assert_int_equal(wt__json_int(report, "hard", -1), made->hard);
        assert_int_equal(made->questions, atomic_load(&writer.asked));
        assert_int_equal(made->prompt_tokens, 100 * made->questions);
        assert_true(made->rows > 24 || rates[i] > 0.5);
        json_decref(report);
        wt_generated_free(made);
    }
}

static void test_default_counts_are_near_those_of_paper(void **state)
{
    (void)state;
    struct fake_writer writer = make_writer(0);
    wt_toolselect_options options;
    wt_generated *made = NULL;
    wt_toolselect_options_init(&options);
    assert_call_ok(&place, make_toolselect_set(NULL, &writer, options, "default", &made));
    assert_int_equal(made->tools, 180);
    assert_int_equal(made->rows, 540);
    assert_int_equal(made->hard, 73);
    json_t *report = read_json_file("default", "report.json");
    const json_t *sizes = wt__json_object(report, "list_sizes");
    assert_int_equal(wt__json_int(sizes, "3", 0), 73);
    assert_int_equal(wt__json_int(sizes, "8", 0), 467);
    assert_int_equal(wt__json_int(wt__json_object(report, "paper"), "rows", 0), 555);
    json_decref(report);
    wt_generated_free(made);
}

static void test_unusable_model_ends_early(void **state)
{
    (void)state;
    struct fake_writer writer = make_writer(2);
    wt_generated *made = NULL;
    assert_call_refused(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), "nothing", &made),
                        WT_EEMPTY, "report.json for the reasons");
    assert_null(made);
    json_t *report = read_json_file("nothing", "report.json");
    assert_counts_add_up(report);
    assert_true(json_is_true(json_object_get(json_array_get(wt__json_array(report, "stages"), 0), "gave_up")));
    assert_true(atomic_load(&writer.asked) < 5 * (STAGE_FRUITLESS_MAX + STAGE_ROUND));
    json_decref(report);
}

static void test_stopped_toolselect_continues_to_same_bytes(void **state)
{
    static const unsigned long stops[] = {1, 15, 50, 120};
    static const int codes[] = {WT_ENETWORK, WT_ECANCELLED};
    (void)state;
    struct fake_writer whole = make_writer(0.3);
    wt_generated *made = NULL;
    assert_call_ok(&place, make_toolselect_set(NULL, &whole, small_toolselect_options(), "whole", &made));
    const uint64_t questions = made->questions;
    wt_generated_free(made);
    struct fake_writer writer = make_writer(0.3);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        writer.fail_after = stops[i];
        writer.failure = codes[i % 2];
        atomic_store(&writer.asked, 0);
        assert_call_refused(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), "stopped", &made),
                            codes[i % 2], "it fails after");
        json_t *report = read_json_file("stopped", "report.json");
        assert_true(json_is_false(json_object_get(report, "complete")));
        json_decref(report);
    }
    writer.fail_after = 0;
    assert_call_ok(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), "stopped", &made));
    assert_int_equal(made->questions, questions);
    assert_true(made->requests < questions);
    wt_generated_free(made);
    atomic_store(&writer.asked, 0);
    assert_call_ok(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), "stopped",
                                               &made)); /* again, without new questions */
    assert_int_equal(atomic_load(&writer.asked), 0);
    wt_generated_free(made);
    assert_same_file("whole", "stopped", "samples.jsonl");
    assert_same_file("whole", "stopped", "tools.jsonl");
    assert_same_file("whole", "stopped", "report.json");
}

static void test_seed_determines_bytes(void **state)
{
    static const struct {
        const char *folder;
        uint64_t seed;
    } runs[] = {{"one", 7}, {"again", 7}, {"other", 8}};
    size_t one, other;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct fake_writer writer = make_writer(0.2);
        wt_toolselect_options options = small_toolselect_options();
        wt_generated *made;
        options.seed = runs[i].seed;
        assert_call_ok(&place, make_toolselect_set(NULL, &writer, options, runs[i].folder, &made));
        wt_generated_free(made);
    }
    assert_same_file("one", "again", "samples.jsonl");
    assert_same_file("one", "again", "report.json");
    char *a = read_place_file("one", "samples.jsonl", &one), *b = read_place_file("other", "samples.jsonl", &other);
    assert_true(one != other || memcmp(a, b, one) != 0);
    free(a);
    free(b);
}

static void test_encoder_finds_near_duplicates(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, WT_BUILT_IN_MODEL);
    struct fake_writer writer = make_writer(0.3);
    wt_generated *made;
    wt_toolselect_options options = small_toolselect_options();
    options.duplicate = 0.8;
    assert_call_ok(&place, make_toolselect_set(engine, &writer, options, "near", &made));
    assert_int_equal(assert_sound_samples("near"), made->rows);
    json_t *report = read_json_file("near", "report.json");
    assert_counts_add_up(report);
    assert_string_equal(wt__json_str(report, "encoder").ptr, WT_BUILT_IN_MODEL);
    bool alike = false;
    for (size_t i = 0; i < json_array_size(wt__json_array(report, "stages")); i++)
        alike |= json_object_get(wt__json_object(json_array_get(wt__json_array(report, "stages"), i), "refused"),
                                 "alike") != NULL;
    assert_true(alike);
    json_decref(report);
    wt_generated_free(made);
    wt_close(engine);
}

static void test_tools_of_store_replace_generated_ones(void **state)
{
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    add(&place, engine, handmade);
    struct fake_writer writer = make_writer(0.2);
    wt_toolselect_options options = small_toolselect_options();
    wt_generated *made;
    options.from_catalogue = 1;
    options.hard = 1;
    assert_call_ok(&place, make_toolselect_set(engine, &writer, options, "own", &made));
    assert_int_equal(made->tools, HANDMADE);
    assert_int_equal(assert_sound_samples("own"), made->rows);
    json_t *report = read_json_file("own", "report.json");
    assert_counts_add_up(report);
    assert_int_equal(json_array_size(wt__json_array(report, "stages")), 2); /* only instructions and notes */
    json_decref(report);
    wt_generated_free(made);
    wt_close(engine);
}

static void test_invalid_toolselect_options_are_refused(void **state)
{
    (void)state;
    struct fake_writer writer = make_writer(0);
    wt_generated *made = NULL;
    wt_toolselect_options options = small_toolselect_options();
    assert_call_ok(&place, make_toolselect_set(NULL, &writer, options, "taken", &made));
    wt_generated_free(made);
    options.seed = 3;
    assert_call_refused(&place, make_toolselect_set(NULL, &writer, options, "taken", &made), WT_EINVAL,
                        "begun with other options");
    char path[256];
    int lock;
    snprintf(path, sizeof path, "%s/taken/.lock", place.folder);
    assert_call_ok(&place, wt__lock_file(&lock, path, 0, &place.err));
    assert_call_refused(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), "taken", &made),
                        WT_EBUSY, "another process is writing a data set");
    wt__unlock_file(lock);
    snprintf(path, sizeof path, "%s/foreign", place.folder);
    assert_call_ok(&place, wt__make_folders(path, &place.err));
    snprintf(path, sizeof path, "%s/foreign/samples.jsonl", place.folder);
    assert_call_ok(&place, wt__file_replace(path, "mine\n", 5, &place.err));
    assert_call_refused(&place, make_toolselect_set(NULL, &writer, options, "foreign", &made), WT_EINVAL,
                        "was not written by a run of this command");

    static const struct {
        size_t tools, related, instructions, choices;
        double hard, duplicate, temperature;
        const char *says;
    } rows[] = {
        {.tools = 7, .says = "tools must be 8 to 1000, not 7"},
        {.tools = 1001, .says = "tools must be 8 to 1000, not 1001"},
        {.related = 8, .says = "related tools must be 1 to 7, not 8"},
        {.instructions = 11, .says = "instructions of a tool must be 1 to 10, not 11"},
        {.choices = 1, .says = "tools of a list must be 2 to 32, not 1"},
        {.choices = 33, .says = "tools of a list must be 2 to 32, not 33"},
        {.hard = 1.5, .says = "the share of hard lists must be at most 1, not 1.5"},
        {.duplicate = 3, .says = "cosine of duplicates must be at most 2, not 3"},
        {.duplicate = -1, .says = "must not be negative"},
        {.temperature = 2.5, .says = "the temperature must be at most 2, not 2.5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_toolselect_options_init(&options);
        options.tools = rows[i].tools;
        options.related = rows[i].related;
        options.instructions = rows[i].instructions;
        options.choices = rows[i].choices;
        options.hard = rows[i].hard;
        options.duplicate = rows[i].duplicate;
        options.temperature = rows[i].temperature;
        assert_call_refused(&place, make_toolselect_set(NULL, &writer, options, "bad", &made), WT_EINVAL, rows[i].says);
    }
    wt_toolselect_options_init(&options);
    assert_call_refused(&place, wt__generate_toolselect(NULL, &writer.model, &options, &made, &place.err), WT_EINVAL,
                        "name a folder");
    options.out = "x";
    assert_call_refused(&place, wt_generate_toolselect(NULL, &options, &made, &place.err), WT_EINVAL,
                        "an engine is needed");
    options.size = 0;
    assert_call_refused(&place, wt_generate_toolselect(NULL, &options, &made, &place.err), WT_EINVAL, "_init");
    wt_generated_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_toolselect_data_is_valid_at_any_error_rate, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_default_counts_are_near_those_of_paper, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_unusable_model_ends_early, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_stopped_toolselect_continues_to_same_bytes, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_seed_determines_bytes, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_encoder_finds_near_duplicates, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_tools_of_store_replace_generated_ones, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_invalid_toolselect_options_are_refused, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
