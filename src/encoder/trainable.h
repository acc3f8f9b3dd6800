/* trainable.h: a model folder opened for training.
 *
 *   wt__trainable_open(&t, folder, err)              weights in one block, in LAYOUT_FILES
 *   wt__tape_new(&tape, t, &limits, err)             per worker: the memory of its steps, in one block
 *   wt__gradients_new(&g, t, first, rows, err)       per worker: its sums of gradients
 *   per step, each worker on whole sequences of the batch:
 *     wt__trainable_forward(t, batch, tape)          -> tape->last; the caller adds into tape->dlast
 *     wt__trainable_backward(t, batch, tape, g)      adds into g, writes tape->dexternal
 *   wt__gradients_reduce(t, workers, count, ...)     adds all workers' sums to the parameters' gradients
 *   an optimiser step over wt__trainable_parameters, then wt__gradients_clear of nn/adamw.h
 *   wt__trainable_save(t, source, out, members, err) a folder that the reference libraries load
 *
 * The same seed and number of workers give the same bits: each worker adds in the order of its rows, and workers are
 * added in order, for any value of `parts`. */
#ifndef WT_ENCODER_TRAINABLE_H
#define WT_ENCODER_TRAINABLE_H

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"
#include "encoder/config.h"
#include "encoder/transformer.h"
#include "nn/adamw.h"

struct trainable;
struct gradients;
struct tokenizer;

/* Opens a whole model without a head. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__trainable_open(struct trainable **out, const char *folder, wt_error *err);
/* Opens only the layers above the first `below`, without a convolution, which belongs to layer 0. All rows of its
 * batches are external: hidden states of the layers below. Parameter names lack the prefix that some files use. Not for
 * wt__trainable_save. */
int wt__trainable_open_upper(struct trainable **out, const char *folder, size_t below, wt_error *err);
/* Opens the whole model with a head of one output (transformer.h). A head that is missing from the files, or has other
 * labels, is initialised from random numbers of the seed. The head learns at TRAINABLE_HEAD_RATE times the rate.
 * Parameters have the names of ...ForSequenceClassification; wt__trainable_save writes such a model, with only these
 * tensors and without the files of sentence-transformers. */
int wt__trainable_open_scorer(struct trainable **out, const char *folder, uint64_t seed, wt_error *err);
enum { TRAINABLE_HEAD_RATE = 10 };
void wt__trainable_close(struct trainable *t);

/* Allows the products of the layers to round to bfloat16 on processors where this is faster (nn/matrix.h). */
void wt__trainable_allow_bfloat16(struct trainable *t);

const struct model_config *wt__trainable_config(const struct trainable *t); /* hidden, max_tokens, pooling, ... */
const struct tokenizer *wt__trainable_tokenizer(const struct trainable *t);
const struct model_prompts *wt__trainable_prompts(const struct trainable *t);

/* Lists the parameters in a fixed order, under the tensor names of the source. The numbers of a parameter have the
 * order of the source, except that the taps of a convolution are outermost. t owns all memory. The caller may change
 * `value` between steps. The word embeddings come first and mark the rows that have a gradient. Frozen parameters are
 * marked. Biases and norms do not decay. */
void wt__trainable_parameters(struct trainable *t, struct model_parameter **list, size_t *count);

/* Writes [CLS] text [SEP], or the frame of the model, as at most max_tokens ids; max_tokens must not exceed the
 * configuration's. Returns the number of ids. Thread-safe. */
size_t wt__trainable_tokenize(const struct trainable *t, struct str text, size_t max_tokens, int32_t *ids);

/* Freezes the embeddings and the first `layers` layers (0 for only the embeddings). The backward pass stops there
 * unless external rows need gradients. By default all layers are trained. Call it before creating tapes and
 * gradients. */
void wt__trainable_freeze(struct trainable *t, size_t layers);

/* Removes all layers but the first `layers`, at least 1 and at most the model's. The saved model lacks them. Call it
 * before creating tapes and gradients. */
void wt__trainable_cut(struct trainable *t, size_t layers);

/* Size of the largest batch of a worker. */
struct tape_limits {
    size_t rows;     /* N */
    size_t longest;  /* rows of one sequence, external ones included */
    size_t external; /* external rows of a batch, or 0 */
};

/* Data that a worker's forward pass keeps for its backward pass. Rows of all matrices are `stride` floats apart. */
struct tape {
    size_t stride;
    const float *last; /* [N, H] last hidden state, valid from forward to backward */
    float *dlast;      /* [N, H] its gradient: zeroed by forward, filled by the caller, overwritten by backward */
    float *dexternal;  /* [external, H] gradient of external rows, written by backward */
    struct tape_buffers *buffers;
};

/* Returns the bytes that wt__tape_new allocates, or SIZE_MAX if they overflow. */
size_t wt__tape_bytes(const struct trainable *t, const struct tape_limits *limits);
/* Errors: WT_ENOMEM. */
int wt__tape_new(struct tape **out, const struct trainable *t, const struct tape_limits *limits, wt_error *err);
void wt__tape_free(struct tape *tape);

/* Creates the sums of a worker. `first`: the worker adds directly into the parameters' gradients; this is true for
 * exactly one worker of a step, the first of the list. rows: maximum rows of a batch between two reductions. Errors:
 * WT_ENOMEM. */
int wt__gradients_new(struct gradients **out, struct trainable *t, bool first, size_t rows, wt_error *err);
size_t wt__gradients_bytes(const struct trainable *t, bool first, size_t rows);
void wt__gradients_free(struct gradients *g);

/* The batch must be within the tape's limits, and its ids, types and positions within the model's tables. These
 * functions cannot fail. */
void wt__trainable_forward(const struct trainable *t, const struct token_batch *batch, struct tape *tape);
void wt__trainable_backward(const struct trainable *t, const struct token_batch *batch, struct tape *tape,
                            struct gradients *g);

/* Rows of a scorer's head. The caller copies the first rows of sequences to x [B, H], and adds dx to their
 * gradients. */
struct head_rows {
    size_t count;          /* B */
    float *x;              /* [B, H] */
    float *inner, *active; /* [B, H] output of the dense layer, before and after its activation */
    float *logits;         /* [B] */
    float *dlogits;        /* [B] */
    float *dx;             /* [B, H] */
};
/* Computes inner, active and logits from x. */
void wt__trainable_head_forward(const struct trainable *t, struct head_rows *rows);
/* Computes dx from dlogits, and overwrites `active`. Adds the head's gradients to the parameters, so it must not run
 * while the first worker runs backward. */
void wt__trainable_head_backward(struct trainable *t, struct head_rows *rows);

/* Returns the last layer of the head: weights [H] and a bias, which the caller may change between steps. */
void wt__trainable_score(struct trainable *t, float **weights, float **constant);

/* Adds the sums of workers 1 .. count-1 to the parameters' gradients and clears them, for slice `part` of `parts`, so
 * that threads can share the work. All slices must be complete before the next step. */
void wt__gradients_reduce(struct trainable *t, struct gradients *const *workers, size_t count, size_t part,
                          size_t parts);

struct tensor_source;
/* Returns the i-th parameter in the shape of its tensor, for writing it to another file. Not for a convolution. */
struct tensor_source wt__trainable_tensor(const struct trainable *t, size_t i);

/* Writes the model to the folder `out`, which is created if missing. model.safetensors has the tensor names of the
 * source; untrained tensors are copied. config.json is that of the source with `members` (an object or NULL) as
 * "whichtool". The files of the tokenizer and of sentence-transformers are copied. Each file is replaced in one step.
 * The weights are written last but one, and config.json last. Errors: WT_EIO, WT_EFULL, WT_EREADONLY, WT_EMODEL,
 * WT_ENOMEM. */
int wt__trainable_save(const struct trainable *t, const char *source, const char *out, const json_t *members,
                       wt_error *err);

#endif
