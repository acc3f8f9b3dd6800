/* upstream.c: the thread of a server behind the gateway, its connections, and the notices that the server sends.
 * upstream_offer.c has the lists of the server. */
#include "gateway/upstream.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "catalog/names.h"

enum { LOOK_MS = 50 /* interval at which a wait checks whether its caller has given up */ };

/* ---------------------------------------------------------------- states */

/* Changes the state. Call with the lock held. */
static void set_upstream_state(struct upstream *upstream, enum upstream_state state)
{
    upstream->state = state;
    upstream->since = (long long)time(NULL);
    pthread_cond_broadcast(&upstream->turn);
}

static void notify_state_change(struct upstream *upstream)
{
    if (upstream->options.notify_state)
        upstream->options.notify_state(upstream->options.context, upstream);
}

void wt__upstream_status(struct upstream *upstream, struct upstream_status *out)
{
    pthread_mutex_lock(&upstream->lock);
    const struct upstream_offer *offer = upstream->offer;
    *out = (struct upstream_status){
        .state = upstream->state,
        .era = upstream->era,
        .preferred = upstream->preferred ? upstream->preferred : upstream->era,
        .speaks_both = upstream->speaks_both,
        .tools = upstream->tool_count,
        .waiting = upstream->waiting_count,
        .offers_waiting = upstream->offers_waiting,
        .resources = offer ? json_array_size(offer->resources) + json_array_size(offer->templates) : 0,
        .prompts = offer ? json_array_size(offer->prompts) : 0,
        .ran = upstream->ran,
        .has_offer = offer,
        .failures = upstream->failures,
        .since = upstream->since,
    };
    snprintf(out->error, sizeof out->error, "%s", upstream->error.code ? upstream->error.message : "");
    pthread_mutex_unlock(&upstream->lock);
}

void wt__upstream_notes(struct upstream *upstream, struct buffer *out)
{
    pthread_mutex_lock(&upstream->lock);
    for (size_t i = 0; i < sizeof upstream->mends / sizeof *upstream->mends; i++)
        wt__buffer_str(out, wt__buffer_view(&upstream->mends[i].notes));
    pthread_mutex_unlock(&upstream->lock);
}

bool wt__upstream_set_waiting(struct upstream *upstream, const struct upstream_listing *listing,
                              const wt_review_report *report, bool *changed)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer waiting = {0};
    for (size_t i = 0; i < report->waiting_count; i++)
        wt__buffer_append(&waiting, report->ids[i], strlen(report->ids[i]) + 1);
    pthread_mutex_lock(&upstream->lock);
    *changed = listing->tools.ptr && !wt__str_equal(wt__buffer_view(&waiting), wt__buffer_view(&upstream->waiting));
    if (listing->tools.ptr) {
        const struct buffer before = upstream->waiting;
        upstream->waiting_count = report->waiting_count + report->beyond;
        upstream->waiting = waiting;
        waiting = before;
    }
    size_t all = upstream->waiting_count + upstream->offers_waiting + (report->instructions_wait != 0);
    bool more = all > upstream->waiting_most;
    if (more)
        upstream->waiting_most = all;
    pthread_mutex_unlock(&upstream->lock);
    return more;
}

/* Finds the first tool that waits for approval and for which is_meant(context, server, name) is true. own: receives the
 * server's own name of the tool. */
static bool find_waiting_tool(struct upstream *upstream,
                              bool (*is_meant)(const void *context, const char *server, const char *tool),
                              const void *context, char own[WT_MAX_NAME_BYTES + 1])
{
    const char *server = upstream->server->name;
    bool found = false;
    pthread_mutex_lock(&upstream->lock);
    struct str ids = wt__buffer_view(&upstream->waiting);
    for (size_t at = 0; !found && at < ids.len; at += strlen(ids.ptr + at) + 1) {
        const char *name = ids.ptr + at + strlen(server) + 1; /* after "SERVER/" */
        found = is_meant(context, server, name);
        if (found)
            snprintf(own, WT_MAX_NAME_BYTES + 1, "%s", name);
    }
    pthread_mutex_unlock(&upstream->lock);
    return found;
}

struct requested_name {
    const char *name; /* name that a client requested */
    bool bare;        /* the server's own name of a tool matches too */
};

static bool is_name_of_tool(const void *context, const char *server, const char *tool)
{
    const struct requested_name *asked = context;
    char exported[EXPORT_NAME_MAX + 1];
    size_t len = strlen(server);
    wt__export_name(wt__str(server), wt__str(tool), 0, exported);
    return strcmp(asked->name, exported) == 0 || (asked->bare && strcmp(asked->name, tool) == 0) ||
           (strncmp(asked->name, server, len) == 0 && asked->name[len] == '/' &&
            strcmp(asked->name + len + 1, tool) == 0);
}

bool wt__upstream_is_waiting(struct upstream *upstream, const char *id)
{
    bool found = false;
    pthread_mutex_lock(&upstream->lock);
    struct str ids = wt__buffer_view(&upstream->waiting);
    for (size_t at = 0; !found && at < ids.len; at += strlen(ids.ptr + at) + 1)
        found = strcmp(ids.ptr + at, id) == 0;
    pthread_mutex_unlock(&upstream->lock);
    return found;
}

bool wt__upstream_find_waiting(struct upstream *upstream, const char *name, bool bare, char own[WT_MAX_NAME_BYTES + 1])
{
    return find_waiting_tool(upstream, is_name_of_tool, &(struct requested_name){name, bare}, own);
}

/* True if a word of the request begins with `word`. */
static bool begins_word(struct str request, struct str word)
{
    for (size_t at = 0; at + word.len <= request.len; at++)
        if ((at == 0 || !isalnum((unsigned char)request.ptr[at - 1])) &&
            strncasecmp(request.ptr + at, word.ptr, word.len) == 0)
            return true;
    return false;
}

/* True if each word of the name begins a word of the request. False for names with characters other than letters,
 * digits, '_', '-' and '.': such a name may be a sentence. context: the request, a struct str. */
static bool request_names_tool(const void *context, const char *server, const char *name)
{
    const struct str *request = context;
    bool any = false;
    (void)server;
    for (size_t at = 0, end; name[at]; at = end) {
        end = at + 1;
        if (!isalnum((unsigned char)name[at])) {
            if (!strchr("_-.", name[at]))
                return false;
            continue;
        }
        while (isalnum((unsigned char)name[end]) &&
               !(islower((unsigned char)name[end - 1]) && isupper((unsigned char)name[end])))
            end++;
        if (!begins_word(*request, (struct str){name + at, end - at}))
            return false;
        any = true;
    }
    return any;
}

bool wt__upstream_find_requested_waiting(struct upstream *upstream, struct str request, char own[WT_MAX_NAME_BYTES + 1])
{
    return find_waiting_tool(upstream, request_names_tool, &request, own);
}

const char *wt__upstream_state_word(enum upstream_state state)
{
    static const char *const words[] = {
        [UPSTREAM_DISABLED] = "disabled",
        [UPSTREAM_STARTING] = "starting",
        [UPSTREAM_READY] = "ready",
        [UPSTREAM_WAITING] = "failed",
    };
    return words[state];
}

const char *wt__era_word(enum mcp_era era)
{
    return era == MCP_ERA_LEGACY ? "legacy" : era == MCP_ERA_MODERN ? "modern" : "unknown";
}

const char *wt__upstream_name(const struct upstream *upstream)
{
    return upstream->server->name;
}

/* ---------------------------------------------------------------- links */

/* Releases a reference; the last one ends the connection. */
void wt__upstream_return(struct upstream_link *link)
{
    if (!link || atomic_fetch_sub(&link->refs, 1) != 1)
        return;
    wt__mcp_disconnect(link->connection, wt__mcp_connection_is_lost(link->connection));
    free(link);
}

/* Reports why the server cannot be used. Call with the lock held. */
static int fail_unavailable(struct upstream *upstream, wt_error *err)
{
    const char *name = upstream->server->name;
    if (upstream->state == UPSTREAM_DISABLED)
        return wt__fail(err, WT_ENETWORK, "the server %s is disabled", name);
    if (upstream->error.code)
        return wt__fail(err, WT_ENETWORK, "the server %s is not running: %s", name, upstream->error.message);
    return wt__fail(err, WT_ETIMEOUT, "the server %s has not started yet: try again later", name);
}

/* True if the link exists and works. A connection may be broken before its `lost` callback has run. */
static bool is_link_sound(const struct upstream_link *link)
{
    return link && !link->lost && !wt__mcp_connection_is_lost(link->connection);
}

int wt__upstream_borrow(struct upstream *upstream, unsigned wait_ms, bool (*is_unwanted)(const void *context),
                        const void *context, struct upstream_link **out, wt_error *err)
{
    double until = wt__now_ms() + wait_ms;
    int rc = 0;
    *out = NULL; /* on an error */
    pthread_mutex_lock(&upstream->lock);
    unsigned failed_starts = upstream->failed_starts;
    while (rc == 0 && !is_link_sound(upstream->link)) {
        unsigned tries = upstream->ran ? UPSTREAM_TRIES : 1;
        bool hopeless = upstream->state == UPSTREAM_DISABLED || atomic_load(&upstream->stopping) ||
                        upstream->failed_starts - failed_starts >= tries || wt__now_ms() >= until;
        if (hopeless)
            rc = fail_unavailable(upstream, err);
        else if (is_unwanted && is_unwanted(context))
            rc = wt__fail_cancelled(err);
        if (rc < 0)
            break;
        upstream->wanted = true;
        pthread_cond_broadcast(&upstream->turn);
        wt__steady_wait(&upstream->turn, &upstream->lock, wt__now_ms() + LOOK_MS);
    }
    if (rc == 0) {
        *out = upstream->link;
        atomic_fetch_add(&upstream->link->refs, 1);
    }
    pthread_mutex_unlock(&upstream->lock);
    return rc;
}

void wt__upstream_list_again(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->lock);
    for (size_t i = 0; i < UPSTREAM_CHANGES; i++)
        upstream->stale[i] = true;
    pthread_cond_broadcast(&upstream->turn);
    pthread_mutex_unlock(&upstream->lock);
}

/* ---------------------------------------------------------------- notices */

/* Handles a notification of the server: marks a changed list as stale, or reports an updated resource. */
static void handle_notification(struct upstream *upstream, struct str method, struct str params)
{
    static const char *const changes[UPSTREAM_CHANGES] = {
        [MCP_TOOLS_CHANGED] = "notifications/tools/list_changed",
        [MCP_RESOURCES_CHANGED] = "notifications/resources/list_changed",
        [MCP_PROMPTS_CHANGED] = "notifications/prompts/list_changed",
    };
    json_auto_t *said = NULL;
    for (size_t i = 0; i < UPSTREAM_CHANGES; i++) {
        if (!wt__str_equal(method, wt__str(changes[i])))
            continue;
        pthread_mutex_lock(&upstream->lock);
        bool is_news = !upstream->stale[i];
        upstream->stale[i] = upstream->told[i] = true;
        if (is_news) /* repeated notices do not wake the thread */
            pthread_cond_broadcast(&upstream->turn);
        pthread_mutex_unlock(&upstream->lock);
    }
    if (!upstream->options.notify_update || !wt__str_equal(method, STR("notifications/resources/updated")) ||
        wt__json_parse(&said, params.ptr ? params.ptr : "", params.len, NULL) < 0)
        return;
    upstream->options.notify_update(upstream->options.context, upstream, wt__json_str(said, "uri"));
}

/* True if the URI is watched. Call with the lock held. */
static bool is_watched(const struct upstream *upstream, struct str uri)
{
    for (size_t i = 0; i < upstream->watched_count; i++)
        if (wt__str_equal(uri, wt__str(upstream->watched[i])))
            return true;
    return false;
}

/* Adds a URI to the watched ones. Returns false if out of memory. Call with the lock held. */
static bool add_watched(struct upstream *upstream, struct str uri)
{
    char *copy = wt__copy_string(uri.ptr, uri.len);
    if (!copy || wt__grow((void **)&upstream->watched, &upstream->watched_capacity, upstream->watched_count + 1,
                          sizeof *upstream->watched) < 0) {
        free(copy);
        return false;
    }
    upstream->watched[upstream->watched_count++] = copy;
    pthread_cond_broadcast(&upstream->turn);
    return true;
}

bool wt__upstream_watch(struct upstream *upstream, const char *holder, struct str uri, wt_error *err)
{
    pthread_mutex_lock(&upstream->lock);
    bool known = is_watched(upstream, uri);
    bool has_share = known || wt__shares_take(&upstream->watchers, holder, 1);
    bool added = known || (has_share && add_watched(upstream, uri));
    pthread_mutex_unlock(&upstream->lock);
    if (!has_share)
        wt__fail(err, WT_ETOOLONG,
                 "this client watches %zu resources of the server %s, its share of %d, and gets no notices of further "
                 "ones",
                 wt__shares_of(&upstream->watchers, holder), upstream->server->name, UPSTREAM_WATCHED_MAX);
    else if (!added)
        wt__fail_nomem(err);
    return added;
}

/* ---------------------------------------------------------------- listening */

static void *run_listener(void *context)
{
    struct upstream *upstream = context;
    struct mcp_event event;
    while (wt__mcp_exchange_next(upstream->listening, &event, NULL) == 0 && event.kind == MCP_EVENT_NOTIFIED)
        handle_notification(upstream, event.method, event.params);
    return NULL;
}

/* Subscribes to changes of a modern server's lists and of the watched resources. Starts a thread that handles the
 * notices. Call open_subscription and close_subscription on the upstream's thread only. */
static void open_subscription(struct upstream *upstream, struct mcp_connection *connection)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0};
    if (wt__mcp_connection_era(connection) != MCP_ERA_MODERN)
        return;
    wt__buffer_text(&params, "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,"
                             "\"resourcesListChanged\":true,\"resourceSubscriptions\":[");
    pthread_mutex_lock(&upstream->lock);
    for (size_t i = 0; i < upstream->watched_count; i++) {
        wt__buffer_text(&params, i ? "," : "");
        wt__buffer_json(&params, wt__str(upstream->watched[i]));
    }
    upstream->watched_told = upstream->watched_count;
    pthread_mutex_unlock(&upstream->lock);
    wt__buffer_text(&params, "]}");
    const struct mcp_request request = {
        .method = "subscriptions/listen", .params = wt__buffer_view(&params), .timeout_ms = UPSTREAM_LISTEN_MS};
    if (!params.failed && wt__mcp_exchange_begin(&upstream->listening, connection, &request, NULL) == 0 &&
        pthread_create(&upstream->listener, NULL, run_listener, upstream) != 0) {
        wt__mcp_exchange_end(upstream->listening);
        upstream->listening = NULL;
    }
}

static void close_subscription(struct upstream *upstream)
{
    if (!upstream->listening)
        return;
    wt__mcp_exchange_cancel(upstream->listening);
    pthread_join(upstream->listener, NULL);
    wt__mcp_exchange_end(upstream->listening);
    upstream->listening = NULL;
}

/* Returns a copy of the next URI without a subscription, or NULL. The caller frees the copy. */
static char *next_unsubscribed(struct upstream *upstream)
{
    char *uri = NULL;
    pthread_mutex_lock(&upstream->lock);
    if (upstream->watched_told < upstream->watched_count) {
        const char *next = upstream->watched[upstream->watched_told++];
        uri = wt__copy_string(next, strlen(next));
    }
    pthread_mutex_unlock(&upstream->lock);
    return uri;
}

/* Subscribes to watched resources that the server does not know yet. A modern server gets a new subscription for all
 * watched resources. Ignores a refusal; the only error is a lost connection. */
static int subscribe_watched(struct upstream *upstream, struct mcp_connection *connection, wt_error *err)
{
    pthread_mutex_lock(&upstream->lock);
    bool is_news = upstream->watched_told < upstream->watched_count;
    pthread_mutex_unlock(&upstream->lock);
    if (is_news && wt__mcp_connection_era(connection) == MCP_ERA_MODERN) {
        close_subscription(upstream);
        open_subscription(upstream, connection);
        return 0;
    }
    for (char *uri; (uri = next_unsubscribed(upstream));) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0}, result = {0};
        wt__buffer_text(&params, "\"uri\":");
        wt__buffer_json(&params, wt__str(uri));
        int rc = params.failed
                     ? 0
                     : wt__upstream_ask(connection, "resources/subscribe", wt__buffer_view(&params), 0, &result, err);
        free(uri);
        if (rc < 0 && wt__mcp_connection_is_lost(connection))
            return rc;
    }
    return 0;
}

static void handle_notice(void *context, struct str method, struct str params)
{
    const struct upstream_link *link = context;
    handle_notification(link->upstream, method, params);
}

static void mark_link_lost(void *context, const wt_error *why)
{
    struct upstream_link *link = context;
    struct upstream *upstream = link->upstream;
    pthread_mutex_lock(&upstream->lock);
    link->lost = true;
    upstream->error = *why;
    pthread_cond_broadcast(&upstream->turn);
    pthread_mutex_unlock(&upstream->lock);
}

/* Connects, and creates a link with one reference. Sets noticed and context of the options. */
static int open_upstream_link(struct upstream_link **out, struct upstream *upstream,
                              struct mcp_connection_options *options, wt_error *err)
{
    struct upstream_link *link = calloc(1, sizeof *link);
    *out = NULL;
    WT_CHECK_ALLOC(link, err);
    link->upstream = upstream;
    atomic_init(&link->refs, 1);
    options->context = link;
    options->noticed = handle_notice;
    int rc = wt__mcp_connect(&link->connection, upstream->server, options, err);
    if (rc < 0)
        free(link);
    else
        *out = link;
    return rc;
}

/* ---------------------------------------------------------------- second connection, in the other era */

/* Callback for the loss of the second connection, the one in the other era. The loss affects only calls on that
 * connection. */
static void mark_other_lost(void *context, const wt_error *why)
{
    struct upstream_link *link = context;
    (void)why;
    pthread_mutex_lock(&link->upstream->lock);
    link->lost = true;
    pthread_mutex_unlock(&link->upstream->lock);
}

/* Context of is_other_unwanted. */
struct other_wait {
    struct upstream *upstream;
    bool (*is_unwanted)(const void *context); /* true once the caller gives up; NULL if it never does */
    const void *context;
};

/* Progress callback that cancels the opening of the second connection. */
static int is_other_unwanted(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct other_wait *wait = context;
    (void)phase, (void)done, (void)total;
    return atomic_load(&wait->upstream->stopping) || (wait->is_unwanted && wait->is_unwanted(wait->context));
}

/* Borrows the second connection if it is open. Returns true if no attempt to open it is needed. *out is then the second
 * connection, or NULL if the caller should use the first connection. */
static bool borrow_other(struct upstream *upstream, enum mcp_era era, struct upstream_link **out)
{
    *out = NULL;
    pthread_mutex_lock(&upstream->lock);
    bool knows_modern = era == MCP_ERA_LEGACY || upstream->speaks_both;
    bool settled = upstream->era == era || upstream->speaks_one || !knows_modern || upstream->server->protocol ||
                   !is_link_sound(upstream->link);
    if (!settled && is_link_sound(upstream->other)) {
        atomic_fetch_add(&upstream->other->refs, 1);
        *out = upstream->other;
    }
    pthread_mutex_unlock(&upstream->lock);
    return settled || *out;
}

/* Tries to open the second connection, in `era`, and records if the server supports that era. */
static void open_other(struct upstream *upstream, enum mcp_era era, unsigned wait_ms, struct other_wait *wait)
{
    struct upstream_link *link, *before = NULL;
    struct progress progress;
    wt__progress_init(&progress, is_other_unwanted, wait);
    int rc = open_upstream_link(
        &link, upstream,
        &(struct mcp_connection_options){.only = era,
                                         .timeout_ms = wait_ms < UPSTREAM_OTHER_MS ? wait_ms : UPSTREAM_OTHER_MS,
                                         .progress = &progress,
                                         .lost = mark_other_lost},
        NULL);
    wt__progress_dispose(&progress);
    pthread_mutex_lock(&upstream->lock);
    if (rc == 0) {
        before = upstream->other;
        upstream->other = link;
        upstream->speaks_both = true;
        upstream->preferred = era;
    } else if (rc != WT_ECANCELLED && rc != WT_ENOMEM) {
        upstream->speaks_one = true;
    }
    pthread_mutex_unlock(&upstream->lock);
    wt__upstream_return(before);
    if (rc == 0)
        notify_state_change(upstream);
}

void wt__upstream_fit_era(struct upstream *upstream, enum mcp_era era, unsigned wait_ms,
                          bool (*is_unwanted)(const void *context), const void *context, struct upstream_link **link)
{
    struct other_wait wait = {upstream, is_unwanted, context};
    struct upstream_link *other;
    if (!borrow_other(upstream, era, &other)) {
        pthread_mutex_lock(&upstream->other_lock);
        if (!borrow_other(upstream, era, &other)) {
            open_other(upstream, era, wait_ms, &wait);
            borrow_other(upstream, era, &other);
        }
        pthread_mutex_unlock(&upstream->other_lock);
    }
    if (!other)
        return;
    wt__upstream_return(*link);
    *link = other;
}

/* ---------------------------------------------------------------- thread */

static int is_start_cancelled(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct upstream *upstream = context;
    (void)phase, (void)done, (void)total;
    return atomic_load(&upstream->stopping);
}

static int connect_upstream(struct upstream *upstream, wt_error *err)
{
    struct upstream_link *link;
    struct progress progress;
    wt__progress_init(&progress, is_start_cancelled, upstream);
    int rc = open_upstream_link(&link, upstream,
                                &(struct mcp_connection_options){.era = upstream->era,
                                                                 .timeout_ms = upstream->server->start_timeout_ms
                                                                                   ? upstream->server->start_timeout_ms
                                                                                   : upstream->options.timeout_ms,
                                                                 .progress = &progress,
                                                                 .lost = mark_link_lost},
                                err);
    wt__progress_dispose(&progress);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&upstream->lock);
    upstream->link = link;
    upstream->speaks_one = false;
    upstream->era = wt__mcp_connection_era(link->connection);
    upstream->watched_told = 0;
    for (size_t i = 0; i < UPSTREAM_CHANGES; i++)
        upstream->stale[i] = true;
    pthread_mutex_unlock(&upstream->lock);
    return 0;
}

/* Waits until a list must be requested or a resource subscribed to. Returns false if the connection broke or the
 * upstream stops. due: earliest time to request a list. until: time when all lists expire. */
static bool wait_for_work(struct upstream *upstream, double due, double until)
{
    bool work = false;
    pthread_mutex_lock(&upstream->lock);
    while (!work && !upstream->link->lost && !atomic_load(&upstream->stopping)) {
        double now = wt__now_ms();
        bool is_stale = false;
        for (size_t i = 0; i < UPSTREAM_CHANGES; i++) {
            upstream->stale[i] |= now >= until;
            is_stale |= upstream->stale[i];
        }
        work = (is_stale && now >= due) || upstream->watched_told < upstream->watched_count;
        if (!work)
            wt__steady_wait(&upstream->turn, &upstream->lock, is_stale ? due : until);
    }
    pthread_mutex_unlock(&upstream->lock);
    return work;
}

/* Lists the server's items, and lists them again when they change or expire, until the connection ends. */
static int serve_connection(struct upstream *upstream, wt_error *err)
{
    struct mcp_connection *connection = upstream->link->connection;
    double ttl_ms = UPSTREAM_TTL_MS;
    WT_TRY(wt__upstream_gather(upstream, connection, &ttl_ms, err));
    pthread_mutex_lock(&upstream->lock);
    upstream->failures = 0;
    upstream->ran = true;
    set_upstream_state(upstream, UPSTREAM_READY);
    pthread_mutex_unlock(&upstream->lock);
    notify_state_change(upstream);
    open_subscription(upstream, connection);
    for (double due = wt__now_ms() + UPSTREAM_LIST_EVERY_MS, until = wt__now_ms() + ttl_ms;
         wait_for_work(upstream, due, until);) {
        WT_TRY(subscribe_watched(upstream, connection, err));
        if (wt__now_ms() < due)
            continue;
        WT_TRY(wt__upstream_gather(upstream, connection, &ttl_ms, err));
        notify_state_change(upstream);
        due = wt__now_ms() + UPSTREAM_LIST_EVERY_MS;
        until = wt__now_ms() + ttl_ms;
    }
    return 0;
}

static void close_links(struct upstream *upstream)
{
    close_subscription(upstream);
    pthread_mutex_lock(&upstream->lock);
    struct upstream_link *link = upstream->link, *other = upstream->other;
    upstream->link = upstream->other = NULL;
    pthread_mutex_unlock(&upstream->lock);
    wt__upstream_return(link);
    wt__upstream_return(other);
}

/* Records the failure rc, and waits until the next attempt to connect. */
static void wait_before_retry(struct upstream *upstream, struct rng *rng, int rc, const wt_error *why)
{
    pthread_mutex_lock(&upstream->lock);
    unsigned doublings = upstream->failures < 10 ? upstream->failures : 10;
    double ms = (double)UPSTREAM_FIRST_WAIT_MS * (double)(1u << doublings);
    ms = (ms < UPSTREAM_LAST_WAIT_MS ? ms : UPSTREAM_LAST_WAIT_MS) * (0.9 + 0.2 * wt__rng_unit(rng));
    upstream->failures++;
    upstream->wanted = false;
    if (rc < 0)
        upstream->error = *why;
    set_upstream_state(upstream, UPSTREAM_WAITING);
    pthread_mutex_unlock(&upstream->lock);
    notify_state_change(upstream);
    pthread_mutex_lock(&upstream->lock);
    /* A caller that wants the server shortens the wait to UPSTREAM_FIRST_WAIT_MS. */
    for (double began = wt__now_ms(), now = began; !atomic_load(&upstream->stopping) && now < began + ms;
         now = wt__now_ms()) {
        bool soon = upstream->wanted && now >= began + UPSTREAM_FIRST_WAIT_MS;
        if (soon)
            break;
        wt__steady_wait(&upstream->turn, &upstream->lock, began + (upstream->wanted ? UPSTREAM_FIRST_WAIT_MS : ms));
    }
    pthread_mutex_unlock(&upstream->lock);
}

static void *run_upstream(void *context)
{
    struct upstream *upstream = context;
    struct rng rng;
    wt__rng_seed(&rng, (uint64_t)(uintptr_t)upstream ^ (uint64_t)time(NULL));
    while (!atomic_load(&upstream->stopping)) {
        wt_error err = {0};
        pthread_mutex_lock(&upstream->lock);
        set_upstream_state(upstream, UPSTREAM_STARTING);
        pthread_mutex_unlock(&upstream->lock);
        notify_state_change(upstream);
        int rc = connect_upstream(upstream, &err);
        if (rc == 0)
            rc = serve_connection(upstream, &err);
        close_links(upstream);
        pthread_mutex_lock(&upstream->lock);
        upstream->failed_starts += upstream->state == UPSTREAM_STARTING;
        pthread_mutex_unlock(&upstream->lock);
        if (!atomic_load(&upstream->stopping))
            wait_before_retry(upstream, &rng, rc, &err);
    }
    return NULL;
}

/* ---------------------------------------------------------------- opening and closing */

int wt__upstream_open(struct upstream **out, const struct mcp_server *server, const struct upstream_options *options,
                      wt_error *err)
{
    struct upstream *upstream = calloc(1, sizeof *upstream);
    *out = NULL;
    WT_CHECK_ALLOC(upstream, err);
    upstream->server = server;
    upstream->options = *options;
    upstream->era = options->era;
    upstream->speaks_both = options->speaks_both;
    upstream->since = (long long)time(NULL);
    upstream->state = server->disabled || server->refusal ? UPSTREAM_DISABLED : UPSTREAM_STARTING;
    if (server->refusal)
        wt__fail(&upstream->error, WT_EINVAL, "%s", server->refusal);
    else if (server->note)
        wt__fail(&upstream->error, WT_EINVAL, "%s", server->note);
    wt__shares_open(&upstream->calls, UPSTREAM_CALLS_MAX);
    wt__shares_open(&upstream->watchers, UPSTREAM_WATCHED_MAX);
    pthread_mutex_init(&upstream->lock, NULL);
    pthread_mutex_init(&upstream->other_lock, NULL);
    wt__steady_open(&upstream->turn);
    *out = upstream;
    return 0;
}

int wt__upstream_start(struct upstream *upstream, wt_error *err)
{
    if (upstream->state == UPSTREAM_DISABLED)
        return 0;
    upstream->has_thread = pthread_create(&upstream->thread, NULL, run_upstream, upstream) == 0;
    return upstream->has_thread ? 0 : wt__fail(err, WT_EIO, "cannot start a thread");
}

void wt__upstream_stop(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->lock);
    atomic_store(&upstream->stopping, true);
    pthread_cond_broadcast(&upstream->turn);
    pthread_mutex_unlock(&upstream->lock);
}

void wt__upstream_end(struct upstream *upstream)
{
    wt__upstream_stop(upstream);
    if (upstream->has_thread)
        pthread_join(upstream->thread, NULL);
    upstream->has_thread = false;
}

void wt__upstream_close(struct upstream *upstream)
{
    if (!upstream)
        return;
    wt__upstream_end(upstream);
    wt__upstream_return(upstream->other); /* a call may have opened it while the thread ended */
    wt__upstream_offer_release(upstream->offer);
    wt__upstream_offer_release(upstream->listed);
    for (size_t i = 0; i < upstream->watched_count; i++)
        free(upstream->watched[i]);
    free(upstream->watched);
    wt__buffer_dispose(&upstream->waiting);
    for (size_t i = 0; i < sizeof upstream->mends / sizeof *upstream->mends; i++)
        wt__mcp_mends_dispose(&upstream->mends[i]);
    wt__shares_close(&upstream->calls);
    wt__shares_close(&upstream->watchers);
    pthread_cond_destroy(&upstream->turn);
    pthread_mutex_destroy(&upstream->other_lock);
    pthread_mutex_destroy(&upstream->lock);
    free(upstream);
}
