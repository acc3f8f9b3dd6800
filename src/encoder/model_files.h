/* model_files.h: making one model directory from another: what is not weights goes along. */
#ifndef WT_ENCODER_MODEL_FILES_H
#define WT_ENCODER_MODEL_FILES_H

#include "base/error.h"

/* The tokenizer's files; out is there. Errors: WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
int wt__model_copy_tokenizer(const char *source, const char *out, wt_error *err);

/* out/name = source/name, if there is one; its folder is made where it is missing. */
int wt__model_copy_file(const char *source, const char *out, const char *name, wt_error *err);

#endif
