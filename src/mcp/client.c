/* client.c: see client.h. */
#include "mcp/client.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "mcp/connection_inside.h"

struct client {
    struct mcp_connection *connection;
    struct mcp_exchange *exchange; /* whose answer is looked at */
    struct mcp_listing *out;
    struct progress *progress;
    double until_ms;
    unsigned timeout_ms;
    bool has_tools;     /* the server says that it has some, or does not say */
    struct map cursors; /* of pages that were asked for */
    struct arena arena;
};

/* ---------------------------------------------------------------- asking */

/* answer lives until the next one. */
static int ask(struct client *client, const char *method, struct str params, struct mcp_message *answer, wt_error *err)
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

static int begin(struct client *client, const struct mcp_server *server, wt_error *err)
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

/* ---------------------------------------------------------------- the pages */

/* Takes the tools of a page: the bytes between the brackets of its list. */
static int take_tools(struct client *client, struct str tools, wt_error *err)
{
    struct mcp_listing *out = client->out;
    struct json_scan scan;
    struct json_item item;
    size_t begin = 0, end = 0;
    int rc;
    wt__json_scan_open(&scan, tools, 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        begin = end == 0 ? item.byte : begin;
        end = item.byte + item.value.len;
        if (++out->tool_count > MCP_TOOLS_MAX)
            return wt__fail(err, WT_ETOOLONG, "it lists more than %d tools", MCP_TOOLS_MAX);
    }
    if (rc < 0 || tools.ptr[0] != '[')
        return wt__fail(err, WT_ENETWORK, "the answer to `tools/list` is broken: %s",
                        rc < 0 ? scan.reason : "\"tools\" is no list");
    if (out->tools.len + (end - begin) > MCP_TOOLS_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "its tools have more than %d MB", MCP_TOOLS_BYTES_MAX >> 20);
    if (end > 0 && out->tools.len > strlen("{\"tools\":["))
        wt__buffer_char(&out->tools, ',');
    wt__buffer_append(&out->tools, tools.ptr + begin, end - begin);
    return out->tools.failed ? wt__fail_nomem(err) : 0;
}

/* The cursor of the next page, as it is written with its quotes; empty when this is the last one. */
static int take_cursor(struct client *client, struct str result, struct str *out, wt_error *err)
{
    struct str cursor;
    json_t *text = NULL;
    bool added = false;
    bool sound = wt__mcp_member(result, "nextCursor", &cursor);
    *out = (struct str){"", 0};
    if (sound && (cursor.len == 0 || wt__str_equal(cursor, STR("null"))))
        return 0;
    int rc =
        sound && cursor.len <= MCP_CURSOR_BYTES_MAX ? wt__json_parse(&text, cursor.ptr, cursor.len, NULL) : WT_EFORMAT;
    sound = rc == 0 && json_is_string(text);
    json_decref(text);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (!sound)
        return wt__fail(err, WT_ENETWORK,
                        "the answer to `tools/list` is broken: its cursor is no string of at most "
                        "%d bytes",
                        MCP_CURSOR_BYTES_MAX);
    *out = (struct str){wt__arena_copy(&client->arena, cursor), cursor.len};
    if (!out->ptr || !wt__map_insert(&client->cursors, *out, 0, &added))
        return wt__fail_nomem(err);
    return added ? 0 : wt__fail(err, WT_ENETWORK, "its pages of tools go round in a circle");
}

/* One page, and the cursor of the next. */
static int ask_page(struct client *client, struct str *cursor, wt_error *err)
{
    struct buffer params = {0};
    struct mcp_message answer;
    struct str tools;
    int64_t code;
    if (cursor->len > 0) {
        wt__buffer_text(&params, "\"cursor\":");
        wt__buffer_str(&params, *cursor);
    }
    int rc = params.failed ? wt__fail_nomem(err) : ask(client, "tools/list", wt__buffer_view(&params), &answer, err);
    wt__buffer_dispose(&params);
    *cursor = (struct str){"", 0};
    if (rc < 0)
        return rc;
    if (answer.error.len > 0) {
        rc = wt__mcp_fail(&answer, "`tools/list`", &code, err);
        return rc == WT_ENETWORK && code == MCP_METHOD_NOT_FOUND && !client->has_tools ? 0 : rc;
    }
    if (answer.result.ptr[0] != '{' || !wt__mcp_member(answer.result, "tools", &tools) || tools.len == 0)
        return wt__fail(err, WT_ENETWORK, "the answer to `tools/list` has no \"tools\"");
    rc = take_tools(client, tools, err);
    return rc < 0 ? rc : take_cursor(client, answer.result, cursor, err);
}

static int list(struct client *client, const struct mcp_server *server, wt_error *err)
{
    struct str cursor = {"", 0};
    int rc = begin(client, server, err);
    wt__buffer_text(&client->out->tools, "{\"tools\":[");
    while (rc == 0) {
        if (++client->out->page_count > MCP_PAGES_MAX)
            return wt__fail(err, WT_ETOOLONG, "it lists its tools on more than %d pages", MCP_PAGES_MAX);
        rc = ask_page(client, &cursor, err);
        if (cursor.len == 0)
            break;
    }
    wt__buffer_text(&client->out->tools, "]}");
    return rc == 0 && client->out->tools.failed ? wt__fail_nomem(err) : rc;
}

/* ---------------------------------------------------------------- the whole talk */

int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err)
{
    struct client client = {
        .out = out, .progress = progress, .timeout_ms = timeout_ms, .until_ms = wt__now_ms() + timeout_ms};
    char words[CHILD_TAIL_BYTES] = "";
    wt_error scratch;
    err = err ? err : &scratch;
    *out = (struct mcp_listing){.tool_count = 0};
    int rc = list(&client, server, err);
    wt__mcp_exchange_end(client.exchange);
    wt__mcp_disconnect_hearing(client.connection, rc < 0, words);
    if (rc < 0) {
        wt__mcp_add_words(err, rc == WT_ECANCELLED || rc == WT_ENOMEM ? "" : words, server);
        wt__buffer_dispose(&out->tools);
    }
    wt__map_dispose(&client.cursors);
    wt__arena_dispose(&client.arena);
    return rc;
}
