/* postgres.c: connections to PostgreSQL: opening them again, messages for failures, and facts about the
 * server.
 *
 * A pooler is detected by the process id of the server: it differs from the id in the connection. A lost
 * connection is opened again between transactions, never within one. */
#include "store/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum { SQL_BYTES = 1024, RECONNECT_PAUSE_MS = 50 };

/* ---------------------------------------------------------------- failures */

bool wt__postgres_is_lost(const struct postgres *pg)
{
    return !pg->conn || pg->pq->status(pg->conn) != PG_CONNECTION_OK;
}

/* A failure without SQLSTATE comes from libpq, often before libpq notices the loss of the server. 57P01 to 57P03
 * and class 08 end the connection. */
bool wt__postgres_note_loss(struct postgres *pg, const struct pg_result *result)
{
    if (result && !wt__postgres_is_lost(pg) && pg->pq->resultStatus(result) == PG_FATAL_ERROR) {
        const char *state = pg->pq->resultErrorField(result, PG_DIAG_STATE);
        if (!state || strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0) {
            pg->pq->finish(pg->conn);
            pg->conn = NULL;
        }
    }
    return wt__postgres_is_lost(pg);
}

/* Error codes by SQLSTATE, or by its class of two characters. The message is: before, store, after, reason. */
static const struct {
    const char *state;
    int code;
    const char *before, *after;
} failures[] = {
    {"25006", WT_EREADONLY, "cannot write ", ""},
    {"42501", WT_EREADONLY, "", ": the role lacks a permission"},
    {"3D000", WT_ENOTFOUND, "cannot open ", ""},
    {"53100", WT_EFULL, "cannot write ", ""},
    {"40001", WT_EBUSY, "", ": another process changed the store at the same time"},
    {"40P01", WT_EBUSY, "", ": another process changed the store at the same time"},
    {"55P03", WT_EBUSY, "", ": another process keeps the store locked"},
    {"42P01", WT_ESTORE, "", " is damaged"},
    {"3F000", WT_ESTORE, "", " is damaged"},
    {"42703", WT_ESTORE, "", " is damaged"},
    {"54", WT_ETOOLONG, "", ""},
    {"57", WT_EIO, "", ": the server ended the operation, which changed nothing"},
    {"53", WT_EIO, "", ": the server lacks resources"},
    {"58", WT_EIO, "", ": the server failed"},
    {"XX", WT_ESTORE, "", " is damaged"},
    {"", WT_ESTORE, "", ": the database failed"},
};

/* Copies the first line of a message. libpq's messages contain no passwords. */
static void copy_reason(char out[256], const char *message)
{
    int len = (int)strcspn(message, "\n");
    snprintf(out, 256, "%.*s", len < 255 ? len : 255, message);
}

int wt__postgres_fail_lost(struct store *store, wt_error *err)
{
    return wt__fail(err, WT_EIO, "%s: the connection to the database was lost; nothing was changed: try again",
                    store->path);
}

int wt__postgres_fail(struct store *store, const struct pg_result *result, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    const char *state = result ? pg->pq->resultErrorField(result, PG_DIAG_STATE) : NULL;
    char reason[256];
    if (wt__postgres_note_loss(pg, result))
        return wt__postgres_fail_lost(store, err);
    if (!result)
        return wt__fail_nomem(err);
    const char *primary = pg->pq->resultErrorField(result, PG_DIAG_PRIMARY);
    copy_reason(reason, primary ? primary : pg->pq->errorMessage(pg->conn));
    size_t i = 0;
    while (strncmp(failures[i].state, state ? state : "", strlen(failures[i].state)) != 0)
        i++;
    return wt__fail(err, failures[i].code, "%s%s%s: %s", failures[i].before, store->path, failures[i].after, reason);
}

/* ---------------------------------------------------------------- connections */

static void ignore_notice(void *context, const char *message)
{
    (void)context, (void)message;
}

/* Opens a connection. The defaults before the URL can be changed by its parameters. */
static int open_connection(struct store *store, wt_error *err)
{
    static const char *const keywords[] = {"connect_timeout",
                                           "keepalives_idle",
                                           "tcp_user_timeout",
                                           "fallback_application_name",
                                           "dbname",
                                           "client_encoding",
                                           NULL};
    struct postgres *pg = postgres_of(store);
    const char *const values[] = {"10", "30", "30000", "whichtool", pg->url, "UTF8", NULL};
    char reason[256];
    pg->pq->finish(pg->conn); /* accepts NULL */
    pg->conn = pg->pq->connectdbParams(keywords, values, 1);
    WT_CHECK_ALLOC(pg->conn, err);
    if (wt__postgres_is_lost(pg)) {
        copy_reason(reason, pg->pq->errorMessage(pg->conn));
        return wt__fail(err, WT_ENETWORK, "cannot connect to %s: %s", store->path, reason);
    }
    pg->pq->setNoticeProcessor(pg->conn, ignore_notice, NULL);
    pg->session++;
    return 0;
}

int wt__postgres_run(struct store *store, const char *sql, struct pg_result **out, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    struct pg_result *result = pg->pq->exec(pg->conn, sql);
    int status = pg->pq->resultStatus(result), rc = 0;
    if (status != PG_TUPLES_OK && status != PG_COMMAND_OK)
        rc = wt__postgres_fail(store, result, err);
    if (out && rc == 0)
        *out = result;
    else
        pg->pq->clear(result);
    return rc;
}

bool wt__postgres_is_true(const struct postgres *pg, const struct pg_result *result, int column)
{
    return pg->pq->getvalue(result, 0, column)[0] == 't';
}

/* Reads facts about the server. */
static int inspect_server(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    struct pg_result *row = NULL;
    char sql[SQL_BYTES];
    snprintf(
        sql, sizeof sql,
        "SELECT pg_backend_pid(), current_setting('server_encoding'), current_setting('transaction_read_only') = "
        "'on', pg_is_in_recovery(), coalesce(NOT has_table_privilege(to_regclass('\"%s\".meta'), 'UPDATE'), false)",
        pg->schema);
    WT_TRY(wt__postgres_run(store, sql, &row, err));
    bool utf8 = strcmp(pg->pq->getvalue(row, 0, 1), "UTF8") == 0, standby = wt__postgres_is_true(pg, row, 3);
    pg->pooled = atoi(pg->pq->getvalue(row, 0, 0)) != pg->pq->backendPID(pg->conn);
    store->read_only |= wt__postgres_is_true(pg, row, 2) || wt__postgres_is_true(pg, row, 4);
    pg->pq->clear(row);
    if (!utf8)
        return wt__fail(err, WT_ESTORE, "the database of %s does not use UTF-8: create one with ENCODING 'UTF8'",
                        store->path);
    /* A standby has no notifications, and a pooler would drop them. */
    return pg->pooled || standby ? 0 : wt__postgres_run(store, "LISTEN " POSTGRES_CHANNEL, NULL, err);
}

/* Connects again, for as long as a restart of the server takes. */
int wt__postgres_reconnect(struct store *store, wt_error *err)
{
    double until = wt__now_ms() + (store->busy_ms < STORE_RECONNECT_MS ? store->busy_ms : STORE_RECONNECT_MS);
    int rc;
    while ((rc = open_connection(store, err)) == WT_ENETWORK && wt__now_ms() < until)
        nanosleep(&(struct timespec){.tv_nsec = RECONNECT_PAUSE_MS * 1000000L}, NULL);
    return rc == 0 ? inspect_server(store, err) : rc;
}

int wt__postgres_ready(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    if (!wt__postgres_is_lost(pg))
        return 0;
    return pg->in_transaction ? wt__postgres_fail_lost(store, err) : wt__postgres_reconnect(store, err);
}

/* libpq's messages about a malformed URL repeat parts of it, which may be a password. */
static int check_store_url(const struct postgres *pg, wt_error *err)
{
    char *message = NULL;
    struct pg_parameter *parameters = pg->pq->conninfoParse(pg->url, &message);
    pg->pq->conninfoFree(parameters); /* accepts NULL */
    pg->pq->freemem(message);
    return parameters ? 0
                      : wt__fail(err, WT_EINVAL,
                                 "the URL of the store is not valid for libpq: check its parameters and the %%-escapes "
                                 "in it");
}

int wt__postgres_connect(struct store *store, wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    WT_TRY(wt__libpq(&pg->pq, err));
    WT_TRY(wt__store_split_url(&pg->url, pg->schema, store->url, err));
    WT_TRY(check_store_url(pg, err));
    WT_TRY(open_connection(store, err));
    return inspect_server(store, err);
}
