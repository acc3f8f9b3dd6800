/* recorded_use.h: learns from recorded use: vectors of tools from the requests of their usages (Tool2Vec, section 4.1).
 * The store holds the sums (store/store.h); this module updates them and reads them as vectors.
 *
 * These vectors are a set of their own next to those of descriptions: same model, kind "usage_1". The set has changed
 * if sums_generation of wt__store_usage_info has changed. wt__store_each_usage_sum lists its tools and their
 * generations, so that readers fetch only changed vectors. */
#ifndef WT_CHANGES_RECORDED_USE_H
#define WT_CHANGES_RECORDED_USE_H

#include "engine/engine.h"

/* Returns the encoder of the sums: the trained one of this store, else the engine's. WT_EMODEL if neither exists. */
int wt__usage_encoder(wt_engine *engine, const struct encoder **out, wt_error *err);

enum { REPORTED_MESSAGE_BYTES = 256 };

/* A usage reported by one of several callers, and its result. */
struct reported_usage {
    struct str line;   /* one line of JSON as read by wt_add_usage, without its line break */
    struct str client; /* client of the usage, overriding the line's; "" to keep the line's */
    struct str key;    /* key for a line without one; may be "" */

    int code;             /* result: 0, or WT_EFORMAT if the line is invalid or all its tools are unknown */
    enum usage_fate fate; /* valid if code is 0 */
    size_t unknown_tools;
    bool none_known;                      /* code is WT_EFORMAT because all its tools are unknown */
    char message[REPORTED_MESSAGE_BYTES]; /* first error in the line; "" if it is valid */
};

/* Records usages in one transaction. A bad usage does not affect the others. After a return of 0, all valid usages are
 * on disk; after an error, no usage is. Does not encode. Takes store_lock. Errors: those of the store, WT_ENOMEM. */
int wt__record_reported_usages(wt_engine *engine, struct reported_usage *const *usages, size_t count, wt_error *err);

/* Encodes the teaching usages after the mark and adds them to the sums, then rebuilds stale sums. Works in batches with
 * a transaction each: a stop loses little, and the next call continues. *learned: number of encoded requests, also on
 * failure. Takes store_lock; call without it. */
int wt__usage_learn(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *learned,
                    wt_error *err);

/* Works like wt__usage_learn with a single thread, for learning in the background. Rebuilds the index itself, so that
 * no query has to. progress: as for wt_learn_usage. Returns the number of encoded requests. */
int64_t wt__usage_learn_in_background(wt_engine *engine, wt_progress_fn report, void *context, wt_error *err);

/* Encodes tools and usages with the trained encoder, after training or for new ones. Does nothing without training.
 * Errors: WT_ECANCELLED, WT_ENOMEM, those of the store. */
int wt__engine_update_trained(wt_engine *engine, struct progress *progress, wt_error *err);

/* Marks the current usages as trained on: wt_training_due counts from here. */
int wt__usage_mark_trained(wt_engine *engine, wt_error *err);

#endif
