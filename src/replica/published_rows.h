/* published_rows.h: the rows of a publication, by key and hash, to find the changes of the store since. */
#ifndef WT_REPLICA_PUBLISHED_ROWS_H
#define WT_REPLICA_PUBLISHED_ROWS_H

#include "base/arena.h"
#include "base/map.h"
#include "replica/row_file.h"

struct published_row;

/* A zeroed struct has no rows. */
struct published_rows {
    struct map by_key; /* table and key -> index in items */
    struct arena keys;
    struct published_row *items; /* [count] */
    size_t count, capacity;
    uint32_t round; /* number of the current comparison */
    uint64_t seed;  /* secret seed of the hashes, against constructed rows with equal hashes */
};

/* Prepares an empty set. Errors: WT_EIO (no random numbers). */
int wt__published_rows_init(struct published_rows *rows, wt_error *err);
void wt__published_rows_dispose(struct published_rows *rows);

/* Notes the rows of a file of the publication. Errors: WT_EFORMAT, WT_ENOMEM. */
int wt__published_rows_load(struct published_rows *rows, struct str file, wt_error *err);

/* Differences found by one comparison, as records. */
struct row_changes {
    struct buffer deletions, puts;
    uint64_t put, deleted;
};
void wt__row_changes_dispose(struct row_changes *changes);

/* Starts a comparison. Then pass each row of the store to wt__published_rows_compare, and end with
 * wt__published_rows_end, to find the deleted rows. The rows count as published at once: if the changes are not
 * written, dispose of the rows. */
void wt__published_rows_begin(struct published_rows *rows);
int wt__published_rows_compare(struct published_rows *rows, const struct store_row *row, struct row_changes *out,
                               wt_error *err);
int wt__published_rows_end(struct published_rows *rows, struct row_changes *out, wt_error *err);

#endif
