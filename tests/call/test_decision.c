/* Tests the decision between the found tools: the effect of each detail, its limits, and ties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "call/arguments.h"

enum { TOOLS = 3 };

#define CITY "{\"city\":{\"type\":\"string\"}}"
#define PLACE "{\"latitude\":{\"type\":\"number\"},\"longitude\":{\"type\":\"number\"}}"

struct decision_tool {
    const char *name, *description, *properties; /* name: NULL ends the list */
    double score;
    bool leftover;
};

/* expected: share of each tool. A star precedes the best share. The letters t, k and l follow a share that was changed
 * by time, kind or leftover. */
static const struct {
    const char *name, *request;
    struct decision_tool tools[TOOLS];
    const char *expected;
} cases[] = {
    {"a request about the future prefers a forecast",
     "what will it be like in Oslo",
     {{"current", "Current weather", CITY, 2, false}, {"forecast", "Weather of the coming days", CITY, 1.9, false}},
     "0.85t *1.13t"},
    {"a request about the present prefers current data",
     "the weather in Oslo right now",
     {{"forecast", "Weather of the coming days", CITY, 2, false}, {"now", "Live weather", CITY, 1.9, false}},
     "0.85t *1.13t"},
    {"a request about the past prefers historical data",
     "the weather in Oslo yesterday",
     {{"forecast", "Weather forecast", CITY, 2, false}, {"archive", "Historical weather", CITY, 1.9, false}},
     "0.85t *1.13t"},
    {"a tool for two times matches one of them",
     "tomorrow's weather",
     {{"weather", "Current weather and forecast", CITY, 2, false}, {"past", "Past weather", CITY, 2, false}},
     "*1.15t 0.85t"},
    {"a tool without a time keeps its share", "tomorrow's weather", {{"weather", "Weather", CITY, 2, false}}, "*1.00"},
    {"a request without a time changes no share",
     "weather in Oslo",
     {{"current", "Current weather", CITY, 2, false}, {"forecast", "Forecast", CITY, 1.9, false}},
     "*1.00 0.98"},
    {"names of parameters have no time",
     "who comes next",
     {{"people", "People", "{\"last_name\":{\"type\":\"string\"},\"next_page\":{\"type\":\"string\"}}", 1, false}},
     "*1.00"},
    {"a ZIP code prefers a tool for postal codes",
     "the weather of 90210",
     {{"by_city", "Weather of a city", CITY, 1, false}, {"by_zip", "Weather by postal code", CITY, .9, false}},
     "0.70k *1.27k"},
    {"a ZIP code prefers a tool with a parameter zipCode",
     "the weather of 90210",
     {{"a", "Weather", CITY, 1, false}, {"b", "Weather", "{\"zipCode\":{\"type\":\"string\"}}", .9, false}},
     "0.70k *1.27k"},
    {"letters are not a ZIP code",
     "the weather of Paris",
     {{"by_city", "Weather of a city", CITY, 1, false}, {"by_zip", "Weather by postal code", CITY, .9, false}},
     "*1.00 0.97"},
    {"dollars are not a ZIP code", "shoes for 90210 dollars", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"money is not a ZIP code", "shoes for $90210", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"six digits are not a ZIP code", "item 902101", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"a signed number is not a ZIP code", "add -9021 to it", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"a decimal is not a ZIP code", "about 902.1 of it", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"a multiple is not a ZIP code", "more than 90k", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"a percentage is not a ZIP code", "a rate of 1000%", {{"by_zip", "By ZIP code", CITY, 1, false}}, "*1.00"},
    {"a mail address prefers a tool for e-mail",
     "is ada@example.org good",
     {{"names", "Checks a name", CITY, 1, false}, {"mails", "Checks an e-mail", CITY, .9, false}},
     "0.70k *1.27k"},
    {"a web address prefers a tool for websites",
     "what is at https://example.org/a",
     {{"names", "Looks a name up", CITY, 1, false}, {"pages", "Reads a website", CITY, .9, false}},
     "0.70k *1.27k"},
    {"coordinates prefer a tool with latitude and longitude",
     "the weather at 11.6 and -97.8",
     {{"by_city", "Weather of a city", CITY, 1, false}, {"at", "Weather", PLACE, .9, false}},
     "0.70k *1.27k"},
    {"a date prefers a tool with a date",
     "a room in Salem from October 20, 2022 to October 29, 2022",
     {{"homes", "Homes for rent", CITY, 1, false},
      {"hotels", "Rooms", "{\"checkin_date\":{\"type\":\"string\"}}", .9, false}},
     "0.70k *1.27k"},
    {"a day in words is not a date",
     "a room in Salem tonight",
     {{"homes", "Homes for rent", CITY, 1, false},
      {"hotels", "Rooms", "{\"checkin_date\":{\"type\":\"string\"}}", .9, false}},
     "*1.00 0.97"},
    {"one decimal is not a coordinate", "the root of 11.6", {{"at", "Weather", PLACE, 1, false}}, "*1.00"},
    {"integers are not coordinates", "between 11 and 97", {{"at", "Weather", PLACE, 1, false}}, "*1.00"},
    {"decimals above 180 are not coordinates", "from 211.6 to 297.8", {{"at", "Weather", PLACE, 1, false}}, "*1.00"},
    {"two kinds change a share twice",
     "send the weather at 11.6 and -97.8 to ada@example.org",
     {{"at", "Sends the weather of coordinates by e-mail", CITY, 1, false},
      {"by_city", "Weather of a city", CITY, 1, false}},
     "*1.60k 0.40k"},
    {"a leftover value lowers the share",
     "anything",
     {{"a", "One", CITY, 1, true}, {"b", "Other", CITY, .96, false}},
     "0.85l *0.99"},
    {"changes by all details add up",
     "the weather at 11.6 and -97.8 tomorrow",
     {{"at", "Forecast", PLACE, 1, true}, {"by_city", "Current weather", CITY, 1, true}},
     "*1.30tkl 0.40tkl"},
    {"a tool too far behind stays behind",
     "the weather at 11.6 and -97.8 tomorrow",
     {{"by_city", "Current weather", CITY, 1, false}, {"at", "Forecast", PLACE, .09, true}},
     "*0.55tk 0.49"},
    {"a tool at the limit comes first",
     "the weather at 11.6 and -97.8 tomorrow",
     {{"by_city", "Current weather", CITY, 1, false}, {"at", "Forecast", PLACE, .1, false}},
     "0.55tk *0.95tk"},
    {"equal shares: the first is best",
     "anything",
     {{"a", "One", CITY, 1, false}, {"b", "One", CITY, 1, false}, {"c", "One", CITY, 1, false}},
     "*1.00 1.00 1.00"},
    {"scores of zero are equal shares before the details",
     "tomorrow",
     {{"a", "Now", CITY, 0, false}, {"b", "Forecast", CITY, 0, false}},
     "0.85t *1.15t"},
    {"a score below zero has an exponential share",
     "anything",
     {{"a", "One", CITY, -.1, false}, {"b", "Other", CITY, -.5, false}},
     "*1.00 0.67"},
    {"close scores below zero are reordered",
     "tomorrow",
     {{"a", "Now", CITY, -.1, false}, {"b", "Forecast", CITY, -.2, false}},
     "0.85t *1.05t"},
    {"distant scores below zero keep their order",
     "tomorrow",
     {{"a", "Now", CITY, -1, false}, {"b", "Forecast", CITY, -3, false}},
     "*0.85t 0.14"},
    {"a best score of zero is a share of one",
     "anything",
     {{"a", "One", CITY, 0, false}, {"b", "Other", CITY, -1e300, false}},
     "*1.00 0.00"},
    {"an empty request and tool change no share", "", {{"", "", "{}", 1, false}}, "*1.00"},
    {"a ZIP code is found next to invalid UTF-8",
     "\xff\xfe 90210",
     {{"\xff", "zip \xff\xfe", "{}", 1, false}},
     "*1.30k"},
};

struct set {
    struct arena arena;
    json_t *schemas[TOOLS];
    struct parameters parameters[TOOLS];
    struct choice choices[TOOLS];
    size_t count, first;
};

static void read_decision_tool(struct set *set, const struct decision_tool *tool)
{
    size_t i = set->count++;
    struct buffer schema = {0};
    wt__buffer_printf(&schema, "{\"type\":\"object\",\"properties\":%s}", tool->properties);
    assert_int_equal(wt__json_parse(&set->schemas[i], schema.ptr, schema.len, NULL), 0);
    assert_int_equal(wt__parameters_read(&set->parameters[i], set->schemas[i], &set->arena), 0);
    wt__buffer_dispose(&schema);
    set->choices[i] = (struct choice){.name = wt__str(tool->name),
                                      .description = wt__str(tool->description),
                                      .parameters = &set->parameters[i],
                                      .leftover = tool->leftover,
                                      .score = tool->score};
}

static void decide_case(struct set *set, const char *request, const struct decision_tool *tools)
{
    struct literals literals;
    *set = (struct set){.count = 0};
    for (size_t t = 0; t < TOOLS && tools[t].name; t++)
        read_decision_tool(set, &tools[t]);
    assert_int_equal(wt__literals_read(&literals, wt__str(request), &set->arena), 0);
    set->first = wt__decide_tool(&literals, set->choices, set->count);
}

static void dispose_decision_set(struct set *set)
{
    for (size_t i = 0; i < set->count; i++)
        json_decref(set->schemas[i]);
    wt__arena_dispose(&set->arena);
}

static void details_reorder_close_tools(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct set set;
        struct buffer told = {0};
        decide_case(&set, cases[i].request, cases[i].tools);
        for (size_t t = 0; t < set.count; t++) {
            const struct choice *choice = &set.choices[t];
            wt__buffer_printf(&told, "%s%s%.2f%s%s%s", t > 0 ? " " : "", t == set.first ? "*" : "", choice->decided,
                              choice->details & DETAIL_TIME ? "t" : "", choice->details & DETAIL_KIND ? "k" : "",
                              choice->details & DETAIL_LEFTOVER ? "l" : "");
        }
        if (strcmp(told.ptr, cases[i].expected) != 0)
            print_error("%s: got \"%s\", expected \"%s\"\n", cases[i].name, told.ptr, cases[i].expected), failures++;
        wt__buffer_dispose(&told);
        dispose_decision_set(&set);
    }
    assert_int_equal(failures, 0);
}

static void second_is_best_of_the_others(void **state)
{
    static const struct {
        double decided[TOOLS];
        size_t count, first, second;
    } rows[] = {{{1}, 1, 0, SIZE_MAX},  {{1, 1}, 2, 0, 1},      {{1, 1}, 2, 1, 0},
                {{1, .5, .9}, 3, 0, 2}, {{.5, 1, .5}, 3, 1, 0}, /* the first of equal shares */
                {{0, 0, 0}, 3, 0, 1},   {{-1, 0}, 2, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct choice choices[TOOLS] = {{.score = 0}};
        for (size_t c = 0; c < rows[i].count; c++)
            choices[c].decided = rows[i].decided[c];
        assert_int_equal(wt__decide_second(choices, rows[i].count, rows[i].first), rows[i].second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(details_reorder_close_tools),
        cmocka_unit_test(second_is_best_of_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
