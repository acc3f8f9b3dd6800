#include "retrieve/past_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "nn/safetensors.h"

static int compare_hashes(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Builds the sorted hashes of the tool ids and the label of each. */
static int hash_labels(struct past_requests *past, const json_t *tools, wt_error *err)
{
    size_t count = past->label_count = json_array_size(tools);
    uint32_t(*pairs)[2] = wt__alloc_array(count, sizeof *pairs);
    past->label_hashes = wt__alloc_array(count, sizeof(uint32_t));
    past->label_of_hash = wt__alloc_array(count, sizeof(uint32_t));
    if (!pairs || !past->label_hashes || !past->label_of_hash) {
        free(pairs);
        return wt__fail_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        struct str id = {json_string_value(json_array_get(tools, i)), json_string_length(json_array_get(tools, i))};
        pairs[i][0] = wt__snapshot_id_hash(id);
        pairs[i][1] = (uint32_t)i;
    }
    qsort(pairs, count, sizeof *pairs, compare_hashes);
    for (size_t i = 0; i < count; i++) {
        past->label_hashes[i] = pairs[i][0];
        past->label_of_hash[i] = pairs[i][1];
    }
    free(pairs);
    return 0;
}

/* Reads a tensor of integers from 0 to `most`, which must not descend if `ascending`. False if the tensor is
 * invalid. */
static bool read_numbers(const struct tensor *tensor, size_t count, bool ascending, size_t most, uint32_t *out)
{
    if (!tensor || tensor->dtype != DTYPE_F32 || tensor->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, tensor->data + i * sizeof value, sizeof value);
        if (!(value >= 0 && value <= (float)most) || value != floorf(value))
            return false;
        out[i] = (uint32_t)value;
        if (ascending && i > 0 && out[i] < out[i - 1])
            return false;
    }
    return true;
}

static bool are_vectors(const struct tensor *tensor, const struct encoder *encoder)
{
    return tensor && tensor->dtype == DTYPE_F32 && tensor->rank == 2 && tensor->shape[1] == wt__encoder_dim(encoder) &&
           tensor->shape[0] <= PAST_MAX_REQUESTS && (uintptr_t)tensor->data % _Alignof(float) == 0;
}

static int read_trained(struct past_requests *past, const struct safetensors *file, const char *path,
                        const struct encoder *encoder, wt_error *err)
{
    const struct tensor *requests = wt__safetensors_find(file, PAST_REQUESTS),
                        *starts = wt__safetensors_find(file, PAST_STARTS),
                        *labels = wt__safetensors_find(file, PAST_LABELS);
    if (!are_vectors(requests, encoder) || !starts || !labels || labels->count >= 1 << 24)
        return wt__fail(err, WT_EMODEL, "%s: needs tensors requests, starts and labels that fit together", path);
    size_t count = requests->shape[0];
    uint32_t *numbers = past->numbers = wt__alloc_array(count + 1 + labels->count, sizeof *numbers);
    if (!numbers)
        return wt__fail_nomem(err);
    if (past->label_count == 0 || !read_numbers(starts, count + 1, true, labels->count, numbers) ||
        !read_numbers(labels, labels->count, false, past->label_count - 1, numbers + count + 1))
        return wt__fail(err, WT_EMODEL, "%s: starts and labels do not fit the requests and tools", path);
    struct neighbours *n = &past->trained;
    *n = (struct neighbours){.count = count,
                             .dim = requests->shape[1],
                             .requests = (const float *)(const void *)requests->data,
                             .starts = numbers,
                             .labels = numbers + count + 1};
    for (size_t i = 0; i < count; i++)
        if (n->starts[i + 1] - n->starts[i] > n->most_labels)
            n->most_labels = n->starts[i + 1] - n->starts[i];
    return 0;
}

static int read_untrained(struct past_requests *past, const json_t *config, const struct safetensors *file,
                          const char *path, wt_error *err)
{
    const struct tensor *requests = wt__safetensors_find(file, PAST_UNTRAINED);
    struct str hash = wt__json_str(config, PAST_UNTRAINED);
    if (!requests || hash.len >= sizeof past->untrained_hash)
        return 0;
    if (requests->dtype != DTYPE_F32 || requests->rank != 2 || requests->shape[0] != past->trained.count)
        return wt__fail(err, WT_EMODEL, "%s: the tensor untrained does not fit the requests", path);
    memcpy(past->untrained_hash, hash.ptr, hash.len);
    past->untrained = past->trained;
    past->untrained.dim = requests->shape[1];
    past->untrained.requests = (const float *)(const void *)requests->data;
    return 0;
}

/* The engine's encoder may have changed since training. */
struct neighbours wt__past_requests_by(const struct past_requests *past, const struct encoder *encoder)
{
    bool same = strcmp(past->untrained_hash, wt__encoder_hash(encoder)) == 0;
    return same && past->untrained.dim == wt__encoder_dim(encoder) ? past->untrained : (struct neighbours){0};
}

int wt__past_requests_open(struct past_requests *out, const char *path, const json_t *config,
                           const struct encoder *encoder, wt_error *err)
{
    struct safetensors file;
    *out = (struct past_requests){0};
    int rc = hash_labels(out, wt__json_array(config, "tools"), err);
    if (rc == 0)
        rc = wt__file_map(&out->file, path, err);
    if (rc == 0)
        rc = wt__safetensors_open(&file, path, out->file.ptr, out->file.len, err);
    if (rc < 0)
        return rc;
    rc = read_trained(out, &file, path, encoder, err);
    if (rc == 0)
        rc = read_untrained(out, config, &file, path, err);
    wt__safetensors_dispose(&file);
    return rc;
}

void wt__past_requests_dispose(struct past_requests *past)
{
    free(past->numbers);
    free(past->label_hashes);
    free(past->label_of_hash);
    wt__file_unmap(&past->file);
    *past = (struct past_requests){0};
}

void wt__past_requests_rows(const struct past_requests *past, const struct snapshot_key *keys, size_t count,
                            uint32_t *rows)
{
    for (size_t i = 0; i < past->label_count; i++)
        rows[i] = NEIGHBOURS_GONE;
    for (size_t row = 0; row < count; row++) {
        size_t at = wt__lower_bound_u32(past->label_hashes, past->label_count, keys[row].id_hash);
        if (at < past->label_count && past->label_hashes[at] == keys[row].id_hash)
            rows[past->label_of_hash[at]] = (uint32_t)row;
    }
}
