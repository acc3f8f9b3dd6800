/* Fuzzes our MCP server with messages of a client, one per line. The service has a tool that answers and a tool that
 * asks the client. The service must write JSON, one message per line, and answer each request with an id at most once.
 * If the first byte is h, the transport is HTTP, and the first line that is not empty is the value of the headers for
 * the method, the name and the parameters. Otherwise the transport is stdio. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/recorder.h"
#include "require.h"
#include "serve/mcp_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_echo(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_progress(call, 1, 2, STR("half"));
    wt__mcp_relay_log(call, STR("{\"level\":\"alert\",\"logger\":\"l\",\"data\":\"said\"}"));
    wt__mcp_add_text(call, wt__mcp_call_arguments(call));
}

/* Asks a modern client two questions. Does not ask legacy clients, since the call would block until they answer. */
static void run_ask(void *context, struct mcp_call *call)
{
    struct str one, two;
    (void)context;
    if (!wt__mcp_call_is_modern(call))
        return;
    wt__mcp_keep_state(call, STR("kept"));
    if (wt__mcp_ask(call, "one", "elicitation/create", STR("{}"), &one) == MCP_ASK_ANSWERED &&
        wt__mcp_ask(call, "two", "roots/list", STR("{}"), &two) == MCP_ASK_ANSWERED)
        wt__mcp_add_item(call, STR(""), two);
}

static void read_any(void *context, struct mcp_call *call, struct str uri)
{
    (void)context;
    wt__mcp_add_contents(call, uri, "text/plain", uri, (struct str){NULL, 0});
}

static void get_any(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_text(call, wt__mcp_call_arguments(call));
}

static void complete_any(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    (void)context;
    for (int i = 0; i < 120; i++)
        wt__mcp_add_value(call, what->value);
}

static const struct mcp_tool_row tools[] = {
    {"echo",
     "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
     "\"x-mcp-header\":\"A\"},\"n\":{\"type\":\"integer\"}}}}",
     run_echo, false, false},
    {"ask", "{\"name\":\"ask\",\"inputSchema\":{\"type\":\"object\"}}", run_ask, false, false},
};
static const struct mcp_resource_row resources[] = {
    {"u:a", "{\"uri\":\"u:a\",\"name\":\"a\"}", read_any, false},
    {"u:t/", "{\"uriTemplate\":\"u:t/{x}\",\"name\":\"t\"}", read_any, true},
};
static const struct mcp_prompt_row prompts[] = {{"p", "{\"name\":\"p\"}", get_any}};

static double one_time(void)
{
    return 1e9;
}

/* Opens a service with a fixed key and clock, so that the corpus may contain valid states. */
static struct mcp_service *open_service(struct mcp_table *table)
{
    static const unsigned char key[32] = "a key of a test";
    struct mcp_features features = {.name = "f", .version = "1", .changes = true, .resources = {.watched = true}};
    struct mcp_service_options options = {.key = key, .now_ms = one_time, .page_items = 1};
    struct mcp_service *service;
    *table = (struct mcp_table){tools, 2, resources, 2, prompts, 1, NULL, NULL};
    features.completions.complete = complete_any;
    require(mcp_table_open(table, &features, NULL) == 0);
    require(wt__mcp_service_open(&service, &features, &options, NULL) == 0);
    return service;
}

static bool read_param_header(const struct mcp_headers *headers, struct str name, struct str *value)
{
    (void)name;
    *value = headers->name;
    return headers->name.len > 0;
}

static void check_server_output(const char *said)
{
    for (const char *line = said; *line; line += strcspn(line, "\n") + 1) {
        json_t *message = NULL;
        size_t len = strcspn(line, "\n");
        int rc = wt__json_parse(&message, line, len, NULL);
        /* The message may be too deep, since it echoes input that may have the maximum depth of JSON. */
        require(rc == 0 || rc == WT_ETOOLONG || rc == WT_ENOMEM);
        require(rc < 0 || wt__str_equal(wt__json_str(message, "jsonrpc"), STR("2.0")));
        json_decref(message);
    }
}

/* Sends a line to the service and checks the output. No tool blocks, so every request except a listening one is
 * answered when the call returns. */
static void feed_line(struct mcp_service *service, struct mcp_peer *peer, struct str line,
                      const struct mcp_headers *headers)
{
    struct recorder *recorder = recorder_take(service, peer, line, headers);
    check_server_output(recorder->said.ptr ? recorder->said.ptr : "");
    require(recorder->answered || service->listener_count > 0);
    wt__mcp_channel_release(&recorder->channel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcp_table table;
    struct mcp_service *service = open_service(&table);
    struct mcp_peer *peer = wt__mcp_peer_open(service, "", true);
    struct mcp_headers headers = {.version = STR("2026-07-28"), .param = read_param_header};
    bool http = size > 0 && data[0] == 'h';
    char *text = malloc(size + 1);
    require(peer && text);
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text + (size > 0), *end = text + size; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        if (stop)
            *stop = '\0';
        if (http && headers.method.len == 0)
            headers.method = headers.name = (struct str){line, len};
        else
            feed_line(service, peer, (struct str){line, len}, http ? &headers : NULL);
        line += len + 1;
    }
    wt__mcp_service_changed(service, MCP_TOOLS_CHANGED);
    wt__mcp_service_resource_updated(service, STR("u:a"));
    wt__mcp_end_listeners(service, NULL);
    wt__mcp_peer_close(peer);
    wt__mcp_peer_release(peer);
    wt__mcp_service_close(service);
    mcp_table_close(&table);
    free(text);
    return 0;
}
