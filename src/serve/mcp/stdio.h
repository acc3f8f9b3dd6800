/* stdio.h: MCP over two descriptors, a message a line: how a client runs a server as its child. */
#ifndef WT_SERVE_MCP_STDIO_H
#define WT_SERVE_MCP_STDIO_H

#include "serve/mcp/service.h"

enum { MCP_STDIO_WORKERS_MAX = 16 };

/* Serves one client until `in` ends, `out` breaks or stop_fd (-1: none) can be read; calls that run are cancelled then,
 * and waited for. Quick calls run on `workers` threads (0: one a processor). Descriptors stay open, and `in` may be
 * left in the middle of a line. Returns 0, WT_EIO or WT_ENOMEM. */
int wt__mcp_stdio_run(struct mcp_service *service, int in, int out, int stop_fd, unsigned workers, wt_error *err);

#endif
