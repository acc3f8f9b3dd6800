/* situation.h: what retrieval knows of a request, as a chooser of sets sees it: a few dozen tools that may be needed,
 * each with a handful of numbers, and the sets that the most similar past requests used.
 *
 * The tools are at most 64, so that a set of them is one word and the size of what two sets share is one instruction. A
 * chooser can then weigh hundreds of sets against each other in microseconds. */
#ifndef WT_CHOOSE_SITUATION_H
#define WT_CHOOSE_SITUATION_H

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
    TOOL_PART_MEANING,
    TOOL_PART_WORDS,
    TOOL_VOTES,    /* log of its share of the past requests' votes, and a little */
    TOOL_EXPECTED, /* log of the tools that the past requests used; the same for all tools of a request */
    TOOL_FEATURES
};

/* What tells whether any tool fits. */
enum fit_feature {
    FIT_BEST,         /* the best hit's score */
    FIT_SECOND,       /* what it is above the second */
    FIT_FIFTH,        /* and above the fifth */
    FIT_MEANING,      /* the greatest cosine of a tool with the request */
    FIT_PART_MEANING, /* and with a part of it */
    FIT_WORDS,        /* the most that a tool answers of the request's words */
    FIT_NEAREST,      /* cosine of the most similar past request */
    FIT_NEAR,         /* and of all that were asked, in the mean */
    FIT_THERE,        /* share of their votes that goes to tools that are there */
    FIT_VOTE,         /* the most votes of a tool */
    FIT_FEATURES
};

/* A set that past requests used. */
struct past_set {
    uint64_t tools;
    float share; /* of the votes */
};

struct situation {
    size_t tools;                                /* C */
    uint32_t hits[CHOOSE_TOOLS];                 /* [C] which of the hits, ascending */
    float features[CHOOSE_TOOLS][TOOL_FEATURES]; /* [C] */
    size_t past_count;
    struct past_set past[NEIGHBOURS_ASKED]; /* each set once; those with a tool that is no candidate are left out */
    float fit[FIT_FEATURES];
};

/* hits: with features, at least CHOOSE_FIRST of them where there are so many. neighbours: whose votes they carry, or
 * NULL. */
void wt__situation_read(struct situation *out, const struct hit_list *hits, const struct neighbours *neighbours);

#endif
