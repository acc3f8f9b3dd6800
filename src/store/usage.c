/* usage.c: recorded use: requests, labels of the tools used, and links from labels to tools.
 *
 * Usages with the same request share one request row, so that a frequent request is stored once. Labels are shared in
 * the same way. A request or label is deleted with its last usage. */
#include "store/internal.h"

#include <time.h>

#include "base/memory.h"

enum { STEP_USAGES = 256 }; /* usages between two progress reports */

/* ---------------------------------------------------------------- counters */

static int read_counter(struct store *store, const char *key, uint64_t *out, wt_error *err)
{
    int64_t value = 0;
    int rc = wt__sql_find(store, "SELECT value FROM meta WHERE key = ?1", SQL_VALUES(sql_string(key)), &value, err);
    *out = (uint64_t)value;
    return rc < 0 ? rc : 0;
}

static int add_to_counter(struct store *store, const char *key, int64_t more, wt_error *err)
{
    return wt__sql_run(store, "UPDATE meta SET value = value + ?1 WHERE key = ?2",
                       SQL_VALUES(sql_integer(more), sql_string(key)), err);
}

/* Reads the counters in one statement, because each statement locks the file or asks the server. */
int wt__store_usage_info(struct store *store, struct usage_info *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    if (store->driver->seen(store, out))
        return 0;
    int rc = wt__sql_open(store,
                          "SELECT (SELECT value FROM meta WHERE key = 'generation'),"
                          " (SELECT value FROM meta WHERE key = 'usage_generation'),"
                          " (SELECT value FROM meta WHERE key = 'sums_generation'),"
                          " (SELECT value FROM meta WHERE key = 'usages')",
                          NULL, &row, err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    *out = (struct usage_info){0};
    if (rc == 1)
        *out = (struct usage_info){.catalogue = (uint64_t)wt__sql_integer(row, 0),
                                   .generation = (uint64_t)wt__sql_integer(row, 1),
                                   .sums_generation = (uint64_t)wt__sql_integer(row, 2),
                                   .usages = (uint64_t)wt__sql_integer(row, 3)};
    if (rc == 1)
        store->driver->note_seen(store, out);
    return rc < 0 ? rc : 0;
}

int wt__usage_touch(struct store *store, wt_error *err)
{
    return add_to_counter(store, "usage_generation", 1, err);
}

int wt__usage_next_sums(struct store *store, uint64_t *out, wt_error *err)
{
    int rc = add_to_counter(store, "sums_generation", 1, err);
    return rc < 0 ? rc : read_counter(store, "sums_generation", out, err);
}

/* ---------------------------------------------------------------- adding */

/* Finds or inserts the row of a request. */
static int request_row(struct store *store, struct str text, int64_t *id, wt_error *err)
{
    int rc = wt__store_request_row(store, text, id, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    return wt__sql_insert(store, "INSERT INTO request (hash, text) VALUES (?1, ?2) RETURNING id",
                          SQL_VALUES(sql_integer((int64_t)wt__store_request_hash(text)), sql_text(text)), id, err);
}

/* Finds or inserts the label of a used tool. If the tool exists, the label is linked to the tool and named
 * "provider/name". Otherwise the label has no tool and the recorded text as its name. */
static int label_row(struct store *store, const struct usage_tool *tool, int64_t *id, wt_error *err)
{
    const struct sql_value *row = SQL_VALUES(sql_integer(tool->tool)), *label = SQL_VALUES(sql_text(tool->label));
    int rc = 0;
    if (tool->tool != 0) {
        rc = wt__sql_find(store, "SELECT id FROM label WHERE tool = ?1", row, id, err);
        if (rc == 0)
            rc = wt__sql_find(store,
                              "INSERT INTO label (name, tool) SELECT CASE p.name WHEN '' THEN t.name"
                              " ELSE p.name || '/' || t.name END, t.id FROM tool t JOIN provider p ON p.id = "
                              "t.provider WHERE t.id = ?1 RETURNING id",
                              row, id, err);
    }
    if (rc == 0)
        rc = wt__sql_find(store, "SELECT id FROM label WHERE name = ?1 AND tool IS NULL", label, id, err);
    if (rc == 0)
        rc = wt__sql_find(store, "INSERT INTO label (name) VALUES (?1) RETURNING id", label, id, err);
    return rc < 0 ? rc : 0;
}

static int add_label(struct store *store, int64_t usage, size_t position, int64_t label, struct str arguments,
                     wt_error *err)
{
    return wt__sql_run(store,
                       "INSERT INTO usage_tool (usage, position, label, arguments, client)"
                       " VALUES (?1, ?2, ?3, ?4, (SELECT client FROM usage WHERE id = ?1))",
                       SQL_VALUES(sql_integer(usage), sql_integer((int64_t)position), sql_integer(label),
                                  arguments.len > 0 ? sql_text(arguments) : sql_null()),
                       err);
}

static int insert_usage(struct store *store, const struct usage *usage, int64_t *id, wt_error *err)
{
    int64_t request = 0, label = 0;
    WT_TRY(request_row(store, usage->request, &request, err));
    if (usage->client.len > 0)
        WT_TRY(wt__sql_run(store, "INSERT INTO client (name) VALUES (?1) ON CONFLICT DO NOTHING",
                           SQL_VALUES(sql_text(usage->client)), err));
    WT_TRY(wt__sql_insert(store,
                          "INSERT INTO usage (request, hash, outcome, created, client, key) VALUES (?1,"
                          " (SELECT hash FROM request WHERE id = ?1), ?2, ?3,"
                          " (SELECT id FROM client WHERE name = ?4), nullif(?5, '')) RETURNING id",
                          SQL_VALUES(sql_integer(request), sql_integer(usage->outcome), sql_integer(usage->time),
                                     sql_text(usage->client), sql_text(usage->key)),
                          id, err));
    if (usage->client.len > 0) /* Set the client's newest usage, which orders clients by activity. */
        WT_TRY(wt__sql_run(store, "UPDATE client SET last = ?1 WHERE name = ?2",
                           SQL_VALUES(sql_integer(*id), sql_text(usage->client)), err));
    for (size_t i = 0; i < usage->tool_count; i++) {
        WT_TRY(label_row(store, &usage->tools[i], &label, err));
        WT_TRY(add_label(store, *id, i, label, usage->tools[i].arguments, err));
    }
    return 0;
}

/* Finds the stored usage with the same client and key as `usage`. Returns 1 with its id and outcome, else 0. */
static int find_usage_key(struct store *store, const struct usage *usage, int64_t *id, enum usage_outcome *outcome,
                          wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    WT_TRY(wt__sql_open(store,
                        "SELECT id, outcome FROM usage WHERE key = ?1 AND coalesce(client, 0) ="
                        " CASE ?2 WHEN '' THEN 0 ELSE (SELECT id FROM client WHERE name = ?2) END",
                        SQL_VALUES(sql_text(usage->key), sql_text(usage->client)), &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        *id = wt__sql_integer(row, 0);
        *outcome = (enum usage_outcome)wt__sql_integer(row, 1);
    }
    return rc;
}

/* Marks the selected sums as stale, and inserts rows for sums that do not exist yet. Parameters: ?1 the id of a usage
 * or of a tool, ?2 the new generation. */
#define STALE_SUMS(select)                                                                                             \
    "INSERT INTO usage_sum (tool, encoding, generation, uses, data) " select                                           \
    " ON CONFLICT (tool, encoding) DO UPDATE SET generation = excluded.generation, uses = -1, data = x''"

static int mark_sums_stale(struct store *store, const char *stale_sums, int64_t id, wt_error *err)
{
    uint64_t generation;
    WT_TRY(wt__usage_next_sums(store, &generation, err));
    return wt__sql_run(store, stale_sums, SQL_VALUES(sql_integer(id), sql_integer((int64_t)generation)), err);
}

/* Marks the sums of the usage's tools as stale in each vector set whose mark has reached the usage. */
static int make_usage_stale(struct store *store, int64_t usage, wt_error *err)
{
    return mark_sums_stale(store,
                           STALE_SUMS("SELECT DISTINCT l.tool, e.id, ?2, -1, x'' FROM usage_tool x"
                                      " CROSS JOIN label l ON l.id = x.label CROSS JOIN usage_encoding e"
                                      " ON e.last >= ?1 WHERE x.usage = ?1 AND l.tool IS NOT NULL"),
                           usage, err);
}

static int set_outcome(struct store *store, int64_t usage, enum usage_outcome before, enum usage_outcome outcome,
                       wt_error *err)
{
    WT_TRY(wt__sql_run(store, "UPDATE usage SET outcome = ?2 WHERE id = ?1",
                       SQL_VALUES(sql_integer(usage), sql_integer(outcome)), err));
    bool teaches = outcome != USAGE_FAILED, taught = before != USAGE_FAILED;
    return teaches != taught ? make_usage_stale(store, usage, err) : 0;
}

static int add_one_usage(struct store *store, const struct usage *usage, enum usage_fate *fate, int64_t *id,
                         wt_error *err)
{
    enum usage_outcome before = USAGE_UNKNOWN;
    int64_t there = 0;
    int known = usage->key.len > 0 ? find_usage_key(store, usage, &there, &before, err) : 0;
    *fate = known ? USAGE_REPEATED : USAGE_ADDED;
    if (known < 0)
        return known;
    if (usage->tool_count > 0)
        return known ? 0 : insert_usage(store, usage, id, err);
    if (!known)
        *fate = USAGE_MISSING;
    if (!known || before == usage->outcome)
        return 0;
    *fate = USAGE_CHANGED;
    return set_outcome(store, there, before, usage->outcome, err);
}

static int check_room(struct store *store, size_t count, wt_error *err)
{
    uint64_t there;
    WT_TRY(read_counter(store, "usages", &there, err));
    if (there + count <= WT_MAX_USAGES)
        return 0;
    return wt__fail(err, WT_ETOOLONG, "%s would hold %llu usages; at most %d fit: forget old ones", store->path,
                    (unsigned long long)there + count, WT_MAX_USAGES);
}

static int add_usages(struct store *store, const struct usage *usages, size_t count, struct progress *progress,
                      enum usage_fate *fates, int64_t *last, wt_error *err)
{
    int64_t added = 0;
    WT_TRY(check_room(store, count, err));
    for (size_t i = 0; i < count; i++) {
        enum usage_fate fate;
        WT_TRY(add_one_usage(store, &usages[i], &fate, last, err));
        added += fate == USAGE_ADDED;
        if (fates)
            fates[i] = fate;
        size_t done = i % STEP_USAGES + 1;
        if ((done == STEP_USAGES || i + 1 == count) && wt__progress_step(progress, done))
            return wt__fail_cancelled(err);
    }
    WT_TRY(add_to_counter(store, "usages", added, err));
    return wt__usage_touch(store, err);
}

int wt__store_add_usages(struct store *store, const struct usage *usages, size_t count, struct progress *progress,
                         enum usage_fate *fates, int64_t *last, wt_error *err)
{
    struct progress *before = store->progress;
    int64_t id = 0;
    if (wt__progress_phase(progress, "storing", count))
        return wt__fail_cancelled(err);
    store->progress = progress;
    int rc = wt__sql_begin_bulk(store, err);
    if (rc == 0)
        rc = wt__sql_end_bulk(store, add_usages(store, usages, count, progress, fates, &id, err), err);
    store->progress = before;
    if (rc == 0 && last)
        *last = id;
    return rc;
}

/* Removes the ids of segments that no replica can still deliver, at most once a day, because it reads the whole
 * table. */
static int prune_segments(struct store *store, int64_t now, wt_error *err)
{
    enum { DAY_SECONDS = 24 * 60 * 60 };
    if (now - store->segments_pruned_s < DAY_SECONDS)
        return 0;
    store->segments_pruned_s = now;
    return wt__sql_run(store, "DELETE FROM usage_segment WHERE applied < ?1",
                       SQL_VALUES(sql_integer(now - (int64_t)SEGMENT_ID_DAYS * DAY_SECONDS)), err);
}

/* Adds the id of a segment and its usages. Returns 1, or 0 if the id is known. */
static int add_usage_segment(struct store *store, struct str id, const struct usage *usages, size_t count,
                             enum usage_fate *fates, wt_error *err)
{
    int64_t last = 0, now = (int64_t)time(NULL);
    WT_TRY(prune_segments(store, now, err));
    WT_TRY(wt__sql_run(store, "INSERT INTO usage_segment (id, applied) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING",
                       SQL_VALUES(sql_text(id), sql_integer(now)), err));
    if (wt__sql_changes(store) == 0)
        return 0;
    int rc = count > 0 ? add_usages(store, usages, count, NULL, fates, &last, err) : 0;
    return rc < 0 ? rc : 1;
}

int wt__store_add_segment(struct store *store, struct str id, const struct usage *usages, size_t count,
                          enum usage_fate *fates, wt_error *err)
{
    WT_TRY(wt__sql_begin(store, err));
    return wt__sql_end(store, add_usage_segment(store, id, usages, count, fates, err), err);
}

/* Maximum earlier usages with the same client and request that are compared with one usage. Without the limit, an
 * import that repeats one request would take quadratic time. */
#define AGAIN_SEEN "16"
#define LABELS_OF(usage) "SELECT position, label FROM usage_tool WHERE usage = " usage

int wt__store_count_again(struct store *store, int64_t after, uint64_t *out, wt_error *err)
{
    int64_t count = 0;
    int rc = wt__sql_find(store,
                          "SELECT count(*) FROM usage u WHERE u.id > ?1 AND u.key IS NULL AND EXISTS"
                          " (SELECT 1 FROM (SELECT id FROM usage WHERE request = u.request"
                          "  AND (client = u.client OR (client IS NULL AND u.client IS NULL))"
                          "  AND id <= ?1 LIMIT " AGAIN_SEEN ") o"
                          " WHERE NOT EXISTS (" LABELS_OF("o.id") " EXCEPT " LABELS_OF(
                              "u.id") ")"
                                      " AND NOT EXISTS (" LABELS_OF("u.id") " EXCEPT " LABELS_OF("o.id") "))",
                          SQL_VALUES(sql_integer(after)), &count, err);
    *out = (uint64_t)count;
    return rc < 0 ? rc : 0;
}

int wt__store_count_teaching(struct store *store, uint64_t *usages, uint64_t *requests, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *usages = *requests = 0;
    WT_TRY(wt__sql_open(store,
                        "SELECT count(*), count(DISTINCT u.request) FROM usage u WHERE u.outcome <> 2 AND EXISTS"
                        " (SELECT 1 FROM usage_tool x CROSS JOIN label l ON l.id = x.label"
                        " WHERE x.usage = u.id AND l.tool IS NOT NULL)",
                        NULL, &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        *usages = (uint64_t)wt__sql_integer(row, 0);
        *requests = (uint64_t)wt__sql_integer(row, 1);
    }
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- selecting usages */

/* Parameters: ?1 after, ?2 upto, ?3 before, ?4 teaching, ?5 tool, ?6 client, ?8 label. ?7 is the limit in READ_USAGES,
 * the new generation in MARK_STALE, and unused otherwise. */
#define OF_ANY_TOOL                                                                                                    \
    " u.id > ?1 AND u.id <= ?2 AND (?3 = 0 OR u.created < ?3)"                                                         \
    " AND (?6 = '' OR u.client = (SELECT id FROM client WHERE name = ?6))"                                             \
    " AND (?4 = 0 OR (u.outcome <> 2 AND EXISTS (SELECT 1 FROM usage_tool x CROSS JOIN label l ON l.id = x.label"      \
    " WHERE x.usage = u.id AND l.tool IS NOT NULL AND (?5 = 0 OR l.tool = ?5) AND" USAGE_COUNTS ")))"
#define OF_ONE_TOOL                                                                                                    \
    OF_ANY_TOOL " AND u.id IN (SELECT x.usage FROM label l CROSS JOIN usage_tool x ON x.label = l.id"                  \
                " WHERE l.tool = ?5 UNION SELECT x.usage FROM label l CROSS JOIN usage_tool x ON x.label = l.id"       \
                " WHERE l.name = ?8 AND l.tool IS NULL)"

#define ROWS                                                                                                           \
    "SELECT u.id, u.request, r.text, u.outcome, u.created, coalesce(c.name, ''), coalesce(u.key, '') FROM usage u"     \
    " CROSS JOIN request r ON r.id = u.request LEFT JOIN client c ON c.id = u.client WHERE"
#define COUNT "SELECT count(*) FROM usage u WHERE"
#define DELETE "DELETE FROM usage AS u WHERE"
#define STALE                                                                                                          \
    "UPDATE usage_sum SET uses = -1, data = x'', generation = ?7 WHERE tool IN (SELECT l.tool FROM usage u"            \
    " CROSS JOIN usage_tool x ON x.usage = u.id CROSS JOIN label l ON l.id = x.label"                                  \
    " WHERE u.outcome <> 2 AND l.tool IS NOT NULL AND"
#define IN_ORDER " ORDER BY u.id LIMIT ?7"

enum usage_statement { READ_USAGES, COUNT_USAGES, DELETE_USAGES, MARK_STALE };

static const char *const usage_statements[][2] = {
    {ROWS OF_ANY_TOOL IN_ORDER, ROWS OF_ONE_TOOL IN_ORDER},
    {COUNT OF_ANY_TOOL, COUNT OF_ONE_TOOL},
    {DELETE OF_ANY_TOOL, DELETE OF_ONE_TOOL},
    {STALE OF_ANY_TOOL ")", STALE OF_ONE_TOOL ")"},
};

/* Opens a statement. number: value of ?7, ignored if the statement does not use it. */
static int open_query(struct store *store, enum usage_statement which, const struct usage_query *query, int64_t number,
                      struct sql_statement **out, wt_error *err)
{
    bool one_tool = query->tool != 0 || query->label.len > 0, numbered = which == READ_USAGES || which == MARK_STALE;
    struct sql_value values[9] = {sql_integer(query->after),  sql_integer(query->upto ? query->upto : INT64_MAX),
                                  sql_integer(query->before), sql_integer(query->teaching),
                                  sql_integer(query->tool),   sql_text(query->client)};
    if (numbered || one_tool)
        values[6] = sql_integer(number);
    if (one_tool)
        values[7] = sql_text(query->label);
    return wt__sql_open(store, usage_statements[which][one_tool], values, out, err);
}

/* ---------------------------------------------------------------- reading */

struct usage_reader {
    struct store *store;
    struct arena *arena;
    struct usage *usages;
    size_t count, capacity;
    struct usage_tool *tools; /* tools of the current usage */
    size_t tool_capacity;
    wt_error *err;
};

static int read_tools_of_usage(struct usage_reader *r, struct usage *usage, const struct usage_query *query)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    size_t count = 0;
    int rc;
    WT_TRY(
        wt__sql_open(r->store,
                     "SELECT l.tool, l.name, CASE ?3 WHEN 1 THEN x.arguments END FROM usage u CROSS JOIN usage_tool x"
                     " ON x.usage = u.id CROSS JOIN label l ON l.id = x.label"
                     " WHERE u.id = ?1 AND (?2 = 0 OR" USAGE_COUNTS ") ORDER BY x.position",
                     SQL_VALUES(sql_integer(usage->id), sql_integer(query->teaching), sql_integer(query->arguments)),
                     &rows, r->err));
    while ((rc = wt__sql_step(r->store, rows, r->err)) == 1) {
        struct usage_tool tool = {.tool = wt__sql_integer(rows, 0), .label = wt__sql_copy(rows, 1, r->arena)};
        WT_TRY(wt__usage_arguments(r->store, rows, 2, &tool.arguments, r->err));
        tool.arguments.ptr = wt__arena_copy(r->arena, tool.arguments);
        if (!tool.label.ptr || !tool.arguments.ptr ||
            wt__grow((void **)&r->tools, &r->tool_capacity, count + 1, sizeof tool) < 0)
            return wt__fail_nomem(r->err);
        r->tools[count++] = tool;
    }
    WT_TRY(rc);
    struct usage_tool *tools = wt__arena_array(r->arena, struct usage_tool, count);
    WT_CHECK_ALLOC(tools, r->err);
    if (count > 0)
        memcpy(tools, r->tools, count * sizeof *tools);
    usage->tools = tools;
    usage->tool_count = count;
    return 0;
}

static int read_stored_usage(struct usage_reader *r, struct sql_statement *row, const struct usage_query *query)
{
    int64_t outcome = wt__sql_integer(row, 3);
    struct usage usage = {.id = wt__sql_integer(row, 0),
                          .request_id = wt__sql_integer(row, 1),
                          .request = wt__sql_copy(row, 2, r->arena),
                          .outcome =
                              outcome > 0 && outcome < USAGE_OUTCOMES ? (enum usage_outcome)outcome : USAGE_UNKNOWN,
                          .time = wt__sql_integer(row, 4),
                          .client = wt__sql_copy(row, 5, r->arena),
                          .key = wt__sql_copy(row, 6, r->arena)};
    if (!usage.request.ptr || !usage.client.ptr || !usage.key.ptr ||
        wt__grow((void **)&r->usages, &r->capacity, r->count + 1, sizeof usage) < 0)
        return wt__fail_nomem(r->err);
    WT_TRY(read_tools_of_usage(r, &usage, query));
    r->usages[r->count++] = usage;
    return 0;
}

static int read_stored_usages(struct usage_reader *r, const struct usage_query *query)
{
    WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int64_t limit = query->limit > 0 && query->limit < WT_MAX_USAGES ? (int64_t)query->limit : SQL_NO_LIMIT;
    int rc;
    WT_TRY(wt__begin_read_scope(&scope, r->store, r->err));
    WT_TRY(open_query(r->store, READ_USAGES, query, limit, &rows, r->err));
    while ((rc = wt__sql_step(r->store, rows, r->err)) == 1)
        WT_TRY(read_stored_usage(r, rows, query));
    return rc;
}

int wt__store_usages(struct store *store, const struct usage_query *query, struct arena *arena, struct usage **out,
                     size_t *count, wt_error *err)
{
    struct usage_reader r = {.store = store, .arena = arena, .err = err};
    *out = NULL;
    *count = 0;
    int rc = read_stored_usages(&r, query);
    if (rc == 0 && !(*out = wt__arena_array(arena, struct usage, r.count)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && r.count > 0) {
        memcpy(*out, r.usages, r.count * sizeof **out);
        *count = r.count;
    }
    free(r.usages);
    free(r.tools);
    return rc;
}

int wt__store_last_usage(struct store *store, int64_t *out, wt_error *err)
{
    return wt__sql_number(store, "SELECT coalesce(max(id), 0) FROM usage", out, err);
}

int wt__store_count_usages(struct store *store, const struct usage_query *query, uint64_t *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *out = 0;
    WT_TRY(open_query(store, COUNT_USAGES, query, 0, &row, err));
    int rc = wt__sql_step(store, row, err);
    *out = rc == 1 ? (uint64_t)wt__sql_integer(row, 0) : 0;
    return rc < 0 ? rc : 0;
}

/* Runs a statement that returns no rows. */
static int run_query(struct store *store, enum usage_statement which, const struct usage_query *query, int64_t number,
                     wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *statement = NULL;
    WT_TRY(open_query(store, which, query, number, &statement, err));
    return wt__sql_step(store, statement, err);
}

static int forget_usages(struct store *store, const struct usage_query *query, wt_error *err)
{
    uint64_t there, generation;
    int rc = wt__store_count_usages(store, query, &there, err);
    if (rc < 0 || there == 0)
        return rc;
    WT_TRY(wt__usage_next_sums(store, &generation, err));
    WT_TRY(run_query(store, MARK_STALE, query, (int64_t)generation, err));
    WT_TRY(run_query(store, DELETE_USAGES, query, 0, err));
    WT_TRY(wt__sql_exec(store,
                        "DELETE FROM request WHERE NOT EXISTS (SELECT 1 FROM usage WHERE usage.request = request.id);"
                        "DELETE FROM label WHERE NOT EXISTS"
                        " (SELECT 1 FROM usage_tool WHERE usage_tool.label = label.id);"
                        "DELETE FROM client WHERE NOT EXISTS (SELECT 1 FROM usage WHERE usage.client = client.id)",
                        err));
    WT_TRY(add_to_counter(store, "usages", -(int64_t)there, err));
    WT_TRY(wt__usage_touch(store, err));
    return (int)there;
}

int64_t wt__store_forget_usages(struct store *store, const struct usage_query *query, wt_error *err)
{
    WT_TRY(wt__sql_begin(store, err));
    return wt__sql_end(store, forget_usages(store, query, err), err);
}

int wt__usage_count_links(struct store *store, int64_t *out, wt_error *err)
{
    return wt__sql_number(store, "SELECT count(*) FROM label WHERE tool IS NOT NULL", out, err);
}

int wt__usage_link(struct store *store, int64_t tool, struct str provider, struct str name, wt_error *err)
{
    int rc = wt__sql_run(store,
                         "UPDATE label SET tool = ?1 WHERE tool IS NULL"
                         " AND name = CASE ?2 WHEN '' THEN ?3 ELSE ?2 || '/' || ?3 END",
                         SQL_VALUES(sql_integer(tool), sql_text(provider), sql_text(name)), err);
    if (rc < 0 || wt__sql_changes(store) == 0)
        return rc;
    /* The new link adds usages to the tool. Sums whose mark has passed these usages lack them. */
    WT_TRY(
        mark_sums_stale(store, STALE_SUMS("SELECT ?1, id, ?2, -1, x'' FROM usage_encoding WHERE last > 0"), tool, err));
    return wt__usage_touch(store, err);
}

/* ---------------------------------------------------------------- stores of older versions */

/* Recomputes the hash of every request. Older versions hashed the bytes of a request instead of its words, and the
 * first version had no hash. */
static int fill_request_hashes(struct store *store, wt_error *err)
{
    for (int64_t after = 0;;) {
        WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
        WT_TRY(wt__sql_open(store, "SELECT id, text FROM request WHERE id > ?1 ORDER BY id LIMIT 1",
                            SQL_VALUES(sql_integer(after)), &row, err));
        int rc = wt__sql_step(store, row, err);
        if (rc <= 0)
            return rc;
        after = wt__sql_integer(row, 0);
        uint64_t hash = wt__store_request_hash(wt__sql_column(row, 1));
        wt__sql_reset(row);
        WT_TRY(wt__sql_run(store, "UPDATE request SET hash = ?1 WHERE id = ?2 AND hash <> ?1",
                           SQL_VALUES(sql_integer((int64_t)hash), sql_integer(after)), err));
    }
}

int wt__usage_fill_hashes(struct store *store, wt_error *err)
{
    WT_TRY(fill_request_hashes(store, err));
    return wt__sql_exec(store,
                        "UPDATE usage SET hash = (SELECT hash FROM request WHERE request.id = usage.request);"
                        "CREATE INDEX usage_hash ON usage (hash, client);"
                        "UPDATE meta SET value = value + 1 WHERE key IN ('usage_generation', 'sums_generation');"
                        "UPDATE usage_sum SET uses = -1, data = x'' WHERE tool IN (SELECT l.tool FROM label l"
                        " JOIN usage_tool x ON x.label = l.id WHERE l.tool IS NOT NULL AND x.client IS NOT NULL"
                        " GROUP BY x.label, x.client HAVING count(*) > " CLIENT_TEACHES ")",
                        err);
}
