/* models.c: lists, installs and converts models, and encodes texts. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "encoder/manifest.h"
#include "encoder/model_files.h"
#include "encoder/model_dir.h"
#include "encoder/pull.h"
#include "engine/engine.h"

struct model_list {
    wt_models public; /* first member, so that a pointer to it is a pointer to this struct */
    struct arena arena;
    const wt_model **items;
    size_t capacity;
};

void wt_models_free(wt_models *public)
{
    if (!public)
        return;
    struct model_list *list = (struct model_list *)public;
    free(list->items);
    wt__arena_dispose(&list->arena);
    free(list);
}

static void free_model_list(struct model_list **list)
{
    if (*list)
        wt_models_free(&(*list)->public);
}

static int append_model(struct model_list *list, const wt_model *model, wt_error *err)
{
    wt_model *kept = wt__arena_array(&list->arena, wt_model, 1);
    if (!kept || wt__grow((void **)&list->items, &list->capacity, list->public.len + 1, sizeof *list->items) < 0)
        return wt__fail_nomem(err);
    *kept = *model;
    list->items[list->public.len++] = kept;
    list->public.items = list->items;
    return 0;
}

/* Describes a model from its manifest and, if the model is installed, from its folder. manifest may be NULL. */
static int describe_model(struct arena *arena, const char *models_dir, const char *folder,
                          const struct manifest *manifest, wt_model *out, wt_error *err)
{
    struct model_info info;
    struct hub_record record;
    bool recorded = !wt__model_is_built_in(folder) && wt__hub_record_read(arena, folder, &record, NULL) > 0;
    *out = (wt_model){.included = wt__model_included(folder, models_dir),
                      .name = manifest ? manifest->name : wt__arena_copy(arena, wt__model_name(folder)),
                      .path = wt__arena_copy(arena, wt__str(folder)),
                      .architecture = manifest ? manifest->architecture : "",
                      .license = manifest ? manifest->license : "",
                      .revision = recorded ? record.commit : ""};
    if (recorded)
        out->name = record.repo;
    WT_CHECK_ALLOC(out->name && out->path, err);
    out->built_in = wt__model_is_built_in(folder);
    if (out->built_in)
        out->path = "";
    out->installed = manifest && !out->built_in ? wt__manifest_has_files(manifest, folder) : wt__model_exists(folder);
    if (!out->installed) {
        out->dimension = manifest ? manifest->dimension : 0;
        return 0;
    }
    WT_TRY(wt__model_info_read(&info, folder, err));
    out->architecture = info.architecture;
    out->packed = info.packed;
    out->dimension = info.dimension;
    out->layers = info.layers;
    out->max_tokens = info.max_tokens;
    out->parameters = (size_t)info.parameters;
    out->bytes = info.bytes;
    return 0;
}

static bool is_listed_model(const struct model_list *list, const char *name)
{
    for (size_t i = 0; i < list->public.len; i++)
        if (strcmp(list->public.items[i]->name, name) == 0)
            return true;
    return false;
}

/* Describes a model and appends it. Lists an unreadable folder as not installed, so that the list stays complete. */
static int list_named_model(struct model_list *list, const char *models_dir, const char *name,
                            const struct manifest *manifest, wt_error *err)
{
    wt_model model;
    char *folder;
    int rc = wt__model_folder(&folder, &list->arena, models_dir, name, err);
    if (rc == 0)
        rc = describe_model(&list->arena, models_dir, folder, manifest, &model, err);
    if (rc == WT_EMODEL) {
        model.installed = 0;
        rc = 0;
    }
    return rc < 0 ? rc : append_model(list, &model, err);
}

const char *wt_default_model(const char *models_dir)
{
    return wt__model_choose(NULL, models_dir);
}

/* Appends the models of the folder `models` that are not listed yet. models may be NULL. */
static int list_models_folder(struct model_list *list, const char *models_dir, const char *models, wt_error *err)
{
    size_t count = 0;
    char **names;
    if (!models)
        return 0;
    WT_TRY(wt__model_names(&list->arena, models, &names, &count, err));
    for (size_t i = 0; i < count; i++)
        if (!is_listed_model(list, names[i]))
            WT_TRY(list_named_model(list, models_dir, names[i], NULL, err));
    return 0;
}

int wt_model_list(const char *models_dir, wt_models **out, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(free_model_list) struct model_list *list = wt__alloc_zeros(1, sizeof *list);
    WT_CHECK_ALLOC(list, err);
    struct manifest *manifests;
    size_t manifest_count;
    char *models;
    WT_TRY(wt__manifest_list(&list->arena, &manifests, &manifest_count, err));
    WT_TRY(wt__models_folder(&models, &list->arena, models_dir, err));
    for (size_t i = 0; i < manifest_count; i++)
        WT_TRY(list_named_model(list, models_dir, manifests[i].name, &manifests[i], err));
    WT_TRY(list_models_folder(list, models_dir, models, err));
    WT_TRY(list_models_folder(list, models_dir, wt__program_models(&list->arena), err));
    if (!is_listed_model(list, WT_BUILT_IN_MODEL))
        WT_TRY(list_named_model(list, models_dir, WT_BUILT_IN_MODEL, NULL, err));
    *out = &WT_TAKE(list)->public;
    return 0;
}

int wt_model_info(const char *models_dir, const char *name, wt_models **out, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(free_model_list) struct model_list *list = wt__alloc_zeros(1, sizeof *list);
    WT_CHECK_ALLOC(list, err);
    struct manifest manifest;
    wt_model model;
    char *folder;
    wt_error unknown;
    bool known = wt__manifest_load(&list->arena, name, &manifest, &unknown) == 0;
    WT_TRY(wt__model_folder(&folder, &list->arena, models_dir, name, err));
    if (!known && !wt__model_exists(folder))
        return wt__fail(err, WT_ENOTFOUND, "%s", unknown.message); /* the message lists the known models */
    WT_TRY(describe_model(&list->arena, models_dir, folder, known ? &manifest : NULL, &model, err));
    WT_TRY(append_model(list, &model, err));
    *out = &WT_TAKE(list)->public;
    return 0;
}

int wt_model_pull(const char *models_dir, const char *name, wt_progress_fn report, void *context, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__progress_dispose) struct progress progress;
    char *folder;
    wt__progress_init(&progress, report, context);
    WT_TRY(wt__models_folder(&folder, &arena, models_dir, err));
    return strchr(name, '/') ? wt__hub_pull(folder, name, &progress, err)
                             : wt__model_pull(folder, name, &progress, err);
}

/* Finds the folder of the installed model from which another model will be made. Rejects the built-in model. */
static int find_source_folder(char **out, struct arena *arena, const char *models_dir, const char *name, wt_error *err)
{
    int rc = wt__model_find_installed(out, arena, models_dir, name, err);
    if (rc == 0 && wt__model_is_built_in(*out))
        rc = wt__fail(err, WT_EMODEL, "cannot make a model from the built-in model %s; name the folder of a model",
                      name);
    return rc;
}

int wt_model_pack(const char *models_dir, const char *name, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *folder;
    WT_TRY(wt__model_find_installed(&folder, &arena, models_dir, name, err));
    return wt__encoder_pack(folder, NULL, err);
}

int wt_model_merge(const char *models_dir, const char *const *names, const double *weights, size_t count,
                   const char *out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    const char *folders[WT_MAX_MERGED] = {NULL};
    for (size_t i = 0; i < count && i < WT_MAX_MERGED; i++) {
        char *folder;
        WT_TRY(find_source_folder(&folder, &arena, models_dir, names[i], err));
        folders[i] = folder;
    }
    return wt__model_merge(folders, weights, count, out, err);
}

int wt_model_quantize(const char *models_dir, const char *name, const char *precision, const char *out, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char *folder;
    size_t p = PRECISION_INT8;
    while (precision && p < PRECISIONS && strcmp(precision, wt__precision_name(p)) != 0)
        p++;
    if (p == PRECISIONS)
        return wt__fail(err, WT_EINVAL, "cannot quantize to \"%.40s\"; use int8 or fp16", precision);
    WT_TRY(find_source_folder(&folder, &arena, models_dir, name, err));
    return wt__model_quantize(folder, (enum precision)p, out, err);
}

int wt_dimension(wt_engine *engine, wt_error *err)
{
    const struct encoder *encoder;
    int rc = wt__engine_encoder(engine, &encoder, err);
    return rc < 0 ? rc : (int)wt__encoder_dim(encoder);
}

static int encode_in_role(wt_engine *engine, enum text_role role, const char *const *texts, const size_t *lens,
                          size_t count, float *out, wt_error *err)
{
    const struct encoder *encoder;
    WT_TRY(wt__engine_encoder(engine, &encoder, err));
    WT_AUTO_FREE struct str *views = wt__alloc_array(count, sizeof *views);
    WT_CHECK_ALLOC(views, err);
    for (size_t i = 0; i < count; i++)
        views[i] = (struct str){texts[i], lens[i]};
    return wt__encode_many(encoder, role, views, count, engine->threads, out, NULL, err);
}

int wt_embed(wt_engine *engine, const char *const *texts, const size_t *lens, size_t count, float *out, wt_error *err)
{
    return encode_in_role(engine, TEXT_REQUEST, texts, lens, count, out, err);
}

int wt_embed_documents(wt_engine *engine, const char *const *texts, const size_t *lens, size_t count, float *out,
                       wt_error *err)
{
    return encode_in_role(engine, TEXT_TOOL, texts, lens, count, out, err);
}
