/* Tests the sub-queries of a request, and the removal of leading stop words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "retrieve/segment.h"

/* subqueries: expected sub-queries, joined by '|'. */
static const struct {
    const char *name, *request, *subqueries;
} cases[] = {
    {"one wish is not cut", "What time is it?", "What time is it?"},
    {"'and' between two wishes", "Find the weather forecast for Oslo and book a hotel near the airport",
     "Find the weather forecast for Oslo|book a hotel near the airport"},
    {"'then' in capitals", "compute the inverse of the matrix THEN transpose every resulting row vector",
     "compute the inverse of the matrix|transpose every resulting row vector"},
    {"a list of names stays together", "Show hotels in Paris, London and Rome",
     "Show hotels in Paris, London and Rome"},
    {"sentences are cut", "Send this report to Anna. Also create a calendar event tomorrow morning.",
     "Send this report to Anna|Also create a calendar event tomorrow morning"},
    {"sentences without content are dropped", "Hi! Play some relaxing jazz music.", "Play some relaxing jazz music"},
    {"a full stop inside a number or name does not cut", "convert 3.5 km with www.example.com units",
     "convert 3.5 km with www.example.com units"},
    {"lines are cut", "first line about stock prices\n\nsecond line about crypto markets",
     "first line about stock prices|second line about crypto markets"},
    {"a part of one word joins the sub-query before it", "translate the long document carefully, today",
     "translate the long document carefully, today"},
    {"'and' inside a word does not cut", "sandbox brand land handle every wanderer",
     "sandbox brand land handle every wanderer"},
    {"at most six sub-queries; the shortest neighbours are joined",
     "one red fox, two blue cats jump, three green birds sing loudly, four grey mice dance, five white sheep sleep, "
     "six black dogs bark loudly, seven pink pigs fly, eight brown cows eat grass, nine gold fish swim deep",
     "one red fox, two blue cats jump|three green birds sing loudly|four grey mice dance, five white sheep sleep|six "
     "black dogs bark loudly, seven pink pigs fly|eight brown cows eat grass|nine gold fish swim deep"},
    {"a short wish is cut if it begins with a verb", "Fork octo/widgets on GitHub and then star it",
     "Fork octo/widgets on GitHub|then star it"},
    {"each verb begins a sub-query", "Stage everything, commit it as 'typo' and show me the log",
     "Stage everything|commit it as 'typo'|show me the log"},
    {"a verb may follow stop words", "check the weather in Oslo, and please could you also mute it",
     "check the weather in Oslo|and please could you also mute it"},
    {"a verb may have the prefix un-", "show the diff, then unstage it", "show the diff|then unstage it"},
    {"a question is a wish", "what's the weather like and cancel my dentist appointment",
     "what's the weather like|cancel my dentist appointment"},
    {"a noun does not begin a wish", "show likes, comments and list items", "show likes, comments and list items"},
    {"empty request", "", ""},
    {"only stop words give no sub-query", "and then, of the", ""},
};

static void join_subqueries(struct str *subqueries, size_t count, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && len < size; i++)
        len +=
            (size_t)snprintf(out + len, size - len, "%s%.*s", i ? "|" : "", (int)subqueries[i].len, subqueries[i].ptr);
}

static void cuts_requests_between_wishes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str subqueries[SUBQUERIES_MAX];
        char joined[1024];
        size_t count = wt__segment(wt__str(cases[i].request), subqueries);
        join_subqueries(subqueries, count, joined, sizeof joined);
        if (strcmp(joined, cases[i].subqueries) != 0)
            fail_msg("%s: got \"%s\"", cases[i].name, joined);
    }
}

static void arbitrary_bytes_give_ordered_views(void **state)
{
    (void)state;
    static const char alphabet[] = "ab ,;:.?!\n\xC3\xA9 and then";
    struct rng rng;
    char text[1300];
    wt__rng_seed(&rng, 11);
    for (size_t round = 0; round < 5000; round++) {
        struct str subqueries[SUBQUERIES_MAX];
        size_t len = wt__rng_below(&rng, sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[wt__rng_below(&rng, sizeof alphabet)];
        char *exact = malloc(len + 1); /* exact length, so that ASan detects a read past the end */
        memcpy(exact, text, len);
        size_t count = wt__segment((struct str){exact, len}, subqueries);
        assert_in_range(count, 0, SUBQUERIES_MAX);
        const char *last = exact;
        for (size_t i = 0; i < count; i++) {
            assert_true(subqueries[i].ptr >= last && subqueries[i].len > 0 &&
                        subqueries[i].ptr + subqueries[i].len <= exact + len);
            last = subqueries[i].ptr + subqueries[i].len;
        }
        free(exact);
    }
}

/* left: the text from its first content word on. */
static const struct {
    const char *name, *text, *left;
} beginnings[] = {
    {"no stop words", "book a table", "book a table"},
    {"leading stop words", "and then book a table", "book a table"},
    {"punctuation and blanks between stop words", " -- and, then: book", "book"},
    {"a word beyond ASCII", "and \xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9"},
    {"only stop words are kept", "and then", "and then"},
    {"only punctuation is kept", " ...", " ..."},
    {"empty text", "", ""},
};

static void skips_leading_stopwords(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct str left = wt__skip_stopwords(wt__str(beginnings[i].text));
        if (!wt__str_equal(left, wt__str(beginnings[i].left)))
            fail_msg("%s: %.*s", beginnings[i].name, (int)left.len, left.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skips_leading_stopwords),
        cmocka_unit_test(cuts_requests_between_wishes),
        cmocka_unit_test(arbitrary_bytes_give_ordered_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
