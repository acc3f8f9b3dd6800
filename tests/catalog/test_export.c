/* Exported definitions: what each API's own error messages ask for, in one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include <stdio.h>

#include "base/json.h"
#include "catalog/export.h"

static struct tool tool_of(const char *provider, const char *name, const char *description, const char *schema)
{
    return (struct tool){.provider = wt__str(provider),
                         .name = wt__str(name),
                         .title = STR("Title"),
                         .description = wt__str(description),
                         .schema = wt__str(schema),
                         .export_name = STR("p__n")};
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
     "[{\"name\":\"p__n\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"filter_id\":{"
     "\"type\":\"array\",\"items\":{}},\"c\":{},\"b\":{}},\"required\":[\"filter_id\",\"c\"]}}]"},
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

/* Names of properties that Anthropic refuses get others, which no other property has. */
static void properties_keep_apart(void **state)
{
    (void)state;
    static const struct {
        const char *what, *keys, *renamed;
    } rows[] = {
        {"names within the alphabet stay", "a.b a-b A_b $.x", "a.b a-b A_b x"},
        {"whoever has a name keeps it", "a[b] a_b", "a_b_2 a_b"},
        {"also one that looks like a number", "a[b] a(b) a_b a_b_2", "a_b_3 a_b_4 a_b a_b_2"},
        {"nothing to read", "\xe6\x90\x9c \xe7\xb4\xa2 argument", "argument_2 argument_3 argument"},
        {"a long name is cut at a word",
         "this_name_has_many_words_and_is_longer_than_the_sixty_four_bytes_that_fit "
         "this_name_has_many_words_and_is_longer_than_the_sixty_four_bytes_that_do",
         "this_name_has_many_words_and_is_longer_than_the_sixty_four_bytes "
         "this_name_has_many_words_and_is_longer_than_the_sixty_four_2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buffer schema = {0}, out = {0}, got = {0};
        char keys[256], *save = NULL;
        json_t *list, *value;
        const char *key;
        snprintf(keys, sizeof keys, "%s", rows[i].keys);
        wt__buffer_text(&schema, "{\"type\":\"object\",\"properties\":{");
        for (char *word = strtok_r(keys, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
            wt__buffer_text(&schema, schema.ptr[schema.len - 1] == '{' ? "" : ",");
            wt__buffer_json(&schema, wt__str(word));
            wt__buffer_text(&schema, ":{}");
        }
        wt__buffer_text(&schema, "}}");
        struct tool tool = tool_of("p", "n", "d", schema.ptr);
        assert_int_equal(wt__export(&tool, 1, STR("anthropic"), &out, NULL), 0);
        assert_int_equal(wt__json_parse(&list, out.ptr, out.len, NULL), 0);
        json_object_foreach(json_object_get(json_object_get(json_array_get(list, 0), "input_schema"), "properties"),
                            key, value) wt__buffer_printf(&got, "%s%s", got.len ? " " : "", key);
        if (strcmp(got.ptr, rows[i].renamed) != 0)
            fail_msg("%s: %s", rows[i].what, got.ptr);
        json_decref(list);
        wt__buffer_dispose(&schema);
        wt__buffer_dispose(&out);
        wt__buffer_dispose(&got);
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
        cmocka_unit_test(each_api_gets_what_it_accepts), cmocka_unit_test(properties_keep_apart),
        cmocka_unit_test(no_tools_are_an_empty_list),    cmocka_unit_test(openai_descriptions_end_at_a_character),
        cmocka_unit_test(an_unknown_form_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
