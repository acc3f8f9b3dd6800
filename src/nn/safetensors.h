/* safetensors.h: named tensors in one file: 8 bytes of header length, a JSON header, then the data.
 *
 * The file is taken for hostile: the header's size is limited, it must be one JSON object without duplicate keys, each
 * tensor's bytes must be what its shape and type need, and the tensors must cover the data exactly, without a hole or
 * an overlap. Nothing is copied: tensors point into the caller's bytes. */
#ifndef WT_NN_SAFETENSORS_H
#define WT_NN_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

#define SAFETENSORS_MAX_HEADER ((size_t)100 << 20)
enum { TENSOR_MAX_RANK = 8, SAFETENSORS_MAX_TENSORS = 1 << 20 };

enum dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F64,
    DTYPE_I64,
    DTYPE_I8,
    DTYPE_OTHER /* of known size, never read */
};

struct tensor {
    const char *name;
    enum dtype dtype;
    size_t rank;
    size_t shape[TENSOR_MAX_RANK];
    size_t count;              /* elements */
    const unsigned char *data; /* little-endian, on any boundary */
    size_t bytes;
};

struct safetensors {
    struct tensor *tensors; /* [count] in the order of their data */
    size_t count;
    json_t *metadata; /* object of strings, or NULL */
    struct arena names;
};

/* Reads the header. path is for messages; bytes are borrowed and must outlive out. Errors: WT_EMODEL, WT_ENOMEM. */
int wt__safetensors_open(struct safetensors *out, const char *path, const void *bytes, size_t len, wt_error *err);
void wt__safetensors_dispose(struct safetensors *file);

/* The tensor of that name, or NULL. */
const struct tensor *wt__safetensors_find(const struct safetensors *file, const char *name);

/* The tensor's numbers as fp32. out: [count]. Errors: WT_EMODEL for types that are no floating-point numbers. */
int wt__tensor_floats(const struct tensor *tensor, float *out, wt_error *err);

/* ---------------------------------------------------------------- writing (safetensors_write.c) */

struct tensor_source {
    const char *name;
    const void *data; /* [product of shape] floats, or what wt__safetensors_write_as is told */
    size_t rank, shape[TENSOR_MAX_RANK];
};

/* Names must differ. metadata: an object of strings that join {"format":"pt"}, or NULL. The data begin on a 64-byte
 * boundary of the file. Errors: WT_EMODEL (what a reader would refuse), WT_ENOMEM, and of base/file.h. */
int wt__safetensors_write(const char *path, const struct tensor_source *tensors, size_t count, const json_t *metadata,
                          wt_error *err);
/* The same of other types, DTYPE_F32 or DTYPE_I8. types [count]. */
int wt__safetensors_write_as(const char *path, const struct tensor_source *tensors, const enum dtype *types,
                             size_t count, const json_t *metadata, wt_error *err);

#endif
