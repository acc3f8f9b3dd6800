/* token_table.c: reads, sums and saves the rows of a static encoder. Rows are added in the order of the text, so the
 * sum is the same on all machines to the last bit. */
#include "encoder/token_table.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "encoder/internal.h"
#include "encoder/model_files.h"
#include "nn/safetensors.h"

static const char ROWS[] = "embeddings", SCALES[] = "embeddings.scale", WEIGHTS[] = "weights";

size_t wt__token_table_row_bytes(const struct model_config *config)
{
    size_t size = config->byte_rows ? sizeof(int8_t) : sizeof(float);
    return (size_t)config->vocabulary * config->hidden * size;
}

size_t wt__token_table_scale_bytes(const struct model_config *config)
{
    return config->byte_rows ? config->vocabulary * sizeof(float) : 0;
}

/* Finds the optional vector `name`, which has one number per row. *out is NULL if it is missing. */
static int find_row_vector(const struct tensor **out, const struct safetensors *file, const char *name, size_t rows,
                           const char *folder, wt_error *err)
{
    const struct tensor *tensor = wt__safetensors_find(file, name);
    *out = tensor;
    if (tensor && (tensor->rank != 1 || tensor->shape[0] != rows))
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" needs one number for each of the %zu rows of \"%s\"", folder,
                        name, rows, ROWS);
    return 0;
}

int wt__token_table_shape(struct model_config *config, const struct safetensors *file, const char *folder,
                          wt_error *err)
{
    const struct tensor *rows = wt__safetensors_find(file, ROWS), *scales, *weights;
    if (!rows)
        return wt__fail(err, WT_EMODEL, "%s: " MODEL_WEIGHTS_FILE " has no tensor \"%s\"", folder, ROWS);
    if (wt__safetensors_find(file, "mapping"))
        return wt__fail(err, WT_EMODEL, "%s: tokens that share rows (tensor \"mapping\") are not supported", folder);
    if (rows->rank != 2 || rows->shape[0] < 1 || rows->shape[0] > MODEL_MAX_VOCABULARY ||
        rows->shape[1] != config->hidden)
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" needs 1 to %d rows of %u, the hidden_dim of config.json",
                        folder, ROWS, (int)MODEL_MAX_VOCABULARY, (unsigned)config->hidden);
    config->vocabulary = (uint32_t)rows->shape[0];
    config->byte_rows = rows->dtype == DTYPE_I8;
    WT_TRY(find_row_vector(&scales, file, SCALES, rows->shape[0], folder, err));
    WT_TRY(find_row_vector(&weights, file, WEIGHTS, rows->shape[0], folder, err));
    if (config->byte_rows != (scales != NULL))
        return wt__fail(err, WT_EMODEL, "%s: \"%s\" of type I8 requires \"%s\", and other types exclude it", folder,
                        ROWS, SCALES);
    return 0;
}

/* Reads the scales if the rows are bytes, else the rows. If the file has weights, multiplies by the weight of each row.
 * each: numbers per row, 1 for scales. */
static int read_row_numbers(const struct model_config *config, const struct safetensors *file, float *numbers,
                            size_t each, wt_error *err)
{
    WT_AUTO_FREE float *weights = wt__alloc_array(config->vocabulary, sizeof *weights);
    const struct tensor *tensor = wt__safetensors_find(file, WEIGHTS);
    WT_CHECK_ALLOC(weights, err);
    if (tensor)
        WT_TRY(wt__tensor_floats(tensor, weights, err));
    WT_TRY(wt__tensor_floats(wt__safetensors_find(file, config->byte_rows ? SCALES : ROWS), numbers, err));
    for (size_t i = 0; tensor && i < config->vocabulary * each; i++)
        numbers[i] *= weights[i / each];
    return 0;
}

int wt__token_table_read(const struct model_config *config, const struct safetensors *file, const char *folder,
                         void *rows, float *scales, wt_error *err)
{
    const struct tensor *tensor = wt__safetensors_find(file, ROWS);
    size_t each = config->byte_rows ? 1 : config->hidden;
    float *numbers = config->byte_rows ? scales : rows;
    int rc = read_row_numbers(config, file, numbers, each, err);
    if (rc == WT_EMODEL)
        return wt__fail_context(err, rc, "%s", folder);
    WT_TRY(rc);
    if (config->byte_rows)
        memcpy(rows, tensor->data, tensor->bytes);
    for (size_t i = 0; i < config->vocabulary * each; i++)
        if (!isfinite(numbers[i]))
            return wt__fail(err, WT_EMODEL, "%s: a row of \"%s\" holds a number that is not finite", folder, ROWS);
    return 0;
}

struct token_table wt__token_table_bind(const struct model_config *config, const void *rows, const float *scales)
{
    return config->byte_rows ? (struct token_table){config->vocabulary, config->hidden, rows, scales, NULL}
                             : (struct token_table){config->vocabulary, config->hidden, NULL, NULL, rows};
}

/* The loops over a row are functions with restrict pointers, so that compilers vectorise them. */
static void add_byte_row(const int8_t *restrict row, float scale, float *restrict out, size_t dim)
{
    for (size_t d = 0; d < dim; d++)
        out[d] += scale * (float)row[d];
}

static void add_float_row(const float *restrict row, float *restrict out, size_t dim)
{
    for (size_t d = 0; d < dim; d++)
        out[d] += row[d];
}

void wt__token_table_sum(const struct token_table *table, const int32_t *ids, size_t count, int32_t unknown, float *out)
{
    size_t dim = table->dim;
    memset(out, 0, dim * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        size_t id = (size_t)(uint32_t)ids[i];
        if (ids[i] == unknown || id >= table->vocabulary)
            continue;
        if (table->bytes)
            add_byte_row(table->bytes + id * dim, table->scales[id], out, dim);
        else
            add_float_row(table->floats + id * dim, out, dim);
    }
}

enum { BYTE_MOST = 127 };

/* Quantizes a row so that its largest number becomes BYTE_MOST or -BYTE_MOST. The error is at most half a step. */
static void quantize_token_row(const float *row, size_t dim, int8_t *bytes, float *scale)
{
    float most = 0;
    for (size_t d = 0; d < dim; d++)
        most = fmaxf(most, fabsf(row[d]));
    *scale = most / BYTE_MOST;
    for (size_t d = 0; d < dim; d++)
        bytes[d] = *scale > 0 ? (int8_t)lrintf(row[d] / *scale) : 0;
}

static int save_token_rows(const char *out, const float *rows, size_t tokens, size_t dim, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *path = wt__path_join(&arena, out, MODEL_WEIGHTS_FILE);
    WT_AUTO_FREE int8_t *bytes = wt__alloc_array(tokens * dim, 1);
    WT_AUTO_FREE float *scales = wt__alloc_array(tokens, sizeof *scales);
    WT_CHECK_ALLOC(path && bytes && scales, err);
    for (size_t t = 0; t < tokens; t++)
        quantize_token_row(rows + t * dim, dim, bytes + t * dim, &scales[t]);
    const struct tensor_source tensors[] = {
        {.name = "embeddings", .data = bytes, .rank = 2, .shape = {tokens, dim}},
        {.name = "embeddings.scale", .data = scales, .rank = 1, .shape = {tokens}},
    };
    static const enum dtype types[] = {DTYPE_I8, DTYPE_F32};
    return wt__safetensors_write_as(path, tensors, types, 2, NULL, err);
}

static int save_static_config(const char *out, size_t dim, const json_t *about, wt_error *err)
{
    WT_CLEANUP(json_decrefp)
    json_t *config = json_pack("{s:s, s:[s], s:I, s:b, s:O}", "model_type", "model2vec", "architectures", "StaticModel",
                               "hidden_dim", (json_int_t)dim, "normalize", 1, "whichtool", about);
    WT_CHECK_ALLOC(config, err);
    return wt__model_config_save(config, out, NULL, NULL, err);
}

int wt__token_table_save(const char *out, const char *source, const float *rows, size_t tokens, size_t dim,
                         const json_t *about, wt_error *err)
{
    WT_TRY(wt__make_folders(out, err));
    WT_TRY(wt__model_copy_tokenizer(source, out, err));
    WT_TRY(save_token_rows(out, rows, tokens, dim, err));
    return save_static_config(out, dim, about, err);
}
