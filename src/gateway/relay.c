/* relay.c: see relay.h.
 *
 * What a call keeps between two requests of a modern client is its state, sealed by serve/mcp: "p" and the handle of a
 * parked exchange, or "m" and {"state": the server's requestState, "keys": [of its questions]}. */
#include "gateway/relay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json_scan.h"
#include "base/memory.h"
#include "base/random_digits.h"
#include "gateway/gateway_inside.h"
#include "mcp/shape.h"

enum { HANDLE_BYTES = 33 };

/* An exchange that goes on, with what is held for it. */
struct parked {
    struct parked *next;
    char handle[HANDLE_BYTES];
    double until_ms;
    char *holder;       /* whom it counts as, and the server that it counts as; NULL: in no share */
    const char *server; /* lives as long as the gateway */
    struct upstream_link *link;
    struct mcp_exchange *exchange;
    unsigned questions; /* that its server asked so far */
    struct buffer id;   /* of the question that waits */
};

struct relaying {
    struct gateway *gateway;
    struct mcp_call *call;
    struct upstream *upstream;
    const struct relay *what;
    struct parked *at;              /* NULL: nothing is under way */
    struct buffer responses, state; /* of the next request: inputResponses, and requestState as JSON; empty: none */
    double until_ms;                /* that a server is waited for which does not run */
    bool repeated;                  /* what its server may have had was sent again */
    bool lacks; /* a modern client did not declare what a legacy server wanted of it: the call is refused for that */
    struct buffer *result;
    wt_error *err;
};

/* ---------------------------------------------------------------- parked exchanges */

static void let_go(struct parked *parked)
{
    if (!parked)
        return;
    free(parked->holder);
    wt__mcp_exchange_end(parked->exchange);
    wt__upstream_return(parked->link);
    wt__buffer_dispose(&parked->id);
    free(parked);
}

/* Takes the place of a parked call, of its client's share and of its server's. False, as *err says. */
static bool take_places(const struct relaying *r, wt_error *err)
{
    struct shares *clients = &r->gateway->parked_of_clients, *servers = &r->gateway->parked_of_servers;
    const char *holder = wt__mcp_call_holder(r->call), *server = wt__upstream_name(r->upstream);
    if (!wt__shares_take(clients, holder, 1)) {
        wt__fail(err, WT_EBUSY,
                 "%zu calls wait for this client's answers, which is its share of %d: answer one, or try again later",
                 wt__shares_of(clients, holder), GATEWAY_PARKED_MAX);
        return false;
    }
    if (wt__shares_take(servers, server, 1))
        return true;
    wt__shares_give(clients, holder, 1);
    wt__fail(err, WT_EBUSY,
             "%zu calls of the server %s wait for clients' answers, which is its share of %d: try again later",
             wt__shares_of(servers, server), server, GATEWAY_PARKED_MAX);
    return false;
}

static void give_places(struct gateway *gateway, const struct parked *parked)
{
    wt__shares_give(&gateway->parked_of_clients, parked->holder, 1);
    wt__shares_give(&gateway->parked_of_servers, parked->server, 1);
}

/* False: it cannot be parked, as *err says. */
static bool park(const struct relaying *r, struct parked *parked, wt_error *err)
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
    if (!take_places(r, err))
        return false;
    parked->until_ms = wt__gateway_now(gateway) + MCP_STATE_MS;
    pthread_mutex_lock(&gateway->lock);
    parked->next = gateway->parked;
    gateway->parked = parked;
    gateway->parked_count++;
    pthread_mutex_unlock(&gateway->lock);
    return true;
}

/* NULL: its time is over, or it was taken up before. */
static struct parked *take_up(struct gateway *gateway, struct str handle)
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
        give_places(gateway, parked);
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
        give_places(gateway, parked);
    }
    pthread_mutex_unlock(&gateway->lock);
    for (struct parked *next; late; late = next) {
        next = late->next;
        let_go(late);
    }
}

/* ---------------------------------------------------------------- the request to the server */

/* True if a member of _meta is between two hops; key: as it is written, within its quotes. */
static bool is_of_hop(struct str key)
{
    json_t *read = NULL;
    if (memchr(key.ptr, '\\', key.len) && wt__json_parse(&read, key.ptr - 1, key.len + 2, NULL) == 0)
        key = (struct str){json_string_value(read), json_string_length(read)};
    bool is = wt__str_equal(key, STR("progressToken")) || wt__str_starts(key, STR("io.modelcontextprotocol/"));
    json_decref(read);
    return is;
}

/* Appends the members of _meta that are forwarded, byte for byte: all but those that are between two hops. */
static void put_meta(struct buffer *out, const struct mcp_call *call)
{
    struct json_scan scan;
    struct json_item item;
    wt__json_scan_open(&scan, wt__mcp_call_meta(call), 0, 1);
    while (wt__json_scan_next(&scan, &item) > 0) {
        if (is_of_hop(item.key))
            continue;
        wt__buffer_text(out, out->len > 0 ? ",\"" : "\"");
        wt__buffer_str(out, item.key);
        wt__buffer_text(out, "\":");
        wt__buffer_str(out, item.value);
    }
}

static void put_params(struct buffer *out, const struct relaying *r)
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

static bool is_unwanted(const void *call)
{
    return wt__mcp_is_cancelled(call);
}

static void cancel(void *exchange)
{
    wt__mcp_exchange_cancel(exchange);
}

/* The era that the server should be spoken to in; MCP_ERA_UNKNOWN if either does. */
static enum mcp_era needed_era(const struct mcp_call *call)
{
    static const char *const answered[] = {"elicitation", "sampling", "roots"};
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++)
        if (json_object_get(wt__mcp_call_capabilities(call), answered[i]))
            return wt__mcp_call_is_modern(call) ? MCP_ERA_MODERN : MCP_ERA_LEGACY;
    return MCP_ERA_UNKNOWN;
}

static int borrow_link(struct relaying *r, struct upstream_link **out)
{
    enum mcp_era era = needed_era(r->call);
    unsigned wait_ms = (unsigned)fmax(0, r->until_ms - wt__now_ms());
    int rc = wt__upstream_borrow(r->upstream, wait_ms, is_unwanted, r->call, out, r->err);
    if (rc == 0 && era != MCP_ERA_UNKNOWN)
        wt__upstream_fit_era(r->upstream, era, wait_ms, is_unwanted, r->call, out);
    return rc;
}

static int send_to(struct relaying *r)
{
    struct mcp_call *call = r->call;
    struct parked *at = calloc(1, sizeof *at);
    struct buffer params = {0}, meta = {0}, capabilities = {0};
    size_t passed_count;
    if (!at)
        return wt__fail_nomem(r->err);
    put_params(&params, r);
    put_meta(&meta, call);
    if (wt__mcp_call_capabilities(call))
        wt__json_write(&capabilities, wt__mcp_call_capabilities(call));
    struct mcp_request request = {
        .method = r->what->method,
        .params = wt__buffer_view(&params),
        .meta = wt__buffer_view(&meta),
        .capabilities = wt__buffer_view(&capabilities),
        .log_level = wt__mcp_wanted_level(call),
        .progress = true, /* a server that reports progress is alive, whether or not the client asked for it */
        .name = r->what->name,
        .headers = r->what->headers,
        .header_count = r->what->header_count,
        .passed = wt__mcp_call_passed_headers(call, &passed_count),
        .principal = wt__mcp_call_principal(call),
        .timeout_ms = wt__upstream_call_timeout(r->upstream, r->gateway->options.call_timeout_ms),
    };
    request.passed_count = passed_count;
    int rc = params.failed || meta.failed || capabilities.failed ? wt__fail_nomem(r->err) : 0;
    if (rc == 0)
        rc = borrow_link(r, &at->link);
    if (rc == 0)
        rc = wt__mcp_exchange_begin(&at->exchange, wt__upstream_connection(at->link), &request, r->err);
    wt__buffer_dispose(&params);
    wt__buffer_dispose(&meta);
    wt__buffer_dispose(&capabilities);
    if (at->link)
        r->at = at;
    else
        let_go(at);
    return rc;
}

/* ---------------------------------------------------------------- what comes before the answer */

/* Ends the call because the server sent a type that MCP does not allow: the client could not read it. */
static enum relayed fail_misfit(struct relaying *r, const char *what, const struct mcp_misfit *misfit)
{
    bool whole = misfit->member[0] == '\0';
    wt__fail(r->err, WT_EFORMAT, "the server %s sent %s that MCP does not allow: %s%s%s is not %s",
             wt__upstream_name(r->upstream), what, whole ? "it" : "\"", misfit->member, whole ? "" : "\"",
             misfit->wanted);
    return RELAY_FAILED;
}

/* A notice of the wrong type is dropped: the answer still comes. */
static void pass_on(struct mcp_call *call, const struct mcp_event *event)
{
    struct mcp_misfit misfit;
    json_t *params = NULL;
    if (!wt__mcp_notice_fits(event->method, event->params, &misfit))
        return;
    if (wt__str_equal(event->method, STR("notifications/message"))) {
        wt__mcp_relay_log(call, event->params);
    } else if (wt__str_equal(event->method, STR("notifications/progress")) &&
               wt__json_parse(&params, event->params.ptr ? event->params.ptr : "", event->params.len, NULL) == 0) {
        wt__mcp_progress(call, wt__json_real(params, "progress", 0), wt__json_real(params, "total", -1),
                         wt__json_str(params, "message"));
    }
    json_decref(params);
}

/* A question of a legacy server. RELAY_ANSWERED: it has its answer, and its call goes on. */
static enum relayed put_question(struct relaying *r, const struct mcp_event *event)
{
    struct parked *at = r->at;
    struct str response;
    struct mcp_misfit misfit;
    char key[24], method[64];
    if (!wt__mcp_question_fits(event->method, event->params, &misfit)) {
        wt__mcp_exchange_reply(
            at->exchange, event->id, STR(""),
            STR("{\"code\":-32602,\"message\":\"the params are not of the type that MCP requires\"}"), NULL);
        return fail_misfit(r, "a question", &misfit);
    }
    snprintf(key, sizeof key, "q%u", ++at->questions);
    snprintf(method, sizeof method, "%.*s", (int)(event->method.len < 63 ? event->method.len : 63), event->method.ptr);
    switch (wt__mcp_ask(r->call, key, method, event->params.len > 0 ? event->params : STR("{}"), &response)) {
    case MCP_ASK_ANSWERED:
        return wt__mcp_exchange_reply(at->exchange, event->id, response, STR(""), r->err) < 0 ? RELAY_FAILED
                                                                                              : RELAY_ANSWERED;
    case MCP_ASK_FAILED:
        r->lacks |= wt__mcp_call_is_modern(r->call);
        return wt__mcp_exchange_reply(at->exchange, event->id, STR(""),
                                      STR("{\"code\":-32601,\"message\":\"the client cannot be asked that\"}"),
                                      r->err) < 0
                   ? RELAY_FAILED
                   : RELAY_ANSWERED;
    case MCP_ASK_PENDING:
        break;
    }
    wt__buffer_clear(&at->id);
    wt__buffer_str(&at->id, event->id);
    if (at->id.failed)
        return wt__fail_nomem(r->err), RELAY_FAILED;
    wt_error why;
    if (!park(r, at, &why)) { /* else the client would be asked, and its answer lead to nothing */
        wt__mcp_refuse_error(r->call, &why);
        return RELAY_REFUSED;
    }
    char state[HANDLE_BYTES + 1];
    snprintf(state, sizeof state, "p%s", at->handle);
    wt__mcp_keep_state(r->call, wt__str(state));
    r->at = NULL;
    return RELAY_ASKED;
}

/* ---------------------------------------------------------------- what a modern server wants to know */

/* The server is asked anew, with the responses, and its state. */
static void gather_responses(struct relaying *r, const json_t *keys, const json_t *state)
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

static void keep_round(struct relaying *r, const json_t *keys, const json_t *state)
{
    struct buffer text = {0};
    wt__buffer_text(&text, "m{\"keys\":");
    wt__json_write(&text, keys);
    if (state) {
        wt__buffer_text(&text, ",\"state\":");
        wt__json_write(&text, state);
    }
    wt__buffer_char(&text, '}');
    if (text.failed)
        wt__mcp_refuse(r->call, MCP_INTERNAL_ERROR, "memory is out");
    else
        wt__mcp_keep_state(r->call, wt__buffer_view(&text));
    wt__buffer_dispose(&text);
}

/* RELAY_ANSWERED: all is known, and the server is to be asked anew. */
static enum relayed put_requests(struct relaying *r, const json_t *result)
{
    json_t *requests = wt__json_object(result, "inputRequests"), *request, *keys = json_array();
    const json_t *state = json_object_get(result, "requestState");
    const char *key;
    enum relayed out = keys ? RELAY_ANSWERED : RELAY_FAILED;
    json_object_foreach(requests, key, request)
    {
        struct buffer params = {0};
        struct str response;
        const char *method = json_string_value(json_object_get(request, "method"));
        const json_t *given = wt__json_object(request, "params");
        if (out == RELAY_REFUSED || out == RELAY_FAILED)
            break;
        json_array_append_new(keys, json_string(key));
        if (!given || wt__json_write(&params, given) < 0)
            wt__buffer_text(&params, "{}");
        enum mcp_asked asked = wt__mcp_ask(r->call, key, method ? method : "", wt__buffer_view(&params), &response);
        wt__buffer_dispose(&params);
        if (asked == MCP_ASK_FAILED)
            out = RELAY_REFUSED;
        else if (asked == MCP_ASK_PENDING)
            out = RELAY_ASKED;
    }
    if (out == RELAY_ASKED)
        keep_round(r, keys, state);
    else if (out == RELAY_ANSWERED)
        gather_responses(r, keys, state);
    else if (out == RELAY_FAILED)
        wt__fail_nomem(r->err);
    json_decref(keys);
    return out;
}

/* ---------------------------------------------------------------- the answer */

static enum relayed refuse(struct relaying *r, struct str error)
{
    json_t *read = NULL;
    struct mcp_misfit misfit;
    struct str data;
    if (!wt__mcp_error_fits(error, &misfit))
        return fail_misfit(r, "an error", &misfit);
    if (!wt__mcp_member(error, "data", &data))
        data = STR("");
    wt__json_parse(&read, error.ptr, error.len, NULL);
    struct str message = wt__json_str(read, "message");
    wt__mcp_refuse_with(r->call, (int)wt__json_int(read, "code", MCP_INTERNAL_ERROR),
                        message.len > 0 ? message : STR("the server refused it, and does not say why"), data);
    json_decref(read);
    return RELAY_REFUSED;
}

/* Whether the result is one that asks; then it is read. */
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

static enum relayed take_result(struct relaying *r, struct str result, bool *again)
{
    struct mcp_misfit misfit;
    *again = false;
    if (!wt__mcp_result_fits(r->what->method, result, &misfit))
        return fail_misfit(r, "a result", &misfit);
    json_t *questions = read_questions(result);
    /* A server that goes on without it has a result; one that cannot says what its client should have been told. */
    if (!questions && r->lacks && wt__result_is_error(result))
        return RELAY_REFUSED;
    if (!questions) {
        wt__buffer_clear(r->result);
        wt__buffer_str(r->result, result);
        return r->result->failed ? (wt__fail_nomem(r->err), RELAY_FAILED) : RELAY_ANSWERED;
    }
    enum relayed out = put_requests(r, questions);
    *again = out == RELAY_ANSWERED;
    json_decref(questions);
    return out;
}

/* Listens until the exchange is over, or the client is asked. */
static enum relayed listen_to(struct relaying *r, bool *again)
{
    struct mcp_event event;
    enum relayed out = RELAY_ANSWERED;
    *again = false;
    wt__mcp_on_cancel(r->call, cancel, r->at->exchange);
    for (bool over = false; !over && out == RELAY_ANSWERED;) {
        if (wt__mcp_exchange_next(r->at->exchange, &event, r->err) < 0) {
            out = RELAY_FAILED;
            break;
        }
        over = event.kind == MCP_EVENT_RESULT || event.kind == MCP_EVENT_REFUSED;
        if (event.kind == MCP_EVENT_NOTIFIED)
            pass_on(r->call, &event);
        else if (event.kind == MCP_EVENT_ASKED)
            out = put_question(r, &event);
        else if (event.kind == MCP_EVENT_RESULT)
            out = take_result(r, event.result, again);
        else
            out = refuse(r, event.error);
    }
    wt__mcp_on_cancel(r->call, NULL, NULL);
    return out;
}

/* ---------------------------------------------------------------- the whole */

/* Takes up what an earlier request of the client left. False: it cannot be, as err says. */
static bool resume(struct relaying *r)
{
    struct str state = wt__mcp_state(r->call);
    json_t *kept = NULL;
    char key[24];
    if (state.len == 0)
        return true;
    struct str rest = {state.ptr + 1, state.len - 1};
    if (state.ptr[0] == 'm' && wt__json_parse(&kept, rest.ptr, rest.len, NULL) == 0) {
        gather_responses(r, json_object_get(kept, "keys"), json_object_get(kept, "state"));
        json_decref(kept);
        return true;
    }
    r->at = state.ptr[0] == 'p' ? take_up(r->gateway, rest) : NULL;
    if (!r->at) {
        wt__fail(r->err, WT_ENOTFOUND, "what was asked is answered already, or too late: begin the call anew");
        return false;
    }
    snprintf(key, sizeof key, "q%u", r->at->questions);
    struct str response = wt__mcp_response(r->call, key);
    return wt__mcp_exchange_reply(r->at->exchange, wt__buffer_view(&r->at->id), response,
                                  response.len > 0 ? STR("")
                                                   : STR("{\"code\":-32603,\"message\":\"the client did not answer\"}"),
                                  r->err) == 0;
}

/* Whether it may be sent once more: its server never had it, as long as there is time; or nothing comes of having it
 * twice, once. A server that does not run was waited for already. */
static bool may_repeat(struct relaying *r, int rc)
{
    if (rc != WT_ENETWORK || !r->at || wt__mcp_is_cancelled(r->call) || wt__now_ms() >= r->until_ms)
        return false;
    if (!r->at->exchange || !wt__mcp_exchange_was_sent(r->at->exchange))
        return true;
    bool first = r->what->is_safe && !r->repeated;
    r->repeated = true;
    return first;
}

/* Sends what is not under way already, and hears what comes of it. */
static enum relayed ask_server(struct relaying *r, bool *asks)
{
    enum relayed out;
    bool again;
    r->until_ms = wt__now_ms() + GATEWAY_START_WAIT_MS;
    do {
        *asks = false;
        out = r->at || send_to(r) == 0 ? listen_to(r, asks) : RELAY_FAILED;
        again = out == RELAY_FAILED && may_repeat(r, r->err->code);
        let_go(r->at);
        r->at = NULL;
    } while (again);
    return out;
}

/* Counts the request as the server's and the client's, so that a server that never answers, and a client that never
 * stops asking, keep no one else's requests waiting. False, as the error says. */
static bool take_turn(const struct relaying *r)
{
    struct shares *servers = &r->gateway->calls, *clients = wt__upstream_calls(r->upstream);
    const char *holder = wt__mcp_call_holder(r->call), *server = wt__upstream_name(r->upstream);
    if (!wt__shares_take(clients, holder, 1)) {
        wt__fail(r->err, WT_EBUSY,
                 "the server %s has not answered %zu requests of this client, which is its share of the %d that a "
                 "server is asked at once: try again when one has ended",
                 server, wt__shares_of(clients, holder), UPSTREAM_CALLS_MAX);
        return false;
    }
    if (wt__shares_take(servers, server, 1))
        return true;
    wt__shares_give(clients, holder, 1);
    wt__fail(
        r->err, WT_EBUSY,
        "the server %s has not answered %zu requests, which is its share of the %d that servers are asked at once: "
        "try again when one has ended",
        server, wt__shares_of(servers, server), GATEWAY_CALLS_MAX);
    return false;
}

static void give_turn(const struct relaying *r)
{
    wt__shares_give(&r->gateway->calls, wt__upstream_name(r->upstream), 1);
    wt__shares_give(wt__upstream_calls(r->upstream), wt__mcp_call_holder(r->call), 1);
}

enum relayed wt__relay(struct gateway *gateway, struct mcp_call *call, struct upstream *upstream,
                       const struct relay *what, struct buffer *result, wt_error *err)
{
    struct relaying r = {
        .gateway = gateway, .call = call, .upstream = upstream, .what = what, .result = result, .err = err};
    if (!take_turn(&r))
        return RELAY_FAILED;
    enum relayed out = resume(&r) ? RELAY_ANSWERED : RELAY_FAILED;
    bool asks = true;
    for (int round = 0; out == RELAY_ANSWERED && asks && round < MCP_ROUNDS_MAX; round++)
        out = ask_server(&r, &asks);
    if (out == RELAY_ANSWERED && asks) {
        wt__fail(err, WT_ETOOLONG, "the server asked %d times, and still wants to know more", MCP_ROUNDS_MAX);
        out = RELAY_FAILED;
    }
    let_go(r.at);
    give_turn(&r);
    wt__buffer_dispose(&r.responses);
    wt__buffer_dispose(&r.state);
    return out;
}
