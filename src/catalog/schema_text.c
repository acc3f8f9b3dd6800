/* schema_text.c: see schema.h. The walk is limited in depth and in parameters, so that it ends for recursive and very
 * large schemas. */
#include "catalog/schema.h"

#include "base/json.h"

struct text_walk {
    const json_t *root;
    struct buffer *names, *descriptions;
    unsigned parameters; /* visited */
    unsigned schemas;    /* visited, including alternatives without parameters */
};

static void put_schema_line(struct buffer *buffer, struct str text)
{
    text = wt__str_trim(text);
    if (!buffer || text.len == 0)
        return;
    wt__buffer_str(buffer, text);
    wt__buffer_char(buffer, '\n');
}

/* Follows a reference such as "#/$defs/X", without escapes. Returns NULL if the target is missing. */
static const json_t *resolve_in_schema(const struct text_walk *walk, struct str reference)
{
    const json_t *at = walk->root;
    if (reference.len < 2 || memcmp(reference.ptr, "#/", 2) != 0)
        return NULL;
    const char *end = reference.ptr + reference.len;
    for (const char *step = reference.ptr + 2; at && step <= end;) {
        const char *slash = memchr(step, '/', (size_t)(end - step));
        size_t len = (size_t)((slash ? slash : end) - step);
        at = json_object_getn(at, step, len);
        step += len + 1;
    }
    return at;
}

static void put_values(struct text_walk *walk, const json_t *schema)
{
    const json_t *values = json_object_get(schema, "enum");
    for (size_t i = 0; i < json_array_size(values) && i < SCHEMA_TEXT_VALUES; i++) {
        const json_t *value = json_array_get(values, i);
        if (json_is_string(value))
            put_schema_line(walk->descriptions, (struct str){json_string_value(value), json_string_length(value)});
    }
}

static void visit_schema(struct text_walk *walk, const json_t *schema, int depth)
{
    static const char *const lists[] = {"anyOf", "oneOf", "allOf", "prefixItems"};
    if (!json_is_object(schema) || depth > SCHEMA_TEXT_DEPTH || ++walk->schemas > 4 * SCHEMA_TEXT_PARAMETERS)
        return;
    visit_schema(walk, resolve_in_schema(walk, wt__json_str(schema, "$ref")), depth + 1);
    put_values(walk, schema);
    const char *name;
    json_t *property;
    json_object_foreach(json_object_get(schema, "properties"), name, property)
    {
        if (++walk->parameters > SCHEMA_TEXT_PARAMETERS)
            return;
        put_schema_line(walk->names, wt__str(name));
        put_schema_line(walk->descriptions, wt__json_str(property, "description"));
        visit_schema(walk, property, depth + 1);
    }
    visit_schema(walk, json_object_get(schema, "items"), depth + 1);
    visit_schema(walk, json_object_get(schema, "additionalProperties"), depth + 1);
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        const json_t *list = json_object_get(schema, lists[l]);
        for (size_t i = 0; i < json_array_size(list); i++)
            visit_schema(walk, json_array_get(list, i), depth + 1);
    }
}

int wt__schema_text(struct str schema, struct buffer *names, struct buffer *descriptions)
{
    json_t *root;
    int rc = wt__json_parse(&root, schema.ptr, schema.len, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? rc : 0;
    struct text_walk walk = {.root = root, .names = names, .descriptions = descriptions};
    visit_schema(&walk, root, 0);
    json_decref(root);
    return (names && names->failed) || (descriptions && descriptions->failed) ? WT_ENOMEM : 0;
}
