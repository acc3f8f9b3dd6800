/* linear_pack.h: matrices in the panels that the kernels read, for a layer's weights once and for a product's operand
 * as it goes. */
#ifndef WT_NN_LINEAR_PACK_H
#define WT_NN_LINEAR_PACK_H

#include <stddef.h>

/* Floats of a packed matrix of that shape, [ceil(O / WT_PANEL)][I][WT_PANEL], zero beyond O; 0 on overflow. */
size_t wt__linear_packed_size(size_t out, size_t in);

/* packed: [wt__linear_packed_size()]. w: rows of `in` floats, row_stride apart. */
void wt__linear_pack(float *packed, const float *w, size_t row_stride, size_t out, size_t in);

#endif
