/* stdio.c: serves one client over two descriptors, a message per line; see transport.h. The calling thread reads
 * messages and answers quick requests. Workers run the features. Calls that may wait run on threads of their own.
 *
 * Lines are written under one lock, in pieces small enough for a pipe to accept without blocking. A client that does
 * not read blocks the server for at most MCP_STDIO_WRITE_MS. */
#include "serve/mcp/transport.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "serve/mcp/internal.h"

enum {
    READ_BYTES = 64 << 10,
    SLICE_MS = 100,  /* poll interval while waiting to write */
    QUEUE_MAX = 512, /* maximum calls waiting for a worker; reading pauses when the queue is full */
};

struct stdio {
    struct mcp_service *service;
    struct mcp_peer *peer;
    int in, out, stop_fd;
    pthread_mutex_t write_lock;
    struct buffer line;     /* line being written */
    atomic_bool has_failed; /* writing failed */
    bool is_out_of_memory;  /* out of memory for a line; under write_lock */

    pthread_mutex_t lock;
    pthread_cond_t work, room, idle;
    struct mcp_call *queue[QUEUE_MAX]; /* ring buffer: `queued` calls from index `first` */
    size_t first, queued;
    unsigned channels; /* number of open channels, each of which may still write */
    bool is_closing;
    pthread_t workers[MCP_STDIO_WORKERS_MAX];
    unsigned worker_count;

    struct buffer text; /* incomplete line */
    bool is_skipping;   /* the bytes up to the next line break belong to a refused line */
};

/* Waits until `out` accepts data. Returns false on error or timeout. */
static bool wait_for_room(struct stdio *stdio)
{
    struct pollfd room = {stdio->out, POLLOUT, 0};
    for (double until = wt__now_ms() + MCP_STDIO_WRITE_MS; wt__now_ms() < until && !atomic_load(&stdio->has_failed);) {
        int rc = poll(&room, 1, SLICE_MS);
        if (rc > 0)
            return (room.revents & POLLOUT) && !(room.revents & (POLLERR | POLLNVAL));
        if (rc < 0 && errno != EINTR)
            return false;
    }
    return false;
}

static bool write_output(struct stdio *stdio, struct str bytes)
{
    while (bytes.len > 0) {
        if (!wait_for_room(stdio))
            return false;
        ssize_t written = write(stdio->out, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (written > 0)
            bytes = (struct str){bytes.ptr + written, bytes.len - (size_t)written};
    }
    return true;
}

static bool write_message_line(struct stdio *stdio, struct str message)
{
    pthread_mutex_lock(&stdio->write_lock);
    wt__buffer_clear(&stdio->line);
    wt__mcp_append_line(&stdio->line, message);
    wt__buffer_char(&stdio->line, '\n');
    bool written =
        !atomic_load(&stdio->has_failed) && !stdio->line.failed && write_output(stdio, wt__buffer_view(&stdio->line));
    if (!written)
        atomic_store(&stdio->has_failed, true);
    stdio->is_out_of_memory |= stdio->line.failed;
    pthread_mutex_unlock(&stdio->write_lock);
    return written;
}

/* ---------------------------------------------------------------- channels: one per request, all writing to stdout */

struct stdio_channel {
    struct mcp_channel channel; /* must be first */
    struct stdio *stdio;
};

static bool stdio_channel_send(struct mcp_channel *channel, struct str message)
{
    return write_message_line(((struct stdio_channel *)channel)->stdio, message);
}

static void stdio_channel_answer(struct mcp_channel *channel, int status, struct str message)
{
    (void)status;
    if (message.len > 0)
        stdio_channel_send(channel, message);
}

static bool stdio_channel_is_gone(struct mcp_channel *channel)
{
    return atomic_load(&((struct stdio_channel *)channel)->stdio->has_failed);
}

static void stdio_channel_dispose(struct mcp_channel *channel)
{
    struct stdio *stdio = ((struct stdio_channel *)channel)->stdio;
    free(channel);
    pthread_mutex_lock(&stdio->lock);
    stdio->channels--;
    pthread_cond_broadcast(&stdio->idle);
    pthread_mutex_unlock(&stdio->lock);
}

static struct mcp_channel *open_stdio_channel(struct stdio *stdio)
{
    struct stdio_channel *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    wt__mcp_channel_open(&own->channel);
    own->channel.is_shared = true;
    own->channel.send = stdio_channel_send;
    own->channel.answer = stdio_channel_answer;
    own->channel.is_gone = stdio_channel_is_gone;
    own->channel.dispose = stdio_channel_dispose;
    own->stdio = stdio;
    pthread_mutex_lock(&stdio->lock);
    stdio->channels++;
    pthread_mutex_unlock(&stdio->lock);
    return &own->channel;
}

/* ---------------------------------------------------------------- workers */

static void *run_worker(void *context)
{
    struct stdio *stdio = context;
    pthread_mutex_lock(&stdio->lock);
    for (;;) {
        while (stdio->queued == 0 && !stdio->is_closing)
            pthread_cond_wait(&stdio->work, &stdio->lock);
        if (stdio->queued == 0)
            break;
        struct mcp_call *call = stdio->queue[stdio->first];
        stdio->first = (stdio->first + 1) % QUEUE_MAX;
        stdio->queued--;
        pthread_cond_signal(&stdio->room);
        pthread_mutex_unlock(&stdio->lock);
        wt__mcp_call_run(call);
        pthread_mutex_lock(&stdio->lock);
    }
    pthread_mutex_unlock(&stdio->lock);
    return NULL;
}

/* Queues a call for the workers. Waits while the queue is full. */
static void queue_call(struct stdio *stdio, struct mcp_call *call)
{
    pthread_mutex_lock(&stdio->lock);
    while (stdio->queued == QUEUE_MAX)
        pthread_cond_wait(&stdio->room, &stdio->lock);
    stdio->queue[(stdio->first + stdio->queued++) % QUEUE_MAX] = call;
    pthread_cond_signal(&stdio->work);
    pthread_mutex_unlock(&stdio->lock);
}

static int start_workers(struct stdio *stdio, unsigned count, wt_error *err)
{
    if (count == 0)
        count = wt__processor_count();
    while (stdio->worker_count < count && stdio->worker_count < MCP_STDIO_WORKERS_MAX &&
           pthread_create(&stdio->workers[stdio->worker_count], NULL, run_worker, stdio) == 0)
        stdio->worker_count++;
    return stdio->worker_count > 0 ? 0 : wt__fail(err, WT_EIO, "cannot start a thread");
}

static void join_workers(struct stdio *stdio)
{
    pthread_mutex_lock(&stdio->lock);
    stdio->is_closing = true;
    pthread_cond_broadcast(&stdio->work);
    pthread_mutex_unlock(&stdio->lock);
    for (unsigned i = 0; i < stdio->worker_count; i++)
        pthread_join(stdio->workers[i], NULL);
}

/* ---------------------------------------------------------------- reading */

static void refuse_line(struct stdio *stdio, struct str id, int code, const char *words)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer message = {0};
    wt__mcp_write_error(&message, id, code, wt__str(words), STR(""));
    if (!message.failed)
        write_message_line(stdio, wt__buffer_view(&message));
}

static void handle_stdio_request(struct stdio *stdio, struct mcp_incoming *in)
{
    struct mcp_channel *channel = open_stdio_channel(stdio);
    if (!channel) {
        refuse_line(stdio, wt__buffer_view(&in->id), MCP_INTERNAL_ERROR, "out of memory");
        wt__mcp_incoming_dispose(in);
        return;
    }
    struct mcp_call *call =
        wt__mcp_call_begin(stdio->service, stdio->peer, channel, in, wt__mcp_is_modern(in, STR("")), NULL);
    wt__mcp_channel_release(channel);
    if (call && (call->method->is_quick || call->tool.waits))
        wt__mcp_call_run(call);
    else if (call)
        queue_call(stdio, call);
}

static void handle_line(struct stdio *stdio, struct str line)
{
    struct mcp_incoming in;
    line = wt__str_trim(line);
    if (line.len == 0)
        return;
    wt__mcp_read_message(&in, line);
    if (in.kind == MCP_IN_REQUEST) {
        handle_stdio_request(stdio, &in);
        return;
    }
    if (in.kind == MCP_IN_BAD)
        refuse_line(stdio, wt__buffer_view(&in.id), in.code, in.words);
    else
        wt__mcp_handle_other_message(stdio->service, stdio->peer, &in);
    wt__mcp_incoming_dispose(&in);
}

/* Handles and removes the complete lines in `text`. fresh: number of new bytes at the end of `text`. Refuses an
 * oversized line and skips its remaining bytes. */
static void handle_lines(struct stdio *stdio, size_t fresh)
{
    struct buffer *text = &stdio->text;
    size_t from = text->len - fresh, begin = 0;
    for (char *end; (end = memchr(text->ptr + from, '\n', text->len - from)); from = begin) {
        size_t at = (size_t)(end - text->ptr);
        if (!stdio->is_skipping)
            handle_line(stdio, (struct str){text->ptr + begin, at - begin});
        stdio->is_skipping = false;
        begin = at + 1;
    }
    if (!stdio->is_skipping && text->len - begin > MCP_MESSAGE_BYTES_MAX) {
        handle_line(stdio, (struct str){text->ptr + begin, text->len - begin}); /* answers with an error */
        stdio->is_skipping = true;
    }
    if (stdio->is_skipping)
        begin = text->len;
    if (begin > 0)
        memmove(text->ptr, text->ptr + begin, text->len - begin);
    wt__buffer_cut(text, text->len - begin);
}

/* Reads available input and handles its lines. Returns 1, 0 at the end of input, or an error. */
static int read_some_input(struct stdio *stdio, char *bytes, wt_error *err)
{
    ssize_t count = read(stdio->in, bytes, READ_BYTES);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (count < 0)
        return wt__fail_errno(err, "read", "standard input");
    if (count == 0)
        return 0;
    wt__buffer_append(&stdio->text, bytes, (size_t)count);
    if (stdio->text.failed)
        return wt__fail_nomem(err);
    handle_lines(stdio, (size_t)count);
    return 1;
}

static int read_until_end(struct stdio *stdio, wt_error *err)
{
    WT_AUTO_FREE char *bytes = wt__alloc_zeros(1, READ_BYTES);
    int rc = bytes ? 1 : wt__fail_nomem(err);
    while (rc > 0 && !atomic_load(&stdio->has_failed)) {
        struct pollfd fds[] = {{stdio->in, POLLIN, 0}, {stdio->out, 0, 0}, {stdio->stop_fd, POLLIN, 0}};
        int ready = poll(fds, 3, -1);
        if (ready < 0 && errno != EINTR)
            rc = wt__fail_errno(err, "wait for", "standard input");
        if (ready <= 0)
            continue;
        if (fds[1].revents & (POLLERR | POLLNVAL))
            atomic_store(&stdio->has_failed, true);
        else if (fds[2].revents)
            rc = 0;
        else if (fds[0].revents)
            rc = read_some_input(stdio, bytes, err);
    }
    return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- running */

/* Waits until at most `kept` channels are open, for at most most_ms. */
static void wait_until_idle(struct stdio *stdio, unsigned kept, unsigned most_ms)
{
    double until_ms = wt__now_ms() + most_ms;
    pthread_mutex_lock(&stdio->lock);
    while (stdio->channels > kept && !atomic_load(&stdio->has_failed))
        if (!wt__steady_wait(&stdio->idle, &stdio->lock, until_ms))
            break;
    pthread_mutex_unlock(&stdio->lock);
}

static void end_stdio_calls(struct stdio *stdio)
{
    join_workers(stdio);
    wt__mcp_end_listeners(stdio->service, stdio->peer);
    wait_until_idle(stdio, 1, MCP_STDIO_GRACE_MS); /* the peer's general stream stays open */
    wt__mcp_peer_close(stdio->peer);
    pthread_mutex_lock(&stdio->lock);
    while (stdio->channels > 0)
        pthread_cond_wait(&stdio->idle, &stdio->lock);
    pthread_mutex_unlock(&stdio->lock);
}

static void free_stdio(struct stdio *stdio)
{
    wt__mcp_peer_release(stdio->peer);
    wt__buffer_dispose(&stdio->line);
    wt__buffer_dispose(&stdio->text);
    pthread_mutex_destroy(&stdio->write_lock);
    pthread_mutex_destroy(&stdio->lock);
    pthread_cond_destroy(&stdio->work);
    pthread_cond_destroy(&stdio->room);
    pthread_cond_destroy(&stdio->idle);
    free(stdio);
}

static struct stdio *open_stdio(struct mcp_service *service, int in, int out, int stop_fd)
{
    struct stdio *stdio = calloc(1, sizeof *stdio);
    if (!stdio)
        return NULL;
    *stdio = (struct stdio){.service = service, .in = in, .out = out, .stop_fd = stop_fd};
    pthread_mutex_init(&stdio->write_lock, NULL);
    pthread_mutex_init(&stdio->lock, NULL);
    pthread_cond_init(&stdio->work, NULL);
    pthread_cond_init(&stdio->room, NULL);
    wt__steady_open(&stdio->idle);
    stdio->peer = wt__mcp_peer_open(service, "", true);
    struct mcp_channel *stream = stdio->peer ? open_stdio_channel(stdio) : NULL;
    if (stream) {
        wt__mcp_peer_stream(stdio->peer, stream);
        wt__mcp_channel_release(stream);
        return stdio;
    }
    if (stdio->peer)
        wt__mcp_peer_close(stdio->peer);
    free_stdio(stdio);
    return NULL;
}

int wt__mcp_stdio_run(struct mcp_service *service, int in, int out, int stop_fd, unsigned workers, wt_error *err)
{
    struct stdio *stdio = open_stdio(service, in, out, stop_fd);
    WT_CHECK_ALLOC(stdio, err);
    int rc = start_workers(stdio, workers, err);
    if (rc == 0)
        rc = read_until_end(stdio, err);
    end_stdio_calls(stdio);
    if (rc == 0 && stdio->is_out_of_memory)
        rc = wt__fail_nomem(err);
    free_stdio(stdio);
    return rc;
}
