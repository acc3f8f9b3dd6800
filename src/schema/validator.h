/* validator.h: validates JSON instances against a JSON Schema (2020-12 or draft-07). A schema is compiled once and can
 * then be used by any number of threads. See docs/validator.md for the supported features and limits. */
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

/* An invalid keyword and the schema object that contains the keyword. */
struct refused_keyword {
    json_t *schema;      /* borrowed from the schema */
    const char *keyword; /* static text; NULL if the error does not concern a keyword */
};

/* Compiles a schema.
 *
 * schema: the compiled schema keeps a reference to it
 * dialect: URI of the dialect for schemas without "$schema"
 * table: JSON object that maps URIs to documents, or NULL
 * assert_formats: validate "format" in every dialect
 * refused: set to the invalid keyword on an error; may be NULL
 *
 * Errors: WT_EFORMAT (invalid schema; err has a pointer), WT_ENOTFOUND (unresolved reference), WT_ETOOLONG,
 * WT_ENOMEM. */
int wt__compile_schema(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                       struct refused_keyword *refused, wt_error *err);

void wt__compiled_free(struct compiled *compiled);

/* ---------------------------------------------------------------- violations */

struct subschema;
struct subschema_list;

/* A step of the path from the instance to a value. */
struct path_step {
    const char *key; /* name of a member; NULL for an item */
    size_t index;    /* position of the member or item, from 0 */
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
    VIOLATION_UNKNOWN, /* a property that is not allowed */
    VIOLATION_FALSE,   /* the subschema is `false` */
    VIOLATION_NOT,
    VIOLATION_SEVERAL, /* several alternatives of "oneOf" fit */
    VIOLATION_OTHER,   /* the actual violations were not recorded */
    VIOLATION_STEPS,   /* this and the kinds below: undecided, because a limit was reached */
    VIOLATION_DEPTH,
    VIOLATION_PATTERN_TIME,
    VIOLATION_LOOP
};

/* A violation recorded as data. Borrows from the schema and the instance. */
struct violation {
    enum violation_kind kind;
    const struct subschema *subschema;
    const char *keyword;          /* keyword that failed; "" if the violation has no keyword */
    const struct path_step *path; /* [depth] steps from the instance to the place */
    size_t depth;                 /* number of steps; 0 for the instance itself */
    bool about_name;              /* true if it concerns the name of the property at the end of path */
    const json_t *value;          /* value at the place */
    const char *name;             /* name of the missing, unknown or forbidden property; else NULL */
    const json_t *wanted;         /* expected value, bound or list; VIOLATION_DUPLICATE: the repeated item; else NULL */
    /* VIOLATION_VALUE: list of the alternatives if each of them is a "const"; else NULL */
    const struct subschema_list *branches;
    unsigned types; /* VIOLATION_TYPE: KIND_ bits of the expected types */
    /* Expected and actual number, or indices of two items or alternatives. VIOLATION_DEPENDENT: limit is the row of
     * object_rules.dependent_required. */
    size_t limit, other;
    /* Number of alternatives of "anyOf" or "oneOf" if the value fits none of them and this violation is of the nearest
     * one; else 0, also if the other alternatives fail on the type alone. */
    size_t alternatives;
};

struct violations {
    struct violation *items;
    size_t len, capacity;
};

/* Messages are sentences for the author of the instance: the expected value, the actual value, and a likely correction.
 * Quoted text is untrusted: it is truncated, and invisible characters are escaped. */

/* Appends a message such as `/date: expected a date such as 2026-03-01, got "tomorrow"`. */
void wt__violation_message(struct buffer *out, const struct violation *violation);

/* Appends the place of the violation as a JSON pointer. For an unknown property, the pointer ends with the name of that
 * property. */
void wt__violation_pointer(struct buffer *out, const struct violation *violation);

/* Appends the place of the keyword, like wt__subschema_place. */
void wt__violation_keyword(struct buffer *out, const struct violation *violation);

/* ---------------------------------------------------------------- repairs */

/* A repair corrects a small mistake in an instance if there is only one way to correct it:
 * - a number or Boolean written as text
 * - a number where text is expected
 * - a single value where an array is expected
 * - an enumeration value that differs in case or blanks, or is written as text
 * - a missing required property with a default */
enum {
    REPAIRS_MAX = 64,  /* maximum repairs of an instance */
    REPAIR_TRIES = 256 /* maximum violations for which a repair is tried */
};

struct repair {
    const char *pointer; /* JSON pointer to the value */
    const char *was;     /* JSON of the old value; NULL if the property was missing */
    const char *now;     /* JSON of the new value */
    const char *why;     /* reason, static */
};

struct repairs {
    struct repair *items; /* in the arena */
    size_t len;
    json_t *instance; /* owned copy of the instance with the repairs; NULL if no repair was tried */
};

/* ---------------------------------------------------------------- validation */

enum verdict { FITS, FITS_NOT, UNDECIDED, OUT_OF_MEMORY }; /* UNDECIDED: a limit was reached */

struct validation {
    bool fits;
    struct violations violations; /* sorted; if undecided, the last violation is the reason */
    struct repairs repairs;
    struct arena arena; /* memory of violations and repairs */
    json_t *names;      /* property names that the violations borrow; NULL if empty */
};

/* Validates the instance and collects its violations. repair: true to repair the instance first; only the remaining
 * violations are then collected. The instance must outlive `validation`. Returns 0 or WT_ENOMEM; also 0 if the instance
 * does not fit or is undecided. */
int wt__validator_run(struct validation *validation, const struct compiled *compiled, const json_t *instance,
                      bool repair, wt_error *err);
void wt__validation_dispose(struct validation *validation);

#endif
