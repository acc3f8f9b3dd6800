/* mcp_routes.h: mounts MCP servers at paths of the HTTP API. The API checks the keys: the scope `find` opens an MCP
 * server, and `call` is needed to reach servers behind the gateway. */
#ifndef WT_SERVE_MCP_ROUTES_H
#define WT_SERVE_MCP_ROUTES_H

#include "serve/api/api.h"
#include "serve/mcp/service.h"

enum { MCP_MOUNTS_MAX = 40 };

struct mcp_mount {
    const char *path; /* "/mcp" */
    const char *name; /* prefix of the operation ids, one word */
    const struct mcp_features *features;
    const char *const *passed_headers; /* see struct mcp_asker */
};

struct mcp_routes;

/* The mounted features and all strings must outlive the routes. Errors: WT_ETOOLONG, and those of the service. */
int wt__mcp_routes_open(struct mcp_routes **out, const struct mcp_mount *mounts, size_t count, wt_error *err);
/* Valid as long as mcp. */
const struct routes *wt__mcp_routes(const struct mcp_routes *mcp);
struct mcp_service *wt__mcp_routes_service(const struct mcp_routes *mcp, size_t mount);
/* Begins shutdown: closes notice streams with their final message and cancels waiting calls. mcp is a struct
 * mcp_routes; the type fits api_options.stopping. */
void wt__mcp_routes_stop(void *mcp);
/* Call it after closing the HTTP server. NULL is a no-op. */
void wt__mcp_routes_close(struct mcp_routes *mcp);

#endif
