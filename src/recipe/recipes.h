/* recipes.h: the table of recipes. A recipe is a named way to get hits or a set of tools for a request. A row has
 * everything that distinguishes a recipe: its ranking, its trained data and its training. To add a recipe, add a row.
 * Search, training, evaluation, the command and its help read the table. */
#ifndef WT_RECIPE_RECIPES_H
#define WT_RECIPE_RECIPES_H

#include <stdbool.h>
#include <stddef.h>

#include "rerank/reranker.h"
#include "retrieve/retrieve.h"
#include "whichtool.h"

/* The recipes, in the order in which they are listed. */
enum recipe_id {
    RECIPE_BM25,
    RECIPE_DENSE,
    RECIPE_HYBRID,
    RECIPE_JOINT,
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
    RECIPE_AUTO, /* the recipe chosen by training, else hybrid; has a row but is not listed */
    RECIPES
};

/* Method that chooses the set of a recipe. */
enum selector {
    SELECTOR_NONE,    /* the recipe only ranks */
    SELECTOR_CHOOSER, /* choose/chooser.h */
    SELECTOR_BUNDLE,  /* the nearest bundle, engine/bundles.h */
    SELECTOR_PTR      /* choose/ptr.h, starting from the nearest bundle */
};

/* Content of a recipe's folder, in addition to the weights in its config.json (recipe/trained.h). */
enum model_kind {
    MODEL_NONE,     /* the recipe has no folder */
    MODEL_WEIGHTS,  /* nothing else */
    MODEL_TOOL2VEC, /* retrieve/trained_vectors.h */
    MODEL_MLC,      /* retrieve/trained_vectors.h */
    MODEL_PAST,     /* retrieve/past_requests.h */
    MODEL_RERANKER, /* depends on the recipe's `reranker`, rerank/reranker.h */
    MODEL_CHOICE    /* model of auto */
};

struct recipe {
    wt_recipe public;
    enum selector selector;
    const struct retriever *retriever;  /* NULL for a set, or if its weights come from training */
    const struct rerank_kind *reranker; /* second stage, or NULL */
    size_t reads;                       /* N of rerank-N: number of hits to rerank; 0 for other recipes */
    enum recipe_id first;               /* recipe whose hits the second stage reranks */
    enum model_kind model;
    const char *lessons; /* lessons of its training after the encoder's lesson, separated by blanks; "" if untrained */
    const char *told_by; /* folder whose config describes its training data; NULL for the folder of its own name */
};

extern const struct recipe wt__recipes[RECIPES];

/* Finds a recipe by name. Returns NULL if not found, also for "auto". */
const struct recipe *wt__recipe_named(const char *name);

/* Returns the selector of the named recipe. Returns SELECTOR_NONE if the recipe does not exist. */
enum selector wt__recipe_selector(const char *name);

/* True if the lesson is one of the recipe's lessons. */
bool wt__recipe_uses(const struct recipe *recipe, const char *lesson);

#endif
