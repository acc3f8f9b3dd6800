/* golden.h: reads files of tensors that the reference implementation of an encoder wrote, and converts their padded
 * batches to ragged batches. The files are optional. */
#ifndef WT_TESTS_ENCODER_GOLDEN_H
#define WT_TESTS_ENCODER_GOLDEN_H

#include <math.h>

#include "encoder/support.h"
#include "encoder/transformer.h"
#include "nn/safetensors.h"
#include "text/support.h"

struct encoder_golden {
    struct safetensors file;
    struct mapping map;
};

/* Opens a file of reference data; false if the data is not available. */
static inline bool open_golden(struct encoder_golden *golden, const char *name)
{
    char path[PATH_BYTES];
    wt_error err = {0};

    if (!shared_path(path, name))
        return false;
    if (wt__file_map(&golden->map, path, &err) < 0 ||
        wt__safetensors_open(&golden->file, path, golden->map.ptr, golden->map.len, &err) < 0)
        fail_msg("%s", err.message);
    return true;
}

static inline void close_golden(struct encoder_golden *golden)
{
    wt__safetensors_dispose(&golden->file);
    wt__file_unmap(&golden->map);
}

/* Returns a tensor; fails the test if the file has no tensor of this name. */
static inline const struct tensor *tensor_of(const struct encoder_golden *golden, const char *name)
{
    const struct tensor *t = wt__safetensors_find(&golden->file, name);

    if (!t)
        fail_msg("no tensor %s", name);
    return t;
}

static inline int32_t int_at(const struct tensor *t, size_t i)
{
    int32_t v;

    memcpy(&v, t->data + 4 * i, 4);
    return v;
}

static inline float float_at(const struct tensor *t, size_t i)
{
    float v;

    memcpy(&v, t->data + 4 * i, 4);
    return v;
}

/* Returns a copy of a tensor's numbers; the caller frees it. */
static inline float *floats_of(const struct encoder_golden *golden, const char *name)
{
    const struct tensor *t = tensor_of(golden, name);
    float *out = malloc(t->bytes + 64);

    memcpy(out, t->data, t->bytes);
    return out;
}

enum { RAGGED_ROWS = 800, RAGGED_COUNT = 16 };

/* A ragged batch with its buffers. */
struct ragged {
    struct token_batch batch;
    size_t starts[RAGGED_COUNT + 1];
    int32_t ids[RAGGED_ROWS], types[RAGGED_ROWS], positions[RAGGED_ROWS];
};

/* Appends the sequences of ids [B, T], without the tokens whose mask is 0. types: token types, or NULL if all are 0. */
static inline void add_padded(struct ragged *r, const struct tensor *ids, const struct tensor *mask,
                              const struct tensor *types)
{
    for (size_t b = 0; b < ids->shape[0]; b++) {
        size_t n = r->starts[r->batch.count];

        for (size_t i = b * ids->shape[1]; i < (b + 1) * ids->shape[1]; i++)
            if (int_at(mask, i)) {
                r->ids[n] = int_at(ids, i);
                r->types[n++] = types ? int_at(types, i) : 0;
            }
        r->starts[++r->batch.count] = n;
    }
    r->batch.starts = r->starts;
    r->batch.ids = r->ids;
    if (types)
        r->batch.types = r->types;
}

/* Returns the largest difference between x and the valid positions of the reference [B, T, H]. */
static inline double worst_state(const float *x, size_t stride, const struct token_batch *batch,
                                 const struct tensor *want)
{
    double worst = 0;

    for (size_t b = 0; b < batch->count; b++)
        for (size_t t = batch->starts[b]; t < batch->starts[b + 1]; t++)
            for (size_t h = 0; h < want->shape[2]; h++) {
                size_t at = (b * want->shape[1] + t - batch->starts[b]) * want->shape[2] + h;
                double off = fabs((double)x[t * stride + h] - float_at(want, at));

                worst = off <= worst ? worst : off; /* keeps NaN */
            }
    return worst;
}

/* Copies the model files of a folder of reference data to `model`. */
static inline void copy_golden(const char *model, const char *folder)
{
    static const char *const files[] = {
        "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt",
        "vocab.json",  "merges.txt",        "spm.model",      "added_tokens.json"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[PATH_BYTES], name[160];

        snprintf(name, sizeof(name), "%s/config.json", folder);
        if (!shared_path(path, name))
            return;
        strcpy(strrchr(path, '/') + 1, files[i]);
        if (!wt__is_file(path))
            continue;
        struct str bytes = read_whole(path);
        put_file(model, files[i], bytes.ptr, bytes.len);
        free((void *)bytes.ptr);
    }
}

#endif
