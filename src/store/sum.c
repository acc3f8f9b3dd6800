/* sum.c: usage sums (Tool2Vec, section 4.1), as little-endian fp32.
 *
 * A batch of usages is added in one transaction: the affected sums are read, grow in memory in the order of the usages,
 * and are written with the new mark. Because of the order a sum has the same bits for any division of its usages into
 * batches. */
#include "store/internal.h"

#include "base/map.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- which sums */

struct encoding {
    int64_t id; /* 0 if absent */
    int64_t last;
};

static int find_encoding(struct store *store, const struct vector_set *set, struct encoding *out, wt_error *err)
{
    sqlite3_stmt *row;
    int64_t model;
    *out = (struct encoding){0};
    int rc = wt__sql_find_model(store, set, &model, err);
    if (rc < 0 || model == 0)
        return rc;
    WT_TRY(wt__sql_prepare(store, "SELECT id, last FROM usage_encoding WHERE kind = ?1 AND model = ?2", &row, err));
    if (wt__sql_bind_text(row, 1, wt__str(set->kind)) | sqlite3_bind_int64(row, 2, model))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, row, err);
    if (rc == 1)
        *out = (struct encoding){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

static int make_encoding(struct store *store, const struct vector_set *set, struct encoding *out, wt_error *err)
{
    sqlite3_stmt *insert;
    int64_t model;
    int rc = find_encoding(store, set, out, err);
    if (rc < 0 || out->id)
        return rc;
    WT_TRY(wt__sql_make_model(store, set, &model, err));
    WT_TRY(wt__sql_prepare(store, "INSERT INTO usage_encoding (kind, model, last) VALUES (?1, ?2, 0)", &insert, err));
    if (wt__sql_bind_text(insert, 1, wt__str(set->kind)) | sqlite3_bind_int64(insert, 2, model))
        return wt__fail_nomem(err);
    rc = wt__sql_step(store, insert, err);
    out->id = sqlite3_last_insert_rowid(store->db);
    return rc;
}

/* Prepares a statement and binds ?1 to the encoding, and ?2 to `tool` unless that is 0. */
static int prepare_sum(struct store *store, const char *sql, int64_t encoding, int64_t tool, sqlite3_stmt **out,
                       wt_error *err)
{
    WT_TRY(wt__sql_prepare(store, sql, out, err));
    sqlite3_bind_int64(*out, 1, encoding);
    if (tool)
        sqlite3_bind_int64(*out, 2, tool);
    return 0;
}

int wt__store_usage_mark(struct store *store, const struct vector_set *set, struct usage_mark *out, wt_error *err)
{
    struct encoding encoding;
    sqlite3_stmt *row;
    *out = (struct usage_mark){0};
    WT_TRY(find_encoding(store, set, &encoding, err));
    out->last = encoding.last;
    int rc = wt__store_count_usages(store, &(struct usage_query){.after = encoding.last, .teaching = true},
                                    &out->pending, err);
    if (rc < 0 || encoding.id == 0)
        return rc;
    rc = prepare_sum(store, "SELECT count(*) FROM usage_sum WHERE encoding = ?1 AND uses < 0", encoding.id, 0, &row,
                     err);
    if (rc == 0)
        rc = wt__sql_step(store, row, err);
    if (rc == 1)
        out->stale = (uint64_t)sqlite3_column_int64(row, 0);
    if (rc >= 0)
        wt__sql_reset(row);
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- one sum */

/* Returns 1 if the row exists, else 0. *uses is negative if the sum is stale. out [D] is zero without a sum. */
static int read_sum(struct store *store, const struct vector_set *set, int64_t encoding, int64_t tool, int64_t *uses,
                    float *out, wt_error *err)
{
    sqlite3_stmt *row;
    size_t bytes = set->dim * sizeof *out;
    *uses = 0;
    memset(out, 0, bytes);
    int rc = prepare_sum(store, "SELECT uses, data FROM usage_sum WHERE tool = ?2 AND encoding = ?1", encoding, tool,
                         &row, err);
    if (rc < 0)
        return rc;
    int found = wt__sql_step(store, row, err);
    if (found == 1) {
        struct str data = wt__sql_column(row, 1);
        *uses = sqlite3_column_int64(row, 0);
        if (*uses > 0 && data.len != bytes)
            rc = wt__fail(err, WT_ESTORE, "%s is damaged: the usage sum of tool %lld has %zu bytes, not %zu",
                          store->path, (long long)tool, data.len, bytes);
        else if (*uses > 0)
            memcpy(out, data.ptr, bytes);
    }
    wt__sql_reset(row);
    return rc < 0 ? rc : found;
}

static int write_sum(struct store *store, const struct vector_set *set, int64_t encoding,
                     const struct usage_sum_key *key, const float *sum, wt_error *err)
{
    sqlite3_stmt *insert;
    WT_TRY(prepare_sum(store,
                       "INSERT INTO usage_sum (tool, encoding, generation, uses, data)"
                       " VALUES (?2, ?1, ?3, ?4, ?5) ON CONFLICT (tool, encoding) DO UPDATE SET"
                       " generation = excluded.generation, uses = excluded.uses, data = excluded.data",
                       encoding, key->tool, &insert, err));
    size_t bytes = key->uses > 0 ? set->dim * sizeof *sum : 0;
    if (sqlite3_bind_int64(insert, 3, (int64_t)key->generation) | sqlite3_bind_int64(insert, 4, key->uses) |
        wt__sql_bind_blob(insert, 5, sum, bytes))
        return wt__fail_nomem(err);
    return wt__sql_step(store, insert, err);
}

/* ---------------------------------------------------------------- adding a batch */

struct sum_batch {
    struct store *store;
    const struct vector_set *set;
    struct encoding encoding;
    struct map by_tool; /* bytes of the tool's id -> index of the two below */
    struct arena ids;
    struct usage_sum_key *keys; /* uses is negative if the stored sum is stale */
    float *sums;                /* [count, D] */
    size_t count, key_capacity, sum_capacity;
    wt_error *err;
};

/* Sets *at to the index of the tool's sum, which is read from the store on first use. */
static int find_batch_sum(struct sum_batch *b, int64_t tool, uint32_t *at)
{
    struct str id = {(const char *)&tool, sizeof tool};
    uint32_t *known = wt__map_get(&b->by_tool, id);
    if (known) {
        *at = *known;
        return 0;
    }
    *at = (uint32_t)b->count;
    id.ptr = wt__arena_copy(&b->ids, id);
    if (!id.ptr || wt__grow((void **)&b->keys, &b->key_capacity, b->count + 1, sizeof *b->keys) < 0 ||
        wt__grow((void **)&b->sums, &b->sum_capacity, b->count + 1, b->set->dim * sizeof *b->sums) < 0 ||
        !wt__map_insert(&b->by_tool, id, *at, NULL))
        return wt__fail_nomem(b->err);
    b->keys[*at] = (struct usage_sum_key){.tool = tool};
    int rc =
        read_sum(b->store, b->set, b->encoding.id, tool, &b->keys[*at].uses, b->sums + b->count * b->set->dim, b->err);
    b->count++;
    return rc < 0 ? rc : 0;
}

/* Adds vector [D] to the sums of the tools that the usage teaches. A usage removed meanwhile has no tools. */
static int add_vector(struct sum_batch *b, int64_t usage, const float *vector)
{
    sqlite3_stmt *rows;
    size_t dim = b->set->dim;
    int rc = wt__sql_prepare(b->store,
                             "SELECT DISTINCT l.tool FROM usage u CROSS JOIN usage_tool x ON x.usage = u.id"
                             " CROSS JOIN label l ON l.id = x.label"
                             " WHERE u.id = ?1 AND u.outcome <> 2 AND l.tool IS NOT NULL AND" USAGE_COUNTS,
                             &rows, b->err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 1, usage);
    while (rc == 0 && (rc = wt__sql_step(b->store, rows, b->err)) == 1) {
        uint32_t at = 0;
        rc = find_batch_sum(b, sqlite3_column_int64(rows, 0), &at);
        if (rc < 0 || b->keys[at].uses < 0)
            continue;
        b->keys[at].uses++;
        for (size_t d = 0; d < dim; d++)
            b->sums[at * dim + d] += vector[d];
    }
    wt__sql_reset(rows);
    return rc;
}

static int write_batch(struct sum_batch *b, int64_t upto)
{
    sqlite3_stmt *update;
    uint64_t generation = 0;
    int rc = b->count ? wt__usage_next_sums(b->store, &generation, b->err) : 0;
    for (size_t i = 0; rc == 0 && i < b->count; i++) {
        b->keys[i].generation = generation;
        if (b->keys[i].uses > 0)
            rc = write_sum(b->store, b->set, b->encoding.id, &b->keys[i], b->sums + i * b->set->dim, b->err);
    }
    if (rc == 0)
        rc = prepare_sum(b->store, "UPDATE usage_encoding SET last = ?2 WHERE id = ?1", b->encoding.id, upto, &update,
                         b->err);
    return rc < 0 ? rc : wt__sql_step(b->store, update, b->err);
}

int wt__store_add_usage_vectors(struct store *store, const struct vector_set *set, int64_t after, int64_t upto,
                                const int64_t *usages, const uint32_t *rows, size_t count, const float *vectors,
                                wt_error *err)
{
    struct sum_batch b = {.store = store, .set = set, .err = err};
    WT_TRY(wt__sql_begin(store, err));
    int rc = make_encoding(store, set, &b.encoding, err);
    bool ours = b.encoding.last == after;
    for (size_t i = 0; rc == 0 && ours && i < count; i++)
        rc = add_vector(&b, usages[i], vectors + (size_t)rows[i] * set->dim);
    if (rc == 0 && ours)
        rc = write_batch(&b, upto);
    rc = wt__sql_end(store, rc, err);
    wt__map_dispose(&b.by_tool);
    wt__arena_dispose(&b.ids);
    free(b.keys);
    free(b.sums);
    return rc < 0 ? rc : ours;
}

/* ---------------------------------------------------------------- making stale sums anew */

int wt__store_stale_usage_sums(struct store *store, const struct vector_set *set, int64_t after_tool,
                               struct usage_sum_key *keys, size_t max, wt_error *err)
{
    struct encoding encoding;
    sqlite3_stmt *rows;
    size_t count = 0;
    int rc = find_encoding(store, set, &encoding, err);
    if (rc == 0)
        rc = prepare_sum(store,
                         "SELECT tool, generation FROM usage_sum WHERE encoding = ?1 AND tool > ?3 AND uses < 0"
                         " ORDER BY tool",
                         encoding.id, 0, &rows, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(rows, 3, after_tool);
    while (count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        keys[count++] = (struct usage_sum_key){.tool = sqlite3_column_int64(rows, 0),
                                               .generation = (uint64_t)sqlite3_column_int64(rows, 1)};
    wt__sql_reset(rows);
    return rc < 0 ? rc : (int)count;
}

/* Returns 1 if the tool's sum is stale since this generation, else 0. */
static int is_stale_since(struct store *store, int64_t encoding, const struct usage_sum_key *key, wt_error *err)
{
    sqlite3_stmt *row;
    int rc =
        prepare_sum(store, "SELECT 1 FROM usage_sum WHERE encoding = ?1 AND tool = ?2 AND uses < 0 AND generation = ?3",
                    encoding, key->tool, &row, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(row, 3, (int64_t)key->generation);
    rc = wt__sql_step(store, row, err);
    wt__sql_reset(row);
    return rc;
}

int wt__store_put_usage_sum(struct store *store, const struct vector_set *set, const struct usage_sum_key *key,
                            int64_t last, const float *sum, wt_error *err)
{
    struct encoding encoding;
    struct usage_sum_key fresh = *key;
    WT_TRY(wt__sql_begin(store, err));
    int rc = find_encoding(store, set, &encoding, err);
    int ours = rc == 0 && encoding.last == last ? is_stale_since(store, encoding.id, key, err) : 0;
    if (rc == 0 && ours < 0)
        rc = ours;
    if (rc == 0 && ours == 1)
        rc = wt__usage_next_sums(store, &fresh.generation, err);
    if (rc == 0 && ours == 1)
        rc = write_sum(store, set, encoding.id, &fresh, sum, err);
    rc = wt__sql_end(store, rc, err);
    return rc < 0 ? rc : ours;
}

/* ---------------------------------------------------------------- reading */

int wt__store_each_usage_sum(struct store *store, const struct vector_set *set, usage_sum_visit visit, void *context,
                             wt_error *err)
{
    struct encoding encoding;
    sqlite3_stmt *rows;
    int rc = find_encoding(store, set, &encoding, err);
    if (rc == 0)
        rc = prepare_sum(store,
                         "SELECT tool, generation, uses FROM usage_sum WHERE encoding = ?1 AND uses > 0 ORDER BY tool",
                         encoding.id, 0, &rows, err);
    if (rc < 0)
        return rc;
    while (rc == 0 && (rc = wt__sql_step(store, rows, err)) == 1) {
        struct usage_sum_key key = {.tool = sqlite3_column_int64(rows, 0),
                                    .generation = (uint64_t)sqlite3_column_int64(rows, 1),
                                    .uses = sqlite3_column_int64(rows, 2)};
        rc = visit(context, &key);
    }
    wt__sql_reset(rows);
    return rc;
}

int64_t wt__store_get_usage_sums(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                                 float *sums, uint32_t *uses, wt_error *err)
{
    struct encoding encoding = {0};
    int64_t found = 0;
    bool outer = !sqlite3_get_autocommit(store->db);
    int rc = outer ? 0 : wt__store_read_begin(store, err);
    if (rc == 0)
        rc = find_encoding(store, set, &encoding, err);
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        int64_t stored = 0;
        rc = read_sum(store, set, encoding.id, ids[i], &stored, sums + i * set->dim, err);
        uses[i] = stored > 0 ? (uint32_t)stored : 0;
        if (rc >= 0 && uses[i] > 0)
            rc = wt__store_believed(store, ids[i], &uses[i], err);
        found += stored > 0;
    }
    if (!outer)
        wt__store_read_end(store);
    return rc < 0 ? rc : found;
}
