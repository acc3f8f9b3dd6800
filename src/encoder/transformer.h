/* transformer.h: the post-norm transformer, forward and backward, over a ragged batch: BERT (Devlin et al. 2018),
 * DistilBERT, RoBERTa, MPNet (Song et al. 2020) and DeBERTa-v2/v3 (He et al. 2021), selected by configuration.
 *
 * The sequences of a batch are stored one after the other without padding, N rows in all, so that every linear layer is
 * one matrix product. Only attention and DeBERTa's convolution work on one sequence at a time. The result of a sequence
 * does not depend on its neighbours, to the last bit.
 *
 * In shapes, H is config.hidden, E is config.embedding, I is config.intermediate, S is config.span, V is
 * config.vocabulary and P is config.positions.
 *
 * Inference and training share the forward pass. In inference all layers share one set of buffers. For a backward pass
 * each layer keeps the inputs of its non-linear parts; the outputs of normalisations and activations are recomputed. */
#ifndef WT_ENCODER_TRANSFORMER_H
#define WT_ENCODER_TRANSFORMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "encoder/config.h"
#include "nn/layers.h"
#include "nn/attention.h"
#include "nn/safetensors.h"

struct transformer_layer {
    struct linear qkv;        /* [3 H, H] */
    struct linear out;        /* [H, H] */
    struct layer_norm first;  /* after attention */
    struct linear up, down;   /* [I, H], [H, I] */
    struct layer_norm second; /* after the feed-forward layers */
    /* DeBERTa: the layers that compute keys and queries of distances, [H, H]; the rows of qkv if the model shares
     * them. */
    struct linear distance_key, distance_query;
    /* Precomputed keys and queries of distances, [2 S, 2 H], next to each other in a row. NULL in training. */
    const float *distances;
};

/* Weights borrowed from the packed model or from a trainable one (linear layers row-major). Read-only, so any number of
 * threads may use them. Parts that the configuration lacks are NULL. */
struct transformer {
    struct model_config config;
    const float *words, *positions, *types; /* [V, E], [P, E], [types, E] */
    struct linear projection;               /* [H, E] if E differs from H */
    struct layer_norm norm;                 /* after the embeddings */
    const float *relative;                  /* MPNet [32, heads]; DeBERTa [2 S, H] */
    struct layer_norm relative_norm;        /* for DeBERTa's distances */
    struct convolution convolution;         /* DeBERTa-v2, parallel to layer 0; taps is 0 without a convolution */
    struct layer_norm convolution_norm;
    struct linear pooler, score; /* head of one output: [H, H], [1, H] */
    struct transformer_layer layers[MODEL_MAX_LAYERS];
};

struct token_batch {
    size_t count;             /* B sequences */
    const size_t *starts;     /* [B + 1] first row of each sequence; starts[B] = N */
    const int32_t *ids;       /* [N] below config.vocabulary, or -1 for the next row of `external` */
    const int32_t *types;     /* [N] below config.types, or NULL if all are 0 */
    const int32_t *positions; /* [N] positions in the sequence, which may repeat; NULL for 0, 1, .. in each sequence */
    const float *external;    /* [number of ids of -1, H] inserted after the embeddings' normalisation; may be NULL */
};

/* Data that a layer keeps for its backward pass. In inference all layers share the buffers. */
struct layer_activations {
    float *qkv;       /* [N, 3 H] */
    float *context;   /* [N, H] output of attention */
    float *attended;  /* [N, H] input of the first normalisation */
    float *inner;     /* [N, I] input of the activation */
    float *summed;    /* [N, H] input of the second normalisation */
    float *distances; /* DeBERTa in training: keys and queries of distances, [2 S, 2 H] */
};

struct activation_limits {
    size_t rows;    /* N of a batch */
    size_t longest; /* rows of the longest sequence */
    bool bytes;     /* use int8 products if the model has int8 matrices and the processor is faster with them */
};

/* Buffers of one thread. Buffers that a model does not need are NULL. */
struct activations {
    size_t stride, qkv_stride, wide_stride, narrow_stride; /* floats between rows of [N, H], [N, 3 H], [N, I], [N, E] */
    bool kept;                  /* true if each layer has its own buffers, so that a backward pass can follow */
    float *x;                   /* [N, H] hidden state */
    float *wide;                /* [N, I] output of the activation */
    float *narrow;              /* [N, E] embeddings before the projection */
    float *embedded;            /* [N, H] input of the embeddings' normalisation */
    float *convolved, *joined;  /* [N, H] convolution before its activation; input of its normalisation */
    float *relative;            /* DeBERTa in training: distances as the layers use them, [2 S, H] */
    float *scratch;             /* for attention */
    unsigned char *bytes;       /* rows as int8, for int8 products; else NULL */
    struct distances distances; /* buckets for attention */
    struct layer_activations layers[MODEL_MAX_LAYERS];

    /* Gradients, in a backward pass. */
    float *dx, *dy, *dwide;      /* [N, H], [N, H], [N, max(3 H, I)] */
    float *dnarrow, *dconvolved; /* [N, E], [N, H] */
    float *drelative, *dcopy;    /* [2 S, H] */
    float *ddistances;           /* [2 S, 2 H] */
};

/* Places the buffers in `memory`, which must be 64-byte aligned. If memory is NULL, only counts. Returns the number of
 * floats, or 0 on overflow. */
size_t wt__activations_place(struct activations *out, const struct transformer *m,
                             const struct activation_limits *limits, bool kept, float *memory);

/* Runs all layers; the hidden state is in a->x. */
void wt__transformer_forward(const struct transformer *m, const struct token_batch *batch, struct activations *a);

/* Runs all layers but computes only the first row of each sequence in the last layer; a->x [B, H] holds these rows.
 * Equal to wt__transformer_forward to the last bit. For inference only. */
void wt__transformer_forward_first(const struct transformer *m, const struct token_batch *batch, struct activations *a);

/* The steps of wt__transformer_forward: the embeddings, and one layer, both in a->x. */
void wt__embedding_forward(const struct transformer *m, const struct token_batch *batch, struct activations *a);
void wt__layer_forward(const struct transformer *m, size_t layer, const struct token_batch *batch,
                       struct activations *a);

/* Computes a layer's keys and queries of the distances, out [2 S, 2 H], from relative [2 S, H]. */
void wt__distances_forward(const struct transformer *m, size_t layer, const float *relative, float *out);

/* Computes the distances as the layers use them, relative [2 S, H]. */
void wt__relative_forward(const struct transformer *m, float *relative);

/* Destination of gradients: a weight at weights + i has its gradient at sums + i. */
struct gradient_sums {
    const float *weights;
    float *sums;
    bool embeddings;    /* compute gradients of weights outside the layers; then first_layer is 0 */
    size_t first_layer; /* first layer to compute gradients for */
};

/* Backward pass after a forward pass with kept activations; a->dx is the gradient of the hidden state. If
 * sums->embeddings, sets *embedded to the gradient of the sum of the embeddings, [N, E] with rows *stride floats apart.
 * The rows of external inputs are zero. The caller adds *embedded to the gradients of the word embeddings. dexternal
 * receives the gradients of external rows, with rows a->stride floats apart; it may be NULL. */
void wt__transformer_backward(const struct transformer *m, const struct token_batch *batch, struct activations *a,
                              const struct gradient_sums *sums, float *dexternal, const float **embedded,
                              size_t *stride);

/* Runs the head of a classifier with one label on first rows x [B, H]: a dense layer with its activation (tanh in BERT,
 * RoBERTa and MPNet, ReLU in DistilBERT, GELU in DeBERTa), then a product to one number. Writes logits [B], and the
 * activation's output to pooled [B, H]. Rows of x and pooled are `stride` apart. config.labels must be 1. */
void wt__head_forward(const struct transformer *m, const float *x, size_t stride, size_t count, float *pooled,
                      float *logits);

/* Pools x [T, H], with rows `stride` apart, into out [H]. The result is not normalised. */
void wt__pool_forward(const struct model_config *config, const float *x, size_t stride, size_t t, float *out);

/* Adds the gradient of the rows to dx, given the gradient dout [H] of the result. */
void wt__pool_backward(const struct model_config *config, const float *dout, float *dx, size_t stride, size_t t);

/* The upper layers of an encoder, trained as a model of their own. The input rows are hidden states of the lower
 * layers, and other rows that the caller adds. A separate file holds the weights of the upper layers under the tensor
 * names of the whole model, and the tables of distances if the architecture has them. The configuration is that of the
 * whole model. */
struct upper_layers {
    struct transformer model; /* layers and their attention tables, without embeddings */
    float *memory;
};

/* Opens and packs the layers of `whole` from layer `first` on. folder is for messages. Errors: WT_EMODEL (a tensor is
 * missing or has the wrong shape, there is no such layer, or layer 0 has a convolution), WT_ENOMEM. */
int wt__upper_layers_open(struct upper_layers *out, const struct model_config *whole, size_t first,
                          const struct safetensors *file, const char *folder, wt_error *err);
void wt__upper_layers_close(struct upper_layers *upper);

/* Runs the N rows in a->x through the layers. The ids of the batch are ignored. */
void wt__upper_layers_forward(const struct upper_layers *upper, const struct token_batch *batch, struct activations *a);

#endif
