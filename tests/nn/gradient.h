/* gradient.h: helpers for tests of backward passes. Each test has a second, simple implementation of the layer in
 * doubles. Its finite differences are the expected gradients. */
#ifndef WT_TESTS_NN_GRADIENT_H
#define WT_TESTS_NN_GRADIENT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "nn/kernels/kernels.h"

static struct rng rng;

/* Returns n random numbers in -scale .. scale, followed by WT_PANEL times NAN. Kernels may read the NANs, but must not
 * use them. */
static inline float *random_floats(size_t n, float scale)
{
    float *x = wt__alloc_aligned(n + WT_PANEL, sizeof(float));

    assert_non_null(x);
    for (size_t i = 0; i < n + WT_PANEL; i++)
        x[i] = i < n ? (float)(wt__rng_unit(&rng) * 2 - 1) * scale : NAN;
    return x;
}

static inline double *doubles_of(const float *x, size_t n)
{
    double *d = wt__alloc_array(n + 1, sizeof(double));

    assert_non_null(d);
    for (size_t i = 0; i < n; i++)
        d[i] = x[i];
    return d;
}

/* Checks that |have - want| <= tolerance * (|want| + 1e-3), where |x| is the length of the vector. */
static inline void vectors_agree(const char *what, const float *have, const double *want, size_t n, double tolerance)
{
    double off = 0, length = 0;

    for (size_t i = 0; i < n; i++) {
        off += (have[i] - want[i]) * (have[i] - want[i]);
        length += want[i] * want[i];
    }
    if (!(sqrt(off) <= tolerance * (sqrt(length) + 1e-3)))
        fail_msg("%s: off by %.3g of %.3g (tolerance %.3g of it)", what, sqrt(off), sqrt(length), tolerance);
}

/* Checks that gradient [n] is the gradient of loss(context) with respect to x [n], an input of the loss. */
static inline void gradient_agrees(const char *what, double (*loss)(void *context), void *context, double *x, size_t n,
                                   const float *gradient, double tolerance)
{
    const double step = 1e-5;
    double *want = wt__alloc_array(n + 1, sizeof(double));

    assert_non_null(want);
    for (size_t i = 0; i < n; i++) {
        double kept = x[i];

        x[i] = kept + step;
        double above = loss(context);
        x[i] = kept - step;
        want[i] = (above - loss(context)) / (2 * step);
        x[i] = kept;
    }
    vectors_agree(what, gradient, want, n, tolerance);
    free(want);
}

#endif
