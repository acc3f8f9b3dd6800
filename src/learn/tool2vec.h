/* tool2vec.h: the lesson "tool2vec" (section 4.1 of Moon et al., Efficient and Scalable Estimation of Tool
 * Representations in Vector Space): a tool's vector from the requests that used it. */
#ifndef WT_LEARN_TOOL2VEC_H
#define WT_LEARN_TOOL2VEC_H

#include "learn/study.h"

/* T of every tool (recipe/trained.h): vectors [M, D]. */
void wt__tool2vec(const struct study *study, const struct blend *blend, float *vectors);

/* The blend that the lesson left for this encoder, else one that did well everywhere. */
int wt__tool2vec_blend(struct study *study, struct blend *out, wt_error *err);

int wt__lesson_tool2vec(struct training *training, wt_trained *out, wt_error *err);

#endif
