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

static bool copy(char **out, const char *text)
{
    *out = text ? wt__copy_string(text, strlen(text)) : NULL;
    return *out || !text;
}

int wt__engine_set_chat(wt_engine *engine, const wt_open_options *options, wt_error *err)
{
    struct engine_chat *chat = &engine->chat;
    wt__engine_chat_dispose(chat);
    if (copy(&chat->url, options->chat_url) && copy(&chat->model, options->chat_model) &&
        copy(&chat->key, options->chat_key) && copy(&chat->record, options->record_path) &&
        copy(&chat->replay, options->replay_path))
        return 0;
    return wt__fail_nomem(err);
}

static int open_client(struct engine_chat *chat, wt_error *err)
{
    struct chat_client_options options = wt__chat_client_defaults();
    options.base_url = chat->url;
    options.model = chat->model;
    options.key = chat->key;
    wt__chat_client_environment(&options);
    return wt__chat_client_open(&chat->client, &options, err);
}

static int open_chat(struct engine_chat *chat, wt_error *err)
{
    const char *path = chat->replay ? chat->replay : chat->record;
    if (!chat->model || !chat->model[0])
        return wt__fail(err, WT_EINVAL,
                        "no language model was named; say which with --chat-model NAME, and where it "
                        "is with --chat-url URL");
    if (chat->replay && chat->record)
        return wt__fail(err, WT_EINVAL, "answers are either recorded or replayed, not both");
    int rc = chat->replay || chat->client ? 0 : open_client(chat, err);
    if (rc == 0 && path)
        rc = wt__chat_record_open(&chat->answers, path, chat->model,
                                  chat->client ? wt__chat_client_model(chat->client) : NULL, err);
    return rc;
}

int wt__engine_chat(wt_engine *engine, struct chat_model **out, wt_error *err)
{
    struct engine_chat *chat = &engine->chat;
    int rc = 0;
    *out = NULL;
    pthread_mutex_lock(&engine->lazy_lock);
    bool ready = chat->answers || (chat->client && !chat->record);
    if (!ready)
        rc = open_chat(chat, err);
    if (rc == 0)
        *out = chat->answers ? wt__chat_record_model(chat->answers) : wt__chat_client_model(chat->client);
    pthread_mutex_unlock(&engine->lazy_lock);
    return rc;
}
