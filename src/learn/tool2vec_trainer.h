/* tool2vec_trainer.h: the lesson "tool2vec" (section 4.1 of Moon et al., Efficient and Scalable Estimation of Tool
 * Representations in Vector Space): a tool's vector from the requests that used it. */
#ifndef WT_LEARN_TOOL2VEC_TRAINER_H
#define WT_LEARN_TOOL2VEC_TRAINER_H

#include "learn/dev_evaluator.h"

/* Computes T of every tool (recipe/trained.h): vectors [M, D]. */
void wt__evaluator_tool2vec(const struct dev_evaluator *evaluator, const struct tool2vec *tool2vec, float *vectors);

/* Returns the weights saved by the lesson for this encoder, or generally good ones. */
int wt__evaluator_tool2vec_weights(struct dev_evaluator *evaluator, struct tool2vec *out, wt_error *err);

#endif
