/* audited.c: audit lines of a face for calls, reads and prompts. The decision is written before the request is sent,
 * the outcome before the client gets its answer (audit_log.h). */
#include "base/clock.h"
#include "gateway/face_inside.h"

bool wt__face_may_call(const struct mcp_call *call, wt_error *err)
{
    if (wt__mcp_call_may_call(call))
        return true;
    wt__fail(
        err, WT_EINVAL,
        "the key %s lacks the scope `call`, which is needed to call tools, read resources and get prompts; add the "
        "scope in the key file of the gateway",
        wt__mcp_call_principal(call));
    return false;
}

static int write_decision(const struct face *face, const struct mcp_call *call, const struct face_request *asked,
                          enum audit_decision decision, struct audit_mark *mark, wt_error *err)
{
    const struct view_tool *tool = asked->tool;
    const json_t *meta = wt__json_object(wt__mcp_call_params(call), "_meta");
    if (!face->gateway->options.audit)
        return 0;
    const struct audit_line line = {
        .principal = wt__mcp_call_principal(call),
        .profile = face->options.profile,
        .client = wt__mcp_call_client(call),
        .method = asked->method,
        .server = asked->upstream ? wt__upstream_name(asked->upstream) : NULL,
        .tool = tool ? tool->name : NULL,
        .own_name = tool && strcmp(tool->own_name, tool->name) != 0 ? tool->own_name : NULL,
        .uri = asked->uri,
        .prompt = asked->prompt,
        .asked = asked->name,
        .effect = tool ? wt__effect_word(tool->effect) : NULL,
        .sha256 = tool ? tool->sha256 : asked->sha256,
        .revision = wt__policy_revision(face->gateway->options.policy),
        .arguments = asked->arguments,
        .repaired_from = asked->repaired_from,
        .unchecked = asked->unchecked,
        .decision = decision,
        .trace = wt__json_str(meta, "traceparent"),
    };
    return wt__audit_write(face->gateway->options.audit, &line, mark, err);
}

/* The request is refused even if the line cannot be written. */
void wt__face_audit_refusal(const struct face *face, const struct mcp_call *call, const struct face_request *asked,
                            enum audit_decision decision)
{
    write_decision(face, call, asked, decision, NULL, NULL);
}

void wt__face_audit_refused_call(const struct face *face, const struct mcp_call *call, const struct view_tool *tool,
                                 struct str asked, struct str arguments, enum audit_decision decision)
{
    wt__face_audit_refusal(face, call,
                           &(struct face_request){.method = "tools/call",
                                                  .name = asked,
                                                  .tool = tool,
                                                  .upstream = tool ? tool->upstream : NULL,
                                                  .arguments = arguments},
                           decision);
}

static const char *outcome_word(enum relayed relayed, const struct mcp_call *call, struct str result)
{
    switch (relayed) {
    case RELAY_ANSWERED:
        return wt__result_is_error(result) ? "error" : "ok";
    case RELAY_ASKED:
        return "asked";
    case RELAY_REFUSED:
        return "error";
    case RELAY_FAILED:
        break;
    }
    return wt__mcp_is_cancelled(call) ? "cancelled" : "failed";
}

/* The server has acted by the time of the outcome. If that line cannot be written, the client still gets its answer,
 * and the next call is refused. */
enum relayed wt__face_relay(const struct face *face, struct mcp_call *call, const struct face_request *asked,
                            const struct relay *what, struct buffer *result, wt_error *err)
{
    struct gateway *gateway = face->gateway;
    struct audit_mark mark = {""};
    double began = wt__now_ms();
    if (!wt__face_may_call(call, err)) {
        wt__face_audit_refusal(face, call, asked, AUDIT_DENIED);
        return RELAY_FAILED;
    }
    if (write_decision(face, call, asked, AUDIT_ALLOWED, &mark, NULL) < 0) {
        wt__fail(err, WT_EBUSY,
                 "the call was not sent: the gateway cannot write its audit log, and refuses calls and reads until it "
                 "can; see the messages of the gateway");
        return RELAY_FAILED;
    }
    enum relayed out = wt__relay(gateway, call, asked->upstream, what, result, err);
    const struct audit_outcome ending = {
        .outcome = outcome_word(out, call, wt__buffer_view(result)), .bytes = result->len, .ms = wt__now_ms() - began};
    wt__audit_write_outcome(gateway->options.audit, &mark, &ending, NULL);
    return out;
}
