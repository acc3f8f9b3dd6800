/* attention.h: self-attention over one sequence, softmax(Q K^T / sqrt(d) + bias) V for each head. Sequences are not
 * padded, so there is no mask. The bias is the relative bias of MPNet: one learned number per head and distance bucket.
 */
#ifndef WT_NN_ATTENTION_H
#define WT_NN_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "nn/distance.h"

struct attention {
    size_t heads; /* A */
    size_t width; /* d of one head; H = A d */

    const float *bias; /* [distances->count, A], or NULL for plain attention, which ignores the next two fields */
    const struct distances *distances;
    const int32_t *positions; /* [T] positions of the rows, or NULL for 0 .. T - 1 */
};

/* Returns the floats of scratch for sequences of up to t tokens, or 0 on overflow. */
size_t wt__attention_scratch(const struct attention *attention, size_t t);

/* qkv [T, 3 H] holds query, key and value side by side, rows qkv_stride apart; WT_PANEL floats after the last row must
 * be readable. out [T, H] has rows out_stride apart. scratch is aligned to 64 bytes. */
void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t);

/* Returns the floats of scratch for the backward pass, or 0 on overflow. It grows linearly with T, as in forward. */
size_t wt__attention_backward_scratch(const struct attention *attention, size_t t);

/* Recomputes the probabilities, one block of rows at a time. dout [T, H] is the gradient of out; WT_PANEL floats after
 * its last row must be readable. Overwrites dqkv [T, 3 H] and adds to dbias [count, A] (NULL if the bias is frozen or
 * absent). */
void wt__attention_backward(const struct attention *attention, const float *qkv, size_t qkv_stride, const float *dout,
                            size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dbias, float *scratch,
                            size_t t);

#endif
