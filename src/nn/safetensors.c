/* safetensors.c: reads and writes safetensors files. The reader parses the header into a table of tensors, sorted by
 * position in the file, and checks the table in one pass. The writer writes a temporary file, which replaces the old
 * file at the end. */
#include "nn/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"

static const struct {
    const char *name;
    enum dtype dtype;
    size_t size;
} types[] = {{"F32", DTYPE_F32, 4},   {"F16", DTYPE_F16, 2},   {"BF16", DTYPE_BF16, 2}, {"F64", DTYPE_F64, 8},
             {"I64", DTYPE_I64, 8},   {"I32", DTYPE_OTHER, 4}, {"I16", DTYPE_OTHER, 2}, {"I8", DTYPE_I8, 1},
             {"U64", DTYPE_OTHER, 8}, {"U32", DTYPE_OTHER, 4}, {"U16", DTYPE_OTHER, 2}, {"U8", DTYPE_OTHER, 1},
             {"BOOL", DTYPE_OTHER, 1}};

/* Returns the name that headers use for the type. *bytes: size of one number. */
static const char *find_type_name(enum dtype dtype, size_t *bytes)
{
    size_t i = 0;
    while (types[i].dtype != dtype)
        i++;
    *bytes = types[i].size;
    return types[i].name;
}

static uint64_t read_little_endian(const unsigned char *p, size_t len)
{
    uint64_t v = 0;
    for (size_t i = len; i > 0; i--)
        v = v << 8 | p[i - 1];
    return v;
}

/* Returns a non-negative integer, or -1 if the value is anything else. */
static int64_t read_natural(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 ? (int64_t)json_integer_value(value) : -1;
}

static int read_tensor_type(struct tensor *t, const json_t *entry, size_t *size, const char *path, wt_error *err)
{
    struct str name = wt__json_str(entry, "dtype");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (wt__str_equal(name, wt__str(types[i].name))) {
            t->dtype = types[i].dtype;
            *size = types[i].size;
            return 0;
        }
    return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" has unknown type \"%.*s\"", path, t->name,
                    (int)(name.len < 20 ? name.len : 20), name.len > 0 ? name.ptr : "");
}

static int read_tensor_shape(struct tensor *t, const json_t *entry, const char *path, wt_error *err)
{
    const json_t *shape = wt__json_array(entry, "shape");
    if (!shape || json_array_size(shape) > TENSOR_MAX_RANK)
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" needs a shape of at most %d dimensions", path, t->name,
                        TENSOR_MAX_RANK);
    t->rank = json_array_size(shape);
    t->count = 1;
    for (size_t i = 0; i < t->rank; i++) {
        int64_t length = read_natural(json_array_get(shape, i));
        if (length < 0 || __builtin_mul_overflow(t->count, (size_t)length, &t->count))
            return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" has an impossible shape", path, t->name);
        t->shape[i] = (size_t)length;
    }
    return 0;
}

/* Reads one entry of the header into t. data: the `len` bytes after the header. */
static int read_tensor(struct tensor *t, const json_t *entry, const unsigned char *data, size_t len, const char *path,
                       wt_error *err)
{
    const json_t *offsets = wt__json_array(entry, "data_offsets");
    size_t size = 0, need;
    WT_TRY(read_tensor_type(t, entry, &size, path, err));
    WT_TRY(read_tensor_shape(t, entry, path, err));
    int64_t begin = read_natural(json_array_get(offsets, 0)), end = read_natural(json_array_get(offsets, 1));
    if (json_array_size(offsets) != 2 || begin < 0 || end < begin)
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" needs two ascending data_offsets", path, t->name);
    if ((uint64_t)end > len)
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" ends at byte %lld of %zu: the file is truncated", path,
                        t->name, (long long)end, len);
    t->data = data + begin;
    t->bytes = (size_t)(end - begin);
    if (__builtin_mul_overflow(t->count, size, &need) || need != t->bytes)
        return wt__fail(err, WT_EMODEL, "%s: tensor \"%s\" has %zu bytes, which do not match its shape and type", path,
                        t->name, t->bytes);
    return 0;
}

static int compare_positions(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Checks that every byte of the data belongs to exactly one tensor. */
static int check_coverage(const struct safetensors *file, const unsigned char *data, size_t len, const char *path,
                          wt_error *err)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < file->count; i++) {
        const struct tensor *t = &file->tensors[i];
        if (t->data != at)
            return wt__fail(err, WT_EMODEL, "%s: the data has %s before tensor \"%s\"", path,
                            t->data < at ? "an overlap" : "a gap", t->name);
        at += t->bytes;
    }
    if (at != data + len)
        return wt__fail(err, WT_EMODEL, "%s: %zu bytes follow the last tensor", path, (size_t)(data + len - at));
    return 0;
}

/* Links each I8 tensor NAME to its scales, the F32 tensor "NAME.scale" with one number per row. */
static int link_scales(struct safetensors *file, wt_error *err)
{
    static const char suffix[] = ".scale";
    WT_CLEANUP(wt__map_dispose) struct map bytes = {0};
    for (size_t i = 0; i < file->count; i++)
        if (file->tensors[i].dtype == DTYPE_I8 && file->tensors[i].rank > 0)
            WT_CHECK_ALLOC(wt__map_insert(&bytes, wt__str(file->tensors[i].name), (uint32_t)i, NULL), err);
    for (size_t i = 0; bytes.len > 0 && i < file->count; i++) {
        struct tensor *scale = &file->tensors[i];
        struct str name = wt__str(scale->name);
        if (scale->dtype != DTYPE_F32 || scale->rank != 1 || name.len < sizeof(suffix))
            continue;
        name.len -= sizeof(suffix) - 1;
        if (strcmp(name.ptr + name.len, suffix) != 0)
            continue;
        const uint32_t *at = wt__map_get(&bytes, name);
        if (!at || file->tensors[*at].shape[0] != scale->count)
            continue;
        file->tensors[*at].scale = scale->data;
        scale->is_scale = true;
    }
    return 0;
}

static int check_metadata(const json_t *metadata, const char *path, wt_error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return wt__fail(err, WT_EMODEL, "%s: __metadata__ must be an object", path);
    json_object_foreach((json_t *)metadata, key, value)
    {
        if (!json_is_string(value))
            return wt__fail(err, WT_EMODEL, "%s: the values of __metadata__ must be strings", path);
    }
    return 0;
}

static int read_tensors(struct safetensors *file, const json_t *header, const unsigned char *data, size_t len,
                        const char *path, wt_error *err)
{
    const char *key;
    json_t *entry;
    if (json_object_size(header) > SAFETENSORS_MAX_TENSORS)
        return wt__fail(err, WT_EMODEL, "%s: more than %d tensors", path, SAFETENSORS_MAX_TENSORS);
    file->tensors = calloc(json_object_size(header) + 1, sizeof(struct tensor));
    WT_CHECK_ALLOC(file->tensors, err);
    json_object_foreach((json_t *)header, key, entry)
    {
        struct tensor *t = &file->tensors[file->count];
        if (strcmp(key, "__metadata__") == 0) {
            WT_TRY(check_metadata(entry, path, err));
            file->metadata = json_incref(entry);
        } else {
            t->name = wt__arena_copy(&file->names, wt__str(key));
            WT_CHECK_ALLOC(t->name, err);
            WT_TRY(read_tensor(t, entry, data, len, path, err));
            file->count++;
        }
    }
    qsort(file->tensors, file->count, sizeof(struct tensor), compare_positions);
    WT_TRY(check_coverage(file, data, len, path, err));
    return link_scales(file, err);
}

int wt__safetensors_open(struct safetensors *out, const char *path, const void *bytes, size_t len, wt_error *err)
{
    const unsigned char *p = bytes;
    json_auto_t *header = NULL;
    *out = (struct safetensors){0};
    if (len < 8)
        return wt__fail(err, WT_EMODEL, "%s: not safetensors: the file has only %zu bytes", path, len);
    uint64_t header_len = read_little_endian(p, 8);
    if (header_len > SAFETENSORS_MAX_HEADER)
        return wt__fail(err, WT_EMODEL, "%s: not safetensors, or the header is over %zu MiB", path,
                        SAFETENSORS_MAX_HEADER >> 20);
    if (header_len > len - 8)
        return wt__fail(err, WT_EMODEL, "%s: the file is truncated inside its header", path);
    if (header_len == 0 || p[8] != '{')
        return wt__fail(err, WT_EMODEL, "%s: not safetensors: the header does not begin with {", path);
    int rc = wt__json_parse(&header, (const char *)p + 8, (size_t)header_len, err);
    if (rc < 0)
        return wt__fail_context(err, rc == WT_ENOMEM ? rc : WT_EMODEL, "%s: header", path);
    rc = read_tensors(out, header, p + 8 + header_len, len - 8 - (size_t)header_len, path, err);
    if (rc < 0)
        wt__safetensors_dispose(out);
    return rc;
}

void wt__safetensors_dispose(struct safetensors *file)
{
    if (!file)
        return;
    free(file->tensors);
    json_decref(file->metadata);
    wt__arena_dispose(&file->names);
    *file = (struct safetensors){0};
}

const struct tensor *wt__safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

static float float_from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Converts IEEE half precision, including subnormal numbers, infinities and NaN. */
static float float_from_half(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return float_from_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent > 0)
        return float_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float value = (float)fraction * 0x1p-24f;
    return sign ? -value : value;
}

bool wt__tensor_is_real(const struct tensor *tensor)
{
    if (tensor->dtype == DTYPE_I8)
        return tensor->scale != NULL;
    return tensor->dtype != DTYPE_I64 && tensor->dtype != DTYPE_OTHER && !tensor->is_scale;
}

void wt__tensor_scales(const struct tensor *tensor, float *out)
{
    for (size_t row = 0; row < tensor->shape[0]; row++)
        out[row] = float_from_bits((uint32_t)read_little_endian(tensor->scale + 4 * row, 4));
}

static int convert_scaled_bytes(const struct tensor *tensor, float *out, wt_error *err)
{
    size_t rows = tensor->rank > 0 ? tensor->shape[0] : 0, width = rows ? tensor->count / rows : 0;
    if (!tensor->scale)
        return wt__fail(err, WT_EMODEL,
                        "tensor \"%s\" holds bytes without an F32 tensor \"%s.scale\" of one number per row",
                        tensor->name, tensor->name);
    for (size_t row = 0; row < rows; row++) {
        float scale = float_from_bits((uint32_t)read_little_endian(tensor->scale + 4 * row, 4));
        for (size_t i = row * width; i < (row + 1) * width; i++)
            out[i] = scale * (float)(int8_t)tensor->data[i];
    }
    return 0;
}

int wt__tensor_floats(const struct tensor *tensor, float *out, wt_error *err)
{
    if (tensor->dtype == DTYPE_I8)
        return convert_scaled_bytes(tensor, out, err);
    for (size_t i = 0; i < tensor->count; i++) {
        uint64_t bits;
        switch (tensor->dtype) {
        case DTYPE_F32:
            out[i] = float_from_bits((uint32_t)read_little_endian(tensor->data + 4 * i, 4));
            break;
        case DTYPE_F16:
            out[i] = float_from_half((uint32_t)read_little_endian(tensor->data + 2 * i, 2));
            break;
        case DTYPE_BF16:
            out[i] = float_from_bits((uint32_t)read_little_endian(tensor->data + 2 * i, 2) << 16);
            break;
        case DTYPE_F64: {
            double wide;
            bits = read_little_endian(tensor->data + 8 * i, 8);
            memcpy(&wide, &bits, sizeof(wide));
            out[i] = (float)wide;
            break;
        }
        default:
            return wt__fail(err, WT_EMODEL, "tensor \"%s\" holds no floating-point numbers", tensor->name);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- writing */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written in memory order");

enum { LENGTH_BYTES = 8, DATA_ALIGN = 64 };

static int check_tensor_names(const char *path, const struct tensor_source *tensors, size_t count, wt_error *err)
{
    WT_AUTO_FREE const char **names = wt__alloc_array(count + 1, sizeof(*names));
    WT_CHECK_ALLOC(names, err);
    for (size_t i = 0; i < count; i++)
        names[i] = tensors[i].name;
    names[count] = "__metadata__";
    wt__sort_texts((char **)names, count + 1);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], names[i + 1]) == 0)
            return wt__fail(err, WT_EMODEL, "%s: duplicate tensor name \"%s\"", path, names[i]);
    return 0;
}

static enum dtype find_source_type(const enum dtype *dtypes, size_t i)
{
    return dtypes ? dtypes[i] : DTYPE_F32;
}

/* Returns the size of a tensor in bytes, or -1 if its shape is impossible. */
static int64_t size_source(const struct tensor_source *t, enum dtype dtype)
{
    size_t bytes;
    find_type_name(dtype, &bytes);
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
        wt__buffer_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", find_type_name(find_source_type(dtypes, i), &size));
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
    WT_CLEANUP(wt__replace_abort) struct replace file = {.fd = -1};
    uint64_t length = header->len;
    WT_TRY(wt__replace_begin(&file, path, err));
    WT_TRY(wt__replace_write(&file, &length, LENGTH_BYTES, err));
    WT_TRY(wt__replace_write(&file, header->ptr, header->len, err));
    for (size_t i = 0; i < count; i++)
        WT_TRY(wt__replace_write(&file, tensors[i].data, (size_t)size_source(&tensors[i], find_source_type(dtypes, i)),
                                 err));
    return wt__replace_commit(&file, err);
}

int wt__safetensors_write_as(const char *path, const struct tensor_source *tensors, const enum dtype *dtypes,
                             size_t count, const json_t *metadata, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer header = {.max = SAFETENSORS_MAX_HEADER};
    if (count > SAFETENSORS_MAX_TENSORS)
        return wt__fail(err, WT_EMODEL, "%s: more than %d tensors", path, SAFETENSORS_MAX_TENSORS);
    WT_TRY(check_tensor_names(path, tensors, count, err));
    WT_TRY(append_header(&header, path, tensors, dtypes, count, metadata, err));
    if (header.failed)
        return wt__fail(err, WT_ENOMEM, "%s: out of memory, or the header is over %zu MiB", path,
                        SAFETENSORS_MAX_HEADER >> 20);
    return write_tensors(path, &header, tensors, dtypes, count, err);
}

int wt__safetensors_write(const char *path, const struct tensor_source *tensors, size_t count, const json_t *metadata,
                          wt_error *err)
{
    return wt__safetensors_write_as(path, tensors, NULL, count, metadata, err);
}
