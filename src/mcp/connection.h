/* connection.h: a lasting connection to an MCP server, shared by many threads.
 *
 *   connection   one server, in one era of the protocol: legacy or modern (message.h). A thread of the connection reads
 *                the server's messages. The transports are connection_stdio.c (lines of a program),
 *                connection_http.c (streamable HTTP) and connection_sse.c (HTTP+SSE, of 2024)
 *   exchange     one running request. Messages before its answer (progress, logs, questions of a legacy server) are
 *                queued as events. Only one thread at a time may wait for events
 *
 * To find the era of a server, `server/discover` is sent first. An answer, or an error of the modern era, means a
 * modern server. Any other error, silence for MCP_PROBE_MS, or the end of the program means a legacy server. A program
 * that ended is started again. Then `initialize` follows. A caller can pass a remembered era to save this probe.
 * listing.h uses the other order.
 *
 * At `initialize`, a legacy server learns of all capabilities supported by gateways (elicitation, sampling, roots). A
 * modern server learns the capabilities of the client with each request. A question of a legacy program does not name a
 * request. It goes to the newest exchange, or is refused while exchanges of several principals run.
 *
 * Servers are not trusted. If a server sends too many messages that answer no request, or too many lines that are not
 * messages (limits in internal.h), the connection is closed, and all its exchanges fail with the reason. Error messages
 * contain no secrets of the configuration. */
#ifndef WT_MCP_CONNECTION_H
#define WT_MCP_CONNECTION_H

#include "base/progress.h"
#include "mcp/message.h"
#include "mcp/server.h"

enum {
    MCP_CONNECT_MS = 60000,          /* timeout of the opening; a start by `npx` may fetch a package first */
    MCP_PROBE_MS = 5000,             /* maximum wait for the answer to `server/discover` of a server of unknown era */
    MCP_REQUEST_MS = 60000,          /* maximum time of a request without a message about it, such as progress */
    MCP_EXCHANGES_MAX = 1024,        /* maximum running exchanges of a connection */
    MCP_EVENTS_BYTES_MAX = 4 << 20,  /* maximum size of an exchange's queued events; then notifications are dropped */
    MCP_ANSWER_BYTES_MAX = 16 << 20, /* maximum size of a server's message */
    MCP_SENT_BYTES_MAX = 6 << 20,    /* maximum size of our message */
};

struct mcp_connection;
struct mcp_exchange;

struct mcp_connection_options {
    /* Era of an earlier connection: tried first, with the other one as a fallback. MCP_ERA_UNKNOWN to probe. */
    enum mcp_era era;
    enum mcp_era only;         /* the only era to try; MCP_ERA_UNKNOWN to use the server's `protocol` */
    bool lists_only;           /* declare no capabilities and request no notices */
    unsigned timeout_ms;       /* timeout of the opening; 0 for MCP_CONNECT_MS */
    struct progress *progress; /* may cancel the opening; may be NULL */
    /* Callbacks, called from the connection's thread. They must not block or use the connection. */
    void *context;
    /* Called for a notification that belongs to no request. May be NULL. */
    void (*noticed)(void *context, struct str method, struct str params);
    /* Called once if the connection breaks. During wt__mcp_connect it is called from the caller's thread. May be
     * NULL. */
    void (*lost)(void *context, const wt_error *why);
};

/* Connects to a server, which must outlive the connection. Errors: those of wt__mcp_list_tools. */
int wt__mcp_connect(struct mcp_connection **out, const struct mcp_server *server,
                    const struct mcp_connection_options *options, wt_error *err);
/* Ends the connection: fails the running exchanges, ends the session, and stops the program and its process group.
 * hurry: skip the steps that give the server time to end by itself. Only threads in wt__mcp_exchange_next may still use
 * exchanges of the connection: their calls return. End all other exchanges first. NULL is a no-op. */
void wt__mcp_disconnect(struct mcp_connection *connection, bool hurry);

enum mcp_era wt__mcp_connection_era(const struct mcp_connection *connection);
/* Returns the result of the opening, a JSON object with serverInfo, capabilities, instructions, ... Lives as long as
 * the connection. */
struct str wt__mcp_connection_self(const struct mcp_connection *connection);
/* True if the connection broke or is being closed. */
bool wt__mcp_connection_is_lost(const struct mcp_connection *connection);

/* Borrowed by wt__mcp_exchange_begin for the call. */
struct mcp_request {
    const char *method;
    struct str params;                 /* members except _meta, as `"name":"x","arguments":{}`; "" if absent */
    struct str meta;                   /* further members of _meta (traceparent, ...); "" if absent */
    struct str capabilities;           /* client capabilities, an object; "" if absent. Modern only */
    const char *log_level;             /* requested level; NULL if absent. Modern only */
    bool progress;                     /* request progress */
    struct str name;                   /* Mcp-Name: tool, prompt or URI; "" if absent. Modern HTTP only */
    const struct http_header *headers; /* Mcp-Param-..., encoded by wt__mcp_encode_header. Modern HTTP only */
    size_t header_count;
    /* Headers of the client, for streamable HTTP of both eras. Headers of the server's entry override them. */
    const struct http_header *passed;
    size_t passed_count;
    /* Owner of the request, or NULL. A question of the server that names no request is refused while requests of
     * several owners run. */
    const char *principal;
    unsigned timeout_ms; /* maximum time without a message about the request; 0 for MCP_REQUEST_MS */
};

/* Sends a request. Errors: the reason if the connection is lost (WT_ENETWORK, WT_ETOOLONG, ...), WT_EFULL
 * (MCP_EXCHANGES_MAX), WT_ETOOLONG (MCP_SENT_BYTES_MAX), WT_EINVAL (invalid header), WT_ENOMEM. */
int wt__mcp_exchange_begin(struct mcp_exchange **out, struct mcp_connection *connection,
                           const struct mcp_request *request, wt_error *err);

enum mcp_event_kind {
    MCP_EVENT_NOTIFIED, /* method, params */
    MCP_EVENT_ASKED,    /* id, method, params; answer with wt__mcp_exchange_reply */
    MCP_EVENT_RESULT,   /* result; the last event */
    MCP_EVENT_REFUSED,  /* error, a JSON-RPC object; the last event */
};

/* Views live until the next call of wt__mcp_exchange_next for the exchange. `method` is a text without quotes. The
 * other views are empty, or valid JSON (base/json_check.h) from the server, on one line. The types of the JSON values
 * are not checked yet (shape.h). The params of progress notifications lack the progressToken, which is internal. */
struct mcp_event {
    enum mcp_event_kind kind;
    struct str id, method, params, result, error;
};

/* Waits for the next event. The timeout is suspended while a question waits for its reply. Errors: WT_ECANCELLED
 * (wt__mcp_exchange_cancel), WT_ETIMEOUT, WT_EINVAL (called after the last event), or the reason why the request or the
 * connection failed. After an error, the exchange is over. One thread at a time. */
int wt__mcp_exchange_next(struct mcp_exchange *exchange, struct mcp_event *out, wt_error *err);
/* Answers a question with a result, or with an error if the result is empty. Errors: WT_EINVAL (the question is not
 * open), WT_ENETWORK (the connection is closed), WT_ENOMEM. */
int wt__mcp_exchange_reply(struct mcp_exchange *exchange, struct str id, struct str result, struct str error,
                           wt_error *err);
/* True if the server may have received the request. Otherwise any request is safe to repeat on a new connection. */
bool wt__mcp_exchange_was_sent(const struct mcp_exchange *exchange);
/* Cancels the exchange: notifies the server in its era's way and wakes up wt__mcp_exchange_next. Callable from any
 * thread, also repeatedly or after the end. Does not wait. */
void wt__mcp_exchange_cancel(struct mcp_exchange *exchange);
/* Cancels the exchange if it is running, and frees it. NULL is a no-op. */
void wt__mcp_exchange_end(struct mcp_exchange *exchange);

#endif
