/* transformer.h: the post-norm transformer, forward and backward, over a ragged batch: BERT (Devlin et al. 2018),
 * DistilBERT, RoBERTa, MPNet (Song et al. 2020) and DeBERTa-v2/v3 (He et al. 2021), which differ by configuration only.
 *
 * The sequences of a batch lie behind each other without padding, N rows in all, so that every linear layer is one
 * matrix product over all of them; only attention and DeBERTa's convolution look at one sequence at a time. A
 * sequence's result does not depend on its neighbours, to the last bit.
 *
 * One forward serves inference and training. In inference all layers share one set of buffers; for a backward pass each
 * layer keeps the inputs of its non-linear parts, and what follows from those by one normalisation or one activation
 * is made again on the way back. */
#ifndef WT_ENCODER_TRANSFORMER_H
#define WT_ENCODER_TRANSFORMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "encoder/config.h"
#include "nn/layers.h"
#include "nn/attention.h"

struct transformer_layer {
    struct linear qkv;        /* [3 H, H] */
    struct linear out;        /* [H, H] */
    struct layer_norm first;  /* behind attention */
    struct linear up, down;   /* [I, H], [H, I] */
    struct layer_norm second; /* behind the feed-forward part */
    /* DeBERTa: what makes the keys and queries of distances, [H, H]; the rows of qkv where the model shares them. */
    struct linear distance_key, distance_query;
    /* The same made once for all, [2 S, 2 H]: keys and queries beside each other. NULL in training. */
    const float *distances;
};

/* Weights, all borrowed: from the packed model, or from a trainable one (linear layers row-major). Immutable while it
 * is used: any number of threads may. What a configuration lacks is NULL. */
struct transformer {
    struct model_config config;
    const float *words, *positions, *types; /* [V, E], [P, E], [types, E] */
    struct linear projection;               /* [H, E] where E is not H */
    struct layer_norm norm;                 /* behind the embeddings */
    const float *relative;                  /* MPNet [32, A]; DeBERTa [2 S, H] */
    struct layer_norm relative_norm;        /* of DeBERTa's distances */
    struct convolution convolution;         /* DeBERTa-v2, beside layer 0; taps 0 where there is none */
    struct layer_norm convolution_norm;
    struct linear pooler, score; /* a head of one number: [H, H], [1, H] */
    struct transformer_layer layers[MODEL_MAX_LAYERS];
};

struct token_batch {
    size_t count;             /* B sequences */
    const size_t *starts;     /* [B + 1] where each begins; starts[B] = N */
    const int32_t *ids;       /* [N] below config.vocabulary, or -1: the next row of `external` */
    const int32_t *types;     /* [N] below config.types, or NULL where all are 0 */
    const int32_t *positions; /* [N] place inside the sequence, rows may share one; NULL: 0, 1, .. in each sequence */
    const float *external;    /* [E, H], joins behind the embedding layer, skipping its normalisation; may be NULL */
};

/* What one layer leaves for its backward pass. In inference all layers share the same. */
struct layer_activations {
    float *qkv;       /* [N, 3 H] */
    float *context;   /* [N, H] what attention mixed */
    float *attended;  /* [N, H] input of the first normalisation */
    float *inner;     /* [N, I] input of the activation */
    float *summed;    /* [N, H] input of the second normalisation */
    float *distances; /* DeBERTa in training: keys and queries of distances [2 S, 2 H] */
};

struct activation_limits {
    size_t rows;    /* N of a batch */
    size_t longest; /* rows of one sequence */
    bool bytes;     /* linear layers multiply bytes, where the model has them and the processor is faster with them */
};

/* One thread's buffers. What a model does not need is NULL. */
struct activations {
    size_t stride, qkv_stride, wide_stride, narrow_stride; /* floats between rows of [N, H], [N, 3 H], [N, I], [N, E] */
    bool kept;                                             /* each layer has its own: a backward pass can follow */
    float *x;                                              /* [N, H] the hidden state */
    float *wide;                                           /* [N, I] behind the activation */
    float *narrow;                                         /* [N, E] embeddings before a projection */
    float *embedded;                                       /* [N, H] input of the embeddings' normalisation */
    float *convolved, *joined;  /* [N, H] the convolution before its activation; input of its normalisation */
    float *relative;            /* DeBERTa in training: [2 S, H] distances as the layers see them */
    float *scratch;             /* of attention */
    unsigned char *bytes;       /* rows as bytes, for linear layers that multiply those; else NULL */
    struct distances distances; /* the buckets that attention reads */
    struct layer_activations layers[MODEL_MAX_LAYERS];

    /* Gradients on their way back. */
    float *dx, *dy, *dwide;      /* [N, H], [N, H], [N, max(3 H, I)] */
    float *dnarrow, *dconvolved; /* [N, E], [N, H] */
    float *drelative, *dcopy;    /* [2 S, H] */
    float *ddistances;           /* [2 S, 2 H] */
};

/* Lays out the buffers from `memory` on, which is on a 64-byte boundary; with memory NULL it only counts. Returns
 * floats, or 0 where that is beyond any memory. */
size_t wt__activations_place(struct activations *out, const struct transformer *m,
                             const struct activation_limits *limits, bool kept, float *memory);

/* The hidden state is left in a->x. */
void wt__transformer_forward(const struct transformer *m, const struct token_batch *batch, struct activations *a);

/* The same where only the first row of each sequence is wanted: the last layer makes no other, and those lie behind
 * each other, a->x [B, H]. Equal to the last bit. For inference only. */
void wt__transformer_forward_first(const struct transformer *m, const struct token_batch *batch, struct activations *a);

/* Its two steps, for those who look at what is between: a->x behind the embeddings, and through one layer. */
void wt__embedding_forward(const struct transformer *m, const struct token_batch *batch, struct activations *a);
void wt__layer_forward(const struct transformer *m, size_t layer, const struct token_batch *batch,
                       struct activations *a);

/* out [2 S, 2 H]: the keys and queries that a layer makes of the distances, relative [2 S, H]. */
void wt__distances_forward(const struct transformer *m, size_t layer, const float *relative, float *out);

/* relative [2 S, H]: the distances as the layers see them. */
void wt__relative_forward(const struct transformer *m, float *relative);

/* Where gradients are added up: that of a weight lies as far behind `sums` as the weight lies behind `weights`. */
struct gradient_sums {
    const float *weights;
    float *sums;
    bool embeddings;    /* wanted for what belongs to no layer; then for all layers */
    size_t first_layer; /* wanted from this layer on */
};

/* a->dx: the gradient of the hidden state, after a forward with kept activations. Leaves the gradient of the sum of the
 * embeddings in *embedded (rows [N, E] *stride apart, zero for external ones; valid when the embeddings' are wanted):
 * adding it to the words' rows is the caller's. dexternal: [E, H] rows a->stride apart, or NULL. */
void wt__transformer_backward(const struct transformer *m, const struct token_batch *batch, struct activations *a,
                              const struct gradient_sums *sums, float *dexternal, const float **embedded,
                              size_t *stride);

/* What a classifier of one label makes of a sequence: a dense layer with its activation over the first row (tanh in
 * BERT, RoBERTa and MPNet, a rectifier in DistilBERT, GELU in DeBERTa), and a product that leaves one number. logits
 * [B] of the first rows x [B, H]; pooled [B, H] is left behind the activation. Rows of both are stride apart. The model
 * has a head: config.labels is 1. */
void wt__head_forward(const struct transformer *m, const float *x, size_t stride, size_t count, float *pooled,
                      float *logits);

#endif
