/* bootstrap.h: is recipe b better than a, or was it these queries? The paired bootstrap (Efron & Tibshirani, An
 * Introduction to the Bootstrap, chapters 13 and 16): queries are drawn with replacement, and what matters is each
 * query's own difference. */
#ifndef WT_BASE_BOOTSTRAP_H
#define WT_BASE_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bootstrap {
    double difference; /* mean of b - a */
    double low, high;  /* its 95 % percentile interval */
    double p;          /* two-sided: how often chance alone gives a mean at least as far from 0 */
};

/* differences: [count], b - a of each query. The same seed gives the same result everywhere. Needs resamples > 0;
 * count 0 gives zeros and p 1. Errors: WT_ENOMEM. */
int wt__bootstrap(const double *differences, size_t count, size_t resamples, uint64_t seed, struct bootstrap *out,
                  wt_error *err);

#endif
