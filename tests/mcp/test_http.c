/* Tests listing tools over HTTP: answers, errors and sent requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mcp/listing.h"
#include "mcp/connection.h"
#include "net/script_server.h"

static wt_error err;
static struct script_server server;
static char url[96];

/* Starts the server on a new port, so that no late request of an earlier connection reaches it. */
static int start_listing_server(void **state)
{
    (void)state;
    if (script_server_start(&server) < 0)
        return -1;
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* must not be used for loopback */
    unsetenv("no_proxy");
    snprintf(url, sizeof url, "http://user:word@127.0.0.1:%d/some-key-4711/mcp?token=abcdef", server.port);
    return 0;
}

static int stop_listing_server(void **state)
{
    (void)state;
    script_server_stop(&server);
    return 0;
}

#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":" result "}"
#define ERROR(id, code) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"error\":{\"code\":" #code ",\"message\":\"no\"}}"
#define HELLO                                                                                                          \
    RESULT(1, "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"far\"}"  \
              "}")
#define TOOLS "{\"tools\":[{\"name\":\"a\"}]}"
#define STREAM .type = "text/event-stream"
#define BEGIN                                                                                                          \
    {.status = 200, .body = HELLO},                                                                                    \
    {                                                                                                                  \
        .status = 202                                                                                                  \
    }

static const struct {
    const char *name;
    struct script_step steps[5];
    size_t count;
    unsigned timeout_ms; /* 0 for 900000 */
    int rc;
    const char *says;
} rows[] = {
    {"JSON", {BEGIN, {.status = 200, .body = RESULT(2, TOOLS)}}, 3, 0, 0, ""},
    {"event stream",
     {BEGIN, {.status = 200, STREAM, .body = ": hi\n\nevent: message\ndata: " RESULT(2, TOOLS) "\n\n"}},
     3,
     0,
     0,
     ""},
    {"event stream with other events",
     {{.status = 200,
       STREAM,
       .body = "id: 1\r\ndata:\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\r\n\r\ndata: " HELLO
               "\r\n\r\n"},
      {.status = 202},
      {.status = 200,
       STREAM,
       .body = "data: {\"id\":5,\"method\":\"ping\"}\n\ndata: {\"id\":2,\ndata: \"result\":" TOOLS "}\n\n"}},
     3,
     0,
     0,
     ""},
    {"event stream that stays open",
     {BEGIN,
      {.status = 200,
       STREAM,
       .body = "data: " RESULT(2, TOOLS) "\n\n: more",
       .stall = sizeof("data: " RESULT(2, TOOLS) "\n\n") - 1}},
     3,
     0,
     0,
     ""},
    {"event stream without its last empty line",
     {BEGIN, {.status = 200, STREAM, .body = "data: " RESULT(2, TOOLS) "\n", .no_length = true}},
     3,
     0,
     0,
     ""},
    {"pages",
     {BEGIN,
      {.status = 200, .body = RESULT(2, "{\"tools\":[],\"nextCursor\":\"x\"}")},
      {.status = 200, .body = RESULT(3, TOOLS)}},
     4,
     0,
     0,
     ""},
    {"modern server",
     {{.status = 400, .body = ERROR(null, -32022)},
      {.status = 200, .body = RESULT(2, "{\"supportedVersions\":[\"2026-07-28\"],\"serverInfo\":{\"name\":\"far\"}}")},
      {.status = 200, .body = RESULT(3, TOOLS)}},
     3,
     0,
     0,
     ""},
    {"notification refused",
     {{.status = 200, .body = HELLO}, {.status = 500}, {.status = 200, .body = RESULT(2, TOOLS)}},
     3,
     0,
     0,
     ""},
    {"status 401", {{.status = 401, .body = "{}"}}, 1, 0, WT_ENETWORK, "requires authentication (HTTP status 401)"},
    {"status 403 after the opening",
     {BEGIN, {.status = 403}},
     3,
     0,
     WT_ENETWORK,
     "requires authentication (HTTP status 403)"},
    {"status 404",
     {{.status = 404, .body = "<html>", .type = "text/html"}},
     1,
     0,
     WT_ENETWORK,
     "has no MCP server at this path (HTTP status 404)"},
    {"status 405", {{.status = 405}}, 1, 0, WT_ENETWORK, "answered with HTTP status 405 and no message"},
    {"status 500",
     {{.status = 500, .body = "oops"}},
     1,
     0,
     WT_ENETWORK,
     "answered with HTTP status 500 and no message"},
    {"redirect",
     {{.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"}},
     1,
     0,
     WT_ENETWORK,
     "redirects to http://127.0.0.1:1/ (HTTP status 302)"},
    {"HTML page",
     {{.status = 200, .body = "<html>", .type = "text/html"}},
     1,
     0,
     WT_ENETWORK,
     "sent an invalid answer to `initialize`; check that it is an MCP server"},
    {"answer to another request",
     {{.status = 200, .body = RESULT(9, "{}")}},
     1,
     0,
     WT_ENETWORK,
     "sent an invalid answer"},
    {"empty event stream", {{.status = 200, STREAM}}, 1, 0, WT_ENETWORK, "sent an invalid answer"},
    {"event stream without an answer",
     {{.status = 200, STREAM, .body = "data: {}\n\n"}},
     1,
     0,
     WT_ENETWORK,
     "sent an invalid answer"},
    {"both openings refused",
     {{.status = 200, .body = ERROR(1, -32000)}, {.status = 200, .body = ERROR(2, -32601)}},
     2,
     0,
     WT_ENETWORK,
     "`initialize` is refused: no (error -32000)"},
    {"connection closed", {{.status = 0}}, 1, 0, WT_ENETWORK, "cannot ask http://127.0.0.1:"},
    {"no answer",
     {{.status = 200, .body = HELLO, .delay_ms = SCRIPT_NEVER_MS}},
     1,
     300,
     WT_ETIMEOUT,
     "no answer came within"},
    {"answer stops",
     {BEGIN, {.status = 200, STREAM, .body = "data: {\n\n", .stall = 4}},
     3,
     500,
     WT_ETIMEOUT,
     "no answer came within"},
    {"answer above the limit",
     {BEGIN, {.status = 200, .body = RESULT(2, TOOLS), .filler = MCP_ANSWER_BYTES_MAX}},
     3,
     0,
     WT_ETOOLONG,
     "is larger than"},
    {"event above the limit",
     {BEGIN, {.status = 200, STREAM, .body = "data: x\n\n", .filler = MCP_ANSWER_BYTES_MAX}},
     3,
     0,
     WT_ETOOLONG,
     "is larger than"},
};

static void each_url_is_listed_or_its_fault_is_reported(void **state)
{
    (void)state;
    static const char *const secrets[] = {"user:word", "4711", "abcdef", "bearer-of-secrets"};
    const struct http_header headers[] = {{"Authorization", "Bearer bearer-of-secrets"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcp_listing listing;
        struct mcp_server far = {.name = "far", .url = url, .headers = headers, .header_count = 1};
        script_server_stop(&server);
        assert_int_equal(start_listing_server(NULL), 0);
        script_server_play(&server, rows[i].steps, rows[i].count);
        int rc = wt__mcp_list_tools(&listing, &far, rows[i].timeout_ms ? rows[i].timeout_ms : 900000, NULL, &err);
        bool right = rc == 0 ? strcmp(listing.tools.ptr, TOOLS) == 0 && strcmp(listing.name, "far") == 0
                             : strstr(err.message, rows[i].says) != NULL;
        for (size_t s = 0; rc < 0 && s < sizeof secrets / sizeof *secrets; s++)
            right = right && !strstr(err.message, secrets[s]);
        if (rc != rows[i].rc || !right)
            fail_msg("%s: %d, \"%s\"", rows[i].name, rc, rc < 0 ? err.message : listing.tools.ptr);
        wt__buffer_dispose(&listing.tools);
    }
}

/* The test would take hours if each new byte caused a scan of the whole event. */
static void event_in_single_bytes_is_scanned_once(void **state)
{
    (void)state;
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const char piece[] = "1\r\nd\r\n";
    const size_t begin = sizeof head - 1, len = sizeof piece - 1, count = 4 << 20;
    struct mcp_listing listing;
    struct mcp_server far = {.name = "far", .url = url};
    char *raw = malloc(begin + count * len);
    assert_non_null(raw);
    memcpy(raw, head, begin);
    for (size_t i = 0; i < count; i++)
        memcpy(raw + begin + i * len, piece, len);
    const struct script_step steps[] = {{.raw = raw, .raw_len = begin + count * len}};
    script_server_play(&server, steps, 1);
    assert_int_equal(wt__mcp_list_tools(&listing, &far, 900000, NULL, &err), WT_ENETWORK);
    script_server_play(&server, rows[0].steps, 1); /* drops the steps above, which are on the stack */
    free(raw);
}

static bool was_sent(size_t request, const char *what)
{
    return request < server.request_count && strstr(server.requests[request], what);
}

static void requests_have_headers_and_session(void **state)
{
    (void)state;
    static const struct script_step steps[] = {{.status = 200, .headers = "Mcp-Session-Id: abc-1\r\n", .body = HELLO},
                                               {.status = 202},
                                               {.status = 200, .body = RESULT(2, TOOLS)},
                                               {.status = 204}};
    const struct http_header headers[] = {{"X-Key", "of mine"}};
    struct mcp_listing listing;
    struct mcp_server far = {.name = "far", .url = url, .headers = headers, .header_count = 1};
    script_server_play(&server, steps, 4);
    assert_int_equal(wt__mcp_list_tools(&listing, &far, 900000, NULL, &err), 0);
    wt__buffer_dispose(&listing.tools);
    assert_int_equal(server.request_count, 4);
    assert_true(was_sent(0, "POST /some-key-4711/mcp?token=abcdef HTTP/1.1\r\n"));
    assert_true(was_sent(0, "\"method\":\"initialize\"") && was_sent(0, "\"protocolVersion\":\"2025-11-25\""));
    assert_true(was_sent(0, "Accept: application/json, text/event-stream\r\n") && was_sent(0, "X-Key: of mine\r\n"));
    assert_false(was_sent(0, "Mcp-Session-Id") || was_sent(0, "MCP-Protocol-Version"));
    assert_true(was_sent(1, "notifications/initialized") && was_sent(1, "Mcp-Session-Id: abc-1\r\n"));
    assert_true(was_sent(2, "\"method\":\"tools/list\"") && was_sent(2, "Mcp-Session-Id: abc-1\r\n"));
    assert_true(was_sent(2, "MCP-Protocol-Version: 2025-06-18\r\n") && was_sent(2, "X-Key: of mine\r\n"));
    assert_true(was_sent(3, "DELETE /some-key-4711/mcp") && was_sent(3, "Mcp-Session-Id: abc-1\r\n"));
}

static void closed_port_is_reported(void **state)
{
    (void)state;
    struct mcp_listing listing;
    struct mcp_server nowhere = {.name = "far", .url = "http://127.0.0.1:1/mcp?token=abcdef"};
    assert_int_equal(wt__mcp_list_tools(&listing, &nowhere, 900000, NULL, &err), WT_ENETWORK);
    assert_non_null(strstr(err.message, "cannot ask http://127.0.0.1:1: "));
    assert_null(strstr(err.message, "abcdef"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_url_is_listed_or_its_fault_is_reported),
        cmocka_unit_test(event_in_single_bytes_is_scanned_once),
        cmocka_unit_test(requests_have_headers_and_session),
        cmocka_unit_test(closed_port_is_reported),
    };
    return cmocka_run_group_tests(tests, start_listing_server, stop_listing_server);
}
