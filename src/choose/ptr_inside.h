/* ptr_inside.h: what the files of PTR share: its questions (ptr_ask.c) and its third stage (ptr_views.c). */
#ifndef WT_CHOOSE_PTR_INSIDE_H
#define WT_CHOOSE_PTR_INSIDE_H

#include "choose/ptr.h"

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
