/* Tests the alternatives of everyday words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retrieve/alternatives.h"

static const struct {
    const char *text, *expanded;
} rows[] = {
    {"call off the meeting", "(cancel) call off the meeting"},
    {"Call the meeting off", "(cancel) Call the meeting off"},
    {"called it off", "(cancel) called it off"},
    {"send the bill", "send the (invoice) bill"},
    {"send the bills", "send the (invoice) bills"},
    {"get rid of the bin", "(delete remove) get rid of the (trash) bin"},
    {"call Bob, turn off", "call Bob, (disable) turn off"}, /* a comma ends the search for a particle */
    {"call the very long and boring meeting off", "call the very long and boring meeting off"},
    {"billing", "billing"},
    {"", ""},
    {"\xFF\xFE 17", "\xFF\xFE 17"},
};

static void inserts_alternatives_before_phrases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct expanded_text expanded;
        assert_int_equal(wt__alternatives_insert(&expanded, wt__str(rows[i].text), &arena, NULL), 0);
        if (!wt__str_equal(expanded.text, wt__str(rows[i].expanded)))
            fail_msg("\"%s\": \"%.*s\"", rows[i].text, (int)expanded.text.len, expanded.text.ptr);
        wt__arena_dispose(&arena);
    }
}

static void maps_parts_of_the_original(void **state)
{
    static const char text[] = "call off the meeting and pay the bill";
    static const struct {
        const char *part, *expanded;
    } parts[] = {{"call off the meeting", "(cancel) call off the meeting"},
                 {"off the meeting", "off the meeting"},
                 {"pay the bill", "pay the (invoice) bill"},
                 {"bill", "(invoice) bill"}};
    struct arena arena = {0};
    struct expanded_text expanded;
    (void)state;
    assert_int_equal(wt__alternatives_insert(&expanded, wt__str(text), &arena, NULL), 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct str part =
            wt__expanded_part(&expanded, (size_t)(strstr(text, parts[i].part) - text), strlen(parts[i].part));
        if (!wt__str_equal(part, wt__str(parts[i].expanded)))
            fail_msg("\"%s\": \"%.*s\"", parts[i].part, (int)part.len, part.ptr);
    }
    assert_int_equal(expanded.count, 2);
    assert_true(wt__str_equal(wt__inserted_part(&expanded, 0), STR("(cancel) ")));
    assert_true(wt__str_equal(wt__inserted_part(&expanded, 1), STR("(invoice) ")));
    wt__arena_dispose(&arena);
}

static void limits_insertions(void **state)
{
    struct arena arena = {0};
    struct expanded_text expanded;
    (void)state;
    assert_int_equal(
        wt__alternatives_insert(&expanded, STR("bill bill bill bill bill bill bill bill bill bill"), &arena, NULL), 0);
    assert_int_equal(expanded.count, EXPANSIONS_MAX);
    wt__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inserts_alternatives_before_phrases),
                                       cmocka_unit_test(maps_parts_of_the_original),
                                       cmocka_unit_test(limits_insertions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
