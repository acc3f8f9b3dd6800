/* talk.h: sends requests over a connection, and records their events, one per line:
 *
 *   > METHOD PARAMS    a notification       ? METHOD PARAMS    a question       = RESULT       - ERROR
 *   ! CODE MESSAGE     the exchange ended without an answer */
#ifndef WT_TESTS_MCP_TALK_H
#define WT_TESTS_MCP_TALK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/connection.h"

static void talk_write(struct buffer *out, const struct mcp_event *event)
{
    static const char signs[] = {
        [MCP_EVENT_NOTIFIED] = '>', [MCP_EVENT_ASKED] = '?', [MCP_EVENT_RESULT] = '=', [MCP_EVENT_REFUSED] = '-'};
    wt__buffer_printf(out, "%c ", signs[event->kind]);
    wt__buffer_str(out, event->method);
    wt__buffer_text(out, event->method.len > 0 ? " " : "");
    wt__buffer_str(out, event->params);
    wt__buffer_str(out, event->result);
    wt__buffer_str(out, event->error);
    wt__buffer_char(out, '\n');
}

/* Records the events of an exchange until its end. Answers each question with `answer`, or leaves the question open if
 * `answer` is "". */
static void talk_listen(struct buffer *out, struct mcp_exchange *exchange, const char *answer)
{
    struct mcp_event event;
    wt_error err = {0};
    int rc;
    while ((rc = wt__mcp_exchange_next(exchange, &event, &err)) == 0) {
        talk_write(out, &event);
        if (event.kind == MCP_EVENT_ASKED && *answer)
            wt__mcp_exchange_reply(exchange, event.id, wt__str(answer), (struct str){"", 0}, NULL);
        if (event.kind == MCP_EVENT_RESULT || event.kind == MCP_EVENT_REFUSED)
            break;
    }
    if (rc < 0)
        wt__buffer_printf(out, "! %d %s\n", rc, err.message);
}

/* Sends a request and returns its events. The caller frees the text. */
static inline char *talk(struct mcp_connection *connection, const struct mcp_request *request, const char *answer)
{
    struct buffer out = {0};
    struct mcp_exchange *exchange;
    wt_error err = {0};
    int rc = wt__mcp_exchange_begin(&exchange, connection, request, &err);
    if (rc == 0)
        talk_listen(&out, exchange, answer);
    else
        wt__buffer_printf(&out, "! %d %s\n", rc, err.message);
    wt__mcp_exchange_end(exchange);
    return wt__buffer_take(&out);
}

/* Returns a tools/call request. */
static inline struct mcp_request talk_call(const char *params)
{
    return (struct mcp_request){.method = "tools/call", .params = wt__str(params)};
}

#endif
