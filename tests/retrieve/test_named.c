/* Tests that hits named in the request move to the front in its order, and that the others keep theirs.
 * tests/query/test_named.c tests names in a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "retrieve/retrieve.h"

/* before: the name that each hit leads with, "." if it leads with none. after: expected places. */
static const struct {
    const char *name, *leads, *places;
} rows[] = {
    {"nothing is named", "....", "0123"},
    {"in order already", "12..", "0123"},
    {"another order", "21..", "1023"},
    {"behind the rest", "...1", "3012"},
    {"among the rest, the other way round", ".3.2.1.", "5310246"},
    {"a name that no tool has leads nowhere", "..3.1", "42013"},
    {"one hit", "1", "0"},
    {"no hits", "", ""},
};

static void named_hits_lead_and_scores_fall(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hit items[8] = {{0}};
        char places[9] = "";
        struct hit_list hits = {.items = items, .len = strlen(rows[i].leads)};
        for (size_t h = 0; h < hits.len; h++) {
            items[h].row = (uint32_t)h;
            items[h].score = 1 / (float)(1 + h);
            items[h].lead = rows[i].leads[h] == '.' ? 0 : (unsigned)(rows[i].leads[h] - '0');
            hits.named += items[h].lead > 0;
        }
        wt__named_first(&hits);
        for (size_t h = 0; h < hits.len; h++) {
            places[h] = (char)('0' + items[h].row);
            assert_true(h == 0 || items[h - 1].score >= items[h].score);
        }
        if (strcmp(places, rows[i].places) != 0)
            fail_msg("%s: %s", rows[i].name, places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(named_hits_lead_and_scores_fall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
