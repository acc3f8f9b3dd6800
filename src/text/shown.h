/* shown.h: writes JSON that is safe to display. Definitions of tools are untrusted, and plain JSON escapes only C0
 * controls. Other characters could reverse or hide text on a terminal, or start an escape sequence. Stored text is kept
 * as received. Text is escaped here when it is printed or exported. */
#ifndef WT_TEXT_SHOWN_H
#define WT_TEXT_SHOWN_H

#include "base/buffer.h"
#include "base/json.h"
#include "base/str.h"

/* Appends JSON with every invisible character (wt__unicode_unseen) in strings and keys escaped as \uXXXX, or as two
 * such escapes above U+FFFF. The JSON value stays the same. Invalid UTF-8 becomes U+FFFD. */
void wt__shown_json(struct buffer *out, struct str json);

/* Append a string or a value as JSON, like wt__buffer_json and wt__json_write, with invisible characters escaped. */
void wt__shown_string(struct buffer *out, struct str s);
void wt__shown_value(struct buffer *out, const json_t *value);

#endif
