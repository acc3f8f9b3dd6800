/* logistic.h: the probability of yes or no from a handful of numbers: logistic regression with a little shrinkage, by
 * Newton's method. A few steps find the one optimum, so the same samples give the same weights. */
#ifndef WT_LEARN_LOGISTIC_H
#define WT_LEARN_LOGISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOGISTIC_MOST = 15 /* features */ };

struct logistic_samples {
    size_t count, features; /* n, F */
    const float *values;    /* [n, F] */
    const uint8_t *answers; /* [n] 0 or 1 */
    const float *counts;    /* [n] how much each counts; NULL: all alike */
    bool balanced;          /* both answers count alike in sum, however many there are of each */
};

/* Minimises the mean loss and shrinkage / 2 times the squares of the weights, each in units of its feature's spread.
 * weights: [F]. Where all answers are alike nothing is learned: weights and constant are 0. */
void wt__logistic_fit(const struct logistic_samples *samples, double shrinkage, float *weights, float *constant);

#endif
