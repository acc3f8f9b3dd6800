/* internal.h: shared by the files of store/ and their tests.
 *
 * A statement is prepared once per store and cached by the address of its text, so that the SQL stands next to the code
 * that binds it. Binding borrowed memory fails only if out of memory, because lengths were checked. */
#ifndef WT_STORE_INTERNAL_H
#define WT_STORE_INTERNAL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "catalog/names.h"
#include "store/store.h"

enum { STORE_STATEMENTS_MAX = 192, STORE_STAMP_BYTES = 22 };

struct store {
    sqlite3 *db;
    char *path;
    bool read_only;
    int64_t version; /* version of the tables when they were opened; 0 until known */
    unsigned busy_ms;
    struct progress *progress; /* progress of the open call or the running import; may be NULL */
    double wait_began_ms;
    bool wait_reported, wait_cancelled;
    struct {
        const char *sql;
        sqlite3_stmt *statement;
    } prepared[STORE_STATEMENTS_MAX];
    size_t prepared_count;
    struct usage_info seen; /* counters of the store when its file had this stamp (usage.c) */
    unsigned char stamp[STORE_STAMP_BYTES];
    bool has_seen;
};

/* One step of the file's history: updates a store of version `index` to version `index + 1`. */
struct migration {
    const char *sql;
    int (*finish)(struct store *store, wt_error *err); /* runs after the SQL, for changes SQL cannot express; may be
                                                        * NULL */
};

/* Updates the file to version `count`, all steps in one transaction. Errors: WT_ESTORE (the file is not a store),
 * WT_ENEWER (its version is over count), WT_EREADONLY (the file is older and read-only). */
int wt__store_migrate(struct store *store, const struct migration *steps, size_t count, wt_error *err);
/* Updates the file to the version of this whichtool. */
int wt__store_update_schema(struct store *store, wt_error *err);

/* Checks a file before the database touches it. Returns 0 for a store, an absent or an empty file. */
int wt__store_inspect(const char *path, bool read_only, wt_error *err);

/* Reports the last failure of the database with its code. */
int wt__sql_fail(struct store *store, wt_error *err);
int wt__sql_exec(struct store *store, const char *sql, wt_error *err);
/* Reads one integer with a query without parameters. */
int wt__sql_number(struct store *store, const char *sql, int64_t *out, wt_error *err);

/* Prepares or reuses a statement. sql must have static storage. The statement is reset and has no bindings. */
int wt__sql_prepare(struct store *store, const char *sql, sqlite3_stmt **out, wt_error *err);
/* Returns 1 for a row, or 0 if done, with the statement reset. */
int wt__sql_step(struct store *store, sqlite3_stmt *statement, wt_error *err);
/* Ends a statement before its last row; NULL is a no-op. */
void wt__sql_reset(sqlite3_stmt *statement);
/* Both borrow the memory until the statement is reset. */
int wt__sql_bind_text(sqlite3_stmt *statement, int at, struct str text);
int wt__sql_bind_blob(sqlite3_stmt *statement, int at, const void *bytes, size_t len);
/* Returns the bytes of a column, valid until the next step. */
struct str wt__sql_column(sqlite3_stmt *statement, int at);

/* Begins a write transaction. Takes the lock at once, so that two writers queue instead of failing half way. */
int wt__sql_begin(struct store *store, wt_error *err);
/* Commits if rc is not negative, else rolls back. Returns rc, or the failure of the commit. */
int wt__sql_end(struct store *store, int rc, wt_error *err);
/* Returns the generation to be set by this transaction. */
int wt__sql_next_generation(struct store *store, uint64_t *out, wt_error *err);
int wt__sql_set_generation(struct store *store, uint64_t generation, wt_error *err);

/* Exported names (names.c). Increments *attempt, which starts at 0, until the name is not the id of a tool. The
 * unique column detects names of other tools. */
int wt__names_attempt(struct store *store, struct str provider, struct str name, unsigned *attempt,
                      char out[EXPORT_NAME_MAX + 1], wt_error *err);
/* Gives each tool without an exported name one, in order of id. */
int wt__names_fill(struct store *store, wt_error *err);
/* Finds a provider by its current or a former name. Returns 1 with *id and its current name in the arena, or 0 if
 * absent. */
int wt__provider_find(struct store *store, struct str name, int64_t *id, struct str *shown, struct arena *arena,
                      wt_error *err);

/* Reserved providers (names.c). Reads the row of a server; *id is 0 if its name is not reserved. */
int wt__reserved_find(struct store *store, struct str provider, int64_t *id, wt_error *err);
/* Removes the aliases from a provider and its name, within a transaction. An alias would redirect tools of other
 * sources into the provider, or tools of the server out of it. */
int wt__reserved_drop_aliases(struct store *store, struct str provider, wt_error *err);
/* Refuses a change of a reserved provider with WT_EINVAL. what is "cannot be imported into", for example. Call it
 * within the transaction of the change. */
int wt__reserved_refuse(struct store *store, struct str provider, const char *what, wt_error *err);
/* Works like wt__reserved_refuse for the removal of one tool of the provider. */
int wt__reserved_refuse_tool(struct store *store, int64_t tool, wt_error *err);
/* Ends a reservation and forgets the server's approvals; does nothing if the name is not reserved. */
int wt__reserved_release(struct store *store, struct str provider, wt_error *err);

/* Finds the row of the model, 0 if absent; make adds it. Errors: WT_EMODEL (another dimension). */
int wt__sql_find_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);
int wt__sql_make_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);

/* Moves *client to the greatest client below it. sql selects the clients of a key: "... = ?1 AND client < ?2 ORDER BY
 * client DESC LIMIT 1", from an index on (key, client). A step is thus one seek, however many rows a client has.
 * Returns 1, or 0 after the last client. */
int wt__sql_next_client(struct store *store, const char *sql, int64_t key, int64_t *client, wt_error *err);

/* Maximum usages of one client that teach about one tool. It limits the weight of a client compared with the others. */
#define CLIENT_TEACHES "100"

/* True if the label x of the usage u counts (store/store.h): no earlier usage of that client has the label with that
 * request, and fewer than CLIENT_TEACHES earlier usages of the client have it at all. The plus sign keeps SQLite from
 * reading all usages of the label in place of the tools of one usage. */
#define USAGE_COUNTS                                                                                                   \
    " (u.client IS NULL OR (NOT EXISTS (SELECT 1 FROM usage v CROSS JOIN usage_tool y ON y.usage = v.id"               \
    " WHERE v.client = u.client AND v.request = u.request AND v.id < u.id AND v.outcome <> 2 AND +y.label = x.label)"  \
    " AND (SELECT count(*) FROM (SELECT 1 FROM usage_tool z WHERE z.label = x.label AND z.client = u.client"           \
    " AND z.usage < u.id LIMIT " CLIENT_TEACHES ")) < " CLIENT_TEACHES "))"

/* Returns a hash of the request's words, equal for all cases and punctuation. */
uint64_t wt__store_request_hash(struct str request);
/* Returns 1 and *id if the store has the request, byte for byte; else 0. */
int wt__store_request_row(struct store *store, struct str request, int64_t *id, wt_error *err);

/* Fills the columns that version 9 of a store added to usages: hashes of the requests' words, which older versions
 * computed differently. Marks the sums affected by CLIENT_TEACHES as stale. */
int wt__usage_fill_hashes(struct store *store, wt_error *err);

/* Returns the number of clients that must agree in a store with as many clients as this one; at least 1. */
int wt__store_clients_wanted(struct store *store, size_t *out, wt_error *err);
/* Computes how far clients are trusted when they report the tool for the same request: above 0, at most 1. budget is
 * the number of clients that may still be read for all tools of a lookup. */
int wt__store_trust(struct store *store, int64_t tool, size_t *budget, double *out, wt_error *err);
/* Lowers *uses, the usages in the sum of the tool, to the number that is trusted. */
int wt__store_believed(struct store *store, int64_t tool, uint32_t *uses, wt_error *err);

/* Parts of an import (write.c), for changes that include one. Begin opens a transaction with a larger cache. End closes
 * the transaction, if open, like wt__sql_end. ids [count] receives the rows of the tools; may be NULL. */
int wt__import_check(const struct tool *tools, size_t count, wt_error *err);
int wt__import_begin(struct store *store, wt_error *err);
int wt__import_end(struct store *store, int rc, wt_error *err);
int wt__import_within(struct store *store, const struct tool *tools, size_t count,
                      const struct store_import_options *options, int64_t *ids, struct store_changes *out,
                      wt_error *err);

/* Updates of recorded use within the transaction of a change of tools. Links labels equal to this tool's id and without
 * a tool to it. */
int wt__usage_link(struct store *store, int64_t tool, struct str provider, struct str name, wt_error *err);
/* Reads the arguments in a column of usage_tool, valid until the next step; "" if not reported. Fails with WT_ESTORE if
 * they are not valid. */
int wt__usage_arguments(struct store *store, sqlite3_stmt *row, int at, struct str *out, wt_error *err);
/* Checks the arguments of every row. */
int wt__usage_check_calls(struct store *store, wt_error *err);
/* Counts the labels linked to a tool. */
int wt__usage_count_links(struct store *store, int64_t *out, wt_error *err);
/* Begins a change of usage sums: *out is their new generation. */
int wt__usage_next_sums(struct store *store, uint64_t *out, wt_error *err);
/* Notes that usages or their links have changed. */
int wt__usage_touch(struct store *store, wt_error *err);

/* ---------------------------------------------------------------- numbered names (names.c) */

/* A family is the rows of one provider that share a name but for a number, "name~2", "name~3", ..., as of their first
 * use in an import. It is read once per import and indexed by definition, so that frequent names stay cheap. Names that
 * differ only in the part replaced by the number share a family. */

enum { OWNER_MAX = 8 };

/* A source, and the folders above it that are sources themselves: older versions stored the folder for files in it. */
struct owner {
    struct str name;
    int64_t ids[OWNER_MAX];
    size_t count;
};

static inline bool wt__owner_has(const struct owner *owner, int64_t source)
{
    for (size_t i = 0; i < owner->count; i++)
        if (owner->ids[i] == source)
            return true;
    return false;
}

struct family;

/* All zero is empty. */
struct families {
    struct arena arena;
    struct map by_stem, by_definition;
    struct family *items;
    size_t capacity;
};

/* Reads the family of a name. *out is valid until the next call. */
int wt__family_open(struct families *families, struct store *store, int64_t provider, struct str name,
                    struct family **out, wt_error *err);
/* Returns the row with the same definition, arguments and source id; 0 if absent. */
int64_t wt__family_same(const struct families *families, const struct family *family, const struct tool *tool);
/* Returns the first row of the owner for which `taken` is false; 0 if absent. */
int64_t wt__family_own(struct family *family, const struct owner *owner, bool (*taken)(const void *, int64_t),
                       const void *context);
/* Writes the first free "name~N". */
int wt__family_number(struct family *family, struct store *store, char out[WT_MAX_NAME_BYTES + 1], wt_error *err);
void wt__families_dispose(struct families *families);

/* ---------------------------------------------------------------- words of requests (recorded.c) */

/* Two requests are the same if they have the same words in the same order, ignoring case, blanks and punctuation. They
 * are nearly the same if one has every content word of the other and few more. A replaced word makes another request
 * ("cancel" for "book", "Oslo" for "Rome"), and so does an added word that reverses it ("not", "off"). */

enum { REQUEST_WORDS_MAX = 64 }; /* distinct content words; a longer request is not near to any */

struct request_words {
    uint64_t hash;                         /* hash of all words in order, or of the bytes if there are no words */
    unsigned turning;                      /* bit set of the words that reverse a request */
    size_t count;                          /* over REQUEST_WORDS_MAX if there are more */
    uint64_t words[REQUEST_WORDS_MAX + 1]; /* hashes of the content words, ascending and unique */
};

/* Splits a request into words. Accepts any bytes. */
void wt__request_words(struct str request, struct request_words *out);

/* Returns 1 if the requests are the same. If they are nearly the same, returns common content words / all content
 * words. Otherwise returns 0. */
float wt__request_likeness(const struct request_words *a, const struct request_words *b);

#endif
