/* quote.h: quotes untrusted values and texts in messages. Invisible characters are escaped. */
#ifndef WT_SCHEMA_QUOTE_H
#define WT_SCHEMA_QUOTE_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/str.h"

/* Appends the value as JSON, truncated to MESSAGE_VALUE_BYTES with "..." at the end. The cost does not depend on the
 * size of the value. */
void wt__quote_value(struct buffer *out, const json_t *value);

/* Append the text with or without quotes, truncated to `most` bytes. */
void wt__quote_text(struct buffer *out, struct str text, size_t most);
void wt__quote_plain(struct buffer *out, struct str text, size_t most);

#endif
