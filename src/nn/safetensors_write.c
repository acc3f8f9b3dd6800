/* safetensors_write.c: writes header and data to a temporary file, which replaces the old file at the end. */
#include "nn/safetensors.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sort.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written in memory order");

enum { LENGTH_BYTES = 8, DATA_ALIGN = 64 };

static int check_tensor_names(const char *path, const struct tensor_source *tensors, size_t count, wt_error *err)
{
    const char **names = wt__alloc_array(count + 1, sizeof(*names));
    int rc = names ? 0 : wt__fail_nomem(err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        names[i] = tensors[i].name;
    names[count] = "__metadata__";
    wt__sort_texts((char **)names, count + 1);
    for (size_t i = 0; i < count && rc == 0; i++)
        if (strcmp(names[i], names[i + 1]) == 0)
            rc = wt__fail(err, WT_EMODEL, "%s: duplicate tensor name \"%s\"", path, names[i]);
    free(names);
    return rc;
}

static enum dtype find_source_type(const enum dtype *dtypes, size_t i)
{
    return dtypes ? dtypes[i] : DTYPE_F32;
}

/* Returns the size of a tensor in bytes, or -1 if its shape is impossible. */
static int64_t size_source(const struct tensor_source *t, enum dtype dtype)
{
    size_t bytes;

    wt__dtype_name(dtype, &bytes);
    for (size_t i = 0; i < t->rank && t->rank <= TENSOR_MAX_RANK; i++)
        if (__builtin_mul_overflow(bytes, t->shape[i], &bytes) || bytes > INT64_MAX)
            return -1;
    return t->rank <= TENSOR_MAX_RANK ? (int64_t)bytes : -1;
}

static void append_metadata(struct buffer *header, const json_t *metadata)
{
    const char *key;
    json_t *value;

    wt__buffer_text(header, "{\"__metadata__\":{\"format\":\"pt\"");
    json_object_foreach((json_t *)metadata, key, value)
    {
        if (strcmp(key, "format") == 0)
            continue;
        wt__buffer_char(header, ',');
        wt__buffer_json(header, wt__str(key));
        wt__buffer_char(header, ':');
        wt__buffer_json(header, wt__json_str(metadata, key));
    }
    wt__buffer_char(header, '}');
}

static int append_header(struct buffer *header, const char *path, const struct tensor_source *tensors,
                         const enum dtype *dtypes, size_t count, const json_t *metadata, wt_error *err)
{
    int64_t at = 0;

    append_metadata(header, metadata);
    for (size_t i = 0; i < count; i++) {
        const struct tensor_source *t = &tensors[i];
        int64_t bytes = size_source(t, find_source_type(dtypes, i)), from = at;
        size_t size;

        if (bytes < 0 || __builtin_add_overflow(at, bytes, &at))
            return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" has an impossible shape", path, t->name);
        wt__buffer_char(header, ',');
        wt__buffer_json(header, wt__str(t->name));
        wt__buffer_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", wt__dtype_name(find_source_type(dtypes, i), &size));
        for (size_t d = 0; d < t->rank; d++)
            wt__buffer_printf(header, d ? ",%zu" : "%zu", t->shape[d]);
        wt__buffer_printf(header, "],\"data_offsets\":[%lld,%lld]}", (long long)from, (long long)at);
    }
    wt__buffer_char(header, '}');
    while (!header->failed && (LENGTH_BYTES + header->len) % DATA_ALIGN != 0)
        wt__buffer_char(header, ' ');
    return 0;
}

static int write_tensors(const char *path, const struct buffer *header, const struct tensor_source *tensors,
                         const enum dtype *dtypes, size_t count, wt_error *err)
{
    struct replace file;
    uint64_t length = header->len;
    int rc = wt__replace_begin(&file, path, err);

    if (rc < 0)
        return rc;
    rc = wt__replace_write(&file, &length, LENGTH_BYTES, err);
    if (rc == 0)
        rc = wt__replace_write(&file, header->ptr, header->len, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = wt__replace_write(&file, tensors[i].data, (size_t)size_source(&tensors[i], find_source_type(dtypes, i)),
                               err);
    if (rc == 0)
        rc = wt__replace_commit(&file, err);
    wt__replace_abort(&file);
    return rc;
}

int wt__safetensors_write_as(const char *path, const struct tensor_source *tensors, const enum dtype *dtypes,
                             size_t count, const json_t *metadata, wt_error *err)
{
    struct buffer header = {.max = SAFETENSORS_MAX_HEADER};
    int rc;

    if (count > SAFETENSORS_MAX_TENSORS)
        return wt__fail(err, WT_EMODEL, "%s: more than %d tensors", path, SAFETENSORS_MAX_TENSORS);
    rc = check_tensor_names(path, tensors, count, err);
    if (rc == 0)
        rc = append_header(&header, path, tensors, dtypes, count, metadata, err);
    if (rc == 0 && header.failed)
        rc = wt__fail(err, WT_ENOMEM, "%s: out of memory, or the header is over %zu MiB", path,
                      SAFETENSORS_MAX_HEADER >> 20);
    if (rc == 0)
        rc = write_tensors(path, &header, tensors, dtypes, count, err);
    wt__buffer_dispose(&header);
    return rc;
}

int wt__safetensors_write(const char *path, const struct tensor_source *tensors, size_t count, const json_t *metadata,
                          wt_error *err)
{
    return wt__safetensors_write_as(path, tensors, NULL, count, metadata, err);
}
