/* peer.c: channels and peers. A channel carries the messages of one request. A peer is the client end of a connection,
 * with its running calls, open questions, subscriptions and general stream.
 *
 * A channel sends one message at a time and no message after the answer. It cancels the call when the client
 * disconnects. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "serve/mcp/internal.h"

bool wt__mcp_is_cancelled(const struct mcp_call *call)
{
    return atomic_load(&call->cancelled);
}

/* The callback runs under the call's lock, so it never runs after this function has removed it. */
void wt__mcp_on_cancel(struct mcp_call *call, void (*cancelled)(void *context), void *context)
{
    pthread_mutex_lock(&call->lock);
    call->on_cancel = cancelled;
    call->cancel_context = context;
    if (cancelled && atomic_load(&call->cancelled))
        cancelled(context);
    pthread_mutex_unlock(&call->lock);
}

void wt__mcp_call_cancel(struct mcp_call *call)
{
    pthread_mutex_lock(&call->lock);
    if (!atomic_exchange(&call->cancelled, true)) {
        if (call->on_cancel)
            call->on_cancel(call->cancel_context);
        pthread_cond_broadcast(&call->news);
    }
    pthread_mutex_unlock(&call->lock);
}

void wt__mcp_channel_open(struct mcp_channel *channel)
{
    atomic_init(&channel->refs, 1);
    pthread_mutex_init(&channel->send_lock, NULL);
    pthread_mutex_init(&channel->lock, NULL);
}

void wt__mcp_channel_keep(struct mcp_channel *channel)
{
    atomic_fetch_add(&channel->refs, 1);
}

void wt__mcp_channel_release(struct mcp_channel *channel)
{
    if (!channel || atomic_fetch_sub(&channel->refs, 1) > 1)
        return;
    pthread_mutex_destroy(&channel->send_lock);
    pthread_mutex_destroy(&channel->lock);
    channel->dispose(channel);
}

bool wt__mcp_channel_send(struct mcp_channel *channel, struct str message)
{
    pthread_mutex_lock(&channel->send_lock);
    bool sent = !channel->is_finished && channel->send(channel, message);
    pthread_mutex_unlock(&channel->send_lock);
    return sent;
}

void wt__mcp_channel_answer(struct mcp_channel *channel, int status, struct str message)
{
    pthread_mutex_lock(&channel->send_lock);
    if (!channel->is_finished)
        channel->answer(channel, status, message);
    channel->is_finished = true;
    pthread_mutex_unlock(&channel->send_lock);
}

void wt__mcp_channel_keep_alive(struct mcp_channel *channel)
{
    pthread_mutex_lock(&channel->send_lock);
    if (!channel->is_finished && channel->keep_alive)
        channel->keep_alive(channel);
    pthread_mutex_unlock(&channel->send_lock);
}

void wt__mcp_channel_close_early(struct mcp_channel *channel)
{
    pthread_mutex_lock(&channel->send_lock);
    if (!channel->is_finished && channel->close_early)
        channel->close_early(channel);
    pthread_mutex_unlock(&channel->send_lock);
}

void wt__mcp_channel_gone(struct mcp_channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    channel->gone = true;
    if (channel->call)
        wt__mcp_call_cancel(channel->call);
    pthread_mutex_unlock(&channel->lock);
}

void wt__mcp_append_line(struct buffer *out, struct str message)
{
    size_t begin = out->len;
    wt__buffer_str(out, message);
    for (size_t i = begin; !out->failed && i < out->len; i++)
        if (out->ptr[i] == '\n' || out->ptr[i] == '\r')
            out->ptr[i] = ' ';
}

struct mcp_peer *wt__mcp_peer_open(struct mcp_service *service, const char *principal, bool known)
{
    struct mcp_peer *peer = calloc(1, sizeof *peer);
    size_t len = principal ? strlen(principal) : 0;
    if (!peer)
        return NULL;
    atomic_init(&peer->refs, 1);
    pthread_mutex_init(&peer->lock, NULL);
    peer->service = service;
    peer->level = MCP_INFO;
    peer->principal = len <= MCP_PRINCIPAL_BYTES_MAX ? wt__copy_string(principal ? principal : "", len) : NULL;
    if (!peer->principal) {
        wt__mcp_peer_release(peer);
        return NULL;
    }
    atomic_init(&peer->may_call, true);
    peer->holder = peer->principal;
    if (known) {
        pthread_mutex_lock(&service->lock);
        /* Never a key's name: key names cannot contain '#'. */
        snprintf(peer->session_holder, sizeof peer->session_holder, "#%u", ++service->peer_number);
        if (!*peer->principal)
            peer->holder = peer->session_holder;
        peer->is_listed = true;
        peer->next = service->peers;
        if (peer->next)
            peer->next->before = peer;
        service->peers = peer;
        pthread_mutex_unlock(&service->lock);
    }
    return peer;
}

void wt__mcp_peer_keep(struct mcp_peer *peer)
{
    atomic_fetch_add(&peer->refs, 1);
}

void wt__mcp_peer_release(struct mcp_peer *peer)
{
    if (!peer || atomic_fetch_sub(&peer->refs, 1) > 1)
        return;
    wt__mcp_channel_release(peer->stream);
    for (size_t i = 0; i < peer->watched_count; i++)
        free(peer->watched[i]);
    free(peer->watched);
    json_decref(peer->client);
    json_decref(peer->capabilities);
    pthread_mutex_destroy(&peer->lock);
    free(peer->principal);
    free(peer);
}

static void unlink_peer(struct mcp_peer *peer)
{
    struct mcp_service *service = peer->service;
    pthread_mutex_lock(&service->lock);
    if (peer->is_listed) {
        *(peer->before ? &peer->before->next : &service->peers) = peer->next;
        if (peer->next)
            peer->next->before = peer->before;
        peer->is_listed = false;
    }
    pthread_mutex_unlock(&service->lock);
}

void wt__mcp_peer_close(struct mcp_peer *peer)
{
    unlink_peer(peer);
    pthread_mutex_lock(&peer->lock);
    peer->is_closed = true;
    for (struct mcp_call *call = peer->running; call; call = call->next)
        wt__mcp_call_cancel(call);
    pthread_mutex_unlock(&peer->lock);
    wt__mcp_peer_stream(peer, NULL);
}

void wt__mcp_peer_drain(struct mcp_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    for (struct client_question *question = peer->questions; question; question = question->next)
        wt__mcp_call_cancel(question->call);
    pthread_mutex_unlock(&peer->lock);
    wt__mcp_peer_stream(peer, NULL);
}

void wt__mcp_peer_stream(struct mcp_peer *peer, struct mcp_channel *stream)
{
    if (stream)
        wt__mcp_channel_keep(stream);
    pthread_mutex_lock(&peer->lock);
    struct mcp_channel *last = peer->stream;
    bool closed = stream && (peer->is_closed || atomic_load(&peer->service->stopping));
    peer->stream = closed ? NULL : stream;
    pthread_mutex_unlock(&peer->lock);
    if (closed) {
        wt__mcp_channel_answer(stream, 200, STR(""));
        wt__mcp_channel_release(stream);
    }
    if (last)
        wt__mcp_channel_answer(last, 200, STR(""));
    wt__mcp_channel_release(last);
}

void wt__mcp_peer_cancel(struct mcp_peer *peer, struct str id)
{
    pthread_mutex_lock(&peer->lock);
    for (struct mcp_call *call = peer->running; call; call = call->next)
        if (wt__str_equal(wt__buffer_view(&call->in.id), id))
            wt__mcp_call_cancel(call);
    pthread_mutex_unlock(&peer->lock);
}

void wt__mcp_peer_deliver_response(struct mcp_peer *peer, const json_t *message)
{
    struct str id = wt__json_str(message, "id");
    const json_t *result = wt__json_object(message, "result");
    pthread_mutex_lock(&peer->lock);
    for (struct client_question *question = peer->questions; question; question = question->next) {
        if (!wt__str_equal(id, wt__str(question->id)))
            continue;
        pthread_mutex_lock(&question->call->lock);
        if (!question->is_answered) {
            question->is_answered = true;
            question->result = result ? json_dumps(result, JSON_COMPACT) : NULL;
            pthread_cond_broadcast(&question->call->news);
        }
        pthread_mutex_unlock(&question->call->lock);
    }
    pthread_mutex_unlock(&peer->lock);
}

/* Returns the index of a subscription, or SIZE_MAX. */
static size_t find_watched(const struct mcp_peer *peer, struct str uri)
{
    for (size_t i = 0; i < peer->watched_count; i++)
        if (wt__str_equal(wt__str(peer->watched[i]), uri))
            return i;
    return SIZE_MAX;
}

int wt__mcp_peer_watch(struct mcp_peer *peer, struct str uri)
{
    int rc = 0;
    pthread_mutex_lock(&peer->lock);
    if (find_watched(peer, uri) == SIZE_MAX) {
        char *copy = wt__copy_string(uri.ptr, uri.len);
        if (peer->watched_count >= MCP_SUBSCRIPTIONS_MAX)
            rc = WT_ETOOLONG;
        else if (!copy || wt__grow((void **)&peer->watched, &peer->watched_capacity, peer->watched_count + 1,
                                   sizeof *peer->watched) < 0)
            rc = WT_ENOMEM;
        if (rc == 0)
            peer->watched[peer->watched_count++] = copy;
        else
            free(copy);
    }
    pthread_mutex_unlock(&peer->lock);
    return rc;
}

void wt__mcp_peer_unwatch(struct mcp_peer *peer, struct str uri)
{
    pthread_mutex_lock(&peer->lock);
    size_t at = find_watched(peer, uri);
    if (at != SIZE_MAX) {
        free(peer->watched[at]);
        peer->watched[at] = peer->watched[--peer->watched_count];
    }
    pthread_mutex_unlock(&peer->lock);
}
