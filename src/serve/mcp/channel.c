/* channel.c: code common to all channels: one message at a time, no message after the answer, and cancellation when the
 * client disconnects. */
#include "serve/mcp/inside.h"

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
