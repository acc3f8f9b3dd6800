/* export.c: writes tools in the formats of model APIs (export.h). Removes or rewrites the parts of schemas and
 * descriptions that the APIs reject. Their error messages name these parts:
 *   OpenAI, Anthropic  a top level of another type than object, or with anyOf, oneOf, allOf, enum or not
 *   OpenAI, Gemini     an array without items
 *   OpenAI             a description over 1,024 characters
 *   Anthropic          a property's name at the top level outside [A-Za-z0-9_.-]{1,64}
 *   Anthropic          a schema that is invalid in JSON Schema 2020-12, most often with a list as "items"
 * Gemini accepts JSON Schema in parametersJsonSchema. MCP accepts any JSON Schema of an object.
 *
 * Three formats are for clients that load tools during a conversation: anthropic-reference, anthropic-inline and
 * openai-search. The APIs of Anthropic and OpenAI require wrappers around such tools. */
#include "catalog/export.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "catalog/names.h"
#include "catalog/schema.h"
#include "text/shown.h"

/* One format of wt__export. Arrays are written as `before`, the tools separated by commas, and `after`. A tool is
 * `open`, its name and other members, `tail` and `close`. */
struct api_format {
    const char *name;
    const char *before, *after;
    const char *open;   /* ends before the name of the tool */
    const char *schema; /* key of the schema; NULL to write only the name */
    const char *tail;   /* members after the schema */
    const char *close;
    size_t description;     /* maximum length of a description in characters; 0 for no limit */
    unsigned flags;         /* of the enum below */
    const char *definition; /* format in which the model sees the tools; NULL for this format */
};

enum {
    IS_FLAT = 1,        /* no alternatives and no "$schema" at the top level, items in every array */
    HAS_ASCII_KEYS = 2, /* names of properties at the top level have a restricted alphabet */
    HAS_TITLE = 4,
    HAS_NAMESPACES = 8, /* tools are grouped by provider */
};

#define OPENAI EXPORT_OPENAI_DESCRIPTION
#define FUNCTION "{\"type\":\"function\",\"name\":"
#define ADDITION "{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_definition\",\"definition\":{\"name\":"
#define NAME "{\"name\":"

static const struct api_format apis[] = {
    {"openai", "[", "]", "{\"type\":\"function\",\"function\":" NAME, "parameters", "", "}}", OPENAI, IS_FLAT, NULL},
    {"openai-responses", "[", "]", FUNCTION, "parameters", ",\"strict\":false", "}", OPENAI, IS_FLAT, NULL},
    {"anthropic", "[", "]", NAME, "input_schema", "", "}", 0, IS_FLAT | HAS_ASCII_KEYS, NULL},
    {"gemini", "[{\"functionDeclarations\":[", "]}]", NAME, "parametersJsonSchema", "", "}", 0, IS_FLAT, NULL},
    {"mcp", "[", "]", NAME, "inputSchema", "", "}", 0, HAS_TITLE, NULL},
    {"anthropic-reference", "[", "]", "{\"type\":\"tool_reference\",\"tool_name\":", NULL, "", "}", 0, 0, "anthropic"},
    {"anthropic-inline", "[", "]", ADDITION, "input_schema", "", "}}}", 0, IS_FLAT | HAS_ASCII_KEYS, "anthropic"},
    {"openai-search", "[", "]", FUNCTION, "parameters", ",\"strict\":false,\"defer_loading\":true", "}", OPENAI,
     IS_FLAT | HAS_NAMESPACES, "openai-responses"},
};

/* ---------------------------------------------------------------- schemas */

/* Adds the properties of a branch of allOf, anyOf or oneOf to the top level. all: the branch is of allOf and always
 * applies, so its required names are added as well. */
static int join_branch(json_t *root, const json_t *branch, bool all)
{
    json_t *properties = json_object_get(root, "properties");
    if (json_object_update_missing(properties, json_object_get(branch, "properties")) < 0 &&
        json_object_get(branch, "properties"))
        return -1;
    json_t *more = json_object_get(branch, "required");
    if (!all || !json_is_array(more))
        return 0;
    if (!json_object_get(root, "required") && json_object_set_new(root, "required", json_array()) < 0)
        return -1;
    return json_array_extend(json_object_get(root, "required"), more);
}

/* Joins the branches of alternatives with the top level, and removes keywords that APIs reject there. */
static int flatten_root(json_t *root)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
        const json_t *list = json_object_get(root, lists[l]);
        for (size_t i = 0; i < json_array_size(list); i++)
            if (join_branch(root, json_array_get(list, i), l == 0) < 0)
                return -1;
        json_object_del(root, lists[l]);
    }
    static const char *const refused[] = {"enum", "not", "const", "if", "then", "else", "$schema", "$id"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        json_object_del(root, refused[i]);
    return 0;
}

static bool is_accepted_key(const char *key)
{
    size_t len = strlen(key);
    return len > 0 && len <= EXPORT_ANTHROPIC_KEY &&
           strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == len;
}

/* Writes a readable name, made from the key, that is unique among the properties. */
static void make_accepted_key(const char *key, const json_t *taken, char out[EXPORT_ANTHROPIC_KEY + 1])
{
    char text[READABLE_SOURCE], number[12] = "";
    size_t len = wt__readable(text, wt__str(key));
    if (len == 0) {
        len = strlen("argument");
        memcpy(text, "argument", len);
    }
    for (unsigned n = 1;;) {
        size_t kept = wt__readable_cut(text, len, EXPORT_ANTHROPIC_KEY - strlen(number));
        snprintf(out, EXPORT_ANTHROPIC_KEY + 1, "%.*s%s", (int)kept, text, number);
        if (!json_object_get(taken, out))
            return;
        snprintf(number, sizeof number, "_%u", ++n);
    }
}

/* Returns an object that maps the name of each property to a name in the API's alphabet, or NULL if out of memory.
 * Valid names stay and are added first, so that no other property gets one of them. */
static json_t *name_keys(const json_t *properties)
{
    json_auto_t *names = json_object(), *taken = json_object();
    json_t *value;
    const char *key;
    for (int accepted = 1; accepted >= 0; accepted--)
        json_object_foreach((json_t *)properties, key, value)
        {
            char name[EXPORT_ANTHROPIC_KEY + 1];
            if (is_accepted_key(key) != (accepted == 1))
                continue;
            if (accepted)
                snprintf(name, sizeof name, "%s", key);
            else
                make_accepted_key(key, taken, name);
            if (json_object_set_new(names, key, json_string(name)) < 0 ||
                json_object_set_new(taken, name, json_true()) < 0)
                return NULL;
        }
    return names && taken ? WT_TAKE(names) : NULL;
}

/* Renames the properties of the top level, and those in "required", to the API's alphabet. */
static int rename_keys(json_t *root)
{
    json_t *properties = json_object_get(root, "properties"), *required = json_object_get(root, "required"), *value;
    json_auto_t *names = name_keys(properties), *renamed = json_object();
    const char *key;
    if (!names || !renamed)
        return -1;
    json_object_foreach(properties, key, value)
    {
        if (json_object_set(renamed, json_string_value(json_object_get(names, key)), value) < 0)
            return -1;
    }
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        json_t *other = name ? json_object_get(names, name) : NULL;
        if (other && json_array_set(required, i, other) < 0)
            return -1;
    }
    return json_object_set(root, "properties", renamed);
}

static void put_schema(struct buffer *out, struct str schema, const struct api_format *api)
{
    json_auto_t *parsed = NULL;
    out->failed |= wt__json_parse(&parsed, schema.ptr, schema.len, NULL) == WT_ENOMEM;
    json_t *root = json_is_object(parsed) ? parsed : NULL;
    if (root && !json_is_object(json_object_get(root, "properties")))
        out->failed |= json_object_set_new(root, "properties", json_object()) < 0;
    if (root && (api->flags & IS_FLAT))
        out->failed |= flatten_root(root) < 0 || wt__schema_complete(root) < 0;
    if (root && (api->flags & HAS_ASCII_KEYS))
        out->failed |= rename_keys(root) < 0;
    if (!out->failed)
        out->failed = wt__schema_write(out, root) < 0;
}

/* ---------------------------------------------------------------- tools */

/* Returns the first `max` characters of UTF-8 text. */
static struct str first_characters(struct str text, size_t max)
{
    size_t characters = 0;
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.ptr[i] & 0xc0) != 0x80 && characters++ == max)
            return (struct str){text.ptr, i};
    return text;
}

static void put_text_member(struct buffer *out, const char *key, struct str text)
{
    if (text.len == 0)
        return;
    wt__buffer_printf(out, ",\"%s\":", key);
    wt__buffer_json(out, text);
}

static void put_exported_tool(struct buffer *out, const struct tool *tool, const struct api_format *api)
{
    wt__buffer_text(out, api->open);
    wt__buffer_json(out, tool->export_name);
    if (api->flags & HAS_TITLE)
        put_text_member(out, "title", tool->title);
    if (api->schema) {
        struct str description = tool->description;
        put_text_member(out, "description",
                        api->description ? first_characters(description, api->description) : description);
        wt__buffer_printf(out, ",\"%s\":", api->schema);
        put_schema(out, tool->schema, api);
        wt__buffer_text(out, api->tail);
    }
    wt__buffer_text(out, api->close);
}

/* ---------------------------------------------------------------- namespaces */

/* Tools of one provider, or one tool without a provider. */
struct tool_namespace {
    struct str name;    /* "" without a provider */
    size_t first, last; /* indexes of tools */
};

struct namespaces {
    struct tool_namespace *list; /* [count] in the order of their first tools */
    size_t count;
    size_t *next;     /* [number of tools] next tool of the same namespace; 0 at the end */
    struct map known; /* name -> index in list */
    struct arena arena;
};

/* Adds tools[i] to the namespace of its provider. Returns false if out of memory. The name of the namespace is the
 * provider's name in the form of an exported name. It depends only on the provider, so that a later search extends a
 * namespace that an earlier search has loaded. Providers with the same exported name share a namespace. */
static bool join_namespace(struct namespaces *all, const struct tool *tools, size_t i)
{
    char text[EXPORT_NAME_MAX + 1];
    size_t len = tools[i].provider.len > 0 ? wt__export_name(STR(""), tools[i].provider, 0, text) : 0;
    struct str name = {text, len};
    const uint32_t *known = len > 0 ? wt__map_get(&all->known, name) : NULL;
    if (known) {
        struct tool_namespace *of = &all->list[*known];
        all->next[of->last] = i;
        of->last = i;
        return true;
    }
    name.ptr = wt__arena_copy(&all->arena, name);
    if (!name.ptr || (len > 0 && !wt__map_insert(&all->known, name, (uint32_t)all->count, NULL)))
        return false;
    all->list[all->count++] = (struct tool_namespace){.name = name, .first = i, .last = i};
    return true;
}

static void put_namespace(struct buffer *out, const struct namespaces *all, const struct tool_namespace *of,
                          const struct tool *tools, const struct api_format *api)
{
    struct buffer description = {0};
    if (of->name.len > 0) {
        wt__buffer_text(&description, "Tools of ");
        wt__buffer_str(&description, tools[of->first].provider);
        wt__buffer_text(out, "{\"type\":\"namespace\",\"name\":");
        wt__buffer_json(out, of->name);
        wt__buffer_text(out, ",\"description\":");
        wt__buffer_json(out, wt__buffer_view(&description));
        wt__buffer_text(out, ",\"tools\":[");
    }
    put_exported_tool(out, &tools[of->first], api);
    for (size_t i = all->next[of->first]; i > 0; i = all->next[i]) {
        wt__buffer_char(out, ',');
        put_exported_tool(out, &tools[i], api);
    }
    if (of->name.len > 0)
        wt__buffer_text(out, "]}");
    out->failed |= description.failed;
    wt__buffer_dispose(&description);
}

static void put_namespaces(struct buffer *out, const struct tool *tools, size_t count, const struct api_format *api)
{
    struct namespaces all = {0};
    all.list = wt__arena_array(&all.arena, struct tool_namespace, count);
    all.next = wt__arena_array(&all.arena, size_t, count);
    bool joined = all.list && all.next;
    for (size_t i = 0; joined && i < count; i++)
        joined = join_namespace(&all, tools, i);
    for (size_t i = 0; joined && i < all.count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        put_namespace(out, &all, &all.list[i], tools, api);
    }
    out->failed |= !joined;
    wt__map_dispose(&all.known);
    wt__arena_dispose(&all.arena);
}

/* ---------------------------------------------------------------- all */

static const struct api_format *find_format(struct str format)
{
    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++)
        if (wt__str_equal(format, wt__str(apis[i].name)))
            return &apis[i];
    return NULL;
}

int wt__export(const struct tool *tools, size_t count, struct str format, struct buffer *out, wt_error *err)
{
    const struct api_format *api = find_format(format);
    if (!api)
        return wt__fail(err, WT_EINVAL,
                        "unknown format \"%.*s\"; choose one of openai, openai-responses, anthropic, gemini, mcp, "
                        "anthropic-reference, anthropic-inline, openai-search",
                        (int)(format.len < 64 ? format.len : 64), format.ptr);
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt__buffer_text(&json, api->before);
    if (api->flags & HAS_NAMESPACES)
        put_namespaces(&json, tools, count, api);
    for (size_t i = 0; i < count && !(api->flags & HAS_NAMESPACES); i++) {
        wt__buffer_text(&json, i > 0 ? "," : "");
        put_exported_tool(&json, &tools[i], api);
    }
    wt__buffer_text(&json, api->after);
    wt__shown_json(out, wt__buffer_view(&json));
    out->failed |= json.failed;
    return out->failed ? wt__fail_nomem(err) : 0;
}

struct str wt__export_read(struct str format)
{
    const struct api_format *api = find_format(format);
    return api && api->definition ? wt__str(api->definition) : format;
}
