/* neighbours.h: the tools used by the most similar past requests.
 *
 * Users often repeat requests with the same sets of tools. Neighbours retrieve such a set together, which vectors of
 * single tools cannot do. */
#ifndef WT_RETRIEVE_NEIGHBOURS_H
#define WT_RETRIEVE_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "base/topk.h"

enum { NEIGHBOURS_ASKED = 20 }; /* number of past requests that vote */

/* Past requests. The caller owns all memory. */
struct neighbours {
    size_t count, dim;        /* N, D */
    const float *requests;    /* [N, D] unit vectors */
    const uint32_t *starts;   /* [N + 1] start of each request's labels */
    const uint32_t *labels;   /* labels used by each request */
    const uint32_t *rows;     /* row of each label in the snapshot, or NEIGHBOURS_GONE */
    size_t most_labels;       /* maximum number of labels of a request */
    const uint64_t *left_out; /* bitmap of requests without a vote; NULL if all vote */
};
#define NEIGHBOURS_GONE UINT32_MAX

/* Votes by row, ascending, each row once, and the requests that voted. */
struct neighbour_votes {
    const struct scored *items;
    size_t len;
    const struct scored *requests; /* [request_count] requests by number with their cosines, best first */
    size_t request_count;
};

static inline size_t wt__neighbours_bits(size_t count)
{
    return (count + 63) / 64;
}

/* Returns the unnormalised weight of a request's vote: exp(20 (cosine - nearest)), so 1 for the nearest request. */
float wt__neighbours_weight(float cosine, float nearest);

/* Finds the k requests nearest to the unit vector query [D] and stores them in best [k], best first. Returns their
 * number. scores: [N] scratch. */
size_t wt__neighbours_nearest(const struct neighbours *neighbours, const float *query, size_t k, float *scores,
                              struct scored *best);

/* Votes for the rows used by the nearest requests. The weights of all requests add up to one vote. query: [D] unit
 * vector. scores: [N] scratch. items: room for NEIGHBOURS_ASKED * most_labels. requests: room for NEIGHBOURS_ASKED.
 * allowed: as in a search, or NULL. */
struct neighbour_votes wt__neighbours_vote(const struct neighbours *neighbours, const float *query,
                                           const uint64_t *allowed, float *scores, struct scored *items,
                                           struct scored *requests);

#endif
