/* word_diff.h: the differences of two texts, by words. */
#ifndef WT_CATALOG_WORD_DIFF_H
#define WT_CATALOG_WORD_DIFF_H

#include "base/buffer.h"

/* Appends the changes of a text, as `now also says "..."; no longer says "..."; says "..." instead of "..."`. White
 * space belongs to the word before it. Texts without common words, or too long to compare, are one change. Errors:
 * WT_ENOMEM. */
int wt__word_diff(struct buffer *out, struct str before, struct str after);

/* Appends at most `most` bytes of text as a JSON string with escaped invisible characters. A shortened text ends in
 * "..." and its length. */
void wt__quote(struct buffer *out, struct str text, size_t most);

#endif
