/* call.c: accessors of a call, and messages sent to the client while it runs. */
#include <stdlib.h>

#include "base/memory.h"
#include "serve/mcp/internal.h"

static const char *const levels[] = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

int wt__mcp_level(struct str name)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (wt__str_equal(name, wt__str(levels[i])))
            return (int)i;
    return -1;
}

struct str wt__mcp_call_name(const struct mcp_call *call)
{
    return call->name;
}

struct str wt__mcp_call_arguments(const struct mcp_call *call)
{
    return call->arguments;
}

const json_t *wt__mcp_call_argument_tree(const struct mcp_call *call)
{
    return call->repaired_tree ? call->repaired_tree : wt__json_object(call->in.params, "arguments");
}

struct str wt__mcp_call_written_arguments(const struct mcp_call *call)
{
    return wt__mcp_incoming_text(&call->in, "arguments");
}

struct str wt__mcp_call_meta(const struct mcp_call *call)
{
    return wt__mcp_incoming_text(&call->in, "_meta");
}

const json_t *wt__mcp_call_params(const struct mcp_call *call)
{
    return call->in.params;
}

bool wt__mcp_call_is_modern(const struct mcp_call *call)
{
    return call->is_modern;
}

const char *wt__mcp_call_tenant(const struct mcp_call *call)
{
    return call->peer->tenant;
}

const char *wt__mcp_call_principal(const struct mcp_call *call)
{
    return call->peer->principal;
}

struct request_trace *wt__mcp_call_trace(const struct mcp_call *call)
{
    return call->channel ? call->channel->trace : NULL;
}

const struct http_header *wt__mcp_call_passed_headers(const struct mcp_call *call, size_t *count)
{
    *count = call->passed_count;
    return call->passed;
}

const char *wt__mcp_call_holder(const struct mcp_call *call)
{
    return call->peer->holder;
}

bool wt__mcp_call_may_call(const struct mcp_call *call)
{
    return atomic_load(&call->peer->may_call);
}

const json_t *wt__mcp_call_client(const struct mcp_call *call)
{
    return call->client;
}

const json_t *wt__mcp_call_capabilities(const struct mcp_call *call)
{
    return call->capabilities;
}

bool wt__mcp_call_client_can(const struct mcp_call *call, const char *path)
{
    const char *dot = strchr(path, '.');
    char name[64];
    size_t len = dot ? (size_t)(dot - path) : strlen(path);
    if (len >= sizeof name)
        return false;
    memcpy(name, path, len);
    name[len] = '\0';
    const json_t *capability = wt__json_object(call->capabilities, name);
    if (!capability)
        return false;
    /* Older clients support forms without naming them. */
    if (strcmp(name, "elicitation") == 0 && (!dot || strcmp(dot, ".form") == 0))
        return json_object_get(capability, "form") || !json_object_get(capability, "url");
    return !dot || json_object_get(capability, dot + 1);
}

bool wt__mcp_call_send(struct mcp_call *call, struct str message)
{
    return !wt__mcp_is_cancelled(call) && message.len > 0 && wt__mcp_channel_send(call->channel, message);
}

/* Sends a notification to the client. params: a JSON object. */
static void notify_client(struct mcp_call *call, const char *method, struct str params)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    wt__mcp_put_text(&message, "{\"jsonrpc\":\"2.0\",\"method\":", wt__str(method));
    wt__buffer_text(&message, ",\"params\":");
    wt__buffer_str(&message, params);
    wt__buffer_char(&message, '}');
    if (!message.failed)
        wt__mcp_call_send(call, wt__buffer_view(&message));
}

static void write_progress_number(struct buffer *out, double number)
{
    wt__buffer_printf(out, "%.15g", number - number == 0 ? number : 0); /* JSON has no infinity or NaN */
}

void wt__mcp_progress(struct mcp_call *call, double progress, double total, struct str message)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0};
    struct str token;
    wt__mcp_member(wt__mcp_call_meta(call), "progressToken", &token);
    if (token.len == 0 || (token.ptr[0] != '"' && token.ptr[0] != '-' && !wt__is_digit(token.ptr[0])))
        return;
    wt__buffer_text(&params, "{\"progressToken\":");
    wt__buffer_str(&params, token);
    wt__buffer_text(&params, ",\"progress\":");
    write_progress_number(&params, progress);
    if (total >= 0) {
        wt__buffer_text(&params, ",\"total\":");
        write_progress_number(&params, total);
    }
    if (message.len > 0) {
        wt__mcp_put_text(&params, ",\"message\":", message);
    }
    wt__buffer_char(&params, '}');
    if (!params.failed)
        notify_client(call, "notifications/progress", wt__buffer_view(&params));
}

const char *wt__mcp_wanted_level(const struct mcp_call *call)
{
    return call->level >= 0 && call->level < (int)(sizeof levels / sizeof *levels) ? levels[call->level] : NULL;
}

void wt__mcp_relay_log(struct mcp_call *call, struct str params)
{
    json_auto_t *read = NULL;
    if (wt__json_parse(&read, params.ptr ? params.ptr : "", params.len, NULL) < 0)
        return;
    int level = wt__mcp_level(wt__json_str(read, "level"));
    if (level >= 0 && level >= call->level)
        notify_client(call, "notifications/message", params);
}

void wt__mcp_close_stream(struct mcp_call *call)
{
    if (!call->is_modern)
        wt__mcp_channel_close_early(call->channel);
}

void wt__mcp_call_free(struct mcp_call *call)
{
    struct buffer *const buffers[] = {&call->kept, &call->state,  &call->questions, &call->words,
                                      &call->data, &call->sealed, &call->items,     &call->structured,
                                      &call->meta, &call->result, &call->cursor,    &call->repaired};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        wt__buffer_dispose(buffers[i]);
    wt__mcp_incoming_dispose(&call->in);
    json_decref(call->repaired_tree);
    json_decref(call->responses);
    json_decref(call->asked);
    wt__arena_dispose(&call->arena);
    wt__mcp_channel_release(call->channel);
    wt__mcp_peer_release(call->peer);
    pthread_mutex_destroy(&call->lock);
    pthread_cond_destroy(&call->news);
    free(call);
}
