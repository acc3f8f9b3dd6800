/* matmul.h: the product of two row-major matrices, either of them transposed: what training needs beside the packed
 * products of inference.
 *
 * Two ways lead to it, the same up to rounding: our own kernels, and OpenBLAS when wt__blas_load() found it (see
 * docs/decisions/0005-blas-when-training.md for which is taken when). Either uses one thread; callers share out the
 * batch. The same call on the same processor gives the same bits.
 *
 * Our own way copies up to MATMUL_SCRATCH bytes and a little into memory of its own; when there is none, it works on
 * the stack, slowly. */
#ifndef WT_NN_MATMUL_H
#define WT_NN_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum {
    MATMUL_SCRATCH = 16 << 20, /* bytes */
    MATMUL_LEAST = 8 << 10,    /* floats that wt__matmul_within needs at least */
    MATMUL_THREADS = 64        /* may call wt__matmul at once; OpenBLAS ends the program when too many do */
};

/* c [m,n] = (accumulate ? c : 0) + op(a) [m,k] op(b) [k,n]; strides are floats between rows of what is in memory.
 * Any of m, n, k may be 0. c may not overlap a or b. */
struct matmul {
    size_t m, n, k;
    const float *a; /* [m,k], or [k,m] when transposed */
    size_t a_stride;
    bool a_transposed;
    const float *b; /* [k,n], or [n,k] when transposed */
    size_t b_stride;
    bool b_transposed;
    float *c;
    size_t c_stride;
    bool accumulate;
    bool
        reduced; /* the values may be rounded to bfloat16, where the processor multiplies that faster (kernels/amx.h) */
};

void wt__matmul(const struct matmul *product);

/* The same by our own kernels, in scratch of at least MATMUL_LEAST floats on a 64-byte boundary; m, n, k > 0. */
void wt__matmul_within(const struct matmul *product, float *scratch, size_t floats);

/* Loads OpenBLAS (libopenblas.so.0) and lets wt__matmul use it from now on, in one thread a call. Once a process; safe
 * from any thread, but not while a wt__matmul runs. WT_EMODEL when it is not there: no reason to stop, our own kernels
 * go on. */
int wt__blas_load(wt_error *err);

#endif
