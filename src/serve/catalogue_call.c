/* catalogue_call.c: the tool that writes a call (whichtool/call.h). What the request lacks is asked of the person
 * behind the client, in a form whose fields are the tool's own parameters, where the client can show one; else the
 * answer says what is missing, and the model may ask. What the person types is no request but values, so it goes into
 * the arguments as it is, and the whole is checked by the tool's schema once more. */
#include "serve/catalogue_parts.h"

#include "wire/members.h"

#define QUESTION "arguments" /* the key of the one question of a call */

/* ---------------------------------------------------------------- the form */

/* Of a parameter's schema what a form may have: MCP knows text, numbers, booleans and enumerations there, nothing
 * nested. NULL when it is none of these. */
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

/* The whole question, or false: some missing argument fits no form. */
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

/* As MCP's tools/call takes it, by the name that every API takes. */
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

/* The call with what the person answered among its arguments. */
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

/* True if a form for missing values may be shown. Filling one in would make a call of a question or a prohibition,
 * whose reader has not been asked whether to act; an unread word stands in the form's message. */
static bool may_ask(struct mcp_call *call, const wt_called *called)
{
    bool wanted = !called->doubt || strcmp(called->doubt, "unread") == 0;
    return called->tool && called->missing_count > 0 && !called->asks_tool && wanted &&
           wt__mcp_call_client_can(call, "elicitation");
}

/* What the person says to the question. A refusal is an answer: the call is then told as it is. */
static void ask(struct mcp_call *call, const wt_called *called, struct str form)
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

void wt__catalogue_write_call(struct catalogue *catalogue, struct mcp_call *call)
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
    else if (may_ask(call, called) && put_form(&form, called))
        ask(call, called, wt__buffer_view(&form));
    else
        answer_called(call, called);
    wt__buffer_dispose(&form);
    wt_called_free(called);
}
