/* Tests the parser of answers: only JSON that matches the schema is accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llm/internal.h"

#define TOOL                                                                                                           \
    "{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":[\"integer\",\"null\"],\"minimum\":1,\"maximum\":9}},"    \
    "\"required\":[\"tool\"],\"additionalProperties\":false}"
#define LIST                                                                                                           \
    "{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,"                                                               \
    "\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":3}}"
#define KIND "{\"type\":\"object\",\"properties\":{\"kind\":{\"enum\":[\"exact\",\"over\",null,3]}}}"

static wt_error err;

static const struct {
    const char *name, *schema, *text;
    const char *says; /* error; NULL if the answer is valid */
} rows[] = {
    {"an object that matches", TOOL, "{\"tool\": 2}", NULL},
    {"an object surrounded by blanks", TOOL, "\n  {\"tool\": null}\n\n", NULL},
    {"JSON in a fence", TOOL, "```json\n{\"tool\": 2}\n```", NULL},
    {"JSON in a fence without a label", TOOL, "```\n{\"tool\": 2}\n```\n", NULL},
    {"JSON in a fence with another label", TOOL, "```python\n{\"tool\": 2}\n```", "has to begin with { or ["},
    {"JSON in an unclosed fence", TOOL, "```json\n{\"tool\": 2}", "has to begin with { or ["},
    {"an empty fence", TOOL, "```json\n```", "the answer is empty"},
    {"a fence of three marks only", TOOL, "```", "has to begin with { or ["},
    {"six marks only", TOOL, "``````", "has to begin with { or ["},
    {"an empty answer", TOOL, "", "the answer is empty"},
    {"only blanks", TOOL, " \n ", "the answer is empty"},
    {"words before the JSON", TOOL, "Sure: {\"tool\": 2}", "has to begin with { or ["},
    {"words after the JSON", TOOL, "{\"tool\": 2} is best", "there are words after the JSON"},
    {"two answers", TOOL, "{\"tool\": 2}{\"tool\": 3}", "there are words after the JSON"},
    {"two fences", TOOL, "```\n{\"tool\": 2}\n```\n```\n{\"tool\": 3}\n```", "there are words after the JSON"},
    {"a missing bracket", TOOL, "{\"tool\": 2", "ends before its brackets are closed"},
    {"an unterminated string", TOOL, "{\"tool", "ends before its brackets are closed"},
    {"the wrong bracket", TOOL, "{\"tool\": 2]", "the answer is not valid JSON"},
    {"a name without quotes", TOOL, "{tool: 2}", "the answer is not valid JSON"},
    {"a duplicate member", TOOL, "{\"tool\": 2, \"tool\": 3}", "the answer is not valid JSON"},
    {"a bare number", TOOL, "2", "has to begin with { or ["},
    {"a bare null", TOOL, "null", "has to begin with { or ["},
    {"another type", TOOL, "{\"tool\": \"b\"}", "tool has to be of type integer or null"},
    {"a real for an integer", TOOL, "{\"tool\": 2.5}", "tool has to be of type integer or null"},
    {"a Boolean for an integer", TOOL, "{\"tool\": true}", "tool has to be of type integer or null"},
    {"below the minimum", TOOL, "{\"tool\": 0}", "tool has to be at least 1"},
    {"above the maximum", TOOL, "{\"tool\": 10}", "tool has to be at most 9"},
    {"a number beyond 64 bits", TOOL, "{\"tool\": 99999999999999999999}", "tool has to be of type integer or null"},
    {"a missing member", TOOL, "{}", "the answer lacks the member \"tool\""},
    {"an additional member", TOOL, "{\"tool\": 2, \"evil\": 1}", "the answer has a member that is not asked for"},
    {"an array for an object", TOOL, "[2]", "the answer has to be of type object"},
    {"a list that matches", LIST, "[\"a\", \"b\u00fc\u00df\"]", NULL},
    {"too many items", LIST, "[\"a\",\"b\",\"c\"]", "the answer has to be at most 2 items long"},
    {"too few items", LIST, "[]", "the answer has to be at least 1 items long"},
    {"an item of another type", LIST, "[\"a\", 2]", "[1] has to be of type string"},
    {"an item that is too long", LIST, "[\"abcd\"]", "[0] has to be at most 3 characters long"},
    {"an item that is too short", LIST, "[\"\"]", "[0] has to be at least 1 characters long"},
    {"an allowed value", KIND, "{\"kind\": \"over\"}", NULL},
    {"an allowed value that is not a string", KIND, "{\"kind\": null}", NULL},
    {"a member without a rule", KIND, "{\"other\": [1]}", NULL},
    {"a value that is not allowed", KIND, "{\"kind\": \"none\"}", "kind is none of the values that are allowed"},
};

static void accepts_only_matching_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *schema, *json;
        assert_int_equal(wt__json_parse(&schema, rows[i].schema, strlen(rows[i].schema), &err), 0);
        assert_int_equal(wt__answer_check_schema(schema, &err), 0);
        int rc = wt__answer_parse(&json, wt__str(rows[i].text), schema, &err);
        if (rc != (rows[i].says ? WT_EFORMAT : 0) || (json != NULL) != (rc == 0) ||
            (rc < 0 && !strstr(err.message, rows[i].says)))
            fail_msg("%s: %d \"%s\"", rows[i].name, rc, rc < 0 ? err.message : "");
        json_decref(json);
        json_decref(schema);
    }
}

/* Reads "KEY=VALUE" as {KEY: VALUE}. */
static json_t *read_assignment(const void *context, struct str text)
{
    const char *equals = memchr(text.ptr, '=', text.len);
    assert_string_equal(context, "context");
    return equals ? json_pack("{s%:s%}", text.ptr, (size_t)(equals - text.ptr), equals + 1,
                              (size_t)(text.ptr + text.len - equals - 1))
                  : NULL;
}

static void another_layout_must_match_schema(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {{"{\"kind\": \"over\"}", NULL},
                 {"kind=over", NULL},
                 {"kind=none", "the answer has to begin with {"},
                 {"over", "the answer has to begin with {"}};
    json_t *schema, *json;
    assert_int_equal(wt__json_parse(&schema, KIND, strlen(KIND), &err), 0);
    const struct chat_question question = {
        .schema = schema, .read_layout = read_assignment, .layout_context = "context"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = wt__answer_read(&json, wt__str(cases[i].text), &question, &err);
        assert_int_equal(rc, cases[i].says ? WT_EFORMAT : 0);
        if (cases[i].says)
            assert_non_null(strstr(err.message, cases[i].says));
        else
            assert_string_equal(json_string_value(json_object_get(json, "kind")), "over");
        json_decref(json);
    }
    json_decref(schema);
}

static void limits_nesting_of_answers(void **state)
{
    (void)state;
    char text[4096];
    json_t *schema = json_pack("{s:s}", "type", "array"), *json;
    memset(text, '[', 2000);
    memset(text + 2000, ']', 2000);
    assert_int_equal(wt__answer_parse(&json, (struct str){text, 4000}, schema, &err), WT_EFORMAT);
    assert_string_equal(err.message, "the answer is not valid JSON");
    json_decref(schema);
}

/* Unsupported schemas. pointer: JSON pointer in the error. */
static const struct {
    const char *schema, *says, *pointer;
} unholdable[] = {
    {"[]", "a schema has to be an object", ""},
    {"{\"pattern\":\"x\"}", "the schema's \"pattern\" is not supported", ""},
    {"{\"$ref\":\"#\"}", "the schema's \"$ref\"", ""},
    {"{\"type\":\"text\"}", "the schema's \"type\"", ""},
    {"{\"type\":[]}", "the schema's \"type\"", ""},
    {"{\"type\":[\"string\",3]}", "the schema's \"type\"", ""},
    {"{\"enum\":[]}", "the schema's \"enum\"", ""},
    {"{\"required\":[1]}", "the schema's \"required\"", ""},
    {"{\"maxItems\":-1}", "the schema's \"maxItems\"", ""},
    {"{\"maxItems\":\"2\"}", "the schema's \"maxItems\"", ""},
    {"{\"additionalProperties\":{}}", "the schema's \"additionalProperties\"", ""},
    {"{\"items\":[{}]}", "the schema's \"items\"", ""},
    {"{\"items\":{\"not\":{}}}", "the schema's \"not\"", "/items"},
    {"{\"properties\":{\"a\":{\"items\":{\"minimum\":\"1\"}}}}", "the schema's \"minimum\"", "/properties/a/items"},
    {"{\"properties\":{\"a\":true}}", "a schema has to be an object", "/properties/a"},
};

static void rejects_unsupported_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unholdable / sizeof *unholdable; i++) {
        json_t *schema;
        assert_int_equal(wt__json_parse(&schema, unholdable[i].schema, strlen(unholdable[i].schema), &err), 0);
        int rc = wt__answer_check_schema(schema, &err);
        if (rc != WT_EFORMAT || !strstr(err.message, unholdable[i].says) ||
            strcmp(err.pointer, unholdable[i].pointer) != 0)
            fail_msg("%s: %d \"%s\" at \"%s\"", unholdable[i].schema, rc, err.message, err.pointer);
        json_decref(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_only_matching_json),
        cmocka_unit_test(another_layout_must_match_schema),
        cmocka_unit_test(limits_nesting_of_answers),
        cmocka_unit_test(rejects_unsupported_schemas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
