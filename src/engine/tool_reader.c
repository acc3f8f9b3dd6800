#include "engine/tool_reader.h"

static int read_rows(void *context, const uint32_t *rows, size_t count, struct arena *arena, struct tool *out,
                     wt_error *err)
{
    const struct store_tools *tools = context;
    int64_t *ids = wt__arena_array(arena, int64_t, count);
    if (!ids)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        ids[i] = tools->index->snapshot->keys[rows[i]].id;
    int rc = wt__index_tools(tools->engine, tools->index, ids, count, arena, out, err);
    return rc < 0 ? rc : 0;
}

static int rows_of_provider(void *context, struct str provider, size_t most, struct arena *arena, uint32_t **rows,
                            size_t *count, wt_error *err)
{
    const struct store_tools *tools = context;
    size_t listed = 0;
    int64_t *ids;
    *count = 0;
    const struct snapshot *snapshot = tools->index->snapshot;
    int rc = wt__index_provider(tools->engine, tools->index, &provider, most, arena, &ids, &listed, err);
    if (rc < 0)
        return rc;
    *rows = wt__arena_array(arena, uint32_t, listed);
    if (!*rows)
        return wt__fail_nomem(err);
    for (size_t i = 0; i < listed; i++) {
        size_t row = wt__snapshot_row(snapshot, ids[i]);
        if (row < snapshot->rows) /* or it came after the snapshot */
            (*rows)[(*count)++] = (uint32_t)row;
    }
    return 0;
}

struct tool_reader wt__store_reader(struct store_tools *tools)
{
    return (struct tool_reader){tools, read_rows, rows_of_provider};
}
