/* Tests the request reader. Each case of tests/http/requests/ is fed as a whole, byte by byte, and in two pieces, split
 * at every position. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/cases.h"
#include "http/reading.h"

enum {
    BODY_MAX = 1000,
    CUTS = 1500,       /* maximum split positions of a case; evenly spaced in longer cases */
    REFUSED_MIN = 200, /* minimum number of cases that are rejected */
    ACCEPTED_MIN = 50, /* minimum number of cases that are accepted */
};

static int failures;

/* True if feeding the case in these pieces gives the expected output. */
static bool reads_as_expected(const struct http_case *which, size_t first, size_t then)
{
    struct buffer out = {0};
    struct str want = wt__buffer_view(&which->want);
    read_in_pieces(wt__buffer_view(&which->in), first, then, BODY_MAX, &out);
    bool right = wt__str_equal(wt__buffer_view(&out), want);
    if (!right && failures++ < 20)
        print_error("%s (cut at %zu, then %zu):\n  got  %.300s  want %.300s", which->name, first, then,
                    out.ptr ? out.ptr : "nothing\n", want.len > 0 ? want.ptr : "nothing\n");
    wt__buffer_dispose(&out);
    return right;
}

static void try_all_cuts(const struct http_case *which)
{
    size_t step = 1 + which->in.len / CUTS;
    bool right =
        reads_as_expected(which, which->in.len, 1) && reads_as_expected(which, 1, 1) && reads_as_expected(which, 1, 3);
    for (size_t cut = 1; right && cut < which->in.len; cut += step)
        right = reads_as_expected(which, cut, which->in.len);
}

/* True if the last expected line is a rejection. */
static bool ends_refused(const struct http_case *which)
{
    const char *last = which->want.ptr;
    for (const char *at = last; at && *at; at++)
        if (at[0] == '\n' && at[1] != '\0')
            last = at + 1;
    return last && last[0] >= '1' && last[0] <= '9';
}

static void try_refused(const struct http_case *which, void *context)
{
    (void)context;
    if (!ends_refused(which) && failures++ < 20)
        print_error("%s: the expected output is not a rejection\n", which->name);
    try_all_cuts(which);
}

static void try_accepted(const struct http_case *which, void *context)
{
    (void)context;
    if (ends_refused(which) && failures++ < 20)
        print_error("%s: the expected output is a rejection\n", which->name);
    try_all_cuts(which);
}

static void try_folder(const char *name, void (*each)(const struct http_case *, void *), size_t min)
{
    char path[4096];
    const char *source = getenv("WT_TEST_SOURCE");
    snprintf(path, sizeof path, "%s/tests/http/requests/%s", source ? source : ".", name);
    failures = 0;
    size_t count = read_case_folder(path, each, NULL);
    assert_in_range(count, min, SIZE_MAX);
    assert_int_equal(failures, 0);
}

static void ambiguous_requests_are_rejected(void **state)
{
    (void)state;
    try_folder("refused", try_refused, REFUSED_MIN);
}

static void valid_requests_are_accepted(void **state)
{
    (void)state;
    try_folder("accepted", try_accepted, ACCEPTED_MIN);
}

/* Tries every byte value in every part of a head. Only bytes of the grammar are accepted. */
static void bytes_outside_the_grammar_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *allowed; /* allowed: in addition to letters and digits */
        bool high;                            /* bytes above 127 are allowed */
    } places[] = {
        {"G", "T / HTTP/1.1\r\nHost: a\r\n\r\n", "!#$%&'*+-.^_`|~", false},
        {"GET /", "x HTTP/1.1\r\nHost: a\r\n\r\n", "/?&=-._~!$'()*+,;:@", false},
        {"GET / HTTP/1.1\r\nHost: a\r\nX", "x: y\r\n\r\n", "!#$%&'*+-.^_`|~:", false},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: y", "z\r\n\r\n", " \t!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", true},
        {"GET / HTTP/1.1\r\nHost: a", "b\r\n\r\n", "-._", false},
    };
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        for (int c = 0; c < 256; c++) {
            struct buffer in = {0}, out = {0};
            wt__buffer_text(&in, places[p].before);
            wt__buffer_char(&in, (char)c);
            wt__buffer_text(&in, places[p].after);
            read_in_pieces(wt__buffer_view(&in), in.len, 1, BODY_MAX, &out);
            bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            bool allowed = plain || (c > 0 && strchr(places[p].allowed, c)) || (places[p].high && c > 127);
            bool taken = out.ptr && (out.ptr[0] < '1' || out.ptr[0] > '9');
            if (taken != allowed)
                fail_msg("place %zu, byte 0x%02x: %s", p, (unsigned)c, out.ptr ? out.ptr : "");
            wt__buffer_dispose(&in);
            wt__buffer_dispose(&out);
        }
    }
}

/* Field names are matched in any case. After wt__http_reader_take the reader is empty. */
static void field_names_match_in_any_case(void **state)
{
    (void)state;
    struct http_reader reader = {0};
    struct str input = STR("GET / HTTP/1.1\r\nHOST: a\r\nAccept: b\r\naccept: c\r\nEmpty:\r\n\r\n");
    assert_int_equal(wt__http_reader_feed(&reader, &input), HTTP_PART_ACCEPT);
    assert_int_equal(wt__http_reader_accept(&reader, 0), HTTP_PART_DONE);
    struct http_message *message = wt__http_reader_take(&reader);
    assert_null(reader.message);
    assert_true(wt__str_equal(wt__http_field(&message->request, "host"), STR("a")));
    assert_true(wt__str_equal(wt__http_field(&message->request, "ACCEPT"), STR("b")));
    assert_int_equal(wt__http_field(&message->request, "empty").len, 0);
    assert_non_null(wt__http_find_field(&message->request, "empty"));
    assert_null(wt__http_find_field(&message->request, "absent"));
    assert_int_equal(wt__http_field(&message->request, "absent").len, 0);
    wt__http_message_free(message);
}

/* Bytes that are not consumed belong to the next request. */
static void reader_consumes_only_one_request(void **state)
{
    (void)state;
    struct http_reader reader = {0};
    struct str input = STR("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhiGET");
    assert_int_equal(wt__http_reader_feed(&reader, &input), HTTP_PART_ACCEPT);
    assert_int_equal(input.len, 5);
    assert_int_equal(wt__http_reader_accept(&reader, 2), HTTP_PART_BODY);
    assert_int_equal(wt__http_reader_feed(&reader, &input), HTTP_PART_DONE);
    assert_true(wt__str_equal(input, STR("GET")));
    assert_int_equal(wt__http_reader_feed(&reader, &input), HTTP_PART_DONE);
    assert_true(wt__str_equal(input, STR("GET")));
    wt__http_reader_dispose(&reader);
    wt__http_reader_dispose(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ambiguous_requests_are_rejected),        cmocka_unit_test(valid_requests_are_accepted),
        cmocka_unit_test(bytes_outside_the_grammar_are_rejected), cmocka_unit_test(field_names_match_in_any_case),
        cmocka_unit_test(reader_consumes_only_one_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
