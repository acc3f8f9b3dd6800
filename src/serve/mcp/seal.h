/* seal.h: seals requestState, which passes through a possibly hostile client. An HMAC-SHA256 covers the payload and its
 * subject: principal, method, name, arguments and expiry time. */
#ifndef WT_SERVE_MCP_SEAL_H
#define WT_SERVE_MCP_SEAL_H

#include "base/buffer.h"
#include "base/json.h"

/* The request that a state belongs to. */
struct mcp_sealed_for {
    const char *principal;
    struct str method, name;
    const json_t *arguments; /* NULL for none; order and whitespace do not matter */
};

/* Appends the sealed state. ends_ms: expiry time by the same clock as now_ms below. Returns false if out of memory. */
bool wt__mcp_seal(struct buffer *out, const unsigned char key[32], const struct mcp_sealed_for *subject, double ends_ms,
                  struct str payload);

/* Appends the payload and returns NULL, or returns the end of an error sentence such as "is not one of ours". */
const char *wt__mcp_unseal(struct buffer *payload, const unsigned char key[32], const struct mcp_sealed_for *subject,
                           double now_ms, struct str state);

#endif
