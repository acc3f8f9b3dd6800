/* driver_sqlite.h: the SQLite connection of a store, for driver_sqlite.c and its tests. */
#ifndef WT_STORE_DRIVER_SQLITE_H
#define WT_STORE_DRIVER_SQLITE_H

#include <sqlite3.h>

#include "store/driver.h"

enum { STORE_STAMP_BYTES = 22 };

struct sqlite_database {
    sqlite3 *db;
    struct usage_info seen;                 /* cached counters; valid while the file has the same stamp */
    unsigned char stamp[STORE_STAMP_BYTES]; /* bytes of the file's header that change with each commit */
    bool has_seen;                          /* true if `seen` and `stamp` are set */
};

struct sqlite_statement {
    struct sql_statement base;
    sqlite3_stmt *compiled;
    bool returns_id; /* ends with RETURNING_ID, replaced by the driver */
    bool at_id;      /* the current row is the id of the inserted row */
    int64_t id;
};

#endif
