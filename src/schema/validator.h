/* validator.h: JSON Schema 2020-12 and draft-07. A schema is compiled once; instances can then be validated from any
 * number of threads. See docs/validator.md for the supported features and limits. */
#ifndef WT_SCHEMA_VALIDATOR_H
#define WT_SCHEMA_VALIDATOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "schema/limits.h"

/* ---------------------------------------------------------------- compiling */

/* The URIs of the dialects. */
#define SCHEMA_2020_12 "https://json-schema.org/draft/2020-12/schema"
#define SCHEMA_DRAFT_07 "http://json-schema.org/draft-07/schema"

struct compiled; /* a compiled schema, immutable */

/* Rejected keyword and the schema object that contains it. */
struct refused_keyword {
    json_t *schema;      /* borrowed from the schema */
    const char *keyword; /* static; NULL if the error does not concern a keyword */
};

/* Compiles a schema.
 *
 * schema: kept by reference
 * dialect: URI of the dialect for schemas without "$schema"
 * table: JSON object that maps URIs to documents, or NULL
 * assert_formats: validate "format" in every dialect
 * refused: set to the keyword of an error, or NULL
 * Errors: WT_EFORMAT (invalid schema; err has a pointer), WT_ENOTFOUND (unresolved reference), WT_ETOOLONG,
 * WT_ENOMEM. */
int wt__compile_schema(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                       struct refused_keyword *refused, wt_error *err);

void wt__compiled_free(struct compiled *compiled);

/* ---------------------------------------------------------------- violations */

struct subschema;
struct subschema_list;

/* A step on the way down from the instance to a value. */
struct path_step {
    const char *key;
    size_t index;
};

enum violation_kind {
    VIOLATION_TYPE,
    VIOLATION_VALUE, /* "enum" or "const" */
    VIOLATION_MULTIPLE,
    VIOLATION_BOUND,  /* bound of a number, named by the keyword */
    VIOLATION_LENGTH, /* length of a string */
    VIOLATION_PATTERN,
    VIOLATION_FORMAT,
    VIOLATION_ITEMS,      /* number of items */
    VIOLATION_PROPERTIES, /* number of properties */
    VIOLATION_DUPLICATE,
    VIOLATION_CONTAINS,
    VIOLATION_REQUIRED,
    VIOLATION_DEPENDENT,
    VIOLATION_UNKNOWN, /* an additional property that is not allowed */
    VIOLATION_FALSE,   /* the schema false */
    VIOLATION_NOT,
    VIOLATION_SEVERAL, /* several alternatives of "oneOf" */
    VIOLATION_OTHER,   /* the actual violations were not recorded */
    VIOLATION_STEPS,   /* from here on: undecided */
    VIOLATION_DEPTH,
    VIOLATION_PATTERN_TIME,
    VIOLATION_LOOP
};

/* A violation recorded as data. Borrows from the schema and the instance. */
struct violation {
    enum violation_kind kind;
    const struct subschema *subschema;
    const char *keyword; /* "" if it has no keyword */
    const struct path_step *path;
    size_t depth;                          /* length of path */
    bool about_name;                       /* true if it is about the name of the property at the end of path */
    const json_t *value;                   /* value at the place */
    const char *name;                      /* name of a property */
    const json_t *wanted;                  /* expected value, bound or list of values */
    const struct subschema_list *branches; /* VIOLATION_VALUE: alternatives with a constant each; or NULL */
    unsigned types;                        /* VIOLATION_TYPE: bits of the expected kinds (KIND_) */
    size_t limit, other;                   /* expected and actual number; or indices of items, alternatives or rows */
    size_t alternatives;                   /* number of alternatives, if this is from the nearest of several; else 0 */
};

struct violations {
    struct violation *items;
    size_t len, capacity;
};

/* Messages are sentences for the author of the instance: the expected value, the actual value, and a likely correction.
 * Quoted text is untrusted: it is truncated, and invisible characters are escaped. */

/* Appends a message such as `/date: expected a date such as 2026-03-01, got "tomorrow"`. */
void wt__violation_message(struct buffer *out, const struct violation *violation);

/* Appends the place as a JSON pointer. It includes the name of the property if the violation is about an existing
 * property. */
void wt__violation_pointer(struct buffer *out, const struct violation *violation);

/* Appends the place of the keyword, like wt__subschema_place. */
void wt__violation_keyword(struct buffer *out, const struct violation *violation);

/* ---------------------------------------------------------------- repairs */

/* A repair corrects a small mistake in an instance if there is only one way to do so: a number written as text or the
 * reverse, a single value instead of a list, a value of an enumeration in other case, a missing required property with
 * a default. */
enum {
    REPAIRS_MAX = 64,  /* maximum repairs of an instance */
    REPAIR_TRIES = 256 /* maximum violations tried */
};

struct repair {
    const char *pointer;
    const char *was; /* JSON of the old value, NULL if the property was missing */
    const char *now; /* JSON of the new value */
    const char *why; /* reason, static */
};

struct repairs {
    struct repair *items; /* in the arena */
    size_t len;
    json_t *instance; /* copy of the instance with the repairs, or NULL; the owner calls json_decref */
};

/* ---------------------------------------------------------------- validation */

enum verdict { FITS, FITS_NOT, UNDECIDED, OUT_OF_MEMORY };

struct validation {
    bool fits;
    struct violations violations; /* sorted; if undecided, the last one is the reason */
    struct repairs repairs;
    struct arena arena;
    json_t *names; /* names borrowed by the violations */
};

/* Validates the instance and collects the violations, after repairs if requested. The instance must live as long as
 * `validation`. Returns 0, even if the instance does not fit or is undecided, or WT_ENOMEM. */
int wt__validator_run(struct validation *validation, const struct compiled *compiled, const json_t *instance,
                      bool repair, wt_error *err);
void wt__validation_dispose(struct validation *validation);

#endif
