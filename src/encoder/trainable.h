/* trainable.h: a model directory opened for training.
 *
 *   wt__trainable_open(&t, folder, err)              weights in one arena, in the layout of the files
 *   wt__tape_new(&tape, t, &limits, err)             a worker: all memory of its steps, in one block
 *   wt__gradients_new(&g, t, first, rows, err)       a worker: where its gradients are added up
 *   per step, each worker on whole sequences of the batch:
 *     wt__trainable_forward(t, batch, tape)          -> tape->last; the caller adds into tape->dlast
 *     wt__trainable_backward(t, batch, tape, g)      adds into g, writes tape->dexternal
 *   wt__gradients_reduce(t, g, workers, part, parts) all workers' sums into the parameters' gradients
 *   an optimiser's step over wt__trainable_parameters, then wt__gradients_clear of nn/adamw.h
 *   wt__trainable_save(t, source, out, members, err) a directory that the reference libraries load
 *
 * The same seed and number of workers give the same bits: each worker adds in the order of its rows, and workers are
 * added in their order, whatever `parts` is. */
#ifndef WT_ENCODER_TRAINABLE_H
#define WT_ENCODER_TRAINABLE_H

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"
#include "encoder/prompts.h"
#include "encoder/transformer.h"
#include "nn/adamw.h"

struct trainable;
struct gradients;
struct tokenizer;

/* Errors: WT_EMODEL, WT_ENOMEM. */
int wt__trainable_open(struct trainable **out, const char *folder, wt_error *err);
/* The layers above the first `below` alone (a convolution belongs to layer 0), for batches whose rows are all external:
 * hidden states of what is below. Parameters have their names without what stands before every name in some files.
 * Not for wt__trainable_save. */
int wt__trainable_open_upper(struct trainable **out, const char *folder, size_t below, wt_error *err);
/* The whole model with a head of one number behind it (transformer.h). What the files lack of the head, or have for
 * other labels, begins as numbers drawn by the seed; it learns at TRAINABLE_HEAD_RATE times the rate. Parameters have
 * the names of ...ForSequenceClassification, and wt__trainable_save leaves such a model: nothing of
 * sentence-transformers, no tensor but the parameters. */
int wt__trainable_open_scorer(struct trainable **out, const char *folder, uint64_t seed, wt_error *err);
enum { TRAINABLE_HEAD_RATE = 10 };
void wt__trainable_close(struct trainable *t);

/* Lets the products of its layers round to bfloat16, where the processor is faster at that (nn/matrix.h). */
void wt__trainable_reduce(struct trainable *t);

const struct model_config *wt__trainable_config(const struct trainable *t); /* hidden, max_tokens, pooling, ... */
const struct tokenizer *wt__trainable_tokenizer(const struct trainable *t);
const struct model_prompts *wt__trainable_prompts(const struct trainable *t);

/* The parameters under the names that their tensors have in the source's weights, in a fixed order, numbers as they
 * stand there (a convolution's taps outermost); all of it belongs to t. value may be changed between steps. The word
 * embeddings come first and mark the rows that have a gradient. Frozen ones are marked. No decay on biases and
 * norms. */
void wt__trainable_parameters(struct trainable *t, struct model_parameter **list, size_t *count);

/* [CLS] text [SEP] (or the model's own frame), at most max_tokens ids, which may not be beyond config's max_tokens.
 * Returns how many were written. Any thread. */
size_t wt__trainable_tokenize(const struct trainable *t, struct str text, size_t max_tokens, int32_t *ids);

/* The embeddings and the first `layers` layers get no gradients (0: the embeddings alone); the backward pass ends
 * there, unless external rows want theirs. All are trained at first. Set before tapes and gradients are made. */
void wt__trainable_freeze(struct trainable *t, size_t layers);

/* What the largest batch of one worker has. */
struct tape_limits {
    size_t rows;     /* N */
    size_t longest;  /* rows of one sequence, external ones included */
    size_t external; /* external rows of a batch, 0 where there are none */
};

/* What one worker's forward leaves for its backward. All matrices have rows `stride` floats apart. */
struct tape {
    size_t stride;
    const float *last; /* [N, H] the last hidden state, from forward until backward */
    float *dlast;      /* [N, H] its gradient: zero after forward, the caller's to fill, spent by backward */
    float *dexternal;  /* [E, H] written by backward, rows stride apart as well */
    struct tape_inside *inside;
};

/* Bytes that wt__tape_new takes for these limits; SIZE_MAX when it is beyond any memory. */
size_t wt__tape_bytes(const struct trainable *t, const struct tape_limits *limits);
/* Errors: WT_ENOMEM. */
int wt__tape_new(struct tape **out, const struct trainable *t, const struct tape_limits *limits, wt_error *err);
void wt__tape_free(struct tape *tape);

/* first: this worker's sums are the parameters' own gradients (exactly one worker of a step, the first of the list).
 * The others have their own memory. rows: most rows of a batch between two reductions. Errors: WT_ENOMEM. */
int wt__gradients_new(struct gradients **out, struct trainable *t, bool first, size_t rows, wt_error *err);
size_t wt__gradients_bytes(const struct trainable *t, bool first, size_t rows);
void wt__gradients_free(struct gradients *g);

/* The batch must keep inside the tape's limits. A row's ids, types and positions must keep inside the model's tables.
 * Neither can fail. */
void wt__trainable_forward(const struct trainable *t, const struct token_batch *batch, struct tape *tape);
void wt__trainable_backward(const struct trainable *t, const struct token_batch *batch, struct tape *tape,
                            struct gradients *g);

/* A scorer's head. The caller gathers first rows x [B, H] of sequences, and adds dx to their gradients. */
struct head_rows {
    size_t count;          /* B */
    float *x;              /* [B, H] */
    float *inner, *active; /* [B, H] the dense layer before and behind its activation */
    float *logits;         /* [B] */
    float *dlogits;        /* [B] */
    float *dx;             /* [B, H] */
};
/* inner, active and logits from x. */
void wt__trainable_head_forward(const struct trainable *t, struct head_rows *rows);
/* dx from dlogits; active is spent. The head's gradients are added to the parameters' own: not while the first worker
 * of a step runs backward. */
void wt__trainable_head_backward(struct trainable *t, struct head_rows *rows);

/* What makes the number of the head's active row: weights [H] and a constant, the caller's to change between steps. */
void wt__trainable_score(struct trainable *t, float **weights, float **constant);

/* Adds the sums of workers 1 .. count-1 to the parameters' gradients and clears them: slice `part` of `parts`, so that
 * threads can share the work. All slices must be done before the next step. */
void wt__gradients_reduce(struct trainable *t, struct gradients *const *workers, size_t count, size_t part,
                          size_t parts);

struct tensor_source;
/* The i-th parameter in the shape of its tensor, for a file of one's own; not of a convolution. */
struct tensor_source wt__trainable_tensor(const struct trainable *t, size_t i);

/* Writes the model to the folder `out`, made where it is missing: model.safetensors under the source's names (tensors
 * that are not trained are copied), config.json of the source with `members` (an object, may be NULL) below
 * "whichtool", and the tokenizer's and sentence-transformers' files of the source. Each file is replaced in one step,
 * the weights last but config.json. Errors: WT_EIO, WT_EFULL, WT_EREADONLY, WT_EMODEL, WT_ENOMEM. */
int wt__trainable_save(const struct trainable *t, const char *source, const char *out, const json_t *members,
                       wt_error *err);

#endif
