#include "wire/body.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "text/unicode.h"

enum {
    POINTER_MAX = sizeof((wt_error *)0)->pointer,
    QUERY_FIELDS_MAX = 64,
};

/* Path of a value, such as /filter/only, as a linked list from the value to the root. */
struct value_path {
    const struct value_path *parent;
    const char *key; /* NULL for an array item, which `index` identifies */
    size_t index;
};

static void append_pointer(struct buffer *out, const struct value_path *place)
{
    if (!place)
        return;
    append_pointer(out, place->parent);
    if (place->key)
        wt__json_pointer_step(out, wt__str(place->key));
    else
        wt__buffer_printf(out, "/%zu", place->index);
}

/* Fails with "PATH WHY", such as "filter/only must be ...", and the JSON pointer. place: NULL for the whole body. */
static int fail_at_place(wt_error *err, int code, const struct value_path *place, const char *why)
{
    char path[POINTER_MAX] = "";
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {.max = POINTER_MAX - 1};
    append_pointer(&pointer, place);
    if (pointer.len > 0 && !pointer.failed)
        memcpy(path, pointer.ptr, pointer.len + 1);
    return wt__fail_at(err, code, 0, 0, path, "%s %s", *path ? path + 1 : "the body", why);
}

static int parse_text_field(const struct field *field, const json_t *value, const struct value_path *place,
                            const char **out, wt_error *err)
{
    char why[96];
    if (!json_is_string(value))
        return fail_at_place(err, WT_EINVAL, place, "must be a string");
    if (json_string_length(value) > field->max) {
        snprintf(why, sizeof why, "has more than %llu bytes", (unsigned long long)field->max);
        return fail_at_place(err, WT_ETOOLONG, place, why);
    }
    *out = json_string_value(value);
    return 0;
}

static bool is_choice(const char *choices, struct str word)
{
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, " ");
        if (wt__str_equal((struct str){at, len}, word))
            return true;
        at += len + (at[len] == ' ');
    }
    return false;
}

static int parse_choice(const struct field *field, const json_t *value, const struct value_path *place,
                        const char **out, wt_error *err)
{
    const char *word = NULL;
    const struct field whole = {.max = UINT64_MAX};
    WT_TRY(parse_text_field(&whole, value, place, &word, err));
    if (!is_choice(field->choices, wt__str(word))) {
        char why[512];
        snprintf(why, sizeof why, "must be one of: %s", field->choices);
        return fail_at_place(err, WT_EINVAL, place, why);
    }
    *out = word;
    return 0;
}

static int parse_whole(const struct field *field, const json_t *value, const struct value_path *place, uint64_t *out,
                       wt_error *err)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number < field->min || (uint64_t)number > field->max) {
        char why[128];
        snprintf(why, sizeof why, "must be a whole number from %llu to %llu", (unsigned long long)field->min,
                 (unsigned long long)field->max);
        return fail_at_place(err, WT_EINVAL, place, why);
    }
    *out = (uint64_t)number;
    return 0;
}

static int parse_share(const struct field *field, const json_t *value, const struct value_path *place, double *out,
                       wt_error *err)
{
    double share = json_number_value(value);
    if (!json_is_number(value) || !(share >= 0 && share < 1))
        return fail_at_place(err, WT_EINVAL, place, "must be a number from 0 to below 1");
    *out = field->kind == FIELD_RATE && share == 0 ? -1 : share;
    return 0;
}

static int parse_texts(struct body *body, const struct field *field, const json_t *value,
                       const struct value_path *place, struct texts *out, wt_error *err)
{
    size_t count = json_array_size(value);
    char why[96];
    if (!json_is_array(value))
        return fail_at_place(err, WT_EINVAL, place, "must be an array of strings");
    if (count > field->max) {
        snprintf(why, sizeof why, "has more than %llu items", (unsigned long long)field->max);
        return fail_at_place(err, WT_ETOOLONG, place, why);
    }
    const struct field item = {.kind = FIELD_TEXT, .max = field->bytes};
    const char **items = wt__arena_array(&body->arena, const char *, count + 1);
    WT_CHECK_ALLOC(items, err);
    for (size_t i = 0; i < count; i++) {
        const struct value_path here = {place, NULL, i};
        WT_TRY(parse_text_field(&item, json_array_get(value, i), &here, &items[i], err));
    }
    *out = (struct texts){items, count};
    return 0;
}

/* Compact JSON can be longer than the text that it was parsed from: 0.1 becomes 0.10000000000000001. */
enum { COMPACT_GROWTH_MAX = 8 };

static int parse_tree(const struct body *body, const struct field *field, const json_t *value,
                      const struct value_path *place, const json_t **out, wt_error *err)
{
    if (!json_is_array(value) && !json_is_object(value))
        return fail_at_place(err, WT_EINVAL, place, "must be an array or an object");
    if (body->bytes > field->max / COMPACT_GROWTH_MAX) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer json = {.max = (size_t)field->max};
        wt__json_write(&json, value);
        if (json.failed)
            return fail_at_place(err, WT_ETOOLONG, place, "is too long");
    }
    *out = value;
    return 0;
}

static int parse_members(struct body *body, const json_t *object, struct fields fields, const struct value_path *place,
                         void *out, wt_error *err);

static int parse_field(struct body *body, const struct field *field, const json_t *value,
                       const struct value_path *place, void *out, wt_error *err)
{
    void *at = (char *)out + field->offset;
    uint64_t number = 0;
    switch (field->kind) {
    case FIELD_TEXT:
        return parse_text_field(field, value, place, at, err);
    case FIELD_CHOICE:
        return parse_choice(field, value, place, at, err);
    case FIELD_COUNT:
        WT_TRY(parse_whole(field, value, place, &number, err));
        *(size_t *)at = (size_t)number;
        return 0;
    case FIELD_MS:
        WT_TRY(parse_whole(field, value, place, &number, err));
        *(unsigned *)at = (unsigned)number;
        return 0;
    case FIELD_SHARE:
    case FIELD_RATE:
        return parse_share(field, value, place, at, err);
    case FIELD_FLAG:
        if (!json_is_boolean(value))
            return fail_at_place(err, WT_EINVAL, place, "must be true or false");
        *(int *)at = json_is_true(value);
        return 0;
    case FIELD_TEXTS:
        return parse_texts(body, field, value, place, at, err);
    case FIELD_TREE:
        return parse_tree(body, field, value, place, at, err);
    case FIELD_ANY:
        *(const json_t **)at = value;
        return 0;
    case FIELD_OBJECT:
        if (!json_is_object(value))
            return fail_at_place(err, WT_EINVAL, place, "must be an object");
        return parse_members(body, value, (struct fields){field->members, field->member_count}, place, out, err);
    }
    return 0;
}

static const struct field *field_named(struct fields fields, const char *name)
{
    const struct field *field = fields.items;
    for (size_t i = 0; i < fields.count; i++, field++)
        if (strcmp(field->name, name) == 0)
            return field;
    return NULL;
}

/* Names that our members have in other APIs, in the command and in MCP. within: our enclosing object, or NULL. */
static const struct {
    const char *theirs, *within, *ours;
} other_names[] = {
    {"q", NULL, "query"},
    {"request", NULL, "query"},
    {"text", NULL, "query"},
    {"query", NULL, "request"},
    {"limit", NULL, "k"},
    {"top_k", NULL, "k"},
    {"top_n", NULL, "k"},
    {"provider", "filter", "providers"},
    {"providers", "filter", "providers"},
    {"exclude_provider", "filter", "exclude_providers"},
    {"exclude_providers", "filter", "exclude_providers"},
    {"exclude", "filter", "exclude"},
    {"only", "filter", "only"},
};

/* Returns the index of the row of other_names for this name and a member of `fields`, or -1. */
static int other_name(struct fields fields, const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        const char *member = other_names[i].within ? other_names[i].within : other_names[i].ours;
        if (strcmp(other_names[i].theirs, name) == 0 && field_named(fields, member))
            return (int)i;
    }
    return -1;
}

static int fail_unknown_member(struct fields fields, const char *name, const struct value_path *place, wt_error *err)
{
    struct nearest nearest;
    char why[256] = "is unknown; /openapi.json lists all members";
    int other = other_name(fields, name);
    wt__nearest_begin(&nearest, wt__str(name));
    for (size_t i = 0; i < fields.count; i++)
        wt__nearest_show(&nearest, wt__str(fields.items[i].name));
    if (other >= 0 && other_names[other].within)
        snprintf(why, sizeof why, "is unknown; did you mean %s.%s?", other_names[other].within,
                 other_names[other].ours);
    else if (other >= 0 || *nearest.best)
        snprintf(why, sizeof why, "is unknown; did you mean %s?", other >= 0 ? other_names[other].ours : nearest.best);
    return fail_at_place(err, WT_EINVAL, place, why);
}

static int parse_members(struct body *body, const json_t *object, struct fields fields, const struct value_path *place,
                         void *out, wt_error *err)
{
    for (void *at = json_object_iter((json_t *)object); at; at = json_object_iter_next((json_t *)object, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        const struct value_path here = {place, name, 0};
        const struct field *field = field_named(fields, name);
        if (!field)
            return fail_unknown_member(fields, name, &here, err);
        if (json_is_null(value)) /* same as absent, because clients write null for unset options */
            continue;
        WT_TRY(parse_field(body, field, value, &here, out, err));
    }
    for (size_t i = 0; i < fields.count; i++) {
        const json_t *value = json_object_get(object, fields.items[i].name);
        const struct value_path here = {place, fields.items[i].name, 0};
        if (fields.items[i].required && (!value || json_is_null(value)))
            return fail_at_place(err, WT_EINVAL, &here, "is missing");
    }
    return 0;
}

int wt__body_read(struct body *body, struct str json, struct fields fields, void *out, wt_error *err)
{
    *body = (struct body){.bytes = json.len};
    int rc = wt__json_parse(&body->root, json.ptr ? json.ptr : "", json.len, err);
    if (rc < 0)
        return wt__fail_context(err, rc, "the body");
    if (!json_is_object(body->root))
        return fail_at_place(err, WT_EFORMAT, NULL, "must be a JSON object");
    return parse_members(body, body->root, fields, NULL, out, err);
}

void wt__body_dispose(void *out)
{
    struct body *body = out;
    json_decref(body->root);
    wt__arena_dispose(&body->arena);
    *body = (struct body){0};
}

/* ---------------------------------------------------------------- queries of a URL */

int wt__percent_decode(char **out, struct arena *arena, struct str text, bool plus, wt_error *err)
{
    char *copy = wt__arena_copy(arena, text);
    size_t len = 0;
    *out = NULL;
    WT_CHECK_ALLOC(copy, err);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '+' && plus)
            c = ' ';
        if (c == '%') {
            int high = i + 2 < text.len ? wt__hex_digit(text.ptr[i + 1]) : -1;
            int low = high >= 0 ? wt__hex_digit(text.ptr[i + 2]) : -1;
            c = low >= 0 ? (char)(high * 16 + low) : '\0';
            i += 2;
        }
        if (c == '\0')
            return wt__fail(err, WT_EFORMAT,
                            "a percent sign in the address must be followed by two hexadecimal digits above 00");
        copy[len++] = c;
    }
    copy[len] = '\0';
    if (!wt__utf8_valid((struct str){copy, len}))
        return wt__fail(err, WT_EFORMAT, "the address is not valid UTF-8");
    *out = copy;
    return 0;
}

/* Converts a value of a URL to the JSON type of its field; NULL if out of memory. An invalid value becomes a string,
 * which parse_field then rejects. */
static json_t *query_value(const struct field *field, const char *text)
{
    char *end = NULL;
    if (field->kind == FIELD_FLAG && (strcmp(text, "") == 0 || strcmp(text, "true") == 0 || strcmp(text, "1") == 0))
        return json_true();
    if (field->kind == FIELD_FLAG && (strcmp(text, "false") == 0 || strcmp(text, "0") == 0))
        return json_false();
    if ((field->kind == FIELD_COUNT || field->kind == FIELD_MS) && *text &&
        strspn(text, "0123456789") == strlen(text) && strlen(text) < 19)
        return json_integer(strtoll(text, NULL, 10));
    if ((field->kind == FIELD_SHARE || field->kind == FIELD_RATE) && *text) {
        double number = strtod(text, &end);
        if (!*end && number >= 0 && number < 1)
            return json_real(number);
    }
    return json_string(text);
}

static int add_query_pair(json_t *root, struct fields fields, const char *name, const char *text, wt_error *err)
{
    const struct field *field = field_named(fields, name);
    const struct value_path here = {NULL, name, 0};
    if (!field)
        return fail_unknown_member(fields, name, &here, err);
    json_t *old = json_object_get(root, name), *value = query_value(field, text);
    if (field->kind == FIELD_TEXTS && !old) {
        json_t *list = json_array();
        if (!list || json_array_append_new(list, value) < 0 || json_object_set_new(root, name, list) < 0)
            return wt__fail_nomem(err);
        return 0;
    }
    if (field->kind == FIELD_TEXTS)
        return json_array_append_new(old, value) < 0 ? wt__fail_nomem(err) : 0;
    if (old) {
        json_decref(value);
        return fail_at_place(err, WT_EINVAL, &here, "is given twice");
    }
    return json_object_set_new(root, name, value) < 0 ? wt__fail_nomem(err) : 0;
}

int wt__query_read(struct body *body, struct str query, struct fields fields, void *out, wt_error *err)
{
    *body = (struct body){.root = json_object()};
    WT_CHECK_ALLOC(body->root, err);
    const char *at = query.ptr, *end = query.ptr + query.len;
    for (size_t pairs = 0; query.len > 0 && at <= end; pairs++) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        struct str name = {at, (size_t)((equals ? equals : stop) - at)};
        struct str text = {equals ? equals + 1 : stop, equals ? (size_t)(stop - equals - 1) : 0};
        at = stop + 1;
        if (name.len == 0 && text.len == 0)
            continue;
        if (pairs == QUERY_FIELDS_MAX)
            return wt__fail(err, WT_ETOOLONG, "the address has more than %d parameters", QUERY_FIELDS_MAX);
        char *key, *value;
        WT_TRY(wt__percent_decode(&key, &body->arena, name, true, err));
        WT_TRY(wt__percent_decode(&value, &body->arena, text, true, err));
        WT_TRY(add_query_pair(body->root, fields, key, value, err));
    }
    return parse_members(body, body->root, fields, NULL, out, err);
}

/* ---------------------------------------------------------------- JSON Schema 2020-12, as in OpenAPI 3.1 */

static void put_choices(struct buffer *out, const char *choices)
{
    wt__buffer_text(out, "\"type\":\"string\",\"enum\":[");
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, " ");
        wt__buffer_text(out, at == choices ? "" : ",");
        wt__buffer_json(out, (struct str){at, len});
        at += len + (at[len] == ' ');
    }
    wt__buffer_char(out, ']');
}

/* Appends the members of the schema, without braces and "description". */
static void put_kind(struct buffer *out, const struct field *field)
{
    switch (field->kind) {
    case FIELD_TEXT: /* JSON Schema counts characters, which are never more than bytes */
        wt__buffer_printf(out, "\"type\":\"string\",\"maxLength\":%llu", (unsigned long long)field->max);
        break;
    case FIELD_CHOICE:
        put_choices(out, field->choices);
        break;
    case FIELD_COUNT:
    case FIELD_MS:
        wt__buffer_printf(out, "\"type\":\"integer\",\"minimum\":%llu,\"maximum\":%llu", (unsigned long long)field->min,
                          (unsigned long long)field->max);
        break;
    case FIELD_SHARE:
    case FIELD_RATE:
        wt__buffer_text(out, "\"type\":\"number\",\"minimum\":0,\"exclusiveMaximum\":1");
        break;
    case FIELD_FLAG:
        wt__buffer_text(out, "\"type\":\"boolean\"");
        break;
    case FIELD_TEXTS:
        wt__buffer_printf(out, "\"type\":\"array\",\"maxItems\":%llu,\"items\":{\"type\":\"string\",\"maxLength\":%zu}",
                          (unsigned long long)field->max, field->bytes);
        break;
    case FIELD_TREE:
        wt__buffer_text(out, "\"type\":[\"array\",\"object\"]");
        break;
    case FIELD_ANY:
        wt__buffer_text(out, field->schema);
        break;
    case FIELD_OBJECT:
        break;
    }
}

static void put_object_schema(struct buffer *out, struct fields fields)
{
    size_t required = 0;
    wt__buffer_text(out, "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (size_t i = 0; i < fields.count; i++) {
        wt__buffer_text(out, i ? "," : "");
        wt__buffer_json(out, wt__str(fields.items[i].name));
        wt__buffer_char(out, ':');
        wt__field_schema(out, &fields.items[i]);
        required += fields.items[i].required;
    }
    wt__buffer_char(out, '}');
    if (required > 0)
        wt__buffer_text(out, ",\"required\":[");
    for (size_t i = 0, seen = 0; i < fields.count; i++) {
        if (!fields.items[i].required)
            continue;
        wt__buffer_text(out, seen++ ? "," : "");
        wt__buffer_json(out, wt__str(fields.items[i].name));
    }
    if (required > 0)
        wt__buffer_char(out, ']');
}

void wt__field_schema(struct buffer *out, const struct field *field)
{
    wt__buffer_char(out, '{');
    if (field->kind == FIELD_OBJECT)
        put_object_schema(out, (struct fields){field->members, field->member_count});
    else
        put_kind(out, field);
    wt__buffer_text(out, ",\"description\":");
    wt__buffer_json(out, wt__str(field->says));
    wt__buffer_char(out, '}');
}

void wt__body_schema(struct buffer *out, struct fields fields)
{
    wt__buffer_char(out, '{');
    put_object_schema(out, fields);
    wt__buffer_char(out, '}');
}
