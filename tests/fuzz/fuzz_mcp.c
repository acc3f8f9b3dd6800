/* Fuzzes input from an MCP server and clients' configurations. First byte: c for a configuration, s for a stream of
 * events, anything else for a message. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/config.h"
#include "mcp/message.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_config(struct str text)
{
    struct mcp_config config;
    wt_error err = {0};
    int rc = wt__mcp_config_parse(&config, text, "mcp.json", &err);
    require(rc == 0 || (rc == err.code && err.message[0] != '\0'));
    for (size_t i = 0; rc == 0 && i < config.count; i++) {
        const struct mcp_server *server = &config.servers[i];
        char said[256];
        require(server->refusal || (server->argv && server->argv[0]) || server->url);
        if (server->refusal)
            continue;
        snprintf(said, sizeof said, "%.255s", server->name);
        wt__mcp_hide_secrets(said, sizeof said, server);
        require(wt__mcp_environment(&config.arena, server) && wt__mcp_short_name(&config.arena, server, STR("")));
    }
    wt__mcp_config_dispose(&config);
}

static void read_message(struct str text)
{
    struct mcp_message message;
    struct buffer out = {0};
    wt_error err = {0};
    int64_t code;
    enum mcp_kind kind = wt__mcp_parse_message(text, &message);
    if (kind == MCP_REQUEST)
        wt__mcp_write_response(&out, message.id, STR("{}"), message.error);
    if (kind == MCP_ANSWER) {
        require((message.result.len > 0) != (message.error.len > 0));
        if (message.error.len > 0)
            require(wt__mcp_fail(&message, "it", &code, &err) < 0 && err.message[0] != '\0');
    }
    wt__buffer_dispose(&out);
}

static void read_stream(struct str text)
{
    struct sse_event event = {.retry_ms = 0};
    for (size_t before = text.len + 1; before > text.len;) {
        before = text.len;
        if (!wt__sse_next(&text, &event))
            break;
        read_message(wt__buffer_view(&event.data));
    }
    wt__buffer_dispose(&event.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data + (size > 0), size - (size > 0)};
    if (size > 0 && data[0] == 'c')
        read_config(text);
    else if (size > 0 && data[0] == 's')
        read_stream(text);
    else
        read_message(text);
    return 0;
}
