/* face.c: lists, finds and runs the tools of each kind of face. */
#include "gateway/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/pins.h"
#include "engine/engine.h"
#include "whichtool/review.h"
#include "serve/catalogue.h"

enum { FACE_INSTRUCTIONS_BYTES = 2048 /* maximum bytes of a server's instructions that clients get */ };

/* ---------------------------------------------------------------- direct face */

/* Adds the tools allowed for the caller to the list of the call. after: shown name of the last tool on the previous
 * page, which may have been removed since; "" for the first page. */
static void list_view(const struct face *face, struct mcp_call *call, const struct tool_view *view, struct str after)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct view_tool *tool = view->tools[i];
        size_t len = strlen(tool->shown), common = len < after.len ? len : after.len;
        int order = common > 0 ? memcmp(tool->shown, after.ptr, common) : 0;
        bool is_behind = order > 0 || (order == 0 && len > after.len);
        if (is_behind && wt__face_allows(face, call, tool) &&
            !wt__mcp_add_item(call, wt__str(tool->shown),
                              wt__mcp_call_is_modern(call) ? tool->definition : tool->legacy))
            return;
    }
}

static void list_view_tools(void *context, struct mcp_call *call, struct str after)
{
    struct face *face = context;
    wt__gateway_wait_for_tools(face->gateway);
    struct tool_view *view = wt__gateway_view(face->gateway);
    if (view)
        list_view(face, call, view, after);
    else
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the catalogue cannot be read");
    wt__view_release(view);
}

/* mcp_tool.number for an unknown name while servers are starting: one of them may have the tool. */
static const size_t LATE_TOOL = SIZE_MAX;

/* Finds a tool for the service. Sets out->input only if the tool has arguments that are repeated in headers. The
 * service then checks only these headers. wt__face_call validates the arguments, so that the audit records invalid
 * arguments. For an unknown name, sets out->number to LATE_TOOL if a starting server may have the tool. */
static int find_view_tool(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err)
{
    struct face *face = context;
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    if (tool && wt__face_allows(face, call, tool)) {
        *out = (struct mcp_tool){.input = tool->has_mirrors ? wt__view_input(tool, NULL) : NULL,
                                 .mirrors_only = true,
                                 .waits = true,
                                 .handle = view,
                                 .number = tool->number};
        return 0;
    }
    if (view && !tool && !wt__gateway_knows_all_tools(face->gateway)) {
        *out = (struct mcp_tool){.mirrors_only = true, .waits = true, .handle = view, .number = LATE_TOOL};
        return 0;
    }
    wt__face_audit_refused_call(face, call, tool, name, wt__mcp_call_arguments(call),
                                tool ? AUDIT_DENIED : AUDIT_UNKNOWN);
    wt__view_release(view);
    return wt__face_fail_missing(face, call, name, tool != NULL, err);
}

static void call_view_tool(struct face *face, struct mcp_call *call, struct view_tool *tool)
{
    const struct client_arguments arguments = {wt__mcp_call_arguments(call), wt__mcp_call_argument_tree(call), STR("")};
    wt__face_call(face, call, tool, &arguments, false);
}

/* Waits for starting servers and then calls the tool. A client may know the tool from an earlier session. */
static void run_late_tool(struct face *face, struct mcp_call *call)
{
    struct str name = wt__mcp_call_name(call);
    wt_error err;
    wt__gateway_wait_for_tools(face->gateway);
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    if (tool && wt__face_allows(face, call, tool)) {
        call_view_tool(face, call, tool);
    } else {
        wt__face_audit_refused_call(face, call, tool, name, wt__mcp_call_arguments(call),
                                    tool ? AUDIT_DENIED : AUDIT_UNKNOWN);
        wt__face_fail_missing(face, call, name, tool != NULL, &err);
        wt__mcp_fail_tool_error(call, &err);
    }
    wt__view_release(view);
}

static void run_view_tool(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    const struct tool_view *view = tool->handle;
    if (tool->number == LATE_TOOL) {
        run_late_tool(context, call);
        return;
    }
    call_view_tool(context, call, view->tools[tool->number]);
}

/* True if the gateway has no lock, or if the lock has the hash of these instructions of the server. */
static bool has_pinned_instructions(const struct gateway *gateway, const char *server, const char *words)
{
    char sha256[DEFINITION_DIGITS + 1];
    if (!gateway->lock_pins)
        return true;
    const struct pin *pin = wt__pins_instructions(gateway->lock_pins, wt__str(server));
    wt__bytes_hash(wt__str(words), sha256);
    return pin && strcmp(pin->sha256, sha256) == 0;
}

/* Appends the name and the approved instructions of each server that the policy allows. */
static void write_server_instructions(void *context, const char *principal, struct buffer *out)
{
    const struct face *face = context;
    const struct gateway *gateway = face->gateway;
    if (gateway->options.tenants) /* all callers get the same instructions */
        return;
    for (size_t i = 0; i < gateway->count; i++) {
        const char *name = wt__upstream_name(gateway->upstreams[i]);
        char *words = NULL;
        if (!wt__policy_allows_server(gateway->options.policy, principal, face->options.profile, name) ||
            wt_approved_instructions(gateway->engine, name, &words, NULL) < 0)
            continue;
        struct str shown = wt__str_head(wt__str(words), FACE_INSTRUCTIONS_BYTES);
        if (shown.len > 0 && has_pinned_instructions(gateway, name, words))
            wt__buffer_printf(out, "%sThe server %s says: %.*s", out->len > 0 ? "\n" : "", name, (int)shown.len,
                              shown.ptr);
        wt_string_free(words);
    }
}

const struct face_kind_row wt__face_direct = {.list = list_view_tools,
                                              .find = find_view_tool,
                                              .run = run_view_tool,
                                              .write_instructions = write_server_instructions};

/* Input schema of call_read, call_write and call_destructive. The schema is as short as possible, since it is part of
 * every prompt. */
#define NAME_AND_ARGUMENTS                                                                                             \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"arguments\":{\"type\":\"object\"}},"        \
    "\"required\":[\"name\"]}"

/* Tools of a search face, indexed like wt__face_tool_names. */
static const struct {
    const char *definition; /* title, description and annotations as JSON members; NULL for tools of the catalogue */
    const char *schema;     /* input schema as JSON; NULL for tools of the catalogue */
} tools[FACE_TOOLS] = {
    {NULL, NULL},
    {NULL, NULL},
    {"\"title\":\"Call a tool that reads\",\"description\":\"Calls a tool whose call_with is call_read: it changes "
     "nothing.\",\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":true}",
     NAME_AND_ARGUMENTS},
    {"\"title\":\"Call a tool that writes\",\"description\":\"Calls one whose call_with is call_write: it adds or "
     "changes "
     "something.\",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":false,\"openWorldHint\":true}",
     NAME_AND_ARGUMENTS},
    {"\"title\":\"Call a tool that may destroy\",\"description\":\"Calls one whose call_with is call_destructive: it "
     "may "
     "delete or overwrite something.\",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,"
     "\"openWorldHint\":true}",
     NAME_AND_ARGUMENTS},
    {"\"title\":\"Read on\",\"description\":\"The rest of a result that was cut.\",\"annotations\":{"
     "\"readOnlyHint\":true,\"openWorldHint\":false}",
     "{\"type\":\"object\",\"properties\":{\"handle\":{\"type\":\"string\"}},\"required\":[\"handle\"]}"},
};

/* ---------------------------------------------------------------- lists */

static void put_face_tool(struct face *face, size_t index, struct buffer *out)
{
    if (!tools[index].definition) {
        wt__catalogue_put_tool(face->catalogue, wt__face_tool_names[index], out);
        return;
    }
    wt__buffer_printf(out, "{\"name\":\"%s\",%s,\"inputSchema\":%s,\"_meta\":{\"anthropic/alwaysLoad\":true}}",
                      wt__face_tool_names[index], tools[index].definition, tools[index].schema);
}

static void list_search_face(void *context, struct mcp_call *call, struct str after)
{
    struct face *face = context;
    bool is_behind = after.len == 0;
    for (size_t i = 0; i < FACE_TOOLS; i++) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer tool = {0};
        struct str name = wt__str(wt__face_tool_names[i]);
        if (is_behind)
            put_face_tool(face, i, &tool);
        if (is_behind && (tool.failed || !wt__mcp_add_item(call, name, wt__buffer_view(&tool))))
            return;
        is_behind |= wt__str_equal(after, name);
    }
    if (!is_behind)
        wt__mcp_refuse_cursor(call);
}

/* Returns the number of tools allowed for the caller, or most + 1 if the number is greater than `most`. */
static size_t count_allowed(const struct face *face, const struct mcp_call *call, const struct tool_view *view,
                            size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count && count <= most; i++)
        count += wt__face_allows(face, call, view->tools[i]);
    return count;
}

/* Lists all tools allowed for the caller if they are few, else the tools of the search face. While the tools of a
 * server are unknown, lists the tools of the search face. A client that never lists again can then find the unknown
 * tools by a search. */
static void list_auto_face(void *context, struct mcp_call *call, struct str after)
{
    struct face *face = context;
    size_t most = face->options.max_direct ? face->options.max_direct : GATEWAY_DIRECT_MOST;
    bool settled = wt__gateway_wait_for_tools(face->gateway);
    struct tool_view *view = settled ? wt__gateway_view(face->gateway) : NULL;
    if (view && count_allowed(face, call, view, most) <= most)
        list_view(face, call, view, after);
    else
        list_search_face(face, call, after);
    wt__view_release(view);
}

/* ---------------------------------------------------------------- calls */

/* Finds a tool of the search face by its name; out->number is its index. Returns WT_ENOTFOUND, without setting *err,
 * for other names. */
static int find_face_tool(struct face *face, struct mcp_call *call, struct str name, struct mcp_tool *out,
                          wt_error *err)
{
    const struct mcp_features *features = wt__catalogue_features(face->catalogue);
    size_t i = 0;
    while (i < FACE_TOOLS && !wt__str_equal(name, wt__str(wt__face_tool_names[i])))
        i++;
    if (i == FACE_TOOLS)
        return WT_ENOTFOUND;
    bool calls = i >= FACE_FIRST_CALL && i < FACE_READ_MORE;
    if (tools[i].definition)
        *out = (struct mcp_tool){.input = face->inputs[i], .refuses_nul = !calls, .waits = calls};
    else
        WT_TRY(features->tools.find(features->context, call, name, out, err));
    out->repairs = wt__policy_repairs(face->gateway->options.policy, NULL);
    out->number = i;
    return 0;
}

static int find_on_search_face(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out,
                               wt_error *err)
{
    int rc = find_face_tool(context, call, name, out, err);
    if (rc != WT_ENOTFOUND)
        return rc;
    wt__face_audit_refused_call(context, call, NULL, name, wt__mcp_call_arguments(call), AUDIT_UNKNOWN);
    return wt__face_fail_missing(context, call, name, false, err);
}

static int find_on_auto_face(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err)
{
    int rc = find_face_tool(context, call, name, out, err);
    return rc == WT_ENOTFOUND ? wt__face_direct.find(context, call, name, out, err) : rc;
}

static void read_more_result(struct face *face, struct mcp_call *call)
{
    const struct result_reader reader = {wt__mcp_call_principal(call), wt__mcp_call_holder(call)};
    WT_CLEANUP(wt__buffer_dispose) struct buffer result = {0};
    wt_error err;
    if (wt__result_more(face->gateway, &reader, wt__json_str(wt__mcp_call_argument_tree(call), "handle"),
                        face->gateway->options.result_bytes, &result, &err) < 0)
        wt__mcp_fail_tool_error(call, &err);
    else
        wt__mcp_result(call, wt__buffer_view(&result));
}

static void run_on_search_face(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    struct face *face = context;
    if (tool->number < FACE_FIRST_CALL) {
        const struct mcp_features *features = wt__catalogue_features(face->catalogue);
        features->tools.run(features->context, call, tool);
    } else if (tool->number < FACE_READ_MORE) {
        wt__face_call_named(face, call, (enum effect)(tool->number - FACE_FIRST_CALL));
    } else {
        read_more_result(face, call);
    }
}

/* Only tools of the direct face have a handle. */
static void run_on_auto_face(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    (tool->handle ? wt__face_direct.run : run_on_search_face)(context, call, tool);
}

static void release_tool_view(void *context, const struct mcp_tool *tool)
{
    (void)context;
    wt__view_release(tool->handle);
}

/* ---------------------------------------------------------------- filter of searches */

struct callable_filter {
    const struct face *face;
    const struct mcp_call *call;
    struct tool_view *view; /* released with the filter */
    struct buffer name;     /* see filter_callable */
};

static int may_find_tool(void *context, const char *id)
{
    const struct callable_filter *filter = context;
    const struct view_tool *tool = wt__view_find_id(filter->view, id);
    return tool && wt__face_allows(filter->face, filter->call, tool);
}

/* Restricts a search to tools that the caller may call. The filter's name is part of the key of cached results. The
 * name consists of the catalogue generation, the policy revision, the profile, the caller and its tenant. Returns
 * false if the gateway has no tools or is out of memory. */
static bool filter_callable(void *context, struct mcp_call *call, wt_filter *out)
{
    const struct face *face = context;
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct callable_filter *filter_state = view && view->count > 0 ? calloc(1, sizeof *filter_state) : NULL;
    if (!filter_state) {
        wt__view_release(view);
        return false;
    }
    *filter_state = (struct callable_filter){.face = face, .call = call, .view = view};
    wt__buffer_printf(&filter_state->name, "%llu %s %s ", (unsigned long long)view->generation,
                      wt__policy_revision(face->gateway->options.policy),
                      face->options.profile ? face->options.profile : "/"); /* not a valid profile name */
    wt__buffer_printf(&filter_state->name, "%s %s", wt__mcp_call_principal(call), wt__mcp_call_tenant(call));
    out->condition = may_find_tool;
    out->condition_context = filter_state;
    out->condition_name = filter_state->name.failed ? NULL : filter_state->name.ptr;
    return true;
}

static void release_filter(void *context, const wt_filter *filter)
{
    struct callable_filter *filter_state = filter->condition_context;
    (void)context;
    wt__view_release(filter_state->view);
    wt__buffer_dispose(&filter_state->name);
    free(filter_state);
}

/* Appends the id of the tool with this name. Returns false if the tool is unknown or not allowed for the caller. */
static bool resolve_face_tool(void *context, struct mcp_call *call, struct str name, struct buffer *id)
{
    const struct face *face = context;
    struct tool_view *view = wt__gateway_view(face->gateway);
    const struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    bool allowed = tool && wt__face_allows(face, call, tool);
    if (allowed)
        wt__buffer_text(id, tool->id);
    wt__view_release(view);
    return allowed;
}

/* Appends the member "call_with", the name of the call tool for a found tool. */
static void put_call_tool(void *context, const wt_tool *tool, struct buffer *out)
{
    const struct face *face = context;
    struct tool_view *view = wt__gateway_view(face->gateway);
    const struct view_tool *found = view ? wt__view_find_id(view, tool->id) : NULL;
    if (found)
        wt__buffer_printf(out, "\"call_with\":\"%s\",", wt__face_call_tool_name(found->effect));
    wt__view_release(view);
}

static void record_search(void *context, struct mcp_call *call, struct str query, const wt_hits *hits)
{
    const struct face *face = context;
    const struct outcome_client client = {wt__mcp_call_principal(call), wt__mcp_call_tenant(call)};
    if (wt__gateway_records(face->gateway, client.tenant))
        wt__outcomes_record_search(face->gateway->outcomes, &client, query, hits);
}

/* ---------------------------------------------------------------- opening and closing */

static void write_search_instructions(void *context, const char *principal, struct buffer *out)
{
    const struct face *face = context;
    const struct mcp_features *features = wt__catalogue_features(face->catalogue);
    features->write_instructions(features->context, principal, out);
    wt__buffer_text(out,
                    " What was found is called by call_read, call_write or call_destructive, as its call_with says.");
}

static const struct face_kind_row searching = {list_search_face, find_on_search_face, run_on_search_face,
                                               write_search_instructions},
                                  automatic = {list_auto_face, find_on_auto_face, run_on_auto_face,
                                               write_search_instructions};

static const struct face_kind_row *const kinds[FACE_KIND_COUNT] = {
    [FACE_SEARCH] = &searching,
    [FACE_DIRECT] = &wt__face_direct,
    [FACE_AUTO] = &automatic,
};

/* Callback for errors of the service. */
static void tell_face_error(void *context, const wt_error *err)
{
    const struct gateway_options *options = &((const struct face *)context)->gateway->options;
    if (options->report)
        options->report(options->report_context, false, err->message);
}

static void fill_features(struct face *face)
{
    const struct face_kind_row *kind = kinds[face->options.kind];
    face->features = (struct mcp_features){
        .name = "whichtool",
        .version = WT_VERSION,
        .title = "whichtool: many MCP servers behind one",
        .write_instructions = kind->write_instructions,
        .ttl_ms = 60000,
        .private_lists = face->gateway->options.policy || face->gateway->options.tenants,
        .changes = true,
        .context = face,
        .store_path = face->gateway->engine->path,
        .failed = tell_face_error,
        .tools = {.list = kind->list, .find = kind->find, .run = kind->run, .drop = release_tool_view},
        .resources = {.list = wt__face_list_resources,
                      .templates = wt__face_list_templates,
                      .read = wt__face_read,
                      .waits = true,
                      .watched = true,
                      .watch = wt__face_watch},
        .prompts = {.list = wt__face_list_prompts, .get = wt__face_get_prompt, .waits = true},
        .completions = {.complete = wt__face_complete, .waits = true},
    };
}

static void put_server_summary(struct buffer *out, const struct gateway *gateway)
{
    WT_AUTO_FREE const char **names = wt__alloc_zeros(gateway->count + 1, sizeof *names);
    struct upstream_status status;
    size_t count = 0;
    out->failed |= !names;
    for (size_t i = 0; names && i < gateway->count; i++) {
        wt__upstream_status(gateway->upstreams[i], &status);
        if (status.state != UPSTREAM_DISABLED)
            names[count++] = wt__upstream_name(gateway->upstreams[i]);
    }
    if (names)
        wt__catalogue_summary(out, names, count, SUMMARY_BYTES_MAX);
}

/* Sets face->summary to the summary of the options. Without that summary, sets it to a description of the servers, or
 * to "" if there is a policy or tenants, since not every caller may know all servers. */
static int describe_servers(struct face *face, wt_error *err)
{
    struct buffer text = {0};
    if (face->options.summary)
        wt__buffer_text(&text, face->options.summary);
    else if (!face->gateway->options.policy && !face->gateway->options.tenants)
        put_server_summary(&text, face->gateway);
    face->summary = wt__buffer_take(&text);
    return face->summary ? 0 : wt__fail_nomem(err);
}

/* Opens the parts of a face. The caller closes the face on an error. */
static int fill_face(struct face *face, wt_error *err)
{
    WT_TRY(describe_servers(face, err));
    const struct catalogue_options search = {.rules = {.context = face,
                                                       .filter = filter_callable,
                                                       .done = release_filter,
                                                       .resolve = resolve_face_tool,
                                                       .describe = put_call_tool,
                                                       .lacking = wt__face_put_waiting,
                                                       .found = record_search},
                                             .summary = face->summary,
                                             .budget_bytes = face->options.budget_bytes,
                                             .tenants = face->gateway->options.tenants};
    WT_TRY(wt__catalogue_open(&face->catalogue, face->gateway->engine, &search, err));
    for (size_t i = 0; i < FACE_TOOLS; i++)
        if (tools[i].schema)
            WT_TRY(wt__mcp_input_open(&face->inputs[i], wt__str(tools[i].schema), err));
    fill_features(face);
    return 0;
}

int wt__face_open(struct face **out, struct gateway *gateway, const struct face_options *options, wt_error *err)
{
    struct face *face = calloc(1, sizeof *face);
    *out = NULL;
    WT_CHECK_ALLOC(face, err);
    face->gateway = gateway;
    face->options = *options;
    int rc = fill_face(face, err);
    if (rc < 0)
        wt__face_close(face);
    else
        *out = face;
    return rc;
}

const struct mcp_features *wt__face_features(const struct face *face)
{
    return &face->features;
}

void wt__face_close(struct face *face)
{
    if (!face)
        return;
    for (size_t i = 0; i < FACE_TOOLS; i++)
        wt__mcp_input_close(face->inputs[i]);
    wt__catalogue_close(face->catalogue);
    free(face->summary);
    free(face);
}
