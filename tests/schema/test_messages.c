/* Tests the exact messages for invalid instances, in document order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/support.h"

static const struct {
    const char *what, *schema, *instance, *said;
} rows[] = {
    {"type", "{'properties': {'n': {'type': 'integer'}}}", "{'n': '5'}", "/n: expected an integer, got \"5\""},
    {"several types", "{'type': ['null', 'integer', 'array']}", "{}", "expected an integer, an array or null, got {}"},
    {"number and integer", "{'type': ['number', 'integer', 'boolean']}", "'x'",
     "expected a number or true or false, got \"x\""},
    {"value of an enumeration", "{'properties': {'unit': {'enum': ['celsius', 'fahrenheit']}}}", "{'unit': 'celcius'}",
     "/unit: expected one of \"celsius\", \"fahrenheit\", got \"celcius\" (nearest: \"celsius\")"},
    {"enumeration without a near value", "{'enum': ['a', 1, null]}", "'strange'",
     "expected one of \"a\", 1, null, got \"strange\""},
    {"long enumeration", "{'enum': [0,1,2,3,4,5,6,7,8,9,10,11]}", "77",
     "expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more, got 77"},
    {"constant", "{'const': {'a': 1}}", "[2]", "expected {\"a\":1}, got [2]"},
    {"constants as alternatives", "{'oneOf': [{'const': 'up', 'title': 'U'}, {'const': 'down'}]}", "'dwon'",
     "expected one of \"up\", \"down\", got \"dwon\" (nearest: \"down\")"},
    {"bounds", "{'items': {'minimum': 1, 'maximum': 3.5}}", "[0, 4, 2]",
     "/0: expected at least 1, got 0\n/1: expected at most 3.5, got 4"},
    {"exclusive bounds", "{'items': {'exclusiveMinimum': 1, 'exclusiveMaximum': 3}}", "[1, 3]",
     "/0: expected more than 1, got 1\n/1: expected less than 3, got 3"},
    {"multiple", "{'multipleOf': 5}", "7", "expected a multiple of 5, got 7"},
    {"lengths", "{'items': {'minLength': 1, 'maxLength': 2}}", "['', 'abc']",
     "/0: expected at least 1 character, got 0\n/1: expected at most 2 characters, got 3"},
    {"pattern", "{'pattern': '^a+$'}", "'b'", "expected text that matches ^a+$, got \"b\""},
    {"format", "{'properties': {'date': {'format': 'date'}}}", "{'date': 'tomorrow'}",
     "/date: expected a date such as 2026-03-01, got \"tomorrow\""},
    {"items", "{'properties': {'a': {'minItems': 2}, 'b': {'maxItems': 1}}}", "{'a': [], 'b': [1, 2]}",
     "/a: expected at least 2 items, got 0\n/b: expected at most 1 item, got 2"},
    {"equal items", "{'uniqueItems': true}", "['a', 'b', 'a']",
     "expected unique items, but items 0 and 2 are both \"a\""},
    {"contains", "{'contains': {'type': 'null'}}", "[1]", "expected at least 1 item matching \"contains\", got 0"},
    {"maxContains", "{'contains': {'type': 'null'}, 'maxContains': 1}", "[null, null]",
     "expected at most 1 item matching \"contains\", got 2"},
    {"missing argument", "{'required': ['city', 'day']}", "{'day': 1}", "required argument \"city\" is missing"},
    {"missing property", "{'properties': {'a': {'required': ['b']}}}", "{'a': {}}",
     "/a: required property \"b\" is missing"},
    {"dependent property", "{'dependentRequired': {'a': ['b']}}", "{'a': 1}",
     "required argument \"b\" is missing: it is required by \"a\""},
    {"unknown argument", "{'properties': {'city': {}}, 'additionalProperties': false}", "{'citi': 1, 'x': 1}",
     "unknown argument \"citi\" (did you mean \"city\"?)\nunknown argument \"x\""},
    {"unknown property", "{'properties': {'a': {'properties': {'b': {}}, 'unevaluatedProperties': false}}}",
     "{'a': {'c/d': 1}}", "/a: unknown property \"c/d\""},
    {"property with schema false", "{'properties': {'a': false}}", "{'a': 1}", "argument \"a\" is not allowed"},
    {"item with schema false", "{'items': false}", "[1]", "/0: nothing is allowed here, got 1"},
    {"property name", "{'propertyNames': {'maxLength': 2}}", "{'abc': 1}",
     "/abc: the name of the property: expected at most 2 characters, got 3"},
    {"number of properties", "{'minProperties': 2}", "{'a': 1}", "expected at least 2 properties, got 1"},
    {"not", "{'not': {'type': 'null'}}", "null", "expected a value that does not fit \"not\", got null"},
    {"several alternatives of oneOf", "{'oneOf': [{'minimum': 9}, {'type': 'integer'}, {'type': 'number'}]}", "3",
     "expected to fit exactly one alternative of \"oneOf\", fits alternatives 2 and 3"},
    {"alternatives of different types", "{'anyOf': [{'type': 'string'}, {'type': 'null'}]}", "5",
     "expected a string or null, got 5"},
    {"only alternative with the type of the value", "{'anyOf': [{'type': 'null'}, {'type': 'string', 'minLength': 3}]}",
     "'a'", "expected at least 3 characters, got 1"},
    {"nearest alternative",
     "{'properties': {'pay': {'oneOf': [{'properties': {'by': {'const': 'card'}, 'number': {'type': 'string'}}, "
     "'required': ['by', 'number']}, {'properties': {'by': {'const': 'cash'}}, 'required': ['by']}]}}}",
     "{'pay': {'by': 'card', 'number': 12}}",
     "/pay/number: expected a string, got 12 (by the nearest of 2 alternatives)"},
    {"document order",
     "{'required': ['z'], 'allOf': [{'properties': {'b': {'type': 'null'}}}], 'properties': "
     "{'c': {'type': 'null'}, 'a': {'items': {'type': 'null'}}}}",
     "{'a': [null, 1, 2], 'b': 3, 'c': 4}",
     "required argument \"z\" is missing\n/a/1: expected null, got 1\n/a/2: expected null, got 2\n"
     "/b: expected null, got 3\n/c: expected null, got 4"},
    {"long value", "{'type': 'null'}",
     "['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']",
     "expected null, got [\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."},
    {"long text", "{'type': 'null'}", "'ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää'",
     "expected null, got \"ääääääääääääääääääääääääääääää...\""},
    {"invisible characters", "{'additionalProperties': {'type': 'null'}}", "{'a\\u202e\\u001b': '\\u0007\xe2\x80\xae'}",
     "/a\\u202e\\u001b: expected null, got \"\\u0007\\u202e\""},
    {"escapes in pointers", "{'additionalProperties': {'type': 'null'}}", "{'a/b~': 1}",
     "/a~1b~0: expected null, got 1"},
};

static void describes_each_violation(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wt_error err = {0};
        struct validation validation;
        struct compiled *compiled = compile_text(rows[i].schema, SCHEMA_2020_12, NULL, &err);
        if (!compiled)
            fail_msg("%s: %s", rows[i].what, err.message);
        json_t *instance = json_of(rows[i].instance);
        assert_int_equal(wt__validator_run(&validation, compiled, instance, false, &err), 0);
        char *said = list_messages(&validation);
        if (strcmp(said, rows[i].said) != 0) {
            printf("%s:\nexpected %s\ngot      %s\n", rows[i].what, rows[i].said, said);
            failures++;
        }
        free(said);
        wt__validation_dispose(&validation);
        json_decref(instance);
        wt__compiled_free(compiled);
    }
    assert_int_equal(failures, 0);
}

/* The pointer to the keyword is its place in the schema, without the references that led there. */
static void locates_violations_in_instance_and_schema(void **state)
{
    static const struct {
        const char *schema, *instance, *at, *keyword;
    } places[] = {
        {"{'type': 'null'}", "1", "", "/type"},
        {"{'$defs': {'p/q': {'minimum': 3}}, 'items': {'$ref': '#/$defs/p~1q'}}", "[5, 1]", "/1",
         "/$defs/p~1q/minimum"},
        {"{'additionalProperties': false}", "{'a b': 1}", "/a b", "/additionalProperties"},
        {"{'allOf': [true, {'properties': {'a': false}}]}", "{'a': 1}", "/a", "/allOf/1/properties/a"},
        {"{'required': ['a']}", "{}", "", "/required"},
        {"{'anyOf': [{'type': 'null'}, {'required': ['a'], 'type': 'object'}]}", "{}", "", "/anyOf/1/required"},
        {"{'items': [{'type': 'null'}]}", "[1]", "/0", "/items/0/type"},
        {"{'$ref': 'https://e.test/n'}", "'x'", "", "https://e.test/n#/type"},
        {"{'propertyNames': {'pattern': '^a'}}", "{'b': 1}", "/b", "/propertyNames/pattern"},
    };
    (void)state;
    json_t *table = json_of("{'https://e.test/n': {'type': 'number'}}");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct validation validation;
        struct buffer at = {0}, keyword = {0};
        wt_error err = {0};
        struct compiled *compiled = compile_text(places[i].schema, SCHEMA_2020_12, table, &err);
        if (!compiled)
            fail_msg("%s: %s", places[i].schema, err.message);
        json_t *instance = json_of(places[i].instance);
        assert_int_equal(wt__validator_run(&validation, compiled, instance, false, NULL), 0);
        assert_int_equal(validation.violations.len, 1);
        wt__violation_pointer(&at, &validation.violations.items[0]);
        wt__violation_keyword(&keyword, &validation.violations.items[0]);
        assert_string_equal(at.ptr ? at.ptr : "", places[i].at);
        assert_string_equal(keyword.ptr, places[i].keyword);
        wt__buffer_dispose(&at);
        wt__buffer_dispose(&keyword);
        wt__validation_dispose(&validation);
        json_decref(instance);
        wt__compiled_free(compiled);
    }
    json_decref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes_each_violation),
        cmocka_unit_test(locates_violations_in_instance_and_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
