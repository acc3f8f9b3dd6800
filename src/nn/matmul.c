/* matmul.c: our own way cuts the inner dimension into depths and the right side into strips two panels wide. A strip is
 * packed on the stack, where the first cache keeps it while all rows of the left side pass by. The left side is read in
 * place, also transposed. */
#include "nn/matmul.h"

#include <stdint.h>
#include <string.h>

#include "nn/blas_library.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/tile.h"

enum { ROWS = 144, DEPTH = 256, STRIP = 2 * WT_PANEL };

/* Columns first .. first + width - 1 of op(b), rows from .. from + depth - 1, as two panels. */
static void pack_strip(const struct matmul *p, size_t from, size_t depth, size_t first, size_t width, float *strip)
{
    for (size_t done = 0; done < width; done += WT_PANEL, strip += depth * WT_PANEL) {
        size_t columns = width - done < WT_PANEL ? width - done : WT_PANEL;

        if (p->b_transposed) {
            wt__kernels()->pack(strip, p->b + (first + done) * p->b_stride + from, p->b_stride, columns, depth);
            continue;
        }
        const float *b = p->b + from * p->b_stride + first + done;
        for (size_t k = 0; k < depth; k++, b += p->b_stride) {
            if (columns == WT_PANEL)
                memcpy(strip + k * WT_PANEL, b, WT_PANEL * sizeof(float));
            else
                for (size_t j = 0; j < WT_PANEL; j++)
                    strip[k * WT_PANEL + j] = j < columns ? b[j] : 0;
        }
    }
}

static void clear(const struct matmul *p)
{
    for (size_t i = 0; i < p->m && p->n > 0; i++)
        memset(p->c + i * p->c_stride, 0, p->n * sizeof(float));
}

/* Rows first .. first + rows - 1 of op(a), columns from .. from + depth - 1, in the order in which they lie. */
static void pack_block(const struct matmul *p, size_t first, size_t rows, size_t from, size_t depth, float *block)
{
    if (p->a_transposed)
        for (size_t k = 0; k < depth; k++)
            memcpy(block + k * rows, p->a + (from + k) * p->a_stride + first, rows * sizeof(float));
    else
        for (size_t r = 0; r < rows; r++)
            memcpy(block + r * depth, p->a + (first + r) * p->a_stride + from, depth * sizeof(float));
}

static void multiply(const struct matmul *p)
{
    _Alignas(64) float block[ROWS * DEPTH], strip[STRIP * DEPTH];

    for (size_t row = 0, rows; row < p->m; row += rows) {
        rows = even_part(p->m - row, ROWS);
        for (size_t from = 0, depth; from < p->k; from += depth) {
            depth = even_part(p->k - from, DEPTH);
            pack_block(p, row, rows, from, depth, block);
            for (size_t first = 0; first < p->n; first += STRIP) {
                size_t width = p->n - first < STRIP ? p->n - first : STRIP;
                float *c = p->c + row * p->c_stride + first;
                struct gemm gemm = {.t = rows,
                                    .k = depth,
                                    .o = width,
                                    .a = block,
                                    .a_stride = p->a_transposed ? 1 : depth,
                                    .a_step = p->a_transposed ? rows : 1,
                                    .w = strip,
                                    .w_step = WT_PANEL,
                                    .w_panel = depth * WT_PANEL,
                                    .residual = p->accumulate || from > 0 ? c : NULL,
                                    .c = c,
                                    .c_stride = p->c_stride};

                pack_strip(p, from, depth, first, width, strip);
                wt__kernels()->gemm(&gemm);
            }
        }
    }
}

void wt__matmul(const struct matmul *product)
{
    if (product->k == 0 && !product->accumulate)
        clear(product);
    if (product->m == 0 || product->n == 0 || product->k == 0)
        return;
    if (wt__blas_prefers(product))
        wt__blas_multiply(product);
    else
        multiply(product);
}
