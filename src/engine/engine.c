/* engine.c: opens, checks and closes an engine, and opens its language model. */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "encoder/model_dir.h"
#include "engine/sized_options.h"
#include "llm/client.h"
#include "llm/record.h"
#include "retrieve/vector_cache.h"
#include "store/location.h"

/* ---------------------------------------------------------------- opening and closing */

/* Returns the folder of the model, in the arena. Returns "" if `model` is "" or the folder of models is unknown, NULL
 * if out of memory. */
static char *find_model_folder(struct arena *arena, const char *models_dir, const char *model)
{
    char *folder = NULL;
    int rc = *model ? wt__model_folder(&folder, arena, models_dir, model, NULL) : WT_ENOTFOUND;
    return rc == WT_ENOTFOUND ? wt__arena_copy(arena, STR("")) : folder;
}

/* Sets the paths of the store, the index, the trained models and the model, which need not be installed. */
static int set_engine_paths(wt_engine *engine, const char *path, const wt_open_options *options, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    WT_CLEANUP(wt__buffer_dispose) struct buffer index = {0}, trained = {0};
    bool in_memory = strcmp(path, ":memory:") == 0;
    char *cache, *data;
    WT_TRY(wt__store_base(&cache, &arena, path, true, err));
    WT_TRY(wt__store_base(&data, &arena, path, false, err));
    WT_TRY(wt__store_shown(&engine->path, path, err));
    const char *model = wt__model_choose(options->model, options->models_dir);
    const char *folder = find_model_folder(&arena, options->models_dir, model);
    engine->by_default = !options->model;
    const char *base = engine->by_default && strcmp(model, WT_DEFAULT_MODEL) == 0
                           ? find_model_folder(&arena, options->models_dir, WT_BASE_MODEL)
                           : "";
    const char *joint = find_model_folder(&arena, options->models_dir, WT_JOINT_MODEL);
    WT_CHECK_ALLOC(folder && base && joint, err);
    if (!in_memory)
        wt__buffer_printf(&index, "%s-index", cache);
    if (options->trained)
        wt__buffer_text(&trained, options->trained);
    else if (!in_memory)
        wt__buffer_printf(&trained, "%s-models", data);
    engine->location = wt__copy_string(path, strlen(path));
    engine->base = wt__copy_string(data, strlen(data));
    engine->index_folder = wt__buffer_take(&index);
    engine->trained_folder = wt__buffer_take(&trained);
    engine->model_name = wt__copy_string(model, strlen(model));
    engine->model_folder = wt__copy_string(folder, strlen(folder));
    engine->model_included = wt__model_included(folder, options->models_dir);
    engine->base_folder = wt__copy_string(base, strlen(base));
    engine->joint_folder = wt__copy_string(joint, wt__model_exists(joint) ? strlen(joint) : 0);
    bool whole = engine->location && engine->base && engine->index_folder && engine->trained_folder &&
                 engine->model_name && engine->model_folder && engine->base_folder && engine->joint_folder;
    return whole ? 0 : wt__fail_nomem(err);
}

static int open_request_cache(wt_engine *engine, int entries, wt_error *err)
{
    if (entries < -1 || entries > WT_MAX_REQUEST_CACHE)
        return wt__fail(err, WT_EINVAL, "request_cache is %d; it must be -1 to %d", entries, WT_MAX_REQUEST_CACHE);
    if (entries == -1)
        return 0;
    engine->request_vectors = wt__vector_cache_new((size_t)(entries ? entries : WT_REQUEST_CACHE));
    return engine->request_vectors ? 0 : wt__fail_nomem(err);
}

static void close_unfinished_engine(wt_engine **engine)
{
    wt_close(*engine);
}

void wt__engine_init_locks(wt_engine *engine)
{
    pthread_mutex_init(&engine->store_lock, NULL);
    pthread_mutex_init(&engine->build_lock, NULL);
    pthread_mutex_init(&engine->lock, NULL);
    pthread_mutex_init(&engine->lazy_lock, NULL);
}

int wt_open(wt_engine **out, const char *path, const wt_open_options *given, wt_error *err)
{
    wt_open_options options;
    *out = NULL;
    WT_TRY(wt__options_read(&options, sizeof options, given, err));
    if (!path || !path[0])
        return wt__fail(err, WT_EINVAL, "no store given; give the path of a file");
    WT_CLEANUP(close_unfinished_engine) wt_engine *engine = wt__alloc_zeros(1, sizeof *engine);
    WT_CHECK_ALLOC(engine, err);
    wt__engine_init_locks(engine);
    engine->threads = options.threads;
    engine->busy_ms = options.busy_ms ? options.busy_ms : STORE_BUSY_MS;
    WT_TRY(open_request_cache(engine, options.request_cache, err));

    WT_TRY(set_engine_paths(engine, path, &options, err));
    WT_TRY(wt__engine_set_chat(engine, &options, err));
    struct store_options store = {.read_only = options.read_only, .busy_ms = engine->busy_ms};
    WT_TRY(wt__store_open(&engine->store, path, &store, err));
    engine->read_only = wt__store_read_only(engine->store);
    engine->keeps_derived = !engine->read_only || wt__store_replica_of(engine->store);
    *out = WT_TAKE(engine);
    return 0;
}

static bool replace_string(char **text, const char *by)
{
    free(*text);
    *text = wt__copy_string(by, strlen(by));
    return *text != NULL;
}

int wt__engine_borrow_models(wt_engine *engine, wt_engine *lender, wt_error *err)
{
    bool whole = replace_string(&engine->model_folder, lender->model_folder) &&
                 replace_string(&engine->base_folder, lender->base_folder) &&
                 replace_string(&engine->joint_folder, lender->joint_folder) &&
                 replace_string(&engine->model_name, lender->model_name);
    WT_CHECK_ALLOC(whole, err);
    engine->lender = lender;
    engine->by_default = lender->by_default;
    engine->model_included = lender->model_included;
    engine->threads = lender->threads;
    return 0;
}

int wt__engine_refuse_read_only(const wt_engine *engine, const char *what, wt_error *err)
{
    const char *writer = wt__store_replica_of(engine->store);
    if (writer)
        return wt__fail_replica(err, writer);
    return engine->read_only
               ? wt__fail(err, WT_EREADONLY, "the store %s is open for reading only; %s", engine->path, what)
               : 0;
}

static void close_engine_pools(wt_engine *engine)
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
    close_engine_pools(engine);
    wt__engine_drop_index(engine);
    wt__trained_close(engine->trained.opened); /* before the encoder, which they may use */
    while (engine->retired) {
        struct trained *next = engine->retired->next;
        wt__trained_close(engine->retired);
        engine->retired = next;
    }
    wt__encoder_close(engine->encoder.opened);
    wt__encoder_close(engine->fallback.opened);
    wt__cross_encoder_free(engine->joint.opened);
    wt__vector_cache_free(engine->request_vectors);
    wt__store_close(engine->store);
    wt__engine_chat_dispose(&engine->chat);
    pthread_mutex_destroy(&engine->lazy_lock);
    pthread_mutex_destroy(&engine->lock);
    pthread_mutex_destroy(&engine->build_lock);
    pthread_mutex_destroy(&engine->store_lock);
    free(engine->model_name);
    free(engine->model_folder);
    free(engine->joint_folder);
    free(engine->base_folder);
    free(engine->index_folder);
    free(engine->trained_folder);
    free(engine->base);
    free(engine->location);
    free(engine->path);
    if (engine->view)
        engine->view->close(engine->view);
    free(engine);
}

int wt_info(wt_engine *engine, wt_catalog_info *out, wt_error *err)
{
    WT_CLEANUP(wt__close_reader) struct engine_reader reader = {0};
    const struct encoder *encoder = NULL;
    wt_catalog_info info = {0};
    if (wt__engine_encoder(engine, &encoder, NULL) == 0)
        snprintf(info.model, sizeof info.model, "%s", engine->model_name);
    if (engine->view) {
        WT_TRY(engine->view->count(engine, encoder, &info, err));
        return wt__options_write(out, sizeof info, &info, err);
    }
    WT_TRY(wt__open_reader(&reader, engine, err));
    WT_TRY(wt__store_read_begin(reader.store, err));
    WT_TRY(wt__store_generation(reader.store, &info.generation, err));
    WT_TRY(wt__store_count(reader.store, &info.tools, &info.providers, err));
    if (encoder) {
        struct vector_set set = wt__engine_vectors(encoder, engine);
        WT_TRY(wt__store_count_vectors(reader.store, &set, &info.embedded, err));
    }
    return wt__options_write(out, sizeof info, &info, err);
}

static int check_index(const wt_engine *engine, wt_error *err)
{
    wt_error why = {0};
    int rc = engine->index_folder[0] ? wt__snapshot_check(engine->index_folder, &why) : WT_ENOTFOUND;
    if (rc == 0 || rc == WT_ENOTFOUND) /* no index was made yet */
        return 0;
    if (rc == WT_ESTORE)
        return wt__fail(err, rc, "%s; delete the folder %s, and the next search makes it again", why.message,
                        engine->index_folder);
    return wt__fail_same(err, &why);
}

int wt_check(wt_engine *engine, wt_error *err)
{
    pthread_mutex_lock(&engine->store_lock);
    int rc = wt__store_check(engine->store, err);
    pthread_mutex_unlock(&engine->store_lock);
    return rc < 0 ? rc : check_index(engine, err);
}

/* ---------------------------------------------------------------- language model */

void wt__engine_chat_dispose(struct engine_chat *chat)
{
    wt__chat_record_close(chat->answers);
    wt__chat_client_close(chat->client);
    free(chat->url);
    free(chat->model);
    free(chat->key);
    free(chat->record);
    free(chat->replay);
    *chat = (struct engine_chat){0};
}

static bool copy_option(char **out, const char *text)
{
    *out = text ? wt__copy_string(text, strlen(text)) : NULL;
    return *out || !text;
}

/* Copies the options of the language model. chat must be zeroed. */
static int init_chat(struct engine_chat *chat, const char *model, const wt_open_options *options, wt_error *err)
{
    chat->at_once = options->chat_at_once;
    if (copy_option(&chat->url, options->chat_url) && copy_option(&chat->model, model) &&
        copy_option(&chat->key, options->chat_key) && copy_option(&chat->record, options->record_path) &&
        copy_option(&chat->replay, options->replay_path))
        return 0;
    return wt__fail_nomem(err);
}

int wt__engine_set_chat(wt_engine *engine, const wt_open_options *options, wt_error *err)
{
    wt__engine_chat_dispose(&engine->chat);
    return init_chat(&engine->chat, options->chat_model, options, err);
}

static int open_chat_parts(struct engine_chat *chat, wt_error *err)
{
    const char *path = chat->replay ? chat->replay : chat->record;
    if (!chat->model || !chat->model[0])
        return wt__fail(err, WT_EINVAL,
                        "no language model given; give its name with --chat-model NAME and its server "
                        "with --chat-url URL");
    if (chat->replay && chat->record)
        return wt__fail(err, WT_EINVAL, "cannot both record and replay answers");
    if (!chat->replay && !chat->client) {
        struct chat_client_options options = wt__chat_client_defaults();
        options.base_url = chat->url;
        options.model = chat->model;
        options.key = chat->key;
        if (chat->at_once > 0)
            options.concurrency = chat->at_once;
        wt__chat_client_environment(&options);
        WT_TRY(wt__chat_client_open(&chat->client, &options, err));
    }
    return path ? wt__chat_record_open(&chat->answers, path, chat->model,
                                       chat->client ? wt__chat_client_model(chat->client) : NULL, err)
                : 0;
}

/* Returns the model, opened if needed. */
static int open_chat_model(struct engine_chat *chat, struct chat_model **out, wt_error *err)
{
    if (!chat->answers && (!chat->client || chat->record))
        WT_TRY(open_chat_parts(chat, err));
    *out = chat->answers ? wt__chat_record_model(chat->answers) : wt__chat_client_model(chat->client);
    return 0;
}

int wt__engine_chat(wt_engine *engine, struct chat_model **out, wt_error *err)
{
    *out = NULL;
    engine = wt__model_owner(engine);
    pthread_mutex_lock(&engine->lazy_lock);
    int rc = open_chat_model(&engine->chat, out, err);
    pthread_mutex_unlock(&engine->lazy_lock);
    return rc;
}

int wt__engine_chat_named(wt_engine *engine, const char *model, struct engine_chat *chat, struct chat_model **out,
                          wt_error *err)
{
    const struct engine_chat *own = &wt__model_owner(engine)->chat;
    const char *at = strstr(model, "@http");
    WT_AUTO_FREE char *name = wt__copy_string(model, at ? (size_t)(at - model) : strlen(model));
    WT_CHECK_ALLOC(name, err);
    const wt_open_options options = {.chat_url = at ? at + 1 : own->url,
                                     .chat_key = at ? "" : own->key,
                                     .record_path = own->record,
                                     .replay_path = own->replay,
                                     .chat_at_once = own->at_once};
    *out = NULL;
    WT_TRY(init_chat(chat, name, &options, err));
    return open_chat_model(chat, out, err);
}
