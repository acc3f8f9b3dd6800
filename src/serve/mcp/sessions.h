/* sessions.h: the legacy sessions of one path: who began one by `initialize`, by 128 random bits. A session is bound to
 * the principal that began it, and is no proof of who asks: that is decided for each request before. */
#ifndef WT_SERVE_MCP_SESSIONS_H
#define WT_SERVE_MCP_SESSIONS_H

#include "serve/mcp/inside.h"

struct mcp_session;

struct mcp_sessions {
    struct mcp_service *service;
    pthread_mutex_t lock;
    struct mcp_session **buckets; /* NULL until there is one */
    size_t bucket_count, count;
    struct mcp_session *newest, *oldest; /* by their last use */
    struct shares shares;                /* by principal */
};

void wt__mcp_sessions_open(struct mcp_sessions *sessions, struct mcp_service *service);
void wt__mcp_sessions_close(struct mcp_sessions *sessions);

/* Begins a session of the peer. A principal that has its share of sessions loses one that runs nothing and has no
 * stream open: one that was never used, else the one used longest ago. WT_EBUSY: it has none to lose. WT_EIO: no random
 * numbers. WT_ENOMEM. */
int wt__mcp_session_add(struct mcp_sessions *sessions, struct mcp_peer *peer, char id[MCP_SESSION_ID_BYTES],
                        wt_error *err);
/* Its peer, with a reference, and the time of its last use is now; NULL: there is none of this principal. */
struct mcp_peer *wt__mcp_session_find(struct mcp_sessions *sessions, struct str id, const char *principal);
/* False: there was none of this principal. */
bool wt__mcp_session_end(struct mcp_sessions *sessions, struct str id, const char *principal);
/* Ends those that were not used for MCP_SESSION_IDLE_MS, run nothing and have no stream open. */
void wt__mcp_sessions_tend(struct mcp_sessions *sessions);

#endif
