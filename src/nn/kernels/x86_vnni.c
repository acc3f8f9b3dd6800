/* x86_vnni.c: products of bytes for AVX-512 VNNI. The VNNI instruction multiplies unsigned by signed bytes and adds
 * four products into each 32-bit sum. It has four times the throughput of fp32.
 *
 * In vector search, both sides are signed. The rows are made unsigned by adding 128, which flips the top bit. At the
 * end, 128 times the sum of the query is subtracted. In linear layers, codes are unsigned and weights are signed. A
 * tile of a layer is six rows by two panels. The sums of one group and the totals of all groups stay in registers. */
#include "nn/kernels/kernels.h"
#include "nn/kernels/simd.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

enum {
    BYTES = 64,
    QUAD = 4,                    /* bytes multiplied into one sum at a time */
    TILE_ROWS = 6,               /* rows of a tile two panels wide: 24 of the 32 registers hold sums */
    BLOCK_ROWS = 24 * TILE_ROWS, /* rows whose codes stay in the L2 cache while all panels are read */
    AHEAD = 128 * BYTES          /* prefetch distance for the weights, in bytes */
};

/* Computes the dot products of `count` rows at once. excess is 128 times the sum of the query. */
INLINED void dot_rows_vnni(const int8_t *query, const int8_t *rows, const int count, size_t dim, int32_t excess,
                           int32_t *out)
{
    const __m512i flip = _mm512_set1_epi8((char)0x80);
    __m512i sum[4];

    UNROLL for (int r = 0; r < count; r++) sum[r] = _mm512_setzero_si512();
    for (size_t d = 0; d < dim; d += BYTES) {
        __mmask64 mask = dim - d < BYTES ? 0xffffffffu : ~(__mmask64)0;
        __m512i q = _mm512_maskz_loadu_epi8(mask, query + d);
        UNROLL for (int r = 0; r < count; r++)
        {
            __m512i v = _mm512_maskz_loadu_epi8(mask, rows + (size_t)r * dim + d);
            sum[r] = _mm512_dpbusd_epi32(sum[r], _mm512_xor_si512(v, flip), q);
        }
    }
    UNROLL for (int r = 0; r < count; r++) out[r] = _mm512_reduce_add_epi32(sum[r]) - excess;
}

void wt__dots_i8_vnni(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    int32_t excess = 0;
    size_t i = 0;

    for (size_t d = 0; d < dim; d++)
        excess += 128 * query[d];
    for (; i + 4 <= count; i += 4)
        dot_rows_vnni(query, rows + i * dim, 4, dim, excess, out + i);
    for (; i < count; i++)
        dot_rows_vnni(query, rows + i * dim, 1, dim, excess, out + i);
}

/* Quantises one group that has `rest` values. The codes after them are 0. */
INLINED struct byte_range quantise_group(const float *x, size_t rest, unsigned char *codes)
{
    __m512 v[4], low = _mm512_set1_ps(x[0]), high = low;
    __mmask16 mask[4];

    UNROLL for (int i = 0; i < 4; i++)
    {
        mask[i] = rest >= (size_t)(i + 1) * AVX512_LANES ? 0xffff
                  : rest <= (size_t)i * AVX512_LANES     ? 0
                                                         : mask_lanes_avx512(rest - i * AVX512_LANES);
        v[i] = _mm512_maskz_loadu_ps(mask[i], x + i * AVX512_LANES);
        low = _mm512_mask_min_ps(low, mask[i], low, v[i]);
        high = _mm512_mask_max_ps(high, mask[i], high, v[i]);
    }
    float least = _mm512_reduce_min_ps(low), step = (_mm512_reduce_max_ps(high) - least) / 255;
    __m512 begin = _mm512_set1_ps(least), factor = _mm512_set1_ps(step > 0 ? 1 / step : 0);
    UNROLL for (int i = 0; i < 4; i++)
    {
        __m512i code = _mm512_maskz_cvtps_epi32(mask[i], _mm512_mul_ps(_mm512_sub_ps(v[i], begin), factor));
        _mm_store_si128((__m128i *)(void *)(codes + i * AVX512_LANES), _mm512_cvtusepi32_epi8(code));
    }
    return (struct byte_range){step, least};
}

void wt__byte_row_vnni(const float *x, size_t n, unsigned char *row)
{
    struct byte_range *ranges = (void *)(row + (n + WT_GROUP - 1) / WT_GROUP * WT_GROUP);
    size_t first = 0;

    for (; first + WT_GROUP <= n; first += WT_GROUP)
        *ranges++ = quantise_group(x + first, WT_GROUP, row + first);
    if (first < n)
        *ranges = quantise_group(x + first, n - first, row + first);
}

/* Applies scales, bias, activation and residual to the sums [rows, WT_PANEL] of a tile and stores them in c. */
static void store_byte_tile(const struct gemm_bytes *g, size_t row, size_t panel, size_t rows, const float *sum)
{
    size_t first = panel * WT_PANEL;
    __mmask16 mask = mask_lanes_avx512(g->o - first);
    __m512 scale = _mm512_load_ps(wt__byte_panel_end(g, panel)->scales);
    __m512 bias = g->bias ? _mm512_maskz_loadu_ps(mask, g->bias + first) : _mm512_setzero_ps();

    for (size_t r = 0; r < rows; r++, sum += WT_PANEL) {
        size_t at = (row + r) * g->c_stride + first;
        __m512 v = _mm512_fmadd_ps(_mm512_load_ps(sum), scale, bias);

        if (g->activation == ACTIVATION_GELU)
            v = gelu16(v);
        if (g->residual)
            v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(mask, g->residual + at));
        _mm512_mask_storeu_ps(g->c + at, mask, v);
    }
}

/* Computes one tile over all of K. rows and panels are constants after inlining. */
INLINED void compute_byte_tile(const struct gemm_bytes *g, size_t row, size_t panel, const int rows, const int panels)
{
    size_t a_stride = g->a_stride, w_panel = wt__byte_panel_size(g->groups);
    const unsigned char *a = g->a + row * a_stride, *w = g->w + panel * w_panel;
    const unsigned char *ranges = a + g->groups * WT_GROUP;
    _Alignas(64) float out[TILE_ROWS * WT_PANEL];
    __m512 all[2][TILE_ROWS];

    UNROLL for (int p = 0; p < panels; p++)
    {
        UNROLL for (int r = 0; r < rows; r++) all[p][r] = _mm512_setzero_ps();
    }
    for (size_t group = 0; group < g->groups; group++) {
        __m512i sum[2][TILE_ROWS], part[2];

        UNROLL for (int p = 0; p < panels; p++)
        {
            UNROLL for (int r = 0; r < rows; r++) sum[p][r] = _mm512_setzero_si512();
        }
        for (int quad = 0; quad < WT_GROUP / QUAD; quad++, a += QUAD, w += BYTES) {
            UNROLL for (int p = 0; p < panels; p++)
            {
                part[p] = _mm512_load_si512(w + (size_t)p * w_panel);
                _mm_prefetch((const char *)(w + (size_t)p * w_panel + AHEAD), _MM_HINT_T0);
            }
            UNROLL for (int r = 0; r < rows; r++)
            {
                int32_t codes;
                memcpy(&codes, a + (size_t)r * a_stride, sizeof codes);
                __m512i x = _mm512_set1_epi32(codes);
                UNROLL for (int p = 0; p < panels; p++) sum[p][r] = _mm512_dpbusd_epi32(sum[p][r], x, part[p]);
            }
        }
        UNROLL for (int r = 0; r < rows; r++)
        {
            struct byte_range range;
            memcpy(&range, ranges + (size_t)r * a_stride, sizeof range);
            __m512 step = _mm512_set1_ps(range.step), low = _mm512_set1_ps(range.low);
            UNROLL for (int p = 0; p < panels; p++)
            {
                all[p][r] = _mm512_fmadd_ps(step, _mm512_cvtepi32_ps(sum[p][r]), all[p][r]);
                all[p][r] = _mm512_fmadd_ps(low, _mm512_load_ps(w + (size_t)p * w_panel), all[p][r]);
            }
        }
        w += WT_PANEL * sizeof(float);
        ranges += sizeof(struct byte_range);
    }
    UNROLL for (int p = 0; p < panels; p++)
    {
        UNROLL for (int r = 0; r < rows; r++) _mm512_store_ps(out + r * WT_PANEL, all[p][r]);
        store_byte_tile(g, row, panel + (size_t)p, (size_t)rows, out);
    }
}

typedef void (*tile_function)(const struct gemm_bytes *g, size_t row, size_t panel);

#define TILE(rows, panels)                                                                                             \
    static void byte_tile_##rows##_##panels(const struct gemm_bytes *g, size_t row, size_t panel)                      \
    {                                                                                                                  \
        compute_byte_tile(g, row, panel, rows, panels);                                                                \
    }
#define ROWS_1_TO_6(X, panels) X(1, panels) X(2, panels) X(3, panels) X(4, panels) X(5, panels) X(6, panels)
ROWS_1_TO_6(TILE, 1)
ROWS_1_TO_6(TILE, 2)
#define ENTRY(rows, panels) byte_tile_##rows##_##panels,
static const tile_function tiles[2][TILE_ROWS + 1] = {{NULL, ROWS_1_TO_6(ENTRY, 1)}, {NULL, ROWS_1_TO_6(ENTRY, 2)}};

void wt__gemm_bytes_vnni(const struct gemm_bytes *g)
{
    size_t panels = (g->o + WT_PANEL - 1) / WT_PANEL;

    for (size_t block = 0, end; block < g->t; block = end) {
        end = block + choose_tile_rows(g->t - block, BLOCK_ROWS);
        for (size_t panel = 0; panel < panels; panel += 2)
            for (size_t row = block, rows; row < end; row += rows) {
                rows = choose_tile_rows(end - row, TILE_ROWS);
                tiles[panel + 1 < panels][rows](g, row, panel);
            }
    }
}

#endif
