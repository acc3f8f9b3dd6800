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

/* x: the forward's input, whose mean and variance are computed again. dx is overwritten and may be dy;
 * dgain, dbias [width] are added to (both NULL: frozen). All rows stride apart. */
void wt__layer_norm_backward(const struct layer_norm *norm, const float *x, const float *dy, float *dx, float *dgain,
                             float *dbias, size_t stride, size_t t);

/* Scales x [n] to length one; a zero vector stays. */
void wt__normalize(float *x, size_t n);

/* x: the vector before wt__normalize, dy: the gradient of what came out. dx is overwritten and may be dy. A
 * zero vector has no direction to learn: dx is 0. */
void wt__normalize_backward(const float *x, const float *dy, float *dx, size_t n);

#endif
