/* store.h: the catalogue on disk, behind one interface that knows nothing of the database underneath.
 *
 * A store is one file. Every change is one transaction: all of it or nothing, and what was reported as stored
 * survives a kill at any moment. One process writes at a time; another that wants to write waits up to busy_ms.
 * One struct store is used by one thread at a time: whoever shares it locks it, or opens a reader of its own.
 *
 * Every tool has an id that is never given to another tool, and the generation at which it last changed. The store's
 * own generation grows with every change that a reader could see (tools and vectors), so a derived file that
 * remembers it knows with one quick read whether it is stale, and (id, generation) tell which tools are new to it.
 *
 * Errors, everywhere: WT_ESTORE (damaged, or the database failed), WT_EBUSY, WT_ENOMEM, WT_EIO; of writes also
 * WT_EREADONLY, WT_EFULL. docs/store.md describes the file. */
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
    STORE_BUSY_MS = 10000,    /* default wait for another writer */
    STORE_NOTICE_MS = 500,    /* a wait longer than this is told, as a phase of the progress */
    STORE_MAX_ROW = 16 << 20, /* bytes of one tool with its schema and texts */
    STORE_MAX_DIM = 65536,    /* of a vector */
};

/* The phase that is reported while the store waits. Static. */
#define STORE_WAITING "waiting for another process that is writing to the store"

struct store_options {
    bool read_only;
    unsigned busy_ms;          /* 0: STORE_BUSY_MS */
    struct progress *progress; /* told of waits while the store is opened or read; may be NULL; outlives the store */
};

/* Opens the store at path, which is borrowed for the call. An absent or empty file becomes a new store, with its
 * parent folders, unless read_only; an older store is brought up to date. A file that cannot be written is opened for
 * reading: writes then fail with WT_EREADONLY. ":memory:" is a private store without a file.
 * options: NULL for the defaults.
 * Errors: WT_ENOTFOUND (read_only, no file), WT_ESTORE (not a store: left untouched), WT_ENEWER. */
int wt__store_open(struct store **out, const char *path, const struct store_options *options, wt_error *err);
void wt__store_close(struct store *store); /* NULL is a no-op */

/* One more connection to the file of an open store, for reading beside its writer. A private store has none: it ends
 * with WT_EINVAL. */
int wt__store_open_reader(struct store **out, const struct store *of, wt_error *err);
bool wt__store_private(const struct store *store);
/* Whether it holds no lock: a transaction whose end failed, as for want of memory, ends when the store is closed. */
bool wt__store_idle(const struct store *store);

/* How long reads wait for a commit from now on, instead of what the store was opened with; 0: not at all (WT_EBUSY). */
void wt__store_set_wait(struct store *store, unsigned busy_ms);

bool wt__store_read_only(const struct store *store);

/* Between begin and end every read sees the store as it was at one moment. Not for writes; does not nest. Another
 * process's change waits meanwhile, so keep it short. */
int wt__store_read_begin(struct store *store, wt_error *err);
void wt__store_read_end(struct store *store);

int wt__store_generation(struct store *store, uint64_t *out, wt_error *err);

/* Reads the whole file: its pages, its indexes, what its columns must hold and refer to. WT_ESTORE with the first
 * damage. */
int wt__store_check(struct store *store, wt_error *err);

/* ---------------------------------------------------------------- changes */

struct store_import_options {
    struct str source;               /* a path, or a name of what has none: the scope of sync */
    bool sync;                       /* remove what this source, and what lies below it, brought earlier and not now */
    const struct skipped_tool *left; /* [left_count] of the source: sync lets what is stored of them stay */
    size_t left_count;
    struct str reviewed; /* reserved provider whose tools these are (store/review.h): they replace its tools of the
                            same names, and sync removes all others of it, whatever their source. "" for other imports,
                            which reserved providers refuse */
    int64_t *ids;        /* [count of tools] gets the tools' ids; NULL: not wanted */
    struct progress *progress; /* may be NULL */
    struct arena *arena;       /* for the texts of collisions; NULL: they are only counted */
};

/* A tool that got another name, because another source's tool has its own. */
struct store_collision {
    struct str provider, name; /* now */
    struct str taken;          /* the name that it would have */
    struct str source, other;  /* where it comes from, and where the one comes from that has the name */
};

struct store_changes {
    size_t added, updated, unchanged, removed;
    size_t kept;       /* that sync would have removed, had they not been left */
    size_t collisions; /* of added tools */
    struct store_collision first[WT_MAX_COLLISIONS];
};

/* One import is one transaction. A tool whose definition and fields are as stored is not touched; a changed one keeps
 * its id and loses its vectors. A tool belongs to the source that brought it last.
 *
 * Whose name it is. (provider, name) with the same definition is one tool, whoever brings it. With another definition
 * it is the same tool, changed, when its source is that of the stored one; otherwise it is another tool, which is found
 * among "name~2", "name~3", ... when its source has brought it before, and is else added by the first of them that is
 * free. So is a name that comes twice in one import. Nothing is overwritten but by its own source.
 * Errors: WT_ETOOLONG (over WT_MAX_TOOLS, WT_MAX_NAME_BYTES or STORE_MAX_ROW), WT_EINVAL (a tool's provider is
 * reserved), WT_ECANCELLED: nothing was changed. */
int wt__store_import(struct store *store, const struct tool *tools, size_t count,
                     const struct store_import_options *options, struct store_changes *out, wt_error *err);

/* Removes tools by id. Returns how many there were. Errors: WT_EINVAL (a tool's provider is reserved). */
int64_t wt__store_remove(struct store *store, const int64_t *ids, size_t count, wt_error *err);
/* Removes every tool of a provider. Returns how many there were. Errors: WT_EINVAL (the provider is reserved). */
int64_t wt__store_remove_provider(struct store *store, struct str provider, wt_error *err);

/* Gives a provider another name, by which later imports of the old one are stored too. Its tools keep their usages, get
 * exported names anew, and count as changed. Returns how many there are.
 * Errors: WT_ENOTFOUND (no such provider), WT_EINVAL (another provider has that name, or had it; one of them is
 * reserved). */
int64_t wt__store_rename_provider(struct store *store, struct str provider, struct str name, wt_error *err);

/* ---------------------------------------------------------------- reading tools */

struct store_key {
    int64_t id;
    uint64_t generation; /* of the store when this tool last changed */
    int64_t provider;    /* one number a provider, never given to another */
};

/* Called once a tool, in order of id. The tool's views last until the callback returns. Non-zero stops and becomes
 * the result of the call; a negative one is a WT_E... code for which the callback has filled the caller's error. */
typedef int (*store_tool_visit)(void *context, const struct store_key *key, const struct tool *tool);

/* Every tool with an id over after_id. Sees the store as of one moment. */
int wt__store_each(struct store *store, int64_t after_id, store_tool_visit visit, void *context, wt_error *err);

/* Up to max keys of tools with an id over after_id, in order. Returns how many it wrote. */
int wt__store_keys(struct store *store, int64_t after_id, struct store_key *keys, size_t max, wt_error *err);

/* Copies what a tool's views show into the arena. */
int wt__store_copy_tool(struct tool *tool, struct arena *arena, wt_error *err);

/* The tools with these ids: out [count], their views in the arena. A tool that is gone has an empty name.
 * Returns how many were there. */
int wt__store_get(struct store *store, const int64_t *ids, size_t count, struct arena *arena, struct tool *out,
                  wt_error *err);

/* Ids in order, at most max of them. Each returns how many it wrote. provider NULL: of any provider. */
int wt__store_find_name(struct store *store, const struct str *provider, struct str name, int64_t *ids, size_t max,
                        wt_error *err);
int wt__store_find_source_id(struct store *store, struct str source_id, int64_t *ids, size_t max, wt_error *err);
/* 1 and *id when a tool has this exported name, else 0. */
int wt__store_find_export_name(struct store *store, struct str export_name, int64_t *id, wt_error *err);

/* Ids of a provider's tools (NULL: of all), in order, `limit` of them (0: all) after the first `offset`.
 * *ids in the arena. A provider without tools gives none. */
int wt__store_list(struct store *store, const struct str *provider, size_t limit, size_t offset, struct arena *arena,
                   int64_t **ids, size_t *count, wt_error *err);

/* The sources that begin so and have tools, sorted. *sources in the arena. */
int wt__store_sources(struct store *store, struct str prefix, struct arena *arena, struct str **sources, size_t *count,
                      wt_error *err);

/* Where each tool comes from, the tools of one source together. Stops as store_tool_visit does. */
typedef int (*store_source_visit)(void *context, int64_t id, struct str source);
int wt__store_each_source(struct store *store, store_source_visit visit, void *context, wt_error *err);

/* Called once a tool, or once a provider; provider is the number of struct store_key. Stops as store_tool_visit does.
 */
typedef int (*store_name_visit)(void *context, int64_t id, int64_t provider, struct str name);
typedef int (*store_provider_visit)(void *context, int64_t provider, struct str name);

/* Names, from an index of theirs: a small part of what whole tools would be to read. In order of their bytes, from
 * `from` on, `limit` of them (0: all). */
int wt__store_each_name(struct store *store, struct str from, size_t limit, store_name_visit visit, void *context,
                        wt_error *err);
/* Providers that have a tool, in order of their numbers. */
int wt__store_each_provider(struct store *store, store_provider_visit visit, void *context, wt_error *err);

int wt__store_count(struct store *store, uint64_t *tools, uint64_t *providers, wt_error *err);

/* As wt__store_list, of the tools that fit a pattern: with '*' or '?' in it by wt__pattern_fits, else as a part of the
 * id, in upper or lower case. Looks at every name, and at nothing else of a tool. */
int wt__store_list_matching(struct store *store, const struct str *provider, struct str pattern, size_t limit,
                            size_t offset, struct arena *arena, int64_t **ids, size_t *count, wt_error *err);

/* Providers that have tools, most tools first, of equals by name; in the arena. */
struct provider_count {
    char *name;
    uint64_t tools;
};
int wt__store_providers(struct store *store, struct arena *arena, struct provider_count **out, size_t *count,
                        wt_error *err);

/* How many of the migrations the file has had: its version. */
int wt__store_version(struct store *store, int *out, wt_error *err);

/* ---------------------------------------------------------------- vectors */

/* Which vectors: a tool has at most one of each kind and model, and those of different ones never mix. */
struct vector_set {
    const char *kind;       /* what was encoded, with a version: "description/1" */
    const char *model_hash; /* of the model's weights, hexadecimal */
    const char *model_name; /* remembered with the first vector; not part of the identity */
    uint32_t dim;           /* D */
    const char *former;     /* the kind before, whose vectors stand in for those that are not made yet; NULL: none */
};

/* Up to max keys of tools with an id over after_id that have no vector of this set. Returns how many it wrote. */
int wt__store_missing_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                              struct store_key *keys, size_t max, wt_error *err);
/* The same of those among them that have one of the former kind. */
int wt__store_former_vectors(struct store *store, const struct vector_set *set, int64_t after_id,
                             struct store_key *keys, size_t max, wt_error *err);

/* Stores vectors [count, D] of tools in one transaction, in place of those of the former kind. A tool that has gone or
 * changed since its key was read is passed over: its vector would be of the wrong text. Returns how many were stored.
 * Errors: WT_EMODEL: the store has vectors of this model with another dimension. */
int64_t wt__store_put_vectors(struct store *store, const struct vector_set *set, const struct store_key *keys,
                              const float *vectors, size_t count, wt_error *err);

/* Vectors of these tools into out [count, D], those of the former kind where there are none; there[i] tells whether
 * tool i has one (its row of out is zero if not). Returns how many have. */
int64_t wt__store_get_vectors(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                              float *out, bool *there, wt_error *err);

/* The hash of the newest model of that name that the store has vectors of, "" where it has none. In the arena. */
int wt__store_model_hash(struct store *store, const char *name, struct arena *arena, char **out, wt_error *err);

int wt__store_count_vectors(struct store *store, const struct vector_set *set, uint64_t *out, wt_error *err);
/* The same of a model of which the hash is all that is known. former: those count too; NULL: none. */
int wt__store_count_of_model(struct store *store, const char *kind, const char *former, const char *model_hash,
                             uint64_t *out, wt_error *err);

/* ---------------------------------------------------------------- recorded use */

/* Counters beside the store's generation, which usages leave alone: what is made of tools alone stays good. */
struct usage_info {
    uint64_t catalogue;       /* the store's generation at that moment */
    uint64_t generation;      /* grows with every change of the usages or of what they link to */
    uint64_t sums_generation; /* grows with every change of a usage sum */
    uint64_t usages;          /* in the store, failed ones too */
};
int wt__store_usage_info(struct store *store, struct usage_info *out, wt_error *err);

/* What became of a usage that was to be added. */
enum usage_fate {
    USAGE_ADDED,
    USAGE_REPEATED, /* its client has a usage of this key: that one stays as it is */
    USAGE_CHANGED,  /* its outcome is now that of the usage with its key */
    USAGE_MISSING,  /* no usage has its key */
};

/* Adds usages in one transaction, in their order; id and request_id are not read. A tool that has gone meanwhile
 * becomes a label without a tool. One with a key and without tools is a word about a usage that is there, or comes
 * before it: how it ended. What the sums hold of a usage that turns out to have failed, or not to have, is made anew.
 * fates [count]: NULL: not wanted. The last id is in *last (NULL: not wanted).
 * Errors: WT_ETOOLONG (over WT_MAX_USAGES), WT_ECANCELLED: nothing was added or changed. */
int wt__store_add_usages(struct store *store, const struct usage *usages, size_t count, struct progress *progress,
                         enum usage_fate *fates, int64_t *last, wt_error *err);

/* How many of the usages behind `after` have no key, and the request, client and tools, in their order, of one up to
 * there, of which only the first of that request are looked at. */
int wt__store_count_again(struct store *store, int64_t after, uint64_t *out, wt_error *err);

/* A tool that a usage used counts once per client and request: not if an earlier usage that did not fail has the same
 * request, client and tool. Nor does it count if 100 earlier usages of the client used the tool. Without a client every
 * usage counts.
 *
 * Which usages. All zero: every one. tool and label together are one condition: either of them. */
struct usage_query {
    int64_t after, upto; /* ids after < id <= upto; upto 0: no end */
    int64_t before;      /* recorded before this time; 0: at any time */
    int64_t tool;        /* that used this tool */
    struct str label;    /* that name this label, as long as no tool has it; "": any */
    struct str client;   /* of this client; "": of any, and of none */
    bool teaching;       /* did not fail, and used a tool that is there and counts; only such tools are told */
    bool arguments;      /* what tools were called with is read, too; else it is not told */
    size_t limit;        /* the first so many; 0: all */
};

/* Usages in order of id, in the arena. A page: set after to the last id, and limit. */
int wt__store_usages(struct store *store, const struct usage_query *query, struct arena *arena, struct usage **out,
                     size_t *count, wt_error *err);
/* The newest usage's id; 0: there is none. */
int wt__store_last_usage(struct store *store, int64_t *out, wt_error *err);
int wt__store_count_usages(struct store *store, const struct usage_query *query, uint64_t *out, wt_error *err);

/* Usages that did not fail and used a tool that is there, and how many different requests they have. */
int wt__store_count_teaching(struct store *store, uint64_t *usages, uint64_t *requests, wt_error *err);

/* Removes usages (limit is not read). Sums that held one are to be made anew. Returns how many there were. */
int64_t wt__store_forget_usages(struct store *store, const struct usage_query *query, wt_error *err);

/* What usages of the same request used, or where there are none, of requests that are nearly the same, as
 * store/request_words.h tells it. */
struct recorded_tool {
    int64_t tool;
    double share; /* its usages by all of them and one more: that nobody used it has a say as well */
};

enum { RECORDED_TOOLS_MAX = 256 };

/* The tools that teaching usages of such a request used, in the arena. What clients report counts as far as they are
 * trusted for the tool (trust.c). A lookup costs a bounded number of index seeks. Nearly equal requests
 * are looked for among the newest 200, or the newest 256 KB of them, without a client, and as many of the 50 most
 * recently active clients together. 200 usages without a client count, and at most four of each client. */
int wt__store_recorded(struct store *store, struct str request, struct arena *arena, struct recorded_tool **out,
                       size_t *count, wt_error *err);

/* What a tool was called with for a request. */
struct recorded_call {
    struct str request, arguments; /* as in struct usage */
};

enum { RECORDED_CALLS_MAX = 64 };

/* The newest calls of a tool whose usage did not fail and whose arguments are known, newest first, each request once:
 * `most` of them (at most RECORDED_CALLS_MAX), in the arena. Clients share them equally with each other and with calls
 * without a client. Of each client, up to 64 of them, the newest 1,000 usages are read.
 * Errors: WT_ESTORE (also: arguments that are no JSON object), WT_ENOMEM. */
int wt__store_recorded_calls(struct store *store, int64_t tool, size_t most, struct arena *arena,
                             struct recorded_call **out, size_t *count, wt_error *err);

/* The newest request whose usage of the tool did not fail, whether its arguments are told or not; empty: none. Looked
 * for, and errors, as above. */
int wt__store_recorded_request(struct store *store, int64_t tool, struct arena *arena, struct str *out, wt_error *err);

/* ---------------------------------------------------------------- contrastive questions */

/* A question that tells two definitions apart, by what it was made of: a hash of them, a language model's name, and a
 * prompt's. *question in the arena; empty: there is none. */
struct stored_contrast_key {
    struct str definitions, model, task;
};
int wt__store_get_contrast(struct store *store, const struct stored_contrast_key *key, struct arena *arena,
                           struct str *question, wt_error *err);
/* Keeps it, unless there is one already. */
int wt__store_put_contrast(struct store *store, const struct stored_contrast_key *key, struct str question,
                           wt_error *err);

/* ---------------------------------------------------------------- usage sums */

/* A usage sum of a tool is the sum of the unit vectors of its teaching usages' requests, in order of id: the mean of
 * Tool2Vec (section 4.1) is sum / uses. Sums exist once a vector set, and a set holds the usages up to its mark.
 *
 * Invariant: of every tool, the sum is that of exactly its teaching usages with id <= mark; or it is stale, since a
 * usage was forgotten or an older one was linked to the tool, and reads as absent until it was made anew. */
struct usage_mark {
    int64_t last;     /* the mark: id of the last usage that is in the sums; 0: none */
    uint64_t pending; /* teaching usages after it */
    uint64_t stale;   /* sums to be made anew */
};
int wt__store_usage_mark(struct store *store, const struct vector_set *set, struct usage_mark *out, wt_error *err);

/* Adds the request vectors of usages to the sums of the tools that they used, and moves the mark from `after` to
 * `upto`. usages [count] are the teaching ones in between, in order; the vector of usage i is row rows[i] of vectors
 * [.., D]. Returns 1, or 0 when the mark stands elsewhere since another process was quicker: nothing was changed. */
int wt__store_add_usage_vectors(struct store *store, const struct vector_set *set, int64_t after, int64_t upto,
                                const int64_t *usages, const uint32_t *rows, size_t count, const float *vectors,
                                wt_error *err);

/* A sum: whose, and which state of it. (tool, generation) names one state for ever. */
struct usage_sum_key {
    int64_t tool;
    uint64_t generation; /* sums_generation of its last change */
    int64_t uses;        /* how many requests it holds */
};

/* Up to max stale sums of tools over after_tool. Returns how many it wrote. */
int wt__store_stale_usage_sums(struct store *store, const struct vector_set *set, int64_t after_tool,
                               struct usage_sum_key *keys, size_t max, wt_error *err);

/* Replaces a stale sum by that of the usages up to `last`. Returns 1, or 0 when the sum or the mark is another one
 * than `key` and `last` say. uses is key->uses; sum [D]. */
int wt__store_put_usage_sum(struct store *store, const struct vector_set *set, const struct usage_sum_key *key,
                            int64_t last, const float *sum, wt_error *err);

/* Every sum that can be read, in order of tool; stops as store_tool_visit does. */
typedef int (*usage_sum_visit)(void *context, const struct usage_sum_key *key);
int wt__store_each_usage_sum(struct store *store, const struct vector_set *set, usage_sum_visit visit, void *context,
                             wt_error *err);

/* Sums of these tools into sums [count, D], and how many of the requests that they hold are believed
 * (trust.c) into uses [count]; both are 0 where there is none. Returns how many there are. */
int64_t wt__store_get_usage_sums(struct store *store, const struct vector_set *set, const int64_t *ids, size_t count,
                                 float *sums, uint32_t *uses, wt_error *err);

#endif
