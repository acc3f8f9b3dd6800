/* Tests the comparison of equal and nearly equal requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "store/internal.h"

static const struct {
    const char *a, *b;
    float likeness;
} cases[] = {
    {"Book a table for two", "book a TABLE, for two!", 1},
    {"book a table", "  book\ta\n table  ", 1},
    {"Müller buchen", "MÜLLER: BUCHEN?", 1},
    {"what's up", "what s up", 1},
    {"予約して", "予約して。", 1},
    {"???", "???", 1},
    {"???", "!!!", 0},
    {"", "!", 0},
    {"book a table", "table book a", 0.999f /* same words in another order */},
    {"reserve table terrace sunny evening", "please reserve the table terrace sunny evening", 0.999f},
    {"reserve table terrace sunny", "reserve table terrace sunny evening", .8f},
    {"reserve table terrace", "reserve table terrace sunny", 0},
    /* A replaced word makes another request. */
    {"cancel my table tonight sunny terrace", "reserve my table tonight sunny terrace", 0},
    {"turn on the kitchen lamp tonight", "turn off the kitchen lamp tonight", 0},
    {"send all invoices older last week", "do not send all invoices older last week", 0},
    {"flight oslo rome from Monday cheap", "flight oslo rome to Monday cheap", 0},
    {"lamp", "the lamp", 0 /* near requests share at least two content words */},
};

static float compare_requests(const char *a, const char *b)
{
    struct request_words x, y;
    wt__request_words(wt__str(a), &x);
    wt__request_words(wt__str(b), &y);
    assert_true(wt__request_likeness(&x, &y) == wt__request_likeness(&y, &x));
    return wt__request_likeness(&x, &y);
}

static void test_requests_are_compared_by_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float got = compare_requests(cases[i].a, cases[i].b);
        if (fabsf(got - cases[i].likeness) > 0.01f)
            fail_msg("\"%s\" and \"%s\": %g, not %g", cases[i].a, cases[i].b, (double)got, (double)cases[i].likeness);
    }
}

/* Any length and any bytes are accepted. A long request is equal to itself, and not near to other requests. */
static void test_any_bytes_are_accepted_as_a_request(void **state)
{
    enum { LONG = 65536 };
    static char bytes[LONG];
    struct request_words words, others;
    (void)state;
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    for (size_t len = 0; len < LONG; len += 1 + len / 3) {
        wt__request_words((struct str){bytes, len}, &words);
        assert_in_range(words.count, 0, REQUEST_WORDS_MAX + 1);
        assert_true(wt__request_likeness(&words, &words) == 1);
    }
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = "abcdefghijk lmnopqrstu vwxyz1234567 "[i * i % 36];
    wt__request_words((struct str){bytes, LONG}, &words);
    wt__request_words((struct str){bytes, LONG - 9}, &others);
    assert_true(words.count > REQUEST_WORDS_MAX || words.count > 1);
    memset(bytes, 'x', LONG); /* one long word */
    wt__request_words((struct str){bytes, LONG}, &words);
    assert_true(wt__request_likeness(&words, &others) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_compared_by_words),
        cmocka_unit_test(test_any_bytes_are_accepted_as_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
