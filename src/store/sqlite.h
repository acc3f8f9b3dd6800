/* sqlite.h: what the files the files of store/ share. Nothing else includes it, except their tests.
 *
 * A statement is prepared once a store and found again by the address of its text, so that the SQL stands beside
 * the code that binds it. Binding of borrowed memory fails for want of memory only, since lengths were checked. */
#ifndef WT_STORE_SQLITE_H
#define WT_STORE_SQLITE_H

#include <sqlite3.h>

#include "catalog/names.h"
#include "store/store.h"

enum { STORE_STATEMENTS_MAX = 192, STORE_STAMP_BYTES = 22 };

struct store {
    sqlite3 *db;
    char *path;
    bool read_only;
    int64_t version; /* of the file's tables, as they were opened; 0 until that is known */
    unsigned busy_ms;
    struct progress *progress; /* of the open call, or of the import that is running; may be NULL */
    double wait_began_ms;
    bool wait_told, wait_cancelled;
    struct {
        const char *sql;
        sqlite3_stmt *statement;
    } prepared[STORE_STATEMENTS_MAX];
    size_t prepared_count;
    struct usage_info seen; /* of the store as it was when its file had this stamp (usage.c) */
    unsigned char stamp[STORE_STAMP_BYTES];
    bool has_seen;
};

/* One step of the file's history: what turns a store of version `index` into one of version `index + 1`. */
struct migration {
    const char *sql;
    int (*finish)(struct store *store, wt_error *err); /* what SQL cannot say, after it; may be NULL */
};

/* Brings the file to version `count`, all steps in one transaction. Errors: WT_ESTORE (the file is no store),
 * WT_ENEWER (its version is over count), WT_EREADONLY (steps are wanting, and it cannot be written). */
int wt__store_migrate(struct store *store, const struct migration *steps, size_t count, wt_error *err);
/* The same with the steps of this whichtool. */
int wt__store_update_schema(struct store *store, wt_error *err);

/* Looks at a file before the database may touch it: 0 for a store, an absent or an empty file. */
int wt__store_inspect(const char *path, bool read_only, wt_error *err);

/* The sentence and the code for what the database said last. */
int wt__sql_fail(struct store *store, wt_error *err);
int wt__sql_exec(struct store *store, const char *sql, wt_error *err);
/* One whole number, from a query without parameters. */
int wt__sql_number(struct store *store, const char *sql, int64_t *out, wt_error *err);

/* sql must have static storage. The statement is reset and without bindings. */
int wt__sql_prepare(struct store *store, const char *sql, sqlite3_stmt **out, wt_error *err);
/* 1: a row; 0: done, and the statement is reset. */
int wt__sql_step(struct store *store, sqlite3_stmt *statement, wt_error *err);
/* Ends a statement before its last row; NULL is a no-op. */
void wt__sql_reset(sqlite3_stmt *statement);
/* Both borrow until the statement is reset. */
int wt__sql_bind_text(sqlite3_stmt *statement, int at, struct str text);
int wt__sql_bind_blob(sqlite3_stmt *statement, int at, const void *bytes, size_t len);
/* The column's bytes, until the next step. */
struct str wt__sql_column(sqlite3_stmt *statement, int at);

/* A write transaction; the lock is taken at once, so that two writers queue rather than fail half way. */
int wt__sql_begin(struct store *store, wt_error *err);
/* Commits when rc is not negative, else rolls back. Returns rc, or the failure of the commit. */
int wt__sql_end(struct store *store, int rc, wt_error *err);
/* The generation that this transaction will have made. */
int wt__sql_next_generation(struct store *store, uint64_t *out, wt_error *err);
int wt__sql_set_generation(struct store *store, uint64_t generation, wt_error *err);

/* Exported names (aliases.c). *attempt begins at 0 and is moved on to one at which no tool's id is the name;
 * whether another tool has the name tells the unique column. Any tool: id 0 for one that is not stored yet. */
int wt__names_attempt(struct store *store, struct str provider, struct str name, unsigned *attempt,
                      char out[EXPORT_NAME_MAX + 1], wt_error *err);
/* Gives each tool without an exported name one, in the order of ids. */
int wt__names_fill(struct store *store, wt_error *err);
/* The row of a provider by its name, or by one that it had: 1, *id and its name in the arena; 0: there is none. */
int wt__provider_find(struct store *store, struct str name, int64_t *id, struct str *shown, struct arena *arena,
                      wt_error *err);

/* Reserved providers (reserved_names.c). The row of a server; *id 0 if its name is not reserved. */
int wt__reserved_find(struct store *store, struct str provider, int64_t *id, wt_error *err);
/* Takes the aliases from a provider and its name, within a transaction: they would lead other sources' tools into it,
 * or the server's out of it. */
int wt__reserved_drop_aliases(struct store *store, struct str provider, wt_error *err);
/* Refuses a change of a reserved provider with WT_EINVAL;
 * what: "cannot be imported into". To be called within the transaction of the change. */
int wt__reserved_refuse(struct store *store, struct str provider, const char *what, wt_error *err);
/* The same for the removal of one tool of it. */
int wt__reserved_refuse_tool(struct store *store, int64_t tool, wt_error *err);
/* Ends a reservation and forgets the server's approvals; does nothing if the name is not reserved. */
int wt__reserved_release(struct store *store, struct str provider, wt_error *err);

/* The model's row, 0 when the store has none of it; make adds it. Errors: WT_EMODEL (another dimension). */
int wt__sql_find_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);
int wt__sql_make_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);

/* Moves *client to the greatest client below it. sql selects the clients of a key: "... = ?1 AND client < ?2 ORDER BY
 * client DESC LIMIT 1", from an index that has the client behind the key, so that a step is one seek however many rows
 * a client has. Returns 1, or 0 after the last client. */
int wt__sql_next_client(struct store *store, const char *sql, int64_t key, int64_t *client, wt_error *err);

/* Usages of one client that teach about one tool. A client cannot move what a tool has learned from the others further
 * than so many usages do. */
#define CLIENT_TEACHES "100"

/* True if the label x of the usage u counts (store/store.h): no earlier usage of that client has the label with that
 * request, and fewer than CLIENT_TEACHES earlier usages of the client have it at all. The plus sign keeps SQLite from
 * reading all usages of the label in place of the tools of one usage. */
#define USAGE_COUNTS                                                                                                   \
    " (u.client IS NULL OR (NOT EXISTS (SELECT 1 FROM usage v CROSS JOIN usage_tool y ON y.usage = v.id"               \
    " WHERE v.client = u.client AND v.request = u.request AND v.id < u.id AND v.outcome <> 2 AND +y.label = x.label)"  \
    " AND (SELECT count(*) FROM (SELECT 1 FROM usage_tool z WHERE z.label = x.label AND z.client = u.client"           \
    " AND z.usage < u.id LIMIT " CLIENT_TEACHES ")) < " CLIENT_TEACHES "))"

/* A request as the store finds it again: whatever its case and punctuation. */
uint64_t wt__store_request_hash(struct str request);
/* 1 and *id when the store has the request, to the byte; else 0. */
int wt__store_request_row(struct store *store, struct str request, int64_t *id, wt_error *err);

/* Sets what version 9 of a store knows of usages beside their rows: the hash of the request's words, also where an
 * older version stored another one, and the sums that CLIENT_TEACHES changes. */
int wt__usage_fill_hashes(struct store *store, wt_error *err);

/* How many clients have to agree in a store with as many clients as this one has; at least 1. */
int wt__store_clients_wanted(struct store *store, size_t *out, wt_error *err);
/* How far clients are trusted when they name the tool for the very same request: above 0, at most 1. budget: clients
 * that may still be read for all tools of a lookup. */
int wt__store_trust(struct store *store, int64_t tool, size_t *budget, double *out, wt_error *err);
/* Lowers *uses, the usages in the tool's sum, to those that are believed. */
int wt__store_believed(struct store *store, int64_t tool, uint32_t *uses, wt_error *err);

/* The parts of an import (write.c), for changes that hold one. Begin opens a transaction with room for
 * it, end closes it, if it was opened, as wt__sql_end does. ids [count]: the tools' rows; NULL: not wanted. */
int wt__import_check(const struct tool *tools, size_t count, wt_error *err);
int wt__import_begin(struct store *store, wt_error *err);
int wt__import_end(struct store *store, int rc, wt_error *err);
int wt__import_within(struct store *store, const struct tool *tools, size_t count,
                      const struct store_import_options *options, int64_t *ids, struct store_changes *out,
                      wt_error *err);

/* What recorded use makes of changes of tools, inside their transaction. Labels without a tool that are this tool's id
 * are linked to it. */
int wt__usage_link(struct store *store, int64_t tool, struct str provider, struct str name, wt_error *err);
/* The arguments in a column of usage_tool, until the next step: "" where none are told. WT_ESTORE where they are not
 * what a store writes. */
int wt__usage_arguments(struct store *store, sqlite3_stmt *row, int at, struct str *out, wt_error *err);
/* That of every row. */
int wt__usage_check_calls(struct store *store, wt_error *err);
/* How many labels link to a tool. */
int wt__usage_count_links(struct store *store, int64_t *out, wt_error *err);
/* Begins a change of usage sums: *out is their new generation. */
int wt__usage_next_sums(struct store *store, uint64_t *out, wt_error *err);
/* The usages or their links have changed. */
int wt__usage_touch(struct store *store, wt_error *err);

#endif
