/* postgres.h: a connection to PostgreSQL, shared by driver_postgres.c and postgres_rows.c. */
#ifndef WT_STORE_POSTGRES_H
#define WT_STORE_POSTGRES_H

#include <stdbool.h>

#include "base/buffer.h"
#include "store/driver.h"
#include "store/libpq.h"
#include "store/location.h"

#define POSTGRES_CHANNEL "whichtool" /* channel of notifications */

struct postgres_news;

struct postgres {
    const struct libpq *pq;
    struct pg_conn *conn; /* NULL if not connected */
    char *url;            /* URL for libpq */
    char schema[STORE_SCHEMA_MAX + 1];
    unsigned session;    /* number of connections so far; statements prepared in an earlier one are lost */
    bool pooled;         /* a pooler may run each transaction on another server connection */
    bool in_transaction; /* a transaction has begun and not ended, even if the connection is lost */
    bool writing;        /* the transaction may write */
    int64_t transaction; /* number of the write transaction in the database */
    int64_t begun_with;  /* version that the current transaction read as it began; -1 if unknown */
    int64_t changes;
    uint64_t asked;             /* state of the news before the counters were read */
    double asked_ms;            /* time of that */
    struct postgres_news *news; /* shared with the other connections of the store */
};

static inline struct postgres *postgres_of(const struct store *store)
{
    return store->database;
}

/* Opens store->url. store->database is a struct postgres without a connection. */
int wt__postgres_connect(struct store *store, wt_error *err);
/* Opens a lost connection again; tries for the time of a restart of the server. */
int wt__postgres_reconnect(struct store *store, wt_error *err);
int wt__postgres_fail_lost(struct store *store, wt_error *err);
/* Returns the Boolean in a column of the first row. */
bool wt__postgres_is_true(const struct postgres *pg, const struct pg_result *result, int column);
/* Fails with the reason in a result, which may be NULL if the connection failed. */
int wt__postgres_fail(struct store *store, const struct pg_result *result, wt_error *err);
/* Connects again if the connection was lost. Fails within a transaction, because its changes are lost. */
int wt__postgres_ready(struct store *store, wt_error *err);
/* True if the connection is lost. */
bool wt__postgres_is_lost(const struct postgres *pg);
/* Works like wt__postgres_is_lost, after a statement with this result, which may be NULL. */
bool wt__postgres_note_loss(struct postgres *pg, const struct pg_result *result);
/* Runs SQL that needs no translation. *result is the result of the last statement; the caller clears it. */
int wt__postgres_run(struct store *store, const char *sql, struct pg_result **result, wt_error *err);

/* Runs a statement with values, whose text is not kept. Ignores its rows. */
int wt__postgres_run_values(struct store *store, const char *sql, const struct sql_value *values, wt_error *err);

/* Copies for pgvector (postgres_vectors.c); see struct sql_driver. */
int wt__postgres_copy_vectors(struct store *store, const struct vector_set *set, int64_t model, const int64_t *tools,
                              const float *const *vectors, size_t count, wt_error *err);
int wt__postgres_complete_copies(struct store *store, wt_error *err);

/* Statements (postgres_rows.c); see struct sql_driver. */
int wt__postgres_prepare(struct store *store, const char *sql, struct sql_statement **out, wt_error *err);
int wt__postgres_start(struct store *store, struct sql_statement *statement, const struct sql_value *values,
                       wt_error *err);
int wt__postgres_step(struct store *store, struct sql_statement *statement, wt_error *err);
void wt__postgres_reset(struct sql_statement *statement);
void wt__postgres_finalize(struct sql_statement *statement);
struct str wt__postgres_bytes(struct sql_statement *statement, int at);
int64_t wt__postgres_integer(struct sql_statement *statement, int at);

#endif
