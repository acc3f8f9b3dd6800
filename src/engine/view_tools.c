/* view_tools.c: lists and resolves the tools of a view. It reads only tools of the view, so that errors and suggestions
 * cannot name others. A view has few tools, so names are compared one by one. */
#include "engine/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/sort.h"
#include "catalog/names.h"
#include "engine/tools.h"

enum { AMBIGUOUS_SHOWN = 5 };

/* The tools of a view in row order. */
struct view_tools {
    struct index_handle *index;
    struct arena arena;
    struct tool *items; /* [count]; a tool that was removed meanwhile has an empty name */
    size_t count;
};

static void view_tools_dispose(struct view_tools *tools)
{
    wt__arena_dispose(&tools->arena);
    wt__index_release(tools->index);
}

/* Reads all tools of a view. A view without tools gives an empty list. */
static int read_view_tools(struct view_tools *out, wt_engine *engine, wt_error *err)
{
    wt_error why;
    int rc = engine->view->index(engine, NULL, NULL, &out->index, &why);
    if (rc == WT_EEMPTY)
        return 0;
    if (rc < 0)
        return wt__fail_same(err, &why);
    size_t rows = out->index->snapshot->rows;
    int64_t *ids = wt__arena_array(&out->arena, int64_t, rows);
    out->items = wt__arena_array(&out->arena, struct tool, rows);
    WT_CHECK_ALLOC(ids && out->items, err);
    for (size_t row = 0; row < rows; row++)
        ids[row] = out->index->snapshot->keys[row].id;
    WT_TRY(wt__index_tools(engine, out->index, ids, rows, &out->arena, out->items, err));
    out->count = rows;
    return 0;
}

/* ---------------------------------------------------------------- list */

static bool fits_list_pattern(struct str pattern, const struct tool *tool, struct buffer *id)
{
    if (pattern.len == 0)
        return true;
    wt__buffer_clear(id);
    wt__tool_id(id, tool->provider, tool->name);
    return wt__list_pattern_fits(pattern, wt__buffer_view(id), tool->name);
}

static int fail_unknown_provider(const struct view_tools *tools, const char *provider, wt_error *err)
{
    struct nearest nearest;
    wt__nearest_begin(&nearest, wt__str(provider));
    for (size_t i = 0; i < tools->count; i++)
        wt__nearest_show(&nearest, tools->items[i].provider);
    return nearest.best[0] ? wt__fail(err, WT_ENOTFOUND, "no tool has the provider \"%s\"; did you mean \"%s\"?",
                                      provider, nearest.best)
                           : wt__fail(err, WT_ENOTFOUND, "no tool has the provider \"%s\"", provider);
}

int wt__view_list(wt_engine *engine, const wt_list_options *options, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(view_tools_dispose) struct view_tools tools = {.count = 0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    struct str provider = wt__str(options->provider), pattern = wt__str(options->pattern);
    size_t listed = 0, seen = 0, of_provider = 0;
    WT_TRY(read_view_tools(&tools, engine, err));
    struct tool *list = wt__arena_array(&tools.arena, struct tool, tools.count + 1);
    WT_CHECK_ALLOC(list, err);
    for (size_t i = 0; i < tools.count; i++) {
        const struct tool *tool = &tools.items[i];
        bool wanted = tool->name.len > 0 && (!options->provider || wt__str_equal(tool->provider, provider));
        of_provider += wanted;
        if (!wanted || !fits_list_pattern(pattern, tool, &id))
            continue;
        if (seen++ >= options->offset && (options->limit == 0 || listed < options->limit))
            list[listed++] = *tool;
    }
    if (id.failed)
        return wt__fail_nomem(err);
    if (options->provider && of_provider == 0 && tools.count > 0)
        return fail_unknown_provider(&tools, options->provider, err);
    return wt__tool_list_of(list, listed, out, err);
}

/* ---------------------------------------------------------------- names */

/* True if the tool has the id. */
static bool has_tool_id(const struct tool *tool, struct str id)
{
    struct str provider = tool->provider, name = tool->name;
    if (provider.len == 0)
        return wt__str_equal(id, name);
    return id.len == provider.len + 1 + name.len && memcmp(id.ptr, provider.ptr, provider.len) == 0 &&
           id.ptr[provider.len] == '/' && memcmp(id.ptr + provider.len + 1, name.ptr, name.len) == 0;
}

/* The ways to name a tool, in the order in which they are tried (tools.c). */
enum name_way { BY_EXPORT_NAME, BY_ID, BY_NAME, BY_SOURCE_ID, NAME_WAYS };

static bool is_named(const struct tool *tool, enum name_way way, struct str name)
{
    if (tool->name.len == 0 || name.len == 0)
        return false;
    switch (way) {
    case BY_EXPORT_NAME:
        return wt__str_equal(tool->export_name, name);
    case BY_ID:
        return has_tool_id(tool, name);
    case BY_NAME:
        return wt__str_equal(tool->name, name);
    default:
        return wt__str_equal(tool->source_id, name);
    }
}

static int fail_ambiguous(const struct view_tools *tools, enum name_way way, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    size_t shown = 0;
    for (size_t i = 0; i < tools->count; i++) {
        if (!is_named(&tools->items[i], way, wt__str(name)))
            continue;
        wt__buffer_text(&message, shown == AMBIGUOUS_SHOWN ? ", ..." : shown > 0 ? ", " : "");
        if (shown++ == AMBIGUOUS_SHOWN)
            break;
        wt__tool_id(&message, tools->items[i].provider, tools->items[i].name);
    }
    return wt__fail(err, WT_EINVAL, "several tools are named \"%s\" (%s); use provider/name", name,
                    message.ptr && !message.failed ? message.ptr : "");
}

/* Fails because no tool of the view has the name. Suggests the nearest id or name. */
static int fail_unknown_tool(const struct view_tools *tools, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    struct nearest by_id, by_name;
    wt__nearest_begin(&by_id, wt__str(name));
    wt__nearest_begin(&by_name, wt__str(name));
    for (size_t i = 0; i < tools->count; i++) {
        wt__buffer_clear(&id);
        wt__tool_id(&id, tools->items[i].provider, tools->items[i].name);
        wt__nearest_show(&by_id, wt__buffer_view(&id));
        wt__nearest_show(&by_name, tools->items[i].name);
    }
    const char *best = by_id.best[0] && by_id.edits <= by_name.edits ? by_id.best : by_name.best;
    return best[0] ? wt__fail(err, WT_ENOTFOUND, "no tool is named \"%s\"; did you mean \"%s\"?", name, best)
                   : wt__fail(err, WT_ENOTFOUND, "no tool is named \"%s\"", name);
}

/* Resolves a name as wt_get does. Returns 0 and the index of the tool. */
static int resolve_view_tool(const struct view_tools *tools, const char *name, size_t *out, wt_error *err)
{
    if (!name)
        return wt__fail(err, WT_EINVAL, "no tool given; give a name or an id");
    for (enum name_way way = 0; way < NAME_WAYS; way++) {
        size_t found = 0;
        for (size_t i = 0; i < tools->count; i++) {
            if (!is_named(&tools->items[i], way, wt__str(name)))
                continue;
            if (found++ == 0)
                *out = i;
        }
        if (found > 1 && way >= BY_NAME)
            return fail_ambiguous(tools, way, name, err);
        if (found > 0)
            return 0;
    }
    return fail_unknown_tool(tools, name, err);
}

int wt__view_get(wt_engine *engine, const char *name, wt_tools **out, wt_error *err)
{
    WT_CLEANUP(view_tools_dispose) struct view_tools tools = {.count = 0};
    size_t at = 0;
    WT_TRY(read_view_tools(&tools, engine, err));
    WT_TRY(resolve_view_tool(&tools, name, &at, err));
    return wt__tool_list_of(&tools.items[at], 1, out, err);
}

int wt__view_resolve(wt_engine *engine, const char *name, int64_t *id, wt_error *err)
{
    WT_CLEANUP(view_tools_dispose) struct view_tools tools = {.count = 0};
    size_t at = 0;
    WT_TRY(read_view_tools(&tools, engine, err));
    WT_TRY(resolve_view_tool(&tools, name, &at, err));
    *id = tools.index->snapshot->keys[at].id;
    return 0;
}

/* ---------------------------------------------------------------- counts */

static size_t count_providers(const struct snapshot *snapshot)
{
    WT_AUTO_FREE uint32_t *numbers = wt__alloc_array(snapshot->rows, sizeof *numbers);
    for (uint32_t row = 0; numbers && row < snapshot->rows; row++)
        numbers[row] = snapshot->keys[row].provider;
    return numbers ? wt__sort_unique_u32(numbers, snapshot->rows) : 0;
}

int wt__view_count(wt_engine *engine, const struct encoder *encoder, wt_catalog_info *info, wt_error *err)
{
    struct index_handle *index = NULL;
    wt_error why;
    int rc = engine->view->index(engine, NULL, NULL, &index, &why);
    if (rc < 0)
        return rc == WT_EEMPTY ? 0 : wt__fail_same(err, &why);
    const struct snapshot *snapshot = index->snapshot;
    info->generation = index->moment.generation;
    info->tools = snapshot->rows;
    info->providers = count_providers(snapshot);
    if (encoder) {
        struct vector_set set = wt__engine_vectors(encoder, engine);
        info->embedded =
            snapshot->rows - wt__index_without_vector(index, &(struct index_set){set.model_hash, set.kind});
    }
    wt__index_release(index);
    return 0;
}
