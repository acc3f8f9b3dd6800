/* Tests the repair of an instance: values it changes, and values it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/support.h"

/* becomes: the repaired instance, NULL if unchanged. repairs: a line "POINTER WAS NOW" per repair. said: the messages
 * of the remaining violations. */
static const struct {
    const char *what, *schema, *instance, *becomes, *repairs, *said;
} rows[] = {
    {"valid instance", "{'properties': {'a': {'default': 3}}}", "{}", NULL, "", ""},
    {"text with an integer", "{'properties': {'n': {'type': 'integer'}}}", "{'n': '42'}", "{'n': 42}", "/n \"42\" 42",
     ""},
    {"text with a number", "{'items': {'type': 'number'}}", "['-1.5e3']", "[-1500.0]", "/0 \"-1.5e3\" -1500.0", ""},
    {"text with a number and a unit", "{'type': 'integer'}", "'42 km'", NULL, "", "expected an integer, got \"42 km\""},
    {"text with blanks", "{'type': 'integer'}", "' 42'", NULL, "", "expected an integer, got \" 42\""},
    {"text with a fraction for an integer", "{'type': 'integer'}", "'4.5'", NULL, "",
     "expected an integer, got \"4.5\""},
    {"text with an integer that would be rounded", "{'type': 'integer'}", "'123456789012345678901234567890'", NULL, "",
     "expected an integer, got \"123456789012345678901234567890\""},
    {"text with an integer above the maximum", "{'type': 'integer', 'maximum': 5}", "'42'", NULL, "",
     "expected an integer, got \"42\""},
    {"text with true", "{'type': 'boolean'}", "'true'", "true", " \"true\" true", ""},
    {"another word for true", "{'type': 'boolean'}", "'yes'", NULL, "", "expected true or false, got \"yes\""},
    {"number for text", "{'properties': {'zip': {'type': 'string'}}}", "{'zip': 80331}", "{'zip': '80331'}",
     "/zip 80331 \"80331\"", ""},
    {"number for text or null", "{'type': ['string', 'null']}", "7", "'7'", " 7 \"7\"", ""},
    {"number for text with a pattern that it does not match", "{'type': 'string', 'pattern': '^[a-z]'}", "7", NULL, "",
     "expected a string, got 7"},
    {"true for text", "{'type': 'string'}", "true", NULL, "", "expected a string, got true"},
    {"single value for an array", "{'properties': {'tags': {'type': 'array', 'items': {'type': 'string'}}}}",
     "{'tags': 'new'}", "{'tags': ['new']}", "/tags \"new\" [\"new\"]", ""},
    {"single value for an array with items of another type", "{'type': 'array', 'items': {'type': 'string'}}", "5",
     NULL, "", "expected an array, got 5"},
    {"single value for an array of at least two items", "{'type': 'array', 'minItems': 2}", "5", NULL, "",
     "expected an array, got 5"},
    {"enumeration value in other case", "{'enum': ['celsius', 'kelvin']}", "' Celsius'", "'celsius'",
     " \" Celsius\" \"celsius\"", ""},
    {"enumeration value with other white space", "{'enum': ['New York']}", "'new\\n york '", "'New York'",
     " \"new\\n york \" \"New York\"", ""},
    {"two enumeration values match in other case", "{'enum': ['a', 'A ']}", "' A'", NULL, "",
     "expected one of \"a\", \"A \", got \" A\" (nearest: \"A \")"},
    {"near value of an enumeration", "{'enum': ['celsius', 'kelvin']}", "'celcius'", NULL, "",
     "expected one of \"celsius\", \"kelvin\", got \"celcius\" (nearest: \"celsius\")"},
    {"text with a number of an enumeration", "{'enum': [1, 2]}", "'2'", "2", " \"2\" 2", ""},
    {"constant in other case", "{'const': 'POST'}", "'post'", "'POST'", " \"post\" \"POST\"", ""},
    {"constants as alternatives", "{'oneOf': [{'const': 'up'}, {'const': 'down'}]}", "'UP'", "'up'", " \"UP\" \"up\"",
     ""},
    {"missing property with a default", "{'required': ['n'], 'properties': {'n': {'type': 'integer', 'default': 10}}}",
     "{'a': 1}", "{'a': 1, 'n': 10}", "/n - 10", ""},
    {"missing property with an invalid default",
     "{'required': ['n'], 'properties': {'n': {'type': 'integer', 'default': '10'}}}", "{}", NULL, "",
     "required argument \"n\" is missing"},
    {"missing property without a default", "{'required': ['n']}", "{}", NULL, "", "required argument \"n\" is missing"},
    {"text with an integer, for one of two alternatives",
     "{'properties': {'a': {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}}}", "{'a': '3'}", "{'a': 3}",
     "/a \"3\" 3", ""},
    {"several repairs",
     "{'properties': {'a': {'type': 'integer'}, 'b': {'type': 'boolean'}, 'c': {'items': {'type': "
     "'integer'}}}}",
     "{'a': '1', 'b': 'false', 'c': [1, '2', 'x', '3']}", "{'a': 1, 'b': false, 'c': [1, 2, 'x', 3]}",
     "/a \"1\" 1\n/b \"false\" false\n/c/1 \"2\" 2\n/c/3 \"3\" 3", "/c/2: expected an integer, got \"x\""},
    {"missing property with an object as default",
     "{'type': 'object', 'required': ['a'], 'properties': {'a': {'type': 'object', "
     "'default': {}, 'properties': {}}}}",
     "{}", "{'a': {}}", "/a - {}", ""},
    {"text with an integer below the minimum of another schema", "{'allOf': [{'type': 'integer'}, {'minimum': 10}]}",
     "'5'", NULL, "", "expected an integer, got \"5\""},
    {"two schemas with contradicting types", "{'allOf': [{'type': 'integer'}, {'type': 'string'}]}", "'5'", NULL, "",
     "expected an integer, got \"5\""},
    {"property name in other case is not repaired", "{'propertyNames': {'enum': ['a']}}", "{'A': 1}", NULL, "",
     "/A: the name of the property: expected \"a\", got \"A\""},
};

static char *list_repairs(const struct repairs *repairs)
{
    struct buffer text = {0};
    for (size_t i = 0; i < repairs->len; i++) {
        const struct repair *repair = &repairs->items[i];
        wt__buffer_printf(&text, "%s%s %s %s", i > 0 ? "\n" : "", repair->pointer, repair->was ? repair->was : "-",
                          repair->now);
        assert_true(repair->why[0] != '\0');
    }
    return wt__buffer_take(&text);
}

static void repairs_unambiguous_mistakes(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wt_error err = {0};
        struct validation validation;
        struct compiled *compiled = compile_text(rows[i].schema, SCHEMA_2020_12, NULL, &err);
        if (!compiled)
            fail_msg("%s: %s", rows[i].what, err.message);
        json_t *instance = json_of(rows[i].instance), *before = json_deep_copy(instance);
        json_t *becomes = json_of(rows[i].becomes ? rows[i].becomes : rows[i].instance);
        assert_int_equal(wt__validator_run(&validation, compiled, instance, true, &err), 0);
        char *said = list_messages(&validation), *repairs = list_repairs(&validation.repairs);
        bool changed = validation.repairs.len > 0;
        bool same = json_equal(changed ? validation.repairs.instance : instance, becomes);
        if (!same || strcmp(said, rows[i].said) != 0 || strcmp(repairs, rows[i].repairs) != 0) {
            printf("%s: repairs %s; said %s\n", rows[i].what, repairs, said);
            failures++;
        }
        assert_int_equal(validation.fits, said[0] == '\0');
        assert_true(json_equal(instance, before));
        free(said);
        free(repairs);
        wt__validation_dispose(&validation);
        json_decref(instance);
        json_decref(before);
        json_decref(becomes);
        wt__compiled_free(compiled);
    }
    assert_int_equal(failures, 0);
}

static void bounds_number_of_repairs(void **state)
{
    (void)state;
    struct validation validation;
    struct compiled *compiled = compile_text("{'items': {'type': 'integer'}}", SCHEMA_2020_12, NULL, NULL);
    json_t *instance = json_array();
    for (int i = 0; i < 200; i++)
        json_array_append_new(instance, json_string("1"));
    assert_int_equal(wt__validator_run(&validation, compiled, instance, true, NULL), 0);
    assert_int_equal(validation.repairs.len, REPAIRS_MAX);
    assert_int_equal(validation.violations.len, 200 - REPAIRS_MAX);
    wt__validation_dispose(&validation);
    json_decref(instance);
    wt__compiled_free(compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repairs_unambiguous_mistakes),
        cmocka_unit_test(bounds_number_of_repairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
