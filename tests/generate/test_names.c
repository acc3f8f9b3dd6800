/* Tests the renaming of a store's tools. A fake model suggests the new names. The tests cover useless answers, names
 * that other tools have, a stopped run, and the import of the corpus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generate/requests.h"
#include "generate/support.h"

/* A fake model that suggests names. */
struct fake_namer {
    struct chat_model model;
    const char *always;       /* answer to every question, as JSON; NULL for a name derived from the tool */
    const char *else_said;    /* answer if the prompt shows a taken name; if NULL, `always` is used there, too */
    unsigned long fail_after; /* questions before it fails; 0 for never */
    atomic_ulong asked;
};

static int namer_ask(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                     struct chat_answer *out, wt_error *err)
{
    struct fake_namer *namer = (struct fake_namer *)model;
    struct buffer text = {0};
    struct str items[8], tool = writer_slot(question->text, "tool");
    const bool shown = writer_items(question->text, "taken", items, 8) > 0;
    unsigned long asked = atomic_fetch_add(&namer->asked, 1);
    if (namer->fail_after && asked >= namer->fail_after)
        return wt__fail(err, WT_ENETWORK, "it fails after %lu questions", namer->fail_after);
    if (shown && namer->else_said)
        wt__buffer_text(&text, namer->else_said);
    else if (namer->always)
        wt__buffer_text(&text, namer->always);
    else
        wt__buffer_printf(&text, "{\"name\": \"New%.*s\"}", (int)strcspn(tool.ptr, ":"), tool.ptr);
    *out = (struct chat_answer){.prompt_tokens = 100, .completion_tokens = 20, .attempts = 1, .ms = 1};
    out->text = (struct str){wt__arena_copy(arena, wt__buffer_view(&text)), text.len};
    wt__buffer_dispose(&text);
    return wt__answer_parse(&out->json, out->text, question->schema, err);
}

static struct fake_namer make_namer(const char *always)
{
    return (struct fake_namer){.model = {"namer", namer_ask}, .always = always};
}

static int rename_store_tools(wt_engine *engine, struct fake_namer *namer, const char *folder, wt_generated **out)
{
    char path[256];
    wt_names_options options;
    wt_names_options_init(&options);
    snprintf(path, sizeof path, "%s/%s", place.folder, folder);
    options.out = path;
    return wt__generate_names(engine, &namer->model, &options, out, &place.err);
}

static wt_engine *open_store_with(const char *lines)
{
    wt_engine *engine = open_test_engine(&place, "");
    add(&place, engine, lines);
    return engine;
}

static wt_engine *open_numbered_tools(int count)
{
    struct buffer lines = {0};
    for (int i = 0; i < count; i++)
        wt__buffer_printf(&lines, "{\"name\": \"tool_%d\", \"description\": \"Does the thing %d.\"}\n", i, i);
    wt_engine *engine = open_store_with(lines.ptr);
    wt__buffer_dispose(&lines);
    return engine;
}

static const char two[] =
    "{\"name\": \"add\", \"provider\": \"np.lib\", \"description\": \"Adds.\", \"parameters\": {\"type\": \"object\", "
    "\"properties\": {\"x\": {\"type\": \"number\"}}}}\n"
    "{\"name\": \"read_File\", \"description\": \"Reads a file, of which there is \\\"one\\\".\"}\n";

static const json_t *get_names_stage(const json_t *report)
{
    const json_t *stage = json_array_get(wt__json_array(report, "stages"), 0);
    assert_true(wt__str_equal(wt__json_str(stage, "stage"), STR("names")));
    assert_int_equal(wt__json_int(stage, "offered", -1),
                     wt__json_int(stage, "made", -1) + sum_json_members(wt__json_object(stage, "refused")));
    return stage;
}

/* ---------------------------------------------------------------- answers */

static const struct {
    const char *name, *said;
    /* Outcome of the answer:
     *   NULL        the first tool gets the name
     *   "unusable"  the answer is not JSON that matches the schema
     *   other       the name is refused; key of its counter in the report's "refused" */
    const char *fate;
} answers[] = {
    {"a name of letters", "{\"name\": \"SumOfNumbers\"}", NULL},
    {"a name with an underscore and a digit", "{\"name\": \"sum_of_2\"}", NULL},
    {"three letters", "{\"name\": \"Sum\"}", NULL},
    {"64 letters", "{\"name\": \"SumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumS\"}", NULL},
    {"65 letters", "{\"name\": \"SumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSumSu\"}", "unusable"},
    {"two letters", "{\"name\": \"Su\"}", "length"},
    {"an empty name", "{\"name\": \"\"}", "no_word"},
    {"a name with blanks", "{\"name\": \"Sum Of Numbers\"}", "marks"},
    {"a digit in front", "{\"name\": \"2Sums\"}", "marks"},
    {"an underscore in front", "{\"name\": \"_Sums\"}", "marks"},
    {"letters beyond ASCII", "{\"name\": \"S\\u00fcmme\"}", "marks"},
    {"a Cyrillic letter that looks Latin", "{\"name\": \"Sum\\u041ef\"}", "marks"},
    {"a right-to-left override", "{\"name\": \"Sum\\u202efO\"}", "marks"},
    {"a line end", "{\"name\": \"Sum\\nOf\"}", "marks"},
    {"a NUL", "{\"name\": \"Sum\\u0000Of\"}", "unusable"},
    {"a path", "{\"name\": \"../../Sum\"}", "marks"},
    {"markup", "{\"name\": \"<b>Sum</b>\"}", "marks"},
    {"the layout of training rows", "{\"name\": \"### Act: CALLTOOL[x]\"}", "marks"},
    {"the placeholder of the prompt's answer format", "{\"name\": \"...\"}", "marks"},
    {"the old name of a tool", "{\"name\": \"add\"}", "name_taken"},
    {"an old name without its underscore", "{\"name\": \"ReadFile\"}", "name_taken"},
    {"an answer without a name", "{\"title\": \"Sum\"}", "unusable"},
    {"a name that is a number", "{\"name\": 7}", "unusable"},
    {"an answer with a second member", "{\"name\": \"Sum\", \"x\": 1}", "unusable"},
    {"prose", "I would call it Sum.", "unusable"},
    {"truncated JSON", "{\"name\": \"Sum", "unusable"},
};

static void test_useless_names_are_refused(void **state)
{
    (void)state;
    wt_engine *engine = open_store_with(two);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct fake_namer namer = make_namer(answers[i].said);
        wt_generated *made = NULL;
        char folder[16];
        size_t len;
        snprintf(folder, sizeof folder, "n%zu", i);
        int rc = rename_store_tools(engine, &namer, folder, &made);
        json_t *report = read_json_file(folder, "report.json");
        const json_t *stage = get_names_stage(report);
        char *corpus = read_place_file(folder, "corpus.jsonl", &len);
        const int64_t unusable = wt__json_int(stage, "unusable", -1);
        const bool taken = !answers[i].fate;
        if (rc != (taken ? 0 : WT_EEMPTY) || wt__json_int(report, "renamed", -1) != taken)
            fail_msg("%s: %d, %s", answers[i].name, rc, place.err.message);
        assert_int_equal(wt__json_int(report, "kept", -1), 2 - taken);
        if (answers[i].fate && strcmp(answers[i].fate, "unusable") == 0)
            assert_int_equal(unusable, 2 * STAGE_ATTEMPTS);
        else if (answers[i].fate)
            assert_int_equal(wt__json_int(wt__json_object(stage, "refused"), answers[i].fate, -1), 2 * STAGE_ATTEMPTS);
        else /* the second tool cannot have the same name */
            assert_int_equal(wt__json_int(wt__json_object(stage, "refused"), "name_taken", -1), STAGE_ATTEMPTS);
        assert_true(taken == (corpus != NULL));
        assert_true(taken ? strstr(made->notice, "1 of 2 tools") != NULL : strstr(place.err.message, "namer") != NULL);
        free(corpus);
        json_decref(report);
        wt_generated_free(made);
    }
    wt_close(engine);
}

/* ---------------------------------------------------------------- whole runs */

static const json_t *find_tool_row(const wt_tools *tools, const char *name, json_t **out)
{
    for (size_t i = 0; i < tools->len; i++)
        if (strcmp(tools->items[i]->name, name) == 0) {
            assert_call_ok(&place,
                           wt__json_parse(out, tools->items[i]->definition, tools->items[i]->definition_len, NULL));
            return wt__json_object(*out, "metadata");
        }
    fail_msg("no tool %s", name);
    return NULL;
}

/* The model suggests the same name for both tools. The question for the second tool is repeated and shows the taken
 * name. The corpus has the new and the old names. */
static void test_renamed_corpus_can_be_imported(void **state)
{
    (void)state;
    wt_engine *engine = open_store_with(two);
    struct fake_namer namer = make_namer("{\"name\": \"DoTheThing\"}");
    wt_generated *made = NULL;
    wt_tools *tools = NULL;
    json_t *row;
    size_t len;
    namer.else_said = "{\"name\": \"DoTheOther\"}";
    assert_call_ok(&place, rename_store_tools(engine, &namer, "renamed", &made));
    assert_int_equal(made->rows, 2);
    assert_int_equal(made->tools, 2);
    assert_int_equal(made->questions, 3);
    assert_null(made->notice);
    wt_generated_free(made);
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    assert_string_equal(tools->items[0]->name, "add"); /* the store is unchanged */
    wt_tools_free(tools);
    wt_close(engine);

    char *corpus = read_place_file("renamed", "corpus.jsonl", &len);
    remove_test_place(&place);
    make_test_place(&place);
    wt_add_options options;
    wt_add_options_init(&options);
    options.format = "beir";
    engine = open_test_engine(&place, "");
    wt_add_report_free(add_with(&place, engine, corpus, &options));
    free(corpus);
    assert_call_ok(&place, wt_list(engine, NULL, &tools, &place.err));
    assert_int_equal(tools->len, 2);
    const json_t *metadata = find_tool_row(tools, "DoTheThing", &row);
    assert_true(wt__str_equal(wt__json_str(metadata, "original"), STR("add")));
    assert_true(wt__str_equal(wt__json_str(metadata, "provider"), STR("np.lib")));
    assert_true(wt__str_equal(wt__json_str(row, "_id"), STR("np.lib/add")));
    assert_non_null(wt__json_object(wt__json_object(metadata, "parameters"), "properties"));
    json_decref(row);
    metadata = find_tool_row(tools, "DoTheOther", &row);
    assert_true(wt__str_equal(wt__json_str(metadata, "original"), STR("read_File")));
    assert_true(wt__str_equal(wt__json_str(row, "text"), STR("Reads a file, of which there is \"one\".")));
    json_decref(row);
    wt_tools_free(tools);
    wt_close(engine);
}

static void test_stopped_renaming_continues_to_same_bytes(void **state)
{
    (void)state;
    wt_engine *engine = open_numbered_tools(150);
    struct fake_namer whole = make_namer(NULL), stopped = make_namer(NULL);
    wt_generated *made = NULL;
    assert_call_ok(&place, rename_store_tools(engine, &whole, "whole", &made));
    assert_int_equal(made->rows, 150);
    wt_generated_free(made);
    stopped.fail_after = 70;
    assert_int_equal(rename_store_tools(engine, &stopped, "stopped", &made), WT_ENETWORK);
    assert_null(made);
    json_t *report = read_json_file("stopped", "report.json");
    assert_true(json_is_false(json_object_get(report, "complete")));
    json_decref(report);
    stopped = make_namer(NULL);
    assert_call_ok(&place, rename_store_tools(engine, &stopped, "stopped", &made));
    assert_true(atomic_load(&stopped.asked) <= 150 - 64);
    assert_int_equal(made->questions, 150);
    assert_same_file("whole", "stopped", "corpus.jsonl");
    assert_same_file("whole", "stopped", "report.json");
    wt_generated_free(made);
    wt_close(engine);
}

/* After 40 consecutive unusable answers (STAGE_FRUITLESS_MAX), the run does not ask about the remaining tools. */
static void test_renaming_ends_early_with_unusable_model(void **state)
{
    (void)state;
    wt_engine *engine = open_numbered_tools(300);
    struct fake_namer namer = make_namer("Name it as you like.");
    wt_generated *made = NULL;
    assert_int_equal(rename_store_tools(engine, &namer, "none", &made), WT_EEMPTY);
    assert_true(atomic_load(&namer.asked) < 300);
    json_t *report = read_json_file("none", "report.json");
    assert_true(json_is_true(json_object_get(get_names_stage(report), "gave_up")));
    assert_int_equal(wt__json_int(report, "kept", -1), 300);
    json_decref(report);
    wt_close(engine);
}

static void test_invalid_names_options_are_refused(void **state)
{
    (void)state;
    struct fake_namer namer = make_namer(NULL);
    wt_generated *made = NULL;
    wt_names_options options;
    wt_names_options_init(&options);
    wt_engine *engine = open_test_engine(&place, "");
    assert_int_equal(rename_store_tools(engine, &namer, "empty", &made), WT_EEMPTY);
    assert_non_null(strstr(place.err.message, "no tools"));
    assert_int_equal(wt_generate_names(engine, &options, &made, &place.err), WT_EINVAL);
    assert_non_null(strstr(place.err.message, "a folder"));
    options.out = "x";
    assert_int_equal(wt_generate_names(NULL, &options, &made, &place.err), WT_EINVAL);
    assert_non_null(strstr(place.err.message, "an engine"));
    for (int i = 0; i < 2; i++) {
        options.temperature = i ? -1 : 3;
        assert_int_equal(wt_generate_names(engine, &options, &made, &place.err), WT_EINVAL);
        assert_non_null(strstr(place.err.message, "temperature"));
    }
    assert_int_equal(atomic_load(&namer.asked), 0);
    wt_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_useless_names_are_refused, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_renamed_corpus_can_be_imported, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_stopped_renaming_continues_to_same_bytes, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_renaming_ends_early_with_unusable_model, set_up_place, tear_down_place),
        cmocka_unit_test_setup_teardown(test_invalid_names_options_are_refused, set_up_place, tear_down_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
