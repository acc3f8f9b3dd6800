/* quantize.h: a model in less room: what is read of it is fp32 as ever (nn/safetensors.h), and where its matrices are
 * bytes, an encoder multiplies them as such (nn/layers.h). */
#ifndef WT_ENCODER_QUANTIZE_H
#define WT_ENCODER_QUANTIZE_H

#include "base/error.h"

enum precision { PRECISION_INT8, PRECISION_FP16, PRECISIONS };

/* "int8", "fp16"; NULL beyond. */
const char *wt__precision_name(size_t i);

/* Writes the model to the folder out, made where it is missing: matrices as I8 with an F32 scale a row, or as F16;
 * vectors as F32; all else as it is, and below "whichtool" of config.json what it was made from. Errors: WT_EINVAL (out
 * is a model), WT_EMODEL (unreadable, or holds numbers that the precision does not), WT_EIO, WT_EFULL, WT_EREADONLY,
 * WT_ENOMEM. */
int wt__model_quantize(const char *folder, enum precision precision, const char *out, wt_error *err);

#endif
