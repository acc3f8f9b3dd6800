/* Tests lossless repair: converted values, rejected values, and that everything else keeps its bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/coerce.h"
#include "schema/support.h"

#define OBJECT(properties) "{'type': 'object', 'properties': {" properties "}}"
#define N(schema) OBJECT("'n': " schema)

/* Schemas and instances use ' for ". becomes: the repaired text, NULL if the instance is not repaired. */
static const struct {
    const char *what, *schema, *instance, *becomes;
} rows[] = {
    {"valid value", N("{'type': 'integer'}"), "{ 'n' : 5 }", NULL},
    {"text that may be text", N("{'type': ['string', 'integer']}"), "{'n':'5'}", NULL},
    {"text for any type", N("{}"), "{'n':'5'}", NULL},

    /* numbers */
    {"an integer", N("{'type': 'integer'}"), "{'n':'5'}", "{'n':5}"},
    {"a negative integer", N("{'type': 'integer'}"), "{'n':'-5'}", "{'n':-5}"},
    {"an integer of twenty digits", N("{'type': 'integer'}"), "{'n':'12345678901234567890'}",
     "{'n':12345678901234567890}"},
    {"a whole number with a fraction of zeros", N("{'type': 'integer'}"), "{'n':'5.0'}", "{'n':5.0}"},
    {"a number", N("{'type': 'number'}"), "{'n':'2.50'}", "{'n':2.50}"},
    {"an integer for a number", N("{'type': 'number'}"), "{'n':'2'}", "{'n':2}"},
    {"an exponent for a number", N("{'type': 'number'}"), "{'n':'1e3'}", "{'n':1e3}"},
    {"a fraction for an integer", N("{'type': 'integer'}"), "{'n':'5.5'}", NULL},
    {"a fraction too small for a double", N("{'type': 'integer'}"), "{'n':'1.00000000000000000000001'}", NULL},
    {"an exponent for an integer", N("{'type': 'integer'}"), "{'n':'1e3'}", NULL},
    {"a number beyond a double", N("{'type': 'number'}"), "{'n':'1e400'}", NULL},
    {"surrounding blanks", N("{'type': 'integer'}"), "{'n':' 5 '}", NULL},
    {"a number with a unit", N("{'type': 'integer'}"), "{'n':'5 km'}", NULL},
    {"a plus sign", N("{'type': 'integer'}"), "{'n':'+5'}", NULL},
    {"a leading zero", N("{'type': 'integer'}"), "{'n':'05'}", NULL},
    {"hexadecimal digits", N("{'type': 'integer'}"), "{'n':'0x5'}", NULL},
    {"no digits", N("{'type': 'integer'}"), "{'n':''}", NULL},
    {"not a number", N("{'type': 'number'}"), "{'n':'NaN'}", NULL},
    {"above the maximum", N("{'type': 'integer', 'maximum': 4}"), "{'n':'5'}", NULL},
    {"a value of the enumeration", N("{'type': 'integer', 'enum': [5, 6]}"), "{'n':'5'}", "{'n':5}"},
    {"no value of the enumeration", N("{'type': 'integer', 'enum': [7]}"), "{'n':'5'}", NULL},
    {"a number for text", N("{'type': 'string'}"), "{'n':5}", NULL},
    {"an integer for a boolean", N("{'type': 'boolean'}"), "{'n':1}", NULL},

    /* booleans */
    {"true", N("{'type': 'boolean'}"), "{'n':'true'}", "{'n':true}"},
    {"false", N("{'type': 'boolean'}"), "{'n':'false'}", "{'n':false}"},
    {"true in capitals", N("{'type': 'boolean'}"), "{'n':'True'}", NULL},
    {"yes", N("{'type': 'boolean'}"), "{'n':'yes'}", NULL},
    {"one", N("{'type': 'boolean'}"), "{'n':'1'}", NULL},

    /* arrays and objects */
    {"an array", N("{'type': 'array'}"), "{'n':'[1, 2.0]'}", "{'n':[1, 2.0]}"},
    {"an object", N("{'type': 'object'}"), "{'n':'{\\'a\\': 1}'}", "{'n':{'a': 1}}"},
    {"an object with surrounding blanks", N("{'type': 'object'}"), "{'n':'\\n {\\'a\\': 1}\\n'}", "{'n':{'a': 1}}"},
    {"an array for an object", N("{'type': 'object'}"), "{'n':'[1]'}", NULL},
    {"half an array", N("{'type': 'array'}"), "{'n':'[1'}", NULL},
    {"text without an array", N("{'type': 'array'}"), "{'n':'x'}", NULL},
    {"an array with NUL in it", N("{'type': 'array'}"), "{'n':'[\\'\\\\u0000\\']'}", "{'n':['\\u0000']}"},
    {"an array of text for one of integers", N("{'type': 'array', 'items': {'type': 'integer'}}"),
     "{'n':'[1,\\'2\\']'}", "{'n':[1,2]}"},
    {"an array in an array", N("{'items': {'type': 'array'}}"), "{'n':['[]']}", "{'n':[[]]}"},
    {"the whole", N("{'type': 'integer'}"), "'{\\'n\\':\\'5\\'}'", "{'n':5}"},

    /* null */
    {"null for an optional argument", N("{'type': 'integer'}"), "{'a':1, 'n':null, 'b':2}", "{'a':1,'b':2}"},
    {"null for the only argument", N("{'type': 'integer'}"), "{'n':null}", "{}"},
    {"null for a required argument", "{'properties': {'n': {'type': 'integer'}}, 'required': ['n']}", "{'n':null}",
     NULL},
    {"allowed null", N("{'type': ['integer', 'null']}, 'm': {'type': 'integer'}"), "{'n':null,'m':'1'}",
     "{'n':null,'m':1}"},
    {"null in an array", N("{'items': {'type': 'integer'}}"), "{'n':[null]}", NULL},
    {"null in a map", N("{'additionalProperties': {'type': 'integer'}}"), "{'n':{'a':null}}", NULL},
    {"the text null", N("{'type': ['integer', 'null']}"), "{'n':'null'}", NULL},

    /* depth */
    {"inside properties", N(OBJECT("'m': {'type': 'integer'}")), "{'n':{ 'm' : '5'}}", "{'n':{'m' : 5}}"},
    {"inside items", N("{'items': {'type': 'integer'}}"), "{'n':[1,'2', 3]}", "{'n':[1,2,3]}"},
    {"inside prefix items", N("{'prefixItems': [{'type': 'integer'}], 'items': {'type': 'boolean'}}"),
     "{'n':['1','true']}", "{'n':[1,true]}"},
    {"inside additional properties", N("{'additionalProperties': {'type': 'integer'}}"), "{'n':{'a':'1'}}",
     "{'n':{'a':1}}"},
    {"by a reference", "{'properties': {'n': {'$ref': '#/$defs/i'}}, '$defs': {'i': {'type': 'integer'}}}", "{'n':'5'}",
     "{'n':5}"},
    {"by a reference to itself", "{'properties': {'v': {'type': 'integer'}, 'next': {'$ref': '#'}}}",
     "{'next':{'next':{'v':'5'}}}", "{'next':{'next':{'v':5}}}"},
    {"by allOf", N("{'allOf': [{'type': 'integer'}, {'minimum': 3}]}"), "{'n':'5'}", "{'n':5}"},
    {"a key with an escape", OBJECT("'a\\'b': {'type': 'integer'}"), "{'a\\u0022b':'5'}", "{'a\\u0022b':5}"},

    /* alternatives */
    {"an integer or null", N("{'anyOf': [{'type': 'integer'}, {'type': 'null'}]}"), "{'n':'5'}", "{'n':5}"},
    {"an integer or a list", N("{'anyOf': [{'type': 'integer'}, {'type': 'array'}]}"), "{'n':'[5]'}", "{'n':[5]}"},
    {"an integer or text", N("{'anyOf': [{'type': 'integer'}, {'type': 'string'}]}"), "{'n':'5'}", NULL},
    {"two branches that agree", N("{'anyOf': [{'type': 'integer'}, {'type': 'number'}]}"), "{'n':'5'}", "{'n':5}"},
    {"two branches of oneOf", N("{'oneOf': [{'type': 'integer'}, {'type': 'number'}]}"), "{'n':'5'}", NULL},
    {"one branch of oneOf", N("{'oneOf': [{'type': 'integer'}, {'type': 'boolean'}]}"), "{'n':'true'}", "{'n':true}"},
    {"branches that drop the same members",
     N("{'anyOf': [" OBJECT("'a': {'type': 'integer'}, 'b': {'type': 'string'}") "," OBJECT(
         "'a': {'type': 'boolean'}, 'b': {'type': 'integer'}") "]}"),
     "{'n':{'a':null,'b':null,'c':1}}", "{'n':{'c':1}}"},
    {"branches that repair different members",
     N("{'anyOf': [{'properties': {'a': {'type': 'integer'}}}, {'properties': {'b': {'type': 'integer'}}}]}"),
     "{'n':{'a':'1','b':'2'}}", NULL},

    /* other faults */
    {"one repair is not enough", N("{'type': 'integer'}, 'm': {'type': 'integer'}"), "{'n':'5','m':'x'}", NULL},
    {"an unknown argument", "{'properties': {'n': {'type': 'integer'}}, 'additionalProperties': false}",
     "{'n':'5','x':1}", NULL},
    {"a required argument is missing", "{'properties': {'n': {'type': 'integer'}}, 'required': ['m']}", "{'n':'5'}",
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

/* Parses the text of an instance and repairs it. */
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
