/* upstream_offer.c: what a server offers: its tools, resources, templates and prompts, listed page by page; what it
 * says of itself. */
#include <stdlib.h>

#include "gateway/listed_schemas.h"
#include "gateway/upstream_inside.h"
#include "mcp/mend.h"
#include "mcp/listing.h"

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

int wt__upstream_ask(struct mcp_connection *connection, const char *method, struct str params, unsigned timeout_ms,
                     struct buffer *result, wt_error *err)
{
    const struct mcp_request request = {.method = method, .params = params, .timeout_ms = timeout_ms};
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

/* Gathers all pages of a list. A server that does not know the method has none. timeout_ms: of a page, 0 for the default. */
static int gather(struct mcp_connection *connection, struct mcp_pages *pages, unsigned timeout_ms, double *ttl_ms,
                  wt_error *err)
{
    int rc = 1;
    while (rc > 0) {
        struct buffer params = {0}, result = {0};
        wt__mcp_pages_params(pages, &params);
        rc = params.failed
                 ? wt__fail_nomem(err)
                 : wt__upstream_ask(connection, pages->method, wt__buffer_view(&params), timeout_ms, &result, err);
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

/* A list as an array, its malformed items repaired or left out; *out is NULL if the server refuses to say, or out of
 * memory. */
static int gather_array(struct mcp_connection *connection, unsigned timeout_ms, const char *method, const char *member,
                        json_t **out, struct mcp_mends *mends, wt_error *err)
{
    struct mcp_pages pages = {.method = method, .member = member};
    double unused = 0;
    struct buffer text = {0};
    size_t kept;
    int rc = gather(connection, &pages, timeout_ms, &unused, err);
    wt__buffer_char(&text, '[');
    int mended = wt__mcp_mend_items(wt__buffer_view(&pages.items), member, &text, &kept, mends, err);
    wt__buffer_char(&text, ']');
    *out = NULL;
    if (rc == 0 && mended == 0 && !text.failed)
        wt__json_parse(out, text.ptr, text.len, NULL);
    wt__buffer_dispose(&text);
    wt__mcp_pages_dispose(&pages);
    return wt__mcp_connection_is_lost(connection) ? rc : 0;
}

/* ---------------------------------------------------------------- what it offers */

static json_t *read_self(struct mcp_connection *connection)
{
    struct str self = wt__mcp_connection_self(connection);
    json_t *out = NULL;
    return wt__json_parse(&out, self.ptr ? self.ptr : "", self.len, NULL) == 0 ? out : json_object();
}

/* The lists of one round. */
struct gathered {
    struct buffer tools; /* {"tools":[...]} */
    size_t tool_count;
    struct upstream_offer rest;
    struct mcp_mends mends[2]; /* as of struct upstream */
};

/* Gathers the tools. *why: what is odd about the list or the server's entry, which does not keep the server from
 * running; code 0 if nothing is. */
static int gather_tools(const struct upstream *upstream, struct mcp_connection *connection, struct gathered *got,
                        double *ttl_ms, wt_error *why, wt_error *err)
{
    struct mcp_pages pages = {.method = "tools/list", .member = "tools", .server = upstream->server};
    struct buffer *text = &got->tools, mended = {0};
    int rc = gather(connection, &pages, upstream->server->call_timeout_ms, ttl_ms, err);
    if (rc == 0)
        rc = wt__mcp_mend_items(wt__buffer_view(&pages.items), "tools", &mended, &got->tool_count, &got->mends[0], err);
    wt__buffer_text(text, "{\"tools\":[");
    if (rc == 0)
        rc = wt__listed_schemas_mend(wt__buffer_view(&mended), text, &got->mends[0], err);
    wt__buffer_dispose(&mended);
    wt__buffer_text(text, "]}");
    if (pages.warning)
        wt__fail(why, WT_EFORMAT, "%s", pages.warning);
    else if (upstream->server->note)
        wt__fail(why, WT_EINVAL, "%s", upstream->server->note);
    wt__mcp_pages_dispose(&pages);
    return rc == 0 && text->failed ? wt__fail_nomem(err) : rc;
}

/* Gathers prompts, resources and templates. The list of a kind that the server does not declare is empty. */
static int gather_rest(const struct upstream *upstream, struct mcp_connection *connection, const json_t *self,
                       struct gathered *got, wt_error *err)
{
    unsigned configured = upstream->server->call_timeout_ms;
    unsigned timeout_ms = configured > 0 && configured < UPSTREAM_REST_MS ? configured : UPSTREAM_REST_MS;
    struct upstream_offer *out = &got->rest;
    struct mcp_mends *mends = &got->mends[1];
    const json_t *capabilities = wt__json_object(self, "capabilities");
    bool has_resources = json_object_get(capabilities, "resources"),
         has_prompts = json_object_get(capabilities, "prompts");
    out->completes = json_object_get(capabilities, "completions");
    int rc = 0;
    if (has_resources)
        rc = gather_array(connection, timeout_ms, "resources/list", "resources", &out->resources, mends, err);
    else
        out->resources = json_array();
    if (rc == 0 && has_resources)
        rc = gather_array(connection, timeout_ms, "resources/templates/list", "resourceTemplates", &out->templates,
                          mends, err);
    else if (rc == 0)
        out->templates = json_array();
    if (rc == 0 && has_prompts)
        rc = gather_array(connection, timeout_ms, "prompts/list", "prompts", &out->prompts, mends, err);
    else if (rc == 0)
        out->prompts = json_array();
    return rc;
}

/* The list, or where it could not be had the one before. */
static json_t *list_or_before(const json_t *list, const json_t *before)
{
    return list ? json_incref((json_t *)list) : before ? json_incref((json_t *)before) : json_array();
}

/* Remembers what was listed. What is offered of it says whoever knows what is approved. */
static int keep_listed(struct upstream *upstream, const struct upstream_offer *got, wt_error *err)
{
    struct upstream_offer *listed = calloc(1, sizeof *listed);
    if (!listed)
        return wt__fail_nomem(err);
    atomic_init(&listed->refs, 1);
    listed->completes = got->completes;
    pthread_mutex_lock(&upstream->lock);
    struct upstream_offer *before = upstream->listed;
    listed->resources = list_or_before(got->resources, before ? before->resources : NULL);
    listed->templates = list_or_before(got->templates, before ? before->templates : NULL);
    listed->prompts = list_or_before(got->prompts, before ? before->prompts : NULL);
    bool whole = listed->resources && listed->templates && listed->prompts;
    if (whole)
        upstream->listed = listed;
    pthread_mutex_unlock(&upstream->lock);
    wt__upstream_offer_release(whole ? before : listed);
    return whole ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- what of it is approved */

/* The definitions by their names; NULL when memory is out. */
static json_t *index_by_name(const json_t *list, const char *key)
{
    json_t *index = json_object();
    for (size_t i = 0; index && i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, key));
        if (name && json_object_set(index, name, item) < 0) {
            json_decref(index);
            index = NULL;
        }
    }
    return index;
}

/* The definitions that are as they were approved, in the server's order; NULL when memory is out. */
static json_t *keep_approved(const json_t *listed, const json_t *approved, const char *key)
{
    json_t *index = index_by_name(approved, key), *out = json_array();
    bool whole = index && out;
    for (size_t i = 0; whole && i < json_array_size(listed); i++) {
        json_t *item = json_array_get(listed, i);
        const char *name = json_string_value(json_object_get(item, key));
        const json_t *same = name ? json_object_get(index, name) : NULL;
        if (!same || !json_equal(same, item))
            continue;
        whole = json_array_append(out, item) == 0 && json_object_del(index, name) == 0;
    }
    json_decref(index);
    if (whole)
        return out;
    json_decref(out);
    return NULL;
}

static struct upstream_offer *hold_listed(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->lock);
    struct upstream_offer *listed = upstream->listed;
    if (listed)
        atomic_fetch_add(&listed->refs, 1);
    pthread_mutex_unlock(&upstream->lock);
    return listed;
}

static size_t count_offers(const struct upstream_offer *offer)
{
    return offer
               ? json_array_size(offer->resources) + json_array_size(offer->templates) + json_array_size(offer->prompts)
               : 0;
}

bool wt__upstream_withholds(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->lock);
    bool withholds = count_offers(upstream->listed) > count_offers(upstream->offer);
    pthread_mutex_unlock(&upstream->lock);
    return withholds;
}

int wt__upstream_approve_offers(struct upstream *upstream, const struct approved_offers *approved, wt_error *err)
{
    struct upstream_offer *listed = hold_listed(upstream), *offer = listed ? calloc(1, sizeof *offer) : NULL;
    bool changed[UPSTREAM_CHANGES] = {false};
    if (!listed)
        return 0;
    if (offer) {
        atomic_init(&offer->refs, 1);
        offer->completes = listed->completes;
        offer->resources = keep_approved(listed->resources, approved->resources, "uri");
        offer->templates = keep_approved(listed->templates, approved->templates, "uriTemplate");
        offer->prompts = keep_approved(listed->prompts, approved->prompts, "name");
    }
    bool whole = offer && offer->resources && offer->templates && offer->prompts;
    struct upstream_offer *dropped = offer;
    pthread_mutex_lock(&upstream->lock);
    bool current = whole && upstream->listed == listed; /* else whoever took the newer list approves of it */
    struct upstream_offer *before = upstream->offer;
    if (current) {
        dropped = before;
        upstream->offer = offer;
        upstream->offers_waiting = count_offers(listed) - count_offers(offer);
        changed[MCP_RESOURCES_CHANGED] = !before || !json_equal(before->resources, offer->resources) ||
                                         !json_equal(before->templates, offer->templates);
        changed[MCP_PROMPTS_CHANGED] = !before || !json_equal(before->prompts, offer->prompts);
    }
    pthread_mutex_unlock(&upstream->lock); /* from here on another thread may put a newer one in its place */
    wt__upstream_offer_release(dropped);
    wt__upstream_offer_release(listed);
    for (int i = 0; i < UPSTREAM_CHANGES; i++)
        if (changed[i])
            upstream->options.changed(upstream->options.context, upstream, (enum mcp_change)i);
    return whole ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- a listing */

/* NULL: it was not told. */
static const char *write_list(const json_t *list, struct buffer *out)
{
    return list && wt__json_write(out, list) == 0 && !out->failed ? out->ptr : NULL;
}

/* Tells what was listed. An error is the upstream's, not the connection's. */
static void tell_listed(struct upstream *upstream, struct str tools, struct str instructions, struct gathered *got,
                        const bool is_news[2], wt_error *why)
{
    struct buffer texts[3] = {0};
    struct upstream_listing listing = {.tools = tools,
                                       .instructions = instructions,
                                       .prompts = write_list(got->rest.prompts, &texts[0]),
                                       .resources = write_list(got->rest.resources, &texts[1]),
                                       .templates = write_list(got->rest.templates, &texts[2])};
    for (int i = 0; i < 2; i++) {
        listing.mended += is_news[i] ? got->mends[i].mended : 0;
        listing.left_out += is_news[i] ? got->mends[i].left_out : 0;
        listing.faulty_schemas += is_news[i] ? got->mends[i].faulty_schemas : 0;
    }
    if (upstream->options.listed(upstream->options.context, upstream, &listing, why) == 0)
        *why = (wt_error){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wt__buffer_dispose(&texts[i]);
}

/* Keeps the notes of one list. True if they are others than before. */
static bool keep_mends(struct upstream *upstream, struct mcp_mends *got, int which)
{
    pthread_mutex_lock(&upstream->lock);
    struct mcp_mends *kept = &upstream->mends[which], before = *kept;
    bool is_news = !wt__str_equal(wt__buffer_view(&before.notes), wt__buffer_view(&got->notes)) ||
                   before.mended != got->mended || before.left_out != got->left_out ||
                   before.faulty_schemas != got->faulty_schemas;
    *kept = *got;
    pthread_mutex_unlock(&upstream->lock);
    wt__buffer_dispose(&before.notes);
    got->notes = (struct buffer){0};
    return is_news;
}

/* Asks for the lists that are stale. */
static int gather_lists(struct upstream *upstream, struct mcp_connection *connection, bool has_tools, bool has_rest,
                        double *ttl_ms, wt_error *err)
{
    json_t *self = read_self(connection);
    struct gathered got = {0};
    bool is_news[2];
    wt_error why = {0}, odd = {0};
    int rc = has_tools ? gather_tools(upstream, connection, &got, ttl_ms, &odd, err) : 0;
    if (rc == 0 && has_rest)
        rc = gather_rest(upstream, connection, self, &got, err);
    if (rc == 0 && has_rest)
        rc = keep_listed(upstream, &got.rest, err);
    is_news[0] = rc == 0 && has_tools && keep_mends(upstream, &got.mends[0], 0);
    is_news[1] = rc == 0 && has_rest && keep_mends(upstream, &got.mends[1], 1);
    if (rc == 0 && (has_tools || has_rest))
        tell_listed(upstream, has_tools ? wt__buffer_view(&got.tools) : (struct str){0},
                    wt__json_str(self, "instructions"), &got, is_news, &why);
    pthread_mutex_lock(&upstream->lock);
    if (has_tools)
        upstream->tool_count = got.tool_count;
    if (has_tools || why.code != 0)
        upstream->error = why.code != 0 ? why : odd;
    pthread_mutex_unlock(&upstream->lock);
    json_decref(got.rest.resources);
    json_decref(got.rest.templates);
    json_decref(got.rest.prompts);
    json_decref(self);
    wt__buffer_dispose(&got.tools);
    wt__mcp_mends_dispose(&got.mends[0]);
    wt__mcp_mends_dispose(&got.mends[1]);
    return rc;
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
    int rc = gather_lists(upstream, connection, stale[MCP_TOOLS_CHANGED],
                          stale[MCP_RESOURCES_CHANGED] || stale[MCP_PROMPTS_CHANGED], ttl_ms, err);
    for (int i = 0; rc == 0 && i < UPSTREAM_CHANGES; i++)
        if (changed[i])
            upstream->options.changed(upstream->options.context, upstream, (enum mcp_change)i);
    return rc;
}
