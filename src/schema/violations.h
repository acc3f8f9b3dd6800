/* violations.h: violations of a schema by an instance, recorded as data. messages.h turns the reported ones into
 * sentences. They borrow from the schema and the instance. */
#ifndef WT_SCHEMA_VIOLATIONS_H
#define WT_SCHEMA_VIOLATIONS_H

#include "base/arena.h"
#include "schema/compiled.h"

/* A value and the way to it, on the stack of the evaluation. */
struct value_place {
    const json_t *value;
    const struct value_place *up; /* NULL for the instance itself */
    const char *key;              /* key of a member, NULL for an item */
    size_t index;                 /* position among its siblings */
};

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

struct violation {
    enum violation_kind kind;
    const struct subschema *subschema;
    const char *keyword; /* "" if it has no keyword */
    const struct path_step *path;
    size_t depth;        /* length of path */
    bool about_name;     /* true if it is about the name of the property at the end of path */
    const json_t *value; /* value at the place */
    const char *name;    /* name of a property */
    const json_t *wanted;
    const struct subschema_list *branches; /* VIOLATION_VALUE: alternatives with a constant each; or NULL */
    unsigned types;
    size_t limit, other; /* expected and actual number; or indices of items, alternatives or rows */
    size_t alternatives; /* number of alternatives, if this is from the nearest of several; else 0 */
};

struct violations {
    struct violation *items;
    size_t len, capacity;
};

/* Return the number of values allowed by a VIOLATION_VALUE, and each of them. */
size_t wt__violation_choices(const struct violation *violation);
const json_t *wt__violation_choice(const struct violation *violation, size_t at);

/* Returns false if out of memory. */
bool wt__violations_add(struct violations *list, const struct violation *violation);
void wt__violations_dispose(struct violations *list);

/* Sorts by place in document order, a value before its contents. Returns false if out of memory. */
bool wt__violations_sort(struct violations *list);

/* Returns the number of steps to a place. */
size_t wt__place_depth(const struct value_place *at);

/* Returns the steps to a place in the arena, and sets *depth to their number. NULL with *depth above 0 means out of
 * memory. */
const struct path_step *wt__place_path(struct arena *arena, const struct value_place *at, size_t *depth);

#endif
