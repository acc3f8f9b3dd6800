/* Tests regular expressions of ECMA-262, and syntax of other dialects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/compiled.h"
#include "schema/support.h"

static const struct {
    const char *pattern, *text;
    bool found;
} matches[] = {
    {"b", "abc", true},
    {"^b", "abc", false},
    {"^abc$", "abc\n", false},
    {"^$", "", true},
    {"^\\d$", "7", true},
    {"^\\d$", "\xd9\xa7", false}, /* an Arabic digit */
    {"^\\p{Nd}$", "\xd9\xa7", true},
    {"^\\p{Decimal_Number}$", "\xd9\xa7", true},
    {"^\\p{gc=Letter}$", "\xc3\xa4", true},
    {"^\\P{L}$", "\xc3\xa4", false},
    {"^\\p{Script=Greek}$", "\xce\xb1", true},
    {"^\\p{ASCII}$", "\xc3\xa4", false},
    {"^[\\p{ASCII}]$", "a", true},
    {"^\\w$", "\xc3\xa4", false},
    {"^\\s$", "\xc2\xa0", true},
    {"^\\s$", "\xef\xbb\xbf", true},
    {"^[\\s]$", "\xe2\x80\xa8", true},
    {"^\\S$", "\xe3\x80\x80", false},
    {"^[\\Sx]$", "\xc3\xa4", true},
    {"^[\\Sx]$", "\xe2\x80\xa8", false},
    {"^.$", "\xf0\x9f\x98\x80", true},
    {"^.$", "\r", false},
    {"^.$", "\xe2\x80\xa9", false},
    {"^\\cJ$", "\n", true},
    {"^\\v$", "\x0b", true},
    {"^\\x41\\u0042\\u{43}$", "ABC", true},
    {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", true},
    {"^[\\ud83d\\ude00-\\ud83d\\ude02]$", "\xf0\x9f\x98\x81", true},
    {"^\\/\\-\\.$", "/-.", true},
    {"^[[:x]$", "[", true},
    {"^[^]$", "x", true},
    {"^a{,2}$", "a{,2}", true},
    {"^a{$", "a{", true},
    {"^a{2}$", "aa", true},
    {"^(a)|\\1b$", "b", true}, /* a reference to an unset group matches the empty text */
    {"^(?<x>a)\\k<x>$", "aa", true},
    {"^(?=a)a(?!b)", "ac", true},
    {"(?<=a)b", "ab", true},
    {"^\\0$", "a", false},
    /* syntax of other dialects in real schemas */
    {"\\Aa\\Z", "a", true},
    {"\\Aa\\Z", "a\n", false},
    {"(?i)^ABC$", "abc", true},
    {"^(?P<n>a)$", "a", true},
    {"^\\_\\@$", "_@", true},
};

static void matches_like_ecma_262(void **state)
{
    (void)state;
    size_t failures = 0;
    struct pattern_scratch scratch = {0};
    for (size_t i = 0; i < sizeof matches / sizeof matches[0]; i++) {
        struct schema_pattern *pattern;
        size_t memory = 0;
        uint64_t steps = 0;
        wt_error err = {0};
        if (wt__pattern_compile(&pattern, wt__str(matches[i].pattern), &memory, &err) < 0)
            fail_msg("%s: %s", matches[i].pattern, err.message);
        enum pattern_answer answer = wt__pattern_match(pattern, &scratch, wt__str(matches[i].text), &steps);
        if (answer != (matches[i].found ? PATTERN_YES : PATTERN_NO))
            failures += 0 < printf("%s on %s: %d\n", matches[i].pattern, matches[i].text, (int)answer);
        assert_true(steps > 0 && memory > 0);
        wt__pattern_free(pattern);
    }
    wt__pattern_scratch_dispose(&scratch);
    assert_int_equal(failures, 0);
}

static void reports_reason_of_invalid_pattern(void **state)
{
    static const struct {
        const char *pattern, *said;
    } rows[] = {
        {"a\\", "it ends with a backslash"},
        {"[a", "a class has no closing bracket"},
        {"(*LIMIT_MATCH=1)a", "* does not follow a repeatable item"},
        {"(?C1)a", "\"(?\" does not begin a group of ECMA-262"},
        {"(?R)", "\"(?\" does not begin a group of ECMA-262"},
        {"\\u{110000}", "\\u does not name a character"},
        {"\\ud800", "\\u does not name a character"},
        {"\\u{}", "\\u{ is not followed by hexadecimal digits and }"},
        {"\\pL", "\\p is not followed by a property in braces"},
        {"\\p{^L}", "\\p is not followed by a property in braces"},
        {"(a", "missing closing parenthesis"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct schema_pattern *pattern;
        size_t memory = 0;
        wt_error err = {0};
        char said[256];
        assert_int_equal(wt__pattern_compile(&pattern, wt__str(rows[i].pattern), &memory, &err), WT_EFORMAT);
        assert_null(pattern);
        snprintf(said, sizeof said, "is not a regular expression: %s", rows[i].said);
        assert_string_equal(err.message, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_like_ecma_262),
        cmocka_unit_test(reports_reason_of_invalid_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
