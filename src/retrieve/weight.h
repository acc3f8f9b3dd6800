/* weight.h: a weight as a trained model's config.json has it. */
#ifndef WT_RETRIEVE_WEIGHT_H
#define WT_RETRIEVE_WEIGHT_H

#include <math.h>

#include "base/json.h"

#define WEIGHT_MAX 1e6 /* products of weights and vectors are what an index takes */

/* Finite, and not so large that sums of them overflow; else 0. */
static inline float wt__weight_read(const json_t *object, const char *key, double fallback)
{
    double value = wt__json_real(object, key, fallback);
    return fabs(value) < WEIGHT_MAX ? (float)value : 0;
}

#endif
