/* Tests exported definitions. The expected definitions follow the rules in the APIs' own error messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include <stdio.h>

#include "base/json.h"
#include "catalog/export.h"

static struct tool make_exported_tool(const char *provider, const char *name, const char *description,
                                      const char *schema)
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
    {"anthropic-reference", HARD, "[{\"type\":\"tool_reference\",\"tool_name\":\"p__n\"}]"},
    {"anthropic-inline", PLAIN,
     "[{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_definition\",\"definition\":{\"name\":\"p__n\","
     "\"description\":\"d\",\"input_schema\":" PLAIN "}}}]"},
    {"openai-search", PLAIN,
     "[{\"type\":\"namespace\",\"name\":\"p\",\"description\":\"Tools of "
     "p\",\"tools\":[{\"type\":\"function\",\"name\":"
     "\"p__n\",\"description\":\"d\",\"parameters\":" PLAIN ",\"strict\":false,\"defer_loading\":true}]}]"},
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
        struct tool tool = make_exported_tool("p", "n", "d", cases[i].schema);
        json_t *value;
        assert_int_equal(wt__export(&tool, 1, wt__str(cases[i].api), &out, NULL), 0);
        assert_string_equal(out.ptr, cases[i].out);
        assert_int_equal(wt__json_parse(&value, out.ptr, out.len, NULL), 0);
        json_decref(value);
        wt__buffer_dispose(&out);
    }
}

/* Formats for a client's search contain the same definitions as the provider's plain format. */
static void search_answers_have_plain_definitions(void **state)
{
    (void)state;
    static const struct {
        const char *form, *plain, *added;
    } rows[] = {
        {"anthropic-inline", "anthropic", NULL},
        {"openai-search", "openai-responses", "defer_loading"},
    };
    static const char *const schemas[] = {PLAIN, HARD, "no schema"};
    for (size_t i = 0; i < 6; i++) {
        const char *form = rows[i / 3].form;
        struct tool tool = make_exported_tool("", "n", "d", schemas[i % 3]);
        struct buffer loaded = {0}, plain = {0};
        json_t *answer, *list;
        assert_int_equal(wt__export(&tool, 1, wt__str(form), &loaded, NULL), 0);
        assert_int_equal(wt__export(&tool, 1, wt__str(rows[i / 3].plain), &plain, NULL), 0);
        assert_int_equal(wt__json_parse(&answer, loaded.ptr, loaded.len, NULL), 0);
        assert_int_equal(wt__json_parse(&list, plain.ptr, plain.len, NULL), 0);
        json_t *got = json_array_get(answer, 0);
        if (rows[i / 3].added)
            assert_int_equal(json_object_del(got, rows[i / 3].added), 0);
        else
            got = json_object_get(json_object_get(got, "tool"), "definition");
        assert_true(json_equal(got, json_array_get(list, 0)));
        assert_string_equal(wt__export_read(wt__str(form)).ptr, rows[i / 3].plain);
        json_decref(answer);
        json_decref(list);
        wt__buffer_dispose(&loaded);
        wt__buffer_dispose(&plain);
    }
}

/* Writes names as "NAMESPACE(TOOL TOOL) TOOL". */
static void write_outline(struct buffer *out, const json_t *tools)
{
    json_t *tool;
    size_t i;
    json_array_foreach((json_t *)tools, i, tool)
    {
        wt__buffer_text(out, i > 0 ? " " : "");
        wt__buffer_str(out, wt__json_str(tool, "name"));
        if (!wt__json_array(tool, "tools"))
            continue;
        assert_string_equal(wt__json_str(tool, "type").ptr, "namespace");
        wt__buffer_char(out, '(');
        write_outline(out, wt__json_array(tool, "tools"));
        wt__buffer_char(out, ')');
    }
}

/* `providers` lists the providers of tools 0, 1, 2, ...; "-" is an empty provider. A namespace's name depends only on
 * its provider. */
static void namespaces_group_tools_by_provider(void **state)
{
    (void)state;
    static const struct {
        const char *what, *providers, *outline;
    } rows[] = {
        {"a namespace takes the place of its first tool", "b a b c a", "b(0 2) a(1 4) c(3)"},
        {"a tool without a provider has no namespace", "- a - a", "0 a(1 3) 2"},
        {"characters that the API rejects are replaced", "@org/pets.io 3d", "org_pets_io(0) _3d(1)"},
        {"providers with the same exported name share a namespace", "a.b a+b", "a_b(0 1)"},
        {"a name without ASCII letters becomes a hash", "\xe6\x90\x9c \xe6\x90\x9c", "c96e77(0 1)"},
        {"a long name is cut after a word",
         "this_provider_has_many_words_and_is_longer_than_the_sixty_four_bytes_that_fit",
         "this_provider_has_many_words_and_is_longer_than_the_sixty_four(0)"},
        {"no tools", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char providers[128], names[8][2], *save = NULL;
        struct tool tools[8];
        struct buffer out = {0}, got = {0};
        size_t count = 0;
        json_t *list;
        snprintf(providers, sizeof providers, "%s", rows[i].providers);
        for (char *word = strtok_r(providers, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
            snprintf(names[count], sizeof names[count], "%zu", count % 10);
            tools[count] = make_exported_tool(strcmp(word, "-") == 0 ? "" : word, names[count], "d", PLAIN);
            tools[count].export_name = wt__str(names[count]);
            count++;
        }
        assert_int_equal(wt__export(tools, count, STR("openai-search"), &out, NULL), 0);
        assert_int_equal(wt__json_parse(&list, out.ptr, out.len, NULL), 0);
        write_outline(&got, list);
        if (!wt__str_equal(wt__buffer_view(&got), wt__str(rows[i].outline)))
            fail_msg("%s: %.*s", rows[i].what, (int)got.len, got.ptr);
        json_decref(list);
        wt__buffer_dispose(&out);
        wt__buffer_dispose(&got);
    }
}

/* A provider's name is untrusted text, so it is escaped. */
static void a_namespace_describes_its_provider(void **state)
{
    (void)state;
    struct tool tool = make_exported_tool("a \"shop\"\xe2\x80\xae", "n", "d", PLAIN);
    struct buffer out = {0};
    assert_int_equal(wt__export(&tool, 1, STR("openai-search"), &out, NULL), 0);
    assert_non_null(strstr(out.ptr, "\"name\":\"a_shop\",\"description\":\"Tools of a \\\"shop\\\"\\u202e\""));
    wt__buffer_dispose(&out);
}

/* Property names that Anthropic rejects are replaced by unique names. */
static void property_names_stay_unique(void **state)
{
    (void)state;
    static const struct {
        const char *what, *keys, *renamed;
    } rows[] = {
        {"accepted names stay, others lose the rejected characters", "a.b a-b A_b $.x", "a.b a-b A_b x"},
        {"a replacement does not take an accepted name", "a[b] a_b", "a_b_2 a_b"},
        {"a replacement does not take an accepted name with a number", "a[b] a(b) a_b a_b_2", "a_b_3 a_b_4 a_b a_b_2"},
        {"a name without ASCII letters becomes argument", "\xe6\x90\x9c \xe7\xb4\xa2 argument",
         "argument_2 argument_3 argument"},
        {"a long name is cut after a word",
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
        struct tool tool = make_exported_tool("p", "n", "d", schema.ptr);
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
    static const char *const formats[] = {"openai", "anthropic-reference", "anthropic-inline", "openai-search"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        wt__buffer_clear(&out);
        assert_int_equal(wt__export(NULL, 0, wt__str(formats[i]), &out, NULL), 0);
        assert_string_equal(out.ptr, "[]");
    }
    wt__buffer_dispose(&out);
}

static void openai_descriptions_end_at_a_character(void **state)
{
    (void)state;
    char description[3001];
    for (size_t i = 0; i < 3000; i += 2)
        memcpy(description + i, "\xc3\xa9", 3);
    struct tool tool = make_exported_tool("", "n", description, PLAIN);
    struct buffer out = {0};
    json_t *list;
    assert_int_equal(wt__export(&tool, 1, STR("openai"), &out, NULL), 0);
    assert_int_equal(wt__json_parse(&list, out.ptr, out.len, NULL), 0);
    const json_t *function = json_object_get(json_array_get(list, 0), "function");
    assert_int_equal(wt__json_str(function, "description").len, 2 * EXPORT_OPENAI_DESCRIPTION);
    json_decref(list);
    wt__buffer_dispose(&out);
}

static void an_unknown_format_is_reported(void **state)
{
    (void)state;
    struct buffer out = {0};
    wt_error err;
    assert_int_equal(wt__export(NULL, 0, STR("soap"), &out, &err), WT_EINVAL);
    assert_string_equal(err.message, "unknown format \"soap\"; choose one of openai, openai-responses, "
                                     "anthropic, gemini, mcp, anthropic-reference, anthropic-inline, "
                                     "openai-search");
    wt__buffer_dispose(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_api_gets_what_it_accepts),      cmocka_unit_test(property_names_stay_unique),
        cmocka_unit_test(no_tools_are_an_empty_list),         cmocka_unit_test(openai_descriptions_end_at_a_character),
        cmocka_unit_test(an_unknown_format_is_reported),      cmocka_unit_test(search_answers_have_plain_definitions),
        cmocka_unit_test(namespaces_group_tools_by_provider), cmocka_unit_test(a_namespace_describes_its_provider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
