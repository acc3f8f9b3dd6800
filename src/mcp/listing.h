/* client.h: lists the tools of an MCP server.
 *
 * Nearly all servers are legacy, and some of them end if a request comes before `initialize`. So `initialize` goes
 * first, and only a server that refuses it is asked as a modern one (`server/discover`, then requests with their
 * revision). The specification recommends the other order, but it would cost most servers a round trip. */
#ifndef WT_MCP_CLIENT_H
#define WT_MCP_CLIENT_H

#include "base/progress.h"
#include "mcp/pages.h"
#include "mcp/server.h"

enum {
    MCP_NAME_BYTES = 257, /* maximum size of a server's own name, with the NUL */
};

/* The caller disposes of tools. */
struct mcp_listing {
    struct buffer tools; /* {"tools":[...]}: each tool byte for byte as the server wrote it */
    size_t tool_count, page_count;
    char name[MCP_NAME_BYTES]; /* the server's own name; "" if absent or too long */
    bool modern;
};

/* Connects to the server, lists its tools and disconnects, also on failure. timeout_ms covers everything but the
 * disconnect. Error messages contain no secrets of the server. Errors: WT_EINVAL (server->refusal), WT_ENOTFOUND (no
 * such program), WT_ENETWORK (the server ends, refuses, or sends an invalid answer), WT_ETIMEOUT, WT_ETOOLONG,
 * WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err);

#endif
