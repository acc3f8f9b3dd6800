/* quantize.h: stores a model in less space. Weights are still read as fp32 (nn/safetensors.h), and an encoder
 * multiplies int8 matrices as bytes (nn/linear_bytes.h). */
#ifndef WT_ENCODER_QUANTIZE_H
#define WT_ENCODER_QUANTIZE_H

#include "base/error.h"

enum precision { PRECISION_INT8, PRECISION_FP16, PRECISIONS };

/* Returns "int8" or "fp16", or NULL after the last. */
const char *wt__precision_name(size_t i);

/* Writes the quantized model to the folder `out`, which is created if missing. Matrices become I8 with an F32 scale per
 * row, or F16; vectors are F32. Other files are copied, and "whichtool" in config.json names the source. Errors:
 * WT_EINVAL (`out` is a model), WT_EMODEL (unreadable, or a number does not fit the precision), WT_EIO, WT_EFULL,
 * WT_EREADONLY, WT_ENOMEM. */
int wt__model_quantize(const char *folder, enum precision precision, const char *out, wt_error *err);

#endif
