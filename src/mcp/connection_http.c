/* connection_http.c: the streamable HTTP transport. Each message is a POST. Its answer is the body, or an event of a
 * stream. All transfers of a connection run on one loop (net/http_stream.h), whose thread is the link's.
 *
 *   modern    the headers of each request are complete; closing its stream cancels it
 *   legacy    requests carry a session. A lost session is renewed once per request ("sessions" below). A stream that
 *             breaks before the answer is resumed by GET and Last-Event-ID. Notices come over a GET that stays open, if
 *             the server supports it
 *
 * A request lives from wt__http_stream_begin to the end of its last transfer, or while it waits for a new session. It
 * belongs to the loop's thread, except the fields that the lock guards. */
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/steady.h"
#include "mcp/connection_inside.h"
#include "mcp/header.h"
#include "mcp/sse.h"
#include "net/http_address.h"
#include "net/http_stream.h"

enum {
    CONNECT_MS = 10000,
    CHECK_MS = 10000,  /* for the answer to a ping */
    TELL_MS = 30000,   /* for the delivery of a notification or a reply */
    GOODBYE_MS = 2000, /* for the end of a session */
    RETRY_MS = 1000,   /* default delay before a stream is reopened */
    RETRY_MS_MAX = 60000,
    FRUITLESS_MAX = 5, /* streams in a row without an event; after that, streams are not reopened */
    LASTING_MS = 5000, /* a stream that lasted so long does not count: many proxies close idle ones */
    OWN_HEADERS = 5,
    STATUS_OK = 200,
    STATUS_TEMPORARY_REDIRECT = 307,
    STATUS_PERMANENT_REDIRECT = 308,
    STATUS_UNAUTHORISED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_NOT_FOUND = 404,
    STATUS_GONE = 410,
    STATUS_TOO_LARGE = 413,
    STATUS_TOO_MANY = 429,
    STATUS_SERVER_ERROR = 500,
    REDIRECTS_MAX = 3,              /* redirects per request */
    SESSION_ERROR_BYTES_MAX = 4096, /* maximum size of an answer that may report a lost session */
};

enum kind {
    ASKS,    /* POST of a request */
    RESUMES, /* GET that resumes the stream of a request */
    TELLS,   /* POST of a notification or a reply */
    HEARS,   /* GET of the stream of notices */
    CHECKS,  /* `ping`, to find out if the session is valid */
    RENEWS,  /* `initialize` for a new session */
    RENEWED, /* `notifications/initialized` of the new session */
    LEAVES,  /* DELETE of the session */
};

struct http_link;

struct request {
    struct request *next;
    struct http_link *link;
    enum kind kind;
    int64_t id;
    bool modern;
    /* Sent data. */
    struct arena arena;
    char *text, *method;
    size_t text_len;
    struct http_header *headers; /* [header_count]; in addition to those of the configuration and of the transport */
    size_t header_count;
    /* Guarded by the link's lock. */
    uint64_t ticket; /* id of the running transfer, or 0 */
    bool awaited;    /* counted in link->awaited */
    bool gone;       /* cancelled */
    bool parked;     /* waits for the check or the renewal of the session */
    bool again;      /* was parked once already */
    char session[HTTP_KEPT_BYTES];
    /* Received data. */
    struct buffer heard; /* the body, or the incomplete last event of a stream */
    size_t looked_at;    /* bytes of heard searched for an event end */
    struct sse_event event;
    bool answered, refused;
    bool heard_any; /* a message was dispatched */
    bool breaks;    /* exceeded a limit of the connection */
    int rc;         /* error that stopped the transfer, or 0 */
    wt_error why;
    char last_event[HTTP_KEPT_BYTES];
    unsigned retry_ms, fruitless;
    double headed_ms; /* start of the stream; 0 before it */
    unsigned redirects;
    /* Answer kept while the session is checked. Its body is in heard or kept. */
    struct buffer kept;      /* the event of a stream */
    bool doubtful;           /* may mean that the session is lost */
    bool may_have_acted;     /* the server may have executed the request */
    struct http_head answer; /* status 0 if no answer is kept */
};

struct http_link {
    struct mcp_link public; /* first, so that the public pointer is this one */
    struct mcp_connection *connection;
    struct http_loop *loop;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t settled;
    struct request *requests;
    unsigned awaited; /* transfers that `settle` waits for */
    bool renewing, ending;
    bool lost; /* while renewing: the session is certainly lost */
    char *url; /* target of a redirect; NULL to use the configured one */
    char session[HTTP_KEPT_BYTES], version[MCP_VERSION_BYTES];
};

static const char streams[] = "text/event-stream";

/* ---------------------------------------------------------------- requests */

static void free_request(struct request *request)
{
    wt__buffer_dispose(&request->heard);
    wt__buffer_dispose(&request->kept);
    wt__buffer_dispose(&request->event.data);
    wt__arena_dispose(&request->arena);
    free(request);
}

static struct request *make(struct http_link *link, enum kind kind, struct str text)
{
    struct request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->link = link;
    request->kind = kind;
    request->retry_ms = RETRY_MS;
    request->modern = link->connection->era == MCP_ERA_MODERN;
    request->text = wt__arena_copy(&request->arena, text);
    request->text_len = text.len;
    request->heard.max = MCP_ANSWER_BYTES_MAX;
    if (request->text)
        return request;
    free_request(request);
    return NULL;
}

/* Removes a request from the list; the caller holds the lock. */
static void take_out(struct request *request)
{
    struct request **at = &request->link->requests;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
}

/* Sets whether `settle` waits for the request; the caller holds the lock. */
static void await(struct request *request, bool awaited)
{
    struct http_link *link = request->link;
    link->awaited += (unsigned)awaited - (unsigned)request->awaited;
    request->awaited = awaited;
    pthread_cond_broadcast(&link->settled);
}

static void end_request(struct request *request)
{
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock);
    take_out(request);
    await(request, false);
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

/* Copies the headers of a request, since it may be sent twice. */
static int keep_headers(struct request *request, const struct mcp_outgoing *outgoing, wt_error *err)
{
    struct arena *arena = &request->arena;
    struct http_header *headers =
        wt__arena_array(arena, struct http_header, outgoing->header_count + outgoing->passed_count + 2);
    request->method = wt__arena_copy(arena, wt__str(outgoing->method));
    if (!headers || !request->method)
        return wt__fail_nomem(err);
    request->headers = headers;
    if (request->modern)
        headers[request->header_count++] = (struct http_header){"Mcp-Method", request->method};
    if (request->modern && outgoing->name.len > 0)
        headers[request->header_count++] = (struct http_header){"Mcp-Name", wt__mcp_header_text(arena, outgoing->name)};
    for (size_t i = 0; request->modern && i < outgoing->header_count; i++)
        headers[request->header_count++] = copy_header(arena, &outgoing->headers[i]);
    for (size_t i = 0; i < outgoing->passed_count; i++)
        if (!is_configured(request->link->connection->server, outgoing->passed[i].name))
            headers[request->header_count++] = copy_header(arena, &outgoing->passed[i]);
    for (size_t i = 0; i < request->header_count; i++)
        if (!headers[i].name || !headers[i].value)
            return wt__fail_nomem(err);
    return 0;
}

static void headed(void *context, const struct http_head *head);
static bool took(void *context, const struct http_head *head, struct str piece);
static void ended(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent);

/* Returns the current URL; the caller holds the lock. */
static const char *address_of(const struct http_link *link)
{
    return link->url ? link->url : link->connection->server->url;
}

/* Begins the next transfer of a request; the caller holds the lock. */
static int send_request(struct request *request, unsigned delay_ms, wt_error *err)
{
    struct http_link *link = request->link;
    const struct mcp_server *server = link->connection->server;
    bool gets = request->kind == HEARS || request->kind == RESUMES;
    size_t count = 0, most = server->header_count + request->header_count + OWN_HEADERS;
    struct http_header *headers = wt__alloc_array(most, sizeof *headers);
    if (!headers)
        return wt__fail_nomem(err);
    memcpy(request->session, request->kind == RENEWS || request->modern ? "" : link->session,
           request->kind == RENEWS || request->modern ? 1 : sizeof request->session);
    for (size_t i = 0; i < server->header_count; i++)
        headers[count++] = server->headers[i];
    for (size_t i = 0; i < request->header_count; i++)
        headers[count++] = request->headers[i];
    headers[count++] = (struct http_header){"Mcp-Session-Id", request->session};
    headers[count++] = (struct http_header){"MCP-Protocol-Version", request->modern           ? MCP_MODERN_VERSION
                                                                    : request->kind == RENEWS ? ""
                                                                                              : link->version};
    headers[count++] = (struct http_header){"Last-Event-ID", gets ? request->last_event : ""};
    const struct http_stream stream = {.url = address_of(link),
                                       .shown = link->connection->shown,
                                       .method = request->kind == LEAVES ? "DELETE"
                                                 : gets                  ? "GET"
                                                                         : "POST",
                                       .accept = gets ? streams : "application/json, text/event-stream",
                                       .kept = "mcp-session-id",
                                       .headers = headers,
                                       .header_count = count,
                                       .body = {request->text, request->text_len},
                                       .connect_ms = CONNECT_MS,
                                       .total_ms = request->kind == LEAVES                              ? GOODBYE_MS
                                                   : request->kind == TELLS || request->kind == RENEWED ? TELL_MS
                                                   : request->kind == CHECKS                            ? CHECK_MS
                                                   : request->kind == RENEWS                            ? MCP_REQUEST_MS
                                                                                                        : 0,
                                       .delay_ms = delay_ms,
                                       .headed = headed,
                                       .took = took,
                                       .ended = ended,
                                       .context = request};
    wt__buffer_clear(&request->heard);
    request->looked_at = 0;
    int rc = wt__http_stream_begin(&request->ticket, link->loop, &stream, err);
    free(headers);
    return rc;
}

/* Lists and sends a request, or parks it while the session is renewed. Frees it on failure. */
static int start(struct request *request, wt_error *err)
{
    struct http_link *link = request->link;
    int rc = 0;
    pthread_mutex_lock(&link->lock);
    request->next = link->requests;
    link->requests = request;
    request->parked = link->renewing && request->kind == ASKS;
    await(request, request->kind == TELLS || request->kind == LEAVES || request->kind == HEARS);
    if (!request->parked)
        rc = send_request(request, 0, err);
    pthread_mutex_unlock(&link->lock);
    if (rc < 0)
        end_request(request);
    return rc;
}

/* Sends a request again, as another kind or over another session. False if it was cancelled or cannot be sent. */
static bool start_again(struct request *request, enum kind kind, unsigned delay_ms)
{
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock);
    request->kind = kind;
    request->parked = false;
    bool begun = !request->gone && !link->ending && send_request(request, delay_ms, NULL) == 0;
    pthread_mutex_unlock(&link->lock);
    return begun;
}

/* ---------------------------------------------------------------- received data */

static bool is_stream(const struct http_head *head)
{
    return strncasecmp(head->type, streams, sizeof streams - 1) == 0;
}

/* Keeps the session of the answer to `initialize`. Runs at the headers, since the next request may begin as soon as the
 * body arrives. */
static void take_session(struct request *request, const struct http_head *head)
{
    struct http_link *link = request->link;
    bool begins = request->kind == RENEWS || (request->kind == ASKS && strcmp(request->method, "initialize") == 0);
    if (!begins || head->status != STATUS_OK)
        return;
    pthread_mutex_lock(&link->lock);
    memcpy(link->session, head->kept, sizeof link->session);
    pthread_mutex_unlock(&link->lock);
}

/* Keeps an error that may mean a lost session, instead of dispatching it. An error that follows other messages of the
 * request is about the request. */
static bool keep_session_error(struct request *request, struct str text)
{
    struct mcp_message message;
    int64_t code;
    bool may_be = request->kind == ASKS && !request->again && !request->heard_any && request->session[0] &&
                  !request->modern && text.len <= SESSION_ERROR_BYTES_MAX;
    if (!may_be || wt__mcp_read(text, &message) != MCP_ANSWER || message.error.len == 0 ||
        !wt__mcp_is_session_error(message.error, &code))
        return false;
    request->doubtful = true;
    request->may_have_acted = !wt__mcp_is_refused_early(code);
    wt__buffer_clear(&request->kept);
    wt__buffer_str(&request->kept, text);
    return !request->kept.failed;
}

static void take_message(struct request *request, struct str text)
{
    struct mcp_message message;
    bool answered = false;
    if (text.len == 0 || request->rc < 0 || request->doubtful || request->kind == TELLS || request->kind == RENEWED ||
        request->kind == LEAVES)
        return;
    if (request->kind == RENEWS || request->kind == CHECKS) {
        request->answered |= wt__mcp_read(text, &message) == MCP_ANSWER;
        request->refused |= request->answered && message.error.len > 0;
        return;
    }
    if (keep_session_error(request, text))
        return;
    request->heard_any = true;
    request->rc = wt__mcp_connection_heard(request->link->connection, request->id, text, &answered, &request->why);
    request->breaks = request->rc < 0;
    request->answered |= answered;
}

static void take_event(struct request *request)
{
    const struct sse_event *event = &request->event;
    if (event->has_id || event->data.len > 0)
        request->fruitless = 0;
    if (event->has_id && event->id.len < sizeof request->last_event) {
        memcpy(request->last_event, event->id.ptr, event->id.len);
        request->last_event[event->id.len] = '\0';
    }
    if (event->retry_ms >= 0)
        request->retry_ms = event->retry_ms < RETRY_MS_MAX ? (unsigned)event->retry_ms : RETRY_MS_MAX;
    take_message(request, wt__buffer_view(&event->data));
}

/* Takes the complete events and removes them from the buffer. */
static void take_events(struct request *request)
{
    struct buffer *heard = &request->heard;
    struct str rest = wt__buffer_view(heard);
    bool ends = wt__sse_may_end(rest, request->looked_at);
    request->looked_at = rest.len;
    if (!ends)
        return;
    while (wt__sse_next(&rest, &request->event) && request->rc == 0)
        take_event(request);
    memmove(heard->ptr, rest.ptr, rest.len);
    wt__buffer_cut(heard, rest.len);
    request->looked_at = rest.len;
}

static void headed(void *context, const struct http_head *head)
{
    struct request *request = context;
    request->headed_ms = wt__now_ms();
    take_session(request, head);
    pthread_mutex_lock(&request->link->lock);
    if (request->kind == HEARS)
        await(request, false);
    pthread_mutex_unlock(&request->link->lock);
}

static bool took(void *context, const struct http_head *head, struct str piece)
{
    struct request *request = context;
    wt__buffer_str(&request->heard, piece);
    if (request->heard.failed)
        request->rc = request->heard.len + piece.len > MCP_ANSWER_BYTES_MAX
                          ? wt__fail(&request->why, WT_ETOOLONG, "the answer of %s is larger than %d MB",
                                     request->link->connection->shown, MCP_ANSWER_BYTES_MAX >> 20)
                          : wt__fail_nomem(&request->why);
    else if (is_stream(head))
        take_events(request);
    return request->rc == 0 && !request->answered && !request->doubtful;
}

/* ---------------------------------------------------------------- failures */

/* Appends the target of a redirect without user, query and fragment, which may hold secrets. */
static void put_target(struct buffer *out, const char *location)
{
    const char *mark = strstr(location, "://"), *from = mark ? mark + 3 : location;
    size_t len = strcspn(from, "?#"), host = mark ? strcspn(from, "/?#") : 0;
    const char *user = host > 0 ? memrchr(from, '@', host) : NULL;
    size_t skipped = user ? (size_t)(user + 1 - from) : 0;
    struct buffer target = {0};
    wt__buffer_append(&target, location, (size_t)(from - location));
    wt__buffer_append(&target, from + skipped, len - skipped);
    if (target.failed || target.len == 0)
        wt__buffer_text(out, "another address");
    else
        wt__mcp_put_words(out, wt__buffer_view(&target));
    wt__buffer_dispose(&target);
}

/* Fills *err with the meaning of a status without an answer. */
static void fail_status(const struct request *request, const struct http_head *head, wt_error *err)
{
    const char *shown = request->link->connection->shown;
    int status = head->status;
    struct buffer target = {0}, reason = {0};
    put_target(&target, head->location);
    if (status >= 400)
        wt__mcp_put_reason(&reason, head->type, wt__buffer_view(&request->heard));
    const char *says = reason.len > 0 && !reason.failed ? "; it says: " : "";
    const char *words = *says ? reason.ptr : "";
    if (status >= STATUS_OK && status < 300)
        wt__fail(err, WT_ENETWORK, "%s sent an invalid answer to `%s`; check that it is an MCP server", shown,
                 request->method);
    else if (status == STATUS_UNAUTHORISED || status == STATUS_FORBIDDEN)
        wt__fail(err, WT_ENETWORK,
                 "%s requires authentication (HTTP status %d): add its header to \"headers\" in the configuration%s%s",
                 shown, status, says, words);
    else if (status >= 300 && status < 400)
        wt__fail(
            err, WT_ENETWORK,
            "%s redirects to %s (HTTP status %d), which is not followed: use that address in the configuration if it "
            "is the server's",
            shown, target.failed ? "another address" : target.ptr, status);
    else if (status == STATUS_NOT_FOUND)
        wt__fail(err, WT_ENETWORK, "%s has no MCP server at this path (HTTP status %d)%s%s", shown, status, says,
                 words);
    else
        wt__fail(err, WT_ENETWORK, "%s answered with HTTP status %d and no message%s%s", shown, status, says, words);
    wt__buffer_dispose(&target);
    wt__buffer_dispose(&reason);
}

static void fail_request(struct request *request, const wt_error *why, int status, bool sent)
{
    wt__mcp_connection_failed(request->link->connection, request->id, why, status, sent);
    end_request(request);
}

/* ---------------------------------------------------------------- end of a transfer */

/* Takes the rest of the body. The end of a stream ends its last event. */
static void take_rest(struct request *request, const struct http_head *head)
{
    struct str rest = wt__buffer_view(&request->heard);
    if (request->answered || request->rc < 0)
        return;
    if (!is_stream(head)) {
        take_message(request, rest);
        return;
    }
    wt__buffer_text(&request->heard, "\n\n");
    if (!request->heard.failed)
        take_events(request);
}

/* Resumes a stream that broke or ended before the answer. Legacy only. False if it cannot be resumed. */
static bool resume(struct request *request, const struct http_head *head)
{
    bool has = is_stream(head) && head->status == STATUS_OK;
    if (request->modern || !request->last_event[0] || (request->kind == ASKS && !has) || (head->status != 0 && !has) ||
        ++request->fruitless > FRUITLESS_MAX)
        return false;
    return start_again(request, RESUMES, request->retry_ms);
}

/* True for an error body that is not a JSON-RPC message, such as {"error":"invalid_token"} of OAuth. */
static bool is_error_page(const struct request *request, const struct http_head *head)
{
    struct mcp_message message;
    return head->status >= 400 && !is_stream(head) && !request->answered &&
           (wt__mcp_read(wt__buffer_view(&request->heard), &message) != MCP_ANSWER ||
            (message.error.len > 0 && message.error.ptr[0] != '{') || message.jsonrpc.len == 0);
}

/* ---------------------------------------------------------------- sessions
 *
 * Servers report a lost session in many ways: with 404 as specified, with another status, or with a JSON-RPC error.
 * Only 404 and 410 are certain. For the others, a ping checks the session, so that an error of the request itself costs
 * no session. If the session is lost, `initialize` begins a new one, once per request.
 *
 * A request that may have been executed must not be sent again. A status of 4xx or an early JSON-RPC error means that
 * it was refused. After any other answer, tools/call, the only method with effects, ends with that answer. */

static bool begin_own(struct http_link *link, enum kind kind, const char *method, struct str params, wt_error *err)
{
    struct buffer text = {0};
    struct mcp_meta meta = {.modern = false};
    wt__mcp_write_ask(&text, wt__mcp_connection_number(link->connection), method, params, &meta);
    struct request *request = text.failed ? NULL : make(link, kind, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
    if (!request)
        wt__fail_nomem(err);
    return request && start(request, err) == 0;
}

static void begin_hearing(struct http_link *link)
{
    struct request *request = link->connection->options.lists_only ? NULL : make(link, HEARS, STR(""));
    if (!request)
        return;
    request->id = MCP_NO_STREAM;
    start(request, NULL);
}

static void conclude_answer(struct request *request);

/* True for a status that alone proves that the session is lost. */
static bool is_lost(int status)
{
    return status == STATUS_NOT_FOUND || status == STATUS_GONE;
}

enum outcome { SESSION_STANDS, SESSION_RENEWED, SESSION_GONE };

/* Continues a parked request: sends it again, ends it with its kept answer, or fails it. why: the reason for
 * SESSION_GONE. */
static void release_request(struct request *request, enum outcome outcome, const wt_error *why)
{
    wt_error own;
    int status = request->answer.status; /* 0: it was never sent */
    bool acts = request->may_have_acted && strcmp(request->method, "tools/call") == 0;
    if (outcome == SESSION_GONE && is_lost(status)) {
        fail_request(request, why, status, false);
    } else if (status != 0 && (outcome != SESSION_RENEWED || acts)) {
        conclude_answer(request);
    } else {
        request->doubtful = false;
        request->answer.status = 0;
        if (start_again(request, ASKS, 0))
            return;
        wt__fail_nomem(&own);
        fail_request(request, &own, 0, false);
    }
}

/* Continues all parked requests. */
static void release_parked(struct http_link *link, enum outcome outcome, const wt_error *why)
{
    for (;;) {
        pthread_mutex_lock(&link->lock);
        struct request *request = link->requests;
        while (request && !request->parked)
            request = request->next;
        link->renewing = request && link->renewing;
        link->lost = link->lost && link->renewing;
        if (request)
            request->parked = false;
        pthread_mutex_unlock(&link->lock);
        if (!request)
            return;
        release_request(request, outcome, why);
    }
}

static void renew_session(struct http_link *link)
{
    wt_error why;
    if (!begin_own(link, RENEWS, "initialize", wt__mcp_initialize_params(link->connection->options.lists_only), &why))
        release_parked(link, SESSION_GONE, &why);
}

static void check_session(struct http_link *link)
{
    wt_error why;
    if (!begin_own(link, CHECKS, "ping", STR(""), &why))
        release_parked(link, SESSION_GONE, &why);
}

/* Parks a request until its session is checked or renewed, and starts that if needed. lost: the session is certainly
 * lost. */
static void park_request(struct request *request, bool lost)
{
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock);
    bool stale = strcmp(request->session, link->session) != 0 && !link->renewing;
    bool begins = !stale && !link->renewing;
    request->again = true;
    request->parked = !stale;
    link->renewing |= begins;
    link->lost |= lost && !stale;
    pthread_mutex_unlock(&link->lock);
    if (stale)
        release_request(request, SESSION_RENEWED, NULL);
    else if (begins && lost)
        renew_session(link);
    else if (begins)
        check_session(link);
}

/* True if the answer may mean that the session is lost. Sets may_have_acted. */
static bool is_doubtful(struct request *request, int status)
{
    struct mcp_message message;
    int64_t id;
    bool asks = request->kind == ASKS && !request->again && request->session[0] && !request->modern;
    if (!asks || request->rc < 0 || request->answered || request->doubtful)
        return request->doubtful;
    request->may_have_acted = status >= STATUS_SERVER_ERROR;
    if (is_lost(status))
        return true;
    bool own = wt__mcp_read(wt__buffer_view(&request->heard), &message) == MCP_ANSWER &&
               wt__mcp_number(message.id, &id) && id == request->id;
    return status >= STATUS_SERVER_ERROR ||
           (status >= 400 && status != STATUS_TOO_LARGE && status != STATUS_TOO_MANY && !own);
}

static void ended_check(struct request *request, const struct http_head *head, int rc)
{
    struct http_link *link = request->link;
    bool stands = rc == 0 && request->answered && head->status < 400 && !request->refused;
    pthread_mutex_lock(&link->lock);
    bool lost = link->lost;
    pthread_mutex_unlock(&link->lock);
    end_request(request);
    if (stands && !lost)
        release_parked(link, SESSION_STANDS, NULL);
    else
        renew_session(link);
}

static void ended_renewal(struct request *request, const struct http_head *head, int rc)
{
    struct http_link *link = request->link;
    struct buffer text = {0};
    wt_error why;
    bool renewed = rc == 0 && request->answered && !request->refused && head->status == STATUS_OK;
    end_request(request);
    wt__mcp_write_tell(&text, "notifications/initialized", STR(""));
    struct request *next = renewed && !text.failed ? make(link, RENEWED, wt__buffer_view(&text)) : NULL;
    wt__buffer_dispose(&text);
    if (next && start(next, NULL) == 0)
        return;
    wt__fail(&why, WT_ENETWORK, "%s lost the session and did not begin another", link->connection->shown);
    release_parked(link, SESSION_GONE, &why);
}

/* ---------------------------------------------------------------- redirects */

/* Returns url with a slash added to its path, or removed from it. NULL if out of memory. The caller frees it. */
static char *toggle_slash(const char *url)
{
    size_t path = strcspn(url, "?#");
    bool has = path > 0 && url[path - 1] == '/';
    struct buffer out = {0};
    wt__buffer_append(&out, url, path - has);
    wt__buffer_text(&out, has ? "" : "/");
    wt__buffer_text(&out, url + path);
    return wt__buffer_take(&out);
}

/* Returns host and path of a URL, or only the path, without user and query. */
static struct str without_scheme(const char *url, bool with_host)
{
    const char *mark = strstr(url, "://"), *from = mark ? mark + 3 : url;
    size_t host = mark ? strcspn(from, "/?#") : 0;
    const char *user = host > 0 ? memrchr(from, '@', host) : NULL;
    from = !with_host ? from + host : user ? user + 1 : from;
    return (struct str){from, strcspn(from, "?#")};
}

/* True if location equals target except for scheme and port, which a server behind a TLS proxy often does not know. */
static bool is_same_place(const char *location, const char *target)
{
    bool whole = strstr(location, "://") != NULL;
    struct str a = without_scheme(location, false), b = without_scheme(target, false);
    struct str one = without_scheme(location, true), two = without_scheme(target, true);
    size_t host = strcspn(one.ptr, ":/?#");
    return wt__str_equal(a, b) &&
           (!whole || (host == strcspn(two.ptr, ":/?#") && strncasecmp(one.ptr, two.ptr, host) == 0));
}

/* Returns the target of a redirect, which the caller frees, or NULL if it must not be followed. Allowed targets: the
 * same path with or without a final slash, and, if the redirect keeps the method, any path of the same origin. */
static char *find_target(struct request *request, const struct http_head *head)
{
    struct http_link *link = request->link;
    bool keeps = head->status == STATUS_TEMPORARY_REDIRECT || head->status == STATUS_PERMANENT_REDIRECT;
    char *target = NULL;
    pthread_mutex_lock(&link->lock);
    char *base = wt__copy_string(address_of(link), strlen(address_of(link)));
    pthread_mutex_unlock(&link->lock);
    char *toggled = base ? toggle_slash(base) : NULL;
    if (toggled && is_same_place(head->location, toggled))
        target = toggled;
    else
        free(toggled);
    if (base && !target && keeps)
        wt__http_resolve(&target, base, wt__str(head->location), NULL);
    free(base);
    return target;
}

/* Follows a redirect: sends this and all later requests to its target. False if it must not be followed. */
static bool follow_redirect(struct request *request, const struct http_head *head)
{
    struct http_link *link = request->link;
    if (head->status < 301 || head->status > STATUS_PERMANENT_REDIRECT || !head->location[0] ||
        ++request->redirects > REDIRECTS_MAX)
        return false;
    char *target = find_target(request, head);
    if (!target)
        return false;
    pthread_mutex_lock(&link->lock);
    free(link->url);
    link->url = target;
    pthread_mutex_unlock(&link->lock);
    return start_again(request, request->kind, 0);
}

/* ---------------------------------------------------------------- ended transfers */

/* Ends a request by its final answer. */
static void conclude_answer(struct request *request)
{
    struct http_link *link = request->link;
    const struct http_head *head = &request->answer;
    wt_error own;
    if (request->doubtful && request->kept.len > 0) {
        request->doubtful = false;
        take_message(request, wt__buffer_view(&request->kept));
    } else if (head->status >= 400 && !is_error_page(request, head)) {
        request->doubtful = false;
        take_rest(request, head);
    }
    if (request->breaks)
        wt__mcp_connection_broke(link->connection, &request->why, "");
    if (request->rc < 0) {
        fail_request(request, &request->why, head->status, true);
    } else if (request->answered) {
        end_request(request);
    } else if (!resume(request, head)) {
        fail_status(request, head, &own);
        fail_request(request, &own, head->status, head->status != STATUS_NOT_FOUND || !request->session[0]);
    }
}

static void ended_asking(struct request *request, const struct http_head *head, int rc, const wt_error *why, bool sent)
{
    if (rc == WT_ECANCELLED) {
        end_request(request);
        return;
    }
    request->answer = *head;
    if (rc == 0 && head->status < 400)
        take_rest(request, head);
    if (rc == 0 && is_doubtful(request, head->status)) {
        request->doubtful = true;
        park_request(request, is_lost(head->status));
        return;
    }
    if (rc == 0 || request->rc < 0 || request->answered) {
        conclude_answer(request);
        return;
    }
    if (!resume(request, head))
        fail_request(request, why, head->status, sent);
}

/* Reopens the stream of notices after it ended or broke. Gives up on any other status; servers without notices answer
 * 405. */
static void ended_hearing(struct request *request, const struct http_head *head, int rc)
{
    bool again = (rc < 0 && rc != WT_ECANCELLED) || (rc == 0 && is_stream(head) && head->status == STATUS_OK);
    unsigned delay = request->retry_ms << (request->fruitless < FRUITLESS_MAX ? request->fruitless : FRUITLESS_MAX);
    if (request->headed_ms > 0 && wt__now_ms() - request->headed_ms > LASTING_MS)
        request->fruitless = 0;
    request->headed_ms = 0;
    if (request->breaks)
        wt__mcp_connection_broke(request->link->connection, &request->why, "");
    if (request->rc < 0 || !again || ++request->fruitless > FRUITLESS_MAX ||
        !start_again(request, HEARS, delay < RETRY_MS_MAX ? delay : RETRY_MS_MAX))
        end_request(request);
}

static void ended(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent)
{
    struct request *request = context;
    struct http_link *link = request->link;
    pthread_mutex_lock(&link->lock); /* wait until the beginning thread has set the ticket */
    request->ticket = 0;
    pthread_mutex_unlock(&link->lock);
    if (rc == 0 && !request->answered && follow_redirect(request, head))
        return;
    if (request->kind == ASKS || request->kind == RESUMES) {
        ended_asking(request, head, rc, why, sent);
    } else if (request->kind == HEARS) {
        ended_hearing(request, head, rc);
    } else if (request->kind == CHECKS) {
        if (rc == 0)
            take_rest(request, head);
        ended_check(request, head, rc);
    } else if (request->kind == RENEWS) {
        if (rc == 0)
            take_rest(request, head);
        ended_renewal(request, head, rc);
    } else if (request->kind == RENEWED) {
        end_request(request);
        release_parked(link, SESSION_RENEWED, NULL);
        begin_hearing(link);
    } else {
        end_request(request);
    }
}

/* ---------------------------------------------------------------- the link */

static int ask(struct mcp_link *public, const struct mcp_outgoing *outgoing, wt_error *err)
{
    struct request *request = make((struct http_link *)public, ASKS, outgoing->text);
    if (!request)
        return wt__fail_nomem(err);
    request->id = outgoing->id;
    int rc = keep_headers(request, outgoing, err);
    if (rc < 0) {
        free_request(request);
        return rc;
    }
    return start(request, err);
}

static int tell(struct mcp_link *public, struct str text, wt_error *err)
{
    struct request *request = make((struct http_link *)public, TELLS, text);
    return request ? start(request, err) : wt__fail_nomem(err);
}

static void cancel(struct mcp_link *public, int64_t id, struct str notice)
{
    struct http_link *link = (struct http_link *)public;
    struct request *parked = NULL;
    uint64_t ticket = 0;
    pthread_mutex_lock(&link->lock);
    for (struct request *request = link->requests; request; request = request->next) {
        if (request->id != id || (request->kind != ASKS && request->kind != RESUMES))
            continue;
        request->gone = true;
        ticket = request->ticket;
        parked = request->parked ? request : parked;
    }
    if (parked)
        take_out(parked);
    pthread_mutex_unlock(&link->lock);
    if (parked)
        free_request(parked);
    if (ticket > 0)
        wt__http_stream_cancel(link->loop, ticket);
    if (notice.len > 0 && link->connection->era == MCP_ERA_LEGACY)
        tell(public, notice, NULL);
}

static void agreed(struct mcp_link *public)
{
    struct http_link *link = (struct http_link *)public;
    pthread_mutex_lock(&link->lock);
    memcpy(link->version, link->connection->version, sizeof link->version);
    pthread_mutex_unlock(&link->lock);
}

static bool settle(struct mcp_link *public, unsigned ms)
{
    struct http_link *link = (struct http_link *)public;
    double until_ms = wt__now_ms() + ms;
    pthread_mutex_lock(&link->lock);
    while (link->awaited > 0 && wt__now_ms() < until_ms)
        wt__steady_wait(&link->settled, &link->lock, until_ms);
    bool settled = link->awaited == 0;
    pthread_mutex_unlock(&link->lock);
    return settled;
}

static void hear(struct mcp_link *public)
{
    begin_hearing((struct http_link *)public);
}

/* ---------------------------------------------------------------- open and close */

static void release(struct http_link *link)
{
    wt__http_loop_close(link->loop);
    for (struct request *request = link->requests, *next; request; request = next) {
        next = request->next;
        free_request(request);
    }
    pthread_cond_destroy(&link->settled);
    pthread_mutex_destroy(&link->lock);
    free(link->url);
    free(link);
}

static void end(struct mcp_link *public, bool hurry, char words[CHILD_TAIL_BYTES])
{
    struct http_link *link = (struct http_link *)public;
    words[0] = '\0';
    pthread_mutex_lock(&link->lock);
    bool has_session = link->session[0];
    link->ending = true;
    pthread_mutex_unlock(&link->lock);
    struct request *request = has_session && !hurry ? make(link, LEAVES, STR("")) : NULL;
    if (request && start(request, NULL) == 0)
        settle(public, GOODBYE_MS);
    release(link);
}

int wt__mcp_open_http_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err)
{
    struct http_link *link = calloc(1, sizeof *link);
    *out = NULL;
    if (!link)
        return wt__fail_nomem(err);
    link->public = (struct mcp_link){ask, tell, cancel, agreed, settle, hear, end};
    link->connection = connection;
    pthread_mutex_init(&link->lock, NULL);
    wt__steady_open(&link->settled);
    int rc = wt__http_loop_open(&link->loop, err);
    if (rc < 0)
        release(link);
    else
        *out = &link->public;
    return rc;
}
