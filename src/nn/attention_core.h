/* attention_core.h: the common part of all attentions, softmax((Q K^T + terms) * scale) V for each head, and its
 * backward. An architecture adds terms to the scores (MPNet's bias, DeBERTa's positions) by callbacks for forward and
 * backward.
 *
 * Both products of attention run on the matrix kernel. K is packed into panels, one head at a time; V already has the
 * layout of the kernel's right side. Scores are computed in blocks of rows, so scratch grows linearly with T, and a
 * block is still in the cache for the softmax and the product with V. */
#ifndef WT_NN_ATTENTION_CORE_H
#define WT_NN_ATTENTION_CORE_H

#include <stdbool.h>
#include <stddef.h>

enum { ATTENTION_BLOCK = 48 }; /* rows of scores in a block */

struct score_block {
    size_t head, row, rows; /* rows row .. row + rows - 1 of the scores of `head` */
    size_t t, stride;       /* scores [rows, T], stride floats apart */
};

struct score_terms {
    /* Called before the first block of a head. */
    void (*begin)(void *context, size_t head);
    /* Adds the terms of the block to its scores. */
    void (*add)(void *context, const struct score_block *block, float *scores);
    /* d is the gradient of the block's scores. dqkv already holds its effect on q, k and v: for q of this block, for k
     * and v of all blocks so far. */
    void (*add_backward)(void *context, const struct score_block *block, const float *d);
    /* Called after the last block of a head, in the backward pass only. */
    void (*end_backward)(void *context, size_t head);
    void *context;
};

struct attention_core {
    size_t heads, width;
    float scale;
    const struct score_terms *terms; /* NULL for plain attention */
};

/* Return the floats of scratch, or 0 on overflow. */
size_t wt__attention_core_scratch(const struct attention_core *core, size_t t);
size_t wt__attention_core_backward_scratch(const struct attention_core *core, size_t t);

/* Parameters as in attention.h. */
void wt__attention_core_forward(const struct attention_core *core, const float *qkv, size_t qkv_stride, float *out,
                                size_t out_stride, float *scratch, size_t t);
void wt__attention_core_backward(const struct attention_core *core, const float *qkv, size_t qkv_stride,
                                 const float *dout, size_t dout_stride, float *dqkv, size_t dqkv_stride, float *scratch,
                                 size_t t);

/* Small products for attention. `onto` adds to c. WT_PANEL floats after the last row of an unpacked w must be
 * readable. */
struct matrix_view {
    const float *at;
    size_t stride; /* floats between rows */
};
/* Computes c [t,o] = a [t,k] w with packed w [k,o]. */
void wt__times_packed(struct matrix_view a, const float *packed, float *c, size_t c_stride, size_t t, size_t k,
                      size_t o);
/* Computes c [t,o] = a [t,k] w with w [k,o] read in place. */
void wt__times_rows(struct matrix_view a, struct matrix_view w, bool onto, float *c, size_t c_stride, size_t t,
                    size_t k, size_t o);
/* Computes c [t,o] = a^T w for a [k,t], with w [k,o] read in place. */
void wt__transposed_times_rows(struct matrix_view a, struct matrix_view w, bool onto, float *c, size_t c_stride,
                               size_t t, size_t k, size_t o);

/* Adds rows * columns to *sum. Returns 0, or -1 on overflow. */
int wt__scratch_add(size_t *sum, size_t rows, size_t columns);

#endif
