/* text.h: other people's text on a terminal. Tools come from anywhere, and their descriptions may hold escape
 * sequences that repaint the screen or hide what they do: no control character of theirs is ever sent. */
#ifndef WT_CLI_TEXT_H
#define WT_CLI_TEXT_H

#include <stddef.h>

#include "base/buffer.h"

/* s with control characters, and characters that reorder or hide text, spelled out (\x1b, \u{202e}) and invalid UTF-8
 * as U+FFFD. LINES keeps newlines and tabs; LINE makes each run of white space one blank. */
enum text_shape { TEXT_LINES, TEXT_LINE };
void wt__text_escape(struct buffer *out, struct str s, enum text_shape shape);

/* Columns that escaped text takes on a terminal. */
size_t wt__text_width(struct str s);

/* s escaped as one line and cut to `width` columns (0: not at all) with a mark where something is missing. Returns
 * the columns taken. */
size_t wt__text_cut(struct buffer *out, struct str s, size_t width);
void wt__text_pad(struct buffer *out, size_t columns);

/* Escaped text as paragraphs of lines of at most `width` columns (0: not broken), each after `indent` blanks; the
 * first line's indent is the caller's. */
void wt__text_wrap(struct buffer *out, struct str s, size_t indent, size_t width);

#endif
