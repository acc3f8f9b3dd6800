/* model_tokenizer.h: builds the tokenizer of a model folder from the files that it has. */
#ifndef WT_ENCODER_MODEL_TOKENIZER_H
#define WT_ENCODER_MODEL_TOKENIZER_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "text/tokenizer.h"

/* Returns the name of the i-th tokenizer file, or NULL after the last. */
const char *wt__tokenizer_file_at(size_t i);

/* Appends the blob that wt__tokenizer_open reads. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__tokenizer_read(struct buffer *blob, const char *folder, wt_error *err);

/* Checks that the tokenizer defines the begin and end tokens of a text, as transformers need. folder is for messages.
 * Errors: WT_EMODEL. */
int wt__tokenizer_check_frame(const struct tokenizer *tokenizer, const char *folder, wt_error *err);

#endif
