/* api.c: opens and closes the API, connects it to the HTTP server, and runs slow calls on threads of their own. */
#include "serve/api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/engine.h"

/* Holder name for background reloads of models. Never a key's name: key names cannot contain '#'. */
#define THE_SERVER "#server"

/* ---------------------------------------------------------------- slow calls */

static bool exchange_is_gone(const void *context)
{
    return wt__http_is_gone(context);
}

static void send_answer(struct http_exchange *exchange, struct api_call *call)
{
    wt__http_answer(exchange, call->status, call->type, call->fields, call->field_count, wt__buffer_view(&call->body));
    wt__api_call_dispose(call);
}

/* Reserves one of the API_LONG_MAX places for slow work. holder: a key's name, or THE_SERVER. Returns false if the
 * holder's share is used up. */
static bool reserve_long_place(struct http_api *api, const char *holder)
{
    pthread_mutex_lock(&api->long_lock);
    bool taken = wt__shares_take(&api->long_shares, api->keys_path ? holder : NULL, 1);
    api->long_running += taken;
    pthread_mutex_unlock(&api->long_lock);
    return taken;
}

static void release_long_place(struct http_api *api, const char *holder)
{
    pthread_mutex_lock(&api->long_lock);
    wt__shares_give(&api->long_shares, api->keys_path ? holder : NULL, 1);
    api->long_running--;
    pthread_cond_broadcast(&api->long_ended);
    pthread_mutex_unlock(&api->long_lock);
}

/* Starts a detached thread. Returns false on failure. */
static bool start_detached_thread(void *(*run)(void *context), void *context)
{
    pthread_t thread;
    pthread_attr_t detached;
    if (pthread_attr_init(&detached) != 0)
        return false;
    bool begun = pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0 &&
                 pthread_create(&thread, &detached, run, context) == 0;
    pthread_attr_destroy(&detached);
    return begun;
}

struct long_call {
    struct http_api *api;
    struct http_exchange *exchange;
    char principal[KEY_NAME_BYTES_MAX + 1];
};

static void *run_long_call(void *context)
{
    struct long_call *job = context;
    struct http_api *api = job->api;
    struct api_call call = {.request = wt__http_request(job->exchange),
                            .is_gone = exchange_is_gone,
                            .gone_context = job->exchange,
                            .may_take_long = true};
    bool takes_long;
    wt__api_respond(api, &call, &takes_long);
    send_answer(job->exchange, &call);
    wt__http_release(job->exchange);
    release_long_place(api, job->principal);
    free(job);
    return NULL;
}

/* Moves the exchange to a thread of its own. Returns false if the key's share of slow calls is used up, or on
 * failure. */
static bool start_long_call(struct http_api *api, struct http_exchange *exchange, const char *principal)
{
    struct long_call *job = calloc(1, sizeof *job);
    if (!job || !reserve_long_place(api, principal)) {
        free(job);
        return false;
    }
    *job = (struct long_call){.api = api, .exchange = exchange};
    snprintf(job->principal, sizeof job->principal, "%s", principal);
    wt__http_keep(exchange);
    if (start_detached_thread(run_long_call, job))
        return true;
    wt__http_release(exchange);
    release_long_place(api, principal);
    free(job);
    return false;
}

static void *run_model_reload(void *context)
{
    struct http_api *api = context;
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    bool reloaded = false;
    wt_error err = {0};
    double begun = wt__now_ms();
    int rc = wt__engine_reload_trained(api->service.engine, &reloaded, &err);
    if (rc < 0)
        wt__buffer_printf(&line, "whichtool: %s: %s\n",
                          reloaded ? "reloaded the trained models, with an error"
                                   : "cannot reload the trained models, keeping the old ones",
                          err.message);
    else if (reloaded && api->options.access != ACCESS_OFF)
        wt__buffer_printf(&line, "whichtool: reloaded the trained models in %.0f ms\n", wt__now_ms() - begun);
    if (line.len > 0 && api->options.say && !line.failed)
        api->options.say(api->options.say_context, wt__buffer_view(&line));
    release_long_place(api, THE_SERVER);
    return NULL;
}

/* Starts a reload of the trained models in the background if wt__api_reload has requested it. Loading a model takes
 * about a second, and loading an index may take longer. */
static void reload_models(struct http_api *api)
{
    if (!atomic_load(&api->models_stale) || !reserve_long_place(api, THE_SERVER))
        return;
    if (!atomic_exchange(&api->models_stale, false)) { /* another request has started the reload */
        release_long_place(api, THE_SERVER);
    } else if (!start_detached_thread(run_model_reload, api)) {
        atomic_store(&api->models_stale, true);
        release_long_place(api, THE_SERVER);
    }
}

static void answer_exchange(void *context, struct http_exchange *exchange)
{
    struct http_api *api = context;
    struct api_call call = {
        .request = wt__http_request(exchange), .is_gone = exchange_is_gone, .gone_context = exchange};
    bool takes_long;
    reload_models(api);
    const struct route *route = wt__api_respond(api, &call, &takes_long);
    if (route) {
        route->take(route->context, exchange, call.principal, call.scopes);
        wt__api_call_dispose(&call);
        return;
    }
    if (takes_long) {
        wt__api_call_dispose(&call);
        if (start_long_call(api, exchange, call.principal))
            return;
        call = (struct api_call){0};
        wt__api_answer_overloaded(&call);
    }
    send_answer(exchange, &call);
}

static bool is_permitted(struct http_api *api, const struct http_request *head, const struct route *route, char *name)
{
    return wt__scope_allows(wt__api_read_scopes(api, head, name), wt__api_required_scope(api, route));
}

static bool write_holder(void *context, const struct http_request *head, char out[HTTP_HOLDER_BYTES])
{
    _Static_assert((int)HTTP_HOLDER_BYTES > (int)KEY_NAME_BYTES_MAX, "a key's name is a holder");
    wt__api_read_scopes(context, head, out);
    return ((const struct http_api *)context)->keys_path;
}

/* Implements http_handler.refuse. Refuses an unauthorised request with a long body before the body is read. A short
 * body is read, so that the response can explain the error. */
static int refuse_head(void *context, const struct http_request *head)
{
    struct http_api *api = context;
    char name[KEY_NAME_BYTES_MAX + 1];
    struct str length = wt__http_field(head, "Content-Length");
    const struct route *route = wt__route_find(&api->service, head, NULL);
    if (!route || length.len < API_STRANGER_DIGITS || is_permitted(api, head, route, name))
        return 0;
    return *name ? 403 : 401;
}

/* Returns the maximum size of the request's body in bytes: the route's limit, or API_STRANGER_BYTES if the route is
 * unknown or the request is unauthorised. */
static size_t limit_body(void *context, const struct http_request *head)
{
    struct http_api *api = context;
    char name[KEY_NAME_BYTES_MAX + 1];
    const struct route *route = wt__route_find(&api->service, head, NULL);
    return route && is_permitted(api, head, route, name) ? route->body_max : API_STRANGER_BYTES;
}

static void record_request(void *context, const struct http_record *record)
{
    struct http_api *api = context;
    char name[KEY_NAME_BYTES_MAX + 1] = "";
    struct route_match match;
    const struct route *route = record->request ? wt__route_find(&api->service, record->request, &match) : NULL;
    wt__metrics_count_request(&api->metrics, route ? match.index : SIZE_MAX, record->status,
                              record->queue_ms + record->run_ms);
    if (api->options.access == ACCESS_OFF || !api->options.say)
        return;
    if (record->request)
        wt__api_read_scopes(api, record->request, name);
    bool asked = api->options.access_requests && route && route->body;
    const struct access access = {record, name, asked ? record->request->body : (struct str){0}, (long long)time(NULL)};
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0};
    (api->options.access == ACCESS_JSON ? wt__access_json : wt__access_text)(&line, &access);
    if (!line.failed)
        api->options.say(api->options.say_context, wt__buffer_view(&line));
}

static void notify_stopping(void *context)
{
    const struct http_api *api = context;
    if (api->options.stopping)
        api->options.stopping(api->options.stopping_context);
}

struct http_handler wt__api_handler(struct http_api *api)
{
    return (struct http_handler){.answer = answer_exchange,
                                 .body_max = limit_body,
                                 .refuse = refuse_head,
                                 .holder = write_holder,
                                 .fields = wt__api_add_origin_fields,
                                 .record = record_request,
                                 .stopping = notify_stopping,
                                 .context = api};
}

/* ---------------------------------------------------------------- life */

static int open_api_keys(struct http_api *api, wt_error *err)
{
    if (api->keys_path)
        return wt__keys_open(&api->keys, api->keys_path, err);
    if (wt__is_loopback_address(api->guard.listen))
        return 0;
    return wt__fail(err, WT_EINVAL,
                    "other machines can reach %s, so keys are required: create a key with `whichtool serve --keys FILE "
                    "--new-key NAME`, and serve with --keys FILE",
                    api->guard.listen);
}

/* Sets the metric labels in the order of wt__route_find's index. The label is the route's name: a path alone is not
 * unique. */
static void label_routes(struct http_api *api)
{
    for (size_t t = 0; t < api->service.table_count; t++)
        for (size_t i = 0; i < api->tables[t].count && api->metrics.route_count < METRICS_ROUTES; i++)
            api->metrics.routes[api->metrics.route_count++] = api->tables[t].items[i].name;
}

int wt__api_open(struct http_api **out, const struct api_options *options, wt_error *err)
{
    struct http_api *api = calloc(1, sizeof *api);
    *out = NULL;
    WT_CHECK_ALLOC(api, err);
    api->options = *options;
    api->guard = options->guard;
    api->keys_path = options->keys_path;
    pthread_rwlock_init(&api->keys_lock, NULL);
    pthread_mutex_init(&api->long_lock, NULL);
    pthread_cond_init(&api->long_ended, NULL);
    wt__shares_open(&api->long_shares, API_LONG_MAX);
    api->state.started = (long long)time(NULL);
    api->tables[0] = wt__api_routes;
    for (size_t i = 0; i < options->more_count && i < API_MORE_MAX; i++)
        api->tables[1 + i] = options->more[i];
    api->service =
        (struct api_service){.state = &api->state,
                             .engine = options->engine,
                             .metrics = &api->metrics,
                             .time_limit_ms = options->time_limit_ms ? options->time_limit_ms : API_TIME_LIMIT_MS,
                             .language_model = options->language_model,
                             .tables = api->tables,
                             .table_count = 1 + options->more_count};
    label_routes(api);
    int rc = options->more_count > API_MORE_MAX
                 ? wt__fail(err, WT_EINVAL, "more than %d modules add routes", API_MORE_MAX)
                 : open_api_keys(api, err);
    if (rc < 0)
        wt__api_close(api);
    else
        *out = api;
    return rc;
}

void wt__api_set_server(struct http_api *api, const struct http_server *server)
{
    api->state.server = server;
}

static void *warm_up_engine(void *context)
{
    static const char request[] = "which tool is it";
    struct http_api *api = context;
    double begun = wt__now_ms();
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = 1;
    wt_find(api->service.engine, request, sizeof request - 1, &options, &hits, NULL); /* searches will report errors */
    wt_hits_free(hits);
    atomic_store(&api->state.ready, true);
    if (api->options.ready)
        api->options.ready(api->options.ready_context, wt__now_ms() - begun);
    return NULL;
}

void wt__api_warm_up(struct http_api *api)
{
    api->warms = pthread_create(&api->warming, NULL, warm_up_engine, api) == 0;
    if (!api->warms)
        atomic_store(&api->state.ready, true);
}

size_t wt__api_count_keys(const struct http_api *api)
{
    return api->keys ? wt__keys_count(api->keys) : 0;
}

size_t wt__api_count_find_only_keys(const struct http_api *api)
{
    return api->keys ? wt__keys_count_find_only(api->keys) : 0;
}

void wt__api_reload(struct http_api *api)
{
    atomic_store(&api->keys_stale, true);
    atomic_store(&api->models_stale, true);
}

void wt__api_wait_for_calls(struct http_api *api)
{
    pthread_mutex_lock(&api->long_lock);
    while (api->long_running > 0)
        pthread_cond_wait(&api->long_ended, &api->long_lock);
    pthread_mutex_unlock(&api->long_lock);
}

void wt__api_close(struct http_api *api)
{
    if (!api)
        return;
    if (api->warms)
        pthread_join(api->warming, NULL);
    wt__keys_close(api->keys);
    pthread_rwlock_destroy(&api->keys_lock);
    pthread_mutex_destroy(&api->long_lock);
    pthread_cond_destroy(&api->long_ended);
    wt__shares_close(&api->long_shares);
    free(api);
}
