/* removal.c: removes tools: single ones, those of a provider, and those that a source no longer has. */
#include "store/import.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "store/review.h"

/* Returns the number of tools removed, 0 or 1. */
static int remove_stored_tool(struct store *store, int64_t id, wt_error *err)
{
    WT_TRY(wt__sql_run(store, "DELETE FROM tool WHERE id = ?1", SQL_VALUES(sql_integer(id)), err));
    return (int)wt__sql_changes(store);
}

int wt__removal_empty_providers(struct store *store, wt_error *err)
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
        if (wt__import_has_taken(import, id))
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

/* Rows are collected first, because deleting under an open cursor is unsafe. */
int wt__import_remove_missing(struct tool_import *import)
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

int wt__removal_note_links(struct store *store, int64_t before, wt_error *err)
{
    int64_t links;
    int rc = wt__usage_count_links(store, &links, err);
    return rc == 0 && links < before ? wt__usage_touch(store, err) : rc;
}

/* Finishes a removal within its transaction. links: number of links before the removal. */
static int finish_removal(struct store *store, int64_t links, wt_error *err)
{
    WT_TRY(wt__removal_empty_providers(store, err));
    WT_TRY(wt__removal_note_links(store, links, err));
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
