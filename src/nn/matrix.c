/* matrix.c: matrix products by our own kernels, OpenBLAS or AMX, and principal axes. Our own product packs the right
 * side into panels for the matrix kernel. It reads the left side in place. If the left side is transposed, it copies
 * one block of rows at a time. */
#include "nn/matrix.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nn/kernels/kernels.h"

size_t wt__matrix_packed_size(size_t out, size_t in)
{
    size_t rows, floats;
    if (__builtin_add_overflow(out, (size_t)WT_PANEL - 1, &rows))
        return 0;
    rows = rows / WT_PANEL * WT_PANEL;
    return __builtin_mul_overflow(rows, in, &floats) ? 0 : floats;
}

void wt__matrix_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in)
{
    for (size_t first = 0; first < out; first += WT_PANEL, packed += in * WT_PANEL)
        wt__kernels()->transpose(packed, WT_PANEL, w + first * row_stride, row_stride,
                                 out - first < WT_PANEL ? out - first : WT_PANEL, in);
}

/* ---------------------------------------------------------------- OpenBLAS */

/* OpenBLAS is loaded with dlopen. It stays loaded, because its threads cannot be unloaded safely. The interface is
 * standard CBLAS with 32-bit lengths, declared here so that the build needs no BLAS. */
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* values from cblas.h */

typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                            int lda, const float *b, int ldb, float beta, float *c, int ldc);

static sgemm_function *sgemm;
static atomic_bool openblas_ready;
static pthread_once_t openblas_once = PTHREAD_ONCE_INIT;

static void load_openblas(void)
{
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *product = handle ? dlsym(handle, "cblas_sgemm") : NULL;
    void *threads = handle ? dlsym(handle, "openblas_set_num_threads") : NULL;
    void (*set_threads)(int);
    if (!product || !threads)
        return;
    memcpy(&sgemm, &product, sizeof(sgemm)); /* C has no cast from an object pointer to a function pointer. */
    memcpy(&set_threads, &threads, sizeof(set_threads));
    set_threads(1);
    atomic_store(&openblas_ready, true);
}

int wt__blas_load(wt_error *err)
{
    pthread_once(&openblas_once, load_openblas);
    if (atomic_load(&openblas_ready))
        return 0;
    return wt__fail(err, WT_EMODEL, "cannot load OpenBLAS (libopenblas.so.0); training continues without it");
}

/* True if OpenBLAS is loaded and its 32-bit lengths can express the product. */
static bool can_use_openblas(const struct matmul *p)
{
    return atomic_load_explicit(&openblas_ready, memory_order_acquire) && p->m <= INT_MAX && p->n <= INT_MAX &&
           p->k <= INT_MAX && p->a_stride <= INT_MAX && p->b_stride <= INT_MAX && p->c_stride <= INT_MAX;
}

static void multiply_openblas(const struct matmul *p)
{
    sgemm(ROW_MAJOR, p->a_transposed ? TRANSPOSED : PLAIN, p->b_transposed ? TRANSPOSED : PLAIN, (int)p->m, (int)p->n,
          (int)p->k, 1, p->a, (int)p->a_stride, p->b, (int)p->b_stride, p->accumulate ? 1 : 0, p->c, (int)p->c_stride);
}

/* ---------------------------------------------------------------- products */

enum {
    TURNED_ROWS = 144,      /* maximum rows of the copied block of a transposed left side */
    MOST_DEPTH = 4096,      /* maximum length of the inner dimension of one block */
    REDUCED_LEAST = 1 << 21 /* minimum operations (2 m n k) of a product to use bfloat16; below, it is slower */
};

/* Sizes of the blocks of a product, chosen so that the copies of a block fit into the scratch. */
struct matmul_blocks {
    size_t depth, rows, columns;
};

static struct matmul_blocks choose_blocks(const struct matmul *p, size_t floats)
{
    size_t least = WT_PANEL + (p->a_transposed ? WT_PANEL : 0); /* minimum floats per unit of depth */
    struct matmul_blocks blocks = {.depth = p->k < MOST_DEPTH ? p->k : MOST_DEPTH, .rows = p->m};
    if (wt__round_up_to_panel(blocks.depth) > floats / least)
        blocks.depth = floats / least / WT_PANEL * WT_PANEL;
    if (p->a_transposed) {
        size_t rows = (floats - WT_PANEL * blocks.depth) / wt__round_up_to_panel(blocks.depth);
        blocks.rows = rows < TURNED_ROWS ? rows : TURNED_ROWS;
        floats -= blocks.rows * wt__round_up_to_panel(blocks.depth);
    }
    blocks.columns = floats / blocks.depth / WT_PANEL * WT_PANEL;
    return blocks;
}

/* Packs rows from .. from + depth - 1 and columns first .. first + width - 1 of op(b) into panels. */
static void pack_right_panels(const struct matmul *p, size_t from, size_t depth, size_t first, size_t width,
                              float *panels)
{
    if (p->b_transposed) {
        wt__matrix_pack(panels, p->b + first * p->b_stride + from, p->b_stride, width, depth);
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

/* Transposes columns first .. first + rows - 1 of rows from .. from + depth - 1 of a. The stride of `turned` is depth
 * rounded up to a panel. */
static void transpose_left(const struct matmul *p, size_t first, size_t rows, size_t from, size_t depth, float *turned)
{
    for (size_t k = 0; k < depth; k += WT_PANEL)
        wt__kernels()->transpose(turned + k, wt__round_up_to_panel(depth), p->a + (from + k) * p->a_stride + first,
                                 p->a_stride, depth - k < WT_PANEL ? depth - k : WT_PANEL, rows);
}

void wt__matmul_within(const struct matmul *p, float *scratch, size_t floats)
{
    struct matmul_blocks blocks = choose_blocks(p, floats);
    float *turned = scratch,
          *panels = scratch + (p->a_transposed ? blocks.rows * wt__round_up_to_panel(blocks.depth) : 0);
    for (size_t from = 0, depth; from < p->k; from += depth) {
        depth = p->k - from < blocks.depth ? p->k - from : blocks.depth;
        for (size_t first = 0, width; first < p->n; first += width) {
            width = p->n - first < blocks.columns ? p->n - first : blocks.columns;
            pack_right_panels(p, from, depth, first, width, panels);
            for (size_t row = 0, rows; row < p->m; row += rows) {
                rows = p->m - row < blocks.rows ? p->m - row : blocks.rows;
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

/* Multiplies in bfloat16. Returns false, without a product, if the processor has no AMX or if out of memory. */
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
    if (can_use_openblas(p))
        multiply_openblas(p);
    else
        multiply_packed(p);
}

/* ---------------------------------------------------------------- principal axes */

/* Orthogonal iteration (Golub and Van Loan, Matrix Computations, 8.2.4) on the matrix of second moments. Each iteration
 * multiplies the axes by the matrix and makes them orthonormal again. Axes of nearly equal moments keep rotating among
 * themselves, but the space they span is stable. For all other axes, ITERATIONS are enough. */

enum { ITERATIONS = 64 };

/* Computes moments [width, width] = vectors^T vectors / count. */
static void compute_second_moments(const float *vectors, size_t count, size_t width, float *moments)
{
    wt__multiply_dense(width, width, count, vectors, true, vectors, false, moments);
    for (size_t i = 0; i < width * width; i++)
        moments[i] /= count > 0 ? (float)count : 1;
}

static double dot_in_doubles(const float *a, const float *b, size_t width)
{
    double sum = 0;
    for (size_t i = 0; i < width; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* Makes axis `number` orthogonal to the earlier axes and scales it to unit length. Returns false if too little of the
 * axis remains. Two passes are enough (Kahan). */
static bool make_orthogonal(float *axes, size_t number, size_t width)
{
    float *axis = axes + number * width;
    double before = dot_in_doubles(axis, axis, width);
    for (int pass = 0; pass < 2; pass++)
        for (size_t a = 0; a < number; a++) {
            float share = (float)dot_in_doubles(axis, axes + a * width, width);
            for (size_t i = 0; i < width; i++)
                axis[i] -= share * axes[a * width + i];
        }
    double after = dot_in_doubles(axis, axis, width);
    if (!(after > before * 1e-12) || !(after > 0))
        return false;
    for (size_t i = 0; i < width; i++)
        axis[i] /= (float)sqrt(after);
    return true;
}

/* Makes the axes orthonormal. An axis that depends on the earlier axes is replaced by the next coordinate direction
 * that does not. */
static void make_orthonormal(float *axes, size_t keep, size_t width)
{
    for (size_t a = 0, free_direction = 0; a < keep; a++)
        while (!make_orthogonal(axes, a, width) && free_direction < width) {
            memset(axes + a * width, 0, width * sizeof *axes);
            axes[a * width + free_direction++] = 1;
        }
}

int wt__principal_axes(const float *vectors, size_t count, size_t width, size_t keep, float *axes, wt_error *err)
{
    WT_AUTO_FREE float *moments = wt__alloc_aligned(width * width, sizeof *moments);
    WT_AUTO_FREE float *turned = wt__alloc_aligned(keep * width, sizeof *turned);
    WT_CHECK_ALLOC(moments && turned, err);
    compute_second_moments(vectors, count, width, moments);
    for (size_t a = 0; a < keep; a++)
        memcpy(axes + a * width, moments + a * width, width * sizeof *axes);
    make_orthonormal(axes, keep, width);
    for (int i = 0; i < ITERATIONS; i++) {
        wt__multiply_dense(keep, width, width, axes, false, moments, false, turned);
        memcpy(axes, turned, keep * width * sizeof *axes);
        make_orthonormal(axes, keep, width);
    }
    return 0;
}
