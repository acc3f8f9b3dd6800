/* mcp_routes.h: the catalogue as an MCP server at /mcp of the HTTP API: its routes, as rows of the API's table, and
 * what lives as long as they do. Who may ask is the API's to say: whoever may find. */
#ifndef WT_SERVE_MCP_ROUTES_H
#define WT_SERVE_MCP_ROUTES_H

#include "serve/api/route.h"
#include "serve/catalogue.h"

struct mcp_routes;

/* The engine lives longer. Errors: those of the catalogue and the service. */
int wt__mcp_routes_open(struct mcp_routes **out, wt_engine *engine, const struct catalogue_options *options,
                        wt_error *err);
/* Live as long as mcp. */
const struct routes *wt__mcp_routes(const struct mcp_routes *mcp);
/* A server that ends: streams of notices get their final word, and calls that wait are cancelled. mcp: its own. */
void wt__mcp_routes_stop(void *mcp);
/* After the server was closed. NULL is a no-op. */
void wt__mcp_routes_close(struct mcp_routes *mcp);

#endif
