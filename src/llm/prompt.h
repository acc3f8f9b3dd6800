/* prompt.h: what a language model is asked, as data: prompts/NAME.txt, built into the library.
 *
 *   # a comment
 *   version 1                   counted up with every change of meaning; part of a recorded question's key
 *   tokens 512                  the longest answer
 *   text request 4096           a slot that holds one text of at most so many bytes
 *   list tools 128 600          a slot that holds at most so many items of at most so many bytes each
 *   schema                      JSON Schema of the answer (answer.h says which keywords), up to the line "prompt"
 *   {"type": "object", ...}
 *   prompt                      the rest of the file; each slot alone on its line: {{request}}
 *
 * A value cannot leave its slot. It stands between two lines that nothing else in the prompt can contain,
 *
 *   <<<request
 *   What is the weather?
 *   >>>request
 *
 * because values go through plain.h, which pulls such marks apart; an item of a list is one line and cannot begin
 * another. A value is written once and never searched for slots. */
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
    PROMPT_NAME_BYTES = 32,            /* of a prompt's or slot's name, with a NUL */
    PROMPT_VALUE_BYTES_MAX = 64 << 10, /* the largest limit that a slot can set for a text or an item */
    PROMPT_ITEMS_MAX = 256,            /* the largest limit that a slot can set for a list */
    PROMPT_VERSION_MAX = 999999,
    PROMPT_TOKENS_MAX = 32768,
    PROMPT_FILE_BYTES_MAX = 64 << 10,
};

struct prompt_slot {
    char name[PROMPT_NAME_BYTES];
    size_t max_items; /* 0: a text */
    size_t max_bytes; /* of the text, or of each item */
};

struct prompt {
    char task[PROMPT_NAME_BYTES + 12]; /* "ptr-match/2": name and version, as chat_question.task wants it */
    unsigned version, max_tokens;
    char *text;     /* with its slots; NUL-terminated */
    json_t *schema; /* NULL: the answer is free text */
    struct prompt_slot slots[PROMPT_SLOTS_MAX];
    size_t slot_count;
};

/* What stands in a slot: a text, or the items of a list, which are numbered from 1. A text that is longer than its
 * slot takes is cut and marked, and so is an item. */
struct prompt_value {
    const char *slot;
    struct str text;
    const struct str *items; /* [item_count] */
    size_t item_count;
};

/* The prompt of that name that was built in; *out ends with wt__prompt_dispose. It does not change afterwards: any
 * number of threads may fill it. Errors: WT_ENOTFOUND, WT_EFORMAT, WT_ENOMEM. */
int wt__prompt_open(struct prompt *out, const char *name, wt_error *err);

/* The same from a file's bytes. Errors: WT_EFORMAT (with its line), WT_ETOOLONG, WT_ENOMEM. */
int wt__prompt_parse(struct prompt *out, const char *name, struct str file, wt_error *err);
void wt__prompt_dispose(struct prompt *prompt);

/* The prompt with its slots filled, in the arena. Each slot wants exactly one value. Errors: WT_EINVAL (a slot that
 * has no value, a value that has no slot), WT_ETOOLONG (more items than the slot takes), WT_ENOMEM. */
int wt__prompt_fill(const struct prompt *prompt, const struct prompt_value *values, size_t count, struct arena *arena,
                    struct str *out, wt_error *err);

/* Fills the prompt, asks the model, and hands its answer out. question: what else is asked for (subject,
 * progress, temperature and seed, a schema in place of the prompt's); its task, text and max_tokens, and its schema
 * where it has none, are set here and stay for the caller to show. Errors of wt__prompt_fill and of
 * wt__chat_ask. */
int wt__prompt_ask(const struct prompt *prompt, const struct prompt_value *values, size_t count,
                   struct chat_model *model, struct chat_question *question, struct arena *arena,
                   struct chat_answer *out, wt_error *err);

/* The prompts that are built in, by name. */
struct prompt_file {
    const char *name;
    const char *bytes;
    size_t len;
};
extern const struct prompt_file wt__prompt_files[];
extern const size_t wt__prompt_file_count;

#endif
