/* model_dir.c: finds model folders by name and lists them. */
#include "encoder/model_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sort.h"
#include "encoder/config.h"
#include "encoder/internal.h"
#include "encoder/manifest.h"
#include "encoder/packed.h"
#include "nn/safetensors.h"

bool wt__model_is_built_in(const char *folder)
{
    return strcmp(folder, MODEL_BUILT_IN) == 0;
}

bool wt__model_exists(const char *folder)
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
        return rc == WT_ENOTFOUND ? wt__fail_context(err, rc, "no models folder is known") : rc;
    *out = wt__path_join(arena, *out, "models");
    return *out ? 0 : wt__fail_nomem(err);
}

/* Returns 1 if the folder is a model, 0 if not, or WT_ENOMEM. */
static int is_model(struct arena *arena, const char *folder)
{
    char *config = wt__path_join(arena, folder, "config.json"),
         *weights = wt__path_join(arena, folder, MODEL_WEIGHTS_FILE);
    return config && weights ? wt__is_file(config) && wt__is_file(weights) : WT_ENOMEM;
}

/* Finds a model outside the models folder. Returns MODEL_BUILT_IN for the built-in model, the folder of a model that
 * came with the program, or NULL if there is no such model. */
static char *find_other_place(struct arena *arena, const char *name)
{
    if (strcmp(name, WT_BUILT_IN_MODEL) == 0)
        return wt__arena_copy(arena, STR(MODEL_BUILT_IN));
    const char *models = wt__program_models(arena);
    char *folder = models ? wt__path_join(arena, models, name) : NULL;
    return folder && is_model(arena, folder) > 0 ? folder : NULL;
}

/* Finds a model by a name with a slash. The name is that of a pulled model if it exists, otherwise a path. */
static int find_model_path(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err)
{
    char *models;
    *out = NULL;
    if (wt__hub_is_name(name) && wt__models_folder(&models, arena, models_dir, NULL) == 0)
        *out = wt__path_join(arena, models, name);
    if (!*out || is_model(arena, *out) <= 0)
        *out = wt__arena_copy(arena, wt__str(name));
    return *out ? 0 : wt__fail_nomem(err);
}

int wt__model_folder(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err)
{
    wt_error nowhere;
    if (!*name)
        return wt__fail(err, WT_EINVAL, "the name of the model is empty");
    if (strchr(name, '/'))
        return find_model_path(out, arena, models_dir, name, err);
    int rc = wt__models_folder(out, arena, models_dir, &nowhere);
    if (rc == 0)
        *out = wt__path_join(arena, *out, name);
    if (rc == WT_ENOMEM || (rc == 0 && !*out))
        return wt__fail_nomem(err);
    int own = rc == 0 ? is_model(arena, *out) : 0;
    if (own < 0)
        return wt__fail_nomem(err);
    char *along = own ? NULL : find_other_place(arena, name);
    if (along)
        *out = along;
    if (rc < 0 && !along && err)
        *err = nowhere;
    return along ? 0 : rc;
}

int wt__model_find_installed(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err)
{
    int rc = wt__model_folder(out, arena, models_dir, name, err);
    if (rc == 0 && !wt__model_exists(*out))
        rc = wt__fail(err, WT_ENOTFOUND, "the model %s is not installed in %s", name, *out);
    return rc;
}

bool wt__model_included(const char *folder, const char *models_dir)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *models, *any = NULL; /* a path in the models folder, to test if that folder belongs to the program */
    if (wt__models_folder(&models, &arena, models_dir, NULL) == 0)
        any = wt__path_join(&arena, models, "any");
    return !(any && wt__program_has(any)) && wt__program_has(folder);
}

const char *wt__model_choose(const char *name, const char *models_dir)
{
    static const char *const preferred[] = {WT_DEFAULT_MODEL, WT_BASE_MODEL};
    for (size_t i = 0; !name && i < sizeof preferred / sizeof *preferred; i++) {
        WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
        char *folder;
        if (wt__model_folder(&folder, &arena, models_dir, preferred[i], NULL) == 0 && is_model(&arena, folder) > 0)
            return preferred[i];
    }
    return name ? name : WT_BUILT_IN_MODEL;
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

/* A listing in progress, of a folder and its subfolders. */
struct model_listing {
    struct arena *arena;
    char **names; /* [MODELS_MAX] */
    size_t count;
    wt_error *err;
};

/* Lists the models of a folder. prefix: "" for the models folder, "owner/" for the models of an owner on the hub. With
 * the prefix "", each subfolder that is not a model is searched as the folder of an owner. */
static int list_model_names(struct model_listing *listing, const char *models, const char *prefix)
{
    struct arena *arena = listing->arena;
    struct dirent *entry;
    int rc = 0;
    DIR *directory = opendir(models);
    if (!directory)
        return errno == ENOENT ? 0 : wt__fail_errno(listing->err, "open", models);
    while (rc == 0 && listing->count < MODELS_MAX && (entry = readdir(directory))) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer name = {0};
        if (entry->d_name[0] == '.')
            continue;
        wt__buffer_printf(&name, "%s%s", prefix, entry->d_name);
        char *folder = wt__path_join(arena, models, entry->d_name);
        int found = folder && !name.failed ? is_model(arena, folder) : WT_ENOMEM;
        if (found > 0 && !(listing->names[listing->count++] = wt__arena_copy(arena, wt__buffer_view(&name))))
            found = WT_ENOMEM;
        wt__buffer_char(&name, '/');
        if (found < 0 || name.failed)
            rc = wt__fail_nomem(listing->err);
        else if (found == 0 && !*prefix && wt__is_folder(folder))
            rc = list_model_names(listing, folder, name.ptr);
    }
    closedir(directory);
    return rc;
}

int wt__model_names(struct arena *arena, const char *models, char ***names, size_t *count, wt_error *err)
{
    struct model_listing listing = {.arena = arena, .names = wt__arena_array(arena, char *, MODELS_MAX), .err = err};
    int rc = listing.names ? list_model_names(&listing, models, "") : wt__fail_nomem(err);
    *names = listing.names;
    *count = listing.count;
    wt__sort_texts(*names, rc == 0 ? *count : 0);
    return rc;
}

static void describe_config(struct model_info *out, const struct model_config *config)
{
    out->architecture = wt__architecture_at(config->architecture)->model_type;
    out->dimension = config->hidden;
    out->layers = config->layers;
    out->heads = config->heads;
    out->max_tokens = config->max_tokens;
}

int wt__model_info_read(struct model_info *out, const char *folder, wt_error *err)
{
    if (wt__model_is_built_in(folder)) {
        const struct packed_header *header = (const void *)wt__built_in_model;
        *out = (struct model_info){.packed = true, .parameters = header->parameters, .bytes = wt__built_in_model_len};
        describe_config(out, &header->config);
        return 0;
    }
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__file_unmap) struct mapping map = {0};
    WT_CLEANUP(wt__safetensors_dispose) struct safetensors weights = {0};
    struct model_config config;
    char *path = wt__path_join(&arena, folder, MODEL_WEIGHTS_FILE);
    *out = (struct model_info){0};
    WT_CHECK_ALLOC(path, err);
    WT_TRY(wt__model_config_read(&config, folder, err));
    int rc = wt__file_map(&map, path, err);
    if (rc == WT_ENOTFOUND)
        return wt__fail(err, WT_EMODEL, "%s: the model has no %s", folder, MODEL_WEIGHTS_FILE);
    WT_TRY(rc);
    WT_TRY(wt__safetensors_open(&weights, path, map.ptr, map.len, err));
    for (size_t i = 0; i < weights.count; i++)
        out->parameters += wt__tensor_is_real(&weights.tensors[i]) ? weights.tensors[i].count : 0;
    out->packed = wt__model_cache_current(folder, NULL);
    describe_config(out, &config);
    out->bytes = map.len;
    return 0;
}
