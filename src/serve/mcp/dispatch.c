/* dispatch.c: turns a message into a call. Checks the request in this order: headers, revision, method, name, other
 * parameters. The first error is the answer. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/clock.h"
#include "serve/mcp/internal.h"

static bool refuse_request(struct mcp_call *call, int code, const char *words)
{
    wt__mcp_refuse(call, code, "%s", words);
    if (call->is_modern && code == MCP_INVALID_PARAMS)
        call->status = 400;
    return false;
}

static bool refuse_version(struct mcp_call *call, const json_t *version)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer data = {0};
    wt__buffer_text(&data, "{\"supported\":");
    wt__mcp_write_versions(&data);
    wt__buffer_text(&data, ",\"requested\":");
    wt__json_write(&data, version);
    wt__buffer_char(&data, '}');
    wt__mcp_refuse_with(call, MCP_UNSUPPORTED_VERSION, STR("unsupported protocol revision"), wt__buffer_view(&data));
    return false;
}

static bool refuse_headers(struct mcp_call *call, struct str words)
{
    wt__mcp_refuse_with(call, MCP_HEADER_MISMATCH, words, STR(""));
    return false;
}

static bool check_headers(struct mcp_call *call, const json_t *version)
{
    const struct mcp_method *method = wt__mcp_find_method(call->in.method);
    const json_t *name = method && method->may_ask ? json_object_get(call->in.params, method->name_member) : NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    if (!call->headers)
        return true;
    if (!wt__str_equal(call->headers->version, wt__str(json_string_value(version))))
        return refuse_headers(call, call->headers->version.len == 0
                                        ? STR("the header MCP-Protocol-Version is missing")
                                        : STR("the header MCP-Protocol-Version differs from _meta"));
    if (!wt__str_equal(call->headers->version, STR(MCP_MODERN_VERSION)))
        return true; /* read_meta refuses the revision later */
    bool match = wt__mcp_headers_match(call->headers, call->in.method, name, &words);
    if (!match)
        refuse_headers(call, wt__buffer_view(&words));
    return match;
}

/* Reads the members of _meta that describe the client of a modern request, and checks the headers against them. */
static bool read_meta(struct mcp_call *call)
{
    const json_t *meta = wt__mcp_incoming_meta(&call->in);
    const json_t *version = json_object_get(meta, MCP_META "protocolVersion");
    const json_t *capabilities = wt__json_object(meta, MCP_META "clientCapabilities");
    const json_t *client = json_object_get(meta, MCP_META "clientInfo");
    const json_t *level = json_object_get(meta, MCP_META "logLevel");
    if (!json_is_string(version))
        return refuse_request(call, MCP_INVALID_PARAMS, "params._meta has no " MCP_META "protocolVersion");
    if (!capabilities)
        return refuse_request(call, MCP_INVALID_PARAMS, "params._meta has no " MCP_META "clientCapabilities");
    if (client && !json_is_object(client))
        return refuse_request(call, MCP_INVALID_PARAMS, MCP_META "clientInfo is not an object");
    if (!check_headers(call, version))
        return false;
    if (!wt__str_equal(wt__str(json_string_value(version)), STR(MCP_MODERN_VERSION)))
        return refuse_version(call, version);
    call->level = level ? wt__mcp_level(wt__json_str(meta, MCP_META "logLevel")) : MCP_EMERGENCY + 1;
    if (call->level < 0)
        return refuse_request(call, MCP_INVALID_PARAMS, MCP_META "logLevel is not a log level");
    call->capabilities = capabilities;
    call->client = client;
    return true;
}

/* Takes the client's description from the session of a legacy request. Returns false, with an error set, if the session
 * is not open. The methods initialize and ping need no open session. */
static bool read_session(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    bool first = wt__str_equal(call->in.method, STR("initialize")) || wt__str_equal(call->in.method, STR("ping"));
    pthread_mutex_lock(&peer->lock);
    bool opened = peer->is_open;
    call->level = peer->level;
    call->client = peer->client;
    call->capabilities = peer->capabilities;
    pthread_mutex_unlock(&peer->lock);
    return opened || first ||
           refuse_request(call, MCP_INVALID_PARAMS,
                          "no session: send initialize first, or params._meta with " MCP_META "protocolVersion");
}

static bool find_method(struct mcp_call *call)
{
    const struct mcp_method *method = wt__mcp_find_method(call->in.method);
    if (!method || !(method->eras & (call->is_modern ? MCP_MODERN_ERA : MCP_LEGACY_ERA)) ||
        !wt__mcp_is_offered(&call->service->features, method->group))
        return refuse_request(call, MCP_METHOD_NOT_FOUND, "unknown method");
    call->method = method;
    wt__trace_adopt(call->channel->trace, method->name, wt__json_str(wt__mcp_incoming_meta(&call->in), "traceparent"));
    return true;
}

static bool read_params(struct mcp_call *call)
{
    const json_t *arguments = json_object_get(call->in.params, "arguments");
    const char *member = call->method->name_member;
    if (member) {
        call->name = wt__json_str(call->in.params, member);
        if (call->name.len == 0 || call->name.len > MCP_NAME_BYTES_MAX) {
            wt__mcp_refuse(call, MCP_INVALID_PARAMS, "params.%s must be a string of 1 to %d bytes", member,
                           MCP_NAME_BYTES_MAX);
            return false;
        }
    }
    if (call->in.fault.len > 0)
        return refuse_request(call, MCP_INVALID_PARAMS, call->in.fault.ptr);
    if (arguments && !json_is_object(arguments) && !json_is_null(arguments))
        return refuse_request(call, MCP_INVALID_PARAMS, "params.arguments is not an object");
    if (json_is_object(arguments))
        call->arguments = wt__mcp_incoming_text(&call->in, "arguments");
    return true;
}

static bool check_request(struct mcp_call *call)
{
    return (call->is_modern ? read_meta(call) : read_session(call)) && find_method(call) && read_params(call) &&
           (!call->method->may_ask || wt__mcp_read_responses(call));
}

/* Links the call to its peer and channel, so that either can cancel it. */
static bool link_call(struct mcp_call *call)
{
    struct mcp_peer *peer = call->peer;
    pthread_mutex_lock(&peer->lock);
    bool room = peer->running_count < MCP_RUNNING_MAX && !peer->is_closed;
    if (room) {
        call->next = peer->running;
        if (call->next)
            call->next->before = call;
        peer->running = call;
        peer->running_count++;
    }
    pthread_mutex_unlock(&peer->lock);
    if (!room) /* or the session has ended meanwhile */
        return refuse_request(call, MCP_INTERNAL_ERROR, "too many running requests of this client");
    pthread_mutex_lock(&call->channel->lock);
    call->channel->call = call;
    bool gone = call->channel->gone;
    pthread_mutex_unlock(&call->channel->lock);
    if (gone)
        wt__mcp_call_cancel(call);
    return true;
}

/* Placeholder method for error responses before the method is known. */
static const struct mcp_method no_method = {
    .name = "", .eras = MCP_BOTH_ERAS, .shape = MCP_SHAPE_EMPTY, .is_quick = true};

static struct mcp_call *create_call(struct mcp_service *service, struct mcp_peer *peer, struct mcp_channel *channel)
{
    struct mcp_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    pthread_mutex_init(&call->lock, NULL);
    wt__steady_open(&call->news);
    atomic_init(&call->cancelled, false);
    wt__mcp_peer_keep(peer);
    wt__mcp_channel_keep(channel);
    call->service = service;
    call->peer = peer;
    call->channel = channel;
    call->method = &no_method;
    call->name = (struct str){"", 0};
    call->arguments = STR("{}");
    return call;
}

/* Copies the headers to pass on to upstream servers. Returns false if out of memory. */
static bool copy_passed_headers(struct mcp_call *call, const struct mcp_headers *headers)
{
    struct str value;
    size_t count = 0;
    while (headers && headers->passed && headers->passed[count])
        count++;
    call->passed = count > 0 ? wt__arena_array(&call->arena, struct http_header, count) : NULL;
    for (size_t i = 0; call->passed && i < count; i++) {
        if (!headers->field(headers, wt__str(headers->passed[i]), &value))
            continue;
        const char *copy = wt__arena_copy(&call->arena, value);
        if (!copy)
            return false;
        call->passed[call->passed_count++] = (struct http_header){headers->passed[i], copy};
    }
    return count == 0 || call->passed;
}

struct mcp_call *wt__mcp_call_begin(struct mcp_service *service, struct mcp_peer *peer, struct mcp_channel *channel,
                                    struct mcp_incoming *in, bool modern, const struct mcp_headers *headers)
{
    struct mcp_call *call = create_call(service, peer, channel);
    if (!call) {
        wt__mcp_incoming_dispose(in);
        wt__mcp_channel_answer(channel, 503, STR(""));
        return NULL;
    }
    call->in = *in;
    *in = (struct mcp_incoming){.method = {"", 0}};
    call->is_modern = modern;
    call->headers = headers;
    if (!copy_passed_headers(call, headers))
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
    else if (check_request(call) && link_call(call) &&
             (wt__mcp_is_cancelled(call) || !call->method->prepare || call->method->prepare(call)))
        return call;
    wt__mcp_call_finish(call);
    return NULL;
}

void wt__mcp_handle_other_message(struct mcp_service *service, struct mcp_peer *peer, const struct mcp_incoming *in)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    if (in->kind == MCP_IN_RESPONSE)
        wt__mcp_peer_deliver_response(peer, in->message);
    if (in->kind != MCP_IN_NOTIFICATION || !wt__str_equal(in->method, STR("notifications/cancelled")))
        return;
    wt__mcp_write_id(&id, wt__mcp_incoming_text(in, "requestId"));
    if (!id.failed && id.len > 0 && !wt__mcp_unlisten(service, peer, wt__buffer_view(&id)))
        wt__mcp_peer_cancel(peer, wt__buffer_view(&id));
}
