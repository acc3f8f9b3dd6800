/* gateway.c: the servers, the view of their tools, and notifications of changes. */
#include "gateway/internal.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "catalog/pins.h"
#include "engine/engine.h"
#include "store/review.h"
#include "mcp/config.h"
#include "whichtool/audit.h"

/* ---------------------------------------------------------------- the view */

struct tool_view *wt__gateway_view(struct gateway *gateway)
{
    pthread_mutex_lock(&gateway->lock);
    struct tool_view *view = gateway->view ? wt__view_keep(gateway->view) : NULL;
    pthread_mutex_unlock(&gateway->lock);
    return view;
}

/* Notifies all services of a changed list. */
static void notify_services(struct gateway *gateway, enum mcp_change change)
{
    pthread_mutex_lock(&gateway->services_lock);
    for (size_t i = 0; i < gateway->service_count; i++)
        wt__mcp_service_changed(gateway->services[i], change);
    pthread_mutex_unlock(&gateway->services_lock);
}

/* True if the gateway is on a replica, whose approvals are those of the writer. */
static bool is_on_replica(const struct gateway *gateway)
{
    return wt__store_replica_of(gateway->engine->store) != NULL;
}

/* True if the view has the generation of the catalogue, or if this generation cannot be read, and the same tools wait
 * for approval. */
static bool is_view_current(struct gateway *gateway)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    bool known = wt_info(gateway->engine, &info, NULL) == 0;
    pthread_mutex_lock(&gateway->lock);
    bool current = gateway->view && !gateway->view_is_stale && (!known || gateway->view->generation == info.generation);
    pthread_mutex_unlock(&gateway->lock);
    return current;
}

static void mark_view_stale(struct gateway *gateway, bool is_stale)
{
    pthread_mutex_lock(&gateway->lock);
    gateway->view_is_stale = is_stale;
    pthread_mutex_unlock(&gateway->lock);
}

/* Replaces the view if it is not current. Returns 1 if it was replaced, 0 if not, or a negative code. */
static int renew_view(struct gateway *gateway, wt_error *err)
{
    struct tool_view *view;
    if (is_view_current(gateway))
        return 0;
    const struct view_options options = {.upstreams = gateway->upstreams,
                                         .count = gateway->count,
                                         .bare_names = gateway->options.bare_names,
                                         .lock = gateway->lock_pins};
    mark_view_stale(gateway, false);
    int rc = wt__view_open(&view, gateway->engine, &options, err);
    if (rc < 0) {
        mark_view_stale(gateway, true);
        return rc;
    }
    pthread_mutex_lock(&gateway->lock);
    struct tool_view *before = gateway->view;
    gateway->view = view;
    pthread_mutex_unlock(&gateway->lock);
    wt__view_release(before);
    return 1;
}

int wt__gateway_renew(struct gateway *gateway, wt_error *err)
{
    pthread_mutex_lock(&gateway->renew_lock);
    int rc = renew_view(gateway, err);
    pthread_mutex_unlock(&gateway->renew_lock);
    if (rc > 0)
        notify_services(gateway, MCP_TOOLS_CHANGED);
    return rc < 0 ? rc : 0;
}

static bool view_has_server(const struct tool_view *view, const struct upstream *upstream)
{
    for (size_t i = 0; view && i < view->count; i++)
        if (view->tools[i]->upstream == upstream)
            return true;
    return false;
}

bool wt__gateway_has_tools_of(struct gateway *gateway, const struct upstream *upstream)
{
    struct tool_view *view = wt__gateway_view(gateway);
    bool known = view_has_server(view, upstream);
    wt__view_release(view);
    return known;
}

/* False while a server that is starting for the first time has not sent its lists. rest: true for the lists of
 * resources and prompts, false for the lists of tools. */
static bool are_lists_settled(struct gateway *gateway, bool rest)
{
    struct tool_view *view = wt__gateway_view(gateway);
    bool settled = true;
    for (size_t i = 0; settled && i < gateway->count; i++) {
        struct upstream_status status;
        wt__upstream_status(gateway->upstreams[i], &status);
        bool known = rest ? status.has_offer : view_has_server(view, gateway->upstreams[i]);
        settled = status.state != UPSTREAM_STARTING || status.failures > 0 || known;
    }
    wt__view_release(view);
    return settled;
}

/* Waits up to list_wait_ms for the lists. Returns the last result of are_lists_settled. */
static bool wait_until_settled(struct gateway *gateway, bool rest)
{
    double until = wt__now_ms() + gateway->options.list_wait_ms;
    bool settled = are_lists_settled(gateway, rest);
    while (!settled && !atomic_load(&gateway->stopping) && wt__now_ms() < until) {
        pthread_mutex_lock(&gateway->lock);
        wt__steady_wait(&gateway->turn, &gateway->lock, wt__now_ms() + GATEWAY_SETTLE_MS);
        pthread_mutex_unlock(&gateway->lock);
        settled = are_lists_settled(gateway, rest);
    }
    return settled;
}

bool wt__gateway_wait_for_tools(struct gateway *gateway)
{
    return wait_until_settled(gateway, false);
}

bool wt__gateway_knows_all_tools(struct gateway *gateway)
{
    return gateway->options.list_wait_ms == 0 || are_lists_settled(gateway, false);
}

void wt__gateway_wait_for_offers(struct gateway *gateway)
{
    wait_until_settled(gateway, true);
}

/* ---------------------------------------------------------------- listings of servers */

/* Reports a sentence to the operator, unless the buffer has failed, and disposes of the buffer. failing: see
 * gateway_options.report. */
static void report_sentence(struct gateway *gateway, bool failing, struct buffer *sentence)
{
    if (gateway->options.report && !sentence->failed)
        gateway->options.report(gateway->options.report_context, failing, sentence->ptr);
    wt__buffer_dispose(sentence);
}

/* Reports the items of the server `name` that wait for approval. deceives: see is_first_list_trusted. */
static void report_waiting(struct gateway *gateway, const char *name, const wt_review_report *report, bool deceives)
{
    struct buffer sentence = {0};
    size_t tools = report->waiting_count + report->beyond;
    size_t offers = report->offers_waiting, all = tools + offers;
    wt__buffer_printf(&sentence, "%s: ", name);
    if (tools > 0)
        wt__buffer_printf(&sentence, "%zu tool%s", tools, tools == 1 ? "" : "s");
    if (offers > 0)
        wt__buffer_printf(&sentence, "%s%zu prompt%s or resource%s", tools > 0 ? ", " : "", offers,
                          offers == 1 ? "" : "s", offers == 1 ? "" : "s");
    if (report->instructions_wait)
        wt__buffer_text(&sentence, all > 0 ? " and its instructions" : "its instructions");
    wt__buffer_printf(&sentence, " wait%s for approval%s: `%s %s`", all == 1 && !report->instructions_wait ? "s" : "",
                      deceives ? "; some texts contain instructions to a model or hidden text" : "",
                      gateway->options.approve ? gateway->options.approve : "whichtool mcp approve", name);
    report_sentence(gateway, false, &sentence);
}

/* Reports the first GATEWAY_MALFORMED_TOLD malformed definitions, each in its own sentence. */
static void report_notes(struct gateway *gateway, const char *name, struct upstream *upstream)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer notes = {0};
    size_t count = 0;
    wt__upstream_notes(upstream, &notes);
    const char *rest = notes.ptr ? notes.ptr : "";
    for (struct str note; count < GATEWAY_MALFORMED_TOLD && wt__str_line(&rest, &note); count++) {
        struct buffer sentence = {0};
        wt__buffer_printf(&sentence, "%s: %.*s", name, (int)note.len, note.ptr);
        report_sentence(gateway, false, &sentence);
    }
}

static void report_malformed(struct gateway *gateway, struct upstream *upstream, const struct upstream_listing *listing)
{
    static const char *const fates[] = {"repaired", "left out", "with a schema that does not compile"};
    const size_t counts[] = {listing->mended, listing->left_out, listing->faulty_schemas};
    const char *name = wt__upstream_name(upstream);
    struct buffer sentence = {0};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i] > 0)
            wt__buffer_printf(&sentence, "%s%s%zu %s", sentence.len > 0 ? "" : name,
                              sentence.len > 0 ? ", " : " lists malformed definitions: ", counts[i], fates[i]);
    if (sentence.len == 0)
        return;
    report_notes(gateway, name, upstream);
    wt__buffer_text(&sentence, "; `whichtool mcp status` names them");
    report_sentence(gateway, false, &sentence);
}

/* True if the first list of a server needs no approval. Sets *deceives if texts of the list contain instructions to a
 * model or hidden text. Returns false for a list that cannot be read; wt_review reports the error. */
static bool is_first_list_trusted(const struct gateway *gateway, const char *name,
                                  const struct upstream_listing *listing, const char *instructions, bool *deceives)
{
    const char *const offers[] = {listing->prompts, listing->resources, listing->templates};
    wt_audit_result *audit = NULL;
    int rc = wt_audit_listing(name, listing->tools.ptr, listing->tools.len, instructions, &audit, NULL);
    *deceives = rc == 0 && audit->errors > 0;
    wt_audit_free(audit);
    for (size_t i = 0; rc == 0 && i < sizeof offers / sizeof *offers; i++) {
        if (!offers[i] || (rc = wt_audit_offers(name, offers[i], &audit, NULL)) < 0)
            continue;
        *deceives |= audit->errors > 0;
        wt_audit_free(audit);
    }
    return rc == 0 && !*deceives && !gateway->options.review_first && gateway->options.lock.len == 0;
}

/* Removes the items whose hash has no pin, if the gateway has a lock. what: WT_REVIEW_PROMPT, _RESOURCE or
 * _TEMPLATE. */
static void drop_unpinned_offers(const struct gateway *gateway, const char *server, int what, json_t *list)
{
    static const char *const keys[] = {
        [WT_REVIEW_PROMPT] = "name", [WT_REVIEW_RESOURCE] = "uri", [WT_REVIEW_TEMPLATE] = "uriTemplate"};
    for (size_t i = json_array_size(list); gateway->lock_pins && i-- > 0;) {
        const json_t *item = json_array_get(list, i);
        char sha256[DEFINITION_DIGITS + 1];
        const struct pin *pin =
            wt__pins_offer(gateway->lock_pins, wt__review_words[what], wt__str(server), wt__json_str(item, keys[what]));
        if (!pin || wt__json_hash(item, sha256) < 0 || strcmp(pin->sha256, sha256) != 0)
            json_array_remove(list, i);
    }
}

static int read_approved_offers(const struct gateway *gateway, const char *server, int what, json_t **out,
                                wt_error *err)
{
    WT_AUTO_FREE char *text = NULL;
    WT_TRY(wt_approved_offers(gateway->engine, server, what, &text, err));
    WT_TRY(wt__json_parse(out, text, strlen(text), err));
    drop_unpinned_offers(gateway, server, what, *out);
    return 0;
}

/* Reads the approved resources, templates and prompts of a server from the store and shows the approved items to
 * clients. */
static int renew_offers(struct gateway *gateway, struct upstream *upstream, wt_error *err)
{
    const char *name = wt__upstream_name(upstream);
    json_auto_t *resources = NULL, *templates = NULL, *prompts = NULL;
    WT_TRY(read_approved_offers(gateway, name, WT_REVIEW_RESOURCE, &resources, err));
    WT_TRY(read_approved_offers(gateway, name, WT_REVIEW_TEMPLATE, &templates, err));
    WT_TRY(read_approved_offers(gateway, name, WT_REVIEW_PROMPT, &prompts, err));
    return wt__upstream_approve_offers(upstream, &(struct approved_offers){resources, templates, prompts}, err);
}

/* Reviews a listing (whichtool/review.h), and shows its approved items to clients. */
static int take_listing(void *context, struct upstream *upstream, const struct upstream_listing *listing, wt_error *err)
{
    struct gateway *gateway = context;
    const char *name = wt__upstream_name(upstream);
    wt_review_options options;
    wt_review_report *report = NULL;
    WT_CLEANUP(wt__buffer_dispose) struct buffer source = {0}, said = {0};
    bool deceives = false;
    wt__buffer_printf(&source, "mcp:gateway#%s", name);
    wt__buffer_str(&said, listing->instructions);
    wt__buffer_char(&said, '\0');
    wt_review_options_init(&options);
    options.source_name = source.ptr;
    options.trust_first = !said.failed && is_first_list_trusted(gateway, name, listing, said.ptr, &deceives);
    options.lock = gateway->options.lock.len > 0 ? gateway->options.lock.ptr : NULL;
    options.lock_len = gateway->options.lock.len;
    options.instructions = said.ptr;
    options.prompts = listing->prompts;
    options.resources = listing->resources;
    options.templates = listing->templates;
    pthread_mutex_lock(&gateway->import_lock);
    int rc = source.failed || said.failed
                 ? wt__fail_nomem(err)
                 : wt_review(gateway->engine, name, listing->tools.ptr, listing->tools.len, &options, &report, err);
    bool changed = false, more = report && wt__upstream_set_waiting(upstream, listing, report, &changed);
    if (changed && is_on_replica(gateway)) /* the review changes no catalogue there, which would end the view */
        mark_view_stale(gateway, true);
    if (rc == 0)
        rc = wt__gateway_renew(gateway, err);
    pthread_mutex_unlock(&gateway->import_lock);
    if (rc == 0)
        rc = renew_offers(gateway, upstream, err);
    if (more)
        report_waiting(gateway, name, report, deceives);
    report_malformed(gateway, upstream, listing);
    wt_review_report_free(report);
    return rc;
}

static void notify_list_change(void *context, struct upstream *upstream, enum mcp_change change)
{
    (void)upstream;
    notify_services(context, change);
}

static void notify_resource_update(void *context, struct upstream *upstream, struct str uri)
{
    struct gateway *gateway = context;
    WT_CLEANUP(wt__buffer_dispose) struct buffer shown = {0};
    wt__offer_put_shown_uri(gateway, upstream, uri, &shown);
    pthread_mutex_lock(&gateway->services_lock);
    for (size_t i = 0; !shown.failed && i < gateway->service_count; i++)
        wt__mcp_service_resource_updated(gateway->services[i], wt__buffer_view(&shown));
    pthread_mutex_unlock(&gateway->services_lock);
}

/* ---------------------------------------------------------------- state file */

/* Appends the list of malformed definitions. */
static void put_malformed_items(struct buffer *out, struct upstream *upstream)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer notes = {0};
    wt__upstream_notes(upstream, &notes);
    wt__buffer_text(out, ",\"malformed\":[");
    const char *rest = notes.ptr ? notes.ptr : "";
    for (struct str note; wt__str_line(&rest, &note);) {
        wt__buffer_text(out, note.ptr > notes.ptr ? "," : "");
        wt__buffer_json(out, note);
    }
    wt__buffer_char(out, ']');
    out->failed |= notes.failed;
}

static void put_upstream_state(struct buffer *out, struct upstream *upstream)
{
    struct upstream_status status;
    wt__upstream_status(upstream, &status);
    wt__buffer_text(out, "{\"name\":");
    wt__buffer_json(out, wt__str(wt__upstream_name(upstream)));
    wt__buffer_printf(out,
                      ",\"state\":\"%s\",\"era\":\"%s\",\"preferred_era\":\"%s\",\"speaks_both\":%s,\"since\":%lld,"
                      "\"tools\":%zu,\"waiting\":%zu,\"offers_waiting\":%zu,\"resources\":%zu,\"prompts\":%zu",
                      wt__upstream_state_word(status.state), wt__era_word(status.era), wt__era_word(status.preferred),
                      status.speaks_both ? "true" : "false", status.since, status.tools, status.waiting,
                      status.offers_waiting, status.resources, status.prompts);
    wt__buffer_printf(out, ",\"failures\":%u,\"error\":", status.failures);
    wt__buffer_json(out, wt__str(status.error));
    put_malformed_items(out, upstream);
    wt__buffer_char(out, '}');
}

void wt__gateway_write_state(struct gateway *gateway, struct buffer *out)
{
    wt_error why;
    wt__buffer_text(out, "{\"servers\":[");
    for (size_t i = 0; i < gateway->count; i++) {
        wt__buffer_text(out, i ? "," : "");
        put_upstream_state(out, gateway->upstreams[i]);
    }
    wt__buffer_char(out, ']');
    if (wt__audit_is_failing(gateway->options.audit, &why)) {
        wt__buffer_text(out, ",\"audit_error\":");
        wt__buffer_json(out, wt__str(why.message));
    }
    wt__buffer_char(out, '}');
}

/* Writes the state file. Ignores errors, since the gateway works without the file. */
static void write_state_file(struct gateway *gateway)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (!gateway->options.state_path)
        return;
    pthread_mutex_lock(&gateway->state_lock);
    wt__gateway_write_state(gateway, &text);
    wt__buffer_char(&text, '\n');
    if (!text.failed)
        wt__file_replace(gateway->options.state_path, text.ptr, text.len, NULL);
    pthread_mutex_unlock(&gateway->state_lock);
}

/* Writes the state file. Also reports the first failure of a server that never ran. */
static void handle_state_change(void *context, struct upstream *upstream)
{
    struct gateway *gateway = context;
    struct upstream_status status;
    struct buffer sentence = {0};
    write_state_file(gateway);
    wt__upstream_status(upstream, &status);
    if (status.state != UPSTREAM_WAITING || status.ran || status.failures != 1)
        return;
    wt__buffer_printf(&sentence, "cannot start %s, trying again: %s", wt__upstream_name(upstream), status.error);
    report_sentence(gateway, false, &sentence);
}

/* Sets options->era and options->speaks_both from the state file of an earlier run, so that the server need not be
 * probed again. state: content of the file; NULL if there is no file. */
static void read_eras(const json_t *state, const char *name, struct upstream_options *options)
{
    const json_t *servers = wt__json_array(state, "servers");
    options->era = MCP_ERA_UNKNOWN;
    options->speaks_both = false;
    for (size_t i = 0; i < json_array_size(servers); i++) {
        const json_t *server = json_array_get(servers, i);
        struct str era = wt__json_str(server, "preferred_era");
        era = era.len > 0 ? era : wt__json_str(server, "era"); /* written by an older version */
        if (!wt__str_equal(wt__json_str(server, "name"), wt__str(name)))
            continue;
        options->era = wt__str_equal(era, STR("legacy"))   ? MCP_ERA_LEGACY
                       : wt__str_equal(era, STR("modern")) ? MCP_ERA_MODERN
                                                           : MCP_ERA_UNKNOWN;
        options->speaks_both = wt__json_bool(server, "speaks_both", false);
    }
}

static json_t *read_state_file(const char *path)
{
    WT_AUTO_FREE char *text = NULL;
    size_t len = 0;
    json_t *state = NULL;
    if (path && wt__file_read(&text, &len, path, MCP_CONFIG_BYTES_MAX, NULL) == 0)
        wt__json_parse(&state, text, len, NULL);
    return state;
}

/* ---------------------------------------------------------------- background thread */

/* Reports to the operator when the audit becomes unwritable, and when it can be written again. */
static void report_audit_state(struct gateway *gateway)
{
    wt_error why;
    struct buffer sentence = {0};
    bool fails = wt__audit_is_failing(gateway->options.audit, &why);
    if (fails == gateway->audit_fails)
        return;
    gateway->audit_fails = fails;
    write_state_file(gateway);
    if (fails)
        wt__buffer_printf(&sentence, "calls and reads are refused until the audit can be written: %s", why.message);
    else
        wt__buffer_text(&sentence, "the audit can be written again");
    report_sentence(gateway, true, &sentence);
}

/* Applies approvals by other processes: of prompts and resources, and on a replica also of tools. After an error, tries
 * again at the next change of the catalogue. */
static void apply_new_approvals(struct gateway *gateway)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    if (wt_info(gateway->engine, &info, NULL) < 0 || info.generation == gateway->offers_generation)
        return;
    gateway->offers_generation = info.generation;
    for (size_t i = 0; i < gateway->count; i++)
        if (is_on_replica(gateway))
            wt__upstream_list_again(gateway->upstreams[i]);
        else if (wt__upstream_has_withheld(gateway->upstreams[i]))
            renew_offers(gateway, gateway->upstreams[i], NULL);
}

/* Thread for periodic work: applies catalogue changes of other processes, removes expired state and syncs the audit
 * log. */
static void *run_tender(void *context)
{
    struct gateway *gateway = context;
    pthread_mutex_lock(&gateway->lock);
    while (!atomic_load(&gateway->stopping)) {
        wt__steady_wait(&gateway->turn, &gateway->lock, wt__now_ms() + GATEWAY_CHECK_MS);
        pthread_mutex_unlock(&gateway->lock);
        wt__parked_sweep(gateway, false);
        wt__result_sweep(gateway, false);
        wt__audit_sync(gateway->options.audit);
        report_audit_state(gateway);
        wt__outcomes_sweep(gateway->outcomes);
        wt__gateway_renew(gateway, NULL);
        apply_new_approvals(gateway);
        pthread_mutex_lock(&gateway->lock);
    }
    pthread_mutex_unlock(&gateway->lock);
    return NULL;
}

/* ---------------------------------------------------------------- opening and closing */

static int check_server_name(const struct mcp_server *servers, size_t index, wt_error *err)
{
    const char *name = servers[index].name;
    if (!*name)
        return wt__fail(err, WT_EINVAL, "server %zu has no name", index + 1);
    for (size_t i = 0; i < index; i++)
        if (strcmp(servers[i].name, name) == 0)
            return wt__fail(err, WT_EINVAL, "two servers are called %s", name);
    return 0;
}

static void report_left_out(struct gateway *gateway, const struct mcp_server *server)
{
    struct buffer sentence = {0};
    const char *why = server->refusal ? server->refusal : server->note;
    if (!why || (server->disabled && !server->refusal))
        return;
    wt__buffer_printf(&sentence, "%s: %s%s", server->name, server->refusal ? "left out: " : "", why);
    report_sentence(gateway, false, &sentence);
}

static int open_upstreams(struct gateway *gateway, const struct mcp_server *servers, size_t count, wt_error *err)
{
    json_auto_t *state = read_state_file(gateway->options.state_path);
    struct upstream_options options = {.timeout_ms = gateway->options.start_timeout_ms,
                                       .context = gateway,
                                       .take_listing = take_listing,
                                       .notify_change = notify_list_change,
                                       .notify_update = notify_resource_update,
                                       .notify_state = handle_state_change};
    gateway->upstreams = calloc(count + 1, sizeof(struct upstream *));
    WT_CHECK_ALLOC(gateway->upstreams, err);
    for (size_t i = 0; i < count; i++) {
        WT_TRY(check_server_name(servers, i, err));
        read_eras(state, servers[i].name, &options);
        WT_TRY(wt__upstream_open(&gateway->upstreams[i], &servers[i], &options, err));
        gateway->count++;
        report_left_out(gateway, &servers[i]);
    }
    return 0;
}

/* Reserves the provider of each server, so that an import cannot add tools to the provider, even before the server has
 * listed its tools. Ignores a read-only store, into which this process imports nothing. */
static int reserve_providers(struct gateway *gateway, wt_error *err)
{
    for (size_t i = 0; i < gateway->count; i++) {
        int rc = wt_reserve_provider(gateway->engine, wt__upstream_name(gateway->upstreams[i]), err);
        if (rc != WT_EREADONLY)
            WT_TRY(rc);
    }
    return 0;
}

static int read_lock_pins(struct gateway *gateway, wt_error *err)
{
    struct str text = gateway->options.lock;
    if (text.len == 0)
        return 0;
    gateway->lock_pins = calloc(1, sizeof *gateway->lock_pins);
    WT_CHECK_ALLOC(gateway->lock_pins, err);
    return wt__pins_read(gateway->lock_pins, text.ptr, text.len, err);
}

/* Reads the lock, opens the servers and builds the first view. The caller closes the gateway on an error. */
static int fill_gateway(struct gateway *gateway, const struct mcp_server *servers, size_t count, wt_error *err)
{
    WT_TRY(read_lock_pins(gateway, err));
    WT_TRY(open_upstreams(gateway, servers, count, err));
    WT_TRY(reserve_providers(gateway, err));
    if (gateway->options.learn)
        WT_TRY(wt__outcomes_open(&gateway->outcomes, gateway->engine, gateway->options.tenants, err));
    return wt__gateway_renew(gateway, err);
}

int wt__gateway_open(struct gateway **out, wt_engine *engine, const struct mcp_server *servers, size_t count,
                     const struct gateway_options *options, wt_error *err)
{
    struct gateway *gateway = calloc(1, sizeof *gateway);
    *out = NULL;
    WT_CHECK_ALLOC(gateway, err);
    gateway->engine = engine;
    gateway->options = *options;
    if (gateway->options.result_bytes == 0)
        gateway->options.result_bytes = GATEWAY_RESULT_BYTES;
    gateway->lock_fd = -1;
    if (options->lock_path) /* on an error, run without the lock */
        wt__share_file(&gateway->lock_fd, options->lock_path, GATEWAY_LOCK_WAIT_MS, NULL);
    pthread_mutex_init(&gateway->lock, NULL);
    pthread_mutex_init(&gateway->import_lock, NULL);
    pthread_mutex_init(&gateway->state_lock, NULL);
    pthread_mutex_init(&gateway->renew_lock, NULL);
    pthread_mutex_init(&gateway->services_lock, NULL);
    wt__steady_open(&gateway->turn);
    wt__shares_open(&gateway->calls, GATEWAY_CALLS_MAX);
    wt__shares_open(&gateway->parked_of_clients, GATEWAY_PARKED_MAX);
    wt__shares_open(&gateway->parked_of_servers, GATEWAY_PARKED_MAX);
    wt__results_open(gateway);
    int rc = fill_gateway(gateway, servers, count, err);
    if (rc < 0)
        wt__gateway_close(gateway);
    else
        *out = gateway;
    return rc;
}

int wt__gateway_start(struct gateway *gateway, wt_error *err)
{
    gateway->has_tender = pthread_create(&gateway->tender, NULL, run_tender, gateway) == 0;
    if (!gateway->has_tender)
        return wt__fail(err, WT_EIO, "cannot start a thread");
    for (size_t i = 0; i < gateway->count; i++)
        WT_TRY(wt__upstream_start(gateway->upstreams[i], err));
    return 0;
}

void wt__gateway_stop(struct gateway *gateway)
{
    pthread_mutex_lock(&gateway->lock);
    atomic_store(&gateway->stopping, true);
    pthread_cond_broadcast(&gateway->turn);
    pthread_mutex_unlock(&gateway->lock);
    for (size_t i = 0; i < gateway->count; i++)
        wt__upstream_stop(gateway->upstreams[i]);
}

void wt__gateway_close(struct gateway *gateway)
{
    if (!gateway)
        return;
    wt__gateway_stop(gateway);
    if (gateway->has_tender)
        pthread_join(gateway->tender, NULL);
    wt__parked_sweep(gateway, true);
    wt__result_sweep(gateway, true);
    for (size_t i = 0; i < gateway->count; i++)
        wt__upstream_end(gateway->upstreams[i]);
    for (size_t i = 0; i < gateway->count; i++)
        wt__upstream_close(gateway->upstreams[i]);
    free(gateway->upstreams);
    wt__unlock_file(gateway->lock_fd);
    wt__outcomes_close(gateway->outcomes);
    if (gateway->lock_pins)
        wt__pins_dispose(gateway->lock_pins);
    free(gateway->lock_pins);
    wt__view_release(gateway->view);
    wt__shares_close(&gateway->calls);
    wt__shares_close(&gateway->parked_of_clients);
    wt__shares_close(&gateway->parked_of_servers);
    wt__results_close(gateway);
    pthread_cond_destroy(&gateway->turn);
    pthread_mutex_destroy(&gateway->services_lock);
    pthread_mutex_destroy(&gateway->renew_lock);
    pthread_mutex_destroy(&gateway->state_lock);
    pthread_mutex_destroy(&gateway->import_lock);
    pthread_mutex_destroy(&gateway->lock);
    free(gateway);
}

int wt__gateway_attach(struct gateway *gateway, struct mcp_service *service, wt_error *err)
{
    pthread_mutex_lock(&gateway->services_lock);
    bool room = gateway->service_count < GATEWAY_SERVICES_MAX;
    if (room)
        gateway->services[gateway->service_count++] = service;
    pthread_mutex_unlock(&gateway->services_lock);
    return room ? 0 : wt__fail(err, WT_ETOOLONG, "the gateway already has %d faces, the maximum", GATEWAY_SERVICES_MAX);
}

void wt__gateway_detach(struct gateway *gateway, struct mcp_service *service)
{
    size_t kept = 0;
    pthread_mutex_lock(&gateway->services_lock);
    for (size_t i = 0; i < gateway->service_count; i++)
        if (gateway->services[i] != service)
            gateway->services[kept++] = gateway->services[i];
    gateway->service_count = kept;
    pthread_mutex_unlock(&gateway->services_lock);
}
