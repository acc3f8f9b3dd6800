/* layers.c: the layers of layers.h. Linear layers and convolutions call the matrix products of matrix.h and kernels.h.
 * Layer norm calls a kernel for each row. Only the exact gelu has a kernel, because nearly every encoder uses it. The
 * other activations are plain loops. */
#include "nn/layers.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- activations */

#define TANH_FACTOR 0.79788456080286536f /* sqrt(2 / pi) */
#define TANH_CUBIC 0.044715f

static float logistic_float(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static float activation_value(enum activation activation, float x)
{
    switch (activation) {
    case ACTIVATION_GELU_TANH:
        return 0.5f * x * (1.0f + tanhf(TANH_FACTOR * (x + TANH_CUBIC * x * x * x)));
    case ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case ACTIVATION_TANH:
        return tanhf(x);
    case ACTIVATION_SILU:
        return x * logistic_float(x);
    default:
        return x;
    }
}

static float activation_slope(enum activation activation, float x)
{
    float h;
    switch (activation) {
    case ACTIVATION_GELU_TANH:
        h = tanhf(TANH_FACTOR * (x + TANH_CUBIC * x * x * x));
        return 0.5f * (1.0f + h) + 0.5f * x * (1.0f - h * h) * TANH_FACTOR * (1.0f + 3.0f * TANH_CUBIC * x * x);
    case ACTIVATION_RELU:
        return x > 0;
    case ACTIVATION_TANH:
        h = tanhf(x);
        return 1.0f - h * h;
    case ACTIVATION_SILU:
        h = logistic_float(x);
        return h * (1.0f + x * (1.0f - h));
    default:
        return 1;
    }
}

void wt__activation_forward(enum activation activation, const float *x, float *y, size_t n)
{
    if (activation == ACTIVATION_GELU) {
        if (y != x)
            memcpy(y, x, n * sizeof(float));
        wt__kernels()->gelu(y, n);
    } else {
        for (size_t i = 0; i < n; i++)
            y[i] = activation_value(activation, x[i]);
    }
}

void wt__activation_backward(enum activation activation, const float *x, const float *dy, float *dx, size_t n)
{
    if (activation == ACTIVATION_GELU)
        wt__kernels()->gelu_backward(x, dy, dx, n);
    else
        for (size_t i = 0; i < n; i++)
            dx[i] = dy[i] * activation_slope(activation, x[i]);
}

int wt__activation_named(const char *name)
{
    static const struct {
        const char *name;
        enum activation activation;
    } names[] = {{"gelu", ACTIVATION_GELU},           {"gelu_python", ACTIVATION_GELU},
                 {"gelu_new", ACTIVATION_GELU_TANH},  {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
                 {"gelu_fast", ACTIVATION_GELU_TANH}, {"relu", ACTIVATION_RELU},
                 {"tanh", ACTIVATION_TANH},           {"silu", ACTIVATION_SILU},
                 {"swish", ACTIVATION_SILU},          {"linear", ACTIVATION_NONE}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0)
            return (int)names[i].activation;
    return -1;
}

/* ---------------------------------------------------------------- linear layers */

enum { LINE = 64, QUAD = 4 };

static size_t count_groups(size_t in)
{
    return in / WT_GROUP + (in % WT_GROUP != 0);
}

bool wt__bytes_ready(void)
{
    return wt__kernels()->gemm_bytes != NULL;
}

size_t wt__linear_bytes_size(size_t out, size_t in)
{
    size_t panel, all, panels = out / WT_PANEL + (out % WT_PANEL != 0);
    if (__builtin_mul_overflow(count_groups(in), (size_t)WT_PANEL_GROUP, &panel) ||
        __builtin_add_overflow(panel, sizeof(struct panel_end), &panel) || __builtin_mul_overflow(panels, panel, &all))
        return 0;
    return all;
}

/* Rounds up to an odd number of cache lines. Rows a power of two apart would compete for a few sets of the L1 cache. */
size_t wt__byte_row_size(size_t in)
{
    size_t groups = count_groups(in), bytes;
    if (__builtin_mul_overflow(groups, WT_GROUP + sizeof(struct byte_range), &bytes) ||
        __builtin_add_overflow(bytes, 2 * (size_t)LINE, &bytes))
        return 0;
    return ((bytes - LINE - 1) / LINE | 1) * LINE;
}

/* Packs the weights of one group of a panel, and their sums. w points at the group's first value in the panel's first
 * row. Rows are `in` bytes apart. */
static void pack_byte_group(unsigned char *group, const int8_t *w, size_t in, size_t rows, size_t depth)
{
    float sums[WT_PANEL] = {0};
    memset(group, 0, WT_GROUP * WT_PANEL);
    for (size_t j = 0; j < rows; j++)
        for (size_t k = 0; k < depth; k++) {
            group[k / QUAD * QUAD * WT_PANEL + QUAD * j + k % QUAD] = (unsigned char)w[j * in + k];
            sums[j] += (float)w[j * in + k];
        }
    memcpy(group + WT_GROUP * WT_PANEL, sums, sizeof sums);
}

/* Returns true if all sums of four products in a packed group fit 16 bits (struct panel_end). */
static bool sums_of_four_fit(const unsigned char *group)
{
    enum { LIST = QUAD * WT_PANEL };
    for (size_t list = 0; list < WT_GROUP * WT_PANEL; list += 2 * LIST)
        for (size_t lane = 0; lane < LIST; lane += 2) {
            const int8_t *first = (const int8_t *)group + list + lane, *second = first + LIST;
            const int weights[] = {first[0], first[1], second[0], second[1]};
            int above = 0, below = 0;
            for (size_t i = 0; i < 4; i++)
                *(weights[i] > 0 ? &above : &below) += weights[i];
            if (above > WT_FOUR_MOST || below < -WT_FOUR_MOST)
                return false;
        }
    return true;
}

void wt__linear_bytes_pack(unsigned char *panels, const int8_t *w, const float *scales, size_t out, size_t in)
{
    for (size_t first = 0; first < out; first += WT_PANEL) {
        size_t rows = out - first < WT_PANEL ? out - first : WT_PANEL;
        struct panel_end end = {0};
        for (size_t k = 0; k < in; k += WT_GROUP, panels += WT_PANEL_GROUP) {
            pack_byte_group(panels, w + first * in + k, in, rows, in - k < WT_GROUP ? in - k : WT_GROUP);
            if (k / WT_GROUP < WT_FIT_GROUPS && sums_of_four_fit(panels))
                end.fits |= UINT64_C(1) << k / WT_GROUP;
        }
        memcpy(end.scales, scales + first, rows * sizeof(float));
        memcpy(panels, &end, sizeof end);
        panels += sizeof end;
    }
}

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

/* Fills y with residual + bias, then adds the product. */
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

/* ---------------------------------------------------------------- convolution */

/* Tap j reads row t + j - taps / 2. At the ends of the sequence some of these rows do not exist. */

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

/* The rows of one tap inside the sequence. Row from + i of x is added to row to + i of y, for i below `rows`. */
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
    size_t size = c->row_major ? c->out * c->in : wt__matrix_packed_size(c->out, c->in);
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

/* ---------------------------------------------------------------- normalisation */

#define SHORTEST 1e-12f /* minimum divisor in wt__normalize; vectors up to this length have no gradient */

void wt__layer_norm_forward(const struct layer_norm *norm, const float *x, float *y, size_t stride, size_t t)
{
    const struct kernels *kernels = wt__kernels();
    for (size_t i = 0; i < t; i++)
        kernels->layer_norm(x + i * stride, norm->gain, norm->bias, norm->epsilon, y + i * stride, norm->width);
}

void wt__layer_norm_backward(const struct layer_norm *norm, const float *x, const float *dy, float *dx, float *dgain,
                             float *dbias, size_t stride, size_t t)
{
    const struct kernels *kernels = wt__kernels();
    for (size_t i = 0; i < t; i++)
        kernels->layer_norm_backward(x + i * stride, norm->gain, norm->epsilon, dy + i * stride, dx + i * stride, dgain,
                                     dbias, norm->width);
}

void wt__normalize(float *x, size_t n)
{
    float length = sqrtf(wt__kernels()->dot_f32(x, x, n));
    float factor = 1.0f / (length > SHORTEST ? length : SHORTEST);
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* Computes dx = (dy - y (y . dy)) / |x|, where y = x / |x|. */
void wt__normalize_backward(const float *x, const float *dy, float *dx, size_t n)
{
    const struct kernels *kernels = wt__kernels();
    float length = sqrtf(kernels->dot_f32(x, x, n));
    float factor = length > SHORTEST ? 1.0f / length : 0;
    float along = kernels->dot_f32(x, dy, n) * factor * factor;
    for (size_t i = 0; i < n; i++)
        dx[i] = (dy[i] - x[i] * along) * factor;
}
