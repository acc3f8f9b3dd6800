/* upstream.h: one server behind the gateway, with a thread that keeps it running.
 *
 *     starting --> ready --> waiting --> starting ...        disabled
 *         '--------------------^
 *
 * The thread connects, lists the server's tools, resources and prompts, and passes the lists to take_listing. It lists
 * again if the server reports a change or if the lists expire. After a failure it tries again after a second, and
 * doubles the wait up to a minute; a pending call shortens the wait. Servers do not affect each other.
 *
 * A call borrows the connection (a link) and sends its own requests over it (mcp/connection.h). */
#ifndef WT_GATEWAY_UPSTREAM_H
#define WT_GATEWAY_UPSTREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/histogram.h"
#include "base/json.h"
#include "base/shares.h"
#include "mcp/connection.h"
#include "mcp/mend.h"
#include "serve/mcp/service.h"
#include "whichtool/review.h"

enum {
    UPSTREAM_FIRST_WAIT_MS = 1000,     /* wait before the first retry; doubles with each failure */
    UPSTREAM_LAST_WAIT_MS = 60000,     /* maximum wait; each wait varies by a tenth, so that servers do not all start
                                          at once */
    UPSTREAM_LEAST_TTL_MS = 60000,     /* minimum lifetime of lists if the server gives one */
    UPSTREAM_TTL_MS = 300000,          /* lifetime of lists if the server gives none */
    UPSTREAM_LIST_EVERY_MS = 1000,     /* minimum interval of listings; notices in between share the next listing */
    UPSTREAM_TRIES = 3,                /* failed starts that a caller waits for if the server ran before; otherwise 1 */
    UPSTREAM_OTHER_MS = 10000,         /* timeout of a connection in the other era, where a server may stay silent */
    UPSTREAM_LISTEN_MS = 24 * 3600000, /* maximum silence on a subscription */
    UPSTREAM_CALLS_MAX = 256,          /* concurrent requests to the server, shared by clients */
    UPSTREAM_WATCHED_MAX = 2000,       /* watched resources of the server, shared by clients; a resource counts for the
                                          client that watched it first */
    UPSTREAM_ERROR_BYTES = 1024,       /* maximum length of the last error, with its NUL */
};

struct upstream;

enum upstream_state { UPSTREAM_DISABLED, UPSTREAM_STARTING, UPSTREAM_READY, UPSTREAM_WAITING };

/* Complete lists of a server. Only the stale lists are requested. */
struct upstream_listing {
    struct str tools;                            /* {"tools":[...]}; ptr is NULL if they were not requested */
    struct str instructions;                     /* the server's instructions, or "" */
    const char *prompts, *resources, *templates; /* JSON arrays; NULL if not requested or refused */
    /* Numbers of malformed items that were repaired or left out, and of schemas that do not compile; 0 if they are as
     * in the last listing. */
    size_t mended, left_out, faulty_schemas;
};

struct upstream_options {
    enum mcp_era era;    /* known from an earlier run; MCP_ERA_UNKNOWN to probe */
    bool speaks_both;    /* both eras worked in an earlier run */
    unsigned timeout_ms; /* for a start; 0 for MCP_CONNECT_MS */
    void *context;       /* for the callbacks */
    /* Takes the lists, on the upstream's thread. On an error the old lists stay valid. The other callbacks run on any
     * thread. */
    int (*take_listing)(void *context, struct upstream *upstream, const struct upstream_listing *listing,
                        wt_error *err);
    void (*notify_change)(void *context, struct upstream *upstream, enum mcp_change change); /* a list changed */
    void (*notify_update)(void *context, struct upstream *upstream, struct str uri); /* a watched resource changed */
    void (*notify_state)(void *context, struct upstream *upstream); /* the state or the lists changed */
};

/* Creates an upstream; server must outlive it. wt__upstream_start starts its thread. Errors: WT_ENOMEM. */
int wt__upstream_open(struct upstream **out, const struct mcp_server *server, const struct upstream_options *options,
                      wt_error *err);
int wt__upstream_start(struct upstream *upstream, wt_error *err);
/* Ends calls that wait for the server, and asks the thread to end. */
void wt__upstream_stop(struct upstream *upstream);
/* Ends the thread and the server. All links must have been returned. */
void wt__upstream_end(struct upstream *upstream);
/* Ends and frees the upstream. Callbacks may use other upstreams, so end all upstreams before closing the first. NULL
 * is a no-op. */
void wt__upstream_close(struct upstream *upstream);

const char *wt__upstream_name(const struct upstream *upstream);

struct upstream_status {
    enum upstream_state state;
    enum mcp_era era;
    enum mcp_era preferred; /* era to try first at the next start */
    bool speaks_both;
    /* Numbers in the last listing. tools: with those that wait for approval. resources, prompts: approved items only;
     * resources includes the templates. */
    size_t tools, resources, prompts;
    size_t waiting;                   /* tools that wait for approval */
    size_t offers_waiting;            /* resources, templates and prompts that wait for approval */
    bool ran;                         /* the server was ready once */
    bool has_offer;                   /* the server's resources and prompts are known */
    unsigned failures;                /* consecutive failures */
    long long since;                  /* time of the last change of state, in seconds since 1970 */
    char error[UPSTREAM_ERROR_BYTES]; /* last error, or "" */
};
void wt__upstream_status(struct upstream *upstream, struct upstream_status *out);
/* Appends a line for each malformed item of the last lists and for each schema that does not compile, at most
 * MCP_MEND_NOTES for the list of tools and as many for the other lists (mcp/mend.h). */
void wt__upstream_notes(struct upstream *upstream, struct buffer *out);
/* Records the tools that wait for approval, from the review of a listing. Returns true if more items wait than ever
 * before: tools, resources, templates, prompts and the instructions. *changed: other tools wait than before. */
bool wt__upstream_set_waiting(struct upstream *upstream, const struct upstream_listing *listing,
                              const wt_review_report *report, bool *changed);
/* Lists the items of the server again, if it is connected. */
void wt__upstream_list_again(struct upstream *upstream);
/* True if the server's last list has a definition of the tool that waits for approval. id: "SERVER/NAME". */
bool wt__upstream_is_waiting(struct upstream *upstream, const char *id);
/* True if the tool with this name waits for approval. name: an exported name, an id or, with bare, the server's own
 * name. own: receives the server's own name. */
bool wt__upstream_find_waiting(struct upstream *upstream, const char *name, bool bare, char own[WT_MAX_NAME_BYTES + 1]);
/* True if the request names a tool that waits for approval: each word of the tool's name begins a word of the request.
 * own: receives the server's own name. */
bool wt__upstream_find_requested_waiting(struct upstream *upstream, struct str request,
                                         char own[WT_MAX_NAME_BYTES + 1]);
const char *wt__upstream_state_word(enum upstream_state state);
const char *wt__era_word(enum mcp_era era);

/* Resources, templates and prompts of the last listing. Immutable and reference counted; the arrays are never NULL. */
struct upstream_offer {
    json_t *resources, *templates, *prompts; /* approved items; all items in struct upstream's `listed` */
    bool completes;                          /* the server supports completion/complete */
    atomic_uint refs;
};
/* Returns the current offer, to be released by the caller, or NULL before the first listing. */
struct upstream_offer *wt__upstream_offer(struct upstream *upstream);
void wt__upstream_offer_release(struct upstream_offer *offer); /* NULL is a no-op */

/* Approved items, as arrays of definitions. */
struct approved_offers {
    const json_t *resources, *templates, *prompts;
};
/* Replaces the offer with the approved items of the last listing. approved: borrowed. Reports changes by
 * options.notify_change. Errors: WT_ENOMEM. */
int wt__upstream_approve_offers(struct upstream *upstream, const struct approved_offers *approved, wt_error *err);
/* True if listed items are not in the offer because they wait for approval. */
bool wt__upstream_has_withheld(struct upstream *upstream);

/* Watches a resource for a client. Does not block. Returns false and sets *err if the holder's share is used up, or if
 * out of memory. */
bool wt__upstream_watch(struct upstream *upstream, const char *holder, struct str uri, wt_error *err);

struct upstream_link; /* a borrowed connection */

/* Borrows the connection. Waits at most wait_ms, and stops waiting once is_unwanted returns true. If the server ran
 * before, a failed start is retried (UPSTREAM_TRIES). Errors: WT_ENETWORK (the server fails, with the reason),
 * WT_ETIMEOUT, WT_ECANCELLED. */
int wt__upstream_borrow(struct upstream *upstream, unsigned wait_ms, bool (*is_unwanted)(const void *context),
                        const void *context, struct upstream_link **out, wt_error *err);
/* Replaces *link with a connection in `era` if the server speaks that era too. Otherwise *link is unchanged. A client
 * that answers questions needs this: a server with both eras sends its questions to a legacy client as requests, which
 * a modern connection cannot carry. Opens the second connection on first use, and waits for it like
 * wt__upstream_borrow, but at most UPSTREAM_OTHER_MS. */
void wt__upstream_fit_era(struct upstream *upstream, enum mcp_era era, unsigned wait_ms,
                          bool (*is_unwanted)(const void *context), const void *context, struct upstream_link **link);
void wt__upstream_return(struct upstream_link *link); /* NULL is a no-op */

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

/* Results of requests of clients to a server. */
enum upstream_outcome {
    UPSTREAM_OK,
    UPSTREAM_ERROR,  /* the server answered with an error */
    UPSTREAM_ASKED,  /* a question went to the client */
    UPSTREAM_FAILED, /* no answer: the server is down or too slow, a limit was reached, or the client cancelled */
    UPSTREAM_OUTCOMES
};

struct upstream {
    struct histogram durations;                       /* of requests of clients, with the wait for the server */
    atomic_uint_fast64_t outcomes[UPSTREAM_OUTCOMES]; /* number of requests of clients */
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
    struct upstream_link *link;    /* connection, or NULL; it exists before the state is UPSTREAM_READY */
    struct upstream_link *other;   /* connection in the other era for clients that need it, or NULL */
    bool speaks_both;              /* `other` worked once, in this run or an earlier one */
    bool speaks_one;               /* `other` could not be opened since the last start */
    enum mcp_era preferred;        /* era last needed by a client, or MCP_ERA_UNKNOWN */
    struct upstream_offer *offer;  /* approved items; NULL before the first listing */
    struct upstream_offer *listed; /* all listed items; NULL before the first listing */
    bool wanted;                   /* a call waits for the server */
    bool stale[UPSTREAM_CHANGES];  /* lists to request again */
    bool told[UPSTREAM_CHANGES];   /* lists that the server reported as changed; clients are notified as well */
    char **watched;                /* URIs [watched_count]; the server knows the first watched_told */
    size_t watched_count, watched_capacity, watched_told;
    size_t tool_count, waiting_count, offers_waiting;
    struct buffer waiting;     /* ids of waiting tools, each followed by a NUL */
    size_t waiting_most;       /* highest number of waiting items so far, with the instructions */
    unsigned failures;         /* consecutive failures */
    unsigned failed_starts;    /* failed starts since the gateway began */
    struct mcp_mends mends[2]; /* malformed items: [0] of the list of tools, [1] of the other lists */
    bool ran;                  /* the server was ready once */
    long long since;           /* see upstream_status */
    wt_error error;            /* last error; code 0 if there is no error */
};

/* Sends a request of the gateway itself and ignores notices. Returns WT_ENOTFOUND if the server does not know the
 * method. timeout_ms: maximum silence of the server; 0 for MCP_REQUEST_MS. result: disposed of by the caller. */
int wt__upstream_ask(struct mcp_connection *connection, const char *method, struct str params, unsigned timeout_ms,
                     struct buffer *result, wt_error *err);
/* Requests the stale lists and passes them to take_listing. Sets *ttl_ms to the lifetime of the list of tools if the
 * server gives one. Fails only if a request fails; an error of take_listing is stored in the upstream. */
int wt__upstream_gather(struct upstream *upstream, struct mcp_connection *connection, double *ttl_ms, wt_error *err);

#endif
