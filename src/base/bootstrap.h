/* bootstrap.h: paired bootstrap test of the difference between two recipes (Efron & Tibshirani, An Introduction to the
 * Bootstrap, chapters 13 and 16). Queries are drawn with replacement; the statistic is the mean of the per-query
 * differences. */
#ifndef WT_BASE_BOOTSTRAP_H
#define WT_BASE_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bootstrap {
    double difference; /* mean of b - a */
    double low, high;  /* 95 % percentile interval of the mean */
    double p;          /* two-sided p-value: probability of a mean at least this far from 0 without a difference */
};

/* Runs the bootstrap. differences: [count], b - a of each query. resamples must be > 0. The result depends only on the
 * arguments, on every machine. A count of 0 gives zeros and a p of 1. Errors: WT_ENOMEM. */
int wt__bootstrap(const double *differences, size_t count, size_t resamples, uint64_t seed, struct bootstrap *out,
                  wt_error *err);

#endif
