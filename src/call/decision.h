/* decision.h: which of the first tools that retrieval found a call is made to, without a language model.
 *
 * ToolVerifier (2.2) lets a model choose between two close tools by a contrastive question. What tells such tools apart
 * is seldom their topic, which retrieval reads, but a detail that only one of them takes. Three details are read here:
 *
 *   time      one tool is for what will be, another for what is or was ("forecast", "current"), and the request says
 *   kind      the request has a ZIP code, an address or coordinates, and only one tool speaks of such
 *   leftover  the request has a value that none of the tool's parameters takes
 *
 * Each changes the share that a tool has of the best score; one that is far behind is left where it is. The weights
 * were chosen on dev, one rule for all catalogues (docs/verified-calls.md). */
#ifndef WT_CALL_DECISION_H
#define WT_CALL_DECISION_H

#include "call/literals.h"
#include "call/parameters.h"

enum detail { DETAIL_TIME = 1, DETAIL_KIND = 2, DETAIL_LEFTOVER = 4 };

/* A tool to choose from, in the order of the search. */
struct choice {
    struct str name, description;
    const struct parameters *parameters;
    double score;     /* of the search; the first is the best */
    double decided;   /* what came of it: orders the choices of this request */
    unsigned details; /* the same: bits of enum detail that spoke for the tool or against it */
    bool leftover;    /* arguments.unused is not empty */
};

/* How near the second is to the first for both to be meant: less than this of the first's share. */
#define DECISION_CLOSE 0.03

/* Fills what comes of it, and returns the index of the best choice; count is above 0. Of equal ones the first. */
size_t wt__decide(const struct literals *literals, struct choice *choices, size_t count);

/* The best choice but that one; SIZE_MAX where there is none. */
size_t wt__decide_second(const struct choice *choices, size_t count, size_t first);

#endif
