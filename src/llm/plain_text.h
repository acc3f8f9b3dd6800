/* plain_text.h: sanitises untrusted text for use in prompts and messages.
 *
 * The result is UTF-8; invalid bytes become U+FFFD. Control characters (except tabs and line ends) and invisible
 * characters are omitted, because they can hide instructions from a reader. Blanks are inserted into possible marks of
 * prompts and chat templates, so that a model does not recognise the marks: "<x", "|>", "[/", "[A", ">>", "{{" and
 * "}}". Full-width and small forms of these characters are replaced by the ASCII characters first. */
#ifndef WT_LLM_PLAIN_TEXT_H
#define WT_LLM_PLAIN_TEXT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/str.h"

#define PLAIN_CUT " [...]" /* marks a truncated value */

/* Appends at most max bytes of text, and PLAIN_CUT if truncated. Keeps line ends. */
void wt__plain_text(struct buffer *out, struct str text, size_t max);

/* Same as wt__plain_text, as one line: collapses runs of blanks, and trims the ends. */
void wt__plain_line(struct buffer *out, struct str text, size_t max);

/* Sets *out to a sanitised answer in free text: one line of at most max bytes, plus PLAIN_CUT if truncated, in the
 * arena. *out is empty if the text has no word. Errors: WT_ENOMEM. */
int wt__plain_words(struct str *out, struct str text, size_t max, struct arena *arena);

#endif
