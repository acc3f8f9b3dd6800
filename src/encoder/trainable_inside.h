/* trainable_inside.h: what trainable.c opens and trainable_save.c writes. */
#ifndef WT_ENCODER_TRAINABLE_INSIDE_H
#define WT_ENCODER_TRAINABLE_INSIDE_H

#include "base/buffer.h"
#include "encoder/trainable.h"
#include "encoder/weights.h"
#include "text/tokenizer.h"

struct trainable {
    struct transformer model;
    struct weight_plan plan;
    float *weights, *gradients; /* words, model, layers */
    void *memory[2];            /* where those begin */
    uint8_t *touched;           /* [V] */
    struct model_parameter *parameters;
    struct weight_tensor *tensors; /* [count] of the parameters */
    size_t count;
    size_t below;    /* layers of the files under the first of ours */
    bool upper;      /* only those above */
    bool scorer;     /* with a head */
    uint64_t seed;   /* of what a head begins as */
    bool embeddings; /* trained */
    size_t first_layer;
    struct buffer blob;
    struct tokenizer tokenizer;
    struct model_prompts prompts;
    struct arena arena;
};

#endif
