/* quantize.c: writes a model with int8 or half-precision matrices.
 *
 * An int8 row is its numbers divided by a scale and rounded. SCALES_TRIED scales are tried, and the one with the least
 * squared error is chosen. The largest scale maps the largest number of the row to STEPS. The smallest is about
 * CLIP_LEAST times the largest scale and clips outliers, which gives all other numbers a finer step. */
#include "encoder/model_files.h"

#include <float.h>
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

enum { STEPS = 127, SCALES_TRIED = 16 };
static const float CLIP_LEAST = .7f, HALF_MOST = 65504;

const char *wt__precision_name(size_t i)
{
    static const char *const names[PRECISIONS] = {[PRECISION_INT8] = "int8", [PRECISION_FP16] = "fp16"};
    return i < PRECISIONS ? names[i] : NULL;
}

static int quantize_number(float x, float scale)
{
    return (int)fmaxf(fminf(rintf(x / scale), STEPS), -STEPS);
}

static double squared_error(const float *row, size_t width, float scale)
{
    double sum = 0;
    for (size_t i = 0; i < width; i++) {
        double off = (double)row[i] - (double)scale * quantize_number(row[i], scale);
        sum += off * off;
    }
    return sum;
}

/* Writes a row's bytes and returns their scale. */
static float quantize_row(const float *row, size_t width, int8_t *out)
{
    float most = 0, best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < width; i++)
        most = fmaxf(most, fabsf(row[i]));
    /* A row of zeros or of very small numbers keeps scale 0. */
    for (int tried = 0; most / STEPS * CLIP_LEAST > FLT_MIN && tried < SCALES_TRIED; tried++) {
        float scale = most / STEPS * (1 - (1 - CLIP_LEAST) * (float)tried / SCALES_TRIED);
        double error = squared_error(row, width, scale);
        if (error < least) {
            least = error;
            best = scale;
        }
    }
    for (size_t i = 0; i < width; i++)
        out[i] = best > 0 ? (int8_t)quantize_number(row[i], best) : 0;
    return best;
}

/* Converts to IEEE half precision, rounding to nearest even. */
static uint16_t convert_to_half(float x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    float fraction = frexpf(fabsf(x), &exponent); /* at least .5 and below 1, or 0 */
    if (fraction == 0)
        return sign;
    /* A subnormal is a multiple of 2^-24. A multiple that rounds to 1024 is the smallest normal number. */
    if (exponent < -13)
        return (uint16_t)(sign + (unsigned)rintf(ldexpf(fabsf(x), 24)));
    return (uint16_t)(sign + ((unsigned)(exponent + 13) << 10) + (unsigned)rintf(ldexpf(fraction, 11)));
}

struct quantizing {
    const char *folder;
    enum precision precision;
    struct mapping map;
    struct safetensors file;
    struct tensor_source *out; /* [count] tensors to write */
    enum dtype *dtypes;        /* [count] their types */
    size_t count;
    struct arena arena;
    wt_error *err;
};

static struct tensor_source *add_quantized_source(struct quantizing *q, const struct tensor *like, enum dtype dtype,
                                                  const void *data)
{
    struct tensor_source *out = &q->out[q->count];
    q->dtypes[q->count++] = dtype;
    *out = (struct tensor_source){.name = like->name, .data = data, .rank = like->rank};
    memcpy(out->shape, like->shape, sizeof(out->shape));
    return out;
}

static int add_int8_tensor(struct quantizing *q, const struct tensor *tensor, const float *floats)
{
    size_t rows = tensor->shape[0], width = rows ? tensor->count / rows : 0;
    int8_t *bytes = wt__arena_array(&q->arena, int8_t, tensor->count);
    float *scales = wt__arena_array(&q->arena, float, rows);
    WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
    wt__buffer_printf(&name, "%s.scale", tensor->name);
    char *scale_name = name.failed ? NULL : wt__arena_copy(&q->arena, wt__buffer_view(&name));
    WT_CHECK_ALLOC(bytes && scales && scale_name, q->err);
    for (size_t row = 0; row < rows; row++)
        scales[row] = quantize_row(floats + row * width, width, bytes + row * width);
    add_quantized_source(q, tensor, DTYPE_I8, bytes);
    struct tensor_source *scale = add_quantized_source(q, tensor, DTYPE_F32, scales);
    scale->name = scale_name;
    scale->rank = 1;
    return 0;
}

static int add_half_tensor(struct quantizing *q, const struct tensor *tensor, const float *floats)
{
    uint16_t *halves = wt__arena_array(&q->arena, uint16_t, tensor->count);
    WT_CHECK_ALLOC(halves, q->err);
    for (size_t i = 0; i < tensor->count; i++)
        halves[i] = convert_to_half(floats[i]);
    add_quantized_source(q, tensor, DTYPE_F16, halves);
    return 0;
}

static int quantize_tensor(struct quantizing *q, const struct tensor *tensor)
{
    float *floats = wt__arena_array(&q->arena, float, tensor->count);
    float most = q->precision == PRECISION_FP16 && tensor->rank >= 2 ? HALF_MOST : FLT_MAX;
    WT_CHECK_ALLOC(floats, q->err);
    WT_TRY(wt__tensor_floats(tensor, floats, q->err));
    for (size_t i = 0; i < tensor->count; i++)
        if (!(fabsf(floats[i]) <= most))
            return wt__fail(q->err, WT_EMODEL, "%s: tensor \"%s\" holds %g, which does not fit %s", q->folder,
                            tensor->name, (double)floats[i], wt__precision_name(q->precision));
    if (tensor->rank < 2) {
        add_quantized_source(q, tensor, DTYPE_F32, floats);
        return 0;
    }
    return q->precision == PRECISION_FP16 ? add_half_tensor(q, tensor, floats) : add_int8_tensor(q, tensor, floats);
}

static int quantize_weights(struct quantizing *q)
{
    char *path = wt__path_join(&q->arena, q->folder, MODEL_WEIGHTS_FILE);
    WT_CHECK_ALLOC(path, q->err);
    int rc = wt__file_map(&q->map, path, q->err);
    if (rc == WT_ENOTFOUND)
        return wt__fail(q->err, WT_EMODEL, "%s: the model has no %s", q->folder, MODEL_WEIGHTS_FILE);
    WT_TRY(rc);
    WT_TRY(wt__safetensors_open(&q->file, path, q->map.ptr, q->map.len, q->err));
    q->out = wt__arena_array(&q->arena, struct tensor_source, 2 * q->file.count);
    q->dtypes = wt__arena_array(&q->arena, enum dtype, 2 * q->file.count);
    WT_CHECK_ALLOC(q->out && q->dtypes, q->err);
    for (size_t i = 0; i < q->file.count; i++)
        if (wt__tensor_is_real(&q->file.tensors[i]))
            WT_TRY(quantize_tensor(q, &q->file.tensors[i]));
    return 0;
}

/* Returns the model's own members with {"quantized": {"precision", "name", "sha256"}} added, or NULL if out of
 * memory. */
static json_t *describe_quantization(const struct quantizing *q, const json_t *config)
{
    const json_t *had = wt__json_object(config, "whichtool");
    json_auto_t *members = had ? json_deep_copy(had) : json_object();
    struct str name = wt__model_name(q->folder);
    unsigned char digest[32];
    char hex[65];
    wt__sha256(q->map.ptr, q->map.len, digest);
    wt__sha256_hex(digest, hex);
    json_t *about = json_pack("{s:s, s:o, s:s}", "precision", wt__precision_name(q->precision), "name",
                              wt__json_string(name), "sha256", hex);
    return json_object_set_new(members, "quantized", about) == 0 ? WT_TAKE(members) : NULL;
}

static int save_quantized(struct quantizing *q, const char *out)
{
    char *path = wt__path_join(&q->arena, out, MODEL_WEIGHTS_FILE);
    WT_CLEANUP(json_decrefp) json_t *config = NULL;
    WT_CLEANUP(json_decrefp) json_t *members = NULL;
    WT_CHECK_ALLOC(path, q->err);
    WT_TRY(wt__model_config_open(&config, q->folder, q->err));
    members = describe_quantization(q, config);
    WT_CHECK_ALLOC(members, q->err);
    WT_TRY(wt__make_folders(out, q->err));
    WT_TRY(wt__model_copy_tokenizer(q->folder, out, q->err));
    WT_TRY(wt__model_copy_modules(q->folder, out, q->err));
    WT_TRY(wt__safetensors_write_as(path, q->out, q->dtypes, q->count, NULL, q->err));
    return wt__model_config_save(config, out, q->precision == PRECISION_FP16 ? "float16" : "int8", members, q->err);
}

static void close_quantizing(struct quantizing *q)
{
    wt__safetensors_dispose(&q->file);
    wt__file_unmap(&q->map);
    wt__arena_dispose(&q->arena);
}

int wt__model_quantize(const char *folder, enum precision precision, const char *out, wt_error *err)
{
    WT_CLEANUP(close_quantizing) struct quantizing q = {.folder = folder, .precision = precision, .err = err};
    struct model_config config;
    WT_TRY(wt__model_refuse_replacing(out, err));
    WT_TRY(wt__model_config_read(&config, folder, err)); /* reject models that cannot be run */
    WT_TRY(quantize_weights(&q));
    return save_quantized(&q, out);
}
