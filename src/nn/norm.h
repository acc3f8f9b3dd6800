/* norm.h: layer normalisation, and vectors of length one. */
#ifndef WT_NN_NORM_H
#define WT_NN_NORM_H

#include <stddef.h>

struct layer_norm {
    size_t width;
    const float *gain, *bias; /* [width] */
    float epsilon;
};

/* y = norm(x) a row. x, y [T, width], rows stride apart; y may be x. */
void wt__layer_norm_forward(const struct layer_norm *norm, const float *x, float *y, size_t stride, size_t t);

/* Scales x [n] to length one; a zero vector stays. */
void wt__normalize(float *x, size_t n);

#endif
