#include "learn/kept_head.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "encoder/model_files.h"
#include "nn/safetensors.h"
#include "retrieve/mlc.h"

static const char file_name[] = "head.safetensors";

/* Returns the identity and step of a training, or NULL if out of memory. outcome: member of that name in a
 * config.json. */
static json_t *make_head_label(const json_t *outcome)
{
    char step[24];
    snprintf(step, sizeof step, "%" PRId64, wt__json_int(outcome, "step", -1));
    return json_pack("{s:o, s:s}", "training", wt__json_string(wt__json_str(outcome, "identity")), "step", step);
}

int wt__kept_head_write(const char *folder, const float *rows, size_t tools, size_t dim, const json_t *outcome,
                        wt_error *err)
{
    struct arena arena = {0};
    const struct tensor_source head = {.name = MLC_HEAD, .data = rows, .rank = 2, .shape = {tools, dim}};
    json_t *label = make_head_label(outcome);
    char *path = wt__path_join(&arena, folder, file_name);
    int rc = path && label ? wt__make_folders(folder, err) : wt__fail_nomem(err);
    if (rc == 0)
        rc = wt__safetensors_write(path, &head, 1, label, err);
    json_decref(label);
    wt__arena_dispose(&arena);
    return rc;
}

int wt__kept_head_remove(const char *folder, wt_error *err)
{
    struct arena arena = {0};
    char *path = wt__path_join(&arena, folder, file_name);
    int rc = path ? 0 : wt__fail_nomem(err);
    if (rc == 0 && unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
        rc = wt__fail_errno(err, "remove", path);
    wt__arena_dispose(&arena);
    return rc;
}

/* Checks that the file belongs to the encoder in the same folder and to these examples. */
static int check_label(const struct safetensors *file, const char *folder, const char *data, wt_error *err)
{
    json_t *config = NULL, *label = NULL;
    int rc = wt__model_config_open(&config, folder, err);
    const json_t *outcome = wt__json_object(config, "whichtool");
    if (rc == 0 && !(label = make_head_label(outcome)))
        rc = wt__fail_nomem(err);
    if (rc == 0 && !wt__str_equal(wt__json_str(wt__json_object(outcome, "data"), "sha256"), wt__str(data)))
        rc = wt__fail(err, WT_EMODEL, "%s was trained on other data, so its head has other tools", folder);
    for (int i = 0; rc == 0 && i < 2; i++) {
        const char *name = i ? "step" : "training";
        if (!wt__str_equal(wt__json_str(label, name), wt__json_str(file->metadata, name)))
            rc = wt__fail(err, WT_EMODEL, "%s/%s belongs to another training than the encoder in that folder", folder,
                          file_name);
    }
    json_decref(label);
    json_decref(config);
    return rc;
}

static int copy_head_rows(const struct safetensors *file, const char *path, float *rows, size_t tools, size_t dim,
                          wt_error *err)
{
    const struct tensor *head = wt__safetensors_find(file, MLC_HEAD);
    if (!head || head->rank != 2 || head->shape[0] != tools || head->shape[1] != dim)
        return wt__fail(err, WT_EMODEL, "%s: needs a tensor " MLC_HEAD " of %zu rows and %zu columns", path, tools,
                        dim);
    int rc = wt__tensor_floats(head, rows, err);
    for (size_t i = 0; rc == 0 && i < tools * dim; i++)
        if (!isfinite(rows[i]))
            rc = wt__fail(err, WT_EMODEL, "%s: row %zu has a number that is not finite", path, i / dim);
    return rc;
}

int wt__kept_head_read(const char *folder, float *rows, size_t tools, size_t dim, const char *data, wt_error *err)
{
    struct arena arena = {0};
    struct mapping map = {0};
    struct safetensors file = {0};
    char *path = wt__path_join(&arena, folder, file_name);
    int rc = path ? 0 : wt__fail_nomem(err);
    if (rc == 0 && !wt__is_file(path))
        rc = wt__fail(err, WT_EMODEL,
                      "%s has no head; `train encoder --loss softmax` or `bce` trains one together with the encoder",
                      folder);
    if (rc == 0)
        rc = wt__file_map(&map, path, err);
    if (rc == 0)
        rc = wt__safetensors_open(&file, path, map.ptr, map.len, err);
    if (rc == 0)
        rc = check_label(&file, folder, data, err);
    if (rc == 0)
        rc = copy_head_rows(&file, path, rows, tools, dim, err);
    wt__safetensors_dispose(&file);
    wt__file_unmap(&map);
    wt__arena_dispose(&arena);
    return rc;
}
