#include "encoder/token_table_save.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "encoder/model_files.h"
#include "encoder/pack.h"
#include "nn/safetensors.h"

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
    struct arena arena = {0};
    char *path = wt__path_join(&arena, out, MODEL_WEIGHTS);
    int8_t *bytes = wt__alloc_array(tokens * dim, 1);
    float *scales = wt__alloc_array(tokens, sizeof *scales);
    int rc = path && bytes && scales ? 0 : wt__fail_nomem(err);
    for (size_t t = 0; rc == 0 && t < tokens; t++)
        quantize_token_row(rows + t * dim, dim, bytes + t * dim, &scales[t]);
    const struct tensor_source tensors[] = {
        {.name = "embeddings", .data = bytes, .rank = 2, .shape = {tokens, dim}},
        {.name = "embeddings.scale", .data = scales, .rank = 1, .shape = {tokens}},
    };
    static const enum dtype types[] = {DTYPE_I8, DTYPE_F32};
    if (rc == 0)
        rc = wt__safetensors_write_as(path, tensors, types, 2, NULL, err);
    free(bytes);
    free(scales);
    wt__arena_dispose(&arena);
    return rc;
}

static int save_static_config(const char *out, size_t dim, const json_t *about, wt_error *err)
{
    json_t *config = json_pack("{s:s, s:[s], s:I, s:b, s:O}", "model_type", "model2vec", "architectures", "StaticModel",
                               "hidden_dim", (json_int_t)dim, "normalize", 1, "whichtool", about);
    int rc = config ? wt__model_config_save(config, out, NULL, NULL, err) : wt__fail_nomem(err);
    json_decref(config);
    return rc;
}

int wt__token_table_save(const char *out, const char *source, const float *rows, size_t tokens, size_t dim,
                         const json_t *about, wt_error *err)
{
    int rc = wt__make_folders(out, err);
    if (rc == 0)
        rc = wt__model_copy_tokenizer(source, out, err);
    if (rc == 0)
        rc = save_token_rows(out, rows, tokens, dim, err);
    return rc < 0 ? rc : save_static_config(out, dim, about, err);
}
