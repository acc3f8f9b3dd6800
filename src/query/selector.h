/* selector.h: interface of the selectors, which choose the set of tools for a request. Each has a file and a row in the
 * table of pick.c:
 *
 *   set_pick.c   the chooser (choose/chooser.h), on the hits of auto
 *   ptr_pick.c   PTR (choose/ptr.h), and the nearest bundle alone
 *
 * pick.c passes the request. A selector searches for itself, because it knows how many hits it needs, and rejects
 * unsupported options. */
#ifndef WT_QUERY_SELECTOR_H
#define WT_QUERY_SELECTOR_H

#include "query/search.h"
#include "recipe/recipes.h"
#include "engine/notice.h"

/* Settings of an evaluation. An evaluation judges by id, so each copy of a tool counts separately. An evaluation
 * measures promises, so a set may grow as far as its promise requires. PTR may ask an oracle (choose/ptr.h). */
struct pick_evaluation {
    struct chat_model *oracle; /* NULL for the language model */
    const int64_t *gold;       /* [gold_count] ids of the needed tools, for the oracle */
    size_t gold_count;
};

struct selection {
    wt_engine *engine;
    struct str request;
    const wt_pick_options *options;           /* with all defaults filled in */
    const wt_filter *filter;                  /* the validated filter of the options; NULL for all tools */
    const struct pick_evaluation *evaluation; /* NULL outside an evaluation */
    struct progress *progress;
    struct arena *arena; /* arena of the result */
    wt_picked *out;
    struct notice notice;                          /* becomes out->notice */
    const struct conversation_input *conversation; /* the conversation of the request */
};

struct set_selector {
    bool converses; /* supports conversations and tools to keep */
    /* Fills selection->out. Errors: those of wt_pick. */
    int (*select)(struct selection *selection, wt_error *err);
};

/* Reports the tools over the budget and, if there are any, withdraws the promise of the set. The last step of a
 * selector. */
int wt__selection_report_budget(struct selection *selection, const struct budget *budget, wt_error *err);

/* Works like wt_pick with the settings of an evaluation, or NULL. All defaults of the options must be filled in. */
int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *options,
             const struct pick_evaluation *evaluation, wt_picked **out, wt_error *err);

#endif
