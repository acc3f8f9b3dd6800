/* Regular expressions as ECMA-262 has them, and what other dialects write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/ecma.h"
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
    {"^(a)|\\1b$", "b", true}, /* a group that took no part matches nothing */
    {"^(?<x>a)\\k<x>$", "aa", true},
    {"^(?=a)a(?!b)", "ac", true},
    {"(?<=a)b", "ab", true},
    {"^\\0$", "a", false},
    /* What schemas in the wild write. */
    {"\\Aa\\Z", "a", true},
    {"\\Aa\\Z", "a\n", false},
    {"(?i)^ABC$", "abc", true},
    {"^(?P<n>a)$", "a", true},
    {"^\\_\\@$", "_@", true},
};

static void patterns_match_as_ecma_262_says(void **state)
{
    (void)state;
    size_t failures = 0;
    struct pattern_scratch scratch = {0};
    for (size_t i = 0; i < sizeof matches / sizeof matches[0]; i++) {
        struct pattern *pattern;
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

static void what_is_no_pattern_says_why(void **state)
{
    static const struct {
        const char *pattern, *said;
    } rows[] = {
        {"a\\", "it ends in a backslash"},
        {"[a", "a class has no closing bracket"},
        {"(*LIMIT_MATCH=1)a", "there is nothing before * that it could repeat"},
        {"(?C1)a", "\"(?\" begins no group that ECMA-262 has"},
        {"(?R)", "\"(?\" begins no group that ECMA-262 has"},
        {"\\u{110000}", "\\u names half a character, or none"},
        {"\\ud800", "\\u names half a character, or none"},
        {"\\u{}", "\\u{ is not followed by hexadecimal digits and }"},
        {"\\pL", "\\p is not followed by a property in braces"},
        {"\\p{^L}", "\\p is not followed by a property in braces"},
        {"(a", "missing closing parenthesis"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pattern *pattern;
        size_t memory = 0;
        wt_error err = {0};
        char said[256];
        assert_int_equal(wt__pattern_compile(&pattern, wt__str(rows[i].pattern), &memory, &err), WT_EFORMAT);
        assert_null(pattern);
        snprintf(said, sizeof said, "is no regular expression: %s", rows[i].said);
        assert_string_equal(err.message, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_ecma_262_says),
        cmocka_unit_test(what_is_no_pattern_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
