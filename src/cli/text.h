/* text.h: untrusted text on a terminal. Descriptions of tools may contain escape sequences that repaint the screen or
 * hide text, so control characters are never printed. */
#ifndef WT_CLI_TEXT_H
#define WT_CLI_TEXT_H

#include <stddef.h>

#include "base/buffer.h"

/* Appends s with control characters and characters that reorder or hide text escaped (\x1b, \u{202e}), and invalid
 * UTF-8 as U+FFFD. TEXT_LINES keeps newlines and tabs; TEXT_LINE collapses white space to one blank. */
enum text_shape { TEXT_LINES, TEXT_LINE };
void wt__text_escape(struct buffer *out, struct str s, enum text_shape shape);

/* Returns the columns of escaped text on a terminal. */
size_t wt__text_width(struct str s);

/* Appends s escaped as one line and cut to `width` columns (0 for no limit), with an ellipsis if cut. Returns the
 * columns used. */
size_t wt__text_cut(struct buffer *out, struct str s, size_t width);
void wt__text_pad(struct buffer *out, size_t columns);

/* Appends s escaped and wrapped at `width` columns (0 for no limit). Lines after the first are indented by `indent`. */
void wt__text_wrap(struct buffer *out, struct str s, size_t indent, size_t width);

#endif
