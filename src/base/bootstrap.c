/* bootstrap.c: draws samples and computes their means. The bounds of the interval are percentiles of these means.
 *
 * The means of the samples spread around the observed mean. Without a true difference, they would spread around 0 in
 * the same way. So p is the share of samples whose mean is at least as far from the observed mean as the observed mean
 * is from 0. Adding one to numerator and denominator keeps p above 0. */
#include "base/bootstrap.h"

#include <math.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/sort.h"

int wt__bootstrap(const double *differences, size_t count, size_t resamples, uint64_t seed, struct bootstrap *out,
                  wt_error *err)
{
    *out = (struct bootstrap){.p = 1};
    if (count == 0)
        return 0;
    WT_AUTO_FREE double *means = wt__alloc_array(resamples, sizeof *means);
    WT_CHECK_ALLOC(means, err);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += differences[i];
    out->difference = sum / (double)count;

    struct rng rng;
    wt__rng_seed(&rng, seed);
    size_t as_far = 0;
    /* Tolerance: sums of the same numbers in another order differ in the last bits but must count as equal. */
    double distance = fabs(out->difference) - 1e-12;
    for (size_t r = 0; r < resamples; r++) {
        double drawn = 0;
        for (size_t i = 0; i < count; i++)
            drawn += differences[wt__rng_below(&rng, count)];
        means[r] = drawn / (double)count;
        as_far += fabs(means[r] - out->difference) >= distance;
    }
    wt__sort_doubles(means, resamples);
    out->low = wt__percentile(means, resamples, 2.5);
    out->high = wt__percentile(means, resamples, 97.5);
    out->p = (double)(as_far + 1) / (double)(resamples + 1);
    return 0;
}
