/* merge.h: the weighted mean of models of one architecture, number by number: of a tuned model and its base (WiSE-FT),
 * or of several seeds (model soups). */
#ifndef WT_ENCODER_MERGE_H
#define WT_ENCODER_MERGE_H

#include <stddef.h>

#include "base/error.h"

/* Writes the merged model to the folder `out`, which is created if missing. Weights are F32; all other files come from
 * the first folder. "whichtool" in config.json lists the names, hashes and weights of the merged models, and takes
 * fields and dense_weight from the first model that has them. weights [count]: each 0 to 1 with sum 1, or NULL for the
 * plain mean; count is 2 to WT_MAX_MERGED. Merging a model with itself reproduces it to the last bit. Errors: WT_EINVAL
 * (numbers), WT_EMODEL (different architecture, shape or tokenizer, or unreadable), WT_EIO, WT_EFULL, WT_EREADONLY,
 * WT_ENOMEM. */
int wt__model_merge(const char *const *folders, const double *weights, size_t count, const char *out, wt_error *err);

#endif
