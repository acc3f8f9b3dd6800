/* client.h: a language model behind an OpenAI-compatible server, as a struct chat_model.
 *
 *   struct chat_client_options options = wt__chat_client_defaults();
 *   options.model = "gpt-4o";
 *   wt__chat_client_environment(&options);
 *   wt__chat_client_open(&client, &options, err);
 *   wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, err);
 *
 * A question is asked at its temperature, with its seed (chat.h). Its schema goes along where the server takes one, and
 * is held here in any case: an answer that does not match gets one round of repair, in which the model is told what was
 * wrong. What a server refuses to be told (completion.h) is remembered and left out from then on.
 *
 * The key goes into one header and nowhere else: no error, no record, no redirect. */
#ifndef WT_LLM_CLIENT_H
#define WT_LLM_CLIENT_H

#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

#define CHAT_CLIENT_BASE_URL "https://api.openai.com/v1"

enum {
    CHAT_CLIENT_CONNECT_MS = 5000,
    CHAT_CLIENT_TOTAL_MS = 600000,
    CHAT_CLIENT_STALL_MS = 60000,
    CHAT_CLIENT_RETRIES = 2,
    CHAT_CLIENT_RETRIES_MAX = 10,
    CHAT_QUESTION_BYTES_MAX = 1 << 20,
};

/* Strings are borrowed for the call of wt__chat_client_open. */
struct chat_client_options {
    const char *base_url; /* NULL: CHAT_CLIENT_BASE_URL, which wants a key */
    const char *key;      /* NULL: none is sent */
    const char *model;
    const char *organisation, *project;      /* NULL: not sent */
    unsigned connect_ms, total_ms, stall_ms; /* of one attempt; stall: without a byte in the midst of an answer */
    unsigned retries;                        /* after the first attempt */
    unsigned first_pause_ms;
    unsigned concurrency; /* questions under way at once; more wait */
};

struct chat_client_options wt__chat_client_defaults(void);

/* Fills what is NULL from OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_ORG_ID and OPENAI_PROJECT_ID; the environment's own
 * strings, so that they are not to be changed before wt__chat_client_open. An empty variable is none. */
void wt__chat_client_environment(struct chat_client_options *options);

struct chat_client;

/* No request is sent yet. Errors: WT_EINVAL (the address, no model, no key where one is needed or one that
 * cannot be sent, a number out of its limits), WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__chat_client_open(struct chat_client **out, const struct chat_client_options *options, wt_error *err);
void wt__chat_client_close(struct chat_client *client);

/* Borrowed: it lives as long as the client. */
struct chat_model *wt__chat_client_model(struct chat_client *client);

#endif
