/* matrix.h: products of row-major matrices, packed matrices, and principal axes.
 *
 * Training uses wt__matmul, in which each side may be transposed. Inference multiplies by packed weights instead.
 * wt__matmul uses our own kernels, or OpenBLAS if wt__blas_load() found it (see
 * docs/decisions/0005-blas-when-training.md). Their results are equal up to rounding. Large products that may be
 * rounded to bfloat16 use AMX if the processor has it. Each call uses one thread, so callers split the batch. The same
 * call on the same processor gives the same bits.
 *
 * Our own implementation allocates scratch. If out of memory, it uses a small buffer on the stack and is slow. */
#ifndef WT_NN_MATRIX_H
#define WT_NN_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum {
    MATMUL_SCRATCH = 16 << 20, /* maximum bytes of scratch, except for transposed copies of the left side */
    MATMUL_LEAST = 8 << 10,    /* minimum floats of scratch for wt__matmul_within */
    MATMUL_THREADS = 64        /* maximum concurrent calls of wt__matmul: OpenBLAS aborts if there are too many */
};

/* c [m,n] = (accumulate ? c : 0) + op(a) [m,k] op(b) [k,n]. Strides are floats between rows in memory. m, n and k may
 * be 0. c may not overlap a or b. */
struct matmul {
    size_t m, n, k;
    const float *a; /* [m,k], or [k,m] if transposed */
    size_t a_stride;
    bool a_transposed;
    const float *b; /* [k,n], or [n,k] if transposed */
    size_t b_stride;
    bool b_transposed;
    float *c;
    size_t c_stride;
    bool accumulate;
    bool reduced; /* values may be rounded to bfloat16 if that is faster on this processor (AMX) */
};

void wt__matmul(const struct matmul *product);

/* Returns the description of c [m,n] = op(a) op(b), for matrices without gaps between their rows. */
static inline struct matmul wt__dense_product(size_t m, size_t n, size_t k, const float *a, bool a_transposed,
                                              const float *b, bool b_transposed, float *c)
{
    return (struct matmul){m, n, k,     a,    a_transposed ? m : k, a_transposed, b, b_transposed ? k : n, b_transposed,
                           c, n, false, false};
}

/* Computes the product that wt__dense_product describes. */
static inline void wt__multiply_dense(size_t m, size_t n, size_t k, const float *a, bool a_transposed, const float *b,
                                      bool b_transposed, float *c)
{
    const struct matmul product = wt__dense_product(m, n, k, a, a_transposed, b, b_transposed, c);
    wt__matmul(&product);
}

/* Works like wt__matmul, with our own kernels and the given scratch of at least MATMUL_LEAST floats, aligned to 64
 * bytes. m, n and k must not be 0. */
void wt__matmul_within(const struct matmul *product, float *scratch, size_t floats);

/* Loads OpenBLAS (libopenblas.so.0) once per process. From then on, wt__matmul uses it, with one thread per call. Safe
 * from any thread, but not while a wt__matmul runs. Returns WT_EMODEL if the library is missing. Callers can then
 * continue with our own kernels. */
int wt__blas_load(wt_error *err);

/* Returns the floats in a packed matrix, [ceil(O / WT_PANEL)][I][WT_PANEL] with zeros after O, or 0 on overflow. */
size_t wt__matrix_packed_size(size_t out, size_t in);

/* Packs w, `out` rows of `in` floats, row_stride floats apart. packed has wt__matrix_packed_size() floats. */
void wt__matrix_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in);

/* Fills axes [keep, width] with the orthonormal axes of largest second moment of vectors [count, width], in descending
 * order. keep is at most width. The vectors are not centred, because the axes should preserve inner products. If the
 * vectors span fewer directions, the remaining axes are arbitrary. Errors: WT_ENOMEM. */
int wt__principal_axes(const float *vectors, size_t count, size_t width, size_t keep, float *axes, wt_error *err);

#endif
