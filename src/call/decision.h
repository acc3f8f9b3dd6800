/* decision.h: chooses one of the first tools of the search, without a language model.
 *
 * ToolVerifier (2.2) lets a model choose between two close tools by a contrastive question. Such tools rarely differ in
 * their topic, as ranked by retrieval, but in one detail. Three details are read here:
 *
 *   time: the request and the tool are about the future, the present or the past ("forecast", "current")
 *   kind: the request has a ZIP code, an address or coordinates, and the tool mentions such values
 *   leftover: the request has a value unused by the tool's parameters
 *
 * Each detail changes the tool's share of the best score, except for tools far behind. The weights were chosen on dev,
 * the same for all catalogues (docs/verified-calls.md). */
#ifndef WT_CALL_DECISION_H
#define WT_CALL_DECISION_H

#include "call/literals.h"
#include "call/parameters.h"

enum detail { DETAIL_TIME = 1, DETAIL_KIND = 2, DETAIL_LEFTOVER = 4 };

/* A tool to choose from, in the order of the search. */
struct choice {
    struct str name, description;
    const struct parameters *parameters;
    double score;     /* score of the search; the first is the highest */
    double decided;   /* share of the best score, with the details; orders the choices */
    unsigned details; /* bits of enum detail: details used for the share */
    bool leftover;    /* arguments.unused is not empty */
};

/* Two tools are ambiguous if their shares differ by less than this. */
#define DECISION_CLOSE 0.03

/* Fills `decided` and `details` of the choices and returns the index of the best one, the first of equals. count is
 * above 0. */
size_t wt__decide_tool(const struct literals *literals, struct choice *choices, size_t count);

/* Returns the best choice except `first`; SIZE_MAX if first is the only one. */
size_t wt__decide_second(const struct choice *choices, size_t count, size_t first);

#endif
