/* arm_bytes_dot.c: products of bytes for ARM processors with the dot product of bytes (ARMv8.2 and later). The
 * instruction adds four products of signed bytes to each 32-bit sum. */
#include "nn/kernels/kernels.h"

#if defined(__aarch64__)

#include <arm_neon.h>

static inline int32x4_t add_products(int32x4_t sum, int8x16_t weights, int8x16_t codes)
{
    return vdotq_s32(sum, weights, codes);
}

#include "nn/kernels/arm_bytes.h"

void wt__gemm_bytes_dot(const struct gemm_bytes *g)
{
    multiply_bytes_arm(g);
}

void wt__dots_i8_dot(const int8_t *query, const int8_t *rows, size_t count, size_t dim, int32_t *out)
{
    for (size_t i = 0; i < count; i++, rows += dim) {
        int32x4_t sum[2] = {vdupq_n_s32(0), vdupq_n_s32(0)};
        for (size_t d = 0; d < dim; d += 32) {
            sum[0] = vdotq_s32(sum[0], vld1q_s8(query + d), vld1q_s8(rows + d));
            sum[1] = vdotq_s32(sum[1], vld1q_s8(query + d + 16), vld1q_s8(rows + d + 16));
        }
        out[i] = vaddvq_s32(vaddq_s32(sum[0], sum[1]));
    }
}

#endif
