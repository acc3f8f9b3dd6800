/* weights.h: the tensors of a model, their names in files, and their places in memory. One table serves packing,
 * training and saving.
 *
 * A part is one matrix or vector. Several tensors of a file may form one part, one below the other (query, key and
 * value), so that one product serves them. There are two layouts:
 *
 *   LAYOUT_FILES   row-major matrices, as in the files; for training
 *   LAYOUT_PACKED  linear layers in the panels of the kernels, and the keys and queries of DeBERTa's distances
 *                  precomputed; for mapping and inference
 *
 * Memory has three runs of floats: the word embeddings, the other parts of the model, and the layers one after the
 * other. Each part starts on a cache line. If a file has all matrices of the layers as I8, LAYOUT_PACKED has a fourth
 * run: for each layer, the matrices in the panels of nn/linear_bytes.h and a copy of its vectors, so that int8 products
 * do not touch the third run. */
#ifndef WT_ENCODER_WEIGHTS_H
#define WT_ENCODER_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "encoder/transformer.h"

enum weight_part {
    /* outside the layers */
    WEIGHT_POSITIONS,
    WEIGHT_TYPES,
    WEIGHT_PROJECTION,
    WEIGHT_GAIN,
    WEIGHT_BIAS,
    WEIGHT_RELATIVE,
    WEIGHT_RELATIVE_GAIN,
    WEIGHT_RELATIVE_BIAS,
    WEIGHT_CONVOLUTION,
    WEIGHT_CONVOLUTION_BIAS,
    WEIGHT_CONVOLUTION_NORM_GAIN,
    WEIGHT_CONVOLUTION_NORM_BIAS,
    WEIGHT_POOLER, /* head of one output */
    WEIGHT_POOLER_BIAS,
    WEIGHT_SCORE,
    WEIGHT_SCORE_BIAS,
    WEIGHT_MODEL_PARTS,
    /* parts of each layer */
    WEIGHT_QKV = WEIGHT_MODEL_PARTS,
    WEIGHT_QKV_BIAS,
    WEIGHT_DISTANCE_KEY,
    WEIGHT_DISTANCE_KEY_BIAS,
    WEIGHT_DISTANCE_QUERY,
    WEIGHT_DISTANCE_QUERY_BIAS,
    WEIGHT_DISTANCES, /* computed when packing */
    WEIGHT_OUT,
    WEIGHT_OUT_BIAS,
    WEIGHT_FIRST_GAIN,
    WEIGHT_FIRST_BIAS,
    WEIGHT_UP,
    WEIGHT_UP_BIAS,
    WEIGHT_DOWN,
    WEIGHT_DOWN_BIAS,
    WEIGHT_SECOND_GAIN,
    WEIGHT_SECOND_BIAS,
    WEIGHT_PARTS,
    /* the run of word embeddings */
    WEIGHT_WORDS = WEIGHT_PARTS
};

enum weight_layout { LAYOUT_FILES, LAYOUT_PACKED };

/* Offsets of the parts in floats, from the start of the model's run or of their layer. */
struct weight_plan {
    size_t at[WEIGHT_PARTS];
    size_t words, model, layer;    /* floats of each run; `layer` of one layer */
    size_t bytes_at[WEIGHT_PARTS]; /* LAYOUT_PACKED: byte offsets of a layer's parts in the run of bytes */
    size_t bytes;                  /* bytes of a layer in that run */
};

void wt__weight_plan(struct weight_plan *out, const struct model_config *config, enum weight_layout layout);

/* Points a transformer at its weights. The runs must be 64-byte aligned and followed by WT_PANEL readable floats.
 * bytes: the run of bytes, or NULL. */
void wt__weights_bind(struct transformer *out, const struct model_config *config, enum weight_layout layout,
                      const float *words, const float *model, const float *layers, const unsigned char *bytes);

/* Packs the parts first .. end-1 of a run from LAYOUT_FILES, except for computed parts. */
void wt__weights_pack(const struct model_config *config, enum weight_part first, enum weight_part end,
                      const float *from, float *to);

/* Packs an int8 matrix [O, I] with a scale per row into its panels. layer: start of the layer in the run of bytes. */
void wt__weights_pack_bytes(const struct model_config *config, enum weight_part part, const int8_t *w,
                            const float *scales, unsigned char *layer);

/* Copies a layer's vectors from LAYOUT_PACKED to the run of bytes. */
void wt__weights_copy_vectors(const struct model_config *config, const float *from, unsigned char *to);

#define WEIGHT_NO_LAYER SIZE_MAX

/* A tensor of a file. */
struct weight_tensor {
    char name[160];
    enum weight_part part;
    size_t layer;               /* index, or WEIGHT_NO_LAYER */
    size_t offset;              /* in floats from the start of the part, row-major */
    size_t rows, columns, taps; /* see struct weight_shape */
    size_t count;               /* numbers */
};

/* Iterates over the tensors that a model with this configuration needs: the model's tensors with the word embeddings
 * first, then those of each layer. */
struct weight_walk {
    const struct model_config *config;
    const char *prefix; /* name prefix of the file, see wt__weights_prefix; a classifier's tensors have no prefix */
    size_t below;       /* layers of the file below the first layer of this model */
    size_t row, layer;
    struct weight_tensor tensor;
};

bool wt__weight_next(struct weight_walk *walk);

struct safetensors;
/* Returns the prefix of tensor names in a file: "", or "bert." and so on in models with a head. NULL if the file has no
 * word embeddings under a known name. */
const char *wt__weights_prefix(const struct safetensors *file, const struct model_config *config);
/* Returns the prefix in models with a head. */
const char *wt__weights_head_prefix(const struct model_config *config);

/* Reads a tensor of the right shape into out [count], a convolution in the order of nn/convolution.h. folder is for
 * messages. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__weight_read(const struct safetensors *file, const struct weight_tensor *tensor, const char *folder, float *out,
                    wt_error *err);

#endif
