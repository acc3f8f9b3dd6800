/* attention_core.c: see attention_core.h. The backward, with P the probabilities of a block of rows:
 *
 *   dV += P^T dO    dP = dO V^T    dS = P (dP - rows' sums of P dP) scale    dQ = dS K    dK += dS^T Q */
#include "nn/attention_core.h"

#include <stdbool.h>
#include <stdint.h>

#include "nn/kernels/kernels.h"
#include "nn/linear.h"

static size_t padded(size_t t)
{
    return (t + WT_PANEL - 1) / WT_PANEL * WT_PANEL;
}

int wt__scratch_add(size_t *sum, size_t rows, size_t columns)
{
    size_t floats;

    if (__builtin_mul_overflow(rows, columns, &floats) || __builtin_add_overflow(*sum, floats, sum))
        return -1;
    return 0;
}

static size_t scratch_of(const struct attention_core *core, size_t t, size_t times)
{
    size_t sum = 0;

    if (t > SIZE_MAX - WT_PANEL || wt__scratch_add(&sum, padded(t), core->width) < 0 ||
        wt__scratch_add(&sum, padded(t), ATTENTION_BLOCK) < 0 || __builtin_mul_overflow(sum, times, &sum))
        return 0;
    return sum;
}

size_t wt__attention_core_scratch(const struct attention_core *core, size_t t)
{
    return scratch_of(core, t, 1);
}

size_t wt__attention_core_backward_scratch(const struct attention_core *core, size_t t)
{
    return scratch_of(core, t, 2);
}

/* c [t,o] = a [t,k] w, w [k,o] packed. */
static void times_packed(const float *a, size_t a_stride, const float *packed, float *c, size_t c_stride, size_t t,
                         size_t k, size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a,
                                       .a_stride = a_stride,
                                       .a_step = 1,
                                       .w = packed,
                                       .w_step = WT_PANEL,
                                       .w_panel = k * WT_PANEL,
                                       .c = c,
                                       .c_stride = c_stride});
}

/* c [t,o] = a [t,k] w, w [k,o] in place. */
static void times_rows(const float *a, size_t a_stride, const float *w, size_t w_stride, float *c, size_t c_stride,
                       size_t t, size_t k, size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a,
                                       .a_stride = a_stride,
                                       .a_step = 1,
                                       .w = w,
                                       .w_step = w_stride,
                                       .w_panel = WT_PANEL,
                                       .c = c,
                                       .c_stride = c_stride});
}

/* c [t,o] = (first ? 0 : c) + a^T w, a [k,t], w [k,o] in place. */
static void transposed_times_rows(const float *a, size_t a_stride, const float *w, size_t w_stride, float *c,
                                  size_t c_stride, bool first, size_t t, size_t k, size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a,
                                       .a_stride = 1,
                                       .a_step = a_stride,
                                       .w = w,
                                       .w_step = w_stride,
                                       .w_panel = WT_PANEL,
                                       .residual = first ? NULL : c,
                                       .c = c,
                                       .c_stride = c_stride});
}

/* The block's probabilities. query: the head's first row. keys: packed. */
static void probabilities(const struct attention_core *core, const struct block *block, const float *query,
                          size_t query_stride, const float *keys, float *p)
{
    times_packed(query + block->row * query_stride, query_stride, keys, p, block->stride, block->rows, core->width,
                 block->t);
    if (core->terms)
        core->terms->add(core->terms->context, block, p);
    for (size_t r = 0; r < block->rows; r++)
        wt__kernels()->softmax(p + r * block->stride, block->t, core->scale);
}

static struct block block_at(size_t head, size_t row, size_t t)
{
    return (struct block){.head = head,
                          .row = row,
                          .rows = t - row < ATTENTION_BLOCK ? t - row : ATTENTION_BLOCK,
                          .t = t,
                          .stride = padded(t)};
}

void wt__attention_core_forward(const struct attention_core *core, const float *qkv, size_t qkv_stride, float *out,
                                size_t out_stride, float *scratch, size_t t)
{
    size_t width = core->width, hidden = core->heads * width;
    float *keys = scratch, *p = keys + padded(t) * width; /* [ATTENTION_BLOCK, padded T] */

    for (size_t head = 0; head < core->heads; head++) {
        const float *query = qkv + head * width, *value = query + 2 * hidden;

        wt__linear_pack(keys, query + hidden, qkv_stride, t, width);
        if (core->terms)
            core->terms->begin(core->terms->context, head);
        for (size_t row = 0; row < t; row += ATTENTION_BLOCK) {
            struct block block = block_at(head, row, t);

            probabilities(core, &block, query, qkv_stride, keys, p);
            times_rows(p, block.stride, value, qkv_stride, out + row * out_stride + head * width, out_stride,
                       block.rows, t, width);
        }
    }
}

void wt__attention_core_backward(const struct attention_core *core, const float *qkv, size_t qkv_stride,
                                 const float *dout, size_t dout_stride, float *dqkv, size_t dqkv_stride, float *scratch,
                                 size_t t)
{
    const struct kernels *kernels = wt__kernels();
    size_t width = core->width, hidden = core->heads * width, stride = padded(t);
    float *keys = scratch, *values = keys + stride * width;
    float *p = values + stride * width, *d = p + ATTENTION_BLOCK * stride; /* [ATTENTION_BLOCK, stride] */

    for (size_t head = 0; head < core->heads; head++) {
        const float *query = qkv + head * width, *key = query + hidden;
        float *dquery = dqkv + head * width, *dkey = dquery + hidden, *dvalue = dkey + hidden;

        wt__linear_pack(keys, key, qkv_stride, t, width);
        wt__linear_pack(values, key + hidden, qkv_stride, t, width);
        if (core->terms)
            core->terms->begin(core->terms->context, head);
        for (size_t row = 0; row < t; row += ATTENTION_BLOCK) {
            struct block block = block_at(head, row, t);
            const float *dy = dout + row * dout_stride + head * width;

            probabilities(core, &block, query, qkv_stride, keys, p);
            times_packed(dy, dout_stride, values, d, stride, block.rows, width, t);
            transposed_times_rows(p, stride, dy, dout_stride, dvalue, dqkv_stride, row == 0, t, block.rows, width);
            for (size_t r = 0; r < block.rows; r++)
                kernels->softmax_backward(p + r * stride, d + r * stride, t, core->scale);
            times_rows(d, stride, key, qkv_stride, dquery + row * dqkv_stride, dqkv_stride, block.rows, t, width);
            transposed_times_rows(d, stride, query + row * qkv_stride, qkv_stride, dkey, dqkv_stride, row == 0, t,
                                  block.rows, width);
            if (core->terms)
                core->terms->add_backward(core->terms->context, &block, d);
        }
        if (core->terms)
            core->terms->end_backward(core->terms->context, head);
    }
}
