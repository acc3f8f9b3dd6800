/* model_tokenizer.h: the tokenizer of a model directory, made from whichever of its files are there. */
#ifndef WT_ENCODER_MODEL_TOKENIZER_H
#define WT_ENCODER_MODEL_TOKENIZER_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "text/tokenizer.h"

/* The i-th of the files that make a tokenizer; NULL beyond. */
const char *wt__tokenizer_file_at(size_t i);

/* Appends the blob that wt__tokenizer_open reads. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__tokenizer_read(struct buffer *blob, const char *folder, wt_error *err);

/* Whether texts have a beginning and an end, as layers need. folder is for messages. Errors: WT_EMODEL. */
int wt__tokenizer_check_frame(const struct tokenizer *tokenizer, const char *folder, wt_error *err);

#endif
