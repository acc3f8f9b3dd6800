/* x86_bytes_avx2.c: products of bytes for AVX2. An instruction multiplies 32 unsigned by 32 signed bytes and adds
 * pairs of products to 16-bit sums. Codes have 7 bits, so that no pair overflows. A second instruction adds pairs of
 * these sums to 32 bits. Where the weights are small enough, it does so once for two of the first instructions. */
#include "nn/kernels/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

enum { MOST_CODE = WT_CODE_7BITS };
#define TILE_ROWS 3 /* 6 of the 16 registers hold sums; with 4 or more rows, some are spilled */
#define QUADS 2
#define FITS_MATTER true

static inline __m256i add_products(__m256i sum, const __m256i *codes, const __m256i *weights, bool fit)
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i first = _mm256_maddubs_epi16(codes[0], weights[0]), second = _mm256_maddubs_epi16(codes[1], weights[1]);
    if (fit)
        return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_add_epi16(first, second), ones));
    return _mm256_add_epi32(_mm256_add_epi32(sum, _mm256_madd_epi16(first, ones)), _mm256_madd_epi16(second, ones));
}

#include "nn/kernels/x86_bytes256.h"

void wt__byte_row_avx2(const float *x, size_t n, unsigned char *row)
{
    quantise_row256(x, n, row);
}

void wt__gemm_bytes_avx2(const struct gemm_bytes *g)
{
    multiply_bytes256(g);
}

#endif
