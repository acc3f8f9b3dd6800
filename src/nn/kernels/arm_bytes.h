/* arm_bytes.h: products of bytes for 64-bit ARM, for arm_bytes_neon.c and arm_bytes_dot.c. Each includes this file
 * once, after it has defined
 *
 *   add_products(sum, weights, codes)    adds 4 products of signed bytes to each of 4 sums
 *
 * Codes have 7 bits, so that they are signed bytes, too. A tile is a few rows by one panel. */
#ifndef WT_NN_KERNELS_ARM_BYTES_H
#define WT_NN_KERNELS_ARM_BYTES_H

#include <arm_neon.h>
#include <string.h>

#include "nn/kernels/kernels.h"
#include "nn/kernels/simd.h"

enum {
    LANES = 4,
    QUARTERS = WT_PANEL / LANES,
    QUAD = 4,                    /* bytes multiplied into one sum */
    TILE_ROWS = 5,               /* 20 of the 32 registers hold sums */
    BLOCK_ROWS = 24 * TILE_ROWS, /* rows whose codes stay in the L2 cache while all panels are read */
};

/* Applies scales, bias, activation and residual to the sums [rows, WT_PANEL] of a tile and stores them in c. */
static void store_byte_tile_arm(const struct gemm_bytes *g, size_t row, size_t panel, size_t rows, float *sum)
{
    const float *scales = wt__byte_panel_end(g, panel)->scales;
    size_t first = panel * WT_PANEL, width = g->o - first < WT_PANEL ? g->o - first : WT_PANEL;
    for (size_t r = 0; r < rows; r++, sum += WT_PANEL) {
        size_t at = (row + r) * g->c_stride + first;
        for (size_t j = 0; j < width; j++)
            sum[j] = sum[j] * scales[j] + (g->bias ? g->bias[first + j] : 0);
        if (g->activation == ACTIVATION_GELU)
            wt__kernels_plain.gelu(sum, width);
        for (size_t j = 0; g->residual && j < width; j++)
            sum[j] += g->residual[at + j];
        memcpy(g->c + at, sum, width * sizeof(float));
    }
}

/* Adds a group's exact sums to the totals of a row: step * sum + low * sums of the weights. */
INLINED void add_group_arm(float *total, const unsigned char *ranges, const unsigned char *sums, const int32x4_t *sum)
{
    struct byte_range range;
    memcpy(&range, ranges, sizeof range);
    UNROLL for (int q = 0; q < QUARTERS; q++)
    {
        float32x4_t v = vld1q_f32(total + q * LANES);
        v = vfmaq_n_f32(v, vcvtq_f32_s32(sum[q]), range.step);
        v = vfmaq_n_f32(v, vld1q_f32((const float *)(const void *)sums + q * LANES), range.low);
        vst1q_f32(total + q * LANES, v);
    }
}

/* Computes one tile over all of K. rows is a constant after inlining. */
INLINED void compute_byte_tile_arm(const struct gemm_bytes *g, size_t row, size_t panel, const int rows)
{
    const unsigned char *a = g->a + row * g->a_stride, *w = g->w + panel * wt__byte_panel_size(g->groups);
    const unsigned char *ranges = a + g->groups * WT_GROUP;
    size_t a_stride = g->a_stride;
    float total[TILE_ROWS * WT_PANEL] = {0};
    for (size_t group = 0; group < g->groups; group++) {
        int32x4_t sum[TILE_ROWS][QUARTERS];
        UNROLL for (int r = 0; r < rows; r++)
        {
            UNROLL for (int q = 0; q < QUARTERS; q++) sum[r][q] = vdupq_n_s32(0);
        }
        for (int quad = 0; quad < WT_GROUP / QUAD; quad++, a += QUAD, w += WT_PANEL * QUAD) {
            int8x16_t weights[QUARTERS];
            UNROLL for (int q = 0; q < QUARTERS; q++) weights[q] = vld1q_s8((const int8_t *)w + q * LANES * QUAD);
            UNROLL for (int r = 0; r < rows; r++)
            {
                int32_t codes;
                memcpy(&codes, a + (size_t)r * a_stride, sizeof codes);
                int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(codes));
                UNROLL for (int q = 0; q < QUARTERS; q++) sum[r][q] = add_products(sum[r][q], weights[q], x);
            }
        }
        UNROLL for (int r = 0; r < rows; r++)
            add_group_arm(total + r * WT_PANEL, ranges + (size_t)r * a_stride, w, sum[r]);
        w += WT_PANEL * sizeof(float);
        ranges += sizeof(struct byte_range);
    }
    store_byte_tile_arm(g, row, panel, (size_t)rows, total);
}

#define TILE(rows)                                                                                                     \
    static void byte_tile_arm_##rows(const struct gemm_bytes *g, size_t row, size_t panel)                             \
    {                                                                                                                  \
        compute_byte_tile_arm(g, row, panel, rows);                                                                    \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)

static void multiply_bytes_arm(const struct gemm_bytes *g)
{
    static void (*const tiles[TILE_ROWS + 1])(const struct gemm_bytes *, size_t, size_t) = {
        NULL, byte_tile_arm_1, byte_tile_arm_2, byte_tile_arm_3, byte_tile_arm_4, byte_tile_arm_5};
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
