/* logistic.h: fits a logistic regression on a few features by Newton's method, with an L2 penalty. The optimum is
 * unique, so equal samples give equal weights. */
#ifndef WT_LEARN_LOGISTIC_H
#define WT_LEARN_LOGISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOGISTIC_MOST = 80 }; /* maximum number of features */

struct logistic_samples {
    size_t count, features; /* n, F */
    const float *values;    /* [n, F] */
    const uint8_t *answers; /* [n] 0 or 1 */
    const float *counts;    /* [n] weight of each sample; NULL for equal weights */
    bool balanced;          /* true to give both answers the same total weight */
};

/* Minimises the mean loss plus shrinkage / 2 times the sum of the squared weights. The penalty uses the weights of
 * standardised features. weights: [F]. If all answers are equal, weights and constant are 0. */
void wt__logistic_fit(const struct logistic_samples *samples, double shrinkage, float *weights, float *constant);

#endif
