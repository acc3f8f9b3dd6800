/* exchange.c: see exchange.h and exchange_state.h.
 *
 * One lock protects all state shared by threads; it is never held while a callback runs. The on_gone callback runs on
 * the loop without the lock. A thread that then ends the answer waits for the callback to return, so that the
 * callback's context may be on the handler's stack. */
#include "http/exchange_state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "http/answer.h"

enum { HEAD_BYTES = 512 }; /* typical upper bound of a head */

struct http_exchange {
    struct letter letter; /* must be first: the mailbox casts it to the exchange */
    struct exchange_loop_state course;
    struct mailbox *mailbox;
    struct http_message *message;
    char peer[HTTP_PEER_BYTES];
    bool http_1_0;
    struct http_fields common;
    atomic_uint references, holders;
    atomic_size_t unsent;

    pthread_mutex_t lock;
    pthread_cond_t called; /* signals the end of `calling` */
    /* Protected by the lock: */
    struct buffer bytes;
    bool posted, begun, ended, broken, closes, gone;
    bool bodiless, chunked; /* stream without a body; stream in chunks */
    bool calling;           /* on_gone is running on thread `caller` */
    pthread_t caller;
    void (*on_gone)(void *context);
    void *gone_context;
    struct exchange_outcome outcome;
};

struct http_exchange *wt__exchange_new(struct mailbox *mailbox, struct http_message *message, bool http_1_0,
                                       const char *peer, const struct http_fields *common)
{
    struct http_exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    exchange->mailbox = wt__mailbox_hold(mailbox);
    exchange->message = message;
    exchange->http_1_0 = http_1_0;
    exchange->common = *common;
    snprintf(exchange->peer, sizeof exchange->peer, "%s", peer);
    atomic_init(&exchange->references, 1);
    pthread_mutex_init(&exchange->lock, NULL);
    pthread_cond_init(&exchange->called, NULL);
    return exchange;
}

void wt__exchange_drop(struct http_exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->references, 1) > 1)
        return;
    wt__http_message_free(exchange->message);
    wt__buffer_dispose(&exchange->bytes);
    wt__mailbox_release(exchange->mailbox);
    pthread_cond_destroy(&exchange->called);
    pthread_mutex_destroy(&exchange->lock);
    free(exchange);
}

struct exchange_loop_state *wt__exchange_loop_state(struct http_exchange *exchange)
{
    return &exchange->course;
}

struct http_exchange *wt__exchange_from_letter(struct letter *letter)
{
    struct http_exchange *exchange = (struct http_exchange *)letter;
    pthread_mutex_lock(&exchange->lock);
    exchange->posted = false;
    pthread_mutex_unlock(&exchange->lock);
    return exchange;
}

void wt__exchange_add_worker(struct http_exchange *exchange)
{
    atomic_fetch_add(&exchange->references, 1);
    atomic_store(&exchange->holders, 1);
}

void wt__exchange_start(struct http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->outcome.started_ms = wt__now_ms();
    pthread_mutex_unlock(&exchange->lock);
}

const struct http_request *wt__http_request(const struct http_exchange *exchange)
{
    return &exchange->message->request;
}

const char *wt__http_peer(const struct http_exchange *exchange)
{
    return exchange->peer;
}

/* Notifies the loop and releases the lock. Requires the lock. */
static void unlock_and_post(struct http_exchange *exchange)
{
    bool post = !exchange->posted && !exchange->gone;
    if (post) {
        exchange->posted = true;
        atomic_fetch_add(&exchange->references, 1);
    }
    pthread_mutex_unlock(&exchange->lock);
    if (post && !wt__mailbox_post(exchange->mailbox, &exchange->letter))
        atomic_fetch_sub(&exchange->references, 1); /* never the last reference, because the caller has one */
}

void wt__exchange_take_output(struct http_exchange *exchange, struct exchange_output *news)
{
    pthread_mutex_lock(&exchange->lock);
    *news = (struct exchange_output){.bytes = exchange->bytes,
                                     .begun = exchange->begun,
                                     .ended = exchange->ended,
                                     .broken = exchange->broken || exchange->bytes.failed,
                                     .closes = exchange->closes};
    exchange->bytes = (struct buffer){0};
    atomic_store(&exchange->unsent, atomic_load(&exchange->unsent) + news->bytes.len);
    pthread_mutex_unlock(&exchange->lock);
}

void wt__exchange_set_unsent(struct http_exchange *exchange, size_t unsent)
{
    atomic_store(&exchange->unsent, unsent);
}

void wt__exchange_outcome(struct http_exchange *exchange, struct exchange_outcome *out)
{
    pthread_mutex_lock(&exchange->lock);
    *out = exchange->outcome;
    pthread_mutex_unlock(&exchange->lock);
}

/* Waits for on_gone to return, unless called from it. Requires the lock. */
static void wait_for_callback(struct http_exchange *exchange)
{
    while (exchange->calling && !pthread_equal(exchange->caller, pthread_self()))
        pthread_cond_wait(&exchange->called, &exchange->lock);
}

/* Marks the client as gone, releases the lock and calls on_gone. Requires the lock. */
static void unlock_and_notify_gone(struct http_exchange *exchange)
{
    void (*on_gone)(void *context) = exchange->ended ? NULL : exchange->on_gone;
    void *context = exchange->gone_context;
    exchange->gone = true;
    exchange->on_gone = NULL;
    exchange->calling = on_gone != NULL;
    exchange->caller = pthread_self();
    pthread_mutex_unlock(&exchange->lock);
    if (!on_gone)
        return;
    on_gone(context);
    pthread_mutex_lock(&exchange->lock);
    exchange->calling = false;
    pthread_cond_broadcast(&exchange->called);
    pthread_mutex_unlock(&exchange->lock);
}

void wt__exchange_client_gone(struct http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    unlock_and_notify_gone(exchange);
}

bool wt__exchange_time_out(struct http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    bool begun = exchange->begun;
    if (begun)
        pthread_mutex_unlock(&exchange->lock);
    else
        unlock_and_notify_gone(exchange);
    return !begun;
}

bool wt__http_is_gone(const struct http_exchange *exchange)
{
    struct http_exchange *mine = (struct http_exchange *)exchange;
    pthread_mutex_lock(&mine->lock);
    bool gone = mine->gone;
    pthread_mutex_unlock(&mine->lock);
    return gone;
}

void wt__http_on_gone(struct http_exchange *exchange, void (*gone)(void *context), void *context)
{
    pthread_mutex_lock(&exchange->lock);
    wait_for_callback(exchange);
    bool now = exchange->gone && !exchange->ended && gone;
    bool later = !exchange->gone && !exchange->ended;
    exchange->on_gone = later ? gone : NULL;
    exchange->gone_context = context;
    pthread_mutex_unlock(&exchange->lock);
    if (now)
        gone(context);
}

/* Marks the answer as ended. Requires the lock. */
static void end_answer(struct http_exchange *exchange)
{
    exchange->ended = true;
    exchange->on_gone = NULL;
    wait_for_callback(exchange);
}

static bool is_head(const struct http_exchange *exchange)
{
    return wt__str_equal(exchange->message->request.method, STR("HEAD"));
}

static void write_head(struct http_exchange *exchange, struct buffer *out, struct http_answer_head *head)
{
    head->common = &exchange->common;
    head->close = !exchange->message->request.keep_alive || wt__mailbox_is_stopping(exchange->mailbox);
    wt__http_write_head(out, head);
}

/* Marks the answer as begun and moves the bytes into the exchange. Requires the lock. */
static void begin_answer(struct http_exchange *exchange, const struct http_answer_head *head, struct buffer *bytes)
{
    exchange->begun = true;
    exchange->closes = head->close || head->body == HTTP_BODY_CLOSE;
    exchange->outcome.status = head->status;
    exchange->bytes = *bytes;
    *bytes = (struct buffer){0};
}

/* Sends a complete answer. anyway: even if the client counts as gone for the handler. */
static void send_complete_answer(struct http_exchange *exchange, struct http_answer_head *head, struct str body,
                                 bool anyway)
{
    struct buffer bytes = {0};
    head->body = wt__http_status_has_body(head->status) ? HTTP_BODY_LENGTH : HTTP_BODY_NONE;
    head->length = body.len;
    if (head->body == HTTP_BODY_NONE)
        head->type = NULL;
    if (head->body == HTTP_BODY_NONE || is_head(exchange))
        body.len = 0;
    wt__buffer_reserve(&bytes, HEAD_BYTES + body.len);
    write_head(exchange, &bytes, head);
    wt__buffer_str(&bytes, body);

    pthread_mutex_lock(&exchange->lock);
    if (exchange->begun || (exchange->ended && !anyway)) {
        wait_for_callback(exchange);
        pthread_mutex_unlock(&exchange->lock);
    } else if (exchange->gone && !anyway) {
        end_answer(exchange);
        pthread_mutex_unlock(&exchange->lock);
    } else {
        begin_answer(exchange, head, &bytes);
        exchange->outcome.bytes = body.len;
        end_answer(exchange);
        unlock_and_post(exchange);
    }
    wt__buffer_dispose(&bytes);
}

void wt__http_answer(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count, struct str body)
{
    struct http_answer_head head = {.status = status, .type = type, .fields = fields, .field_count = field_count};
    send_complete_answer(exchange, &head, body, false);
}

void wt__exchange_answer_overload(struct http_exchange *exchange, const char *message)
{
    static const struct http_field later = {{"Retry-After", 11}, {"1", 1}};
    struct http_answer_head head = {.status = 503, .type = "application/json", .fields = &later, .field_count = 1};
    struct buffer body = {0};
    wt__http_write_error(&body, 503, message);
    send_complete_answer(exchange, &head, wt__buffer_view(&body), true);
    wt__buffer_dispose(&body);
}

void wt__http_stream(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count)
{
    bool has_body = wt__http_status_has_body(status);
    enum http_answer_body body = !has_body ? HTTP_BODY_NONE : exchange->http_1_0 ? HTTP_BODY_CLOSE : HTTP_BODY_CHUNKED;
    struct http_answer_head head = {
        .status = status, .type = has_body ? type : NULL, .fields = fields, .field_count = field_count, .body = body};
    struct buffer bytes = {0};
    write_head(exchange, &bytes, &head);

    pthread_mutex_lock(&exchange->lock);
    if (exchange->begun || exchange->ended || exchange->gone) {
        pthread_mutex_unlock(&exchange->lock);
    } else {
        begin_answer(exchange, &head, &bytes);
        exchange->bodiless = !has_body || is_head(exchange);
        exchange->chunked = body == HTTP_BODY_CHUNKED;
        unlock_and_post(exchange);
    }
    wt__buffer_dispose(&bytes);
}

/* Appends a piece of a stream. Requires the lock. */
static void add_piece(struct http_exchange *exchange, struct str piece)
{
    if (exchange->bodiless || piece.len == 0)
        return;
    if (exchange->chunked)
        wt__buffer_printf(&exchange->bytes, "%zx\r\n", piece.len);
    wt__buffer_str(&exchange->bytes, piece);
    if (exchange->chunked)
        wt__buffer_append(&exchange->bytes, "\r\n", 2);
    exchange->outcome.bytes += piece.len;
}

bool wt__http_send(struct http_exchange *exchange, struct str piece)
{
    pthread_mutex_lock(&exchange->lock);
    bool sent = exchange->begun && !exchange->ended && !exchange->gone && !exchange->broken;
    if (sent && exchange->bytes.len + atomic_load(&exchange->unsent) > HTTP_BACKLOG_BYTES_MAX) {
        wt__buffer_dispose(&exchange->bytes);
        exchange->broken = true;
        sent = false;
        unlock_and_post(exchange);
    } else if (sent) {
        add_piece(exchange, piece);
        unlock_and_post(exchange);
    } else {
        pthread_mutex_unlock(&exchange->lock);
    }
    return sent;
}

void wt__http_finish(struct http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    if (!exchange->begun || exchange->ended) {
        if (exchange->gone) /* before the answer began */
            end_answer(exchange);
        wait_for_callback(exchange);
        pthread_mutex_unlock(&exchange->lock);
        return;
    }
    if (exchange->chunked && !exchange->bodiless && !exchange->broken)
        wt__buffer_text(&exchange->bytes, "0\r\n\r\n");
    end_answer(exchange);
    unlock_and_post(exchange);
}

void wt__http_keep(struct http_exchange *exchange)
{
    atomic_fetch_add(&exchange->holders, 1);
}

/* Ends an exchange that was released without an end. */
static void end_unfinished(struct http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    if (exchange->begun && !exchange->ended) {
        exchange->broken = true;
        end_answer(exchange);
        unlock_and_post(exchange);
        return;
    }
    bool silent = !exchange->ended;
    wait_for_callback(exchange);
    pthread_mutex_unlock(&exchange->lock);
    if (silent) {
        struct buffer body = {0};
        wt__http_write_error(&body, 500, NULL);
        wt__http_answer(exchange, 500, "application/json", NULL, 0, wt__buffer_view(&body));
        wt__buffer_dispose(&body);
    }
}

void wt__http_release(struct http_exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->holders, 1) > 1)
        return;
    end_unfinished(exchange);
    wt__exchange_drop(exchange);
}
