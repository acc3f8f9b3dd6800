/* Tests connections to a conforming server, the fixture of the conformance suite: legacy and modern, over stdio and
 * HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "mcp/talk.h"
#include "net/process.h"

static wt_error err;
static char program[512], url[96];
static struct coprocess *far; /* the fixture over HTTP */

/* The four combinations of era and transport. */
static const struct connection_way {
    const char *name;
    enum mcp_era era;
    bool http;
} ways[] = {{"legacy program", MCP_ERA_LEGACY, false},
            {"modern program", MCP_ERA_MODERN, false},
            {"legacy HTTP", MCP_ERA_LEGACY, true},
            {"modern HTTP", MCP_ERA_MODERN, true}};

static int start_fixture(void **state)
{
    static const char *argv[] = {program, "127.0.0.1:0", NULL};
    static struct child child = {.argv = argv};
    const char *folder = getenv("WT_TEST_BUILD");
    struct str line;
    (void)state;
    snprintf(program, sizeof program, "%s/fixture_server", folder ? folder : "build");
    if (access(program, X_OK) != 0)
        return 0;
    if (wt__coprocess_start(&far, &child, &err) < 0 || wt__coprocess_receive(far, &line, &err) != 1)
        return -1;
    snprintf(url, sizeof url, "http://%.*s/mcp", (int)line.len, line.ptr);
    return 0;
}

static int stop_fixture(void **state)
{
    (void)state;
    wt__coprocess_end(far, false, NULL); /* its exit status does not matter here */
    return 0;
}

/* Opens a connection. The servers are static, since they must outlive the connection. */
static struct mcp_connection *open_way(const struct connection_way *way, const struct mcp_connection_options *options)
{
    static const char *argv[] = {program, NULL};
    static struct mcp_server near = {.name = "near", .argv = argv}, there = {.name = "far", .url = url};
    struct mcp_connection_options own = *options;
    struct mcp_connection *connection;
    if (!far) {
        printf("skipped: fixture_server is not built\n");
        skip();
    }
    own.era = way->era;
    if (wt__mcp_connect(&connection, way->http ? &there : &near, &own, &err) < 0)
        fail_msg("%s: %s", way->name, err.message);
    assert_int_equal(wt__mcp_connection_era(connection), way->era);
    return connection;
}

/* ---------------------------------------------------------------- requests */

#define CALL(tool) .method = "tools/call", .params = STR("\"name\":\"" tool "\",\"arguments\":{}"), .name = STR(tool)
#define NAME_ASKED "{\"message\":\"What is your name?\",\"requestedSchema\""
#define HELLO "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}"

static const struct {
    const char *name;
    struct mcp_request request;
    const char *legacy[6], *modern[6]; /* parts of the events, in this order; NULL ends the list */
} talks[] = {
    {"tool call",
     {CALL("test_simple_text")},
     {"= {", "This is a simple text response"},
     {"= {", "This is a simple text response"}},
    {"tool error", {CALL("test_error_handling")}, {"= {", "\"isError\":true"}, {"= {", "\"isError\":true"}},
    {"unknown method", {.method = "nothing/such"}, {"- {", "-32601"}, {"- {", "-32601"}},
    {"list", {.method = "tools/list"}, {"= {", "\"tools\""}, {"= {", "\"ttlMs\""}},
    {"progress",
     {CALL("test_tool_with_progress"), .progress = true},
     {"> notifications/progress {\"progress\":0", "> notifications/progress {\"progress\":50",
      "> notifications/progress {\"progress\":100", "= {"},
     {"> notifications/progress {\"progress\":0", "> notifications/progress {\"progress\":50",
      "> notifications/progress {\"progress\":100", "= {"}},
    {"logs",
     {CALL("test_tool_with_logging"), .log_level = "info"},
     {"> notifications/message {", "Tool execution started", "Tool execution completed", "= {"},
     {"> notifications/message {", "Tool execution started", "Tool execution completed", "= {"}},
    {"question",
     {CALL("test_input_required_result_elicitation"), .capabilities = STR("{\"elicitation\":{\"form\":{}}}")},
     {"? elicitation/create " NAME_ASKED, "= {", "Hello, Ada!"},
     {"= {", "\"input_required\"", NAME_ASKED}},
    {"question that a modern client does not support",
     {CALL("test_missing_capability")},
     {"? sampling/createMessage {", "= {"},
     {"- {", "-32021"}},
    {"resource",
     {.method = "resources/read",
      .params = STR("\"uri\":\"test://template/ü/data\""),
      .name = STR("test://template/ü/data")},
     {"= {", "Data for ID: ü"},
     {"= {", "Data for ID: ü"}},
    {"arguments repeated in headers",
     {.method = "tools/call",
      .params = STR("\"name\":\"test_custom_headers\",\"arguments\":{\"region\":\"north\",\"limit\":3}"),
      .name = STR("test_custom_headers"),
      .headers = (const struct http_header[]){{"Mcp-Param-Region", "north"}, {"Mcp-Param-Limit", "3"}},
      .header_count = 2},
     {"= {", "north"},
     {"= {", "north"}},
};

static void fixture_answers_each_request(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct mcp_connection *connection = open_way(&ways[w], &options);
        for (size_t i = 0; i < sizeof talks / sizeof *talks; i++) {
            const char *const *wanted = ways[w].era == MCP_ERA_LEGACY ? talks[i].legacy : talks[i].modern;
            char *events = talk(connection, &talks[i].request, HELLO);
            const char *at = events;
            for (size_t k = 0; at && wanted[k]; k++)
                at = strstr(at, wanted[k]);
            if (!at)
                fail_msg("%s: %s: %s", ways[w].name, talks[i].name, events);
            free(events);
        }
        wt__mcp_disconnect(connection, false);
    }
}

/* ---------------------------------------------------------------- cancellation */

static unsigned count_cancels(struct mcp_connection *connection)
{
    const struct mcp_request request = {CALL("count_cancels")};
    char *events = talk(connection, &request, "");
    const char *text = events ? strstr(events, "\"text\":\"") : NULL;
    unsigned count = text ? (unsigned)strtoul(text + 8, NULL, 10) : 999;
    free(events);
    return count;
}

static void *cancel_in_thread(void *context)
{
    wt__mcp_exchange_cancel(context);
    return NULL;
}

/* The tool `wait` runs until it is cancelled. The tool `count_cancels` returns the number of cancellations. */
static void cancellation_reaches_the_server(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {CALL("wait"), .progress = true, .timeout_ms = 900000};
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct mcp_connection *connection = open_way(&ways[w], &options);
        struct mcp_exchange *exchange;
        struct mcp_event event;
        pthread_t thread;
        unsigned before = count_cancels(connection);
        assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &request, &err), 0);
        assert_true(wt__mcp_exchange_was_sent(exchange));
        /* Wait until the tool runs: over HTTP, a cancel uses another TCP connection and could overtake the call. */
        assert_int_equal(wt__mcp_exchange_next(exchange, &event, &err), 0);
        assert_int_equal(event.kind, MCP_EVENT_NOTIFIED);
        assert_int_equal(pthread_create(&thread, NULL, cancel_in_thread, exchange), 0);
        assert_int_equal(wt__mcp_exchange_next(exchange, &event, &err), WT_ECANCELLED);
        pthread_join(thread, NULL);
        wt__mcp_exchange_cancel(exchange);
        wt__mcp_exchange_end(exchange);
        while (count_cancels(connection) == before)
            usleep(1000);
        wt__mcp_disconnect(connection, false);
    }
}

/* ---------------------------------------------------------------- notices */

struct first_notice {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char first[128];
};

static void on_noticed(void *context, struct str method, struct str params)
{
    struct first_notice *heard = context;
    (void)params;
    pthread_mutex_lock(&heard->lock);
    if (!heard->first[0])
        snprintf(heard->first, sizeof heard->first, "%.*s", (int)method.len, method.ptr);
    pthread_cond_broadcast(&heard->changed);
    pthread_mutex_unlock(&heard->lock);
}

/* A legacy server sends notices unasked, a modern server only to subscribers. */
static void notices_reach_the_client(void **state)
{
    static const struct mcp_request change = {CALL("test_trigger_tool_change")},
                                    listen = {.method = "subscriptions/listen",
                                              .params = STR("\"notifications\":{\"toolsListChanged\":true}"),
                                              .timeout_ms = 900000};
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct first_notice heard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
        const struct mcp_connection_options options = {.timeout_ms = 900000, .context = &heard, .noticed = on_noticed};
        struct mcp_connection *connection = open_way(&ways[w], &options);
        struct mcp_exchange *exchange = NULL;
        struct mcp_event event;
        bool legacy = ways[w].era == MCP_ERA_LEGACY;
        if (!legacy) {
            assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &listen, &err), 0);
            assert_int_equal(wt__mcp_exchange_next(exchange, &event, &err), 0);
            assert_true(wt__str_equal(event.method, STR("notifications/subscriptions/acknowledged")));
        }
        for (bool told = false; !told;) { /* over HTTP, the stream of notices may not be open yet */
            free(talk(connection, &change, ""));
            pthread_mutex_lock(&heard.lock);
            told = heard.first[0] || !legacy;
            pthread_mutex_unlock(&heard.lock);
            usleep(1000);
        }
        if (legacy) {
            assert_string_equal(heard.first, "notifications/tools/list_changed");
        } else {
            assert_int_equal(wt__mcp_exchange_next(exchange, &event, &err), 0);
            assert_true(wt__str_equal(event.method, STR("notifications/tools/list_changed")));
        }
        wt__mcp_exchange_end(exchange);
        wt__mcp_disconnect(connection, false);
    }
}

/* ---------------------------------------------------------------- concurrent requests */

enum { THREADS = 8, CALLS = 25 };

static void *ask_often(void *context)
{
    static const struct mcp_request requests[] = {
        {CALL("test_simple_text")}, {.method = "tools/list"}, {.method = "nothing/such"}};
    static const char *const wanted[] = {"This is a simple text response", "\"tools\"", "-32601"};
    size_t wrong = 0;
    for (size_t i = 0; i < CALLS; i++) {
        char *events = talk(context, &requests[i % 3], "");
        wrong += !events || !strstr(events, wanted[i % 3]);
        free(events);
    }
    return wrong ? context : NULL;
}

/* Threads share a connection, and each thread gets its own answers. */
static void threads_share_a_connection(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct mcp_connection *connection = open_way(&ways[w], &options);
        pthread_t threads[THREADS];
        void *wrong;
        for (size_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_often, connection), 0);
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &wrong);
            assert_null(wrong);
        }
        wt__mcp_disconnect(connection, false);
    }
}

static void *listen_until_over(void *context)
{
    struct mcp_event event;
    wt_error why;
    int rc;
    while ((rc = wt__mcp_exchange_next(context, &event, &why)) == 0)
        ;
    wt__mcp_exchange_end(context);
    return rc == WT_ENETWORK && strstr(why.message, "was ended") ? NULL : context;
}

static void disconnect_wakes_waiting_threads(void **state)
{
    static const struct mcp_connection_options options = {.timeout_ms = 900000};
    static const struct mcp_request request = {CALL("wait"), .timeout_ms = 900000};
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct mcp_connection *connection = open_way(&ways[w], &options);
        pthread_t threads[THREADS];
        struct mcp_exchange *exchange;
        void *wrong;
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(wt__mcp_exchange_begin(&exchange, connection, &request, &err), 0);
            assert_int_equal(pthread_create(&threads[i], NULL, listen_until_over, exchange), 0);
        }
        wt__mcp_disconnect(connection, true);
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &wrong);
            assert_null(wrong);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixture_answers_each_request),     cmocka_unit_test(cancellation_reaches_the_server),
        cmocka_unit_test(notices_reach_the_client),         cmocka_unit_test(threads_share_a_connection),
        cmocka_unit_test(disconnect_wakes_waiting_threads),
    };
    return cmocka_run_group_tests(tests, start_fixture, stop_fixture);
}
