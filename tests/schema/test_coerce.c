/* Tests wt__coerce: values it converts, and values it keeps byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/coerce.h"
#include "schema/support.h"

#define OBJECT(properties) "{'type': 'object', 'properties': {" properties "}}"
#define N(schema) OBJECT("'n': " schema)

/* Schemas and instances use ' for ". becomes: the coerced text; NULL if wt__coerce returns 0. */
static const struct {
    const char *what, *schema, *instance, *becomes;
} rows[] = {
    {"a value that already fits", N("{'type': 'integer'}"), "{ 'n' : 5 }", NULL},
    {"text where text is allowed", N("{'type': ['string', 'integer']}"), "{'n':'5'}", NULL},
    {"text where the schema has no type", N("{}"), "{'n':'5'}", NULL},

    /* numbers */
    {"text of an integer", N("{'type': 'integer'}"), "{'n':'5'}", "{'n':5}"},
    {"text of a negative integer", N("{'type': 'integer'}"), "{'n':'-5'}", "{'n':-5}"},
    {"text of an integer of twenty digits", N("{'type': 'integer'}"), "{'n':'12345678901234567890'}",
     "{'n':12345678901234567890}"},
    {"text of a whole number with a fraction of zeros", N("{'type': 'integer'}"), "{'n':'5.0'}", "{'n':5.0}"},
    {"text of a number", N("{'type': 'number'}"), "{'n':'2.50'}", "{'n':2.50}"},
    {"text of an integer where a number is expected", N("{'type': 'number'}"), "{'n':'2'}", "{'n':2}"},
    {"text with an exponent where a number is expected", N("{'type': 'number'}"), "{'n':'1e3'}", "{'n':1e3}"},
    {"text of a fraction where an integer is expected", N("{'type': 'integer'}"), "{'n':'5.5'}", NULL},
    {"text of a fraction that a double rounds to an integer", N("{'type': 'integer'}"),
     "{'n':'1.00000000000000000000001'}", NULL},
    {"text with an exponent where an integer is expected", N("{'type': 'integer'}"), "{'n':'1e3'}", NULL},
    {"text of a number above the range of a double", N("{'type': 'number'}"), "{'n':'1e400'}", NULL},
    {"text of an integer with blanks around it", N("{'type': 'integer'}"), "{'n':' 5 '}", NULL},
    {"text of an integer with a unit", N("{'type': 'integer'}"), "{'n':'5 km'}", NULL},
    {"text of an integer with a plus sign", N("{'type': 'integer'}"), "{'n':'+5'}", NULL},
    {"text of an integer with a leading zero", N("{'type': 'integer'}"), "{'n':'05'}", NULL},
    {"text with hexadecimal digits", N("{'type': 'integer'}"), "{'n':'0x5'}", NULL},
    {"empty text", N("{'type': 'integer'}"), "{'n':''}", NULL},
    {"text 'NaN'", N("{'type': 'number'}"), "{'n':'NaN'}", NULL},
    {"text of an integer above the maximum", N("{'type': 'integer', 'maximum': 4}"), "{'n':'5'}", NULL},
    {"text of an integer in the enumeration", N("{'type': 'integer', 'enum': [5, 6]}"), "{'n':'5'}", "{'n':5}"},
    {"text of an integer that is not in the enumeration", N("{'type': 'integer', 'enum': [7]}"), "{'n':'5'}", NULL},
    {"a number where text is expected", N("{'type': 'string'}"), "{'n':5}", NULL},
    {"an integer where a Boolean is expected", N("{'type': 'boolean'}"), "{'n':1}", NULL},

    /* booleans */
    {"text 'true' where a Boolean is expected", N("{'type': 'boolean'}"), "{'n':'true'}", "{'n':true}"},
    {"text 'false' where a Boolean is expected", N("{'type': 'boolean'}"), "{'n':'false'}", "{'n':false}"},
    {"text 'True' where a Boolean is expected", N("{'type': 'boolean'}"), "{'n':'True'}", NULL},
    {"text 'yes' where a Boolean is expected", N("{'type': 'boolean'}"), "{'n':'yes'}", NULL},
    {"text '1' where a Boolean is expected", N("{'type': 'boolean'}"), "{'n':'1'}", NULL},

    /* arrays and objects */
    {"text of an array", N("{'type': 'array'}"), "{'n':'[1, 2.0]'}", "{'n':[1, 2.0]}"},
    {"text of an object", N("{'type': 'object'}"), "{'n':'{\\'a\\': 1}'}", "{'n':{'a': 1}}"},
    {"text of an object with blanks around it", N("{'type': 'object'}"), "{'n':'\\n {\\'a\\': 1}\\n'}",
     "{'n':{'a': 1}}"},
    {"text of an array where an object is expected", N("{'type': 'object'}"), "{'n':'[1]'}", NULL},
    {"text of an array without its closing bracket", N("{'type': 'array'}"), "{'n':'[1'}", NULL},
    {"text that is not JSON where an array is expected", N("{'type': 'array'}"), "{'n':'x'}", NULL},
    {"text of an array with an escaped NUL", N("{'type': 'array'}"), "{'n':'[\\'\\\\u0000\\']'}", "{'n':['\\u0000']}"},
    {"text of an array whose items need conversion", N("{'type': 'array', 'items': {'type': 'integer'}}"),
     "{'n':'[1,\\'2\\']'}", "{'n':[1,2]}"},
    {"text of an array as an item of an array", N("{'items': {'type': 'array'}}"), "{'n':['[]']}", "{'n':[[]]}"},
    {"the whole instance as text", N("{'type': 'integer'}"), "'{\\'n\\':\\'5\\'}'", "{'n':5}"},

    /* null */
    {"null for an optional argument", N("{'type': 'integer'}"), "{'a':1, 'n':null, 'b':2}", "{'a':1,'b':2}"},
    {"null for the only argument", N("{'type': 'integer'}"), "{'n':null}", "{}"},
    {"null for a required argument", "{'properties': {'n': {'type': 'integer'}}, 'required': ['n']}", "{'n':null}",
     NULL},
    {"null where null is allowed", N("{'type': ['integer', 'null']}, 'm': {'type': 'integer'}"), "{'n':null,'m':'1'}",
     "{'n':null,'m':1}"},
    {"null in an array", N("{'items': {'type': 'integer'}}"), "{'n':[null]}", NULL},
    {"null in a map", N("{'additionalProperties': {'type': 'integer'}}"), "{'n':{'a':null}}", NULL},
    {"text 'null' where an integer or null is expected", N("{'type': ['integer', 'null']}"), "{'n':'null'}", NULL},

    /* depth */
    {"text in a nested object", N(OBJECT("'m': {'type': 'integer'}")), "{'n':{ 'm' : '5'}}", "{'n':{'m' : 5}}"},
    {"text in an item", N("{'items': {'type': 'integer'}}"), "{'n':[1,'2', 3]}", "{'n':[1,2,3]}"},
    {"text in an item of prefixItems", N("{'prefixItems': [{'type': 'integer'}], 'items': {'type': 'boolean'}}"),
     "{'n':['1','true']}", "{'n':[1,true]}"},
    {"text in an additional property", N("{'additionalProperties': {'type': 'integer'}}"), "{'n':{'a':'1'}}",
     "{'n':{'a':1}}"},
    {"text whose schema is a reference",
     "{'properties': {'n': {'$ref': '#/$defs/i'}}, '$defs': {'i': {'type': 'integer'}}}", "{'n':'5'}", "{'n':5}"},
    {"text whose schema refers to itself", "{'properties': {'v': {'type': 'integer'}, 'next': {'$ref': '#'}}}",
     "{'next':{'next':{'v':'5'}}}", "{'next':{'next':{'v':5}}}"},
    {"text whose schema is an allOf", N("{'allOf': [{'type': 'integer'}, {'minimum': 3}]}"), "{'n':'5'}", "{'n':5}"},
    {"a key with an escape", OBJECT("'a\\'b': {'type': 'integer'}"), "{'a\\u0022b':'5'}", "{'a\\u0022b':5}"},

    /* alternatives */
    {"anyOf with one branch that converts the text", N("{'anyOf': [{'type': 'integer'}, {'type': 'null'}]}"),
     "{'n':'5'}", "{'n':5}"},
    {"anyOf with an integer and an array, for the text of an array",
     N("{'anyOf': [{'type': 'integer'}, {'type': 'array'}]}"), "{'n':'[5]'}", "{'n':[5]}"},
    {"anyOf with a branch that accepts the text", N("{'anyOf': [{'type': 'integer'}, {'type': 'string'}]}"),
     "{'n':'5'}", NULL},
    {"anyOf with two branches that convert alike", N("{'anyOf': [{'type': 'integer'}, {'type': 'number'}]}"),
     "{'n':'5'}", "{'n':5}"},
    {"oneOf with two branches that convert alike", N("{'oneOf': [{'type': 'integer'}, {'type': 'number'}]}"),
     "{'n':'5'}", NULL},
    {"oneOf with one branch that converts the text", N("{'oneOf': [{'type': 'integer'}, {'type': 'boolean'}]}"),
     "{'n':'true'}", "{'n':true}"},
    {"anyOf with branches that drop the same members",
     N("{'anyOf': [" OBJECT("'a': {'type': 'integer'}, 'b': {'type': 'string'}") "," OBJECT(
         "'a': {'type': 'boolean'}, 'b': {'type': 'integer'}") "]}"),
     "{'n':{'a':null,'b':null,'c':1}}", "{'n':{'c':1}}"},
    {"anyOf with branches that convert different members",
     N("{'anyOf': [{'properties': {'a': {'type': 'integer'}}}, {'properties': {'b': {'type': 'integer'}}}]}"),
     "{'n':{'a':'1','b':'2'}}", NULL},

    /* other faults */
    {"another member still does not fit after the conversion", N("{'type': 'integer'}, 'm': {'type': 'integer'}"),
     "{'n':'5','m':'x'}", NULL},
    {"a member that is not allowed", "{'properties': {'n': {'type': 'integer'}}, 'additionalProperties': false}",
     "{'n':'5','x':1}", NULL},
    {"a required member is missing", "{'properties': {'n': {'type': 'integer'}}, 'required': ['m']}", "{'n':'5'}",
     NULL},
    {"other members keep their bytes", N("{'type': 'integer'}"), "{ 'a' : [1.50, 1e2 ,'\\u0041'] ,'n':'5'}",
     "{'a' : [1.50, 1e2 ,'\\u0041'],'n':5}"},
    {"a schema with endless references", "{'allOf': [{'type': 'object'}, {'$ref': '#'}]}", "'{}'", NULL},
};

/* Returns a copy of the text with " instead of '. Free with free(). */
static char *write_double_quotes(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy;
}

/* Parses the text of an instance and coerces it. */
static int coerce_text(struct buffer *out, const struct compiled *compiled, struct str instance, bool wraps)
{
    json_auto_t *value = NULL;
    assert_int_equal(wt__json_parse_with_nul(&value, instance.ptr, instance.len, NULL), 0);
    return wt__coerce(out, &value, compiled, instance, wraps);
}

static void converts_values_to_expected_types(void **state)
{
    size_t failures = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wt_error err = {0};
        struct buffer out = {0};
        struct compiled *compiled = compile_text(rows[i].schema, SCHEMA_2020_12, NULL, &err);
        if (!compiled)
            fail_msg("%s: %s", rows[i].what, err.message);
        char *instance = write_double_quotes(rows[i].instance),
             *becomes = write_double_quotes(rows[i].becomes ? rows[i].becomes : "");
        int rc = coerce_text(&out, compiled, wt__str(instance), false);
        if (rc != (rows[i].becomes != NULL) || !wt__str_equal(wt__buffer_view(&out), wt__str(becomes))) {
            printf("%s: %d %s\n", rows[i].what, rc, out.ptr ? out.ptr : "");
            failures++;
        }
        free(instance);
        free(becomes);
        wt__buffer_dispose(&out);
        wt__compiled_free(compiled);
    }
    assert_int_equal(failures, 0);
}

static void wraps_single_value_in_array(void **state)
{
    static const struct {
        const char *instance, *becomes;
    } wrapped[] = {
        {"{\"names\":\"x\"}", "{\"names\":[\"x\"]}"},
        {"{\"names\":\"[\\\"x\\\"]\"}", "{\"names\":[\"x\"]}"},
        {"{\"names\":5}", ""},
        {"{\"names\":null}", "{}"},
    };
    struct compiled *compiled =
        compile_text(OBJECT("'names': {'type': 'array', 'items': {'type': 'string'}}"), SCHEMA_2020_12, NULL, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        struct buffer out = {0};
        assert_int_equal(coerce_text(&out, compiled, wt__str(wrapped[i].instance), true), wrapped[i].becomes[0] != 0);
        assert_string_equal(out.ptr ? out.ptr : "", wrapped[i].becomes);
        wt__buffer_dispose(&out);
    }
    wt__compiled_free(compiled);
}

/* Schemas of servers and arguments of clients are untrusted, so the work must be bounded. */
static void stops_on_hostile_schemas_and_values(void **state)
{
    static const char *const schemas[] = {
        "{'anyOf': [{'$ref': '#'}, {'$ref': '#'}]}",
        "{'allOf': [{'type': 'integer'}, {'$ref': '#'}]}",
        "{'items': {'anyOf': [{'$ref': '#'}, {'$ref': '#'}, {'type': 'array', 'items': {'$ref': '#'}, 'minItems': 9}]},"
        " 'minItems': 2}",
    };
    struct buffer deep = {0}, out = {0};
    (void)state;
    for (int i = 0; i < WT_MAX_JSON_DEPTH; i++)
        wt__buffer_char(&deep, '[');
    for (int i = 0; i < WT_MAX_JSON_DEPTH; i++)
        wt__buffer_char(&deep, ']');
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        struct compiled *compiled = compile_text(schemas[i], SCHEMA_2020_12, NULL, NULL);
        assert_non_null(compiled);
        assert_int_equal(coerce_text(&out, compiled, wt__buffer_view(&deep), false), 0);
        assert_int_equal(coerce_text(&out, compiled, STR("\"5\""), true), 0);
        assert_int_equal(out.len, 0);
        wt__compiled_free(compiled);
    }
    wt__buffer_dispose(&deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_values_to_expected_types),
        cmocka_unit_test(wraps_single_value_in_array),
        cmocka_unit_test(stops_on_hostile_schemas_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
