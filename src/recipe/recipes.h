/* recipes.h: the named ways from a request to hits. Adding one is a row; the command, the evaluation and the help
 * read the table. */
#ifndef WT_RECIPE_RECIPES_H
#define WT_RECIPE_RECIPES_H

#include "recipe/trained.h"
#include "retrieve/retrieve.h"
#include "whichtool.h"

/* What makes a set of hits. */
enum picker {
    PICKER_NONE,    /* nothing: the recipe ranks */
    PICKER_CHOOSER, /* choose/chooser.h */
    PICKER_BUNDLE,  /* the nearest bundle, engine/bundles.h */
    PICKER_PTR      /* choose/ptr.h, from that bundle */
};

struct recipe {
    wt_recipe public;
    enum picker picker;
    const struct retriever *retriever; /* NULL: its weights come from training (recipe/trained.h) */
    const struct rules *rules;         /* of ToolRerank where there is no training; else NULL */
    const char *lesson;                /* that makes it, with "cross" after it; NULL: the one of its name */
};

/* By name, or NULL. */
const struct recipe *wt__recipe_named(const char *name);

/* Of the recipe of that name; PICKER_NONE where there is none. */
enum picker wt__recipe_picker(const char *name);

#endif
