/* parse.h: parses argv according to the table of options.h. */
#ifndef WT_CLI_PARSE_H
#define WT_CLI_PARSE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/options.h"

struct arguments {
    const struct cli_verb *verb; /* NULL if absent */
    bool given[OPT_COUNT];
    const char *text[OPT_COUNT]; /* NULL if absent; one line for each value of a repeatable option */
    uint64_t number[OPT_COUNT];  /* 0 if absent */
    const char **words;          /* [word_count], borrowed from argv */
    size_t word_count;
    struct arena arena; /* memory of joined texts */
};

/* Parses argv. Options may come before or after words; "--" ends them. Returns 0, or -1 with a message in `why`. */
int wt__arguments_parse(struct arguments *out, int argc, char **argv, struct buffer *why);
void wt__arguments_dispose(struct arguments *arguments);

const struct cli_verb *wt__verb_find(const char *name);

/* Look up an option of the verb (NULL for none), then of the global options, by index, name [len] or letter. Return
 * NULL if not found. */
const struct cli_option *wt__option_at(const struct cli_verb *verb, size_t index);
const struct cli_option *wt__option_named(const struct cli_verb *verb, const char *name, size_t len);
const struct cli_option *wt__option_lettered(const struct cli_verb *verb, char letter);

/* True if the word is one of the choices, which are separated by blanks. */
bool wt__is_choice(const char *choices, const char *word);

/* Appends the names of trainable models, separated by blanks. */
void wt__put_lesson_names(struct buffer *out);

#endif
