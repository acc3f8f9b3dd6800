/* internal.h: declarations shared by the files of src/gateway. */
#ifndef WT_GATEWAY_INTERNAL_H
#define WT_GATEWAY_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/shares.h"
#include "base/str.h"
#include "catalog/pins.h"
#include "gateway/audit.h"
#include "gateway/gateway.h"
#include "gateway/upstream.h"
#include "serve/catalogue.h"
#include "serve/mcp/call.h"
#include "serve/mcp/input.h"
#include "whichtool.h"

/* A view is a snapshot of the callable tools: tools of the gateway's servers whose definition is approved and, if there
 * is a lock, has its hash in the lock. A view is immutable and reference counted. After a change of the catalogue a new
 * view replaces it. So a call is checked without access to the store. The check uses the definition that the client has
 * seen, or a newer one. */

struct view_tool {
    struct upstream *upstream;
    const char *id, *exported; /* id and exported name in the catalogue (catalog/names.h) */
    const char *name;          /* name in the catalogue */
    const char *own_name;      /* the server's own name; the import may have changed it */
    const char *shown;         /* name shown to clients */
    const char *sha256;        /* hash of the definition in hexadecimal digits */
    struct str definition;     /* with the shown name */
    struct str legacy;         /* definition for legacy clients: outputSchema has type object or is omitted */
    struct str schema;         /* input schema */
    enum effect effect;
    bool has_mirrors;        /* headers may repeat some arguments */
    size_t number;           /* index in the view */
    struct mcp_input *input; /* created on first use; NULL before, or if the schema is invalid */
    pthread_mutex_t *lock;   /* protects input */
};

struct tool_view {
    atomic_uint refs;
    uint64_t generation;      /* catalogue generation */
    struct view_tool **tools; /* [count], sorted by shown name */
    size_t count;
    struct map by_name; /* shown names first, then exported names, then ids */
    struct map by_id;   /* ids only, since a server may name a tool like the id of another tool */
    pthread_mutex_t lock;
    struct arena arena;
};

struct pins;

struct view_options {
    struct upstream *const *upstreams; /* [count] */
    size_t count;
    /* true to show tools under their names without the server. A tool still gets its exported name if another tool, or
     * a tool of the search face, has the same name. false to show only exported names. */
    bool bare_names;
    const struct pins *lock; /* tools whose hash has no pin are left out; NULL for no lock */
};

/* Builds the current view. Errors: those of wt_list_approved. */
int wt__view_open(struct tool_view **out, wt_engine *engine, const struct view_options *options, wt_error *err);
/* Adds a reference and returns the view. */
struct tool_view *wt__view_keep(struct tool_view *view);
void wt__view_release(struct tool_view *view); /* NULL is a no-op */

/* Finds a tool by its shown name, exported name or id, in this order; NULL if no tool has it. */
struct view_tool *wt__view_find(const struct tool_view *view, struct str name);
/* Finds a tool by its id only. */
struct view_tool *wt__view_find_id(const struct tool_view *view, const char *id);
/* Returns the compiled input schema, or NULL with err set. */
const struct mcp_input *wt__view_input(struct view_tool *tool, wt_error *err);

/* Records calls after a search as usage to learn from (serve/usage_log.h): if a client calls a tool that its search has
 * found, the request needed that tool. The operator must enable this, since requests are stored.
 *
 * The calls after one search are one usage. The usage is written when the client searches again, or when it has called
 * no tool for OUTCOME_IDLE_MS. Its outcome is "failed" if every call failed. Clients with the same key count as one
 * client. */

enum {
    OUTCOME_IDLE_MS = 60000,
    OUTCOME_CLIENTS_MAX = 1000,       /* maximum remembered searches, one per client; the search of the client that was
                                         active least recently is written and dropped first */
    OUTCOME_FOUND_MAX = 50,           /* maximum number of remembered tools of a search */
    OUTCOME_REQUEST_BYTES_MAX = 4096, /* longer requests are ignored */
};

struct outcomes;

/* A client of the gateway. tenant: "" without one. */
struct outcome_client {
    const char *principal, *tenant;
};

/* Opens the recorder. The engine and the tenants must outlive it. tenants: NULL for none. Usage of a tenant is recorded
 * in its own store. Errors: those of wt__usage_log_open. */
int wt__outcomes_open(struct outcomes **out, wt_engine *engine, wt_tenants *tenants, wt_error *err);
/* Writes pending usages and frees the recorder. NULL is a no-op. */
void wt__outcomes_close(struct outcomes *outcomes);

/* Record a search, or a call of a tool. Thread-safe. outcomes: NULL is a no-op, also for wt__outcomes_sweep. */
void wt__outcomes_record_search(struct outcomes *outcomes, const struct outcome_client *client, struct str request,
                                const wt_hits *hits);
void wt__outcomes_record_call(struct outcomes *outcomes, const struct outcome_client *client, const char *id,
                              bool worked);
/* Writes usages of idle clients. Call it about once a second. */
void wt__outcomes_sweep(struct outcomes *outcomes);

enum {
    GATEWAY_SERVICES_MAX = 64,
    GATEWAY_SETTLE_MS = 20, /* interval of checks for started servers */
    GATEWAY_LOCK_WAIT_MS =
        1000, /* maximum wait for the lock of lock_path, which other processes hold briefly to test it */
    GATEWAY_MALFORMED_TOLD = 3, /* maximum malformed definitions of a listing that are reported one by one */
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
    pthread_t tender;       /* thread for periodic work; valid if has_tender */
    bool has_tender;
    atomic_bool stopping;
    pthread_mutex_t import_lock; /* serialises imports */
    int lock_fd;                 /* descriptor of lock_path; -1 if it could not be locked */
    pthread_mutex_t state_lock;  /* serialises writes of the state file */
    pthread_mutex_t renew_lock;  /* serialises updates of the view, so that an older view never replaces a newer one */
    pthread_mutex_t lock;        /* protects view, parked, parked_count and remainders */
    pthread_cond_t turn;         /* signalled by wt__gateway_stop; used with `lock` */
    struct tool_view *view;      /* current view; NULL until the first one is built */
    bool view_is_stale;          /* other tools wait for approval than when the view was built */
    struct parked *parked;       /* list of parked calls (relay.c) */
    size_t parked_count;
    struct remainder *remainders;                       /* rests of long results (large_results.c), the newest first */
    struct shares calls;                                /* running requests, by server */
    struct shares parked_of_clients, parked_of_servers; /* parked calls, by client and by server */
    struct shares results, result_bytes;                /* number and bytes of remainders, by client */
    bool audit_fails;              /* the audit failed at the last report; used by the tender only */
    uint64_t offers_generation;    /* catalogue generation at the last check of approvals; used by the tender only */
    pthread_mutex_t services_lock; /* protects the services; held while they are notified, which may take long */
    struct mcp_service *services[GATEWAY_SERVICES_MAX];
    size_t service_count;
};

/* True if the use of this tenant's clients may be recorded: that of a tenant without a store of its own would change
 * the results of others. tenant: "" without one. */
static inline bool wt__gateway_records(const struct gateway *gateway, const char *tenant)
{
    return !*tenant || (gateway->options.tenants && wt__tenants_own(gateway->options.tenants, tenant));
}

/* Returns the current view, to be released by the caller, or NULL if it does not exist yet. */
struct tool_view *wt__gateway_view(struct gateway *gateway);
/* Rebuilds the view if the catalogue has changed, and notifies the services. */
int wt__gateway_renew(struct gateway *gateway, wt_error *err);
/* Waits up to list_wait_ms until each server has listed its tools or has failed to start. Returns false if a
 * server has done neither by then. */
bool wt__gateway_wait_for_tools(struct gateway *gateway);
/* True if wt__gateway_wait_for_tools would not wait. */
bool wt__gateway_knows_all_tools(struct gateway *gateway);
/* Works like wt__gateway_wait_for_tools for resources, templates and prompts, which a server lists after its tools. */
void wt__gateway_wait_for_offers(struct gateway *gateway);
/* True if the current view has tools of the server. */
bool wt__gateway_has_tools_of(struct gateway *gateway, const struct upstream *upstream);
/* Returns the current time in milliseconds, for the expiry of parked calls and long results. */
static inline double wt__gateway_now(const struct gateway *gateway)
{
    return gateway->options.now_ms ? gateway->options.now_ms() : wt__now_ms();
}

/* Ends the parked calls (relay.c) that have expired. all: ends all of them. */
void wt__parked_sweep(struct gateway *gateway, bool all);

/* Client of a long result. */
struct result_reader {
    const char *principal; /* may read the rest */
    const char *holder;    /* whose share of the stored results is used */
};
/* Appends the result, a JSON object, to out. A result over `most` bytes is cut and ends with a handle for the rest.
 * Returns 0 or WT_ENOMEM. */
int wt__result_cut(struct gateway *gateway, const struct result_reader *reader, struct str result, size_t most,
                   struct buffer *out, wt_error *err);
/* Appends the next piece of a result to out. Returns WT_ENOTFOUND if the handle was read already, has expired, or is
 * not this principal's. */
int wt__result_more(struct gateway *gateway, const struct result_reader *reader, struct str handle, size_t most,
                    struct buffer *out, wt_error *err);
/* Drops the rests of results that have expired. all: drops all of them. */
void wt__result_sweep(struct gateway *gateway, bool all);
void wt__results_open(struct gateway *gateway);
void wt__results_close(struct gateway *gateway);

/* Maps the URIs and names of resources, templates and prompts of all servers to names for clients, and back.
 *
 * A client sees a URI or a prompt's name as its server has it, unless the name is ambiguous. A name is ambiguous in
 * three cases:
 *
 *   - A server earlier in the operator's order has the same name.
 *   - An earlier server has a template that the URI matches, or a template that may match the same URIs.
 *   - The name begins with the prefix of any server.
 *
 * An ambiguous name gets the name of its server as a prefix: "SERVER+file:///x", "SERVER.review". So a server cannot
 * take over a name of an earlier server. A name that no server lists and that matches no template has no owner. */

enum offer_kind { OFFER_RESOURCES, OFFER_TEMPLATES, OFFER_PROMPTS };

/* Snapshot of the offers of all servers. */
struct offer_snapshot {
    struct upstream_offer **items; /* [count], one per server of the gateway; NULL until a server has listed */
    size_t count;
};

void wt__offer_snapshot_open(const struct gateway *gateway, struct offer_snapshot *out);
void wt__offer_snapshot_close(struct offer_snapshot *offers);
json_t *wt__offer_list(const struct upstream_offer *offer, enum offer_kind kind);
/* Returns the member that names an item: "uri", "uriTemplate" or "name". */
const char *wt__offer_key(enum offer_kind kind);

/* Appends the name that clients see for a server's own name. server: index of the server. */
void wt__offer_put_shown_name(const struct gateway *gateway, const struct offer_snapshot *offers, size_t server,
                              enum offer_kind kind, struct str name, struct buffer *out);
/* Appends the URI that clients see for the URI of a server's resource. */
void wt__offer_put_shown_uri(const struct gateway *gateway, const struct upstream *upstream, struct str uri,
                             struct buffer *out);
/* Writes the hash of the definition of the server's item with this own name or, for a resource that is not listed, of
 * the template that its URI matches. Returns false if neither exists. */
bool wt__offer_hash(struct upstream *upstream, enum offer_kind kind, struct str name,
                    char sha256[DEFINITION_DIGITS + 1]);
/* Returns the server that owns a name shown to clients, and sets *name to the server's own name. Returns NULL if the
 * name is unknown. */
struct upstream *wt__offer_owner(const struct gateway *gateway, enum offer_kind kind, struct str *name);

/* Relays a client's request to a server behind the gateway, for all combinations of eras:
 *
 *   client legacy   server legacy   a question goes to the client while both calls wait
 *   client modern   server modern   the client gets the server's `input_required`; the server's requestState is inside
 *                                   ours, which is sealed
 *   client legacy   server modern   the client is asked during its call, and the request is sent to the server again
 *   client modern   server legacy   the server's call is parked while the client answers `input_required`; the client's
 *                                   next request resumes it
 *
 * Progress and logs are forwarded. A cancellation reaches the server at once. */

/* A request to a server. */
struct relay {
    const char *method;                /* "tools/call", ... */
    const char *name_key;              /* member of the params with the name: "name" or "uri"; NULL for no name */
    struct str name;                   /* the server's own name */
    struct str arguments;              /* a JSON object; may be empty */
    struct str more;                   /* further members of the params, or "" */
    const struct http_header *headers; /* [header_count], Mcp-Param-... */
    size_t header_count;
    bool is_safe; /* the request has no side effects, so that it may be sent again after a failure */
};

enum relayed {
    RELAY_ANSWERED, /* result holds the server's result; the caller passes it to the call */
    RELAY_ASKED,    /* a question went to the client; this request is finished */
    RELAY_REFUSED,  /* the call was answered with a JSON-RPC error */
    RELAY_FAILED    /* err has the reason; the call is not answered yet */
};

/* True if a result has isError. */
bool wt__result_is_error(struct str result);

/* Relays a request. Blocks until the request is answered or a question went to a modern client. Appends the server's
 * result to `result`. */
enum relayed wt__relay(struct gateway *gateway, struct mcp_call *call, struct upstream *upstream,
                       const struct relay *what, struct buffer *result, wt_error *err);

struct face {
    struct gateway *gateway;
    struct face_options options;
    char *summary; /* description of the servers */
    struct mcp_catalogue *catalogue;
    struct mcp_features features;
    struct mcp_input *inputs[FACE_TOOLS]; /* NULL for tools of the catalogue */
};

/* Tool functions of a kind of face, as in mcp_features with the face as context. mcp_tool.handle is the view that has
 * the tool, or NULL; features.tools.drop releases it. */
struct face_kind_row {
    void (*list)(void *context, struct mcp_call *call, struct str after);
    int (*find)(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err);
    void (*run)(void *context, struct mcp_call *call, const struct mcp_tool *tool);
    void (*write_instructions)(void *context, const char *principal, struct buffer *out);
};

extern const struct face_kind_row wt__face_direct; /* other kinds may use its functions */

/* True if the caller may use the tool. */
bool wt__face_allows(const struct face *face, const struct mcp_call *call, const struct view_tool *tool);

/* Fails for a name that cannot be called. Returns WT_EINVAL if the policy allows the tool, and the tool waits for
 * approval or its server is not running. Otherwise returns WT_ENOTFOUND. hidden: the tool exists, but the policy denies
 * it. */
int wt__face_fail_missing(const struct face *face, const struct mcp_call *call, struct str name, bool hidden,
                          wt_error *err);
/* Explains an empty search result if the request names a tool that waits for approval, or if servers are starting. */
void wt__face_put_waiting(void *context, struct mcp_call *call, struct str query, struct buffer *out);

/* Arguments that a client sends to a tool. */
struct client_arguments {
    struct str text;    /* a JSON object; "" if absent */
    const json_t *tree; /* the parsed text; NULL if absent */
    struct str written; /* the client's original text if `text` has been repaired, else "" */
};

/* Checks the arguments and calls a tool. Blocks. cut: cuts a long result. */
void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool,
                   const struct client_arguments *arguments, bool cut);
/* Writes the refusal of a call to the audit. tool: NULL if unknown. */
void wt__face_audit_refused_call(const struct face *face, const struct mcp_call *call, const struct view_tool *tool,
                                 struct str asked, struct str arguments, enum audit_decision decision);
/* Runs a call tool of a search face: calls the named tool if it has this effect. */
void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect);

/* Functions of mcp_features. */
void wt__face_list_resources(void *context, struct mcp_call *call, struct str after);
void wt__face_list_templates(void *context, struct mcp_call *call, struct str after);
void wt__face_read(void *context, struct mcp_call *call, struct str uri);
bool wt__face_watch(void *context, struct mcp_call *call, struct str uri, wt_error *why);
void wt__face_list_prompts(void *context, struct mcp_call *call, struct str after);
void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name);
void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what);

#endif
