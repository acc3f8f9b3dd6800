/* selector.h: interface of the selectors, which choose the set of tools for a request. Each selector has a row in the
 * table of pick.c. Two files contain the selectors:
 *
 *   set_pick.c   the chooser (choose/chooser.h), on the hits of the recipe auto
 *   ptr_pick.c   PTR (choose/ptr.h), and the nearest bundle alone
 *
 * A selector rejects unsupported options. It runs its own search, because only the selector knows how many hits it
 * needs. */
#ifndef WT_QUERY_SELECTOR_H
#define WT_QUERY_SELECTOR_H

#include "query/search.h"
#include "recipe/recipes.h"
#include "engine/notice.h"

/* Settings of an evaluation. In an evaluation:
 *
 *   - Each copy of a tool counts separately, because judgements name ids.
 *   - A set may be as large as its promised completeness requires.
 *   - PTR may ask an oracle (choose/ptr.h) instead of a language model. */
struct pick_evaluation {
    struct chat_model *oracle; /* NULL for the language model */
    const int64_t *gold;       /* [gold_count] ids of the needed tools, for the oracle */
    size_t gold_count;
};

struct selection {
    wt_engine *engine;
    struct str request;
    const wt_pick_options *options;           /* options of the caller; `recipe` is never NULL */
    const wt_filter *filter;                  /* the validated filter of the options; NULL for all tools */
    const struct pick_evaluation *evaluation; /* NULL outside an evaluation */
    struct progress *progress;
    struct arena *arena; /* arena of the result */
    wt_picked *out;
    struct notice notice;                          /* becomes out->notice */
    const struct conversation_input *conversation; /* the conversation of the request */
    struct search_times times;                     /* times of the selector's search, without begun and ended */
    bool is_new; /* set by the chooser: past use exists, but the request probably needs another set */
};

struct set_selector {
    bool converses; /* true if the selector supports conversations and tools to keep */
    /* Fills selection->out. Errors: those of wt_pick. */
    int (*select)(struct selection *selection, wt_error *err);
};

/* Adds the tokens, and a notice about tools that did not fit the budget, to the result. If some tool did not fit, sets
 * tracc and complete to NaN, because the shorter set does not keep that promise. Call it last in a selector. */
int wt__selection_report_budget(struct selection *selection, const struct budget *budget, wt_error *err);

/* Works like wt_pick, with optional settings of an evaluation. options: as read by wt__options_read. evaluation: NULL
 * outside an evaluation. */
int wt__pick(wt_engine *engine, struct str request, const wt_pick_options *options,
             const struct pick_evaluation *evaluation, wt_picked **out, wt_error *err);

#endif
