/* names.c: exported names of tools, former names of providers, providers reserved for MCP servers, and numbered names
 * such as "name~2".
 *
 * A tool gets its exported name when it is added, and keeps the name. catalog/names.h makes the names. The unique
 * column detects a name that is taken, and the later tool gets another name. An exported name is never the id of
 * another tool, so that a name means the same tool to a model and on the command line.
 *
 * A renamed provider keeps its row. Its former names refer to the same row, because its sources still use them. So a
 * name belongs to one provider, as its current or former name.
 *
 * A provider is reserved (store/review.h) as long as review_server has its name. Each change of tools checks the
 * reservation within its own transaction, so that no other thread or process can reserve the provider between the check
 * and the change. */
#include "store/internal.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/names.h"
#include "store/review.h"

/* ---------------------------------------------------------------- exported names */

/* Returns 1 if the name is the id of a tool without a provider, else 0. */
static int is_an_id(struct store *store, struct str name, wt_error *err)
{
    return wt__sql_run(store,
                       "SELECT 1 FROM tool WHERE name = ?1"
                       " AND provider = (SELECT id FROM provider WHERE name = '')",
                       SQL_VALUES(sql_text(name)), err);
}

int wt__names_attempt(struct store *store, struct str provider, struct str name, unsigned *attempt,
                      char out[EXPORT_NAME_MAX + 1], wt_error *err)
{
    for (;; ++*attempt) {
        struct str got = {out, wt__export_name(provider, name, *attempt, out)};
        bool own_id = provider.len == 0 && wt__str_equal(got, name);
        int taken = own_id ? 0 : is_an_id(store, got, err);
        if (taken <= 0)
            return taken;
    }
}

/* Gives a tool the first exported name that no other tool has. */
static int name_stored_tool(struct store *store, int64_t id, struct str provider, struct str name, wt_error *err)
{
    for (unsigned attempt = 0;; attempt++) {
        char export_name[EXPORT_NAME_MAX + 1];
        WT_TRY(wt__names_attempt(store, provider, name, &attempt, export_name, err));
        int rc = wt__sql_run(store,
                             "UPDATE tool SET export_name = ?1 WHERE id = ?2"
                             " AND NOT EXISTS (SELECT 1 FROM tool WHERE export_name = ?1)",
                             SQL_VALUES(sql_string(export_name), sql_integer(id)), err);
        if (rc < 0 || wt__sql_changes(store) > 0)
            return rc;
    }
}

int wt__names_fill(struct store *store, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    for (int64_t after = 0;; wt__arena_reset(&arena)) {
        WT_CLEANUP(wt__sql_close) struct sql_statement *next = NULL;
        WT_TRY(wt__sql_open(store,
                            "SELECT t.id, p.name, t.name FROM tool t CROSS JOIN provider p ON p.id = t.provider"
                            " WHERE t.export_name IS NULL AND t.id > ?1 ORDER BY t.id LIMIT 1",
                            SQL_VALUES(sql_integer(after)), &next, err));
        int rc = wt__sql_step(store, next, err);
        if (rc <= 0)
            return rc;
        /* Copy the texts, because the row is reset before the update. */
        struct str provider = wt__sql_copy(next, 1, &arena), name = wt__sql_copy(next, 2, &arena);
        after = wt__sql_integer(next, 0);
        wt__sql_reset(next);
        if (!provider.ptr || !name.ptr)
            return wt__fail_nomem(err);
        WT_TRY(name_stored_tool(store, after, provider, name, err));
    }
}

/* ---------------------------------------------------------------- providers */

int wt__provider_find(struct store *store, struct str name, int64_t *id, struct str *shown, struct arena *arena,
                      wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    WT_TRY(wt__sql_open(store,
                        "SELECT id, name FROM provider WHERE name = ?1 UNION ALL SELECT p.id, p.name"
                        " FROM provider_alias a CROSS JOIN provider p ON p.id = a.provider WHERE a.name = ?1",
                        SQL_VALUES(sql_text(name)), &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    *id = wt__sql_integer(row, 0);
    *shown = wt__sql_copy(row, 1, arena);
    return shown->ptr ? 1 : wt__fail_nomem(err);
}

/* Finds the row of the provider and checks that the new name is free. */
static int check_rename(struct store *store, struct str provider, struct str name, int64_t *id, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct str shown = {"", 0};
    int64_t other = 0;
    int rc = wt__provider_find(store, provider, id, &shown, &arena, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !wt__str_equal(shown, provider))
        return wt__fail(err, WT_ENOTFOUND, "no tool has the provider \"%.*s\"", (int)provider.len, provider.ptr);
    rc = wt__provider_find(store, name, &other, &shown, &arena, err);
    if (rc == 1 && (other != *id || wt__str_equal(shown, name)))
        return wt__fail(err, WT_EINVAL,
                        wt__str_equal(shown, name)
                            ? "provider \"%.*s\" already exists: choose another name"
                            : "\"%.*s\" is a former name of provider \"%.*s\" and still used by its "
                              "sources: choose another name",
                        (int)name.len, name.ptr, (int)shown.len, shown.ptr);
    return rc < 0 ? rc : 0;
}

static int rename_provider_row(struct store *store, int64_t provider, struct str from, struct str to, wt_error *err)
{
    const struct sql_value *values = SQL_VALUES(sql_integer(provider), sql_text(to));
    uint64_t generation;
    WT_TRY(wt__sql_next_generation(store, &generation, err));
    WT_TRY(wt__sql_run(store, "DELETE FROM provider_alias WHERE provider = ?1 AND name = ?2", values, err));
    WT_TRY(wt__sql_run(store, "UPDATE provider SET name = ?2 WHERE id = ?1", values, err));
    WT_TRY(wt__sql_run(store, "INSERT INTO provider_alias (provider, name) VALUES (?1, ?2)",
                       SQL_VALUES(sql_integer(provider), sql_text(from)), err));
    WT_TRY(wt__sql_run(store, "UPDATE tool SET export_name = NULL, generation = ?2 WHERE provider = ?1",
                       SQL_VALUES(sql_integer(provider), sql_integer((int64_t)generation)), err));
    int changed = (int)wt__sql_changes(store);
    WT_TRY(wt__names_fill(store, err));
    WT_TRY(wt__sql_run(store, "DELETE FROM vector WHERE tool IN (SELECT id FROM tool WHERE provider = ?1)",
                       SQL_VALUES(sql_integer(provider)), err));
    /* Rename the labels of the provider's tools to their new ids. */
    WT_TRY(wt__sql_run(store,
                       "UPDATE label SET name = ?2 || '/' || (SELECT t.name FROM tool t WHERE t.id = label.tool)"
                       " WHERE tool IN (SELECT id FROM tool WHERE provider = ?1)",
                       values, err));
    WT_TRY(wt__usage_touch(store, err));
    WT_TRY(wt__sql_set_generation(store, generation, err));
    return changed;
}

static int rename_checked(struct store *store, struct str provider, struct str name, wt_error *err)
{
    int64_t id = 0;
    WT_TRY(check_rename(store, provider, name, &id, err));
    WT_TRY(wt__reserved_refuse(store, provider, "cannot be renamed", err));
    WT_TRY(wt__copied_refuse(store, provider, "cannot be renamed", err));
    WT_TRY(wt__reserved_refuse(store, name, "cannot be renamed to", err));
    return rename_provider_row(store, id, provider, name, err);
}

int64_t wt__store_rename_provider(struct store *store, struct str provider, struct str name, wt_error *err)
{
    WT_TRY(wt__sql_begin(store, err));
    return wt__sql_end(store, rename_checked(store, provider, name, err), err);
}

/* ---------------------------------------------------------------- reserved providers */

enum { SHOWN_BYTES = 200 /* maximum bytes of a provider's name in a message */ };

int wt__reserved_find(struct store *store, struct str name, int64_t *id, wt_error *err)
{
    *id = 0;
    int rc = wt__sql_find(store, "SELECT id FROM review_server WHERE name = ?1", SQL_VALUES(sql_text(name)), id, err);
    return rc < 0 ? rc : 0;
}

int wt__reserved_drop_aliases(struct store *store, struct str provider, wt_error *err)
{
    return wt__sql_run(store,
                       "DELETE FROM provider_alias WHERE name = ?1"
                       " OR provider = (SELECT id FROM provider WHERE name = ?1)",
                       SQL_VALUES(sql_text(provider)), err);
}

static int fail_reserved(struct str provider, const char *what, wt_error *err)
{
    int len = (int)wt__str_head(provider, SHOWN_BYTES).len;
    return wt__fail(
        err, WT_EINVAL,
        "the provider %.*s %s: it is reserved for the approved tools of the MCP server with that name; choose "
        "another name, or release it with `whichtool mcp forget %.*s`",
        len, provider.ptr, what, len, provider.ptr);
}

int wt__reserved_refuse(struct store *store, struct str provider, const char *what, wt_error *err)
{
    int64_t server = 0;
    int rc = wt__reserved_find(store, provider, &server, err);
    return rc < 0 || server == 0 ? rc : fail_reserved(provider, what, err);
}

int wt__reserved_refuse_tool(struct store *store, int64_t tool, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    WT_TRY(wt__sql_open(store,
                        "SELECT p.name FROM tool t CROSS JOIN provider p ON p.id = t.provider"
                        " CROSS JOIN review_server v ON v.name = p.name WHERE t.id = ?1",
                        SQL_VALUES(sql_integer(tool)), &row, err));
    int rc = wt__sql_step(store, row, err);
    return rc == 1 ? fail_reserved(wt__sql_column(row, 0), "does not allow the removal of single tools", err) : rc;
}

int wt__copied_refuse(struct store *store, struct str provider, const char *what, wt_error *err)
{
    int64_t tool;
    int rc = wt__sql_find(store,
                          "SELECT t.id FROM provider p CROSS JOIN tool t ON t.provider = p.id"
                          " CROSS JOIN source s ON s.id = t.source WHERE p.name = ?1 AND s.name = ?2 LIMIT 1",
                          SQL_VALUES(sql_text(provider), sql_text(STR(STORE_COPIED_SOURCE))), &tool, err);
    if (rc <= 0)
        return rc;
    return wt__fail(err, WT_EINVAL, "the provider %.*s %s: it has tools of the shared catalogue",
                    (int)wt__str_head(provider, SHOWN_BYTES).len, provider.ptr, what);
}

int wt__copied_refuse_tool(struct store *store, int64_t tool, wt_error *err)
{
    int rc = wt__sql_find(store,
                          "SELECT t.id FROM tool t CROSS JOIN source s ON s.id = t.source WHERE t.id = ?1"
                          " AND s.name = ?2",
                          SQL_VALUES(sql_integer(tool), sql_text(STR(STORE_COPIED_SOURCE))), &tool, err);
    if (rc <= 0)
        return rc;
    return wt__fail(err, WT_EINVAL,
                    "a tool of the shared catalogue cannot be removed here; exclude it in the file of tenants");
}

int wt__reserved_release(struct store *store, struct str provider, wt_error *err)
{
    return wt__sql_run(store, "DELETE FROM review_server WHERE name = ?1", SQL_VALUES(sql_text(provider)), err);
}

int wt__store_reserve_provider(struct store *store, struct str provider, wt_error *err)
{
    int64_t server = 0;
    int rc = wt__reserved_find(store, provider, &server, err);
    if (rc < 0 || server != 0)
        return rc;
    WT_TRY(wt__sql_begin(store, err));
    rc = wt__reserved_drop_aliases(store, provider, err);
    if (rc == 0)
        rc = wt__sql_run(store, "INSERT INTO review_server (name, source) VALUES (?1, '') ON CONFLICT DO NOTHING",
                         SQL_VALUES(sql_text(provider)), err);
    return wt__sql_end(store, rc, err);
}

/* ---------------------------------------------------------------- numbered names */

struct family_row {
    int64_t id, source;
};

struct family {
    struct str stem; /* name without "~N" */
    int64_t provider;
    struct family_row *rows; /* [count] */
    size_t count, capacity;
    size_t at;        /* rows before this index are taken or have another owner than at_owner */
    int64_t at_owner; /* first id of the owner for which `at` was computed */
    unsigned number;  /* last number tried */
};

enum { KEY_BYTES = 8 + 32 };

/* Writes the key of a definition in by_definition. family: index of the family. */
static void definition_key(size_t family, struct str sha256, struct str schema, struct str source_id,
                           char out[KEY_BYTES])
{
    struct sha256 sha;
    unsigned char digest[32];
    uint64_t index = family;
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, sha256.ptr, sha256.len);
    wt__sha256_update(&sha, source_id.ptr, source_id.len);
    wt__sha256_update(&sha, "", 1);
    wt__sha256_update(&sha, schema.ptr, schema.len);
    wt__sha256_end(&sha, digest);
    memcpy(out, &index, 8);
    memcpy(out + 8, digest, 32);
}

static bool is_numbered_name(struct str name, struct str stem)
{
    for (size_t i = stem.len + 1; i < name.len; i++)
        if (!wt__is_digit(name.ptr[i]))
            return false;
    return name.len > stem.len + 1;
}

static int add_family_row(struct families *families, size_t index, struct sql_statement *row)
{
    struct family *family = &families->items[index];
    char *key = wt__arena_alloc(&families->arena, KEY_BYTES, 1);
    if (!key || wt__grow((void **)&family->rows, &family->capacity, family->count + 1, sizeof *family->rows) < 0)
        return -1;
    definition_key(index, wt__sql_column(row, 3), wt__sql_column(row, 4), wt__sql_column(row, 5), key);
    if (!wt__map_insert(&families->by_definition, (struct str){key, KEY_BYTES}, (uint32_t)family->count, NULL))
        return -1;
    family->rows[family->count++] = (struct family_row){wt__sql_integer(row, 0), wt__sql_integer(row, 1)};
    return 0;
}

/* Reads the rows of a family. Without INDEXED BY, the planner would scan all tools of the provider. */
static int read_family_rows(struct families *families, struct store *store, size_t index, int64_t provider,
                            struct str stem, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    char first[WT_MAX_NAME_BYTES + 2], last[WT_MAX_NAME_BYTES + 2];
    int rc;
    snprintf(first, sizeof first, "%.*s~", (int)stem.len, stem.ptr);
    snprintf(last, sizeof last, "%.*s\x7f", (int)stem.len, stem.ptr); /* sorts after every "~..." */
    WT_TRY(wt__sql_open(store,
                        "SELECT id, source, name, sha256, schema, source_id FROM tool INDEXED BY tool_name"
                        " WHERE name > ?2 AND name < ?3 AND provider = ?1",
                        SQL_VALUES(sql_integer(provider), sql_string(first), sql_string(last)), &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1)
        if (is_numbered_name(wt__sql_column(rows, 2), stem) && add_family_row(families, index, rows) < 0)
            return wt__fail_nomem(err);
    return rc;
}

int wt__family_open(struct families *families, struct store *store, int64_t provider, struct str name,
                    struct family **out, wt_error *err)
{
    bool added;
    struct str stem = wt__name_stem(name);
    size_t next = families->by_stem.len, len = sizeof provider + stem.len;
    char *key = wt__arena_alloc(&families->arena, len, 1);
    if (!key || wt__grow((void **)&families->items, &families->capacity, next + 1, sizeof *families->items) < 0)
        return wt__fail_nomem(err);
    memcpy(key, &provider, sizeof provider);
    memcpy(key + sizeof provider, stem.ptr, stem.len);
    uint32_t *index = wt__map_insert(&families->by_stem, (struct str){key, len}, (uint32_t)next, &added);
    WT_CHECK_ALLOC(index, err);
    int rc = 0;
    if (added) {
        families->items[next] =
            (struct family){.stem = {key + sizeof provider, stem.len}, .provider = provider, .number = 1};
        rc = read_family_rows(families, store, next, provider, stem, err);
    }
    *out = &families->items[*index];
    return rc;
}

void wt__families_dispose(struct families *families)
{
    for (size_t i = 0; i < families->by_stem.len; i++)
        free(families->items[i].rows);
    free(families->items);
    wt__map_dispose(&families->by_stem);
    wt__map_dispose(&families->by_definition);
    wt__arena_dispose(&families->arena);
    *families = (struct families){0};
}

int64_t wt__family_same(const struct families *families, const struct family *family, const struct tool *tool)
{
    char key[KEY_BYTES];
    struct str sha256 = {(const char *)tool->sha256, sizeof tool->sha256};
    definition_key((size_t)(family - families->items), sha256, tool->schema, tool->source_id, key);
    const uint32_t *row = wt__map_get(&families->by_definition, (struct str){key, KEY_BYTES});
    return row ? family->rows[*row].id : 0;
}

int64_t wt__family_own(struct family *family, const struct owner *owner, bool (*taken)(const void *, int64_t),
                       const void *context)
{
    if (family->at_owner != owner->ids[0]) {
        family->at_owner = owner->ids[0];
        family->at = 0;
    }
    for (; family->at < family->count; family->at++) {
        const struct family_row *row = &family->rows[family->at];
        if (wt__owner_has(owner, row->source) && !taken(context, row->id))
            return row->id;
    }
    return 0;
}

int wt__family_number(struct family *family, struct store *store, char out[WT_MAX_NAME_BYTES + 1], wt_error *err)
{
    int there;
    do {
        int len =
            snprintf(out, WT_MAX_NAME_BYTES + 1, "%.*s~%u", (int)family->stem.len, family->stem.ptr, ++family->number);
        there = wt__sql_run(store, "SELECT 1 FROM tool WHERE name = ?1 AND provider = ?2",
                            SQL_VALUES(sql_text((struct str){out, (size_t)len}), sql_integer(family->provider)), err);
    } while (there > 0);
    return there;
}
