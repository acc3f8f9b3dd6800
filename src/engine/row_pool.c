/* row_pool.c: builds the pool of a shared catalogue (row_pool.h). */
#include "engine/row_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/names.h"

/* ---------------------------------------------------------------- names of tools */

struct pool_builder {
    struct row_pool *pool;
    size_t provider_capacity;
    struct buffer id;
    wt_error *err;
};

static int add_pool_provider(void *context, int64_t number, struct str name)
{
    struct pool_builder *b = context;
    struct row_pool *pool = b->pool;
    if (wt__grow((void **)&pool->providers, &b->provider_capacity, pool->provider_count + 1, sizeof *pool->providers) <
        0)
        return wt__fail_nomem(b->err);
    const char *copy = wt__arena_copy(&pool->arena, name);
    WT_CHECK_ALLOC(copy, b->err);
    pool->providers[pool->provider_count++] = (struct pool_provider){(uint32_t)number, {copy, name.len}};
    return 0;
}

/* The visit may show tools that were added after the index was built. They have no row. */
static int add_pool_name(void *context, int64_t id, int64_t provider, struct str name)
{
    struct pool_builder *b = context;
    struct row_pool *pool = b->pool;
    size_t row = wt__snapshot_row(pool->index->snapshot, id);
    (void)provider;
    if (row >= pool->index->snapshot->rows)
        return 0;
    wt__buffer_clear(&b->id);
    wt__tool_id(&b->id, wt__row_pool_provider(pool, (uint32_t)row), name);
    const struct str whole = wt__buffer_view(&b->id);
    const char *copy = b->id.failed ? NULL : wt__arena_copy(&pool->arena, whole);
    WT_CHECK_ALLOC(copy, b->err);
    pool->tool_names[row] = (struct str){copy + (whole.len - name.len), name.len};
    pool->ids[row] = (struct str){copy, whole.len};
    bool added = false;
    uint32_t *first = wt__map_insert(&pool->by_id, pool->ids[row], (uint32_t)row, &added);
    WT_CHECK_ALLOC(first, b->err);
    if (!added) {
        pool->same_id[row] = pool->same_id[*first];
        pool->same_id[*first] = (uint32_t)row;
    }
    return 0;
}

/* Sorts the providers, which may have been visited more than once, and indexes them by name. */
static int index_pool_providers(struct row_pool *pool, wt_error *err)
{
    size_t kept = 0;
    if (pool->provider_count > 0)
        qsort(pool->providers, pool->provider_count, sizeof *pool->providers, wt__compare_pool_providers);
    for (size_t i = 0; i < pool->provider_count; i++)
        if (kept == 0 || pool->providers[kept - 1].number != pool->providers[i].number)
            pool->providers[kept++] = pool->providers[i];
    pool->provider_count = kept;
    for (size_t i = 0; i < kept; i++)
        WT_CHECK_ALLOC(wt__map_insert(&pool->by_provider, pool->providers[i].name, (uint32_t)i, NULL), err);
    return 0;
}

/* Groups the rows by provider, with a counting sort. */
static int group_providers(struct row_pool *pool, wt_error *err)
{
    WT_AUTO_FREE uint32_t *next = wt__alloc_zeros(pool->provider_count + 1, sizeof *next);
    pool->provider_rows = wt__alloc_array((size_t)pool->rows + 1, sizeof *pool->provider_rows);
    pool->provider_ends = wt__alloc_zeros(pool->provider_count + 1, sizeof *pool->provider_ends);
    WT_CHECK_ALLOC(next && pool->provider_rows && pool->provider_ends, err);
    for (uint32_t row = 0; row < pool->rows; row++) {
        const struct pool_provider *provider = wt__row_pool_find_row_provider(pool, row);
        if (provider)
            pool->provider_ends[provider - pool->providers]++;
    }
    for (size_t i = 1; i < pool->provider_count; i++) {
        pool->provider_ends[i] += pool->provider_ends[i - 1];
        next[i] = pool->provider_ends[i - 1];
    }
    for (uint32_t row = 0; row < pool->rows; row++) {
        const struct pool_provider *provider = wt__row_pool_find_row_provider(pool, row);
        if (provider)
            pool->provider_rows[next[provider - pool->providers]++] = row;
    }
    return 0;
}

static int read_pool_names(struct row_pool *pool, wt_error *err)
{
    struct pool_builder b = {.pool = pool, .err = err};
    pool->tool_names = wt__alloc_zeros((size_t)pool->rows + 1, sizeof *pool->tool_names);
    pool->ids = wt__alloc_zeros((size_t)pool->rows + 1, sizeof *pool->ids);
    pool->same_id = wt__alloc_array((size_t)pool->rows + 1, sizeof *pool->same_id);
    WT_CHECK_ALLOC(pool->tool_names && pool->ids && pool->same_id, err);
    for (uint32_t row = 0; row < pool->rows; row++)
        pool->same_id[row] = pool->rows;
    WT_TRY(wt__index_each_provider(pool->shared, pool->index, add_pool_provider, &b, err));
    WT_TRY(index_pool_providers(pool, err));
    int rc = wt__index_each_name(pool->shared, pool->index, add_pool_name, &b, err);
    wt__buffer_dispose(&b.id);
    return rc < 0 ? rc : group_providers(pool, err);
}

/* ---------------------------------------------------------------- parts of a collection */

/* Groups the entries of the names by row. The order within a row stays. */
static int group_names(struct row_pool *pool, const struct names_builder *names, size_t rows, wt_error *err)
{
    WT_AUTO_FREE uint32_t *next = wt__alloc_zeros(rows + 1, sizeof *next);
    pool->names = wt__alloc_array(names->count + 1, sizeof *pool->names);
    pool->name_ends = wt__alloc_zeros(rows + 1, sizeof *pool->name_ends);
    WT_CHECK_ALLOC(next && pool->names && pool->name_ends, err);
    for (size_t i = 0; i < names->count; i++)
        pool->name_ends[wt__name_row(names->entries[i])]++;
    for (size_t row = 1; row < rows; row++) {
        pool->name_ends[row] += pool->name_ends[row - 1];
        next[row] = pool->name_ends[row - 1];
    }
    for (size_t i = 0; i < names->count; i++)
        pool->names[next[wt__name_row(names->entries[i])]++] = names->entries[i];
    return 0;
}

static int take_collection(struct row_pool *pool, const struct collection *collection, wt_error *err)
{
    size_t rows = collection->rows;
    WT_TRY(wt__lexical_forward_new(&pool->words, collection->builder, err));
    WT_TRY(group_names(pool, &collection->names, rows, err));
    pool->name_words = wt__alloc_array(rows + 1, sizeof *pool->name_words);
    pool->copy_hashes = wt__alloc_array(rows + 1, sizeof *pool->copy_hashes);
    WT_CHECK_ALLOC(pool->name_words && pool->copy_hashes, err);
    for (size_t row = 0; row < rows; row++) {
        pool->name_words[row] = collection->read[row].name_words;
        pool->copy_hashes[row] = collection->copy_hashes[row];
    }
    pool->bytes = sizeof *pool + wt__lexical_forward_bytes(pool->words) +
                  collection->names.count * sizeof *pool->names +
                  rows * (sizeof *pool->name_ends + sizeof *pool->name_words + sizeof *pool->copy_hashes);
    return 0;
}

/* True if the collection has the same tools as the index. A writer may have committed since the index was built. */
static bool matches_index(const struct collection *collection, const struct index_handle *index)
{
    const struct snapshot *snapshot = index->snapshot;
    if (collection->rows != snapshot->rows || collection->moment.generation != index->moment.generation)
        return false;
    for (size_t row = 0; row < collection->rows; row++)
        if (collection->keys[row].id != snapshot->keys[row].id)
            return false;
    return true;
}

static void free_collection(struct collection **collection)
{
    wt__collection_free(*collection);
}

/* Collects the tools of the store, reusing the collection *known, and replaces it. */
static int collect_pool(struct row_pool *pool, struct collection **known, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    WT_CLEANUP(free_collection) struct collection *before = WT_TAKE(*known);
    WT_CLEANUP(free_collection) struct collection *collection = wt__alloc_zeros(1, sizeof *collection);
    struct moment now;
    WT_CHECK_ALLOC(collection, err);
    if (before && !before->kept) {
        wt__collection_free(before);
        before = NULL;
    }
    WT_TRY(wt__open_reader(&reader, pool->shared, err));
    collection->engine = pool->shared;
    collection->store = reader.store;
    collection->kept = wt__kept_tools_new(before ? before->kept : NULL);
    int rc = wt__collect(collection, before, err);
    wt__names_builder_finish(&collection->names);
    pool->provider_names = collection->providers;
    collection->providers = (struct name_counts){.len = 0};
    wt__collection_trim(collection);
    WT_TRY(rc);
    WT_TRY(wt__moment_read(pool->shared, reader.store, &now, err));
    *known = WT_TAKE(collection);
    if (!matches_index(*known, pool->index) || now.generation != (*known)->moment.generation)
        return wt__fail(err, WT_EBUSY, "the shared catalogue keeps changing; try again");
    return take_collection(pool, *known, err);
}

static void release_pool(struct row_pool **pool)
{
    wt__row_pool_release(*pool);
}

int wt__row_pool_build(struct row_pool **out, wt_engine *shared, struct index_handle *index, struct collection **known,
                       wt_error *err)
{
    WT_CLEANUP(release_pool) struct row_pool *pool = wt__alloc_zeros(1, sizeof *pool);
    *out = NULL;
    WT_CHECK_ALLOC(pool, err);
    atomic_init(&pool->references, 1);
    atomic_fetch_add(&index->references, 1);
    pool->shared = shared;
    pool->index = index;
    pool->rows = index->snapshot->rows;
    WT_TRY(collect_pool(pool, known, err));
    WT_TRY(read_pool_names(pool, err));
    *out = WT_TAKE(pool);
    return 0;
}

struct row_pool *wt__row_pool_hold(struct row_pool *pool)
{
    if (pool)
        atomic_fetch_add(&pool->references, 1);
    return pool;
}

void wt__row_pool_release(struct row_pool *pool)
{
    if (!pool || atomic_fetch_sub(&pool->references, 1) > 1)
        return;
    wt__lexical_forward_free(pool->words);
    free(pool->names);
    free(pool->name_ends);
    free(pool->name_words);
    free(pool->copy_hashes);
    wt__name_counts_dispose(&pool->provider_names);
    free(pool->tool_names);
    free(pool->ids);
    free(pool->same_id);
    free(pool->providers);
    free(pool->provider_rows);
    free(pool->provider_ends);
    wt__map_dispose(&pool->by_id);
    wt__map_dispose(&pool->by_provider);
    wt__arena_dispose(&pool->arena);
    wt__index_release(pool->index);
    free(pool);
}
