/* view.c: opens views, and keeps the pool and the indexes of views current (view.h). */
#include "engine/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/bundles.h"
#include "engine/filter.h"
#include "retrieve/document.h"

enum { POOL_ATTEMPTS = 5 /* builds of the first pool while the catalogue changes */ };

/* ---------------------------------------------------------------- base */

struct view_base {
    wt_engine *shared;
    struct store_image empty;      /* content of the stores of views */
    pthread_mutex_t build_lock;    /* one build of a pool at a time; guards `collection` */
    struct collection *collection; /* inputs of the pool, for the next build; NULL before the first */
    uint64_t serial;               /* number of pools built; guarded by build_lock */
    pthread_mutex_t lock;          /* guards `pool`; never held during I/O */
    struct row_pool *pool;         /* pool of the newest index; NULL before the first use */
};

int wt__view_base_open(struct view_base **out, wt_engine *shared, wt_error *err)
{
    *out = wt__alloc_zeros(1, sizeof **out);
    WT_CHECK_ALLOC(*out, err);
    (*out)->shared = shared;
    pthread_mutex_init(&(*out)->build_lock, NULL);
    pthread_mutex_init(&(*out)->lock, NULL);
    int rc = wt__store_image_make(&(*out)->empty, err);
    if (rc < 0) {
        wt__view_base_close(*out);
        *out = NULL;
    }
    return rc;
}

void wt__view_base_close(struct view_base *base)
{
    if (!base)
        return;
    wt__row_pool_release(base->pool);
    wt__collection_free(base->collection);
    wt__store_image_dispose(&base->empty);
    pthread_mutex_destroy(&base->lock);
    pthread_mutex_destroy(&base->build_lock);
    free(base);
}

wt_engine *wt__view_base_shared(const struct view_base *base)
{
    return base->shared;
}

/* Returns the pool of this index with a reference, or NULL if the current pool is that of another index. */
static struct row_pool *hold_pool_of(struct view_base *base, const struct index_handle *index)
{
    pthread_mutex_lock(&base->lock);
    struct row_pool *pool = base->pool && base->pool->index == index ? wt__row_pool_hold(base->pool) : NULL;
    pthread_mutex_unlock(&base->lock);
    return pool;
}

static void replace_pool(struct view_base *base, struct row_pool *pool)
{
    pthread_mutex_lock(&base->lock);
    struct row_pool *old = base->pool;
    base->pool = wt__row_pool_hold(pool);
    pthread_mutex_unlock(&base->lock);
    wt__row_pool_release(old);
}

/* Returns the current pool with a reference, or NULL before the first one. */
static struct row_pool *hold_current_pool(struct view_base *base)
{
    pthread_mutex_lock(&base->lock);
    struct row_pool *pool = wt__row_pool_hold(base->pool);
    pthread_mutex_unlock(&base->lock);
    return pool;
}

/* Returns the pool of the index with a reference, built if needed. */
static int open_pool_of(struct view_base *base, struct index_handle *index, struct row_pool **out, wt_error *err)
{
    int rc = 0;
    *out = hold_pool_of(base, index);
    if (*out)
        return 0;
    pthread_mutex_lock(&base->build_lock);
    *out = hold_pool_of(base, index); /* another thread may have built it meanwhile */
    if (!*out)
        rc = wt__row_pool_build(out, base->shared, index, &base->collection, err);
    if (rc == 0 && (*out)->serial == 0) {
        (*out)->serial = ++base->serial;
        replace_pool(base, *out);
    }
    pthread_mutex_unlock(&base->build_lock);
    return rc;
}

int wt__view_base_pool(struct view_base *base, struct progress *progress, const struct index_set *want,
                       struct row_pool **out, wt_error *err)
{
    struct index_handle *index = NULL;
    wt_error why;
    *out = NULL;
    WT_TRY(wt__engine_index(base->shared, progress, want, NULL, &index, err));
    int rc = open_pool_of(base, index, out, &why);
    /* During an import, the store is newer than the index. Queries then use what there is, as those of the shared
     * engine do. */
    if (rc == WT_EBUSY && (*out = hold_current_pool(base)))
        rc = 0;
    for (unsigned attempt = 0; rc == WT_EBUSY && attempt < POOL_ATTEMPTS; attempt++) {
        wt__index_release(index);
        WT_TRY(wt__engine_newest_index(base->shared, &index, err));
        rc = open_pool_of(base, index, out, &why);
    }
    wt__index_release(index);
    return rc < 0 ? wt__fail_same(err, &why) : 0;
}

/* Forgets the pool, whose index is damaged. */
static void drop_pool(struct view_base *base)
{
    pthread_mutex_lock(&base->lock);
    struct row_pool *old = WT_TAKE(base->pool);
    pthread_mutex_unlock(&base->lock);
    wt__row_pool_release(old);
}

/* ---------------------------------------------------------------- index of a view */

/* Lists the rows of the bits, ascending. */
static size_t list_rows(const uint64_t *bits, size_t rows, uint32_t *out)
{
    size_t count = 0;
    for (size_t word = 0; word < (rows + 63) / 64; word++)
        for (uint64_t left = bits[word]; left; left &= left - 1)
            out[count++] = (uint32_t)(word * 64 + (size_t)__builtin_ctzll(left));
    return count;
}

int wt__view_rows(view_select select, void *context, const struct row_pool *pool, uint32_t **rows, size_t *count,
                  wt_error *err)
{
    size_t all = pool->index->snapshot->rows;
    WT_AUTO_FREE uint64_t *bits = wt__alloc_zeros(all / 64 + 1, sizeof *bits);
    WT_CHECK_ALLOC(bits, err);
    WT_TRY(select(context, pool, bits, err));
    size_t selected = 0;
    for (size_t word = 0; word < (all + 63) / 64; word++)
        selected += (size_t)__builtin_popcountll(bits[word]);
    *rows = wt__alloc_array(selected, sizeof **rows);
    WT_CHECK_ALLOC(*rows, err);
    *count = list_rows(bits, all, *rows);
    return 0;
}

static void free_collection_parts(struct collection **collection)
{
    wt__collection_free(*collection);
}

/* Builds the snapshot of the rows. Its vectors are those of the shared index. *bytes: memory of the snapshot. */
static int build_view_snapshot(const struct row_pool *pool, const uint32_t *rows, size_t count, struct snapshot **out,
                               size_t *bytes, wt_error *err)
{
    WT_CLEANUP(free_collection_parts) struct collection *collection = wt__alloc_zeros(1, sizeof *collection);
    WT_CHECK_ALLOC(collection, err);
    WT_TRY(wt__collect_pool_rows(collection, pool, rows, count, err));
    const struct snapshot_content content = wt__collection_content(collection, pool->index->moment.state);
    WT_TRY(wt__snapshot_build(out, NULL, &content, err));
    *bytes = sizeof **out + content.lexical_len + count * (sizeof *content.keys + sizeof *content.words.ends) +
             content.names.count * 3 * sizeof *content.names.entries + /* a third of it are the marks */
             content.words.count * sizeof *content.words.tokens +
             count * pool->index->snapshot->set_count * sizeof(uint32_t);
    int rc = wt__snapshot_share_vectors(*out, pool->index->snapshot, wt__document_kind, rows, err);
    if (rc < 0) {
        wt__snapshot_free(*out);
        *out = NULL;
    }
    return rc;
}

/* Builds the index of a view over a pool, with one reference for the engine and one for the caller. */
static int build_view_index(wt_engine *engine, struct row_pool *pool, struct index_handle **out, wt_error *err)
{
    WT_AUTO_FREE uint32_t *rows = NULL;
    size_t count = 0, bytes = 0;
    WT_AUTO_FREE struct index_handle *fresh = wt__alloc_zeros(1, sizeof *fresh);
    WT_CHECK_ALLOC(fresh, err);
    const struct engine_view_options *options = &wt__view_data(engine)->options;
    WT_TRY(wt__view_rows(options->select, options->context, pool, &rows, &count, err));
    WT_TRY(build_view_snapshot(pool, rows, count, &fresh->snapshot, &bytes, err));
    fresh->moment = pool->index->moment;
    fresh->pool = wt__row_pool_hold(pool);
    fresh->release_pool = wt__row_pool_release;
    for (size_t i = 0; i < SNAPSHOT_MAX_SETS; i++)
        atomic_init(&fresh->without_vector[i], INDEX_UNCOUNTED);
    atomic_init(&fresh->references, 2);
    pthread_mutex_lock(&engine->lock);
    wt__view_data(engine)->bytes = bytes + sizeof *fresh;
    pthread_mutex_unlock(&engine->lock);
    *out = WT_TAKE(fresh);
    return 0;
}

/* Returns the current index with a reference if it is one of this pool, else NULL. */
static struct index_handle *hold_view_index(wt_engine *engine, const struct row_pool *pool)
{
    pthread_mutex_lock(&engine->lock);
    struct index_handle *index = engine->index && engine->index->pool == pool ? engine->index : NULL;
    if (index)
        atomic_fetch_add(&index->references, 1);
    pthread_mutex_unlock(&engine->lock);
    return index;
}

static int refresh_view_index(wt_engine *engine, struct row_pool *pool, struct progress *progress,
                              struct index_handle **out, wt_error *err)
{
    WT_TRY(wt__engine_lock_build(engine, progress, err));
    int rc = 0;
    *out = hold_view_index(engine, pool);
    if (!*out)
        rc = build_view_index(engine, pool, out, err);
    else
        rc = 1; /* another thread has built it meanwhile */
    if (rc == 0)
        wt__engine_replace_index(engine, *out);
    pthread_mutex_unlock(&engine->build_lock);
    return rc < 0 ? rc : 0;
}

/* Works like wt__engine_index for a view. */
static int open_view_index(wt_engine *engine, struct progress *progress, const struct index_set *want,
                           struct index_handle **out, wt_error *err)
{
    struct row_pool *pool = NULL;
    *out = NULL;
    WT_TRY(wt__view_base_pool(wt__view_data(engine)->base, progress, want, &pool, err));
    int rc = 0;
    *out = hold_view_index(engine, pool);
    if (!*out)
        rc = refresh_view_index(engine, pool, progress, out, err);
    wt__row_pool_release(pool);
    if (rc < 0 || (*out)->snapshot->rows > 0)
        return rc;
    wt__index_release(*out);
    *out = NULL;
    return wt__fail(err, WT_EEMPTY, "%s has no tools", wt__view_data(engine)->options.name);
}

/* Works like wt__engine_discard_index for a view: the damaged vectors are those of the shared engine. */
static void discard_view_index(wt_engine *engine, struct index_handle *index)
{
    wt__engine_discard_index(wt__view_data(engine)->base->shared, index->pool->index);
    drop_pool(wt__view_data(engine)->base);
}

/* ---------------------------------------------------------------- engine of a view */

static bool copy_view_string(char **out, const char *text)
{
    *out = wt__copy_string(text, strlen(text));
    return *out != NULL;
}

/* Takes over the models and settings of the shared engine. A view has no folders of its own. */
static int init_view_engine(wt_engine *engine, const struct view_base *base, wt_error *err)
{
    bool whole = copy_view_string(&engine->path, ":memory:") && copy_view_string(&engine->location, ":memory:") &&
                 copy_view_string(&engine->base, "") && copy_view_string(&engine->index_folder, "") &&
                 copy_view_string(&engine->trained_folder, "");
    WT_CHECK_ALLOC(whole, err);
    WT_TRY(wt__engine_borrow_models(engine, base->shared, err));
    engine->read_only = true;
    engine->busy_ms = base->shared->busy_ms;
    return wt__store_open_image(&engine->store, &base->empty, err);
}

/* Implements engine_view.close. */
static void free_view_data(struct engine_view *public)
{
    struct engine_view_data *view = (struct engine_view_data *)public;
    if (view->options.release)
        view->options.release(view->options.context);
    free((void *)view->options.name);
    free(view);
}

static int open_engine_view(wt_engine *engine, struct view_base *base, const struct engine_view_options *options,
                            wt_error *err)
{
    struct engine_view_data *view = wt__alloc_zeros(1, sizeof *view);
    const char *name = wt__copy_string(options->name, strlen(options->name));
    if (!view || !name) {
        free(view);
        free((void *)name);
        return wt__fail_nomem(err);
    }
    view->public = (struct engine_view){.index = open_view_index,
                                        .discard_index = discard_view_index,
                                        .list = wt__view_list,
                                        .get = wt__view_get,
                                        .resolve = wt__view_resolve,
                                        .count = wt__view_count,
                                        .close = free_view_data};
    view->base = base;
    view->options = *options;
    view->options.name = name;
    engine->view = &view->public;
    return 0;
}

int wt__view_engine_open(wt_engine **out, struct view_base *base, const struct engine_view_options *options,
                         wt_error *err)
{
    wt_engine *engine = wt__alloc_zeros(1, sizeof *engine);
    *out = NULL;
    int rc = engine ? open_engine_view(engine, base, options, err) : wt__fail_nomem(err);
    if (rc < 0) {
        free(engine);
        if (options->release)
            options->release(options->context);
        return rc;
    }
    wt__engine_init_locks(engine);
    rc = init_view_engine(engine, base, err);
    if (rc < 0)
        wt_close(engine);
    else
        *out = engine;
    return rc;
}

uint64_t wt__view_engine_serial(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    uint64_t serial = engine->index ? engine->index->pool->serial : 0;
    pthread_mutex_unlock(&engine->lock);
    return serial;
}

void *wt__view_engine_context(const wt_engine *engine)
{
    return engine->view ? wt__view_data(engine)->options.context : NULL;
}

void wt__view_engine_forget(wt_engine *engine)
{
    wt__engine_drop_index(engine);
    pthread_mutex_lock(&engine->lock);
    wt__view_data(engine)->bytes = 0;
    pthread_mutex_unlock(&engine->lock);
}

size_t wt__view_engine_bytes(wt_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    size_t bytes = wt__view_data(engine)->bytes;
    pthread_mutex_unlock(&engine->lock);
    return bytes;
}
