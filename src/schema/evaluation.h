/* evaluation.h: state of a running validation: its budget, its results and the functions shared by the evaluate_*.c
 * files. Recursion goes through evaluation.evaluate, so that these files do not depend on each other in a cycle. */
#ifndef WT_SCHEMA_EVALUATION_H
#define WT_SCHEMA_EVALUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/compiled.h"
#include "schema/limits.h"
#include "schema/numbers.h"
#include "schema/violations.h"

/* Set of members or items evaluated by keywords, for "unevaluated...". One bit each, in document order. */
struct evaluated {
    size_t count;
    uint64_t few;   /* bits of a set of up to 64 */
    uint64_t *bits; /* allocated bits of a larger set; NULL if `few` is used */
};

/* Stack of the resources entered by the evaluation, innermost first. "$dynamicRef" searches it. */
struct scope {
    const struct resource *resource;
    const struct scope *up;
};

/* Stack of the references followed. */
struct followed {
    const struct subschema *target;
    const struct value_place *at;
    const struct followed *up;
};

struct schema_evaluation {
    bool (*evaluate)(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                     struct evaluated *seen);
    struct arena *arena;      /* memory of the violations */
    struct violations *found; /* NULL if violations are not wanted */
    const struct scope *scope;
    const struct followed *followed;
    struct pattern_scratch patterns;
    uint64_t steps, most_steps;
    size_t recorded; /* number of violations recorded in all lists */
    int depth;
    bool stopped, out_of_memory; /* stopped: undecided, see `why`, unless out_of_memory */
    bool about_name;             /* true while the name of a property is evaluated */
    struct violation why;
    json_t *names; /* array of texts borrowed by violations; NULL if empty */
};

/* Records a violation at a place, if the limits allow. Requires e->found. Always returns false. */
bool wt__record_violation(struct schema_evaluation *e, const struct value_place *at, struct violation violation);

static inline bool wt__report_violation(struct schema_evaluation *e, const struct value_place *at,
                                        struct violation violation)
{
    return e->found ? wt__record_violation(e, at, violation) : false;
}

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

/* True if evaluation should continue with further keywords: until the first failure, or always if violations are
 * wanted. */
static inline bool wt__should_continue(const struct schema_evaluation *e, bool fits)
{
    return !e->stopped && (fits || e->found);
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

bool wt__evaluated_init(struct evaluated *set, size_t count);
void wt__evaluated_dispose(struct evaluated *set);
void wt__evaluated_merge(struct evaluated *set, const struct evaluated *more);
void wt__evaluated_mark_all(struct evaluated *set);

static inline void wt__evaluated_mark(struct evaluated *set, size_t at)
{
    (set->bits ? set->bits : &set->few)[at / 64] |= (uint64_t)1 << at % 64;
}

static inline bool wt__evaluated_has(const struct evaluated *set, size_t at)
{
    return ((set->bits ? set->bits : &set->few)[at / 64] >> at % 64 & 1) != 0;
}

/* Matches a text against a pattern. Returns false if the text does not match or the evaluation stops. */
bool wt__evaluate_pattern(struct schema_evaluation *e, const struct subschema *s, const struct schema_pattern *pattern,
                          const char *keyword, const struct value_place *at, struct str text);

#endif
