/* disentangled.h: DeBERTa's attention, in which a score has up to three parts, content to content, content to position
 * and position to content:
 *
 *   score[i,j] = (q[i] . k[j] + q[i] . PK[b] + k[j] . PQ[b]) / sqrt(d * parts)      b = bucket(position i - position j)
 *
 * PK and PQ are the layer's own key and query projections of the shared table of distances, [count, H]; both parts read
 * the same row, as the models' reference code does (the paper's p2c has the distance the other way round). */
#ifndef WT_NN_DISENTANGLED_H
#define WT_NN_DISENTANGLED_H

#include <stddef.h>
#include <stdint.h>

#include "nn/distance.h"

struct disentangled {
    size_t heads; /* A */
    size_t width; /* d, of one head; H = A d */

    const float *position_key;   /* PK [count, H], or NULL: no content-to-position part */
    const float *position_query; /* PQ [count, H], or NULL: no position-to-content part */
    size_t position_stride;      /* floats between rows of either; WT_PANEL floats readable behind the last */
    const struct distances *distances;
    const int32_t *positions; /* [T] of this sequence's rows, or NULL: 0 .. T - 1 */
};

/* Floats of scratch that sequences of up to t tokens need, forward and backward; 0 on overflow. */
size_t wt__disentangled_scratch(const struct disentangled *d, size_t t);
size_t wt__disentangled_backward_scratch(const struct disentangled *d, size_t t);

/* qkv, out, scratch as of wt__attention_forward. */
void wt__disentangled_forward(const struct disentangled *d, const float *qkv, size_t qkv_stride, float *out,
                              size_t out_stride, float *scratch, size_t t);

/* dqkv [T, 3 H] is overwritten; dposition_key, dposition_query [count, H], rows position_stride apart, are added to
 * (NULL: frozen). */
void wt__disentangled_backward(const struct disentangled *d, const float *qkv, size_t qkv_stride, const float *dout,
                               size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dposition_key,
                               float *dposition_query, float *scratch, size_t t);

#endif
