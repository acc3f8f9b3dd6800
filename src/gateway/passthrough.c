/* passthrough.c: resources, templates and prompts of all servers, and the completion of their arguments, under names
 * that lead back. A URI, or a prompt's name, is its server's own. Where an earlier server has the same, the later one's
 * stands with its server's name before it: "SERVER+file:///x", "SERVER.review". The operator's order of servers
 * decides, so a server cannot take another one's place by listing what that has. */
#include <stdlib.h>

#include "gateway/face_inside.h"

/* ---------------------------------------------------------------- what servers offer */

/* What each server offered at one moment. */
struct offers {
    struct upstream_offer **items; /* [count] of the gateway's servers; NULL: nothing yet */
    size_t count;
};

static void open_offers(const struct gateway *gateway, struct offers *out)
{
    out->items = calloc(gateway->count + 1, sizeof(struct upstream_offer *));
    out->count = out->items ? gateway->count : 0;
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = wt__upstream_offer(gateway->upstreams[i]);
}

static void close_offers(struct offers *offers)
{
    for (size_t i = 0; i < offers->count; i++)
        wt__upstream_offer_release(offers->items[i]);
    free(offers->items);
}

enum offered { RESOURCES, TEMPLATES, PROMPTS };

static const struct {
    const char *key;       /* of an item, which names it */
    const char *separator; /* behind its server's name */
} kinds[] = {{"uri", "+"}, {"uriTemplate", "+"}, {"name", "."}};

static json_t *list_of(const struct upstream_offer *offer, enum offered kind)
{
    return !offer ? NULL : kind == RESOURCES ? offer->resources : kind == TEMPLATES ? offer->templates : offer->prompts;
}

static bool has(const struct upstream_offer *offer, enum offered kind, struct str name)
{
    const json_t *list = list_of(offer, kind);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (wt__str_equal(wt__json_str(json_array_get(list, i), kinds[kind].key), name))
            return true;
    return false;
}

/* By which name clients know it. */
static void put_shown(const struct gateway *gateway, const struct offers *offers, size_t server, enum offered kind,
                      struct str name, struct buffer *out)
{
    for (size_t i = 0; i < server; i++) {
        if (!has(offers->items[i], kind, name))
            continue;
        wt__buffer_text(out, wt__upstream_name(gateway->upstreams[server]));
        wt__buffer_text(out, kinds[kind].separator);
        break;
    }
    wt__buffer_str(out, name);
}

void wt__uri_shown(struct gateway *gateway, struct upstream *upstream, struct str uri, struct buffer *out)
{
    struct offers offers;
    open_offers(gateway, &offers);
    for (size_t i = 0; i < offers.count; i++)
        if (gateway->upstreams[i] == upstream)
            put_shown(gateway, &offers, i, RESOURCES, uri, out);
    close_offers(&offers);
}

/* ---------------------------------------------------------------- lists */

/* Keys of a list: the server's number and the item's, each so long that their order is that of their texts. */
static void list_all(const struct face *face, struct mcp_call *call, enum offered kind, struct str after)
{
    struct gateway *gateway = face->gateway;
    struct offers offers;
    bool full = false;
    open_offers(gateway, &offers);
    for (size_t s = 0; !full && s < offers.count; s++) {
        const json_t *list = list_of(offers.items[s], kind);
        bool allowed = wt__face_allows_server(face, call, gateway->upstreams[s]);
        for (size_t i = 0; allowed && !full && i < json_array_size(list); i++) {
            json_t *item = json_copy(json_array_get(list, i));
            struct str name = wt__json_str(item, kinds[kind].key);
            struct buffer key = {0}, shown = {0}, text = {0};
            wt__buffer_printf(&key, "%06zu/%08zu", s, i);
            bool is_behind = after.len == 0 || (key.len == after.len && memcmp(key.ptr, after.ptr, key.len) > 0);
            put_shown(gateway, &offers, s, kind, name, &shown);
            bool sound = is_behind && name.len > 0 && !shown.failed &&
                         json_object_set_new(item, kinds[kind].key, wt__json_string(wt__buffer_view(&shown))) == 0 &&
                         wt__json_write(&text, item) == 0;
            full = sound && !wt__mcp_add_item(call, wt__buffer_view(&key), wt__buffer_view(&text));
            wt__buffer_dispose(&key);
            wt__buffer_dispose(&shown);
            wt__buffer_dispose(&text);
            json_decref(item);
        }
    }
    close_offers(&offers);
}

void wt__face_list_resources(void *context, struct mcp_call *call, struct str after)
{
    list_all(context, call, RESOURCES, after);
}

void wt__face_list_templates(void *context, struct mcp_call *call, struct str after)
{
    list_all(context, call, TEMPLATES, after);
}

void wt__face_list_prompts(void *context, struct mcp_call *call, struct str after)
{
    list_all(context, call, PROMPTS, after);
}

/* ---------------------------------------------------------------- the way back */

/* The name without its server's, where it begins with one's. */
static bool strip(const struct upstream *upstream, enum offered kind, struct str *name)
{
    struct str server = wt__str(wt__upstream_name(upstream)), mark = wt__str(kinds[kind].separator);
    if (!wt__str_starts(*name, server) || name->len <= server.len + mark.len ||
        memcmp(name->ptr + server.len, mark.ptr, mark.len) != 0)
        return false;
    size_t taken = server.len + mark.len;
    *name = (struct str){name->ptr + taken, name->len - taken};
    return true;
}

/* Whether a URI may be one of a template's: it begins as that does. */
static bool fits_template(const struct upstream_offer *offer, struct str uri)
{
    const json_t *list = list_of(offer, TEMPLATES);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct str text = wt__json_str(json_array_get(list, i), "uriTemplate");
        const char *brace = text.len > 0 ? memchr(text.ptr, '{', text.len) : NULL;
        struct str begin = {text.ptr, brace ? (size_t)(brace - text.ptr) : text.len};
        if (begin.len > 0 && wt__str_starts(uri, begin))
            return true;
    }
    return false;
}

/* Whose it is, among those that the caller may use; *name becomes the server's own. NULL: nobody's. */
static struct upstream *owner_of(const struct face *face, const struct mcp_call *call, enum offered kind,
                                 struct str *name)
{
    const struct gateway *gateway = face->gateway;
    struct offers offers;
    struct upstream *owner = NULL;
    open_offers(gateway, &offers);
    for (size_t i = 0; !owner && i < offers.count; i++)
        if (has(offers.items[i], kind, *name) || (kind == TEMPLATES && has(offers.items[i], RESOURCES, *name)))
            owner = gateway->upstreams[i];
    for (size_t i = 0; !owner && i < offers.count; i++)
        if (strip(gateway->upstreams[i], kind, name))
            owner = gateway->upstreams[i];
    for (size_t i = 0; !owner && kind == RESOURCES && i < offers.count; i++)
        if (fits_template(offers.items[i], *name))
            owner = gateway->upstreams[i];
    close_offers(&offers);
    return owner && wt__face_allows_server(face, call, owner) ? owner : NULL;
}

/* ---------------------------------------------------------------- asking servers */

static void relay_to(const struct face *face, struct mcp_call *call, struct upstream *upstream,
                     const struct relay *what)
{
    struct buffer result = {0};
    wt_error err;
    switch (wt__relay(face->gateway, call, upstream, what, &result, &err)) {
    case RELAY_ANSWERED:
        wt__mcp_result(call, wt__buffer_view(&result));
        break;
    case RELAY_FAILED:
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "%s", err.message);
        break;
    case RELAY_ASKED:
    case RELAY_REFUSED:
        break;
    }
    wt__buffer_dispose(&result);
}

void wt__face_read(void *context, struct mcp_call *call, struct str uri)
{
    const struct face *face = context;
    struct upstream *upstream = owner_of(face, call, RESOURCES, &uri);
    const struct relay what = {.method = "resources/read", .name_key = "uri", .name = uri, .is_safe = true};
    if (upstream)
        relay_to(face, call, upstream, &what);
    else
        wt__mcp_refuse_unknown(call);
}

/* Who may watch is looked at when it is read: a notice says no more than that something changed. */
void wt__face_watch(void *context, struct str uri)
{
    const struct face *face = context;
    struct offers offers;
    struct upstream *owner = NULL;
    open_offers(face->gateway, &offers);
    for (size_t i = 0; !owner && i < offers.count; i++)
        if (has(offers.items[i], RESOURCES, uri) || strip(face->gateway->upstreams[i], RESOURCES, &uri) ||
            fits_template(offers.items[i], uri))
            owner = face->gateway->upstreams[i];
    close_offers(&offers);
    if (owner)
        wt__upstream_watch(owner, uri);
}

void wt__face_get_prompt(void *context, struct mcp_call *call, struct str name)
{
    const struct face *face = context;
    struct upstream *upstream = owner_of(face, call, PROMPTS, &name);
    const struct relay what = {.method = "prompts/get",
                               .name_key = "name",
                               .name = name,
                               .arguments = wt__mcp_call_arguments(call),
                               .is_safe = true};
    if (upstream)
        relay_to(face, call, upstream, &what);
    else
        wt__mcp_refuse_unknown(call);
}

/* The request as the server knows it: its own name in the reference. */
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

void wt__face_complete(void *context, struct mcp_call *call, const struct mcp_completion *what)
{
    const struct face *face = context;
    struct str ref = what->ref;
    struct upstream *upstream = owner_of(face, call, what->of_prompt ? PROMPTS : TEMPLATES, &ref);
    struct upstream_offer *offer = upstream ? wt__upstream_offer(upstream) : NULL;
    struct buffer params = {0};
    if (offer && offer->completes && put_completion(what, ref, &params)) {
        const struct relay request = {
            .method = "completion/complete", .more = wt__buffer_view(&params), .is_safe = true};
        relay_to(face, call, upstream, &request);
    } else if (!upstream) {
        wt__mcp_refuse_unknown(call);
    }
    wt__upstream_offer_release(offer);
    wt__buffer_dispose(&params);
}
