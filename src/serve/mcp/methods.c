/* methods.c: the table of methods, and the functions that answer them with the service's features. */

#include "base/base64.h"
#include "base/memory.h"
#include "serve/mcp/internal.h"

/* ---------------------------------------------------------------- lists */

/* Decodes the cursor to the key of the last item of the previous page. Returns false, with an error set, if the cursor
 * is invalid. */
static bool read_cursor(struct mcp_call *call, struct buffer *after)
{
    const json_t *cursor = json_object_get(call->in.params, "cursor");
    struct str text = wt__json_str(call->in.params, "cursor");
    if (!cursor || json_is_null(cursor))
        return true;
    if (!json_is_string(cursor) || text.len > 2 * MCP_NAME_BYTES_MAX || !wt__base64_url_decode(after, text) ||
        after->len == 0 || after->failed) {
        wt__mcp_refuse_cursor(call);
        return false;
    }
    return true;
}

static bool add_items(struct mcp_call *call, void (*list)(void *context, struct mcp_call *call, struct str after))
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer after = {0};
    if (read_cursor(call, &after))
        list(call->service->features.context, call, wt__buffer_view(&after));
    return false;
}

static bool run_list(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    enum mcp_group group = call->method->group;
    return add_items(call, group == MCP_TOOLS     ? features->tools.list
                           : group == MCP_PROMPTS ? features->prompts.list
                                                  : features->resources.list);
}

static void list_no_templates(void *context, struct mcp_call *call, struct str after)
{
    (void)context;
    if (after.len > 0)
        wt__mcp_refuse_cursor(call);
}

static bool run_list_templates(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    return add_items(call, features->resources.templates ? features->resources.templates : list_no_templates);
}

/* ---------------------------------------------------------------- tools */

static void run_called_tool(struct mcp_call *call)
{
    call->service->features.tools.run(call->service->features.context, call, &call->tool);
}

static bool find_called_tool(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    wt_error err = {0};
    int rc = features->tools.find(features->context, call, call->name, &call->tool, &err);
    if (rc == WT_ENOTFOUND)
        wt__mcp_refuse_unknown(call);
    else if (rc < 0)
        wt__mcp_refuse_error(call, &err);
    call->has_tool = rc == 0;
    return rc == 0;
}

/* Validates the arguments. If they are invalid and the tool has `repairs`, tries to repair them. On success, the
 * repaired arguments replace them. Appends the violations to `words`. Returns 1 if the arguments are valid now, 0 if
 * not, or WT_ENOMEM. */
static int check_or_repair_input(struct mcp_call *call, struct buffer *words)
{
    const struct mcp_input *input = call->tool.input;
    json_t *sent = (json_t *)wt__mcp_call_argument_tree(call);
    json_auto_t *tree = sent ? json_incref(sent) : json_object();
    if (!tree)
        return WT_ENOMEM;
    int fits = wt__mcp_input_check(input, tree, words);
    if (fits != 0 || !call->tool.repairs)
        return fits;
    fits = wt__mcp_input_repair(input, call->arguments, &tree, true, &call->repaired);
    if (fits <= 0)
        return fits;
    call->arguments = wt__buffer_view(&call->repaired);
    call->repaired_tree = WT_TAKE(tree);
    return fits;
}

/* True if a string in the JSON contains NUL: "\u0000" with an unescaped backslash. */
static bool has_nul(struct str json)
{
    static const struct str nul = STR("\\u0000");
    for (size_t at = 0; at < json.len; at++) {
        if (json.ptr[at] != '\\')
            continue;
        if (wt__str_starts((struct str){json.ptr + at, json.len - at}, nul))
            return true;
        at++;
    }
    return false;
}

/* Validates the arguments. Violations become a tool error, so that the model can correct them. */
static bool check_tool_arguments(struct mcp_call *call)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    const struct mcp_input *input = call->tool.input;
    if (call->is_modern && call->headers && input &&
        !wt__mcp_mirrors_match(input, call->headers, wt__mcp_call_argument_tree(call), &words)) {
        wt__mcp_refuse_with(call, MCP_HEADER_MISMATCH, wt__buffer_view(&words), STR(""));
        return false;
    }
    bool is_checked = input && !call->tool.mirrors_only;
    if (is_checked && call->tool.refuses_nul && has_nul(call->arguments)) {
        wt__mcp_fail_tool(call, "leave out the character NUL (\\u0000): the arguments of this tool cannot contain it");
        return false;
    }
    int fits = is_checked ? check_or_repair_input(call, &words) : 1;
    if (fits < 0 || words.failed) {
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
    } else if (fits == 0) {
        wt__mcp_add_text(call, wt__buffer_view(&words));
        wt__mcp_set_is_error(call);
    }
    return fits > 0;
}

static bool prepare_tool(struct mcp_call *call)
{
    return find_called_tool(call) && check_tool_arguments(call);
}

/* ---------------------------------------------------------------- resources, prompts, completions */

static void read_named_resource(struct mcp_call *call)
{
    call->service->features.resources.read(call->service->features.context, call, call->name);
}

static void get_named_prompt(struct mcp_call *call)
{
    call->service->features.prompts.get(call->service->features.context, call, call->name);
}

static bool read_completion(const struct mcp_call *call, struct mcp_completion *out)
{
    const json_t *ref = wt__json_object(call->in.params, "ref"),
                 *argument = wt__json_object(call->in.params, "argument");
    struct str type = wt__json_str(ref, "type");
    out->of_prompt = wt__str_equal(type, STR("ref/prompt"));
    out->ref = wt__json_str(ref, out->of_prompt ? "name" : "uri");
    out->argument = wt__json_str(argument, "name");
    out->value = wt__json_str(argument, "value");
    out->arguments = wt__json_object(wt__json_object(call->in.params, "context"), "arguments");
    return (out->of_prompt || wt__str_equal(type, STR("ref/resource"))) && out->ref.len > 0 && out->argument.len > 0 &&
           json_is_string(json_object_get(argument, "value"));
}

static void complete_argument(struct mcp_call *call)
{
    struct mcp_completion what;
    if (read_completion(call, &what))
        call->service->features.completions.complete(call->service->features.context, call, &what);
    else
        wt__mcp_refuse(call, MCP_INVALID_PARAMS,
                       "completion/complete needs \"ref\" (ref/prompt with a name, ref/resource with a URI) and "
                       "\"argument\" with a name and a value");
}

/* Calls the feature's function, on another thread if it may wait. */
static bool run_feature(struct mcp_call *call)
{
    static void (*const works[])(struct mcp_call * call) = {[MCP_TOOLS] = run_called_tool,
                                                            [MCP_RESOURCES] = read_named_resource,
                                                            [MCP_PROMPTS] = get_named_prompt,
                                                            [MCP_COMPLETIONS] = complete_argument};
    const struct mcp_features *features = &call->service->features;
    const bool waits[] = {[MCP_TOOLS] = call->tool.waits,
                          [MCP_RESOURCES] = features->resources.waits,
                          [MCP_PROMPTS] = features->prompts.waits,
                          [MCP_COMPLETIONS] = features->completions.waits};
    enum mcp_group group = call->method->group;
    if (waits[group])
        return wt__mcp_call_start_thread(call, works[group]);
    works[group](call);
    return false;
}

static bool run_set_level(struct mcp_call *call)
{
    int level = wt__mcp_level(wt__json_str(call->in.params, "level"));
    if (level < 0) {
        wt__mcp_refuse(call, MCP_INVALID_PARAMS,
                       "\"level\" must be debug, info, notice, warning, error, critical, alert or emergency");
        return false;
    }
    pthread_mutex_lock(&call->peer->lock);
    call->peer->level = level;
    pthread_mutex_unlock(&call->peer->lock);
    return false;
}

static bool run_subscribe(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    wt_error why;
    if (features->resources.watch && !features->resources.watch(features->context, call, call->name, &why)) {
        wt__mcp_refuse_error(call, &why);
        return false;
    }
    int rc = wt__mcp_peer_watch(call->peer, call->name);
    if (rc < 0)
        wt__mcp_refuse(call, rc == WT_ETOOLONG ? MCP_INVALID_PARAMS : MCP_INTERNAL_ERROR,
                       rc == WT_ETOOLONG ? "too many subscriptions; the limit is %d resources" : "out of memory (%d)",
                       MCP_SUBSCRIPTIONS_MAX);
    return false;
}

static bool run_unsubscribe(struct mcp_call *call)
{
    wt__mcp_peer_unwatch(call->peer, call->name);
    return false;
}

/* ---------------------------------------------------------------- initialize and server/discover
 *
 * `initialize` opens a legacy session; `server/discover` gives a modern client the same information without a
 * session. */

static void write_capability(struct buffer *out, const char *name, bool offered, bool changes, bool watched)
{
    if (!offered)
        return;
    wt__buffer_printf(out, ",\"%s\":{%s%s%s}", name, changes ? "\"listChanged\":true" : "",
                      changes && watched ? "," : "", watched ? "\"subscribe\":true" : "");
}

static void write_capabilities(struct buffer *out, const struct mcp_features *features)
{
    wt__buffer_text(out, ",\"capabilities\":{\"logging\":{}");
    write_capability(out, "tools", features->tools.list, features->changes, false);
    write_capability(out, "resources", features->resources.list, features->changes, features->resources.watched);
    write_capability(out, "prompts", features->prompts.list, features->changes, false);
    write_capability(out, "completions", features->completions.complete, false, false);
    wt__buffer_char(out, '}');
}

static void write_mcp_instructions(struct buffer *out, const struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (features->write_instructions)
        features->write_instructions(features->context, call->peer->principal, &text);
    if (text.len > 0) {
        wt__mcp_put_text(out, ",\"instructions\":", wt__buffer_view(&text));
    }
    out->failed |= text.failed;
}

/* True if clientInfo and capabilities are small enough to keep in a session; up to MCP_SESSIONS_MAX sessions may
 * exist. */
static bool fits_session(const json_t *capabilities, const json_t *client)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {.max = MCP_CLIENT_BYTES_MAX};
    wt__json_write(&text, capabilities);
    wt__json_write(&text, client);
    return !text.failed;
}

/* Opens the peer with deep copies of the two objects, so that threads do not share reference counts. resumes: true if
 * the peer can resume streams. Returns 0, WT_EBUSY (already open) or WT_ENOMEM. */
static int open_peer(struct mcp_peer *peer, const json_t *capabilities, const json_t *client, bool resumes)
{
    json_t *own_capabilities = json_deep_copy(capabilities), *own_client = json_deep_copy(client);
    pthread_mutex_lock(&peer->lock);
    int rc = peer->is_open ? WT_EBUSY : own_capabilities && own_client ? 0 : WT_ENOMEM;
    if (rc == 0) {
        peer->is_open = true;
        peer->can_resume = resumes;
        peer->capabilities = own_capabilities;
        peer->client = own_client;
    }
    pthread_mutex_unlock(&peer->lock);
    if (rc < 0) {
        json_decref(own_capabilities);
        json_decref(own_client);
    }
    return rc;
}

static bool run_initialize(struct mcp_call *call)
{
    struct str wanted = wt__json_str(call->in.params, "protocolVersion");
    const json_t *capabilities = wt__json_object(call->in.params, "capabilities");
    const json_t *client = wt__json_object(call->in.params, "clientInfo");
    if (wanted.len == 0 || !capabilities || !client || !fits_session(capabilities, client)) {
        wt__mcp_refuse(call, MCP_INVALID_PARAMS,
                       "initialize needs protocolVersion, capabilities and clientInfo; the last two may have at most "
                       "%d bytes together",
                       MCP_CLIENT_BYTES_MAX);
        return false;
    }
    struct str version = wt__mcp_is_legacy_version(wanted) ? wanted : STR(MCP_LEGACY_VERSION);
    int rc = open_peer(call->peer, capabilities, client, wt__str_equal(version, STR(MCP_LEGACY_VERSION)));
    if (rc < 0) {
        wt__mcp_refuse(call, rc == WT_ENOMEM ? MCP_INTERNAL_ERROR : MCP_INVALID_REQUEST,
                       rc == WT_ENOMEM ? "out of memory" : "the session is already initialized");
        return false;
    }
    wt__buffer_printf(&call->result, ",\"protocolVersion\":\"%.*s\"", (int)version.len, version.ptr);
    write_capabilities(&call->result, &call->service->features);
    write_mcp_instructions(&call->result, call);
    wt__buffer_text(&call->result, ",\"serverInfo\":");
    wt__mcp_write_server_info(&call->result, &call->service->features, true);
    return false;
}

static bool run_discover(struct mcp_call *call)
{
    const struct mcp_features *features = &call->service->features;
    wt__buffer_text(&call->result, ",\"supportedVersions\":");
    wt__mcp_write_versions(&call->result);
    write_capabilities(&call->result, features);
    write_mcp_instructions(&call->result, call);
    wt__buffer_printf(&call->result, ",\"ttlMs\":%u,\"cacheScope\":\"%s\"", features->ttl_ms,
                      features->private_lists ? "private" : "public");
    return false;
}

bool wt__mcp_is_offered(const struct mcp_features *features, enum mcp_group group)
{
    bool watches = features->resources.list && features->resources.watched;
    const bool offered[] = {[MCP_CORE] = true,
                            [MCP_TOOLS] = features->tools.list,
                            [MCP_RESOURCES] = features->resources.list,
                            [MCP_SUBSCRIPTIONS] = watches,
                            [MCP_PROMPTS] = features->prompts.list,
                            [MCP_COMPLETIONS] = features->completions.complete,
                            [MCP_NOTICES] = features->changes || watches};
    return offered[group];
}

#define LEGACY_METHOD(name, group, name_member, run)                                                                   \
    {                                                                                                                  \
        name, NULL, name_member, run, NULL, MCP_LEGACY_ERA, MCP_SHAPE_EMPTY, group, false, true                        \
    }
#define LIST_METHOD(name, group, member, run)                                                                          \
    {                                                                                                                  \
        name, member, NULL, run, NULL, MCP_BOTH_ERAS, MCP_SHAPE_LIST, group, false, false                              \
    }
#define NAMED_METHOD(name, shape, group, name_member, prepare)                                                         \
    {                                                                                                                  \
        name, NULL, name_member, run_feature, prepare, MCP_BOTH_ERAS, shape, group, true, false                        \
    }

static const struct mcp_method methods[] = {
    {"initialize", NULL, NULL, run_initialize, NULL, MCP_LEGACY_ERA, MCP_SHAPE_RAW, MCP_CORE, false, true},
    LEGACY_METHOD("ping", MCP_CORE, NULL, NULL),
    LEGACY_METHOD("logging/setLevel", MCP_CORE, NULL, run_set_level),
    {"server/discover", NULL, NULL, run_discover, NULL, MCP_MODERN_ERA, MCP_SHAPE_RAW, MCP_CORE, false, true},
    {"subscriptions/listen", NULL, NULL, wt__mcp_run_listen, NULL, MCP_MODERN_ERA, MCP_SHAPE_EMPTY, MCP_NOTICES, false,
     true},
    LIST_METHOD("tools/list", MCP_TOOLS, "tools", run_list),
    NAMED_METHOD("tools/call", MCP_SHAPE_TOOL, MCP_TOOLS, "name", prepare_tool),
    LIST_METHOD("resources/list", MCP_RESOURCES, "resources", run_list),
    LIST_METHOD("resources/templates/list", MCP_RESOURCES, "resourceTemplates", run_list_templates),
    NAMED_METHOD("resources/read", MCP_SHAPE_CONTENTS, MCP_RESOURCES, "uri", NULL),
    LEGACY_METHOD("resources/subscribe", MCP_SUBSCRIPTIONS, "uri", run_subscribe),
    LEGACY_METHOD("resources/unsubscribe", MCP_SUBSCRIPTIONS, "uri", run_unsubscribe),
    LIST_METHOD("prompts/list", MCP_PROMPTS, "prompts", run_list),
    NAMED_METHOD("prompts/get", MCP_SHAPE_EMPTY, MCP_PROMPTS, "name", NULL),
    {"completion/complete", NULL, NULL, run_feature, NULL, MCP_BOTH_ERAS, MCP_SHAPE_COMPLETION, MCP_COMPLETIONS, false,
     false},
};

const struct mcp_method *wt__mcp_find_method(struct str name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (wt__str_equal(name, wt__str(methods[i].name)))
            return &methods[i];
    return NULL;
}
