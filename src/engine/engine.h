/* engine.h: what an open engine is made of, and who may touch what.
 *
 *   store      the catalogue; one thread at a time, so every use holds store_lock. Changes go through it
 *   readers    connections to the same file, one a running query or build, kept between them
 *   encoder    immutable once opened; opened by the first who needs it
 *   standby    where none was named and the store has vectors of a lesser one, that: the model that was the default
 *              before, or the built-in one. Queries use it as long as it has more of the vectors. Whatever makes
 * vectors makes the encoder's trained    what training left for this store; the same index      the current snapshot;
 * immutable, shared by reference count, swapped whole when the store moved on workspaces scratch of a query (analyser,
 * arenas, activations), one a running query, kept between queries chat       the language model, opened by the first
 * who asks it
 *
 * Locks, in the order in which they may nest: lazy_lock (what the first who needs it makes: chat, an index's bundles),
 * build_lock (one refresh at a time), store_lock, lock (pointers and counts, never held over I/O). A query that has a
 * snapshot takes `lock` alone. */
#ifndef WT_ENGINE_ENGINE_H
#define WT_ENGINE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "store/store.h"
#include "encoder/encoder.h"
#include "engine/engine_chat.h"
#include "recipe/trained.h"
#include "index/snapshot.h"
#include "retrieve/retrieve.h"

#define INDEX_UNCOUNTED SIZE_MAX

/* Tools that take more are not kept in memory: queries beside an import may then wait for a commit. */
#define INDEX_KEPT_BYTES ((size_t)64 << 20)

/* What of the store a snapshot shows. Both numbers only grow. */
struct moment {
    uint64_t generation;
    uint64_t sums;  /* of usage; 0 where nothing was trained */
    uint64_t state; /* one number for both: the snapshot's generation */
};

/* A snapshot with the count of those who use it. The last of them is the engine: it takes a while to free one. */
struct index_handle {
    struct snapshot *snapshot;
    struct moment moment;
    atomic_size_t without_vector[SNAPSHOT_MAX_SETS]; /* tools, a set; INDEX_UNCOUNTED until a query wants that set */
    const struct trained *labels;  /* whose neighbours' tools it knows; NULL until a query wants them */
    uint32_t *label_rows;          /* [labels->past.label_count] */
    struct bundles *bundles[2];    /* of those neighbours, by labels' encoder and by the engine's; NULL until one is
                                      wanted (engine/bundles.h) */
    struct kept_tools *kept;       /* NULL: what it shows is in the store alone (readers.c) */
    struct collection *collection; /* what its snapshot was made of, for who makes the next one; under build_lock. NULL:
                                      not kept (collect.h) */
    struct met_tools *met;         /* those of it that queries have read (met_tools.h); may be NULL */
    struct new_tools *new_tools;   /* NULL: no tool is new (new_tools.h) */
    struct filter_mask *masks;     /* of filters, the last used first (filter.h) */
    atomic_uint references;
    struct index_handle *next; /* of those that were swapped out */
};

/* What the first who needs it opens. */
struct on_demand {
    void *opened; /* NULL until then, and where there is none */
    wt_error why; /* it was tried and cannot be had; else code 0 */
    bool tried;
};

/* Things that are kept for the next who needs one. */
struct pool {
    struct pool_slot *free;
};

/* NULL when there is none. */
void *wt__pool_take(struct pool *pool, pthread_mutex_t *lock);
/* False when there is no memory for keeping it: it is still the caller's. */
bool wt__pool_give(struct pool *pool, pthread_mutex_t *lock, void *item);

struct wt_engine {
    char *path;
    char *index_folder;   /* "" when the snapshot lives in memory only */
    char *model_folder;   /* "" when there is no model, and where no environment says where it would be */
    char *base_folder;    /* of WT_BASE_MODEL, where it is installed beside a better one; else "" */
    char *trained_folder; /* "" when there can be none */
    char *model_name;
    bool by_default;     /* the model: none was named */
    bool model_included; /* with the program */
    bool read_only;
    unsigned threads, busy_ms;
    struct dense_weight dense_weight; /* of meaning in hybrid, in place of the encoder's own; zeros: that */

    pthread_mutex_t store_lock;
    struct store *store;

    pthread_mutex_t lazy_lock;
    struct engine_chat chat;

    pthread_mutex_t build_lock;
    pthread_mutex_t lock;
    struct index_handle *index;    /* NULL until the first query */
    struct index_handle *replaced; /* those before it, until no query uses them and somebody builds */
    struct moment changed;         /* what calls that have returned have changed: every later query sees it */
    bool unknown_change;           /* one of them could not tell: the next query looks */
    _Atomic uint64_t usages;       /* recorded, as who looked last at the store saw it */
    uint64_t damaged;              /* state of an index whose damaged files could not be removed; under build_lock */
    unsigned imports;              /* that run; each will leave a newer index */
    bool building;                 /* and so will this */
    struct on_demand encoder;      /* struct encoder */
    struct on_demand standby;      /* the same */
    struct on_demand trained;      /* struct trained */
    struct trained *retired;       /* what was trained before, by its `next` */
    uint64_t trained_stamp;        /* of its folder when it was last read; under build_lock */
    struct pool free_workspaces, free_readers;
};

/* Takes build_lock, which another thread may hold for as long as an index takes: progress is heard meanwhile. In all of
 * these it may be NULL, and an operation that it stops leaves the engine as if it had not begun. WT_ECANCELLED. */
int wt__engine_lock_build(wt_engine *engine, struct progress *progress, wt_error *err);

/* The encoder, opened on first use. WT_EMODEL with the reason when there is none. */
int wt__engine_encoder(wt_engine *engine, const struct encoder **out, wt_error *err);
/* The same for a query, which can be stopped; WT_ECANCELLED. The second with build_lock held. */
int wt__engine_load_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err);
int wt__engine_encoder_locked(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err);

/* A retriever that nobody trained, as it weighs with this encoder, which may be NULL. */
struct retriever wt__engine_plain(const wt_engine *engine, const struct retriever *plain,
                                  const struct encoder *encoder);

/* WT_BASE_MODEL where it would be used and the built-in encoder is, for want of it; else NULL. */
const char *wt__engine_better(const wt_engine *engine);

/* The folder of the model to fall back on, of which the store has the most vectors, and how many those are: NULL where
 * there is no other. Borrowed from the engine, or static. */
int wt__engine_falls_back(const wt_engine *engine, struct store *store, const char **folder, uint64_t *count,
                          wt_error *err);

/* The encoder to fall back on where vectors of the other are missing, with build_lock held in the second; *out is NULL
 * where there is none. WT_ENOMEM, WT_ECANCELLED. */
int wt__engine_standby(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err);
int wt__engine_standby_locked(wt_engine *engine, const struct encoder **out, wt_error *err);

/* What training left, read on first use; *out is NULL when there is nothing. Where it lacks an encoder, the error is
 * why the engine has none. */
int wt__engine_trained(wt_engine *engine, const struct trained **out, wt_error *err);
int wt__engine_load_trained(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err);
int wt__engine_trained_locked(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err);

/* What is in the folder now, beside what is in use; with build_lock held. */
int wt__engine_reopen_trained(wt_engine *engine, struct on_demand *out, wt_error *err);
/* Reads it anew when it is next asked for: after training. What queries still use lives on until the engine ends. */
void wt__engine_forget_trained(wt_engine *engine);

/* The same after another process trained: reads the folder anew where something in it has changed, beside what is in
 * use, and then makes the index; queries that come meanwhile end on what was there, or wait. *anew: whether it has
 * changed. What is damaged changes nothing. Errors: WT_EMODEL, WT_EIO, WT_ETOOLONG, WT_ENOMEM, those of an index. */
int wt__engine_reload_trained(wt_engine *engine, bool *anew, wt_error *err);

/* The store's vectors of the tools' texts by this encoder. */
struct vector_set wt__engine_vectors(const struct encoder *encoder, const wt_engine *engine);
/* Its sums of the requests that used them (changes/recorded_use.h). */
struct vector_set wt__engine_usage_vectors(const struct encoder *encoder, const wt_engine *engine);

/* Tools that an import brought. */
struct own_tools {
    int64_t *ids; /* [count]; sorted by wt__embed_import */
    size_t count, capacity;
};

/* Encodes an import's own tools, between begin_import and end_import; and tools that no running import of this engine
 * brought, if it is the only one. Other imports encode theirs. *embedded as below. Takes store_lock. */
int wt__embed_import(wt_engine *engine, const struct encoder *encoder, struct own_tools *own, struct progress *progress,
                     size_t *embedded, wt_error *err);
/* Encodes every tool without a vector of this model. *embedded: how many, up to where it ended. Takes store_lock. */
int wt__embed_missing(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *embedded,
                      wt_error *err);

/* A set of the snapshot: vectors that a query searches. */
struct index_set {
    const char *model, *kind;
};

/* The snapshot of the catalogue, with all that returned calls have changed. While an import runs or another thread
 * makes the next snapshot, that is the one in hand, if it will do; else the one of the catalogue as it is now, made
 * first when it has to be. Given back with wt__index_release. want: the vectors that it should carry; NULL: lexical
 * alone will do. labels: whose neighbours' tools it should know; NULL: none's. progress: heard while it has to be
 * waited for, or made. */
int wt__engine_index(wt_engine *engine, struct progress *progress, const struct index_set *want,
                     const struct trained *labels, struct index_handle **out, wt_error *err);
/* The one of the catalogue as it is now, in any case. */
int wt__engine_newest_index(wt_engine *engine, struct index_handle **out, wt_error *err);
/* Whether there is one in hand, since somebody asks for it. */
bool wt__engine_is_asked(wt_engine *engine);
/* What the store shows now, through this connection. */
int wt__moment_read(wt_engine *engine, struct store *reader, struct moment *out, wt_error *err);
/* Between these two an import runs: it will make the next index itself. */
void wt__engine_begin_import(wt_engine *engine);
void wt__engine_end_import(wt_engine *engine);
/* True if no other import runs. */
bool wt__engine_imports_alone(wt_engine *engine);
/* To be called before a call returns that changed what a snapshot shows. */
void wt__engine_changed(wt_engine *engine);
void wt__index_release(struct index_handle *index); /* frees nothing; NULL is a no-op */
/* No index is in hand any more; those that nobody uses are freed. */
void wt__engine_drop_index(wt_engine *engine);

/* How many tools have no vector in a set of the index. */
size_t wt__index_without_vector(struct index_handle *index, const struct index_set *set);
/* How many have there one of the kind before, until their own is made. */
size_t wt__index_former_vectors(const struct index_handle *index, const struct index_set *set);

/* Forgets an index in which damage was met, with its files, so that the next one is made from the store alone. The
 * caller keeps its reference. */
void wt__engine_discard_index(wt_engine *engine, struct index_handle *index);

/* Keeps in memory what the index in hand shows, if there is one, so that no query on it needs the store. */
void wt__engine_keep_tools(wt_engine *engine);
/* The tools that the index shows; NULL where they cannot be had, which makes no difference but time. */
struct kept_tools *wt__kept_tools_read(wt_engine *engine, const struct index_handle *index);
/* None yet; NULL when memory is out. like: whose texts it shares, so that its tools may be copied; NULL: nobody's. */
struct kept_tools *wt__kept_tools_new(const struct kept_tools *like);
/* One more, in order of rows. *kept is freed, and NULL, when that is too much; then this is a no-op. */
void wt__kept_tools_add(struct kept_tools **kept, const struct tool *tool);
/* The same, by a tool of whom it shares the texts. */
void wt__kept_tools_copy(struct kept_tools **kept, const struct kept_tools *from, size_t row);
const struct tool *wt__kept_tool(const struct kept_tools *kept, size_t row);
/* Another holder, who frees it, too. NULL is a no-op in both. */
struct kept_tools *wt__kept_tools_hold(struct kept_tools *kept);
void wt__kept_tools_free(struct kept_tools *kept);

/* A connection for reading. It is this thread's until it is given back; soon, and before store_lock is taken. */
int wt__engine_reader(wt_engine *engine, struct store **out, wt_error *err);
void wt__engine_return_reader(wt_engine *engine, struct store *reader);

/* As wt__store_get and wt__store_list, of the index's tools. The views of out last as long as the arena and the index.
 */
int wt__index_tools(wt_engine *engine, const struct index_handle *index, const int64_t *ids, size_t count,
                    struct arena *arena, struct tool *out, wt_error *err);
int wt__index_provider(wt_engine *engine, const struct index_handle *index, const struct str *provider, size_t limit,
                       struct arena *arena, int64_t **ids, size_t *count, wt_error *err);

/* As wt__store_each_name of all names and wt__store_each_provider, of the index's tools; in any order, and a provider
 * may come again. A tool may be there that the index lacks: it came since. */
int wt__index_each_name(wt_engine *engine, const struct index_handle *index, store_name_visit visit, void *context,
                        wt_error *err);
int wt__index_each_provider(wt_engine *engine, const struct index_handle *index, store_provider_visit visit,
                            void *context, wt_error *err);

int wt__engine_workspace(wt_engine *engine, struct workspace **out, wt_error *err);
void wt__engine_return_workspace(wt_engine *engine, struct workspace *workspace);

#endif
