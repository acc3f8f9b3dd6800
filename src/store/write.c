/* write.c: changes of the catalogue: imports and removals.
 *
 * An import finds the row of each tool with one index lookup and compares the fields. It writes only the differences,
 * so importing the same file again writes no tool. The page cache may grow to 256 MiB during an import. A smaller cache
 * could spill pages to the file, which locks out readers before the commit.
 *
 * store/store.h documents how names are assigned. A row is "taken" once the import has stored a tool in it. A later
 * tool of the import cannot change a taken row. If the row with a tool's name belongs to another source or is taken,
 * the tool is looked up in the family of its name: the rows "name~N" of its provider (names.c). Such collisions are
 * rare. */
#include "store/internal.h"

#include "base/buffer.h"
#include "base/map.h"
#include "base/memory.h"
#include "store/review.h"

enum { STEP_TOOLS = 64 }; /* tools between two progress reports */

/* Number of columns shared by insert and update, and number of all columns that insert writes. */
enum { TEXT_COLUMNS = 6, CONTENT_COLUMNS = 4 + TEXT_COLUMNS, ROW_COLUMNS = CONTENT_COLUMNS + 3 };

/* A batch of an import into a database with arrays. New rows wait in the batch, and one statement inserts them. */
enum {
    BATCH_ROWS = 512,       /* rows that wait */
    BATCH_BYTES = 16 << 20, /* bytes of their values */
    BATCH_NAMES = 10000,    /* names in one statement */
    BATCH_LEAST = 8         /* tools of an import that uses batches */
};

struct import_batch {
    bool active;
    struct map stored;                     /* set of (provider, name) of rows that exist or wait */
    struct sql_value (*rows)[ROW_COLUMNS]; /* [BATCH_ROWS, ROW_COLUMNS] values of the rows that wait */
    size_t tools[BATCH_ROWS];              /* indexes of their tools in the import */
    struct map exported;                   /* set of the exported names of queued rows */
    struct str providers[BATCH_ROWS];      /* names of their providers */
    size_t count, bytes;
};

/* A provider in the import. */
struct stored_provider {
    int64_t id;
    struct str name; /* current name; the imported tools may use a former name */
};

/* Set of the ids of rows that this import added, changed or confirmed. A hash table with open addressing, at most half
 * full. */
struct row_set {
    int64_t *slots; /* ids of rows; 0 if free */
    size_t mask;
};

struct tool_import {
    struct store *store;
    const struct tool *tools;
    size_t count;
    const struct store_import_options *options;
    uint64_t generation;
    struct owner owner; /* source of the current tool */
    bool owner_is_new;  /* true if the owner had no tools when it became the current owner */
    struct row_set taken;
    struct map provider_index; /* name -> index of providers */
    struct stored_provider *providers;
    size_t provider_capacity;
    struct families families;
    int64_t *ids;       /* [count] receives the ids of the tools; may be NULL */
    int64_t last_taken; /* id of the row that was taken last */
    struct arena arena; /* names of providers, and keys of skipped tools */
    bool lost_labels;   /* true if the store had labels without a tool before the import */
    bool bare_ids;      /* true if a provider has the empty name, so that names of tools can be ids */
    size_t at;          /* index of the current tool */
    struct import_batch batch;
    struct store_changes changes;
    wt_error *err;
};

/* ---------------------------------------------------------------- before the transaction */

static int check_stored_tool(const struct tool *tool, wt_error *err)
{
    size_t row = tool->title.len + tool->description.len + tool->category.len + tool->source_id.len + tool->format.len +
                 tool->definition.len + tool->schema.len;
    int shown = tool->name.len < 100 ? (int)tool->name.len : 100;
    if (tool->name.len == 0)
        return wt__fail(err, WT_EFORMAT, "a tool has no name");
    if (tool->name.len > WT_MAX_NAME_BYTES || tool->provider.len > WT_MAX_NAME_BYTES)
        return wt__fail(err, WT_ETOOLONG, "tool \"%.*s...\": its name or provider is longer than %d bytes", shown,
                        tool->name.ptr, WT_MAX_NAME_BYTES);
    if (tool->definition.len > WT_MAX_DEFINITION_BYTES || row > STORE_MAX_ROW - 4096)
        return wt__fail(err, WT_ETOOLONG, "tool \"%.*s\" has a definition of %zu bytes; at most %d are stored", shown,
                        tool->name.ptr, tool->definition.len, WT_MAX_DEFINITION_BYTES);
    return 0;
}

static int taken_new(struct row_set *taken, size_t count)
{
    size_t capacity = 16;
    while (capacity < 2 * (count + 1))
        capacity *= 2;
    taken->mask = capacity - 1;
    taken->slots = calloc(capacity, sizeof *taken->slots);
    return taken->slots ? 0 : -1;
}

/* Returns the slot with this id, or the free slot for the id if it is not in the set. */
static int64_t *taken_slot(const struct row_set *taken, int64_t id)
{
    size_t at = (size_t)((uint64_t)id * 0x9e3779b97f4a7c15u >> 20) & taken->mask;
    while (taken->slots[at] != 0 && taken->slots[at] != id)
        at = (at + 1) & taken->mask;
    return &taken->slots[at];
}

static bool is_row_taken(const void *context, int64_t id)
{
    const struct tool_import *import = context;
    return *taken_slot(&import->taken, id) == id;
}

static void take_row(struct tool_import *import, int64_t id)
{
    import->last_taken = id;
    *taken_slot(&import->taken, id) = id;
}

static int flush_batch(struct tool_import *import);

/* ---------------------------------------------------------------- names that rows refer to */

static const char source_select[] = "SELECT id FROM source WHERE name = ?1",
                  source_insert[] = "INSERT INTO source (name) VALUES (?1) RETURNING id",
                  provider_select[] = "SELECT id FROM provider WHERE name = ?1",
                  provider_insert[] = "INSERT INTO provider (name) VALUES (?1) RETURNING id";

/* Finds the row of a name in a table of names; *id is 0 if absent. */
static int find_name_row(struct tool_import *import, const char *select, struct str name, int64_t *id)
{
    *id = 0;
    int rc = wt__sql_find(import->store, select, SQL_VALUES(sql_text(name)), id, import->err);
    return rc < 0 ? rc : 0;
}

/* Works like find_name_row, and inserts the name if absent. */
static int find_or_add_name(struct tool_import *import, const char *select, const char *insert, struct str name,
                            int64_t *id)
{
    int rc = find_name_row(import, select, name, id);
    if (rc < 0 || *id != 0)
        return rc;
    return wt__sql_insert(import->store, insert, SQL_VALUES(sql_text(name)), id, import->err);
}

/* Sets the current owner to the tool's source. Does nothing if the previous tool has the same source, as most have. */
static int set_owner(struct tool_import *import, const struct tool *tool)
{
    struct owner *owner = &import->owner;
    struct str name = tool->source.len > 0 ? tool->source : import->options->source;
    if (owner->count > 0 && wt__str_equal(owner->name, name))
        return 0;
    WT_TRY(flush_batch(import));
    *owner = (struct owner){.name = name, .count = 1};
    WT_TRY(find_or_add_name(import, source_select, source_insert, name, &owner->ids[0]));
    for (size_t i = name.len; i-- > 1 && owner->count < OWNER_MAX;) {
        if (name.ptr[i] != '/')
            continue;
        WT_TRY(find_name_row(import, source_select, (struct str){name.ptr, i}, &owner->ids[owner->count]));
        owner->count += owner->ids[owner->count] != 0;
    }
    import->owner_is_new = true;
    for (size_t i = 0; i < owner->count && import->owner_is_new; i++) {
        int has_tools = wt__sql_run(import->store, "SELECT 1 FROM tool WHERE source = ?1 LIMIT 1",
                                    SQL_VALUES(sql_integer(owner->ids[i])), import->err);
        if (has_tools < 0)
            return has_tools;
        import->owner_is_new = !has_tools;
    }
    return 0;
}

/* Finds or adds the provider, which may be given by a former name. */
static int open_provider(struct tool_import *import, struct str name, struct stored_provider *out)
{
    int known = wt__provider_find(import->store, name, &out->id, &out->name, &import->arena, import->err);
    if (known < 0)
        return known;
    if (!known)
        out->name = name;
    if (!wt__str_equal(import->options->reviewed, name))
        WT_TRY(wt__reserved_refuse(import->store, out->name, "cannot be imported into", import->err));
    import->bare_ids |= name.len == 0;
    return known ? 0 : find_or_add_name(import, provider_select, provider_insert, name, &out->id);
}

static int find_import_provider(struct tool_import *import, struct str name, struct stored_provider *out)
{
    bool added;
    size_t next = import->provider_index.len;
    if (wt__grow((void **)&import->providers, &import->provider_capacity, next + 1, sizeof *out) < 0)
        return wt__fail_nomem(import->err);
    uint32_t *index = wt__map_insert(&import->provider_index, name, (uint32_t)next, &added);
    WT_CHECK_ALLOC(index, import->err);
    int rc = added ? open_provider(import, name, &import->providers[next]) : 0;
    *out = import->providers[*index];
    return rc;
}

/* ---------------------------------------------------------------- one tool */

enum { COLUMN_ID, COLUMN_SOURCE, COLUMN_SHA256, COLUMN_TEXTS };

/* A tool to be stored. */
struct incoming {
    const struct tool *tool;
    struct stored_provider provider;
    struct str own_name; /* name in its source */
    struct str name;     /* name in the store */
    char numbered[WT_MAX_NAME_BYTES + 1];
};

/* Writes the tool's text columns to `texts`, in the order of the statements below. */
static void texts_of(const struct tool *tool, struct str texts[TEXT_COLUMNS])
{
    texts[0] = tool->source_id;
    texts[1] = tool->format;
    texts[2] = tool->category;
    texts[3] = tool->title;
    texts[4] = tool->description;
    texts[5] = tool->schema;
}

static bool same_as_row(const struct tool *tool, struct sql_statement *row)
{
    struct str texts[TEXT_COLUMNS], sha256 = {(const char *)tool->sha256, sizeof tool->sha256};
    texts_of(tool, texts);
    if (!wt__str_equal(wt__sql_column(row, COLUMN_SHA256), sha256))
        return false;
    for (int i = 0; i < TEXT_COLUMNS; i++)
        if (!wt__str_equal(wt__sql_column(row, COLUMN_TEXTS + i), texts[i]))
            return false;
    return true;
}

/* Writes the values shared by insert and update: ?1 source, ?2 generation, ?3 sha256, ?4 definition, ?5 to ?10
 * texts. */
static void content_values(const struct tool_import *import, const struct tool *tool,
                           struct sql_value values[ROW_COLUMNS + 1])
{
    struct str texts[TEXT_COLUMNS];
    texts_of(tool, texts);
    memset(values, 0, (ROW_COLUMNS + 1) * sizeof *values);
    values[0] = sql_integer(import->owner.ids[0]);
    values[1] = sql_integer((int64_t)import->generation);
    values[2] = sql_blob(tool->sha256, sizeof tool->sha256);
    values[3] = sql_blob(tool->definition.ptr, tool->definition.len);
    for (int i = 0; i < TEXT_COLUMNS; i++)
        values[4 + i] = sql_text(texts[i]);
}

/* Notes a tool that is stored under another name than in its source. Does nothing if a tool of the same source has the
 * name, or if no tool has the name. */
static int note_collision(struct tool_import *import, const struct incoming *in)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    struct store_changes *changes = &import->changes;
    struct arena *arena = import->options->arena;
    WT_TRY(wt__sql_open(import->store,
                        "SELECT s.name FROM tool t CROSS JOIN source s ON s.id = t.source"
                        " WHERE t.name = ?1 AND t.provider = ?2",
                        SQL_VALUES(sql_text(in->own_name), sql_integer(in->provider.id)), &row, import->err));
    int rc = wt__sql_step(import->store, row, import->err);
    if (rc <= 0)
        return rc;
    struct str other = wt__sql_column(row, 0);
    if (wt__str_equal(other, import->owner.name) || changes->collisions++ >= WT_MAX_COLLISIONS || !arena)
        return 0;
    struct store_collision *collision = &changes->first[changes->collisions - 1];
    *collision = (struct store_collision){in->provider.name, in->name, in->own_name, import->owner.name, other};
    struct str *texts[] = {&collision->provider, &collision->name, &collision->taken, &collision->source,
                           &collision->other};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        texts[i]->ptr = wt__arena_copy(arena, *texts[i]);
        WT_CHECK_ALLOC(texts[i]->ptr, import->err);
    }
    return 0;
}

/* Inserts the row with the first free exported name, and writes its id to *id. values [ROW_COLUMNS + 1] are complete
 * except for the exported name. */
static int insert_row(struct tool_import *import, struct str provider, struct sql_value *values, int64_t *id)
{
    char export_name[EXPORT_NAME_MAX + 1];
    struct str name = values[CONTENT_COLUMNS + 1].bytes;
    for (unsigned attempt = 0;; attempt++) {
        if (import->bare_ids)
            WT_TRY(wt__names_attempt(import->store, provider, name, &attempt, export_name, import->err));
        else
            wt__export_name(provider, name, attempt, export_name);
        values[CONTENT_COLUMNS + 2] = sql_string(export_name);
        int rc = wt__sql_find(import->store,
                              "INSERT INTO tool (source, generation, sha256, definition, source_id, format,"
                              " category, title, description, schema, provider, name, export_name)"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
                              " ON CONFLICT (export_name) DO NOTHING RETURNING id",
                              values, id, import->err);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
}

/* ---------------------------------------------------------------- batches of new rows */

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

static int note_stored(struct tool_import *import, int64_t provider, struct str name)
{
    struct str key = stored_key(import, provider, name);
    return key.ptr && wt__map_insert(&import->batch.stored, key, 0, NULL) ? 0 : wt__fail_nomem(import->err);
}

/* True if the store certainly has no row with this provider and name. */
static bool is_known_absent(const struct tool_import *import, int64_t provider, struct str name)
{
    char key[sizeof provider + WT_MAX_NAME_BYTES];
    if (!import->batch.active)
        return false;
    memcpy(key, &provider, sizeof provider);
    memcpy(key + sizeof provider, name.ptr, name.len);
    return !wt__map_get(&import->batch.stored, (struct str){key, sizeof provider + name.len});
}

static void take_batch_row(struct tool_import *import, size_t row, int64_t id)
{
    take_row(import, id);
    if (import->ids)
        import->ids[import->batch.tools[row]] = id;
}

/* Takes the inserted rows in the order of the batch. Rows with an exported name already in use are missing. */
static int take_inserted_rows(struct tool_import *import, struct sql_statement *rows, bool inserted[BATCH_ROWS])
{
    struct import_batch *batch = &import->batch;
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

/* Inserts the waiting rows. A row with an exported name already in use gets the next free name. */
static int flush_batch(struct tool_import *import)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct import_batch *batch = &import->batch;
    struct sql_value columns[ROW_COLUMNS + 1];
    bool inserted[BATCH_ROWS] = {false};
    if (batch->count == 0)
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
        WT_TRY(insert_row(import, batch->providers[i], values, &id));
        take_batch_row(import, i, id);
    }
    batch->count = batch->bytes = 0;
    return 0;
}

/* Inserts a row at once, after the waiting rows. */
static int insert_after_batch(struct tool_import *import, struct str provider, struct sql_value *values)
{
    int64_t id = 0;
    WT_TRY(flush_batch(import));
    WT_TRY(insert_row(import, provider, values, &id));
    take_row(import, id);
    return 0;
}

/* Adds a row to the batch. The texts of the tool outlive the import. A row with the exported name of
 * an earlier row does not wait: the order of ids is the order of the tools. */
static int queue_row(struct tool_import *import, struct str provider, struct sql_value *values)
{
    struct import_batch *batch = &import->batch;
    struct sql_value *row = batch->rows[batch->count];
    char export_name[EXPORT_NAME_MAX + 1];
    struct str name = values[CONTENT_COLUMNS + 1].bytes;
    WT_TRY(note_stored(import, values[CONTENT_COLUMNS].integer, name));
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
    return batch->count == BATCH_ROWS || batch->bytes > BATCH_BYTES ? flush_batch(import) : 0;
}

static int insert_tool(struct tool_import *import, const struct incoming *in)
{
    struct sql_value values[ROW_COLUMNS + 1];
    int64_t id = 0;
    content_values(import, in->tool, values);
    values[CONTENT_COLUMNS] = sql_integer(in->provider.id);
    values[CONTENT_COLUMNS + 1] = sql_text(in->name);
    import->changes.added++;
    if (import->batch.active && !import->lost_labels && !import->bare_ids && in->name.ptr != in->numbered)
        return queue_row(import, in->provider.name, values);
    WT_TRY(insert_row(import, in->provider.name, values, &id));
    take_row(import, id);
    if (!wt__str_equal(in->name, in->own_name))
        WT_TRY(note_collision(import, in));
    return import->lost_labels ? wt__usage_link(import->store, id, in->provider.name, in->name, import->err) : 0;
}

static int update_tool(struct tool_import *import, const struct tool *tool, int64_t id)
{
    struct sql_value values[ROW_COLUMNS + 1];
    content_values(import, tool, values);
    values[CONTENT_COLUMNS] = sql_integer(id);
    WT_TRY(wt__sql_run(import->store,
                       "UPDATE tool SET source = ?1, generation = ?2, sha256 = ?3, definition = ?4,"
                       " source_id = ?5, format = ?6, category = ?7, title = ?8, description = ?9, schema = ?10"
                       " WHERE id = ?11",
                       values, import->err));
    import->changes.updated++;
    return wt__sql_run(import->store, "DELETE FROM vector WHERE tool = ?1", SQL_VALUES(sql_integer(id)), import->err);
}

/* Finds the row with this id, or the row with the tool's provider and name if id is 0. Returns 1 with the statement
 * *row at the row found, or 0 if absent. The caller resets *row. */
static int find_stored_row(struct tool_import *import, int64_t id, const struct incoming *in,
                           struct sql_statement **row)
{
    if (id == 0 && is_known_absent(import, in->provider.id, in->tool->name))
        return 0;
    WT_TRY(flush_batch(import));
    WT_TRY(id ? wt__sql_open(import->store,
                             "SELECT id, source, sha256, source_id, format, category, title, description, schema"
                             " FROM tool WHERE id = ?1",
                             SQL_VALUES(sql_integer(id)), row, import->err)
              : wt__sql_open(import->store,
                             "SELECT id, source, sha256, source_id, format, category, title, description, schema"
                             " FROM tool WHERE provider = ?1 AND name = ?2",
                             SQL_VALUES(sql_integer(in->provider.id), sql_text(in->tool->name)), row, import->err));
    return wt__sql_step(import->store, *row, import->err);
}

/* True if the import may change a row of that source. A reviewed listing may change all rows of its provider. */
static bool owns_source(const struct tool_import *import, int64_t source)
{
    return import->options->reviewed.len > 0 || wt__owner_has(&import->owner, source);
}

/* True if the tool should be stored in this row. The row has the same definition, source id and schema, or the import
 * owns it and has not taken it yet. */
static bool is_row_of(const struct tool_import *import, const struct tool *tool, struct sql_statement *row)
{
    struct str sha256 = {(const char *)tool->sha256, sizeof tool->sha256};
    return (wt__str_equal(wt__sql_column(row, COLUMN_SHA256), sha256) &&
            wt__str_equal(wt__sql_column(row, COLUMN_TEXTS), tool->source_id) &&
            wt__str_equal(wt__sql_column(row, COLUMN_TEXTS + 5), tool->schema)) ||
           (owns_source(import, wt__sql_integer(row, COLUMN_SOURCE)) &&
            !is_row_taken(import, wt__sql_integer(row, COLUMN_ID)));
}

/* Stores the tool in this row, unless the import has already taken the row. Updates a row that differs if the import
 * owns it. Otherwise sets only the row's source. Resets the statement. */
static int store_in_row(struct tool_import *import, const struct tool *tool, struct sql_statement *row)
{
    int64_t id = wt__sql_integer(row, COLUMN_ID), source = wt__sql_integer(row, COLUMN_SOURCE);
    bool same = same_as_row(tool, row), own = owns_source(import, source), again = is_row_taken(import, id);
    wt__sql_reset(row);
    take_row(import, id);
    if (own && !same && !again)
        return update_tool(import, tool, id);
    import->changes.unchanged += !again;
    if (source == import->owner.ids[0] || again)
        return 0;
    return wt__sql_run(import->store, "UPDATE tool SET source = ?2 WHERE id = ?1",
                       SQL_VALUES(sql_integer(id), sql_integer(import->owner.ids[0])), import->err);
}

/* Stores a tool that may have a numbered name, either in its row of the family or in a new row. free: true if no row
 * has the tool's name, so that a new row needs no number. Otherwise the row with the name belongs to another source or
 * is taken. */
static int import_relative(struct tool_import *import, struct incoming *in, bool free)
{
    struct family *family;
    struct sql_statement *row;
    WT_TRY(flush_batch(import));
    WT_TRY(wt__family_open(&import->families, import->store, in->provider.id, in->own_name, &family, import->err));
    int64_t id = wt__family_same(&import->families, family, in->tool);
    if (!free && (id == 0 || is_row_taken(import, id)))
        id = wt__family_own(family, &import->owner, is_row_taken, import);
    if (id != 0 && !is_row_taken(import, id)) {
        int rc = find_stored_row(import, id, in, &row);
        return rc == 1 ? store_in_row(import, in->tool, row) : rc;
    }
    if (!free) {
        WT_TRY(wt__family_number(family, import->store, in->numbered, import->err));
        in->name = wt__str(in->numbered);
    }
    return insert_tool(import, in);
}

static int import_one_tool(struct tool_import *import, const struct tool *tool)
{
    struct incoming in = {.tool = tool, .name = tool->name};
    struct sql_statement *row;
    in.own_name = tool->own_name.len > 0 ? tool->own_name : tool->name;
    WT_TRY(set_owner(import, tool));
    WT_TRY(find_import_provider(import, tool->provider, &in.provider));
    int found = find_stored_row(import, 0, &in, &row);
    if (found < 0)
        return found;
    if (found == 0) {
        bool has_own_names = import->owner_is_new || import->options->reviewed.len > 0;
        return has_own_names ? insert_tool(import, &in) : import_relative(import, &in, true);
    }
    if (is_row_of(import, tool, row))
        return store_in_row(import, tool, row);
    wt__sql_reset(row);
    return import_relative(import, &in, false);
}

/* ---------------------------------------------------------------- removal */

/* Returns the number of tools removed, 0 or 1. */
static int remove_stored_tool(struct store *store, int64_t id, wt_error *err)
{
    WT_TRY(wt__sql_run(store, "DELETE FROM tool WHERE id = ?1", SQL_VALUES(sql_integer(id)), err));
    return (int)wt__sql_changes(store);
}

static int remove_empty_providers(struct store *store, wt_error *err)
{
    return wt__sql_exec(store,
                        "DELETE FROM provider WHERE NOT EXISTS"
                        " (SELECT 1 FROM tool WHERE tool.provider = provider.id)",
                        err);
}

/* Returns the key by which a skipped tool and its row are matched, as a view of `key`. */
static struct str left_key(struct buffer *key, struct str source, struct str source_id)
{
    wt__buffer_clear(key);
    wt__buffer_str(key, source);
    wt__buffer_char(key, '\0');
    wt__buffer_str(key, source_id);
    return wt__buffer_view(key);
}

/* Indexes the skipped tools by key. The keys are in the arena of the import. */
static int index_left(struct tool_import *import, struct map *left)
{
    const struct store_import_options *options = import->options;
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    for (size_t i = 0; i < options->left_count; i++) {
        const struct skipped_tool *tool = &options->left[i];
        struct str view = left_key(&key, tool->source.len > 0 ? tool->source : options->source, tool->source_id);
        struct str copy = {key.failed ? NULL : wt__arena_copy(&import->arena, view), view.len};
        if (!copy.ptr || !wt__map_insert(left, copy, 0, NULL))
            return wt__fail_nomem(import->err);
    }
    return 0;
}

/* Finds the rows of the source, and of sources below it, that this import neither stored nor skipped. Excludes rows of
 * reserved providers other than the reviewed provider. Includes rows of the reviewed provider from any source. The
 * caller frees *ids, also on error. */
static int find_missing(struct tool_import *import, const struct map *left, int64_t **ids, size_t *count)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0};
    size_t capacity = 0;
    int rc;
    WT_TRY(wt__sql_open(import->store,
                        "SELECT t.id, s.name, t.source_id FROM source s CROSS JOIN tool t ON t.source = s.id"
                        " WHERE (s.name = ?1 OR substr(s.name, 1, length(?1) + 1) = ?1 || '/')"
                        " AND t.provider NOT IN (SELECT p.id FROM review_server v CROSS JOIN provider p"
                        " ON p.name = v.name WHERE v.name <> ?2)"
                        " UNION SELECT t.id, s.name, t.source_id FROM tool t CROSS JOIN source s ON s.id = t.source"
                        " WHERE ?2 <> '' AND t.provider = (SELECT id FROM provider WHERE name = ?2)",
                        SQL_VALUES(sql_text(import->options->source), sql_text(import->options->reviewed)), &rows,
                        import->err));
    while ((rc = wt__sql_step(import->store, rows, import->err)) == 1) {
        int64_t id = wt__sql_integer(rows, 0);
        if (is_row_taken(import, id))
            continue;
        if (left->len > 0 && wt__map_get(left, left_key(&key, wt__sql_column(rows, 1), wt__sql_column(rows, 2)))) {
            import->changes.kept++;
            continue;
        }
        if (key.failed || wt__grow((void **)ids, &capacity, *count + 1, sizeof **ids) < 0)
            return wt__fail_nomem(import->err);
        (*ids)[(*count)++] = id;
    }
    return rc;
}

/* Removes the tools missing from this import. Rows are collected first, because deleting under an open cursor is
 * unsafe. */
static int remove_missing(struct tool_import *import)
{
    WT_CLEANUP(wt__map_dispose) struct map left = {0};
    WT_AUTO_FREE int64_t *ids = NULL;
    size_t count = 0;
    WT_TRY(index_left(import, &left));
    WT_TRY(find_missing(import, &left, &ids, &count));
    for (size_t i = 0; i < count; i++) {
        int removed = remove_stored_tool(import->store, ids[i], import->err);
        if (removed < 0)
            return removed;
        import->changes.removed += (size_t)removed;
    }
    return 0;
}

/* Increments usage_generation if a removal has deleted links. before: number of links before the removal. */
static int note_lost_links(struct store *store, int64_t before, wt_error *err)
{
    int64_t links;
    int rc = wt__usage_count_links(store, &links, err);
    return rc == 0 && links < before ? wt__usage_touch(store, err) : rc;
}

/* Finishes a removal within its transaction. links: number of links before the removal. */
static int finish_removal(struct store *store, int64_t links, wt_error *err)
{
    WT_TRY(remove_empty_providers(store, err));
    WT_TRY(note_lost_links(store, links, err));
    return wt__sql_increment_generation(store, err);
}

/* Ends the transaction of a removal. removed: number of tools removed, or an error. links: number of links before the
 * removal. */
static int end_removal(struct store *store, int removed, int64_t links, wt_error *err)
{
    int rc = removed > 0 ? finish_removal(store, links, err) : 0;
    return wt__sql_end(store, rc < 0 ? rc : removed, err);
}

int64_t wt__store_remove(struct store *store, const int64_t *ids, size_t count, wt_error *err)
{
    int64_t links = 0;
    int removed = 0;
    WT_TRY(wt__sql_begin(store, err));
    int rc = wt__usage_count_links(store, &links, err);
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        rc = wt__reserved_refuse_tool(store, ids[i], err);
        if (rc == 0)
            rc = wt__copied_refuse_tool(store, ids[i], err);
        if (rc == 0)
            rc = remove_stored_tool(store, ids[i], err);
        removed += rc;
    }
    return end_removal(store, rc < 0 ? rc : removed, links, err);
}

/* Removes a provider's tools. `may` refuses the removal, or ends the reservation that forbids it. */
static int64_t remove_provider(struct store *store, struct str provider,
                               int (*may)(struct store *, struct str, wt_error *), wt_error *err)
{
    int64_t links = 0;
    WT_TRY(wt__sql_begin(store, err));
    int rc = wt__usage_count_links(store, &links, err);
    if (rc == 0)
        rc = may(store, provider, err);
    if (rc == 0)
        rc = wt__sql_run(store, "DELETE FROM tool WHERE provider = (SELECT id FROM provider WHERE name = ?1)",
                         SQL_VALUES(sql_text(provider)), err);
    return end_removal(store, rc < 0 ? rc : (int)wt__sql_changes(store), links, err);
}

static int refuse_removal(struct store *store, struct str provider, wt_error *err)
{
    WT_TRY(wt__copied_refuse(store, provider, "cannot be removed", err));
    return wt__reserved_refuse(store, provider, "cannot be removed", err);
}

int64_t wt__store_remove_provider(struct store *store, struct str provider, wt_error *err)
{
    return remove_provider(store, provider, refuse_removal, err);
}

int64_t wt__store_release_provider(struct store *store, struct str provider, wt_error *err)
{
    return remove_provider(store, provider, wt__reserved_release, err);
}

/* ---------------------------------------------------------------- the import */

/* Notes the stored rows with one of these names. */
static int note_stored_names(struct tool_import *import, const struct sql_value *names, size_t count)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    WT_TRY(wt__sql_open(import->store, "SELECT provider, name FROM tool WHERE name = ANY (?1)",
                        SQL_VALUES(sql_array(names, count, 1)), &rows, import->err));
    while ((rc = wt__sql_step(import->store, rows, import->err)) == 1)
        WT_TRY(note_stored(import, wt__sql_integer(rows, 0), wt__sql_column(rows, 1)));
    return rc;
}

/* Inserts the new providers, except for former names and reserved names. Sets them in the index of providers. */
static int insert_new_providers(struct tool_import *import, const struct sql_value *names, size_t count)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc;
    WT_TRY(wt__sql_open(import->store,
                        "INSERT INTO provider (name) SELECT n.name FROM UNNEST(?1) WITH ORDINALITY AS n (name, place)"
                        " WHERE n.name NOT IN (SELECT name FROM provider UNION ALL SELECT name FROM provider_alias"
                        " UNION ALL SELECT name FROM review_server) ORDER BY n.place RETURNING id, name",
                        SQL_VALUES(sql_array(names, count, 1)), &rows, import->err));
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
        WT_TRY(insert_new_providers(import, names, providers));
    for (size_t i = 0; i < count; i++)
        names[i] = sql_text(import->tools[first + i].name);
    return note_stored_names(import, names, count);
}

/* Without a batch, an import needs several round trips for each tool. */
static int open_batch(struct tool_import *import)
{
    if (!import->store->driver->has_arrays || import->count < BATCH_LEAST || import->options->reviewed.len > 0)
        return 0;
    WT_AUTO_FREE struct sql_value *names = wt__alloc_array(BATCH_NAMES, sizeof *names);
    import->batch.rows = wt__alloc_array(BATCH_ROWS, sizeof *import->batch.rows);
    WT_CHECK_ALLOC(names && import->batch.rows, import->err);
    for (size_t i = 0; i < import->count; i += BATCH_NAMES)
        WT_TRY(look_ahead(import, i, import->count - i < BATCH_NAMES ? import->count - i : BATCH_NAMES, names));
    import->batch.active = true;
    return 0;
}

static int import_all_tools(struct tool_import *import)
{
    struct progress *progress = import->options->progress;
    int64_t lost = 0, bare = 0;
    WT_TRY(wt__sql_next_generation(import->store, &import->generation, import->err));
    WT_TRY(wt__sql_number(import->store, "SELECT EXISTS (SELECT 1 FROM label WHERE tool IS NULL)", &lost, import->err));
    import->lost_labels = lost != 0;
    WT_TRY(wt__sql_number(import->store, "SELECT EXISTS (SELECT 1 FROM provider WHERE name = '')", &bare, import->err));
    import->bare_ids = bare != 0;
    WT_TRY(open_batch(import));
    if (wt__progress_phase(progress, "storing", import->count))
        return wt__fail_cancelled(import->err);
    for (size_t i = 0; i < import->count; i++) {
        import->at = i;
        import->last_taken = 0;
        WT_TRY(import_one_tool(import, &import->tools[i]));
        if (import->ids && import->last_taken != 0)
            import->ids[i] = import->last_taken;
        size_t done = i % STEP_TOOLS + 1;
        if ((done == STEP_TOOLS || i + 1 == import->count) && wt__progress_step(progress, done))
            return wt__fail_cancelled(import->err);
    }
    return flush_batch(import);
}

static int finish_import(struct tool_import *import)
{
    struct store *store = import->store;
    int64_t links = 0;
    WT_TRY(wt__usage_count_links(store, &links, import->err));
    if (import->options->sync)
        WT_TRY(remove_missing(import));
    if (import->changes.removed) {
        WT_TRY(note_lost_links(store, links, import->err));
        WT_TRY(remove_empty_providers(store, import->err));
    }
    if (import->changes.added) {
        int64_t total;
        WT_TRY(wt__sql_number(store, "SELECT count(*) FROM tool", &total, import->err));
        if (total > WT_MAX_TOOLS)
            return wt__fail(import->err, WT_ETOOLONG, "%s would hold %lld tools; at most %d fit", store->path,
                            (long long)total, WT_MAX_TOOLS);
    }
    bool changed = import->changes.added || import->changes.updated || import->changes.removed;
    return changed ? wt__sql_set_generation(store, import->generation, import->err) : 0;
}

int wt__import_check(const struct tool *tools, size_t count, wt_error *err)
{
    if (count > WT_MAX_TOOLS)
        return wt__fail(err, WT_ETOOLONG, "%zu tools in one import; at most %d fit", count, WT_MAX_TOOLS);
    for (size_t i = 0; i < count; i++)
        WT_TRY(check_stored_tool(&tools[i], err));
    return 0;
}

int wt__import_within(struct store *store, const struct tool *tools, size_t count,
                      const struct store_import_options *options, int64_t *ids, struct store_changes *out,
                      wt_error *err)
{
    struct tool_import import = {
        .store = store, .tools = tools, .count = count, .options = options, .ids = ids, .err = err};
    struct progress *before = store->progress;
    *out = (struct store_changes){0};
    store->progress = options->progress;
    int rc = taken_new(&import.taken, count) < 0 ? wt__fail_nomem(err) : import_all_tools(&import);
    if (rc == 0)
        rc = finish_import(&import);
    store->progress = before;
    if (rc == 0)
        *out = import.changes;
    free(import.taken.slots);
    free(import.batch.rows);
    wt__map_dispose(&import.batch.stored);
    wt__map_dispose(&import.batch.exported);
    free(import.providers);
    wt__map_dispose(&import.provider_index);
    wt__families_dispose(&import.families);
    wt__arena_dispose(&import.arena);
    return rc;
}

int wt__store_import(struct store *store, const struct tool *tools, size_t count,
                     const struct store_import_options *options, struct store_changes *out, wt_error *err)
{
    struct progress *before = store->progress;
    *out = (struct store_changes){0};
    if (!options->copied && wt__str_equal(options->source, STR(STORE_COPIED_SOURCE)))
        return wt__fail(err, WT_EINVAL, "the name %s of a source is reserved; choose another one", STORE_COPIED_SOURCE);
    WT_TRY(wt__import_check(tools, count, err));
    store->progress = options->progress; /* Report the wait for another writer. */
    int rc = wt__sql_begin_bulk(store, err);
    if (rc == 0)
        rc = wt__import_within(store, tools, count, options, options->ids, out, err);
    rc = wt__sql_end_bulk(store, rc, err);
    store->progress = before;
    if (rc < 0)
        *out = (struct store_changes){0};
    return rc;
}
