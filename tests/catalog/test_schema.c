/* Tests schemas: conversion of dialects and of loose descriptions of parameters, unchanged valid schemas, and the words
 * of a schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "catalog/schema.h"

static json_t *parse_schema(const char *text)
{
    json_t *value;
    wt_error err;
    if (wt__json_parse(&value, text, strlen(text), &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return value;
}

static const struct {
    const char *what, *in, *out;
} dialects[] = {
    {"an empty schema", "{}", "{\"type\":\"object\",\"properties\":{}}"},
    {"types in capitals", "{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"STRING\"}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}"},
    {"nullable", "{\"properties\":{\"a\":{\"type\":\"integer\",\"nullable\":true},\"b\":{\"nullable\":false}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"integer\",\"null\"]},\"b\":{}}}"},
    {"names of Python's types",
     "{\"type\":\"dict\",\"properties\":{\"a\":{\"type\":\"List[int]\"},\"b\":{\"type\":\"Optional[str]\"},\"c\":"
     "{\"type\":\"float, optional\"},\"d\":{\"type\":\"any\"},\"e\":{\"type\":[\"str\",\"None\",\"str\"]}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\"},\"b\":{\"type\":\"string\"},\"c\":{\"type\":"
     "\"number\"},\"d\":{},\"e\":{\"type\":[\"string\",\"null\"]}}}"},
    {"exclusive bounds of OpenAPI 3.0",
     "{\"properties\":{\"a\":{\"minimum\":1,\"exclusiveMinimum\":true,\"maximum\":2,\"exclusiveMaximum\":false}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"exclusiveMinimum\":1,\"maximum\":2}}}"},
    {"counts as strings", "{\"properties\":{\"a\":{\"minItems\":\"2\",\"maxItems\":\"many\"}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"minItems\":2}}}"},
    {"required as a member of the property", "{\"properties\":{\"a\":{\"required\":true},\"b\":{\"required\":false}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"required\":[\"a\"]}"},
    {"a name required twice, and a number", "{\"required\":[\"a\",\"a\",3]}",
     "{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}"},
    {"keywords with the wrong kind of value",
     "{\"description\":[1],\"properties\":{\"a\":\"string\",\"b\":\"what it "
     "is\",\"c\":7,\"d\":{\"enum\":\"x\",\"anyOf\":[]}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"description\":\"what it "
     "is\"},\"c\":{},\"d\":{}}}"},
    {"properties and $defs that are not objects", "{\"properties\":{\"a\":{\"properties\":7}},\"$defs\":[1]}",
     "{\"type\":\"object\",\"properties\":{\"a\":{}}}"},
    {"a property called type", "{\"properties\":{\"type\":{\"type\":\"string\"},\"properties\":{\"type\":\"int\"}}}",
     "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"properties\":{\"type\":\"integer\"}}}"},
    {"values of enum and default stay unchanged",
     "{\"properties\":{\"a\":{\"enum\":[{\"type\":\"STRING\"}],\"default\":{\"type\":\"dict\"}}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[{\"type\":\"STRING\"}],\"default\":{\"type\":\"dict\"}}}}"},
    {"a root of another type", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
     "{\"type\":\"object\",\"properties\":{\"value\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
     "\"required\":["
     "\"value\"]}"},
};

static void each_dialect_becomes_json_schema(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        struct buffer out = {0};
        json_t *schema = parse_schema(dialects[i].in);
        assert_int_equal(wt__schema_write(&out, schema), 0);
        if (strcmp(out.ptr, dialects[i].out) != 0)
            fail_msg("%s: expected\n%s\ngot\n%s", dialects[i].what, dialects[i].out, out.ptr);
        json_decref(schema);
        schema = parse_schema(dialects[i].out);
        wt__buffer_clear(&out);
        assert_int_equal(wt__schema_write(&out, schema), 0);
        assert_string_equal(out.ptr, dialects[i].out); /* the normal form is stable */
        json_decref(schema);
        wt__buffer_dispose(&out);
    }
}

static const struct {
    const char *what, *in, *out; /* out is NULL for an unknown shape */
} loose[] = {
    {"a list of parameters",
     "[{\"name\":\"q\",\"type\":\"string\",\"required\":true,\"default\":\"\"},{\"name\":\"n\"},{\"no\":\"name\"},"
     "\"bare\"]",
     "{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"},\"n\":{},\"bare\":{}},\"required\":[\"q\"]}"},
    {"required and optional lists", "{\"required\":[{\"name\":\"a\"}],\"optional\":[{\"name\":\"b\",\"default\":5}]}",
     "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{\"default\":5}},\"required\":[\"a\"]}"},
    {"required names only", "{\"required\":[\"a\"]}",
     "{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"]}"},
    {"parameters with a schema",
     "[{\"name\":\"a\",\"in\":\"query\",\"schema\":{\"type\":\"str\"},\"description\":\"d\"}]",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"d\"}}}"},
    {"names with descriptions", "{\"type\":{\"type\":\"str\"},\"properties\":{\"description\":\"x\",\"type\":\"int\"}}",
     "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"properties\":{\"description\":\"x\","
     "\"type\":"
     "\"integer\"}}}"},
    {"names with types", "{\"city\":\"string\",\"when\":\"the day to ask for\"}",
     "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"when\":{\"description\":\"the day to ask "
     "for\"}}}"},
    {"a schema", "{\"type\":\"dict\",\"properties\":{\"a\":{\"type\":\"float\"}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"}}}"},
    {"no parameters", "{}", "{\"type\":\"object\",\"properties\":{}}"},
    {"a signature", "\"(image: str)\"", NULL},
};

static void loose_descriptions_of_known_shape_become_schemas(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof loose / sizeof loose[0]; i++) {
        struct buffer out = {0};
        json_t *parameters = parse_schema(loose[i].in), *schema;
        assert_int_equal(wt__schema_from_parameters(&schema, parameters), 0);
        if (loose[i].out) {
            assert_non_null(schema);
            assert_int_equal(wt__schema_write(&out, schema), 0);
            if (strcmp(out.ptr, loose[i].out) != 0)
                fail_msg("%s: expected\n%s\ngot\n%s", loose[i].what, loose[i].out, out.ptr);
        } else {
            assert_null(schema);
        }
        json_decref(schema);
        json_decref(parameters);
        wt__buffer_dispose(&out);
    }
}

/* Checks that each schema in a file of the official suite stays unchanged as a property. Returns the number of
 * schemas. */
static size_t check_suite_file(const char *path)
{
    char *bytes;
    size_t len, checked = 0, i;
    json_t *groups, *group;
    assert_int_equal(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, NULL), 0);
    if (wt__json_parse(&groups, bytes, len, NULL) == 0) {
        json_array_foreach(groups, i, group)
        {
            json_t *schema = json_object_get(group, "schema");
            json_t *root = json_pack("{s:s, s:{s:O}}", "type", "object", "properties", "x", schema);
            json_t *before = json_deep_copy(root), *after;
            struct buffer out = {0};
            assert_int_equal(wt__schema_write(&out, root), 0);
            assert_int_equal(wt__json_parse(&after, out.ptr, out.len, NULL), 0);
            if (!json_equal(before, after))
                fail_msg("%s, %s: became %s", path, wt__json_str(group, "description").ptr, out.ptr);
            checked++;
            wt__buffer_dispose(&out);
            json_decref(after);
            json_decref(before);
            json_decref(root);
        }
        json_decref(groups);
    }
    free(bytes);
    return checked;
}

static void valid_schemas_stay_as_they_are(void **state)
{
    (void)state;
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");
    char folder[600];
    struct arena arena = {0};
    char **paths;
    size_t count, checked = 0;
    snprintf(folder, sizeof folder, "%s%s/json-schema-suite/tests/draft2020-12",
             shared   ? shared
             : source ? source
                      : ".",
             shared ? "" : "/../shared");
    if (!wt__is_folder(folder)) {
        print_message("skipped: the JSON Schema test suite (not here)\n");
        skip();
    }
    assert_int_equal(wt__list_files(&arena, folder, 1000, &paths, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        checked += check_suite_file(paths[i]);
    assert_true(checked > 200);
    wt__arena_dispose(&arena);
}

static void completed_schemas_have_items(void **state)
{
    (void)state;
    json_t *schema =
        parse_schema("{\"properties\":{\"enum\":{\"type\":\"array\"},\"t\":{\"type\":\"array\",\"items\":[{},{}]}}}");
    struct buffer out = {0};
    assert_int_equal(wt__schema_complete(schema), 0);
    assert_int_equal(wt__json_write(&out, schema), 0);
    assert_string_equal(out.ptr,
                        "{\"properties\":{\"enum\":{\"type\":\"array\",\"items\":{}},\"t\":{\"type\":\"array\","
                        "\"prefixItems\":[{},{}],\"items\":{}}}}");
    wt__buffer_dispose(&out);
    json_decref(schema);
}

/* ---------------------------------------------------------------- words */

static const struct {
    const char *what, *schema, *names, *descriptions;
} texts[] = {
    {"names and descriptions",
     "{\"properties\":{\"city\":{\"description\":\"Where\"},\"unit\":{\"enum\":[\"celsius\",1,\"kelvin\"]}}}",
     "city\nunit\n", "Where\ncelsius\nkelvin\n"},
    {"nested parameters after their parent",
     "{\"properties\":{\"a\":{\"type\":\"object\",\"properties\":{\"b\":{\"items\":{\"properties\":{\"c\":{}}}}}},"
     "\"d\":{}}}",
     "a\nb\nc\nd\n", ""},
    {"references and alternatives",
     "{\"$defs\":{\"P\":{\"properties\":{\"x\":{\"$ref\":\"#/$defs/"
     "P\"}}}},\"anyOf\":[{\"properties\":{\"y\":{}}},{\"$ref\":"
     "\"#/nowhere\"}],\"properties\":{\"p\":{\"$ref\":\"#/$defs/P\"}}}",
     "p\nx\nx\nx\nx\ny\n", ""},
    {"not an object", "[1]", "", ""},
    {"not JSON", "{", "", ""},
};

static void the_words_of_a_schema_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct buffer names = {0}, descriptions = {0};
        assert_int_equal(wt__schema_text(wt__str(texts[i].schema), &names, &descriptions), 0);
        if (strcmp(names.ptr ? names.ptr : "", texts[i].names) != 0 ||
            strcmp(descriptions.ptr ? descriptions.ptr : "", texts[i].descriptions) != 0)
            fail_msg("%s: got names\n%sdescriptions\n%s", texts[i].what, names.ptr, descriptions.ptr);
        wt__buffer_dispose(&names);
        wt__buffer_dispose(&descriptions);
        assert_int_equal(wt__schema_text(wt__str(texts[i].schema), NULL, NULL), 0);
    }
}

static void text_of_large_schemas_is_bounded(void **state)
{
    (void)state;
    struct buffer schema = {0}, names = {0};
    wt__buffer_text(&schema, "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"properties\":{");
    for (int i = 0; i < 30; i++)
        wt__buffer_printf(&schema, "%s\"p%d\":{\"$ref\":\"#/$defs/a\"}", i ? "," : "", i);
    wt__buffer_text(&schema, "}}}}");
    assert_int_equal(wt__schema_text(wt__buffer_view(&schema), &names, NULL), 0);
    assert_true(names.len > 0 && names.len < 10 * SCHEMA_TEXT_PARAMETERS);
    wt__buffer_dispose(&schema);
    wt__buffer_dispose(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dialect_becomes_json_schema),
        cmocka_unit_test(loose_descriptions_of_known_shape_become_schemas),
        cmocka_unit_test(valid_schemas_stay_as_they_are),
        cmocka_unit_test(completed_schemas_have_items),
        cmocka_unit_test(the_words_of_a_schema_are_found),
        cmocka_unit_test(text_of_large_schemas_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
