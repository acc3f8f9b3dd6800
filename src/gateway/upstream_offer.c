/* upstream_offer.c: what a server offers: its tools, resources, templates and prompts, listed page by page; what it
 * says of itself. */
#include <stdlib.h>

#include "gateway/upstream_inside.h"
#include "mcp/pages.h"

/* ---------------------------------------------------------------- offers */

void wt__upstream_offer_release(struct upstream_offer *offer)
{
    if (!offer || atomic_fetch_sub(&offer->refs, 1) != 1)
        return;
    json_decref(offer->resources);
    json_decref(offer->templates);
    json_decref(offer->prompts);
    free(offer);
}

struct upstream_offer *wt__upstream_offer(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->lock);
    struct upstream_offer *offer = upstream->offer;
    if (offer)
        atomic_fetch_add(&offer->refs, 1);
    pthread_mutex_unlock(&upstream->lock);
    return offer;
}

/* ---------------------------------------------------------------- asking */

int wt__upstream_ask(struct mcp_connection *connection, const char *method, struct str params, struct buffer *result,
                     wt_error *err)
{
    const struct mcp_request request = {.method = method, .params = params};
    struct mcp_exchange *exchange = NULL;
    struct mcp_event event;
    int64_t code = 0;
    int rc = wt__mcp_exchange_begin(&exchange, connection, &request, err);
    do {
        if (rc == 0)
            rc = wt__mcp_exchange_next(exchange, &event, err);
        if (rc == 0 && event.kind == MCP_EVENT_ASKED)
            rc = wt__mcp_exchange_reply(exchange, event.id, STR(""),
                                        STR("{\"code\":-32601,\"message\":\"nobody is there to be asked\"}"), err);
    } while (rc == 0 && (event.kind == MCP_EVENT_NOTIFIED || event.kind == MCP_EVENT_ASKED));
    if (rc == 0 && event.kind == MCP_EVENT_RESULT) {
        wt__buffer_str(result, event.result);
        rc = result->failed ? wt__fail_nomem(err) : 0;
    } else if (rc == 0) {
        const struct mcp_message answer = {.error = event.error};
        rc = wt__mcp_fail(&answer, method, &code, err);
        rc = rc == WT_ENETWORK && code == MCP_METHOD_NOT_FOUND ? WT_ENOTFOUND : rc;
    }
    wt__mcp_exchange_end(exchange);
    return rc;
}

/* How long a list holds by its first page, where that says it. */
static void read_ttl(struct str result, double *ttl_ms)
{
    struct str text;
    if (!wt__mcp_member(result, "ttlMs", &text) || text.len == 0 || text.len > 15)
        return;
    char digits[16] = "";
    memcpy(digits, text.ptr, text.len);
    double said = strtod(digits, NULL);
    *ttl_ms = said > UPSTREAM_LEAST_TTL_MS ? said : UPSTREAM_LEAST_TTL_MS;
}

/* All pages of a list. A server that does not know the method has none. */
static int gather(struct mcp_connection *connection, struct mcp_pages *pages, double *ttl_ms, wt_error *err)
{
    int rc = 1;
    while (rc > 0) {
        struct buffer params = {0}, result = {0};
        wt__mcp_pages_params(pages, &params);
        rc = params.failed ? wt__fail_nomem(err)
                           : wt__upstream_ask(connection, pages->method, wt__buffer_view(&params), &result, err);
        bool ends = rc < 0 && !wt__mcp_connection_is_lost(connection) && wt__mcp_pages_refused(pages);
        if (rc == 0 && pages->page_count == 0)
            read_ttl(wt__buffer_view(&result), ttl_ms);
        if (ends)
            rc = 0;
        else if (rc == 0)
            rc = wt__mcp_pages_take(pages, wt__buffer_view(&result), err);
        wt__buffer_dispose(&params);
        wt__buffer_dispose(&result);
    }
    return rc == WT_ENOTFOUND ? 0 : rc;
}

/* A list as an array; one that is broken is empty. *out is never NULL, but where memory is out. */
static int gather_array(struct mcp_connection *connection, const char *method, const char *member, json_t **out,
                        wt_error *err)
{
    struct mcp_pages pages = {.method = method, .member = member};
    double unused = 0;
    struct buffer text = {0};
    int rc = gather(connection, &pages, &unused, err);
    wt__buffer_char(&text, '[');
    wt__buffer_str(&text, wt__buffer_view(&pages.items));
    wt__buffer_char(&text, ']');
    *out = NULL;
    if (rc < 0 || text.failed || wt__json_parse(out, text.ptr, text.len, NULL) < 0)
        *out = json_array();
    wt__buffer_dispose(&text);
    wt__mcp_pages_dispose(&pages);
    if (!*out)
        return wt__fail_nomem(err);
    return wt__mcp_connection_is_lost(connection) ? rc : 0;
}

/* ---------------------------------------------------------------- what it offers */

static json_t *read_self(struct mcp_connection *connection)
{
    struct str self = wt__mcp_connection_self(connection);
    json_t *out = NULL;
    return wt__json_parse(&out, self.ptr ? self.ptr : "", self.len, NULL) == 0 ? out : json_object();
}

static int gather_tools(struct upstream *upstream, struct mcp_connection *connection, const json_t *self,
                        double *ttl_ms, wt_error *err)
{
    struct mcp_pages pages = {.method = "tools/list", .member = "tools", .server = upstream->server};
    struct buffer listing = {0};
    wt_error why = {0};
    int rc = gather(connection, &pages, ttl_ms, err);
    wt__buffer_text(&listing, "{\"tools\":[");
    wt__buffer_str(&listing, wt__buffer_view(&pages.items));
    wt__buffer_text(&listing, "]}");
    if (rc == 0 && listing.failed)
        rc = wt__fail_nomem(err);
    int taken = rc == 0 ? upstream->options.listed(upstream->options.context, upstream, wt__buffer_view(&listing),
                                                   wt__json_str(self, "instructions"), &why)
                        : 0;
    if (rc == 0 && taken == 0 && pages.warning) /* which is told as errors are, while the server serves on */
        taken = wt__fail(&why, WT_EFORMAT, "%s", pages.warning);
    else if (rc == 0 && taken == 0 && upstream->server->note)
        taken = wt__fail(&why, WT_EINVAL, "%s", upstream->server->note);
    pthread_mutex_lock(&upstream->lock);
    upstream->tool_count = pages.item_count;
    upstream->error = rc == 0 && taken < 0 ? why : (wt_error){0};
    pthread_mutex_unlock(&upstream->lock);
    wt__buffer_dispose(&listing);
    wt__mcp_pages_dispose(&pages);
    return rc;
}

/* What there is beside tools. changed: which of it is another than before. */
static int gather_rest(struct upstream *upstream, struct mcp_connection *connection, const json_t *self,
                       bool changed[UPSTREAM_CHANGES], wt_error *err)
{
    struct upstream_offer *offer = calloc(1, sizeof *offer);
    const json_t *capabilities = wt__json_object(self, "capabilities");
    bool has_resources = json_object_get(capabilities, "resources"),
         has_prompts = json_object_get(capabilities, "prompts");
    if (!offer)
        return wt__fail_nomem(err);
    atomic_init(&offer->refs, 1);
    offer->completes = json_object_get(capabilities, "completions");
    int rc = has_resources ? gather_array(connection, "resources/list", "resources", &offer->resources, err) : 0;
    if (rc == 0 && has_resources)
        rc = gather_array(connection, "resources/templates/list", "resourceTemplates", &offer->templates, err);
    if (rc == 0 && has_prompts)
        rc = gather_array(connection, "prompts/list", "prompts", &offer->prompts, err);
    offer->resources = offer->resources ? offer->resources : json_array();
    offer->templates = offer->templates ? offer->templates : json_array();
    offer->prompts = offer->prompts ? offer->prompts : json_array();
    if (rc < 0) {
        wt__upstream_offer_release(offer);
        return rc;
    }
    pthread_mutex_lock(&upstream->lock);
    struct upstream_offer *before = upstream->offer;
    upstream->offer = offer;
    pthread_mutex_unlock(&upstream->lock);
    changed[MCP_RESOURCES_CHANGED] |=
        !before || !json_equal(before->resources, offer->resources) || !json_equal(before->templates, offer->templates);
    changed[MCP_PROMPTS_CHANGED] |= !before || !json_equal(before->prompts, offer->prompts);
    wt__upstream_offer_release(before);
    return 0;
}

int wt__upstream_gather(struct upstream *upstream, struct mcp_connection *connection, double *ttl_ms, wt_error *err)
{
    bool stale[UPSTREAM_CHANGES], changed[UPSTREAM_CHANGES];
    pthread_mutex_lock(&upstream->lock);
    memcpy(stale, upstream->stale, sizeof stale);
    memcpy(changed, upstream->told, sizeof changed);
    memset(upstream->stale, 0, sizeof upstream->stale);
    memset(upstream->told, 0, sizeof upstream->told);
    pthread_mutex_unlock(&upstream->lock);
    json_t *self = read_self(connection);
    int rc = stale[MCP_TOOLS_CHANGED] ? gather_tools(upstream, connection, self, ttl_ms, err) : 0;
    if (rc == 0 && (stale[MCP_RESOURCES_CHANGED] || stale[MCP_PROMPTS_CHANGED]))
        rc = gather_rest(upstream, connection, self, changed, err);
    json_decref(self);
    for (int i = 0; rc == 0 && i < UPSTREAM_CHANGES; i++)
        if (changed[i])
            upstream->options.changed(upstream->options.context, upstream, (enum mcp_change)i);
    return rc;
}
