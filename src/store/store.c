/* store.c: opens, checks and closes a store.
 *
 * The file uses a rollback journal and synchronous=EXTRA: when a commit returns, the change and the end of its journal
 * are on the disk. docs/decisions/0002-rollback-journal.md says why it does not use a write-ahead log. The file may
 * come from a stranger: its triggers and views do not run, its schema is not trusted, and a value or row may have at
 * most STORE_MAX_ROW bytes. */
#include "store/internal.h"

#include <assert.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

enum { WAIT_SHORT_MS = 1, WAIT_LONG_MS = 10, WAIT_SHORT_COUNT = 10 };

/* ---------------------------------------------------------------- opening */

/* Called repeatedly while another process holds the lock. Returns 0 to give up. */
static int wait_for_lock(void *context, int count)
{
    struct store *store = context;
    double now = wt__now_ms();
    if (count == 0) {
        store->wait_began_ms = now;
        store->wait_reported = store->wait_cancelled = false;
    }
    double waited = now - store->wait_began_ms;
    if (waited >= store->busy_ms)
        return 0;
    if (store->wait_reported)
        store->wait_cancelled = wt__progress_step(store->progress, 1) != 0;
    else if (waited >= STORE_NOTICE_MS) {
        store->wait_reported = true;
        store->wait_cancelled = wt__progress_phase(store->progress, STORE_WAITING, 0) != 0;
    }
    if (store->wait_cancelled)
        return 0;
    long pause = count < WAIT_SHORT_COUNT ? WAIT_SHORT_MS : WAIT_LONG_MS;
    nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
    return 1;
}

static int configure_connection(struct store *store, wt_error *err)
{
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0}, {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (sqlite3_db_config(store->db, switches[i][0], switches[i][1], NULL) != SQLITE_OK)
            return wt__sql_fail(store, err);
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, STORE_MAX_ROW);
    sqlite3_busy_handler(store->db, wait_for_lock, store);
    return wt__sql_exec(store, "PRAGMA synchronous=EXTRA; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192", err);
}

static int make_parent(const char *path, wt_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    WT_AUTO_FREE char *folder = wt__copy_string(path, (size_t)(slash - path));
    WT_CHECK_ALLOC(folder, err);
    return wt__make_folders(folder, err);
}

static int connect_database(struct store *store, int flags, wt_error *err)
{
    if (sqlite3_open_v2(store->path, &store->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) !=
        SQLITE_OK)
        return store->db ? wt__sql_fail(store, err) : wt__fail_nomem(err);
    if (sqlite3_db_readonly(store->db, "main") == 1)
        store->read_only = true;
    return configure_connection(store, err);
}

static int open_database(struct store *store, wt_error *err)
{
    bool private = wt__store_private(store);
    if (!private)
        WT_TRY(wt__store_inspect(store->path, store->read_only, err));
    if (!private && !store->read_only)
        WT_TRY(make_parent(store->path, err));
    return connect_database(store, store->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                            err);
}

int wt__store_open(struct store **out, const char *path, const struct store_options *options, wt_error *err)
{
    *out = NULL;
    if (!path || !*path)
        return wt__fail(err, WT_EINVAL, "the path of the store is empty");
    struct store *store = calloc(1, sizeof *store);
    WT_CHECK_ALLOC(store, err);
    store->path = wt__copy_string(path, strlen(path));
    store->read_only = options && options->read_only;
    store->busy_ms = options && options->busy_ms ? options->busy_ms : STORE_BUSY_MS;
    store->progress = options ? options->progress : NULL;
    int rc = store->path ? open_database(store, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__store_update_schema(store, err);
    if (rc < 0) {
        wt__store_close(store);
        return rc;
    }
    *out = store;
    return 0;
}

bool wt__store_private(const struct store *store)
{
    return strcmp(store->path, ":memory:") == 0;
}

bool wt__store_idle(const struct store *store)
{
    return sqlite3_txn_state(store->db, NULL) == SQLITE_TXN_NONE;
}

int wt__store_open_reader(struct store **out, const struct store *of, wt_error *err)
{
    *out = NULL;
    if (wt__store_private(of))
        return wt__fail(err, WT_EINVAL, "%s is a private store with only one connection", of->path);
    struct store *store = calloc(1, sizeof *store);
    WT_CHECK_ALLOC(store, err);
    /* SQLite's name of the file stays valid if the current folder changes. */
    const char *path = sqlite3_db_filename(of->db, "main");
    store->path = wt__copy_string(path, strlen(path));
    store->read_only = of->read_only;
    store->busy_ms = of->busy_ms;
    store->version = of->version; // each read transaction compares it with the file
    /* Open for writing if allowed, so that the reader can roll back the journal of a killed writer. */
    int flags = store->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = store->path ? connect_database(store, flags, err) : wt__fail_nomem(err);
    if (rc < 0) {
        wt__store_close(store);
        return rc;
    }
    *out = store;
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
    for (size_t i = 0; i < store->prepared_count; i++) {
        assert(!sqlite3_stmt_busy(store->prepared[i].statement)); /* a busy statement would block other writers */
        sqlite3_finalize(store->prepared[i].statement);
    }
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

bool wt__store_read_only(const struct store *store)
{
    return store->read_only;
}

/* ---------------------------------------------------------------- checking */

/* Runs a query that checks the file. Fails with WT_ESTORE if the query returns a row other than "ok". */
static int check_query(struct store *store, const char *sql, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) sqlite3_stmt *rows = NULL;
    WT_TRY(wt__sql_open(store, sql, NULL, &rows, err));
    int rc = wt__sql_step(store, rows, err);
    struct str found = rc == 1 ? wt__sql_column(rows, 0) : STR("ok");
    if (!wt__str_equal(found, STR("ok")))
        return wt__fail(
            err, WT_ESTORE,
            "%s is damaged: %.*s; restore a backup, or recover the readable part with `sqlite3 %s .recover`",
            store->path, (int)found.len, found.ptr, store->path);
    return rc < 0 ? rc : 0;
}

int wt__store_check(struct store *store, wt_error *err)
{
    WT_TRY(check_query(store, "PRAGMA integrity_check(1)", err));
    WT_TRY(check_query(
        store, "SELECT 'a row of ' || \"table\" || ' refers to a missing row' FROM pragma_foreign_key_check LIMIT 1",
        err));
    return wt__usage_check_calls(store, err);
}
