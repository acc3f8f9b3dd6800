/* compile_values.c: an invalid keyword value rejects the whole schema. Its intended restriction is unknown, and
 * accepting every instance would be a guess. */
#include "schema/compile_values.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/memory.h"
#include "schema/dialect.h"
#include "schema/find_property.h"
#include "schema/numbers.h"
#include "schema/places.h"

int wt__compile_refuse(wt_error *err, int code, const struct subschema *at, const char *keyword, const char *what,
                       const char *detail)
{
    return wt__subschema_refuse(at, code, err, "\"%s\" %s%s%.200s%s", keyword, what, detail ? ": \"" : "",
                                detail ? detail : "", detail ? "\"" : "");
}

void *wt__compile_field(struct compiled *out, struct subschema *s, const struct keyword *keyword)
{
    void *group;
    memcpy(&group, (char *)s + keyword->group, sizeof group);
    if (!group && (group = wt__arena_calloc(&out->arena, 1, keyword->group_size, _Alignof(max_align_t))))
        memcpy((char *)s + keyword->group, &group, sizeof group);
    return group ? (char *)group + keyword->field : NULL;
}

/* Registers a map of a subschema, so that it is disposed with the compiled schema. */
static int register_map(struct compiled *out, struct map *map)
{
    void *maps = out->maps;
    int rc = wt__grow(&maps, &out->map_capacity, out->map_count + 1, sizeof *out->maps);
    out->maps = maps;
    if (rc == 0)
        out->maps[out->map_count++] = map;
    return rc;
}

int wt__compile_pattern(struct value_compiler *c, const struct schema_pattern **out, const struct subschema *s,
                        const char *keyword, struct str text)
{
    struct compiled *compiled = c->out;
    struct schema_pattern *pattern;
    wt_error why = {0};
    void *patterns = compiled->patterns;
    int rc = wt__grow(&patterns, &compiled->pattern_capacity, compiled->pattern_count + 1, sizeof *compiled->patterns);
    compiled->patterns = patterns;
    if (rc < 0)
        return wt__fail_nomem(c->err);
    rc = wt__pattern_compile(&pattern, text, &c->pattern_memory, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(c->err);
    if (rc < 0)
        return wt__compile_refuse(c->err, rc, s, keyword, why.message, text.ptr);
    compiled->patterns[compiled->pattern_count++] = pattern;
    *out = pattern;
    return 0;
}

static int refuse_value(struct value_compiler *c, const struct subschema *s, const struct keyword *keyword,
                        const char *what)
{
    return wt__compile_refuse(c->err, WT_EFORMAT, s, keyword->name, what, NULL);
}

static int compile_number(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                          const json_t *value)
{
    if (!json_is_number(value))
        return refuse_value(c, s, keyword, "must be a number");
    if (keyword->shape == SHAPE_UNIT && !(json_number_value(value) > 0))
        return refuse_value(c, s, keyword, "must be above 0");
    const json_t **field = wt__compile_field(c->out, s, keyword);
    if (!field)
        return wt__fail_nomem(c->err);
    *field = value;
    return 0;
}

static int compile_count(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                         const json_t *value)
{
    if (!json_is_number(value) || !wt__number_is_integer(value) || json_number_value(value) < 0)
        return refuse_value(c, s, keyword, "must be a whole number of 0 or more");
    struct bound *field = wt__compile_field(c->out, s, keyword);
    if (!field)
        return wt__fail_nomem(c->err);
    double real = json_number_value(value);
    field->set = true;
    if (json_is_integer(value))
        field->value = (size_t)json_integer_value(value);
    else
        field->value = real < 9e15 ? (size_t)real : SIZE_MAX;
    return 0;
}

static int compile_flag(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                        const json_t *value)
{
    if (!json_is_boolean(value))
        return refuse_value(c, s, keyword, "must be true or false");
    bool *field = wt__compile_field(c->out, s, keyword);
    if (!field)
        return wt__fail_nomem(c->err);
    *field = json_is_true(value);
    return 0;
}

static unsigned find_type_kinds(const char *name)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } types[] = {
        {"null", KIND_NULL},
        {"boolean", KIND_BOOLEAN},
        {"integer", KIND_INTEGER},
        {"string", KIND_STRING},
        {"array", KIND_ARRAY},
        {"object", KIND_OBJECT},
        {"number", KIND_INTEGER | KIND_FRACTION},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(name, types[i].name) == 0)
            return types[i].kinds;
    return 0;
}

static int compile_type(struct value_compiler *c, struct subschema *s, const json_t *value)
{
    unsigned kinds = 0;
    size_t len = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < len; i++) {
        const json_t *name = json_is_array(value) ? json_array_get(value, i) : value;
        unsigned kind = json_is_string(name) ? find_type_kinds(json_string_value(name)) : 0;
        if (kind == 0)
            return wt__compile_refuse(c->err, WT_EFORMAT, s, "type",
                                      "must be null, boolean, integer, number, string, array or object",
                                      json_string_value(name));
        kinds |= kind;
    }
    if (kinds == 0)
        return wt__compile_refuse(c->err, WT_EFORMAT, s, "type", "must name a type", NULL);
    s->types = (unsigned char)kinds;
    return 0;
}

static int compile_enum(struct value_compiler *c, struct subschema *s, const json_t *value)
{
    size_t len = json_array_size(value);
    if (!json_is_array(value))
        return wt__compile_refuse(c->err, WT_EFORMAT, s, "enum", "must be a list of values", NULL);
    s->values = value;
    if (len <= FEW_NAMES)
        return 0;
    if (register_map(c->out, &s->texts) < 0)
        return wt__fail_nomem(c->err);
    for (size_t i = 0; i < len; i++) {
        const json_t *text = json_array_get(value, i);
        struct str key = {json_string_value(text), json_string_length(text)};
        if (json_is_string(text) && !wt__map_insert(&s->texts, key, (uint32_t)i, NULL))
            return wt__fail_nomem(c->err);
    }
    return 0;
}

static int compile_text_pattern(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                                const json_t *value)
{
    if (!json_is_string(value))
        return refuse_value(c, s, keyword, "must be a string");
    if (!wt__compile_field(c->out, s, keyword))
        return wt__fail_nomem(c->err);
    s->string->pattern_text = (struct str){json_string_value(value), json_string_length(value)};
    return wt__compile_pattern(c, &s->string->pattern, s, "pattern", s->string->pattern_text);
}

static int compile_format(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                          const json_t *value)
{
    bool asserted = c->assert_formats || (s->resource->vocabularies & VOCABULARY_FORMAT_ASSERTION) != 0;
    if (!json_is_string(value))
        return refuse_value(c, s, keyword, "must be a string");
    const struct format *format =
        asserted ? wt__format_find((struct str){json_string_value(value), json_string_length(value)}) : NULL;
    if (!format)
        return 0;
    if (!s->string && !(s->string = wt__arena_array(&c->out->arena, struct string_rules, 1)))
        return wt__fail_nomem(c->err);
    s->string->format = format;
    return 0;
}

int wt__compile_names(struct value_compiler *c, struct name_list *out, const struct subschema *s, const char *keyword,
                      const json_t *value)
{
    size_t len = json_array_size(value);
    if (!json_is_array(value))
        return wt__compile_refuse(c->err, WT_EFORMAT, s, keyword, "must be a list of names", NULL);
    out->items = wt__arena_array(&c->out->arena, struct str, len);
    if (!out->items && len > 0)
        return wt__fail_nomem(c->err);
    for (size_t i = 0; i < len; i++) {
        const json_t *name = json_array_get(value, i);
        if (!json_is_string(name))
            return wt__compile_refuse(c->err, WT_EFORMAT, s, keyword, "must be a list of names", NULL);
        out->items[i] = (struct str){json_string_value(name), json_string_length(name)};
    }
    out->len = len;
    return 0;
}

static int compile_dependent_names(struct value_compiler *c, struct subschema *s, const struct keyword *keyword,
                                   const json_t *value)
{
    const char *name;
    json_t *wanted;
    int rc = 0;
    if (!json_is_object(value))
        return refuse_value(c, s, keyword, "must be an object");
    struct dependent_names *field = wt__compile_field(c->out, s, keyword);
    if (!field)
        return wt__fail_nomem(c->err);
    struct dependent_name *old = field->items;
    field->items = wt__arena_array(&c->out->arena, struct dependent_name, field->len + json_object_size(value) + 1);
    if (!field->items)
        return wt__fail_nomem(c->err);
    if (field->len > 0)
        memcpy(field->items, old, field->len * sizeof *old);
    json_object_foreach((json_t *)value, name, wanted)
    {
        if (rc < 0 || !json_is_array(wanted)) /* Members of "dependencies" may be schemas. */
            continue;
        struct dependent_name *item = &field->items[field->len++];
        item->name = wt__str(name);
        rc = wt__compile_names(c, &item->wanted, s, keyword->name, wanted);
    }
    return rc;
}

int wt__compile_value(struct value_compiler *c, struct subschema *s, const struct keyword *keyword, const json_t *value)
{
    switch (keyword->shape) {
    case SHAPE_NUMBER:
    case SHAPE_UNIT:
        return compile_number(c, s, keyword, value);
    case SHAPE_COUNT:
        return compile_count(c, s, keyword, value);
    case SHAPE_FLAG:
        return compile_flag(c, s, keyword, value);
    case SHAPE_TYPE:
        return compile_type(c, s, value);
    case SHAPE_ENUM:
        return compile_enum(c, s, value);
    case SHAPE_CONST:
        s->constant = value;
        return 0;
    case SHAPE_PATTERN:
        return compile_text_pattern(c, s, keyword, value);
    case SHAPE_FORMAT:
        return compile_format(c, s, keyword, value);
    case SHAPE_DEPENDENT_NAMES:
        return compile_dependent_names(c, s, keyword, value);
    default:
        return 0;
    }
}

int wt__compile_map(struct value_compiler *c, struct object_rules *object, size_t most)
{
    if (most <= FEW_NAMES)
        return 0;
    if (register_map(c->out, &object->by_name) < 0)
        return wt__fail_nomem(c->err);
    object->mapped = true;
    for (size_t i = 0; i < object->properties.len; i++)
        if (!wt__map_insert(&object->by_name, object->properties.items[i].name, (uint32_t)i, NULL))
            return wt__fail_nomem(c->err);
    return 0;
}

int wt__compile_required(struct value_compiler *c, struct subschema *s, const json_t *value)
{
    struct name_list names = {0};
    size_t next = 0;
    int rc = wt__compile_names(c, &names, s, "required", value);
    if (rc < 0)
        return rc;
    if (!s->object && !(s->object = wt__arena_array(&c->out->arena, struct object_rules, 1)))
        return wt__fail_nomem(c->err);
    struct named_subschemas *properties = &s->object->properties;
    size_t most = properties->len + names.len;
    struct property *items = wt__arena_array(&c->out->arena, struct property, most + 1);
    if (!items)
        return wt__fail_nomem(c->err);
    if (properties->len > 0)
        memcpy(items, properties->items, properties->len * sizeof *items);
    properties->items = items;
    rc = wt__compile_map(c, s->object, most);
    for (size_t i = 0; rc == 0 && i < names.len; i++) {
        struct property *there = wt__find_property(s->object, names.items[i], &next);
        if (!there) {
            there = &items[properties->len++];
            there->name = names.items[i];
            if (s->object->mapped &&
                !wt__map_insert(&s->object->by_name, there->name, (uint32_t)(properties->len - 1), NULL))
                rc = wt__fail_nomem(c->err);
        }
        s->object->required += !there->required;
        there->required = true;
    }
    return rc;
}
