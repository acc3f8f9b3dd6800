/* sessions.c: the table of legacy sessions; see internal.h. Ids are random digits, so the first digits of an id serve
 * as its hash. */
#include "serve/mcp/internal.h"

#include <stdlib.h>

#include "base/sha256.h"
#include "base/rng.h"

struct mcp_session {
    struct mcp_session *chain; /* next in the bucket */
    struct mcp_session *newer, *older;
    struct mcp_peer *peer;
    double used_ms; /* time of last use */
    bool was_used;  /* used after initialize */
    char id[MCP_SESSION_ID_BYTES];
};

void wt__mcp_sessions_open(struct mcp_sessions *sessions, struct mcp_service *service)
{
    *sessions = (struct mcp_sessions){.service = service};
    wt__shares_open(&sessions->shares, service->sessions_max);
    pthread_mutex_init(&sessions->lock, NULL);
}

static size_t session_bucket(const struct mcp_sessions *sessions, const char *id)
{
    size_t hash = 0;
    for (size_t i = 0; i < 8; i++)
        hash = hash << 4 ^ (unsigned char)id[i];
    return hash & (sessions->bucket_count - 1);
}

static struct mcp_session **find_session(struct mcp_sessions *sessions, struct str id)
{
    if (!sessions->buckets || id.len != MCP_SESSION_ID_BYTES - 1)
        return NULL;
    struct mcp_session **at = &sessions->buckets[session_bucket(sessions, id.ptr)];
    while (*at && !wt__same_secret((*at)->id, id.ptr, id.len))
        at = &(*at)->chain;
    return *at ? at : NULL;
}

static void unlink_by_use(struct mcp_sessions *sessions, struct mcp_session *session)
{
    *(session->newer ? &session->newer->older : &sessions->newest) = session->older;
    *(session->older ? &session->older->newer : &sessions->oldest) = session->newer;
}

static void link_as_newest(struct mcp_sessions *sessions, struct mcp_session *session)
{
    session->newer = NULL;
    session->older = sessions->newest;
    *(sessions->newest ? &sessions->newest->newer : &sessions->oldest) = session;
    sessions->newest = session;
    session->used_ms = wt__mcp_steady_ms(sessions->service);
}

/* Returns the holder for shares of sessions. Without keys all sessions belong to one holder. */
static const char *session_holder(const char *principal)
{
    return *principal ? principal : NULL;
}

/* Removes the session from the table and returns it to the caller. */
static struct mcp_session *unlink_session(struct mcp_sessions *sessions, struct mcp_session **at)
{
    struct mcp_session *session = *at;
    *at = session->chain;
    unlink_by_use(sessions, session);
    wt__shares_give(&sessions->shares, session_holder(session->peer->principal), 1);
    sessions->count--;
    return session;
}

static bool is_peer_in_use(struct mcp_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    bool in_use = peer->running_count > 0 || (peer->stream && !peer->stream->is_gone(peer->stream));
    pthread_mutex_unlock(&peer->lock);
    return in_use;
}

/* Removes the principal's least useful session: a session never used, else the least recently used session. Returns
 * NULL if all are in use. */
static struct mcp_session *take_dispensable_session(struct mcp_sessions *sessions, const char *principal)
{
    struct mcp_session *found = NULL;
    for (struct mcp_session *session = sessions->oldest; session; session = session->newer) {
        if ((found && session->was_used) || strcmp(session->peer->principal, principal) != 0 ||
            is_peer_in_use(session->peer))
            continue;
        found = session;
        if (!session->was_used)
            break;
    }
    return found ? unlink_session(sessions, find_session(sessions, wt__str(found->id))) : NULL;
}

/* Reserves a place for one more session, and removes sessions of the principal if needed. *gone: chain of the removed
 * sessions, for end_sessions. Returns false if all sessions of the principal are in use. */
static bool make_session_room(struct mcp_sessions *sessions, const char *principal, struct mcp_session **gone)
{
    while (!wt__shares_take(&sessions->shares, session_holder(principal), 1)) {
        struct mcp_session *session = take_dispensable_session(sessions, principal);
        if (!session)
            return false;
        session->chain = *gone;
        *gone = session;
    }
    return true;
}

static bool create_buckets(struct mcp_sessions *sessions)
{
    size_t count = 16;
    while (count < sessions->service->sessions_max)
        count *= 2;
    if (!sessions->buckets)
        sessions->buckets = calloc(count, sizeof(struct mcp_session *));
    sessions->bucket_count = count;
    return sessions->buckets;
}

/* Ends a chain of sessions. NULL is a no-op. */
static void end_sessions(struct mcp_session *session)
{
    for (struct mcp_session *next; session; session = next) {
        next = session->chain;
        wt__mcp_peer_close(session->peer);
        wt__mcp_peer_release(session->peer);
        free(session);
    }
}

static int fail_sessions_full(struct mcp_sessions *sessions, const char *principal, wt_error *err)
{
    return wt__fail(err, WT_EBUSY,
                    "%zu sessions of this client are in use, its share of %zu; end one with DELETE, or try "
                    "again later",
                    wt__shares_of(&sessions->shares, session_holder(principal)), sessions->service->sessions_max);
}

int wt__mcp_session_add(struct mcp_sessions *sessions, struct mcp_peer *peer, char id[MCP_SESSION_ID_BYTES],
                        wt_error *err)
{
    struct mcp_session *session = calloc(1, sizeof *session), *gone = NULL;
    int rc = !session ? wt__fail_nomem(err)
             : wt__random_digits(session->id, MCP_SESSION_ID_BYTES - 1)
                 ? 0
                 : wt__fail(err, WT_EIO, "cannot get random numbers");
    pthread_mutex_lock(&sessions->lock);
    if (rc == 0 && !create_buckets(sessions))
        rc = wt__fail_nomem(err);
    if (rc == 0 && !make_session_room(sessions, peer->principal, &gone))
        rc = fail_sessions_full(sessions, peer->principal, err);
    if (rc == 0) {
        wt__mcp_peer_keep(peer);
        session->peer = peer;
        struct mcp_session **bucket = &sessions->buckets[session_bucket(sessions, session->id)];
        session->chain = *bucket;
        *bucket = session;
        link_as_newest(sessions, session);
        sessions->count++;
        memcpy(id, session->id, MCP_SESSION_ID_BYTES);
    }
    pthread_mutex_unlock(&sessions->lock);
    if (rc < 0)
        free(session);
    end_sessions(gone);
    return rc;
}

struct mcp_peer *wt__mcp_session_find(struct mcp_sessions *sessions, struct str id, const char *principal)
{
    struct mcp_peer *peer = NULL;
    pthread_mutex_lock(&sessions->lock);
    struct mcp_session **at = find_session(sessions, id);
    if (at && strcmp((*at)->peer->principal, principal) == 0) {
        struct mcp_session *session = *at;
        peer = session->peer;
        session->was_used = true;
        wt__mcp_peer_keep(peer);
        unlink_by_use(sessions, session);
        link_as_newest(sessions, session);
    }
    pthread_mutex_unlock(&sessions->lock);
    return peer;
}

bool wt__mcp_session_end(struct mcp_sessions *sessions, struct str id, const char *principal)
{
    struct mcp_session *session = NULL;
    pthread_mutex_lock(&sessions->lock);
    struct mcp_session **at = find_session(sessions, id);
    if (at && strcmp((*at)->peer->principal, principal) == 0)
        session = unlink_session(sessions, at);
    if (session)
        session->chain = NULL;
    pthread_mutex_unlock(&sessions->lock);
    bool found = session;
    end_sessions(session);
    return found;
}

/* Drops the general stream if its client has disconnected. */
static void drop_gone_stream(struct mcp_peer *peer)
{
    struct mcp_channel *gone = NULL;
    pthread_mutex_lock(&peer->lock);
    if (peer->stream && peer->stream->is_gone(peer->stream)) {
        gone = peer->stream;
        peer->stream = NULL;
    }
    pthread_mutex_unlock(&peer->lock);
    wt__mcp_channel_release(gone);
}

void wt__mcp_sessions_expire(struct mcp_sessions *sessions)
{
    struct mcp_session *ended = NULL;
    pthread_mutex_lock(&sessions->lock);
    double now = wt__mcp_steady_ms(sessions->service);
    for (struct mcp_session *session = sessions->oldest, *newer; session; session = newer) {
        newer = session->newer;
        drop_gone_stream(session->peer);
        if (is_peer_in_use(session->peer) || now - session->used_ms < MCP_SESSION_IDLE_MS)
            continue;
        unlink_session(sessions, find_session(sessions, wt__str(session->id)));
        session->chain = ended;
        ended = session;
    }
    pthread_mutex_unlock(&sessions->lock);
    end_sessions(ended);
}

void wt__mcp_sessions_close(struct mcp_sessions *sessions)
{
    while (sessions->count > 0) {
        pthread_mutex_lock(&sessions->lock);
        struct mcp_session *session = unlink_session(sessions, find_session(sessions, wt__str(sessions->oldest->id)));
        session->chain = NULL;
        pthread_mutex_unlock(&sessions->lock);
        end_sessions(session);
    }
    wt__shares_close(&sessions->shares);
    free(sessions->buckets);
    pthread_mutex_destroy(&sessions->lock);
}
