/* compile.c: compiles a schema. Starting from the root, every subschema that is reached is added to a queue and
 * compiled in turn. A long chain of references thus needs no recursion, and unreferenced subschemas are not
 * compiled. */
#include "schema/validator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "schema/compiled.h"
#include "schema/evaluation.h"
#include "schema/limits.h"

enum { FEW_NAMES = 16 }; /* maximum length of a property list or enumeration without a lookup map */

/* State of one compilation. */
struct compiler {
    struct compiled *out;
    bool assert_formats;
    size_t pattern_memory; /* bytes of all compiled patterns */
    wt_error *err;
    struct documents documents;
    struct subschema **queue; /* [queued] reached subschemas, compiled in this order */
    size_t queued, capacity;
    bool dynamic;                   /* true once a dynamic reference was compiled */
    size_t anchors_of;              /* number of subschemas known when the dynamic anchors were last queued */
    struct refused_keyword refused; /* keyword that stopped the compilation */
};

/* ---------------------------------------------------------------- keywords without subschemas */

/* A keyword with an invalid value makes the whole schema invalid. The intended restriction is unknown, and accepting
 * every instance would be a guess. */

/* Reports an invalid keyword as `"KEYWORD" WHAT: "DETAIL"`. detail: NULL to omit it. Returns `code`, or WT_ENOMEM. */
static int refuse_keyword(wt_error *err, int code, const struct subschema *at, const char *keyword, const char *what,
                          const char *detail)
{
    return wt__subschema_refuse(at, code, err, "\"%s\" %s%s%.200s%s", keyword, what, detail ? ": \"" : "",
                                detail ? detail : "", detail ? "\"" : "");
}

/* Returns the field for the value of the keyword. Allocates the group of the field if necessary. Returns NULL if out of
 * memory. */
static void *allocate_field(struct compiled *out, struct subschema *s, const struct keyword *keyword)
{
    void *group;
    memcpy(&group, (char *)s + keyword->group, sizeof group);
    if (!group && (group = wt__arena_calloc(&out->arena, 1, keyword->group_size, _Alignof(max_align_t))))
        memcpy((char *)s + keyword->group, &group, sizeof group);
    return group ? (char *)group + keyword->field : NULL;
}

/* Registers a map of a subschema, so that the map is freed with the compiled schema. */
static int register_map(struct compiler *c, struct map *map)
{
    struct compiled *out = c->out;
    int rc = wt__grow((void **)&out->maps, &out->map_capacity, out->map_count + 1, sizeof *out->maps);
    WT_CHECK_ALLOC(rc == 0, c->err);
    out->maps[out->map_count++] = map;
    return 0;
}

/* Compiles a pattern, which the compiled schema then owns. */
static int compile_pattern(struct compiler *c, const struct schema_pattern **out, const struct subschema *s,
                           const char *keyword, struct str text)
{
    struct compiled *compiled = c->out;
    struct schema_pattern *pattern;
    wt_error why = {0};
    int rc = wt__grow((void **)&compiled->patterns, &compiled->pattern_capacity, compiled->pattern_count + 1,
                      sizeof *compiled->patterns);
    WT_CHECK_ALLOC(rc == 0, c->err);
    rc = wt__pattern_compile(&pattern, text, &c->pattern_memory, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(c->err);
    if (rc < 0)
        return refuse_keyword(c->err, rc, s, keyword, why.message, text.ptr);
    compiled->patterns[compiled->pattern_count++] = pattern;
    *out = pattern;
    return 0;
}

static int refuse_value(struct compiler *c, const struct subschema *s, const struct keyword *keyword, const char *what)
{
    return refuse_keyword(c->err, WT_EFORMAT, s, keyword->name, what, NULL);
}

static int compile_number(struct compiler *c, struct subschema *s, const struct keyword *keyword, const json_t **field,
                          const json_t *value)
{
    if (!json_is_number(value))
        return refuse_value(c, s, keyword, "must be a number");
    if (keyword->shape == SHAPE_UNIT && !(json_number_value(value) > 0))
        return refuse_value(c, s, keyword, "must be above 0");
    *field = value;
    return 0;
}

static int compile_count(struct compiler *c, struct subschema *s, const struct keyword *keyword, struct bound *field,
                         const json_t *value)
{
    double real = json_number_value(value);
    if (!json_is_number(value) || !wt__number_is_integer(value) || real < 0)
        return refuse_value(c, s, keyword, "must be a whole number of 0 or more");
    field->set = true;
    if (json_is_integer(value))
        field->value = (size_t)json_integer_value(value);
    else
        field->value = real < 9e15 ? (size_t)real : SIZE_MAX;
    return 0;
}

static unsigned find_type_kinds(const char *name)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } types[] = {{"null", KIND_NULL},
                 {"boolean", KIND_BOOLEAN},
                 {"integer", KIND_INTEGER},
                 {"string", KIND_STRING},
                 {"array", KIND_ARRAY},
                 {"object", KIND_OBJECT},
                 {"number", KIND_INTEGER | KIND_FRACTION}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(name, types[i].name) == 0)
            return types[i].kinds;
    return 0;
}

static int compile_type(struct compiler *c, struct subschema *s, const json_t *value)
{
    unsigned kinds = 0;
    size_t len = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < len; i++) {
        const json_t *name = json_is_array(value) ? json_array_get(value, i) : value;
        unsigned kind = json_is_string(name) ? find_type_kinds(json_string_value(name)) : 0;
        if (kind == 0)
            return refuse_keyword(c->err, WT_EFORMAT, s, "type",
                                  "must be null, boolean, integer, number, string, array or object",
                                  json_string_value(name));
        kinds |= kind;
    }
    if (kinds == 0)
        return refuse_keyword(c->err, WT_EFORMAT, s, "type", "must name a type", NULL);
    s->types = (unsigned char)kinds;
    return 0;
}

static int compile_enum(struct compiler *c, struct subschema *s, const json_t *value)
{
    size_t len = json_array_size(value);
    if (!json_is_array(value))
        return refuse_keyword(c->err, WT_EFORMAT, s, "enum", "must be a list of values", NULL);
    s->values = value;
    if (len <= FEW_NAMES)
        return 0;
    WT_TRY(register_map(c, &s->texts));
    for (size_t i = 0; i < len; i++) {
        const json_t *text = json_array_get(value, i);
        struct str key = {json_string_value(text), json_string_length(text)};
        if (json_is_string(text))
            WT_CHECK_ALLOC(wt__map_insert(&s->texts, key, (uint32_t)i, NULL), c->err);
    }
    return 0;
}

static int compile_text_pattern(struct compiler *c, struct subschema *s, const struct keyword *keyword,
                                const json_t *value)
{
    if (!json_is_string(value))
        return refuse_value(c, s, keyword, "must be a string");
    s->string->pattern_text = (struct str){json_string_value(value), json_string_length(value)};
    return compile_pattern(c, &s->string->pattern, s, "pattern", s->string->pattern_text);
}

static int compile_format(struct compiler *c, struct subschema *s, const struct keyword *keyword, const json_t *value)
{
    bool asserted = c->assert_formats || (s->resource->vocabularies & VOCABULARY_FORMAT_ASSERTION) != 0;
    if (!json_is_string(value))
        return refuse_value(c, s, keyword, "must be a string");
    const struct format *format =
        asserted ? wt__format_find((struct str){json_string_value(value), json_string_length(value)}) : NULL;
    if (!format)
        return 0;
    if (!s->string)
        s->string = wt__arena_array(&c->out->arena, struct string_rules, 1);
    WT_CHECK_ALLOC(s->string, c->err);
    s->string->format = format;
    return 0;
}

/* Compiles a list of names. */
static int compile_names(struct compiler *c, struct name_list *out, const struct subschema *s, const char *keyword,
                         const json_t *value)
{
    size_t len = json_array_size(value);
    if (!json_is_array(value))
        return refuse_keyword(c->err, WT_EFORMAT, s, keyword, "must be a list of names", NULL);
    out->items = wt__arena_array(&c->out->arena, struct str, len);
    WT_CHECK_ALLOC(out->items || len == 0, c->err);
    for (size_t i = 0; i < len; i++) {
        const json_t *name = json_array_get(value, i);
        if (!json_is_string(name))
            return refuse_keyword(c->err, WT_EFORMAT, s, keyword, "must be a list of names", NULL);
        out->items[i] = (struct str){json_string_value(name), json_string_length(name)};
    }
    out->len = len;
    return 0;
}

static int compile_dependent_names(struct compiler *c, struct subschema *s, const struct keyword *keyword,
                                   struct dependent_names *field, const json_t *value)
{
    const char *name;
    json_t *wanted;
    if (!json_is_object(value))
        return refuse_value(c, s, keyword, "must be an object");
    struct dependent_name *old = field->items;
    field->items = wt__arena_array(&c->out->arena, struct dependent_name, field->len + json_object_size(value) + 1);
    WT_CHECK_ALLOC(field->items, c->err);
    if (field->len > 0)
        memcpy(field->items, old, field->len * sizeof *old);
    json_object_foreach((json_t *)value, name, wanted)
    {
        if (!json_is_array(wanted)) /* other members of "dependencies" are schemas */
            continue;
        struct dependent_name *item = &field->items[field->len++];
        item->name = wt__str(name);
        WT_TRY(compile_names(c, &item->wanted, s, keyword->name, wanted));
    }
    return 0;
}

/* Creates the lookup map of the properties if `most`, the maximum final number of properties, exceeds FEW_NAMES. */
static int build_property_map(struct compiler *c, struct object_rules *object, size_t most)
{
    if (most <= FEW_NAMES)
        return 0;
    WT_TRY(register_map(c, &object->by_name));
    object->mapped = true;
    for (size_t i = 0; i < object->properties.len; i++)
        WT_CHECK_ALLOC(wt__map_insert(&object->by_name, object->properties.items[i].name, (uint32_t)i, NULL), c->err);
    return 0;
}

/* Compiles "required": marks existing properties as required and adds the missing names. */
static int compile_required(struct compiler *c, struct subschema *s, const json_t *value)
{
    struct name_list names = {0};
    size_t next = 0;
    WT_TRY(compile_names(c, &names, s, "required", value));
    if (!s->object)
        s->object = wt__arena_array(&c->out->arena, struct object_rules, 1);
    WT_CHECK_ALLOC(s->object, c->err);
    struct named_subschemas *properties = &s->object->properties;
    size_t most = properties->len + names.len;
    struct property *items = wt__arena_array(&c->out->arena, struct property, most + 1);
    WT_CHECK_ALLOC(items, c->err);
    if (properties->len > 0)
        memcpy(items, properties->items, properties->len * sizeof *items);
    properties->items = items;
    WT_TRY(build_property_map(c, s->object, most));
    for (size_t i = 0; i < names.len; i++) {
        struct property *there = wt__find_property(s->object, names.items[i], &next);
        if (!there) {
            there = &items[properties->len++];
            there->name = names.items[i];
            if (s->object->mapped)
                WT_CHECK_ALLOC(wt__map_insert(&s->object->by_name, there->name, (uint32_t)(properties->len - 1), NULL),
                               c->err);
        }
        s->object->required += !there->required;
        there->required = true;
    }
    return 0;
}

/* ---------------------------------------------------------------- keywords with subschemas */

static int enqueue_subschema(struct compiler *c, struct subschema *s)
{
    if (s->queued)
        return 0;
    if (c->queued >= SCHEMA_SUBSCHEMAS)
        return wt__fail(c->err, WT_ETOOLONG, "the schema has more than %d subschemas", SCHEMA_SUBSCHEMAS);
    int rc = wt__grow((void **)&c->queue, &c->capacity, c->queued + 1, sizeof *c->queue);
    WT_CHECK_ALLOC(rc == 0, c->err);
    c->queue[c->queued++] = s;
    s->queued = true;
    return 0;
}

/* Finds and enqueues a subschema of `s`. If `name` is NULL, `json` is the value of `keyword`. Otherwise, `json` is the
 * member or item `name` of this value. */
static int compile_child(struct compiler *c, const struct subschema **out, struct subschema *s, const json_t *json,
                         const char *keyword, const char *name)
{
    struct subschema *found = NULL;
    if (json_is_object(json)) {
        found = wt__documents_at(&c->documents, json);
    } else if (json_is_boolean(json)) {
        const char *relative_pointer = wt__subschema_pointer(&c->out->arena, keyword, name);
        found = relative_pointer ? wt__documents_boolean(&c->documents, json, s, relative_pointer) : NULL;
        WT_CHECK_ALLOC(found, c->err);
    }
    if (!found) {
        const char *what = name ? "must hold schemas" : "must be a schema";
        return refuse_keyword(c->err, WT_EFORMAT, s, keyword, what, name);
    }
    *out = found;
    return enqueue_subschema(c, found);
}

static int compile_list(struct compiler *c, struct subschema *s, const struct keyword *keyword,
                        struct subschema_list *field, const json_t *value)
{
    size_t len = json_array_size(value);
    if (!json_is_array(value) || len == 0)
        return refuse_value(c, s, keyword, "must be a list of schemas");
    field->items = wt__arena_array(&c->out->arena, const struct subschema *, len);
    WT_CHECK_ALLOC(field->items, c->err);
    field->len = len;
    for (size_t i = 0; i < len; i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        WT_TRY(compile_child(c, &field->items[i], s, json_array_get(value, i), keyword->name, index));
    }
    return 0;
}

/* Adds the members that are schemas to `field`. Lists of names in "dependencies" are compiled into
 * object_rules.dependent_required. */
static int compile_named(struct compiler *c, struct subschema *s, const struct keyword *keyword,
                         struct named_subschemas *field, const json_t *value)
{
    const char *name;
    json_t *member;
    if (!json_is_object(value))
        return refuse_value(c, s, keyword, "must be an object");
    struct property *items = wt__arena_array(&c->out->arena, struct property, field->len + json_object_size(value) + 1);
    WT_CHECK_ALLOC(items, c->err);
    if (field->len > 0)
        memcpy(items, field->items, field->len * sizeof *items);
    field->items = items;
    json_object_foreach((json_t *)value, name, member)
    {
        if (keyword->shape == SHAPE_DEPENDENCIES && json_is_array(member))
            continue;
        struct property *item = &items[field->len++];
        /* Copy the names next to each other, for cache locality. */
        item->name = wt__str(wt__arena_copy(&c->out->arena, wt__str(name)));
        WT_CHECK_ALLOC(item->name.ptr, c->err);
        WT_TRY(compile_child(c, &item->subschema, s, member, keyword->name, name));
    }
    return 0;
}

static int compile_patterns(struct compiler *c, struct subschema *s, const struct keyword *keyword,
                            struct pattern_properties *field, const json_t *value)
{
    const char *text;
    json_t *member;
    if (!json_is_object(value))
        return refuse_value(c, s, keyword, "must be an object");
    field->items = wt__arena_array(&c->out->arena, struct pattern_property, json_object_size(value) + 1);
    WT_CHECK_ALLOC(field->items, c->err);
    json_object_foreach((json_t *)value, text, member)
    {
        struct pattern_property *item = &field->items[field->len];
        item->text = wt__str(text);
        WT_TRY(compile_pattern(c, &item->pattern, s, keyword->name, item->text));
        WT_TRY(compile_child(c, &item->subschema, s, member, keyword->name, text));
        field->len++;
    }
    return 0;
}

/* Compiles "items". A list of schemas has the meaning of "prefixItems" in 2020-12. "additionalItems" then has the
 * meaning of "items". */
static int compile_items(struct compiler *c, struct subschema *s, const struct keyword *keyword, const json_t *value)
{
    const json_t *additional = json_object_get(s->json, "additionalItems");
    if (!json_is_array(value))
        return compile_child(c, &s->array->items, s, value, "items", NULL);
    if (json_array_size(value) > 0)
        WT_TRY(compile_list(c, s, keyword, &s->array->prefix, value));
    return additional ? compile_child(c, &s->array->items, s, additional, "additionalItems", NULL) : 0;
}

/* Resolves a reference. keyword: "$ref" or "$dynamicRef", used in error messages. */
static int compile_reference(struct compiler *c, const struct subschema **out, struct subschema *s, const char *keyword,
                             const json_t *value)
{
    struct subschema *target;
    wt_error why = {0};
    struct str reference = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value))
        return refuse_keyword(c->err, WT_EFORMAT, s, keyword, "must be a string", NULL);
    int rc = wt__documents_resolve(&c->documents, &target, s->resource, reference, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(c->err);
    if (rc < 0)
        return refuse_keyword(c->err, rc, s, keyword, why.message, NULL);
    *out = target;
    return enqueue_subschema(c, target);
}

/* Compiles "$dynamicRef". The reference is dynamic only if its static target has a "$dynamicAnchor" of the same
 * name. */
static int compile_dynamic(struct compiler *c, struct subschema *s, struct in_place *field, const json_t *value)
{
    WT_TRY(compile_reference(c, &field->dynamic, s, "$dynamicRef", value));
    const char *hash = strchr(json_string_value(value), '#');
    if (!hash || hash[1] == '\0' || field->dynamic->resource->draft7)
        return 0;
    struct str anchor = wt__json_str(field->dynamic->json, "$dynamicAnchor");
    if (wt__str_equal(anchor, wt__str(hash + 1)))
        field->dynamic_name = anchor;
    c->dynamic |= field->dynamic_name.len > 0;
    return 0;
}

/* Enqueues the subschemas of all dynamic anchors read so far, because a dynamic reference may lead to any of them. */
static int enqueue_anchors(struct compiler *c)
{
    if (!c->dynamic || c->anchors_of == c->documents.len)
        return 0;
    c->anchors_of = c->documents.len;
    for (size_t i = 0; i < c->documents.resource_count; i++)
        for (const struct dynamic_anchor *a = c->documents.resource_rows[i]->dynamic; a; a = a->next)
            WT_TRY(enqueue_subschema(c, (struct subschema *)a->subschema));
    return 0;
}

/* Compiles one keyword of a subschema. Errors: WT_EFORMAT, WT_ENOTFOUND, WT_ETOOLONG, WT_ENOMEM. */
static int compile_keyword(struct compiler *c, struct subschema *s, const struct keyword *keyword, const json_t *value)
{
    void *field = NULL;
    if (keyword->group_size > 0 && keyword->shape != SHAPE_REQUIRED) {
        field = allocate_field(c->out, s, keyword);
        WT_CHECK_ALLOC(field, c->err);
    }
    switch (keyword->shape) {
    case SHAPE_NUMBER:
    case SHAPE_UNIT:
        return compile_number(c, s, keyword, field, value);
    case SHAPE_COUNT:
        return compile_count(c, s, keyword, field, value);
    case SHAPE_FLAG:
        *(bool *)field = json_is_true(value);
        return json_is_boolean(value) ? 0 : refuse_value(c, s, keyword, "must be true or false");
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
        return compile_dependent_names(c, s, keyword, field, value);
    case SHAPE_SUBSCHEMA: /* "additionalItems" has no field and is compiled by compile_items */
        return field ? compile_child(c, field, s, value, keyword->name, NULL) : 0;

    case SHAPE_LIST:
        return compile_list(c, s, keyword, field, value);
    case SHAPE_NAMED:
        return compile_named(c, s, keyword, field, value);
    case SHAPE_PATTERNS:
        return compile_patterns(c, s, keyword, field, value);
    case SHAPE_DEPENDENCIES:
        WT_TRY(compile_named(c, s, keyword, field, value));
        return compile_dependent_names(c, s, keyword, &s->object->dependent_required, value);
    case SHAPE_ITEMS:
        return compile_items(c, s, keyword, value);
    case SHAPE_REFERENCE:
        return compile_reference(c, field, s, "$ref", value);
    case SHAPE_DYNAMIC_REFERENCE:
        return compile_dynamic(c, s, s->in_place, value);
    default:
        return 0;
    }
}

/* Sets the fields derived from several keywords. */
static int finish_subschema(struct compiler *c, struct subschema *s)
{
    struct in_place *in_place = s->in_place;
    struct object_rules *object = s->object;
    const json_t *required = json_object_get(s->json, "required");
    if (in_place && !in_place->condition)
        in_place->then = in_place->otherwise = NULL;
    if (s->array)
        s->array->contains_evaluates = !s->resource->draft7;
    s->wants_evaluated = (s->array && s->array->unevaluated) || (s->object && s->object->unevaluated);
    if (object)
        object->more = object->names || object->patterns.len > 0 || object->dependent_required.len > 0 ||
                       object->dependent_schemas.len > 0 || object->min_properties.set || object->max_properties.set;
    if (required && wt__keyword_find("required", s->resource->draft7, s->resource->vocabularies)) {
        int rc = compile_required(c, s, required);
        if (rc < 0)
            c->refused = (struct refused_keyword){(json_t *)s->json, "required"};
        return rc;
    }
    return object ? build_property_map(c, object, object->properties.len) : 0;
}

static int compile_member(struct compiler *c, struct subschema *s, const struct keyword *keyword, const json_t *value)
{
    int rc = compile_keyword(c, s, keyword, value);
    if (rc < 0)
        c->refused = (struct refused_keyword){(json_t *)s->json, keyword->name};
    return rc;
}

static int compile_subschema(struct compiler *c, struct subschema *s)
{
    const struct resource *r = s->resource;
    const char *name;
    json_t *value;
    if (!json_is_object(s->json))
        return 0;
    /* In draft-07, "$ref" disables all other keywords of its object. */
    if (r->draft7 && json_is_string(json_object_get(s->json, "$ref")))
        return compile_member(c, s, wt__keyword_find("$ref", true, r->vocabularies), json_object_get(s->json, "$ref"));
    json_object_foreach((json_t *)s->json, name, value)
    {
        const struct keyword *keyword = wt__keyword_find(name, r->draft7, r->vocabularies);
        if (keyword)
            WT_TRY(compile_member(c, s, keyword, value));
    }
    return finish_subschema(c, s);
}

static int compile_reachable(struct compiler *c, json_t *schema, json_t *table)
{
    struct subschema *root;
    struct compiled *out = c->out;
    if (!json_is_object(schema) && !json_is_boolean(schema))
        return wt__fail(c->err, WT_EFORMAT, "a schema must be an object, true or false");
    WT_CHECK_ALLOC(json_array_append(out->keep, schema) == 0, c->err);
    WT_CHECK_ALLOC(!table || json_array_append(out->keep, table) == 0, c->err);
    WT_TRY(wt__documents_open(&c->documents, &root, schema, c->err));
    WT_TRY(enqueue_subschema(c, root));
    for (size_t i = 0; i < c->queued; i++) {
        WT_TRY(compile_subschema(c, c->queue[i]));
        if (i + 1 == c->queued)
            WT_TRY(enqueue_anchors(c));
    }
    out->root = root;
    return 0;
}

int wt__compile_schema(struct compiled **out, json_t *schema, const char *dialect, json_t *table, bool assert_formats,
                       struct refused_keyword *refused, wt_error *err)
{
    struct compiler c = {.assert_formats = assert_formats, .err = err};
    *out = NULL;
    c.out = calloc(1, sizeof *c.out);
    if (!c.out || !(c.out->keep = json_array())) {
        free(c.out);
        return wt__fail_nomem(err);
    }
    c.documents = (struct documents){.arena = &c.out->arena, .keep = c.out->keep, .table = table, .dialect = dialect};
    int rc = compile_reachable(&c, schema, table);
    if (refused)
        *refused = c.refused;
    wt__documents_dispose(&c.documents);
    free(c.queue);
    if (rc < 0) {
        wt__compiled_free(c.out);
        return rc;
    }
    *out = c.out;
    return 0;
}

void wt__compiled_free(struct compiled *compiled)
{
    if (!compiled)
        return;
    for (size_t i = 0; i < compiled->pattern_count; i++)
        wt__pattern_free(compiled->patterns[i]);
    for (size_t i = 0; i < compiled->map_count; i++)
        wt__map_dispose(compiled->maps[i]);
    free(compiled->patterns);
    free(compiled->maps);
    wt__arena_dispose(&compiled->arena);
    json_decref(compiled->keep);
    free(compiled);
}
