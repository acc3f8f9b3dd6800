/* compiled.h: a schema compiled for validation, as a graph of subschemas. In each subschema, the keywords are grouped
 * by the kind of value they apply to. The graph is immutable after compilation. It lives in one arena, except patterns
 * and maps, and borrows JSON values from the documents.
 *
 * The validator reads only the groups for the kind of the value. A group is NULL if the subschema has no keyword of
 * that group. */
#ifndef WT_SCHEMA_COMPILED_H
#define WT_SCHEMA_COMPILED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "schema/validator.h"

/* ---------------------------------------------------------------- formats */

/* A format is checked from the text alone, by the grammar of its RFC. */
struct format {
    const char *name;
    const char *example;           /* text for messages: "a date such as 2026-03-01" */
    bool (*fits)(struct str text); /* NULL for "regex", which is checked by wt__pattern_is_valid */
};
/* Returns the format, or NULL if it is unknown. An unknown format accepts every value. */
const struct format *wt__format_find(struct str name);

/* ---------------------------------------------------------------- regular expressions */

/* The regular expressions of schemas (ECMA-262 in Unicode mode), matched with PCRE2.
 *
 * A compiled pattern is immutable and thread-safe. Each validation has its own scratch memory. PCRE2 applies its limits
 * to each start position in the text separately. A callout therefore counts the pattern items tried at all positions,
 * and this sum is limited. */

struct schema_pattern;

/* Compiles a pattern and adds its size to *memory, the total bytes of all patterns of the compiled schema. The message
 * in err does not contain the pattern. Returns 0, WT_EFORMAT, WT_ETOOLONG (above PATTERN_BYTES or PATTERN_MEMORY) or
 * WT_ENOMEM. */
int wt__pattern_compile(struct schema_pattern **out, struct str text, size_t *memory, wt_error *err);
void wt__pattern_free(struct schema_pattern *pattern);

/* Memory for matches. Must be zero before the first use. */
struct pattern_scratch {
    void *context, *data;
};
void wt__pattern_scratch_dispose(struct pattern_scratch *scratch);

enum pattern_answer {
    PATTERN_NO,
    PATTERN_YES,
    PATTERN_UNDECIDED, /* a limit was reached */
    PATTERN_NO_MEMORY
};

/* Checks that text is a regular expression in strict ECMA-262, for the format "regex". Never PATTERN_UNDECIDED. */
enum pattern_answer wt__pattern_is_valid(struct str text);

/* Checks a text against a format. Never PATTERN_UNDECIDED. */
enum pattern_answer wt__format_fits(const struct format *format, struct str text);

/* Searches text for the pattern, and adds the cost of the search to *steps. */
enum pattern_answer wt__pattern_match(const struct schema_pattern *pattern, struct pattern_scratch *scratch,
                                      struct str text, uint64_t *steps);

/* ---------------------------------------------------------------- the graph */

/* Bits for the kinds of values. The type "number" is KIND_INTEGER | KIND_FRACTION. */
enum { KIND_NULL = 1, KIND_BOOLEAN = 2, KIND_INTEGER = 4, KIND_FRACTION = 8 };
enum { KIND_STRING = 16, KIND_ARRAY = 32, KIND_OBJECT = 64, KIND_ANY = 127 };

struct subschema;

/* A document, or a part of a document with its own "$id". Relative references are resolved against its URI, and anchor
 * names are unique in it. */
struct resource {
    const char *uri;                /* absolute, without fragment; "" for a document without an address */
    const json_t *root;             /* JSON of the resource */
    const char *document;           /* name of the document in messages: "" for the schema itself, else its address */
    bool draft7;                    /* true for draft-07, false for 2020-12 */
    unsigned vocabularies;          /* VOCABULARY_ bits */
    struct dynamic_anchor *dynamic; /* list of its "$dynamicAnchor"s; NULL if empty */
    const char *refused;            /* error message if its document is invalid; else NULL */
    int refused_code;               /* WT_ code of this error; 0 if valid */
};

struct dynamic_anchor {
    struct str name;
    const struct subschema *subschema;
    struct dynamic_anchor *next; /* NULL at the end of the list */
};

struct bound {
    bool set; /* false if the schema does not have the keyword */
    size_t value;
};

struct subschema_list {
    size_t len;
    const struct subschema **items;
};

struct property {
    struct str name;
    const struct subschema *subschema; /* NULL if the property is only listed in "required" */
    bool required;                     /* true if listed in "required" */
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
    struct str text; /* the pattern as written */
    const struct subschema *subschema;
};

struct pattern_properties {
    size_t len;
    struct pattern_property *items;
};

struct dependent_name {
    struct str name;
    struct name_list wanted; /* properties required if `name` is present */
};

struct dependent_names {
    size_t len;
    struct dependent_name *items;
};

struct number_rules { /* each NULL if absent */
    const json_t *multiple_of, *minimum, *maximum, *exclusive_minimum, *exclusive_maximum;
};

struct string_rules {
    struct bound min_length, max_length;
    const struct schema_pattern *pattern; /* NULL if absent */
    struct str pattern_text;              /* the pattern as written */
    const struct format *format;          /* format to validate, or NULL */
};

struct array_rules {
    struct subschema_list prefix;                           /* "prefixItems" */
    const struct subschema *items, *contains, *unevaluated; /* NULL if absent; items: for items after the prefix */
    struct bound min_items, max_items, min_contains, max_contains;
    bool unique;
    bool contains_evaluates; /* true if items that match "contains" count as evaluated; false in draft-07 */
};

/* Fields used by most schemas come first, so that they share one cache line. */
struct object_rules {
    struct named_subschemas properties;          /* "properties", followed by names that are only in "required" */
    size_t required;                             /* number of required properties */
    const struct subschema *additional;          /* "additionalProperties", or NULL */
    bool mapped;                                 /* true if by_name is used for lookup */
    bool more;                                   /* true if one of the rules below, except unevaluated, is set */
    const struct subschema *names, *unevaluated; /* "propertyNames", "unevaluatedProperties"; NULL if absent */
    struct pattern_properties patterns;
    struct dependent_names dependent_required;
    struct named_subschemas dependent_schemas;
    struct bound min_properties, max_properties;
    struct map by_name; /* name to row of properties; only if `mapped` */
};

/* Subschemas that apply to the value itself, not to its members or items. Single subschemas are NULL if absent. */
struct in_place {
    struct subschema_list all_of, any_of, one_of;
    const struct subschema *negated, *condition, *then, *otherwise; /* "not", "if", "then", "else" */
    const struct subschema *reference, *dynamic; /* target of "$ref"; static target of "$dynamicRef" */
    struct str dynamic_name;                     /* empty if "$dynamicRef" acts like "$ref" */
};

enum { VERDICT_OPEN, VERDICT_TRUE, VERDICT_FALSE }; /* VERDICT_TRUE, VERDICT_FALSE: the schemas `true` and `false` */

/* Fields read by every evaluation come first. */
struct subschema {
    unsigned char verdict; /* VERDICT_ value; VERDICT_OPEN for a schema with keywords */
    unsigned char types;   /* KIND_ bits of the types allowed by "type" */
    bool wants_evaluated;  /* true if an "unevaluated..." keyword is present */
    bool queued;           /* true once the compiler has enqueued the subschema */
    const struct resource *resource;
    const json_t *values;      /* array of "enum", or NULL */
    const json_t *constant;    /* value of "const", or NULL */
    struct in_place *in_place; /* this and the next four groups are NULL if they have no keyword */
    struct object_rules *object;
    struct string_rules *string;
    struct number_rules *number;
    struct array_rules *array;
    const json_t *json;             /* JSON of the subschema */
    const struct subschema *parent; /* NULL at the root of a document */
    const char *relative_pointer;   /* JSON pointer from the parent */
    struct map texts;               /* string to row of `values`; only for long enumerations */
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

/* Returns the property with this name, or NULL. Without a map, searches linearly from row *next on and sets *next to
 * the row after the match, because members are mostly in the order of the schema. */
static inline struct property *wt__find_property(const struct object_rules *rules, struct str name, size_t *next)
{
    struct property *items = rules->properties.items;
    size_t len = rules->properties.len, row = *next;
    if (rules->mapped) {
        const uint32_t *found = wt__map_get(&rules->by_name, name);
        return found ? &items[*found] : NULL;
    }
    for (size_t i = 0; i < len; i++, row++) {
        if (row >= len)
            row = 0;
        if (items[row].name.len == name.len && memcmp(items[row].name.ptr, name.ptr, name.len) == 0) {
            *next = row + 1;
            return &items[row];
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- places */

/* Returns "/keyword/name" in the arena, or "/keyword" if name is NULL. Escapes the name. Returns NULL if out of
 * memory. */
const char *wt__subschema_pointer(struct arena *arena, const char *keyword, const char *name);

/* Appends the place of a subschema: a JSON pointer. If the subschema is not in the schema itself, the address of its
 * document precedes the pointer. */
void wt__subschema_place(struct buffer *out, const struct subschema *subschema);

/* Sets the message of err to `schema PLACE: MESSAGE`, and the pointer of err to the place of the subschema. Returns
 * `code`, or WT_ENOMEM. */
int wt__subschema_refuse(const struct subschema *at, int code, wt_error *err, const char *format, ...) WT_PRINTF(4, 5);

/* ---------------------------------------------------------------- addresses */

/* Addresses of schemas follow RFC 3986. Only dot segments are normalised. */

/* The parts of a URI without separators, borrowed from the text. has_...: true if the part is present, even if
 * empty. */
struct uri {
    struct str scheme, authority, path, query, fragment;
    bool has_scheme, has_authority, has_query;
};

void wt__uri_split(struct uri *out, struct str text);

/* Appends the address to which `reference` resolves relative to `base`, without its fragment. */
void wt__uri_resolve(struct buffer *out, struct str base, struct str reference);

/* Appends text with %XX decoded. Returns false if a percent sign is not followed by two hexadecimal digits. */
bool wt__uri_decode(struct buffer *out, struct str text);

/* ---------------------------------------------------------------- keywords and dialects */

/* Form of a keyword's value -> type of the compiled field. */
enum shape {
    SHAPE_NUMBER,       /* a number -> const json_t * */
    SHAPE_UNIT,         /* a number above 0 -> const json_t * */
    SHAPE_COUNT,        /* a whole number of 0 or more -> struct bound */
    SHAPE_FLAG,         /* true or false -> bool */
    SHAPE_SUBSCHEMA,    /* a subschema -> const struct subschema * */
    SHAPE_LIST,         /* a list of subschemas -> struct subschema_list */
    SHAPE_NAMED,        /* an object of subschemas -> struct named_subschemas */
    SHAPE_PATTERNS,     /* an object from patterns to subschemas -> struct pattern_properties */
    SHAPE_DEPENDENCIES, /* an object of subschemas or lists of names */
    SHAPE_DEPENDENT_NAMES,
    SHAPE_ITEMS, /* a subschema or a list of subschemas */
    SHAPE_TYPE,
    SHAPE_ENUM,
    SHAPE_CONST,
    SHAPE_REQUIRED,
    SHAPE_PATTERN,
    SHAPE_FORMAT,
    SHAPE_REFERENCE,
    SHAPE_DYNAMIC_REFERENCE,
    SHAPE_DEFINITIONS /* an object of subschemas for references only */
};

enum { DIALECT_2020_12 = 1, DIALECT_DRAFT_07 = 2, DIALECT_BOTH = 3 };

/* A supported keyword. The table of keywords (dialect.c) is used to find subschemas and to compile values. */
struct keyword {
    const char *name;
    enum shape shape;
    int dialects;        /* DIALECT_ bits */
    unsigned vocabulary; /* VOCABULARY_ bit; 0 for core */
    size_t group;        /* offset of the group's pointer in struct subschema */
    size_t group_size;   /* 0 if the value has no group */
    size_t field;        /* offset of the compiled value in the group */
};

/* Returns the keyword with this name, or NULL if the dialect does not have the keyword. draft7, vocabularies: as in
 * struct resource. */
const struct keyword *wt__keyword_find(const char *name, bool draft7, unsigned vocabularies);

/* Vocabularies of 2020-12 enabled in a dialect. The core vocabulary is always enabled. */
enum {
    VOCABULARY_APPLICATOR = 1,
    VOCABULARY_UNEVALUATED = 2,
    VOCABULARY_VALIDATION = 4,
    VOCABULARY_FORMAT_ASSERTION = 8,
    VOCABULARY_ALL = 7 /* the standard dialects: "format" is only an annotation */
};

/* Sets draft7 and vocabularies of a resource.
 *
 * uri: URI of the dialect
 * usual: dialect used for "http://json-schema.org/schema", which names no version
 * table: supplied documents, including metaschemas, or NULL
 * at: subschema that contains "$schema", for error messages
 * Errors: WT_EFORMAT, WT_ENOMEM. */
int wt__dialect_read(struct resource *resource, struct str uri, const char *usual, const json_t *table,
                     const struct subschema *at, wt_error *err);

/* Returns the static JSON text of the built-in metaschema at `uri` (without fragment); empty if unknown. */
struct str wt__metaschema(struct str uri);

/* ---------------------------------------------------------------- documents */

/* Registry of the subschemas of a schema, of the supplied documents and of the built-in metaschemas. Finds a subschema
 * by "$id", anchor or JSON pointer. Documents are never fetched. */
struct documents {
    struct arena *arena;
    json_t *keep;         /* compiled.keep, borrowed; parsed metaschemas are added */
    const json_t *table;  /* JSON object that maps addresses to documents; may be NULL */
    const char *dialect;  /* dialect of documents without "$schema" */
    struct map resources; /* address to row of resource_rows */
    struct map anchors;   /* "ADDRESS#ANCHOR" to index in rows */
    struct map places;    /* json_t pointer of an object to index in rows */
    size_t resource_count, resource_capacity;
    struct resource **resource_rows; /* [resource_count] all resources */
    size_t len, capacity;
    struct subschema **rows; /* [len] all subschemas */
    bool all_loaded;         /* true once all documents of the table are loaded */
};

/* Registers the subschemas of `schema`; *out is its root. A document of the table is loaded when a reference first
 * needs it. If the document is invalid, each reference to it reports the error. Errors: WT_EFORMAT (unknown "$schema";
 * err has a pointer), WT_ETOOLONG (a limit of limits.h), WT_ENOMEM. */
int wt__documents_open(struct documents *documents, struct subschema **out, const json_t *schema, wt_error *err);
void wt__documents_dispose(struct documents *documents);

/* Returns the subschema of a JSON object, or NULL if the object is not a known subschema. */
struct subschema *wt__documents_at(const struct documents *documents, const json_t *json);

/* Creates a subschema for `true` or `false`. wt__documents_at does not find it, because Jansson shares these values.
 * relative_pointer must be in the arena. Returns NULL if out of memory. */
struct subschema *wt__documents_boolean(struct documents *documents, const json_t *json, const struct subschema *parent,
                                        const char *relative_pointer);

/* Resolves a reference in resource `from`. Errors: WT_ENOTFOUND and those of wt__documents_open. */
int wt__documents_resolve(struct documents *documents, struct subschema **out, const struct resource *from,
                          struct str reference, wt_error *err);

#endif
