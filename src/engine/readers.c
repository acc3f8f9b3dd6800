/* readers.c: reads the store for queries, and pools read connections and workspaces.
 *
 * A query reads through its own connection, so that it does not wait for the transaction of an import. It would still
 * wait for the commit, which takes several fsyncs, and for the lock of SQLite's allocator. While this engine imports,
 * the tools of the current index are therefore kept in memory (docs/decisions/0011-queries-never-wait.md).
 *
 * Other tools are cached as queries read them. Reading the five tools of a find from the store locks the file twice and
 * takes a fifth of the time of the find. Most finds return tools that earlier finds returned. The cache lives as long
 * as the index, whose content never changes. No tool is evicted; when the cache is full (INDEX_KEPT_BYTES), other tools
 * are read each time. Invariant: a cached tool is complete before its pointer is stored and never changes afterwards,
 * so readers need no lock. */
#include "engine/internal.h"

#include <stdlib.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/memory.h"
#include "engine/row_pool.h"
#include "store/store.h"

/* ---------------------------------------------------------------- pools */

struct pool_slot {
    void *item;
    struct pool_slot *next;
};

void *wt__pool_take(struct pool *pool, pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    struct pool_slot *slot = pool->free;
    if (slot)
        pool->free = slot->next;
    pthread_mutex_unlock(lock);
    void *item = slot ? slot->item : NULL;
    free(slot);
    return item;
}

bool wt__pool_give(struct pool *pool, pthread_mutex_t *lock, void *item)
{
    struct pool_slot *slot = malloc(sizeof *slot);
    if (!slot)
        return false;
    slot->item = item;
    pthread_mutex_lock(lock);
    slot->next = pool->free;
    pool->free = slot;
    pthread_mutex_unlock(lock);
    return true;
}

int wt__engine_workspace(wt_engine *engine, struct workspace **out, wt_error *err)
{
    engine = wt__model_owner(engine);
    *out = wt__pool_take(&engine->free_workspaces, &engine->lock);
    return *out ? 0 : wt__workspace_open(out, err);
}

void wt__engine_return_workspace(wt_engine *engine, struct workspace *workspace)
{
    engine = wt__model_owner(engine);
    if (workspace && !wt__pool_give(&engine->free_workspaces, &engine->lock, workspace))
        wt__workspace_close(workspace);
}

/* ---------------------------------------------------------------- connections */

int wt__engine_reader(wt_engine *engine, struct store **out, wt_error *err)
{
    if (wt__store_private(engine->store)) { /* a private store has only one connection */
        pthread_mutex_lock(&engine->store_lock);
        *out = engine->store;
        return 0;
    }
    *out = wt__pool_take(&engine->free_readers, &engine->lock);
    return *out ? 0 : wt__store_open_reader(out, engine->store, err);
}

void wt__engine_return_reader(wt_engine *engine, struct store *reader)
{
    if (reader == engine->store)
        pthread_mutex_unlock(&engine->store_lock);
    else if (!wt__store_idle(reader) || !wt__pool_give(&engine->free_readers, &engine->lock, reader))
        wt__store_close(reader);
}

int wt__open_reader(struct engine_reader *reader, wt_engine *engine, wt_error *err)
{
    WT_TRY(wt__engine_reader(engine, &reader->store, err));
    reader->engine = engine;
    return 0;
}

void wt__close_reader(struct engine_reader *reader)
{
    if (!reader->engine)
        return;
    wt__store_read_end(reader->store);
    wt__store_set_wait(reader->store, reader->engine->busy_ms);
    wt__engine_return_reader(reader->engine, reader->store);
}

/* Checks only that the folder of trained models exists. Does not open the models, because not every query needs
 * them. */
int wt__moment_read(wt_engine *engine, struct store *store, struct moment *out, wt_error *err)
{
    struct usage_info info;
    *out = (struct moment){0};
    int rc = wt__store_usage_info(store, &info, err);
    out->generation = out->state = info.catalogue;
    if (rc == 0)
        atomic_store(&engine->usages, info.usages);
    if (rc < 0 || !engine->trained_folder[0] || !wt__is_folder(engine->trained_folder))
        return rc;
    const uint64_t both[] = {out->generation, info.sums_generation};
    out->sums = info.sums_generation;
    out->state = wt__checksum(both, sizeof both, 0);
    return 0;
}

/* ---------------------------------------------------------------- tools in memory */

enum {
    SLICE = 1024,   /* tools read by one statement */
    SLICE_FULL = 1, /* result of a visit that ends the slice */
    TOO_MUCH = 2    /* the tools cannot all be kept */
};

/* Strings shared by several lists of kept tools. The build of the next index adds its new strings. All strings, used or
 * not, are freed with the last list. */
struct kept_texts {
    atomic_uint holders; /* number of lists that use the strings */
    struct arena arena;
    size_t bytes;
};

struct kept_tools {
    atomic_uint holders; /* references to the list */
    struct kept_texts *texts;
    struct tool *tools; /* in row order of the index */
    size_t count, capacity;
};

struct kept_tools *wt__kept_tools_new(const struct kept_tools *like)
{
    struct kept_tools *kept = calloc(1, sizeof *kept);
    struct kept_texts *texts = like ? like->texts : calloc(1, sizeof *texts);
    if (!kept || !texts) {
        free(kept);
        if (!like)
            free(texts);
        return NULL;
    }
    atomic_init(&kept->holders, 1);
    atomic_fetch_add(&texts->holders, 1);
    kept->texts = texts;
    return kept;
}

struct kept_tools *wt__kept_tools_hold(struct kept_tools *kept)
{
    if (kept)
        atomic_fetch_add(&kept->holders, 1);
    return kept;
}

void wt__kept_tools_free(struct kept_tools *kept)
{
    if (!kept || atomic_fetch_sub(&kept->holders, 1) > 1)
        return;
    if (atomic_fetch_sub(&kept->texts->holders, 1) == 1) {
        wt__arena_dispose(&kept->texts->arena);
        free(kept->texts);
    }
    free(kept->tools);
    free(kept);
}

static bool append_kept_tool(struct kept_tools *kept, const struct tool *tool)
{
    struct kept_texts *texts = kept->texts;
    texts->bytes += sizeof *tool + tool->definition.len + tool->schema.len + tool->description.len;
    if (texts->bytes > INDEX_KEPT_BYTES ||
        wt__grow((void **)&kept->tools, &kept->capacity, kept->count + 1, sizeof *kept->tools) < 0)
        return false;
    kept->tools[kept->count] = *tool;
    return wt__store_copy_tool(&kept->tools[kept->count++], &texts->arena, NULL) == 0;
}

void wt__kept_tools_add(struct kept_tools **kept, const struct tool *tool)
{
    if (!*kept || append_kept_tool(*kept, tool))
        return;
    wt__kept_tools_free(*kept);
    *kept = NULL;
}

const struct tool *wt__kept_tool(const struct kept_tools *kept, size_t row)
{
    return &kept->tools[row];
}

void wt__kept_tools_copy(struct kept_tools **kept, const struct kept_tools *from, size_t row)
{
    struct kept_tools *to = *kept;
    if (!to)
        return;
    if (wt__grow((void **)&to->tools, &to->capacity, to->count + 1, sizeof *to->tools) == 0) {
        to->tools[to->count++] = from->tools[row];
        return;
    }
    wt__kept_tools_free(to);
    *kept = NULL;
}

static int keep_read_tool(void *context, const struct store_key *key, const struct tool *tool)
{
    struct kept_tools **kept = context;
    (void)key;
    wt__kept_tools_add(kept, tool);
    return !*kept ? TOO_MUCH : (*kept)->count % SLICE == 0 ? SLICE_FULL : 0;
}

static int read_kept_tools(wt_engine *engine, const struct index_handle *index, struct kept_tools **kept, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    const struct snapshot *snapshot = index->snapshot;
    struct moment now;
    int rc;
    WT_TRY(wt__open_reader(&reader, engine, err));
    do
        rc = wt__store_each(reader.store, (*kept)->count > 0 ? snapshot->keys[(*kept)->count - 1].id : 0,
                            keep_read_tool, kept, err);
    while (rc == SLICE_FULL && (*kept)->count <= snapshot->rows);
    WT_TRY(rc);
    WT_TRY(wt__moment_read(engine, reader.store, &now, err));
    return now.state == index->moment.state && (*kept)->count == snapshot->rows ? 0 : TOO_MUCH;
}

struct kept_tools *wt__kept_tools_read(wt_engine *engine, const struct index_handle *index)
{
    struct kept_tools *kept = wt__kept_tools_new(NULL);
    if (!kept || read_kept_tools(engine, index, &kept, NULL) == 0)
        return kept;
    wt__kept_tools_free(kept);
    return NULL;
}

static const struct kept_tools *current_kept_tools(wt_engine *engine, const struct index_handle *index)
{
    pthread_mutex_lock(&engine->lock);
    const struct kept_tools *kept = index->kept;
    pthread_mutex_unlock(&engine->lock);
    return kept;
}

/* ---------------------------------------------------------------- cache of tools */

struct tool_cache {
    pthread_mutex_t lock; /* held while adding */
    struct arena arena;
    size_t bytes, count;
    struct tool *_Atomic tools[]; /* [count] */
};

struct tool_cache *wt__tool_cache_new(size_t rows)
{
    struct tool_cache *cache = calloc(1, sizeof *cache + rows * sizeof *cache->tools);
    if (!cache)
        return NULL;
    cache->count = rows;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void wt__tool_cache_free(struct tool_cache *cache)
{
    if (!cache)
        return;
    pthread_mutex_destroy(&cache->lock);
    wt__arena_dispose(&cache->arena);
    free(cache);
}

/* Returns the cached tool of a row, valid as long as the index, or NULL. */
static const struct tool *get_cached_tool(const struct tool_cache *cache, size_t row)
{
    return cache && row < cache->count ? atomic_load_explicit(&cache->tools[row], memory_order_acquire) : NULL;
}

/* Caches a copy of a tool, unless the row is cached already or the cache is full. */
static void cache_read_tool(struct tool_cache *cache, size_t row, const struct tool *tool)
{
    if (!cache || row >= cache->count || tool->name.len == 0)
        return;
    size_t bytes = sizeof *tool + tool->definition.len + tool->schema.len + tool->description.len;
    pthread_mutex_lock(&cache->lock);
    if (!atomic_load(&cache->tools[row]) && bytes <= INDEX_KEPT_BYTES - cache->bytes) {
        struct tool *copy = wt__arena_array(&cache->arena, struct tool, 1);
        if (copy) {
            *copy = *tool;
            cache->bytes += bytes;
            if (wt__store_copy_tool(copy, &cache->arena, NULL) == 0)
                atomic_store_explicit(&cache->tools[row], copy, memory_order_release);
        }
    }
    pthread_mutex_unlock(&cache->lock);
}

/* ---------------------------------------------------------------- reads of a query */

static void get_kept_tools(const struct kept_tools *kept, const struct index_handle *index, const int64_t *ids,
                           size_t count, struct tool *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t row = wt__snapshot_row(index->snapshot, ids[i]);
        out[i] = row < kept->count ? kept->tools[row] : (struct tool){0};
    }
}

/* Copies the tools from the cache. Returns false unless all are cached. */
static bool get_cached_tools(const struct index_handle *index, const int64_t *ids, size_t count, struct tool *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct tool *cached = get_cached_tool(index->tool_cache, wt__snapshot_row(index->snapshot, ids[i]));
        if (!cached)
            return false;
        out[i] = *cached;
    }
    return true;
}

/* Reads tools from the store and caches them. If a commit locks the store, uses the kept tools instead, which an import
 * may have loaded meanwhile. */
static int read_index_tools(wt_engine *engine, const struct index_handle *index, const int64_t *ids, size_t count,
                            struct arena *arena, struct tool *out, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    WT_TRY(wt__open_reader(&reader, engine, err));
    wt__store_set_wait(reader.store, 0);
    int rc = wt__store_get(reader.store, ids, count, arena, out, err);
    if (rc == WT_EBUSY) {
        const struct kept_tools *kept = current_kept_tools(engine, index);
        if (kept) {
            get_kept_tools(kept, index, ids, count, out);
            return 0;
        }
        wt__store_set_wait(reader.store, engine->busy_ms);
        rc = wt__store_get(reader.store, ids, count, arena, out, err);
    }
    for (size_t i = 0; rc >= 0 && i < count; i++)
        cache_read_tool(index->tool_cache, wt__snapshot_row(index->snapshot, ids[i]), &out[i]);
    return rc < 0 ? rc : 0;
}

int wt__index_tools(wt_engine *engine, const struct index_handle *index, const int64_t *ids, size_t count,
                    struct arena *arena, struct tool *out, wt_error *err)
{
    if (index->pool) /* ids of a view are those of the shared catalogue */
        return wt__index_tools(index->pool->shared, index->pool->index, ids, count, arena, out, err);
    const struct kept_tools *kept = current_kept_tools(engine, index);
    bool has = kept || get_cached_tools(index, ids, count, out);
    atomic_fetch_add_explicit(has ? &engine->tool_hits : &engine->tool_misses, 1, memory_order_relaxed);
    if (!has)
        return read_index_tools(engine, index, ids, count, arena, out, err);
    if (kept)
        get_kept_tools(kept, index, ids, count, out);
    return 0;
}

static int list_kept_provider(const struct kept_tools *kept, const struct index_handle *index, struct str provider,
                              size_t limit, struct arena *arena, int64_t **ids, size_t *count, wt_error *err)
{
    *count = 0;
    *ids = wt__arena_array(arena, int64_t, kept->count);
    WT_CHECK_ALLOC(*ids, err);
    for (size_t row = 0; row < kept->count && (limit == 0 || *count < limit); row++)
        if (wt__str_equal(kept->tools[row].provider, provider))
            (*ids)[(*count)++] = index->snapshot->keys[row].id;
    return 0;
}

/* Returns the row in the pool of a row of a view. */
static uint32_t find_pool_row(const struct index_handle *index, uint32_t row)
{
    return (uint32_t)wt__snapshot_row(index->pool->index->snapshot, index->snapshot->keys[row].id);
}

static int list_view_provider(const struct index_handle *index, struct str provider, size_t limit, struct arena *arena,
                              int64_t **ids, size_t *count, wt_error *err)
{
    const struct snapshot *snapshot = index->snapshot;
    *count = 0;
    *ids = wt__arena_array(arena, int64_t, snapshot->rows);
    WT_CHECK_ALLOC(*ids, err);
    for (uint32_t row = 0; row < snapshot->rows && (limit == 0 || *count < limit); row++)
        if (wt__str_equal(wt__row_pool_provider(index->pool, find_pool_row(index, row)), provider))
            (*ids)[(*count)++] = snapshot->keys[row].id;
    return 0;
}

int wt__index_provider(wt_engine *engine, const struct index_handle *index, const struct str *provider, size_t limit,
                       struct arena *arena, int64_t **ids, size_t *count, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    const struct kept_tools *kept = current_kept_tools(engine, index);
    if (index->pool)
        return list_view_provider(index, *provider, limit, arena, ids, count, err);
    if (kept)
        return list_kept_provider(kept, index, *provider, limit, arena, ids, count, err);
    WT_TRY(wt__open_reader(&reader, engine, err));
    return wt__store_list(reader.store, provider, limit, 0, arena, ids, count, err);
}

int wt__index_each_name(wt_engine *engine, const struct index_handle *index, store_name_visit visit, void *context,
                        wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    const struct kept_tools *kept = current_kept_tools(engine, index);
    const struct snapshot_key *keys = index->snapshot->keys;
    for (uint32_t row = 0; index->pool && row < index->snapshot->rows; row++)
        WT_TRY(visit(context, keys[row].id, keys[row].provider, index->pool->tool_names[find_pool_row(index, row)]));
    for (size_t row = 0; kept && row < kept->count; row++)
        WT_TRY(visit(context, keys[row].id, keys[row].provider, kept->tools[row].name));
    if (kept || index->pool)
        return 0;
    WT_TRY(wt__open_reader(&reader, engine, err));
    return wt__store_each_name(reader.store, STR(""), 0, visit, context, err);
}

int wt__index_each_provider(wt_engine *engine, const struct index_handle *index, store_provider_visit visit,
                            void *context, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    const struct kept_tools *kept = current_kept_tools(engine, index);
    const struct snapshot_key *keys = index->snapshot->keys;
    for (uint32_t row = 0; index->pool && row < index->snapshot->rows; row++)
        if (row == 0 || keys[row].provider != keys[row - 1].provider)
            WT_TRY(visit(context, keys[row].provider, wt__row_pool_provider(index->pool, find_pool_row(index, row))));
    for (size_t row = 0; kept && row < kept->count; row++)
        if (row == 0 || keys[row].provider != keys[row - 1].provider)
            WT_TRY(visit(context, keys[row].provider, kept->tools[row].provider));
    if (kept || index->pool)
        return 0;
    WT_TRY(wt__open_reader(&reader, engine, err));
    return wt__store_each_provider(reader.store, visit, context, err);
}
