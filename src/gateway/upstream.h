/* upstream.h: one server behind the gateway, kept alive by a thread of its own.
 *
 *     starting --> ready --> waiting --> starting ...        disabled
 *         '--------------------^
 *
 * The thread connects, asks what the server offers, tells that to whoever opened it, and asks again when the server
 * says that it changed, or when the time for which it holds is over. A server that fails is tried again after a second,
 * and each time after twice as long, up to a minute; a call that wants it makes the wait short. Nothing that a server
 * does, or does not do, reaches another one.
 *
 * Calls borrow its connection and speak with the server themselves (mcp/connection.h). */
#ifndef WT_GATEWAY_UPSTREAM_H
#define WT_GATEWAY_UPSTREAM_H

#include <stdatomic.h>

#include "base/json.h"
#include "base/shares.h"
#include "mcp/connection.h"
#include "serve/mcp/service.h"
#include "whichtool/review.h"

enum {
    UPSTREAM_FIRST_WAIT_MS = 1000, /* before it is tried again, twice as long each time, */
    UPSTREAM_LAST_WAIT_MS = 60000, /* up to this; a tenth more or less, so that not all come at once */
    UPSTREAM_LEAST_TTL_MS = 60000, /* what it says of how long its lists hold is believed from here on, */
    UPSTREAM_TTL_MS = 300000,      /* and where it says nothing, this holds */
    UPSTREAM_LIST_EVERY_MS = 1000, /* from one listing to the next: notices in between share the next one */
    UPSTREAM_TRIES = 3, /* starts that may fail while somebody waits for one that ran before; else the first counts */
    UPSTREAM_OTHER_MS =
        10000, /* for a connection in a server's other era; a server that does not speak it may be silent */
    UPSTREAM_LISTEN_MS = 24 * 3600000, /* that a server need not say anything of what changes */
    UPSTREAM_CALLS_MAX = 256,          /* requests of clients to it that are under way, shared by clients */
    UPSTREAM_WATCHED_MAX = 2000,       /* resources of it that clients watch, shared by who watched them first */
    UPSTREAM_ERROR_BYTES = 1024,       /* kept of why it failed last */
};

struct upstream;

enum upstream_state { UPSTREAM_DISABLED, UPSTREAM_STARTING, UPSTREAM_READY, UPSTREAM_WAITING };

/* Complete lists of a server, of each kind that it was asked for. */
struct upstream_listing {
    struct str tools;                            /* {"tools":[...]}; ptr NULL: it was not asked for them */
    struct str instructions;                     /* what it says of itself; "" for nothing */
    const char *prompts, *resources, *templates; /* JSON arrays; NULL: it was not asked, or refused to say */
    /* malformed items, and schemas that do not compile; 0 if they are those of the listing before */
    size_t mended, left_out, faulty_schemas;
};

struct upstream_options {
    enum mcp_era era;    /* as it was found before; MCP_ERA_UNKNOWN: it is probed */
    bool speaks_both;    /* both eras worked before */
    unsigned timeout_ms; /* of a start; 0: MCP_CONNECT_MS */
    void *context;       /* of the functions, which run on the upstream's thread, and one at a time */
    /* Takes the server's lists. An error becomes the upstream's, which goes on with the lists that it had. */
    int (*listed)(void *context, struct upstream *upstream, const struct upstream_listing *listing, wt_error *err);
    void (*changed)(void *context, struct upstream *upstream, enum mcp_change change); /* as it says, or as it lists */
    void (*updated)(void *context, struct upstream *upstream, struct str uri);         /* a resource that is watched */
    void (*moved)(void *context, struct upstream *upstream);                           /* or listed anew */
};

/* server lives longer. Its thread starts with wt__upstream_start. Errors: WT_ENOMEM. */
int wt__upstream_open(struct upstream **out, const struct mcp_server *server, const struct upstream_options *options,
                      wt_error *err);
int wt__upstream_start(struct upstream *upstream, wt_error *err);
/* Calls that wait for it end; its thread is asked to. */
void wt__upstream_stop(struct upstream *upstream);
/* Ends its thread and the server. Whatever was borrowed is given back before. */
void wt__upstream_end(struct upstream *upstream);
/* The same, and it is gone. The functions of the options may look at other upstreams, so all end before one is gone.
 * NULL is a no-op. */
void wt__upstream_close(struct upstream *upstream);

const char *wt__upstream_name(const struct upstream *upstream);
/* True if its configuration lets it offer the tool. */
bool wt__upstream_offers(const struct upstream *upstream, const char *tool);

/* How long a call may go without a word of the server: by its entry, else `otherwise`. */
unsigned wt__upstream_call_timeout(const struct upstream *upstream, unsigned otherwise);

/* How it is. */
struct upstream_status {
    enum upstream_state state;
    enum mcp_era era;
    enum mcp_era preferred; /* the era that its clients need; the next start should use it */
    bool speaks_both;
    size_t tools, resources, prompts; /* that it listed last */
    size_t waiting;                   /* of the tools, that wait until somebody approves of them */
    size_t offers_waiting;            /* of the resources, templates and prompts; they are not among the counts above */
    bool ran;                         /* it was ready once */
    bool has_offer;                   /* its resources and prompts are known */
    unsigned failures;                /* in a row */
    long long since;                  /* that it is in its state: seconds since 1970 */
    char error[UPSTREAM_ERROR_BYTES]; /* why it failed last; "" when it did not */
};
void wt__upstream_status(struct upstream *upstream, struct upstream_status *out);
/* Appends a line for each malformed item of its last lists that was repaired or left out (mcp/mend.h), and for each
 * schema that does not compile. */
void wt__upstream_notes(struct upstream *upstream, struct buffer *out);
/* Which of its tools wait, and whether its instructions do, by the review of a listing. Returns whether more wait than
 * ever did: that is news. */
bool wt__upstream_set_waiting(struct upstream *upstream, const struct upstream_listing *listing,
                              const wt_review_report *report);
/* Whether a tool waits that goes by this name: by its exported one or its id, with bare by its server's own, too. own:
 * its server's name for it. */
bool wt__upstream_waits(struct upstream *upstream, const char *name, bool bare, char own[WT_MAX_NAME_BYTES + 1]);
/* True if a tool waits whose name a request says: each word of the name begins a word of the request. own: as above. */
bool wt__upstream_waits_for(struct upstream *upstream, struct str request, char own[WT_MAX_NAME_BYTES + 1]);
const char *wt__upstream_state_word(enum upstream_state state);
const char *wt__era_word(enum mcp_era era);

/* ---------------------------------------------------------------- what it offers */

/* What it listed last, beside its tools; never changes. Arrays, never NULL. */
struct upstream_offer {
    json_t *resources, *templates, *prompts; /* of each those that were approved */
    bool completes;                          /* it completes arguments */
    atomic_uint refs;
};
/* Give it back. NULL: it has not been ready yet. */
struct upstream_offer *wt__upstream_offer(struct upstream *upstream);
void wt__upstream_offer_release(struct upstream_offer *offer); /* NULL is a no-op */

/* Offers what it listed last and what was approved of that: arrays of definitions, borrowed. Tells whoever opened it of
 * what has changed (options.changed). Errors: WT_ENOMEM. */
struct approved_offers {
    const json_t *resources, *templates, *prompts;
};
int wt__upstream_approve_offers(struct upstream *upstream, const struct approved_offers *approved, wt_error *err);
/* True if it listed what is not offered, so that an approval may change that. */
bool wt__upstream_withholds(struct upstream *upstream);

/* A client wants to know when the resource changes; quick. False: the holder watches its share, or memory is out, as
 * *err says. */
bool wt__upstream_watch(struct upstream *upstream, const char *holder, struct str uri, wt_error *err);

/* ---------------------------------------------------------------- asking it */

struct upstream_link; /* a connection that is borrowed */

/* Waits until it is ready, at most so long, and no longer than it is wanted. Where it ran before, one that ends while
 * it starts, as it does when it is killed then, is waited for again. Errors: WT_ENETWORK (it fails, with what
 * is known of why), WT_ETIMEOUT, WT_ECANCELLED. */
int wt__upstream_borrow(struct upstream *upstream, unsigned wait_ms, bool (*is_unwanted)(const void *context),
                        const void *context, struct upstream_link **out, wt_error *err);
/* Requests to it that are under way, by holder. */
struct shares *wt__upstream_calls(struct upstream *upstream);
/* Replaces *link with a connection in `era` if the server speaks that era, too, and otherwise leaves it. A client that
 * answers questions needs this: a server that speaks both eras asks a legacy client by requests of its own, which a
 * modern connection does not carry. Opens the second connection if there is none yet, and waits for it as above. */
void wt__upstream_fit_era(struct upstream *upstream, enum mcp_era era, unsigned wait_ms,
                          bool (*is_unwanted)(const void *context), const void *context, struct upstream_link **link);
struct mcp_connection *wt__upstream_connection(const struct upstream_link *link);
void wt__upstream_return(struct upstream_link *link); /* NULL is a no-op */

#endif
