/* plain_text.h: hostile text made plain, so that it can stand in a prompt or in a sentence of ours.
 *
 * What comes out is UTF-8 without control characters, without characters that cannot be seen (they smuggle
 * instructions past a reader), and without the marks by which prompts and chat templates are built: runs of angle
 * brackets and of braces, "<|", "<word>", "[WORD]", "|>". Those are pulled apart by a blank, never deleted, so that
 * what was written can still be read. Wide and small forms of the marks count as the marks. Text that is plain already
 * comes out as it was. */
#ifndef WT_LLM_PLAIN_TEXT_H
#define WT_LLM_PLAIN_TEXT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/str.h"

#define PLAIN_CUT " [...]" /* stands where a value was cut */

/* Appends text, at most max bytes of it and PLAIN_CUT when there was more. Lines stay lines. */
void wt__plain_text(struct buffer *out, struct str text, size_t max);

/* The same as one line: each run of blanks is one blank, none at the ends. */
void wt__plain_line(struct buffer *out, struct str text, size_t max);

/* What a model says where it was asked for words: one line, in the arena, of at most max bytes (and PLAIN_CUT); empty
 * when there is no word in it. 0 or WT_ENOMEM. */
int wt__plain_words(struct str *out, struct str text, size_t max, struct arena *arena);

#endif
