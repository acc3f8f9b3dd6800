/* linear.c: packing, and the call of the kernel. */
#include "nn/linear.h"

size_t wt__linear_packed_size(size_t out, size_t in)
{
    size_t rows, floats;

    if (__builtin_add_overflow(out, (size_t)WT_PANEL - 1, &rows))
        return 0;
    rows = rows / WT_PANEL * WT_PANEL;
    return __builtin_mul_overflow(rows, in, &floats) ? 0 : floats;
}

void wt__linear_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in)
{
    for (size_t first = 0; first < out; first += WT_PANEL, packed += in * WT_PANEL) {
        size_t width = out - first < WT_PANEL ? out - first : WT_PANEL;

        for (size_t j = 0; j < WT_PANEL; j++)
            for (size_t k = 0; k < in; k++)
                packed[k * WT_PANEL + j] = j < width ? w[(first + j) * row_stride + k] : 0;
    }
}

void wt__linear_forward(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                        const float *residual, float *y, size_t y_stride, size_t t)
{
    struct gemm gemm = {.t = t,
                        .k = l->in,
                        .o = l->out,
                        .a = x,
                        .a_stride = x_stride,
                        .w = l->weight,
                        .w_step = WT_PANEL,
                        .w_panel = l->in * WT_PANEL,
                        .bias = l->bias,
                        .residual = residual,
                        .c = y,
                        .c_stride = y_stride,
                        .activation = activation};

    wt__kernels()->gemm(&gemm);
}
