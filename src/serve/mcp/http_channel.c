/* http_channel.c: the channel of an HTTP request, and the streams that a client can resume; see internal.h.
 *
 * An event id is STREAM-EVENT: the number of the stream in its session, and the number of the event in the stream. The
 * first event of a resumable stream has no data. It gives the client an id to resume from if the connection breaks at
 * once. */
#include "serve/mcp/internal.h"

#include <stdlib.h>

#include "base/memory.h"

struct http_channel {
    struct mcp_channel channel; /* must be first; its send_lock guards the fields below unless noted */
    struct mcp_streams *streams;
    struct http_exchange *exchange;      /* the connection in use; a client that resumes replaces it */
    struct http_exchange *first;         /* the exchange with the trace; constant */
    bool has_started;                    /* the event stream has started */
    bool is_away;                        /* the server has closed the connection; the client may resume */
    const struct mcp_peer *session_peer; /* peer whose session starts with this response, else NULL */
    char session[MCP_SESSION_ID_BYTES];
    struct http_channel *next, *before; /* list of open streams, under the lock of `streams` */

    struct mcp_peer *peer; /* peer of a resumable stream, else NULL */
    unsigned number, last_event;
    struct buffer kept;                    /* recent events */
    size_t lengths[MCP_RESUME_EVENTS_MAX]; /* lengths of the events in `kept` */
    size_t kept_count;
    struct http_channel *resumable_next; /* list of resumable streams; under the lock of `streams`, like answered_ms */
    double answered_ms;                  /* time of the answer, 0 before */
    atomic_bool is_resumable;            /* is on the list of resumable streams */
    _Atomic double left_ms;              /* time when the client was disconnected, 0 while connected */
};

/* ---------------------------------------------------------------- lists of streams */

static void link_open_stream(struct http_channel *own)
{
    struct mcp_streams *streams = own->streams;
    pthread_mutex_lock(&streams->lock);
    own->next = streams->open;
    if (own->next)
        own->next->before = own;
    streams->open = own;
    streams->open_count++;
    pthread_mutex_unlock(&streams->lock);
}

static void unlink_open_stream(struct http_channel *own)
{
    struct mcp_streams *streams = own->streams;
    pthread_mutex_lock(&streams->lock);
    *(own->before ? &own->before->next : &streams->open) = own->next;
    if (own->next)
        own->next->before = own->before;
    streams->open_count--;
    pthread_mutex_unlock(&streams->lock);
}

/* Removes the streams for which shall_go is true from the list of resumable streams. Returns the removed streams as a
 * chain for release_chain. Call with the lock held. */
static struct http_channel *take_resumable(struct mcp_streams *streams,
                                           bool (*shall_go)(const struct http_channel *own, const void *context),
                                           const void *context)
{
    struct http_channel *gone = NULL;
    for (struct http_channel **at = &streams->resumable, *own; (own = *at);) {
        if (!shall_go(own, context)) {
            at = &own->resumable_next;
            continue;
        }
        *at = own->resumable_next;
        wt__shares_give(&streams->kept, own->peer->holder, 1);
        atomic_store(&own->is_resumable, false);
        own->resumable_next = gone;
        gone = own;
    }
    return gone;
}

/* Releases a chain of streams. Call without the lock: the last reference may end an exchange. */
static void release_chain(struct http_channel *chain)
{
    for (struct http_channel *next; chain; chain = next) {
        next = chain->resumable_next;
        wt__mcp_channel_release(&chain->channel);
    }
}

static bool is_same_stream(const struct http_channel *own, const void *context)
{
    return own == context;
}

static void drop_resumable(struct http_channel *own)
{
    pthread_mutex_lock(&own->streams->lock);
    struct http_channel *gone = take_resumable(own->streams, is_same_stream, own);
    pthread_mutex_unlock(&own->streams->lock);
    release_chain(gone);
}

static bool is_stream_of_holder(const struct http_channel *own, const void *context)
{
    return strcmp(own->peer->holder, context) == 0;
}

static bool is_stream_of_peer(const struct http_channel *own, const void *context)
{
    return own->peer == context;
}

/* Returns the oldest resumable stream for which `fits` is true, or NULL. *count: number of such streams. */
static struct http_channel *find_oldest_resumable(const struct mcp_streams *streams,
                                                  bool (*fits)(const struct http_channel *own, const void *context),
                                                  const void *context, size_t *count)
{
    struct http_channel *oldest = NULL;
    *count = 0;
    for (struct http_channel *own = streams->resumable; own; own = own->resumable_next) {
        if (!fits(own, context))
            continue;
        oldest = own;
        ++*count;
    }
    return oldest;
}

/* Reserves a place for one more stream of the holder, and drops the holder's oldest streams if needed. *gone: chain of
 * the dropped streams. Returns false if the holder has no stream left to drop. */
static bool make_room_to_resume(struct mcp_streams *streams, const char *holder, struct http_channel **gone)
{
    size_t count;
    while (!wt__shares_take(&streams->kept, holder, 1)) {
        struct http_channel *oldest = find_oldest_resumable(streams, is_stream_of_holder, holder, &count);
        if (!oldest)
            return false;
        take_resumable(streams, is_same_stream, oldest);
        oldest->resumable_next = *gone;
        *gone = oldest;
    }
    return true;
}

static void make_resumable(struct http_channel *own)
{
    struct mcp_streams *streams = own->streams;
    pthread_mutex_lock(&own->peer->lock);
    own->number = ++own->peer->stream_number;
    pthread_mutex_unlock(&own->peer->lock);
    struct http_channel *gone = NULL, *too_many = NULL;
    pthread_mutex_lock(&streams->lock);
    if (make_room_to_resume(streams, own->peer->holder, &gone)) {
        wt__mcp_channel_keep(&own->channel);
        atomic_store(&own->is_resumable, true);
        own->resumable_next = streams->resumable;
        streams->resumable = own;
        size_t count;
        struct http_channel *oldest = find_oldest_resumable(streams, is_stream_of_peer, own->peer, &count);
        if (count > MCP_RESUME_STREAMS_MAX)
            too_many = take_resumable(streams, is_same_stream, oldest);
    }
    pthread_mutex_unlock(&streams->lock);
    release_chain(gone);
    release_chain(too_many);
}

/* ---------------------------------------------------------------- events */

/* Records the length of the event just appended to `kept`, and drops the oldest events beyond the limits. */
static void keep_event(struct http_channel *own, size_t len)
{
    size_t gone = 0, gone_count = 0;
    own->lengths[own->kept_count++] = len;
    while (gone_count + 1 < own->kept_count &&
           (own->kept.len - gone > MCP_RESUME_BYTES_MAX || own->kept_count - gone_count == MCP_RESUME_EVENTS_MAX))
        gone += own->lengths[gone_count++];
    if (gone == 0)
        return;
    memmove(own->kept.ptr, own->kept.ptr + gone, own->kept.len - gone);
    wt__buffer_cut(&own->kept, own->kept.len - gone);
    own->kept_count -= gone_count;
    memmove(own->lengths, own->lengths + gone_count, own->kept_count * sizeof *own->lengths);
}

/* Sends an event. Returns true if it was sent, or kept for a client that may resume. */
static bool send_event(struct http_channel *own, struct str message)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer event = {0};
    if (own->peer)
        wt__buffer_printf(&event, "id: %u-%u\n", own->number, ++own->last_event);
    wt__buffer_text(&event, "data: ");
    wt__mcp_append_line(&event, message);
    wt__buffer_text(&event, "\n\n");
    bool sent = !event.failed && !own->is_away && wt__http_send(own->exchange, wt__buffer_view(&event));
    if (atomic_load(&own->is_resumable) && !event.failed) {
        wt__buffer_str(&own->kept, wt__buffer_view(&event));
        if (!own->kept.failed)
            keep_event(own, event.len);
        sent |= !own->kept.failed;
    }
    return sent;
}

/* Sends the head of an event stream, which disables caching and the buffering of proxies. */
static void send_stream_head(struct http_exchange *exchange)
{
    static const struct http_field fields[] = {
        {{"Cache-Control", 13}, {"no-store", 8}},
        {{"X-Accel-Buffering", 17}, {"no", 2}},
    };
    wt__http_stream(exchange, 200, "text/event-stream", fields, 2);
}

static void start_stream(struct http_channel *own)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer first = {0};
    if (own->has_started)
        return;
    own->has_started = true;
    send_stream_head(own->exchange);
    link_open_stream(own);
    if (!own->peer)
        return;
    make_resumable(own);
    wt__buffer_printf(&first, "id: %u-0\nretry: %d\ndata:\n\n", own->number, MCP_RETRY_MS);
    if (!first.failed)
        wt__http_send(own->exchange, wt__buffer_view(&first));
}

/* ---------------------------------------------------------------- callbacks of struct mcp_channel */

/* The caller holds send_lock, except for http_channel_is_gone and http_channel_dispose. */

static bool http_channel_send(struct mcp_channel *channel, struct str message)
{
    struct http_channel *own = (struct http_channel *)channel;
    start_stream(own);
    return send_event(own, message);
}

static void http_channel_answer(struct mcp_channel *channel, int status, struct str message)
{
    struct http_channel *own = (struct http_channel *)channel;
    struct http_field session = {{"Mcp-Session-Id", 14}, wt__str(own->session)};
    if (message.len == 0 && status == 200) /* a cancelled request gets no response, but its HTTP request must end */
        start_stream(own);
    if (!own->has_started) {
        wt__http_answer(own->exchange, status, "application/json", &session,
                        own->session_peer && own->session_peer->is_open ? 1 : 0, message);
        return;
    }
    if (message.len > 0)
        send_event(own, message);
    bool heard = message.len == 0 || (!own->is_away && !wt__http_is_gone(own->exchange));
    if (!own->is_away)
        wt__http_finish(own->exchange);
    if (own->peer && heard) {
        drop_resumable(own);
        return;
    }
    pthread_mutex_lock(&own->streams->lock);
    own->answered_ms = wt__mcp_steady_ms(own->streams->service);
    pthread_mutex_unlock(&own->streams->lock);
}

static void http_channel_keep_alive(struct mcp_channel *channel)
{
    struct http_channel *own = (struct http_channel *)channel;
    if (own->has_started && !own->is_away)
        wt__http_send(own->exchange, STR(":\n\n"));
}

static void http_channel_close_early(struct mcp_channel *channel)
{
    struct http_channel *own = (struct http_channel *)channel;
    if (!own->peer || own->is_away)
        return;
    start_stream(own);
    wt__http_finish(own->exchange);
    own->is_away = true;
    atomic_store(&own->left_ms, wt__mcp_steady_ms(own->streams->service));
}

static bool http_channel_is_gone(struct mcp_channel *channel)
{
    return wt__http_is_gone(((struct http_channel *)channel)->exchange);
}

static void http_channel_dispose(struct mcp_channel *channel)
{
    struct http_channel *own = (struct http_channel *)channel;
    wt__http_on_gone(own->exchange, NULL, NULL);
    if (own->has_started)
        unlink_open_stream(own);
    wt__http_release(own->exchange);
    wt__http_release(own->first);
    wt__mcp_peer_release(own->peer);
    wt__buffer_dispose(&own->kept);
    free(own);
}

/* ---------------------------------------------------------------- opening */

struct mcp_channel *wt__mcp_http_channel_open(struct mcp_streams *streams, struct http_exchange *exchange,
                                              struct request_trace *trace)
{
    struct http_channel *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    wt__mcp_channel_open(&own->channel);
    own->channel.send = http_channel_send;
    own->channel.answer = http_channel_answer;
    own->channel.keep_alive = http_channel_keep_alive;
    own->channel.close_early = http_channel_close_early;
    own->channel.is_gone = http_channel_is_gone;
    own->channel.dispose = http_channel_dispose;
    own->streams = streams;
    own->channel.trace = trace;
    own->exchange = own->first = exchange;
    wt__http_keep(exchange);
    wt__http_keep(exchange); /* once for each member */
    return &own->channel;
}

/* Runs on the event loop, so it must not take send_lock, which is held while a message is sent. */
static void handle_disconnect(void *context)
{
    struct http_channel *own = context;
    if (atomic_load(&own->is_resumable))
        atomic_store(&own->left_ms, wt__mcp_steady_ms(own->streams->service));
    else
        wt__mcp_channel_gone(&own->channel);
}

void wt__mcp_http_channel_cancel_on_disconnect(struct mcp_channel *channel)
{
    wt__http_on_gone(((struct http_channel *)channel)->exchange, handle_disconnect, channel);
}

void wt__mcp_http_channel_set_peer(struct mcp_channel *channel, struct mcp_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    bool resumes = peer->can_resume;
    pthread_mutex_unlock(&peer->lock);
    if (!resumes)
        return;
    wt__mcp_peer_keep(peer);
    ((struct http_channel *)channel)->peer = peer;
}

void wt__mcp_http_channel_set_session(struct mcp_channel *channel, const struct mcp_peer *peer, const char *session)
{
    struct http_channel *own = (struct http_channel *)channel;
    own->session_peer = peer;
    memcpy(own->session, session, sizeof own->session);
}

void wt__mcp_http_channel_start_stream(struct mcp_channel *channel)
{
    pthread_mutex_lock(&channel->send_lock);
    start_stream((struct http_channel *)channel);
    pthread_mutex_unlock(&channel->send_lock);
    wt__mcp_channel_keep_alive(channel); /* show the client that the stream has started */
}

/* ---------------------------------------------------------------- resuming */

/* Parses "STREAM-EVENT"; each number has at most 9 digits. */
static bool read_event_id(struct str text, unsigned *stream, unsigned *event)
{
    unsigned numbers[2] = {0, 0}, digits = 0;
    size_t part = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '-' && part == 0 && digits > 0) {
            part = 1;
            digits = 0;
        } else if (wt__is_digit(c) && digits++ < 9) {
            numbers[part] = numbers[part] * 10 + (unsigned)(c - '0');
        } else {
            return false;
        }
    }
    *stream = numbers[0];
    *event = numbers[1];
    return part == 1 && digits > 0;
}

/* Sends the kept events with numbers above `heard`. The newest kept event has the number last_event. Call with
 * send_lock held. */
static void replay_events(struct http_channel *own, unsigned heard)
{
    size_t from = 0;
    for (size_t i = 0; i < own->kept_count; i++)
        if (own->last_event - (own->kept_count - 1 - i) <= heard)
            from += own->lengths[i];
    if (!own->kept.failed && from < own->kept.len)
        wt__http_send(own->exchange, (struct str){own->kept.ptr + from, own->kept.len - from});
}

bool wt__mcp_http_channel_resume(struct mcp_streams *streams, const struct mcp_peer *peer, struct str last_event,
                                 struct http_exchange *exchange)
{
    struct http_channel *own;
    unsigned stream, event;
    if (!read_event_id(last_event, &stream, &event))
        return false;
    pthread_mutex_lock(&streams->lock);
    for (own = streams->resumable; own && (own->peer != peer || own->number != stream); own = own->resumable_next)
        ;
    if (own)
        wt__mcp_channel_keep(&own->channel);
    pthread_mutex_unlock(&streams->lock);
    if (!own)
        return false;
    wt__http_keep(exchange);
    pthread_mutex_lock(&own->channel.send_lock);
    struct http_exchange *last = own->exchange;
    if (!own->is_away)
        wt__http_finish(last);
    own->exchange = exchange;
    own->is_away = false;
    atomic_store(&own->left_ms, 0);
    wt__http_on_gone(exchange, handle_disconnect, own);
    send_stream_head(exchange);
    replay_events(own, event);
    if (own->channel.is_finished) {
        wt__http_finish(exchange);
        drop_resumable(own);
    }
    pthread_mutex_unlock(&own->channel.send_lock);
    wt__http_release(last);
    wt__mcp_channel_release(&own->channel);
    return true;
}

/* ---------------------------------------------------------------- all streams */

void wt__mcp_streams_open(struct mcp_streams *streams, struct mcp_service *service)
{
    *streams = (struct mcp_streams){.service = service};
    wt__shares_open(&streams->kept, MCP_RESUME_ALL_MAX);
    pthread_mutex_init(&streams->lock, NULL);
}

void wt__mcp_streams_close(struct mcp_streams *streams)
{
    while (streams->resumable)
        drop_resumable(streams->resumable);
    wt__shares_close(&streams->kept);
    pthread_mutex_destroy(&streams->lock);
}

/* Takes a reference, or returns false if the last reference was already released. */
static bool retain_if_alive(struct mcp_channel *channel)
{
    unsigned refs = atomic_load(&channel->refs);
    while (refs > 0 && !atomic_compare_exchange_weak(&channel->refs, &refs, refs + 1))
        ;
    return refs > 0;
}

/* Calls `act` for the open streams chosen by is_chosen (NULL: all), without holding the lock. */
static void for_open_streams(struct mcp_streams *streams, bool (*is_chosen)(const struct http_channel *own, double now),
                             void (*act)(struct mcp_channel *channel))
{
    double now = wt__mcp_steady_ms(streams->service);
    size_t count = 0;
    pthread_mutex_lock(&streams->lock);
    struct mcp_channel **open = wt__alloc_array(streams->open_count, sizeof(struct mcp_channel *));
    for (struct http_channel *own = streams->open; open && own; own = own->next)
        if ((!is_chosen || is_chosen(own, now)) && retain_if_alive(&own->channel))
            open[count++] = &own->channel;
    pthread_mutex_unlock(&streams->lock);
    for (size_t i = 0; i < count; i++) {
        act(open[i]);
        wt__mcp_channel_release(open[i]);
    }
    free(open);
}

static bool is_abandoned_stream(const struct http_channel *own, double now)
{
    double left_ms = atomic_load(&own->left_ms);
    return left_ms > 0 && now - left_ms > MCP_AWAY_MS;
}

void wt__mcp_streams_keep_alive(struct mcp_streams *streams)
{
    for_open_streams(streams, NULL, wt__mcp_channel_keep_alive);
}

static bool is_expired_stream(const struct http_channel *own, const void *context)
{
    pthread_mutex_lock(&own->peer->lock);
    bool closed = own->peer->is_closed;
    pthread_mutex_unlock(&own->peer->lock);
    return closed || (own->answered_ms > 0 && *(const double *)context - own->answered_ms > MCP_RESUME_MS);
}

void wt__mcp_streams_expire(struct mcp_streams *streams)
{
    for_open_streams(streams, is_abandoned_stream, wt__mcp_channel_gone);
    double now = wt__mcp_steady_ms(streams->service);
    pthread_mutex_lock(&streams->lock);
    struct http_channel *gone = take_resumable(streams, is_expired_stream, &now);
    pthread_mutex_unlock(&streams->lock);
    release_chain(gone);
}
