/* evaluation.h: evaluates an instance against a compiled schema and collects its violations. Also compares JSON values.
 *
 * Without a list of violations, the evaluation ends at the first failed keyword. With a list, the evaluation continues,
 * but skips keywords whose failure would not help the reader. For example, a value of the wrong type gets no further
 * violations. */
#ifndef WT_SCHEMA_EVALUATION_H
#define WT_SCHEMA_EVALUATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/compiled.h"
#include "schema/limits.h"

/* ---------------------------------------------------------------- values */

/* Numbers are compared by mathematical value: 1 equals 1.0, and a 64-bit integer is compared exactly with a float. */

/* Returns a number below, equal to or above 0, if a is below, equal to or above b. Both must be numbers. */
int wt__number_compare(const json_t *a, const json_t *b);

/* True if the number has no fraction. */
bool wt__number_is_integer(const json_t *a);

/* True if value is a multiple of unit, which must be above 0. Both count as decimals: 0.3 is a multiple of 0.1. */
bool wt__number_is_multiple(const json_t *value, const json_t *unit);

/* True if the values are equal in the sense of JSON Schema: 1 equals 1.0, and members have no order. Adds the number of
 * visited values to *steps, so that callers can limit the work. */
bool wt__json_same(const json_t *a, const json_t *b, uint64_t *steps);

/* Finds the first item of an array that equals an earlier item. *first, *second: indices of the two items. Adds the
 * cost to *steps. Returns 1 if found, 0 if all items differ or *steps exceeds `most`, -1 if out of memory. */
int wt__json_duplicate(const json_t *array, size_t *first, size_t *second, uint64_t *steps, uint64_t most);

/* ---------------------------------------------------------------- violations */

/* A value and its place in the instance, as a linked list on the stack of the evaluation. */
struct value_place {
    const json_t *value;
    const struct value_place *up; /* place of the enclosing object or array; NULL for the instance itself */
    const char *key;              /* key of a member, NULL for an item */
    size_t index;                 /* position of the member or item, from 0 */
};

/* Returns the number of values that a VIOLATION_VALUE allows. */
size_t wt__violation_choices(const struct violation *violation);
/* Returns the allowed value at index `at`. */
const json_t *wt__violation_choice(const struct violation *violation, size_t at);

/* Appends a copy of the violation. Returns false if out of memory. */
bool wt__violations_add(struct violations *list, const struct violation *violation);
void wt__violations_dispose(struct violations *list);

/* Sorts violations by place in document order. A value precedes its members and items. Returns false if out of
 * memory. */
bool wt__violations_sort(struct violations *list);

/* ---------------------------------------------------------------- evaluation */

struct scope;
struct followed;

struct schema_evaluation {
    struct arena *arena;             /* memory of the violations */
    struct violations *found;        /* NULL if violations are not wanted */
    const struct scope *scope;       /* resources entered (evaluate.c); NULL if empty */
    const struct followed *followed; /* references being followed (evaluate.c); NULL if empty */
    struct pattern_scratch patterns;
    uint64_t steps, most_steps;  /* steps spent, and their maximum */
    size_t recorded;             /* number of violations recorded in all lists */
    int depth;                   /* nested evaluations */
    bool stopped, out_of_memory; /* stopped: ended early; `why` is the reason, unless out_of_memory */
    bool about_name;             /* true while the name of a property is evaluated */
    struct violation why;        /* reason of an undecided evaluation */
    json_t *names;               /* array of property names that violations borrow; NULL if empty */
};

/* Stops the evaluation as undecided with this reason. Always returns false. */
bool wt__stop_evaluation(struct schema_evaluation *e, const struct value_place *at, struct violation why);
bool wt__stop_out_of_memory(struct schema_evaluation *e);

/* Spends steps. Stops the evaluation and returns false if the budget is exceeded. */
static inline bool wt__spend_steps(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                   uint64_t steps)
{
    e->steps += steps;
    if (e->steps <= e->most_steps && !e->stopped)
        return true;
    return wt__stop_evaluation(e, at, (struct violation){.kind = VIOLATION_STEPS, .subschema = s, .keyword = ""});
}

/* Returns the KIND_ bit of a value. A number without a fraction is an integer, even if written as 1.0. */
static inline unsigned wt__kind_of(const json_t *value)
{
    static const unsigned char kinds[] = {
        [JSON_OBJECT] = KIND_OBJECT,   [JSON_ARRAY] = KIND_ARRAY,   [JSON_STRING] = KIND_STRING,
        [JSON_INTEGER] = KIND_INTEGER, [JSON_REAL] = KIND_FRACTION, [JSON_TRUE] = KIND_BOOLEAN,
        [JSON_FALSE] = KIND_BOOLEAN,   [JSON_NULL] = KIND_NULL,
    };
    unsigned kind = kinds[json_typeof(value)];
    return kind == KIND_FRACTION && wt__number_is_integer(value) ? KIND_INTEGER : kind;
}

/* Evaluates a value against a subschema. e: zero except arena, most_steps and, for a shared budget, steps. If the
 * result is UNDECIDED, e->why is the reason. */
enum verdict wt__evaluate_subschema(struct schema_evaluation *e, const struct subschema *s, const json_t *value);

/* Evaluates an instance and collects its violations in sorted order: at least one if the instance does not fit, zero if
 * it fits. */
enum verdict wt__evaluate_collecting(struct schema_evaluation *e, const struct compiled *compiled,
                                     const json_t *instance, struct violations *found);

void wt__evaluation_dispose(struct schema_evaluation *e);

#endif
