/* plain.c: the reference kernels in portable C. The other sets are tested against this one. */
#include "nn/kernels/kernels.h"

#include <math.h>

static void transpose_plain(float *out, size_t out_stride, const float *w, size_t row_stride, size_t rows, size_t in)
{
    for (size_t k = 0; k < in; k++)
        for (size_t j = 0; j < WT_PANEL; j++)
            out[k * out_stride + j] = j < rows ? w[j * row_stride + k] : 0;
}

static void gelu_plain(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678118654752f));
}

static void gelu_backward_plain(const float *x, const float *dy, float *dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float below = 0.5f * (1.0f + erff(x[i] * 0.70710678118654752f));
        float density = 0.39894228040143268f * expf(-0.5f * x[i] * x[i]);
        dx[i] = dy[i] * (below + x[i] * density);
    }
}

static void gemm_plain(const struct gemm *g)
{
    for (size_t t = 0; t < g->t; t++) {
        const float *a = g->a + t * g->a_stride;
        float *c = g->c + t * g->c_stride;
        for (size_t first = 0; first < g->o; first += WT_PANEL) {
            const float *w = g->w + first / WT_PANEL * g->w_panel;
            size_t width = g->o - first < WT_PANEL ? g->o - first : WT_PANEL;
            float sum[WT_PANEL] = {0};
            for (size_t k = 0; k < g->k; k++)
                for (size_t j = 0; j < WT_PANEL; j++)
                    sum[j] += a[k * g->a_step] * w[k * g->w_step + j];
            if (g->bias)
                for (size_t j = 0; j < width; j++)
                    sum[j] += g->bias[first + j];
            if (g->activation == ACTIVATION_GELU)
                gelu_plain(sum, width);
            if (g->residual)
                for (size_t j = 0; j < width; j++)
                    sum[j] += g->residual[t * g->c_stride + first + j];
            for (size_t j = 0; j < width; j++)
                c[first + j] = sum[j];
        }
    }
}

void wt__byte_row_plain(const float *x, size_t n, unsigned char *row, int most_code)
{
    float most = (float)most_code;
    size_t groups = (n + WT_GROUP - 1) / WT_GROUP;
    struct byte_range *ranges = (void *)(row + groups * WT_GROUP);
    for (size_t first = 0; first < n; first += WT_GROUP) {
        size_t end = n - first < WT_GROUP ? n : first + WT_GROUP;
        float low = x[first], high = x[first];
        for (size_t k = first; k < end; k++) {
            low = x[k] < low ? x[k] : low;
            high = x[k] > high ? x[k] : high;
        }
        float step = (high - low) / most, factor = step > 0 ? 1 / step : 0;
        for (size_t k = first; k < first + WT_GROUP; k++) {
            float code = k < end ? rintf((x[k] - low) * factor) : 0;
            row[k] = code > 0 ? (unsigned char)(code < most ? code : most) : 0;
        }
        ranges[first / WT_GROUP] = (struct byte_range){step, low};
    }
}

static void byte_row_plain(const float *x, size_t n, unsigned char *row)
{
    wt__byte_row_plain(x, n, row, WT_CODE_8BITS);
}

/* Computes the WT_PANEL outputs of one row and one panel, without the bias. `sum` must be zero on entry. */
static void sum_byte_panel(const struct gemm_bytes *g, const unsigned char *row, const unsigned char *panel, float *sum)
{
    const struct byte_range *ranges = (const void *)(row + g->groups * WT_GROUP);
    for (size_t group = 0; group < g->groups; group++, row += WT_GROUP, panel += WT_PANEL_GROUP) {
        const float *sums = (const void *)(panel + WT_GROUP * WT_PANEL);
        for (size_t j = 0; j < WT_PANEL; j++) {
            int32_t products = 0;
            for (size_t k = 0; k < WT_GROUP; k++)
                products += row[k] * (int8_t)panel[k / 4 * 4 * WT_PANEL + 4 * j + k % 4];
            sum[j] += ranges[group].step * (float)products + ranges[group].low * sums[j];
        }
    }
    const struct panel_end *end = (const void *)panel;
    for (size_t j = 0; j < WT_PANEL; j++)
        sum[j] *= end->scales[j];
}

static void gemm_bytes_plain(const struct gemm_bytes *g)
{
    for (size_t t = 0; t < g->t; t++)
        for (size_t first = 0; first < g->o; first += WT_PANEL) {
            size_t panel = first / WT_PANEL * wt__byte_panel_size(g->groups);
            float sum[WT_PANEL] = {0};
            sum_byte_panel(g, g->a + t * g->a_stride, g->w + panel, sum);
            for (size_t j = 0; j < WT_PANEL && first + j < g->o; j++) {
                size_t at = t * g->c_stride + first + j;
                sum[j] += g->bias ? g->bias[first + j] : 0;
                if (g->activation == ACTIVATION_GELU)
                    gelu_plain(&sum[j], 1);
                g->c[at] = sum[j] + (g->residual ? g->residual[at] : 0);
            }
        }
}

static void softmax_plain(float *x, size_t n, float scale)
{
    float most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++) {
        x[i] = expf((x[i] - most) * scale);
        sum += x[i];
    }
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
}

static void softmax_backward_plain(const float *p, float *dp, size_t n, float scale)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i] * dp[i];
    for (size_t i = 0; i < n; i++)
        dp[i] = p[i] * (dp[i] - sum) * scale;
}

static void layer_norm_plain(const float *x, const float *gain, const float *bias, float epsilon, float *y, size_t n)
{
    float mean = 0, variance = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i];
    mean /= (float)n;
    for (size_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    variance /= (float)n;
    float factor = 1.0f / sqrtf(variance + epsilon);
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * factor * gain[i] + bias[i];
}

/* Computes dx = (g - mean(g) - h mean(g h)) / deviation, where h = (x - mean) / deviation and g = dy gain. */
static void layer_norm_backward_plain(const float *x, const float *gain, float epsilon, const float *dy, float *dx,
                                      float *dgain, float *dbias, size_t n)
{
    float mean = 0, variance = 0, g_sum = 0, gh_sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i];
    mean /= (float)n;
    for (size_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    float factor = 1.0f / sqrtf(variance / (float)n + epsilon);
    for (size_t i = 0; i < n; i++) {
        float h = (x[i] - mean) * factor;
        g_sum += dy[i] * gain[i];
        gh_sum += dy[i] * gain[i] * h;
        if (dgain) {
            dgain[i] += dy[i] * h;
            dbias[i] += dy[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        dx[i] = (dy[i] * gain[i] - g_sum / (float)n - (x[i] - mean) * factor * (gh_sum / (float)n)) * factor;
}

static void adamw_plain(const struct adamw_factors *f, const float *gradient, float *first, float *second, float *value,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float g = gradient ? gradient[i] * f->scale : 0;
        first[i] = f->beta1 * first[i] + (1 - f->beta1) * g;
        second[i] = f->beta2 * second[i] + (1 - f->beta2) * (g * g);
        value[i] = value[i] * f->keep - f->rate * first[i] / (sqrtf(second[i]) * f->root + f->epsilon);
    }
}

static float dot_f32_plain(const float *a, const float *b, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void dots_f32_plain(const float *query, const float *rows, size_t count, size_t dim, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = dot_f32_plain(query, rows + i * dim, dim);
}

static void dots_i8_plain(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    for (size_t i = 0; i < count; i++) {
        int32_t sum = 0;
        for (size_t d = 0; d < dim; d++)
            sum += query[d] * rows[i * dim + d];
        out[i] = sum;
    }
}

static void sum_bits_plain(const unsigned char *tables, const unsigned char *rows, size_t blocks, size_t bytes,
                           uint16_t *out)
{
    for (size_t block = 0; block < blocks; block++, rows += bytes * WT_BIT_ROWS, out += WT_BIT_ROWS)
        for (size_t i = 0; i < WT_BIT_ROWS; i++) {
            unsigned sum = 0;
            for (size_t b = 0; b < bytes; b++) {
                const unsigned char *low = tables + b * 2 * WT_BIT_ENTRIES, *high = low + WT_BIT_ENTRIES;
                unsigned bits = rows[b * WT_BIT_ROWS + i];
                sum += low[bits & 15] + high[bits >> 4];
            }
            out[i] = (uint16_t)sum;
        }
}

const struct kernels wt__kernels_plain = {
    .name = "plain",
    .gemm = gemm_plain,
    .most_code = WT_CODE_8BITS,
    .gemm_bytes = gemm_bytes_plain,
    .byte_row = byte_row_plain,
    .transpose = transpose_plain,
    .gelu = gelu_plain,
    .gelu_backward = gelu_backward_plain,
    .softmax = softmax_plain,
    .softmax_backward = softmax_backward_plain,
    .layer_norm = layer_norm_plain,
    .layer_norm_backward = layer_norm_backward_plain,
    .adamw = adamw_plain,
    .dot_f32 = dot_f32_plain,
    .dots_f32 = dots_f32_plain,
    .dots_i8 = dots_i8_plain,
    .sum_bits = sum_bits_plain,
};
