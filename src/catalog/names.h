/* names.h: a tool's id, and the names that model providers accept, from which the id can be had back.
 *
 * An id is "provider/name", or "name" without a provider. On the wire a tool is called PROVIDER__NAME within the
 * API's alphabet and length:
 *   - a byte outside the alphabet is _xHH (lower-case hexadecimal); a literal "_x" before two such digits has its
 *     underscore written _x5f, so decoding is one pass without exceptions;
 *   - the first "__" separates: inside a provider, and in a name without a provider, an underscore that would be
 *     followed by another is written _x5f;
 *   - what is too long keeps its beginning and ends in _h and 16 digits, the first 8 bytes of SHA-256 of the id; an
 *     exact name that happens to end so has its last byte escaped. A hashed name is found through the store.
 * Decoding does not depend on the API. */
#ifndef WT_CATALOG_NAMES_H
#define WT_CATALOG_NAMES_H

#include "base/buffer.h"

enum { WIRE_MAX = 128 }; /* longest name of any rule */

struct wire_rule {
    const char *name;  /* of the API: "openai", ... */
    const char *extra; /* allowed beside letters, digits and '_' */
    size_t max;        /* bytes */
    bool letter_first; /* must begin with a letter or '_' */
};

/* The rule of an export format ("openai", "openai-responses", "anthropic", "gemini", "mcp"), or NULL. */
const struct wire_rule *wt__wire_rule(struct str format);

/* Appends the id. */
void wt__tool_id(struct buffer *out, struct str provider, struct str name);

/* The first 8 bytes, big-endian, of the SHA-256 of the id. */
uint64_t wt__id_hash(struct str provider, struct str name);

/* out ends in NUL. Returns its length. */
size_t wt__wire_name(const struct wire_rule *rule, struct str provider, struct str name, char out[WIRE_MAX + 1]);

enum wire_kind {
    WIRE_EXACT,  /* provider and name are set */
    WIRE_HASHED, /* hash is set */
};

/* Takes a name of the wire apart. The buffers are appended to; any bytes are accepted. */
enum wire_kind wt__wire_decode(struct str wire, struct buffer *provider, struct buffer *name, uint64_t *hash);

/* key within [extra, letters, digits, '_'] and max, by the same escapes: for names of properties. */
void wt__wire_escape(struct buffer *out, struct str key, const char *extra, size_t max);

#endif
