/* ptr_inside.h: declarations shared by PTR's files: its questions (ptr_ask.c) and its third stage (ptr_views.c). */
#ifndef WT_CHOOSE_PTR_INSIDE_H
#define WT_CHOOSE_PTR_INSIDE_H

#include "choose/ptr.h"

/* Initialises an empty list with room for `most` tools. Returns the memory of its rows, or NULL if out of memory. */
static inline uint32_t *wt__ptr_empty_tools(struct arena *arena, size_t most, struct ptr_tools *out)
{
    uint32_t *rows = wt__arena_array(arena, uint32_t, most);
    *out = (struct ptr_tools){rows, 0};
    return rows;
}

/* Adds row to a list with room for it. False if the list already has it. */
static inline bool wt__ptr_add_tool(struct ptr_tools *tools, uint32_t *memory, uint32_t row)
{
    for (size_t i = 0; i < tools->count; i++)
        if (memory[i] == row)
            return false;
    memory[tools->count++] = row;
    return true;
}

/* State of one run; all members are borrowed. */
struct ptr_run {
    const struct ptr_sources *sources;
    struct chat_model *model;
    const struct ptr_request *request;
    size_t k, requirements; /* options with defaults applied */
    unsigned ablate;
    struct arena *arena;
    struct ptr_trace *trace;
};

/* Fills the trace's requirements from the model's answer. */
int wt__ptr_ask_requirements(const struct ptr_run *run, wt_error *err);

/* Fills the match of each requirement in the trace from the model's answers. */
int wt__ptr_ask_matches(const struct ptr_run *run, wt_error *err);

/* Runs Algorithm 1 for the problem described by `text`. Fills *problem except `requirement` and `already`. */
int wt__ptr_rerank(const struct ptr_run *run, struct str text, struct ptr_problem *problem, wt_error *err);

#endif
