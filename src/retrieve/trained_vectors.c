/* trained_vectors.c: computes the tool vectors of training, and reads the rows of a classifier (trained_vectors.h). */
#include "retrieve/trained_vectors.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "nn/layers.h"
#include "nn/safetensors.h"
#include "retrieve/retrieve.h"
#include "whichtool.h"

struct tool2vec wt__tool2vec_read(const json_t *config)
{
    const json_t *object = wt__json_object(config, "interpolation");
    return (struct tool2vec){wt__config_weight(object, "description", 1), wt__config_weight(object, "usage", 1),
                             fmaxf(wt__config_weight(object, "shrink", 0), 0)};
}

void wt__tool2vec(const struct tool2vec *weights, size_t dim, const float *document, const float *sum, uint32_t uses,
                  float *out)
{
    double square = 0;
    for (size_t d = 0; d < dim; d++)
        square += (double)sum[d] * sum[d];
    float n = (float)uses;
    float share = square > 0 ? weights->usage * n / (n + weights->shrink) / (float)sqrt(square) : 0;
    for (size_t d = 0; d < dim; d++)
        out[d] = weights->description * document[d] + share * sum[d];
    wt__normalize(out, dim);
}

static const double MAX_ROW = 1e8; /* maximum length of a row; MAX_ROW * WEIGHT_MAX is still valid in an index */

static int name_rows(struct mlc *mlc, const json_t *tools, const char *path, struct arena *arena, wt_error *err)
{
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *name = json_array_get(tools, i);
        if (!json_is_string(name))
            return wt__fail(err, WT_EMODEL, "%s: \"tools\" must be a list of strings", path);
        char *copy = wt__arena_copy(arena, (struct str){json_string_value(name), json_string_length(name)});
        if (!copy || !wt__map_insert(&mlc->row_of, wt__str(copy), (uint32_t)i, NULL))
            return wt__fail_nomem(err);
    }
    return 0;
}

static int measure_rows(struct mlc *mlc, const char *path, wt_error *err)
{
    double length = 0;
    for (size_t i = 0; i < mlc->count; i++) {
        double square = 0;
        for (size_t d = 0; d < mlc->dim; d++)
            square += (double)mlc->rows[i * mlc->dim + d] * mlc->rows[i * mlc->dim + d];
        length += sqrt(square);
        if (!(sqrt(square) <= MAX_ROW))
            return wt__fail(err, WT_EMODEL, "%s: row %zu has a number that is not finite or is too large", path, i);
    }
    mlc->mean_length = mlc->count ? (float)(length / (double)mlc->count) : 1;
    return 0;
}

static int copy_mlc_rows(struct mlc *mlc, const struct mapping *map, const char *path, wt_error *err)
{
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors file = {0};
    WT_TRY(wt__safetensors_open(&file, path, map->ptr, map->len, err));
    const struct tensor *head = wt__safetensors_find(&file, MLC_HEAD);
    if (!head || head->rank != 2 || head->shape[0] != mlc->count || head->shape[1] != mlc->dim)
        return wt__fail(err, WT_EMODEL, "%s: needs a tensor " MLC_HEAD " of %zu rows and %zu columns", path, mlc->count,
                        mlc->dim);
    mlc->rows = wt__alloc_array(head->count, sizeof(float));
    WT_CHECK_ALLOC(mlc->rows, err);
    WT_TRY(wt__tensor_floats(head, mlc->rows, err));
    return measure_rows(mlc, path, err);
}

int wt__mlc_open(struct mlc *out, const char *path, const json_t *config, size_t dim, struct arena *arena,
                 struct sha256 *key, wt_error *err)
{
    const json_t *tools = wt__json_array(config, "tools");
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    *out = (struct mlc){.count = json_array_size(tools), .dim = dim};
    if (out->count > WT_MAX_TOOLS)
        return wt__fail(err, WT_EMODEL, "%s: more than %d tools", path, WT_MAX_TOOLS);
    WT_TRY(wt__file_map(&map, path, err));
    wt__sha256_update(key, map.ptr, map.len);
    WT_TRY(copy_mlc_rows(out, &map, path, err));
    return name_rows(out, tools, path, arena, err);
}

void wt__mlc_dispose(struct mlc *mlc)
{
    wt__map_dispose(&mlc->row_of);
    free(mlc->rows);
    *mlc = (struct mlc){0};
}

int64_t wt__mlc_row(const struct mlc *mlc, struct str id)
{
    const uint32_t *row = wt__map_get(&mlc->row_of, id);
    return row ? (int64_t)*row : -1;
}
