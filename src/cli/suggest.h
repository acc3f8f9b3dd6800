/* suggest.h: suggestions for unknown words. */
#ifndef WT_CLI_SUGGEST_H
#define WT_CLI_SUGGEST_H

#include "base/buffer.h"
#include "cli/options.h"

/* Returns the word closest to `word`, ignoring case; NULL if none is near. next returns the candidates by index, and
 * NULL after the last. */
const char *wt__closest_word(const char *word, const char *(*next)(const void *context, size_t index),
                             const void *context);

/* Appends "; did you mean `find`?" or another hint, if there is one, to a message on an unknown verb. */
void wt__suggest_verb(struct buffer *out, const char *word);

/* Returns the verb's option (or global option, if verb is NULL) that other programs call `name`; NULL if there is no
 * such option. */
const char *wt__suggest_option(const struct cli_verb *verb, const char *name);

#endif
