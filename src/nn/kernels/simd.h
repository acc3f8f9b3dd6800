/* simd.h: helpers for the SIMD kernels.
 *
 * UNROLL unrolls a loop with a constant number of iterations. An array of sums that the loop variable indexes can then
 * stay in registers. The pragma of gcc needs a number of copies. clang generates worse code with such a number. */
#ifndef WT_NN_KERNELS_SIMD_H
#define WT_NN_KERNELS_SIMD_H

#include <stdbool.h>
#include <stddef.h>

#include "nn/kernels/kernels.h"

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* Forces inlining, so that constant arguments become constants in the body. */
#define INLINED static inline __attribute__((always_inline))

/* Returns the number of rows of the next tile. left: remaining rows. most: maximum rows of a tile. All tiles become
 * about equally tall, because a tile of few rows would stall on the latency of its sums. */
static inline size_t choose_tile_rows(size_t left, size_t most)
{
    size_t tiles = (left + most - 1) / most;
    return (left + tiles - 1) / tiles;
}

#if defined(__AVX2__) /* in files compiled for AVX2 or AVX-512 */

#include <immintrin.h>

enum { AVX2_LANES = 8 };

/* Returns the mask of the first n lanes, all 8 if n is larger. */
static inline __m256i mask_lanes_avx2(size_t n)
{
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n < AVX2_LANES ? n : AVX2_LANES)), index);
}

/* Returns erf(x / sqrt 2). erf(s) = s P(s^2) / Q(s^2) for |s| <= 3.92. Beyond that, erf(s) is 1 or -1 in fp32. P and Q
 * have degree 5. Their fit minimises the maximum relative error, which is 2e-8 before rounding. */
static inline __m256 erf8(__m256 x)
{
    const __m256 limit = _mm256_set1_ps(3.92f);
    __m256 s = _mm256_mul_ps(x, _mm256_set1_ps(0.70710678118654752f));

    s = _mm256_max_ps(_mm256_min_ps(s, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
    __m256 u = _mm256_mul_ps(s, s);
    __m256 p = _mm256_set1_ps(2.0500331174844177e-06f);
    p = _mm256_fmadd_ps(p, u, _mm256_set1_ps(0.0002848751610144973f));
    p = _mm256_fmadd_ps(p, u, _mm256_set1_ps(0.003765515051782131f));
    p = _mm256_fmadd_ps(p, u, _mm256_set1_ps(0.052748408168554306f));
    p = _mm256_fmadd_ps(p, u, _mm256_set1_ps(0.19040481746196747f));
    p = _mm256_fmadd_ps(p, u, _mm256_set1_ps(1.1283791065216064f));
    __m256 q = _mm256_set1_ps(3.809075496974401e-05f);
    q = _mm256_fmadd_ps(q, u, _mm256_set1_ps(0.001162500586360693f));
    q = _mm256_fmadd_ps(q, u, _mm256_set1_ps(0.014969022944569588f));
    q = _mm256_fmadd_ps(q, u, _mm256_set1_ps(0.11410833895206451f));
    q = _mm256_fmadd_ps(q, u, _mm256_set1_ps(0.5020745992660522f));
    q = _mm256_fmadd_ps(q, u, _mm256_set1_ps(1.0f));
    return _mm256_div_ps(_mm256_mul_ps(s, p), q);
}

static inline __m256 gelu8(__m256 x)
{
    __m256 half = _mm256_mul_ps(x, _mm256_set1_ps(0.5f));

    return _mm256_fmadd_ps(half, erf8(x), half);
}

/* Works like store_tile_avx2 for the outputs `out` to out + AVX2_LANES. whole: true if all of them exist. Masked stores
 * are slow on processors of AMD. */
INLINED void store_half_tile_avx2(const struct gemm *g, size_t row, size_t out, size_t rows, const float *sum,
                                  __m256 scale, const bool whole)
{
    const __m256i mask = mask_lanes_avx2(g->o - out);
    __m256 bias = _mm256_setzero_ps();
    if (g->bias)
        bias = whole ? _mm256_loadu_ps(g->bias + out) : _mm256_maskload_ps(g->bias + out, mask);
    for (size_t r = 0; r < rows; r++) {
        size_t at = (row + r) * g->c_stride + out;
        __m256 v = _mm256_fmadd_ps(_mm256_loadu_ps(sum + r * WT_PANEL), scale, bias);
        if (g->activation == ACTIVATION_GELU)
            v = gelu8(v);
        if (g->residual)
            v = _mm256_add_ps(v,
                              whole ? _mm256_loadu_ps(g->residual + at) : _mm256_maskload_ps(g->residual + at, mask));
        if (whole)
            _mm256_storeu_ps(g->c + at, v);
        else
            _mm256_maskstore_ps(g->c + at, mask, v);
    }
}

/* Applies scales [WT_PANEL] (NULL for none), bias, activation and residual to the sums [rows, WT_PANEL] of a tile and
 * stores them in c. */
static inline void store_tile_avx2(const struct gemm *g, size_t row, size_t panel, size_t rows, const float *sum,
                                   const float *scales)
{
    for (size_t half = 0; half < WT_PANEL && panel * WT_PANEL + half < g->o; half += AVX2_LANES) {
        size_t out = panel * WT_PANEL + half;
        __m256 scale = scales ? _mm256_loadu_ps(scales + half) : _mm256_set1_ps(1);
        if (g->o - out >= AVX2_LANES)
            store_half_tile_avx2(g, row, out, rows, sum + half, scale, true);
        else
            store_half_tile_avx2(g, row, out, rows, sum + half, scale, false);
    }
}

#endif

#if defined(__AVX512F__) /* in files compiled for AVX-512, which have AVX2 too */

enum { AVX512_LANES = 16 };

/* Returns the mask of the first n lanes, all 16 if n is larger. */
static inline __mmask16 mask_lanes_avx512(size_t n)
{
    return n < AVX512_LANES ? (__mmask16)((1u << n) - 1) : (__mmask16)0xffff;
}

/* Returns erf(x / sqrt 2), by the approximation of erf8. */
static inline __m512 erf16(__m512 x)
{
    __m512 s = _mm512_mul_ps(x, _mm512_set1_ps(0.70710678118654752f));
    s = _mm512_max_ps(_mm512_min_ps(s, _mm512_set1_ps(3.92f)), _mm512_set1_ps(-3.92f));
    __m512 u = _mm512_mul_ps(s, s);
    __m512 p = _mm512_set1_ps(2.0500331174844177e-06f);
    p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(0.0002848751610144973f));
    p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(0.003765515051782131f));
    p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(0.052748408168554306f));
    p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(0.19040481746196747f));
    p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(1.1283791065216064f));
    __m512 q = _mm512_set1_ps(3.809075496974401e-05f);
    q = _mm512_fmadd_ps(q, u, _mm512_set1_ps(0.001162500586360693f));
    q = _mm512_fmadd_ps(q, u, _mm512_set1_ps(0.014969022944569588f));
    q = _mm512_fmadd_ps(q, u, _mm512_set1_ps(0.11410833895206451f));
    q = _mm512_fmadd_ps(q, u, _mm512_set1_ps(0.5020745992660522f));
    q = _mm512_fmadd_ps(q, u, _mm512_set1_ps(1.0f));
    return _mm512_div_ps(_mm512_mul_ps(s, p), q);
}

static inline __m512 gelu16(__m512 x)
{
    __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5f));
    return _mm512_fmadd_ps(half, erf16(x), half);
}

#endif

#endif
