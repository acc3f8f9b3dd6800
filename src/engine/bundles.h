/* bundles.h: the sets of tools that past requests used together, each set once, found by the words of its tools (PTR,
 * section 2.1).
 *
 * They are those of training's past requests, so that an evaluation never sees a set of the requests that it measures.
 * Words and vectors of them, by training's encoder or the engine's, are made when first wanted and kept in snapshots of
 * their own (STORE-index/bundles, STORE-index/bundles-untrained), which follow the catalogue as that of the tools does.
 */
#ifndef WT_ENGINE_BUNDLES_H
#define WT_ENGINE_BUNDLES_H

#include "engine/engine.h"

enum {
    BUNDLES_MOST = 20000, /* those that most requests used; of equal ones the earliest */
};

struct bundles {
    const struct encoder *encoder;
    size_t count;
    size_t left_out;           /* beyond the most */
    uint32_t *starts;          /* [count + 1] where the rows of each begin */
    uint32_t *rows;            /* the index's, ascending within each */
    struct snapshot *snapshot; /* a row each; NULL when there are none */
};

/* Those of an index that knows the rows of training's labels (struct index_handle.labels), by training's encoder or
 * another one. *out is the index's; it may hold none. Tools that are gone are missing from them. Errors: WT_ENOMEM,
 * WT_ESTORE,
 * ... */
int wt__bundles_of(wt_engine *engine, struct progress *progress, struct index_handle *index,
                   const struct encoder *encoder, const struct bundles **out, wt_error *err);
void wt__bundles_free(struct bundles *bundles); /* NULL is a no-op */

/* Forgets their files, when damage was met in reading them: they are made anew for the next index. */
void wt__bundles_discard(const wt_engine *engine);

struct bundle_query {
    struct str text;
    const struct retriever
        *retriever;          /* whose weights of words and meaning count; meaning alone where it has neither */
    const uint64_t *allowed; /* a bit a row of the index, for the tools that may be found; NULL: all */
    struct workspace *workspace;
};

/* *out: the bundle most like the text that holds a tool that may be found; count when there is none. */
int wt__bundles_nearest(const struct bundles *bundles, const struct bundle_query *query, size_t *out, wt_error *err);

#endif
