/* calls.c: past calls of tools with their arguments.
 *
 * A store file may come from anywhere, so arguments are validated before they are returned. The index usage_tool_label
 * (label, client, usage) finds the newest calls of a tool, because it lists the usages of a label in order. */
#include "store/internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* Limits of a lookup. A tool has more than one label only if its provider was renamed. */
enum {
    USAGES_READ = 1000, /* newest usages of a label that are read, for each client and for usages without a client */
    CLIENTS_READ = 64,  /* clients of a label whose usages are read */
    LABELS_READ = 16    /* newest labels of a tool that are read */
};

int wt__usage_arguments(struct store *store, struct sql_statement *row, int at, struct str *out, wt_error *err)
{
    wt_error why = {0};
    *out = wt__sql_column(row, at);
    if (out->len == 0) {
        *out = STR("");
        return 0;
    }
    int rc = wt__usage_check_arguments(*out, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    return rc < 0 ? wt__fail(err, WT_ESTORE, "%s is damaged: in a usage, %s", store->path, why.message) : 0;
}

int wt__usage_check_calls(struct store *store, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct str arguments;
    int rc;
    WT_TRY(wt__sql_open(store, "SELECT arguments FROM usage_tool WHERE arguments IS NOT NULL", NULL, &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1)
        WT_TRY(wt__usage_arguments(store, rows, 0, &arguments, err));
    return rc;
}

struct call_row {
    int64_t usage, position, request; /* position of the tool in the usage */
};

struct call_lookup {
    struct store *store;
    struct call_row *found; /* [count] */
    size_t count, capacity;
    size_t most;     /* maximum number of calls in the result */
    bool with_empty; /* include calls without arguments */
    wt_error *err;
};

/* True if one of the calls is for the request. */
static bool has_request(const struct call_row *calls, size_t count, int64_t request)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i].request == request)
            return true;
    return false;
}

/* client: SQL condition on the client, with the parameter ?4. */
#define SELECT_CALLS(client)                                                                                           \
    "SELECT x.usage, x.position, u.request, u.outcome <> 2 AND (?3 = 1 OR x.arguments IS NOT NULL)"                    \
    " FROM usage_tool x CROSS JOIN usage u ON u.id = x.usage WHERE x.label = ?1 AND x.client " client                  \
    " ORDER BY x.usage DESC LIMIT ?2"

/* Adds the newest calls of a label that one client reported, at most `most`. client is 0 for calls without a client. */
static int find_client_calls(struct call_lookup *c, int64_t label, int64_t client, size_t most)
{
    static const char *const selects[] = {SELECT_CALLS("IS NULL"), SELECT_CALLS("= ?4")};
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    size_t first = c->count;
    int rc = wt__sql_open(
        c->store, selects[client != 0],
        SQL_VALUES(sql_integer(label), sql_integer(USAGES_READ), sql_integer(c->with_empty), sql_client(client)), &rows,
        c->err);
    while (rc >= 0 && c->count - first < most && (rc = wt__sql_step(c->store, rows, c->err)) == 1) {
        struct call_row call = {wt__sql_integer(rows, 0), wt__sql_integer(rows, 1), wt__sql_integer(rows, 2)};
        if (!wt__sql_integer(rows, 3) || has_request(c->found + first, c->count - first, call.request))
            continue;
        if (wt__grow((void **)&c->found, &c->capacity, c->count + 1, sizeof call) < 0)
            return wt__fail_nomem(c->err);
        c->found[c->count++] = call;
    }
    return rc < 0 ? rc : 0;
}

/* Adds the newest calls of a label. The calls are shown to a language model as examples, so one client must not fill
 * the limit: each client may add only an equal share. Calls without a client count as one more client for the share,
 * but only c->most limits them. */
static int find_label_calls(struct call_lookup *c, int64_t label)
{
    static const char next[] =
        "SELECT client FROM usage_tool WHERE label = ?1 AND client < ?2 ORDER BY client DESC LIMIT 1";
    int64_t clients[CLIENTS_READ], client = INT64_MAX;
    size_t count = 0;
    int rc = 1;
    while (count < CLIENTS_READ &&
           (rc = wt__sql_find(c->store, next, SQL_VALUES(sql_integer(label), sql_integer(client)), &client, c->err)) ==
               1)
        clients[count++] = client;
    size_t before = c->count;
    if (rc >= 0)
        rc = find_client_calls(c, label, 0, c->most);
    size_t sharing = count + (c->count > before);
    size_t share = sharing > 0 ? (c->most + sharing - 1) / sharing : 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = find_client_calls(c, label, clients[i], share);
    return rc < 0 ? rc : 0;
}

static int compare_call_age(const void *left, const void *right)
{
    const struct call_row *a = left, *b = right;
    return (a->usage < b->usage) - (a->usage > b->usage);
}

/* Keeps the newest calls of all labels, each request once. */
static void keep_newest_calls(struct call_lookup *c)
{
    size_t kept = 0;
    if (c->count > 0)
        qsort(c->found, c->count, sizeof *c->found, compare_call_age);
    for (size_t i = 0; i < c->count && kept < c->most; i++)
        if (!has_request(c->found, kept, c->found[i].request))
            c->found[kept++] = c->found[i];
    c->count = kept;
}

/* Reads a call into the arena. Returns 1, or 0 if the usage was removed meanwhile. Also returns 0 if the call has no
 * arguments, unless c->with_empty. */
static int read_call(struct call_lookup *c, const struct call_row *call, struct arena *arena, struct recorded_call *out)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    WT_TRY(wt__sql_open(c->store,
                        "SELECT r.text, x.arguments FROM usage_tool x CROSS JOIN request r ON r.id = ?3"
                        " WHERE x.usage = ?1 AND x.position = ?2",
                        SQL_VALUES(sql_integer(call->usage), sql_integer(call->position), sql_integer(call->request)),
                        &row, c->err));
    int rc = wt__sql_step(c->store, row, c->err);
    if (rc <= 0)
        return rc;
    WT_TRY(wt__usage_arguments(c->store, row, 1, &out->arguments, c->err));
    out->request = wt__sql_copy(row, 0, arena);
    out->arguments.ptr = wt__arena_copy(arena, out->arguments);
    if (!out->request.ptr || !out->arguments.ptr)
        return wt__fail_nomem(c->err);
    return c->with_empty || out->arguments.len > 0;
}

/* Reads the calls of the tool into the arena. */
static int read_calls(struct call_lookup *c, int64_t tool, struct arena *arena, struct recorded_call **out,
                      size_t *count)
{
    int64_t labels[LABELS_READ];
    *count = 0;
    int label_count = wt__sql_integers(c->store, "SELECT id FROM label WHERE tool = ?1 ORDER BY id DESC",
                                       SQL_VALUES(sql_integer(tool)), labels, LABELS_READ, c->err);
    if (label_count < 0)
        return label_count;
    for (int i = 0; i < label_count; i++)
        WT_TRY(find_label_calls(c, labels[i]));
    keep_newest_calls(c);
    *out = wt__arena_array(arena, struct recorded_call, c->count);
    WT_CHECK_ALLOC(*out, c->err);
    size_t read = 0;
    for (size_t i = 0; i < c->count; i++) {
        int rc = read_call(c, &c->found[i], arena, &(*out)[read]);
        if (rc < 0)
            return rc;
        read += rc == 1;
    }
    *count = read;
    return 0;
}

int wt__store_recorded_calls(struct store *store, int64_t tool, size_t most, struct arena *arena,
                             struct recorded_call **out, size_t *count, wt_error *err)
{
    struct call_lookup c = {.store = store, .most = most < RECORDED_CALLS_MAX ? most : RECORDED_CALLS_MAX, .err = err};
    *out = NULL;
    int rc = read_calls(&c, tool, arena, out, count);
    free(c.found);
    return rc;
}

int wt__store_recorded_request(struct store *store, int64_t tool, struct arena *arena, struct str *out, wt_error *err)
{
    struct call_lookup c = {.store = store, .most = 1, .with_empty = true, .err = err};
    struct recorded_call *calls;
    size_t count;
    int rc = read_calls(&c, tool, arena, &calls, &count);
    free(c.found);
    *out = rc == 0 && count > 0 ? calls[0].request : STR("");
    return rc;
}
