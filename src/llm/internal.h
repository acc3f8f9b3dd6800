/* internal.h: parts of the language model client that are private to src/llm.
 *
 * The parser of answers is strict. An answer is one JSON object or array, optionally in one code fence. JSON inside
 * prose is rejected, because a model may repeat a tool's description, and JSON in that description would then become
 * the answer. The client asks again once, with the error (client.h).
 *
 * Servers of /chat/completions support different settings, and some reject a request with an unknown setting. If a
 * rejection names an optional setting, later requests to this server omit the setting. */
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
 * characters), minimum and maximum. title and description are ignored. Errors: WT_EFORMAT (another keyword, or an
 * invalid value), with a JSON pointer to the schema that contains it. */
int wt__answer_check_schema(const json_t *schema, wt_error *err);

/* Parses an answer that must match the schema, which must have passed wt__answer_check_schema. The caller frees *out
 * with json_decref; it is NULL on error. Errors: WT_EFORMAT, WT_ENOMEM. The message can be sent to the model: it quotes
 * the schema, never the answer. */
int wt__answer_parse(json_t **out, struct str text, const json_t *schema, wt_error *err);

/* Parses the answer to a question with a schema, in JSON or the layout that question->read_layout reads. Errors: those
 * of wt__answer_parse. */
int wt__answer_read(json_t **out, struct str text, const struct chat_question *question, wt_error *err);

/* ---------------------------------------------------------------- requests and responses */

enum { COMPLETION_WRONG_BYTES_MAX = 4096 }; /* maximum length of a wrong answer that is sent back to the model */

/* Optional settings, as bits. A set of bits records the settings that a server rejected. */
enum {
    COMPLETION_RESPONSE_FORMAT = 1,
    COMPLETION_CACHE_PROMPT = 2,
    COMPLETION_SEED = 4,
    COMPLETION_TEMPERATURE = 8,
    COMPLETION_TOP_P = 32,
    COMPLETION_MAX_TOKENS = 16, /* if rejected, sent as "max_completion_tokens" instead */
};

struct completion_request {
    const char *model; /* name of the model */
    const struct chat_question *question;
    unsigned refused;  /* COMPLETION_ bits of the settings to omit */
    struct str wrong;  /* the invalid first answer, if the request is a repair; else empty */
    const char *fault; /* error of the invalid answer; else NULL */
};

/* Appends the request's body. */
int wt__completion_write(struct buffer *out, const struct completion_request *request, wt_error *err);

struct completion {
    json_t *body;                              /* free with json_decref */
    struct str text;                           /* text of the answer, borrowed from body; may be empty */
    uint64_t prompt_tokens, completion_tokens; /* 0 if unknown */
    bool cut;                                  /* true if the answer was truncated at max_tokens */
    bool declined;                             /* true if the model refused to answer */
};

/* Parses a response body. Errors: WT_ENETWORK (not a chat completion), WT_ENOMEM. */
int wt__completion_read(struct completion *out, struct str body, wt_error *err);

/* Returns the COMPLETION_ setting that a rejection names and `refused` does not contain; 0 if there is no such
 * setting. */
unsigned wt__completion_refusal(struct str body, unsigned refused);

/* True if a rejection says that the question is too long for the model. */
bool wt__completion_too_long(struct str body);

/* Appends the server's error message, if any, as one plain line of at most max bytes, plus PLAIN_CUT if truncated. key:
 * replaced by "(key)" if it has at least 6 bytes; may be NULL. */
void wt__completion_reason(struct buffer *out, struct str body, const char *key, size_t max);

/* ---------------------------------------------------------------- retries */

enum {
    RETRY_FIRST_MS = 500,        /* default first pause in ms; doubled each time */
    RETRY_LONGEST_MS = 8000,     /* longest pause in ms, unless the server requests a pause */
    RETRY_ASKED_MS_MAX = 120000, /* longest pause in ms that a server may request; if longer, give up */
};

/* True if a request with this status may be retried (408, 409, 429, 5xx). should_retry: the server's own decision, 0 or
 * 1, which has priority; -1 if unset. */
bool wt__retry_status(int status, int should_retry);

/* Returns the pause before another attempt in ms; -1 to give up. pauses: number of pauses so far. first_ms: length of
 * the first pause. asked_ms: pause requested by the server; -1 if unset. Pauses that the server did not request are
 * randomly shortened by up to a quarter, so that clients do not retry at the same time. */
double wt__retry_pause(unsigned pauses, double first_ms, double asked_ms, struct rng *rng);

#endif
