/* token_table.h: a static encoder: a row a token, and a text's vector is the unit vector of its tokens' sum (model2vec,
 * Tulkens and van Dongen 2024). There are no layers, so that a text costs what its tokenizer does.
 *
 *   model.safetensors   "embeddings" [V, D] of F32, F16, BF16 or I8; "embeddings.scale" [V] with I8: a row's bytes
 *                       times its scale are its numbers; "weights" [V], may be absent: each row times its weight
 *
 * In memory rows of I8 stay bytes, and all others are fp32. [CLS], [SEP] and unknown tokens have no part in a sum. */
#ifndef WT_ENCODER_TOKEN_TABLE_H
#define WT_ENCODER_TOKEN_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "encoder/config.h"
#include "nn/safetensors.h"

struct token_table {
    uint32_t vocabulary, dim;
    const int8_t *bytes; /* [V, D], or NULL ... */
    const float *scales; /* [V] */
    const float *floats; /* ... and then [V, D] */
};

/* Bytes of the rows, and of the scales. */
size_t wt__token_table_rows(const struct model_config *config);
size_t wt__token_table_scales(const struct model_config *config);

/* Completes the configuration by what the weights say: V, and whether rows are bytes. folder is for messages. Errors:
 * WT_EMODEL (no such tensors, or of other shapes or types). */
int wt__token_table_shape(struct model_config *config, const struct safetensors *file, const char *folder,
                          wt_error *err);
/* Reads what the configuration now says to rows and scales. Errors: WT_EMODEL (a number is not finite), WT_ENOMEM. */
int wt__token_table_read(const struct model_config *config, const struct safetensors *file, const char *folder,
                         void *rows, float *scales, wt_error *err);

/* Points a table at its rows and scales. */
struct token_table wt__token_table_bind(const struct model_config *config, const void *rows, const float *scales);

/* out [D]: the sum of the rows of ids [count] but `unknown`; those beyond V are passed over. */
void wt__token_table_sum(const struct token_table *table, const int32_t *ids, size_t count, int32_t unknown,
                         float *out);

#endif
