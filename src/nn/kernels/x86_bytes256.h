/* x86_bytes256.h: products of bytes in registers of 256 bits, for x86_bytes_avx2.c and x86_bytes_avxvnni.c. Each
 * includes this file once, after it has defined:
 *
 *   MOST_CODE                                 the greatest code
 *   TILE_ROWS                                 rows of a tile, 3 or 6
 *   QUADS                                     number of registers of weights that add_products reads
 *   FITS_MATTER                               true if add_products is faster where sums of four products fit 16 bits
 *   add_products(sum, codes, weights, fit)    adds 4 * QUADS products of bytes to each of 8 sums; codes and weights
 *                                             have QUADS registers; fit: a bit of struct panel_end.fits
 *
 * A tile is a few rows by one panel. */
#ifndef WT_NN_KERNELS_X86_BYTES256_H
#define WT_NN_KERNELS_X86_BYTES256_H

#include <immintrin.h>
#include <string.h>

#include "nn/kernels/kernels.h"
#include "nn/kernels/simd.h"

enum {
    BYTES = 32,
    QUAD = 4,                    /* bytes multiplied into one sum */
    BLOCK_ROWS = 32 * TILE_ROWS, /* rows whose codes stay in the L2 cache while all panels are read */
    AHEAD = 64 * BYTES           /* prefetch distance for the weights, in bytes */
};

/* ---------------------------------------------------------------- codes */

static float least_lane(__m256 v)
{
    __m128 s = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_min_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_min_ss(s, _mm_movehdup_ps(s)));
}

/* Quantises one whole group. */
static struct byte_range quantise_group256(const float *x, unsigned char *codes)
{
    enum { PARTS = WT_GROUP / AVX2_LANES };
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256 v[PARTS], low, high;
    __m256i code[PARTS];
    UNROLL for (int i = 0; i < PARTS; i++) v[i] = _mm256_loadu_ps(x + i * AVX2_LANES);
    low = high = v[0];
    UNROLL for (int i = 1; i < PARTS; i++)
    {
        low = _mm256_min_ps(low, v[i]);
        high = _mm256_max_ps(high, v[i]);
    }
    float least = least_lane(low), most = -least_lane(_mm256_sub_ps(_mm256_setzero_ps(), high));
    float step = (most - least) / MOST_CODE;
    __m256 begin = _mm256_set1_ps(least), factor = _mm256_set1_ps(step > 0 ? 1 / step : 0);
    UNROLL for (int i = 0; i < PARTS; i++) code[i] =
        _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_sub_ps(v[i], begin), factor));
    UNROLL for (int i = 0; i < PARTS; i += 4) /* packing works within halves of a register, so the order is mended */
    {
        __m256i words = _mm256_packs_epi32(code[i], code[i + 1]), more = _mm256_packs_epi32(code[i + 2], code[i + 3]);
        __m256i bytes = _mm256_min_epu8(_mm256_packus_epi16(words, more), _mm256_set1_epi8((char)MOST_CODE));
        _mm256_store_si256((__m256i *)(void *)(codes + i * AVX2_LANES), _mm256_permutevar8x32_epi32(bytes, order));
    }
    return (struct byte_range){step, least};
}

static void quantise_row256(const float *x, size_t n, unsigned char *row)
{
    struct byte_range *ranges = (void *)(row + (n + WT_GROUP - 1) / WT_GROUP * WT_GROUP);
    size_t first = 0;
    for (; first + WT_GROUP <= n; first += WT_GROUP)
        *ranges++ = quantise_group256(x + first, row + first);
    if (first < n) { /* the last group alone is a row, with its range after its codes */
        _Alignas(32) unsigned char last[WT_GROUP + sizeof(struct byte_range)];
        wt__byte_row_plain(x + first, n - first, last, MOST_CODE);
        memcpy(row + first, last, WT_GROUP);
        memcpy(ranges, last + WT_GROUP, sizeof *ranges);
    }
}

/* ---------------------------------------------------------------- products */

/* Applies scales, bias, activation and residual to the sums [rows, WT_PANEL] of a tile and stores them in c. */
static void store_byte_tile256(const struct gemm_bytes *g, size_t row, size_t panel, size_t rows, const float *sum)
{
    struct gemm result = {.o = g->o,
                          .bias = g->bias,
                          .residual = g->residual,
                          .c = g->c,
                          .c_stride = g->c_stride,
                          .activation = g->activation};
    store_tile_avx2(&result, row, panel, rows, sum, wt__byte_panel_end(g, panel)->scales);
}

/* Adds a group's exact sums to the totals of a row: step * sum + low * sums of the weights. */
INLINED void add_group256(float *total, const unsigned char *ranges, const unsigned char *sums, const __m256i *sum)
{
    struct byte_range range;
    memcpy(&range, ranges, sizeof range);
    __m256 step = _mm256_set1_ps(range.step), low = _mm256_set1_ps(range.low);
    UNROLL for (int half = 0; half < 2; half++)
    {
        __m256 v = _mm256_load_ps(total + half * AVX2_LANES);
        v = _mm256_fmadd_ps(step, _mm256_cvtepi32_ps(sum[half]), v);
        v = _mm256_fmadd_ps(low, _mm256_load_ps((const float *)(const void *)sums + half * AVX2_LANES), v);
        _mm256_store_ps(total + half * AVX2_LANES, v);
    }
}

/* Adds the products of QUADS * QUAD codes of each row. `a` and `w` point at the first ones. */
INLINED void add_quads256(__m256i sum[TILE_ROWS][2], const unsigned char *a, size_t a_stride, const unsigned char *w,
                          const int rows, const bool fit)
{
    __m256i weights[2][QUADS];
    UNROLL for (int q = 0; q < QUADS; q++)
    {
        UNROLL for (int half = 0; half < 2; half++) weights[half][q] =
            _mm256_load_si256((const __m256i *)(const void *)(w + (2 * q + half) * BYTES));
        _mm_prefetch((const char *)(w + 2 * q * BYTES + AHEAD), _MM_HINT_T0);
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        __m256i x[QUADS];
        UNROLL for (int q = 0; q < QUADS; q++)
        {
            int32_t codes;
            memcpy(&codes, a + (size_t)r * a_stride + q * QUAD, sizeof codes);
            x[q] = _mm256_set1_epi32(codes);
        }
        UNROLL for (int half = 0; half < 2; half++) sum[r][half] = add_products(sum[r][half], x, weights[half], fit);
    }
}

/* Adds the products of one group. */
INLINED void add_products_of_group256(__m256i sum[TILE_ROWS][2], const unsigned char *a, size_t a_stride,
                                      const unsigned char *w, const int rows, const bool fit)
{
    for (int quad = 0; quad < WT_GROUP / QUAD; quad += QUADS, a += QUADS * QUAD, w += 2 * QUADS * BYTES)
        add_quads256(sum, a, a_stride, w, rows, fit);
}

/* Computes one tile over all of K. rows is a constant after inlining. */
INLINED void compute_byte_tile256(const struct gemm_bytes *g, size_t row, size_t panel, const int rows)
{
    const unsigned char *a = g->a + row * g->a_stride, *w = g->w + panel * wt__byte_panel_size(g->groups);
    const unsigned char *ranges = a + g->groups * WT_GROUP;
    uint64_t fits = wt__byte_panel_end(g, panel)->fits;
    size_t a_stride = g->a_stride;
    _Alignas(32) float total[TILE_ROWS * WT_PANEL] = {0};
    for (size_t group = 0; group < g->groups; group++, fits >>= 1) {
        __m256i sum[TILE_ROWS][2];
        UNROLL for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
        if (FITS_MATTER && fits & 1)
            add_products_of_group256(sum, a, a_stride, w, rows, true);
        else
            add_products_of_group256(sum, a, a_stride, w, rows, false);
        a += WT_GROUP;
        w += WT_GROUP * WT_PANEL;
        UNROLL for (int r = 0; r < rows; r++)
            add_group256(total + r * WT_PANEL, ranges + (size_t)r * a_stride, w, sum[r]);
        w += WT_PANEL * sizeof(float);
        ranges += sizeof(struct byte_range);
    }
    store_byte_tile256(g, row, panel, (size_t)rows, total);
}

typedef void (*byte_tile_function)(const struct gemm_bytes *g, size_t row, size_t panel);

#define TILE(rows)                                                                                                     \
    static void byte_tile256_##rows(const struct gemm_bytes *g, size_t row, size_t panel)                              \
    {                                                                                                                  \
        compute_byte_tile256(g, row, panel, rows);                                                                     \
    }
TILE(1)
TILE(2)
TILE(3)
#if TILE_ROWS > 3
TILE(4)
TILE(5)
TILE(6)
#define TALL_TILES , byte_tile256_4, byte_tile256_5, byte_tile256_6
#else
#define TALL_TILES
#endif

static void multiply_bytes256(const struct gemm_bytes *g)
{
    static const byte_tile_function tiles[] = {NULL, byte_tile256_1, byte_tile256_2, byte_tile256_3 TALL_TILES};
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

#endif
