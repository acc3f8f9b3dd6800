/* stdio.c: a server of this machine. A line is a message, in both directions. What a server prints there besides, as
 * many do at their start, is passed over; what it asks for is refused, for we only list tools. */
#include <stdlib.h>

#include "mcp/transport.h"
#include "net/coprocess.h"

struct stdio_transport {
    struct mcp_transport public; /* first, so that the public pointer is this one */
    struct child child;
    struct coprocess *coprocess;
    struct arena arena;
    const char *program;
    size_t stray_lines, server_messages;
};

/* Says how a server ended that should not have. What it said last is for who asked it. */
static int fail_ended(struct stdio_transport *transport, const char *method, wt_error *err)
{
    return wt__fail(err, WT_ENETWORK, "%s ended before it answered `%s`", transport->program, method);
}

static int reply(struct stdio_transport *transport, const struct mcp_message *request, wt_error *err)
{
    struct buffer text = {0};
    wt__mcp_write_reply(&text, request);
    int rc = text.failed ? wt__fail_nomem(err) : 0;
    if (rc == 0 && text.len > 0)
        rc = wt__coprocess_send(transport->coprocess, wt__buffer_view(&text), err);
    wt__buffer_dispose(&text);
    return rc;
}

/* 1 when the line answers the request. */
static int take_line(struct stdio_transport *transport, struct str line, int64_t id, struct mcp_message *message,
                     wt_error *err)
{
    enum mcp_kind kind = wt__mcp_read(line, id, message);
    if (kind == MCP_ANSWER)
        return 1;
    if (kind == MCP_NO_MESSAGE && wt__str_starts(wt__str_trim(line), STR("{\"jsonrpc\"")))
        return wt__fail(err, WT_ENETWORK, "%s wrote a message that is broken", transport->program);
    if (kind == MCP_NO_MESSAGE && ++transport->stray_lines > MCP_STRAY_LINES_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s wrote more than %d lines that are no messages: is it an MCP server?",
                        transport->program, MCP_STRAY_LINES_MAX);
    if (kind != MCP_NO_MESSAGE && ++transport->server_messages > MCP_SERVER_MESSAGES_MAX)
        return wt__fail(err, WT_ETOOLONG, "%s sent more than %d messages that nobody asked for", transport->program,
                        MCP_SERVER_MESSAGES_MAX);
    return kind == MCP_REQUEST ? reply(transport, message, err) : 0;
}

static int ask(struct mcp_transport *public, int64_t id, const char *method, struct str request,
               struct mcp_message *answer, wt_error *err)
{
    struct stdio_transport *transport = (struct stdio_transport *)public;
    struct str line;
    int rc = wt__coprocess_send(transport->coprocess, request, err);
    while (rc == 0) {
        rc = wt__coprocess_receive(transport->coprocess, &line, err);
        if (rc == 0)
            return fail_ended(transport, method, err);
        if (rc > 0)
            rc = take_line(transport, line, id, answer, err);
    }
    return rc < 0 ? rc : 0;
}

static int notify(struct mcp_transport *public, struct str notification, wt_error *err)
{
    return wt__coprocess_send(((struct stdio_transport *)public)->coprocess, notification, err);
}

static void agree(struct mcp_transport *public, struct str version)
{
    (void)public, (void)version; /* said once, in initialize */
}

static void end(struct mcp_transport *public, bool hurry, char words[CHILD_TAIL_BYTES])
{
    struct stdio_transport *transport = (struct stdio_transport *)public;
    wt__coprocess_end(transport->coprocess, hurry, words);
    wt__arena_dispose(&transport->arena);
    free(transport);
}

int wt__mcp_open_stdio(struct mcp_transport **out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err)
{
    struct stdio_transport *transport = calloc(1, sizeof *transport);
    *out = NULL;
    if (!transport)
        return wt__fail_nomem(err);
    transport->public = (struct mcp_transport){ask, notify, agree, end};
    transport->program = server->argv[0];
    transport->child = (struct child){.argv = server->argv,
                                      .environment = wt__mcp_environment(&transport->arena, server),
                                      .folder = server->folder,
                                      .timeout_ms = timeout_ms,
                                      .progress = progress};
    int rc = transport->child.environment ? wt__coprocess_start(&transport->coprocess, &transport->child, err)
                                          : wt__fail_nomem(err);
    if (rc < 0) {
        wt__arena_dispose(&transport->arena);
        free(transport);
        return rc;
    }
    *out = &transport->public;
    return 0;
}
