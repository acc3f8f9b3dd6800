/* prompt.h: prompts as data: files prompts/NAME.txt, built into the library.
 *
 *   # a comment
 *   version 1                   increased with every change of meaning; part of a recorded question's key
 *   tokens 512                  maximum tokens of the answer
 *   text request 4096           slot for one text; maximum bytes
 *   list tools 128 600          slot for a list; maximum items, maximum bytes of each
 *   schema                      JSON Schema of the answer (keywords: internal.h), up to the line "prompt"
 *   {"type": "object", ...}
 *   prompt                      the rest of the file; each slot alone on its line: {{request}}
 *
 * A value cannot escape from its slot. It is enclosed by two delimiter lines:
 *
 *   <<<request
 *   What is the weather?
 *   >>>request
 *
 * Values cannot contain delimiters, because plain_text.h breaks up such marks. An item of a list is always one line.
 * Slots in values are not expanded.
 *
 * Exchanges are questions to a language model with their answers and costs, for all users of models (PTR, tool calls).
 *
 *   put      asks, in any thread; the reply may hold an unusable answer
 *   keep     records the exchange and adds its cost; called in a fixed order
 *   reject   marks a valid answer as unusable, with the reason
 *
 * If the model does not answer (network, cancellation, memory), put returns an error and keep records nothing. */
#ifndef WT_LLM_PROMPT_H
#define WT_LLM_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "llm/chat.h"

enum {
    PROMPT_SLOTS_MAX = 8,
    PROMPT_NAME_BYTES = 32,            /* maximum length of a prompt's or slot's name, with NUL */
    PROMPT_VALUE_BYTES_MAX = 64 << 10, /* maximum limit of a slot for a text or item */
    PROMPT_ITEMS_MAX = 256,            /* maximum limit of a slot for a list */
    PROMPT_VERSION_MAX = 999999,
    PROMPT_TOKENS_MAX = 32768,
    PROMPT_FILE_BYTES_MAX = 64 << 10,
};

struct prompt_slot {
    char name[PROMPT_NAME_BYTES];
    size_t max_items; /* 0 for a text */
    size_t max_bytes; /* maximum bytes of the text or of each item */
};

struct prompt {
    char task[PROMPT_NAME_BYTES + 12]; /* name and version, for chat_question.task: "ptr-match/2" */
    unsigned version, max_tokens;
    char *text;     /* template with slots */
    json_t *schema; /* NULL if the answer is free text */
    struct prompt_slot slots[PROMPT_SLOTS_MAX];
    size_t slot_count;
};

/* Value of a slot: a text, or the items of a list, which are numbered from 1. Texts and items longer than the slot's
 * limit are truncated and marked. */
struct prompt_value {
    const char *slot;
    struct str text;
    const struct str *items; /* [item_count] */
    size_t item_count;
};

/* Opens a built-in prompt; free it with wt__prompt_dispose. Prompts are immutable, so several threads may use one.
 * Errors: WT_ENOTFOUND, WT_EFORMAT, WT_ENOMEM. */
int wt__prompt_open(struct prompt *out, const char *name, wt_error *err);

/* Same as wt__prompt_open, from the bytes of a file. Errors: WT_EFORMAT (with line), WT_ETOOLONG, WT_ENOMEM. */
int wt__prompt_parse(struct prompt *out, const char *name, struct str file, wt_error *err);
void wt__prompt_dispose(struct prompt *prompt);

/* Fills the slots of a prompt, in the arena. Each slot requires exactly one value. Errors: WT_EINVAL (slot without
 * value, or value without slot), WT_ETOOLONG (too many items), WT_ENOMEM. */
int wt__prompt_fill(const struct prompt *prompt, const struct prompt_value *values, size_t count, struct arena *arena,
                    struct str *out, wt_error *err);

/* Fills the prompt and asks the model. question: the caller sets subject, progress, temperature, seed and, to
 * replace the prompt's, schema. This function sets task, text, max_tokens and, if NULL, schema. Errors: same as
 * wt__prompt_fill and wt__chat_ask. */
int wt__prompt_ask(const struct prompt *prompt, const struct prompt_value *values, size_t count,
                   struct chat_model *model, struct chat_question *question, struct arena *arena,
                   struct chat_answer *out, wt_error *err);

/* True if the value of "type" is supported in the schema of an answer: the name of a type, or a list of names. */
bool wt__answer_is_type(const json_t *value);

/* Returns a tool as a list item, "name: description", truncated to max bytes, in the arena. ptr is NULL if out of
 * memory. */
struct str wt__prompt_tool(struct str name, struct str description, size_t max, struct arena *arena);

/* Built-in prompts, by name. */
struct prompt_file {
    const char *name;
    const char *bytes;
    size_t len;
};
extern const struct prompt_file wt__prompt_files[];
extern const size_t wt__prompt_file_count;

/* ---------------------------------------------------------------- exchanges */

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
    int rc;                 /* result of the question */
    wt_error why;           /* error if rc is negative */
    bool put;               /* the question was asked, or cancelled */
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
