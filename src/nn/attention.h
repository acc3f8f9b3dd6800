/* attention.h: self-attention of one sequence over itself, softmax(Q K^T / sqrt(d) + bias) V a head. No mask is needed:
 * a sequence holds no padding. The bias is MPNet's: a learned number a head for each bucket of distances. */
#ifndef WT_NN_ATTENTION_H
#define WT_NN_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "nn/distance.h"

struct attention {
    size_t heads; /* A */
    size_t width; /* d, of one head; H = A d */

    const float *bias; /* [distances->count, A], or NULL: none, and what follows is not read */
    const struct distances *distances;
    const int32_t *positions; /* [T] of this sequence's rows, or NULL: 0 .. T - 1 */
};

/* Floats of scratch that sequences of up to t tokens need; 0 on overflow. */
size_t wt__attention_scratch(const struct attention *attention, size_t t);

/* qkv [T, 3 H]: query, key, value beside each other, rows qkv_stride apart, WT_PANEL floats readable behind the last.
 * out [T, H] rows out_stride apart. scratch on a 64-byte boundary. */
void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t);

/* The same for the backward, whose scratch also grows with T and not with its square. */
size_t wt__attention_backward_scratch(const struct attention *attention, size_t t);

/* dout [T, H]: the gradient of out, WT_PANEL floats readable behind the last. dqkv [T, 3 H] is overwritten; dbias
 * [count, A] is added to (NULL: frozen, or no bias). Probabilities are computed again, a block of rows at a time. */
void wt__attention_backward(const struct attention *attention, const float *qkv, size_t qkv_stride, const float *dout,
                            size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dbias, float *scratch,
                            size_t t);

#endif
