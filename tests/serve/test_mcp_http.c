/* Tests MCP over HTTP: errors, sessions, streams, and closed connections in each era. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/served.h"
#include "recorder.h"
#include "serve/mcp/internal.h"
#include "serve/mcp/transport.h"
#include "waiting.h"

static wt_error err;
static struct mcp_service *service;
static struct mcp_http *http;
static struct server_under_test served;

static _Atomic int64_t clock_ms = 1000000000;

static double fake_http_now_ms(void)
{
    return (double)clock_ms;
}

/* Takes the principal from the header Who. A real server would authenticate the client. */
static void answer_mcp_request(void *context, struct http_exchange *exchange)
{
    struct str who = wt__http_field(wt__http_request(exchange), "Who");
    char principal[2048];
    (void)context;
    snprintf(principal, sizeof principal, "%.*s", (int)who.len, who.ptr);
    wt__mcp_http_answer(http, exchange, &(struct mcp_asker){.principal = principal, .may_call = true});
}

static size_t limit_mcp_body(void *context, const struct http_request *head)
{
    (void)context;
    (void)head;
    return MCP_MESSAGE_BYTES_MAX;
}

static int start_http_server(void **state)
{
    (void)state;
    static const struct mcp_service_options options = {.now_ms = fake_http_now_ms};
    if (waiting_open(&service, &options, &err) < 0 || wt__mcp_http_open(&http, service, &err) < 0)
        return -1;
    start_server(&served, (struct http_server_options){
                              .workers = 3, .handler = {.answer = answer_mcp_request, .body_max = limit_mcp_body}});
    return 0;
}

static int stop_http_server(void **state)
{
    (void)state;
    wt__mcp_service_stop(service);
    stop_server(&served);
    wt__mcp_http_close(http);
    waiting_close(service);
    return 0;
}

/* ---------------------------------------------------------------- client */

#define JSON_FIELDS "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
#define MODERN_FIELDS JSON_FIELDS "MCP-Protocol-Version: 2026-07-28\r\n"
#define METHOD_FIELDS(method) MODERN_FIELDS "Mcp-Method: " method "\r\n"
#define CALL_FIELDS(name) METHOD_FIELDS("tools/call") "Mcp-Name: " name "\r\n"
#define TOOL(name) ",\"name\":\"" name "\",\"arguments\":{}"

static void send_http_request(int client, const char *method, const char *fields, const char *body)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "%s /mcp HTTP/1.1\r\nHost: localhost\r\n%s", method, fields);
    if (body)
        wt__buffer_printf(&text, "Content-Length: %zu\r\n", strlen(body));
    wt__buffer_printf(&text, "\r\n%s", body ? body : "");
    send_text(client, text.ptr);
    wt__buffer_dispose(&text);
}

static int open_request(const char *method, const char *fields, const char *body)
{
    int client = connect_to(served.server);
    send_http_request(client, method, fields, body);
    return client;
}

/* Sends a request. Returns the whole response, with its head; free it with free(). */
static char *ask_http(const char *method, const char *fields, const char *body)
{
    char all[4096];
    struct buffer in = {0};
    snprintf(all, sizeof all, "Connection: close\r\n%s", fields);
    int client = open_request(method, all, body);
    receive_to_end(client, &in);
    close(client);
    return wt__buffer_take(&in);
}

static int read_status_line(const char *said)
{
    return strncmp(said, "HTTP/1.1 ", 9) == 0 ? atoi(said + 9) : 0;
}

static void begin_http_session(char id[64], const char *who)
{
    char fields[512];
    snprintf(fields, sizeof fields, JSON_FIELDS "Who: %s\r\n", who);
    char *said = ask_http("POST", fields, INITIALIZE);
    const char *field = strcasestr(said, "Mcp-Session-Id: ");
    assert_non_null(field);
    snprintf(id, 64, "%.*s", (int)strcspn(field + 16, "\r"), field + 16);
    assert_int_equal(strlen(id), MCP_SESSION_ID_BYTES - 1);
    free(said);
}

/* ---------------------------------------------------------------- single requests */

static const struct {
    const char *name, *method, *fields, *body;
    int status;
    const char *says[2];
} rows[] = {
    /* HTTP headers */
    {"a modern request",
     "POST",
     METHOD_FIELDS("tools/list"),
     MODERN("1", "tools/list", ""),
     200,
     {"application/json", "\"tools\":["}},
    {"Content-Type is text/plain", "POST", "Content-Type: text/plain\r\n", MODERN("1", "tools/list", ""), 415, {NULL}},
    {"no Content-Type", "POST", "", MODERN("1", "tools/list", ""), 415, {NULL}},
    {"Content-Type with a parameter",
     "POST",
     "content-type: Application/JSON; charset=utf-8\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n",
     MODERN("1", "tools/list", ""),
     200,
     {"\"tools\":["}},
    {"accepts only JSON",
     "POST",
     "Content-Type: application/json\r\nAccept: application/json\r\n",
     MODERN("1", "tools/list", ""),
     406,
     {NULL}},
    {"accepts only streams",
     "POST",
     "Content-Type: application/json\r\nAccept: text/event-stream\r\n",
     MODERN("1", "tools/list", ""),
     406,
     {NULL}},
    {"accepts anything",
     "POST",
     "Content-Type: application/json\r\nAccept: text/html, */*;q=0.1\r\nMCP-Protocol-Version: 2026-07-28\r\n"
     "Mcp-Method: tools/list\r\n",
     MODERN("1", "tools/list", ""),
     200,
     {"\"tools\":["}},
    {"accepts ranges of types",
     "POST",
     "Content-Type: application/json\r\nAccept: application/*,text/*\r\nMCP-Protocol-Version: 2026-07-28\r\n"
     "Mcp-Method: tools/list\r\n",
     MODERN("1", "tools/list", ""),
     200,
     {"\"tools\":["}},
    {"PUT", "PUT", JSON_FIELDS, "{}", 405, {"Allow: GET, POST, DELETE"}},
    {"GET without a session", "GET", "Accept: text/event-stream\r\n", NULL, 405, {"Allow: POST"}},
    {"GET in the modern era", "GET", "MCP-Protocol-Version: 2026-07-28\r\nMcp-Session-Id: x\r\n", NULL, 405, {NULL}},
    {"DELETE without a session", "DELETE", "", NULL, 405, {NULL}},
    {"invalid JSON", "POST", JSON_FIELDS, "{", 400, {"-32700"}},
    {"arguments with an invalid string",
     "POST",
     CALL_FIELDS("echo"),
     MODERN("\"mine\"", "tools/call", ",\"name\":\"echo\",\"arguments\":{\"a\":\"\\ud800\"}"),
     400,
     {"\"id\":\"mine\",\"error\":{\"code\":-32602,", "params.arguments: "}},
    {"a batch", "POST", JSON_FIELDS, "[]", 400, {"-32600"}},
    {"no body", "POST", JSON_FIELDS, "", 400, {"-32700"}},

    /* headers compared with the body */
    {"no version",
     "POST",
     JSON_FIELDS "Mcp-Method: tools/list\r\n",
     MODERN("7", "tools/list", ""),
     400,
     {"-32020", "\"id\":7"}},
    {"another version",
     "POST",
     JSON_FIELDS "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n",
     MODERN("1", "tools/list", ""),
     400,
     {"-32020"}},
    {"a version in base64",
     "POST",
     JSON_FIELDS "MCP-Protocol-Version: =?base64?MjAyNi0wNy0yOA==?=\r\n",
     MODERN("1", "tools/list", ""),
     400,
     {"-32020"}},
    {"two versions",
     "POST",
     METHOD_FIELDS("tools/list") "MCP-Protocol-Version: 2026-07-28\r\n",
     MODERN("1", "tools/list", ""),
     400,
     {NULL}},
    {"an unknown version without _meta",
     "POST",
     JSON_FIELDS "MCP-Protocol-Version: 2031-01-01\r\n",
     REQUEST("1", "tools/list", ""),
     400,
     {"-32602"}},
    {"no method", "POST", MODERN_FIELDS, MODERN("1", "tools/list", ""), 400, {"-32020", "Mcp-Method is missing"}},
    {"another method", "POST", METHOD_FIELDS("tools/call"), MODERN("1", "tools/list", ""), 400, {"-32020"}},
    {"a method in capitals", "POST", METHOD_FIELDS("TOOLS/LIST"), MODERN("1", "tools/list", ""), 400, {"-32020"}},
    {"two methods",
     "POST",
     METHOD_FIELDS("tools/list") "Mcp-Method: tools/call\r\n",
     MODERN("1", "tools/list", ""),
     400,
     {NULL}},
    {"the name of the tool",
     "POST",
     CALL_FIELDS("echo"),
     MODERN("1", "tools/call", TOOL("echo")),
     200,
     {"\"text\":\"{}\""}},
    {"a name in base64",
     "POST",
     CALL_FIELDS("=?base64?ZWNobw==?="),
     MODERN("1", "tools/call", TOOL("echo")),
     200,
     {NULL}},
    {"a name in bad base64",
     "POST",
     CALL_FIELDS("=?base64?ZWNobw=?="),
     MODERN("1", "tools/call", TOOL("echo")),
     400,
     {"-32020"}},
    {"another name in base64",
     "POST",
     CALL_FIELDS("=?base64?d2FpdA==?="),
     MODERN("1", "tools/call", TOOL("echo")),
     400,
     {"-32020"}},
    {"no name",
     "POST",
     METHOD_FIELDS("tools/call"),
     MODERN("1", "tools/call", TOOL("echo")),
     400,
     {"-32020", "Mcp-Name is missing"}},
    {"another name", "POST", CALL_FIELDS("wait"), MODERN("1", "tools/call", TOOL("echo")), 400, {"-32020"}},
    {"two names",
     "POST",
     CALL_FIELDS("echo") "mcp-name: wait\r\n",
     MODERN("1", "tools/call", TOOL("echo")),
     400,
     {NULL}},
    {"an unknown method", "POST", METHOD_FIELDS("x/y"), MODERN("1", "x/y", ""), 404, {"-32601"}},
    {"an unknown tool", "POST", CALL_FIELDS("nope"), MODERN("1", "tools/call", TOOL("nope")), 200, {"-32602"}},
    {"a missing capability",
     "POST",
     CALL_FIELDS("ask"),
     REQUEST("1", "tools/call",
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
             "clientCapabilities\":{}}" TOOL("ask")),
     400,
     {"-32021"}},
    {"a session in the modern era",
     "POST",
     METHOD_FIELDS("tools/list") "Mcp-Session-Id: nope\r\n",
     MODERN("1", "tools/list", ""),
     200,
     {NULL}},
    {"a modern notification",
     "POST",
     MODERN_FIELDS,
     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
     202,
     {NULL}},
    {"a modern response",
     "POST",
     MODERN_FIELDS,
     "{\"jsonrpc\":\"2.0\",\"id\":\"whichtool-1\",\"result\":{}}",
     400,
     {"-32600"}},

    /* legacy, without a session */
    {"no session", "POST", JSON_FIELDS, REQUEST("3", "tools/list", ""), 400, {"-32600", "\"id\":3"}},
    {"an unknown session",
     "POST",
     JSON_FIELDS "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n",
     REQUEST("3", "tools/list", ""),
     404,
     {"\"id\":3"}},
    {"a notification without a session",
     "POST",
     JSON_FIELDS,
     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
     400,
     {NULL}},
    {"initialize without parameters", "POST", JSON_FIELDS, REQUEST("1", "initialize", ""), 200, {"-32602"}},
};

static void requests_get_the_right_status_and_body(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = ask_http(rows[i].method, rows[i].fields, rows[i].body);
        bool right = read_status_line(said) == rows[i].status;
        for (size_t n = 0; n < 2 && rows[i].says[n]; n++)
            right &= strstr(said, rows[i].says[n]) != NULL;
        if (!right)
            fail_msg("%s: %s", rows[i].name, said);
        assert_null(strcasestr(said, "\r\nmcp-session-id"));
        free(said);
    }
}

static void a_connection_serves_both_eras(void **state)
{
    struct buffer in = {0}, one = {0};
    (void)state;
    int client = open_request("POST", METHOD_FIELDS("tools/list"), MODERN("1", "tools/list", ""));
    assert_non_null(strstr(receive_answer(client, &in, &one), "\"resultType\""));
    send_http_request(client, "POST", JSON_FIELDS, INITIALIZE);
    assert_non_null(strstr(receive_answer(client, &in, &one), "\"protocolVersion\":\"2025-11-25\""));
    send_http_request(client, "POST", METHOD_FIELDS("tools/list"), MODERN("1", "tools/list", ""));
    assert_non_null(strstr(receive_answer(client, &in, &one), "\"id\":1,"));
    close(client);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&one);
}

/* ---------------------------------------------------------------- sessions */

static char *ask_in(const char *session, const char *who, const char *method, const char *body)
{
    char fields[512];
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\nWho: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n",
             session, who);
    return ask_http(method, fields, body);
}

static void sessions_are_bound_to_their_principal(void **state)
{
    char id[64], other[64];
    (void)state;
    begin_http_session(id, "alice");
    begin_http_session(other, "alice");
    assert_string_not_equal(id, other);
    const struct {
        const char *session, *who, *method, *body;
        int status;
    } steps[] = {
        {id, "alice", "POST", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202},
        {id, "alice", "POST", REQUEST("1", "tools/list", ""), 200},
        {id, "bob", "POST", REQUEST("1", "tools/list", ""), 404},
        {id, "", "POST", REQUEST("1", "tools/list", ""), 404},
        {id, "bob", "DELETE", NULL, 404},
        {id, "bob", "GET", NULL, 404},
        {id, "alice", "POST", REQUEST("1", "tools/list", ""), 200},
        {id, "alice", "DELETE", NULL, 204},
        {id, "alice", "POST", REQUEST("1", "tools/list", ""), 404},
        {id, "alice", "DELETE", NULL, 404},
        {id, "alice", "GET", NULL, 404},
        {other, "alice", "POST", REQUEST("1", "tools/list", ""), 200},
        {other, "alice", "DELETE", NULL, 204},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char *said = ask_in(steps[i].session, steps[i].who, steps[i].method, steps[i].body);
        if (read_status_line(said) != steps[i].status)
            fail_msg("step %zu: %s", i, said);
        free(said);
    }
}

/* Adds a session with a new peer. */
static int add_session_of(struct mcp_sessions *sessions, const char *principal, char id[MCP_SESSION_ID_BYTES])
{
    struct mcp_peer *peer = wt__mcp_peer_open(sessions->service, principal, true);
    int rc = wt__mcp_session_add(sessions, peer, id, &err);
    if (rc < 0)
        wt__mcp_peer_close(peer);
    wt__mcp_peer_release(peer);
    return rc;
}

static void add_session(struct mcp_sessions *sessions, char id[MCP_SESSION_ID_BYTES])
{
    assert_int_equal(add_session_of(sessions, "p", id), 0);
}

static bool has_session_of(struct mcp_sessions *sessions, const char *principal, const char *id)
{
    struct mcp_peer *peer = wt__mcp_session_find(sessions, wt__str(id), principal);
    wt__mcp_peer_release(peer);
    return peer;
}

static bool has_session(struct mcp_sessions *sessions, const char *id)
{
    return has_session_of(sessions, "p", id);
}

static void idle_and_excess_sessions_end(void **state)
{
    static const struct mcp_service_options options = {.now_ms = fake_http_now_ms,
                                                       .sessions_max = 200}; /* one principal gets half */
    char ids[101][MCP_SESSION_ID_BYTES];
    struct mcp_service *small;
    struct mcp_sessions sessions;
    (void)state;
    assert_int_equal(wt__mcp_service_open(&small, &service->features, &options, &err), 0);
    wt__mcp_sessions_open(&sessions, small);
    assert_false(has_session(&sessions, "0123456789abcdef0123456789abcdef"));
    for (size_t i = 0; i < 100; i++)
        add_session(&sessions, ids[i]);
    assert_true(has_session(&sessions, ids[0])); /* just used, so ids[1] is the oldest */
    add_session(&sessions, ids[100]);
    assert_true(has_session(&sessions, ids[0]));
    assert_false(has_session(&sessions, ids[1]));
    for (size_t i = 2; i <= 100; i++)
        assert_true(has_session(&sessions, ids[i]));
    clock_ms += MCP_SESSION_IDLE_MS - 1;
    wt__mcp_sessions_expire(&sessions);
    assert_int_equal(sessions.count, 100);
    assert_true(has_session(&sessions, ids[50]));
    clock_ms += 1;
    wt__mcp_sessions_expire(&sessions);
    assert_int_equal(sessions.count, 1);
    struct recorder *stream = recorder_open();
    wt__mcp_peer_stream(wt__mcp_session_find(&sessions, wt__str(ids[50]), "p"), &stream->channel);
    wt__mcp_peer_release(small->peers); /* the reference that wt__mcp_session_find returned */
    clock_ms += 2 * (int64_t)MCP_SESSION_IDLE_MS;
    wt__mcp_sessions_expire(&sessions);
    assert_int_equal(sessions.count, 1); /* the session has an open stream */
    stream->gone = true;
    wt__mcp_sessions_expire(&sessions);
    assert_int_equal(sessions.count, 0);
    assert_null(small->peers);
    wt__mcp_channel_release(&stream->channel);
    wt__mcp_sessions_close(&sessions);
    wt__mcp_service_close(small);
}

static void set_running(struct mcp_sessions *sessions, const char *id, size_t count)
{
    struct mcp_peer *peer = wt__mcp_session_find(sessions, wt__str(id), "a");
    assert_non_null(peer);
    pthread_mutex_lock(&peer->lock);
    peer->running_count = count;
    pthread_mutex_unlock(&peer->lock);
    wt__mcp_peer_release(peer);
}

/* If a principal opens too many sessions, its own sessions end, unused sessions first. */
static void a_principal_opening_many_sessions_ends_only_its_own(void **state)
{
    enum { MOST = 100, HALF = MOST / 2, FLOOD = 10 * MOST };
    static const struct mcp_service_options options = {.now_ms = fake_http_now_ms, .sessions_max = MOST};
    char others[MCP_SESSION_ID_BYTES], busy[MCP_SESSION_ID_BYTES], used[MCP_SESSION_ID_BYTES], id[MCP_SESSION_ID_BYTES];
    struct mcp_service *small;
    struct mcp_sessions sessions;
    (void)state;
    assert_int_equal(wt__mcp_service_open(&small, &service->features, &options, &err), 0);
    wt__mcp_sessions_open(&sessions, small);
    assert_int_equal(add_session_of(&sessions, "b", others), 0);
    assert_int_equal(add_session_of(&sessions, "a", busy), 0);
    set_running(&sessions, busy, 1);
    assert_int_equal(add_session_of(&sessions, "a", used), 0);
    assert_true(has_session_of(&sessions, "a", used));
    for (int i = 0; i < FLOOD; i++)
        assert_int_equal(add_session_of(&sessions, "a", id), 0);
    assert_in_range(sessions.count, 2, HALF + 1);
    assert_true(has_session_of(&sessions, "b", others));
    assert_true(has_session_of(&sessions, "a", busy)); /* the oldest session of a, but with a running call */
    assert_true(has_session_of(&sessions, "a", used));
    assert_true(has_session_of(&sessions, "a", id));
    set_running(&sessions, busy, 0);
    wt__mcp_sessions_close(&sessions);
    wt__mcp_service_close(small);
}

static void a_principal_with_all_sessions_in_use_gets_no_more(void **state)
{
    enum { MOST = 8 };
    static const struct mcp_service_options options = {.now_ms = fake_http_now_ms, .sessions_max = MOST};
    char ids[MOST / 2][MCP_SESSION_ID_BYTES], id[MCP_SESSION_ID_BYTES];
    struct mcp_service *small;
    struct mcp_sessions sessions;
    (void)state;
    assert_int_equal(wt__mcp_service_open(&small, &service->features, &options, &err), 0);
    wt__mcp_sessions_open(&sessions, small);
    for (int i = 0; i < MOST / 2; i++) {
        assert_int_equal(add_session_of(&sessions, "a", ids[i]), 0);
        set_running(&sessions, ids[i], 1);
    }
    assert_int_equal(add_session_of(&sessions, "a", id), WT_EBUSY);
    assert_string_equal(err.message, "4 sessions of this client are in use, its share of 8; end one with "
                                     "DELETE, or try again later");
    assert_int_equal(add_session_of(&sessions, "b", id), 0);
    for (int i = 0; i < MOST / 2; i++) {
        assert_true(has_session_of(&sessions, "a", ids[i]));
        set_running(&sessions, ids[i], 0);
    }
    assert_int_equal(add_session_of(&sessions, "a", id), 0);
    wt__mcp_sessions_close(&sessions);
    wt__mcp_service_close(small);
}

/* ---------------------------------------------------------------- streams */

/* If a message precedes the response, the response is an event stream. */
static void early_messages_start_a_stream(void **state)
{
    (void)state;
    meanwhile_reset();
    meanwhile_add(&meanwhile.let_go);
    char *said = ask_http("POST", CALL_FIELDS("wait"),
                          REQUEST("1", "tools/call",
                                  "\"_meta\":{\"progressToken\":1,\"io.modelcontextprotocol/protocolVersion\":"
                                  "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}" TOOL("wait")));
    assert_non_null(strstr(said, "Content-Type: text/event-stream"));
    assert_non_null(strstr(said, "X-Accel-Buffering: no"));
    assert_non_null(strstr(said, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""));
    assert_non_null(strstr(said, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"));
    assert_non_null(strstr(said, "\r\n0\r\n\r\n"));
    free(said);
}

static void a_listener_gets_changes_until_it_closes(void **state)
{
    struct buffer in = {0};
    (void)state;
    int client = open_request("POST", METHOD_FIELDS("subscriptions/listen"),
                              MODERN("4", "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}"));
    receive_until(client, &in, "acknowledged");
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    receive_until(client, &in, "notifications/tools/list_changed");
    assert_int_equal(service->listener_count, 1);
    close(client);
    for (bool gone = false; !gone;) {
        pthread_mutex_lock(&service->notice_lock);
        gone = service->listener_count == 0;
        pthread_mutex_unlock(&service->notice_lock);
        usleep(1000);
    }
    wt__buffer_dispose(&in);
}

static void a_legacy_stream_gets_changes(void **state)
{
    char id[64], fields[256];
    struct buffer one = {0}, two = {0};
    (void)state;
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", id);
    int first = open_request("GET", fields, NULL);
    receive_until(first, &one, ":\n\n");
    int second = open_request("GET", fields, NULL); /* replaces the first */
    receive_until(second, &two, ":\n\n");
    receive_until(first, &one, "\r\n0\r\n\r\n");
    wt__mcp_service_changed(service, MCP_RESOURCES_CHANGED);
    receive_until(second, &two, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}\n\n");
    free(ask_in(id, "", "DELETE", NULL));
    receive_until(second, &two, "\r\n0\r\n\r\n");
    close(first);
    close(second);
    wt__buffer_dispose(&one);
    wt__buffer_dispose(&two);
}

/* Blocks the registration of a stream, and checks that the client gets no bytes meanwhile. Otherwise a client could see
 * its stream, and yet miss a notice. */
static void a_legacy_stream_is_registered_before_its_head_is_sent(void **state)
{
    char id[64], fields[256];
    struct buffer in = {0};
    (void)state;
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", id);
    struct mcp_peer *peer = service->peers; /* the newest session */
    pthread_mutex_lock(&peer->lock);
    int client = open_request("GET", fields, NULL);
    struct pollfd input = {.fd = client, .events = POLLIN};
    int early = poll(&input, 1, 200);
    pthread_mutex_unlock(&peer->lock);
    assert_int_equal(early, 0);
    receive_until(client, &in, ":\n\n");
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    receive_until(client, &in, "notifications/tools/list_changed");
    close(client);
    wt__buffer_dispose(&in);
}

static void legacy_clients_are_asked_on_their_stream(void **state)
{
    char id[64], fields[512];
    struct buffer in = {0};
    (void)state;
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", id);
    int client = open_request("POST", fields, REQUEST("1", "tools/call", "\"name\":\"ask\""));
    receive_until(client, &in, "\"id\":\"whichtool-1\",\"method\":\"elicitation/create\"");
    char *said =
        ask_in(id, "", "POST", "{\"jsonrpc\":\"2.0\",\"id\":\"whichtool-1\",\"result\":{\"action\":\"accept\"}}");
    assert_int_equal(read_status_line(said), 202);
    free(said);
    receive_until(client, &in, "\"id\":\"whichtool-2\",\"method\":\"sampling/createMessage\"");
    free(ask_in(id, "", "POST", "{\"jsonrpc\":\"2.0\",\"id\":\"whichtool-2\",\"result\":{\"model\":\"m\"}}"));
    receive_until(client, &in, "{\\\"model\\\":\\\"m\\\"}, kept");
    close(client);
    wt__buffer_dispose(&in);
}

/* ---------------------------------------------------------------- disconnecting clients */

static void a_modern_disconnect_cancels_the_call(void **state)
{
    (void)state;
    meanwhile_reset();
    int one = open_request("POST", CALL_FIELDS("wait"), MODERN("1", "tools/call", TOOL("wait")));
    int two = open_request("POST", CALL_FIELDS("wait"), MODERN("1", "tools/call", TOOL("wait")));
    struct buffer in = {0};
    meanwhile_until(&meanwhile.waiting, 2);
    close(one);
    meanwhile_until(&meanwhile.cancelled, 1);
    assert_true(meanwhile.cancel_heard);
    meanwhile_add(&meanwhile.let_go); /* the other call with the same id is still running */
    receive_until(two, &in, "let go");
    assert_int_equal(meanwhile.cancelled, 1);
    close(two);
    wt__buffer_dispose(&in);
}

static void wait_until_disconnected(void)
{
    for (struct http_figures metrics = {.connections = 1}; metrics.connections > 0; usleep(1000))
        wt__http_server_figures(served.server, &metrics);
}

/* The stream has not started, so it cannot be resumed. */
static void a_legacy_disconnect_without_a_stream_cancels_the_call(void **state)
{
    char id[64], fields[512];
    (void)state;
    meanwhile_reset();
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", id);
    int client = open_request("POST", fields, REQUEST("1", "tools/call", "\"name\":\"wait\""));
    meanwhile_until(&meanwhile.waiting, 1);
    close(client);
    meanwhile_until(&meanwhile.cancelled, 1);
    assert_true(meanwhile.cancel_heard);
}

#define WAIT_WITH_PROGRESS REQUEST("1", "tools/call", "\"name\":\"wait\",\"_meta\":{\"progressToken\":\"t\"}")

/* Resumes the stream after the event. */
static int resume_stream(const char *session, const char *event)
{
    char fields[512];
    snprintf(fields, sizeof fields, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\nLast-Event-ID: %s\r\n", session,
             event);
    return open_request("GET", fields, NULL);
}

/* The call ended while the client was disconnected. The client resumes the stream and gets the answer. */
static void a_legacy_client_can_resume_for_its_answer(void **state)
{
    static const char *const wrong[] = {"1-", "-1", "1", "2-0", "1-1x", "x", "99999999999-1", "1--1"};
    char mine[64], other[64], fields[512];
    struct buffer in = {0};
    (void)state;
    meanwhile_reset();
    begin_http_session(mine, "");
    begin_http_session(other, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", mine);
    int client = open_request("POST", fields, WAIT_WITH_PROGRESS);
    receive_until(client, &in, "id: 1-0\nretry: 500\ndata:\n\n");
    receive_until(client, &in, "id: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"");
    close(client);
    wait_until_disconnected();
    meanwhile_add(&meanwhile.let_go);
    meanwhile_until(&meanwhile.answered, 1);
    wt__buffer_clear(&in);
    client = resume_stream(other, "1-1"); /* event of another session */
    receive_until(client, &in, ":\n\n");
    close(client);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        client = resume_stream(mine, wrong[i]);
        receive_until(client, &in, ":\n\n");
        close(client);
    }
    assert_null(strstr(in.ptr, "let go"));
    wt__buffer_clear(&in);
    client = resume_stream(mine, "1-1");
    receive_until(client, &in, "\r\n0\r\n\r\n");
    assert_non_null(strstr(in.ptr, "id: 1-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\""));
    assert_null(strstr(in.ptr, "progress"));
    close(client);
    wt__buffer_clear(&in);
    client = resume_stream(mine, "1-0"); /* the answer is not sent again */
    receive_until(client, &in, ":\n\n");
    assert_null(strstr(in.ptr, "let go"));
    close(client);
    free(ask_in(mine, "", "DELETE", NULL));
    wt__buffer_dispose(&in);
}

static void a_legacy_client_staying_away_cancels_the_call(void **state)
{
    char id[64], fields[512];
    struct buffer in = {0};
    (void)state;
    meanwhile_reset();
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", id);
    int client = open_request("POST", fields, WAIT_WITH_PROGRESS);
    receive_until(client, &in, "notifications/progress");
    close(client);
    wait_until_disconnected();
    assert_int_equal(meanwhile.cancelled, 0); /* the client may still resume */
    clock_ms += MCP_AWAY_MS + 1;
    meanwhile_until(&meanwhile.cancelled, 1);
    wt__buffer_dispose(&in);
}

static void a_legacy_client_can_resume_a_running_call(void **state)
{
    char id[64], fields[512];
    struct buffer in = {0};
    (void)state;
    meanwhile_reset();
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", id);
    int client = open_request("POST", fields, WAIT_WITH_PROGRESS);
    receive_until(client, &in, "notifications/progress");
    int again = resume_stream(id, "1-0"); /* the first connection is still open; the server ends it */
    receive_until(client, &in, "\r\n0\r\n\r\n");
    wt__buffer_clear(&in);
    receive_until(again, &in, "id: 1-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"");
    meanwhile_add(&meanwhile.let_go);
    receive_until(again, &in, "let go");
    receive_until(again, &in, "\r\n0\r\n\r\n");
    close(client);
    close(again);
    wt__buffer_dispose(&in);
}

static void older_revisions_get_no_event_ids(void **state)
{
    char fields[512];
    (void)state;
    meanwhile_reset();
    meanwhile_add(&meanwhile.let_go);
    char *said =
        ask_http("POST", JSON_FIELDS,
                 REQUEST("0", "initialize",
                         "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\","
                         "\"version\":\"1\"}"));
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %.32s\r\n", strcasestr(said, "Mcp-Session-Id: ") + 16);
    free(said);
    said = ask_http("POST", fields, WAIT_WITH_PROGRESS);
    assert_non_null(strstr(said, "let go"));
    assert_null(strstr(said, "id: 1"));
    assert_null(strstr(said, "retry"));
    free(said);
}

static void a_legacy_cancel_notification_ends_its_call(void **state)
{
    static const char cancel[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";
    char mine[64], other[64], fields[512];
    struct buffer in = {0};
    (void)state;
    meanwhile_reset();
    begin_http_session(mine, "");
    begin_http_session(other, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", mine);
    int client = open_request("POST", fields, REQUEST("1", "tools/call", "\"name\":\"wait\""));
    meanwhile_until(&meanwhile.waiting, 1);
    free(ask_in(other, "", "POST", cancel)); /* request 1 of another session */
    assert_int_equal(meanwhile.cancelled, 0);
    free(ask_in(mine, "", "POST", cancel));
    meanwhile_until(&meanwhile.cancelled, 1);
    receive_until(client, &in, "\r\n0\r\n\r\n"); /* ends without a response */
    assert_null(strstr(in.ptr, "\"result\""));
    close(client);
    wt__buffer_dispose(&in);
}

static void ending_a_session_cancels_its_calls(void **state)
{
    char id[64], fields[512];
    (void)state;
    meanwhile_reset();
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", id);
    int client = open_request("POST", fields, REQUEST("1", "tools/call", "\"name\":\"wait\""));
    meanwhile_until(&meanwhile.waiting, 1);
    free(ask_in(id, "", "DELETE", NULL));
    meanwhile_until(&meanwhile.cancelled, 1);
    close(client);
}

static void request_state_is_bound_to_its_principal(void **state)
{
    static const char body[] = MODERN("1", "tools/call", TOOL("ask"));
    char again[4096];
    (void)state;
    char *said = ask_http("POST", CALL_FIELDS("ask") "Who: alice\r\n", body);
    const char *sealed = strstr(said, "\"requestState\":\"") + 16;
    snprintf(again, sizeof again, "%.*s,\"requestState\":\"%.*s\"}}", (int)sizeof body - 3, body,
             (int)strcspn(sealed, "\""), sealed);
    free(said);
    said = ask_http("POST", CALL_FIELDS("ask") "Who: bob\r\n", again);
    assert_int_equal(read_status_line(said), 400);
    assert_non_null(strstr(said, "requestState is not one of ours"));
    free(said);
    said = ask_http("POST", CALL_FIELDS("ask") "Who: alice\r\n", again);
    assert_int_equal(read_status_line(said), 200);
    assert_non_null(strstr(said, "input_required"));
    free(said);
}

static void long_principals_are_refused(void **state)
{
    char fields[4096];
    (void)state;
    snprintf(fields, sizeof fields, METHOD_FIELDS("tools/list") "Who: %0*d\r\n", MCP_PRINCIPAL_BYTES_MAX + 1, 0);
    char *said = ask_http("POST", fields, MODERN("1", "tools/list", ""));
    assert_int_equal(read_status_line(said), 400);
    free(said);
}

/* ---------------------------------------------------------------- shutdown */

/* The start of the shutdown ends streams of both eras. A running call of a legacy session ends normally, and requests
 * are still answered. */
static void shutdown_ends_streams_and_lets_calls_end(void **state)
{
    static const struct {
        const char *fields, *body, *holds;
    } late[] = {
        {METHOD_FIELDS("tools/list"), MODERN("1", "tools/list", ""), "\"result\""},
        {METHOD_FIELDS("subscriptions/listen"),
         MODERN("4", "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}"),
         "the server is shutting down"},
    };
    char id[64], fields[512];
    struct buffer in = {0}, notices = {0}, answer = {0};
    (void)state;
    meanwhile_reset();
    begin_http_session(id, "");
    snprintf(fields, sizeof fields, JSON_FIELDS "Mcp-Session-Id: %s\r\n", id);
    int call = open_request("POST", fields, REQUEST("1", "tools/call", "\"name\":\"wait\""));
    int stream = open_request("GET", fields, NULL);
    int listener = open_request("POST", late[1].fields, late[1].body);
    receive_until(listener, &in, "acknowledged");
    receive_until(stream, &notices, ":\n\n");
    meanwhile_until(&meanwhile.waiting, 1);
    wt__mcp_service_stop(service);
    receive_until(listener, &in, "\"id\":4,\"result\":{\"resultType\":\"complete\"");
    receive_until(listener, &in, "\r\n0\r\n\r\n");
    receive_until(stream, &notices, "\r\n0\r\n\r\n");
    meanwhile_add(&meanwhile.let_go);
    receive_until(call, &answer, "\"text\":\"let go\"");
    for (size_t i = 0; i < 2; i++) {
        char *said = ask_http("POST", late[i].fields, late[i].body);
        if (!strstr(said, late[i].holds))
            fail_msg("no %s in %s", late[i].holds, said);
        free(said);
    }
    const int clients[] = {call, stream, listener};
    for (size_t i = 0; i < 3; i++)
        close(clients[i]);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&notices);
    wt__buffer_dispose(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_get_the_right_status_and_body),
        cmocka_unit_test(a_connection_serves_both_eras),
        cmocka_unit_test(sessions_are_bound_to_their_principal),
        cmocka_unit_test(idle_and_excess_sessions_end),
        cmocka_unit_test(a_principal_opening_many_sessions_ends_only_its_own),
        cmocka_unit_test(a_principal_with_all_sessions_in_use_gets_no_more),
        cmocka_unit_test(early_messages_start_a_stream),
        cmocka_unit_test(a_listener_gets_changes_until_it_closes),
        cmocka_unit_test(a_legacy_stream_gets_changes),
        cmocka_unit_test(a_legacy_stream_is_registered_before_its_head_is_sent),
        cmocka_unit_test(legacy_clients_are_asked_on_their_stream),
        cmocka_unit_test(a_modern_disconnect_cancels_the_call),
        cmocka_unit_test(a_legacy_disconnect_without_a_stream_cancels_the_call),
        cmocka_unit_test(a_legacy_client_staying_away_cancels_the_call),
        cmocka_unit_test(a_legacy_client_can_resume_for_its_answer),
        cmocka_unit_test(a_legacy_client_can_resume_a_running_call),
        cmocka_unit_test(older_revisions_get_no_event_ids),
        cmocka_unit_test(a_legacy_cancel_notification_ends_its_call),
        cmocka_unit_test(ending_a_session_cancels_its_calls),
        cmocka_unit_test(request_state_is_bound_to_its_principal),
        cmocka_unit_test(long_principals_are_refused),
        cmocka_unit_test(shutdown_ends_streams_and_lets_calls_end), /* last, since it stops the service */
    };
    return cmocka_run_group_tests(tests, start_http_server, stop_http_server);
}
