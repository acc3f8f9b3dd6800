/* model_files.h: creates a model folder from another one. Files other than weights are copied, so that the reference
 * libraries find the same settings. Each file is replaced in one step; config.json, which marks a folder as a model,
 * comes last. */
#ifndef WT_ENCODER_MODEL_FILES_H
#define WT_ENCODER_MODEL_FILES_H

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Copies the tokenizer's files. `out` is created if missing. Errors: WT_EIO, WT_EFULL, WT_EREADONLY, WT_EFORMAT,
 * WT_ENOMEM. */
int wt__model_copy_tokenizer(const char *source, const char *out, wt_error *err);
/* Copies the files of sentence-transformers, including the configuration of each module of modules.json. Creates `out`
 * and fails like wt__model_copy_tokenizer. */
int wt__model_copy_modules(const char *source, const char *out, wt_error *err);

/* Fails with WT_EINVAL if `out` is a file or has a config.json or weights, so that old and new files are never
 * mixed. */
int wt__model_refuse_replacing(const char *out, wt_error *err);

/* Reads config.json of a folder. Errors: WT_EMODEL (missing), WT_EFORMAT, WT_EIO, WT_ENOMEM. */
int wt__model_config_open(json_t **out, const char *folder, wt_error *err);

/* Copies a member of "whichtool" in config to members, unless they have it. False if out of memory. */
bool wt__model_copy_member(json_t *members, const json_t *config, const char *name);

/* Writes config to out/config.json. Sets its number type to `dtype` ("float32") if it has one, and "whichtool" to
 * `members` (NULL to leave it). */
int wt__model_config_save(json_t *config, const char *out, const char *dtype, const json_t *members, wt_error *err);

/* Writes the weighted mean of `count` models to the folder `out`, which is created if missing. count is 2 to
 * WT_MAX_MERGED. weights [count] are 0 to 1 with sum 1; NULL gives all models the same weight.
 * The numbers are written as F32. All other files come from the first folder. "whichtool" in config.json lists the
 * names, hashes and weights of the merged models. Its fields come from the first model that has them.
 * Merging a model with itself reproduces it to the last bit. Errors: WT_EINVAL (invalid count or weights, or `out` is a
 * model), WT_EMODEL (different architecture, shape or tokenizer, or unreadable), WT_EIO, WT_EFULL, WT_EREADONLY,
 * WT_ENOMEM. */
int wt__model_merge(const char *const *folders, const double *weights, size_t count, const char *out, wt_error *err);

enum precision { PRECISION_INT8, PRECISION_FP16, PRECISIONS };

/* Returns "int8" or "fp16", or NULL after the last. */
const char *wt__precision_name(size_t i);

/* Writes the quantized model to the folder `out`, which is created if missing. Matrices become I8 with an F32 scale per
 * row, or F16; vectors are F32. Other files are copied, and "whichtool" in config.json names the source. Errors:
 * WT_EINVAL (`out` is a model), WT_EMODEL (unreadable, or a number does not fit the precision), WT_EIO, WT_EFULL,
 * WT_EREADONLY, WT_ENOMEM. */
int wt__model_quantize(const char *folder, enum precision precision, const char *out, wt_error *err);

#endif
