/* shown.h: JSON as it may be shown. Definitions come from anywhere, and JSON leaves all characters but the C0 controls
 * as they are: on a terminal they would turn text round, hide it, or begin an escape sequence. What is stored stays as
 * it came; what is printed or exported goes through here. */
#ifndef WT_TEXT_SHOWN_H
#define WT_TEXT_SHOWN_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/str.h"

/* Appends JSON text with every character that nobody sees (wt__unicode_unseen) as \uXXXX, one above U+FFFF as two: the
 * same JSON, in strings and keys alike. What is not UTF-8 reads as U+FFFD. */
void wt__shown_json(struct buffer *out, struct str json);

/* The same of a string yet to be written (wt__buffer_json), and of a value (wt__json_write). */
void wt__shown_string(struct buffer *out, struct str s);
void wt__shown_value(struct buffer *out, const json_t *value);

#endif
