/* Tests each keyword of both dialects with valid and invalid instances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/support.h"

/* in: array of valid instances; out: array of invalid ones. */
struct keyword_row {
    const char *what, *schema, *in, *out;
};

static const struct keyword_row both[] = {
    {"true", "true", "[1, null, {}]", "[]"},
    {"false", "false", "[]", "[1, null, {}]"},
    {"no keyword", "{}", "[1, [], 'x']", "[]"},
    {"unknown keyword", "{'colour': 'red'}", "[1]", "[]"},
    {"type", "{'type': 'integer'}", "[0, -3, 2.0, 1e3]", "[0.5, '1', null, true]"},
    {"type number", "{'type': 'number'}", "[0, 0.5]", "['0', false]"},
    {"list of types", "{'type': ['string', 'null']}", "['', null]", "[0, [], {}]"},
    {"type object", "{'type': 'object'}", "[{}]", "[[], null]"},
    {"type array", "{'type': 'array'}", "[[]]", "[{}, 'a']"},
    {"type boolean", "{'type': 'boolean'}", "[true, false]", "[0, 'true']"},
    {"enum", "{'enum': ['red', 4, null, {'a': [1]}]}", "['red', 4, 4.0, null, {'a': [1.0]}]",
     "['Red', 5, {}, {'a': [1, 2]}]"},
    {"long enum", "{'enum': ['a','b','c','d','e','f','g','h','i','j','l','m','n','o','p','q', 7]}", "['a', 'j', 7]",
     "['k', 8, '7']"},
    {"empty enum", "{'enum': []}", "[]", "[1]"},
    {"const", "{'const': {'x': 1, 'y': [true]}}", "[{'y': [true], 'x': 1.0}]", "[{'x': 1}, {'x': 1, 'y': [1]}]"},
    {"const false is not 0", "{'const': false}", "[false]", "[0, null, '']"},
    {"const that a double cannot hold exactly", "{'const': 9007199254740993}", "[9007199254740993]",
     "[9007199254740992, 9007199254740992.0]"},
    {"multipleOf", "{'multipleOf': 3}", "[0, 9, -6, 9.0, 'x']", "[1, 10, 9.5]"},
    {"multipleOf of a decimal", "{'multipleOf': 0.01}", "[4.35, 19.99, 100, 0.07]", "[4.355, 0.001]"},
    {"multipleOf of a small decimal", "{'multipleOf': 1e-8}", "[12391239123, 1e-8]", "[1e-9]"},
    {"multipleOf of a large value", "{'multipleOf': 0.123456789}", "[]", "[1e308]"},
    {"minimum", "{'minimum': 1.5}", "[1.5, 2, 'a']", "[1, 1.4999]"},
    {"maximum", "{'maximum': -2}", "[-2, -2.0, -3]", "[-1.9, 0]"},
    {"exclusiveMinimum", "{'exclusiveMinimum': 0}", "[1, 1e-300]", "[0, 0.0, -1]"},
    {"exclusiveMaximum", "{'exclusiveMaximum': 3}", "[2.99]", "[3, 3.0, 4]"},
    {"minLength in characters", "{'minLength': 2}", "['ab', 'äö', '\xf0\x9f\x98\x80\xf0\x9f\x98\x80', 5]",
     "['', 'a', '\xf0\x9f\x98\x80']"},
    {"maxLength in characters", "{'maxLength': 2.0}", "['', 'äö']", "['abc']"},
    {"pattern matches anywhere in the text", "{'pattern': 'b+'}", "['abc', 'b', 1]", "['', 'ac']"},
    {"pattern with anchors", "{'pattern': '^[a-z]+$'}", "['abc']", "['abc\\n', 'Abc', '']"},
    {"format", "{'format': 'ipv4'}", "['10.0.0.1', 3]", "['10.0.0.256', '']"},
    {"unknown format", "{'format': 'colour'}", "['red', 3]", "[]"},
    {"items", "{'items': {'type': 'string'}}", "[[], ['a', 'b'], 'x', {}]", "[[1], ['a', null]]"},
    {"items false", "{'items': false}", "[[], 1]", "[[1]]"},
    {"minItems", "{'minItems': 1}", "[[0], 'x']", "[[]]"},
    {"maxItems", "{'maxItems': 1}", "[[], [0]]", "[[0, 1]]"},
    {"uniqueItems", "{'uniqueItems': true}", "[[], [1, 2], [1, true], [{'a': 1}, {'a': 2}], ['1', 1]]",
     "[[1, 1.0], [{'a': 1, 'b': 2}, {'b': 2, 'a': 1}], [[0], [0]]]"},
    {"uniqueItems of a long array", "{'uniqueItems': true}",
     "[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,'1','2',[1],[2],{'a':1},{'b':1}]]",
     "[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,3.0], ['a','b','c','d','e','f','g','h','i','j','k','l','m','a']]"},
    {"uniqueItems false", "{'uniqueItems': false}", "[[1, 1]]", "[]"},
    {"contains", "{'contains': {'type': 'null'}}", "[[null], [1, null], 4]", "[[], [1]]"},
    {"properties", "{'properties': {'a': {'type': 'integer'}, 'b': {}}}", "[{}, {'a': 1}, {'b': 'x', 'c': 0}, 7]",
     "[{'a': 'x'}]"},
    {"many properties",
     "{'properties': {'a': {}, 'b': {}, 'c': {}, 'd': {}, 'e': {}, 'f': {}, 'g': {}, 'h': {'type': 'null'}, 'i': "
     "{'type': 'integer'}, 'k1': {}, 'k2': {}, 'k3': {}, 'k4': {}, 'k5': {}, 'k6': {}, 'k7': {}, 'k8': {}}, "
     "'additionalProperties': false}",
     "[{'a': 1, 'i': 2}]", "[{'i': 'x'}, {'h': 1}, {'j': 1}]"},
    {"required", "{'required': ['a', 'b']}", "[{'a': null, 'b': 1, 'c': 2}, []]", "[{}, {'a': 1}, {'b': 1, 'c': 1}]"},
    {"many required properties",
     "{'required': ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'a'], 'properties': {'a': {'type': 'integer'}, 'k1': "
     "{}, 'k2': {}, 'k3': {}, 'k4': {}, 'k5': {}, 'k6': {}, 'k7': {}, 'k8': {}}}",
     "[{'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1, 'g': 1, 'h': 1, 'i': 1}]",
     "[{'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1, 'g': 1, 'h': 1, 'z': 1}, {'a': '1', 'b': 1, 'c': 1, 'd': 1, "
     "'e': 1, 'f': 1, 'g': 1, 'h': 1, 'i': 1}]"},
    {"patternProperties", "{'patternProperties': {'^x': {'type': 'integer'}, 'y$': {'minimum': 3}}}",
     "[{'xa': 1, 'b': 'c'}, {'xy': 3}]", "[{'xa': '1'}, {'xy': 2}, {'y': 0}]"},
    {"additionalProperties",
     "{'properties': {'a': {}}, 'patternProperties': {'^x': {}}, 'additionalProperties': {'type': 'null'}}",
     "[{'a': 1, 'x1': 2, 'b': null}]", "[{'b': 0}]"},
    {"additionalProperties false", "{'properties': {'a': {}}, 'additionalProperties': false}", "[{}, {'a': 1}, []]",
     "[{'b': 1}]"},
    {"propertyNames", "{'propertyNames': {'maxLength': 2}}", "[{}, {'ab': 1}]", "[{'abc': 1}]"},
    {"minProperties", "{'minProperties': 1}", "[{'a': 1}, []]", "[{}]"},
    {"maxProperties", "{'maxProperties': 1}", "[{}, {'a': 1}]", "[{'a': 1, 'b': 2}]"},
    {"dependencies", "{'dependencies': {'a': ['b'], 'c': {'required': ['d']}, 'e': false}}",
     "[{}, {'a': 1, 'b': 1}, {'c': 1, 'd': 1}, 5]", "[{'a': 1}, {'c': 1}, {'e': 1}]"},
    {"allOf", "{'allOf': [{'minimum': 1}, {'maximum': 3}]}", "[1, 3]", "[0, 4]"},
    {"anyOf", "{'anyOf': [{'type': 'string'}, {'minimum': 5}]}", "['a', 5, null]", "[4]"},
    {"oneOf", "{'oneOf': [{'multipleOf': 2}, {'multipleOf': 3}]}", "[2, 3, 4]", "[1, 6]"},
    {"not", "{'not': {'type': 'string'}}", "[1]", "['a']"},
    {"if then else", "{'if': {'type': 'string'}, 'then': {'minLength': 1}, 'else': {'minimum': 1}}", "['a', 1, null]",
     "['', 0]"},
    {"then without if", "{'then': false, 'else': false}", "[1]", "[]"},
    {"if without then and else", "{'if': false}", "[1]", "[]"},
    {"$ref into definitions",
     "{'definitions': {'a': {'type': 'integer'}}, 'properties': {'x': {'$ref': '#/definitions/a'}}}", "[{'x': 1}]",
     "[{'x': 'a'}]"},
    {"$ref with escapes",
     "{'definitions': {'a/b~c%': {'type': 'null'}}, 'allOf': [{'$ref': '#/definitions/a~1b~0c%25'}]}", "[null]", "[1]"},
    {"$ref to the root",
     "{'properties': {'next': {'$ref': '#'}, 'n': {'type': 'integer'}}, 'additionalProperties': false}",
     "[{'next': {'next': {'n': 1}}}]", "[{'next': {'next': {'n': 'x'}}}, {'next': {'other': 1}}]"},
    {"$ref into the value of an unknown keyword",
     "{'other': {'x': {'type': 'integer'}}, 'items': {'$ref': '#/other/x'}}", "[[1]]", "[['a']]"},
    {"$ref to an item", "{'allOf': [{'type': 'integer'}], 'properties': {'a': {'$ref': '#/allOf/0'}}}", "[5]", "['x']"},
    {"$ref by $id",
     "{'$id': 'https://e.test/root', 'definitions': {'a': {'$id': 'inner/a.json', 'type': 'integer'}}, 'items': "
     "{'$ref': 'https://e.test/inner/a.json'}}",
     "[[1]]", "[['x']]"},
    {"$ref relative to $id",
     "{'$id': 'https://e.test/root', 'definitions': {'a': {'$id': '/f/', 'definitions': {'b': {'$id': 'b', 'type': "
     "'null'}}, 'items': {'$ref': 'b'}}}, 'allOf': [{'$ref': '/f/'}]}",
     "[[null]]", "[[1]]"},
    {"$ref to false", "{'definitions': {'no': false}, 'properties': {'a': {'$ref': '#/definitions/no'}}}", "[{'b': 1}]",
     "[{'a': 1}]"},
    {"$id inside enum is data", "{'enum': [{'$id': 'https://e.test/x', 'type': 'null'}]}",
     "[{'$id': 'https://e.test/x', 'type': 'null'}]", "[null]"},
};

static const struct keyword_row of_2020_12[] = {
    {"prefixItems", "{'prefixItems': [{'type': 'integer'}, {'type': 'string'}]}", "[[], [1], [1, 'a', null]]",
     "[['a'], [1, 2]]"},
    {"items after prefixItems", "{'prefixItems': [{}], 'items': {'type': 'null'}}", "[[1], [1, null]]", "[[1, 2]]"},
    {"minContains, maxContains", "{'contains': {'const': 1}, 'minContains': 2, 'maxContains': 3}",
     "[[1, 1], [1, 0, 1, 1]]", "[[1], [1, 1, 1, 1]]"},
    {"minContains 0", "{'contains': {'const': 1}, 'minContains': 0}", "[[], [2]]", "[]"},
    {"minContains without contains", "{'minContains': 5}", "[[]]", "[]"},
    {"dependentRequired", "{'dependentRequired': {'a': ['b', 'c']}}", "[{}, {'b': 1}, {'a': 1, 'b': 1, 'c': 1}]",
     "[{'a': 1, 'b': 1}]"},
    {"dependentSchemas", "{'dependentSchemas': {'a': {'properties': {'b': {'type': 'integer'}}}}}",
     "[{'b': 'x'}, {'a': 1, 'b': 2}]", "[{'a': 1, 'b': 'x'}]"},
    {"unevaluatedProperties",
     "{'properties': {'a': {}}, 'allOf': [{'properties': {'b': {}}}, {'patternProperties': {'^c': {}}}], "
     "'unevaluatedProperties': false}",
     "[{'a': 1, 'b': 1, 'c1': 1}]", "[{'d': 1}]"},
    {"unevaluatedProperties with alternatives",
     "{'anyOf': [{'required': ['a'], 'properties': {'a': {}}}, {'required': ['b'], 'properties': {'b': {}}}], "
     "'unevaluatedProperties': false}",
     "[{'a': 1}, {'b': 1}, {'a': 1, 'b': 1}]", "[{'a': 1, 'c': 1}, {}]"},
    {"unevaluatedProperties with conditions",
     "{'if': {'properties': {'k': {'const': 1}}, 'required': ['k']}, 'then': {'properties': {'a': {}}}, 'else': "
     "{'properties': {'b': {}}}, 'unevaluatedProperties': false}",
     "[{'k': 1, 'a': 1}, {'b': 1}]", "[{'k': 1, 'b': 1}, {'a': 1}]"},
    {"unevaluatedProperties ignores properties below not",
     "{'not': {'not': {'properties': {'a': {}}}}, 'unevaluatedProperties': false}", "[{}]", "[{'a': 1}]"},
    {"unevaluatedProperties through $ref",
     "{'$defs': {'x': {'properties': {'a': {}}}}, '$ref': '#/$defs/x', 'unevaluatedProperties': {'type': 'null'}}",
     "[{'a': 1, 'b': null}]", "[{'b': 1}]"},
    {"unevaluatedProperties and dependentSchemas",
     "{'dependentSchemas': {'a': {'properties': {'b': {}}}}, 'properties': {'a': {}}, 'unevaluatedProperties': false}",
     "[{'a': 1, 'b': 1}]", "[{'b': 1}]"},
    {"nested unevaluatedProperties",
     "{'allOf': [{'properties': {'a': {}}, 'unevaluatedProperties': true}], 'unevaluatedProperties': false}",
     "[{'a': 1, 'z': 1}]", "[]"},
    {"unevaluatedItems", "{'prefixItems': [{}], 'unevaluatedItems': false}", "[[], [1]]", "[[1, 2]]"},
    {"unevaluatedItems with contains", "{'contains': {'type': 'string'}, 'unevaluatedItems': {'type': 'null'}}",
     "[['a', null, 'b']]", "[['a', 1]]"},
    {"unevaluatedItems of a long array",
     "{'allOf': [{'prefixItems': [true]}], 'unevaluatedItems': {'type': 'integer'}}",
     "[['a',1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
     "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]",
     "[['a',1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
     "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,'b']]"},
    {"keywords next to $ref", "{'$defs': {'a': {'type': 'integer'}}, '$ref': '#/$defs/a', 'minimum': 3}", "[3]",
     "[2, 'x']"},
    {"$anchor", "{'$defs': {'a': {'$anchor': 'here', 'type': 'integer'}}, '$ref': '#here'}", "[1]", "['x']"},
    {"$anchor in another resource",
     "{'$id': 'https://e.test/', '$defs': {'a': {'$id': 'a', '$anchor': 'here', 'type': 'integer'}, 'b': {'$anchor': "
     "'here', 'type': 'null'}}, 'items': {'$ref': 'a#here'}}",
     "[[1]]", "[[null]]"},
    {"$dynamicRef without a dynamic anchor", "{'$defs': {'a': {'$anchor': 'x', 'type': 'null'}}, '$dynamicRef': '#x'}",
     "[null]", "[1]"},
    {"$dynamicRef to the outermost resource",
     "{'$id': 'https://e.test/strict', '$dynamicAnchor': 'node', '$ref': 'tree', 'unevaluatedProperties': false, "
     "'$defs': {'tree': {'$id': 'tree', '$dynamicAnchor': 'node', 'type': 'object', 'properties': {'v': true, 'kids': "
     "{'type': 'array', 'items': {'$dynamicRef': '#node'}}}}}}",
     "[{'v': 1, 'kids': [{'v': 2}]}]", "[{'w': 1}, {'kids': [{'w': 1}]}]"},
    {"items as a list, as in draft-07", "{'items': [{'type': 'integer'}], 'additionalItems': false}", "[[1], []]",
     "[['a'], [1, 2]]"},
    {"the metaschema", "{'$ref': 'https://json-schema.org/draft/2020-12/schema'}", "[{'type': 'string'}, true]",
     "[{'type': 'text'}, 3, {'minLength': -1}, {'properties': {'a': {'enum': 1}}}]"},
    {"draft-07 inside 2020-12",
     "{'$defs': {'old': {'$id': 'https://e.test/old', '$schema': 'http://json-schema.org/draft-07/schema#', 'items': "
     "[{'type': 'null'}], 'dependentRequired': {'a': ['b']}}}, '$ref': 'https://e.test/old'}",
     "[{'a': 1}, [null]]", "[[1]]"},
};

static const struct keyword_row of_draft_07[] = {
    {"items as a list", "{'items': [{'type': 'integer'}, {'type': 'string'}], 'additionalItems': {'type': 'null'}}",
     "[[], [1, 'a', null], 5]", "[['a'], [1, 'a', 1]]"},
    {"additionalItems without a list", "{'items': {}, 'additionalItems': false}", "[[1, 2]]", "[]"},
    {"keywords next to $ref are ignored",
     "{'definitions': {'a': {'type': 'integer'}}, 'properties': {'x': {'$ref': '#/definitions/a', 'minimum': 3}}}",
     "[{'x': 1}]", "[{'x': 'a'}]"},
    {"$id next to $ref is ignored",
     "{'$id': 'https://e.test/a/', 'definitions': {'t': {'$id': 't', 'type': 'integer'}}, 'items': {'$id': "
     "'https://e.test/b/', '$ref': 't'}}",
     "[[1]]", "[['x']]"},
    {"$id with a fragment defines an anchor",
     "{'definitions': {'a': {'$id': '#here', 'type': 'integer'}}, 'items': {'$ref': '#here'}}", "[[1]]", "[['x']]"},
    {"keywords of later drafts",
     "{'prefixItems': [false], 'dependentRequired': {'a': ['b']}, 'unevaluatedProperties': false, 'minContains': 7}",
     "[[1], {'a': 1}]", "[]"},
    {"the metaschema", "{'$ref': 'http://json-schema.org/draft-07/schema#'}", "[{'type': ['string']}, false]",
     "[{'type': []}, {'required': 'a'}, {'items': [1]}]"},
};

static size_t count_wrong(const struct keyword_row *row, const struct compiled *compiled, const char *text,
                          enum verdict wanted)
{
    size_t i, failures = 0;
    json_t *instances = json_of(text), *instance;
    json_array_foreach(instances, i, instance)
    {
        if (check_instance(compiled, instance) == wanted)
            continue;
        char *shown = json_dumps(instance, JSON_ENCODE_ANY | JSON_COMPACT);
        printf("%s: %s should %s\n", row->what, shown, wanted == FITS ? "fit" : "not fit");
        free(shown);
        failures++;
    }
    json_decref(instances);
    return failures;
}

static void check_keyword_rows(const struct keyword_row *rows, size_t count, const char *dialect)
{
    size_t failures = 0;
    for (size_t i = 0; i < count; i++) {
        wt_error err = {0};
        struct compiled *compiled = compile_text(rows[i].schema, dialect, NULL, &err);
        if (!compiled)
            fail_msg("%s: %s", rows[i].what, err.message);
        failures +=
            count_wrong(&rows[i], compiled, rows[i].in, FITS) + count_wrong(&rows[i], compiled, rows[i].out, FITS_NOT);
        wt__compiled_free(compiled);
    }
    assert_int_equal(failures, 0);
}

static void checks_keywords_of_both_dialects(void **state)
{
    (void)state;
    check_keyword_rows(both, sizeof both / sizeof both[0], SCHEMA_2020_12);
    check_keyword_rows(both, sizeof both / sizeof both[0], SCHEMA_DRAFT_07);
}

static void checks_keywords_of_2020_12(void **state)
{
    (void)state;
    check_keyword_rows(of_2020_12, sizeof of_2020_12 / sizeof of_2020_12[0], SCHEMA_2020_12);
}

static void checks_keywords_of_draft_07(void **state)
{
    (void)state;
    check_keyword_rows(of_draft_07, sizeof of_draft_07 / sizeof of_draft_07[0], SCHEMA_DRAFT_07);
}

/* Supplied documents are found by address or by an inner "$id". A supplied document may be a metaschema that declares
 * its own vocabularies. */
static void finds_supplied_documents(void **state)
{
    static const struct keyword_row rows[] = {
        {"by address", "{'$ref': 'https://e.test/number'}", "[1]", "['x']"},
        {"by a pointer into a document", "{'$ref': 'https://e.test/defs#/$defs/n'}", "[null]", "[1]"},
        {"by an inner $id", "{'$ref': 'https://e.test/within'}", "[true]", "[1]"},
        {"by a relative reference", "{'$id': 'https://e.test/x/y', 'items': {'$ref': '../number'}}", "[[1]]",
         "[['x']]"},
        {"fewer vocabularies", "{'$schema': 'https://e.test/loose', 'type': 'string', 'properties': {'a': false}}",
         "[5, {}]", "[{'a': 1}]"},
        {"vocabulary that asserts formats", "{'$schema': 'https://e.test/formats', 'format': 'ipv4'}", "['1.2.3.4']",
         "['x']"},
    };
    (void)state;
    json_t *table = json_of(
        "{'https://e.test/number': {'type': 'number'}, 'https://e.test/defs': {'$defs': {'n': {'type': 'null'}, 'w': "
        "{'$id': 'within', 'type': 'boolean'}}}, 'https://e.test/broken': {'$schema': 'https://e.test/unheard'},"
        "'https://e.test/loose': {'$vocabulary': {'https://json-schema.org/draft/2020-12/vocab/core': true, "
        "'https://json-schema.org/draft/2020-12/vocab/applicator': true}},"
        "'https://e.test/formats': {'$vocabulary': {'https://json-schema.org/draft/2020-12/vocab/format-assertion': "
        "false}}}");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wt_error err = {0};
        struct compiled *compiled;
        json_t *schema = json_of(rows[i].schema);
        wt__compile_schema(&compiled, schema, SCHEMA_2020_12, table, false, NULL, &err);
        if (!compiled)
            fail_msg("%s: %s", rows[i].what, err.message);
        assert_int_equal(count_wrong(&rows[i], compiled, rows[i].in, FITS) +
                             count_wrong(&rows[i], compiled, rows[i].out, FITS_NOT),
                         0);
        wt__compiled_free(compiled);
        json_decref(schema);
    }
    json_decref(table);
}

/* Each table is tested with two schemas. In the first schema, an earlier reference loads all documents. */
static void reports_invalid_document_at_reference(void **state)
{
    static const char *const tables[][2] = {
        {"{'https://e.test/bad': {'$schema': 'https://e.test/unknown'}, 'https://e.test/good': {'$id': 'other'}}",
         "schema /allOf/1: \"$ref\" refers to invalid document \"https://e.test/bad\": schema "
         "https://e.test/bad#: \"$schema\" must name 2020-12, draft-07 or a metaschema passed with the schema: "
         "\"https://e.test/unknown\""},
        {"{'https://e.test/bad': {'items': {'$id': 'inner', '$schema': 'https://e.test/unknown'}}, "
         "'https://e.test/good': "
         "{'$id': 'other'}}",
         "schema /allOf/1: \"$ref\" refers to invalid document \"https://e.test/bad\": schema "
         "https://e.test/bad#/items: \"$schema\" must name 2020-12, draft-07 or a metaschema passed with the schema: "
         "\"https://e.test/unknown\""},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof tables / sizeof tables[0]; i++) {
        wt_error err = {0};
        json_t *table = json_of(tables[i / 2][0]);
        const char *schema = i % 2 ? "{'allOf': [true, {'$ref': 'https://e.test/bad'}]}"
                                   : "{'allOf': [{'$ref': 'https://e.test/other'}, {'$ref': 'https://e.test/bad'}]}";
        assert_null(compile_text(schema, SCHEMA_2020_12, table, &err));
        assert_string_equal(err.message, tables[i / 2][1]);
        assert_int_equal(err.code, WT_EFORMAT);
        json_decref(table);
    }
}

static void rejects_invalid_schemas_with_place(void **state)
{
    static const struct {
        const char *schema, *said, *pointer;
        int code;
    } rows[] = {
        {"5", "a schema must be an object, true or false", "", WT_EFORMAT},
        {"{'type': 'dict'}",
         "schema at its root: \"type\" must be null, boolean, integer, number, string, array or object: \"dict\"", "",
         WT_EFORMAT},
        {"{'properties': {'a/b': {'minimum': '3'}}}", "schema /properties/a~1b: \"minimum\" must be a number",
         "/properties/a~1b", WT_EFORMAT},
        {"{'items': {'exclusiveMinimum': true}}", "schema /items: \"exclusiveMinimum\" must be a number", "/items",
         WT_EFORMAT},
        {"{'type': []}", "schema at its root: \"type\" must name a type", "", WT_EFORMAT},
        {"{'type': [3]}",
         "schema at its root: \"type\" must be null, boolean, integer, number, string, array or object", "",
         WT_EFORMAT},
        {"{'minLength': -1}", "schema at its root: \"minLength\" must be a whole number of 0 or more", "", WT_EFORMAT},
        {"{'minLength': 1.5}", "schema at its root: \"minLength\" must be a whole number of 0 or more", "", WT_EFORMAT},
        {"{'multipleOf': 0}", "schema at its root: \"multipleOf\" must be above 0", "", WT_EFORMAT},
        {"{'uniqueItems': 1}", "schema at its root: \"uniqueItems\" must be true or false", "", WT_EFORMAT},
        {"{'enum': 'a'}", "schema at its root: \"enum\" must be a list of values", "", WT_EFORMAT},
        {"{'required': true}", "schema at its root: \"required\" must be a list of names", "", WT_EFORMAT},
        {"{'required': [1]}", "schema at its root: \"required\" must be a list of names", "", WT_EFORMAT},
        {"{'dependentRequired': []}", "schema at its root: \"dependentRequired\" must be an object", "", WT_EFORMAT},
        {"{'pattern': 3}", "schema at its root: \"pattern\" must be a string", "", WT_EFORMAT},
        {"{'format': 3}", "schema at its root: \"format\" must be a string", "", WT_EFORMAT},
        {"{'pattern': '(a'}",
         "schema at its root: \"pattern\" is not a regular expression: missing closing parenthesis: \"(a\"", "",
         WT_EFORMAT},
        {"{'allOf': [{'patternProperties': {'[': true}}]}",
         "schema /allOf/0: \"patternProperties\" is not a regular expression: a class has no closing bracket: \"[\"",
         "/allOf/0", WT_EFORMAT},
        {"{'anyOf': []}", "schema at its root: \"anyOf\" must be a list of schemas", "", WT_EFORMAT},
        {"{'properties': []}", "schema at its root: \"properties\" must be an object", "", WT_EFORMAT},
        {"{'properties': {'a': 3}}", "schema at its root: \"properties\" must hold schemas: \"a\"", "", WT_EFORMAT},
        {"{'not': 'a'}", "schema at its root: \"not\" must be a schema", "", WT_EFORMAT},
        {"{'$ref': 3}", "schema at its root: \"$ref\" must be a string", "", WT_EFORMAT},
        {"{'items': {'$ref': '#/nowhere'}}",
         "schema /items: \"$ref\" refers to \"#/nowhere\", but there is no schema there", "/items", WT_ENOTFOUND},
        {"{'$ref': '#nowhere'}", "schema at its root: \"$ref\" refers to \"#nowhere\", but there is no schema there",
         "", WT_ENOTFOUND},
        {"{'$ref': 'https://e.test/x'}",
         "schema at its root: \"$ref\" refers to unknown document \"https://e.test/x\"; pass it with the schema, "
         "because documents are not fetched",
         "", WT_ENOTFOUND},
        {"{'$schema': 'https://json-schema.org/draft/2019-09/schema'}",
         "schema at its root: \"$schema\" must name 2020-12, draft-07 or a metaschema passed with the schema: "
         "\"https://json-schema.org/draft/2019-09/schema\"",
         "", WT_EFORMAT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wt_error err = {0};
        assert_null(compile_text(rows[i].schema, SCHEMA_2020_12, NULL, &err));
        assert_string_equal(err.message, rows[i].said);
        assert_string_equal(err.pointer, rows[i].pointer);
        assert_int_equal(err.code, rows[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_keywords_of_both_dialects),      cmocka_unit_test(checks_keywords_of_2020_12),
        cmocka_unit_test(checks_keywords_of_draft_07),           cmocka_unit_test(finds_supplied_documents),
        cmocka_unit_test(reports_invalid_document_at_reference), cmocka_unit_test(rejects_invalid_schemas_with_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
