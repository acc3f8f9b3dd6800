/* pooling.h: reduces the hidden states of a sequence to one vector: their mean or the first row, depending on the
 * configuration. */
#ifndef WT_ENCODER_POOLING_H
#define WT_ENCODER_POOLING_H

#include <stddef.h>

#include "encoder/config.h"

/* Pools x [T, H], with rows `stride` apart, into out [H]. The result is not normalised. */
void wt__pool_forward(const struct model_config *config, const float *x, size_t stride, size_t t, float *out);

/* Adds the gradient of the rows to dx, given the gradient dout [H] of the result. */
void wt__pool_backward(const struct model_config *config, const float *dout, float *dx, size_t stride, size_t t);

#endif
