/* candidate_features.h: what retrieval knows of a request, as a chooser of sets sees it: a few dozen tools that may be
 * needed, each with a handful of numbers, and the sets that the most similar past requests used.
 *
 * The tools are at most 64, so that a set of them is one word and the size of what two sets share is one instruction. A
 * chooser can then weigh hundreds of sets against each other in microseconds. */
#ifndef WT_CHOOSE_CANDIDATE_FEATURES_H
#define WT_CHOOSE_CANDIDATE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "retrieve/retrieve.h"

enum {
    CHOOSE_TOOLS = 64, /* tools that a set may be made of */
    CHOOSE_FIRST = 40  /* of them, the first so many hits; the others are those that past requests used */
};

/* What is known of a tool. */
enum tool_feature {
    TOOL_SHARE, /* the hit's score by the best hit's */
    TOOL_GAP,   /* and less that */
    TOOL_RANK,  /* -log(1 + hits before it) */
    TOOL_MEANING,
    TOOL_WORDS,
    TOOL_SUBQUERY_MEANING,
    TOOL_SUBQUERY_WORDS,
    TOOL_NEIGHBOUR_VOTES, /* log of its share of the past requests' votes, and a little */
    TOOL_EXPECTED,        /* log of the tools that the past requests used; the same for all tools of a request */
    TOOL_FEATURES
};

/* What tells whether any tool fits. */
enum answerability_feature {
    ANSWERABLE_BEST,             /* the best hit's score */
    ANSWERABLE_SECOND,           /* what it is above the second */
    ANSWERABLE_FIFTH,            /* and above the fifth */
    ANSWERABLE_MEANING,          /* the greatest cosine of a tool with the request */
    ANSWERABLE_SUBQUERY_MEANING, /* and with a sub-query of it */
    ANSWERABLE_WORDS,            /* the most that a tool answers of the request's words */
    ANSWERABLE_NEAREST,          /* cosine of the most similar past request */
    ANSWERABLE_NEAR,             /* and of all that were asked, in the mean */
    ANSWERABLE_THERE,            /* share of their votes that goes to tools that are there */
    ANSWERABLE_NEIGHBOUR_VOTE,   /* the most neighbours' votes of a tool */
    ANSWERABLE_FEATURES
};

/* A set that past requests used. */
struct past_set {
    uint64_t tools;
    float share; /* of the neighbours' votes */
};

struct candidate_features {
    size_t tools;                                /* C */
    uint32_t hits[CHOOSE_TOOLS];                 /* [C] which of the hits, ascending */
    float features[CHOOSE_TOOLS][TOOL_FEATURES]; /* [C] */
    size_t past_count;
    struct past_set past[NEIGHBOURS_ASKED]; /* each set once; those with a tool that is no candidate are left out */
    float answerability[ANSWERABLE_FEATURES];
};

/* hits: with features, at least CHOOSE_FIRST of them where there are so many. neighbours: whose votes they carry, or
 * NULL. */
void wt__candidate_features_read(struct candidate_features *out, const struct hit_list *hits,
                                 const struct neighbours *neighbours);

#endif
