/* Tests of the strict check of JSON: valid texts are accepted, and invalid texts are rejected with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "base/json_check.h"

static const char *const valid[] = {
    "null",
    " [ 1 , -0 , 1.0 , 1e400 , 9223372036854775808 , 0.1E-7 ] ",
    "{\"a\":{},\"b\":[],\"\":\"\"}",
    "\"\\u0041\\ud83d\\ude00\\n\xc3\xa9\xf0\x9f\x98\x80\x7f\"",
};

static const struct {
    const char *text, *reason;
} invalid[] = {
    {"", "an end where a value should be"},
    {"{\"a\":1,}", "a member without a key"},
    {"[1,]", "a byte where a value should be"},
    {"{\"a\" 1}", "a key without a colon"},
    {"[1}", "a byte where a comma or a closing bracket should be"},
    {"[1", "an end where a bracket should close"},
    {"1 2", "more text after the value"},
    {"01", "an invalid number"},
    {"-", "an invalid number"},
    {"1.", "an invalid number"},
    {"1e", "an invalid number"},
    {"NaN", "a byte where a value should be"},
    {"\"a", "a string without an end"},
    {"\"a\nb\"", "a control character in a string"},
    {"\"\\x\"", "an invalid escape"},
    {"\"\\u12g4\"", "an invalid escape"},
    {"\"\\", "an invalid escape"},
    {"\"\\ud800\"", "a lone surrogate"},
    {"\"\\ud800\\u0041\"", "a lone surrogate"},
    {"\"\\udc00\"", "a lone surrogate"},
    {"\"\xff\xfe\"", "bytes that are not UTF-8"},
    {"\"\xed\xa0\x80\"", "bytes that are not UTF-8"},
    {"\"\xc0\x80\"", "bytes that are not UTF-8"},
    {"\"\xe2\x82", "bytes that are not UTF-8"},
};

static void accepts_valid_json(void **state)
{
    struct json_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        if (!wt__json_check(wt__str(valid[i]), &fault))
            fail_msg("%s: %s at byte %zu", valid[i], fault.reason, fault.byte);
}

static void rejects_invalid_json_with_a_reason(void **state)
{
    struct json_fault fault;
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        if (wt__json_check(wt__str(invalid[i].text), &fault) || strcmp(fault.reason, invalid[i].reason) != 0)
            fail_msg("%s: %s", invalid[i].text, fault.reason);
}

static bool check_repeated(const char *open, const char *close, size_t times)
{
    struct buffer text = {0};
    for (size_t i = 0; i < times; i++)
        wt__buffer_text(&text, open);
    for (size_t i = 0; i < times; i++)
        wt__buffer_text(&text, close);
    bool passes = wt__json_check(wt__buffer_view(&text), NULL);
    wt__buffer_dispose(&text);
    return passes;
}

static void limits_nesting_and_number_length(void **state)
{
    (void)state;
    assert_true(check_repeated("[", "]", JSON_CHECK_DEPTH_MAX));
    assert_false(check_repeated("[", "]", JSON_CHECK_DEPTH_MAX + 1));
    assert_false(check_repeated("[", "]", 100000));
    assert_true(check_repeated("1", "", JSON_CHECK_NUMBER_MAX));
    assert_false(check_repeated("1", "", JSON_CHECK_NUMBER_MAX + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepts_valid_json),
                                       cmocka_unit_test(rejects_invalid_json_with_a_reason),
                                       cmocka_unit_test(limits_nesting_and_number_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
