/* attention.c: both products of attention run on the matrix kernel. K is packed into panels, a head at a time; V
 * already lies as the kernel wants its right side. Rows of scores are made in blocks, so that scratch grows with T and
 * not with its square, and a block is still in the cache when softmax and V come to it. */
#include "nn/attention.h"

#include <math.h>

#include "nn/kernels/kernels.h"
#include "nn/linear.h"

enum { BLOCK_ROWS = 48 };

static size_t padded(size_t t)
{
    return (t + WT_PANEL - 1) / WT_PANEL * WT_PANEL;
}

size_t wt__attention_scratch(const struct attention *attention, size_t t)
{
    size_t keys = wt__linear_packed_size(t, attention->width), scores, sum;

    if (keys == 0 || __builtin_mul_overflow(padded(t), (size_t)BLOCK_ROWS, &scores) ||
        __builtin_add_overflow(keys, scores, &sum))
        return 0;
    return sum;
}

static void one_head(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                     size_t out_stride, float *scratch, size_t t)
{
    const struct kernels *kernels = wt__kernels();
    size_t width = attention->width, hidden = attention->heads * width, stride = padded(t);
    float *keys = scratch, *scores = scratch + wt__linear_packed_size(t, width); /* [BLOCK_ROWS, stride] */
    const float *value = qkv + 2 * hidden;

    wt__linear_pack(keys, qkv + hidden, qkv_stride, t, width);
    for (size_t row = 0; row < t; row += BLOCK_ROWS) {
        size_t rows = t - row < BLOCK_ROWS ? t - row : BLOCK_ROWS;
        struct gemm score = {.t = rows,
                             .k = width,
                             .o = t,
                             .a = qkv + row * qkv_stride,
                             .a_stride = qkv_stride,
                             .w = keys,
                             .w_step = WT_PANEL,
                             .w_panel = width * WT_PANEL,
                             .c = scores,
                             .c_stride = stride};
        struct gemm mix = {.t = rows,
                           .k = t,
                           .o = width,
                           .a = scores,
                           .a_stride = stride,
                           .w = value,
                           .w_step = qkv_stride,
                           .w_panel = WT_PANEL,
                           .c = out + row * out_stride,
                           .c_stride = out_stride};

        kernels->gemm(&score);
        for (size_t r = 0; r < rows; r++)
            kernels->softmax(scores + r * stride, t, 1.0f / sqrtf((float)width));
        kernels->gemm(&mix);
    }
}

void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t)
{
    for (size_t head = 0; head < attention->heads; head++)
        one_head(attention, qkv + head * attention->width, qkv_stride, out + head * attention->width, out_stride,
                 scratch, t);
}
