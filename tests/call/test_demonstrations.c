/* Tests how past calls of a tool affect the arguments of a later request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "call/arguments.h"

enum { CALLS = 3 };

#define ONE(name) "{\"type\":\"object\",\"properties\":{\"" name "\":{}},\"required\":[\"" name "\"]}"
#define TWO "{\"type\":\"object\",\"properties\":{\"q\":{},\"n\":{}},\"required\":[\"q\",\"n\"]}"

/* value: the first argument of the last request as JSON; "!" if the argument is missing; "?" and the value if the
 * argument is unsure. */
static const struct {
    const char *name, *schema;
    struct {
        const char *request, *arguments;
    } calls[CALLS];
    const char *request, *value;
} cases[] = {
    {"no past calls", ONE("mode"), {{NULL}}, "the weather please", "!"},
    {"a value absent from requests is usual",
     ONE("mode"),
     {{"rain in Rome", "{\"mode\":\"xml\"}"}, {"snow in Oslo", "{\"mode\":\"xml\"}"}},
     "the weather please",
     "\"xml\""},
    {"the most frequent value is usual",
     ONE("mode"),
     {{"a", "{\"mode\":\"xml\"}"}, {"b", "{\"mode\":\"csv\"}"}, {"c", "{\"mode\":\"xml\"}"}},
     "d",
     "\"xml\""},
    {"a value of less than half is not usual",
     ONE("mode"),
     {{"a", "{\"mode\":\"xml\"}"}, {"b", "{\"mode\":\"csv\"}"}, {"c", "{\"mode\":\"txt\"}"}},
     "d",
     "!"},
    {"a value in its request is not usual", ONE("mode"), {{"as xml", "{\"mode\":\"xml\"}"}}, "the weather please", "!"},
    {"a value in its request is an example", ONE("mode"), {{"as xml", "{\"mode\":\"xml\"}"}}, "give me xml", "\"xml\""},
    {"a value of an unknown request is an example",
     ONE("mode"),
     {{"", "{\"mode\":\"xml\"}"}},
     "give me xml",
     "\"xml\""},
    {"the word before a value supports the parameter",
     TWO,
     {{"breed Siam in 2 pictures", "{\"q\":\"Siam\",\"n\":2}"}},
     "7 pictures of the breed Korat",
     "\"Korat\""},
    {"the word after a value supports the parameter",
     TWO,
     {{"the Siam cats, 2 pictures", "{\"n\":2,\"q\":\"Siam\"}"}},
     "a map of Paris, and Korat cats",
     "\"Korat\""},
    {"a past place makes the parameter take places",
     TWO,
     {{"snow in Oslo", "{\"q\":\"Oslo\"}"}},
     "How is the weather in Reno, Sir Henry?",
     "\"Reno\""},
};

static void learn_from_calls(const struct parameters *parameters, size_t at, json_t *arguments[CALLS],
                             struct arena *arena)
{
    struct demonstration calls[CALLS];
    size_t count = 0;
    for (size_t c = 0; c < CALLS && cases[at].calls[c].request; c++) {
        const char *json = cases[at].calls[c].arguments;
        assert_int_equal(wt__json_parse(&arguments[c], json, strlen(json), NULL), 0);
        calls[count++] = (struct demonstration){wt__str(cases[at].calls[c].request), arguments[c]};
    }
    assert_int_equal(wt__parameters_learn((struct parameters *)parameters, calls, count, arena), 0);
}

static void write_state(struct buffer *out, const struct call_argument *argument)
{
    if (argument->state == ARGUMENT_MISSING || argument->state == ARGUMENT_UNSURE)
        wt__buffer_char(out, argument->state == ARGUMENT_MISSING ? '!' : '?');
    if (argument->value)
        wt__json_write(out, argument->value);
}

static void past_calls_teach_parameters(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *schema, *arguments[CALLS] = {NULL};
        struct arena arena = {0};
        struct parameters parameters;
        struct literals literals;
        struct call_arguments filled;
        struct buffer told = {0};
        assert_int_equal(wt__json_parse(&schema, cases[i].schema, strlen(cases[i].schema), NULL), 0);
        assert_int_equal(wt__parameters_read(&parameters, schema, &arena), 0);
        learn_from_calls(&parameters, i, arguments, &arena);
        assert_int_equal(wt__literals_read(&literals, wt__str(cases[i].request), &arena), 0);
        assert_int_equal(wt__call_arguments_fill(&filled, &literals, STR(""), &parameters, &arena), 0);
        write_state(&told, &filled.items[0]);
        if (strcmp(told.ptr, cases[i].value) != 0)
            print_error("%s: got %s, expected %s\n", cases[i].name, told.ptr, cases[i].value), failures++;
        wt__call_arguments_dispose(&filled);
        wt__buffer_dispose(&told);
        for (size_t c = 0; c < CALLS; c++)
            json_decref(arguments[c]);
        json_decref(schema);
        wt__arena_dispose(&arena);
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(past_calls_teach_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
