/* upstream_inside.h: what upstream.c (its states), upstream_offer.c (what it offers) and upstream_notices.c (what it
 * says unasked) share. */
#ifndef WT_GATEWAY_UPSTREAM_INSIDE_H
#define WT_GATEWAY_UPSTREAM_INSIDE_H

#include <pthread.h>

#include "gateway/upstream.h"
#include "mcp/mend.h"

enum {
    UPSTREAM_CHANGES = 3,     /* enum mcp_change */
    UPSTREAM_REST_MS = 10000, /* for a page of resources, templates or prompts: tools are announced after these lists */
};

struct upstream_link {
    struct mcp_connection *connection;
    struct upstream *upstream;
    atomic_uint refs;
    bool lost; /* it broke; under the upstream's lock */
};

struct upstream {
    const struct mcp_server *server;
    struct upstream_options options;
    pthread_t thread;
    bool has_thread;
    pthread_t listener;             /* while it listens: */
    struct mcp_exchange *listening; /* NULL: it does not */
    atomic_bool stopping;
    struct shares calls;    /* under way, by holder */
    struct shares watchers; /* of `watched`, by who watched the resource first */

    pthread_mutex_t other_lock; /* held while `other` is opened; before `lock` */

    pthread_mutex_t lock; /* what follows; never held while the server is asked */
    pthread_cond_t turn;  /* something of it changed */
    enum upstream_state state;
    enum mcp_era era;
    struct upstream_link *link;    /* while it is ready */
    struct upstream_link *other;   /* in the era that link does not have, for clients that need it; NULL if none */
    bool speaks_both;              /* `other` was opened once, in this run or an earlier one */
    bool speaks_one;               /* `other` could not be opened since `link` was */
    enum mcp_era preferred;        /* the era last needed by a client; MCP_ERA_UNKNOWN if none was */
    struct upstream_offer *offer;  /* NULL: none yet */
    struct upstream_offer *listed; /* the same with what is not approved; NULL: none yet */
    bool wanted;                   /* somebody waits for it */
    bool stale[UPSTREAM_CHANGES];  /* these lists are to be asked for, */
    bool told[UPSTREAM_CHANGES];   /* for the server says that they changed: so clients are told, too */
    char **watched;                /* URIs [watched_count], of which the server was told watched_told */
    size_t watched_count, watched_capacity, watched_told;
    size_t tool_count, waiting_count, offers_waiting;
    struct buffer waiting;            /* their ids, a NUL behind each */
    size_t waiting_most;              /* that ever waited, with its instructions */
    unsigned failures, failed_starts; /* in a row; ever */
    struct mcp_mends mends[2];        /* malformed items of its list of tools, and of its other lists */
    bool ran;                         /* it was ready once */
    long long since;
    wt_error error; /* code 0: none */
};

/* A request of our own, whose events on the way say nothing to us. WT_ENOTFOUND: the server does not know the method.
 * timeout_ms: without a word of the server; 0: MCP_REQUEST_MS. result: disposed of by the caller. */
int wt__upstream_ask(struct mcp_connection *connection, const char *method, struct str params, unsigned timeout_ms,
                     struct buffer *result, wt_error *err);
/* Asks for its lists that are stale, and tells what they are. *ttl_ms: how long they hold. An error is the
 * connection's. */
int wt__upstream_gather(struct upstream *upstream, struct mcp_connection *connection, double *ttl_ms, wt_error *err);
/* Tells the server which resources are watched that it does not know of yet. */
int wt__upstream_subscribe(struct upstream *upstream, struct mcp_connection *connection, wt_error *err);
/* Asks a modern server to tell what changes, and for the resources that are watched; until the next one, which is of
 * the upstream's thread, too. */
void wt__upstream_listen(struct upstream *upstream, struct mcp_connection *connection);
void wt__upstream_unlisten(struct upstream *upstream);
/* A notification of the server. */
void wt__upstream_noticed(struct upstream *upstream, struct str method, struct str params);

#endif
