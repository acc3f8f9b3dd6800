/* Tests of name patterns, and of suggestions for misspelt words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "base/nearest.h"

static const struct {
    const char *pattern, *text;
    bool matches;
} globs[] = {
    {"", "", true},
    {"", "a", false},
    {"a", "", false},
    {"a", "a", true},
    {"a", "A", false},
    {"a", "ab", false},
    {"*", "", true},
    {"*", "github/delete_repo", true},
    {"**", "a", true},
    {"github/*", "github/delete_repo", true},
    {"github/*", "github", false},
    {"*/delete_*", "github/delete_repo", true},
    {"*/delete_*", "@org/server/delete_repo", true},
    {"*/delete_*", "delete_repo", false},
    {"*/delete_*", "github/undelete_repo", false},
    {"*delete*", "github/undelete_repo", true},
    {"a*b*c", "abbbc", true},
    {"a*b*c", "acb", false},
    {"*a*a*b", "aaaaaaaa", false},
    {"?", "a", true},
    {"?", "", false},
    {"?", "ab", false},
    {"v?/x", "v1/x", true},
    {"?", "\xC3\xA9", true},
    {"??", "\xC3\xA9", false},
    {"*?", "\xE5\xA4\xA9", true},
    {"*??ab",
     "\xE5\xA4\xA9"
     "ab",
     false},
    {"*??ab",
     "x\xE5\xA4\xA9"
     "ab",
     true},
    {"?", "\xff", true},
    {"[ab]", "a", false},
    {"[ab]", "[ab]", true},
    {"\\*", "\\anything", true},
};

static void patterns_match_the_expected_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
        if (wt__glob_matches(wt__str(globs[i].pattern), wt__str(globs[i].text)) != globs[i].matches)
            fail_msg("\"%s\" and \"%s\"", globs[i].pattern, globs[i].text);
}

/* A search that tries every position for every '*' would take exponential time. */
static void many_wildcards_match_in_polynomial_time(void **state)
{
    char pattern[801], text[4001];
    (void)state;
    for (size_t i = 0; i < 800; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[800] = '\0';
    memset(text, 'a', 4000);
    text[3999] = 'b';
    text[4000] = '\0';
    assert_false(wt__glob_matches(wt__str(pattern), wt__str(text)));
}

static const struct {
    const char *word, *candidates[4], *near; /* near: expected suggestion; "" if no candidate is near enough */
} words[] = {
    {"githb", {"gitlab", "github"}, "github"},
    {"gihtub", {"github"}, "github"},
    {"fimd", {"find", "fine"}, "find"},
    {"fnie", {"find", "fine"}, "fine"},
    {"mail", {"zebra", "calendar"}, ""},
    {"x", {"y"}, ""},
    {"", {"a"}, ""},
    {"ab", {"cd"}, ""},
    {"same", {"same"}, "same"},
    {"create_isue", {"create_issues", "create_issue"}, "create_issue"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
     ""},
};

static void finds_the_nearest_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct nearest nearest;
        wt__nearest_begin(&nearest, wt__str(words[i].word));
        for (size_t c = 0; c < 4 && words[i].candidates[c]; c++)
            wt__nearest_show(&nearest, wt__str(words[i].candidates[c]));
        assert_string_equal(nearest.best, words[i].near);
    }
}

/* Reference implementation of the edit distance with a full table, without early exit. */
static size_t count_edits_in_full_table(const char *a, size_t n, const char *b, size_t m)
{
    size_t d[8][8];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            size_t best = i == 0 ? j : j == 0 ? i : d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 0 && j > 0 && d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (i > 0 && j > 0 && d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

static void edit_distance_matches_the_full_table(void **state)
{
    (void)state;
    srandom(1);
    for (int round = 0; round < 20000; round++) {
        char a[7], b[7];
        size_t n = (size_t)random() % 8, m = (size_t)random() % 8, most = 1 + (size_t)random() % 4;
        n = n > 6 ? 6 : n;
        m = m > 6 ? 6 : m;
        for (size_t i = 0; i < 7; i++) {
            a[i] = (char)('a' + random() % 3);
            b[i] = (char)('a' + random() % 3);
        }
        size_t plain = count_edits_in_full_table(a, n, b, m);
        size_t want = plain < most && plain * 2 <= m ? plain : most;
        assert_int_equal(wt__edit_distance((struct str){a, n}, (struct str){b, m}, most), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_the_expected_names),
        cmocka_unit_test(many_wildcards_match_in_polynomial_time),
        cmocka_unit_test(finds_the_nearest_word),
        cmocka_unit_test(edit_distance_matches_the_full_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
