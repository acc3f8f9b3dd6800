/* repair.h: small slips of whoever wrote an instance, put right where there is one way to do so: a number written as
 * text or the reverse, one value where a list of such is expected, a value of an enumeration in other letters, a
 * required property that has a default. */
#ifndef WT_SCHEMA_REPAIR_H
#define WT_SCHEMA_REPAIR_H

#include "base/arena.h"
#include "schema/evaluate.h"
#include "schema/violations.h"

enum {
    REPAIRS_MAX = 64,  /* of one instance */
    REPAIR_TRIES = 256 /* violations that are tried */
};

struct repair {
    const char *pointer;
    const char *was; /* JSON; NULL: nothing was there */
    const char *now; /* JSON */
    const char *why; /* static */
};

struct repairs {
    struct repair *items; /* in the arena */
    size_t len;
    json_t *instance; /* a copy with the repairs; NULL where there is none. Ends with json_decref */
};

/* left: what the instance breaks, sorted; afterwards what is left, whose values are those of repairs->instance. A
 * repair stays only where it takes violations away and brings none. e: the evaluation that found them; each try goes on
 * with its budget, and it ends where that is spent. False: memory was out. */
bool wt__repair(struct repairs *repairs, struct violations *left, struct evaluation *e, const struct compiled *compiled,
                const json_t *instance);

#endif
