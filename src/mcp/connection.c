/* connection.c: begins, waits for, cancels and ends exchanges (connection.h). connection_dispatch.c passes the server's
 * messages to exchanges. connection_open.c opens and closes connections.
 *
 * An exchange is in the connection's list while it is running. It leaves the list when it is answered, fails or is
 * cancelled, or when the connection ends. After an answer or a lost connection, the caller can still take the queued
 * events. After a cancellation or a timeout, they are dropped. */
#include "mcp/connection.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "mcp/internal.h"

enum { SLICE_MS = 50 /* interval of checks for cancellation */ };

/* ---------------------------------------------------------------- running exchanges */

struct mcp_exchange *wt__mcp_connection_find(struct mcp_connection *connection, int64_t id)
{
    struct mcp_exchange *exchange = connection->newest;
    while (exchange && exchange->id != id)
        exchange = exchange->older;
    return exchange;
}

void wt__mcp_exchange_finish(struct mcp_exchange *exchange)
{
    struct mcp_connection *connection = exchange->connection;
    if (!exchange->is_running)
        return;
    exchange->is_running = false;
    connection->running_count--;
    *(exchange->newer ? &exchange->newer->older : &connection->newest) = exchange->older;
    if (exchange->older)
        exchange->older->newer = exchange->newer;
    pthread_cond_broadcast(&exchange->changed);
}

void wt__mcp_exchange_fail(struct mcp_exchange *exchange, const wt_error *why)
{
    if (!exchange->is_running)
        return;
    exchange->rc = why->code;
    exchange->why = *why;
    wt__mcp_exchange_finish(exchange);
}

struct mcp_link *wt__mcp_link_acquire(struct mcp_connection *connection)
{
    if (!connection->link || connection->is_closing || connection->is_lost)
        return NULL;
    connection->users++;
    return connection->link;
}

void wt__mcp_link_release(struct mcp_connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    connection->users--;
    pthread_cond_broadcast(&connection->left);
    pthread_mutex_unlock(&connection->lock);
}

int wt__mcp_connection_fail_lost(const struct mcp_connection *connection, const char *method, wt_error *err)
{
    if (connection->is_lost && connection->program_ended)
        return wt__fail(err, WT_ENETWORK, "%s ended before it answered `%s`", connection->shown, method);
    if (!connection->is_lost)
        return wt__fail(err, WT_ENETWORK, "the connection to %s was ended", connection->shown);
    if (err)
        *err = connection->why;
    return connection->why.code;
}

static struct mcp_open_question *take_questions(struct mcp_exchange *exchange)
{
    struct mcp_open_question *questions = exchange->questions;
    exchange->questions = NULL;
    exchange->question_count = 0;
    return questions;
}

static void free_questions(struct mcp_open_question *questions)
{
    for (struct mcp_open_question *next; questions; questions = next) {
        next = questions->next;
        free(questions);
    }
}

static void free_item(struct mcp_event_item *item)
{
    if (!item)
        return;
    wt__buffer_dispose(&item->text);
    free(item);
}

static void free_exchange(struct mcp_exchange *exchange)
{
    for (struct mcp_event_item *item = exchange->first, *next; item; item = next) {
        next = item->next;
        free_item(item);
    }
    free_item(exchange->current);
    free_questions(exchange->questions);
    pthread_cond_destroy(&exchange->changed);
    free(exchange->method);
    free(exchange->principal);
    free(exchange);
}

/* ---------------------------------------------------------------- begin */

static int make_exchange(struct mcp_exchange **out, struct mcp_connection *connection,
                         const struct mcp_request *request, wt_error *err)
{
    const char *principal = request->principal;
    struct mcp_exchange *exchange = calloc(1, sizeof *exchange);
    *out = NULL;
    WT_CHECK_ALLOC(exchange, err);
    wt__steady_open(&exchange->changed);
    exchange->connection = connection;
    exchange->wants_progress = request->progress;
    exchange->timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : MCP_REQUEST_MS;
    exchange->method = wt__copy_string(request->method, strlen(request->method));
    exchange->principal = principal ? wt__copy_string(principal, strlen(principal)) : NULL;
    if (!exchange->method || (principal && !exchange->principal)) {
        free_exchange(exchange);
        return wt__fail_nomem(err);
    }
    *out = exchange;
    return 0;
}

/* Gives the exchange an id and adds it to the list. Sets *link to the acquired link, which the caller releases. */
static int enlist_exchange(struct mcp_exchange *exchange, struct mcp_link **link, wt_error *err)
{
    struct mcp_connection *connection = exchange->connection;
    int rc = 0;
    pthread_mutex_lock(&connection->lock);
    *link = connection->running_count < MCP_EXCHANGES_MAX ? wt__mcp_link_acquire(connection) : NULL;
    if (connection->running_count >= MCP_EXCHANGES_MAX) {
        rc = wt__fail(err, WT_EFULL, "%s has %d requests running already; try again later", connection->shown,
                      MCP_EXCHANGES_MAX);
    } else if (!*link) {
        rc = wt__mcp_connection_fail_lost(connection, exchange->method, err);
    } else {
        exchange->id = ++connection->last_id;
        exchange->last_message_ms = wt__now_ms();
        exchange->is_running = exchange->was_sent = true;
        exchange->older = connection->newest;
        if (exchange->older)
            exchange->older->newer = exchange;
        connection->newest = exchange;
        connection->running_count++;
        connection->references++;
    }
    pthread_mutex_unlock(&connection->lock);
    return rc;
}

/* Writes the request and sends it over the link. */
static int send_request(struct mcp_exchange *exchange, struct mcp_link *link, const struct mcp_request *request,
                        bool modern, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {.max = MCP_SENT_BYTES_MAX};
    const struct mcp_meta meta = {.modern = modern,
                                  .capabilities = request->capabilities,
                                  .log_level = request->log_level,
                                  .progress = request->progress,
                                  .more = request->meta};
    size_t least = request->params.len + request->meta.len + request->capabilities.len;
    wt__mcp_write_request(&text, exchange->id, request->method, request->params, &meta);
    if (text.failed && least >= MCP_SENT_BYTES_MAX / 2)
        return wt__fail(err, WT_ETOOLONG, "the request is larger than %d MB", MCP_SENT_BYTES_MAX >> 20);
    if (text.failed)
        return wt__fail_nomem(err);
    const struct mcp_outgoing outgoing = {.id = exchange->id,
                                          .method = request->method,
                                          .text = wt__buffer_view(&text),
                                          .name = request->name,
                                          .headers = request->headers,
                                          .header_count = request->header_count,
                                          .passed = request->passed,
                                          .passed_count = request->passed_count};
    return link->send_request(link, &outgoing, err);
}

int wt__mcp_exchange_begin(struct mcp_exchange **out, struct mcp_connection *connection,
                           const struct mcp_request *request, wt_error *err)
{
    struct mcp_exchange *exchange;
    struct mcp_link *link;
    *out = NULL;
    WT_TRY(make_exchange(&exchange, connection, request, err));
    int rc = enlist_exchange(exchange, &link, err);
    if (rc < 0) {
        free_exchange(exchange);
        return rc;
    }
    rc = send_request(exchange, link, request, connection->era == MCP_ERA_MODERN, err);
    if (rc < 0 && err)
        wt__mcp_hide_secrets(err->message, sizeof err->message, connection->server);
    pthread_mutex_lock(&connection->lock);
    if (rc < 0)
        wt__mcp_exchange_finish(exchange);
    pthread_mutex_unlock(&connection->lock);
    wt__mcp_link_release(connection);
    if (rc < 0)
        wt__mcp_exchange_end(exchange);
    else
        *out = exchange;
    return rc;
}

/* ---------------------------------------------------------------- cancel and end */

/* Notifies the server that the request is cancelled, and refuses its open questions. */
static void notify_cancelled(struct mcp_exchange *exchange, struct mcp_link *link, struct mcp_open_question *questions)
{
    char params[96];
    WT_CLEANUP(wt__buffer_dispose) struct buffer notice = {0};
    /* The specification forbids cancelling the requests that open a connection. */
    bool opens = strcmp(exchange->method, "initialize") == 0 || strcmp(exchange->method, "server/discover") == 0;
    snprintf(params, sizeof params, "\"requestId\":%" PRId64 ",\"reason\":\"the answer is no longer needed\"",
             exchange->id);
    if (!opens)
        wt__mcp_write_notification(&notice, "notifications/cancelled", wt__str(params));
    link->cancel_request(link, exchange->id, notice.failed ? (struct str){"", 0} : wt__buffer_view(&notice));
    for (const struct mcp_open_question *question = questions; question; question = question->next) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer refusal = {0};
        wt__mcp_write_response(&refusal, question->id, STR(""),
                               STR("{\"code\":-32603,\"message\":\"the request was cancelled\"}"));
        if (!refusal.failed && refusal.len > 0)
            link->send_message(link, wt__buffer_view(&refusal), NULL);
    }
}

/* Fails the exchange if it is running, and notifies the server. */
static void abort_exchange(struct mcp_exchange *exchange, const wt_error *why)
{
    struct mcp_connection *connection = exchange->connection;
    struct mcp_link *link = NULL;
    struct mcp_open_question *questions = NULL;
    pthread_mutex_lock(&connection->lock);
    if (exchange->is_running) {
        wt__mcp_exchange_fail(exchange, why);
        questions = take_questions(exchange);
        link = wt__mcp_link_acquire(connection);
    }
    pthread_mutex_unlock(&connection->lock);
    if (link) {
        notify_cancelled(exchange, link, questions);
        wt__mcp_link_release(connection);
    }
    free_questions(questions);
}

void wt__mcp_exchange_cancel(struct mcp_exchange *exchange)
{
    wt_error why;
    wt__fail_cancelled(&why);
    abort_exchange(exchange, &why);
}

void wt__mcp_connection_release(struct mcp_connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    bool last = --connection->references == 0;
    pthread_mutex_unlock(&connection->lock);
    if (!last)
        return;
    pthread_cond_destroy(&connection->left);
    pthread_mutex_destroy(&connection->lock);
    wt__buffer_dispose(&connection->self);
    wt__arena_dispose(&connection->arena);
    free(connection);
}

void wt__mcp_exchange_end(struct mcp_exchange *exchange)
{
    if (!exchange)
        return;
    struct mcp_connection *connection = exchange->connection;
    wt__mcp_exchange_cancel(exchange);
    free_exchange(exchange);
    wt__mcp_connection_release(connection);
}

/* ---------------------------------------------------------------- waiting */

/* Takes the next event; the caller holds the lock. Returns 1 if there is an event, or 0 if the queue is empty and the
 * exchange is running. Otherwise returns the error that ended the exchange. */
static int take_next_event(struct mcp_exchange *exchange, struct mcp_event *out, wt_error *err)
{
    struct mcp_event_item *item = exchange->first;
    free_item(exchange->current);
    exchange->current = NULL;
    if (item && exchange->rc != WT_ECANCELLED && exchange->rc != WT_ETIMEOUT) {
        exchange->first = item->next;
        exchange->last = item->next ? exchange->last : NULL;
        exchange->waiting_bytes -= item->text.len + sizeof *item;
        exchange->current = item;
        *out = item->event;
        return 1;
    }
    if (exchange->is_running)
        return 0;
    if (exchange->rc == 0)
        return wt__fail(err, WT_EINVAL, "the request has been answered already");
    if (err)
        *err = exchange->why;
    return exchange->rc;
}

/* Returns the time until which the thread may wait for an event; 0 if the timeout is over or the caller gives up. With
 * progress, the wait is at most SLICE_MS long. give_up_ms: time at which the caller gives up. All times are by
 * wt__now_ms. The caller holds the lock. */
static double wait_limit(const struct mcp_exchange *exchange, const struct progress *progress, double give_up_ms)
{
    double now = wt__now_ms(), until = exchange->last_message_ms + exchange->timeout_ms;
    if (exchange->question_count > 0) /* the server waits for us */
        until = now + MCP_REQUEST_MS;
    if (give_up_ms < until)
        until = give_up_ms;
    if (now >= until)
        return 0;
    return progress && until > now + SLICE_MS ? now + SLICE_MS : until;
}

int wt__mcp_exchange_wait(struct mcp_exchange *exchange, struct mcp_event *out, struct progress *progress,
                          unsigned patience_ms, wt_error *err)
{
    struct mcp_connection *connection = exchange->connection;
    double until = 1, give_up_ms = patience_ms > 0 ? wt__now_ms() + patience_ms : HUGE_VAL;
    bool stop = false;
    int rc;
    pthread_mutex_lock(&connection->lock);
    while ((rc = take_next_event(exchange, out, err)) == 0 && !stop) {
        until = wait_limit(exchange, progress, give_up_ms);
        if (until == 0)
            break;
        wt__steady_wait(&exchange->changed, &exchange->connection->lock, until);
        pthread_mutex_unlock(&connection->lock);
        stop = wt__progress_step(progress, 0);
        pthread_mutex_lock(&connection->lock);
    }
    pthread_mutex_unlock(&connection->lock);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    wt_error why;
    rc = stop ? wt__fail_cancelled(&why)
              : wt__fail(&why, WT_ETIMEOUT, "no answer came within %.3g s", exchange->timeout_ms / 1000.0);
    if (stop || wt__now_ms() < give_up_ms)
        abort_exchange(exchange, &why);
    if (err)
        *err = why;
    return rc;
}

int wt__mcp_exchange_next(struct mcp_exchange *exchange, struct mcp_event *out, wt_error *err)
{
    return wt__mcp_exchange_wait(exchange, out, NULL, 0, err);
}

bool wt__mcp_exchange_was_sent(const struct mcp_exchange *exchange)
{
    struct mcp_connection *connection = exchange->connection;
    pthread_mutex_lock(&connection->lock);
    bool sent = exchange->was_sent;
    pthread_mutex_unlock(&connection->lock);
    return sent;
}

/* ---------------------------------------------------------------- replies */

/* Sends a reply. */
static int send_text(struct mcp_connection *connection, const struct buffer *text, wt_error *err)
{
    pthread_mutex_lock(&connection->lock);
    struct mcp_link *link = wt__mcp_link_acquire(connection);
    pthread_mutex_unlock(&connection->lock);
    int rc = !link          ? wt__fail(err, WT_ENETWORK, "the connection to %s is closed", connection->shown)
             : text->failed ? wt__fail_nomem(err)
                            : link->send_message(link, wt__buffer_view(text), err);
    if (link)
        wt__mcp_link_release(connection);
    return rc;
}

/* Removes an open question; the caller holds the lock. True if it was open. */
static bool remove_question(struct mcp_exchange *exchange, struct str id)
{
    for (struct mcp_open_question **at = &exchange->questions; *at; at = &(*at)->next) {
        struct mcp_open_question *question = *at;
        if (!wt__str_equal(question->id, id))
            continue;
        *at = question->next;
        exchange->question_count--;
        exchange->last_message_ms = wt__now_ms();
        free(question);
        return true;
    }
    return false;
}

int wt__mcp_exchange_reply(struct mcp_exchange *exchange, struct str id, struct str result, struct str error,
                           wt_error *err)
{
    struct mcp_connection *connection = exchange->connection;
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__mcp_write_response(&text, id, result, error);
    pthread_mutex_lock(&connection->lock);
    bool open = remove_question(exchange, id);
    pthread_cond_broadcast(&exchange->changed); /* the waiter's timeout has changed */
    pthread_mutex_unlock(&connection->lock);
    return open ? send_text(connection, &text, err)
                : wt__fail(err, WT_EINVAL, "%s has no open question with this id", connection->shown);
}

/* ---------------------------------------------------------------- state */

int64_t wt__mcp_connection_next_id(struct mcp_connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    int64_t number = ++connection->last_id;
    pthread_mutex_unlock(&connection->lock);
    return number;
}

enum mcp_era wt__mcp_connection_era(const struct mcp_connection *connection)
{
    return connection->era;
}

struct str wt__mcp_connection_self(const struct mcp_connection *connection)
{
    return wt__buffer_view(&connection->self);
}

bool wt__mcp_connection_is_lost(const struct mcp_connection *connection)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&connection->lock;
    pthread_mutex_lock(lock);
    bool lost = connection->is_lost || connection->is_closing;
    pthread_mutex_unlock(lock);
    return lost;
}
