/* safetensors.h: reads and writes files of named tensors. A file has 8 bytes with the length of the header, a JSON
 * header, and the data.
 *
 * Files are untrusted. The size of the header is limited, and it must be one JSON object without duplicate keys. Each
 * tensor must have as many bytes as its shape and type require. The tensors must cover the data exactly, without gaps
 * or overlaps. Tensors point into the caller's bytes; the data is not copied.
 *
 * An I8 tensor NAME and an F32 tensor NAME.scale together hold real numbers in a quarter of the space. NAME.scale has
 * one scale per row of NAME. Each byte is multiplied by the scale of its row. */
#ifndef WT_NN_SAFETENSORS_H
#define WT_NN_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

#define SAFETENSORS_MAX_HEADER ((size_t)100 << 20) /* bytes */
enum { TENSOR_MAX_RANK = 8, SAFETENSORS_MAX_TENSORS = 1 << 20 };

enum dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F64,
    DTYPE_I64,
    DTYPE_I8,
    DTYPE_OTHER /* a type of known size, never read */
};

struct tensor {
    const char *name;
    enum dtype dtype;
    size_t rank;
    size_t shape[TENSOR_MAX_RANK];
    size_t count;               /* number of elements */
    const unsigned char *data;  /* little-endian, unaligned */
    size_t bytes;               /* size of data */
    const unsigned char *scale; /* [shape[0]] F32 scales of a DTYPE_I8 tensor; NULL if it has no valid scales */
    bool is_scale;              /* true if this tensor has the scales of another tensor */
};

struct safetensors {
    struct tensor *tensors; /* [count] ordered by position in the file */
    size_t count;
    json_t *metadata;   /* object of strings, or NULL */
    struct arena names; /* owns the names of the tensors */
};

/* Parses and checks the header. path is used in messages only. bytes are borrowed and must outlive out. Errors:
 * WT_EMODEL, WT_ENOMEM. */
int wt__safetensors_open(struct safetensors *out, const char *path, const void *bytes, size_t len, wt_error *err);
void wt__safetensors_dispose(struct safetensors *file);

/* Returns the tensor with the name, or NULL. */
const struct tensor *wt__safetensors_find(const struct safetensors *file, const char *name);

/* True if wt__tensor_floats can read the tensor and it is a weight: neither an integer buffer nor a scale. */
bool wt__tensor_is_real(const struct tensor *tensor);

/* Converts the tensor to fp32 into out [count]. Errors: WT_EMODEL if the type is neither floating-point nor I8 with
 * scales. */
int wt__tensor_floats(const struct tensor *tensor, float *out, wt_error *err);

/* Writes the scales to out [shape[0]]. Requires tensor->scale. */
void wt__tensor_scales(const struct tensor *tensor, float *out);

struct tensor_source {
    const char *name;
    const void *data; /* [product of shape] numbers: F32, or of the type passed to wt__safetensors_write_as */
    size_t rank, shape[TENSOR_MAX_RANK];
};

/* Writes a file atomically. Names must be unique. metadata is an object of strings to add to {"format":"pt"}, or NULL.
 * The data of the first tensor starts at a multiple of 64 bytes in the file. Errors: WT_EMODEL for input that readers
 * would reject, WT_ENOMEM (also for a header over SAFETENSORS_MAX_HEADER), and those of base/file.h. */
int wt__safetensors_write(const char *path, const struct tensor_source *tensors, size_t count, const json_t *metadata,
                          wt_error *err);
/* Works like wt__safetensors_write, with dtypes [count], the types of the tensors. */
int wt__safetensors_write_as(const char *path, const struct tensor_source *tensors, const enum dtype *dtypes,
                             size_t count, const json_t *metadata, wt_error *err);

#endif
