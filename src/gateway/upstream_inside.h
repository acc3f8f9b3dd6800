/* upstream_inside.h: declarations shared by upstream.c (states), upstream_offer.c (listings) and upstream_notices.c
 * (notices). */
#ifndef WT_GATEWAY_UPSTREAM_INSIDE_H
#define WT_GATEWAY_UPSTREAM_INSIDE_H

#include <pthread.h>

#include "gateway/upstream.h"
#include "mcp/mend.h"

enum {
    UPSTREAM_CHANGES = 3, /* number of values of enum mcp_change */
    UPSTREAM_REST_MS =
        10000, /* timeout of a page of resources, templates or prompts, since tools become visible after these lists */
};

struct upstream_link {
    struct mcp_connection *connection;
    struct upstream *upstream;
    atomic_uint refs;
    bool lost; /* the connection broke; protected by the upstream's lock */
};

struct upstream {
    const struct mcp_server *server;
    struct upstream_options options;
    pthread_t thread;
    bool has_thread;
    pthread_t listener;             /* valid while listening is not NULL */
    struct mcp_exchange *listening; /* open subscription, or NULL */
    atomic_bool stopping;
    struct shares calls;    /* concurrent requests, by holder */
    struct shares watchers; /* places of `watched`, by the client that watched first */

    pthread_mutex_t other_lock; /* held while `other` is opened; taken before `lock` */

    pthread_mutex_t lock; /* protects the fields below; never held during requests to the server */
    pthread_cond_t turn;  /* signals changes of these fields */
    enum upstream_state state;
    enum mcp_era era;
    struct upstream_link *link;    /* connection; NULL unless ready */
    struct upstream_link *other;   /* connection in the other era for clients that need it, or NULL */
    bool speaks_both;              /* `other` worked once, in this run or an earlier one */
    bool speaks_one;               /* `other` could not be opened since the last start */
    enum mcp_era preferred;        /* era last needed by a client, or MCP_ERA_UNKNOWN */
    struct upstream_offer *offer;  /* approved items; NULL before the first listing */
    struct upstream_offer *listed; /* all listed items; NULL before the first listing */
    bool wanted;                   /* a caller waits for the server */
    bool stale[UPSTREAM_CHANGES];  /* lists to request again */
    bool told[UPSTREAM_CHANGES];   /* lists that the server reported as changed; clients are notified as well */
    char **watched;                /* URIs [watched_count]; the server knows the first watched_told */
    size_t watched_count, watched_capacity, watched_told;
    size_t tool_count, waiting_count, offers_waiting;
    struct buffer waiting;            /* ids of waiting tools, each followed by a NUL */
    size_t waiting_most;              /* highest number of waiting items so far, with the instructions */
    unsigned failures, failed_starts; /* consecutive failures; all failed starts */
    struct mcp_mends mends[2];        /* malformed items of the list of tools and of the other lists */
    bool ran;                         /* it was ready once */
    long long since;
    wt_error error; /* last error; code 0 if there is no error */
};

/* Sends a request of the gateway itself and ignores notices. Returns WT_ENOTFOUND if the server does not know the
 * method. timeout_ms: maximum silence of the server; 0 for MCP_REQUEST_MS. result: disposed of by the caller. */
int wt__upstream_ask(struct mcp_connection *connection, const char *method, struct str params, unsigned timeout_ms,
                     struct buffer *result, wt_error *err);
/* Requests the stale lists and reports them. *ttl_ms: their lifetime. An error is an error of the connection. */
int wt__upstream_gather(struct upstream *upstream, struct mcp_connection *connection, double *ttl_ms, wt_error *err);
/* Subscribes to watched resources that the server does not know yet. */
int wt__upstream_subscribe(struct upstream *upstream, struct mcp_connection *connection, wt_error *err);
/* Opens a subscription of a modern server to changes of lists and watched resources, until wt__upstream_unlisten. Both
 * run on the upstream's thread. */
void wt__upstream_listen(struct upstream *upstream, struct mcp_connection *connection);
void wt__upstream_unlisten(struct upstream *upstream);
/* Handles a notification of the server. */
void wt__upstream_handle_notice(struct upstream *upstream, struct str method, struct str params);

#endif
