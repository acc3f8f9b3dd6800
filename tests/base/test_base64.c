/* Tests of Base64 in both alphabets, and of invalid texts. Test vectors: RFC 4648, section 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"

static const struct {
    const char *bytes, *padded, *url;
} rows[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xbf", "+/+/", "-_-_"},
};

static void encodes_and_decodes_rfc_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer padded = {0}, url = {0}, back = {0}, back_url = {0};
        wt__base64(&padded, wt__str(rows[i].bytes));
        wt__base64_url(&url, wt__str(rows[i].bytes));
        assert_true(wt__str_equal(wt__buffer_view(&padded), wt__str(rows[i].padded)));
        assert_true(wt__str_equal(wt__buffer_view(&url), wt__str(rows[i].url)));
        assert_true(wt__base64_decode(&back, wt__str(rows[i].padded)));
        assert_true(wt__base64_url_decode(&back_url, wt__str(rows[i].url)));
        assert_true(wt__str_equal(wt__buffer_view(&back), wt__str(rows[i].bytes)));
        assert_true(wt__str_equal(wt__buffer_view(&back_url), wt__str(rows[i].bytes)));
        wt__buffer_dispose(&padded);
        wt__buffer_dispose(&url);
        wt__buffer_dispose(&back);
        wt__buffer_dispose(&back_url);
    }
}

static void rejects_invalid_base64(void **state)
{
    static const char *const padded[] = {"Z",    "Zg",   "Zg=",   "Zg===",    "=",        "==",       "====", "Zh==",
                                         "Zm9=", "Zm9 ", "Zm\n9", "SGVs!!!=", "SGVsbG8-", "Zg==Zg==", "Z===", " Zg=="};
    static const char *const url[] = {"Z", "Zg==", "Zh", "Zm9", "+/+/", "Zm9v Zm9v"};
    (void)state;
    for (size_t i = 0; i < sizeof padded / sizeof *padded; i++) {
        struct buffer out = {0};
        assert_false(wt__base64_decode(&out, wt__str(padded[i])));
        wt__buffer_dispose(&out);
    }
    for (size_t i = 0; i < sizeof url / sizeof *url; i++) {
        struct buffer out = {0};
        assert_false(wt__base64_url_decode(&out, wt__str(url[i])));
        wt__buffer_dispose(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_and_decodes_rfc_vectors),
        cmocka_unit_test(rejects_invalid_base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
