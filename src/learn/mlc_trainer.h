/* mlc_trainer.h: the lesson "mlc" (section 4.2 of the Tool2Vec paper): multi-label classification, a row a tool. */
#ifndef WT_LEARN_MLC_TRAINER_H
#define WT_LEARN_MLC_TRAINER_H

#include "learn/dev_evaluator.h"

enum { MLC_BATCH = 64 }; /* the lesson's defaults */
#define MLC_RATE 3e-4

/* C of every tool by the head that the lesson left for this evaluator's encoder: vectors [M, D]; *there is false, and
 * vectors are T, when there is none. tools [M, D]: T. */
int wt__mlc_vectors(struct dev_evaluator *evaluator, const float *tools, float *vectors, bool *there, wt_error *err);

/* The head that some of the training requests alone (which [count]) would give, by the lesson's defaults: rows [M, D]
 * hold what it begins as, and then the head. Errors: WT_ENOMEM, WT_ECANCELLED, WT_EMODEL. */
int wt__mlc_fit(struct dev_evaluator *evaluator, const uint32_t *which, size_t count, float *rows, wt_error *err);

#endif
