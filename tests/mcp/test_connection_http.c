/* Tests connections over HTTP: eras, lost sessions, broken streams, redirects, and sent requests. The first request
 * after the opening has the id 2 in the modern era and 3 in the legacy era. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/talk.h"
#include "net/script_server.h"

static wt_error err;
static struct script_server server;
static char url[96];

static int start_far_server(void **state)
{
    (void)state;
    if (script_server_start(&server) < 0)
        return -1;
    snprintf(url, sizeof url, "http://user:word@127.0.0.1:%d/some-key-4711/mcp?token=abcdef", server.port);
    return 0;
}

static int stop_far_server(void **state)
{
    (void)state;
    script_server_stop(&server);
    return 0;
}

#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":" result "}"
#define ERROR(id, code) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"error\":{\"code\":" #code ",\"message\":\"no\"}}"
#define NOTE(method, params) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method "\",\"params\":" params "}"
#define SELF "{\"protocolVersion\":\"2025-06-18\"}"
#define DISCOVERED "{\"supportedVersions\":[\"2026-07-28\"]}"
#define STREAM .status = 200, .type = "text/event-stream"
#define SESSION(id) .headers = "Mcp-Session-Id: " id "\r\n"
#define MODERN                                                                                                         \
    {                                                                                                                  \
        .on = "server/discover", .status = 200, .body = RESULT(1, DISCOVERED)                                          \
    }
#define PROBE                                                                                                          \
    {                                                                                                                  \
        .on = "server/discover", .status = 404, .body = "none"                                                         \
    }
#define TAKEN                                                                                                          \
    {                                                                                                                  \
        .on = "notifications/", .status = 202                                                                          \
    }
#define NO_NOTICES                                                                                                     \
    {                                                                                                                  \
        .on = "GET ", .status = 405                                                                                    \
    }
#define LEGACY                                                                                                         \
    PROBE, TAKEN, NO_NOTICES,                                                                                          \
    {                                                                                                                  \
        .on = "\"initialize\"", .status = 200, .body = RESULT(2, SELF)                                                 \
    }
#define LEGACY_SESSION                                                                                                 \
    PROBE, TAKEN,                                                                                                      \
    {                                                                                                                  \
        .on = "\"initialize\"", .status = 200, SESSION("one"), .body = RESULT(2, SELF)                                 \
    }
#define AGAIN                                                                                                          \
    {                                                                                                                  \
        .on = "\"initialize\"", .status = 200, SESSION("two"), .body = RESULT(4, SELF)                                 \
    }

/* Returns the number of requests so far that contain the text. */
static size_t count_sent(const char *what)
{
    size_t count = 0;
    pthread_mutex_lock(&server.lock);
    for (size_t i = 0; i < server.request_count; i++)
        count += strstr(server.requests[i], what) != NULL;
    pthread_mutex_unlock(&server.lock);
    return count;
}

/* True if the text contains no secret of the configuration. */
static bool is_clean(const char *text)
{
    static const char *const secrets[] = {"user:word", "4711", "abcdef", "bearer-of-secrets"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strstr(text, secrets[i]))
            return false;
    return true;
}

static int open_far(struct mcp_connection **out, const struct mcp_connection_options *options)
{
    static const struct http_header headers[] = {{"Authorization", "Bearer bearer-of-secrets"}};
    static struct mcp_server far = {.name = "far", .url = url, .headers = headers, .header_count = 1};
    return wt__mcp_connect(out, &far, options, &err);
}

/* ---------------------------------------------------------------- opening */

static const struct {
    const char *name;
    struct script_step steps[5];
    size_t count;
    unsigned timeout_ms; /* 0 for 900000 */
    int rc;
    enum mcp_era era;
    const char *says;
    size_t requests; /* number of POSTs */
} openings[] = {
    {"modern", {MODERN}, 1, 0, 0, MCP_ERA_MODERN, DISCOVERED, 1},
    {"modern, event stream",
     {{STREAM, .body = "data: " RESULT(1, DISCOVERED) "\n\n"}},
     1,
     0,
     0,
     MCP_ERA_MODERN,
     DISCOVERED,
     1},
    {"legacy, unknown method",
     {{.on = "server/discover", .status = 200, .body = ERROR(1, -32601)},
      {.status = 200, .body = RESULT(2, SELF)},
      {.status = 202}},
     3,
     0,
     0,
     MCP_ERA_LEGACY,
     SELF,
     3},
    {"legacy, missing session",
     {{.on = "server/discover", .status = 400, .body = ERROR(null, -32000)},
      {.status = 200, .body = RESULT(2, SELF)},
      {.status = 202}},
     3,
     0,
     0,
     MCP_ERA_LEGACY,
     SELF,
     3},
    {"legacy, HTML page",
     {PROBE, {.status = 200, .body = RESULT(2, SELF)}, {.status = 202}},
     3,
     0,
     0,
     MCP_ERA_LEGACY,
     SELF,
     3},
    {"error 500 at first",
     {{.on = "server/discover", .status = 500}, {.status = 200, .body = RESULT(2, SELF)}, {.status = 202}},
     3,
     0,
     0,
     MCP_ERA_LEGACY,
     SELF,
     3},
    {"status 400 for a wrong header", {{.status = 400, .body = ERROR(1, -32020)}}, 1, 0, 0, MCP_ERA_MODERN, "{}", 1},
    {"legacy only, reported by a modern error",
     {{.on = "server/discover",
       .status = 400,
       .body =
           "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":["
           "\"2025-06-18\"]}}}"},
      {.status = 200, .body = RESULT(2, SELF)},
      {.status = 202}},
     3,
     0,
     0,
     MCP_ERA_LEGACY,
     SELF,
     3},
    {"notification refused",
     {PROBE, {.status = 200, .body = RESULT(2, SELF)}, {.status = 500, .body = ERROR(null, -1)}},
     3,
     0,
     0,
     MCP_ERA_LEGACY,
     SELF,
     3},
    {"status 401", {{.status = 401}}, 1, 0, WT_ENETWORK, 0, "requires authentication (HTTP status 401)", 2},
    {"HTML page",
     {{.status = 200, .body = "<html>", .type = "text/html"}},
     1,
     0,
     WT_ENETWORK,
     0,
     "sent an invalid answer to `initialize`; check that it is an MCP server",
     2},
    {"redirect",
     {{.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"}},
     1,
     0,
     WT_ENETWORK,
     0,
     "redirects to http://127.0.0.1:1/ (HTTP status 302)",
     2},
    {"connection closed, no retry", {{.status = 0}}, 1, 0, WT_ENETWORK, 0, "cannot ask http://127.0.0.1:", 1},
    {"no answer",
     {{.status = 200, .delay_ms = SCRIPT_NEVER_MS}},
     1,
     200,
     WT_ETIMEOUT,
     0,
     "no answer came within 0.",
     1},
};

static void each_http_server_opens_in_its_era(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        const struct mcp_connection_options options = {.timeout_ms =
                                                           openings[i].timeout_ms ? openings[i].timeout_ms : 900000};
        struct mcp_connection *connection;
        script_server_play(&server, openings[i].steps, openings[i].count);
        int rc = open_far(&connection, &options);
        struct str self = rc == 0 ? wt__mcp_connection_self(connection) : wt__str(err.message);
        enum mcp_era era = rc == 0 ? wt__mcp_connection_era(connection) : MCP_ERA_UNKNOWN;
        bool right = rc == 0 ? wt__str_equal(self, wt__str(openings[i].says))
                             : strstr(err.message, openings[i].says) && is_clean(err.message);
        size_t sent = count_sent("POST ");
        if (rc != openings[i].rc || era != openings[i].era || !right || sent != openings[i].requests)
            fail_msg("%s: %d, era %d, %zu requests, \"%.*s\"", openings[i].name, rc, era, sent, (int)self.len,
                     self.ptr);
        wt__mcp_disconnect(connection, true);
    }
}

/* ---------------------------------------------------------------- requests */

#define CALL "\"method\":\"m\""

static const struct {
    const char *name;
    struct script_step steps[9];
    size_t count;
    struct mcp_request request;
    const char *events;
    struct {
        const char *what;
        size_t times;
    } sent[4]; /* NULL ends the list */
} talks[] = {
    {"modern request",
     {MODERN, {.status = 200, .body = RESULT(2, "{}")}},
     2,
     {.method = "m",
      .name = STR("n"),
      .headers = (const struct http_header[]){{"Mcp-Param-A", "b"}},
      .header_count = 1},
     "= {}\n",
     {{"MCP-Protocol-Version: 2026-07-28\r\n", 2},
      {"Mcp-Method: m\r\n", 1},
      {"Mcp-Name: n\r\n", 1},
      {"Mcp-Param-A: b\r\n", 1}}},
    {"name that headers cannot carry",
     {MODERN, {.status = 200, .body = RESULT(2, "{}")}},
     2,
     {.method = "m", .name = STR("z\xc3\xbc")},
     "= {}\n",
     {{"Mcp-Name: =?base64?esO8?=\r\n", 1}}},
    {"name that looks encoded and ends with a space",
     {MODERN, {.status = 200, .body = RESULT(2, "{}")}},
     2,
     {.method = "m", .name = STR("=?base64? ")},
     "= {}\n",
     {{"Mcp-Name: =?base64?PT9iYXNlNjQ/IA==?=\r\n", 1}}},
    {"invalid header",
     {MODERN},
     1,
     {.method = "m", .headers = (const struct http_header[]){{"Mcp-Param-A", "a\r\nb"}}, .header_count = 1},
     "! -1 the value of Mcp-Param-A is too long or contains a control character\n",
     {{"POST ", 1}}},
    {"legacy request",
     {LEGACY, {.status = 200, .body = RESULT(3, "{}")}},
     5,
     {.method = "m",
      .name = STR("n"),
      .headers = (const struct http_header[]){{"Mcp-Param-A", "b"}},
      .header_count = 1},
     "= {}\n",
     {{"MCP-Protocol-Version: 2025-06-18\r\n", 3},
      {"Mcp-Method: m\r\n", 0},
      {"Mcp-Param-A", 0},
      {"bearer-of-secrets", 5}}},
    {"answer with line ends",
     {MODERN,
      {.status = 200, .body = "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 2,\n  \"result\": {\n\"a\":\r\n1}\n}\n"}},
     2,
     {.method = "m"},
     "= { \"a\":  1}\n",
     {{"POST ", 2}}},
    {"session header",
     {LEGACY_SESSION, NO_NOTICES, {.status = 200, .body = RESULT(3, "{}")}},
     5,
     {.method = "m"},
     "= {}\n",
     {{"Mcp-Session-Id: one\r\n", 3}}},
    {"error with an HTTP status",
     {MODERN, {.status = 404, .body = ERROR(2, -32601)}},
     2,
     {.method = "m"},
     "- {\"code\":-32601,\"message\":\"no\"}\n",
     {{"POST ", 2}}},
    {"error without an id",
     {MODERN, {.status = 400, .body = ERROR(null, -32602)}},
     2,
     {.method = "m"},
     "- {\"code\":-32602,\"message\":\"no\"}\n",
     {{"POST ", 2}}},
    {"stream with other events",
     {MODERN,
      {STREAM, .body = ": hi\n\nid: 1\r\ndata:\r\n\r\ndata: " NOTE(
                   "progress",
                   "{\"progressToken\":2,\"progress\":1}") "\n\ndata: "
                                                           "{\"jsonrpc\":\"2.0\",\"id\":2,\ndata: \"result\":{}}\n\n"}},
     2,
     {.method = "m", .progress = true},
     "> notifications/progress {\"progress\":1}\n= {}\n",
     {{"POST ", 2}}},
    {"stream that stays open",
     {MODERN, {STREAM, .body = "data: " RESULT(2, "{}") "\n\n:", .stall = sizeof("data: " RESULT(2, "{}") "\n\n") - 1}},
     2,
     {.method = "m"},
     "= {}\n",
     {{"POST ", 2}}},
    {"stream without its last empty line",
     {MODERN, {STREAM, .body = "data: " RESULT(2, "{}") "\n", .no_length = true}},
     2,
     {.method = "m"},
     "= {}\n",
     {{"POST ", 2}}},
    {"answer to another request",
     {MODERN, {.status = 200, .body = RESULT(9, "{}")}},
     2,
     {.method = "m"},
     "! -16 http://127.0.0.1 sent an invalid answer to `m`; check that it is an MCP server\n",
     {{"POST ", 2}}},
    {"status 300",
     {MODERN, {.status = 300}},
     2,
     {.method = "m"},
     "! -16 http://127.0.0.1 redirects to another address (HTTP status 300), which is not followed: use that "
     "address in the configuration if it is the server's\n",
     {{"POST ", 2}}},
    {"status 403 after the opening",
     {MODERN, {.status = 403}},
     2,
     {.method = "m"},
     "! -16 http://127.0.0.1 requires authentication (HTTP status 403): add its header to "
     "\"headers\" in the configuration\n",
     {{"POST ", 2}}},
    {"no answer",
     {MODERN, {.status = 200, .delay_ms = SCRIPT_NEVER_MS}},
     2,
     {.method = "m", .timeout_ms = 100},
     "! -17 no answer came within 0.1 s\n",
     {{"notifications/cancelled", 0}}},
    {"lost session is renewed, and the request repeated",
     {LEGACY_SESSION,
      NO_NOTICES,
      AGAIN,
      {.on = "Mcp-Session-Id: two", .status = 200, .body = RESULT(3, "{\"a\":1}")},
      {.status = 404, .body = ERROR(null, -32001)}},
     7,
     {.method = "m"},
     "= {\"a\":1}\n",
     {{"\"initialize\"", 2}, {CALL, 2}, {"notifications/initialized", 2}}},
    {"session lost twice",
     {LEGACY_SESSION, NO_NOTICES, AGAIN, {.status = 404}},
     6,
     {.method = "m"},
     "! -16 http://127.0.0.1 has no MCP server at this path (HTTP status 404)\n",
     {{"\"initialize\"", 2}, {CALL, 2}}},
    {"server that opens no new session",
     {LEGACY_SESSION, NO_NOTICES, {.on = "\"initialize\"", .status = 200, .body = ERROR(4, -1)}, {.status = 404}},
     6,
     {.method = "m"},
     "! -16 http://127.0.0.1 lost the session and did not begin another\n",
     {{"\"initialize\"", 2}, {CALL, 1}}},
    {"broken stream is resumed",
     {PROBE,
      TAKEN,
      {.on = "Last-Event-ID: e2", STREAM, .body = "data: " RESULT(3, "{\"a\":1}") "\n\n"},
      NO_NOTICES,
      {.on = "\"initialize\"", .status = 200, .body = RESULT(2, SELF)},
      {STREAM, .body = "id: e1\nretry: 0\ndata:\n\nid: e2\ndata: " NOTE("message", "{}") "\n\ndata: {",
       .cut = sizeof("id: e1\nretry: 0\ndata:\n\nid: e2\ndata: " NOTE("message", "{}") "\n\ndata") - 1}},
     6,
     {.method = "m"},
     "> notifications/message {}\n= {\"a\":1}\n",
     {{"Last-Event-ID: e2\r\n", 1}, {CALL, 1}}},
    {"stream that ends before the answer, and breaks again",
     {PROBE,
      TAKEN,
      {.on = "Last-Event-ID: e1", STREAM, .body = "id: e2\ndata: " NOTE("message", "{}") "\n\n"},
      {.on = "Last-Event-ID: e2", STREAM, .body = "data: " RESULT(3, "{}") "\n\n"},
      NO_NOTICES,
      {.on = "\"initialize\"", .status = 200, .body = RESULT(2, SELF)},
      {STREAM, .body = "id: e1\nretry: 0\ndata:\n\n"}},
     7,
     {.method = "m"},
     "> notifications/message {}\n= {}\n",
     {{"Last-Event-ID: e1\r\n", 1}, {"Last-Event-ID: e2\r\n", 1}, {CALL, 1}}},
    {"stream that cannot be resumed",
     {LEGACY, {STREAM, .body = "id: e1\nretry: 0\ndata:\n\n"}},
     5,
     {.method = "m"},
     "! -16 http://127.0.0.1 answered with HTTP status 405 and no message\n",
     {{"Last-Event-ID: e1\r\n", 1}}},
    {"stream that breaks every time",
     {PROBE,
      TAKEN,
      {.on = "Last-Event-ID: e1", STREAM, .body = ""},
      NO_NOTICES,
      {.on = "\"initialize\"", .status = 200, .body = RESULT(2, SELF)},
      {STREAM, .body = "id: e1\nretry: 0\ndata:\n\n"}},
     6,
     {.method = "m"},
     "! -16 http://127.0.0.1 sent an invalid answer to `m`; check that it is an MCP server\n",
     {{"Last-Event-ID: e1\r\n", 5}}},
    {"broken stream of a modern server",
     {MODERN, {STREAM, .body = "id: e1\nretry: 0\ndata:\n\n"}},
     2,
     {.method = "m"},
     "! -16 http://127.0.0.1 sent an invalid answer to `m`; check that it is an MCP server\n",
     {{"GET ", 0}}},
    {"answer above the limit",
     {MODERN, {.status = 200, .body = RESULT(2, "{}"), .filler = MCP_ANSWER_BYTES_MAX}},
     2,
     {.method = "m"},
     "! -3 the answer of http://127.0.0.1 is larger than 16 MB\n",
     {{"POST ", 2}}},
    {"event above the limit",
     {MODERN, {STREAM, .body = "data: x\n\n", .filler = MCP_ANSWER_BYTES_MAX}},
     2,
     {.method = "m"},
     "! -3 the answer of http://127.0.0.1 is larger than 16 MB\n",
     {{"POST ", 2}}},
};

/* Removes the port, which differs in each run. */
static void without_port(char *text)
{
    static const char host[] = "http://127.0.0.1";
    for (char *at = text; (at = strstr(at, host)) != NULL;) {
        at += sizeof host - 1;
        size_t len = at[0] == ':' ? 1 + strspn(at + 1, "0123456789") : 0;
        memmove(at, at + len, strlen(at + len) + 1);
    }
}

static void each_http_request_gets_its_answer(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++) {
        struct mcp_request request = talks[i].request;
        struct mcp_connection *connection;
        script_server_play(&server, talks[i].steps, talks[i].count);
        if (open_far(&connection, &options) < 0)
            fail_msg("%s: %s", talks[i].name, err.message);
        if (request.timeout_ms == 0)
            request.timeout_ms = 900000;
        char *events = talk(connection, &request, "");
        without_port(events);
        if (strcmp(events, talks[i].events) != 0 || !is_clean(events))
            fail_msg("%s: %s", talks[i].name, events);
        wt__mcp_disconnect(connection, true);
        for (size_t k = 0; k < 4 && talks[i].sent[k].what; k++)
            if (count_sent(talks[i].sent[k].what) != talks[i].sent[k].times)
                fail_msg("%s: \"%s\" was sent %zu times", talks[i].name, talks[i].sent[k].what,
                         count_sent(talks[i].sent[k].what));
        free(events);
    }
}

/* ---------------------------------------------------------------- cancellation and notices */

static void wait_until_sent(const char *what, size_t times)
{
    while (count_sent(what) < times)
        usleep(1000);
}

/* A cancel closes the stream of a modern server, and sends a notification to a legacy server. */
static void cancel_reaches_servers_of_both_eras(void **state)
{
    static const struct script_step steps[] = {MODERN, {.status = 200, .delay_ms = SCRIPT_NEVER_MS}},
                                    old[] = {LEGACY, {.status = 200, .delay_ms = SCRIPT_NEVER_MS}};
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "m", .timeout_ms = 900000};
    (void)state;
    for (int legacy = 0; legacy < 2; legacy++) {
        struct mcp_connection *connection;
        struct mcp_exchange *exchange;
        unsigned under_way = 1;
        script_server_play(&server, legacy ? old : steps, legacy ? 5 : 2);
        assert_int_equal(open_far(&connection, &options), 0);
        assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &request, &err), 0);
        wait_until_sent(CALL, 1);
        wt__mcp_exchange_end(exchange);
        while (under_way > 0) { /* wait until the server has seen the close */
            pthread_mutex_lock(&server.lock);
            under_way = server.under_way;
            pthread_mutex_unlock(&server.lock);
            usleep(1000);
        }
        if (legacy)
            wait_until_sent("\"notifications/cancelled\",\"params\":{\"requestId\":3,", 1);
        assert_int_equal(count_sent("notifications/cancelled"), legacy);
        wt__mcp_disconnect(connection, true);
    }
}

static void count_notice(void *context, struct str method, struct str params)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)params;
    pthread_mutex_lock(&lock);
    *(unsigned *)context += wt__str_equal(method, STR("notifications/tools/list_changed"));
    pthread_mutex_unlock(&lock);
}

/* The stream of notices is resumed after its last event, until the server answers with an error status. */
static void notice_stream_is_resumed(void **state)
{
    static const struct script_step steps[] = {
        PROBE,
        TAKEN,
        {.on = "\"initialize\"", .status = 200, SESSION("one"), .body = RESULT(2, SELF)},
        {.on = "Last-Event-ID: n2", .status = 405},
        {.on = "Last-Event-ID: n1", STREAM, .body = "id: n2\ndata: " NOTE("tools/list_changed", "{}") "\n\n"},
        {.on = "GET ",
         STREAM,
         .body = "id: n1\nretry: 0\ndata: " NOTE("tools/list_changed", "{}") "\n\ndata: " NOTE("message", "{}") "\n\n"},
        {.on = "DELETE ", .status = 204},
        {.status = 500},
    };
    struct mcp_connection *connection;
    unsigned notices = 0;
    const struct mcp_connection_options options = {.timeout_ms = 900000, .context = &notices, .noticed = count_notice};
    (void)state;
    script_server_play(&server, steps, sizeof steps / sizeof *steps);
    assert_int_equal(open_far(&connection, &options), 0);
    wait_until_sent("Last-Event-ID: n2", 1);
    wt__mcp_disconnect(connection, false);
    assert_int_equal(notices, 2);
    assert_int_equal(count_sent("GET "), 3);
    assert_int_equal(count_sent("DELETE "), 1);
    assert_int_equal(count_sent("Mcp-Session-Id: one\r\n"), 5);
}

/* was_sent is true if the server may have executed the request. With a session, status 404 proves that the server did
 * not execute it. */
static void was_sent_is_false_if_the_session_is_lost(void **state)
{
    static const struct {
        struct script_step steps[6];
        size_t count;
        bool sent;
    } rows[] = {
        {{LEGACY_SESSION, NO_NOTICES, AGAIN, {.status = 404}}, 6, false},
        {{MODERN, {.status = 500}}, 2, true},
        {{MODERN, {.status = 0}}, 2, true},
    };
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "m", .timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcp_connection *connection;
        struct mcp_exchange *exchange;
        struct mcp_event event;
        script_server_play(&server, rows[i].steps, rows[i].count);
        assert_int_equal(open_far(&connection, &options), 0);
        assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &request, &err), 0);
        assert_int_equal(wt__mcp_exchange_next(exchange, &event, &err), WT_ENETWORK);
        assert_int_equal(wt__mcp_exchange_was_sent(exchange), rows[i].sent);
        wt__mcp_exchange_end(exchange);
        wt__mcp_disconnect(connection, true);
    }
}

/* ---------------------------------------------------------------- lost sessions */

#define SAYS(code, words) "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":" #code ",\"message\":\"" words "\"}}"
#define PONG                                                                                                           \
    {                                                                                                                  \
        .on = "\"ping\"", .status = 200, .body = RESULT(4, "{}")                                                       \
    }
#define RENEWED                                                                                                        \
    LEGACY_SESSION, NO_NOTICES, AGAIN,                                                                                 \
    {                                                                                                                  \
        .on = "Mcp-Session-Id: two", .status = 200, .body = RESULT(3, "{\"a\":1}")                                     \
    }

/* Answers of real servers to a request over a lost session. acts_again: true if tools/call is repeated, since the
 * server cannot have executed the call. Other requests are always repeated. */
static const struct {
    const char *name;
    struct script_step answer;
    bool acts_again;
} lost_sessions[] = {
    {"400 with an error without an id", {.status = 400, .body = ERROR(null, -32000)}, true},
    {"400 with text", {.status = 400, .type = "text/plain", .body = "No valid session ID"}, true},
    {"401", {.status = 401}, true},
    {"403", {.status = 403}, true},
    {"404", {.status = 404}, true},
    {"410", {.status = 410}, true},
    {"422 with text", {.status = 422, .type = "text/plain", .body = "expect initialize request"}, true},
    {"500", {.status = 500}, false},
    {"500 with an error", {.status = 500, .body = SAYS(-32603, "session not found")}, false},
    {"502 with a page", {.status = 502, .type = "text/html", .body = "<html>session</html>"}, false},
    {"503", {.status = 503}, false},
    {"200 with an error", {.status = 200, .body = SAYS(-32600, "Session terminated")}, true},
    {"200 with an initialisation error", {.status = 200, .body = SAYS(-32002, "Server not initialized")}, true},
    {"200 with an internal error", {.status = 200, .body = SAYS(-32603, "Unknown session")}, false},
    {"error as an event", {STREAM, .body = "data: " SAYS(-32001, "Session expired") "\n\n"}, true},
};

static void lost_sessions_are_renewed(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof lost_sessions / sizeof *lost_sessions; i++)
        for (int acts = 0; acts < 2; acts++) {
            const struct mcp_request request = {.method = acts ? "tools/call" : "tools/list", .timeout_ms = 900000};
            const struct script_step steps[] = {RENEWED, lost_sessions[i].answer};
            const char *sent = acts ? "\"tools/call\"" : "\"tools/list\"";
            bool again = !acts || lost_sessions[i].acts_again;
            struct mcp_connection *connection;
            script_server_play(&server, steps, sizeof steps / sizeof *steps);
            assert_int_equal(open_far(&connection, &options), 0);
            char *events = talk(connection, &request, "");
            if ((strcmp(events, "= {\"a\":1}\n") == 0) != again || count_sent(sent) != (again ? 2 : 1))
                fail_msg("%s: sent %zu times: %s", lost_sessions[i].name, count_sent(sent), events);
            free(events);
            /* The next request goes over the new session. Its scripted answer has another id. */
            events = talk(connection, &request, "");
            if (!strstr(events, "an invalid answer") || count_sent("\"initialize\"") != 2)
                fail_msg("%s, the next: %zu sessions: %s", lost_sessions[i].name, count_sent("\"initialize\""), events);
            free(events);
            wt__mcp_disconnect(connection, true);
        }
}

/* An error while the session is valid belongs to the request: the session stays, and the request is not repeated. */
static void errors_of_valid_sessions_are_passed_on(void **state)
{
    static const struct {
        struct script_step answer;
        const char *says;
        size_t pings;
    } rows[] = {
        {{.status = 500}, "! -16 http://127.0.0.1 answered with HTTP status 500 and no message\n", 1},
        {{.status = 500, .body = SAYS(-32603, "boom")}, "- {\"code\":-32603,\"message\":\"boom\"}\n", 1},
        {{.status = 400, .body = ERROR(null, -32000)}, "- {\"code\":-32000,\"message\":\"no\"}\n", 1},
        {{.status = 400, .body = SAYS(-32602, "bad")}, "- {\"code\":-32602,\"message\":\"bad\"}\n", 0},
        {{.status = 200, .body = SAYS(-32000, "no browser session")},
         "- {\"code\":-32000,\"message\":\"no browser session\"}\n",
         1},
        {{STREAM, .body = "data: " SAYS(-32000, "no browser session") "\n\n"},
         "- {\"code\":-32000,\"message\":\"no browser session\"}\n",
         1},
        {{.status = 200, .body = SAYS(-32000, "boom")}, "- {\"code\":-32000,\"message\":\"boom\"}\n", 0},
        {{.status = 429}, "! -16 http://127.0.0.1 answered with HTTP status 429 and no message\n", 0},
    };
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "tools/list", .timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct script_step steps[] = {LEGACY_SESSION, NO_NOTICES, PONG, rows[i].answer};
        struct mcp_connection *connection;
        script_server_play(&server, steps, sizeof steps / sizeof *steps);
        assert_int_equal(open_far(&connection, &options), 0);
        char *events = talk(connection, &request, "");
        without_port(events);
        if (strcmp(events, rows[i].says) != 0 || count_sent("\"ping\"") != rows[i].pings ||
            count_sent("\"initialize\"") != 1 || count_sent("\"tools/list\"") != 1)
            fail_msg("%zu: %zu pings: %s", i, count_sent("\"ping\""), events);
        free(events);
        wt__mcp_disconnect(connection, true);
    }
}

/* If a server is down for a while, only the requests of that time fail. The session is renewed later. */
static void session_is_renewed_after_an_outage(void **state)
{
    static const struct script_step steps[] = {
        LEGACY_SESSION,
        NO_NOTICES,
        {.on = "\"initialize\"", .status = 503},
        AGAIN,
        {.on = "Mcp-Session-Id: two", .status = 200, .body = RESULT(3, "{\"a\":1}")},
        {.status = 503}};
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "tools/list", .timeout_ms = 900000};
    struct mcp_connection *connection;
    (void)state;
    script_server_play(&server, steps, sizeof steps / sizeof *steps);
    assert_int_equal(open_far(&connection, &options), 0);
    char *events = talk(connection, &request, "");
    without_port(events);
    assert_string_equal(events, "! -16 http://127.0.0.1 answered with HTTP status 503 and no message\n");
    free(events);
    events = talk(connection, &request, "");
    assert_non_null(
        strstr(events, "an invalid answer")); /* sent over the new session; the scripted answer has another id */
    free(events);
    wt__mcp_disconnect(connection, true);
}

/* ---------------------------------------------------------------- redirects */

#define LOCATION(where) .headers = "Location: " where "\r\n"
#define SERVED                                                                                                         \
    {                                                                                                                  \
        .on = "POST /some-key-4711/mcp/", .status = 200, .body = RESULT(1, DISCOVERED)                                 \
    }

/* Redirects during the opening. steps: the answer of the target if the redirect is followed, then the redirect. */
static const struct {
    const char *name;
    struct script_step steps[3];
    int rc;
    const char *says; /* result of the opening, or part of the message */
} redirects[] = {
    {"307 to the path with a slash", {SERVED, {.status = 307, LOCATION("/some-key-4711/mcp/")}}, 0, DISCOVERED},
    {"308 to another path",
     {{.on = "POST /v2/mcp", .status = 200, .body = RESULT(1, DISCOVERED)}, {.status = 308, LOCATION("/v2/mcp")}},
     0,
     DISCOVERED},
    {"301 to the path with a slash", {SERVED, {.status = 301, LOCATION("/some-key-4711/mcp/")}}, 0, DISCOVERED},
    {"added slash, other scheme",
     {SERVED, {.status = 307, LOCATION("https://127.0.0.1/some-key-4711/mcp/?token=abcdef")}},
     0,
     DISCOVERED},
    {"302 to another path",
     {{.status = 302, LOCATION("/v2/mcp")}},
     WT_ENETWORK,
     "redirects to /v2/mcp (HTTP status 302)"},
    {"307 to another port",
     {{.status = 307, LOCATION("http://me:pass@127.0.0.1:1/mcp?key=hidden")}},
     WT_ENETWORK,
     "redirects to http://127.0.0.1:1/mcp (HTTP status 307), which is not followed: use that address in the "
     "configuration if it is the server's"},
    {"307 to another scheme", {{.status = 307, LOCATION("ftp://127.0.0.1/mcp")}}, WT_ENETWORK, "redirects to ftp://"},
    {"307 without an address", {{.status = 307}}, WT_ENETWORK, "redirects to another address (HTTP status 307)"},
    {"307 in a circle",
     {{.status = 307, LOCATION("/some-key-4711/mcp?token=abcdef")}},
     WT_ENETWORK,
     "(HTTP status 307), which is not followed"},
};

static void redirects_to_the_same_place_are_followed(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof redirects / sizeof *redirects; i++) {
        struct mcp_connection *connection;
        size_t count = redirects[i].steps[1].status ? 2 : 1;
        script_server_play(&server, redirects[i].steps, count);
        int rc = open_far(&connection, &options);
        struct str self = rc == 0 ? wt__mcp_connection_self(connection) : wt__str(err.message);
        bool right = rc == 0 ? wt__str_equal(self, wt__str(redirects[i].says))
                             : strstr(err.message, redirects[i].says) && is_clean(err.message) &&
                                   !strstr(err.message, "pass") && !strstr(err.message, "hidden");
        if (rc != redirects[i].rc || !right)
            fail_msg("%s: %d, \"%.*s\"", redirects[i].name, rc, (int)self.len, self.ptr);
        if (rc == 0) { /* the target gets the credentials too, and the next request goes to the target directly */
            const struct mcp_request request = {.method = "m", .timeout_ms = 1};
            free(talk(connection, &request, ""));
            assert_int_equal(count_sent("bearer-of-secrets"), count_sent("POST "));
            assert_int_equal(count_sent("POST /some-key-4711/mcp?"), 1);
        }
        wt__mcp_disconnect(connection, true);
    }
}

/* ---------------------------------------------------------------- reasons of refusals */

static const struct {
    int status;
    const char *type, *body;
    const char *says;
} refusals[] = {
    {401, NULL, "{\"error\":\"invalid_client\",\"error_description\":\"The key has expired\"}",
     "(HTTP status 401): add its header to \"headers\" in the configuration; it says: invalid_client: The key has "
     "expired"},
    {403, NULL, "{\"error\":\"only members of acme\"}", "; it says: only members of acme"},
    {404, NULL, "{\"error\":{\"message\":\"no such tenant\"}}", "(HTTP status 404); it says: no such tenant"},
    {429, NULL, "{\"error\":\"Rate limit exceeded\",\"message\":\"try in 30 s\"}",
     "HTTP status 429 and no message; it says: Rate limit exceeded: try in 30 s"},
    {429, "text/plain", "Too Many Requests\nreally", "; it says: Too Many Requests"},
    {500, NULL, "{\"detail\":\"boom\"}", "; it says: boom"},
    {503, NULL, "{\"message\":\"down for maintenance\"}", "; it says: down for maintenance"},
    {500, NULL, "{\"error\":\"a\\u0007b\\u001b[31mc\\u202ed\\u009be\"}", "; it says: a b [31mc\\u202ed\\u009be"},
    {500, "text/html", "<html>no</html>", "HTTP status 500 and no message"},
    {500, NULL, "{\"error\":\"the bearer-of-secrets is wrong\"}", "; it says: the *** is wrong"},
    {500, NULL, "[1]", "HTTP status 500 and no message"},
    {500, NULL, "{\"error\":", "HTTP status 500 and no message"},
};

static void reasons_of_refusals_are_reported(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "m", .timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct script_step steps[] = {
            MODERN, {.status = refusals[i].status, .type = refusals[i].type, .body = refusals[i].body}};
        struct mcp_connection *connection;
        script_server_play(&server, steps, 2);
        assert_int_equal(open_far(&connection, &options), 0);
        char *events = talk(connection, &request, "");
        size_t len = strlen(events), said = strlen(refusals[i].says);
        bool ends = len > said && strncmp(events + len - 1 - said, refusals[i].says, said) == 0;
        if (events[0] != '!' || !ends || !is_clean(events))
            fail_msg("%d %s: %s", refusals[i].status, refusals[i].body, events);
        free(events);
        wt__mcp_disconnect(connection, true);
    }
}

/* The quoted part of a body is limited, and ends with a whole word. */
static void long_reason_is_truncated(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "m", .timeout_ms = 900000};
    static char body[6000]; /* static: the server's thread may still read it at the end */
    struct mcp_connection *connection;
    int len = snprintf(body, sizeof body, "{\"error\":\"");
    (void)state;
    for (int i = 0; i < 1000; i++)
        len += snprintf(body + len, sizeof body - (size_t)len, "term ");
    snprintf(body + len, sizeof body - (size_t)len, "\"}");
    const struct script_step steps[] = {MODERN, {.status = 500, .body = body}};
    script_server_play(&server, steps, 2);
    assert_int_equal(open_far(&connection, &options), 0);
    char *events = talk(connection, &request, "");
    assert_in_range(strlen(events), 300, 420);
    assert_non_null(strstr(events, "term term ..."));
    free(events);
    wt__mcp_disconnect(connection, true);
}

/* ---------------------------------------------------------------- HTTP+SSE, the transport of 2024 */

#define OLD                                                                                                            \
    {.on = "server/discover", .status = 404},                                                                          \
    {                                                                                                                  \
        .on = "POST /some-key", .status = 405                                                                          \
    }
#define POSTED                                                                                                         \
    {                                                                                                                  \
        .on = "POST /post?id=7", .status = 202                                                                         \
    }
#define ENDPOINT(where) "event: endpoint\ndata: " where "\n\n"
#define EVENT(message) "event: message\ndata: " message "\n\n"
#define LISTENING .body = ENDPOINT("/post?id=7"), .more = {{"\"id\":3,", EVENT(RESULT(3, SELF))}}

/* Streamable HTTP is tried first, so `initialize` has the ids 2 and 3, and the request has the id 4. */
static const struct {
    const char *name;
    struct script_step steps[4];
    int rc;
    const char *says; /* error message if the opening fails, else the events */
} older[] = {
    {"question on the stream",
     {OLD,
      POSTED,
      {STREAM, .no_length = true, .body = ENDPOINT("/post?id=7"),
       .more = {{"\"id\":3,", EVENT(RESULT(3, SELF))},
                {CALL, EVENT("{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}")},
                {"{\"roots\":[]}", EVENT(RESULT(4, "{}"))}}}},
     0,
     "? roots/list \n= {}\n"},
    {"stream that ends",
     {OLD,
      POSTED,
      {STREAM, .no_length = true, .body = ENDPOINT("../post?id=7"),
       .more = {{"\"id\":3,", EVENT(RESULT(3, SELF))}, {CALL, ": bye\n\n"}}}},
     0,
     "! -16 http://127.0.0.1 closed its event stream\n"},
    {"endpoint on another origin",
     {OLD, POSTED, {STREAM, .no_length = true, .body = ENDPOINT("http://127.0.0.2/post?id=7")}},
     WT_ENETWORK,
     "http://127.0.0.1 answered with HTTP status 405 and no message"},
    {"wrong content type of the event stream",
     {OLD, POSTED, {.status = 200, .type = "text/html", .no_length = true, LISTENING}},
     WT_ENETWORK,
     "http://127.0.0.1 answered with HTTP status 405 and no message"},
    {"status 403 of the event stream",
     {OLD, POSTED, {.status = 403, .type = "text/event-stream", .no_length = true, LISTENING}},
     WT_ENETWORK,
     "http://127.0.0.1 answered with HTTP status 405 and no message"},
    {"status 404 of the event stream",
     {OLD, POSTED, {.status = 404}},
     WT_ENETWORK,
     "answered with HTTP status 405 and no message"},
};

static void older_servers_are_reached_by_http_sse(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {.method = "m", .timeout_ms = 900000};
    (void)state;
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        struct mcp_connection *connection;
        script_server_play(&server, older[i].steps, 4);
        int rc = open_far(&connection, &options);
        char *events = rc == 0 ? talk(connection, &request, "{\"roots\":[]}") : strdup(err.message);
        without_port(events);
        bool right = rc == 0 ? strcmp(events, older[i].says) == 0 : strstr(events, older[i].says) != NULL;
        if (rc != older[i].rc || !right || !is_clean(events))
            fail_msg("%s: %d, %s", older[i].name, rc, events);
        assert_true(rc < 0 || wt__mcp_connection_era(connection) == MCP_ERA_LEGACY);
        assert_int_equal(count_sent("POST /post?id=7") > 0, rc == 0);
        wt__mcp_disconnect(connection, true);
        free(events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_http_server_opens_in_its_era),
        cmocka_unit_test(each_http_request_gets_its_answer),
        cmocka_unit_test(cancel_reaches_servers_of_both_eras),
        cmocka_unit_test(notice_stream_is_resumed),
        cmocka_unit_test(was_sent_is_false_if_the_session_is_lost),
        cmocka_unit_test(lost_sessions_are_renewed),
        cmocka_unit_test(errors_of_valid_sessions_are_passed_on),
        cmocka_unit_test(session_is_renewed_after_an_outage),
        cmocka_unit_test(redirects_to_the_same_place_are_followed),
        cmocka_unit_test(reasons_of_refusals_are_reported),
        cmocka_unit_test(long_reason_is_truncated),
        cmocka_unit_test(older_servers_are_reached_by_http_sse),
    };
    return cmocka_run_group_tests(tests, start_far_server, stop_far_server);
}
