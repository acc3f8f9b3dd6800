/* engine_with_servers.h: opens an engine in memory, adds the tools of a server, and opens a face with its service.
 * Sends requests to the service without a transport (serve/recorder.h). */
#ifndef WT_TESTS_GATEWAY_ENGINE_WITH_SERVERS_H
#define WT_TESTS_GATEWAY_ENGINE_WITH_SERVERS_H

#include "gateway/internal.h"
#include "serve/recorder.h"
#include "whichtool/review.h"

static wt_error err;

#define SOUND(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) < 0)                                                                                                \
            fail_msg("%s: %d, %s", #call, err.code, err.message);                                                      \
    } while (0)

static inline wt_engine *open_engine(void)
{
    wt_open_options options;
    wt_engine *engine = NULL;
    wt_open_options_init(&options);
    options.model = "";
    SOUND(wt_open(&engine, ":memory:", &options, &err));
    return engine;
}

/* Adds the tools of a server's first listing to the catalogue. */
static inline void put_tools(wt_engine *engine, const char *server, struct str listing)
{
    wt_review_options options;
    wt_review_report *report = NULL;
    wt_review_options_init(&options);
    options.trust_first = 1;
    SOUND(wt_review(engine, server, listing.ptr, listing.len, &options, &report, &err));
    wt_review_report_free(report);
}

/* A gateway, one of its faces, and the face's service. */
struct served_face {
    struct gateway *gateway;
    struct face *face;
    struct mcp_service *service;
};

static inline struct served_face face_open(struct gateway *gateway, const struct face_options *options,
                                           const struct mcp_service_options *service)
{
    struct served_face out = {.gateway = gateway};
    SOUND(wt__face_open(&out.face, gateway, options, &err));
    SOUND(wt__mcp_service_open(&out.service, wt__face_features(out.face), service, &err));
    SOUND(wt__gateway_attach(gateway, out.service, &err));
    return out;
}

static inline void face_close(struct served_face *faced)
{
    wt__gateway_detach(faced->gateway, faced->service);
    wt__mcp_service_close(faced->service);
    wt__face_close(faced->face);
}

/* Sends a request of a modern client and returns all messages that the client gets, freed by the caller. params: text
 * after the _meta of the params, such as ",\"name\":\"x\"". */
static inline char *ask_modern(const struct served_face *faced, struct mcp_peer *peer, const char *method,
                               const char *params)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s", method, MODERN_META);
    wt__buffer_text(&text, params);
    wt__buffer_text(&text, "}}");
    if (text.failed)
        abort();
    char *said = recorder_ask(faced->service, peer, text.ptr, NULL, NULL);
    wt__buffer_dispose(&text);
    return said;
}

/* Calls a tool as a modern client; returns the messages as ask_modern does. */
static inline char *call_modern(const struct served_face *faced, struct mcp_peer *peer, const char *tool,
                                const char *arguments)
{
    struct buffer params = {0};
    wt__buffer_text(&params, ",\"name\":");
    wt__buffer_json(&params, wt__str(tool));
    wt__buffer_printf(&params, ",\"arguments\":%s", arguments);
    if (params.failed)
        abort();
    char *said = ask_modern(faced, peer, "tools/call", params.ptr);
    wt__buffer_dispose(&params);
    return said;
}

#endif
