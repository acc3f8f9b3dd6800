/* refiner_trainer.h: the lessons "tool2vec+refiner" and "mlc+refiner" (section 4.3 of the Tool2Vec paper): train the
 * model of rerank/refiner.h on its first stage's candidates. */
#ifndef WT_LEARN_REFINER_TRAINER_H
#define WT_LEARN_REFINER_TRAINER_H

#include "learn/refiner_samples.h"

enum { REFINER_BATCH = 32, REFINER_CANDIDATES = 32 /* default of N */ };
#define REFINER_RATE 1e-4

/* Losses over logits of used (gold) and unused candidates. Each sets the gradients dlogits [n], which may be logits.
 *
 *   softmax: -log of each gold candidate's share against the unused ones, summed; *terms: number of gold candidates
 *   bce:     of each candidate, summed; *terms: number of candidates
 *
 * The caller divides loss and gradients by the terms of the batch. */
typedef double (*refiner_loss)(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_bce(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);

/* Fits the weights of the features and a constant (last) to minimise the loss of prior * (score - 1) + weights .
 * features + constant over all samples. */
enum { FIT_WEIGHTS = RETRIEVE_FEATURES + 1 };
void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior, float weights[FIT_WEIGHTS]);

/* Measures a trained recipe "...+refiner" on dev. *there is false if it does not exist. */
int wt__refiner_measure(struct dev_evaluator *evaluator, const char *recipe, bool *there, struct dev_outcome *out,
                        wt_error *err);

#endif
