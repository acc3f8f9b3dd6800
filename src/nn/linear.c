/* linear.c: linear layers on the matrix kernels: packed, row-major, and in bytes. */
#include "nn/linear.h"

#include <string.h>

#include "nn/linear_bytes.h"
#include "nn/matmul.h"

static void forward_packed(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                           const float *residual, float *y, size_t y_stride, size_t t)
{
    struct gemm gemm = {.t = t,
                        .k = l->in,
                        .o = l->out,
                        .a = x,
                        .a_stride = x_stride,
                        .a_step = 1,
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

/* Fills y with residual and bias first, then accumulates the product into it. */
static void forward_row_major(const struct linear *l, const float *x, size_t x_stride, const float *residual, float *y,
                              size_t y_stride, size_t t)
{
    struct matmul product = {.m = t,
                             .n = l->out,
                             .k = l->in,
                             .a = x,
                             .a_stride = x_stride,
                             .b = l->weight,
                             .b_stride = l->in,
                             .b_transposed = true,
                             .c = y,
                             .c_stride = y_stride,
                             .accumulate = residual || l->bias,
                             .reduced = l->reduced};

    for (size_t i = 0; i < t && product.accumulate; i++) {
        float *to = y + i * y_stride;

        if (residual && residual != y)
            memcpy(to, residual + i * y_stride, l->out * sizeof(float));
        else if (!residual)
            memcpy(to, l->bias, l->out * sizeof(float));
        for (size_t o = 0; o < l->out && residual && l->bias; o++)
            to[o] += l->bias[o];
    }
    wt__matmul(&product);
}

static void activate_rows(enum activation activation, float *y, size_t y_stride, size_t t, size_t width)
{
    for (size_t i = 0; i < t && activation != ACTIVATION_NONE; i++)
        wt__activation_forward(activation, y + i * y_stride, y + i * y_stride, width);
}

void wt__linear_forward(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                        const float *residual, float *y, size_t y_stride, size_t t)
{
    if (l->row_major)
        forward_row_major(l, x, x_stride, residual, y, y_stride, t);
    else
        forward_packed(l, x, x_stride, activation, residual, y, y_stride, t);
    if (l->row_major || activation != ACTIVATION_GELU)
        activate_rows(activation, y, y_stride, t, l->out);
}

void wt__linear_forward_bytes(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                              const float *residual, float *y, size_t y_stride, size_t t, unsigned char *scratch)
{
    size_t row = wt__byte_row_size(l->in);

    for (size_t i = 0; i < t; i++)
        wt__kernels()->byte_row(x + i * x_stride, l->in, scratch + i * row);
    wt__kernels()->gemm_bytes(&(struct gemm_bytes){.t = t,
                                                   .groups = (l->in + WT_GROUP - 1) / WT_GROUP,
                                                   .o = l->out,
                                                   .a = scratch,
                                                   .a_stride = row,
                                                   .w = l->bytes,
                                                   .bias = l->bias,
                                                   .residual = residual,
                                                   .c = y,
                                                   .c_stride = y_stride,
                                                   .activation = activation});
    if (activation != ACTIVATION_GELU)
        activate_rows(activation, y, y_stride, t, l->out);
}

void wt__linear_backward(const struct linear *l, const float *x, size_t x_stride, const float *dy, size_t dy_stride,
                         float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t)
{
    if (dx)
        wt__matmul(&(struct matmul){.m = t,
                                    .n = l->in,
                                    .k = l->out,
                                    .a = dy,
                                    .a_stride = dy_stride,
                                    .b = l->weight,
                                    .b_stride = l->in,
                                    .c = dx,
                                    .c_stride = dx_stride,
                                    .reduced = l->reduced});
    if (dweight)
        wt__matmul(&(struct matmul){.m = l->out,
                                    .n = l->in,
                                    .k = t,
                                    .a = dy,
                                    .a_stride = dy_stride,
                                    .a_transposed = true,
                                    .b = x,
                                    .b_stride = x_stride,
                                    .c = dweight,
                                    .c_stride = l->in,
                                    .accumulate = true,
                                    .reduced = l->reduced});
    for (size_t i = 0; i < t && dbias; i++)
        for (size_t o = 0; o < l->out; o++)
            dbias[o] += dy[i * dy_stride + o];
}
