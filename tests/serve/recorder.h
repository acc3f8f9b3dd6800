/* A test client without a transport: passes messages directly to the service and records the responses, one message per
 * line. */
#ifndef WT_TESTS_SERVE_RECORDER_H
#define WT_TESTS_SERVE_RECORDER_H

#include <stdlib.h>

#include "serve/mcp/internal.h"

#define MODERN_META                                                                                                    \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"                 \
    "clientCapabilities\":{\"elicitation\":{},\"sampling\":{},\"roots\":{}}}"
#define REQUEST(id, method, params)                                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define MODERN(id, method, params) REQUEST(id, method, MODERN_META params)
#define INITIALIZE                                                                                                     \
    REQUEST("0", "initialize",                                                                                         \
            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{},\"sampling\":{}},"                \
            "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}")

struct recorder {
    struct mcp_channel channel; /* must be first */
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct buffer said; /* messages so far, each on a line */
    int status;         /* HTTP status of the answer; valid if answered */
    bool answered;
    bool gone; /* set by tests to simulate a lost client */
};

static bool recorder_send(struct mcp_channel *channel, struct str message)
{
    struct recorder *own = (struct recorder *)channel;
    pthread_mutex_lock(&own->lock);
    wt__mcp_append_line(&own->said, message);
    wt__buffer_char(&own->said, '\n');
    pthread_cond_broadcast(&own->news);
    pthread_mutex_unlock(&own->lock);
    return !own->gone;
}

static void recorder_answer(struct mcp_channel *channel, int status, struct str message)
{
    struct recorder *own = (struct recorder *)channel;
    if (message.len > 0)
        recorder_send(channel, message);
    pthread_mutex_lock(&own->lock);
    own->status = status;
    own->answered = true;
    pthread_cond_broadcast(&own->news);
    pthread_mutex_unlock(&own->lock);
}

static bool recorder_is_gone(struct mcp_channel *channel)
{
    return ((struct recorder *)channel)->gone;
}

static void recorder_dispose(struct mcp_channel *channel)
{
    struct recorder *own = (struct recorder *)channel;
    pthread_mutex_destroy(&own->lock);
    pthread_cond_destroy(&own->news);
    wt__buffer_dispose(&own->said);
    free(own);
}

static struct recorder *recorder_open(void)
{
    struct recorder *own = calloc(1, sizeof *own);
    if (!own)
        abort();
    wt__mcp_channel_open(&own->channel);
    pthread_mutex_init(&own->lock, NULL);
    pthread_cond_init(&own->news, NULL);
    own->channel.send = recorder_send;
    own->channel.answer = recorder_answer;
    own->channel.is_gone = recorder_is_gone;
    own->channel.dispose = recorder_dispose;
    return own;
}

/* Passes a message to the service without waiting for the answer. headers: NULL without HTTP. */
static inline struct recorder *recorder_take(struct mcp_service *service, struct mcp_peer *peer, struct str text,
                                             const struct mcp_headers *headers)
{
    struct recorder *own = recorder_open();
    struct mcp_incoming in;
    wt__mcp_read_message(&in, text);
    if (in.kind == MCP_IN_REQUEST) {
        bool modern = wt__mcp_is_modern(&in, headers ? headers->version : STR(""));
        struct mcp_call *call = wt__mcp_call_begin(service, peer, &own->channel, &in, modern, headers);
        if (call)
            wt__mcp_call_run(call);
        return own;
    }
    if (in.kind == MCP_IN_BAD) {
        struct buffer message = {0};
        wt__mcp_write_error(&message, wt__buffer_view(&in.id), in.code, wt__str(in.words), STR(""));
        wt__mcp_channel_answer(&own->channel, 400, wt__buffer_view(&message));
        wt__buffer_dispose(&message);
    } else {
        wt__mcp_handle_other_message(service, peer, &in);
        wt__mcp_channel_answer(&own->channel, 202, STR(""));
    }
    wt__mcp_incoming_dispose(&in);
    return own;
}

static inline struct recorder *recorder_begin(struct mcp_service *service, struct mcp_peer *peer, const char *text,
                                              const struct mcp_headers *headers)
{
    return recorder_take(service, peer, wt__str(text), headers);
}

static inline void recorder_wait(struct recorder *own)
{
    pthread_mutex_lock(&own->lock);
    while (!own->answered)
        pthread_cond_wait(&own->news, &own->lock);
    pthread_mutex_unlock(&own->lock);
}

/* Discards the messages recorded so far. */
static inline void recorder_forget(struct recorder *own)
{
    pthread_mutex_lock(&own->lock);
    wt__buffer_dispose(&own->said);
    pthread_mutex_unlock(&own->lock);
}

/* Waits for a message containing words. Returns everything recorded; free it with free(). */
static inline char *recorder_wait_for(struct recorder *own, const char *words)
{
    pthread_mutex_lock(&own->lock);
    while (!own->said.ptr || !strstr(own->said.ptr, words))
        pthread_cond_wait(&own->news, &own->lock);
    char *copy = strdup(own->said.ptr);
    pthread_mutex_unlock(&own->lock);
    return copy;
}

/* Sends a message and waits for its answer. Returns everything recorded; free it with free(). status may be NULL. */
static inline char *recorder_ask(struct mcp_service *service, struct mcp_peer *peer, const char *text,
                                 const struct mcp_headers *headers, int *status)
{
    struct recorder *own = recorder_begin(service, peer, text, headers);
    recorder_wait(own);
    char *said = strdup(own->said.ptr ? own->said.ptr : "");
    if (status)
        *status = own->status;
    wt__mcp_channel_release(&own->channel);
    return said;
}

#endif
