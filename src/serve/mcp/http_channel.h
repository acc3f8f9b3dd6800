/* http_channel.h: the response to one HTTP request as a channel. It is JSON, or an event stream if a message precedes
 * the answer.
 *
 * For clients of the last legacy revision the stream is resumable: events have ids, and unsent events are kept, within
 * limits, while the client is disconnected. The client resumes by GET with the id of the last event received. */
#ifndef WT_SERVE_MCP_HTTP_CHANNEL_H
#define WT_SERVE_MCP_HTTP_CHANNEL_H

#include "http/exchange.h"
#include "serve/mcp/inside.h"

enum {
    MCP_RESUME_BYTES_MAX = 1 << 20, /* bytes kept per stream; the oldest events are dropped */
    MCP_RESUME_EVENTS_MAX = 64,     /* events kept per stream */
    MCP_RESUME_STREAMS_MAX = 16,    /* streams kept per session; the oldest is dropped */
    MCP_RESUME_ALL_MAX = 512,       /* streams kept in all sessions, shared by holders; a holder loses its own oldest */
    MCP_RESUME_MS = 60000,          /* time to keep an unread answer */
    MCP_RETRY_MS = 500,             /* retry delay suggested to clients */
    MCP_AWAY_MS = 10000,            /* maximum time without the client before its call is cancelled */
};

struct http_channel;

/* Open streams, for keep-alives, and resumable streams. */
struct mcp_streams {
    struct mcp_service *service;
    pthread_mutex_t lock;
    struct http_channel *open;
    size_t open_count;
    struct http_channel *resumable; /* newest first; holds a reference to each */
    struct shares kept;             /* shares of resumable streams, by holder */
};

void wt__mcp_streams_open(struct mcp_streams *streams, struct mcp_service *service);
void wt__mcp_streams_close(struct mcp_streams *streams);
void wt__mcp_streams_keep_alive(struct mcp_streams *streams);
/* Drops expired answers, and cancels calls whose clients stay away too long. Call it about once a second. */
void wt__mcp_streams_expire(struct mcp_streams *streams);

/* Returns a channel for an exchange, holding a reference to it, or NULL if out of memory. */
struct mcp_channel *wt__mcp_http_channel_open(struct mcp_streams *streams, struct http_exchange *exchange);
/* Cancels the call when the client disconnects: at once, or after MCP_AWAY_MS if it may resume. */
void wt__mcp_http_channel_cancel_on_disconnect(struct mcp_channel *channel);
/* Sets the legacy session of the request, which makes its stream resumable if the revision permits. */
void wt__mcp_http_channel_set_peer(struct mcp_channel *channel, struct mcp_peer *peer);
/* Adds the session id to the response, if the peer is opened by then. */
void wt__mcp_http_channel_set_session(struct mcp_channel *channel, const struct mcp_peer *peer, const char *session);
/* Starts the event stream immediately. */
void wt__mcp_http_channel_start_stream(struct mcp_channel *channel);
/* Continues the stream of an event on this exchange. Returns false if the stream is not kept. */
bool wt__mcp_http_channel_resume(struct mcp_streams *streams, const struct mcp_peer *peer, struct str last_event,
                                 struct http_exchange *exchange);

#endif
