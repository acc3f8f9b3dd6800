/* evaluate_object.c: visits the members once, in document order, and counts the required ones. If all required members
 * are present, no second lookup is needed. */
#include "schema/evaluate_object.h"

#include "schema/find_property.h"

/* Evaluates a member against a schema for additional members. If that schema is false, reports an unknown property. */
static bool evaluate_additional(struct schema_evaluation *e, const struct subschema *s,
                                const struct subschema *additional, const char *keyword,
                                const struct value_place *member)
{
    if (additional->verdict != VERDICT_FALSE)
        return e->evaluate(e, additional, member, NULL);
    return wt__report_violation(e, member, (struct violation){VIOLATION_UNKNOWN, s, keyword, .name = member->key});
}

static bool evaluate_name(struct schema_evaluation *e, const struct subschema *names, const struct value_place *member)
{
    json_t *name = json_string(member->key);
    bool about_name = e->about_name;
    size_t recorded = e->recorded;
    if (!name)
        return wt__stop_out_of_memory(e);
    struct value_place place = *member;
    place.value = name;
    e->about_name = true;
    bool fits = e->evaluate(e, names, &place, NULL);
    e->about_name = about_name;
    if (fits || !(e->recorded > recorded || e->stopped)) { /* Otherwise the recorded violations borrow the name. */
        json_decref(name);
        return fits;
    }
    if (!e->names)
        e->names = json_array();
    if (json_array_append_new(e->names, name) < 0) /* On failure, json_array_append_new also frees the name. */
        return wt__stop_out_of_memory(e);
    return false;
}

/* Counters of the walk over the members. */
struct member_walk {
    size_t required; /* required members found so far */
    size_t next;     /* first row of properties to try for the next member */
};

static bool evaluate_member(struct schema_evaluation *e, const struct subschema *s, const struct value_place *member,
                            struct evaluated *seen, struct member_walk *walk)
{
    const struct object_rules *rules = s->object;
    struct str name = wt__str(member->key);
    const struct property *property = rules->properties.len > 0 ? wt__find_property(rules, name, &walk->next) : NULL;
    bool fits = true, known = property && property->subschema;
    if (property)
        walk->required += property->required;
    if (known)
        fits = e->evaluate(e, property->subschema, member, NULL);
    for (size_t i = 0; rules->more && i < rules->patterns.len && wt__should_continue(e, fits); i++) {
        const struct pattern_property *item = &rules->patterns.items[i];
        if (!wt__evaluate_pattern(e, s, item->pattern, "patternProperties", member, name))
            continue;
        known = true;
        fits &= e->evaluate(e, item->subschema, member, NULL);
    }
    if (!known && rules->additional && wt__should_continue(e, fits)) {
        fits &= evaluate_additional(e, s, rules->additional, "additionalProperties", member);
        known = true;
    }
    if (rules->more && rules->names && wt__should_continue(e, fits))
        fits &= evaluate_name(e, rules->names, member);
    if (known && seen)
        wt__evaluated_mark(seen, member->index);
    return fits;
}

static bool evaluate_missing(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    size_t looked =
        e->found && wt__spend_steps(e, s, at, s->object->properties.len / 8) ? s->object->properties.len : 0;
    for (size_t i = 0; i < looked; i++) {
        const struct property *property = &s->object->properties.items[i];
        if (property->required && !json_object_get(at->value, property->name.ptr))
            wt__record_violation(e, at,
                                 (struct violation){VIOLATION_REQUIRED, s, "required", .name = property->name.ptr});
    }
    return false;
}

static bool evaluate_dependent_names(struct schema_evaluation *e, const struct subschema *s,
                                     const struct value_place *at)
{
    const struct dependent_names *rules = &s->object->dependent_required;
    bool fits = true;
    for (size_t i = 0; i < rules->len; i++) {
        const struct dependent_name *item = &rules->items[i];
        if (!json_object_get(at->value, item->name.ptr))
            continue;
        for (size_t j = 0; j < item->wanted.len && wt__should_continue(e, fits); j++) {
            if (json_object_get(at->value, item->wanted.items[j].ptr))
                continue;
            bool old = !json_object_get(json_object_get(s->json, "dependentRequired"), item->name.ptr);
            fits = wt__report_violation(e, at,
                                        (struct violation){VIOLATION_DEPENDENT, s,
                                                           old ? "dependencies" : "dependentRequired",
                                                           .name = item->wanted.items[j].ptr, .limit = i});
        }
    }
    return fits;
}

static bool evaluate_property_count(struct schema_evaluation *e, const struct subschema *s,
                                    const struct value_place *at)
{
    const struct object_rules *rules = s->object;
    size_t len = json_object_size(at->value);
    bool low = rules->min_properties.set && len < rules->min_properties.value;
    if (!low && !(rules->max_properties.set && len > rules->max_properties.value))
        return true;
    return wt__report_violation(
        e, at,
        (struct violation){VIOLATION_PROPERTIES, s, low ? "minProperties" : "maxProperties",
                           .limit = low ? rules->min_properties.value : rules->max_properties.value, .other = len});
}

static bool evaluate_dependents(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                struct evaluated *seen)
{
    const struct object_rules *rules = s->object;
    if (!wt__spend_steps(e, s, at, (rules->dependent_schemas.len + rules->dependent_required.len) / 8))
        return false;
    bool fits = evaluate_dependent_names(e, s, at);
    for (size_t i = 0; i < rules->dependent_schemas.len && wt__should_continue(e, fits); i++) {
        const struct property *item = &rules->dependent_schemas.items[i];
        if (json_object_get(at->value, item->name.ptr))
            fits &= e->evaluate(e, item->subschema, at, seen);
    }
    return fits;
}

bool wt__evaluate_object(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                         struct evaluated *seen)
{
    const struct object_rules *rules = s->object;
    json_t *object = (json_t *)at->value; /* Jansson's iterators take a non-const object, but do not change it. */
    struct member_walk walk = {0};
    size_t index = 0;
    if (!wt__spend_steps(e, s, at, json_object_size(object) / 8))
        return false;
    bool fits = !rules->more || evaluate_property_count(e, s, at);
    bool looks = rules->properties.len > 0 || rules->additional || rules->more;
    for (void *member = looks ? json_object_iter(object) : NULL; member && wt__should_continue(e, fits);
         member = json_object_iter_next(object, member), index++) {
        struct value_place inner = {json_object_iter_value(member), at, json_object_iter_key(member), index};
        fits &= evaluate_member(e, s, &inner, seen, &walk);
    }
    if (walk.required < rules->required && wt__should_continue(e, fits))
        fits = evaluate_missing(e, s, at);
    if (rules->more && wt__should_continue(e, fits))
        fits &= evaluate_dependents(e, s, at, seen);
    return fits && !e->stopped;
}

bool wt__evaluate_rest_of_object(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                 struct evaluated *seen)
{
    json_t *object = (json_t *)at->value;
    size_t index = 0;
    bool fits = wt__spend_steps(e, s, at, json_object_size(object) / 8);
    for (void *member = json_object_iter(object); member && wt__should_continue(e, fits);
         member = json_object_iter_next(object, member), index++) {
        struct value_place inner = {json_object_iter_value(member), at, json_object_iter_key(member), index};
        if (!wt__evaluated_has(seen, index))
            fits &= evaluate_additional(e, s, s->object->unevaluated, "unevaluatedProperties", &inner);
    }
    wt__evaluated_mark_all(seen);
    return fits && !e->stopped;
}
