/* store_sqlite_import.c: changes of the catalogue: an import, and removal.
 *
 * An import compares every tool with its row field by field, through one index lookup each, and writes only what
 * differs: importing the same file again reads and writes nothing. While it runs the page cache may grow to
 * IMPORT_CACHE_KIB, because a cache that spills takes the file from its readers before the commit. */
#include "catalog/store_sqlite.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "catalog/names.h"

enum { STEP_TOOLS = 64 }; /* tools between two looks at the progress */

struct import {
    struct store *store;
    const struct tool *tools;
    size_t count;
    const struct store_import_options *options;
    uint64_t generation;
    int64_t source;
    bool *superseded; /* [count] a later tool has the same provider and name */
    int64_t *ids;     /* [count] row of each tool that is not superseded, id_count of them */
    size_t id_count;
    struct map providers; /* name -> index of provider_ids */
    int64_t *provider_ids;
    size_t provider_capacity;
    bool lost_labels; /* usages name tools that were not there when the import began */
    struct store_changes changes;
    wt_error *err;
};

/* ---------------------------------------------------------------- before the transaction */

static int check_tool(const struct tool *tool, wt_error *err)
{
    size_t row = tool->title.len + tool->description.len + tool->category.len + tool->source_id.len + tool->format.len +
                 tool->definition.len + tool->schema.len;
    int shown = tool->name.len < 100 ? (int)tool->name.len : 100;
    if (tool->name.len == 0)
        return wt__fail(err, WT_EFORMAT, "a tool has no name");
    if (tool->name.len > WT_MAX_NAME_BYTES || tool->provider.len > WT_MAX_NAME_BYTES)
        return wt__fail(err, WT_ETOOLONG, "tool \"%.*s...\": its name or its provider's is over %d bytes", shown,
                        tool->name.ptr, WT_MAX_NAME_BYTES);
    if (tool->definition.len > WT_MAX_DEFINITION_BYTES || row > STORE_MAX_ROW - 4096)
        return wt__fail(err, WT_ETOOLONG, "tool \"%.*s\" has a definition of %zu bytes; at most %d are stored", shown,
                        tool->name.ptr, tool->definition.len, WT_MAX_DEFINITION_BYTES);
    return 0;
}

/* Marks all but the last of the tools that have the same provider and name. */
static int find_repeated(struct import *import, struct arena *arena)
{
    struct map seen = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < import->count; i++) {
        const struct tool *tool = &import->tools[i];
        rc = check_tool(tool, import->err);
        if (rc < 0)
            break;
        size_t len = tool->provider.len + 1 + tool->name.len;
        char *key = wt__arena_alloc(arena, len, 1);
        bool added = false;
        uint32_t *last = NULL;
        if (key) {
            if (tool->provider.len)
                memcpy(key, tool->provider.ptr, tool->provider.len);
            key[tool->provider.len] = '\0'; /* names hold no NUL, so keys do not run into each other */
            memcpy(key + tool->provider.len + 1, tool->name.ptr, tool->name.len);
            last = wt__map_insert(&seen, (struct str){key, len}, (uint32_t)i, &added);
        }
        if (!last) {
            rc = wt__fail_nomem(import->err);
        } else if (!added) {
            import->superseded[*last] = true;
            import->changes.repeated++;
            *last = (uint32_t)i;
        }
    }
    wt__map_dispose(&seen);
    return rc;
}

/* ---------------------------------------------------------------- names that rows refer to */

/* The row of a name in a table of names, made when absent. */
static int name_id(struct import *import, const char *select, const char *insert, struct str name, int64_t *id)
{
    struct store *store = import->store;
    sqlite3_stmt *statement;
    int rc = wt__sql_prepare(store, select, &statement, import->err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(statement, 1, name))
        return wt__fail_nomem(import->err);
    rc = wt__sql_step(store, statement, import->err);
    if (rc == 1) {
        *id = sqlite3_column_int64(statement, 0);
        wt__sql_reset(statement);
        return 0;
    }
    if (rc == 0)
        rc = wt__sql_prepare(store, insert, &statement, import->err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(statement, 1, name))
        return wt__fail_nomem(import->err);
    rc = wt__sql_step(store, statement, import->err);
    *id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

static int source_id(struct import *import, struct str name, int64_t *id)
{
    return name_id(import, "SELECT id FROM source WHERE name = ?1", "INSERT INTO source (name) VALUES (?1)", name, id);
}

static int provider_id(struct import *import, struct str name, int64_t *id)
{
    bool added;
    size_t next = import->providers.len;
    if (wt__grow((void **)&import->provider_ids, &import->provider_capacity, next + 1, sizeof *id) < 0)
        return wt__fail_nomem(import->err);
    uint32_t *index = wt__map_insert(&import->providers, name, (uint32_t)next, &added);
    if (!index)
        return wt__fail_nomem(import->err);
    if (added) {
        int rc = name_id(import, "SELECT id FROM provider WHERE name = ?1", "INSERT INTO provider (name) VALUES (?1)",
                         name, &import->provider_ids[next]);
        if (rc < 0)
            return rc;
    }
    *id = import->provider_ids[*index];
    return 0;
}

/* ---------------------------------------------------------------- one tool */

enum { COLUMN_ID, COLUMN_SOURCE, COLUMN_SHA256, COLUMN_TEXTS };

/* The text columns, in the order of the statements below. */
static void texts_of(const struct tool *tool, struct str texts[6])
{
    texts[0] = tool->source_id;
    texts[1] = tool->format;
    texts[2] = tool->category;
    texts[3] = tool->title;
    texts[4] = tool->description;
    texts[5] = tool->schema;
}

static bool same_as_row(const struct tool *tool, sqlite3_stmt *row)
{
    struct str texts[6], sha256 = {(const char *)tool->sha256, sizeof tool->sha256};
    texts_of(tool, texts);
    bool same = wt__str_equal(wt__sql_column(row, COLUMN_SHA256), sha256);
    for (int i = 0; same && i < 6; i++)
        same = wt__str_equal(wt__sql_column(row, COLUMN_TEXTS + i), texts[i]);
    return same;
}

/* Binds what an insert and an update share: ?1 source, ?2 generation, ?3 sha256, ?4 definition, ?5 to ?10 texts. */
static int bind_content(struct import *import, sqlite3_stmt *statement, const struct tool *tool)
{
    struct str texts[6];
    texts_of(tool, texts);
    int failed = sqlite3_bind_int64(statement, 1, import->source) |
                 sqlite3_bind_int64(statement, 2, (int64_t)import->generation) |
                 wt__sql_bind_blob(statement, 3, tool->sha256, sizeof tool->sha256) |
                 wt__sql_bind_blob(statement, 4, tool->definition.ptr, tool->definition.len);
    for (int i = 0; i < 6; i++)
        failed |= wt__sql_bind_text(statement, 5 + i, texts[i]);
    return failed ? wt__fail_nomem(import->err) : 0;
}

static int insert_tool(struct import *import, const struct tool *tool, int64_t provider)
{
    sqlite3_stmt *insert;
    int rc = wt__sql_prepare(import->store,
                             "INSERT INTO tool (source, generation, sha256, definition, source_id, format, category,"
                             " title, description, schema, provider, name, id_hash)"
                             " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                             &insert, import->err);
    if (rc == 0)
        rc = bind_content(import, insert, tool);
    if (rc < 0)
        return rc;
    uint64_t hash = wt__id_hash(tool->provider, tool->name);
    if (sqlite3_bind_int64(insert, 11, provider) | wt__sql_bind_text(insert, 12, tool->name) |
        sqlite3_bind_int64(insert, 13, (int64_t)hash))
        return wt__fail_nomem(import->err);
    rc = wt__sql_step(import->store, insert, import->err);
    int64_t id = sqlite3_last_insert_rowid(import->store->db);
    import->ids[import->id_count++] = id;
    import->changes.added++;
    if (rc == 0 && import->lost_labels)
        rc = wt__usage_link(import->store, id, tool->provider, tool->name, import->err);
    return rc;
}

/* One statement with the number id as ?1 and other as ?2, when it has one. */
static int run_with_id(struct store *store, const char *sql, int64_t id, const int64_t *other, wt_error *err)
{
    sqlite3_stmt *statement;
    int rc = wt__sql_prepare(store, sql, &statement, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(statement, 1, id);
    if (other)
        sqlite3_bind_int64(statement, 2, *other);
    return wt__sql_step(store, statement, err);
}

static int update_tool(struct import *import, const struct tool *tool, int64_t id)
{
    sqlite3_stmt *update;
    int rc = wt__sql_prepare(import->store,
                             "UPDATE tool SET source = ?1, generation = ?2, sha256 = ?3, definition = ?4,"
                             " source_id = ?5, format = ?6, category = ?7, title = ?8, description = ?9, schema = ?10"
                             " WHERE id = ?11",
                             &update, import->err);
    if (rc == 0)
        rc = bind_content(import, update, tool);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(update, 11, id);
    rc = wt__sql_step(import->store, update, import->err);
    import->changes.updated++;
    return rc < 0 ? rc : run_with_id(import->store, "DELETE FROM vector WHERE tool = ?1", id, NULL, import->err);
}

static int import_tool(struct import *import, const struct tool *tool)
{
    int64_t provider = 0;
    sqlite3_stmt *find;
    int rc = provider_id(import, tool->provider, &provider);
    if (rc == 0)
        rc = wt__sql_prepare(import->store,
                             "SELECT id, source, sha256, source_id, format, category, title, description, schema"
                             " FROM tool WHERE name = ?1 AND provider = ?2",
                             &find, import->err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(find, 1, tool->name) | sqlite3_bind_int64(find, 2, provider))
        return wt__fail_nomem(import->err);
    rc = wt__sql_step(import->store, find, import->err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return insert_tool(import, tool, provider);
    int64_t id = sqlite3_column_int64(find, COLUMN_ID), owner = sqlite3_column_int64(find, COLUMN_SOURCE);
    bool same = same_as_row(tool, find);
    wt__sql_reset(find);
    import->ids[import->id_count++] = id;
    if (!same)
        return update_tool(import, tool, id);
    import->changes.unchanged++;
    if (owner == import->source)
        return 0;
    return run_with_id(import->store, "UPDATE tool SET source = ?2 WHERE id = ?1", id, &import->source, import->err);
}

/* ---------------------------------------------------------------- removal */

static int remove_tool(struct store *store, int64_t id, wt_error *err)
{
    int rc = run_with_id(store, "DELETE FROM tool WHERE id = ?1", id, NULL, err);
    return rc < 0 ? rc : sqlite3_changes(store->db);
}

static int remove_empty_providers(struct store *store, wt_error *err)
{
    return wt__sql_exec(store,
                        "DELETE FROM provider WHERE NOT EXISTS"
                        " (SELECT 1 FROM tool WHERE tool.provider = provider.id)",
                        err);
}

/* Removes the source's tools that this import did not bring. Rows are deleted behind the cursor, never under it. */
static int remove_gone(struct import *import)
{
    struct store *store = import->store;
    sqlite3_stmt *next;
    int64_t after = 0;
    wt__sort_i64(import->ids, import->id_count);
    for (size_t at = 0;;) {
        int rc = wt__sql_prepare(store, "SELECT id FROM tool WHERE source = ?1 AND id > ?2 ORDER BY id LIMIT 1", &next,
                                 import->err);
        if (rc < 0)
            return rc;
        sqlite3_bind_int64(next, 1, import->source);
        sqlite3_bind_int64(next, 2, after);
        rc = wt__sql_step(store, next, import->err);
        if (rc <= 0)
            return rc;
        after = sqlite3_column_int64(next, 0);
        wt__sql_reset(next);
        while (at < import->id_count && import->ids[at] < after)
            at++;
        if (at < import->id_count && import->ids[at] == after)
            continue;
        rc = remove_tool(store, after, import->err);
        if (rc < 0)
            return rc;
        import->changes.removed++;
    }
}

/* A removal took links from usages when fewer are left than there were. */
static int tell_lost_links(struct store *store, int64_t before, wt_error *err)
{
    int64_t links;
    int rc = wt__usage_count_links(store, &links, err);
    return rc == 0 && links < before ? wt__usage_touch(store, err) : rc;
}

/* What a finished removal leaves to do inside the transaction: rc is its failure, or how many tools it removed. */
static int64_t end_removal(struct store *store, int64_t rc, int64_t links, wt_error *err)
{
    uint64_t generation;
    int done = rc < 0 ? (int)rc : 0;
    if (rc > 0)
        done = remove_empty_providers(store, err);
    if (rc > 0 && done == 0)
        done = tell_lost_links(store, links, err);
    if (rc > 0 && done == 0)
        done = wt__sql_next_generation(store, &generation, err);
    if (rc > 0 && done == 0)
        done = wt__sql_set_generation(store, generation, err);
    done = wt__sql_end(store, done, err);
    return done < 0 ? done : rc;
}

int64_t wt__store_remove(struct store *store, const int64_t *ids, size_t count, wt_error *err)
{
    int64_t removed = 0, links = 0;
    int rc = wt__sql_begin(store, err);
    if (rc < 0)
        return rc;
    rc = wt__usage_count_links(store, &links, err);
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        rc = remove_tool(store, ids[i], err);
        removed += rc;
    }
    return end_removal(store, rc < 0 ? rc : removed, links, err);
}

int64_t wt__store_remove_provider(struct store *store, struct str provider, wt_error *err)
{
    sqlite3_stmt *statement;
    int64_t links = 0;
    int rc = wt__sql_begin(store, err);
    if (rc < 0)
        return rc;
    rc = wt__usage_count_links(store, &links, err);
    if (rc == 0)
        rc = wt__sql_prepare(store, "DELETE FROM tool WHERE provider = (SELECT id FROM provider WHERE name = ?1)",
                             &statement, err);
    if (rc == 0)
        rc = wt__sql_bind_text(statement, 1, provider) ? wt__fail_nomem(err) : wt__sql_step(store, statement, err);
    return end_removal(store, rc < 0 ? rc : sqlite3_changes(store->db), links, err);
}

/* ---------------------------------------------------------------- the import */

static int import_tools(struct import *import)
{
    struct progress *progress = import->options->progress;
    int64_t lost = 0;
    int rc = source_id(import, import->options->source, &import->source);
    if (rc == 0)
        rc = wt__sql_next_generation(import->store, &import->generation, import->err);
    if (rc == 0)
        rc =
            wt__sql_number(import->store, "SELECT EXISTS (SELECT 1 FROM label WHERE tool IS NULL)", &lost, import->err);
    import->lost_labels = lost != 0;
    if (rc == 0 && wt__progress_phase(progress, "storing", import->count))
        rc = wt__fail_cancelled(import->err);
    for (size_t i = 0; rc == 0 && i < import->count; i++) {
        if (!import->superseded[i])
            rc = import_tool(import, &import->tools[i]);
        size_t done = i % STEP_TOOLS + 1;
        if (rc == 0 && (done == STEP_TOOLS || i + 1 == import->count) && wt__progress_step(progress, done))
            rc = wt__fail_cancelled(import->err);
    }
    return rc;
}

static int finish_import(struct import *import)
{
    struct store *store = import->store;
    int64_t links = 0;
    int rc = wt__usage_count_links(store, &links, import->err);
    if (rc == 0 && import->options->sync)
        rc = remove_gone(import);
    if (rc == 0 && import->changes.removed)
        rc = tell_lost_links(store, links, import->err);
    if (rc == 0 && import->changes.removed)
        rc = remove_empty_providers(store, import->err);
    if (rc == 0 && import->changes.added) {
        int64_t total;
        rc = wt__sql_number(store, "SELECT count(*) FROM tool", &total, import->err);
        if (rc == 0 && total > WT_MAX_TOOLS)
            rc = wt__fail(import->err, WT_ETOOLONG, "%s would hold %lld tools; at most %d fit", store->path,
                          (long long)total, WT_MAX_TOOLS);
    }
    if (rc == 0 && (import->changes.added || import->changes.updated || import->changes.removed))
        rc = wt__sql_set_generation(store, import->generation, import->err);
    return rc;
}

static int run_import(struct import *import)
{
    struct store *store = import->store;
    int rc = wt__sql_exec(store, "PRAGMA cache_size=-262144", import->err);
    if (rc == 0)
        rc = wt__sql_begin(store, import->err);
    if (rc == 0) {
        rc = import_tools(import);
        if (rc == 0)
            rc = finish_import(import);
        rc = wt__sql_end(store, rc, import->err);
    }
    sqlite3_exec(store->db, "PRAGMA cache_size=-8192", NULL, NULL, NULL);
    sqlite3_db_release_memory(store->db);
    return rc;
}

int wt__store_import(struct store *store, const struct tool *tools, size_t count,
                     const struct store_import_options *options, struct store_changes *out, wt_error *err)
{
    struct import import = {.store = store, .tools = tools, .count = count, .options = options, .err = err};
    struct arena arena = {0};
    struct progress *before = store->progress;
    *out = (struct store_changes){0};
    if (count > WT_MAX_TOOLS)
        return wt__fail(err, WT_ETOOLONG, "%zu tools in one import; at most %d fit", count, WT_MAX_TOOLS);
    import.superseded = calloc(count + 1, sizeof *import.superseded);
    import.ids = wt__alloc_array(count + 1, sizeof *import.ids);
    int rc = import.superseded && import.ids ? find_repeated(&import, &arena) : wt__fail_nomem(err);
    wt__arena_dispose(&arena);
    if (rc == 0) {
        store->progress = options->progress;
        rc = run_import(&import);
        store->progress = before;
    }
    if (rc == 0)
        *out = import.changes;
    free(import.superseded);
    free(import.ids);
    free(import.provider_ids);
    wt__map_dispose(&import.providers);
    return rc;
}
