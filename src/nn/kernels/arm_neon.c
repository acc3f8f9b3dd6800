/* arm_neon.c: kernels for 64-bit ARM, which always has NEON. Only kernels that keep sums in registers use intrinsics.
 * The others call plain.c, which compilers vectorise well enough. */
#include "nn/kernels/kernels.h"
#include "nn/kernels/simd.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>
#include <sys/auxv.h>

enum { LANES = 4, QUARTERS = WT_PANEL / LANES, TILE_ROWS = 5, BLOCK_ROWS = 24 * TILE_ROWS };

/* Adds bias, activation and residual to the sums [rows, WT_PANEL] of a tile and stores them in c. */
static void store_tile_neon(const struct gemm *g, size_t row, size_t panel, size_t rows, float *sum)
{
    size_t first = panel * WT_PANEL, width = g->o - first < WT_PANEL ? g->o - first : WT_PANEL;

    for (size_t r = 0; r < rows; r++, sum += WT_PANEL) {
        size_t at = (row + r) * g->c_stride + first;

        for (size_t j = 0; g->bias && j < width; j++)
            sum[j] += g->bias[first + j];
        if (g->activation == ACTIVATION_GELU)
            wt__kernels_plain.gelu(sum, width);
        for (size_t j = 0; g->residual && j < width; j++)
            sum[j] += g->residual[at + j];
        memcpy(g->c + at, sum, width * sizeof(float));
    }
}

/* Computes one tile, `rows` rows by one panel over all of K, in 4 * rows of the 32 registers. rows is a constant after
 * inlining. */
INLINED void compute_tile_neon(const struct gemm *g, size_t row, size_t panel, const int rows)
{
    const float *a = g->a + row * g->a_stride, *w = g->w + panel * g->w_panel;
    size_t a_stride = g->a_stride, a_step = g->a_step, w_step = g->w_step, depth = g->k;
    float out[TILE_ROWS * WT_PANEL];
    float32x4_t sum[TILE_ROWS][QUARTERS], part[QUARTERS];

    UNROLL for (int r = 0; r < rows; r++)
    {
        UNROLL for (int q = 0; q < QUARTERS; q++) sum[r][q] = vdupq_n_f32(0);
    }
    for (size_t k = 0; k < depth; k++, a += a_step, w += w_step) {
        UNROLL for (int q = 0; q < QUARTERS; q++) part[q] = vld1q_f32(w + q * LANES);
        UNROLL for (int r = 0; r < rows; r++)
        {
            float x = a[(size_t)r * a_stride];
            UNROLL for (int q = 0; q < QUARTERS; q++) sum[r][q] = vfmaq_n_f32(sum[r][q], part[q], x);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        UNROLL for (int q = 0; q < QUARTERS; q++) vst1q_f32(out + r * WT_PANEL + q * LANES, sum[r][q]);
    }
    store_tile_neon(g, row, panel, (size_t)rows, out);
}

#define TILE(rows)                                                                                                     \
    static void tile_neon_##rows(const struct gemm *g, size_t row, size_t panel)                                       \
    {                                                                                                                  \
        compute_tile_neon(g, row, panel, rows);                                                                        \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)

/* Processes rows in blocks whose part of `a` stays in the L2 cache. Each block reads every panel once. */
static void gemm_neon(const struct gemm *g)
{
    static void (*const tiles[TILE_ROWS + 1])(const struct gemm *, size_t, size_t) = {
        NULL, tile_neon_1, tile_neon_2, tile_neon_3, tile_neon_4, tile_neon_5};
    size_t panels = (g->o + WT_PANEL - 1) / WT_PANEL;

    for (size_t block = 0, end; block < g->t; block = end) {
        end = block + choose_tile_rows(g->t - block, BLOCK_ROWS);
        for (size_t panel = 0; panel < panels; panel++)
            for (size_t row = block, rows; row < end; row += rows) {
                rows = choose_tile_rows(end - row, TILE_ROWS);
                tiles[rows](g, row, panel);
            }
    }
}

static void gelu_neon(float *x, size_t n)
{
    wt__kernels_plain.gelu(x, n);
}

static void transpose_neon(float *out, size_t out_stride, const float *w, size_t row_stride, size_t rows, size_t in)
{
    wt__kernels_plain.transpose(out, out_stride, w, row_stride, rows, in);
}

static void gelu_backward_neon(const float *x, const float *dy, float *dx, size_t n)
{
    wt__kernels_plain.gelu_backward(x, dy, dx, n);
}

static void softmax_neon(float *x, size_t n, float scale)
{
    wt__kernels_plain.softmax(x, n, scale);
}

static void softmax_backward_neon(const float *p, float *dp, size_t n, float scale)
{
    wt__kernels_plain.softmax_backward(p, dp, n, scale);
}

static void layer_norm_neon(const float *x, const float *gain, const float *bias, float epsilon, float *y, size_t n)
{
    wt__kernels_plain.layer_norm(x, gain, bias, epsilon, y, n);
}

static void layer_norm_backward_neon(const float *x, const float *gain, float epsilon, const float *dy, float *dx,
                                     float *dgain, float *dbias, size_t n)
{
    wt__kernels_plain.layer_norm_backward(x, gain, epsilon, dy, dx, dgain, dbias, n);
}

static void adamw_neon(const struct adamw_factors *factors, const float *gradient, float *first, float *second,
                       float *value, size_t n)
{
    wt__kernels_plain.adamw(factors, gradient, first, second, value, n);
}

static float dot_f32_neon(const float *a, const float *b, size_t n)
{
    float32x4_t sum[4] = {vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0)};
    size_t i = 0;

    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        UNROLL for (size_t q = 0; q < 4; q++) sum[q] =
            vfmaq_f32(sum[q], vld1q_f32(a + i + q * LANES), vld1q_f32(b + i + q * LANES));
    }
    float total = vaddvq_f32(vaddq_f32(vaddq_f32(sum[0], sum[1]), vaddq_f32(sum[2], sum[3])));
    for (; i < n; i++)
        total += a[i] * b[i];
    return total;
}

static void dots_f32_neon(const float *query, const float *rows, size_t count, size_t dim, float *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = dot_f32_neon(query, rows + i * dim, dim);
}

/* Products of two bytes fit into 16 bits. Pairs of products are added to 32-bit sums. n is a multiple of 16. */
static int32_t dot_i8_neon(const int8_t *a, const int8_t *b, size_t n)
{
    int32x4_t low = vdupq_n_s32(0), high = vdupq_n_s32(0);

    for (size_t i = 0; i < n; i += 16) {
        int8x16_t x = vld1q_s8(a + i), y = vld1q_s8(b + i);
        low = vpadalq_s16(low, vmull_s8(vget_low_s8(x), vget_low_s8(y)));
        high = vpadalq_s16(high, vmull_high_s8(x, y));
    }
    return vaddvq_s32(vaddq_s32(low, high));
}

static void dots_i8_neon(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = dot_i8_neon(query, rows + i * dim, dim);
}

/* Adds the entries that four bytes of 16 rows select. */
INLINED uint8x16_t look_up_neon(const unsigned char *tables, const unsigned char *rows)
{
    uint8x16_t sum = vdupq_n_u8(0);

    UNROLL for (size_t b = 0; b < 4; b++)
    {
        const unsigned char *table = tables + b * 2 * WT_BIT_ENTRIES;
        uint8x16_t bits = vld1q_u8(rows + b * WT_BIT_ROWS);
        uint8x16_t low = vqtbl1q_u8(vld1q_u8(table), vandq_u8(bits, vdupq_n_u8(15)));
        uint8x16_t high = vqtbl1q_u8(vld1q_u8(table + WT_BIT_ENTRIES), vshrq_n_u8(bits, 4));
        sum = vaddq_u8(sum, vaddq_u8(low, high));
    }
    return sum;
}

static void sum_bits_neon(const unsigned char *tables, const unsigned char *rows, size_t blocks, size_t bytes,
                          uint16_t *out)
{
    enum { HALVES = WT_BIT_ROWS / 16 };

    for (size_t block = 0; block < blocks; block++, rows += bytes * WT_BIT_ROWS, out += WT_BIT_ROWS) {
        uint16x8_t sum[2 * HALVES];

        UNROLL for (int i = 0; i < 2 * HALVES; i++) sum[i] = vdupq_n_u16(0);
        for (size_t b = 0; b < bytes; b += 4)
            UNROLL for (int h = 0; h < HALVES; h++)
            {
                uint8x16_t part = look_up_neon(tables + b * 2 * WT_BIT_ENTRIES, rows + b * WT_BIT_ROWS + h * 16);
                sum[2 * h] = vaddw_u8(sum[2 * h], vget_low_u8(part));
                sum[2 * h + 1] = vaddw_high_u8(sum[2 * h + 1], part);
            }
        UNROLL for (int i = 0; i < 2 * HALVES; i++) vst1q_u16(out + i * 8, sum[i]);
    }
}

static void byte_row_neon(const float *x, size_t n, unsigned char *row)
{
    wt__byte_row_plain(x, n, row, WT_CODE_7BITS);
}

bool wt__cpu_has_dot(void)
{
    enum { DOT_PRODUCT = 1 << 20 }; /* HWCAP_ASIMDDP, which old headers lack */
    return getauxval(AT_HWCAP) & DOT_PRODUCT;
}

#define NEON_SET                                                                                                       \
    .gemm = gemm_neon, .most_code = WT_CODE_7BITS, .byte_row = byte_row_neon, .transpose = transpose_neon,             \
    .gelu = gelu_neon, .gelu_backward = gelu_backward_neon, .softmax = softmax_neon,                                   \
    .softmax_backward = softmax_backward_neon, .layer_norm = layer_norm_neon,                                          \
    .layer_norm_backward = layer_norm_backward_neon, .adamw = adamw_neon, .dot_f32 = dot_f32_neon,                     \
    .dots_f32 = dots_f32_neon, .sum_bits = sum_bits_neon

const struct kernels wt__kernels_neon = {
    .name = "neon", NEON_SET, .gemm_bytes = wt__gemm_bytes_neon, .dots_i8 = dots_i8_neon};
const struct kernels wt__kernels_neon_dot = {
    .name = "neondot", NEON_SET, .gemm_bytes = wt__gemm_bytes_dot, .dots_i8 = wt__dots_i8_dot};

#endif
