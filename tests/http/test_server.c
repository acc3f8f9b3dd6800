/* Tests the server end to end, over sockets. The tests wait for events, so that they do not depend on the machine's
 * speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "http/handlers.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path, length, body) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Length: " length "\r\n\r\n" body
#define ERROR(code, message) "{\"error\":{\"code\":\"" code "\",\"message\":\"" message "\"}}\n"

/* Each row is one connection. sent: bytes sent to the server. begins: start of the first answer; not checked if
 * `answers` is 0. says: part of the last answer, or its end if `answers` is 0. ends: the server closes the
 * connection. */
static const struct {
    const char *name, *sent, *begins, *says;
    unsigned answers; /* answers with Content-Length or without a body; 0 to read until the connection ends */
    bool ends;
} exchanges[] = {
    {"POST with a body: the handler gets the body", POST("/echo", "5", "hello"),
     "HTTP/1.1 200 OK\r\nDate: ", "\r\n\r\nhello", 1, false},
    {"every answer has X-Content-Type-Options", GET("/a"), "HTTP/1.1 200 OK\r\n",
     "\r\nX-Content-Type-Options: nosniff\r\n", 1, false},
    {"three pipelined requests get three answers", GET("/a") GET("/b") GET("/c"), "HTTP/1.1 200 OK\r\n", "\r\n\r\n/c",
     3, false},
    {"no body for HEAD", "HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Content-Length: 2\r\nConnection: close\r\n\r\n", 0, true},
    {"no body for a refused HEAD", "HEAD /private HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 403 Forbidden\r\n", "Connection: close\r\n\r\n", 0, true},
    {"status 204 has no body", GET("/nothing") GET("/b"), "HTTP/1.1 204 No Content\r\n", "\r\n\r\n/b", 2, false},
    {"HTTP/1.0 request: the server closes the connection", "GET /a HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Connection: close\r\n\r\n/a", 1, true},
    {"Connection field with close: the server closes the connection",
     "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n", "Connection: close\r\n\r\n/a", 1,
     true},
    {"input after the last request is ignored", "GET /a HTTP/1.0\r\n\r\n" GET("/b"), "HTTP/1.1 200 OK\r\n",
     "Connection: close\r\n\r\n/a", 1, true},
    {"invalid and framing fields of a handler are omitted", GET("/fields"), "HTTP/1.1 201 Created\r\n",
     "\r\nX-Good: yes\tyes\r\nContent-Length: 4\r\n\r\nmade", 1, false},
    {"handler returns without an answer: status 500", GET("/silent"), "HTTP/1.1 500 Internal Server Error\r\n",
     ERROR("internal", "The server failed to answer the request."), 1, false},
    {"handler answers twice: the first counts", GET("/twice") GET("/b"), "HTTP/1.1 200 OK\r\n", "\r\n\r\n/b", 2, false},
    {"a stream is sent in chunks", "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n",
     0, true},
    {"a stream for HTTP/1.0 is sent without chunks", "GET /stream HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "nosniff\r\nConnection: close\r\n\r\none two", 0, true},
    {"a stream for HEAD has no body", "HEAD /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n", 0, true},
    {"handler refuses the head: body is not read", POST("/private", "9", ""), "HTTP/1.1 403 Forbidden\r\n",
     ERROR("forbidden", "This is not allowed."), 1, true},
    {"handler refuses a request without a body: the connection stays open", GET("/private") GET("/b"),
     "HTTP/1.1 403 Forbidden\r\n", "\r\n\r\n/b", 2, false},
    {"body one byte over the limit: status 413", POST("/small", "5", "hello"), "HTTP/1.1 413 Content Too Large\r\n",
     ERROR("too_large", "The body is too large."), 1, true},
    {"body of the maximum length is accepted", POST("/small", "4", "hell"), "HTTP/1.1 200 OK\r\n", "\r\n\r\nhell", 1,
     false},
    {"chunked body over the limit: status 413",
     "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
     "HTTP/1.1 413 Content Too Large\r\n", "large.\"}}\n", 1, true},
    {"invalid field: status 400", "GET / HTTP/1.1\r\nHost : a\r\n\r\n" GET("/b"), "HTTP/1.1 400 Bad Request\r\n",
     ERROR("bad_request", "There is a blank before the colon of a field."), 1, true},
    {"invalid request after a valid one: status 400", GET("/a") "GET / HTTP/1.1\n", "HTTP/1.1 200 OK\r\n",
     ERROR("bad_request", "A line ends in a line feed without a carriage return."), 2, true},
    {"HTTP/3.0: status 505", "GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n",
     "supported.\"}}\n", 1, true},
    {"unknown expectation: status 417", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: x\r\n\r\n",
     "HTTP/1.1 417 Expectation Failed\r\n", "\"code\":\"expectation\"", 1, true},
};

static void answers_have_the_expected_head_and_body(void **state)
{
    (void)state;
    struct server_under_test served;
    start_server(&served, plain);
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

/* Answers of every kind to a request with X-Mark have the field X-Marked. Answers to other requests lack this field. */
static void every_answer_has_the_common_fields(void **state)
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
        {"POST /small", "Transfer-Encoding: chunked\r\n", "HTTP/1.1 408 "}, /* no body follows, so body_ms expires */
    };
    struct server_under_test served;
    struct http_server_options options = plain;
    options.body_ms = 50;
    start_server(&served, options);
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

static void requests_may_arrive_byte_by_byte(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    static const char request[] = POST("/echo", "5", "hello");
    start_server(&served, plain);
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

/* The input is larger than the server buffers at once. Workers answer the accepted requests, and the loop answers the
 * refused ones. */
static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    enum { REQUESTS = 3000 };
    struct server_under_test served;
    struct buffer out = {0}, in = {0}, last = {0};
    start_server(&served, plain);
    for (int i = 0; i < REQUESTS; i++)
        wt__buffer_printf(&out, "GET /%s%d HTTP/1.1\r\nHost: a\r\n\r\n", i % 3 ? "n" : "private?", i);
    int client = connect_to(served.server);
    for (size_t at = 0, i = 0; i < REQUESTS; i++) {
        while (at < out.len) { /* limited to the bytes that the server accepts now */
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

static void server_sends_100_continue_only_for_accepted_bodies(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, plain);
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

static void large_answers_are_sent_completely(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, plain);
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

/* A chunked answer without its last chunk must not be mistaken for a complete one. */
static void unfinished_stream_is_cut_off(void **state)
{
    (void)state;
    static const char *const requests[] = {GET("/cut"), "GET /cut HTTP/1.0\r\n\r\n"};
    struct server_under_test served;
    start_server(&served, plain);
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
    wait_for_count(&world.recorded, 2);
    stop_server(&served);
}

static void disconnect_cancels_the_request(void **state)
{
    (void)state;
    /* 0, about 20 KB or about 80 KB of further requests follow the request. The server keeps at most HTTP_INPUT_BYTES
     * of them. */
    for (int behind = 0; behind < 3; behind++) {
        struct server_under_test served;
        struct buffer more = {0};
        reset_world(state);
        start_server(&served, plain);
        int client = connect_to(served.server);
        send_text(client, GET("/wait"));
        for (int i = 0; i < behind * behind * 300; i++)
            wt__buffer_text(&more, GET("/behind/what/waits/for/its/turn/on/the/way"));
        assert_true(send_bytes(client, wt__buffer_view(&more)));
        wait_for_count(&world.entered, 1);
        assert_int_equal(read_world_count(&world.gone), 0);
        close(client);
        wait_for_count(&world.gone, 1);
        wait_for_count(&world.recorded, 1);
        assert_int_equal(world.last.status, 0);
        stop_server(&served);
        assert_int_equal(read_world_count(&world.entered), 1); /* the later requests do not reach the handler */
        wt__buffer_dispose(&more);
    }
}

static void answer_ends_after_its_on_gone_callback(void **state)
{
    static const char *const requests[] = {GET("/beside/answer"), GET("/beside/stream")};
    for (size_t i = 0; i < 2; i++) {
        struct server_under_test served;
        reset_world(state);
        start_server(&served, plain);
        int client = connect_to(served.server);
        send_text(client, requests[i]);
        wait_for_count(&world.entered, 2);
        close(client);
        wait_for_count(&world.gone, 1);
        stop_server(&served);
        assert_int_equal(read_world_count(&world.gone), 1);
        assert_int_equal(world.unfinished, 0);
    }
}

/* A queued request is never started after its client has disconnected. */
static void disconnect_removes_queued_request(void **state)
{
    (void)state;
    struct server_under_test served;
    struct http_server_options options = plain;
    options.workers = 1;
    start_server(&served, options);
    int first = connect_to(served.server), second = connect_to(served.server);
    send_text(first, GET("/wait"));
    wait_for_count(&world.entered, 1);
    send_text(second, GET("/second"));
    struct http_figures figures;
    do
        wt__http_server_figures(served.server, &figures);
    while (figures.queued < 1);
    assert_int_equal(figures.running, 1);
    assert_int_equal(figures.connections, 2);
    close(second);
    wait_for_count(&world.recorded, 1);
    increment(&world.open);
    struct buffer in = {0}, last = {0};
    assert_string_equal(receive_answer(first, &in, &last), "waited");
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(first);
    stop_server(&served);
    assert_int_equal(read_world_count(&world.entered), 1);
}

static void full_queue_is_answered_503(void **state)
{
    (void)state;
    enum { CLIENTS = 4 };
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[CLIENTS];
    options.workers = 1;
    options.queue_max = 2;
    start_server(&served, options);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(served.server);
        send_text(clients[i], i == 0 ? GET("/wait") : GET("/a"));
        struct http_figures figures = {0};
        if (i == 0)
            wait_for_count(&world.entered, 1);
        while (i > 0 && i < 3 && figures.queued < (uint64_t)i)
            wt__http_server_figures(served.server, &figures);
    }
    receive_answer(clients[3], &in, &last);
    struct http_figures figures;
    wt__http_server_figures(served.server, &figures);
    assert_true(figures.in_progress >= 3); /* the running request and the queued ones */
    assert_memory_equal(last.ptr, "HTTP/1.1 503 Service Unavailable\r\n", 34);
    assert_non_null(strstr(last.ptr, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(last.ptr, ERROR("overloaded", "The server is overloaded; try again later.")));
    increment(&world.open);
    for (int i = 0; i < 3; i++)
        assert_string_equal(receive_answer(clients[i], &in, &last), i == 0 ? "waited" : "/a");
    send_text(clients[3], GET("/again")); /* the connection is still open */
    assert_string_equal(receive_answer(clients[3], &in, &last), "/again");
    wt__http_server_figures(served.server, &figures);
    assert_int_equal(figures.overloaded[HTTP_OVERLOAD_QUEUE], 1);
    assert_int_equal(figures.requests, 5);
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i]);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

static void slow_clients_time_out(void **state)
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
    struct server_under_test served;
    struct http_server_options options = plain;
    int clients[SLOW];
    options.head_ms = options.body_ms = options.idle_ms = 50;
    start_server(&served, options);
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

static void clients_that_do_not_read_are_dropped(void **state)
{
    (void)state;
    /* way: 0 for a complete answer, dropped after reader_ms; 1 for a stream, dropped when its backlog is full */
    for (int way = 0; way < 2; way++) {
        struct server_under_test served;
        struct http_server_options options = plain;
        reset_world(state);
        options.reader_ms = way == 0 ? 50 : 0;
        start_server(&served, options);
        int client = connect_to(served.server);
        send_text(client, way == 0 ? GET("/large") : GET("/flood"));
        wait_for_count(&world.recorded, 1);
        assert_int_equal(world.last.status, 200);
        assert_int_equal(read_world_count(&world.gone), way);
        close(client);
        stop_server(&served);
    }
}

/* The client disconnects during a stream. The process gets no SIGPIPE, and the handler is notified. */
static void stream_ends_with_its_client(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0};
    start_server(&served, plain);
    int client = connect_to(served.server);
    send_text(client, GET("/drip"));
    receive_until(client, &in, "data: {}\n\n");
    close(client);
    wait_for_count(&world.gone, 1);
    wait_for_count(&world.recorded, 1);
    wt__buffer_dispose(&in);
    stop_server(&served);
}

/* A kept exchange can be answered later, from any thread. */
static void kept_exchange_is_answered_later(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, plain);
    int client = connect_to(served.server);
    send_text(client, GET("/keep"));
    wait_for_count(&world.entered, 1);
    struct http_figures figures;
    do
        wt__http_server_figures(served.server, &figures);
    while (figures.running > 0);
    assert_false(wt__http_is_gone(world.kept));
    wt__http_answer(world.kept, 200, "text/plain", NULL, 0, STR("later"));
    wt__http_release(world.kept);
    assert_string_equal(receive_answer(client, &in, &last), "later");

    send_text(client, GET("/keep")); /* released without an answer */
    wait_for_count(&world.entered, 2);
    do
        wt__http_server_figures(served.server, &figures);
    while (figures.running > 0);
    wt__http_release(world.kept);
    receive_answer(client, &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 500 ", 13);
    assert_int_equal(read_world_count(&world.gone), 0);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

static void kept_exchange_may_outlive_the_server(void **state)
{
    (void)state;
    struct server_under_test served;
    struct http_server_options options = plain;
    options.stop_ms = 1;
    start_server(&served, options);
    int client = connect_to(served.server);
    send_text(client, GET("/keep"));
    wait_for_count(&world.entered, 1);
    stop_server(&served);
    assert_int_equal(read_world_count(&world.gone), 1);
    assert_true(wt__http_is_gone(world.kept));
    wt__http_on_gone(world.kept, client_has_gone, NULL); /* calls the callback immediately */
    assert_int_equal(read_world_count(&world.gone), 2);
    wt__http_stream(world.kept, 200, NULL, NULL, 0);
    assert_false(wt__http_send(world.kept, STR("nobody hears")));
    assert_true(wt__str_equal(wt__http_request(world.kept)->path, STR("/keep")));
    wt__http_release(world.kept);
    close(client);
}

static void stop_waits_for_running_requests(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, plain);
    int idle = connect_to(served.server), running = connect_to(served.server), late = connect_to(served.server);
    send_text(idle, GET("/a"));
    assert_string_equal(receive_answer(idle, &in, &last), "/a");
    send_text(late, "POST /late HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
    receive_until(late, &in, "100 Continue\r\n\r\n");
    wt__buffer_clear(&in);
    send_text(running, GET("/wait"));
    wait_for_count(&world.entered, 2);
    wt__http_server_stop(served.server);
    receive_to_end(idle, &in); /* idle connections are closed */
    assert_int_equal(in.len, 0);
    assert_int_equal(try_to_connect(served.server), -1);
    send_text(late, "x"); /* completes a request after the stop */
    receive_answer(late, &in, &last);
    assert_memory_equal(last.ptr, "HTTP/1.1 200 ", 13);
    assert_non_null(strstr(last.ptr, "Connection: close"));
    assert_int_equal(read_world_count(&world.gone), 0);
    increment(&world.open);
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

/* A client may have connected without having sent its first request yet. */
static void first_request_of_a_connection_is_answered_after_a_stop(void **state)
{
    (void)state;
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, plain);
    int fresh = connect_to(served.server), running = connect_to(served.server);
    send_text(running, GET("/wait"));
    wait_for_count(&world.entered, 1);
    wt__http_server_stop(served.server);
    while (try_to_connect(served.server) >= 0) /* until the shutdown has begun */
        ;
    send_text(fresh, GET("/a"));
    assert_string_equal(receive_answer(fresh, &in, &last), "/a");
    assert_non_null(strstr(last.ptr, "Connection: close"));
    increment(&world.open);
    assert_string_equal(receive_answer(running, &in, &last), "waited");
    close(fresh);
    close(running);
    join_server(&served);
    wt__http_server_close(served.server);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
}

static void drain_answers_and_closes_connections_until_the_stop(void **state)
{
    (void)state;
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    options.drain_ms = HTTP_DRAIN_MS_MAX;
    start_server(&served, options);
    int early = connect_to(served.server);
    send_text(early, GET("/a"));
    assert_string_equal(receive_answer(early, &in, &last), "/a");
    assert_null(strstr(last.ptr, "Connection: close"));
    assert_false(wt__http_server_is_draining(served.server));
    wt__http_server_drain(served.server);
    assert_true(wt__http_server_is_draining(served.server));
    int new = connect_to(served.server);
    const int clients[] = {early, new};
    for (size_t i = 0; i < 2; i++) {
        send_text(clients[i], GET("/b"));
        assert_string_equal(receive_answer(clients[i], &in, &last), "/b");
        assert_non_null(strstr(last.ptr, "Connection: close"));
        receive_to_end(clients[i], &in);
        assert_int_equal(in.len, 0);
        close(clients[i]);
    }
    stop_server(&served); /* ends the drain early */
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
}

static void drain_ends_with_a_stop(void **state)
{
    (void)state;
    static const unsigned durations[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        struct server_under_test served;
        struct http_server_options options = plain;
        options.drain_ms = durations[i];
        start_server(&served, options);
        wt__http_server_drain(served.server);
        join_server(&served);
        wt__http_server_close(served.server);
    }
}

static void stop_has_a_time_limit(void **state)
{
    (void)state;
    struct server_under_test served;
    struct http_server_options options = plain;
    options.stop_ms = 1;
    start_server(&served, options);
    int client = connect_to(served.server);
    send_text(client, GET("/wait"));
    wait_for_count(&world.entered, 1);
    stop_server(&served);
    assert_int_equal(read_world_count(&world.gone), 1);
    close(client);
}

#define GET_OF(who, path) "GET " path " HTTP/1.1\r\nHost: a\r\nWho: " who "\r\n\r\n"

/* Takes the holder from the request field Who. A real server would authenticate the client. */
static bool holder_from_field(void *context, const struct http_request *head, char out[HTTP_HOLDER_BYTES])
{
    struct str who = wt__http_field(head, "Who");
    (void)context;
    snprintf(out, HTTP_HOLDER_BYTES, "%.*s", (int)who.len, who.ptr ? who.ptr : "");
    return true;
}

/* One client's requests cannot occupy all workers or the whole queue. */
static void flood_of_one_client_leaves_room_for_others(void **state)
{
    (void)state;
    enum { WORKERS = 2, FLOOD = WORKERS + 3 };
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[FLOOD];
    options.workers = WORKERS;
    options.queue_max = 6;
    options.handler.holder = holder_from_field;
    start_server(&served, options);
    for (int i = 0; i < FLOOD; i++) { /* client a uses all workers that it may use, and its share of the queue */
        clients[i] = connect_to(served.server);
        send_text(clients[i], GET_OF("a", "/wait"));
        struct http_figures figures = {0};
        if (i < WORKERS)
            wait_for_count(&world.entered, (unsigned)i + 1);
        while (i >= WORKERS && figures.queued < (uint64_t)(i - WORKERS + 1))
            wt__http_server_figures(served.server, &figures);
    }
    int more = connect_to(served.server), other = connect_to(served.server);
    send_text(more, GET_OF("a", "/a"));
    receive_answer(more, &in, &last);
    assert_non_null(
        strstr(last.ptr, ERROR("overloaded", "Too many requests of this client are queued; try again later.")));
    send_text(other, GET_OF("b", "/b"));
    assert_string_equal(receive_answer(other, &in, &last), "/b");
    assert_int_equal(read_world_count(&world.entered), WORKERS + 1); /* the requests of client a are still running */
    for (int i = 0; i < FLOOD; i++)
        increment(&world.open);
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

/* Client a has a running request and sends a second one. Then client b sends a request. A free worker takes the request
 * of client b first. */
static void free_worker_prefers_clients_without_running_requests(void **state)
{
    (void)state;
    enum { SENT = 4 };
    static const char *const sent[SENT] = {GET_OF("a", "/wait"), GET_OF("z", "/stream"), GET_OF("a", "/a"),
                                           GET_OF("b", "/b")};
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[SENT];
    options.workers = 1;
    options.queue_max = 20;
    options.handler.holder = holder_from_field;
    start_server(&served, options);
    for (int i = 0; i < SENT; i++) {
        clients[i] = connect_to(served.server);
        send_text(clients[i], sent[i]);
        if (i == 0)
            wait_for_count(&world.entered, 1);
    }
    assert_string_equal(receive_answer(clients[3], &in, &last), "/b");
    struct http_figures figures;
    wt__http_server_figures(served.server, &figures);
    assert_int_equal(figures.queued, 1); /* the second request of a */
    increment(&world.open);
    assert_string_equal(receive_answer(clients[0], &in, &last), "waited");
    assert_string_equal(receive_answer(clients[2], &in, &last), "/a");
    for (int i = 0; i < SENT; i++)
        close(clients[i]);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

enum { LONG_REQUEST = 4000, /* bytes; 80 ms behind a short request */ SOON_MS = 60 };

/* Sends a request of LONG_REQUEST bytes and, after a pause, a short one. Another request occupies the only worker.
 * Returns the milliseconds until the short one was queued. */
static double queue_long_and_short(const struct server_under_test *served, int clients[3], unsigned pause_ms)
{
    char text[LONG_REQUEST + 64];
    struct http_figures figures = {0};
    for (int i = 0; i < 3; i++)
        clients[i] = connect_to(served->server);
    send_text(clients[0], GET("/wait"));
    wait_for_count(&world.entered, 1);
    double began = wt__now_ms();
    snprintf(text, sizeof text, "GET /long?%0*d HTTP/1.1\r\nHost: x\r\n\r\n", LONG_REQUEST, 0);
    send_text(clients[1], text);
    while (figures.queued < 1)
        wt__http_server_figures(served->server, &figures);
    nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000L}, NULL);
    send_text(clients[2], GET("/wait"));
    while (figures.queued < 2)
        wt__http_server_figures(served->server, &figures);
    return wt__now_ms() - began;
}

/* Sets *queued to the number of requests that wait while the second /wait runs. Returns as queue_long_and_short. */
static double answer_long_and_short(unsigned pause_ms, unsigned wanted, uint64_t *queued)
{
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    struct http_figures figures;
    int clients[3];
    options.workers = 1;
    reset_world(NULL);
    start_server(&served, options);
    double took = queue_long_and_short(&served, clients, pause_ms);
    increment(&world.open);
    wait_for_count(&world.entered, 2 + (wanted == 0));
    wt__http_server_figures(served.server, &figures);
    *queued = figures.queued;
    increment(&world.open);
    for (int c = 0; c < 3; c++) {
        assert_non_null(receive_answer(clients[c], &in, &last));
        close(clients[c]);
    }
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
    return took;
}

static void short_request_overtakes_a_long_one_for_a_while(void **state)
{
    (void)state;
    static const struct {
        unsigned pause_ms, queued;
    } cases[] = {{0, 1}, {120, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t queued;
        while (answer_long_and_short(cases[i].pause_ms, cases[i].queued, &queued) > cases[i].pause_ms + SOON_MS)
            ; /* on a busy machine, the short request may be too late to overtake */
        assert_int_equal(queued, cases[i].queued);
    }
}

static void number_of_connections_is_limited(void **state)
{
    (void)state;
    enum { MOST = 3 };
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    int clients[MOST + 1];
    static const char *const waits[] = {GET_OF("a", "/wait"), GET_OF("b", "/wait"), GET_OF("c", "/wait")};
    options.connections_max = MOST;
    options.workers = MOST - 1;
    options.handler.holder = holder_from_field;
    start_server(&served, options);
    for (int i = 0; i <= MOST; i++) { /* the last connection replaces the first, which has been idle longest */
        clients[i] = connect_to(served.server);
        send_text(clients[i], GET("/a"));
        assert_string_equal(receive_answer(clients[i], &in, &last), "/a");
    }
    receive_to_end(clients[0], &in);
    for (int i = 1; i <= MOST; i++) {
        send_text(clients[i], waits[i - 1]);
        wait_for_count(&world.entered, (unsigned)(MOST + 1 + i));
    }
    int refused = connect_to(served.server); /* no connection is idle now */
    receive_to_end(refused, &in);
    assert_int_equal(in.len, 0);
    for (int i = 1; i <= MOST; i++)
        increment(&world.open);
    for (int i = 1; i <= MOST; i++)
        assert_string_equal(receive_answer(clients[i], &in, &last), "waited");
    for (int i = 0; i <= MOST; i++)
        close(clients[i]);
    close(refused);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

/* Clients without a complete head occupy all connections. The server closes the oldest connection to accept a new
 * one. */
static void silent_clients_do_not_block_others(void **state)
{
    (void)state;
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0};
    options.connections_max = 2;
    start_server(&served, options);
    int silent = connect_to(served.server), half = connect_to(served.server);
    send_text(half, "GET / HTTP/1.1\r\n");
    int honest = connect_to(served.server);
    send_text(honest, GET("/a"));
    assert_string_equal(receive_answer(honest, &in, &last), "/a");
    receive_to_end(silent, &in);
    assert_int_equal(in.len, 0);
    send_text(half, "Host: a\r\n\r\n"); /* this client is still connected */
    assert_string_equal(receive_answer(half, &in, &last), "/");
    close(silent);
    close(half);
    close(honest);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    stop_server(&served);
}

/* A request that exceeds held_max is answered 503, and its memory is returned. */
static void memory_of_requests_is_limited(void **state)
{
    (void)state;
    struct server_under_test served;
    struct http_server_options options = plain;
    struct buffer in = {0}, last = {0}, body = {0};
    options.held_max = 64 << 10;
    start_server(&served, options);
    for (int i = 0; i < 1 << 14; i++)
        wt__buffer_text(&body, "abcdefgh");
    for (int round = 0; round < 3; round++) {
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

static void thousands_of_idle_connections_stay_open(void **state)
{
    (void)state;
    enum { IDLE = 2000 };
    static int clients[IDLE];
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 2 * IDLE + 100) {
        print_message("skipped: %d idle connections; the process may not open enough descriptors\n", IDLE);
        skip();
    }
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, plain);
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

static void result_of_each_request_is_recorded(void **state)
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
        {"GET\r\n\r\n", 400, 0, false},
    };
    struct server_under_test served;
    start_server(&served, plain);
    enum { ROWS = sizeof rows / sizeof *rows };
    for (size_t i = 0; i < ROWS; i++) {
        int client = connect_to(served.server);
        send_text(client, rows[i].sent);
        wait_for_count(&world.recorded, (unsigned)i + 1);
        assert_int_equal(world.last.status, rows[i].status);
        if (rows[i].bytes > 0)
            assert_int_equal(world.last.bytes, rows[i].bytes);
        assert_int_equal(world.last_was_request, rows[i].is_request);
        assert_true(world.last.queue_ms >= 0 && world.last.run_ms >= 0);
        close(client);
    }
    int client = connect_to(served.server);
    send_text(client, "GET / HTTP/1.1\n");
    wait_for_count(&world.recorded, ROWS + 1);
    assert_int_equal(world.last.status, 400);
    assert_false(world.last_was_request);
    close(client);
    stop_server(&served);
}

static void unix_sockets_are_private_to_the_user(void **state)
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
    for (int round = 0; round < 2; round++) { /* the second round finds a stale socket */
        struct server_under_test served;
        start_server(&served, options);
        assert_string_equal(wt__http_server_address(served.server), listen_at);
        assert_int_equal(stat(listen_at + 5, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0600);
        int client = connect_to(served.server);
        send_text(client, GET("/a"));
        receive_answer(client, &in, &last);
        wait_for_count(&world.recorded, (unsigned)round + 1);
        assert_string_equal(world.peer, "unix");
        assert_int_equal(wt__http_server_open(&second, &options, &err), WT_EBUSY);
        assert_non_null(strstr(err.message, "address already in use"));
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
    assert_non_null(strstr(err.message, "not a socket"));
    unlink(file + 5);
    unlink(listen_at + 5);
    rmdir(folder);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
}

static void invalid_listen_addresses_are_rejected(void **state)
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
    wt__http_server_close(server); /* never run */
    wt__http_server_close(NULL);
}

static void server_listens_on_ipv6(void **state)
{
    (void)state;
    struct http_server_options options = plain;
    struct http_server *server;
    wt_error err;
    options.listen = "[::1]:0";
    if (wt__http_server_open(&server, &options, &err) < 0) {
        print_message("skipped: IPv6 is not available\n");
        skip();
    }
    wt__http_server_close(server);
    struct server_under_test served;
    struct buffer in = {0}, last = {0};
    start_server(&served, options);
    int client = connect_to(served.server);
    send_text(client, GET("/a"));
    receive_answer(client, &in, &last);
    wait_for_count(&world.recorded, 1);
    assert_memory_equal(world.peer, "[::1]:", 6);
    wt__buffer_dispose(&in);
    wt__buffer_dispose(&last);
    close(client);
    stop_server(&served);
}

#define TEST(name) cmocka_unit_test_setup(name, reset_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_have_the_expected_head_and_body),
        TEST(every_answer_has_the_common_fields),
        TEST(requests_may_arrive_byte_by_byte),
        TEST(pipelined_requests_are_answered_in_order),
        TEST(server_sends_100_continue_only_for_accepted_bodies),
        TEST(large_answers_are_sent_completely),
        TEST(unfinished_stream_is_cut_off),
        TEST(disconnect_cancels_the_request),
        TEST(answer_ends_after_its_on_gone_callback),
        TEST(disconnect_removes_queued_request),
        TEST(full_queue_is_answered_503),
        TEST(slow_clients_time_out),
        TEST(clients_that_do_not_read_are_dropped),
        TEST(stream_ends_with_its_client),
        TEST(kept_exchange_is_answered_later),
        TEST(kept_exchange_may_outlive_the_server),
        TEST(stop_waits_for_running_requests),
        TEST(first_request_of_a_connection_is_answered_after_a_stop),
        TEST(drain_answers_and_closes_connections_until_the_stop),
        TEST(drain_ends_with_a_stop),
        TEST(stop_has_a_time_limit),
        TEST(flood_of_one_client_leaves_room_for_others),
        TEST(free_worker_prefers_clients_without_running_requests),
        TEST(short_request_overtakes_a_long_one_for_a_while),
        TEST(number_of_connections_is_limited),
        TEST(silent_clients_do_not_block_others),
        TEST(memory_of_requests_is_limited),
        TEST(thousands_of_idle_connections_stay_open),
        TEST(result_of_each_request_is_recorded),
        TEST(unix_sockets_are_private_to_the_user),
        TEST(invalid_listen_addresses_are_rejected),
        TEST(server_listens_on_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
