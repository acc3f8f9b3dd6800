/* evaluate.c: evaluates a subschema against a value. The keywords are evaluated in this order:
 * - "type", "enum" and "const"
 * - keywords with subschemas for the same value, such as "anyOf"
 * - keywords for the kind of the value, such as "maxLength"
 *
 * A hostile schema may multiply evaluations or refer back to itself. Limits on steps, depth and repeated references
 * guarantee that the evaluation ends. */
#include "schema/evaluation.h"

#include <stdlib.h>

#include "text/unicode.h"

/* Set of the members of an object, or items of an array, that keywords have evaluated. The "unevaluated..." keywords
 * use the set. It has one bit for each member or item, in document order. */
struct evaluated {
    size_t count;   /* number of members or items */
    uint64_t few;   /* bits if count is at most 64 */
    uint64_t *bits; /* allocated bits if count is above 64; else NULL */
};

/* Stack of the resources that the evaluation has entered, innermost first. "$dynamicRef" is resolved with this
 * stack. */
struct scope {
    const struct resource *resource;
    const struct scope *up; /* NULL for the outermost resource */
};

/* Stack of the references that the evaluation is following, innermost first. */
struct followed {
    const struct subschema *target;
    const struct value_place *at; /* value to which the target is applied */
    const struct followed *up;    /* NULL for the outermost reference */
};

static bool evaluate_schema(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct evaluated *seen);

/* ---------------------------------------------------------------- state */

/* Returns the number of path steps from the instance to a place. */
static size_t place_depth(const struct value_place *at)
{
    size_t depth = 0;
    for (; at->up; at = at->up)
        depth++;
    return depth;
}

/* Returns the path from the instance to a place, in the arena. *depth: number of its steps. Returns NULL if *depth is 0
 * or out of memory. */
static const struct path_step *copy_place_path(struct arena *arena, const struct value_place *at, size_t *depth)
{
    size_t len = *depth = place_depth(at);
    struct path_step *path = len > 0 ? wt__arena_array(arena, struct path_step, len) : NULL;
    for (const struct value_place *p = at; path && p->up; p = p->up)
        path[--len] = (struct path_step){p->key, p->index};
    return path;
}

bool wt__stop_out_of_memory(struct schema_evaluation *e)
{
    e->stopped = e->out_of_memory = true;
    return false;
}

/* Copies the place into the violation. Returns false if out of memory. */
static bool keep_violation(struct schema_evaluation *e, const struct value_place *at, struct violation *violation)
{
    violation->path = copy_place_path(e->arena, at, &violation->depth);
    violation->value = at->value;
    violation->about_name = e->about_name;
    return violation->path || violation->depth == 0 ? true : wt__stop_out_of_memory(e);
}

/* Adds a violation to the list e->found, if the list is not NULL and the limits allow. Always returns false. */
static bool report_violation(struct schema_evaluation *e, const struct value_place *at, struct violation violation)
{
    if (!e->found || e->stopped || e->recorded >= VALIDATION_RECORDED || e->found->len >= VIOLATIONS_KEPT)
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

static bool evaluated_init(struct evaluated *set, size_t count)
{
    *set = (struct evaluated){.count = count};
    return count <= 64 || (set->bits = calloc(count_bit_words(count), sizeof *set->bits));
}

static void evaluated_merge(struct evaluated *set, const struct evaluated *more)
{
    set->few |= more->few;
    for (size_t i = 0; set->bits && i < count_bit_words(set->count); i++)
        set->bits[i] |= more->bits[i];
}

static void evaluated_mark_all(struct evaluated *set)
{
    set->few = ~(uint64_t)0;
    for (size_t i = 0; set->bits && i < count_bit_words(set->count); i++)
        set->bits[i] = ~(uint64_t)0;
}

/* Searches a text for a pattern. Returns false if the pattern does not match or the evaluation stops. */
static bool match_pattern(struct schema_evaluation *e, const struct subschema *s, const struct schema_pattern *pattern,
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

/* True if the evaluation should continue with further keywords. Without a list of violations, it ends at the first
 * failure. */
static bool should_continue(const struct schema_evaluation *e, bool fits)
{
    return !e->stopped && (fits || e->found);
}

static void evaluated_mark(struct evaluated *set, size_t at)
{
    (set->bits ? set->bits : &set->few)[at / 64] |= (uint64_t)1 << at % 64;
}

static bool evaluated_has(const struct evaluated *set, size_t at)
{
    return ((set->bits ? set->bits : &set->few)[at / 64] >> at % 64 & 1) != 0;
}

/* ---------------------------------------------------------------- numbers, strings and fixed values */

static bool is_enum_value(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    uint64_t steps = 0;
    bool found = false;
    if (s->texts.capacity > 0 && json_is_string(at->value)) {
        struct str text = {json_string_value(at->value), json_string_length(at->value)};
        return wt__map_get(&s->texts, text) != NULL;
    }
    for (size_t i = 0; i < json_array_size(s->values) && !found && e->steps + steps <= e->most_steps; i++)
        found = wt__json_same(json_array_get(s->values, i), at->value, &steps);
    return wt__spend_steps(e, s, at, steps / 4) && found;
}

/* Evaluates "enum" and "const". */
static bool evaluate_choice(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    uint64_t steps = 0;
    if (s->values && !is_enum_value(e, s, at))
        return report_violation(e, at, (struct violation){VIOLATION_VALUE, s, "enum", .wanted = s->values});
    if (s->constant && !wt__json_same(s->constant, at->value, &steps))
        return report_violation(e, at, (struct violation){VIOLATION_VALUE, s, "const", .wanted = s->constant});
    return wt__spend_steps(e, s, at, steps / 4);
}

static bool evaluate_number(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    const struct number_rules *rules = s->number;
    const json_t *value = at->value;
    struct violation bound = {.kind = VIOLATION_BOUND, .subschema = s};
    if (rules->minimum && wt__number_compare(value, bound.wanted = rules->minimum) < 0)
        bound.keyword = "minimum";
    else if (rules->exclusive_minimum && wt__number_compare(value, bound.wanted = rules->exclusive_minimum) <= 0)
        bound.keyword = "exclusiveMinimum";
    else if (rules->maximum && wt__number_compare(value, bound.wanted = rules->maximum) > 0)
        bound.keyword = "maximum";
    else if (rules->exclusive_maximum && wt__number_compare(value, bound.wanted = rules->exclusive_maximum) >= 0)
        bound.keyword = "exclusiveMaximum";
    if (bound.keyword)
        return report_violation(e, at, bound);
    if (rules->multiple_of && !wt__spend_steps(e, s, at, MULTIPLE_STEPS))
        return false;
    if (rules->multiple_of && !wt__number_is_multiple(value, rules->multiple_of))
        return report_violation(e, at,
                                (struct violation){VIOLATION_MULTIPLE, s, "multipleOf", .wanted = rules->multiple_of});
    return true;
}

/* Checks a length, or a number of items or members, against its bounds. keywords: names of the lower and the upper
 * bound. */
static bool evaluate_count(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           enum violation_kind kind, const char *const keywords[2], struct bound least,
                           struct bound most, size_t count)
{
    bool low = least.set && count < least.value;
    if (!low && !(most.set && count > most.value))
        return true;
    return report_violation(
        e, at,
        (struct violation){kind, s, keywords[low ? 0 : 1], .limit = low ? least.value : most.value, .other = count});
}

static bool evaluate_length(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct str text)
{
    static const char *const keywords[] = {"minLength", "maxLength"};
    const struct string_rules *rules = s->string;
    if (!rules->min_length.set && !rules->max_length.set)
        return true;
    return evaluate_count(e, s, at, VIOLATION_LENGTH, keywords, rules->min_length, rules->max_length,
                          wt__utf8_count(text));
}

static bool evaluate_format(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct str text)
{
    enum pattern_answer answer = wt__format_fits(s->string->format, text);
    if (answer == PATTERN_NO_MEMORY)
        return wt__stop_out_of_memory(e);
    return answer == PATTERN_YES ||
           report_violation(e, at, (struct violation){.kind = VIOLATION_FORMAT, .subschema = s, .keyword = "format"});
}

static bool evaluate_string(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    const struct string_rules *rules = s->string;
    struct str text = {json_string_value(at->value), json_string_length(at->value)};
    if (!wt__spend_steps(e, s, at, text.len / (rules->format ? 16 : 256)))
        return false;
    bool fits = evaluate_length(e, s, at, text);
    if (rules->format && should_continue(e, fits))
        fits &= evaluate_format(e, s, at, text);
    if (rules->pattern && should_continue(e, fits) && !match_pattern(e, s, rules->pattern, "pattern", at, text))
        fits = report_violation(e, at,
                                (struct violation){.kind = VIOLATION_PATTERN, .subschema = s, .keyword = "pattern"});
    return fits && !e->stopped;
}

/* ---------------------------------------------------------------- arrays */

static bool evaluate_items(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           struct evaluated *seen)
{
    const struct array_rules *rules = s->array;
    size_t len = json_array_size(at->value), end = rules->items || len < rules->prefix.len ? len : rules->prefix.len;
    bool fits = true;
    for (size_t i = 0; i < end && should_continue(e, fits); i++) {
        const struct subschema *item = i < rules->prefix.len ? rules->prefix.items[i] : rules->items;
        struct value_place inner = {json_array_get(at->value, i), at, NULL, i};
        fits &= evaluate_schema(e, item, &inner, NULL);
        if (seen)
            evaluated_mark(seen, i);
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
        bool fits = evaluate_schema(e, rules->contains, &inner, NULL);
        count += fits;
        if (fits && marks)
            evaluated_mark(seen, i);
        if (!marks && !rules->max_contains.set && count >= least)
            break;
    }
    e->found = found;
    if (count < least)
        return report_violation(e, at,
                                (struct violation){VIOLATION_CONTAINS, s,
                                                   rules->min_contains.set ? "minContains" : "contains", .limit = least,
                                                   .other = count});
    if (rules->max_contains.set && count > rules->max_contains.value)
        return report_violation(e, at,
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
    return report_violation(e, at,
                            (struct violation){VIOLATION_DUPLICATE, s, "uniqueItems", .limit = first, .other = second,
                                               .wanted = json_array_get(at->value, second)});
}

static bool evaluate_array(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           struct evaluated *seen)
{
    static const char *const keywords[] = {"minItems", "maxItems"};
    const struct array_rules *rules = s->array;
    bool fits = evaluate_count(e, s, at, VIOLATION_ITEMS, keywords, rules->min_items, rules->max_items,
                               json_array_size(at->value));
    if ((rules->items || rules->prefix.len > 0) && should_continue(e, fits))
        fits &= evaluate_items(e, s, at, seen);
    if (rules->contains && should_continue(e, fits))
        fits &= evaluate_contains(e, s, at, seen);
    if (rules->unique && should_continue(e, fits))
        fits &= evaluate_unique(e, s, at);
    return fits && !e->stopped;
}

/* Evaluates "unevaluatedItems", after all other keywords. seen: items that these keywords have evaluated. */
static bool evaluate_unevaluated_items(struct schema_evaluation *e, const struct subschema *s,
                                       const struct value_place *at, struct evaluated *seen)
{
    bool fits = wt__spend_steps(e, s, at, json_array_size(at->value) / 8);
    for (size_t i = 0; i < json_array_size(at->value) && should_continue(e, fits); i++) {
        struct value_place inner = {json_array_get(at->value, i), at, NULL, i};
        if (!evaluated_has(seen, i))
            fits &= evaluate_schema(e, s->array->unevaluated, &inner, NULL);
    }
    evaluated_mark_all(seen);
    return fits && !e->stopped;
}

/* ---------------------------------------------------------------- objects */

/* Members are visited once, in document order, and the required members are counted. evaluate_missing looks up each
 * required name only if the count is too low. */

/* Evaluates a member against the schema for additional members. If this schema is `false`, reports an unknown
 * property. */
static bool evaluate_additional(struct schema_evaluation *e, const struct subschema *s,
                                const struct subschema *additional, const char *keyword,
                                const struct value_place *member)
{
    if (additional->verdict != VERDICT_FALSE)
        return evaluate_schema(e, additional, member, NULL);
    return report_violation(e, member, (struct violation){VIOLATION_UNKNOWN, s, keyword, .name = member->key});
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
    bool fits = evaluate_schema(e, names, &place, NULL);
    e->about_name = about_name;
    if (fits || !(e->recorded > recorded || e->stopped)) { /* Otherwise violations or e->why borrow the name. */
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
    size_t next;     /* row of object_rules.properties to try first for the next member */
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
        fits = evaluate_schema(e, property->subschema, member, NULL);
    for (size_t i = 0; rules->more && i < rules->patterns.len && should_continue(e, fits); i++) {
        const struct pattern_property *item = &rules->patterns.items[i];
        if (!match_pattern(e, s, item->pattern, "patternProperties", member, name))
            continue;
        known = true;
        fits &= evaluate_schema(e, item->subschema, member, NULL);
    }
    if (!known && rules->additional && should_continue(e, fits)) {
        fits &= evaluate_additional(e, s, rules->additional, "additionalProperties", member);
        known = true;
    }
    if (rules->more && rules->names && should_continue(e, fits))
        fits &= evaluate_name(e, rules->names, member);
    if (known && seen)
        evaluated_mark(seen, member->index);
    return fits;
}

/* Reports each missing required member, if violations are wanted. Always returns false. */
static bool evaluate_missing(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at)
{
    size_t looked =
        e->found && wt__spend_steps(e, s, at, s->object->properties.len / 8) ? s->object->properties.len : 0;
    for (size_t i = 0; i < looked; i++) {
        const struct property *property = &s->object->properties.items[i];
        if (property->required && !json_object_get(at->value, property->name.ptr))
            report_violation(e, at, (struct violation){VIOLATION_REQUIRED, s, "required", .name = property->name.ptr});
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
        for (size_t j = 0; j < item->wanted.len && should_continue(e, fits); j++) {
            if (json_object_get(at->value, item->wanted.items[j].ptr))
                continue;
            bool old = !json_object_get(json_object_get(s->json, "dependentRequired"), item->name.ptr);
            fits =
                report_violation(e, at,
                                 (struct violation){VIOLATION_DEPENDENT, s, old ? "dependencies" : "dependentRequired",
                                                    .name = item->wanted.items[j].ptr, .limit = i});
        }
    }
    return fits;
}

static bool evaluate_dependents(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                struct evaluated *seen)
{
    const struct object_rules *rules = s->object;
    if (!wt__spend_steps(e, s, at, (rules->dependent_schemas.len + rules->dependent_required.len) / 8))
        return false;
    bool fits = evaluate_dependent_names(e, s, at);
    for (size_t i = 0; i < rules->dependent_schemas.len && should_continue(e, fits); i++) {
        const struct property *item = &rules->dependent_schemas.items[i];
        if (json_object_get(at->value, item->name.ptr))
            fits &= evaluate_schema(e, item->subschema, at, seen);
    }
    return fits;
}

static bool evaluate_object(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct evaluated *seen)
{
    static const char *const keywords[] = {"minProperties", "maxProperties"};
    const struct object_rules *rules = s->object;
    json_t *object = (json_t *)at->value; /* Jansson's iterators take a non-const object, but do not change it. */
    struct member_walk walk = {0};
    size_t index = 0;
    if (!wt__spend_steps(e, s, at, json_object_size(object) / 8))
        return false;
    bool fits = !rules->more || evaluate_count(e, s, at, VIOLATION_PROPERTIES, keywords, rules->min_properties,
                                               rules->max_properties, json_object_size(object));
    bool looks = rules->properties.len > 0 || rules->additional || rules->more;
    for (void *member = looks ? json_object_iter(object) : NULL; member && should_continue(e, fits);
         member = json_object_iter_next(object, member), index++) {
        struct value_place inner = {json_object_iter_value(member), at, json_object_iter_key(member), index};
        fits &= evaluate_member(e, s, &inner, seen, &walk);
    }
    if (walk.required < rules->required && should_continue(e, fits))
        fits = evaluate_missing(e, s, at);
    if (rules->more && should_continue(e, fits))
        fits &= evaluate_dependents(e, s, at, seen);
    return fits && !e->stopped;
}

/* Evaluates "unevaluatedProperties", after all other keywords. seen: members that these keywords have evaluated. */
static bool evaluate_unevaluated_properties(struct schema_evaluation *e, const struct subschema *s,
                                            const struct value_place *at, struct evaluated *seen)
{
    json_t *object = (json_t *)at->value;
    size_t index = 0;
    bool fits = wt__spend_steps(e, s, at, json_object_size(object) / 8);
    for (void *member = json_object_iter(object); member && should_continue(e, fits);
         member = json_object_iter_next(object, member), index++) {
        struct value_place inner = {json_object_iter_value(member), at, json_object_iter_key(member), index};
        if (!evaluated_has(seen, index))
            fits &= evaluate_additional(e, s, s->object->unevaluated, "unevaluatedProperties", &inner);
    }
    evaluated_mark_all(seen);
    return fits && !e->stopped;
}

/* ---------------------------------------------------------------- anyOf and oneOf */

/* If no alternative fits, only the violations of the nearest alternative are reported. The author of the instance meant
 * one alternative, so the violations of the others would not help. The distance of an alternative is the sum of the
 * weights of its violations. Kinds of violations in ascending order of weight:
 * - all kinds not listed below
 * - a missing, unknown or forbidden property
 * - a wrong "enum" or "const" value of the value itself or of its member (such values distinguish alternatives)
 * - the wrong type of the value itself */

enum { FAR_INSIDE = 1, FAR_PROPERTY = 8, FAR_VALUE = 100, FAR_TYPE = 10000 };

/* State collected while trying the alternatives. */
struct alternatives_trial {
    struct violations best, last; /* violations of the nearest alternative so far, and of the last one tried */
    size_t best_distance;         /* distance of the nearest alternative; SIZE_MAX before the first */
    size_t plausible;             /* number of alternatives that do not fail on the type alone */
    unsigned types;               /* KIND_ bits expected by the alternatives that fail on the type alone */
    bool only_types;              /* true if every alternative fails on the type alone */
    size_t fits, first, second;   /* number of alternatives that fit; indices of the first two */
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

/* True if the value fits `s`. Adds violations to `found` unless it is NULL. If the value fits, adds the members or
 * items evaluated by `s` to `seen` unless it is NULL. */
static bool test_subschema(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                           struct evaluated *seen, struct violations *found)
{
    struct violations *outer = e->found;
    struct evaluated own;
    if (seen && !evaluated_init(&own, seen->count))
        return wt__stop_out_of_memory(e);
    e->found = found;
    bool fits = evaluate_schema(e, s, at, seen ? &own : NULL);
    e->found = outer;
    if (seen && fits)
        evaluated_merge(seen, &own);
    if (seen)
        free(own.bits);
    return fits;
}

/* Tries the alternative `s`, which has this index in its list. If the value does not fit and violations are wanted,
 * updates the nearest alternative in `trial`. */
static void try_alternative(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct evaluated *seen, struct alternatives_trial *trial, size_t index)
{
    trial->last.len = 0;
    bool fits = test_subschema(e, s, at, seen, e->found ? &trial->last : NULL);
    if (fits && trial->fits == 0)
        trial->first = index;
    else if (fits && trial->fits == 1)
        trial->second = index;
    trial->fits += fits;
    if (!fits && e->found && !e->stopped)
        rate_alternative(trial, place_depth(at));
}

static bool are_all_constants(const struct subschema_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        if (!list->items[i]->constant)
            return false;
    return true;
}

/* Reports that no alternative fits. Reports a single violation if all alternatives are constants, or if all fail only
 * on the type. Otherwise reports the violations of the nearest alternative. Always returns false. */
static bool report_alternatives(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                                const struct subschema_list *list, const char *keyword,
                                struct alternatives_trial *trial)
{
    if (e->stopped)
        return false;
    if (are_all_constants(list))
        return report_violation(e, at, (struct violation){VIOLATION_VALUE, s, keyword, .branches = list});
    if (trial->only_types)
        return report_violation(e, at, (struct violation){VIOLATION_TYPE, s, keyword, .types = trial->types});
    for (size_t i = 0; i < trial->best.len && e->found->len < VIOLATIONS_KEPT; i++) {
        struct violation *v = &trial->best.items[i];
        if (trial->plausible > 1 && v->alternatives == 0)
            v->alternatives = list->len;
        if (!wt__violations_add(e->found, v))
            return wt__stop_out_of_memory(e);
    }
    return false;
}

/* Tries the alternatives and fills `trial`. Stops once `enough` alternatives fit. */
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
        return report_violation(
            e, at, (struct violation){VIOLATION_SEVERAL, s, keyword, .limit = trial.first, .other = trial.second});
    if (found) {
        try_alternatives(e, at, list, NULL, enough, &trial);
        report_alternatives(e, s, at, list, keyword, &trial);
        wt__violations_dispose(&trial.best);
        wt__violations_dispose(&trial.last);
    }
    return false;
}

/* ---------------------------------------------------------------- subschemas */

/* Follows a reference. If the same target is already being followed twice for the same value, stops the evaluation as
 * an endless loop. Once is not enough, because the scope may still change the target of a "$dynamicRef". */
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
    bool fits = evaluate_schema(e, target, at, seen);
    e->followed = followed.up;
    return fits;
}

/* Follows "$dynamicRef". The target is in the outermost resource of the scope that has the anchor. */
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

static bool evaluate_in_place(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                              struct evaluated *seen)
{
    const struct in_place *rules = s->in_place;
    bool fits = true;
    if (rules->reference)
        fits = follow_reference(e, s, "$ref", rules->reference, at, seen);
    if (rules->dynamic && should_continue(e, fits))
        fits &= follow_dynamic(e, s, at, seen);
    for (size_t i = 0; i < rules->all_of.len && should_continue(e, fits); i++)
        fits &= evaluate_schema(e, rules->all_of.items[i], at, seen);
    if (rules->any_of.len > 0 && should_continue(e, fits))
        fits &= evaluate_alternatives(e, s, at, seen, false);
    if (rules->one_of.len > 0 && should_continue(e, fits))
        fits &= evaluate_alternatives(e, s, at, seen, true);
    if (rules->negated && should_continue(e, fits) && test_subschema(e, rules->negated, at, NULL, NULL))
        fits = report_violation(e, at, (struct violation){.kind = VIOLATION_NOT, .subschema = s, .keyword = "not"});
    if (rules->condition && should_continue(e, fits)) {
        bool holds = test_subschema(e, rules->condition, at, seen, NULL);
        const struct subschema *then = holds ? rules->then : rules->otherwise;
        if (then && !e->stopped)
            fits &= evaluate_schema(e, then, at, seen);
    }
    return fits && !e->stopped;
}

static bool evaluate_keywords(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                              unsigned kind, struct evaluated *seen)
{
    if (!(kind & s->types))
        return report_violation(e, at, (struct violation){VIOLATION_TYPE, s, "type", .types = s->types});
    if ((s->values || s->constant) && !evaluate_choice(e, s, at))
        return false;
    bool fits = !s->in_place || evaluate_in_place(e, s, at, seen);
    if (!should_continue(e, fits))
        return false;
    if (s->string && kind == KIND_STRING)
        return evaluate_string(e, s, at) && fits;
    if (s->number && (kind & (KIND_INTEGER | KIND_FRACTION)))
        return evaluate_number(e, s, at) && fits;
    if (s->object && kind == KIND_OBJECT)
        return evaluate_object(e, s, at, seen) && fits;
    if (s->array && kind == KIND_ARRAY)
        return evaluate_array(e, s, at, seen) && fits;
    return fits;
}

/* Evaluates a subschema with "unevaluated..." keywords. The members or items evaluated by its other keywords are
 * collected in a new set. Afterwards this set is merged into `seen` unless `seen` is NULL. */
static bool evaluate_with_rest(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                               unsigned kind, struct evaluated *seen)
{
    struct evaluated own;
    size_t count = kind == KIND_ARRAY ? json_array_size(at->value) : json_object_size(at->value);
    if (!wt__spend_steps(e, s, at, count / 64))
        return false;
    if (!evaluated_init(&own, count))
        return wt__stop_out_of_memory(e);
    bool fits = evaluate_keywords(e, s, at, kind, &own);
    /* A failed keyword has evaluated no members, so reports about unevaluated members would be misleading. */
    if (fits && kind == KIND_ARRAY && s->array && s->array->unevaluated)
        fits = evaluate_unevaluated_items(e, s, at, &own);
    if (fits && kind == KIND_OBJECT && s->object && s->object->unevaluated)
        fits = evaluate_unevaluated_properties(e, s, at, &own);
    if (seen)
        evaluated_merge(seen, &own);
    free(own.bits);
    return fits;
}

static bool evaluate_schema(struct schema_evaluation *e, const struct subschema *s, const struct value_place *at,
                            struct evaluated *seen)
{
    if (!wt__spend_steps(e, s, at, 1))
        return false;
    if (s->verdict != VERDICT_OPEN)
        return s->verdict == VERDICT_TRUE ||
               report_violation(e, at, (struct violation){VIOLATION_FALSE, s, "", .name = at->key});
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
    bool fits = evaluate_schema(e, s, &root, NULL);
    if (e->out_of_memory)
        return OUT_OF_MEMORY;
    if (e->stopped)
        return UNDECIDED;
    return fits ? FITS : FITS_NOT;
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
