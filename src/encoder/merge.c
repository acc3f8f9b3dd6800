/* merge.c: computes the weighted mean of models, tensor by tensor, in the order of the first model. Sums are in double,
 * so that a number that is equal in all models stays the same, although the weights are rounded. */
#include "encoder/model_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "encoder/model_dir.h"
#include "nn/safetensors.h"

static const double WEIGHTS_OFF = 1e-6; /* tolerance of the sum of the weights */

/* One of the merged models. */
struct merged_model {
    const char *folder;
    double weight;
    struct model_config config;
    json_t *json;
    struct buffer tokenizer;
    struct mapping map;
    struct safetensors file;
};

struct merge {
    struct merged_model *parts; /* [count] */
    size_t count;
    struct arena arena;
    struct tensor_source *tensors; /* tensors of the result */
    size_t tensor_count;
    wt_error *err;
};

static int check_merge_weights(const double *weights, size_t count, wt_error *err)
{
    double sum = 0;
    if (count < 2 || count > WT_MAX_MERGED)
        return wt__fail(err, WT_EINVAL, "cannot merge %zu models; name 2 to %d", count, WT_MAX_MERGED);
    for (size_t i = 0; weights && i < count; i++) {
        if (!(weights[i] >= 0 && weights[i] <= 1))
            return wt__fail(err, WT_EINVAL, "the weight %g is not between 0 and 1", weights[i]);
        sum += weights[i];
    }
    if (weights && fabs(sum - 1) > WEIGHTS_OFF)
        return wt__fail(err, WT_EINVAL, "the weights add up to %g; they must add up to 1", sum);
    return 0;
}

static int open_merged_model(struct merge *m, struct merged_model *part)
{
    char *path = wt__path_join(&m->arena, part->folder, MODEL_WEIGHTS_FILE);
    WT_CHECK_ALLOC(path, m->err);
    WT_TRY(wt__model_config_read(&part->config, part->folder, m->err));
    WT_TRY(wt__model_config_open(&part->json, part->folder, m->err));
    WT_TRY(wt__tokenizer_read(&part->tokenizer, part->folder, m->err));
    int rc = wt__file_map(&part->map, path, m->err);
    if (rc == WT_ENOTFOUND)
        return wt__fail(m->err, WT_EMODEL, "%s: the model has no %s", part->folder, MODEL_WEIGHTS_FILE);
    return rc == 0 ? wt__safetensors_open(&part->file, path, part->map.ptr, part->map.len, m->err) : rc;
}

static int fail_unlike(const struct merge *m, const struct merged_model *part, const char *why)
{
    return wt__fail(m->err, WT_EMODEL, "%s and %s cannot be merged: %s", m->parts[0].folder, part->folder, why);
}

static size_t count_real_tensors(const struct safetensors *file)
{
    size_t count = 0;
    for (size_t i = 0; i < file->count; i++)
        count += wt__tensor_is_real(&file->tensors[i]);
    return count;
}

/* Checks that a model matches the first model. merge_tensor compares the shapes of the tensors. */
static int check_merged_model(const struct merge *m, const struct merged_model *part)
{
    const struct merged_model *first = &m->parts[0];
    const struct str words = wt__buffer_view(&part->tokenizer);
    if (memcmp(&part->config, &first->config, sizeof(part->config)) != 0)
        return fail_unlike(m, part, "their architectures or dimensions differ");
    if (!wt__str_equal(words, wt__buffer_view(&first->tokenizer)))
        return fail_unlike(m, part, "their tokenizers differ");
    if (count_real_tensors(&part->file) != count_real_tensors(&first->file))
        return fail_unlike(m, part, "one has tensors that the other lacks");
    return 0;
}

/* Computes the weighted mean of one tensor. sum, floats: scratch memory for tensor->count numbers. */
static int merge_tensor(struct merge *m, const struct tensor *tensor, double *sum, float *floats)
{
    float *out = wt__arena_array(&m->arena, float, tensor->count);
    char why[256];
    WT_CHECK_ALLOC(out, m->err);
    memset(sum, 0, tensor->count * sizeof(*sum));
    for (size_t p = 0; p < m->count; p++) {
        const struct merged_model *part = &m->parts[p];
        const struct tensor *other = wt__safetensors_find(&part->file, tensor->name);
        snprintf(why, sizeof(why), "tensor \"%.160s\" is missing in one of them or has another shape", tensor->name);
        if (!other || !wt__tensor_is_real(other) || other->rank != tensor->rank ||
            memcmp(other->shape, tensor->shape, tensor->rank * sizeof(tensor->shape[0])) != 0)
            return fail_unlike(m, part, why);
        WT_TRY(wt__tensor_floats(other, floats, m->err));
        for (size_t i = 0; i < tensor->count; i++)
            sum[i] = p == 0 ? part->weight * (double)floats[i] : sum[i] + part->weight * (double)floats[i];
    }
    for (size_t i = 0; i < tensor->count; i++)
        out[i] = (float)sum[i];
    struct tensor_source *made = &m->tensors[m->tensor_count++];
    *made = (struct tensor_source){.name = tensor->name, .data = out, .rank = tensor->rank};
    memcpy(made->shape, tensor->shape, sizeof(made->shape));
    return 0;
}

static int merge_weights(struct merge *m)
{
    const struct safetensors *first = &m->parts[0].file;
    size_t most = 0;
    for (size_t i = 0; i < first->count; i++)
        most = first->tensors[i].count > most ? first->tensors[i].count : most;
    m->tensors = wt__arena_array(&m->arena, struct tensor_source, first->count);
    double *sum = wt__arena_array(&m->arena, double, most);
    float *floats = wt__arena_array(&m->arena, float, most);
    WT_CHECK_ALLOC(m->tensors && sum && floats, m->err);
    for (size_t i = 0; i < first->count; i++)
        if (wt__tensor_is_real(&first->tensors[i]))
            WT_TRY(merge_tensor(m, &first->tensors[i], sum, floats));
    return 0;
}

/* Returns {"merged": [{"name", "sha256", "weight"}], "fields"}, or NULL if out of memory. The fields come from the
 * first model that has them. */
static json_t *describe_merge(const struct merge *m)
{
    json_auto_t *members = json_pack("{s:[]}", "merged");
    for (size_t p = 0; p < m->count; p++) {
        const struct merged_model *part = &m->parts[p];
        struct str name = wt__model_name(part->folder);
        unsigned char digest[32];
        char hex[65];
        wt__sha256(part->map.ptr, part->map.len, digest);
        wt__sha256_hex(digest, hex);
        json_t *about =
            json_pack("{s:o, s:s, s:f}", "name", wt__json_string(name), "sha256", hex, "weight", part->weight);
        if (json_array_append_new(json_object_get(members, "merged"), about) != 0 ||
            !wt__model_copy_member(members, part->json, "fields"))
            return NULL;
    }
    return WT_TAKE(members);
}

static int save_merged(struct merge *m, const char *out)
{
    const struct merged_model *first = &m->parts[0];
    char *path = wt__path_join(&m->arena, out, MODEL_WEIGHTS_FILE);
    WT_CLEANUP(json_decrefp) json_t *members = describe_merge(m);
    WT_CHECK_ALLOC(path && members, m->err);
    WT_TRY(wt__make_folders(out, m->err));
    WT_TRY(wt__model_copy_tokenizer(first->folder, out, m->err));
    WT_TRY(wt__model_copy_modules(first->folder, out, m->err));
    WT_TRY(wt__safetensors_write(path, m->tensors, m->tensor_count, NULL, m->err));
    return wt__model_config_save(first->json, out, "float32", members, m->err);
}

static void close_merge(struct merge *m)
{
    for (size_t p = 0; m->parts && p < m->count; p++) {
        struct merged_model *part = &m->parts[p];
        wt__safetensors_dispose(&part->file);
        wt__file_unmap(&part->map);
        wt__buffer_dispose(&part->tokenizer);
        json_decref(part->json);
    }
    wt__arena_dispose(&m->arena);
}

int wt__model_merge(const char *const *folders, const double *weights, size_t count, const char *out, wt_error *err)
{
    WT_CLEANUP(close_merge) struct merge m = {.count = count, .err = err};
    WT_TRY(check_merge_weights(weights, count, err));
    WT_TRY(wt__model_refuse_replacing(out, err));
    m.parts = wt__arena_array(&m.arena, struct merged_model, count);
    WT_CHECK_ALLOC(m.parts, err);
    for (size_t p = 0; p < count; p++) {
        m.parts[p] = (struct merged_model){.folder = folders[p], .weight = weights ? weights[p] : 1 / (double)count};
        WT_TRY(open_merged_model(&m, &m.parts[p]));
        WT_TRY(check_merged_model(&m, &m.parts[p]));
    }
    WT_TRY(merge_weights(&m));
    return save_merged(&m, out);
}
