/* openapi_refs.c: references within an OpenAPI document.
 *
 * The document is never parsed as a whole. An index locates the usual targets of references. A target is parsed on
 * first use and cached.
 *
 * References in a few lines can expand to billions of values. Expansion therefore has limits for the depth, for nested
 * references, and for the number of values. A stack of open targets detects cycles. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "import/internal.h"

/* ---------------------------------------------------------------- index */

/* Appends "/key" as a step of a JSON pointer. A key with escapes is decoded first. */
static void put_step(struct buffer *out, struct str key)
{
    json_auto_t *decoded = NULL;
    if (key.len > 0 && memchr(key.ptr, '\\', key.len) &&
        wt__json_parse(&decoded, key.ptr - 1, key.len + 2, NULL) == 0 && json_is_string(decoded))
        key = (struct str){json_string_value(decoded), json_string_length(decoded)};
    wt__json_pointer_step(out, key);
}

static int add_part(struct openapi *document, const struct buffer *pointer, const struct json_item *item)
{
    char *key = pointer->failed ? NULL : wt__arena_copy(&document->arena, wt__buffer_view(pointer));
    uint32_t *index = key ? wt__map_insert(&document->index, wt__str(key), (uint32_t)document->part_count, NULL) : NULL;
    if (!index || wt__grow((void **)&document->parts, &document->part_capacity, document->part_count + 1,
                           sizeof *document->parts) < 0)
        return WT_ENOMEM;
    if (*index == document->part_count)
        document->parts[document->part_count++] = (struct openapi_part){.item = *item};
    return 0;
}

/* True for the pointer of the security schemes, in OpenAPI 3 or in Swagger 2.0. */
static bool holds_schemes(struct str pointer)
{
    return wt__str_equal(pointer, STR("/components/securitySchemes")) ||
           wt__str_equal(pointer, STR("/securityDefinitions"));
}

/* Reads the security schemes in container. They name the parameters that are credentials. */
static int read_security_schemes(struct openapi *document, const struct json_item *container)
{
    json_decref(document->schemes);
    int rc = wt__json_parse(&document->schemes, container->value.ptr, container->value.len, NULL);
    return rc == WT_ENOMEM ? rc : 0;
}

/* Adds the members of a container to the index. With levels = 1, adds the members of these members instead. */
static int index_members(struct openapi *document, struct buffer *pointer, const struct json_item *container,
                         int levels)
{
    struct json_scan scan;
    struct json_item item;
    if (container->value.len == 0 || container->value.ptr[0] != '{')
        return 0;
    if (holds_schemes(wt__buffer_view(pointer)))
        WT_TRY(read_security_schemes(document, container));
    wt__json_scan_open(&scan, document->text, container->byte, container->line);
    while (wt__json_scan_next(&scan, &item) > 0) {
        size_t mark = pointer->len;
        put_step(pointer, item.key);
        if (levels > 0)
            WT_TRY(index_members(document, pointer, &item, levels - 1));
        else if (!item.cut)
            WT_TRY(add_part(document, pointer, &item));
        wt__buffer_cut(pointer, mark);
    }
    return 0;
}

int wt__openapi_index(struct openapi *document)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {0};
    struct json_scan scan;
    struct json_item root, item;
    wt__json_scan_root(document->text, 0, 1, &root);
    wt__json_scan_open(&scan, document->text, root.byte, root.line);
    while (wt__json_scan_next(&scan, &item) > 0) {
        wt__buffer_clear(&pointer);
        put_step(&pointer, item.key);
        WT_TRY(index_members(document, &pointer, &item, wt__str_equal(item.key, STR("components")) ? 1 : 0));
    }
    return 0;
}

static void forget_values(struct openapi *document)
{
    for (size_t i = 0; i < document->part_count; i++) {
        json_decref(document->parts[i].value);
        document->parts[i].value = NULL;
    }
    document->cached = 0;
}

void wt__openapi_dispose(struct openapi *document)
{
    forget_values(document);
    free(document->parts);
    json_decref(document->schemes);
    json_decref(document->brief_schemes);
    json_decref(document->inherited);
    wt__map_dispose(&document->index);
    wt__arena_dispose(&document->arena);
}

void wt__openapi_next_tool(struct openapi *document, struct str name)
{
    document->tool = name;
    if (document->cached > OPENAPI_CACHE_BYTES)
        forget_values(document);
    document->all_nodes += document->nodes;
    document->nodes = 0;
    document->most = document->all_nodes < OPENAPI_ALL_NODES ? OPENAPI_MAX_NODES : OPENAPI_FEW_NODES;
    document->open_count = 0;
    document->dangling[0] = document->wrong[0] = '\0';
}

/* ---------------------------------------------------------------- resolving */

/* Appends the JSON pointer of a local reference: "/a/b" for "#/a/b". Decodes percent-encoding. Appends nothing for
 * other references. */
static void pointer_of(struct buffer *out, struct str reference)
{
    if (!wt__str_starts(reference, STR("#/")))
        return;
    for (size_t i = 1; i < reference.len; i++) {
        bool coded = reference.ptr[i] == '%' && i + 2 < reference.len && wt__hex_digit(reference.ptr[i + 1]) >= 0 &&
                     wt__hex_digit(reference.ptr[i + 2]) >= 0;
        wt__buffer_char(out,
                        coded ? (char)(wt__hex_digit(reference.ptr[i + 1]) << 4 | wt__hex_digit(reference.ptr[i + 2]))
                              : reference.ptr[i]);
        i += coded ? 2 : 0;
    }
}

/* Returns the length of a pointer's first `steps` steps. */
static size_t prefix_of(struct str pointer, int steps)
{
    size_t at = 0;
    for (; steps > 0 && at < pointer.len; steps--) {
        const char *slash = memchr(pointer.ptr + at + 1, '/', pointer.len - at - 1);
        at = slash ? (size_t)(slash - pointer.ptr) : pointer.len;
    }
    return at;
}

/* Returns the part that contains the value at the pointer, or NULL. Sets *rest to the pointer within the part. */
static struct openapi_part *part_at(struct openapi *document, struct str pointer, struct str *rest)
{
    size_t len = prefix_of(pointer, wt__str_starts(pointer, STR("/components/")) ? 3 : 2);
    const uint32_t *index = wt__map_get(&document->index, (struct str){pointer.ptr, len});
    *rest = (struct str){pointer.ptr + len, pointer.len - len};
    return index ? &document->parts[*index] : NULL;
}

struct openapi_part *wt__openapi_part(struct openapi *document, struct str reference)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {0};
    struct str rest = {"", 0};
    pointer_of(&pointer, reference);
    struct openapi_part *part = pointer.len > 0 ? part_at(document, wt__buffer_view(&pointer), &rest) : NULL;
    return rest.len == 0 ? part : NULL;
}

/* Returns the part's value, parsed on first use, or NULL if invalid. Sets *rc if out of memory. */
static const json_t *parse_part(struct openapi *document, struct openapi_part *part, int *rc)
{
    if (!part->value && !part->bad) {
        int parsed = wt__json_parse(&part->value, part->item.value.ptr, part->item.value.len, NULL);
        if (parsed == WT_ENOMEM)
            *rc = WT_ENOMEM;
        else
            part->bad = parsed < 0;
        document->cached += part->item.value.len;
    }
    return part->value;
}

/* Returns the value at the pointer `rest`, relative to value. Returns NULL if it does not exist. */
static const json_t *find_below(const json_t *value, struct str rest)
{
    while (value && rest.len > 0) {
        char step[WT_MAX_NAME_BYTES];
        size_t len = 0, end = prefix_of(rest, 1);
        for (size_t i = 1; i < end; i++) {
            if (len == sizeof step - 1)
                return NULL;
            bool escape = rest.ptr[i] == '~' && i + 1 < end && (rest.ptr[i + 1] == '0' || rest.ptr[i + 1] == '1');
            step[len++] = escape ? (rest.ptr[i + 1] == '0' ? '~' : '/') : rest.ptr[i];
            i += escape;
        }
        step[len] = '\0';
        value = json_is_array(value) ? json_array_get(value, strtoul(step, NULL, 10)) : json_object_get(value, step);
        rest = (struct str){rest.ptr + end, rest.len - end};
    }
    return value;
}

enum { REFERENCE_SHOWN = 80 }; /* maximum bytes of a reference in a message */

/* Records a reference that is skipped, because it is not a JSON pointer or leads to another document. The user must
 * know that the tool's definition lacks the target. */
static void note_unread(struct openapi *document, struct str reference)
{
    bool here = wt__str_starts(reference, STR("#"));
    struct str shown = wt__str_head(reference, REFERENCE_SHOWN);
    if (!document->wrong[0])
        snprintf(document->wrong, sizeof document->wrong,
                 here ? "\"%.*s\" is not a JSON pointer and was skipped: give the location, as in "
                        "\"#/components/schemas/Name\""
                      : "\"%.*s\" is in another document and was skipped: bundle all references into one file",
                 (int)shown.len, shown.ptr);
}

static const json_t *read_reference_target(struct openapi *document, struct str reference, int *rc)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer pointer = {0};
    struct str rest;
    const json_t *value = NULL;
    pointer_of(&pointer, reference);
    if (pointer.failed)
        *rc = WT_ENOMEM;
    if (pointer.len == 0 && !pointer.failed)
        note_unread(document, reference);
    if (pointer.len > 0) {
        struct openapi_part *part = part_at(document, wt__buffer_view(&pointer), &rest);
        value = part ? find_below(parse_part(document, part, rc), rest) : NULL;
        if (!value && !document->dangling[0])
            snprintf(document->dangling, sizeof document->dangling, "%.*s", (int)reference.len, reference.ptr);
    }
    return value;
}

const json_t *wt__openapi_resolve(struct openapi *document, const json_t *value, int *rc)
{
    for (int hops = 0; value && json_is_string(json_object_get(value, "$ref")); hops++) {
        if (hops == OPENAPI_MAX_HOPS)
            return NULL;
        value = read_reference_target(document, wt__json_str(value, "$ref"), rc);
    }
    return value;
}

/* ---------------------------------------------------------------- expansion */

static json_t *expand_value(struct openapi *document, const json_t *value, int depth, bool names);

/* Over the limit of values, schemas are outlined instead of expanded. An object of names keeps its names, so that no
 * argument is lost. Over OPENAPI_HARD times the limit, further names are dropped. */
enum { OPENAPI_HARD = 16 };

static bool is_over_limit(const struct openapi *document)
{
    return document->nodes > document->most;
}

/* Keywords whose value maps names to schemas. */
static const char *const named[] = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"};
/* Keywords whose value is data, not a schema. */
static const char *const data[] = {"enum", "const", "default", "required"};
/* Keywords without meaning for arguments. The last two are serialisation options of Swagger 2.0. */
static const char *const dropped[] = {"example",          "examples",       "xml", "externalDocs", "discriminator",
                                      "collectionFormat", "allowEmptyValue"};

/* Returns type, title and description of a schema that is not expanded. */
static json_t *outline_schema(const json_t *schema)
{
    static const char *const kept[] = {"type", "title", "description"};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        json_t *value = json_object_get(schema, kept[i]);
        if (json_is_string(value) && json_object_set(out, kept[i], value) < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *expand_object(struct openapi *document, const json_t *value, int depth, bool names)
{
    json_t *out = json_object();
    const char *key;
    json_t *child;
    json_object_foreach((json_t *)value, key, child)
    {
        if (document->nodes > OPENAPI_HARD * document->most)
            break;
        if (!names && (KEY_AMONG(dropped, wt__str(key)) || strncmp(key, "x-", 2) == 0))
            continue;
        json_t *copy = !names && KEY_AMONG(data, wt__str(key))
                           ? json_deep_copy(child)
                           : expand_value(document, child, depth + 1, !names && KEY_AMONG(named, wt__str(key)));
        if (!copy || json_object_set_new(out, key, copy) < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *expand_reference(struct openapi *document, const json_t *value, int depth)
{
    int rc = 0;
    const json_t *target = wt__openapi_resolve(document, value, &rc);
    bool cut = document->open_count == OPENAPI_MAX_OPEN || is_over_limit(document);
    if (rc < 0)
        return NULL;
    for (size_t i = 0; i < document->open_count; i++)
        cut = cut || document->open[i] == target;
    json_t *out;
    if (!target || cut) {
        out = outline_schema(target);
    } else {
        document->open[document->open_count++] = target;
        out = expand_value(document, target, depth, false);
        document->open_count--;
    }
    json_t *description = json_object_get(value, "description");
    if (json_is_object(out) && json_is_string(description) && json_object_set(out, "description", description) < 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* Returns a copy of value with expanded references. depth: depth of value in the schema. names: true if the keys of
 * value are names, not keywords. Returns NULL if out of memory. */
static json_t *expand_value(struct openapi *document, const json_t *value, int depth, bool names)
{
    document->nodes++;
    if (!json_is_object(value) && !json_is_array(value))
        return json_deep_copy(value);
    if (depth > OPENAPI_MAX_DEPTH || (is_over_limit(document) && !names))
        return json_is_object(value) ? (names ? json_object() : outline_schema(value)) : json_array();
    if (!names && json_is_string(json_object_get(value, "$ref")))
        return expand_reference(document, value, depth);
    if (json_is_object(value))
        return expand_object(document, value, depth, names);
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (json_array_append_new(out, expand_value(document, json_array_get(value, i), depth + 1, false)) < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

json_t *wt__openapi_expand(struct openapi *document, const json_t *schema)
{
    return expand_value(document, schema, 0, false);
}
