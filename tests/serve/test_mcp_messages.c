/* Tests the responses to legacy and modern messages. Uses the fixture of the conformance suite, without a transport. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "recorder.h"

static wt_error err;
static struct mcp_service *service;
static struct mcp_peer *legacy, *modern;

static int open_fixture_service(void **state)
{
    (void)state;
    if (fixture_open(&service, NULL, &err) < 0)
        return -1;
    legacy = wt__mcp_peer_open(service, "", true);
    modern = wt__mcp_peer_open(service, "", false);
    free(recorder_ask(service, legacy, INITIALIZE, NULL, NULL));
    return 0;
}

static int close_fixture_service(void **state)
{
    (void)state;
    wt__mcp_peer_close(legacy);
    wt__mcp_peer_release(legacy);
    wt__mcp_peer_release(modern);
    fixture_close(service);
    return 0;
}

#define CODE(code) "\"error\":{\"code\":" #code ","
#define META(version, capabilities)                                                                                    \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" version                                                  \
    ",\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"
#define CALL(name, arguments) "\"name\":\"" name "\",\"arguments\":" arguments

/* Each text is sent in an open legacy session. */
static const struct {
    const char *name, *text;
    int status;
    const char *says[3], *says_not;
} rows[] = {
    /* invalid messages */
    {"an empty message", "", 400, {CODE(-32700)}, "\"id\""},
    {"not JSON", "hello", 400, {CODE(-32700)}, "\"id\""},
    {"half a message", "{\"jsonrpc\":\"2.0\",\"id\":1", 400, {CODE(-32700)}, NULL},
    {"a duplicate member",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"x\"}",
     400,
     {CODE(-32700)},
     NULL},
    {"a duplicate member, once with an escape",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"m\\u0065thod\":\"x\"}",
     400,
     {CODE(-32700)},
     NULL},
    {"NUL in an id", "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000b\",\"method\":\"ping\"}", 400, {CODE(-32700)}, NULL},
    {"trailing characters", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}", 400, {CODE(-32700)}, NULL},
    {"a batch", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", 400, {CODE(-32600), "batches"}, "\"id\""},
    {"a string", "\"ping\"", 400, {CODE(-32600)}, NULL},
    {"no version", "{\"id\":1,\"method\":\"ping\"}", 400, {CODE(-32600), "\"id\":1"}, NULL},
    {"another version", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 400, {CODE(-32600)}, NULL},
    {"no method", "{\"jsonrpc\":\"2.0\",\"id\":1}", 400, {CODE(-32600), "\"id\":1"}, NULL},
    {"a method that is not a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", 400, {CODE(-32600)}, NULL},
    {"an id that is null", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", 400, {CODE(-32600)}, NULL},
    {"an id with a fraction",
     "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
     400,
     {CODE(-32600), "\"id\":1.5,"},
     NULL},
    {"a bad message with an id",
     "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":nonsense}",
     400,
     {CODE(-32700), "\"id\":7,"},
     NULL},
    {"numbers beyond C types, and an id",
     "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"nothing\",\"params\":{\"x\":[9223372036854775808,1e400]}}",
     200,
     {"\"id\":7,"},
     CODE(-32600)},
    {"an id that is a list", "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", 400, {CODE(-32600)}, NULL},
    {"parameters as a list",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
     400,
     {CODE(-32602)},
     NULL},
    {"result and error", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", 400, {CODE(-32600)}, NULL},
    {"a response without a question", "{\"jsonrpc\":\"2.0\",\"id\":\"whichtool-99\",\"result\":{}}", 202, {NULL}, "id"},
    {"an unknown notification", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", 202, {NULL}, "id"},

    /* null for optional members; strings that cannot be parsed */
    {"parameters that are null",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":null}",
     200,
     {"\"tools\":[{"},
     NULL},
    {"a cursor that is null", REQUEST("1", "tools/list", "\"cursor\":null"), 200, {"\"tools\":[{"}, NULL},
    {"a modern cursor that is null", MODERN("1", "tools/list", ",\"cursor\":null"), 200, {"\"tools\":[{"}, NULL},
    {"arguments that are null",
     REQUEST("1", "tools/call", CALL("test_simple_text", "null")),
     200,
     {"This is a simple text response"},
     "\"error\""},
    {"modern arguments that are null",
     MODERN("1", "tools/call", "," CALL("test_simple_text", "null")),
     200,
     {"This is a simple text response"},
     "\"error\""},
    {"a prompt's arguments that are null",
     REQUEST("1", "prompts/get", CALL("test_simple_prompt", "null")),
     200,
     {"\"messages\":["},
     "\"error\""},
    {"NUL in arguments",
     REQUEST("1", "tools/call", CALL("test_custom_headers", "{\"region\":\"a\\u0000b\"}")),
     200,
     {"{\\\"region\\\":\\\"a\\\\u0000b\\\"}"},
     "\"error\""},
    {"NUL in the name of an argument",
     REQUEST("1", "tools/call", CALL("test_custom_headers", "{\"a\\u0000b\":1}")),
     200,
     {CODE(-32602), "\"id\":1,", "params.arguments: "},
     NULL},
    {"half a surrogate pair in arguments",
     REQUEST("\"x\"", "tools/call", CALL("test_simple_text", "{\"a\":\"\\ud800\"}")),
     200,
     {CODE(-32602), "\"id\":\"x\",", "params.arguments: "},
     NULL},
    {"half a surrogate pair in modern arguments",
     MODERN("1", "tools/call", "," CALL("test_simple_text", "{\"a\":\"\\udc00\"}")),
     400,
     {CODE(-32602), "\"id\":1,", "params.arguments: "},
     NULL},
    {"arguments before the name",
     REQUEST("1", "tools/call", "\"arguments\":{\"a\":\"\\ud800\"},\"name\":\"test_simple_text\""),
     200,
     {CODE(-32602), "\"id\":1,"},
     NULL},
    {"a duplicate argument",
     REQUEST("1", "tools/call", CALL("test_simple_text", "{\"a\":1,\"a\":2}")),
     200,
     {CODE(-32602), "\"id\":1,", "params.arguments: "},
     NULL},
    {"duplicate arguments",
     REQUEST("1", "tools/call", CALL("test_simple_text", "{\"a\":\"\\u0000\"}") ",\"arguments\":{}"),
     400,
     {CODE(-32700), "\"id\":1,"},
     NULL},
    {"half a surrogate pair elsewhere",
     REQUEST("1", "tools/call", "\"name\":\"\\ud800\",\"arguments\":{\"a\":\"\\ud800\"}"),
     400,
     {CODE(-32700), "\"id\":1,"},
     NULL},
    {"NUL in the name of a tool",
     REQUEST("1", "tools/call", "\"name\":\"a\\u0000\",\"arguments\":{\"a\":\"\\u0000\"}"),
     400,
     {CODE(-32700), "\"id\":1,"},
     NULL},
    {"a number beyond a double in arguments",
     REQUEST("1", "tools/call", CALL("test_custom_headers", "{\"region\":\"x\",\"n\":1e400}")),
     200,
     {"{\\\"region\\\":\\\"x\\\",\\\"n\\\":1e400}"},
     "\"error\""},

    /* legacy */
    {"ping", REQUEST("\"q\\\"\"", "ping", ""), 200, {"\"id\":\"q\\\"\"", "\"result\":{}"}, NULL},
    {"a number of eighteen digits",
     REQUEST("123456789012345678", "ping", ""),
     200,
     {"\"id\":123456789012345678,"},
     NULL},
    {"no parameters", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 200, {"\"tools\":[{"}, "resultType"},
    {"a legacy list has no cache hints", REQUEST("1", "tools/list", ""), 200, {"test_simple_text"}, "ttlMs"},
    {"initialize again", INITIALIZE, 200, {CODE(-32600)}, NULL},
    {"an unknown method", REQUEST("1", "tools/forget", ""), 200, {CODE(-32601), "\"id\":1"}, NULL},
    {"a modern method", REQUEST("1", "server/discover", ""), 400, {CODE(-32602)}, NULL},
    {"an unknown tool",
     REQUEST("1", "tools/call", CALL("nope", "{}")),
     200,
     {CODE(-32602), "no tool \\\"nope\\\""},
     NULL},
    {"a tool without a name", REQUEST("1", "tools/call", ""), 200, {CODE(-32602), "params.name"}, NULL},
    {"a tool's name that is a number", REQUEST("1", "tools/call", "\"name\":1"), 200, {CODE(-32602)}, NULL},
    {"arguments that are a list",
     REQUEST("1", "tools/call", CALL("test_simple_text", "[]")),
     200,
     {CODE(-32602)},
     NULL},
    {"arguments that do not fit",
     REQUEST("1", "tools/call", CALL("test_sampling", "{}")),
     200,
     {"\"isError\":true", "prompt"},
     "\"error\""},
    {"an unknown resource",
     REQUEST("1", "resources/read", "\"uri\":\"test://nope\""),
     200,
     {CODE(-32002), "\"data\":{\"uri\":\"test://nope\"}"},
     NULL},
    {"half a template", REQUEST("1", "resources/read", "\"uri\":\"test://template//data\""), 200, {CODE(-32002)}, NULL},
    {"an unknown prompt", REQUEST("1", "prompts/get", "\"name\":\"x\""), 200, {CODE(-32602)}, NULL},
    {"an unknown log level", REQUEST("1", "logging/setLevel", "\"level\":\"loud\""), 200, {CODE(-32602)}, NULL},
    {"an invalid cursor", REQUEST("1", "tools/list", "\"cursor\":\"!\""), 200, {CODE(-32602)}, NULL},
    {"an unknown cursor", REQUEST("1", "tools/list", "\"cursor\":\"eHh4\""), 200, {CODE(-32602)}, NULL},
    {"a cursor that is a number", REQUEST("1", "tools/list", "\"cursor\":4"), 200, {CODE(-32602)}, NULL},
    {"an empty cursor", REQUEST("1", "tools/list", "\"cursor\":\"\""), 200, {CODE(-32602)}, NULL},
    {"a completion without parameters", REQUEST("1", "completion/complete", ""), 200, {CODE(-32602)}, NULL},
    {"a completion",
     REQUEST("1", "completion/complete",
             "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"par\"}"),
     200,
     {"\"values\":[\"paris\",\"park\",\"party\"],\"total\":3,\"hasMore\":false"},
     NULL},
    {"names of members with escapes are understood",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"test_custom_headers\","
     "\"argum\\u0065nts\":{\"region\":\"x\"}}}",
     200,
     {"{\\\"region\\\":\\\"x\\\"}"},
     NULL},
    {"numbers are relayed unchanged",
     REQUEST("1", "tools/call", CALL("test_custom_headers", "{\"region\":\"x\",\"limit\":1.0, \"n\":0.10}")),
     200,
     {"{\\\"region\\\":\\\"x\\\",\\\"limit\\\":1.0, \\\"n\\\":0.10}"},
     NULL},

    /* modern */
    {"discover",
     MODERN("1", "server/discover", ""),
     200,
     {"\"supportedVersions\":[\"2026-07-28\",", "\"ttlMs\":60000", "serverInfo"},
     NULL},
    {"no _meta", REQUEST("1", "server/discover", ""), 400, {CODE(-32602)}, NULL},
    {"no capabilities",
     REQUEST("1", "tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"),
     400,
     {CODE(-32602), "clientCapabilities"},
     NULL},
    {"capabilities that are a list",
     REQUEST("1", "tools/list", META("\"2026-07-28\"", "[]")),
     400,
     {CODE(-32602)},
     NULL},
    {"a version that is a number", REQUEST("1", "tools/list", META("20260728", "{}")), 400, {CODE(-32602)}, NULL},
    {"another version",
     REQUEST("1", "tools/list", META("\"1900-01-01\"", "{}")),
     400,
     {CODE(-32022), "\"supported\":[\"2026-07-28\",", "\"requested\":\"1900-01-01\""},
     NULL},
    {"a legacy version in a modern request",
     REQUEST("1", "tools/list", META("\"2025-11-25\"", "{}")),
     400,
     {CODE(-32022)},
     NULL},
    {"an unknown log level in _meta",
     REQUEST("1", "tools/list",
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/"
             "clientCapabilities\":{},\"io.modelcontextprotocol/logLevel\":\"loud\"}"),
     400,
     {CODE(-32602)},
     NULL},
    {"ping in the modern era", MODERN("1", "ping", ""), 404, {CODE(-32601), "\"id\":1"}, NULL},
    {"initialize in the modern era", MODERN("1", "initialize", ""), 404, {CODE(-32601)}, NULL},
    {"log levels in the modern era", MODERN("1", "logging/setLevel", ",\"level\":\"info\""), 404, {CODE(-32601)}, NULL},
    {"a modern list",
     MODERN("1", "tools/list", ""),
     200,
     {"\"resultType\":\"complete\"", "\"ttlMs\":60000,\"cacheScope\":\"public\"", "io.modelcontextprotocol/serverInfo"},
     NULL},
    {"a modern resource",
     MODERN("1", "resources/read", ",\"uri\":\"test://static-text\""),
     200,
     {"\"contents\":[{\"uri\":\"test://static-text\"", "\"ttlMs\":60000"},
     NULL},
    {"an unknown modern resource",
     MODERN("1", "resources/read", ",\"uri\":\"test://nope\""),
     200,
     {CODE(-32602), "\"data\":{\"uri\":\"test://nope\"}"},
     NULL},
    {"unrequested logs",
     MODERN("1", "tools/call", "," CALL("test_logging_tool", "{}")),
     200,
     {"Logged three times."},
     "notifications/message"},
    {"an undeclared capability",
     REQUEST("1", "tools/call", META("\"2026-07-28\"", "{}") "," CALL("test_missing_capability", "{}")),
     400,
     {CODE(-32021), "\"requiredCapabilities\":{\"sampling\":{}}"},
     NULL},
    {"a question",
     MODERN("1", "tools/call", "," CALL("test_input_required_result_elicitation", "{}")),
     200,
     {"\"resultType\":\"input_required\"", "\"inputRequests\":{\"user_name\":{\"method\":\"elicitation/create\"",
      "\"requestState\":\""},
     "content"},
    {"a question with null arguments",
     MODERN("1", "tools/call", "," CALL("test_input_required_result_elicitation", "null")),
     200,
     {"\"resultType\":\"input_required\"", "\"requestState\":\""},
     "content"},
    {"an unrequested answer",
     MODERN("1", "tools/call",
            "," CALL("test_input_required_result_elicitation",
                     "{}") ",\"inputResponses\":{\"user_name\":{\"action\":\"accept\",\"content\":{\"name\":\"Al\"}}}"),
     200,
     {"Hello, Al!", "\"resultType\":\"complete\""},
     NULL},
    {"answers that are null",
     MODERN("1", "tools/call", "," CALL("test_input_required_result_elicitation", "{}") ",\"inputResponses\":null"),
     400,
     {CODE(-32602)},
     NULL},
    {"a state that is a number",
     MODERN("1", "tools/call", "," CALL("test_input_required_result_elicitation", "{}") ",\"requestState\":1"),
     400,
     {CODE(-32602)},
     NULL},
    {"a forged state",
     MODERN("1", "tools/call", "," CALL("test_input_required_result_elicitation", "{}") ",\"requestState\":\"AAAA\""),
     400,
     {CODE(-32602), "requestState is not one of ours"},
     NULL},
    {"a state for a list", MODERN("1", "tools/list", ",\"requestState\":1"), 200, {"\"tools\":["}, NULL},
    {"listening without parameters", MODERN("1", "subscriptions/listen", ""), 200, {CODE(-32602)}, NULL},
};

static void messages_get_the_right_response(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status;
        char *said = recorder_ask(service, legacy, rows[i].text, NULL, &status);
        bool right = status == rows[i].status && (!rows[i].says_not || !strstr(said, rows[i].says_not));
        for (size_t n = 0; n < 3 && rows[i].says[n]; n++)
            right &= strstr(said, rows[i].says[n]) != NULL;
        if (!right)
            fail_msg("%s: %d %s", rows[i].name, status, said);
        free(said);
    }
}

static void requests_before_initialize_are_refused(void **state)
{
    (void)state;
    char *said = recorder_ask(service, modern, REQUEST("1", "tools/list", ""), NULL, NULL);
    assert_non_null(strstr(said, CODE(-32602)));
    free(said);
    said = recorder_ask(service, modern, REQUEST("1", "ping", ""), NULL, NULL);
    assert_non_null(strstr(said, "\"result\":{}"));
    free(said);
}

static const struct {
    const char *name, *params, *says;
} openings[] = {
    {"a supported revision",
     "\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}",
     "\"protocolVersion\":\"2025-03-26\""},
    {"an unsupported revision",
     "\"protocolVersion\":\"2024-01-01\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}",
     "\"protocolVersion\":\"2025-11-25\""},
    {"the modern revision",
     "\"protocolVersion\":\"2026-07-28\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}",
     "\"protocolVersion\":\"2025-11-25\""},
    {"no revision", "\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}", CODE(-32602)},
    {"no capabilities", "\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}",
     CODE(-32602)},
    {"no client", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}", CODE(-32602)},
};

static void initialize_negotiates_the_revision(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        struct mcp_peer *peer = wt__mcp_peer_open(service, "", false);
        char text[512];
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{%s}}",
                 openings[i].params);
        char *said = recorder_ask(service, peer, text, NULL, NULL);
        if (!strstr(said, openings[i].says))
            fail_msg("%s: %s", openings[i].name, said);
        free(said);
        wt__mcp_peer_release(peer);
    }
}

static void oversized_client_info_is_refused(void **state)
{
    struct buffer text = {0};
    struct mcp_peer *peer = wt__mcp_peer_open(service, "", false);
    (void)state;
    wt__buffer_text(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                           "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"");
    for (int i = 0; i < MCP_CLIENT_BYTES_MAX; i++)
        wt__buffer_char(&text, 'x');
    wt__buffer_text(&text, "\",\"version\":\"1\"}}}");
    char *said = recorder_ask(service, peer, text.ptr, NULL, NULL);
    assert_non_null(strstr(said, CODE(-32602)));
    free(said);
    wt__buffer_dispose(&text);
    wt__mcp_peer_release(peer);
}

static void lists_are_the_same_for_all_clients(void **state)
{
    (void)state;
    char *one = recorder_ask(service, modern, MODERN("1", "tools/list", ""), NULL, NULL);
    free(recorder_ask(service, modern, MODERN("2", "tools/call", "," CALL("test_simple_text", "{}")), NULL, NULL));
    struct mcp_peer *other = wt__mcp_peer_open(service, "somebody", false);
    char *two = recorder_ask(service, other, MODERN("1", "tools/list", ""), NULL, NULL);
    assert_string_equal(one, two);
    free(one);
    free(two);
    wt__mcp_peer_release(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_get_the_right_response),    cmocka_unit_test(requests_before_initialize_are_refused),
        cmocka_unit_test(initialize_negotiates_the_revision), cmocka_unit_test(oversized_client_info_is_refused),
        cmocka_unit_test(lists_are_the_same_for_all_clients),
    };
    return cmocka_run_group_tests(tests, open_fixture_service, close_fixture_service);
}
