/* completion.h: writes requests and parses responses of an OpenAI-compatible /chat/completions.
 *
 * Servers support different settings, and some reject a request with an unknown one. Optional settings are members of a
 * set. A rejection that names one adds it to the set, so that later requests omit it. */
#ifndef WT_LLM_COMPLETION_H
#define WT_LLM_COMPLETION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "llm/chat.h"

enum { COMPLETION_WRONG_BYTES_MAX = 4096 }; /* maximum length of a wrong answer that is sent back to the model */

/* Optional settings. A set of them records the settings that a server rejected. */
enum {
    COMPLETION_RESPONSE_FORMAT = 1,
    COMPLETION_CACHE_PROMPT = 2,
    COMPLETION_SEED = 4,
    COMPLETION_TEMPERATURE = 8,
    COMPLETION_MAX_TOKENS = 16, /* then sent as "max_completion_tokens" */
};

struct completion_request {
    const char *model;
    const struct chat_question *question;
    unsigned refused;  /* settings to omit */
    struct str wrong;  /* invalid first answer, for the repair; else empty */
    const char *fault; /* error of that answer; else NULL */
};

/* Appends the request's body. */
int wt__completion_write(struct buffer *out, const struct completion_request *request, wt_error *err);

struct completion {
    json_t *body;    /* free with json_decref */
    struct str text; /* view of body; may be empty */
    uint64_t prompt_tokens, completion_tokens;
    bool cut;      /* true if the answer was truncated at max_tokens */
    bool declined; /* true if the model refused to answer */
};

/* Parses a response body. Errors: WT_ENETWORK (not a chat completion), WT_ENOMEM. */
int wt__completion_read(struct completion *out, struct str body, wt_error *err);

/* Returns the COMPLETION_ setting that a rejection names and `refused` does not contain; 0 if there is no such
 * setting. */
unsigned wt__completion_refusal(struct str body, unsigned refused);

/* True if a rejection says that the question is too long for the model. */
bool wt__completion_too_long(struct str body);

/* Appends the server's error message, if any, as one plain line of at most max bytes. Occurrences of key (may be
 * NULL) are replaced. */
void wt__completion_reason(struct buffer *out, struct str body, const char *key, size_t max);

#endif
