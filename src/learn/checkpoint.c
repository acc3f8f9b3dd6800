/* checkpoint.c: writes and reads checkpoints, the state of a training in a safetensors file (loop.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "learn/loop.h"
#include "nn/safetensors.h"

#define BUFFERS "buffers" /* name of the tensor of the objective's buffers */
/* Names in checkpoints of earlier versions: of the tensor BUFFERS, and of the member "measured". */
#define OLD_BUFFERS "carried"
#define OLD_MEASURED "judged"
enum { PARTS = 3, NAME_BYTES = 256, EDITION = 1 };
static const char *const part_names[PARTS] = {"value", "first", "second"};

static void part_name(char out[NAME_BYTES], const struct model_parameter *parameter, unsigned part)
{
    snprintf(out, NAME_BYTES, "%s/%s", part_names[part], parameter->name);
}

static const float *get_tensor_part(const struct adamw *adamw, size_t i, unsigned part)
{
    return part == 0 ? adamw->parameters[i].value : part == 1 ? adamw->first[i] : adamw->second[i];
}

/* Writes a double as hexadecimal text, which preserves it exactly, including NaN. */
static int add_double(json_t *object, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%a", value);
    return json_object_set_new(object, key, json_string(text));
}

/* Returns the metadata of the file: an object whose member "training" is the state as JSON text. Returns NULL if out of
 * memory. */
static json_t *pack_state(const char *identity, const struct loop_state *state, uint64_t optimiser_step)
{
    json_auto_t *object = json_object();
    bool failed = json_object_set_new(object, "edition", json_integer(EDITION)) < 0;
    failed |= json_object_set_new(object, "identity", json_string(identity)) < 0;
    failed |= json_object_set_new(object, "step", json_integer((json_int_t)state->step)) < 0;
    failed |= json_object_set_new(object, "steps", json_integer((json_int_t)state->steps)) < 0;
    failed |= json_object_set_new(object, "best_step", json_integer((json_int_t)state->best_step)) < 0;
    failed |= json_object_set_new(object, "measured", json_integer((json_int_t)state->measured)) < 0;
    failed |= json_object_set_new(object, "worse", json_integer((json_int_t)state->worse)) < 0;
    failed |= json_object_set_new(object, "optimiser_step", json_integer((json_int_t)optimiser_step)) < 0;
    failed |= add_double(object, "before", state->before) < 0;
    failed |= add_double(object, "best", state->best) < 0;
    failed |= add_double(object, "seconds", state->seconds) < 0;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (failed || wt__json_write(&text, object) < 0 || text.failed)
        return NULL;
    return json_pack("{s:s}", "training", text.ptr);
}

int wt__checkpoint_write(const char *path, const char *identity, const struct loop_state *state,
                         const struct adamw *adamw, const struct train_buffers *buffers, wt_error *err)
{
    size_t count = 0, most = adamw->count * PARTS + 1;
    WT_AUTO_FREE struct tensor_source *tensors = wt__alloc_array(most, sizeof *tensors);
    WT_AUTO_FREE char(*names)[NAME_BYTES] = wt__alloc_array(most, sizeof *names);
    json_auto_t *metadata = pack_state(identity, state, adamw->step);
    WT_CHECK_ALLOC(tensors && names && metadata, err);
    for (size_t i = 0; i < adamw->count; i++)
        for (unsigned part = 0; part < PARTS; part++) {
            const float *data = get_tensor_part(adamw, i, part);
            if (!adamw->first[i] || !data) /* a frozen parameter is the same as in the initial model */
                continue;
            part_name(names[count], &adamw->parameters[i], part);
            tensors[count] = (struct tensor_source){
                .name = names[count], .data = data, .rank = 1, .shape = {adamw->parameters[i].count}};
            count++;
        }
    if (buffers->count > 0)
        tensors[count++] =
            (struct tensor_source){.name = BUFFERS, .data = buffers->values, .rank = 1, .shape = {buffers->count}};
    return wt__safetensors_write(path, tensors, count, metadata, err);
}

static int fail_damaged(const char *path, wt_error *err)
{
    return wt__fail(err, WT_EFORMAT, "%s is not a training state that this version can resume; delete it", path);
}

static double read_double(const json_t *object, const char *key)
{
    struct str text = wt__json_str(object, key);
    return text.ptr ? strtod(text.ptr, NULL) : NAN;
}

static int read_loop_state(const char *path, const json_t *metadata, const char *identity, struct loop_state *state,
                           uint64_t *optimiser_step, wt_error *err)
{
    struct str text = wt__json_str(metadata, "training");
    json_auto_t *object = NULL;
    if (text.len == 0 || wt__json_parse(&object, text.ptr, text.len, NULL) < 0)
        return fail_damaged(path, err);
    int64_t step = wt__json_int(object, "step", -1), steps = wt__json_int(object, "steps", -1);
    int64_t best_step = wt__json_int(object, "best_step", -1), worse = wt__json_int(object, "worse", -1);
    int64_t measured = wt__json_int(object, "measured", wt__json_int(object, OLD_MEASURED, -1));
    int64_t optimised = wt__json_int(object, "optimiser_step", -1);
    if (wt__json_int(object, "edition", 0) != EDITION || step < 0 || steps < step || best_step < 0 ||
        best_step > step || measured < best_step || measured > step || worse < 0 || optimised < 0 || optimised > step)
        return fail_damaged(path, err);
    if (!wt__str_equal(wt__json_str(object, "identity"), wt__str(identity)))
        return wt__fail(
            err, WT_EFORMAT,
            "%s is the state of a training with other data, options or model: usages may have been recorded "
            "since; train without resuming to start again",
            path);
    *state = (struct loop_state){.step = (uint64_t)step,
                                 .steps = (uint64_t)steps,
                                 .best_step = (uint64_t)best_step,
                                 .measured = (uint64_t)measured,
                                 .worse = (uint64_t)worse,
                                 .before = read_double(object, "before"),
                                 .best = read_double(object, "best"),
                                 .seconds = read_double(object, "seconds")};
    *optimiser_step = (uint64_t)optimised;
    return 0;
}

/* Reads the three tensors of parameter i: the values and the two moments. A frozen parameter has no tensors. */
static int read_parameter(const char *path, const struct safetensors *file, struct adamw *adamw, size_t i,
                          wt_error *err)
{
    char name[NAME_BYTES];
    size_t count = adamw->parameters[i].count;
    if (!adamw->first[i])
        return 0;
    WT_AUTO_FREE float *first = wt__alloc_array(count, sizeof *first);
    WT_AUTO_FREE float *second = wt__alloc_array(count, sizeof *second);
    float *const values[PARTS] = {adamw->parameters[i].value, first, second};
    WT_CHECK_ALLOC(first && second, err);
    for (unsigned part = 0; part < PARTS; part++) {
        part_name(name, &adamw->parameters[i], part);
        const struct tensor *tensor = wt__safetensors_find(file, name);
        if (!tensor || tensor->count != count || tensor->dtype != DTYPE_F32)
            return fail_damaged(path, err);
        WT_TRY(wt__tensor_floats(tensor, values[part], err));
    }
    wt__adamw_restore(adamw, i, first, second);
    return 0;
}

static int read_buffers(const char *path, const struct safetensors *file, const struct train_buffers *buffers,
                        wt_error *err)
{
    const struct tensor *tensor = wt__safetensors_find(file, BUFFERS);
    if (!tensor)
        tensor = wt__safetensors_find(file, OLD_BUFFERS);
    if (buffers->count == 0)
        return 0;
    if (!tensor || tensor->count != buffers->count || tensor->dtype != DTYPE_F32)
        return fail_damaged(path, err);
    return wt__tensor_floats(tensor, buffers->values, err);
}

int wt__checkpoint_read(const char *path, const char *identity, struct loop_state *state, struct adamw *adamw,
                        const struct train_buffers *buffers, wt_error *err)
{
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors file = {0};
    if (!wt__is_file(path))
        return 0;
    WT_TRY(wt__file_map(&map, path, err));
    int rc = wt__safetensors_open(&file, path, map.ptr, map.len, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(err) : fail_damaged(path, err);
    WT_TRY(read_loop_state(path, file.metadata, identity, state, &adamw->step, err));
    for (size_t i = 0; i < adamw->count; i++)
        WT_TRY(read_parameter(path, &file, adamw, i, err));
    WT_TRY(read_buffers(path, &file, buffers, err));
    return 1;
}

void wt__checkpoint_remove(const char *path)
{
    unlink(path);
}
