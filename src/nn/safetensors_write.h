/* safetensors_write.h: named fp32 tensors as one safetensors file, which appears whole or not at all. */
#ifndef WT_NN_SAFETENSORS_WRITE_H
#define WT_NN_SAFETENSORS_WRITE_H

#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "nn/safetensors.h"

struct tensor_source {
    const char *name;
    const float *data; /* [product of shape] */
    size_t rank, shape[TENSOR_MAX_RANK];
};

/* Names must differ. metadata: an object of strings that join {"format":"pt"}, or NULL. The data begin on a 64-byte
 * boundary of the file. Errors: WT_EMODEL (what a reader would refuse), WT_ENOMEM, and of base/file.h. */
int wt__safetensors_write(const char *path, const struct tensor_source *tensors, size_t count, const json_t *metadata,
                          wt_error *err);

#endif
