/* exchange.h: keeps questions to a language model with their answers and costs. Shared by all users of models (PTR,
 * tool calls).
 *
 *   put      asks, in any thread; the reply may hold an unusable answer
 *   keep     records the exchange and adds its cost; called in a fixed order
 *   reject   marks a valid answer as unusable, with the reason
 *
 * If the model does not answer (network, cancellation, memory), put returns an error and keep records nothing. */
#ifndef WT_LLM_EXCHANGE_H
#define WT_LLM_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "llm/chat.h"
#include "llm/prompt.h"

/* Total cost of all questions. */
struct chat_cost {
    size_t questions; /* answered questions, usable or not */
    size_t requests;  /* requests sent; recorded answers need none */
    size_t repaired;  /* answers that matched their schema only after a retry */
    size_t unusable;  /* unusable answers */
    uint64_t prompt_tokens, completion_tokens;
    double ms; /* sum over all questions, as if asked one after another */
};

/* Verbatim question and answer. The texts are untrusted. */
struct chat_exchange {
    const char *task; /* name and version of the prompt */
    struct str question, answer;
    const char *unusable; /* reason why the answer is unusable; NULL if usable */
};

/* Initialise with zeros; always free with wt__chat_reply_dispose. */
struct chat_reply {
    struct arena arena; /* holds question and got */
    struct str question;
    struct chat_answer got; /* json is NULL if the answer is unusable */
    int rc;
    wt_error why;
    bool put;
};

/* Fills the prompt and asks, unless cancelled; one step of the question's progress. question: same as for
 * wt__prompt_ask. Returns 0 for any answer, usable or not; otherwise the error, which is also in the reply. */
int wt__chat_put(struct chat_reply *reply, const struct prompt *prompt, const struct prompt_value *values, size_t count,
                 struct chat_model *model, struct chat_question question);
void wt__chat_reply_dispose(struct chat_reply *reply);

/* Sets *out to the exchange, in the arena, and adds its cost. Rejects answers that do not match the schema. If there
 * was no answer, returns the reply's error, prefixed with the prompt's name. */
int wt__chat_keep(struct chat_exchange *out, struct chat_cost *cost, const struct prompt *prompt,
                  const struct chat_reply *reply, struct arena *arena, wt_error *err);

/* Marks an answer as unusable, with the reason. Errors: WT_ENOMEM. */
int wt__chat_reject(struct chat_exchange *exchange, struct chat_cost *cost, const char *reason, struct arena *arena,
                    wt_error *err);

#endif
