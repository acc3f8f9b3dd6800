/* Tests answers of a language model that are the number of a list item, or null if the caller allows null. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "call/language_model.h"
#include "llm/internal.h"

static void schema_lists_valid_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *type, *wanted;
        size_t count;
    } cases[] = {
        {"\"integer\"", "[1,2,3]", 3},
        {"[\"integer\",\"null\"]", "[1,2,null]", 2},
        {"[\"integer\",\"null\"]", "[1,null]", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        json_t *schema, *out, *wanted;
        snprintf(text, sizeof text, "{\"type\":\"object\",\"properties\":{\"tool\":{\"type\":%s}}}", cases[i].type);
        assert_int_equal(wt__json_parse(&schema, text, strlen(text), NULL), 0);
        assert_int_equal(wt__json_parse(&wanted, cases[i].wanted, strlen(cases[i].wanted), NULL), 0);
        json_t *before = json_deep_copy(schema);
        assert_int_equal(wt__numbered_schema(&out, schema, "tool", cases[i].count, NULL), 0);
        const json_t *rule = wt__json_object(wt__json_object(out, "properties"), "tool");
        assert_true(json_equal(wt__json_array(rule, "enum"), wanted));
        assert_int_equal(wt__answer_check_schema(out, NULL), 0);
        assert_true(json_equal(schema, before)); /* other threads read the input schema */
        json_decref(schema);
        json_decref(before);
        json_decref(wanted);
        json_decref(out);
    }
}

/* Answers to a list of three items. */
static void answer_is_number_or_null(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        enum numbered with_none, without_none;
        size_t item;
    } cases[] = {
        {"{\"tool\": 1}", NUMBERED_ITEM, NUMBERED_ITEM, 0},
        {"{\"tool\": 3}", NUMBERED_ITEM, NUMBERED_ITEM, 2},
        {"{\"tool\": null}", NUMBERED_NONE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": 0}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": 4}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": -1}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": 4294967297}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0}, /* 1 in 32 bits */
        {"{\"tool\": 9223372036854775807}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": 1.0}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": \"1\"}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": [1]}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{\"tool\": true}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"{}", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {"[1]", NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
        {NULL, NUMBERED_UNUSABLE, NUMBERED_UNUSABLE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *answer = NULL;
        size_t item = 0;
        if (cases[i].answer)
            assert_int_equal(wt__json_parse(&answer, cases[i].answer, strlen(cases[i].answer), NULL), 0);
        assert_int_equal(wt__numbered_read(answer, "tool", 3, false, &item), cases[i].without_none);
        assert_int_equal(wt__numbered_read(answer, "tool", 3, true, &item), cases[i].with_none);
        assert_int_equal(item, cases[i].item);
        assert_int_equal(wt__numbered_read(answer, "tool", 0, false, &item), NUMBERED_UNUSABLE);
        json_decref(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_lists_valid_numbers),
        cmocka_unit_test(answer_is_number_or_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
