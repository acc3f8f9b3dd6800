/* relay.c: relays requests to servers; internal.h describes the combinations of eras.
 *
 * While a modern client answers questions, the client holds the state of the call, sealed by serve/mcp. For a legacy
 * server, the state is "p" followed by the handle of a parked exchange. For a modern server, the state is "m" followed
 * by {"keys": [keys of the server's questions], "state": the server's requestState}. */
#include "gateway/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "base/rng.h"
#include "mcp/shape.h"
#include "serve/mcp/transport.h"
#include "serve/trace.h"

enum { HANDLE_BYTES = 33 };

/* A running exchange with a server. It is parked while a modern client answers a question of a legacy server. next,
 * handle, until_ms and server are valid only while it is parked. */
struct parked {
    struct parked *next;       /* next in the gateway's list */
    char handle[HANDLE_BYTES]; /* identifies the parked exchange */
    double until_ms;           /* time of expiry, by wt__gateway_now */
    char *holder;              /* client whose share is used; NULL if it was never parked */
    const char *server;        /* server whose share is used; lives as long as the gateway */
    struct upstream_link *link;
    struct mcp_exchange *exchange;
    unsigned questions; /* number of questions so far */
    struct buffer id;   /* id of the last question for a modern client, as JSON */
};

struct relay_state {
    struct gateway *gateway;
    struct mcp_call *call;
    struct upstream *upstream;
    const struct relay *what;       /* request to relay */
    struct parked *exchange;        /* running exchange, or NULL */
    struct buffer responses, state; /* inputResponses and requestState of the next request as JSON; may be empty */
    double until_ms;                /* end of the wait for a server that is not running, by wt__now_ms */
    uint64_t span;                  /* id of the request's span; 0 without a trace */
    bool was_resent;                /* a request that the server may have received was sent again */
    bool lacks_capability;          /* the server asked for a capability that the modern client lacks */
    struct buffer *result;          /* result for the caller of wt__relay */
    wt_error *err;
};

/* ---------------------------------------------------------------- parked exchanges */

static void free_parked(struct parked *parked)
{
    if (!parked)
        return;
    free(parked->holder);
    wt__mcp_exchange_end(parked->exchange);
    wt__upstream_return(parked->link);
    wt__buffer_dispose(&parked->id);
    free(parked);
}

/* Takes a place for a parked call from the shares of its client and its server. Returns false and sets *err if no place
 * is left. */
static bool take_parked_places(const struct relay_state *r, wt_error *err)
{
    struct shares *clients = &r->gateway->parked_of_clients, *servers = &r->gateway->parked_of_servers;
    const char *holder = wt__mcp_call_holder(r->call), *server = wt__upstream_name(r->upstream);
    if (!wt__shares_take(clients, holder, 1)) {
        wt__fail(err, WT_EBUSY,
                 "%zu calls wait for answers of this client, its share of %d; answer one, or try again later",
                 wt__shares_of(clients, holder), GATEWAY_PARKED_MAX);
        return false;
    }
    if (wt__shares_take(servers, server, 1))
        return true;
    wt__shares_give(clients, holder, 1);
    wt__fail(err, WT_EBUSY, "%zu calls of the server %s wait for answers of clients, its share of %d; try again later",
             wt__shares_of(servers, server), server, GATEWAY_PARKED_MAX);
    return false;
}

static void give_parked_places(struct gateway *gateway, const struct parked *parked)
{
    wt__shares_give(&gateway->parked_of_clients, parked->holder, 1);
    wt__shares_give(&gateway->parked_of_servers, parked->server, 1);
}

/* Parks an exchange. Returns false and sets *err on failure. */
static bool park_exchange(const struct relay_state *r, struct parked *parked, wt_error *err)
{
    struct gateway *gateway = r->gateway;
    const char *holder = wt__mcp_call_holder(r->call);
    free(parked->holder);
    parked->holder = wt__copy_string(holder, strlen(holder));
    parked->server = wt__upstream_name(r->upstream);
    if (!parked->holder || !wt__random_digits(parked->handle, HANDLE_BYTES - 1)) {
        wt__fail_nomem(err);
        return false;
    }
    if (!take_parked_places(r, err))
        return false;
    parked->until_ms = wt__gateway_now(gateway) + MCP_STATE_MS;
    pthread_mutex_lock(&gateway->lock);
    parked->next = gateway->parked;
    gateway->parked = parked;
    gateway->parked_count++;
    pthread_mutex_unlock(&gateway->lock);
    return true;
}

/* Removes and returns a parked exchange. Returns NULL if it expired or was resumed before. */
static struct parked *take_parked(struct gateway *gateway, struct str handle)
{
    wt__parked_sweep(gateway, false);
    pthread_mutex_lock(&gateway->lock);
    struct parked **at = &gateway->parked;
    while (*at && !wt__str_equal(handle, wt__str((*at)->handle)))
        at = &(*at)->next;
    struct parked *parked = *at;
    if (parked) {
        *at = parked->next;
        gateway->parked_count--;
        give_parked_places(gateway, parked);
    }
    pthread_mutex_unlock(&gateway->lock);
    return parked;
}

void wt__parked_sweep(struct gateway *gateway, bool all)
{
    struct parked *late = NULL;
    double now = wt__gateway_now(gateway);
    pthread_mutex_lock(&gateway->lock);
    for (struct parked **at = &gateway->parked; *at;) {
        struct parked *parked = *at;
        if (!all && now < parked->until_ms) {
            at = &parked->next;
            continue;
        }
        *at = parked->next;
        parked->next = late;
        late = parked;
        gateway->parked_count--;
        give_parked_places(gateway, parked);
    }
    pthread_mutex_unlock(&gateway->lock);
    for (struct parked *next; late; late = next) {
        next = late->next;
        free_parked(late);
    }
}

/* ---------------------------------------------------------------- the request to the server */

/* True if a member of the client's _meta is for the gateway and not for the server. key: text between the quotes, with
 * its escapes. */
static bool is_hop_member(struct str key)
{
    json_auto_t *read = NULL;
    if (memchr(key.ptr, '\\', key.len) && wt__json_parse(&read, key.ptr - 1, key.len + 2, NULL) == 0)
        key = (struct str){json_string_value(read), json_string_length(read)};
    return wt__str_equal(key, STR("progressToken")) || wt__str_starts(key, STR("io.modelcontextprotocol/"));
}

/* The trace context for the server. */
struct outgoing_trace {
    char parent[TRACE_PARENT_BYTES]; /* "" to pass the client's _meta on */
    struct str state;                /* tracestate of the client's headers; "" if absent */
    bool replaces_state;             /* the context comes from the headers, so tracestate of _meta is dropped */
};

/* Determines the trace context for the server: a span of this process if traces are exported, else the client's
 * span. */
static void read_outgoing_trace(struct outgoing_trace *out, const struct relay_state *r)
{
    const struct request_trace *trace = wt__mcp_call_trace(r->call);
    *out = (struct outgoing_trace){.state = STR("")};
    if (!wt__trace_is_known(trace))
        return;
    const struct trace_context context = wt__trace_context(trace);
    wt__trace_format(out->parent, &context, trace->source->exports ? r->span : context.parent);
    out->replaces_state = trace->has_parent;
    if (trace->has_parent)
        out->state = wt__http_field(trace->head, "tracestate");
}

/* Appends the members of the client's _meta for the server, unchanged except for the trace context. */
static void put_meta(struct buffer *out, const struct mcp_call *call, const struct outgoing_trace *trace)
{
    struct json_scan scan;
    struct json_item item;
    if (*trace->parent)
        wt__buffer_printf(out, "\"traceparent\":\"%s\"", trace->parent);
    if (trace->state.len > 0)
        wt__mcp_put_text(out, ",\"tracestate\":", trace->state);
    wt__json_scan_open(&scan, wt__mcp_call_meta(call), 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        bool replaced = (*trace->parent && wt__str_equal(item.key, STR("traceparent"))) ||
                        (trace->replaces_state && wt__str_equal(item.key, STR("tracestate")));
        if (replaced || is_hop_member(item.key))
            continue;
        wt__buffer_text(out, out->len > 0 ? ",\"" : "\"");
        wt__buffer_str(out, item.key);
        wt__buffer_text(out, "\":");
        wt__buffer_str(out, item.value);
    }
}

static void put_params(struct buffer *out, const struct relay_state *r)
{
    const struct relay *what = r->what;
    if (what->name_key) {
        wt__buffer_printf(out, "\"%s\":", what->name_key);
        wt__buffer_json(out, what->name);
    }
    if (what->arguments.len > 0) {
        wt__buffer_text(out, ",\"arguments\":");
        wt__buffer_str(out, what->arguments);
    }
    if (what->more.len > 0) {
        wt__buffer_text(out, out->len > 0 ? "," : "");
        wt__buffer_str(out, what->more);
    }
    if (r->responses.len > 0) {
        wt__buffer_text(out, ",\"inputResponses\":");
        wt__buffer_str(out, wt__buffer_view(&r->responses));
    }
    if (r->state.len > 0) {
        wt__buffer_text(out, ",\"requestState\":");
        wt__buffer_str(out, wt__buffer_view(&r->state));
    }
    out->failed |= r->responses.failed || r->state.failed;
}

static bool is_call_cancelled(const void *call)
{
    return wt__mcp_is_cancelled(call);
}

static void cancel_exchange(void *exchange)
{
    wt__mcp_exchange_cancel(exchange);
}

/* Returns the era in which the server must be connected so that its questions can be put to the client. Returns
 * MCP_ERA_UNKNOWN if the client answers no questions. */
static enum mcp_era needed_era(const struct mcp_call *call)
{
    static const char *const answered[] = {"elicitation", "sampling", "roots"};
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++)
        if (json_object_get(wt__mcp_call_capabilities(call), answered[i]))
            return wt__mcp_call_is_modern(call) ? MCP_ERA_MODERN : MCP_ERA_LEGACY;
    return MCP_ERA_UNKNOWN;
}

/* Borrows a connection to the server, in the era needed by the client if the server supports it. */
static int borrow_link(struct relay_state *r, struct upstream_link **out)
{
    enum mcp_era era = needed_era(r->call);
    unsigned wait_ms = (unsigned)fmax(0, r->until_ms - wt__now_ms());
    int rc = wt__upstream_borrow(r->upstream, wait_ms, is_call_cancelled, r->call, out, r->err);
    if (rc == 0 && era != MCP_ERA_UNKNOWN)
        wt__upstream_fit_era(r->upstream, era, wait_ms, is_call_cancelled, r->call, out);
    return rc;
}

enum { TRACE_HEADERS = 2 };

/* Writes the headers for an HTTP server: those of --pass-header, and the trace context. Returns their number. state:
 * receives the text of the tracestate. */
static size_t list_passed_headers(const struct relay_state *r, const struct outgoing_trace *trace, struct buffer *state,
                                  struct http_header out[MCP_PASSED_HEADERS_MAX + TRACE_HEADERS])
{
    size_t count;
    bool passes_trace = false;
    const struct http_header *passed = wt__mcp_call_passed_headers(r->call, &count);
    for (size_t i = 0; i < count; i++) {
        out[i] = passed[i];
        passes_trace |= strcasecmp(passed[i].name, "traceparent") == 0 || strcasecmp(passed[i].name, "tracestate") == 0;
    }
    if (passes_trace || !*trace->parent)
        return count;
    out[count++] = (struct http_header){"traceparent", trace->parent};
    wt__buffer_str(state, trace->state);
    if (state->len > 0 && !state->failed)
        out[count++] = (struct http_header){"tracestate", state->ptr};
    return count;
}

/* Sends the request to the server. Sets r->exchange, unless no connection could be borrowed. */
static int send_to_server(struct relay_state *r)
{
    struct mcp_call *call = r->call;
    unsigned configured_ms = r->upstream->server->call_timeout_ms;
    WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0}, meta = {0}, capabilities = {0}, state = {0};
    struct http_header passed[MCP_PASSED_HEADERS_MAX + TRACE_HEADERS];
    struct outgoing_trace trace;
    read_outgoing_trace(&trace, r);
    put_params(&params, r);
    put_meta(&meta, call, &trace);
    if (wt__mcp_call_capabilities(call))
        wt__json_write(&capabilities, wt__mcp_call_capabilities(call));
    if (params.failed || meta.failed || capabilities.failed)
        return wt__fail_nomem(r->err);
    struct mcp_request request = {
        .method = r->what->method,
        .params = wt__buffer_view(&params),
        .meta = wt__buffer_view(&meta),
        .capabilities = wt__buffer_view(&capabilities),
        .log_level = wt__mcp_wanted_level(call),
        .progress = true, /* request it even if the client did not: progress shows that the server is alive */
        .name = r->what->name,
        .headers = r->what->headers,
        .header_count = r->what->header_count,
        .principal = wt__mcp_call_principal(call),
        .timeout_ms = configured_ms ? configured_ms : r->gateway->options.call_timeout_ms,
    };
    request.passed = passed;
    request.passed_count = list_passed_headers(r, &trace, &state, passed);
    struct parked *exchange = calloc(1, sizeof *exchange);
    WT_CHECK_ALLOC(exchange, r->err);
    int rc = borrow_link(r, &exchange->link);
    if (rc < 0) {
        free_parked(exchange);
        return rc;
    }
    r->exchange = exchange;
    return wt__mcp_exchange_begin(&exchange->exchange, exchange->link->connection, &request, r->err);
}

/* ---------------------------------------------------------------- notices and questions before the answer */

/* Fails the call because the server sent a value of a type that MCP does not allow. what: "a question", ... */
static enum relayed fail_misfit(struct relay_state *r, const char *what, const struct mcp_misfit *misfit)
{
    bool whole = misfit->member[0] == '\0';
    wt__fail(r->err, WT_EFORMAT, "the server %s sent %s that violates MCP: %s%s%s is not %s",
             wt__upstream_name(r->upstream), what, whole ? "it" : "\"", misfit->member, whole ? "" : "\"",
             misfit->wanted);
    return RELAY_FAILED;
}

/* Forwards a log message or progress to the client. Drops a malformed notification, since the answer will still
 * come. */
static void forward_notice(struct mcp_call *call, const struct mcp_event *event)
{
    struct mcp_misfit misfit;
    json_auto_t *params = NULL;
    if (!wt__mcp_notice_fits(event->method, event->params, &misfit))
        return;
    if (wt__str_equal(event->method, STR("notifications/message"))) {
        wt__mcp_relay_log(call, event->params);
    } else if (wt__str_equal(event->method, STR("notifications/progress")) &&
               wt__json_parse(&params, event->params.ptr ? event->params.ptr : "", event->params.len, NULL) == 0) {
        wt__mcp_progress(call, wt__json_real(params, "progress", 0), wt__json_real(params, "total", -1),
                         wt__json_str(params, "message"));
    }
}

/* Puts a question of a legacy server to the client. Returns RELAY_ANSWERED once the server has received the client's
 * answer or a refusal. */
static enum relayed put_question(struct relay_state *r, const struct mcp_event *event)
{
    struct parked *at = r->exchange;
    struct str response = STR(""), refusal = STR("");
    struct mcp_misfit misfit;
    char key[24], method[64], state[HANDLE_BYTES + 1];
    wt_error why;
    if (!wt__mcp_question_fits(event->method, event->params, &misfit)) {
        wt__mcp_exchange_reply(
            at->exchange, event->id, STR(""),
            STR("{\"code\":-32602,\"message\":\"the params do not have the type that MCP requires\"}"), NULL);
        return fail_misfit(r, "a question", &misfit);
    }
    snprintf(key, sizeof key, "q%u", ++at->questions);
    snprintf(method, sizeof method, "%.*s", (int)(event->method.len < 63 ? event->method.len : 63), event->method.ptr);
    enum mcp_asked asked =
        wt__mcp_ask(r->call, key, method, event->params.len > 0 ? event->params : STR("{}"), &response);
    if (asked == MCP_ASK_FAILED) {
        r->lacks_capability |= wt__mcp_call_is_modern(r->call);
        response = STR("");
        refusal = STR("{\"code\":-32601,\"message\":\"the client does not support this request\"}");
    }
    if (asked != MCP_ASK_PENDING)
        return wt__mcp_exchange_reply(at->exchange, event->id, response, refusal, r->err) < 0 ? RELAY_FAILED
                                                                                              : RELAY_ANSWERED;
    wt__buffer_clear(&at->id);
    wt__buffer_str(&at->id, event->id);
    if (at->id.failed)
        return wt__fail_nomem(r->err), RELAY_FAILED;
    if (!park_exchange(r, at, &why)) { /* a client's answer to an exchange that is not parked could not be used */
        wt__mcp_refuse_error(r->call, &why);
        return RELAY_REFUSED;
    }
    snprintf(state, sizeof state, "p%s", at->handle);
    wt__mcp_keep_state(r->call, wt__str(state));
    r->exchange = NULL;
    return RELAY_ASKED;
}

/* ---------------------------------------------------------------- questions of a modern server */

/* Collects the client's responses to the questions `keys`, and the server's requestState, for the next request to the
 * server. state: NULL if the server sent none. */
static void gather_responses(struct relay_state *r, const json_t *keys, const json_t *state)
{
    wt__buffer_clear(&r->responses);
    wt__buffer_clear(&r->state);
    wt__buffer_char(&r->responses, '{');
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        struct str response = key ? wt__mcp_response(r->call, key) : STR("");
        if (response.len == 0)
            continue;
        wt__buffer_text(&r->responses, r->responses.len > 1 ? "," : "");
        wt__buffer_json(&r->responses, wt__str(key));
        wt__buffer_char(&r->responses, ':');
        wt__buffer_str(&r->responses, response);
    }
    wt__buffer_char(&r->responses, '}');
    if (state)
        wt__json_write(&r->state, state);
}

/* Gives the client the keys of the questions and the server's requestState to hold (state "m" in the file header). */
static void keep_questions(struct relay_state *r, const json_t *keys, const json_t *state)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    wt__buffer_text(&text, "m{\"keys\":");
    wt__json_write(&text, keys);
    if (state) {
        wt__buffer_text(&text, ",\"state\":");
        wt__json_write(&text, state);
    }
    wt__buffer_char(&text, '}');
    if (text.failed)
        wt__mcp_refuse(r->call, MCP_INTERNAL_ERROR, "out of memory");
    else
        wt__mcp_keep_state(r->call, wt__buffer_view(&text));
}

/* Puts the questions of a modern server to the client. Returns RELAY_ANSWERED if the client has answered all of them,
 * so that the request can be sent again with the answers. */
static enum relayed put_requests(struct relay_state *r, const json_t *result)
{
    json_t *requests = wt__json_object(result, "inputRequests"), *request, *keys = json_array();
    const json_t *state = json_object_get(result, "requestState");
    const char *key;
    enum relayed out = keys ? RELAY_ANSWERED : RELAY_FAILED;
    json_object_foreach(requests, key, request)
    {
        WT_CLEANUP(wt__buffer_dispose) struct buffer params = {0};
        struct str response;
        const char *method = json_string_value(json_object_get(request, "method"));
        const json_t *given = wt__json_object(request, "params");
        if (out == RELAY_REFUSED || out == RELAY_FAILED)
            break;
        json_array_append_new(keys, json_string(key));
        if (!given || wt__json_write(&params, given) < 0)
            wt__buffer_text(&params, "{}");
        enum mcp_asked asked = wt__mcp_ask(r->call, key, method ? method : "", wt__buffer_view(&params), &response);
        if (asked == MCP_ASK_FAILED)
            out = RELAY_REFUSED;
        else if (asked == MCP_ASK_PENDING)
            out = RELAY_ASKED;
    }
    if (out == RELAY_ASKED)
        keep_questions(r, keys, state);
    else if (out == RELAY_ANSWERED)
        gather_responses(r, keys, state);
    else if (out == RELAY_FAILED)
        wt__fail_nomem(r->err);
    json_decref(keys);
    return out;
}

/* ---------------------------------------------------------------- the answer */

/* Refuses the client's request with the error of the server. */
static enum relayed relay_refusal(struct relay_state *r, struct str error)
{
    json_auto_t *read = NULL;
    struct mcp_misfit misfit;
    struct str data;
    if (!wt__mcp_error_fits(error, &misfit))
        return fail_misfit(r, "an error", &misfit);
    if (!wt__mcp_member(error, "data", &data))
        data = STR("");
    wt__json_parse(&read, error.ptr, error.len, NULL);
    struct str message = wt__json_str(read, "message");
    wt__mcp_refuse_with(r->call, (int)wt__json_int(read, "code", MCP_INTERNAL_ERROR),
                        message.len > 0 ? message : STR("the server refused the request without a message"), data);
    return RELAY_REFUSED;
}

/* Returns the parsed result if it has resultType input_required, else NULL. */
static json_t *read_questions(struct str result)
{
    struct str type;
    json_t *read = NULL;
    if (!wt__mcp_member(result, "resultType", &type) || !wt__str_equal(type, STR("\"input_required\"")))
        return NULL;
    return wt__json_parse(&read, result.ptr, result.len, NULL) == 0 ? read : NULL;
}

bool wt__result_is_error(struct str result)
{
    struct str is_error;
    return wt__mcp_member(result, "isError", &is_error) && wt__str_equal(is_error, STR("true"));
}

/* Takes a result, or puts its questions to the client. *again: the request must be sent again with the answers. */
static enum relayed take_result(struct relay_state *r, struct str result, bool *again)
{
    struct mcp_misfit misfit;
    *again = false;
    if (!wt__mcp_result_fits(r->what->method, result, &misfit))
        return fail_misfit(r, "a result", &misfit);
    json_auto_t *questions = read_questions(result);
    /* An error result here is due to the missing capability, which was reported to the client already. */
    if (!questions && r->lacks_capability && wt__result_is_error(result))
        return RELAY_REFUSED;
    if (!questions) {
        wt__buffer_clear(r->result);
        wt__buffer_str(r->result, result);
        return r->result->failed ? (wt__fail_nomem(r->err), RELAY_FAILED) : RELAY_ANSWERED;
    }
    enum relayed out = put_requests(r, questions);
    *again = out == RELAY_ANSWERED;
    return out;
}

/* Handles events until the exchange ends or a modern client must answer a question. *again: as in take_result. */
static enum relayed handle_events(struct relay_state *r, bool *again)
{
    struct mcp_event event;
    enum relayed out = RELAY_ANSWERED;
    *again = false;
    wt__mcp_on_cancel(r->call, cancel_exchange, r->exchange->exchange);
    for (bool over = false; !over && out == RELAY_ANSWERED;) {
        over = wt__mcp_exchange_next(r->exchange->exchange, &event, r->err) < 0;
        if (over)
            out = RELAY_FAILED;
        else if (event.kind == MCP_EVENT_NOTIFIED)
            forward_notice(r->call, &event);
        else if (event.kind == MCP_EVENT_ASKED)
            out = put_question(r, &event);
        else if ((over = event.kind == MCP_EVENT_RESULT))
            out = take_result(r, event.result, again);
        else
            out = relay_refusal(r, event.error);
    }
    wt__mcp_on_cancel(r->call, NULL, NULL);
    return out;
}

/* ---------------------------------------------------------------- relaying */

/* Continues an earlier request if the client sent its state. Returns false and sets *r->err on failure. */
static bool resume_call(struct relay_state *r)
{
    struct str state = wt__mcp_state(r->call);
    json_auto_t *kept = NULL;
    char key[24];
    if (state.len == 0)
        return true;
    struct str rest = {state.ptr + 1, state.len - 1};
    if (state.ptr[0] == 'm' && wt__json_parse(&kept, rest.ptr, rest.len, NULL) == 0) {
        gather_responses(r, json_object_get(kept, "keys"), json_object_get(kept, "state"));
        return true;
    }
    r->exchange = state.ptr[0] == 'p' ? take_parked(r->gateway, rest) : NULL;
    if (!r->exchange) {
        wt__fail(r->err, WT_ENOTFOUND, "the question was answered already or has expired; start the call again");
        return false;
    }
    snprintf(key, sizeof key, "q%u", r->exchange->questions);
    struct str response = wt__mcp_response(r->call, key);
    return wt__mcp_exchange_reply(r->exchange->exchange, wt__buffer_view(&r->exchange->id), response,
                                  response.len > 0 ? STR("")
                                                   : STR("{\"code\":-32603,\"message\":\"the client did not answer\"}"),
                                  r->err) == 0;
}

/* True if a request that failed with rc may be sent again. A request that the server never received may be sent again
 * until until_ms. A request that the server may have received may be sent again once, if it has no side effects. A
 * failure without an exchange is final: borrow_link has waited for the server already. */
static bool may_repeat(struct relay_state *r, int rc)
{
    if (rc != WT_ENETWORK || !r->exchange || wt__mcp_is_cancelled(r->call) || wt__now_ms() >= r->until_ms)
        return false;
    if (!r->exchange->exchange || !wt__mcp_exchange_was_sent(r->exchange->exchange))
        return true;
    bool first = r->what->is_safe && !r->was_resent;
    r->was_resent = true;
    return first;
}

/* Sends the request, unless a resumed exchange is running, and handles the events. Sends the request again if
 * may_repeat allows it. *asks: as *again in take_result. */
static enum relayed ask_server(struct relay_state *r, bool *asks)
{
    enum relayed out;
    bool again;
    r->until_ms = wt__now_ms() + GATEWAY_START_WAIT_MS;
    do {
        *asks = false;
        out = r->exchange || send_to_server(r) == 0 ? handle_events(r, asks) : RELAY_FAILED;
        again = out == RELAY_FAILED && may_repeat(r, r->err->code);
        free_parked(r->exchange);
        r->exchange = NULL;
    } while (again);
    return out;
}

/* Counts the request against the shares of the server and the client, so that a silent server or a busy client cannot
 * block the requests of others. Returns false and sets *r->err if a share is used up. */
static bool take_call_shares(const struct relay_state *r)
{
    struct shares *servers = &r->gateway->calls, *clients = &r->upstream->calls;
    const char *holder = wt__mcp_call_holder(r->call), *server = wt__upstream_name(r->upstream);
    if (!wt__shares_take(clients, holder, 1)) {
        wt__fail(r->err, WT_EBUSY,
                 "the server %s has not answered %zu requests of this client, its share of %d concurrent requests to a "
                 "server; try again when one has ended",
                 server, wt__shares_of(clients, holder), UPSTREAM_CALLS_MAX);
        return false;
    }
    if (wt__shares_take(servers, server, 1))
        return true;
    wt__shares_give(clients, holder, 1);
    wt__fail(
        r->err, WT_EBUSY,
        "the server %s has not answered %zu requests, its share of %d concurrent requests to all servers; try again "
        "when one has ended",
        server, wt__shares_of(servers, server), GATEWAY_CALLS_MAX);
    return false;
}

static void give_call_shares(const struct relay_state *r)
{
    wt__shares_give(&r->gateway->calls, wt__upstream_name(r->upstream), 1);
    wt__shares_give(&r->upstream->calls, wt__mcp_call_holder(r->call), 1);
}

static enum relayed relay_request(struct relay_state *r)
{
    if (!take_call_shares(r))
        return RELAY_FAILED;
    enum relayed out = resume_call(r) ? RELAY_ANSWERED : RELAY_FAILED;
    bool asks = true;
    for (int round = 0; out == RELAY_ANSWERED && asks && round < MCP_ROUNDS_MAX; round++)
        out = ask_server(r, &asks);
    if (out == RELAY_ANSWERED && asks) {
        wt__fail(r->err, WT_ETOOLONG, "the server asked questions in %d rounds and still has more", MCP_ROUNDS_MAX);
        out = RELAY_FAILED;
    }
    free_parked(r->exchange);
    give_call_shares(r);
    wt__buffer_dispose(&r->responses);
    wt__buffer_dispose(&r->state);
    return out;
}

/* Counts a request in the metrics and in the client's trace. */
static void count_relayed(const struct relay_state *r, enum relayed out, double begun_ms)
{
    static const enum upstream_outcome outcomes[] = {[RELAY_ANSWERED] = UPSTREAM_OK,
                                                     [RELAY_ASKED] = UPSTREAM_ASKED,
                                                     [RELAY_REFUSED] = UPSTREAM_ERROR,
                                                     [RELAY_FAILED] = UPSTREAM_FAILED};
    enum upstream_outcome outcome = outcomes[out];
    const struct trace_span span = {.stage = TRACE_UPSTREAM,
                                    .failed = out == RELAY_FAILED,
                                    .begun_ms = begun_ms,
                                    .ended_ms = wt__now_ms(),
                                    .id = r->span,
                                    .server = wt__upstream_name(r->upstream)};
    if (outcome == UPSTREAM_OK && wt__result_is_error(wt__buffer_view(r->result)))
        outcome = UPSTREAM_ERROR;
    atomic_fetch_add_explicit(&r->upstream->outcomes[outcome], 1, memory_order_relaxed);
    wt__histogram_add(&r->upstream->durations, span.ended_ms - begun_ms);
    wt__trace_add(wt__mcp_call_trace(r->call), &span);
}

enum relayed wt__relay(struct gateway *gateway, struct mcp_call *call, struct upstream *upstream,
                       const struct relay *what, struct buffer *result, wt_error *err)
{
    double begun_ms = wt__now_ms();
    struct relay_state r = {.gateway = gateway,
                            .call = call,
                            .upstream = upstream,
                            .what = what,
                            .span = wt__trace_new_span(wt__mcp_call_trace(call)),
                            .result = result,
                            .err = err};
    enum relayed out = relay_request(&r);
    count_relayed(&r, out, begun_ms);
    return out;
}
