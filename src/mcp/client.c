/* client.c: see client.h. */
#include "mcp/client.h"

#include <stdio.h>

#include "base/json.h"
#include "base/json_scan.h"
#include "base/map.h"
#include "mcp/transport.h"

enum { RESULT_BYTES_MAX = 4 << 20 /* of a result that is read as a tree */ };

struct client {
    struct mcp_transport *transport;
    struct mcp_listing *out;
    int64_t last_id;
    bool has_tools;     /* the server says that it has some, or does not say */
    struct map cursors; /* of pages that were asked for */
    struct arena arena;
};

int wt__mcp_open(struct mcp_transport **out, const struct mcp_server *server, unsigned timeout_ms,
                 struct progress *progress, wt_error *err)
{
    return (server->argv ? wt__mcp_open_stdio : wt__mcp_open_http)(out, server, timeout_ms, progress, err);
}

static int ask(struct client *client, const char *method, struct str params, struct mcp_message *answer, wt_error *err)
{
    struct buffer request = {0};
    int64_t id = ++client->last_id;
    wt__mcp_write_request(&request, id, method, client->out->modern, params);
    int rc = request.failed
                 ? wt__fail_nomem(err)
                 : client->transport->ask(client->transport, id, method, wt__buffer_view(&request), answer, err);
    wt__buffer_dispose(&request);
    return rc;
}

/* ---------------------------------------------------------------- the beginning */

static int read_result(json_t **out, const struct mcp_message *answer, const char *method, wt_error *err)
{
    wt_error why;
    *out = NULL;
    if (answer->result.len > RESULT_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the answer to `%s` has more than %d MB", method, RESULT_BYTES_MAX >> 20);
    int rc = wt__json_parse(out, answer->result.ptr, answer->result.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == 0 && json_is_object(*out))
        return 0;
    json_decref(*out);
    *out = NULL;
    return wt__fail(err, WT_ENETWORK, "the answer to `%s` is broken: %s", method,
                    rc < 0 ? why.message : "its result is no object");
}

static void keep_name(struct client *client, const json_t *result)
{
    struct str name = wt__json_str(wt__json_object(result, "serverInfo"), "name");
    if (name.len < sizeof client->out->name)
        snprintf(client->out->name, sizeof client->out->name, "%.*s", (int)name.len, name.ptr);
}

static int begin_modern(struct client *client, struct mcp_message *answer, wt_error *err)
{
    json_t *result;
    int64_t code;
    client->out->modern = true;
    client->transport->agree(client->transport, STR(MCP_MODERN_VERSION));
    int rc = ask(client, "server/discover", STR(""), answer, err);
    if (rc == 0 && answer->error.len > 0)
        return wt__mcp_fail(answer, "`server/discover`", &code, err);
    if (rc == 0)
        rc = read_result(&result, answer, "server/discover", err);
    if (rc < 0)
        return rc;
    keep_name(client, result);
    json_decref(result);
    return 0;
}

static int notify_initialized(struct client *client, wt_error *err)
{
    struct buffer text = {0};
    wt__mcp_write_notification(&text, "notifications/initialized");
    int rc =
        text.failed ? wt__fail_nomem(err) : client->transport->notify(client->transport, wt__buffer_view(&text), err);
    wt__buffer_dispose(&text);
    return rc;
}

static int begin(struct client *client, wt_error *err)
{
    static const struct str params = STR("\"protocolVersion\":\"" MCP_LEGACY_VERSION "\",\"capabilities\":{},"
                                         "\"clientInfo\":{\"name\":\"whichtool\",\"version\":\"" WT_VERSION "\"}");
    struct mcp_message answer;
    json_t *result;
    int64_t code;
    client->has_tools = true;
    int rc = ask(client, "initialize", params, &answer, err);
    if (rc == 0 && answer.error.len > 0) {
        int refused = wt__mcp_fail(&answer, "`initialize`", &code, err); /* which stands if it is not modern either */
        wt_error why;
        rc = refused == WT_ENOMEM ? refused : begin_modern(client, &answer, &why);
        if (rc == WT_ECANCELLED || rc == WT_ENOMEM)
            *err = why;
        return rc < 0 && rc != WT_ECANCELLED && rc != WT_ENOMEM ? refused : rc;
    }
    if (rc == 0)
        rc = read_result(&result, &answer, "initialize", err);
    if (rc < 0)
        return rc;
    keep_name(client, result);
    client->transport->agree(client->transport, wt__json_str(result, "protocolVersion"));
    const json_t *capabilities = wt__json_object(result, "capabilities");
    client->has_tools = !capabilities || json_object_get(capabilities, "tools");
    json_decref(result);
    return notify_initialized(client, err);
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

static int list(struct client *client, wt_error *err)
{
    struct str cursor = {"", 0};
    int rc = begin(client, err);
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

/* What a program said last is often why. */
static void add_words(wt_error *err, const char *words)
{
    size_t len = strlen(err->message);
    if (*words && len < sizeof err->message)
        snprintf(err->message + len, sizeof err->message - len, "; it said last: %s", words);
}

int wt__mcp_list_tools(struct mcp_listing *out, const struct mcp_server *server, unsigned timeout_ms,
                       struct progress *progress, wt_error *err)
{
    struct client client = {.out = out};
    char words[CHILD_TAIL_BYTES] = "";
    wt_error scratch;
    err = err ? err : &scratch;
    *out = (struct mcp_listing){.tool_count = 0};
    if (server->refusal)
        return wt__fail(err, WT_EINVAL, "%s", server->refusal);
    int rc = wt__mcp_open(&client.transport, server, timeout_ms, progress, err);
    if (rc == 0) {
        rc = list(&client, err);
        client.transport->close(client.transport, rc < 0, words);
        if (rc < 0 && rc != WT_ECANCELLED && rc != WT_ENOMEM)
            add_words(err, words);
    }
    if (rc < 0) {
        wt__mcp_hide_secrets(err->message, sizeof err->message, server);
        wt__buffer_dispose(&out->tools);
    }
    wt__map_dispose(&client.cursors);
    wt__arena_dispose(&client.arena);
    return rc;
}
