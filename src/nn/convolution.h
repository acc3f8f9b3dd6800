/* convolution.h: the Conv1d that DeBERTa-v2 runs over a sequence's tokens, y[t] = b + sum over taps j of
 * W[j] x[t + j - taps / 2], rows outside the sequence being zero. Each tap is one linear layer on shifted rows, so that
 * it is packed or row-major as linear.h says. */
#ifndef WT_NN_CONVOLUTION_H
#define WT_NN_CONVOLUTION_H

#include <stddef.h>

#include "nn/linear.h"

enum { CONVOLUTION_MAX_TAPS = 15 };

struct convolution {
    size_t taps; /* odd, at most CONVOLUTION_MAX_TAPS */
    size_t in, out;
    const float *weight; /* [taps] of [O, I], or of packed ones, wt__linear_packed_size(O, I) apart */
    const float *bias;   /* [O], or NULL */
    bool row_major;
};

/* Between the files' order [O, I, taps] and ours [taps, O, I]: to ours; and ours added to the files' (for gradients).
 */
void wt__convolution_arrange(float *ours, const float *file, size_t taps, size_t out, size_t in);
void wt__convolution_add_back(float *file, const float *ours, size_t taps, size_t out, size_t in);

/* One sequence: x [T, I], y [T, O], rows apart by their strides; y is overwritten and may not overlap x. */
void wt__convolution_forward(const struct convolution *c, const float *x, size_t x_stride, float *y, size_t y_stride,
                             size_t t);

/* Of a row-major c. dx is overwritten (NULL: not wanted), dweight [taps, O, I] and dbias [O] are added to (NULL:
 * frozen). */
void wt__convolution_backward(const struct convolution *c, const float *x, size_t x_stride, const float *dy,
                              size_t dy_stride, float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t);

#endif
