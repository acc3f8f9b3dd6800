/* rows.h: the content of a store as encoded rows, which replicas copy (docs/replicas.md).
 *
 * A row is a table number and the values of its columns. The columns of the key come first. An encoded value is a type
 * byte, then for an integer 8 bytes, and for a text or bytes the length (4 bytes) and the content. All numbers are
 * little-endian. Rows of another version of the tables are not compatible.
 *
 * A replica's store is equal to the publisher's store in every row, except for the sources of tools and servers, which
 * may be paths of the publisher. A replica's store knows that it is a replica: whoever opens it can only read it, and a
 * refused change names the writer. Only a struct rows_writer changes it. */
#ifndef WT_STORE_ROWS_H
#define WT_STORE_ROWS_H

#include "base/buffer.h"
#include "base/sha256.h"
#include "store/store.h"

enum {
    ROW_COLUMNS_MAX = 16,
    ROW_BYTES_MAX = 2 * STORE_MAX_ROW, /* maximum bytes of an encoded row */
    REPLICA_ID_DIGITS = 32,            /* hexadecimal digits of a publication's id */
    REPLICA_WRITER_BYTES_MAX = 500,    /* maximum bytes of a writer's address */
    REPLICA_MODEL_BYTES_MAX = 200,     /* maximum bytes of a model's name */
};

struct store_row {
    unsigned table;    /* number of the table */
    struct str key;    /* encoded values of the key */
    struct str values; /* encoded values of all columns; begins with the key */
};

/* Called once per row. The views last until the callback returns. A non-zero result stops the visit and is returned. */
typedef int (*store_row_visit)(void *context, const struct store_row *row);

/* Visits all rows, table by table, in order of their keys. Call it within a read transaction. */
int wt__store_each_row(struct store *store, store_row_visit visit, void *context, wt_error *err);

/* Returns the number of tables. */
unsigned wt__store_row_tables(void);
/* Parses encoded values: the whole row of a table if whole, else its key. Fails with WT_EFORMAT. */
int wt__store_check_row(unsigned table, struct str values, bool whole, wt_error *err);
/* Returns the encoded key at the start of a row that wt__store_check_row has accepted. */
struct str wt__store_row_key(unsigned table, struct str values);

/* Reads a number that differs after each commit of another connection to the file. The number is comparable between
 * calls on one connection only. */
int wt__store_change_mark(struct store *store, int64_t *out, wt_error *err);

/* State of a replica, stored in the transaction that applies the rows. */
struct replica_state {
    char publication[REPLICA_ID_DIGITS + 1];   /* id of the publication; "" if the store is not a replica */
    char writer[REPLICA_WRITER_BYTES_MAX + 1]; /* address of the writer, for errors and usage; "" if unknown */
    char encoder[65];                          /* hash of the publisher's encoder; "" if it has none */
    char encoder_name[REPLICA_MODEL_BYTES_MAX + 1];
    char models[65];      /* hash of the list of trained models; "" if nothing was trained */
    uint64_t segment;     /* number of the last file of changes that was read */
    uint64_t position;    /* bytes of this file that were applied */
    struct sha256 digest; /* digest of these bytes, to be continued */
    uint64_t generation;  /* generation of the store */
};

/* Reads the state. Returns 1, or 0 with a zeroed state if the store is not a replica. */
int wt__replica_state_read(struct store *store, struct replica_state *out, wt_error *err);

/* Starts a transaction that changes a replica. all: removes all rows first. The store must have been opened with
 * store_options.as_replica. */
int wt__store_rows_begin(struct store *store, bool all, wt_error *err);
int wt__store_put_row(struct store *store, unsigned table, struct str values, wt_error *err);
int wt__store_delete_row(struct store *store, unsigned table, struct str key, wt_error *err);
/* Stores the state and commits, if rc is 0, else rolls back. Fails with WT_ESTORE if the generation of the rows is not
 * that of the state, or if a row refers to a missing row. Returns rc or the failure. */
int wt__store_rows_end(struct store *store, int rc, const struct replica_state *state, wt_error *err);

#endif
