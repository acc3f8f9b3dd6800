/* Tests the order of hits named in the request: they move to the front in the request's order, and the others keep
 * their order. tests/query/test_named.c tests names in a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "retrieve/retrieve.h"

/* leads: one character per hit. If the hit is the leader for a name (retrieve/named.c), the character is the number of
 * this name in the request, from 1. It is "." for other hits. places: expected order of the hits. */
static const struct {
    const char *name, *leads, *places;
} rows[] = {
    {"no hit is named", "....", "0123"},
    {"already in order", "12..", "0123"},
    {"named hits in another order", "21..", "1023"},
    {"named hit is last", "...1", "3012"},
    {"named hits in reverse order among others", ".3.2.1.", "5310246"},
    {"the second name has no leader", "..3.1", "42013"},
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
