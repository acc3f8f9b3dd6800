/* postgres_vectors.c: copies of the vectors for pgvector, in the table `embedding` (docs/postgresql.md). whichtool
 * never reads them.
 *
 * The owner of the database may install or drop the extension at any time, so it is looked up at each use. When the
 * table is created, it gets all stored vectors. From then on, it changes in the transactions that change the
 * vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/postgres.h"

enum { SQL_BYTES = 1024, VECTOR_DIM_MAX = 16000 /* maximum dimension of pgvector's type */ };
enum { COPIES_AT_ONCE = 512, COPY_VALUES = 4 };

/* Copies to be inserted with one statement. A zeroed struct has none. */
struct vector_copies {
    struct sql_value (*values)[COPY_VALUES]; /* [COPIES_AT_ONCE] tool, kind, model, text of the vector */
    struct arena arena;                      /* kinds and texts */
    size_t count;
};

static void dispose_copies(struct vector_copies *copies)
{
    free(copies->values);
    wt__arena_dispose(&copies->arena);
}

/* Reads the schema of pgvector, "" if it is not installed, and whether the table has its column. */
static int find_pgvector(struct store *store, char schema[STORE_SCHEMA_MAX + 1], bool *has_table, wt_error *err)
{
    const struct postgres *pg = postgres_of(store);
    struct pg_result *row = NULL;
    char sql[SQL_BYTES];
    snprintf(sql, sizeof sql,
             "SELECT coalesce((SELECT nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n"
             " ON n.oid = e.extnamespace WHERE e.extname = 'vector'), ''), EXISTS (SELECT 1 FROM"
             " pg_catalog.pg_attribute WHERE attrelid = to_regclass('\"%s\".embedding') AND attname = 'embedding'"
             " AND NOT attisdropped)",
             pg->schema);
    WT_TRY(wt__postgres_ready(store, err));
    WT_TRY(wt__postgres_run(store, sql, &row, err));
    snprintf(schema, STORE_SCHEMA_MAX + 1, "%s", pg->pq->getvalue(row, 0, 0));
    *has_table = wt__postgres_is_true(pg, row, 1);
    pg->pq->clear(row);
    return 0;
}

/* A table without its column is left over from an extension that was dropped. */
static int create_table(struct store *store, const char *vector_schema, wt_error *err)
{
    const char *schema = postgres_of(store)->schema;
    char sql[SQL_BYTES];
    snprintf(sql, sizeof sql,
             "DROP TABLE IF EXISTS \"%s\".embedding;"
             " CREATE TABLE \"%s\".embedding (tool bigint NOT NULL, kind text COLLATE \"C\" NOT NULL,"
             " model bigint NOT NULL, embedding \"%s\".vector NOT NULL, PRIMARY KEY (tool, kind, model),"
             " FOREIGN KEY (tool, kind, model) REFERENCES \"%s\".vector ON DELETE CASCADE)",
             schema, schema, vector_schema, schema);
    return wt__postgres_run(store, sql, NULL, err);
}

/* Adds a copy; vector: [dim]. */
static int add_vector_copy(struct vector_copies *copies, int64_t tool, struct str kind, int64_t model,
                           const float *vector, size_t dim, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (!copies->values)
        copies->values = wt__alloc_array(COPIES_AT_ONCE, sizeof *copies->values);
    for (size_t i = 0; i < dim; i++)
        wt__buffer_printf(&text, "%c%.9g", i == 0 ? '[' : ',', (double)vector[i]);
    wt__buffer_char(&text, ']');
    struct str copied = {text.failed ? NULL : wt__arena_copy(&copies->arena, wt__buffer_view(&text)), text.len};
    struct str own_kind = {wt__arena_copy(&copies->arena, kind), kind.len};
    WT_CHECK_ALLOC(copies->values && copied.ptr && own_kind.ptr, err);
    struct sql_value *values = copies->values[copies->count++];
    values[0] = sql_integer(tool);
    values[1] = sql_text(own_kind);
    values[2] = sql_integer(model);
    values[3] = sql_text(copied);
    return 0;
}

/* Inserts the copies, and clears them. The text names the schema of the extension, so it is not one of the cached
 * statements. */
static int insert_copies(struct store *store, const char *vector_schema, struct vector_copies *copies, wt_error *err)
{
    char sql[SQL_BYTES];
    size_t count = copies->count;
    const struct sql_value *first = count > 0 ? copies->values[0] : NULL;
    if (count == 0)
        return 0;
    snprintf(sql, sizeof sql,
             "INSERT INTO \"%s\".embedding (tool, kind, model, embedding) SELECT n.tool, n.kind, n.model,"
             " n.value::\"%s\".vector FROM unnest($1, $2, $3, $4) AS n (tool, kind, model, value)"
             " ON CONFLICT (tool, kind, model) DO UPDATE SET embedding = excluded.embedding",
             postgres_of(store)->schema, vector_schema);
    int rc = wt__postgres_run_values(
        store, sql,
        SQL_VALUES(sql_array(first, count, COPY_VALUES), sql_array(first + 1, count, COPY_VALUES),
                   sql_array(first + 2, count, COPY_VALUES), sql_array(first + 3, count, COPY_VALUES)),
        err);
    copies->count = 0;
    wt__arena_reset(&copies->arena);
    return rc;
}

/* Reads the next stored vectors after the last one of *after_tool and so on. Returns their number. */
static int read_next_vectors(struct store *store, int64_t *tool, struct buffer *kind, int64_t *model,
                             struct vector_copies *copies, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    int rc, count = 0;
    WT_TRY(wt__sql_open(store,
                        "SELECT tool, kind, model, data FROM vector WHERE (tool, kind, model) > (?1, ?2, ?3)"
                        " ORDER BY tool, kind, model LIMIT ?4",
                        SQL_VALUES(sql_integer(*tool), sql_text(wt__buffer_view(kind)), sql_integer(*model),
                                   sql_integer(COPIES_AT_ONCE)),
                        &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        WT_AUTO_FREE float *vector = NULL;
        struct str name = wt__sql_column(rows, 1), data = wt__sql_column(rows, 3);
        size_t dim = data.len / sizeof *vector;
        *tool = wt__sql_integer(rows, 0);
        *model = wt__sql_integer(rows, 2);
        wt__buffer_clear(kind);
        wt__buffer_str(kind, name);
        count++;
        if (dim == 0 || dim > VECTOR_DIM_MAX)
            continue;
        vector = wt__alloc_array(dim, sizeof *vector);
        WT_CHECK_ALLOC(vector && !kind->failed, err);
        memcpy(vector, data.ptr, dim * sizeof *vector); /* the column may lie at any address */
        WT_TRY(add_vector_copy(copies, *tool, name, *model, vector, dim, err));
    }
    return rc < 0 ? rc : count;
}

static int create_copies(struct store *store, const char *vector_schema, wt_error *err)
{
    WT_CLEANUP(dispose_copies) struct vector_copies copies = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer kind = {0};
    int64_t tool = INT64_MIN, model = 0;
    int rc;
    WT_TRY(create_table(store, vector_schema, err));
    while ((rc = read_next_vectors(store, &tool, &kind, &model, &copies, err)) > 0)
        WT_TRY(insert_copies(store, vector_schema, &copies, err));
    return rc;
}

int wt__postgres_copy_vectors(struct store *store, const struct vector_set *set, int64_t model, const int64_t *tools,
                              const float *const *vectors, size_t count, wt_error *err)
{
    WT_CLEANUP(dispose_copies) struct vector_copies copies = {0};
    char vector_schema[STORE_SCHEMA_MAX + 1];
    bool has_table;
    if (set->dim > VECTOR_DIM_MAX || count == 0)
        return 0;
    WT_TRY(find_pgvector(store, vector_schema, &has_table, err));
    if (!vector_schema[0])
        return 0;
    if (!has_table)
        return create_copies(store, vector_schema, err); /* of these vectors, too */
    for (size_t i = 0; i < count; i++) {
        WT_TRY(add_vector_copy(&copies, tools[i], wt__str(set->kind), model, vectors[i], set->dim, err));
        if (copies.count == COPIES_AT_ONCE || i + 1 == count)
            WT_TRY(insert_copies(store, vector_schema, &copies, err));
    }
    return 0;
}

int wt__postgres_complete_copies(struct store *store, wt_error *err)
{
    char vector_schema[STORE_SCHEMA_MAX + 1];
    bool has_table;
    WT_TRY(find_pgvector(store, vector_schema, &has_table, err));
    if (!vector_schema[0] || has_table)
        return 0;
    WT_TRY(wt__sql_begin(store, err));
    return wt__sql_end(store, create_copies(store, vector_schema, err), err);
}
