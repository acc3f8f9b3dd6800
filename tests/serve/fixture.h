/* The tools, resources and prompts expected by the MCP conformance suite (@modelcontextprotocol/conformance). Shared by
 * the server used with the suite and by our own tests. */
#ifndef WT_TESTS_SERVE_FIXTURE_H
#define WT_TESTS_SERVE_FIXTURE_H

#include <stdatomic.h>
#include <time.h>

#include "serve/mcp/service.h"
#include "serve/mcp_table.h"

/* A red pixel and an empty tone, in base64. */
#define FIXTURE_PNG "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
#define FIXTURE_WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

#define FIXTURE_IMAGE "{\"type\":\"image\",\"data\":\"" FIXTURE_PNG "\",\"mimeType\":\"image/png\"}"
#define FIXTURE_AUDIO "{\"type\":\"audio\",\"data\":\"" FIXTURE_WAV "\",\"mimeType\":\"audio/wav\"}"

/* The open service, for tools that announce changes. */
static struct mcp_service *fixture_service;

static void fixture_pause(void)
{
    struct timespec pause = {0, 50 * 1000000L};
    nanosleep(&pause, NULL);
}

static void fixture_say(struct mcp_call *call, const char *text)
{
    wt__mcp_add_text(call, wt__str(text));
}

/* Asks the client. Returns the response, or NULL if the response is missing. The handler must then return without a
 * result. */
static const char *fixture_ask(struct mcp_call *call, const char *key, const char *method, const char *params)
{
    struct str response;
    return wt__mcp_ask(call, key, method, wt__str(params), &response) == MCP_ASK_ANSWERED ? response.ptr : NULL;
}

static void fixture_say_answer(struct mcp_call *call, const char *before, const char *answer)
{
    struct buffer text = {0};
    wt__buffer_text(&text, before);
    wt__buffer_text(&text, answer);
    wt__mcp_add_text(call, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
}

#define FIXTURE_FORM(message, properties, required)                                                                    \
    "{\"message\":\"" message "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties                \
    "},\"required\":[" required "]}}"
#define FIXTURE_NAME_FORM(message) FIXTURE_FORM(message, "\"name\":{\"type\":\"string\"}", "\"name\"")
#define FIXTURE_OK_FORM FIXTURE_FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"")
#define FIXTURE_SAMPLE(text, tokens)                                                                                   \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":" tokens  \
    "}"

/* ---------------------------------------------------------------- tools without questions */

static void fixture_simple_text(void *context, struct mcp_call *call)
{
    (void)context;
    fixture_say(call, "This is a simple text response for testing.");
}

static void fixture_image(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_item(call, STR(""), STR(FIXTURE_IMAGE));
}

static void fixture_audio(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_item(call, STR(""), STR(FIXTURE_AUDIO));
}

/* Adds an embedded resource with a text. */
static void fixture_embed(struct mcp_call *call, struct str uri, const char *mime_type, const char *text)
{
    struct buffer item = {0};
    wt__buffer_text(&item, "{\"type\":\"resource\",\"resource\":{\"uri\":");
    wt__buffer_json(&item, uri);
    wt__buffer_printf(&item, ",\"mimeType\":\"%s\",\"text\":", mime_type);
    wt__buffer_json(&item, wt__str(text));
    wt__buffer_text(&item, "}}");
    wt__mcp_add_item(call, STR(""), wt__buffer_view(&item));
    wt__buffer_dispose(&item);
}

static void fixture_embedded(void *context, struct mcp_call *call)
{
    (void)context;
    fixture_embed(call, STR("test://embedded-resource"), "text/plain", "This is an embedded resource content.");
}

static void fixture_mixed(void *context, struct mcp_call *call)
{
    (void)context;
    fixture_say(call, "Multiple content types test:");
    wt__mcp_add_item(call, STR(""), STR(FIXTURE_IMAGE));
    fixture_embed(call, STR("test://mixed-content-resource"), "application/json", "{\"test\":\"data\",\"value\":123}");
}

static void fixture_error(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_fail_tool(call, "This tool intentionally returns an error for testing");
}

static void fixture_logging(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_relay_log(call, STR("{\"level\":\"info\",\"data\":\"Tool execution started\"}"));
    fixture_pause();
    wt__mcp_relay_log(call, STR("{\"level\":\"info\",\"data\":\"Tool processing data\"}"));
    fixture_pause();
    wt__mcp_relay_log(call, STR("{\"level\":\"info\",\"data\":\"Tool execution completed\"}"));
    fixture_say(call, "Logged three times.");
}

static void fixture_progress(void *context, struct mcp_call *call)
{
    (void)context;
    for (int done = 0; done <= 100; done += 50) {
        wt__mcp_progress(call, done, 100, STR(""));
        fixture_pause();
    }
    fixture_say(call, "Progressed from 0 to 100.");
}

/* Closes the stream, so that the client must resume it for the answer. */
static void fixture_reconnection(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_close_stream(call);
    fixture_pause();
    fixture_pause();
    fixture_say(call, "Came back.");
}

static void fixture_tool_change(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_service_changed(fixture_service, MCP_TOOLS_CHANGED);
    fixture_say(call, "Said that the tools have changed.");
}

static void fixture_prompt_change(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_service_changed(fixture_service, MCP_PROMPTS_CHANGED);
    fixture_say(call, "Said that the prompts have changed.");
}

static void fixture_echo(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_text(call, wt__mcp_call_arguments(call));
}

/* The next three tools are not in the suite. Tests of clients use them to change a resource, to wait for cancellation,
 * and to count cancellations. */
static void fixture_resource_change(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_service_resource_updated(fixture_service, STR("test://watched-resource"));
    fixture_say(call, "Said that the watched resource has changed.");
}

static atomic_uint fixture_cancels;

static void fixture_wait(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_progress(call, 0, 1, STR("waiting"));
    for (int i = 0; i < 600 && !wt__mcp_is_cancelled(call); i++)
        fixture_pause();
    atomic_fetch_add(&fixture_cancels, wt__mcp_is_cancelled(call));
    fixture_say(call, "The call was not cancelled.");
}

static void fixture_count_cancels(void *context, struct mcp_call *call)
{
    char text[32];
    (void)context;
    snprintf(text, sizeof text, "%u", atomic_load(&fixture_cancels));
    fixture_say(call, text);
}

/* ---------------------------------------------------------------- tools with questions */

static void fixture_sampling(void *context, struct mcp_call *call)
{
    struct buffer params = {0};
    (void)context;
    wt__buffer_text(&params, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    wt__buffer_json(&params, wt__json_str(wt__mcp_call_argument_tree(call), "prompt"));
    wt__buffer_text(&params, "}}],\"maxTokens\":100}");
    const char *answer = fixture_ask(call, "sample", "sampling/createMessage", params.ptr);
    if (answer)
        fixture_say_answer(call, "LLM response: ", answer);
    wt__buffer_dispose(&params);
}

static void fixture_elicitation(void *context, struct mcp_call *call)
{
    struct buffer params = {0};
    (void)context;
    wt__buffer_text(&params, "{\"message\":");
    wt__buffer_json(&params, wt__json_str(wt__mcp_call_argument_tree(call), "message"));
    wt__buffer_text(&params,
                    ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"username\":{\"type\":\"string\","
                    "\"description\":\"User's response\"},\"email\":{\"type\":\"string\",\"description\":\"User's "
                    "email address\"}},\"required\":[\"username\",\"email\"]}}");
    const char *answer = fixture_ask(call, "user", "elicitation/create", params.ptr);
    if (answer)
        fixture_say_answer(call, "User response: ", answer);
    wt__buffer_dispose(&params);
}

static void fixture_defaults(void *context, struct mcp_call *call)
{
    (void)context;
    const char *answer =
        fixture_ask(call, "defaults", "elicitation/create",
                    FIXTURE_FORM("Please review the defaults",
                                 "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
                                 "\"age\":{\"type\":\"integer\",\"default\":30},"
                                 "\"score\":{\"type\":\"number\",\"default\":95.5},"
                                 "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
                                 "\"default\":\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}",
                                 ""));
    if (answer)
        fixture_say_answer(call, "Elicitation completed: ", answer);
}

#define FIXTURE_THREE "[\"option1\",\"option2\",\"option3\"]"
#define FIXTURE_TITLED                                                                                                 \
    "[{\"const\":\"value1\",\"title\":\"First\"},{\"const\":\"value2\",\"title\":\"Second\"},{\"const\":\"value3\","   \
    "\"title\":\"Third\"}]"

static void fixture_enums(void *context, struct mcp_call *call)
{
    (void)context;
    const char *answer = fixture_ask(
        call, "enums", "elicitation/create",
        FIXTURE_FORM("Please choose",
                     "\"untitledSingle\":{\"type\":\"string\",\"enum\":" FIXTURE_THREE "},"
                     "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" FIXTURE_TITLED "},"
                     "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],\"enumNames\":"
                     "[\"Option One\",\"Option Two\",\"Option Three\"]},"
                     "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":" FIXTURE_THREE
                     "}},"
                     "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" FIXTURE_TITLED "}}",
                     ""));
    if (answer)
        fixture_say_answer(call, "Elicitation completed: ", answer);
}

static void fixture_streaming(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_progress(call, 1, 2, STR("about to ask"));
    const char *answer = fixture_ask(call, "user_name", "elicitation/create", FIXTURE_NAME_FORM("What is your name?"));
    if (answer)
        fixture_say_answer(call, "Answered: ", answer);
}

static void fixture_ask_name(void *context, struct mcp_call *call)
{
    struct str response;
    json_t *read = NULL;
    (void)context;
    if (wt__mcp_ask(call, "user_name", "elicitation/create", STR(FIXTURE_NAME_FORM("What is your name?")), &response) !=
        MCP_ASK_ANSWERED)
        return;
    wt__json_parse(&read, response.ptr, response.len, NULL);
    struct str name = wt__json_str(wt__json_object(read, "content"), "name");
    char text[128];
    snprintf(text, sizeof text, "Hello, %.*s!", (int)(name.len < 80 ? name.len : 80), name.ptr);
    fixture_say(call, text);
    json_decref(read);
}

static void fixture_ask_model(void *context, struct mcp_call *call)
{
    (void)context;
    const char *answer = fixture_ask(call, "capital_question", "sampling/createMessage",
                                     FIXTURE_SAMPLE("What is the capital of France?", "100"));
    if (answer)
        fixture_say_answer(call, "The model says: ", answer);
}

static void fixture_ask_roots(void *context, struct mcp_call *call)
{
    (void)context;
    const char *answer = fixture_ask(call, "client_roots", "roots/list", "{}");
    if (answer)
        fixture_say_answer(call, "The roots: ", answer);
}

static void fixture_ask_ok(void *context, struct mcp_call *call)
{
    (void)context;
    bool kept = wt__str_equal(wt__mcp_state(call), STR("kept"));
    wt__mcp_keep_state(call, STR("kept"));
    const char *answer = fixture_ask(call, "confirm", "elicitation/create", FIXTURE_OK_FORM);
    if (answer)
        fixture_say(call, kept || !wt__mcp_call_is_modern(call) ? "state-ok" : "state-lost");
}

static void fixture_ask_all(void *context, struct mcp_call *call)
{
    (void)context;
    const char *name = fixture_ask(call, "user_name", "elicitation/create", FIXTURE_NAME_FORM("What is your name?"));
    const char *greeting =
        fixture_ask(call, "greeting", "sampling/createMessage", FIXTURE_SAMPLE("Generate a greeting", "50"));
    const char *roots = fixture_ask(call, "client_roots", "roots/list", "{}");
    if (!name || !greeting || !roots)
        return;
    fixture_say_answer(call, "name: ", name);
    fixture_say_answer(call, "greeting: ", greeting);
    fixture_say_answer(call, "roots: ", roots);
}

static void fixture_ask_twice(void *context, struct mcp_call *call)
{
    (void)context;
    const char *name =
        fixture_ask(call, "step1", "elicitation/create", FIXTURE_NAME_FORM("Step 1: What is your name?"));
    if (!name)
        return;
    const char *color = fixture_ask(
        call, "step2", "elicitation/create",
        FIXTURE_FORM("Step 2: What is your favorite color?", "\"color\":{\"type\":\"string\"}", "\"color\""));
    if (!color)
        return;
    fixture_say_answer(call, "name: ", name);
    fixture_say_answer(call, "color: ", color);
}

/* Asks only the questions that the client's capabilities allow. */
static void fixture_ask_able(void *context, struct mcp_call *call)
{
    (void)context;
    const char *name = "", *greeting = "";
    if (wt__mcp_call_client_can(call, "elicitation"))
        name = fixture_ask(call, "user_name", "elicitation/create", FIXTURE_NAME_FORM("What is your name?"));
    if (wt__mcp_call_client_can(call, "sampling"))
        greeting = fixture_ask(call, "greeting", "sampling/createMessage", FIXTURE_SAMPLE("Generate a greeting", "50"));
    if (name && greeting)
        fixture_say_answer(call, name, greeting);
}

/* ---------------------------------------------------------------- table of tools */

#define FIXTURE_TOOL(name, description, schema)                                                                        \
    "{\"name\":\"" name "\",\"description\":\"" description "\",\"inputSchema\":" schema "}"
#define FIXTURE_NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"
#define FIXTURE_PLAIN(name, function, waits)                                                                           \
    {                                                                                                                  \
        name, FIXTURE_TOOL(name, "A tool of the conformance suite", FIXTURE_NO_ARGUMENTS), function, waits, false      \
    }
#define FIXTURE_TEXT_ARGUMENT(key)                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"" key "\":{\"type\":\"string\"}},\"required\":[\"" key "\"]}"
#define FIXTURE_SCHEMA_2020_12                                                                                         \
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"$defs\":{\"address\":{"       \
    "\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":{\"type\":\"string\"},\"city\":{"       \
    "\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":"                    \
    "\"#/$defs/address\"},\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":{"          \
    "\"type\":\"string\"},\"email\":{\"type\":\"string\"}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{"        \
    "\"required\":[\"email\"]}]}],\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":["     \
    "\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"                     \
    "\"additionalProperties\":false}"
#define FIXTURE_MIRRORED                                                                                               \
    "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},\"limit\":{"    \
    "\"type\":\"integer\",\"x-mcp-header\":\"Limit\"},\"deep\":{\"type\":\"object\",\"properties\":{\"flag\":{"        \
    "\"type\":\"boolean\",\"x-mcp-header\":\"Flag\"}}}},\"required\":[\"region\"]}"

static const struct mcp_tool_row fixture_tools[] = {
    FIXTURE_PLAIN("test_simple_text", fixture_simple_text, false),
    FIXTURE_PLAIN("test_image_content", fixture_image, false),
    FIXTURE_PLAIN("test_audio_content", fixture_audio, false),
    FIXTURE_PLAIN("test_embedded_resource", fixture_embedded, false),
    FIXTURE_PLAIN("test_multiple_content_types", fixture_mixed, false),
    FIXTURE_PLAIN("test_tool_with_logging", fixture_logging, true),
    FIXTURE_PLAIN("test_tool_with_progress", fixture_progress, true),
    FIXTURE_PLAIN("test_error_handling", fixture_error, false),
    {"test_sampling", FIXTURE_TOOL("test_sampling", "Asks the client's model", FIXTURE_TEXT_ARGUMENT("prompt")),
     fixture_sampling, true, false},
    {"test_elicitation", FIXTURE_TOOL("test_elicitation", "Asks the user", FIXTURE_TEXT_ARGUMENT("message")),
     fixture_elicitation, true, false},
    FIXTURE_PLAIN("test_elicitation_sep1034_defaults", fixture_defaults, true),
    FIXTURE_PLAIN("test_elicitation_sep1330_enums", fixture_enums, true),
    FIXTURE_PLAIN("test_missing_capability", fixture_ask_model, true),
    FIXTURE_PLAIN("test_streaming_elicitation", fixture_streaming, true),
    FIXTURE_PLAIN("test_logging_tool", fixture_logging, true),
    FIXTURE_PLAIN("test_reconnection", fixture_reconnection, true),
    FIXTURE_PLAIN("test_trigger_tool_change", fixture_tool_change, false),
    FIXTURE_PLAIN("test_trigger_prompt_change", fixture_prompt_change, false),
    {"test_custom_headers", FIXTURE_TOOL("test_custom_headers", "Repeats arguments in headers", FIXTURE_MIRRORED),
     fixture_echo, false, false},
    {"json_schema_2020_12_tool",
     FIXTURE_TOOL("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", FIXTURE_SCHEMA_2020_12),
     fixture_echo, false, false},
    FIXTURE_PLAIN("test_input_required_result_elicitation", fixture_ask_name, true),
    FIXTURE_PLAIN("test_input_required_result_sampling", fixture_ask_model, true),
    FIXTURE_PLAIN("test_input_required_result_list_roots", fixture_ask_roots, true),
    FIXTURE_PLAIN("test_input_required_result_request_state", fixture_ask_ok, true),
    FIXTURE_PLAIN("test_input_required_result_multiple_inputs", fixture_ask_all, true),
    FIXTURE_PLAIN("test_input_required_result_multi_round", fixture_ask_twice, true),
    FIXTURE_PLAIN("test_input_required_result_tampered_state", fixture_ask_ok, true),
    FIXTURE_PLAIN("test_input_required_result_capabilities", fixture_ask_able, true),
    FIXTURE_PLAIN("change_resource", fixture_resource_change, false),
    FIXTURE_PLAIN("wait", fixture_wait, true),
    FIXTURE_PLAIN("count_cancels", fixture_count_cancels, false),
};

/* ---------------------------------------------------------------- resources */

static void fixture_read_text(void *context, struct mcp_call *call, struct str uri)
{
    (void)context;
    wt__mcp_add_contents(call, uri, "text/plain", STR("This is the content of the static text resource."),
                         (struct str){NULL, 0});
}

static void fixture_read_binary(void *context, struct mcp_call *call, struct str uri)
{
    (void)context;
    wt__mcp_add_contents(call, uri, "image/png", STR(""), STR(FIXTURE_PNG));
}

/* Reads test://template/ID/data. */
static void fixture_read_template(void *context, struct mcp_call *call, struct str uri)
{
    static const char before[] = "test://template/";
    struct buffer text = {0};
    (void)context;
    struct str rest = {uri.ptr + sizeof before - 1, uri.len - (sizeof before - 1)};
    const char *slash = memchr(rest.ptr, '/', rest.len);
    struct str id = {rest.ptr, slash ? (size_t)(slash - rest.ptr) : 0};
    if (!slash || id.len == 0 || !wt__str_equal((struct str){slash, rest.len - id.len}, STR("/data"))) {
        wt__mcp_refuse_unknown(call);
        return;
    }
    wt__buffer_text(&text, "{\"id\":");
    wt__buffer_json(&text, id);
    wt__buffer_text(&text, ",\"templateTest\":true,\"data\":\"Data for ID: ");
    wt__buffer_str(&text, id);
    wt__buffer_text(&text, "\"}");
    wt__mcp_add_contents(call, uri, "application/json", wt__buffer_view(&text), (struct str){NULL, 0});
    wt__buffer_dispose(&text);
}

#define FIXTURE_RESOURCE(uri, type)                                                                                    \
    "{\"uri\":\"" uri "\",\"name\":\"" uri "\",\"description\":\"A resource of the conformance suite\","               \
    "\"mimeType\":\"" type "\"}"

static const struct mcp_resource_row fixture_resources[] = {
    {"test://static-text", FIXTURE_RESOURCE("test://static-text", "text/plain"), fixture_read_text, false},
    {"test://static-binary", FIXTURE_RESOURCE("test://static-binary", "image/png"), fixture_read_binary, false},
    {"test://watched-resource", FIXTURE_RESOURCE("test://watched-resource", "text/plain"), fixture_read_text, false},
    {"test://example-resource", FIXTURE_RESOURCE("test://example-resource", "text/plain"), fixture_read_text, false},
    {"test://template/",
     "{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"template\",\"description\":\"A template of the "
     "conformance suite\",\"mimeType\":\"application/json\"}",
     fixture_read_template, true},
};

/* ---------------------------------------------------------------- prompts, completions */

static void fixture_simple_prompt(void *context, struct mcp_call *call)
{
    (void)context;
    fixture_say(call, "This is a simple prompt for testing.");
}

static void fixture_arguments_prompt(void *context, struct mcp_call *call)
{
    const json_t *arguments = wt__mcp_call_argument_tree(call);
    struct str one = wt__json_str(arguments, "arg1"), two = wt__json_str(arguments, "arg2");
    struct buffer text = {0};
    (void)context;
    if (one.len == 0 || two.len == 0) {
        wt__mcp_refuse(call, MCP_INVALID_PARAMS, "arg1 and arg2 are required");
        return;
    }
    wt__buffer_text(&text, "Prompt with arguments: arg1='");
    wt__buffer_str(&text, one);
    wt__buffer_text(&text, "', arg2='");
    wt__buffer_str(&text, two);
    wt__buffer_text(&text, "'");
    wt__mcp_add_text(call, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
}

static void fixture_resource_prompt(void *context, struct mcp_call *call)
{
    (void)context;
    fixture_embed(call, wt__json_str(wt__mcp_call_argument_tree(call), "resourceUri"), "text/plain",
                  "Embedded resource content for testing.");
    fixture_say(call, "Please process the embedded resource above.");
}

static void fixture_image_prompt(void *context, struct mcp_call *call)
{
    (void)context;
    wt__mcp_add_item(call, STR(""), STR(FIXTURE_IMAGE));
    fixture_say(call, "Please analyze the image above.");
}

static void fixture_asking_prompt(void *context, struct mcp_call *call)
{
    (void)context;
    const char *answer = fixture_ask(
        call, "user_context", "elicitation/create",
        FIXTURE_FORM("What context should the prompt use?", "\"context\":{\"type\":\"string\"}", "\"context\""));
    if (answer)
        fixture_say_answer(call, "Context: ", answer);
}

#define FIXTURE_PROMPT(name, arguments)                                                                                \
    "{\"name\":\"" name "\",\"description\":\"A prompt of the conformance suite\",\"arguments\":[" arguments "]}"
#define FIXTURE_REQUIRED(name) "{\"name\":\"" name "\",\"description\":\"A test argument\",\"required\":true}"

static const struct mcp_prompt_row fixture_prompts[] = {
    {"test_simple_prompt", FIXTURE_PROMPT("test_simple_prompt", ""), fixture_simple_prompt},
    {"test_prompt_with_arguments",
     FIXTURE_PROMPT("test_prompt_with_arguments", FIXTURE_REQUIRED("arg1") "," FIXTURE_REQUIRED("arg2")),
     fixture_arguments_prompt},
    {"test_prompt_with_embedded_resource",
     FIXTURE_PROMPT("test_prompt_with_embedded_resource", FIXTURE_REQUIRED("resourceUri")), fixture_resource_prompt},
    {"test_prompt_with_image", FIXTURE_PROMPT("test_prompt_with_image", ""), fixture_image_prompt},
    {"test_input_required_result_prompt", FIXTURE_PROMPT("test_input_required_result_prompt", ""),
     fixture_asking_prompt},
};

static void fixture_complete(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    static const char *const values[] = {"paris", "park", "party", "testing"};
    (void)context;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (wt__str_starts(wt__str(values[i]), what->value))
            wt__mcp_add_value(call, wt__str(values[i]));
}

/* ---------------------------------------------------------------- opening and closing */

static struct mcp_table fixture_table = {
    .tools = fixture_tools,
    .tool_count = sizeof fixture_tools / sizeof *fixture_tools,
    .resources = fixture_resources,
    .resource_count = sizeof fixture_resources / sizeof *fixture_resources,
    .prompts = fixture_prompts,
    .prompt_count = sizeof fixture_prompts / sizeof *fixture_prompts,
};

static void fixture_write_instructions(void *context, const char *principal, struct buffer *out)
{
    (void)context, (void)principal;
    wt__buffer_text(out, "Nothing here is of use.");
}

static int fixture_open(struct mcp_service **out, const struct mcp_service_options *options, wt_error *err)
{
    struct mcp_features features = {
        .name = "fixture",
        .version = "1.0.0",
        .title = "Fixture of the conformance suite",
        .write_instructions = fixture_write_instructions,
        .ttl_ms = 60000,
        .changes = true,
        .resources = {.watched = true},
        .prompts = {.waits = true},
        .completions = {.complete = fixture_complete},
    };
    int rc = mcp_table_open(&fixture_table, &features, err);
    if (rc == 0)
        rc = wt__mcp_service_open(out, &features, options, err);
    fixture_service = rc == 0 ? *out : NULL;
    return rc;
}

static void fixture_close(struct mcp_service *service)
{
    wt__mcp_service_close(service);
    mcp_table_close(&fixture_table);
}

#endif
