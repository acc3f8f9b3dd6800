/* linear_bytes.h: linear layers whose weights are bytes with a scale a row, as models are stored to be small. What they
 * multiply is made into bytes on the way (kernels/kernels.h), and processors multiply bytes several times as fast. */
#ifndef WT_NN_LINEAR_BYTES_H
#define WT_NN_LINEAR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/linear.h"

/* Whether the set of kernels in use has products of bytes. */
bool wt__bytes_ready(void);

/* Bytes of W [O, I] in panels of bytes; 0 on overflow. */
size_t wt__linear_bytes_size(size_t out, size_t in);

/* panels: [wt__linear_bytes_size()] on a 64-byte boundary. w [O, I] int8 and scales [O]. */
void wt__linear_bytes_pack(unsigned char *panels, const int8_t *w, const float *scales, size_t out, size_t in);

/* Bytes of a row of `in` values as codes, a multiple of 64; 0 on overflow. */
size_t wt__byte_row_size(size_t in);

/* wt__linear_forward by l->bytes, only when ready. scratch: T rows of wt__byte_row_size() bytes on a 64-byte boundary.
 */
void wt__linear_forward_bytes(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                              const float *residual, float *y, size_t y_stride, size_t t, unsigned char *scratch);

#endif
