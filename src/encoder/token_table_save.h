/* token_table_save.h: writes a static encoder in the layout of the model2vec package, except that rows are bytes with a
 * scale each. */
#ifndef WT_ENCODER_TOKEN_TABLE_SAVE_H
#define WT_ENCODER_TOKEN_TABLE_SAVE_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* Writes rows [tokens, dim] to the folder `out`, which is created if missing: model.safetensors with "embeddings" I8
 * and "embeddings.scale" F32, the tokenizer files of the folder `source`, and config.json with the object `about` as
 * "whichtool". Each file is replaced in one step; config.json, which marks a folder as a model, comes last. Errors:
 * WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
int wt__token_table_save(const char *out, const char *source, const float *rows, size_t tokens, size_t dim,
                         const json_t *about, wt_error *err);

#endif
