/* export.c: see export.h. Constructs that the APIs reject, according to their error messages, are removed or rewritten:
 *   OpenAI, Anthropic  a top level of another type than object, or with anyOf, oneOf, allOf, enum or not
 *   OpenAI, Gemini     an array without items
 *   OpenAI             a description over 1,024 characters
 *   Anthropic          a property's name at the top level outside [A-Za-z0-9_.-]{1,64}; schemas that are invalid in
 *                      2020-12, of which a list of "items" is the common case
 * Gemini accepts JSON Schema in parametersJsonSchema. MCP accepts any JSON Schema of an object.
 *
 * Three formats answer a client that has deferred its tools and searches for them. They contain the same definitions,
 * or only names, in the wrappers that Anthropic's and OpenAI's APIs use to load tools during a conversation. */
#include "catalog/export.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "catalog/names.h"
#include "catalog/schema.h"
#include "text/shown.h"

struct api_format {
    const char *name;
    const char *before, *after; /* around all tools */
    const char *open, *close;   /* around one tool; open ends before its name */
    const char *schema;         /* key of the schema; NULL for only a name */
    const char *tail;           /* before close */
    size_t description;         /* maximum length in characters; 0 for no limit */
    bool flat;                  /* no alternatives at the top level, items in every array, no dialect */
    bool keys;                  /* names of properties at the top level have a restricted alphabet */
    bool title;
    bool namespaces;        /* tools are grouped by provider */
    const char *definition; /* format that the model reads; NULL for this one */
};

static const struct api_format apis[] = {
    {.name = "openai",
     .before = "[",
     .after = "]",
     .open = "{\"type\":\"function\",\"function\":{\"name\":",
     .close = "}}",
     .schema = "parameters",
     .tail = "",
     .description = EXPORT_OPENAI_DESCRIPTION,
     .flat = true},
    {.name = "openai-responses",
     .before = "[",
     .after = "]",
     .open = "{\"type\":\"function\",\"name\":",
     .close = "}",
     .schema = "parameters",
     .tail = ",\"strict\":false",
     .description = EXPORT_OPENAI_DESCRIPTION,
     .flat = true},
    {.name = "anthropic",
     .before = "[",
     .after = "]",
     .open = "{\"name\":",
     .close = "}",
     .schema = "input_schema",
     .tail = "",
     .flat = true,
     .keys = true},
    {.name = "gemini",
     .before = "[{\"functionDeclarations\":[",
     .after = "]}]",
     .open = "{\"name\":",
     .close = "}",
     .schema = "parametersJsonSchema",
     .tail = "",
     .flat = true},
    {.name = "mcp",
     .before = "[",
     .after = "]",
     .open = "{\"name\":",
     .close = "}",
     .schema = "inputSchema",
     .tail = "",
     .title = true},
    {.name = "anthropic-reference",
     .before = "[",
     .after = "]",
     .open = "{\"type\":\"tool_reference\",\"tool_name\":",
     .close = "}",
     .definition = "anthropic"},
    {.name = "anthropic-inline",
     .before = "[",
     .after = "]",
     .open = "{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_definition\",\"definition\":{\"name\":",
     .close = "}}}",
     .schema = "input_schema",
     .tail = "",
     .flat = true,
     .keys = true,
     .definition = "anthropic"},
    {.name = "openai-search",
     .before = "[",
     .after = "]",
     .open = "{\"type\":\"function\",\"name\":",
     .close = "}",
     .schema = "parameters",
     .tail = ",\"strict\":false,\"defer_loading\":true",
     .description = EXPORT_OPENAI_DESCRIPTION,
     .flat = true,
     .namespaces = true,
     .definition = "openai-responses"},
};

/* ---------------------------------------------------------------- schemas */

/* Adds the properties of a branch to the top level. With `all`, the branch always applies, and its required names are
 * added as well. */
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

/* Maps properties to names in the API's alphabet. Valid names stay, whatever the others are. So a schema is always
 * renamed the same way, and each name belongs to one property. */
static json_t *name_keys(const json_t *properties)
{
    json_t *names = json_object(), *taken = json_object(), *value;
    const char *key;
    int rc = names && taken ? 0 : -1;
    json_object_foreach((json_t *)properties, key, value) if (rc == 0 && is_accepted_key(key)) rc =
        json_object_set_new(names, key, json_string(key)) | json_object_set_new(taken, key, json_true());
    json_object_foreach((json_t *)properties, key, value)
    {
        char name[EXPORT_ANTHROPIC_KEY + 1];
        if (rc != 0 || is_accepted_key(key))
            continue;
        make_accepted_key(key, taken, name);
        rc = json_object_set_new(names, key, json_string(name)) | json_object_set_new(taken, name, json_true());
    }
    json_decref(taken);
    if (rc == 0)
        return names;
    json_decref(names);
    return NULL;
}

/* Renames the properties of the top level, and those in "required", to the API's alphabet. */
static int rename_keys(json_t *root)
{
    json_t *properties = json_object_get(root, "properties"), *required = json_object_get(root, "required"), *value;
    json_t *names = name_keys(properties), *renamed = json_object();
    const char *key;
    int rc = names && renamed ? 0 : -1;
    json_object_foreach(properties, key, value) if (rc == 0) rc =
        json_object_set(renamed, json_string_value(json_object_get(names, key)), value);
    for (size_t i = 0; rc == 0 && i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        json_t *other = name ? json_object_get(names, name) : NULL;
        if (other)
            rc = json_array_set(required, i, other);
    }
    if (rc == 0)
        rc = json_object_set(root, "properties", renamed);
    json_decref(renamed);
    json_decref(names);
    return rc;
}

static void put_schema(struct buffer *out, struct str schema, const struct api_format *api)
{
    json_t *root = NULL;
    if (wt__json_parse(&root, schema.ptr, schema.len, NULL) == WT_ENOMEM) {
        out->failed = true;
        return;
    }
    if (!json_is_object(root)) {
        json_decref(root);
        root = NULL;
    }
    if (root && !json_is_object(json_object_get(root, "properties")) &&
        json_object_set_new(root, "properties", json_object()) < 0)
        out->failed = true;
    if (root && api->flat && (flatten_root(root) < 0 || wt__schema_complete(root) < 0))
        out->failed = true;
    if (root && api->keys && rename_keys(root) < 0)
        out->failed = true;
    if (!out->failed)
        out->failed = wt__schema_write(out, root) < 0;
    json_decref(root);
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
    if (api->title)
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

static void put_exported_tools(struct buffer *out, const struct tool *tools, size_t count, const struct api_format *api)
{
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        put_exported_tool(out, &tools[i], api);
    }
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

/* Adds a tool to the namespace of its provider. A namespace is named like a tool with the provider's name. It depends
 * only on the provider, so that a later search extends the namespace that an earlier one loaded. Providers with the
 * same readable name share a namespace; the names of tools are unique in the store. */
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

static const struct api_format *api_of(struct str format)
{
    for (size_t i = 0; i < sizeof apis / sizeof apis[0]; i++)
        if (wt__str_equal(format, wt__str(apis[i].name)))
            return &apis[i];
    return NULL;
}

int wt__export(const struct tool *tools, size_t count, struct str format, struct buffer *out, wt_error *err)
{
    const struct api_format *api = api_of(format);
    if (!api)
        return wt__fail(err, WT_EINVAL,
                        "unknown format \"%.*s\"; choose one of openai, openai-responses, anthropic, gemini, mcp, "
                        "anthropic-reference, anthropic-inline, openai-search",
                        (int)(format.len < 64 ? format.len : 64), format.ptr);
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt__buffer_text(&json, api->before);
    if (api->namespaces)
        put_namespaces(&json, tools, count, api);
    else
        put_exported_tools(&json, tools, count, api);
    wt__buffer_text(&json, api->after);
    wt__shown_json(out, wt__buffer_view(&json));
    out->failed |= json.failed;
    return out->failed ? wt__fail_nomem(err) : 0;
}

struct str wt__export_read(struct str format)
{
    const struct api_format *api = api_of(format);
    return api && api->definition ? wt__str(api->definition) : format;
}
