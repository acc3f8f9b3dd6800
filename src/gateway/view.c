/* view.c: builds the snapshot of the callable tools and finds tools in it (internal.h). */
#include "gateway/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/pins.h"
#include "engine/engine.h"
#include "mcp/mend.h"
#include "whichtool/review.h"

/* Keyword for arguments that headers repeat. A tool with an invalid use of the keyword is left out. */
#define MIRRORED "\"x-mcp-header\""

struct view_builder {
    struct tool_view *view;
    const struct view_options *options;
    size_t capacity; /* allocated length of view->tools */
    struct map bare; /* number of tools with each name or exported name */
    wt_error *err;
    bool replica; /* the approvals are those of the writer */
};

/* Returns the value as compact JSON in the view's arena; ptr is NULL if out of memory. */
static struct str copy_json_text(struct tool_view *view, const json_t *value)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct str out = {NULL, 0};
    if (wt__json_write(&text, value) == 0 && !text.failed)
        out = (struct str){wt__arena_copy(&view->arena, wt__buffer_view(&text)), text.len};
    return out;
}

/* Returns the text of the definition for legacy clients. Leaves out an outputSchema whose type is not object: revisions
 * of MCP before 2026 forbid it, and strict clients then refuse the whole list. May change `definition`. modern: text of
 * `definition`. */
static struct str legacy_definition(struct tool_view *view, json_t *definition, struct str modern)
{
    const json_t *output = json_object_get(definition, "outputSchema");
    if (!output || wt__str_equal(wt__json_str(output, "type"), STR("object")))
        return modern;
    json_object_del(definition, "outputSchema");
    return copy_json_text(view, definition);
}

/* Parses and repairs a stored definition, since other imports and older versions may have stored malformed definitions.
 * *out is NULL if the definition cannot be repaired. Returns 0 or WT_ENOMEM. */
static int read_definition(json_t **out, const wt_tool *from, wt_error *err)
{
    struct str definition = {from->definition, from->definition_len};
    WT_CLEANUP(wt__mcp_mends_dispose) struct mcp_mends mends = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer mended = {0};
    size_t kept = 0;
    *out = NULL;
    WT_TRY(wt__mcp_mend_items(definition, "tools", &mended, &kept, &mends, err));
    if (kept != 1)
        return 0;
    return wt__json_parse(out, mended.ptr, mended.len, err) == WT_ENOMEM ? WT_ENOMEM : 0;
}

/* Fills in the members of `tool` that come from its definition. shown: name for clients. tool->shown stays NULL if the
 * definition cannot be repaired. Returns 0 or WT_ENOMEM. */
static int fill_definition(struct view_builder *m, struct view_tool *tool, const wt_tool *from, const char *shown)
{
    struct tool_view *view = m->view;
    json_auto_t *definition = NULL;
    WT_TRY(read_definition(&definition, from, m->err));
    if (!definition)
        return 0;
    tool->own_name = wt__arena_copy(&view->arena, wt__json_str(definition, "name"));
    json_object_set_new(definition, "name", json_string(shown));
    tool->shown = wt__arena_copy(&view->arena, wt__str(shown));
    tool->definition = copy_json_text(view, definition);
    tool->schema = copy_json_text(view, json_object_get(definition, "inputSchema"));
    tool->effect = wt__effect_of(definition);
    tool->legacy = legacy_definition(view, definition, tool->definition);
    if (!tool->shown || !tool->own_name || !tool->definition.ptr || !tool->legacy.ptr || !tool->schema.ptr)
        return wt__fail_nomem(m->err);
    return 0;
}

/* True if only one tool has this name, and no tool of the search face has the name. */
static bool is_name_free(const struct view_builder *m, const char *name)
{
    const uint32_t *same = wt__map_get(&m->bare, wt__str(name));
    return same && *same == 1 && !wt__str_among(wt__str(name), wt__face_tool_names, FACE_TOOLS);
}

/* True if the lock has the hash of the tool's definition, or if there is no lock. */
static bool is_pinned_tool(const struct view_builder *m, const wt_tool *tool)
{
    char sha256[DEFINITION_DIGITS + 1];
    if (!m->options->lock)
        return true;
    const struct pin *pin = wt__pins_find(m->options->lock, wt__str(tool->id));
    struct str definition = {tool->definition, tool->definition_len};
    return pin && wt__definition_hash(definition, sha256, NULL, NULL) == 0 && strcmp(pin->sha256, sha256) == 0;
}

/* Adds a tool to the view, unless the lock does not pin the tool, the server lists another definition of it that waits
 * for approval (on a replica, whose catalogue does not change), or its definition cannot be used. */
static int add_view_tool(struct view_builder *m, struct upstream *upstream, const wt_tool *from)
{
    struct tool_view *view = m->view;
    if (!is_pinned_tool(m, from) || (m->replica && wt__upstream_is_waiting(upstream, from->id)))
        return 0;
    struct view_tool *tool = wt__arena_array(&view->arena, struct view_tool, 1);
    if (!tool || wt__grow((void **)&view->tools, &m->capacity, view->count + 1, sizeof *view->tools) < 0)
        return wt__fail_nomem(m->err);
    *tool = (struct view_tool){.upstream = upstream,
                               .id = wt__arena_copy(&view->arena, wt__str(from->id)),
                               .exported = wt__arena_copy(&view->arena, wt__str(from->export_name)),
                               .name = wt__arena_copy(&view->arena, wt__str(from->name)),
                               .sha256 = wt__arena_copy(&view->arena, wt__str(from->sha256)),
                               .lock = &view->lock};
    if (!tool->id || !tool->exported || !tool->name || !tool->sha256)
        return wt__fail_nomem(m->err);
    bool bare = m->options->bare_names && is_name_free(m, from->name);
    int rc = fill_definition(m, tool, from, bare ? from->name : from->export_name);
    if (rc < 0 || !tool->shown)
        return rc;
    tool->has_mirrors = strstr(tool->schema.ptr, MIRRORED);
    if (tool->has_mirrors && !wt__view_input(tool, NULL))
        return 0;
    view->tools[view->count++] = tool;
    return 0;
}

static int count_name(struct view_builder *m, const char *name)
{
    bool added = false;
    uint32_t *count = wt__map_insert(&m->bare, wt__str(name), 1, &added);
    WT_CHECK_ALLOC(count, m->err);
    *count += !added;
    return 0;
}

static int compare_shown(const void *a, const void *b)
{
    return strcmp((*(struct view_tool *const *)a)->shown, (*(struct view_tool *const *)b)->shown);
}

/* Sorts the tools by shown name and indexes their shown names, exported names and ids. A name that several tools share
 * leads to the tool with this shown name, else to the tool with this exported name, else to the tool with this id. */
static int sort_tools(struct view_builder *m)
{
    struct tool_view *view = m->view;
    if (view->count > 0)
        qsort(view->tools, view->count, sizeof *view->tools, compare_shown);
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < view->count; i++) {
            struct view_tool *tool = view->tools[i];
            const char *name = kind == 0 ? tool->shown : kind == 1 ? tool->exported : tool->id;
            tool->number = i;
            WT_CHECK_ALLOC(wt__map_insert(&view->by_name, wt__str(name), (uint32_t)i, NULL), m->err);
        }
    for (size_t i = 0; i < view->count; i++)
        WT_CHECK_ALLOC(wt__map_insert(&view->by_id, wt__str(view->tools[i]->id), (uint32_t)i, NULL), m->err);
    return 0;
}

/* Adds the approved tools of each server. lists [count]: receives the tools of each server. The caller frees the lists;
 * the view does not refer to them. */
static int fill_view(struct view_builder *m, wt_engine *engine, wt_tools **lists)
{
    const struct view_options *options = m->options;
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    WT_TRY(wt_info(engine, &info, m->err));
    m->view->generation = info.generation;
    m->replica = wt__store_replica_of(engine->store) != NULL;
    for (size_t i = 0; i < options->count; i++) {
        WT_TRY(wt_list_approved(engine, wt__upstream_name(options->upstreams[i]), &lists[i], m->err));
        for (size_t t = 0; t < lists[i]->len; t++) {
            const wt_tool *tool = lists[i]->items[t];
            WT_TRY(count_name(m, tool->name));
            if (strcmp(tool->name, tool->export_name) != 0)
                WT_TRY(count_name(m, tool->export_name));
        }
    }
    for (size_t i = 0; i < options->count; i++)
        for (size_t t = 0; t < lists[i]->len; t++)
            WT_TRY(add_view_tool(m, options->upstreams[i], lists[i]->items[t]));
    return sort_tools(m);
}

int wt__view_open(struct tool_view **out, wt_engine *engine, const struct view_options *options, wt_error *err)
{
    struct view_builder m = {.view = calloc(1, sizeof *m.view), .options = options, .err = err};
    WT_AUTO_FREE wt_tools **lists = wt__alloc_zeros(options->count + 1, sizeof(wt_tools *));
    *out = NULL;
    if (m.view) {
        atomic_init(&m.view->refs, 1);
        pthread_mutex_init(&m.view->lock, NULL);
    }
    int rc = m.view && lists ? fill_view(&m, engine, lists) : wt__fail_nomem(err);
    for (size_t i = 0; lists && i < options->count; i++)
        wt_tools_free(lists[i]);
    wt__map_dispose(&m.bare);
    if (rc < 0)
        wt__view_release(m.view);
    else
        *out = m.view;
    return rc;
}

struct tool_view *wt__view_keep(struct tool_view *view)
{
    atomic_fetch_add(&view->refs, 1);
    return view;
}

void wt__view_release(struct tool_view *view)
{
    if (!view || atomic_fetch_sub(&view->refs, 1) != 1)
        return;
    for (size_t i = 0; i < view->count; i++)
        wt__mcp_input_close(view->tools[i]->input);
    free(view->tools);
    wt__map_dispose(&view->by_name);
    wt__map_dispose(&view->by_id);
    wt__arena_dispose(&view->arena);
    pthread_mutex_destroy(&view->lock);
    free(view);
}

struct view_tool *wt__view_find(const struct tool_view *view, struct str name)
{
    const uint32_t *at = wt__map_get(&view->by_name, name);
    return at ? view->tools[*at] : NULL;
}

struct view_tool *wt__view_find_id(const struct tool_view *view, const char *id)
{
    const uint32_t *at = wt__map_get(&view->by_id, wt__str(id));
    return at ? view->tools[*at] : NULL;
}

const struct mcp_input *wt__view_input(struct view_tool *tool, wt_error *err)
{
    pthread_mutex_lock(tool->lock);
    if (!tool->input)
        wt__mcp_input_open(&tool->input, tool->schema, err);
    const struct mcp_input *input = tool->input;
    pthread_mutex_unlock(tool->lock);
    return input;
}
