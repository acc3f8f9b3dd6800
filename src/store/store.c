/* store.c: opens, updates, checks and closes a store. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/rows.h"
#include "store/location.h"

/* ---------------------------------------------------------------- versions */

static int read_version(struct store *store, size_t newest, int64_t *version, wt_error *err)
{
    WT_TRY(store->driver->read_version(store, version, err));
    if (*version < 0 || *version > (int64_t)newest)
        return wt__fail(err, WT_ENEWER,
                        "%s was written by a newer whichtool (store version %lld; this one knows up to %zu)",
                        store->path, (long long)*version, newest);
    return 0;
}

static int apply_migrations(struct store *store, const struct migration *list, size_t count, wt_error *err)
{
    int64_t version;
    WT_TRY(read_version(store, count, &version, err)); /* Read it again: another process may have updated the store. */
    if (version == (int64_t)count)
        return 0;
    for (size_t at = (size_t)version; at < count; at++) {
        if (list[at].sql)
            WT_TRY(wt__sql_exec(store, list[at].sql, err));
        if (list[at].finish)
            WT_TRY(list[at].finish(store, err));
    }
    return store->driver->write_version(store, (int64_t)count, err);
}

int wt__store_migrate(struct store *store, const struct migration *list, size_t count, wt_error *err)
{
    int64_t version = 0;
    store->version = 0; /* the transactions below must not compare it */
    /* Read the version in a transaction, because another process may be creating the store. */
    int rc = wt__store_read_begin(store, err);
    if (rc == 0)
        rc = read_version(store, count, &version, err);
    wt__store_read_end(store);
    WT_TRY(rc);
    if (version < (int64_t)count && store->read_only)
        return wt__fail(
            err, WT_EREADONLY,
            "%s was written by an older whichtool (store version %lld) and cannot be updated, because it is open for "
            "reading only",
            store->path, (long long)version);
    if (version < (int64_t)count) {
        WT_TRY(wt__sql_begin(store, err));
        WT_TRY(wt__sql_end(store, apply_migrations(store, list, count, err), err));
    }
    store->version = (int64_t)count;
    return 0;
}

/* ---------------------------------------------------------------- opening and closing */

static void close_unfinished_store(struct store **store)
{
    wt__store_close(*store);
}

/* Sets store->replica_of if the store is a replica. */
static int find_writer(struct store *store, wt_error *err)
{
    struct replica_state state;
    int rc = wt__replica_state_read(store, &state, err);
    if (rc <= 0)
        return rc;
    store->replica_of = wt__copy_string(state.writer, strlen(state.writer));
    return store->replica_of ? 0 : wt__fail_nomem(err);
}

int wt__store_open(struct store **out, const char *path, const struct store_options *options, wt_error *err)
{
    WT_CLEANUP(close_unfinished_store) struct store *store = NULL;
    *out = NULL;
    if (!path || !*path)
        return wt__fail(err, WT_EINVAL, "the path of the store is empty");
    store = wt__alloc_zeros(1, sizeof *store);
    WT_CHECK_ALLOC(store, err);
    bool remote = wt__is_store_url(path);
    store->driver = remote ? &wt__postgres_driver : &wt__sqlite_driver;
    store->read_only = options && options->read_only;
    store->busy_ms = options && options->busy_ms ? options->busy_ms : STORE_BUSY_MS;
    store->progress = options ? options->progress : NULL;
    WT_TRY(wt__store_shown(&store->path, path, err));
    store->url = remote ? wt__copy_string(path, strlen(path)) : NULL;
    WT_CHECK_ALLOC(store->url || !remote, err);
    WT_TRY(store->driver->connect(store, err));
    WT_TRY(wt__store_migrate(store, store->driver->migrations, store->driver->migration_count, err));
    if (!options || !options->as_replica)
        WT_TRY(find_writer(store, err));
    *out = WT_TAKE(store);
    return 0;
}

int wt__store_limit(struct store *store, uint64_t bytes, wt_error *err)
{
    store->most_bytes = bytes;
    return store->driver->limit ? store->driver->limit(store, bytes, err) : 0;
}

bool wt__store_private(const struct store *store)
{
    return store->driver->is_private(store);
}

bool wt__store_idle(const struct store *store)
{
    return store->driver->is_idle(store);
}

int wt__store_open_reader(struct store **out, const struct store *of, wt_error *err)
{
    WT_CLEANUP(close_unfinished_store) struct store *store = NULL;
    *out = NULL;
    if (wt__store_private(of))
        return wt__fail(err, WT_EINVAL, "%s is a private store with only one connection", of->path);
    store = wt__alloc_zeros(1, sizeof *store);
    WT_CHECK_ALLOC(store, err);
    store->driver = of->driver;
    store->path = wt__copy_string(of->path, strlen(of->path));
    store->url = of->url ? wt__copy_string(of->url, strlen(of->url)) : NULL;
    WT_CHECK_ALLOC(store->path && (store->url || !of->url), err);
    store->read_only = of->read_only;
    store->busy_ms = of->busy_ms;
    store->version = of->version; // each read transaction compares it with the file
    WT_TRY(store->driver->connect_reader(store, of, err));
    *out = WT_TAKE(store);
    return 0;
}

void wt__store_set_wait(struct store *store, unsigned busy_ms)
{
    store->busy_ms = busy_ms;
}

void wt__store_close(struct store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->prepared_count; i++)
        store->driver->finalize(store->prepared[i]);
    store->driver->disconnect(store);
    free(store->replica_of);
    free(store->path);
    free(store->url);
    free(store);
}

bool wt__store_read_only(const struct store *store)
{
    return store->read_only || store->replica_of;
}

const char *wt__store_replica_of(const struct store *store)
{
    return store->replica_of;
}

uint64_t wt__store_size(struct store *store)
{
    return store->driver->size(store);
}

int wt__store_check(struct store *store, wt_error *err)
{
    WT_TRY(store->driver->check(store, err));
    return wt__usage_check_calls(store, err);
}

/* ---------------------------------------------------------------- empty stores */

int wt__store_image_make(struct store_image *out, wt_error *err)
{
    WT_CLEANUP(close_unfinished_store) struct store *store = NULL;
    *out = (struct store_image){0};
    WT_TRY(wt__store_open(&store, ":memory:", NULL, err));
    return store->driver->save_image(store, out, err);
}

int wt__store_open_image(struct store **out, const struct store_image *image, wt_error *err)
{
    WT_CLEANUP(close_unfinished_store) struct store *store = wt__alloc_zeros(1, sizeof *store);
    *out = NULL;
    WT_CHECK_ALLOC(store, err);
    store->driver = &wt__sqlite_driver;
    store->busy_ms = STORE_BUSY_MS;
    store->path = wt__copy_string(":memory:", strlen(":memory:"));
    WT_CHECK_ALLOC(store->path, err);
    WT_TRY(store->driver->connect(store, err));
    WT_TRY(store->driver->load_image(store, image, err));
    store->version = (int64_t)store->driver->migration_count;
    store->read_only = true;
    *out = WT_TAKE(store);
    return 0;
}
