/* needs.h: chooses a set for a request in a catalogue without recorded use: one tool per need.
 *
 * Each sub-query of a request is a need; a request without sub-queries is one need. Hits for the same need are
 * alternatives. The most likely one is taken, and further ones until it is more likely than not that one of them is
 * right. A need gets no tool if its best tool is unlikely. The probability is a logistic function of the hit's features
 * among the hits of its need. The default parameters are data (needs.c). */
#ifndef WT_CHOOSE_NEEDS_H
#define WT_CHOOSE_NEEDS_H

#include "retrieve/retrieve.h"

enum need_feature {
    NEED_RELEVANCE, /* log odds of its relevance (relevance.h) */
    NEED_MEANING,   /* cosine with the nearest sub-query */
    NEED_ACTION,    /* 1 if its action matches the request's verb, -1 if not, 0 if unknown */
    NEED_RANK,      /* log(1 + number of earlier hits for the need) */
    NEED_MARGIN,    /* lead of the need's first hit, or (negative) distance to it, relative to its score */
    NEED_WEAK,      /* 1 if hardly any evidence supports it (weak.h), else 0 */
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
