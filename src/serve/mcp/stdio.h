/* stdio.h: MCP over two file descriptors, one message per line, for a client that runs the server as a child
 * process. */
#ifndef WT_SERVE_MCP_STDIO_H
#define WT_SERVE_MCP_STDIO_H

#include "serve/mcp/service.h"

enum {
    MCP_STDIO_WORKERS_MAX = 16,
    MCP_STDIO_WRITE_MS = 30000, /* maximum time without the client reading before the server gives up */
    MCP_STDIO_GRACE_MS = 1000,  /* time for calls to finish after the end of input, before they are cancelled */
};

/* Serves one client until `in` ends, `out` fails or stop_fd (-1 for none) becomes readable. Requests already read are
 * still answered, within MCP_STDIO_GRACE_MS. No call is running on return. Quick calls run on `workers` threads (0: one
 * per processor). The descriptors stay open; `in` may be left in the middle of a line. SIGPIPE must be ignored. Returns
 * 0, WT_EIO or WT_ENOMEM. */
int wt__mcp_stdio_run(struct mcp_service *service, int in, int out, int stop_fd, unsigned workers, wt_error *err);

#endif
