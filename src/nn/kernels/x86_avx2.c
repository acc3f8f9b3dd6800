/* x86_avx2.c: the kernels of plain.c for AVX2 with FMA. */
#include "nn/kernels/kernels.h"
#include "nn/kernels/simd.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>

enum {
    LANES = AVX2_LANES,
    TILE_ROWS = 6,
    AHEAD = 64 * WT_PANEL, /* prefetch distance for the weights, in floats */
    AHEAD_BITS = 2048      /* prefetch distance for rows of bits, in bytes */
};

static float sum_lanes(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static void gelu_avx2(float *x, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        _mm256_storeu_ps(x + i, gelu8(_mm256_loadu_ps(x + i)));
    if (i < n) {
        __m256i mask = mask_lanes_avx2(n - i);
        _mm256_maskstore_ps(x + i, mask, gelu8(_mm256_maskload_ps(x + i, mask)));
    }
}

/* Computes one tile, `rows` rows by one panel over all of K, in 2 * rows registers. rows is a constant after inlining.
 */
INLINED void compute_tile_avx2(const struct gemm *g, size_t row, size_t panel, const int rows)
{
    const float *a = g->a + row * g->a_stride, *w = g->w + panel * g->w_panel;
    size_t a_stride = g->a_stride, a_step = g->a_step, w_step = g->w_step, depth = g->k;
    _Alignas(32) float out[TILE_ROWS * WT_PANEL];
    __m256 sum[TILE_ROWS][2];

    UNROLL for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    for (size_t k = 0; k < depth; k++, a += a_step, w += w_step) {
        __m256 w0 = _mm256_loadu_ps(w), w1 = _mm256_loadu_ps(w + LANES);

        _mm_prefetch((const char *)(w + AHEAD), _MM_HINT_T0);
        UNROLL for (int r = 0; r < rows; r++)
        {
            __m256 x = _mm256_broadcast_ss(a + (size_t)r * a_stride);
            sum[r][0] = _mm256_fmadd_ps(x, w0, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(x, w1, sum[r][1]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        _mm256_store_ps(out + r * WT_PANEL, sum[r][0]);
        _mm256_store_ps(out + r * WT_PANEL + LANES, sum[r][1]);
    }
    store_tile_avx2(g, row, panel, (size_t)rows, out, NULL);
}

#define TILE(rows)                                                                                                     \
    static void tile_avx2_##rows(const struct gemm *g, size_t row, size_t panel)                                       \
    {                                                                                                                  \
        compute_tile_avx2(g, row, panel, rows);                                                                        \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)

/* Processes rows in blocks whose part of `a` stays in the L2 cache. Each block reads every panel once. */
static void gemm_avx2(const struct gemm *g)
{
    static void (*const tiles[TILE_ROWS + 1])(const struct gemm *, size_t, size_t) = {
        NULL, tile_avx2_1, tile_avx2_2, tile_avx2_3, tile_avx2_4, tile_avx2_5, tile_avx2_6};
    enum { BLOCK_ROWS = 20 * TILE_ROWS };
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

/* Returns exp(x) for x <= 0; x below -87 counts as -87. exp(x) = 2^n e^r, where |r| <= ln 2 / 2. A polynomial of degree
 * 6 approximates e^r with an error of 3e-9. */
static inline __m256 exp8(__m256 x)
{
    x = _mm256_max_ps(x, _mm256_set1_ps(-87.0f));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504088896341f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693145751953125f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(1.42860682030941723e-6f), r);
    __m256 p = _mm256_set1_ps(0.0013814467238262296f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.008368780836462975f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.04166839271783829f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.1666651964187622f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.4999999403953552f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(p, _mm256_castsi256_ps(power));
}

static void gelu_backward_avx2(const float *x, const float *dy, float *dx, size_t n)
{
    const __m256 half = _mm256_set1_ps(0.5f);

    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = mask_lanes_avx2(n - i);
        __m256 v = _mm256_maskload_ps(x + i, mask), below = _mm256_fmadd_ps(erf8(v), half, half);
        __m256 density = _mm256_mul_ps(exp8(_mm256_mul_ps(_mm256_mul_ps(v, v), _mm256_set1_ps(-0.5f))),
                                       _mm256_set1_ps(0.39894228040143268f));
        __m256 slope = _mm256_fmadd_ps(v, density, below);
        _mm256_maskstore_ps(dx + i, mask, _mm256_mul_ps(slope, _mm256_maskload_ps(dy + i, mask)));
    }
}

static void softmax_avx2(float *x, size_t n, float scale)
{
    const __m256 lowest = _mm256_set1_ps(-3.0e38f), factor = _mm256_set1_ps(scale);
    __m256 highest = lowest, sum = _mm256_setzero_ps();
    size_t whole = n / LANES * LANES;
    __m256i rest = mask_lanes_avx2(n - whole);
    float most;

    for (size_t i = 0; i < whole; i += LANES)
        highest = _mm256_max_ps(highest, _mm256_loadu_ps(x + i));
    if (whole < n)
        highest = _mm256_max_ps(
            highest, _mm256_blendv_ps(lowest, _mm256_maskload_ps(x + whole, rest), _mm256_castsi256_ps(rest)));
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(highest), _mm256_extractf128_ps(highest, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    most = _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));

    for (size_t i = 0; i < whole; i += LANES) {
        __m256 e = exp8(_mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(most)), factor));
        sum = _mm256_add_ps(sum, e);
        _mm256_storeu_ps(x + i, e);
    }
    if (whole < n) {
        __m256 e =
            exp8(_mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + whole, rest), _mm256_set1_ps(most)), factor));
        sum = _mm256_add_ps(sum, _mm256_and_ps(e, _mm256_castsi256_ps(rest)));
        _mm256_maskstore_ps(x + whole, rest, e);
    }
    __m256 share = _mm256_set1_ps(1.0f / sum_lanes(sum));
    for (size_t i = 0; i < whole; i += LANES)
        _mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), share));
    if (whole < n)
        _mm256_maskstore_ps(x + whole, rest, _mm256_mul_ps(_mm256_maskload_ps(x + whole, rest), share));
}

static void softmax_backward_avx2(const float *p, float *dp, size_t n, float scale)
{
    __m256 products = _mm256_setzero_ps();

    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = mask_lanes_avx2(n - i);
        products = _mm256_fmadd_ps(_mm256_maskload_ps(p + i, mask), _mm256_maskload_ps(dp + i, mask), products);
    }
    __m256 sum = _mm256_set1_ps(sum_lanes(products)), factor = _mm256_set1_ps(scale);
    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = mask_lanes_avx2(n - i);
        __m256 d = _mm256_sub_ps(_mm256_maskload_ps(dp + i, mask), sum);
        d = _mm256_mul_ps(_mm256_mul_ps(_mm256_maskload_ps(p + i, mask), d), factor);
        _mm256_maskstore_ps(dp + i, mask, d);
    }
}

/* Computes *mean of x and *factor = 1 / sqrt(variance + epsilon), each in all lanes. */
static inline void compute_moments_avx2(const float *x, float epsilon, size_t n, __m256 *mean, __m256 *factor)
{
    __m256 sum = _mm256_setzero_ps(), squares = _mm256_setzero_ps();
    size_t whole = n / LANES * LANES;
    __m256i rest = mask_lanes_avx2(n - whole);

    for (size_t i = 0; i < whole; i += LANES)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(x + i));
    sum = _mm256_add_ps(sum, _mm256_maskload_ps(x + whole, rest));
    *mean = _mm256_set1_ps(sum_lanes(sum) / (float)n);

    for (size_t i = 0; i < whole; i += LANES) {
        __m256 d = _mm256_sub_ps(_mm256_loadu_ps(x + i), *mean);
        squares = _mm256_fmadd_ps(d, d, squares);
    }
    __m256 d = _mm256_and_ps(_mm256_sub_ps(_mm256_maskload_ps(x + whole, rest), *mean), _mm256_castsi256_ps(rest));
    squares = _mm256_fmadd_ps(d, d, squares);
    __m128 deviation = _mm_sqrt_ss(_mm_set_ss(sum_lanes(squares) / (float)n + epsilon));
    *factor = _mm256_set1_ps(1.0f / _mm_cvtss_f32(deviation));
}

static void layer_norm_avx2(const float *x, const float *gain, const float *bias, float epsilon, float *y, size_t n)
{
    size_t whole = n / LANES * LANES;
    __m256i rest = mask_lanes_avx2(n - whole);
    __m256 mean, factor;

    compute_moments_avx2(x, epsilon, n, &mean, &factor);
    for (size_t i = 0; i < whole; i += LANES) {
        __m256 v = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), mean), factor);
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(v, _mm256_loadu_ps(gain + i), _mm256_loadu_ps(bias + i)));
    }
    if (whole < n) {
        __m256 v = _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + whole, rest), mean), factor);
        _mm256_maskstore_ps(
            y + whole, rest,
            _mm256_fmadd_ps(v, _mm256_maskload_ps(gain + whole, rest), _mm256_maskload_ps(bias + whole, rest)));
    }
}

static void layer_norm_backward_avx2(const float *x, const float *gain, float epsilon, const float *dy, float *dx,
                                     float *dgain, float *dbias, size_t n)
{
    __m256 mean, factor, g_sum = _mm256_setzero_ps(), gh_sum = _mm256_setzero_ps();

    compute_moments_avx2(x, epsilon, n, &mean, &factor);
    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = mask_lanes_avx2(n - i);
        __m256 d = _mm256_maskload_ps(dy + i, mask), g = _mm256_mul_ps(d, _mm256_maskload_ps(gain + i, mask));
        __m256 h = _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + i, mask), mean), factor);
        g_sum = _mm256_add_ps(g_sum, g);
        gh_sum = _mm256_fmadd_ps(g, h, gh_sum);
        if (dgain) {
            _mm256_maskstore_ps(dgain + i, mask, _mm256_fmadd_ps(d, h, _mm256_maskload_ps(dgain + i, mask)));
            _mm256_maskstore_ps(dbias + i, mask, _mm256_add_ps(d, _mm256_maskload_ps(dbias + i, mask)));
        }
    }
    __m256 g_mean = _mm256_set1_ps(sum_lanes(g_sum) / (float)n), gh_mean = _mm256_set1_ps(sum_lanes(gh_sum) / (float)n);
    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = mask_lanes_avx2(n - i);
        __m256 g = _mm256_mul_ps(_mm256_maskload_ps(dy + i, mask), _mm256_maskload_ps(gain + i, mask));
        __m256 h = _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + i, mask), mean), factor);
        g = _mm256_fnmadd_ps(h, gh_mean, _mm256_sub_ps(g, g_mean));
        _mm256_maskstore_ps(dx + i, mask, _mm256_mul_ps(g, factor));
    }
}

static void adamw_avx2(const struct adamw_factors *f, const float *gradient, float *first, float *second, float *value,
                       size_t n)
{
    const __m256 beta1 = _mm256_set1_ps(f->beta1), beta2 = _mm256_set1_ps(f->beta2), scale = _mm256_set1_ps(f->scale);
    const __m256 rest1 = _mm256_set1_ps(1 - f->beta1), rest2 = _mm256_set1_ps(1 - f->beta2);
    const __m256 root = _mm256_set1_ps(f->root), epsilon = _mm256_set1_ps(f->epsilon);
    const __m256 keep = _mm256_set1_ps(f->keep), rate = _mm256_set1_ps(f->rate);

    for (size_t i = 0; i < n; i += LANES) {
        __m256i mask = mask_lanes_avx2(n - i);
        __m256 g = gradient ? _mm256_mul_ps(_mm256_maskload_ps(gradient + i, mask), scale) : _mm256_setzero_ps();
        __m256 m = _mm256_fmadd_ps(beta1, _mm256_maskload_ps(first + i, mask), _mm256_mul_ps(rest1, g));
        __m256 v = _mm256_mul_ps(beta2, _mm256_maskload_ps(second + i, mask));
        v = _mm256_fmadd_ps(rest2, _mm256_mul_ps(g, g), v);
        __m256 step = _mm256_div_ps(_mm256_mul_ps(rate, m), _mm256_fmadd_ps(_mm256_sqrt_ps(v), root, epsilon));
        _mm256_maskstore_ps(first + i, mask, m);
        _mm256_maskstore_ps(second + i, mask, v);
        _mm256_maskstore_ps(value + i, mask, _mm256_fmsub_ps(_mm256_maskload_ps(value + i, mask), keep, step));
    }
}

/* Transposes 8 rows of 8 values in three steps. It exchanges pairs, then groups of four, then halves of registers. */
INLINED void transpose_8x8(__m256 r[8])
{
    __m256 a[8], b[8];

    UNROLL for (int i = 0; i < 8; i += 2)
    {
        a[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    UNROLL for (int i = 0; i < 8; i += 4)
    {
        b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
        b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
        b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
        b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
    }
    UNROLL for (int i = 0; i < 4; i++)
    {
        r[i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x20);
        r[4 + i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x31);
    }
}

static void transpose_avx2(float *out, size_t out_stride, const float *w, size_t row_stride, size_t rows, size_t in)
{
    for (size_t k = 0; k < in; k += LANES) {
        __m256i mask = mask_lanes_avx2(in - k);

        for (size_t half = 0; half < WT_PANEL; half += LANES) {
            __m256 r[8];

            UNROLL for (size_t j = 0; j < 8; j++) r[j] =
                half + j < rows ? _mm256_maskload_ps(w + (half + j) * row_stride + k, mask) : _mm256_setzero_ps();
            transpose_8x8(r);
            UNROLL for (size_t j = 0; j < 8; j++)
            {
                if (k + j < in)
                    _mm256_storeu_ps(out + (k + j) * out_stride + half, r[j]);
            }
        }
    }
}

/* Computes the dot products of `count` rows at once, so that each part of the query is loaded only once. */
INLINED void dot_rows_avx2(const float *query, const float *rows, const int count, size_t dim, float *out)
{
    size_t whole = dim / LANES * LANES;
    __m256i rest = mask_lanes_avx2(dim - whole);
    __m256 sum[4];

    UNROLL for (int r = 0; r < count; r++) sum[r] = _mm256_setzero_ps();
    for (size_t d = 0; d < whole; d += LANES) {
        __m256 q = _mm256_loadu_ps(query + d);
        UNROLL for (int r = 0; r < count; r++) sum[r] =
            _mm256_fmadd_ps(q, _mm256_loadu_ps(rows + (size_t)r * dim + d), sum[r]);
    }
    if (whole < dim) {
        __m256 q = _mm256_maskload_ps(query + whole, rest);
        UNROLL for (int r = 0; r < count; r++) sum[r] =
            _mm256_fmadd_ps(q, _mm256_maskload_ps(rows + (size_t)r * dim + whole, rest), sum[r]);
    }
    UNROLL for (int r = 0; r < count; r++) out[r] = sum_lanes(sum[r]);
}

static float dot_f32_avx2(const float *a, const float *b, size_t n)
{
    float out;

    dot_rows_avx2(a, b, 1, n, &out);
    return out;
}

static void dots_f32_avx2(const float *query, const float *rows, size_t count, size_t dim, float *out)
{
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        dot_rows_avx2(query, rows + i * dim, 4, dim, out + i);
    for (; i < count; i++)
        dot_rows_avx2(query, rows + i * dim, 1, dim, out + i);
}

/* Computes the dot products of `count` rows at once. Both sides are widened to 16 bits, because the sums of the byte
 * products of AVX2 could saturate. */
INLINED void dot_byte_rows_avx2(const int8_t *query, const int8_t *rows, const int count, size_t dim, int32_t *out)
{
    __m256i sum[4];

    UNROLL for (int r = 0; r < count; r++) sum[r] = _mm256_setzero_si256();
    for (size_t d = 0; d < dim; d += 16) {
        __m256i q = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(query + d)));
        UNROLL for (int r = 0; r < count; r++)
        {
            __m256i v = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(rows + (size_t)r * dim + d)));
            sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(q, v));
        }
    }
    UNROLL for (int r = 0; r < count; r++)
    {
        __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum[r]), _mm256_extracti128_si256(sum[r], 1));
        s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
        out[r] = _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
    }
}

static void dots_i8_avx2(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        dot_byte_rows_avx2(query, rows + i * dim, 4, dim, out + i);
    for (; i < count; i++)
        dot_byte_rows_avx2(query, rows + i * dim, 1, dim, out + i);
}

/* Adds the entries that four bytes of each row of a block select. */
INLINED __m256i look_up_avx2(const unsigned char *tables, const unsigned char *rows)
{
    const __m256i low_bits = _mm256_set1_epi8(15);
    __m256i sum = _mm256_setzero_si256();

    UNROLL for (size_t b = 0; b < 4; b++)
    {
        const unsigned char *table = tables + b * 2 * WT_BIT_ENTRIES;
        __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
        __m256i high =
            _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(table + WT_BIT_ENTRIES)));
        __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(rows + b * WT_BIT_ROWS));
        low = _mm256_shuffle_epi8(low, _mm256_and_si256(bits, low_bits));
        high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low_bits));
        sum = _mm256_add_epi8(sum, _mm256_add_epi8(low, high));
    }
    return sum;
}

/* Computes the sums of `count` blocks at once, so that each table is loaded only once. */
INLINED void sum_bit_blocks_avx2(const unsigned char *tables, const unsigned char *rows, const int count, size_t bytes,
                                 uint16_t *out)
{
    const __m256i low_byte = _mm256_set1_epi16(255);
    __m256i even[2], odd[2];

    UNROLL for (int i = 0; i < count; i++) even[i] = odd[i] = _mm256_setzero_si256();
    for (size_t b = 0; b < bytes; b += 4) {
        UNROLL for (int i = 0; i < count; i++)
        {
            const unsigned char *row = rows + ((size_t)i * bytes + b) * WT_BIT_ROWS;
            __m256i sum = look_up_avx2(tables + b * 2 * WT_BIT_ENTRIES, row);
            _mm_prefetch((const char *)(row + AHEAD_BITS), _MM_HINT_T0);
            _mm_prefetch((const char *)(row + AHEAD_BITS + 64), _MM_HINT_T0);
            even[i] = _mm256_add_epi16(even[i], _mm256_and_si256(sum, low_byte));
            odd[i] = _mm256_add_epi16(odd[i], _mm256_srli_epi16(sum, 8));
        }
    }
    UNROLL for (int i = 0; i < count; i++)
    {
        __m256i a = _mm256_unpacklo_epi16(even[i], odd[i]), c = _mm256_unpackhi_epi16(even[i], odd[i]);
        __m256i *to = (__m256i *)(void *)(out + i * WT_BIT_ROWS);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(a, c, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(a, c, 0x31));
    }
}

static void sum_bits_avx2(const unsigned char *tables, const unsigned char *rows, size_t blocks, size_t bytes,
                          uint16_t *out)
{
    size_t i = 0;

    for (; i + 2 <= blocks; i += 2)
        sum_bit_blocks_avx2(tables, rows + i * bytes * WT_BIT_ROWS, 2, bytes, out + i * WT_BIT_ROWS);
    if (i < blocks)
        sum_bit_blocks_avx2(tables, rows + i * bytes * WT_BIT_ROWS, 1, bytes, out + i * WT_BIT_ROWS);
}

#define AVX2_SET                                                                                                       \
    .gemm = gemm_avx2, .transpose = transpose_avx2, .gelu = gelu_avx2, .gelu_backward = gelu_backward_avx2,            \
    .softmax = softmax_avx2, .softmax_backward = softmax_backward_avx2, .layer_norm = layer_norm_avx2,                 \
    .layer_norm_backward = layer_norm_backward_avx2, .adamw = adamw_avx2, .dot_f32 = dot_f32_avx2,                     \
    .dots_f32 = dots_f32_avx2, .sum_bits = sum_bits_avx2

const struct kernels wt__kernels_avx2 = {.name = "avx2",
                                         AVX2_SET,
                                         .most_code = WT_CODE_7BITS,
                                         .gemm_bytes = wt__gemm_bytes_avx2,
                                         .byte_row = wt__byte_row_avx2,
                                         .dots_i8 = dots_i8_avx2};
const struct kernels wt__kernels_avxvnni = {.name = "avxvnni",
                                            AVX2_SET,
                                            .most_code = WT_CODE_8BITS,
                                            .gemm_bytes = wt__gemm_bytes_avxvnni,
                                            .byte_row = wt__byte_row_avxvnni,
                                            .dots_i8 = wt__dots_i8_avxvnni};

#endif
