/* gateway_inside.h: declarations shared by the files of this room. */
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
    GATEWAY_SETTLE_MS = 20,      /* interval of checks for started servers */
    GATEWAY_LOCK_WAIT_MS = 1000, /* maximum wait for a process that tests the lock */
    GATEWAY_MALFORMED_TOLD = 3,  /* malformed definitions reported one by one per listing */
};

struct parked;
struct pins;
struct remainder;

struct gateway {
    wt_engine *engine;
    struct gateway_options options;
    struct outcomes *outcomes;   /* NULL if usage is not recorded */
    struct upstream **upstreams; /* [count] */
    size_t count;
    struct pins *lock_pins; /* parsed options.lock; NULL if it is empty */
    pthread_t tender;
    bool has_tender;
    atomic_bool stopping;
    pthread_mutex_t import_lock; /* serialises imports */
    int lock_fd;                 /* descriptor of lock_path; -1 if it could not be locked */
    pthread_mutex_t state_lock;  /* serialises writes of the state file */
    pthread_mutex_t renew_lock;  /* serialises updates of the view, so that an older view never replaces a newer one */
    pthread_mutex_t lock;        /* protects the fields below up to audit_fails */
    pthread_cond_t turn;
    struct tool_view *view; /* NULL until the first one is built */
    struct parked *parked;
    size_t parked_count;
    struct remainder *remainders;
    struct shares calls;                                /* running requests, by server */
    struct shares parked_of_clients, parked_of_servers; /* parked calls, by client and by server */
    struct shares results, result_bytes;                /* remainders, by client */
    bool audit_fails;           /* last reported state; used by the tender only, as is offers_generation */
    uint64_t offers_generation; /* catalogue generation at the last check of approved offers */
    pthread_mutex_t
        services_lock; /* protects the services; held while they are notified, which a slow client can delay */
    struct mcp_service *services[GATEWAY_SERVICES_MAX];
    size_t service_count;
};

/* Returns the current view, to be released by the caller, or NULL if it does not exist yet. */
struct tool_view *wt__gateway_view(struct gateway *gateway);
/* Rebuilds the view if the catalogue has changed, and notifies the services. */
int wt__gateway_renew(struct gateway *gateway, wt_error *err);
/* Waits up to list_wait_ms until the tools of each server are known or it has failed to start. Returns true if so. */
bool wt__gateway_wait_for_tools(struct gateway *gateway);
/* True if wt__gateway_wait_for_tools would not wait. */
bool wt__gateway_knows_all_tools(struct gateway *gateway);
/* Waits in the same way for resources, templates and prompts; a server lists them after its tools. */
void wt__gateway_wait_for_offers(struct gateway *gateway);
/* True if the current view has tools of the server. */
bool wt__gateway_has_tools_of(struct gateway *gateway, const struct upstream *upstream);
/* Returns the current time in milliseconds, for the expiry of parked calls and long results. */
static inline double wt__gateway_now(const struct gateway *gateway)
{
    return gateway->options.now_ms ? gateway->options.now_ms() : wt__now_ms();
}
/* Notifies all services of a changed list. */
void wt__gateway_announce(struct gateway *gateway, enum mcp_change change);

/* ---------------------------------------------------------------- calls parked between two requests */

/* Ends expired parked calls. all: ends all of them. */
void wt__parked_sweep(struct gateway *gateway, bool all);

/* ---------------------------------------------------------------- long results */

/* Principal that may read the rest of a result, and holder whose share of the handles it uses. */
struct result_reader {
    const char *principal, *holder;
};
/* Writes the result to *out, a JSON object, cut to about `most` bytes and with a handle for the rest. Returns 0 or
 * WT_ENOMEM. */
int wt__result_cut(struct gateway *gateway, const struct result_reader *reader, struct str result, size_t most,
                   struct buffer *out, wt_error *err);
/* Writes the next piece of a result. Returns WT_ENOTFOUND if the handle expired or is not this principal's. */
int wt__result_more(struct gateway *gateway, const struct result_reader *reader, struct str handle, size_t most,
                    struct buffer *out, wt_error *err);
void wt__result_sweep(struct gateway *gateway, bool all);
void wt__results_open(struct gateway *gateway);
void wt__results_close(struct gateway *gateway);

#endif
