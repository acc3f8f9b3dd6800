/* blas_library.h: the matrix product of OpenBLAS, loaded on request for training; see matmul.h. */
#ifndef WT_NN_BLAS_LIBRARY_H
#define WT_NN_BLAS_LIBRARY_H

#include <stdbool.h>

#include "nn/matmul.h"

/* True if OpenBLAS is loaded and its 32-bit lengths can express the product. */
bool wt__blas_takes(const struct matmul *product);

/* Requires wt__blas_takes(product), and m, n, k > 0. */
void wt__blas_multiply(const struct matmul *product);

#endif
