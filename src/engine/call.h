/* call.h: one call on its way: the tools that a request may mean, and what became of each. call.c makes it,
 * call_steps.c tells it. */
#ifndef WT_ENGINE_CALL_H
#define WT_ENGINE_CALL_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "call/arguments.h"
#include "call/decision.h"

enum {
    CALL_CANDIDATES = 8, /* first tools that are looked at; of dev requests what is meant is seldom beyond the fifth */
    CALL_VIOLATIONS = 8, /* that are told */
};

struct call_candidate {
    const wt_tool *tool;
    double score, probability; /* of the search */
    json_t *schema;            /* NULL: it is no JSON */
    struct parameters parameters;
    struct call_arguments arguments;
    double decided; /* as in struct choice */
    unsigned details;
};

struct calling {
    /* What is wanted; borrowed. */
    wt_engine *engine;
    struct str request;
    const wt_call_options *options; /* in full */
    struct arena *arena;            /* the result's */

    /* How far it is. */
    wt_hits *hits;   /* NULL with options->tool */
    wt_tools *tools; /* NULL without */
    struct call_candidate candidates[CALL_CANDIDATES];
    size_t count;
    size_t first, second; /* of the candidates, by the decision; second SIZE_MAX: there is none */
    json_t *values;       /* the arguments that are sure */
    const char **missing; /* [missing_count] */
    size_t missing_count;
};

/* Appends what was found, decided and read, as a JSON object. */
void wt__call_steps(struct buffer *out, const struct calling *calling);

#endif
