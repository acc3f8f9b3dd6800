/* search_plan.h: what a recipe comes to on this engine: how hits are made, and by which models, all of them open.
 * Decided once, before the index is looked at, and only read afterwards. */
#ifndef WT_QUERY_SEARCH_PLAN_H
#define WT_QUERY_SEARCH_PLAN_H

#include "choose/relevance.h"
#include "engine/engine.h"
#include "engine/notice.h"

struct search_wish {
    const char *recipe;        /* NULL: "auto" */
    bool untrained;            /* "auto" does without what was trained */
    bool features;             /* of the hits; past requests are then asked where there are any */
    struct progress *progress; /* heard while models are opened; may be NULL */
};

struct search_plan {
    struct retriever retriever;
    struct reranker reranker;                /* of the hits; without a kind: none */
    const struct encoder *encoder;           /* of requests; NULL: lexical only */
    struct index_set set;                    /* the vectors to search, with an encoder */
    bool may_stand_by;                       /* another encoder with its vectors would do as well */
    const struct trained *labels;            /* whose neighbours are asked; NULL: nobody's */
    bool recorded;                           /* what was recorded of the very same request has a say */
    const struct relevance_model *relevance; /* fitted to such hits; NULL: the default */
    const char *ran;                         /* the recipe */
    const char *why;                         /* as in wt_hits */
    struct notice notice;
};

/* The recipe that was asked for, or the best that can run here: what training chose, else hybrid, else words alone.
 * Opens the models that it needs and nothing opened before. What it says lives in the arena. Errors: WT_ERECIPE (there
 * is no such recipe, or it cannot run), WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__search_plan(wt_engine *engine, const struct search_wish *wish, struct arena *arena, struct search_plan *out,
                    wt_error *err);

#endif
