/* base64.h: RFC 4648, sections 4 and 5. Decoding is strict: one text for each sequence of bytes, nothing is passed
 * over. */
#ifndef WT_BASE_BASE64_H
#define WT_BASE_BASE64_H

#include "base/buffer.h"

/* Appends bytes as base64 with padding. */
void wt__base64(struct buffer *out, struct str bytes);
/* The same in the alphabet of URLs and file names, without padding. */
void wt__base64_url(struct buffer *out, struct str bytes);

/* Appends the bytes. False where text is not what the functions above write; out may have grown then. */
bool wt__base64_decode(struct buffer *out, struct str text);
bool wt__base64_url_decode(struct buffer *out, struct str text);

#endif
