/* sum.c: usage sums (Tool2Vec, section 4.1), stored as little-endian fp32.
 *
 * The usage sum of a tool is the sum of the vectors of the requests that used it. The mark of a vector set is the id of
 * the last usage included in its sums.
 *
 * One transaction adds a batch of usages. It reads the sums of the tools, adds the vectors in memory in the order of
 * the usages, and writes the sums and the new mark. The order is fixed, so the bits of a sum do not depend on how its
 * usages are divided into batches. */
#include "store/internal.h"

#include "base/map.h"
#include "base/memory.h"

/* The row of usage_encoding for a vector set. All sums of the set refer to this row. */
struct encoding {
    int64_t id;   /* 0 if absent */
    int64_t last; /* mark: id of the last usage in the sums */
};

static int find_encoding(struct store *store, const struct vector_set *set, struct encoding *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    int64_t model;
    *out = (struct encoding){0};
    int rc = wt__sql_find_model(store, set, &model, err);
    if (rc < 0 || model == 0)
        return rc;
    WT_TRY(wt__sql_open(store, "SELECT id, last FROM usage_encoding WHERE kind = ?1 AND model = ?2",
                        SQL_VALUES(sql_string(set->kind), sql_integer(model)), &row, err));
    rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    *out = (struct encoding){wt__sql_integer(row, 0), wt__sql_integer(row, 1)};
    return 0;
}

static int make_encoding(struct store *store, const struct vector_set *set, struct encoding *out, wt_error *err)
{
    int64_t model;
    int rc = find_encoding(store, set, out, err);
    if (rc < 0 || out->id)
        return rc;
    WT_TRY(wt__sql_make_model(store, set, &model, err));
    return wt__sql_insert(store, "INSERT INTO usage_encoding (kind, model, last) VALUES (?1, ?2, 0) RETURNING id",
                          SQL_VALUES(sql_string(set->kind), sql_integer(model)), &out->id, err);
}

int wt__store_usage_mark(struct store *store, const struct vector_set *set, struct usage_mark *out, wt_error *err)
{
    struct encoding encoding;
    int64_t stale = 0;
    *out = (struct usage_mark){0};
    WT_TRY(find_encoding(store, set, &encoding, err));
    out->last = encoding.last;
    int rc = wt__store_count_usages(store, &(struct usage_query){.after = encoding.last, .teaching = true},
                                    &out->pending, err);
    if (rc < 0 || encoding.id == 0)
        return rc;
    rc = wt__sql_find(store, "SELECT count(*) FROM usage_sum WHERE encoding = ?1 AND uses < 0",
                      SQL_VALUES(sql_integer(encoding.id)), &stale, err);
    out->stale = (uint64_t)stale;
    return rc < 0 ? rc : 0;
}

/* Reads the usage sum of a tool into out [D], and the number of usages in it into *uses. *uses is negative if the sum
 * is stale. out is zero if the sum is absent or stale. Returns 1 if the row exists, else 0. */
static int read_sum(struct store *store, const struct vector_set *set, int64_t encoding, int64_t tool, int64_t *uses,
                    float *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    size_t bytes = set->dim * sizeof *out;
    *uses = 0;
    memset(out, 0, bytes);
    WT_TRY(wt__sql_open(store, "SELECT uses, data FROM usage_sum WHERE tool = ?2 AND encoding = ?1",
                        SQL_VALUES(sql_integer(encoding), sql_integer(tool)), &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    struct str data = wt__sql_column(row, 1);
    *uses = wt__sql_integer(row, 0);
    if (*uses > 0 && data.len != bytes)
        return wt__fail(err, WT_ESTORE, "%s is damaged: the usage sum of tool %lld has %zu bytes, not %zu", store->path,
                        (long long)tool, data.len, bytes);
    if (*uses > 0)
        memcpy(out, data.ptr, bytes);
    return 1;
}

static int write_sum(struct store *store, const struct vector_set *set, int64_t encoding,
                     const struct usage_sum_key *key, const float *sum, wt_error *err)
{
    return wt__sql_run(store,
                       "INSERT INTO usage_sum (tool, encoding, generation, uses, data)"
                       " VALUES (?2, ?1, ?3, ?4, ?5) ON CONFLICT (tool, encoding) DO UPDATE SET"
                       " generation = excluded.generation, uses = excluded.uses, data = excluded.data",
                       SQL_VALUES(sql_integer(encoding), sql_integer(key->tool), sql_integer((int64_t)key->generation),
                                  sql_integer(key->uses), sql_blob(sum, key->uses > 0 ? set->dim * sizeof *sum : 0)),
                       err);
}

/* ---------------------------------------------------------------- adding a batch */

struct sum_batch {
    struct store *store;
    const struct vector_set *set;
    struct encoding encoding;
    struct map by_tool;         /* bytes of a tool's id -> index in keys and sums */
    struct arena ids;           /* keys of by_tool */
    struct usage_sum_key *keys; /* uses is negative if the stored sum is stale */
    float *sums;                /* [count, D] */
    size_t count, key_capacity, sum_capacity;
    wt_error *err;
};

/* Sets *at to the index of the tool's sum in the batch. Reads the sum from the store on first use. */
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

/* Adds vector [D] to the sums of the tools that the usage teaches. Does nothing if the usage was removed meanwhile. */
static int add_vector(struct sum_batch *b, int64_t usage, const float *vector)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    size_t dim = b->set->dim;
    int rc;
    WT_TRY(wt__sql_open(b->store,
                        "SELECT DISTINCT l.tool FROM usage u CROSS JOIN usage_tool x ON x.usage = u.id"
                        " CROSS JOIN label l ON l.id = x.label"
                        " WHERE u.id = ?1 AND u.outcome <> 2 AND l.tool IS NOT NULL AND" USAGE_COUNTS,
                        SQL_VALUES(sql_integer(usage)), &rows, b->err));
    while ((rc = wt__sql_step(b->store, rows, b->err)) == 1) {
        uint32_t at = 0;
        WT_TRY(find_batch_sum(b, wt__sql_integer(rows, 0), &at));
        if (b->keys[at].uses < 0)
            continue;
        b->keys[at].uses++;
        for (size_t d = 0; d < dim; d++)
            b->sums[at * dim + d] += vector[d];
    }
    return rc;
}

static int write_batch(struct sum_batch *b, int64_t upto)
{
    uint64_t generation = 0;
    if (b->count > 0)
        WT_TRY(wt__usage_next_sums(b->store, &generation, b->err));
    for (size_t i = 0; i < b->count; i++) {
        b->keys[i].generation = generation;
        if (b->keys[i].uses > 0)
            WT_TRY(write_sum(b->store, b->set, b->encoding.id, &b->keys[i], b->sums + i * b->set->dim, b->err));
    }
    return wt__sql_run(b->store, "UPDATE usage_encoding SET last = ?2 WHERE id = ?1",
                       SQL_VALUES(sql_integer(b->encoding.id), sql_integer(upto)), b->err);
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

/* ---------------------------------------------------------------- rebuilding stale sums */

int wt__store_stale_usage_sums(struct store *store, const struct vector_set *set, int64_t after_tool,
                               struct usage_sum_key *keys, size_t max, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct encoding encoding;
    size_t count = 0;
    WT_TRY(find_encoding(store, set, &encoding, err));
    int rc = wt__sql_open(store,
                          "SELECT tool, generation FROM usage_sum WHERE encoding = ?1 AND tool > ?2 AND uses < 0"
                          " ORDER BY tool LIMIT ?3",
                          SQL_VALUES(sql_integer(encoding.id), sql_integer(after_tool), sql_integer((int64_t)max)),
                          &rows, err);
    while (rc >= 0 && count < max && (rc = wt__sql_step(store, rows, err)) == 1)
        keys[count++] =
            (struct usage_sum_key){.tool = wt__sql_integer(rows, 0), .generation = (uint64_t)wt__sql_integer(rows, 1)};
    return rc < 0 ? rc : (int)count;
}

/* Returns 1 if the tool's sum is stale and still has the generation of the key, else 0. */
static int is_stale_since(struct store *store, int64_t encoding, const struct usage_sum_key *key, wt_error *err)
{
    return wt__sql_run(
        store, "SELECT 1 FROM usage_sum WHERE encoding = ?1 AND tool = ?2 AND uses < 0 AND generation = ?3",
        SQL_VALUES(sql_integer(encoding), sql_integer(key->tool), sql_integer((int64_t)key->generation)), err);
}

/* Replaces a stale sum, as wt__store_put_usage_sum does, within a transaction of the caller. */
static int replace_sum(struct store *store, const struct vector_set *set, const struct usage_sum_key *key, int64_t last,
                       const float *sum, wt_error *err)
{
    struct encoding encoding;
    struct usage_sum_key fresh = *key;
    WT_TRY(find_encoding(store, set, &encoding, err));
    int stale = encoding.last == last ? is_stale_since(store, encoding.id, key, err) : 0;
    if (stale <= 0)
        return stale;
    WT_TRY(wt__usage_next_sums(store, &fresh.generation, err));
    WT_TRY(write_sum(store, set, encoding.id, &fresh, sum, err));
    return 1;
}

int wt__store_put_usage_sum(struct store *store, const struct vector_set *set, const struct usage_sum_key *key,
                            int64_t last, const float *sum, wt_error *err)
{
    WT_TRY(wt__sql_begin(store, err));
    return wt__sql_end(store, replace_sum(store, set, key, last, sum, err), err);
}

/* ---------------------------------------------------------------- reading */

int wt__store_each_usage_sum(struct store *store, const struct vector_set *set, usage_sum_visit visit, void *context,
                             wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    struct encoding encoding;
    int rc;
    WT_TRY(find_encoding(store, set, &encoding, err));
    WT_TRY(wt__sql_open(store,
                        "SELECT tool, generation, uses FROM usage_sum WHERE encoding = ?1 AND uses > 0 ORDER BY tool",
                        SQL_VALUES(sql_integer(encoding.id)), &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        struct usage_sum_key key = {.tool = wt__sql_integer(rows, 0),
                                    .generation = (uint64_t)wt__sql_integer(rows, 1),
                                    .uses = wt__sql_integer(rows, 2)};
        WT_TRY(visit(context, &key));
    }
    return rc;
}

int64_t wt__store_get_usage_sums(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                                 float *sums, uint32_t *uses, wt_error *err)
{
    WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};
    struct encoding encoding;
    int64_t found = 0;
    WT_TRY(wt__begin_read_scope(&scope, store, err));
    WT_TRY(find_encoding(store, set, &encoding, err));
    for (size_t i = 0; i < count; i++) {
        int64_t stored;
        int rc = read_sum(store, set, encoding.id, ids[i], &stored, sums + i * set->dim, err);
        if (rc < 0)
            return rc;
        uses[i] = stored > 0 ? (uint32_t)stored : 0;
        if (uses[i] > 0)
            WT_TRY(wt__store_believed(store, ids[i], &uses[i], err));
        found += stored > 0;
    }
    return found;
}
