/* linear.h: y = activation(x W^T + b) + residual. W is packed for the kernels (inference), or row-major as in the files
 * of models (training, where it changes every step); the forward is the same call for both. */
#ifndef WT_NN_LINEAR_H
#define WT_NN_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/activation.h"
#include "nn/linear_pack.h"

struct linear {
    size_t in, out;
    const float *weight;        /* packed, on a 64-byte boundary; or [O, I] */
    const float *bias;          /* [O], or NULL */
    const unsigned char *bytes; /* packed: the same W as bytes (linear_bytes.h), or NULL */
    bool row_major;             /* weight is [O, I] */
    bool reduced;               /* with row_major: products may round to bfloat16, as in matmul.h */
};

/* x [T, I] rows x_stride apart, y [T, O] rows y_stride apart, residual NULL or as y (and may be y), and only with
 * ACTIVATION_NONE. y may not overlap x. */
void wt__linear_forward(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                        const float *residual, float *y, size_t y_stride, size_t t);

/* The backward of x W^T + b, of a row-major l: dy [T, O] is the gradient of that sum, before activation and residual.
 *   dx [T, I] = dy W (overwritten; NULL: not wanted; no overlap with dy)
 *   dweight [O, I] += dy^T x   dbias [O] += sum of dy over T   (NULL: frozen) */
void wt__linear_backward(const struct linear *l, const float *x, size_t x_stride, const float *dy, size_t dy_stride,
                         float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t);

#endif
