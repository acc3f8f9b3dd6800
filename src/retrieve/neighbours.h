/* neighbours.h: the tools of the past requests that are most like this one.
 *
 * Where users ask for the same things again, with the same sets of tools, this is hard to beat: a set that was used
 * together comes back together, which no vector of a single tool knows. */
#ifndef WT_RETRIEVE_NEIGHBOURS_H
#define WT_RETRIEVE_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "base/topk.h"

enum { NEIGHBOURS_ASKED = 20 }; /* past requests that vote */

/* Past requests; all memory is the caller's. */
struct neighbours {
    size_t count, dim;        /* N, D */
    const float *requests;    /* [N, D] unit vectors */
    const uint32_t *starts;   /* [N + 1] where the labels of each begin */
    const uint32_t *labels;   /* what each used, as numbers of labels */
    const uint32_t *rows;     /* a label's row in the snapshot, or NEIGHBOURS_GONE */
    size_t most_labels;       /* of one request */
    const uint64_t *left_out; /* a bit a request: those have no vote; NULL: all have */
};
#define NEIGHBOURS_GONE UINT32_MAX

/* What each row got, ascending by row, each row once; and whose votes these were. */
struct neighbour_votes {
    const struct scored *items;
    size_t len;
    const struct scored *requests; /* [request_count] the requests, by number, with their cosines, best first */
    size_t request_count;
};

static inline size_t wt__neighbours_bits(size_t count)
{
    return (count + 63) / 64;
}

/* What a request's vote weighs, as long as nobody shares it: exp(20 cosine), 1 for the nearest. */
float wt__neighbours_weight(float cosine, float nearest);

/* The k requests nearest to query [D], of length one, best first in best [k]; returns how many. scores: [N] scratch. */
size_t wt__neighbours_nearest(const struct neighbours *neighbours, const float *query, size_t k, float *scores,
                              struct scored *best);

/* Votes for the rows that the nearest requests used: each request has its weight, all of them together one vote. query:
 * [D], of length one. scores: [N] scratch. items: room for NEIGHBOURS_ASKED * most_labels; requests: for
 * NEIGHBOURS_ASKED. allowed: as in a search, or NULL. */
struct neighbour_votes wt__neighbours_vote(const struct neighbours *neighbours, const float *query,
                                           const uint64_t *allowed, float *scores, struct scored *items,
                                           struct scored *requests);

#endif
