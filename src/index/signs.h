/* signs.h: estimates of inner products from one bit per value, which rule out most vectors before their bytes are read.
 *
 * A vector x is rotated to y by a fixed random rotation. Its code has the sign of each value of y, and its factor is
 * |y|^2 / sum of |y[i]|. For a rotated query q, factor * sum of sign(y[i]) q[i] is an unbiased estimate of x.q (RaBitQ,
 * Gao and Long 2024). For unit vectors, the error of the estimate has a standard deviation of about .03 at 384
 * dimensions. */
#ifndef WT_INDEX_SIGNS_H
#define WT_INDEX_SIGNS_H

#include <stddef.h>
#include <stdint.h>

#include "nn/kernels/kernels.h"

/* Codes are stored in blocks of WT_BIT_ROWS slots (kernels.h). n is the number of values, a multiple of 64. */
static inline size_t wt__signs_bytes(size_t n)
{
    return n / 8;
}

/* Bytes of the tables of a query with n values. */
static inline size_t wt__signs_table_bytes(size_t n)
{
    return wt__signs_bytes(n) * 2 * WT_BIT_ENTRIES;
}

/* Writes the code of x, [n], to row `at` of the block, and returns the factor. Overwrites x. */
float wt__signs_put(unsigned char *block, size_t at, float *x, size_t n);

/* Computes the checksums of a block's rows. seeds: [WT_BIT_ROWS], replaced by the checksums. */
void wt__signs_checksums(const unsigned char *block, size_t n, uint32_t *seeds);

/* A query: x.q is about factor * (step * sum - offset), and hardly ever more than factor * (step * sum - offset +
 * slack). sum is the row's sum by the kernel sum_bits. */
struct sign_query {
    float step, offset, slack;
};

/* Prepares a query and writes its tables. Overwrites q, [n]. norm: length of q. */
struct sign_query wt__signs_prepare(float *q, size_t n, double norm, unsigned char *tables);

#endif
