/* linear_bytes.h: linear layers with int8 weights and one scale per row, the compact storage format of models. Inputs
 * are quantised to bytes on the fly (kernels/kernels.h); processors multiply bytes several times as fast as floats. */
#ifndef WT_NN_LINEAR_BYTES_H
#define WT_NN_LINEAR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nn/linear.h"

/* True if the kernels in use have products of bytes. */
bool wt__bytes_ready(void);

/* Returns the size in bytes of W [O, I] in panels of bytes, or 0 on overflow. */
size_t wt__linear_bytes_size(size_t out, size_t in);

/* Packs w [O, I] with scales [O]. panels has wt__linear_bytes_size() bytes and is aligned to 64 bytes. */
void wt__linear_bytes_pack(unsigned char *panels, const int8_t *w, const float *scales, size_t out, size_t in);

/* Returns the size in bytes of a row of `in` quantised values, a multiple of 64, or 0 on overflow. */
size_t wt__byte_row_size(size_t in);

/* Works like wt__linear_forward, with l->bytes; requires wt__bytes_ready(). scratch holds T rows of wt__byte_row_size()
 * bytes and is aligned to 64 bytes. */
void wt__linear_forward_bytes(const struct linear *l, const float *x, size_t x_stride, enum activation activation,
                              const float *residual, float *y, size_t y_stride, size_t t, unsigned char *scratch);

#endif
