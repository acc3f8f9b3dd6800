/* evaluation.c: records violations and tracks evaluated members. */
#include "schema/evaluation.h"

#include <stdlib.h>

bool wt__starve(struct evaluation *e)
{
    e->stopped = e->starved = true;
    return false;
}

static bool keep(struct evaluation *e, const struct place *at, struct violation *violation)
{
    violation->path = wt__place_path(e->arena, at, &violation->depth);
    violation->value = at->value;
    violation->of_name = e->of_name;
    return violation->path || violation->depth == 0 ? true : wt__starve(e);
}

bool wt__note(struct evaluation *e, const struct place *at, struct violation violation)
{
    if (e->stopped || e->noted >= VALIDATION_RECORDED || e->found->len >= VIOLATIONS_KEPT)
        return false;
    if (!wt__spend(e, violation.subschema, at, NOTE_STEPS) || !keep(e, at, &violation))
        return false;
    if (!wt__violations_add(e->found, &violation))
        return wt__starve(e);
    e->noted++;
    return false;
}

bool wt__stop(struct evaluation *e, const struct place *at, struct violation why)
{
    if (e->stopped)
        return false;
    e->stopped = true;
    if (keep(e, at, &why))
        e->why = why;
    return false;
}

static size_t words(size_t count)
{
    return (count + 63) / 64;
}

bool wt__evaluated_begin(struct evaluated *set, size_t count)
{
    *set = (struct evaluated){.count = count};
    return count <= 64 || (set->bits = calloc(words(count), sizeof *set->bits));
}

void wt__evaluated_end(struct evaluated *set)
{
    free(set->bits);
}

void wt__evaluated_join(struct evaluated *set, const struct evaluated *more)
{
    set->few |= more->few;
    for (size_t i = 0; set->bits && i < words(set->count); i++)
        set->bits[i] |= more->bits[i];
}

void wt__evaluated_all(struct evaluated *set)
{
    set->few = ~(uint64_t)0;
    for (size_t i = 0; set->bits && i < words(set->count); i++)
        set->bits[i] = ~(uint64_t)0;
}

bool wt__evaluate_pattern(struct evaluation *e, const struct subschema *s, const struct pattern *pattern,
                          const char *keyword, const struct place *at, struct str text)
{
    uint64_t steps = 0;
    enum pattern_answer answer = wt__pattern_match(pattern, &e->patterns, text, &steps);
    if (answer == PATTERN_NO_MEMORY)
        return wt__starve(e);
    if (answer == PATTERN_UNDECIDED)
        return wt__stop(e, at, (struct violation){.kind = VIOLATION_PATTERN_TIME, .subschema = s, .keyword = keyword});
    return wt__spend(e, s, at, steps) && answer == PATTERN_YES;
}
