/* search_plan.h: the plan of a search: how a recipe makes hits on this engine, with all its models open. Made once,
 * before the index is opened, and then only read. */
#ifndef WT_QUERY_SEARCH_PLAN_H
#define WT_QUERY_SEARCH_PLAN_H

#include "choose/relevance.h"
#include "engine/engine.h"
#include "engine/notice.h"

struct plan_options {
    const char *recipe;        /* NULL for "auto" */
    bool untrained;            /* "auto" ignores trained models */
    bool features;             /* compute features of the hits, including past requests if there are any */
    struct progress *progress; /* polled while opening models; may be NULL */
};

struct search_plan {
    struct retriever retriever;
    struct reranker reranker;          /* kind is NULL for no reranking */
    const struct encoder *encoder;     /* encoder of requests; NULL for a lexical search */
    struct index_set set;              /* vectors to search; kind is NULL without vectors */
    bool may_use_fallback;             /* the fallback encoder may be used */
    const struct trained *labels;      /* owner of the past requests to use, or NULL */
    bool recorded;                     /* recorded usages of the same request count */
    const struct relevance *relevance; /* fitted to these hits; NULL for the default */
    const char *ran;                   /* recipe */
    const char *why;                   /* reason of the choice, as in wt_hits */
    struct notice notice;
};

/* Plans the requested recipe. "auto" is the choice of training, else hybrid, else words alone. Opens the models that
 * are needed. Strings of the plan are in the arena. Errors: WT_ERECIPE (unknown recipe, or it cannot run), WT_EMODEL,
 * WT_ENOMEM, WT_ECANCELLED. */
int wt__search_plan(wt_engine *engine, const struct plan_options *wish, struct arena *arena, struct search_plan *out,
                    wt_error *err);

#endif
