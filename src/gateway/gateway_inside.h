/* gateway_inside.h: what the files of this room share. */
#ifndef WT_GATEWAY_GATEWAY_INSIDE_H
#define WT_GATEWAY_GATEWAY_INSIDE_H

#include <pthread.h>

#include "base/clock.h"
#include "base/shares.h"
#include "gateway/gateway.h"
#include "gateway/outcomes.h"
#include "gateway/view.h"

enum {
    GATEWAY_SERVICES_MAX = 64,
    GATEWAY_SETTLE_MS = 20,      /* between two looks whether servers have started */
    GATEWAY_LOCK_WAIT_MS = 1000, /* while somebody looks whether it is held */
    GATEWAY_MALFORMED_TOLD = 3,  /* malformed definitions of one listing that are reported one by one */
};

struct parked;
struct pins;
struct remainder;

struct gateway {
    wt_engine *engine;
    struct gateway_options options;
    struct outcomes *outcomes;   /* NULL: nothing is learned */
    struct upstream **upstreams; /* [count] */
    size_t count;
    struct pins *lock_pins; /* of options.lock; NULL: it has none */
    pthread_t tender;
    bool has_tender;
    atomic_bool stopping;
    pthread_mutex_t import_lock; /* one server's tools are taken at a time */
    int running;                 /* lock_path; -1: it could not be had */
    pthread_mutex_t state_lock;  /* the state file is written by one thread at a time */
    pthread_mutex_t renew_lock;  /* one view is made at a time, so that no older one takes a newer one's place */
    pthread_mutex_t lock;        /* what follows */
    pthread_cond_t turn;
    struct tool_view *view; /* NULL: it could not be made yet */
    struct parked *parked;
    size_t parked_count;
    struct remainder *remainders;
    struct shares calls;                                /* requests under way, by server */
    struct shares parked_of_clients, parked_of_servers; /* parked calls, by client and by server */
    struct shares results, result_bytes;                /* remainders, by client */
    bool audit_fails;                                   /* as it was told; the tender's alone, as is the next */
    uint64_t offers_generation;    /* of the catalogue, when approvals of offers were looked at last */
    pthread_mutex_t services_lock; /* what follows; held while they are told, which may take a client's time */
    struct mcp_service *services[GATEWAY_SERVICES_MAX];
    size_t service_count;
};

/* The view of now, to be released; NULL: there is none. */
struct tool_view *wt__gateway_view(struct gateway *gateway);
/* Makes it anew where the catalogue has changed, and tells the services. */
int wt__gateway_renew(struct gateway *gateway, wt_error *err);
/* Waits, as list_wait_ms says, until each server has listed its tools once, here or earlier, or has failed to. Returns
 * whether each has. */
bool wt__gateway_settle(struct gateway *gateway);
/* True if wt__gateway_settle would not wait. */
bool wt__gateway_is_settled(struct gateway *gateway);
/* The same for resources, templates and prompts, which a server lists after its tools. */
void wt__gateway_settle_rest(struct gateway *gateway);
/* Whether tools of the server can be called: it has listed some once, here or earlier. */
bool wt__gateway_knows(struct gateway *gateway, const struct upstream *upstream);
/* The time by which what is kept for clients goes. */
static inline double wt__gateway_now(const struct gateway *gateway)
{
    return gateway->options.now_ms ? gateway->options.now_ms() : wt__now_ms();
}
/* All services hear that a list changed. */
void wt__gateway_announce(struct gateway *gateway, enum mcp_change change);

/* ---------------------------------------------------------------- calls that wait between two requests */

/* Gives up those whose time is over; all of them: at the end. */
void wt__parked_sweep(struct gateway *gateway, bool all);

/* ---------------------------------------------------------------- results that are too long for one answer */

/* The principal that may read the rest of a result, and the holder that it counts for in the pool of handles. */
struct result_reader {
    const char *principal, *holder;
};
/* The result, or as much of it as `most` bytes hold, with a handle for the rest; out: an object as JSON. WT_ENOMEM. */
int wt__result_cut(struct gateway *gateway, const struct result_reader *reader, struct str result, size_t most,
                   struct buffer *out, wt_error *err);
/* The next piece of what a handle stands for. WT_ENOTFOUND: none of this principal's, or its time is over. */
int wt__result_more(struct gateway *gateway, const struct result_reader *reader, struct str handle, size_t most,
                    struct buffer *out, wt_error *err);
void wt__result_sweep(struct gateway *gateway, bool all);
void wt__results_open(struct gateway *gateway);
void wt__results_close(struct gateway *gateway);

#endif
