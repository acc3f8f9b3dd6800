/* relevance.h: the probability that a request needs a hit's tool, by itself: what a score does not say, since scores
 * are divided by the best of their request.
 *
 * It is logistic in what is known of the hit and of the request's best, whatever the retriever weighs: nothing is
 * searched for it, and it changes no order. One request in five is taken to need no tool at all, which the shares of
 * other catalogues' requests, of requests whose tools are gone, and of small talk stand for in the fit. */
#ifndef WT_CHOOSE_RELEVANCE_H
#define WT_CHOOSE_RELEVANCE_H

#include "retrieve/retrieve.h"

enum relevance_feature {
    RELEVANCE_SHARE,   /* the hit's score by the best hit's, as the first stage has it */
    RELEVANCE_MEANING, /* cosine with the sub-query that it is nearest to, or with a request that has none */
    RELEVANCE_WORDS,   /* the same of words: the share that it answers, by weight */
    RELEVANCE_NEAREST, /* the greatest cosine of any tool with the whole request */
    RELEVANCE_LEAD,    /* and what that is above the tenth */
    RELEVANCE_VOTES,   /* log of its share of past requests' votes, and a little, where those are weighed */
    RELEVANCE_FEATURES
};

enum { RELEVANCE_HITS = 10 /* of a request, that it is fitted to */ };

struct relevance {
    float weights[RELEVANCE_FEATURES], constant;
};

/* Of a tool that leads: its name stands in the request. Measured on bench/real's dev. */
#define RELEVANCE_NAMED 0.95f

/* Made of other catalogues, by what was found: words, vectors, or both. */
const struct relevance *wt__relevance_default(const struct retriever *retriever, const struct hit_list *hits);

void wt__relevance_read(float out[RELEVANCE_FEATURES], const struct retriever *retriever, const struct hit_list *hits,
                        const struct hit *hit);

/* NaN for a hit that the first stage did not find. relevance: NULL for the default. */
float wt__relevance(const struct relevance *relevance, const struct retriever *retriever, const struct hit_list *hits,
                    const struct hit *hit);

/* The probability, and no more than what the probability that no tool fits, or NaN, leaves. */
float wt__relevance_below(float probability, double none);

#endif
