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
                            .trace = wt__http_note(job->exchange),
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
    bool reloaded = false;
    wt_error err = {0};
    double begun = wt__now_ms();
    int rc = wt__engine_reload_trained(api->service.engine, &reloaded, &err);
    if (rc < 0)
        wt__log_message(&api->options.log, LOG_LEVEL_ERROR, "%s: %s",
                        reloaded ? "reloaded the trained models, with an error"
                                 : "cannot reload the trained models, keeping the old ones",
                        err.message);
    else if (api->options.log.form != LOG_FORM_OFF && reloaded)
        wt__log_message(&api->options.log, LOG_LEVEL_INFO, "reloaded the trained models in %.0f ms",
                        wt__now_ms() - begun);
    else if (api->options.log.form != LOG_FORM_OFF)
        wt__log_message(&api->options.log, LOG_LEVEL_INFO, "the trained models have not changed");
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
    struct api_call call = {.request = wt__http_request(exchange),
                            .is_gone = exchange_is_gone,
                            .gone_context = exchange,
                            .trace = wt__http_note(exchange)};
    bool takes_long;
    reload_models(api);
    const struct route *route = wt__api_respond(api, &call, &takes_long);
    if (route) {
        route->take(route->context, exchange, &call);
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
    return wt__scope_allows(wt__api_read_scopes(api, head, name, NULL), wt__api_required_scope(api, route));
}

static bool write_holder(void *context, const struct http_request *head, char out[HTTP_HOLDER_BYTES])
{
    _Static_assert((int)HTTP_HOLDER_BYTES > (int)KEY_NAME_BYTES_MAX, "a key's name is a holder");
    wt__api_read_scopes(context, head, out, NULL);
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

/* A finished request, for the log and the exporter. */
struct finished_request {
    const struct http_record *record;
    const struct request_trace *trace; /* NULL if the input was not a request */
    const struct route *route;         /* NULL if unknown */
    size_t route_index;                /* as in struct route_match */
    const char *key, *tenant;          /* "" if unknown */
};

/* Returns the text of the request if the route has a body of fields, else an empty text. */
static struct str text_of_request(const struct finished_request *done)
{
    return done->route && done->route->body ? done->record->request->body : (struct str){0};
}

static void log_request(struct http_api *api, const struct finished_request *done)
{
    const struct log *log = &api->options.log;
    const struct request_trace *trace = done->trace;
    char trace_id[TRACE_ID_BYTES] = "";
    struct timespec now;
    struct trace_context context = wt__trace_context(trace);
    if (wt__trace_is_known(trace))
        wt__trace_id_format(trace_id, &context);
    clock_gettime(CLOCK_REALTIME, &now);
    const struct log_request line = {.record = done->record,
                                     .route = wt__metrics_route(&api->metrics, done->route_index),
                                     .key = done->key,
                                     .tenant = done->tenant,
                                     .request_id = trace ? trace->request_id : "",
                                     .trace_id = trace_id,
                                     .mcp_method = trace ? atomic_load(&trace->method) : NULL,
                                     .asked = api->options.log_requests ? text_of_request(done) : (struct str){0},
                                     .unix_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6};
    wt__buffer_clear(&api->line);
    wt__log_write_request(&api->line, log->form, &line);
    if (!api->line.failed)
        log->say(log->context, wt__buffer_view(&api->line));
}

static void copy_text(char *out, size_t room, struct str text)
{
    struct str head = text.len < room ? text : wt__str_head(text, room - 1);
    memcpy(out, head.ptr ? head.ptr : "", head.len);
    out[head.len] = '\0';
}

static void export_request(struct http_api *api, const struct finished_request *done, const struct trace_span *spans,
                           size_t span_count)
{
    const struct http_record *record = done->record;
    struct str text = api->options.otlp->has_texts ? text_of_request(done) : (struct str){0};
    struct otlp_request out = {.context = wt__trace_context(done->trace),
                               .span = done->trace->span,
                               .begun_ms = record->end_ms - record->run_ms - record->queue_ms,
                               .ended_ms = record->end_ms,
                               .queue_ms = record->queue_ms,
                               .status = record->status,
                               .bytes = record->bytes,
                               .route = done->route ? done->route->path : NULL,
                               .mcp_method = atomic_load(&done->trace->method),
                               .span_count = span_count};
    if (!out.context.is_sampled)
        return;
    copy_text(out.method, sizeof out.method, record->request->method);
    copy_text(out.path, sizeof out.path, record->request->path);
    copy_text(out.peer, sizeof out.peer, wt__str(record->peer));
    copy_text(out.key, sizeof out.key, wt__str(done->key));
    copy_text(out.request_id, sizeof out.request_id, wt__str(done->trace->request_id));
    memcpy(out.spans, spans, span_count * sizeof *spans);
    text = wt__str_head(text, OTLP_TEXT_BYTES_MAX);
    out.text = text.len > 0 ? wt__copy_string(text.ptr, text.len) : NULL;
    wt__otlp_push(api->otlp, &out);
}

static void count_request(struct metrics *metrics, const struct finished_request *done)
{
    const struct request_trace *trace = done->trace;
    const char *recipe = trace ? atomic_load_explicit(&trace->recipe, memory_order_acquire) : NULL;
    wt__metrics_count_request(metrics, done->route_index, done->record->status);
    if (recipe)
        wt__metrics_count_find(metrics, recipe);
    if (!trace || !atomic_load_explicit(&trace->is_stream, memory_order_acquire))
        wt__metrics_time_request(metrics, done->route_index, done->record->queue_ms + done->record->run_ms);
}

/* Implements http_handler.record. */
static void record_request(void *context, const struct http_record *record)
{
    struct http_api *api = context;
    char key[KEY_NAME_BYTES_MAX + 1] = "", tenant[WT_MAX_TENANT_NAME_BYTES + 1] = "";
    struct trace_span spans[TRACE_SPANS_MAX];
    size_t span_count = 0, missed = 0;
    struct route_match match = {.index = SIZE_MAX};
    struct finished_request done = {
        .record = record, .trace = record->note, .route_index = SIZE_MAX, .key = key, .tenant = tenant};
    if (record->request)
        done.route = wt__route_find(&api->service, record->request, &match);
    if (done.route)
        done.route_index = match.index;
    if (done.trace)
        span_count = wt__trace_spans(done.trace, spans, &missed);
    count_request(&api->metrics, &done);
    wt__metrics_count_spans(&api->metrics, spans, span_count, missed);
    const struct log *log = &api->options.log;
    bool logs = log->form != LOG_FORM_OFF && log->say && wt__log_level_of(record->status) >= log->level;
    bool exports = api->otlp && done.trace && !(done.route && done.route->is_probe);
    if (record->request && (logs || exports))
        wt__api_read_scopes(api, record->request, key, tenant);
    if (logs)
        log_request(api, &done);
    if (exports)
        export_request(api, &done, spans, span_count);
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
                                 .fields = wt__api_add_fields,
                                 .record = record_request,
                                 .stopping = notify_stopping,
                                 .context = api};
}

/* ---------------------------------------------------------------- life */

static int open_api_keys(struct http_api *api, wt_error *err)
{
    if (api->keys_path) {
        WT_TRY(wt__keys_open(&api->keys, api->keys_path, err));
        if (api->options.tenants || wt__keys_count_of_tenants(api->keys) == 0)
            return 0;
        return wt__fail(err, WT_EINVAL, "%s has keys of tenants, but there is no file of tenants: serve with --tenants",
                        api->keys_path);
    }
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

static void report_export_state(void *context, const char *message)
{
    const struct http_api *api = context;
    wt__log_message(&api->options.log, LOG_LEVEL_WARNING, "%s", message);
}

/* Starts the exporter if traces are to be exported. */
static int open_traces(struct http_api *api, wt_error *err)
{
    static const struct trace_sampler all = {SAMPLE_ALL, false, 1};
    const struct otlp_settings *settings = api->options.otlp;
    bool exports = settings && settings->url;
    WT_TRY(wt__trace_source_open(&api->traces, exports ? &settings->sampler : &all, exports, err));
    if (exports)
        WT_TRY(wt__otlp_open(&api->otlp, settings, report_export_state, api, err));
    api->state.otlp = api->otlp;
    return 0;
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
    pthread_mutex_init(&api->warm_lock, NULL);
    wt__steady_open(&api->warm_news);
    atomic_init(&api->state.warm, API_WARMING);
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
    if (rc == 0)
        rc = open_traces(api, err);
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

/* Waits before the next attempt. Returns false if the API is closing. */
static bool pause_warm_up(struct http_api *api, double ms)
{
    double until = wt__now_ms() + ms;
    pthread_mutex_lock(&api->warm_lock);
    while (!api->closing && wt__now_ms() < until)
        wt__steady_wait(&api->warm_news, &api->warm_lock, until);
    bool goes_on = !api->closing;
    pthread_mutex_unlock(&api->warm_lock);
    return goes_on;
}

/* Searches once, which opens the index and loads the model. An empty catalogue is fine: tools may arrive later. Fails
 * with WT_EMODEL if the engine has a model that cannot be loaded, although searches then use words only. */
static int try_engine(wt_engine *engine, wt_error *err)
{
    static const char request[] = "which tool is it";
    wt_hits *hits = NULL;
    wt_find_options options;
    wt_find_options_init(&options);
    options.k = 1;
    int rc = wt_find(engine, request, sizeof request - 1, &options, &hits, err);
    if (rc == 0 && hits->notice_codes & WT_NOTICE_NO_ENCODER && engine->model_name && *engine->model_name)
        rc = wt__fail(err, WT_EMODEL, "%s", hits->notice);
    wt_hits_free(hits);
    return rc == WT_EEMPTY ? 0 : rc;
}

static void *warm_up_engine(void *context)
{
    struct http_api *api = context;
    double begun = wt__now_ms(), pause_ms = API_WARM_PAUSE_MS;
    wt_error err;
    for (bool first = true;; first = false) {
        int rc = try_engine(api->service.engine, &err);
        if (rc == 0 && api->options.tenants)
            wt__tenants_prepare(api->options.tenants, NULL);
        atomic_store(&api->state.warm, rc);
        if (rc < 0 && first)
            wt__log_message(&api->options.log, LOG_LEVEL_ERROR, "not ready: %s", err.message);
        if (rc == 0 && api->options.ready)
            api->options.ready(api->options.ready_context, wt__now_ms() - begun);
        if (rc == 0 || !pause_warm_up(api, pause_ms))
            return NULL;
        pause_ms = 2 * pause_ms < API_WARM_PAUSE_MS_MAX ? 2 * pause_ms : API_WARM_PAUSE_MS_MAX;
    }
}

void wt__api_warm_up(struct http_api *api)
{
    api->warms = pthread_create(&api->warming, NULL, warm_up_engine, api) == 0;
    if (!api->warms)
        atomic_store(&api->state.warm, try_engine(api->service.engine, NULL));
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
    pthread_mutex_lock(&api->warm_lock);
    api->closing = true;
    pthread_cond_broadcast(&api->warm_news);
    pthread_mutex_unlock(&api->warm_lock);
    if (api->warms)
        pthread_join(api->warming, NULL);
    wt__otlp_close(api->otlp);
    wt__buffer_dispose(&api->line);
    wt__keys_close(api->keys);
    pthread_rwlock_destroy(&api->keys_lock);
    pthread_mutex_destroy(&api->long_lock);
    pthread_cond_destroy(&api->long_ended);
    pthread_mutex_destroy(&api->warm_lock);
    pthread_cond_destroy(&api->warm_news);
    wt__shares_close(&api->long_shares);
    free(api);
}
