/* call.c: a call on its way to a server: may it be, do its arguments fit, what came of it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gateway/face_inside.h"

/* ---------------------------------------------------------------- who may */

bool wt__face_allows(const struct face *face, const struct mcp_call *call, const struct view_tool *tool)
{
    const struct policy_question question = {.principal = wt__mcp_call_principal(call),
                                             .profile = face->options.profile,
                                             .server = wt__upstream_name(tool->upstream),
                                             .tool = tool->name,
                                             .own_name = tool->own_name,
                                             .effect = tool->effect};
    /* A tool that was left out since is still in the catalogue until its server has listed. */
    return wt__upstream_offers(tool->upstream, tool->name) &&
           wt__policy_allows(face->gateway->options.policy, &question);
}

bool wt__face_allows_server(const struct face *face, const struct mcp_call *call, const struct upstream *upstream)
{
    return wt__policy_allows_server(face->gateway->options.policy, wt__mcp_call_principal(call), face->options.profile,
                                    wt__upstream_name(upstream));
}

/* ---------------------------------------------------------------- the call */

/* Arguments on their way to a server. */
struct outgoing {
    struct str arguments;                        /* as they are sent on */
    struct str repaired_from;                    /* as the client wrote them, if they were repaired; else "" */
    struct http_header headers[MCP_MIRRORS_MAX]; /* that repeat arguments */
    size_t header_count;
    bool cuts_result;
    const char *unchecked;      /* why the arguments were not fully checked; NULL if they were */
    const char *unchecked_part; /* "part" or "all" of the schema; NULL if they were */
};

/* A result says who it is of, for the client's people: the tool's name is its server's to choose. */
static void put_origin(struct mcp_call *call, const struct view_tool *tool, const char *unchecked)
{
    struct buffer meta = {0};
    wt__buffer_text(&meta, "{\"whichtool/server\":");
    wt__buffer_json(&meta, wt__str(wt__upstream_name(tool->upstream)));
    wt__buffer_text(&meta, ",\"whichtool/tool\":");
    wt__buffer_json(&meta, wt__str(tool->own_name));
    if (unchecked) {
        wt__buffer_text(&meta, ",\"whichtool/unchecked\":");
        wt__buffer_json(&meta, wt__str(unchecked));
    }
    wt__buffer_char(&meta, '}');
    if (!meta.failed)
        wt__mcp_set_meta(call, wt__buffer_view(&meta));
    wt__buffer_dispose(&meta);
}

static void give_result(struct face *face, struct mcp_call *call, const struct view_tool *tool,
                        const struct outgoing *outgoing, struct str result)
{
    struct gateway *gateway = face->gateway;
    const struct result_reader reader = {wt__mcp_call_principal(call), wt__mcp_call_holder(call)};
    struct buffer short_one = {0};
    wt_error err;
    if (!outgoing->cuts_result)
        wt__mcp_result(call, result);
    else if (wt__result_cut(gateway, &reader, result, gateway->options.result_bytes, &short_one, &err) < 0)
        wt__mcp_refuse_error(call, &err);
    else
        wt__mcp_result(call, wt__buffer_view(&short_one));
    wt__buffer_dispose(&short_one);
    put_origin(call, tool, outgoing->unchecked);
}

static void relay_call(struct face *face, struct mcp_call *call, struct view_tool *tool,
                       const struct outgoing *outgoing)
{
    const struct relay what = {.method = "tools/call",
                               .name_key = "name",
                               .name = wt__str(tool->own_name),
                               .arguments = outgoing->arguments,
                               .headers = outgoing->headers,
                               .header_count = outgoing->header_count,
                               .is_safe = tool->effect == EFFECT_READ};
    const struct face_asked asked = {.method = what.method,
                                     .name = wt__str(tool->shown),
                                     .tool = tool,
                                     .upstream = tool->upstream,
                                     .arguments = outgoing->arguments,
                                     .repaired_from = outgoing->repaired_from,
                                     .unchecked = outgoing->unchecked_part};
    struct buffer result = {0};
    wt_error err;
    enum relayed out = wt__face_relay(face, call, &asked, &what, &result, &err);
    struct str given = wt__buffer_view(&result);
    if (out == RELAY_ANSWERED)
        give_result(face, call, tool, outgoing, given);
    else if (out == RELAY_FAILED)
        wt__mcp_fail_tool_error(call, &err);
    if (out == RELAY_ANSWERED || out == RELAY_REFUSED)
        wt__outcomes_called(face->gateway->outcomes, wt__mcp_call_principal(call), tool->id,
                            out == RELAY_ANSWERED && !wt__result_is_error(given));
    wt__buffer_dispose(&result);
}

/* Checks the arguments, and repairs them where the policy allows it. repaired: owns the text of repaired ones. Returns 1
 * if they fit now; 0, with words for a model; or WT_ENOMEM. */
static int fit_arguments(const struct face *face, const struct view_tool *tool, const struct mcp_input *input,
                         struct outgoing *outgoing, struct buffer *repaired, struct buffer *words)
{
    int fits = wt__mcp_input_check(input, outgoing->arguments, words);
    if (words->failed)
        return WT_ENOMEM;
    if (fits != 0 || !wt__policy_repairs(face->gateway->options.policy, wt__upstream_name(tool->upstream)))
        return fits;
    fits = wt__mcp_input_repair(input, outgoing->arguments, false, repaired);
    if (fits <= 0)
        return fits;
    if (outgoing->repaired_from.len == 0)
        outgoing->repaired_from = outgoing->arguments;
    outgoing->arguments = wt__buffer_view(repaired);
    return fits;
}

void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool, struct str arguments,
                   struct str written, bool cut)
{
    struct buffer words = {0}, repaired = {0};
    struct outgoing outgoing = {
        .arguments = arguments.len > 0 ? arguments : STR("{}"), .repaired_from = written, .cuts_result = cut};
    static const char *const unchecked_parts[] = {[MCP_CHECKS_PART] = "part", [MCP_CHECKS_NOTHING] = "all"};
    struct arena arena = {0};
    wt_error err;
    const struct mcp_input *input = wt__view_input(tool, &err);
    if (input) {
        outgoing.unchecked = wt__mcp_input_unchecked(input);
        outgoing.unchecked_part = unchecked_parts[wt__mcp_input_checks(input)];
    }
    int fits = input ? fit_arguments(face, tool, input, &outgoing, &repaired, &words) : 0;
    int repeated =
        fits > 0 ? wt__mcp_input_write_headers(input, outgoing.arguments, &arena, outgoing.headers, &err) : 0;
    if (!input)
        wt__mcp_fail_tool_error(call, &err);
    else if (fits < 0 || repeated < 0)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "memory is out");
    else if (fits == 0)
        wt__mcp_fail_tool(call, "%.*s", (int)words.len, words.ptr);
    if (fits > 0 && repeated >= 0) {
        outgoing.header_count = (size_t)repeated;
        relay_call(face, call, tool, &outgoing);
    } else {
        wt__face_refused(face, call, tool, wt__str(tool->shown), outgoing.arguments, AUDIT_INVALID);
    }
    wt__arena_dispose(&arena);
    wt__buffer_dispose(&repaired);
    wt__buffer_dispose(&words);
}

/* The first member of a call tool's arguments that is neither the tool's name nor its arguments; NULL for none. */
static const char *find_stray(const json_t *tree)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)tree, key, value)
    {
        if (strcmp(key, "name") != 0 && strcmp(key, "arguments") != 0)
            return key;
    }
    return NULL;
}

/* True if the tool's arguments seem to stand beside its name; the model is then told where they belong. */
static bool refuse_stray(struct mcp_call *call, const struct view_tool *tool, const json_t *tree)
{
    const char *stray = json_object_size(wt__json_object(tree, "arguments")) == 0 ? find_stray(tree) : NULL;
    if (!stray)
        return false;
    wt__mcp_fail_tool(call,
                      "\"%.80s\" stands beside \"name\"; put the arguments of %s into \"arguments\": "
                      "{\"name\": \"%s\", \"arguments\": {\"%.80s\": ...}}",
                      stray, tool->shown, tool->shown, stray);
    return true;
}

/* ---------------------------------------------------------------- by name, in a search face */

void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect)
{
    const json_t *tree = wt__mcp_call_argument_tree(call);
    struct str name = wt__json_str(tree, "name");
    struct str arguments = STR(""), written;
    wt_error err;
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    if (view && !tool && !wt__gateway_is_settled(face->gateway)) { /* as in face_direct.c, run_late */
        wt__gateway_settle(face->gateway);
        wt__view_release(view);
        view = wt__gateway_view(face->gateway);
        tool = view ? wt__view_find(view, name) : NULL;
    }
    bool allowed = tool && wt__face_allows(face, call, tool);
    if (wt__json_object(tree, "arguments")) /* as they are written: the tree does not hold every number */
        wt__mcp_member(wt__mcp_call_arguments(call), "arguments", &arguments);
    if (!allowed) {
        wt__face_absent(face, call, name, tool != NULL, &err);
        wt__mcp_fail_tool_error(call, &err);
        wt__face_refused(face, call, tool, name, arguments, tool ? AUDIT_DENIED : AUDIT_UNKNOWN);
    } else if (tool->effect != effect) {
        wt__mcp_fail_tool(call, "%s is called by %s", tool->shown, wt__face_call_name(tool->effect));
        wt__face_refused(face, call, tool, name, arguments, AUDIT_WRONG_FACE);
    } else if (refuse_stray(call, tool, tree)) {
        wt__face_refused(face, call, tool, name, wt__mcp_call_arguments(call), AUDIT_INVALID);
    } else {
        wt__mcp_member(wt__mcp_call_written_arguments(call), "arguments", &written);
        bool is_text = written.len > 0 && written.ptr[0] == '"';
        wt__face_call(face, call, tool, arguments, is_text ? written : STR(""), true);
    }
    wt__view_release(view);
}
