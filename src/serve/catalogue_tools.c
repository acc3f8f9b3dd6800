/* catalogue_tools.c: the tools search_tools, get_tool_details and write_call.
 *
 * Search results include the definitions, so that the model needs no second request. The result stays in the prompt for
 * the rest of the conversation, so its size is limited: beyond the budget, tools get less detail (a name, and at
 * most a short description).
 *
 * write_call uses whichtool/call.h. If the request lacks values and the client supports elicitation, the person is
 * asked with a form whose fields are the tool's parameters. Otherwise the answer lists the missing values, so that the
 * model can ask. The values of a form are copied into the arguments without interpretation, and the result is validated
 * against the tool's schema again. */
#include "serve/internal.h"

#include <math.h>

#include "base/memory.h"
#include "call/called.h"
#include "query/search.h"
#include "serve/trace.h"
#include "text/shown.h"
#include "wire/members.h"

/* Share of requests with a fitting tool that may get no result (wt_find_options.abstain). */
#define ABSTAIN 0.01

enum detail { DETAIL_NAME, DETAIL_BRIEF, DETAIL_FULL };

/* A wt_progress_fn that stops when the client cancels; call is the mcp_call. */
static int stop_if_cancelled(void *call, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase, (void)done, (void)total;
    return wt__mcp_is_cancelled(call);
}

/* Sets the result both as structured content and as text. */
static void answer_json(struct mcp_call *call, struct buffer *json)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer shown = {0};
    wt__shown_json(&shown, wt__buffer_view(json));
    if (json->failed || shown.failed) {
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
    } else {
        wt__mcp_add_text(call, wt__buffer_view(&shown));
        wt__mcp_set_structured(call, wt__buffer_view(&shown));
    }
}

bool wt__catalogue_take_engine(const struct mcp_catalogue *catalogue, struct mcp_call *call, struct tenant_hold *hold)
{
    wt_error err;
    if (wt__tenant_hold_begin(hold, catalogue->options.tenants, wt__mcp_call_tenant(call), catalogue->engine, &err) ==
        0)
        return true;
    wt__mcp_refuse_error(call, &err);
    return false;
}

void wt__catalogue_definition(struct buffer *out, const wt_tool *tool, const char *first)
{
    char *list = NULL;
    if (wt_export(&tool, 1, "mcp", &list, NULL) < 0) {
        out->failed = true;
        return;
    }
    struct str text = wt__str(list); /* an array of one object: [{...}] */
    wt__buffer_printf(out, "{%s", first);
    wt__buffer_append(out, text.ptr + 2, text.len - 3);
    wt_string_free(list);
}

/* Appends a definition without the schema. described: true to include at most CATALOGUE_BRIEF_BYTES of the description.
 * first: as in wt__catalogue_definition. */
static void put_brief(struct buffer *out, const wt_tool *tool, const char *first, bool described)
{
    struct str description = wt__str(tool->description);
    wt__buffer_printf(out, "{%s\"name\":", first);
    wt__buffer_json(out, wt__str(tool->export_name));
    if (described && description.len > 0) {
        struct str brief = wt__str_cut(description, CATALOGUE_BRIEF_BYTES);
        wt__mcp_put_text(out, ",\"description\":", brief);
        wt__buffer_text(out, brief.len < description.len ? ",\"cut\":true" : "");
    }
    wt__buffer_char(out, '}');
}

/* ---------------------------------------------------------------- search_tools */

static void put_tool_members(const struct mcp_catalogue *catalogue, struct buffer *out, const wt_tool *tool)
{
    const struct catalogue_rules *rules = &catalogue->options.rules;
    if (rules->describe)
        rules->describe(rules->context, tool, out);
}

/* Appends the names of identical tools of other providers, which share the hit's place in the results. Skips tools that
 * were removed after the search. */
static void put_copy_names(const struct mcp_catalogue *catalogue, wt_engine *engine, struct buffer *out,
                           const wt_hit *hit)
{
    size_t told = 0;
    for (size_t i = 0; i < hit->more_listed; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer first = {0};
        wt_tools *found = NULL;
        if (wt_get(engine, hit->more_like_it[i], &found, NULL) < 0)
            continue;
        put_tool_members(catalogue, &first, found->items[0]);
        wt__buffer_char(&first, '\0');
        out->failed |= first.failed;
        wt__buffer_text(out, told++ ? "," : "\"also\":[");
        if (!out->failed)
            put_brief(out, found->items[0], first.ptr, false);
        wt_tools_free(found);
    }
    if (told > 0)
        wt__buffer_text(out, "],");
    if (told > 0 && hit->more_count > hit->more_listed)
        wt__buffer_printf(out, "\"also_count\":%zu,", hit->more_count);
}

static void put_hit(const struct mcp_catalogue *catalogue, wt_engine *engine, struct buffer *out, const wt_hit *hit,
                    enum detail detail)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer first = {0};
    if (!isnan(hit->probability))
        wt__buffer_printf(&first, "\"probability\":%.2f,%s", hit->probability, hit->weak ? "\"weak\":true," : "");
    put_tool_members(catalogue, &first, hit->tool);
    put_copy_names(catalogue, engine, &first, hit);
    wt__buffer_char(&first, '\0');
    out->failed |= first.failed;
    if (!out->failed && detail == DETAIL_FULL)
        wt__catalogue_definition(out, hit->tool, first.ptr);
    else if (!out->failed)
        put_brief(out, hit->tool, first.ptr, detail == DETAIL_BRIEF);
}

/* Appends the hits. Once the budget is used up, hits get less detail than requested. Returns the number of such
 * hits. */
static size_t put_hits(const struct mcp_catalogue *catalogue, wt_engine *engine, struct buffer *out,
                       const wt_hits *hits, enum detail detail)
{
    size_t budget = catalogue->options.budget_bytes, reduced = 0;
    for (size_t i = 0; i < hits->len; i++) {
        size_t before = out->len;
        wt__buffer_text(out, i ? "," : "");
        put_hit(catalogue, engine, out, hits->items[i], detail);
        if (detail == DETAIL_NAME || out->failed || out->len <= budget)
            continue;
        wt__buffer_cut(out, before);
        wt__buffer_text(out, i ? "," : "");
        put_hit(catalogue, engine, out, hits->items[i], detail == DETAIL_FULL ? DETAIL_BRIEF : DETAIL_NAME);
        reduced++;
    }
    return reduced;
}

/* Appends a comma and the note for a search without results. */
static void put_empty_note(const struct mcp_catalogue *catalogue, struct mcp_call *call, struct buffer *out)
{
    const struct catalogue_rules *rules = &catalogue->options.rules;
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    if (rules->lacking)
        rules->lacking(rules->context, call, wt__json_str(wt__mcp_call_argument_tree(call), "query"), &words);
    wt__mcp_put_text(out, ",\"note\":",
                     words.len > 0 ? wt__buffer_view(&words)
                                   : STR("No tool fits. Rephrase the task, or do it without a tool."));
    out->failed |= words.failed;
}

static void answer_hits(const struct mcp_catalogue *catalogue, wt_engine *engine, struct mcp_call *call,
                        const wt_hits *hits, enum detail detail)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    wt__buffer_text(&json, "{\"tools\":[");
    size_t reduced = put_hits(catalogue, engine, &json, hits, detail);
    wt__buffer_printf(&json, "],\"none_fits\":%s", hits->len == 0 ? "true" : "false");
    if (hits->len == 0)
        put_empty_note(catalogue, call, &json);
    else if (reduced > 0)
        wt__buffer_printf(
            &json, ",\"note\":\"%zu of these are shortened; get_tool_details returns the full definitions.\"", reduced);
    wt__buffer_char(&json, '}');
    answer_json(call, &json);
}

static enum detail read_detail(struct str text)
{
    return wt__str_equal(text, STR("name"))    ? DETAIL_NAME
           : wt__str_equal(text, STR("brief")) ? DETAIL_BRIEF
                                               : DETAIL_FULL;
}

/* Reports to the model that the caller may use no tool. */
static void refuse_all(const struct mcp_catalogue *catalogue, struct mcp_call *call, struct str query)
{
    const struct catalogue_rules *rules = &catalogue->options.rules;
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    if (rules->lacking)
        rules->lacking(rules->context, call, query, &words);
    wt__mcp_fail_tool(call, "%s", words.len > 0 && !words.failed ? words.ptr : "you may not use any tool");
}

void wt__catalogue_search(struct mcp_catalogue *catalogue, struct mcp_call *call)
{
    const json_t *arguments = wt__mcp_call_argument_tree(call);
    struct str query = wt__json_str(arguments, "query");
    const struct catalogue_rules *rules = &catalogue->options.rules;
    wt_filter filter;
    wt_find_options options;
    wt_hits *hits = NULL;
    wt_error err;
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    if (!wt__catalogue_take_engine(catalogue, call, &hold))
        return;
    wt_filter_init(&filter);
    wt_find_options_init(&options);
    options.k = (size_t)wt__json_int(arguments, "k", 5);
    options.provider = json_string_value(json_object_get(arguments, "provider"));
    options.abstain = ABSTAIN;
    options.time_limit_ms = catalogue->options.time_ms;
    options.progress = stop_if_cancelled;
    options.progress_context = call;
    if (rules->filter && !rules->filter(rules->context, call, &filter)) {
        refuse_all(catalogue, call, query);
        return;
    }
    options.filter = rules->filter ? &filter : NULL;
    int rc = wt_find(hold.engine, query.ptr, query.len, &options, &hits, &err);
    if (rules->filter && rules->done)
        rules->done(rules->context, &filter);
    /* Give the same answer for an unknown provider as for a forbidden provider. */
    if (rc == WT_ENOTFOUND && rules->filter) {
        answer_hits(catalogue, hold.engine, call, &(wt_hits){.len = 0}, DETAIL_NAME);
        return;
    }
    if (rc < 0) {
        wt__mcp_fail_tool_error(call, &err);
        return;
    }
    const struct search_times times = wt__hits_times(hits);
    wt__trace_add_search(wt__mcp_call_trace(call), hits->recipe, &times);
    wt__mcp_progress(call, 1, 1, STR("searched"));
    if (rules->found)
        rules->found(rules->context, call, query, hits);
    answer_hits(catalogue, hold.engine, call, hits, read_detail(wt__json_str(arguments, "detail")));
    wt_hits_free(hits);
}

/* ---------------------------------------------------------------- get_tool_details */

static void put_refusal(struct buffer *out, struct str name, const char *reason)
{
    wt__mcp_put_text(out, "{\"name\":", name);
    wt__mcp_put_text(out, ",\"error\":", wt__str(reason));
    wt__buffer_char(out, '}');
}

/* Gets the tool with this name. Free *out with wt_tools_free. */
static int get_named(struct mcp_catalogue *catalogue, wt_engine *engine, struct mcp_call *call, const char *name,
                     wt_tools **out, wt_error *err)
{
    const struct catalogue_rules *rules = &catalogue->options.rules;
    WT_CLEANUP(wt__buffer_dispose) struct buffer id = {0};
    if (!rules->resolve)
        return wt_get(engine, name, out, err);
    bool known = rules->resolve(rules->context, call, wt__str(name), &id);
    wt__buffer_char(&id, '\0');
    int rc = id.failed ? wt__fail_nomem(err) : known ? wt_get(engine, id.ptr, out, err) : WT_ENOTFOUND;
    if (rc == WT_ENOTFOUND)
        wt__fail(err, rc, "there is no such tool");
    return rc;
}

/* Appends the definition of the named tool, or the reason why it is missing. */
static void put_named(struct mcp_catalogue *catalogue, wt_engine *engine, struct mcp_call *call, struct buffer *out,
                      const char *name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer first = {0};
    wt_tools *found = NULL;
    wt_error err;
    size_t before = out->len;
    if (get_named(catalogue, engine, call, name, &found, &err) < 0) {
        wt__mcp_client_error(call, &err, &err);
        put_refusal(out, wt__str(name), err.message);
        return;
    }
    put_tool_members(catalogue, &first, found->items[0]);
    wt__buffer_char(&first, '\0');
    out->failed |= first.failed;
    if (!out->failed)
        wt__catalogue_definition(out, found->items[0], first.ptr);
    if (before > 0 && out->len > CATALOGUE_DETAILS_BYTES) {
        wt__buffer_cut(out, before);
        put_refusal(out, wt__str(name), "the answer would be too long; request this tool alone");
    }
    wt_tools_free(found);
}

void wt__catalogue_details(struct mcp_catalogue *catalogue, struct mcp_call *call)
{
    const json_t *names = json_object_get(wt__mcp_call_argument_tree(call), "names");
    WT_CLEANUP(wt__buffer_dispose) struct buffer definitions = {0}, json = {0};
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    if (!wt__catalogue_take_engine(catalogue, call, &hold))
        return;
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (i > 0)
            wt__buffer_char(&definitions, ',');
        put_named(catalogue, hold.engine, call, &definitions, json_string_value(json_array_get(names, i)));
    }
    wt__buffer_text(&json, "{\"tools\":[");
    wt__buffer_str(&json, wt__buffer_view(&definitions));
    wt__buffer_text(&json, "]}");
    json.failed |= definitions.failed;
    answer_json(call, &json);
}

/* ---------------------------------------------------------------- write_call */

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
    json_auto_t *schema = NULL, *fields = json_object(), *required = json_array();
    bool fits =
        fields && required && wt__json_parse(&schema, called->tool->schema, strlen(called->tool->schema), NULL) == 0;
    for (size_t i = 0; fits && i < called->missing_count; i++) {
        const char *name = called->missing[i];
        json_t *field = form_field(json_object_get(json_object_get(schema, "properties"), name));
        fits = field && json_object_set_new(fields, name, field) == 0 &&
               json_array_append_new(required, json_string(name)) == 0;
    }
    if (!fits)
        return false;
    wt__mcp_put_text(out, "{\"mode\":\"form\",\"message\":",
                     wt__str(called->question ? called->question : "Some values are missing."));
    wt__buffer_text(out, ",\"requestedSchema\":{\"type\":\"object\",\"properties\":");
    fits = wt__json_write(out, fields) == 0;
    wt__buffer_text(out, ",\"required\":");
    fits = fits && wt__json_write(out, required) == 0;
    wt__buffer_text(out, "}}");
    return fits && !out->failed;
}

/* Starts the result: appends its members "call", in the form of tools/call, and "ready". The caller closes the
 * object. */
static void put_call(struct buffer *out, const wt_tool *tool, struct str arguments, bool ready)
{
    wt__mcp_put_text(out, "{\"call\":{\"name\":", wt__str(tool->export_name));
    wt__buffer_text(out, ",\"arguments\":");
    wt__buffer_str(out, arguments);
    wt__buffer_printf(out, "},\"ready\":%s", ready ? "true" : "false");
}

static void answer_called(struct mcp_call *call, const wt_called *called)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer json = {0};
    if (called->tool)
        put_call(&json, called->tool, wt__str(called->arguments), called->valid && !called->question);
    else
        wt__buffer_text(&json, "{\"call\":null,\"ready\":false,\"note\":\"No tool here fits.\"");
    if (called->question) {
        wt__mcp_put_text(&json, ",\"question\":", wt__str(called->question));
    }
    if (called->doubt) {
        wt__mcp_put_text(&json, ",\"doubt\":", wt__str(called->doubt));
    }
    wt__json_texts(&json, "missing", called->missing, called->missing_count);
    wt__json_texts(&json, "violations", called->violations, called->violation_count);
    wt__buffer_char(&json, '}');
    answer_json(call, &json);
}

/* Merges the submitted values into the arguments, validates them and answers. */
static void answer_completed(struct mcp_call *call, const wt_called *called, const json_t *content)
{
    struct mcp_input *input = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer arguments = {0}, violations = {0}, json = {0};
    json_auto_t *tree = NULL;
    wt_error err;
    int rc = wt__json_parse(&tree, called->arguments, strlen(called->arguments), &err);
    if (rc == 0 && (json_object_update(tree, (json_t *)content) < 0 || wt__json_write(&arguments, tree) < 0))
        rc = wt__fail_nomem(&err);
    if (rc == 0)
        rc = wt__mcp_input_open(&input, wt__str(called->tool->schema), &err);
    int fits = rc == 0 ? wt__mcp_input_check(input, tree, &violations) : rc;
    if (rc == 0 && fits < 0)
        wt__fail_nomem(&err); /* wt__mcp_input_check fails only if out of memory */
    if (fits < 0) {
        wt__mcp_fail_tool_error(call, &err);
    } else {
        put_call(&json, called->tool, wt__buffer_view(&arguments), fits);
        wt__buffer_text(&json, ",\"missing\":[],\"violations\":[");
        if (!fits)
            wt__buffer_json(&json, wt__buffer_view(&violations));
        wt__buffer_text(&json, "]}");
        json.failed |= violations.failed;
        answer_json(call, &json);
    }
    wt__mcp_input_close(input);
}

/* True if a form for missing values may be shown. A doubt means that the request perhaps does not ask for the call, and
 * a form would turn the request into a call. The doubt "unread" is allowed, because the form's message shows the unread
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
    json_auto_t *answer = NULL;
    if (wt__mcp_ask(call, "arguments", "elicitation/create", form, &response) != MCP_ASK_ANSWERED)
        return;
    const json_t *content = NULL;
    if (wt__json_parse(&answer, response.ptr, response.len, NULL) == 0 &&
        wt__str_equal(wt__json_str(answer, "action"), STR("accept")))
        content = wt__json_object(answer, "content");
    if (content)
        answer_completed(call, called, content);
    else
        answer_called(call, called);
}

void wt__catalogue_write_call(struct mcp_catalogue *catalogue, struct mcp_call *call)
{
    const json_t *arguments = wt__mcp_call_argument_tree(call);
    struct str request = wt__json_str(arguments, "request");
    WT_CLEANUP(wt__buffer_dispose) struct buffer form = {0};
    wt_call_options options;
    wt_called *called = NULL;
    wt_error err;
    WT_CLEANUP(wt__tenant_hold_end) struct tenant_hold hold = {0};
    if (!wt__catalogue_take_engine(catalogue, call, &hold))
        return;
    wt_call_options_init(&options);
    options.tool = json_string_value(json_object_get(arguments, "tool"));
    options.time_limit_ms = catalogue->options.time_ms;
    options.progress = stop_if_cancelled;
    options.progress_context = call;
    int rc = wt_call(hold.engine, request.ptr, request.len, &options, &called, &err);
    const wt_hits *hits = rc < 0 ? NULL : wt__called_hits(called);
    const struct search_times times = hits ? wt__hits_times(hits) : (struct search_times){0};
    if (rc == 0)
        wt__trace_add_search(wt__mcp_call_trace(call), called->recipe, &times);
    if (rc < 0)
        wt__mcp_fail_tool_error(call, &err);
    else if (may_show_form(call, called) && put_form(&form, called))
        ask_for_values(call, called, wt__buffer_view(&form));
    else
        answer_called(call, called);
    wt_called_free(called);
}
