/* new_tools.c: new tools of a snapshot, as rows. */
#include "engine/new_tools.h"

#include <stdlib.h>

#include "store/review.h"

struct new_tool {
    uint32_t row;
    int64_t until;
    atomic_bool called;
};

struct new_tools {
    size_t count;
    struct new_tool items[]; /* [count] ascending by row */
};

enum { DAY_SECONDS = 24 * 60 * 60, NEW_SECONDS = WT_NEW_TOOL_DAYS * DAY_SECONDS };

static int order_new_tools(const void *one, const void *other)
{
    uint32_t a = ((const struct new_tool *)one)->row, b = ((const struct new_tool *)other)->row;
    return (a > b) - (a < b);
}

static int list_new_tools(wt_engine *engine, struct arena *arena, struct stored_new_tool **list, size_t *count,
                          wt_error *err)
{
    struct store *reader;
    int rc = wt__engine_reader(engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_new_tools(reader, arena, list, count, err);
    wt__engine_return_reader(engine, reader);
    return rc;
}

int wt__new_tools_read(struct new_tools **out, wt_engine *engine, const struct snapshot *snapshot, wt_error *err)
{
    struct arena arena = {0};
    struct stored_new_tool *list;
    size_t count = 0;
    *out = NULL;
    int rc = list_new_tools(engine, &arena, &list, &count, err);
    struct new_tools *tools = rc == 0 && count > 0 ? calloc(1, sizeof *tools + count * sizeof *tools->items) : NULL;
    if (rc == 0 && count > 0 && !tools)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; tools && i < count; i++) {
        size_t row = wt__snapshot_row(snapshot, list[i].tool);
        if (row >= snapshot->rows)
            continue;
        struct new_tool *item = &tools->items[tools->count++];
        item->row = (uint32_t)row;
        item->until = list[i].since + NEW_SECONDS;
        atomic_init(&item->called, false);
    }
    if (tools)
        qsort(tools->items, tools->count, sizeof *tools->items, order_new_tools);
    *out = tools;
    wt__arena_dispose(&arena);
    return rc;
}

void wt__new_tools_free(struct new_tools *tools)
{
    free(tools);
}

static const struct new_tool *find_new_tool(const struct new_tools *tools, uint32_t row)
{
    const struct new_tool wanted = {.row = row};
    return bsearch(&wanted, tools->items, tools->count, sizeof wanted, order_new_tools);
}

static bool is_still_new(const struct new_tool *tool, int64_t now)
{
    return tool && now < tool->until && !atomic_load(&tool->called);
}

size_t wt__new_tools_count(const struct new_tools *tools, int64_t now)
{
    size_t count = 0;
    for (size_t i = 0; tools && i < tools->count; i++)
        count += is_still_new(&tools->items[i], now);
    return count;
}

/* True if a new tool of the same provider is among the first `count` hits. */
static bool has_earlier_new_tool(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                                 const struct hit *hits, size_t count, uint32_t row)
{
    for (size_t i = 0; i < count; i++)
        if (keys[hits[i].row].provider == keys[row].provider && is_still_new(find_new_tool(tools, hits[i].row), now))
            return true;
    return false;
}

void wt__new_tools_limit(const struct new_tools *tools, int64_t now, const struct snapshot_key *keys,
                         struct hit_list *hits)
{
    size_t kept = 0, named = 0;
    for (size_t i = 0; i < hits->len; i++) {
        uint32_t row = hits->items[i].row;
        if (is_still_new(find_new_tool(tools, row), now) &&
            has_earlier_new_tool(tools, now, keys, hits->items, kept, row))
            continue;
        named += i < hits->named;
        hits->items[kept++] = hits->items[i];
    }
    hits->len = kept;
    hits->named = named;
}

void wt__new_tools_called(wt_engine *engine, const struct usage *usages, size_t count)
{
    pthread_mutex_lock(&engine->lock);
    struct index_handle *index = engine->index;
    for (size_t i = 0; index && index->new_tools && i < count; i++)
        for (size_t t = 0; t < usages[i].tool_count; t++) {
            size_t row = wt__snapshot_row(index->snapshot, usages[i].tools[t].tool);
            const struct new_tool *tool =
                row < index->snapshot->rows ? find_new_tool(index->new_tools, (uint32_t)row) : NULL;
            if (tool)
                atomic_store(&index->new_tools->items[tool - index->new_tools->items].called, true);
        }
    pthread_mutex_unlock(&engine->lock);
}
