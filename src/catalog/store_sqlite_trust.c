/* store_sqlite_trust.c: how far clients are believed of a tool: nobody buys it a place with usages of their own.
 *
 * What a client says of the use of a tool cannot be looked into. But a tool that many use is told of by several
 * clients, and one that somebody wants to be found is told of by that one. So usages that clients told count
 *
 *   of the very same request   by clients / wanted, 1 at most: wanted grows with the clients of the store, and of the
 *                              clients that told of the tool, those that told of few usages so far are parts of one
 *   in a tool's mean           a client for a few usages, the fewer the more clients there are
 *
 * A store of few clients has them because somebody let them in: they count in full. Usages that name no client are told
 * by whoever has the store, and count in full anywhere. Both are told of the tool's newest usages. docs/learning.md
 * ("False usages, told to a server") has what was tried and what it costs. */
#include "catalog/store_sqlite.h"

enum {
    CLIENTS_MOST = 66,     /* that are counted: beyond them nothing changes */
    CLIENTS_A_WANTED = 10, /* for so many in the store one more must tell of the tool, */
    WANTED_MOST = 5,       /* up to so many, */
    CLIENT_KNOWN = 20,     /* each of which has told of so many usages, of whatever tool */
    BELIEVED = 200,        /* usages of a tool's mean that all clients together are worth, */
    BELIEVED_LEAST = 3,    /* and one of them at least */
    TRUST_READ = 200,      /* usages that are read for the first */
    BELIEVED_READ = 1000,  /* and for the second */
    LABELS_READ = 16
};

static int count_clients(struct store *store, size_t *out, wt_error *err)
{
    sqlite3_stmt *row;
    *out = 0;
    int rc = wt__sql_prepare(store, "SELECT count(*) FROM (SELECT 1 FROM client LIMIT ?1)", &row, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int(row, 1, CLIENTS_MOST);
    rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *out = (size_t)sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

/* What is told of one tool, the newest usages first, until it is enough. */
struct telling {
    struct store *store;
    int64_t clients[BELIEVED_READ]; /* that told of it, */
    size_t told[BELIEVED_READ];     /* and how often each */
    size_t count;
    size_t read, read_most; /* usages */
    bool untold;            /* one names no client */
    double heard;           /* clients, each by what it told of so far */
    double wanted;          /* of those: nothing changes beyond; 0: it does not matter who they are */
    size_t believed;        /* usages that count, */
    size_t most;            /* of one client, */
    size_t enough;          /* and how many are wanted */
    wt_error *err;
};

static bool is_enough(const struct telling *t)
{
    bool enough = t->wanted > 0 ? t->untold || t->heard >= t->wanted : t->believed >= t->enough;
    return enough || t->read >= t->read_most;
}

/* By its usages of whatever tool. */
static int hear_client(struct telling *t, int64_t client)
{
    sqlite3_stmt *row;
    int rc = wt__sql_prepare(t->store, "SELECT count(*) FROM (SELECT 1 FROM usage WHERE client = ?1 LIMIT ?2)", &row,
                             t->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(row, 1, client);
    sqlite3_bind_int(row, 2, CLIENT_KNOWN);
    rc = wt__sql_step(t->store, row, t->err);
    if (rc == 1)
        t->heard += (double)sqlite3_column_int64(row, 0) / CLIENT_KNOWN;
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

static int hear(struct telling *t, int64_t client)
{
    size_t i = 0;
    int rc = 0;
    if (client == 0) {
        t->untold = true;
        t->believed++;
        return 0;
    }
    while (i < t->count && t->clients[i] != client)
        i++;
    if (i == t->count) {
        t->clients[t->count] = client;
        t->told[t->count++] = 0;
        rc = t->wanted > 0 ? hear_client(t, client) : 0;
    }
    t->believed += t->told[i] < t->most;
    t->told[i]++;
    return rc;
}

static int hear_label(struct telling *t, int64_t label)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(t->store,
                             "SELECT u.client, u.outcome FROM usage_tool x CROSS JOIN usage u ON u.id = x.usage"
                             " WHERE x.label = ?1 ORDER BY x.usage DESC",
                             &rows, t->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, label);
    while (!is_enough(t) && (rc = wt__sql_step(t->store, rows, t->err)) == 1) {
        t->read++;
        if (sqlite3_column_int(rows, 1) != USAGE_FAILED)
            rc = hear(t, sqlite3_column_int64(rows, 0));
        if (rc < 0)
            break;
    }
    wt__sql_reset(rows);
    return rc < 0 ? rc : 0;
}

static int hear_tool(struct telling *t, int64_t tool)
{
    sqlite3_stmt *rows;
    int64_t labels[LABELS_READ];
    int count = 0;
    int rc = wt__sql_prepare(t->store, "SELECT id FROM label WHERE tool = ?1 ORDER BY id DESC", &rows, t->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, tool);
    while (count < LABELS_READ && (rc = wt__sql_step(t->store, rows, t->err)) == 1)
        labels[count++] = sqlite3_column_int64(rows, 0);
    wt__sql_reset(rows);
    for (int i = 0; rc >= 0 && i < count; i++)
        rc = hear_label(t, labels[i]);
    return rc < 0 ? rc : 0;
}

int wt__store_trust(struct store *store, int64_t tool, size_t *budget, double *out, wt_error *err)
{
    size_t clients;
    *out = 1;
    int rc = count_clients(store, &clients, err);
    size_t wanted = clients / CLIENTS_A_WANTED < WANTED_MOST ? clients / CLIENTS_A_WANTED : WANTED_MOST;
    if (rc < 0 || wanted < 2)
        return rc;
    struct telling t = {
        .store = store, .wanted = (double)wanted, .read_most = *budget < TRUST_READ ? *budget : TRUST_READ, .err = err};
    rc = hear_tool(&t, tool);
    *budget -= t.read;
    if (rc == 0 && !t.untold && t.heard < t.wanted)
        *out = (t.heard > 0 ? t.heard : 1. / CLIENT_KNOWN) / t.wanted;
    return rc;
}

int wt__store_believed(struct store *store, int64_t tool, uint32_t *uses, wt_error *err)
{
    size_t clients;
    int rc = count_clients(store, &clients, err);
    if (rc < 0 || clients < 2 || *uses <= BELIEVED_LEAST)
        return rc;
    size_t most = BELIEVED / clients > BELIEVED_LEAST ? BELIEVED / clients : BELIEVED_LEAST;
    struct telling t = {.store = store, .most = most, .enough = *uses, .read_most = BELIEVED_READ, .err = err};
    rc = hear_tool(&t, tool);
    if (rc == 0 && t.believed < *uses)
        *uses = (uint32_t)t.believed;
    return rc;
}
