/* ask.c: questions from a call to its client, with one function for both eras.
 *
 * A legacy client gets a request on the stream of the call's own request, and the call waits. A modern client gets the
 * questions as the result (input_required), with a sealed requestState that holds the answers so far and the call's
 * state. The client repeats its request with the answers, and the call runs again from the beginning. The payload of
 * the state:
 *
 *   {"n": rounds so far, "a": {key: response, ...}, "s": state of the call in base64}
 *
 * Responses sent without a state are accepted too, as answers to questions that the call may ask. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "base/memory.h"
#include "serve/mcp/internal.h"

/* ---------------------------------------------------------------- sealing a state */

/* requestState passes through a possibly hostile client. An HMAC-SHA256 covers the expiry time, the payload, and the
 * request that the state belongs to. The text is the base64url of
 *
 *   32 bytes   HMAC of a label, the digest of the request, the expiry time, and the payload
 *   8 bytes    expiry time in milliseconds, big-endian
 *   the rest   payload */

/* The request that a state belongs to. */
struct mcp_sealed_for {
    const char *principal;
    struct str method, name;
    const json_t *arguments; /* NULL for none; member order and whitespace are ignored */
};

enum { MAC_BYTES = 32, END_BYTES = 8 };

static const char label[] = "whichtool requestState 1";

/* Hashes the length of a part, then the part. Without lengths, two different subjects could give the same input. */
static void digest_part(struct sha256 *sha, struct str part)
{
    unsigned char length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)part.len >> (56 - 8 * i));
    wt__sha256_update(sha, length, sizeof length);
    if (part.len > 0)
        wt__sha256_update(sha, part.ptr, part.len);
}

static bool digest_subject(unsigned char digest[32], const struct mcp_sealed_for *subject)
{
    struct sha256 sha;
    char *arguments = subject->arguments ? json_dumps(subject->arguments, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (subject->arguments && !arguments)
        return false;
    wt__sha256_begin(&sha);
    digest_part(&sha, wt__str(subject->principal));
    digest_part(&sha, subject->method);
    digest_part(&sha, subject->name);
    digest_part(&sha, arguments ? wt__str(arguments) : STR("{}"));
    wt__sha256_end(&sha, digest);
    free(arguments);
    return true;
}

static void compute_mac(unsigned char mac[MAC_BYTES], const unsigned char key[32], const unsigned char digest[32],
                        struct str sealed)
{
    struct hmac hmac;
    wt__hmac_begin(&hmac, (struct str){(const char *)key, 32});
    wt__hmac_update(&hmac, label, sizeof label);
    wt__hmac_update(&hmac, digest, 32);
    wt__hmac_update(&hmac, sealed.ptr, sealed.len);
    wt__hmac_end(&hmac, mac);
}

/* Appends the sealed payload in base64url. ends_ms: expiry time on the clock of wt__mcp_steady_ms. Returns false if out
 * of memory. */
static bool seal_payload(struct buffer *out, const unsigned char key[32], const struct mcp_sealed_for *subject,
                         double ends_ms, struct str payload)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer sealed = {0};
    unsigned char digest[32], mac[MAC_BYTES] = {0}, end[END_BYTES];
    uint64_t ends = ends_ms > 0 ? (uint64_t)ends_ms : 0;
    if (!digest_subject(digest, subject))
        return false;
    for (unsigned i = 0; i < END_BYTES; i++)
        end[i] = (unsigned char)(ends >> (56 - 8 * i));
    wt__buffer_append(&sealed, mac, sizeof mac);
    wt__buffer_append(&sealed, end, sizeof end);
    wt__buffer_str(&sealed, payload);
    if (!sealed.failed) {
        compute_mac(mac, key, digest, (struct str){sealed.ptr + MAC_BYTES, sealed.len - MAC_BYTES});
        memcpy(sealed.ptr, mac, sizeof mac);
        wt__base64_url(out, wt__buffer_view(&sealed));
    }
    return !sealed.failed && !out->failed;
}

/* Checks the sealed state and appends its payload. Returns NULL on success. On error, returns the end of an error
 * message, such as "is not one of ours". */
static const char *unseal_payload(struct buffer *payload, const unsigned char key[32],
                                  const struct mcp_sealed_for *subject, double now_ms, struct str state)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer sealed = {0};
    unsigned char digest[32], mac[MAC_BYTES];
    uint64_t ends = 0;
    if (state.len > MCP_STATE_BYTES_MAX || !wt__base64_url_decode(&sealed, state) ||
        sealed.len < MAC_BYTES + END_BYTES || sealed.failed || !digest_subject(digest, subject))
        return "is not one of ours";
    compute_mac(mac, key, digest, (struct str){sealed.ptr + MAC_BYTES, sealed.len - MAC_BYTES});
    for (size_t i = 0; i < END_BYTES; i++)
        ends = ends << 8 | (unsigned char)sealed.ptr[MAC_BYTES + i];
    if (!wt__same_secret(mac, sealed.ptr, MAC_BYTES))
        return "is not one of ours for this request";
    if (now_ms > (double)ends)
        return "has expired; send the request without it";
    wt__buffer_append(payload, sealed.ptr + MAC_BYTES + END_BYTES, sealed.len - MAC_BYTES - END_BYTES);
    return NULL;
}

/* ---------------------------------------------------------------- responses of a modern client */

static bool refuse_responses(struct mcp_call *call, const char *what, const char *words)
{
    wt__mcp_refuse(call, MCP_INVALID_PARAMS, "%s %s", what, words);
    call->status = 400;
    return false;
}

static void fill_sealed_subject(const struct mcp_call *call, struct mcp_sealed_for *out)
{
    /* Use the client's original arguments: the state is unsealed before the arguments are repaired. */
    *out = (struct mcp_sealed_for){call->peer->principal, call->in.method, call->name,
                                   wt__json_object(call->in.params, "arguments")};
}

/* Parses an unsealed payload. We wrote it, but check it anyway. */
static bool read_payload(struct mcp_call *call, struct str payload)
{
    json_auto_t *read = NULL;
    if (wt__json_parse(&read, payload.ptr ? payload.ptr : "", payload.len, NULL) < 0)
        return false;
    call->round = (int)wt__json_int(read, "n", 0);
    return json_is_object(json_object_get(read, "a")) &&
           json_object_update(call->responses, json_object_get(read, "a")) == 0 &&
           wt__base64_decode(&call->state, wt__json_str(read, "s"));
}

static bool read_request_state(struct mcp_call *call)
{
    const json_t *state = json_object_get(call->in.params, "requestState");
    struct mcp_sealed_for subject;
    WT_CLEANUP(wt__buffer_dispose) struct buffer payload = {0};
    if (!state)
        return true;
    if (!json_is_string(state))
        return refuse_responses(call, "requestState", "is not a string");
    fill_sealed_subject(call, &subject);
    const char *reason = unseal_payload(&payload, call->service->key, &subject, wt__mcp_steady_ms(call->service),
                                        wt__json_str(call->in.params, "requestState"));
    if (!reason && !read_payload(call, wt__buffer_view(&payload)))
        reason = "cannot be read";
    return !reason || refuse_responses(call, "requestState", reason);
}

bool wt__mcp_read_responses(struct mcp_call *call)
{
    json_t *given = json_object_get(call->in.params, "inputResponses"), *response;
    const char *key;
    call->responses = json_object();
    call->asked = json_object();
    if (!call->responses || !call->asked) {
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
        return false;
    }
    if (!call->is_modern)
        return true;
    if (!read_request_state(call))
        return false;
    if (given && !json_is_object(given))
        return refuse_responses(call, "inputResponses", "is not an object");
    json_object_foreach(given, key, response)
    {
        if (!json_is_object(response))
            return refuse_responses(call, "a member of inputResponses", "is not an object");
        if (!json_object_get(call->responses, key))
            json_object_set(call->responses, key, response);
    }
    return true;
}

/* ---------------------------------------------------------------- state of the questions */

static void write_payload(const struct mcp_call *call, struct buffer *out)
{
    const struct buffer *kept = call->kept.len > 0 ? &call->kept : &call->state;
    json_t *responses = call->responses, *response;
    const char *key;
    bool first = true;
    wt__buffer_printf(out, "{\"n\":%d,\"a\":{", call->round + 1);
    json_object_foreach(responses, key, response)
    {
        if (!json_object_get(call->asked, key)) /* the call did not use this response */
            continue;
        wt__buffer_text(out, first ? "" : ",");
        wt__buffer_json(out, wt__str(key));
        wt__buffer_char(out, ':');
        wt__json_write(out, response);
        first = false;
    }
    wt__buffer_text(out, "},\"s\":\"");
    wt__base64(out, wt__buffer_view(kept));
    wt__buffer_text(out, "\"}");
}

void wt__mcp_seal_state(struct mcp_call *call)
{
    struct mcp_sealed_for subject;
    WT_CLEANUP(wt__buffer_dispose) struct buffer payload = {0};
    fill_sealed_subject(call, &subject);
    write_payload(call, &payload);
    bool sealed =
        !payload.failed && seal_payload(&call->sealed, call->service->key, &subject,
                                        wt__mcp_steady_ms(call->service) + MCP_STATE_MS, wt__buffer_view(&payload));
    if (!sealed)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "out of memory");
    else if (call->round >= MCP_ROUNDS_MAX)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the call needs more than %d rounds of questions", MCP_ROUNDS_MAX);
    else if (call->sealed.len > MCP_STATE_BYTES_MAX)
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "the answers so far exceed %d bytes", MCP_STATE_BYTES_MAX);
}

void wt__mcp_keep_state(struct mcp_call *call, struct str state)
{
    wt__buffer_clear(&call->kept);
    wt__buffer_str(&call->kept, state);
}

struct str wt__mcp_state(const struct mcp_call *call)
{
    return wt__buffer_view(call->kept.len > 0 ? &call->kept : &call->state);
}

/* ---------------------------------------------------------------- asking */

/* Returns the capability that a client needs for a method, such as "sampling" or "elicitation.url", or NULL if clients
 * do not support the method. */
static const char *find_capability(const char *method, struct str params)
{
    json_auto_t *read = NULL;
    wt__json_parse(&read, params.ptr ? params.ptr : "", params.len, NULL);
    if (strcmp(method, "elicitation/create") == 0)
        return wt__str_equal(wt__json_str(read, "mode"), STR("url")) ? "elicitation.url" : "elicitation";
    if (strcmp(method, "sampling/createMessage") == 0)
        return json_object_get(read, "tools") ? "sampling.tools" : "sampling";
    return strcmp(method, "roots/list") == 0 ? "roots" : NULL;
}

/* Fails the call. In tools/call a legacy client gets a tool error, which its model can read. */
static enum mcp_asked fail_question(struct mcp_call *call, const char *words)
{
    if (call->method->shape == MCP_SHAPE_TOOL && !call->is_modern)
        wt__mcp_fail_tool(call, "%s", words);
    else
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "%s", words);
    return MCP_ASK_FAILED;
}

static enum mcp_asked fail_capability(struct mcp_call *call, const char *path)
{
    char data[128];
    const char *dot = strchr(path, '.');
    if (!call->is_modern)
        return fail_question(call, "the client did not declare the capability that this call needs");
    if (dot)
        snprintf(data, sizeof data, "{\"requiredCapabilities\":{\"%.*s\":{\"%s\":{}}}}", (int)(dot - path), path,
                 dot + 1);
    else
        snprintf(data, sizeof data, "{\"requiredCapabilities\":{\"%s\":{}}}", path);
    wt__mcp_refuse_with(call, MCP_MISSING_CAPABILITY, STR("the client did not declare a required capability"),
                        wt__str(data));
    return MCP_ASK_FAILED;
}

static enum mcp_asked ask_modern_client(struct mcp_call *call, const char *key, const char *method, struct str params)
{
    if (json_object_get(call->asked, key)) /* already asked */
        return MCP_ASK_PENDING;
    if (call->question_count >= MCP_QUESTIONS_MAX || json_object_set_new(call->asked, key, json_true()) < 0)
        return fail_question(call, "too many questions at once");
    wt__buffer_text(&call->questions, call->question_count++ > 0 ? "," : "");
    wt__buffer_json(&call->questions, wt__str(key));
    wt__buffer_printf(&call->questions, ":{\"method\":\"%s\",\"params\":", method);
    wt__buffer_str(&call->questions, params);
    wt__buffer_char(&call->questions, '}');
    call->is_refused = false; /* an earlier question may have failed */
    return MCP_ASK_PENDING;
}

/* Sends a question on the stream of the call's request. If that stream is closed but the call is not cancelled, uses
 * the client's general stream. */
static bool send_question(struct mcp_call *call, struct str message)
{
    if (wt__mcp_call_send(call, message))
        return true;
    pthread_mutex_lock(&call->peer->lock);
    struct mcp_channel *stream = call->peer->stream;
    if (stream)
        wt__mcp_channel_keep(stream);
    pthread_mutex_unlock(&call->peer->lock);
    bool sent = stream && !wt__mcp_is_cancelled(call) && wt__mcp_channel_send(stream, message);
    wt__mcp_channel_release(stream);
    return sent;
}

static void link_question(struct mcp_peer *peer, struct client_question *question)
{
    pthread_mutex_lock(&peer->lock);
    snprintf(question->id, sizeof question->id, "whichtool-%u", ++peer->question_number);
    question->next = peer->questions;
    peer->questions = question;
    pthread_mutex_unlock(&peer->lock);
}

static void unlink_question(struct mcp_peer *peer, struct client_question *question)
{
    pthread_mutex_lock(&peer->lock);
    struct client_question **at = &peer->questions;
    while (*at != question)
        at = &(*at)->next;
    *at = question->next;
    pthread_mutex_unlock(&peer->lock);
}

/* Waits for the answer. Returns false on timeout or cancel. */
static bool wait_for_response(struct mcp_call *call, struct client_question *question)
{
    double until_ms = wt__now_ms() + MCP_STATE_MS;
    bool late = false;
    pthread_mutex_lock(&call->lock);
    while (!late && !question->is_answered && !atomic_load(&call->cancelled))
        late = !wt__steady_wait(&call->news, &call->lock, until_ms);
    bool answered = question->is_answered;
    pthread_mutex_unlock(&call->lock);
    return answered;
}

/* Notifies the client that the question is cancelled. */
static void cancel_question(struct mcp_call *call, const struct client_question *question)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    wt__buffer_printf(&message,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"%s\"}}",
                      question->id);
    if (!message.failed)
        wt__mcp_channel_send(call->channel, wt__buffer_view(&message));
}

static enum mcp_asked ask_legacy_client(struct mcp_call *call, const char *key, const char *method, struct str params)
{
    struct client_question question = {.call = call};
    json_t *result;
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    enum mcp_asked asked = MCP_ASK_ANSWERED;
    link_question(call->peer, &question);
    wt__buffer_printf(&message, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"%s\",\"params\":", question.id,
                      method);
    wt__buffer_str(&message, params);
    wt__buffer_char(&message, '}');
    bool sent = !message.failed && send_question(call, wt__buffer_view(&message));
    bool answered = sent && wait_for_response(call, &question);
    unlink_question(call->peer, &question);
    if (sent && !answered)
        cancel_question(call, &question);
    if (!answered)
        asked = fail_question(call, sent ? "the client did not answer the question"
                                         : "cannot reach the client to ask a question");
    else if (!question.result)
        asked = fail_question(call, "the client refused the question");
    else if (wt__json_parse(&result, question.result, strlen(question.result), NULL) < 0 ||
             json_object_set_new(call->responses, key, result) < 0)
        asked = fail_question(call, "cannot store the client's answer");
    free(question.result);
    return asked;
}

struct str wt__mcp_response(struct mcp_call *call, const char *key)
{
    json_t *response = json_object_get(call->responses, key);
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    const char *copy = NULL;
    /* Keep a used response for later rounds. */
    if (response && json_object_set_new(call->asked, key, json_true()) == 0 && wt__json_write(&text, response) == 0)
        copy = wt__arena_copy(&call->arena, wt__buffer_view(&text));
    return wt__str(copy ? copy : "");
}

enum mcp_asked wt__mcp_ask(struct mcp_call *call, const char *key, const char *method, struct str params,
                           struct str *response)
{
    *response = STR("");
    if (!call->method->may_ask) {
        wt__mcp_refuse(call, MCP_INTERNAL_ERROR, "%s cannot ask questions", call->method->name);
        return MCP_ASK_FAILED;
    }
    *response = wt__mcp_response(call, key);
    if (response->len > 0)
        return MCP_ASK_ANSWERED;
    const char *path = find_capability(method, params);
    if (!path)
        return fail_question(call, "unknown question method");
    if (!wt__mcp_call_client_can(call, path))
        return fail_capability(call, path);
    enum mcp_asked asked =
        call->is_modern ? ask_modern_client(call, key, method, params) : ask_legacy_client(call, key, method, params);
    if (asked == MCP_ASK_ANSWERED)
        *response = wt__mcp_response(call, key);
    return asked;
}
