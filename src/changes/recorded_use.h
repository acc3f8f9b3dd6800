/* recorded_use.h: what the engine makes of recorded use: vectors of tools from the requests that used them (Tool2Vec,
 * section 4.1). The sums are the store's (store/store.h); this brings them up to date and reads them as vectors.
 *
 * The set of these vectors stands beside that of descriptions: same model, kind "usage_1". It has changed when
 * sums_generation of wt__store_usage_info has; wt__store_each_usage_sum tells which tools have a vector, and of which
 * generation, so that only those that changed need to be fetched. */
#ifndef WT_CHANGES_RECORDED_USE_H
#define WT_CHANGES_RECORDED_USE_H

#include "engine/engine.h"

/* The encoder whose sums are searched: the trained one of this store, else the engine's. WT_EMODEL when there is none.
 */
int wt__usage_encoder(wt_engine *engine, const struct encoder **out, wt_error *err);

enum { REPORTED_MESSAGE_BYTES = 256 };

/* A usage as one of many callers reports it, and what became of it. */
struct reported_usage {
    struct str line;   /* a line of JSON as wt_add_usage reads it, without its end */
    struct str client; /* whose it is, whatever the line says; "": what that says */
    struct str key;    /* of a line that says none; "": none */

    int code;             /* told: 0, or WT_EFORMAT: it makes no sense, or no tool of it is known */
    enum usage_fate fate; /* where code is 0 */
    size_t unknown_tools;
    bool none_known;                      /* code is WT_EFORMAT because no tool of it is known */
    char message[REPORTED_MESSAGE_BYTES]; /* the first that is wrong with it; "": nothing is */
};

/* Records usages in one transaction, each for itself: a bad one costs the others nothing. They are on the disk when
 * this returns 0; else none is. Nothing is encoded. Takes store_lock. Errors: those of the store, WT_ENOMEM. */
int wt__record_reported(wt_engine *engine, struct reported_usage *const *usages, size_t count, wt_error *err);

/* Encodes the teaching usages after the mark and adds them to the sums, then makes stale sums anew. Batches of usages,
 * each its own transaction: a stop loses little, and the next call goes on. *learned: requests encoded, up to where it
 * ended. Takes store_lock; not to be called with it. */
int wt__usage_learn(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *learned,
                    wt_error *err);

/* The same by one thread alone, for who learns while others ask. No query meanwhile makes the index of what was
 * learned: this does. progress: as of wt_learn_usage. Returns how many requests were encoded. */
int64_t wt__usage_learn_behind(wt_engine *engine, wt_progress_fn report, void *context, wt_error *err);

/* Tools and usages as the trained encoder reads them, after training or when there are new ones. No training: nothing
 * to do. Errors: WT_ECANCELLED, WT_ENOMEM, those of the store. */
int wt__engine_update_trained(wt_engine *engine, struct progress *progress, wt_error *err);

/* The usages that there are now were trained on: wt_training_due counts from here. */
int wt__usage_trained_on(wt_engine *engine, wt_error *err);

#endif
