/* compiled.h: a schema compiled for validation. It is a graph of subschemas; keywords are grouped by the kind of value
 * they apply to. Immutable after compilation. All memory is in one arena and refers to the JSON values of the
 * documents.
 *
 * A group is NULL if the subschema has no keyword of that group, so a value only visits the groups of its kind. */
#ifndef WT_SCHEMA_COMPILED_H
#define WT_SCHEMA_COMPILED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "schema/formats.h"
#include "schema/pattern.h"

/* Bits for the kinds of values. The type "number" is KIND_INTEGER | KIND_FRACTION. */
enum {
    KIND_NULL = 1,
    KIND_BOOLEAN = 2,
    KIND_INTEGER = 4,
    KIND_FRACTION = 8,
    KIND_STRING = 16,
    KIND_ARRAY = 32,
    KIND_OBJECT = 64,
    KIND_ANY = 127
};

struct subschema;

/* A document, or a part of one with its own "$id". It is the base of references and the scope of anchors. */
struct resource {
    const char *uri; /* absolute, without fragment; "" for a document without an address */
    const json_t *root;
    const char *document; /* name of the document in messages: "" for the schema itself, else its address */
    bool draft7;
    unsigned vocabularies;
    struct dynamic_anchor *dynamic; /* linked list */
    const char *refused;            /* error of its document; NULL if valid */
    int refused_code;
};

struct dynamic_anchor {
    struct str name;
    const struct subschema *subschema;
    struct dynamic_anchor *next;
};

struct bound {
    bool set;
    size_t value;
};

struct subschema_list {
    size_t len;
    const struct subschema **items;
};

struct property {
    struct str name;
    const struct subschema *subschema; /* NULL if the property is only listed in "required" */
    bool required;
};

struct named_subschemas {
    size_t len;
    struct property *items;
};

struct name_list {
    size_t len;
    struct str *items;
};

struct pattern_property {
    const struct schema_pattern *pattern;
    struct str text;
    const struct subschema *subschema;
};

struct pattern_properties {
    size_t len;
    struct pattern_property *items;
};

struct dependent_name {
    struct str name;
    struct name_list wanted;
};

struct dependent_names {
    size_t len;
    struct dependent_name *items;
};

struct number_rules {
    const json_t *multiple_of, *minimum, *maximum, *exclusive_minimum, *exclusive_maximum;
};

struct string_rules {
    struct bound min_length, max_length;
    const struct schema_pattern *pattern;
    struct str pattern_text;
    const struct format *format; /* asserted format, or NULL */
};

struct array_rules {
    struct subschema_list prefix;
    const struct subschema *items, *contains, *unevaluated; /* items: applies after the prefix */
    struct bound min_items, max_items, min_contains, max_contains;
    bool unique, contains_evaluates;
};

/* Fields used by most schemas come first, so that they share one cache line. */
struct object_rules {
    struct named_subschemas properties; /* followed by names that are only required */
    size_t required;                    /* number of required properties */
    const struct subschema *additional;
    bool mapped; /* true if by_name is used for lookup */
    bool more;   /* true if any of the following fields is set */
    const struct subschema *names, *unevaluated;
    struct pattern_properties patterns;
    struct dependent_names dependent_required;
    struct named_subschemas dependent_schemas;
    struct bound min_properties, max_properties;
    struct map by_name; /* name -> row of properties, if there are many */
};

struct in_place {
    struct subschema_list all_of, any_of, one_of;
    const struct subschema *negated, *condition, *then, *otherwise; /* then, otherwise: NULL without a condition */
    const struct subschema *reference, *dynamic;                    /* dynamic: static target of "$dynamicRef" */
    struct str dynamic_name;                                        /* empty if "$dynamicRef" acts like "$ref" */
};

enum { VERDICT_OPEN, VERDICT_TRUE, VERDICT_FALSE }; /* VERDICT_TRUE, VERDICT_FALSE: Boolean schemas */

/* Fields read by every evaluation come first. */
struct subschema {
    unsigned char verdict;
    unsigned char types;  /* bits of the kinds allowed by "type" */
    bool wants_evaluated; /* true if an "unevaluated..." keyword is present */
    bool queued;          /* true once the compiler has enqueued the subschema */
    const struct resource *resource;
    const json_t *values;   /* array of "enum", or NULL */
    const json_t *constant; /* value of "const", or NULL */
    struct in_place *in_place;
    struct object_rules *object;
    struct string_rules *string;
    struct number_rules *number;
    struct array_rules *array;
    const json_t *json;
    const struct subschema *parent; /* NULL at the root of a document */
    const char *steps;              /* JSON pointer from the parent */
    struct map texts;               /* string -> row of values; only for long enumerations */
};

/* A compiled schema and all subschemas reachable from it. */
struct compiled {
    struct arena arena;
    json_t *keep; /* array of the documents; all JSON values are borrowed from them */
    const struct subschema *root;
    size_t pattern_count, pattern_capacity;
    struct schema_pattern **patterns;
    size_t map_count, map_capacity;
    struct map **maps; /* maps inside subschemas */
};

#endif
