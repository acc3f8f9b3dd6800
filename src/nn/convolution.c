/* convolution.c: tap j reads row t + j - taps / 2. At the ends of the sequence some of these rows do not exist. */
#include "nn/convolution.h"

#include <string.h>

#include "nn/matmul.h"

void wt__convolution_arrange(float *ours, const float *file, size_t taps, size_t out, size_t in)
{
    for (size_t i = 0; i < out * in; i++)
        for (size_t j = 0; j < taps; j++)
            ours[j * out * in + i] = file[i * taps + j];
}

void wt__convolution_add_back(float *file, const float *ours, size_t taps, size_t out, size_t in)
{
    for (size_t i = 0; i < out * in; i++)
        for (size_t j = 0; j < taps; j++)
            file[i * taps + j] += ours[j * out * in + i];
}

/* A tap maps `rows` rows of x, starting at row `from`, to rows of y, starting at row `to`. */
struct tap_shift {
    size_t from, to, rows;
};

static struct tap_shift find_tap_shift(const struct convolution *c, size_t j, size_t t)
{
    size_t middle = c->taps / 2, off = j > middle ? j - middle : middle - j;
    size_t rows = t > off ? t - off : 0;

    return j > middle ? (struct tap_shift){off, 0, rows} : (struct tap_shift){0, off, rows};
}

void wt__convolution_forward(const struct convolution *c, const float *x, size_t x_stride, float *y, size_t y_stride,
                             size_t t)
{
    size_t size = c->row_major ? c->out * c->in : wt__linear_packed_size(c->out, c->in);

    for (size_t i = 0; i < t; i++) {
        if (c->bias)
            memcpy(y + i * y_stride, c->bias, c->out * sizeof(float));
        else
            memset(y + i * y_stride, 0, c->out * sizeof(float));
    }
    for (size_t j = 0; j < c->taps; j++) {
        struct tap_shift s = find_tap_shift(c, j, t);
        struct linear tap = {.in = c->in, .out = c->out, .weight = c->weight + j * size, .row_major = c->row_major};
        float *to = y + s.to * y_stride;

        if (s.rows > 0)
            wt__linear_forward(&tap, x + s.from * x_stride, x_stride, ACTIVATION_NONE, to, to, y_stride, s.rows);
    }
}

void wt__convolution_backward(const struct convolution *c, const float *x, size_t x_stride, const float *dy,
                              size_t dy_stride, float *dx, size_t dx_stride, float *dweight, float *dbias, size_t t)
{
    size_t size = c->out * c->in;

    for (size_t i = 0; i < t && dx; i++)
        memset(dx + i * dx_stride, 0, c->in * sizeof(float));
    for (size_t i = 0; i < t && dbias; i++)
        for (size_t o = 0; o < c->out; o++)
            dbias[o] += dy[i * dy_stride + o];
    for (size_t j = 0; j < c->taps; j++) {
        struct tap_shift s = find_tap_shift(c, j, t);
        struct linear tap = {.in = c->in, .out = c->out, .weight = c->weight + j * size, .row_major = true};

        if (s.rows == 0)
            continue;
        if (dx)
            wt__matmul(&(struct matmul){.m = s.rows,
                                        .n = c->in,
                                        .k = c->out,
                                        .a = dy + s.to * dy_stride,
                                        .a_stride = dy_stride,
                                        .b = tap.weight,
                                        .b_stride = c->in,
                                        .c = dx + s.from * dx_stride,
                                        .c_stride = dx_stride,
                                        .accumulate = true});
        if (dweight)
            wt__linear_backward(&tap, x + s.from * x_stride, x_stride, dy + s.to * dy_stride, dy_stride, NULL, 0,
                                dweight + j * size, NULL, s.rows);
    }
}
