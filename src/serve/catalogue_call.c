/* catalogue_call.c: the tool write_call (whichtool/call.h). If the request lacks values and the client supports
 * elicitation, the person is asked with a form whose fields are the tool's parameters. Otherwise the answer lists the
 * missing values, so that the model can ask.
 *
 * Form input consists of values rather than text to interpret. It is copied into the arguments, and the result is
 * validated against the tool's schema again. */
#include "serve/catalogue_parts.h"

#include "wire/members.h"

#define QUESTION "arguments" /* key of the only question */

/* ---------------------------------------------------------------- the form */

/* Returns the part of a parameter's schema that MCP forms allow: text, numbers, booleans and enumerations. Returns NULL
 * for other types, or if out of memory. */
static json_t *form_field(const json_t *schema)
{
    static const char *const types[] = {"string", "number", "integer", "boolean"};
    static const char *const kept[] = {"type",    "title",   "description", "enum",     "minimum",
                                       "maximum", "default", "minLength",   "maxLength"};
    struct str type = wt__json_str(schema, "type");
    json_t *field = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (wt__str_equal(type, wt__str(types[i])))
            field = json_object();
    for (size_t i = 0; field && i < sizeof kept / sizeof *kept; i++) {
        json_t *value = json_object_get(schema, kept[i]);
        if (value && json_object_set(field, kept[i], value) < 0) {
            json_decref(field);
            return NULL;
        }
    }
    return field;
}

/* Appends the parameters of elicitation/create. Returns false if a missing argument does not fit a form, or if out of
 * memory. */
static bool put_form(struct buffer *out, const wt_called *called)
{
    json_t *schema = NULL, *fields = json_object(), *required = json_array();
    bool fits =
        fields && required && wt__json_parse(&schema, called->tool->schema, strlen(called->tool->schema), NULL) == 0;
    for (size_t i = 0; fits && i < called->missing_count; i++) {
        const char *name = called->missing[i];
        json_t *field = form_field(json_object_get(json_object_get(schema, "properties"), name));
        fits = field && json_object_set_new(fields, name, field) == 0 &&
               json_array_append_new(required, json_string(name)) == 0;
    }
    if (fits) {
        wt__buffer_text(out, "{\"mode\":\"form\",\"message\":");
        wt__buffer_json(out, wt__str(called->question ? called->question : "Some values are missing."));
        wt__buffer_text(out, ",\"requestedSchema\":{\"type\":\"object\",\"properties\":");
        fits = wt__json_write(out, fields) == 0;
        wt__buffer_text(out, ",\"required\":");
        fits = fits && wt__json_write(out, required) == 0;
        wt__buffer_text(out, "}}");
    }
    json_decref(schema);
    json_decref(fields);
    json_decref(required);
    return fits && !out->failed;
}

/* ---------------------------------------------------------------- the answer */

/* Appends the call in the form of tools/call, without the closing brace. */
static void put_call(struct buffer *out, const wt_tool *tool, struct str arguments, bool ready)
{
    wt__buffer_text(out, "{\"call\":{\"name\":");
    wt__buffer_json(out, wt__str(tool->export_name));
    wt__buffer_text(out, ",\"arguments\":");
    wt__buffer_str(out, arguments);
    wt__buffer_printf(out, "},\"ready\":%s", ready ? "true" : "false");
}

static void answer_called(struct mcp_call *call, const wt_called *called)
{
    struct buffer json = {0};
    if (called->tool)
        put_call(&json, called->tool, wt__str(called->arguments), called->valid && !called->question);
    else
        wt__buffer_text(&json, "{\"call\":null,\"ready\":false");
    if (!called->tool)
        wt__buffer_text(&json, ",\"note\":\"No tool here fits.\"");
    if (called->question) {
        wt__buffer_text(&json, ",\"question\":");
        wt__buffer_json(&json, wt__str(called->question));
    }
    if (called->doubt) {
        wt__buffer_text(&json, ",\"doubt\":");
        wt__buffer_json(&json, wt__str(called->doubt));
    }
    wt__json_texts(&json, "missing", called->missing, called->missing_count);
    wt__json_texts(&json, "violations", called->violations, called->violation_count);
    wt__buffer_char(&json, '}');
    wt__catalogue_answer(call, &json);
    wt__buffer_dispose(&json);
}

/* Merges the submitted values into the arguments, validates them and answers. */
static void answer_completed(struct mcp_call *call, const wt_called *called, const json_t *content)
{
    struct mcp_input *input = NULL;
    struct buffer arguments = {0}, violations = {0}, json = {0};
    json_t *tree = NULL;
    wt_error err;
    int rc = wt__json_parse(&tree, called->arguments, strlen(called->arguments), &err);
    if (rc == 0 && (json_object_update(tree, (json_t *)content) < 0 || wt__json_write(&arguments, tree) < 0))
        rc = wt__fail_nomem(&err);
    if (rc == 0)
        rc = wt__mcp_input_open(&input, wt__str(called->tool->schema), &err);
    int fits = rc == 0 ? wt__mcp_input_check(input, wt__buffer_view(&arguments), &violations) : rc;
    if (fits < 0) {
        wt__mcp_fail_tool_error(call, &err);
    } else {
        put_call(&json, called->tool, wt__buffer_view(&arguments), fits);
        wt__buffer_text(&json, ",\"missing\":[],\"violations\":[");
        if (!fits)
            wt__buffer_json(&json, wt__buffer_view(&violations));
        wt__buffer_text(&json, "]}");
        json.failed |= violations.failed;
        wt__catalogue_answer(call, &json);
    }
    wt__mcp_input_close(input);
    json_decref(tree);
    wt__buffer_dispose(&arguments);
    wt__buffer_dispose(&violations);
    wt__buffer_dispose(&json);
}

/* ---------------------------------------------------------------- asking */

/* True if a form for missing values may be shown. If called->doubt says that the request may be a question or a
 * prohibition, a form would turn it into a call. The doubt "unread" is allowed: the form's message shows the unread
 * word. */
static bool may_show_form(struct mcp_call *call, const wt_called *called)
{
    bool wanted = !called->doubt || strcmp(called->doubt, "unread") == 0;
    return called->tool && called->missing_count > 0 && !called->asks_tool && wanted &&
           wt__mcp_call_client_can(call, "elicitation");
}

/* Shows the form and answers with the result. If the person declines, the answer is the incomplete call. */
static void ask_for_values(struct mcp_call *call, const wt_called *called, struct str form)
{
    struct str response;
    json_t *answer = NULL;
    if (wt__mcp_ask(call, QUESTION, "elicitation/create", form, &response) != MCP_ASK_ANSWERED)
        return;
    const json_t *content = NULL;
    if (wt__json_parse(&answer, response.ptr, response.len, NULL) == 0 &&
        wt__str_equal(wt__json_str(answer, "action"), STR("accept")))
        content = wt__json_object(answer, "content");
    if (content)
        answer_completed(call, called, content);
    else
        answer_called(call, called);
    json_decref(answer);
}

void wt__catalogue_write_call(struct mcp_catalogue *catalogue, struct mcp_call *call)
{
    const json_t *arguments = wt__mcp_call_argument_tree(call);
    struct str request = wt__json_str(arguments, "request");
    struct buffer form = {0};
    wt_call_options options;
    wt_called *called = NULL;
    wt_error err;
    wt_call_options_init(&options);
    options.tool = json_string_value(json_object_get(arguments, "tool"));
    options.time_limit_ms = catalogue->options.time_ms;
    options.progress = wt__catalogue_progress;
    options.progress_context = call;
    if (wt_call(catalogue->engine, request.ptr, request.len, &options, &called, &err) < 0)
        wt__mcp_fail_tool_error(call, &err);
    else if (may_show_form(call, called) && put_form(&form, called))
        ask_for_values(call, called, wt__buffer_view(&form));
    else
        answer_called(call, called);
    wt__buffer_dispose(&form);
    wt_called_free(called);
}
