/* server.c: opens, runs and stops the server and its loop. One thread is enough for the loop, because reading and
 * writing a request take microseconds, and handlers take milliseconds. */
#include "http/internal.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    ACCEPTED_MAX = 64, /* connections accepted per event, so that other events are not delayed */
    PAUSE_MS = 100,    /* delay before connections are accepted again, after descriptors or memory ran out */
    LINGER_MS = 1000,  /* time for the client to read the last answer and close the connection */
};

struct http_server {
    struct server_loop loop;
    struct http_listener listener;
    struct event *acceptable, *mailbox_readable, *pause_end;
    struct event *drain_end, *deadline; /* deadline: end of the shutdown */
    bool drains;                        /* the drain has begun */
    unsigned workers, stop_ms, drain_ms;
};

static struct timeval to_timeval(unsigned ms)
{
    return (struct timeval){ms / 1000, (suseconds_t)(ms % 1000) * 1000};
}

/* Accepts waiting connections, at most ACCEPTED_MAX. Returns true if more may wait. */
static bool accept_connections(struct http_server *server)
{
    for (int i = 0; i < ACCEPTED_MAX; i++) {
        char peer[HTTP_PEER_BYTES];
        int accepted = wt__http_accept(&server->listener, peer);
        if (accepted >= 0) {
            wt__connection_open(&server->loop, accepted, peer);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return false;
        } else if ((errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) &&
                   !wt__connections_close_idle(&server->loop)) {
            struct timeval pause = to_timeval(PAUSE_MS);
            event_del(server->acceptable);
            event_add(server->pause_end, &pause);
            return false;
        }
    }
    return true;
}

static void on_connection_waiting(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor, (void)what;
    accept_connections(argument);
}

static void on_pause_end(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor, (void)what;
    struct http_server *server = argument;
    if (!server->loop.stopping)
        event_add(server->acceptable, NULL);
}

static void on_deadline(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor, (void)what;
    struct http_server *server = argument;
    wt__connections_close_all(&server->loop);
    event_base_loopbreak(server->loop.base);
}

static void begin_stop(struct http_server *server)
{
    struct timeval most = to_timeval(server->stop_ms);
    const struct http_handler *handler = &server->loop.handler;
    event_del(server->drain_end);
    while (accept_connections(server)) /* closing the listener would reset connections that wait */
        ;
    event_del(server->acceptable);
    event_del(server->pause_end);
    wt__http_listener_close(&server->listener);
    event_add(server->deadline, &most);
    wt__connections_stop(&server->loop);
    if (handler->stopping)
        handler->stopping(handler->context);
    if (atomic_load(&server->loop.connection_count) == 0)
        event_base_loopbreak(server->loop.base);
}

static void on_drain_end(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor, (void)what;
    wt__http_server_stop(argument);
}

static void begin_drain(struct http_server *server)
{
    struct timeval most = to_timeval(server->drain_ms);
    server->drains = true;
    if (server->drain_ms == 0 || event_add(server->drain_end, &most) < 0)
        wt__http_server_stop(server);
}

static void on_mailbox_readable(evutil_socket_t descriptor, short what, void *argument)
{
    (void)descriptor, (void)what;
    struct http_server *server = argument;
    struct mailbox *mailbox = server->loop.mailbox;
    wt__connections_take_output(&server->loop);
    if (atomic_load(&mailbox->draining) && !atomic_load(&mailbox->stopping) && !server->drains)
        begin_drain(server);
    if (atomic_load(&mailbox->stopping) && !server->loop.stopping)
        begin_stop(server);
}

static unsigned value_or_default(unsigned value, unsigned default_value)
{
    return value > 0 ? value : default_value;
}

/* Limits the number of connections, because upstream servers and the store need descriptors, too. */
static size_t limit_connection_count(size_t most)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 4 * 3 < most)
        most = (size_t)(files.rlim_cur / 4 * 3);
    return most;
}

static void set_server_options(struct http_server *server, const struct http_server_options *options)
{
    struct server_loop *loop = &server->loop;
    loop->handler = options->handler;
    loop->connections_max =
        limit_connection_count(options->connections_max ? options->connections_max : HTTP_CONNECTIONS_MAX);
    wt__shares_open(&loop->held, options->held_max ? options->held_max : HTTP_HELD_BYTES_MAX);
    wt__shares_open(&loop->answering, loop->connections_max);
    loop->waits.duration_ms[HTTP_WAIT_IDLE] = value_or_default(options->idle_ms, HTTP_IDLE_MS);
    loop->waits.duration_ms[HTTP_WAIT_HEAD] = value_or_default(options->head_ms, HTTP_HEAD_MS);
    loop->waits.duration_ms[HTTP_WAIT_BODY] = value_or_default(options->body_ms, HTTP_BODY_MS);
    loop->waits.duration_ms[HTTP_WAIT_READER] = value_or_default(options->reader_ms, HTTP_READER_MS);
    loop->waits.duration_ms[HTTP_WAIT_CLOSE] = LINGER_MS;
    server->workers = options->workers;
    server->stop_ms = value_or_default(options->stop_ms, HTTP_STOP_MS);
    server->drain_ms = options->drain_ms < HTTP_DRAIN_MS_MAX ? options->drain_ms : HTTP_DRAIN_MS_MAX;
}

static struct event_base *create_event_base(void)
{
    struct event_base *base = NULL;
    struct event_config *config = event_config_new();
    /* Only one thread uses the base, and the environment must not influence it. */
    if (config && event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV) == 0 &&
        event_config_require_features(config, EV_FEATURE_EARLY_CLOSE) == 0)
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

static int open_loop(struct http_server *server, const struct http_server_options *options, wt_error *err)
{
    struct server_loop *loop = &server->loop;
    loop->base = create_event_base();
    loop->mailbox = wt__mailbox_open();
    loop->queue = wt__http_queue_new(options->queue_max ? options->queue_max : HTTP_QUEUE_MAX, &loop->handler);
    if (!loop->base || !loop->mailbox || !loop->queue ||
        wt__waits_open(&loop->waits, loop->base, wt__connection_expire, loop) < 0)
        return wt__fail_nomem(err);
    server->acceptable =
        event_new(loop->base, server->listener.descriptor, EV_READ | EV_PERSIST, on_connection_waiting, server);
    server->mailbox_readable =
        event_new(loop->base, loop->mailbox->descriptor, EV_READ | EV_PERSIST, on_mailbox_readable, server);
    server->pause_end = evtimer_new(loop->base, on_pause_end, server);
    server->drain_end = evtimer_new(loop->base, on_drain_end, server);
    server->deadline = evtimer_new(loop->base, on_deadline, server);
    bool all = server->acceptable && server->mailbox_readable && server->pause_end && server->drain_end &&
               server->deadline && event_add(server->acceptable, NULL) == 0 &&
               event_add(server->mailbox_readable, NULL) == 0;
    return all ? 0 : wt__fail_nomem(err);
}

static void ignore_log(int severity, const char *message)
{
    (void)severity, (void)message;
}

int wt__http_server_open(struct http_server **out, const struct http_server_options *options, wt_error *err)
{
    *out = NULL;
    struct http_server *server = calloc(1, sizeof *server);
    WT_CHECK_ALLOC(server, err);
    event_set_log_callback(ignore_log); /* libevent would print warnings */
    set_server_options(server, options);
    int rc = wt__http_listen(&server->listener, options->listen, err);
    if (rc == 0)
        rc = open_loop(server, options, err);
    if (rc < 0)
        wt__http_server_close(server);
    else
        *out = server;
    return rc;
}

const char *wt__http_server_address(const struct http_server *server)
{
    return server->listener.address;
}

int wt__http_server_run(struct http_server *server, wt_error *err)
{
    struct server_loop *loop = &server->loop;
    int rc = wt__http_queue_start(loop->queue, server->workers, err);
    if (rc < 0)
        return rc;
    if (event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY) < 0)
        rc = wt__fail(err, WT_EIO, "the event loop of the server failed");
    wt__connections_close_all(loop);
    wt__http_queue_stop(loop->queue);
    return rc;
}

void wt__http_server_stop(struct http_server *server)
{
    wt__mailbox_request_stop(server->loop.mailbox);
}

void wt__http_server_drain(struct http_server *server)
{
    wt__mailbox_request_drain(server->loop.mailbox);
}

bool wt__http_server_is_draining(const struct http_server *server)
{
    return atomic_load(&server->loop.mailbox->draining);
}

void wt__http_server_figures(const struct http_server *server, struct http_figures *out)
{
    struct server_loop *loop = (struct server_loop *)&server->loop; /* counters are atomic or have their own lock */
    *out = (struct http_figures){.connections = atomic_load(&loop->connection_count),
                                 .in_progress = atomic_load(&loop->in_progress),
                                 .accepted = atomic_load(&loop->accepted),
                                 .refused = atomic_load(&loop->refused),
                                 .requests = atomic_load(&loop->requests)};
    for (size_t i = 0; i < HTTP_OVERLOADS; i++)
        out->overloaded[i] = atomic_load(&loop->overloaded[i]);
    wt__http_queue_count(loop->queue, &out->queued, &out->running);
}

static void free_event(struct event *event)
{
    if (event)
        event_free(event);
}

/* Shuts and releases the mailbox. Output of exchanges that handlers still keep is discarded. */
static void close_mailbox(struct http_server *server)
{
    struct mailbox *mailbox = server->loop.mailbox;
    if (!mailbox)
        return;
    wt__mailbox_shut(mailbox);
    wt__connections_take_output(&server->loop);
    wt__mailbox_release(mailbox);
}

void wt__http_server_close(struct http_server *server)
{
    if (!server)
        return;
    free_event(server->acceptable);
    free_event(server->mailbox_readable);
    close_mailbox(server);
    wt__http_listener_close(&server->listener);
    free_event(server->pause_end);
    free_event(server->drain_end);
    free_event(server->deadline);
    wt__waits_close(&server->loop.waits);
    if (server->loop.base)
        event_base_free(server->loop.base);
    wt__http_queue_free(server->loop.queue);
    wt__shares_close(&server->loop.held);
    wt__shares_close(&server->loop.answering);
    free(server);
}
