/* engine_chat.h: the language model of an engine: a server, recorded answers, or both, made by the first who asks. */
#ifndef WT_ENGINE_ENGINE_CHAT_H
#define WT_ENGINE_ENGINE_CHAT_H

#include "base/error.h"
#include "llm/chat.h"

struct engine_chat {
    char *url, *model, *key, *record, *replay; /* as in wt_open_options; NULL: not given */
    unsigned at_once;                          /* likewise; 0: CHAT_AT_ONCE */
    struct chat_client *client;
    struct chat_record *answers;
};

/* Which one it will be; strings are copied. What an earlier call set is forgotten, so not while it is asked. Errors:
 * WT_ENOMEM. */
int wt__engine_set_chat(wt_engine *engine, const wt_open_options *options, wt_error *err);
void wt__engine_chat_dispose(struct engine_chat *chat);

/* Borrowed until the engine ends. Errors: WT_EINVAL (it was not said which, or both to record and to replay), those of
 * wt__chat_client_open and wt__chat_record_open. */
int wt__engine_chat(wt_engine *engine, struct chat_model **out, wt_error *err);

/* Another model at the same server, or of the same recorded answers: *out is chat's, which is all zero and then the
 * caller's to dispose of, also on an error. Errors: as above. */
int wt__engine_chat_named(wt_engine *engine, const char *model, struct engine_chat *chat, struct chat_model **out,
                          wt_error *err);

#endif
