/* quote.h: values and texts of strangers within a sentence. */
#ifndef WT_SCHEMA_QUOTE_H
#define WT_SCHEMA_QUOTE_H

#include <jansson.h>

#include "base/buffer.h"
#include "base/str.h"

/* JSON of at most MESSAGE_VALUE_BYTES; what is cut ends in "...". A long value costs no more than a short one. */
void wt__quote_value(struct buffer *out, const json_t *value);

/* The text in quotes, or without; at most `most` bytes of it. */
void wt__quote_text(struct buffer *out, struct str text, size_t most);
void wt__quote_plain(struct buffer *out, struct str text, size_t most);

#endif
