/* recorded_use.h: learns from recorded use. The vector of a tool is computed from the requests of its usages (Tool2Vec,
 * section 4.1). The store holds the sums of the vectors of requests (store/store.h). This module updates the sums and
 * reads them as vectors.
 *
 * The store keeps these vectors apart from the vectors of descriptions, as a vector set of kind "usage_1". The set has
 * changed if sums_generation of wt__store_usage_info has changed. wt__store_each_usage_sum lists the tools of the set
 * and their generations, so that readers fetch only changed vectors. */
#ifndef WT_CHANGES_RECORDED_USE_H
#define WT_CHANGES_RECORDED_USE_H

#include "engine/engine.h"

/* Sets *out to the encoder of the sums: the trained encoder of this store if it exists, else the encoder of the engine.
 * Returns WT_EMODEL if neither exists. */
int wt__usage_encoder(wt_engine *engine, const struct encoder **out, wt_error *err);

enum { REPORTED_MESSAGE_BYTES = 256 };

/* A usage reported by one of several callers, and its result. */
struct reported_usage {
    struct str line;   /* one line of JSON as read by wt_add_usage, without its line break */
    struct str client; /* client of the usage, overriding the line's; "" to keep the line's */
    struct str key;    /* key for a line without one; may be "" */

    int code;             /* result: 0, or WT_EFORMAT if the line is invalid or all its tools are unknown */
    enum usage_fate fate; /* valid if code is 0 */
    size_t unknown_tools; /* number of unknown tools; 0 if code is not 0 */
    bool none_known;      /* code is WT_EFORMAT because all its tools are unknown */
    char message[REPORTED_MESSAGE_BYTES]; /* first problem of the line, even if code is 0; "" if it has none */
};

/* Records usages in one transaction, or spools them on a replica. A bad usage does not affect the others. After a
 * return of 0, all valid usages are on disk; after an error, no usage is. Does not encode. Takes store_lock. Errors:
 * those of the store, WT_ENOMEM. */
int wt__record_reported_usages(wt_engine *engine, struct reported_usage *const *usages, size_t count, wt_error *err);

enum {
    USAGE_SEGMENT_ID_LEAST = 16, /* digits of a segment's id */
    USAGE_SEGMENT_ID_MOST = 64,
    USAGE_SEGMENT_LINES_MAX = 100000,
    USAGE_SEGMENT_BYTES_MAX = 64 << 20,
};

/* Result of a segment of usages that a replica has spooled (replica/usage_spool.h). */
struct usage_segment {
    bool applied; /* false if the segment was applied before */
    size_t lines;
    size_t recorded, repeated; /* usages recorded; usages whose key was known, and outcomes */
    size_t refused;            /* invalid usages */
};

/* Applies a segment of JSON Lines exactly once: its id is stored in the same transaction. Does not encode. Takes
 * store_lock. Errors: WT_EFORMAT (id or a line is malformed; nothing is applied), WT_ETOOLONG, WT_EREADONLY, those of
 * the store. */
int wt__apply_usage_segment(wt_engine *engine, struct str id, struct str lines, struct usage_segment *out,
                            wt_error *err);

/* Encodes the teaching usages after the mark (store/store.h) and adds them to the sums. Then rebuilds stale sums. Each
 * batch is one transaction, so a stop loses little, and the next call continues. *learned: number of encoded requests,
 * also on failure. Takes store_lock; call without it. */
int wt__usage_learn(wt_engine *engine, const struct encoder *encoder, struct progress *progress, size_t *learned,
                    wt_error *err);

/* Works like wt__usage_learn with a single thread, for learning in the background. Also rebuilds the index, so that no
 * query has to wait for that. report, context: as in wt_learn_usage. Returns the number of encoded requests, or an
 * error. */
int64_t wt__usage_learn_in_background(wt_engine *engine, wt_progress_fn report, void *context, wt_error *err);

/* Encodes the tools and usages that have no vectors of the trained encoder. Does nothing without a trained encoder.
 * Errors: WT_ECANCELLED, WT_EMODEL, WT_ENOMEM, those of the store. */
int wt__engine_update_trained(wt_engine *engine, struct progress *progress, wt_error *err);

/* Records that training has used the current usages. wt_training_due counts only later usages. */
int wt__usage_mark_trained(wt_engine *engine, wt_error *err);

#endif
