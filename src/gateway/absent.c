/* absent.c: errors for names of tools that cannot be called. A model cannot know that a tool waits for approval or that
 * its server is down, and would look for another tool; so the error tells the user.
 *
 * Only callers whom the policy allows every possible tool of that name get this error. For all others a waiting tool
 * looks like an unknown one. The error reveals no part of the waiting definition. */
#include "catalog/names.h"
#include "gateway/face_inside.h"

enum { SHOWN_BYTES = 200 /* maximum length of the requested name in an error */ };

static bool may_use_each_effect(const struct face *face, const struct mcp_call *call, const struct upstream *upstream,
                                const char *tool)
{
    struct policy_question question = {.principal = wt__mcp_call_principal(call),
                                       .profile = face->options.profile,
                                       .server = wt__upstream_name(upstream),
                                       .tool = tool};
    bool may = true;
    for (int effect = 0; may && effect < EFFECTS; effect++) {
        question.effect = (enum effect)effect;
        may = wt__policy_allows(face->gateway->options.policy, &question);
    }
    return may;
}

/* Returns the name without the prefix of the server, or NULL if it does not have that prefix. */
static const char *name_after_prefix(struct str name, const char *server)
{
    char prefix[EXPORT_NAME_MAX + 1];
    size_t exported = wt__export_name(wt__str(server), STR("x"), 0, prefix) - 1, len = strlen(server);
    if (name.len > exported && memcmp(name.ptr, prefix, exported) == 0)
        return name.ptr + exported;
    return name.len > len + 1 && memcmp(name.ptr, server, len) == 0 && name.ptr[len] == '/' ? name.ptr + len + 1 : NULL;
}

static int fail_server_down(const struct upstream_status *status, const char *server, wt_error *err)
{
    return status->state == UPSTREAM_STARTING && status->failures == 0
               ? wt__fail(err, WT_EINVAL, "the server %.200s has not started yet: try again later", server)
               : wt__fail(err, WT_EINVAL, "the server %.200s is not running; see `whichtool mcp status`", server);
}

int wt__face_fail_missing(const struct face *face, const struct mcp_call *call, struct str name, bool hidden,
                          wt_error *err)
{
    const struct gateway *gateway = face->gateway;
    char said[EXPORT_NAME_MAX + WT_MAX_NAME_BYTES + 1], own[WT_MAX_NAME_BYTES + 1];
    struct upstream_status status;
    struct str shown = wt__str_head(name, SHOWN_BYTES);
    bool may_wait = !hidden && name.len > 0 && name.len < sizeof said;
    if (may_wait) {
        memcpy(said, name.ptr, name.len);
        said[name.len] = '\0';
    }
    for (size_t i = 0; may_wait && i < gateway->count; i++) {
        struct upstream *upstream = gateway->upstreams[i];
        const char *server = wt__upstream_name(upstream),
                   *behind = name_after_prefix((struct str){said, name.len}, server);
        if (wt__upstream_find_waiting(upstream, said, gateway->options.bare_names, own) &&
            may_use_each_effect(face, call, upstream, own))
            return wt__fail(err, WT_EINVAL, "%.*s waits for approval: `whichtool mcp approve %.200s`", (int)shown.len,
                            shown.ptr, server);
        wt__upstream_status(upstream, &status);
        if (behind && status.state != UPSTREAM_READY && !wt__gateway_has_tools_of(face->gateway, upstream) &&
            may_use_each_effect(face, call, upstream, behind))
            return fail_server_down(&status, server, err);
    }
    return wt__fail(err, WT_ENOTFOUND, "unknown tool \"%.*s\"; find tools with search_tools", (int)shown.len,
                    shown.ptr ? shown.ptr : "");
}

void wt__face_put_waiting(void *context, struct mcp_call *call, struct str query, struct buffer *out)
{
    const struct face *face = context;
    const struct gateway *gateway = face->gateway;
    char own[WT_MAX_NAME_BYTES + 1];
    for (size_t i = 0; out->len == 0 && i < gateway->count; i++) {
        struct upstream *upstream = gateway->upstreams[i];
        if (wt__upstream_find_requested_waiting(upstream, query, own) && may_use_each_effect(face, call, upstream, own))
            wt__buffer_printf(out, "%s of the server %.200s waits for approval: `whichtool mcp approve %.200s`", own,
                              wt__upstream_name(upstream), wt__upstream_name(upstream));
    }
}
