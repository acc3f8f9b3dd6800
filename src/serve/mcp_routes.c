#include "serve/mcp_routes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "serve/mcp/transport.h"

enum { MCP_METHODS = 3, OPERATION_BYTES = 96 };

/* An open MCP server. */
struct mounted_server {
    struct mcp_service *service;
    struct mcp_http *http;
    const char *const *passed_headers;
    char names[MCP_METHODS][OPERATION_BYTES]; /* operation ids of its routes */
};

struct mcp_routes {
    struct mounted_server mounted[MCP_MOUNTS_MAX];
    size_t count;
    struct route rows[MCP_MOUNTS_MAX * MCP_METHODS];
    struct routes routes;
};

static void answer_mcp(void *context, struct http_exchange *exchange, const struct api_call *call)
{
    const struct mounted_server *mounted = context;
    const struct mcp_asker asker = {.principal = call->principal,
                                    .tenant = call->tenant,
                                    .may_call = wt__scope_allows(call->scopes, SCOPE_CALL),
                                    .passed_headers = mounted->passed_headers,
                                    .trace = wt__http_note(exchange)};
    wt__mcp_http_answer(mounted->http, exchange, &asker);
}

static void fill_mcp_rows(struct route rows[MCP_METHODS], struct mounted_server *mounted, const struct mcp_mount *mount)
{
    static const struct {
        const char *method, *suffix, *summary, *raw_body;
        size_t body_max;
    } methods[MCP_METHODS] = {
        {"POST", "", "An MCP server of both protocol eras", "a message of the Model Context Protocol",
         MCP_MESSAGE_BYTES_MAX},
        {"GET", "_stream", "Messages from the MCP server outside of requests, for clients of 2025-11-25 or older", NULL,
         0},
        {"DELETE", "_end", "Ends the session of an MCP client of 2025-11-25 or older", NULL, 0},
    };
    for (size_t i = 0; i < MCP_METHODS; i++) {
        snprintf(mounted->names[i], OPERATION_BYTES, "%s%s", mount->name, methods[i].suffix);
        rows[i] = (struct route){.method = methods[i].method,
                                 .path = mount->path,
                                 .name = mounted->names[i],
                                 .summary = methods[i].summary,
                                 .raw_body = methods[i].raw_body,
                                 .body_max = methods[i].body_max,
                                 .scope = SCOPE_FIND,
                                 .take = answer_mcp,
                                 .context = mounted};
    }
}

static void close_routes(struct mcp_routes **mcp)
{
    wt__mcp_routes_close(*mcp);
}

int wt__mcp_routes_open(struct mcp_routes **out, const struct mcp_mount *mounts, size_t count, wt_error *err)
{
    *out = NULL;
    if (count > MCP_MOUNTS_MAX)
        return wt__fail(err, WT_ETOOLONG, "more than %d MCP servers", MCP_MOUNTS_MAX);
    WT_CLEANUP(close_routes) struct mcp_routes *mcp = wt__alloc_zeros(1, sizeof *mcp);
    WT_CHECK_ALLOC(mcp, err);
    for (size_t i = 0; i < count; i++) {
        struct mounted_server *mounted = &mcp->mounted[mcp->count++];
        WT_TRY(wt__mcp_service_open(&mounted->service, mounts[i].features, NULL, err));
        WT_TRY(wt__mcp_http_open(&mounted->http, mounted->service, err));
        mounted->passed_headers = mounts[i].passed_headers;
        fill_mcp_rows(&mcp->rows[i * MCP_METHODS], mounted, &mounts[i]);
    }
    mcp->routes = (struct routes){.items = mcp->rows, .count = count * MCP_METHODS};
    *out = WT_TAKE(mcp);
    return 0;
}

const struct routes *wt__mcp_routes(const struct mcp_routes *mcp)
{
    return &mcp->routes;
}

struct mcp_service *wt__mcp_routes_service(const struct mcp_routes *mcp, size_t mount)
{
    return mcp->mounted[mount].service;
}

void wt__mcp_routes_stop(void *mcp)
{
    const struct mcp_routes *routes = mcp;
    for (size_t i = 0; i < routes->count; i++)
        wt__mcp_service_stop(routes->mounted[i].service);
}

void wt__mcp_routes_close(struct mcp_routes *mcp)
{
    if (!mcp)
        return;
    for (size_t i = 0; i < mcp->count; i++) {
        wt__mcp_http_close(mcp->mounted[i].http);
        wt__mcp_service_close(mcp->mounted[i].service);
    }
    free(mcp);
}
