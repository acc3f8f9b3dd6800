/* relevance.h: the probability that a request needs the tool of a hit. Scores cannot express this, because they are
 * relative to the best score of their request.
 *
 * The probability is a logistic function of features of the hit and of the request's best hit, independent of the
 * retriever's weights. It needs no further search and does not change the order. The fit assumes that one request in
 * five needs no tool. Requests of other catalogues, requests whose tools were removed, and small talk represent
 * these. */
#ifndef WT_CHOOSE_RELEVANCE_H
#define WT_CHOOSE_RELEVANCE_H

#include "retrieve/retrieve.h"

enum relevance_feature {
    RELEVANCE_SHARE,   /* score divided by the best hit's score, as in the first stage */
    RELEVANCE_MEANING, /* cosine with the nearest sub-query, or with a request without sub-queries */
    RELEVANCE_WORDS,   /* weighted share of words that the tool has, of the same text */
    RELEVANCE_NEAREST, /* greatest cosine of any tool with the whole request */
    RELEVANCE_LEAD,    /* its lead over the tenth tool */
    RELEVANCE_VOTES,   /* log(share of past requests' votes + a small constant), if votes have a weight */
    RELEVANCE_FEATURES
};

enum { RELEVANCE_HITS = 10 /* hits per request in the fit */ };

struct relevance_model {
    float weights[RELEVANCE_FEATURES], constant;
};

/* Relevance of a tool named in the request. Measured on the dev set of bench/real. */
#define RELEVANCE_NAMED 0.95f

/* Returns the weights fitted on other catalogues for this kind of evidence: words, vectors, or both. */
const struct relevance_model *wt__relevance_default(const struct retriever *retriever, const struct hit_list *hits);

void wt__relevance_read(float out[RELEVANCE_FEATURES], const struct retriever *retriever, const struct hit_list *hits,
                        const struct hit *hit);

/* Returns the relevance of a hit, or NaN if the first stage did not find it. relevance: NULL for the default. */
float wt__relevance(const struct relevance_model *relevance, const struct retriever *retriever,
                    const struct hit_list *hits, const struct hit *hit);

/* Returns the probability, limited to 1 - none. none: probability that no tool fits, or NaN if unknown. */
float wt__relevance_below(float probability, double none);

#endif
