/* cholesky.h: solves linear equations with a symmetric positive definite matrix. */
#ifndef WT_LEARN_CHOLESKY_H
#define WT_LEARN_CHOLESKY_H

#include <stddef.h>

/* Replaces the lower triangle of a [n, n] by its Cholesky factor. stride: numbers between the rows in memory. A pivot
 * that is not positive, as of a singular matrix, becomes a very small one. */
void wt__cholesky(double *a, size_t n, size_t stride);

/* Replaces b [n] by the solution x of a x = b. a: from wt__cholesky. */
void wt__cholesky_solve(const double *a, size_t n, size_t stride, double *b);

#endif
