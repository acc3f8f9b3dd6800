/* Tests the exporter of traces: its settings, its JSON, and its behaviour with collectors of all kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wunused-function" /* not all helpers are used here */
#include "http/served.h"

#include "base/clock.h"
#include "base/json.h"
#include "serve/otlp.h"

/* ---------------------------------------------------------------- settings */

/* The environment of a test: NAME=VALUE, separated by newlines. */
static const char *environment;
static char found_values[16][1024]; /* as many as one reading of the settings may use */
static size_t found_count;

static char *get_variable(const char *name)
{
    const char *text = environment;
    struct str line;
    size_t len = strlen(name);
    while (wt__str_line(&text, &line))
        if (line.len > len && memcmp(line.ptr, name, len) == 0 && line.ptr[len] == '=') {
            char *value = found_values[found_count++ % 16];
            snprintf(value, sizeof *found_values, "%.*s", (int)(line.len - len - 1), line.ptr + len + 1);
            return value;
        }
    return NULL;
}

#define ENDPOINT "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318\n"

static const struct {
    const char *environment, *endpoint, *url, *service, *headers, *attributes;
    struct trace_sampler sampler;
    unsigned timeout_ms;
} settings_rows[] = {
    {"", NULL, NULL, "whichtool", "", "", {SAMPLE_ALL, false, 0}, 0},
    {ENDPOINT, NULL, "http://c:4318/v1/traces", "whichtool", "", "", {SAMPLE_ALL, false, 1}, 10000},
    {ENDPOINT, "https://d/otlp/", "https://d/otlp/v1/traces", "whichtool", "", "", {SAMPLE_ALL, false, 1}, 10000},
    {ENDPOINT "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t/x\nOTEL_SERVICE_NAME=tools\n",
     NULL,
     "http://t/x",
     "tools",
     "",
     "",
     {SAMPLE_ALL, false, 1},
     10000},
    {ENDPOINT "OTEL_SDK_DISABLED=true\n", NULL, NULL, "whichtool", "", "", {SAMPLE_ALL, false, 0}, 0},
    {ENDPOINT "OTEL_TRACES_EXPORTER=none\n", NULL, NULL, "whichtool", "", "", {SAMPLE_ALL, false, 0}, 0},
    {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b, x=y ,\nOTEL_EXPORTER_OTLP_TIMEOUT=50\n",
     NULL,
     "http://c:4318/v1/traces",
     "whichtool",
     "api-key: a b\nx: y\n",
     "",
     {SAMPLE_ALL, false, 1},
     50},
    {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=x=y\nOTEL_EXPORTER_OTLP_TRACES_HEADERS=z=\n",
     NULL,
     "http://c:4318/v1/traces",
     "whichtool",
     "z: \n",
     "",
     {SAMPLE_ALL, false, 1},
     10000},
    {ENDPOINT "OTEL_RESOURCE_ATTRIBUTES=service.name=from-attributes,deployment.environment=test\n",
     NULL,
     "http://c:4318/v1/traces",
     "from-attributes",
     "",
     "deployment.environment: test\n",
     {SAMPLE_ALL, false, 1},
     10000},
    {ENDPOINT "OTEL_TRACES_SAMPLER=traceidratio\nOTEL_TRACES_SAMPLER_ARG=0.25\n",
     NULL,
     "http://c:4318/v1/traces",
     "whichtool",
     "",
     "",
     {SAMPLE_SHARE, true, 0.25},
     10000},
    {ENDPOINT "OTEL_TRACES_SAMPLER=parentbased_always_off\nOTEL_TRACES_SAMPLER_ARG=x\n",
     NULL,
     "http://c:4318/v1/traces",
     "whichtool",
     "",
     "",
     {SAMPLE_NONE, false, 0},
     10000},
    {ENDPOINT "OTEL_EXPORTER_OTLP_PROTOCOL=http/json\n",
     NULL,
     "http://c:4318/v1/traces",
     "whichtool",
     "",
     "",
     {SAMPLE_ALL, false, 1},
     10000},
};

static void settings_come_from_the_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings_rows / sizeof *settings_rows; i++) {
        struct otlp_settings settings;
        struct buffer headers = {0}, attributes = {0};
        wt_error err = {0};
        environment = settings_rows[i].environment;
        if (wt__otlp_settings_read(&settings, settings_rows[i].endpoint, get_variable, &err) < 0)
            fail_msg("%s: %s", environment, err.message);
        wt__buffer_text(&headers, "");
        wt__buffer_text(&attributes, "");
        for (size_t h = 0; h < settings.header_count; h++)
            wt__buffer_printf(&headers, "%s: %s\n", settings.headers[h].name, settings.headers[h].value);
        for (size_t a = 0; a < settings.attribute_count; a++)
            wt__buffer_printf(&attributes, "%s: %s\n", settings.attributes[a].key, settings.attributes[a].value);
        if (settings_rows[i].url)
            assert_string_equal(settings.url, settings_rows[i].url);
        else
            assert_null(settings.url);
        assert_string_equal(settings.service, settings_rows[i].service);
        assert_string_equal(headers.ptr, settings_rows[i].headers);
        assert_string_equal(attributes.ptr, settings_rows[i].attributes);
        assert_int_equal(settings.sampler.root, settings_rows[i].sampler.root);
        assert_int_equal(settings.sampler.ignores_parent, settings_rows[i].sampler.ignores_parent);
        assert_true(settings.sampler.share == settings_rows[i].sampler.share);
        assert_int_equal(settings.timeout_ms, settings_rows[i].timeout_ms);
        wt__otlp_settings_dispose(&settings);
        wt__buffer_dispose(&headers);
        wt__buffer_dispose(&attributes);
    }
}

static void wrong_settings_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *environment, *message;
    } rows[] = {
        {"OTEL_EXPORTER_OTLP_ENDPOINT=c:4318\n", "the OTLP endpoint must begin with http:// or https://"},
        {ENDPOINT "OTEL_EXPORTER_OTLP_PROTOCOL=grpc\n",
         "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\", but whichtool exports http/json only"},
        {ENDPOINT "OTEL_TRACES_SAMPLER=some\n",
         "OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of these after parentbased_, not "
         "\"some\""},
        {ENDPOINT "OTEL_TRACES_SAMPLER=traceidratio\nOTEL_TRACES_SAMPLER_ARG=2\n",
         "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not \"2\""},
        {ENDPOINT "OTEL_TRACES_SAMPLER=traceidratio\nOTEL_TRACES_SAMPLER_ARG=nan\n",
         "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not \"nan\""},
        {ENDPOINT "OTEL_EXPORTER_OTLP_TIMEOUT=0\n",
         "OTEL_EXPORTER_OTLP_TIMEOUT must be 1 to 60000 milliseconds, not \"0\""},
        {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=secret\n",
         "OTEL_EXPORTER_OTLP_HEADERS must be a list such as key=value,key=value"},
        {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=key=secret%zz\n",
         "OTEL_EXPORTER_OTLP_HEADERS: the value of key is not percent-encoded UTF-8"},
        {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=key=secret%0d%0aother\n",
         "OTEL_EXPORTER_OTLP_HEADERS: key is not a header that can be sent"},
        {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=a b=secret\n",
         "OTEL_EXPORTER_OTLP_HEADERS: a b is not a header that can be sent"},
        {ENDPOINT "OTEL_EXPORTER_OTLP_HEADERS=a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1,a=1\n",
         "OTEL_EXPORTER_OTLP_HEADERS has more than 16 headers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct otlp_settings settings;
        wt_error err = {0};
        environment = rows[i].environment;
        assert_int_equal(wt__otlp_settings_read(&settings, NULL, get_variable, &err), WT_EINVAL);
        assert_string_equal(err.message, rows[i].message);
        wt__otlp_settings_dispose(&settings);
    }
}

/* ---------------------------------------------------------------- JSON */

static struct otlp_request example_request(void)
{
    return (struct otlp_request){.context = {{0x0af7651916cd43dd, 0x8448eb211c80319c}, 0xb7ad6b7169203331, true},
                                 .span = 0x1122334455667788,
                                 .begun_ms = 1,
                                 .ended_ms = 3.5,
                                 .queue_ms = 0.25,
                                 .status = 200,
                                 .bytes = 9,
                                 .method = "POST",
                                 .path = "/mcp",
                                 .peer = "[::1]:5000",
                                 .key = "laptop",
                                 .request_id = "id-1",
                                 .route = "/mcp",
                                 .mcp_method = "tools/call",
                                 .spans = {{TRACE_UPSTREAM, true, 2, 3, 0xaabbccddeeff0011, "files"}},
                                 .span_count = 1};
}

#define TEXT(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"

static void spans_are_written_exactly(void **state)
{
    (void)state;
    static const struct otlp_settings settings = {
        .service = "tools \"a\"", .attributes = {{"deployment.environment", "test"}}, .attribute_count = 1};
    static const char after_version[] =
        "\"}},{\"key\":\"deployment.environment\",\"value\":{\"stringValue\":\"test\"}}]},\"scopeSpans\":[{\"scope\":";
    static const char spans[] =
        "\"spans\":[{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"1122334455667788\","
        "\"parentSpanId\":\"b7ad6b7169203331\",\"flags\":1,\"kind\":2,\"startTimeUnixNano\":\"1000001000000\","
        "\"endTimeUnixNano\":\"1000003500000\",\"attributes\":["
        "{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"POST\"}},"
        "{\"key\":\"url.path\",\"value\":{\"stringValue\":\"/mcp\"}},"
        "{\"key\":\"url.scheme\",\"value\":{\"stringValue\":\"http\"}},"
        "{\"key\":\"http.route\",\"value\":{\"stringValue\":\"/mcp\"}},"
        "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"200\"}},"
        "{\"key\":\"http.response.body.size\",\"value\":{\"intValue\":\"9\"}},"
        "{\"key\":\"client.address\",\"value\":{\"stringValue\":\"::1\"}},"
        "{\"key\":\"mcp.method.name\",\"value\":{\"stringValue\":\"tools/call\"}},"
        "{\"key\":\"whichtool.request_id\",\"value\":{\"stringValue\":\"id-1\"}},"
        "{\"key\":\"whichtool.key\",\"value\":{\"stringValue\":\"laptop\"}},"
        "{\"key\":\"whichtool.queue_us\",\"value\":{\"intValue\":\"250\"}}"
        "],\"name\":\"POST /mcp\"},"
        "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"aabbccddeeff0011\","
        "\"parentSpanId\":\"1122334455667788\",\"flags\":1,\"kind\":3,\"startTimeUnixNano\":\"1000002000000\","
        "\"endTimeUnixNano\":\"1000003000000\",\"attributes\":["
        "{\"key\":\"whichtool.upstream\",\"value\":{\"stringValue\":\"files\"}}"
        "],\"status\":{\"code\":2},\"name\":\"upstream files\"}]}]}]}";
    struct buffer text = {0};
    const struct otlp_request request = example_request();
    wt__otlp_write(&text, &settings, &request, 1, 1e6);
    assert_non_null(strstr(text.ptr, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[" TEXT(
                                         "service.name", "tools \\\"a\\\"") ",{\"key\":\"service.version\""));
    assert_non_null(strstr(text.ptr, after_version));
    const char *at = strstr(text.ptr, "\"spans\":[");
    assert_string_equal(at, spans);
    wt__buffer_dispose(&text);
}

/* Hostile texts keep the JSON valid, and appear as values only. */
static void hostile_texts_stay_values(void **state)
{
    (void)state;
    static const struct otlp_settings settings = {.service = "s"};
    struct otlp_request requests[2] = {example_request(), example_request()};
    struct buffer text = {0};
    static char words[] = "a\n\"b\"\\ \xff \x01";
    json_t *tree;
    strcpy(requests[0].path, "/v1/\"},{\"");
    strcpy(requests[0].key, "\"\\\n");
    requests[0].text = words;
    requests[1].status = 0;
    requests[1].span_count = 0;
    requests[1].ended_ms = 0; /* before the start */
    wt__otlp_write(&text, &settings, requests, 2, 1e6);
    assert_int_equal(wt__json_parse(&tree, text.ptr, text.len, NULL), 0);
    const json_t *resource = json_array_get(json_object_get(tree, "resourceSpans"), 0);
    const json_t *scope = json_array_get(json_object_get(resource, "scopeSpans"), 0);
    assert_int_equal(json_array_size(json_object_get(scope, "spans")), 3);
    assert_non_null(strstr(text.ptr, "\"whichtool.request\",\"value\":{\"stringValue\":\"a\\n\\\"b\\\"\\\\ "));
    assert_non_null(strstr(text.ptr, TEXT("error.type", "client_disconnected")));
    assert_non_null(strstr(text.ptr, "\"startTimeUnixNano\":\"1000001000000\",\"endTimeUnixNano\":\"1000001000000\""));
    json_decref(tree);
    wt__buffer_dispose(&text);
}

/* ---------------------------------------------------------------- sending */

/* A collector that answers in one way. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t news;
    unsigned requests, open; /* received requests; answers that may be sent */
    int status;
    const char *answer;
    struct buffer last; /* last body */
    char header[64];    /* X-Team of the last request */
    unsigned said;      /* messages of the exporter */
    char message[256];  /* the last one */
} collector = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};

static void answer_export(void *context, struct http_exchange *exchange)
{
    const struct http_request *request = wt__http_request(exchange);
    struct str team = wt__http_field(request, "X-Team");
    (void)context;
    pthread_mutex_lock(&collector.lock);
    assert_true(wt__str_equal(request->path, STR("/v1/traces")));
    assert_true(wt__str_equal(wt__http_field(request, "Content-Type"), STR("application/json")));
    snprintf(collector.header, sizeof collector.header, "%.*s", (int)team.len, team.ptr ? team.ptr : "");
    wt__buffer_clear(&collector.last);
    wt__buffer_str(&collector.last, request->body);
    collector.requests++;
    pthread_cond_broadcast(&collector.news);
    while (collector.open == 0)
        pthread_cond_wait(&collector.news, &collector.lock);
    collector.open--;
    int status = collector.status;
    pthread_mutex_unlock(&collector.lock);
    wt__http_answer(exchange, status, "application/json", NULL, 0, wt__str(collector.answer));
}

static void keep_message(void *context, const char *message)
{
    (void)context;
    pthread_mutex_lock(&collector.lock);
    collector.said++;
    snprintf(collector.message, sizeof collector.message, "%s", message);
    pthread_cond_broadcast(&collector.news);
    pthread_mutex_unlock(&collector.lock);
}

static void wait_for_collector(const unsigned *count, unsigned least)
{
    pthread_mutex_lock(&collector.lock);
    while (*count < least)
        pthread_cond_wait(&collector.news, &collector.lock);
    pthread_mutex_unlock(&collector.lock);
}

static void let_collector_answer(unsigned times)
{
    pthread_mutex_lock(&collector.lock);
    collector.open += times;
    pthread_cond_broadcast(&collector.news);
    pthread_mutex_unlock(&collector.lock);
}

struct export_fixture {
    struct server_under_test served;
    struct otlp_settings settings;
    struct otlp *otlp;
    char url[64];
};

/* Skips the test without libcurl. */
static void start_export(struct export_fixture *f, int status, const char *answer)
{
    wt_error err;
    *f = (struct export_fixture){.settings = {.service = "s", .timeout_ms = 5000}};
    collector.requests = collector.open = collector.said = 0;
    collector.status = status;
    collector.answer = answer;
    start_server(&f->served, (struct http_server_options){.workers = 1, .handler = {.answer = answer_export}});
    snprintf(f->url, sizeof f->url, "http://%s/v1/traces", wt__http_server_address(f->served.server));
    f->settings.url = f->url;
    f->settings.headers[f->settings.header_count++] = (struct http_header){"X-Team", "tools"};
    if (wt__otlp_open(&f->otlp, &f->settings, keep_message, NULL, &err) == 0)
        return;
    assert_int_equal(err.code, WT_ENETWORK);
    stop_server(&f->served);
    print_message("skipped: %s\n", err.message);
    skip();
}

static void stop_export(struct export_fixture *f)
{
    wt__otlp_close(f->otlp);
    let_collector_answer(1000);
    stop_server(&f->served);
    wt__buffer_dispose(&collector.last);
}

static struct otlp_figures read_export(const struct export_fixture *f)
{
    struct otlp_figures figures;
    wt__otlp_read_figures(f->otlp, &figures);
    return figures;
}

static void finished_requests_reach_the_collector(void **state)
{
    struct export_fixture f;
    struct otlp_request request = example_request();
    (void)state;
    start_export(&f, 200, "{\"partialSuccess\":{\"rejectedSpans\":\"1\",\"errorMessage\":\"one\"}}");
    request.text = strdup("what is asked");
    let_collector_answer(1);
    wt__otlp_push(f.otlp, &request);
    wait_for_collector(&collector.requests, 1);
    assert_non_null(strstr(collector.last.ptr, "\"spanId\":\"1122334455667788\""));
    assert_non_null(strstr(collector.last.ptr, TEXT("whichtool.request", "what is asked")));
    assert_string_equal(collector.header, "tools");
    while (read_export(&f).exported + read_export(&f).rejected < 2)
        ;
    assert_int_equal(read_export(&f).rejected, 1);
    assert_int_equal(collector.said, 0);
    stop_export(&f);
}

/* The collector does not answer. Pushing goes on without waiting, and counts the requests that found no place. */
static void slow_collector_costs_spans_only(void **state)
{
    struct export_fixture f;
    struct otlp_request request = example_request();
    (void)state;
    start_export(&f, 200, "{}");
    wt__otlp_push(f.otlp, &request);
    wait_for_collector(&collector.requests, 1); /* and its answer is outstanding */
    for (size_t i = 0; i < OTLP_QUEUE_MAX + 3; i++) {
        request.text = i % 100 == 0 ? strdup("text") : NULL;
        wt__otlp_push(f.otlp, &request);
    }
    assert_int_equal(read_export(&f).full, 3 * 2);
    assert_int_equal(read_export(&f).waiting, OTLP_QUEUE_MAX);
    let_collector_answer(1000);
    while (read_export(&f).exported < 2 * (OTLP_QUEUE_MAX + 1))
        ;
    stop_export(&f);
}

static void failures_are_reported_once(void **state)
{
    struct export_fixture f;
    struct otlp_request request = example_request();
    (void)state;
    start_export(&f, 400, "");
    let_collector_answer(1000);
    for (unsigned i = 1; i <= 2; i++) { /* a status that is not temporary: the batch is dropped at once */
        wt__otlp_push(f.otlp, &request);
        wait_for_collector(&collector.requests, i);
        while (read_export(&f).failed < 2 * i)
            ;
    }
    assert_int_equal(collector.said, 1);
    assert_string_equal(collector.message,
                        "cannot export traces: the OTLP endpoint answered with status 400; spans are "
                        "dropped until the collector answers");
    pthread_mutex_lock(&collector.lock);
    collector.status = 503; /* temporary: the same batch is sent again */
    pthread_mutex_unlock(&collector.lock);
    wt__otlp_push(f.otlp, &request);
    wait_for_collector(&collector.requests, 3);
    pthread_mutex_lock(&collector.lock);
    collector.status = 200;
    pthread_mutex_unlock(&collector.lock);
    wait_for_collector(&collector.said, 2);
    assert_string_equal(collector.message, "exporting traces again");
    while (read_export(&f).exported < 2)
        ;
    assert_int_equal(read_export(&f).failed, 4);
    stop_export(&f);
}

static void closing_sends_the_rest(void **state)
{
    struct export_fixture f;
    struct otlp_request request = example_request();
    (void)state;
    start_export(&f, 200, "");
    let_collector_answer(1000);
    for (int i = 0; i < 10; i++)
        wt__otlp_push(f.otlp, &request);
    wt__otlp_close(f.otlp);
    f.otlp = NULL;
    assert_true(collector.requests >= 1);
    stop_export(&f);
}

/* Closing does not wait for a collector that is away. */
static void closing_drops_what_nobody_takes(void **state)
{
    struct export_fixture f;
    struct otlp_request request = example_request();
    (void)state;
    start_export(&f, 200, "");
    stop_server(&f.served);
    for (int i = 0; i < 10; i++) {
        request.text = strdup("text");
        wt__otlp_push(f.otlp, &request);
    }
    wt__otlp_close(f.otlp);
    wt__buffer_dispose(&collector.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_from_the_environment),
        cmocka_unit_test(wrong_settings_are_reported),
        cmocka_unit_test(spans_are_written_exactly),
        cmocka_unit_test(hostile_texts_stay_values),
        cmocka_unit_test(finished_requests_reach_the_collector),
        cmocka_unit_test(slow_collector_costs_spans_only),
        cmocka_unit_test(failures_are_reported_once),
        cmocka_unit_test(closing_sends_the_rest),
        cmocka_unit_test(closing_drops_what_nobody_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
