/* recipes.c: the table, from plain to trained. "auto" is no row: it is whichever training chose, else hybrid. */
#include "engine/recipes.h"

#include <string.h>

static const struct recipe recipes[] = {
    {{"bm25", "words of name, provider, category, description and parameters", 0, 0}, &wt__bm25, NULL, NULL},
    {{"dense", "meaning: vectors of the tools' texts", 1, 0}, &wt__dense, NULL, NULL},
    {{"hybrid", "words and meaning together; the default with a model and no training", 1, 0}, &wt__hybrid, NULL, NULL},
    {{"tool2vec", "meaning, learned: vectors of the requests that used a tool, with its text's", 1, 1},
     NULL,
     NULL,
     NULL},
    {{"mlc", "meaning, learned: a classifier with a row for each tool", 1, 1}, NULL, NULL, NULL},
    {{"neighbours", "the tools of the past requests that are most like this one", 1, 1}, NULL, NULL, NULL},
    {{"tool2vec+refiner", "tool2vec, its best looked at together with the request", 1, 1}, NULL, NULL, NULL},
    {{"mlc+refiner", "mlc, its best looked at together with the request", 1, 1}, NULL, NULL, NULL},
    {{"dpr", "meaning, learned: vectors of the tools' texts by the trained encoder", 1, 1}, NULL, NULL, NULL},
    {{"rerank-10", "dpr, its best 10 read together with the request by a cross-encoder", 1, 1}, NULL, NULL, "dpr"},
    {{"rerank-30", "dpr, its best 30 read together with the request", 1, 1}, NULL, NULL, "dpr"},
    {{"rerank-50", "dpr, its best 50 read together with the request", 1, 1}, NULL, NULL, "dpr"},
    {{"toolrerank", "rerank, ordered by which providers the tools belong to; untrained: hybrid's hits", 1, 0},
     &wt__hybrid,
     &wt__rules_untrained,
     NULL},
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
