/* compose.h: ranks tools by the evidence that each text of a request gives. */
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

/* Evidence of each text for each candidate. Text 0 is the whole request. The others are its sub-queries, if it has
 * several. value[t] is [N]. All texts use one scale: the best tool of a text scores about the retriever's total
 * weight. */
struct evidence {
    size_t texts, candidates; /* candidates: N */
    const uint32_t *rows;     /* [N] */
    const uint32_t *provider; /* [N] number of the provider, for the cap */
    float *value[TEXTS_MAX];
    float subquery_weight; /* weight of a sub-query relative to the whole request; 1 if untrained */
    uint16_t *leads;       /* [N] 1-based index of the request's name that this tool leads, or 0. NULL without names */
    float *named;          /* [N] with `leads`: score of a named tool and its namesakes; 0 for others */
    struct copies *copies; /* candidates that share places; NULL if copies are ranked like other tools */
};

struct chosen_candidate {
    uint32_t candidate;
    uint32_t text; /* sub-query that counted; 0 if the request has only one */
    float score;
    float subquery; /* part of score added by the sub-query, after decay; both belong to the best of its copies */
};

/* Picks at most k candidates, best first, into out [k] and sets *count. Candidates must be in ascending row order; ties
 * go to the lower row. max_per_provider is 0 for no cap. Errors: WT_ENOMEM and those of wt__copy_next. */
int wt__compose(const struct evidence *evidence, size_t k, size_t max_per_provider, struct arena *scratch,
                struct chosen_candidate *out, size_t *count, wt_error *err);

#endif
