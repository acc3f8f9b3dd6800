/* upstream_offer.c: requests and repairs the lists of a server (tools, resources, templates, prompts), and selects the
 * approved resources, templates and prompts. */
#include "gateway/upstream.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "engine/validator.h"
#include "mcp/mend.h"
#include "mcp/message.h"
#include "serve/mcp/input.h"
#include "mcp/listing.h"

void wt__upstream_offer_release(struct upstream_offer *offer)
{
    if (!offer || atomic_fetch_sub(&offer->refs, 1) != 1)
        return;
    json_decref(offer->resources);
    json_decref(offer->templates);
    json_decref(offer->prompts);
    free(offer);
}

/* Returns *place with a new reference, or NULL. place: address of `offer` or `listed` of the upstream. */
static struct upstream_offer *hold_offer(struct upstream *upstream, struct upstream_offer *const *place)
{
    pthread_mutex_lock(&upstream->lock);
    struct upstream_offer *offer = *place;
    if (offer)
        atomic_fetch_add(&offer->refs, 1);
    pthread_mutex_unlock(&upstream->lock);
    return offer;
}

struct upstream_offer *wt__upstream_offer(struct upstream *upstream)
{
    return hold_offer(upstream, &upstream->offer);
}

/* ---------------------------------------------------------------- requests */

int wt__upstream_ask(struct mcp_connection *connection, const char *method, struct str params, unsigned timeout_ms,
                     struct buffer *result, wt_error *err)
{
    const struct mcp_request request = {.method = method, .params = params, .timeout_ms = timeout_ms};
    struct mcp_exchange *exchange = NULL;
    struct mcp_event event;
    int64_t code = 0;
    int rc = wt__mcp_exchange_begin(&exchange, connection, &request, err);
    static const struct str refusal = STR("{\"code\":-32601,\"message\":\"no client can answer this request\"}");
    do {
        if (rc == 0)
            rc = wt__mcp_exchange_next(exchange, &event, err);
        if (rc == 0 && event.kind == MCP_EVENT_ASKED)
            rc = wt__mcp_exchange_reply(exchange, event.id, STR(""), refusal, err);
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

/* Sets *ttl_ms to the lifetime in a result of a list method, or to UPSTREAM_LEAST_TTL_MS if that is longer. Leaves
 * *ttl_ms unchanged if the result has no lifetime. */
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

/* Collects all pages of a list. The list is empty if the server does not know the method. timeout_ms: for a page; 0 for
 * the default. */
static int gather_pages(struct mcp_connection *connection, struct mcp_pages *pages, unsigned timeout_ms, double *ttl_ms,
                        wt_error *err)
{
    int rc = 1;
    while (rc > 0) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0}, result = {0};
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
    }
    return rc == WT_ENOTFOUND ? 0 : rc;
}

/* Reads a list and repairs or leaves out malformed items. Sets *out to the array, or to NULL if the server refuses or
 * memory is exhausted. Fails only if the connection is lost. */
static int gather_array(struct mcp_connection *connection, unsigned timeout_ms, const char *method, const char *member,
                        json_t **out, struct mcp_mends *mends, wt_error *err)
{
    WT_CLEANUP(wt__mcp_pages_dispose) struct mcp_pages pages = {.method = method, .member = member};
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    double unused = 0;
    size_t kept;
    int rc = gather_pages(connection, &pages, timeout_ms, &unused, err);
    wt__buffer_char(&text, '[');
    int mended = wt__mcp_mend_items(wt__buffer_view(&pages.items), member, &text, &kept, mends, err);
    wt__buffer_char(&text, ']');
    *out = NULL;
    if (rc == 0 && mended == 0 && !text.failed)
        wt__json_parse(out, text.ptr, text.len, NULL);
    return wt__mcp_connection_is_lost(connection) ? rc : 0;
}

/* ---------------------------------------------------------------- faulty schemas */

/* Notes a fault of a schema. tool: name of the tool, as JSON. what: the fault and its consequence. why: the reason. */
static void note_faulty_schema(struct mcp_mends *mends, struct str tool, const char *what, const char *why)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    json_auto_t *name = NULL;
    wt__json_parse(&name, tool.ptr, tool.len, NULL);
    wt__buffer_printf(&text, "%s: %s", what, why);
    if (!text.failed)
        wt__mcp_mends_note(mends, "tool", (struct str){json_string_value(name), json_string_length(name)}, text.ptr);
    mends->notes.failed |= text.failed;
    mends->faulty_schemas++;
}

/* Adds a note if not all of the input schema can be used for validation. Returns 0 or WT_ENOMEM. */
static int check_input_schema(struct str tool, struct str name, struct mcp_mends *mends, wt_error *err)
{
    static const char *const notes[] = {
        [MCP_CHECKS_PART] = "inputSchema does not compile; arguments are checked against its valid part",
        [MCP_CHECKS_NOTHING] = "inputSchema does not compile; arguments are not checked"};
    struct mcp_input *input = NULL;
    struct str schema;
    if (!wt__mcp_member(tool, "inputSchema", &schema) || schema.len == 0)
        return 0;
    int rc = wt__mcp_input_open(&input, schema, err);
    if (rc < 0) /* invalid x-mcp-header: the view leaves the tool out */
        return rc == WT_ENOMEM ? rc : 0;
    if (notes[wt__mcp_input_checks(input)])
        note_faulty_schema(mends, name, notes[wt__mcp_input_checks(input)], wt__mcp_input_unchecked(input));
    wt__mcp_input_close(input);
    return 0;
}

/* Returns 1 if a schema compiles in a known dialect, 0 with *why if it does not, or WT_ENOMEM. */
static int schema_compiles(struct str schema, wt_error *why)
{
    wt_validator *validator;
    struct schema_drops drops = {0};
    int rc = wt_validator_open(&validator, schema.ptr, schema.len, NULL, why);
    if (rc < 0 && rc != WT_ENOMEM)
        rc = wt__validator_open_lenient(&validator, schema, &drops, NULL);
    wt_validator_close(validator);
    return rc == WT_ENOMEM ? rc : rc == 0 && drops.count == 0;
}

/* Appends a tool and notes its faulty schemas. Removes an output schema that does not compile. */
static int put_mended_tool(struct str tool, struct buffer *out, struct mcp_mends *mends, wt_error *err)
{
    struct str name = STR(""), output = STR("");
    json_auto_t *tree = NULL;
    wt_error why = {0};
    wt__mcp_member(tool, "name", &name);
    WT_TRY(check_input_schema(tool, name, mends, err));
    wt__mcp_member(tool, "outputSchema", &output);
    int compiles = output.len > 0 ? schema_compiles(output, &why) : 1;
    if (compiles == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (compiles) {
        wt__buffer_str(out, tool);
        return 0;
    }
    note_faulty_schema(mends, name, "outputSchema does not compile and is ignored", why.message);
    WT_TRY(wt__json_parse(&tree, tool.ptr, tool.len, err));
    return json_object_del(tree, "outputSchema") < 0 || wt__json_write(out, tree) < 0 ? wt__fail_nomem(err) : 0;
}

/* Appends the tools of a list that wt__mcp_mend_items has written. A tool with an input schema that does not compile
 * stays, and a note says how far its arguments are checked. An output schema that does not compile is removed, since
 * clients compile every output schema of a list. Returns 0 or WT_ENOMEM. */
static int repair_listed_schemas(struct str list, struct buffer *out, struct mcp_mends *mends, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer whole = {0};
    struct json_scan scan;
    struct json_item item;
    wt__buffer_char(&whole, '[');
    wt__buffer_str(&whole, list);
    wt__buffer_char(&whole, ']');
    if (whole.failed)
        return wt__fail_nomem(err);
    wt__json_scan_open(&scan, wt__buffer_view(&whole), 0, 1);
    for (bool is_first = true; wt__json_scan_next(&scan, &item) > 0; is_first = false) {
        if (!is_first)
            wt__buffer_char(out, ',');
        WT_TRY(put_mended_tool(item.value, out, mends, err));
    }
    return out->failed || mends->notes.failed ? wt__fail_nomem(err) : 0;
}

/* ---------------------------------------------------------------- listings */

/* Returns what the server said about itself when the connection was opened (serverInfo, capabilities, ...), or an empty
 * object. */
static json_t *read_server_info(struct mcp_connection *connection)
{
    struct str self = wt__mcp_connection_self(connection);
    json_t *out = NULL;
    return wt__json_parse(&out, self.ptr ? self.ptr : "", self.len, NULL) == 0 ? out : json_object();
}

/* The lists that wt__upstream_gather has requested. A list that was not requested is empty or NULL. */
struct gathered_lists {
    struct buffer tools;        /* {"tools":[...]} */
    size_t tool_count;          /* number of tools in `tools` */
    struct upstream_offer rest; /* resources, templates and prompts; refs is not used */
    struct mcp_mends mends[2];  /* see struct upstream */
};

/* Reads all pages of the tools and repairs them. */
static int gather_tool_pages(struct mcp_connection *connection, struct mcp_pages *pages, struct gathered_lists *got,
                             double *ttl_ms, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer mended = {0};
    WT_TRY(gather_pages(connection, pages, pages->server->call_timeout_ms, ttl_ms, err));
    WT_TRY(wt__mcp_mend_items(wt__buffer_view(&pages->items), "tools", &mended, &got->tool_count, &got->mends[0], err));
    wt__buffer_text(&got->tools, "{\"tools\":[");
    WT_TRY(repair_listed_schemas(wt__buffer_view(&mended), &got->tools, &got->mends[0], err));
    wt__buffer_text(&got->tools, "]}");
    return got->tools.failed ? wt__fail_nomem(err) : 0;
}

/* Collects the tools. *why: a problem with the list or the server's configuration entry that does not stop the server;
 * code 0 if there is no problem. */
static int gather_tools(const struct upstream *upstream, struct mcp_connection *connection, struct gathered_lists *got,
                        double *ttl_ms, wt_error *why, wt_error *err)
{
    WT_CLEANUP(wt__mcp_pages_dispose)
    struct mcp_pages pages = {.method = "tools/list", .member = "tools", .server = upstream->server};
    int rc = gather_tool_pages(connection, &pages, got, ttl_ms, err);
    if (pages.warning)
        wt__fail(why, WT_EFORMAT, "%s", pages.warning);
    else if (upstream->server->note)
        wt__fail(why, WT_EINVAL, "%s", upstream->server->note);
    return rc;
}

/* Collects resources, templates and prompts. The list of a capability that the server does not declare is empty. */
static int gather_offers(const struct upstream *upstream, struct mcp_connection *connection, const json_t *self,
                         struct gathered_lists *got, wt_error *err)
{
    unsigned configured = upstream->server->call_timeout_ms;
    unsigned timeout_ms = configured > 0 && configured < UPSTREAM_REST_MS ? configured : UPSTREAM_REST_MS;
    struct upstream_offer *out = &got->rest;
    struct mcp_mends *mends = &got->mends[1];
    const json_t *capabilities = wt__json_object(self, "capabilities");
    out->completes = json_object_get(capabilities, "completions");
    if (json_object_get(capabilities, "resources")) {
        WT_TRY(gather_array(connection, timeout_ms, "resources/list", "resources", &out->resources, mends, err));
        WT_TRY(gather_array(connection, timeout_ms, "resources/templates/list", "resourceTemplates", &out->templates,
                            mends, err));
    } else {
        out->resources = json_array();
        out->templates = json_array();
    }
    if (json_object_get(capabilities, "prompts"))
        return gather_array(connection, timeout_ms, "prompts/list", "prompts", &out->prompts, mends, err);
    out->prompts = json_array();
    return 0;
}

/* Returns the list. If `list` is NULL, since the server's list could not be read, returns the previous list, or an
 * empty one if `before` is NULL too. Returns NULL if out of memory. */
static json_t *list_or_previous(const json_t *list, const json_t *before)
{
    return list ? json_incref((json_t *)list) : before ? json_incref((json_t *)before) : json_array();
}

/* Stores the listed items. wt__upstream_approve_offers selects the approved items. */
static int store_listed(struct upstream *upstream, const struct upstream_offer *got, wt_error *err)
{
    struct upstream_offer *listed = calloc(1, sizeof *listed);
    WT_CHECK_ALLOC(listed, err);
    atomic_init(&listed->refs, 1);
    listed->completes = got->completes;
    pthread_mutex_lock(&upstream->lock);
    struct upstream_offer *before = upstream->listed;
    listed->resources = list_or_previous(got->resources, before ? before->resources : NULL);
    listed->templates = list_or_previous(got->templates, before ? before->templates : NULL);
    listed->prompts = list_or_previous(got->prompts, before ? before->prompts : NULL);
    bool whole = listed->resources && listed->templates && listed->prompts;
    if (whole)
        upstream->listed = listed;
    pthread_mutex_unlock(&upstream->lock);
    wt__upstream_offer_release(whole ? before : listed);
    return whole ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- approvals */

/* Returns an object from the names of items to the items, or NULL if out of memory. key: member with the name. */
static json_t *index_by_name(const json_t *list, const char *key)
{
    json_auto_t *index = json_object();
    for (size_t i = 0; index && i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, key));
        if (name && json_object_set(index, name, item) < 0)
            return NULL;
    }
    return WT_TAKE(index);
}

/* Returns copies of the listed items that equal the approved items of the same name, or NULL if out of memory. Leaves
 * out a second item with the same name. Copies the items, since several threads may select from one list, and jansson
 * reads reference counts without synchronisation. */
static json_t *select_approved(const json_t *listed, const json_t *approved, const char *key)
{
    json_auto_t *index = index_by_name(approved, key), *out = json_array();
    if (!index || !out)
        return NULL;
    for (size_t i = 0; i < json_array_size(listed); i++) {
        json_t *item = json_array_get(listed, i);
        const char *name = json_string_value(json_object_get(item, key));
        const json_t *same = name ? json_object_get(index, name) : NULL;
        if (!same || !json_equal(same, item))
            continue;
        if (json_array_append_new(out, json_deep_copy(item)) < 0 || json_object_del(index, name) < 0)
            return NULL;
    }
    return WT_TAKE(out);
}

static size_t count_offers(const struct upstream_offer *offer)
{
    if (!offer)
        return 0;
    return json_array_size(offer->resources) + json_array_size(offer->templates) + json_array_size(offer->prompts);
}

bool wt__upstream_has_withheld(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->lock);
    bool withholds = count_offers(upstream->listed) > count_offers(upstream->offer);
    pthread_mutex_unlock(&upstream->lock);
    return withholds;
}

int wt__upstream_approve_offers(struct upstream *upstream, const struct approved_offers *approved, wt_error *err)
{
    struct upstream_offer *listed = hold_offer(upstream, &upstream->listed),
                          *offer = listed ? calloc(1, sizeof *offer) : NULL;
    bool changed[UPSTREAM_CHANGES] = {false};
    if (!listed)
        return 0;
    if (offer) {
        atomic_init(&offer->refs, 1);
        offer->completes = listed->completes;
        offer->resources = select_approved(listed->resources, approved->resources, "uri");
        offer->templates = select_approved(listed->templates, approved->templates, "uriTemplate");
        offer->prompts = select_approved(listed->prompts, approved->prompts, "name");
    }
    bool whole = offer && offer->resources && offer->templates && offer->prompts;
    struct upstream_offer *dropped = offer;
    pthread_mutex_lock(&upstream->lock);
    bool current =
        whole && upstream->listed == listed; /* if not, the thread with the newer list applies the approvals */
    struct upstream_offer *before = upstream->offer;
    if (current) {
        dropped = before;
        upstream->offer = offer;
        upstream->offers_waiting = count_offers(listed) - count_offers(offer);
        changed[MCP_RESOURCES_CHANGED] = !before || !json_equal(before->resources, offer->resources) ||
                                         !json_equal(before->templates, offer->templates);
        changed[MCP_PROMPTS_CHANGED] = !before || !json_equal(before->prompts, offer->prompts);
    }
    pthread_mutex_unlock(&upstream->lock); /* another thread may replace the offer from here on */
    wt__upstream_offer_release(dropped);
    wt__upstream_offer_release(listed);
    for (int i = 0; i < UPSTREAM_CHANGES; i++)
        if (changed[i])
            upstream->options.notify_change(upstream->options.context, upstream, (enum mcp_change)i);
    return whole ? 0 : wt__fail_nomem(err);
}

/* ---------------------------------------------------------------- reports */

/* Returns the list as JSON, or NULL if there is no list. */
static const char *write_list(const json_t *list, struct buffer *out)
{
    return list && wt__json_write(out, list) == 0 && !out->failed ? out->ptr : NULL;
}

/* Passes a listing to take_listing. *why: the error, code 0 on success. is_news: results of store_mends for
 * got->mends[0] and [1]. */
static void report_listing(struct upstream *upstream, struct str tools, struct str instructions,
                           struct gathered_lists *got, const bool is_news[2], wt_error *why)
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
    if (upstream->options.take_listing(upstream->options.context, upstream, &listing, why) == 0)
        *why = (wt_error){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wt__buffer_dispose(&texts[i]);
}

/* Moves the notes and numbers of *got to upstream->mends[which]. Returns true if they differ from the notes and numbers
 * stored before. */
static bool store_mends(struct upstream *upstream, struct mcp_mends *got, int which)
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

/* Requests and reports the list of tools (if has_tools) and the lists of resources, templates and prompts (if
 * has_rest). */
static int gather_lists(struct upstream *upstream, struct mcp_connection *connection, bool has_tools, bool has_rest,
                        double *ttl_ms, wt_error *err)
{
    json_auto_t *self = read_server_info(connection);
    struct gathered_lists got = {0};
    bool is_news[2];
    wt_error why = {0}, odd = {0};
    int rc = has_tools ? gather_tools(upstream, connection, &got, ttl_ms, &odd, err) : 0;
    if (rc == 0 && has_rest)
        rc = gather_offers(upstream, connection, self, &got, err);
    if (rc == 0 && has_rest)
        rc = store_listed(upstream, &got.rest, err);
    is_news[0] = rc == 0 && has_tools && store_mends(upstream, &got.mends[0], 0);
    is_news[1] = rc == 0 && has_rest && store_mends(upstream, &got.mends[1], 1);
    if (rc == 0 && (has_tools || has_rest))
        report_listing(upstream, has_tools ? wt__buffer_view(&got.tools) : (struct str){0},
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
            upstream->options.notify_change(upstream->options.context, upstream, (enum mcp_change)i);
    return rc;
}
