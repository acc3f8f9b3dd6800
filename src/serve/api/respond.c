/* respond.c: answers a request. Checks Host and Origin, finds the route, checks the key, and calls the route's
 * function. */
#include "serve/api/internal.h"

#include <stdio.h>

#include "base/memory.h"
#include "engine/engine.h"
#include "wire/failure.h"

static void reload_keys(struct http_api *api)
{
    struct keys *fresh = NULL, *old = NULL;
    wt_error err;
    if (!api->keys_path || !atomic_exchange(&api->keys_stale, false))
        return;
    if (wt__keys_open(&fresh, api->keys_path, &err) < 0) {
        wt__log_message(&api->options.log, LOG_LEVEL_ERROR, "cannot reload the keys, keeping the old ones: %s",
                        err.message);
        return;
    }
    pthread_rwlock_wrlock(&api->keys_lock);
    old = api->keys;
    api->keys = fresh;
    pthread_rwlock_unlock(&api->keys_lock);
    wt__keys_close(old);
}

enum scope wt__api_required_scope(const struct http_api *api, const struct route *route)
{
    return api->options.policed && route->of_tools ? SCOPE_ADMIN : route->scope;
}

unsigned wt__api_read_scopes(struct http_api *api, const struct http_request *request, char *name, char *tenant)
{
    *name = '\0';
    if (tenant)
        *tenant = '\0';
    if (!api->keys_path)
        return api->options.policed ? SCOPE_FIND | SCOPE_CALL | SCOPE_WRITE | SCOPE_USAGE | SCOPE_METRICS : SCOPE_ADMIN;
    pthread_rwlock_rdlock(&api->keys_lock);
    struct key_found found = wt__keys_find(api->keys, wt__bearer_key(wt__http_field(request, "Authorization")));
    if (found.name)
        memcpy(name, found.name, strlen(found.name) + 1);
    if (tenant && found.tenant)
        memcpy(tenant, found.tenant, strlen(found.tenant) + 1);
    pthread_rwlock_unlock(&api->keys_lock);
    return found.scopes;
}

/* Adds a header field to the response; value is copied. */
static void add_answer_field(struct api_call *call, const char *name, const char *value)
{
    char *copy = wt__arena_copy(&call->arena, wt__str(value));
    if (copy && call->field_count < API_FIELDS_MAX)
        call->fields[call->field_count++] = (struct http_field){wt__str(name), wt__str(copy)};
}

void wt__api_call_dispose(struct api_call *call)
{
    wt__tenant_hold_end(&call->hold);
    wt__buffer_dispose(&call->body);
    wt__arena_dispose(&call->arena);
}

static void answer_refusal(struct api_call *call, int status, const char *word, const char *message,
                           const char *pointer)
{
    wt__buffer_clear(&call->body);
    call->status = status;
    call->type = "application/json";
    wt__json_failure(&call->body, word, message, pointer);
}

/* Answers with an error. The client gets the message of wt__client_error. If that message omits details, the full
 * message is logged. */
static void answer_failure(const struct http_api *api, struct api_call *call, const wt_error *err)
{
    const struct failure *failure = wt__failure_of(err->code);
    wt_error told;
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", call->retry_ms / 1000 + 1);
    if (failure->again || call->retry_ms > 0)
        add_answer_field(call, "Retry-After", seconds);
    if (wt__client_error(&told, err, api->service.engine->path))
        wt__log_message(&api->options.log, LOG_LEVEL_ERROR, "%.*s: %s", (int)call->request->path.len,
                        call->request->path.ptr, err->message);
    int status = call->retry_ms > 0 ? 429 : failure->status;
    answer_refusal(call, status, failure->word, told.message, told.pointer);
}

/* Checks Host and Origin. Error messages do not repeat them, because they are untrusted text. */
static bool passes_guard(const struct http_api *api, struct api_call *call, enum origin *origin)
{
    struct str host = wt__http_field(call->request, "Host");
    if (!wt__guard_host(&api->guard, host)) {
        answer_refusal(call, 421, "host", "unknown host name in the Host field; `whichtool serve --host NAME` adds one",
                       "");
        return false;
    }
    *origin = wt__guard_origin(&api->guard, wt__http_field(call->request, "Origin"), host);
    if (*origin == ORIGIN_FOREIGN) {
        answer_refusal(call, 403, "origin", "the origin is not allowed; `whichtool serve --origin URL` allows one", "");
        return false;
    }
    return true;
}

static void add_http_field(struct http_fields *out, struct str name, struct str value)
{
    out->items[out->count++] = (struct http_field){name, value};
}

/* Adds the CORS fields for a configured origin, also to error responses. The fields must outlive the request, so they
 * point to the configured origin instead of the request's. */
static void add_origin_fields(const struct http_api *api, const struct http_request *head, struct http_fields *out)
{
    struct str origin = wt__http_field(head, "Origin"), host = wt__http_field(head, "Host");
    if (api->guard.origin_count == 0)
        return;
    add_http_field(out, STR("Vary"), STR("Origin"));
    if (!wt__guard_host(&api->guard, host) || wt__guard_origin(&api->guard, origin, host) != ORIGIN_CONFIGURED)
        return;
    for (size_t i = 0; i < api->guard.origin_count; i++)
        if (wt__str_equal(origin, wt__str(api->guard.origins[i]))) {
            add_http_field(out, STR("Access-Control-Allow-Origin"), wt__str(api->guard.origins[i]));
            add_http_field(out, STR("Access-Control-Expose-Headers"),
                           STR("Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id"));
            return;
        }
}

void wt__api_add_fields(void *context, const struct http_request *head, void *note, struct http_fields *out)
{
    struct http_api *api = context;
    struct request_trace *trace = note;
    _Static_assert(sizeof *trace <= HTTP_NOTE_BYTES, "a note holds a trace");
    wt__trace_begin(trace, &api->traces, head);
    add_http_field(out, STR("X-Request-Id"), wt__str(trace->request_id));
    add_origin_fields(api, head, out);
}

/* True if the scopes of the call permit the route; otherwise answers with an error. */
static bool permits_route(const struct http_api *api, struct api_call *call, const struct route *route)
{
    char message[128];
    enum scope needed = wt__api_required_scope(api, route);
    bool known = *call->principal != '\0'; /* the caller has a valid key */
    if (wt__scope_allows(call->scopes, needed))
        return true;
    if (!known && !api->keys_path) {
        answer_refusal(
            call, 403, "scope",
            "this path does not check the tool policy and requires a key with the scope admin: use /mcp, or create "
            "keys and serve with --keys",
            "");
        return false;
    }
    if (!known) {
        add_answer_field(call, "WWW-Authenticate", "Bearer realm=\"whichtool\"");
        bool came = wt__bearer_key(wt__http_field(call->request, "Authorization")).len > 0;
        answer_refusal(call, 401, "unauthorized",
                       came ? "unknown key" : "a key is required; send Authorization: Bearer KEY", "");
        return false;
    }
    snprintf(message, sizeof message, "the key does not have the scope %s", wt__scope_name(needed));
    answer_refusal(call, 403, "scope", message, "");
    return false;
}

/* Sets the tenant of the call: that of the key, or the one that an administrator names in a header. Returns false after
 * answering if the tenant must not or cannot be served. The messages name no other tenant. */
static bool find_tenant(const struct http_api *api, struct api_call *call)
{
    struct str named = wt__http_field(call->request, API_TENANT_FIELD);
    if (named.len == 0 && !*call->tenant)
        return true;
    if (*call->tenant && named.len > 0 && !wt__str_equal(named, wt__str(call->tenant))) {
        answer_refusal(call, 403, "tenant", "the key belongs to another tenant", "");
        return false;
    }
    if (!*call->tenant && !wt__scope_allows(call->scopes, SCOPE_ADMIN) && api->keys_path) {
        answer_refusal(call, 403, "scope", "only a key with the scope admin can name a tenant", "");
        return false;
    }
    bool own = *call->tenant;
    if (!own && wt__is_tenant_name(named))
        memcpy(call->tenant, named.ptr, named.len);
    if (api->options.tenants && *call->tenant && wt__tenants_have(api->options.tenants, call->tenant))
        return true;
    if (own)
        answer_refusal(call, 403, "tenant", "the tenant of this key does not exist", "");
    else
        answer_refusal(call, 404, "tenant", "there is no such tenant", "");
    return false;
}

/* True if a tenant may use the route. Routes that change the catalogue or record usage need a store of the
 * tenant's own. */
static bool serves_tenant(const struct http_api *api, struct api_call *call, const struct route *route)
{
    if (!*call->tenant || !(route->scope & (SCOPE_WRITE | SCOPE_USAGE)))
        return true;
    if (route->of_own && wt__tenants_own(api->options.tenants, call->tenant))
        return true;
    answer_refusal(call, 403, "tenant",
                   route->of_own
                       ? "the tenant has no store of its own; the administrator can give it one (\"own\" in the "
                         "file of tenants)"
                       : "a tenant cannot use this path",
                   "");
    return false;
}

/* Takes the engine that answers the call. */
static bool take_engine(const struct http_api *api, struct api_call *call)
{
    wt_error err;
    int rc = wt__tenant_hold_begin(&call->hold, api->options.tenants, call->tenant, api->service.engine, &err);
    call->engine = call->hold.engine;
    if (rc < 0)
        answer_failure(api, call, &err);
    return rc == 0;
}

/* Answers a CORS preflight request. */
static void answer_preflight(struct api_call *call)
{
    call->status = 204;
    call->type = NULL;
    add_answer_field(call, "Access-Control-Allow-Methods", "GET, POST, DELETE");
    add_answer_field(
        call, "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, "
        "X-Request-Id, traceparent, tracestate, " API_TENANT_FIELD);
    add_answer_field(call, "Access-Control-Max-Age", "600");
}

static void refuse_method(const struct http_api *api, struct api_call *call)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer methods = {0}, message = {0};
    wt__route_methods(&methods, &api->service, call->request->path);
    wt__buffer_printf(&message, "method not allowed; this path supports %s",
                      methods.ptr ? methods.ptr : "other methods");
    if (methods.ptr)
        add_answer_field(call, "Allow", methods.ptr);
    answer_refusal(call, 405, "method", message.ptr ? message.ptr : "", "");
}

static void run_route(const struct http_api *api, struct api_call *call, const struct route *route, bool *takes_long)
{
    wt_error err = {0};
    if (route->takes_long && !call->may_take_long) {
        *takes_long = true;
        return;
    }
    if (!route->query && call->request->query.len > 0) {
        answer_refusal(call, 400, "invalid", "this path has no query parameters", "");
        return;
    }
    call->context = route->context;
    int rc = route->verb ? wt__api_run_verb(call, route->verb, &err) : route->answer(call, &err);
    *takes_long = rc == API_TAKES_LONG;
    if (rc < 0)
        answer_failure(api, call, &err);
    else if (call->body.failed)
        answer_refusal(call, 503, "memory", "out of memory", "");
}

void wt__api_answer_overloaded(struct api_call *call)
{
    add_answer_field(call, "Retry-After", "1");
    answer_refusal(call, 503, "overloaded",
                   "too many slow calls of this client are running; try again when one has ended", "");
}

const struct route *wt__api_respond(struct http_api *api, struct api_call *call, bool *takes_long)
{
    struct str method = call->request->method;
    enum origin origin = ORIGIN_NONE;
    struct route_match match;
    *takes_long = false;
    call->service = &api->service;
    call->status = 200;
    call->type = "application/json";
    reload_keys(api);
    if (!passes_guard(api, call, &origin))
        return NULL;
    const struct route *route = wt__route_find(&api->service, call->request, &match);
    call->rest = match.rest;
    if (match.is_path_known && origin == ORIGIN_CONFIGURED && wt__str_equal(method, STR("OPTIONS"))) {
        answer_preflight(call);
        return NULL;
    }
    call->scopes = wt__api_read_scopes(api, call->request, call->principal, call->tenant);
    if (!route && match.is_path_known)
        refuse_method(api, call);
    else if (!route)
        answer_refusal(call, 404, "no_route", "unknown path; /openapi.json lists the paths", "");
    else if (permits_route(api, call, route) && find_tenant(api, call) && serves_tenant(api, call, route)) {
        if (route->take && !(*call->tenant && route->answer))
            return route;
        if (take_engine(api, call))
            run_route(api, call, route, takes_long);
    }
    return NULL;
}
