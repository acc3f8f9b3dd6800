/* copies.h: near-copies among the candidates of a request. A provider that offers again what another one offers takes
 * places that tell the request nothing new, so of copies by several providers only the oldest gets a place.
 *
 * A candidate is a near-copy when one that came before it, of another provider, is older, named alike and has much
 * the same vector. Who was there first is told by the row: rows are in the order of import. Tools of one provider are
 * never copies of each other, since they are often described alike and do different things; and one that the request
 * prefers to its elder, because it says its provider's name, say, is no copy to that request. docs/floods.md has what
 * each condition is worth. */
#ifndef WT_RETRIEVE_COPIES_H
#define WT_RETRIEVE_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "index/snapshot.h"

struct copies {
    const struct vectors *vectors; /* of the tools' own texts */
    struct vectors_scratch *scratch;
    const struct snapshot_key *keys; /* of all rows */
    uint32_t *met;                   /* [N] rows of the candidates that came before */
    size_t met_count;
    uint32_t *older; /* [N] scratch */
    float *cosines;  /* [N] scratch */
    size_t left_out; /* how many candidates were told to be copies */
};

/* The next candidate, best first: 1 when it is a near-copy of one that came before, which left_out then counts; else 0,
 * and others may be copies of it, whether it gets a place or not. Errors: WT_ESTORE (a damaged vector was met),
 * WT_ENOMEM. */
int wt__near_copy(struct copies *copies, uint32_t row, wt_error *err);

#endif
