/* Tests JSON for display: invisible characters are escaped, everything else is unchanged, and the JSON stays equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "text/shown.h"
#include "text/unicode.h"

static const struct {
    const char *name, *in, *out; /* out: NULL if unchanged */
} rows[] = {
    {"empty text", "", NULL},
    {"plain JSON", "{\"a\": [1, \"b\\u001b\\n\"]}\n", NULL},
    {"letters and signs of all scripts", "\"\xC3\xA9 \xE5\xA4\xA9\xE6\xB0\x97 \xD8\xB7\xD9\x82\xD8\xB3 \xE2\x98\x94\"",
     NULL},
    {"blanks of other widths", "\"\xC2\xA0\xE2\x80\x83\xE3\x80\x80\"", NULL},
    {"private use", "\"\xEE\x80\x80\"", NULL},
    {"delete", "\"\x7F\"", "\"\\u007f\""},
    {"C1: control sequence introducer", "\"\xC2\x9B\x33\x31m\"", "\"\\u009b31m\""},
    {"C1: next line", "\"\xC2\x85\"", "\"\\u0085\""},
    {"soft hyphen", "\"\xC2\xAD\"", "\"\\u00ad\""},
    {"arabic letter mark", "\"\xD8\x9C\"", "\"\\u061c\""},
    {"hangul filler", "\"\xE3\x85\xA4\"", "\"\\u3164\""},
    {"zero-width space and joiners", "\"\xE2\x80\x8B\xE2\x80\x8C\xE2\x80\x8D\"", "\"\\u200b\\u200c\\u200d\""},
    {"text direction marks", "\"\xE2\x80\x8E\xE2\x80\x8F\"", "\"\\u200e\\u200f\""},
    {"line and paragraph separators", "\"\xE2\x80\xA8\xE2\x80\xA9\"", "\"\\u2028\\u2029\""},
    {"text direction embeddings and overrides", "\"\xE2\x80\xAA\xE2\x80\xAE\"", "\"\\u202a\\u202e\""},
    {"word joiner, invisible plus", "\"\xE2\x81\xA0\xE2\x81\xA4\"", "\"\\u2060\\u2064\""},
    {"text direction isolates", "\"\xE2\x81\xA6\xE2\x81\xA9\"", "\"\\u2066\\u2069\""},
    {"variation selector", "\"\xE2\x9D\xA4\xEF\xB8\x8F\"", "\"\xE2\x9D\xA4\\ufe0f\""},
    {"byte order mark", "\"\xEF\xBB\xBF\"", "\"\\ufeff\""},
    {"interlinear annotation", "\"\xEF\xBF\xB9\xEF\xBF\xBB\"", "\"\\ufff9\\ufffb\""},
    {"tags", "\"\xF3\xA0\x80\x81\xF3\xA0\x81\x81\"", "\"\\udb40\\udc01\\udb40\\udc41\""},
    {"variation selectors above U+FFFF", "\"\xF3\xA0\x84\x80\xF3\xA0\x87\xAF\"", "\"\\udb40\\udd00\\udb40\\uddef\""},
    {"musical formatting", "\"\xF0\x9D\x85\xB3\"", "\"\\ud834\\udd73\""},
    {"characters in keys and after an escape", "{\"a\\\\\xE2\x80\xAE\": {\"\xE2\x80\x8B\": 1}}",
     "{\"a\\\\\\u202e\": {\"\\u200b\": 1}}"},
    {"invalid UTF-8", "\"a\x9B\xE2\x80\"", "\"a\\ufffd\\ufffd\""},
};

static void escapes_invisible_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer out = {0};
        wt__shown_json(&out, wt__str(rows[i].in));
        const char *want = rows[i].out ? rows[i].out : rows[i].in;
        if (strcmp(out.ptr ? out.ptr : "", want) != 0)
            fail_msg("%s: %s, not %s", rows[i].name, out.ptr, want);
        wt__buffer_dispose(&out);
    }
}

/* Tests every character in keys and in values. */
static void escaped_json_is_equal(void **state)
{
    (void)state;
    for (uint32_t block = 0; block < 0x110000; block += 0x1000) {
        struct buffer string = {0}, json = {0}, shown = {0};
        json_t *before, *after;
        wt_error err;
        for (uint32_t c = block ? block : 1; c < block + 0x1000; c++) {
            char bytes[4];
            if (c < 0xD800 || c > 0xDFFF)
                wt__buffer_append(&string, bytes, wt__utf8_put(c, bytes));
        }
        wt__buffer_char(&json, '{');
        wt__buffer_json(&json, string.ptr ? wt__buffer_view(&string) : STR("surrogates"));
        wt__buffer_char(&json, ':');
        wt__buffer_json(&json, wt__buffer_view(&string));
        wt__buffer_char(&json, '}');
        wt__shown_json(&shown, wt__buffer_view(&json));
        assert_int_equal(wt__json_parse(&before, json.ptr, json.len, &err), 0);
        assert_int_equal(wt__json_parse(&after, shown.ptr, shown.len, &err), 0);
        assert_true(json_equal(before, after));
        for (const char *at = shown.ptr; at < shown.ptr + shown.len;)
            assert_false(wt__unicode_unseen(wt__utf8_next(&at, shown.ptr + shown.len)));
        json_decref(before);
        json_decref(after);
        wt__buffer_dispose(&string);
        wt__buffer_dispose(&json);
        wt__buffer_dispose(&shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_invisible_characters),
        cmocka_unit_test(escaped_json_is_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
