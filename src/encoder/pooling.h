/* pooling.h: one vector of a sequence's hidden states, as the model's configuration says: their mean, or the first. */
#ifndef WT_ENCODER_POOLING_H
#define WT_ENCODER_POOLING_H

#include <stddef.h>

#include "encoder/config.h"

/* out [H] of x [T, H], rows stride apart. Not brought to length one. */
void wt__pool_forward(const struct model_config *config, const float *x, size_t stride, size_t t, float *out);

/* dx += what the gradient dout [H] is to the rows. */
void wt__pool_backward(const struct model_config *config, const float *dout, float *dx, size_t stride, size_t t);

#endif
