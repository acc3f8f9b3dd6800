/* engine.h: the parts of an open engine, and the locks that guard them.
 *
 *   store       the connection that changes the catalogue. Every use holds store_lock.
 *   readers     pooled read connections to the same file, one per running query or build.
 *   encoder     the encoder of the engine's model, opened on first use and immutable afterwards.
 *   fallback    the fallback encoder, only if no model was named. It is the previous default model or the built-in
 *               model, whichever has more vectors in the store. Queries use the fallback encoder while it has more
 *               vectors than the encoder. New vectors are always made with the encoder.
 *   trained     the models trained for this store, opened on first use.
 *   index       the current snapshot: immutable, reference-counted, replaced as a whole when the store changes.
 *   workspaces  pooled scratch memory (analyser, arenas, activations), one per running query.
 *   chat        the language model, opened on first use.
 *
 * Lock order:
 *   lazy_lock   objects created on first use: chat, bundles of an index
 *   build_lock  one refresh of the index at a time
 *   store_lock  the connection `store`
 *   lock        pointers and counters; never held during I/O
 *
 * Parameters named `progress` may be NULL. A cancelled operation leaves the engine unchanged. */
#ifndef WT_ENGINE_ENGINE_H
#define WT_ENGINE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "encoder/encoder.h"
#include "index/snapshot.h"
#include "llm/chat.h"
#include "recipe/trained.h"
#include "retrieve/retrieve.h"
#include "store/store.h"
#include "whichtool/engine.h"

#define INDEX_UNCOUNTED SIZE_MAX

/* Memory limit for the tools of an index. If the tools exceed the limit, they stay in the store, and queries during an
 * import may wait for a commit. */
#define INDEX_KEPT_BYTES ((size_t)64 << 20)

/* State of the store that a snapshot shows. generation and sums never decrease. */
struct moment {
    uint64_t generation; /* generation of the catalogue */
    uint64_t sums;       /* generation of the usage sums; 0 if nothing was trained */
    uint64_t state; /* identifies the snapshot: generation, or a hash of generation and sums if models were trained */
};

/* A snapshot with a reference count. Only the engine frees a snapshot, once the engine holds the last reference,
 * because freeing is slow. */
struct index_handle {
    struct snapshot *snapshot;
    struct moment moment;
    int64_t made;                                    /* Unix time at which it became the current index, in seconds */
    atomic_size_t without_vector[SNAPSHOT_MAX_SETS]; /* tools without a vector, by set; INDEX_UNCOUNTED until counted */
    const struct trained *labels;                    /* trained models whose labels are mapped; NULL before first use */
    uint32_t *label_rows;          /* [labels->past.label_count] row of each label, or NEIGHBOURS_GONE */
    uint32_t *row_labels;          /* [rows] label of each row, or NEIGHBOURS_GONE; NULL without labels */
    struct bundles *bundles[2];    /* by the encoder of `labels`, and by that of the engine; NULL before first use */
    struct kept_tools *kept;       /* all tools in memory; NULL if they must be read from the store */
    struct collection *collection; /* inputs of the snapshot for the next build, or NULL; guarded by build_lock */
    struct tool_cache *tool_cache; /* cache of the tools that queries have read; may be NULL */
    struct new_tools *new_tools;   /* NULL if no tool is new */
    struct filter_mask *masks;     /* cached filter masks, most recently used first */
    struct row_pool *pool;         /* tools of the shared catalogue, in an index of a view; else NULL */
    void (*release_pool)(struct row_pool *pool); /* drops the index's reference to the pool */
    atomic_uint references;
    struct index_handle *next; /* in the list of replaced indexes */
};

/* An object that its first user opens. */
struct on_demand {
    void *opened; /* the object; NULL before its first use, and if it does not exist or cannot be opened */
    wt_error why; /* error of opening; code 0 if none */
    bool tried;   /* `opened` and `why` are valid */
};

/* Free list of reusable objects. */
struct pool {
    struct pool_slot *free;
};

/* Removes and returns an object, or NULL if the pool is empty. */
void *wt__pool_take(struct pool *pool, pthread_mutex_t *lock);
/* Adds an object. Returns false if out of memory; the caller then still owns the object. */
bool wt__pool_give(struct pool *pool, pthread_mutex_t *lock, void *item);

/* The language model of an engine: a server, recorded answers, or both, opened on first use. */
struct engine_chat {
    char *url, *model, *key, *record, *replay; /* copied from wt_open_options; NULL if not given */
    unsigned at_once;                          /* concurrent requests; 0 for CHAT_AT_ONCE */
    struct chat_client *client;                /* NULL before first use, and if answers are replayed */
    struct chat_record *answers; /* NULL before first use, and if answers are neither recorded nor replayed */
};

/* Key of a set of vectors in a snapshot. */
struct index_set {
    const char *model, *kind;
};

/* Start of the data of a view (view.h), an engine that shows some tools of a shared engine. Functions of the engine
 * that a view does differently call the view's own. */
struct engine_view {
    int (*index)(wt_engine *engine, struct progress *progress, const struct index_set *want, struct index_handle **out,
                 wt_error *err); /* see wt__engine_index */
    void (*discard_index)(wt_engine *engine, struct index_handle *index);
    int (*list)(wt_engine *engine, const wt_list_options *options, wt_tools **out, wt_error *err);
    int (*get)(wt_engine *engine, const char *name, wt_tools **out, wt_error *err);
    int (*resolve)(wt_engine *engine, const char *name, int64_t *id, wt_error *err); /* see wt__tool_resolve */
    /* Fills the counts of wt_info. encoder: may be NULL. */
    int (*count)(wt_engine *engine, const struct encoder *encoder, wt_catalog_info *info, wt_error *err);
    void (*close)(struct engine_view *view); /* frees the view */
};

struct reported_usage; /* changes/recorded_use.h */

struct wt_engine {
    struct engine_view *view; /* NULL for an engine that shows its whole store */
    wt_engine *lender;        /* engine whose encoders, joint scorer, language model and workspaces this one uses: the
                               * shared engine of a tenant. NULL if the engine has its own */
    /* Copies changes of another store into this one, before each use of the index (tenants/own.h); or NULL. */
    int (*refresh)(void *refresher, struct progress *progress, wt_error *err);
    void *refresher;
    char *path;           /* name of the store in messages, without a password */
    char *location;       /* path or URL of the store, as given */
    char *base;           /* path to which suffixes of trained models and other files of the store are added */
    char *index_folder;   /* "" if the snapshot is in memory only */
    char *model_folder;   /* "" without a model, or if the folder of models is unknown */
    char *joint_folder;   /* folder of WT_JOINT_MODEL; "" if it is not installed */
    char *base_folder;    /* folder of WT_BASE_MODEL if it may serve as fallback, else "" */
    char *trained_folder; /* folder of the trained models; "" for a store in memory without a named folder */
    char *model_name;
    bool by_default;     /* the model is the default, because the caller named none */
    bool model_included; /* the model was installed with the program */
    bool read_only;
    bool keeps_derived; /* derived files are written: the store is writable, or a replica in its own cache */
    unsigned threads;
    unsigned busy_ms;                     /* milliseconds to wait for the lock of another process */
    struct vector_cache *request_vectors; /* vectors of recent requests; NULL if they are not kept */

    /* Set while a replica spools reported usage for the writer (replica/usage_spool.h); else NULL. Writes the usages in
     * place of the store. */
    int (*spool_usages)(void *spool, struct reported_usage *const *usages, size_t count, wt_error *err);
    void *spool;
    atomic_uint segments; /* segments of replicas' usages applied by this engine */

    pthread_mutex_t store_lock;
    struct store *store;

    pthread_mutex_t lazy_lock;
    struct engine_chat chat;

    pthread_mutex_t build_lock;
    pthread_mutex_t lock;
    struct index_handle *index;    /* current index; may be NULL */
    struct index_handle *replaced; /* previous indexes; builds free those that are unused */
    struct moment changed;         /* state after the last change by a returned call; later queries must see it */
    bool unknown_change;           /* the state after a change could not be read, so the next query reads it */
    _Atomic uint64_t usages;       /* number of recorded usages when the store was last read */
    uint64_t damaged;              /* state of a damaged index that could not be deleted; guarded by build_lock */
    unsigned imports;              /* running imports; each will build a newer index */
    bool building;                 /* an index is being built */
    struct on_demand encoder;      /* struct encoder */
    struct on_demand fallback;     /* struct encoder */
    struct on_demand joint;        /* struct cross_encoder */
    struct on_demand trained;      /* struct trained */
    struct trained *retired;       /* earlier trained models that queries may still use; linked by `next` */
    uint64_t trained_stamp;        /* wt__trained_stamp of trained_folder at the last read; guarded by build_lock */
    struct pool free_workspaces, free_readers;
    _Atomic int64_t checked; /* Unix time at which a query last read the state of the store, in seconds; 0 before */
    atomic_uint_fast64_t tool_hits, tool_misses; /* reads of a query's tools that the cache had, or lacked in part */
    atomic_uint_fast64_t mask_hits, mask_misses; /* filters whose mask was cached, or was computed */
};

/* Figures for monitoring. */
struct engine_figures {
    uint64_t generation, tools; /* of the current index; 0 without one */
    int64_t indexed, checked;   /* Unix times in seconds: struct index_handle's `made`, and wt_engine's `checked` */
    uint64_t tool_hits, tool_misses, mask_hits, mask_misses;
    uint64_t vector_hits, vector_misses; /* texts of requests that the vector cache had, or that were encoded */
    const struct encoder *encoder;       /* the encoder, or else its fallback; NULL if neither is open */
};
/* Reads the figures without opening anything. Any thread. */
void wt__engine_figures(wt_engine *engine, struct engine_figures *out);

/* Returns the engine whose models and workspaces this engine uses. */
static inline wt_engine *wt__model_owner(wt_engine *engine)
{
    return engine->lender ? engine->lender : engine;
}

/* Makes an engine that is not used yet use the models and threads of another one, which must outlive it. Errors:
 * WT_ENOMEM. */
int wt__engine_borrow_models(wt_engine *engine, wt_engine *lender, wt_error *err);

/* Initialises the locks of a zeroed engine. */
void wt__engine_init_locks(wt_engine *engine);

/* Fails with WT_EREADONLY if the store cannot be changed. what: what cannot be done, such as "no tools can be
 * added". */
int wt__engine_refuse_read_only(const wt_engine *engine, const char *what, wt_error *err);

/* Locks build_lock. Another thread may hold it during a whole build, so this polls progress and returns WT_ECANCELLED
 * if cancelled. */
int wt__engine_lock_build(wt_engine *engine, struct progress *progress, wt_error *err);

/* Returns the encoder, opened on first use. Errors: WT_EMODEL if the model is not installed or invalid; WT_ENOMEM. */
int wt__engine_encoder(wt_engine *engine, const struct encoder **out, wt_error *err);
/* Work like wt__engine_encoder and can be cancelled (WT_ECANCELLED). wt__engine_encoder_locked requires build_lock. */
int wt__engine_load_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err);
int wt__engine_encoder_locked(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err);

/* Returns WT_BASE_MODEL if the built-in encoder is in use only because that model is not installed, else NULL. */
const char *wt__engine_better_model(const wt_engine *engine);

/* Returns the folder of the fallback model that has the most vectors in the store, and their number. *folder is NULL if
 * there is no fallback; else it is static or borrowed from the engine. */
int wt__engine_fallback_folder(const wt_engine *engine, struct store *store, const char **folder, uint64_t *count,
                               wt_error *err);

/* Return the fallback encoder, used while the encoder lacks vectors. *out is NULL if there is no fallback.
 * wt__engine_fallback_encoder_locked requires build_lock. Errors: WT_ENOMEM, WT_ECANCELLED. */
int wt__engine_fallback_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out,
                                wt_error *err);
int wt__engine_fallback_encoder_locked(wt_engine *engine, const struct encoder **out, wt_error *err);

/* Returns the joint scorer, whose model is opened on first use. Errors: WT_EMODEL (not installed), WT_ENOMEM. */
int wt__engine_joint(wt_engine *engine, struct progress *progress, struct cross_encoder **out, wt_error *err);

/* Return the trained models, read on first use. *out is NULL if nothing was trained. If the trained models need the
 * engine's encoder and it cannot be opened, the error is that of the encoder. wt__engine_trained_locked requires
 * build_lock. */
int wt__engine_trained(wt_engine *engine, const struct trained **out, wt_error *err);
int wt__engine_load_trained(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err);
int wt__engine_trained_locked(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err);

/* Opens the trained models that are in the folder now, without replacing those in use. Requires build_lock. */
int wt__engine_reopen_trained(wt_engine *engine, struct on_demand *out, wt_error *err);
/* Makes the next user reopen the trained models. Call it after training. The old models live until wt_close. */
void wt__engine_forget_trained(wt_engine *engine);

/* Reloads the trained models if another process changed their folder, and rebuilds the index. Queries meanwhile use the
 * old models or wait. *anew: true if the folder had changed. If the new models are damaged, nothing changes. Errors:
 * WT_EMODEL, WT_EIO, WT_ETOOLONG, WT_ENOMEM, errors of building an index. */
int wt__engine_reload_trained(wt_engine *engine, bool *anew, wt_error *err);

/* Returns the vector set of the tools' texts by this encoder. */
struct vector_set wt__engine_vectors(const struct encoder *encoder, const wt_engine *engine);
/* Returns the set of usage sums: sums of the vectors of the requests that used a tool (changes/recorded_use.h). */
struct vector_set wt__engine_usage_vectors(const struct encoder *encoder, const wt_engine *engine);

/* Tools of one import. */
struct own_tools {
    int64_t *ids; /* [count]; sorted by wt__embed_import */
    size_t count, capacity;
};

/* Encodes the tools of an import. Call it between wt__engine_begin_import and wt__engine_end_import. If no other import
 * of this engine runs, also encodes all other tools without a vector. *embedded: as in wt__embed_missing. Takes
 * store_lock. */
int wt__embed_import(wt_engine *engine, const struct encoder *encoder, struct own_tools *own, struct progress *progress,
                     size_t *embedded, wt_error *err);
/* Encodes every tool without a vector of this model. *embedded: number of tools encoded, also on an error. Takes
 * store_lock. */
int wt__embed_missing(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *embedded,
                      wt_error *err);

/* Returns an index that includes the changes of all returned calls, with a reference for wt__index_release. While an
 * import runs or another thread builds, returns the current index if it has `want`, `labels` and these changes.
 * Otherwise returns an index of the newest catalogue, built if needed.
 * want: set of vectors that the index must have; NULL for a lexical search. labels: trained models whose label rows
 * the index must have; NULL if not needed. progress: polled while waiting or building. Errors: also WT_EEMPTY (no
 * tools). */
int wt__engine_index(wt_engine *engine, struct progress *progress, const struct index_set *want,
                     const struct trained *labels, struct index_handle **out, wt_error *err);
/* Returns an index of the newest catalogue, built if needed. Errors: also WT_EEMPTY (no tools). */
int wt__engine_newest_index(wt_engine *engine, struct index_handle **out, wt_error *err);
/* True if there is a current index; false before the first query or import that needs one. */
bool wt__engine_has_index(wt_engine *engine);
/* Reads the current state of the store through this connection. */
int wt__moment_read(wt_engine *engine, struct store *reader, struct moment *out, wt_error *err);
/* Mark the start and end of an import, which itself builds the next index. Starting also calls
 * wt__engine_keep_tools. */
void wt__engine_begin_import(wt_engine *engine);
void wt__engine_end_import(wt_engine *engine);
/* True if at most one import of this engine runs. */
bool wt__engine_imports_alone(wt_engine *engine);
/* Notes that the catalogue changed. Every public function that changes the content of snapshots must call it. */
void wt__engine_changed(wt_engine *engine);
void wt__index_release(struct index_handle *index); /* drops a reference, never frees memory; NULL is a no-op */
/* Makes an index the current one, and frees unused ones. Requires build_lock. */
void wt__engine_replace_index(wt_engine *engine, struct index_handle *index);
/* Drops the current index and frees all unused ones. */
void wt__engine_drop_index(wt_engine *engine);

/* Returns the number of tools without a vector in a set of the index. */
size_t wt__index_without_vector(struct index_handle *index, const struct index_set *set);
/* Returns the number of tools whose vector in the set is of the previous document kind, because these tools were not
 * yet encoded again. */
size_t wt__index_former_vectors(const struct index_handle *index, const struct index_set *set);

/* Drops a damaged index and deletes its files, so that the next build reads only the store. The caller keeps its
 * reference. */
void wt__engine_discard_index(wt_engine *engine, struct index_handle *index);

/* Loads the tools of the current index into memory, so that queries on it need not read the store. */
void wt__engine_keep_tools(wt_engine *engine);
/* Returns a read connection for this thread, to be returned soon. For a store with a single connection, locks
 * store_lock until the connection is returned, so the caller must not take store_lock meanwhile. */
int wt__engine_reader(wt_engine *engine, struct store **out, wt_error *err);
void wt__engine_return_reader(wt_engine *engine, struct store *reader);

/* A read connection for one scope: `WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};` */
struct engine_reader {
    wt_engine *engine;
    struct store *store; /* NULL before wt__open_reader */
};
int wt__open_reader(struct engine_reader *reader, wt_engine *engine, wt_error *err);
/* Ends the read transaction, if any, resets the busy timeout to engine->busy_ms, and gives the connection back. */
void wt__close_reader(struct engine_reader *reader);

/* Work like wt__store_get and wt__store_list for the tools of the index. The strings in *out are valid as long as the
 * arena and the index. */
int wt__index_tools(wt_engine *engine, const struct index_handle *index, const int64_t *ids, size_t count,
                    struct arena *arena, struct tool *out, wt_error *err);
int wt__index_provider(wt_engine *engine, const struct index_handle *index, const struct str *provider, size_t limit,
                       struct arena *arena, int64_t **ids, size_t *count, wt_error *err);

/* Work like wt__store_each_name (for all names) and wt__store_each_provider, in any order. A provider may be visited
 * more than once. Tools that were added after the index was built may be visited. */
int wt__index_each_name(wt_engine *engine, const struct index_handle *index, store_name_visit visit, void *context,
                        wt_error *err);
int wt__index_each_provider(wt_engine *engine, const struct index_handle *index, store_provider_visit visit,
                            void *context, wt_error *err);

int wt__engine_workspace(wt_engine *engine, struct workspace **out, wt_error *err);
void wt__engine_return_workspace(wt_engine *engine, struct workspace *workspace);

/* Sets the language model and closes the previous one, which must not be in use. Copies strings. Errors: WT_ENOMEM. */
int wt__engine_set_chat(wt_engine *engine, const wt_open_options *options, wt_error *err);
void wt__engine_chat_dispose(struct engine_chat *chat);

/* Returns the language model, borrowed until the engine is closed. Errors: WT_EINVAL (no model named, or both recording
 * and replaying), those of wt__chat_client_open and wt__chat_record_open. */
int wt__engine_chat(wt_engine *engine, struct chat_model **out, wt_error *err);

/* Opens another model, "NAME" of the same server or "NAME@URL" of another server. Recorded answers are shared. The key
 * is not sent to another server. `chat` must be zeroed; *out belongs to it. The caller disposes of `chat`, also on an
 * error. Errors: those of wt__engine_chat. */
int wt__engine_chat_named(wt_engine *engine, const char *model, struct engine_chat *chat, struct chat_model **out,
                          wt_error *err);

#endif
