/* keywords.c: "dependencies", "definitions" and lists of "items" are accepted in 2020-12 too. Real schemas seldom name
 * their dialect, and these keywords have no other meaning in 2020-12. */
#include "schema/keywords.h"

#include <string.h>

#include "schema/compiled.h"
#include "schema/dialect.h"

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
const struct keyword wt__keywords[] = {
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
const size_t wt__keyword_count = sizeof wt__keywords / sizeof wt__keywords[0];

const struct keyword *wt__keyword_find(const char *name, bool draft7, unsigned vocabularies)
{
    size_t low = 0, high = wt__keyword_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct keyword *keyword = &wt__keywords[middle];
        int order = strcmp(name, keyword->name);
        if (order == 0) {
            bool spoken = (keyword->dialects & (draft7 ? DIALECT_DRAFT_07 : DIALECT_2020_12)) != 0;
            bool known = keyword->vocabulary == 0 || (keyword->vocabulary & vocabularies) != 0;
            return spoken && known ? keyword : NULL;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
