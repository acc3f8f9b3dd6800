/* connection_dispatch.c: passes each message of a server to its exchange.
 *
 *   answer       exchange of the request with this id. An error without an id belongs to the exchange of its stream, or
 *                to the only running exchange
 *   question     exchange of its stream, else the newest exchange if all exchanges have the same principal
 *   progress     exchange whose id is the progressToken
 *   log, ...     exchange of its stream or subscription, else as for a question
 *   change       exchange of its stream or subscription (modern era only), else the `noticed` callback
 *
 * Token buckets limit all messages except answers to running requests, since a connection may last for days. */
#include "base/clock.h"
#include "base/json_check.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "mcp/internal.h"

enum { NOISE_BRACES_MAX = 8 /* maximum braces of a line that are tried as the beginning of a message */ };

#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

/* ---------------------------------------------------------------- allowances */

/* Takes `cost` tokens from a bucket of at most `most`, refilled by per_second. Returns false if fewer were left. */
static bool spend_allowance(struct mcp_allowance *allowance, double most, double per_second, double cost)
{
    double now = wt__now_ms();
    if (allowance->at_ms == 0)
        allowance->left = most;
    else
        allowance->left += (now - allowance->at_ms) * per_second / 1000;
    allowance->at_ms = now;
    allowance->left = (allowance->left < most ? allowance->left : most) - cost;
    return allowance->left >= 0;
}

/* Counts a line without a message. Fails if the server writes too many. */
static int count_stray(struct mcp_connection *connection, wt_error *err)
{
    if (spend_allowance(&connection->stray, MCP_STRAY_LINES_MAX, MCP_STRAY_LINES_SECOND, 1))
        return 0;
    return wt__fail(err, WT_ETOOLONG,
                    "%s wrote more than %d lines that are not messages; check that it is an MCP server",
                    connection->shown, MCP_STRAY_LINES_MAX);
}

/* Counts a question, a notification, or an answer without an exchange. Fails if the server sends too many. */
static int count_unsolicited(struct mcp_connection *connection, struct str text, wt_error *err)
{
    if (!spend_allowance(&connection->unsolicited, MCP_UNSOLICITED_MAX, MCP_UNSOLICITED_SECOND, 1))
        return wt__fail(err, WT_ETOOLONG, "%s sent more than %d unsolicited messages", connection->shown,
                        MCP_UNSOLICITED_MAX);
    if (!spend_allowance(&connection->unsolicited_bytes, MCP_UNSOLICITED_BYTES_MAX, MCP_UNSOLICITED_BYTES_SECOND,
                         (double)text.len))
        return wt__fail(err, WT_ETOOLONG, "%s sent more than %d MB of unsolicited messages", connection->shown,
                        MCP_UNSOLICITED_BYTES_MAX >> 20);
    return 0;
}

/* ---------------------------------------------------------------- events */

static struct str without_quotes(struct str text)
{
    bool quoted = text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    return quoted ? (struct str){text.ptr + 1, text.len - 2} : text;
}

/* Copies an event and its texts, on one line each. Returns NULL if out of memory. */
static struct mcp_event_item *make_item(const struct mcp_event *event)
{
    struct mcp_event_item *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    item->event = *event;
    struct str *const parts[] = {&item->event.id, &item->event.method, &item->event.params, &item->event.result,
                                 &item->event.error};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        wt__buffer_str(&item->text, *parts[i]);
    if (item->text.failed) {
        free(item);
        return NULL;
    }
    wt__mcp_join_lines(&item->text);
    for (size_t i = 0, at = 0; i < sizeof parts / sizeof *parts; at += parts[i]->len, i++)
        parts[i]->ptr = item->text.len > 0 ? item->text.ptr + at : "";
    return item;
}

/* Queues an event; the caller holds the lock. Returns false if the queue is full or out of memory. The result or
 * refusal that ends an exchange is accepted even by a full queue. */
static bool queue_event(struct mcp_exchange *exchange, const struct mcp_event *event)
{
    bool last = event->kind == MCP_EVENT_RESULT || event->kind == MCP_EVENT_REFUSED;
    size_t bytes = event->id.len + event->method.len + event->params.len + sizeof(struct mcp_event_item);
    if (!last && exchange->waiting_bytes + bytes > MCP_EVENTS_BYTES_MAX)
        return false;
    struct mcp_event_item *item = make_item(event);
    if (!item)
        return false;
    *(exchange->last ? &exchange->last->next : &exchange->first) = item;
    exchange->last = item;
    exchange->waiting_bytes += item->text.len + sizeof *item;
    exchange->last_message_ms = wt__now_ms();
    pthread_cond_broadcast(&exchange->changed);
    return true;
}

/* Returns the newest exchange if all have the same principal, else NULL; the caller holds the lock. Exchanges without a
 * principal, such as subscriptions, count only if there are no others. */
static struct mcp_exchange *find_of_only_principal(struct mcp_connection *connection)
{
    struct mcp_exchange *newest = NULL;
    for (struct mcp_exchange *exchange = connection->newest; exchange; exchange = exchange->older) {
        if (newest && exchange->principal && strcmp(exchange->principal, newest->principal) != 0)
            return NULL;
        if (!newest && exchange->principal)
            newest = exchange;
    }
    return newest ? newest : connection->newest;
}

/* Passes an answer to its exchange. Returns false if no exchange waits for it. Here and in the functions below, stream
 * and answered are the parameters of wt__mcp_connection_dispatch. */
static bool take_answer(struct mcp_connection *connection, int64_t stream, const struct mcp_message *message,
                        bool *answered)
{
    bool refused = message->error.len > 0;
    bool has_id = message->id.len > 0 && !wt__str_equal(message->id, STR("null"));
    const struct mcp_event event = {
        .kind = refused ? MCP_EVENT_REFUSED : MCP_EVENT_RESULT, .result = message->result, .error = message->error};
    struct mcp_exchange *exchange = NULL;
    int64_t id;
    wt_error why;
    pthread_mutex_lock(&connection->lock);
    if (has_id || !refused) /* servers send an error without an id if they cannot read the request */
        exchange = wt__mcp_parse_id(message->id, &id) ? wt__mcp_connection_find(connection, id) : NULL;
    else if (stream != 0)
        exchange = wt__mcp_connection_find(connection, stream);
    else
        exchange = connection->running_count == 1 ? connection->newest : NULL;
    if (exchange && answered)
        *answered = exchange->id == stream;
    if (exchange && queue_event(exchange, &event)) {
        wt__mcp_exchange_finish(exchange);
    } else if (exchange) {
        wt__fail_nomem(&why);
        wt__mcp_exchange_fail(exchange, &why);
    }
    pthread_mutex_unlock(&connection->lock);
    return exchange;
}

/* ---------------------------------------------------------------- broken messages */

static void send_reply(struct mcp_connection *connection, struct str id, struct str result, struct str error)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__mcp_write_response(&text, id, result, error);
    pthread_mutex_lock(&connection->lock);
    struct mcp_link *link = text.failed || text.len == 0 ? NULL : wt__mcp_link_acquire(connection);
    pthread_mutex_unlock(&connection->lock);
    if (link) {
        link->send_message(link, wt__buffer_view(&text), NULL);
        wt__mcp_link_release(connection);
    }
}

static bool has_word(struct str text, struct str word)
{
    return text.len > 0 && memmem(text.ptr, text.len, word.ptr, word.len);
}

/* True if an invalid line may be a damaged message rather than other output of a program. */
static bool may_be_message(struct str text)
{
    return has_word(text, STR("\"jsonrpc\"")) ||
           (has_word(text, STR("\"id\"")) && (has_word(text, STR("\"result\"")) || has_word(text, STR("\"error\""))));
}

/* Returns the running exchange whose id follows an "id" in the text; NULL if no exchange, or more than one, fits. The
 * caller holds the lock. */
static struct mcp_exchange *find_by_embedded_id(struct mcp_connection *connection, struct str text)
{
    static const struct str key = {"\"id\"", 4};
    struct mcp_exchange *found = NULL;
    for (size_t at = 0; at + key.len < text.len; at++) {
        if (memcmp(text.ptr + at, key.ptr, key.len) != 0)
            continue;
        size_t begin = at + key.len, end;
        int64_t id;
        while (begin < text.len && (text.ptr[begin] == ' ' || text.ptr[begin] == ':'))
            begin++;
        for (end = begin; end < text.len && wt__is_digit(text.ptr[end]);)
            end++;
        struct mcp_exchange *exchange = wt__mcp_parse_id((struct str){text.ptr + begin, end - begin}, &id)
                                            ? wt__mcp_connection_find(connection, id)
                                            : NULL;
        if (exchange && found && exchange != found)
            return NULL;
        found = exchange ? exchange : found;
    }
    return found;
}

/* Returns the only running exchange, or NULL; the caller holds the lock. Exchanges without a principal, such as
 * subscriptions, count only if there are no others. */
static struct mcp_exchange *find_only_running(struct mcp_connection *connection)
{
    struct mcp_exchange *only = NULL;
    size_t count = 0;
    for (struct mcp_exchange *exchange = connection->newest; exchange; exchange = exchange->older) {
        count += exchange->principal != NULL;
        only = exchange->principal ? exchange : only;
    }
    return count == 1 ? only : count == 0 && connection->running_count == 1 ? connection->newest : NULL;
}

/* Returns the exchange of a damaged message, or NULL; the caller holds the lock. Tries, in this order: the exchange of
 * the stream, the exchange of the message's id, the only running exchange, and find_by_embedded_id. */
static struct mcp_exchange *find_of_invalid(struct mcp_connection *connection, int64_t stream, struct str text,
                                            const struct mcp_message *message)
{
    int64_t id;
    if (stream > 0)
        return wt__mcp_connection_find(connection, stream);
    struct mcp_exchange *exchange = wt__mcp_parse_id(message->id, &id) ? wt__mcp_connection_find(connection, id) : NULL;
    exchange = exchange ? exchange : find_only_running(connection);
    return exchange ? exchange : find_by_embedded_id(connection, text);
}

/* Handles an invalid message. A notification is dropped, and a question is refused. An answer fails its exchange. If an
 * answer has no readable id and its exchange cannot be found, returns an error, so that the link ends the connection.
 * Otherwise the call would never end. */
static int take_invalid(struct mcp_connection *connection, int64_t stream, struct str text,
                        const struct json_fault *fault, bool *answered, wt_error *err)
{
    const char *begin = memchr(text.ptr, '{', text.len);
    struct str rest = begin ? (struct str){begin, text.len - (size_t)(begin - text.ptr)} : STR("");
    struct mcp_message message;
    wt_error why;
    wt__mcp_parse_message(rest, &message);
    wt__fail(&why, WT_ENETWORK, "the server %s sent an invalid message: %s at byte %zu", connection->server->name,
             fault->reason, fault->byte);
    wt__mcp_hide_secrets(why.message, sizeof why.message, connection->server);
    if (message.method.len > 0) {
        if (wt__json_check(message.id, NULL))
            send_reply(connection, message.id, STR(""),
                       STR("{\"code\":-32700,\"message\":\"the message is not valid JSON\"}"));
        return count_stray(connection, err);
    }
    pthread_mutex_lock(&connection->lock);
    struct mcp_exchange *exchange = find_of_invalid(connection, stream, rest, &message);
    bool ambiguous = !exchange && message.id.len == 0 && connection->running_count > 0;
    if (exchange && answered)
        *answered = exchange->id == stream;
    if (exchange)
        wt__mcp_exchange_fail(exchange, &why);
    pthread_mutex_unlock(&connection->lock);
    if (ambiguous && err)
        *err = why;
    return exchange ? 0 : ambiguous ? why.code : count_stray(connection, err);
}

/* Queues a question; the caller holds the lock. Returns false on failure. */
static bool queue_question(struct mcp_exchange *exchange, const struct mcp_event *event)
{
    if (exchange->question_count >= MCP_QUESTIONS_OPEN_MAX || event->id.len > MCP_ID_BYTES_MAX)
        return false;
    struct mcp_open_question *question = malloc(sizeof *question + event->id.len);
    if (!question)
        return false;
    if (!queue_event(exchange, event)) {
        free(question);
        return false;
    }
    char *id = (char *)(question + 1);
    memcpy(id, event->id.ptr, event->id.len);
    *question = (struct mcp_open_question){exchange->questions, {id, event->id.len}};
    exchange->questions = question;
    exchange->question_count++;
    return true;
}

/* Passes a question to an exchange. Answers a ping, and refuses a question that no client can answer. */
static void take_question(struct mcp_connection *connection, int64_t stream, const struct mcp_message *message)
{
    const struct mcp_event event = {.kind = MCP_EVENT_ASKED,
                                    .id = message->id,
                                    .method = without_quotes(message->method),
                                    .params = message->params};
    if (wt__str_equal(event.method, STR("ping"))) {
        send_reply(connection, message->id, STR("{}"), STR(""));
        return;
    }
    pthread_mutex_lock(&connection->lock);
    bool offered = connection->is_open && connection->era == MCP_ERA_LEGACY && !connection->options.lists_only;
    struct mcp_exchange *exchange = !offered     ? NULL
                                    : stream > 0 ? wt__mcp_connection_find(connection, stream)
                                                 : find_of_only_principal(connection);
    bool asked = exchange && queue_question(exchange, &event);
    pthread_mutex_unlock(&connection->lock);
    if (!asked)
        send_reply(connection, message->id, STR(""),
                   offered ? STR("{\"code\":-32603,\"message\":\"no request runs whose sender could be asked\"}")
                           : STR("{\"code\":-32601,\"message\":\"this is not offered\"}"));
}

/* ---------------------------------------------------------------- notifications */

/* Appends the params without progressToken, which this connection chose and the client does not know. */
static void write_progress(struct buffer *out, struct str params)
{
    struct json_scan scan;
    struct json_item item;
    wt__json_scan_open(&scan, params, 0, 1);
    wt__buffer_char(out, '{');
    while (wt__json_scan_next(&scan, &item) > 0) {
        if (wt__json_key_is(item.key, STR("progressToken")))
            continue;
        wt__buffer_text(out, out->len > 1 ? ",\"" : "\"");
        wt__buffer_str(out, item.key);
        wt__buffer_text(out, "\":");
        wt__buffer_str(out, item.value);
    }
    wt__buffer_char(out, '}');
}

static void take_progress(struct mcp_connection *connection, struct str params)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    struct str token;
    int64_t id;
    if (!wt__mcp_member(params, "progressToken", &token) || !wt__mcp_parse_id(token, &id))
        return;
    write_progress(&text, params);
    const struct mcp_event event = {
        .kind = MCP_EVENT_NOTIFIED, .method = STR("notifications/progress"), .params = wt__buffer_view(&text)};
    pthread_mutex_lock(&connection->lock);
    struct mcp_exchange *exchange = wt__mcp_connection_find(connection, id);
    if (exchange && exchange->wants_progress && !text.failed && !queue_event(exchange, &event))
        exchange->last_message_ms = wt__now_ms(); /* dropped, but a sign of life */
    pthread_mutex_unlock(&connection->lock);
}

static bool is_change(struct str method)
{
    static const struct str end = {"/list_changed", sizeof "/list_changed" - 1};
    return wt__str_equal(method, STR("notifications/resources/updated")) ||
           (method.len > end.len && memcmp(method.ptr + method.len - end.len, end.ptr, end.len) == 0);
}

/* Returns the exchange of a notification, or NULL; the caller holds the lock. A modern notification names its
 * subscription. If a legacy server cancels a question, the id of the question leads to the exchange. */
static struct mcp_exchange *find_notified(struct mcp_connection *connection, int64_t stream, struct str method,
                                          struct str params)
{
    struct str meta, text;
    int64_t id;
    bool cancelled = wt__str_equal(method, STR("notifications/cancelled"));
    if (connection->era == MCP_ERA_LEGACY && is_change(method))
        return NULL;
    if (stream > 0)
        return wt__mcp_connection_find(connection, stream);
    if (wt__mcp_member(params, "_meta", &meta) && wt__mcp_member(meta, SUBSCRIPTION, &text) && text.len > 0)
        return wt__mcp_parse_id(text, &id) ? wt__mcp_connection_find(connection, id) : NULL;
    if (!cancelled)
        return is_change(method) ? NULL : find_of_only_principal(connection);
    if (!wt__mcp_member(params, "requestId", &text) || text.len == 0)
        return NULL;
    if (connection->era == MCP_ERA_MODERN)
        return wt__mcp_parse_id(text, &id) ? wt__mcp_connection_find(connection, id) : NULL;
    for (struct mcp_exchange *exchange = connection->newest; exchange; exchange = exchange->older)
        for (const struct mcp_open_question *question = exchange->questions; question; question = question->next)
            if (wt__str_equal(question->id, text))
                return exchange;
    return NULL;
}

/* Restarts the timeout of the exchange of the stream, or of all exchanges if the stream belongs to no request; the
 * caller holds the lock. A log message shows that the server is at work. */
static void restart_timeouts(struct mcp_connection *connection, int64_t stream)
{
    double now = wt__now_ms();
    for (struct mcp_exchange *exchange = connection->newest; exchange; exchange = exchange->older)
        if (stream <= 0 || exchange->id == stream)
            exchange->last_message_ms = now;
}

static void take_notification(struct mcp_connection *connection, int64_t stream, const struct mcp_message *message)
{
    struct str method = without_quotes(message->method);
    const struct mcp_event event = {.kind = MCP_EVENT_NOTIFIED, .method = method, .params = message->params};
    if (wt__str_equal(method, STR("notifications/progress"))) {
        take_progress(connection, message->params);
        return;
    }
    pthread_mutex_lock(&connection->lock);
    bool opened = connection->is_open;
    if (wt__str_equal(method, STR("notifications/message")))
        restart_timeouts(connection, stream);
    struct mcp_exchange *exchange = opened ? find_notified(connection, stream, method, message->params) : NULL;
    if (exchange && !queue_event(exchange, &event))
        exchange->last_message_ms = wt__now_ms();
    pthread_mutex_unlock(&connection->lock);
    if (opened && !exchange && connection->options.noticed)
        connection->options.noticed(connection->options.context, method, message->params);
}

/* ---------------------------------------------------------------- dispatch */

/* Returns a line without a byte order mark or other output before its message. A line that begins with a brace is kept
 * whole, since its other braces do not begin messages. */
static struct str skip_noise(struct str line)
{
    struct mcp_message message;
    struct str text = wt__str_trim(line), rest = text;
    for (int i = 0; i < NOISE_BRACES_MAX && rest.len > 0 && !wt__str_starts(text, STR("{")); i++) {
        const char *brace = memchr(rest.ptr, '{', rest.len);
        if (!brace)
            break;
        rest = (struct str){brace, rest.len - (size_t)(brace - rest.ptr)};
        if (wt__mcp_parse_message(rest, &message) != MCP_NO_MESSAGE)
            return rest;
        rest = (struct str){brace + 1, rest.len - 1};
    }
    return line;
}

int wt__mcp_connection_dispatch(struct mcp_connection *connection, int64_t stream, struct str text, bool *answered,
                                wt_error *err)
{
    struct mcp_message message;
    struct json_fault fault = {0, "no result, error or method"};
    text = skip_noise(text);
    bool valid = wt__json_check(text, &fault);
    enum mcp_kind kind = valid ? wt__mcp_parse_message(text, &message) : MCP_NO_MESSAGE;
    if (answered)
        *answered = false;
    if (kind == MCP_NO_MESSAGE)
        return may_be_message(text) ? take_invalid(connection, stream, text, &fault, answered, err)
                                    : count_stray(connection, err);
    if (kind == MCP_ANSWER && take_answer(connection, stream, &message, answered))
        return 0;
    int rc = count_unsolicited(connection, text, err);
    if (rc == 0 && kind == MCP_REQUEST)
        take_question(connection, stream, &message);
    if (rc == 0 && kind == MCP_NOTIFICATION)
        take_notification(connection, stream, &message);
    return rc;
}

void wt__mcp_connection_fail_request(struct mcp_connection *connection, int64_t id, const wt_error *why, int status,
                                     bool sent)
{
    wt_error clean = *why;
    wt__mcp_hide_secrets(clean.message, sizeof clean.message, connection->server);
    pthread_mutex_lock(&connection->lock);
    struct mcp_exchange *exchange = wt__mcp_connection_find(connection, id);
    if (exchange) {
        exchange->status = status;
        exchange->was_sent = sent;
        wt__mcp_exchange_fail(exchange, &clean);
    }
    pthread_mutex_unlock(&connection->lock);
}

/* Fails all running exchanges; the caller holds the lock. */
static void fail_exchanges(struct mcp_connection *connection)
{
    wt_error why;
    while (connection->newest) {
        wt__mcp_connection_fail_lost(connection, connection->newest->method, &why);
        wt__mcp_exchange_fail(connection->newest, &why);
    }
}

void wt__mcp_connection_mark_lost(struct mcp_connection *connection, const wt_error *why, const char *words)
{
    wt_error told = why ? *why : (wt_error){0};
    if (!why)
        wt__fail(&told, WT_ENETWORK, "%s ended", connection->shown);
    wt__mcp_hide_secrets(told.message, sizeof told.message, connection->server);
    pthread_mutex_lock(&connection->lock);
    bool first = !connection->is_lost, tell = first && connection->is_open && !connection->is_closing;
    if (first)
        connection->why = told;
    connection->program_ended = first ? !why : connection->program_ended;
    connection->is_lost = true;
    fail_exchanges(connection);
    pthread_mutex_unlock(&connection->lock);
    wt__mcp_add_last_output(&told, words, connection->server);
    if (tell && connection->options.lost)
        connection->options.lost(connection->options.context, &told);
}

void wt__mcp_connection_fail_all(struct mcp_connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    connection->is_closing = true;
    fail_exchanges(connection);
    while (connection->users > 0)
        pthread_cond_wait(&connection->left, &connection->lock);
    pthread_mutex_unlock(&connection->lock);
}
