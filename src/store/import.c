/* import.c: imports tools into the catalogue.
 *
 * An import finds the row of each tool with one index lookup and compares the fields. It writes only the differences,
 * so importing the same file again writes no tool. The page cache may grow to 256 MiB during an import. A smaller cache
 * could spill pages to the file, which locks out readers before the commit.
 *
 * store/store.h documents how names are assigned. A row is "taken" once the import has stored a tool in it. A later
 * tool of the import cannot change a taken row. If the row with a tool's name belongs to another source or is taken,
 * the tool is looked up in the family of its name: the rows "name~N" of its provider (names.c). Such collisions are
 * rare. */
#include "store/import.h"

#include "base/memory.h"
#include "store/review.h"

enum { STEP_TOOLS = 64 }; /* tools between two progress reports */

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

static bool is_row_taken(const void *context, int64_t id)
{
    return wt__import_has_taken(context, id);
}

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
    WT_TRY(wt__import_batch_flush(import));
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
enum { TEXT_SOURCE_ID = 0, TEXT_SCHEMA = TEXT_COLUMNS - 1 }; /* indexes in the texts of a tool */

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

static int insert_tool(struct tool_import *import, const struct incoming *in)
{
    struct sql_value values[ROW_COLUMNS + 1];
    int64_t id = 0;
    content_values(import, in->tool, values);
    values[CONTENT_COLUMNS] = sql_integer(in->provider.id);
    values[CONTENT_COLUMNS + 1] = sql_text(in->name);
    import->changes.added++;
    if (import->batch) {
        WT_TRY(wt__import_batch_note(import, in->provider.id, in->name));
        if (!import->lost_labels && !import->bare_ids && in->name.ptr != in->numbered)
            return wt__import_batch_insert(import, in->provider.name, values);
    }
    WT_TRY(wt__import_insert(import, in->provider.name, values, &id));
    wt__import_take(import, id);
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

/* Compares a row with the tool. Columns: COLUMN_ID and so on. */
static void compare_stored_row(const struct tool *tool, struct sql_statement *row, struct stored_row *out)
{
    struct str texts[TEXT_COLUMNS], sha256 = {(const char *)tool->sha256, sizeof tool->sha256};
    bool same[TEXT_COLUMNS], same_hash = wt__str_equal(wt__sql_column(row, COLUMN_SHA256), sha256);
    texts_of(tool, texts);
    *out = (struct stored_row){
        .id = wt__sql_integer(row, COLUMN_ID), .source = wt__sql_integer(row, COLUMN_SOURCE), .same = same_hash};
    for (int i = 0; i < TEXT_COLUMNS; i++)
        out->same &= same[i] = wt__str_equal(wt__sql_column(row, COLUMN_TEXTS + i), texts[i]);
    out->same_definition = same_hash && same[TEXT_SOURCE_ID] && same[TEXT_SCHEMA];
}

/* Finds the row with this id, or the row with the tool's provider and name if id is 0. Returns 1 with *out, or 0 if
 * absent. */
static int find_stored_row(struct tool_import *import, int64_t id, const struct incoming *in, struct stored_row *out)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    if (id == 0 && import->batch) {
        if (wt__import_batch_lacks(import, in->provider.id, in->tool->name))
            return 0;
        int found = wt__import_batch_find(import, out);
        if (found != 0)
            return found;
    }
    WT_TRY(wt__import_batch_flush(import));
    WT_TRY(id ? wt__sql_open(import->store,
                             "SELECT id, source, sha256, source_id, format, category, title, description, schema"
                             " FROM tool WHERE id = ?1",
                             SQL_VALUES(sql_integer(id)), &row, import->err)
              : wt__sql_open(import->store,
                             "SELECT id, source, sha256, source_id, format, category, title, description, schema"
                             " FROM tool WHERE provider = ?1 AND name = ?2",
                             SQL_VALUES(sql_integer(in->provider.id), sql_text(in->tool->name)), &row, import->err));
    int rc = wt__sql_step(import->store, row, import->err);
    if (rc == 1)
        compare_stored_row(in->tool, row, out);
    return rc;
}

/* True if the import may change a row of that source. A reviewed listing may change all rows of its provider. */
static bool owns_source(const struct tool_import *import, int64_t source)
{
    return import->options->reviewed.len > 0 || wt__owner_has(&import->owner, source);
}

/* True if the tool should be stored in this row. The row has the same definition, source id and schema, or the import
 * owns it and has not taken it yet. */
static bool is_row_of(const struct tool_import *import, const struct stored_row *row)
{
    return row->same_definition || (owns_source(import, row->source) && !wt__import_has_taken(import, row->id));
}

/* Stores the tool in this row, unless the import has already taken the row. Updates a row that differs if the import
 * owns it. Otherwise sets only the row's source. */
static int store_in_row(struct tool_import *import, const struct tool *tool, const struct stored_row *row)
{
    bool own = owns_source(import, row->source), again = wt__import_has_taken(import, row->id);
    wt__import_take(import, row->id);
    if (own && !row->same && !again)
        return update_tool(import, tool, row->id);
    import->changes.unchanged += !again;
    if (row->source == import->owner.ids[0] || again)
        return 0;
    return wt__sql_run(import->store, "UPDATE tool SET source = ?2 WHERE id = ?1",
                       SQL_VALUES(sql_integer(row->id), sql_integer(import->owner.ids[0])), import->err);
}

/* Stores a tool that may have a numbered name, either in its row of the family or in a new row. free: true if no row
 * has the tool's name, so that a new row needs no number. Otherwise the row with the name belongs to another source or
 * is taken. */
static int import_relative(struct tool_import *import, struct incoming *in, bool free)
{
    struct family *family;
    struct stored_row row;
    WT_TRY(wt__import_batch_flush(import));
    WT_TRY(wt__family_open(&import->families, import->store, in->provider.id, in->own_name, &family, import->err));
    int64_t id = wt__family_same(&import->families, family, in->tool);
    if (!free && (id == 0 || is_row_taken(import, id)))
        id = wt__family_own(family, &import->owner, is_row_taken, import);
    if (id != 0 && !is_row_taken(import, id)) {
        int rc = find_stored_row(import, id, in, &row);
        return rc == 1 ? store_in_row(import, in->tool, &row) : rc;
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
    struct stored_row row;
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
    if (is_row_of(import, &row))
        return store_in_row(import, tool, &row);
    return import_relative(import, &in, false);
}

/* ---------------------------------------------------------------- the import */

static int import_all_tools(struct tool_import *import)
{
    struct progress *progress = import->options->progress;
    int64_t lost = 0, bare = 0;
    WT_TRY(wt__sql_next_generation(import->store, &import->generation, import->err));
    WT_TRY(wt__sql_number(import->store, "SELECT EXISTS (SELECT 1 FROM label WHERE tool IS NULL)", &lost, import->err));
    import->lost_labels = lost != 0;
    WT_TRY(wt__sql_number(import->store, "SELECT EXISTS (SELECT 1 FROM provider WHERE name = '')", &bare, import->err));
    import->bare_ids = bare != 0;
    WT_TRY(wt__import_batch_open(import));
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
    return wt__import_batch_flush(import);
}

static int finish_import(struct tool_import *import)
{
    struct store *store = import->store;
    int64_t links = 0;
    WT_TRY(wt__usage_count_links(store, &links, import->err));
    if (import->options->sync)
        WT_TRY(wt__import_remove_missing(import));
    if (import->changes.removed) {
        WT_TRY(wt__removal_note_links(store, links, import->err));
        WT_TRY(wt__removal_empty_providers(store, import->err));
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
    int rc = wt__import_rows_open(&import);
    if (rc == 0)
        rc = import_all_tools(&import);
    if (rc == 0)
        rc = finish_import(&import);
    store->progress = before;
    if (rc == 0)
        *out = import.changes;
    free(import.taken.slots);
    wt__import_batch_close(import.batch);
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
