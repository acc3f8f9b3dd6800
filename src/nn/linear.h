/* linear.h: y = activation(x W^T + b) + residual, with W packed for the kernels. */
#ifndef WT_NN_LINEAR_H
#define WT_NN_LINEAR_H

#include <stddef.h>

#include "nn/kernels/kernels.h"

/* W [O, I] in panels of WT_PANEL outputs, [ceil(O / WT_PANEL)][I][WT_PANEL], zero beyond O. */
struct linear {
    size_t in, out;
    const float *weight; /* packed, on a 64-byte boundary */
    const float *bias;   /* [O], or NULL */
};

/* Floats of a packed matrix of that shape; 0 on overflow. */
size_t wt__linear_packed_size(size_t out, size_t in);

/* packed: [wt__linear_packed_size()]. w: rows of `in` floats, row_stride apart. */
void wt__linear_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in);

/* x [T, I] rows x_stride apart, y [T, O] rows y_stride apart, residual NULL or as y (and may be y). y may not overlap
 * x. */
void wt__linear_forward(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                        const float *residual, float *y, size_t y_stride, size_t t);

#endif
