/* attention_core.c: attention in blocks of rows. Backward, with P the probabilities of a block:
 *
 *   dV += P^T dO    dP = dO V^T    dS = P (dP - row sums of P dP) scale    dQ = dS K    dK += dS^T Q */
#include "nn/attention_core.h"

#include <stdint.h>

#include "nn/kernels/kernels.h"
#include "nn/linear.h"

int wt__scratch_add(size_t *sum, size_t rows, size_t columns)
{
    size_t floats;

    if (__builtin_mul_overflow(rows, columns, &floats) || __builtin_add_overflow(*sum, floats, sum))
        return -1;
    return 0;
}

static size_t size_core_scratch(const struct attention_core *core, size_t t, size_t times)
{
    size_t sum = 0;

    if (t > SIZE_MAX - WT_PANEL || wt__scratch_add(&sum, wt__round_up_to_panel(t), core->width) < 0 ||
        wt__scratch_add(&sum, wt__round_up_to_panel(t), ATTENTION_BLOCK) < 0 ||
        __builtin_mul_overflow(sum, times, &sum))
        return 0;
    return sum;
}

size_t wt__attention_core_scratch(const struct attention_core *core, size_t t)
{
    return size_core_scratch(core, t, 1);
}

size_t wt__attention_core_backward_scratch(const struct attention_core *core, size_t t)
{
    return size_core_scratch(core, t, 2);
}

void wt__times_packed(struct matrix_view a, const float *packed, float *c, size_t c_stride, size_t t, size_t k,
                      size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a.at,
                                       .a_stride = a.stride,
                                       .a_step = 1,
                                       .w = packed,
                                       .w_step = WT_PANEL,
                                       .w_panel = k * WT_PANEL,
                                       .c = c,
                                       .c_stride = c_stride});
}

void wt__times_rows(struct matrix_view a, struct matrix_view w, bool onto, float *c, size_t c_stride, size_t t,
                    size_t k, size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a.at,
                                       .a_stride = a.stride,
                                       .a_step = 1,
                                       .w = w.at,
                                       .w_step = w.stride,
                                       .w_panel = WT_PANEL,
                                       .residual = onto ? c : NULL,
                                       .c = c,
                                       .c_stride = c_stride});
}

void wt__transposed_times_rows(struct matrix_view a, struct matrix_view w, bool onto, float *c, size_t c_stride,
                               size_t t, size_t k, size_t o)
{
    wt__kernels()->gemm(&(struct gemm){.t = t,
                                       .k = k,
                                       .o = o,
                                       .a = a.at,
                                       .a_stride = 1,
                                       .a_step = a.stride,
                                       .w = w.at,
                                       .w_step = w.stride,
                                       .w_panel = WT_PANEL,
                                       .residual = onto ? c : NULL,
                                       .c = c,
                                       .c_stride = c_stride});
}

/* Computes the probabilities of a block. query starts at the head's first row; keys are packed. */
static void compute_probabilities(const struct attention_core *core, const struct score_block *block,
                                  struct matrix_view query, const float *keys, float *p)
{
    struct matrix_view rows = {query.at + block->row * query.stride, query.stride};

    wt__times_packed(rows, keys, p, block->stride, block->rows, core->width, block->t);
    if (core->terms)
        core->terms->add(core->terms->context, block, p);
    for (size_t r = 0; r < block->rows; r++)
        wt__kernels()->softmax(p + r * block->stride, block->t, core->scale);
}

static struct score_block block_of_rows(size_t head, size_t row, size_t t)
{
    size_t left = t - row;

    return (struct score_block){head, row, left < ATTENTION_BLOCK ? left : ATTENTION_BLOCK, t,
                                wt__round_up_to_panel(t)};
}

void wt__attention_core_forward(const struct attention_core *core, const float *qkv, size_t qkv_stride, float *out,
                                size_t out_stride, float *scratch, size_t t)
{
    size_t width = core->width, hidden = core->heads * width;
    float *keys = scratch, *p = keys + wt__round_up_to_panel(t) * width; /* [ATTENTION_BLOCK, padded T] */

    for (size_t head = 0; head < core->heads; head++) {
        struct matrix_view query = {qkv + head * width, qkv_stride}, value = {query.at + 2 * hidden, qkv_stride};

        wt__linear_pack(keys, query.at + hidden, qkv_stride, t, width);
        if (core->terms)
            core->terms->begin(core->terms->context, head);
        for (size_t row = 0; row < t; row += ATTENTION_BLOCK) {
            struct score_block block = block_of_rows(head, row, t);

            compute_probabilities(core, &block, query, keys, p);
            wt__times_rows((struct matrix_view){p, block.stride}, value, false, out + row * out_stride + head * width,
                           out_stride, block.rows, t, width);
        }
    }
}

void wt__attention_core_backward(const struct attention_core *core, const float *qkv, size_t qkv_stride,
                                 const float *dout, size_t dout_stride, float *dqkv, size_t dqkv_stride, float *scratch,
                                 size_t t)
{
    size_t width = core->width, hidden = core->heads * width, stride = wt__round_up_to_panel(t);
    float *keys = scratch, *values = keys + stride * width;
    float *p = values + stride * width, *d = p + ATTENTION_BLOCK * stride; /* [ATTENTION_BLOCK, stride] */
    struct matrix_view p_rows = {p, stride}, d_rows = {d, stride};

    for (size_t head = 0; head < core->heads; head++) {
        struct matrix_view query = {qkv + head * width, qkv_stride}, key = {query.at + hidden, qkv_stride};
        float *dquery = dqkv + head * width, *dkey = dquery + hidden, *dvalue = dkey + hidden;

        wt__linear_pack(keys, key.at, qkv_stride, t, width);
        wt__linear_pack(values, key.at + hidden, qkv_stride, t, width);
        if (core->terms)
            core->terms->begin(core->terms->context, head);
        for (size_t row = 0; row < t; row += ATTENTION_BLOCK) {
            struct score_block block = block_of_rows(head, row, t);
            struct matrix_view query_rows = {query.at + row * qkv_stride, qkv_stride};
            struct matrix_view dout_rows = {dout + row * dout_stride + head * width, dout_stride};
            bool onto = row > 0;

            compute_probabilities(core, &block, query, keys, p);
            wt__transposed_times_rows(p_rows, dout_rows, onto, dvalue, dqkv_stride, t, block.rows, width);
            wt__times_packed(dout_rows, values, d, stride, block.rows, width, t);
            for (size_t r = 0; r < block.rows; r++)
                wt__kernels()->softmax_backward(p + r * stride, d + r * stride, t, core->scale);
            wt__times_rows(d_rows, key, false, dquery + row * dqkv_stride, dqkv_stride, block.rows, t, width);
            wt__transposed_times_rows(d_rows, query_rows, onto, dkey, dqkv_stride, t, block.rows, width);
            if (core->terms)
                core->terms->add_backward(core->terms->context, &block, d);
        }
        if (core->terms)
            core->terms->end_backward(core->terms->context, head);
    }
}
