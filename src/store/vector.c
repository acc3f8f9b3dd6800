/* vector.c: tool vectors, stored as little-endian fp32, and contrastive questions.
 *
 * A vector encodes one text of its tool. A vector is stored only if its tool has not changed since the text was read.
 * An import that changes a tool deletes its vectors. So a stored vector never encodes an older text.
 *
 * A contrastive question distinguishes two tools. A language model writes it (ToolVerifier, section 2.2) from the
 * definitions of the two tools alone. Later requests that have to choose between the same tools reuse the question. */
#include "store/internal.h"

#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are stored as they lie in memory");

int wt__sql_find_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *id = 0;
    WT_TRY(wt__sql_open(store, "SELECT id, dim FROM model WHERE hash = ?1", SQL_VALUES(sql_string(set->model_hash)),
                        &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    int64_t dim = wt__sql_integer(row, 1);
    *id = wt__sql_integer(row, 0);
    if (dim != set->dim)
        return wt__fail(err, WT_EMODEL, "%s has vectors of model %s with dimension %lld, not %u", store->path,
                        set->model_name, (long long)dim, set->dim);
    return 0;
}

int wt__sql_make_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err)
{
    int rc = wt__sql_find_model(store, set, id, err);
    if (rc < 0 || *id)
        return rc;
    return wt__sql_insert(store, "INSERT INTO model (hash, name, dim) VALUES (?1, ?2, ?3) RETURNING id",
                          SQL_VALUES(sql_string(set->model_hash), sql_string(set->model_name), sql_integer(set->dim)),
                          id, err);
}

/* Lists the keys of tools. Parameters of sql: ?1 kind, ?2 model, ?3 after_id, ?4 max, ?5 former kind. ?5 does not exist
 * if `former` is NULL. */
static int list_keys(struct store *store, const char *sql, const struct vector_set *set, const char *former,
                     int64_t after_id, struct store_key *keys, size_t max, wt_error *err)
{
    int64_t model;
    WT_TRY(wt__sql_find_model(store, set, &model, err));
    struct sql_value last = former ? sql_string(former) : (struct sql_value){.kind = SQL_VALUES_END};
    return wt__sql_keys(
        store, sql,
        SQL_VALUES(sql_string(set->kind), sql_integer(model), sql_integer(after_id), sql_integer((int64_t)max), last),
        keys, max, err);
}

#define TOOLS_WITHOUT                                                                                                  \
    "SELECT id, generation, provider FROM tool INDEXED BY tool_key WHERE id > ?3 AND NOT EXISTS"                       \
    " (SELECT 1 FROM vector v WHERE v.tool = tool.id AND v.kind = ?1 AND v.model = ?2)"

int wt__store_missing_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                              struct store_key *keys, size_t max, wt_error *err)
{
    return list_keys(store, TOOLS_WITHOUT " ORDER BY id LIMIT ?4", set, NULL, after_id, keys, max, err);
}

int wt__store_former_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                             struct store_key *keys, size_t max, wt_error *err)
{
    return set->former ? list_keys(store,
                                   TOOLS_WITHOUT " AND EXISTS (SELECT 1 FROM vector v WHERE v.tool = tool.id"
                                                 " AND v.kind = ?5 AND v.model = ?2) ORDER BY id LIMIT ?4",
                                   set, set->former, after_id, keys, max, err)
                       : 0;
}

/* Returns 1 if stored, or 0 if the tool was changed or removed since its key was read. */
static int put_vector(struct store *store, const struct vector_set *set, int64_t model, const struct store_key *key,
                      const float *vector, wt_error *err)
{
    WT_TRY(wt__sql_run(store,
                       "INSERT INTO vector (tool, kind, model, data) SELECT ?3, ?1, ?2, ?5 WHERE EXISTS"
                       " (SELECT 1 FROM tool WHERE id = ?3 AND generation = ?4)"
                       " ON CONFLICT (tool, kind, model) DO UPDATE SET data = excluded.data",
                       SQL_VALUES(sql_string(set->kind), sql_integer(model), sql_integer(key->id),
                                  sql_integer((int64_t)key->generation), sql_blob(vector, set->dim * sizeof *vector)),
                       err));
    int stored = (int)wt__sql_changes(store);
    if (stored && set->former)
        WT_TRY(wt__sql_run(store, "DELETE FROM vector WHERE tool = ?3 AND kind = ?1 AND model = ?2",
                           SQL_VALUES(sql_string(set->former), sql_integer(model), sql_integer(key->id)), err));
    return stored;
}

/* A change of vectors in a database with arrays. */
struct vector_change {
    struct sql_value *values; /* [count, 3] id, generation and vector of each tool */
    int64_t *stored;          /* [stored_count] tools whose vectors were stored */
    const float **vectors;    /* [stored_count] */
    size_t stored_count;
};

static void dispose_vector_change(struct vector_change *batch)
{
    free(batch->values);
    free(batch->stored);
    free(batch->vectors);
}

static int read_stored_tools(struct store *store, struct sql_statement *rows, const struct store_key *keys,
                             const float *vectors, size_t count, uint32_t dim, struct vector_change *batch,
                             wt_error *err)
{
    int rc;
    while ((rc = wt__sql_step(store, rows, err)) == 1 && batch->stored_count < count) {
        int64_t id = wt__sql_integer(rows, 0);
        size_t at = 0;
        while (at < count && keys[at].id != id)
            at++;
        batch->vectors[batch->stored_count] = vectors + at * dim;
        batch->stored[batch->stored_count++] = id;
    }
    return rc < 0 ? rc : 0;
}

/* Stores all vectors with one statement, because each statement is a round trip. Returns the number stored. */
static int put_vectors_at_once(struct store *store, const struct vector_set *set, int64_t model,
                               const struct store_key *keys, const float *vectors, size_t count, wt_error *err)
{
    WT_CLEANUP(dispose_vector_change) struct vector_change batch = {0};
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct sql_value *values = batch.values = wt__alloc_array(3 * count, sizeof *batch.values);
    batch.stored = wt__alloc_array(count, sizeof *batch.stored);
    batch.vectors = wt__alloc_array(count, sizeof *batch.vectors);
    WT_CHECK_ALLOC(values && batch.stored && batch.vectors, err);
    for (size_t i = 0; i < count; i++) {
        values[3 * i] = sql_integer(keys[i].id);
        values[3 * i + 1] = sql_integer((int64_t)keys[i].generation);
        values[3 * i + 2] = sql_blob(vectors + i * set->dim, set->dim * sizeof *vectors);
    }
    WT_TRY(wt__sql_open(store,
                        "INSERT INTO vector (tool, kind, model, data) SELECT n.tool, ?1, ?2, n.data"
                        " FROM UNNEST(?3, ?4, ?5) AS n (tool, generation, data)"
                        " JOIN tool t ON t.id = n.tool AND t.generation = n.generation"
                        " ON CONFLICT (tool, kind, model) DO UPDATE SET data = excluded.data RETURNING tool",
                        SQL_VALUES(sql_string(set->kind), sql_integer(model), sql_array(values, count, 3),
                                   sql_array(values + 1, count, 3), sql_array(values + 2, count, 3)),
                        &rows, err));
    WT_TRY(read_stored_tools(store, rows, keys, vectors, count, set->dim, &batch, err));
    if (set->former && batch.stored_count > 0) {
        for (size_t i = 0; i < batch.stored_count; i++)
            values[i] = sql_integer(batch.stored[i]);
        WT_TRY(wt__sql_run(
            store, "DELETE FROM vector WHERE tool = ANY (?3) AND kind = ?1 AND model = ?2",
            SQL_VALUES(sql_string(set->former), sql_integer(model), sql_array(values, batch.stored_count, 1)), err));
    }
    if (store->driver->copy_vectors)
        WT_TRY(store->driver->copy_vectors(store, set, model, batch.stored, batch.vectors, batch.stored_count, err));
    return (int)batch.stored_count;
}

static int put_each_vector(struct store *store, const struct vector_set *set, int64_t model,
                           const struct store_key *keys, const float *vectors, size_t count, wt_error *err)
{
    int stored = 0;
    for (size_t i = 0; i < count; i++) {
        int rc = put_vector(store, set, model, &keys[i], vectors + i * set->dim, err);
        if (rc < 0)
            return rc;
        stored += rc;
    }
    return stored;
}

static int put_vectors(struct store *store, const struct vector_set *set, const struct store_key *keys,
                       const float *vectors, size_t count, wt_error *err)
{
    int64_t model;
    WT_TRY(wt__sql_make_model(store, set, &model, err));
    int stored = store->driver->has_arrays && count > 0
                     ? put_vectors_at_once(store, set, model, keys, vectors, count, err)
                     : put_each_vector(store, set, model, keys, vectors, count, err);
    if (stored > 0)
        WT_TRY(wt__sql_increment_generation(store, err));
    return stored;
}

int64_t wt__store_put_vectors(struct store *store, const struct vector_set *set, const struct store_key *keys,
                              const float *vectors, size_t count, wt_error *err)
{
    if (set->dim == 0 || set->dim > STORE_MAX_DIM)
        return wt__fail(err, WT_EMODEL, "model %s has vectors of dimension %u; 1 to %d are supported", set->model_name,
                        set->dim, STORE_MAX_DIM);
    WT_TRY(wt__sql_begin(store, err));
    return wt__sql_end(store, put_vectors(store, set, keys, vectors, count, err), err);
}

int wt__store_complete_copies(struct store *store, wt_error *err)
{
    return store->driver->complete_copies && !store->read_only ? store->driver->complete_copies(store, err) : 0;
}

/* Reads the tool's vector into out [D], or its vector of the former kind if absent. Returns 1 if found, else 0. */
static int get_vector(struct store *store, const struct vector_set *set, int64_t model, int64_t id, float *out,
                      wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    WT_TRY(wt__sql_open(store,
                        "SELECT data FROM vector WHERE tool = ?3 AND kind IN (?1, ?4) AND model = ?2"
                        " ORDER BY kind = ?1 DESC LIMIT 1",
                        SQL_VALUES(sql_string(set->kind), sql_integer(model), sql_integer(id), sql_string(set->former)),
                        &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    struct str data = wt__sql_column(row, 0);
    if (data.len != set->dim * sizeof *out)
        return wt__fail(err, WT_ESTORE, "%s is damaged: the vector of tool %lld has %zu bytes, not %zu", store->path,
                        (long long)id, data.len, set->dim * sizeof *out);
    memcpy(out, data.ptr, data.len);
    return 1;
}

int64_t wt__store_get_vectors(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                              float *out, bool *there, wt_error *err)
{
    WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};
    int64_t model, found = 0;
    memset(out, 0, count * set->dim * sizeof *out);
    memset(there, 0, count * sizeof *there);
    WT_TRY(wt__begin_read_scope(&scope, store, err));
    WT_TRY(wt__sql_find_model(store, set, &model, err));
    for (size_t i = 0; model && i < count; i++) {
        int rc = get_vector(store, set, model, ids[i], out + i * set->dim, err);
        if (rc < 0)
            return rc;
        there[i] = rc == 1;
        found += rc;
    }
    return found;
}

int wt__store_model_hash(struct store *store, const char *name, struct arena *arena, char **out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *out = NULL;
    WT_TRY(wt__sql_open(store, "SELECT hash FROM model WHERE name = ?1 ORDER BY id DESC LIMIT 1",
                        SQL_VALUES(sql_string(name)), &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc < 0)
        return rc;
    *out = wt__arena_copy(arena, rc == 1 ? wt__sql_column(row, 0) : STR(""));
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__store_count_of_model(struct store *store, const char *kind, const char *former, const char *model_hash,
                             uint64_t *out, wt_error *err)
{
    int64_t count = 0;
    int rc = wt__sql_find(store,
                          "SELECT count(*) FROM vector INDEXED BY vector_tool WHERE kind IN (?1, ?3)"
                          " AND model = (SELECT id FROM model WHERE hash = ?2)",
                          SQL_VALUES(sql_string(kind), sql_string(model_hash), sql_string(former)), &count, err);
    *out = (uint64_t)count;
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

int wt__store_get_contrast(struct store *store, const struct stored_contrast_key *key, struct arena *arena,
                           struct str *question, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *question = (struct str){0};
    WT_TRY(wt__sql_open(store, "SELECT question FROM contrast WHERE definitions = ?1 AND model = ?2 AND task = ?3",
                        SQL_VALUES(sql_text(key->definitions), sql_text(key->model), sql_text(key->task)), &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    *question = wt__sql_copy(row, 0, arena);
    return question->ptr ? 0 : wt__fail_nomem(err);
}

int wt__store_put_contrast(struct store *store, const struct stored_contrast_key *key, struct str question,
                           wt_error *err)
{
    return wt__sql_run(
        store, "INSERT INTO contrast VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        SQL_VALUES(sql_text(key->definitions), sql_text(key->model), sql_text(key->task), sql_text(question)), err);
}
