#include "replica/published_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/rng.h"

struct published_row {
    struct str key;    /* table number and encoded key, in the arena */
    uint64_t hash[2];  /* hashes of the values */
    uint32_t round;    /* last comparison that has found the row in the store */
    bool is_published; /* false if the row was deleted */
};

int wt__published_rows_init(struct published_rows *rows, wt_error *err)
{
    *rows = (struct published_rows){.round = 0};
    if (!wt__random_bytes(&rows->seed, sizeof rows->seed))
        return wt__fail(err, WT_EIO, "cannot get random numbers");
    return 0;
}

void wt__published_rows_dispose(struct published_rows *rows)
{
    wt__map_dispose(&rows->by_key);
    wt__arena_dispose(&rows->keys);
    free(rows->items);
    *rows = (struct published_rows){.round = 0};
}

void wt__row_changes_dispose(struct row_changes *changes)
{
    wt__buffer_dispose(&changes->deletions);
    wt__buffer_dispose(&changes->puts);
}

/* Finds or adds the entry of a key. */
static int find_published_row(struct published_rows *rows, unsigned table, struct str key, struct published_row **out,
                              wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer whole = {0};
    char head = (char)table;
    wt__buffer_char(&whole, head);
    wt__buffer_str(&whole, key);
    WT_CHECK_ALLOC(!whole.failed, err);
    const uint32_t *known = wt__map_get(&rows->by_key, wt__buffer_view(&whole));
    if (known) {
        *out = &rows->items[*known];
        return 0;
    }
    struct str copy = {wt__arena_copy(&rows->keys, wt__buffer_view(&whole)), whole.len};
    if (!copy.ptr || wt__grow((void **)&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items) < 0 ||
        !wt__map_insert(&rows->by_key, copy, (uint32_t)rows->count, NULL))
        return wt__fail_nomem(err);
    *out = &rows->items[rows->count++];
    **out = (struct published_row){.key = copy};
    return 0;
}

/* Notes the values as published. Returns true if they were published before. */
static bool note_published(struct published_rows *rows, struct published_row *row, struct str values)
{
    const uint64_t hash[] = {wt__checksum(values.ptr, values.len, rows->seed),
                             wt__checksum(values.ptr, values.len, ~rows->seed)};
    bool same = row->is_published && memcmp(hash, row->hash, sizeof hash) == 0;
    memcpy(row->hash, hash, sizeof hash);
    row->is_published = true;
    row->round = rows->round;
    return same;
}

struct row_loading {
    struct published_rows *rows;
    wt_error *err;
};

static int load_record(void *context, enum row_change change, unsigned table, struct str content)
{
    struct row_loading *loading = context;
    struct published_row *row;
    WT_TRY(wt__store_check_row(table, content, change == ROW_PUT, loading->err));
    struct str key = change == ROW_PUT ? wt__store_row_key(table, content) : content;
    WT_TRY(find_published_row(loading->rows, table, key, &row, loading->err));
    if (change == ROW_PUT)
        note_published(loading->rows, row, content);
    else
        row->is_published = false;
    return 0;
}

int wt__published_rows_load(struct published_rows *rows, struct str file, wt_error *err)
{
    struct row_loading loading = {rows, err};
    return wt__row_file_each(file, load_record, &loading, err);
}

void wt__published_rows_begin(struct published_rows *rows)
{
    rows->round++;
}

static void put_deletion(struct row_changes *out, const struct published_row *row)
{
    wt__row_record(&out->deletions, ROW_DELETE, (unsigned char)row->key.ptr[0],
                   (struct str){row->key.ptr + 1, row->key.len - 1});
}

int wt__published_rows_compare(struct published_rows *rows, const struct store_row *row, struct row_changes *out,
                               wt_error *err)
{
    struct published_row *known;
    WT_TRY(find_published_row(rows, row->table, row->key, &known, err));
    bool replaces = known->is_published;
    if (note_published(rows, known, row->values))
        return 0;
    if (replaces)
        put_deletion(out, known);
    wt__row_record(&out->puts, ROW_PUT, row->table, row->values);
    out->put++;
    return out->puts.failed || out->deletions.failed ? wt__fail_nomem(err) : 0;
}

int wt__published_rows_end(struct published_rows *rows, struct row_changes *out, wt_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct published_row *row = &rows->items[i];
        if (!row->is_published || row->round == rows->round)
            continue;
        put_deletion(out, row);
        out->deleted++;
        row->is_published = false;
    }
    return out->deletions.failed ? wt__fail_nomem(err) : 0;
}
