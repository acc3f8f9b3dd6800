/* attention.h: self-attention over one sequence. There are three kinds: plain attention, attention with the bias of
 * MPNet, and the disentangled attention of DeBERTa. Sequences are not padded, so there is no mask. */
#ifndef WT_NN_ATTENTION_H
#define WT_NN_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

/* Maps the distance between two tokens to a bucket, which is a row of a learned table. The distance is the position of
 * the query minus the position of the key, clamped to -reach .. reach. Each near distance has its own bucket. Farther
 * distances share logarithmic buckets. */
struct distances {
    const int32_t *bucket; /* [2 reach + 1] buckets of -reach .. reach, each 0 .. count - 1 */
    int32_t reach;
    int32_t count; /* rows of the learned table */
};

enum {
    DISTANCE_MPNET_BUCKETS = 32, /* the number in the reference code; models with another number are rejected */
    DISTANCE_MPNET_REACH = 128,
    DISTANCE_MAX_REACH = 1 << 20
};

/* Returns the index into `bucket` for the distance from row i (the query) to row j (the key). If positions is NULL, the
 * position of a row is its index. */
static inline size_t wt__distance_index(const int32_t *positions, size_t i, size_t j, int64_t reach)
{
    int64_t distance = positions ? (int64_t)positions[i] - positions[j] : (int64_t)i - (int64_t)j;
    return (size_t)((distance < -reach ? -reach : distance > reach ? reach : distance) + reach);
}

/* Fills the buckets of MPNet, as in T5. Keys at or before the query have 16 buckets: 8 for near distances, and 8
 * logarithmic buckets up to 128. Keys after the query have 16 more. bucket [2 DISTANCE_MPNET_REACH + 1] belongs to the
 * caller and must live as long as `out`. */
void wt__distances_mpnet(struct distances *out, int32_t *bucket);

/* Fills the buckets of DeBERTa-v2 and v3. buckets is position_buckets of the model's config. It must be even and 4 to
 * max, or at most 0. If it is at most 0, each distance has its own bucket. max is max_relative_positions of the config,
 * or max_position_embeddings if max_relative_positions is below 1. max must be 1 to DISTANCE_MAX_REACH. The learned
 * table has 2 * buckets rows, or 2 * max rows if buckets is not positive. bucket [2 max + 1] belongs to the caller
 * and must live as long as `out`. */
void wt__distances_deberta(struct distances *out, int32_t *bucket, int32_t buckets, int32_t max);

/* softmax(Q K^T / sqrt(d) + bias) V for each head. The bias is the relative bias of MPNet: one learned number per head
 * and distance bucket. */
struct attention {
    size_t heads; /* A */
    size_t width; /* d of one head; H = A d */

    const float *bias; /* [distances->count, A], or NULL for plain attention, which ignores the next two fields */
    const struct distances *distances;
    const int32_t *positions; /* [T] positions of the rows, or NULL for 0 .. T - 1 */
};

/* Returns the number of floats of scratch for sequences of up to t tokens, or 0 on overflow. */
size_t wt__attention_scratch(const struct attention *attention, size_t t);

/* Each row of qkv [T, 3 H] holds query, key and value side by side. WT_PANEL floats after its last row must be
 * readable. out is [T, H]. Strides are floats between rows. scratch is aligned to 64 bytes. */
void wt__attention_forward(const struct attention *attention, const float *qkv, size_t qkv_stride, float *out,
                           size_t out_stride, float *scratch, size_t t);

/* Returns the number of floats of scratch for the backward pass, or 0 on overflow. The scratch grows linearly with T,
 * as in the forward pass. */
size_t wt__attention_backward_scratch(const struct attention *attention, size_t t);

/* Computes the gradients of wt__attention_forward. The probabilities are computed again, one block of rows at a time.
 * dout [T, H] is the gradient of out. WT_PANEL floats after its last row must be readable. Overwrites dqkv [T, 3 H].
 * Adds to dbias [count, A], which is NULL if the bias is frozen or absent. */
void wt__attention_backward(const struct attention *attention, const float *qkv, size_t qkv_stride, const float *dout,
                            size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dbias, float *scratch,
                            size_t t);

/* A score has up to three parts, in this order: content to content, content to position, and position to content.
 *
 *   score[i,j] = (q[i] . k[j] + q[i] . PK[b] + k[j] . PQ[b]) / sqrt(d * parts)      b = bucket(position i - position j)
 *
 * PK and PQ [count, H] are the layer's key and query projections of the shared table of distances. Both position parts
 * read the same row b, as in the reference code of the models. The paper reverses the distance for position to content.
 */
struct disentangled {
    size_t heads; /* A */
    size_t width; /* d of one head; H = A d */

    const float *position_key;   /* PK [count, H], or NULL for no content-to-position part */
    const float *position_query; /* PQ [count, H], or NULL for no position-to-content part */
    size_t position_stride;      /* floats between rows of PK and PQ; WT_PANEL floats after the last are readable */
    const struct distances *distances;
    const int32_t *positions; /* [T] positions of the rows, or NULL for 0 .. T - 1 */
};

/* Return the number of floats of scratch for sequences of up to t tokens, or 0 on overflow. */
size_t wt__disentangled_scratch(const struct disentangled *d, size_t t);
size_t wt__disentangled_backward_scratch(const struct disentangled *d, size_t t);

/* qkv, out and scratch are as in wt__attention_forward. */
void wt__disentangled_forward(const struct disentangled *d, const float *qkv, size_t qkv_stride, float *out,
                              size_t out_stride, float *scratch, size_t t);

/* Overwrites dqkv [T, 3 H]. Adds to dposition_key and dposition_query [count, H], whose rows are position_stride apart.
 * Each is NULL if frozen. dout is as in wt__attention_backward. */
void wt__disentangled_backward(const struct disentangled *d, const float *qkv, size_t qkv_stride, const float *dout,
                               size_t dout_stride, float *dqkv, size_t dqkv_stride, float *dposition_key,
                               float *dposition_query, float *scratch, size_t t);

#endif
