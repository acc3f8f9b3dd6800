/* copies.h: near-copies among the candidates of a request. A provider that offers again what another one offers takes
 * places that tell the request nothing new, so of copies by several providers only the oldest gets a place.
 *
 * A candidate is a near-copy when an older candidate of another provider is named alike, has much the same vector, and
 * is worth about as much to this request. Who was there first is told by the row: rows are in the order of import.
 * Tools of one provider are never copies of each other, since they are often described alike and do different things;
 * and one that the request prefers to its elder, because it says its provider's name, say, is no copy to that request.
 * docs/floods.md has what each condition is worth. */
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
    const uint32_t *rows;            /* [N] of the candidates, ascending */
    float *worth;                    /* [N] to the request; filled by who composes */
    uint32_t *older;                 /* [N] scratch */
    float *cosines;                  /* [N] scratch */
    size_t left_out;                 /* how many candidates were told to be copies */
};

/* 1 when candidate c is a near-copy of one of the others, which left_out then counts, else 0. Errors: WT_ESTORE (a
 * damaged vector was met), WT_ENOMEM. */
int wt__near_copy(struct copies *copies, uint32_t c, wt_error *err);

#endif
