/* refiner_trainer.h: the lessons "tool2vec+refiner" and "mlc+refiner" (section 4.3 of the Tool2Vec paper): the model of
 * rerank/refiner.h, trained on its first stage's candidates. */
#ifndef WT_LEARN_REFINER_TRAINER_H
#define WT_LEARN_REFINER_TRAINER_H

#include "learn/refiner_samples.h"

enum { REFINER_BATCH = 32, REFINER_CANDIDATES = 32 /* N by default */ };
#define REFINER_RATE 1e-4

/* The losses, of logits of candidates that were used (gold) or not; each gives the gradients dlogits [n], which may be
 * logits.
 * softmax: -log of each gold one's share beside those that are not gold, its sum; *terms: how many gold ones
 * bce:     of each candidate, its sum; *terms: how many candidates
 * Losses and gradients are still to be divided by the terms of the batch. */
typedef double (*refiner_loss)(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_softmax(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);
double wt__refiner_bce(const float *logits, const uint8_t *gold, size_t n, float *dlogits, size_t *terms);

/* The weights of features, and behind them a constant, that make the loss of
 * prior * (score - 1) + weights . features + constant small over all samples. */
enum { FIT_WEIGHTS = RETRIEVE_FEATURES + 1 };
void wt__refiner_fit(const struct refiner_samples *samples, refiner_loss loss, float prior, float weights[FIT_WEIGHTS]);

/* How dev fares with a recipe "...+refiner" as it lies in the folder of trained models. *there is false when there is
 * none. */
int wt__refiner_ask(struct dev_evaluator *evaluator, const char *recipe, bool *there, struct outcome *out,
                    wt_error *err);

#endif
