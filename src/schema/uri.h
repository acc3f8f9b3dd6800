/* uri.h: resolves references against the addresses of schemas (RFC 3986). Only dot segments are normalised. */
#ifndef WT_SCHEMA_URI_H
#define WT_SCHEMA_URI_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/str.h"

/* The five parts of a URI without separators, borrowed from the text. A part can be present and empty. */
struct uri {
    struct str scheme, authority, path, query, fragment;
    bool has_scheme, has_authority, has_query, has_fragment;
};

void wt__uri_split(struct uri *out, struct str text);

/* Appends the reference, resolved against base, without fragment. */
void wt__uri_resolve(struct buffer *out, struct str base, struct str reference);

/* Appends text with %XX decoded. Returns false if a percent sign is not followed by two hexadecimal digits. */
bool wt__uri_decode(struct buffer *out, struct str text);

#endif
