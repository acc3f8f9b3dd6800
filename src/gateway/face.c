/* face.c: see face.h. */
#include "gateway/face_inside.h"

#include <stdlib.h>

#include "engine/engine.h"
#include "serve/catalogue.h"

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

static void list_search(void *context, struct mcp_call *call, struct str after)
{
    struct face *face = context;
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

static size_t count_allowed(const struct face *face, const struct mcp_call *call, const struct tool_view *view,
                            size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count && count <= most; i++)
        count += wt__face_allows(face, call, view->tools[i]);
    return count;
}

/* What is counted is what is listed. While nothing is known of a server, what there is need not be few: who is shown it
 * all now, and never asks again, could not find the rest. */
static void list_auto(void *context, struct mcp_call *call, struct str after)
{
    struct face *face = context;
    size_t most = face->options.direct_most ? face->options.direct_most : GATEWAY_DIRECT_MOST;
    bool settled = wt__gateway_settle(face->gateway);
    struct tool_view *view = settled ? wt__gateway_view(face->gateway) : NULL;
    if (view && count_allowed(face, call, view, most) <= most)
        wt__face_list_view(face, call, view, after);
    else
        list_search(face, call, after);
    wt__view_release(view);
}

/* ---------------------------------------------------------------- calls */

/* Of the search's own; number: which. WT_ENOTFOUND without a word: it is none of them. */
static int find_own(struct face *face, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err)
{
    for (size_t i = 0; i < FACE_TOOLS; i++) {
        if (!wt__str_equal(name, wt__str(wt__face_names[i])))
            continue;
        const struct mcp_features *features = wt__catalogue_features(face->catalogue);
        bool calls = i >= FACE_FIRST_CALL && i < FACE_READ_MORE;
        int rc = tools[i].definition ? 0 : features->tools.find(features->context, call, name, out, err);
        if (rc == 0 && tools[i].definition)
            *out = (struct mcp_tool){.input = face->inputs[i], .refuses_nul = !calls, .waits = calls};
        out->repairs = wt__policy_repairs(face->gateway->options.policy, NULL);
        out->number = i;
        return rc;
    }
    return WT_ENOTFOUND;
}

static int find_search(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err)
{
    int rc = find_own(context, call, name, out, err);
    if (rc != WT_ENOTFOUND)
        return rc;
    wt__face_refused(context, call, NULL, name, wt__mcp_call_arguments(call), AUDIT_UNKNOWN);
    return wt__face_absent(context, call, name, false, err);
}

static int find_auto(void *context, struct mcp_call *call, struct str name, struct mcp_tool *out, wt_error *err)
{
    int rc = find_own(context, call, name, out, err);
    return rc == WT_ENOTFOUND ? wt__face_direct.find(context, call, name, out, err) : rc;
}

static void read_more(struct face *face, struct mcp_call *call)
{
    const struct result_reader reader = {wt__mcp_call_principal(call), wt__mcp_call_holder(call)};
    struct buffer result = {0};
    wt_error err;
    if (wt__result_more(face->gateway, &reader, wt__json_str(wt__mcp_call_argument_tree(call), "handle"),
                        face->gateway->options.result_bytes, &result, &err) < 0)
        wt__mcp_fail_tool_error(call, &err);
    else
        wt__mcp_result(call, wt__buffer_view(&result));
    wt__buffer_dispose(&result);
}

static void run_search(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    struct face *face = context;
    if (tool->number < FACE_FIRST_CALL) {
        const struct mcp_features *features = wt__catalogue_features(face->catalogue);
        features->tools.run(features->context, call, tool);
    } else if (tool->number < FACE_READ_MORE) {
        wt__face_call_named(face, call, (enum effect)(tool->number - FACE_FIRST_CALL));
    } else {
        read_more(face, call);
    }
}

static void run_auto(void *context, struct mcp_call *call, const struct mcp_tool *tool)
{
    (tool->handle ? wt__face_direct.run : run_search)(context, call, tool);
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

static void write_search_instructions(void *context, const char *principal, struct buffer *out)
{
    const struct face *face = context;
    const struct mcp_features *features = wt__catalogue_features(face->catalogue);
    features->write_instructions(features->context, principal, out);
    wt__buffer_text(out,
                    " What was found is called by call_read, call_write or call_destructive, as its call_with says.");
}

static const struct face_kind_row searching = {list_search, find_search, run_search, write_search_instructions},
                                  automatic = {list_auto, find_auto, run_auto, write_search_instructions};

static const struct face_kind_row *const kinds[FACE_KIND_COUNT] = {
    [FACE_SEARCH] = &searching,
    [FACE_DIRECT] = &wt__face_direct,
    [FACE_AUTO] = &automatic,
};

static void tell_face_error(void *context, const wt_error *err)
{
    const struct gateway_options *options = &((const struct face *)context)->gateway->options;
    if (options->told)
        options->told(options->told_context, false, err->message);
}

static void fill_features(struct face *face)
{
    struct mcp_features *features = &face->features;
    const struct face_kind_row *kind = kinds[face->options.kind];
    features->name = "whichtool";
    features->version = WT_VERSION;
    features->title = "whichtool: many MCP servers behind one";
    features->write_instructions = kind->write_instructions;
    features->ttl_ms = 60000;
    features->private_lists = face->gateway->options.policy != NULL;
    features->changes = true;
    features->context = face;
    features->store_path = face->gateway->engine->path;
    features->failed = tell_face_error;
    features->tools.list = kind->list;
    features->tools.find = kind->find;
    features->tools.run = kind->run;
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

static void put_servers(struct buffer *out, const struct gateway *gateway)
{
    const char **names = calloc(gateway->count + 1, sizeof *names);
    struct upstream_status status;
    size_t count = 0;
    for (size_t i = 0; names && i < gateway->count; i++) {
        wt__upstream_status(gateway->upstreams[i], &status);
        if (status.state != UPSTREAM_DISABLED)
            names[count++] = wt__upstream_name(gateway->upstreams[i]);
    }
    if (names)
        wt__catalogue_summary(out, names, count, SUMMARY_BYTES_MAX);
    out->failed |= !names;
    free(names);
}

/* What is behind it: its servers, and no other providers of the store. Who they are is not for everybody where a policy
 * decides. */
static int name_servers(struct face *face, wt_error *err)
{
    struct buffer text = {0};
    if (face->options.summary)
        wt__buffer_text(&text, face->options.summary);
    else if (!face->gateway->options.policy)
        put_servers(&text, face->gateway);
    face->summary = wt__buffer_take(&text);
    return face->summary ? 0 : wt__fail_nomem(err);
}

int wt__face_open(struct face **out, struct gateway *gateway, const struct face_options *options, wt_error *err)
{
    struct face *face = calloc(1, sizeof *face);
    *out = NULL;
    if (!face)
        return wt__fail_nomem(err);
    face->gateway = gateway;
    face->options = *options;
    int rc = name_servers(face, err);
    const struct catalogue_options search = {.rules = {.context = face,
                                                       .filter = filter,
                                                       .done = done,
                                                       .resolve = resolve,
                                                       .describe = describe,
                                                       .lacking = wt__face_lacking,
                                                       .found = found},
                                             .summary = face->summary,
                                             .budget_bytes = options->budget_bytes};
    if (rc == 0)
        rc = wt__catalogue_open(&face->catalogue, gateway->engine, &search, err);
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
    free(face->summary);
    free(face);
}
