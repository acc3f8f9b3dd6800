/* dialect.c: the keywords, metaschemas and dialects of JSON Schema. */
#include "schema/compiled.h"

#include <string.h>

#include "base/json.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- keywords */

/* "dependencies", "definitions" and "items" with a list are also accepted in 2020-12. Real schemas seldom name their
 * dialect, and these keywords have no other meaning in 2020-12. */

#define NONE 0, 0, 0
#define AT(group, rules, field) offsetof(struct subschema, group), sizeof(struct rules), offsetof(struct rules, field)
#define NUMBER(field) AT(number, number_rules, field)
#define TEXT(field) AT(string, string_rules, field)
#define ARRAY(field) AT(array, array_rules, field)
#define OBJECT(field) AT(object, object_rules, field)
#define IN_PLACE(field) AT(in_place, in_place, field)
#define BOTH DIALECT_BOTH
#define NEW DIALECT_2020_12
#define APPLY VOCABULARY_APPLICATOR
#define CHECK VOCABULARY_VALIDATION
#define REST VOCABULARY_UNEVALUATED

/* Sorted by name with strcmp, for binary search. */
static const struct keyword keywords[] = {
    {"$defs", SHAPE_DEFINITIONS, BOTH, 0, NONE},
    {"$dynamicRef", SHAPE_DYNAMIC_REFERENCE, NEW, 0, IN_PLACE(dynamic)},
    {"$ref", SHAPE_REFERENCE, BOTH, 0, IN_PLACE(reference)},
    {"additionalItems", SHAPE_SUBSCHEMA, BOTH, APPLY, NONE},
    {"additionalProperties", SHAPE_SUBSCHEMA, BOTH, APPLY, OBJECT(additional)},
    {"allOf", SHAPE_LIST, BOTH, APPLY, IN_PLACE(all_of)},
    {"anyOf", SHAPE_LIST, BOTH, APPLY, IN_PLACE(any_of)},
    {"const", SHAPE_CONST, BOTH, CHECK, NONE},
    {"contains", SHAPE_SUBSCHEMA, BOTH, APPLY, ARRAY(contains)},
    {"definitions", SHAPE_DEFINITIONS, BOTH, 0, NONE},
    {"dependencies", SHAPE_DEPENDENCIES, BOTH, APPLY, OBJECT(dependent_schemas)},
    {"dependentRequired", SHAPE_DEPENDENT_NAMES, NEW, CHECK, OBJECT(dependent_required)},
    {"dependentSchemas", SHAPE_NAMED, NEW, APPLY, OBJECT(dependent_schemas)},
    {"else", SHAPE_SUBSCHEMA, BOTH, APPLY, IN_PLACE(otherwise)},
    {"enum", SHAPE_ENUM, BOTH, CHECK, NONE},
    {"exclusiveMaximum", SHAPE_NUMBER, BOTH, CHECK, NUMBER(exclusive_maximum)},
    {"exclusiveMinimum", SHAPE_NUMBER, BOTH, CHECK, NUMBER(exclusive_minimum)},
    {"format", SHAPE_FORMAT, BOTH, 0, NONE},
    {"if", SHAPE_SUBSCHEMA, BOTH, APPLY, IN_PLACE(condition)},
    {"items", SHAPE_ITEMS, BOTH, APPLY, ARRAY(items)},
    {"maxContains", SHAPE_COUNT, NEW, CHECK, ARRAY(max_contains)},
    {"maxItems", SHAPE_COUNT, BOTH, CHECK, ARRAY(max_items)},
    {"maxLength", SHAPE_COUNT, BOTH, CHECK, TEXT(max_length)},
    {"maxProperties", SHAPE_COUNT, BOTH, CHECK, OBJECT(max_properties)},
    {"maximum", SHAPE_NUMBER, BOTH, CHECK, NUMBER(maximum)},
    {"minContains", SHAPE_COUNT, NEW, CHECK, ARRAY(min_contains)},
    {"minItems", SHAPE_COUNT, BOTH, CHECK, ARRAY(min_items)},
    {"minLength", SHAPE_COUNT, BOTH, CHECK, TEXT(min_length)},
    {"minProperties", SHAPE_COUNT, BOTH, CHECK, OBJECT(min_properties)},
    {"minimum", SHAPE_NUMBER, BOTH, CHECK, NUMBER(minimum)},
    {"multipleOf", SHAPE_UNIT, BOTH, CHECK, NUMBER(multiple_of)},
    {"not", SHAPE_SUBSCHEMA, BOTH, APPLY, IN_PLACE(negated)},
    {"oneOf", SHAPE_LIST, BOTH, APPLY, IN_PLACE(one_of)},
    {"pattern", SHAPE_PATTERN, BOTH, CHECK, TEXT(pattern)},
    {"patternProperties", SHAPE_PATTERNS, BOTH, APPLY, OBJECT(patterns)},
    {"prefixItems", SHAPE_LIST, NEW, APPLY, ARRAY(prefix)},
    {"properties", SHAPE_NAMED, BOTH, APPLY, OBJECT(properties)},
    {"propertyNames", SHAPE_SUBSCHEMA, BOTH, APPLY, OBJECT(names)},
    {"required", SHAPE_REQUIRED, BOTH, CHECK, OBJECT(properties)},
    {"then", SHAPE_SUBSCHEMA, BOTH, APPLY, IN_PLACE(then)},
    {"type", SHAPE_TYPE, BOTH, CHECK, NONE},
    {"unevaluatedItems", SHAPE_SUBSCHEMA, NEW, REST, ARRAY(unevaluated)},
    {"unevaluatedProperties", SHAPE_SUBSCHEMA, NEW, REST, OBJECT(unevaluated)},
    {"uniqueItems", SHAPE_FLAG, BOTH, CHECK, ARRAY(unique)},
};

const struct keyword *wt__keyword_find(const char *name, bool draft7, unsigned vocabularies)
{
    size_t low = 0, high = sizeof keywords / sizeof keywords[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct keyword *keyword = &keywords[middle];
        int order = strcmp(name, keyword->name);
        if (order == 0) {
            bool spoken = (keyword->dialects & (draft7 ? DIALECT_DRAFT_07 : DIALECT_2020_12)) != 0;
            bool known = keyword->vocabulary == 0 || (keyword->vocabulary & vocabularies) != 0;
            return spoken && known ? keyword : NULL;
        }
        low = order < 0 ? low : middle + 1;
        high = order < 0 ? middle : high;
    }
    return NULL;
}

/* ---------------------------------------------------------------- metaschemas */

/* In 2020-12, the metaschema of each vocabulary is a separate document. A "$dynamicRef" to "#meta" leads back to the
 * metaschema that combines the vocabularies. */

#define META "https://json-schema.org/draft/2020-12/meta/"
#define VOCABULARY "https://json-schema.org/draft/2020-12/vocab/"
#define HEAD(name)                                                                                                     \
    "{\"$schema\":\"" SCHEMA_2020_12 "\",\"$id\":\"" META name "\",\"$vocabulary\":{\"" VOCABULARY name "\":true},"    \
    "\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],\"properties\":"
#define SCHEMA "{\"$dynamicRef\":\"#meta\"}"
#define SCHEMA_MAP "{\"type\":\"object\",\"additionalProperties\":" SCHEMA ",\"default\":{}}"
#define STRING "{\"type\":\"string\"}"
#define COUNT "{\"type\":\"integer\",\"minimum\":0}"
#define NAMES "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true,\"default\":[]}"
#define TYPES "{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]}"
#define TYPE                                                                                                           \
    "{\"anyOf\":[{\"$ref\":\"#/" DEFINITIONS                                                                           \
    "/simpleTypes\"},{\"type\":\"array\",\"items\":{\"$ref\":\"#/" DEFINITIONS                                         \
    "/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]}"

static const char schema[] =
    "{\"$schema\":\"" SCHEMA_2020_12 "\",\"$id\":\"" SCHEMA_2020_12 "\",\"$vocabulary\":{\"" VOCABULARY
    "core\":true,\"" VOCABULARY "applicator\":true,\"" VOCABULARY "unevaluated\":true,\"" VOCABULARY
    "validation\":true,\"" VOCABULARY "meta-data\":true,\"" VOCABULARY "format-annotation\":true,\"" VOCABULARY
    "content\":true},"
    "\"$dynamicAnchor\":\"meta\",\"allOf\":[{\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},"
    "{\"$ref\":\"meta/unevaluated\"},{\"$ref\":\"meta/validation\"},{\"$ref\":\"meta/meta-data\"},"
    "{\"$ref\":\"meta/format-annotation\"},{\"$ref\":\"meta/content\"}],\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{\"definitions\":" SCHEMA_MAP ",\"dependencies\":{\"type\":\"object\",\"additionalProperties\":"
    "{\"anyOf\":[" SCHEMA ",{\"$ref\":\"meta/validation#/$defs/stringArray\"}]},\"default\":{}},"
    "\"$recursiveAnchor\":{\"$ref\":\"meta/core#/$defs/anchorString\"},"
    "\"$recursiveRef\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\"}}}";

static const char core[] = HEAD(
    "core") "{\"$id\":{\"$ref\":\"#/$defs/uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},"
            "\"$schema\":{\"$ref\":\"#/$defs/uriString\"},\"$ref\":{\"$ref\":\"#/$defs/uriReferenceString\"},"
            "\"$anchor\":{\"$ref\":\"#/$defs/anchorString\"},\"$dynamicRef\":{\"$ref\":\"#/$defs/uriReferenceString\"},"
            "\"$dynamicAnchor\":{\"$ref\":\"#/$defs/"
            "anchorString\"},\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":"
            "{\"$ref\":\"#/$defs/uriString\"},\"additionalProperties\":{\"type\":\"boolean\"}},\"$comment\":" STRING ","
            "\"$defs\":{\"type\":\"object\",\"additionalProperties\":" SCHEMA "}},\"$defs\":{"
            "\"anchorString\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},"
            "\"uriString\":{\"type\":\"string\",\"format\":\"uri\"},"
            "\"uriReferenceString\":{\"type\":\"string\",\"format\":\"uri-reference\"}}}";

static const char applicator[] =
    HEAD("applicator") "{\"prefixItems\":{\"$ref\":\"#/$defs/schemaArray\"},\"items\":" SCHEMA ",\"contains\":" SCHEMA
                       ",\"additionalProperties\":" SCHEMA ",\"properties\":" SCHEMA_MAP
                       ",\"patternProperties\":{\"type\":\"object\","
                       "\"additionalProperties\":" SCHEMA ",\"propertyNames\":{\"format\":\"regex\"},\"default\":{}},"
                       "\"dependentSchemas\":" SCHEMA_MAP ",\"propertyNames\":" SCHEMA ",\"if\":" SCHEMA
                       ",\"then\":" SCHEMA ",\"else\":" SCHEMA
                       ",\"allOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"anyOf\":{\"$ref\":\"#/$defs/schemaArray\"},"
                       "\"oneOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"not\":" SCHEMA "},"
                       "\"$defs\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" SCHEMA "}}}";

static const char unevaluated[] =
    HEAD("unevaluated") "{\"unevaluatedItems\":" SCHEMA ",\"unevaluatedProperties\":" SCHEMA "}}";

#define DEFINITIONS "$defs"
static const char validation[] = HEAD(
    "validation") "{\"type\":" TYPE ",\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true},"
                  "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"type\":\"number\"},"
                  "\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{\"type\":\"number\"},"
                  "\"exclusiveMinimum\":{\"type\":\"number\"},\"maxLength\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
                  "\"minLength\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},"
                  "\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},\"maxItems\":{\"$ref\":\"#/$defs/"
                  "nonNegativeInteger\"},"
                  "\"minItems\":{\"$ref\":\"#/$defs/"
                  "nonNegativeIntegerDefault0\"},\"uniqueItems\":{\"type\":\"boolean\","
                  "\"default\":false},\"maxContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
                  "\"minContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\",\"default\":1},"
                  "\"maxProperties\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
                  "\"minProperties\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},"
                  "\"required\":{\"$ref\":\"#/$defs/stringArray\"},\"dependentRequired\":{\"type\":\"object\","
                  "\"additionalProperties\":{\"$ref\":\"#/$defs/"
                  "stringArray\"}}},\"$defs\":{\"nonNegativeInteger\":" COUNT ","
                  "\"nonNegativeIntegerDefault0\":{\"$ref\":\"#/$defs/nonNegativeInteger\",\"default\":0},"
                  "\"simpleTypes\":" TYPES ",\"stringArray\":" NAMES "}}";
#undef DEFINITIONS

static const char meta_data[] = HEAD("meta-data") "{\"title\":" STRING ",\"description\":" STRING ",\"default\":true,"
                                                  "\"deprecated\":{\"type\":\"boolean\",\"default\":false},"
                                                  "\"readOnly\":{\"type\":\"boolean\",\"default\":false},"
                                                  "\"writeOnly\":{\"type\":\"boolean\",\"default\":false},\"examples\":"
                                                  "{\"type\":\"array\",\"items\":true}}}";

static const char format_annotation[] = HEAD("format-annotation") "{\"format\":" STRING "}}";
static const char format_assertion[] = HEAD("format-assertion") "{\"format\":" STRING "}}";

static const char content[] =
    HEAD("content") "{\"contentEncoding\":" STRING ",\"contentMediaType\":" STRING ",\"contentSchema\":" SCHEMA "}}";

#undef SCHEMA
#undef SCHEMA_MAP
#define SCHEMA "{\"$ref\":\"#\"}"
#define SCHEMA_MAP "{\"type\":\"object\",\"additionalProperties\":" SCHEMA ",\"default\":{}}"
#define DEFINITIONS "definitions"

static const char draft_07[] =
    "{\"$schema\":\"" SCHEMA_DRAFT_07 "#\",\"$id\":\"" SCHEMA_DRAFT_07 "#\",\"definitions\":{"
    "\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" SCHEMA "},\"nonNegativeInteger\":" COUNT ","
    "\"nonNegativeIntegerDefault0\":{\"allOf\":[{\"$ref\":\"#/definitions/nonNegativeInteger\"},{\"default\":0}]},"
    "\"simpleTypes\":" TYPES ",\"stringArray\":" NAMES "},\"type\":[\"object\",\"boolean\"],\"properties\":{"
    "\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$schema\":{\"type\":\"string\",\"format\":\"uri\"},"
    "\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},\"$comment\":" STRING ",\"title\":" STRING
    ",\"description\":" STRING ",\"default\":true,\"readOnly\":{\"type\":\"boolean\",\"default\":false},"
    "\"writeOnly\":{\"type\":\"boolean\",\"default\":false},\"examples\":{\"type\":\"array\",\"items\":true},"
    "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"type\":\"number\"},"
    "\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{\"type\":\"number\"},"
    "\"exclusiveMinimum\":{\"type\":\"number\"},\"maxLength\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minLength\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},"
    "\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},\"additionalItems\":" SCHEMA
    ",\"items\":{\"anyOf\":[" SCHEMA ",{\"$ref\":\"#/definitions/schemaArray\"}],\"default\":true},"
    "\"maxItems\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minItems\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},\"uniqueItems\":{\"type\":\"boolean\","
    "\"default\":false},\"contains\":" SCHEMA ",\"maxProperties\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minProperties\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},"
    "\"required\":{\"$ref\":\"#/definitions/stringArray\"},\"additionalProperties\":" SCHEMA
    ",\"definitions\":" SCHEMA_MAP ",\"properties\":" SCHEMA_MAP
    ",\"patternProperties\":{\"type\":\"object\",\"additionalProperties\":" SCHEMA
    ",\"propertyNames\":{\"format\":\"regex\"},\"default\":{}},\"dependencies\":{\"type\":\"object\","
    "\"additionalProperties\":{\"anyOf\":[" SCHEMA ",{\"$ref\":\"#/definitions/stringArray\"}]}},"
    "\"propertyNames\":" SCHEMA ",\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true},\"type\":" TYPE ","
    "\"format\":" STRING ",\"contentMediaType\":" STRING ",\"contentEncoding\":" STRING ",\"if\":" SCHEMA
    ",\"then\":" SCHEMA ",\"else\":" SCHEMA ",\"allOf\":{\"$ref\":\"#/definitions/schemaArray\"},"
    "\"anyOf\":{\"$ref\":\"#/definitions/schemaArray\"},\"oneOf\":{\"$ref\":\"#/definitions/schemaArray\"},"
    "\"not\":" SCHEMA "},\"default\":true}";

static const struct {
    const char *uri;
    struct str text;
} metaschemas[] = {
    {SCHEMA_2020_12, {schema, sizeof schema - 1}},
    {META "core", {core, sizeof core - 1}},
    {META "applicator", {applicator, sizeof applicator - 1}},
    {META "unevaluated", {unevaluated, sizeof unevaluated - 1}},
    {META "validation", {validation, sizeof validation - 1}},
    {META "meta-data", {meta_data, sizeof meta_data - 1}},
    {META "format-annotation", {format_annotation, sizeof format_annotation - 1}},
    {META "format-assertion", {format_assertion, sizeof format_assertion - 1}},
    {META "content", {content, sizeof content - 1}},
    {SCHEMA_DRAFT_07, {draft_07, sizeof draft_07 - 1}},
};

struct str wt__metaschema(struct str uri)
{
    for (size_t i = 0; i < sizeof metaschemas / sizeof metaschemas[0]; i++)
        if (wt__str_equal(uri, wt__str(metaschemas[i].uri)))
            return metaschemas[i].text;
    return (struct str){"", 0};
}

/* ---------------------------------------------------------------- dialects */

enum { HOPS = 8 }; /* maximum length of a chain of metaschemas */

static unsigned read_vocabularies(const json_t *declared)
{
    static const struct {
        const char *uri;
        unsigned bit;
    } known[] = {{VOCABULARY "applicator", VOCABULARY_APPLICATOR},
                 {VOCABULARY "unevaluated", VOCABULARY_UNEVALUATED},
                 {VOCABULARY "validation", VOCABULARY_VALIDATION},
                 {VOCABULARY "format-assertion", VOCABULARY_FORMAT_ASSERTION}};
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (json_object_get(declared, known[i].uri))
            bits |= known[i].bit;
    return bits;
}

/* Returns the URI of a required but unsupported vocabulary, or NULL if all are supported. */
static const char *find_foreign_vocabulary(const json_t *declared)
{
    const char *uri;
    json_t *needed;
    json_object_foreach((json_t *)declared, uri, needed)
    {
        if (json_is_true(needed) && strncmp(uri, VOCABULARY, sizeof VOCABULARY - 1) != 0)
            return uri;
    }
    return NULL;
}

static struct str strip_hash(struct str uri)
{
    return uri.len > 0 && uri.ptr[uri.len - 1] == '#' ? (struct str){uri.ptr, uri.len - 1} : uri;
}

/* Follows the "$schema" of supplied metaschemas until one declares its vocabularies or is a standard dialect. */
int wt__dialect_read(struct resource *r, struct str uri, const char *usual, const json_t *table,
                     const struct subschema *at, wt_error *err)
{
    const char *given = uri.ptr;
    /* This URI means "the latest" and identifies no dialect. */
    if (wt__str_equal(strip_hash(uri), STR("http://json-schema.org/schema")))
        uri = wt__str(usual);
    for (int hop = 0; hop < HOPS; hop++) {
        uri = strip_hash(uri);
        r->draft7 = wt__str_equal(uri, STR(SCHEMA_DRAFT_07)) ||
                    wt__str_equal(uri, STR("https://json-schema.org/draft-07/schema"));
        r->vocabularies = VOCABULARY_ALL;
        if (r->draft7 || wt__str_equal(uri, STR(SCHEMA_2020_12)))
            return 0;
        WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
        wt__buffer_str(&key, uri);
        WT_CHECK_ALLOC(!key.failed, err);
        const json_t *metaschema = json_object_get(table, key.ptr);
        const json_t *declared = json_object_get(metaschema, "$vocabulary");
        const char *foreign = find_foreign_vocabulary(declared);
        if (foreign)
            return wt__subschema_refuse(at, WT_EFORMAT, err, "its dialect requires an unknown vocabulary: \"%.300s\"",
                                        foreign);
        if (declared) {
            r->vocabularies = read_vocabularies(declared);
            return 0;
        }
        uri = wt__json_str(metaschema, "$schema");
        if (uri.len == 0)
            break;
    }
    return wt__subschema_refuse(
        at, WT_EFORMAT, err,
        "\"$schema\" must name 2020-12, draft-07 or a metaschema passed with the schema: \"%.300s\"", given);
}
