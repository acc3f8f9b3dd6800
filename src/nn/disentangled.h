/* disentangled.h: the disentangled attention of DeBERTa. A score has up to three parts: content to content, content to
 * position, and position to content:
 *
 *   score[i,j] = (q[i] . k[j] + q[i] . PK[b] + k[j] . PQ[b]) / sqrt(d * parts)      b = bucket(position i - position j)
 *
 * PK and PQ [count, H] are the layer's key and query projections of the shared table of distances. Both parts read the
 * same row, as in the reference code of the models; the paper reverses the distance in p2c. */
#ifndef WT_NN_DISENTANGLED_H
#define WT_NN_DISENTANGLED_H

#include <stddef.h>
#include <stdint.h>

#include "nn/distance.h"

struct disentangled {
    size_t heads; /* A */
    size_t width; /* d of one head; H = A d */

    const float *position_key;   /* PK [count, H], or NULL for no content-to-position part */
    const float *position_query; /* PQ [count, H], or NULL for no position-to-content part */
    size_t position_stride;      /* floats between rows of PK and PQ; WT_PANEL floats after the last are readable */
    const struct distances *distances;
    const int32_t *positions; /* [T] positions of the rows, or NULL for 0 .. T - 1 */
};

/* Return the floats of scratch for sequences of up to t tokens, or 0 on overflow. */
size_t wt__disentangled_scratch(const struct disentangled *d, size_t t);
size_t wt__disentangled_backward_scratch(const struct disentangled *d, size_t t);

/* qkv, out and scratch are as in wt__attention_forward. */
void wt__disentangled_forward(const struct disentangled *d, const float *qkv, size_t qkv_stride, float *out,
                              size_t out_stride, float *scratch, size_t t);

/* Overwrites dqkv [T, 3 H]. Adds to dposition_key and dposition_query [count, H], rows position_stride apart (NULL if
 * frozen). */
void wt__disentangled_backward(const struct disentangled *d, const float *qkv, size_t qkv_stride, const float *dout,
                               size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dposition_key,
                               float *dposition_query, float *scratch, size_t t);

#endif
