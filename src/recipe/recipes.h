/* recipes.h: the named ways from a request to hits, or to a set. All that tells one from another stands in its row: how
 * it ranks, what it reads of what training left, who trains that. Adding one is a row; search, training, evaluation,
 * the command and its help read the table. */
#ifndef WT_RECIPE_RECIPES_H
#define WT_RECIPE_RECIPES_H

#include <stdbool.h>
#include <stddef.h>

#include "rerank/reranker.h"
#include "retrieve/retrieve.h"
#include "whichtool.h"

/* In the order in which they are listed. */
enum recipe_id {
    RECIPE_BM25,
    RECIPE_DENSE,
    RECIPE_HYBRID,
    RECIPE_TOOL2VEC,
    RECIPE_MLC,
    RECIPE_NEIGHBOURS,
    RECIPE_TOOL2VEC_REFINER,
    RECIPE_MLC_REFINER,
    RECIPE_DPR,
    RECIPE_RERANK_10,
    RECIPE_RERANK_30,
    RECIPE_RERANK_50,
    RECIPE_TOOLRERANK,
    RECIPE_SET,
    RECIPE_SET_80,
    RECIPE_SET_90,
    RECIPE_SET_95,
    RECIPE_BUNDLE,
    RECIPE_PTR,
    RECIPE_AUTO, /* whichever training chose, else hybrid: has a row, but is not listed */
    RECIPES
};

/* What makes a set of hits. */
enum selector {
    SELECTOR_NONE,    /* nothing: the recipe ranks */
    SELECTOR_CHOOSER, /* choose/chooser.h */
    SELECTOR_BUNDLE,  /* the nearest bundle, engine/bundles.h */
    SELECTOR_PTR      /* choose/ptr.h, from that bundle */
};

/* What a recipe's folder of its own holds beside its weights (recipe/trained.h). */
enum model_kind {
    MODEL_NONE, /* there is no such folder */
    MODEL_WEIGHTS,
    MODEL_TOOL2VEC, /* retrieve/tool2vec.h */
    MODEL_MLC,      /* retrieve/mlc.h */
    MODEL_PAST,     /* retrieve/past_requests.h */
    MODEL_RERANKER, /* of the recipe's kind, rerank/reranker.h */
    MODEL_CHOICE    /* auto's */
};

struct recipe {
    wt_recipe public;
    enum selector selector;
    const struct retriever *retriever;  /* NULL: its weights come from training */
    const struct rerank_kind *reranker; /* its second stage; NULL: none */
    size_t reads;                       /* how many hits that reads, without a folder of its own */
    enum recipe_id first;               /* of a second stage: the recipe whose hits it reranks */
    enum model_kind model;
    const char *lessons; /* that make it, after that of the encoder: names with blanks between; "" for none */
    const char *told_by; /* the folder whose config says what it was trained on; NULL: the one of its name */
};

extern const struct recipe wt__recipes[RECIPES];

/* By name, or NULL; "auto" is not found. */
const struct recipe *wt__recipe_named(const char *name);

/* Of the recipe of that name; SELECTOR_NONE where there is none. */
enum selector wt__recipe_selector(const char *name);

/* Whether the lesson is one of those that make the recipe. */
bool wt__recipe_uses(const struct recipe *recipe, const char *lesson);

#endif
