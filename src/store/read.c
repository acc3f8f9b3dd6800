/* read.c: reads tools by id, by name, or all in order, and lists tools and providers from indexes. */
#include "store/internal.h"

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names.h"

/* The columns of a tool, for fill_tool(). */
#define TOOL_COLUMNS                                                                                                   \
    "t.id, t.generation, t.provider, t.sha256, p.name, t.name, t.source_id, t.format, t.category, t.title,"            \
    " t.description, t.schema, t.definition, t.export_name"

enum {
    TOOL_COLUMN_COUNT = 14,
    SLICE_ROWS = 1024, /* tools that one statement reads, of all */
    GET_AT_ONCE = 128  /* the same of given ids */
};

static struct store_key read_key(struct sql_statement *row)
{
    return (struct store_key){.id = wt__sql_integer(row, 0),
                              .generation = (uint64_t)wt__sql_integer(row, 1),
                              .provider = wt__sql_integer(row, 2)};
}

/* Fills *tool with views into the row, valid until the next step. The source and own_name stay empty. */
static int fill_tool(struct store *store, struct tool *tool, struct sql_statement *row, wt_error *err)
{
    struct str sha256 = wt__sql_column(row, 3);
    tool->provider = wt__sql_column(row, 4);
    tool->name = wt__sql_column(row, 5);
    tool->source_id = wt__sql_column(row, 6);
    tool->format = wt__sql_column(row, 7);
    tool->category = wt__sql_column(row, 8);
    tool->title = wt__sql_column(row, 9);
    tool->description = wt__sql_column(row, 10);
    tool->schema = wt__sql_column(row, 11);
    tool->definition = wt__sql_column(row, 12);
    tool->export_name = wt__sql_column(row, 13);
    tool->source = tool->own_name = (struct str){"", 0};
    if (sha256.len != sizeof tool->sha256 || tool->name.len == 0)
        return wt__fail(err, WT_ESTORE, "%s is damaged: tool %lld is incomplete", store->path,
                        (long long)wt__sql_integer(row, 0));
    memcpy(tool->sha256, sha256.ptr, sizeof tool->sha256);
    return 0;
}

/* Visits the next SLICE_ROWS tools, and moves *after_id to the last of them. A database server sends all rows of a
 * statement, so one statement must not select the whole catalogue. */
static int visit_tools(struct store *store, int64_t *after_id, store_tool_visit visit, void *context, size_t *visited,
                       wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    *visited = 0;
    /* Scan the table itself: an index would fetch its rows from all over the file. */
    WT_TRY(wt__sql_open(store,
                        "SELECT " TOOL_COLUMNS " FROM tool t NOT INDEXED CROSS JOIN provider p"
                        " ON p.id = t.provider WHERE t.id > ?1 ORDER BY t.id LIMIT ?2",
                        SQL_VALUES(sql_integer(*after_id), sql_integer(SLICE_ROWS)), &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        struct store_key key = read_key(rows);
        struct tool tool;
        WT_TRY(fill_tool(store, &tool, rows, err));
        WT_TRY(visit(context, &key, &tool));
        *after_id = key.id;
        ++*visited;
    }
    return rc;
}

int wt__store_each(struct store *store, int64_t after_id, store_tool_visit visit, void *context, wt_error *err)
{
    WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};
    size_t visited;
    int rc;
    WT_TRY(wt__begin_read_scope(&scope, store, err));
    do
        rc = visit_tools(store, &after_id, visit, context, &visited, err);
    while (rc == 0 && visited == SLICE_ROWS);
    return rc;
}

int wt__store_keys(struct store *store, int64_t after_id, struct store_key *keys, size_t max, wt_error *err)
{
    return wt__sql_keys(store,
                        "SELECT id, generation, provider FROM tool INDEXED BY tool_key WHERE id > ?1 ORDER BY id"
                        " LIMIT ?2",
                        SQL_VALUES(sql_integer(after_id), sql_integer((int64_t)max)), keys, max, err);
}

int wt__sql_keys(struct store *store, const char *sql, const struct sql_value *values, struct store_key *keys,
                 size_t max, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    size_t count = 0;
    int rc = wt__sql_open(store, sql, values, &rows, err);
    while (rc >= 0 && count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        keys[count++] = read_key(rows);
    return rc < 0 ? rc : (int)count;
}

int wt__store_copy_tool(struct tool *tool, struct arena *arena, wt_error *err)
{
    struct str *views[] = {&tool->provider, &tool->name,   &tool->source_id,  &tool->format,      &tool->category,
                           &tool->title,    &tool->schema, &tool->definition, &tool->description, &tool->export_name};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        views[i]->ptr = wt__arena_copy(arena, *views[i]);
        WT_CHECK_ALLOC(views[i]->ptr, err);
    }
    return 0;
}

/* Returns 1 if the tool exists, else 0. */
static int get_stored_tool(struct store *store, int64_t id, struct arena *arena, struct tool *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *out = (struct tool){0};
    WT_TRY(wt__sql_open(store,
                        "SELECT " TOOL_COLUMNS " FROM tool t CROSS JOIN provider p ON p.id = t.provider"
                        " WHERE t.id = ?1",
                        SQL_VALUES(sql_integer(id)), &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    WT_TRY(fill_tool(store, out, row, err));
    WT_TRY(wt__store_copy_tool(out, arena, err));
    return 1;
}

/* Reads up to GET_AT_ONCE tools with one statement, because each statement is a round trip. Returns the number of tools
 * found. */
static int get_tools_at_once(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                             struct tool *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    struct sql_value values[GET_AT_ONCE];
    int found = 0, rc;
    for (size_t i = 0; i < count; i++) {
        values[i] = sql_integer(ids[i]);
        out[i] = (struct tool){0};
    }
    WT_TRY(wt__sql_open(store,
                        "SELECT " TOOL_COLUMNS ", n.place FROM UNNEST(?1) WITH ORDINALITY AS n (id, place)"
                        " JOIN tool t ON t.id = n.id JOIN provider p ON p.id = t.provider",
                        SQL_VALUES(sql_array(values, count, 1)), &row, err));
    while ((rc = wt__sql_step(store, row, err)) == 1) {
        size_t at = (size_t)wt__sql_integer(row, TOOL_COLUMN_COUNT) - 1;
        if (at >= count)
            return wt__fail(err, WT_ESTORE, "the database returned a tool that was not asked for");
        WT_TRY(fill_tool(store, &out[at], row, err));
        WT_TRY(wt__store_copy_tool(&out[at], arena, err));
        found++;
    }
    return rc < 0 ? rc : found;
}

int wt__store_get(struct store *store, const int64_t *ids, size_t count, struct arena *arena, struct tool *out,
                  wt_error *err)
{
    /* One transaction, so that the file is locked once and not once per tool. */
    WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};
    size_t step = store->driver->has_arrays ? GET_AT_ONCE : 1;
    int found = 0;
    WT_TRY(wt__begin_read_scope(&scope, store, err));
    for (size_t i = 0; i < count; i += step) {
        size_t some = count - i < step ? count - i : step;
        int rc = step > 1 ? get_tools_at_once(store, ids + i, some, arena, out + i, err)
                          : get_stored_tool(store, ids[i], arena, &out[i], err);
        if (rc < 0)
            return rc;
        found += rc;
    }
    return found;
}

int wt__store_find_name(struct store *store, const struct str *provider, struct str name, int64_t *ids, size_t max,
                        wt_error *err)
{
    if (!provider)
        return wt__sql_integers(store, "SELECT id FROM tool WHERE name = ?1 ORDER BY id", SQL_VALUES(sql_text(name)),
                                ids, max, err);
    return wt__sql_integers(store,
                            "SELECT id FROM tool WHERE name = ?1"
                            " AND provider = (SELECT id FROM provider WHERE name = ?2)",
                            SQL_VALUES(sql_text(name), sql_text(*provider)), ids, max, err);
}

int wt__store_find_source_id(struct store *store, struct str source_id, int64_t *ids, size_t max, wt_error *err)
{
    return wt__sql_integers(store, "SELECT id FROM tool WHERE source_id = ?1 AND source_id <> '' ORDER BY id",
                            SQL_VALUES(sql_text(source_id)), ids, max, err);
}

int wt__store_find_export_name(struct store *store, struct str export_name, int64_t *id, wt_error *err)
{
    return wt__sql_find(store, "SELECT id FROM tool WHERE export_name = ?1", SQL_VALUES(sql_text(export_name)), id,
                        err);
}

int wt__store_list(struct store *store, const struct str *provider, size_t limit, size_t offset, struct arena *arena,
                   int64_t **ids, size_t *count, wt_error *err)
{
    struct sql_value most = sql_integer(limit && limit < WT_MAX_TOOLS ? (int64_t)limit : SQL_NO_LIMIT);
    struct sql_value first = sql_integer(offset < WT_MAX_TOOLS ? (int64_t)offset : WT_MAX_TOOLS);
    if (!provider)
        return wt__sql_list_integers(store, "SELECT id FROM tool ORDER BY id LIMIT ?1 OFFSET ?2",
                                     SQL_VALUES(most, first), arena, ids, count, err);
    return wt__sql_list_integers(store,
                                 "SELECT id FROM tool WHERE provider = (SELECT id FROM provider WHERE name = ?3)"
                                 " ORDER BY id LIMIT ?1 OFFSET ?2",
                                 SQL_VALUES(most, first, sql_text(*provider)), arena, ids, count, err);
}

static int read_text_row(struct sql_statement *row, struct arena *arena, void *item)
{
    struct str *text = item;
    *text = wt__sql_copy(row, 0, arena);
    return text->ptr ? 0 : -1;
}

int wt__store_sources(struct store *store, struct str prefix, struct arena *arena, struct str **sources, size_t *count,
                      wt_error *err)
{
    return wt__sql_list(store,
                        "SELECT name FROM source WHERE substr(name, 1, length(?1)) = ?1 AND EXISTS"
                        " (SELECT 1 FROM tool WHERE tool.source = source.id) ORDER BY name",
                        SQL_VALUES(sql_text(prefix)), read_text_row, sizeof **sources, arena, (void **)sources, count,
                        err);
}

/* Visits rows of a number and a text. */
static int visit_rows(struct store *store, const char *sql, int (*visit)(void *, int64_t, struct str), void *context,
                      wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    WT_TRY(wt__sql_open(store, sql, NULL, &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1)
        WT_TRY(visit(context, wt__sql_integer(rows, 0), wt__sql_column(rows, 1)));
    return rc;
}

int wt__store_each_source(struct store *store, store_source_visit visit, void *context, wt_error *err)
{
    return visit_rows(store,
                      "SELECT t.id, s.name FROM tool t CROSS JOIN source s ON s.id = t.source ORDER BY t.source, t.id",
                      visit, context, err);
}

int wt__store_each_name(struct store *store, struct str from, size_t limit, store_name_visit visit, void *context,
                        wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    WT_TRY(wt__sql_open(
        store, "SELECT id, provider, name FROM tool INDEXED BY tool_name WHERE name >= ?1 ORDER BY name LIMIT ?2",
        SQL_VALUES(sql_text(from), sql_integer(limit ? (int64_t)limit : SQL_NO_LIMIT)), &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1)
        WT_TRY(visit(context, wt__sql_integer(rows, 0), wt__sql_integer(rows, 1), wt__sql_column(rows, 2)));
    return rc;
}

int wt__store_each_provider(struct store *store, store_provider_visit visit, void *context, wt_error *err)
{
    return visit_rows(store, "SELECT id, name FROM provider ORDER BY id", visit, context, err);
}

int wt__store_count(struct store *store, uint64_t *tools, uint64_t *providers, wt_error *err)
{
    int64_t tool_count = 0, provider_count = 0;
    int rc = wt__sql_number(store, "SELECT count(*) FROM tool", &tool_count, err);
    if (rc == 0)
        rc = wt__sql_number(store, "SELECT count(*) FROM provider", &provider_count, err);
    *tools = (uint64_t)tool_count;
    *providers = (uint64_t)provider_count;
    return rc;
}

/* ---------------------------------------------------------------- lists that read only the names of tools */

/* Collects the ids of the matching rows (id, provider name, tool name), unsorted. */
static int collect_matching(struct store *store, struct sql_statement *rows, struct str pattern, int64_t **ids,
                            size_t *count, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    size_t capacity = 0;
    int rc;
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        wt__buffer_clear(&id);
        wt__tool_id(&id, wt__sql_column(rows, 1), wt__sql_column(rows, 2));
        if (id.failed)
            return wt__fail_nomem(err);
        if (!wt__list_pattern_fits(pattern, wt__buffer_view(&id), wt__sql_column(rows, 2)))
            continue;
        if (wt__grow((void **)ids, &capacity, *count + 1, sizeof **ids) < 0)
            return wt__fail_nomem(err);
        (*ids)[(*count)++] = wt__sql_integer(rows, 0);
    }
    return rc;
}

int wt__store_list_matching(struct store *store, const struct str *provider, struct str pattern, size_t limit,
                            size_t offset, struct arena *arena, int64_t **ids, size_t *count, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    WT_AUTO_FREE int64_t *found = NULL;
    size_t len = 0;
    *ids = NULL;
    *count = 0;
    WT_TRY(provider ? wt__sql_open(store,
                                   "SELECT t.id, p.name, t.name FROM provider p CROSS JOIN tool t"
                                   " ON t.provider = p.id WHERE p.name = ?1",
                                   SQL_VALUES(sql_text(*provider)), &rows, err)
                    : wt__sql_open(store,
                                   "SELECT t.id, p.name, t.name FROM tool t INDEXED BY tool_name"
                                   " CROSS JOIN provider p ON p.id = t.provider",
                                   NULL, &rows, err));
    WT_TRY(collect_matching(store, rows, pattern, &found, &len, err));
    offset = offset < len ? offset : len;
    *count = limit && limit < len - offset ? limit : len - offset;
    *ids = wt__arena_array(arena, int64_t, *count);
    WT_CHECK_ALLOC(*ids, err);
    wt__sort_i64(found, len);
    if (*count > 0)
        memcpy(*ids, found + offset, *count * sizeof *found);
    return 0;
}

static int read_provider_count(struct sql_statement *row, struct arena *arena, void *item)
{
    struct provider_count *out = item;
    out->name = wt__arena_copy(arena, wt__sql_column(row, 0));
    out->tools = (uint64_t)wt__sql_integer(row, 1);
    return out->name ? 0 : -1;
}

int wt__store_providers(struct store *store, struct arena *arena, struct provider_count **out, size_t *count,
                        wt_error *err)
{
    return wt__sql_list(store,
                        "SELECT p.name, n FROM (SELECT provider, count(*) AS n FROM tool INDEXED BY tool_provider"
                        " GROUP BY provider) c CROSS JOIN provider p ON p.id = c.provider ORDER BY n DESC, p.name",
                        NULL, read_provider_count, sizeof **out, arena, (void **)out, count, err);
}

int wt__store_version(struct store *store, int *out, wt_error *err)
{
    int64_t version = 0;
    int rc = store->driver->read_version(store, &version, err);
    *out = (int)version;
    return rc;
}
