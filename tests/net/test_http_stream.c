/* Tests transfers on a loop: each receives its data and ends exactly once. Also tests address resolution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "net/http_client.h"
#include "net/script_server.h"

static wt_error err;
static struct script_server server;
static char url[64];

static int start_stream_server(void **state)
{
    (void)state;
    if (script_server_start(&server) < 0)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x", server.port);
    return 0;
}

static int stop_stream_server(void **state)
{
    (void)state;
    script_server_stop(&server);
    return 0;
}

/* Events of a transfer, recorded by its callbacks. */
struct transfer_events {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct http_head head;
    struct buffer body;
    size_t most;          /* stop after this many bytes of the body; 0 for all */
    unsigned heads, ends; /* numbers of calls of record_head and record_end */
    int rc;               /* result of the transfer; -98 before the end; -99 if it differs from the error's code */
    bool sent;            /* the request was sent before the end */
};

static void record_head(void *context, const struct http_head *head)
{
    struct transfer_events *told = context;
    pthread_mutex_lock(&told->lock);
    told->heads++;
    told->head = *head;
    pthread_mutex_unlock(&told->lock);
}

static bool record_piece(void *context, const struct http_head *head, struct str piece)
{
    struct transfer_events *told = context;
    (void)head;
    pthread_mutex_lock(&told->lock);
    wt__buffer_str(&told->body, piece);
    bool more = told->most == 0 || told->body.len < told->most;
    pthread_cond_broadcast(&told->changed);
    pthread_mutex_unlock(&told->lock);
    return more;
}

static void record_end(void *context, const struct http_head *head, int rc, const wt_error *why, bool sent)
{
    struct transfer_events *told = context;
    pthread_mutex_lock(&told->lock);
    told->ends++;
    told->rc = rc == why->code ? rc : -99;
    told->head = *head;
    told->sent = sent;
    pthread_cond_broadcast(&told->changed);
    pthread_mutex_unlock(&told->lock);
}

static void events_init(struct transfer_events *told)
{
    *told = (struct transfer_events){.rc = -98};
    pthread_mutex_init(&told->lock, NULL);
    pthread_cond_init(&told->changed, NULL);
}

static void events_dispose(struct transfer_events *told)
{
    pthread_mutex_destroy(&told->lock);
    pthread_cond_destroy(&told->changed);
    wt__buffer_dispose(&told->body);
}

static void wait_for_transfer(struct transfer_events *told, unsigned ends, size_t bytes)
{
    pthread_mutex_lock(&told->lock);
    while (told->ends < ends || told->body.len < bytes)
        pthread_cond_wait(&told->changed, &told->lock);
    pthread_mutex_unlock(&told->lock);
}

static struct http_stream default_stream(struct transfer_events *told)
{
    return (struct http_stream){.url = url,
                                .method = "POST",
                                .accept = "text/event-stream",
                                .kept = "x-kept",
                                .body = STR("{}"),
                                .connect_ms = 900000,
                                .on_head = record_head,
                                .on_piece = record_piece,
                                .on_end = record_end,
                                .context = told};
}

/* ---------------------------------------------------------------- ends */

enum how { BY_ITSELF, CANCELLED, CANCELLED_BEFORE, CLOSED };

static const struct {
    const char *name;
    struct script_step step;
    enum how how;
    size_t most;       /* the caller stops after this many bytes of the body; 0 for all */
    size_t bytes;      /* bytes to receive before the transfer is cancelled or the loop is closed */
    unsigned total_ms; /* timeout; 0 for the default */
    int rc, status;    /* status: 0 without an answer */
    const char *body;
    bool sent;
} rows[] = {
    {"complete answer",
     {.status = 200, .headers = "X-Kept: me\r\n", .body = "abc"},
     BY_ITSELF,
     0,
     0,
     0,
     0,
     200,
     "abc",
     true},
    {"status 503", {.status = 503, .body = "no"}, BY_ITSELF, 0, 0, 0, 0, 503, "no", true},
    {"a redirect is not followed",
     {.status = 302, .headers = "Location: http://127.0.0.1:1/\r\n"},
     BY_ITSELF,
     0,
     0,
     0,
     0,
     302,
     "",
     true},
    {"caller stops after 3 bytes of an open stream",
     {.status = 200, .body = "abcdef", .stall = 3},
     BY_ITSELF,
     3,
     0,
     0,
     0,
     200,
     "abc",
     true},
    {"server closes without an answer", {.status = 0}, BY_ITSELF, 0, 0, 0, WT_ENETWORK, 0, "", true},
    {"server closes in the middle of the body",
     {.status = 200, .body = "abcdef", .cut = 3},
     BY_ITSELF,
     0,
     0,
     0,
     WT_ENETWORK,
     200,
     "abc",
     true},
    {"answer exceeds the timeout",
     {.status = 200, .delay_ms = SCRIPT_NEVER_MS},
     BY_ITSELF,
     0,
     0,
     100,
     WT_ENETWORK,
     0,
     "",
     true},
    {"cancelled after 3 bytes",
     {.status = 200, .body = "abcdef", .stall = 3},
     CANCELLED,
     0,
     3,
     0,
     WT_ECANCELLED,
     200,
     "abc",
     true},
    {"cancelled before the start", {.status = 200}, CANCELLED_BEFORE, 0, 0, 0, WT_ECANCELLED, 0, "", false},
    {"loop closes after 3 bytes",
     {.status = 200, .body = "abcdef", .stall = 3},
     CLOSED,
     0,
     3,
     0,
     WT_ECANCELLED,
     200,
     "abc",
     true},
};

static void each_transfer_ends_exactly_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_loop *loop;
        struct transfer_events told;
        uint64_t ticket;
        events_init(&told);
        told.most = rows[i].most;
        struct http_stream stream = default_stream(&told);
        stream.total_ms = rows[i].total_ms;
        stream.delay_ms = rows[i].how == CANCELLED_BEFORE ? 900000 : 0;
        script_server_play(&server, &rows[i].step, 1);
        assert_int_equal(wt__http_loop_open(&loop, &err), 0);
        assert_int_equal(wt__http_stream_begin(&ticket, loop, &stream, &err), 0);
        wait_for_transfer(&told, 0, rows[i].bytes);
        if (rows[i].how == CANCELLED || rows[i].how == CANCELLED_BEFORE)
            wt__http_stream_cancel(loop, ticket);
        if (rows[i].how != CLOSED)
            wait_for_transfer(&told, 1, 0);
        wt__http_stream_cancel(loop, ticket); /* harmless if the transfer has ended */
        wt__http_loop_close(loop);
        const char *body = told.body.ptr ? told.body.ptr : "";
        if (told.ends != 1 || told.rc != rows[i].rc || told.head.status != rows[i].status ||
            told.sent != rows[i].sent || strcmp(body, rows[i].body) != 0 || told.heads != (rows[i].status > 0))
            fail_msg("%s: %u ends, %d, status %d, \"%s\", %u heads", rows[i].name, told.ends, told.rc, told.head.status,
                     body, told.heads);
        assert_string_equal(told.head.kept, i == 0 ? "me" : "");
        events_dispose(&told);
    }
}

enum { MANY = 40 };

static void many_transfers_run_at_once(void **state)
{
    static const struct script_step step = {.status = 200, .body = "abc", .delay_ms = 20};
    struct http_loop *loop;
    struct transfer_events told[MANY];
    uint64_t ticket;
    (void)state;
    script_server_play(&server, &step, 1);
    assert_int_equal(wt__http_loop_open(&loop, &err), 0);
    for (size_t i = 0; i < MANY; i++) {
        events_init(&told[i]);
        const struct http_stream stream = default_stream(&told[i]);
        assert_int_equal(wt__http_stream_begin(&ticket, loop, &stream, &err), 0);
    }
    for (size_t i = 0; i < MANY; i++) {
        wait_for_transfer(&told[i], 1, 0);
        assert_int_equal(told[i].rc, 0);
        assert_string_equal(told[i].body.ptr, "abc");
    }
    assert_true(server.most_under_way > 1);
    wt__http_loop_close(loop);
    for (size_t i = 0; i < MANY; i++)
        events_dispose(&told[i]);
}

static void stream_with_invalid_header_is_rejected(void **state)
{
    static const struct http_header header = {"X-Key", "a\nb"};
    struct http_loop *loop;
    struct transfer_events told;
    uint64_t ticket;
    (void)state;
    events_init(&told);
    struct http_stream stream = default_stream(&told);
    stream.headers = &header;
    stream.header_count = 1;
    assert_int_equal(wt__http_loop_open(&loop, &err), 0);
    assert_int_equal(wt__http_stream_begin(&ticket, loop, &stream, &err), WT_EINVAL);
    assert_string_equal(err.message, "the value of X-Key is too long or contains a control character");
    wt__http_loop_close(loop);
    assert_int_equal(told.ends, 0);
    events_dispose(&told);
}

/* ---------------------------------------------------------------- addresses */

static const struct {
    const char *reference, *out; /* NULL if the address is rejected */
} addresses[] = {
    {"/message?id=1", "http://h:8080/message?id=1"},
    {"message", "http://h:8080/a/message"},
    {"?id=1", "http://h:8080/a/sse?id=1"},
    {"http://h:8080/x", "http://h:8080/x"},
    {"HTTP://H:8080/x", "http://H:8080/x"},
    {"http://h/x", NULL},
    {"https://h:8080/x", NULL},
    {"http://h.evil:8080/x", NULL},
    {"//evil:8080/x", NULL},
    {"http://h:8080@evil/x", NULL},
    {"file:///etc/passwd", NULL},
};

static void resolved_addresses_must_be_on_the_same_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        char *out;
        int rc = wt__http_resolve(&out, "http://h:8080/a/sse", wt__str(addresses[i].reference), &err);
        if (rc != (addresses[i].out ? 0 : WT_EINVAL) || (out && strcmp(out, addresses[i].out) != 0))
            fail_msg("%s: %d, %s", addresses[i].reference, rc, out ? out : err.message);
        free(out);
    }
}

#ifndef WT_LINKED_CURL /* a static program has no second pthread_create to call */
static bool no_threads;

/* Replaces the C library's function; simulates a lack of threads on request. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : create(thread, attributes, run, context);
}

static void loop_needs_a_thread(void **state)
{
    struct http_loop *loop;
    (void)state;
    no_threads = true;
    int rc = wt__http_loop_open(&loop, &err);
    no_threads = false;
    assert_int_equal(rc, WT_EIO);
    assert_null(loop);
    assert_string_equal(err.message, "cannot start a thread");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_transfer_ends_exactly_once),
        cmocka_unit_test(many_transfers_run_at_once),
        cmocka_unit_test(stream_with_invalid_header_is_rejected),
        cmocka_unit_test(resolved_addresses_must_be_on_the_same_server),
#ifndef WT_LINKED_CURL
        cmocka_unit_test(loop_needs_a_thread),
#endif
    };
    return cmocka_run_group_tests(tests, start_stream_server, stop_stream_server);
}
