/* pack.h: creates the image of a packed model from a model folder. */
#ifndef WT_ENCODER_PACK_H
#define WT_ENCODER_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

#define MODEL_WEIGHTS "model.safetensors"

/* Hashes the sizes, inodes and times of the files of a packed model, so that the key changes with every replaced or
 * written file. Cheap enough to compute on every start. Errors: WT_EMODEL (config or weights are missing). */
int wt__model_source_key(uint64_t *key, const char *folder, wt_error *err);

/* Packs a model. *image has len bytes, is 64-byte aligned, and is freed with free(). `progress` (may be NULL) advances
 * per layer. Errors: WT_EMODEL, WT_ENOMEM, WT_ECANCELLED. */
int wt__model_pack(unsigned char **image, size_t *len, const char *folder, struct progress *progress, wt_error *err);

#endif
