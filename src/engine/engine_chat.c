#include "engine/engine_chat.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "llm/client.h"
#include "llm/record.h"

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

/* chat must be zeroed. */
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

static int open_chat_client(struct engine_chat *chat, wt_error *err)
{
    struct chat_client_options options = wt__chat_client_defaults();
    options.base_url = chat->url;
    options.model = chat->model;
    options.key = chat->key;
    if (chat->at_once > 0)
        options.concurrency = chat->at_once;
    wt__chat_client_environment(&options);
    return wt__chat_client_open(&chat->client, &options, err);
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
    int rc = chat->replay || chat->client ? 0 : open_chat_client(chat, err);
    if (rc == 0 && path)
        rc = wt__chat_record_open(&chat->answers, path, chat->model,
                                  chat->client ? wt__chat_client_model(chat->client) : NULL, err);
    return rc;
}

/* Returns the model, opened if needed. */
static int open_chat_model(struct engine_chat *chat, struct chat_model **out, wt_error *err)
{
    bool ready = chat->answers || (chat->client && !chat->record);
    int rc = ready ? 0 : open_chat_parts(chat, err);
    if (rc == 0)
        *out = chat->answers ? wt__chat_record_model(chat->answers) : wt__chat_client_model(chat->client);
    return rc;
}

int wt__engine_chat(wt_engine *engine, struct chat_model **out, wt_error *err)
{
    *out = NULL;
    pthread_mutex_lock(&engine->lazy_lock);
    int rc = open_chat_model(&engine->chat, out, err);
    pthread_mutex_unlock(&engine->lazy_lock);
    return rc;
}

int wt__engine_chat_named(wt_engine *engine, const char *model, struct engine_chat *chat, struct chat_model **out,
                          wt_error *err)
{
    const struct engine_chat *own = &engine->chat;
    const wt_open_options options = {.chat_url = own->url,
                                     .chat_key = own->key,
                                     .record_path = own->record,
                                     .replay_path = own->replay,
                                     .chat_at_once = own->at_once};
    *out = NULL;
    int rc = init_chat(chat, model, &options, err);
    return rc < 0 ? rc : open_chat_model(chat, out, err);
}
