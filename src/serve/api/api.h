/* api.h: the HTTP API as a handler for http_server. It checks the sender (Host, Origin, key and scope), dispatches to
 * the routes, and records metrics, traces and the log.
 *
 * Quick requests are answered on the server's workers. Slow requests run on separate threads, at most API_LONG_MAX at
 * once, so that searches never wait for an import.
 *
 * The API never starts a process, and never opens a file named by a request. */
#ifndef WT_SERVE_API_API_H
#define WT_SERVE_API_API_H

#include "http/exchange.h"
#include "http/server.h"
#include "serve/access.h"
#include "serve/log.h"
#include "serve/metrics.h"
#include "serve/otlp.h"
#include "tenants/tenants.h"
#include "wire/body.h"

/* The route table is the single source for dispatch, OpenAPI and metric labels. Other modules, such as MCP, add their
 * own tables. */

enum {
    API_FIELDS_MAX = 8, /* maximum header fields set by a handler */
    API_MORE_MAX = 8,   /* maximum tables of other modules */
};

struct json_run;

enum { API_WARMING = 1 };

/* State of the server for the routes of about.c. */
struct server_state {
    const struct http_server *server; /* NULL until wt__api_set_server */
    const struct otlp *otlp;          /* NULL if traces are not exported */
    long long started;                /* Unix time in seconds */
    atomic_int
        warm; /* 0 if the index is open and the model is loaded; API_WARMING; or the WT_E... of the last attempt */
};

/* Shared data of all handlers, constant while the server runs. */
struct api_service {
    struct server_state *state;
    wt_engine *engine;
    struct metrics *metrics;
    unsigned time_limit_ms;      /* time limit of a request */
    bool language_model;         /* a language model is configured */
    const struct routes *tables; /* [table_count] */
    size_t table_count;
};

/* A handler returns API_TAKES_LONG for a slow call, such as an import or a call of a language model. The API then
 * repeats the call on a separate thread, so that the workers stay free for searches. */
enum { API_TAKES_LONG = 1 };

struct api_call {
    const struct api_service *service;
    const struct http_request *request;
    struct str rest;                           /* the part of the path that {id} matches, not decoded */
    char principal[KEY_NAME_BYTES_MAX + 1];    /* name of the key, "" if unknown */
    unsigned scopes;                           /* scopes of the key, or the default without keys */
    char tenant[WT_MAX_TENANT_NAME_BYTES + 1]; /* tenant of the request, "" without one */
    wt_engine *engine;       /* engine of the tenant, or service->engine; NULL if a route takes the exchange */
    struct tenant_hold hold; /* holds `engine` */
    bool may_take_long;      /* runs on a thread of its own */
    bool (*is_gone)(const void *context); /* true if the client has disconnected; may be NULL */
    const void *gone_context;
    struct request_trace *trace; /* NULL without an exchange */
    void *context;               /* that of the route, for its `answer` */

    unsigned retry_ms; /* of an answer that fails: the client has a rate, and may repeat the request after this time */
    int status;        /* initially 200 */
    const char *type;  /* initially "application/json" */
    struct buffer body;
    struct http_field fields[API_FIELDS_MAX];
    size_t field_count;
    struct arena arena; /* holds the field values */
};

struct route {
    const char *method;         /* NULL for any method, if take is set */
    const char *path;           /* such as "/v1/tools/{id}"; {id} matches the rest of the path, including slashes */
    size_t body_max;            /* maximum body size in bytes, 0 for no body */
    const struct fields *query; /* query parameters, NULL for none */
    const struct fields *body;  /* JSON members of the body, NULL for none */
    const char *raw_body;       /* description of a body without fields, else NULL */
    const char *name;           /* operation id, one word */
    const char *summary;        /* one line */
    const char *schema;         /* schema of the response in answers.c; NULL for any object or array */
    const char *returns;        /* one sentence about the response; NULL to leave the route out of OpenAPI */
    /* Fills the response. Returns 0 or a negative WT_E... with *err. May return API_TAKES_LONG before any work. */
    int (*answer)(struct api_call *call, wt_error *err);
    /* Alternative to answer: a verb of wire/verbs.h, which reads the body and writes the response. */
    int (*verb)(struct json_run *run, struct str json, wt_error *err);
    /* Alternative to answer: takes over the exchange and answers at any time. A route with both takes the requests of
     * callers without a tenant, and answers those of tenants. */
    void (*take)(void *context, struct http_exchange *exchange, const struct api_call *call);
    void *context; /* passed to take; api_call.context in answer */
    enum scope scope;
    bool takes_long; /* always slow; see API_TAKES_LONG */
    bool is_probe;   /* requested periodically by monitoring; traces leave it out */
    bool of_own;     /* changes a store, but a tenant can use it if it has a store of its own */
    bool of_tools;   /* shows or changes the catalogue's tools; requires admin if a policy is set */
};

/* A table of routes, or only the metrics of a module without routes. */
struct routes {
    const struct route *items; /* [count] */
    size_t count;
    /* Appends the module's metrics for GET /metrics (wt__metric_write). May be NULL. */
    void (*metrics)(void *context, struct buffer *out);
    void *context;
};
/* Frees the response of a call. */
void wt__api_call_dispose(struct api_call *call);

#define API_LISTEN "127.0.0.1:8642" /* default address */

enum {
    API_TIME_LIMIT_MS = 60000, /* default time limit of a request */
    API_WARM_PAUSE_MS = 1000,  /* pause before a failed warm-up is repeated; doubles up to API_WARM_PAUSE_MS_MAX */
    API_WARM_PAUSE_MS_MAX = 30000,
    API_LONG_MAX = 8, /* maximum slow calls at once, divided among keys (shares.h); further calls get status 503 */
    API_STRANGER_BYTES = 9999, /* maximum body size that is read before an unauthorised request is rejected */
    API_STRANGER_DIGITS = 5,   /* minimum digits of a Content-Length above API_STRANGER_BYTES */
};

/* Header in which a key with the scope admin, or a client of a server without keys, names a tenant. */
#define API_TENANT_FIELD "X-Whichtool-Tenant"

struct api_options {
    wt_engine *engine;
    wt_tenants *tenants;    /* NULL for no tenants; must outlive the API */
    const char *keys_path;  /* NULL if no keys are required */
    struct guard guard;     /* guard.listen is the address as configured */
    unsigned time_limit_ms; /* 0 for API_TIME_LIMIT_MS */
    bool language_model;
    /* True if a policy restricts tools by client. Routes with of_tools then require the scope admin, because they do
     * not apply the policy. Without keys, these routes are unavailable. */
    bool policed;
    const struct routes *more; /* [more_count] tables of other modules, at most API_MORE_MAX; must outlive the API */
    size_t more_count;
    void (*stopping)(void *context); /* called like http_handler.stopping; may be NULL */
    void *stopping_context;
    struct log log;
    bool log_requests;                /* include request bodies in the log */
    const struct otlp_settings *otlp; /* NULL, or with a NULL url, to export no traces; must outlive the API */
    /* Called once, from another thread, when the server is ready. ms: time since the start of the warm-up. May be
     * NULL. */
    void (*ready)(void *context, double ms);
    void *ready_context;
};

struct http_api;

/* Opens the API. Errors: WT_EINVAL (a non-local address without keys, keys of tenants without tenants, or too many
 * tables), and those of wt__keys_open, wt__trace_source_open and wt__otlp_open. */
int wt__api_open(struct http_api **out, const struct api_options *options, wt_error *err);
/* Returns the handler for the server's options, valid as long as the API. */
struct http_handler wt__api_handler(struct http_api *api);
/* Sets the server for the metrics. */
void wt__api_set_server(struct http_api *api, const struct http_server *server);
/* Opens the index and loads the model in the background, and tries again if that fails. Requests are answered
 * meanwhile. */
void wt__api_warm_up(struct http_api *api);
/* Returns the number of keys, 0 if no keys are required. */
size_t wt__api_count_keys(const struct http_api *api);
/* Returns the number of keys with the scope `find` but not `call` (wt__keys_count_find_only). */
size_t wt__api_count_find_only_keys(const struct http_api *api);
/* Requests a reload of the keys and trained models, which happens at the next request. Models load in the background
 * while requests use the old models. If a file is invalid, the old contents stay and the error is logged. May be called
 * from a signal handler. */
void wt__api_reload(struct http_api *api);
/* Waits for slow calls, which hold exchanges. Call it after the server has stopped and before it is closed. */
void wt__api_wait_for_calls(struct http_api *api);
/* Closes the API. NULL is a no-op. */
void wt__api_close(struct http_api *api);

/* Answers a call without a server. The caller fills request, is_gone and may_take_long. If the call is slow and
 * may_take_long is false, sets *takes_long and does not answer. Returns NULL, or the route that must take the exchange.
 * Dispose of the call with wt__api_call_dispose. */
const struct route *wt__api_respond(struct http_api *api, struct api_call *call, bool *takes_long);

#endif
