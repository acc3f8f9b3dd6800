/* Tests wt__is_compact: it accepts only texts in the form of our JSON writer, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/rng.h"
#include "wire/members.h"

static const struct {
    const char *text;
    bool compact;
} rows[] = {
    {"{}", true},           {"[]", true},
    {"null", true},         {"{\"a\":[1,-2,true,false,null,\"b\\n\\\"\\\\\"],\"\":{}}", true},
    {"\"\xc3\xa9\"", true}, {"", false},
    {" {}", false},         {"{} ", false},
    {"{\"a\": 1}", false},  {"[1,]", false},
    {"[,1]", false},        {"[1 ,2]", false},
    {"{\"a\"}", false},     {"{\"a\":}", false},
    {"{a:1}", false},       {"[1}", false},
    {"[", false},           {"{\"a\":1", false},
    {"\"a", false},         {"\"a\\", false},
    {"\"\\u0041\"", false}, {"\"\\/\"", false},
    {"\"\\x\"", false},     {"\"\t\"", false},
    {"\"\x7f\"", false},    {"\"\xff\"", false},
    {"1.5", false},         {"1e3", false},
    {"-0", false},          {"01", false},
    {"-", false},           {"9999999999999999999", false},
    {"nul", false},         {"truefalse", false},
};

/* Checks that the writer reproduces the bytes of a compact text. */
static void check_reproduced(struct str text)
{
    json_t *root = NULL;
    struct buffer written = {0};
    if (!wt__is_compact(text))
        return;
    if (wt__json_parse(&root, text.ptr, text.len, NULL) < 0)
        fail_msg("not valid JSON: %.*s", (int)text.len, text.ptr);
    wt__json_write(&written, root);
    if (!wt__str_equal(text, wt__buffer_view(&written)))
        fail_msg("%.*s is written as %s", (int)text.len, text.ptr, written.ptr);
    wt__buffer_dispose(&written);
    json_decref(root);
}

static void compact_texts_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (wt__is_compact(wt__str(rows[i].text)) != rows[i].compact)
            fail_msg("%s", rows[i].text);
        check_reproduced(wt__str(rows[i].text));
    }
}

static void nesting_is_limited_as_in_the_parser(void **state)
{
    (void)state;
    for (size_t depth = 1; depth < 2 * WT_MAX_JSON_DEPTH; depth++) {
        struct buffer text = {0};
        json_t *root = NULL;
        for (size_t i = 0; i < depth; i++)
            wt__buffer_char(&text, '[');
        for (size_t i = 0; i < depth; i++)
            wt__buffer_char(&text, ']');
        bool read = wt__json_parse(&root, text.ptr, text.len, NULL) == 0;
        assert_int_equal(wt__is_compact(wt__buffer_view(&text)), read);
        json_decref(root);
        wt__buffer_dispose(&text);
    }
}

/* Checks random sequences of JSON tokens, and a valid text with each byte changed to every other value. */
static void writer_reproduces_compact_texts(void **state)
{
    (void)state;
    static const char *const pieces[] = {"{",   "}",        "[",    "]",     ",",      ":",        "\"a\"", "\"\\n\"",
                                         "1",   "-7",       "0",    "true",  "null",   " ",        "\"",    "\\",
                                         "1.5", "\xc3\xa9", "\xff", "\"b\"", "\"k\":", "{\"a\":1}"};
    struct rng rng;
    size_t taken = 0;
    wt__rng_seed(&rng, 7);
    for (size_t i = 0; i < 200000; i++) {
        struct buffer text = {0};
        for (size_t p = wt__rng_below(&rng, 9) + 1; p > 0; p--)
            wt__buffer_text(&text, pieces[wt__rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        taken += wt__is_compact(wt__buffer_view(&text));
        check_reproduced(wt__buffer_view(&text));
        wt__buffer_dispose(&text);
    }
    assert_true(taken > 1000);
    static const char good[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"maximum\":-12}},\"x\":[1,2]}";
    for (size_t at = 0; at + 1 < sizeof good; at++)
        for (unsigned c = 1; c < 256; c++) {
            char changed[sizeof good];
            memcpy(changed, good, sizeof good);
            changed[at] = (char)c;
            check_reproduced(wt__str(changed));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compact_texts_are_recognised),
                                       cmocka_unit_test(nesting_is_limited_as_in_the_parser),
                                       cmocka_unit_test(writer_reproduces_compact_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
