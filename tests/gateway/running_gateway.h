/* running_gateway.h: a gateway with running servers, a face with all tools and a search face. The first face has a
 * client of the modern protocol and a client of the legacy protocol. */
#ifndef WT_TESTS_GATEWAY_RUNNING_GATEWAY_H
#define WT_TESTS_GATEWAY_RUNNING_GATEWAY_H

#include <unistd.h>

#include "gateway/engine_with_servers.h"

#define MODERN_META_MEMBERS                                                                                            \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{"      \
    "\"elicitation\":{},\"sampling\":{},\"roots\":{}}"

struct running_gateway {
    wt_engine *engine;
    struct gateway *gateway;
    struct served_face direct, search;
    struct mcp_peer *modern, *legacy, *finder; /* finder: modern client of the search face */
};

/* Starts a gateway on an open engine. */
static inline void start_gateway_on(struct running_gateway *s, const struct mcp_server *servers, size_t count,
                                    const struct gateway_options *options)
{
    SOUND(wt__gateway_open(&s->gateway, s->engine, servers, count, options, &err));
    s->direct = face_open(s->gateway, &(struct face_options){.kind = FACE_DIRECT}, NULL);
    s->search = face_open(s->gateway, &(struct face_options){.kind = FACE_SEARCH}, NULL);
    s->modern = wt__mcp_peer_open(s->direct.service, "alice", false);
    s->legacy = wt__mcp_peer_open(s->direct.service, "", true);
    s->finder = wt__mcp_peer_open(s->search.service, "alice", false);
    free(recorder_ask(s->direct.service, s->legacy, INITIALIZE, NULL, NULL));
    SOUND(wt__gateway_start(s->gateway, &err));
}

static inline void start_gateway(struct running_gateway *s, const struct mcp_server *servers, size_t count,
                                 const struct gateway_options *options)
{
    s->engine = open_engine();
    start_gateway_on(s, servers, count, options);
}

static inline void stop_gateway(struct running_gateway *s)
{
    wt__gateway_stop(s->gateway);
    wt__mcp_peer_close(s->legacy);
    wt__mcp_peer_release(s->legacy);
    wt__mcp_peer_release(s->modern);
    wt__mcp_peer_release(s->finder);
    face_close(&s->direct);
    face_close(&s->search);
    wt__gateway_close(s->gateway);
    wt_close(s->engine);
}

static inline void wait_for_state(struct running_gateway *s, size_t server, enum upstream_state state)
{
    struct upstream_status status;
    do {
        usleep(1000);
        wt__upstream_status(s->gateway->upstreams[server], &status);
    } while (status.state != state);
}

/* Waits until the tool is in the view or, if `there` is false, is not in the view. */
static inline void wait_for_tool(struct running_gateway *s, const char *name, bool there)
{
    for (bool is_there = !there; is_there != there; usleep(1000)) {
        struct tool_view *view = wt__gateway_view(s->gateway);
        is_there = view && wt__view_find(view, wt__str(name));
        wt__view_release(view);
    }
}

/* Returns all messages that a client of the direct face gets for a call, freed by the caller. meta: further members of
 * the call's _meta, or "". */
static inline char *call_of(struct running_gateway *s, struct mcp_peer *peer, const char *tool, const char *arguments,
                            const char *meta)
{
    struct buffer text = {0};
    bool legacy = peer == s->legacy;
    wt__buffer_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",",
                      tool);
    wt__buffer_printf(&text, "\"arguments\":%s,\"_meta\":{%s%s", arguments, legacy ? "" : MODERN_META_MEMBERS,
                      legacy || !*meta ? "" : ",");
    wt__buffer_printf(&text, "%s}}}", meta);
    char *said = recorder_ask(s->direct.service, peer, text.ptr, NULL, NULL);
    wt__buffer_dispose(&text);
    return said;
}

#endif
