/* matmul.c: our own product packs the right side into panels for the matrix kernel, like the packed weights of
 * inference. The left side is read in place; a transposed left side is transposed back, a block of rows at a time.
 * Packing costs a few percent of a product of batch size. Splitting the inner dimension to keep panels in the L1 cache
 * is common, but measured slower here: storing and reloading the sums costs more than it saves. */
#include "nn/matmul.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/blas_library.h"
#include "nn/kernels/amx.h"
#include "nn/kernels/kernels.h"
#include "nn/linear_pack.h"

enum {
    TURNED_ROWS = 144,      /* rows of a transposed left side in a block, which stays in the L2 cache */
    MOST_DEPTH = 4096,      /* maximum part of the inner dimension at a time */
    REDUCED_LEAST = 1 << 21 /* minimum operations of a product for which rounding pays */
};

/* Sizes of the blocks of a product, such that the copies fit into the scratch. */
struct matmul_blocks {
    size_t depth, rows, columns;
};

static struct matmul_blocks choose_blocks(const struct matmul *p, size_t floats)
{
    size_t least = WT_PANEL + (p->a_transposed ? WT_PANEL : 0); /* minimum floats per unit of depth */
    struct matmul_blocks plan = {.depth = p->k < MOST_DEPTH ? p->k : MOST_DEPTH, .rows = p->m};

    if (wt__round_up_to_panel(plan.depth) > floats / least)
        plan.depth = floats / least / WT_PANEL * WT_PANEL;
    if (p->a_transposed) {
        size_t rows = (floats - WT_PANEL * plan.depth) / wt__round_up_to_panel(plan.depth);

        plan.rows = rows < TURNED_ROWS ? rows : TURNED_ROWS;
        floats -= plan.rows * wt__round_up_to_panel(plan.depth);
    }
    plan.columns = floats / plan.depth / WT_PANEL * WT_PANEL;
    return plan;
}

/* Packs rows from .. from + depth - 1 and columns first .. first + width - 1 of op(b) into panels. */
static void pack_right_panels(const struct matmul *p, size_t from, size_t depth, size_t first, size_t width,
                              float *panels)
{
    if (p->b_transposed) {
        wt__linear_pack(panels, p->b + first * p->b_stride + from, p->b_stride, width, depth);
        return;
    }
    const float *b = p->b + from * p->b_stride + first;
    for (size_t done = 0; done < width; done += WT_PANEL, panels += depth * WT_PANEL)
        for (size_t k = 0; k < depth; k++) {
            const float *row = b + k * p->b_stride + done;

            if (width - done >= WT_PANEL)
                memcpy(panels + k * WT_PANEL, row, WT_PANEL * sizeof(float));
            else
                for (size_t j = 0; j < WT_PANEL; j++)
                    panels[k * WT_PANEL + j] = j < width - done ? row[j] : 0;
        }
}

/* Transposes columns first .. first + rows - 1 and rows from .. from + depth - 1 of a. The stride of the resulting rows
 * is depth rounded up to a panel. */
static void transpose_left(const struct matmul *p, size_t first, size_t rows, size_t from, size_t depth, float *turned)
{
    for (size_t k = 0; k < depth; k += WT_PANEL)
        wt__kernels()->transpose(turned + k, wt__round_up_to_panel(depth), p->a + (from + k) * p->a_stride + first,
                                 p->a_stride, depth - k < WT_PANEL ? depth - k : WT_PANEL, rows);
}

void wt__matmul_within(const struct matmul *p, float *scratch, size_t floats)
{
    struct matmul_blocks plan = choose_blocks(p, floats);
    float *turned = scratch, *panels = scratch + (p->a_transposed ? plan.rows * wt__round_up_to_panel(plan.depth) : 0);

    for (size_t from = 0, depth; from < p->k; from += depth) {
        depth = p->k - from < plan.depth ? p->k - from : plan.depth;
        for (size_t first = 0, width; first < p->n; first += width) {
            width = p->n - first < plan.columns ? p->n - first : plan.columns;
            pack_right_panels(p, from, depth, first, width, panels);
            for (size_t row = 0, rows; row < p->m; row += rows) {
                rows = p->m - row < plan.rows ? p->m - row : plan.rows;
                float *c = p->c + row * p->c_stride + first;

                if (p->a_transposed)
                    transpose_left(p, row, rows, from, depth, turned);
                wt__kernels()->gemm(
                    &(struct gemm){.t = rows,
                                   .k = depth,
                                   .o = width,
                                   .a = p->a_transposed ? turned : p->a + row * p->a_stride + from,
                                   .a_stride = p->a_transposed ? wt__round_up_to_panel(depth) : p->a_stride,
                                   .a_step = 1,
                                   .w = panels,
                                   .w_step = WT_PANEL,
                                   .w_panel = depth * WT_PANEL,
                                   .residual = p->accumulate || from > 0 ? c : NULL,
                                   .c = c,
                                   .c_stride = p->c_stride});
            }
        }
    }
}

static void multiply_packed(const struct matmul *p)
{
    const size_t most = MATMUL_SCRATCH / sizeof(float);
    size_t depth = wt__round_up_to_panel(p->k < MOST_DEPTH ? p->k : MOST_DEPTH), floats;

    if (__builtin_mul_overflow(wt__round_up_to_panel(p->n), depth, &floats) || floats > most)
        floats = most;
    floats += p->a_transposed ? TURNED_ROWS * depth : 0;
    float *scratch = wt__alloc_aligned(floats, sizeof(float));
    if (scratch) {
        wt__matmul_within(p, scratch, floats);
        free(scratch);
    } else {
        _Alignas(64) float small[MATMUL_LEAST];

        wt__matmul_within(p, small, MATMUL_LEAST);
    }
}

/* Multiplies in bfloat16. Returns false if the processor cannot, or if out of memory. */
static bool multiply_reduced(const struct matmul *p)
{
    void *scratch = wt__amx_ready() ? wt__alloc_aligned(AMX_SCRATCH, 1) : NULL;

    if (scratch)
        wt__amx_multiply(p, scratch);
    free(scratch);
    return scratch != NULL;
}

void wt__matmul(const struct matmul *p)
{
    if (p->m == 0 || p->n == 0)
        return;
    if (p->k == 0) {
        for (size_t i = 0; i < p->m && !p->accumulate; i++)
            memset(p->c + i * p->c_stride, 0, p->n * sizeof(float));
        return;
    }
    if (p->reduced && 2 * p->m * p->n * p->k >= REDUCED_LEAST && multiply_reduced(p))
        return;
    if (wt__blas_takes(p))
        wt__blas_multiply(p);
    else
        multiply_packed(p);
}
