/* alternatives.c: measures the distance of an alternative as a sum over its violations. Weights, from light to heavy:
 * - a violation inside the value
 * - a missing or unknown property
 * - a wrong fixed value of a property (such values distinguish alternatives)
 * - the wrong type of the value itself */
#include "schema/alternatives.h"

enum { FAR_INSIDE = 1, FAR_PROPERTY = 8, FAR_VALUE = 100, FAR_TYPE = 10000 };

/* State collected while trying the alternatives. */
struct alternatives_trial {
    struct violations best, last;
    size_t best_distance;
    size_t plausible; /* alternatives that do not fail on the type alone */
    unsigned types;   /* types accepted by the alternatives that fail on the type alone */
    bool only_types;
    size_t fits, first, second; /* number of fitting alternatives; indices of the first two */
};

static size_t measure_distance(const struct violations *list, size_t depth)
{
    size_t sum = 0;
    for (size_t i = 0; i < list->len; i++) {
        const struct violation *v = &list->items[i];
        if (v->kind == VIOLATION_TYPE && v->depth == depth)
            sum += FAR_TYPE;
        else if (v->kind == VIOLATION_VALUE && v->depth <= depth + 1)
            sum += FAR_VALUE;
        else if (v->kind == VIOLATION_REQUIRED || v->kind == VIOLATION_UNKNOWN || v->kind == VIOLATION_FALSE)
            sum += FAR_PROPERTY;
        else
            sum += FAR_INSIDE;
    }
    return sum;
}

static void rate_alternative(struct alternatives_trial *trial, size_t depth)
{
    const struct violation *only = trial->last.len == 1 ? trial->last.items : NULL;
    bool type = only && only->kind == VIOLATION_TYPE && only->depth == depth;
    size_t far = trial->last.len > 0 ? measure_distance(&trial->last, depth) : SIZE_MAX;
    if (type)
        trial->types |= only->types;
    trial->plausible += !type;
    trial->only_types &= type;
    if (far < trial->best_distance || trial->best.len == 0) {
        struct violations spare = trial->best;
        trial->best = trial->last;
        trial->last = spare;
        trial->best_distance = far;
    }
}

/* Tries one alternative. If it fits, merges the members it evaluated into `seen`. If it does not fit and violations are
 * wanted, updates the nearest alternative in `trial`. */
static void try_alternative(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct evaluated *seen, struct alternatives_trial *trial, size_t index)
{
    struct violations *found = e->found;
    struct evaluated own;
    if (seen && !wt__evaluated_init(&own, seen->count)) {
        wt__stop_out_of_memory(e);
        return;
    }
    trial->last.len = 0;
    e->found = found ? &trial->last : NULL;
    bool fits = e->evaluate(e, s, at, seen ? &own : NULL);
    e->found = found;
    if (fits && seen)
        wt__evaluated_merge(seen, &own);
    if (seen)
        wt__evaluated_dispose(&own);
    if (fits && trial->fits == 0)
        trial->first = index;
    else if (fits && trial->fits == 1)
        trial->second = index;
    trial->fits += fits;
    if (!fits && found && !e->stopped)
        rate_alternative(trial, wt__place_depth(at));
}

static bool are_all_constants(const struct subschema_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        if (!list->items[i]->constant)
            return false;
    return true;
}

/* Reports that no alternative fits. Uses a single violation if all alternatives fail on the type or are constants;
 * otherwise reports the violations of the nearest alternative. Returns false. */
static bool report_alternatives(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                const struct subschema_list *list, const char *keyword,
                                struct alternatives_trial *trial)
{
    if (e->stopped)
        return false;
    if (are_all_constants(list))
        return wt__record_violation(e, at, (struct violation){VIOLATION_VALUE, s, keyword, .branches = list});
    if (trial->only_types)
        return wt__record_violation(e, at, (struct violation){VIOLATION_TYPE, s, keyword, .types = trial->types});
    for (size_t i = 0; i < trial->best.len && e->found->len < VIOLATIONS_KEPT; i++) {
        struct violation *v = &trial->best.items[i];
        if (trial->plausible > 1 && v->alternatives == 0)
            v->alternatives = list->len;
        if (!wt__violations_add(e->found, v))
            return wt__stop_out_of_memory(e);
    }
    return false;
}

/* Counts the fitting alternatives in `trial`. Stops after `enough` of them. */
static void try_alternatives(struct schema_evaluation *e, const struct value_place *at,
                             const struct subschema_list *list, struct evaluated *seen, size_t enough,
                             struct alternatives_trial *trial)
{
    *trial = (struct alternatives_trial){.only_types = true, .best_distance = SIZE_MAX};
    for (size_t i = 0; i < list->len && trial->fits < enough && !e->stopped; i++)
        try_alternative(e, list->items[i], at, seen, trial, i);
}

static bool evaluate_alternatives(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                  struct evaluated *seen, bool one)
{
    const struct subschema_list *list = one ? &s->in_place->one_of : &s->in_place->any_of;
    const char *keyword = one ? "oneOf" : "anyOf";
    struct alternatives_trial trial;
    struct violations *found = e->found;
    size_t enough = one ? 2 : seen ? list->len : 1;
    if (seen && !wt__spend_steps(e, s, at, list->len * (seen->count / 64)))
        return false;
    e->found = NULL; /* Violations of the alternatives matter only if none fits. */
    try_alternatives(e, at, list, seen, enough, &trial);
    e->found = found;
    if (e->stopped || (one ? trial.fits == 1 : trial.fits > 0))
        return !e->stopped;
    if (trial.fits > 1)
        return wt__report_violation(
            e, at, (struct violation){VIOLATION_SEVERAL, s, keyword, .limit = trial.first, .other = trial.second});
    if (found) {
        try_alternatives(e, at, list, NULL, enough, &trial);
        report_alternatives(e, s, at, list, keyword, &trial);
        wt__violations_dispose(&trial.best);
        wt__violations_dispose(&trial.last);
    }
    return false;
}

bool wt__evaluate_any_of(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                         struct evaluated *seen)
{
    return evaluate_alternatives(e, s, at, seen, false);
}

bool wt__evaluate_one_of(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                         struct evaluated *seen)
{
    return evaluate_alternatives(e, s, at, seen, true);
}
