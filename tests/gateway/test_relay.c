/* Tests the fixture of the conformance suite behind a gateway. The clients and the servers are of both eras. A server
 * runs as a program or is reached over HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "gateway/running_gateway.h"
#include "net/process.h"

enum { LP, MP, LH, MH, WAYS };
static const char *const ways[WAYS] = {"lp", "mp", "lh", "mh"}; /* legacy or modern; program or HTTP */

static char program[512], url[96], state_path[64];
static struct coprocess *far;
static struct running_gateway s;
static _Atomic int64_t clock_ms = 1000000000;

static double relay_clock(void)
{
    return (double)clock_ms;
}

static int start_relay_servers(void **state)
{
    static const char *argv[] = {program, NULL}, *far_argv[] = {program, "127.0.0.1:0", NULL};
    static const struct child child = {.argv = far_argv};
    /* Pin the era of each server, since the fixture speaks both. Each client then meets servers of both eras. */
    static const struct mcp_server servers[WAYS] = {{.name = "lp", .argv = argv, .protocol = MCP_ERA_LEGACY},
                                                    {.name = "mp", .argv = argv, .protocol = MCP_ERA_MODERN},
                                                    {.name = "lh", .url = url, .protocol = MCP_ERA_LEGACY},
                                                    {.name = "mh", .url = url, .protocol = MCP_ERA_MODERN}};
    static const char eras[] =
        "{\"servers\":[{\"name\":\"lp\",\"era\":\"legacy\"},{\"name\":\"mp\",\"era\":\"modern\"},{\"name\":\"lh\","
        "\"era\":\"legacy\"},{\"name\":\"mh\",\"era\":\"modern\"}]}";
    const char *folder = getenv("WT_TEST_BUILD");
    struct str line;
    (void)state;
    snprintf(program, sizeof program, "%s/fixture_server", folder ? folder : "build");
    if (access(program, X_OK) != 0)
        return 0;
    if (wt__coprocess_start(&far, &child, &err) < 0 || wt__coprocess_receive(far, &line, &err) != 1)
        return -1;
    snprintf(url, sizeof url, "http://%.*s/mcp", (int)line.len, line.ptr);
    snprintf(state_path, sizeof state_path, "/tmp/whichtool-gateway-%d.json", (int)getpid());
    SOUND(wt__file_replace(state_path, eras, sizeof eras - 1, &err));
    start_gateway(&s, servers, WAYS, &(struct gateway_options){.state_path = state_path, .now_ms = relay_clock});
    for (size_t i = 0; i < WAYS; i++)
        wait_for_state(&s, i, UPSTREAM_READY);
    return 0;
}

static int stop_relay_servers(void **state)
{
    (void)state;
    if (!far)
        return 0;
    stop_gateway(&s);
    unlink(state_path);
    return wt__coprocess_end(far, false, NULL);
}

static void need_fixture(void)
{
    if (far)
        return;
    printf("skipped: fixture_server is not built\n");
    skip();
}

static const char *name_of(size_t way, const char *tool)
{
    static char names[4][128];
    static int at;
    at = (at + 1) % 4;
    snprintf(names[at], sizeof names[at], "%s__%s", ways[way], tool);
    return names[at];
}

static void the_state_has_the_era_of_each_server(void **state)
{
    (void)state;
    need_fixture();
    struct buffer text = {0};
    wt__gateway_write_state(s.gateway, &text);
    for (size_t i = 0; i < WAYS; i++) {
        char words[96];
        snprintf(words, sizeof words, "{\"name\":\"%s\",\"state\":\"ready\",\"era\":\"%s\"", ways[i],
                 i == LP || i == LH ? "legacy" : "modern");
        if (!strstr(text.ptr, words))
            fail_msg("%s: %s", words, text.ptr);
    }
    wt__buffer_dispose(&text);
}

/* ---------------------------------------------------------------- answers */

static const struct {
    const char *tool, *arguments, *meta;
    const char *says[5]; /* texts in this order */
} answers[] = {
    {"test_simple_text", "{}", "", {"This is a simple text response", NULL}},
    {"test_multiple_content_types", "{}", "", {"Multiple content", "image/png", "{\\\"test\\\":\\\"data\\\"", NULL}},
    {"test_error_handling", "{}", "", {"intentionally returns an error", "\"isError\":true", NULL}},
    {"test_tool_with_progress",
     "{}",
     "\"progressToken\":\"mine\"",
     {"notifications/progress\",\"params\":{\"progressToken\":\"mine\",\"progress\":0,\"total\":100", "\"progress\":50",
      "\"progress\":100", "Progressed", NULL}},
    {"test_tool_with_progress", "{}", "", {"Progressed", NULL}},
    {"test_tool_with_logging",
     "{}",
     "\"io.modelcontextprotocol/logLevel\":\"info\"",
     {"notifications/message", "Tool execution started", "Tool execution completed", "Logged", NULL}},
    {"test_custom_headers", "{\"region\":\"north\",\"limit\":3}", "", {"north", NULL}},
    {"test_custom_headers",
     "{\"region\":\"x\", \"limit\" : 3.0,\"n\":0.10}",
     "",
     {"{\\\"region\\\":\\\"x\\\", \\\"limit\\\" : 3.0,\\\"n\\\":0.10}", NULL}},
    {"test_custom_headers",
     "{\"region\":\"x\",\"limit\":\"12345678901234567890\"}",
     "",
     {"{\\\"region\\\":\\\"x\\\",\\\"limit\\\":12345678901234567890}", NULL}},
    {"test_custom_headers", "{\"region\":\"x\",\"limit\":null}", "", {"{\\\"region\\\":\\\"x\\\"}", NULL}},
    {"test_custom_headers", "{\"region\":\"x\",\"limit\":\"few\"}", "", {"/limit: expected", "\"isError\":true", NULL}},
    {"test_custom_headers", "{\"region\":\"a\\u0000b\"}", "", {"{\\\"region\\\":\\\"a\\\\u0000b\\\"}", NULL}},
    {"test_custom_headers",
     "{\"region\":\"a\\u0000b\",\"limit\":\"3\"}",
     "",
     {"{\\\"region\\\":\\\"a\\\\u0000b\\\",\\\"limit\\\":3}", NULL}},
    {"test_custom_headers", "{\"region\":\"\\ud800\"}", "", {"\"id\":7,", "\"code\":-32602", NULL}},
    {"test_custom_headers", "{\"region\":\"x\",\"n\":1e400}", "", {"{\\\"region\\\":\\\"x\\\",\\\"n\\\":1e400}", NULL}},
    {"test_custom_headers", "{\"limit\":3}", "", {"region", "\"isError\":true", NULL}},
    {"no_such_tool", "{}", "", {"\"code\":-32602", NULL}},
};

static void relays_calls_between_all_eras(void **state)
{
    (void)state;
    need_fixture();
    for (size_t w = 0; w < WAYS; w++)
        for (int legacy = 0; legacy < 2; legacy++)
            for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
                char *said = call_of(&s, legacy ? s.legacy : s.modern, name_of(w, answers[i].tool),
                                     answers[i].arguments, answers[i].meta);
                const char *at = said;
                for (size_t n = 0; at && answers[i].says[n]; n++)
                    at = strstr(at, answers[i].says[n]);
                bool told = *answers[i].meta || !strstr(said, "notifications/progress");
                if (!at || !told)
                    fail_msg("%s client, %s: %s: %s", legacy ? "legacy" : "modern", ways[w], answers[i].tool, said);
                free(said);
            }
}

/* All servers have the same resources and prompts. The shown names differ, and each leads to its own server. */
static void relays_resources_and_prompts_to_their_servers(void **state)
{
    static const struct {
        const char *method, *params, *says;
    } asked[] = {
        {"resources/list", "", "\"uri\":\"mh+test://static-text\""},
        {"resources/templates/list", "", "\"uriTemplate\":\"lh+test://template/{id}/data\""},
        {"prompts/list", "", "\"name\":\"mp.test_simple_prompt\""},
        {"resources/read", ",\"uri\":\"test://static-text\"", "\"contents\""},
        {"resources/read", ",\"uri\":\"mp+test://template/7/data\"", "Data for ID: 7"},
        {"resources/read", ",\"uri\":\"mh+test://template/8/data\"", "Data for ID: 8"},
        {"resources/read", ",\"uri\":\"nobody://\"", "\"code\":-32602"},
        {"prompts/get", ",\"name\":\"lh.test_prompt_with_arguments\",\"arguments\":{\"arg1\":\"x\",\"arg2\":\"y\"}",
         "arg1='x', arg2='y'"},
        {"prompts/get", ",\"name\":\"mp.test_prompt_with_arguments\",\"arguments\":{}", "arg1 and arg2 are required"},
        {"prompts/get", ",\"name\":\"nobody\"", "\"code\":-32602"},
        {"completion/complete",
         ",\"ref\":{\"type\":\"ref/prompt\",\"name\":\"nobody\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}",
         "\"code\":-32602,\"message\":\"there is no prompt \\\"nobody\\\"\""},
        {"completion/complete",
         ",\"ref\":{\"type\":\"ref/resource\",\"uri\":\"no://{x}\"},\"argument\":{\"name\":\"x\",\"value\":\"\"}",
         "\"code\":-32602,\"message\":\"there is no resource \\\"no://{x}\\\"\""},
        {"completion/complete",
         ",\"ref\":{\"type\":\"ref/"
         "prompt\",\"name\":\"lh.test_prompt_with_arguments\"},\"argument\":{\"name\":\"arg1\","
         "\"value\":\"par\"}",
         "\"paris\",\"park\",\"party\""},
    };
    (void)state;
    need_fixture();
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *said = ask_modern(&s.direct, s.modern, asked[i].method, asked[i].params);
        if (!strstr(said, asked[i].says))
            fail_msg("%s %s: %s", asked[i].method, asked[i].params, said);
        free(said);
    }
}

/* Without the scope `call`, a client gets the lists, but the gateway refuses all requests to a server. */
static void requires_the_call_scope_to_read(void **state)
{
    static const char lacks[] = "the key alice lacks the scope `call`";
    static const struct {
        const char *method, *params, *says;
    } asked[] = {
        {"resources/list", "", "\"uri\":\"mh+test://static-text\""},
        {"prompts/list", "", "\"name\":\"mp.test_simple_prompt\""},
        {"resources/read", ",\"uri\":\"test://static-text\"", lacks},
        {"prompts/get", ",\"name\":\"mp.test_simple_prompt\"", lacks},
        {"completion/complete",
         ",\"ref\":{\"type\":\"ref/"
         "prompt\",\"name\":\"lh.test_prompt_with_arguments\"},\"argument\":{\"name\":\"arg1\","
         "\"value\":\"par\"}",
         lacks},
        {"tools/call", ",\"name\":\"lp__test_simple_text\",\"arguments\":{}", lacks},
    };
    (void)state;
    need_fixture();
    atomic_store(&s.modern->may_call, false);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *said = ask_modern(&s.direct, s.modern, asked[i].method, asked[i].params);
        if (!strstr(said, asked[i].says))
            fail_msg("%s %s: %s", asked[i].method, asked[i].params, said);
        free(said);
    }
    atomic_store(&s.modern->may_call, true);
    atomic_store(&s.legacy->may_call, false);
    char *said = recorder_ask(s.direct.service, s.legacy,
                              REQUEST("3", "resources/subscribe", "\"uri\":\"test://static-text\""), NULL, NULL);
    atomic_store(&s.legacy->may_call, true);
    assert_non_null(strstr(said, "lacks the scope `call`"));
    free(said);
}

/* ---------------------------------------------------------------- notices */

/* Repeats a call that makes the server send a notice, until `words` arrive. The gateway may miss the first notices,
 * since it may not be listening yet. */
static void repeat_until_notice(size_t way, const char *tool, struct recorder *hears, const char *words)
{
    for (bool heard = false; !heard; usleep(1000)) {
        free(call_of(&s, s.modern, name_of(way, tool), "{}", ""));
        pthread_mutex_lock(&hears->lock);
        heard = hears->said.ptr && strstr(hears->said.ptr, words);
        pthread_mutex_unlock(&hears->lock);
    }
}

/* Subscribes to resources by their shown names. Only the resource that changed is reported. */
static void forwards_notices_of_servers(void **state)
{
    static const char *const shown[WAYS] = {"", "mp+", "lh+", "mh+"};
    static const char *const watched[] = {"test://static-text", "test://watched-resource"};
    (void)state;
    need_fixture();
    struct recorder *hears = recorder_open();
    wt__mcp_peer_stream(s.legacy, &hears->channel);
    for (size_t w = 0; w < WAYS; w++) {
        char text[256];
        for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
            snprintf(text, sizeof text, REQUEST("5", "resources/subscribe", "\"uri\":\"%s%s\""), shown[w], watched[i]);
            free(recorder_ask(s.direct.service, s.legacy, text, NULL, NULL));
        }
        snprintf(text, sizeof text, "{\"uri\":\"%stest://watched-resource\"}", shown[w]);
        repeat_until_notice(w, "change_resource", hears, text);
        pthread_mutex_lock(&hears->lock);
        assert_null(strstr(hears->said.ptr, "static-text"));
        pthread_mutex_unlock(&hears->lock);
        recorder_forget(hears);
        repeat_until_notice(w, "test_trigger_prompt_change", hears, "notifications/prompts/list_changed");
        recorder_forget(hears);
    }
    wt__mcp_peer_stream(s.legacy, NULL);
    wt__mcp_channel_release(&hears->channel);
}

/* ---------------------------------------------------------------- cancelling */

static unsigned count_cancels(size_t way)
{
    char *said = call_of(&s, s.modern, name_of(way, "count_cancels"), "{}", "");
    const char *text = strstr(said, "\"text\":\"");
    unsigned count = text ? (unsigned)strtoul(text + 8, NULL, 10) : 999;
    free(said);
    return count;
}

static struct recorder *begin_wait(struct mcp_peer *peer, size_t way)
{
    char text[512];
    bool legacy = peer == s.legacy;
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":{},"
             "\"_meta\":{%s\"progressToken\":1}}}",
             name_of(way, "wait"), legacy ? "" : MODERN_META_MEMBERS ",");
    struct recorder *call = recorder_begin(s.direct.service, peer, text, NULL);
    free(recorder_wait_for(call, "\"message\":\"waiting\"")); /* the server has received the call */
    return call;
}

/* Cancels a call by a disconnect of each client, and by a notification of the legacy client. */
static void forwards_cancellations(void **state)
{
    (void)state;
    need_fixture();
    for (size_t w = 0; w < WAYS; w++)
        for (int by = 0; by < 3; by++) {
            unsigned before = count_cancels(w);
            struct recorder *call = begin_wait(by == 0 ? s.modern : s.legacy, w);
            if (by < 2)
                wt__mcp_channel_gone(&call->channel);
            else
                free(recorder_ask(
                    s.direct.service, s.legacy,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}", NULL,
                    NULL));
            while (count_cancels(w) == before)
                usleep(1000);
            recorder_wait(call);
            wt__mcp_channel_release(&call->channel);
        }
}

/* ---------------------------------------------------------------- questions */

static char *member_in(const char *said, const char *member)
{
    char words[64];
    snprintf(words, sizeof words, "\"%s\":\"", member);
    const char *begin = strstr(said, words);
    if (!begin)
        fail_msg("no %s in %s", member, said);
    begin += strlen(words);
    return strndup(begin, strcspn(begin, "\""));
}

#define HELLO "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"
#define ASKING "test_input_required_result_elicitation"

static char *ask_name(struct mcp_peer *peer, size_t way)
{
    char arguments[] = "{}";
    return call_of(&s, peer, name_of(way, ASKING), arguments, "");
}

/* Repeats a call with the sealed state and the answer. */
static char *retry_call(struct mcp_peer *peer, size_t way, const char *sealed, const char *key)
{
    struct buffer text = {0};
    wt__buffer_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{%s,\"name\":\"%s\",",
                      MODERN_META, name_of(way, ASKING));
    wt__buffer_printf(&text, "\"arguments\":{},\"requestState\":\"%s\",\"inputResponses\":{\"%s\":" HELLO "}}}", sealed,
                      key);
    char *said = recorder_ask(s.direct.service, peer, text.ptr, NULL, NULL);
    wt__buffer_dispose(&text);
    return said;
}

/* Returns the key of the only question. */
static char *key_in(const char *said)
{
    const char *begin = strstr(said, "\"inputRequests\":{\"");
    if (!begin)
        fail_msg("no question in %s", said);
    begin += strlen("\"inputRequests\":{\"");
    return strndup(begin, strcspn(begin, "\""));
}

static void relays_questions_to_the_calling_client(void **state)
{
    (void)state;
    need_fixture();
    for (size_t w = 0; w < WAYS; w++) {
        char *said = ask_name(s.modern, w);
        char *sealed = member_in(said, "requestState"), *key = key_in(said);
        assert_non_null(
            strstr(said, "\"method\":\"elicitation/create\",\"params\":{\"message\":\"What is your name?\""));
        free(said);
        said = retry_call(s.modern, w, sealed, key);
        if (!strstr(said, "Hello, Ada!"))
            fail_msg("modern client, %s: %s", ways[w], said);
        free(said);
        free(sealed);
        free(key);

        char text[512];
        snprintf(
            text, sizeof text,
            "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":{}}}",
            name_of(w, ASKING));
        struct recorder *call = recorder_begin(s.direct.service, s.legacy, text, NULL);
        said = recorder_wait_for(call, "elicitation/create");
        char *id = member_in(said, "id");
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":" HELLO "}", id);
        free(recorder_ask(s.direct.service, s.legacy, text, NULL, NULL));
        recorder_wait(call);
        if (!strstr(call->said.ptr, "Hello, Ada!"))
            fail_msg("legacy client, %s: %s", ways[w], call->said.ptr);
        free(id);
        free(said);
        wt__mcp_channel_release(&call->channel);
    }
}

/* The sealed state is bound to the client's original arguments. Each request repairs the arguments again. */
static void repairs_arguments_again_after_a_question(void **state)
{
    (void)state;
    need_fixture();
    for (size_t w = 0; w < WAYS; w++) {
        char params[512];
        struct buffer again = {0};
        snprintf(params, sizeof params,
                 ",\"name\":\"call_destructive\",\"arguments\":{\"name\":\"%s\",\"arguments\":\"{}\"}",
                 name_of(w, ASKING));
        char *said = ask_modern(&s.search, s.finder, "tools/call", params);
        char *sealed = member_in(said, "requestState"), *key = key_in(said);
        free(said);
        wt__buffer_printf(&again, "%s,\"requestState\":\"%s\",\"inputResponses\":{\"%s\":" HELLO "}", params, sealed,
                          key);
        said = ask_modern(&s.search, s.finder, "tools/call", again.ptr);
        if (!strstr(said, "Hello, Ada!"))
            fail_msg("%s: %s", ways[w], said);
        wt__buffer_dispose(&again);
        free(said);
        free(sealed);
        free(key);
    }
}

/* ---------------------------------------------------------------- parked calls */

static void wait_until_none_is_parked(void)
{
    for (size_t left = 1; left > 0; usleep(1000)) {
        pthread_mutex_lock(&s.gateway->lock);
        left = s.gateway->parked_count;
        pthread_mutex_unlock(&s.gateway->lock);
    }
}

static void resumes_a_parked_call_once_for_its_principal(void **state)
{
    (void)state;
    need_fixture();
    static const size_t parked_by[] = {LP, LH};
    struct mcp_peer *mallory = wt__mcp_peer_open(s.direct.service, "mallory", false);
    for (size_t i = 0; i < 2; i++) {
        size_t w = parked_by[i];
        char *said = ask_name(s.modern, w);
        char *sealed = member_in(said, "requestState"), *key = key_in(said);
        free(said);
        assert_int_equal(s.gateway->parked_count, 1);
        said = retry_call(mallory, w, sealed, key); /* another principal */
        assert_non_null(strstr(said, "not one of ours"));
        free(said);
        said = retry_call(s.modern, w == LP ? LH : LP, sealed, key); /* another request */
        assert_non_null(strstr(said, "not one of ours"));
        free(said);
        sealed[0] = sealed[0] == 'A' ? 'B' : 'A'; /* another state */
        said = retry_call(s.modern, w, sealed, key);
        assert_null(strstr(said, "Hello"));
        free(said);
        free(sealed);
        assert_int_equal(s.gateway->parked_count, 1); /* still parked for its own client */
        clock_ms += MCP_STATE_MS + 1;                 /* expire the parked call */
        wait_until_none_is_parked();
        free(key);

        said = ask_name(s.modern, w);
        sealed = member_in(said, "requestState"), key = key_in(said);
        free(said);
        said = retry_call(s.modern, w, sealed, key);
        assert_non_null(strstr(said, "Hello, Ada!"));
        free(said);
        said = retry_call(s.modern, w, sealed, key); /* replayed */
        if (!strstr(said, "the question was answered already or has expired; start the call again") ||
            !strstr(said, "\"isError\":true"))
            fail_msg("%s", said);
        free(said);
        said = ask_name(s.modern, w); /* expires below */
        free(sealed);
        free(key);
        sealed = member_in(said, "requestState"), key = key_in(said);
        clock_ms += MCP_STATE_MS + 1;
        free(said);
        said = retry_call(s.modern, w, sealed, key);
        assert_non_null(strstr(said, "has expired"));
        free(said);
        free(sealed);
        free(key);
        assert_int_equal(s.gateway->parked_count, 0);
    }
    wt__mcp_peer_release(mallory);
}

/* A call beyond the client's share is refused without asking the client. Another client's calls still work. */
static void refuses_calls_above_the_parked_share(void **state)
{
    (void)state;
    need_fixture();
    struct mcp_peer *bob = wt__mcp_peer_open(s.direct.service, "bob", false);
    for (int i = 0; i < GATEWAY_PARKED_MAX / 2; i++) {
        char *said = ask_name(s.modern, i % 2 ? LP : LH);
        if (!strstr(said, "input_required"))
            fail_msg("call %d: %s", i, said);
        free(said);
    }
    char *said = ask_name(s.modern, LP);
    if (strstr(said, "input_required") || !strstr(said, "256 calls wait for answers of this client, its share of "
                                                        "512; answer one, or try again later"))
        fail_msg("%s", said);
    free(said);
    said = ask_name(bob, LP);
    assert_non_null(strstr(said, "input_required"));
    free(said);
    wt__mcp_peer_release(bob);
    said = ask_name(s.modern, MP); /* calls of modern servers are not parked */
    assert_non_null(strstr(said, "input_required"));
    free(said);
    clock_ms += MCP_STATE_MS + 1;
    wait_until_none_is_parked();
    said = ask_name(s.modern, LP);
    assert_non_null(strstr(said, "input_required"));
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_has_the_era_of_each_server),
        cmocka_unit_test(relays_calls_between_all_eras),
        cmocka_unit_test(relays_resources_and_prompts_to_their_servers),
        cmocka_unit_test(requires_the_call_scope_to_read),
        cmocka_unit_test(forwards_notices_of_servers),
        cmocka_unit_test(forwards_cancellations),
        cmocka_unit_test(relays_questions_to_the_calling_client),
        cmocka_unit_test(repairs_arguments_again_after_a_question),
        cmocka_unit_test(resumes_a_parked_call_once_for_its_principal),
        cmocka_unit_test(refuses_calls_above_the_parked_share),
    };
    return cmocka_run_group_tests(tests, start_relay_servers, stop_relay_servers);
}
