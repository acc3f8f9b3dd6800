/* head.h: what a classifier of one label makes of a sequence: a dense layer with its activation over the first row, and
 * a product that leaves one number. tanh in BERT, RoBERTa and MPNet, a rectifier in DistilBERT, GELU in DeBERTa. */
#ifndef WT_ENCODER_HEAD_H
#define WT_ENCODER_HEAD_H

#include <stddef.h>

#include "encoder/transformer.h"

/* logits [B] of the first rows x [B, H]; pooled [B, H] is left behind the activation. Rows of both are stride apart.
 * The model has a head: config.labels is 1. */
void wt__head_forward(const struct transformer *m, const float *x, size_t stride, size_t count, float *pooled,
                      float *logits);

#endif
