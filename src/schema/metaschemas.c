/* metaschemas.c: in 2020-12 each vocabulary is a separate document, and "$dynamicRef" to "#meta" leads back to the
 * document that combines them. */
#include "schema/metaschemas.h"

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
