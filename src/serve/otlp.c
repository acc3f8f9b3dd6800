/* otlp.c: writes spans as OTLP in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding), and sends
 * them from a thread of its own.
 *
 * The queue is a ring with one writer, the loop of the HTTP server, and one reader, the thread. The writer fills the
 * place `head` and then moves `head`; the reader moves `tail` when it has written the requests of a batch as JSON. The
 * lock guards only the sleep of the thread. */
#include "serve/otlp.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/progress.h"

/* ---------------------------------------------------------------- JSON */

/* Kinds of spans and codes of statuses in OTLP. */
enum { SPAN_INTERNAL = 1, SPAN_SERVER = 2, SPAN_CLIENT = 3, STATUS_ERROR = 2, FLAG_SAMPLED = 1 };

/* Appends an attribute, after a comma unless it is the first. */
static void put_text_attribute(struct buffer *out, const char *key, struct str value)
{
    wt__buffer_text(out, out->len > 0 && out->ptr[out->len - 1] == '[' ? "{\"key\":" : ",{\"key\":");
    wt__buffer_json(out, wt__str(key));
    wt__buffer_text(out, ",\"value\":{\"stringValue\":");
    wt__buffer_json(out, value);
    wt__buffer_text(out, "}}");
}

/* Appends the attribute unless its text is NULL or empty. */
static void put_known_attribute(struct buffer *out, const char *key, const char *value)
{
    if (value && *value)
        put_text_attribute(out, key, wt__str(value));
}

static void put_number_attribute(struct buffer *out, const char *key, uint64_t value)
{
    wt__buffer_text(out, out->len > 0 && out->ptr[out->len - 1] == '[' ? "{\"key\":" : ",{\"key\":");
    wt__buffer_json(out, wt__str(key));
    wt__buffer_printf(out, ",\"value\":{\"intValue\":\"%llu\"}}", (unsigned long long)value);
}

/* Appends the members from traceId to the opening bracket of the attributes. */
static void put_span_start(struct buffer *out, const struct otlp_request *request, uint64_t id, uint64_t parent,
                           int kind, double begun_ms, double ended_ms, double clock_ms)
{
    char trace[TRACE_ID_BYTES];
    wt__trace_id_format(trace, &request->context);
    wt__buffer_printf(out, "{\"traceId\":\"%s\",\"spanId\":\"%016llx\",", trace, (unsigned long long)id);
    if (parent != 0)
        wt__buffer_printf(out, "\"parentSpanId\":\"%016llx\",", (unsigned long long)parent);
    wt__buffer_printf(
        out, "\"flags\":%d,\"kind\":%d,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\",\"attributes\":[",
        FLAG_SAMPLED, kind, (unsigned long long)((clock_ms + begun_ms) * 1e6),
        (unsigned long long)((clock_ms + fmax(begun_ms, ended_ms)) * 1e6));
}

/* Appends the end of a span after its attributes, up to the end of its name. */
static void put_span_end(struct buffer *out, bool failed, struct str name, struct str more)
{
    wt__buffer_char(out, ']');
    if (failed)
        wt__buffer_printf(out, ",\"status\":{\"code\":%d}", STATUS_ERROR);
    wt__buffer_text(out, ",\"name\":");
    if (more.len == 0) {
        wt__buffer_json(out, name);
    } else {
        WT_CLEANUP(wt__buffer_dispose) struct buffer both = {0};
        wt__buffer_str(&both, name);
        wt__buffer_char(&both, ' ');
        wt__buffer_str(&both, more);
        wt__buffer_json(out, wt__buffer_view(&both));
        out->failed |= both.failed;
    }
    wt__buffer_char(out, '}');
}

/* Returns the address without its port and brackets. */
static struct str client_address(const char *peer)
{
    const char *colon = strrchr(peer, ':');
    struct str address = {peer, colon ? (size_t)(colon - peer) : strlen(peer)};
    bool brackets = address.len > 2 && peer[0] == '[' && peer[address.len - 1] == ']';
    return brackets ? (struct str){peer + 1, address.len - 2} : address;
}

static void put_server_span(struct buffer *out, const struct otlp_request *request, double clock_ms)
{
    bool failed = request->status >= 500;
    put_span_start(out, request, request->span, request->context.parent, SPAN_SERVER, request->begun_ms,
                   request->ended_ms, clock_ms);
    put_text_attribute(out, "http.request.method", wt__str(request->method));
    put_text_attribute(out, "url.path", wt__str(request->path));
    put_text_attribute(out, "url.scheme", STR("http"));
    put_known_attribute(out, "http.route", request->route);
    if (request->status > 0)
        put_number_attribute(out, "http.response.status_code", (uint64_t)request->status);
    put_number_attribute(out, "http.response.body.size", request->bytes);
    put_text_attribute(out, "client.address", client_address(request->peer));
    if (failed || request->status == 0) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer type = {0};
        wt__buffer_printf(&type, "%d", request->status);
        put_text_attribute(out, "error.type",
                           request->status > 0 ? wt__buffer_view(&type) : STR("client_disconnected"));
    }
    put_known_attribute(out, "mcp.method.name", request->mcp_method);
    put_text_attribute(out, "whichtool.request_id", wt__str(request->request_id));
    put_known_attribute(out, "whichtool.key", request->key);
    put_number_attribute(out, "whichtool.queue_us", request->queue_ms > 0 ? (uint64_t)(request->queue_ms * 1000) : 0);
    put_known_attribute(out, "whichtool.request", request->text);
    put_span_end(out, failed, wt__str(request->method), wt__str(request->route ? request->route : ""));
}

static void put_stage_span(struct buffer *out, const struct otlp_request *request, const struct trace_span *span,
                           double clock_ms)
{
    bool is_upstream = span->stage == TRACE_UPSTREAM;
    put_span_start(out, request, span->id, request->span, is_upstream ? SPAN_CLIENT : SPAN_INTERNAL, span->begun_ms,
                   span->ended_ms, clock_ms);
    put_known_attribute(out, "whichtool.upstream", span->server);
    put_span_end(out, span->failed, wt__str(wt__trace_stage_word(span->stage)), wt__str(span->server));
}

static void put_resource(struct buffer *out, const struct otlp_settings *settings)
{
    wt__buffer_text(out, "{\"attributes\":[");
    put_text_attribute(out, "service.name", wt__str(settings->service));
    put_text_attribute(out, "service.version", wt__str(wt_version()));
    put_text_attribute(out, "telemetry.sdk.language", STR("c"));
    put_text_attribute(out, "telemetry.sdk.name", STR("whichtool"));
    put_text_attribute(out, "telemetry.sdk.version", wt__str(wt_version()));
    for (size_t i = 0; i < settings->attribute_count; i++)
        put_text_attribute(out, settings->attributes[i].key, wt__str(settings->attributes[i].value));
    wt__buffer_text(out, "]}");
}

static void begin_otlp_body(struct buffer *out, const struct otlp_settings *settings)
{
    wt__buffer_text(out, "{\"resourceSpans\":[{\"resource\":");
    put_resource(out, settings);
    wt__buffer_text(out, ",\"scopeSpans\":[{\"scope\":{\"name\":\"whichtool\",\"version\":");
    wt__buffer_json(out, wt__str(wt_version()));
    wt__buffer_text(out, "},\"spans\":[");
}

static void put_request_spans(struct buffer *out, const struct otlp_request *request, double clock_ms)
{
    put_server_span(out, request, clock_ms);
    for (size_t i = 0; i < request->span_count; i++) {
        wt__buffer_char(out, ',');
        put_stage_span(out, request, &request->spans[i], clock_ms);
    }
}

static void end_body(struct buffer *out)
{
    wt__buffer_text(out, "]}]}]}");
}

void wt__otlp_write(struct buffer *out, const struct otlp_settings *settings, const struct otlp_request *requests,
                    size_t count, double clock_ms)
{
    begin_otlp_body(out, settings);
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(out, i > 0 ? "," : "");
        put_request_spans(out, &requests[i], clock_ms);
    }
    end_body(out);
}

/* ---------------------------------------------------------------- the thread */

struct otlp {
    const struct otlp_settings *settings;
    void (*say)(void *context, const char *message);
    void *say_context;
    struct http_session *session;
    pthread_t thread;
    bool has_thread;
    bool is_failing; /* the last batch could not be sent; used by the thread only */
    double close_ms; /* end of the time to send the rest, on the clock of wt__now_ms; valid once closing */
    atomic_bool closing;
    atomic_size_t head, tail; /* numbers of requests that were queued and taken; see the top of this file */
    atomic_uint_fast64_t exported, full, failed, rejected;
    pthread_mutex_t lock; /* guards the sleep of the thread */
    pthread_cond_t wake;
    struct otlp_request queue[OTLP_QUEUE_MAX];
};

static struct otlp_request *place_at(struct otlp *otlp, size_t number)
{
    return &otlp->queue[number % OTLP_QUEUE_MAX];
}

static size_t waiting_requests(const struct otlp *otlp)
{
    return atomic_load(&otlp->head) - atomic_load(&otlp->tail);
}

void wt__otlp_push(struct otlp *otlp, const struct otlp_request *request)
{
    size_t head = atomic_load(&otlp->head);
    if (waiting_requests(otlp) >= OTLP_QUEUE_MAX) {
        atomic_fetch_add(&otlp->full, 1 + request->span_count);
        free(request->text);
        return;
    }
    *place_at(otlp, head) = *request;
    atomic_store(&otlp->head, head + 1);
    /* Counted after the store, because the thread may have emptied the queue meanwhile. */
    size_t waiting = waiting_requests(otlp);
    if (waiting == 1 || waiting == OTLP_BATCH_MAX) {
        pthread_mutex_lock(&otlp->lock);
        pthread_cond_signal(&otlp->wake);
        pthread_mutex_unlock(&otlp->lock);
    }
}

/* Waits until a batch is full, or old enough, or the exporter closes. */
static void wait_for_batch(struct otlp *otlp)
{
    double until = INFINITY;
    pthread_mutex_lock(&otlp->lock);
    while (!atomic_load(&otlp->closing) && waiting_requests(otlp) < OTLP_BATCH_MAX && wt__now_ms() < until) {
        if (isinf(until) && waiting_requests(otlp) > 0)
            until = wt__now_ms() + OTLP_EVERY_MS;
        if (isinf(until))
            pthread_cond_wait(&otlp->wake, &otlp->lock);
        else
            wt__steady_wait(&otlp->wake, &otlp->lock, until);
    }
    pthread_mutex_unlock(&otlp->lock);
}

/* Writes the next requests of the queue as a body, and frees their places. Returns the number of their spans. */
static size_t take_batch(struct otlp *otlp, struct buffer *body)
{
    struct timespec now;
    size_t tail = atomic_load(&otlp->tail), count = waiting_requests(otlp), spans = 0;
    if (count > OTLP_BATCH_MAX)
        count = OTLP_BATCH_MAX;
    clock_gettime(CLOCK_REALTIME, &now);
    double clock_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 - wt__now_ms();
    begin_otlp_body(body, otlp->settings);
    for (size_t i = 0; i < count; i++) {
        struct otlp_request *request = place_at(otlp, tail + i);
        wt__buffer_text(body, i > 0 ? "," : "");
        put_request_spans(body, request, clock_ms);
        spans += 1 + request->span_count;
        free(request->text);
    }
    end_body(body);
    atomic_store(&otlp->tail, tail + count);
    return spans;
}

/* A wt_progress_fn that gives up once the time to close is over. */
static int give_up_late(void *context, const char *phase, uint64_t done, uint64_t total)
{
    const struct otlp *otlp = context;
    (void)phase, (void)done, (void)total;
    return atomic_load(&otlp->closing) && wt__now_ms() > otlp->close_ms;
}

/* Returns the number of spans that the collector refused, from its answer. */
static uint64_t count_rejected(const struct http_answer *answer)
{
    json_auto_t *tree = NULL;
    if (answer->body.len == 0 || wt__json_parse(&tree, answer->body.ptr, answer->body.len, NULL) < 0)
        return 0;
    const json_t *rejected = json_object_get(json_object_get(tree, "partialSuccess"), "rejectedSpans");
    if (json_is_string(rejected)) /* the JSON form of a 64-bit number */
        return strtoull(json_string_value(rejected), NULL, 10);
    return json_is_integer(rejected) && json_integer_value(rejected) > 0 ? (uint64_t)json_integer_value(rejected) : 0;
}

/* Sends a body once. Returns 0, or an error; *pause_ms is then the pause before the next attempt, or 0 if another
 * attempt would fail, too. */
static int post_batch(struct otlp *otlp, struct str body, uint64_t *rejected, double *pause_ms, wt_error *err)
{
    const struct otlp_settings *settings = otlp->settings;
    struct http_answer answer = {0};
    struct progress progress;
    wt__progress_init(&progress, give_up_late, otlp);
    const struct http_post post = {.url = settings->url,
                                   .shown = "the OTLP endpoint",
                                   .headers = settings->headers,
                                   .header_count = settings->header_count,
                                   .body = body,
                                   .connect_ms = settings->timeout_ms,
                                   .total_ms = settings->timeout_ms,
                                   .stall_ms = settings->timeout_ms,
                                   .progress = &progress};
    int rc = wt__http_post(otlp->session, &post, &answer, err);
    wt__progress_dispose(&progress);
    bool may_retry = rc < 0 && answer.may_retry;
    if (rc == 0 && answer.status / 100 == 2) {
        *rejected = count_rejected(&answer);
    } else if (rc == 0) {
        static const int temporary[] = {429, 502, 503, 504}; /* as the specification lists them */
        for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++)
            may_retry |= answer.status == temporary[i];
        rc = wt__fail(err, WT_ENETWORK, "the OTLP endpoint answered with status %d", answer.status);
    }
    *pause_ms = !may_retry                  ? 0
                : answer.retry_after_ms > 0 ? fmin(answer.retry_after_ms, OTLP_PAUSE_MS_MAX)
                                            : OTLP_PAUSE_MS;
    wt__buffer_dispose(&answer.body);
    return rc;
}

/* Waits before another attempt. Returns false if the exporter is closing. */
static bool pause_export(struct otlp *otlp, double ms)
{
    double until = wt__now_ms() + ms;
    pthread_mutex_lock(&otlp->lock);
    while (!atomic_load(&otlp->closing) && wt__now_ms() < until)
        wt__steady_wait(&otlp->wake, &otlp->lock, until);
    pthread_mutex_unlock(&otlp->lock);
    return !atomic_load(&otlp->closing);
}

/* Reports the first failure, and the first success after failures. */
static void report_export(struct otlp *otlp, int rc, const wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    if (otlp->is_failing == (rc < 0))
        return;
    otlp->is_failing = rc < 0;
    if (rc < 0)
        wt__buffer_printf(&message, "cannot export traces: %s; spans are dropped until the collector answers",
                          err->message);
    else
        wt__buffer_text(&message, "exporting traces again");
    if (otlp->say && !message.failed)
        otlp->say(otlp->say_context, message.ptr);
}

static void send_batch(struct otlp *otlp)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer body = {0};
    wt_error err = {0};
    uint64_t rejected = 0;
    double pause_ms = 0, factor = 1;
    size_t spans = take_batch(otlp, &body);
    int rc = body.failed ? wt__fail_nomem(&err) : -1;
    for (int attempt = 1; !body.failed && attempt <= OTLP_ATTEMPTS_MAX; attempt++, factor *= 2) {
        rc = post_batch(otlp, wt__buffer_view(&body), &rejected, &pause_ms, &err);
        report_export(otlp, rc, &err);
        if (rc == 0 || pause_ms == 0 || attempt == OTLP_ATTEMPTS_MAX ||
            !pause_export(otlp, fmin(pause_ms * factor, OTLP_PAUSE_MS_MAX)))
            break;
    }
    if (rejected > spans)
        rejected = spans;
    atomic_fetch_add(rc == 0 ? &otlp->exported : &otlp->failed, spans - rejected);
    atomic_fetch_add(&otlp->rejected, rejected);
}

static void *run_export(void *context)
{
    struct otlp *otlp = context;
    for (;;) {
        wait_for_batch(otlp);
        bool closing = atomic_load(&otlp->closing);
        if (closing && (waiting_requests(otlp) == 0 || wt__now_ms() > otlp->close_ms))
            return NULL;
        send_batch(otlp);
    }
}

int wt__otlp_open(struct otlp **out, const struct otlp_settings *settings,
                  void (*say)(void *context, const char *message), void *say_context, wt_error *err)
{
    *out = NULL;
    struct otlp *otlp = calloc(1, sizeof *otlp);
    WT_CHECK_ALLOC(otlp, err);
    otlp->settings = settings;
    otlp->say = say;
    otlp->say_context = say_context;
    pthread_mutex_init(&otlp->lock, NULL);
    wt__steady_open(&otlp->wake);
    int rc = wt__http_session_open(&otlp->session, err);
    if (rc == 0) {
        otlp->has_thread = pthread_create(&otlp->thread, NULL, run_export, otlp) == 0;
        rc = otlp->has_thread ? 0 : wt__fail(err, WT_EIO, "cannot start a thread to export traces");
    }
    if (rc < 0)
        wt__otlp_close(otlp);
    else
        *out = otlp;
    return rc;
}

void wt__otlp_read_figures(const struct otlp *otlp, struct otlp_figures *out)
{
    *out = (struct otlp_figures){.exported = atomic_load(&otlp->exported),
                                 .full = atomic_load(&otlp->full),
                                 .failed = atomic_load(&otlp->failed),
                                 .rejected = atomic_load(&otlp->rejected),
                                 .waiting = waiting_requests(otlp)};
}

void wt__otlp_close(struct otlp *otlp)
{
    if (!otlp)
        return;
    pthread_mutex_lock(&otlp->lock);
    otlp->close_ms = wt__now_ms() + OTLP_CLOSE_MS;
    atomic_store(&otlp->closing, true);
    pthread_cond_broadcast(&otlp->wake);
    pthread_mutex_unlock(&otlp->lock);
    if (otlp->has_thread)
        pthread_join(otlp->thread, NULL);
    for (size_t i = atomic_load(&otlp->tail); i < atomic_load(&otlp->head); i++)
        free(place_at(otlp, i)->text);
    wt__http_session_close(otlp->session);
    pthread_mutex_destroy(&otlp->lock);
    pthread_cond_destroy(&otlp->wake);
    free(otlp);
}
