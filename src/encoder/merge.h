/* merge.h: the weighted mean of models of one kind, number by number: of one that was tuned and the one that it was
 * tuned from (WiSE-FT), or of several seeds (model soups). */
#ifndef WT_ENCODER_MERGE_H
#define WT_ENCODER_MERGE_H

#include <stddef.h>

#include "base/error.h"

/* Writes the model to the folder out, made where it is missing: the weights as F32, all else the first folder's; below
 * "whichtool" of its config.json stand the names, hashes and weights of what was merged, and what the first of them
 * that says so says of fields and dense_weight. weights [count, 2 to WT_MAX_MERGED]: 0 to 1, their sum 1; NULL: the
 * plain mean. A model merged with itself is itself to the last bit. Errors: WT_EINVAL (the numbers), WT_EMODEL (not of
 * one architecture, shape and tokenizer, or unreadable), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
int wt__model_merge(const char *const *folders, const double *weights, size_t count, const char *out, wt_error *err);

#endif
