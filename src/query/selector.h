/* selector.h: what makes the set of tools that a request needs; a file a selector, and a row of pick.c's table.
 *
 *   set_pick.c   the chooser (choose/chooser.h), from the hits of auto
 *   ptr_pick.c   PTR (choose/ptr.h), and the nearest bundle alone
 *
 * A selector searches for itself, since it knows how many hits of what it wants; pick.c hands it the request. Options
 * that say nothing to it are its to refuse. */
#ifndef WT_QUERY_SELECTOR_H
#define WT_QUERY_SELECTOR_H

#include "query/search.h"
#include "recipe/recipes.h"
#include "engine/notice.h"

/* An evaluation judges by id and measures what a promise takes: each copy of a tool counts by itself, and a set grows
 * as far as its promise goes. It may have PTR ask a stand-in that knows which tools are needed (choose/ptr.h). */
struct pick_evaluation {
    struct chat_model *oracle; /* NULL: none */
    const int64_t *gold;       /* [gold_count] ids of the tools that the request needs, for the oracle */
    size_t gold_count;
};

struct selection {
    wt_engine *engine;
    struct str request;
    const wt_pick_options *options;           /* in full */
    const wt_filter *filter;                  /* of them, read */
    const struct pick_evaluation *evaluation; /* NULL outside of one */
    struct progress *progress;
    struct arena *arena; /* the result's */
    wt_picked *out;
    struct notice notice;                          /* becomes out->notice */
    const struct conversation_input *conversation; /* whose last turn the request is, and what is kept */
};

struct set_selector {
    bool converses; /* it reads a conversation, and keeps what was called in it or is had already */
    /* Fills selection->out. Errors: those of wt_pick. */
    int (*select)(struct selection *selection, wt_error *err);
};

/* What of the set did not fit, if anything: it holds no promise then. A selector's last step. */
int wt__tell_budget(struct selection *selection, const struct budget *budget, wt_error *err);

/* pick.c: wt_pick, for those who measure it as well. evaluation: NULL outside of that; options in full. */
int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *options,
             const struct pick_evaluation *evaluation, wt_picked **out, wt_error *err);

#endif
