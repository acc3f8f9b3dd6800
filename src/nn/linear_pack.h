/* linear_pack.h: packs matrices into the panels of the kernels, once for the weights of a layer, or on the fly for the
 * operand of a product. */
#ifndef WT_NN_LINEAR_PACK_H
#define WT_NN_LINEAR_PACK_H

#include <stddef.h>

/* Returns the floats in a packed matrix, [ceil(O / WT_PANEL)][I][WT_PANEL] with zeros after O, or 0 on overflow. */
size_t wt__linear_packed_size(size_t out, size_t in);

/* Packs w, rows of `in` floats row_stride apart. packed has wt__linear_packed_size() floats. */
void wt__linear_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in);

#endif
