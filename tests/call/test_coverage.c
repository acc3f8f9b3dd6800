/* Tests unread words: the optional arguments of a call become unsure if the request has words that the call does not
 * account for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/json.h"
#include "call/arguments.h"

#define ITEM(more)                                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"item_id\":{\"type\":\"string\"}" more "},\"required\":[\"item_id\"]}"
#define COLOUR ",\"colour\":{\"type\":\"string\",\"description\":\"such as 'blue'\"}"
#define SIZE ",\"size\":{\"type\":\"string\"}"
#define LIMIT ",\"limit\":{\"type\":\"integer\"}"
#define PAST(arguments) "{\"request\":\"item A1 for the warehouse in winter\",\"arguments\":" arguments "}"
#define ALONE PAST("{\"item_id\":\"A1\"}")

/* past: items of a JSON list of past calls. asked: names of the unsure arguments, each followed by a blank. */
static const struct {
    const char *name, *schema, *about, *past, *request, *asked;
} cases[] = {
    {"all words are read", ITEM(COLOUR), "Looks up an item", "", "look up item B7", ""},
    {"one unread word is tolerated", ITEM(COLOUR), "", "", "item B7, thanks", ""},
    {"two unread words are asked about", ITEM(COLOUR), "", "", "item B7 as dark as ebony", "colour "},
    {"words of the tool's description are read", ITEM(COLOUR), "Items of dark ebony", "", "item B7 as dark as ebony",
     ""},
    {"words of a given argument are read", ITEM(COLOUR), "", "", "item B7 of the blue colour", ""},
    {"a number parameter takes no words", ITEM(LIMIT), "", "", "item B7 as dark as ebony", ""},
    {"two open arguments are always asked about", ITEM(COLOUR SIZE), "Looks up an item", "", "look up item B7",
     "colour size "},
    {"words of past requests are read", ITEM(COLOUR), "", ALONE, "item B7 for the winter warehouse", ""},
    {"words of past requests with the argument are unread", ITEM(COLOUR), "",
     PAST("{\"item_id\":\"A1\",\"colour\":\"white\"}"), "item B7 for the winter warehouse", "colour "},
    {"arguments absent from three past calls are not asked about", ITEM(COLOUR SIZE), "", ALONE "," ALONE "," ALONE,
     "item B7 as dark as ebony", ""},
    {"arguments absent from two past calls are asked about", ITEM(COLOUR SIZE), "", ALONE "," ALONE, "item B7",
     "colour size "},
    {"a past call with one of two open arguments makes neither rare", ITEM(COLOUR SIZE), "",
     PAST("{\"item_id\":\"A1\",\"size\":\"M\"}"), "item B7", "colour size "},
};

static size_t read_past_calls(struct demonstration out[DEMONSTRATIONS_MOST], const json_t *calls)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *call = json_array_get(calls, i);
        out[i] = (struct demonstration){wt__json_str(call, "request"), json_object_get(call, "arguments")};
    }
    return json_array_size(calls);
}

static json_t *parse_coverage_json(const char *text)
{
    json_t *out;
    assert_int_equal(wt__json_parse(&out, text, strlen(text), NULL), 0);
    return out;
}

static void unread_words_make_arguments_unsure(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct parameters parameters;
        struct literals literals;
        struct call_arguments arguments;
        struct demonstration past[DEMONSTRATIONS_MOST];
        char list[1024], asked[64] = "";
        snprintf(list, sizeof list, "[%s]", cases[i].past);
        json_t *schema = parse_coverage_json(cases[i].schema), *calls = parse_coverage_json(list);
        assert_int_equal(wt__parameters_read(&parameters, schema, &arena), 0);
        assert_int_equal(wt__parameters_learn(&parameters, past, read_past_calls(past, calls), &arena), 0);
        assert_int_equal(wt__literals_read(&literals, wt__str(cases[i].request), &arena), 0);
        assert_int_equal(wt__call_arguments_fill(&arguments, &literals, wt__str(cases[i].about), &parameters, &arena),
                         0);
        for (size_t p = 0; p < arguments.len; p++)
            if (arguments.items[p].state == ARGUMENT_UNSURE)
                snprintf(asked + strlen(asked), sizeof asked - strlen(asked), "%s ", parameters.items[p].name);
        if (strcmp(asked, cases[i].asked) != 0)
            print_error("%s: got \"%s\", expected \"%s\"\n", cases[i].name, asked, cases[i].asked), failures++;
        wt__call_arguments_dispose(&arguments);
        json_decref(schema);
        json_decref(calls);
        wt__arena_dispose(&arena);
    }
    assert_int_equal(failures, 0);
}

/* Only the first COVERAGE_WORDS words are read. A longer request counts as unread. */
static void long_request_counts_as_unread(void **state)
{
    (void)state;
    static const char schema_text[] = ITEM(COLOUR);
    for (size_t extra = 0; extra < 2; extra++) {
        struct arena arena = {0};
        struct parameters parameters;
        struct literals literals;
        struct call_arguments arguments;
        struct buffer request = {0};
        json_t *schema = parse_coverage_json(schema_text);
        wt__buffer_text(&request, "item B7");
        for (size_t i = 2; i < COVERAGE_WORDS + extra; i++)
            wt__buffer_text(&request, " please");
        assert_int_equal(wt__parameters_read(&parameters, schema, &arena), 0);
        assert_int_equal(wt__literals_read(&literals, wt__buffer_view(&request), &arena), 0);
        assert_int_equal(wt__call_arguments_fill(&arguments, &literals, STR("please"), &parameters, &arena), 0);
        assert_int_equal(arguments.items[1].state, extra ? ARGUMENT_UNSURE : ARGUMENT_ABSENT);
        wt__call_arguments_dispose(&arguments);
        wt__buffer_dispose(&request);
        json_decref(schema);
        wt__arena_dispose(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unread_words_make_arguments_unsure),
                                       cmocka_unit_test(long_request_counts_as_unread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
