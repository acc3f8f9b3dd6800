/* driver_sqlite.c: stores in SQLite files.
 *
 * The file uses a rollback journal and synchronous=EXTRA: when a commit returns, the change and the end of its journal
 * are on the disk. docs/decisions/0002-rollback-journal.md says why it does not use a write-ahead log. The file may
 * come from a stranger: its triggers and views do not run, its schema is not trusted, and a value or row may have at
 * most STORE_MAX_ROW bytes.
 *
 * application_id marks a file as a whichtool store. user_version is the version of its tables. */
#include "store/driver_sqlite.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "store/internal.h"
#include "store/schema.h"

enum {
    APPLICATION_ID = 0x57547374, /* "WTst" */
    HEADER_BYTES = 100,
    HEADER_APPLICATION_ID = 68 /* SQLite's file format, section 1.3 */
};

static sqlite3 *handle_of(const struct store *store)
{
    return ((struct sqlite_database *)store->database)->db;
}

static sqlite3_stmt *compiled_of(struct sql_statement *statement)
{
    return ((struct sqlite_statement *)statement)->compiled;
}

/* ---------------------------------------------------------------- failures */

static int fail_io(struct store *store, int code, wt_error *err)
{
    int last = errno; /* a commit that fails half way does not report its errno to the database */
    errno = sqlite3_system_errno(handle_of(store));
    if (errno == 0 && last == EFBIG)
        errno = last;
    if (code == SQLITE_IOERR_NOMEM)
        return wt__fail_nomem(err);
    if (errno == 0)
        return wt__fail(err, WT_EIO, "cannot read or write %s: %s", store->path, sqlite3_errmsg(handle_of(store)));
    int rc = wt__fail_errno(err, (code & 0xff) == SQLITE_CANTOPEN ? "open" : "read or write", store->path);
    /* The message for ENOENT would say that the store is missing, but it may be the journal. */
    return rc == WT_ENOTFOUND ? wt__fail(err, WT_EIO, "cannot open %s or its journal", store->path) : rc;
}

static int fail_sqlite(struct store *store, wt_error *err)
{
    int code = sqlite3_extended_errcode(handle_of(store));
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return wt__fail_nomem(err);
    case SQLITE_FULL:
        if (store->most_bytes > 0 && sqlite3_system_errno(handle_of(store)) != ENOSPC)
            return wt__fail(err, WT_ETOOLONG, "%s may have at most %llu MiB; remove tools or usages", store->path,
                            (unsigned long long)(store->most_bytes >> 20));
        return wt__fail(err, WT_EFULL, "cannot write %s: the disk is full", store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return wt__store_fail_wait(store, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return wt__fail(err, WT_EREADONLY, "cannot write %s or its folder", store->path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return fail_io(store, code, err);
    case SQLITE_CORRUPT:
        return wt__fail(err, WT_ESTORE, "%s is damaged: %s", store->path, sqlite3_errmsg(handle_of(store)));
    case SQLITE_NOTADB:
        return wt__fail(err, WT_ESTORE, "%s is not a whichtool store", store->path);
    case SQLITE_TOOBIG:
        return wt__fail(err, WT_ETOOLONG, "%s: a value is longer than %d bytes", store->path, STORE_MAX_ROW);
    default:
        return wt__fail(err, WT_ESTORE, "%s: the database failed: %s", store->path, sqlite3_errmsg(handle_of(store)));
    }
}

static int exec_sqlite(struct store *store, const char *sql, wt_error *err)
{
    return sqlite3_exec(handle_of(store), sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_sqlite(store, err);
}

/* ---------------------------------------------------------------- before the database touches the file */

static uint32_t read_be32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool has_journal(const char *path)
{
    char journal[4096];
    int len = snprintf(journal, sizeof journal, "%s-journal", path);
    return len > 0 && (size_t)len < sizeof journal && access(journal, F_OK) == 0;
}

/* Reads the header through SQLite's own descriptor. Closing any other descriptor of the file would release the locks
 * that this process holds on it (fcntl(2)). SQLite delays the close of its descriptor for this reason. Opening alone
 * reads and repairs nothing. */
static int read_header(const char *path, unsigned char header[HEADER_BYTES], wt_error *err)
{
    sqlite3 *db = NULL;
    sqlite3_file *file = NULL;
    int status = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (status == SQLITE_OK)
        status = file->pMethods->xRead(file, header, HEADER_BYTES, 0);
    int rc = status == SQLITE_OK || status == SQLITE_IOERR_SHORT_READ ? 0
             : status == SQLITE_NOMEM                                 ? wt__fail_nomem(err)
             : access(path, R_OK) < 0                                 ? wt__fail_errno(err, "open", path)
                                      : wt__fail(err, WT_EIO, "cannot read %s: %s", path, sqlite3_errstr(status));
    sqlite3_close(db);
    return rc;
}

/* An interrupted change may leave a damaged first page and a journal. A file with a journal therefore passes: SQLite
 * repairs it, and read_sqlite_version checks it again. */
static int inspect_file(const char *path, bool read_only, wt_error *err)
{
    struct stat info;
    if (stat(path, &info) < 0)
        return errno == ENOENT && !read_only ? 0 : wt__fail_errno(err, "open", path);
    if (!S_ISREG(info.st_mode))
        return wt__fail(err, WT_ESTORE, "%s is %s, not a whichtool store", path,
                        S_ISDIR(info.st_mode) ? "a folder" : "a special file");
    if (info.st_size == 0)
        return read_only ? wt__fail(err, WT_ESTORE, "%s is empty, not a whichtool store", path) : 0;
    unsigned char header[HEADER_BYTES] = {0};
    bool journal = has_journal(path); /* checked before and after the read: a change may start or end meanwhile */
    WT_TRY(read_header(path, header, err));
    bool ours =
        memcmp(header, "SQLite format 3", 16) == 0 && read_be32(header + HEADER_APPLICATION_ID) == APPLICATION_ID;
    if (!ours && !journal && !has_journal(path))
        return wt__fail(err, WT_ESTORE, "%s is not a whichtool store", path);
    return 0;
}

/* ---------------------------------------------------------------- opening */

static int wait_for_sqlite_lock(void *store, int count)
{
    return wt__store_wait(store, count);
}

static int configure_connection(struct store *store, wt_error *err)
{
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0}, {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (sqlite3_db_config(handle_of(store), switches[i][0], switches[i][1], NULL) != SQLITE_OK)
            return fail_sqlite(store, err);
    sqlite3_limit(handle_of(store), SQLITE_LIMIT_LENGTH, STORE_MAX_ROW);
    sqlite3_busy_handler(handle_of(store), wait_for_sqlite_lock, store);
    return exec_sqlite(store, "PRAGMA synchronous=EXTRA; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192", err);
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
    struct sqlite_database *database = store->database = calloc(1, sizeof *database);
    WT_CHECK_ALLOC(database, err);
    if (sqlite3_open_v2(store->path, &database->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) !=
        SQLITE_OK)
        return database->db ? fail_sqlite(store, err) : wt__fail_nomem(err);
    if (sqlite3_db_readonly(handle_of(store), "main") == 1)
        store->read_only = true;
    return configure_connection(store, err);
}

static bool is_sqlite_private(const struct store *store)
{
    return strcmp(store->path, ":memory:") == 0;
}

static int connect_sqlite(struct store *store, wt_error *err)
{
    bool private = is_sqlite_private(store);
    if (!private)
        WT_TRY(inspect_file(store->path, store->read_only, err));
    if (!private && !store->read_only)
        WT_TRY(make_parent(store->path, err));
    return connect_database(store, store->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                            err);
}

static int connect_sqlite_reader(struct store *store, const struct store *of, wt_error *err)
{
    /* SQLite's name of the file stays valid if the current folder changes. */
    const char *path = sqlite3_db_filename(handle_of(of), "main");
    free(store->path);
    store->path = wt__copy_string(path, strlen(path));
    WT_CHECK_ALLOC(store->path, err);
    /* Open for writing if allowed, so that the reader can roll back the journal of a killed writer. */
    return connect_database(store, store->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, err);
}

static void disconnect_sqlite(struct store *store)
{
    if (store->database)
        sqlite3_close(handle_of(store));
    free(store->database);
}

/* ---------------------------------------------------------------- transactions */

static bool is_in_sqlite_transaction(const struct store *store)
{
    return !sqlite3_get_autocommit(handle_of(store));
}

static bool is_sqlite_idle(const struct store *store)
{
    return sqlite3_txn_state(handle_of(store), NULL) == SQLITE_TXN_NONE;
}

static int begin_sqlite(struct store *store, enum sql_transaction kind, wt_error *err)
{
    /* Take the lock at once, so that two writers queue instead of failing half way. Each find begins and ends a read
     * transaction, so use cached statements. */
    int rc = wt__sql_run(store, kind == SQL_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", NULL, err);
    return rc < 0 ? rc : 0;
}

static int commit_sqlite(struct store *store, wt_error *err)
{
    return exec_sqlite(store, "COMMIT", err);
}

/* Some failures have rolled back already. A failed rollback leaves the journal, and the next opening uses it. */
static void rollback_sqlite(struct store *store)
{
    if (is_in_sqlite_transaction(store) && wt__sql_run(store, "ROLLBACK", NULL, NULL) < 0)
        sqlite3_exec(handle_of(store), "ROLLBACK", NULL, NULL, NULL);
}

/* ---------------------------------------------------------------- version */

static int read_sqlite_version(struct store *store, int64_t *version, wt_error *err)
{
    int64_t application = 0, objects = 0;
    if (store->version == 0)
        WT_TRY(wt__sql_number(store, "PRAGMA application_id", &application, err));
    WT_TRY(wt__sql_number(store, "PRAGMA user_version", version, err));
    if (store->version == 0 && application != APPLICATION_ID) {
        WT_TRY(wt__sql_number(store, "SELECT count(*) FROM sqlite_schema", &objects, err));
        if (application != 0 || *version != 0 || objects != 0)
            return wt__fail(err, WT_ESTORE, "%s is not a whichtool store", store->path);
    }
    return 0;
}

static int write_sqlite_version(struct store *store, int64_t version, wt_error *err)
{
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id=%d; PRAGMA user_version=%lld", APPLICATION_ID,
             (long long)version);
    return exec_sqlite(store, marks, err);
}

/* ---------------------------------------------------------------- statements */

/* SQLite collects the rows of RETURNING in a temporary table, which makes an import a tenth slower. The driver prepares
 * such a statement without this end, and makes the row from the id of the last insertion. */
#define RETURNING_ID " RETURNING id"

static bool ends_with_id(const char *sql, size_t len)
{
    size_t end = sizeof RETURNING_ID - 1;
    return len > end && memcmp(sql + len - end, RETURNING_ID, end) == 0;
}

static int prepare_sqlite(struct store *store, const char *sql, struct sql_statement **out, wt_error *err)
{
    struct sqlite_statement *statement = calloc(1, sizeof *statement);
    WT_CHECK_ALLOC(statement, err);
    size_t len = strlen(sql);
    statement->returns_id = ends_with_id(sql, len);
    if (statement->returns_id)
        len -= sizeof RETURNING_ID - 1;
    if (sqlite3_prepare_v3(handle_of(store), sql, (int)len, SQLITE_PREPARE_PERSISTENT, &statement->compiled, NULL) !=
        SQLITE_OK) {
        free(statement);
        return fail_sqlite(store, err);
    }
    *out = &statement->base;
    return 0;
}

static int bind_value(sqlite3_stmt *compiled, int at, const struct sql_value *value)
{
    struct str bytes = value->bytes.len ? value->bytes : STR("");
    switch (value->kind) {
    case SQL_VALUE_INTEGER:
        return sqlite3_bind_int64(compiled, at, value->integer);
    case SQL_VALUE_TEXT:
        return sqlite3_bind_text64(compiled, at, bytes.ptr, bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    case SQL_VALUE_BLOB:
        return sqlite3_bind_blob64(compiled, at, bytes.ptr, bytes.len, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(compiled, at);
    }
}

/* Binding fails only if out of memory, because the lengths of the values were checked before. */
static int start_sqlite(struct store *store, struct sql_statement *statement, const struct sql_value *values,
                        wt_error *err)
{
    (void)store;
    for (int i = 0; values && values[i].kind != SQL_VALUES_END; i++)
        if (bind_value(compiled_of(statement), i + 1, &values[i]) != SQLITE_OK)
            return wt__fail_nomem(err);
    return 0;
}

static int step_sqlite(struct store *store, struct sql_statement *statement, wt_error *err)
{
    struct sqlite_statement *own = (struct sqlite_statement *)statement;
    if (own->at_id)
        return 0;
    int code = sqlite3_step(own->compiled);
    if (own->returns_id && code == SQLITE_DONE && sqlite3_changes(handle_of(store)) > 0) {
        own->id = sqlite3_last_insert_rowid(handle_of(store));
        own->at_id = true;
        return 1;
    }
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fail_sqlite(store, err);
}

static void reset_sqlite(struct sql_statement *statement)
{
    sqlite3_reset(compiled_of(statement));
    sqlite3_clear_bindings(compiled_of(statement));
    ((struct sqlite_statement *)statement)->at_id = false;
}

static void finalize_sqlite(struct sql_statement *statement)
{
    assert(!sqlite3_stmt_busy(compiled_of(statement))); /* a busy statement would block other writers */
    sqlite3_finalize(compiled_of(statement));
    free(statement);
}

static struct str read_sqlite_bytes(struct sql_statement *statement, int at)
{
    sqlite3_stmt *row = compiled_of(statement);
    const char *bytes = sqlite3_column_blob(row, at); /* unlike _text, this never copies */
    return (struct str){bytes, bytes ? (size_t)sqlite3_column_bytes(row, at) : 0};
}

static int64_t read_sqlite_integer(struct sql_statement *statement, int at)
{
    const struct sqlite_statement *own = (const struct sqlite_statement *)statement;
    return own->at_id ? own->id : sqlite3_column_int64(own->compiled, at);
}

static int64_t count_sqlite_changes(struct store *store)
{
    return sqlite3_changes(handle_of(store));
}

/* ---------------------------------------------------------------- counters */

/* Reads the bytes of the file's header that every commit with a rollback journal changes (SQLite's file format, section
 * 1.3). They include the journal mode, the change counter, and the sizes of the file and of its free list. Returns
 * false if the file has no rollback journal.
 *
 * Uses the connection's own descriptor, because closing another descriptor would release the locks of the whole
 * process. A writer may have changed the bytes shortly before its commit. The caller then reads the counters once more
 * than needed. */
static bool read_sqlite_stamp(struct store *store, unsigned char stamp[STORE_STAMP_BYTES])
{
    enum { STAMP_AT = 18, ROLLBACK_JOURNAL = 1 };
    sqlite3_file *file = NULL;
    return sqlite3_file_control(handle_of(store), "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file &&
           file->pMethods && file->pMethods->xRead(file, stamp, STORE_STAMP_BYTES, STAMP_AT) == SQLITE_OK &&
           stamp[0] == ROLLBACK_JOURNAL && stamp[1] == ROLLBACK_JOURNAL;
}

/* A value is current if the file is unchanged since this connection read it. Always false within a transaction. */
static bool read_sqlite_seen(struct store *store, struct usage_info *out)
{
    const struct sqlite_database *database = store->database;
    unsigned char stamp[STORE_STAMP_BYTES];
    if (!database->has_seen || is_in_sqlite_transaction(store) || !read_sqlite_stamp(store, stamp) ||
        memcmp(stamp, database->stamp, sizeof stamp) != 0)
        return false;
    *out = database->seen;
    return true;
}

/* The statement that read the counters still holds its lock, so that the stamp belongs to the same committed state. */
static void note_sqlite_seen(struct store *store, const struct usage_info *info)
{
    struct sqlite_database *database = store->database;
    database->seen = *info;
    database->has_seen = !is_in_sqlite_transaction(store) && read_sqlite_stamp(store, database->stamp);
}

/* ---------------------------------------------------------------- other operations */

/* A larger page cache holds the changed pages until the commit. A smaller cache could spill pages to the file, which
 * locks out readers before the commit. */
static int read_sqlite_change_mark(struct store *store, int64_t *out, wt_error *err)
{
    return wt__sql_number(store, "PRAGMA data_version", out, err);
}

static void set_sqlite_bulk(struct store *store, bool bulk)
{
    sqlite3_exec(handle_of(store), bulk ? "PRAGMA cache_size=-262144" : "PRAGMA cache_size=-8192", NULL, NULL, NULL);
    if (!bulk)
        sqlite3_db_release_memory(handle_of(store));
}

/* Runs a query that checks the file. Fails with WT_ESTORE if the query returns a row other than "ok". */
static int check_query(struct store *store, const char *sql, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
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

static int check_sqlite(struct store *store, wt_error *err)
{
    WT_TRY(check_query(store, "PRAGMA integrity_check(1)", err));
    return check_query(
        store, "SELECT 'a row of ' || \"table\" || ' refers to a missing row' FROM pragma_foreign_key_check LIMIT 1",
        err);
}

static uint64_t measure_sqlite(struct store *store)
{
    return wt__file_size(store->path);
}

static int limit_sqlite(struct store *store, uint64_t bytes, wt_error *err)
{
    enum { SQLITE_MOST_PAGES = 0x7ffffffe };
    int64_t page;
    char sql[64];
    WT_TRY(wt__sql_number(store, "PRAGMA page_size", &page, err));
    uint64_t pages = bytes > 0 ? bytes / (uint64_t)page : SQLITE_MOST_PAGES;
    snprintf(sql, sizeof sql, "PRAGMA max_page_count=%llu", (unsigned long long)pages);
    return exec_sqlite(store, sql, err);
}

/* ---------------------------------------------------------------- images */

static int save_sqlite_image(struct store *store, struct store_image *out, wt_error *err)
{
    sqlite3_int64 len = 0;
    out->bytes = sqlite3_serialize(handle_of(store), "main", &len, 0);
    out->len = (size_t)len;
    return out->bytes ? 0 : wt__fail_nomem(err);
}

static int load_sqlite_image(struct store *store, const struct store_image *image, wt_error *err)
{
    sqlite3_int64 len = (sqlite3_int64)image->len;
    int status = sqlite3_deserialize(handle_of(store), "main", image->bytes, len, len, SQLITE_DESERIALIZE_READONLY);
    return status == SQLITE_OK ? 0 : fail_sqlite(store, err);
}

void wt__store_image_dispose(struct store_image *image)
{
    sqlite3_free(image->bytes);
    *image = (struct store_image){0};
}

const struct sql_driver wt__sqlite_driver = {
    .migrations = wt__sqlite_migrations,
    .migration_count = WT_STORE_VERSION,
    .connect = connect_sqlite,
    .connect_reader = connect_sqlite_reader,
    .disconnect = disconnect_sqlite,
    .is_private = is_sqlite_private,
    .save_image = save_sqlite_image,
    .load_image = load_sqlite_image,
    .in_transaction = is_in_sqlite_transaction,
    .is_idle = is_sqlite_idle,
    .begin = begin_sqlite,
    .commit = commit_sqlite,
    .rollback = rollback_sqlite,
    .read_version = read_sqlite_version,
    .write_version = write_sqlite_version,
    .exec = exec_sqlite,
    .prepare = prepare_sqlite,
    .start = start_sqlite,
    .step = step_sqlite,
    .reset = reset_sqlite,
    .finalize = finalize_sqlite,
    .bytes = read_sqlite_bytes,
    .integer = read_sqlite_integer,
    .changes = count_sqlite_changes,
    .seen = read_sqlite_seen,
    .note_seen = note_sqlite_seen,
    .read_change_mark = read_sqlite_change_mark,
    .set_bulk = set_sqlite_bulk,
    .check = check_sqlite,
    .size = measure_sqlite,
    .limit = limit_sqlite,
};
