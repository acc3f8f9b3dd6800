/* face.h: the features of an MCP service (serve/mcp/service.h) in front of the gateway:
 *
 *   search   a search tool, a tool for definitions, three call tools and a tool to read long results. There is one call
 *            tool per effect, so that users can approve calls by effect.
 *   direct   all tools with their own definitions
 *   auto     direct while there are few tools, else search
 *
 * Each face also has the resources and prompts of all servers. Items that the policy denies to a caller are neither
 * listed nor found, described or called. */
#ifndef WT_GATEWAY_FACE_H
#define WT_GATEWAY_FACE_H

#include "gateway/gateway.h"
#include "gateway/policy.h"
#include "serve/mcp/service.h"

struct face;

struct face_options {
    enum face_kind kind;
    const char *profile; /* profile of the policy, or NULL */
    const char *summary; /* see catalogue_options */
    size_t budget_bytes; /* see catalogue_options */
    size_t max_direct;   /* maximum number of tools FACE_AUTO shows directly; 0 for GATEWAY_DIRECT_MOST */
};

/* Opens a face. The gateway and the strings of the options must outlive it. */
int wt__face_open(struct face **out, struct gateway *gateway, const struct face_options *options, wt_error *err);
const struct mcp_features *wt__face_features(const struct face *face);
/* Call it after closing the face's service. NULL is a no-op. */
void wt__face_close(struct face *face);

#endif
