/* arm_bytes_neon.c: products of bytes for ARM processors without the dot product of bytes. A product of two bytes fits
 * into 16 bits, and so does the sum of two products, because codes have 7 bits. */
#include "nn/kernels/kernels.h"

#if defined(__aarch64__)

#include <arm_neon.h>

static inline int32x4_t add_products(int32x4_t sum, int8x16_t weights, int8x16_t codes)
{
    int16x8_t low = vmull_s8(vget_low_s8(weights), vget_low_s8(codes)), high = vmull_high_s8(weights, codes);
    return vpadalq_s16(sum, vpaddq_s16(low, high));
}

#include "nn/kernels/arm_bytes.h"

void wt__gemm_bytes_neon(const struct gemm_bytes *g)
{
    multiply_bytes_arm(g);
}

#endif
