/* ptr_inside.h: what the files of PTR share: its questions (ptr_ask.c) and its third stage (ptr_views.c). */
#ifndef WT_CHOOSE_PTR_INSIDE_H
#define WT_CHOOSE_PTR_INSIDE_H

#include "choose/ptr.h"

/* An empty list with room for `most`, whose rows are the returned memory; NULL when memory is out. */
static inline uint32_t *wt__ptr_empty_tools(struct arena *arena, size_t most, struct ptr_tools *out)
{
    uint32_t *rows = wt__arena_array(arena, uint32_t, most);
    *out = (struct ptr_tools){rows, 0};
    return rows;
}

/* Adds row to a list whose memory has room for it; false when it was there. */
static inline bool wt__ptr_add_tool(struct ptr_tools *tools, uint32_t *memory, uint32_t row)
{
    for (size_t i = 0; i < tools->count; i++)
        if (memory[i] == row)
            return false;
    memory[tools->count++] = row;
    return true;
}

/* One choosing; all of it borrowed. */
struct ptr_run {
    const struct ptr_sources *sources;
    struct chat_model *model;
    const struct ptr_request *request;
    size_t k, requirements; /* the options, their defaults filled in */
    unsigned ablate;
    struct arena *arena;
    struct ptr_trace *trace;
};

/* Fills the trace's requirements from the model's answer. */
int wt__ptr_ask_requirements(const struct ptr_run *run, wt_error *err);

/* Fills the match of each of the trace's requirements from the model's answers. */
int wt__ptr_ask_matches(const struct ptr_run *run, wt_error *err);

/* Algorithm 1 for the problem of these words: all of *problem but `requirement` and `already`. */
int wt__ptr_rerank(const struct ptr_run *run, struct str text, struct ptr_problem *problem, wt_error *err);

#endif
