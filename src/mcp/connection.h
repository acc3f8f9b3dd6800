/* connection.h: an MCP server that stays: it is started, or gone to, once, and many threads ask it at once.
 *
 *   connection   one server in its era. One thread of its own reads what the server says and hands it to whom it
 *                concerns; how it gets there is connection_stdio.c (lines of a program), connection_http.c (streamable
 *                HTTP, all transfers of one server on one loop) and connection_sse.c (HTTP+SSE, of 2024)
 *   exchange     one request under way. What the server says before it answers (progress, logs, questions of a legacy
 *                server) comes as events; the thread that began it takes them one by one, and may leave off and let
 *                another thread go on
 *
 * The era. `server/discover` goes first: who knows it, or refuses it with an error of the modern era, is modern; all
 * else (any other error, silence for MCP_PROBE_MS, a program that ends of it and is started anew) is legacy and gets
 * `initialize`. A caller that remembers the verdict saves the probe. (client.h, which only lists, has the other order.)
 *
 * A legacy server is told that its client can do what gateways relay (elicitation, sampling, roots); a modern one is
 * told with each request what its client can. Questions of a legacy program name no request: they go to the exchange
 * that runs, and are refused where exchanges of several principals do.
 *
 * Servers are not trusted: what they send is bounded (below), and one that breaks a bound loses its connection, which
 * ends all its exchanges with WT_ENETWORK. No sentence of an error has secrets of the configuration in it. */
#ifndef WT_MCP_CONNECTION_H
#define WT_MCP_CONNECTION_H

#include "base/progress.h"
#include "mcp/message.h"
#include "mcp/server.h"

enum {
    MCP_CONNECT_MS = 60000,          /* to start and to answer the opening: `npx` may fetch a package first */
    MCP_PROBE_MS = 5000,             /* to answer `server/discover`; then it is taken for a legacy one */
    MCP_REQUEST_MS = 60000,          /* without a word about a request; progress counts as one */
    MCP_EXCHANGES_MAX = 1024,        /* of one connection at once */
    MCP_EVENTS_BYTES_MAX = 4 << 20,  /* that wait for one exchange; then notifications are dropped */
    MCP_ANSWER_BYTES_MAX = 16 << 20, /* of one message of a server */
    MCP_SENT_BYTES_MAX = 6 << 20,    /* of one message of ours */
};

struct mcp_connection;
struct mcp_exchange;

struct mcp_connection_options {
    /* As it was found before: that one is tried first, and the other one when it is not spoken any more.
     * MCP_ERA_UNKNOWN: it is probed. */
    enum mcp_era era;
    enum mcp_era only;         /* the one era to try; MCP_ERA_UNKNOWN: the server's `protocol`, or else both */
    bool lists_only;           /* nothing is offered to the server, and what it notices is not asked for */
    unsigned timeout_ms;       /* for the opening; 0: MCP_CONNECT_MS */
    struct progress *progress; /* heard for a wish to stop during the opening; may be NULL */
    /* From the connection's thread; they must not wait, nor ask the connection. */
    void *context;
    void (*noticed)(void *context, struct str method, struct str params); /* of no request; NULL: nobody hears */
    /* Once, when it breaks by itself; where that is during wt__mcp_connect, from its thread. NULL: nobody hears. */
    void (*lost)(void *context, const wt_error *why);
};

/* server lives longer. Errors: those of wt__mcp_list_tools. */
int wt__mcp_connect(struct mcp_connection **out, const struct mcp_server *server,
                    const struct mcp_connection_options *options, wt_error *err);
/* Ends it: exchanges that still run fail first, a session is said goodbye to, a program and its group end. hurry: what
 * is polite and takes time is left out. No exchange of it may be held any more, but for those that wait in
 * wt__mcp_exchange_next, which return. NULL is a no-op. */
void wt__mcp_disconnect(struct mcp_connection *connection, bool hurry);

enum mcp_era wt__mcp_connection_era(const struct mcp_connection *connection);
/* The result of the opening, an object: serverInfo, capabilities, instructions, ... Lives as long as the connection. */
struct str wt__mcp_connection_self(const struct mcp_connection *connection);
bool wt__mcp_connection_is_lost(const struct mcp_connection *connection);

/* ---------------------------------------------------------------- asking */

/* Borrowed for the call that begins it. */
struct mcp_request {
    const char *method;
    struct str params;                 /* members, without _meta, as `"name":"x","arguments":{}`; "" for none */
    struct str meta;                   /* members of _meta that pass through (traceparent, ...); "" for none */
    struct str capabilities;           /* of the client that asks, an object; "" for none. Modern servers are told */
    const char *log_level;             /* that it wants; NULL: none. Modern servers are told */
    bool progress;                     /* it wants progress */
    struct str name;                   /* Mcp-Name: of the tool or prompt, or the URI; "" for none. Modern, over HTTP */
    const struct http_header *headers; /* Mcp-Param-..., their values by header.h; likewise */
    size_t header_count;
    const struct http_header
        *passed; /* headers of the client, both eras, over streamable HTTP; the server's entry wins */
    size_t passed_count;
    const char
        *principal; /* for whom it is; NULL: nobody. Of what programs ask and log without saying of which request */
    unsigned timeout_ms; /* without a word of the server; 0: MCP_REQUEST_MS */
};

/* Sends it. Errors: why it is lost (WT_ENETWORK, WT_ETOOLONG, ...), WT_EFULL (MCP_EXCHANGES_MAX), WT_ETOOLONG
 * (MCP_SENT_BYTES_MAX), WT_EINVAL (a header that HTTP does not take), WT_ENOMEM. */
int wt__mcp_exchange_begin(struct mcp_exchange **out, struct mcp_connection *connection,
                           const struct mcp_request *request, wt_error *err);

enum mcp_event_kind {
    MCP_EVENT_NOTIFIED, /* method, params */
    MCP_EVENT_ASKED,    /* id, method, params: wt__mcp_exchange_reply answers it */
    MCP_EVENT_RESULT,   /* result; the last event, as is the next */
    MCP_EVENT_REFUSED,  /* error: JSON-RPC's object */
};

/* Views live until the next call of wt__mcp_exchange_next for the exchange. They are valid JSON (base/json_check.h) as
 * the server wrote them, but on one line; their types are not checked yet (shape.h). Progress notifications have no
 * progressToken of ours in their params. */
struct mcp_event {
    enum mcp_event_kind kind;
    struct str id, method, params, result, error;
};

/* Waits for the next; the time does not run while a question waits for its reply. WT_ECANCELLED
 * (wt__mcp_exchange_cancel), WT_ETIMEOUT, WT_ENETWORK (lost), WT_ENOMEM: it is over. One thread at a time. */
int wt__mcp_exchange_next(struct mcp_exchange *exchange, struct mcp_event *out, wt_error *err);
/* Answers a question: result is an object, or empty, and then error is one. WT_EINVAL: it is open no more. */
int wt__mcp_exchange_reply(struct mcp_exchange *exchange, struct str id, struct str result, struct str error,
                           wt_error *err);
/* Whether the server may have got it: if not, it can be sent again over a new connection whatever it does. */
bool wt__mcp_exchange_was_sent(const struct mcp_exchange *exchange);
/* Nobody wants it any more: the server is told in its era's way, and who waits in wt__mcp_exchange_next returns. From
 * any thread, once more or late is no harm; it does not wait. */
void wt__mcp_exchange_cancel(struct mcp_exchange *exchange);
/* Cancels it when it is not over, and frees it. NULL is a no-op. */
void wt__mcp_exchange_end(struct mcp_exchange *exchange);

#endif
