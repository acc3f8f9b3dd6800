/* bundles.h: the sets of tools that past requests used together, each set once, found by the words of its tools (PTR,
 * section 2.1).
 *
 * They are those of training's past requests, so that a study never sees a set of the requests that it measures. Their
 * vectors are made when first wanted, by training's encoder, and live as long as the shelf whose rows they hold. */
#ifndef WT_ENGINE_BUNDLES_H
#define WT_ENGINE_BUNDLES_H

#include "engine/engine.h"

enum {
    BUNDLES_MOST = 20000, /* those that most requests used; of equal ones the earliest */
};

struct bundles {
    size_t count, dim;
    size_t left_out;  /* beyond the most */
    uint32_t *starts; /* [count + 1] where the rows of each begin */
    uint32_t *rows;   /* the shelf's, ascending within each */
    float *vectors;   /* [count, D] unit vectors */
};

/* Those of a shelf that knows the rows of training's labels (struct shelf.labels). *out is the shelf's; it may hold
 * none. Tools that are gone are missing from them. Errors: WT_ENOMEM, WT_ESTORE, ... */
int wt__bundles_of(wt_engine *engine, struct shelf *shelf, const struct bundles **out, wt_error *err);
void wt__bundles_free(struct bundles *bundles); /* NULL is a no-op */

/* The bundle most like the text's vector that holds a tool that may be found (allowed: a bit a row; NULL: all); count
 * when there is none. scores: [count] scratch. */
size_t wt__bundles_nearest(const struct bundles *bundles, const float *query, const uint64_t *allowed, float *scores);

static inline bool wt__row_allowed(const uint64_t *allowed, uint32_t row)
{
    return !allowed || (allowed[row / 64] >> row % 64 & 1);
}

#endif
