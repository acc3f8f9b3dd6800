/* inside.h: struct http_api, for api.c and respond.c. */
#ifndef WT_SERVE_API_INSIDE_H
#define WT_SERVE_API_INSIDE_H

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
    struct keys *keys; /* NULL if no keys are required */
    atomic_bool keys_stale, models_stale;

    pthread_mutex_t long_lock;
    pthread_cond_t long_ended;
    size_t long_running;
    struct shares long_shares; /* slow calls by key */

    pthread_t warming;
    bool warms;
};

/* Returns the scopes of a request. Stores the key's name in name [KEY_NAME_BYTES_MAX + 1], "" if unknown. */
unsigned wt__api_read_scopes(struct http_api *api, const struct http_request *request, char *name);

/* Returns the scope required for the route, given the policy option. */
enum scope wt__api_required_scope(const struct http_api *api, const struct route *route);

/* Implements http_handler.fields. */
void wt__api_add_origin_fields(const struct http_api *api, const struct http_request *head, struct http_fields *out);

/* Answers with status 503: too many slow calls. */
void wt__api_answer_overloaded(struct api_call *call);

#endif
