/* prompt.h: prompts for a language model, and exchanges with it.
 *
 * Prompts are the files prompts/NAME.txt, which are built into the library. The format of a prompt file:
 *
 *   # a comment
 *   version 1                   increased with every change of meaning; part of the key of a recorded answer
 *   tokens 512                  maximum tokens of the answer
 *   text request 4096           slot "request" for a text of at most 4096 bytes
 *   list tools 128 600          slot "tools" for a list of at most 128 items of at most 600 bytes
 *   schema                      the JSON Schema of the answer follows, up to the line "prompt" (keywords: internal.h)
 *   {"type": "object", ...}
 *   prompt                      the text follows, up to the end of the file; each slot is alone on a line: {{request}}
 *
 * A value cannot escape from its slot. Two delimiter lines enclose the value:
 *
 *   <<<request
 *   What is the weather?
 *   >>>request
 *
 * Values cannot contain delimiters, because values are sanitised (plain_text.h). An item of a list is always one line.
 * "{{...}}" in a value is not expanded.
 *
 * An exchange is a question to a language model with its answer and cost. PTR (choose/ptr.h) and calls
 * (call/language_model.h) use three functions:
 *
 *   wt__chat_put      asks, in any thread; the answer in the reply may be unusable
 *   wt__chat_keep     converts the reply to an exchange and adds up its cost; called in a fixed order
 *   wt__chat_reject   marks the answer of an exchange as unusable, with the reason
 *
 * If the model gives no answer (network, cancellation, memory), wt__chat_put returns an error, and wt__chat_keep
 * creates no exchange. */
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
    PROMPT_SLOTS_MAX = 8,              /* maximum slots of a prompt */
    PROMPT_NAME_BYTES = 32,            /* maximum length of a prompt's or slot's name, with NUL */
    PROMPT_VALUE_BYTES_MAX = 64 << 10, /* largest byte limit that a slot may have */
    PROMPT_ITEMS_MAX = 256,            /* largest item limit that a slot may have */
    PROMPT_VERSION_MAX = 999999,       /* maximum version of a prompt */
    PROMPT_TOKENS_MAX = 32768,         /* maximum of a prompt's setting "tokens" */
    PROMPT_FILE_BYTES_MAX = 64 << 10,  /* maximum size of a prompt file */
};

struct prompt_slot {
    char name[PROMPT_NAME_BYTES];
    size_t max_items; /* maximum items of a list; 0 for a text */
    size_t max_bytes; /* maximum bytes of the text or of each item */
};

struct prompt {
    char task[PROMPT_NAME_BYTES + 12]; /* name and version, for chat_question.task: "ptr-match/2" */
    unsigned version, max_tokens;      /* max_tokens: maximum tokens of the answer */
    char *text;                        /* template with slots */
    json_t *schema;                    /* NULL if the answer is free text */
    struct prompt_slot slots[PROMPT_SLOTS_MAX];
    size_t slot_count;
};

/* Value of a slot: a text, or the items of a list, which are numbered from 1. Texts and items longer than the slot's
 * limit are truncated and marked. */
struct prompt_value {
    const char *slot;        /* name of the slot */
    struct str text;         /* for a text slot */
    const struct str *items; /* [item_count] for a list slot */
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

/* Fills the prompt and asks the model. question: the caller sets subject, progress, temperature and seed. A schema that
 * the caller sets replaces the prompt's schema. This function sets the other members. Errors: same as wt__prompt_fill
 * and wt__chat_ask. */
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

/* Total cost of a number of questions. */
struct chat_cost {
    size_t questions; /* number of questions with an answer, usable or not */
    size_t requests;  /* number of requests sent; 0 for recorded answers */
    size_t repaired;  /* number of answers that matched their schema only after a repair */
    size_t unusable;  /* number of unusable answers */
    uint64_t prompt_tokens, completion_tokens;
    double ms; /* sum of the times of all questions, even if asked concurrently */
};

/* A question and its answer, verbatim and untrusted. */
struct chat_exchange {
    const char *task; /* name and version of the prompt */
    struct str question, answer;
    const char *unusable; /* reason why the answer is unusable; NULL if usable */
};

/* Reply to one question. Must be zero before wt__chat_put; always free with wt__chat_reply_dispose. */
struct chat_reply {
    struct arena arena; /* memory of question and got */
    struct str question;
    struct chat_answer got; /* json is NULL without a schema, or if the answer is unusable */
    int rc;                 /* 0, or an error code; WT_EFORMAT if the answer is unusable */
    wt_error why;           /* the error, if rc is negative */
    bool put;               /* true once wt__chat_put was called */
};

/* Fills the prompt and asks the model, unless cancelled. Counts one step of the question's progress. question: same as
 * for wt__prompt_ask. Returns 0 if the model answers, even if the answer is unusable. Otherwise returns the error,
 * which is also in the reply. */
int wt__chat_put(struct chat_reply *reply, const struct prompt *prompt, const struct prompt_value *values, size_t count,
                 struct chat_model *model, struct chat_question question);
void wt__chat_reply_dispose(struct chat_reply *reply);

/* Sets *out to the exchange, in the arena, and adds its cost to *cost. An answer that does not match the schema is
 * marked as unusable. If the model gave no answer, returns the error of the reply, with the prompt's name and version
 * before the message. */
int wt__chat_keep(struct chat_exchange *out, struct chat_cost *cost, const struct prompt *prompt,
                  const struct chat_reply *reply, struct arena *arena, wt_error *err);

/* Marks the answer of an exchange as unusable, with the reason, and counts it in *cost. Errors: WT_ENOMEM. */
int wt__chat_reject(struct chat_exchange *exchange, struct chat_cost *cost, const char *reason, struct arena *arena,
                    wt_error *err);

#endif
