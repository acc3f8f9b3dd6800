/* vector.c: tool vectors, as little-endian fp32.
 *
 * A vector belongs to one text of its tool. Storing checks the generation at which the tool was read, and an import
 * that changes a tool deletes its vectors. So a stored vector is never of an older text.
 *
 * Contrastive questions of a language model (ToolVerifier 2.2) are cached here as well. They depend on two definitions alone,
 * so the next request between the two tools can reuse them. */
#include "store/internal.h"

#include "base/memory.h"

enum { FORMER = 9 }; /* parameter of the former kind in statements */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are stored as they lie in memory");

int wt__sql_find_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err)
{
    sqlite3_stmt *row;
    *id = 0;
    WT_TRY(wt__sql_prepare(store, "SELECT id, dim FROM model WHERE hash = ?1", &row, err));
    if (wt__sql_bind_text(row, 1, wt__str(set->model_hash)))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, row, err);
    if (rc != 1)
        return rc;
    int64_t dim = sqlite3_column_int64(row, 1);
    *id = sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    if (dim != set->dim)
        return wt__fail(err, WT_EMODEL, "%s has vectors of model %s with dimension %lld, not %u", store->path,
                        set->model_name, (long long)dim, set->dim);
    return 0;
}

int wt__sql_make_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err)
{
    sqlite3_stmt *insert;
    int rc = wt__sql_find_model(store, set, id, err);
    if (rc < 0 || *id)
        return rc;
    WT_TRY(wt__sql_prepare(store, "INSERT INTO model (hash, name, dim) VALUES (?1, ?2, ?3)", &insert, err));
    if (wt__sql_bind_text(insert, 1, wt__str(set->model_hash)) |
        wt__sql_bind_text(insert, 2, wt__str(set->model_name)) | sqlite3_bind_int64(insert, 3, set->dim))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, insert, err);
    *id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

/* Prepares a statement about one set: ?1 is its kind, ?2 its model, ?9 its former kind if the statement has that
 * parameter. */
static int prepare_set(struct store *store, const char *sql, const struct vector_set *set, int64_t model,
                       sqlite3_stmt **out, wt_error *err)
{
    WT_TRY(wt__sql_prepare(store, sql, out, err));
    if (wt__sql_bind_text(*out, 1, wt__str(set->kind)) | sqlite3_bind_int64(*out, 2, model))
        return wt__fail_nomem(err);
    bool has_former = sqlite3_bind_parameter_count(*out) >= FORMER;
    return has_former && wt__sql_bind_text(*out, FORMER, wt__str(set->former)) ? wt__fail_nomem(err) : 0;
}

static int list_keys(struct store *store, const char *sql, const struct vector_set *set, int64_t after_id,
                     struct store_key *keys, size_t max, wt_error *err)
{
    sqlite3_stmt *rows;
    int64_t model;
    size_t count = 0;
    int rc = wt__sql_find_model(store, set, &model, err);
    if (rc == 0)
        rc = prepare_set(store, sql, set, model, &rows, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 3, after_id);
    while (count < max && (rc = wt__sql_step(store, rows, err)) == 1) {
        keys[count++] = (struct store_key){.id = sqlite3_column_int64(rows, 0),
                                           .generation = (uint64_t)sqlite3_column_int64(rows, 1),
                                           .provider = sqlite3_column_int64(rows, 2)};
    }
    wt__sql_reset(rows);
    return rc < 0 ? rc : (int)count;
}

#define TOOLS_WITHOUT                                                                                                  \
    "SELECT id, generation, provider FROM tool INDEXED BY tool_key WHERE id > ?3 AND NOT EXISTS"                       \
    " (SELECT 1 FROM vector v WHERE v.tool = tool.id AND v.kind = ?1 AND v.model = ?2)"

int wt__store_missing_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                              struct store_key *keys, size_t max, wt_error *err)
{
    return list_keys(store, TOOLS_WITHOUT " ORDER BY id", set, after_id, keys, max, err);
}

int wt__store_former_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                             struct store_key *keys, size_t max, wt_error *err)
{
    return set->former ? list_keys(store,
                                   TOOLS_WITHOUT " AND EXISTS (SELECT 1 FROM vector v WHERE v.tool = tool.id"
                                                 " AND v.kind = ?9 AND v.model = ?2) ORDER BY id",
                                   set, after_id, keys, max, err)
                       : 0;
}

static int remove_former(struct store *store, const struct vector_set *set, int64_t model, int64_t tool, wt_error *err)
{
    sqlite3_stmt *remove;
    int rc =
        prepare_set(store, "DELETE FROM vector WHERE tool = ?3 AND kind = ?9 AND model = ?2", set, model, &remove, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(remove, 3, tool);
    rc = wt__sql_step(store, remove, err);
    return rc < 0 ? rc : 0;
}

/* Returns 1 if stored, or 0 if the tool has changed since its key was read. */
static int put_vector(struct store *store, const struct vector_set *set, int64_t model, const struct store_key *key,
                      const float *vector, wt_error *err)
{
    sqlite3_stmt *insert;
    WT_TRY(prepare_set(store,
                       "INSERT INTO vector (tool, kind, model, data) SELECT ?3, ?1, ?2, ?5 WHERE EXISTS"
                       " (SELECT 1 FROM tool WHERE id = ?3 AND generation = ?4)"
                       " ON CONFLICT (tool, kind, model) DO UPDATE SET data = excluded.data",
                       set, model, &insert, err));
    if (sqlite3_bind_int64(insert, 3, key->id) | sqlite3_bind_int64(insert, 4, (int64_t)key->generation) |
        wt__sql_bind_blob(insert, 5, vector, set->dim * sizeof *vector))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, insert, err);
    int stored = sqlite3_changes(store->db);
    if (rc >= 0 && stored && set->former)
        rc = remove_former(store, set, model, key->id, err);
    return rc < 0 ? rc : stored;
}

int64_t wt__store_put_vectors(struct store *store, const struct vector_set *set, const struct store_key *keys,
                              const float *vectors, size_t count, wt_error *err)
{
    int64_t stored = 0, model;
    uint64_t generation;
    if (set->dim == 0 || set->dim > STORE_MAX_DIM)
        return wt__fail(err, WT_EMODEL, "model %s has vectors of dimension %u; 1 to %d are supported", set->model_name,
                        set->dim, STORE_MAX_DIM);
    WT_TRY(wt__sql_begin(store, err));
    int rc = wt__sql_make_model(store, set, &model, err);
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        rc = put_vector(store, set, model, &keys[i], vectors + i * set->dim, err);
        stored += rc == 1;
    }
    if (rc >= 0 && stored)
        rc = wt__sql_next_generation(store, &generation, err);
    if (rc >= 0 && stored)
        rc = wt__sql_set_generation(store, generation, err);
    rc = wt__sql_end(store, rc, err);
    return rc < 0 ? rc : stored;
}

/* Copies the row's vector, which may be unaligned, to out [D]. */
static int read_vector(struct store *store, const struct vector_set *set, sqlite3_stmt *row, int64_t id, float *out,
                       wt_error *err)
{
    struct str data = wt__sql_column(row, 0);
    if (data.len != set->dim * sizeof *out)
        return wt__fail(err, WT_ESTORE, "%s is damaged: the vector of tool %lld has %zu bytes, not %zu", store->path,
                        (long long)id, data.len, set->dim * sizeof *out);
    memcpy(out, data.ptr, data.len);
    return 0;
}

/* Returns 1 if the tool has a vector, else 0. */
static int get_vector(struct store *store, const struct vector_set *set, int64_t model, int64_t id, float *out,
                      wt_error *err)
{
    sqlite3_stmt *row;
    int rc = prepare_set(store,
                         "SELECT data FROM vector WHERE tool = ?3 AND kind IN (?1, ?9) AND model = ?2"
                         " ORDER BY kind = ?1 DESC LIMIT 1",
                         set, model, &row, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(row, 3, id);
    int found = wt__sql_step(store, row, err);
    if (found == 1)
        rc = read_vector(store, set, row, id, out, err);
    wt__sql_reset(row);
    return rc < 0 ? rc : found;
}

int64_t wt__store_get_vectors(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                              float *out, bool *there, wt_error *err)
{
    int64_t model = 0, found = 0;
    bool outer = !sqlite3_get_autocommit(store->db);
    memset(out, 0, count * set->dim * sizeof *out);
    memset(there, 0, count * sizeof *there);
    int rc = outer ? 0 : wt__store_read_begin(store, err);
    if (rc == 0)
        rc = wt__sql_find_model(store, set, &model, err);
    for (size_t i = 0; rc >= 0 && model && i < count; i++) {
        rc = get_vector(store, set, model, ids[i], out + i * set->dim, err);
        there[i] = rc == 1;
        found += rc == 1;
    }
    if (!outer)
        wt__store_read_end(store);
    return rc < 0 ? rc : found;
}

int wt__store_model_hash(struct store *store, const char *name, struct arena *arena, char **out, wt_error *err)
{
    sqlite3_stmt *row;
    *out = NULL;
    WT_TRY(wt__sql_prepare(store, "SELECT hash FROM model WHERE name = ?1 ORDER BY id DESC LIMIT 1", &row, err));
    if (wt__sql_bind_text(row, 1, wt__str(name)))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, row, err);
    if (rc >= 0)
        *out = wt__arena_copy(arena, rc == 1 ? wt__sql_column(row, 0) : STR(""));
    wt__sql_reset(row);
    if (rc >= 0 && !*out)
        return wt__fail_nomem(err);
    return rc < 0 ? rc : 0;
}

int wt__store_count_of_model(struct store *store, const char *kind, const char *former, const char *model_hash,
                             uint64_t *out, wt_error *err)
{
    sqlite3_stmt *row;
    *out = 0;
    WT_TRY(wt__sql_prepare(store,
                           "SELECT count(*) FROM vector INDEXED BY vector_tool WHERE kind IN (?1, ?3)"
                           " AND model = (SELECT id FROM model WHERE hash = ?2)",
                           &row, err));
    if (wt__sql_bind_text(row, 1, wt__str(kind)) | wt__sql_bind_text(row, 2, wt__str(model_hash)) |
        wt__sql_bind_text(row, 3, wt__str(former)))
        return wt__fail_nomem(err);
    int rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *out = (uint64_t)sqlite3_column_int64(row, 0);
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

int wt__store_count_vectors(struct store *store, const struct vector_set *set, uint64_t *out, wt_error *err)
{
    int64_t model;
    *out = 0;
    int rc = wt__sql_find_model(store, set, &model, err);
    return rc < 0 || model == 0 ? rc : wt__store_count_of_model(store, set->kind, NULL, set->model_hash, out, err);
}

/* ---------------------------------------------------------------- contrastive questions */

static int bind_key(sqlite3_stmt *statement, const struct stored_contrast_key *key, wt_error *err)
{
    int failed = wt__sql_bind_text(statement, 1, key->definitions) | wt__sql_bind_text(statement, 2, key->model) |
                 wt__sql_bind_text(statement, 3, key->task);
    return failed ? wt__fail_nomem(err) : 0;
}

int wt__store_get_contrast(struct store *store, const struct stored_contrast_key *key, struct arena *arena,
                           struct str *question, wt_error *err)
{
    sqlite3_stmt *row;
    *question = (struct str){0};
    int rc = wt__sql_prepare(store, "SELECT question FROM contrast WHERE definitions = ?1 AND model = ?2 AND task = ?3",
                             &row, err);
    if (rc == 0)
        rc = bind_key(row, key, err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    if (rc == 1) {
        struct str text = wt__sql_column(row, 0);
        *question = (struct str){wt__arena_copy(arena, text), text.len};
        wt__sql_reset(row);
        return question->ptr ? 0 : wt__fail_nomem(err);
    }
    return rc;
}

int wt__store_put_contrast(struct store *store, const struct stored_contrast_key *key, struct str question,
                           wt_error *err)
{
    sqlite3_stmt *insert;
    WT_TRY(wt__sql_prepare(store, "INSERT OR IGNORE INTO contrast VALUES (?1, ?2, ?3, ?4)", &insert, err));
    WT_TRY(bind_key(insert, key, err));
    if (wt__sql_bind_text(insert, 4, question))
        return wt__fail_nomem(err);
    return wt__sql_step(store, insert, err);
}
