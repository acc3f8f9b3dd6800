/* route.h: a row of the route table, and the call passed to its function.
 *
 * The table is the single source for dispatch, OpenAPI and metric labels. Other modules, such as MCP, add their own
 * tables. */
#ifndef WT_SERVE_API_ROUTE_H
#define WT_SERVE_API_ROUTE_H

#include "http/exchange.h"
#include "serve/metrics.h"
#include "serve/keys.h"
#include "wire/body.h"

enum {
    API_FIELDS_MAX = 8, /* maximum header fields set by a handler */
    API_MORE_MAX = 4,   /* maximum tables of other modules */
};

struct http_server;

/* State of the process. */
struct server_state {
    const struct http_server *server; /* NULL until wt__api_set_server */
    long long started;                /* Unix time in seconds */
    atomic_bool ready;                /* the index is open and the model is loaded */
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

/* Result of a handler for a slow call (a language model, an import). The call is then repeated on a thread of its own,
 * so that searches keep the workers. */
enum { API_TAKES_LONG = 1 };

struct api_call {
    const struct api_service *service;
    const struct http_request *request;
    struct str rest;                        /* the part of the path that matches {id}, not decoded */
    char principal[KEY_NAME_BYTES_MAX + 1]; /* name of the key, "" if unknown */
    unsigned scopes;                        /* scopes of the key, or the default without keys */
    bool may_take_long;                     /* runs on a thread of its own */
    bool (*is_gone)(const void *context);   /* true if the client has disconnected; may be NULL */
    const void *gone_context;

    int status;       /* initially 200 */
    const char *type; /* initially "application/json" */
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
    const char *returns;        /* one sentence about the response; NULL to leave the route out of OpenAPI */
    /* Fills the response. Returns 0, a negative WT_E... with *err, or, before doing any work, API_TAKES_LONG. */
    int (*answer)(struct api_call *call, wt_error *err);
    /* Alternative to answer: takes over the exchange and answers at any time. */
    void (*take)(void *context, struct http_exchange *exchange, const char *principal, unsigned scopes);
    void *context;
    enum scope scope;
    bool takes_long; /* always slow; see API_TAKES_LONG */
    bool of_tools;   /* shows or changes the catalogue's tools; requires admin if a policy is set */
};

struct routes {
    const struct route *items; /* [count] */
    size_t count;
    /* Appends the module's metrics for GET /metrics (wt__metric_write). May be NULL. */
    void (*metrics)(void *context, struct buffer *out);
    void *context;
};

/* Adds a header field to the response; value is copied. */
void wt__api_add_field(struct api_call *call, const char *name, const char *value);
/* Frees the response. */
void wt__api_call_dispose(struct api_call *call);
/* A wt_progress_fn that stops when the client disconnects; context is the api_call. */
int wt__api_progress(void *context, const char *phase, uint64_t done, uint64_t total);
/* Returns the smaller of the requested time limit (0 for none) and the server's. */
unsigned wt__api_time_limit(const struct api_call *call, unsigned asked);

#endif
