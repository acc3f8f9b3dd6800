/* needs.h: the set of a request in a catalogue without recorded use: one tool a need.
 *
 * The sub-queries of a request are its needs, and a request without any is one. Hits that answer the same need are
 * alternatives, however many they are: the likeliest is taken, and the next ones beside it until one of them is
 * likelier right than not. A need whose likeliest tool is unlikely gets none. How likely is logistic in a few numbers
 * of the hit among those of its need; the default numbers are data (needs.c). */
#ifndef WT_CHOOSE_NEEDS_H
#define WT_CHOOSE_NEEDS_H

#include "retrieve/retrieve.h"

enum need_feature {
    NEED_RELEVANCE, /* log odds of its relevance (relevance.h) */
    NEED_MEANING,   /* cosine with the sub-query that it is nearest to */
    NEED_ACTION,    /* whether it does what the request's verb says: 1, -1, or 0 where nobody knows */
    NEED_RANK,      /* log(1 + hits of the need before it) */
    NEED_MARGIN,    /* of the need's first: by how much it leads; of others: by how much they trail; by the first's */
    NEED_WEAK,      /* whether hardly anything speaks for it (weak.h): 1 or 0 */
    NEED_FEATURES
};

enum {
    NEED_HITS = 30, /* of a request, that are looked at */
    NEED_DEPTH = 5  /* of a need, the first so many */
};

struct need_hit {
    uint32_t hit;  /* which of the hits */
    uint32_t need; /* number of its need, from 0 in order of their first hits */
    float values[NEED_FEATURES];
    float probability;
};

/* The hits of all needs, in order of hits: out [NEED_HITS]. Returns how many. The hits have their probability by
 * relevance alone, NaN counting as none. retriever: what found them. */
size_t wt__need_hits(const struct retriever *retriever, const struct hit_list *hits, struct need_hit *out);

struct need_set {
    uint32_t which[NEED_HITS]; /* [len] numbers of need_hits, likeliest first */
    size_t len;
    float complete; /* probability that each need that got a tool got a right one */
    float tracc;    /* expected, were these all its needs; 0 for an empty set */
};
/* least: of a need's likeliest, below which the need gets nothing; negative: always something. */
void wt__choose_by_needs(const struct need_hit *hits, size_t count, float least, struct need_set *out);

/* What a likeliest tool is at least, where the caller does not say. */
extern const float wt__need_least;
/* Below what the likeliest of all is for that share of requests that some tool fits, in (0, 1). */
float wt__need_least_for(double false_share);

#endif
