/* face.c: see face.h. */
#include "gateway/face_inside.h"

#include <stdlib.h>

#include "whichtool/review.h"

/* Schemas stand in every prompt, so they say no more than a model needs. */
#define NAME_AND_ARGUMENTS                                                                                             \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"arguments\":{\"type\":\"object\"}},"        \
    "\"required\":[\"name\"]}"

/* The tools of a search face, in the order of their names. */
static const struct {
    const char *definition; /* NULL: it is the catalogue's */
    const char *schema;
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

static void put_tool(struct face *face, size_t index, struct buffer *out)
{
    if (!tools[index].definition) {
        wt__catalogue_put_tool(face->catalogue, wt__face_names[index], out);
        return;
    }
    wt__buffer_printf(out, "{\"name\":\"%s\",%s,\"inputSchema\":%s,\"_meta\":{\"anthropic/alwaysLoad\":true}}",
                      wt__face_names[index], tools[index].definition, tools[index].schema);
}

static void list_search(struct face *face, struct mcp_call *call, struct str after)
{
    bool is_behind = after.len == 0;
    for (size_t i = 0; i < FACE_TOOLS; i++) {
        struct buffer tool = {0};
        bool taken = true;
        if (is_behind) {
            put_tool(face, i, &tool);
            taken = !tool.failed && wt__mcp_add_item(call, wt__str(wt__face_names[i]), wt__buffer_view(&tool));
        }
        wt__buffer_dispose(&tool);
        if (!taken)
            return;
        is_behind |= wt__str_equal(after, wt__str(wt__face_names[i]));
    }
    if (!is_behind)
        wt__mcp_refuse_cursor(call);
}

/* A page goes on behind a name, whether that is still there or not. */
static void list_direct(const struct face *face, struct mcp_call *call, const struct tool_view *view, struct str after)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct view_tool *tool = view->tools[i];
        size_t len = strlen(tool->shown), common = len < after.len ? len : after.len;
        int order = common > 0 ? memcmp(tool->shown, after.ptr, common) : 0;
        bool is_behind = order > 0 || (order == 0 && len > after.len);
        if (is_behind && wt__face_allows(face, call, tool) &&
            !wt__mcp_add_item(call, wt__str(tool->shown), tool->definition))
            return;
    }
}

static size_t count_allowed(const struct face *face, const struct mcp_call *call, const struct tool_view *view,
                            size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count && count <= most; i++)
        count += wt__face_allows(face, call, view->tools[i]);
    return count;
}

static bool is_direct(const struct face *face, const struct mcp_call *call, const struct tool_view *view)
{
    size_t most = face->options.direct_most ? face->options.direct_most : GATEWAY_DIRECT_MOST;
    return face->options.kind == FACE_DIRECT ||
           (face->options.kind == FACE_AUTO && count_allowed(face, call, view, most) <= most);
}

static void list_tools(void *context, struct mcp_call *call, struct str after)
{
    struct face *face = context;
    if (face->options.kind != FACE_SEARCH)
        wt__gateway_settle(face->gateway);
    struct tool_view *view = wt__gateway_view(face->gateway);
    if (!view)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the catalogue cannot be read");
    else if (is_direct(face, call, view))
        list_direct(face, call, view, after);
    else
        list_search(face, call, after);
    wt__view_release(view);
}

/* ---------------------------------------------------------------- calls */

/* handle: the view that holds the tool, and its number; NULL for the tools of the search. Arguments are checked as the
 * call is made, so that the audit has a line of those that do not fit, but where headers must repeat them rightly. */
static int find_tool(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err)
{
    struct face *face = context;
    for (size_t i = 0; face->options.kind != FACE_DIRECT && i < FACE_TOOLS; i++) {
        if (!wt__str_equal(name, wt__str(wt__face_names[i])))
            continue;
        const struct mcp_features *features = wt__catalogue_features(face->catalogue);
        int rc = tools[i].definition ? 0 : features->tools.find(features->context, call, name, out, err);
        if (rc == 0 && tools[i].definition)
            *out = (struct mcp_tool){.input = face->inputs[i], .waits = i >= FACE_FIRST_CALL && i < FACE_READ_MORE};
        out->number = i;
        return rc;
    }
    struct tool_view *view = face->options.kind == FACE_SEARCH ? NULL : wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    if (tool && wt__face_allows(face, call, tool)) {
        *out = (struct mcp_tool){.input = tool->repeats ? wt__view_input(tool, NULL) : NULL,
                                 .waits = true,
                                 .handle = view,
                                 .number = tool->number};
        return 0;
    }
    wt__face_refused(face, call, tool, name, wt__mcp_call_arguments(call), tool ? AUDIT_DENIED : AUDIT_UNKNOWN);
    wt__view_release(view);
    return wt__fail(err, WT_ENOTFOUND, "there is no tool of that name here");
}

static void read_more(struct face *face, struct mcp_call *call)
{
    struct buffer result = {0};
    wt_error err;
    if (wt__result_more(face->gateway, wt__mcp_call_principal(call),
                        wt__json_str(wt__mcp_call_argument_tree(call), "handle"), face->gateway->options.result_bytes,
                        &result, &err) < 0)
        wt__mcp_fail_tool(call, "%s", err.message);
    else
        wt__mcp_result(call, wt__buffer_view(&result));
    wt__buffer_dispose(&result);
}

static void run_tool(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    struct face *face = context;
    const struct tool_view *view = tool->handle;
    if (view) {
        wt__face_call(face, call, view->tools[tool->number], wt__mcp_call_arguments(call), false);
    } else if (tool->number < FACE_FIRST_CALL) {
        const struct mcp_features *features = wt__catalogue_features(face->catalogue);
        features->tools.run(features->context, call, tool);
    } else if (tool->number < FACE_READ_MORE) {
        wt__face_call_named(face, call, (enum effect)(tool->number - FACE_FIRST_CALL));
    } else {
        read_more(face, call);
    }
}

static void drop_tool(void *context, const struct mcp_tool *tool)
{
    (void)context;
    wt__view_release(tool->handle);
}

/* ---------------------------------------------------------------- what a search may find */

struct asking {
    const struct face *face;
    const struct mcp_call *call;
    struct tool_view *view;
    struct buffer name;
};

static int may_find(void *context, const char *id)
{
    const struct asking *asking = context;
    const struct view_tool *tool = wt__view_of_id(asking->view, id);
    return tool && wt__face_allows(asking->face, asking->call, tool);
}

/* Only what can be called, by whom it can be. The name says what the answer hangs on: what there is to call, by which
 * policy, by which profile, and who asks. */
static bool filter(void *context, struct mcp_call *call, wt_filter *out)
{
    const struct face *face = context;
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct asking *asking = view && view->count > 0 ? calloc(1, sizeof *asking) : NULL;
    if (!asking) {
        wt__view_release(view);
        return false;
    }
    *asking = (struct asking){.face = face, .call = call, .view = view};
    wt__buffer_printf(&asking->name, "%llu %s %s ", (unsigned long long)view->generation,
                      wt__policy_revision(face->gateway->options.policy),
                      face->options.profile ? face->options.profile : "/"); /* which is no profile's name */
    wt__buffer_text(&asking->name, wt__mcp_call_principal(call));
    out->condition = may_find;
    out->condition_context = asking;
    out->condition_name = asking->name.failed ? NULL : asking->name.ptr;
    return true;
}

static void done(void *context, const wt_filter *filter)
{
    struct asking *asking = filter->condition_context;
    (void)context;
    wt__view_release(asking->view);
    wt__buffer_dispose(&asking->name);
    free(asking);
}

static bool resolve(void *context, struct mcp_call *call, struct str name, struct buffer *id)
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

static void describe(void *context, const wt_tool *tool, struct buffer *out)
{
    const struct face *face = context;
    struct tool_view *view = wt__gateway_view(face->gateway);
    const struct view_tool *found = view ? wt__view_of_id(view, tool->id) : NULL;
    if (found)
        wt__buffer_printf(out, "\"call_with\":\"%s\",", wt__face_call_name(found->effect));
    wt__view_release(view);
}

static void found(void *context, struct mcp_call *call, struct str query, const wt_hits *hits)
{
    const struct face *face = context;
    wt__outcomes_found(face->gateway->outcomes, wt__mcp_call_principal(call), query, hits);
}

/* ---------------------------------------------------------------- opening and closing */

/* What servers say of themselves, where all their tools are shown: as it was approved, and marked as theirs. */
static void write_servers_words(const struct face *face, const char *principal, struct buffer *out)
{
    const struct gateway *gateway = face->gateway;
    for (size_t i = 0; i < gateway->count; i++) {
        const char *name = wt__upstream_name(gateway->upstreams[i]);
        char *words = NULL;
        if (!wt__policy_allows_server(gateway->options.policy, principal, face->options.profile, name) ||
            wt_approved_instructions(gateway->engine, name, &words, NULL) < 0)
            continue;
        struct str shown = wt__str_head(wt__str(words), FACE_INSTRUCTIONS_BYTES);
        if (shown.len > 0)
            wt__buffer_printf(out, "%sThe server %s says: %.*s", out->len > 0 ? "\n" : "", name, (int)shown.len,
                              shown.ptr);
        wt_string_free(words);
    }
}

static void write_instructions(void *context, const char *principal, struct buffer *out)
{
    const struct face *face = context;
    const struct mcp_features *features = wt__catalogue_features(face->catalogue);
    if (face->options.kind == FACE_DIRECT) {
        write_servers_words(face, principal, out);
        return;
    }
    features->write_instructions(features->context, principal, out);
    wt__buffer_text(out,
                    " What was found is called by call_read, call_write or call_destructive, as its call_with says.");
}

static void fill_features(struct face *face)
{
    struct mcp_features *features = &face->features;
    features->name = "whichtool";
    features->version = WT_VERSION;
    features->title = "whichtool: many MCP servers behind one";
    features->write_instructions = write_instructions;
    features->ttl_ms = 60000;
    features->private_lists = face->gateway->options.policy != NULL;
    features->changes = true;
    features->context = face;
    features->tools.list = list_tools;
    features->tools.find = find_tool;
    features->tools.run = run_tool;
    features->tools.drop = drop_tool;
    features->resources.list = wt__face_list_resources;
    features->resources.templates = wt__face_list_templates;
    features->resources.read = wt__face_read;
    features->resources.waits = true;
    features->resources.watched = true;
    features->resources.watch = wt__face_watch;
    features->prompts.list = wt__face_list_prompts;
    features->prompts.get = wt__face_get_prompt;
    features->prompts.waits = true;
    features->completions.complete = wt__face_complete;
    features->completions.waits = true;
}

int wt__face_open(struct face **out, struct gateway *gateway, const struct face_options *options, wt_error *err)
{
    struct face *face = calloc(1, sizeof *face);
    *out = NULL;
    if (!face)
        return wt__fail_nomem(err);
    face->gateway = gateway;
    face->options = *options;
    const struct catalogue_options search = {
        .rules =
            {.context = face, .filter = filter, .done = done, .resolve = resolve, .describe = describe, .found = found},
        /* Who the servers are is not for everybody where a policy decides. */
        .summary = options->summary          ? options->summary
                   : gateway->options.policy ? ""
                                             : NULL,
        .budget_bytes = options->budget_bytes};
    int rc = wt__catalogue_open(&face->catalogue, gateway->engine, &search, err);
    for (size_t i = 0; rc == 0 && i < FACE_TOOLS; i++)
        if (tools[i].schema)
            rc = wt__mcp_input_open(&face->inputs[i], wt__str(tools[i].schema), err);
    if (rc < 0) {
        wt__face_close(face);
        return rc;
    }
    fill_features(face);
    *out = face;
    return 0;
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
    free(face);
}
