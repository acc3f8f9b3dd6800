/* relevance.h: estimates the probability that a request needs a hit, finds weak hits, and chooses sets of tools in
 * catalogues without recorded use. */
#ifndef WT_CHOOSE_RELEVANCE_H
#define WT_CHOOSE_RELEVANCE_H

#include "retrieve/retrieve.h"

/* Relevance is the probability that a request needs the tool of a hit. A score does not express this, because scores
 * are relative to the best score of the same request. Relevance does not change the order of hits.
 *
 * The learned scorer estimates it (retrieve/scorer.h). The recipes bm25 and dense do not use the scorer, and training
 * fits a catalogue of its own. There, relevance is a logistic function of features of the hit and of the tools nearest
 * to the request. The default weights were fitted for the case that one request in five needs no tool. */

enum relevance_feature {
    RELEVANCE_SHARE,   /* score divided by the best hit's score, as in the first stage */
    RELEVANCE_MEANING, /* cosine with the nearest sub-query, or with a request without sub-queries */
    RELEVANCE_WORDS,   /* weighted share of the words of a sub-query (or request) that the tool has; 0 without words */
    RELEVANCE_NEAREST, /* greatest cosine of any tool with the whole request */
    RELEVANCE_LEAD,    /* RELEVANCE_NEAREST minus the cosine of the tenth nearest tool */
    RELEVANCE_VOTES,   /* log(share of past requests' votes + a small constant); 0 if votes have no weight */
    RELEVANCE_FEATURES
};

enum { RELEVANCE_HITS = 10 }; /* number of first hits of a request to which the model is fitted */

struct relevance_model {
    float weights[RELEVANCE_FEATURES], constant;
};

/* Relevance of a tool whose name is in the request, as measured on the dev set of bench/real. */
#define RELEVANCE_NAMED 0.95f

/* Returns the weights fitted on other catalogues for words or for vectors. */
const struct relevance_model *wt__relevance_default(const struct retriever *retriever, const struct hit_list *hits);

/* Reads the features of a hit. */
void wt__relevance_read(float out[RELEVANCE_FEATURES], const struct retriever *retriever, const struct hit_list *hits,
                        const struct hit *hit);

/* Returns the relevance of a hit, or NaN if the first stage did not find it. relevance: NULL for the scorer's estimate,
 * or the default weights if the retriever does not use the scorer. */
float wt__relevance(const struct relevance_model *relevance, const struct retriever *retriever,
                    const struct hit_list *hits, const struct hit *hit);

/* Returns the smaller of probability and 1 - none. none: probability that no tool fits; NaN if unknown. */
float wt__relevance_below(float probability, double none);

/* True if there is hardly any evidence for a hit. A search finds such hits even if no tool is suitable. With the
 * learned scorer, all hits are weak if probably no tool fits, and otherwise a hit that is very unlikely to be needed.
 * In other searches, the cosine of a weak hit is low, and it has no word of the request, or only a common word such as
 * "send" or "file". A hit found by its name, by past requests or by a reranker is not weak. */
bool wt__hit_is_weak(const struct retriever *retriever, const struct hit_list *hits, const struct hit *hit);

/* True if probably no tool fits: the request names no tool, and hits->fits_quantile is below `share`. share: share of
 * requests with a fitting tool for which this may be true by mistake, 0 to 1. */
bool wt__nothing_fits(const struct hit_list *hits, double share);

/* The set for a request in a catalogue without recorded use.
 *
 * Each sub-query of a request is a need. A request without sub-queries is a single need. The hits of a need are
 * alternatives: one of them may be the right tool. The set has the most likely hit of each need. Further
 * hits of the need are added until it is likely that one of them is right. A need whose best hit is unlikely gets no
 * tool. The probability that a hit is right is a logistic function of its need features. */

enum need_feature {
    NEED_RELEVANCE, /* log odds of the hit's relevance */
    NEED_MEANING,   /* cosine with the nearest sub-query */
    NEED_RANK,      /* log(1 + number of earlier hits for the need) */
    /* First hit of a need: its lead over the second hit, divided by its score; 1 without a second hit. Other hits:
     * minus the distance to the score of the first hit, divided by the score of the first hit. */
    NEED_MARGIN,
    NEED_FEATURES
};

enum {
    NEED_HITS = 30, /* maximum number of hits read per request */
    NEED_DEPTH = 5  /* maximum number of hits read per need */
};

struct need_hit {
    uint32_t hit;  /* index of the hit */
    uint32_t need; /* number of the need; needs are numbered in the order of their first hits */
    float values[NEED_FEATURES];
    float probability;
};

/* Lists the hits of all needs, in the order of `hits`. out: [NEED_HITS]. Returns the number of entries. hits:
 * `probability` of each hit must be its relevance; NaN counts as 0. */
size_t wt__need_hits(const struct hit_list *hits, struct need_hit *out);

struct need_set {
    uint32_t which[NEED_HITS]; /* [len] indices of need_hits, most likely first */
    size_t len;
    float complete; /* probability that every need with a tool has a right tool */
    float tracc;    /* expected TRACC if the request has no other needs; 0 for an empty set */
};
/* Chooses tools for each need. least: minimum probability of a need's best tool; negative to give every need a tool. */
void wt__choose_by_needs(const struct need_hit *hits, size_t count, float least, struct need_set *out);

/* Minimum probability of a need's best tool. */
extern const float wt__need_least;

#endif
