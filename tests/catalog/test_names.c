/* Tests that exported names are readable and valid for every API. Also tests the patterns and words of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "catalog/names.h"

static const struct {
    const char *what, *provider, *name, *exported;
} cases[] = {
    {"a plain name stays", "", "get_weather", "get_weather"},
    {"provider and tool", "github", "create_issue", "github__create_issue"},
    {"capitals stay", "The-Shop", "getItem", "The-Shop__getItem"},
    {"a slash", "github", "issues/create", "github__issues_create"},
    {"blanks, a method and a path", "The Shop", "GET /x/{id}", "The_Shop__GET_x_id"},
    {"a number after a name", "github", "create~2", "github__create_2"},
    {"a single hyphen stays", "a-b", "c-d", "a-b__c-d"},
    {"a hyphen next to another separator does not stay", "a - b", "c--d", "a_b__c_d"},
    {"\"__\" within a part becomes one '_'", "a__b", "c__d", "a_b__c_d"},
    {"separators at the ends of a part are removed", "_a_", "_b-", "a__b"},
    {"a scope", "@org/server", "run", "org_server__run"},
    {"letters with marks", "Caf\xc3\xa9",
     "\xc3\xa9t\xc3\xa9_Stra\xc3\x9f"
     "e",
     "Cafe__ete_Strasse"},
    {"letters without a canonical decomposition",
     "\xc5\x81\xc3\xb3"
     "d\xc5\xba",
     "Sm\xc3\xb8rrebr\xc3\xb8"
     "d",
     "Lodz__Smorrebrod"},
    {"combining marks", "",
     "e\xcc\x81"
     "a",
     "ea"},
    {"a '_' precedes a provider with a leading digit", "360", "go", "_360__go"},
    {"a '_' precedes a lone tool with a leading digit", "", "2fa", "_2fa"},
    {"a tool after a provider may begin with a digit", "a", "2fa", "a__2fa"},
    {"a tool without readable characters", "travel", "\xe6\x90\x9c\xe7\xb4\xa2", "travel__44ce7a"},
    {"a provider without readable characters", "\xe6\x90\x9c\xe7\xb4\xa2", "search", "_44ce7a__search"},
    {"a name with some readable characters", "", "\xe6\x90\x9c\xe7\xb4\xa2 search", "search"},
    {"bytes that are not UTF-8", "",
     "a\xff\xfe"
     "b",
     "a_b"},
    {"generic words are left out first", "acme-weather-mcp-server-api",
     "list_all_severe_weather_alerts_of_a_country_or_region",
     "acme__list_all_severe_weather_alerts_of_a_country_or_region"},
    {"the scope is left out next", "@someorganisation/weather-mcp", "list_all_severe_weather_alerts_of_a_country",
     "weather__list_all_severe_weather_alerts_of_a_country"},
    {"words at the end are left out last", "national-oceanic-administration",
     "list_all_severe_weather_alerts_of_a_country", "national-oceanic__list_all_severe_weather_alerts_of_a_country"},
    {"a provider without room for a word is left out", "github",
     "actions/set-artifact-and-log-retention-settings-organization",
     "actions_set-artifact-and-log-retention-settings-organization"},
    {"a tool's part that fits alone is kept", "github",
     "aaaaaaaaaa_bbbbbbbbbb_cccccccccc_dddddddddd_eeeeeeeeee_ffffffff",
     "aaaaaaaaaa_bbbbbbbbbb_cccccccccc_dddddddddd_eeeeeeeeee_ffffffff"},
    {"a tool's part that does not fit alone is cut at a word", "github",
     "aaaaaaaaaa_bbbbbbbbbb_cccccccccc_dddddddddd_eeeeeeeeee_ffffffffff_gggggggggg",
     "github__aaaaaaaaaa_bbbbbbbbbb_cccccccccc_dddddddddd_eeeeeeeeee"},
    {"a tool's part without separators is cut at a capital", "",
     "listTheCompleteHistoryOfEveryOpenIssueOfTheWholeRepositoryWithLabels",
     "listTheCompleteHistoryOfEveryOpenIssueOfTheWholeRepositoryWith"},
};

static bool is_valid_name(const char *name, size_t len)
{
    if (len == 0 || len > EXPORT_NAME_MAX || strlen(name) != len || strchr("0123456789-", name[0]))
        return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

static void names_are_readable(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[EXPORT_NAME_MAX + 1];
        size_t len = wt__export_name(wt__str(cases[i].provider), wt__str(cases[i].name), 0, out);
        if (strcmp(out, cases[i].exported) != 0)
            fail_msg("%s: %s, not %s", cases[i].what, out, cases[i].exported);
        assert_true(is_valid_name(out, len));
    }
}

/* The names of later attempts are valid, and end in more and more digits. */
static void attempts_give_different_names(void **state)
{
    (void)state;
    static const size_t digits[] = {0, 4, 8, 12, 16, 16, 16};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char out[7][EXPORT_NAME_MAX + 1];
        for (unsigned a = 0; a < 7; a++) {
            size_t len = wt__export_name(wt__str(cases[c].provider), wt__str(cases[c].name), a, out[a]);
            assert_true(is_valid_name(out[a], len));
            if (a > 0)
                assert_int_equal(strspn(strrchr(out[a], '_') + 1, "0123456789abcdef"), digits[a]);
            for (unsigned b = 0; b < a; b++)
                assert_string_not_equal(out[a], out[b]);
        }
    }
}

static void any_bytes_get_a_valid_name(void **state)
{
    (void)state;
    static const char pieces[] = "___xxh0123456789abcdef.-:/ AZaz\xc3\xa9\xc3\x9f\x01\xe6\x90\x9c";
    struct rng rng;
    wt__rng_seed(&rng, 7);
    for (int i = 0; i < 60000; i++) {
        char bytes[2][300], out[EXPORT_NAME_MAX + 1];
        struct str part[2];
        for (int p = 0; p < 2; p++) {
            size_t most = wt__rng_below(&rng, 10) == 0 ? 300 : 40;
            size_t len = 1 + wt__rng_below(&rng, most - 1);
            for (size_t b = 0; b < len; b++)
                bytes[p][b] = wt__rng_below(&rng, 20) == 0 ? (char)wt__rng_below(&rng, 256)
                                                           : pieces[wt__rng_below(&rng, sizeof pieces - 1)];
            part[p] = (struct str){bytes[p], i % 3 == 0 && p == 0 ? 0 : len};
        }
        size_t len = wt__export_name(part[0], part[1], (unsigned)i % 5, out);
        if (!is_valid_name(out, len))
            fail_msg("%s", out);
    }
}

static void ids_are_provider_slash_name(void **state)
{
    (void)state;
    struct buffer id = {0};
    wt__tool_id(&id, STR("p"), STR("n"));
    assert_string_equal(id.ptr, "p/n");
    wt__buffer_clear(&id);
    wt__tool_id(&id, STR(""), STR("n"));
    assert_string_equal(id.ptr, "n");
    wt__buffer_dispose(&id);
}

/* ---------------------------------------------------------------- real names */

/* Checks that the plain names of a corpus are valid, and that at most 1 % of them equal an earlier name. */
static void check_corpus(const char *set, const char *path)
{
    char *bytes;
    size_t len, tools = 0, taken = 0;
    struct arena arena = {0};
    struct map names = {0};
    assert_int_equal(wt__file_read(&bytes, &len, path, WT_MAX_FILE_BYTES, NULL), 0);
    for (char *line = bytes, *end; (end = memchr(line, '\n', (size_t)(bytes + len - line))); line = end + 1) {
        json_t *row;
        char out[EXPORT_NAME_MAX + 1];
        bool added;
        assert_int_equal(wt__json_parse(&row, line, (size_t)(end - line), NULL), 0);
        struct str provider = wt__json_str(wt__json_object(row, "metadata"), "provider");
        struct str name = wt__json_str(row, "title");
        assert_true(is_valid_name(out, wt__export_name(provider, name, 0, out)));
        assert_non_null(wt__map_insert(&names, wt__str(wt__arena_copy(&arena, wt__str(out))), 0, &added));
        tools++;
        taken += !added;
        json_decref(row);
    }
    if (taken * 100 > tools)
        fail_msg("%s: %zu of %zu names are not unique", set, taken, tools);
    wt__map_dispose(&names);
    wt__arena_dispose(&arena);
    free(bytes);
}

static void real_names_rarely_collide(void **state)
{
    (void)state;
    static const char *const sets[] = {"mcp-smithery", "mcp-docker", "mcp-github",
                                       "toolbench-i3", "restgpt",    "callnavi"};
    const char *shared = getenv("WT_SHARED"), *source = getenv("WT_TEST_SOURCE");
    char folder[600];
    size_t here = 0;
    snprintf(folder, sizeof folder, "%s%s", shared ? shared : source ? source : ".", shared ? "" : "/../shared");
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        char path[700];
        snprintf(path, sizeof path, "%s/data/%s/corpus.jsonl", folder, sets[s]);
        if (!wt__is_file(path)) {
            print_message("skipped: names of data set %s (not here)\n", sets[s]);
            continue;
        }
        here++;
        check_corpus(sets[s], path);
    }
    if (here == 0)
        skip();
}

static void patterns_with_a_slash_also_match_ids(void **state)
{
    static const struct {
        const char *pattern, *id, *name;
        bool fits;
    } rows[] = {
        {"delete_*", "github/delete_file", "delete_file", true},
        {"git*", "github/delete_file", "delete_file", false},
        {"github/*", "github/delete_file", "delete_file", true},
        {"*/delete_?ile", "github/delete_file", "delete_file", true},
        {"issues/create*", "github/issues/create-comment", "issues/create-comment", true},
        {"github/issues/*", "github/issues/create-comment", "issues/create-comment", true},
        {"*/*", "calculator", "calculator", false},
        {"Delete_*", "github/delete_file", "delete_file", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__pattern_fits(wt__str(rows[i].pattern), wt__str(rows[i].id), wt__str(rows[i].name)) != rows[i].fits)
            fail_msg("%s and %s", rows[i].pattern, rows[i].id);
}

/* Cuts copies without a NUL after them, so that a sanitizer detects a read past the end. */
static void names_are_cut_at_words(void **state)
{
    static const struct {
        const char *text;
        size_t max;
        const char *cut;
    } rows[] = {
        {"create_issue", 12, "create_issue"}, {"create_issue", 11, "create"},
        {"create_issue", 7, "create"},        {"create_issue", 5, "creat"},
        {"createIssue", 8, "create"},         {"a_createissue", 8, "a_create"},
        {"create__issue", 8, "create"},       {"", 4, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        char *exact = malloc(len ? len : 1);
        assert_non_null(exact);
        memcpy(exact, rows[i].text, len);
        struct str cut = {exact, wt__readable_cut(exact, len, rows[i].max)};
        if (!wt__str_equal(cut, wt__str(rows[i].cut)))
            fail_msg("%s at %zu: %.*s", rows[i].text, rows[i].max, (int)cut.len, cut.ptr);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut_at_words),
        cmocka_unit_test(names_are_readable),
        cmocka_unit_test(attempts_give_different_names),
        cmocka_unit_test(any_bytes_get_a_valid_name),
        cmocka_unit_test(ids_are_provider_slash_name),
        cmocka_unit_test(real_names_rarely_collide),
        cmocka_unit_test(patterns_with_a_slash_also_match_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
