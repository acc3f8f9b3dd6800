/* status.c: reports the state of an engine without opening models. Counts come from the store's indexes, the hash of a
 * model from its packed form, and trained models from their config.json. The report does not show whether a model can
 * be used. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "encoder/encoder.h"
#include "encoder/model_dir.h"
#include "engine/engine.h"
#include "recipe/trained.h"
#include "recipe/recipes.h"
#include "retrieve/document.h"
#include "retrieve/vector_cache.h"

enum {
    CONFIG_MAX = 64 << 20, /* maximum bytes of a config.json */
    FILES_MAX = 100000     /* maximum files of a folder */
};

struct status_result {
    wt_status public; /* first member, so that a pointer to it is a pointer to this struct */
    struct arena arena;
};

struct status_reader {
    struct status_result *status;
    wt_engine *engine;
    char model[65];    /* hash of the engine's encoder; "" if unknown */
    char encoder[65];  /* hash of the encoder of the trained models; "" if unknown */
    uint64_t requests; /* distinct requests usable for training */
    wt_error *err;
};

void wt_status_free(wt_status *public)
{
    wt__arena_free_owner(public, offsetof(struct status_result, arena));
}

static void free_status_result(struct status_result **status)
{
    if (*status)
        wt_status_free(&(*status)->public);
}

/* ---------------------------------------------------------------- store */

static int report_providers(struct status_reader *r, struct store *store)
{
    wt_status *out = &r->status->public;
    struct provider_count *found;
    size_t count;
    WT_TRY(wt__store_providers(store, &r->status->arena, &found, &count, r->err));
    wt_provider_status *items = wt__arena_array(&r->status->arena, wt_provider_status, count);
    WT_CHECK_ALLOC(items, r->err);
    for (size_t i = 0; i < count; i++) {
        items[i] = (wt_provider_status){found[i].name, found[i].tools};
        out->tools += found[i].tools;
    }
    out->provider_count = count;
    out->providers = wt__arena_pointers(&r->status->arena, items, count, sizeof *items);
    return out->providers ? 0 : wt__fail_nomem(r->err);
}

/* Counts the tools of a view, whose own store is empty. */
static int report_view(struct status_reader *r)
{
    wt_catalog_info info = {0};
    WT_TRY(r->engine->view->count(r->engine, NULL, &info, r->err));
    r->status->public.tools = info.tools;
    return 0;
}

/* Counts the vectors of the model. If the hash of the model is unknown, takes the hash of the newest model of that name
 * in the store. */
static int report_vectors(struct status_reader *r, struct store *store)
{
    wt_status *out = &r->status->public;
    char *stored = r->model;
    if (!*r->model && *out->model)
        WT_TRY(wt__store_model_hash(store, out->model, &r->status->arena, &stored, r->err));
    if (!*stored)
        return 0;
    WT_TRY(wt__store_count_of_model(store, wt__document_kind, NULL, stored, &out->embedded, r->err));
    return wt__store_count_of_model(store, wt__document_kind, wt__document_former_kind, stored, &out->encoder_embedded,
                                    r->err);
}

/* Reports the encoder a search would use. */
static int report_encoder(struct status_reader *r, struct store *store)
{
    wt_status *out = &r->status->public;
    const char *folder;
    uint64_t count;
    out->encoder = out->model_installed ? out->model : "";
    out->better = wt__engine_better_model(r->engine);
    if (out->encoder_embedded >= out->tools)
        return 0;
    int rc = wt__engine_fallback_folder(r->engine, store, &folder, &count, r->err);
    if (rc < 0 || count <= out->encoder_embedded)
        return rc;
    out->encoder = wt__arena_copy(&r->status->arena, wt__model_name(folder));
    out->encoder_embedded = count;
    return out->encoder ? 0 : wt__fail_nomem(r->err);
}

static int report_store(struct status_reader *r)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    wt_status *out = &r->status->public;
    struct usage_info usages;
    WT_TRY(wt__open_reader(&reader, r->engine, r->err));
    WT_TRY(wt__store_read_begin(reader.store, r->err));
    if (!wt__store_private(reader.store))
        WT_TRY(wt__store_version(reader.store, &out->store_version, r->err));
    WT_TRY(report_providers(r, reader.store));
    if (r->engine->view)
        WT_TRY(report_view(r));
    WT_TRY(report_vectors(r, reader.store));
    WT_TRY(report_encoder(r, reader.store));
    WT_TRY(wt__store_usage_info(reader.store, &usages, r->err));
    out->usages = usages.usages;
    out->store_bytes = wt__store_size(reader.store);
    return wt__store_count_teaching(reader.store, &out->teaching, &r->requests, r->err);
}

/* ---------------------------------------------------------------- trained models */

/* Reads a config.json and renames old members. NULL if it is not a JSON object or out of memory. */
static json_t *read_trained_config(const char *path)
{
    WT_AUTO_FREE char *text = NULL;
    json_t *config = NULL;
    size_t len;
    if (wt__file_read(&text, &len, path, CONFIG_MAX, NULL) < 0 || wt__json_parse(&config, text, len, NULL) < 0)
        return NULL;
    if (json_is_object(config) && wt__rename_members(config))
        return config;
    json_decref(config);
    return NULL;
}

static struct str path_tail(struct str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return (struct str){path.ptr + at, path.len - at};
}

/* Returns why a trained model does not match the current encoder, or NULL. */
static const char *stale_reason(const struct status_reader *r, const json_t *config)
{
    struct str made_with = wt__json_str(wt__json_object(config, "encoder"), "hash");
    if (made_with.len == 0 || !*r->encoder || wt__str_equal(made_with, wt__str(r->encoder)))
        return NULL;
    return "the encoder has changed since; train it again";
}

static int describe_trained(struct status_reader *r, const char *path, const json_t *config, wt_trained_status *out)
{
    const json_t *about = wt__json_object(config, "whichtool");
    const json_t *data = wt__json_object(about, "data"), *dev = wt__json_object(about, "dev");
    struct arena *arena = &r->status->arena;
    struct str source = wt__json_str(data, "source");
    struct stat info;
    *out = (wt_trained_status){
        .lesson = wt__arena_copy(arena, wt__json_str(about, "lesson")),
        .data = wt__arena_copy(arena, source),
        .figure = wt__arena_copy(arena, wt__json_str(dev, "figure")),
        .time = stat(path, &info) == 0 ? info.st_mtime : 0,
        .recorded_use = wt__str_equal(path_tail(source), path_tail(wt__str(r->engine->path))),
        .requests = (uint64_t)wt__json_int(data, "requests", 0),
        .dev_requests = (uint64_t)wt__json_int(data, "dev_requests", 0),
        .before = wt__json_real(dev, "before", NAN),
        .after = wt__json_real(dev, "after", NAN),
        .stale = stale_reason(r, config),
    };
    return out->lesson && out->data && out->figure ? 0 : wt__fail_nomem(r->err);
}

/* Names the recipe that auto runs: the choice of training if it matches the encoder, else the best untrained recipe. */
static int report_recipe(struct status_reader *r, const json_t *automatic)
{
    wt_status *out = &r->status->public;
    struct str runs = wt__json_str(automatic, "runs"), why = wt__json_str(automatic, "why");
    if (automatic && runs.len > 0 && !stale_reason(r, automatic)) {
        out->recipe = wt__arena_copy(&r->status->arena, runs);
        out->why = wt__arena_copy(&r->status->arena, why);
    } else {
        out->recipe = wt__recipes[RECIPE_HYBRID].public.name;
        out->why = automatic              ? "the choice of training does not match the current encoder"
                   : out->model_installed ? "words and meaning together, the default without training"
                   : *out->model          ? "words alone: the model is not installed"
                                          : "words alone: opened without a model";
    }
    return out->recipe && out->why ? 0 : wt__fail_nomem(r->err);
}

/* Lists the trained models, one per config.json, in the order of their folders' names. */
static int report_trained(struct status_reader *r)
{
    wt_status *out = &r->status->public;
    struct arena *arena = &r->status->arena;
    const char *folder = r->engine->trained_folder;
    json_auto_t *automatic = NULL;
    char **paths = NULL;
    size_t count = 0;
    uint64_t seen = 0; /* maximum number of requests that a model was trained with */
    if (*folder && wt__is_folder(folder))
        WT_TRY(wt__list_files(arena, folder, FILES_MAX, &paths, &count, r->err));
    wt_trained_status *list = wt__arena_array(arena, wt_trained_status, count);
    WT_CHECK_ALLOC(list, r->err);
    for (size_t i = 0; i < count; i++) {
        out->trained_bytes += wt__file_size(paths[i]);
        bool is_config = wt__str_equal(path_tail(wt__str(paths[i])), STR("config.json"));
        json_auto_t *config = is_config ? read_trained_config(paths[i]) : NULL;
        if (!wt__json_object(config, "whichtool"))
            continue;
        wt_trained_status *one = &list[out->trained_count++];
        WT_TRY(describe_trained(r, paths[i], config, one));
        if (one->recorded_use && one->requests + one->dev_requests > seen)
            seen = one->requests + one->dev_requests;
        if (!automatic && strcmp(one->lesson, wt__recipes[RECIPE_AUTO].public.name) == 0)
            automatic = json_incref(config);
    }
    WT_TRY(report_recipe(r, automatic));
    out->trained = wt__arena_pointers(arena, list, out->trained_count, sizeof *list);
    out->untrained = r->requests > seen ? r->requests - seen : 0;
    return out->trained ? 0 : wt__fail_nomem(r->err);
}

/* Returns the total size of the files below a folder; unreadable files count as 0. */
static uint64_t folder_size(const char *folder)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    char **paths;
    size_t count = 0;
    uint64_t bytes = 0;
    if (*folder && wt__is_folder(folder) && wt__list_files(&arena, folder, FILES_MAX, &paths, &count, NULL) == 0)
        for (size_t i = 0; i < count; i++)
            bytes += wt__file_size(paths[i]);
    return bytes;
}

static void measure_sizes(struct status_reader *r)
{
    wt_status *out = &r->status->public;
    char *cache;
    out->index_bytes = folder_size(r->engine->index_folder);
    out->model_bytes = folder_size(r->engine->model_folder);
    if (wt__cache_folder(&cache, &r->status->arena, NULL) == 0)
        out->cache_bytes = folder_size(cache);
}

/* ---------------------------------------------------------------- report */

static void read_model_hash(const char *folder, char hash[65])
{
    if (!*folder || !wt__encoder_peek(folder, hash))
        *hash = '\0';
}

/* Sets the paths, and the hashes of the available encoders. */
static int find_encoder_hashes(struct status_reader *r)
{
    wt_status *out = &r->status->public;
    struct arena *arena = &r->status->arena;
    const char *folder = r->engine->trained_folder;
    char *own = wt__path_join(arena, *folder ? folder : ".", TRAINED_ENCODER);
    out->store = wt__arena_copy(arena, wt__str(r->engine->path));
    out->model = wt__arena_copy(arena, wt__str(r->engine->model_name));
    WT_CHECK_ALLOC(own && out->store && out->model, r->err);
    out->model_installed = *r->engine->model_folder && wt__model_exists(r->engine->model_folder);
    out->model_included = r->engine->model_included;
    read_model_hash(r->engine->model_folder, r->model);
    read_model_hash(*folder && wt__is_folder(own) ? own : r->engine->model_folder, r->encoder);
    return 0;
}

int wt_get_status(wt_engine *engine, wt_status **out, wt_error *err)
{
    *out = NULL;
    WT_CLEANUP(free_status_result) struct status_result *status = wt__alloc_zeros(1, sizeof *status);
    WT_CHECK_ALLOC(status, err);
    struct status_reader r = {.status = status, .engine = engine, .err = err};
    WT_TRY(find_encoder_hashes(&r));
    WT_TRY(report_store(&r));
    WT_TRY(report_trained(&r));
    measure_sizes(&r);
    *out = &WT_TAKE(status)->public;
    return 0;
}

/* ---------------------------------------------------------------- figures */

void wt__engine_figures(wt_engine *engine, struct engine_figures *out)
{
    const struct vector_cache_counts vectors = wt__vector_cache_count(engine->request_vectors);
    *out = (struct engine_figures){.checked = atomic_load(&engine->checked),
                                   .tool_hits = atomic_load(&engine->tool_hits),
                                   .tool_misses = atomic_load(&engine->tool_misses),
                                   .mask_hits = atomic_load(&engine->mask_hits),
                                   .mask_misses = atomic_load(&engine->mask_misses),
                                   .vector_hits = vectors.found,
                                   .vector_misses = vectors.encoded};
    pthread_mutex_lock(&engine->lock);
    out->encoder = engine->encoder.opened ? engine->encoder.opened : engine->fallback.opened;
    if (engine->index) {
        out->generation = engine->index->moment.generation;
        out->tools = engine->index->snapshot->rows;
        out->indexed = engine->index->made;
    }
    pthread_mutex_unlock(&engine->lock);
}
