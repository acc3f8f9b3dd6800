/* trainable_inside.h: the struct shared by trainable.c and trainable_save.c. */
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
    void *memory[2];            /* allocations of weights and gradients */
    uint8_t *touched;           /* [V] 1 for each row of the word embeddings with a gradient */
    struct parameter *parameters;
    struct weight_tensor *tensors; /* [count] tensors of the parameters */
    size_t count;
    size_t below;    /* layers of the files that are below the first layer here */
    bool upper;      /* true if only upper layers were opened */
    bool scorer;     /* true with a head */
    uint64_t seed;   /* for initialising a head */
    bool embeddings; /* true if the embeddings are trained */
    size_t first_layer;
    struct buffer blob;
    struct tokenizer tokenizer;
    struct model_prompts prompts;
    struct arena arena;
};

#endif
