/* evaluate_array.c: the keywords of arrays. */
#include "schema/evaluate_array.h"

#include "schema/same.h"

static bool evaluate_item_count(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    const struct array_rules *rules = s->array;
    size_t len = json_array_size(at->value);
    bool low = rules->min_items.set && len < rules->min_items.value;
    if (!low && !(rules->max_items.set && len > rules->max_items.value))
        return true;
    return wt__report_violation(e, at,
                                (struct violation){VIOLATION_ITEMS, s, low ? "minItems" : "maxItems",
                                                   .limit = low ? rules->min_items.value : rules->max_items.value,
                                                   .other = len});
}

static bool evaluate_items(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           struct evaluated *seen)
{
    const struct array_rules *rules = s->array;
    size_t len = json_array_size(at->value), end = rules->items || len < rules->prefix.len ? len : rules->prefix.len;
    bool fits = true;
    for (size_t i = 0; i < end && wt__should_continue(e, fits); i++) {
        const struct subschema *item = i < rules->prefix.len ? rules->prefix.items[i] : rules->items;
        struct value_place inner = {json_array_get(at->value, i), at, NULL, i};
        fits &= e->evaluate(e, item, &inner, NULL);
        if (seen)
            wt__evaluated_mark(seen, i);
    }
    return fits;
}

static bool evaluate_contains(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                              struct evaluated *seen)
{
    const struct array_rules *rules = s->array;
    struct violations *found = e->found;
    size_t len = json_array_size(at->value), count = 0;
    size_t least = rules->min_contains.set ? rules->min_contains.value : 1;
    bool marks = seen && rules->contains_evaluates;
    e->found = NULL;
    for (size_t i = 0; i < len && !e->stopped; i++) {
        struct value_place inner = {json_array_get(at->value, i), at, NULL, i};
        bool fits = e->evaluate(e, rules->contains, &inner, NULL);
        count += fits;
        if (fits && marks)
            wt__evaluated_mark(seen, i);
        if (!marks && !rules->max_contains.set && count >= least)
            break;
    }
    e->found = found;
    if (count < least)
        return wt__report_violation(e, at,
                                    (struct violation){VIOLATION_CONTAINS, s,
                                                       rules->min_contains.set ? "minContains" : "contains",
                                                       .limit = least, .other = count});
    if (rules->max_contains.set && count > rules->max_contains.value)
        return wt__report_violation(e, at,
                                    (struct violation){VIOLATION_CONTAINS, s, "maxContains",
                                                       .limit = rules->max_contains.value, .other = count});
    return true;
}

static bool evaluate_unique(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    size_t first = 0, second = 0;
    uint64_t steps = 0;
    int duplicate = wt__json_duplicate(at->value, &first, &second, &steps, e->most_steps);
    if (duplicate < 0)
        return wt__stop_out_of_memory(e);
    if (!wt__spend_steps(e, s, at, steps) || duplicate == 0)
        return !e->stopped;
    return wt__report_violation(e, at,
                                (struct violation){VIOLATION_DUPLICATE, s, "uniqueItems", .limit = first,
                                                   .other = second, .wanted = json_array_get(at->value, second)});
}

bool wt__evaluate_array(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                        struct evaluated *seen)
{
    const struct array_rules *rules = s->array;
    bool fits = evaluate_item_count(e, s, at);
    if ((rules->items || rules->prefix.len > 0) && wt__should_continue(e, fits))
        fits &= evaluate_items(e, s, at, seen);
    if (rules->contains && wt__should_continue(e, fits))
        fits &= evaluate_contains(e, s, at, seen);
    if (rules->unique && wt__should_continue(e, fits))
        fits &= evaluate_unique(e, s, at);
    return fits && !e->stopped;
}

bool wt__evaluate_rest_of_array(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                struct evaluated *seen)
{
    bool fits = wt__spend_steps(e, s, at, json_array_size(at->value) / 8);
    for (size_t i = 0; i < json_array_size(at->value) && wt__should_continue(e, fits); i++) {
        struct value_place inner = {json_array_get(at->value, i), at, NULL, i};
        if (!wt__evaluated_has(seen, i))
            fits &= e->evaluate(e, s->array->unevaluated, &inner, NULL);
    }
    wt__evaluated_mark_all(seen);
    return fits && !e->stopped;
}
