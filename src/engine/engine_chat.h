/* engine_chat.h: the language model of an engine: a server, recorded answers, or both, opened on first use. */
#ifndef WT_ENGINE_ENGINE_CHAT_H
#define WT_ENGINE_ENGINE_CHAT_H

#include "base/error.h"
#include "llm/chat.h"

struct engine_chat {
    char *url, *model, *key, *record, *replay; /* copied from wt_open_options; NULL if not given */
    unsigned at_once;                          /* concurrent requests; 0 for CHAT_AT_ONCE */
    struct chat_client *client;
    struct chat_record *answers;
};

/* Sets the language model and closes the previous one, which must not be in use. Strings are copied. Errors: WT_ENOMEM.
 * */
int wt__engine_set_chat(wt_engine *engine, const wt_open_options *options, wt_error *err);
void wt__engine_chat_dispose(struct engine_chat *chat);

/* Returns the language model, borrowed until the engine is closed. Errors: WT_EINVAL (no model named, or both recording
 * and replaying), those of wt__chat_client_open and wt__chat_record_open. */
int wt__engine_chat(wt_engine *engine, struct chat_model **out, wt_error *err);

/* Opens another model of the same server or of the same recorded answers. `chat` must be zeroed; *out belongs to it.
 * The caller disposes of `chat`, also on an error. Errors: as above. */
int wt__engine_chat_named(wt_engine *engine, const char *model, struct engine_chat *chat, struct chat_model **out,
                          wt_error *err);

#endif
