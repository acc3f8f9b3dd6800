/* route.h: one row of the API, and the call that its function answers.
 *
 * The table of routes is all that there is to know: which method and path, who may, what the body and the query may
 * say, what it does. Requests are dispatched by it, OpenAPI is written from it, figures are labelled by it. A module
 * with a route of its own (MCP) hands over rows like these. */
#ifndef WT_SERVE_API_ROUTE_H
#define WT_SERVE_API_ROUTE_H

#include "http/exchange.h"
#include "serve/figures.h"
#include "serve/keys.h"
#include "wire/body.h"

enum {
    API_FIELDS_MAX = 8, /* header fields of an answer */
    API_MORE_MAX = 4,   /* tables of other modules */
};

struct http_server;

/* What is true of the process. */
struct presence {
    const struct http_server *server; /* NULL until it is bound */
    long long started;                /* seconds since 1970 */
    atomic_bool ready;                /* the index is open and the model is loaded */
};

/* What answering takes, and does not change while the server runs. */
struct service {
    struct presence *presence;
    wt_engine *engine;
    struct figures *figures;
    unsigned time_limit_ms;      /* of a request */
    bool language_model;         /* there is one that may be asked */
    const struct routes *tables; /* [table_count] all routes */
    size_t table_count;
};

/* More than an answer in milliseconds: a language model, an import. Such a call is answered on a thread of its own, so
 * that finds keep the workers. */
enum { API_TAKES_LONG = 1 };

struct api_call {
    const struct service *service;
    const struct http_request *request;
    struct str rest;                        /* what stands where the path has {id}, as it was sent */
    char principal[KEY_NAME_BYTES_MAX + 1]; /* name of the key; "" where there is none */
    unsigned scopes;                        /* of the key, or of everybody where no key is needed */
    bool may_take_long;                     /* it is on a thread of its own */
    bool (*is_gone)(const void *context);   /* NULL: nobody can go */
    const void *gone_context;

    int status;       /* 200 as it begins */
    const char *type; /* "application/json" as it begins */
    struct buffer body;
    struct http_field fields[API_FIELDS_MAX];
    size_t field_count;
    struct arena arena; /* of what the fields say */
};

struct route {
    const char *method;         /* NULL, of a route that takes: any */
    const char *path;           /* "/v1/tools/{id}": {id} takes the rest of the path, slashes too */
    size_t body_max;            /* bytes; 0: there is no body */
    const struct fields *query; /* NULL: none */
    const struct fields *body;  /* NULL: none, or raw */
    const char *raw_body;       /* what the body is where no table reads it; NULL: see body */
    const char *name;           /* of the operation: one word */
    const char *summary;        /* one line */
    const char *returns;        /* one sentence; NULL: another protocol has the say, and OpenAPI does not tell of it */
    /* Fills the call's answer: 0, a negative WT_E... with *err, or API_TAKES_LONG before it has done anything. */
    int (*answer)(struct api_call *call, wt_error *err);
    /* In place of answer: the route answers the exchange by itself, when it likes. */
    void (*take)(void *context, struct http_exchange *exchange, const char *principal, unsigned scopes);
    void *context;
    enum scope scope;
    bool takes_long; /* always: see API_TAKES_LONG */
    bool of_tools; /* it tells of the catalogue's tools, or changes them: not without `admin` where a policy decides */
};

struct routes {
    const struct route *items; /* [count] */
    size_t count;
    /* Appends what the module counts to GET /metrics (wt__figure_write). NULL: it counts nothing. */
    void (*figures)(void *context, struct buffer *out);
    void *context;
};

/* A header field of the answer; value is copied. */
void wt__api_field(struct api_call *call, const char *name, const char *value);
/* The answer is no more. */
void wt__api_call_dispose(struct api_call *call);
/* A wt_progress_fn; context is a call: stops what nobody waits for any more. */
int wt__api_progress(void *context, const char *phase, uint64_t done, uint64_t total);
/* The limit that holds of the one that was asked for (0: none) and the server's. */
unsigned wt__api_limit(const struct api_call *call, unsigned asked);

#endif
