/* bundles.h: bundles, the distinct sets of tools that past requests used, found by the words of their tools (PTR,
 * section 2.1).
 *
 * Bundles come only from the past requests of training, so that an evaluation never sees the sets of the requests it
 * measures. Their words and vectors are made on first use and kept in two snapshots next to that of the tools:
 * STORE-index/bundles by the encoder of training, STORE-index/bundles-untrained by that of the engine. Both snapshots
 * follow the catalogue. */
#ifndef WT_ENGINE_BUNDLES_H
#define WT_ENGINE_BUNDLES_H

#include "engine/engine.h"

enum {
    BUNDLES_MOST = 20000, /* the most used bundles are kept; ties go to the earliest */
};

struct bundles {
    const struct encoder *encoder; /* encoder of the bundles' vectors */
    size_t count;
    size_t left_out;           /* bundles over BUNDLES_MOST */
    uint32_t *starts;          /* [count + 1] begin of each bundle in rows */
    uint32_t *rows;            /* rows of the index, ascending within a bundle */
    struct snapshot *snapshot; /* one row per bundle; NULL if count is 0 */
};

/* Returns the bundles of an index that knows the label rows of training (index_handle.labels). encoder: that of
 * training or that of the engine. *out belongs to the index and may be empty. Removed tools are left out of their
 * bundles. Errors: WT_ENOMEM, WT_ESTORE, errors of encoding. */
int wt__bundles_of(wt_engine *engine, struct progress *progress, struct index_handle *index,
                   const struct encoder *encoder, const struct bundles **out, wt_error *err);
void wt__bundles_free(struct bundles *bundles); /* NULL is a no-op */

/* Deletes the snapshots of bundles after damage was found; the next index makes them again. */
void wt__bundles_discard(const wt_engine *engine);

struct bundle_query {
    struct str text; /* request */
    const struct retriever
        *retriever;          /* source of the weights of words and meaning; if both are 0, only meaning counts */
    const uint64_t *allowed; /* one bit per row of the index: tools that may be found; NULL for all */
    struct workspace *workspace;
};

/* Finds the bundle most similar to the text among those with an allowed tool. *out is `count` if there is no such
 * bundle. */
int wt__bundles_nearest(const struct bundles *bundles, const struct bundle_query *query, size_t *out, wt_error *err);

#endif
