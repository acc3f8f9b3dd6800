/* evaluation.h: one validation as it runs: what it has spent, what it found, and what all files of it call. Recursion
 * goes through evaluation.evaluate, so that the files stand one above the other. */
#ifndef WT_SCHEMA_EVALUATION_H
#define WT_SCHEMA_EVALUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/compiled.h"
#include "schema/limits.h"
#include "schema/numbers.h"
#include "schema/violations.h"

/* Members or items that keywords have evaluated, for "unevaluated...": a bit each, in their order. */
struct evaluated {
    size_t count;
    uint64_t few;   /* the bits of up to 64 */
    uint64_t *bits; /* where they are: few, or allocated */
};

/* Resources that evaluation has entered, innermost first: where "$dynamicRef" looks. */
struct scope {
    const struct resource *resource;
    const struct scope *up;
};

/* References that were followed at one place. */
struct followed {
    const struct subschema *target;
    const struct place *at;
    const struct followed *up;
};

struct evaluation {
    bool (*evaluate)(struct evaluation *e, const struct subschema *s, const struct place *at, struct evaluated *seen);
    struct arena *arena;      /* of what is found */
    struct violations *found; /* NULL: only whether the instance fits */
    const struct scope *scope;
    const struct followed *followed;
    struct pattern_scratch patterns;
    uint64_t steps, most_steps;
    size_t noted; /* violations, in all lists */
    int depth;
    bool stopped, starved; /* it will not be decided: why, or that memory was out */
    bool of_name;          /* what is evaluated is the name of a property */
    struct violation why;
    json_t *names; /* texts that violations borrow, an array; NULL: none yet */
};

/* Notes a violation at a place, where somebody wants to know. False, always: the instance does not fit. */
bool wt__note(struct evaluation *e, const struct place *at, struct violation violation);

static inline bool wt__report(struct evaluation *e, const struct place *at, struct violation violation)
{
    return e->found ? wt__note(e, at, violation) : false;
}

/* Ends the evaluation undecided, for this reason. False. */
bool wt__stop(struct evaluation *e, const struct place *at, struct violation why);
bool wt__starve(struct evaluation *e);

/* Whether there is still budget, after so many steps more. */
static inline bool wt__spend(struct evaluation *e, const struct subschema *s, const struct place *at, uint64_t steps)
{
    e->steps += steps;
    if (e->steps <= e->most_steps && !e->stopped)
        return true;
    return wt__stop(e, at, (struct violation){.kind = VIOLATION_STEPS, .subschema = s, .keyword = ""});
}

/* Whether to go on with other keywords: always while violations are looked for, else until the first. */
static inline bool wt__go_on(const struct evaluation *e, bool fits)
{
    return !e->stopped && (fits || e->found);
}

/* The KIND_ bit of a value: a number without a fraction is an integer, however it is written. */
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

bool wt__evaluated_begin(struct evaluated *set, size_t count);
void wt__evaluated_end(struct evaluated *set);
void wt__evaluated_join(struct evaluated *set, const struct evaluated *more);
void wt__evaluated_all(struct evaluated *set);

static inline void wt__evaluated_mark(struct evaluated *set, size_t at)
{
    (set->bits ? set->bits : &set->few)[at / 64] |= (uint64_t)1 << at % 64;
}

static inline bool wt__evaluated_has(const struct evaluated *set, size_t at)
{
    return ((set->bits ? set->bits : &set->few)[at / 64] >> at % 64 & 1) != 0;
}

/* A text against a pattern. False where it does not match, or where the evaluation stops. */
bool wt__evaluate_pattern(struct evaluation *e, const struct subschema *s, const struct pattern *pattern,
                          const char *keyword, const struct place *at, struct str text);

#endif
