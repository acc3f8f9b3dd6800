/* streamable_http.c: serves clients over HTTP at one path; see transport.h.
 *
 * The response is JSON, or an event stream if a message precedes the answer; the answer is then its last event. Closing
 * the connection cancels the request. As an exception, a legacy client that can resume the stream (http_channel.c) has
 * MCP_AWAY_MS to do so. */
#include "serve/mcp/transport.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "http/exchange.h"
#include "serve/mcp/internal.h"

enum { TICK_MS = 1000 }; /* interval for checking sessions, streams and listeners */

#define JSON_TYPE "application/json"
#define STREAM_TYPE "text/event-stream"

struct mcp_http {
    struct mcp_service *service;
    struct mcp_sessions sessions;
    pthread_t ticker;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool is_closing;
    struct mcp_streams streams;
};

/* ---------------------------------------------------------------- fields */

/* Sentinel for the value of a header that was sent more than once, because parsers disagree on which copy counts. No
 * valid value equals the sentinel. */
static const struct str doubtful = {"\x7f", 1};

/* Returns the value of the field named prefix + rest; "" if absent, `doubtful` if repeated. *there: true if the
 * field exists. */
static struct str find_only_field(const struct http_request *request, struct str prefix, struct str rest, bool *there)
{
    struct str value = {"", 0};
    *there = false;
    for (size_t i = 0; i < request->field_count; i++) {
        struct str name = request->fields[i].name;
        if (name.len != prefix.len + rest.len || strncasecmp(name.ptr, prefix.ptr, prefix.len) != 0 ||
            strncasecmp(name.ptr + prefix.len, rest.ptr, rest.len) != 0)
            continue;
        value = *there ? doubtful : request->fields[i].value;
        *there = true;
    }
    return value;
}

static struct str find_field(const struct http_request *request, const char *name)
{
    bool there;
    return find_only_field(request, wt__str(name), STR(""), &there);
}

static bool find_param_field(const struct mcp_headers *headers, struct str name, struct str *value)
{
    bool there;
    *value = find_only_field(headers->context, STR("Mcp-Param-"), name, &there);
    return there;
}

static bool find_single_field(const struct mcp_headers *headers, struct str name, struct str *value)
{
    bool there;
    *value = find_only_field(headers->context, name, STR(""), &there);
    return there && value->ptr != doubtful.ptr;
}

bool wt__mcp_http_may_pass(struct str name)
{
    static const char *const own[] = {"accept",         "accept-encoding", "connection", "content-encoding",
                                      "content-length", "content-type",    "expect",     "host",
                                      "keep-alive",     "last-event-id",   "origin",     "te",
                                      "trailer",        "upgrade",         "via",        "transfer-encoding"};
    static const struct str prefixes[] = {STR("mcp-"), STR("proxy-")};
    if (!wt__http_is_token(name) || wt__str_among(name, own, sizeof own / sizeof *own))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (name.len >= prefixes[i].len && strncasecmp(name.ptr, prefixes[i].ptr, prefixes[i].len) == 0)
            return false;
    return true;
}

/* True if an Accept list permits the type. */
static bool accept_permits(struct str list, const char *type)
{
    size_t slash = (size_t)(strchr(type, '/') - type);
    if (list.len == 0)
        return true;
    for (size_t at = 0; at < list.len;) {
        const char *comma = memchr(list.ptr + at, ',', list.len - at);
        size_t end = comma ? (size_t)(comma - list.ptr) : list.len;
        struct str range = {list.ptr + at, end - at};
        const char *semicolon = memchr(range.ptr, ';', range.len);
        if (semicolon)
            range.len = (size_t)(semicolon - range.ptr);
        range = wt__str_trim(range);
        if (wt__str_equal(range, STR("*/*")) || wt__str_among(range, &type, 1) ||
            (range.len == slash + 2 && memcmp(range.ptr + slash, "/*", 2) == 0 &&
             strncasecmp(range.ptr, type, slash) == 0))
            return true;
        at = end + 1;
    }
    return false;
}

static bool is_json_type(struct str type)
{
    const char *semicolon = type.len > 0 ? memchr(type.ptr, ';', type.len) : NULL;
    static const char *const json = JSON_TYPE;
    if (semicolon)
        type.len = (size_t)(semicolon - type.ptr);
    return wt__str_among(wt__str_trim(type), &json, 1);
}

/* ---------------------------------------------------------------- POST */

static void answer_error(struct http_exchange *exchange, int status, struct str id, int code, const char *words)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    wt__mcp_write_error(&body, id, code, wt__str(words), STR(""));
    wt__http_answer(exchange, body.failed ? 503 : status, JSON_TYPE, NULL, 0, wt__buffer_view(&body));
}

/* Returns the peer of a legacy message, with a reference. If the session is unknown, answers with an error and returns
 * NULL. */
static struct mcp_peer *find_peer(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker,
                                  const struct mcp_incoming *in)
{
    struct str id = find_field(wt__http_request(exchange), "Mcp-Session-Id"), request = wt__buffer_view(&in->id);
    if (id.len == 0) {
        answer_error(exchange, 400, request, MCP_INVALID_REQUEST,
                     "the header Mcp-Session-Id is missing; start a session with initialize");
        return NULL;
    }
    struct mcp_peer *peer = wt__mcp_session_find(&http->sessions, id, asker->principal);
    if (peer && strcmp(peer->tenant, asker->tenant ? asker->tenant : "") != 0) {
        wt__mcp_peer_release(peer); /* an administrator's session of another tenant */
        peer = NULL;
    }
    if (!peer)
        answer_error(exchange, 404, request, MCP_INVALID_REQUEST, "unknown session; start one with initialize");
    return peer;
}

/* Works like wt__mcp_peer_open for the sender of a request. */
static struct mcp_peer *open_http_peer(struct mcp_http *http, const struct mcp_asker *asker, bool known)
{
    struct mcp_peer *peer = wt__mcp_peer_open(http->service, asker->principal, known);
    if (peer && asker->tenant)
        snprintf(peer->tenant, sizeof peer->tenant, "%s", asker->tenant);
    return peer;
}

/* Creates a peer and its session for `initialize`. Returns NULL with *err set on failure. */
static struct mcp_peer *create_session(struct mcp_http *http, struct mcp_channel *channel,
                                       const struct mcp_asker *asker, char session[MCP_SESSION_ID_BYTES], wt_error *err)
{
    struct mcp_peer *peer = open_http_peer(http, asker, true);
    if (!peer) {
        wt__fail_nomem(err);
    } else if (wt__mcp_session_add(&http->sessions, peer, session, err) < 0) {
        wt__mcp_peer_close(peer);
        wt__mcp_peer_release(peer);
        peer = NULL;
    } else {
        wt__mcp_http_channel_set_session(channel, peer, session);
    }
    return peer;
}

/* Runs the request as a call of the peer. */
static void run_in_peer(struct mcp_http *http, struct mcp_peer *peer, struct mcp_channel *channel,
                        struct mcp_incoming *in, bool modern, const struct mcp_headers *headers)
{
    if (!modern)
        wt__mcp_http_channel_set_peer(channel, peer);
    wt__mcp_http_channel_cancel_on_disconnect(channel);
    struct mcp_call *call = wt__mcp_call_begin(http->service, peer, channel, in, modern, headers);
    if (call)
        wt__mcp_call_run(call);
}

static void handle_http_request(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker,
                                struct mcp_incoming *in, const struct mcp_headers *headers)
{
    const char *principal = asker->principal;
    wt_error err;
    bool modern = wt__mcp_is_modern(in, headers->version);
    bool begins = !modern && wt__str_equal(in->method, STR("initialize"));
    char session[MCP_SESSION_ID_BYTES] = "";
    struct mcp_channel *channel = wt__mcp_http_channel_open(&http->streams, exchange, asker->trace);
    struct mcp_peer *peer = NULL;
    if (channel)
        peer = modern   ? open_http_peer(http, asker, false)
               : begins ? create_session(http, channel, asker, session, &err)
                        : find_peer(http, exchange, asker, in);
    if (peer)
        atomic_store(&peer->may_call, asker->may_call);
    if (peer)
        run_in_peer(http, peer, channel, in, modern, headers);
    else if (begins && channel)
        answer_error(exchange, 503, wt__buffer_view(&in->id), MCP_INTERNAL_ERROR, err.message);
    else if (modern || !channel)
        answer_error(exchange, 503, wt__buffer_view(&in->id), MCP_INTERNAL_ERROR, "out of memory");
    if (peer && begins && !peer->is_open)
        wt__mcp_session_end(&http->sessions, wt__str(session), principal);
    wt__mcp_channel_release(channel);
    wt__mcp_peer_release(peer);
    wt__mcp_incoming_dispose(in);
}

/* Handles a notification or response, and answers with status 202. */
static void handle_other_message(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker,
                                 const struct mcp_incoming *in, const struct mcp_headers *headers)
{
    bool modern = wt__mcp_is_modern(in, headers->version);
    if (modern && in->kind == MCP_IN_RESPONSE) {
        answer_error(exchange, 400, STR("null"), MCP_INVALID_REQUEST, "clients of this revision cannot send responses");
        return;
    }
    if (!modern) {
        struct mcp_peer *peer = find_peer(http, exchange, asker, in);
        if (!peer)
            return;
        wt__mcp_handle_other_message(http->service, peer, in);
        wt__mcp_peer_release(peer);
    }
    wt__http_answer(exchange, 202, NULL, NULL, 0, STR(""));
}

static void handle_post(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker)
{
    const struct http_request *request = wt__http_request(exchange);
    struct str accept = find_field(request, "Accept");
    struct mcp_incoming in;
    struct mcp_headers headers = {
        .version = find_field(request, "MCP-Protocol-Version"),
        .method = find_field(request, "Mcp-Method"),
        .name = find_field(request, "Mcp-Name"),
        .param = find_param_field,
        .passed = asker->passed_headers,
        .field = find_single_field,
        .context = request,
    };
    if (!is_json_type(wt__http_field(request, "Content-Type"))) {
        answer_error(exchange, 415, STR("null"), MCP_INVALID_REQUEST, "Content-Type is not " JSON_TYPE);
        return;
    }
    if (!accept_permits(accept, JSON_TYPE) || !accept_permits(accept, STREAM_TYPE)) {
        answer_error(exchange, 406, STR("null"), MCP_INVALID_REQUEST,
                     "Accept does not list both " JSON_TYPE " and " STREAM_TYPE);
        return;
    }
    wt__mcp_read_message(&in, request->body);
    if (in.kind == MCP_IN_REQUEST) {
        handle_http_request(http, exchange, asker, &in, &headers);
        return;
    }
    if (in.kind == MCP_IN_BAD)
        answer_error(exchange, in.code == MCP_INTERNAL_ERROR ? 503 : 400, wt__buffer_view(&in.id), in.code, in.words);
    else
        handle_other_message(http, exchange, asker, &in, &headers);
    wt__mcp_incoming_dispose(&in);
}

/* ---------------------------------------------------------------- GET and DELETE, of legacy clients */

/* Resumes the stream given by Last-Event-ID, or else opens a new general stream. */
static void open_stream(struct mcp_http *http, struct http_exchange *exchange, struct mcp_peer *peer)
{
    struct str last_event = find_field(wt__http_request(exchange), "Last-Event-ID");
    if (wt__mcp_http_channel_resume(&http->streams, peer, last_event, exchange))
        return;
    struct mcp_channel *channel = wt__mcp_http_channel_open(&http->streams, exchange, NULL);
    if (!channel) {
        answer_error(exchange, 503, STR("null"), MCP_INTERNAL_ERROR, "out of memory");
        return;
    }
    /* Register the stream before its head is sent. A client that has seen the head must miss no notice, and the stream
     * that it opens next must replace this one. */
    wt__mcp_peer_stream(peer, channel);
    wt__mcp_http_channel_start_stream(channel);
    wt__mcp_channel_release(channel);
}

static void handle_get_or_delete(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker,
                                 bool get)
{
    static const struct http_field allow = {{"Allow", 5}, {"POST", 4}};
    const struct http_request *request = wt__http_request(exchange);
    struct str id = find_field(request, "Mcp-Session-Id"), version = find_field(request, "MCP-Protocol-Version");
    struct mcp_incoming none = {.id = {0}};
    if (id.len == 0 || (version.len > 0 && !wt__mcp_is_legacy_version(version))) {
        wt__http_answer(exchange, 405, NULL, &allow, 1, STR(""));
        return;
    }
    if (get && !accept_permits(find_field(request, "Accept"), STREAM_TYPE)) {
        answer_error(exchange, 406, STR("null"), MCP_INVALID_REQUEST, "Accept does not list " STREAM_TYPE);
        return;
    }
    wt__buffer_text(&none.id, "null");
    struct mcp_peer *peer = find_peer(http, exchange, asker, &none);
    if (peer && get) {
        wt__trace_note_stream(asker->trace);
        open_stream(http, exchange, peer);
    } else if (peer) {
        wt__mcp_session_end(&http->sessions, id, asker->principal);
        wt__http_answer(exchange, 204, NULL, NULL, 0, STR(""));
    }
    wt__mcp_peer_release(peer);
    wt__mcp_incoming_dispose(&none);
}

void wt__mcp_http_answer(struct mcp_http *http, struct http_exchange *exchange, const struct mcp_asker *asker)
{
    static const struct http_field allow = {{"Allow", 5}, {"GET, POST, DELETE", 17}};
    struct str method = wt__http_request(exchange)->method;
    if (strlen(asker->principal) > MCP_PRINCIPAL_BYTES_MAX)
        answer_error(exchange, 400, STR("null"), MCP_INVALID_REQUEST, "the principal's name is too long");
    else if (wt__str_equal(method, STR("POST")))
        handle_post(http, exchange, asker);
    else if (wt__str_equal(method, STR("GET")) || wt__str_equal(method, STR("DELETE")))
        handle_get_or_delete(http, exchange, asker, wt__str_equal(method, STR("GET")));
    else
        wt__http_answer(exchange, 405, NULL, &allow, 1, STR(""));
}

static void *run_ticker(void *context)
{
    struct mcp_http *http = context;
    double until_ms = wt__now_ms();
    unsigned ticks = 0;
    pthread_mutex_lock(&http->lock);
    while (!http->is_closing) {
        until_ms += TICK_MS;
        while (!http->is_closing && wt__steady_wait(&http->news, &http->lock, until_ms))
            ;
        pthread_mutex_unlock(&http->lock);
        wt__mcp_drop_gone_listeners(http->service);
        wt__mcp_sessions_expire(&http->sessions);
        wt__mcp_streams_expire(&http->streams);
        if (++ticks % (MCP_KEEP_ALIVE_MS / TICK_MS) == 0)
            wt__mcp_streams_keep_alive(&http->streams);
        pthread_mutex_lock(&http->lock);
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}

int wt__mcp_http_open(struct mcp_http **out, struct mcp_service *service, wt_error *err)
{
    struct mcp_http *http = calloc(1, sizeof *http);
    *out = NULL;
    WT_CHECK_ALLOC(http, err);
    http->service = service;
    wt__mcp_sessions_open(&http->sessions, service);
    wt__mcp_streams_open(&http->streams, service);
    pthread_mutex_init(&http->lock, NULL);
    wt__steady_open(&http->news);
    if (pthread_create(&http->ticker, NULL, run_ticker, http) != 0) {
        wt__mcp_sessions_close(&http->sessions);
        wt__mcp_streams_close(&http->streams);
        pthread_mutex_destroy(&http->lock);
        pthread_cond_destroy(&http->news);
        free(http);
        return wt__fail(err, WT_EIO, "cannot start a thread");
    }
    *out = http;
    return 0;
}

void wt__mcp_http_close(struct mcp_http *http)
{
    if (!http)
        return;
    pthread_mutex_lock(&http->lock);
    http->is_closing = true;
    pthread_cond_broadcast(&http->news);
    pthread_mutex_unlock(&http->lock);
    pthread_join(http->ticker, NULL);
    wt__mcp_end_listeners(http->service, NULL);
    wt__mcp_sessions_close(&http->sessions);
    wt__mcp_streams_close(&http->streams);
    pthread_mutex_destroy(&http->lock);
    pthread_cond_destroy(&http->news);
    free(http);
}
