/* trust.c: limits the weight of usages that clients report, so that a client cannot promote a tool with its own usages.
 *
 * Reports of clients cannot be verified. But several clients report a popular tool, and only one client reports a tool
 * that this client promotes. So usages with a client have a limited weight:
 *
 *   for the same request   The weight is clients / wanted, at most 1. `clients` is the number of clients that report
 *                          the tool. A client with few usages so far counts as a fraction of a client. `wanted` grows
 *                          with the number of clients in the store.
 *   in a tool's mean       Only a few usages of each client count. Their number falls as the number of clients in the
 *                          store grows.
 *
 * Usages without a client come from the owner of the store and always count in full. In a store with fewer than twenty
 * clients, usages for the same request also count in full, because the owner admitted each client.
 *
 * Clients are read one at a time from the index usage_tool_label (label, client). A client that reports a tool again
 * and again therefore does not use up the limits of the other clients. docs/learning.md ("False usages from clients of
 * a server") describes the alternatives and the cost. */
#include "store/internal.h"

enum {
    CLIENTS_MOST = 66,     /* maximum number of clients counted; more do not change the results */
    CLIENTS_A_WANTED = 10, /* `wanted` is the number of clients in the store divided by this */
    WANTED_MOST = 5,       /* maximum of `wanted` */
    CLIENT_KNOWN = 20,     /* usages, of any tool, after which a client has its full weight */
    BELIEVED = 200,        /* usages in a tool's mean, divided equally among the clients of the store */
    BELIEVED_LEAST = 3,    /* minimum number of usages that each client may have in a tool's mean */
    TRUST_READ = 200,      /* maximum clients of a tool read for wt__store_trust */
    BELIEVED_READ = 1000,  /* maximum clients of a tool read for wt__store_believed */
    REPORTS_READ = 16,     /* newest usages of a label read per client; the client counts if one did not fail */
    LABELS_READ = 16       /* maximum labels of a tool read */
};

/* Counts the rows of a query, which is "SELECT count(*) ...". */
static int count_rows(struct store *store, const char *sql, const struct sql_value *values, size_t *out, wt_error *err)
{
    int64_t count = 0;
    int rc = wt__sql_find(store, sql, values, &count, err);
    *out = (size_t)count;
    return rc < 0 ? rc : 0;
}

static int count_clients(struct store *store, size_t *out, wt_error *err)
{
    return count_rows(store, "SELECT count(*) FROM (SELECT 1 FROM client LIMIT ?1) c",
                      SQL_VALUES(sql_integer(CLIENTS_MOST)), out, err);
}

int wt__store_clients_wanted(struct store *store, size_t *out, wt_error *err)
{
    size_t clients;
    int rc = count_clients(store, &clients, err);
    size_t wanted = clients / CLIENTS_A_WANTED < WANTED_MOST ? clients / CLIENTS_A_WANTED : WANTED_MOST;
    *out = wanted < 2 ? 1 : wanted;
    return rc;
}

/* Reports of clients about one tool, read until is_sufficient is true. */
struct tool_reports {
    struct store *store;
    int64_t clients[BELIEVED_READ];  /* clients that report the tool */
    size_t usages_of[BELIEVED_READ]; /* usages of each client that count, at most `most` */
    size_t count;                    /* number of clients read */
    size_t most_clients;             /* maximum of `count` */
    bool has_anonymous;              /* true if a usage that did not fail has no client */
    double weight;                   /* number of clients, each weighted by its usages so far */
    double wanted;                   /* clients needed for full trust; 0 if usages are counted instead */
    size_t believed;                 /* usages that count, of all clients and without a client */
    size_t most;                     /* maximum usages of one client that count; 0 if `wanted` is used */
    size_t enough;                   /* value of `believed` at which reading stops; 0 if `wanted` is used */
    wt_error *err;
};

static bool is_sufficient(const struct tool_reports *t)
{
    bool enough = t->wanted > 0 ? t->has_anonymous || t->weight >= t->wanted : t->believed >= t->enough;
    return enough || t->count >= t->most_clients;
}

/* Adds the client to `weight`, weighted by its usages of any tool. */
static int weigh_client(struct tool_reports *t, int64_t client)
{
    size_t usages;
    int rc = count_rows(t->store, "SELECT count(*) FROM (SELECT 1 FROM usage WHERE client = ?1 LIMIT ?2) u",
                        SQL_VALUES(sql_integer(client), sql_integer(CLIENT_KNOWN)), &usages, t->err);
    t->weight += (double)usages / CLIENT_KNOWN;
    return rc;
}

/* client: SQL condition on the client, with the parameter ?3. */
#define COUNT_USAGES_OF_LABEL(client)                                                                                  \
    "SELECT count(*) FROM (SELECT u.outcome FROM usage_tool x CROSS JOIN usage u ON u.id = x.usage"                    \
    " WHERE x.label = ?1 AND x.client " client " ORDER BY x.usage DESC LIMIT ?2) o WHERE outcome <> 2"

/* Counts the usages that did not fail among the client's newest `most` usages of the label. client is 0 for usages
 * without a client. */
static int count_label_usages(struct tool_reports *t, int64_t label, int64_t client, size_t most, size_t *out)
{
    static const char *const selects[] = {COUNT_USAGES_OF_LABEL("IS NULL"), COUNT_USAGES_OF_LABEL("= ?3")};
    return count_rows(t->store, selects[client != 0],
                      SQL_VALUES(sql_integer(label), sql_integer((int64_t)most), sql_client(client)), out, t->err);
}

/* Adds the usages of a client with this label. others: number of clients read for earlier labels of the tool. Only
 * these may include the client already. */
static int add_client_reports(struct tool_reports *t, int64_t label, int64_t client, size_t others)
{
    size_t i = 0, usages;
    int rc = count_label_usages(t, label, client, t->wanted > 0 ? REPORTS_READ : t->most, &usages);
    if (rc < 0 || usages == 0)
        return rc;
    while (i < others && t->clients[i] != client)
        i++;
    if (i == others)
        i = t->count;
    if (i == t->count) {
        t->clients[t->count] = client;
        t->usages_of[t->count++] = 0;
        rc = t->wanted > 0 ? weigh_client(t, client) : 0;
    }
    size_t left = t->most > t->usages_of[i] ? t->most - t->usages_of[i] : 0;
    t->usages_of[i] += usages < left ? usages : left;
    t->believed += usages < left ? usages : left;
    return rc;
}

static int read_label_reports(struct tool_reports *t, int64_t label)
{
    static const char next[] =
        "SELECT client FROM usage_tool WHERE label = ?1 AND client < ?2 ORDER BY client DESC LIMIT 1";
    size_t anonymous, others = t->count;
    int64_t client = INT64_MAX;
    int rc = count_label_usages(t, label, 0, t->wanted > 0 ? REPORTS_READ : t->enough, &anonymous);
    t->has_anonymous |= anonymous > 0;
    t->believed += anonymous;
    while (rc == 0 && !is_sufficient(t)) {
        rc = wt__sql_find(t->store, next, SQL_VALUES(sql_integer(label), sql_integer(client)), &client, t->err);
        if (rc <= 0)
            break;
        rc = add_client_reports(t, label, client, others);
    }
    return rc < 0 ? rc : 0;
}

static int read_tool_reports(struct tool_reports *t, int64_t tool)
{
    int64_t labels[LABELS_READ];
    int count = wt__sql_integers(t->store, "SELECT id FROM label WHERE tool = ?1 ORDER BY id DESC",
                                 SQL_VALUES(sql_integer(tool)), labels, LABELS_READ, t->err);
    for (int i = 0; i < count; i++)
        WT_TRY(read_label_reports(t, labels[i]));
    return count < 0 ? count : 0;
}

int wt__store_trust(struct store *store, int64_t tool, size_t *budget, double *out, wt_error *err)
{
    size_t wanted;
    *out = 1;
    int rc = wt__store_clients_wanted(store, &wanted, err);
    if (rc < 0 || wanted < 2)
        return rc;
    struct tool_reports t = {.store = store,
                             .wanted = (double)wanted,
                             .most_clients = *budget < TRUST_READ ? *budget : TRUST_READ,
                             .err = err};
    rc = read_tool_reports(&t, tool);
    *budget -= t.count;
    if (rc == 0 && !t.has_anonymous && t.weight < t.wanted)
        *out = (t.weight > 0 ? t.weight : 1. / CLIENT_KNOWN) / t.wanted;
    return rc;
}

int wt__store_believed(struct store *store, int64_t tool, uint32_t *uses, wt_error *err)
{
    size_t clients;
    int rc = count_clients(store, &clients, err);
    if (rc < 0 || clients < 2 || *uses <= BELIEVED_LEAST)
        return rc;
    size_t most = BELIEVED / clients > BELIEVED_LEAST ? BELIEVED / clients : BELIEVED_LEAST;
    struct tool_reports t = {.store = store, .most = most, .enough = *uses, .most_clients = BELIEVED_READ, .err = err};
    rc = read_tool_reports(&t, tool);
    if (rc == 0 && t.believed < *uses)
        *uses = (uint32_t)t.believed;
    return rc;
}
