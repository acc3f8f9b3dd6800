/* families.c: see families.h. */
#include "store/families.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "catalog/names.h"

struct family_row {
    int64_t id, source;
};

struct family {
    struct str stem;
    int64_t provider;
    struct family_row *rows;
    size_t count, capacity;
    size_t at;        /* rows before this index are taken or have another owner than at_owner */
    int64_t at_owner; /* first source of the owner that `at` is for */
    unsigned number;  /* last number tried */
};

/* ---------------------------------------------------------------- reading a family */

enum { KEY_BYTES = 8 + 32 };

/* Writes the map key of a definition in a family. */
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
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return false;
    return name.len > stem.len + 1;
}

static int add_family_row(struct families *families, size_t index, sqlite3_stmt *row)
{
    struct family *family = &families->items[index];
    char *key = wt__arena_alloc(&families->arena, KEY_BYTES, 1);
    if (!key || wt__grow((void **)&family->rows, &family->capacity, family->count + 1, sizeof *family->rows) < 0)
        return -1;
    definition_key(index, wt__sql_column(row, 3), wt__sql_column(row, 4), wt__sql_column(row, 5), key);
    if (!wt__map_insert(&families->by_definition, (struct str){key, KEY_BYTES}, (uint32_t)family->count, NULL))
        return -1;
    family->rows[family->count++] = (struct family_row){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    return 0;
}

/* Reads the rows of a family. INDEXED BY, because the planner would scan all tools of the provider. */
static int read_family_rows(struct families *families, struct store *store, size_t index, int64_t provider,
                            struct str stem, wt_error *err)
{
    sqlite3_stmt *rows;
    char first[WT_MAX_NAME_BYTES + 2], last[WT_MAX_NAME_BYTES + 2];
    int len = snprintf(first, sizeof first, "%.*s~", (int)stem.len, stem.ptr);
    snprintf(last, sizeof last, "%.*s\x7f", (int)stem.len, stem.ptr); /* sorts after every "~..." */
    int rc = wt__sql_prepare(store,
                             "SELECT id, source, name, sha256, schema, source_id FROM tool INDEXED BY tool_name"
                             " WHERE name > ?2 AND name < ?3 AND provider = ?1",
                             &rows, err);
    if (rc < 0)
        return rc;
    if (sqlite3_bind_int64(rows, 1, provider) | wt__sql_bind_text(rows, 2, (struct str){first, (size_t)len}) |
        wt__sql_bind_text(rows, 3, (struct str){last, (size_t)len}))
        return wt__fail_nomem(err);
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        bool numbered = is_numbered_name(wt__sql_column(rows, 2), stem);
        rc = numbered && add_family_row(families, index, rows) < 0 ? wt__fail_nomem(err) : 0;
    }
    wt__sql_reset(rows);
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
    if (!index)
        return wt__fail_nomem(err);
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

/* ---------------------------------------------------------------- members */

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
    sqlite3_stmt *row;
    for (int there = 1; there > 0;) {
        int len =
            snprintf(out, WT_MAX_NAME_BYTES + 1, "%.*s~%u", (int)family->stem.len, family->stem.ptr, ++family->number);
        int rc = wt__sql_prepare(store, "SELECT 1 FROM tool WHERE name = ?1 AND provider = ?2", &row, err);
        if (rc < 0)
            return rc;
        if (wt__sql_bind_text(row, 1, (struct str){out, (size_t)len}) | sqlite3_bind_int64(row, 2, family->provider))
            return wt__fail_nomem(err);
        there = wt__sql_step(store, row, err);
        wt__sql_reset(row);
        if (there < 0)
            return there;
    }
    return 0;
}
