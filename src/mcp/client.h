/* client.h: asks an MCP server which tools it has.
 *
 * Nearly all servers are legacy, and some of them die of a request before `initialize`, so that comes first; only a
 * server that refuses it is asked as a modern one (`server/discover`, then requests that say their revision). The
 * other order, which the specification has for clients that do more, would cost most servers a round and a few their
 * life. */
#ifndef WT_MCP_CLIENT_H
#define WT_MCP_CLIENT_H

#include "base/progress.h"
#include "mcp/pages.h"
#include "mcp/server.h"

enum {
    MCP_NAME_BYTES = 257, /* kept of what a server calls itself, with a NUL */
};

/* Dispose of tools. */
struct mcp_listing {
    struct buffer tools; /* {"tools":[...]}: each tool byte for byte as the server wrote it */
    size_t tool_count, page_count;
    char name[MCP_NAME_BYTES]; /* what the server calls itself; "" when it does not say */
    bool modern;
};

/* Starts the server or goes to it, asks, and ends it again, whatever happens. timeout_ms: for all of it but the end.
 * The sentence of an error has no secrets of the server's in it. Errors: WT_EINVAL (server->refusal), WT_ENOTFOUND (no
 * such program), WT_ENETWORK (it ends, refuses, or makes no sense), WT_ETIMEOUT, WT_ETOOLONG, WT_ECANCELLED, WT_EIO,
 * WT_ENOMEM. */
int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err);

#endif
