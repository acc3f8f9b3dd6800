/* Tests of scanning JSON without a tree: all members before an error are returned, and an invalid value affects only
 * its own member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "base/json_scan.h"

/* walk: "key=value@byte:line" for each member of an object, and "value@byte:line" for each element of an array. '!'
 * follows a value that the end of the text cuts off. The last word is ".", or the reason of the error. */
static const struct {
    const char *what, *text, *walk;
} cases[] = {
    {"elements of an array", "[1, {\"a\": [2, 3]} ,\"x\"]", "1@1:1 {\"a\": [2, 3]}@4:1 \"x\"@19:1 ."},
    {"members of an object", "{\"a\":1,\n \"b\" : [\n],\"c\":null}", "a=1@5:1 b=[\n]@15:2 c=null@23:3 ."},
    {"empty array", "[]", "."},
    {"object of white space", "{ \n }", "."},
    {"commas and brackets in strings", "[\"a,]\\\"}\", 2]", "\"a,]\\\"}\"@1:1 2@11:1 ."},
    {"invalid values are one element each", "[nul, {x y}, 3]", "nul@1:1 {x y}@6:1 3@13:1 ."},
    {"two commas in a row", "[1,,2]", "1@1:1 @3:1 2@4:1 ."},
    {"trailing comma", "[1,]", "1@1:1 @3:1 ."},
    {"truncated after an element", "[{\"a\":1}, ", "{\"a\":1}@1:1 the text ends before the closing ']'"},
    {"truncated inside an element",
     "[{\"a\":1}, {\"b\":", "{\"a\":1}@1:1 {\"b\":@10:1! the text ends before the closing ']'"},
    {"truncated inside a string", "[\"abc", "\"abc@1:1! the text ends before the closing ']'"},
    {"truncated after a number, which may be incomplete", "[12", "12@1:1! the text ends before the closing ']'"},
    {"truncated inside a key", "{\"a\":1,\"b", "a=1@5:1 the text ends inside a key"},
    {"truncated after a key", "{\"a\"", "the text ends after a key"},
    {"truncated after a colon", "{\"a\":", "a=@5:1! the text ends before the closing '}'"},
    {"missing colon", "{\"a\" 1}", "expected ':' after a key"},
    {"key that is not a string", "{1:2}", "expected a key in double quotes"},
    {"array closed by a brace", "[1}", "'}' where ']' was expected"},
    {"object closed by a bracket", "{\"a\":1]", "']' where '}' was expected"},
    {"number instead of an object or array", "7", "expected '{' or '['"},
};

static void print_walk(struct buffer *out, const char *text)
{
    struct json_scan scan;
    struct json_item item;
    int rc;
    wt__json_scan_open(&scan, wt__str(text), 0, 1);
    while ((rc = wt__json_scan_next(&scan, &item)) > 0) {
        wt__buffer_str(out, item.key);
        wt__buffer_text(out, item.key.len > 0 ? "=" : "");
        wt__buffer_str(out, item.value);
        wt__buffer_printf(out, "@%zu:%zu%s ", item.byte, item.line, item.cut ? "!" : "");
        assert_ptr_equal(item.value.ptr, text + item.byte);
    }
    wt__buffer_text(out, rc == 0 ? "." : scan.reason);
}

static void scans_members_up_to_the_first_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer got = {0};
        print_walk(&got, cases[i].text);
        if (!got.ptr || strcmp(got.ptr, cases[i].walk) != 0)
            fail_msg("%s: expected <%s>, got <%s>", cases[i].what, cases[i].walk, got.ptr);
        wt__buffer_dispose(&got);
    }
}

static void root_ends_at_its_closing_bracket(void **state)
{
    (void)state;
    struct json_item item;
    wt__json_scan_root(STR(" \n{\"a\": [1]} rest"), 0, 1, &item);
    assert_int_equal(item.byte, 2);
    assert_int_equal(item.line, 2);
    assert_int_equal(item.value.len, 10);
    assert_false(item.cut);
    wt__json_scan_root(STR("[1"), 0, 1, &item);
    assert_true(item.cut);
    wt__json_scan_root(STR("  "), 0, 1, &item);
    assert_int_equal(item.value.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scans_members_up_to_the_first_error),
                                       cmocka_unit_test(root_ends_at_its_closing_bracket)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
