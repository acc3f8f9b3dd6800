/* exchange.c: writes answers and passes them to the loop; see exchange.h and internal.h.
 *
 * Each exchange has a lock, which protects the state shared by threads. The on_gone callback runs without the lock. A
 * thread that ends the answer while the callback runs waits for the callback to return. The callback's context may
 * therefore be on the handler's stack. */
#include "http/internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* ---------------------------------------------------------------- mailbox */

struct mailbox *wt__mailbox_open(void)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (!mailbox)
        return NULL;
    mailbox->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (mailbox->descriptor < 0) {
        free(mailbox);
        return NULL;
    }
    atomic_init(&mailbox->holders, 1);
    pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->last = &mailbox->first;
    return mailbox;
}

void wt__mailbox_release(struct mailbox *mailbox)
{
    if (!mailbox || atomic_fetch_sub(&mailbox->holders, 1) > 1)
        return;
    close(mailbox->descriptor);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

/* Wakes the loop. Safe in signal handlers. */
static void ring_mailbox(struct mailbox *mailbox)
{
    uint64_t one = 1;
    int before = errno;
    ssize_t written = write(mailbox->descriptor, &one, sizeof one); /* fails only if the loop is already woken */
    (void)written;
    errno = before;
}

/* Posts a letter, from any thread. Returns false if the mailbox is shut. A letter must not be posted again before it is
 * taken. */
static bool post_letter(struct mailbox *mailbox, struct letter *letter)
{
    pthread_mutex_lock(&mailbox->lock);
    bool taken = !mailbox->shut, was_empty = !mailbox->first;
    if (taken) {
        letter->next = NULL;
        *mailbox->last = letter;
        mailbox->last = &letter->next;
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (taken && was_empty)
        ring_mailbox(mailbox);
    return taken;
}

struct letter *wt__mailbox_take(struct mailbox *mailbox)
{
    uint64_t rung;
    ssize_t got = read(mailbox->descriptor, &rung, sizeof rung);
    (void)got;
    pthread_mutex_lock(&mailbox->lock);
    struct letter *first = mailbox->first;
    mailbox->first = NULL;
    mailbox->last = &mailbox->first;
    pthread_mutex_unlock(&mailbox->lock);
    return first;
}

void wt__mailbox_shut(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->shut = true;
    pthread_mutex_unlock(&mailbox->lock);
}

void wt__mailbox_request_drain(struct mailbox *mailbox)
{
    atomic_store(&mailbox->draining, true);
    ring_mailbox(mailbox);
}

void wt__mailbox_request_stop(struct mailbox *mailbox)
{
    atomic_store(&mailbox->draining, true);
    atomic_store(&mailbox->stopping, true);
    ring_mailbox(mailbox);
}

/* ---------------------------------------------------------------- heads of answers */

/* Statuses used by this server and its handlers (RFC 9110, section 15). code: error code in JSON. */
static const struct status_text {
    int number;
    const char *phrase, *code, *message;
} statuses[] = {
    {100, "Continue", "", ""},
    {200, "OK", "", ""},
    {201, "Created", "", ""},
    {202, "Accepted", "", ""},
    {204, "No Content", "", ""},
    {304, "Not Modified", "", ""},
    {400, "Bad Request", "bad_request", "The request is not valid HTTP/1.1."},
    {401, "Unauthorized", "unauthorized", "This requires a key."},
    {403, "Forbidden", "forbidden", "This is not allowed."},
    {404, "Not Found", "not_found", "There is no such resource."},
    {405, "Method Not Allowed", "method_not_allowed", "This path does not support the method."},
    {406, "Not Acceptable", "not_acceptable", "None of the accepted media types is available."},
    {408, "Request Timeout", "timeout", "The request was not received in time."},
    {409, "Conflict", "conflict", "The state does not allow this now."},
    {413, "Content Too Large", "too_large", "The body is too large."},
    {414, "URI Too Long", "too_long", "The first line is too long."},
    {415, "Unsupported Media Type", "media_type", "The media type of the body is not supported."},
    {417, "Expectation Failed", "expectation", "Only the expectation 100-continue is supported."},
    {421, "Misdirected Request", "misdirected", "This host is not served here."},
    {422, "Unprocessable Content", "unprocessable", "The body is not a request that can be processed."},
    {429, "Too Many Requests", "too_many_requests", "Too many requests; try again later."},
    {431, "Request Header Fields Too Large", "head_too_large", "The head is too large."},
    {500, "Internal Server Error", "internal", "The server failed to answer the request."},
    {501, "Not Implemented", "not_implemented", "This is not supported."},
    {502, "Bad Gateway", "bad_gateway", "An upstream server returned an invalid answer."},
    {503, "Service Unavailable", "overloaded", "The server is overloaded; try again later."},
    {504, "Gateway Timeout", "deadline", "The answer was not ready in time."},
    {505, "HTTP Version Not Supported", "version", "Only HTTP/1.1 and HTTP/1.0 are supported."},
};

static const struct status_text *find_status(int number)
{
    static const struct status_text unknown = {0, "Status", "error", "The request was refused."};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].number == number)
            return &statuses[i];
    return &unknown;
}

/* True if the status may have a body; 1xx, 204 and 304 may not (RFC 9112, section 6.3). */
static bool may_have_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static void put_two_digits(char *at, int value)
{
    at[0] = (char)('0' + value / 10 % 10);
    at[1] = (char)('0' + value % 10);
}

/* Returns the current date as "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7), valid until the next call of
 * the thread. Each thread formats it at most once a second. */
static const char *http_date(void)
{
    static _Thread_local time_t made_at;
    static _Thread_local char text[] = "Thu, 01 Jan 1970 00:00:00 GMT";
    time_t now = time(NULL);
    struct tm t;
    if (now == made_at || !gmtime_r(&now, &t))
        return text;
    memcpy(text, "SunMonTueWedThuFriSat" + 3 * t.tm_wday, 3);
    put_two_digits(text + 5, t.tm_mday);
    memcpy(text + 8, "JanFebMarAprMayJunJulAugSepOctNovDec" + 3 * t.tm_mon, 3);
    put_two_digits(text + 12, (t.tm_year + 1900) / 100);
    put_two_digits(text + 14, t.tm_year % 100);
    put_two_digits(text + 17, t.tm_hour);
    put_two_digits(text + 20, t.tm_min);
    put_two_digits(text + 23, t.tm_sec);
    made_at = now;
    return text;
}

/* True if the field is valid and handlers may set it. */
static bool may_be_sent(const struct http_field *field)
{
    static const char *const ours[] = {"Connection", "Content-Length", "Date", "Transfer-Encoding", "Trailer"};
    if (!wt__http_is_token(field->name) || wt__str_among(field->name, ours, sizeof ours / sizeof *ours))
        return false;
    for (size_t i = 0; i < field->value.len; i++)
        if (wt__http_is_control(field->value.ptr[i]) && field->value.ptr[i] != '\t')
            return false;
    return true;
}

static void write_field(struct buffer *out, struct str name, struct str value)
{
    wt__buffer_str(out, name);
    wt__buffer_append(out, ": ", 2);
    wt__buffer_str(out, value);
    wt__buffer_append(out, "\r\n", 2);
}

static void write_fields(struct buffer *out, const struct http_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (may_be_sent(&fields[i]))
            write_field(out, fields[i].name, fields[i].value);
}

void wt__http_write_head(struct buffer *out, const struct http_answer_head *head)
{
    wt__buffer_printf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", head->status, find_status(head->status)->phrase,
                      http_date());
    if (head->type)
        write_field(out, STR("Content-Type"), wt__str(head->type));
    wt__buffer_text(out, "X-Content-Type-Options: nosniff\r\n");
    if (head->common)
        write_fields(out, head->common->items, head->common->count);
    write_fields(out, head->fields, head->field_count);
    if (head->body == HTTP_BODY_LENGTH)
        wt__buffer_printf(out, "Content-Length: %zu\r\n", head->length);
    if (head->body == HTTP_BODY_CHUNKED)
        wt__buffer_text(out, "Transfer-Encoding: chunked\r\n");
    if (head->close || head->body == HTTP_BODY_CLOSE)
        wt__buffer_text(out, "Connection: close\r\n");
    wt__buffer_append(out, "\r\n", 2);
}

void wt__http_write_error(struct buffer *out, int status, const char *message)
{
    const struct status_text *known = find_status(status);
    wt__buffer_printf(out, "{\"error\":{\"code\":\"%s\",\"message\":", known->code);
    wt__buffer_json(out, wt__str(message ? message : known->message));
    wt__buffer_text(out, "}}\n");
}

/* ---------------------------------------------------------------- exchanges */

enum { HEAD_BYTES = 512 }; /* typical upper bound of a head */

struct http_exchange *wt__exchange_new(struct mailbox *mailbox, struct http_message *message, bool http_1_0,
                                       const struct http_fields *common)
{
    struct http_exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    atomic_fetch_add(&mailbox->holders, 1);
    exchange->mailbox = mailbox;
    exchange->message = message;
    exchange->http_1_0 = http_1_0;
    exchange->common = *common;
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

struct http_exchange *wt__exchange_from_letter(struct letter *letter)
{
    struct http_exchange *exchange = (struct http_exchange *)letter;
    pthread_mutex_lock(&exchange->lock);
    exchange->posted = false;
    pthread_mutex_unlock(&exchange->lock);
    return exchange;
}

const struct http_request *wt__http_request(const struct http_exchange *exchange)
{
    return &exchange->message->request;
}

void *wt__http_note(const struct http_exchange *exchange)
{
    return exchange->message->note.bytes;
}

/* Releases the lock and posts the letter, unless it is already posted or the client is gone. Requires the lock. */
static void unlock_and_post(struct http_exchange *exchange)
{
    bool post = !exchange->posted && !exchange->gone;
    if (post) {
        exchange->posted = true;
        atomic_fetch_add(&exchange->references, 1);
    }
    pthread_mutex_unlock(&exchange->lock);
    if (post && !post_letter(exchange->mailbox, &exchange->letter))
        atomic_fetch_sub(&exchange->references, 1); /* never the last reference, because the caller has one */
}

void wt__exchange_take_output(struct http_exchange *exchange, struct exchange_output *news)
{
    pthread_mutex_lock(&exchange->lock);
    *news = (struct exchange_output){.bytes = exchange->bytes,
                                     .ended = exchange->ended,
                                     .broken = exchange->broken || exchange->bytes.failed,
                                     .closes = exchange->closes};
    exchange->bytes = (struct buffer){0};
    atomic_store(&exchange->unsent, atomic_load(&exchange->unsent) + news->bytes.len);
    pthread_mutex_unlock(&exchange->lock);
}

/* Waits until a running on_gone callback returns. Does not wait when called by the callback itself. Requires the
 * lock. */
static void wait_for_callback(struct http_exchange *exchange)
{
    while (exchange->calling && !pthread_equal(exchange->caller, pthread_self()))
        pthread_cond_wait(&exchange->called, &exchange->lock);
}

void wt__exchange_client_gone(struct http_exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
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

/* Marks the answer as ended, and waits until a running on_gone callback returns. Requires the lock. */
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
    head->close = !exchange->message->request.keep_alive || atomic_load(&exchange->mailbox->draining);
    wt__http_write_head(out, head);
}

/* Marks the answer as begun and moves the bytes into the exchange. Requires the lock. */
static void begin_answer(struct http_exchange *exchange, const struct http_answer_head *head, struct buffer *bytes)
{
    exchange->begun = true;
    exchange->closes = head->close || head->body == HTTP_BODY_CLOSE;
    exchange->status = head->status;
    exchange->bytes = *bytes;
    *bytes = (struct buffer){0};
}

/* Sends a complete answer, unless an answer has begun or the client is gone. */
static void send_complete_answer(struct http_exchange *exchange, struct http_answer_head *head, struct str body)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
    head->body = may_have_body(head->status) ? HTTP_BODY_LENGTH : HTTP_BODY_NONE;
    head->length = body.len;
    if (head->body == HTTP_BODY_NONE)
        head->type = NULL;
    if (head->body == HTTP_BODY_NONE || is_head(exchange))
        body.len = 0;
    wt__buffer_reserve(&bytes, HEAD_BYTES + body.len);
    write_head(exchange, &bytes, head);
    wt__buffer_str(&bytes, body);
    pthread_mutex_lock(&exchange->lock);
    if (exchange->begun || exchange->ended) {
        wait_for_callback(exchange);
        pthread_mutex_unlock(&exchange->lock);
    } else if (exchange->gone) {
        end_answer(exchange);
        pthread_mutex_unlock(&exchange->lock);
    } else {
        begin_answer(exchange, head, &bytes);
        exchange->body_bytes = body.len;
        end_answer(exchange);
        unlock_and_post(exchange);
    }
}

void wt__http_answer(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count, struct str body)
{
    struct http_answer_head head = {.status = status, .type = type, .fields = fields, .field_count = field_count};
    send_complete_answer(exchange, &head, body);
}

void wt__exchange_answer_overload(struct http_exchange *exchange, const char *message)
{
    static const struct http_field later = {{"Retry-After", 11}, {"1", 1}};
    struct http_answer_head head = {.status = 503, .type = "application/json", .fields = &later, .field_count = 1};
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    wt__http_write_error(&body, 503, message);
    send_complete_answer(exchange, &head, wt__buffer_view(&body));
}

void wt__http_stream(struct http_exchange *exchange, int status, const char *type, const struct http_field *fields,
                     size_t field_count)
{
    bool has_body = may_have_body(status);
    enum http_answer_body body = !has_body ? HTTP_BODY_NONE : exchange->http_1_0 ? HTTP_BODY_CLOSE : HTTP_BODY_CHUNKED;
    struct http_answer_head head = {
        .status = status, .type = has_body ? type : NULL, .fields = fields, .field_count = field_count, .body = body};
    WT_CLEANUP(wt__buffer_dispose) struct buffer bytes = {0};
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
    exchange->body_bytes += piece.len;
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
        if (exchange->gone) /* the client was gone before the answer began */
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

/* Ends an unfinished answer: cuts off a stream, or answers 500 if no answer has begun. */
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
        WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
        wt__http_write_error(&body, 500, NULL);
        wt__http_answer(exchange, 500, "application/json", NULL, 0, wt__buffer_view(&body));
    }
}

void wt__http_release(struct http_exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->holders, 1) > 1)
        return;
    end_unfinished(exchange);
    wt__exchange_drop(exchange);
}
