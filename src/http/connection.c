/* connection.c: reads requests from one client, queues them, and writes the answers, one request at a time.
 *
 * A connection has one of these states:
 *
 *   READING    the parser of reader.h gets the input
 *   ANSWERING  a worker answers the request; further input is kept in `ahead`
 *   SENDING    the loop answers without a worker, for example with an error
 *   LINGERING  the last answer is written, and the server waits for the client to close
 *   DEAD       settle_connection() frees the connection at the end of the event
 *
 * In ANSWERING the loop still watches the descriptor, to detect a disconnect immediately. While `ahead` is empty, the
 * loop also watches for input. Once `ahead` has input, the loop watches only for the client to close. `ahead` is
 * therefore limited to one read.
 *
 * In LINGERING the server discards input. If the server closed the connection while input is unread, the system would
 * send a reset, and the client could lose the answer (RFC 9112, section 9.6).
 *
 * Writes use sendmsg with MSG_NOSIGNAL, so that a lost client causes no SIGPIPE, even if the process does not ignore
 * this signal. */
#include "http/internal.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- timeouts */

enum { TICK_MS = 20 }; /* minimum delay of the timer; all lists of waits share one timer */

static void set_timer(struct waits *waits, double now, double at)
{
    double in = at - now < TICK_MS ? TICK_MS : at - now;
    struct timeval interval = {(time_t)(in / 1e3), (suseconds_t)((long)(in * 1e3) % 1000000)};
    waits->due_ms = event_add(waits->timer, &interval) == 0 ? now + in : 0;
}

/* Returns the wait of this kind that ends first, or NULL if the list is empty. */
static struct wait *first_wait(struct waits *waits, enum http_wait kind)
{
    struct wait *first = waits->ends[kind].after;
    return first == &waits->ends[kind] ? NULL : first;
}

/* Ends the current wait. Starts a wait of the given kind unless this is HTTP_WAIT_NONE. */
static void change_wait(struct waits *waits, struct wait *wait, enum http_wait kind)
{
    if (wait->before) {
        wait->before->after = wait->after;
        wait->after->before = wait->before;
        wait->before = wait->after = NULL;
    }
    wait->kind = kind;
    if (kind == HTTP_WAIT_NONE || waits->duration_ms[kind] == 0)
        return;
    struct wait *end = &waits->ends[kind];
    double now = wt__now_ms();
    wait->until_ms = now + waits->duration_ms[kind];
    wait->before = end->before;
    wait->after = end;
    end->before->after = wait;
    end->before = wait;
    if (waits->due_ms == 0 || wait->until_ms < waits->due_ms)
        set_timer(waits, now, wait->until_ms);
}

static void set_next_timer(struct waits *waits, double now)
{
    double next = 0;
    for (int kind = HTTP_WAIT_IDLE; kind < HTTP_WAITS; kind++) {
        const struct wait *first = first_wait(waits, (enum http_wait)kind);
        if (first && (next == 0 || first->until_ms < next))
            next = first->until_ms;
    }
    if (next > 0)
        set_timer(waits, now, next);
}

static void on_timer(evutil_socket_t none, short what, void *argument)
{
    (void)none, (void)what;
    struct waits *waits = argument;
    double now = wt__now_ms();
    waits->due_ms = 0;
    for (int kind = HTTP_WAIT_IDLE; kind < HTTP_WAITS; kind++) {
        struct wait *first;
        while ((first = first_wait(waits, (enum http_wait)kind)) != NULL && first->until_ms <= now) {
            change_wait(waits, first, HTTP_WAIT_NONE);
            waits->expired(waits->context, first, (enum http_wait)kind);
        }
    }
    set_next_timer(waits, now);
}

int wt__waits_open(struct waits *waits, struct event_base *base,
                   void (*expired)(void *context, struct wait *wait, enum http_wait kind), void *context)
{
    waits->expired = expired;
    waits->context = context;
    for (int kind = 0; kind < HTTP_WAITS; kind++)
        waits->ends[kind].before = waits->ends[kind].after = &waits->ends[kind];
    waits->timer = evtimer_new(base, on_timer, waits);
    return waits->timer ? 0 : -1;
}

void wt__waits_close(struct waits *waits)
{
    if (waits->timer)
        event_free(waits->timer);
    waits->timer = NULL;
}

/* ---------------------------------------------------------------- connections */

enum {
    PIECES_MAX = 16,            /* buffers per write */
    LINGER_BYTES_MAX = 1 << 20, /* maximum bytes of input discarded after the last answer */
};

enum state { READING, ANSWERING, SENDING, LINGERING, DEAD };

/* An answer by the server itself, possibly to invalid input. */
struct own_answer {
    int status;
    uint64_t bytes;
    struct http_message *message; /* NULL if the input was not a request */
};

struct connection {
    struct wait wait;                  /* must be first: callbacks cast it to the connection */
    struct connection *before, *after; /* neighbours in loop->connections */
    struct server_loop *loop;
    struct event readable, writable;
    struct http_reader reader;
    struct buffer ahead;            /* input received during an answer */
    struct evbuffer *out;           /* unsent output; NULL or empty if all output is sent */
    struct http_exchange *exchange; /* in ANSWERING; else NULL */
    struct own_answer own;          /* in SENDING */
    size_t forgotten;               /* bytes discarded in LINGERING */
    size_t message_bytes;           /* memory of the current request, in bytes */
    size_t held;                    /* message_bytes plus memory of `ahead`, as counted in loop->held */
    int descriptor;
    enum state state;
    bool ended;    /* the complete answer is in `out` */
    bool last;     /* the connection closes after this answer */
    bool only_end; /* `readable` watches only for the client to close */
    bool waits_to_write;
    bool counts;                    /* counted in loop->answering */
    bool has_asked;                 /* a complete request has arrived */
    bool has_holder;                /* the handler named a holder for the last head */
    char holder[HTTP_HOLDER_BYTES]; /* holder of the last head; "" before the first */
    char peer[HTTP_PEER_BYTES];
};

static void start_wait(struct connection *connection, enum http_wait kind)
{
    change_wait(&connection->loop->waits, &connection->wait, kind);
}

static void call_record(struct connection *connection, const struct http_record *what)
{
    const struct http_handler *handler = &connection->loop->handler;
    if (handler->record)
        handler->record(handler->context, what);
}

static void record_own(struct connection *connection)
{
    struct own_answer *own = &connection->own;
    const struct http_message *message = own->message;
    call_record(connection, &(struct http_record){.request = message ? &message->request : NULL,
                                                  .peer = connection->peer,
                                                  .status = own->status,
                                                  .bytes = own->bytes,
                                                  .end_ms = wt__now_ms(),
                                                  .note = message ? message->note.bytes : NULL});
    wt__http_message_free(own->message);
    *own = (struct own_answer){0};
}

/* Returns the holder whose share the request uses (base/shares.h); NULL if clients are not distinguished. */
static const char *holder_of(const struct connection *connection)
{
    return connection->has_holder ? connection->holder : NULL;
}

/* Updates the memory that counts for the connection in loop->held. Returns false if the holder exceeds its share. */
static bool update_held(struct connection *connection)
{
    struct server_loop *loop = connection->loop;
    size_t before = connection->held;
    const struct http_message *message = connection->reader.message;
    if (message)
        connection->message_bytes = sizeof *message + message->head.capacity + message->body.capacity;
    connection->held = connection->message_bytes + connection->ahead.capacity;
    return wt__shares_change(&loop->held, holder_of(connection), before, connection->held);
}

/* Asks the handler for the holder of a new head, and moves the held memory to that holder's share. */
static void set_holder(struct connection *connection, const struct http_request *head)
{
    struct server_loop *loop = connection->loop;
    const struct http_handler *handler = &loop->handler;
    char holder[HTTP_HOLDER_BYTES] = "";
    wt__shares_change(&loop->held, holder_of(connection), connection->held, 0);
    connection->has_holder = handler->holder && handler->holder(handler->context, head, holder);
    memcpy(connection->holder, holder, sizeof holder);
    wt__shares_change(&loop->held, holder_of(connection), 0, connection->held);
}

/* Records the result of the exchange, and detaches the exchange from the connection. */
static void leave_exchange(struct connection *connection)
{
    struct http_exchange *exchange = connection->exchange;
    double now = wt__now_ms();
    pthread_mutex_lock(&exchange->lock);
    double started = exchange->started_ms > 0 ? exchange->started_ms : now;
    int status = exchange->status;
    uint64_t bytes = exchange->body_bytes;
    pthread_mutex_unlock(&exchange->lock);
    call_record(connection, &(struct http_record){.request = wt__http_request(exchange),
                                                  .peer = connection->peer,
                                                  .status = status,
                                                  .bytes = bytes,
                                                  .queue_ms = started - exchange->queued_ms,
                                                  .run_ms = now - started,
                                                  .end_ms = now,
                                                  .note = wt__http_note(exchange)});
    exchange->connection = NULL;
    connection->exchange = NULL;
    atomic_fetch_sub(&connection->loop->in_progress, 1);
    if (connection->counts)
        wt__shares_give(&connection->loop->answering, holder_of(connection), 1);
    connection->counts = false;
    wt__exchange_drop(exchange);
}

/* Handles a disconnected or dropped client. */
static void lose_connection(struct connection *connection)
{
    if (connection->exchange) {
        wt__exchange_client_gone(connection->exchange);
        leave_exchange(connection);
    } else if (connection->state == SENDING) {
        record_own(connection);
    }
    connection->state = DEAD;
}

/* Watches for input, or only for the client to close. */
static void watch_input(struct connection *connection, bool only_end);

/* Sends as much as the system accepts. Returns the number of bytes, 0 if it would block, or -1 if the client is
 * gone. */
static ssize_t send_some(struct connection *connection, struct iovec *pieces, int count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)count};
    ssize_t sent;
    do
        sent = sendmsg(connection->descriptor, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    return sent;
}

static size_t unsent_bytes(const struct connection *connection)
{
    return connection->out ? evbuffer_get_length(connection->out) : 0;
}

static void free_sent(const void *data, size_t len, void *block)
{
    (void)data, (void)len;
    free(block);
}

/* Writes the bytes after any pending output and takes ownership of them. Returns false if the connection was lost. */
static bool put_output(struct connection *connection, struct buffer *bytes)
{
    size_t sent = 0;
    bool kept = !bytes->failed;
    if (kept && unsent_bytes(connection) == 0 && bytes->len > 0) {
        struct iovec piece = {bytes->ptr, bytes->len};
        ssize_t some = send_some(connection, &piece, 1);
        kept = some >= 0;
        sent = kept ? (size_t)some : 0;
    }
    if (kept && sent < bytes->len) {
        if (!connection->out)
            connection->out = evbuffer_new();
        kept = connection->out && evbuffer_add_reference(connection->out, bytes->ptr + sent, bytes->len - sent,
                                                         free_sent, bytes->ptr) == 0;
        if (kept)
            return true;
    }
    wt__buffer_dispose(bytes);
    if (!kept)
        lose_connection(connection);
    return kept;
}

/* Writes pending output. Returns true if everything was written. */
static bool write_pending(struct connection *connection)
{
    while (unsent_bytes(connection) > 0) {
        struct evbuffer_iovec pieces[PIECES_MAX];
        int count = evbuffer_peek(connection->out, -1, NULL, pieces, PIECES_MAX);
        ssize_t sent = send_some(connection, pieces, count < PIECES_MAX ? count : PIECES_MAX);
        if (sent < 0)
            lose_connection(connection);
        if (sent <= 0)
            return false;
        evbuffer_drain(connection->out, (size_t)sent);
        start_wait(connection, HTTP_WAIT_READER);
    }
    return true;
}

/* Watches for writability while output is pending. */
static void watch_output(struct connection *connection)
{
    bool more = unsent_bytes(connection) > 0;
    if (more && connection->wait.kind != HTTP_WAIT_READER)
        start_wait(connection, HTTP_WAIT_READER);
    else if (!more && connection->wait.kind == HTTP_WAIT_READER)
        start_wait(connection, connection->state == READING ? HTTP_WAIT_BODY : HTTP_WAIT_NONE);
    if (more != connection->waits_to_write)
        (more ? event_add(&connection->writable, NULL) : event_del(&connection->writable));
    connection->waits_to_write = more;
}

static void begin_lingering(struct connection *connection)
{
    connection->state = LINGERING;
    wt__buffer_dispose(&connection->ahead);
    watch_input(connection, false);
    start_wait(connection, HTTP_WAIT_CLOSE);
    if (shutdown(connection->descriptor, SHUT_WR) < 0)
        connection->state = DEAD;
}

/* Finishes a completely written answer: records it, then reads the next request or lingers. */
static void finish_answer(struct connection *connection)
{
    bool last = connection->last || connection->loop->stopping;
    if (connection->exchange)
        leave_exchange(connection);
    else
        record_own(connection);
    connection->ended = false;
    connection->message_bytes = 0;
    update_held(connection);
    if (connection->out)
        evbuffer_free(connection->out);
    connection->out = NULL;
    if (last) {
        begin_lingering(connection);
        return;
    }
    connection->state = READING;
    start_wait(connection, HTTP_WAIT_IDLE);
}

static void write_more(struct connection *connection)
{
    if (!write_pending(connection) && connection->state == DEAD)
        return;
    watch_output(connection);
    if (connection->exchange)
        atomic_store(&connection->exchange->unsent, unsent_bytes(connection));
    if (unsent_bytes(connection) == 0 && connection->ended)
        finish_answer(connection);
}

/* Returns the fields of every answer to this request. */
static struct http_fields common_fields(const struct server_loop *loop, struct http_message *message)
{
    struct http_fields fields = {0};
    if (loop->handler.fields)
        loop->handler.fields(loop->handler.context, &message->request, message->note.bytes, &fields);
    return fields;
}

/* Answers without a worker. If message is NULL, uses the message of the status. is_request: true if the reader's
 * message has a complete head; then the record contains the request. last: true to close the connection after the
 * answer. */
static void answer_alone(struct connection *connection, int status, const char *message, bool is_request, bool last)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    struct buffer bytes = {0};
    struct http_message *of = is_request ? wt__http_reader_take(&connection->reader) : NULL;
    struct http_fields common = {0};
    last |= atomic_load(&connection->loop->mailbox->draining);
    if (of)
        common = common_fields(connection->loop, of);
    bool without = of && wt__str_equal(of->request.method, STR("HEAD"));
    wt__http_reader_dispose(&connection->reader);
    wt__http_write_error(&body, status, message);
    wt__http_write_head(&bytes, &(struct http_answer_head){.status = status,
                                                           .type = "application/json",
                                                           .common = &common,
                                                           .body = HTTP_BODY_LENGTH,
                                                           .length = body.len,
                                                           .close = last});
    if (!without)
        wt__buffer_str(&bytes, wt__buffer_view(&body));
    bytes.failed |= body.failed;
    connection->own = (struct own_answer){status, without ? 0 : body.len, of};
    connection->state = SENDING;
    connection->last = last;
    connection->ended = true;
    start_wait(connection, HTTP_WAIT_NONE);
    if (put_output(connection, &bytes))
        write_more(connection);
}

/* Answers input that the reader rejected. is_request: true if the head was complete. */
static void answer_refused(struct connection *connection, bool is_request)
{
    enum http_refusal refusal = connection->reader.refusal;
    if (!is_request)
        atomic_fetch_add(&connection->loop->refused, 1);
    answer_alone(connection, wt__http_refusal_status(refusal), wt__http_refusal_message(refusal), is_request, true);
}

/* Takes the new output of the handler and writes it. */
static void take_output(struct connection *connection)
{
    static const struct linger at_once = {.l_onoff = 1};
    struct exchange_output news;
    wt__exchange_take_output(connection->exchange, &news);
    connection->last = connection->last || news.closes;
    connection->ended = news.ended && !news.broken;
    if (!put_output(connection, &news.bytes))
        return;
    if (news.broken) { /* send RST, so that a truncated body is not mistaken for a complete one */
        setsockopt(connection->descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        lose_connection(connection);
        return;
    }
    write_more(connection);
}

/* Queues the request for the workers. Answers 503 if the holder exceeds a share or the queue is full. fits: false if
 * the holder exceeds its share of memory. */
static void queue_request(struct connection *connection, bool fits)
{
    static const char *const messages[HTTP_OVERLOADS] = {
        [HTTP_OVERLOAD_QUEUE] = "Too many requests of this client are queued; try again later.",
        [HTTP_OVERLOAD_CONNECTIONS] = "Too many requests of this client are in progress; try again later.",
        [HTTP_OVERLOAD_MEMORY] = "The requests of this client use too much memory; try again later.",
    };
    struct server_loop *loop = connection->loop;
    const char *holder = holder_of(connection);
    enum http_overload why = HTTP_OVERLOADS;
    connection->counts = fits && wt__shares_take(&loop->answering, holder, 1);
    if (!fits)
        why = HTTP_OVERLOAD_MEMORY;
    else if (!connection->counts)
        why = HTTP_OVERLOAD_CONNECTIONS;
    else if (!wt__http_queue_push(loop->queue, connection->exchange, holder))
        why = HTTP_OVERLOAD_QUEUE;
    if (why == HTTP_OVERLOADS)
        return;
    atomic_fetch_add(&loop->overloaded[why], 1);
    wt__exchange_answer_overload(connection->exchange, holder ? messages[why] : NULL);
    take_output(connection);
}

/* Creates the exchange of a complete request and queues it. */
static void start_exchange(struct connection *connection)
{
    struct server_loop *loop = connection->loop;
    bool http_1_0 = connection->reader.framing.http_1_0;
    bool fits = update_held(connection);
    atomic_fetch_add(&loop->requests, 1);
    struct http_fields common = common_fields(loop, connection->reader.message);
    struct http_exchange *exchange = wt__exchange_new(loop->mailbox, connection->reader.message, http_1_0, &common);
    if (!exchange) {
        answer_alone(connection, 503, wt__http_refusal_message(HTTP_NO_MEMORY), true, true);
        return;
    }
    wt__http_reader_take(&connection->reader);
    exchange->connection = connection;
    exchange->queued_ms = wt__now_ms();
    connection->exchange = exchange;
    atomic_fetch_add(&loop->in_progress, 1);
    connection->state = ANSWERING;
    start_wait(connection, HTTP_WAIT_NONE);
    connection->has_asked = true;
    queue_request(connection, fits);
}

/* Handles a complete head: rejects the request, or continues to read its body. body_has_begun: true if input follows
 * the head. */
static void accept_head(struct connection *connection, bool body_has_begun)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const struct http_handler *handler = &connection->loop->handler;
    struct http_reader *reader = &connection->reader;
    const struct http_request *head = &reader->message->request;
    bool has_body = reader->framing.chunked || reader->framing.length > 0;
    set_holder(connection, head);
    int status = handler->refuse ? handler->refuse(handler->context, head) : 0;
    if (status != 0) {
        answer_alone(connection, status, NULL, true, has_body || !head->keep_alive);
        return;
    }
    size_t most = handler->body_max ? handler->body_max(handler->context, head) : HTTP_BODY_BYTES_MAX;
    switch (wt__http_reader_accept(reader, most)) {
    case HTTP_PART_REFUSED:
        answer_refused(connection, true);
        return;
    case HTTP_PART_DONE:
        start_exchange(connection);
        return;
    default:
        start_wait(connection, HTTP_WAIT_BODY);
    }
    if (reader->framing.expects_continue && !body_has_begun) {
        struct buffer bytes = {0};
        wt__buffer_append(&bytes, go_on, sizeof go_on - 1);
        if (put_output(connection, &bytes))
            write_more(connection);
    }
}

/* Feeds input to the reader until a request is complete or rejected. Keeps the remaining input in `ahead`. */
static void feed_reader(struct connection *connection, struct str input)
{
    while (connection->state == READING && input.len > 0) {
        if (connection->wait.kind == HTTP_WAIT_IDLE)
            start_wait(connection, HTTP_WAIT_HEAD);
        bool head_was_whole = connection->reader.part == HTTP_PART_BODY;
        switch (wt__http_reader_feed(&connection->reader, &input)) {
        case HTTP_PART_ACCEPT:
            accept_head(connection, input.len > 0);
            break;
        case HTTP_PART_DONE:
            start_exchange(connection);
            break;
        case HTTP_PART_REFUSED:
            answer_refused(connection, head_was_whole);
            break;
        default:
            break;
        }
    }
    if (connection->state == READING && connection->reader.message && !update_held(connection)) {
        atomic_fetch_add(&connection->loop->overloaded[HTTP_OVERLOAD_MEMORY], 1);
        answer_alone(connection, 503, NULL, connection->reader.part == HTTP_PART_BODY, true);
    }
    if (input.len == 0 || connection->last || connection->state == DEAD)
        return;
    wt__buffer_append(&connection->ahead, input.ptr, input.len);
    if (connection->ahead.failed || !update_held(connection))
        lose_connection(connection);
    else
        watch_input(connection, true);
}

/* Processes the input that was kept during an answer. */
static void feed_ahead(struct connection *connection)
{
    struct buffer ahead = connection->ahead;
    connection->ahead = (struct buffer){0};
    feed_reader(connection, wt__buffer_view(&ahead));
    wt__buffer_dispose(&ahead);
    update_held(connection);
    if (connection->ahead.len == 0 && connection->state != DEAD)
        watch_input(connection, false);
}

static void free_connection(struct connection *connection)
{
    struct server_loop *loop = connection->loop;
    start_wait(connection, HTTP_WAIT_NONE);
    event_del(&connection->readable);
    if (connection->waits_to_write)
        event_del(&connection->writable);
    close(connection->descriptor);
    if (connection->out)
        evbuffer_free(connection->out);
    wt__http_reader_dispose(&connection->reader);
    wt__buffer_dispose(&connection->ahead);
    connection->message_bytes = 0;
    update_held(connection);
    if (connection->before)
        connection->before->after = connection->after;
    else
        loop->connections = connection->after;
    if (connection->after)
        connection->after->before = connection->before;
    free(connection);
    if (atomic_fetch_sub(&loop->connection_count, 1) == 1 && loop->stopping)
        event_base_loopbreak(loop->base);
}

/* Finishes an event: continues with kept input, or frees a dead connection. */
static void settle_connection(struct connection *connection)
{
    if (connection->state == READING && connection->ahead.len > 0)
        feed_ahead(connection);
    if (connection->state == DEAD)
        free_connection(connection);
}

static void read_input(struct connection *connection)
{
    char *input = connection->loop->input;
    ssize_t got = recv(connection->descriptor, input, HTTP_INPUT_BYTES, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        lose_connection(connection);
        return;
    }
    if (connection->state == LINGERING) {
        connection->forgotten += (size_t)got;
        if (connection->forgotten > LINGER_BYTES_MAX)
            connection->state = DEAD;
        return;
    }
    feed_reader(connection, (struct str){input, (size_t)got});
}

static void on_readable(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor;
    struct connection *connection = argument;
    if (what & EV_CLOSED)
        lose_connection(connection);
    else
        read_input(connection);
    settle_connection(connection);
}

static void on_writable(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor, (void)what;
    write_more(argument);
    settle_connection(argument);
}

static void watch_input(struct connection *connection, bool only_end)
{
    if (connection->only_end == only_end)
        return;
    event_del(&connection->readable);
    event_assign(&connection->readable, connection->loop->base, connection->descriptor,
                 (short)((only_end ? EV_CLOSED : EV_READ) | EV_PERSIST), on_readable, connection);
    connection->only_end = only_end;
    if (event_add(&connection->readable, NULL) < 0)
        lose_connection(connection);
}

bool wt__connections_close_idle(struct server_loop *loop)
{
    struct wait *first = first_wait(&loop->waits, HTTP_WAIT_IDLE);
    if (!first) /* honest clients send their head quickly, so the oldest wait is probably an attacker's */
        first = first_wait(&loop->waits, HTTP_WAIT_HEAD);
    if (first)
        free_connection((struct connection *)first);
    return first != NULL;
}

void wt__connection_open(struct server_loop *loop, int descriptor, const char *peer)
{
    struct connection *connection = NULL;
    atomic_fetch_add(&loop->accepted, 1);
    if (atomic_load(&loop->connection_count) < loop->connections_max || wt__connections_close_idle(loop))
        connection = calloc(1, sizeof *connection);
    if (!connection) {
        close(descriptor);
        return;
    }
    connection->loop = loop;
    connection->descriptor = descriptor;
    snprintf(connection->peer, sizeof connection->peer, "%s", peer);
    event_assign(&connection->readable, loop->base, descriptor, EV_READ | EV_PERSIST, on_readable, connection);
    event_assign(&connection->writable, loop->base, descriptor, EV_WRITE | EV_PERSIST, on_writable, connection);
    if (event_add(&connection->readable, NULL) < 0) {
        close(descriptor);
        free(connection);
        return;
    }
    connection->after = loop->connections;
    if (connection->after)
        connection->after->before = connection;
    loop->connections = connection;
    atomic_fetch_add(&loop->connection_count, 1);
    start_wait(connection, HTTP_WAIT_HEAD); /* not IDLE: a new client should send a request at once */
}

void wt__connections_take_output(struct server_loop *loop)
{
    struct letter *next = wt__mailbox_take(loop->mailbox);
    while (next) {
        struct letter *letter = next;
        next = letter->next; /* read first, because the letter may be posted again */
        struct http_exchange *exchange = wt__exchange_from_letter(letter);
        struct connection *connection = exchange->connection;
        if (connection) {
            take_output(connection);
            settle_connection(connection);
        }
        wt__exchange_drop(exchange);
    }
}

void wt__connection_expire(void *context, struct wait *wait, enum http_wait kind)
{
    (void)context;
    struct connection *connection = (struct connection *)wait;
    if (kind != HTTP_WAIT_HEAD && kind != HTTP_WAIT_BODY) {
        lose_connection(connection);
    } else if (connection->reader.message) {
        atomic_fetch_add(&connection->loop->refused, 1);
        answer_alone(connection, 408, NULL, kind == HTTP_WAIT_BODY, true);
    } else {
        connection->state = DEAD;
    }
    settle_connection(connection);
}

void wt__connections_stop(struct server_loop *loop)
{
    struct connection *after;
    loop->stopping = true;
    for (struct connection *connection = loop->connections; connection; connection = after) {
        after = connection->after;
        if (connection->state != READING || connection->reader.message)
            continue;
        read_input(connection);
        if (connection->state == READING && !connection->reader.message) {
            if (connection->has_asked)
                connection->state = DEAD;
            else
                start_wait(connection, HTTP_WAIT_CLOSE);
        }
        settle_connection(connection);
    }
}

void wt__connections_close_all(struct server_loop *loop)
{
    struct connection *after;
    for (struct connection *connection = loop->connections; connection; connection = after) {
        after = connection->after;
        lose_connection(connection);
        free_connection(connection);
    }
}
