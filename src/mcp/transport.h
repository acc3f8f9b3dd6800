/* transport.h: how messages get to a server and its answers back: stdio.c (a program of this machine) and http.c
 * (streamable HTTP). A transport has one time limit for all that is said over it, and one request at a time. */
#ifndef WT_MCP_TRANSPORT_H
#define WT_MCP_TRANSPORT_H

#include "mcp/message.h"
#include "mcp/server.h"

enum {
    MCP_STRAY_LINES_MAX = 1000,      /* of stdout that are no message */
    MCP_SERVER_MESSAGES_MAX = 10000, /* requests, notifications and stray answers of a server */
};

struct mcp_transport {
    /* Sends a request and waits for what answers it: *answer lives until the next call. Requests of the server
     * meanwhile are refused, pings answered, notifications passed over. WT_ENETWORK, WT_ENOTFOUND, WT_ETIMEOUT,
     * WT_ETOOLONG, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
    int (*ask)(struct mcp_transport *transport, int64_t id, const char *method, struct str request,
               struct mcp_message *answer, wt_error *err);
    int (*notify)(struct mcp_transport *transport, struct str notification, wt_error *err);
    /* The revision that was agreed upon, which HTTP says with every request. */
    void (*agree)(struct mcp_transport *transport, struct str version);
    /* Ends the server, or the session with it. hurry: what is polite and takes time is left out. words: what it said
     * last on stderr; "" when nothing. */
    void (*close)(struct mcp_transport *transport, bool hurry, char words[CHILD_TAIL_BYTES]);
};

/* The server's process is started; an HTTP server is not yet asked. Errors as above. */
int wt__mcp_open(struct mcp_transport **out, const struct mcp_server *server, unsigned timeout_ms,
                 struct progress *progress, wt_error *err);
int wt__mcp_open_stdio(struct mcp_transport **out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err);
int wt__mcp_open_http(struct mcp_transport **out, const struct mcp_server *server, unsigned timeout_ms,
                      struct progress *progress, wt_error *err);

#endif
