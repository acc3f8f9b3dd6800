/* sql.c: statements and transactions. */
#include "store/internal.h"

#include <time.h>

#include "base/clock.h"
#include "base/memory.h"

enum { WAIT_SHORT_MS = 1, WAIT_LONG_MS = 10, WAIT_SHORT_COUNT = 10 };

/* ---------------------------------------------------------------- statements */

int wt__sql_exec(struct store *store, const char *sql, wt_error *err)
{
    return store->driver->exec(store, sql, err);
}

static int prepare_statement(struct store *store, const char *sql, struct sql_statement **out, wt_error *err)
{
    for (size_t i = 0; i < store->prepared_count; i++) {
        if (store->prepared[i]->sql == sql) {
            *out = store->prepared[i];
            wt__sql_reset(*out);
            return 0;
        }
    }
    if (store->prepared_count == STORE_STATEMENTS_MAX)
        return wt__fail(err, WT_ESTORE, "%s: too many statements", store->path);
    WT_TRY(store->driver->prepare(store, sql, out, err));
    (*out)->driver = store->driver;
    (*out)->sql = sql;
    store->prepared[store->prepared_count++] = *out;
    return 0;
}

int wt__sql_open(struct store *store, const char *sql, const struct sql_value *values, struct sql_statement **out,
                 wt_error *err)
{
    *out = NULL;
    WT_TRY(prepare_statement(store, sql, out, err));
    return store->driver->start(store, *out, values, err);
}

int wt__sql_step(struct store *store, struct sql_statement *statement, wt_error *err)
{
    int rc = store->driver->step(store, statement, err);
    if (rc != 1)
        wt__sql_reset(statement);
    return rc;
}

void wt__sql_reset(struct sql_statement *statement)
{
    if (statement)
        statement->driver->reset(statement);
}

void wt__sql_close(struct sql_statement **statement)
{
    wt__sql_reset(*statement);
}

struct str wt__sql_column(struct sql_statement *statement, int at)
{
    return statement->driver->bytes(statement, at);
}

int64_t wt__sql_integer(struct sql_statement *statement, int at)
{
    return statement->driver->integer(statement, at);
}

struct str wt__sql_copy(struct sql_statement *statement, int at, struct arena *arena)
{
    struct str view = wt__sql_column(statement, at);
    return (struct str){wt__arena_copy(arena, view), view.len};
}

int wt__sql_run(struct store *store, const char *sql, const struct sql_value *values, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *statement = NULL;
    WT_TRY(wt__sql_open(store, sql, values, &statement, err));
    return wt__sql_step(store, statement, err);
}

int wt__sql_find(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, wt_error *err)
{
    return wt__sql_integers(store, sql, values, out, 1, err);
}

int wt__sql_insert(struct store *store, const char *sql, const struct sql_value *values, int64_t *id, wt_error *err)
{
    int rc = wt__sql_find(store, sql, values, id, err);
    return rc < 0 ? rc : 0;
}

int64_t wt__sql_changes(struct store *store)
{
    return store->driver->changes(store);
}

int wt__sql_integers(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, size_t max,
                     wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    size_t count = 0;
    int rc = wt__sql_open(store, sql, values, &rows, err);
    while (rc >= 0 && count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        out[count++] = wt__sql_integer(rows, 0);
    return rc < 0 ? rc : (int)count;
}

int wt__sql_number(struct store *store, const char *sql, int64_t *out, wt_error *err)
{
    *out = 0;
    int rc = wt__sql_find(store, sql, NULL, out, err);
    return rc < 0 ? rc : 0;
}

int wt__sql_list(struct store *store, const char *sql, const struct sql_value *values, sql_read_row read, size_t size,
                 struct arena *arena, void **out, size_t *count, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    WT_AUTO_FREE char *items = NULL;
    size_t found = 0, capacity = 0;
    int rc;
    *out = NULL;
    *count = 0;
    WT_TRY(wt__sql_open(store, sql, values, &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1)
        if (wt__grow((void **)&items, &capacity, found + 1, size) < 0 || read(rows, arena, items + found++ * size) < 0)
            return wt__fail_nomem(err);
    WT_TRY(rc);
    *out = wt__arena_calloc(arena, found, size, _Alignof(max_align_t));
    WT_CHECK_ALLOC(*out, err);
    if (found > 0)
        memcpy(*out, items, found * size);
    *count = found;
    return 0;
}

static int read_integer_row(struct sql_statement *row, struct arena *arena, void *item)
{
    (void)arena;
    *(int64_t *)item = wt__sql_integer(row, 0);
    return 0;
}

int wt__sql_list_integers(struct store *store, const char *sql, const struct sql_value *values, struct arena *arena,
                          int64_t **out, size_t *count, wt_error *err)
{
    return wt__sql_list(store, sql, values, read_integer_row, sizeof **out, arena, (void **)out, count, err);
}

/* ---------------------------------------------------------------- waiting for a lock */

bool wt__store_wait(struct store *store, int count)
{
    double now = wt__now_ms();
    if (count == 0) {
        store->wait_began_ms = now;
        store->wait_reported = store->wait_cancelled = false;
    }
    double waited = now - store->wait_began_ms;
    if (waited >= store->busy_ms)
        return false;
    if (store->wait_reported)
        store->wait_cancelled = wt__progress_step(store->progress, 1) != 0;
    else if (waited >= STORE_NOTICE_MS) {
        store->wait_reported = true;
        store->wait_cancelled = wt__progress_phase(store->progress, STORE_WAITING, 0) != 0;
    }
    if (store->wait_cancelled)
        return false;
    long pause = count < WAIT_SHORT_COUNT ? WAIT_SHORT_MS : WAIT_LONG_MS;
    nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
    return true;
}

int wt__store_fail_wait(struct store *store, wt_error *err)
{
    if (store->wait_cancelled)
        return wt__fail_cancelled(err);
    return wt__fail(err, WT_EBUSY, "%s: another process kept the store locked for more than %.1f seconds", store->path,
                    store->busy_ms / 1000.0);
}

/* ---------------------------------------------------------------- transactions */

/* Fails if the version of the tables has changed since the store was opened, because this process would read and write
 * the tables wrongly. Rolls back the transaction on failure. */
static int check_store_version(struct store *store, wt_error *err)
{
    int64_t version = store->version;
    int rc = version > 0 ? store->driver->read_version(store, &version, err) : 0;
    if (rc == 0 && version > store->version)
        rc =
            wt__fail(err, WT_ENEWER,
                     "%s was updated by a newer whichtool while this one ran (store version %lld; this one uses %lld): "
                     "end this process and start it again with the newer whichtool",
                     store->path, (long long)version, (long long)store->version);
    else if (rc == 0 && version < store->version)
        rc = wt__fail(
            err, WT_ESTORE,
            "%s was replaced by an older store while this process ran (store version %lld; it was %lld): start "
            "this process again",
            store->path, (long long)version, (long long)store->version);
    if (rc < 0)
        store->driver->rollback(store);
    return rc;
}

int wt__fail_replica(wt_error *err, const char *writer)
{
    return wt__fail(err, WT_EREADONLY, REPLICA_REFUSAL " and cannot be changed; make the change at the writer%s%s",
                    *writer ? ", " : " that publishes it", writer);
}

int wt__sql_begin(struct store *store, wt_error *err)
{
    if (store->replica_of)
        return wt__fail_replica(err, store->replica_of);
    if (store->read_only && store->driver->is_private(store))
        return wt__fail(
            err, WT_EREADONLY,
            "a view of a shared store is open for reading only; a tenant needs a store of its own to change "
            "tools or to record use");
    if (store->read_only)
        return wt__fail(err, WT_EREADONLY, "%s is open for reading only", store->path);
    int rc = store->driver->begin(store, SQL_WRITE, err);
    return rc < 0 ? rc : check_store_version(store, err);
}

int wt__sql_end(struct store *store, int rc, wt_error *err)
{
    if (rc >= 0) {
        int committed = store->driver->commit(store, err);
        if (committed < 0)
            rc = committed;
    }
    if (rc < 0)
        store->driver->rollback(store);
    return rc;
}

int wt__sql_begin_bulk(struct store *store, wt_error *err)
{
    int rc = wt__sql_begin(store, err);
    if (rc == 0)
        store->driver->set_bulk(store, true);
    return rc;
}

int wt__sql_end_bulk(struct store *store, int rc, wt_error *err)
{
    if (store->driver->in_transaction(store))
        rc = wt__sql_end(store, rc, err);
    store->driver->set_bulk(store, false);
    return rc;
}

int wt__store_read_begin(struct store *store, wt_error *err)
{
    int rc = store->driver->begin(store, SQL_READ, err);
    return rc < 0 ? rc : check_store_version(store, err);
}

void wt__store_read_end(struct store *store)
{
    if (store->driver->in_transaction(store))
        store->driver->rollback(store);
}

int wt__begin_read_scope(struct read_scope *scope, struct store *store, wt_error *err)
{
    if (store->driver->in_transaction(store))
        return 0;
    scope->store = store;
    return wt__store_read_begin(store, err);
}

void wt__end_read_scope(struct read_scope *scope)
{
    if (scope->store)
        wt__store_read_end(scope->store);
}

int wt__store_generation(struct store *store, uint64_t *out, wt_error *err)
{
    int64_t generation;
    int rc = wt__sql_number(store, "SELECT value FROM meta WHERE key = 'generation'", &generation, err);
    *out = (uint64_t)generation;
    return rc;
}

int wt__sql_next_generation(struct store *store, uint64_t *out, wt_error *err)
{
    int rc = wt__store_generation(store, out, err);
    ++*out;
    return rc;
}

int wt__sql_set_generation(struct store *store, uint64_t generation, wt_error *err)
{
    return wt__sql_run(store, "UPDATE meta SET value = ?1 WHERE key = 'generation'",
                       SQL_VALUES(sql_integer((int64_t)generation)), err);
}

int wt__sql_increment_generation(struct store *store, wt_error *err)
{
    return wt__sql_run(store, "UPDATE meta SET value = value + 1 WHERE key = 'generation'", NULL, err);
}
