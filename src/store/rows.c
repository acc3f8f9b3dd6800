/* rows.c: reads a store as encoded rows, and applies such rows to a replica.
 *
 * Rows are applied as they are, without the actions of foreign keys, because the publisher has published the rows that
 * its own actions changed. The references are checked before the commit. */
#include "store/rows.h"

#include <stdio.h>
#include <time.h>

#include "base/memory.h"
#include "store/internal.h"

#define P2 "?1,?2"
#define P3 P2 ",?3"
#define P4 P3 ",?4"
#define P5 P4 ",?5"
#define P7 P5 ",?6,?7"
#define P13 P7 ",?8,?9,?10,?11,?12,?13"
#define P14 P13 ",?14"

/* A row of the list below. columns: all columns, those of the key first. read: the same, as a replica gets them, and
 * then one number for each nullable column, 1 if it is NULL. types: see struct row_table. */
#define TABLE(table, key_columns, types, order, match, columns, read, places)                                          \
    {                                                                                                                  \
#table, types, key_columns, sizeof(types) - 1, "SELECT " read " FROM " #table " ORDER BY " order,              \
            "INSERT INTO " #table " (" columns ") VALUES (" places ")", "DELETE FROM " #table " WHERE " match,         \
            "DELETE FROM " #table                                                                                      \
    }
#define IS_NULL(column) ", CASE WHEN " column " IS NULL THEN 1 ELSE 0 END"

#define TOOL_COLUMNS                                                                                                   \
    "id, provider, source, generation, sha256, name, source_id, format, category, title, description, schema,"         \
    " definition, export_name"
#define REVIEW_COLUMNS                                                                                                 \
    "id, server, name, listed, tool, approved_since, approved_after, offered_since, approved_sha256, offered_sha256,"  \
    " approved, offered, kind"
#define USAGE_COLUMNS "id, request, outcome, created, client, key, hash"

/* The replicated tables. Files of a publication contain their numbers, so a change of this list or of a column needs a
 * new version of the tables. */
static const struct row_table {
    const char *name;
    const char *types; /* a letter for each column: i integer, t text, b bytes; a capital letter if it may be NULL */
    int keys, columns; /* number of key columns; number of all columns */
    const char *select, *insert, *remove, *clear;
} tables[] = {
    TABLE(meta, 1, "ti", "key", "key = ?1", "key, value", "key, value", P2),
    TABLE(provider, 1, "it", "id", "id = ?1", "id, name", "id, name", P2),
    TABLE(source, 1, "it", "id", "id = ?1", "id, name", "id, 'source ' || CAST(id AS text)", P2),
    TABLE(provider_alias, 1, "ti", "name", "name = ?1", "name, provider", "name, provider", P2),
    TABLE(tool, 1, "iiiibtttttttbT", "id", "id = ?1", TOOL_COLUMNS, TOOL_COLUMNS IS_NULL("export_name"), P14),
    TABLE(model, 1, "itti", "id", "id = ?1", "id, hash, name, dim", "id, hash, name, dim", P4),
    TABLE(vector, 3, "itib", "tool, kind, model", "tool = ?1 AND kind = ?2 AND model = ?3", "tool, kind, model, data",
          "tool, kind, model, data", P4),
    TABLE(request, 1, "iit", "id", "id = ?1", "id, hash, text", "id, hash, text", P3),
    TABLE(label, 1, "itI", "id", "id = ?1", "id, name, tool", "id, name, tool" IS_NULL("tool"), P3),
    TABLE(client, 1, "iti", "id", "id = ?1", "id, name, last", "id, name, last", P3),
    TABLE(usage, 1, "iiiiITi", "id", "id = ?1", USAGE_COLUMNS, USAGE_COLUMNS IS_NULL("client") IS_NULL("key"), P7),
    TABLE(usage_tool, 2, "iiiTI", "usage, position", "usage = ?1 AND position = ?2",
          "usage, position, label, arguments, client",
          "usage, position, label, arguments, client" IS_NULL("arguments") IS_NULL("client"), P5),
    TABLE(usage_encoding, 1, "itii", "id", "id = ?1", "id, kind, model, last", "id, kind, model, last", P4),
    TABLE(usage_sum, 2, "iiiib", "tool, encoding", "tool = ?1 AND encoding = ?2",
          "tool, encoding, generation, uses, data", "tool, encoding, generation, uses, data", P5),
    TABLE(contrast, 3, "tttt", "definitions, model, task", "definitions = ?1 AND model = ?2 AND task = ?3",
          "definitions, model, task, question", "definitions, model, task, question", P4),
    TABLE(review_server, 1, "itti", "id", "id = ?1", "id, name, source, baseline", "id, name, '', baseline", P4),
    TABLE(review, 1, "iitiIIIITTBBi", "id", "id = ?1", REVIEW_COLUMNS,
          REVIEW_COLUMNS IS_NULL("tool") IS_NULL("approved_since") IS_NULL("approved_after") IS_NULL("offered_since")
              IS_NULL("approved_sha256") IS_NULL("offered_sha256") IS_NULL("approved") IS_NULL("offered"),
          P13),
};
enum { TABLES = sizeof tables / sizeof *tables };

/* Types of encoded values. */
enum { VALUE_NULL, VALUE_INTEGER, VALUE_TEXT, VALUE_BYTES, INTEGER_BYTES = 8, LENGTH_BYTES = 4 };

unsigned wt__store_row_tables(void)
{
    return TABLES;
}

/* ---------------------------------------------------------------- encoding */

static void put_little_endian(struct buffer *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        wt__buffer_char(out, (char)(value >> 8 * i));
}

static uint64_t get_little_endian(const char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return value;
}

/* Appends the value of a column of this type, which is not NULL. */
static void encode_column(struct buffer *out, struct sql_statement *row, int at, char type)
{
    if (type == 'i' || type == 'I') {
        wt__buffer_char(out, VALUE_INTEGER);
        put_little_endian(out, (uint64_t)wt__sql_integer(row, at), INTEGER_BYTES);
    } else {
        struct str bytes = wt__sql_column(row, at);
        wt__buffer_char(out, type == 't' || type == 'T' ? VALUE_TEXT : VALUE_BYTES);
        put_little_endian(out, bytes.len, LENGTH_BYTES);
        wt__buffer_str(out, bytes);
    }
}

/* Appends a whole row. Returns the length of its key. */
static size_t encode_row(struct buffer *out, struct sql_statement *row, const struct row_table *table)
{
    size_t key_len = 0;
    int flag = table->columns;
    for (int i = 0; i < table->columns; i++) {
        char type = table->types[i];
        bool is_nullable = type >= 'A' && type <= 'Z';
        if (is_nullable && wt__sql_integer(row, flag++) != 0)
            wt__buffer_char(out, VALUE_NULL);
        else
            encode_column(out, row, i, type);
        key_len = i + 1 == table->keys ? out->len : key_len;
    }
    return key_len;
}

/* Reads a value and moves *at behind it. Returns false if the bytes are not a value. */
static bool decode_value(struct str *at, struct sql_value *out)
{
    if (at->len == 0)
        return false;
    char type = at->ptr[0];
    size_t taken = 1;
    if (type == VALUE_NULL) {
        *out = sql_null();
    } else if (type == VALUE_INTEGER && at->len >= 1 + INTEGER_BYTES) {
        *out = sql_integer((int64_t)get_little_endian(at->ptr + 1, INTEGER_BYTES));
        taken += INTEGER_BYTES;
    } else if ((type == VALUE_TEXT || type == VALUE_BYTES) && at->len >= 1 + LENGTH_BYTES) {
        size_t len = (size_t)get_little_endian(at->ptr + 1, LENGTH_BYTES);
        taken += LENGTH_BYTES;
        if (len > at->len - taken)
            return false;
        struct str bytes = {at->ptr + taken, len};
        *out = type == VALUE_TEXT ? sql_text(bytes) : sql_blob(bytes.ptr, bytes.len);
        taken += len;
    } else {
        return false;
    }
    *at = (struct str){at->ptr + taken, at->len - taken};
    return true;
}

/* True if a column of this type may have the value. */
static bool has_column_type(const struct sql_value *value, char type)
{
    if (value->kind == SQL_VALUE_NULL)
        return type >= 'A' && type <= 'Z';
    return value->kind == (type == 'i' || type == 'I'   ? SQL_VALUE_INTEGER
                           : type == 't' || type == 'T' ? SQL_VALUE_TEXT
                                                        : SQL_VALUE_BLOB);
}

/* Reads the values of a row or of its key, which must be all of the bytes. values: [ROW_COLUMNS_MAX + 1]. */
static int decode_values(unsigned table, struct str bytes, bool whole, struct sql_value *values, wt_error *err)
{
    if (table >= TABLES)
        return wt__fail(err, WT_EFORMAT, "a row of the unknown table %u", table);
    int count = whole ? tables[table].columns : tables[table].keys, at = 0;
    while (at < count && decode_value(&bytes, &values[at]) && has_column_type(&values[at], tables[table].types[at]))
        at++;
    values[at].kind = SQL_VALUES_END;
    return at == count && bytes.len == 0
               ? 0
               : wt__fail(err, WT_EFORMAT, "a row of the table %s is malformed", tables[table].name);
}

int wt__store_check_row(unsigned table, struct str values, bool whole, wt_error *err)
{
    struct sql_value decoded[ROW_COLUMNS_MAX + 1];
    return decode_values(table, values, whole, decoded, err);
}

struct str wt__store_row_key(unsigned table, struct str values)
{
    struct sql_value value;
    struct str rest = values;
    for (int i = 0; table < TABLES && i < tables[table].keys; i++)
        if (!decode_value(&rest, &value))
            return (struct str){0};
    return (struct str){values.ptr, values.len - rest.len};
}

/* ---------------------------------------------------------------- reading */

static int visit_table(struct store *store, unsigned number, struct buffer *bytes, store_row_visit visit, void *context,
                       wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    const struct row_table *table = &tables[number];
    int rc;
    WT_TRY(wt__sql_open(store, table->select, NULL, &rows, err));
    while ((rc = wt__sql_step(store, rows, err)) == 1) {
        wt__buffer_clear(bytes);
        size_t key_len = encode_row(bytes, rows, table);
        WT_CHECK_ALLOC(!bytes->failed, err);
        const struct store_row row = {number, {bytes->ptr, key_len}, wt__buffer_view(bytes)};
        WT_TRY(visit(context, &row));
    }
    return rc;
}

int wt__store_each_row(struct store *store, store_row_visit visit, void *context, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
    for (unsigned i = 0; i < TABLES; i++)
        WT_TRY(visit_table(store, i, &bytes, visit, context, err));
    return 0;
}

int wt__store_change_mark(struct store *store, int64_t *out, wt_error *err)
{
    return store->driver->read_change_mark(store, out, err);
}

/* ---------------------------------------------------------------- the state of a replica */

static void copy_state_text(char *out, size_t room, struct sql_statement *row, int at)
{
    struct str text = wt__sql_column(row, at);
    snprintf(out, room, "%.*s", (int)text.len, text.len ? text.ptr : "");
}

int wt__replica_state_read(struct store *store, struct replica_state *out, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *row = NULL;
    *out = (struct replica_state){.segment = 0};
    WT_TRY(wt__sql_open(store,
                        "SELECT publication, writer, encoder, encoder_name, models, segment, position, digest,"
                        " generation FROM replica",
                        NULL, &row, err));
    int rc = wt__sql_step(store, row, err);
    if (rc <= 0)
        return rc;
    copy_state_text(out->publication, sizeof out->publication, row, 0);
    copy_state_text(out->writer, sizeof out->writer, row, 1);
    copy_state_text(out->encoder, sizeof out->encoder, row, 2);
    copy_state_text(out->encoder_name, sizeof out->encoder_name, row, 3);
    copy_state_text(out->models, sizeof out->models, row, 4);
    out->segment = (uint64_t)wt__sql_integer(row, 5);
    out->position = (uint64_t)wt__sql_integer(row, 6);
    struct str digest = wt__sql_column(row, 7);
    if (digest.len != sizeof out->digest)
        return wt__fail(err, WT_ESTORE, "%s is damaged: the state of the replica is malformed", store->path);
    memcpy(&out->digest, digest.ptr, digest.len);
    out->generation = (uint64_t)wt__sql_integer(row, 8);
    return 1;
}

static int write_replica_state(struct store *store, const struct replica_state *state, wt_error *err)
{
    return wt__sql_run(store,
                       "INSERT INTO replica (one, publication, writer, encoder, encoder_name, models, segment,"
                       " position, digest, generation) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                       " ON CONFLICT (one) DO UPDATE SET publication = ?1, writer = ?2, encoder = ?3,"
                       " encoder_name = ?4, models = ?5, segment = ?6, position = ?7, digest = ?8, generation = ?9",
                       SQL_VALUES(sql_string(state->publication), sql_string(state->writer), sql_string(state->encoder),
                                  sql_string(state->encoder_name), sql_string(state->models),
                                  sql_integer((int64_t)state->segment), sql_integer((int64_t)state->position),
                                  sql_blob(&state->digest, sizeof state->digest),
                                  sql_integer((int64_t)state->generation)),
                       err);
}

/* ---------------------------------------------------------------- applying */

/* The store of a replica is always a file of SQLite, in its cache. */
int wt__store_rows_begin(struct store *store, bool all, wt_error *err)
{
    WT_TRY(wt__sql_exec(store, "PRAGMA foreign_keys=OFF", err));
    store->driver->set_bulk(store, true);
    WT_TRY(wt__sql_begin(store, err));
    for (unsigned i = 0; all && i < TABLES; i++) {
        int rc = wt__sql_run(store, tables[i].clear, NULL, err);
        if (rc < 0)
            return wt__sql_end(store, rc, err);
    }
    return 0;
}

int wt__store_put_row(struct store *store, unsigned table, struct str values, wt_error *err)
{
    struct sql_value decoded[ROW_COLUMNS_MAX + 1];
    WT_TRY(decode_values(table, values, true, decoded, err));
    return wt__sql_run(store, tables[table].insert, decoded, err);
}

int wt__store_delete_row(struct store *store, unsigned table, struct str key, wt_error *err)
{
    struct sql_value decoded[ROW_COLUMNS_MAX + 1];
    WT_TRY(decode_values(table, key, false, decoded, err));
    return wt__sql_run(store, tables[table].remove, decoded, err);
}

static int check_applied_rows(struct store *store, const struct replica_state *state, wt_error *err)
{
    WT_CLEANUP(wt__sql_close) struct sql_statement *rows = NULL;
    uint64_t generation;
    WT_TRY(wt__store_generation(store, &generation, err));
    if (generation != state->generation)
        return wt__fail(err, WT_ESTORE, "its rows are of generation %llu and not of %llu",
                        (unsigned long long)generation, (unsigned long long)state->generation);
    WT_TRY(wt__sql_open(store, "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1", NULL, &rows, err));
    int rc = wt__sql_step(store, rows, err);
    struct str name = rc == 1 ? wt__sql_column(rows, 0) : STR("");
    return rc == 1
               ? wt__fail(err, WT_ESTORE, "a row of the table %.*s refers to a missing row", (int)name.len, name.ptr)
               : rc;
}

int wt__store_rows_end(struct store *store, int rc, const struct replica_state *state, wt_error *err)
{
    if (rc == 0)
        rc = check_applied_rows(store, state, err);
    if (rc == 0)
        rc = write_replica_state(store, state, err);
    rc = wt__sql_end(store, rc, err);
    store->driver->set_bulk(store, false);
    return rc;
}
