/* mlc_trainer.h: the lesson "mlc" (section 4.2 of the Tool2Vec paper): multi-label classification with one row per
 * tool. */
#ifndef WT_LEARN_MLC_TRAINER_H
#define WT_LEARN_MLC_TRAINER_H

#include "learn/dev_evaluator.h"

enum { MLC_BATCH = 64 }; /* the lesson's default */
#define MLC_RATE 3e-4

/* Computes C of every tool from the head saved for this evaluator's encoder: vectors [M, D]. Without a saved head
 * *there is false and vectors are T. tools [M, D]: T. */
int wt__mlc_vectors(struct dev_evaluator *evaluator, const float *tools, float *vectors, bool *there, wt_error *err);

/* Fits a head on some of the training requests (which [count]) with the lesson's defaults. rows [M, D]: initial values,
 * then the result. Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__mlc_fit(struct dev_evaluator *evaluator, const uint32_t *which, size_t count, float *rows, wt_error *err);

#endif
