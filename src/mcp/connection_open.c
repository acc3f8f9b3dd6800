/* connection_open.c: opens and closes connections, and finds the era of a server. Tries the remembered era first, or
 * the modern era if none is remembered, and then the other era.
 *
 * A server that does not answer `server/discover` within MCP_PROBE_MS may still be starting, since `npx` fetches
 * packages. So `server/discover` stays open while `initialize` follows. If the server refuses `initialize`, a late
 * answer to `server/discover` counts. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "mcp/internal.h"

enum {
    RESULT_BYTES_MAX = 4 << 20, /* maximum size of a result that is parsed as a tree */
    SLICE_MS = 50,              /* interval of checks for cancellation */
    HEAR_MS = 1000,             /* maximum wait for the stream of notices to open */
    LATE_MS = 100,              /* maximum wait for a late answer to `server/discover` */
};

/* State of wt__mcp_connect. */
struct opening {
    struct mcp_connection *connection;
    double until_ms; /* end of the timeout, by wt__now_ms */
    struct progress *progress;
    struct mcp_exchange *late; /* `server/discover`, still running if the server was silent; NULL if ended */
    bool was_probed;           /* the running program has received `server/discover` */
    bool has_ended;            /* the program ended before it answered `server/discover` */
    bool refuses_post;         /* the URL does not accept a POST of `initialize` */
    wt_error *err;
};

/* Result or error of a request, as parsed JSON. The other member is NULL. */
struct opening_outcome {
    json_t *result, *error;
};

static void set_era(struct mcp_connection *connection, enum mcp_era era)
{
    pthread_mutex_lock(&connection->lock);
    connection->era = era;
    pthread_mutex_unlock(&connection->lock);
}

static int fail_opening_timeout(const struct opening *opening)
{
    return wt__fail(opening->err, WT_ETIMEOUT, "no answer came within %.3g s",
                    opening->connection->options.timeout_ms / 1000.0);
}

/* ---------------------------------------------------------------- requests */

/* Parses a result that must be an object. *out is NULL on failure. */
static int read_object(json_t **out, struct str text, const char *method, wt_error *err)
{
    wt_error why;
    *out = NULL;
    if (text.len > RESULT_BYTES_MAX)
        return wt__fail(err, WT_ETOOLONG, "the answer to `%s` is larger than %d MB", method, RESULT_BYTES_MAX >> 20);
    int rc = wt__json_parse(out, text.ptr, text.len, &why);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(err);
    if (rc == 0 && json_is_object(*out))
        return 0;
    json_decref(*out);
    *out = NULL;
    return wt__fail(err, WT_ENETWORK, "the answer to `%s` is invalid: %s", method,
                    rc < 0 ? why.message : "its result is not an object");
}

/* Keeps the result of the opening for wt__mcp_connection_self. */
static int keep_opening_result(struct mcp_connection *connection, struct str result, wt_error *err)
{
    wt__buffer_clear(&connection->self);
    wt__buffer_str(&connection->self, result);
    return connection->self.failed ? wt__fail_nomem(err) : 0;
}

/* Waits for the answer to an exchange. If the server refuses the request, returns 0 and sets out->error and *refusal.
 * patience_ms: see wt__mcp_exchange_wait. */
static int wait_for_outcome(struct opening *opening, struct mcp_exchange *exchange, const char *method,
                            unsigned patience_ms, struct opening_outcome *out, wt_error *refusal)
{
    struct mcp_event event;
    int64_t code;
    int rc;
    *out = (struct opening_outcome){NULL, NULL};
    do
        rc = wt__mcp_exchange_wait(exchange, &event, opening->progress, patience_ms, opening->err);
    while (rc == 0 && event.kind != MCP_EVENT_RESULT && event.kind != MCP_EVENT_REFUSED);
    if (rc < 0)
        return rc == WT_ETIMEOUT ? fail_opening_timeout(opening) : rc;
    if (event.kind == MCP_EVENT_RESULT) {
        rc = read_object(&out->result, event.result, method, opening->err);
        return rc < 0 ? rc : keep_opening_result(opening->connection, event.result, opening->err);
    }
    char subject[64];
    const struct mcp_message message = {.error = event.error};
    snprintf(subject, sizeof subject, "`%s`", method);
    rc = wt__mcp_fail(&message, subject, &code, refusal);
    if (rc == WT_ENOMEM)
        return wt__fail_nomem(opening->err);
    if (wt__json_parse(&out->error, event.error.ptr, event.error.len, NULL) < 0 || !json_is_object(out->error)) {
        json_decref(out->error);
        out->error = json_object();
    }
    return out->error ? keep_opening_result(opening->connection, STR("{}"), opening->err)
                      : wt__fail_nomem(opening->err);
}

static void dispose_outcome(struct opening_outcome *outcome)
{
    json_decref(outcome->result);
    json_decref(outcome->error);
}

/* Begins `server/discover` or `initialize`. */
static int begin_opening_request(struct opening *opening, struct mcp_exchange **out, const char *method,
                                 struct str params)
{
    double left = opening->until_ms - wt__now_ms();
    *out = NULL;
    if (left < 1)
        return fail_opening_timeout(opening);
    const struct mcp_request request = {.method = method, .params = params, .timeout_ms = (unsigned)left + 1};
    return wt__mcp_exchange_begin(out, opening->connection, &request, opening->err);
}

/* ---------------------------------------------------------------- the modern era */

enum era_verdict { IS_MODERN, IS_LEGACY, IS_NEITHER };

/* Returns the era of a server that supports these revisions. Revisions are dates, so earlier revisions are legacy. */
static enum era_verdict judge_versions(const json_t *versions)
{
    enum era_verdict verdict = IS_NEITHER;
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const char *version = json_string_value(json_array_get(versions, i));
        if (version && strcmp(version, MCP_MODERN_VERSION) == 0)
            return IS_MODERN;
        if (version && strcmp(version, MCP_MODERN_VERSION) < 0)
            verdict = IS_LEGACY;
    }
    return verdict;
}

/* Returns the era of a server with this answer to `server/discover`. */
static enum era_verdict judge_outcome(const struct opening_outcome *outcome)
{
    const json_t *versions = wt__json_array(outcome->result, "supportedVersions");
    if (outcome->result) /* some legacy servers answer any request, without versions */
        return versions ? judge_versions(versions) : IS_LEGACY;
    int64_t code = wt__json_int(outcome->error, "code", 0);
    versions = wt__json_array(wt__json_object(outcome->error, "data"), "supported");
    if (code == MCP_VERSION_NOT_SPOKEN && versions)
        return judge_versions(versions);
    return code >= MCP_MODERN_ERRORS_FIRST && code <= MCP_MODERN_ERRORS_LAST ? IS_MODERN : IS_LEGACY;
}

/* Completes the opening in the modern era. Returns 0. */
static int agree_modern(struct opening *opening)
{
    struct mcp_connection *connection = opening->connection;
    set_era(connection, MCP_ERA_MODERN);
    snprintf(connection->version, sizeof connection->version, MCP_MODERN_VERSION);
    if (connection->link->set_version)
        connection->link->set_version(connection->link);
    return 0;
}

/* Decides what the failure rc of `server/discover` means. Returns 0 if `initialize` should be tried, else the error. */
static int judge_failure(struct opening *opening, struct mcp_exchange *exchange, int rc, enum era_verdict *verdict)
{
    bool silent = rc == WT_ETIMEOUT;
    *verdict = IS_LEGACY;
    if (rc == WT_ECANCELLED || rc == WT_ENOMEM)
        return rc;
    opening->has_ended = wt__mcp_connection_is_lost(opening->connection);
    /* The address does not answer, so that `initialize` would fail the same way. */
    bool is_unreachable = !silent && !opening->has_ended && exchange->status == 0;
    return is_unreachable && opening->connection->server->url ? rc : 0;
}

/* Sends `server/discover` once. *again: the server refused our revision, but lists it as supported. */
static int probe_once(struct opening *opening, unsigned patience_ms, enum era_verdict *verdict, bool *again,
                      wt_error *refusal)
{
    struct mcp_exchange *exchange;
    WT_CLEANUP(dispose_outcome) struct opening_outcome outcome = {NULL, NULL};
    set_era(opening->connection, MCP_ERA_MODERN);
    *verdict = IS_LEGACY;
    *again = false;
    int rc = begin_opening_request(opening, &exchange, "server/discover", STR(""));
    if (rc < 0) { /* a program that ended before the probe counts as one that ended after the probe */
        opening->has_ended = rc != WT_ENOMEM && wt__mcp_connection_is_lost(opening->connection);
        return opening->has_ended ? 0 : rc;
    }
    rc = wait_for_outcome(opening, exchange, "server/discover", patience_ms, &outcome, refusal);
    if (rc == 0)
        *verdict = judge_outcome(&outcome);
    else
        rc = judge_failure(opening, exchange, rc, verdict);
    *again = outcome.error && *verdict == IS_MODERN && wt__json_int(outcome.error, "code", 0) == MCP_VERSION_NOT_SPOKEN;
    if (rc == 0 && *verdict == IS_LEGACY && !opening->has_ended)
        opening->late = exchange; /* still running if the server was silent */
    else
        wt__mcp_exchange_end(exchange);
    if (rc == 0 && *verdict == IS_NEITHER)
        return wt__fail(opening->err, WT_ENETWORK, "%s supports no revision of MCP that whichtool supports",
                        opening->connection->shown);
    return rc;
}

/* Probes for the modern era. patience_ms: time until the server counts as legacy; 0 for the rest of the timeout. */
static int probe_server(struct opening *opening, unsigned patience_ms, enum era_verdict *verdict, wt_error *refusal)
{
    bool again;
    int rc = probe_once(opening, patience_ms, verdict, &again, refusal);
    if (rc == 0 && again)
        rc = probe_once(opening, patience_ms, verdict, &again, refusal);
    return rc == 0 && *verdict == IS_MODERN ? agree_modern(opening) : rc;
}

/* ---------------------------------------------------------------- the legacy era */

/* Waits until the notifications are delivered, but at most until until_ms. Fails only if the opening is cancelled or
 * its timeout is over. */
static int wait_for_delivery(struct opening *opening, double until_ms)
{
    struct mcp_link *link = opening->connection->link;
    while (link->wait_delivered && !link->wait_delivered(link, SLICE_MS)) {
        if (wt__progress_step(opening->progress, 0))
            return wt__fail_cancelled(opening->err);
        if (wt__now_ms() >= until_ms)
            break;
    }
    return wt__now_ms() >= opening->until_ms ? fail_opening_timeout(opening) : 0;
}

/* Waits until `notifications/initialized` is delivered, since some servers refuse requests before it. Then opens the
 * stream of notices and waits for it, since some servers send questions there. */
static int wait_until_ready(struct opening *opening)
{
    struct mcp_link *link = opening->connection->link;
    WT_TRY(wait_for_delivery(opening, opening->until_ms));
    if (!link->open_notices)
        return 0;
    link->open_notices(link);
    return wait_for_delivery(opening, fmin(wt__now_ms() + HEAR_MS, opening->until_ms));
}

/* Completes the opening in the legacy era. result: the result of `initialize`. */
static int agree_legacy(struct opening *opening, const json_t *result)
{
    struct mcp_connection *connection = opening->connection;
    struct mcp_link *link = connection->link;
    struct str version = wt__json_str(result, "protocolVersion");
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (version.len < sizeof connection->version)
        snprintf(connection->version, sizeof connection->version, "%.*s", (int)version.len, version.ptr);
    if (link->set_version)
        link->set_version(link);
    wt__mcp_write_notification(&text, "notifications/initialized", STR(""));
    if (text.failed)
        return wt__fail_nomem(opening->err);
    WT_TRY(link->send_message(link, wt__buffer_view(&text), opening->err));
    return wait_until_ready(opening);
}

/* Sends `initialize`. If the server refuses the request, returns 0 and sets *refused. *refusal is the reason. */
static int initialize_server(struct opening *opening, bool *refused, wt_error *refusal)
{
    struct mcp_connection *connection = opening->connection;
    struct mcp_exchange *exchange;
    WT_CLEANUP(dispose_outcome) struct opening_outcome outcome = {NULL, NULL};
    set_era(connection, MCP_ERA_LEGACY);
    WT_TRY(begin_opening_request(opening, &exchange, "initialize",
                                 wt__mcp_initialize_params(connection->options.lists_only)));
    int rc = wait_for_outcome(opening, exchange, "initialize", 0, &outcome, refusal);
    *refused = rc == 0 && outcome.error;
    opening->refuses_post = exchange->status == 400 || exchange->status == 404 || exchange->status == 405;
    if (rc == 0 && outcome.result)
        rc = agree_legacy(opening, outcome.result);
    wt__mcp_exchange_end(exchange);
    return rc;
}

/* ---------------------------------------------------------------- links */

typedef int (*link_opener)(struct mcp_link **out, struct mcp_connection *connection, wt_error *err);

/* Opens a link. Holds the lock, so that no message of the server is handled before connection->link is set. */
static int open_link(struct opening *opening, link_opener open)
{
    struct mcp_connection *connection = opening->connection;
    pthread_mutex_lock(&connection->lock);
    int rc = open(&connection->link, connection, opening->err);
    pthread_mutex_unlock(&connection->lock);
    return rc;
}

/* Closes the link, and resets the connection so that another link may be opened. words: as in mcp_link.close. */
static void close_link(struct mcp_connection *connection, bool hurry, char words[CHILD_TAIL_BYTES])
{
    words[0] = '\0';
    wt__mcp_connection_fail_all(connection);
    if (connection->link)
        connection->link->close(connection->link, hurry, words);
    pthread_mutex_lock(&connection->lock);
    connection->link = NULL;
    connection->is_closing = connection->is_lost = false;
    pthread_mutex_unlock(&connection->lock);
}

/* Starts the program again, so that the new process never receives `server/discover`. */
static int restart_program(struct opening *opening)
{
    char words[CHILD_TAIL_BYTES];
    wt__mcp_exchange_end(opening->late);
    opening->late = NULL;
    opening->was_probed = opening->has_ended = false;
    close_link(opening->connection, true, words);
    return open_link(opening, wt__mcp_open_stdio_link);
}

/* True if `initialize` may have failed because of the `server/discover` before it: some servers (the Python SDK up to
 * 1.8.1) end after a request that they do not know, or refuse all later requests. rc: result of initialize_server. */
static bool may_blame_probe(const struct opening *opening, int rc, bool refused)
{
    if (!opening->was_probed || !opening->connection->server->argv)
        return false;
    return refused || (rc == WT_ENETWORK && wt__mcp_connection_is_lost(opening->connection));
}

/* Repeats `initialize` with a new process. If the new process does not answer, an earlier refusal counts. */
static int initialize_unprobed(struct opening *opening, bool *refused, wt_error *refusal)
{
    bool was_refused = *refused;
    wt_error first = *refusal;
    int rc = restart_program(opening);
    *refused = false;
    if (rc == 0)
        rc = initialize_server(opening, refused, refusal);
    if (rc != WT_ENETWORK || !was_refused)
        return rc;
    *refused = true;
    *refusal = first;
    return 0;
}

/* Waits up to LATE_MS for the late answer to `server/discover`. True if the answer shows a modern server. */
static bool is_modern_late(struct opening *opening)
{
    WT_CLEANUP(dispose_outcome) struct opening_outcome outcome = {NULL, NULL};
    wt_error ignored, *err = opening->err;
    opening->err = &ignored;
    int rc = wait_for_outcome(opening, opening->late, "server/discover", LATE_MS, &outcome, &ignored);
    bool modern = rc == 0 && judge_outcome(&outcome) == IS_MODERN;
    opening->err = err;
    return modern;
}

/* Tries HTTP+SSE, the transport of 2024, at a URL that does not accept a POST of `initialize`. Restores the error of
 * the POST if HTTP+SSE fails with WT_ENETWORK. */
static int open_older(struct opening *opening, bool *refused, wt_error *refusal)
{
    struct mcp_connection *connection = opening->connection;
    char words[CHILD_TAIL_BYTES];
    wt_error first = *opening->err;
    wt__mcp_exchange_end(opening->late);
    opening->late = NULL;
    close_link(connection, true, words);
    int rc = open_link(opening, wt__mcp_open_sse_link);
    if (rc == 0)
        rc = wait_for_delivery(opening, fmin(wt__now_ms() + MCP_PROBE_MS, opening->until_ms));
    if (rc == 0)
        rc = initialize_server(opening, refused, refusal);
    if (rc == WT_ENETWORK)
        *opening->err = first;
    return rc;
}

static int open_link_of_server(struct opening *opening)
{
    return open_link(opening, opening->connection->server->argv ? wt__mcp_open_stdio_link : wt__mcp_open_http_link);
}

/* Opens the connection in the modern era only. */
static int open_modern(struct opening *opening)
{
    enum era_verdict verdict = IS_LEGACY;
    wt_error refusal = {0};
    WT_TRY(open_link_of_server(opening));
    WT_TRY(probe_server(opening, 0, &verdict, &refusal));
    if (verdict == IS_MODERN)
        return 0;
    return wt__fail(opening->err, WT_ENETWORK, "%s does not support MCP %s: %s", opening->connection->shown,
                    MCP_MODERN_VERSION,
                    opening->has_ended ? "it ended"
                    : refusal.code     ? refusal.message
                                       : "it supports legacy revisions only");
}

/* Opens the connection in the legacy era only. */
static int open_legacy(struct opening *opening)
{
    wt_error refusal;
    bool refused = false;
    WT_TRY(open_link_of_server(opening));
    int rc = initialize_server(opening, &refused, &refusal);
    if (rc < 0 && opening->refuses_post)
        rc = open_older(opening, &refused, &refusal);
    if (rc < 0 || !refused)
        return rc;
    *opening->err = refusal;
    return refusal.code;
}

/* Opens the connection in the remembered era, or else in the other era. */
static int open_either_era(struct opening *opening)
{
    enum mcp_era first = opening->connection->options.era;
    /* A server remembered as modern may have been replaced by a legacy server: leave time for `initialize`. */
    unsigned patience_ms = first == MCP_ERA_UNKNOWN ? MCP_PROBE_MS : opening->connection->options.timeout_ms / 2;
    enum era_verdict verdict = IS_LEGACY;
    wt_error refusal, ignored, *err = opening->err;
    bool refused = false;
    WT_TRY(open_link_of_server(opening));
    if (first != MCP_ERA_LEGACY) {
        opening->was_probed = true;
        WT_TRY(probe_server(opening, patience_ms, &verdict, &ignored));
        if (verdict == IS_MODERN)
            return 0;
        if (opening->has_ended)
            WT_TRY(restart_program(opening));
    }
    int rc = initialize_server(opening, &refused, &refusal);
    if (refused && opening->late && is_modern_late(opening))
        return agree_modern(opening);
    if (may_blame_probe(opening, rc, refused))
        rc = initialize_unprobed(opening, &refused, &refusal);
    if (rc < 0 && opening->refuses_post)
        rc = open_older(opening, &refused, &refusal);
    if (rc < 0 || !refused)
        return rc;
    if (first == MCP_ERA_LEGACY) {
        opening->err = &ignored;
        rc = probe_server(opening, 0, &verdict, &ignored);
        opening->err = err;
        if (rc == WT_ECANCELLED || rc == WT_ENOMEM)
            *err = ignored;
        if (rc == WT_ECANCELLED || rc == WT_ENOMEM || (rc == 0 && verdict == IS_MODERN))
            return rc;
    }
    *err = refusal;
    return refusal.code;
}

/* ---------------------------------------------------------------- connecting */

static int make_connection(struct mcp_connection **out, const struct mcp_server *server,
                           const struct mcp_connection_options *options, wt_error *err)
{
    struct mcp_connection *connection = calloc(1, sizeof *connection);
    *out = NULL;
    WT_CHECK_ALLOC(connection, err);
    connection->server = server;
    connection->options = *options;
    if (options->timeout_ms == 0)
        connection->options.timeout_ms = MCP_CONNECT_MS;
    connection->references = 1;
    pthread_mutex_init(&connection->lock, NULL);
    pthread_cond_init(&connection->left, NULL);
    connection->shown = server->argv ? server->argv[0] : wt__mcp_shown_url(&connection->arena, server->url);
    if (!connection->shown) {
        wt__mcp_connection_release(connection);
        return wt__fail_nomem(err);
    }
    *out = connection;
    return 0;
}

/* Enables the `lost` callback, and calls it if the connection is lost already. */
static void publish_connection(struct mcp_connection *connection)
{
    const struct mcp_connection_options *options = &connection->options;
    pthread_mutex_lock(&connection->lock);
    connection->is_open = true;
    bool lost = connection->is_lost;
    wt_error why = connection->why;
    pthread_mutex_unlock(&connection->lock);
    if (lost && options->lost)
        options->lost(options->context, &why);
}

int wt__mcp_connect(struct mcp_connection **out, const struct mcp_server *server,
                    const struct mcp_connection_options *options, wt_error *err)
{
    char words[CHILD_TAIL_BYTES];
    wt_error scratch;
    struct mcp_connection *connection;
    *out = NULL;
    err = err ? err : &scratch;
    if (server->refusal)
        return wt__fail(err, WT_EINVAL, "%s", server->refusal);
    WT_TRY(make_connection(&connection, server, options, err));
    struct opening opening = {.connection = connection,
                              .until_ms = wt__now_ms() + connection->options.timeout_ms,
                              .progress = options->progress,
                              .err = err};
    enum mcp_era only = options->only ? options->only : server->protocol;
    int rc = only == MCP_ERA_LEGACY   ? open_legacy(&opening)
             : only == MCP_ERA_MODERN ? open_modern(&opening)
                                      : open_either_era(&opening);
    wt__mcp_exchange_end(opening.late);
    if (rc == 0) {
        *out = connection;
        publish_connection(connection);
        return 0;
    }
    close_link(connection, true, words);
    wt__mcp_connection_release(connection);
    wt__mcp_add_last_output(err, rc == WT_ECANCELLED || rc == WT_ENOMEM ? "" : words, server);
    return rc;
}

void wt__mcp_disconnect_with_output(struct mcp_connection *connection, bool hurry, char words[CHILD_TAIL_BYTES])
{
    if (!connection)
        return;
    close_link(connection, hurry, words);
    wt__mcp_connection_release(connection);
}

void wt__mcp_disconnect(struct mcp_connection *connection, bool hurry)
{
    char words[CHILD_TAIL_BYTES];
    wt__mcp_disconnect_with_output(connection, hurry, words);
}
