/* base64.h: Base64 of RFC 4648, sections 4 and 5. Decoding is strict: each byte sequence has exactly one valid
 * encoding, and no character is skipped. */
#ifndef WT_BASE_BASE64_H
#define WT_BASE_BASE64_H

#include "base/buffer.h"

/* Appends bytes as base64 with padding. */
void wt__base64(struct buffer *out, struct str bytes);
/* Appends bytes as base64 in the alphabet for URLs and file names, without padding. */
void wt__base64_url(struct buffer *out, struct str bytes);

/* Appends the decoded bytes. Returns false if text is not the exact encoding of any bytes. Even then, out may have
 * grown. */
bool wt__base64_decode(struct buffer *out, struct str text);
bool wt__base64_url_decode(struct buffer *out, struct str text);

#endif
