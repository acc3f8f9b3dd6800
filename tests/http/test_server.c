/* The server end to end, over sockets. Nothing here is decided by a clock: what must happen is waited for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include "http/handlers.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path, length, body) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: " length "\r\n\r\n" body
#define ERROR(code, message) "{\"error\":{\"code\":\"" code "\",\"message\":\"" message "\"}}\n"

/* One connection each: what is sent, how each answer begins, what its last one says, and whether the server ends it. */
static const struct {
    const char *name, *sent, *begins, *says;
    unsigned answers; /* with a Content-Length, or without a body */
    bool ends;
} exchanges[] = {
    {"a body comes back", POST("/echo", "5", "hello"), "HTTP/1.1 200 OK\r\nDate: ", "\r\n\r\nhello", 1, false},
    {"what every answer has", GET("/a"), "HTTP/1.1 200 OK\r\n", "\r\nX-Content-Type-Options: nosniff\r\n", 1, false},
    {"three in a row", GET("/a") GET("/b") GET("/c"), "HTTP/1.1 200 OK\r\n", "\r\n\r\n/c", 3, false},
    {"no body for HEAD", "HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Content-Length: 2\r\nConnection: close\r\n\r\n", 0, true},
    {"nor for a refusal of HEAD", "HEAD /private HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 403 Forbidden\r\n", "Connection: close\r\n\r\n", 0, true},
    {"no content", GET("/nothing") GET("/b"), "HTTP/1.1 204 No Content\r\n", "\r\n\r\n/b", 2, false},
    {"HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Connection: close\r\n\r\n/a", 1, true},
    {"a connection that ends", "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Connection: close\r\n\r\n/a", 1, true},
    {"what comes behind the last request", "GET /a HTTP/1.0\r\n\r\n" GET("/b"), "HTTP/1.1 200 OK\r\n",
     "Connection: close\r\n\r\n/a", 1, true},
    {"fields", GET("/fields"), "HTTP/1.1 201 Created\r\n", "\r\nX-Good: yes\tyes\r\nContent-Length: 4\r\n\r\nmade", 1,
     false},
    {"nobody answers", GET("/silent"), "HTTP/1.1 500 Internal Server Error\r\n",
     ERROR("internal", "The request was not answered: a mistake of the server."), 1, false},
    {"two answers", GET("/twice") GET("/b"), "HTTP/1.1 200 OK\r\n", "\r\n\r\n/b", 2, false},
    {"a stream", "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n", 0, true},
    {"a stream for HTTP/1.0", "GET /stream HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "nosniff\r\nConnection: close\r\n\r\none two", 0, true},
    {"a stream for HEAD", "HEAD /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n", 0, true},
    {"refused before its body", POST("/private", "9", ""), "HTTP/1.1 403 Forbidden\r\n",
     ERROR("forbidden", "This is not allowed."), 1, true},
    {"refused without a body", GET("/private") GET("/b"), "HTTP/1.1 403 Forbidden\r\n", "\r\n\r\n/b", 2, false},
    {"a body too large", POST("/small", "5", "hello"), "HTTP/1.1 413 Content Too Large\r\n",
     ERROR("too_large", "The body is too large."), 1, true},
    {"a body as large as may be", POST("/small", "4", "hell"), "HTTP/1.1 200 OK\r\n", "\r\n\r\nhell", 1, false},
    {"chunks too large", "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
     "HTTP/1.1 413 Content Too Large\r\n", "large.\"}}\n", 1, true},
    {"doubtful", "GET / HTTP/1.1\r\nHost : a\r\n\r\n" GET("/b"), "HTTP/1.1 400 Bad Request\r\n",
     ERROR("bad_request", "There is a blank before the colon of a field."), 1, true},
    {"doubtful after another", GET("/a") "GET / HTTP/1.1\n", "HTTP/1.1 200 OK\r\n",
     ERROR("bad_request", "A line ends in a line feed without a carriage return."), 2, true},
    {"another version", "GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n", "spoken here.\"}}\n",
     1, true},
    {"another expectation", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: x\r\n\r\n",
     "HTTP/1.1 417 Expectation Failed\r\n", "\"code\":\"expectation\"", 1, true},
};

static void answers_are_what_they_must_be(void **state)
{
    (void)state;
    struct served served;
    serve(&served, plain);
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
        struct buffer in = {0}, last = {0};
        int client = connect_to(served.server);
        send_text(client, exchanges[i].sent);
        for (unsigned a = 0; a < exchanges[i].answers; a++) {
            receive_answer(client, &in, &last);
            if (a == 0 && strncmp(last.ptr, exchanges[i].begins, strlen(exchanges[i].begins)) != 0)
                fail_msg("%s: got %s", exchanges[i].name, last.ptr);
        }
        if (exchanges[i].ends)
            receive_to_end(client, &in);
        if (exchanges[i].answers == 0)
            wt__buffer_str(&last, wt__buffer_view(&in));
        else if (in.len > 0)
            fail_msg("%s: too much: %s", exchanges[i].name, in.ptr);
        const char *found = strstr(last.ptr, exchanges[i].says);
        if (!found || strncmp(last.ptr, "HTTP/1.1 ", 9) != 0)
            fail_msg("%s: got %s", exchanges[i].name, last.ptr);
        if (exchanges[i].answers == 0 && found[strlen(exchanges[i].says)] != '\0')
            fail_msg("%s: too much: %s", exchanges[i].name, last.ptr);
        wt__buffer_dispose(&in);
        wt__buffer_dispose(&last);
        close(client);
    }
    stop_server(&served);
}

/* Each piece of a request in a read of its own. */
/* Each kind of answer has what every answer to the request has, and one to another request has not. */
static void every_answer_has_the_fields_of_all(void **state)
{
    (void)state;
    static const struct {
        const char *line, *rest, *begins;
    } rows[] = {
        {"GET /a", "", "HTTP/1.1 200 "},
        {"HEAD /a", "", "HTTP/1.1 200 "},
        {"GET /nothing", "", "HTTP/1.1 204 "},
        {"GET /fields", "", "HTTP/1.1 201 "},
        {"GET /stream", "", "HTTP/1.1 200 "},
        {"GET /silent", "", "HTTP/1.1 500 "},
        {"GET /private", "", "HTTP/1.1 403 "},
        {"POST /small", "Content-Length: 5\r\n", "HTTP/1.1 413 "},
        {"POST /small", "Transfer-Encoding: chunked\r\n", "HTTP/1.1 408 "}, /* nothing follows: body_ms is over */
    };
    struct served served;
    struct http_server_options options = plain;
    options.body_ms = 50;
    serve(&served, options);
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        const char *line = rows[i / 2].line, *begins = rows[i / 2].begins;
        struct buffer request = {0}, in = {0};
        bool marked = i % 2 == 1;
        int client = connect_to(served.server);
        wt__buffer_printf(&request, "%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s%s\r\n", line, rows[i / 2].rest,
                          marked ? "X-Mark: 1\r\n" : "");
        assert_true(send_bytes(client, wt__buffer_view(&request)));
        receive_to_end(client, &in);
        wt__buffer_text(&in, "");
        const char *end = strstr(in.ptr, "\r\n\r\n"), *mark = strstr(in.ptr, "\r\nX-Marked: yes\r\n");
        if (strncmp(in.ptr, begins, strlen(begins)) != 0 || !end || (mark && mark < end) != marked ||
            strstr(in.ptr, "999"))
            fail_msg("%s: got %s", line, in.ptr);
        close(client);
        wt__buffer_dispose(&request);
        wt__buffer_dispose(&in);
    }
    stop_server(&served);
}

static void requests_may_come_byte_by_byte(void **state)
{
    (void)state;
    struct served served;
    struct buffer in = {0}, last = {0};
    static const char request[] = POST("/echo", "5", "hello");
    serve(&served, plain);
    int client = connect_to(served.server);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i + 1 < sizeof request; i++)
            assert_true(send_bytes(client, (struct str){request + i, 1}));
        assert_string_equal(receive_answer(client, &in, &last), "hello");
    }
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

/* More than is read ahead at once, of requests that are answered by workers and by the loop alone. */
static void many_requests_in_a_row_are_answered_in_order(void **state)
{
    (void)state;
    enum { REQUESTS = 3000 };
    struct served served;
    struct buffer out = {0}, in = {0}, last = {0};
    serve(&served, plain);
    for (int i = 0; i < REQUESTS; i++)
        wt__buffer_printf(&out, "GET /%s%d HTTP/1.1\r\nHost: a\r\n\r\n", i % 3 ? "n" : "private?", i);
    int client = connect_to(served.server);
    for (size_t at = 0, i = 0; i < REQUESTS; i++) {
        while (at < out.len) { /* as much as the server takes now */
            ssize_t sent = send(client, out.ptr + at, out.len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent <= 0)
                break;
            at += (size_t)sent;
        }
        char want[32];
        const char *body = receive_answer(client, &in, &last);
        snprintf(want, sizeof want, "/n%zu", i);
        if (i % 3)
            assert_string_equal(body, want);
        else
            assert_non_null(strstr(body, "not allowed"));
    }
    wt__buffer_dispose(&out);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

static void a_body_is_asked_for_when_it_is_wanted(void **state)
{
    (void)state;
    struct served served;
    struct buffer in = {0}, last = {0};
    serve(&served, plain);
    int client = connect_to(served.server);
    send_text(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    receive_until(client, &in, "HTTP/1.1 100 Continue\r\n\r\n");
    wt__buffer_clear(&in);
    send_text(client, "hello");
    assert_string_equal(receive_answer(client, &in, &last), "hello");
    send_text(client, "POST /private HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    receive_answer(client, &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 403", 12);
    receive_to_end(client, &in);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

static void large_answers_arrive_whole(void **state)
{
    (void)state;
    struct served served;
    struct buffer in = {0}, last = {0};
    serve(&served, plain);
    int client = connect_to(served.server);
    send_text(client, GET("/large") GET("/b"));
    const char *body = receive_answer(client, &in, &last);
    assert_int_equal(last.len - (size_t)(body - last.ptr), 8 << 20);
    assert_string_equal(receive_answer(client, &in, &last), "/b");
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

/* A chunked answer without its last chunk: nobody may take it for whole. */
static void a_stream_that_is_let_go_is_cut_off(void **state)
{
    (void)state;
    static const char *const requests[] = {GET("/cut"), "GET /cut HTTP/1.0\r\n\r\n"};
    struct served served;
    serve(&served, plain);
    for (size_t i = 0; i < 2; i++) {
        struct buffer in = {0};
        char byte;
        int client = connect_to(served.server);
        send_text(client, requests[i]);
        receive_to_end(client, &in);
        assert_true(in.len == 0 || !strstr(in.ptr, "0\r\n\r\n"));
        assert_true(recv(client, &byte, 1, 0) <= 0);
        wt__buffer_dispose(&in);
        close(client);
    }
    await(&world.recorded, 2);
    stop_server(&served);
}

static void a_client_that_goes_cancels(void **state)
{
    (void)state;
    /* with nothing behind, with a little, with more than is read ahead */
    for (int behind = 0; behind < 3; behind++) {
        struct served served;
        struct buffer more = {0};
        forget(state);
        serve(&served, plain);
        int client = connect_to(served.server);
        send_text(client, GET("/wait"));
        for (int i = 0; i < behind * behind * 300; i++)
            wt__buffer_text(&more, GET("/behind/what/waits/for/its/turn/on/the/way"));
        assert_true(send_bytes(client, wt__buffer_view(&more)));
        await(&world.entered, 1);
        assert_int_equal(count_of(&world.gone), 0);
        close(client);
        await(&world.gone, 1);
        await(&world.recorded, 1);
        assert_int_equal(world.last.status, 0);
        stop_server(&served);
        assert_int_equal(count_of(&world.entered), 1); /* what was behind is not answered */
        wt__buffer_dispose(&more);
    }
}

static void an_answer_ends_after_its_on_gone(void **state)
{
    static const char *const requests[] = {GET("/beside/answer"), GET("/beside/stream")};
    for (size_t i = 0; i < 2; i++) {
        struct served served;
        forget(state);
        serve(&served, plain);
        int client = connect_to(served.server);
        send_text(client, requests[i]);
        await(&world.entered, 2);
        close(client);
        await(&world.gone, 1);
        stop_server(&served);
        assert_int_equal(count_of(&world.gone), 1);
        assert_int_equal(world.unfinished, 0);
    }
}

/* Who waits in the queue and goes is never worked for. */
static void a_client_that_goes_leaves_the_queue(void **state)
{
    (void)state;
    struct served served;
    struct http_server_options options = plain;
    options.workers = 1;
    serve(&served, options);
    int first = connect_to(served.server), second = connect_to(served.server);
    send_text(first, GET("/wait"));
    await(&world.entered, 1);
    send_text(second, GET("/second"));
    struct http_figures figures;
    do
        wt__http_server_figures(served.server, &figures);
    while (figures.queued < 1);
    assert_int_equal(figures.running, 1);
    assert_int_equal(figures.connections, 2);
    close(second);
    await(&world.recorded, 1);
    add(&world.open);
    struct buffer in = {0}, last = {0};
    assert_string_equal(receive_answer(first, &in, &last), "waited");
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(first);
    stop_server(&served);
    assert_int_equal(count_of(&world.entered), 1);
}

static void a_full_queue_is_said(void **state)
{
    (void)state;
    enum { CLIENTS = 4 };
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[CLIENTS];
    options.workers = 1;
    options.queue_max = 2;
    serve(&served, options);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(served.server);
        send_text(clients[i], i == 0 ? GET("/wait") : GET("/a"));
        struct http_figures figures = {0};
        if (i == 0)
            await(&world.entered, 1);
        while (i > 0 && i < 3 && figures.queued < (uint64_t)i)
            wt__http_server_figures(served.server, &figures);
    }
    receive_answer(clients[3], &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 503 Service Unavailable\r\n", 34);
    assert_non_null(strstr(last.ptr, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(last.ptr, ERROR("overloaded", "There are too many requests now; come later.")));
    add(&world.open);
    for (int i = 0; i < 3; i++)
        assert_string_equal(receive_answer(clients[i], &in, &last), i == 0 ? "waited" : "/a");
    send_text(clients[3], GET("/again")); /* its connection has stayed */
    assert_string_equal(receive_answer(clients[3], &in, &last), "/again");
    struct http_figures figures;
    wt__http_server_figures(served.server, &figures);
    assert_int_equal(figures.overloaded, 1);
    assert_int_equal(figures.requests, 5);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

/* Those who are slow are ended, and others are served meanwhile. */
static void slow_clients_are_ended(void **state)
{
    (void)state;
    static const struct {
        const char *sent, *says;
    } slow[] = {
        {"", ""},
        {"GET /", "HTTP/1.1 408 Request Timeout\r\n"},
        {"GET / HTTP/1.1\r\nHost: a\r\n", "HTTP/1.1 408 Request Timeout\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 408 Request Timeout\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 408 Request Timeout\r\n"},
        {GET("/a"), "\r\n\r\n/a"},
        {GET("/a") "GET", "HTTP/1.1 408 Request Timeout\r\n"},
    };
    enum { SLOW = sizeof slow / sizeof *slow };
    struct served served;
    struct http_server_options options = plain;
    int clients[SLOW];
    options.head_ms = options.body_ms = options.idle_ms = 50;
    serve(&served, options);
    for (size_t i = 0; i < SLOW; i++) {
        clients[i] = connect_to(served.server);
        send_text(clients[i], slow[i].sent);
    }
    for (size_t i = 0; i < SLOW; i++) {
        struct buffer in = {0};
        receive_to_end(clients[i], &in);
        if (slow[i].says[0] == '\0')
            assert_int_equal(in.len, 0);
        else if (!in.ptr || !strstr(in.ptr, slow[i].says))
            fail_msg("%s: got %s", slow[i].sent, in.ptr ? in.ptr : "nothing");
        close(clients[i]);
        wt__buffer_dispose(&in);
    }
    stop_server(&served);
}

static void who_does_not_read_is_dropped(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) { /* one answer, by time; a stream, by its backlog */
        struct served served;
        struct http_server_options options = plain;
        forget(state);
        options.reader_ms = way == 0 ? 50 : 0;
        serve(&served, options);
        int client = connect_to(served.server);
        send_text(client, way == 0 ? GET("/large") : GET("/flood"));
        await(&world.recorded, 1);
        assert_int_equal(world.last.status, 200);
        assert_int_equal(count_of(&world.gone), way);
        close(client);
        stop_server(&served);
    }
}

/* A client that goes in the middle of a stream: the process gets no signal for it, and the handler learns of it. */
static void a_stream_ends_with_its_client(void **state)
{
    (void)state;
    struct served served;
    struct buffer in = {0};
    serve(&served, plain);
    int client = connect_to(served.server);
    send_text(client, GET("/drip"));
    receive_until(client, &in, "data: {}\n\n");
    close(client);
    await(&world.gone, 1);
    await(&world.recorded, 1);
    wt__buffer_dispose(&in);
    stop_server(&served);
}

static void an_answer_that_takes_too_long_is_given_up(void **state)
{
    (void)state;
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    options.answer_ms = 50;
    serve(&served, options);
    int client = connect_to(served.server);
    send_text(client, "GET /wait HTTP/1.1\r\nHost: a\r\nX-Mark: 1\r\n\r\n");
    receive_answer(client, &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 503 ", 13);
    assert_non_null(strstr(last.ptr, "\r\nX-Marked: yes\r\n"));
    assert_non_null(strstr(last.ptr, "The answer was not there in time."));
    await(&world.gone, 1);
    send_text(client, GET("/b"));
    assert_string_equal(receive_answer(client, &in, &last), "/b");
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

/* An exchange may be answered by anybody, later. */
static void a_kept_exchange_is_answered_later(void **state)
{
    (void)state;
    struct served served;
    struct buffer in = {0}, last = {0};
    serve(&served, plain);
    int client = connect_to(served.server);
    send_text(client, GET("/keep"));
    await(&world.entered, 1);
    struct http_figures figures;
    do
        wt__http_server_figures(served.server, &figures);
    while (figures.running > 0);
    assert_false(wt__http_is_gone(world.kept));
    wt__http_answer(world.kept, 200, "text/plain", NULL, 0, STR("later"));
    wt__http_release(world.kept);
    assert_string_equal(receive_answer(client, &in, &last), "later");

    send_text(client, GET("/keep")); /* and one that nobody answers */
    await(&world.entered, 2);
    do
        wt__http_server_figures(served.server, &figures);
    while (figures.running > 0);
    wt__http_release(world.kept);
    receive_answer(client, &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 500 ", 13);
    assert_int_equal(count_of(&world.gone), 0);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

static void a_kept_exchange_may_outlive_the_server(void **state)
{
    (void)state;
    struct served served;
    struct http_server_options options = plain;
    options.stop_ms = 1;
    serve(&served, options);
    int client = connect_to(served.server);
    send_text(client, GET("/keep"));
    await(&world.entered, 1);
    stop_server(&served);
    assert_int_equal(count_of(&world.gone), 1);
    assert_true(wt__http_is_gone(world.kept));
    wt__http_on_gone(world.kept, client_has_gone, NULL); /* at once */
    assert_int_equal(count_of(&world.gone), 2);
    wt__http_stream(world.kept, 200, NULL, NULL, 0);
    assert_false(wt__http_send(world.kept, STR("nobody hears")));
    assert_true(wt__str_equal(wt__http_request(world.kept)->path, STR("/keep")));
    wt__http_release(world.kept);
    close(client);
}

static void a_stop_lets_running_requests_end(void **state)
{
    (void)state;
    struct served served;
    struct buffer in = {0}, last = {0};
    serve(&served, plain);
    int idle = connect_to(served.server), running = connect_to(served.server), late = connect_to(served.server);
    send_text(idle, GET("/a"));
    assert_string_equal(receive_answer(idle, &in, &last), "/a");
    send_text(late, "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
    receive_until(late, &in, "100 Continue\r\n\r\n");
    wt__buffer_clear(&in);
    send_text(running, GET("/wait"));
    await(&world.entered, 2);
    assert_false(wt__http_server_is_stopping(served.server));
    wt__http_server_stop(served.server);
    assert_true(wt__http_server_is_stopping(served.server));
    receive_to_end(idle, &in); /* idle connections end */
    assert_int_equal(in.len, 0);
    assert_int_equal(try_to_connect(served.server), -1);
    send_text(late, "x"); /* whose request was not whole */
    receive_answer(late, &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 503 ", 13);
    assert_non_null(strstr(last.ptr, "The server is ending."));
    assert_int_equal(count_of(&world.gone), 0);
    add(&world.open);
    assert_string_equal(receive_answer(running, &in, &last), "waited");
    assert_non_null(strstr(last.ptr, "Connection: close"));
    close(idle);
    close(running);
    close(late);
    join_server(&served);
    wt__http_server_close(served.server);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
}

static void a_stop_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct served served;
    struct http_server_options options = plain;
    options.stop_ms = 1;
    serve(&served, options);
    int client = connect_to(served.server);
    send_text(client, GET("/wait"));
    await(&world.entered, 1);
    stop_server(&served);
    assert_int_equal(count_of(&world.gone), 1);
    close(client);
}

#define GET_OF(who, path) "GET " path " HTTP/1.1\r\nHost: a\r\nWho: " who "\r\n\r\n"

/* Whom a request counts as: it says so itself, which a real server would know. */
static bool write_holder(void *context, const struct http_request *head, char out[HTTP_HOLDER_BYTES])
{
    struct str who = wt__http_field(head, "Who");
    (void)context;
    snprintf(out, HTTP_HOLDER_BYTES, "%.*s", (int)who.len, who.ptr ? who.ptr : "");
    return true;
}

/* One client's requests fill neither the workers nor the queue for another client. */
static void a_flood_leaves_room_for_others(void **state)
{
    (void)state;
    enum { WORKERS = 2, FLOOD = WORKERS + 3 };
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[FLOOD];
    options.workers = WORKERS;
    options.queue_max = 6;
    options.handler.holder = write_holder;
    serve(&served, options);
    for (int i = 0; i < FLOOD; i++) { /* all workers of one client, and its share of the queue */
        clients[i] = connect_to(served.server);
        send_text(clients[i], GET_OF("a", "/wait"));
        struct http_figures figures = {0};
        if (i < WORKERS)
            await(&world.entered, (unsigned)i + 1);
        while (i >= WORKERS && figures.queued < (uint64_t)(i - WORKERS + 1))
            wt__http_server_figures(served.server, &figures);
    }
    int more = connect_to(served.server), other = connect_to(served.server);
    send_text(more, GET_OF("a", "/a"));
    receive_answer(more, &in, &last);
    assert_non_null(
        strstr(last.ptr, ERROR("overloaded", "Too many requests of this client wait for a worker; come later.")));
    send_text(other, GET_OF("b", "/b"));
    assert_string_equal(receive_answer(other, &in, &last), "/b");
    assert_int_equal(count_of(&world.entered), WORKERS + 1); /* while none of the first client's has ended */
    for (int i = 0; i < FLOOD; i++)
        add(&world.open);
    for (int i = 0; i < FLOOD; i++) {
        assert_string_equal(receive_answer(clients[i], &in, &last), "waited");
        close(clients[i]);
    }
    close(more);
    close(other);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

/* The worker that is free goes to the client that has none, though another one's request came first. */
static void a_line_waits_for_its_own_worker(void **state)
{
    (void)state;
    enum { SENT = 4 };
    static const char *const sent[SENT] = {GET_OF("a", "/wait"), GET_OF("z", "/stream"), GET_OF("a", "/a"),
                                           GET_OF("b", "/b")};
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[SENT];
    options.workers = 1;
    options.queue_max = 20;
    options.handler.holder = write_holder;
    serve(&served, options);
    for (int i = 0; i < SENT; i++) {
        clients[i] = connect_to(served.server);
        send_text(clients[i], sent[i]);
        if (i == 0)
            await(&world.entered, 1);
    }
    assert_string_equal(receive_answer(clients[3], &in, &last), "/b");
    struct http_figures figures;
    wt__http_server_figures(served.server, &figures);
    assert_int_equal(figures.queued, 1); /* a's second */
    add(&world.open);
    assert_string_equal(receive_answer(clients[0], &in, &last), "waited");
    assert_string_equal(receive_answer(clients[2], &in, &last), "/a");
    for (int i = 0; i < SENT; i++)
        close(clients[i]);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

static void connections_have_a_limit(void **state)
{
    (void)state;
    enum { MOST = 3 };
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[MOST + 1];
    static const char *const waits[] = {GET_OF("a", "/wait"), GET_OF("b", "/wait"), GET_OF("c", "/wait")};
    options.connections_max = MOST;
    options.workers = MOST - 1;
    options.handler.holder = write_holder;
    serve(&served, options);
    for (int i = 0; i <= MOST; i++) { /* the last one takes the place of the first, which is idle longest */
        clients[i] = connect_to(served.server);
        send_text(clients[i], GET("/a"));
        assert_string_equal(receive_answer(clients[i], &in, &last), "/a");
    }
    receive_to_end(clients[0], &in);
    for (int i = 1; i <= MOST; i++) {
        send_text(clients[i], waits[i - 1]);
        await(&world.entered, (unsigned)(MOST + 1 + i));
    }
    int refused = connect_to(served.server); /* nobody is idle now */
    receive_to_end(refused, &in);
    assert_int_equal(in.len, 0);
    for (int i = 1; i <= MOST; i++)
        add(&world.open);
    for (int i = 1; i <= MOST; i++)
        assert_string_equal(receive_answer(clients[i], &in, &last), "waited");
    for (int i = 0; i <= MOST; i++)
        close(clients[i]);
    close(refused);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

/* All connections are held by clients that send no head: the oldest of them makes room. */
static void silent_clients_keep_nobody_out(void **state)
{
    (void)state;
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    options.connections_max = 2;
    serve(&served, options);
    int silent = connect_to(served.server), half = connect_to(served.server);
    send_text(half, "GET / HTTP/1.1\r\n");
    int honest = connect_to(served.server);
    send_text(honest, GET("/a"));
    assert_string_equal(receive_answer(honest, &in, &last), "/a");
    receive_to_end(silent, &in);
    assert_int_equal(in.len, 0);
    send_text(half, "Host: a\r\n\r\n"); /* and has kept its place */
    assert_string_equal(receive_answer(half, &in, &last), "/");
    close(silent);
    close(half);
    close(honest);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

/* Of requests that are read and answered, all together. */
static void what_requests_hold_has_a_limit(void **state)
{
    (void)state;
    struct served served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0}, body = {0};
    options.held_max = 64 << 10;
    serve(&served, options);
    for (int i = 0; i < 1 << 14; i++)
        wt__buffer_text(&body, "abcdefgh");
    for (int round = 0; round < 3; round++) { /* what was held is given back each time */
        int large = connect_to(served.server), small = connect_to(served.server);
        send_text(large, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 131073\r\n\r\n");
        send_bytes(large, wt__buffer_view(&body));
        wt__buffer_clear(&in);
        receive_to_end(large, &in);
        assert_memory_equal(in.ptr, "HTTP/1.1 503 ", 13);
        wt__buffer_clear(&in);
        send_text(small, POST("/echo", "5", "hello"));
        assert_string_equal(receive_answer(small, &in, &last), "hello");
        close(large);
        close(small);
    }
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    wt__buffer_dispose(&body);
    stop_server(&served);
}

static void thousands_may_be_idle(void **state)
{
    (void)state;
    enum { IDLE = 2000 };
    static int clients[IDLE];
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 2 * IDLE + 100) {
        print_message("skipped: %d idle connections, for want of descriptors\n", IDLE);
        skip();
    }
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    struct served served;
    struct buffer in = {0}, last = {0};
    serve(&served, plain);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < IDLE; i++) {
            if (round == 0)
                clients[i] = connect_to(served.server);
            send_text(clients[i], GET("/a"));
            assert_string_equal(receive_answer(clients[i], &in, &last), "/a");
        }
    struct http_figures figures;
    wt__http_server_figures(served.server, &figures);
    assert_int_equal(figures.connections, IDLE);
    assert_int_equal(figures.accepted, IDLE);
    assert_int_equal(figures.requests, 2 * IDLE);
    assert_int_equal(figures.refused, 0);
    for (int i = 0; i < IDLE; i++)
        close(clients[i]);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

static void a_record_says_what_became_of_a_request(void **state)
{
    (void)state;
    static const struct {
        const char *sent;
        int status;
        uint64_t bytes;
        bool is_request;
    } rows[] = {
        {POST("/echo", "5", "hello"), 200, 5, true},
        {GET("/stream"), 200, 7, true},
        {"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n", 200, 0, true},
        {GET("/private"), 403, 64, true},
        {POST("/small", "5", ""), 413, 66, true},
        {"GET\r\n", 400, 0, false},
    };
    struct served served;
    serve(&served, plain);
    for (size_t i = 0; i < 5; i++) {
        int client = connect_to(served.server);
        send_text(client, rows[i].sent);
        await(&world.recorded, (unsigned)i + 1);
        assert_int_equal(world.last.status, rows[i].status);
        if (rows[i].bytes > 0)
            assert_int_equal(world.last.bytes, rows[i].bytes);
        assert_int_equal(world.last_was_request, rows[i].is_request);
        assert_true(world.last.queue_ms >= 0 && world.last.run_ms >= 0);
        close(client);
    }
    int client = connect_to(served.server);
    send_text(client, "GET / HTTP/1.1\n");
    await(&world.recorded, 6);
    assert_int_equal(world.last.status, 400);
    assert_false(world.last_was_request);
    close(client);
    stop_server(&served);
}

static void unix_sockets_are_for_one_user(void **state)
{
    (void)state;
    char folder[] = "/tmp/whichtool-http-XXXXXX", listen_at[64], file[64];
    struct stat info;
    struct buffer in = {0}, last = {0};
    struct http_server_options options = plain;
    struct http_server *second;
    wt_error err;
    assert_non_null(mkdtemp(folder));
    snprintf(listen_at, sizeof listen_at, "unix:%s/socket", folder);
    snprintf(file, sizeof file, "unix:%s/file", folder);
    options.listen = listen_at;
    for (int round = 0; round < 2; round++) { /* the second one finds a stale one */
        struct served served;
        serve(&served, options);
        assert_string_equal(wt__http_server_address(served.server), listen_at);
        assert_int_equal(stat(listen_at + 5, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0600);
        int client = connect_to(served.server);
        send_text(client, GET("/peer"));
        assert_string_equal(receive_answer(client, &in, &last), "unix");
        assert_int_equal(wt__http_server_open(&second, &options, &err), WT_EBUSY);
        assert_non_null(strstr(err.message, "somebody listens there already"));
        assert_null(second);
        close(client);
        stop_server(&served);
        assert_int_equal(stat(listen_at + 5, &info), -1);
        struct sockaddr_un stale = {.sun_family = AF_UNIX};
        snprintf(stale.sun_path, sizeof stale.sun_path, "%s", listen_at + 5);
        int left = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(bind(left, (struct sockaddr *)&stale, sizeof stale), 0);
        close(left);
    }
    FILE *other = fopen(file + 5, "w");
    assert_non_null(other);
    fclose(other);
    options.listen = file;
    assert_int_equal(wt__http_server_open(&second, &options, &err), WT_EBUSY);
    assert_non_null(strstr(err.message, "is no socket"));
    unlink(file + 5);
    unlink(listen_at + 5);
    rmdir(folder);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
}

static void addresses_are_plain(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "8080",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:65536",
        "example.org:80",
        "::1:80",
        "[::1]",
        "[::1:80",
        "[localhost]:80",
        "127.0.0.1:-1",
        "127.0.0.1: 80",
        ":80",
        "unix:",
        "256.0.0.1:80",
        "127.1:80",
        "*:80",
        "127.0.0.1:000080",
        "unix:/a/path/that/is/longer/than/a/socket/may/have/it/so/that/nothing/can/listen/there/whatever/one/does/"
        "about/it",
    };
    struct http_server_options options = plain;
    struct http_server *server, *second;
    wt_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.listen = bad[i];
        if (wt__http_server_open(&server, &options, &err) != WT_EINVAL || !strstr(err.message, bad[i]))
            fail_msg("\"%s\": %s", bad[i], err.message);
        assert_null(server);
    }
    options.listen = "localhost:0";
    assert_int_equal(wt__http_server_open(&server, &options, &err), 0);
    options.listen = wt__http_server_address(server);
    assert_memory_equal(options.listen, "127.0.0.1:", 10);
    assert_true(atoi(options.listen + 10) > 0);
    assert_int_equal(wt__http_server_open(&second, &options, &err), WT_EBUSY);
    assert_non_null(strstr(err.message, options.listen));
    wt__http_server_close(server); /* one that never ran */
    wt__http_server_close(NULL);
}

static void ipv6_is_spoken_where_it_is(void **state)
{
    (void)state;
    struct http_server_options options = plain;
    struct http_server *server;
    wt_error err;
    options.listen = "[::1]:0";
    if (wt__http_server_open(&server, &options, &err) < 0) {
        print_message("skipped: IPv6, which is not there\n");
        skip();
    }
    wt__http_server_close(server);
    struct served served;
    struct buffer in = {0}, last = {0};
    serve(&served, options);
    int client = connect_to(served.server);
    send_text(client, GET("/peer"));
    assert_memory_equal(receive_answer(client, &in, &last), "[::1]:", 6);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

#define TEST(name) cmocka_unit_test_setup(name, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_are_what_they_must_be),
        TEST(every_answer_has_the_fields_of_all),
        TEST(requests_may_come_byte_by_byte),
        TEST(many_requests_in_a_row_are_answered_in_order),
        TEST(a_body_is_asked_for_when_it_is_wanted),
        TEST(large_answers_arrive_whole),
        TEST(a_stream_that_is_let_go_is_cut_off),
        TEST(a_client_that_goes_cancels),
        TEST(an_answer_ends_after_its_on_gone),
        TEST(a_client_that_goes_leaves_the_queue),
        TEST(a_full_queue_is_said),
        TEST(slow_clients_are_ended),
        TEST(who_does_not_read_is_dropped),
        TEST(a_stream_ends_with_its_client),
        TEST(an_answer_that_takes_too_long_is_given_up),
        TEST(a_kept_exchange_is_answered_later),
        TEST(a_kept_exchange_may_outlive_the_server),
        TEST(a_stop_lets_running_requests_end),
        TEST(a_stop_does_not_wait_for_ever),
        TEST(a_flood_leaves_room_for_others),
        TEST(a_line_waits_for_its_own_worker),
        TEST(connections_have_a_limit),
        TEST(silent_clients_keep_nobody_out),
        TEST(what_requests_hold_has_a_limit),
        TEST(thousands_may_be_idle),
        TEST(a_record_says_what_became_of_a_request),
        TEST(unix_sockets_are_for_one_user),
        TEST(addresses_are_plain),
        TEST(ipv6_is_spoken_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
