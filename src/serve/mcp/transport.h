/* transport.h: carries MCP over standard input and output, and over HTTP. */
#ifndef WT_SERVE_MCP_TRANSPORT_H
#define WT_SERVE_MCP_TRANSPORT_H

#include "http/exchange.h"
#include "serve/mcp/service.h"
#include "serve/trace.h"

enum {
    MCP_STDIO_WORKERS_MAX = 16,
    MCP_STDIO_WRITE_MS = 30000, /* maximum time to wait for a client that does not read */
    MCP_STDIO_GRACE_MS = 1000,  /* time for calls to finish after the end of input, before they are cancelled */
};

/* Serves one client until `in` ends, `out` fails or stop_fd becomes readable. Then completes the calls that workers run
 * or have queued, gives waiting calls MCP_STDIO_GRACE_MS, and cancels the rest. No call is running on return.
 *
 * The calling thread runs quick calls, such as ping. Each call that may wait runs on a thread of its own. All other
 * calls run on `workers` threads. SIGPIPE must be ignored.
 *
 * in, out: stay open; `in` may be left in the middle of a line
 * stop_fd: -1 for none
 * workers: 0 for one per processor, at most MCP_STDIO_WORKERS_MAX
 *
 * Returns 0, WT_EIO or WT_ENOMEM. */
int wt__mcp_stdio_run(struct mcp_service *service, int in, int out, int stop_fd, unsigned workers, wt_error *err);

/* MCP over HTTP at one path, for the modern era (stateless POST) and the legacy era (sessions, a GET stream, DELETE).
 * The caller must check Host, Origin and the principal, and must limit bodies to MCP_MESSAGE_BYTES_MAX. */
struct mcp_http;
enum { MCP_PASSED_HEADERS_MAX = 16 };

/* The sender of a request. */
struct mcp_asker {
    const char *principal;             /* copied; "" without keys */
    const char *tenant;                /* copied; NULL or "" without one */
    bool may_call;                     /* may call upstream servers (SCOPE_CALL) */
    const char *const *passed_headers; /* names of headers to pass upstream, NULL-terminated; may be NULL */
    struct request_trace *trace;       /* trace of the HTTP request, valid as long as the exchange; may be NULL */
};

/* True if a client header may be passed upstream. The name must be valid. Headers that HTTP or MCP use for the
 * connection or the message are excluded. */
bool wt__mcp_http_may_pass(struct str name);

/* Opens an endpoint. Each path needs its own endpoint, because an endpoint owns the sessions of its path. */
int wt__mcp_http_open(struct mcp_http **out, struct mcp_service *service, wt_error *err);

/* Answers a request on the calling worker, or keeps the exchange for later. */
void wt__mcp_http_answer(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker);

/* Closes the endpoint. Call this after the HTTP server has stopped, and before the service is closed. NULL is a
 * no-op. */
void wt__mcp_http_close(struct mcp_http *http);

#endif
