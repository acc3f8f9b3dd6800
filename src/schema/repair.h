/* repair.h: corrects small mistakes in an instance if there is only one way to do so: a number written as text or the
 * reverse, a single value instead of a list, a value of an enumeration in other case, a missing required property with
 * a default. */
#ifndef WT_SCHEMA_REPAIR_H
#define WT_SCHEMA_REPAIR_H

#include "base/arena.h"
#include "schema/evaluate.h"
#include "schema/violations.h"

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

/* Repairs a copy of the instance. A repair is kept only if it removes violations and adds none.
 *
 * left: set to the remaining violations, sorted; they borrow from repairs->instance
 * e: provides the arena and the budget of all tries; repairing stops once the budget is spent
 * Returns false if out of memory. */
bool wt__repair(struct repairs *repairs, struct violations *left, struct schema_evaluation *e,
                const struct compiled *compiled, const json_t *instance);

#endif
