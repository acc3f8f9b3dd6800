/* Fuzzes what requests and the environment say about traces: trace contexts, request ids, and the exporter's settings.
 * What is accepted can be written as a header, and as JSON. The input is up to three lines: traceparent, X-Request-Id,
 * and a list for each variable of the exporter. */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "require.h"
#include "serve/otlp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char list[4096];

static char *get_fuzzed_variable(const char *name)
{
    static char endpoint[] = "http://c:4318";
    static const char *const lists[] = {"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME",
                                        "OTEL_TRACES_SAMPLER_ARG", "OTEL_EXPORTER_OTLP_TIMEOUT"};
    if (strcmp(name, "OTEL_EXPORTER_OTLP_ENDPOINT") == 0)
        return endpoint;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(name, lists[i]) == 0 && (i < 3 || (list[0] >= '0' && list[0] <= '9')))
            return list;
    return NULL;
}

static struct str take_fuzzed_line(struct str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
    struct str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    rest->ptr += line.len + (end != NULL);
    rest->len -= line.len + (end != NULL);
    return line;
}

static void check_request(struct str parent, struct str id, struct otlp_request *out)
{
    static const struct trace_sampler all = {SAMPLE_ALL, false, 1};
    struct trace_source source;
    struct request_trace trace = {0};
    struct trace_context again;
    char text[TRACE_PARENT_BYTES];
    struct http_request request = {.fields = {{STR("traceparent"), parent}, {STR("X-Request-Id"), id}},
                                   .field_count = 2};
    require(wt__trace_source_open(&source, &all, false, NULL) == 0);
    wt__trace_begin(&trace, &source, &request);
    out->context = wt__trace_context(&trace);
    wt__trace_format(text, &out->context, trace.span);
    require(wt__trace_parse(wt__str(text), &again) && again.parent == trace.span);
    require(again.trace[0] == out->context.trace[0] && again.trace[1] == out->context.trace[1]);
    require(strlen(trace.request_id) > 0 && strpbrk(trace.request_id, " \"\\\r\n") == NULL);
    memcpy(out->request_id, trace.request_id, sizeof out->request_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = {(const char *)data, size};
    struct otlp_request request = {.method = "GET", .peer = "unix", .span = 1};
    struct otlp_settings settings;
    struct str parent = take_fuzzed_line(&rest), id = take_fuzzed_line(&rest), text = take_fuzzed_line(&rest);
    check_request(parent, id, &request);
    size_t len = text.len < sizeof list - 1 ? text.len : sizeof list - 1;
    memcpy(list, text.ptr ? text.ptr : "", len);
    list[len] = '\0';
    if (wt__otlp_settings_read(&settings, NULL, get_fuzzed_variable, NULL) == 0) {
        struct buffer body = {0};
        json_t *tree = NULL;
        for (size_t i = 0; i < settings.header_count; i++)
            require(wt__http_check_header(&settings.headers[i], NULL) == 0);
        wt__otlp_write(&body, &settings, &request, 1, 0);
        require(!body.failed && wt__json_parse(&tree, body.ptr, body.len, NULL) == 0);
        json_decref(tree);
        wt__buffer_dispose(&body);
    }
    wt__otlp_settings_dispose(&settings);
    return 0;
}
