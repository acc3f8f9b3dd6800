/* Tests the analyser: identifiers are split into words, words are stemmed, and arbitrary bytes are safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "text/analyser.h"
#include "text/support.h"
#include "text/unicode.h"

static struct analyser *open_analyser(void)
{
    struct analyser *analyser = NULL;
    assert_int_equal(wt__analyser_open(&analyser, NULL), 0);
    return analyser;
}

/* Returns the terms of the text, joined with spaces. Free with free(). */
static char *join_terms(struct analyser *analyser, struct str text)
{
    struct token_list list = {0};
    struct buffer joined = {0};

    assert_int_equal(wt__analyser_run(analyser, text, &list), 0);
    for (size_t i = 0; i < list.len; i++) {
        wt__buffer_text(&joined, i ? " " : "");
        wt__buffer_str(&joined, list.terms[i]);
    }
    wt__token_list_dispose(&list);
    return wt__buffer_take(&joined);
}

#define TEXT(literal) literal, sizeof(literal) - 1
static const struct {
    const char *name, *in;
    size_t len;
    const char *out;
} splits[] = {
    {"empty text", TEXT(""), ""},
    {"only blanks and signs", TEXT(" \t-_./!?"), ""},
    {"camel case", TEXT("findUserRecords"), "find user findus record userrecord"},
    {"pascal case", TEXT("FindUser"), "find user findus"},
    {"snake case", TEXT("find_user_records"), "find user record"},
    {"kebab case, dots, paths", TEXT("find-user.records/list"), "find user record list"},
    {"acronym before a word", TEXT("parseHTTPResponse"), "pars http parsehttp respons httprespons"},
    {"acronym alone", TEXT("HTTP"), "http"},
    {"acronym at the end", TEXT("parseJSON"), "pars json parsejson"},
    {"one capital before a word is a word of its own", TEXT("planBTrip"), "plan b planb trip btrip"},
    {"plural of an acronym stays whole", TEXT("APIs user_IDs"), "api user id"},
    {"a word after the plural of an acronym", TEXT("IDsPage"), "id page idspag"},
    {"an s that begins a word is not a plural", TEXT("HTTPsession"), "htt psession httpsession"},
    {"words in upper case", TEXT("WEATHER FORECAST"), "weather forecast"},
    {"digits stay with letters", TEXT("v4_odds2024 md5 3D ec2"), "v4 odds2024 md5 3d ec2"},
    {"a word after digits is split off", TEXT("Top5News"), "top5 news top5new"},
    {"a capital after digits does not split without a word", TEXT("2FA x1Y2"), "2fa x1y2"},
    {"inflected forms have one stem", TEXT("book books booking booked"), "book book book book"},
    {"stop words are omitted", TEXT("the weather of a city is what"), "weather citi"},
    {"stop words are omitted in any case", TEXT("The WEATHER Of Paris"), "weather pari"},
    {"a stop word is part of a joined form", TEXT("YouTube getOut"), "tube youtub getout"},
    {"a joined form may be a stop word", TEXT("inTo"), "into"},
    {"runs with a sign between them are not joined", TEXT("red.Green"), "red green"},
    {"an apostrophe separates words; endings are stop words", TEXT("don't the user's and you\xE2\x80\x99re"), "user"},
    {"accents of Latin letters are removed", TEXT("caf\xC3\xA9 CAF\xC3\x89 cafe\xCC\x81"), "cafe cafe cafe"},
    {"accented letters have case", TEXT("caf\xC3\xA9\xC3\x89t\xC3\xA9"), "cafe ete cafeet"},
    {"accents of Greek letters are removed", TEXT("\xCE\x91\xCE\xB8\xCE\xAE\xCE\xBD\xCE\xB1"),
     "\xCE\xB1\xCE\xB8\xCE\xB7\xCE\xBD\xCE\xB1"},
    {"a capital I with a dot", TEXT("\xC4\xB0zmir"), "izmir"},
    {"ideographs yield single characters and pairs", TEXT("\xE5\xA4\xA9\xE6\xB0\x94 ok"),
     "\xE5\xA4\xA9 \xE6\xB0\x94 \xE5\xA4\xA9\xE6\xB0\x94 ok"},
    {"Devanagari keeps its marks", TEXT("\xE0\xA4\xB9\xE0\xA4\xBF"), "\xE0\xA4\xB9\xE0\xA4\xBF"},
    {"a mark without a letter is not a word", TEXT("\xCC\x81 \xE0\xA4\xBF"), ""},
    {"typographic dashes and quotation marks separate words",
     TEXT("red\xE2\x80\x94green\xE2\x80\x9C"
          "blue\xE2\x80\x9D"),
     "red green blue"},
    {"blanks beyond ASCII separate words",
     TEXT("red\xC2\xA0green\xE3\x80\x80"
          "blue"),
     "red green blue"},
    {"an emoji separates words", TEXT("red\xF0\x9F\x98\x80green"), "red green"},
    {"NUL separates words", TEXT("red\0green"), "red green"},
    {"invalid UTF-8", TEXT("\xFF\xFE"), ""},
    {"invalid UTF-8 separates words", TEXT("red\xFFgreen\xE2\x82"), "red green"},
};

static void splits_identifiers_into_stemmed_words(void **state)
{
    struct analyser *analyser = open_analyser();
    (void)state;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        char *terms = join_terms(analyser, (struct str){splits[i].in, splits[i].len});
        if (strcmp(terms, splits[i].out) != 0)
            fail_msg("%s: %s", splits[i].name, terms);
        free(terms);
    }
    char *terms = join_terms(analyser, (struct str){NULL, 0});
    assert_string_equal(terms, "");
    free(terms);
    wt__analyser_close(analyser);
    wt__analyser_close(NULL);
}

static void sources_locate_the_terms_in_the_text(void **state)
{
    static const char *const expected[] = {"parse", "HTTP",         "parseHTTP",    "Response", "HTTPResponse",
                                           "IDs",   "caf\xC3\xA9s", "\xE5\xA4\xA9", "weather"};
    struct str text = STR("parseHTTPResponse of IDs, caf\xC3\xA9s_\xE5\xA4\xA9 weather");
    struct analyser *analyser = open_analyser();
    struct token_list list = {0};
    (void)state;
    assert_int_equal(wt__analyser_run(analyser, text, &list), 0);
    assert_int_equal(list.len, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < list.len; i++) {
        struct str source = {text.ptr + list.sources[i].start, list.sources[i].end - list.sources[i].start};
        assert_true(wt__str_equal(source, wt__str(expected[i])));
    }
    wt__token_list_dispose(&list);
    wt__analyser_close(analyser);
}

static void spells_out_names(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {"__", ""},
        {"getFlightSchedule", "get Flight Schedule"},
        {"GET /movie/{movie_id}/keywords", "GET movie movie id keywords"},
        {"live_giveaways_by_type", "live giveaways by type"},
        {"parseHTTPResponse2", "parse HTTP Response2"},
        {"caf\xC3\xA9\xC3\x89t\xC3\xA9", "caf\xC3\xA9 \xC3\x89t\xC3\xA9"},
        {"a\xFF"
         "b",
         "a b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer out = {0};
        wt__analyser_spell_out(wt__str(rows[i].in), &out);
        assert_string_equal(out.ptr ? out.ptr : "", rows[i].out);
        wt__buffer_dispose(&out);
    }
}

static void run_appends_and_reset_empties(void **state)
{
    struct analyser *analyser = open_analyser();
    struct token_list list = {0};
    (void)state;
    assert_int_equal(wt__analyser_run(analyser, STR("red green"), &list), 0);
    assert_int_equal(wt__analyser_run(analyser, STR("blue"), &list), 0);
    wt__analyser_close(analyser); /* the list owns the terms */
    assert_int_equal(list.len, 3);
    assert_true(wt__str_equal(list.terms[0], STR("red")));
    assert_true(wt__str_equal(list.terms[2], STR("blue")));
    wt__token_list_reset(&list);
    assert_int_equal(list.len, 0);
    wt__token_list_dispose(&list);
}

static void truncates_long_words_at_a_character(void **state)
{
    enum { WORD = 64 * 1024 };
    struct analyser *analyser = open_analyser();
    char *word = malloc(WORD);
    struct token_list list = {0};
    (void)state;
    assert_non_null(word);
    memset(word, 'q', WORD);
    assert_int_equal(wt__analyser_run(analyser, (struct str){word, WORD}, &list), 0);
    assert_int_equal(list.len, 1);
    assert_int_equal(list.terms[0].len, ANALYSER_MAX_TERM);
    assert_int_equal(list.sources[0].end, WORD);
    wt__token_list_reset(&list);
    word[40] = 'Q'; /* splits the word into 40 bytes and a part that is truncated; the joined form is too long */
    assert_int_equal(wt__analyser_run(analyser, (struct str){word, WORD}, &list), 0);
    assert_int_equal(list.len, 2);
    assert_int_equal(list.terms[0].len, 40);
    assert_int_equal(list.terms[1].len, ANALYSER_MAX_TERM);
    wt__token_list_reset(&list);
    word[0] = 'q';
    for (size_t i = 1; i + 1 < WORD; i += 2)
        memcpy(word + i, "\xD0\xB6", 2);
    assert_int_equal(wt__analyser_run(analyser, (struct str){word, WORD}, &list), 0);
    assert_int_equal(list.terms[0].len, ANALYSER_MAX_TERM - 1);
    assert_true(wt__utf8_valid(list.terms[0]));
    free(word);
    wt__token_list_dispose(&list);
    wt__analyser_close(analyser);
}

/* A warm analyser returns the same terms as a new one. */
static void cache_does_not_affect_terms(void **state)
{
    struct analyser *warm = open_analyser();
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 4);
    for (int round = 0; round < 40000; round++) {
        char word[40];
        size_t len = 1 + wt__rng_below(&rng, 4) * 8 + wt__rng_below(&rng, 4);
        for (size_t i = 0; i < len; i++)
            word[i] = (char)('a' + wt__rng_below(&rng, 5));
        char *first = join_terms(warm, (struct str){word, len});
        if (round % 100 == 0) {
            struct analyser *cold = open_analyser();
            char *again = join_terms(cold, (struct str){word, len});
            assert_string_equal(first, again);
            free(again);
            wt__analyser_close(cold);
        }
        free(first);
    }
    wt__analyser_close(warm);
}

static void random_bytes_give_valid_terms(void **state)
{
    struct analyser *analyser = open_analyser();
    struct token_list list = {0};
    struct rng rng;
    (void)state;
    wt__rng_seed(&rng, 5);
    for (int round = 0; round < 20000; round++) {
        char bytes[128];
        size_t len = wt__rng_below(&rng, sizeof bytes + 1), from = 0;
        for (size_t i = 0; i < len; i++)
            bytes[i] = wt__rng_below(&rng, 2) ? "aBsX9_\xCC\x81\xC3\x89\xE4\xB8\xAD"[wt__rng_below(&rng, 13)]
                                              : (char)wt__rng_below(&rng, 256);
        wt__token_list_reset(&list);
        assert_int_equal(wt__analyser_run(analyser, (struct str){bytes, len}, &list), 0);
        for (size_t i = 0; i < list.len; i++) {
            assert_in_range(list.terms[i].len, 1, ANALYSER_MAX_TERM);
            assert_true(wt__utf8_valid(list.terms[i]));
            assert_true(list.sources[i].start < list.sources[i].end && from <= list.sources[i].end);
            from = list.sources[i].end;
        }
        assert_true(from <= len);
    }
    wt__token_list_dispose(&list);
    wt__analyser_close(analyser);
}

static void recognises_stop_words(void **state)
{
    static const struct {
        const char *word;
        bool stop;
    } rows[] = {{"a", true},   {"yourselves", true}, {"the", true},   {"please", true}, {"weather", false},
                {"th", false}, {"thex", false},      {"most", false}, {"", false},      {"zzz", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wt__is_stopword(wt__str(rows[i].word)) != rows[i].stop)
            fail_msg("%s", rows[i].word);
}

/* Binary search misses words if the table is not sorted. */
static void stop_word_table_is_sorted(void **state)
{
    char path[PATH_BYTES], last[64] = "";
    const char *source = getenv("WT_TEST_SOURCE");
    size_t count = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/src/text/analyser.c", source ? source : ".");
    struct str text = read_whole(path);
    const char *table = strstr(text.ptr, "words[] = {"), *end = table ? strstr(table, "};") : NULL;
    assert_non_null(end);
    for (const char *open = strchr(table, '"'); open && open < end; count++) {
        const char *close = strchr(open + 1, '"');
        struct str word = {open + 1, (size_t)(close - open - 1)};
        char spelled[64];
        snprintf(spelled, sizeof spelled, "%.*s", (int)word.len, word.ptr);
        if (!wt__is_stopword(word) || strcmp(last, spelled) >= 0)
            fail_msg("%s", spelled);
        memcpy(last, spelled, sizeof last);
        open = strchr(close + 1, '"');
    }
    assert_true(count > 100);
    free((void *)text.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_identifiers_into_stemmed_words),
        cmocka_unit_test(sources_locate_the_terms_in_the_text),
        cmocka_unit_test(spells_out_names),
        cmocka_unit_test(run_appends_and_reset_empties),
        cmocka_unit_test(truncates_long_words_at_a_character),
        cmocka_unit_test(cache_does_not_affect_terms),
        cmocka_unit_test(random_bytes_give_valid_terms),
        cmocka_unit_test(recognises_stop_words),
        cmocka_unit_test(stop_word_table_is_sorted),
    };
    return cmocka_run_group_tests_name("text/analyser", tests, NULL, NULL);
}
