/* model_dir.c: names to folders and back. */
#include "encoder/model_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sort.h"
#include "encoder/built_in.h"
#include "encoder/cache.h"
#include "encoder/config.h"
#include "encoder/pack.h"
#include "nn/safetensors.h"

bool wt__model_is_built_in(const char *folder)
{
    return strcmp(folder, MODEL_BUILT_IN) == 0;
}

bool wt__model_is_there(const char *folder)
{
    return wt__model_is_built_in(folder) || wt__is_folder(folder);
}

int wt__models_folder(char **out, struct arena *arena, const char *models_dir, wt_error *err)
{
    const char *folder = models_dir && *models_dir ? models_dir : getenv("WHICHTOOL_MODELS");

    if (folder && *folder) {
        *out = wt__arena_copy(arena, wt__str(folder));
        return *out ? 0 : wt__fail_nomem(err);
    }
    int rc = wt__data_folder(out, arena, err);
    if (rc < 0)
        return rc == WT_ENOTFOUND ? wt__fail_context(err, rc, "there is no place for models") : rc;
    *out = wt__path_join(arena, *out, "models");
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__model_folder(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err)
{
    if (!*name)
        return wt__fail(err, WT_EINVAL, "no model was named");
    bool named = strchr(name, '/') != NULL;
    bool built_in = strcmp(name, WT_BUILT_IN_MODEL) == 0;
    int rc = named ? 0 : wt__models_folder(out, arena, models_dir, built_in ? NULL : err);
    if (rc < 0 && !(rc == WT_ENOTFOUND && built_in))
        return rc;
    *out = named     ? wt__arena_copy(arena, wt__str(name))
           : rc == 0 ? wt__path_join(arena, *out, name)
                     : wt__arena_copy(arena, STR(MODEL_BUILT_IN));
    if (*out && built_in && !wt__is_folder(*out))
        *out = wt__arena_copy(arena, STR(MODEL_BUILT_IN));
    return *out ? 0 : wt__fail_nomem(err);
}

struct str wt__model_name(const char *folder)
{
    struct str name = wt__str(folder);

    while (name.len > 1 && name.ptr[name.len - 1] == '/')
        name.len--;
    for (size_t i = name.len; i > 0; i--)
        if (name.ptr[i - 1] == '/' && name.len > 1)
            return (struct str){name.ptr + i, name.len - i};
    return name;
}

/* 1 when models/name is a model, 0 when not, or WT_ENOMEM. */
static int is_model(struct arena *arena, const char *models, const char *name)
{
    char *folder = wt__path_join(arena, models, name);
    char *config = folder ? wt__path_join(arena, folder, "config.json") : NULL;
    char *weights = folder ? wt__path_join(arena, folder, MODEL_WEIGHTS) : NULL;

    return config && weights ? wt__is_file(config) && wt__is_file(weights) : WT_ENOMEM;
}

int wt__model_names(struct arena *arena, const char *models_dir, char ***names, size_t *count, wt_error *err)
{
    char *models;
    struct dirent *entry;
    int rc = wt__models_folder(&models, arena, models_dir, err);

    *count = 0;
    *names = wt__arena_array(arena, char *, MODELS_MAX);
    if (rc < 0 || !*names)
        return rc < 0 ? rc : wt__fail_nomem(err);
    DIR *directory = opendir(models);
    if (!directory)
        return errno == ENOENT ? 0 : wt__fail_errno(err, "open", models);
    while (rc == 0 && *count < MODELS_MAX && (entry = readdir(directory))) {
        int found = entry->d_name[0] == '.' ? 0 : is_model(arena, models, entry->d_name);

        if (found > 0)
            (*names)[*count] = wt__arena_copy(arena, wt__str(entry->d_name));
        if (found < 0 || (found > 0 && !(*names)[*count]))
            rc = wt__fail_nomem(err);
        *count += found > 0;
    }
    closedir(directory);
    wt__sort_texts(*names, rc == 0 ? *count : 0);
    return rc;
}

static void describe(struct model_info *out, const struct model_config *config)
{
    out->architecture = wt__architecture_at(config->architecture)->model_type;
    out->dimension = config->hidden;
    out->layers = config->layers;
    out->heads = config->heads;
    out->max_tokens = config->max_tokens;
}

static void describe_built_in(struct model_info *out)
{
    const struct packed_header *header = (const void *)wt__built_in_model;
    *out = (struct model_info){.packed = true, .parameters = header->parameters, .bytes = wt__built_in_model_len};
    describe(out, &header->config);
}

int wt__model_info_read(struct model_info *out, const char *folder, wt_error *err)
{
    if (wt__model_is_built_in(folder)) {
        describe_built_in(out);
        return 0;
    }
    struct safetensors weights = {0};
    struct model_config config;
    struct mapping map = {0};
    struct arena arena = {0};
    int rc = wt__model_config_read(&config, folder, err);
    char *path = wt__path_join(&arena, folder, MODEL_WEIGHTS);

    *out = (struct model_info){0};
    if (rc == 0)
        rc = path ? wt__file_map(&map, path, err) : wt__fail_nomem(err);
    if (rc == WT_ENOTFOUND)
        rc = wt__fail(err, WT_EMODEL, "%s: the model has no %s", folder, MODEL_WEIGHTS);
    if (rc == 0)
        rc = wt__safetensors_open(&weights, path, map.ptr, map.len, err);
    for (size_t i = 0; rc == 0 && i < weights.count; i++)
        out->parameters += weights.tensors[i].dtype == DTYPE_I64 ? 0 : weights.tensors[i].count;
    if (rc == 0) {
        out->packed = wt__model_cache_current(folder, NULL);
        describe(out, &config);
        out->bytes = map.len;
    }
    wt__safetensors_dispose(&weights);
    wt__file_unmap(&map);
    wt__arena_dispose(&arena);
    return rc;
}
