/* aliases.c: exported names of tools, and former names of providers.
 *
 * A tool gets its exported name when it is added and keeps it; later tools get another (catalog/names.h makes the
 * names, the unique column detects collisions). An exported name is never the id of another tool, so that a name used
 * by a model means the same tool in the command.
 *
 * A renamed provider keeps its row. Its former names lead to it, because its sources still use them. So a name belongs
 * to one provider, as its current or former name. */
#include "store/sqlite.h"

#include "base/buffer.h"

/* ---------------------------------------------------------------- exported names */

/* Returns 1 if the name is the id of a tool without a provider, else 0. */
static int is_an_id(struct store *store, struct str name, wt_error *err)
{
    sqlite3_stmt *row;
    int rc = wt__sql_prepare(store,
                             "SELECT 1 FROM tool WHERE name = ?1"
                             " AND provider = (SELECT id FROM provider WHERE name = '')",
                             &row, err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(row, 1, name))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, row, err);
    wt__sql_reset(row);
    return rc;
}

int wt__names_attempt(struct store *store, struct str provider, struct str name, unsigned *attempt,
                      char out[EXPORT_NAME_MAX + 1], wt_error *err)
{
    for (int taken = 1; taken > 0; ++*attempt) {
        struct str got = {out, wt__export_name(provider, name, *attempt, out)};
        bool own_id = provider.len == 0 && wt__str_equal(got, name);
        taken = own_id ? 0 : is_an_id(store, got, err);
        if (taken < 0)
            return taken;
        if (taken == 0)
            return 0;
    }
    return 0;
}

/* Gives a tool its exported name. */
static int name_stored_tool(struct store *store, int64_t id, struct str provider, struct str name, wt_error *err)
{
    sqlite3_stmt *update;
    for (unsigned attempt = 0;; attempt++) {
        char export_name[EXPORT_NAME_MAX + 1];
        int rc = wt__names_attempt(store, provider, name, &attempt, export_name, err);
        if (rc == 0)
            rc = wt__sql_prepare(store, "UPDATE OR IGNORE tool SET export_name = ?1 WHERE id = ?2", &update, err);
        if (rc < 0)
            return rc;
        if (wt__sql_bind_text(update, 1, wt__str(export_name)) | sqlite3_bind_int64(update, 2, id))
            return wt__fail_nomem(err);
        rc = wt__sql_step(store, update, err);
        if (rc < 0 || sqlite3_changes(store->db) > 0)
            return rc;
    }
}

int wt__names_fill(struct store *store, wt_error *err)
{
    sqlite3_stmt *next;
    struct buffer texts = {0};
    int64_t after = 0;
    int rc;
    do {
        rc = wt__sql_prepare(store,
                             "SELECT t.id, p.name, t.name FROM tool t CROSS JOIN provider p ON p.id = t.provider"
                             " WHERE t.export_name IS NULL AND t.id > ?1 ORDER BY t.id LIMIT 1",
                             &next, err);
        if (rc == 0) {
            sqlite3_bind_int64(next, 1, after);
            rc = wt__sql_step(store, next, err);
        }
        if (rc == 1) {
            /* Copy the texts, because the row is reset before the update. */
            struct str provider = wt__sql_column(next, 1), name = wt__sql_column(next, 2);
            after = sqlite3_column_int64(next, 0);
            wt__buffer_clear(&texts);
            wt__buffer_str(&texts, provider);
            wt__buffer_str(&texts, name);
            wt__sql_reset(next);
            rc = texts.failed ? wt__fail_nomem(err)
                              : name_stored_tool(store, after, (struct str){texts.ptr, provider.len},
                                                 (struct str){texts.ptr + provider.len, name.len}, err);
            rc = rc < 0 ? rc : 1;
        }
    } while (rc > 0);
    wt__buffer_dispose(&texts);
    return rc;
}

/* ---------------------------------------------------------------- providers */

int wt__provider_find(struct store *store, struct str name, int64_t *id, struct str *shown, struct arena *arena,
                      wt_error *err)
{
    sqlite3_stmt *row;
    int rc = wt__sql_prepare(store,
                             "SELECT id, name FROM provider WHERE name = ?1 UNION ALL SELECT p.id, p.name"
                             " FROM provider_alias a CROSS JOIN provider p ON p.id = a.provider WHERE a.name = ?1",
                             &row, err);
    if (rc < 0)
        return rc;
    if (wt__sql_bind_text(row, 1, name))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        *id = sqlite3_column_int64(row, 0);
        *shown = wt__sql_column(row, 1);
        shown->ptr = wt__arena_copy(arena, *shown);
        if (!shown->ptr)
            rc = wt__fail_nomem(err);
    }
    wt__sql_reset(row);
    return rc;
}

/* Runs a statement with the provider ?1, and the text ?2 and number ?3 if it has them. */
static int run_on_provider(struct store *store, const char *sql, int64_t provider, struct str text, int64_t number,
                           wt_error *err)
{
    sqlite3_stmt *statement;
    int rc = wt__sql_prepare(store, sql, &statement, err);
    if (rc < 0)
        return rc;
    int parameters = sqlite3_bind_parameter_count(statement);
    int failed = sqlite3_bind_int64(statement, 1, provider);
    if (parameters > 1)
        failed |= wt__sql_bind_text(statement, 2, text);
    if (parameters > 2)
        failed |= sqlite3_bind_int64(statement, 3, number);
    return failed ? wt__fail_nomem(err) : wt__sql_step(store, statement, err);
}

/* Finds the row of the provider and checks that the new name is free. */
static int check_rename(struct store *store, struct str provider, struct str name, int64_t *id, wt_error *err)
{
    struct arena arena = {0};
    struct str shown = {"", 0};
    int64_t other = 0;
    int rc = wt__provider_find(store, provider, id, &shown, &arena, err);
    if (rc == 0 || (rc == 1 && !wt__str_equal(shown, provider)))
        rc = wt__fail(err, WT_ENOTFOUND, "no tool has the provider \"%.*s\"", (int)provider.len, provider.ptr);
    if (rc == 1)
        rc = wt__provider_find(store, name, &other, &shown, &arena, err);
    if (rc == 1 && (other != *id || wt__str_equal(shown, name)))
        rc = wt__fail(err, WT_EINVAL,
                      wt__str_equal(shown, name)
                          ? "provider \"%.*s\" already exists: choose another name"
                          : "\"%.*s\" is a former name of provider \"%.*s\" and still used by its "
                            "sources: choose another name",
                      (int)name.len, name.ptr, (int)shown.len, shown.ptr);
    wt__arena_dispose(&arena);
    return rc < 0 ? rc : 0;
}

/* Renames the labels of the provider's tools to their new ids. */
static int move_labels(struct store *store, int64_t provider, struct str name, wt_error *err)
{
    int rc = run_on_provider(store,
                             "UPDATE label SET name = ?2 || '/' || (SELECT t.name FROM tool t WHERE t.id = label.tool)"
                             " WHERE tool IN (SELECT id FROM tool WHERE provider = ?1)",
                             provider, name, 0, err);
    return rc < 0 ? rc : wt__usage_touch(store, err);
}

static int64_t rename_provider_row(struct store *store, int64_t provider, struct str from, struct str to, wt_error *err)
{
    uint64_t generation;
    int rc = wt__sql_next_generation(store, &generation, err);
    if (rc == 0)
        rc = run_on_provider(store, "DELETE FROM provider_alias WHERE provider = ?1 AND name = ?2", provider, to, 0,
                             err);
    if (rc == 0)
        rc = run_on_provider(store, "UPDATE provider SET name = ?2 WHERE id = ?1", provider, to, 0, err);
    if (rc == 0)
        rc = run_on_provider(store, "INSERT INTO provider_alias (provider, name) VALUES (?1, ?2)", provider, from, 0,
                             err);
    if (rc == 0)
        rc = run_on_provider(store,
                             "UPDATE tool SET export_name = NULL, generation = ?3 WHERE provider = ?1 AND ?2 = ''",
                             provider, (struct str){"", 0}, (int64_t)generation, err);
    int64_t changed = sqlite3_changes(store->db);
    if (rc == 0)
        rc = wt__names_fill(store, err);
    if (rc == 0)
        rc = run_on_provider(store, "DELETE FROM vector WHERE tool IN (SELECT id FROM tool WHERE provider = ?1)",
                             provider, to, 0, err);
    if (rc == 0)
        rc = move_labels(store, provider, to, err);
    if (rc == 0)
        rc = wt__sql_set_generation(store, generation, err);
    return rc < 0 ? rc : changed;
}

int64_t wt__store_rename_provider(struct store *store, struct str provider, struct str name, wt_error *err)
{
    int64_t id = 0;
    int rc = wt__sql_begin(store, err);
    if (rc < 0)
        return rc;
    rc = check_rename(store, provider, name, &id, err);
    if (rc == 0)
        rc = wt__reserved_refuse(store, provider, "cannot be renamed", err);
    if (rc == 0)
        rc = wt__reserved_refuse(store, name, "cannot be renamed to", err);
    if (rc < 0)
        return wt__sql_end(store, rc, err);
    int64_t changed = rename_provider_row(store, id, provider, name, err);
    rc = wt__sql_end(store, changed < 0 ? (int)changed : 0, err);
    return rc < 0 ? rc : changed;
}
