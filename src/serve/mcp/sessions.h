/* sessions.h: legacy sessions of one path, created by `initialize` and identified by 128 random bits. A session is
 * bound to its principal. It does not authenticate: each request is authenticated before. */
#ifndef WT_SERVE_MCP_SESSIONS_H
#define WT_SERVE_MCP_SESSIONS_H

#include "serve/mcp/inside.h"

struct mcp_session;

struct mcp_sessions {
    struct mcp_service *service;
    pthread_mutex_t lock;
    struct mcp_session **buckets; /* NULL until the first session */
    size_t bucket_count, count;
    struct mcp_session *newest, *oldest; /* ordered by last use */
    struct shares shares;                /* shares of sessions, by principal */
};

void wt__mcp_sessions_open(struct mcp_sessions *sessions, struct mcp_service *service);
void wt__mcp_sessions_close(struct mcp_sessions *sessions);

/* Adds a session for the peer. If the principal has used up its share, ends one of its sessions without running calls
 * and open stream: one never used, else the least recently used one. Errors: WT_EBUSY (all are in use), WT_EIO (no
 * random numbers), WT_ENOMEM. */
int wt__mcp_session_add(struct mcp_sessions *sessions, struct mcp_peer *peer, char id[MCP_SESSION_ID_BYTES],
                        wt_error *err);
/* Returns the session's peer, with a reference, and updates the time of last use. NULL if the principal has no such
 * session. */
struct mcp_peer *wt__mcp_session_find(struct mcp_sessions *sessions, struct str id, const char *principal);
/* Ends a session. Returns false if the principal has no such session. */
bool wt__mcp_session_end(struct mcp_sessions *sessions, struct str id, const char *principal);
/* Ends sessions idle for MCP_SESSION_IDLE_MS, without running calls and open stream. */
void wt__mcp_sessions_expire(struct mcp_sessions *sessions);

#endif
