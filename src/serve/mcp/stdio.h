/* stdio.h: MCP over two descriptors, a message a line: how a client runs a server as its child. */
#ifndef WT_SERVE_MCP_STDIO_H
#define WT_SERVE_MCP_STDIO_H

#include "serve/mcp/service.h"

enum {
    MCP_STDIO_WORKERS_MAX = 16,
    MCP_STDIO_WRITE_MS = 30000, /* that a client may read nothing; then it is given up */
    MCP_STDIO_GRACE_MS = 1000,  /* that calls have when `in` has ended; then they are cancelled */
};

/* Serves one client until `in` ends, `out` breaks or stop_fd (-1: none) can be read. What was read is still answered
 * when `in` has ended, unless it takes longer than MCP_STDIO_GRACE_MS; no call runs any more on return. Quick calls run
 * on `workers` threads (0: one a processor). Descriptors stay open, and `in` may be left in the middle of a line.
 * SIGPIPE must be ignored. Returns 0, WT_EIO or WT_ENOMEM. */
int wt__mcp_stdio_run(struct mcp_service *service, int in, int out, int stop_fd, unsigned workers, wt_error *err);

#endif
