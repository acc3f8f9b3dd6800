/* violations.h: what of a schema an instance breaks, noted as facts; sentences are made of those that are reported
 * (messages.h). The facts borrow from the schema and the instance. */
#ifndef WT_SCHEMA_VIOLATIONS_H
#define WT_SCHEMA_VIOLATIONS_H

#include "base/arena.h"
#include "schema/compiled.h"

/* A value on the way that led to it; on the stack of who evaluates. */
struct place {
    const json_t *value;
    const struct place *up; /* NULL: the instance itself */
    const char *key;        /* of a member; NULL: an item */
    size_t index;           /* among its siblings */
};

/* The same, kept: the way down from the instance. */
struct step {
    const char *key;
    size_t index;
};

enum violation_kind {
    VIOLATION_TYPE,
    VIOLATION_VALUE, /* "enum" or "const" */
    VIOLATION_MULTIPLE,
    VIOLATION_BOUND,  /* of a number: keyword says which */
    VIOLATION_LENGTH, /* of a text */
    VIOLATION_PATTERN,
    VIOLATION_FORMAT,
    VIOLATION_ITEMS,      /* how many */
    VIOLATION_PROPERTIES, /* how many */
    VIOLATION_DUPLICATE,
    VIOLATION_CONTAINS,
    VIOLATION_REQUIRED,
    VIOLATION_DEPENDENT,
    VIOLATION_UNKNOWN, /* a property that is not allowed */
    VIOLATION_NOTHING, /* false */
    VIOLATION_NOT,
    VIOLATION_SEVERAL, /* of "oneOf" */
    VIOLATION_OTHER,   /* none of those that were found has been kept */
    VIOLATION_STEPS,   /* from here on: it could not be decided */
    VIOLATION_DEPTH,
    VIOLATION_PATTERN_TIME,
    VIOLATION_LOOP
};

struct violation {
    enum violation_kind kind;
    const struct subschema *subschema;
    const char *keyword; /* "" where there is none */
    const struct step *path;
    size_t depth;
    bool of_name;        /* it is about the name of the property that path ends in */
    const json_t *value; /* at the place */
    const char *name;    /* of a property */
    const json_t *wanted;
    const struct subschema_list *branches; /* VIOLATION_VALUE: alternatives, each with a constant */
    unsigned types;
    size_t limit, other; /* what is wanted and what is there; items, alternatives or rows that it is about */
    size_t alternatives; /* it is what the nearest one of so many wants; 0 */
};

struct violations {
    struct violation *items;
    size_t len, capacity;
};

/* The values that a VIOLATION_VALUE wants one of: how many, and each. */
size_t wt__violation_choices(const struct violation *violation);
const json_t *wt__violation_choice(const struct violation *violation, size_t at);

/* False when memory was out. */
bool wt__violations_add(struct violations *list, const struct violation *violation);
void wt__violations_dispose(struct violations *list);

/* By place, in the order of the document, a value before what is in it. False when memory was out. */
bool wt__violations_sort(struct violations *list);

/* How many steps lead to a place. */
size_t wt__place_depth(const struct place *at);

/* The way to a place, in the arena; NULL with *depth > 0 when memory is out. */
const struct step *wt__place_path(struct arena *arena, const struct place *at, size_t *depth);

#endif
