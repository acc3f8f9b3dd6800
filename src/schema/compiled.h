/* compiled.h: a schema as validation reads it: a graph of subschemas, each with its keywords in groups by what they
 * look at. Immutable once made; all of it lives in one arena and refers to the documents' JSON values.
 *
 * A group is NULL where the subschema has none of its keywords, so that a value meets only the groups of its kind. */
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

/* Kinds of values, as bits. A type "number" is KIND_INTEGER | KIND_FRACTION. */
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

/* What "$id" begins, or a document: the base of references, and the home of anchors. */
struct resource {
    const char *uri; /* absolute, without fragment; "" for a document that has no address */
    const json_t *root;
    const char *document; /* how messages call the document: "" for the schema itself, else its address */
    bool draft7;
    unsigned vocabularies;
    struct dynamic_anchor *dynamic; /* a list */
    const char *refused;            /* what is wrong with its document; NULL: nothing */
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
    const struct subschema *subschema; /* NULL: the property is required, and no more is said */
    bool required;
};

struct named_subschemas {
    size_t len;
    struct property *items;
};

struct names {
    size_t len;
    struct str *items;
};

struct pattern_property {
    const struct pattern *pattern;
    struct str text;
    const struct subschema *subschema;
};

struct pattern_properties {
    size_t len;
    struct pattern_property *items;
};

struct dependent_name {
    struct str name;
    struct names wanted;
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
    const struct pattern *pattern;
    struct str pattern_text;
    const struct format *format; /* that is asserted */
};

struct array_rules {
    struct subschema_list prefix;
    const struct subschema *items, *contains, *unevaluated; /* items: of what comes after the prefix */
    struct bound min_items, max_items, min_contains, max_contains;
    bool unique, contains_evaluates;
};

/* What most schemas have comes first: it fits one line of the cache. */
struct object_rules {
    struct named_subschemas properties; /* and names that are only required, behind them */
    size_t required;                    /* how many of these are */
    const struct subschema *additional;
    bool mapped; /* names are looked for in by_name */
    bool more;   /* one of the following is there */
    const struct subschema *names, *unevaluated;
    struct pattern_properties patterns;
    struct dependent_names dependent_required;
    struct named_subschemas dependent_schemas;
    struct bound min_properties, max_properties;
    struct map by_name; /* rows of properties, where there are many */
};

struct in_place {
    struct subschema_list all_of, any_of, one_of;
    const struct subschema *negated, *condition, *then, *otherwise; /* then, otherwise: only beside a condition */
    const struct subschema *reference, *dynamic;                    /* dynamic: what it is without any scope */
    struct str dynamic_name;                                        /* empty: "$dynamicRef" is as "$ref" */
};

enum { VERDICT_OPEN, VERDICT_TRUE, VERDICT_FALSE }; /* the last two: schemas that are true and false */

/* What every evaluation reads comes first. */
struct subschema {
    unsigned char verdict;
    unsigned char types;  /* kinds that "type" lets in */
    bool wants_evaluated; /* "unevaluated..." is there */
    bool queued;          /* the compiler has seen it */
    const struct resource *resource;
    const json_t *values;   /* the array of "enum"; NULL: none */
    const json_t *constant; /* of "const"; NULL: none */
    struct in_place *in_place;
    struct object_rules *object;
    struct string_rules *string;
    struct number_rules *number;
    struct array_rules *array;
    const json_t *json;
    const struct subschema *parent; /* NULL at the root of a document */
    const char *steps;              /* JSON pointer from the parent */
    struct map texts;               /* rows of values: the strings among many */
};

/* A schema with all that it refers to. */
struct compiled {
    struct arena arena;
    json_t *keep; /* an array of documents: their values are borrowed everywhere */
    const struct subschema *root;
    size_t pattern_count, pattern_capacity;
    struct pattern **patterns;
    size_t map_count, map_capacity;
    struct map **maps; /* those within subschemas */
};

#endif
