/* upper_layers.h: the upper layers of a model as a model of their own, trained apart from what is below them: its rows
 * are hidden states of the lower layers, and whatever else is laid beside them.
 *
 * Their weights stand in a file of their own under the names of the whole model, with the tables of distances where the
 * architecture has some; the configuration is the whole model's. */
#ifndef WT_ENCODER_UPPER_LAYERS_H
#define WT_ENCODER_UPPER_LAYERS_H

#include "encoder/transformer.h"
#include "nn/safetensors.h"

struct upper_layers {
    struct transformer model; /* layers, and what their attention needs; no embeddings */
    float *memory;
};

/* The layers of `whole` from the first-th on, packed. folder is for messages. Errors: WT_EMODEL (a tensor is missing or
 * has another shape; there is no such layer; layer 0 has a convolution), WT_ENOMEM. */
int wt__upper_layers_open(struct upper_layers *out, const struct model_config *whole, size_t first,
                          const struct safetensors *file, const char *folder, wt_error *err);
void wt__upper_layers_close(struct upper_layers *upper);

/* Runs the rows of a batch, N of them in a->x, through the layers. ids of the batch are not looked at. */
void wt__upper_layers_forward(const struct upper_layers *upper, const struct token_batch *batch, struct activations *a);

#endif
