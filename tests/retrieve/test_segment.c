/* The sub-queries of a request: where it is cut, where it is not, and that any bytes are safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "retrieve/segment.h"

/* subqueries: joined by '|'. */
static const struct {
    const char *name, *request, *subqueries;
} cases[] = {
    {"one plain wish", "What time is it?", "What time is it?"},
    {"and joins two wishes", "Find the weather forecast for Oslo and book a hotel near the airport",
     "Find the weather forecast for Oslo|book a hotel near the airport"},
    {"then, in any case", "compute the inverse of the matrix THEN transpose every resulting row vector",
     "compute the inverse of the matrix|transpose every resulting row vector"},
    {"a list of names stays together", "Show hotels in Paris, London and Rome",
     "Show hotels in Paris, London and Rome"},
    {"sentences", "Send this report to Anna. Also create a calendar event tomorrow morning.",
     "Send this report to Anna|Also create a calendar event tomorrow morning"},
    {"sentences without content go", "Hi! Play some relaxing jazz music.", "Play some relaxing jazz music"},
    {"a point inside a number or name does not cut", "convert 3.5 km with www.example.com units",
     "convert 3.5 km with www.example.com units"},
    {"lines", "first line about stock prices\n\nsecond line about crypto markets",
     "first line about stock prices|second line about crypto markets"},
    {"what is left over joins the part before it", "translate the long document carefully, today",
     "translate the long document carefully, today"},
    {"and inside a word does not cut", "sandbox brand land handle every wanderer",
     "sandbox brand land handle every wanderer"},
    {"at most six, the shortest neighbours joined",
     "one red fox, two blue cats jump, three green birds sing loudly, four grey mice dance, five white sheep sleep, "
     "six black dogs bark loudly, seven pink pigs fly, eight brown cows eat grass, nine gold fish swim deep",
     "one red fox, two blue cats jump|three green birds sing loudly|four grey mice dance, five white sheep sleep|six "
     "black dogs bark loudly, seven pink pigs fly|eight brown cows eat grass|nine gold fish swim deep"},
    {"a verb begins a wish, however short", "Fork octo/widgets on GitHub and then star it",
     "Fork octo/widgets on GitHub|then star it"},
    {"each verb of several", "Stage everything, commit it as 'typo' and show me the log",
     "Stage everything|commit it as 'typo'|show me the log"},
    {"a verb after words that say nothing", "check the weather in Oslo, and please could you also mute it",
     "check the weather in Oslo|and please could you also mute it"},
    {"un- undoes a verb", "show the diff, then unstage it", "show the diff|then unstage it"},
    {"a noun is no wish", "show likes, comments and list items", "show likes, comments and list items"},
    {"what shall not be done is no wish", "Void the Stripe invoice in_77, do not delete it",
     "Void the Stripe invoice in_77"},
    {"nor with an apostrophe", "Rename the playlist of my sister today, and don't remove any songs from it",
     "Rename the playlist of my sister today"},
    {"a wish that is all there is stays", "never send me any newsletter again", "never send me any newsletter again"},
    {"nothing", "", ""},
    {"stop words alone", "and then, of the", ""},
};

static void join(struct str *subqueries, size_t count, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && len < size; i++)
        len +=
            (size_t)snprintf(out + len, size - len, "%s%.*s", i ? "|" : "", (int)subqueries[i].len, subqueries[i].ptr);
}

static void requests_are_cut_where_a_wish_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str subqueries[SUBQUERIES_MAX];
        char joined[1024];
        size_t count = wt__segment(wt__str(cases[i].request), subqueries);
        join(subqueries, count, joined, sizeof joined);
        if (strcmp(joined, cases[i].subqueries) != 0)
            fail_msg("%s: got \"%s\"", cases[i].name, joined);
    }
}

static void any_bytes_give_views_in_order(void **state)
{
    (void)state;
    static const char alphabet[] = "ab ,;:.?!\n\xC3\xA9 and then";
    struct rng rng;
    char text[300];
    wt__rng_seed(&rng, 11);
    for (size_t round = 0; round < 5000; round++) {
        struct str subqueries[SUBQUERIES_MAX];
        size_t len = wt__rng_below(&rng, sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[wt__rng_below(&rng, sizeof alphabet)];
        char *exact = malloc(len + 1); /* so that a read past the end is seen */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_cut_where_a_wish_ends),
        cmocka_unit_test(any_bytes_give_views_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
