/* Tests calls by legacy and modern MCP clients: results, questions to the client, cancellation, limits, and notices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder.h"
#include "waiting.h"

static wt_error err;
static struct mcp_service *service;
static struct mcp_peer *legacy, *modern;
static _Atomic int64_t clock_ms; /* atomic, because calls run on other threads */

static double fake_now_ms(void)
{
    return (double)clock_ms;
}

static int open_calls_service(void **state)
{
    static const struct mcp_service_options options = {.now_ms = fake_now_ms};
    (void)state;
    clock_ms = 1000000000;
    if (waiting_open(&service, &options, &err) < 0)
        return -1;
    legacy = wt__mcp_peer_open(service, "", true);
    modern = wt__mcp_peer_open(service, "alice", false);
    free(recorder_ask(service, legacy, INITIALIZE, NULL, NULL));
    return 0;
}

static int close_calls_service(void **state)
{
    (void)state;
    wt__mcp_peer_close(legacy);
    wt__mcp_peer_release(legacy);
    wt__mcp_peer_release(modern);
    waiting_close(service);
    return 0;
}

#define TOOL(name) ",\"name\":\"" name "\",\"arguments\":{\"b\":1,\"a\":[2]}"

static bool contains_or_print(const char *said, const char *words)
{
    if (strstr(said, words))
        return true;
    print_error("%s\nis not in\n%s\n", words, said);
    return false;
}

/* ---------------------------------------------------------------- results */

static const struct {
    const char *name, *tool;
    const char *modern[2], *legacy[2]; /* texts in the answer to a client of each era */
    const char *never;                 /* text that neither answer may contain, or NULL */
} answers[] = {
    {"no content", TOOL("silent"), {"\"content\":[]"}, {"\"content\":[]"}, "isError"},
    {"structured content",
     TOOL("structured"),
     {"\"structuredContent\":{\"a\":1}", "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"waiting\","
                                         "\"version\":\"1\"},\"x\":{\"y\":1}}"},
     {"\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}],\"structuredContent\":{\"a\":1},\"_meta\":{\"x\":"
      "{\"y\":1}}"},
     "evil"},
    {"structured content that is not an object",
     ",\"name\":\"structured\",\"arguments\":{\"list\":true}",
     {"\"structuredContent\":[1,2]"},
     {"\"text\":\"[1,2]\"}]"},
     NULL},
    {"a relayed result",
     TOOL("raw"),
     {"\"result\":{\"resultType\":\"complete\",\"content\":[],\"more\":1.50,\"structuredContent\":[3],\"_meta\":{",
      ",\"z\":1}"},
     {"\"result\":{\"content\":[],\"more\":1.50,\"_meta\":{\"z\":1}}"},
     "other"},
    {"invalid UTF-8",
     TOOL("bytes"),
     {"a\\u0000b\xef\xbf\xbd\\n\\\""},
     {"\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"logger\":\"l\",\"data\":\"said\"}}"},
     "not said"},
    {"an error after content", TOOL("refuse"), {"\"code\":-32603,\"message\":\"no: 7\""}, {"no: 7"}, "gone"},
};

static void results_have_the_form_of_each_era(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char text[1024];
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{%s%s}}",
                 MODERN_META, answers[i].tool);
        char *said = recorder_ask(service, modern, text, NULL, NULL);
        for (size_t n = 0; n < 2 && answers[i].modern[n]; n++)
            assert_true(contains_or_print(said, answers[i].modern[n]));
        assert_true(!answers[i].never || !strstr(said, answers[i].never));
        free(said);
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{%s}}",
                 answers[i].tool + 1);
        said = recorder_ask(service, legacy, text, NULL, NULL);
        for (size_t n = 0; n < 2 && answers[i].legacy[n]; n++)
            assert_true(contains_or_print(said, answers[i].legacy[n]));
        assert_true(!answers[i].never || !strstr(said, answers[i].never));
        assert_true(!strstr(said, "resultType"));
        free(said);
    }
}

/* ---------------------------------------------------------------- questions */

static char *state_in(const char *said)
{
    const char *begin = strstr(said, "\"requestState\":\"");
    assert_non_null(begin);
    begin += strlen("\"requestState\":\"");
    return strndup(begin, strcspn(begin, "\""));
}

/* Retries a call with the request state `sealed`. `more` holds further members of params. */
static char *retry_call(struct mcp_peer *peer, const char *tool, const char *sealed, const char *more, int *status)
{
    struct buffer text = {0};
    wt__buffer_printf(&text,
                      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{%s%s,\"requestState\":"
                      "\"%s\"%s}}",
                      MODERN_META, tool, sealed, more);
    char *said = recorder_ask(service, peer, text.ptr, NULL, status);
    wt__buffer_dispose(&text);
    return said;
}

#define ONE ",\"inputResponses\":{\"one\":{\"action\":\"accept\"},\"x\":{\"nobody\":\"asked\"}}"
#define TWO ",\"inputResponses\":{\"two\":{\"role\":\"assistant\"},\"one\":{\"action\":\"changed\"}}"

static void modern_clients_are_asked_in_rounds(void **state)
{
    int status;
    (void)state;
    char *said = recorder_ask(service, modern, MODERN("1", "tools/call", TOOL("ask")), NULL, NULL);
    assert_true(contains_or_print(
        said, "\"inputRequests\":{\"one\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"));
    char *first = state_in(said);
    free(said);
    said = retry_call(modern, TOOL("ask"), first, "", &status); /* without a response the question is repeated */
    assert_true(contains_or_print(said, "\"inputRequests\":{\"one\":"));
    free(said);
    said = retry_call(modern, TOOL("ask"), first, ONE, &status);
    assert_true(contains_or_print(said, "\"inputRequests\":{\"two\":{\"method\":\"sampling/createMessage\""));
    char *second = state_in(said);
    assert_string_not_equal(first, second);
    free(said);
    /* The first response to "one" is sealed in the state, so the changed response in TWO is ignored. */
    /* The order of arguments does not matter. */
    said = retry_call(modern, ",\"arguments\":{ \"a\":[2],\"b\":1},\"name\":\"ask\"", second, TWO, &status);
    assert_true(contains_or_print(said, "{\\\"action\\\":\\\"accept\\\"} and {\\\"role\\\":\\\"assistant\\\"}, kept"));
    free(said);
    free(first);
    free(second);
}

static void request_state_is_bound_to_its_request(void **state)
{
    (void)state;
    int status;
    struct mcp_peer *bob = wt__mcp_peer_open(service, "bob", false);
    char *said = recorder_ask(service, modern, MODERN("1", "tools/call", TOOL("ask")), NULL, NULL);
    char *sealed = state_in(said);
    free(said);
    const struct {
        struct mcp_peer *peer;
        const char *tool;
        double late;
        const char *says;
    } rows[] = {
        {modern, TOOL("ask"), 0, "input_required"},
        {modern, TOOL("ask"), MCP_STATE_MS - 1, "input_required"},
        {modern, TOOL("ask"), MCP_STATE_MS + 1, "has expired"},
        {bob, TOOL("ask"), 0, "not one of ours"},
        {modern, TOOL("ask_url"), 0, "not one of ours"},
        {modern, ",\"name\":\"ask\",\"arguments\":{\"b\":1,\"a\":[3]}", 0, "not one of ours"},
        {modern, ",\"name\":\"ask\"", 0, "not one of ours"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clock_ms += (int64_t)rows[i].late;
        said = retry_call(rows[i].peer, rows[i].tool, sealed, ONE, &status);
        clock_ms -= (int64_t)rows[i].late;
        assert_true(contains_or_print(said, rows[i].says));
        assert_int_equal(status, strcmp(rows[i].says, "input_required") == 0 ? 200 : 400);
        assert_true(status == 200 || strstr(said, "\"code\":-32602"));
        free(said);
    }
    for (size_t i = 0; sealed[i]; i++) { /* change each letter in turn */
        char was = sealed[i];
        sealed[i] = was == 'A' ? 'B' : 'A';
        said = retry_call(modern, TOOL("ask"), sealed, ONE, &status);
        assert_true(contains_or_print(said, "requestState"));
        assert_int_equal(status, 400);
        sealed[i] = was;
        free(said);
    }
    free(sealed);
    wt__mcp_peer_release(bob);
}

static void rounds_of_questions_are_limited(void **state)
{
    int status = 0, rounds = 0;
    char *sealed = NULL,
         *said = recorder_ask(service, modern, MODERN("1", "tools/call", TOOL("ask_for_ever")), NULL, NULL);
    (void)state;
    for (; strstr(said, "input_required"); rounds++) {
        char more[128];
        snprintf(more, sizeof more, ",\"inputResponses\":{\"question %d\":{\"roots\":[]}}", rounds);
        free(sealed);
        sealed = state_in(said);
        free(said);
        said = retry_call(modern, TOOL("ask_for_ever"), sealed, more, &status);
    }
    assert_int_equal(rounds, MCP_ROUNDS_MAX);
    assert_true(contains_or_print(said, "\"code\":-32603"));
    free(sealed);
    free(said);
    said = recorder_ask(service, modern, MODERN("1", "tools/call", TOOL("ask_much")), NULL, NULL);
    assert_true(contains_or_print(said, "too many questions at once"));
    free(said);
}

static void questions_need_a_declared_capability(void **state)
{
    (void)state;
    char *said = recorder_ask(service, modern, MODERN("1", "tools/call", TOOL("ask_url")), NULL, NULL);
    assert_true(contains_or_print(said, "\"code\":-32021")); /* elicitation {} means forms only */
    assert_true(contains_or_print(said, "\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}"));
    free(said);
    said = recorder_ask(service, modern,
                        REQUEST("1", "tools/call",
                                "\"name\":\"ask_url\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
                                "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{"
                                "\"url\":{}}}}"),
                        NULL, NULL);
    assert_true(contains_or_print(said, "input_required"));
    free(said);
}

static void legacy_clients_are_asked_during_the_call(void **state)
{
    (void)state;
    struct recorder *call = recorder_begin(service, legacy, REQUEST("1", "tools/call", "\"name\":\"ask\""), NULL);
    char *said = recorder_wait_for(call, "elicitation/create"), answer[256];
    json_t *question = NULL;
    struct mcp_peer *stranger = wt__mcp_peer_open(service, "", true);
    assert_int_equal(wt__json_parse(&question, said, strcspn(said, "\n"), NULL), 0);
    snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"from\":\"a stranger\"}}",
             json_string_value(json_object_get(question, "id")));
    free(recorder_ask(service, stranger, answer, NULL, NULL)); /* another client's answer is ignored */
    snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\"}}",
             json_string_value(json_object_get(question, "id")));
    free(recorder_ask(service, legacy, answer, NULL, NULL));
    json_decref(question);
    free(said);
    said = recorder_wait_for(call, "sampling/createMessage");
    const char *second = strchr(said, '\n') + 1;
    assert_int_equal(wt__json_parse(&question, second, strcspn(second, "\n"), NULL), 0);
    snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"error\":{\"code\":-1,\"message\":\"no\"}}",
             json_string_value(json_object_get(question, "id")));
    free(recorder_ask(service, legacy, answer, NULL, NULL));
    recorder_wait(call);
    assert_true(contains_or_print(call->said.ptr, "the client refused the question"));
    assert_true(contains_or_print(call->said.ptr, "\"isError\":true"));
    json_decref(question);
    free(said);
    wt__mcp_channel_release(&call->channel);
    wt__mcp_peer_close(stranger);
    wt__mcp_peer_release(stranger);
}

static void legacy_calls_report_a_missing_capability(void **state)
{
    (void)state;
    char *said = recorder_ask(service, legacy, REQUEST("1", "tools/call", "\"name\":\"ask_for_ever\""), NULL, NULL);
    assert_true(contains_or_print(said, "did not declare the capability")); /* the capability roots */
    assert_true(contains_or_print(said, "\"isError\":true"));
    free(said);
}

static void a_call_waiting_for_its_client_can_be_cancelled(void **state)
{
    (void)state;
    struct recorder *call = recorder_begin(service, legacy, REQUEST("77", "tools/call", "\"name\":\"ask\""), NULL);
    free(recorder_wait_for(call, "elicitation/create"));
    free(recorder_ask(service, legacy,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}",
                      NULL, NULL));
    recorder_wait(call);
    assert_null(strstr(call->said.ptr, "\"id\":77"));                          /* no response */
    assert_true(contains_or_print(call->said.ptr, "notifications/cancelled")); /* the question is cancelled */
    wt__mcp_channel_release(&call->channel);
}

/* ---------------------------------------------------------------- cancellation and limits */

static void a_cancel_affects_only_its_call(void **state)
{
    (void)state;
    struct mcp_peer *other = wt__mcp_peer_open(service, "alice", false);
    meanwhile_reset();
    struct recorder *one = recorder_begin(service, modern, MODERN("5", "tools/call", TOOL("wait")), NULL);
    struct recorder *two = recorder_begin(service, other, MODERN("5", "tools/call", TOOL("wait")), NULL);
    meanwhile_until(&meanwhile.waiting, 2);
    wt__mcp_channel_gone(&one->channel);
    meanwhile_until(&meanwhile.cancelled, 1);
    assert_true(meanwhile.cancel_heard);
    meanwhile_add(&meanwhile.let_go);
    recorder_wait(one);
    recorder_wait(two);
    assert_null(one->said.ptr);
    assert_true(contains_or_print(two->said.ptr, "let go"));
    assert_int_equal(meanwhile.answered, 1);
    wt__mcp_channel_release(&one->channel);
    wt__mcp_channel_release(&two->channel);
    wt__mcp_peer_release(other);
}

static void a_lost_legacy_client_cancels_its_call(void **state)
{
    (void)state;
    meanwhile_reset();
    struct recorder *call = recorder_begin(service, legacy, REQUEST("78", "tools/call", "\"name\":\"wait\""), NULL);
    meanwhile_until(&meanwhile.waiting, 1);
    wt__mcp_channel_gone(&call->channel);
    recorder_wait(call);
    assert_int_equal(meanwhile.cancelled, 1);
    wt__mcp_channel_release(&call->channel);
}

static void two_calls_run_at_once(void **state)
{
    (void)state;
    meanwhile_reset();
    struct recorder *one = recorder_begin(service, modern, MODERN("1", "tools/call", TOOL("meet")), NULL);
    struct recorder *two = recorder_begin(service, modern, MODERN("2", "tools/call", TOOL("meet")), NULL);
    recorder_wait(one);
    recorder_wait(two);
    assert_true(contains_or_print(one->said.ptr, "met") && contains_or_print(two->said.ptr, "met"));
    wt__mcp_channel_release(&one->channel);
    wt__mcp_channel_release(&two->channel);
}

/* Waiting calls of one client do not delay other clients. A client is a principal or, without keys, a session. */
static void waiting_calls_are_limited_by_client(void **state)
{
    static const struct mcp_service_options options = {.waiting_max = 8};
    static const struct {
        const char *flooding, *other;
        bool legacy;
    } clients[] = {{"alice", "bob", false}, {"", "bob", false}, {"", "", true}, {"alice", "bob", true}};
    (void)state;
    for (size_t c = 0; c < sizeof clients / sizeof *clients; c++) {
        bool is_legacy = clients[c].legacy;
        const char *wait =
            is_legacy ? REQUEST("1", "tools/call", "\"name\":\"wait\"") : MODERN("1", "tools/call", TOOL("wait"));
        struct mcp_service *small;
        struct recorder *calls[5];
        assert_int_equal(wt__mcp_service_open(&small, &service->features, &options, &err), 0);
        struct mcp_peer *flooding = wt__mcp_peer_open(small, clients[c].flooding, is_legacy),
                        *other = wt__mcp_peer_open(small, clients[c].other, is_legacy);
        flooding->is_open = other->is_open = true;
        meanwhile_reset();
        for (size_t i = 0; i < 4; i++)
            calls[i] = recorder_begin(small, flooding, wait, NULL);
        meanwhile_until(&meanwhile.waiting, 4);
        char *said = recorder_ask(small, flooding, wait, NULL, NULL);
        assert_true(contains_or_print(
            said,
            "4 calls of this client are running, its share of the server's 8; try again when one of them has ended"));
        free(said);
        calls[4] = recorder_begin(small, other, wait, NULL);
        meanwhile_until(&meanwhile.waiting, 5);
        wt__mcp_channel_gone(&calls[0]->channel); /* a cancelled call frees its place at once */
        meanwhile_until(&meanwhile.cancelled, 1);
        for (size_t i = 1; i < 5; i++)
            meanwhile_add(&meanwhile.let_go);
        for (size_t i = 0; i < 5; i++) {
            recorder_wait(calls[i]);
            wt__mcp_channel_release(&calls[i]->channel);
        }
        wt__mcp_peer_close(flooding);
        wt__mcp_peer_close(other);
        wt__mcp_peer_release(flooding);
        wt__mcp_peer_release(other);
        wt__mcp_service_close(small);
    }
}

static void progress_is_sent_on_request(void **state)
{
    (void)state;
    meanwhile_reset();
    meanwhile_add(&meanwhile.let_go);
    meanwhile_add(&meanwhile.let_go);
    char *said =
        recorder_ask(service, legacy,
                     REQUEST("1", "tools/call", "\"name\":\"wait\",\"_meta\":{\"progressToken\":\"t\"}"), NULL, NULL);
    assert_true(
        contains_or_print(said, "{\"progressToken\":\"t\",\"progress\":0,\"total\":1,\"message\":\"waiting\"}"));
    free(said);
    said = recorder_ask(service, legacy, REQUEST("1", "tools/call", "\"name\":\"wait\""), NULL, NULL);
    assert_null(strstr(said, "progress"));
    free(said);
}

/* ---------------------------------------------------------------- notices */

static void listeners_get_the_selected_notices(void **state)
{
    (void)state;
    struct recorder *tools = recorder_begin(
        service, modern, MODERN("8", "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}"), NULL);
    struct recorder *files =
        recorder_begin(service, modern,
                       MODERN("\"f\"", "subscriptions/listen",
                              ",\"notifications\":{\"promptsListChanged\":true,\"resourceSubscriptions\":["
                              "\"test://watched\"]}"),
                       NULL);
    assert_true(contains_or_print(
        tools->said.ptr,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{"
        "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":8},\"notifications\":{\"toolsListChanged\""
        ":true}}}\n"));
    /* prompts are not offered, so not acknowledged */
    assert_true(
        contains_or_print(files->said.ptr, "\"notifications\":{\"resourceSubscriptions\":[\"test://watched\"]}}}\n"));
    assert_string_equal(meanwhile.watched, "test://watched");
    meanwhile.watched[0] = '\0';
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    wt__mcp_service_resource_updated(service, STR("test://watched"));
    wt__mcp_service_resource_updated(service, STR("test://other"));
    assert_true(contains_or_print(tools->said.ptr,
                                  "\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{"
                                  "\"io.modelcontextprotocol/subscriptionId\":8}}}\n"));
    assert_null(strstr(tools->said.ptr, "resources"));
    assert_true(contains_or_print(files->said.ptr,
                                  "\"method\":\"notifications/resources/updated\",\"params\":{\"_meta\":{"
                                  "\"io.modelcontextprotocol/subscriptionId\":\"f\"},\"uri\":\"test://watched\"}}\n"));
    assert_null(strstr(files->said.ptr, "test://other"));
    assert_null(strstr(files->said.ptr, "list_changed"));
    files->gone = true;
    wt__mcp_drop_gone_listeners(service);
    assert_int_equal(service->listener_count, 1);
    wt__mcp_end_listeners(service, NULL);
    assert_true(contains_or_print(tools->said.ptr, "\"id\":8,\"result\":{\"resultType\":\"complete\",\"_meta\":{"
                                                   "\"io.modelcontextprotocol/subscriptionId\":8,"));
    assert_int_equal(service->listener_count, 0);
    wt__mcp_channel_release(&tools->channel);
    wt__mcp_channel_release(&files->channel);
}

static void legacy_clients_get_notices_on_their_stream(void **state)
{
    (void)state;
    struct recorder *stream = recorder_open();
    wt__mcp_peer_stream(legacy, &stream->channel);
    free(recorder_ask(service, legacy, REQUEST("1", "resources/subscribe", "\"uri\":\"test://watched\""), NULL, NULL));
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    wt__mcp_service_resource_updated(service, STR("test://watched"));
    wt__mcp_service_resource_updated(service, STR("test://other"));
    free(
        recorder_ask(service, legacy, REQUEST("1", "resources/unsubscribe", "\"uri\":\"test://watched\""), NULL, NULL));
    wt__mcp_service_resource_updated(service, STR("test://watched"));
    assert_string_equal(stream->said.ptr,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":"
                        "\"test://watched\"}}\n");
    wt__mcp_peer_stream(legacy, NULL);
    assert_true(stream->answered);
    wt__mcp_channel_release(&stream->channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_the_form_of_each_era),
        cmocka_unit_test(modern_clients_are_asked_in_rounds),
        cmocka_unit_test(request_state_is_bound_to_its_request),
        cmocka_unit_test(rounds_of_questions_are_limited),
        cmocka_unit_test(questions_need_a_declared_capability),
        cmocka_unit_test(legacy_clients_are_asked_during_the_call),
        cmocka_unit_test(legacy_calls_report_a_missing_capability),
        cmocka_unit_test(a_call_waiting_for_its_client_can_be_cancelled),
        cmocka_unit_test(a_cancel_affects_only_its_call),
        cmocka_unit_test(a_lost_legacy_client_cancels_its_call),
        cmocka_unit_test(two_calls_run_at_once),
        cmocka_unit_test(waiting_calls_are_limited_by_client),
        cmocka_unit_test(progress_is_sent_on_request),
        cmocka_unit_test(listeners_get_the_selected_notices),
        cmocka_unit_test(legacy_clients_get_notices_on_their_stream),
    };
    return cmocka_run_group_tests(tests, open_calls_service, close_calls_service);
}
