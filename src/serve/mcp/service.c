/* service.c: change notices, and opening and closing a service.
 *
 * A modern client keeps a request open (subscriptions/listen) and selects the notices that it wants. A legacy client
 * gets all list changes and the updates of its subscribed resources on its general stream. */
#include "serve/mcp/service.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/clock.h"
#include "serve/mcp/internal.h"

/* Members of params.notifications, indexed by enum mcp_change. */
static const char *const change_wishes[] = {"toolsListChanged", "resourcesListChanged", "promptsListChanged"};

/* ---------------------------------------------------------------- listeners */

/* Removes the listener *at from the list and returns it. Call with notice_lock held. */
static struct mcp_listener *unlink_listener(struct mcp_service *service, struct mcp_listener **at)
{
    struct mcp_listener *listener = *at;
    *at = listener->next;
    service->listener_count--;
    wt__shares_give(&service->listening, listener->peer->holder, 1);
    return listener;
}

static void free_listener(struct mcp_listener *listener)
{
    for (size_t i = 0; i < listener->uri_count; i++)
        free(listener->uris[i]);
    free(listener->uris);
    wt__buffer_dispose(&listener->id);
    wt__mcp_channel_release(listener->channel);
    wt__mcp_peer_release(listener->peer);
    free(listener);
}

/* Appends the object `params` with its member _meta, without the closing brace. */
static void begin_params(struct buffer *out, const struct mcp_listener *listener)
{
    wt__buffer_text(out, "{\"_meta\":{\"" MCP_META "subscriptionId\":");
    wt__buffer_str(out, wt__buffer_view(&listener->id));
    wt__buffer_char(out, '}');
}

static void begin_notification(struct buffer *out, const char *method)
{
    wt__buffer_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"", method);
}

/* Sends the message and empties the buffer. */
static bool send_and_clear(struct mcp_channel *channel, struct buffer *message)
{
    bool sent = !message->failed && wt__mcp_channel_send(channel, wt__buffer_view(message));
    wt__buffer_clear(message);
    return sent;
}

/* Copies the wanted changes and resources from the request. Skips changes and resources that the service does not
 * offer. Returns false if out of memory. */
static bool read_subscriptions(struct mcp_listener *listener, const struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    const bool offered[] = {features->tools.list, features->resources.list, features->prompts.list};
    const json_t *wishes = wt__json_object(call->in.params, "notifications");
    const json_t *uris = wt__json_array(wishes, "resourceSubscriptions");
    size_t count = features->resources.list && features->resources.watched ? json_array_size(uris) : 0;
    for (size_t i = 0; i < 3; i++)
        listener->changes[i] = offered[i] && features->changes && wt__json_bool(wishes, change_wishes[i], false);
    if (count > MCP_SUBSCRIPTIONS_MAX)
        count = MCP_SUBSCRIPTIONS_MAX; /* the acknowledgement lists the accepted resources */
    listener->uris = wt__alloc_array(count, sizeof *listener->uris);
    if (!listener->uris)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *uri = json_array_get(uris, i);
        if (!json_is_string(uri) || json_string_length(uri) > MCP_NAME_BYTES_MAX)
            continue;
        char *copy = wt__copy_string(json_string_value(uri), json_string_length(uri));
        if (!copy)
            return false;
        listener->uris[listener->uri_count++] = copy;
    }
    return true;
}

static bool send_acknowledgement(const struct mcp_listener *listener)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    const char *comma = "";
    begin_notification(&message, "notifications/subscriptions/acknowledged");
    wt__buffer_text(&message, ",\"params\":");
    begin_params(&message, listener);
    wt__buffer_text(&message, ",\"notifications\":{");
    for (size_t i = 0; i < 3; i++) {
        if (!listener->changes[i])
            continue;
        wt__buffer_printf(&message, "%s\"%s\":true", comma, change_wishes[i]);
        comma = ",";
    }
    for (size_t i = 0; i < listener->uri_count; i++) {
        if (i == 0)
            wt__buffer_printf(&message, "%s\"resourceSubscriptions\":[", comma);
        else
            wt__buffer_char(&message, ',');
        wt__buffer_json(&message, wt__str(listener->uris[i]));
    }
    wt__buffer_text(&message, listener->uri_count > 0 ? "]}}}" : "}}}");
    return send_and_clear(listener->channel, &message);
}

/* Acknowledges the listener and adds it to the list. Returns false if the acknowledgement cannot be sent, or, with an
 * error set, if the client's share is used up or the service is stopping. */
static bool link_listener(struct mcp_call *call, struct mcp_listener *listener)
{
    struct mcp_service *service = call->service;
    const char *holder = call->peer->holder;
    pthread_mutex_lock(&service->notice_lock);
    bool room = !atomic_load(&service->stopping) && wt__shares_take(&service->listening, holder, 1);
    bool sent = room && send_acknowledgement(listener);
    if (sent) {
        listener->next = service->listeners;
        service->listeners = listener;
        service->listener_count++;
    } else if (room) {
        wt__shares_give(&service->listening, holder, 1);
    }
    pthread_mutex_unlock(&service->notice_lock);
    if (!room && atomic_load(&service->stopping))
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the server is shutting down");
    else if (!room)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR,
                       "this client has %zu open notice streams, its share of %d; close one first",
                       wt__shares_of(&service->listening, holder), MCP_LISTENERS_MAX);
    return sent;
}

/* Starts watching the listener's resources. Removes the resources that cannot be watched, so that they are not
 * acknowledged. */
static void watch_uris(struct mcp_call *call, struct mcp_listener *listener)
{
    const struct mcp_features *features = &call->service->features;
    size_t kept = 0;
    if (!features->resources.watch)
        return;
    for (size_t i = 0; i < listener->uri_count; i++) {
        if (features->resources.watch(features->context, call, wt__str(listener->uris[i]), NULL))
            listener->uris[kept++] = listener->uris[i];
        else
            free(listener->uris[i]);
    }
    listener->uri_count = kept;
}

bool wt__mcp_run_listen(struct mcp_call *call)
{
    struct mcp_listener *listener = calloc(1, sizeof *listener);
    if (!wt__json_object(call->in.params, "notifications")) {
        wt__mcp_refuse(call, MCP_INVALID_PARAMS, "params.notifications is missing or not an object");
        free(listener);
        return false;
    }
    if (listener)
        wt__buffer_str(&listener->id, wt__buffer_view(&call->in.id));
    if (!listener || listener->id.failed || !read_subscriptions(listener, call)) {
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
        if (listener)
            free_listener(listener);
        return false;
    }
    wt__mcp_channel_keep(call->channel);
    wt__mcp_peer_keep(call->peer);
    listener->channel = call->channel;
    listener->peer = call->peer;
    watch_uris(call, listener);
    wt__trace_note_stream(wt__mcp_call_trace(call));
    if (!link_listener(call, listener)) { /* on success, another thread may free the listener */
        free_listener(listener);
        return false;
    }
    pthread_mutex_lock(&call->channel->lock);
    call->channel->call = NULL;
    pthread_mutex_unlock(&call->channel->lock);
    wt__mcp_channel_release(call->channel);
    call->channel = NULL;
    return false;
}

/* Ends the listener's request with a result. On a shared channel also sends a cancel notification, because the
 * specification names both forms. */
static void send_final_result(struct mcp_service *service, const struct mcp_listener *listener)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    if (listener->channel->is_shared) {
        begin_notification(&message, "notifications/cancelled");
        wt__buffer_text(&message, ",\"params\":{\"requestId\":");
        wt__buffer_str(&message, wt__buffer_view(&listener->id));
        wt__buffer_text(&message, "}}");
        send_and_clear(listener->channel, &message);
    }
    wt__buffer_printf(&message, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\",\"_meta\":{",
                      listener->id.ptr);
    wt__buffer_printf(&message, "\"" MCP_META "subscriptionId\":%s,\"" MCP_META "serverInfo\":", listener->id.ptr);
    wt__mcp_write_server_info(&message, &service->features, false);
    wt__buffer_text(&message, "}}}");
    wt__mcp_channel_answer(listener->channel, 200, message.failed ? STR("") : wt__buffer_view(&message));
}

bool wt__mcp_unlisten(struct mcp_service *service, const struct mcp_peer *peer, struct str id)
{
    bool found = false;
    pthread_mutex_lock(&service->notice_lock);
    for (struct mcp_listener **at = &service->listeners, *listener; (listener = *at);) {
        if (listener->peer != peer || !wt__str_equal(wt__buffer_view(&listener->id), id)) {
            at = &listener->next;
            continue;
        }
        unlink_listener(service, at);
        found = true;
        wt__mcp_channel_answer(listener->channel, 200, STR(""));
        free_listener(listener);
    }
    pthread_mutex_unlock(&service->notice_lock);
    return found;
}

void wt__mcp_end_listeners(struct mcp_service *service, const struct mcp_peer *peer)
{
    pthread_mutex_lock(&service->notice_lock);
    for (struct mcp_listener **at = &service->listeners, *listener; (listener = *at);) {
        if (peer && listener->peer != peer) {
            at = &listener->next;
            continue;
        }
        unlink_listener(service, at);
        send_final_result(service, listener);
        free_listener(listener);
    }
    pthread_mutex_unlock(&service->notice_lock);
}

void wt__mcp_drop_gone_listeners(struct mcp_service *service)
{
    pthread_mutex_lock(&service->notice_lock);
    for (struct mcp_listener **at = &service->listeners, *listener; (listener = *at);) {
        if (!listener->channel->is_gone(listener->channel)) {
            at = &listener->next;
            continue;
        }
        unlink_listener(service, at);
        free_listener(listener);
    }
    pthread_mutex_unlock(&service->notice_lock);
}

/* ---------------------------------------------------------------- sending notices */

static bool has_uri(char *const *uris, size_t count, struct str uri)
{
    for (size_t i = 0; i < count; i++)
        if (wt__str_equal(wt__str(uris[i]), uri))
            return true;
    return false;
}

/* Writes a notice. listener: NULL for legacy clients; uri: empty for a list change. */
static void write_change_notice(struct buffer *out, const struct mcp_listener *listener, const char *method,
                                struct str uri)
{
    begin_notification(out, method);
    if (listener || uri.len > 0)
        wt__buffer_text(out, ",\"params\":");
    if (listener)
        begin_params(out, listener);
    if (uri.len > 0) {
        wt__buffer_text(out, listener ? ",\"uri\":" : "{\"uri\":");
        wt__buffer_json(out, uri);
    }
    wt__buffer_text(out, listener || uri.len > 0 ? "}}" : "}");
}

/* Returns the general streams, [*count], of legacy clients that want this notice, with a reference to each. NULL if no
 * client wants it, or if out of memory. Free the array with free(). */
static struct mcp_channel **collect_legacy_streams(struct mcp_service *service, struct str uri, size_t *count)
{
    struct mcp_channel **streams = NULL;
    size_t capacity = 0;
    *count = 0;
    pthread_mutex_lock(&service->lock);
    for (struct mcp_peer *peer = service->peers; peer; peer = peer->next) {
        pthread_mutex_lock(&peer->lock);
        if (peer->is_open && peer->stream && (uri.len == 0 || has_uri(peer->watched, peer->watched_count, uri)) &&
            wt__grow((void **)&streams, &capacity, *count + 1, sizeof(struct mcp_channel *)) == 0) {
            wt__mcp_channel_keep(peer->stream);
            streams[(*count)++] = peer->stream;
        }
        pthread_mutex_unlock(&peer->lock);
    }
    pthread_mutex_unlock(&service->lock);
    return streams;
}

static void notify_legacy_clients(struct mcp_service *service, const char *method, struct str uri)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    size_t count;
    struct mcp_channel **streams = collect_legacy_streams(service, uri, &count);
    for (size_t i = 0; i < count; i++) {
        write_change_notice(&message, NULL, method, uri);
        send_and_clear(streams[i], &message);
        wt__mcp_channel_release(streams[i]);
    }
    free(streams);
}

/* Notifies all interested clients of an update of the resource, or of a change of a list if uri is empty. */
static void notify_clients(struct mcp_service *service, const char *method, enum mcp_change change, struct str uri)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    pthread_mutex_lock(&service->notice_lock);
    for (const struct mcp_listener *listener = service->listeners; listener; listener = listener->next) {
        if (uri.len > 0 ? !has_uri(listener->uris, listener->uri_count, uri) : !listener->changes[change])
            continue;
        write_change_notice(&message, listener, method, uri);
        send_and_clear(listener->channel, &message);
    }
    pthread_mutex_unlock(&service->notice_lock);
    notify_legacy_clients(service, method, uri);
}

void wt__mcp_service_changed(struct mcp_service *service, enum mcp_change change)
{
    static const char *const methods[] = {"notifications/tools/list_changed", "notifications/resources/list_changed",
                                          "notifications/prompts/list_changed"};
    if (service->features.changes)
        notify_clients(service, methods[change], change, STR(""));
}

void wt__mcp_service_resource_updated(struct mcp_service *service, struct str uri)
{
    if (service->features.resources.watched && uri.len > 0)
        notify_clients(service, "notifications/resources/updated", MCP_RESOURCES_CHANGED, uri);
}

/* ---------------------------------------------------------------- opening and closing */

static int check_features(const struct mcp_features *features, wt_error *err)
{
    if (!features->name || !features->version)
        return wt__fail(err, WT_EINVAL, "an MCP server needs a name and a version");
    if (features->tools.list && (!features->tools.find || !features->tools.run))
        return wt__fail(err, WT_EINVAL, "a tool list needs find and run functions");
    if ((features->resources.list && !features->resources.read) || (features->prompts.list && !features->prompts.get))
        return wt__fail(err, WT_EINVAL, "a list of resources or prompts needs a read or get function");
    return 0;
}

int wt__mcp_service_open(struct mcp_service **out, const struct mcp_features *features,
                         const struct mcp_service_options *options, wt_error *err)
{
    static const struct mcp_service_options defaults = {0};
    const struct mcp_service_options *given = options ? options : &defaults;
    *out = NULL;
    WT_TRY(check_features(features, err));
    WT_AUTO_FREE struct mcp_service *service = wt__alloc_zeros(1, sizeof *service);
    WT_CHECK_ALLOC(service, err);
    service->features = *features;
    service->now_ms = given->now_ms;
    service->sessions_max = given->sessions_max ? given->sessions_max : MCP_SESSIONS_MAX;
    service->page_items = given->page_items ? given->page_items : MCP_PAGE_ITEMS;
    if (given->key)
        memcpy(service->key, given->key, sizeof service->key);
    else if (!wt__random_bytes(service->key, sizeof service->key))
        return wt__fail(err, WT_EIO, "cannot get random numbers");
    wt__shares_open(&service->waiting, given->waiting_max ? given->waiting_max : MCP_WAITING_MAX);
    wt__shares_open(&service->listening, MCP_LISTENERS_MAX);
    pthread_mutex_init(&service->lock, NULL);
    pthread_mutex_init(&service->notice_lock, NULL);
    pthread_cond_init(&service->idle, NULL);
    wt__steady_open(&service->job_came);
    atomic_init(&service->stopping, false);
    *out = WT_TAKE(service);
    return 0;
}

/* Calls wt__mcp_peer_drain for all peers, without holding the lock. */
static void drain_peers(struct mcp_service *service)
{
    struct mcp_peer **peers = NULL;
    size_t count = 0, capacity = 0;
    pthread_mutex_lock(&service->lock);
    for (struct mcp_peer *peer = service->peers; peer; peer = peer->next) {
        if (wt__grow((void **)&peers, &capacity, count + 1, sizeof(struct mcp_peer *)) < 0)
            break;
        wt__mcp_peer_keep(peer);
        peers[count++] = peer;
    }
    pthread_mutex_unlock(&service->lock);
    for (size_t i = 0; i < count; i++) {
        wt__mcp_peer_drain(peers[i]);
        wt__mcp_peer_release(peers[i]);
    }
    free(peers);
}

void wt__mcp_service_stop(struct mcp_service *service)
{
    pthread_mutex_lock(&service->notice_lock);
    atomic_store(&service->stopping, true);
    pthread_mutex_unlock(&service->notice_lock);
    wt__mcp_end_listeners(service, NULL);
    drain_peers(service);
}

static void close_peers(struct mcp_service *service)
{
    for (;;) {
        pthread_mutex_lock(&service->lock);
        struct mcp_peer *peer = service->peers;
        if (peer)
            wt__mcp_peer_keep(peer);
        pthread_mutex_unlock(&service->lock);
        if (!peer)
            break;
        wt__mcp_peer_close(peer);
        wt__mcp_peer_release(peer);
    }
}

void wt__mcp_service_close(struct mcp_service *service)
{
    if (!service)
        return;
    wt__mcp_service_stop(service);
    close_peers(service);
    pthread_mutex_lock(&service->lock);
    pthread_cond_broadcast(&service->job_came);
    while (service->threads > 0)
        pthread_cond_wait(&service->idle, &service->lock);
    pthread_mutex_unlock(&service->lock);
    wt__shares_close(&service->waiting);
    wt__shares_close(&service->listening);
    pthread_mutex_destroy(&service->lock);
    pthread_mutex_destroy(&service->notice_lock);
    pthread_cond_destroy(&service->idle);
    pthread_cond_destroy(&service->job_came);
    free(service);
}
