/* Hostile schemas, patterns and instances: each ends within its limit, and says which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/support.h"

/* The one thing that is said of instance, which must be that it could not be decided. */
static void assert_undecided(const char *schema, json_t *instance, const char *said)
{
    wt_error err = {0};
    struct validation validation;
    struct compiled *compiled = compile_text(schema, SCHEMA_2020_12, NULL, &err);
    if (!compiled)
        fail_msg("%s: %s", schema, err.message);
    assert_int_equal(wt__validator_check(compiled, instance), UNDECIDED);
    assert_int_equal(wt__validator_run(&validation, compiled, instance, true, &err), 0);
    assert_false(validation.fits);
    assert_int_equal(validation.violations.len, 1);
    char *text = sentences(&validation);
    if (!strstr(text, said)) /* the place before it depends on how PCRE2 counts */
        fail_msg("expected %s\ngot      %s", said, text);
    free(text);
    wt__validation_dispose(&validation);
    wt__compiled_free(compiled);
    json_decref(instance);
}

static json_t *long_text(size_t len, char c, const char *tail)
{
    struct buffer text = {0};
    for (size_t i = 0; i < len; i++)
        wt__buffer_char(&text, c);
    wt__buffer_text(&text, tail);
    json_t *value = json_string(text.ptr);
    wt__buffer_dispose(&text);
    return value;
}

static void patterns_that_take_too_long_end(void **state)
{
    (void)state;
    assert_undecided("{'pattern': '(a+)+$'}", long_text(50, 'a', "!"),
                     "could not be checked in the time allowed: the pattern takes too long: (a+)+$");
    assert_undecided(
        "{'pattern': '^(([a-z])+.)+[A-Z]([a-z])+$'}", long_text(60, 'a', ""),
        "could not be checked in the time allowed: the pattern takes too long: ^(([a-z])+.)+[A-Z]([a-z])+$");
    assert_undecided("{'pattern': '[a-z]*[a-z]*[a-z]*[0-9]'}", long_text(100000, 'a', ""),
                     "could not be checked in the time allowed: the pattern takes too long: [a-z]*[a-z]*[a-z]*[0-9]");
    assert_undecided("{'pattern': '[a-z]*[0-9]'}", long_text(1000000, 'a', ""),
                     "could not be checked in the time allowed: the pattern takes too long: [a-z]*[0-9]");
    assert_undecided("{'patternProperties': {'(x+x+)+[yz]': true}}",
                     json_pack("{s:i}", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1),
                     "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: could not be checked in the time allowed: the pattern "
                     "takes too long");
    /* Matches that each stay below the limit of one add up. */
    json_t *many = json_array();
    json_t *text = long_text(100, 'a', "");
    for (int i = 0; i < 20000; i++)
        json_array_append(many, text);
    json_decref(text);
    assert_undecided("{'items': {'not': {'pattern': '[a-z]*[a-z]*[0-9]'}}}", many,
                     "could not be checked in the time allowed: the schema asks for more than 5000000 steps");
}

static void long_texts_and_plain_patterns_are_fine(void **state)
{
    (void)state;
    struct compiled *compiled = compile_text("{'pattern': '^[a-z]+$'}", SCHEMA_2020_12, NULL, NULL);
    json_t *text = long_text(1000000, 'a', "");
    assert_int_equal(wt__validator_check(compiled, text), FITS);
    json_decref(text);
    wt__compiled_free(compiled);
}

static void references_without_end_are_found(void **state)
{
    static const char *const schemas[] = {
        "{'$ref': '#'}",
        "{'$defs': {'a': {'$ref': '#/$defs/b'}, 'b': {'$ref': '#/$defs/a'}}, '$ref': '#/$defs/a'}",
        "{'$defs': {'a': {'allOf': [{'$ref': '#/$defs/a'}]}}, '$ref': '#/$defs/a'}",
        "{'$defs': {'a': {'anyOf': [{'not': {'$ref': '#/$defs/a'}}]}}, '$ref': '#/$defs/a'}",
        "{'$dynamicAnchor': 'x', '$dynamicRef': '#x'}",
        "{'if': {'$ref': '#'}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++)
        assert_undecided(schemas[i], json_integer(1), "could not be checked: the schema refers to itself without end");
}

/* So many definitions, each of which is a reference to the next one, and the last one to `last`. */
static char *chain(int len, const char *last)
{
    struct buffer schema = {0};
    wt__buffer_text(&schema, "{'$ref': '#/$defs/0', '$defs': {");
    for (int i = 0; i + 1 < len; i++)
        wt__buffer_printf(&schema, "'%d': {'$ref': '#/$defs/%d'},", i, i + 1);
    wt__buffer_printf(&schema, "'%d': %s}}", len - 1, last);
    return wt__buffer_take(&schema);
}

/* Within the depth that evaluations may have a chain is followed, and a circle is found; beyond it that is the answer.
 */
static void chains_of_references_end(void **state)
{
    (void)state;
    char *schema = chain(500, "{'type': 'integer'}");
    struct compiled *compiled = compile_text(schema, SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_integer(1);
    assert_int_equal(wt__validator_check(compiled, instance), FITS);
    json_decref(instance);
    wt__compiled_free(compiled);
    free(schema);
    schema = chain(200, "{'$ref': '#'}");
    assert_undecided(schema, json_integer(1), "could not be checked: the schema refers to itself without end");
    free(schema);
    schema = chain(20000, "{'$ref': '#'}");
    assert_undecided(schema, json_integer(1),
                     "could not be checked: it takes schemas within schemas more than 512 deep");
    free(schema);
}

/* Every value leads into the circle anew: the first one ends it. */
static void circles_at_many_values_end(void **state)
{
    (void)state;
    json_t *instance = json_array();
    for (int i = 0; i < 100000; i++)
        json_array_append_new(instance, json_integer(i));
    assert_undecided("{'items': {'$ref': '#/$defs/a'}, '$defs': {'a': {'anyOf': [{'$ref': '#/$defs/b'}, false]}, 'b': "
                     "{'$ref': '#/$defs/a'}}}",
                     instance, "/0: could not be checked: the schema refers to itself without end");
}

/* 20 levels of allOf with two references each to the next: a million evaluations; with 40 a million times as many. */
static void schemas_that_explode_end(void **state)
{
    static const char *const keywords[] = {"allOf", "anyOf", "oneOf"};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct buffer schema = {0};
        wt__buffer_text(&schema, "{'$ref': '#/$defs/0', '$defs': {");
        for (int i = 0; i < 40; i++)
            wt__buffer_printf(&schema, "'%d': {'%s': [{'$ref': '#/$defs/%d'}, {'$ref': '#/$defs/%d'}]},", i,
                              keywords[k], i + 1, i + 1);
        wt__buffer_printf(&schema, "'40': %s}}", k == 0 ? "true" : "false");
        assert_undecided(schema.ptr, json_integer(1),
                         "could not be checked in the time allowed: the schema asks for more than 5000000 steps");
        wt__buffer_dispose(&schema);
    }
}

static void a_million_evaluations_are_within_the_budget(void **state)
{
    (void)state;
    struct buffer schema = {0};
    wt__buffer_text(&schema, "{'$ref': '#/$defs/0', '$defs': {");
    for (int i = 0; i < 18; i++)
        wt__buffer_printf(&schema, "'%d': {'allOf': [{'$ref': '#/$defs/%d'}, {'$ref': '#/$defs/%d'}]},", i, i + 1,
                          i + 1);
    wt__buffer_text(&schema, "'18': {'type': 'integer'}}}");
    struct compiled *compiled = compile_text(schema.ptr, SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_integer(1);
    assert_int_equal(wt__validator_check(compiled, instance), FITS);
    json_decref(instance);
    wt__compiled_free(compiled);
    wt__buffer_dispose(&schema);
}

static json_t *nested_arrays(int depth)
{
    json_t *value = json_array();
    for (int i = 1; i < depth; i++) {
        json_t *outer = json_array();
        json_array_append_new(outer, value);
        value = outer;
    }
    return value;
}

static void deep_evaluations_end(void **state)
{
    (void)state;
    wt_error err = {0};
    struct validation validation;
    struct compiled *compiled = compile_text("{'items': {'$ref': '#'}}", SCHEMA_2020_12, NULL, NULL);
    json_t *instance = nested_arrays(60);
    assert_int_equal(wt__validator_check(compiled, instance), FITS);
    json_decref(instance);
    instance = nested_arrays(1000);
    assert_int_equal(wt__validator_run(&validation, compiled, instance, false, &err), 0);
    assert_int_equal(validation.violations.items[0].kind, VIOLATION_DEPTH);
    char *text = sentences(&validation);
    assert_non_null(strstr(text, "could not be checked: it takes schemas within schemas more than 512 deep"));
    free(text);
    wt__validation_dispose(&validation);
    json_decref(instance);
    wt__compiled_free(compiled);
}

static void assert_too_long(json_t *schema, json_t *table, const char *said)
{
    wt_error err = {0};
    struct compiled *compiled;
    assert_int_equal(wt__compile_schema(&compiled, schema, SCHEMA_2020_12, table, true, &err), WT_ETOOLONG);
    assert_null(compiled);
    assert_string_equal(err.message, said);
    json_decref(schema);
    json_decref(table);
}

static void schemas_over_a_limit_are_refused(void **state)
{
    (void)state;
    json_t *schema = json_object();
    for (int i = 0; i < 200; i++)
        schema = json_pack("{s:o}", "not", schema);
    assert_too_long(schema, NULL, "schemas are nested deeper than 128 levels");
    json_t *list = json_array();
    for (int i = 0; i < SCHEMA_SUBSCHEMAS; i++)
        json_array_append_new(list, json_object());
    assert_too_long(json_pack("{s:o}", "allOf", list), NULL, "there are more than 100000 subschemas");
    list = json_array();
    for (int i = 0; i <= SCHEMA_SUBSCHEMAS; i++)
        json_array_append_new(list, json_true());
    assert_too_long(json_pack("{s:o}", "allOf", list), NULL, "there are more than 100000 subschemas");
    json_t *table = json_object();
    for (int i = 0; i <= SCHEMA_DOCUMENTS; i++) {
        char uri[40];
        snprintf(uri, sizeof uri, "https://e.test/%d", i);
        json_object_set_new(table, uri, json_true());
    }
    assert_too_long(json_object(), table, "more than 1000 documents come with the schema");
    struct buffer said = {0};
    wt__buffer_text(&said, "schema at its root: \"pattern\" is longer than 16384 bytes: \"");
    for (int i = 0; i < 200; i++)
        wt__buffer_char(&said, 'a');
    wt__buffer_char(&said, '"');
    assert_too_long(json_pack("{s:o}", "pattern", long_text(PATTERN_BYTES + 1, 'a', "")), NULL, said.ptr);
    wt__buffer_dispose(&said);
    assert_too_long(json_pack("{s:o}", "$ref", long_text(SCHEMA_URI_BYTES + 1, 'a', "")), NULL,
                    "schema at its root: \"$ref\" a reference is longer than 4096 bytes");
    assert_too_long(json_pack("{s:o}", "$id", long_text(SCHEMA_URI_BYTES + 1, 'a', "")), NULL,
                    "schema at its root: \"$id\" or an anchor is longer than 4096 bytes");
    /* Each is short enough, but not behind those around it. */
    assert_too_long(
        json_pack("{s:o, s:{s:o}}", "$id", long_text(3000, 'a', "/"), "not", "$id", long_text(3000, 'b', "/")), NULL,
        "schema /not: \"$id\" makes an address of more than 4096 bytes");
    assert_too_long(json_pack("{s:o, s:o}", "$id", long_text(3000, 'a', "/"), "$ref", long_text(3000, 'b', "/")), NULL,
                    "schema at its root: \"$ref\" makes an address of more than 4096 bytes");
}

static void patterns_together_have_a_limit(void **state)
{
    (void)state;
    json_t *list = json_array();
    for (int i = 0; i < 3000; i++)
        json_array_append_new(list, json_pack("{s:s}", "pattern", "(?:[^a]b|c){900}"));
    wt_error err = {0};
    struct compiled *compiled;
    json_t *schema = json_pack("{s:o}", "anyOf", list);
    assert_int_equal(wt__compile_schema(&compiled, schema, SCHEMA_2020_12, NULL, true, &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "takes the schema's patterns over 16777216 bytes of memory"));
    json_decref(schema);
}

/* Everything fails at once: what is kept and what it costs stay bounded. */
static void violations_are_bounded(void **state)
{
    (void)state;
    struct validation validation;
    struct compiled *compiled = compile_text("{'items': {'anyOf': [{'minimum': 5, 'multipleOf': 2}, {'minimum': 6}]}}",
                                             SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_array();
    for (int i = 0; i < 50000; i++)
        json_array_append_new(instance, json_integer(1));
    assert_int_equal(wt__validator_run(&validation, compiled, instance, true, NULL), 0);
    assert_false(validation.fits);
    assert_true(validation.violations.len <= VIOLATIONS_KEPT);
    wt__validation_dispose(&validation);
    json_decref(instance);
    wt__compiled_free(compiled);
}

/* What alternatives break that fit in the end is not noted: it would fill the list before what counts is met. */
static void a_late_violation_is_told(void **state)
{
    (void)state;
    struct validation validation;
    struct compiled *compiled =
        compile_text("{'items': {'anyOf': [{'type': 'null'}, {'type': 'integer'}]}}", SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_array();
    for (int i = 0; i < 30000; i++)
        json_array_append_new(instance, json_integer(1));
    json_array_append_new(instance, json_string("x"));
    assert_int_equal(wt__validator_run(&validation, compiled, instance, true, NULL), 0);
    assert_false(validation.fits);
    char *text = sentences(&validation);
    assert_string_equal(text, "/30000: expected an integer or null, got \"x\"");
    free(text);
    wt__validation_dispose(&validation);
    json_decref(instance);
    wt__compiled_free(compiled);
}

/* Of many items hashes are sorted: none is compared with each. */
static void unique_items_of_many_are_not_quadratic(void **state)
{
    (void)state;
    struct compiled *compiled = compile_text("{'uniqueItems': true}", SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_array();
    for (int i = 0; i < 200000; i++)
        json_array_append_new(instance, json_integer(i));
    assert_int_equal(wt__validator_check(compiled, instance), FITS);
    json_array_append_new(instance, json_real(199999.0));
    assert_int_equal(wt__validator_check(compiled, instance), FITS_NOT);
    json_decref(instance);
    wt__compiled_free(compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_that_take_too_long_end),
        cmocka_unit_test(long_texts_and_plain_patterns_are_fine),
        cmocka_unit_test(references_without_end_are_found),
        cmocka_unit_test(chains_of_references_end),
        cmocka_unit_test(circles_at_many_values_end),
        cmocka_unit_test(schemas_that_explode_end),
        cmocka_unit_test(a_million_evaluations_are_within_the_budget),
        cmocka_unit_test(deep_evaluations_end),
        cmocka_unit_test(schemas_over_a_limit_are_refused),
        cmocka_unit_test(patterns_together_have_a_limit),
        cmocka_unit_test(violations_are_bounded),
        cmocka_unit_test(a_late_violation_is_told),
        cmocka_unit_test(unique_items_of_many_are_not_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
