/* upstream_notices.c: notices of a server: changed lists and watched resources. A modern server sends them on a request
 * that stays open (subscriptions/listen) and a thread reads; a legacy server gets a subscription for each resource. The
 * lists of all servers also expire, so a notice only makes the next listing earlier. */
#include <stdlib.h>

#include "base/memory.h"
#include "gateway/upstream_inside.h"

/* ---------------------------------------------------------------- notices */

void wt__upstream_handle_notice(struct upstream *upstream, struct str method, struct str params)
{
    static const char *const changes[UPSTREAM_CHANGES] = {
        [MCP_TOOLS_CHANGED] = "notifications/tools/list_changed",
        [MCP_RESOURCES_CHANGED] = "notifications/resources/list_changed",
        [MCP_PROMPTS_CHANGED] = "notifications/prompts/list_changed",
    };
    json_t *said = NULL;
    for (size_t i = 0; i < UPSTREAM_CHANGES; i++) {
        if (!wt__str_equal(method, wt__str(changes[i])))
            continue;
        pthread_mutex_lock(&upstream->lock);
        bool is_news = !upstream->stale[i];
        upstream->stale[i] = upstream->told[i] = true;
        if (is_news) /* repeated notices do not wake the thread */
            pthread_cond_broadcast(&upstream->turn);
        pthread_mutex_unlock(&upstream->lock);
    }
    if (!upstream->options.notify_update || !wt__str_equal(method, STR("notifications/resources/updated")) ||
        wt__json_parse(&said, params.ptr ? params.ptr : "", params.len, NULL) < 0)
        return;
    upstream->options.notify_update(upstream->options.context, upstream, wt__json_str(said, "uri"));
    json_decref(said);
}

/* True if the URI is watched already. Call with the lock held. */
static bool is_watched(const struct upstream *upstream, struct str uri)
{
    for (size_t i = 0; i < upstream->watched_count; i++)
        if (wt__str_equal(uri, wt__str(upstream->watched[i])))
            return true;
    return false;
}

/* Adds a URI. False if out of memory. Call with the lock held. */
static bool add_watched(struct upstream *upstream, struct str uri)
{
    char *copy = wt__copy_string(uri.ptr, uri.len);
    if (!copy || wt__grow((void **)&upstream->watched, &upstream->watched_capacity, upstream->watched_count + 1,
                          sizeof *upstream->watched) < 0) {
        free(copy);
        return false;
    }
    upstream->watched[upstream->watched_count++] = copy;
    pthread_cond_broadcast(&upstream->turn);
    return true;
}

bool wt__upstream_watch(struct upstream *upstream, const char *holder, struct str uri, wt_error *err)
{
    pthread_mutex_lock(&upstream->lock);
    bool known = is_watched(upstream, uri);
    bool has_share = known || wt__shares_take(&upstream->watchers, holder, 1);
    bool added = known || (has_share && add_watched(upstream, uri));
    pthread_mutex_unlock(&upstream->lock);
    if (!has_share)
        wt__fail(err, WT_ETOOLONG,
                 "this client watches %zu resources of the server %s, its share of %d, and gets no notices of further "
                 "ones",
                 wt__shares_of(&upstream->watchers, holder), upstream->server->name, UPSTREAM_WATCHED_MAX);
    else if (!added)
        wt__fail_nomem(err);
    return added;
}

/* ---------------------------------------------------------------- listening */

static void *run_listener(void *context)
{
    struct upstream *upstream = context;
    struct mcp_event event;
    while (wt__mcp_exchange_next(upstream->listening, &event, NULL) == 0 && event.kind == MCP_EVENT_NOTIFIED)
        wt__upstream_handle_notice(upstream, event.method, event.params);
    return NULL;
}

void wt__upstream_listen(struct upstream *upstream, struct mcp_connection *connection)
{
    struct buffer params = {0};
    if (wt__mcp_connection_era(connection) != MCP_ERA_MODERN)
        return;
    wt__buffer_text(&params, "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,"
                             "\"resourcesListChanged\":true,\"resourceSubscriptions\":[");
    pthread_mutex_lock(&upstream->lock);
    for (size_t i = 0; i < upstream->watched_count; i++) {
        wt__buffer_text(&params, i ? "," : "");
        wt__buffer_json(&params, wt__str(upstream->watched[i]));
    }
    upstream->watched_told = upstream->watched_count;
    pthread_mutex_unlock(&upstream->lock);
    wt__buffer_text(&params, "]}");
    const struct mcp_request request = {
        .method = "subscriptions/listen", .params = wt__buffer_view(&params), .timeout_ms = UPSTREAM_LISTEN_MS};
    if (!params.failed && wt__mcp_exchange_begin(&upstream->listening, connection, &request, NULL) == 0 &&
        pthread_create(&upstream->listener, NULL, run_listener, upstream) != 0) {
        wt__mcp_exchange_end(upstream->listening);
        upstream->listening = NULL;
    }
    wt__buffer_dispose(&params);
}

void wt__upstream_unlisten(struct upstream *upstream)
{
    if (!upstream->listening)
        return;
    wt__mcp_exchange_cancel(upstream->listening);
    pthread_join(upstream->listener, NULL);
    wt__mcp_exchange_end(upstream->listening);
    upstream->listening = NULL;
}

/* Returns the next URI without a subscription, freed by the caller, or NULL. */
static char *next_unsubscribed(struct upstream *upstream)
{
    char *uri = NULL;
    pthread_mutex_lock(&upstream->lock);
    if (upstream->watched_told < upstream->watched_count) {
        const char *next = upstream->watched[upstream->watched_told++];
        uri = wt__copy_string(next, strlen(next));
    }
    pthread_mutex_unlock(&upstream->lock);
    return uri;
}

/* Ignores refused subscriptions. A modern server gets a new request with all resources. */
int wt__upstream_subscribe(struct upstream *upstream, struct mcp_connection *connection, wt_error *err)
{
    pthread_mutex_lock(&upstream->lock);
    bool is_news = upstream->watched_told < upstream->watched_count;
    pthread_mutex_unlock(&upstream->lock);
    if (is_news && wt__mcp_connection_era(connection) == MCP_ERA_MODERN) {
        wt__upstream_unlisten(upstream);
        wt__upstream_listen(upstream, connection);
        return 0;
    }
    for (char *uri; (uri = next_unsubscribed(upstream));) {
        struct buffer params = {0}, result = {0};
        wt__buffer_text(&params, "\"uri\":");
        wt__buffer_json(&params, wt__str(uri));
        int rc = params.failed
                     ? 0
                     : wt__upstream_ask(connection, "resources/subscribe", wt__buffer_view(&params), 0, &result, err);
        wt__buffer_dispose(&params);
        wt__buffer_dispose(&result);
        free(uri);
        if (rc < 0 && wt__mcp_connection_is_lost(connection))
            return rc;
    }
    return 0;
}
