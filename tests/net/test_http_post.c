/* JSON requests to a scripted local server: correct, wrong, slow, oversized and missing answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/http_client.h"
#include "net/script_server.h"

static wt_error err;
static struct script_server server;
static struct http_session *session;
static char url[64];

static int start_post_server(void **state)
{
    (void)state;
    if (script_server_start(&server) < 0)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/x", server.port);
    return wt__http_session_open(&session, &err);
}

static int stop_post_server(void **state)
{
    (void)state;
    wt__http_session_close(session);
    script_server_stop(&server);
    return 0;
}

static struct http_post default_post(void)
{
    return (struct http_post){
        .url = url, .body = STR("{\"a\":1}"), .connect_ms = 2000, .total_ms = 10000, .stall_ms = 5000};
}

static const struct {
    const char *name;
    struct script_step step;
    unsigned total_ms, stall_ms; /* 0 for the default */
    int rc, status;
    const char *body, *says;
    bool may_retry;
} rows[] = {
    {.name = "status 200", .step = {.status = 200, .body = "{}"}, .status = 200, .body = "{}"},
    {.name = "empty answer", .step = {.status = 204}, .status = 204, .body = ""},
    {.name = "body ends with the connection",
     .step = {.status = 200, .body = "[1]", .no_length = true},
     .status = 200,
     .body = "[1]"},
    {.name = "status 500", .step = {.status = 500, .body = "oops"}, .status = 500, .body = "oops"},
    {.name = "a redirect is not followed",
     .step = {.status = 302, .headers = "Location: /v1/x\r\n", .body = ""},
     .status = 302,
     .body = ""},
    {.name = "wait for the first byte is not a stall",
     .step = {.status = 200, .body = "{}", .delay_ms = 300},
     .stall_ms = 50,
     .status = 200,
     .body = "{}"},
    {.name = "answer exceeds the timeout",
     .step = {.status = 200, .body = "{}", .delay_ms = 900},
     .total_ms = 200,
     .rc = WT_ENETWORK,
     .says = "cannot ask http://127.0.0.1:",
     .may_retry = true},
    {.name = "server closes in the middle of the body",
     .step = {.status = 200, .body = "{\"a\":1}", .cut = 3},
     .rc = WT_ENETWORK,
     .says = "cannot ask",
     .may_retry = true},
    {.name = "server stops sending but stays connected",
     .step = {.status = 200, .body = "{\"a\":1}", .stall = 3},
     .stall_ms = 200,
     .rc = WT_ENETWORK,
     .says = "/v1/x stopped in the middle of its answer",
     .may_retry = true},
    {.name = "server closes without an answer",
     .step = {.status = 0},
     .rc = WT_ENETWORK,
     .says = "cannot ask",
     .may_retry = true},
    {.name = "body of 10 MB",
     .step = {.status = 200, .body = "{}", .filler = 10 << 20},
     .rc = WT_ETOOLONG,
     .says = "/v1/x answers with more than 4194304 bytes"},
    {.name = "body of 10 MB of unknown length",
     .step = {.status = 200, .body = "{}", .filler = 10 << 20, .no_length = true},
     .rc = WT_ETOOLONG,
     .says = "answers with more than 4194304 bytes"},
    {.name = "body of the maximum length",
     .step = {.status = 200, .body = "{}", .filler = HTTP_ANSWER_BYTES_MAX - 2},
     .status = 200},
    {.name = "body one byte longer than the maximum",
     .step = {.status = 200, .body = "{}", .filler = HTTP_ANSWER_BYTES_MAX - 1},
     .rc = WT_ETOOLONG,
     .says = "answers with more than"},
};

static void each_answer_is_read_or_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_post post = default_post();
        struct http_answer answer;
        post.total_ms = rows[i].total_ms ? rows[i].total_ms : post.total_ms;
        post.stall_ms = rows[i].stall_ms ? rows[i].stall_ms : post.stall_ms;
        script_server_play(&server, &rows[i].step, 1);
        int rc = wt__http_post(session, &post, &answer, &err);
        struct str body = wt__buffer_view(&answer.body);
        if (rc != rows[i].rc || (rc == 0 && answer.status != rows[i].status) ||
            (rows[i].body && !wt__str_equal(body, wt__str(rows[i].body))) ||
            (rc < 0 && (err.code != rc || !strstr(err.message, rows[i].says) || answer.may_retry != rows[i].may_retry)))
            fail_msg("%s: %d, status %d, %zu bytes, \"%s\"", rows[i].name, rc, answer.status, body.len,
                     rc < 0 ? err.message : "");
        wt__buffer_dispose(&answer.body);
    }
}

static void refused_connection_is_reported(void **state)
{
    (void)state;
    struct http_post post = default_post();
    struct http_answer answer;
    post.url = "http://127.0.0.1:1/v1/x";
    assert_int_equal(wt__http_post(session, &post, &answer, &err), WT_ENETWORK);
    assert_true(answer.may_retry);
    assert_non_null(strstr(err.message, "cannot ask http://127.0.0.1:1/v1/x: "));
    assert_int_equal(wt__http_post(session, &post, &answer, NULL), WT_ENETWORK);
}

/* Headers with an empty or NULL value are omitted. The requests share one connection. */
static void post_sends_headers_and_body(void **state)
{
    (void)state;
    static const struct script_step step = {.status = 200, .body = "{}"};
    static const struct http_header headers[] = {
        {"Authorization", "Bearer secret"}, {"X-None", NULL}, {"X-Empty", ""}, {"X-Last", "yes"}};
    struct http_post post = default_post();
    struct http_answer answer;
    post.headers = headers;
    post.header_count = sizeof headers / sizeof *headers;
    script_server_play(&server, &step, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wt__http_post(session, &post, &answer, &err), 0);
        wt__buffer_dispose(&answer.body);
    }
    assert_int_equal(server.request_count, 3);
    assert_int_equal(server.connection_count, 1);
    const char *request = server.requests[2];
    assert_ptr_equal(strstr(request, "POST /v1/x HTTP/1.1\r\n"), request);
    assert_non_null(strstr(request, "\r\nAuthorization: Bearer secret\r\n"));
    assert_non_null(strstr(request, "\r\nX-Last: yes\r\n"));
    assert_non_null(strstr(request, "\r\nContent-Type: application/json\r\n"));
    assert_null(strstr(request, "X-None"));
    assert_null(strstr(request, "X-Empty"));
    assert_null(strstr(request, "Expect"));
    assert_non_null(strstr(request, "\r\n\r\n{\"a\":1}"));
}

/* Errors show `shown`, not the URL, which may contain a key. */
static void errors_show_the_given_server_name(void **state)
{
    (void)state;
    struct http_post post = default_post();
    struct http_answer answer;
    post.url = "http://user:secret@127.0.0.1:1/secret?key=secret";
    post.shown = "http://127.0.0.1:1";
    assert_int_equal(wt__http_post(session, &post, &answer, &err), WT_ENETWORK);
    assert_non_null(strstr(err.message, "cannot ask http://127.0.0.1:1: "));
    assert_null(strstr(err.message, "secret"));
}

static void headers_with_line_breaks_are_rejected(void **state)
{
    (void)state;
    char longer[HTTP_HEADER_BYTES_MAX + 2];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const char *const values[] = {"Bearer secret\r\nX-Evil: 1", "Bearer secret\n", "Bearer secret\x7f", longer};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct http_header header = {"Authorization", values[i]};
        struct http_post post = default_post();
        struct http_answer answer;
        post.headers = &header;
        post.header_count = 1;
        assert_int_equal(wt__http_post(session, &post, &answer, &err), WT_EINVAL);
        assert_string_equal(err.message, "the value of Authorization is too long or contains a control character");
    }
}

static void retry_headers_are_read(void **state)
{
    (void)state;
    const struct {
        const char *headers;
        double least, most;
        int should_retry;
    } asked[] = {
        {"", -1, -1, -1},
        {"Retry-After: 7\r\n", 7000, 7000, -1},
        {"Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n", 1e6, 1e13, -1}, /* far in the future */
        {"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", -1, 0, -1},     /* long ago */
        {"Retry-After: soon\r\n", -1, -1, -1},
        {"Retry-After: 7\r\nretry-after-ms: 250\r\n", 250, 250, -1},
        {"RETRY-AFTER-MS: 99999999999\r\nX-Should-Retry: true\r\n", 999999999, 999999999, 1},
        {"retry-after-ms: -5\r\nx-should-retry: false\r\n", -1, -1, 0},
        {"x-should-retry: perhaps\r\n", -1, -1, -1},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct script_step step = {.status = 429, .headers = asked[i].headers, .body = "{}", .type = "text/html; x"};
        struct http_post post = default_post();
        struct http_answer answer;
        script_server_play(&server, &step, 1);
        assert_int_equal(wt__http_post(session, &post, &answer, &err), 0);
        if (answer.retry_after_ms < asked[i].least || answer.retry_after_ms > asked[i].most ||
            answer.should_retry != asked[i].should_retry)
            fail_msg("%s: %f ms, %d", asked[i].headers, answer.retry_after_ms, answer.should_retry);
        assert_string_equal(answer.type, "text/html; x");
        wt__buffer_dispose(&answer.body);
    }
}

static int cancel_at_once(void *context, const char *phase, uint64_t done, uint64_t total)
{
    (void)context, (void)phase, (void)done, (void)total;
    return 1;
}

static void post_can_be_cancelled(void **state)
{
    (void)state;
    static const struct script_step step = {.status = 200, .body = "{}", .delay_ms = SCRIPT_NEVER_MS};
    struct progress progress;
    struct http_post post = default_post();
    struct http_answer answer;
    wt__progress_init(&progress, cancel_at_once, NULL);
    post.progress = &progress;
    script_server_play(&server, &step, 1);
    assert_int_equal(wt__http_post(session, &post, &answer, &err), WT_ECANCELLED);
    wt__buffer_dispose(&answer.body);
    wt__progress_dispose(&progress);
}

static void base_addresses_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        int rc;
        const char *says;
    } bases[] = {
        {"https://api.openai.com/v1", 0, NULL},
        {"http://127.0.0.1:8080", 0, NULL},
        {"http://[::1]:8080/v1/", 0, NULL},
        {"http://llm.internal/v1", 0, NULL},
        {"", WT_EINVAL, "begins with https:// or http://"},
        {"api.openai.com/v1", WT_EINVAL, "begins with https:// or http://"},
        {"ftp://example.org", WT_EINVAL, "begins with https:// or http://"},
        {"file:///etc/passwd", WT_EINVAL, "begins with https:// or http://"},
        {"https://user:secret@example.org/v1", WT_EINVAL, "must not contain a user"},
        {"https://secret@example.org/v1", WT_EINVAL, "must not contain a user"},
        {"https://example.org/v1?key=secret", WT_EINVAL, "must not contain a user"},
        {"https://example.org/v1#x", WT_EINVAL, "must not contain a user"},
        {"https://example.org/ v1", WT_EINVAL, "begins with https:// or http://"},
    };
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        int rc = wt__http_check_base(bases[i].url, &err);
        if (rc != bases[i].rc || (rc < 0 && (!strstr(err.message, bases[i].says) || strstr(err.message, "secret"))))
            fail_msg("%s: %d \"%s\"", bases[i].url, rc, rc < 0 ? err.message : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_is_read_or_rejected),
        cmocka_unit_test(refused_connection_is_reported),
        cmocka_unit_test(post_sends_headers_and_body),
        cmocka_unit_test(errors_show_the_given_server_name),
        cmocka_unit_test(headers_with_line_breaks_are_rejected),
        cmocka_unit_test(retry_headers_are_read),
        cmocka_unit_test(post_can_be_cancelled),
        cmocka_unit_test(base_addresses_are_checked),
    };
    return cmocka_run_group_tests(tests, start_post_server, stop_post_server);
}
