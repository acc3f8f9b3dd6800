/* candidate_features.h: the input of a chooser of tool sets: a few dozen candidate tools with some numbers each, and
 * the sets that the most similar past requests used.
 *
 * Candidates are limited to 64, so that a set is one word and an intersection one instruction. A chooser can then
 * compare hundreds of sets in microseconds. */
#ifndef WT_CHOOSE_CANDIDATE_FEATURES_H
#define WT_CHOOSE_CANDIDATE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "retrieve/retrieve.h"

enum {
    CHOOSE_TOOLS = 64, /* maximum number of candidates */
    CHOOSE_FIRST = 40  /* candidates from the first hits; the others come from past requests */
};

/* Features of a tool. */
enum tool_feature {
    TOOL_SHARE, /* score divided by the best hit's score */
    TOOL_GAP,   /* score minus the best hit's score */
    TOOL_RANK,  /* -log(1 + number of hits before it) */
    TOOL_MEANING,
    TOOL_WORDS,
    TOOL_SUBQUERY_MEANING,
    TOOL_SUBQUERY_WORDS,
    TOOL_NEIGHBOUR_VOTES, /* log(share of the past requests' votes + a small constant) */
    TOOL_EXPECTED,        /* log of the mean number of tools of past requests; equal for all tools of a request */
    TOOL_FEATURES
};

/* Features that predict whether any tool fits. */
enum answerability_feature {
    ANSWERABLE_BEST,             /* score of the best hit */
    ANSWERABLE_SECOND,           /* its lead over the second hit */
    ANSWERABLE_FIFTH,            /* its lead over the fifth hit */
    ANSWERABLE_MEANING,          /* greatest cosine of a tool with the request */
    ANSWERABLE_SUBQUERY_MEANING, /* greatest cosine of a tool with a sub-query */
    ANSWERABLE_WORDS,            /* greatest share of the request's words that a tool has */
    ANSWERABLE_NEAREST,          /* cosine of the most similar past request */
    ANSWERABLE_NEAR,             /* mean cosine of all past requests that voted */
    ANSWERABLE_THERE,            /* share of their votes for tools that still exist */
    ANSWERABLE_NEIGHBOUR_VOTE,   /* greatest share of neighbour votes of a tool */
    ANSWERABLE_FEATURES
};

/* Set of tools used by past requests. */
struct past_set {
    uint64_t tools;
    float share; /* share of the neighbours' votes */
};

struct candidate_features {
    size_t tools;                                /* C */
    uint32_t hits[CHOOSE_TOOLS];                 /* [C] indices of hits, ascending */
    float features[CHOOSE_TOOLS][TOOL_FEATURES]; /* [C] */
    size_t past_count;
    struct past_set past[NEIGHBOURS_ASKED]; /* distinct sets; sets with a tool outside the candidates are omitted */
    float answerability[ANSWERABLE_FEATURES];
};

/* Reads the features of a request. hits: with features, at least CHOOSE_FIRST if that many exist. neighbours: source of
 * the hits' votes, or NULL. */
void wt__candidate_features_read(struct candidate_features *out, const struct hit_list *hits,
                                 const struct neighbours *neighbours);

#endif
