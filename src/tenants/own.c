/* own.c: opens the store of a tenant, and copies shared tools into it (own.h).
 *
 * A copy that did not change keeps its row, its usages and its vectors. No transaction of the shared store is open
 * while the tenant's store is written, because writers of the shared store would wait for it. So a tool that changes
 * meanwhile may get the vector of its newer text. The next copying, which the change causes, replaces both. */
#include "tenants/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "store/driver.h"
#include "store/location.h"

enum {
    VECTORS_AT_ONCE = 256, /* vectors copied by one transaction */
    OWN_REQUEST_CACHE = 64 /* recent requests whose vectors an engine keeps */
};

/* ---------------------------------------------------------------- opening */

int wt__own_store_open(wt_engine **out, wt_engine *shared, const char *folder, struct str tenant, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    wt_open_options options;
    char *location;
    *out = NULL;
    if (wt__store_replica_of(shared->store))
        return wt__fail_replica(err, wt__store_replica_of(shared->store));
    WT_TRY(wt__store_of_tenant(&location, &arena, shared->location, folder, tenant, err));
    if (!wt__is_store_url(location))
        WT_TRY(wt__make_folders(folder, err));
    wt_open_options_init(&options);
    options.model = "";
    options.busy_ms = shared->busy_ms;
    options.request_cache = OWN_REQUEST_CACHE;
    WT_TRY(wt_open(out, location, &options, err));
    int rc = wt__store_limit((*out)->store, OWN_BYTES_MAX, err);
    if (rc == 0)
        rc = wt__engine_borrow_models(*out, shared, err);
    if (rc < 0) {
        wt_close(*out);
        *out = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- copying */

/* The tools to copy. */
struct shared_tools {
    struct arena arena;
    struct store *store; /* connection to the shared store */
    struct tool *tools;  /* [count] */
    int64_t *ids;        /* [count] in the shared store */
    int64_t *own_ids;    /* [count] in the tenant's store, once imported */
    size_t count;
};

static void dispose_shared_tools(struct shared_tools *shared)
{
    wt__arena_dispose(&shared->arena);
}

/* Reads the tools of the rows. Leaves out those that were removed meanwhile. */
static int read_shared_tools(struct shared_tools *shared, const struct row_pool *pool, const uint32_t *rows,
                             size_t count, wt_error *err)
{
    shared->tools = wt__arena_array(&shared->arena, struct tool, count);
    shared->ids = wt__arena_array(&shared->arena, int64_t, count);
    shared->own_ids = wt__arena_array(&shared->arena, int64_t, count);
    WT_CHECK_ALLOC(shared->tools && shared->ids && shared->own_ids, err);
    for (size_t i = 0; i < count; i++)
        shared->ids[i] = pool->index->snapshot->keys[rows[i]].id;
    int found = count > 0 ? wt__store_get(shared->store, shared->ids, count, &shared->arena, shared->tools, err) : 0;
    if (found < 0)
        return found;
    for (size_t i = 0; i < count; i++) {
        if (shared->tools[i].name.len == 0)
            continue;
        shared->tools[shared->count] = shared->tools[i];
        shared->ids[shared->count++] = shared->ids[i];
    }
    return 0;
}

static int import_shared_tools(struct shared_tools *shared, wt_engine *own, struct progress *progress, wt_error *err)
{
    struct store_changes changes;
    const struct store_import_options options = {
        .source = STR(STORE_COPIED_SOURCE), .copied = true, .sync = true, .ids = shared->own_ids, .progress = progress};
    pthread_mutex_lock(&own->store_lock);
    int rc = wt__store_import(own->store, shared->tools, shared->count, &options, &changes, err);
    pthread_mutex_unlock(&own->store_lock);
    return rc;
}

/* A copied tool, by its id in the tenant's store. */
struct copied_tool {
    int64_t own, shared;
};

static int compare_copied_tools(const void *a, const void *b)
{
    const struct copied_tool *x = a, *y = b;
    return (x->own > y->own) - (x->own < y->own);
}

static struct copied_tool *list_copied_tools(struct shared_tools *shared)
{
    struct copied_tool *copied = wt__arena_array(&shared->arena, struct copied_tool, shared->count);
    for (size_t i = 0; copied && i < shared->count; i++)
        copied[i] = (struct copied_tool){shared->own_ids[i], shared->ids[i]};
    if (copied && shared->count > 0)
        qsort(copied, shared->count, sizeof *copied, compare_copied_tools);
    return copied;
}

/* Vectors of one transaction. */
struct copied_vectors {
    struct store_key keys[VECTORS_AT_ONCE];
    int64_t ids[VECTORS_AT_ONCE]; /* in the shared store */
    bool there[VECTORS_AT_ONCE];
    float *vectors; /* [VECTORS_AT_ONCE, D] */
    size_t count;
};

/* Keeps the keys of copied tools. */
static void find_shared_ids(struct copied_vectors *batch, const struct copied_tool *copied, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct copied_tool key = {batch->keys[i].id, 0};
        const struct copied_tool *tool = bsearch(&key, copied, count, sizeof key, compare_copied_tools);
        if (!tool)
            continue;
        batch->keys[kept] = batch->keys[i];
        batch->ids[kept++] = tool->shared;
    }
    batch->count = kept;
}

/* Stores the vectors that the shared store has. */
static int store_copied_vectors(struct copied_vectors *batch, const struct shared_tools *shared, wt_engine *own,
                                const struct vector_set *set, wt_error *err)
{
    size_t kept = 0;
    int64_t rc = wt__store_get_vectors(shared->store, set, batch->ids, batch->count, batch->vectors, batch->there, err);
    for (size_t i = 0; rc > 0 && i < batch->count; i++) {
        if (!batch->there[i])
            continue;
        memmove(batch->vectors + kept * set->dim, batch->vectors + i * set->dim, set->dim * sizeof *batch->vectors);
        batch->keys[kept++] = batch->keys[i];
    }
    if (rc <= 0)
        return (int)rc;
    pthread_mutex_lock(&own->store_lock);
    rc = wt__store_put_vectors(own->store, set, batch->keys, batch->vectors, kept, err);
    pthread_mutex_unlock(&own->store_lock);
    return rc < 0 ? (int)rc : 0;
}

/* Copies the missing vectors of one encoder. */
static int copy_vectors_of(const struct encoder *encoder, struct shared_tools *shared, wt_engine *own,
                           const struct copied_tool *copied, wt_error *err)
{
    const struct vector_set set = wt__engine_vectors(encoder, own);
    WT_AUTO_FREE struct copied_vectors *batch = wt__alloc_zeros(1, sizeof *batch);
    WT_AUTO_FREE float *vectors = wt__alloc_array((size_t)VECTORS_AT_ONCE * set.dim, sizeof *vectors);
    int64_t last = 0;
    WT_CHECK_ALLOC(batch && vectors, err);
    batch->vectors = vectors;
    for (;;) {
        pthread_mutex_lock(&own->store_lock);
        int found = wt__store_missing_vectors(own->store, &set, last, batch->keys, VECTORS_AT_ONCE, err);
        pthread_mutex_unlock(&own->store_lock);
        if (found <= 0)
            return found;
        last = batch->keys[found - 1].id;
        batch->count = (size_t)found;
        find_shared_ids(batch, copied, shared->count);
        if (batch->count > 0)
            WT_TRY(store_copied_vectors(batch, shared, own, &set, err));
    }
}

/* Copies the vectors of the encoder and of its fallback. Without a model there are none. */
static int copy_shared_vectors(struct shared_tools *shared, wt_engine *own, wt_error *err)
{
    const struct copied_tool *copied = list_copied_tools(shared);
    const struct encoder *encoder = NULL, *fallback = NULL;
    WT_CHECK_ALLOC(copied, err);
    int rc = wt__engine_encoder(own, &encoder, err);
    if (rc < 0 && rc != WT_EMODEL)
        return rc;
    WT_TRY(wt__engine_fallback_encoder(own, NULL, &fallback, err));
    if (encoder)
        WT_TRY(copy_vectors_of(encoder, shared, own, copied, err));
    return fallback ? copy_vectors_of(fallback, shared, own, copied, err) : 0;
}

/* Sets the limit of the tenant's store, and *before to the one of before. Copies have OWN_COPIES_MAX instead:
 * otherwise a full store could not be opened after a change of the shared catalogue, not even to remove tools. */
static int set_own_limit(wt_engine *own, uint64_t bytes, uint64_t *before, wt_error *err)
{
    pthread_mutex_lock(&own->store_lock);
    if (before)
        *before = own->store->most_bytes;
    int rc = wt__store_limit(own->store, bytes, err);
    pthread_mutex_unlock(&own->store_lock);
    return rc;
}

int wt__own_store_copy(wt_engine *own, wt_engine *shared_engine, const struct row_pool *pool, const uint32_t *rows,
                       size_t count, struct progress *progress, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    WT_CLEANUP(dispose_shared_tools) struct shared_tools shared = {0};
    uint64_t limit;
    if (count > OWN_COPIES_MAX)
        return wt__fail(err, WT_ETOOLONG,
                        "a tenant with a store of its own can see at most %d shared tools, and this one sees %zu",
                        OWN_COPIES_MAX, count);
    WT_TRY(wt__open_reader(&reader, shared_engine, err));
    shared.store = reader.store;
    WT_TRY(read_shared_tools(&shared, pool, rows, count, err));
    WT_TRY(set_own_limit(own, 0, &limit, err));
    int rc = import_shared_tools(&shared, own, progress, err);
    if (rc == 0)
        rc = copy_shared_vectors(&shared, own, err);
    int restored = set_own_limit(own, limit, NULL, rc == 0 ? err : NULL);
    wt__engine_changed(own);
    return rc < 0 ? rc : restored;
}
