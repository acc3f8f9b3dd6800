/* safetensors.h: named tensors in one file: 8 bytes of header length, a JSON header, then the data.
 *
 * The file is taken for hostile: the header's size is limited, it must be one JSON object without duplicate keys, each
 * tensor's bytes must be what its shape and type need, and the tensors must cover the data exactly, without a hole or
 * an overlap. Nothing is copied: tensors point into the caller's bytes.
 *
 * A tensor of I8 beside an F32 tensor NAME.scale with a number for each of its rows holds real numbers, in a quarter of
 * their room: each byte is multiplied by its row's scale. */
#ifndef WT_NN_SAFETENSORS_H
#define WT_NN_SAFETENSORS_H

#include <stdbool.h>
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
    const unsigned char *scale; /* of DTYPE_I8: [shape[0]] F32, or NULL, where it has none and is not to be read */
    bool scales;                /* it is the scale of another one */
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

/* Whether wt__tensor_floats reads it, and it is a weight of the model: no buffer of whole numbers, and no scale. */
bool wt__tensor_is_real(const struct tensor *tensor);

/* The tensor's numbers as fp32. out: [count]. Errors: WT_EMODEL for types that are no floating-point numbers, and bytes
 * without a scale. */
int wt__tensor_floats(const struct tensor *tensor, float *out, wt_error *err);

/* The scales of a tensor of bytes that has them. out: [shape[0]]. */
void wt__tensor_scales(const struct tensor *tensor, float *out);

/* ---------------------------------------------------------------- writing (safetensors_write.c) */

struct tensor_source {
    const char *name;
    const void *data; /* [product of shape], F32 where nothing else is said */
    size_t rank, shape[TENSOR_MAX_RANK];
};

/* As the header calls it, and its bytes a number. */
const char *wt__dtype_name(enum dtype dtype, size_t *bytes);

/* Names must differ. metadata: an object of strings that join {"format":"pt"}, or NULL. The data begin on a 64-byte
 * boundary of the file. Errors: WT_EMODEL (what a reader would refuse), WT_ENOMEM, and of base/file.h. */
int wt__safetensors_write(const char *path, const struct tensor_source *tensors, size_t count, const json_t *metadata,
                          wt_error *err);
/* The same of other types. dtypes: [count]. */
int wt__safetensors_write_as(const char *path, const struct tensor_source *tensors, const enum dtype *dtypes,
                             size_t count, const json_t *metadata, wt_error *err);

#endif
