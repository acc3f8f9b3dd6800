/* internal.h: parts of a language model's client that other rooms do not use.
 *
 * The parser of answers is strict on purpose. An answer is one JSON object or array, optionally in one code fence. JSON
 * inside prose is rejected: a model may repeat a tool's description, which could then supply the answer. The caller may
 * ask again with the error (client.h).
 *
 * Servers of /chat/completions support different settings, and some reject a request with an unknown one. Optional
 * settings are members of a set. A rejection that names one adds it to the set, so that later requests omit it. */
#ifndef WT_LLM_INTERNAL_H
#define WT_LLM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/str.h"
#include "llm/chat.h"

/* ---------------------------------------------------------------- answers */

/* Checks that a schema uses supported keywords only. Supported are type (a name or a list of names), enum, properties,
 * required, additionalProperties (true or false), items (one schema), minItems, maxItems, minLength, maxLength (in
 * characters), minimum and maximum. title and description are ignored. Errors: WT_EFORMAT, with a pointer, for other
 * keywords and invalid values. */
int wt__answer_check_schema(const json_t *schema, wt_error *err);

/* Parses an answer that must match the schema, which must have passed wt__answer_check_schema. Free *out with
 * json_decref; NULL on error. Errors: WT_EFORMAT, WT_ENOMEM. The message can be sent to the model: it quotes the
 * schema, never the answer. */
int wt__answer_parse(json_t **out, struct str text, const json_t *schema, wt_error *err);

/* ---------------------------------------------------------------- requests and responses */

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

/* ---------------------------------------------------------------- retries */

enum {
    RETRY_FIRST_MS = 500,        /* first pause; doubled each time */
    RETRY_LONGEST_MS = 8000,     /* longest pause unless the server requests one */
    RETRY_ASKED_MS_MAX = 120000, /* longest requested pause; give up if longer */
};

/* True if a request with this status may be retried (408, 409, 429, 5xx). should_retry: the server's own decision, 0 or
 * 1, which has priority; -1 if unset. */
bool wt__retry_status(int status, int should_retry);

/* Returns the pause before another attempt in ms; -1 to give up. pauses: number of pauses so far. first_ms: length
 * of the first. asked_ms: pause requested by the server; -1 if unset. Our own pauses are randomly shortened by up to
 * a quarter, so that clients do not retry at the same time. */
double wt__retry_pause(unsigned pauses, double first_ms, double asked_ms, struct rng *rng);

#endif
