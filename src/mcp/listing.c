/* client.c: see client.h. */
#include "mcp/client.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "mcp/connection_inside.h"

struct listing_client {
    struct mcp_connection *connection;
    struct mcp_exchange *exchange; /* owns the answer being read */
    struct mcp_listing *out;
    struct progress *progress;
    double until_ms;
    unsigned timeout_ms;
    bool has_tools; /* true unless the server's capabilities lack "tools" */
};

/* ---------------------------------------------------------------- asking */

/* Sends a request and waits for its answer, which lives until the next call. */
static int request_listing(struct listing_client *client, const char *method, struct str params,
                           struct mcp_message *answer, wt_error *err)
{
    double left = client->until_ms - wt__now_ms();
    const struct mcp_request request = {
        .method = method, .params = params, .timeout_ms = left > 1 ? (unsigned)left : 1};
    struct mcp_event event;
    wt__mcp_exchange_end(client->exchange);
    int rc = wt__mcp_exchange_begin(&client->exchange, client->connection, &request, err);
    do
        rc = rc < 0 ? rc : wt__mcp_exchange_wait(client->exchange, &event, client->progress, 0, err);
    while (rc == 0 && event.kind != MCP_EVENT_RESULT && event.kind != MCP_EVENT_REFUSED);
    if (rc == 0)
        *answer = (struct mcp_message){.result = event.result, .error = event.error};
    return rc == WT_ETIMEOUT ? wt__fail(err, WT_ETIMEOUT, "no answer came within %.3g s", client->timeout_ms / 1000.0)
                             : rc;
}

static int connect_client(struct listing_client *client, const struct mcp_server *server, wt_error *err)
{
    const struct mcp_connection_options options = {
        .era = MCP_ERA_LEGACY, .lists_only = true, .timeout_ms = client->timeout_ms, .progress = client->progress};
    struct mcp_listing *out = client->out;
    json_t *self;
    int rc = wt__mcp_connect(&client->connection, server, &options, err);
    if (rc < 0)
        return rc;
    struct str text = wt__mcp_connection_self(client->connection);
    rc = wt__json_parse(&self, text.ptr, text.len, NULL);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    struct str name = wt__json_str(wt__json_object(self, "serverInfo"), "name");
    if (name.len < sizeof out->name)
        snprintf(out->name, sizeof out->name, "%.*s", (int)name.len, name.ptr);
    out->modern = wt__mcp_connection_era(client->connection) == MCP_ERA_MODERN;
    const json_t *capabilities = wt__json_object(self, "capabilities");
    client->has_tools = out->modern || !capabilities || json_object_get(capabilities, "tools");
    json_decref(self);
    return 0;
}

/* ---------------------------------------------------------------- pages */

/* Requests one page. Returns 1 if another follows. */
static int request_page(struct listing_client *client, struct mcp_pages *pages, wt_error *err)
{
    struct buffer params = {0};
    struct mcp_message answer;
    int64_t code;
    wt__mcp_pages_params(pages, &params);
    int rc = params.failed ? wt__fail_nomem(err)
                           : request_listing(client, pages->method, wt__buffer_view(&params), &answer, err);
    wt__buffer_dispose(&params);
    if (rc < 0)
        return rc;
    if (answer.error.len == 0)
        return wt__mcp_pages_take(pages, answer.result, err);
    if (wt__mcp_pages_refused(pages))
        return 0;
    rc = wt__mcp_fail(&answer, "`tools/list`", &code, err);
    return rc == WT_ENETWORK && code == MCP_METHOD_NOT_FOUND && !client->has_tools ? 0 : rc;
}

static int list_pages(struct listing_client *client, const struct mcp_server *server, wt_error *err)
{
    struct mcp_pages pages = {.method = "tools/list", .member = "tools", .server = server};
    struct mcp_listing *out = client->out;
    int rc = connect_client(client, server, err);
    for (int more = 1; rc == 0 && more > 0;) {
        more = request_page(client, &pages, err);
        rc = more < 0 ? more : 0;
    }
    wt__buffer_text(&out->tools, "{\"tools\":[");
    wt__buffer_str(&out->tools, wt__buffer_view(&pages.items));
    wt__buffer_text(&out->tools, "]}");
    out->tool_count = pages.item_count;
    out->page_count = pages.page_count;
    wt__mcp_pages_dispose(&pages);
    return rc == 0 && out->tools.failed ? wt__fail_nomem(err) : rc;
}

/* ---------------------------------------------------------------- listing */

int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err)
{
    struct listing_client client = {
        .out = out, .progress = progress, .timeout_ms = timeout_ms, .until_ms = wt__now_ms() + timeout_ms};
    char words[CHILD_TAIL_BYTES] = "";
    wt_error scratch;
    err = err ? err : &scratch;
    *out = (struct mcp_listing){.tool_count = 0};
    int rc = list_pages(&client, server, err);
    wt__mcp_exchange_end(client.exchange);
    wt__mcp_disconnect_with_output(client.connection, rc < 0, words);
    if (rc < 0) {
        wt__mcp_add_last_output(err, rc == WT_ECANCELLED || rc == WT_ENOMEM ? "" : words, server);
        wt__buffer_dispose(&out->tools);
    }
    return rc;
}
