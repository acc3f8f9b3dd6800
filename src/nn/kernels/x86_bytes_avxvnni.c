/* x86_bytes_avxvnni.c: products of bytes for AVX-VNNI, the VNNI instruction in registers of 256 bits, on processors
 * without AVX-512. It multiplies unsigned by signed bytes and adds four products into each 32-bit sum. */
#include "nn/kernels/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

enum { MOST_CODE = WT_CODE_8BITS };
#define TILE_ROWS 6 /* 12 of the 16 registers hold sums */

#define QUADS 1
#define FITS_MATTER false

static inline __m256i add_products(__m256i sum, const __m256i *codes, const __m256i *weights, bool fit)
{
    (void)fit;
    return _mm256_dpbusd_avx_epi32(sum, codes[0], weights[0]);
}

#include "nn/kernels/x86_bytes256.h"

void wt__byte_row_avxvnni(const float *x, size_t n, unsigned char *row)
{
    quantise_row256(x, n, row);
}

void wt__gemm_bytes_avxvnni(const struct gemm_bytes *g)
{
    multiply_bytes256(g);
}

/* Computes the dot products of `count` rows at once. The rows are made unsigned by adding 128, which flips the top bit.
 * excess is 128 times the sum of the query. */
INLINED void dot_byte_rows_avxvnni(const int8_t *query, const int8_t *rows, const int count, size_t dim, int32_t excess,
                                   int32_t *out)
{
    const __m256i flip = _mm256_set1_epi8((char)0x80);
    __m256i sum[4];
    UNROLL for (int r = 0; r < count; r++) sum[r] = _mm256_setzero_si256();
    for (size_t d = 0; d < dim; d += BYTES) {
        __m256i q = _mm256_loadu_si256((const __m256i *)(const void *)(query + d));
        UNROLL for (int r = 0; r < count; r++)
        {
            __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(rows + (size_t)r * dim + d));
            sum[r] = _mm256_dpbusd_avx_epi32(sum[r], _mm256_xor_si256(v, flip), q);
        }
    }
    UNROLL for (int r = 0; r < count; r++)
    {
        __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum[r]), _mm256_extracti128_si256(sum[r], 1));
        s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
        out[r] = _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1))) - excess;
    }
}

void wt__dots_i8_avxvnni(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    int32_t excess = 0;
    size_t i = 0;
    for (size_t d = 0; d < dim; d++)
        excess += 128 * query[d];
    for (; i + 4 <= count; i += 4)
        dot_byte_rows_avxvnni(query, rows + i * dim, 4, dim, excess, out + i);
    for (; i < count; i++)
        dot_byte_rows_avxvnni(query, rows + i * dim, 1, dim, excess, out + i);
}

#endif
