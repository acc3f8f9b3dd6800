/* attention_core.h: what all attentions share, softmax((Q K^T + terms) * scale) V a head and its backward. The terms
 * are what an architecture adds to the scores (MPNet's bias, DeBERTa's positions); each keeps its own forward and
 * backward.
 *
 * Both products of attention run on the matrix kernel. K is packed into panels, a head at a time; V already lies as the
 * kernel wants its right side. Rows of scores are made in blocks, so that scratch grows with T and not with its square,
 * and a block is still in the cache when softmax and V come to it. */
#ifndef WT_NN_ATTENTION_CORE_H
#define WT_NN_ATTENTION_CORE_H

#include <stdbool.h>
#include <stddef.h>

enum { ATTENTION_BLOCK = 48 }; /* rows of scores at a time */

struct block {
    size_t head, row, rows; /* rows row .. row + rows - 1 of that head's scores */
    size_t t, stride;       /* scores [rows, T], stride floats apart */
};

struct score_terms {
    /* A head begins; called before its first block. */
    void (*begin)(void *context, size_t head);
    /* scores += the terms of that block */
    void (*add)(void *context, const struct block *block, float *scores);
    /* d: the gradient of the block's scores. The gradients of q, k and v that they cause are already in dqkv, those of
     * k and v up to this block. */
    void (*add_backward)(void *context, const struct block *block, const float *d);
    /* After the last block of a head; only of the backward. */
    void (*end_backward)(void *context, size_t head);
    void *context;
};

struct attention_core {
    size_t heads, width;
    float scale;
    const struct score_terms *terms; /* NULL: none */
};

/* Floats of scratch; 0 on overflow. */
size_t wt__attention_core_scratch(const struct attention_core *core, size_t t);
size_t wt__attention_core_backward_scratch(const struct attention_core *core, size_t t);

/* As attention.h says. */
void wt__attention_core_forward(const struct attention_core *core, const float *qkv, size_t qkv_stride, float *out,
                                size_t out_stride, float *scratch, size_t t);
void wt__attention_core_backward(const struct attention_core *core, const float *qkv, size_t qkv_stride,
                                 const float *dout, size_t dout_stride, float *dqkv, size_t dqkv_stride, float *scratch,
                                 size_t t);

/* Small products of what attention has at hand; `onto` adds to c. Of rows read in place, WT_PANEL floats behind the
 * last must be readable. */
struct rows {
    const float *at;
    size_t stride;
};
/* c [t,o] = a [t,k] w, w [k,o] packed */
void wt__times_packed(struct rows a, const float *packed, float *c, size_t c_stride, size_t t, size_t k, size_t o);
/* c [t,o] = a [t,k] w, w [k,o] in place */
void wt__times_rows(struct rows a, struct rows w, bool onto, float *c, size_t c_stride, size_t t, size_t k, size_t o);
/* c [t,o] = a^T w, a [k,t], w [k,o] in place */
void wt__transposed_times_rows(struct rows a, struct rows w, bool onto, float *c, size_t c_stride, size_t t, size_t k,
                               size_t o);

/* Adds rows * columns floats to *sum; 0, or -1 on overflow. */
int wt__scratch_add(size_t *sum, size_t rows, size_t columns);

#endif
