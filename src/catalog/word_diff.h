/* word_diff.h: two texts by their words: what one says and the other does not. */
#ifndef WT_CATALOG_WORD_DIFF_H
#define WT_CATALOG_WORD_DIFF_H

#include "base/buffer.h"

/* Appends what became of a text, as `says now also "..."; no more "..."; "..." in place of "..."`. White space counts
 * as a part of the word before it. Texts that share next to nothing, or too much to be compared, are told as a whole.
 * Errors: WT_ENOMEM. */
int wt__word_diff(struct buffer *out, struct str before, struct str after);

/* Appends text as a JSON string in which what nobody sees is spelled out, of at most so many bytes of the text; what
 * there is beyond them is told by "...". */
void wt__quote(struct buffer *out, struct str text, size_t most);

#endif
