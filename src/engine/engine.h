/* engine.h: what an open engine is made of, and who may touch what.
 *
 *   store      the catalogue; one thread at a time, so every use holds store_lock
 *   encoder    immutable once opened; opened by the first who needs it
 *   trained    what training left for this store; the same
 *   shelf      the current snapshot; immutable, shared by reference count, swapped whole when the store moved on
 *   workspaces scratch of a query (analyser, arenas, activations), one a running query, kept between queries
 *   chat       the language model, opened by the first who asks it
 *
 * Locks, in the order in which they may nest: lazy_lock (what the first who needs it makes: chat, a shelf's bundles),
 * build_lock (one refresh at a time), store_lock, lock (pointers and counts, never held over I/O). */
#ifndef WT_ENGINE_ENGINE_H
#define WT_ENGINE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/progress.h"
#include "catalog/store.h"
#include "encoder/encoder.h"
#include "engine/engine_chat.h"
#include "recipe/trained.h"
#include "index/snapshot.h"
#include "retrieve/retrieve.h"

#define SHELF_UNCOUNTED SIZE_MAX

/* A snapshot with the count of those who use it. */
struct shelf {
    struct snapshot *snapshot;
    atomic_size_t without_vector[SNAPSHOT_MAX_SETS]; /* tools, a set; SHELF_UNCOUNTED until a query wants that set */
    const struct trained *labels; /* whose neighbours' tools it knows; NULL until a query wants them */
    uint32_t *label_rows;         /* [labels->past.label_count] */
    struct bundles *bundles[2];   /* of those neighbours, by labels' encoder and by the engine's; NULL until one is
                                     wanted (engine/bundles.h) */
    atomic_uint references;
};

struct workspace_slot {
    struct workspace *workspace;
    struct workspace_slot *next;
};

struct wt_engine {
    char *path;
    char *index_folder;   /* "" when the snapshot lives in memory only */
    char *model_folder;   /* "" when there is no model */
    char *trained_folder; /* "" when there can be none */
    char *model_name;
    bool read_only;
    unsigned threads, busy_ms;

    pthread_mutex_t store_lock;
    struct store *store;

    pthread_mutex_t lazy_lock;
    struct engine_chat chat;

    pthread_mutex_t build_lock;
    pthread_mutex_t lock;
    struct shelf *shelf; /* NULL until the first query */
    struct encoder *encoder;
    wt_error encoder_error; /* why there is none, when encoder_tried */
    bool encoder_tried;
    struct trained *trained;
    wt_error trained_error; /* why there is none, when trained_tried and what there is cannot be used; else code 0 */
    bool trained_tried;
    struct trained *retired; /* what was trained before, by its `next` */
    struct workspace_slot *free_workspaces;
};

/* The encoder, opened on first use. WT_EMODEL with the reason when there is none. */
int wt__engine_encoder(wt_engine *engine, const struct encoder **out, wt_error *err);
int wt__engine_encoder_locked(wt_engine *engine, const struct encoder **out, wt_error *err); /* with build_lock held */

/* What training left, read on first use; *out is NULL when there is nothing. Where it lacks an encoder, the error is
 * why the engine has none. */
int wt__engine_trained(wt_engine *engine, const struct trained **out, wt_error *err);
int wt__engine_trained_locked(wt_engine *engine, const struct trained **out, wt_error *err); /* with build_lock held */

/* Reads it anew when it is next asked for: after training. What queries still use lives on until the engine ends. */
void wt__engine_forget_trained(wt_engine *engine);

/* The store's vectors of the tools' texts by this encoder. */
struct vector_set wt__engine_vectors(const struct encoder *encoder, const wt_engine *engine);

/* A set of the snapshot: vectors that a query searches. */
struct shelf_set {
    const char *model, *kind;
};

/* The snapshot of the catalogue as it is now; made or refreshed first when it has to be. Given back with
 * wt__shelf_release. want: the vectors that it should carry; NULL: lexical alone will do. labels: whose neighbours'
 * tools it should know; NULL: none's. */
int wt__engine_shelf(wt_engine *engine, const struct shelf_set *want, const struct trained *labels, struct shelf **out,
                     wt_error *err);
void wt__shelf_release(struct shelf *shelf);

/* A new snapshot of that content, kept in the folder; in memory alone, with what `previous` (or NULL) has of it, where
 * there is no folder ("") or whatever is wrong with it, which makes no difference but time. */
int wt__engine_snapshot(const wt_engine *engine, const char *folder, const struct snapshot_content *content,
                        const struct snapshot *previous, struct snapshot **out, wt_error *err);

/* The row of a tool, or the number of rows when the snapshot does not hold it. */
size_t wt__shelf_row(const struct snapshot *snapshot, int64_t id);

/* How many tools have no vector in a set of the shelf. */
size_t wt__shelf_without_vector(struct shelf *shelf, const struct shelf_set *set);

/* Forgets a shelf in which damage was met, with its files, so that the next one is made from the store alone. The
 * caller keeps its reference. */
void wt__engine_discard_shelf(wt_engine *engine, struct shelf *shelf);

int wt__engine_workspace(wt_engine *engine, struct workspace **out, wt_error *err);
void wt__engine_return_workspace(wt_engine *engine, struct workspace *workspace);

#endif
