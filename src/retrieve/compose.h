/* compose.h: from the evidence of a request's texts to an order of tools. */
#ifndef WT_RETRIEVE_COMPOSE_H
#define WT_RETRIEVE_COMPOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "retrieve/copies.h"
#include "retrieve/segment.h"

/* The whole request and its sub-queries. */
enum { TEXTS_MAX = 1 + SUBQUERIES_MAX };

/* What each text says of each candidate. Text 0 is the whole request; the others are its sub-queries, if there are
 * several. value[t] is [N], on one scale for all texts: a text's best tool has about the weight of the retriever. */
struct evidence {
    size_t texts, candidates; /* candidates: N */
    const uint32_t *rows;     /* [N] */
    const uint32_t *provider; /* [N] the provider's number, for the cap */
    float *value[TEXTS_MAX];
    float subquery_weight; /* what a sub-query counts beside the whole; 1 where nothing was learned */
    uint16_t *leads; /* [N] of a tool that the request names, which of its names it is, from 1; 0 for others. NULL:
                        it names none */
    float *named;    /* [N] with `leads`: the score that such a tool and its namesakes have; 0 for others */
    struct copies *copies; /* these share places; NULL: they are taken like others */
};

struct choice {
    uint32_t candidate;
    uint32_t text; /* the sub-query that counted; 0 when the request has one sub-query */
    float score;
    float subquery; /* what the sub-query added, after decay; score and it are of the best of its copies */
};

/* Picks at most k candidates, best first, into out [k]; *count: how many. Candidates are taken to be in order of row,
 * which decides ties. max_per_provider: 0 for no cap. Errors: WT_ENOMEM, those of wt__copy_next. */
int wt__compose(const struct evidence *evidence, size_t k, size_t max_per_provider, struct arena *scratch,
                struct choice *out, size_t *count, wt_error *err);

#endif
