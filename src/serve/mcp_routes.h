/* mcp_routes.h: adds routes for MCP servers to the HTTP API. The API checks the key of each request. Every message
 * needs the scope `find`. Using the gateway's tools and resources also needs `call`. */
#ifndef WT_SERVE_MCP_ROUTES_H
#define WT_SERVE_MCP_ROUTES_H

#include "serve/api/api.h"
#include "serve/mcp/service.h"

enum { MCP_MOUNTS_MAX = 40 }; /* maximum number of MCP servers */

/* An MCP server and its path. */
struct mcp_mount {
    const char *path; /* such as "/mcp" */
    const char *name; /* prefix of the operation ids, one word */
    const struct mcp_features *features;
    const char *const *passed_headers; /* see struct mcp_asker */
};

struct mcp_routes;

/* Opens a service and three routes (POST, GET, DELETE) for each of the mounts, [count]. The features and strings of the
 * mounts must outlive the routes. Errors: WT_ETOOLONG (more than MCP_MOUNTS_MAX), and those of wt__mcp_service_open and
 * wt__mcp_http_open. */
int wt__mcp_routes_open(struct mcp_routes **out, const struct mcp_mount *mounts, size_t count, wt_error *err);
/* Returns the table for api_options.more, valid until wt__mcp_routes_close. */
const struct routes *wt__mcp_routes(const struct mcp_routes *mcp);
/* Returns the service of mounts[mount], valid until wt__mcp_routes_close. */
struct mcp_service *wt__mcp_routes_service(const struct mcp_routes *mcp, size_t mount);
/* Begins the shutdown of all services (wt__mcp_service_stop). mcp: a struct mcp_routes; void so that the function can
 * be used as api_options.stopping. */
void wt__mcp_routes_stop(void *mcp);
/* Closes the services and frees the routes, after the HTTP server has stopped. NULL is a no-op. */
void wt__mcp_routes_close(struct mcp_routes *mcp);

#endif
