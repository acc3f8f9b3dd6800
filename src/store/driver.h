/* driver.h: the interface between the store and its database. Each database has one driver: driver_sqlite.c and
 * driver_postgres.c. No other file knows which database a store uses.
 *
 * Statements are written once, in SQLite's dialect. Both databases understand them, except for these
 * forms. The driver of PostgreSQL translates them (dialect.c):
 *
 *   ?1, ?2, ...              parameters
 *   x'00ff'                  bytes
 *   CROSS JOIN ... ON        joins in the written order
 *   INDEXED BY, NOT INDEXED  hints for SQLite's planner
 *
 * A table follows FROM, JOIN, INTO, UPDATE or TABLE in lower case, for the driver to add the schema. Every subquery of
 * FROM has an alias. Booleans are integers: write `listed = 1`. LIMIT takes SQL_NO_LIMIT for no limit. */
#ifndef WT_STORE_DRIVER_H
#define WT_STORE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "store/store.h"

/* Value of LIMIT for all rows. */
#define SQL_NO_LIMIT INT64_MAX

/* A value for a parameter of a statement. Text and bytes are borrowed until the statement is reset. */
struct sql_value {
    enum {
        SQL_VALUES_END,
        SQL_VALUE_INTEGER,
        SQL_VALUE_TEXT,
        SQL_VALUE_BLOB,
        SQL_VALUE_NULL,
        SQL_VALUE_ARRAY /* only for drivers with has_arrays */
    } kind;
    int64_t integer; /* number of items of an array */
    struct str bytes;
    const struct sql_value *items; /* items of an array, all of the kind of the first one; item i is at i * stride */
    size_t stride;
};

/* A prepared statement. Drivers extend it. */
struct sql_statement {
    const struct sql_driver *driver;
    const char *sql; /* static; its address identifies the statement */
};

/* One migration. The step at index N of the list updates a store from version N to version N + 1. */
struct migration {
    const char *sql;                                   /* may be NULL */
    int (*finish)(struct store *store, wt_error *err); /* runs after the SQL, for changes SQL cannot express; may be
                                                        * NULL */
};

enum sql_transaction { SQL_READ, SQL_WRITE };

/* Functions return 0 or a negative WT_E... code, unless documented otherwise. */
struct sql_driver {
    /* True if a statement can take arrays and each statement costs a round trip to a server, so that changes of many
     * rows should use arrays. */
    bool has_arrays;
    const struct migration *migrations; /* [migration_count] */
    size_t migration_count;

    /* Opens store->path. Sets store->read_only if the database does not allow writes. */
    int (*connect)(struct store *store, wt_error *err);
    /* Opens one more connection to the database of `of`. */
    int (*connect_reader)(struct store *store, const struct store *of, wt_error *err);
    void (*disconnect)(struct store *store); /* accepts a store whose connection failed */
    /* True if the database is private to this connection, and so cannot have readers. */
    bool (*is_private)(const struct store *store);

    bool (*in_transaction)(const struct store *store);
    /* True if the connection holds no lock and can be used again. */
    bool (*is_idle)(const struct store *store);
    /* A write transaction holds the lock for writers from its begin on. A read transaction sees one moment. */
    int (*begin)(struct store *store, enum sql_transaction kind, wt_error *err);
    int (*commit)(struct store *store, wt_error *err);
    void (*rollback)(struct store *store);

    int (*read_version)(struct store *store, int64_t *version, wt_error *err); /* 0 for an empty database */
    int (*write_version)(struct store *store, int64_t version, wt_error *err);

    /* Runs statements without parameters and ignores their rows. */
    int (*exec)(struct store *store, const char *sql, wt_error *err);
    int (*prepare)(struct store *store, const char *sql, struct sql_statement **out, wt_error *err);
    /* Starts a statement that is not running. values end with SQL_VALUES_END, or are NULL. */
    int (*start)(struct store *store, struct sql_statement *statement, const struct sql_value *values, wt_error *err);
    int (*step)(struct store *store, struct sql_statement *statement, wt_error *err); /* 1 for a row, 0 at the end */
    void (*reset)(struct sql_statement *statement);
    void (*finalize)(struct sql_statement *statement);
    /* Columns of the current row. Bytes are valid until the next step, and empty for NULL. */
    struct str (*bytes)(struct sql_statement *statement, int at);
    int64_t (*integer)(struct sql_statement *statement, int at);
    int64_t (*changes)(struct store *store); /* rows changed by the last statement */

    /* Writes the counters noted last and returns true, unless the counters may have changed since. */
    bool (*seen)(struct store *store, struct usage_info *out);
    void (*note_seen)(struct store *store, const struct usage_info *info);

    /* Reads a number that differs after each commit of another connection to the database. */
    int (*read_change_mark)(struct store *store, int64_t *out, wt_error *err);
    /* Prepares for many changes, or ends that. */
    void (*set_bulk)(struct store *store, bool bulk);
    /* Copies vectors [count, D] for the owner's own searches in the database, within the change that stores them. NULL
     * if the database has no such searches. */
    int (*copy_vectors)(struct store *store, const struct vector_set *set, int64_t model, const int64_t *tools,
                        const float *const *vectors, size_t count, wt_error *err);
    /* Copies all stored vectors if such searches have become possible since they were stored. NULL as above. */
    int (*complete_copies)(struct store *store, wt_error *err);
    /* Checks the whole database. */
    int (*check)(struct store *store, wt_error *err);
    uint64_t (*size)(struct store *store);                            /* bytes of the database; 0 if unknown */
    int (*limit)(struct store *store, uint64_t bytes, wt_error *err); /* see wt__store_limit; NULL to ignore it */

    /* Copies the database of a store in memory into an image, and opens an image in place of such a database. NULL if
     * the database cannot be in memory. */
    int (*save_image)(struct store *store, struct store_image *out, wt_error *err);
    int (*load_image)(struct store *store, const struct store_image *image, wt_error *err);
};

extern const struct sql_driver wt__sqlite_driver, wt__postgres_driver;

enum { STORE_STATEMENTS_MAX = 192 };

struct store {
    const struct sql_driver *driver;
    void *database; /* connection; owned by the driver */
    char *path;     /* name in messages, without a password */
    char *url;      /* URL of a database server, which may contain a password; NULL for a file */
    bool read_only;
    char *replica_of;                   /* writer of a replica, whose changes are refused; NULL for other stores */
    int64_t version;                    /* version of the tables when they were opened; 0 until known */
    unsigned busy_ms;                   /* maximum wait for a lock */
    uint64_t most_bytes;                /* wt__store_limit; 0 for none */
    struct progress *progress;          /* progress of the open call or the running import; may be NULL */
    double wait_began_ms;               /* start of the last wait for a lock, on the clock of wt__now_ms */
    int64_t segments_pruned_s;          /* time at which old ids of segments were last removed; 0 before */
    bool wait_reported, wait_cancelled; /* the last wait was shown as a progress phase; was cancelled */
    struct sql_statement *prepared[STORE_STATEMENTS_MAX];
    size_t prepared_count;
};

/* Waits a moment for the lock of another writer. count: number of waits before this one. Returns false after
 * busy_ms, or if the progress cancelled the wait. */
bool wt__store_wait(struct store *store, int count);
/* Reports the end of a wait by wt__store_wait as an error. */
int wt__store_fail_wait(struct store *store, wt_error *err);

#endif
