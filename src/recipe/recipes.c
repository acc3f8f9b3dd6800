/* recipes.c: the table, from plain to trained. "auto" is no row: it is whichever training chose, else hybrid. */
#include "recipe/recipes.h"

#include <string.h>

#define RANKS(name_, summary_, model, training)                                                                        \
    .public = {.name = (name_), .summary = (summary_), .needs_model = (model), .needs_training = (training)}
#define PICKS(by, name_, summary_, training, probability)                                                              \
    .picker = (by), .public = {.name = (name_),                                                                        \
                               .summary = (summary_),                                                                  \
                               .needs_model = 1,                                                                       \
                               .needs_training = (training),                                                           \
                               .picks = 1,                                                                             \
                               .complete = (probability)}

static const struct recipe recipes[] = {
    {RANKS("bm25", "words of name, provider, category, description and parameters", 0, 0), .retriever = &wt__bm25},
    {RANKS("dense", "meaning: vectors of the tools' texts", 1, 0), .retriever = &wt__dense},
    {RANKS("hybrid", "words and meaning together; the default with a model and no training", 1, 0),
     .retriever = &wt__hybrid},
    {RANKS("tool2vec", "meaning, learned: vectors of the requests that used a tool, with its text's", 1, 1)},
    {RANKS("mlc", "meaning, learned: a classifier with a row for each tool", 1, 1)},
    {RANKS("neighbours", "the tools of the past requests that are most like this one", 1, 1)},
    {RANKS("tool2vec+refiner", "tool2vec, its best looked at together with the request", 1, 1)},
    {RANKS("mlc+refiner", "mlc, its best looked at together with the request", 1, 1)},
    {RANKS("dpr", "meaning, learned: vectors of the tools' texts by the trained encoder", 1, 1)},
    {RANKS("rerank-10", "dpr, its best 10 read together with the request by a cross-encoder", 1, 1), .lesson = "dpr"},
    {RANKS("rerank-30", "dpr, its best 30 read together with the request", 1, 1), .lesson = "dpr"},
    {RANKS("rerank-50", "dpr, its best 50 read together with the request", 1, 1), .lesson = "dpr"},
    {RANKS("toolrerank", "rerank, ordered by which providers the tools belong to; untrained: hybrid's hits", 1, 0),
     .retriever = &wt__hybrid, .rules = &wt__rules_untrained},
    {PICKS(PICKER_CHOOSER, "set", "the exact set of tools, chosen from the hits of auto", 0, 0)},
    {PICKS(PICKER_CHOOSER, "set-80", "a set that holds all that is needed with a probability of 80 %", 1, 0.80)},
    {PICKS(PICKER_CHOOSER, "set-90", "the same with 90 %", 1, 0.90)},
    {PICKS(PICKER_CHOOSER, "set-95", "the same with 95 %", 1, 0.95)},
    {PICKS(PICKER_BUNDLE, "bundle", "the set that past requests used together which is most like this one", 1, 0)},
    {PICKS(PICKER_PTR, "ptr", "that set, corrected by a language model, or without training one that it finds", 0, 0)},
};

enum { RECIPES = sizeof recipes / sizeof *recipes };

const wt_recipe *wt_recipe_at(size_t index)
{
    return index < RECIPES ? &recipes[index].public : NULL;
}

const struct recipe *wt__recipe_named(const char *name)
{
    for (size_t i = 0; i < RECIPES; i++)
        if (strcmp(recipes[i].public.name, name) == 0)
            return &recipes[i];
    return NULL;
}

enum picker wt__recipe_picker(const char *name)
{
    const struct recipe *recipe = wt__recipe_named(name);
    return recipe ? recipe->picker : PICKER_NONE;
}
