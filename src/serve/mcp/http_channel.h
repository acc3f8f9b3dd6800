/* http_channel.h: the answer to one HTTP request as a channel: JSON, or a stream of events as soon as something is said
 * before the answer.
 *
 * To a client of the last legacy revision that stream is resumable: its events have ids, and while the client is away,
 * for the connection broke or the server closed it, what it has not heard is kept, up to some limits. It comes back by
 * GET with the id of the last event that it heard. */
#ifndef WT_SERVE_MCP_HTTP_CHANNEL_H
#define WT_SERVE_MCP_HTTP_CHANNEL_H

#include "http/exchange.h"
#include "serve/mcp/inside.h"

enum {
    MCP_RESUME_BYTES_MAX = 1 << 20, /* kept of one stream; the earliest events go first */
    MCP_RESUME_EVENTS_MAX = 64,     /* likewise */
    MCP_RESUME_STREAMS_MAX = 16,    /* kept of one session; the earliest goes first */
    MCP_RESUME_ALL_MAX = 512,       /* kept of all sessions, shared by holders; a holder loses its own earliest */
    MCP_RESUME_MS = 60000,          /* that an answer nobody has heard is kept */
    MCP_RETRY_MS = 500,             /* after which a client shall come back */
    MCP_AWAY_MS = 10000,            /* that a client may be away from a call before the call is cancelled */
};

struct http_channel;

/* The streams that are open, for their keep-alives, and those that may be resumed. */
struct mcp_streams {
    struct mcp_service *service;
    pthread_mutex_t lock;
    struct http_channel *open;
    size_t open_count;
    struct http_channel *resumable; /* the latest first; a reference each */
    struct shares kept;             /* of these, by holder */
};

void wt__mcp_streams_open(struct mcp_streams *streams, struct mcp_service *service);
void wt__mcp_streams_close(struct mcp_streams *streams);
void wt__mcp_streams_keep_alive(struct mcp_streams *streams);
/* Forgets answers that no client came back for, and cancels calls whose client is away too long. */
void wt__mcp_streams_tend(struct mcp_streams *streams);

/* For one exchange, which it keeps. NULL: memory is out. */
struct mcp_channel *wt__mcp_http_channel(struct mcp_streams *streams, struct http_exchange *exchange);
/* A client that goes away cancels its call: at once, or if it may resume the stream, after MCP_AWAY_MS. */
void wt__mcp_http_channel_cancels(struct mcp_channel *channel);
/* The request of a legacy session, whose stream may be resumed. */
void wt__mcp_http_channel_of(struct mcp_channel *channel, struct mcp_peer *peer);
/* Its answer begins a session, if the peer is opened by then. */
void wt__mcp_http_channel_begins(struct mcp_channel *channel, const struct mcp_peer *peer, const char *session);
/* A stream from the beginning. */
void wt__mcp_http_channel_stream(struct mcp_channel *channel);
/* Goes on with the stream that the event was of, over this exchange. False: it is none that we keep. */
bool wt__mcp_http_channel_resume(struct mcp_streams *streams, const struct mcp_peer *peer, struct str last_event,
                                 struct http_exchange *exchange);

#endif
