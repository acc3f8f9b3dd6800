/* face_direct.c: the face that lists all tools of all servers with their own definitions. */
#include "gateway/face_inside.h"

#include <string.h>

#include "catalog/pins.h"

#include "whichtool/review.h"

/* A page continues after a name even if its tool has gone. */
void wt__face_list_view(const struct face *face, struct mcp_call *call, const struct tool_view *view, struct str after)
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
        wt__face_list_view(face, call, view, after);
    else
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the catalogue cannot be read");
    wt__view_release(view);
}

/* mcp_tool.number of a call to an unknown tool while servers are starting. */
static const size_t LATE_TOOL = SIZE_MAX;

/* Leaves check and repair of the arguments to the call, so that the audit records invalid ones. Only headers that
 * repeat arguments are checked earlier. */
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

/* Waits for starting servers, as a list does: a client may call without listing first. */
static void run_late_tool(struct face *face, struct mcp_call *call)
{
    struct str name = wt__mcp_call_name(call);
    wt_error err;
    wt__gateway_wait_for_tools(face->gateway);
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    if (tool && wt__face_allows(face, call, tool)) {
        wt__face_call(face, call, tool, wt__mcp_call_arguments(call), STR(""), false);
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
    wt__face_call(context, call, view->tools[tool->number], wt__mcp_call_arguments(call), STR(""), false);
}

/* True if the gateway has no lock, or the lock has the server's instructions. */
static bool has_pinned_instructions(const struct gateway *gateway, const char *server, const char *words)
{
    char sha256[DEFINITION_DIGITS + 1];
    if (!gateway->lock_pins)
        return true;
    const struct pin *pin = wt__pins_instructions(gateway->lock_pins, wt__str(server));
    wt__bytes_hash(wt__str(words), sha256);
    return pin && strcmp(pin->sha256, sha256) == 0;
}

/* Appends the approved instructions of each server, attributed to it. */
static void write_server_instructions(void *context, const char *principal, struct buffer *out)
{
    const struct face *face = context;
    const struct gateway *gateway = face->gateway;
    for (size_t i = 0; i < gateway->count; i++) {
        const char *name = wt__upstream_name(gateway->upstreams[i]);
        char *words = NULL;
        if (!wt__policy_allows_server(gateway->options.policy, principal, face->options.profile, name) ||
            wt_approved_instructions(gateway->engine, name, &words, NULL) < 0)
            continue;
        struct str shown = wt__str_head(wt__str(words), FACE_INSTRUCTIONS_BYTES);
        if (!has_pinned_instructions(gateway, name, words))
            shown.len = 0;
        if (shown.len > 0)
            wt__buffer_printf(out, "%sThe server %s says: %.*s", out->len > 0 ? "\n" : "", name, (int)shown.len,
                              shown.ptr);
        wt_string_free(words);
    }
}

const struct face_kind_row wt__face_direct = {.list = list_view_tools,
                                              .find = find_view_tool,
                                              .run = run_view_tool,
                                              .write_instructions = write_server_instructions};
