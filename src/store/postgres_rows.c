/* postgres_rows.c: statements and their rows in PostgreSQL.
 *
 * A statement runs when it is started, and its rows are then in memory. Values and rows are binary: integers in network
 * order, texts and bytes as they are (store/dialect.h). Each statement is prepared once per connection. With a pooler,
 * which may run each transaction on another server connection, statements are sent whole. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/dialect.h"
#include "store/postgres.h"

enum { VALUES_MAX = 16, COLUMNS_MAX = 16, NAME_BYTES = 16 };

struct postgres_statement {
    struct sql_statement base;
    const struct libpq *pq;
    char *text;            /* translated SQL */
    char name[NAME_BYTES]; /* name of the prepared statement */
    unsigned session;      /* connection in which it is prepared; 0 for none */
    struct pg_result *result;
    int row;
    struct str decoded[COLUMNS_MAX]; /* decoded texts of the current row; ptr is NULL for columns stored as they are */
    bool has_decoded;                /* true if `decoded` is set */
    struct arena arena;              /* bytes of `decoded` */
};

/* Values in the form that libpq takes. */
struct packed_values {
    int count;
    unsigned types[VALUES_MAX];
    const char *values[VALUES_MAX];
    int lengths[VALUES_MAX], formats[VALUES_MAX];
    char integers[VALUES_MAX][8];
    struct buffer texts[VALUES_MAX]; /* encoded texts, and arrays */
};

static struct postgres_statement *extend(struct sql_statement *statement)
{
    return (struct postgres_statement *)statement;
}

int wt__postgres_prepare(struct store *store, const char *sql, struct sql_statement **out, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__dialect_translate(&text, sql, postgres_of(store)->schema);
    struct postgres_statement *statement = calloc(1, sizeof *statement);
    if (!statement || !(statement->text = wt__buffer_take(&text))) {
        free(statement);
        return wt__fail_nomem(err);
    }
    statement->pq = postgres_of(store)->pq;
    snprintf(statement->name, sizeof statement->name, "wt%zu", store->prepared_count);
    *out = &statement->base;
    return 0;
}

static void put_be64(char out[8], int64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (char)((uint64_t)value >> (56 - 8 * i));
}

static void append_be32(struct buffer *out, size_t value)
{
    const char bytes[] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8), (char)value};
    wt__buffer_append(out, bytes, sizeof bytes);
}

/* Appends an item with its length. */
static void append_item(struct buffer *out, const struct sql_value *item)
{
    char integer[8];
    size_t at = out->len;
    append_be32(out, item->kind == SQL_VALUE_INTEGER ? 8 : item->bytes.len);
    if (item->kind == SQL_VALUE_INTEGER) {
        put_be64(integer, item->integer);
        wt__buffer_append(out, integer, sizeof integer);
    } else if (item->kind == SQL_VALUE_BLOB || wt__dialect_is_plain(item->bytes)) {
        wt__buffer_str(out, item->bytes);
    } else {
        wt__buffer_cut(out, at);
        WT_CLEANUP(wt__buffer_dispose) struct buffer encoded = {0};
        wt__dialect_encode(&encoded, item->bytes);
        append_be32(out, encoded.len);
        wt__buffer_str(out, wt__buffer_view(&encoded));
        out->failed |= encoded.failed;
    }
}

/* Writes an array in PostgreSQL's binary format: number of dimensions, flag for NULL, type of the items, then for the
 * dimension its length and first index, then the items. */
static int pack_array(struct packed_values *packed, int at, const struct sql_value *value)
{
    static const struct {
        unsigned item, array;
    } types[] = {[SQL_VALUE_INTEGER] = {PG_TYPE_INT8, PG_TYPE_INT8_ARRAY},
                 [SQL_VALUE_TEXT] = {PG_TYPE_TEXT, PG_TYPE_TEXT_ARRAY},
                 [SQL_VALUE_BLOB] = {PG_TYPE_BYTEA, PG_TYPE_BYTEA_ARRAY}};
    struct buffer *out = &packed->texts[at];
    size_t count = (size_t)value->integer;
    append_be32(out, count > 0);
    append_be32(out, 0);
    append_be32(out, types[value->items->kind].item);
    if (count > 0) {
        append_be32(out, count);
        append_be32(out, 1);
    }
    for (size_t i = 0; i < count; i++)
        append_item(out, &value->items[i * value->stride]);
    packed->types[at] = types[value->items->kind].array;
    packed->values[at] = out->ptr;
    packed->lengths[at] = (int)out->len;
    return out->failed || out->len > INT_MAX ? -1 : 0;
}

static int pack_text(struct packed_values *packed, int at, struct str text)
{
    if (!wt__dialect_is_plain(text)) {
        wt__dialect_encode(&packed->texts[at], text);
        if (packed->texts[at].failed)
            return -1;
        text = wt__buffer_view(&packed->texts[at]);
    }
    packed->types[at] = PG_TYPE_TEXT;
    packed->values[at] = text.len > 0 ? text.ptr : "";
    packed->lengths[at] = (int)text.len;
    return 0;
}

static int pack_value(struct packed_values *packed, int at, const struct sql_value *value)
{
    packed->formats[at] = 1;
    switch (value->kind) {
    case SQL_VALUE_INTEGER:
        put_be64(packed->integers[at], value->integer);
        packed->types[at] = PG_TYPE_INT8;
        packed->values[at] = packed->integers[at];
        packed->lengths[at] = 8;
        return 0;
    case SQL_VALUE_TEXT:
        return pack_text(packed, at, value->bytes);
    case SQL_VALUE_BLOB:
        packed->types[at] = PG_TYPE_BYTEA;
        packed->values[at] = value->bytes.len > 0 ? value->bytes.ptr : "";
        packed->lengths[at] = (int)value->bytes.len;
        return 0;
    case SQL_VALUE_ARRAY:
        return pack_array(packed, at, value);
    default:
        packed->types[at] = PG_TYPE_ANY;
        return 0;
    }
}

static void dispose_packed(struct packed_values *packed)
{
    for (int i = 0; i < packed->count; i++)
        wt__buffer_dispose(&packed->texts[i]);
}

static int pack_values(struct store *store, struct packed_values *packed, const struct sql_value *values, wt_error *err)
{
    for (int i = 0; values && values[i].kind != SQL_VALUES_END; i++) {
        if (i == VALUES_MAX)
            return wt__fail(err, WT_ESTORE, "%s: a statement has too many values", store->path);
        if (values[i].bytes.len > STORE_MAX_ROW)
            return wt__fail(err, WT_ETOOLONG, "%s: a value is longer than %d bytes", store->path, STORE_MAX_ROW);
        memset(&packed->texts[i], 0, sizeof packed->texts[i]);
        packed->values[i] = NULL;
        packed->count = i + 1;
        if (pack_value(packed, i, &values[i]) < 0)
            return wt__fail_nomem(err);
    }
    return 0;
}

static struct pg_result *run_statement(struct postgres *pg, struct postgres_statement *statement,
                                       const struct packed_values *packed)
{
    const struct libpq *pq = pg->pq;
    if (pg->pooled)
        return pq->execParams(pg->conn, statement->text, packed->count, packed->types, packed->values, packed->lengths,
                              packed->formats, 1);
    if (statement->session != pg->session) {
        struct pg_result *prepared =
            pq->prepare(pg->conn, statement->name, statement->text, packed->count, packed->types);
        if (pq->resultStatus(prepared) != PG_COMMAND_OK)
            return prepared;
        pq->clear(prepared);
        statement->session = pg->session;
    }
    return pq->execPrepared(pg->conn, statement->name, packed->count, packed->values, packed->lengths, packed->formats,
                            1);
}

/* Runs the statement. If the connection turns out to be lost, runs a query once more, because it changes nothing. */
static int run_packed(struct store *store, struct postgres_statement *statement, const struct packed_values *packed,
                      wt_error *err)
{
    struct postgres *pg = postgres_of(store);
    bool may_retry = !pg->in_transaction && strncmp(statement->text, "SELECT", 6) == 0;
    WT_TRY(wt__postgres_ready(store, err));
    struct pg_result *result = run_statement(pg, statement, packed);
    if (may_retry && wt__postgres_note_loss(pg, result)) {
        pg->pq->clear(result);
        WT_TRY(wt__postgres_ready(store, err));
        result = run_statement(pg, statement, packed);
    }
    int status = pg->pq->resultStatus(result);
    if (status != PG_TUPLES_OK && status != PG_COMMAND_OK) {
        int rc = wt__postgres_fail(store, result, err);
        pg->pq->clear(result);
        return rc;
    }
    statement->result = result;
    statement->row = -1;
    pg->changes = atoll(pg->pq->cmdTuples(result));
    return 0;
}

int wt__postgres_run_values(struct store *store, const char *sql, const struct sql_value *values, wt_error *err)
{
    WT_CLEANUP(dispose_packed) struct packed_values packed;
    struct postgres *pg = postgres_of(store);
    packed.count = 0;
    WT_TRY(pack_values(store, &packed, values, err));
    WT_TRY(wt__postgres_ready(store, err));
    struct pg_result *result =
        pg->pq->execParams(pg->conn, sql, packed.count, packed.types, packed.values, packed.lengths, packed.formats, 1);
    int status = pg->pq->resultStatus(result);
    int rc = status == PG_TUPLES_OK || status == PG_COMMAND_OK ? 0 : wt__postgres_fail(store, result, err);
    pg->pq->clear(result);
    return rc;
}

int wt__postgres_start(struct store *store, struct sql_statement *statement, const struct sql_value *values,
                       wt_error *err)
{
    WT_CLEANUP(dispose_packed) struct packed_values packed;
    packed.count = 0;
    WT_TRY(pack_values(store, &packed, values, err));
    return run_packed(store, extend(statement), &packed, err);
}

static struct str read_stored(const struct postgres_statement *own, int at)
{
    return (struct str){own->pq->getvalue(own->result, own->row, at),
                        (size_t)own->pq->getlength(own->result, own->row, at)};
}

static void clear_decoded(struct postgres_statement *own)
{
    wt__arena_reset(&own->arena);
    if (own->has_decoded)
        memset(own->decoded, 0, sizeof own->decoded);
    own->has_decoded = false;
}

static int decode_text(struct postgres_statement *own, int at, struct str stored, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__dialect_decode(&text, stored);
    const char *copy = text.failed ? NULL : wt__arena_copy(&own->arena, wt__buffer_view(&text));
    WT_CHECK_ALLOC(copy, err);
    own->decoded[at] = (struct str){copy, text.len};
    own->has_decoded = true;
    return 0;
}

int wt__postgres_step(struct store *store, struct sql_statement *statement, wt_error *err)
{
    struct postgres_statement *own = extend(statement);
    (void)store;
    clear_decoded(own);
    if (!own->result || ++own->row >= own->pq->ntuples(own->result))
        return 0;
    int columns = own->pq->nfields(own->result);
    for (int at = 0; at < columns && at < COLUMNS_MAX; at++) {
        struct str stored = read_stored(own, at);
        if (own->pq->ftype(own->result, at) == PG_TYPE_TEXT && wt__dialect_is_encoded(stored))
            WT_TRY(decode_text(own, at, stored, err));
    }
    return 1;
}

void wt__postgres_reset(struct sql_statement *statement)
{
    struct postgres_statement *own = extend(statement);
    own->pq->clear(own->result); /* accepts NULL */
    own->result = NULL;
    clear_decoded(own);
}

void wt__postgres_finalize(struct sql_statement *statement)
{
    struct postgres_statement *own = extend(statement);
    wt__postgres_reset(statement);
    wt__arena_dispose(&own->arena);
    free(own->text);
    free(own);
}

struct str wt__postgres_bytes(struct sql_statement *statement, int at)
{
    struct postgres_statement *own = extend(statement);
    if (own->pq->getisnull(own->result, own->row, at))
        return (struct str){NULL, 0};
    return own->decoded[at].ptr ? own->decoded[at] : read_stored(own, at);
}

/* Reads integers and Booleans of 1, 2, 4 or 8 bytes. */
int64_t wt__postgres_integer(struct sql_statement *statement, int at)
{
    struct postgres_statement *own = extend(statement);
    int len = own->pq->getlength(own->result, own->row, at); /* 0 for NULL */
    const unsigned char *bytes = (const unsigned char *)own->pq->getvalue(own->result, own->row, at);
    uint64_t value = len > 0 && bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < len && i < 8; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}
