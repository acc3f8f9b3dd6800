/* store.h: the catalogue on disk. The interface hides the database underneath.
 *
 * A store is one file. Every change is one transaction: all of it or nothing. A change reported as stored survives a
 * kill at any moment. One process writes at a time; another writer waits up to busy_ms. Only one thread may use a
 * struct store at a time. Threads that share a store must lock it, or each thread opens a reader.
 *
 * The generation of the store grows with every change of tools or vectors. A derived file records the generation from
 * which it was built. It is stale if the store's generation differs, which one quick read detects. Every tool has an id
 * that is never reused, and the generation of its last change. By these pairs, the builder of a derived file finds the
 * new and changed tools.
 *
 * All functions can fail with WT_ESTORE (the file is damaged, or the database failed), WT_EBUSY, WT_ENOMEM or WT_EIO;
 * writes also with WT_EREADONLY or WT_EFULL. docs/store.md describes the file. */
#ifndef WT_STORE_STORE_H
#define WT_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/tool.h"
#include "catalog/usage.h"

struct store;

enum {
    STORE_BUSY_MS = 10000,     /* default timeout for the lock of another writer */
    STORE_NOTICE_MS = 500,     /* a longer wait is reported as a phase of the progress */
    STORE_POLL_MS = 500,       /* maximum age of the counters of a database server (wt__store_usage_info) */
    STORE_RECONNECT_MS = 5000, /* maximum wait for a database server to come back */
    STORE_MAX_ROW = 16 << 20,  /* maximum bytes of one tool with its schema and texts */
    STORE_MAX_DIM = 65536,     /* maximum dimension of a vector */
};

/* Progress phase while the store waits for a lock. Static. */
#define STORE_WAITING "waiting for another process that is writing to the store"

struct store_options {
    bool read_only;
    unsigned busy_ms;          /* 0 for STORE_BUSY_MS */
    struct progress *progress; /* receives waits for a lock; must outlive the store; may be NULL */
    bool as_replica;           /* allow the changes of store/rows.h. Other stores that are replicas only read */
};

/* Opens the store at path. An absent or empty file becomes a new store, with its parent folders, unless read_only. An
 * older store is updated. A file without write permission is opened for reading; writes then fail with WT_EREADONLY.
 * ":memory:" is a private store without a file. options may be NULL for the defaults.
 * Errors: WT_ENOTFOUND (read_only, no file), WT_ESTORE (not a store; the file is left untouched), WT_ENEWER. */
int wt__store_open(struct store **out, const char *path, const struct store_options *options, wt_error *err);
void wt__store_close(struct store *store); /* NULL is a no-op */

/* Limits the size of the store's file; 0 removes the limit. A change that needs more fails with WT_ETOOLONG, and
 * changes nothing. A file that is larger already keeps its size. A database server ignores the limit, because its
 * owner sets limits there. Holds for changes of this connection. */
int wt__store_limit(struct store *store, uint64_t bytes, wt_error *err);

/* Opens one more connection to the file of an open store, for reading in parallel to its writer. Fails with WT_EINVAL
 * for a private store. */
int wt__store_open_reader(struct store **out, const struct store *of, wt_error *err);
bool wt__store_private(const struct store *store);

/* Bytes of an empty store. Opening a store of an image takes microseconds, while a new store must create its tables. */
struct store_image {
    unsigned char *bytes;
    size_t len;
};
int wt__store_image_make(struct store_image *out, wt_error *err);
void wt__store_image_dispose(struct store_image *image);
/* Opens a private store that is empty and read-only: changes fail with WT_EREADONLY. The image must outlive it. */
int wt__store_open_image(struct store **out, const struct store_image *image, wt_error *err);
/* True if the store holds no lock. A transaction that could not be ended, for example if out of memory, ends when the
 * store is closed. */
bool wt__store_idle(const struct store *store);

/* Sets the maximum wait for a lock. With 0, a locked store fails with WT_EBUSY at once. */
void wt__store_set_wait(struct store *store, unsigned busy_ms);

/* True if changes fail with WT_EREADONLY: the file cannot be written, or the store is a replica. */
bool wt__store_read_only(const struct store *store);
/* Returns the writer that changes of this replica are refused with; NULL if the store is not a replica. "" if the
 * writer is unknown. */
const char *wt__store_replica_of(const struct store *store);
/* Fails with WT_EREADONLY and a message that begins with REPLICA_REFUSAL and names the writer, but no file. */
#define REPLICA_REFUSAL "this store is a replica"
int wt__fail_replica(wt_error *err, const char *writer);

/* Starts a read transaction: until its end every read sees the store as of one moment. It does not allow writes, and
 * does not nest. Commits of other processes wait meanwhile, so keep it short. */
int wt__store_read_begin(struct store *store, wt_error *err);
void wt__store_read_end(struct store *store);

int wt__store_generation(struct store *store, uint64_t *out, wt_error *err);

/* Checks the whole file: pages, indexes, constraints and references. Fails with WT_ESTORE on the first damage. */
int wt__store_check(struct store *store, wt_error *err);

/* ---------------------------------------------------------------- changes */

/* Source of the tools that a tenant's own store copies from the shared catalogue (tenants/own.h). Their removal, and
 * that of a provider with such tools, is refused with WT_EINVAL. */
#define STORE_COPIED_SOURCE ":shared:"

struct store_import_options {
    struct str source;               /* path of the tools' file or folder, or a name if they have no path */
    bool copied;                     /* the source is STORE_COPIED_SOURCE, which other imports cannot name */
    bool sync;                       /* remove stored tools of this source, and of sources below it, that are absent
                                      * from this import */
    const struct skipped_tool *left; /* [left_count] tools of the source that the reader skipped; sync keeps their
                                      * stored rows */
    size_t left_count;
    struct str reviewed; /* reserved provider of these tools (store/review.h), or "". The tools replace the provider's
                          * tools of the same names. Sync removes the provider's other tools, whatever their source */
    int64_t *ids;        /* [number of tools] receives the ids of the tools; may be NULL */
    struct progress *progress; /* may be NULL */
    struct arena *arena;       /* for the texts of collisions; NULL to only count them */
};

/* A tool stored under another name because a tool of another source already has its name. */
struct store_collision {
    struct str provider, name; /* current name */
    struct str taken;          /* the name it would have */
    struct str source, other;  /* source of this tool, and source of the tool with the name */
};

struct store_changes {
    size_t added, updated, unchanged, removed;
    size_t kept;       /* tools that sync kept because the reader skipped them */
    size_t collisions; /* number of added tools with a collision */
    struct store_collision first[WT_MAX_COLLISIONS];
};

/* Imports tools in one transaction. A tool with unchanged definition and fields counts as unchanged. A changed tool
 * keeps its id and loses its vectors. A tool belongs to the last source that imported it.
 *
 * If the store already has a tool with the provider and name of an imported tool:
 *
 *   - the same definition, from any source, is the same tool
 *   - another definition from the same source is the same tool, and changes it
 *   - another definition from another source is another tool, stored as "name~2", "name~3", ...
 *
 * A numbered tool keeps the row that its source used before, or else gets the first free name. The same rules apply to
 * a name that comes twice in one import.
 *
 * Errors: WT_ETOOLONG (over WT_MAX_TOOLS, WT_MAX_NAME_BYTES, WT_MAX_DEFINITION_BYTES or STORE_MAX_ROW), WT_EFORMAT (a
 * tool has no name), WT_EINVAL (the provider of a tool is reserved), WT_ECANCELLED. On an error nothing is changed. */
int wt__store_import(struct store *store, const struct tool *tools, size_t count,
                     const struct store_import_options *options, struct store_changes *out, wt_error *err);

/* Removes tools by id. Returns the number of tools removed. Errors: WT_EINVAL (the provider of a tool is reserved). */
int64_t wt__store_remove(struct store *store, const int64_t *ids, size_t count, wt_error *err);
/* Removes all tools of a provider. Returns the number of tools removed. Errors: WT_EINVAL (the provider is
 * reserved). */
int64_t wt__store_remove_provider(struct store *store, struct str provider, wt_error *err);

/* Renames a provider. Later imports of the old name are stored under the new name. Its tools keep their usages, get new
 * exported names, and count as changed. Returns the number of tools.
 * Errors: WT_ENOTFOUND (no such provider), WT_EINVAL (another provider has or had the name; one of the two is
 * reserved). */
int64_t wt__store_rename_provider(struct store *store, struct str provider, struct str name, wt_error *err);

/* ---------------------------------------------------------------- reading tools */

struct store_key {
    int64_t id;
    uint64_t generation; /* generation of the store when this tool last changed */
    int64_t provider;    /* number of the provider, never reused */
};

/* Called once per tool, in order of id. The views of the tool last until the callback returns; source and own_name are
 * empty. A non-zero result stops the visit and is returned by the function that visits. A negative result is a WT_E...
 * code, and the callback has filled the caller's error. */
typedef int (*store_tool_visit)(void *context, const struct store_key *key, const struct tool *tool);

/* Visits every tool with an id over after_id. Sees the store as of one moment. */
int wt__store_each(struct store *store, int64_t after_id, store_tool_visit visit, void *context, wt_error *err);

/* Writes up to max keys of tools with an id over after_id, in order of id. Returns the number written. */
int wt__store_keys(struct store *store, int64_t after_id, struct store_key *keys, size_t max, wt_error *err);

/* Copies the strings of a tool into the arena, except source and own_name. */
int wt__store_copy_tool(struct tool *tool, struct arena *arena, wt_error *err);

/* Reads the tools with these ids into out [count], with strings in the arena. A missing tool has an empty name. Returns
 * the number of tools found. */
int wt__store_get(struct store *store, const int64_t *ids, size_t count, struct arena *arena, struct tool *out,
                  wt_error *err);

/* Finds tools by name. Writes up to max ids in ascending order. Returns the number written. provider is NULL for any
 * provider. */
int wt__store_find_name(struct store *store, const struct str *provider, struct str name, int64_t *ids, size_t max,
                        wt_error *err);
/* Works like wt__store_find_name for the tools with this source id. */
int wt__store_find_source_id(struct store *store, struct str source_id, int64_t *ids, size_t max, wt_error *err);
/* Returns 1 and *id if a tool has this exported name, else 0. */
int wt__store_find_export_name(struct store *store, struct str export_name, int64_t *id, wt_error *err);

/* Lists the ids of a provider's tools in ascending order, in the arena. provider is NULL for all; limit is 0 for no
 * limit. A provider without tools gives an empty list. */
int wt__store_list(struct store *store, const struct str *provider, size_t limit, size_t offset, struct arena *arena,
                   int64_t **ids, size_t *count, wt_error *err);

/* Lists the sources with this prefix that have tools, sorted, in the arena. */
int wt__store_sources(struct store *store, struct str prefix, struct arena *arena, struct str **sources, size_t *count,
                      wt_error *err);

/* Visits the source of every tool, grouped by source. Stops like store_tool_visit. */
typedef int (*store_source_visit)(void *context, int64_t id, struct str source);
int wt__store_each_source(struct store *store, store_source_visit visit, void *context, wt_error *err);

/* Called once per tool, or once per provider. provider is the number in struct store_key. Stops like
 * store_tool_visit. */
typedef int (*store_name_visit)(void *context, int64_t id, int64_t provider, struct str name);
typedef int (*store_provider_visit)(void *context, int64_t provider, struct str name);

/* Visits names in order of their bytes, starting at `from`; limit is 0 for no limit. Reads only an index, which is much
 * smaller than the tools. */
int wt__store_each_name(struct store *store, struct str from, size_t limit, store_name_visit visit, void *context,
                        wt_error *err);
/* Visits the providers with tools, in order of their numbers. */
int wt__store_each_provider(struct store *store, store_provider_visit visit, void *context, wt_error *err);

int wt__store_count(struct store *store, uint64_t *tools, uint64_t *providers, wt_error *err);

/* Works like wt__store_list for the tools that match a pattern. A pattern with '*' or '?' is matched by
 * wt__pattern_fits, any other as a substring of the id, ignoring ASCII case. Reads every name, but no other column of a
 * tool. */
int wt__store_list_matching(struct store *store, const struct str *provider, struct str pattern, size_t limit,
                            size_t offset, struct arena *arena, int64_t **ids, size_t *count, wt_error *err);

/* Lists the providers with tools, most tools first and then by name, in the arena. */
struct provider_count {
    char *name;
    uint64_t tools;
};
int wt__store_providers(struct store *store, struct arena *arena, struct provider_count **out, size_t *count,
                        wt_error *err);

/* Returns the bytes that the store occupies; 0 if unknown. */
uint64_t wt__store_size(struct store *store);

/* Reads the version of the store: the number of migrations applied. */
int wt__store_version(struct store *store, int *out, wt_error *err);

/* ---------------------------------------------------------------- vectors */

/* Identifies a set of vectors. A tool has at most one vector of each kind and model. Vectors of different sets are
 * never mixed. */
struct vector_set {
    const char *kind;       /* encoded text, with a version: "description/1" */
    const char *model_hash; /* hash of the model's weights, hexadecimal */
    const char *model_name; /* stored with the first vector; not part of the identity */
    uint32_t dim;           /* D */
    const char *former;     /* previous kind, whose vectors are used until those of `kind` exist; NULL if there is no
                             * previous kind */
};

/* Writes up to max keys of tools with an id over after_id and without a vector of this set. Returns the number
 * written. */
int wt__store_missing_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                              struct store_key *keys, size_t max, wt_error *err);
/* Works like wt__store_missing_vectors for tools with a vector of the former kind. */
int wt__store_former_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                             struct store_key *keys, size_t max, wt_error *err);

/* Stores vectors [count, D] of tools in one transaction and deletes those of the former kind. Skips a tool that was
 * removed or changed since its key was read, because its vector would be of the old text. Returns the number stored.
 * Errors: WT_EMODEL (the dimension is 0, is over STORE_MAX_DIM, or differs from the model's vectors in the store). */
int64_t wt__store_put_vectors(struct store *store, const struct vector_set *set, const struct store_key *keys,
                              const float *vectors, size_t count, wt_error *err);
/* Copies the stored vectors for the owner's own searches in the database, if they are not copied yet: pgvector may be
 * installed later than the vectors are stored. Does nothing for other databases and read-only stores. */
int wt__store_complete_copies(struct store *store, wt_error *err);

/* Reads the vectors of these tools into out [count, D], using the former kind as a fallback. there[i] is true if tool i
 * has a vector; otherwise its row is zero. Returns the number found. */
int64_t wt__store_get_vectors(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                              float *out, bool *there, wt_error *err);

/* Reads the hash of the newest model of that name in the store; "" if absent. *out is in the arena. */
int wt__store_model_hash(struct store *store, const char *name, struct arena *arena, char **out, wt_error *err);

int wt__store_count_vectors(struct store *store, const struct vector_set *set, uint64_t *out, wt_error *err);
/* Counts vectors of a model known by its hash alone. Vectors of the kind `former` count as well, unless it is NULL. */
int wt__store_count_of_model(struct store *store, const char *kind, const char *former, const char *model_hash,
                             uint64_t *out, wt_error *err);

/* ---------------------------------------------------------------- recorded use */

/* Counters of the store. Usages do not change the store's generation, so files derived from tools alone stay valid. */
struct usage_info {
    uint64_t catalogue;       /* generation of the store */
    uint64_t generation;      /* grows with every change of usages or of their links to tools */
    uint64_t sums_generation; /* grows with every change of a usage sum */
    uint64_t usages;          /* number of usages in the store, including failed ones */
};
int wt__store_usage_info(struct store *store, struct usage_info *out, wt_error *err);

/* Result for one usage passed to wt__store_add_usages. */
enum usage_fate {
    USAGE_ADDED,
    USAGE_REPEATED, /* the client already has a usage with this key; it was not changed */
    USAGE_CHANGED,  /* the outcome of the client's usage with this key was updated */
    USAGE_MISSING,  /* the client has no usage with this key */
};

/* Adds usages in one transaction, in order. Ignores their id and request_id. A tool removed meanwhile becomes a label
 * without a tool. A usage with a key and no tools reports the outcome of an earlier usage, either stored or earlier in
 * `usages`. If the outcome changes from or to failed, the sums of the earlier usage's tools become stale. fates [count]
 * may be NULL. *last receives the id of the last usage added, 0 if none; may be NULL.
 * Errors: WT_ETOOLONG (over WT_MAX_USAGES), WT_ECANCELLED. On an error nothing is added or changed. */
int wt__store_add_usages(struct store *store, const struct usage *usages, size_t count, struct progress *progress,
                         enum usage_fate *fates, int64_t *last, wt_error *err);

/* Works like wt__store_add_usages for the usages of a segment, which are added once: the id of the segment is stored in
 * the same transaction. Returns 1, or 0 with nothing changed if the segment was added before. */
int wt__store_add_segment(struct store *store, struct str id, const struct usage *usages, size_t count,
                          enum usage_fate *fates, wt_error *err);

/* Counts the usages with ids over `after` and without a key that repeat a usage with an id up to `after`: same request,
 * same client, and same tools in the same order. Compares each usage with at most 16 others. */
int wt__store_count_again(struct store *store, int64_t after, uint64_t *out, wt_error *err);

/* Selects usages. All zero selects every usage. tool and label are one condition: either may match.
 *
 * In a usage without a client, every tool counts. In a usage with a client, a tool does not count in two cases: an
 * earlier usage that did not fail has the same request, client and tool, or 100 earlier usages of the client used the
 * tool. */
struct usage_query {
    int64_t after, upto; /* after < id <= upto; upto 0 for no upper limit */
    int64_t before;      /* recorded before this time, in seconds since 1970; 0 for any time */
    int64_t tool;        /* uses this tool; 0 for any */
    struct str label;    /* uses this label, which is linked to no tool; "" for any */
    struct str client;   /* reported by this client; "" for any, including usages without a client */
    bool teaching;       /* did not fail, and used an existing tool that counts; other tools are left out */
    bool arguments;      /* read the arguments of calls, which are empty otherwise */
    size_t limit;        /* maximum number of usages; 0 for all */
};

/* Reads usages in order of id, in the arena. For pages, set limit, and after to the last id. */
int wt__store_usages(struct store *store, const struct usage_query *query, struct arena *arena, struct usage **out,
                     size_t *count, wt_error *err);
/* Reads the id of the newest usage; 0 if the store has no usages. */
int wt__store_last_usage(struct store *store, int64_t *out, wt_error *err);
int wt__store_count_usages(struct store *store, const struct usage_query *query, uint64_t *out, wt_error *err);

/* Counts the usages that did not fail and used an existing tool, and their distinct requests. */
int wt__store_count_teaching(struct store *store, uint64_t *usages, uint64_t *requests, wt_error *err);

/* Removes usages; limit is ignored. Sums that include a removed usage become stale. Returns the number removed. */
int64_t wt__store_forget_usages(struct store *store, const struct usage_query *query, wt_error *err);

/* A tool used by usages of the same request, or, if the request is new, of nearly equal requests
 * (wt__request_likeness). */
struct recorded_tool {
    int64_t tool;
    double share; /* usages of the tool / (all usages + 1); the added 1 keeps the share of a few usages below
                   * certainty */
};

enum { RECORDED_TOOLS_MAX = 256 };

/* Lists the tools used by teaching usages of this request or of nearly equal requests, in the arena. Reports of clients
 * are weighted by the trust in clients for the tool (trust.c). A lookup costs a bounded number of index seeks.
 *
 * Nearly equal requests are searched among the newest 200 requests, or the newest 256 KB, without a client. As many are
 * searched for the 50 most recently active clients together. At most 200 usages without a client count. At most 200
 * usages of all clients count, and at most four of each client. */
int wt__store_recorded(struct store *store, struct str request, struct arena *arena, struct recorded_tool **out,
                       size_t *count, wt_error *err);

/* A past call of a tool for a request. */
struct recorded_call {
    struct str request, arguments; /* see struct usage */
};

enum { RECORDED_CALLS_MAX = 64 };

/* Finds the newest calls of a tool whose usage did not fail and whose arguments are known, newest first, each request
 * once. Writes at most `most` (up to RECORDED_CALLS_MAX), in the arena. Each client can fill only an equal share of the
 * limit. The newest 1,000 usages of each client are read, for up to 64 clients.
 * Errors: WT_ESTORE (also for arguments that are not a JSON object), WT_ENOMEM. */
int wt__store_recorded_calls(struct store *store, int64_t tool, size_t most, struct arena *arena,
                             struct recorded_call **out, size_t *count, wt_error *err);

/* Finds the newest request whose usage of the tool did not fail, with or without arguments. *out is empty if no such
 * request exists. Limits and errors are those of wt__store_recorded_calls. */
int wt__store_recorded_request(struct store *store, int64_t tool, struct arena *arena, struct str *out, wt_error *err);

/* ---------------------------------------------------------------- contrastive questions */

/* Identifies a question that distinguishes two definitions: a hash of the definitions, the name of the language model,
 * and its prompt. */
struct stored_contrast_key {
    struct str definitions, model, task;
};
/* Reads the question of a key. *question is in the arena, and empty if no question is stored. */
int wt__store_get_contrast(struct store *store, const struct stored_contrast_key *key, struct arena *arena,
                           struct str *question, wt_error *err);
/* Stores a question unless the key has one already. */
int wt__store_put_contrast(struct store *store, const struct stored_contrast_key *key, struct str question,
                           wt_error *err);

/* ---------------------------------------------------------------- usage sums */

/* The usage sum of a tool is the sum of the unit vectors of the requests of its teaching usages, in order of id. The
 * mean of Tool2Vec (section 4.1) is sum / uses. Sums exist per vector set, and a set includes the usages up to its
 * mark.
 *
 * Invariant: the sum of a tool includes exactly its teaching usages with id <= mark, or it is stale. A sum becomes
 * stale when a usage is forgotten or an older usage is linked to the tool. A stale sum reads as absent until it is
 * rebuilt. */
struct usage_mark {
    int64_t last;     /* id of the last usage in the sums; 0 if no usage was added */
    uint64_t pending; /* number of teaching usages after the mark */
    uint64_t stale;   /* number of stale sums */
};
int wt__store_usage_mark(struct store *store, const struct vector_set *set, struct usage_mark *out, wt_error *err);

/* Adds the request vectors of usages to the sums of the tools used, and moves the mark from `after` to `upto`. usages
 * [count] are the teaching usages in between, in order. The vector of usage i is row rows[i] of vectors [.., D].
 * Returns 1, or 0 with nothing changed if another process has moved the mark. */
int wt__store_add_usage_vectors(struct store *store, const struct vector_set *set, int64_t after, int64_t upto,
                                const int64_t *usages, const uint32_t *rows, size_t count, const float *vectors,
                                wt_error *err);

/* Identifies a state of a sum. (tool, generation) is never used for another state. */
struct usage_sum_key {
    int64_t tool;
    uint64_t generation; /* sums_generation of the last change */
    int64_t uses;        /* number of usages in the sum */
};

/* Writes up to max keys of stale sums of tools with an id over after_tool. Returns the number written. */
int wt__store_stale_usage_sums(struct store *store, const struct vector_set *set, int64_t after_tool,
                               struct usage_sum_key *keys, size_t max, wt_error *err);

/* Replaces a stale sum by sum [D], which includes key->uses usages up to `last`. Returns 1, or 0 if the stored sum or
 * mark has changed since `key` and `last` were read. */
int wt__store_put_usage_sum(struct store *store, const struct vector_set *set, const struct usage_sum_key *key,
                            int64_t last, const float *sum, wt_error *err);

/* Visits the sums in order of tool, without stale ones. Stops like store_tool_visit. */
typedef int (*usage_sum_visit)(void *context, const struct usage_sum_key *key);
int wt__store_each_usage_sum(struct store *store, const struct vector_set *set, usage_sum_visit visit, void *context,
                             wt_error *err);

/* Reads the sums of these tools into sums [count, D], and the number of trusted usages in each (trust.c) into uses
 * [count]. Both are 0 for a tool without a sum. Returns the number of sums found. */
int64_t wt__store_get_usage_sums(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                                 float *sums, uint32_t *uses, wt_error *err);

#endif
