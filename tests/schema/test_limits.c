/* Tests that hostile schemas, patterns and instances stop at their limits, and that the message names the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/support.h"

/* Checks that the instance is undecided, with a single message containing `said`. */
static void assert_undecided(const char *schema, json_t *instance, const char *said)
{
    wt_error err = {0};
    struct validation validation;
    struct compiled *compiled = compile_text(schema, SCHEMA_2020_12, NULL, &err);
    if (!compiled)
        fail_msg("%s: %s", schema, err.message);
    assert_int_equal(check_instance(compiled, instance), UNDECIDED);
    assert_int_equal(wt__validator_run(&validation, compiled, instance, true, &err), 0);
    assert_false(validation.fits);
    assert_int_equal(validation.violations.len, 1);
    char *text = list_messages(&validation);
    if (!strstr(text, said)) /* The place before the message depends on the counts of PCRE2. */
        fail_msg("expected %s\ngot      %s", said, text);
    free(text);
    wt__validation_dispose(&validation);
    wt__compiled_free(compiled);
    json_decref(instance);
}

static json_t *make_long_text(size_t len, char c, const char *tail)
{
    struct buffer text = {0};
    for (size_t i = 0; i < len; i++)
        wt__buffer_char(&text, c);
    wt__buffer_text(&text, tail);
    json_t *value = json_string(text.ptr);
    wt__buffer_dispose(&text);
    return value;
}

static void stops_slow_patterns(void **state)
{
    (void)state;
    assert_undecided("{'pattern': '(a+)+$'}", make_long_text(50, 'a', "!"),
                     "could not be checked in the time allowed: the pattern takes too long: (a+)+$");
    assert_undecided(
        "{'pattern': '^(([a-z])+.)+[A-Z]([a-z])+$'}", make_long_text(60, 'a', ""),
        "could not be checked in the time allowed: the pattern takes too long: ^(([a-z])+.)+[A-Z]([a-z])+$");
    assert_undecided("{'pattern': '[a-z]*[a-z]*[a-z]*[0-9]'}", make_long_text(100000, 'a', ""),
                     "could not be checked in the time allowed: the pattern takes too long: [a-z]*[a-z]*[a-z]*[0-9]");
    assert_undecided("{'pattern': '[a-z]*[0-9]'}", make_long_text(1000000, 'a', ""),
                     "could not be checked in the time allowed: the pattern takes too long: [a-z]*[0-9]");
    assert_undecided("{'patternProperties': {'(x+x+)+[yz]': true}}",
                     json_pack("{s:i}", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1),
                     "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: could not be checked in the time allowed: the pattern "
                     "takes too long");
    /* Each match stays below its own limit, but the steps of all matches add up. */
    json_t *many = json_array();
    json_t *text = make_long_text(100, 'a', "");
    for (int i = 0; i < 20000; i++)
        json_array_append(many, text);
    json_decref(text);
    assert_undecided("{'items': {'not': {'pattern': '[a-z]*[a-z]*[0-9]'}}}", many,
                     "could not be checked in the time allowed: the schema needs more than 5000000 steps");
}

static void matches_long_text_with_simple_pattern(void **state)
{
    (void)state;
    struct compiled *compiled = compile_text("{'pattern': '^[a-z]+$'}", SCHEMA_2020_12, NULL, NULL);
    json_t *text = make_long_text(1000000, 'a', "");
    assert_int_equal(check_instance(compiled, text), FITS);
    json_decref(text);
    wt__compiled_free(compiled);
}

static void detects_endless_references(void **state)
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

/* Returns a schema with a chain of `len` definitions. Each definition refers to the next. last: JSON of the last
 * definition. */
static char *make_reference_chain(int len, const char *last)
{
    struct buffer schema = {0};
    wt__buffer_text(&schema, "{'$ref': '#/$defs/0', '$defs': {");
    for (int i = 0; i + 1 < len; i++)
        wt__buffer_printf(&schema, "'%d': {'$ref': '#/$defs/%d'},", i, i + 1);
    wt__buffer_printf(&schema, "'%d': %s}}", len - 1, last);
    return wt__buffer_take(&schema);
}

/* A chain within VALIDATION_DEPTH is followed, and a cycle in it is detected. A longer chain reaches the limit. */
static void stops_long_reference_chains(void **state)
{
    (void)state;
    char *schema = make_reference_chain(500, "{'type': 'integer'}");
    struct compiled *compiled = compile_text(schema, SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_integer(1);
    assert_int_equal(check_instance(compiled, instance), FITS);
    json_decref(instance);
    wt__compiled_free(compiled);
    free(schema);
    schema = make_reference_chain(200, "{'$ref': '#'}");
    assert_undecided(schema, json_integer(1), "could not be checked: the schema refers to itself without end");
    free(schema);
    schema = make_reference_chain(20000, "{'$ref': '#'}");
    assert_undecided(schema, json_integer(1), "could not be checked: it needs schemas nested more than 512 deep");
    free(schema);
}

/* Every item leads into the cycle. The evaluation stops at the first item. */
static void stops_cycle_at_first_value(void **state)
{
    (void)state;
    json_t *instance = json_array();
    for (int i = 0; i < 100000; i++)
        json_array_append_new(instance, json_integer(i));
    assert_undecided("{'items': {'$ref': '#/$defs/a'}, '$defs': {'a': {'anyOf': [{'$ref': '#/$defs/b'}, false]}, 'b': "
                     "{'$ref': '#/$defs/a'}}}",
                     instance, "/0: could not be checked: the schema refers to itself without end");
}

/* With two references per level to the next level, 20 levels need a million evaluations, and 40 levels 2^40. */
static void stops_exponential_schemas(void **state)
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
                         "could not be checked in the time allowed: the schema needs more than 5000000 steps");
        wt__buffer_dispose(&schema);
    }
}

/* 18 levels with two references each are about half a million evaluations. */
static void half_a_million_evaluations_fit_budget(void **state)
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
    assert_int_equal(check_instance(compiled, instance), FITS);
    json_decref(instance);
    wt__compiled_free(compiled);
    wt__buffer_dispose(&schema);
}

static json_t *make_nested_arrays(int depth)
{
    json_t *value = json_array();
    for (int i = 1; i < depth; i++) {
        json_t *outer = json_array();
        json_array_append_new(outer, value);
        value = outer;
    }
    return value;
}

static void stops_deep_evaluations(void **state)
{
    (void)state;
    wt_error err = {0};
    struct validation validation;
    struct compiled *compiled = compile_text("{'items': {'$ref': '#'}}", SCHEMA_2020_12, NULL, NULL);
    json_t *instance = make_nested_arrays(60);
    assert_int_equal(check_instance(compiled, instance), FITS);
    json_decref(instance);
    instance = make_nested_arrays(1000);
    assert_int_equal(wt__validator_run(&validation, compiled, instance, false, &err), 0);
    assert_int_equal(validation.violations.items[0].kind, VIOLATION_DEPTH);
    char *text = list_messages(&validation);
    assert_non_null(strstr(text, "could not be checked: it needs schemas nested more than 512 deep"));
    free(text);
    wt__validation_dispose(&validation);
    json_decref(instance);
    wt__compiled_free(compiled);
}

static void assert_too_long(json_t *schema, json_t *table, const char *said)
{
    wt_error err = {0};
    struct compiled *compiled;
    assert_int_equal(wt__compile_schema(&compiled, schema, SCHEMA_2020_12, table, true, NULL, &err), WT_ETOOLONG);
    assert_null(compiled);
    assert_string_equal(err.message, said);
    json_decref(schema);
    json_decref(table);
}

static void rejects_schemas_over_limits(void **state)
{
    (void)state;
    json_t *schema = json_object();
    for (int i = 0; i < 200; i++)
        schema = json_pack("{s:o}", "not", schema);
    assert_too_long(schema, NULL, "the schema is nested deeper than 128 levels");
    json_t *list = json_array();
    for (int i = 0; i < SCHEMA_SUBSCHEMAS; i++)
        json_array_append_new(list, json_object());
    assert_too_long(json_pack("{s:o}", "allOf", list), NULL, "the schema has more than 100000 subschemas");
    list = json_array();
    for (int i = 0; i <= SCHEMA_SUBSCHEMAS; i++)
        json_array_append_new(list, json_true());
    assert_too_long(json_pack("{s:o}", "allOf", list), NULL, "the schema has more than 100000 subschemas");
    json_t *table = json_object();
    for (int i = 0; i <= SCHEMA_DOCUMENTS; i++) {
        char uri[40];
        snprintf(uri, sizeof uri, "https://e.test/%d", i);
        json_object_set_new(table, uri, json_true());
    }
    assert_too_long(json_object(), table, "more than 1000 documents are passed with the schema");
    struct buffer said = {0};
    wt__buffer_text(&said, "schema at its root: \"pattern\" is longer than 16384 bytes: \"");
    for (int i = 0; i < 200; i++)
        wt__buffer_char(&said, 'a');
    wt__buffer_char(&said, '"');
    assert_too_long(json_pack("{s:o}", "pattern", make_long_text(PATTERN_BYTES + 1, 'a', "")), NULL, said.ptr);
    wt__buffer_dispose(&said);
    assert_too_long(json_pack("{s:o}", "$ref", make_long_text(SCHEMA_URI_BYTES + 1, 'a', "")), NULL,
                    "schema at its root: \"$ref\" is longer than 4096 bytes");
    assert_too_long(json_pack("{s:o}", "$id", make_long_text(SCHEMA_URI_BYTES + 1, 'a', "")), NULL,
                    "schema at its root: \"$id\" or an anchor is longer than 4096 bytes");
    /* Each address is short enough, but the resolved one is not. */
    assert_too_long(json_pack("{s:o, s:{s:o}}", "$id", make_long_text(3000, 'a', "/"), "not", "$id",
                              make_long_text(3000, 'b', "/")),
                    NULL, "schema /not: \"$id\" resolves to an address of more than 4096 bytes");
    assert_too_long(
        json_pack("{s:o, s:o}", "$id", make_long_text(3000, 'a', "/"), "$ref", make_long_text(3000, 'b', "/")), NULL,
        "schema at its root: \"$ref\" resolves to an address of more than 4096 bytes");
}

static void limits_total_pattern_memory(void **state)
{
    (void)state;
    json_t *list = json_array();
    for (int i = 0; i < 3000; i++)
        json_array_append_new(list, json_pack("{s:s}", "pattern", "(?:[^a]b|c){900}"));
    wt_error err = {0};
    struct compiled *compiled;
    json_t *schema = json_pack("{s:o}", "anyOf", list);
    assert_int_equal(wt__compile_schema(&compiled, schema, SCHEMA_2020_12, NULL, true, NULL, &err), WT_ETOOLONG);
    assert_non_null(strstr(err.message, "makes the patterns of the schema exceed 16777216 bytes"));
    json_decref(schema);
}

/* All items fail. The number of kept violations and the cost stay bounded. */
static void bounds_number_of_violations(void **state)
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

/* Violations in alternatives are not recorded if another alternative fits. Otherwise they would fill the list before
 * the actual violation. */
static void reports_late_violation(void **state)
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
    char *text = list_messages(&validation);
    assert_string_equal(text, "/30000: expected an integer or null, got \"x\"");
    free(text);
    wt__validation_dispose(&validation);
    json_decref(instance);
    wt__compiled_free(compiled);
}

/* Long arrays are checked with sorted hashes, so the time is not quadratic. */
static void unique_items_are_not_quadratic(void **state)
{
    (void)state;
    struct compiled *compiled = compile_text("{'uniqueItems': true}", SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_array();
    for (int i = 0; i < 200000; i++)
        json_array_append_new(instance, json_integer(i));
    assert_int_equal(check_instance(compiled, instance), FITS);
    json_array_append_new(instance, json_real(199999.0));
    assert_int_equal(check_instance(compiled, instance), FITS_NOT);
    json_decref(instance);
    wt__compiled_free(compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_slow_patterns),
        cmocka_unit_test(matches_long_text_with_simple_pattern),
        cmocka_unit_test(detects_endless_references),
        cmocka_unit_test(stops_long_reference_chains),
        cmocka_unit_test(stops_cycle_at_first_value),
        cmocka_unit_test(stops_exponential_schemas),
        cmocka_unit_test(half_a_million_evaluations_fit_budget),
        cmocka_unit_test(stops_deep_evaluations),
        cmocka_unit_test(rejects_schemas_over_limits),
        cmocka_unit_test(limits_total_pattern_memory),
        cmocka_unit_test(bounds_number_of_violations),
        cmocka_unit_test(reports_late_violation),
        cmocka_unit_test(unique_items_are_not_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
