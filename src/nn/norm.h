/* norm.h: layer normalisation and unit vectors. */
#ifndef WT_NN_NORM_H
#define WT_NN_NORM_H

#include <stddef.h>

struct layer_norm {
    size_t width;
    const float *gain, *bias; /* [width] */
    float epsilon;
};

/* Normalises each row of x [T, width] into y. Rows of both are `stride` apart; y may be x. */
void wt__layer_norm_forward(const struct layer_norm *norm, const float *x, float *y, size_t stride, size_t t);

/* x is the input of the forward pass; its mean and variance are recomputed. Overwrites dx, which may be dy. Adds to
 * dgain and dbias [width] (both NULL if frozen). All rows are `stride` apart. */
void wt__layer_norm_backward(const struct layer_norm *norm, const float *x, const float *dy, float *dx, float *dgain,
                             float *dbias, size_t stride, size_t t);

/* Scales x [n] to unit length. A zero vector stays zero. */
void wt__normalize(float *x, size_t n);

/* x is the input of wt__normalize and dy the gradient of its result. Overwrites dx, which may be dy. dx is 0 for a zero
 * vector, because it has no direction. */
void wt__normalize_backward(const float *x, const float *dy, float *dx, size_t n);

#endif
