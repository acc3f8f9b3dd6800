/* Tests wt_call with a scripted language model: how the tool and the arguments are chosen and verified, stored
 * contrastive questions, and unusable answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "engine/engine.h"
#include "engine/set_up.h"
#include "net/script_server.h"

#define TOOL(name, description)                                                                                        \
    "{\"provider\": \"sky\", \"name\": \"" name "\", \"description\": \"" description "\", \"parameters\": {"          \
    "\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}, \"required\": [\"city\"]}}\n"

static const char catalogue[] = TOOL("now", "Current weather in a city") TOOL("later", "Weather forecast for a city")
    TOOL("past", "Old weather of a city");
static const char request[] = "weather in the city of Oslo";

#define SAYS(content)                                                                                                  \
    {                                                                                                                  \
        .status = 200, .body = "{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"" content        \
                               "\"}, \"finish_reason\": \"stop\"}]}"                                                   \
    }
#define NUMBER(n) SAYS("{\\\"thought\\\": \\\"so\\\", \\\"tool\\\": " n "}")
#define ARGUMENTS(city) SAYS("{\\\"arguments\\\": {\\\"city\\\": " city "}}")

static struct script_server server;
static wt_engine *engine;

static int set_up_call_model(void **state)
{
    wt_open_options options;
    char url[64];
    set_up_place(state);
    assert_int_equal(script_server_start(&server), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", server.port);
    wt_open_options_init(&options);
    options.model = "";
    options.chat_model = "scripted";
    options.chat_url = url;
    assert_call_ok(&place, wt_open(&engine, place.store, &options, &place.err));
    add(&place, engine, catalogue);
    return 0;
}

static int tear_down_call_model(void **state)
{
    wt_close(engine);
    script_server_hang_up(&server);
    script_server_stop(&server);
    return tear_down_place(state);
}

static int record_phase(void *phases, const char *phase, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    assert_non_null(phase);
    *(size_t *)phases += strstr(phase, "language model") != NULL;
    return 0;
}

static size_t heard;

static wt_call_options make_model_options(const char *experiment)
{
    wt_call_options options;
    wt_call_options_init(&options);
    options.language_model = 1;
    options.experiment = experiment;
    options.recipe = "bm25";
    options.explain = 1;
    options.progress = record_phase;
    options.progress_context = &heard;
    return options;
}

static wt_called *call_with_script(const struct script_step *steps, size_t count, const char *experiment)
{
    wt_called *called = NULL;
    const wt_call_options options = make_model_options(experiment);
    script_server_play(&server, steps, count);
    assert_call_ok(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err));
    return called;
}

static bool is_verified(const wt_called *called, const char *what, const char *by)
{
    for (size_t i = 0; i < called->verified_count; i++)
        if (strcmp(called->verified[i]->what, what) == 0 && strcmp(called->verified[i]->by, by) == 0)
            return true;
    return false;
}

static void decision_corrects_pick_and_stores_question(void **state)
{
    (void)state;
    static const struct script_step steps[] = {NUMBER("1"), /* the first pick, then a pick among the two other tools */
                                               NUMBER("1"),
                                               SAYS("{\\\"question\\\": \\\"Now or later?\\\"}"),
                                               SAYS("{\\\"answer\\\": \\\"Later.\\\"}"),
                                               NUMBER("2"),
                                               ARGUMENTS("\\\"Oslo\\\"")};
    static const struct script_step without_question[] = {
        NUMBER("1"), NUMBER("1"), SAYS("{\\\"answer\\\": \\\"Later.\\\"}"), NUMBER("2"), ARGUMENTS("\\\"Oslo\\\"")};
    wt_called *first = call_with_script(steps, 6, "generation=sampled");
    assert_string_equal(first->arguments, "{\"city\":\"Oslo\"}");
    assert_int_equal(first->valid, 1);
    assert_null(first->question);
    assert_true(is_verified(first, "tool", "scripted"));
    assert_true(is_verified(first, "arguments", "scripted"));
    assert_true(is_verified(first, "schema", "validator"));
    assert_int_equal(first->questions, 7);
    assert_true(heard > 0);
    assert_non_null(strstr(first->steps, "\"end\":\"corrected\""));
    assert_non_null(strstr(first->steps, "\"question\":\"Now or later?\""));
    assert_non_null(strstr(first->steps, "\"generation\":{\"end\":\"complete\""));
    json_t *json = NULL;
    assert_int_equal(wt__json_parse(&json, first->steps, strlen(first->steps), NULL), 0);
    json_decref(json);

    wt_called *second = call_with_script(without_question, 5, "generation=sampled");
    assert_string_equal(second->tool->id, first->tool->id);
    assert_int_equal(second->questions, 6);
    assert_non_null(strstr(second->steps, "\"stored\":true"));
    wt_called_free(first);
    wt_called_free(second);
}

#define QUESTION SAYS("{\\\"question\\\": \\\"Now or later?\\\"}")

static wt_prepared prepare_with_script(const struct script_step *steps, size_t count, size_t questions)
{
    wt_prepare_options options;
    wt_prepared done;
    wt_prepare_options_init(&options);
    wt_prepared_init(&done);
    options.questions = questions;
    options.progress = record_phase;
    options.progress_context = &heard;
    script_server_play(&server, steps, count);
    assert_call_ok(&place, wt_prepare_calls(engine, &options, &done, &place.err));
    return done;
}

/* Without recorded use, the pairs are similar tools. A later call uses the stored question. */
static void questions_are_written_ahead(void **state)
{
    (void)state;
    static const struct script_step bad[] = {SAYS("no"), SAYS("no"), SAYS("no"), SAYS("no"), SAYS("no"), SAYS("no")};
    static const struct script_step good[] = {QUESTION, QUESTION, QUESTION};
    wt_prepared done = prepare_with_script(bad, 6, 0);
    assert_true(done.pairs > 1);
    assert_int_equal(done.unusable, done.pairs);
    size_t pairs = done.pairs;
    done = prepare_with_script(good, 3, 1);
    assert_int_equal(done.pairs, 1);
    assert_int_equal(done.written, 1);
    done = prepare_with_script(good, 3, 0);
    assert_int_equal(done.pairs, pairs);
    assert_int_equal(done.known, 1);
    assert_int_equal(done.written, pairs - 1);
    done = prepare_with_script(NULL, 0, 0);
    assert_int_equal(done.known, pairs);
    wt_prepare_options options;
    wt_prepare_options_init(&options);
    options.questions = WT_MAX_PREPARED + 1;
    assert_call_refused(&place, wt_prepare_calls(engine, &options, &done, &place.err), WT_EINVAL, "over the limit");
}

/* With recorded use, the pairs are the first two tools that recorded requests find. */
static void recorded_requests_give_pairs(void **state)
{
    (void)state;
    static const char *const tools[] = {"sky/now"};
    static const struct script_step steps[] = {QUESTION};
    wt_record_options record;
    wt_record_options_init(&record);
    record.no_vectors = 1;
    assert_call_ok(&place, wt_record_usage(engine, "current weather in a city", 25, tools, 1, &record, &place.err));
    wt_prepared done = prepare_with_script(steps, 1, 0);
    assert_int_equal(done.pairs, 1);
    assert_int_equal(done.written, 1);
}

/* While an import runs, the question is not stored, and the call does not wait. */
static void question_is_not_stored_during_import(void **state)
{
    (void)state;
    static const struct script_step steps[] = {NUMBER("1"),
                                               NUMBER("1"),
                                               SAYS("{\\\"question\\\": \\\"Now or later?\\\"}"),
                                               SAYS("{\\\"answer\\\": \\\"Later.\\\"}"),
                                               NUMBER("2"),
                                               ARGUMENTS("\\\"Oslo\\\"")};
    static const struct script_step none[] = {NUMBER("null")};
    wt_called_free(call_with_script(none, 1, "generation=alone")); /* builds the index */
    pthread_mutex_lock(&engine->store_lock);
    wt_called *called = call_with_script(steps, 6, "generation=sampled");
    pthread_mutex_unlock(&engine->store_lock);
    assert_non_null(strstr(called->steps, "\"end\":\"corrected\""));
    wt_called_free(called);
    called = call_with_script(steps, 6, "generation=sampled");
    assert_non_null(strstr(called->steps, "\"stored\":false"));
    wt_called_free(called);
}

static void model_can_choose_no_tool(void **state)
{
    (void)state;
    static const struct script_step steps[] = {NUMBER("null")};
    wt_called *called = call_with_script(steps, 1, "generation=alone");
    assert_null(called->tool);
    assert_null(called->call);
    assert_int_equal(called->valid, 0);
    assert_int_equal(called->questions, 1);
    assert_non_null(strstr(called->steps, "\"end\":\"none\""));
    wt_called_free(called);
}

/* One answer has the tool and its arguments. They are validated, but not repaired. */
static void single_step_gives_tool_and_arguments(void **state)
{
    (void)state;
    static const char *const tools[] = {"sky/past"}, *const arguments[] = {"{\"city\": \"Rome\"}"};
    static const struct script_step steps[] = {
        SAYS("{\\\"tool\\\": 2, \\\"arguments\\\": {\\\"city\\\": \\\"Oslo\\\"}}")};
    static const struct script_step wrong[] = {SAYS("{\\\"tool\\\": 2, \\\"arguments\\\": {\\\"city\\\": 5}}")};
    wt_record_options record;
    wt_record_options_init(&record);
    record.no_vectors = 1;
    record.arguments = arguments;
    assert_call_ok(&place, wt_record_usage(engine, "the weather that Rome had", 25, tools, 1, &record, &place.err));
    wt_called *called = call_with_script(steps, 1, "selection=single-step");
    assert_string_equal(called->arguments, "{\"city\":\"Oslo\"}");
    assert_int_equal(called->valid, 1);
    assert_int_equal(called->questions, 1);
    assert_non_null(strstr(called->steps, "call-single-step/1"));
    assert_non_null(strstr(called->steps, "the weather that Rome had -> {"));
    assert_non_null(strstr(called->steps, "Parameters: city (string; required)"));
    wt_called_free(called);
    called = call_with_script(wrong, 1, "selection=single-step");
    assert_int_equal(called->valid, 0);
    assert_int_equal(called->questions, 1);
    wt_called_free(called);
}

/* wt_call then uses the first tool of the search, and reads the arguments from the request without the model. A notice
 * reports this. */
static void unusable_answers_are_reported(void **state)
{
    (void)state;
    static const struct script_step steps[] = {SAYS("no idea")};
    wt_called *called = call_with_script(steps, 1, "generation=alone");
    assert_non_null(called->tool);
    assert_string_equal(called->arguments, "{\"city\":\"Oslo\"}");
    assert_false(is_verified(called, "tool", "scripted"));
    assert_false(is_verified(called, "arguments", "scripted"));
    assert_non_null(strstr(called->notice, "chose none of the listed tools"));
    wt_called_free(called);
}

/* The values of a single prediction are not verified. A required argument predicted as null is missing. */
static void single_prediction_is_unverified(void **state)
{
    (void)state;
    static const struct script_step given[] = {ARGUMENTS("\\\"Oslo\\\"")}, missing[] = {ARGUMENTS("null")};
    wt_call_options options = make_model_options("generation=alone");
    wt_called *called = NULL;
    options.tool = "sky/now";
    script_server_play(&server, given, 1);
    assert_call_ok(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err));
    assert_int_equal(called->valid, 1);
    assert_int_equal(called->questions, 1);
    assert_false(is_verified(called, "arguments", "scripted"));
    wt_called_free(called);
    script_server_play(&server, missing, 1);
    assert_call_ok(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err));
    assert_int_equal(called->valid, 0);
    assert_int_equal(called->missing_count, 1);
    assert_string_equal(called->missing[0], "city");
    assert_string_equal(called->question, "What should city be?");
    wt_called_free(called);
}

/* The model writes arguments for any request, so the intent is still checked. */
static void intent_is_checked_with_a_model(void **state)
{
    (void)state;
    static const char lamp[] =
        "{\"provider\": \"home\", \"name\": \"switch_lamp\", \"description\": \"Switches a lamp\", "
        "\"parameters\": {\"type\": \"object\", \"properties\": {\"state\": {\"type\": "
        "\"string\"}}, \"required\": [\"state\"]}}\n";
    static const struct script_step steps[] = {SAYS("{\\\"arguments\\\": {\\\"state\\\": \\\"off\\\"}}")};
    static const struct {
        const char *request, *doubt;
    } rows[] = {{"is the lamp switched off?", "question"},
                {"do not switch the lamp off", "denied"},
                {"I switched the lamp off", "unasked"},
                {"switch the bedroom lamp off", "unread"},
                {"could you switch the lamp off?", NULL}};
    wt_call_options options = make_model_options("generation=alone");
    options.tool = "home/switch_lamp";
    add(&place, engine, lamp);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_called *called = NULL;
        script_server_play(&server, steps, 1);
        assert_call_ok(&place,
                       wt_call(engine, rows[i].request, strlen(rows[i].request), &options, &called, &place.err));
        assert_string_equal(called->arguments, "{\"state\":\"off\"}");
        assert_int_equal(called->valid, 1);
        assert_string_equal(called->doubt ? called->doubt : "", rows[i].doubt ? rows[i].doubt : "");
        assert_int_equal(called->question != NULL, rows[i].doubt != NULL);
        wt_called_free(called);
    }
}

/* True if the request with this number, counted from 0, contains the text. */
static bool request_has_text(size_t request_number, const char *text)
{
    assert_true(request_number < server.request_count);
    return strstr(server.requests[request_number], text) != NULL;
}

/* For each tool, the prompt has the newest recorded request that used it without failure, or a dash without such a
 * request. */
static void one_shot_prompt_has_recorded_requests(void **state)
{
    (void)state;
    static const struct script_step steps[] = {NUMBER("1"), ARGUMENTS("\\\"Oslo\\\"")};
    static const char *const later[] = {"sky/later"};
    static const char past[] = "shall I take an umbrella to Rome";
    assert_call_ok(&place, wt_record_usage(engine, past, strlen(past), later, 1, NULL, &place.err));
    wt_call_options options = make_model_options("generation=alone; selection=one-shot");
    wt_called *called = NULL;
    script_server_play(&server, steps, 2);
    assert_call_ok(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err));
    assert_int_equal(called->valid, 1);
    assert_int_equal(called->questions, 2);
    assert_false(is_verified(called, "tool", "scripted"));
    assert_non_null(strstr(called->steps, "call-pick-one-shot/"));
    assert_true(request_has_text(0, past));
    assert_false(request_has_text(1, past));
    wt_called_free(called);
}

/* Each model writes one of the two predictions. They are equal, so the first model need not decide between them. */
static void second_model_writes_second_prediction(void **state)
{
    (void)state;
    static const struct script_step steps[] = {ARGUMENTS("\\\"Oslo\\\""), ARGUMENTS("\\\"Oslo\\\"")};
    wt_call_options options = make_model_options(NULL);
    options.tool = "sky/now";
    wt_called *called = NULL;
    for (int named = 0; named < 2; named++) {
        options.experiment = named ? "second-model=other; generation=second-model" : "second-model=other";
        script_server_play(&server, steps, 2);
        assert_call_ok(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err));
        assert_string_equal(called->arguments, "{\"city\":\"Oslo\"}");
        assert_true(is_verified(called, "arguments", "scripted"));
        assert_int_equal(server.request_count, 2);
        assert_int_equal(request_has_text(0, "\"model\":\"other\"") + request_has_text(1, "\"model\":\"other\""), 1);
        assert_int_equal(request_has_text(0, "\"model\":\"scripted\"") + request_has_text(1, "\"model\":\"scripted\""),
                         1);
        wt_called_free(called);
    }
}

/* With construction=written, the model may change the form of a predicted value. */
static void model_writes_the_call(void **state)
{
    (void)state;
    static const struct script_step steps[] = {ARGUMENTS("\\\"Oslo\\\""), ARGUMENTS("\\\"oslo\\\"")};
    wt_call_options options = make_model_options(NULL);
    options.tool = "sky/now";
    wt_called *called = NULL;
    for (int written = 0; written < 2; written++) {
        options.experiment =
            written ? "generation=alone; construction=written" : "generation=alone; construction=assembled";
        script_server_play(&server, steps, 2);
        assert_call_ok(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err));
        assert_string_equal(called->arguments, written ? "{\"city\":\"oslo\"}" : "{\"city\":\"Oslo\"}");
        assert_int_equal(called->questions, written ? 2 : 1);
        wt_called_free(called);
    }
    assert_true(request_has_text(1, "city: Oslo"));
}

static void invalid_model_options_are_reported(void **state)
{
    (void)state;
    wt_called *called = NULL;
    wt_call_options options = make_model_options("generation=twice");
    assert_call_refused(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err), WT_EINVAL,
                        "unknown generation \"twice\"");
    options = make_model_options("selection=best");
    assert_call_refused(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err), WT_EINVAL,
                        "unknown selection \"best\"");
    static const struct {
        const char *experiment, *wanted;
    } wrong[] = {
        {"generation=second-model", "requires a second chat model"},
        {"generation=sampled; second-model=other", "the generation \"sampled\" does not use a second chat model"},
        {"second-model=scripted", "the second chat model must differ from scripted"},
        {"construction=dictated", "unknown construction \"dictated\""},
        {"samples=33", "samples must be a number above 0 and at most 32, not \"33\""},
        {"samples=0", "samples must be a number above 0 and at most 32, not \"0\""},
        {"samples=2.5", "samples must be a whole number, not \"2.5\""},
        {"temperature=0", "temperature must be a number above 0 and at most 2, not \"0\""},
        {"temperature=warm", "temperature must be a number above 0 and at most 2, not \"warm\""},
        {"top-p=1.5", "top-p must be a number above 0 and at most 1, not \"1.5\""},
        {"without=dsa",
         "experiment: unknown setting \"without\"; use selection, generation, second-model, construction"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options = make_model_options(wrong[i].experiment);
        assert_call_refused(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err), WT_EINVAL,
                            wrong[i].wanted);
    }
    assert_int_equal(server.request_count, 0); /* no question was sent */
    options = make_model_options(NULL);
    static const struct script_step refusing[] = {{.status = 401, .body = "{}"}};
    script_server_play(&server, refusing, 1);
    assert_call_refused(&place, wt_call(engine, request, strlen(request), &options, &called, &place.err), WT_ENETWORK,
                        "401");
    assert_null(called);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(decision_corrects_pick_and_stores_question, set_up_call_model,
                                        tear_down_call_model),
        cmocka_unit_test_setup_teardown(question_is_not_stored_during_import, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(questions_are_written_ahead, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(recorded_requests_give_pairs, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(single_step_gives_tool_and_arguments, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(model_can_choose_no_tool, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(unusable_answers_are_reported, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(single_prediction_is_unverified, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(intent_is_checked_with_a_model, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(one_shot_prompt_has_recorded_requests, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(second_model_writes_second_prediction, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(model_writes_the_call, set_up_call_model, tear_down_call_model),
        cmocka_unit_test_setup_teardown(invalid_model_options_are_reported, set_up_call_model, tear_down_call_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
