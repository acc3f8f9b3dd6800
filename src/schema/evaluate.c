/* evaluate.c: evaluates one subschema against one value: the keywords that apply in place, then the groups for the kind
 * of value. A hostile schema may multiply evaluations or refer back to itself. Limits on steps, on depth and on
 * repeated references at one place guarantee termination. */
#include "schema/evaluate.h"

#include "schema/alternatives.h"
#include "schema/evaluate_array.h"
#include "schema/evaluate_object.h"
#include "schema/evaluate_value.h"

/* Follows a reference. Stops the evaluation if the same target was already followed twice at this place: from then on,
 * the scope cannot change the target of "$dynamicRef". */
static bool follow_reference(struct schema_evaluation *e, const struct subschema *s, const char *keyword,
                             const struct subschema *target, const struct value_place *at, struct evaluated *seen)
{
    struct followed followed = {target, at, e->followed};
    int times = 0, links = 0;
    for (const struct followed *f = e->followed; f && f->at == at; f = f->up, links++)
        times += f->target == target;
    if (times >= 2)
        return wt__stop_evaluation(e, at,
                                   (struct violation){.kind = VIOLATION_LOOP, .subschema = s, .keyword = keyword});
    if (!wt__spend_steps(e, s, at, (uint64_t)links / 16))
        return false;
    e->followed = &followed;
    bool fits = e->evaluate(e, target, at, seen);
    e->followed = followed.up;
    return fits;
}

/* Follows "$dynamicRef". The outermost resource in scope with the anchor determines the target. */
static bool follow_dynamic(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           struct evaluated *seen)
{
    const struct in_place *rules = s->in_place;
    const struct subschema *target = rules->dynamic;
    uint64_t looked = 0;
    for (const struct scope *scope = e->scope; scope && rules->dynamic_name.len > 0; scope = scope->up)
        for (const struct dynamic_anchor *a = scope->resource->dynamic; a; a = a->next, looked++)
            if (wt__str_equal(a->name, rules->dynamic_name))
                target = a->subschema;
    return wt__spend_steps(e, s, at, looked / 16) && follow_reference(e, s, "$dynamicRef", target, at, seen);
}

/* True if the value fits `s`. Records no violations. If the value fits, merges the members evaluated by `s` into
 * `seen`. */
static bool test_subschema(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           struct evaluated *seen)
{
    struct violations *found = e->found;
    struct evaluated own;
    if (seen && !wt__evaluated_init(&own, seen->count))
        return wt__stop_out_of_memory(e);
    e->found = NULL;
    bool fits = e->evaluate(e, s, at, seen ? &own : NULL);
    e->found = found;
    if (seen && fits)
        wt__evaluated_merge(seen, &own);
    if (seen)
        wt__evaluated_dispose(&own);
    return fits;
}

static bool evaluate_in_place(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                              struct evaluated *seen)
{
    const struct in_place *rules = s->in_place;
    bool fits = true;
    if (rules->reference)
        fits = follow_reference(e, s, "$ref", rules->reference, at, seen);
    if (rules->dynamic && wt__should_continue(e, fits))
        fits &= follow_dynamic(e, s, at, seen);
    for (size_t i = 0; i < rules->all_of.len && wt__should_continue(e, fits); i++)
        fits &= e->evaluate(e, rules->all_of.items[i], at, seen);
    if (rules->any_of.len > 0 && wt__should_continue(e, fits))
        fits &= wt__evaluate_any_of(e, s, at, seen);
    if (rules->one_of.len > 0 && wt__should_continue(e, fits))
        fits &= wt__evaluate_one_of(e, s, at, seen);
    if (rules->negated && wt__should_continue(e, fits) && test_subschema(e, rules->negated, at, NULL))
        fits = wt__report_violation(e, at, (struct violation){.kind = VIOLATION_NOT, .subschema = s, .keyword = "not"});
    if (rules->condition && wt__should_continue(e, fits)) {
        bool holds = test_subschema(e, rules->condition, at, seen);
        const struct subschema *then = holds ? rules->then : rules->otherwise;
        if (then && !e->stopped)
            fits &= e->evaluate(e, then, at, seen);
    }
    return fits && !e->stopped;
}

static bool evaluate_keywords(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                              unsigned kind, struct evaluated *seen)
{
    if (!(kind & s->types))
        return wt__report_violation(e, at, (struct violation){VIOLATION_TYPE, s, "type", .types = s->types});
    if ((s->values || s->constant) && !wt__evaluate_choice(e, s, at))
        return false;
    bool fits = !s->in_place || evaluate_in_place(e, s, at, seen);
    if (!wt__should_continue(e, fits))
        return false;
    if (s->string && kind == KIND_STRING)
        return wt__evaluate_string(e, s, at) && fits;
    if (s->number && (kind & (KIND_INTEGER | KIND_FRACTION)))
        return wt__evaluate_number(e, s, at) && fits;
    if (s->object && kind == KIND_OBJECT)
        return wt__evaluate_object(e, s, at, seen) && fits;
    if (s->array && kind == KIND_ARRAY)
        return wt__evaluate_array(e, s, at, seen) && fits;
    return fits;
}

/* Evaluates a subschema with "unevaluated..." keywords. Collects the members evaluated by its other keywords in a
 * separate set, then merges that set into `seen`. */
static bool evaluate_with_rest(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                               unsigned kind, struct evaluated *seen)
{
    struct evaluated own;
    size_t count = kind == KIND_ARRAY ? json_array_size(at->value) : json_object_size(at->value);
    if (!wt__spend_steps(e, s, at, count / 64))
        return false;
    if (!wt__evaluated_init(&own, count))
        return wt__stop_out_of_memory(e);
    bool fits = evaluate_keywords(e, s, at, kind, &own);
    /* A failed keyword has evaluated no members, so reports about unevaluated members would be misleading. */
    if (fits && kind == KIND_ARRAY && s->array && s->array->unevaluated)
        fits = wt__evaluate_rest_of_array(e, s, at, &own);
    if (fits && kind == KIND_OBJECT && s->object && s->object->unevaluated)
        fits = wt__evaluate_rest_of_object(e, s, at, &own);
    if (seen)
        wt__evaluated_merge(seen, &own);
    wt__evaluated_dispose(&own);
    return fits;
}

static bool evaluate_schema(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct evaluated *seen)
{
    if (!wt__spend_steps(e, s, at, 1))
        return false;
    if (s->verdict != VERDICT_OPEN)
        return s->verdict == VERDICT_TRUE ||
               wt__report_violation(e, at, (struct violation){VIOLATION_FALSE, s, "", .name = at->key});
    if (e->depth >= VALIDATION_DEPTH)
        return wt__stop_evaluation(e, at, (struct violation){.kind = VIOLATION_DEPTH, .subschema = s, .keyword = ""});
    unsigned kind = wt__kind_of(at->value);
    const struct scope *outer = e->scope, inner = {s->resource, outer};
    if (!outer || outer->resource != s->resource)
        e->scope = &inner;
    e->depth++;
    bool fits = s->wants_evaluated && (kind & (KIND_ARRAY | KIND_OBJECT)) ? evaluate_with_rest(e, s, at, kind, seen)
                                                                          : evaluate_keywords(e, s, at, kind, seen);
    e->depth--;
    e->scope = outer;
    return fits;
}

enum verdict wt__evaluate_subschema(struct schema_evaluation *e, const struct subschema *s, const json_t *value)
{
    struct value_place root = {.value = value};
    e->evaluate = evaluate_schema;
    bool fits = evaluate_schema(e, s, &root, NULL);
    if (e->out_of_memory)
        return OUT_OF_MEMORY;
    if (e->stopped)
        return UNDECIDED;
    return fits ? FITS : FITS_NOT;
}

enum verdict wt__evaluate(struct schema_evaluation *e, const struct compiled *compiled, const json_t *instance)
{
    return wt__evaluate_subschema(e, compiled->root, instance);
}

enum verdict wt__evaluate_collecting(struct schema_evaluation *e, const struct compiled *compiled,
                                     const json_t *instance, struct violations *found)
{
    const struct violation other = {
        .kind = VIOLATION_OTHER, .subschema = compiled->root, .keyword = "", .value = instance};
    e->found = found;
    enum verdict verdict = wt__evaluate_subschema(e, compiled->root, instance);
    e->found = NULL;
    bool told = wt__violations_sort(found);
    if (verdict == FITS_NOT && found->len == 0)
        told &= wt__violations_add(found, &other);
    if (told)
        return verdict;
    wt__stop_out_of_memory(e);
    return OUT_OF_MEMORY;
}

void wt__evaluation_dispose(struct schema_evaluation *e)
{
    wt__pattern_scratch_dispose(&e->patterns);
    json_decref(e->names);
    e->names = NULL;
}
