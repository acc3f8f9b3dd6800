/* connection_sse.c: the HTTP+SSE transport of 2024, for URLs without support for a POST of `initialize`. A stream stays
 * open and carries all messages of the server. Its first event names the URL for our POSTs. When the stream ends, the
 * connection is lost. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "mcp/internal.h"
#include "mcp/message.h"
#include "net/http_client.h"

enum { CONNECT_MS = 10000, POST_MS = 30000 };

struct post;

struct sse_link {
    struct mcp_link public; /* first member, so that a pointer to it is a pointer to this struct */
    struct mcp_connection *connection;
    struct http_loop *loop;
    struct http_header *headers; /* [server->header_count + 1], for POSTs */
    pthread_mutex_t lock;        /* guards the fields up to has_ended */
    pthread_cond_t changed;
    char *endpoint;     /* URL for our POSTs; NULL before the first event */
    struct post *posts; /* POSTs in progress */
    bool has_ended;     /* the stream has ended */
    /* The loop's thread owns the fields below. */
    struct buffer body; /* received bytes after the last complete event */
    size_t searched;    /* bytes of body searched for an event end */
    struct sse_event event;
    wt_error why; /* error that ends the stream; code 0 if there was no error */
};

/* A POST in progress. */
struct post {
    struct post *next; /* next POST in progress */
    struct sse_link *link;
    int64_t id; /* 0 for a notification or reply */
    size_t len; /* length of text */
    char text[];
};

/* Handles an event: the URL for POSTs, or a message of the server. */
static void take_sse_event(struct sse_link *link)
{
    struct mcp_connection *connection = link->connection;
    struct str data = wt__buffer_view(&link->event.data);
    if (data.len == 0)
        return;
    if (!wt__str_equal(link->event.type, STR("endpoint"))) {
        wt__mcp_connection_dispatch(connection, 0, data, NULL, &link->why);
        return;
    }
    char *endpoint;
    if (wt__http_resolve(&endpoint, connection->server->url, data, &link->why) < 0) {
        link->why.code = link->why.code == WT_EINVAL ? WT_ENETWORK : link->why.code;
        return;
    }
    pthread_mutex_lock(&link->lock);
    if (!link->endpoint)
        link->endpoint = endpoint;
    else
        free(endpoint); /* only the first URL counts */
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
}

static bool on_sse_body(void *context, const struct http_head *head, struct str piece)
{
    struct sse_link *link = context;
    struct buffer *body = &link->body;
    if (head->status != STATUS_OK || !wt__mcp_http_is_stream(head))
        return false;
    wt__buffer_str(body, piece);
    if (body->failed)
        wt__fail(&link->why, WT_ETOOLONG, "%s sent a message larger than %d MB", link->connection->shown,
                 MCP_ANSWER_BYTES_MAX >> 20);
    struct str rest = wt__buffer_view(body);
    bool ends = !body->failed && wt__sse_may_end(rest, link->searched);
    link->searched = rest.len;
    if (!ends)
        return link->why.code == 0;
    while (link->why.code == 0 && wt__sse_next(&rest, &link->event))
        take_sse_event(link);
    memmove(body->ptr, rest.ptr, rest.len);
    wt__buffer_cut(body, rest.len);
    link->searched = rest.len;
    return link->why.code == 0;
}

static void on_sse_end(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent)
{
    struct sse_link *link = context;
    wt_error own;
    (void)head, (void)sent;
    wt__fail(&own, WT_ENETWORK, "%s closed its event stream", link->connection->shown);
    pthread_mutex_lock(&link->lock);
    link->has_ended = true;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    wt__mcp_connection_mark_lost(link->connection, link->why.code < 0 ? &link->why : rc < 0 ? why : &own, "");
}

static bool ignore_post_body(void *context, const struct http_head *head, struct str piece)
{
    (void)context, (void)head, (void)piece;
    return true;
}

/* Removes a POST from the list and frees it. */
static void free_post(struct post *post)
{
    struct sse_link *link = post->link;
    pthread_mutex_lock(&link->lock);
    struct post **at = &link->posts;
    while (*at != post)
        at = &(*at)->next;
    *at = post->next;
    pthread_cond_broadcast(&link->changed);
    pthread_mutex_unlock(&link->lock);
    free(post);
}

static void on_post_end(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent)
{
    struct post *post = context;
    struct mcp_connection *connection = post->link->connection;
    wt_error own;
    bool taken = rc == 0 && head->status >= STATUS_OK && head->status < 300;
    if (rc == 0 && !taken)
        wt__fail(&own, WT_ENETWORK, "%s answered with HTTP status %d and no message", connection->shown, head->status);
    if (post->id > 0 && !taken)
        wt__mcp_connection_fail_request(connection, post->id, rc < 0 ? why : &own, head->status, sent);
    free_post(post);
}

static int send_post(struct sse_link *link, int64_t id, struct str text, wt_error *err)
{
    const struct mcp_server *server = link->connection->server;
    struct post *post = malloc(sizeof *post + text.len);
    uint64_t ticket;
    WT_CHECK_ALLOC(post, err);
    *post = (struct post){.link = link, .id = id, .len = text.len};
    memcpy(post->text, text.ptr, text.len);
    pthread_mutex_lock(&link->lock);
    const char *endpoint = link->endpoint; /* never changes once set */
    post->next = link->posts;
    link->posts = post;
    pthread_mutex_unlock(&link->lock);
    const struct http_stream stream = {.url = endpoint ? endpoint : "",
                                       .shown = link->connection->shown,
                                       .method = "POST",
                                       .headers = link->headers,
                                       .header_count = server->header_count + 1,
                                       .body = {post->text, post->len},
                                       .connect_ms = CONNECT_MS,
                                       .total_ms = POST_MS,
                                       .on_piece = ignore_post_body,
                                       .on_end = on_post_end,
                                       .context = post};
    int rc = endpoint ? wt__http_stream_begin(&ticket, link->loop, &stream, err)
                      : wt__fail(err, WT_ENETWORK, "%s sent no URL for requests", link->connection->shown);
    if (rc < 0)
        free_post(post);
    return rc;
}

static int sse_send_request(struct mcp_link *public, const struct mcp_outgoing *outgoing, wt_error *err)
{
    return send_post((struct sse_link *)public, outgoing->id, outgoing->text, err);
}

static int sse_send_message(struct mcp_link *public, struct str text, wt_error *err)
{
    return send_post((struct sse_link *)public, 0, text, err);
}

static void sse_cancel_request(struct mcp_link *public, int64_t id, struct str notice)
{
    (void)id;
    if (notice.len > 0)
        sse_send_message(public, notice, NULL);
}

/* True if the link is ready and all notifications are delivered, or the stream has ended; the caller holds the lock. */
static bool is_sse_delivered(const struct sse_link *link)
{
    bool sending = false;
    for (const struct post *post = link->posts; post; post = post->next)
        sending |= post->id == 0;
    return (link->endpoint && !sending) || link->has_ended;
}

static bool sse_wait_delivered(struct mcp_link *public, unsigned ms)
{
    struct sse_link *link = (struct sse_link *)public;
    double until_ms = wt__now_ms() + ms;
    pthread_mutex_lock(&link->lock);
    while (!is_sse_delivered(link) && wt__now_ms() < until_ms)
        wt__steady_wait(&link->changed, &link->lock, until_ms);
    bool delivered = is_sse_delivered(link);
    pthread_mutex_unlock(&link->lock);
    return delivered;
}

static void free_sse_link(struct sse_link *link)
{
    wt__http_loop_close(link->loop);
    wt__buffer_dispose(&link->body);
    wt__buffer_dispose(&link->event.data);
    pthread_cond_destroy(&link->changed);
    pthread_mutex_destroy(&link->lock);
    free(link->headers);
    free(link->endpoint);
    free(link);
}

static void sse_close(struct mcp_link *public, bool hurry, char words[CHILD_TAIL_BYTES])
{
    (void)hurry; /* closing the stream needs no time */
    words[0] = '\0';
    free_sse_link((struct sse_link *)public);
}

static int open_sse_stream(struct sse_link *link, wt_error *err)
{
    const struct mcp_server *server = link->connection->server;
    const struct http_stream stream = {.url = server->url,
                                       .shown = link->connection->shown,
                                       .method = "GET",
                                       .accept = MCP_EVENT_STREAM,
                                       .headers = server->headers,
                                       .header_count = server->header_count,
                                       .connect_ms = CONNECT_MS,
                                       .on_piece = on_sse_body,
                                       .on_end = on_sse_end,
                                       .context = link};
    uint64_t ticket;
    link->headers = wt__alloc_array(server->header_count + 1, sizeof *link->headers);
    WT_CHECK_ALLOC(link->headers, err);
    link->headers[server->header_count] = (struct http_header){"MCP-Protocol-Version", link->connection->version};
    if (server->header_count > 0)
        memcpy(link->headers, server->headers, server->header_count * sizeof *server->headers);
    int rc = wt__http_loop_open(&link->loop, err);
    return rc < 0 ? rc : wt__http_stream_begin(&ticket, link->loop, &stream, err);
}

int wt__mcp_open_sse_link(struct mcp_link **out, struct mcp_connection *connection, wt_error *err)
{
    struct sse_link *link = calloc(1, sizeof *link);
    *out = NULL;
    WT_CHECK_ALLOC(link, err);
    link->public = (struct mcp_link){.send_request = sse_send_request,
                                     .send_message = sse_send_message,
                                     .cancel_request = sse_cancel_request,
                                     .wait_delivered = sse_wait_delivered,
                                     .close = sse_close};
    link->connection = connection;
    link->body.max = MCP_ANSWER_BYTES_MAX;
    pthread_mutex_init(&link->lock, NULL);
    wt__steady_open(&link->changed);
    int rc = open_sse_stream(link, err);
    if (rc < 0)
        free_sse_link(link);
    else
        *out = &link->public;
    return rc;
}
