/* uri.h: addresses of schemas (RFC 3986): references resolved against a base, nothing fetched, nothing normalised but
 * dot segments. */
#ifndef WT_SCHEMA_URI_H
#define WT_SCHEMA_URI_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/str.h"

/* The five parts, without their separators; borrowed. A part that is there may be empty. */
struct uri {
    struct str scheme, authority, path, query, fragment;
    bool has_scheme, has_authority, has_query, has_fragment;
};

void wt__uri_split(struct uri *out, struct str text);

/* Appends reference resolved against base, without its fragment. */
void wt__uri_resolve(struct buffer *out, struct str base, struct str reference);

/* Appends text with %XX decoded. False where a percent sign begins no byte. */
bool wt__uri_decode(struct buffer *out, struct str text);

#endif
