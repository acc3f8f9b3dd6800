/* catalogue.h: the store's own tools in place of a library that is written: drawn by seed, and what the search puts
 * beside one of them for a request. */
#ifndef WT_GENERATE_CATALOGUE_H
#define WT_GENERATE_CATALOGUE_H

#include "generate/rows.h"

struct catalogue {
    wt_engine *engine;
    struct library *library; /* tools are added as they are met */
    const char *recipe;      /* "hybrid", or "bm25" where there is no encoder */
};

/* Adds up to `tools` tools that have a description, drawn by rng. *left_out: drawn ones that have none, or whose name
 * cannot be told from another's. Errors: WT_EEMPTY (the store has no tools), WT_ESTORE, WT_ECANCELLED, WT_ENOMEM. */
int wt__catalogue_draw(struct catalogue *catalogue, size_t tools, struct rng *rng, struct progress *progress,
                       size_t *left_out, wt_error *err);

/* Adds one tool, or finds it: *place; *taken is false where it has no description, or another tool its name. */
int wt__catalogue_add(struct catalogue *catalogue, const wt_tool *tool, size_t *place, bool *taken, wt_error *err);

/* Hits of the row's query that are not its tool, nor say the same as it. A likeness_source's `like`, of a struct
 * catalogue. */
int wt__catalogue_like(void *self, const struct row *row, size_t *places, size_t most, size_t *count, wt_error *err);

#endif
