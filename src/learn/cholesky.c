/* cholesky.c: see cholesky.h. */
#include "learn/cholesky.h"

#include <math.h>

static const double LEAST_PIVOT = 1e-12;

void wt__cholesky(double *a, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *x = a + i * stride, *y = a + j * stride;
            double sum = x[j];
            for (size_t k = 0; k < j; k++)
                sum -= x[k] * y[k];
            a[i * stride + j] = i == j ? sqrt(fmax(sum, LEAST_PIVOT)) : sum / y[j];
        }
}

void wt__cholesky_solve(const double *a, size_t n, size_t stride, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= a[i * stride + k] * b[k];
        b[i] /= a[i * stride + i];
    }
    for (size_t i = n; i-- > 0;) {
        b[i] /= a[i * stride + i];
        for (size_t k = 0; k < i; k++)
            b[k] -= a[i * stride + k] * b[i];
    }
}
