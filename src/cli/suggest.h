/* suggest.h: what somebody may have meant who typed a word that nobody knows. */
#ifndef WT_CLI_SUGGEST_H
#define WT_CLI_SUGGEST_H

#include "base/buffer.h"
#include "cli/options.h"

/* The closest of the words to one that is none of them, or NULL when none is near; upper and lower case are one. next
 * gives the words by index, and ends with NULL. */
const char *wt__closest(const char *word, const char *(*next)(const void *context, size_t index), const void *context);

/* Appends "; did you mean `find`?", or "; " and what there is instead, to a sentence on an unknown verb; nothing when
 * nothing is near. */
void wt__suggest_verb(struct buffer *out, const char *word);

/* The name of an option that the verb (NULL: every verb) has, and that other programs call so; NULL: none. */
const char *wt__suggest_option(const struct verb *verb, const char *name);

#endif
