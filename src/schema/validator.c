/* validator.c: validates and repairs instances. The first evaluation only checks if the instance fits, which is fast.
 * If the instance does not fit, a second evaluation records the violations. */
#include "schema/validator.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "schema/evaluation.h"
#include "text/unicode.h"

/* ---------------------------------------------------------------- repairs */

/* For each violation, at most one value is proposed. The value is put into a copy of the instance, and the copy is
 * validated again. If the violations do not decrease, the old value is restored. */

static struct str view_string(const json_t *value)
{
    return (struct str){json_string_value(value), json_string_length(value)};
}

/* Returns `value`, the result of a constructor. If `value` is NULL, stops the evaluation as out of memory. */
static json_t *check_created(struct schema_evaluation *e, json_t *value)
{
    if (!value)
        wt__stop_out_of_memory(e);
    return value;
}

/* Parses a text that is a JSON number, true or false. Returns NULL for other texts, and for an integer too large to
 * represent. */
static json_t *parse_scalar(struct schema_evaluation *e, struct str text)
{
    json_t *value = NULL;
    if (text.len == 0 || wt__is_blank(text.ptr[0]) || wt__is_blank(text.ptr[text.len - 1]))
        return NULL;
    int rc = wt__json_parse(&value, text.ptr, text.len, NULL);
    if (rc == WT_ENOMEM)
        wt__stop_out_of_memory(e);
    if (rc < 0)
        return NULL;
    bool rounded = json_is_real(value) && !memchr(text.ptr, '.', text.len) && !memchr(text.ptr, 'e', text.len) &&
                   !memchr(text.ptr, 'E', text.len);
    if ((json_is_number(value) && !rounded) || json_is_boolean(value))
        return value;
    json_decref(value);
    return NULL;
}

static json_t *propose_type(struct schema_evaluation *e, const struct violation *v, const char **why)
{
    const json_t *value = v->value;
    if (json_is_string(value)) {
        json_t *scalar = parse_scalar(e, view_string(value));
        if (scalar && (wt__kind_of(scalar) & v->types)) {
            *why = json_is_number(scalar) ? "text with a number, where a number is expected"
                                          : "text with true or false, where true or false is expected";
            return scalar;
        }
        json_decref(scalar);
    }
    if (json_is_number(value) && (v->types & ~(unsigned)KIND_NULL) == KIND_STRING) {
        *why = "a number, where text is expected";
        WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
        return check_created(e, wt__json_write(&text, value) < 0 ? NULL : json_stringn(text.ptr, text.len));
    }
    if ((v->types & KIND_ARRAY) && !json_is_array(value)) {
        *why = "a single value, where an array is expected";
        return check_created(e, json_pack("[O]", (json_t *)value));
    }
    return NULL;
}

/* Returns the next character of a text in lower case, or 0 at the end. A run of blanks counts as one blank. Blanks at
 * both ends are skipped. first: true for the first call. */
static uint32_t next_folded(const char **at, const char *end, bool first)
{
    bool blank = false;
    while (*at < end) {
        const char *before = *at;
        uint32_t lower[UNICODE_MAX_LOWER], c = wt__utf8_next(at, end);
        if (wt__unicode_blank(c)) {
            blank = true;
            continue;
        }
        if (blank && !first) {
            *at = before;
            return ' ';
        }
        wt__unicode_lower(c, lower);
        return lower[0];
    }
    return 0;
}

static bool equal_folded(struct str a, struct str b)
{
    const char *x = a.ptr, *y = b.ptr;
    uint32_t c, d;
    bool first = true;
    do {
        c = next_folded(&x, a.ptr + a.len, first);
        d = next_folded(&y, b.ptr + b.len, first);
        first = false;
    } while (c == d && c != 0);
    return c == d;
}

/* True if the author probably meant the enumeration value `wanted`. scalar: parse_scalar of the value, or NULL. *why:
 * reason of the repair. */
static bool is_meant(const json_t *wanted, const json_t *value, const json_t *scalar, const char **why)
{
    uint64_t steps = 0;
    if (json_is_string(wanted) && json_is_string(value) && equal_folded(view_string(wanted), view_string(value)))
        *why = "a value that differs only in case or blanks";
    else if (scalar && !json_is_string(wanted) && wt__json_same(wanted, scalar, &steps))
        *why = "text with the value";
    else
        return false;
    return true;
}

/* Proposes an enumeration value if the author may have meant exactly one value. */
static json_t *propose_value(struct schema_evaluation *e, const struct violation *v, const char **why)
{
    json_t *scalar = json_is_string(v->value) ? parse_scalar(e, view_string(v->value)) : NULL;
    const json_t *meant = NULL;
    size_t count = 0;
    for (size_t i = 0; i < wt__violation_choices(v); i++)
        if (is_meant(wt__violation_choice(v, i), v->value, scalar, why)) {
            meant = wt__violation_choice(v, i);
            count++;
        }
    json_decref(scalar);
    return count == 1 ? check_created(e, json_deep_copy(meant)) : NULL;
}

static json_t *propose_default(struct schema_evaluation *e, const struct violation *v, const char **why)
{
    const struct object_rules *rules = v->subschema->object;
    const json_t *value = NULL;
    for (size_t i = 0; rules && !value && i < rules->properties.len; i++) {
        const struct property *property = &rules->properties.items[i];
        if (property->subschema && strcmp(property->name.ptr, v->name) == 0 &&
            (value = json_object_get(property->subschema->json, "default")) &&
            wt__evaluate_subschema(e, property->subschema, value) != FITS)
            return NULL;
    }
    *why = "a required property with a default";
    return value ? check_created(e, json_deep_copy(value)) : NULL;
}

/* Returns the value proposed for a violation, or NULL if there is no proposal or the evaluation has stopped. */
static json_t *propose_repair(struct schema_evaluation *e, const struct violation *v, const char **why)
{
    if (v->about_name)
        return NULL;
    if (v->kind == VIOLATION_TYPE)
        return propose_type(e, v, why);
    if (v->kind == VIOLATION_VALUE)
        return propose_value(e, v, why);
    return v->kind == VIOLATION_REQUIRED ? propose_default(e, v, why) : NULL;
}

/* Target of a repair. */
struct target {
    json_t *holder;  /* object or array with the target; NULL if the target is the whole instance */
    const char *key; /* name of a member; NULL for an item */
    size_t index;    /* index of an item */
};

static struct target locate_target(json_t *root, const struct violation *v)
{
    struct target target = {0};
    size_t depth = v->depth;
    if (v->kind == VIOLATION_REQUIRED) {
        target.key = v->name;
    } else if (depth > 0) {
        depth--;
        target.key = v->path[depth].key;
        target.index = v->path[depth].index;
    } else {
        return target;
    }
    target.holder = root;
    for (size_t i = 0; i < depth && target.holder; i++)
        target.holder = v->path[i].key ? json_object_get(target.holder, v->path[i].key)
                                       : json_array_get(target.holder, v->path[i].index);
    return target;
}

/* Stores `value` at the target, and takes ownership of `value`. If `value` is NULL, removes the member. Returns false
 * if out of memory. */
static bool put_at_target(struct schema_evaluation *e, json_t **root, const struct target *target, json_t *value)
{
    int rc = 0;
    if (!target->holder) {
        json_decref(*root);
        *root = value;
    } else if (!value) {
        rc = json_object_del(target->holder, target->key);
    } else if (target->key) {
        rc = json_object_set_new(target->holder, target->key, value);
    } else {
        rc = json_array_set_new(target->holder, target->index, value);
    }
    return rc == 0 || wt__stop_out_of_memory(e);
}

static bool record_repair(struct repairs *repairs, struct arena *arena, const struct violation *v, const json_t *was,
                          const json_t *now, const char *why)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer before = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer after = {0};
    wt__violation_pointer(&pointer, v);
    if (was)
        wt__json_write(&before, was);
    else
        wt__json_pointer_step(&pointer, wt__str(v->name));
    wt__json_write(&after, now);
    struct repair *repair = &repairs->items[repairs->len];
    repair->why = why;
    repair->pointer = pointer.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&pointer));
    repair->was = !was || before.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&before));
    repair->now = after.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&after));
    if (!repair->pointer || !repair->now || (was && !repair->was))
        return false;
    repairs->len++;
    return true;
}

/* True if the list has a violation at or below the place of `v`. If `v` is a missing property, only the same violation
 * counts. */
static bool has_violation_below(const struct violations *list, const struct violation *v)
{
    for (size_t i = 0; i < list->len; i++) {
        const struct violation *other = &list->items[i];
        bool below = other->depth >= v->depth;
        for (size_t s = 0; below && s < v->depth; s++)
            below = other->path[s].index == v->path[s].index;
        if (below && (v->kind != VIOLATION_REQUIRED ||
                      (other->kind == VIOLATION_REQUIRED && other->depth == v->depth && other->name == v->name)))
            return true;
    }
    return false;
}

/* Validates the whole instance again. Returns false if undecided or out of memory; e->out_of_memory tells which. */
static bool revalidate(struct violations *out, struct schema_evaluation *e, const struct compiled *compiled,
                       const json_t *instance)
{
    e->recorded = 0;
    enum verdict verdict = wt__evaluate_collecting(e, compiled, instance, out);
    return verdict == FITS || verdict == FITS_NOT;
}

/* Tries the proposal for violation `v`. Returns 1 if the repair is kept; then *left has the remaining violations.
 * Returns 0 if the repair is not kept, -1 if out of memory. */
static int try_repair(struct repairs *repairs, struct violations *left, const struct violation *v,
                      struct schema_evaluation *e, const struct compiled *compiled)
{
    const char *why = "";
    struct violations after = {0};
    json_t *now = propose_repair(e, v, &why);
    if (!now || e->stopped) {
        json_decref(now);
        return e->out_of_memory ? -1 : 0;
    }
    struct target target = locate_target(repairs->instance, v);
    json_t *was = v->kind == VIOLATION_REQUIRED ? NULL : json_incref((json_t *)v->value);
    bool stays = put_at_target(e, &repairs->instance, &target, json_incref(now)) &&
                 revalidate(&after, e, compiled, repairs->instance) && after.len < left->len &&
                 !has_violation_below(&after, v);
    int rc = stays;
    if (stays && !record_repair(repairs, e->arena, v, was, now, why))
        rc = -1;
    if (stays) {
        wt__violations_dispose(left);
        *left = after;
    } else {
        if (!e->out_of_memory)
            put_at_target(e, &repairs->instance, &target, json_incref(was));
        wt__violations_dispose(&after);
    }
    json_decref(was);
    json_decref(now);
    return e->out_of_memory ? -1 : rc;
}

/* Repairs a copy of the instance. Validates the copy first, so that the violations refer to the values of the copy. A
 * repair is kept only if fewer violations remain, and none at or below the repaired value.
 *
 * left: set to the remaining violations, sorted, which borrow from repairs->instance
 * e: arena and budget of steps for all tries; repairing ends once the budget is spent
 *
 * Returns false if out of memory. */
static bool repair_copy(struct repairs *repairs, struct violations *left, struct schema_evaluation *e,
                        const struct compiled *compiled, const json_t *instance)
{
    int tries = 0;
    repairs->instance = json_deep_copy(instance);
    repairs->items = wt__arena_array(e->arena, struct repair, REPAIRS_MAX);
    if (!repairs->instance || !repairs->items)
        return false;
    left->len = 0;
    if (!revalidate(left, e, compiled, repairs->instance))
        return !e->out_of_memory;
    for (size_t i = 0; i < left->len && repairs->len < REPAIRS_MAX && tries < REPAIR_TRIES && !e->stopped; tries++) {
        struct violation v = left->items[i];
        int rc = try_repair(repairs, left, &v, e, compiled);
        if (rc < 0)
            return false;
        i = rc > 0 ? 0 : i + 1;
    }
    return true;
}

/* Ends an evaluation. Moves the names that its violations borrow to `v`. The names of the previous evaluation are
 * freed, so its violations must not be used any more. */
static void end_evaluation(struct validation *v, struct schema_evaluation *e)
{
    json_decref(v->names);
    v->names = e->names;
    e->names = NULL;
    wt__evaluation_dispose(e);
}

/* Evaluates the instance once, with a new budget of steps. violations: true to collect the violations in
 * v->violations. */
static enum verdict evaluate_once(struct validation *v, const struct compiled *compiled, const json_t *instance,
                                  bool violations)
{
    struct schema_evaluation e = {.arena = &v->arena, .most_steps = VALIDATION_STEPS};
    enum verdict verdict = violations ? wt__evaluate_collecting(&e, compiled, instance, &v->violations)
                                      : wt__evaluate_subschema(&e, compiled->root, instance);
    if (verdict == UNDECIDED && !wt__violations_add(&v->violations, &e.why))
        verdict = OUT_OF_MEMORY;
    end_evaluation(v, &e);
    return verdict;
}

static bool repair_instance(struct validation *v, const struct compiled *compiled, const json_t *instance)
{
    struct schema_evaluation e = {.arena = &v->arena, .most_steps = VALIDATION_STEPS};
    bool done = repair_copy(&v->repairs, &v->violations, &e, compiled, instance);
    if (done && e.stopped && v->violations.len == 0)
        done = wt__violations_add(&v->violations, &e.why);
    v->fits = done && v->violations.len == 0;
    end_evaluation(v, &e);
    return done;
}

int wt__validator_run(struct validation *v, const struct compiled *compiled, const json_t *instance, bool repairs,
                      wt_error *err)
{
    *v = (struct validation){0};
    enum verdict verdict = evaluate_once(v, compiled, instance, false);
    if (verdict == FITS_NOT)
        verdict = evaluate_once(v, compiled, instance, true);
    v->fits = verdict == FITS;
    if (verdict == FITS_NOT && repairs && !repair_instance(v, compiled, instance))
        verdict = OUT_OF_MEMORY;
    if (verdict != OUT_OF_MEMORY)
        return 0;
    wt__validation_dispose(v);
    return wt__fail_nomem(err);
}

void wt__validation_dispose(struct validation *v)
{
    wt__violations_dispose(&v->violations);
    json_decref(v->repairs.instance);
    json_decref(v->names);
    wt__arena_dispose(&v->arena);
    *v = (struct validation){0};
}
