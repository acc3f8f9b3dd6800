/* Decisions: the answers in both formats, independence of the order of options, limits and invalid bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/memory.h"
#include "wire/verbs.h"

static wt_engine *engine;

static int open_decision_engine(void **state)
{
    wt_open_options options;
    (void)state;
    wt_open_options_init(&options);
    options.model = WT_BUILT_IN_MODEL;
    return wt_open(&engine, ":memory:", &options, NULL);
}

static int close_decision_engine(void **state)
{
    (void)state;
    wt_close(engine);
    return 0;
}

typedef int (*decision_verb)(struct json_run *run, struct str json, wt_error *err);

/* Returns the answer, or NULL with *err. */
static json_t *decide_json(decision_verb verb, const char *body, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    struct json_run run = {.engine = engine, .out = &out};
    json_t *answer = NULL;
    *err = (wt_error){0};
    int rc = verb(&run, wt__str(body), err);
    assert_int_equal(rc, err->code);
    if (rc == 0 && wt__json_parse(&answer, out.ptr, out.len, NULL) < 0)
        fail_msg("not JSON: %s", out.ptr);
    return answer;
}

#define TOOLS                                                                                                          \
    "{\"value\":\"get_weather\",\"description\":\"Forecast of the weather in a city\"},"                               \
    "{\"value\":\"send_email\",\"description\":\"Send an email to a person\"},{\"value\":\"play_music\"}"

static void open_ai_format_has_an_answer_for_each_question(void **state)
{
    wt_error err;
    (void)state;
    json_t *root =
        decide_json(wt__run_decide,
                    "{\"input\":\"will it rain in Oslo?\",\"model\":\"default\",\"questions\":["
                    "{\"type\":\"choice\",\"name\":\"tool\",\"instructions\":\"Which tool?\",\"choices\":[" TOOLS
                    "]},{\"type\":\"predicate\",\"instructions\":\"Forecast of the weather\"},"
                    "{\"type\":\"score\",\"instructions\":[{\"type\":\"input_text\",\"text\":\"How wet?\"}],"
                    "\"levels\":[{\"label\":\"dry\"},{\"label\":\"rain\"}]},"
                    "{\"type\":\"choice\",\"instructions\":\"?!\",\"choices\":[{\"value\":true},{\"value\":"
                    "\"true\"},{\"value\":false}]}]}",
                    &err);
    const json_t *answers = json_object_get(root, "answers"), *choice = json_array_get(answers, 0);
    assert_int_equal(json_array_size(answers), 4);
    assert_string_equal(json_string_value(json_object_get(choice, "type")), "choice");
    assert_string_equal(json_string_value(json_object_get(choice, "name")), "tool");
    assert_string_equal(json_string_value(json_object_get(choice, "choice")), "get_weather");
    double sum = 0, none = json_number_value(json_object_get(choice, "none_probability"));
    const json_t *shares = json_object_get(choice, "probabilities");
    for (size_t i = 0; i < 3; i++)
        sum += json_number_value(json_object_get(json_array_get(shares, i), "probability"));
    assert_true(sum > 0.999 && sum < 1.001);
    assert_true(none > 0 && none < 1);
    const json_t *predicate = json_array_get(answers, 1), *score = json_array_get(answers, 2);
    assert_true(json_is_null(json_object_get(predicate, "name")));
    assert_true(json_number_value(json_object_get(predicate, "probability")) > 0);
    assert_true(json_number_value(json_object_get(score, "score")) > 0.5);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(json_object_get(score, "probabilities"), 1), "label")),
        "rain");
    shares = json_object_get(json_array_get(answers, 3), "probabilities");
    assert_true(json_is_true(json_object_get(json_array_get(shares, 0), "value")));
    assert_true(json_is_string(json_object_get(json_array_get(shares, 1), "value")));
    assert_true(json_is_false(json_object_get(json_array_get(shares, 2), "value")));
    assert_string_equal(json_string_value(json_object_get(root, "model")), WT_BUILT_IN_MODEL);
    json_decref(root);
}

static void system_one_has_an_answer_for_each_name(void **state)
{
    wt_error err;
    (void)state;
    json_t *root = decide_json(
        wt__run_system_one,
        "{\"state\":{\"message\":\"I was charged twice, refund me\",\"tries\":3},\"questions\":{\"team/a\":{\"type\":"
        "\"choice\",\"criteria\":{\"billing\":\"charges and refunds\",\"outages\":null}},\"n\":{\"type\":\"noul\","
        "\"instructions\":\"Asks?\",\"criteria\":{\"true\":\"a refund of a charge\"}},\"s\":{\"type\":\"score\","
        "\"criteria\":[\"weather\",{\"about\":\"refund\"}]}}}",
        &err);
    const json_t *answers = json_object_get(root, "answers"), *team = json_object_get(answers, "team/a");
    assert_string_equal(json_string_value(json_object_get(team, "choice")), "billing");
    assert_true(json_number_value(json_object_get(json_object_get(team, "probabilities"), "billing")) > 0.5);
    assert_true(json_number_value(json_object_get(json_object_get(answers, "n"), "noul")) > 0);
    const json_t *score = json_object_get(answers, "s");
    assert_true(json_number_value(json_object_get(score, "score")) > 0.5);
    assert_string_equal(json_string_value(json_object_get(json_object_get(score, "legend"), "1")), "refund");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "usage"), "output_tokens")), 0);
    json_decref(root);
}

static void last_message_of_the_user_is_the_input(void **state)
{
    static const char questions[] = "\"model\":\"default\",\"questions\":[{\"type\":\"choice\",\"instructions\":\"?\","
                                    "\"choices\":[" TOOLS "]}]}";
    static const char messages[] =
        "{\"input\":[{\"role\":\"system\",\"content\":\"Send an email\"},{\"role\":\"user\",\"content\":[{\"type\":"
        "\"input_text\",\"text\":\"will it rain?\"}]},{\"role\":\"assistant\",\"content\":\"play music\"}],";
    char one[1024], other[1024];
    wt_error err;
    (void)state;
    snprintf(one, sizeof one, "%s%s", messages, questions);
    snprintf(other, sizeof other, "{\"input\":\"will it rain?\",%s", questions);
    json_t *first = decide_json(wt__run_decide, one, &err), *second = decide_json(wt__run_decide, other, &err);
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

enum { PERMUTED = 5, PERMUTATIONS = 120 };

/* Writes one of the permutations of the options. */
static void write_permutation(char *out, size_t size, unsigned which)
{
    static const char *const options[PERMUTED] = {
        "{\"value\":\"get_weather\",\"description\":\"Forecast of the weather\"}", "{\"value\":\"get_rain\"}",
        "{\"value\":\"rain_get\"}", "{\"value\":true,\"description\":\"rain\"}",
        "{\"value\":\"true\",\"description\":\"rain\"}"};
    bool used[PERMUTED] = {0};
    size_t len = (size_t)snprintf(out, size,
                                  "{\"input\":\"rain in Oslo\",\"model\":\"default\",\"questions\":[{\"type\":"
                                  "\"choice\",\"instructions\":\"?\",\"choices\":[");
    for (unsigned left = PERMUTED; left > 0; left--) {
        unsigned skip = which % left, i = 0;
        which /= left;
        for (; used[i] || skip > 0; i++)
            skip -= !used[i];
        used[i] = true;
        len += (size_t)snprintf(out + len, size - len, "%s%s", left < PERMUTED ? "," : "", options[i]);
    }
    snprintf(out + len, size - len, "]}]}");
}

/* Returns the share of a value: a string or true. */
static double share_of(const json_t *answer, const json_t *value)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(answer, "probabilities"), i,
                       one) if (json_equal(json_object_get(one, "value"),
                                           value)) return json_number_value(json_object_get(one, "probability"));
    return -1;
}

static void order_of_options_changes_no_bit(void **state)
{
    char body[1024];
    wt_error err;
    json_t *first = NULL;
    (void)state;
    for (unsigned which = 0; which < PERMUTATIONS; which++) {
        write_permutation(body, sizeof body, which);
        json_t *root = decide_json(wt__run_decide, body, &err);
        const json_t *answer = json_array_get(json_object_get(root, "answers"), 0), *one;
        size_t i;
        assert_non_null(answer);
        first = first ? first : json_incref((json_t *)answer);
        assert_true(json_equal(json_object_get(answer, "choice"), json_object_get(first, "choice")));
        assert_true(
            json_equal(json_object_get(answer, "none_probability"), json_object_get(first, "none_probability")));
        assert_true(json_equal(json_object_get(answer, "confidence"), json_object_get(first, "confidence")));
        json_array_foreach(json_object_get(first, "probabilities"), i, one) assert_true(
            share_of(answer, json_object_get(one, "value")) == json_number_value(json_object_get(one, "probability")));
        json_decref(root);
    }
    json_decref(first);
}

#define ASK(questions) "{\"input\":\"rain\",\"model\":\"default\",\"questions\":" questions "}"
#define STATE(questions) "{\"state\":\"rain\",\"questions\":" questions "}"

static const struct {
    decision_verb verb;
    const char *body;
    int code;
    const char *message, *pointer;
} refused[] = {
    {wt__run_decide, "[]", WT_EFORMAT, "the body must be a JSON object", ""},
    {wt__run_decide, "{\"input\":\"a\",\"model\":\"default\"}", WT_EINVAL, "questions is missing", "/questions"},
    {wt__run_decide, ASK("[]"), WT_EINVAL, "questions must be an array of 1 to 400 questions", "/questions"},
    {wt__run_decide, ASK("{\"a\":1}"), WT_EINVAL, "questions must be an array of 1 to 400 questions", "/questions"},
    {wt__run_decide, ASK("[1]"), WT_EINVAL, "questions/0/type must be one of predicate, choice, score",
     "/questions/0/type"},
    {wt__run_decide, ASK("[{\"type\":\"noul\"}]"), WT_EINVAL, "must be one of predicate, choice, score",
     "/questions/0/type"},
    {wt__run_decide, ASK("[{\"type\":\"predicate\"}]"), WT_EINVAL, "questions/0/instructions has no words",
     "/questions/0/instructions"},
    {wt__run_decide, ASK("[{\"type\":\"predicate\",\"instructions\":7}]"), WT_EINVAL, "must be a string",
     "/questions/0/instructions"},
    {wt__run_decide, ASK("[{\"type\":\"predicate\",\"instructions\":\"a\",\"choices\":[]}]"), WT_EINVAL,
     "has an unknown member", "/questions/0/type"},
    {wt__run_decide, ASK("[{\"type\":\"predicate\",\"instructions\":\"a\",\"name\":[]}]"), WT_EINVAL,
     "questions/0/name must be a string", "/questions/0/name"},
    {wt__run_decide,
     ASK("[{\"type\":\"predicate\",\"instructions\":[{\"type\":\"input_image\",\"image_url\":\"data:\"}]}]"), WT_EINVAL,
     "has an image; only text is supported", "/questions/0/instructions"},
    {wt__run_decide, ASK("[{\"type\":\"choice\",\"instructions\":\"a\"}]"), WT_EINVAL, "choices must be an array",
     "/questions/0/choices"},
    {wt__run_decide, ASK("[{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[{\"value\":\"a\"}]}]"), WT_EINVAL,
     "choices must have 2 to 255 options", "/questions/0/choices"},
    {wt__run_decide, ASK("[{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[{\"value\":\"a\"},\"b\"]}]"),
     WT_EINVAL, "must have a value, a string or a Boolean", "/questions/0/choices/1"},
    {wt__run_decide,
     ASK("[{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[{\"value\":\"a\"},{\"value\":1}]}]"), WT_EINVAL,
     "must have a value, a string or a Boolean", "/questions/0/choices/1"},
    {wt__run_decide,
     ASK("[{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[{\"value\":\"a\"},{\"value\":\"b\",\"text\":\"c\"}]"
         "}]"),
     WT_EINVAL, "has an unknown member", "/questions/0/choices/1"},
    {wt__run_decide,
     ASK("[{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[{\"value\":\"a\"},{\"value\":\"b\"},{\"value\":"
         "\"a\"}]}]"),
     WT_EINVAL, "occurs twice", "/questions/0/choices/2"},
    {wt__run_decide,
     ASK("[{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[{\"value\":\" \"},{\"value\":\"b\"}]}]"), WT_EINVAL,
     "has no words", "/questions/0/choices/0"},
    {wt__run_decide,
     ASK("[{\"type\":\"score\",\"instructions\":\"a\",\"levels\":[{\"label\":\"a\"},{\"label\":true}]}]"), WT_EINVAL,
     "must have a label, a string", "/questions/0/levels/1"},
    {wt__run_decide, "{\"input\":\"\",\"model\":\"default\",\"questions\":[1]}", WT_EINVAL, "input has no words",
     "/input"},
    {wt__run_decide,
     "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":\"http://a/b\"}]}],\"model\":"
     "\"default\",\"questions\":[1]}",
     WT_EINVAL, "input has an image; only text is supported", "/input"},
    {wt__run_decide, "{\"input\":\"a\",\"model\":\"gpt-6-luna\",\"questions\":[1]}", WT_ENOTFOUND,
     "unknown model \"gpt-6-luna\"", "/model"},
    {wt__run_system_one, STATE("[]"), WT_EINVAL, "questions must be an object of 1 to 400 questions", "/questions"},
    {wt__run_system_one, STATE("{\"a/b\":{\"type\":\"predicate\"}}"), WT_EINVAL, "must be one of noul, choice, score",
     "/questions/a~1b/type"},
    {wt__run_system_one, STATE("{\"a\":{\"type\":\"choice\",\"criteria\":[]}}"), WT_EINVAL,
     "criteria must be an object", "/questions/a/criteria"},
    {wt__run_system_one, STATE("{\"a\":{\"type\":\"choice\",\"criteria\":{}}}"), WT_EINVAL,
     "must have 1 to 255 options", "/questions/a/criteria"},
    {wt__run_system_one, STATE("{\"a\":{\"type\":\"score\",\"criteria\":[\"a\",\"\"]}}"), WT_EINVAL, "has no words",
     "/questions/a/criteria/1"},
    {wt__run_system_one, STATE("{\"a\":{\"type\":\"score\",\"criteria\":[\"a\",\"a\"]}}"), WT_EINVAL, "occurs twice",
     "/questions/a/criteria/1"},
    {wt__run_system_one, STATE("{\"a\":{\"type\":\"noul\"}}"), WT_EINVAL, "has no words", "/questions/a/instructions"},
    {wt__run_system_one, "{\"state\":{\"n\":[1,true,null]},\"questions\":{\"a\":{\"type\":\"noul\"}}}", WT_EINVAL,
     "state has no words", "/state"},
    {wt__run_system_one, "{\"state\":\"a\",\"prefix\":\"b\",\"questions\":{}}", WT_EINVAL, "prefix", "/prefix"},
};

static void invalid_bodies_are_refused_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        wt_error err;
        json_t *root = decide_json(refused[i].verb, refused[i].body, &err);
        if (root || err.code != refused[i].code || !strstr(err.message, refused[i].message) ||
            strcmp(err.pointer, refused[i].pointer) != 0)
            fail_msg("%s: code %d, \"%s\" at \"%s\"", refused[i].body, err.code, err.message, err.pointer);
    }
}

/* Decides choices of `count` options. The value of the last option has `bytes` bytes. */
static wt_error decide_at_size(size_t questions, size_t count, size_t bytes, size_t input)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    wt_error err;
    wt__buffer_text(&body, "{\"model\":\"default\",\"input\":\"");
    for (size_t i = 0; i < input; i++)
        wt__buffer_char(&body, 'a');
    wt__buffer_text(&body, "\",\"questions\":[");
    for (size_t q = 0; q < questions; q++) {
        wt__buffer_printf(&body, "%s{\"type\":\"choice\",\"instructions\":\"a\",\"choices\":[", q > 0 ? "," : "");
        for (size_t i = 0; i < count; i++) {
            wt__buffer_printf(&body, "%s{\"value\":\"%03zu", i > 0 ? "," : "", i);
            for (size_t k = 3; i + 1 == count && k < bytes; k++)
                wt__buffer_char(&body, 'b');
            wt__buffer_text(&body, "\"}");
        }
        wt__buffer_text(&body, "]}");
    }
    wt__buffer_text(&body, "]}");
    json_decref(decide_json(wt__run_decide, body.ptr, &err));
    return err;
}

static void limits_hold(void **state)
{
    (void)state;
    assert_int_equal(decide_at_size(1, WIRE_OPTIONS_MAX, 0, 1).code, 0);
    assert_string_equal(decide_at_size(1, WIRE_OPTIONS_MAX + 1, 0, 1).pointer, "/questions/0/choices");
    assert_int_equal(decide_at_size(WIRE_QUESTIONS_MAX, 2, 0, 1).code, 0);
    assert_string_equal(decide_at_size(WIRE_QUESTIONS_MAX + 1, 2, 0, 1).pointer, "/questions");
    wt_error err = decide_at_size(4, 251, 0, 1);
    assert_int_equal(err.code, WT_ETOOLONG);
    assert_string_equal(err.pointer, "/questions/3/choices");
    assert_non_null(strstr(err.message, "exceeds 1000 options of all questions"));
    assert_int_equal(decide_at_size(1, 2, WT_MAX_NAME_BYTES, 1).code, 0);
    err = decide_at_size(1, 2, WT_MAX_NAME_BYTES + 1, 1);
    assert_int_equal(err.code, WT_ETOOLONG);
    assert_string_equal(err.pointer, "/questions/0/choices/1");
    assert_int_equal(decide_at_size(1, 2, 0, WT_MAX_REQUEST_BYTES).code, 0);
    err = decide_at_size(1, 2, 0, WT_MAX_REQUEST_BYTES + 1);
    assert_int_equal(err.code, WT_ETOOLONG);
    assert_string_equal(err.pointer, "/input");
}

static int stop_at_once(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return 1;
}

static void a_decision_can_be_cancelled(void **state)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer out = {0};
    struct json_run run = {.engine = engine, .out = &out, .progress = stop_at_once};
    wt_error err;
    (void)state;
    assert_int_equal(wt__run_decide(&run, STR(ASK("[{\"type\":\"predicate\",\"instructions\":\"a\"}]")), &err),
                     WT_ECANCELLED);
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_ai_format_has_an_answer_for_each_question),
        cmocka_unit_test(system_one_has_an_answer_for_each_name),
        cmocka_unit_test(last_message_of_the_user_is_the_input),
        cmocka_unit_test(order_of_options_changes_no_bit),
        cmocka_unit_test(invalid_bodies_are_refused_with_their_place),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_decision_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, open_decision_engine, close_decision_engine);
}
