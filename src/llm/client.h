/* client.h: a language model behind an OpenAI-compatible server, as a struct chat_model.
 *
 *   struct chat_client_options options = wt__chat_client_defaults();
 *   options.model = "gpt-4o";
 *   wt__chat_client_environment(&options);
 *   wt__chat_client_open(&client, &options, err);
 *   wt__chat_ask(wt__chat_client_model(client), &question, &arena, &answer, err);
 *
 * The schema of a question is sent if the server supports schemas. The client always validates the answer. If the
 * answer does not match, the client sends the error and asks once more (a repair). Settings that the server rejects are
 * omitted from later requests.
 *
 * The API key is only sent in the header "Authorization", and never to the target of a redirect. Keys of at least 6
 * bytes are removed from the server's error messages. */
#ifndef WT_LLM_CLIENT_H
#define WT_LLM_CLIENT_H

#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

#define CHAT_CLIENT_BASE_URL "https://api.openai.com/v1"

/* Defaults of the options below (times in ms), and limits. */
enum {
    CHAT_CLIENT_CONNECT_MS = 5000,
    CHAT_CLIENT_TOTAL_MS = 600000,
    CHAT_CLIENT_STALL_MS = 60000,
    CHAT_CLIENT_RETRIES = 2,
    CHAT_CLIENT_RETRIES_MAX = 10,      /* maximum of options.retries */
    CHAT_QUESTION_BYTES_MAX = 1 << 20, /* maximum length of a question */
};

/* Strings are borrowed for the call of wt__chat_client_open. */
struct chat_client_options {
    const char *base_url;               /* NULL for CHAT_CLIENT_BASE_URL, which requires a key */
    const char *key;                    /* API key; NULL to send no key */
    const char *model;                  /* name of the model; required */
    const char *organisation, *project; /* NULL to omit the header */
    unsigned connect_ms, total_ms;      /* timeouts of one attempt in ms: to connect, and in total */
    unsigned stall_ms;                  /* timeout between two bytes of a response, in ms */
    unsigned retries;                   /* maximum retries after the first attempt */
    unsigned first_pause_ms;            /* pause before the first retry, in ms; doubled for each further retry */
    unsigned concurrency;               /* maximum concurrent questions; others wait */
};

struct chat_client_options wt__chat_client_defaults(void);

/* Sets NULL options from OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_ORG_ID and OPENAI_PROJECT_ID. Empty variables are
 * ignored. The strings belong to the environment, so do not change it before wt__chat_client_open. */
void wt__chat_client_environment(struct chat_client_options *options);

struct chat_client;

/* Creates a client, without sending a request. Errors: WT_EINVAL (invalid address, no model, missing or invalid key,
 * number out of range), WT_ENETWORK (no libcurl), WT_ENOMEM. */
int wt__chat_client_open(struct chat_client **out, const struct chat_client_options *options, wt_error *err);
void wt__chat_client_close(struct chat_client *client);

/* Returns the model, which lives as long as the client. */
struct chat_model *wt__chat_client_model(struct chat_client *client);

#endif
