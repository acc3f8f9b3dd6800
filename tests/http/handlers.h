/* handlers.h: what the server of these tests does, by path, and what it tells of that. */
#ifndef WT_TESTS_HTTP_HANDLERS_H
#define WT_TESTS_HTTP_HANDLERS_H

#include <sched.h>

#include "http/served.h"

/* What a test and its handlers share. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned entered, gone, open, recorded; /* handlers; clients; doors that /wait may go through; records */
    unsigned unfinished;                    /* functions of on_gone that ran on after the answer's end */
    struct http_exchange *kept;
    struct http_record last; /* its views are gone */
    bool last_was_request;
} world = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static inline void add(unsigned *count)
{
    pthread_mutex_lock(&world.lock);
    ++*count;
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
}

static inline void await(const unsigned *count, unsigned want)
{
    pthread_mutex_lock(&world.lock);
    while (*count < want)
        pthread_cond_wait(&world.changed, &world.lock);
    pthread_mutex_unlock(&world.lock);
}

static inline unsigned count_of(const unsigned *count)
{
    pthread_mutex_lock(&world.lock);
    unsigned now = *count;
    pthread_mutex_unlock(&world.lock);
    return now;
}

static inline int forget(void **state)
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
    add(&world.gone);
}

/* Until the test opens a door, or the client goes. */
static inline void wait_at_door(struct http_exchange *exchange)
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

static inline void stream(struct http_exchange *exchange, bool finish)
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

/* Sends until nobody takes it. */
static inline void flood(struct http_exchange *exchange)
{
    static char piece[64 << 10];
    wt__http_on_gone(exchange, client_has_gone, NULL);
    wt__http_stream(exchange, 200, "application/octet-stream", NULL, 0);
    while (wt__http_send(exchange, (struct str){piece, sizeof piece}))
        ;
    await(&world.gone, 1);
}

/* Sends until the client is gone, at its pace. */
static inline void drip(struct http_exchange *exchange)
{
    wt__http_on_gone(exchange, client_has_gone, NULL);
    wt__http_stream(exchange, 200, "text/event-stream", NULL, 0);
    while (wt__http_send(exchange, STR("data: {}\n\n")))
        sched_yield();
}

static inline void keep(struct http_exchange *exchange)
{
    wt__http_keep(exchange);
    wt__http_on_gone(exchange, client_has_gone, NULL);
    world.kept = exchange;
}

/* A context on the stack of a handler, and the function of on_gone that takes its time with it. */
static inline void leave_slowly(void *done)
{
    add(&world.gone);
    await(&world.open, 1);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    *(bool *)done = true;
}

/* However the answer ends, that function has returned by then. */
static inline void end_beside_it(struct http_exchange *exchange, bool whole)
{
    bool done = false;
    wt__http_on_gone(exchange, leave_slowly, &done);
    add(&world.entered); /* so that the client goes no sooner */
    await(&world.gone, 1);
    add(&world.open);
    if (whole)
        wt__http_answer(exchange, 200, NULL, NULL, 0, STR(""));
    else
        stream(exchange, true);
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

static inline void answer(void *context, struct http_exchange *exchange)
{
    (void)context;
    const struct http_request *request = wt__http_request(exchange);
    struct str path = request->path;
    add(&world.entered);
    if (wt__str_equal(path, STR("/wait")))
        wait_at_door(exchange);
    else if (wt__str_equal(path, STR("/stream")))
        stream(exchange, true);
    else if (wt__str_equal(path, STR("/cut")))
        stream(exchange, false);
    else if (wt__str_equal(path, STR("/flood")))
        flood(exchange);
    else if (wt__str_equal(path, STR("/drip")))
        drip(exchange);
    else if (wt__str_starts(path, STR("/beside/")))
        end_beside_it(exchange, wt__str_equal(path, STR("/beside/answer")));
    else if (wt__str_equal(path, STR("/keep")))
        keep(exchange);
    else if (wt__str_equal(path, STR("/large")))
        answer_large(exchange);
    else if (wt__str_equal(path, STR("/fields")))
        answer_with_fields(exchange);
    else if (wt__str_equal(path, STR("/nothing")))
        wt__http_answer(exchange, 204, "text/plain", NULL, 0, STR("never sent"));
    else if (wt__str_equal(path, STR("/peer")))
        wt__http_answer(exchange, 200, "text/plain", NULL, 0, wt__str(wt__http_peer(exchange)));
    else if (!wt__str_equal(path, STR("/silent")))
        wt__http_answer(exchange, 200, "text/plain", NULL, 0, request->body.len > 0 ? request->body : path);
    if (wt__str_equal(path, STR("/twice")))
        wt__http_answer(exchange, 500, "text/plain", NULL, 0, STR("again"));
}

static inline size_t body_max(void *context, const struct http_request *head)
{
    (void)context;
    return wt__str_equal(head->path, STR("/small")) ? 4 : HTTP_BODY_BYTES_MAX;
}

static inline int refuse(void *context, const struct http_request *head)
{
    (void)context;
    return wt__str_equal(head->path, STR("/private")) ? 403 : 0;
}

/* Of the requests that ask for it; a field that may not be sent is left out here, too. */
static inline void mark(void *context, const struct http_request *head, struct http_fields *out)
{
    (void)context;
    if (!wt__http_find_field(head, "X-Mark"))
        return;
    out->items[out->count++] = (struct http_field){STR("X-Marked"), STR("yes")};
    out->items[out->count++] = (struct http_field){STR("Content-Length"), STR("999")};
}

static inline void record(void *context, const struct http_record *what)
{
    (void)context;
    pthread_mutex_lock(&world.lock);
    world.last = *what;
    world.last_was_request = what->request != NULL;
    pthread_mutex_unlock(&world.lock);
    add(&world.recorded);
}

#define HANDLER                                                                                                        \
    {                                                                                                                  \
        .answer = answer, .body_max = body_max, .refuse = refuse, .fields = mark, .record = record                     \
    }
static const struct http_server_options plain = {.workers = 2, .handler = HANDLER};

#endif
