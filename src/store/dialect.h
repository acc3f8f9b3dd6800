/* dialect.h: translates statements and texts of the store for PostgreSQL. */
#ifndef WT_STORE_DIALECT_H
#define WT_STORE_DIALECT_H

#include <stdbool.h>

#include "base/buffer.h"

/* Appends the statement in PostgreSQL's dialect (store/driver.h lists the differences). Tables get the schema. */
void wt__dialect_translate(struct buffer *out, const char *sql, const char *schema);

/* PostgreSQL stores only valid UTF-8 without NUL as text. Bytes of other texts are stored as the characters U+10FF00 to
 * U+10FFFF, which are for private use. These characters themselves are stored in the same way, byte by byte, so that
 * every text is read as it was written. */

/* True if the text is stored as it is. */
bool wt__dialect_is_plain(struct str text);
void wt__dialect_encode(struct buffer *out, struct str text);
/* True if a stored text contains encoded bytes. */
bool wt__dialect_is_encoded(struct str stored);
void wt__dialect_decode(struct buffer *out, struct str stored);

#endif
