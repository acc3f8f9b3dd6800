/* messages.c: writes the places of subschemas and the messages of violations. Also manages lists of violations. */
#include "schema/evaluation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "text/shown.h"

const char *wt__subschema_pointer(struct arena *arena, const char *keyword, const char *name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_printf(&text, "/%s", keyword);
    if (name)
        wt__json_pointer_step(&text, wt__str(name));
    return text.failed ? NULL : wt__arena_copy(arena, wt__buffer_view(&text));
}

void wt__subschema_place(struct buffer *out, const struct subschema *subschema)
{
    const struct subschema *path[2 * SCHEMA_NESTING];
    size_t len = 0;
    for (; subschema && len < sizeof path / sizeof path[0]; subschema = subschema->parent)
        path[len++] = subschema;
    if (len > 0 && path[len - 1]->resource->document[0] != '\0')
        wt__buffer_printf(out, "%s#", path[len - 1]->resource->document);
    while (len > 0)
        wt__buffer_text(out, path[--len]->relative_pointer);
}

int wt__subschema_refuse(const struct subschema *at, int code, wt_error *err, const char *format, ...)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer place = {0};
    char what[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    wt__subschema_place(&place, at);
    WT_CHECK_ALLOC(!place.failed, err);
    return wt__fail_at(err, code, 0, 0, place.ptr ? place.ptr : "", "schema %.200s: %s",
                       place.len > 0 ? place.ptr : "at its root", what);
}

/* Appends the text in quotes, truncated to `most` bytes. */
static void quote_text(struct buffer *out, struct str text, size_t most)
{
    struct str shown = wt__str_cut(text, most);
    wt__shown_string(out, shown);
    if (shown.len == text.len || out->failed || out->len == 0)
        return;
    wt__buffer_cut(out, out->len - 1); /* The dots go inside the quotes. */
    wt__buffer_text(out, "...\"");
}

/* Appends the text without quotes, truncated to `most` bytes. */
static void quote_plain(struct buffer *out, struct str text, size_t most)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer quoted = {0};
    quote_text(&quoted, text, most);
    if (!quoted.failed)
        wt__buffer_append(out, quoted.ptr + 1, quoted.len - 2);
    out->failed |= quoted.failed;
}

/* Callback of json_dump_callback. Stops the dump after one byte more than is shown, so that a longer value can be
 * detected. */
static int collect_json(const char *bytes, size_t len, void *buffer)
{
    struct buffer *out = buffer;
    size_t room = MESSAGE_VALUE_BYTES + 1 - out->len;
    wt__buffer_append(out, bytes, len < room ? len : room);
    return out->failed || len >= room ? -1 : 0;
}

/* Appends the value as JSON, truncated to MESSAGE_VALUE_BYTES with "..." at the end. The cost does not depend on the
 * size of the value. */
static void quote_value(struct buffer *out, const json_t *value)
{
    struct buffer json = {0};
    if (json_is_string(value)) {
        quote_text(out, (struct str){json_string_value(value), json_string_length(value)}, MESSAGE_VALUE_BYTES);
        return;
    }
    int rc = json_dump_callback(value, collect_json, &json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    struct str shown = wt__str_cut(wt__buffer_view(&json), MESSAGE_VALUE_BYTES);
    wt__shown_json(out, shown);
    if (shown.len < json.len)
        wt__buffer_text(out, "...");
    out->failed |= json.failed || (rc < 0 && json.len <= MESSAGE_VALUE_BYTES);
    wt__buffer_dispose(&json);
}

/* ---------------------------------------------------------------- lists of violations */

static bool is_from_enum(const struct violation *v)
{
    return strcmp(v->keyword, "enum") == 0;
}

size_t wt__violation_choices(const struct violation *v)
{
    if (v->branches)
        return v->branches->len;
    return is_from_enum(v) ? json_array_size(v->wanted) : 1;
}

const json_t *wt__violation_choice(const struct violation *v, size_t at)
{
    if (v->branches)
        return v->branches->items[at]->constant;
    return is_from_enum(v) ? json_array_get(v->wanted, at) : v->wanted;
}

bool wt__violations_add(struct violations *list, const struct violation *violation)
{
    if (wt__grow((void **)&list->items, &list->capacity, list->len + 1, sizeof *list->items) < 0)
        return false;
    list->items[list->len++] = *violation;
    return true;
}

void wt__violations_dispose(struct violations *list)
{
    free(list->items);
    *list = (struct violations){0};
}

/* A violation with its position in the list, to make the sort stable. */
struct ranked {
    struct violation violation;
    size_t rank;
};

static int compare_places(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    for (size_t i = 0; i < a->violation.depth && i < b->violation.depth; i++) {
        size_t x = a->violation.path[i].index, y = b->violation.path[i].index;
        if (x != y)
            return x < y ? -1 : 1;
    }
    if (a->violation.depth != b->violation.depth)
        return a->violation.depth < b->violation.depth ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

bool wt__violations_sort(struct violations *list)
{
    if (list->len < 2)
        return true;
    struct ranked *ranked = wt__alloc_array(list->len, sizeof *ranked);
    if (!ranked)
        return false;
    for (size_t i = 0; i < list->len; i++)
        ranked[i] = (struct ranked){list->items[i], i};
    qsort(ranked, list->len, sizeof *ranked, compare_places);
    for (size_t i = 0; i < list->len; i++)
        list->items[i] = ranked[i].violation;
    free(ranked);
    return true;
}

void wt__violation_pointer(struct buffer *out, const struct violation *v)
{
    for (size_t i = 0; i < v->depth; i++) {
        if (v->path[i].key)
            wt__json_pointer_step(out, wt__str(v->path[i].key));
        else
            wt__buffer_printf(out, "/%zu", v->path[i].index);
    }
}

void wt__violation_keyword(struct buffer *out, const struct violation *v)
{
    wt__subschema_place(out, v->subschema);
    if (v->keyword[0] != '\0')
        wt__buffer_printf(out, "/%s", v->keyword);
}

/* Appends the place of the violation as the start of a message: "/a/b: ", or "" for the whole instance. For a property
 * that is not allowed, the place is that of its object. */
static void append_place(struct buffer *out, const struct violation *v)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {0};
    struct violation object = *v;
    object.depth -= v->kind == VIOLATION_UNKNOWN || (v->kind == VIOLATION_FALSE && v->name);
    wt__violation_pointer(&pointer, &object);
    if (pointer.len > 0) {
        quote_plain(out, wt__buffer_view(&pointer), MESSAGE_POINTER_BYTES);
        wt__buffer_text(out, ": ");
    }
    if (v->about_name)
        wt__buffer_text(out, "the name of the property: ");
    out->failed |= pointer.failed;
}

static void append_types(struct buffer *out, unsigned types)
{
    static const struct {
        unsigned kinds;
        const char *name;
    } names[] = {
        {KIND_STRING, "a string"},    {KIND_INTEGER | KIND_FRACTION, "a number"},
        {KIND_INTEGER, "an integer"}, {KIND_BOOLEAN, "true or false"},
        {KIND_ARRAY, "an array"},     {KIND_OBJECT, "an object"},
        {KIND_NULL, "null"},
    };
    const char *chosen[sizeof names / sizeof names[0]];
    size_t len = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((types & names[i].kinds) == names[i].kinds) {
            types &= ~names[i].kinds;
            chosen[len++] = names[i].name;
        }
    for (size_t i = 0; i < len; i++)
        wt__buffer_printf(out, "%s%s", i == 0 ? "" : i + 1 < len ? ", " : " or ", chosen[i]);
}

/* Appends ", got " and the actual value. */
static void append_got(struct buffer *out, const struct violation *v)
{
    wt__buffer_text(out, ", got ");
    quote_value(out, v->value);
}

static void append_choice(struct buffer *out, const struct violation *v)
{
    struct nearest nearest;
    size_t count = wt__violation_choices(v);
    wt__nearest_begin(&nearest, (struct str){json_string_value(v->value), json_string_length(v->value)});
    for (size_t i = 0; json_is_string(v->value) && i < count && i < MESSAGE_NEAREST_OF; i++) {
        const json_t *text = wt__violation_choice(v, i);
        if (json_is_string(text))
            wt__nearest_show(&nearest, (struct str){json_string_value(text), json_string_length(text)});
    }
    wt__buffer_text(out, count == 1 ? "expected " : "expected one of ");
    for (size_t i = 0; i < count && i < MESSAGE_VALUES; i++) {
        wt__buffer_text(out, i > 0 ? ", " : "");
        quote_value(out, wt__violation_choice(v, i));
    }
    if (count > MESSAGE_VALUES)
        wt__buffer_printf(out, " and %zu more", count - MESSAGE_VALUES);
    if (count == 0)
        wt__buffer_text(out, "no value at all");
    append_got(out, v);
    if (nearest.best[0] != '\0' && count > 1) {
        wt__buffer_text(out, " (nearest: ");
        quote_text(out, wt__str(nearest.best), MESSAGE_NAME_BYTES);
        wt__buffer_char(out, ')');
    }
}

static void append_bound(struct buffer *out, const struct violation *v)
{
    const char *how = strcmp(v->keyword, "minimum") == 0            ? "at least"
                      : strcmp(v->keyword, "maximum") == 0          ? "at most"
                      : strcmp(v->keyword, "exclusiveMinimum") == 0 ? "more than"
                                                                    : "less than";
    wt__buffer_printf(out, "expected %s ", how);
    quote_value(out, v->wanted);
    append_got(out, v);
}

static void append_count(struct buffer *out, const struct violation *v)
{
    static const char *const nouns[][2] = {
        [VIOLATION_LENGTH] = {"character", "characters"},
        [VIOLATION_ITEMS] = {"item", "items"},
        [VIOLATION_PROPERTIES] = {"property", "properties"},
        [VIOLATION_CONTAINS] = {"item matching \"contains\"", "items matching \"contains\""}};
    wt__buffer_printf(out, "expected at %s %zu %s, got %zu", strncmp(v->keyword, "max", 3) == 0 ? "most" : "least",
                      v->limit, nouns[v->kind][v->limit != 1], v->other);
}

/* Returns "argument" for a top-level property that the schema itself describes. Returns "property" for a nested
 * property and if another document describes the property. depth: number of path steps to the object. */
static const char *property_noun(const struct violation *v, size_t depth)
{
    return depth == 0 && v->subschema->resource->document[0] == '\0' ? "argument" : "property";
}

static void append_unknown(struct buffer *out, const struct violation *v)
{
    struct nearest nearest;
    const struct object_rules *rules = v->subschema->object;
    wt__nearest_begin(&nearest, wt__str(v->name));
    for (size_t i = 0; rules && i < rules->properties.len && i < MESSAGE_NEAREST_OF; i++)
        wt__nearest_show(&nearest, rules->properties.items[i].name);
    wt__buffer_printf(out, "unknown %s ", property_noun(v, v->depth - 1));
    quote_text(out, wt__str(v->name), MESSAGE_NAME_BYTES);
    if (nearest.best[0] != '\0') {
        wt__buffer_text(out, " (did you mean ");
        quote_text(out, wt__str(nearest.best), MESSAGE_NAME_BYTES);
        wt__buffer_text(out, "?)");
    }
}

/* Appends the violation of the schema false. */
static void append_nothing(struct buffer *out, const struct violation *v)
{
    if (v->name) {
        wt__buffer_printf(out, "%s ", property_noun(v, v->depth - 1));
        quote_text(out, wt__str(v->name), MESSAGE_NAME_BYTES);
        wt__buffer_text(out, " is not allowed");
    } else {
        wt__buffer_text(out, "nothing is allowed here");
        append_got(out, v);
    }
}

static void append_required(struct buffer *out, const struct violation *v)
{
    wt__buffer_printf(out, "required %s ", property_noun(v, v->depth));
    quote_text(out, wt__str(v->name), MESSAGE_NAME_BYTES);
    wt__buffer_text(out, " is missing");
    if (v->kind == VIOLATION_DEPENDENT) {
        wt__buffer_text(out, ": it is required by ");
        quote_text(out, v->subschema->object->dependent_required.items[v->limit].name, MESSAGE_NAME_BYTES);
    }
}

static void append_undecided(struct buffer *out, const struct violation *v)
{
    if (v->kind == VIOLATION_STEPS)
        wt__buffer_printf(out, "could not be checked in the time allowed: the schema needs more than %d steps",
                          VALIDATION_STEPS);
    else if (v->kind == VIOLATION_DEPTH)
        wt__buffer_printf(out, "could not be checked: it needs schemas nested more than %d deep", VALIDATION_DEPTH);
    else if (v->kind == VIOLATION_LOOP)
        wt__buffer_text(out, "could not be checked: the schema refers to itself without end");
    else {
        wt__buffer_text(out, "could not be checked in the time allowed: the pattern takes too long");
        if (v->subschema->string && v->subschema->string->pattern) {
            wt__buffer_text(out, ": ");
            quote_plain(out, v->subschema->string->pattern_text, MESSAGE_NAME_BYTES);
        }
    }
}

static void append_fault(struct buffer *out, const struct violation *v)
{
    switch (v->kind) {
    case VIOLATION_TYPE:
        wt__buffer_text(out, "expected ");
        append_types(out, v->types);
        append_got(out, v);
        break;
    case VIOLATION_VALUE:
        append_choice(out, v);
        break;
    case VIOLATION_MULTIPLE:
        wt__buffer_text(out, "expected a multiple of ");
        quote_value(out, v->wanted);
        append_got(out, v);
        break;
    case VIOLATION_BOUND:
        append_bound(out, v);
        break;
    case VIOLATION_LENGTH:
    case VIOLATION_ITEMS:
    case VIOLATION_PROPERTIES:
    case VIOLATION_CONTAINS:
        append_count(out, v);
        break;
    case VIOLATION_PATTERN:
        wt__buffer_text(out, "expected text that matches ");
        quote_plain(out, v->subschema->string->pattern_text, MESSAGE_NAME_BYTES);
        append_got(out, v);
        break;
    case VIOLATION_FORMAT:
        wt__buffer_printf(out, "expected %s", v->subschema->string->format->example);
        append_got(out, v);
        break;
    case VIOLATION_DUPLICATE:
        wt__buffer_printf(out, "expected unique items, but items %zu and %zu are both ", v->limit, v->other);
        quote_value(out, v->wanted);
        break;
    case VIOLATION_REQUIRED:
    case VIOLATION_DEPENDENT:
        append_required(out, v);
        break;
    case VIOLATION_UNKNOWN:
        append_unknown(out, v);
        break;
    case VIOLATION_FALSE:
        append_nothing(out, v);
        break;
    case VIOLATION_NOT:
        wt__buffer_text(out, "expected a value that does not fit \"not\"");
        append_got(out, v);
        break;
    case VIOLATION_SEVERAL:
        wt__buffer_printf(out, "expected to fit exactly one alternative of \"oneOf\", fits alternatives %zu and %zu",
                          v->limit + 1, v->other + 1);
        break;
    case VIOLATION_OTHER:
        wt__buffer_text(out, "does not fit the schema");
        break;
    default:
        append_undecided(out, v);
    }
}

void wt__violation_message(struct buffer *out, const struct violation *v)
{
    append_place(out, v);
    append_fault(out, v);
    if (v->alternatives > 0 && v->kind < VIOLATION_STEPS) /* kinds from VIOLATION_STEPS on mean undecided */
        wt__buffer_printf(out, " (by the nearest of %zu alternatives)", v->alternatives);
}
