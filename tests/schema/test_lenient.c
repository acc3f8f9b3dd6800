/* Tests invalid schemas: the dropped keywords, the remaining checks, and schemas beyond repair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/lenient.h"
#include "schema/support.h"

#define PROPERTIES(more) "{'type': 'object', 'properties': {'n': {'type': 'integer'}" more "}}"
#define A(schema) PROPERTIES(", 'a': " schema)
#define DIALECT(uri, more) "{'$schema': '" uri "', 'properties': {'n': {'type': 'integer'}" more "}}"

static const char any[] = "{'n': 5, 'a': 'x'}", wrong[] = "{'n': 'five', 'a': 'x'}";

enum { NOT_USED = -1 };

/* JSON uses ' for ". */
static const struct {
    const char *name, *schema;
    int drops;                  /* number of dropped keywords; NOT_USED if the schema must not compile */
    const char *fits, *refused; /* a valid and an invalid instance; NULL if not tested */
} rows[] = {
    {"valid schema", A("{}"), 0, any, wrong},
    {"type int", A("{'type': 'int'}"), 1, any, wrong},
    {"type None", A("{'type': 'None'}"), 1, any, wrong},
    {"type null in a list", A("{'type': ['string', null]}"), 1, any, wrong},
    {"type is a number", A("{'type': 1}"), 1, any, wrong},
    {"format is null", A("{'format': null}"), 0, any, wrong},
    {"format is a number", A("{'format': 1}"), 1, any, wrong},
    {"properties is null", A("{'properties': null, 'additionalProperties': false}"), 0, "{'n': 5, 'a': {'x': 1}}",
     wrong},
    {"properties is a list", A("{'properties': [], 'additionalProperties': false}"), 1, "{'n': 5, 'a': {'x': 1}}",
     wrong},
    {"schema of a property is null", PROPERTIES(", 'a': null"), 0, any, wrong},
    {"property with text instead of a schema", PROPERTIES(", 'a': 'string'"), 1, "{'n': 'five'}", NULL},
    {"required is text", A("{'type': 'object', 'required': 'x'}"), 1, "{'n': 5, 'a': {}}", wrong},
    {"required with a number", A("{'required': [1]}"), 1, any, wrong},
    {"required is null", A("{'required': null}"), 0, any, wrong},
    {"enum is text", A("{'enum': 'x'}"), 1, any, wrong},
    {"minimum is text", A("{'minimum': '0'}"), 1, any, wrong},
    {"minimum is null", A("{'minimum': null}"), 0, any, wrong},
    {"minLength is a fraction", A("{'minLength': 1.5}"), 1, any, wrong},
    {"a pattern with an unknown class", A("{'pattern': '\\\\p{Nope}'}"), 1, any, wrong},
    {"unfinished pattern", A("{'pattern': '('}"), 1, any, wrong},
    {"invalid pattern in patternProperties", A("{'patternProperties': {'(': {}}, 'additionalProperties': false}"), 1,
     "{'n': 5, 'a': {'x': 1}}", wrong},
    {"items is text", A("{'items': 'string'}"), 1, "{'n': 5, 'a': [1]}", wrong},
    {"prefixItems is an object", A("{'prefixItems': {}, 'items': false}"), 1, "{'n': 5, 'a': [1]}", wrong},
    {"additionalProperties is text", A("{'additionalProperties': 'false'}"), 1, "{'n': 5, 'a': {'x': 1}}", wrong},
    {"anyOf is empty", A("{'anyOf': []}"), 1, any, wrong},
    {"dangling reference", A("{'$ref': '#/$defs/gone'}"), 1, any, wrong},
    {"a remote reference", A("{'$ref': 'https://x.example/y'}"), 1, any, wrong},
    {"reference of another type", A("{'$ref': 1}"), 1, any, wrong},
    {"several faults", PROPERTIES(", 'a': {'type': 'str', 'pattern': '('}, 'b': {'type': 'dict'}"), 3, any, wrong},
    {"members of default are not keywords", A("{'type': 'int', 'default': {'type': null}, 'const': null}"), 1,
     "{'n': 5, 'a': null}", any},
    {"draft 04", DIALECT("http://json-schema.org/draft-04/schema#", ""), 0, any, wrong},
    {"draft 06", DIALECT("http://json-schema.org/draft-06/schema#", ""), 0, any, wrong},
    {"2019-09", DIALECT("https://json-schema.org/draft/2019-09/schema", ""), 0, any, wrong},
    {"2020-12 with http instead of https", DIALECT("http://json-schema.org/draft/2020-12/schema", ""), 0, any, wrong},
    {"2020-12 with # at the end", DIALECT("https://json-schema.org/draft/2020-12/schema#", ""), 0, any, wrong},
    {"draft 04 in a property", A("{'$schema': 'http://json-schema.org/draft-04/schema#'}"), 0, any, wrong},
    {"an exclusive minimum of draft 04",
     DIALECT("http://json-schema.org/draft-04/schema#", ", 'a': {'minimum': 3, 'exclusiveMinimum': true}"), 0,
     "{'a': 4}", "{'a': 3}"},
    {"an inclusive maximum of draft 04",
     DIALECT("http://json-schema.org/draft-04/schema#", ", 'a': {'maximum': 3, 'exclusiveMaximum': false}"), 0,
     "{'a': 3}", "{'a': 4}"},
    {"an unknown dialect", DIALECT("https://x.example/schema", ""), NOT_USED, NULL, NULL},
    {"invalid keyword below not", A("{'not': {'type': 'int'}}"), NOT_USED, NULL, NULL},
    {"null below not", A("{'not': {'format': null}}"), NOT_USED, NULL, NULL},
    {"invalid alternative of oneOf", A("{'oneOf': [{'type': 'int'}, {'type': 'string'}]}"), NOT_USED, NULL, NULL},
    {"schema is text", "'x'", NOT_USED, NULL, NULL},
};

static bool accepts_instance(const struct compiled *compiled, const char *instance)
{
    json_t *json = json_of(instance);
    bool fits = check_instance(compiled, json) == FITS;
    json_decref(json);
    return fits;
}

static void drops_invalid_keywords(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct schema_drops drops;
        struct compiled *compiled;
        wt_error err = {0};
        json_t *schema = json_of(rows[i].schema);
        int rc = wt__compile_lenient(&compiled, schema, SCHEMA_2020_12, &drops, &err);
        json_decref(schema);
        if ((rc == 0) != (rows[i].drops != NOT_USED) || (rc == 0 && (int)drops.count != rows[i].drops))
            fail_msg("%s: %d %s, %zu dropped", rows[i].name, rc, err.message, drops.count);
        assert_true(rc < 0 || (drops.first.code != 0) == (drops.count > 0));
        if (rows[i].fits && !accepts_instance(compiled, rows[i].fits))
            fail_msg("%s: %s does not fit", rows[i].name, rows[i].fits);
        if (rows[i].refused && accepts_instance(compiled, rows[i].refused))
            fail_msg("%s: %s fits", rows[i].name, rows[i].refused);
        wt__compiled_free(compiled);
    }
}

static void first_error_has_place(void **state)
{
    struct schema_drops drops;
    struct compiled *compiled;
    wt_error err;
    json_t *schema = json_of(A("{'type': 'int', 'pattern': '('}"));
    (void)state;
    assert_int_equal(wt__compile_lenient(&compiled, schema, SCHEMA_2020_12, &drops, &err), 0);
    assert_string_equal(drops.first.pointer, "/properties/a");
    assert_non_null(strstr(drops.first.message, "\"int\""));
    wt__compiled_free(compiled);
    json_decref(schema);
}

static void bounds_number_of_drops(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct buffer text = {0};
        struct schema_drops drops;
        struct compiled *compiled;
        wt__buffer_text(&text, "{'properties':{");
        for (size_t i = 0; i < SCHEMA_DROPS + more; i++)
            wt__buffer_printf(&text, "%s'p%zu':{'type':'int'}", i > 0 ? "," : "", i);
        wt__buffer_text(&text, "}}");
        json_t *schema = json_of(text.ptr);
        assert_int_equal(wt__compile_lenient(&compiled, schema, SCHEMA_2020_12, &drops, NULL), more ? WT_EFORMAT : 0);
        wt__compiled_free(compiled);
        json_decref(schema);
        wt__buffer_dispose(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_invalid_keywords),
        cmocka_unit_test(first_error_has_place),
        cmocka_unit_test(bounds_number_of_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
