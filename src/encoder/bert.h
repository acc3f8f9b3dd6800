/* bert.h: the forward pass of BERT (Devlin et al. 2018, section 3) over a ragged batch.
 *
 * The sequences of a batch lie behind each other without padding, N tokens in all, so that every linear layer is one
 * matrix product over all of them; only attention looks at one sequence at a time. A sequence's result does not
 * depend on its neighbours, to the last bit. */
#ifndef WT_ENCODER_BERT_H
#define WT_ENCODER_BERT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "encoder/config.h"
#include "nn/linear.h"
#include "nn/norm.h"

struct bert_layer {
    struct linear qkv;        /* [3 H, H] */
    struct linear out;        /* [H, H] */
    struct layer_norm first;  /* behind attention */
    struct linear up, down;   /* [I, H], [H, I] */
    struct layer_norm second; /* behind the feed-forward part */
};

/* Weights, all borrowed from the packed model. Immutable: any number of threads may use it. */
struct bert {
    struct model_config config;
    const float *words, *positions, *types; /* [V, H], [P, H], [types, H] */
    struct layer_norm norm;
    struct bert_layer layers[MODEL_MAX_LAYERS];
};

struct bert_batch {
    size_t count;         /* B sequences */
    const size_t *starts; /* [B + 1] where each begins; starts[B] = N */
    const int32_t *ids;   /* [N], all below config.vocabulary */
    const int32_t *types; /* [N], or NULL where all are 0 */
};

/* What one thread needs to run batches of up to `tokens` tokens with sequences of up to config.max_tokens. */
struct bert_scratch {
    size_t tokens;
    size_t stride, wide_stride; /* floats between rows */
    float *x;                   /* [N, H] the hidden state */
    float *context;             /* [N, H] */
    float *wide;                /* [N, max(3 H, I)] */
    float *attention;
};

/* Takes the scratch from the arena. Errors: WT_ENOMEM. */
int wt__bert_scratch_init(struct bert_scratch *out, const struct bert *bert, size_t tokens, struct arena *arena,
                          wt_error *err);

/* scratch->x = the normalised sum of the embeddings. */
void wt__bert_embed_forward(const struct bert *bert, const struct bert_batch *batch, struct bert_scratch *scratch);

/* scratch->x through one layer. */
void wt__bert_layer_forward(const struct bert *bert, size_t layer, const struct bert_batch *batch,
                            struct bert_scratch *scratch);

/* All of it: the last hidden state is left in scratch->x. */
void wt__bert_forward(const struct bert *bert, const struct bert_batch *batch, struct bert_scratch *scratch);

#endif
