/* Makes each allocation fail in turn: first in the reader, then on all threads of a running server. There must be no
 * leak and no hang, and the server must answer the next request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_ALL_THREADS
#include "base/failing_allocator.h"

#include "http/served.h"

#include "http/reader.h"

static const char requests[] = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                               "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";

/* Returns 0 if everything was read, else the status of the rejection. */
static int read_both_requests(void)
{
    struct http_reader reader = {0};
    struct str input = STR(requests);
    enum http_part part = HTTP_PART_HEAD;
    while (input.len > 0 && part != HTTP_PART_REFUSED) {
        part = wt__http_reader_feed(&reader, &input);
        if (part == HTTP_PART_ACCEPT)
            part = wt__http_reader_accept(&reader, 100);
        if (part == HTTP_PART_DONE)
            wt__http_message_free(wt__http_reader_take(&reader));
    }
    int status = part == HTTP_PART_REFUSED ? wt__http_refusal_status(reader.refusal) : 0;
    wt__http_reader_dispose(&reader);
    return status;
}

static void reader_reports_out_of_memory(void **state)
{
    (void)state;
    if (!INTERPOSED) {
        print_message("skipped: failing allocations; the sanitizer replaces malloc\n");
        skip();
    }
    for (int all = 0; all < 2; all++) { /* fail one allocation, or all allocations from then on */
        long failing = 1;
        for (bool failed = true; failed; failing++) {
            counting = 1;
            live = 0;
            countdown = failing;
            stuck = all;
            int status = read_both_requests();
            failed = countdown <= 0;
            counting = stuck = 0;
            assert_int_equal(status, failed ? 503 : 0);
            assert_int_equal(live, 0);
        }
        assert_in_range(failing, 5, 100);
    }
}

static void answer_memory_test(void *context, struct http_exchange *exchange)
{
    (void)context;
    const struct http_request *request = wt__http_request(exchange);
    if (wt__str_equal(request->path, STR("/b"))) {
        wt__http_stream(exchange, 200, "text/plain", NULL, 0);
        wt__http_send(exchange, request->body);
        wt__http_finish(exchange);
    } else {
        wt__http_answer(exchange, 200, "text/plain", NULL, 0, request->body);
    }
}

/* Sends the requests and reads to the end without allocating. Returns true if both were answered. */
static bool both_are_answered(const struct http_server *server)
{
    static char in[4096];
    size_t len = 0;
    int client = connect_to(server);
    send_bytes(client, STR(requests));
    for (ssize_t got = 1; got > 0 && len<sizeof in; len += got> 0 ? (size_t)got : 0)
        got = recv(client, in + len, sizeof in - len, 0);
    close(client);
    return memmem(in, len, "\r\n\r\nabc", 7) && memmem(in, len, "5\r\nhello\r\n0\r\n\r\n", 15);
}

static void server_survives_out_of_memory(void **state)
{
    (void)state;
    if (!INTERPOSED)
        skip();
    struct server_under_test served;
    start_server(&served, (struct http_server_options){.workers = 1, .handler = {.answer = answer_memory_test}});
    assert_true(both_are_answered(served.server));
    long failing = 1;
    for (bool failed = true; failed; failing++) {
        countdown = failing;
        counting = 1;
        bool answered = both_are_answered(served.server);
        counting = 0;
        failed = countdown < 0;
        assert_true(answered || failed);
        assert_true(both_are_answered(served.server));
    }
    assert_in_range(failing, 10, 200);
    stop_server(&served);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_reports_out_of_memory),
        cmocka_unit_test(server_survives_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
