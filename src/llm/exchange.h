/* exchange.h: a question to a language model as it was put and what came back, kept word for word, with what it cost:
 * the part of every undertaking with a model (PTR, the calls of tools) that does not depend on what is asked.
 *
 *   put      by any thread, the answer in a reply of its own; no answer of the right form is a reply as well
 *   keep     in the order of the undertaking: the exchange, and its cost added
 *   reject   an answer of the right form that turns out to be none, with the reason
 *
 * A model that does not answer at all (the network, a wish to stop, memory) leaves nothing to keep: that is an error.
 */
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

/* Of all questions together. */
struct chat_cost {
    size_t questions; /* that were answered, well or badly */
    size_t requests;  /* that were sent for them: none for an answer that was recorded */
    size_t repaired;  /* answers that matched their schema at the second try only */
    size_t unusable;  /* answers that were no answer */
    uint64_t prompt_tokens, completion_tokens;
    double ms; /* of all questions together, as if one had waited for the other */
};

/* One question as it was put, and what came back, word for word; hostile text. */
struct chat_exchange {
    const char *task; /* the prompt's name and version */
    struct str question, answer;
    const char *unusable; /* why the answer is no answer, in words; NULL: it is one */
};

/* All zero before it is put; ends with wt__chat_reply_dispose in any case. */
struct chat_reply {
    struct arena arena; /* of the next two */
    struct str question;
    struct chat_answer got; /* json: NULL when the model could give none */
    int rc;
    wt_error why;
    bool put;
};

/* Fills the prompt and asks, unless the question's progress wants to stop; one step of that progress. question: as
 * wt__prompt_ask wants it. 0 for an answer of any kind, else the error, which the reply holds. */
int wt__chat_put(struct chat_reply *reply, const struct prompt *prompt, const struct prompt_value *values, size_t count,
                 struct chat_model *model, struct chat_question question);
void wt__chat_reply_dispose(struct chat_reply *reply);

/* *out: the exchange, in the arena; its cost is added. A reply without the JSON that was asked for is rejected already.
 * Where there was no reply, its error, behind the prompt's name, and nothing is kept. */
int wt__chat_keep(struct chat_exchange *out, struct chat_cost *cost, const struct prompt *prompt,
                  const struct chat_reply *reply, struct arena *arena, wt_error *err);

/* The reason why an answer is none, kept beside it. 0 or WT_ENOMEM. */
int wt__chat_reject(struct chat_exchange *exchange, struct chat_cost *cost, const char *reason, struct arena *arena,
                    wt_error *err);

#endif
