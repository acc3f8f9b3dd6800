/* linear.h: linear layers, y = activation(x W^T + b) + residual. W is packed for the kernels (inference), or row-major
 * as in model files (training, because W changes in every step). The forward call is the same for both. */
#ifndef WT_NN_LINEAR_H
#define WT_NN_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/activation.h"
#include "nn/linear_pack.h"

struct linear {
    size_t in, out;
    const float *weight;        /* packed and aligned to 64 bytes, or row-major [O, I] */
    const float *bias;          /* [O], or NULL */
    const unsigned char *bytes; /* the same W in panels of bytes (linear_bytes.h), or NULL */
    bool row_major;             /* true if weight is [O, I] */
    bool reduced;               /* products may round to bfloat16, as in matmul.h; only if row_major */
};

/* x [T, I] has rows x_stride apart, y [T, O] rows y_stride apart. y may not overlap x. residual is NULL or has the
 * layout of y, may be y, and requires ACTIVATION_NONE. */
void wt__linear_forward(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                        const float *residual, float *y, size_t y_stride, size_t t);

/* Computes the backward of x W^T + b. Requires a row-major l. dy [T, O] is the gradient before activation and residual.
 *   dx [T, I] = dy W (overwritten; NULL if not wanted; must not overlap dy)
 *   dweight [O, I] += dy^T x   dbias [O] += sum of dy over T   (each NULL if frozen) */
void wt__linear_backward(const struct linear *l, const float *x, size_t x_stride, const float *dy, size_t dy_stride,
                         float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t);

#endif
