/* driver_postgres.c: stores in a PostgreSQL database: connections, transactions, and news of changes.
 *
 * A store is one schema. Statements name the schema, so that they need no state of the session: a pooler such as
 * PgBouncer may run each transaction on another server connection.
 *
 * Writers queue for an advisory lock, whose number is a hash of the schema. A write transaction notes its number in the
 * database. If the connection is lost during the commit, the number tells whether the change was stored.
 *
 * Counters are read at most once in STORE_POLL_MS, because a query must not wait for the network. They are read at once
 * after a change by this process, and after a notification of another process. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "store/dialect.h"
#include "store/internal.h"
#include "store/postgres.h"
#include "store/schema.h"

enum { SQL_BYTES = 1024, RECONNECT_PAUSE_MS = 50 };

/* ---------------------------------------------------------------- news of changes */

/* Counters shared by the connections of a store in this process. */
struct postgres_news {
    atomic_uint holders;
    pthread_mutex_t lock;
    struct usage_info info;
    double read_ms; /* time at which `info` was read; 0 if it may be stale */
    uint64_t state; /* grows when `info` becomes stale */
};

static struct postgres_news *hold_news(struct postgres_news *news)
{
    if (news) {
        atomic_fetch_add(&news->holders, 1);
        return news;
    }
    if (!(news = calloc(1, sizeof *news)))
        return NULL;
    atomic_init(&news->holders, 1);
    pthread_mutex_init(&news->lock, NULL);
    return news;
}

static void release_news(struct postgres_news *news)
{
    if (!news || atomic_fetch_sub(&news->holders, 1) > 1)
        return;
    pthread_mutex_destroy(&news->lock);
    free(news);
}

static void expire_news(struct postgres_news *news)
{
    pthread_mutex_lock(&news->lock);
    news->read_ms = 0;
    news->state++;
    pthread_mutex_unlock(&news->lock);
}

/* Reads notifications without waiting. */
static void hear_notifications(struct postgres *pg)
{
    struct pg_notify *notice;
    if (!pg->conn || !pg->pq->consumeInput(pg->conn))
        return;
    while ((notice = pg->pq->notifies(pg->conn))) {
        if (strcmp(notice->payload, pg->schema) == 0)
            expire_news(pg->news);
        pg->pq->freemem(notice);
    }
}

static bool read_postgres_seen(struct store *store, struct usage_info *out)
{
    struct postgres *pg = postgres_of(store);
    if (pg->in_transaction)
        return false;
    hear_notifications(pg);
    pg->asked_ms = wt__now_ms();
    pthread_mutex_lock(&pg->news->lock);
    bool fresh = pg->news->read_ms > 0 && pg->asked_ms - pg->news->read_ms < STORE_POLL_MS;
    pg->asked = pg->news->state;
    if (fresh)
        *out = pg->news->info;
    pthread_mutex_unlock(&pg->news->lock);
    return fresh;
}

/* Ignores counters that were read before a change and arrive after it. */
static void note_postgres_seen(struct store *store, const struct usage_info *info)
{
    struct postgres *pg = postgres_of(store);
    if (pg->in_transaction)
        return;
    pthread_mutex_lock(&pg->news->lock);
    if (pg->news->state == pg->asked) {
        pg->news->info = *info;
        pg->news->read_ms = pg->asked_ms;
    }
    pthread_mutex_unlock(&pg->news->lock);
}

/* ---------------------------------------------------------------- connections */

static int connect_with_news(struct store *store, struct postgres_news *news, wt_error *err)
{
    struct postgres *pg = store->database = calloc(1, sizeof *pg);
    WT_CHECK_ALLOC(pg, err);
    pg->news = hold_news(news);
    WT_CHECK_ALLOC(pg->news, err);
    return wt__postgres_connect(store, err);
}

static int connect_postgres(struct store *store, wt_error *err)
{
    return connect_with_news(store, NULL, err);
}

static int connect_postgres_reader(struct store *store, const struct store *of, wt_error *err)
{
    return connect_with_news(store, postgres_of(of)->news, err);
}

static void disconnect_postgres(struct store *store)
{
    struct postgres *pg = postgres_of(store);
    if (!pg)
        return;
    if (pg->pq)
        pg->pq->finish(pg->conn);
    release_news(pg->news);
    free(pg->url);
    free(pg);
}

static bool is_postgres_private(const struct store *store)
{
    (void)store;
    return false;
}

/* ---------------------------------------------------------------- transactions */

static bool is_in_postgres_transaction(const struct store *store)
{
    return postgres_of(store)->in_transaction;
}

static bool is_postgres_idle(const struct store *store)
{
    const struct postgres *pg = postgres_of(store);
    return !pg->in_transaction && !wt__postgres_is_lost(pg) && pg->pq->transactionStatus(pg->conn) == PG_IDLE;
}

/* Returns the number of the advisory lock for writers. */
static int64_t lock_number(const struct postgres *pg)
{
    unsigned char digest[32];
    int64_t number;
    char name[STORE_SCHEMA_MAX + 32];
    int len = snprintf(name, sizeof name, "whichtool writer %s", pg->schema);
    wt__sha256(name, (size_t)len, digest);
    memcpy(&number, digest, sizeof number);
    return number;
}

static void rollback_postgres(struct store *store)
{
    struct postgres *pg = postgres_of(store);
    if (pg->in_transaction && !wt__postgres_is_lost(pg))
        pg->pq->clear(pg->pq->exec(pg->conn, "ROLLBACK"));
    pg->in_transaction = pg->writing = false;
}

/* Runs SQL that begins a transaction. If the connection turns out to be lost, connects and runs it once more. */
static int run_begin(struct store *store, const char *sql, struct pg_result **result, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    WT_TRY(wt__postgres_ready(store, err));
    pg->begun_with = -1;
    int rc = wt__postgres_run(store, sql, result, err);
    if (rc < 0 && wt__postgres_is_lost(pg)) {
        WT_TRY(wt__postgres_ready(store, err));
        rc = wt__postgres_run(store, sql, result, err);
    }
    pg->in_transaction = true;
    if (rc < 0)
        rollback_postgres(store);
    return rc;
}

/* Takes the number of the transaction from the result of a query that tries to lock. Returns 1 if the lock was taken,
 * else 0. */
static int take_lock_result(struct postgres *pg, struct pg_result *result)
{
    pg->transaction = atoll(pg->pq->getvalue(result, 0, 0));
    pg->pq->clear(result);
    return pg->transaction != 0;
}

static int begin_write(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    struct pg_result *result = NULL;
    char sql[SQL_BYTES];
    int try_lock = snprintf(sql, sizeof sql, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ");
    snprintf(sql + try_lock, sizeof sql - (size_t)try_lock,
             "SELECT CASE WHEN pg_try_advisory_xact_lock(%" PRId64 ") THEN txid_current() ELSE 0 END", lock_number(pg));
    WT_TRY(run_begin(store, sql, &result, err));
    pg->writing = true;
    int rc = take_lock_result(pg, result);
    for (int count = 0; rc == 0; count++) {
        if (!wt__store_wait(store, count))
            rc = wt__store_fail_wait(store, err);
        else if ((rc = wt__postgres_run(store, sql + try_lock, &result, err)) == 0)
            rc = take_lock_result(pg, result);
    }
    if (rc < 0)
        rollback_postgres(store);
    return rc < 0 ? rc : 0;
}

/* Reads the version in the same round trip, because every find begins a transaction. */
static int begin_read(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    struct pg_result *result = NULL;
    char sql[SQL_BYTES];
    int len = snprintf(sql, sizeof sql, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (store->version > 0)
        snprintf(sql + len, sizeof sql - (size_t)len, "; SELECT value FROM \"%s\".meta WHERE key = 'version'",
                 pg->schema);
    WT_TRY(run_begin(store, sql, &result, err));
    if (store->version > 0)
        pg->begun_with = pg->pq->ntuples(result) == 1 ? atoll(pg->pq->getvalue(result, 0, 0)) : 0;
    pg->pq->clear(result);
    return 0;
}

static int begin_postgres(struct store *store, enum sql_transaction kind, wt_error *err)
{
    return kind == SQL_WRITE ? begin_write(store, err) : begin_read(store, err);
}

/* Finds out whether the transaction was committed, after the connection was lost during the commit. Waits while the
 * server has not noticed the loss. */
static int resolve_commit(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    double until = wt__now_ms() + STORE_RECONNECT_MS;
    char sql[SQL_BYTES], status[16] = "in progress";
    snprintf(sql, sizeof sql, "SELECT coalesce(txid_status(%" PRId64 "), 'unknown')", pg->transaction);
    while (strcmp(status, "in progress") == 0 && wt__now_ms() < until) {
        struct pg_result *row = NULL;
        if (wt__postgres_reconnect(store, NULL) < 0 || wt__postgres_run(store, sql, &row, NULL) < 0)
            break;
        snprintf(status, sizeof status, "%s", pg->pq->getvalue(row, 0, 0));
        pg->pq->clear(row);
        nanosleep(&(struct timespec){.tv_nsec = RECONNECT_PAUSE_MS * 1000000L}, NULL);
    }
    if (strcmp(status, "committed") == 0)
        return 0;
    if (strcmp(status, "aborted") == 0)
        return wt__postgres_fail_lost(store, err);
    return wt__fail(err, WT_EIO,
                    "%s: the connection to the database was lost while a change was stored: check whether it is there "
                    "before you repeat it",
                    store->path);
}

static int commit_postgres(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    char sql[SQL_BYTES];
    WT_TRY(wt__postgres_ready(store, err)); /* fails if the connection was lost before */
    if (pg->writing)
        snprintf(sql, sizeof sql, "NOTIFY " POSTGRES_CHANNEL ", '%s'; COMMIT", pg->schema);
    else
        snprintf(sql, sizeof sql, "COMMIT");
    int rc = wt__postgres_run(store, sql, NULL, err);
    if (rc < 0 && !wt__postgres_is_lost(pg))
        return rc;
    pg->in_transaction = false;
    if (rc < 0 && pg->writing)
        rc = resolve_commit(store, err);
    if (pg->writing)
        expire_news(pg->news);
    pg->writing = false;
    return rc;
}

/* ---------------------------------------------------------------- version */

static int create_schema(struct store *store, wt_error *err)
{
    const struct postgres *pg = postgres_of(store);
    struct pg_result *row = NULL;
    char sql[SQL_BYTES];
    snprintf(sql, sizeof sql, "SELECT to_regnamespace('\"%s\"') IS NOT NULL", pg->schema);
    WT_TRY(wt__postgres_run(store, sql, &row, err));
    bool exists = wt__postgres_is_true(pg, row, 0);
    pg->pq->clear(row);
    /* A role without the permission to create schemas can use an existing one. */
    snprintf(sql, sizeof sql, "%s \"%s\"", exists ? "SET LOCAL search_path TO" : "CREATE SCHEMA", pg->schema);
    WT_TRY(wt__postgres_run(store, sql, NULL, err));
    snprintf(sql, sizeof sql, "SET LOCAL search_path TO \"%s\"", pg->schema);
    return wt__postgres_run(store, sql, NULL, err);
}

/* Reads the version of a schema that may lack the tables. */
static int read_unknown_version(struct store *store, int64_t *version, wt_error *err)
{
    const struct postgres *pg = postgres_of(store);
    struct pg_result *row = NULL;
    char sql[SQL_BYTES];
    snprintf(sql, sizeof sql,
             "SELECT to_regclass('\"%s\".meta') IS NOT NULL, to_regclass('\"%s\".usage_tool') IS NOT NULL, EXISTS"
             " (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace('\"%s\"'))",
             pg->schema, pg->schema, pg->schema);
    WT_TRY(wt__postgres_run(store, sql, &row, err));
    bool has_meta = wt__postgres_is_true(pg, row, 0), has_others = wt__postgres_is_true(pg, row, 1),
         used = wt__postgres_is_true(pg, row, 2);
    pg->pq->clear(row);
    if (has_meta)
        return wt__sql_number(store, "SELECT value FROM meta WHERE key = 'version'", version, err);
    *version = 0;
    if (has_others)
        return wt__fail(err, WT_ESTORE, "%s is damaged: the table meta is missing; restore a backup", store->path);
    if (used)
        return wt__fail(err, WT_ESTORE, "the schema %s of %s has other tables, and is not a whichtool store",
                        pg->schema, store->path);
    if (store->read_only)
        return wt__fail(err, WT_ENOTFOUND, "%s holds no whichtool store: create it with a role that may write",
                        store->path);
    return pg->writing ? create_schema(store, err) : 0;
}

static int read_postgres_version(struct store *store, int64_t *version, wt_error *err)
{
    if (store->version == 0)
        return read_unknown_version(store, version, err);
    *version = postgres_of(store)->begun_with;
    return *version >= 0 ? 0 : wt__sql_number(store, "SELECT value FROM meta WHERE key = 'version'", version, err);
}

static int write_postgres_version(struct store *store, int64_t version, wt_error *err)
{
    int rc = wt__sql_run(store,
                         "INSERT INTO meta (key, value) VALUES ('version', ?1) ON CONFLICT (key) DO UPDATE"
                         " SET value = ?1",
                         SQL_VALUES(sql_integer(version)), err);
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- other operations */

static int exec_postgres(struct store *store, const char *sql, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__dialect_translate(&text, sql, postgres_of(store)->schema);
    WT_CHECK_ALLOC(!text.failed, err);
    WT_TRY(wt__postgres_ready(store, err));
    return wt__postgres_run(store, text.ptr ? text.ptr : "", NULL, err);
}

static int64_t count_postgres_changes(struct store *store)
{
    return postgres_of(store)->changes;
}

/* The next transaction's number grows with each change in any database of the server. */
static int read_postgres_change_mark(struct store *store, int64_t *out, wt_error *err)
{
    return wt__sql_number(store, "SELECT txid_snapshot_xmax(txid_current_snapshot())", out, err);
}

static void set_postgres_bulk(struct store *store, bool bulk)
{
    (void)store, (void)bulk;
}

/* ---------------------------------------------------------------- check and size */

/* Reads every row with all its values. The server reports damaged pages and values. References are checked by the
 * database as they are written. */
static int check_postgres(struct store *store, wt_error *err)
{
    static const char *const tables[] = {"meta",          "provider",   "source",   "tool",           "provider_alias",
                                         "model",         "vector",     "request",  "label",          "client",
                                         "usage",         "usage_tool", "contrast", "usage_encoding", "usage_sum",
                                         "review_server", "review"};
    const struct postgres *pg = postgres_of(store);
    WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};
    WT_TRY(wt__begin_read_scope(&scope, store, err));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[SQL_BYTES];
        snprintf(sql, sizeof sql, "SELECT count(hashtext(row_value::text)) FROM \"%s\".%s AS row_value", pg->schema,
                 tables[i]);
        WT_TRY(wt__postgres_run(store, sql, NULL, err));
    }
    return 0;
}

static uint64_t measure_postgres(struct store *store)
{
    const struct postgres *pg = postgres_of(store);
    struct pg_result *row = NULL;
    char sql[SQL_BYTES];
    snprintf(sql, sizeof sql,
             "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_catalog.pg_class"
             " WHERE relkind = 'r' AND relnamespace = to_regnamespace('\"%s\"')",
             pg->schema);
    if (wt__postgres_ready(store, NULL) < 0 || wt__postgres_run(store, sql, &row, NULL) < 0)
        return 0;
    uint64_t bytes = strtoull(pg->pq->getvalue(row, 0, 0), NULL, 10);
    pg->pq->clear(row);
    return bytes;
}

const struct sql_driver wt__postgres_driver = {
    .has_arrays = true,
    .migrations = wt__postgres_migrations,
    .migration_count = WT_STORE_VERSION,
    .connect = connect_postgres,
    .connect_reader = connect_postgres_reader,
    .disconnect = disconnect_postgres,
    .is_private = is_postgres_private,
    .in_transaction = is_in_postgres_transaction,
    .is_idle = is_postgres_idle,
    .begin = begin_postgres,
    .commit = commit_postgres,
    .rollback = rollback_postgres,
    .read_version = read_postgres_version,
    .write_version = write_postgres_version,
    .exec = exec_postgres,
    .prepare = wt__postgres_prepare,
    .start = wt__postgres_start,
    .step = wt__postgres_step,
    .reset = wt__postgres_reset,
    .finalize = wt__postgres_finalize,
    .bytes = wt__postgres_bytes,
    .integer = wt__postgres_integer,
    .changes = count_postgres_changes,
    .seen = read_postgres_seen,
    .note_seen = note_postgres_seen,
    .read_change_mark = read_postgres_change_mark,
    .set_bulk = set_postgres_bulk,
    .copy_vectors = wt__postgres_copy_vectors,
    .complete_copies = wt__postgres_complete_copies,
    .check = check_postgres,
    .size = measure_postgres,
};
