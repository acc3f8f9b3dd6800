/* connection_http.c: the streamable HTTP transport. Each message to the server is a POST. The answer is the body of the
 * response, or an event of its stream. All transfers of a connection run on one loop (net/http_client.h), whose thread
 * is the link's thread.
 *
 *   modern    each request stands alone; closing its stream cancels it
 *   legacy    requests belong to a session. A lost session is renewed once per request ("sessions" below). A stream
 *             broken before the answer is resumed by a GET with Last-Event-ID. Notices come over a long GET, if the
 *             server supports it
 *
 * A link_request lives until its last transfer has ended. Between two transfers it may wait for a new session. Only the
 * loop's thread uses its fields, except those that the lock guards. */
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/memory.h"
#include "mcp/internal.h"
#include "mcp/message.h"
#include "net/http_client.h"

enum {
    CONNECT_MS = 10000,
    CHECK_MS = 10000,  /* timeout of a ping */
    TELL_MS = 30000,   /* timeout of a notification or a reply */
    GOODBYE_MS = 2000, /* timeout of the DELETE of a session */
    RETRY_MS = 1000,   /* default delay before a stream is reopened */
    RETRY_MS_MAX = 60000,
    EMPTY_STREAMS_MAX = 5, /* maximum streams in a row without an event; then no stream is opened again */
    LASTING_MS = 5000,     /* a stream that lasted longer does not count as empty: many proxies close idle streams */
    OWN_HEADERS = 5,       /* room for the headers that begin_transfer adds */
    REDIRECTS_MAX = 3,     /* maximum redirects of a request */
    SESSION_ERROR_BYTES_MAX = 4096, /* maximum size of an answer that may report a lost session */
};

enum link_request_kind {
    KIND_REQUEST,     /* POST of a request */
    KIND_RESUME,      /* GET that resumes the stream of a request */
    KIND_MESSAGE,     /* POST of a notification or a reply */
    KIND_NOTICES,     /* GET of the stream of notices */
    KIND_PING,        /* `ping`, to find out if the session is valid */
    KIND_INITIALIZE,  /* `initialize` for a new session */
    KIND_INITIALIZED, /* `notifications/initialized` of the new session */
    KIND_DELETE,      /* DELETE of the session */
};

struct http_link;

/* A message to the server, with its transfers. */
struct link_request {
    struct link_request *next;
    struct http_link *link;
    enum link_request_kind kind;
    int64_t id;     /* id of the exchange; 0 without an exchange; MCP_NO_STREAM for the stream of notices */
    bool is_modern; /* the connection is in the modern era */
    /* Sent data. */
    struct arena arena;
    char *text, *method;
    size_t text_len;
    struct http_header *headers; /* [header_count]; in addition to those of the configuration and of the transport */
    size_t header_count;
    /* Guarded by the link's lock. */
    uint64_t ticket;               /* id of the running transfer, or 0 */
    bool is_awaited;               /* counted in link->awaited */
    bool is_cancelled;             /* the caller has cancelled the request */
    bool is_parked;                /* waits for the check or the renewal of the session */
    bool was_parked;               /* was parked before, and must not be parked again */
    char session[HTTP_KEPT_BYTES]; /* session of the last transfer; "" without a session */
    /* Received data. */
    struct buffer body; /* the body, or the incomplete last event of a stream */
    size_t searched;    /* bytes of body searched for an event end */
    struct sse_event event;
    bool is_answered;    /* an answer to the request has arrived */
    bool is_refused;     /* a ping or `initialize` was answered with an error */
    bool has_dispatched; /* a message of its stream was dispatched */
    bool exceeds_limit;  /* the dispatch of a message failed, so that the connection is lost */
    int rc;              /* error that stopped the transfer, or 0 */
    wt_error why;
    char last_event[HTTP_KEPT_BYTES]; /* id of the last event; "" if no event had an id */
    unsigned retry_ms;                /* delay before the stream is reopened */
    unsigned empty_streams;           /* streams in a row without an event */
    double stream_start_ms;           /* start of the stream; 0 before it */
    unsigned redirects;               /* redirects followed so far */
    /* The answer, kept while the session is checked. */
    struct buffer kept;      /* error kept by keep_session_error; empty if only the HTTP status is doubtful */
    bool is_doubtful;        /* the answer may mean that the session is lost */
    bool may_have_acted;     /* the server may have executed the request */
    struct http_head answer; /* status 0 if no answer is kept */
};

struct http_link {
    struct mcp_link public; /* first member, so that a pointer to it is a pointer to this struct */
    struct mcp_connection *connection;
    struct http_loop *loop;
    pthread_mutex_t lock;          /* guards the fields below */
    pthread_cond_t delivered;      /* signalled when `awaited` changes */
    struct link_request *requests; /* list of requests that have not ended */
    unsigned awaited;              /* transfers that `wait_delivered` waits for */
    bool is_renewing;              /* the session is being checked or renewed */
    bool is_closing;
    bool is_lost; /* while is_renewing: the session is certainly lost, so that a successful ping does not count */
    char *url;    /* target of a redirect; NULL to use the configured URL */
    char session[HTTP_KEPT_BYTES], version[MCP_VERSION_BYTES];
};

/* ---------------------------------------------------------------- requests */

static void free_request(struct link_request *request)
{
    wt__buffer_dispose(&request->body);
    wt__buffer_dispose(&request->kept);
    wt__buffer_dispose(&request->event.data);
    wt__arena_dispose(&request->arena);
    free(request);
}

static struct link_request *make_link_request(struct http_link *link, enum link_request_kind kind, struct str text)
{
    struct link_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->link = link;
    request->kind = kind;
    request->retry_ms = RETRY_MS;
    request->is_modern = link->connection->era == MCP_ERA_MODERN;
    request->text = wt__arena_copy(&request->arena, text);
    request->text_len = text.len;
    request->body.max = MCP_ANSWER_BYTES_MAX;
    if (request->text)
        return request;
    free_request(request);
    return NULL;
}

/* Removes a request from the list; the caller holds the lock. */
static void unlist_request(struct link_request *request)
{
    struct link_request **at = &request->link->requests;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
}

/* Sets whether `wait_delivered` waits for the request; the caller holds the lock. */
static void set_awaited(struct link_request *request, bool awaited)
{
    struct http_link *link = request->link;
    link->awaited += (unsigned)awaited - (unsigned)request->is_awaited;
    request->is_awaited = awaited;
    pthread_cond_broadcast(&link->delivered);
}

/* Removes a request from the list and frees it. */
static void end_request(struct link_request *request)
{
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock);
    unlist_request(request);
    set_awaited(request, false);
    pthread_mutex_unlock(&link->lock);
    free_request(request);
}

/* ---------------------------------------------------------------- headers */

static struct http_header copy_header(struct arena *arena, const struct http_header *header)
{
    return (struct http_header){wt__arena_copy(arena, wt__str(header->name)),
                                wt__arena_copy(arena, wt__str(header->value))};
}

/* True if the configuration has a header of this name. */
static bool is_configured(const struct mcp_server *server, const char *name)
{
    for (size_t i = 0; i < server->header_count; i++)
        if (strcasecmp(server->headers[i].name, name) == 0)
            return true;
    return false;
}

/* Copies the headers of a request, since it may be sent again after the caller's headers are gone. */
static int copy_headers(struct link_request *request, const struct mcp_outgoing *outgoing, wt_error *err)
{
    struct arena *arena = &request->arena;
    struct http_header *headers =
        wt__arena_array(arena, struct http_header, outgoing->header_count + outgoing->passed_count + 2);
    request->method = wt__arena_copy(arena, wt__str(outgoing->method));
    if (!headers || !request->method)
        return wt__fail_nomem(err);
    request->headers = headers;
    if (request->is_modern)
        headers[request->header_count++] = (struct http_header){"Mcp-Method", request->method};
    if (request->is_modern && outgoing->name.len > 0)
        headers[request->header_count++] =
            (struct http_header){"Mcp-Name", wt__mcp_encode_header(arena, outgoing->name)};
    for (size_t i = 0; request->is_modern && i < outgoing->header_count; i++)
        headers[request->header_count++] = copy_header(arena, &outgoing->headers[i]);
    for (size_t i = 0; i < outgoing->passed_count; i++)
        if (!is_configured(request->link->connection->server, outgoing->passed[i].name))
            headers[request->header_count++] = copy_header(arena, &outgoing->passed[i]);
    for (size_t i = 0; i < request->header_count; i++)
        if (!headers[i].name || !headers[i].value)
            return wt__fail_nomem(err);
    return 0;
}

static void on_http_headers(void *context, const struct http_head *head);
static bool on_http_body(void *context, const struct http_head *head, struct str piece);
static void on_http_end(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent);

/* Returns the current URL; the caller holds the lock. */
static const char *current_url(const struct http_link *link)
{
    return link->url ? link->url : link->connection->server->url;
}

/* Begins the next transfer of a request; the caller holds the lock. */
static int begin_transfer(struct link_request *request, unsigned delay_ms, wt_error *err)
{
    struct http_link *link = request->link;
    const struct mcp_server *server = link->connection->server;
    bool gets = request->kind == KIND_NOTICES || request->kind == KIND_RESUME;
    size_t count = 0, most = server->header_count + request->header_count + OWN_HEADERS;
    struct http_header *headers = wt__alloc_array(most, sizeof *headers);
    WT_CHECK_ALLOC(headers, err);
    memcpy(request->session, request->kind == KIND_INITIALIZE || request->is_modern ? "" : link->session,
           request->kind == KIND_INITIALIZE || request->is_modern ? 1 : sizeof request->session);
    for (size_t i = 0; i < server->header_count; i++)
        headers[count++] = server->headers[i];
    for (size_t i = 0; i < request->header_count; i++)
        headers[count++] = request->headers[i];
    headers[count++] = (struct http_header){"Mcp-Session-Id", request->session};
    headers[count++] = (struct http_header){"MCP-Protocol-Version", request->is_modern ? MCP_MODERN_VERSION
                                                                    : request->kind == KIND_INITIALIZE ? ""
                                                                                                       : link->version};
    headers[count++] = (struct http_header){"Last-Event-ID", gets ? request->last_event : ""};
    const struct http_stream stream = {.url = current_url(link),
                                       .shown = link->connection->shown,
                                       .method = request->kind == KIND_DELETE ? "DELETE"
                                                 : gets                       ? "GET"
                                                                              : "POST",
                                       .accept = gets ? MCP_EVENT_STREAM : "application/json, text/event-stream",
                                       .kept = "mcp-session-id",
                                       .headers = headers,
                                       .header_count = count,
                                       .body = {request->text, request->text_len},
                                       .connect_ms = CONNECT_MS,
                                       .total_ms = request->kind == KIND_DELETE ? GOODBYE_MS
                                                   : request->kind == KIND_MESSAGE || request->kind == KIND_INITIALIZED
                                                       ? TELL_MS
                                                   : request->kind == KIND_PING       ? CHECK_MS
                                                   : request->kind == KIND_INITIALIZE ? MCP_REQUEST_MS
                                                                                      : 0,
                                       .delay_ms = delay_ms,
                                       .on_head = on_http_headers,
                                       .on_piece = on_http_body,
                                       .on_end = on_http_end,
                                       .context = request};
    wt__buffer_clear(&request->body);
    request->searched = 0;
    int rc = wt__http_stream_begin(&request->ticket, link->loop, &stream, err);
    free(headers);
    return rc;
}

/* Adds a request to the list and sends it. While the session is checked or renewed, parks a KIND_REQUEST instead. Frees
 * the request on failure. */
static int start_request(struct link_request *request, wt_error *err)
{
    struct http_link *link = request->link;
    int rc = 0;
    pthread_mutex_lock(&link->lock);
    request->next = link->requests;
    link->requests = request;
    request->is_parked = link->is_renewing && request->kind == KIND_REQUEST;
    set_awaited(request,
                request->kind == KIND_MESSAGE || request->kind == KIND_DELETE || request->kind == KIND_NOTICES);
    if (!request->is_parked)
        rc = begin_transfer(request, 0, err);
    pthread_mutex_unlock(&link->lock);
    if (rc < 0)
        end_request(request);
    return rc;
}

/* Sends a request again, as another kind or over another session. False if it was cancelled or cannot be sent. */
static bool restart_request(struct link_request *request, enum link_request_kind kind, unsigned delay_ms)
{
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock);
    request->kind = kind;
    request->is_parked = false;
    bool begun = !request->is_cancelled && !link->is_closing && begin_transfer(request, delay_ms, NULL) == 0;
    pthread_mutex_unlock(&link->lock);
    return begun;
}

/* ---------------------------------------------------------------- received data */

/* Stores the session id from the headers of the answer to `initialize`. This cannot wait for the end of the transfer:
 * the next request may begin as soon as the body arrives. */
static void take_session(struct link_request *request, const struct http_head *head)
{
    struct http_link *link = request->link;
    bool begins = request->kind == KIND_INITIALIZE ||
                  (request->kind == KIND_REQUEST && strcmp(request->method, "initialize") == 0);
    if (!begins || head->status != STATUS_OK)
        return;
    pthread_mutex_lock(&link->lock);
    memcpy(link->session, head->kept, sizeof link->session);
    pthread_mutex_unlock(&link->lock);
}

/* Keeps an error that may mean a lost session, so that the caller does not dispatch it. Returns true if the error was
 * kept. An error that follows other messages of the request is not about the session. */
static bool keep_session_error(struct link_request *request, struct str text)
{
    struct mcp_message message;
    int64_t code;
    bool may_be = request->kind == KIND_REQUEST && !request->was_parked && !request->has_dispatched &&
                  request->session[0] && !request->is_modern && text.len <= SESSION_ERROR_BYTES_MAX;
    if (!may_be || wt__mcp_parse_message(text, &message) != MCP_ANSWER || message.error.len == 0 ||
        !wt__mcp_is_session_error(message.error, &code))
        return false;
    request->is_doubtful = true;
    request->may_have_acted = !wt__mcp_is_refused_early(code);
    wt__buffer_clear(&request->kept);
    wt__buffer_str(&request->kept, text);
    return !request->kept.failed;
}

/* Handles a message of the server. Ignores messages that this kind of request does not need. */
static void take_message(struct link_request *request, struct str text)
{
    struct mcp_message message;
    bool answered = false;
    if (text.len == 0 || request->rc < 0 || request->is_doubtful || request->kind == KIND_MESSAGE ||
        request->kind == KIND_INITIALIZED || request->kind == KIND_DELETE)
        return;
    if (request->kind == KIND_INITIALIZE || request->kind == KIND_PING) {
        request->is_answered |= wt__mcp_parse_message(text, &message) == MCP_ANSWER;
        request->is_refused |= request->is_answered && message.error.len > 0;
        return;
    }
    if (keep_session_error(request, text))
        return;
    request->has_dispatched = true;
    request->rc = wt__mcp_connection_dispatch(request->link->connection, request->id, text, &answered, &request->why);
    request->exceeds_limit = request->rc < 0;
    request->is_answered |= answered;
}

static void take_event(struct link_request *request)
{
    const struct sse_event *event = &request->event;
    if (event->has_id || event->data.len > 0)
        request->empty_streams = 0;
    if (event->has_id && event->id.len < sizeof request->last_event) {
        memcpy(request->last_event, event->id.ptr, event->id.len);
        request->last_event[event->id.len] = '\0';
    }
    if (event->retry_ms >= 0)
        request->retry_ms = event->retry_ms < RETRY_MS_MAX ? (unsigned)event->retry_ms : RETRY_MS_MAX;
    take_message(request, wt__buffer_view(&event->data));
}

/* Handles the complete events of the body and removes them from it. */
static void take_events(struct link_request *request)
{
    struct buffer *body = &request->body;
    struct str rest = wt__buffer_view(body);
    bool ends = wt__sse_may_end(rest, request->searched);
    request->searched = rest.len;
    if (!ends)
        return;
    while (wt__sse_next(&rest, &request->event) && request->rc == 0)
        take_event(request);
    memmove(body->ptr, rest.ptr, rest.len);
    wt__buffer_cut(body, rest.len);
    request->searched = rest.len;
}

static void on_http_headers(void *context, const struct http_head *head)
{
    struct link_request *request = context;
    request->stream_start_ms = wt__now_ms();
    take_session(request, head);
    pthread_mutex_lock(&request->link->lock);
    if (request->kind == KIND_NOTICES)
        set_awaited(request, false);
    pthread_mutex_unlock(&request->link->lock);
}

static bool on_http_body(void *context, const struct http_head *head, struct str piece)
{
    struct link_request *request = context;
    wt__buffer_str(&request->body, piece);
    if (request->body.failed)
        request->rc = request->body.len + piece.len > MCP_ANSWER_BYTES_MAX
                          ? wt__fail(&request->why, WT_ETOOLONG, "the answer of %s is larger than %d MB",
                                     request->link->connection->shown, MCP_ANSWER_BYTES_MAX >> 20)
                          : wt__fail_nomem(&request->why);
    else if (wt__mcp_http_is_stream(head))
        take_events(request);
    return request->rc == 0 && !request->is_answered && !request->is_doubtful;
}

static void fail_request(struct link_request *request, const wt_error *why, int status, bool sent)
{
    wt__mcp_connection_fail_request(request->link->connection, request->id, why, status, sent);
    end_request(request);
}

/* ---------------------------------------------------------------- end of a transfer */

/* Handles the rest of the body. The end of a stream also ends its last event. */
static void take_rest_of_body(struct link_request *request, const struct http_head *head)
{
    struct str rest = wt__buffer_view(&request->body);
    if (request->is_answered || request->rc < 0)
        return;
    if (!wt__mcp_http_is_stream(head)) {
        take_message(request, rest);
        return;
    }
    wt__buffer_text(&request->body, "\n\n");
    if (!request->body.failed)
        take_events(request);
}

/* Resumes a stream of a legacy server after it broke or ended before the answer. Returns false if the stream cannot be
 * resumed. */
static bool resume_stream(struct link_request *request, const struct http_head *head)
{
    bool has = wt__mcp_http_is_stream(head) && head->status == STATUS_OK;
    if (request->is_modern || !request->last_event[0] || (request->kind == KIND_REQUEST && !has) ||
        (head->status != 0 && !has) || ++request->empty_streams > EMPTY_STREAMS_MAX)
        return false;
    return restart_request(request, KIND_RESUME, request->retry_ms);
}

/* ---------------------------------------------------------------- sessions
 *
 * Servers report a lost session in many ways: with 404 as specified, with another status, or with a JSON-RPC error.
 * Only 404 and 410 are certain. After any other report, a ping checks the session, since the error may be about the
 * request itself. If the session is lost, `initialize` begins a new session, once per request.
 *
 * A tools/call must not be sent again if the server may have executed it, since tools have effects. A status of 4xx or
 * an early JSON-RPC error means that the server did not execute the request. After any other answer, a tools/call ends
 * with this answer. */

static void open_notice_stream(struct http_link *link)
{
    struct link_request *request =
        link->connection->options.lists_only ? NULL : make_link_request(link, KIND_NOTICES, STR(""));
    if (!request)
        return;
    request->id = MCP_NO_STREAM;
    start_request(request, NULL);
}

static void finish_link_answer(struct link_request *request);

/* True for a status that proves the loss of the session. */
static bool is_lost_session_status(int status)
{
    return status == STATUS_NOT_FOUND || status == STATUS_GONE;
}

/* Result of the check and the renewal of a session. */
enum session_outcome { SESSION_STANDS, SESSION_RENEWED, SESSION_GONE };

/* Continues a parked request: sends it again, ends it with its kept answer, or fails it. why: the reason for
 * SESSION_GONE. */
static void release_request(struct link_request *request, enum session_outcome outcome, const wt_error *why)
{
    wt_error own;
    int status = request->answer.status; /* 0 if the request was never sent */
    bool acts = request->may_have_acted && strcmp(request->method, "tools/call") == 0;
    if (outcome == SESSION_GONE && is_lost_session_status(status)) {
        fail_request(request, why, status, false);
    } else if (status != 0 && (outcome != SESSION_RENEWED || acts)) {
        finish_link_answer(request);
    } else {
        request->is_doubtful = false;
        request->answer.status = 0;
        if (restart_request(request, KIND_REQUEST, 0))
            return;
        wt__fail_nomem(&own);
        fail_request(request, &own, 0, false);
    }
}

/* Continues all parked requests. */
static void release_parked(struct http_link *link, enum session_outcome outcome, const wt_error *why)
{
    for (;;) {
        pthread_mutex_lock(&link->lock);
        struct link_request *request = link->requests;
        while (request && !request->is_parked)
            request = request->next;
        link->is_renewing = request && link->is_renewing;
        link->is_lost = link->is_lost && link->is_renewing;
        if (request)
            request->is_parked = false;
        pthread_mutex_unlock(&link->lock);
        if (!request)
            return;
        release_request(request, outcome, why);
    }
}

/* Sends a ping or `initialize`. On failure, releases the parked requests with SESSION_GONE. */
static void send_own_request(struct http_link *link, enum link_request_kind kind, const char *method, struct str params)
{
    wt_error why;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct mcp_meta meta = {.modern = false};
    wt__mcp_write_request(&text, wt__mcp_connection_next_id(link->connection), method, params, &meta);
    struct link_request *request = text.failed ? NULL : make_link_request(link, kind, wt__buffer_view(&text));
    if ((request ? start_request(request, &why) : wt__fail_nomem(&why)) < 0)
        release_parked(link, SESSION_GONE, &why);
}

static void renew_session(struct http_link *link)
{
    send_own_request(link, KIND_INITIALIZE, "initialize",
                     wt__mcp_initialize_params(link->connection->options.lists_only));
}

/* Parks a request until its session is checked or renewed, and begins the check or, if the session is certainly lost,
 * the renewal. */
static void park_request(struct link_request *request, bool lost)
{
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock);
    bool stale = strcmp(request->session, link->session) != 0 && !link->is_renewing;
    bool begins = !stale && !link->is_renewing;
    request->was_parked = true;
    request->is_parked = !stale;
    link->is_renewing |= begins;
    link->is_lost |= lost && !stale;
    pthread_mutex_unlock(&link->lock);
    if (stale)
        release_request(request, SESSION_RENEWED, NULL);
    else if (begins && lost)
        renew_session(link);
    else if (begins)
        send_own_request(link, KIND_PING, "ping", STR(""));
}

/* True if the answer may mean a lost session. Sets may_have_acted. */
static bool may_be_lost_session(struct link_request *request, int status)
{
    struct mcp_message message;
    int64_t id;
    bool is_request =
        request->kind == KIND_REQUEST && !request->was_parked && request->session[0] && !request->is_modern;
    if (!is_request || request->rc < 0 || request->is_answered || request->is_doubtful)
        return request->is_doubtful;
    request->may_have_acted = status >= STATUS_SERVER_ERROR;
    if (is_lost_session_status(status))
        return true;
    bool own = wt__mcp_parse_message(wt__buffer_view(&request->body), &message) == MCP_ANSWER &&
               wt__mcp_parse_id(message.id, &id) && id == request->id;
    return status >= STATUS_SERVER_ERROR ||
           (status >= 400 && status != STATUS_TOO_LARGE && status != STATUS_TOO_MANY && !own);
}

static void finish_session_check(struct link_request *request, const struct http_head *head, int rc)
{
    struct http_link *link = request->link;
    bool stands = rc == 0 && request->is_answered && head->status < 400 && !request->is_refused;
    pthread_mutex_lock(&link->lock);
    bool lost = link->is_lost;
    pthread_mutex_unlock(&link->lock);
    end_request(request);
    if (stands && !lost)
        release_parked(link, SESSION_STANDS, NULL);
    else
        renew_session(link);
}

static void finish_session_renewal(struct link_request *request, const struct http_head *head, int rc)
{
    struct http_link *link = request->link;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt_error why;
    bool renewed = rc == 0 && request->is_answered && !request->is_refused && head->status == STATUS_OK;
    end_request(request);
    wt__mcp_write_notification(&text, "notifications/initialized", STR(""));
    struct link_request *next =
        renewed && !text.failed ? make_link_request(link, KIND_INITIALIZED, wt__buffer_view(&text)) : NULL;
    if (next && start_request(next, NULL) == 0)
        return;
    wt__fail(&why, WT_ENETWORK, "%s lost the session and did not begin another", link->connection->shown);
    release_parked(link, SESSION_GONE, &why);
}

/* Returns the target of a redirect, or NULL if it must not be followed. The caller frees the result. */
static char *find_redirect_target(struct http_link *link, const struct http_head *head)
{
    pthread_mutex_lock(&link->lock);
    WT_AUTO_FREE char *base = wt__copy_string(current_url(link), strlen(current_url(link)));
    pthread_mutex_unlock(&link->lock);
    return base ? wt__mcp_http_redirect(base, head) : NULL;
}

/* Follows a redirect: sends this and all later requests to its target. False if it must not be followed. */
static bool follow_redirect(struct link_request *request, const struct http_head *head)
{
    struct http_link *link = request->link;
    if (head->status < 301 || head->status > STATUS_PERMANENT_REDIRECT || !head->location[0] ||
        ++request->redirects > REDIRECTS_MAX)
        return false;
    char *target = find_redirect_target(link, head);
    if (!target)
        return false;
    pthread_mutex_lock(&link->lock);
    free(link->url);
    link->url = target;
    pthread_mutex_unlock(&link->lock);
    return restart_request(request, request->kind, 0);
}

/* ---------------------------------------------------------------- ended transfers */

/* Ends a request with its final answer. If the answer is incomplete, tries to resume the stream first. */
static void finish_link_answer(struct link_request *request)
{
    struct http_link *link = request->link;
    const struct http_head *head = &request->answer;
    struct str body = wt__buffer_view(&request->body);
    wt_error own;
    if (request->is_doubtful && request->kept.len > 0) {
        request->is_doubtful = false;
        take_message(request, wt__buffer_view(&request->kept));
    } else if (head->status >= 400 && (request->is_answered || !wt__mcp_http_is_error_page(head, body))) {
        request->is_doubtful = false;
        take_rest_of_body(request, head);
    }
    if (request->exceeds_limit)
        wt__mcp_connection_mark_lost(link->connection, &request->why, "");
    if (request->rc < 0) {
        fail_request(request, &request->why, head->status, true);
    } else if (request->is_answered) {
        end_request(request);
    } else if (!resume_stream(request, head)) {
        wt__mcp_http_fail_status(link->connection->shown, request->method, head, wt__buffer_view(&request->body), &own);
        fail_request(request, &own, head->status, head->status != STATUS_NOT_FOUND || !request->session[0]);
    }
}

static void finish_request_transfer(struct link_request *request, const struct http_head *head, int rc,
                                    const wt_error *why, bool sent)
{
    if (rc == WT_ECANCELLED) {
        end_request(request);
        return;
    }
    request->answer = *head;
    if (rc == 0 && head->status < 400)
        take_rest_of_body(request, head);
    if (rc == 0 && may_be_lost_session(request, head->status)) {
        request->is_doubtful = true;
        park_request(request, is_lost_session_status(head->status));
        return;
    }
    if (rc == 0 || request->rc < 0 || request->is_answered) {
        finish_link_answer(request);
        return;
    }
    if (!resume_stream(request, head))
        fail_request(request, why, head->status, sent);
}

/* Reopens the stream of notices after it broke, or ended with status 200. Gives up on any other status: servers without
 * notices answer 405. */
static void finish_notice_stream(struct link_request *request, const struct http_head *head, int rc)
{
    bool again =
        (rc < 0 && rc != WT_ECANCELLED) || (rc == 0 && wt__mcp_http_is_stream(head) && head->status == STATUS_OK);
    unsigned delay =
        request->retry_ms << (request->empty_streams < EMPTY_STREAMS_MAX ? request->empty_streams : EMPTY_STREAMS_MAX);
    if (request->stream_start_ms > 0 && wt__now_ms() - request->stream_start_ms > LASTING_MS)
        request->empty_streams = 0;
    request->stream_start_ms = 0;
    if (request->exceeds_limit)
        wt__mcp_connection_mark_lost(request->link->connection, &request->why, "");
    if (request->rc < 0 || !again || ++request->empty_streams > EMPTY_STREAMS_MAX ||
        !restart_request(request, KIND_NOTICES, delay < RETRY_MS_MAX ? delay : RETRY_MS_MAX))
        end_request(request);
}

static void on_http_end(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent)
{
    struct link_request *request = context;
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock); /* wait until the beginning thread has set the ticket */
    request->ticket = 0;
    pthread_mutex_unlock(&link->lock);
    if (rc == 0 && !request->is_answered && follow_redirect(request, head))
        return;
    if (request->kind == KIND_REQUEST || request->kind == KIND_RESUME) {
        finish_request_transfer(request, head, rc, why, sent);
    } else if (request->kind == KIND_NOTICES) {
        finish_notice_stream(request, head, rc);
    } else if (request->kind == KIND_PING || request->kind == KIND_INITIALIZE) {
        if (rc == 0)
            take_rest_of_body(request, head);
        (request->kind == KIND_PING ? finish_session_check : finish_session_renewal)(request, head, rc);
    } else if (request->kind == KIND_INITIALIZED) {
        end_request(request);
        release_parked(link, SESSION_RENEWED, NULL);
        open_notice_stream(link);
    } else {
        end_request(request);
    }
}

/* ---------------------------------------------------------------- the link */

static int http_send_request(struct mcp_link *public, const struct mcp_outgoing *outgoing, wt_error *err)
{
    struct link_request *request = make_link_request((struct http_link *)public, KIND_REQUEST, outgoing->text);
    WT_CHECK_ALLOC(request, err);
    request->id = outgoing->id;
    int rc = copy_headers(request, outgoing, err);
    if (rc < 0) {
        free_request(request);
        return rc;
    }
    return start_request(request, err);
}

static int http_send_message(struct mcp_link *public, struct str text, wt_error *err)
{
    struct link_request *request = make_link_request((struct http_link *)public, KIND_MESSAGE, text);
    return request ? start_request(request, err) : wt__fail_nomem(err);
}

static void http_cancel_request(struct mcp_link *public, int64_t id, struct str notice)
{
    struct http_link *link = (struct http_link *)public;
    struct link_request *parked = NULL;
    uint64_t ticket = 0;
    pthread_mutex_lock(&link->lock);
    for (struct link_request *request = link->requests; request; request = request->next) {
        if (request->id != id || (request->kind != KIND_REQUEST && request->kind != KIND_RESUME))
            continue;
        request->is_cancelled = true;
        ticket = request->ticket;
        parked = request->is_parked ? request : parked;
    }
    if (parked)
        unlist_request(parked);
    pthread_mutex_unlock(&link->lock);
    if (parked)
        free_request(parked);
    if (ticket > 0)
        wt__http_stream_cancel(link->loop, ticket);
    if (notice.len > 0 && link->connection->era == MCP_ERA_LEGACY)
        http_send_message(public, notice, NULL);
}

static void http_set_version(struct mcp_link *public)
{
    struct http_link *link = (struct http_link *)public;
    pthread_mutex_lock(&link->lock);
    memcpy(link->version, link->connection->version, sizeof link->version);
    pthread_mutex_unlock(&link->lock);
}

static bool http_wait_delivered(struct mcp_link *public, unsigned ms)
{
    struct http_link *link = (struct http_link *)public;
    double until_ms = wt__now_ms() + ms;
    pthread_mutex_lock(&link->lock);
    while (link->awaited > 0 && wt__now_ms() < until_ms)
        wt__steady_wait(&link->delivered, &link->lock, until_ms);
    bool delivered = link->awaited == 0;
    pthread_mutex_unlock(&link->lock);
    return delivered;
}

static void http_open_notices(struct mcp_link *public)
{
    open_notice_stream((struct http_link *)public);
}

/* ---------------------------------------------------------------- open and close */

static void free_http_link(struct http_link *link)
{
    wt__http_loop_close(link->loop);
    for (struct link_request *request = link->requests, *next; request; request = next) {
        next = request->next;
        free_request(request);
    }
    pthread_cond_destroy(&link->delivered);
    pthread_mutex_destroy(&link->lock);
    free(link->url);
    free(link);
}

static void http_close(struct mcp_link *public, bool hurry, char words[CHILD_TAIL_BYTES])
{
    struct http_link *link = (struct http_link *)public;
    words[0] = '\0';
    pthread_mutex_lock(&link->lock);
    bool has_session = link->session[0];
    link->is_closing = true;
    pthread_mutex_unlock(&link->lock);
    struct link_request *request = has_session && !hurry ? make_link_request(link, KIND_DELETE, STR("")) : NULL;
    if (request && start_request(request, NULL) == 0)
        http_wait_delivered(public, GOODBYE_MS);
    free_http_link(link);
}

int wt__mcp_open_http_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err)
{
    struct http_link *link = calloc(1, sizeof *link);
    *out = NULL;
    WT_CHECK_ALLOC(link, err);
    link->public = (struct mcp_link){.send_request = http_send_request,
                                     .send_message = http_send_message,
                                     .cancel_request = http_cancel_request,
                                     .set_version = http_set_version,
                                     .wait_delivered = http_wait_delivered,
                                     .open_notices = http_open_notices,
                                     .close = http_close};
    link->connection = connection;
    pthread_mutex_init(&link->lock, NULL);
    wt__steady_open(&link->delivered);
    int rc = wt__http_loop_open(&link->loop, err);
    if (rc < 0)
        free_http_link(link);
    else
        *out = &link->public;
    return rc;
}
