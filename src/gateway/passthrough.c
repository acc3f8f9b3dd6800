/* passthrough.c: resources, templates and prompts of all servers, and the completion of their arguments, under the
 * names of offered.h. */
#include "gateway/face_inside.h"
#include "gateway/offered.h"

/* ---------------------------------------------------------------- lists */

/* Lists the items of all servers. The key of an item is the index of its server and its own, padded so that keys sort
 * as text. */
static void list_offers(const struct face *face, struct mcp_call *call, enum offer_kind kind, struct str after)
{
    struct gateway *gateway = face->gateway;
    struct offer_snapshot offers;
    bool full = false;
    wt__gateway_wait_for_offers(gateway);
    wt__offer_snapshot_open(gateway, &offers);
    for (size_t s = 0; !full && s < offers.count; s++) {
        const json_t *list = wt__offer_list(offers.items[s], kind);
        bool allowed = wt__face_allows_server(face, call, gateway->upstreams[s]);
        for (size_t i = 0; allowed && !full && i < json_array_size(list); i++) {
            json_t *item = json_copy(json_array_get(list, i));
            struct str name = wt__json_str(item, wt__offer_key(kind));
            struct buffer key = {0}, shown = {0}, text = {0};
            wt__buffer_printf(&key, "%06zu/%08zu", s, i);
            bool is_behind = after.len == 0 || (key.len == after.len && memcmp(key.ptr, after.ptr, key.len) > 0);
            wt__offer_put_shown_name(gateway, &offers, s, kind, name, &shown);
            bool sound =
                is_behind && name.len > 0 && !shown.failed &&
                json_object_set_new(item, wt__offer_key(kind), wt__json_string(wt__buffer_view(&shown))) == 0 &&
                wt__json_write(&text, item) == 0;
            full = sound && !wt__mcp_add_item(call, wt__buffer_view(&key), wt__buffer_view(&text));
            wt__buffer_dispose(&key);
            wt__buffer_dispose(&shown);
            wt__buffer_dispose(&text);
            json_decref(item);
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

/* ---------------------------------------------------------------- asking servers */

static void give_answer(struct mcp_call *call, enum relayed relayed, const struct buffer *result, const wt_error *err)
{
    if (relayed == RELAY_ANSWERED)
        wt__mcp_result(call, wt__buffer_view(result));
    else if (relayed == RELAY_FAILED)
        wt__mcp_refuse_error(call, err);
}

/* Relays the request to the owner. A name that the caller may not use looks like an unknown one. */
static void relay_to_owner(const struct face *face, struct mcp_call *call, const struct face_request *asked,
                           const struct relay *what)
{
    struct buffer result = {0};
    wt_error err;
    bool allowed = asked->upstream && wt__face_allows_server(face, call, asked->upstream);
    if (allowed) {
        give_answer(call, wt__face_relay(face, call, asked, what, &result, &err), &result, &err);
    } else {
        wt__mcp_refuse_unknown(call);
        wt__face_audit_refusal(face, call, asked, asked->upstream ? AUDIT_DENIED : AUDIT_UNKNOWN);
    }
    wt__buffer_dispose(&result);
}

/* Returns the server that owns the name, or NULL. Waits for starting servers if it is unknown: a client may know it
 * from an earlier session. */
static struct upstream *find_offer_owner(const struct face *face, enum offer_kind kind, struct str *name)
{
    struct upstream *owner = wt__offer_owner(face->gateway, kind, name);
    if (owner)
        return owner;
    wt__gateway_wait_for_offers(face->gateway);
    return wt__offer_owner(face->gateway, kind, name);
}

void wt__face_read(void *context, struct mcp_call *call, struct str uri)
{
    struct str own = uri;
    struct face_request asked = {.method = "resources/read", .name = uri};
    asked.upstream = find_offer_owner(context, OFFER_RESOURCES, &own);
    char sha256[DEFINITION_DIGITS + 1];
    if (asked.upstream)
        asked.uri = own;
    if (asked.upstream && wt__offer_hash(asked.upstream, OFFER_RESOURCES, own, sha256))
        asked.sha256 = sha256;
    const struct relay what = {.method = asked.method, .name_key = "uri", .name = own, .is_safe = true};
    relay_to_owner(context, call, &asked, &what);
}

/* Needs no policy check: a notice only says that the resource changed, and the policy decides on reads. */
bool wt__face_watch(void *context, struct mcp_call *call, struct str uri, wt_error *why)
{
    const struct face *face = context;
    struct upstream *owner = wt__offer_owner(face->gateway, OFFER_RESOURCES, &uri);
    return !owner || (wt__face_may_call(call, why) && wt__upstream_watch(owner, wt__mcp_call_holder(call), uri, why));
}

void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name)
{
    struct str own = name;
    struct face_request asked = {.method = "prompts/get", .name = name, .arguments = wt__mcp_call_arguments(call)};
    asked.upstream = find_offer_owner(context, OFFER_PROMPTS, &own);
    char sha256[DEFINITION_DIGITS + 1];
    if (asked.upstream)
        asked.prompt = own;
    if (asked.upstream && wt__offer_hash(asked.upstream, OFFER_PROMPTS, own, sha256))
        asked.sha256 = sha256;
    const struct relay what = {
        .method = asked.method, .name_key = "name", .name = own, .arguments = asked.arguments, .is_safe = true};
    relay_to_owner(context, call, &asked, &what);
}

/* Writes the params of a completion with the server's own name in the reference. */
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

/* Writes no audit line: completions come with each key press and have no effect. */
void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    const struct face *face = context;
    struct str ref = what->ref;
    struct upstream *upstream = wt__offer_owner(face->gateway, what->of_prompt ? OFFER_PROMPTS : OFFER_TEMPLATES, &ref);
    if (upstream && !wt__face_allows_server(face, call, upstream))
        upstream = NULL;
    struct upstream_offer *offer = upstream ? wt__upstream_offer(upstream) : NULL;
    struct buffer params = {0}, result = {0};
    wt_error err;
    if (upstream && !wt__face_may_call(call, &err)) {
        wt__mcp_refuse_error(call, &err);
    } else if (offer && offer->completes && put_completion(what, ref, &params)) {
        const struct relay request = {
            .method = "completion/complete", .more = wt__buffer_view(&params), .is_safe = true};
        give_answer(call, wt__relay(face->gateway, call, upstream, &request, &result, &err), &result, &err);
    } else if (!upstream) {
        wt__mcp_refuse_unknown(call);
    }
    wt__upstream_offer_release(offer);
    wt__buffer_dispose(&params);
    wt__buffer_dispose(&result);
}
