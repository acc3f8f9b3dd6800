/* tool_cache.c: reading the five tools of a find from the store locks its file twice and takes a fifth of the time, and
 * most finds return tools that were returned before. Each tool is therefore copied once and kept with the index, whose
 * content never changes. The cache is not evicted; when it is full (INDEX_KEPT_BYTES), other tools are read from the
 * store each time.
 *
 * Invariant: a tool is complete before its pointer is stored and never changes afterwards. Readers therefore need no
 * lock. */
#include "engine/met_tools.h"

#include <stdlib.h>

#include "store/store.h"
#include "engine/engine.h"

struct tool_cache {
    pthread_mutex_t lock; /* held while adding */
    struct arena arena;
    size_t bytes, count;
    struct tool *_Atomic tools[]; /* [count] */
};

struct tool_cache *wt__tool_cache_new(size_t rows)
{
    struct tool_cache *met = calloc(1, sizeof *met + rows * sizeof *met->tools);
    if (!met)
        return NULL;
    met->count = rows;
    pthread_mutex_init(&met->lock, NULL);
    return met;
}

void wt__tool_cache_free(struct tool_cache *met)
{
    if (!met)
        return;
    pthread_mutex_destroy(&met->lock);
    wt__arena_dispose(&met->arena);
    free(met);
}

const struct tool *wt__tool_cache_get(const struct tool_cache *met, size_t row)
{
    return met && row < met->count ? atomic_load_explicit(&met->tools[row], memory_order_acquire) : NULL;
}

void wt__tool_cache_add(struct tool_cache *met, size_t row, const struct tool *tool)
{
    if (!met || row >= met->count || tool->name.len == 0)
        return;
    size_t bytes = sizeof *tool + tool->definition.len + tool->schema.len + tool->description.len;
    pthread_mutex_lock(&met->lock);
    if (!atomic_load(&met->tools[row]) && bytes <= INDEX_KEPT_BYTES - met->bytes) {
        struct tool *copy = wt__arena_array(&met->arena, struct tool, 1);
        if (copy) {
            *copy = *tool;
            met->bytes += bytes;
            if (wt__store_copy_tool(copy, &met->arena, NULL) == 0)
                atomic_store_explicit(&met->tools[row], copy, memory_order_release);
        }
    }
    pthread_mutex_unlock(&met->lock);
}
