#include "serve/mcp_routes.h"

#include <stdlib.h>

#include "serve/mcp/streamable_http.h"

enum { MCP_METHODS = 3 };

struct mcp_routes {
    struct catalogue *catalogue;
    struct mcp_service *service;
    struct mcp_http *http;
    struct route rows[MCP_METHODS];
    struct routes routes;
};

static void take(void *context, struct http_exchange *exchange, const char *principal)
{
    const struct mcp_routes *mcp = context;
    wt__mcp_http_answer(mcp->http, exchange, principal);
}

static void fill_rows(struct mcp_routes *mcp)
{
    static const struct route rows[MCP_METHODS] = {
        {.method = "POST",
         .path = "/mcp",
         .scope = SCOPE_FIND,
         .body_max = MCP_MESSAGE_BYTES_MAX,
         .raw_body = "a message of the Model Context Protocol",
         .name = "mcp",
         .summary = "The catalogue as an MCP server, both eras"},
        {.method = "GET",
         .path = "/mcp",
         .scope = SCOPE_FIND,
         .name = "mcp_stream",
         .summary = "What the MCP server says unasked, to a client of 2025-11-25 or older"},
        {.method = "DELETE",
         .path = "/mcp",
         .scope = SCOPE_FIND,
         .name = "mcp_end",
         .summary = "Ends the session of an MCP client of 2025-11-25 or older"},
    };
    for (size_t i = 0; i < MCP_METHODS; i++) {
        mcp->rows[i] = rows[i];
        mcp->rows[i].take = take;
        mcp->rows[i].context = mcp;
    }
    mcp->routes = (struct routes){.items = mcp->rows, .count = MCP_METHODS};
}

int wt__mcp_routes_open(struct mcp_routes **out, wt_engine *engine, const struct catalogue_options *options,
                        wt_error *err)
{
    struct mcp_routes *mcp = calloc(1, sizeof *mcp);
    *out = NULL;
    if (!mcp)
        return wt__fail_nomem(err);
    int rc = wt__catalogue_open(&mcp->catalogue, engine, options, err);
    if (rc == 0)
        rc = wt__mcp_service_open(&mcp->service, wt__catalogue_features(mcp->catalogue), NULL, err);
    if (rc == 0)
        rc = wt__mcp_http_open(&mcp->http, mcp->service, err);
    if (rc < 0) {
        wt__mcp_routes_close(mcp);
        return rc;
    }
    fill_rows(mcp);
    *out = mcp;
    return 0;
}

const struct routes *wt__mcp_routes(const struct mcp_routes *mcp)
{
    return &mcp->routes;
}

void wt__mcp_routes_stop(void *mcp)
{
    const struct mcp_routes *routes = mcp;
    wt__mcp_service_stop(routes->service);
}

void wt__mcp_routes_close(struct mcp_routes *mcp)
{
    if (!mcp)
        return;
    wt__mcp_http_close(mcp->http);
    wt__mcp_service_close(mcp->service);
    wt__catalogue_close(mcp->catalogue);
    free(mcp);
}
