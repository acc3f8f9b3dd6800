/* gateway.c: the servers behind the gateway, what of the catalogue can be called, and who is told when that changes. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/steady.h"
#include "gateway/audit_log.h"
#include "gateway/gateway_inside.h"
#include "gateway/offered.h"
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

void wt__gateway_announce(struct gateway *gateway, enum mcp_change change)
{
    pthread_mutex_lock(&gateway->services_lock);
    for (size_t i = 0; i < gateway->service_count; i++)
        wt__mcp_service_changed(gateway->services[i], change);
    pthread_mutex_unlock(&gateway->services_lock);
}

static bool is_current(struct gateway *gateway)
{
    wt_catalog_info info;
    wt_catalog_info_init(&info);
    bool known = wt_info(gateway->engine, &info, NULL) == 0;
    pthread_mutex_lock(&gateway->lock);
    bool current = gateway->view && (!known || gateway->view->generation == info.generation);
    pthread_mutex_unlock(&gateway->lock);
    return current;
}

/* Whether there is a new one: 1, or 0. */
static int renew(struct gateway *gateway, wt_error *err)
{
    struct tool_view *view;
    if (is_current(gateway))
        return 0;
    int rc =
        wt__view_make(&view, gateway->engine, gateway->upstreams, gateway->count, gateway->options.bare_names, err);
    if (rc < 0)
        return rc;
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
    int rc = renew(gateway, err);
    pthread_mutex_unlock(&gateway->renew_lock);
    if (rc > 0)
        wt__gateway_announce(gateway, MCP_TOOLS_CHANGED);
    return rc < 0 ? rc : 0;
}

static bool is_known(const struct tool_view *view, const struct upstream *upstream)
{
    bool known = false;
    for (size_t i = 0; view && !known && i < view->count; i++)
        known = view->tools[i]->upstream == upstream;
    return known;
}

bool wt__gateway_knows(struct gateway *gateway, const struct upstream *upstream)
{
    struct tool_view *view = wt__gateway_view(gateway);
    bool known = is_known(view, upstream);
    wt__view_release(view);
    return known;
}

/* Whether there is a server that starts, and of which nothing is known. */
static bool is_unsettled(struct gateway *gateway)
{
    struct tool_view *view = wt__gateway_view(gateway);
    bool unsettled = false;
    for (size_t i = 0; !unsettled && i < gateway->count; i++) {
        struct upstream_status status;
        wt__upstream_status(gateway->upstreams[i], &status);
        unsettled = status.state == UPSTREAM_STARTING && status.failures == 0 && !is_known(view, gateway->upstreams[i]);
    }
    wt__view_release(view);
    return unsettled;
}

bool wt__gateway_settle(struct gateway *gateway)
{
    double until = wt__now_ms() + gateway->options.list_wait_ms;
    bool settled = !is_unsettled(gateway);
    while (!settled && !atomic_load(&gateway->stopping) && wt__now_ms() < until) {
        pthread_mutex_lock(&gateway->lock);
        wt__steady_wait(&gateway->turn, &gateway->lock, wt__now_ms() + GATEWAY_SETTLE_MS);
        pthread_mutex_unlock(&gateway->lock);
        settled = !is_unsettled(gateway);
    }
    return settled;
}

/* ---------------------------------------------------------------- what servers tell */

/* Text for whoever runs it; a sentence for which memory is out is not told. */
static void tell(struct gateway *gateway, bool failing, struct buffer *sentence)
{
    if (gateway->options.told && !sentence->failed)
        gateway->options.told(gateway->options.told_context, failing, sentence->ptr);
    wt__buffer_dispose(sentence);
}

static void tell_waiting(struct gateway *gateway, const char *name, const wt_review_report *report, bool deceives)
{
    struct buffer sentence = {0};
    size_t tools = report->waiting_count + report->beyond;
    wt__buffer_printf(&sentence, "%s: ", name);
    if (tools > 0)
        wt__buffer_printf(&sentence, "%zu tool%s", tools, tools == 1 ? "" : "s");
    if (report->instructions_wait)
        wt__buffer_text(&sentence, tools > 0 ? " and its instructions" : "its instructions");
    wt__buffer_printf(&sentence, " wait%s for approval%s: `%s %s`", tools == 1 && !report->instructions_wait ? "s" : "",
                      deceives ? ", and texts of its list give a model orders or hide something" : "",
                      gateway->options.approve ? gateway->options.approve : "whichtool mcp approve", name);
    tell(gateway, false, &sentence);
}

/* Whether a server is trusted with what it lists first: not where its texts give a model orders that no definition
 * gives, or hide what they say. A list that cannot be read is refused by who takes it. */
static bool is_trusted(const struct gateway *gateway, const char *name, struct str tools, const char *instructions,
                       bool *deceives)
{
    wt_audit_result *audit = NULL;
    int rc = wt_audit_listing(name, tools.ptr, tools.len, instructions, &audit, NULL);
    *deceives = rc == 0 && audit->errors > 0;
    wt_audit_free(audit);
    return rc == 0 && !*deceives && !gateway->options.review_first && gateway->options.lock.len == 0;
}

/* What is not approved waits, and is nowhere else (whichtool/review.h). */
static int listed(void *context, struct upstream *upstream, struct str tools, struct str instructions, wt_error *err)
{
    struct gateway *gateway = context;
    const char *name = wt__upstream_name(upstream);
    wt_review_options options;
    wt_review_report *report = NULL;
    struct buffer source = {0}, said = {0};
    bool deceives = false;
    wt__buffer_printf(&source, "mcp:gateway#%s", name);
    wt__buffer_str(&said, instructions);
    wt__buffer_char(&said, '\0');
    wt_review_options_init(&options);
    options.source_name = source.ptr;
    options.trust_first = !said.failed && is_trusted(gateway, name, tools, said.ptr, &deceives);
    options.lock = gateway->options.lock.len > 0 ? gateway->options.lock.ptr : NULL;
    options.lock_len = gateway->options.lock.len;
    options.instructions = said.ptr;
    pthread_mutex_lock(&gateway->import_lock);
    int rc = source.failed || said.failed
                 ? wt__fail_nomem(err)
                 : wt_review(gateway->engine, name, tools.ptr, tools.len, &options, &report, err);
    if (rc == 0)
        rc = wt__gateway_renew(gateway, err);
    pthread_mutex_unlock(&gateway->import_lock);
    if (report && wt__upstream_set_waiting(upstream, report))
        tell_waiting(gateway, name, report, deceives);
    wt_review_report_free(report);
    wt__buffer_dispose(&source);
    wt__buffer_dispose(&said);
    return rc;
}

static void changed(void *context, struct upstream *upstream, enum mcp_change change)
{
    (void)upstream;
    wt__gateway_announce(context, change);
}

static void updated(void *context, struct upstream *upstream, struct str uri)
{
    struct gateway *gateway = context;
    struct buffer shown = {0};
    wt__uri_shown(gateway, upstream, uri, &shown);
    pthread_mutex_lock(&gateway->services_lock);
    for (size_t i = 0; !shown.failed && i < gateway->service_count; i++)
        wt__mcp_service_resource_updated(gateway->services[i], wt__buffer_view(&shown));
    pthread_mutex_unlock(&gateway->services_lock);
    wt__buffer_dispose(&shown);
}

/* ---------------------------------------------------------------- its state, for others */

static void put_server(struct buffer *out, struct upstream *upstream)
{
    struct upstream_status status;
    wt__upstream_status(upstream, &status);
    wt__buffer_text(out, "{\"name\":");
    wt__buffer_json(out, wt__str(wt__upstream_name(upstream)));
    wt__buffer_printf(out,
                      ",\"state\":\"%s\",\"era\":\"%s\",\"since\":%lld,\"tools\":%zu,\"waiting\":%zu,\"resources\":%zu,"
                      "\"prompts\":%zu",
                      wt__upstream_state_word(status.state), wt__era_word(status.era), status.since, status.tools,
                      status.waiting, status.resources, status.prompts);
    wt__buffer_printf(out, ",\"failures\":%u,\"error\":", status.failures);
    wt__buffer_json(out, wt__str(status.error));
    wt__buffer_char(out, '}');
}

void wt__gateway_write_state(struct gateway *gateway, struct buffer *out)
{
    wt_error why;
    wt__buffer_text(out, "{\"servers\":[");
    for (size_t i = 0; i < gateway->count; i++) {
        wt__buffer_text(out, i ? "," : "");
        put_server(out, gateway->upstreams[i]);
    }
    wt__buffer_char(out, ']');
    if (wt__audit_is_failing(gateway->options.audit, &why)) {
        wt__buffer_text(out, ",\"audit_error\":");
        wt__buffer_json(out, wt__str(why.message));
    }
    wt__buffer_char(out, '}');
}

/* A state that cannot be written is no reason to stop. */
static void keep_state(struct gateway *gateway)
{
    struct buffer text = {0};
    if (!gateway->options.state_path)
        return;
    pthread_mutex_lock(&gateway->state_lock);
    wt__gateway_write_state(gateway, &text);
    wt__buffer_char(&text, '\n');
    if (!text.failed)
        wt__file_replace(gateway->options.state_path, text.ptr, text.len, NULL);
    pthread_mutex_unlock(&gateway->state_lock);
    wt__buffer_dispose(&text);
}

/* A server that never ran may never do: that is told once. One that ends is started again. */
static void moved(void *context, struct upstream *upstream)
{
    struct gateway *gateway = context;
    struct upstream_status status;
    struct buffer sentence = {0};
    keep_state(gateway);
    wt__upstream_status(upstream, &status);
    if (status.state != UPSTREAM_WAITING || status.ran || status.failures != 1)
        return;
    wt__buffer_printf(&sentence, "%s does not run, and is tried again: %s", wt__upstream_name(upstream), status.error);
    tell(gateway, false, &sentence);
}

/* The era that a server had when its state was last written: it need not be probed again. */
static enum mcp_era era_before(const json_t *state, const char *name)
{
    const json_t *servers = wt__json_array(state, "servers");
    for (size_t i = 0; i < json_array_size(servers); i++) {
        const json_t *server = json_array_get(servers, i);
        struct str era = wt__json_str(server, "era");
        if (wt__str_equal(wt__json_str(server, "name"), wt__str(name)))
            return wt__str_equal(era, STR("legacy"))   ? MCP_ERA_LEGACY
                   : wt__str_equal(era, STR("modern")) ? MCP_ERA_MODERN
                                                       : MCP_ERA_UNKNOWN;
    }
    return MCP_ERA_UNKNOWN;
}

static json_t *read_state(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    json_t *state = NULL;
    if (path && wt__file_read(&text, &len, path, MCP_CONFIG_BYTES_MAX, NULL) == 0)
        wt__json_parse(&state, text, len, NULL);
    free(text);
    return state;
}

/* ---------------------------------------------------------------- tending */

/* Whoever runs it hears that the audit cannot be written, and that it can be again. */
static void tell_of_audit(struct gateway *gateway)
{
    wt_error why;
    struct buffer sentence = {0};
    bool fails = wt__audit_is_failing(gateway->options.audit, &why);
    if (fails == gateway->audit_fails)
        return;
    gateway->audit_fails = fails;
    keep_state(gateway);
    if (fails)
        wt__buffer_printf(&sentence, "nothing is called or read until the audit can be written: %s", why.message);
    else
        wt__buffer_text(&sentence, "the audit can be written again");
    tell(gateway, true, &sentence);
}

/* What another process did to the catalogue shows within GATEWAY_LOOK_MS, and what nobody came back for goes. */
static void *tend(void *context)
{
    struct gateway *gateway = context;
    pthread_mutex_lock(&gateway->lock);
    while (!atomic_load(&gateway->stopping)) {
        wt__steady_wait(&gateway->turn, &gateway->lock, wt__now_ms() + GATEWAY_LOOK_MS);
        pthread_mutex_unlock(&gateway->lock);
        wt__parked_sweep(gateway, false);
        wt__result_sweep(gateway, false);
        wt__audit_sync(gateway->options.audit);
        tell_of_audit(gateway);
        wt__outcomes_sweep(gateway->outcomes);
        wt__gateway_renew(gateway, NULL);
        pthread_mutex_lock(&gateway->lock);
    }
    pthread_mutex_unlock(&gateway->lock);
    return NULL;
}

/* ---------------------------------------------------------------- opening and closing */

static int check_name(const struct mcp_server *servers, size_t index, wt_error *err)
{
    const char *name = servers[index].name;
    if (!*name)
        return wt__fail(err, WT_EINVAL, "server %zu has no name", index + 1);
    for (size_t i = 0; i < index; i++)
        if (strcmp(servers[i].name, name) == 0)
            return wt__fail(err, WT_EINVAL, "two servers are called %s", name);
    return 0;
}

static void tell_left_out(struct gateway *gateway, const struct mcp_server *server)
{
    struct buffer sentence = {0};
    const char *why = server->refusal ? server->refusal : server->note;
    if (!why || (server->disabled && !server->refusal))
        return;
    wt__buffer_printf(&sentence, "%s: %s%s", server->name, server->refusal ? "left out: " : "", why);
    tell(gateway, false, &sentence);
}

static int open_upstreams(struct gateway *gateway, const struct mcp_server *servers, size_t count, wt_error *err)
{
    json_t *state = read_state(gateway->options.state_path);
    struct upstream_options options = {.timeout_ms = gateway->options.start_timeout_ms,
                                       .context = gateway,
                                       .listed = listed,
                                       .changed = changed,
                                       .updated = updated,
                                       .moved = moved};
    int rc = 0;
    gateway->upstreams = calloc(count + 1, sizeof(struct upstream *));
    if (!gateway->upstreams)
        rc = wt__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = check_name(servers, i, err);
        options.era = era_before(state, servers[i].name);
        if (rc == 0)
            rc = wt__upstream_open(&gateway->upstreams[i], &servers[i], &options, err);
        gateway->count += rc == 0;
        if (rc == 0)
            tell_left_out(gateway, &servers[i]);
    }
    json_decref(state);
    return rc;
}

int wt__gateway_open(struct gateway **out, wt_engine *engine, const struct mcp_server *servers, size_t count,
                     const struct gateway_options *options, wt_error *err)
{
    struct gateway *gateway = calloc(1, sizeof *gateway);
    *out = NULL;
    if (!gateway)
        return wt__fail_nomem(err);
    gateway->engine = engine;
    gateway->options = *options;
    if (gateway->options.result_bytes == 0)
        gateway->options.result_bytes = GATEWAY_RESULT_BYTES;
    gateway->running = -1;
    if (options->lock_path) /* as with the state: no reason to stop */
        wt__share_file(&gateway->running, options->lock_path, GATEWAY_LOCK_WAIT_MS, NULL);
    pthread_mutex_init(&gateway->lock, NULL);
    pthread_mutex_init(&gateway->import_lock, NULL);
    pthread_mutex_init(&gateway->state_lock, NULL);
    pthread_mutex_init(&gateway->renew_lock, NULL);
    pthread_mutex_init(&gateway->services_lock, NULL);
    wt__steady_open(&gateway->turn);
    int rc = open_upstreams(gateway, servers, count, err);
    if (rc == 0 && gateway->options.learn)
        rc = wt__outcomes_open(&gateway->outcomes, engine, err);
    if (rc == 0)
        rc = wt__gateway_renew(gateway, err);
    if (rc < 0) {
        wt__gateway_close(gateway);
        return rc;
    }
    *out = gateway;
    return 0;
}

int wt__gateway_start(struct gateway *gateway, wt_error *err)
{
    int rc = 0;
    gateway->has_tender = pthread_create(&gateway->tender, NULL, tend, gateway) == 0;
    if (!gateway->has_tender)
        return wt__fail(err, WT_EIO, "the system gives no thread");
    for (size_t i = 0; rc == 0 && i < gateway->count; i++)
        rc = wt__upstream_start(gateway->upstreams[i], err);
    return rc;
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
    wt__unlock_file(gateway->running);
    wt__outcomes_close(gateway->outcomes);
    wt__view_release(gateway->view);
    pthread_cond_destroy(&gateway->turn);
    pthread_mutex_destroy(&gateway->services_lock);
    pthread_mutex_destroy(&gateway->renew_lock);
    pthread_mutex_destroy(&gateway->state_lock);
    pthread_mutex_destroy(&gateway->import_lock);
    pthread_mutex_destroy(&gateway->lock);
    free(gateway);
}

struct upstream *wt__gateway_server(const struct gateway *gateway, size_t index)
{
    return gateway->upstreams[index];
}

/* ---------------------------------------------------------------- services */

int wt__gateway_attach(struct gateway *gateway, struct mcp_service *service, wt_error *err)
{
    pthread_mutex_lock(&gateway->services_lock);
    bool room = gateway->service_count < GATEWAY_SERVICES_MAX;
    if (room)
        gateway->services[gateway->service_count++] = service;
    pthread_mutex_unlock(&gateway->services_lock);
    return room ? 0 : wt__fail(err, WT_ETOOLONG, "a gateway has at most %d faces", GATEWAY_SERVICES_MAX);
}

void wt__gateway_detach(struct gateway *gateway, struct mcp_service *service)
{
    pthread_mutex_lock(&gateway->services_lock);
    size_t kept = 0;
    for (size_t i = 0; i < gateway->service_count; i++)
        if (gateway->services[i] != service)
            gateway->services[kept++] = gateway->services[i];
    gateway->service_count = kept;
    pthread_mutex_unlock(&gateway->services_lock);
}
