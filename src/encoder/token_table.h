/* token_table.h: a static encoder. Each token has a row; the vector of a text is the normalised sum of its tokens' rows
 * (model2vec, Tulkens and van Dongen 2024). Without layers, a text costs about as much as its tokenizing.
 *
 *   model.safetensors   "embeddings" [V, D] of F32, F16, BF16 or I8; "embeddings.scale" [V] for I8: the factor of each
 *                       row; "weights" [V], optional: a further factor of each row
 *
 * In memory, I8 rows stay bytes and all others are fp32. [CLS], [SEP] and unknown tokens are not part of the sum. */
#ifndef WT_ENCODER_TOKEN_TABLE_H
#define WT_ENCODER_TOKEN_TABLE_H

#include <jansson.h>

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "encoder/config.h"
#include "nn/safetensors.h"

struct token_table {
    uint32_t vocabulary, dim;
    const int8_t *bytes; /* [V, D], or NULL if rows are floats */
    const float *scales; /* [V] with bytes */
    const float *floats; /* [V, D], or NULL if rows are bytes */
};

/* Returns the size of all rows in bytes. */
size_t wt__token_table_row_bytes(const struct model_config *config);
/* Returns the size of all scales in bytes. */
size_t wt__token_table_scale_bytes(const struct model_config *config);

/* Sets vocabulary and byte_rows of the configuration from the tensors. folder is for messages. Errors: WT_EMODEL
 * (tensors missing, or of an unsupported shape or type). */
int wt__token_table_shape(struct model_config *config, const struct safetensors *file, const char *folder,
                          wt_error *err);
/* Reads the tensors into rows and scales, sized by the functions above. Errors: WT_EMODEL (a number is not finite),
 * WT_ENOMEM. */
int wt__token_table_read(const struct model_config *config, const struct safetensors *file, const char *folder,
                         void *rows, float *scales, wt_error *err);

/* Returns a table that borrows its rows and scales. */
struct token_table wt__token_table_bind(const struct model_config *config, const void *rows, const float *scales);

/* Writes the sum of the rows of ids [count] to out [D]. Skips the id `unknown` and ids >= V. */
void wt__token_table_sum(const struct token_table *table, const int32_t *ids, size_t count, int32_t unknown,
                         float *out);

/* Writes rows [tokens, dim] to the folder `out`, which is created if missing: model.safetensors with "embeddings" I8
 * and "embeddings.scale" F32, the tokenizer files of the folder `source`, and config.json with the object `about` as
 * "whichtool". Each file is replaced in one step; config.json, which marks a folder as a model, comes last. Errors:
 * WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
int wt__token_table_save(const char *out, const char *source, const float *rows, size_t tokens, size_t dim,
                         const json_t *about, wt_error *err);

#endif
