/* connection.c: reads requests from one client, hands them to the queue, and writes the answers; one request at a time.
 *
 * READING    bytes go to the reader
 * ANSWERING  a request is with the workers (exchange); what the client sends meanwhile waits in `ahead`. The descriptor
 *            stays watched, so that a client that goes away is noticed at once: by reading while nothing is ahead, then
 *            by the peer's end alone, so that what is ahead is bounded by one read
 * SENDING    an answer of the server's own
 * LINGERING  all is written, and the client is to close, too: closing first, with bytes unread, would reset the
 *            connection and take the answer from the client (RFC 9112, section 9.6)
 * DEAD       nobody touches it any more; settle() frees it at the end of each call from outside
 *
 * Writing is by sendmsg with MSG_NOSIGNAL, since the process may have left SIGPIPE as it was. */
#include "http/connection.h"

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
#include "http/answer.h"

enum {
    PIECES_MAX = 16,            /* written at once */
    LINGER_BYTES_MAX = 1 << 20, /* read and forgotten after the last answer */
};

enum state { READING, ANSWERING, SENDING, LINGERING, DEAD };

/* An answer of the server's own, to what may be no request. */
struct own_answer {
    int status;
    uint64_t bytes;
    struct http_message *message; /* NULL: it was none */
};

struct connection {
    struct wait wait; /* first: waits.h knows nothing else of it */
    struct connection *before, *after;
    struct http_loop *loop;
    struct event readable, writable;
    struct http_reader reader;
    struct buffer ahead;
    struct evbuffer *out;
    struct http_exchange *exchange; /* of ANSWERING */
    struct own_answer own;          /* of SENDING */
    size_t forgotten;               /* bytes, of LINGERING */
    size_t message_bytes, held; /* of the request that is read or answered; with what is ahead, as the loop counts */
    int descriptor;
    enum state state;
    bool ended;    /* the answer is all in `out` */
    bool last;     /* the connection ends with this answer */
    bool only_end; /* `readable` waits for the peer's end alone */
    bool waits_to_write;
    bool counts;                    /* among those of its holder that are being answered */
    bool has_holder;                /* clients are told apart */
    char holder[HTTP_HOLDER_BYTES]; /* of the last head; "" before there is one */
    char peer[HTTP_PEER_BYTES];
};

static void die(struct connection *connection)
{
    connection->state = DEAD;
}

static void wait_for(struct connection *connection, enum http_wait kind)
{
    wt__wait_for(&connection->loop->waits, &connection->wait, kind);
}

static void record(struct connection *connection, const struct http_record *what)
{
    const struct http_handler *handler = &connection->loop->handler;
    if (handler->record)
        handler->record(handler->context, what);
}

static void record_own(struct connection *connection)
{
    struct own_answer *own = &connection->own;
    record(connection, &(struct http_record){.request = own->message ? &own->message->request : NULL,
                                             .peer = connection->peer,
                                             .status = own->status,
                                             .bytes = own->bytes});
    wt__http_message_free(own->message);
    *own = (struct own_answer){0};
}

/* Whom the connection counts as (base/shares.h). */
static const char *holder_of(const struct connection *connection)
{
    return connection->has_holder ? connection->holder : NULL;
}

/* Counts what the connection holds of requests. False: those of its holder hold too much. */
static bool hold(struct connection *connection)
{
    struct http_loop *loop = connection->loop;
    size_t before = connection->held;
    const struct http_message *message = connection->reader.message;
    if (message)
        connection->message_bytes = sizeof *message + message->head.capacity + message->body.capacity;
    connection->held = connection->message_bytes + connection->ahead.capacity;
    return wt__shares_change(&loop->held, holder_of(connection), before, connection->held);
}

/* Whom the connection counts as from this head on. */
static void set_holder(struct connection *connection, const struct http_request *head)
{
    struct http_loop *loop = connection->loop;
    const struct http_handler *handler = &loop->handler;
    char holder[HTTP_HOLDER_BYTES] = "";
    wt__shares_change(&loop->held, holder_of(connection), connection->held, 0);
    connection->has_holder = handler->holder && handler->holder(handler->context, head, holder);
    memcpy(connection->holder, holder, sizeof holder);
    wt__shares_change(&loop->held, holder_of(connection), 0, connection->held);
}

/* The exchange is over for the loop. */
static void part(struct connection *connection)
{
    struct http_exchange *exchange = connection->exchange;
    struct http_course *course = wt__exchange_course(exchange);
    struct http_outcome outcome;
    double now = wt__now_ms();
    wt__exchange_outcome(exchange, &outcome);
    double started = outcome.started_ms > 0 ? outcome.started_ms : now;
    record(connection, &(struct http_record){.request = wt__http_request(exchange),
                                             .peer = connection->peer,
                                             .status = outcome.status,
                                             .bytes = outcome.bytes,
                                             .queue_ms = started - course->queued_ms,
                                             .run_ms = now - started});
    course->connection = NULL;
    connection->exchange = NULL;
    if (connection->counts)
        wt__shares_give(&connection->loop->answering, holder_of(connection), 1);
    connection->counts = false;
    wt__exchange_drop(exchange);
}

/* The client is gone, or has to go. */
static void lose(struct connection *connection)
{
    if (connection->exchange) {
        wt__exchange_lose(connection->exchange);
        part(connection);
    } else if (connection->state == SENDING) {
        record_own(connection);
    }
    die(connection);
}

/* Watches for input, or for the peer's end alone. */
static void watch(struct connection *connection, bool only_end);

/* Sends what the system takes now; 0: nothing; -1: the client is gone. */
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

static size_t unsent(const struct connection *connection)
{
    return connection->out ? evbuffer_get_length(connection->out) : 0;
}

static void free_sent(const void *data, size_t len, void *block)
{
    (void)data;
    (void)len;
    free(block);
}

/* Writes the bytes, which it takes over, behind what is already there. False: the connection is lost. */
static bool put(struct connection *connection, struct buffer *bytes)
{
    size_t sent = 0;
    bool kept = !bytes->failed;
    if (kept && unsent(connection) == 0 && bytes->len > 0) {
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
        lose(connection);
    return kept;
}

/* Writes what is there. True: all of it. */
static bool flush(struct connection *connection)
{
    while (unsent(connection) > 0) {
        struct evbuffer_iovec pieces[PIECES_MAX];
        int count = evbuffer_peek(connection->out, -1, NULL, pieces, PIECES_MAX);
        ssize_t sent = send_some(connection, pieces, count < PIECES_MAX ? count : PIECES_MAX);
        if (sent < 0)
            lose(connection);
        if (sent <= 0)
            return false;
        evbuffer_drain(connection->out, (size_t)sent);
        wait_for(connection, HTTP_WAIT_READER);
    }
    return true;
}

/* The answer is written, or waits until the client reads. */
static void stand_by_to_write(struct connection *connection)
{
    bool more = unsent(connection) > 0;
    if (more && connection->wait.kind != HTTP_WAIT_READER)
        wait_for(connection, HTTP_WAIT_READER);
    else if (!more && connection->wait.kind == HTTP_WAIT_READER)
        wait_for(connection, connection->state == READING ? HTTP_WAIT_BODY : HTTP_WAIT_NONE);
    if (more != connection->waits_to_write)
        (more ? event_add(&connection->writable, NULL) : event_del(&connection->writable));
    connection->waits_to_write = more;
}

static void linger(struct connection *connection)
{
    connection->state = LINGERING;
    wt__buffer_dispose(&connection->ahead);
    watch(connection, false);
    wait_for(connection, HTTP_WAIT_CLOSE);
    if (shutdown(connection->descriptor, SHUT_WR) < 0)
        die(connection);
}

/* The answer is all written: records it, and is ready for another request or lingers. */
static void complete(struct connection *connection)
{
    bool last = connection->last || connection->loop->stopping;
    if (connection->exchange)
        part(connection);
    else
        record_own(connection);
    connection->ended = false;
    connection->message_bytes = 0;
    hold(connection);
    if (connection->out)
        evbuffer_free(connection->out);
    connection->out = NULL;
    if (last) {
        linger(connection);
        return;
    }
    connection->state = READING;
    wait_for(connection, HTTP_WAIT_IDLE);
}

static void write_on(struct connection *connection)
{
    if (!flush(connection) && connection->state == DEAD)
        return;
    stand_by_to_write(connection);
    if (connection->exchange)
        wt__exchange_tell_unsent(connection->exchange, unsent(connection));
    if (unsent(connection) == 0 && connection->ended)
        complete(connection);
}

/* What every answer to the request has. */
static struct http_fields common_fields(const struct http_loop *loop, const struct http_request *request)
{
    struct http_fields fields = {0};
    if (loop->handler.fields)
        loop->handler.fields(loop->handler.context, request, &fields);
    return fields;
}

/* Answers by itself. message NULL: that of the status. The reader's message is recorded where it is a request. */
static void answer_alone(struct connection *connection, int status, const char *message, bool is_request, bool last)
{
    struct buffer body = {0}, bytes = {0};
    struct http_message *of = is_request ? wt__http_reader_take(&connection->reader) : NULL;
    struct http_fields common = {0};
    if (of)
        common = common_fields(connection->loop, &of->request);
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
    wt__buffer_dispose(&body);
    connection->state = SENDING;
    connection->last = last;
    connection->ended = true;
    wait_for(connection, HTTP_WAIT_NONE);
    if (put(connection, &bytes))
        write_on(connection);
}

/* What no reader takes. That it was a request, is known once its head is whole. */
static void refuse(struct connection *connection, bool is_request)
{
    enum http_refusal refusal = connection->reader.refusal;
    if (!is_request)
        atomic_fetch_add(&connection->loop->refused, 1);
    answer_alone(connection, wt__http_refusal_status(refusal), wt__http_refusal_message(refusal), is_request, true);
}

/* Takes what the handler has said since. */
static void absorb(struct connection *connection)
{
    static const struct linger at_once = {.l_onoff = 1};
    struct http_news news;
    wt__exchange_take_news(connection->exchange, &news);
    if (news.begun && connection->wait.kind == HTTP_WAIT_ANSWER)
        wait_for(connection, HTTP_WAIT_NONE);
    connection->last = connection->last || news.closes;
    connection->ended = news.ended && !news.broken;
    if (!put(connection, &news.bytes))
        return;
    if (news.broken) { /* a reset, so that nobody takes what there is for all */
        setsockopt(connection->descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        lose(connection);
        return;
    }
    write_on(connection);
}

/* In place of the handler. */
static void answer_overload(struct connection *connection, const char *message)
{
    atomic_fetch_add(&connection->loop->overloaded, 1);
    wt__exchange_answer_overload(connection->exchange, message);
    absorb(connection);
}

/* The request goes to the workers, unless its client has its share of something. */
static void queue_request(struct connection *connection, bool fits)
{
    struct http_loop *loop = connection->loop;
    const char *holder = holder_of(connection), *why = NULL;
    connection->counts = fits && wt__shares_take(&loop->answering, holder, 1);
    if (!fits)
        why = "The requests of this client take too much memory; come later.";
    else if (!connection->counts)
        why = "Too many requests of this client are being answered; come later.";
    else if (!wt__http_queue_push(loop->queue, connection->exchange, holder))
        why = "Too many requests of this client wait for a worker; come later.";
    if (why)
        answer_overload(connection, holder ? why : NULL);
}

/* The reader has a whole request. */
static void hand_over(struct connection *connection)
{
    struct http_loop *loop = connection->loop;
    bool http_1_0 = connection->reader.framing.http_1_0;
    bool fits = hold(connection);
    atomic_fetch_add(&loop->requests, 1);
    struct http_fields common = common_fields(loop, &connection->reader.message->request);
    struct http_exchange *exchange =
        wt__exchange_new(loop->mailbox, connection->reader.message, http_1_0, connection->peer, &common);
    if (!exchange) {
        answer_alone(connection, 503, wt__http_refusal_message(HTTP_NO_MEMORY), true, true);
        return;
    }
    wt__http_reader_take(&connection->reader);
    struct http_course *course = wt__exchange_course(exchange);
    *course = (struct http_course){connection, wt__now_ms()};
    connection->exchange = exchange;
    connection->state = ANSWERING;
    wait_for(connection, HTTP_WAIT_ANSWER);
    if (loop->stopping)
        answer_overload(connection, "The server is ending.");
    else
        queue_request(connection, fits);
}

/* The reader has a head: is its body wanted? */
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
        refuse(connection, true);
        return;
    case HTTP_PART_DONE:
        hand_over(connection);
        return;
    default:
        wait_for(connection, HTTP_WAIT_BODY);
    }
    if (reader->framing.expects_continue && !body_has_begun) {
        struct buffer bytes = {0};
        wt__buffer_append(&bytes, go_on, sizeof go_on - 1);
        if (put(connection, &bytes))
            write_on(connection);
    }
}

/* Gives the reader what has come, for as long as requests are read; the rest waits. */
static void consume(struct connection *connection, struct str input)
{
    while (connection->state == READING && input.len > 0) {
        if (connection->wait.kind == HTTP_WAIT_IDLE)
            wait_for(connection, HTTP_WAIT_HEAD);
        bool head_was_whole = connection->reader.part == HTTP_PART_BODY;
        switch (wt__http_reader_feed(&connection->reader, &input)) {
        case HTTP_PART_ACCEPT:
            accept_head(connection, input.len > 0);
            break;
        case HTTP_PART_DONE:
            hand_over(connection);
            break;
        case HTTP_PART_REFUSED:
            refuse(connection, head_was_whole);
            break;
        default:
            break;
        }
    }
    if (connection->state == READING && connection->reader.message && !hold(connection)) {
        atomic_fetch_add(&connection->loop->overloaded, 1);
        answer_alone(connection, 503, NULL, connection->reader.part == HTTP_PART_BODY, true);
    }
    if (input.len == 0 || connection->last || connection->state == DEAD)
        return;
    wt__buffer_append(&connection->ahead, input.ptr, input.len);
    if (connection->ahead.failed || !hold(connection))
        lose(connection);
    else
        watch(connection, true);
}

/* After an answer: what came ahead of it. */
static void consume_ahead(struct connection *connection)
{
    struct buffer ahead = connection->ahead;
    connection->ahead = (struct buffer){0};
    consume(connection, wt__buffer_view(&ahead));
    wt__buffer_dispose(&ahead);
    hold(connection);
    if (connection->ahead.len == 0 && connection->state != DEAD)
        watch(connection, false);
}

static void release(struct connection *connection)
{
    struct http_loop *loop = connection->loop;
    wait_for(connection, HTTP_WAIT_NONE);
    event_del(&connection->readable);
    if (connection->waits_to_write)
        event_del(&connection->writable);
    close(connection->descriptor);
    if (connection->out)
        evbuffer_free(connection->out);
    wt__http_reader_dispose(&connection->reader);
    wt__buffer_dispose(&connection->ahead);
    connection->message_bytes = 0;
    hold(connection);
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

/* The end of each call from outside: goes on with what is ahead, or frees the dead. */
static void settle(struct connection *connection)
{
    if (connection->state == READING && connection->ahead.len > 0)
        consume_ahead(connection);
    if (connection->state == DEAD)
        release(connection);
}

static void read_some(struct connection *connection)
{
    char *input = connection->loop->input;
    ssize_t got = recv(connection->descriptor, input, HTTP_INPUT_BYTES, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got <= 0) {
        lose(connection);
        return;
    }
    if (connection->state == LINGERING) {
        connection->forgotten += (size_t)got;
        if (connection->forgotten > LINGER_BYTES_MAX)
            die(connection);
        return;
    }
    consume(connection, (struct str){input, (size_t)got});
}

static void on_readable(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor;
    struct connection *connection = argument;
    if (what & EV_CLOSED)
        lose(connection);
    else
        read_some(connection);
    settle(connection);
}

static void on_writable(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor;
    (void)what;
    write_on(argument);
    settle(argument);
}

static void watch(struct connection *connection, bool only_end)
{
    if (connection->only_end == only_end)
        return;
    event_del(&connection->readable);
    event_assign(&connection->readable, connection->loop->base, connection->descriptor,
                 (short)((only_end ? EV_CLOSED : EV_READ) | EV_PERSIST), on_readable, connection);
    connection->only_end = only_end;
    if (event_add(&connection->readable, NULL) < 0)
        lose(connection);
}

bool wt__connections_make_room(struct http_loop *loop)
{
    struct wait *first = wt__waits_first(&loop->waits, HTTP_WAIT_IDLE);
    if (!first) /* who is honest has sent its head long before it is the oldest of thousands */
        first = wt__waits_first(&loop->waits, HTTP_WAIT_HEAD);
    if (first)
        release((struct connection *)first);
    return first != NULL;
}

void wt__connection_open(struct http_loop *loop, int descriptor, const char *peer)
{
    struct connection *connection = NULL;
    atomic_fetch_add(&loop->accepted, 1);
    if (atomic_load(&loop->connection_count) < loop->connections_max || wt__connections_make_room(loop))
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
    wait_for(connection, HTTP_WAIT_HEAD); /* who connects has something to say */
}

void wt__connections_hear(struct http_loop *loop)
{
    struct letter *next = wt__mailbox_take(loop->mailbox);
    while (next) {
        struct letter *letter = next;
        next = letter->next; /* before it may be posted again */
        struct http_exchange *exchange = wt__exchange_receive(letter);
        struct connection *connection = wt__exchange_course(exchange)->connection;
        if (connection) {
            absorb(connection);
            settle(connection);
        }
        wt__exchange_drop(exchange);
    }
}

void wt__connection_expire(void *context, struct wait *wait, enum http_wait kind)
{
    (void)context;
    struct connection *connection = (struct connection *)wait;
    switch (kind) {
    case HTTP_WAIT_HEAD:
    case HTTP_WAIT_BODY:
        if (connection->reader.message) {
            atomic_fetch_add(&connection->loop->refused, 1);
            answer_alone(connection, 408, NULL, kind == HTTP_WAIT_BODY, true);
        } else {
            die(connection);
        }
        break;
    case HTTP_WAIT_ANSWER:
        if (wt__exchange_give_up(connection->exchange))
            answer_overload(connection, "The answer was not there in time.");
        break;
    default:
        lose(connection);
    }
    settle(connection);
}

void wt__connections_stop(struct http_loop *loop)
{
    struct connection *after;
    loop->stopping = true;
    for (struct connection *connection = loop->connections; connection; connection = after) {
        after = connection->after;
        if (connection->state == READING && !connection->reader.message)
            release(connection);
    }
}

void wt__connections_end(struct http_loop *loop)
{
    struct connection *after;
    for (struct connection *connection = loop->connections; connection; connection = after) {
        after = connection->after;
        lose(connection);
        release(connection);
    }
}
