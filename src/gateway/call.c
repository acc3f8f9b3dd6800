/* call.c: relays requests of clients to servers: calls of tools, reads of resources, prompts and completions. Each
 * request is checked against the policy. All requests except completions are written to the audit log before they are
 * sent. */
#include "gateway/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "catalog/names.h"

/* ---------------------------------------------------------------- names of missing tools */

enum { SHOWN_BYTES = 200 /* maximum length of the requested name in an error */ };

/* True if the caller has no tenant, or if its tenant sees the tool of the server. */
static bool tenant_sees_tool(const struct face *face, const struct mcp_call *call, const char *server, const char *tool)
{
    const char *tenant = wt__mcp_call_tenant(call);
    wt_tenants *tenants = face->gateway->options.tenants;
    return !*tenant || (tenants && wt__tenants_allow(tenants, tenant, wt__str(server), wt__str(tool)));
}

/* True if the policy allows the tool for every effect, since the effect of a tool that is not approved yet is
 * unknown. */
static bool may_use_each_effect(const struct face *face, const struct mcp_call *call, const struct upstream *upstream,
                                const char *tool)
{
    struct policy_question question = {.principal = wt__mcp_call_principal(call),
                                       .profile = face->options.profile,
                                       .server = wt__upstream_name(upstream),
                                       .tool = tool};
    if (!tenant_sees_tool(face, call, question.server, tool))
        return false;
    for (int effect = 0; effect < EFFECTS; effect++) {
        question.effect = (enum effect)effect;
        if (!wt__policy_allows(face->gateway->options.policy, &question))
            return false;
    }
    return true;
}

/* Returns the tool's part of an exported name or id, or NULL if the name does not begin with this server's name. */
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
    for (size_t i = 0; i < gateway->count; i++) {
        struct upstream *upstream = gateway->upstreams[i];
        const char *server = wt__upstream_name(upstream);
        if (wt__upstream_find_requested_waiting(upstream, query, own) &&
            may_use_each_effect(face, call, upstream, own)) {
            wt__buffer_printf(out, "%s of the server %.200s waits for approval: `whichtool mcp approve %.200s`", own,
                              server, server);
            return;
        }
    }
    if (!wt__gateway_knows_all_tools(face->gateway))
        wt__buffer_text(out, "some servers are still starting; search again in a few seconds");
}

/* ---------------------------------------------------------------- audit */

/* A request to a server, as the audit records it. */
struct face_request {
    const char *method;           /* method of the client's request */
    struct str name;              /* name in the request of the client */
    const struct view_tool *tool; /* NULL if unknown, or for a resource or prompt */
    struct upstream *upstream;    /* NULL if no server has the name */
    struct str uri, prompt;       /* the server's own name of a resource or prompt; "" for other requests */
    const char *sha256;           /* hash of the approved definition of a resource or prompt, or NULL */
    struct str arguments;         /* arguments sent to the server */
    struct str repaired_from;     /* arguments as the client wrote them; "" if they were not repaired */
    const char *unchecked;        /* see struct audit_line */
};

/* True if the caller's key has the scope `call`, or no key is needed; otherwise sets *err. */
static bool check_call_scope(const struct mcp_call *call, wt_error *err)
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

/* Writes the audit line of a decision. mark, err: as in wt__audit_write. */
static int write_decision(const struct face *face, const struct mcp_call *call, const struct face_request *asked,
                          enum audit_decision decision, struct audit_mark *mark, wt_error *err)
{
    const struct view_tool *tool = asked->tool;
    const json_t *meta = wt__json_object(wt__mcp_call_params(call), "_meta");
    if (!face->gateway->options.audit)
        return 0;
    const struct audit_line line = {
        .principal = wt__mcp_call_principal(call),
        .tenant = wt__mcp_call_tenant(call),
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

/* Writes the audit line of a refused request. Ignores errors, since the request is refused anyway. */
static void audit_refusal(const struct face *face, const struct mcp_call *call, const struct face_request *asked,
                          enum audit_decision decision)
{
    write_decision(face, call, asked, decision, NULL, NULL);
}

void wt__face_audit_refused_call(const struct face *face, const struct mcp_call *call, const struct view_tool *tool,
                                 struct str asked, struct str arguments, enum audit_decision decision)
{
    audit_refusal(face, call,
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

/* Writes the audit line of the decision, relays the request, and writes the audit line of the outcome. If the line of
 * the outcome cannot be written, the client still gets its answer, since the server has acted already. */
static enum relayed relay_audited(const struct face *face, struct mcp_call *call, const struct face_request *asked,
                                  const struct relay *what, struct buffer *result, wt_error *err)
{
    struct gateway *gateway = face->gateway;
    struct audit_mark mark = {""};
    double began = wt__now_ms();
    if (!check_call_scope(call, err)) {
        audit_refusal(face, call, asked, AUDIT_DENIED);
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

bool wt__face_allows(const struct face *face, const struct mcp_call *call, const struct view_tool *tool)
{
    const struct policy_question question = {.principal = wt__mcp_call_principal(call),
                                             .profile = face->options.profile,
                                             .server = wt__upstream_name(tool->upstream),
                                             .tool = tool->name,
                                             .own_name = tool->own_name,
                                             .effect = tool->effect};
    /* A tool excluded by the configuration stays in the catalogue until its server lists again. */
    return wt__mcp_offers(tool->upstream->server, wt__str(tool->name)) &&
           tenant_sees_tool(face, call, question.server, tool->name) &&
           wt__policy_allows(face->gateway->options.policy, &question);
}

/* True if the caller may use the resources and prompts of the server. */
static bool may_use_server(const struct face *face, const struct mcp_call *call, const struct upstream *upstream)
{
    const char *tenant = wt__mcp_call_tenant(call), *server = wt__upstream_name(upstream);
    wt_tenants *tenants = face->gateway->options.tenants;
    if (*tenant && !(tenants && wt__tenants_allow_provider(tenants, tenant, wt__str(server))))
        return false;
    return wt__policy_allows_server(face->gateway->options.policy, wt__mcp_call_principal(call), face->options.profile,
                                    server);
}

/* ---------------------------------------------------------------- calls of tools */

/* A tools/call to a server. */
struct outgoing_call {
    struct str arguments;                        /* arguments sent to the server */
    json_t *tree;                                /* `arguments`, parsed; owned */
    struct str repaired_from;                    /* arguments as the client wrote them; "" if they were not repaired */
    struct http_header headers[MCP_MIRRORS_MAX]; /* [header_count], copies of arguments (x-mcp-header) */
    size_t header_count;
    bool cuts_result;           /* cut a long result (large_results.c) */
    const char *unchecked;      /* why the arguments were not fully validated; NULL if they were */
    const char *unchecked_part; /* "part" or "all" of the schema was not used; NULL if all of it was */
};

/* Names the server and its tool in _meta of the result, since the shown name of a tool may be misleading. */
static void put_origin_meta(struct mcp_call *call, const struct view_tool *tool, const char *unchecked)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer meta = {0};
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
}

static void send_call_result(struct face *face, struct mcp_call *call, const struct view_tool *tool,
                             const struct outgoing_call *outgoing, struct str result)
{
    struct gateway *gateway = face->gateway;
    const struct result_reader reader = {wt__mcp_call_principal(call), wt__mcp_call_holder(call)};
    WT_CLEANUP(wt__buffer_dispose) struct buffer piece = {0};
    wt_error err;
    if (!outgoing->cuts_result)
        wt__mcp_result(call, result);
    else if (wt__result_cut(gateway, &reader, result, gateway->options.result_bytes, &piece, &err) < 0)
        wt__mcp_refuse_error(call, &err);
    else
        wt__mcp_result(call, wt__buffer_view(&piece));
    put_origin_meta(call, tool, outgoing->unchecked);
}

static void relay_call(struct face *face, struct mcp_call *call, struct view_tool *tool,
                       const struct outgoing_call *outgoing)
{
    const struct relay what = {.method = "tools/call",
                               .name_key = "name",
                               .name = wt__str(tool->own_name),
                               .arguments = outgoing->arguments,
                               .headers = outgoing->headers,
                               .header_count = outgoing->header_count,
                               .is_safe = tool->effect == EFFECT_READ};
    const struct face_request asked = {.method = what.method,
                                       .name = wt__str(tool->shown),
                                       .tool = tool,
                                       .upstream = tool->upstream,
                                       .arguments = outgoing->arguments,
                                       .repaired_from = outgoing->repaired_from,
                                       .unchecked = outgoing->unchecked_part};
    WT_CLEANUP(wt__buffer_dispose) struct buffer result = {0};
    wt_error err;
    enum relayed out = relay_audited(face, call, &asked, &what, &result, &err);
    struct str given = wt__buffer_view(&result);
    if (out == RELAY_ANSWERED)
        send_call_result(face, call, tool, outgoing, given);
    else if (out == RELAY_FAILED)
        wt__mcp_fail_tool_error(call, &err);
    const struct outcome_client client = {wt__mcp_call_principal(call), wt__mcp_call_tenant(call)};
    if ((out == RELAY_ANSWERED || out == RELAY_REFUSED) && wt__gateway_records(face->gateway, client.tenant))
        wt__outcomes_record_call(face->gateway->outcomes, &client, tool->id,
                                 out == RELAY_ANSWERED && !wt__result_is_error(given));
}

/* Validates the arguments and, if the policy allows, repairs invalid arguments. repaired: owns the text of repaired
 * arguments. Returns 1 if the arguments are valid now, 0 if they are not, or WT_ENOMEM. Appends the violations to
 * `words`. */
static int check_or_repair_arguments(const struct face *face, const struct view_tool *tool,
                                     const struct mcp_input *input, struct outgoing_call *outgoing,
                                     struct buffer *repaired, struct buffer *words)
{
    int fits = wt__mcp_input_check(input, outgoing->tree, words);
    if (words->failed)
        return WT_ENOMEM;
    if (fits != 0 || !wt__policy_repairs(face->gateway->options.policy, wt__upstream_name(tool->upstream)))
        return fits;
    fits = wt__mcp_input_repair(input, outgoing->arguments, &outgoing->tree, false, repaired);
    if (fits <= 0)
        return fits;
    if (outgoing->repaired_from.len == 0)
        outgoing->repaired_from = outgoing->arguments;
    outgoing->arguments = wt__buffer_view(repaired);
    return fits;
}

/* Checks or repairs the arguments, and writes the headers that repeat some arguments. Returns 1 if the call can be
 * sent. Otherwise refuses the call and returns 0 or a negative code. repaired, arena: own the texts of *outgoing. */
static int prepare_outgoing(const struct face *face, struct mcp_call *call, struct view_tool *tool,
                            struct outgoing_call *outgoing, struct buffer *repaired, struct arena *arena)
{
    static const char *const unchecked_parts[] = {[MCP_CHECKS_PART] = "part", [MCP_CHECKS_NOTHING] = "all"};
    WT_CLEANUP(wt__buffer_dispose) struct buffer words = {0};
    wt_error err;
    const struct mcp_input *input = wt__view_input(tool, &err);
    if (!input) {
        wt__mcp_fail_tool_error(call, &err);
        return 0;
    }
    outgoing->unchecked = wt__mcp_input_unchecked(input);
    outgoing->unchecked_part = unchecked_parts[wt__mcp_input_checks(input)];
    int fits = outgoing->tree ? check_or_repair_arguments(face, tool, input, outgoing, repaired, &words) : WT_ENOMEM;
    int headers = fits > 0 ? wt__mcp_input_write_headers(input, outgoing->arguments, outgoing->tree, arena,
                                                         outgoing->headers, &err)
                           : 0;
    outgoing->header_count = headers > 0 ? (size_t)headers : 0;
    if (fits < 0 || headers < 0)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
    else if (fits == 0)
        wt__mcp_fail_tool(call, "%.*s", (int)words.len, words.ptr);
    return headers < 0 ? headers : fits;
}

void wt__face_call(struct face *face, struct mcp_call *call, struct view_tool *tool,
                   const struct client_arguments *arguments, bool cut)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer repaired = {0};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct outgoing_call outgoing = {.arguments = arguments->text.len > 0 ? arguments->text : STR("{}"),
                                     .tree = arguments->tree ? json_incref((json_t *)arguments->tree) : json_object(),
                                     .repaired_from = arguments->written,
                                     .cuts_result = cut};
    if (prepare_outgoing(face, call, tool, &outgoing, &repaired, &arena) > 0)
        relay_call(face, call, tool, &outgoing);
    else
        wt__face_audit_refused_call(face, call, tool, wt__str(tool->shown), outgoing.arguments, AUDIT_INVALID);
    json_decref(outgoing.tree);
}

/* Returns the first member of a call tool's arguments other than "name" and "arguments", or NULL. */
static const char *find_stray_member(const json_t *tree)
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

/* Refuses the call and returns true if "arguments" is empty and the client wrote arguments next to "name" instead. */
static bool refuse_stray_member(struct mcp_call *call, const struct view_tool *tool, const json_t *tree)
{
    const char *stray = find_stray_member(tree);
    if (!stray || json_object_size(wt__json_object(tree, "arguments")) > 0)
        return false;
    wt__mcp_fail_tool(call,
                      "\"%.80s\" is not allowed next to \"name\"; put the arguments of %s into \"arguments\": "
                      "{\"name\": \"%s\", \"arguments\": {\"%.80s\": ...}}",
                      stray, tool->shown, tool->shown, stray);
    return true;
}

void wt__face_call_named(struct face *face, struct mcp_call *call, enum effect effect)
{
    const json_t *tree = wt__mcp_call_argument_tree(call), *own = wt__json_object(tree, "arguments");
    struct str name = wt__json_str(tree, "name");
    struct str arguments = STR(""), written;
    wt_error err;
    struct tool_view *view = wt__gateway_view(face->gateway);
    struct view_tool *tool = view ? wt__view_find(view, name) : NULL;
    if (view && !tool &&
        !wt__gateway_knows_all_tools(face->gateway)) { /* a server that is starting may have the tool */
        wt__gateway_wait_for_tools(face->gateway);
        wt__view_release(view);
        view = wt__gateway_view(face->gateway);
        tool = view ? wt__view_find(view, name) : NULL;
    }
    bool allowed = tool && wt__face_allows(face, call, tool);
    if (own) /* use the original text: the tree cannot represent every number */
        wt__mcp_member(wt__mcp_call_arguments(call), "arguments", &arguments);
    if (!allowed) {
        wt__face_fail_missing(face, call, name, tool != NULL, &err);
        wt__mcp_fail_tool_error(call, &err);
        wt__face_audit_refused_call(face, call, tool, name, arguments, tool ? AUDIT_DENIED : AUDIT_UNKNOWN);
    } else if (tool->effect != effect) {
        wt__mcp_fail_tool(call, "call %s with %s", tool->shown, wt__face_call_tool_name(tool->effect));
        wt__face_audit_refused_call(face, call, tool, name, arguments, AUDIT_WRONG_FACE);
    } else if (refuse_stray_member(call, tool, tree)) {
        wt__face_audit_refused_call(face, call, tool, name, wt__mcp_call_arguments(call), AUDIT_INVALID);
    } else {
        wt__mcp_member(wt__mcp_call_written_arguments(call), "arguments", &written);
        bool is_text = written.len > 0 && written.ptr[0] == '"';
        wt__face_call(face, call, tool, &(struct client_arguments){arguments, own, is_text ? written : STR("")}, true);
    }
    wt__view_release(view);
}

/* ---------------------------------------------------------------- lists of resources and prompts */

/* Lists the items of all servers. after: key of the last item on the previous page, or "". The key of an item has two
 * numbers: the index of the server, and the index of the item in the list of the server. Both are padded with zeros, so
 * that keys sort as text. */
static void list_offers(const struct face *face, struct mcp_call *call, enum offer_kind kind, struct str after)
{
    struct gateway *gateway = face->gateway;
    struct offer_snapshot offers;
    bool full = false; /* the page is full */
    wt__gateway_wait_for_offers(gateway);
    wt__offer_snapshot_open(gateway, &offers);
    for (size_t s = 0; !full && s < offers.count; s++) {
        const json_t *list = wt__offer_list(offers.items[s], kind);
        bool allowed = may_use_server(face, call, gateway->upstreams[s]);
        for (size_t i = 0; allowed && !full && i < json_array_size(list); i++) {
            json_auto_t *item = json_copy(json_array_get(list, i));
            struct str name = wt__json_str(item, wt__offer_key(kind));
            WT_CLEANUP(wt__buffer_dispose) struct buffer key = {0}, shown = {0}, text = {0};
            wt__buffer_printf(&key, "%06zu/%08zu", s, i);
            bool is_behind = after.len == 0 || (key.len == after.len && memcmp(key.ptr, after.ptr, key.len) > 0);
            wt__offer_put_shown_name(gateway, &offers, s, kind, name, &shown);
            bool sound =
                is_behind && name.len > 0 && !shown.failed &&
                json_object_set_new(item, wt__offer_key(kind), wt__json_string(wt__buffer_view(&shown))) == 0 &&
                wt__json_write(&text, item) == 0;
            full = sound && !wt__mcp_add_item(call, wt__buffer_view(&key), wt__buffer_view(&text));
        }
    }
    wt__offer_snapshot_close(&offers);
}

void wt__face_list_resources(void *context, struct mcp_call *call, struct str after)
{
    list_offers(context, call, OFFER_RESOURCES, after);
}

void wt__face_list_templates(void *context, struct mcp_call *call, struct str after)
{
    list_offers(context, call, OFFER_TEMPLATES, after);
}

void wt__face_list_prompts(void *context, struct mcp_call *call, struct str after)
{
    list_offers(context, call, OFFER_PROMPTS, after);
}

/* ---------------------------------------------------------------- resources, prompts and completions */

static void give_answer(struct mcp_call *call, enum relayed relayed, const struct buffer *result, const wt_error *err)
{
    if (relayed == RELAY_ANSWERED)
        wt__mcp_result(call, wt__buffer_view(result));
    else if (relayed == RELAY_FAILED)
        wt__mcp_refuse_error(call, err);
}

/* Relays a request about the resource or prompt asked.name to its server. Sets upstream, sha256, and uri or prompt in
 * `asked`, which the audit records. A name that the caller may not use fails like an unknown name. */
static void relay_to_owner(const struct face *face, struct mcp_call *call, enum offer_kind kind,
                           struct face_request asked)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer result = {0};
    char sha256[DEFINITION_DIGITS + 1];
    struct str own = asked.name;
    wt_error err;
    asked.upstream = wt__offer_owner(face->gateway, kind, &own);
    if (!asked.upstream) { /* the client may know the name from an earlier session */
        wt__gateway_wait_for_offers(face->gateway);
        asked.upstream = wt__offer_owner(face->gateway, kind, &own);
    }
    if (asked.upstream)
        *(kind == OFFER_PROMPTS ? &asked.prompt : &asked.uri) = own;
    if (asked.upstream && wt__offer_hash(asked.upstream, kind, own, sha256))
        asked.sha256 = sha256;
    if (asked.upstream && may_use_server(face, call, asked.upstream)) {
        const struct relay what = {.method = asked.method,
                                   .name_key = wt__offer_key(kind),
                                   .name = own,
                                   .arguments = asked.arguments,
                                   .is_safe = true};
        give_answer(call, relay_audited(face, call, &asked, &what, &result, &err), &result, &err);
        return;
    }
    wt__mcp_refuse_unknown(call);
    audit_refusal(face, call, &asked, asked.upstream ? AUDIT_DENIED : AUDIT_UNKNOWN);
}

void wt__face_read(void *context, struct mcp_call *call, struct str uri)
{
    relay_to_owner(context, call, OFFER_RESOURCES, (struct face_request){.method = "resources/read", .name = uri});
}

void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name)
{
    relay_to_owner(
        context, call, OFFER_PROMPTS,
        (struct face_request){.method = "prompts/get", .name = name, .arguments = wt__mcp_call_arguments(call)});
}

/* Watches a resource. Needs the scope `call`, but checks no policy, since a notice says only that the resource has
 * changed. The policy is checked when the client reads the resource. */
bool wt__face_watch(void *context, struct mcp_call *call, struct str uri, wt_error *why)
{
    const struct face *face = context;
    struct upstream *owner = wt__offer_owner(face->gateway, OFFER_RESOURCES, &uri);
    return !owner || (check_call_scope(call, why) && wt__upstream_watch(owner, wt__mcp_call_holder(call), uri, why));
}

/* Writes the params of a completion. ref: the server's own name of the prompt or resource. */
static bool put_completion(const struct mcp_completion *what, struct str ref, struct buffer *out)
{
    wt__buffer_printf(out, "\"ref\":{\"type\":\"%s\",\"%s\":", what->of_prompt ? "ref/prompt" : "ref/resource",
                      what->of_prompt ? "name" : "uri");
    wt__buffer_json(out, ref);
    wt__buffer_text(out, "},\"argument\":{\"name\":");
    wt__buffer_json(out, what->argument);
    wt__buffer_text(out, ",\"value\":");
    wt__buffer_json(out, what->value);
    wt__buffer_char(out, '}');
    if (what->arguments) {
        wt__buffer_text(out, ",\"context\":{\"arguments\":");
        wt__json_write(out, what->arguments);
        wt__buffer_char(out, '}');
    }
    return !out->failed;
}

/* Relays a completion. Writes no audit line: completions are requested at each key press and have no effect. */
void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    const struct face *face = context;
    struct str ref = what->ref;
    struct upstream *upstream = wt__offer_owner(face->gateway, what->of_prompt ? OFFER_PROMPTS : OFFER_TEMPLATES, &ref);
    WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0}, result = {0};
    wt_error err;
    if (!upstream || !may_use_server(face, call, upstream)) {
        wt__mcp_refuse_unknown(call);
        return;
    }
    if (!check_call_scope(call, &err)) {
        wt__mcp_refuse_error(call, &err);
        return;
    }
    struct upstream_offer *offer = wt__upstream_offer(upstream);
    bool completes = offer && offer->completes;
    wt__upstream_offer_release(offer);
    if (!completes || !put_completion(what, ref, &params))
        return;
    const struct relay request = {.method = "completion/complete", .more = wt__buffer_view(&params), .is_safe = true};
    give_answer(call, wt__relay(face->gateway, call, upstream, &request, &result, &err), &result, &err);
}
