/* coerce.c: walks the schema and the text of the instance together, and rebuilds the text of each object or array from
 * its contents. A value is changed only if its subschema rejects it. The complete result is validated at the end, so
 * keywords such as "if" need no special handling. */
#include "schema/coerce.h"

#include <float.h>
#include <math.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/json_check.h"
#include "base/json_scan.h"
#include "schema/evaluation.h"

struct coercion {
    struct schema_evaluation e;
    struct arena arena;
    bool wraps; /* as in wt__coerce */
};

/* A value of the instance, as text and parsed. */
struct json_piece {
    struct str text; /* without surrounding blanks */
    json_t *value;   /* owned reference */
    bool changed;    /* true once coerced */
};

static bool coerce_piece(struct coercion *c, const struct subschema *s, struct json_piece *piece, int depth);

/* True if the value fits the subschema. Also true if the evaluation has stopped, so that no further value is
 * changed. */
static bool fits_subschema(struct coercion *c, const struct subschema *s, const json_t *value)
{
    return wt__evaluate_subschema(&c->e, s, value) != FITS_NOT;
}

static bool spend_bytes(struct coercion *c, const struct subschema *s, const struct json_piece *piece, size_t len)
{
    const struct value_place at = {.value = piece->value};
    return wt__spend_steps(&c->e, s, &at, 1 + len / COERCION_BYTES_A_STEP);
}

/* Parses text that may be JSON. Returns NULL if the text is not JSON, or if out of memory. */
static json_t *parse_text(struct coercion *c, struct str text)
{
    json_t *value = NULL;
    if (wt__json_parse_with_nul(&value, text.ptr, text.len, NULL) == WT_ENOMEM)
        wt__stop_out_of_memory(&c->e);
    return value;
}

/* Replaces the text and value of `piece`. Copies `text`, and takes ownership of `value`, its parsed form. */
static void replace_piece(struct coercion *c, struct json_piece *piece, struct str text, json_t *value)
{
    const char *copy = wt__arena_copy(&c->arena, text);
    if (!copy) {
        wt__stop_out_of_memory(&c->e);
        json_decref(value);
        return;
    }
    json_decref(piece->value);
    *piece = (struct json_piece){{copy, text.len}, value, true};
}

/* True for an integer, optionally with a fraction of zeros. Numbers with an exponent are rejected, because a reader may
 * round them. */
static bool is_whole_number(struct str text)
{
    size_t at = 0;
    while (at < text.len && text.ptr[at] != '.')
        if (text.ptr[at] == 'e' || text.ptr[at++] == 'E')
            return false;
    for (at++; at < text.len; at++)
        if (text.ptr[at] != '0')
            return false;
    return true;
}

static bool is_number_of(struct str text, const json_t *value, unsigned types)
{
    if (!json_is_number(value) || !(wt__kind_of(value) & types) || !wt__json_is_number(text))
        return false;
    /* The parser stores numbers beyond the range of a double as DBL_MAX. */
    if (fabs(json_number_value(value)) >= DBL_MAX)
        return false;
    return (types & KIND_FRACTION) || is_whole_number(text);
}

/* Parses text as a value of one of the expected types. types: KIND_ bits. Returns NULL if the text is not such a
 * value. */
static json_t *read_meant_value(struct coercion *c, struct str text, unsigned types)
{
    if (text.len == 0)
        return NULL;
    char first = wt__str_trim(text).len > 0 ? wt__str_trim(text).ptr[0] : ' ';
    bool is_container = (first == '[' && (types & KIND_ARRAY)) || (first == '{' && (types & KIND_OBJECT));
    bool is_scalar = types & (KIND_BOOLEAN | KIND_INTEGER | KIND_FRACTION);
    if (!is_container && (!is_scalar || wt__is_blank(text.ptr[0]) || wt__is_blank(text.ptr[text.len - 1])))
        return NULL;
    json_t *value = parse_text(c, text);
    if (value &&
        (is_container || (json_is_boolean(value) && (types & KIND_BOOLEAN)) || is_number_of(text, value, types)))
        return value;
    json_decref(value);
    return NULL;
}

/* Coerces a value whose type differs from the type in the subschema. */
static void coerce_type(struct coercion *c, const struct subschema *s, struct json_piece *piece)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer wrapped = {0};
    json_t *meant = NULL;
    if (wt__kind_of(piece->value) & s->types || !spend_bytes(c, s, piece, piece->text.len))
        return;
    if (json_is_string(piece->value)) {
        struct str text = {json_string_value(piece->value), json_string_length(piece->value)};
        meant = read_meant_value(c, text, s->types);
        if (meant)
            replace_piece(c, piece, wt__str_trim(text), meant);
    }
    if (meant || c->e.stopped || !c->wraps || !(s->types & KIND_ARRAY))
        return;
    meant = json_pack("[O]", piece->value);
    wt__buffer_char(&wrapped, '[');
    wt__buffer_str(&wrapped, piece->text);
    wt__buffer_char(&wrapped, ']');
    if (meant && !wrapped.failed)
        replace_piece(c, piece, wt__buffer_view(&wrapped), meant);
    else
        wt__stop_out_of_memory(&c->e);
}

/* State of rebuilding the text of an object or array (the container) from its contents. */
struct rebuilding {
    const struct subschema *s;
    struct json_piece *container;
    struct buffer text;
    size_t kept, next; /* kept: number of members or items written; next: row of properties to try first */
    bool changed;      /* true once the text differs from the original */
};

/* Decodes the key of a member. key: text between the quotes, with escapes. Returns NULL if out of memory. */
static const char *decode_key(struct coercion *c, struct str key)
{
    if (!memchr(key.ptr, '\\', key.len))
        return wt__arena_copy(&c->arena, key);
    json_auto_t *read = parse_text(c, (struct str){key.ptr - 1, key.len + 2});
    return read ? wt__arena_copy(&c->arena, wt__str(json_string_value(read))) : NULL;
}

static bool put_repaired_member(struct rebuilding *r, const struct json_item *item, const struct json_piece *piece)
{
    if (r->kept++ > 0)
        wt__buffer_char(&r->text, ',');
    if (json_is_object(r->container->value)) /* Copy the key, the colon and the blanks around the colon. */
        wt__buffer_append(&r->text, item->key.ptr - 1, (size_t)(item->value.ptr - item->key.ptr + 1));
    wt__buffer_str(&r->text, piece->text);
    r->changed |= piece->changed;
    return !r->text.failed;
}

/* Returns the subschema of a member from "properties", else from "additionalProperties". Returns NULL if neither
 * defines one. Also returns NULL for a member outside "properties" if the schema has "patternProperties", because
 * coercion does not match patterns. */
static const struct subschema *find_member_schema(const struct object_rules *rules, const struct property *property)
{
    if (property && property->subschema)
        return property->subschema;
    return rules->patterns.len == 0 ? rules->additional : NULL;
}

static bool coerce_member(struct coercion *c, struct rebuilding *r, const struct json_item *item, int depth)
{
    const struct object_rules *rules = r->s->object;
    const char *key = decode_key(c, item->key);
    if (!key)
        return wt__stop_out_of_memory(&c->e);
    const struct property *property = wt__find_property(rules, wt__str(key), &r->next);
    const struct subschema *s = find_member_schema(rules, property);
    struct json_piece piece = {item->value, json_incref(json_object_get(r->container->value, key)), false};
    bool is_whole = piece.value != NULL;
    bool is_dropped = is_whole && property && property->subschema && !property->required && json_is_null(piece.value) &&
                      !fits_subschema(c, property->subschema, piece.value);
    if (is_whole && !is_dropped && s)
        is_whole = coerce_piece(c, s, &piece, depth);
    if (is_whole && !is_dropped)
        is_whole = put_repaired_member(r, item, &piece) || wt__stop_out_of_memory(&c->e);
    r->changed |= is_dropped;
    json_decref(piece.value);
    return is_whole;
}

static bool coerce_item(struct coercion *c, struct rebuilding *r, const struct json_item *item, size_t index, int depth)
{
    const struct array_rules *rules = r->s->array;
    const struct subschema *s = index < rules->prefix.len ? rules->prefix.items[index] : rules->items;
    struct json_piece piece = {item->value, json_incref(json_array_get(r->container->value, index)), false};
    bool is_whole = piece.value && (!s || coerce_piece(c, s, &piece, depth)) &&
                    (put_repaired_member(r, item, &piece) || wt__stop_out_of_memory(&c->e));
    json_decref(piece.value);
    return is_whole;
}

/* Coerces the members of an object or the items of an array. Returns false if the evaluation has stopped. */
static bool coerce_contents(struct coercion *c, const struct subschema *s, struct json_piece *container, int depth)
{
    bool is_object = json_is_object(container->value);
    struct rebuilding r = {.s = s, .container = container};
    struct json_scan scan;
    struct json_item item;
    size_t index = 0;
    bool is_whole = spend_bytes(c, s, container, container->text.len);
    wt__buffer_char(&r.text, is_object ? '{' : '[');
    wt__json_scan_open(&scan, container->text, 0, 1);
    while (is_whole && wt__json_scan_next(&scan, &item) > 0)
        is_whole = is_object ? coerce_member(c, &r, &item, depth) : coerce_item(c, &r, &item, index++, depth);
    wt__buffer_char(&r.text, is_object ? '}' : ']');
    json_t *value = is_whole && r.changed && !r.text.failed ? parse_text(c, wt__buffer_view(&r.text)) : NULL;
    if (value)
        replace_piece(c, container, wt__buffer_view(&r.text), value);
    wt__buffer_dispose(&r.text);
    return is_whole && !c->e.stopped;
}

/* Coerces a value that fits no alternative of anyOf or oneOf, if all alternatives that accept a coerced value agree.
 * Returns false if the evaluation has stopped. */
static bool coerce_alternatives(struct coercion *c, const struct subschema_list *list, struct json_piece *piece,
                                int depth)
{
    struct json_piece agreed = {.value = NULL};
    bool is_agreed = true;
    for (size_t i = 0; i < list->len; i++)
        if (fits_subschema(c, list->items[i], piece->value))
            return !c->e.stopped;
    for (size_t i = 0; i < list->len && !c->e.stopped; i++) {
        struct json_piece candidate = {piece->text, json_incref(piece->value), false};
        bool is_repaired = coerce_piece(c, list->items[i], &candidate, depth) && candidate.changed &&
                           fits_subschema(c, list->items[i], candidate.value) && !c->e.stopped;
        if (is_repaired && agreed.value)
            is_agreed &= wt__str_equal(agreed.text, candidate.text);
        if (is_repaired && !agreed.value)
            agreed = candidate;
        else
            json_decref(candidate.value);
    }
    if (agreed.value && is_agreed && !c->e.stopped) {
        json_decref(piece->value);
        *piece = agreed;
    } else {
        json_decref(agreed.value);
    }
    return !c->e.stopped;
}

static bool coerce_in_place(struct coercion *c, const struct in_place *in_place, struct json_piece *piece, int depth)
{
    bool goes_on = !in_place->reference || coerce_piece(c, in_place->reference, piece, depth);
    for (size_t i = 0; goes_on && i < in_place->all_of.len; i++)
        goes_on = coerce_piece(c, in_place->all_of.items[i], piece, depth);
    return goes_on && coerce_alternatives(c, &in_place->any_of, piece, depth) &&
           coerce_alternatives(c, &in_place->one_of, piece, depth);
}

/* Coerces a value according to its subschema. Returns false if the evaluation has stopped. */
static bool coerce_piece(struct coercion *c, const struct subschema *s, struct json_piece *piece, int depth)
{
    if (depth >= COERCION_DEPTH || s->verdict != VERDICT_OPEN || fits_subschema(c, s, piece->value))
        return !c->e.stopped;
    coerce_type(c, s, piece);
    if (c->e.stopped || (s->in_place && !coerce_in_place(c, s->in_place, piece, depth + 1)))
        return false;
    if ((s->object && json_is_object(piece->value)) || (s->array && json_is_array(piece->value)))
        return coerce_contents(c, s, piece, depth + 1);
    return !c->e.stopped;
}

int wt__coerce(struct buffer *out, json_t **value, const struct compiled *compiled, struct str instance, bool wraps)
{
    struct coercion c = {.e = {.most_steps = COERCION_STEPS}, .wraps = wraps};
    struct json_piece whole = {wt__str_trim(instance), json_incref(*value), false};
    bool fits = false;
    c.e.arena = &c.arena;
    if (coerce_piece(&c, compiled->root, &whole, 0) && whole.changed)
        fits = wt__evaluate_subschema(&c.e, compiled->root, whole.value) == FITS;
    bool out_of_memory = c.e.out_of_memory;
    if (fits) {
        wt__buffer_str(out, whole.text);
        json_decref(*value);
        *value = json_incref(whole.value);
    }
    json_decref(whole.value);
    wt__evaluation_dispose(&c.e);
    wt__arena_dispose(&c.arena);
    return out_of_memory || out->failed ? WT_ENOMEM : fits;
}
