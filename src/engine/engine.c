/* engine.c: opening and closing, and the things that queries share: the encoder and free workspaces. */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "encoder/model_dir.h"
#include "engine/sized_options.h"

static bool in_memory(const char *path)
{
    return strcmp(path, ":memory:") == 0;
}

/* Where the snapshot and the model live. A model that is not there is found out when it is needed. */
static int set_places(wt_engine *engine, const char *path, const wt_open_options *options, wt_error *err)
{
    struct arena arena = {0};
    struct buffer index = {0}, trained = {0};
    const char *model = options->model ? options->model : WT_DEFAULT_MODEL;
    if (!in_memory(path))
        wt__buffer_printf(&index, "%s-index", path);
    if (options->trained)
        wt__buffer_text(&trained, options->trained);
    else if (!in_memory(path))
        wt__buffer_printf(&trained, "%s-models", path);
    engine->path = wt__copy_string(path, strlen(path));
    engine->index_folder = wt__buffer_take(&index);
    engine->trained_folder = wt__buffer_take(&trained);
    engine->model_name = wt__copy_string(model, strlen(model));
    const char *folder = model[0] ? wt__model_folder(&arena, options->models_dir, model) : "";
    engine->model_folder = folder ? wt__copy_string(folder, strlen(folder)) : NULL;
    wt__arena_dispose(&arena);
    bool whole =
        engine->path && engine->index_folder && engine->trained_folder && engine->model_name && engine->model_folder;
    return whole ? 0 : wt__fail_nomem(err);
}

int wt_open(wt_engine **out, const char *path, const wt_open_options *given, wt_error *err)
{
    wt_open_options options;
    *out = NULL;
    int rc = wt__options_read(&options, sizeof options, given, err);
    if (rc < 0)
        return rc;
    if (!path || !path[0])
        return wt__fail(err, WT_EINVAL, "no store was named; give the path of a file");
    wt_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return wt__fail_nomem(err);
    pthread_mutex_init(&engine->store_lock, NULL);
    pthread_mutex_init(&engine->build_lock, NULL);
    pthread_mutex_init(&engine->lock, NULL);
    pthread_mutex_init(&engine->lazy_lock, NULL);
    engine->threads = options.threads;
    engine->busy_ms = options.busy_ms ? options.busy_ms : STORE_BUSY_MS;

    rc = set_places(engine, path, &options, err);
    if (rc == 0)
        rc = wt__engine_set_chat(engine, &options, err);
    struct store_options store = {.read_only = options.read_only, .busy_ms = engine->busy_ms};
    if (rc == 0)
        rc = wt__store_open(&engine->store, path, &store, err);
    if (rc < 0) {
        wt_close(engine);
        return rc;
    }
    engine->read_only = wt__store_read_only(engine->store);
    *out = engine;
    return 0;
}

static void close_pools(wt_engine *engine)
{
    struct workspace *workspace;
    struct store *reader;
    while ((workspace = wt__pool_take(&engine->free_workspaces, &engine->lock)))
        wt__workspace_close(workspace);
    while ((reader = wt__pool_take(&engine->free_readers, &engine->lock)))
        wt__store_close(reader);
}

void wt_close(wt_engine *engine)
{
    if (!engine)
        return;
    close_pools(engine);
    wt__index_release(engine->index);
    wt__trained_close(engine->trained); /* may use the encoder */
    while (engine->retired) {
        struct trained *next = engine->retired->next;
        wt__trained_close(engine->retired);
        engine->retired = next;
    }
    wt__encoder_close(engine->encoder);
    wt__store_close(engine->store);
    wt__engine_chat_dispose(&engine->chat);
    pthread_mutex_destroy(&engine->lazy_lock);
    pthread_mutex_destroy(&engine->lock);
    pthread_mutex_destroy(&engine->build_lock);
    pthread_mutex_destroy(&engine->store_lock);
    free(engine->model_name);
    free(engine->model_folder);
    free(engine->index_folder);
    free(engine->trained_folder);
    free(engine->path);
    free(engine);
}

enum { WAIT_NS = 50000000 /* between two looks whether somebody still waits */ };

int wt__engine_lock_build(wt_engine *engine, struct progress *progress, wt_error *err)
{
    if (!progress) {
        pthread_mutex_lock(&engine->build_lock);
        return 0;
    }
    if (pthread_mutex_trylock(&engine->build_lock) == 0)
        return 0;
    bool stopped = wt__progress_phase(progress, "waiting", 0);
    while (!stopped) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&engine->build_lock, &until) == 0)
            return 0;
        stopped = wt__progress_step(progress, 0);
    }
    return wt__fail_cancelled(err);
}

/* Whether an error says how things are; the others say how they went this once. */
static bool lasts(int rc)
{
    return rc != WT_ENOMEM && rc != WT_ECANCELLED;
}

/* Opens the encoder and remembers why it could not. Called with build_lock held: two queries that come first together
 * wait for one opening. */
static int open_encoder(wt_engine *engine, struct progress *progress, wt_error *err)
{
    struct encoder *encoder = NULL;
    wt_error why = {0};
    int rc;
    if (engine->model_folder[0] == '\0')
        rc = wt__fail(&why, WT_EMODEL, "this store was opened without a model");
    else if (!wt__is_folder(engine->model_folder))
        rc = wt__fail(&why, WT_EMODEL, "the model %s is not installed; get it with `whichtool model pull %s`",
                      engine->model_name, engine->model_name);
    else if (wt__progress_phase(progress, "loading the model", 0))
        rc = wt__fail_cancelled(&why);
    else
        rc = wt__encoder_load(&encoder, engine->model_folder, progress, &why);
    pthread_mutex_lock(&engine->lock);
    engine->encoder = encoder;
    engine->encoder_error = why;
    engine->encoder_tried = lasts(rc);
    pthread_mutex_unlock(&engine->lock);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* 1 and *rc when the encoder was tried before. */
static bool known_encoder(wt_engine *engine, const struct encoder **out, int *rc, wt_error *err)
{
    pthread_mutex_lock(&engine->lock);
    bool known = engine->encoder_tried;
    *out = engine->encoder;
    *rc = engine->encoder ? 0 : engine->encoder_error.code;
    if (known && *rc < 0 && err)
        *err = engine->encoder_error;
    pthread_mutex_unlock(&engine->lock);
    return known;
}

int wt__engine_encoder_locked(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err)
{
    int rc;
    if (known_encoder(engine, out, &rc, err))
        return rc;
    rc = open_encoder(engine, progress, err);
    *out = engine->encoder;
    return rc;
}

int wt__engine_load_encoder(wt_engine *engine, struct progress *progress, const struct encoder **out, wt_error *err)
{
    int rc;
    if (known_encoder(engine, out, &rc, err))
        return rc;
    rc = wt__engine_lock_build(engine, progress, err);
    if (rc < 0)
        return rc;
    rc = wt__engine_encoder_locked(engine, progress, out, err);
    pthread_mutex_unlock(&engine->build_lock);
    return rc;
}

int wt__engine_encoder(wt_engine *engine, const struct encoder **out, wt_error *err)
{
    return wt__engine_load_encoder(engine, NULL, out, err);
}

/* Called with build_lock held. */
static int open_trained(wt_engine *engine, struct progress *progress, wt_error *err)
{
    const struct encoder *base = NULL;
    struct trained *trained = NULL;
    wt_error why = {0}, no_base = {0};
    int rc = 0;
    if (engine->trained_folder[0] && wt__is_folder(engine->trained_folder)) {
        rc = wt__engine_encoder_locked(engine, progress, &base, &no_base);
        if (!lasts(rc))
            why = no_base;
        else if (wt__progress_phase(progress, "loading what was trained", 0))
            rc = wt__fail_cancelled(&why);
        else
            rc = wt__trained_open(&trained, engine->trained_folder, base, &why);
    }
    if (rc == 0 && !trained && no_base.code < 0) {
        why = no_base;
        rc = why.code;
    }
    pthread_mutex_lock(&engine->lock);
    engine->trained = trained;
    engine->trained_error = why;
    engine->trained_tried = lasts(rc);
    pthread_mutex_unlock(&engine->lock);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* 1 and *rc when it was read before. */
static bool known_trained(wt_engine *engine, const struct trained **out, int *rc, wt_error *err)
{
    pthread_mutex_lock(&engine->lock);
    bool known = engine->trained_tried;
    *out = engine->trained;
    *rc = engine->trained_error.code;
    if (known && *rc < 0 && err)
        *err = engine->trained_error;
    pthread_mutex_unlock(&engine->lock);
    return known;
}

int wt__engine_trained_locked(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err)
{
    int rc;
    if (known_trained(engine, out, &rc, err))
        return rc;
    rc = open_trained(engine, progress, err);
    *out = engine->trained;
    return rc;
}

int wt__engine_load_trained(wt_engine *engine, struct progress *progress, const struct trained **out, wt_error *err)
{
    int rc;
    if (known_trained(engine, out, &rc, err))
        return rc;
    rc = wt__engine_lock_build(engine, progress, err);
    if (rc < 0)
        return rc;
    rc = wt__engine_trained_locked(engine, progress, out, err);
    pthread_mutex_unlock(&engine->build_lock);
    return rc;
}

int wt__engine_trained(wt_engine *engine, const struct trained **out, wt_error *err)
{
    return wt__engine_load_trained(engine, NULL, out, err);
}

void wt__engine_forget_trained(wt_engine *engine)
{
    pthread_mutex_lock(&engine->build_lock);
    pthread_mutex_lock(&engine->lock);
    struct index_handle *index = engine->index;
    if (engine->trained) {
        engine->trained->next = engine->retired;
        engine->retired = engine->trained;
    }
    engine->trained = NULL;
    engine->index = NULL;
    engine->trained_tried = false;
    pthread_mutex_unlock(&engine->lock);
    pthread_mutex_unlock(&engine->build_lock);
    wt__index_release(index);
}

struct pool_slot {
    void *item;
    struct pool_slot *next;
};

void *wt__pool_take(struct pool *pool, pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    struct pool_slot *slot = pool->free;
    if (slot)
        pool->free = slot->next;
    pthread_mutex_unlock(lock);
    void *item = slot ? slot->item : NULL;
    free(slot);
    return item;
}

bool wt__pool_give(struct pool *pool, pthread_mutex_t *lock, void *item)
{
    struct pool_slot *slot = malloc(sizeof *slot);
    if (!slot)
        return false;
    slot->item = item;
    pthread_mutex_lock(lock);
    slot->next = pool->free;
    pool->free = slot;
    pthread_mutex_unlock(lock);
    return true;
}

int wt__engine_workspace(wt_engine *engine, struct workspace **out, wt_error *err)
{
    *out = wt__pool_take(&engine->free_workspaces, &engine->lock);
    return *out ? 0 : wt__workspace_open(out, err);
}

void wt__engine_return_workspace(wt_engine *engine, struct workspace *workspace)
{
    if (workspace && !wt__pool_give(&engine->free_workspaces, &engine->lock, workspace))
        wt__workspace_close(workspace);
}

int wt_info(wt_engine *engine, wt_catalog_info *out, wt_error *err)
{
    const struct encoder *encoder = NULL;
    wt_catalog_info info = {0};
    if (wt__engine_encoder(engine, &encoder, NULL) == 0)
        snprintf(info.model, sizeof info.model, "%s", engine->model_name);
    struct store *reader;
    int rc = wt__engine_reader(engine, &reader, err);
    if (rc < 0)
        return rc;
    rc = wt__store_read_begin(reader, err);
    if (rc >= 0)
        rc = wt__store_generation(reader, &info.generation, err);
    if (rc >= 0)
        rc = wt__store_count(reader, &info.tools, &info.providers, err);
    if (rc >= 0 && encoder) {
        struct vector_set set = wt__engine_vectors(encoder, engine);
        rc = wt__store_count_vectors(reader, &set, &info.embedded, err);
    }
    wt__store_read_end(reader);
    wt__engine_return_reader(engine, reader);
    return rc < 0 ? rc : wt__options_write(out, sizeof info, &info, err);
}
