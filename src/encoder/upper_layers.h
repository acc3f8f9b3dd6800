/* upper_layers.h: the upper layers of an encoder, trained as a model of their own. The input rows are hidden states of
 * the lower layers, and other rows that the caller adds.
 *
 * Their weights are in a separate file under the names of the whole model, with the tables of distances if the
 * architecture has them. The configuration is that of the whole model. */
#ifndef WT_ENCODER_UPPER_LAYERS_H
#define WT_ENCODER_UPPER_LAYERS_H

#include "encoder/transformer.h"
#include "nn/safetensors.h"

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
