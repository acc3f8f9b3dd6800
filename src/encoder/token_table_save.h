/* token_table_save.h: a static encoder as a model directory in the layout of the model2vec package, but that its rows
 * are bytes with a scale each. */
#ifndef WT_ENCODER_TOKEN_TABLE_SAVE_H
#define WT_ENCODER_TOKEN_TABLE_SAVE_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* Writes rows [tokens, dim] to the folder `out`, made where it is missing: model.safetensors with "embeddings" I8 and
 * "embeddings.scale" F32, the tokenizer's files of the folder `source`, and config.json with the members of `about` (an
 * object) below "whichtool". Each file is replaced in one step, config.json, without which a folder is no model, last.
 * Errors: WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
int wt__token_table_save(const char *out, const char *source, const float *rows, size_t tokens, size_t dim,
                         const json_t *about, wt_error *err);

#endif
