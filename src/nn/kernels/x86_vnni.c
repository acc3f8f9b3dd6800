/* x86_vnni.c: byte products for AVX-512 VNNI, whose instruction multiplies unsigned bytes by signed ones. The rows are
 * made unsigned by adding 128 (flipping the top bit), and 128 times the query's sum is taken off at the end. */
#include "nn/kernels/kernels.h"
#include "nn/kernels/tile.h"

#if defined(__x86_64__)

#include <immintrin.h>

enum { BYTES = 64 };

INLINED void dots(const int8_t *query, const int8_t *rows, const int count, size_t dim, int32_t excess, int32_t *out)
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
        dots(query, rows + i * dim, 4, dim, excess, out + i);
    for (; i < count; i++)
        dots(query, rows + i * dim, 1, dim, excess, out + i);
}

#endif
