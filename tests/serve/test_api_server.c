/* Tests the API on a real server with the option workers = 1, over sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wunused-function" /* not all helpers are used here */
#include "http/served.h"

#include "serve/api/api.h"
#include "serve/catalogue.h"
#include "serve/mcp_routes.h"
#include "serve/usage_routes.h"

enum { CLIENTS = 12, TOOLS = 400 };

struct server_fixture {
    wt_engine *engine;
    struct mcp_catalogue *catalogue;
    struct mcp_routes *mcp;
    struct usage_routes *usage;
    struct http_api *api;
    struct server_under_test served;
    pthread_mutex_t lock;
    struct buffer log;
    unsigned ready;
};

static void keep_log_line(void *context, struct str line)
{
    struct server_fixture *f = context;
    pthread_mutex_lock(&f->lock);
    wt__buffer_str(&f->log, line);
    pthread_mutex_unlock(&f->lock);
}

static void signal_ready(void *context, double ms)
{
    struct server_fixture *f = context;
    assert_true(ms >= 0);
    pthread_mutex_lock(&f->lock);
    f->ready++;
    pthread_mutex_unlock(&f->lock);
}

static const char *const origins[] = {"https://app.example.com"};

static int start_api_server(void **state)
{
    struct server_fixture *f = calloc(1, sizeof *f);
    wt_open_options open;
    wt_error err;
    pthread_mutex_init(&f->lock, NULL);
    wt_open_options_init(&open);
    open.model = "";
    assert_int_equal(wt_open(&f->engine, ":memory:", &open, &err), 0);
    assert_int_equal(wt__catalogue_open(&f->catalogue, f->engine, NULL, &err), 0);
    const struct mcp_mount mount = {.path = "/mcp", .name = "mcp", .features = wt__catalogue_features(f->catalogue)};
    assert_int_equal(wt__mcp_routes_open(&f->mcp, &mount, 1, &err), 0);
    assert_int_equal(wt__usage_routes_open(&f->usage, f->engine, false, &err), 0);
    const struct routes more[] = {*wt__mcp_routes(f->mcp), *wt__usage_routes(f->usage)};
    const struct api_options options = {.engine = f->engine,
                                        .guard = {.listen = "127.0.0.1:0", .origins = origins, .origin_count = 1},
                                        .more = more,
                                        .more_count = 2,
                                        .stopping = wt__mcp_routes_stop,
                                        .stopping_context = f->mcp,
                                        .log = {LOG_FORM_JSON, LOG_LEVEL_INFO, keep_log_line, f},
                                        .log_requests = true,
                                        .ready = signal_ready,
                                        .ready_context = f};
    assert_int_equal(wt__api_open(&f->api, &options, &err), 0);
    start_server(&f->served, (struct http_server_options){.workers = 1, .handler = wt__api_handler(f->api)});
    wt__api_set_server(f->api, f->served.server);
    wt__api_warm_up(f->api);
    *state = f;
    return 0;
}

static int stop_api_server(void **state)
{
    struct server_fixture *f = *state;
    wt__http_server_stop(f->served.server);
    join_server(&f->served);
    wt__api_wait_for_calls(f->api);
    wt__http_server_close(f->served.server);
    wt__usage_routes_close(f->usage);
    wt__mcp_routes_close(f->mcp);
    wt__catalogue_close(f->catalogue);
    wt__api_close(f->api);
    wt_close(f->engine);
    assert_int_equal(f->ready, 1);
    wt__buffer_dispose(&f->log);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return 0;
}

static void put_server_request(struct buffer *out, const char *method, const char *target, struct str body)
{
    wt__buffer_printf(out, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", method, target,
                      body.len);
    wt__buffer_str(out, body);
}

/* Sends a request. Returns the status; *answer gets the whole response. */
static int ask_api_server(int client, const char *method, const char *target, struct str body, struct buffer *answer)
{
    struct buffer request = {0}, in = {0};
    put_server_request(&request, method, target, body);
    assert_true(send_bytes(client, wt__buffer_view(&request)));
    receive_answer(client, &in, answer);
    wt__buffer_text(answer, "");
    wt__buffer_dispose(&request);
    wt__buffer_dispose(&in);
    return atoi(answer->ptr + strlen("HTTP/1.1 "));
}

/* Appends TOOLS tools as a JSON array. Each description begins with "edition" and the number as one word:
 * "edition7". */
static void put_edition_tools(struct buffer *out, unsigned edition)
{
    for (unsigned i = 0; i < TOOLS; i++)
        wt__buffer_printf(out,
                          "%s{\"name\":\"tool_%u\",\"description\":\"edition%u of tool %u\",\"input_schema\":{\"type\":"
                          "\"object\"}}",
                          i ? "," : "[", i, edition, i);
    wt__buffer_char(out, ']');
}

static void imported_tools_are_found_by_the_next_request(void **state)
{
    struct server_fixture *f = *state;
    struct buffer tools = {0}, answer = {0};
    int client = connect_to(f->served.server);
    for (unsigned edition = 0; edition < 3; edition++) {
        char query[64];
        snprintf(query, sizeof query, "{\"query\":\"edition%u tool 7\",\"k\":1}", edition);
        put_edition_tools(&tools, edition);
        assert_int_equal(ask_api_server(client, "POST", "/v1/tools?provider=p", wt__buffer_view(&tools), &answer), 200);
        assert_non_null(strstr(answer.ptr, edition ? "\"updated\":400" : "\"added\":400"));
        assert_int_equal(ask_api_server(client, "POST", "/v1/find", wt__str(query), &answer), 200);
        snprintf(query, sizeof query, "edition%u of tool", edition);
        assert_non_null(strstr(answer.ptr, query));
        wt__buffer_clear(&tools);
    }
    close(client);
    wt__buffer_dispose(&tools);
    wt__buffer_dispose(&answer);
}

/* Many clients import at once. Each import succeeds, or is refused with a time to retry. Searches are answered
 * meanwhile. */
static void imports_leave_the_worker_to_searches(void **state)
{
    struct server_fixture *f = *state;
    struct buffer tools = {0}, request = {0}, answer = {0}, in = {0};
    int clients[CLIENTS], done = 0, later = 0;
    put_edition_tools(&tools, 9);
    put_server_request(&request, "POST", "/v1/tools?provider=p", wt__buffer_view(&tools));
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(f->served.server);
        assert_true(send_bytes(clients[i], wt__buffer_view(&request)));
    }
    int finder = connect_to(f->served.server);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(ask_api_server(finder, "POST", "/v1/find", STR("{\"query\":\"tool 7\"}"), &answer), 200);
    for (size_t i = 0; i < CLIENTS; i++) {
        wt__buffer_clear(&in);
        receive_answer(clients[i], &in, &answer);
        wt__buffer_text(&answer, "");
        int status = atoi(answer.ptr + strlen("HTTP/1.1 "));
        done += status == 200;
        later += status == 503 && strstr(answer.ptr, "Retry-After: 1");
        close(clients[i]);
    }
    assert_true(done >= 1);
    assert_int_equal(done + later, CLIENTS);
    close(finder);
    wt__buffer_dispose(&tools);
    wt__buffer_dispose(&request);
    wt__buffer_dispose(&answer);
    wt__buffer_dispose(&in);
}

/* Clients send a whole or half a request to import or search, and disconnect. Sanitizers detect leaks. */
static void disconnected_clients_leak_nothing(void **state)
{
    struct server_fixture *f = *state;
    struct buffer tools = {0}, answer = {0};
    put_edition_tools(&tools, 5);
    for (size_t i = 0; i < 40; i++) {
        struct buffer request = {0};
        int client = connect_to(f->served.server);
        if (i % 2)
            put_server_request(&request, "POST", "/v1/tools?provider=gone", wt__buffer_view(&tools));
        else
            put_server_request(&request, "POST", "/v1/find", STR("{\"query\":\"tool\"}"));
        send_bytes(client, (struct str){request.ptr, i < 20 ? request.len : request.len / 2});
        close(client);
        wt__buffer_dispose(&request);
    }
    int client = connect_to(f->served.server);
    assert_int_equal(ask_api_server(client, "GET", "/health", STR(""), &answer), 200);
    close(client);
    wt__buffer_dispose(&tools);
    wt__buffer_dispose(&answer);
}

/* A request is logged after its response, so wait for the log. */
static void each_request_is_logged_in_one_line(void **state)
{
    struct server_fixture *f = *state;
    struct buffer answer = {0};
    int client = connect_to(f->served.server);
    assert_int_equal(ask_api_server(client, "POST", "/v1/find", STR("{\"query\":\"wine \\u202e\"}"), &answer), 200);
    assert_int_equal(ask_api_server(client, "GET", "/v1/%0a", STR(""), &answer), 404);
    for (bool told = false; !told;) {
        pthread_mutex_lock(&f->lock);
        told = f->log.len > 0 && memmem(f->log.ptr, f->log.len, "\"path\":\"/v1/%0a\"", 16) != NULL;
        pthread_mutex_unlock(&f->lock);
    }
    pthread_mutex_lock(&f->lock);
    struct str log = wt__buffer_view(&f->log);
    assert_non_null(strstr(f->log.ptr, "\"asked\":\"{\\\"query\\\":\\\"wine \\\\u202e\\\"}\""));
    while (log.len > 0) { /* one object per line */
        const char *newline = memchr(log.ptr, '\n', log.len);
        json_t *root = NULL;
        assert_non_null(newline);
        assert_int_equal(wt__json_parse(&root, log.ptr, (size_t)(newline - log.ptr), NULL), 0);
        assert_true(wt__json_str(root, "peer").len > 0);
        json_decref(root);
        log = (struct str){newline + 1, log.len - (size_t)(newline + 1 - log.ptr)};
    }
    pthread_mutex_unlock(&f->lock);
    close(client);
    wt__buffer_dispose(&answer);
}

static void metrics_count_the_results_of_usages(void **state)
{
    struct server_fixture *f = *state;
    static const char *const lines[] = {
        "whichtool_usages_reported_total{fate=\"recorded\"} 2\n",
        "whichtool_usages_reported_total{fate=\"repeated\"} 1\n",
        "whichtool_usages_reported_total{fate=\"outcomes\"} 1\n",
        "whichtool_usages_reported_total{fate=\"missing\"} 1\n",
        "whichtool_usages_reported_total{fate=\"refused\"} 1\n",
        "whichtool_usages_reported_total{fate=\"failed\"} 0\n",
        "whichtool_usages_reported_total{fate=\"queue_full\"} 0\n",
        "whichtool_usages_reported_total{fate=\"client_cap\"} 1000\n",
        "whichtool_usages_waiting 0\n",
        "whichtool_usage_commits_total 1\n",
        "whichtool_usages_learned_total ",
        "whichtool_usage_failed_learnings_total ",
    };
    struct buffer answer = {0}, many = {0};
    int client = connect_to(f->served.server);
    assert_int_equal(
        ask_api_server(client, "POST", "/v1/usage",
                       STR("{\"request\":\"a\",\"tools\":[\"p/tool_1\"],\"key\":\"1\"}\n"
                           "{\"request\":\"b\",\"tools\":[\"p/tool_2\"]}\n"
                           "{\"request\":\"a\",\"tools\":[\"p/tool_1\"],\"key\":\"1\"}\n"
                           "{\"key\":\"1\",\"outcome\":\"ok\"}\n{\"key\":\"2\",\"outcome\":\"ok\"}\nnonsense\n"),
                       &answer),
        200);
    for (size_t i = 0; i < 1000; i++) /* a full burst, after the first batch has used part of it */
        wt__buffer_text(&many, "{\"request\":\"a\",\"tools\":[\"p/tool_1\"]}\n");
    assert_int_equal(ask_api_server(client, "POST", "/v1/usage", wt__buffer_view(&many), &answer), 429);
    assert_non_null(strstr(answer.ptr, "\r\nRetry-After: "));
    assert_int_equal(ask_api_server(client, "GET", "/metrics", STR(""), &answer), 200);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(answer.ptr, lines[i]))
            fail_msg("no %s in %s", lines[i], answer.ptr);
    close(client);
    wt__buffer_dispose(&many);
    wt__buffer_dispose(&answer);
}

#define INITIALIZE                                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","          \
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"n\",\"version\":\"1\"}}}"

/* Responses from all sources: the API, its threads, modules, and the HTTP server. */
static const struct {
    const char *method, *path, *fields, *body;
    int status;
} makers[] = {
    {"GET", "/health", "", "", 200},
    {"GET", "/nothing", "", "", 404},
    {"PUT", "/v1/tools", "", "", 405},
    {"POST", "/v1/find", "", "{", 400},
    {"DELETE", "/v1/tools/nobody", "", "", 404},
    {"POST", "/v1/usage", "", "{\"request\":\"a table\",\"tools\":[\"p/tool_1\"]}", 200},
    {"POST", "/v1/usage?id=", "", "{}", 400},
    {"POST", "/mcp", "", INITIALIZE, 200},
    {"POST", "/mcp/", "", INITIALIZE, 200},
    {"POST", "/mcp//", "", INITIALIZE, 404},
    {"POST", "/mcp", "", "{", 400},
    {"GET", "/mcp", "", "", 405},
    {"DELETE", "/mcp", "", "", 405},
    {"OPTIONS", "/mcp", "", "", 204},
    {"POST", "/v1/find", "Expect: 100-continue\r\nX-Long: 1\r\n", "", 413}, /* refused before its body */
};

static void put_from(struct buffer *out, size_t row, const char *origin)
{
    bool is_long = strstr(makers[row].fields, "X-Long") != NULL;
    wt__buffer_printf(out, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s", makers[row].method, makers[row].path,
                      makers[row].fields);
    if (origin)
        wt__buffer_printf(out, "Origin: %s\r\n", origin);
    if (*makers[row].body || is_long)
        wt__buffer_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                          is_long ? (size_t)1 << 30 : strlen(makers[row].body));
    wt__buffer_printf(out, "\r\n%s", makers[row].body);
}

/* Sends the request of a row and reads the response head. origin: NULL to send no Origin field. */
static void ask_from(struct server_fixture *f, size_t row, const char *origin, struct buffer *head)
{
    struct buffer request = {0};
    int client = connect_to(f->served.server);
    put_from(&request, row, origin);
    assert_true(send_bytes(client, wt__buffer_view(&request)));
    wt__buffer_clear(head);
    receive_until(client, head, "\r\n\r\n");
    wt__buffer_cut(head, (size_t)((char *)memmem(head->ptr, head->len, "\r\n\r\n", 4) - head->ptr));
    wt__buffer_text(head, "");
    close(client);
    wt__buffer_dispose(&request);
}

static void configured_origins_can_read_every_response(void **state)
{
    struct server_fixture *f = *state;
    struct buffer head = {0};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        ask_from(f, i, origins[0], &head);
        const char *allowed = strstr(head.ptr, "\r\nAccess-Control-Allow-Origin: https://app.example.com");
        if (atoi(head.ptr + 9) != makers[i].status || !allowed ||
            strstr(allowed + 2, "\r\nAccess-Control-Allow-Origin") || !strstr(head.ptr, "\r\nVary: Origin"))
            fail_msg("%s %s: %s", makers[i].method, makers[i].path, head.ptr);
        ask_from(f, i, "http://localhost", &head); /* own origin: needs no CORS fields */
        assert_null(strstr(head.ptr, "Access-Control"));
        ask_from(f, i, NULL, &head);
        assert_null(strstr(head.ptr, "Access-Control"));
        ask_from(f, i, "https://evil.example.com", &head);
        int refused = strstr(makers[i].fields, "X-Long") ? 413 : 403;
        if (atoi(head.ptr + 9) != refused || strstr(head.ptr, "Access-Control"))
            fail_msg("%s %s from evil: %s", makers[i].method, makers[i].path, head.ptr);
    }
    wt__buffer_dispose(&head);
}

/* Leaves imports running, so that the group's teardown has to end them. */
static void shutdown_stops_running_imports(void **state)
{
    struct server_fixture *f = *state;
    struct buffer tools = {0}, request = {0};
    put_edition_tools(&tools, 7);
    put_server_request(&request, "POST", "/v1/tools?provider=late", wt__buffer_view(&tools));
    for (size_t i = 0; i < 3; i++) {
        int client = connect_to(f->served.server);
        assert_true(send_bytes(client, wt__buffer_view(&request)));
        if (i > 0)
            close(client);
    }
    wt__buffer_dispose(&tools);
    wt__buffer_dispose(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(imported_tools_are_found_by_the_next_request),
                                       cmocka_unit_test(imports_leave_the_worker_to_searches),
                                       cmocka_unit_test(disconnected_clients_leak_nothing),
                                       cmocka_unit_test(each_request_is_logged_in_one_line),
                                       cmocka_unit_test(metrics_count_the_results_of_usages),
                                       cmocka_unit_test(configured_origins_can_read_every_response),
                                       cmocka_unit_test(shutdown_stops_running_imports)};
    return cmocka_run_group_tests(tests, start_api_server, stop_api_server);
}
