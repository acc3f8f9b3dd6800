/* completion.h: the JSON of an OpenAI-compatible /chat/completions, both ways.
 *
 * Servers differ in which settings they take, and some refuse a whole request for one that they do not know. So the
 * optional ones are members of a set, and a refusal that names one says which to leave out from then on. */
#ifndef WT_LLM_COMPLETION_H
#define WT_LLM_COMPLETION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "llm/chat.h"

enum { COMPLETION_WRONG_BYTES_MAX = 4096 }; /* of a wrong answer that is shown to the model again */

/* What a request can do without. A set of these is what a server has refused. */
enum {
    COMPLETION_RESPONSE_FORMAT = 1,
    COMPLETION_CACHE_PROMPT = 2,
    COMPLETION_SEED = 4,
    COMPLETION_TEMPERATURE = 8,
    COMPLETION_MAX_TOKENS = 16, /* goes by "max_completion_tokens" then */
};

struct completion_request {
    const char *model;
    const struct chat_question *question;
    unsigned refused;  /* left out */
    struct str wrong;  /* the first answer, for the round of repair; empty in the first */
    const char *fault; /* what was wrong with it */
};

/* Appends the request's body. */
int wt__completion_write(struct buffer *out, const struct completion_request *request, wt_error *err);

struct completion {
    json_t *body;    /* ends with json_decref */
    struct str text; /* in body; empty when the model said nothing */
    uint64_t prompt_tokens, completion_tokens;
    bool cut;      /* the answer ended at max_tokens */
    bool declined; /* the model would not answer */
};

/* Reads an answer's body. WT_ENETWORK when it is no chat completion. */
int wt__completion_read(struct completion *out, struct str body, wt_error *err);

/* What the body of a refused request is about: a COMPLETION_ member that is not yet in refused; 0 for none. */
unsigned wt__completion_refusal(struct str body, unsigned refused);

/* Does the body of a refused request say that the question is longer than the model takes? */
bool wt__completion_too_long(struct str body);

/* Appends what the server says for itself, as one plain line of at most max bytes, with key (may be NULL) struck out.
 * Nothing where it says nothing. */
void wt__completion_reason(struct buffer *out, struct str body, const char *key, size_t max);

#endif
