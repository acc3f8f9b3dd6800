/* bundles.h: bundles, the distinct sets of tools that past requests used. A bundle is found by the text of its tools
 * (PTR, section 2.1).
 *
 * Bundles come only from the past requests of training, so that an evaluation never sees the sets of the requests it
 * measures. The first use of bundles indexes and encodes them, and writes a snapshot below the index folder:
 * STORE-index/bundles with vectors by the encoder of training, STORE-index/bundles-untrained with vectors by the
 * encoder of the engine. A snapshot is made again when the catalogue changes. */
#ifndef WT_ENGINE_BUNDLES_H
#define WT_ENGINE_BUNDLES_H

#include "engine/engine.h"

enum {
    BUNDLES_MOST = 20000, /* maximum number of bundles; the most used are kept, and of equally used ones the earliest */
};

struct bundles {
    const struct encoder *encoder; /* encoder of the bundles' vectors */
    size_t count;
    size_t left_out;           /* number of bundles dropped because of BUNDLES_MOST */
    uint32_t *starts;          /* [count + 1] index in `rows` of each bundle's first row */
    uint32_t *rows;            /* rows of the index, ascending within a bundle */
    struct snapshot *snapshot; /* one row per bundle; NULL if count is 0 */
};

/* Returns the bundles of an index, made on first use. index->labels must be set. encoder: the encoder of training or of
 * the engine. *out belongs to the index and may be empty. Bundles do not include removed tools. Errors: WT_ENOMEM,
 * WT_ESTORE, errors of encoding. */
int wt__bundles_of(wt_engine *engine, struct progress *progress, struct index_handle *index,
                   const struct encoder *encoder, const struct bundles **out, wt_error *err);
void wt__bundles_free(struct bundles *bundles); /* NULL is a no-op */

/* Deletes the snapshots of bundles after damage was found. The next index makes them again on first use. */
void wt__bundles_discard(const wt_engine *engine);

struct bundle_query {
    struct str text;                   /* request */
    const struct retriever *retriever; /* has the weights of words and meaning; if both are 0, only meaning counts */
    const uint64_t *allowed;           /* one bit per row of the index, set if the tool may be found; NULL for all */
    struct workspace *workspace;
};

/* Finds the bundle that is most similar to the request and has an allowed tool. *out is its number, or bundles->count
 * if there is no such bundle. */
int wt__bundles_nearest(const struct bundles *bundles, const struct bundle_query *query, size_t *out, wt_error *err);

#endif
