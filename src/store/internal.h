/* internal.h: declarations that the files of store/ and their tests share.
 *
 * Each statement is prepared once per store, and cached by the address of its SQL text. The SQL can therefore be in the
 * function that uses it. Binding fails only if out of memory, because the lengths of the values were checked before. */
#ifndef WT_STORE_INTERNAL_H
#define WT_STORE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "catalog/names.h"
#include "store/driver.h"

/* Updates the store to version `count`, all steps in one transaction. Errors: WT_ESTORE (the database is not a store),
 * WT_ENEWER (its version is over count), WT_EREADONLY (the store is older and read-only). */
int wt__store_migrate(struct store *store, const struct migration *steps, size_t count, wt_error *err);
int wt__sql_exec(struct store *store, const char *sql, wt_error *err);
/* Reads one integer with a query without parameters. */
int wt__sql_number(struct store *store, const char *sql, int64_t *out, wt_error *err);

static inline struct sql_value sql_integer(int64_t value)
{
    return (struct sql_value){.kind = SQL_VALUE_INTEGER, .integer = value};
}

static inline struct sql_value sql_text(struct str text)
{
    return (struct sql_value){.kind = SQL_VALUE_TEXT, .bytes = text};
}

static inline struct sql_value sql_string(const char *text)
{
    return sql_text(wt__str(text));
}

static inline struct sql_value sql_blob(const void *bytes, size_t len)
{
    return (struct sql_value){.kind = SQL_VALUE_BLOB, .bytes = {bytes, len}};
}

static inline struct sql_value sql_null(void)
{
    return (struct sql_value){.kind = SQL_VALUE_NULL};
}

/* An array of `count` items, which are `stride` values apart. */
static inline struct sql_value sql_array(const struct sql_value *items, size_t count, size_t stride)
{
    return (struct sql_value){.kind = SQL_VALUE_ARRAY, .integer = (int64_t)count, .items = items, .stride = stride};
}

/* The value of a client, which is 0 for usages without a client. Ends the values in this case, because the statement
 * then compares the client with NULL instead of a parameter. */
static inline struct sql_value sql_client(int64_t client)
{
    return client ? sql_integer(client) : (struct sql_value){.kind = SQL_VALUES_END};
}

/* The values of ?1, ?2, ... in this order. Parameters without a value are NULL. */
#define SQL_VALUES(...) ((const struct sql_value[]){__VA_ARGS__, {.kind = SQL_VALUES_END}})

/* Prepares a statement, or resets and reuses the cached statement, and binds the values. values may be NULL if the
 * statement has no parameters. sql must have static storage. Declare the statement with WT_CLEANUP(wt__sql_close), so
 * that it is reset at the end of the scope. */
int wt__sql_open(struct store *store, const char *sql, const struct sql_value *values, struct sql_statement **out,
                 wt_error *err);
/* Steps to the next row. Returns 1 for a row, or 0 after the last row. Resets the statement unless it returns 1. */
int wt__sql_step(struct store *store, struct sql_statement *statement, wt_error *err);
/* Ends a statement before its last row; NULL is a no-op. */
void wt__sql_reset(struct sql_statement *statement);
void wt__sql_close(struct sql_statement **statement);
/* Returns a view of the bytes of a column, valid until the next step. */
struct str wt__sql_column(struct sql_statement *statement, int at);
/* Returns the integer in a column; 0 for NULL. */
int64_t wt__sql_integer(struct sql_statement *statement, int at);
/* Returns a copy of the bytes of a column in the arena. Its ptr is NULL if out of memory. */
struct str wt__sql_copy(struct sql_statement *statement, int at, struct arena *arena);

/* Runs a statement up to its first row. Returns 1 if it has a row, else 0. */
int wt__sql_run(struct store *store, const char *sql, const struct sql_value *values, wt_error *err);
/* Works like wt__sql_run, and writes the integer in the first column of the row to *out. */
int wt__sql_find(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, wt_error *err);
/* Works like wt__sql_find for a statement that always returns a row, such as "INSERT ... RETURNING id". Returns 0. */
int wt__sql_insert(struct store *store, const char *sql, const struct sql_value *values, int64_t *id, wt_error *err);
/* Returns the number of rows that the last statement changed. */
int64_t wt__sql_changes(struct store *store);
/* Writes the integers in the first column of at most `max` rows to out. Returns the number written. */
int wt__sql_integers(struct store *store, const char *sql, const struct sql_value *values, int64_t *out, size_t max,
                     wt_error *err);

/* Reads a row into an item of a list, with its texts in the arena. Returns 0, or -1 if out of memory. */
typedef int (*sql_read_row)(struct sql_statement *row, struct arena *arena, void *item);
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

/* A read transaction that ends with a C scope. If the caller has begun a transaction, it is used instead. Declare it as
 * `WT_CLEANUP(wt__end_read_scope) struct read_scope scope = {0};` */
struct read_scope {
    struct store *store; /* NULL if the transaction is the caller's */
};
int wt__begin_read_scope(struct read_scope *scope, struct store *store, wt_error *err);
void wt__end_read_scope(struct read_scope *scope);

enum { SEGMENT_ID_DAYS = 90 }; /* time for which ids of applied segments are kept */

/* Begins a write transaction. Takes the lock at once, so that two writers queue instead of failing half way. */
int wt__sql_begin(struct store *store, wt_error *err);
/* Commits if rc is not negative, else rolls back. Returns rc, or the failure of the commit. */
int wt__sql_end(struct store *store, int rc, wt_error *err);
/* Begin and end a write transaction that changes many rows. wt__sql_end_bulk accepts a transaction that has ended. */
int wt__sql_begin_bulk(struct store *store, wt_error *err);
int wt__sql_end_bulk(struct store *store, int rc, wt_error *err);
/* Reads the generation that this transaction will set. */
int wt__sql_next_generation(struct store *store, uint64_t *out, wt_error *err);
int wt__sql_set_generation(struct store *store, uint64_t generation, wt_error *err);
int wt__sql_increment_generation(struct store *store, wt_error *err);

/* Exported names (names.c). Writes the exported name number *attempt of a tool, and increments *attempt while the name
 * is the id of another tool. *attempt starts at 0. The caller increments *attempt and calls again if the unique column
 * rejects the name. */
int wt__names_attempt(struct store *store, struct str provider, struct str name, unsigned *attempt,
                      char out[EXPORT_NAME_MAX + 1], wt_error *err);
/* Gives an exported name to each tool that has none, in order of id. */
int wt__names_fill(struct store *store, wt_error *err);
/* Finds a provider by its current or a former name. Returns 1 with *id and its current name in the arena, or 0 if
 * absent. */
int wt__provider_find(struct store *store, struct str name, int64_t *id, struct str *shown, struct arena *arena,
                      wt_error *err);

/* Reserved providers (names.c). Reads the row id of a server; *id is 0 if the provider is not reserved. */
int wt__reserved_find(struct store *store, struct str provider, int64_t *id, wt_error *err);
/* Removes the aliases that have this name or lead to the provider of this name. Call it within a transaction. An alias
 * would redirect tools of other sources into the provider, or tools of the server out of it. */
int wt__reserved_drop_aliases(struct store *store, struct str provider, wt_error *err);
/* Refuses a change of a reserved provider with WT_EINVAL. what is "cannot be imported into", for example. Call it
 * within the transaction of the change. */
int wt__reserved_refuse(struct store *store, struct str provider, const char *what, wt_error *err);
/* Works like wt__reserved_refuse for the removal of a tool: refuses it if the tool's provider is reserved. */
int wt__reserved_refuse_tool(struct store *store, int64_t tool, wt_error *err);
/* Fail with WT_EINVAL if a provider has tools of STORE_COPIED_SOURCE, or if a tool is one. what: as in
 * wt__reserved_refuse. */
int wt__copied_refuse(struct store *store, struct str provider, const char *what, wt_error *err);
int wt__copied_refuse_tool(struct store *store, int64_t tool, wt_error *err);
/* Ends a reservation and forgets the server's approvals; does nothing if the name is not reserved. */
int wt__reserved_release(struct store *store, struct str provider, wt_error *err);

/* Finds the row of the model; *id is 0 if absent. wt__sql_make_model adds an absent row. Errors: WT_EMODEL (the stored
 * model has another dimension). */
int wt__sql_find_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);
int wt__sql_make_model(struct store *store, const struct vector_set *set, int64_t *id, wt_error *err);

/* Maximum usages of one client that count for one tool. It limits the influence of one client. */
#define CLIENT_TEACHES "100"

/* SQL condition: the label x of the usage u counts (struct usage_query). The usage has no client, or both are true:
 *
 *   - the client has no earlier usage with the same request and label, apart from failed usages
 *   - fewer than CLIENT_TEACHES earlier usages of the client have the label
 *
 * The plus sign keeps SQLite from using the index of labels. With this index, SQLite would read all usages of the
 * label. */
#define USAGE_COUNTS                                                                                                   \
    " (u.client IS NULL OR (NOT EXISTS (SELECT 1 FROM usage v CROSS JOIN usage_tool y ON y.usage = v.id"               \
    " WHERE v.client = u.client AND v.request = u.request AND v.id < u.id AND v.outcome <> 2 AND +y.label = x.label)"  \
    " AND (SELECT count(*) FROM (SELECT 1 FROM usage_tool z WHERE z.label = x.label AND z.client = u.client"           \
    " AND z.usage < u.id LIMIT " CLIENT_TEACHES ") o) < " CLIENT_TEACHES "))"

/* Returns a hash of the request's words. Case, blanks and punctuation do not change the hash. */
uint64_t wt__store_request_hash(struct str request);
/* Returns 1 and *id if the store has the request, byte for byte; else 0. */
int wt__store_request_row(struct store *store, struct str request, int64_t *id, wt_error *err);

/* Finishes the migration to version 9. Recomputes the hashes of the requests, copies them to the new column usage.hash,
 * and creates the index usage_hash. Marks the sums affected by CLIENT_TEACHES as stale. */
int wt__usage_fill_hashes(struct store *store, wt_error *err);

/* Computes the number of clients that must make the same report before it counts in full. The number is at least 1, and
 * grows with the number of clients in the store. */
int wt__store_clients_wanted(struct store *store, size_t *out, wt_error *err);
/* Computes the weight of clients' reports of the tool for the same request: above 0, at most 1. *budget: number of
 * clients that the lookup may still read for all its tools. The number of clients read is subtracted from *budget. */
int wt__store_trust(struct store *store, int64_t tool, size_t *budget, double *out, wt_error *err);
/* Lowers *uses, the number of usages in the sum of the tool, to the number of trusted usages. */
int wt__store_believed(struct store *store, int64_t tool, uint32_t *uses, wt_error *err);

/* Parts of an import (import.c), for changes that include an import. ids [count] receives the ids of the tools; may be
 * NULL. */
int wt__import_check(const struct tool *tools, size_t count, wt_error *err);
int wt__import_within(struct store *store, const struct tool *tools, size_t count,
                      const struct store_import_options *options, int64_t *ids, struct store_changes *out,
                      wt_error *err);

/* Links labels without a tool to this tool if they equal its id "provider/name". Call it within the transaction that
 * adds the tool. */
int wt__usage_link(struct store *store, int64_t tool, struct str provider, struct str name, wt_error *err);
/* Reads the arguments of a call from a column of usage_tool. *out is valid until the next step, and empty if the
 * arguments were not reported. Fails with WT_ESTORE if the arguments are not a valid JSON object. */
int wt__usage_arguments(struct store *store, struct sql_statement *row, int at, struct str *out, wt_error *err);
/* Checks the arguments of every row. */
int wt__usage_check_calls(struct store *store, wt_error *err);
/* Counts the labels linked to a tool. */
int wt__usage_count_links(struct store *store, int64_t *out, wt_error *err);
/* Begins a change of usage sums: increments sums_generation, and writes it to *out. */
int wt__usage_next_sums(struct store *store, uint64_t *out, wt_error *err);
/* Increments usage_generation, because usages or their links to tools have changed. */
int wt__usage_touch(struct store *store, wt_error *err);

/* ---------------------------------------------------------------- numbered names (names.c) */

/* A family is the tools of one provider whose names are "name~2", "name~3", ... with the same "name". An import reads a
 * family at the first use of the name, and indexes it by definition, so that frequent names stay cheap. A name that is
 * too long for a number is cut first. Names that differ only after the cut share a family. */

enum { OWNER_MAX = 8 };

/* A source, and the folders above it that are sources too. Older versions stored a folder as the source of the files in
 * it. */
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
    struct map by_stem;       /* (provider, name without the number) -> index in items */
    struct map by_definition; /* (index in items, hash of a definition) -> index in the family's rows */
    struct family *items;
    size_t capacity;
};

/* Finds the family of a name; reads it on first use. *out is valid until the next call. */
int wt__family_open(struct families *families, struct store *store, int64_t provider, struct str name,
                    struct family **out, wt_error *err);
/* Returns the id of the family's tool with the same definition, schema and source id as `tool`; 0 if absent. */
int64_t wt__family_same(const struct families *families, const struct family *family, const struct tool *tool);
/* Returns the id of the family's first tool whose source belongs to the owner and for which `taken` is false; 0 if
 * absent. */
int64_t wt__family_own(struct family *family, const struct owner *owner, bool (*taken)(const void *, int64_t),
                       const void *context);
/* Writes the next "name~N" that no tool of the provider has. */
int wt__family_number(struct family *family, struct store *store, char out[WT_MAX_NAME_BYTES + 1], wt_error *err);
void wt__families_dispose(struct families *families);

/* ---------------------------------------------------------------- words of requests (recorded.c) */

/* Two requests are the same if they have the same words in the same order, ignoring case, blanks and punctuation. They
 * are nearly the same if one request has every content word of the other and few more words. A replaced word makes
 * another request ("cancel" for "book", "Oslo" for "Rome"). So does an added word that reverses the request ("not",
 * "off"). */

enum { REQUEST_WORDS_MAX = 64 }; /* maximum distinct content words of a request that is compared for near equality */

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
