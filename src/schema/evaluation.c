/* evaluation.c: records violations and tracks evaluated members. */
#include "schema/evaluation.h"

#include <stdlib.h>

bool wt__stop_out_of_memory(struct schema_evaluation *e)
{
    e->stopped = e->out_of_memory = true;
    return false;
}

static bool keep_violation(struct schema_evaluation *e, const struct value_place *at, struct violation *violation)
{
    violation->path = wt__place_path(e->arena, at, &violation->depth);
    violation->value = at->value;
    violation->about_name = e->about_name;
    return violation->path || violation->depth == 0 ? true : wt__stop_out_of_memory(e);
}

bool wt__record_violation(struct schema_evaluation *e, const struct value_place *at, struct violation violation)
{
    if (e->stopped || e->recorded >= VALIDATION_RECORDED || e->found->len >= VIOLATIONS_KEPT)
        return false;
    if (!wt__spend_steps(e, violation.subschema, at, NOTE_STEPS) || !keep_violation(e, at, &violation))
        return false;
    if (!wt__violations_add(e->found, &violation))
        return wt__stop_out_of_memory(e);
    e->recorded++;
    return false;
}

bool wt__stop_evaluation(struct schema_evaluation *e, const struct value_place *at, struct violation why)
{
    if (e->stopped)
        return false;
    e->stopped = true;
    if (keep_violation(e, at, &why))
        e->why = why;
    return false;
}

static size_t count_bit_words(size_t count)
{
    return (count + 63) / 64;
}

bool wt__evaluated_init(struct evaluated *set, size_t count)
{
    *set = (struct evaluated){.count = count};
    return count <= 64 || (set->bits = calloc(count_bit_words(count), sizeof *set->bits));
}

void wt__evaluated_dispose(struct evaluated *set)
{
    free(set->bits);
}

void wt__evaluated_merge(struct evaluated *set, const struct evaluated *more)
{
    set->few |= more->few;
    for (size_t i = 0; set->bits && i < count_bit_words(set->count); i++)
        set->bits[i] |= more->bits[i];
}

void wt__evaluated_mark_all(struct evaluated *set)
{
    set->few = ~(uint64_t)0;
    for (size_t i = 0; set->bits && i < count_bit_words(set->count); i++)
        set->bits[i] = ~(uint64_t)0;
}

bool wt__evaluate_pattern(struct schema_evaluation *e, const struct subschema *s, const struct schema_pattern *pattern,
                          const char *keyword, const struct value_place *at, struct str text)
{
    uint64_t steps = 0;
    enum pattern_answer answer = wt__pattern_match(pattern, &e->patterns, text, &steps);
    if (answer == PATTERN_NO_MEMORY)
        return wt__stop_out_of_memory(e);
    if (answer == PATTERN_UNDECIDED)
        return wt__stop_evaluation(
            e, at, (struct violation){.kind = VIOLATION_PATTERN_TIME, .subschema = s, .keyword = keyword});
    return wt__spend_steps(e, s, at, steps) && answer == PATTERN_YES;
}
