/* streamable_http.h: MCP over HTTP, at one path: the modern era (POST only, every request for itself) and the legacy
 * one (sessions, a GET stream, DELETE). Whose Host and Origin may come, and who the principal is, is decided before;
 * the server lets bodies to the path have MCP_MESSAGE_BYTES_MAX. */
#ifndef WT_SERVE_MCP_STREAMABLE_HTTP_H
#define WT_SERVE_MCP_STREAMABLE_HTTP_H

#include "http/exchange.h"
#include "serve/mcp/service.h"

struct mcp_http;

enum { MCP_PASSED_HEADERS_MAX = 16 };

/* The sender of a request. */
struct mcp_asker {
    const char *principal;             /* copied; "" where no key is needed */
    bool may_call;                     /* may call what is behind the server (SCOPE_CALL) */
    const char *const *passed_headers; /* names of headers that calls take on to servers, ends in NULL; NULL if none */
};

/* True if calls may take the client's header of this name on to servers: a token, and no header that HTTP or MCP uses
 * for the connection or the message itself. */
bool wt__mcp_http_may_pass(struct str name);

/* One for each path; it keeps the sessions of that path. */
int wt__mcp_http_open(struct mcp_http **out, struct mcp_service *service, wt_error *err);

/* Answers a request to the path, on the worker that calls it, or keeps the exchange. */
void wt__mcp_http_answer(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker);

/* After the HTTP server has ended, and before the service is closed. NULL is a no-op. */
void wt__mcp_http_close(struct mcp_http *http);

#endif
