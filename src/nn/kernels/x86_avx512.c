/* x86_avx512.c: the kernels of plain.c for AVX-512 (F, BW, VL, DQ).
 *
 * The matrix product has two shapes of tile for two workloads. A request of a few tokens is bound by reading weights
 * from the L3 cache. Its tiles multiply one panel with all rows (up to 24), so each weight is read only once. A batch
 * is bound by arithmetic. Its tiles multiply two panels with 12 rows, which needs fewer loads per product. */
#include "nn/kernels/kernels.h"
#include "nn/kernels/simd.h"

#if defined(__x86_64__)

#include <immintrin.h>

enum {
    TALL_ROWS = 24,        /* rows of a tile one panel wide: 24 of the 32 registers hold sums */
    WIDE_ROWS = 12,        /* rows of a tile two panels wide */
    AHEAD = 128 * WT_PANEL /* prefetch distance for the weights, in floats */
};

static void gelu_avx512(float *x, size_t n)
{
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        _mm512_mask_storeu_ps(x + i, mask, gelu16(_mm512_maskz_loadu_ps(mask, x + i)));
    }
}

/* Adds bias, activation and residual to the sums [panels][rows, WT_PANEL] of a tile and stores them in c. */
static void store_tile_avx512(const struct gemm *g, size_t row, size_t panel, size_t rows, size_t panels,
                              const float *sum)
{
    for (size_t p = 0; p < panels; p++) {
        size_t first = (panel + p) * WT_PANEL;
        __mmask16 mask = mask_lanes_avx512(g->o - first);
        __m512 bias = g->bias ? _mm512_maskz_loadu_ps(mask, g->bias + first) : _mm512_setzero_ps();

        for (size_t r = 0; r < rows; r++, sum += WT_PANEL) {
            size_t at = (row + r) * g->c_stride + first;
            __m512 v = _mm512_add_ps(_mm512_load_ps(sum), bias);

            if (g->activation == ACTIVATION_GELU)
                v = gelu16(v);
            if (g->residual)
                v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(mask, g->residual + at));
            _mm512_mask_storeu_ps(g->c + at, mask, v);
        }
    }
}

/* Addresses of one value in each of up to 24 rows. They fit into seven registers, while one pointer per row would need
 * too many. base has the address of every eighth row. The other fields are the distances of 1, 3, 5 and 7 rows. The
 * scale factor of the addressing mode gives 2, 4 and 6 rows. */
struct row_addresses {
    const char *base[3];
    size_t one, three, five, seven; /* bytes */
};

/* Returns the addresses of the first value of `count` rows, stride floats apart. count must be a constant. */
INLINED struct row_addresses address_rows(const float *first, size_t stride, int count)
{
    const char *base = (const char *)first;
    size_t one = stride * sizeof(float);

    return (struct row_addresses){
        .base = {base, count > 8 ? base + 8 * one : NULL, count > 16 ? base + 16 * one : NULL},
        .one = one,
        .three = 3 * one,
        .five = 5 * one,
        .seven = 7 * one};
}

/* Hides the values of the distances from the compiler, which would otherwise compute one pointer per row again. */
#define HIDE_ROWS(r) __asm__("" : "+r"((r).one), "+r"((r).three), "+r"((r).five), "+r"((r).seven))

/* Returns the address of the current value of row r. r must be a constant. */
INLINED const float *row_value(const struct row_addresses *rows, int r)
{
    const char *base = rows->base[r / 8];
    const char *at = r % 8 == 0   ? base
                     : r % 8 == 1 ? base + rows->one
                     : r % 8 == 2 ? base + rows->one * 2
                     : r % 8 == 3 ? base + rows->three
                     : r % 8 == 4 ? base + rows->one * 4
                     : r % 8 == 5 ? base + rows->five
                     : r % 8 == 6 ? base + rows->three * 2
                                  : base + rows->seven;

    return (const float *)(const void *)at;
}

/* Advances to the next value of each row. */
INLINED void advance_rows(struct row_addresses *rows, int count, size_t bytes)
{
    for (int i = 0; i < 3 && i * 8 < count; i++)
        rows->base[i] += bytes;
}

/* Computes one tile, `rows` rows by `panels` panels over all of K, in rows * panels registers. Both are constants after
 * inlining. */
INLINED void compute_tile_avx512(const struct gemm *g, size_t row, size_t panel, const int rows, const int panels)
{
    struct row_addresses a = address_rows(g->a + row * g->a_stride, g->a_stride, rows);
    const float *w = g->w + panel * g->w_panel;
    size_t w_step = g->w_step, w_panel = g->w_panel, depth = g->k, a_step = g->a_step * sizeof(float);
    _Alignas(64) float out[TALL_ROWS * WT_PANEL];
    __m512 sum[2][TALL_ROWS], part[2];

    UNROLL for (int p = 0; p < panels; p++)
    {
        UNROLL for (int r = 0; r < rows; r++) sum[p][r] = _mm512_setzero_ps();
    }
    for (size_t k = 0; k < depth; k++, w += w_step) {
        HIDE_ROWS(a);
        UNROLL for (int p = 0; p < panels; p++)
        {
            part[p] = _mm512_loadu_ps(w + (size_t)p * w_panel);
            _mm_prefetch((const char *)(w + (size_t)p * w_panel + AHEAD), _MM_HINT_T0);
        }
        UNROLL for (int r = 0; r < rows; r++)
        {
            __m512 x = _mm512_set1_ps(*row_value(&a, r));
            UNROLL for (int p = 0; p < panels; p++) sum[p][r] = _mm512_fmadd_ps(x, part[p], sum[p][r]);
        }
        advance_rows(&a, rows, a_step);
    }
    UNROLL for (int p = 0; p < panels; p++)
    {
        UNROLL for (int r = 0; r < rows; r++) _mm512_store_ps(out + (p * rows + r) * WT_PANEL, sum[p][r]);
    }
    store_tile_avx512(g, row, panel, (size_t)rows, (size_t)panels, out);
}

#define TALL(rows)                                                                                                     \
    static void tall_tile_##rows(const struct gemm *g, size_t row, size_t panel)                                       \
    {                                                                                                                  \
        compute_tile_avx512(g, row, panel, rows, 1);                                                                   \
    }
#define WIDE(rows)                                                                                                     \
    static void wide_tile_##rows(const struct gemm *g, size_t row, size_t panel)                                       \
    {                                                                                                                  \
        compute_tile_avx512(g, row, panel, rows, 2);                                                                   \
    }
#define ROWS_1_TO_12(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#define ROWS_13_TO_24(X) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24)
ROWS_1_TO_12(TALL)
ROWS_13_TO_24(TALL)
ROWS_1_TO_12(WIDE)

typedef void (*tile_function)(const struct gemm *g, size_t row, size_t panel);

#define TALL_ENTRY(rows) tall_tile_##rows,
#define WIDE_ENTRY(rows) wide_tile_##rows,
static const tile_function tall_tiles[TALL_ROWS + 1] = {NULL, ROWS_1_TO_12(TALL_ENTRY) ROWS_13_TO_24(TALL_ENTRY)};
static const tile_function wide_tiles[WIDE_ROWS + 1] = {NULL, ROWS_1_TO_12(WIDE_ENTRY)};

/* Processes rows in blocks whose part of `a` stays in the L2 cache. Each block reads every panel once. */
static void gemm_avx512(const struct gemm *g)
{
    enum { BLOCK_ROWS = 12 * WIDE_ROWS };
    size_t panels = (g->o + WT_PANEL - 1) / WT_PANEL;

    if (g->t <= TALL_ROWS) {
        for (size_t panel = 0; panel < panels && g->t > 0; panel++)
            tall_tiles[g->t](g, 0, panel);
        return;
    }
    for (size_t block = 0, end; block < g->t; block = end) {
        end = block + choose_tile_rows(g->t - block, BLOCK_ROWS);

        for (size_t panel = 0; panel < panels; panel += 2)
            for (size_t row = block, rows; row < end; row += rows) {
                rows = choose_tile_rows(end - row, WIDE_ROWS);
                (panel + 1 < panels ? wide_tiles : tall_tiles)[rows](g, row, panel);
            }
    }
}

/* Returns exp(x) for x <= 0, by the approximation of exp8 in x86_avx2.c. */
static inline __m512 exp16(__m512 x)
{
    x = _mm512_max_ps(x, _mm512_set1_ps(-87.0f));
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504088896341f)),
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145751953125f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860682030941723e-6f), r);
    __m512 p = _mm512_set1_ps(0.0013814467238262296f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.008368780836462975f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.04166839271783829f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.1666651964187622f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.4999999403953552f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

static void gelu_backward_avx512(const float *x, const float *dy, float *dx, size_t n)
{
    const __m512 half = _mm512_set1_ps(0.5f);

    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        __m512 v = _mm512_maskz_loadu_ps(mask, x + i), below = _mm512_fmadd_ps(erf16(v), half, half);
        __m512 density = _mm512_mul_ps(exp16(_mm512_mul_ps(_mm512_mul_ps(v, v), _mm512_set1_ps(-0.5f))),
                                       _mm512_set1_ps(0.39894228040143268f));
        __m512 slope = _mm512_fmadd_ps(v, density, below);
        _mm512_mask_storeu_ps(dx + i, mask, _mm512_mul_ps(slope, _mm512_maskz_loadu_ps(mask, dy + i)));
    }
}

static void softmax_avx512(float *x, size_t n, float scale)
{
    const __m512 lowest = _mm512_set1_ps(-3.0e38f), factor = _mm512_set1_ps(scale);
    __m512 highest = lowest, sum = _mm512_setzero_ps();

    for (size_t i = 0; i < n; i += AVX512_LANES)
        highest = _mm512_max_ps(highest, _mm512_mask_loadu_ps(lowest, mask_lanes_avx512(n - i), x + i));
    __m512 most = _mm512_set1_ps(_mm512_reduce_max_ps(highest));
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        __m512 e = exp16(_mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), most), factor));
        sum = _mm512_mask_add_ps(sum, mask, sum, e);
        _mm512_mask_storeu_ps(x + i, mask, e);
    }
    __m512 share = _mm512_set1_ps(1.0f / _mm512_reduce_add_ps(sum));
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        _mm512_mask_storeu_ps(x + i, mask, _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, x + i), share));
    }
}

static void softmax_backward_avx512(const float *p, float *dp, size_t n, float scale)
{
    __m512 products = _mm512_setzero_ps();

    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        products = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, p + i), _mm512_maskz_loadu_ps(mask, dp + i), products);
    }
    __m512 sum = _mm512_set1_ps(_mm512_reduce_add_ps(products)), factor = _mm512_set1_ps(scale);
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        __m512 d = _mm512_sub_ps(_mm512_maskz_loadu_ps(mask, dp + i), sum);
        d = _mm512_mul_ps(_mm512_mul_ps(_mm512_maskz_loadu_ps(mask, p + i), d), factor);
        _mm512_mask_storeu_ps(dp + i, mask, d);
    }
}

/* Computes *mean of x and *factor = 1 / sqrt(variance + epsilon), each in all lanes. */
static inline void compute_moments_avx512(const float *x, float epsilon, size_t n, __m512 *mean, __m512 *factor)
{
    __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();

    for (size_t i = 0; i < n; i += AVX512_LANES)
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask_lanes_avx512(n - i), x + i));
    *mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)n);
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __m512 d = _mm512_maskz_sub_ps(mask_lanes_avx512(n - i), _mm512_maskz_loadu_ps(mask_lanes_avx512(n - i), x + i),
                                       *mean);
        squares = _mm512_fmadd_ps(d, d, squares);
    }
    __m128 deviation = _mm_sqrt_ss(_mm_set_ss(_mm512_reduce_add_ps(squares) / (float)n + epsilon));
    *factor = _mm512_set1_ps(1.0f / _mm_cvtss_f32(deviation));
}

static void layer_norm_avx512(const float *x, const float *gain, const float *bias, float epsilon, float *y, size_t n)
{
    __m512 mean, factor;

    compute_moments_avx512(x, epsilon, n, &mean, &factor);
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        __m512 v = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), mean), factor);
        v = _mm512_fmadd_ps(v, _mm512_maskz_loadu_ps(mask, gain + i), _mm512_maskz_loadu_ps(mask, bias + i));
        _mm512_mask_storeu_ps(y + i, mask, v);
    }
}

static void layer_norm_backward_avx512(const float *x, const float *gain, float epsilon, const float *dy, float *dx,
                                       float *dgain, float *dbias, size_t n)
{
    __m512 mean, factor, g_sum = _mm512_setzero_ps(), gh_sum = _mm512_setzero_ps();

    compute_moments_avx512(x, epsilon, n, &mean, &factor);
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        __m512 d = _mm512_maskz_loadu_ps(mask, dy + i), g = _mm512_mul_ps(d, _mm512_maskz_loadu_ps(mask, gain + i));
        __m512 h = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), mean), factor);
        g_sum = _mm512_add_ps(g_sum, g);
        gh_sum = _mm512_fmadd_ps(g, h, gh_sum);
        if (dgain) {
            _mm512_mask_storeu_ps(dgain + i, mask, _mm512_fmadd_ps(d, h, _mm512_maskz_loadu_ps(mask, dgain + i)));
            _mm512_mask_storeu_ps(dbias + i, mask, _mm512_add_ps(d, _mm512_maskz_loadu_ps(mask, dbias + i)));
        }
    }
    __m512 g_mean = _mm512_set1_ps(_mm512_reduce_add_ps(g_sum) / (float)n);
    __m512 gh_mean = _mm512_set1_ps(_mm512_reduce_add_ps(gh_sum) / (float)n);
    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i);
        __m512 g = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, dy + i), _mm512_maskz_loadu_ps(mask, gain + i));
        __m512 h = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(mask, x + i), mean), factor);
        g = _mm512_fnmadd_ps(h, gh_mean, _mm512_sub_ps(g, g_mean));
        _mm512_mask_storeu_ps(dx + i, mask, _mm512_mul_ps(g, factor));
    }
}

static void adamw_avx512(const struct adamw_factors *f, const float *gradient, float *first, float *second,
                         float *value, size_t n)
{
    const __m512 beta1 = _mm512_set1_ps(f->beta1), beta2 = _mm512_set1_ps(f->beta2), scale = _mm512_set1_ps(f->scale);
    const __m512 rest1 = _mm512_set1_ps(1 - f->beta1), rest2 = _mm512_set1_ps(1 - f->beta2);
    const __m512 root = _mm512_set1_ps(f->root), epsilon = _mm512_set1_ps(f->epsilon);
    const __m512 keep = _mm512_set1_ps(f->keep), rate = _mm512_set1_ps(f->rate);

    for (size_t i = 0; i < n; i += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(n - i), given = gradient ? mask : 0;
        __m512 g = _mm512_mul_ps(_mm512_maskz_loadu_ps(given, (gradient ? gradient : value) + i), scale);
        __m512 m = _mm512_fmadd_ps(beta1, _mm512_maskz_loadu_ps(mask, first + i), _mm512_mul_ps(rest1, g));
        __m512 v = _mm512_mul_ps(beta2, _mm512_maskz_loadu_ps(mask, second + i));
        v = _mm512_fmadd_ps(rest2, _mm512_mul_ps(g, g), v);
        __m512 step = _mm512_div_ps(_mm512_mul_ps(rate, m), _mm512_fmadd_ps(_mm512_sqrt_ps(v), root, epsilon));
        _mm512_mask_storeu_ps(first + i, mask, m);
        _mm512_mask_storeu_ps(second + i, mask, v);
        v = _mm512_fmsub_ps(_mm512_maskz_loadu_ps(mask, value + i), keep, step);
        _mm512_mask_storeu_ps(value + i, mask, v);
    }
}

/* Transposes 16 rows of 16 values in three steps. It exchanges pairs, then groups of four, then quarters of registers.
 */
INLINED void transpose_16x16(__m512 r[16])
{
    __m512 a[16], b[16];

    UNROLL for (int i = 0; i < 16; i += 2)
    {
        a[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        a[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    UNROLL for (int i = 0; i < 16; i += 4)
    {
        __m512d a0 = _mm512_castps_pd(a[i]), a1 = _mm512_castps_pd(a[i + 1]);
        __m512d a2 = _mm512_castps_pd(a[i + 2]), a3 = _mm512_castps_pd(a[i + 3]);
        b[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a0, a2));
        b[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a0, a2));
        b[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(a1, a3));
        b[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(a1, a3));
    }
    UNROLL for (int i = 0; i < 4; i++)
    {
        __m512 low0 = _mm512_shuffle_f32x4(b[i], b[4 + i], 0x44), high0 = _mm512_shuffle_f32x4(b[i], b[4 + i], 0xee);
        __m512 low1 = _mm512_shuffle_f32x4(b[8 + i], b[12 + i], 0x44);
        __m512 high1 = _mm512_shuffle_f32x4(b[8 + i], b[12 + i], 0xee);
        r[i] = _mm512_shuffle_f32x4(low0, low1, 0x88);
        r[4 + i] = _mm512_shuffle_f32x4(low0, low1, 0xdd);
        r[8 + i] = _mm512_shuffle_f32x4(high0, high1, 0x88);
        r[12 + i] = _mm512_shuffle_f32x4(high0, high1, 0xdd);
    }
}

static void transpose_avx512(float *out, size_t out_stride, const float *w, size_t row_stride, size_t rows, size_t in)
{
    for (size_t k = 0; k < in; k += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(in - k);
        __m512 r[16];

        UNROLL for (size_t j = 0; j < 16; j++) r[j] =
            j < rows ? _mm512_maskz_loadu_ps(mask, w + j * row_stride + k) : _mm512_setzero_ps();
        transpose_16x16(r);
        UNROLL for (size_t j = 0; j < 16; j++)
        {
            if (k + j < in)
                _mm512_storeu_ps(out + (k + j) * out_stride, r[j]);
        }
    }
}

/* Computes the dot products of `count` rows at once, so that each part of the query is loaded only once. */
INLINED void dot_rows_avx512(const float *query, const float *rows, const int count, size_t dim, float *out)
{
    __m512 sum[4];

    UNROLL for (int r = 0; r < count; r++) sum[r] = _mm512_setzero_ps();
    for (size_t d = 0; d < dim; d += AVX512_LANES) {
        __mmask16 mask = mask_lanes_avx512(dim - d);
        __m512 q = _mm512_maskz_loadu_ps(mask, query + d);
        UNROLL for (int r = 0; r < count; r++) sum[r] =
            _mm512_fmadd_ps(q, _mm512_maskz_loadu_ps(mask, rows + (size_t)r * dim + d), sum[r]);
    }
    UNROLL for (int r = 0; r < count; r++) out[r] = _mm512_reduce_add_ps(sum[r]);
}

static float dot_f32_avx512(const float *a, const float *b, size_t n)
{
    float out;

    dot_rows_avx512(a, b, 1, n, &out);
    return out;
}

static void dots_f32_avx512(const float *query, const float *rows, size_t count, size_t dim, float *out)
{
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        dot_rows_avx512(query, rows + i * dim, 4, dim, out + i);
    for (; i < count; i++)
        dot_rows_avx512(query, rows + i * dim, 1, dim, out + i);
}

/* Works like dot_byte_rows_avx2: widens both sides to 16 bits. */
INLINED void dot_byte_rows_avx512(const int8_t *query, const int8_t *rows, const int count, size_t dim, int32_t *out)
{
    __m512i sum[4];

    UNROLL for (int r = 0; r < count; r++) sum[r] = _mm512_setzero_si512();
    for (size_t d = 0; d < dim; d += 32) {
        __m512i q = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(query + d)));
        UNROLL for (int r = 0; r < count; r++)
        {
            __m512i v = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(rows + (size_t)r * dim + d)));
            sum[r] = _mm512_add_epi32(sum[r], _mm512_madd_epi16(q, v));
        }
    }
    UNROLL for (int r = 0; r < count; r++) out[r] = _mm512_reduce_add_epi32(sum[r]);
}

static void dots_i8_avx512(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        dot_byte_rows_avx512(query, rows + i * dim, 4, dim, out + i);
    for (; i < count; i++)
        dot_byte_rows_avx512(query, rows + i * dim, 1, dim, out + i);
}

/* Adds the entries that two bytes of each row of a block select: the first byte in the low half of the register, the
 * second byte in the high half. */
INLINED __m512i look_up_avx512(const unsigned char *tables, const unsigned char *rows)
{
    const __m512i low_bits = _mm512_set1_epi8(15);
    __m512i both = _mm512_loadu_si512(tables), bits = _mm512_loadu_si512(rows);
    __m512i low = _mm512_shuffle_i32x4(both, both, 0xa0), high = _mm512_shuffle_i32x4(both, both, 0xf5);

    low = _mm512_shuffle_epi8(low, _mm512_and_si512(bits, low_bits));
    high = _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16(bits, 4), low_bits));
    return _mm512_add_epi8(low, high);
}

static void sum_bits_avx512(const unsigned char *tables, const unsigned char *rows, size_t blocks, size_t bytes,
                            uint16_t *out)
{
    for (size_t block = 0; block < blocks; block++, rows += bytes * WT_BIT_ROWS, out += WT_BIT_ROWS) {
        __m512i sum = _mm512_setzero_si512();

        for (size_t b = 0; b < bytes; b += 4) {
            const unsigned char *table = tables + b * 2 * WT_BIT_ENTRIES, *row = rows + b * WT_BIT_ROWS;
            __m512i part = _mm512_add_epi8(look_up_avx512(table, row),
                                           look_up_avx512(table + 4 * WT_BIT_ENTRIES, row + 2 * WT_BIT_ROWS));
            __m256i eight = _mm256_add_epi8(_mm512_castsi512_si256(part), _mm512_extracti64x4_epi64(part, 1));
            sum = _mm512_add_epi16(sum, _mm512_cvtepu8_epi16(eight));
        }
        _mm512_storeu_si512(out, sum);
    }
}

#define AVX512_SET                                                                                                     \
    .gemm = gemm_avx512, .transpose = transpose_avx512, .gelu = gelu_avx512, .gelu_backward = gelu_backward_avx512,    \
    .softmax = softmax_avx512, .softmax_backward = softmax_backward_avx512, .layer_norm = layer_norm_avx512,           \
    .layer_norm_backward = layer_norm_backward_avx512, .adamw = adamw_avx512, .dot_f32 = dot_f32_avx512,               \
    .dots_f32 = dots_f32_avx512, .sum_bits = sum_bits_avx512

const struct kernels wt__kernels_avx512 = {.name = "avx512", AVX512_SET, .dots_i8 = dots_i8_avx512};
const struct kernels wt__kernels_vnni = {.name = "vnni",
                                         AVX512_SET,
                                         .most_code = WT_CODE_8BITS,
                                         .gemm_bytes = wt__gemm_bytes_vnni,
                                         .byte_row = wt__byte_row_vnni,
                                         .dots_i8 = wt__dots_i8_vnni};

#endif
