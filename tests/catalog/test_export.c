/* Exported definitions: what each API's own error messages ask for, in one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/json.h"
#include "catalog/export.h"

static struct tool tool_of(const char *provider, const char *name, const char *description, const char *schema)
{
    return (struct tool){.provider = wt__str(provider),
                         .name = wt__str(name),
                         .title = STR("Title"),
                         .description = wt__str(description),
                         .schema = wt__str(schema)};
}

#define PLAIN "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}"
#define HARD                                                                                                           \
    "{\"type\":\"object\",\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"properties\":{\"filter[id]\":{"    \
    "\"type\":\"array\"}},\"required\":[\"filter[id]\"],\"anyOf\":[{\"properties\":{\"b\":{}},\"required\":[\"b\"]}]," \
    "\"allOf\":[{\"properties\":{\"c\":{}},\"required\":[\"c\"]}]}"

static const struct {
    const char *api, *schema, *out;
} cases[] = {
    {"openai", PLAIN,
     "[{\"type\":\"function\",\"function\":{\"name\":\"p__n\",\"description\":\"d\",\"parameters\":" PLAIN "}}]"},
    {"openai-responses", PLAIN,
     "[{\"type\":\"function\",\"name\":\"p__n\",\"description\":\"d\",\"parameters\":" PLAIN ",\"strict\":false}]"},
    {"anthropic", PLAIN, "[{\"name\":\"p__n\",\"description\":\"d\",\"input_schema\":" PLAIN "}]"},
    {"gemini", PLAIN,
     "[{\"functionDeclarations\":[{\"name\":\"p__n\",\"description\":\"d\",\"parametersJsonSchema\":" PLAIN "}]}]"},
    {"mcp", PLAIN, "[{\"name\":\"p__n\",\"title\":\"Title\",\"description\":\"d\",\"inputSchema\":" PLAIN "}]"},
    {"openai", HARD,
     "[{\"type\":\"function\",\"function\":{\"name\":\"p__n\",\"description\":\"d\",\"parameters\":{\"type\":"
     "\"object\","
     "\"properties\":{\"filter[id]\":{\"type\":\"array\",\"items\":{}},\"c\":{},\"b\":{}},\"required\":[\"filter[id]\","
     "\"c\""
     "]}}}]"},
    {"anthropic", HARD,
     "[{\"name\":\"p__n\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"filter_x5bid_"
     "x5d\":{"
     "\"type\":\"array\",\"items\":{}},\"c\":{},\"b\":{}},\"required\":[\"filter_x5bid_x5d\",\"c\"]}}]"},
    {"mcp", "no schema",
     "[{\"name\":\"p__n\",\"title\":\"Title\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\","
     "\"properties\":{}}}]"},
};

static void each_api_gets_what_it_accepts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer out = {0};
        struct tool tool = tool_of("p", "n", "d", cases[i].schema);
        json_t *value;
        assert_int_equal(wt__export(&tool, 1, wt__str(cases[i].api), &out, NULL), 0);
        assert_string_equal(out.ptr, cases[i].out);
        assert_int_equal(wt__json_parse(&value, out.ptr, out.len, NULL), 0);
        json_decref(value);
        wt__buffer_dispose(&out);
    }
}

static void no_tools_are_an_empty_list(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(wt__export(NULL, 0, STR("openai"), &out, NULL), 0);
    assert_string_equal(out.ptr, "[]");
    wt__buffer_dispose(&out);
}

static void openai_descriptions_end_at_a_character(void **state)
{
    (void)state;
    char description[3001];
    for (size_t i = 0; i < 3000; i += 2)
        memcpy(description + i, "\xc3\xa9", 3);
    struct tool tool = tool_of("", "n", description, PLAIN);
    struct buffer out = {0};
    json_t *list;
    assert_int_equal(wt__export(&tool, 1, STR("openai"), &out, NULL), 0);
    assert_int_equal(wt__json_parse(&list, out.ptr, out.len, NULL), 0);
    const json_t *function = json_object_get(json_array_get(list, 0), "function");
    assert_int_equal(wt__json_str(function, "description").len, 2 * EXPORT_OPENAI_DESCRIPTION);
    json_decref(list);
    wt__buffer_dispose(&out);
}

static void an_unknown_form_is_said(void **state)
{
    (void)state;
    struct buffer out = {0};
    wt_error err;
    assert_int_equal(wt__export(NULL, 0, STR("soap"), &out, &err), WT_EINVAL);
    assert_string_equal(err.message, "no such form of definitions: \"soap\" (there are openai, openai-responses, "
                                     "anthropic, gemini, mcp)");
    wt__buffer_dispose(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_api_gets_what_it_accepts),
        cmocka_unit_test(no_tools_are_an_empty_list),
        cmocka_unit_test(openai_descriptions_end_at_a_character),
        cmocka_unit_test(an_unknown_form_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
