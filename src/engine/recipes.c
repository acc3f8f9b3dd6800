/* recipes.c: the table. The last row that a store can run is its default, so rows go from plain to best. */
#include "engine/recipes.h"

#include <string.h>

static const struct recipe recipes[] = {
    {{"bm25", "words of name, provider, category, description and parameters", 0}, &wt__bm25},
    {{"dense", "meaning: vectors of the tools' texts", 1}, &wt__dense},
    {{"hybrid", "words and meaning together; the default with a model", 1}, &wt__hybrid},
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
