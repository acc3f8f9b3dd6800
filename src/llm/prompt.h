/* prompt.h: prompts as data: files prompts/NAME.txt, built into the library.
 *
 *   # a comment
 *   version 1                   increased with every change of meaning; part of a recorded question's key
 *   tokens 512                  maximum tokens of the answer
 *   text request 4096           slot for one text; maximum bytes
 *   list tools 128 600          slot for a list; maximum items, maximum bytes of each
 *   schema                      JSON Schema of the answer (keywords: answer.h), up to the line "prompt"
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
 * Slots in values are not expanded. */
#ifndef WT_LLM_PROMPT_H
#define WT_LLM_PROMPT_H

#include <stddef.h>

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

#endif
