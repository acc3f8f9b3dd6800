/* upstream_listen.c: a modern server is asked to tell what changes (subscriptions/listen), on a request that stays open
 * and a thread that hears it. A server that does not know that is asked for its lists again when their time is over, as
 * all are: a notice only makes it sooner. */
#include <stdlib.h>

#include "gateway/upstream_inside.h"

static void *hear(void *context)
{
    struct upstream *upstream = context;
    struct mcp_event event;
    while (wt__mcp_exchange_next(upstream->listening, &event, NULL) == 0 && event.kind == MCP_EVENT_NOTIFIED)
        wt__upstream_noticed(upstream, event.method, event.params);
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
        pthread_create(&upstream->listener, NULL, hear, upstream) != 0) {
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
