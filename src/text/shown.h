/* shown.h: JSON that is safe to display. Definitions come from anywhere, and JSON escapes only C0 controls. On a
 * terminal, other characters could reverse or hide text, or start an escape sequence. Stored text stays as received;
 * printed or exported text is escaped here. */
#ifndef WT_TEXT_SHOWN_H
#define WT_TEXT_SHOWN_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/str.h"

/* Appends JSON with every invisible character (wt__unicode_unseen) as \uXXXX, or as two escapes above U+FFFF. The
 * result is equal JSON. Applies to strings and keys. Invalid UTF-8 becomes U+FFFD. */
void wt__shown_json(struct buffer *out, struct str json);

/* Append a string or a value as JSON, like wt__buffer_json and wt__json_write, with invisible characters escaped. */
void wt__shown_string(struct buffer *out, struct str s);
void wt__shown_value(struct buffer *out, const json_t *value);

#endif
