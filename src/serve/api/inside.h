/* inside.h: what the API is made of, for api.c and respond.c alone. */
#ifndef WT_SERVE_API_INSIDE_H
#define WT_SERVE_API_INSIDE_H

#include <pthread.h>

#include "base/shares.h"
#include "serve/api/api.h"

struct api {
    struct service service;
    struct presence presence;
    struct figures figures;
    struct routes tables[1 + API_MORE_MAX];
    struct guard guard;
    struct api_options options;
    const char *keys_path;

    pthread_rwlock_t keys_lock;
    struct keys *keys; /* NULL: everybody may */
    atomic_bool keys_stale, models_stale;

    pthread_mutex_t long_lock;
    pthread_cond_t long_ended;
    size_t long_running;
    struct shares long_shares; /* by key */

    pthread_t warming;
    bool warms;
};

/* What the key of a request allows. name: [KEY_NAME_BYTES_MAX + 1], of the key; "" where none is known. */
unsigned wt__api_scopes(struct api *api, const struct http_request *request, char *name);

/* The scope that the route needs here. */
enum scope wt__api_needed(const struct api *api, const struct route *route);

/* As `fields` of http_handler. */
void wt__api_origin_fields(const struct api *api, const struct http_request *head, struct http_fields *out);

/* Too many calls that take long. */
void wt__api_overloaded(struct api_call *call);

#endif
