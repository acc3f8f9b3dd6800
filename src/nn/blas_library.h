/* blas_library.h: OpenBLAS's one function, loaded when training asks for it; see matmul.h. */
#ifndef WT_NN_BLAS_LIBRARY_H
#define WT_NN_BLAS_LIBRARY_H

#include <stdbool.h>

#include "nn/matmul.h"

/* Whether it is loaded and takes a product of these lengths. */
bool wt__blas_takes(const struct matmul *product);

/* Only when loaded. m, n, k > 0. */
void wt__blas_multiply(const struct matmul *product);

#endif
