/* mcp_routes.h: MCP servers at paths of the HTTP API: their routes, as rows of the API's table, and what lives as long
 * as they do. Who may ask is the API's to say: the scope `find` opens them, and
 * `call` is needed for what reaches a server behind them. */
#ifndef WT_SERVE_MCP_ROUTES_H
#define WT_SERVE_MCP_ROUTES_H

#include "serve/api/route.h"
#include "serve/mcp/service.h"

enum { MCP_MOUNTS_MAX = 40 };

struct mcp_mount {
    const char *path; /* "/mcp" */
    const char *name; /* of the operations, one word */
    const struct mcp_features *features;
    const char *const *passed_headers; /* as of struct mcp_asker */
};

struct mcp_routes;

/* What is mounted, and its strings, live longer. Errors: WT_ETOOLONG, those of the service. */
int wt__mcp_routes_open(struct mcp_routes **out, const struct mcp_mount *mounts, size_t count, wt_error *err);
/* Live as long as mcp. */
const struct routes *wt__mcp_routes(const struct mcp_routes *mcp);
struct mcp_service *wt__mcp_routes_service(const struct mcp_routes *mcp, size_t mount);
/* A server that ends: streams of notices get their final word, and calls that wait are cancelled. mcp: its own. */
void wt__mcp_routes_stop(void *mcp);
/* After the server was closed. NULL is a no-op. */
void wt__mcp_routes_close(struct mcp_routes *mcp);

#endif
