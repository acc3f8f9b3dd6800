/* convolution.h: the Conv1d of DeBERTa-v2 over the tokens of a sequence, y[t] = b + sum over taps j of
 * W[j] x[t + j - taps / 2], with zero rows outside the sequence. Each tap is a linear layer on shifted rows, packed or
 * row-major as in linear.h. */
#ifndef WT_NN_CONVOLUTION_H
#define WT_NN_CONVOLUTION_H

#include <stddef.h>

#include "nn/linear.h"

enum { CONVOLUTION_MAX_TAPS = 15 };

struct convolution {
    size_t taps; /* odd, at most CONVOLUTION_MAX_TAPS */
    size_t in, out;
    const float *weight; /* [taps][O, I], or [taps] packed matrices of wt__linear_packed_size(O, I) floats */
    const float *bias;   /* [O], or NULL */
    bool row_major;
};

/* Converts weights from the order in model files, [O, I, taps], to ours, [taps, O, I]. */
void wt__convolution_arrange(float *ours, const float *file, size_t taps, size_t out, size_t in);
/* Adds gradients in our order to gradients in file order. */
void wt__convolution_add_back(float *file, const float *ours, size_t taps, size_t out, size_t in);

/* Processes one sequence: x [T, I], y [T, O]. Strides are floats between rows. Overwrites y, which may not overlap x.
 */
void wt__convolution_forward(const struct convolution *c, const float *x, size_t x_stride, float *y, size_t y_stride,
                             size_t t);

/* Requires a row-major c. Overwrites dx (NULL if not wanted); adds to dweight [taps, O, I] and dbias [O] (NULL if
 * frozen). */
void wt__convolution_backward(const struct convolution *c, const float *x, size_t x_stride, const float *dy,
                              size_t dy_stride, float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t);

#endif
