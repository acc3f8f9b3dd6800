/* relevance.h: the evidence for single hits: the probability that a request needs a hit, hits with hardly any evidence,
 * and one tool per need. */
#ifndef WT_CHOOSE_RELEVANCE_H
#define WT_CHOOSE_RELEVANCE_H

#include "retrieve/retrieve.h"

/* The probability that a request needs the tool of a hit. Scores cannot express this, because they are relative to the
 * best score of their request.
 *
 * The probability is a logistic function of features of the hit and of the request's best hit, independent of the
 * retriever's weights. It needs no further search and does not change the order. The fit assumes that one request in
 * five needs no tool. Requests of other catalogues, requests whose tools were removed, and small talk represent
 * these. */

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

/* Detects hits with hardly any evidence. A search always finds nearest tools, even if the catalogue has nothing
 * suitable. Such tools share a common word with the request ("send", "file") and do something else. */

/* True if a hit has at most one common word of the request and is not near in meaning. A hit found by its name, by past
 * requests or by a reranker is not weak. */
bool wt__hit_is_weak(const struct retriever *retriever, const struct hit *hit);

/* Chooses a set for a request in a catalogue without recorded use: one tool per need.
 *
 * Each sub-query of a request is a need; a request without sub-queries is one need. Hits for the same need are
 * alternatives. The most likely one is taken, and further ones until it is more likely than not that one of them is
 * right. A need gets no tool if its best tool is unlikely. The probability is a logistic function of the hit's features
 * among the hits of its need. The default parameters are data (relevance.c). */

enum need_feature {
    NEED_RELEVANCE, /* log odds of its relevance (relevance.h) */
    NEED_MEANING,   /* cosine with the nearest sub-query */
    NEED_ACTION,    /* 1 if its action matches the request's verb, -1 if not, 0 if unknown */
    NEED_RANK,      /* log(1 + number of earlier hits for the need) */
    NEED_MARGIN,    /* lead of the need's first hit, or (negative) distance to it, relative to its score */
    NEED_WEAK,      /* 1 if hardly any evidence supports it (wt__hit_is_weak), else 0 */
    NEED_FEATURES
};

enum {
    NEED_HITS = 30, /* maximum number of hits read per request */
    NEED_DEPTH = 5  /* maximum number of hits read per need */
};

struct need_hit {
    uint32_t hit;  /* index of the hit */
    uint32_t need; /* number of its need, in order of their first hits */
    float values[NEED_FEATURES];
    float probability;
};

/* Lists the hits of all needs in order: out [NEED_HITS]. Returns their number. The hits' probabilities must be their
 * relevance; NaN counts as 0. retriever: the one that found them. */
size_t wt__need_hits(const struct retriever *retriever, const struct hit_list *hits, struct need_hit *out);

struct need_set {
    uint32_t which[NEED_HITS]; /* [len] indices of need_hits, most likely first */
    size_t len;
    float complete; /* probability that every need with a tool has a right one */
    float tracc;    /* expected TRACC if the request has no other needs; 0 for an empty set */
};
/* Chooses tools for each need. least: minimum probability of a need's best tool; negative to give every need a tool. */
void wt__choose_by_needs(const struct need_hit *hits, size_t count, float least, struct need_set *out);

/* Default minimum probability of a need's best tool. */
extern const float wt__need_least;
/* Returns the probability that the best tool falls below for a share `false_share`, in (0, 1), of answerable
 * requests. */
float wt__need_least_for(double false_share);

#endif
