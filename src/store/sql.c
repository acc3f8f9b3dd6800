/* sql.c: statements, transactions, and messages for SQLite's failures. */
#include "store/internal.h"

#include <errno.h>

#include "base/memory.h"

static int fail_io(struct store *store, int code, wt_error *err)
{
    int last = errno; /* a commit that fails half way does not report its errno to the database */
    errno = sqlite3_system_errno(store->db);
    if (errno == 0 && last == EFBIG)
        errno = last;
    if (code == SQLITE_IOERR_NOMEM)
        return wt__fail_nomem(err);
    if (errno == 0)
        return wt__fail(err, WT_EIO, "cannot read or write %s: %s", store->path, sqlite3_errmsg(store->db));
    int rc = wt__fail_errno(err, (code & 0xff) == SQLITE_CANTOPEN ? "open" : "read or write", store->path);
    /* The message for ENOENT would say that the store is missing, but it may be the journal. */
    return rc == WT_ENOTFOUND ? wt__fail(err, WT_EIO, "cannot open %s or its journal", store->path) : rc;
}

int wt__sql_fail(struct store *store, wt_error *err)
{
    int code = sqlite3_extended_errcode(store->db);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return wt__fail_nomem(err);
    case SQLITE_FULL:
        return wt__fail(err, WT_EFULL, "cannot write %s: the disk is full", store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        if (store->wait_cancelled)
            return wt__fail_cancelled(err);
        return wt__fail(err, WT_EBUSY, "%s: another process kept the store locked for more than %.1f seconds",
                        store->path, store->busy_ms / 1000.0);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return wt__fail(err, WT_EREADONLY, "cannot write %s or its folder", store->path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return fail_io(store, code, err);
    case SQLITE_CORRUPT:
        return wt__fail(err, WT_ESTORE, "%s is damaged: %s", store->path, sqlite3_errmsg(store->db));
    case SQLITE_NOTADB:
        return wt__fail(err, WT_ESTORE, "%s is not a whichtool store", store->path);
    case SQLITE_TOOBIG:
        return wt__fail(err, WT_ETOOLONG, "%s: a value is longer than %d bytes", store->path, STORE_MAX_ROW);
    default:
        return wt__fail(err, WT_ESTORE, "%s: the database failed: %s", store->path, sqlite3_errmsg(store->db));
    }
}

/* ---------------------------------------------------------------- statements */

int wt__sql_exec(struct store *store, const char *sql, wt_error *err)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : wt__sql_fail(store, err);
}

static int prepare_statement(struct store *store, const char *sql, sqlite3_stmt **out, wt_error *err)
{
    for (size_t i = 0; i < store->prepared_count; i++) {
        if (store->prepared[i].sql == sql) {
            *out = store->prepared[i].statement;
            wt__sql_reset(*out);
            return 0;
        }
    }
    if (store->prepared_count == STORE_STATEMENTS_MAX)
        return wt__fail(err, WT_ESTORE, "%s: too many statements", store->path);
    if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK)
        return wt__sql_fail(store, err);
    store->prepared[store->prepared_count].sql = sql;
    store->prepared[store->prepared_count++].statement = *out;
    return 0;
}

static int bind_value(sqlite3_stmt *statement, int at, const struct sql_value *value)
{
    struct str bytes = value->bytes.len ? value->bytes : STR("");
    switch (value->kind) {
    case SQL_VALUE_INTEGER:
        return sqlite3_bind_int64(statement, at, value->integer);
    case SQL_VALUE_TEXT:
        return sqlite3_bind_text64(statement, at, bytes.ptr, bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    case SQL_VALUE_BLOB:
        return sqlite3_bind_blob64(statement, at, bytes.ptr, bytes.len, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(statement, at);
    }
}

int wt__sql_open(struct store *store, const char *sql, const struct sql_value *values, sqlite3_stmt **out,
                 wt_error *err)
{
    *out = NULL;
    WT_TRY(prepare_statement(store, sql, out, err));
    for (int i = 0; values && values[i].kind != SQL_VALUES_END; i++)
        if (bind_value(*out, i + 1, &values[i]) != SQLITE_OK)
            return wt__fail_nomem(err);
    return 0;
}

int wt__sql_step(struct store *store, sqlite3_stmt *statement, wt_error *err)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    int rc = code == SQLITE_DONE ? 0 : wt__sql_fail(store, err);
    wt__sql_reset(statement);
    return rc;
}

void wt__sql_reset(sqlite3_stmt *statement)
{
    if (statement) {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
}

void wt__sql_close(sqlite3_stmt **statement)
{
    wt__sql_reset(*statement);
}

struct str wt__sql_column(sqlite3_stmt *statement, int at)
{
    const char *bytes = sqlite3_column_blob(statement, at); /* unlike _text, this never copies */
    return (struct str){bytes, bytes ? (size_t)sqlite3_column_bytes(statement, at) : 0};
}

struct str wt__sql_copy(sqlite3_stmt *statement, int at, struct arena *arena)
{
    struct str view = wt__sql_column(statement, at);
    return (struct str){wt__arena_copy(arena, view), view.len};
}

int wt__sql_run(struct store *store, const char *sql, const struct sql_value *values, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) sqlite3_stmt *statement = NULL;
    WT_TRY(wt__sql_open(store, sql, values, &statement, err));
    return wt__sql_step(store, statement, err);
}

int wt__sql_find(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, wt_error *err)
{
    return wt__sql_integers(store, sql, values, out, 1, err);
}

int wt__sql_integers(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, size_t max,
                     wt_error *err)
{
    WT_CLEANUP(wt__sql_close) sqlite3_stmt *rows = NULL;
    size_t count = 0;
    int rc = wt__sql_open(store, sql, values, &rows, err);
    while (rc >= 0 && count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        out[count++] = sqlite3_column_int64(rows, 0);
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
    WT_CLEANUP(wt__sql_close) sqlite3_stmt *rows = NULL;
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

static int read_integer_row(sqlite3_stmt *row, struct arena *arena, void *item)
{
    (void)arena;
    *(int64_t *)item = sqlite3_column_int64(row, 0);
    return 0;
}

int wt__sql_list_integers(struct store *store, const char *sql, const struct sql_value *values, struct arena *arena,
                          int64_t **out, size_t *count, wt_error *err)
{
    return wt__sql_list(store, sql, values, read_integer_row, sizeof **out, arena, (void **)out, count, err);
}

/* ---------------------------------------------------------------- transactions */

/* Fails if the version of the tables has changed since the store was opened, because this process would read and write
 * the tables wrongly. Rolls back the transaction on failure. */
static int check_store_version(struct store *store, wt_error *err)
{
    int64_t version = store->version;
    int rc = version > 0 ? wt__sql_number(store, "PRAGMA user_version", &version, err) : 0;
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
    if (rc < 0 && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int wt__sql_begin(struct store *store, wt_error *err)
{
    if (store->read_only)
        return wt__fail(err, WT_EREADONLY, "%s is open for reading only", store->path);
    int rc = wt__sql_exec(store, "BEGIN IMMEDIATE", err);
    return rc < 0 ? rc : check_store_version(store, err);
}

int wt__sql_end(struct store *store, int rc, wt_error *err)
{
    if (rc >= 0) {
        int committed = wt__sql_exec(store, "COMMIT", err);
        if (committed < 0)
            rc = committed;
    }
    /* Some failures have rolled back already. A failed rollback leaves the journal, and the next opening uses it. */
    if (rc < 0 && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int wt__store_read_begin(struct store *store, wt_error *err)
{
    /* Use a cached statement, because each find begins and ends a transaction. */
    int rc = wt__sql_run(store, "BEGIN", NULL, err);
    return rc < 0 ? rc : check_store_version(store, err);
}

void wt__store_read_end(struct store *store)
{
    if (!sqlite3_get_autocommit(store->db) && wt__sql_run(store, "ROLLBACK", NULL, NULL) < 0)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

int wt__begin_read_scope(struct read_scope *scope, struct store *store, wt_error *err)
{
    if (!sqlite3_get_autocommit(store->db))
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
