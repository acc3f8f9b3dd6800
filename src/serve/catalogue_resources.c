/* catalogue_resources.c: tool definitions as resources, so that a person can attach one to a conversation. The URI is
 * the tool's id after CATALOGUE_URI. Lists are in import order; completion filters ids by the typed text. */
#include "serve/catalogue_parts.h"

#include <stdio.h>

#include "wire/body.h"

enum {
    LISTED = 200,    /* tools read from the store at once */
    COMPLETED = 101, /* one more than the client gets, to detect that more exist */
};

static const char template_definition[] =
    "{\"name\":\"tool\",\"title\":\"A tool's definition\",\"uriTemplate\":\"" CATALOGUE_URI
    "{+id}\",\"mimeType\":\"application/json\"}";

/* ---------------------------------------------------------------- URIs */

static bool is_uri_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
}

static void put_tool_uri(struct buffer *out, const char *id)
{
    wt__buffer_text(out, CATALOGUE_URI);
    for (const char *c = id; *c; c++) {
        if (is_uri_character(*c))
            wt__buffer_char(out, *c);
        else
            wt__buffer_printf(out, "%%%02X", (unsigned char)*c);
    }
}

/* Returns the id, allocated in the arena, or NULL if the URI is invalid. */
static const char *read_tool_uri(struct arena *arena, struct str uri)
{
    char *id = NULL;
    size_t begin = sizeof CATALOGUE_URI - 1;
    if (!wt__str_starts(uri, STR(CATALOGUE_URI)) ||
        wt__percent_decode(&id, arena, (struct str){uri.ptr + begin, uri.len - begin}, false, NULL) < 0)
        return NULL;
    return id;
}

/* ---------------------------------------------------------------- lists */

static bool add_resource(struct mcp_call *call, const wt_tool *tool, size_t position)
{
    struct buffer item = {0}, uri = {0};
    char key[24];
    snprintf(key, sizeof key, "%zu", position);
    put_tool_uri(&uri, tool->id);
    wt__buffer_text(&item, "{\"uri\":");
    wt__buffer_json(&item, wt__buffer_view(&uri));
    wt__buffer_text(&item, ",\"name\":");
    wt__buffer_json(&item, wt__str(tool->id));
    wt__buffer_text(&item, ",\"mimeType\":\"application/json\"}");
    bool taken = !item.failed && !uri.failed && wt__mcp_add_item(call, wt__str(key), wt__buffer_view(&item));
    wt__buffer_dispose(&item);
    wt__buffer_dispose(&uri);
    return taken;
}

/* Parses the key of a page: a position in import order. If tools are removed between pages, the client may miss
 * some. */
static bool read_position(struct str after, size_t *position)
{
    *position = 0;
    for (size_t i = 0; i < after.len; i++) {
        if (after.ptr[i] < '0' || after.ptr[i] > '9' || *position > WT_MAX_TOOLS)
            return false;
        *position = 10 * *position + (size_t)(after.ptr[i] - '0');
    }
    return true;
}

void wt__catalogue_list_resources(void *context, struct mcp_call *call, struct str after)
{
    struct mcp_catalogue *catalogue = context;
    wt_list_options options;
    wt_list_options_init(&options);
    options.limit = LISTED;
    if (!read_position(after, &options.offset)) {
        wt__mcp_refuse_cursor(call);
        return;
    }
    for (bool more = true; more; options.offset += LISTED) {
        wt_tools *listed = NULL;
        wt_error err;
        if (wt_list(catalogue->engine, &options, &listed, &err) < 0) {
            wt__mcp_refuse_error(call, &err);
            return;
        }
        more = listed->len == LISTED;
        for (size_t i = 0; i < listed->len; i++) {
            if (!add_resource(call, listed->items[i], options.offset + i + 1)) {
                more = false;
                break;
            }
        }
        wt_tools_free(listed);
    }
}

void wt__catalogue_list_templates(void *context, struct mcp_call *call, struct str after)
{
    (void)context;
    if (after.len == 0)
        wt__mcp_add_item(call, STR("tool"), wt__str(template_definition));
    else if (!wt__str_equal(after, STR("tool")))
        wt__mcp_refuse_cursor(call);
}

/* ---------------------------------------------------------------- reading and completion */

void wt__catalogue_read(void *context, struct mcp_call *call, struct str uri)
{
    struct mcp_catalogue *catalogue = context;
    struct buffer definition = {0};
    struct arena arena = {0};
    wt_tools *found = NULL;
    const char *id = read_tool_uri(&arena, uri);
    if (!id || wt_get(catalogue->engine, id, &found, NULL) < 0) {
        wt__mcp_refuse_unknown(call);
    } else {
        wt__catalogue_definition(&definition, found->items[0], "");
        if (definition.failed)
            wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
        else
            wt__mcp_add_contents(call, uri, "application/json", wt__buffer_view(&definition), (struct str){0});
    }
    wt__buffer_dispose(&definition);
    wt_tools_free(found);
    wt__arena_dispose(&arena);
}

void wt__catalogue_complete(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    struct mcp_catalogue *catalogue = context;
    struct buffer pattern = {0};
    wt_list_options options;
    wt_tools *listed = NULL;
    if (what->of_prompt || !wt__str_equal(what->argument, STR("id")))
        return;
    wt__buffer_str(&pattern, what->value);
    wt_list_options_init(&options);
    options.limit = COMPLETED;
    options.pattern = pattern.ptr;
    if (!pattern.failed && wt_list(catalogue->engine, &options, &listed, NULL) >= 0)
        for (size_t i = 0; i < listed->len; i++)
            wt__mcp_add_value(call, wt__str(listed->items[i]->id));
    wt_tools_free(listed);
    wt__buffer_dispose(&pattern);
}
