/* call.c: a call on its way to a server: may it be, do its arguments fit, what came of it. */
#include <stdlib.h>

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

/* Arguments that are repeated in headers. */
struct mirrors {
    struct http_header headers[MCP_MIRRORS_MAX];
    size_t count;
};

/* A result says who it is of, for the client's people: the tool's name is its server's to choose. */
static void put_origin(struct mcp_call *call, const struct view_tool *tool)
{
    struct buffer meta = {0};
    wt__buffer_text(&meta, "{\"whichtool/server\":");
    wt__buffer_json(&meta, wt__str(wt__upstream_name(tool->upstream)));
    wt__buffer_text(&meta, ",\"whichtool/tool\":");
    wt__buffer_json(&meta, wt__str(tool->own_name));
    wt__buffer_char(&meta, '}');
    if (!meta.failed)
        wt__mcp_set_meta(call, wt__buffer_view(&meta));
    wt__buffer_dispose(&meta);
}

static void give_result(struct face *face, struct mcp_call *call, const struct view_tool *tool, struct str result,
                        bool cut)
{
    struct gateway *gateway = face->gateway;
    const struct result_reader reader = {wt__mcp_call_principal(call), wt__mcp_call_holder(call)};
    struct buffer short_one = {0};
    wt_error err;
    if (!cut)
        wt__mcp_result(call, result);
    else if (wt__result_cut(gateway, &reader, result, gateway->options.result_bytes, &short_one, &err) < 0)
        wt__mcp_refuse_error(call, &err);
    else
        wt__mcp_result(call, wt__buffer_view(&short_one));
    wt__buffer_dispose(&short_one);
    put_origin(call, tool);
}

static void relay_call(struct face *face, struct mcp_call *call, struct view_tool *tool, struct str arguments,
                       const struct mirrors *mirrors, bool cut)
{
    const struct relay what = {.method = "tools/call",
                               .name_key = "name",
                               .name = wt__str(tool->own_name),
                               .arguments = arguments,
                               .headers = mirrors->headers,
                               .header_count = mirrors->count,
                               .is_safe = tool->effect == EFFECT_READ};
    const struct face_asked asked = {.method = what.method,
                                     .name = wt__str(tool->shown),
                                     .tool = tool,
                                     .upstream = tool->upstream,
                                     .arguments = arguments};
    struct buffer result = {0};
    wt_error err;
    enum relayed out = wt__face_relay(face, call, &asked, &what, &result, &err);
    struct str given = wt__buffer_view(&result);
    if (out == RELAY_ANSWERED)
        give_result(face, call, tool, given, cut);
    else if (out == RELAY_FAILED)
        wt__mcp_fail_tool_error(call, &err);
    if (out == RELAY_ANSWERED || out == RELAY_REFUSED)
        wt__outcomes_called(face->gateway->outcomes, wt__mcp_call_principal(call), tool->id,
                            out == RELAY_ANSWERED && !wt__result_is_error(given));
    wt__buffer_dispose(&result);
}

void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool, struct str arguments, bool cut)
{
    struct buffer words = {0};
    struct mirrors mirrors = {.count = 0};
    struct arena arena = {0};
    wt_error err;
    const struct mcp_input *input = wt__view_input(tool, &err);
    struct str given = arguments.len > 0 ? arguments : STR("{}");
    int fits = input ? wt__mcp_input_check(input, given, &words) : 0;
    int repeated = fits > 0 ? wt__mcp_input_repeat(input, given, &arena, mirrors.headers, &err) : 0;
    if (!input)
        wt__mcp_fail_tool(call, "the server's input schema of this tool is none: %s", err.message);
    else if (fits < 0 || words.failed || repeated < 0)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "memory is out");
    else if (fits == 0)
        wt__mcp_fail_tool(call, "%.*s", (int)words.len, words.ptr);
    if (fits > 0 && repeated >= 0) {
        mirrors.count = (size_t)repeated;
        relay_call(face, call, tool, given, &mirrors, cut);
    } else {
        wt__face_refused(face, call, tool, wt__str(tool->shown), given, AUDIT_INVALID);
    }
    wt__arena_dispose(&arena);
    wt__buffer_dispose(&words);
}

/* ---------------------------------------------------------------- by name, in a search face */

void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect)
{
    const json_t *tree = wt__mcp_call_argument_tree(call);
    struct str name = wt__json_str(tree, "name");
    struct str arguments = STR("");
    wt_error err;
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
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
    } else {
        wt__face_call(face, call, tool, arguments, true);
    }
    wt__view_release(view);
}
