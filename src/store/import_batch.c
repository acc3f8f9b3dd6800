/* import_batch.c: parts of an import into a database with arrays, where each statement is a round trip to a server.
 *
 *   names    which rows exist, read before the import for 10,000 tools at a time, with the ids of their providers
 *   compare  the next BATCH_ROWS tools are sent to the database, which compares them with their rows
 *   insert   new rows wait in the batch, and one statement inserts them */
#include "store/import.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    BATCH_ROWS = 512,       /* rows that wait, and rows that are compared at once */
    BATCH_BYTES = 16 << 20, /* bytes of their values */
    BATCH_NAMES = 10000,    /* names in one statement */
    BATCH_LEAST = 8         /* tools of an import that uses batches */
};

struct import_batch {
    struct map stored;                              /* set of (provider, name) of rows that exist or wait */
    struct sql_value rows[BATCH_ROWS][ROW_COLUMNS]; /* [count] values of the rows that wait */
    size_t tools[BATCH_ROWS];                       /* indexes of their tools in the import */
    struct map exported;                            /* set of the exported names of queued rows */
    struct str providers[BATCH_ROWS];               /* names of their providers */
    size_t count, bytes;
    struct stored_row compared[BATCH_ROWS]; /* rows of the tools from compared_from on; id is 0 if unknown */
    size_t compared_from, compared_to;
};

/* ---------------------------------------------------------------- names of stored rows */

/* Returns the key of a row in batch->stored, in the arena of the import. Its ptr is NULL if out of memory. */
static struct str stored_key(struct tool_import *import, int64_t provider, struct str name)
{
    struct str key = {wt__arena_alloc(&import->arena, sizeof provider + name.len, 1), sizeof provider + name.len};
    if (key.ptr) {
        memcpy((char *)key.ptr, &provider, sizeof provider);
        memcpy((char *)key.ptr + sizeof provider, name.ptr, name.len);
    }
    return key;
}

int wt__import_batch_note(struct tool_import *import, int64_t provider, struct str name)
{
    struct str key = stored_key(import, provider, name);
    return key.ptr && wt__map_insert(&import->batch->stored, key, 0, NULL) ? 0 : wt__fail_nomem(import->err);
}

bool wt__import_batch_lacks(const struct tool_import *import, int64_t provider, struct str name)
{
    char key[sizeof provider + WT_MAX_NAME_BYTES];
    memcpy(key, &provider, sizeof provider);
    memcpy(key + sizeof provider, name.ptr, name.len);
    return !wt__map_get(&import->batch->stored, (struct str){key, sizeof provider + name.len});
}

/* Notes the stored rows with one of these names. */
static int note_stored_names(struct tool_import *import, const struct sql_value *names, size_t count)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    WT_TRY(wt__sql_open(import->store, "SELECT provider, name FROM tool WHERE name = ANY (?1)",
                        SQL_VALUES(sql_array(names, count, 1)), &rows, import->err));
    while ((rc = wt__sql_step(import->store, rows, import->err)) == 1)
        WT_TRY(wt__import_batch_note(import, wt__sql_integer(rows, 0), wt__sql_column(rows, 1)));
    return rc;
}

/* Runs a statement that returns ids and names of providers, and sets them in the index of providers. */
static int index_stored_providers(struct tool_import *import, const char *sql, const struct sql_value *names,
                                  size_t count)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    WT_TRY(wt__sql_open(import->store, sql, SQL_VALUES(sql_array(names, count, 1)), &rows, import->err));
    while ((rc = wt__sql_step(import->store, rows, import->err)) == 1) {
        size_t next = import->provider_index.len;
        struct stored_provider added = {.id = wt__sql_integer(rows, 0), .name = wt__sql_copy(rows, 1, &import->arena)};
        if (!added.name.ptr ||
            wt__grow((void **)&import->providers, &import->provider_capacity, next + 1, sizeof added) < 0 ||
            !wt__map_insert(&import->provider_index, added.name, (uint32_t)next, NULL))
            return wt__fail_nomem(import->err);
        import->providers[next] = added;
    }
    return rc;
}

/* Indexes the providers of these names, and inserts the new ones. Leaves out former names and reserved names, which
 * need more checks. */
static int open_providers(struct tool_import *import, const struct sql_value *names, size_t count)
{
    WT_TRY(index_stored_providers(import,
                                  "SELECT id, name FROM provider WHERE name = ANY (?1) AND name NOT IN"
                                  " (SELECT name FROM review_server)",
                                  names, count));
    return index_stored_providers(
        import,
        "INSERT INTO provider (name) SELECT n.name FROM UNNEST(?1) WITH ORDINALITY AS n (name, place)"
        " WHERE n.name NOT IN (SELECT name FROM provider UNION ALL SELECT name FROM provider_alias"
        " UNION ALL SELECT name FROM review_server) ORDER BY n.place RETURNING id, name",
        names, count);
}

/* Looks ahead at `count` tools from `first` on. names [count] is scratch memory. */
static int look_ahead(struct tool_import *import, size_t first, size_t count, struct sql_value *names)
{
    WT_CLEANUP(wt__map_dispose) struct map seen = {0};
    size_t providers = 0;
    for (size_t i = 0; i < count; i++) {
        bool added;
        struct str provider = import->tools[first + i].provider;
        if (provider.len == 0 || wt__map_get(&import->provider_index, provider))
            continue;
        WT_CHECK_ALLOC(wt__map_insert(&seen, provider, 0, &added), import->err);
        if (added)
            names[providers++] = sql_text(provider);
    }
    if (providers > 0)
        WT_TRY(open_providers(import, names, providers));
    for (size_t i = 0; i < count; i++)
        names[i] = sql_text(import->tools[first + i].name);
    return note_stored_names(import, names, count);
}

/* ---------------------------------------------------------------- comparing rows */

/* Values of a tool that the database compares. */
enum { COMPARED_PLACE, COMPARED_PROVIDER, COMPARED_NAME, COMPARED_VALUES = 10 };

/* Writes the values of a tool. Returns the number of their bytes, or 0 if the tool is new or its provider unknown. */
static size_t fill_compared(const struct tool_import *import, size_t at, struct sql_value out[COMPARED_VALUES])
{
    const struct tool *tool = &import->tools[at];
    const uint32_t *provider = wt__map_get(&import->provider_index, tool->provider);
    size_t bytes = 0;
    if (!provider || wt__import_batch_lacks(import, import->providers[*provider].id, tool->name))
        return 0;
    const struct sql_value values[COMPARED_VALUES] = {
        sql_integer((int64_t)at),  sql_integer(import->providers[*provider].id),
        sql_text(tool->name),      sql_blob(tool->sha256, sizeof tool->sha256),
        sql_text(tool->source_id), sql_text(tool->schema),
        sql_text(tool->format),    sql_text(tool->category),
        sql_text(tool->title),     sql_text(tool->description)};
    memcpy(out, values, sizeof values);
    for (size_t i = 0; i < COMPARED_VALUES; i++)
        bytes += values[i].bytes.len;
    return bytes;
}

static int read_compared(struct tool_import *import, struct sql_statement *rows)
{
    struct import_batch *batch = import->batch;
    int rc;
    while ((rc = wt__sql_step(import->store, rows, import->err)) == 1) {
        size_t at = (size_t)wt__sql_integer(rows, 0) - batch->compared_from;
        bool same_definition = wt__sql_integer(rows, 3) != 0;
        if (at < BATCH_ROWS)
            batch->compared[at] = (struct stored_row){.id = wt__sql_integer(rows, 1),
                                                      .source = wt__sql_integer(rows, 2),
                                                      .same = same_definition && wt__sql_integer(rows, 4) != 0,
                                                      .same_definition = same_definition};
    }
    return rc;
}

/* Compares the next tools with their rows. values [BATCH_ROWS, COMPARED_VALUES] is scratch memory. */
static int compare_ahead(struct tool_import *import, struct sql_value (*values)[COMPARED_VALUES])
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct import_batch *batch = import->batch;
    struct sql_value columns[COMPARED_VALUES + 1];
    size_t count = 0, bytes = 0, at = import->at;
    memset(batch->compared, 0, sizeof batch->compared);
    for (; at < import->count && at - import->at < BATCH_ROWS && bytes < BATCH_BYTES; at++) {
        size_t added = fill_compared(import, at, values[count]);
        bytes += added;
        count += added > 0;
    }
    batch->compared_from = import->at;
    batch->compared_to = at;
    if (count == 0)
        return 0;
    for (size_t i = 0; i < COMPARED_VALUES; i++)
        columns[i] = sql_array(&values[0][i], count, COMPARED_VALUES);
    columns[COMPARED_VALUES] = (struct sql_value){.kind = SQL_VALUES_END};
    WT_TRY(wt__sql_open(import->store,
                        "SELECT n.place, t.id, t.source,"
                        " t.sha256 = n.sha256 AND t.source_id = n.source_id AND t.schema = n.schema,"
                        " t.format = n.format AND t.category = n.category AND t.title = n.title"
                        " AND t.description = n.description"
                        " FROM UNNEST(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) AS n (place, provider, name, sha256,"
                        " source_id, schema, format, category, title, description)"
                        " JOIN tool t ON t.provider = n.provider AND t.name = n.name",
                        columns, &rows, import->err));
    return read_compared(import, rows);
}

/* The import changes only rows that it has taken, so other rows are as they were read. */
int wt__import_batch_find(struct tool_import *import, struct stored_row *out)
{
    const struct import_batch *batch = import->batch;
    if (import->at < batch->compared_from || import->at >= batch->compared_to) {
        WT_AUTO_FREE struct sql_value(*values)[COMPARED_VALUES] = wt__alloc_array(BATCH_ROWS, sizeof *values);
        WT_CHECK_ALLOC(values, import->err);
        WT_TRY(compare_ahead(import, values));
    }
    *out = batch->compared[import->at - batch->compared_from];
    return out->id != 0 && !wt__import_has_taken(import, out->id);
}

/* ---------------------------------------------------------------- new rows */

static void take_batch_row(struct tool_import *import, size_t row, int64_t id)
{
    wt__import_take(import, id);
    if (import->ids)
        import->ids[import->batch->tools[row]] = id;
}

/* Takes the inserted rows in the order of the batch. Rows with an exported name already in use are missing. */
static int take_inserted_rows(struct tool_import *import, struct sql_statement *rows, bool inserted[BATCH_ROWS])
{
    struct import_batch *batch = import->batch;
    size_t at = 0;
    int rc;
    while ((rc = wt__sql_step(import->store, rows, import->err)) == 1) {
        struct str name = wt__sql_column(rows, 1);
        while (at < batch->count && !wt__str_equal(batch->rows[at][CONTENT_COLUMNS + 2].bytes, name))
            at++;
        if (at == batch->count)
            return wt__fail(import->err, WT_ESTORE, "%s: the database inserted other rows than it was given",
                            import->store->path);
        inserted[at] = true;
        take_batch_row(import, at++, wt__sql_integer(rows, 0));
    }
    return rc;
}

/* A row with an exported name already in use gets the next free name. */
int wt__import_batch_flush(struct tool_import *import)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct import_batch *batch = import->batch;
    struct sql_value columns[ROW_COLUMNS + 1];
    bool inserted[BATCH_ROWS] = {false};
    if (!batch || batch->count == 0)
        return 0;
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        columns[i] = sql_array(&batch->rows[0][i], batch->count, ROW_COLUMNS);
    columns[ROW_COLUMNS] = (struct sql_value){.kind = SQL_VALUES_END};
    WT_TRY(wt__sql_open(import->store,
                        "INSERT INTO tool (source, generation, sha256, definition, source_id, format, category,"
                        " title, description, schema, provider, name, export_name)"
                        " SELECT * FROM UNNEST(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
                        " ON CONFLICT (export_name) DO NOTHING RETURNING id, export_name",
                        columns, &rows, import->err));
    WT_TRY(take_inserted_rows(import, rows, inserted));
    for (size_t i = 0; i < batch->count; i++) {
        struct sql_value values[ROW_COLUMNS + 1];
        int64_t id;
        if (inserted[i])
            continue;
        memcpy(values, batch->rows[i], sizeof batch->rows[i]);
        values[ROW_COLUMNS] = (struct sql_value){.kind = SQL_VALUES_END};
        WT_TRY(wt__import_insert(import, batch->providers[i], values, &id));
        take_batch_row(import, i, id);
    }
    batch->count = batch->bytes = 0;
    return 0;
}

/* Inserts a row at once, after the waiting rows. */
static int insert_after_batch(struct tool_import *import, struct str provider, struct sql_value *values)
{
    int64_t id = 0;
    WT_TRY(wt__import_batch_flush(import));
    WT_TRY(wt__import_insert(import, provider, values, &id));
    wt__import_take(import, id);
    return 0;
}

/* A row with the exported name of an earlier row does not wait: the order of ids is the order of the tools. */
int wt__import_batch_insert(struct tool_import *import, struct str provider, struct sql_value *values)
{
    struct import_batch *batch = import->batch;
    struct sql_value *row = batch->rows[batch->count];
    char export_name[EXPORT_NAME_MAX + 1];
    struct str name = values[CONTENT_COLUMNS + 1].bytes;
    memcpy(row, values, sizeof batch->rows[0]);
    struct str exported = {export_name, wt__export_name(provider, name, 0, export_name)};
    exported.ptr = wt__arena_copy(&import->arena, exported);
    bool is_new = false;
    WT_CHECK_ALLOC(exported.ptr && wt__map_insert(&batch->exported, exported, 0, &is_new), import->err);
    if (!is_new)
        return insert_after_batch(import, provider, values);
    row[CONTENT_COLUMNS + 2] = sql_text(exported);
    batch->tools[batch->count] = import->at;
    batch->providers[batch->count++] = provider;
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        batch->bytes += row[i].bytes.len;
    return batch->count == BATCH_ROWS || batch->bytes > BATCH_BYTES ? wt__import_batch_flush(import) : 0;
}

/* ---------------------------------------------------------------- opening and closing */

/* Without a batch, an import needs several round trips for each tool. */
int wt__import_batch_open(struct tool_import *import)
{
    if (!import->store->driver->has_arrays || import->count < BATCH_LEAST || import->options->reviewed.len > 0)
        return 0;
    WT_AUTO_FREE struct sql_value *names = wt__alloc_array(BATCH_NAMES, sizeof *names);
    import->batch = wt__alloc_zeros(1, sizeof *import->batch);
    WT_CHECK_ALLOC(names && import->batch, import->err);
    for (size_t i = 0; i < import->count; i += BATCH_NAMES)
        WT_TRY(look_ahead(import, i, import->count - i < BATCH_NAMES ? import->count - i : BATCH_NAMES, names));
    return 0;
}

void wt__import_batch_close(struct import_batch *batch)
{
    if (!batch)
        return;
    wt__map_dispose(&batch->stored);
    wt__map_dispose(&batch->exported);
    free(batch);
}
