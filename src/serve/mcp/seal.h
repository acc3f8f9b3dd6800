/* seal.h: requestState, sealed: what a call keeps travels through a client that may be hostile. HMAC-SHA256 over all of
 * it and over what it belongs to: the principal, the method, the name, the arguments, and when it ends. */
#ifndef WT_SERVE_MCP_SEAL_H
#define WT_SERVE_MCP_SEAL_H

#include "base/buffer.h"
#include "base/json.h"

/* What a state belongs to. */
struct mcp_sealed_for {
    const char *principal;
    struct str method, name;
    const json_t *arguments; /* NULL: none. Their order and blanks do not count */
};

/* Appends the state. ends_ms: of the wall's clock. False: memory is out. */
bool wt__mcp_seal(struct buffer *out, const unsigned char key[32], const struct mcp_sealed_for *subject, double ends_ms,
                  struct str payload);

/* Appends the payload. Otherwise why not, as a sentence's end: "is not one of ours", ... */
const char *wt__mcp_unseal(struct buffer *payload, const unsigned char key[32], const struct mcp_sealed_for *subject,
                           double now_ms, struct str state);

#endif
