/* client_test: an MCP client for the client scenarios of the conformance suite (bench/mcp/client_conformance.py) and
 * for trying servers.
 *
 *   client_test URL                  connects to a URL
 *   client_test PROGRAM ARGUMENT...  starts a program, and connects to it
 *
 * The client calls each tool whose header annotations are valid, and reads each resource and prompt. The arguments of a
 * tool come from MCP_CONFORMANCE_CONTEXT ({"toolCalls":[{"name","arguments"}]}). If this variable does not name the
 * tool, each required property gets its default or a sample value. Elicitations are accepted with such values, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "mcp/connection.h"
#include "mcp/message.h"
#include "serve/mcp/input.h"

enum { ROUNDS_MAX = 10 };

static const char capabilities[] = "{\"elicitation\":{\"form\":{}},\"sampling\":{},\"roots\":{}}";
static struct mcp_connection *connection;
static bool failed;

/* ---------------------------------------------------------------- answers to questions */

static json_t *sample_value(const json_t *schema, const char *name)
{
    struct str type = wt__json_str(schema, "type");
    json_t *value = json_object_get(schema, "default");
    if (value)
        return json_incref(value);
    if (wt__str_equal(type, STR("number")) || wt__str_equal(type, STR("integer")))
        return json_integer(7);
    if (wt__str_equal(type, STR("boolean")))
        return json_true();
    if (wt__str_equal(type, STR("array")))
        return json_array();
    return wt__str_equal(type, STR("object")) ? json_object() : json_string(name);
}

static json_t *answer_question(struct str method, const json_t *params)
{
    if (wt__str_equal(method, STR("roots/list")))
        return json_pack("{s:[]}", "roots");
    if (wt__str_equal(method, STR("sampling/createMessage")))
        return json_pack("{s:s,s:s,s:{s:s,s:s}}", "model", "none", "role", "assistant", "content", "type", "text",
                         "text", "nothing");
    json_t *content = json_object(), *schema;
    const char *name;
    json_object_foreach(wt__json_object(wt__json_object(params, "requestedSchema"), "properties"), name, schema)
        json_object_set_new(content, name, sample_value(schema, name));
    return json_pack("{s:s,s:o}", "action", "accept", "content", content);
}

static void reply_to_question(struct mcp_exchange *exchange, const struct mcp_event *event)
{
    static const struct str none = {"", 0};
    json_t *params = NULL;
    struct buffer text = {0};
    wt__json_parse(&params, event->params.ptr, event->params.len, NULL);
    json_t *result = answer_question(event->method, params);
    wt__json_write(&text, result);
    wt__mcp_exchange_reply(exchange, event->id, wt__buffer_view(&text), none, NULL);
    wt__buffer_dispose(&text);
    json_decref(result);
    json_decref(params);
}

/* ---------------------------------------------------------------- requests */

/* Sends a request and returns its result, or NULL on failure. */
static json_t *ask_once(const struct mcp_request *request)
{
    struct mcp_exchange *exchange;
    struct mcp_event event;
    json_t *result = NULL;
    wt_error err;
    int rc = wt__mcp_exchange_begin(&exchange, connection, request, &err);
    while (rc == 0 && (rc = wt__mcp_exchange_next(exchange, &event, &err)) == 0) {
        if (event.kind == MCP_EVENT_ASKED)
            reply_to_question(exchange, &event);
        if (event.kind == MCP_EVENT_REFUSED)
            printf("%s: refused: %.*s\n", request->method, (int)event.error.len, event.error.ptr);
        if (event.kind == MCP_EVENT_RESULT && wt__json_parse(&result, event.result.ptr, event.result.len, &err) < 0)
            printf("%s: %s\n", request->method, err.message);
        if (event.kind == MCP_EVENT_RESULT || event.kind == MCP_EVENT_REFUSED)
            break;
    }
    if (rc < 0) {
        printf("%s: %s\n", request->method, err.message);
        failed = true;
    }
    wt__mcp_exchange_end(exchange);
    return result;
}

/* Appends the answers to the questions of an incomplete result, as members of the next request's params. */
static void write_responses(struct buffer *out, const json_t *result)
{
    json_t *responses = json_object(), *question;
    const json_t *state = json_object_get(result, "requestState");
    const char *name;
    json_object_foreach(wt__json_object(result, "inputRequests"), name, question) json_object_set_new(
        responses, name, answer_question(wt__json_str(question, "method"), wt__json_object(question, "params")));
    wt__buffer_text(out, ",\"inputResponses\":");
    wt__json_write(out, responses);
    if (state) {
        wt__buffer_text(out, ",\"requestState\":");
        wt__buffer_json(out, (struct str){json_string_value(state), json_string_length(state)});
    }
    json_decref(responses);
}

/* Sends a request until its result is complete, at most ROUNDS_MAX times. name: value of Mcp-Name. */
static json_t *ask_rounds(const char *method, struct str params, struct str name, const struct http_header *headers,
                          int header_count)
{
    struct buffer all = {0};
    json_t *result = NULL;
    bool more = true;
    wt__buffer_str(&all, params);
    for (int round = 0; more && round < ROUNDS_MAX; round++) {
        const struct mcp_request request = {.method = method,
                                            .params = wt__buffer_view(&all),
                                            .capabilities = STR(capabilities),
                                            .name = name,
                                            .headers = headers,
                                            .header_count = (size_t)header_count};
        json_decref(result);
        result = ask_once(&request);
        more = result && wt__str_equal(wt__json_str(result, "resultType"), STR("input_required"));
        wt__buffer_cut(&all, params.len);
        if (more)
            write_responses(&all, result);
    }
    wt__buffer_dispose(&all);
    return result;
}

/* ---------------------------------------------------------------- lists and calls */

static json_t *context_arguments(const char *tool)
{
    const char *text = getenv("MCP_CONFORMANCE_CONTEXT");
    json_t *context = NULL, *arguments = NULL, *call;
    size_t i;
    if (text)
        wt__json_parse(&context, text, strlen(text), NULL);
    json_array_foreach(wt__json_array(context, "toolCalls"), i,
                       call) if (wt__str_equal(wt__json_str(call, "name"), wt__str(tool))) arguments =
        json_incref(wt__json_object(call, "arguments"));
    json_decref(context);
    return arguments;
}

static json_t *choose_arguments(const char *tool, const json_t *schema)
{
    json_t *arguments = context_arguments(tool), *name;
    size_t i;
    if (arguments)
        return arguments;
    arguments = json_object();
    json_array_foreach(wt__json_array(schema, "required"), i, name) json_object_set_new(
        arguments, json_string_value(name),
        sample_value(json_object_get(wt__json_object(schema, "properties"), json_string_value(name)),
                     json_string_value(name)));
    return arguments;
}

/* Calls a tool, unless its header annotations are invalid. References in its schema are not fetched. */
static void call_tool(const json_t *tool)
{
    const char *name = json_string_value(json_object_get(tool, "name"));
    struct http_header headers[MCP_MIRRORS_MAX];
    struct buffer schema = {0}, params = {0};
    struct arena arena = {0};
    struct mcp_input *input;
    wt_error err;
    int count;
    wt__json_write(&schema, json_object_get(tool, "inputSchema"));
    if (!name || wt__mcp_input_open(&input, wt__buffer_view(&schema), &err) < 0) {
        printf("%s: not called: %s\n", name, err.message);
        wt__buffer_dispose(&schema);
        return;
    }
    json_t *arguments = choose_arguments(name, json_object_get(tool, "inputSchema"));
    wt__buffer_text(&params, "\"name\":");
    wt__buffer_json(&params, wt__str(name));
    wt__buffer_text(&params, ",\"arguments\":");
    size_t at = params.len;
    wt__json_write(&params, arguments);
    count = wt__mcp_input_write_headers(input, (struct str){params.ptr + at, params.len - at}, arguments, &arena,
                                        headers, &err);
    json_t *result = ask_rounds("tools/call", wt__buffer_view(&params), wt__str(name), headers, count < 0 ? 0 : count);
    printf("%s: %s\n", name,
           !result                                            ? "no result"
           : json_is_true(json_object_get(result, "isError")) ? "failed"
                                                              : "called");
    json_decref(result);
    json_decref(arguments);
    wt__mcp_input_close(input);
    wt__arena_dispose(&arena);
    wt__buffer_dispose(&schema);
    wt__buffer_dispose(&params);
}

/* Lists resources or prompts, and reads each of them. list and read are methods. items: member of the result that holds
 * the list. key: member that identifies an item. */
static void read_all(const char *list, const char *items, const char *read, const char *key)
{
    json_t *result = ask_rounds(list, STR(""), (struct str){"", 0}, NULL, 0), *item;
    size_t i;
    json_array_foreach(wt__json_array(result, items), i, item)
    {
        struct buffer params = {0};
        struct str name = wt__json_str(item, key);
        wt__buffer_printf(&params, "\"%s\":", key);
        wt__buffer_json(&params, name);
        json_decref(ask_rounds(read, wt__buffer_view(&params), name, NULL, 0));
        wt__buffer_dispose(&params);
    }
    json_decref(result);
}

static void ask_for_all(void)
{
    struct str self = wt__mcp_connection_self(connection);
    json_t *tree = NULL, *tool;
    size_t i;
    wt__json_parse(&tree, self.ptr, self.len, NULL);
    const json_t *can = wt__json_object(tree, "capabilities");
    json_t *result = ask_rounds("tools/list", STR(""), (struct str){"", 0}, NULL, 0);
    printf("%zu tools\n", json_array_size(wt__json_array(result, "tools")));
    json_array_foreach(wt__json_array(result, "tools"), i, tool) call_tool(tool);
    json_decref(result);
    if (json_object_get(can, "resources"))
        read_all("resources/list", "resources", "resources/read", "uri");
    if (json_object_get(can, "prompts"))
        read_all("prompts/list", "prompts", "prompts/get", "name");
    json_decref(tree);
}

int main(int argc, char **argv)
{
    struct mcp_server server = {.name = "server"};
    const struct mcp_connection_options options = {.era = MCP_ERA_UNKNOWN};
    wt_error err;
    if (argc < 2)
        return 2;
    if (wt__mcp_is_url(argv[1]))
        server.url = argv[1];
    else
        server.argv = (const char *const *)argv + 1;
    if (wt__mcp_connect(&connection, &server, &options, &err) < 0) {
        printf("%s\n", err.message);
        return 1;
    }
    printf("era %s, %.*s\n", wt__mcp_connection_era(connection) == MCP_ERA_MODERN ? "modern" : "legacy", 200,
           wt__mcp_connection_self(connection).ptr);
    ask_for_all();
    wt__mcp_disconnect(connection, false);
    return failed;
}
