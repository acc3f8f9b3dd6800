/* catalogue.h: a tool library built from the store instead of written by the model: draws tools by seed and searches
 * for similar ones. */
#ifndef WT_GENERATE_CATALOGUE_H
#define WT_GENERATE_CATALOGUE_H

#include "generate/rows.h"

struct store_library {
    wt_engine *engine;
    struct library *library; /* tools are added when they are first met */
    const char *recipe;      /* "hybrid", or "bm25" if there is no encoder */
};

/* Adds up to `tools` tools with a description, drawn by rng. *left_out counts drawn tools without a description or
 * with a name too close to another's. Errors: WT_EEMPTY (the store has no tools), WT_ESTORE, WT_ECANCELLED,
 * WT_ENOMEM. */
int wt__store_library_draw(struct store_library *catalogue, size_t tools, struct rng *rng, struct progress *progress,
                           size_t *left_out, wt_error *err);

/* Adds one tool, or finds it if it is already there, and sets *place. *taken is false if the tool has no description
 * or if another tool has its name. */
int wt__store_library_add(struct store_library *catalogue, const wt_tool *tool, size_t *place, bool *taken,
                          wt_error *err);

/* Searches for the row's query and returns hits other than its right tools, without those that share its tool's
 * description. Implements likeness_source.like; self is a struct catalogue. */
int wt__store_library_find_similar(void *self, const struct choice_row *row, size_t *places, size_t most, size_t *count,
                                   wt_error *err);

#endif
