/* Tests the rows for fine-tuning: their exact layout, samples from files, the split, and rows from recorded use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate/toolselect.h"
#include "generate/support.h"

static void write_samples_file(const char *folder, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place.folder, folder);
    assert_call_ok(&place, wt__make_folders(path, &place.err));
    snprintf(path, sizeof path, "%s/%s/samples.jsonl", place.folder, folder);
    assert_call_ok(&place, wt__file_replace(path, text, strlen(text), &place.err));
}

static char from[256], out[256];

static wt_fine_tuning_options fine_tuning_options_from(const char *source, const char *target)
{
    wt_fine_tuning_options options;
    wt_fine_tuning_options_init(&options);
    snprintf(from, sizeof from, "%s/%s", place.folder, source ? source : "");
    snprintf(out, sizeof out, "%s/%s", place.folder, target);
    options.from = source ? from : NULL;
    options.out = out;
    return options;
}

/* Parses line `index` of a file; NULL if the file is shorter. */
static json_t *read_json_line(const char *folder, const char *name, size_t index)
{
    size_t len;
    char *bytes = read_place_file(folder, name, &len), *at = bytes;
    json_t *value = NULL;
    assert_non_null(bytes);
    for (size_t i = 0; i < index && at; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (at && *at)
        assert_call_ok(&place, wt__json_parse(&value, at, strcspn(at, "\n"), &place.err));
    free(bytes);
    return value;
}

static struct str get_message(const json_t *row, size_t index)
{
    return wt__json_str(json_array_get(wt__json_array(row, "messages"), index), "content");
}

#define ONE_SAMPLE                                                                                                     \
    "{\"query\": \"When is\\n###\\nlow water?\", \"choices\": [{\"name\": \"Tide\", \"description\": "                 \
    "\"High and low.\"}, {\"name\": \"Moon \\\"X\\\"\", \"description\": \"Phases\"}], \"thought\": "                  \
    "\"It is \\u00e9asy. Not the tide. So the moon.\", \"tool\": \"Moon \\\"X\\\"\"}\n"

/* Returns the row of ONE_SAMPLE with these options, and sets *header to the file's header. */
static json_t *write_one_row(wt_fine_tuning_options options, json_t **header)
{
    wt_generated *made;
    write_samples_file("one", ONE_SAMPLE);
    options.dev = -1;
    assert_call_ok(&place, wt_generate_fine_tuning(NULL, &options, &made, &place.err));
    assert_int_equal(made->train, 1);
    assert_int_equal(made->dev, 0);
    wt_generated_free(made);
    json_t *first = read_json_line("tuned", "train.jsonl", 0);
    *header = json_incref(wt__json_object(first, "header"));
    json_decref(first);
    return read_json_line("tuned", "train.jsonl", 1);
}

/* The user's message is the question of wt_call, and the answer suits its schema. */
static void test_row_has_layout_of_call(void **state)
{
    (void)state;
    static const struct {
        size_t note_words;
        int right_first;
        const char *answer;
    } cases[] = {
        {0, 0, "{\"thought\": \"It is \u00e9asy. Not the tide. So the moon.\", \"tool\": 2}"},
        {0, 1, "{\"thought\": \"It is \u00e9asy. Not the tide. So the moon.\", \"tool\": 1}"},
        {1, 0, "{\"thought\": \"It is \u00e9asy.\", \"tool\": 2}"},
        {5, 0, "{\"thought\": \"It is \u00e9asy.\", \"tool\": 2}"},
        {6, 0, "{\"thought\": \"It is \u00e9asy. Not the tide.\", \"tool\": 2}"},
        {10, 0, "{\"thought\": \"It is \u00e9asy. Not the tide. So the moon.\", \"tool\": 2}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_fine_tuning_options options = fine_tuning_options_from("one", "tuned");
        options.note_words = cases[i].note_words;
        options.right_first = cases[i].right_first;
        json_t *header, *row = write_one_row(options, &header);
        assert_string_equal(wt__json_str(header, "layout").ptr, "call");
        assert_int_equal(json_array_size(wt__json_array(row, "messages")), 2);
        const char *list = cases[i].right_first ? "<<<tools\n1. Moon \"X\": Phases\n2. Tide: High and low.\n>>>tools\n"
                                                : "<<<tools\n1. Tide: High and low.\n2. Moon \"X\": Phases\n>>>tools\n";
        assert_non_null(strstr(get_message(row, 0).ptr, list));
        assert_non_null(strstr(get_message(row, 0).ptr, "<<<request\nWhen is\n###\nlow water?\n>>>request\n"));
        assert_string_equal(get_message(row, 1).ptr, cases[i].answer);
        const json_t *loss = wt__json_object(row, "loss");
        assert_int_equal(json_integer_value(json_array_get(wt__json_array(loss, "messages"), 0)), 1);
        assert_int_equal(wt__json_int(loss, "masked_characters", 0), get_message(row, 0).len);
        json_decref(header);
        json_decref(row);
    }
    wt_fine_tuning_options options = fine_tuning_options_from("one", "tuned");
    wt_generated *none;
    options.layout = "prose";
    assert_call_refused(&place, wt_generate_fine_tuning(NULL, &options, &none, &place.err), WT_EINVAL,
                        "unknown layout \"prose\"; use call or toolverifier");
}

static void test_row_has_layout_of_toolverifier(void **state)
{
    (void)state;
    wt_fine_tuning_options options = fine_tuning_options_from("one", "tuned");
    options.layout = "toolverifier";
    json_t *header, *row = write_one_row(options, &header);
    const json_t *settings = wt__json_object(header, "settings");
    assert_string_equal(wt__json_str(header, "layout").ptr, "toolverifier");
    assert_int_equal(wt__json_int(settings, "epochs", 0), 3);
    assert_int_equal(wt__json_int(settings, "batch", 0), 8);
    assert_true(wt__json_real(settings, "learning_rate", 0) == 1e-5);
    assert_true(wt__json_real(settings, "weight_decay", 0) == 0.1);
    assert_string_equal(get_message(row, 1).ptr,
                        "User: When is ### low water?\n###\nTool Choices:\nTide = High and low.\n"
                        "Moon \"X\" = Phases\n###\n");
    assert_string_equal(get_message(row, 2).ptr, "Thought: It is \u00e9asy. Not the tide. So the moon.\n"
                                                 "Act: CALLTOOL[\"Moon \\\"X\\\"\"]");
    const json_t *loss = wt__json_object(row, "loss");
    assert_int_equal(json_integer_value(json_array_get(wt__json_array(loss, "messages"), 0)), 2);
    assert_int_equal(wt__json_int(loss, "learned_characters", 0), get_message(row, 2).len - 1); /* é is two bytes */
    assert_int_equal(wt__json_int(loss, "masked_characters", 0), get_message(row, 0).len + get_message(row, 1).len);
    assert_int_equal(wt__json_int(header, "longest_row_characters", 0),
                     wt__json_int(loss, "learned_characters", 0) + wt__json_int(loss, "masked_characters", 0));
    json_decref(header);
    json_decref(row);
}

#define CHOICES "\"choices\": [{\"name\": \"a\", \"description\": \"x\"}, {\"name\": \"b\", \"description\": \"\"}]"

/* text: a samples.jsonl that another program may have written. says: part of the error message or of the notice. */
static const struct {
    const char *name, *text;
    int code; /* 0 if the file gives rows */
    size_t rows, left_out;
    const char *says;
} files[] = {
    {"a valid row", "{\"query\": \"q\", " CHOICES ", \"thought\": \"t\", \"tool\": \"b\"}\n\n", 0, 1, 0, NULL},
    {"a row without a thought", "{\"query\": \"q\", " CHOICES ", \"tool\": \"b\"}", 0, 1, 0, NULL},
    {"a right tool that is not among the choices",
     "{\"query\": \"q\", " CHOICES ", \"tool\": \"c\"}\n{\"query\": \"q\", " CHOICES ", \"tool\": \"a\"}", 0, 1, 1,
     "1 rows were left out"},
    {"two choices with one name",
     "{\"query\": \"q\", \"choices\": [{\"name\": \"a\"}, {\"name\": \"a\"}], \"tool\": \"a\"}", WT_EEMPTY, 0, 0,
     "no valid row"},
    {"a row with one choice", "{\"query\": \"q\", \"choices\": [{\"name\": \"a\"}], \"tool\": \"a\"}", WT_EEMPTY, 0, 0,
     "no valid row"},
    {"a row without a query", "{" CHOICES ", \"tool\": \"a\"}", WT_EEMPTY, 0, 0, "no valid row"},
    {"a line that is not JSON", "{\"query\": \"q\", " CHOICES ", \"tool\": \"b\"}\nnonsense\n", WT_EFORMAT, 0, 0,
     "samples.jsonl:2: "},
    {"a line that is an array", "[1]\n", WT_EFORMAT, 0, 0, "samples.jsonl:1: not a JSON object"},
    {"an empty file", "", WT_EEMPTY, 0, 0, "no valid row"},
};

static void test_samples_of_other_programs_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        wt_generated *made = NULL;
        write_samples_file("theirs", files[i].text);
        wt_fine_tuning_options options = fine_tuning_options_from("theirs", "tuned");
        int rc = wt_generate_fine_tuning(NULL, &options, &made, &place.err);
        if (files[i].code < 0) {
            assert_call_refused(&place, rc, files[i].code, files[i].says);
            continue;
        }
        assert_call_ok(&place, rc);
        assert_int_equal(made->rows, files[i].rows);
        assert_int_equal(made->train + made->dev, files[i].rows);
        assert_int_equal(made->notice != NULL, files[i].left_out > 0);
        if (files[i].says)
            assert_non_null(strstr(made->notice, files[i].says));
        wt_generated_free(made);
    }
}

static void test_request_is_in_one_split_only(void **state)
{
    (void)state;
    struct fake_writer writer = make_writer(0);
    wt_generated *made;
    assert_call_ok(&place, make_toolselect_set(NULL, &writer, small_toolselect_options(), "made", &made));
    const size_t rows = made->rows;
    wt_generated_free(made);
    wt_fine_tuning_options options = fine_tuning_options_from("made", "made"); /* into the same folder */
    options.dev = 0.3;
    assert_call_ok(&place, wt_generate_fine_tuning(NULL, &options, &made, &place.err));
    assert_int_equal(made->train + made->dev, rows);
    assert_in_range(made->dev, rows / 6, rows / 2);
    size_t len;
    char *dev = read_place_file("made", "dev.jsonl", &len);
    for (size_t i = 1; i <= made->train; i++) {
        json_t *row = read_json_line("made", "train.jsonl", i);
        char *asked = json_dumps(json_array_get(wt__json_array(row, "messages"), 1), JSON_COMPACT | JSON_ENSURE_ASCII);
        assert_null(strstr(dev, asked));
        free(asked);
        json_decref(row);
    }
    free(dev);
    wt_generated_free(made);
}

/* ---------------------------------------------------------------- recorded use */

static void record_request(wt_engine *engine, const char *request, const char *const *tools, size_t count,
                           const char *outcome)
{
    wt_record_options options;
    wt_record_options_init(&options);
    options.outcome = outcome;
    assert_call_ok(&place, wt_record_usage(engine, request, strlen(request), tools, count, &options, &place.err));
}

static void test_recorded_use_gives_rows(void **state)
{
    static const char *const trip[] = {"travel/bookHotel", "travel/search_flights"}, *const song[] = {"music/search"},
                             *const storm[] = {"weather/storm_alerts"};
    (void)state;
    wt_engine *engine = open_test_engine(&place, "");
    wt_generated *made;
    wt_fine_tuning_options options = fine_tuning_options_from(NULL, "used");
    options.layout = "toolverifier";
    options.dev = -1;
    options.hard = 1;
    options.related = 3;
    assert_call_refused(&place, wt_generate_fine_tuning(engine, &options, &made, &place.err), WT_EEMPTY, "no tools");
    add(&place, engine, handmade);
    assert_call_refused(&place, wt_generate_fine_tuning(engine, &options, &made, &place.err), WT_EEMPTY,
                        "no recorded use");
    record_request(engine, "find a hotel in a city and flights", trip, 2, "ok");
    record_request(engine, "Find a hotel in a city, and flights!", song, 1,
                   ""); /* the same words as the request above */
    record_request(engine, "find a song", song, 1, "ok");
    record_request(engine, "will there be a storm", storm, 1, "failed");
    assert_call_ok(&place, wt_generate_fine_tuning(engine, &options, &made, &place.err));
    assert_int_equal(made->rows, 4);
    assert_true(made->hard > 0);
    for (size_t i = 1; i <= made->rows; i++) {
        json_t *row = read_json_line("used", "train.jsonl", i);
        const struct str user = get_message(row, 1), act = get_message(row, 2);
        assert_true(wt__str_starts(act, STR("Act: CALLTOOL[\"")));
        assert_null(strstr(act.ptr, "storm_alerts")); /* the usage failed */
        if (strstr(user.ptr, "hotel in a city"))      /* a list has only one of the right tools */
            assert_int_equal((strstr(user.ptr, "travel__bookHotel = ") != NULL) +
                                 (strstr(user.ptr, "travel__search_flights = ") != NULL) +
                                 (strstr(user.ptr, "music__search = ") != NULL),
                             1);
        json_decref(row);
    }
    wt_generated_free(made);

    struct fake_writer writer = make_writer(0.2);
    options = fine_tuning_options_from(NULL, "noted");
    options.notes = 1;
    options.dev = -1;
    assert_call_ok(&place, wt__generate_fine_tuning(engine, &writer.model, &options, &made, &place.err));
    assert_int_equal(made->rows, 4);
    assert_true(made->questions >= 4);
    json_t *row = read_json_line("noted", "train.jsonl", 1);
    assert_true(wt__str_starts(get_message(row, 1), STR("{\"thought\": \"")));
    assert_null(strstr(get_message(row, 1).ptr, "\"thought\": \"\""));
    json_decref(row);
    wt_generated_free(made);
    wt_close(engine);
}

static void test_invalid_fine_tuning_options_are_refused(void **state)
{
    static const struct {
        size_t related, choices, limit;
        double dev, hard, temperature;
        int notes;
        const char *says;
    } rows[] = {
        {.related = 8, .says = "related tools must be 1 to 7, not 8"},
        {.choices = 1, .says = "tools of a list must be 2 to 32, not 1"},
        {.limit = 100001, .says = "rows must be 1 to 100000, not 100001"},
        {.dev = 0.95, .says = "the share of dev must be at most 0.9, not 0.95"},
        {.hard = 2, .says = "the share of hard lists must be at most 1, not 2"},
        {.temperature = 3, .says = "the temperature must be at most 2, not 3"},
        {.notes = 1, .says = "the samples of a folder have their own"},
    };
    wt_generated *made = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_fine_tuning_options options = fine_tuning_options_from("one", "tuned");
        options.related = rows[i].related;
        options.choices = rows[i].choices;
        options.limit = rows[i].limit;
        options.dev = rows[i].dev;
        options.hard = rows[i].hard;
        options.temperature = rows[i].temperature;
        options.notes = rows[i].notes;
        assert_call_refused(&place, wt_generate_fine_tuning(NULL, &options, &made, &place.err), WT_EINVAL,
                            rows[i].says);
    }
    wt_fine_tuning_options options = fine_tuning_options_from("nowhere", "tuned");
    assert_call_refused(&place, wt_generate_fine_tuning(NULL, &options, &made, &place.err), WT_ENOTFOUND,
                        "samples.jsonl");
    options.from = NULL;
    assert_call_refused(&place, wt_generate_fine_tuning(NULL, &options, &made, &place.err), WT_EINVAL, "open a store");
    options.out = NULL;
    assert_call_refused(&place, wt_generate_fine_tuning(NULL, &options, &made, &place.err), WT_EINVAL, "name a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_row_has_layout_of_call, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_row_has_layout_of_toolverifier, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_samples_of_other_programs_are_read, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_request_is_in_one_split_only, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_recorded_use_gives_rows, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_invalid_fine_tuning_options_are_refused, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
