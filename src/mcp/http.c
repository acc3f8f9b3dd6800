/* http.c: a server at an address, over streamable HTTP: a message is a POST, and its answer is the body, or an event of
 * a stream that is left once the answer has come. A legacy server may give a session, which goes along from then on
 * and is ended. Redirects are not followed: they would carry the headers to somewhere else. The older transport of two
 * addresses (HTTP+SSE, of 2024) is not spoken. */
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "mcp/sse.h"
#include "mcp/transport.h"

enum {
    CONNECT_MS = 10000,
    GOODBYE_MS = 2000, /* a session that takes longer to end is left */
    EARLY_MS = 20,     /* by which libcurl may give up before the time is over */
    OWN_HEADERS = 3,
    VERSION_BYTES = 32,
    STATUS_UNAUTHORISED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_NOT_FOUND = 404,
};

struct http_transport {
    struct mcp_transport public; /* first, so that the public pointer is this one */
    const struct mcp_server *server;
    struct http_session *session;
    struct progress *progress;
    struct arena arena;
    const char *shown;
    struct http_header *headers; /* [server->header_count + OWN_HEADERS] */
    char session_id[HTTP_KEPT_BYTES], version[VERSION_BYTES];
    unsigned timeout_ms;
    double until_ms;
    struct http_answer answer;
    struct sse_event event; /* of a stream */
    size_t events_end;      /* of the body, up to which events were read */
    size_t looked_at;       /* of the body, for the end of an event */
    int64_t id;             /* of the request under way */
};

static bool is_stream(const struct http_transport *transport)
{
    static const char type[] = "text/event-stream";
    return strncasecmp(transport->answer.type, type, sizeof type - 1) == 0;
}

/* Whether an event may end in what has come since: a line does where another has just ended. */
static bool may_have_event(struct http_transport *transport, struct str body)
{
    size_t at = transport->looked_at > 0 ? transport->looked_at : 1;
    transport->looked_at = body.len;
    for (; at < body.len; at++) {
        bool ended = body.ptr[at - 1] == '\n' || body.ptr[at - 1] == '\r';
        if (ended && (body.ptr[at] == '\r' || (body.ptr[at] == '\n' && body.ptr[at - 1] == '\n')))
            return true;
    }
    return false;
}

/* Reads what events have come. True when one of them is the answer: it is in transport->event then. */
static bool find_answer(void *context, struct str body)
{
    struct http_transport *transport = context;
    struct mcp_message message;
    if (!is_stream(transport) || !may_have_event(transport, body))
        return false;
    struct str rest = {body.ptr + transport->events_end, body.len - transport->events_end};
    while (wt__sse_next(&rest, &transport->event)) {
        transport->events_end = body.len - rest.len;
        if (wt__mcp_read(wt__buffer_view(&transport->event.data), transport->id, &message) == MCP_ANSWER)
            return true;
    }
    return false;
}

static int post(struct http_transport *transport, const char *http_method, const char *method, struct str body,
                unsigned limit_ms, wt_error *err)
{
    const struct mcp_server *server = transport->server;
    struct http_header *own = transport->headers + server->header_count;
    own[0] = (struct http_header){"Mcp-Session-Id", transport->session_id};
    own[1] = (struct http_header){"MCP-Protocol-Version", transport->version};
    own[2] = (struct http_header){"Mcp-Method", method};
    const struct http_post request = {.url = server->url,
                                      .shown = transport->shown,
                                      .method = http_method,
                                      .accept = "application/json, text/event-stream",
                                      .kept = "mcp-session-id",
                                      .headers = transport->headers,
                                      .header_count = server->header_count + OWN_HEADERS,
                                      .body = body,
                                      .connect_ms = limit_ms < CONNECT_MS ? limit_ms : CONNECT_MS,
                                      .total_ms = limit_ms,
                                      .stall_ms = limit_ms,
                                      .progress = transport->progress,
                                      .is_enough = find_answer,
                                      .context = transport};
    wt__buffer_dispose(&transport->answer.body);
    transport->events_end = transport->looked_at = 0;
    return wt__http_post(transport->session, &request, &transport->answer, err);
}

static int fail_late(const struct http_transport *transport, wt_error *err)
{
    return wt__fail(err, WT_ETIMEOUT, "no answer came within %.3g s", transport->timeout_ms / 1000.0);
}

/* What a status means that brings no message. */
static int fail_status(const struct http_transport *transport, wt_error *err)
{
    int status = transport->answer.status;
    if (status == STATUS_UNAUTHORISED || status == STATUS_FORBIDDEN)
        return wt__fail(err, WT_ENETWORK,
                        "%s wants to know who asks (HTTP status %d): give the header that it wants in the "
                        "configuration's \"headers\"",
                        transport->shown, status);
    if (status >= 300 && status < 400)
        return wt__fail(err, WT_ENETWORK,
                        "%s points to another address (HTTP status %d), which is not followed: give that one",
                        transport->shown, status);
    if (status == STATUS_NOT_FOUND)
        return wt__fail(err, WT_ENETWORK, "%s has no MCP server at this path (HTTP status %d)", transport->shown,
                        status);
    return wt__fail(err, WT_ENETWORK, "%s answers with the HTTP status %d and no message", transport->shown, status);
}

/* POSTs what is left of the time allows. */
static int exchange(struct http_transport *transport, const char *method, struct str body, wt_error *err)
{
    double left = transport->until_ms - wt__now_ms();
    if (left < 1)
        return fail_late(transport, err);
    int rc = post(transport, NULL, method, body, (unsigned)left + 1, err);
    if (rc == WT_ENETWORK && wt__now_ms() >= transport->until_ms - EARLY_MS)
        return fail_late(transport, err);
    if (rc == 0 && transport->answer.kept[0])
        memcpy(transport->session_id, transport->answer.kept, sizeof transport->session_id);
    return rc;
}

static int ask(struct mcp_transport *public, int64_t id, const char *method, struct str request,
               struct mcp_message *answer, wt_error *err)
{
    struct http_transport *transport = (struct http_transport *)public;
    transport->id = id;
    wt__buffer_clear(&transport->event.data);
    int rc = exchange(transport, method, request, err);
    if (rc < 0)
        return rc;
    struct str body = wt__buffer_view(&transport->answer.body);
    if (is_stream(transport)) {
        /* The end of a stream ends its last event. */
        if (body.len > 0 && wt__mcp_read(wt__buffer_view(&transport->event.data), id, answer) != MCP_ANSWER) {
            struct str rest = {body.ptr + transport->events_end, body.len - transport->events_end};
            wt__sse_next(&rest, &transport->event);
        }
        body = wt__buffer_view(&transport->event.data);
    }
    if (transport->event.data.failed)
        return wt__fail_nomem(err);
    if (wt__mcp_read(body, id, answer) == MCP_ANSWER)
        return 0;
    if (transport->answer.status != 200)
        return fail_status(transport, err);
    return wt__fail(err, WT_ENETWORK, "%s answers `%s` with something that is no answer: is it an MCP server?",
                    transport->shown, method);
}

/* A server that does not take a notification answers the next request as it likes. */
static int notify(struct mcp_transport *public, struct str notification, wt_error *err)
{
    return exchange((struct http_transport *)public, NULL, notification, err);
}

static void agree(struct mcp_transport *public, struct str version)
{
    struct http_transport *transport = (struct http_transport *)public;
    if (version.len < sizeof transport->version) {
        memcpy(transport->version, version.ptr, version.len);
        transport->version[version.len] = '\0';
    }
}

static void end(struct mcp_transport *public, bool hurry, char words[CHILD_TAIL_BYTES])
{
    struct http_transport *transport = (struct http_transport *)public;
    wt_error unheard;
    words[0] = '\0';
    if (transport->session_id[0] && !hurry)
        post(transport, "DELETE", NULL, STR(""), GOODBYE_MS, &unheard);
    wt__http_session_close(transport->session);
    wt__buffer_dispose(&transport->answer.body);
    wt__buffer_dispose(&transport->event.data);
    wt__arena_dispose(&transport->arena);
    free(transport);
}

int wt__mcp_open_http(struct mcp_transport **out, const struct mcp_server *server, unsigned timeout_ms,
                      struct progress *progress, wt_error *err)
{
    struct http_transport *transport = calloc(1, sizeof *transport);
    *out = NULL;
    if (!transport)
        return wt__fail_nomem(err);
    transport->public = (struct mcp_transport){ask, notify, agree, end};
    transport->server = server;
    transport->progress = progress;
    transport->timeout_ms = timeout_ms;
    transport->until_ms = wt__now_ms() + timeout_ms;
    transport->shown = wt__mcp_shown_url(&transport->arena, server->url);
    transport->headers = wt__arena_array(&transport->arena, struct http_header, server->header_count + OWN_HEADERS);
    int rc =
        transport->shown && transport->headers ? wt__http_session_open(&transport->session, err) : wt__fail_nomem(err);
    if (rc < 0) {
        wt__arena_dispose(&transport->arena);
        free(transport);
        return rc;
    }
    if (server->header_count > 0)
        memcpy(transport->headers, server->headers, server->header_count * sizeof *server->headers);
    *out = &transport->public;
    return 0;
}
