/* gateway.h: a gateway, one MCP server in front of many.
 *
 *   upstream  one of the servers; runs independently of the others (upstream.h), and its tools are imported into the
 *             catalogue
 *   view      snapshot of the callable tools and their definitions (internal.h)
 *   face      the tools that a client sees: search and call tools, or all tools
 *   call      a request for a server; it is checked, audited and relayed (internal.h)
 *
 * The operator configures all servers. Neither a client nor a server can add a server or start a program. */
#ifndef WT_GATEWAY_GATEWAY_H
#define WT_GATEWAY_GATEWAY_H

#include "base/buffer.h"
#include "gateway/policy.h"
#include "mcp/server.h"
#include "serve/mcp/service.h"
#include "tenants/tenants.h"
#include "whichtool.h"

enum {
    GATEWAY_CHECK_MS = 500,          /* interval of checks for catalogue changes by other processes */
    GATEWAY_DIRECT_MOST = 20,        /* maximum number of tools that `auto` shows directly */
    GATEWAY_RESULT_BYTES = 48 << 10, /* maximum length of a call tool's result; a handle gives the rest */
    GATEWAY_START_WAIT_MS = 30000,   /* maximum wait of a call for a starting server */
    GATEWAY_CALLS_MAX = 512,         /* concurrent requests, shared by servers (base/shares.h) */
    GATEWAY_PARKED_MAX = 512,        /* calls that wait for the answer of a modern client, shared by clients and also by
                                        servers */
};

struct gateway;
struct upstream;
struct audit_log;

struct gateway_options {
    bool bare_names;           /* show tools under their servers' own names if unique */
    size_t result_bytes;       /* maximum length of a call tool's result; 0 for GATEWAY_RESULT_BYTES */
    unsigned start_timeout_ms; /* timeout for the start of a server; 0 for MCP_CONNECT_MS */
    unsigned call_timeout_ms;  /* maximum silence of a server during a call; 0 for MCP_REQUEST_MS */
    unsigned list_wait_ms;     /* maximum wait of a list request for servers that have not listed their tools yet;
                                    0 not to wait */
    const char *state_path;    /* file with the state of the servers for other processes; NULL for no file */
    /* locked while the gateway runs, so that other processes know that the state is current; NULL for no lock */
    const char *lock_path;
    bool review_first;   /* the first list of a server waits for approval; it always waits if the audit finds errors
                              in it, or if there is a lock */
    const char *approve; /* command that approves a server's tools, without the server's name; NULL for
                                    `whichtool mcp approve` */
    struct str lock; /* text of a lock file (wt_lock): items without a pin are not shown, even if approved; empty for no
                            lock */
    const struct policy *policy; /* must outlive the gateway; NULL allows everything */
    wt_tenants *tenants;     /* must outlive the gateway; NULL for no tenants. Callers of a tenant see only its tools */
    struct audit_log *audit; /* must outlive the gateway; NULL for no audit */
    /* Reports a sentence to the operator, from any thread; may be NULL. failing: the sentence says that the gateway
     * refuses calls, or that it serves calls again. */
    void (*report)(void *context, bool failing, const char *sentence);
    void *report_context;
    double (*now_ms)(void); /* clock for the expiry of parked calls and long results; NULL for wt__now_ms */
    bool learn;             /* record calls after a search as usage */
};

/* Opens a gateway to servers [count]; they and the engine must outlive it. Returns WT_EINVAL for a server without a
 * name or two servers with one name, or WT_ESTORE, WT_ENOMEM, ... */
int wt__gateway_open(struct gateway **out, wt_engine *engine, const struct mcp_server *servers, size_t count,
                     const struct gateway_options *options, wt_error *err);
/* Starts the servers without waiting for them. */
int wt__gateway_start(struct gateway *gateway, wt_error *err);
/* Ends calls that wait for servers. Call it before closing the services of the faces. */
void wt__gateway_stop(struct gateway *gateway);
/* Stops the servers and frees the gateway. Call it after closing the services of the faces. NULL is a no-op. */
void wt__gateway_close(struct gateway *gateway);

/* Appends the metrics of the servers, in Prometheus' text format. gateway: a struct gateway; void so that the function
 * can be used as routes.metrics. */
void wt__gateway_write_metrics(void *gateway, struct buffer *out);
/* Appends the content of the state file, a JSON object. */
void wt__gateway_write_state(struct gateway *gateway, struct buffer *out);

/* Sends changes of lists and resources to the service until it is detached. */
int wt__gateway_attach(struct gateway *gateway, struct mcp_service *service, wt_error *err);
void wt__gateway_detach(struct gateway *gateway, struct mcp_service *service);

/* The features of an MCP service (serve/mcp/service.h) in front of the gateway:
 *
 *   search   a search tool, a tool for definitions, three call tools and a tool to read long results. There is one call
 *            tool per effect, so that users can approve calls by effect.
 *   direct   all tools with their own definitions
 *   auto     direct while there are few tools, else search
 *
 * Each face also has the resources and prompts of all servers. Items that the policy denies to a caller are neither
 * listed nor found, described or called. */

struct face;

struct face_options {
    enum face_kind kind;
    const char *profile; /* profile of the policy, or NULL */
    const char *summary; /* see catalogue_options */
    size_t budget_bytes; /* see catalogue_options */
    size_t max_direct;   /* maximum number of tools FACE_AUTO shows directly; 0 for GATEWAY_DIRECT_MOST */
};

/* Opens a face. The gateway and the strings of the options must outlive it. */
int wt__face_open(struct face **out, struct gateway *gateway, const struct face_options *options, wt_error *err);
const struct mcp_features *wt__face_features(const struct face *face);
/* Call it after closing the face's service. NULL is a no-op. */
void wt__face_close(struct face *face);

#endif
