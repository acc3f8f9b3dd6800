/* read.c: reads tools by id, by name, or all in order, and lists tools and providers from indexes. */
#include "store/internal.h"

#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names.h"

/* The columns of a tool, for fill_tool(). */
#define TOOL_COLUMNS                                                                                                   \
    "t.id, t.generation, t.provider, t.sha256, p.name, t.name, t.source_id, t.format, t.category, t.title,"            \
    " t.description, t.schema, t.definition, t.export_name"

static void fill_key(struct store_key *key, sqlite3_stmt *row)
{
    key->id = sqlite3_column_int64(row, 0);
    key->generation = (uint64_t)sqlite3_column_int64(row, 1);
    key->provider = sqlite3_column_int64(row, 2);
}

/* Fills *tool with views into the row, valid until the next step. */
static int fill_tool(struct store *store, struct tool *tool, sqlite3_stmt *row, wt_error *err)
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
                        (long long)sqlite3_column_int64(row, 0));
    memcpy(tool->sha256, sha256.ptr, sizeof tool->sha256);
    return 0;
}

/* ---------------------------------------------------------------- all of them */

int wt__store_each(struct store *store, int64_t after_id, store_tool_visit visit, void *context, wt_error *err)
{
    sqlite3_stmt *rows;
    /* Scan the table itself: an index would fetch its rows from all over the file. */
    int rc = wt__sql_prepare(store,
                             "SELECT " TOOL_COLUMNS " FROM tool t NOT INDEXED CROSS JOIN provider p"
                             " ON p.id = t.provider WHERE t.id > ?1 ORDER BY t.id",
                             &rows, err);
    if (rc == 0)
        sqlite3_bind_int64(rows, 1, after_id);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        struct store_key key;
        struct tool tool;
        fill_key(&key, rows);
        rc = fill_tool(store, &tool, rows, err);
        if (rc == 0)
            rc = visit(context, &key, &tool);
    }
    wt__sql_reset(rows);
    return rc;
}

int wt__store_keys(struct store *store, int64_t after_id, struct store_key *keys, size_t max, wt_error *err)
{
    sqlite3_stmt *rows;
    size_t count = 0;
    int rc = wt__sql_prepare(
        store, "SELECT id, generation, provider FROM tool INDEXED BY tool_key WHERE id > ?1 ORDER BY id", &rows, err);
    if (rc == 0)
        sqlite3_bind_int64(rows, 1, after_id);
    while (rc >= 0 && count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        fill_key(&keys[count++], rows);
    wt__sql_reset(rows);
    return rc < 0 ? rc : (int)count;
}

/* ---------------------------------------------------------------- some of them */

static int copy_tool_view(struct str *view, struct arena *arena)
{
    char *copy = wt__arena_copy(arena, *view);
    if (!copy)
        return -1;
    view->ptr = copy;
    return 0;
}

int wt__store_copy_tool(struct tool *tool, struct arena *arena, wt_error *err)
{
    struct str *views[] = {&tool->provider, &tool->name,   &tool->source_id,  &tool->format,      &tool->category,
                           &tool->title,    &tool->schema, &tool->definition, &tool->description, &tool->export_name};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (copy_tool_view(views[i], arena) < 0)
            return wt__fail_nomem(err);
    return 0;
}

/* Returns 1 if the tool exists, else 0. */
static int get_stored_tool(struct store *store, int64_t id, struct arena *arena, struct tool *out, wt_error *err)
{
    sqlite3_stmt *row;
    *out = (struct tool){0};
    int rc = wt__sql_prepare(store,
                             "SELECT " TOOL_COLUMNS " FROM tool t CROSS JOIN provider p ON p.id = t.provider"
                             " WHERE t.id = ?1",
                             &row, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(row, 1, id);
    int found = wt__sql_step(store, row, err);
    if (found == 1) {
        rc = fill_tool(store, out, row, err);
        if (rc == 0)
            rc = wt__store_copy_tool(out, arena, err);
    }
    wt__sql_reset(row);
    return rc < 0 ? rc : found;
}

int wt__store_get(struct store *store, const int64_t *ids, size_t count, struct arena *arena, struct tool *out,
                  wt_error *err)
{
    /* One transaction, so that the file is locked once and not once per tool. */
    bool outer = !sqlite3_get_autocommit(store->db);
    int rc = outer ? 0 : wt__store_read_begin(store, err);
    int found = 0;
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        rc = get_stored_tool(store, ids[i], arena, &out[i], err);
        found += rc == 1;
    }
    if (!outer)
        wt__store_read_end(store);
    return rc < 0 ? rc : found;
}

/* Writes the ids in the first column, at most max. Returns the number written. */
static int collect_ids(struct store *store, sqlite3_stmt *rows, int64_t *ids, size_t max, wt_error *err)
{
    size_t count = 0;
    int rc = 0;
    while (count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        ids[count++] = sqlite3_column_int64(rows, 0);
    wt__sql_reset(rows);
    return rc < 0 ? rc : (int)count;
}

int wt__store_find_name(struct store *store, const struct str *provider, struct str name, int64_t *ids, size_t max,
                        wt_error *err)
{
    sqlite3_stmt *rows;
    WT_TRY(provider ? wt__sql_prepare(store,
                                      "SELECT id FROM tool WHERE name = ?1"
                                      " AND provider = (SELECT id FROM provider WHERE name = ?2)",
                                      &rows, err)
                    : wt__sql_prepare(store, "SELECT id FROM tool WHERE name = ?1 ORDER BY id", &rows, err));
    if (wt__sql_bind_text(rows, 1, name) || (provider && wt__sql_bind_text(rows, 2, *provider)))
        return wt__fail_nomem(err);
    return collect_ids(store, rows, ids, max, err);
}

int wt__store_find_source_id(struct store *store, struct str source_id, int64_t *ids, size_t max, wt_error *err)
{
    sqlite3_stmt *rows;
    int rc =
        wt__sql_prepare(store, "SELECT id FROM tool WHERE source_id = ?1 AND source_id <> '' ORDER BY id", &rows, err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(rows, 1, source_id))
        return wt__fail_nomem(err);
    return collect_ids(store, rows, ids, max, err);
}

int wt__store_find_export_name(struct store *store, struct str export_name, int64_t *id, wt_error *err)
{
    sqlite3_stmt *rows;
    WT_TRY(wt__sql_prepare(store, "SELECT id FROM tool WHERE export_name = ?1", &rows, err));
    if (wt__sql_bind_text(rows, 1, export_name))
        return wt__fail_nomem(err);
    return collect_ids(store, rows, id, 1, err);
}

int wt__store_list(struct store *store, const struct str *provider, size_t limit, size_t offset, struct arena *arena,
                   int64_t **ids, size_t *count, wt_error *err)
{
    sqlite3_stmt *rows;
    int64_t *found = NULL;
    size_t len = 0, capacity = 0;
    *ids = NULL;
    *count = 0;
    int rc = provider ? wt__sql_prepare(store,
                                        "SELECT id FROM tool WHERE provider = (SELECT id FROM provider WHERE name ="
                                        " ?3) ORDER BY id LIMIT ?1 OFFSET ?2",
                                        &rows, err)
                      : wt__sql_prepare(store, "SELECT id FROM tool ORDER BY id LIMIT ?1 OFFSET ?2", &rows, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, limit && limit < WT_MAX_TOOLS ? (int64_t)limit : -1);
    sqlite3_bind_int64(rows, 2, offset < WT_MAX_TOOLS ? (int64_t)offset : WT_MAX_TOOLS);
    if (provider && wt__sql_bind_text(rows, 3, *provider))
        return wt__fail_nomem(err);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        rc = wt__grow((void **)&found, &capacity, len + 1, sizeof *found) < 0 ? wt__fail_nomem(err) : 0;
        if (rc == 0)
            found[len++] = sqlite3_column_int64(rows, 0);
    }
    wt__sql_reset(rows);
    if (rc == 0 && !(*ids = wt__arena_array(arena, int64_t, len)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && len) {
        memcpy(*ids, found, len * sizeof *found);
        *count = len;
    }
    free(found);
    return rc;
}

int wt__store_sources(struct store *store, struct str prefix, struct arena *arena, struct str **sources, size_t *count,
                      wt_error *err)
{
    sqlite3_stmt *rows;
    struct str *found = NULL;
    size_t capacity = 0;
    *sources = NULL;
    *count = 0;
    int rc = wt__sql_prepare(store,
                             "SELECT name FROM source WHERE substr(name, 1, length(?1)) = ?1 AND EXISTS"
                             " (SELECT 1 FROM tool WHERE tool.source = source.id) ORDER BY name",
                             &rows, err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(rows, 1, prefix))
        return wt__fail_nomem(err);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        struct str name = wt__sql_column(rows, 0);
        rc = wt__grow((void **)&found, &capacity, *count + 1, sizeof *found) < 0 ? wt__fail_nomem(err) : 0;
        if (rc == 0)
            found[*count] = (struct str){wt__arena_copy(arena, name), name.len};
        if (rc == 0 && !found[(*count)++].ptr)
            rc = wt__fail_nomem(err);
    }
    wt__sql_reset(rows);
    if (rc == 0 && !(*sources = wt__arena_array(arena, struct str, *count)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && *count > 0)
        memcpy(*sources, found, *count * sizeof *found);
    free(found);
    return rc;
}

int wt__store_each_source(struct store *store, store_source_visit visit, void *context, wt_error *err)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(
        store, "SELECT t.id, s.name FROM tool t CROSS JOIN source s ON s.id = t.source ORDER BY t.source, t.id", &rows,
        err);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1)
        rc = visit(context, sqlite3_column_int64(rows, 0), wt__sql_column(rows, 1));
    wt__sql_reset(rows);
    return rc;
}

int wt__store_each_name(struct store *store, struct str from, size_t limit, store_name_visit visit, void *context,
                        wt_error *err)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(
        store, "SELECT id, provider, name FROM tool INDEXED BY tool_name WHERE name >= ?1 ORDER BY name LIMIT ?2",
        &rows, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 2, limit ? (int64_t)limit : -1);
    if (wt__sql_bind_text(rows, 1, from))
        return wt__fail_nomem(err);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1)
        rc = visit(context, sqlite3_column_int64(rows, 0), sqlite3_column_int64(rows, 1), wt__sql_column(rows, 2));
    wt__sql_reset(rows);
    return rc;
}

int wt__store_each_provider(struct store *store, store_provider_visit visit, void *context, wt_error *err)
{
    sqlite3_stmt *rows;
    int rc = wt__sql_prepare(store, "SELECT id, name FROM provider ORDER BY id", &rows, err);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1)
        rc = visit(context, sqlite3_column_int64(rows, 0), wt__sql_column(rows, 1));
    wt__sql_reset(rows);
    return rc;
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

/* ---------------------------------------------------------------- lists, which read only the names of tools */

static char lower_ascii(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* True if text contains part, ignoring ASCII case. */
static bool contains_ignoring_case(struct str text, struct str part)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        size_t i = 0;
        while (i < part.len && lower_ascii(text.ptr[at + i]) == lower_ascii(part.ptr[i]))
            i++;
        if (i == part.len)
            return true;
    }
    return false;
}

static bool contains_char(struct str text, char c)
{
    return memchr(text.ptr, c, text.len) != NULL;
}

/* Collects the ids of the matching rows (id, provider name, tool name), unsorted. */
static int collect_matching(struct store *store, sqlite3_stmt *rows, struct str pattern, int64_t **ids, size_t *count,
                            wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    size_t capacity = 0;
    bool glob = contains_char(pattern, '*') || contains_char(pattern, '?');
    int rc = 0;
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        rc = 0;
        wt__buffer_clear(&id);
        wt__tool_id(&id, wt__sql_column(rows, 1), wt__sql_column(rows, 2));
        if (id.failed)
            rc = wt__fail_nomem(err);
        else if (!(glob ? wt__pattern_fits(pattern, wt__buffer_view(&id), wt__sql_column(rows, 2))
                        : contains_ignoring_case(wt__buffer_view(&id), pattern)))
            continue;
        else if (wt__grow((void **)ids, &capacity, *count + 1, sizeof **ids) < 0)
            rc = wt__fail_nomem(err);
        else
            (*ids)[(*count)++] = sqlite3_column_int64(rows, 0);
    }
    wt__sql_reset(rows);
    return rc;
}

int wt__store_list_matching(struct store *store, const struct str *provider, struct str pattern, size_t limit,
                            size_t offset, struct arena *arena, int64_t **ids, size_t *count, wt_error *err)
{
    sqlite3_stmt *rows;
    int64_t *found = NULL;
    size_t len = 0;
    *ids = NULL;
    *count = 0;
    WT_TRY(provider ? wt__sql_prepare(store,
                                      "SELECT t.id, p.name, t.name FROM provider p CROSS JOIN tool t"
                                      " ON t.provider = p.id WHERE p.name = ?1",
                                      &rows, err)
                    : wt__sql_prepare(store,
                                      "SELECT t.id, p.name, t.name FROM tool t INDEXED BY tool_name"
                                      " CROSS JOIN provider p ON p.id = t.provider",
                                      &rows, err));
    if (provider && wt__sql_bind_text(rows, 1, *provider))
        return wt__fail_nomem(err);
    int rc = collect_matching(store, rows, pattern, &found, &len, err);
    offset = offset < len ? offset : len;
    size_t wanted = limit && limit < len - offset ? limit : len - offset;
    if (rc == 0 && !(*ids = wt__arena_array(arena, int64_t, wanted)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && wanted) {
        wt__sort_i64(found, len);
        memcpy(*ids, found + offset, wanted * sizeof *found);
        *count = wanted;
    }
    free(found);
    return rc;
}

int wt__store_providers(struct store *store, struct arena *arena, struct provider_count **out, size_t *count,
                        wt_error *err)
{
    sqlite3_stmt *rows;
    struct provider_count *found = NULL;
    size_t len = 0, capacity = 0;
    *count = 0;
    int rc = wt__sql_prepare(store,
                             "SELECT p.name, n FROM (SELECT provider, count(*) AS n FROM tool INDEXED BY tool_provider"
                             " GROUP BY provider) CROSS JOIN provider p ON p.id = provider ORDER BY n DESC, p.name",
                             &rows, err);
    if (rc < 0)
        return rc;
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        char *name = wt__arena_copy(arena, wt__sql_column(rows, 0));
        if (!name || wt__grow((void **)&found, &capacity, len + 1, sizeof *found) < 0) {
            rc = wt__fail_nomem(err);
            break;
        }
        found[len++] = (struct provider_count){name, (uint64_t)sqlite3_column_int64(rows, 1)};
    }
    wt__sql_reset(rows);
    *out = rc == 0 ? wt__arena_array(arena, struct provider_count, len) : NULL;
    if (rc == 0 && !*out)
        rc = wt__fail_nomem(err);
    if (rc == 0 && len) {
        memcpy(*out, found, len * sizeof *found);
        *count = len;
    }
    free(found);
    return rc;
}

int wt__store_version(struct store *store, int *out, wt_error *err)
{
    int64_t version = 0;
    int rc = wt__sql_number(store, "PRAGMA user_version", &version, err);
    *out = (int)version;
    return rc;
}
