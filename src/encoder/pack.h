/* pack.h: from a model directory to the image of a packed model. */
#ifndef WT_ENCODER_PACK_H
#define WT_ENCODER_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

#define MODEL_WEIGHTS "model.safetensors"

/* A number that changes when one of the files that a packed model is made from is replaced or written: of their sizes,
 * inodes and times. Cheap enough for every start. Errors: WT_EMODEL (config, vocabulary or weights are missing). */
int wt__model_source_key(uint64_t *key, const char *folder, wt_error *err);

/* *image: len bytes on a 64-byte boundary, the caller's, ends with free(). progress is heard between the layers; may be
 * NULL. Errors: WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__model_pack(unsigned char **image, size_t *len, const char *folder, struct progress *progress, wt_error *err);

#endif
