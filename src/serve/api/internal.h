/* internal.h: internals of the HTTP API. */
#ifndef WT_SERVE_API_INTERNAL_H
#define WT_SERVE_API_INTERNAL_H

#include <pthread.h>

#include "base/shares.h"
#include "serve/api/api.h"

struct http_api {
    struct api_service service;
    struct server_state state;
    struct metrics metrics;
    struct routes tables[1 + API_MORE_MAX];
    struct guard guard;
    struct api_options options;
    const char *keys_path;

    pthread_rwlock_t keys_lock;
    struct keys *keys;                    /* NULL if no keys are required */
    atomic_bool keys_stale, models_stale; /* a reload was requested (wt__api_reload) */

    pthread_mutex_t long_lock;
    pthread_cond_t long_ended;
    size_t long_running;       /* slow calls and reloads of models that are running */
    struct shares long_shares; /* shares of slow calls, by key */

    struct trace_source traces;
    struct otlp *otlp;  /* NULL if traces are not exported */
    struct buffer line; /* line of the log that the loop writes; kept for its memory */

    pthread_mutex_t warm_lock;
    pthread_cond_t warm_news; /* signals `closing` */
    bool closing;             /* protected by warm_lock */
    pthread_t warming;        /* thread of wt__api_warm_up; valid if `warms` */
    bool warms;
};

/* Returns the scopes of a request. Stores the key's name in name [KEY_NAME_BYTES_MAX + 1], "" if unknown, and its
 * tenant in tenant [WT_MAX_TENANT_NAME_BYTES + 1], "" without one; tenant may be NULL. */
unsigned wt__api_read_scopes(struct http_api *api, const struct http_request *request, char *name, char *tenant);

/* Returns the scope that the route requires: admin for routes of tools if a policy is set. */
enum scope wt__api_required_scope(const struct http_api *api, const struct route *route);

/* Implements http_handler.fields; context is the http_api, note a request_trace. */
void wt__api_add_fields(void *context, const struct http_request *head, void *note, struct http_fields *out);

/* Answers with status 503: too many slow calls. */
void wt__api_answer_overloaded(struct api_call *call);

/* Our own routes. */
extern const struct routes wt__api_routes;

/* How a request matches the tables. */
struct route_match {
    struct str rest;    /* the part of the path that {id} matches */
    size_t index;       /* number of the row across all tables, as used for metrics */
    bool is_path_known; /* a row has the path, with any method */
};

/* Returns the first row with a matching method and path, or NULL. out may be NULL. */
const struct route *wt__route_find(const struct api_service *service, const struct http_request *request,
                                   struct route_match *out);

/* Appends the methods of a path, such as "GET, POST". */
void wt__route_methods(struct buffer *out, const struct api_service *service, struct str path);

/* Runs a verb on the request's body, and notes its search in the trace. */
int wt__api_run_verb(struct api_call *call, int (*verb)(struct json_run *run, struct str json, wt_error *err),
                     wt_error *err);

/* tools.c */
int wt__api_list_tools(struct api_call *call, wt_error *err);
int wt__api_get_tool(struct api_call *call, wt_error *err);
int wt__api_add_tools(struct api_call *call, wt_error *err);
int wt__api_remove_tool(struct api_call *call, wt_error *err);
int wt__api_remove_provider(struct api_call *call, wt_error *err);
/* about.c */
int wt__api_health(struct api_call *call, wt_error *err);
int wt__api_alive(struct api_call *call, wt_error *err);
int wt__api_readiness(struct api_call *call, wt_error *err);
int wt__api_metrics(struct api_call *call, wt_error *err);
int wt__api_status(struct api_call *call, wt_error *err);
int wt__api_recipes(struct api_call *call, wt_error *err);
int wt__api_openapi(struct api_call *call, wt_error *err);
/* answers.c: appends the schemas of answers, each after a comma. */
void wt__api_put_answer_schemas(struct buffer *out);

#endif
