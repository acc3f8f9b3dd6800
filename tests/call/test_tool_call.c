/* Tests calls in the forms of all APIs, with hostile names and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/json.h"
#include "call/call.h"

#define SCHEMA "{\"properties\":{\"lat\":{},\"city\":{},\"unit\":{}}}"
#define PLAIN "{\"lat\":-97.8,\"city\":\"Oslo\"}"
#define HOSTILE_NAME "a\"\n\xe2\x80\xae\\b"
#define HOSTILE "{\"c\\\"\\n\\u202e\":\"x\\\"\\n\\u202e\\u001B\"}"
#define HOSTILE_SCHEMA "{\"properties\":{\"c\\\"\\n\\u202e\":{}}}"

static const struct {
    const char *form, *name, *export_name, *schema, *arguments, *expected; /* "#" stands for the id's 24 digits */
} cases[] = {
    {"arguments", "w/now", "w__now", SCHEMA, PLAIN, PLAIN},
    {"openai", "w/now", "w__now", SCHEMA, PLAIN,
     "{\"id\":\"call_#\",\"type\":\"function\",\"function\":{\"name\":\"w__now\",\"arguments\":"
     "\"{\\\"lat\\\":-97.8,\\\"city\\\":\\\"Oslo\\\"}\"}}"},
    {"openai-responses", "w/now", "w__now", SCHEMA, PLAIN,
     "{\"type\":\"function_call\",\"call_id\":\"call_#\",\"name\":\"w__now\",\"arguments\":"
     "\"{\\\"lat\\\":-97.8,\\\"city\\\":\\\"Oslo\\\"}\"}"},
    {"anthropic", "w/now", "w__now", SCHEMA, PLAIN,
     "{\"type\":\"tool_use\",\"id\":\"toolu_#\",\"name\":\"w__now\",\"input\":" PLAIN "}"},
    {"gemini", "w/now", "w__now", SCHEMA, PLAIN, "{\"functionCall\":{\"name\":\"w__now\",\"args\":" PLAIN "}}"},
    {"mcp", "w/now", "w__now", SCHEMA, PLAIN,
     "{\"method\":\"tools/call\",\"params\":{\"name\":\"w/now\",\"arguments\":" PLAIN "}}"},
    {"lines", "w/now", "w__now", SCHEMA, PLAIN, "CALLTOOL[\"w/now\"]\nlat: -97.8\ncity: \"Oslo\"\nunit: none"},
    {"arguments", HOSTILE_NAME, "a__b", HOSTILE_SCHEMA, HOSTILE, HOSTILE},
    {"mcp", HOSTILE_NAME, "a__b", HOSTILE_SCHEMA, HOSTILE,
     "{\"method\":\"tools/call\",\"params\":{\"name\":\"a\\\"\\n\\u202e\\\\b\",\"arguments\":" HOSTILE "}}"},
    {"lines", HOSTILE_NAME, "a__b", HOSTILE_SCHEMA, HOSTILE,
     "CALLTOOL[\"a\\\"\\n\\u202e\\\\b\"]\nc\\\"\\n\\u202e: \"x\\\"\\n\\u202e\\u001B\""},
    {"arguments", "a", "a", "{}", "{}", "{}"},
    {"lines", "a", "a", "{}", "{}", "CALLTOOL[\"a\"]"},
    {"lines", "a", "a", "{\"properties\":{\"\":{},\"b\":{}}}", "{\"\":null}", "CALLTOOL[\"a\"]\n: null\nb: none"},
    {"lines", "a", "a", "{\"properties\":{\"b\":{}}}", "{\"b\":\"none\"}", "CALLTOOL[\"a\"]\nb: \"none\""},
    {"arguments", "a", "a", "{}", "{\"a\":0.1,\"b\":100,\"c\":1e300,\"d\":-0.5,\"e\":1234567.25,\"f\":true}",
     "{\"a\":0.1,\"b\":100,\"c\":1e300,\"d\":-0.5,\"e\":1234567.25,\"f\":true}"},
};

static struct buffer write_call_in_form(const char *form, const char *name, const char *export_name, const char *schema,
                                        const char *arguments)
{
    json_t *schema_json, *arguments_json;
    struct buffer out = {0};
    wt_error err;
    assert_int_equal(wt__json_parse(&schema_json, schema, strlen(schema), NULL), 0);
    assert_int_equal(wt__json_parse(&arguments_json, arguments, strlen(arguments), NULL), 0);
    if (wt__tool_call_write(&out, wt__str(form), wt__str(name), wt__str(export_name), schema_json, arguments_json,
                            &err) < 0)
        fail_msg("%s", err.message);
    json_decref(schema_json);
    json_decref(arguments_json);
    return out;
}

/* Replaces the digits of the id, after "call_" or "toolu_", by "#". */
static void hide_id(struct buffer *out)
{
    enum { DIGITS = 24 };
    char *id = strstr(out->ptr, "call_"), *other = strstr(out->ptr, "toolu_");
    id = other ? other + 1 : id;
    if (id && strncmp(id + 5, "id\":", 4) == 0) /* skip the member name "call_id" */
        id = strstr(id + 5, "call_");
    if (!id || strspn(id + 5, "0123456789abcdef") != DIGITS)
        return;
    id[5] = '#';
    memmove(id + 6, id + 5 + DIGITS, strlen(id + 5 + DIGITS) + 1);
}

static void each_form_has_its_layout(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer out =
            write_call_in_form(cases[i].form, cases[i].name, cases[i].export_name, cases[i].schema, cases[i].arguments);
        hide_id(&out);
        if (strcmp(out.ptr, cases[i].expected) != 0)
            print_error("%s: %s\n  for %s\n", cases[i].form, out.ptr, cases[i].expected), failures++;
        wt__buffer_dispose(&out);
    }
    assert_int_equal(failures, 0);
}

/* The forms of OpenAI contain the arguments as a JSON string. Parsing this string gives the same arguments. */
static void quoted_arguments_parse_back(void **state)
{
    static const char *const forms[] = {"openai", "openai-responses"};
    (void)state;
    json_t *wanted;
    assert_int_equal(wt__json_parse(&wanted, HOSTILE, strlen(HOSTILE), NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        struct buffer out = write_call_in_form(forms[i], HOSTILE_NAME, "a__b", HOSTILE_SCHEMA, HOSTILE);
        json_t *call, *have;
        assert_null(strstr(out.ptr, "\xe2\x80\xae"));
        assert_int_equal(wt__json_parse(&call, out.ptr, out.len, NULL), 0);
        const json_t *function = i == 0 ? json_object_get(call, "function") : call;
        struct str text = wt__json_str(function, "arguments");
        assert_int_equal(wt__json_parse(&have, text.ptr, text.len, NULL), 0);
        assert_true(json_equal(wanted, have));
        json_decref(have);
        json_decref(call);
        wt__buffer_dispose(&out);
    }
    json_decref(wanted);
}

static void deep_arguments_are_complete(void **state)
{
    enum { DEPTH = 60 };
    static const char *const forms[] = {"arguments", "openai", "openai-responses", "anthropic", "gemini",
                                        "mcp",       "lines"};
    struct buffer deep = {0};
    (void)state;
    wt__buffer_text(&deep, "{\"a\":");
    for (int i = 0; i < DEPTH; i++)
        wt__buffer_text(&deep, "[");
    for (int i = 0; i < DEPTH; i++)
        wt__buffer_text(&deep, "]");
    wt__buffer_text(&deep, "}");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct buffer out = write_call_in_form(forms[i], "a", "a", "{\"properties\":{\"a\":{}}}", deep.ptr);
        assert_non_null(strstr(out.ptr, "[[[[]]]]"));
        wt__buffer_dispose(&out);
    }
    wt__buffer_dispose(&deep);
}

static void same_call_has_same_id(void **state)
{
    static const struct {
        const char *export_name, *arguments;
        bool same;
    } rows[] = {
        {"w__now", PLAIN, true}, {"w__no", PLAIN, false}, {"w__now", "{\"lat\":-97.9,\"city\":\"Oslo\"}", false}};
    (void)state;
    struct buffer first = write_call_in_form("openai", "w/now", "w__now", SCHEMA, PLAIN);
    struct buffer other = write_call_in_form("anthropic", "w/now", "w__now", SCHEMA, PLAIN);
    assert_memory_equal(strstr(first.ptr, "call_") + 5, strstr(other.ptr, "toolu_") + 6, 24);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer again = write_call_in_form("openai", "w/now", rows[i].export_name, SCHEMA, rows[i].arguments);
        bool same = memcmp(strstr(first.ptr, "call_"), strstr(again.ptr, "call_"), 29) == 0;
        assert_int_equal(same, rows[i].same);
        wt__buffer_dispose(&again);
    }
    wt__buffer_dispose(&first);
    wt__buffer_dispose(&other);
}

static void unknown_form_is_rejected(void **state)
{
    static const char *const forms[] = {"", "OpenAI", "openai ", "json",
                                        "a form of more than forty bytes, which is cut"};
    static const char *const said[] = {"\"\"", "\"OpenAI\"", "\"openai \"", "\"json\"",
                                       "\"a form of more than forty bytes, which i\""};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct buffer out = {0};
        wt_error err;
        assert_int_equal(wt__tool_call_check(wt__str(forms[i]), &err), WT_EINVAL);
        assert_non_null(strstr(err.message, said[i]));
        assert_non_null(strstr(err.message, "arguments, openai, openai-responses, anthropic, gemini, mcp or lines"));
        assert_int_equal(wt__tool_call_write(&out, wt__str(forms[i]), STR("a"), STR("a"), NULL, NULL, &err), WT_EINVAL);
        assert_int_equal(out.len, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_has_its_layout),    cmocka_unit_test(quoted_arguments_parse_back),
        cmocka_unit_test(deep_arguments_are_complete), cmocka_unit_test(same_call_has_same_id),
        cmocka_unit_test(unknown_form_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
