/* parse.h: argv against the table of options.h. */
#ifndef WT_CLI_PARSE_H
#define WT_CLI_PARSE_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cli/options.h"

struct arguments {
    const struct verb *verb; /* NULL when none was given */
    bool given[OPT_COUNT];
    const char *text[OPT_COUNT]; /* NULL when not given; lines of it when it repeats */
    uint64_t number[OPT_COUNT];  /* 0 when not given */
    const char **words;          /* [word_count], borrowed from argv */
    size_t word_count;
    struct arena arena; /* of what was put together */
};

/* 0, or -1 with a sentence for the user in `why`. Options may stand anywhere; "--" ends them. */
int wt__arguments_parse(struct arguments *out, int argc, char **argv, struct buffer *why);
void wt__arguments_dispose(struct arguments *arguments);

const struct verb *wt__verb_find(const char *name);

/* The options in force with a verb (NULL: none yet): its own, then those of every verb. By index, by name [len] or by
 * letter; NULL when there is none. */
const struct option *wt__option_at(const struct verb *verb, size_t index);
const struct option *wt__option_named(const struct verb *verb, const char *name, size_t len);
const struct option *wt__option_lettered(const struct verb *verb, char letter);

/* Whether the word is one of the choices, which are separated by blanks. */
bool wt__is_choice(const char *choices, const char *word);

/* Appends what can be trained, separated by blanks. */
void wt__lesson_names(struct buffer *out);

#endif
