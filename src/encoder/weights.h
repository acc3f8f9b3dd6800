/* weights.h: which tensors a model has, under which names, and where they lie in memory. One table serves packing,
 * training and saving.
 *
 * A part is one matrix or vector of ours. Several tensors of a file may stand below each other in one part (query, key
 * and value), so that one product serves them. There are two layouts:
 *
 *   LAYOUT_FILES   matrices row-major, as in the files: what is trained
 *   LAYOUT_PACKED  linear layers in the panels that the kernels read, and what follows from weights alone (the keys
 *                  and queries of DeBERTa's distances) worked out: what is mapped and run
 *
 * Memory is three runs of floats: the word embeddings, the other parts of the model, and the layers, one behind the
 * other. Each part begins on a cache line. Where a file has the matrices of all layers as bytes (I8), there is a
 * fourth run when packed: of each layer the matrices in the panels of nn/layers.h, and its vectors once more, so
 * that who multiplies bytes touches nothing of the third. */
#ifndef WT_ENCODER_WEIGHTS_H
#define WT_ENCODER_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "encoder/transformer.h"

enum weight_part {
    /* of the model */
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
    WEIGHT_POOLER, /* of a head of one number */
    WEIGHT_POOLER_BIAS,
    WEIGHT_SCORE,
    WEIGHT_SCORE_BIAS,
    WEIGHT_MODEL_PARTS,
    /* of each layer */
    WEIGHT_QKV = WEIGHT_MODEL_PARTS,
    WEIGHT_QKV_BIAS,
    WEIGHT_DISTANCE_KEY,
    WEIGHT_DISTANCE_KEY_BIAS,
    WEIGHT_DISTANCE_QUERY,
    WEIGHT_DISTANCE_QUERY_BIAS,
    WEIGHT_DISTANCES, /* made when packing */
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
    /* apart from both */
    WEIGHT_WORDS = WEIGHT_PARTS
};

enum weight_layout { LAYOUT_FILES, LAYOUT_PACKED };

/* Where parts begin, in floats from the beginning of the model's run or of their layer. */
struct weight_plan {
    size_t at[WEIGHT_PARTS];
    size_t words, model, layer;    /* floats of each run; `layer` of one layer */
    size_t bytes_at[WEIGHT_PARTS]; /* LAYOUT_PACKED: where a layer's parts begin in the run of bytes ... */
    size_t bytes;                  /* ... of which a layer has so many */
};

void wt__weight_plan(struct weight_plan *out, const struct model_config *config, enum weight_layout layout);

/* Points a transformer at its weights, whose runs begin on 64-byte boundaries and are followed by WT_PANEL readable
 * floats. bytes: the run of bytes, or NULL. */
void wt__weights_bind(struct transformer *out, const struct model_config *config, enum weight_layout layout,
                      const float *words, const float *model, const float *layers, const unsigned char *bytes);

/* Takes the parts first .. end of a run from LAYOUT_FILES to LAYOUT_PACKED, but those that are made. */
void wt__weights_pack(const struct model_config *config, enum weight_part first, enum weight_part end,
                      const float *from, float *to);

/* A layer's matrix [O, I] from bytes with a scale a row to their panels. layer: where the layer's bytes begin. */
void wt__weights_pack_bytes(const struct model_config *config, enum weight_part part, const int8_t *w,
                            const float *scales, unsigned char *layer);

/* A layer's vectors, of LAYOUT_PACKED, to the run of bytes. */
void wt__weights_copy_vectors(const struct model_config *config, const float *from, unsigned char *to);

#define WEIGHT_NO_LAYER SIZE_MAX

/* One tensor of a file. */
struct weight_tensor {
    char name[160];
    enum weight_part part;
    size_t layer;               /* or WEIGHT_NO_LAYER */
    size_t offset;              /* in floats from the part's beginning, row-major */
    size_t rows, columns, taps; /* as weight_shape */
    size_t count;               /* numbers */
};

/* Walks the tensors that a model of this configuration needs: those of the model, words first, then layer by layer. */
struct weight_walk {
    const struct model_config *config;
    const char *prefix; /* before names, of the file, see wt__weights_prefix; a classifier's stand without */
    size_t below;       /* layers that the file has before this model's first */
    size_t row, layer;
    struct weight_tensor tensor;
};

bool wt__weight_next(struct weight_walk *walk);

struct safetensors;
/* What stands before the names in this file: "", or "bert." and the like in models with a head. NULL: the file has no
 * word embeddings under a known name. */
const char *wt__weights_prefix(const struct safetensors *file, const struct model_config *config);
/* What stands there in models with a head. */
const char *wt__weights_head_prefix(const struct model_config *config);

/* Reads one tensor, if it has the shape that it needs, to out [count] (a convolution in the order of
 * nn/layers.h). folder is for messages. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__weight_read(const struct safetensors *file, const struct weight_tensor *tensor, const char *folder, float *out,
                    wt_error *err);

#endif
