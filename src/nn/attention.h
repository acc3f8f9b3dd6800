/* attention.h: self-attention of one sequence over itself, softmax(Q K^T / sqrt(d)) V a head. No mask is needed:
 * a sequence holds no padding. */
#ifndef WT_NN_ATTENTION_H
#define WT_NN_ATTENTION_H

#include <stddef.h>

struct attention {
    size_t heads; /* A */
    size_t width; /* d, of one head; H = A d */
};

/* Floats of scratch that sequences of up to t tokens need; 0 on overflow. */
size_t wt__attention_scratch(const struct attention *attention, size_t t);

/* qkv [T, 3 H]: query, key, value beside each other, rows qkv_stride apart, WT_PANEL floats readable behind the last.
 * out [T, H] rows out_stride apart. scratch on a 64-byte boundary. */
void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t);

#endif
