/* client.c: see client.h. */
#include "mcp/client.h"

#include <stdio.h>

#include "base/json.h"
#include "mcp/transport.h"

enum { RESULT_BYTES_MAX = 4 << 20 /* of a result that is read as a tree */ };

struct client {
    struct mcp_transport *transport;
    struct mcp_listing *out;
    int64_t last_id;
    bool has_tools; /* the server says that it has some, or does not say */
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

/* One page. Returns 1 when another follows. */
static int ask_page(struct client *client, struct mcp_pages *pages, wt_error *err)
{
    struct buffer params = {0};
    struct mcp_message answer;
    int64_t code;
    wt__mcp_pages_params(pages, &params);
    int rc = params.failed ? wt__fail_nomem(err) : ask(client, pages->method, wt__buffer_view(&params), &answer, err);
    wt__buffer_dispose(&params);
    if (rc < 0)
        return rc;
    if (answer.error.len == 0)
        return wt__mcp_pages_take(pages, answer.result, err);
    rc = wt__mcp_fail(&answer, "`tools/list`", &code, err);
    return rc == WT_ENETWORK && code == MCP_METHOD_NOT_FOUND && !client->has_tools ? 0 : rc;
}

static int list(struct client *client, wt_error *err)
{
    struct mcp_pages pages = {.method = "tools/list", .member = "tools"};
    struct mcp_listing *out = client->out;
    int rc = begin(client, err);
    for (int more = 1; rc == 0 && more > 0;) {
        more = ask_page(client, &pages, err);
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
    return rc;
}
