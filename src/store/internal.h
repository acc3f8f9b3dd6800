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
    int64_t version;                    /* version of the tables when they were opened; 0 until known */
    unsigned busy_ms;                   /* maximum wait for a lock */
    struct progress *progress;          /* progress of the open call or the running import; may be NULL */
    double wait_began_ms;               /* start of the last wait for a lock, on the clock of wt__now_ms */
    bool wait_reported, wait_cancelled; /* state of that wait: it is shown as a phase; the user cancelled it */
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

/* A value for a parameter of a statement. Text and bytes are borrowed until the statement is reset. */
struct sql_value {
    enum { SQL_VALUES_END, SQL_VALUE_INTEGER, SQL_VALUE_TEXT, SQL_VALUE_BLOB, SQL_VALUE_NULL } kind;
    int64_t integer;
    struct str bytes;
};

static inline struct sql_value sql_integer(int64_t value)
{
    return (struct sql_value){SQL_VALUE_INTEGER, value, {0}};
}

static inline struct sql_value sql_text(struct str text)
{
    return (struct sql_value){SQL_VALUE_TEXT, 0, text};
}

static inline struct sql_value sql_string(const char *text)
{
    return sql_text(wt__str(text));
}

static inline struct sql_value sql_blob(const void *bytes, size_t len)
{
    return (struct sql_value){SQL_VALUE_BLOB, 0, {bytes, len}};
}

static inline struct sql_value sql_null(void)
{
    return (struct sql_value){SQL_VALUE_NULL, 0, {0}};
}

/* The values of ?1, ?2, ... in this order. Parameters without a value are NULL. */
#define SQL_VALUES(...) ((const struct sql_value[]){__VA_ARGS__, {SQL_VALUES_END, 0, {0}}})

/* Prepares or reuses a statement, which is reset first, and binds the values; values may be NULL if the statement has
 * no parameters. sql must have static storage. Declare the statement with WT_CLEANUP(wt__sql_close), so that it is
 * reset at the end of the scope. */
int wt__sql_open(struct store *store, const char *sql, const struct sql_value *values, sqlite3_stmt **out,
                 wt_error *err);
/* Returns 1 for a row, or 0 if done, with the statement reset. */
int wt__sql_step(struct store *store, sqlite3_stmt *statement, wt_error *err);
/* Ends a statement before its last row; NULL is a no-op. */
void wt__sql_reset(sqlite3_stmt *statement);
void wt__sql_close(sqlite3_stmt **statement);
/* Return the bytes of a column: a view valid until the next step, or a copy in the arena, whose ptr is NULL if out of
 * memory. */
struct str wt__sql_column(sqlite3_stmt *statement, int at);
struct str wt__sql_copy(sqlite3_stmt *statement, int at, struct arena *arena);

/* Runs a statement up to its first row. Returns 1 if it has a row, else 0. */
int wt__sql_run(struct store *store, const char *sql, const struct sql_value *values, wt_error *err);
/* Works like wt__sql_run, and writes the integer in the first column of the row to *out. */
int wt__sql_find(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, wt_error *err);
/* Writes the integers in the first column of at most `max` rows. Returns the number written. */
int wt__sql_integers(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, size_t max,
                     wt_error *err);

/* Reads a row into an item of a list, with its texts in the arena. Returns 0, or -1 if out of memory. */
typedef int (*sql_read_row)(sqlite3_stmt *row, struct arena *arena, void *item);
/* Reads all rows into an array of items of `size` bytes, in the arena. *out and *count are NULL and 0 on error. */
int wt__sql_list(struct store *store, const char *sql, const struct sql_value *values, sql_read_row read, size_t size,
                 struct arena *arena, void **out, size_t *count, wt_error *err);
/* Works like wt__sql_list for the integers in the first column. */
int wt__sql_list_integers(struct store *store, const char *sql, const struct sql_value *values, struct arena *arena,
                          int64_t **out, size_t *count, wt_error *err);
/* Reads the keys in the first three columns (id, generation, provider) of at most `max` rows. Returns the number
 * written. */
int wt__sql_keys(struct store *store, const char *sql, const struct sql_value *values, struct store_key *keys,
                 size_t max, wt_error *err);

/* A read transaction for one scope, unless the caller has begun a transaction:
 * `WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};` */
struct read_scope {
    struct store *store; /* NULL if the transaction is the caller's */
};
int wt__begin_read_scope(struct read_scope *scope, struct store *store, wt_error *err);
void wt__end_read_scope(struct read_scope *scope);

/* Begins a write transaction. Takes the lock at once, so that two writers queue instead of failing half way. */
int wt__sql_begin(struct store *store, wt_error *err);
/* Commits if rc is not negative, else rolls back. Returns rc, or the failure of the commit. */
int wt__sql_end(struct store *store, int rc, wt_error *err);
/* Reads the generation that this transaction will set. */
int wt__sql_next_generation(struct store *store, uint64_t *out, wt_error *err);
int wt__sql_set_generation(struct store *store, uint64_t generation, wt_error *err);
int wt__sql_increment_generation(struct store *store, wt_error *err);

/* Exported names (names.c). Increments *attempt, which starts at 0, until the name is not the id of a tool. The
 * unique column detects names of other tools. */
int wt__names_attempt(struct store *store, struct str provider, struct str name, unsigned *attempt,
                      char out[EXPORT_NAME_MAX + 1], wt_error *err);
/* Gives an exported name to each tool that has none, in order of id. */
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
/* Works like wt__reserved_refuse for the removal of a tool: refuses it if the tool's provider is reserved. */
int wt__reserved_refuse_tool(struct store *store, int64_t tool, wt_error *err);
/* Ends a reservation and forgets the server's approvals; does nothing if the name is not reserved. */
int wt__reserved_release(struct store *store, struct str provider, wt_error *err);

/* Finds the row of the model; *id is 0 if absent. wt__sql_make_model adds an absent row. Errors: WT_EMODEL (the stored
 * model has another dimension). */
int wt__sql_find_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);
int wt__sql_make_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);

/* Maximum usages of one client that teach about one tool. It limits the weight of a client compared with the others. */
#define CLIENT_TEACHES "100"

/* True if the label x of the usage u counts (store/store.h): no earlier usage of that client has the label with that
 * request, and fewer than CLIENT_TEACHES earlier usages of the client have the label. The plus sign keeps SQLite from
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

/* Fills the column that version 9 of a store added to usages, the hash of the request's words, after it has recomputed
 * the hashes of the requests. Marks the sums affected by CLIENT_TEACHES as stale. */
int wt__usage_fill_hashes(struct store *store, wt_error *err);

/* Returns the number of clients that must agree, which grows with the number of clients in the store; at least 1. */
int wt__store_clients_wanted(struct store *store, size_t *out, wt_error *err);
/* Computes the weight of clients' reports of the tool for the same request: above 0, at most 1. *budget is the number
 * of clients that may still be read for all tools of a lookup; it is lowered by the number read. */
int wt__store_trust(struct store *store, int64_t tool, size_t *budget, double *out, wt_error *err);
/* Lowers *uses, the usages in the sum of the tool, to the number that is trusted. */
int wt__store_believed(struct store *store, int64_t tool, uint32_t *uses, wt_error *err);

/* Parts of an import (write.c), for changes that include an import. wt__import_begin opens a transaction with a larger
 * cache. wt__import_end closes the transaction, if open, like wt__sql_end. ids [count] receives the ids of the tools;
 * may be NULL. */
int wt__import_check(const struct tool *tools, size_t count, wt_error *err);
int wt__import_begin(struct store *store, wt_error *err);
int wt__import_end(struct store *store, int rc, wt_error *err);
int wt__import_within(struct store *store, const struct tool *tools, size_t count,
                      const struct store_import_options *options, int64_t *ids, struct store_changes *out,
                      wt_error *err);

/* Links the labels that equal this tool's id, "provider/name", and have no tool, to the tool. Call it within the
 * transaction that adds the tool. */
int wt__usage_link(struct store *store, int64_t tool, struct str provider, struct str name, wt_error *err);
/* Reads the arguments of a call in a column of usage_tool, valid until the next step; "" if not reported. Fails with
 * WT_ESTORE if they are not a valid JSON object. */
int wt__usage_arguments(struct store *store, sqlite3_stmt *row, int at, struct str *out, wt_error *err);
/* Checks the arguments of every row. */
int wt__usage_check_calls(struct store *store, wt_error *err);
/* Counts the labels linked to a tool. */
int wt__usage_count_links(struct store *store, int64_t *out, wt_error *err);
/* Begins a change of usage sums: increments sums_generation, and writes it to *out. */
int wt__usage_next_sums(struct store *store, uint64_t *out, wt_error *err);
/* Increments usage_generation, because usages or their links to tools have changed. */
int wt__usage_touch(struct store *store, wt_error *err);

/* ---------------------------------------------------------------- numbered names (names.c) */

/* A family is the rows of one provider whose names are "name~2", "name~3", ... for one name. An import reads a family
 * once, at the first use of the name, and indexes it by definition, so that frequent names stay cheap. A name that is
 * too long for a number is cut first, so names that differ only behind the cut share a family. */

enum { OWNER_MAX = 8 };

/* A source, and the folders above it that are sources too: older versions stored the folder as the source of its
 * files. */
struct owner {
    struct str name;        /* name of the source */
    int64_t ids[OWNER_MAX]; /* [count] rows of the source and of the folders */
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

/* The families of an import. A zeroed struct has no families. */
struct families {
    struct arena arena;
    struct map by_stem;       /* provider and name without the number -> index of items */
    struct map by_definition; /* index of items, and hash of a definition -> index of the family's rows */
    struct family *items;
    size_t capacity;
};

/* Finds the family of a name; reads it on first use. *out is valid until the next call. */
int wt__family_open(struct families *families, struct store *store, int64_t provider, struct str name,
                    struct family **out, wt_error *err);
/* Returns the row with the same definition, schema and source id as the tool; 0 if absent. */
int64_t wt__family_same(const struct families *families, const struct family *family, const struct tool *tool);
/* Returns the first row whose source belongs to the owner and for which `taken` is false; 0 if absent. */
int64_t wt__family_own(struct family *family, const struct owner *owner, bool (*taken)(const void *, int64_t),
                       const void *context);
/* Writes the next "name~N" that no tool of the provider has. */
int wt__family_number(struct family *family, struct store *store, char out[WT_MAX_NAME_BYTES + 1], wt_error *err);
void wt__families_dispose(struct families *families);

/* ---------------------------------------------------------------- words of requests (recorded.c) */

/* Two requests are the same if they have the same words in the same order, ignoring case, blanks and punctuation. They
 * are nearly the same if one request has every content word of the other and few more words. A request with a replaced
 * word is another request ("cancel" for "book", "Oslo" for "Rome"), and so is a request with an added word that
 * reverses it ("not", "off"). */

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
