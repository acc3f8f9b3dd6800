/* second.h: the second stage of a query: what looks at the first stage's hits once more, together with the request. */
#ifndef WT_ENGINE_SECOND_H
#define WT_ENGINE_SECOND_H

#include "engine/engine.h"

/* All zero: hits stay as they are. */
struct second_stage {
    struct refiner *refiner;
    const struct rules *rules; /* of ToolRerank; NULL: none */
    size_t cross;              /* how many the cross-encoder of `trained` reads; 0: none */
    const struct trained *trained;
};

/* What a look has to work with; borrowed. */
struct second_look {
    wt_engine *engine; /* whose store has the tools' texts */
    const struct shelf *shelf;
    const struct view *view;
    const struct retrieve_request *request; /* that gave the hits */
    struct arena *arena;                    /* lives as long as the hits */
    double *several;                        /* out: as in wt_hits; stays where nothing looked */
};

/* Whether the cross-encoder reads anything. */
bool wt__second_reads(const struct second_stage *stage);

/* How many hits of the first stage it can make use of. */
size_t wt__second_depth(const struct second_stage *stage);

/* Gives the hits their new order, scores and stages. The hits that it did not look at stay behind those that it did.
 * Errors: those of opening and running its model, and of the store. */
int wt__second_look(const struct second_stage *stage, const struct second_look *look, struct hit_list *hits,
                    wt_error *err);

/* logits [count]: what the cross-encoder says of the request with each tool, by those fields. A tool that was removed
 * meanwhile is read as one without words, which the caller leaves out. Errors: those of wt__cross_score. */
int wt__second_score(struct cross *cross, unsigned fields, struct str request, const struct tool *tools, size_t count,
                     struct arena *arena, float *logits, wt_error *err);

#endif
