/* usage.c: recorded use: requests, labels of the tools used, and links from labels to tools.
 *
 * Requests and labels are rows shared by all usages, so that a frequent request is stored once. Rows without a usage
 * are deleted together with their last usage. */
#include "store/internal.h"

#include "base/memory.h"

enum { STEP_USAGES = 256 }; /* usages between two progress reports */

/* ---------------------------------------------------------------- counters */

static int read_counter(struct store *store, const char *key, uint64_t *out, wt_error *err)
{
    sqlite3_stmt *row;
    WT_TRY(wt__sql_prepare(store, "SELECT value FROM meta WHERE key = ?1", &row, err));
    if (wt__sql_bind_text(row, 1, wt__str(key)))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, row, err);
    *out = rc == 1 ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

static int add_to_counter(struct store *store, const char *key, int64_t more, wt_error *err)
{
    sqlite3_stmt *update;
    WT_TRY(wt__sql_prepare(store, "UPDATE meta SET value = value + ?1 WHERE key = ?2", &update, err));
    if (sqlite3_bind_int64(update, 1, more) | wt__sql_bind_text(update, 2, wt__str(key)))
        return wt__fail_nomem(err);
    return wt__sql_step(store, update, err);
}

/* Reads the bytes of the file's header that every commit changes (SQLite's file format, 1.3: change counter, sizes of
 * the file and of its free list), behind the two that name the journal mode: only with a rollback journal do they
 * change. Uses the connection's own descriptor, because closing another one would release the locks of the whole
 * process. A writer about to commit may have written them already; the caller then reads the counters once too
 * often. */
static bool read_stamp(struct store *store, unsigned char stamp[STORE_STAMP_BYTES])
{
    enum { STAMP_AT = 18, ROLLBACK_JOURNAL = 1 };
    sqlite3_file *file = NULL;
    return sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file &&
           file->pMethods && file->pMethods->xRead(file, stamp, STORE_STAMP_BYTES, STAMP_AT) == SQLITE_OK &&
           stamp[0] == ROLLBACK_JOURNAL && stamp[1] == ROLLBACK_JOURNAL;
}

/* True if the file is unchanged since this connection read store->seen. */
static bool is_as_seen(struct store *store)
{
    unsigned char stamp[STORE_STAMP_BYTES];
    return store->has_seen && sqlite3_get_autocommit(store->db) && read_stamp(store, stamp) &&
           memcmp(stamp, store->stamp, sizeof stamp) == 0;
}

/* Reads the counters in one statement, because each statement locks the file. The stamp is read under the same lock,
 * outside any own transaction, so that it is of the committed state. */
int wt__store_usage_info(struct store *store, struct usage_info *out, wt_error *err)
{
    sqlite3_stmt *row;
    if (is_as_seen(store)) {
        *out = store->seen;
        return 0;
    }
    int rc = wt__sql_prepare(store,
                             "SELECT (SELECT value FROM meta WHERE key = 'generation'),"
                             " (SELECT value FROM meta WHERE key = 'usage_generation'),"
                             " (SELECT value FROM meta WHERE key = 'sums_generation'),"
                             " (SELECT value FROM meta WHERE key = 'usages')",
                             &row, err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    *out = (struct usage_info){0};
    if (rc == 1)
        *out = (struct usage_info){.catalogue = (uint64_t)sqlite3_column_int64(row, 0),
                                   .generation = (uint64_t)sqlite3_column_int64(row, 1),
                                   .sums_generation = (uint64_t)sqlite3_column_int64(row, 2),
                                   .usages = (uint64_t)sqlite3_column_int64(row, 3)};
    store->seen = *out;
    store->has_seen = rc == 1 && sqlite3_get_autocommit(store->db) && read_stamp(store, store->stamp);
    wt__sql_reset(row);
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

static int request_row(struct store *store, struct str text, int64_t *id, wt_error *err)
{
    sqlite3_stmt *insert;
    int rc = wt__store_request_row(store, text, id, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    WT_TRY(wt__sql_prepare(store, "INSERT INTO request (hash, text) VALUES (?1, ?2)", &insert, err));
    if (sqlite3_bind_int64(insert, 1, (int64_t)wt__store_request_hash(text)) | wt__sql_bind_text(insert, 2, text))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, insert, err);
    *id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

/* Runs a statement to find or insert a label for the tool (?1) and the text (?2). Returns 1 and *id for a row, else
 * 0. */
static int find_label(struct store *store, const char *sql, const struct usage_tool *tool, int64_t *id, wt_error *err)
{
    sqlite3_stmt *statement;
    WT_TRY(wt__sql_prepare(store, sql, &statement, err));
    if (sqlite3_bind_int64(statement, 1, tool->tool) | wt__sql_bind_text(statement, 2, tool->label))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, statement, err);
    if (rc == 1)
        *id = sqlite3_column_int64(statement, 0);
    wt__sql_reset(statement);
    return rc;
}

/* Finds or inserts the label of a tool: its id if the tool exists, else the recorded text. */
static int label_row(struct store *store, const struct usage_tool *tool, int64_t *id, wt_error *err)
{
    int rc = 0;
    if (tool->tool != 0) {
        rc = find_label(store, "SELECT id FROM label WHERE tool = ?1 AND ?2 IS NOT NULL", tool, id, err);
        if (rc == 0)
            rc = find_label(store,
                            "INSERT INTO label (name, tool) SELECT iif(p.name = '', t.name, p.name || '/' || t.name),"
                            " t.id FROM tool t JOIN provider p ON p.id = t.provider WHERE t.id = ?1 AND ?2 IS NOT NULL"
                            " RETURNING id",
                            tool, id, err);
    }
    if (rc == 0)
        rc = find_label(store, "SELECT id FROM label WHERE name = ?2 AND tool IS NULL AND ?1 IS NOT NULL", tool, id,
                        err);
    if (rc == 0)
        rc = find_label(store, "INSERT INTO label (name) SELECT ?2 WHERE ?1 IS NOT NULL RETURNING id", tool, id, err);
    return rc < 0 ? rc : 0;
}

static int add_label(struct store *store, int64_t usage, size_t position, int64_t label, struct str arguments,
                     wt_error *err)
{
    sqlite3_stmt *insert;
    WT_TRY(wt__sql_prepare(store,
                           "INSERT INTO usage_tool (usage, position, label, arguments, client)"
                           " VALUES (?1, ?2, ?3, ?4, (SELECT client FROM usage WHERE id = ?1))",
                           &insert, err));
    sqlite3_bind_int64(insert, 1, usage);
    sqlite3_bind_int64(insert, 2, (int64_t)position);
    sqlite3_bind_int64(insert, 3, label);
    if (arguments.len > 0 && wt__sql_bind_text(insert, 4, arguments))
        return wt__fail_nomem(err);
    return wt__sql_step(store, insert, err);
}

static int add_client(struct store *store, struct str name, wt_error *err)
{
    sqlite3_stmt *insert;
    WT_TRY(wt__sql_prepare(store, "INSERT OR IGNORE INTO client (name) VALUES (?1)", &insert, err));
    return wt__sql_bind_text(insert, 1, name) ? wt__fail_nomem(err) : wt__sql_step(store, insert, err);
}

/* Sets the client's newest usage, which orders clients by activity. */
static int note_client(struct store *store, struct str name, int64_t usage, wt_error *err)
{
    sqlite3_stmt *update;
    WT_TRY(wt__sql_prepare(store, "UPDATE client SET last = ?1 WHERE name = ?2", &update, err));
    if (sqlite3_bind_int64(update, 1, usage) | wt__sql_bind_text(update, 2, name))
        return wt__fail_nomem(err);
    return wt__sql_step(store, update, err);
}

static int insert_usage(struct store *store, const struct usage *usage, int64_t *id, wt_error *err)
{
    sqlite3_stmt *insert;
    int64_t request = 0, label = 0;
    WT_TRY(request_row(store, usage->request, &request, err));
    if (usage->client.len > 0)
        WT_TRY(add_client(store, usage->client, err));
    WT_TRY(wt__sql_prepare(store,
                           "INSERT INTO usage (request, hash, outcome, created, client, key) VALUES (?1,"
                           " (SELECT hash FROM request WHERE id = ?1), ?2, ?3,"
                           " (SELECT id FROM client WHERE name = ?4), nullif(?5, ''))",
                           &insert, err));
    if (sqlite3_bind_int64(insert, 1, request) | sqlite3_bind_int(insert, 2, (int)usage->outcome) |
        sqlite3_bind_int64(insert, 3, usage->time) | wt__sql_bind_text(insert, 4, usage->client) |
        wt__sql_bind_text(insert, 5, usage->key))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, insert, err);
    *id = sqlite3_last_insert_rowid(store->db);
    WT_TRY(rc);
    if (usage->client.len > 0)
        WT_TRY(note_client(store, usage->client, *id, err));
    for (size_t i = 0; i < usage->tool_count; i++) {
        WT_TRY(label_row(store, &usage->tools[i], &label, err));
        WT_TRY(add_label(store, *id, i, label, usage->tools[i].arguments, err));
    }
    return 0;
}

/* Returns 1 with the id and outcome of the client's usage with that key, else 0. */
static int find_usage_key(struct store *store, const struct usage *usage, int64_t *id, enum usage_outcome *outcome,
                          wt_error *err)
{
    sqlite3_stmt *row;
    WT_TRY(wt__sql_prepare(store,
                           "SELECT id, outcome FROM usage WHERE key = ?1 AND coalesce(client, 0) ="
                           " iif(?2 = '', 0, (SELECT id FROM client WHERE name = ?2))",
                           &row, err));
    if (wt__sql_bind_text(row, 1, usage->key) | wt__sql_bind_text(row, 2, usage->client))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        *id = sqlite3_column_int64(row, 0);
        *outcome = (enum usage_outcome)sqlite3_column_int(row, 1);
    }
    wt__sql_reset(row);
    return rc;
}

/* Marks the sums selected with ?1 as stale, inserting rows for sums that do not exist yet. */
#define STALE_SUMS(select)                                                                                             \
    "INSERT INTO usage_sum (tool, encoding, generation, uses, data) " select                                           \
    " ON CONFLICT (tool, encoding) DO UPDATE SET generation = excluded.generation, uses = -1, data = x''"

static int mark_sums_stale(struct store *store, const char *stale_sums, int64_t id, wt_error *err)
{
    sqlite3_stmt *insert;
    uint64_t generation;
    WT_TRY(wt__usage_next_sums(store, &generation, err));
    WT_TRY(wt__sql_prepare(store, stale_sums, &insert, err));
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_int64(insert, 2, (int64_t)generation);
    return wt__sql_step(store, insert, err);
}

/* Marks the sums of the usage's tools as stale, whether they include it or not. */
static int make_usage_stale(struct store *store, int64_t usage, wt_error *err)
{
    return mark_sums_stale(store,
                           STALE_SUMS("SELECT DISTINCT l.tool, e.id, ?2, -1, x'' FROM usage_tool x"
                                      " CROSS JOIN label l ON l.id = x.label CROSS JOIN usage_encoding e"
                                      " WHERE x.usage = ?1 AND l.tool IS NOT NULL AND e.last >= ?1"),
                           usage, err);
}

static int set_outcome(struct store *store, int64_t usage, enum usage_outcome before, enum usage_outcome outcome,
                       wt_error *err)
{
    sqlite3_stmt *update;
    WT_TRY(wt__sql_prepare(store, "UPDATE usage SET outcome = ?2 WHERE id = ?1", &update, err));
    sqlite3_bind_int64(update, 1, usage);
    sqlite3_bind_int(update, 2, (int)outcome);
    int rc = wt__sql_step(store, update, err);
    bool teaches = outcome != USAGE_FAILED, taught = before != USAGE_FAILED;
    return rc == 0 && teaches != taught ? make_usage_stale(store, usage, err) : rc;
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
    return there + count > WT_MAX_USAGES
               ? wt__fail(err, WT_ETOOLONG, "%s would hold %llu usages; at most %d fit: forget old ones", store->path,
                          (unsigned long long)there + count, WT_MAX_USAGES)
               : 0;
}

static int add_usages(struct store *store, const struct usage *usages, size_t count, struct progress *progress,
                      enum usage_fate *fates, int64_t *last, wt_error *err)
{
    int64_t added = 0;
    int rc = check_room(store, count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        enum usage_fate fate;
        rc = add_one_usage(store, &usages[i], &fate, last, err);
        added += fate == USAGE_ADDED;
        if (fates)
            fates[i] = fate;
        size_t done = i % STEP_USAGES + 1;
        if (rc == 0 && (done == STEP_USAGES || i + 1 == count) && wt__progress_step(progress, done))
            rc = wt__fail_cancelled(err);
    }
    if (rc == 0)
        rc = add_to_counter(store, "usages", added, err);
    return rc == 0 ? wt__usage_touch(store, err) : rc;
}

int wt__store_add_usages(struct store *store, const struct usage *usages, size_t count, struct progress *progress,
                         enum usage_fate *fates, int64_t *last, wt_error *err)
{
    struct progress *before = store->progress;
    int64_t id = 0;
    if (wt__progress_phase(progress, "storing", count))
        return wt__fail_cancelled(err);
    store->progress = progress;
    int rc = wt__sql_exec(store, "PRAGMA cache_size=-65536", err);
    if (rc == 0)
        rc = wt__sql_begin(store, err);
    if (rc == 0)
        rc = wt__sql_end(store, add_usages(store, usages, count, progress, fates, &id, err), err);
    sqlite3_exec(store->db, "PRAGMA cache_size=-8192", NULL, NULL, NULL);
    store->progress = before;
    if (rc == 0 && last)
        *last = id;
    return rc;
}

/* Maximum usages of the client with the same request that are compared, so that a frequent request does not make an
 * import quadratic. */
#define AGAIN_SEEN "16"

int wt__store_count_again(struct store *store, int64_t after, uint64_t *out, wt_error *err)
{
    sqlite3_stmt *row;
    *out = 0;
    WT_TRY(wt__sql_prepare(store,
                           "SELECT count(*) FROM usage u WHERE u.id > ?1 AND u.key IS NULL AND EXISTS"
                           " (SELECT 1 FROM (SELECT id FROM usage WHERE request = u.request AND client IS u.client"
                           "  AND id <= ?1 LIMIT " AGAIN_SEEN ") o WHERE"
                           " (SELECT group_concat(label) FROM (SELECT label FROM usage_tool WHERE usage = o.id"
                           "  ORDER BY position)) ="
                           " (SELECT group_concat(label) FROM (SELECT label FROM usage_tool WHERE usage = u.id"
                           "  ORDER BY position)))",
                           &row, err));
    sqlite3_bind_int64(row, 1, after);
    int rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *out = (uint64_t)sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

int wt__store_count_teaching(struct store *store, uint64_t *usages, uint64_t *requests, wt_error *err)
{
    sqlite3_stmt *row;
    *usages = *requests = 0;
    int rc = wt__sql_prepare(store,
                             "SELECT count(*), count(DISTINCT u.request) FROM usage u WHERE u.outcome <> 2 AND EXISTS"
                             " (SELECT 1 FROM usage_tool x CROSS JOIN label l ON l.id = x.label"
                             " WHERE x.usage = u.id AND l.tool IS NOT NULL)",
                             &row, err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        *usages = (uint64_t)sqlite3_column_int64(row, 0);
        *requests = (uint64_t)sqlite3_column_int64(row, 1);
        wt__sql_reset(row);
    }
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- selecting usages */

/* Parameters: ?1 after, ?2 upto, ?3 before, ?4 teaching, ?5 tool, ?6 label, ?7 limit, ?9 client. */
#define OF_ANY_TOOL                                                                                                    \
    " u.id > ?1 AND u.id <= ?2 AND (?3 = 0 OR u.created < ?3)"                                                         \
    " AND (?9 = '' OR u.client = (SELECT id FROM client WHERE name = ?9))"                                             \
    " AND (?4 = 0 OR (u.outcome <> 2 AND EXISTS (SELECT 1 FROM usage_tool x CROSS JOIN label l ON l.id = x.label"      \
    " WHERE x.usage = u.id AND l.tool IS NOT NULL AND (?5 = 0 OR l.tool = ?5) AND" USAGE_COUNTS ")))"
#define OF_ONE_TOOL                                                                                                    \
    OF_ANY_TOOL " AND u.id IN (SELECT x.usage FROM label l CROSS JOIN usage_tool x ON x.label = l.id"                  \
                " WHERE l.tool = ?5 UNION SELECT x.usage FROM label l CROSS JOIN usage_tool x ON x.label = l.id"       \
                " WHERE l.name = ?6 AND l.tool IS NULL)"

#define ROWS                                                                                                           \
    "SELECT u.id, u.request, r.text, u.outcome, u.created, coalesce(c.name, ''), coalesce(u.key, '') FROM usage u"     \
    " CROSS JOIN request r ON r.id = u.request LEFT JOIN client c ON c.id = u.client WHERE"
#define COUNT "SELECT count(*) FROM usage u WHERE"
#define DELETE "DELETE FROM usage AS u WHERE"
#define STALE                                                                                                          \
    "UPDATE usage_sum SET uses = -1, data = x'', generation = ?8 WHERE tool IN (SELECT l.tool FROM usage u"            \
    " CROSS JOIN usage_tool x ON x.usage = u.id CROSS JOIN label l ON l.id = x.label"                                  \
    " WHERE u.outcome <> 2 AND l.tool IS NOT NULL AND"
#define IN_ORDER " ORDER BY u.id LIMIT ?7"

enum statement { READ_USAGES, COUNT_USAGES, DELETE_USAGES, MARK_STALE };

static const char *const statements[][2] = {
    {ROWS OF_ANY_TOOL IN_ORDER, ROWS OF_ONE_TOOL IN_ORDER},
    {COUNT OF_ANY_TOOL, COUNT OF_ONE_TOOL},
    {DELETE OF_ANY_TOOL, DELETE OF_ONE_TOOL},
    {STALE OF_ANY_TOOL ")", STALE OF_ONE_TOOL ")"},
};

static int prepare_query(struct store *store, enum statement which, const struct usage_query *query, sqlite3_stmt **out,
                         wt_error *err)
{
    bool one_tool = query->tool != 0 || query->label.len > 0;
    WT_TRY(wt__sql_prepare(store, statements[which][one_tool], out, err));
    sqlite3_bind_int64(*out, 1, query->after);
    sqlite3_bind_int64(*out, 2, query->upto ? query->upto : INT64_MAX);
    sqlite3_bind_int64(*out, 3, query->before);
    sqlite3_bind_int64(*out, 4, query->teaching);
    sqlite3_bind_int64(*out, 5, query->tool);
    int failed = wt__sql_bind_text(*out, 9, query->client);
    if (one_tool)
        failed |= wt__sql_bind_text(*out, 6, query->label);
    return failed ? wt__fail_nomem(err) : 0;
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

static int copy_usage_text(struct usage_reader *r, struct str *view)
{
    view->ptr = wt__arena_copy(r->arena, *view);
    return view->ptr ? 0 : wt__fail_nomem(r->err);
}

static int read_usage_tool(struct usage_reader *r, sqlite3_stmt *row, struct usage_tool *out)
{
    *out = (struct usage_tool){.tool = sqlite3_column_int64(row, 0), .label = wt__sql_column(row, 1)};
    WT_TRY(copy_usage_text(r, &out->label));
    WT_TRY(wt__usage_arguments(r->store, row, 2, &out->arguments, r->err));
    return copy_usage_text(r, &out->arguments);
}

static int read_usage_tools(struct usage_reader *r, struct usage *usage, const struct usage_query *query)
{
    sqlite3_stmt *rows;
    size_t count = 0;
    int rc = wt__sql_prepare(r->store,
                             "SELECT l.tool, l.name, CASE WHEN ?3 THEN x.arguments END FROM usage u CROSS JOIN "
                             "usage_tool x ON x.usage = u.id"
                             " CROSS JOIN label l ON l.id = x.label"
                             " WHERE u.id = ?1 AND (?2 = 0 OR" USAGE_COUNTS ") ORDER BY x.position",
                             &rows, r->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, usage->id);
    sqlite3_bind_int64(rows, 2, query->teaching);
    sqlite3_bind_int64(rows, 3, query->arguments);
    while (rc == 0 && (rc = wt__sql_step(r->store, rows, r->err)) == 1) {
        if (wt__grow((void **)&r->tools, &r->tool_capacity, count + 1, sizeof *r->tools) < 0) {
            rc = wt__fail_nomem(r->err);
            break;
        }
        rc = read_usage_tool(r, rows, &r->tools[count++]);
    }
    wt__sql_reset(rows);
    struct usage_tool *tools = rc == 0 ? wt__arena_array(r->arena, struct usage_tool, count) : NULL;
    if (rc == 0 && !tools)
        rc = wt__fail_nomem(r->err);
    if (rc == 0 && count > 0)
        memcpy(tools, r->tools, count * sizeof *tools);
    usage->tools = tools;
    usage->tool_count = count;
    return rc;
}

static int read_stored_usage(struct usage_reader *r, sqlite3_stmt *row, const struct usage_query *query)
{
    int64_t outcome = sqlite3_column_int64(row, 3);
    struct usage usage = {.id = sqlite3_column_int64(row, 0),
                          .request_id = sqlite3_column_int64(row, 1),
                          .request = wt__sql_column(row, 2),
                          .outcome =
                              outcome > 0 && outcome < USAGE_OUTCOMES ? (enum usage_outcome)outcome : USAGE_UNKNOWN,
                          .time = sqlite3_column_int64(row, 4),
                          .client = wt__sql_column(row, 5),
                          .key = wt__sql_column(row, 6)};
    if (wt__grow((void **)&r->usages, &r->capacity, r->count + 1, sizeof usage) < 0)
        return wt__fail_nomem(r->err);
    WT_TRY(copy_usage_text(r, &usage.request));
    WT_TRY(copy_usage_text(r, &usage.client));
    WT_TRY(copy_usage_text(r, &usage.key));
    WT_TRY(read_usage_tools(r, &usage, query));
    r->usages[r->count++] = usage;
    return 0;
}

static int read_stored_usages(struct usage_reader *r, const struct usage_query *query)
{
    sqlite3_stmt *rows;
    int rc = prepare_query(r->store, READ_USAGES, query, &rows, r->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 7, query->limit > 0 && query->limit < WT_MAX_USAGES ? (int64_t)query->limit : -1);
    while (rc == 0 && (rc = wt__sql_step(r->store, rows, r->err)) == 1)
        rc = read_stored_usage(r, rows, query);
    wt__sql_reset(rows);
    return rc;
}

int wt__store_usages(struct store *store, const struct usage_query *query, struct arena *arena, struct usage **out,
                     size_t *count, wt_error *err)
{
    struct usage_reader r = {.store = store, .arena = arena, .err = err};
    bool outer = !sqlite3_get_autocommit(store->db);
    *out = NULL;
    *count = 0;
    int rc = outer ? 0 : wt__store_read_begin(store, err);
    if (rc == 0)
        rc = read_stored_usages(&r, query);
    if (!outer)
        wt__store_read_end(store);
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
    sqlite3_stmt *row;
    *out = 0;
    int rc = prepare_query(store, COUNT_USAGES, query, &row, err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *out = (uint64_t)sqlite3_column_int64(row, 0);
    if (rc >= 0)
        wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- forgetting */

static int mark_stale(struct store *store, const struct usage_query *query, wt_error *err)
{
    sqlite3_stmt *update;
    uint64_t generation;
    WT_TRY(wt__usage_next_sums(store, &generation, err));
    WT_TRY(prepare_query(store, MARK_STALE, query, &update, err));
    sqlite3_bind_int64(update, 8, (int64_t)generation);
    return wt__sql_step(store, update, err);
}

static int64_t forget_usages(struct store *store, const struct usage_query *query, wt_error *err)
{
    sqlite3_stmt *statement;
    uint64_t there;
    int rc = wt__store_count_usages(store, query, &there, err);
    if (rc < 0 || there == 0)
        return rc;
    WT_TRY(mark_stale(store, query, err));
    WT_TRY(prepare_query(store, DELETE_USAGES, query, &statement, err));
    WT_TRY(wt__sql_step(store, statement, err));
    WT_TRY(wt__sql_exec(store,
                        "DELETE FROM request WHERE NOT EXISTS (SELECT 1 FROM usage WHERE usage.request = request.id);"
                        "DELETE FROM label WHERE NOT EXISTS"
                        " (SELECT 1 FROM usage_tool WHERE usage_tool.label = label.id);"
                        "DELETE FROM client WHERE NOT EXISTS (SELECT 1 FROM usage WHERE usage.client = client.id)",
                        err));
    WT_TRY(add_to_counter(store, "usages", -(int64_t)there, err));
    WT_TRY(wt__usage_touch(store, err));
    return (int64_t)there;
}

int64_t wt__store_forget_usages(struct store *store, const struct usage_query *query, wt_error *err)
{
    WT_TRY(wt__sql_begin(store, err));
    int64_t forgotten = forget_usages(store, query, err);
    int rc = wt__sql_end(store, forgotten < 0 ? (int)forgotten : 0, err);
    return rc < 0 ? rc : forgotten;
}

/* ---------------------------------------------------------------- how labels follow tools */

int wt__usage_count_links(struct store *store, int64_t *out, wt_error *err)
{
    return wt__sql_number(store, "SELECT count(*) FROM label WHERE tool IS NOT NULL", out, err);
}

/* Marks the sums of a tool as stale after it was linked to usages below the marks. */
static int make_tool_stale(struct store *store, int64_t tool, wt_error *err)
{
    return mark_sums_stale(store, STALE_SUMS("SELECT ?1, id, ?2, -1, x'' FROM usage_encoding WHERE last > 0"), tool,
                           err);
}

int wt__usage_link(struct store *store, int64_t tool, struct str provider, struct str name, wt_error *err)
{
    sqlite3_stmt *update;
    WT_TRY(wt__sql_prepare(store,
                           "UPDATE label SET tool = ?1 WHERE tool IS NULL"
                           " AND name = iif(?2 = '', ?3, ?2 || '/' || ?3)",
                           &update, err));
    if (sqlite3_bind_int64(update, 1, tool) | wt__sql_bind_text(update, 2, provider) |
        wt__sql_bind_text(update, 3, name))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, update, err);
    if (rc < 0 || sqlite3_changes(store->db) == 0)
        return rc;
    rc = make_tool_stale(store, tool, err);
    return rc < 0 ? rc : wt__usage_touch(store, err);
}

/* ---------------------------------------------------------------- stores of older versions */

static int set_request_hash(struct store *store, int64_t id, uint64_t hash, wt_error *err)
{
    sqlite3_stmt *update;
    WT_TRY(wt__sql_prepare(store, "UPDATE request SET hash = ?1 WHERE id = ?2 AND hash <> ?1", &update, err));
    sqlite3_bind_int64(update, 1, (int64_t)hash);
    sqlite3_bind_int64(update, 2, id);
    return wt__sql_step(store, update, err);
}

/* Older versions hashed the bytes of a request instead of its words; the first version had no hash. */
static int fill_request_hashes(struct store *store, wt_error *err)
{
    sqlite3_stmt *row;
    int64_t after = 0;
    int rc = 1;
    while (rc == 1) {
        uint64_t hash = 0;
        rc = wt__sql_prepare(store, "SELECT id, text FROM request WHERE id > ?1 ORDER BY id LIMIT 1", &row, err);
        if (rc < 0)
            return rc;
        sqlite3_bind_int64(row, 1, after);
        rc = wt__sql_step(store, row, err);
        if (rc == 1) {
            after = sqlite3_column_int64(row, 0);
            hash = wt__store_request_hash(wt__sql_column(row, 1));
        }
        wt__sql_reset(row);
        int set = rc == 1 ? set_request_hash(store, after, hash, err) : 0;
        rc = set < 0 ? set : rc;
    }
    return rc;
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
