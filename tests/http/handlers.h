/* handlers.h: handlers of the test server, selected by path, and the state that they share with the tests. */
#ifndef WT_TESTS_HTTP_HANDLERS_H
#define WT_TESTS_HTTP_HANDLERS_H

#include <sched.h>

#include "http/served.h"

/* State shared by a test and its handlers. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned entered, gone;  /* started handlers; on_gone callbacks */
    unsigned open, recorded; /* permits for handlers to continue; results of requests */
    unsigned unfinished;     /* on_gone callbacks still running after the end of the answer */
    struct http_exchange *kept;
    struct http_record last; /* last record; its pointers must not be used */
    char peer[64];           /* peer of the last record */
    bool last_was_request;
} world = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static inline void increment(unsigned *count)
{
    pthread_mutex_lock(&world.lock);
    ++*count;
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
}

static inline void wait_for_count(const unsigned *count, unsigned want)
{
    pthread_mutex_lock(&world.lock);
    while (*count < want)
        pthread_cond_wait(&world.changed, &world.lock);
    pthread_mutex_unlock(&world.lock);
}

static inline unsigned read_world_count(const unsigned *count)
{
    pthread_mutex_lock(&world.lock);
    unsigned now = *count;
    pthread_mutex_unlock(&world.lock);
    return now;
}

static inline int reset_world(void **state)
{
    (void)state;
    world.entered = world.gone = world.open = world.recorded = world.unfinished = 0;
    world.kept = NULL;
    world.last_was_request = false;
    return 0;
}

static inline void client_has_gone(void *context)
{
    (void)context;
    increment(&world.gone);
}

/* Waits for a permit from the test, or for the client's disconnect. */
static inline void wait_for_permit(struct http_exchange *exchange)
{
    wt__http_on_gone(exchange, client_has_gone, NULL);
    pthread_mutex_lock(&world.lock);
    while (world.open == 0 && world.gone == 0)
        pthread_cond_wait(&world.changed, &world.lock);
    if (world.open > 0)
        world.open--;
    pthread_mutex_unlock(&world.lock);
    wt__http_answer(exchange, 200, "text/plain", NULL, 0, STR("waited"));
}

static inline void send_stream(struct http_exchange *exchange, bool finish)
{
    wt__http_stream(exchange, 200, "text/event-stream", NULL, 0);
    wt__http_send(exchange, STR("one "));
    wt__http_send(exchange, STR(""));
    wt__http_send(exchange, STR("two"));
    if (finish)
        wt__http_finish(exchange);
    if (finish)
        assert_false(wt__http_send(exchange, STR("late")));
}

/* Sends large pieces until the server disconnects the client, which does not read. */
static inline void send_until_dropped(struct http_exchange *exchange)
{
    static char piece[64 << 10];
    wt__http_on_gone(exchange, client_has_gone, NULL);
    wt__http_stream(exchange, 200, "application/octet-stream", NULL, 0);
    while (wt__http_send(exchange, (struct str){piece, sizeof piece}))
        ;
    wait_for_count(&world.gone, 1);
}

/* Sends small pieces until the client disconnects. */
static inline void send_until_gone(struct http_exchange *exchange)
{
    wt__http_on_gone(exchange, client_has_gone, NULL);
    wt__http_stream(exchange, 200, "text/event-stream", NULL, 0);
    while (wt__http_send(exchange, STR("data: {}\n\n")))
        sched_yield();
}

static inline void keep_exchange(struct http_exchange *exchange)
{
    wt__http_keep(exchange);
    wt__http_on_gone(exchange, client_has_gone, NULL);
    world.kept = exchange;
}

/* Slow on_gone callback with a context on the handler's stack. */
static inline void return_slowly(void *done)
{
    increment(&world.gone);
    wait_for_count(&world.open, 1);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    *(bool *)done = true;
}

/* Ends the answer while the callback runs. Increments world.unfinished if the callback has not returned when the answer
 * has ended. whole: send a complete answer instead of a stream. */
static inline void end_during_callback(struct http_exchange *exchange, bool whole)
{
    bool done = false;
    wt__http_on_gone(exchange, return_slowly, &done);
    increment(&world.entered); /* allows the client to disconnect */
    wait_for_count(&world.gone, 1);
    increment(&world.open);
    if (whole)
        wt__http_answer(exchange, 200, NULL, NULL, 0, STR(""));
    else
        send_stream(exchange, true);
    pthread_mutex_lock(&world.lock);
    world.unfinished += !done;
    pthread_mutex_unlock(&world.lock);
}

static inline void answer_large(struct http_exchange *exchange)
{
    size_t size = 8 << 20;
    char *bytes = calloc(1, size);
    wt__http_answer(exchange, 200, "application/octet-stream", NULL, 0, (struct str){bytes, size});
    free(bytes);
}

static inline void answer_with_fields(struct http_exchange *exchange)
{
    static const struct http_field fields[] = {
        {{"X-Good", 6}, {"yes\tyes", 7}},     {{"X-Bad", 5}, {"a\r\nX-Evil: b", 12}}, {{"X Bad", 5}, {"b", 1}},
        {{"Content-Length", 14}, {"999", 3}}, {{"Connection", 10}, {"upgrade", 7}},   {{"", 0}, {"b", 1}},
    };
    wt__http_answer(exchange, 201, "text/plain", fields, sizeof fields / sizeof *fields, STR("made"));
}

static inline void answer_by_path(void *context, struct http_exchange *exchange)
{
    (void)context;
    const struct http_request *request = wt__http_request(exchange);
    struct str path = request->path;
    increment(&world.entered);
    if (wt__str_equal(path, STR("/wait")))
        wait_for_permit(exchange);
    else if (wt__str_equal(path, STR("/stream")))
        send_stream(exchange, true);
    else if (wt__str_equal(path, STR("/cut")))
        send_stream(exchange, false);
    else if (wt__str_equal(path, STR("/flood")))
        send_until_dropped(exchange);
    else if (wt__str_equal(path, STR("/drip")))
        send_until_gone(exchange);
    else if (wt__str_starts(path, STR("/beside/")))
        end_during_callback(exchange, wt__str_equal(path, STR("/beside/answer")));
    else if (wt__str_equal(path, STR("/keep")))
        keep_exchange(exchange);
    else if (wt__str_equal(path, STR("/large")))
        answer_large(exchange);
    else if (wt__str_equal(path, STR("/fields")))
        answer_with_fields(exchange);
    else if (wt__str_equal(path, STR("/nothing")))
        wt__http_answer(exchange, 204, "text/plain", NULL, 0, STR("never sent"));
    else if (!wt__str_equal(path, STR("/silent")))
        wt__http_answer(exchange, 200, "text/plain", NULL, 0, request->body.len > 0 ? request->body : path);
    if (wt__str_equal(path, STR("/twice")))
        wt__http_answer(exchange, 500, "text/plain", NULL, 0, STR("again"));
}

static inline size_t path_body_max(void *context, const struct http_request *head)
{
    (void)context;
    return wt__str_equal(head->path, STR("/small")) ? 4 : HTTP_BODY_BYTES_MAX;
}

static inline int refuse_private(void *context, const struct http_request *head)
{
    (void)context;
    return wt__str_equal(head->path, STR("/private")) ? 403 : 0;
}

/* Adds two fields if the request has X-Mark. The server must omit the second field. */
static inline void add_marked_fields(void *context, const struct http_request *head, void *note,
                                     struct http_fields *out)
{
    (void)context, (void)note;
    if (!wt__http_find_field(head, "X-Mark"))
        return;
    out->items[out->count++] = (struct http_field){STR("X-Marked"), STR("yes")};
    out->items[out->count++] = (struct http_field){STR("Content-Length"), STR("999")};
}

static inline void keep_record(void *context, const struct http_record *what)
{
    (void)context;
    pthread_mutex_lock(&world.lock);
    world.last = *what;
    snprintf(world.peer, sizeof world.peer, "%s", what->peer);
    world.last_was_request = what->request != NULL;
    pthread_mutex_unlock(&world.lock);
    increment(&world.recorded);
}

#define HANDLER                                                                                                        \
    {                                                                                                                  \
        .answer = answer_by_path, .body_max = path_body_max, .refuse = refuse_private, .fields = add_marked_fields,    \
        .record = keep_record                                                                                          \
    }
static const struct http_server_options plain = {.workers = 2, .handler = HANDLER};

#endif
